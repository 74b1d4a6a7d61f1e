"""A FigureWidget that reaches the page complete, and the widget that says how wide the page is."""

from copy import deepcopy

import anywidget
import plotly.graph_objects as go
import traitlets


class LiveFigure(go.FigureWidget):
    """A FigureWidget that tells the browser nothing until `show_now`, and then everything at once.

    A plain FigureWidget opens its connection empty and sends its data afterwards. When the page
    draws it in between, it stays empty for good: seen as blank panels after "Run All". And a page
    hears nothing before it has loaded plotly, which can take seconds: what was changed meanwhile is
    sent again at its first word.
    """

    _complete = False
    _heard = False

    def open(self) -> None:
        """Called by ipywidgets while the figure is still being built: wait."""
        if self._complete:
            super().open()

    def show_now(self) -> None:
        """Open the connection with everything the figure holds by now."""
        if not self._complete:
            self._widget_data = deepcopy(self._data)
            self._widget_layout = deepcopy(self._layout_obj._props)
            # plotly's button bar would offer to upload the figure to its makers' server.
            self._config = {**self._config, "showSendToCloud": False, "displaylogo": False}
            self._complete = True
            self._opened_at = self._last_layout_edit_id, self._last_trace_edit_id
            self.open()

    @traitlets.observe("_js2py_layoutDelta")
    def _on_first_word(self, change: dict) -> None:
        """The page has drawn the figure, as it was when the connection was opened."""
        if self._heard or not change["new"]:
            return
        self._heard = True
        if self._opened_at != (self._last_layout_edit_id, self._last_trace_edit_id):
            for index, trace in enumerate(deepcopy(self._data)):
                self._send_restyle_msg(
                    {key: [value] for key, value in trace.items() if key not in ("type", "uid")}, [index]
                )
            layout = deepcopy(self._layout_obj._props)
            self._send_relayout_msg({key: value for key, value in layout.items() if key != "template"})

    @property
    def model_id(self) -> str:
        """The name the page knows the figure by; whoever asks for it is about to show it."""
        self.show_now()
        return super().model_id

    def get_state(self, key: object = None, drop_defaults: bool = False) -> dict:
        """What a page gets that asks for the whole figure: as it is now, not as it was first shown."""
        if key is None:
            # Past the traits' setters: this is no change, and nobody is to be told.
            self._trait_values["_widget_data"] = deepcopy(self._data)
            self._trait_values["_widget_layout"] = deepcopy(self._layout_obj._props)
        return super().get_state(key, drop_defaults)

    def _repr_mimebundle_(self, *args: object, **kwargs: object) -> dict:
        self.show_now()
        return super()._repr_mimebundle_(*args, **kwargs)


class Fit(anywidget.AnyWidget):
    """Reports the width of the panel (class nv) that it stands in, in pixels; shows nothing itself.

    It also buys the figure time. anywidget gives a widget 2 seconds to load, and never speaks to it
    again when they are over; a figure loads 5 MB of plotly, and on a slow or busy machine that takes
    longer. Fit runs before the figure exists, and turns a timeout of exactly 2 s into 2 minutes.
    """

    width = traitlets.Int(0).tag(sync=True)
    _esm = """
    if (!AbortSignal.timeout.patient) {
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => timeout(ms === 2000 ? 120000 : ms);
      AbortSignal.timeout.patient = true;
    }
    export default { render({ model, el }) {
      el.style.display = "none";
      let last = 0, stopped = false;
      const observer = new ResizeObserver(([entry]) => {
        const width = Math.floor(entry.contentRect.width);
        if (width <= 240 || Math.abs(width - last) <= 4) return;
        last = width; model.set("width", width); model.save_changes();
      });
      const start = () => {
        if (stopped) return;
        const panel = el.closest(".nv");
        panel ? observer.observe(panel) : requestAnimationFrame(start);
      };
      start();
      return () => { stopped = true; observer.disconnect(); };
    } }"""
