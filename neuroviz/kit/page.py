"""What a panel needs in the page: a figure that arrives complete, its width, names, and the clipboard."""

from copy import deepcopy

import anywidget
import comm
import ipywidgets as widgets
import plotly.graph_objects as go
import traitlets
from ipywidgets.widgets import widget as registry


def parts(whole: widgets.Widget) -> list[widgets.Widget]:
    """A widget and all that it holds, down to layouts and styles.

    >>> sorted(type(part).__name__ for part in parts(widgets.Box([widgets.HTML()])))
    ['Box', 'HTML', 'HTMLStyle', 'Layout', 'Layout']
    """
    found, waiting = {}, [whole]
    while waiting:
        part = waiting.pop()
        if isinstance(part, widgets.Widget) and id(part) not in found:
            found[id(part)] = part
            for value in (*vars(part).values(), *part._trait_values.values()):
                several = list(value.values()) if isinstance(value, dict) else value
                waiting += several if isinstance(several, (list, tuple)) else [several]
    return list(found.values())


def let_go(widget: widgets.Widget) -> None:
    """Where there is no page, free a widget from the registry of ipywidgets, which would keep it for good."""
    if isinstance(widget.comm, comm.DummyComm):
        registry._instances.pop(widget.comm.comm_id, None)
        widget.comm.on_msg(None)


class Late:
    """In front of a widget's class: it tells the browser nothing until it is about to be seen.

    Why it matters: `Fit` has to come first.
    """

    _complete = False

    def open(self) -> None:
        """Called by ipywidgets while the widget is still being built: wait."""
        if self._complete:
            super().open()
            let_go(self)

    def show_now(self) -> None:
        """Open the connection with everything the widget holds by now."""
        if not self._complete:
            self._complete = True
            self.open()

    def come_again(self) -> None:
        """Leave the page; when the widget is shown the next time, it is a new one to all pages."""
        self.close()
        self._model_id = None  # the next connection gets a name of its own
        vars(self).pop("_repr_mimebundle_", None)  # what close() leaves behind
        self._complete = False

    @property
    def model_id(self) -> str:
        """The name the page knows the widget by; whoever asks for it is about to show it."""
        self.show_now()
        return super().model_id

    def _repr_mimebundle_(self, *args: object, **kwargs: object) -> dict:
        self.show_now()
        return super()._repr_mimebundle_(*args, **kwargs)


class LiveFigure(Late, go.FigureWidget):
    """A FigureWidget that tells the browser nothing until `show_now`, and then everything at once.

    A plain FigureWidget opens its connection empty and sends its data afterwards. When the page
    draws it in between, it stays empty for good: seen as blank panels after "Run All". And a page
    hears nothing before it has loaded plotly, which can take seconds: what was changed meanwhile is
    sent again at its first word.
    """

    _esm = str(go.FigureWidget._esm)  # from a file, each figure would be held by what watches the file
    _heard = False

    def show_now(self) -> None:
        """Open the connection with everything the figure holds by now."""
        if not self._complete:
            self._widget_data = deepcopy(self._data)
            self._widget_layout = deepcopy(self._layout_obj._props)
            # plotly's button bar would offer to upload the figure to its makers' server.
            self._config = {**self._config, "showSendToCloud": False, "displaylogo": False}
            self._opened_at = self._last_layout_edit_id, self._last_trace_edit_id
            super().show_now()

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

    def come_again(self) -> None:
        """Leave the page; when the figure is shown the next time, it is complete again."""
        super().come_again()
        self._heard = False

    def get_state(self, key: object = None, drop_defaults: bool = False) -> dict:
        """What a page gets that asks for the whole figure: as it is now, not as it was first shown."""
        if key is None:
            # Past the traits' setters: this is no change, and nobody is to be told.
            self._trait_values["_widget_data"] = deepcopy(self._data)
            self._trait_values["_widget_layout"] = deepcopy(self._layout_obj._props)
        return super().get_state(key, drop_defaults)


class Fit(Late, anywidget.AnyWidget):
    """What the panel (class nv) that it stands in needs of its page; to be seen, the button Copy.

    It reports the panel's width in pixels. It gives the handles and number boxes of sliders, which
    ipywidgets leaves nameless, the words beside them as names, for readers who hear the page. Its button
    puts Python that opens the panel as it is on the clipboard; where the page may not, the text shows up
    selected.

    It also buys the figure time. anywidget gives a widget 2 seconds to load, and lets nothing that Python
    says through to it when it took longer; a figure loads 5 MB of plotly, and on a slow or busy machine
    that takes longer. Fit runs before the figure exists, and turns a timeout of exactly 2 s into 2 minutes.
    That is why all of this is one widget, and why it has nothing to hear: it may be too late itself.

    A page that is loaded again gets all widgets at once, and figures may be too late. Fit sees that it has
    had a width before, and asks: then it, the figure and all that is `Late` come again, one after the other.

    Attributes:
        width: of the panel, in pixels; 0 until the page has spoken.
        name: of the panel's class.
        again: changes when a page has been loaded again.
    """

    width = traitlets.Int(0).tag(sync=True)
    name = traitlets.Unicode("").tag(sync=True)
    again = traitlets.Float(0).tag(sync=True)
    _esm = """
    if (!AbortSignal.timeout.patient) {
      const timeout = AbortSignal.timeout.bind(AbortSignal);
      AbortSignal.timeout = (ms) => timeout(ms === 2000 ? 120000 : ms);
      AbortSignal.timeout.patient = true;
    }
    const name_handles = (row) => {
      for (const slider of row.querySelectorAll(".widget-slider")) {
        const name = slider.querySelector(".widget-label")?.textContent.trim();
        if (!name) continue;
        const still = slider.querySelector(".noUi-target")?.hasAttribute("disabled");
        for (const handle of slider.querySelectorAll(".noUi-handle")) {
          handle.setAttribute("aria-label", name);
          handle.setAttribute("aria-disabled", still ? "true" : "false");
          handle.tabIndex = still ? -1 : 0;
        }
        const box = slider.querySelector(".widget-readout");
        box?.setAttribute("role", "textbox");
        box?.setAttribute("aria-label", `${name}, as a number`);
      }
    };
    // Rows of controls only: the figure beside them changes its elements all the time.
    const look_after = (row) => {
      name_handles(row);
      const observer = new MutationObserver(() => name_handles(row));
      const attributes = { attributes: true, attributeFilter: ["disabled"] };
      observer.observe(row, { subtree: true, childList: true, characterData: true, ...attributes });
      return observer;
    };
    const copy_button = (model, el) => {
      el.classList.add("nv-copy");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "lm-Widget jupyter-widgets jupyter-button widget-button";
      button.textContent = "Copy";
      button.title = "copy this panel as Python, with its state";
      const field = document.createElement("input");
      field.readOnly = true;
      field.hidden = true;
      field.setAttribute("aria-label", "this panel as Python: press Ctrl+C");
      let timer = 0;
      const say = (words) => {
        button.textContent = words;
        clearTimeout(timer);
        timer = setTimeout(() => { button.textContent = "Copy"; }, 2000);
      };
      const put_back = () => { field.hidden = true; button.hidden = false; };
      const select = (text) => {  // the clipboard is refused: the reader copies it by hand
        field.value = text;
        field.hidden = false;
        button.hidden = true;
        field.focus();
        field.select();
      };
      field.addEventListener("blur", put_back);
      field.addEventListener("keydown", (event) => {
        event.stopPropagation();  // Ctrl+C is about the text, not about the notebook's cell
        if (event.key === "Escape" || event.key === "Enter") { put_back(); button.focus(); }
      });
      button.addEventListener("click", async () => {
        const state = el.closest(".nv").querySelector(".nv-state input").placeholder;
        const text = `${model.get("name")}(state=${JSON.stringify(state)})`;
        try { await navigator.clipboard.writeText(text); } catch { return select(text); }
        say("Copied");
      });
      el.append(button, field);
      return () => clearTimeout(timer);
    };
    export default { initialize({ model }) {
      if (!model.get("width")) return;
      model.set("again", Date.now());
      model.save_changes();
    }, render({ model, el }) {
      const forget = copy_button(model, el);
      let last = 0, stopped = false, rows = [];
      const observer = new ResizeObserver(([entry]) => {
        const width = Math.floor(entry.contentRect.width);
        if (width <= 240 || Math.abs(width - last) <= 4) return;
        last = width; model.set("width", width); model.save_changes();
      });
      const start = () => {
        if (stopped) return;
        const panel = el.closest(".nv");
        if (!panel) return requestAnimationFrame(start);
        observer.observe(panel);
        rows = [...panel.querySelectorAll(".nv-controls")].map(look_after);
      };
      start();
      return () => {
        stopped = true;
        forget();
        for (const one of [observer, ...rows]) one.disconnect();
      };
    } }"""
