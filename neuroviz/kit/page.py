"""Widgets of a panel in the page: its figure and its buttons; their scripts are built
from `web/` into `javascript/`."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar
from uuid import uuid4

import anywidget
import comm
import ipywidgets as widgets
import traitlets
from ipywidgets.widgets import widget as registry

from neuroviz.kit.cells import nobody_is_there, running_cell
from neuroviz.kit.picture import Picture
from neuroviz.kit.plot import Parts, changes, complete, plain
from neuroviz.kit.settings import Controls

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from IPython.display import DisplayHandle

_JAVASCRIPT = Path(__file__).parent / "javascript"


def widgets_in(whole: widgets.Widget) -> list[widgets.Widget]:
    """A widget and all that it holds, down to layouts and styles.

    >>> whole = widgets.Box([widgets.HTML()])
    >>> sorted(type(part).__name__ for part in widgets_in(whole))
    ['Box', 'HTML', 'HTMLStyle', 'Layout', 'Layout']
    """
    found = {}
    waiting = [whole]
    while waiting:
        part = waiting.pop()
        if isinstance(part, widgets.Widget) and id(part) not in found:
            found[id(part)] = part
            for value in (*vars(part).values(), *part._trait_values.values()):
                several = list(value.values()) if isinstance(value, dict) else value
                waiting += several if isinstance(several, (list, tuple)) else [several]
    return list(found.values())


def let_go(widget: widgets.Widget) -> None:
    """Where there is no page, free a widget from the registry of ipywidgets, which
    would keep it for good."""
    if isinstance(widget.comm, comm.DummyComm):
        registry._instances.pop(widget.comm.comm_id, None)
        widget.comm.on_msg(None)  # it would hold the widget


def script(name: str) -> str:
    """One of the files in `javascript/`, built from `web/kit/panel/`."""
    # anywidget would watch a path for changes
    return (_JAVASCRIPT / name).read_text(encoding="utf-8")


SAVED = (
    "A saved notebook keeps only pictures. Run all cells (menu Run) to bring panels and"
    " questions back."
)
_GONE = ".jp-OutputArea-output.jupyter-widgets:not(:has(*))"
_PICTURE = ".lm-Widget.jp-OutputArea-child:has(> * > .nv-kept)"
_WIDGET_NEXT = "+ * > .jupyter-widgets.jp-OutputArea-output"
_NOTICE = f"""<style class="nv-kept">
{_GONE} {{ font-size: 0; }}
{_GONE}::after {{
  content: "{SAVED}"; font-size: var(--jp-content-font-size1); font-style: italic; }}
{_PICTURE}:not(:has({_WIDGET_NEXT})) {{
  display: none; }}
</style>"""
"""Replaces what JupyterLab writes for a widget that is gone: "Error displaying widget:
…".

It hides the kept picture where the widget is there. Only JupyterLab's own pages have
`lm-Widget`: what nbconvert makes of a notebook shows the picture.
"""


_NO_FIGURE = (
    "a scene is no plotly Figure; what it shows is in .facts, and the camera in its"
    " corner saves a PNG"
)


class Lasting(widgets.VBox):
    """A widget that, in a saved notebook opened without its kernel, says how to bring
    it back."""

    def _in_words(self) -> tuple[str, str]:
        """A heading, and a sentence or two."""
        raise NotImplementedError

    def _keep(self, shown: DisplayHandle) -> None:
        """Put a picture of the widget into the output that stands before it, if there
        is one."""

    def _drawn(self) -> str:
        """What draws a picture of the widget in a page without Python, as HTML."""
        return ""

    def _repr_mimebundle_(self, **settings: object) -> dict:
        """The widget, and words for those who cannot show it: GitHub, nbviewer, a
        notebook not trusted.

        A trusted notebook in JupyterLab takes the widget even when it is gone; a style
        puts the words there. Where nobody is there to move it, words and a picture take
        its place: the widget would need the internet.
        """
        heading, text = self._in_words()
        said = f"<p><b>{escape(heading)}</b> {escape(text)}</p>"
        if nobody_is_there():
            return {
                "text/plain": f"{heading} {text}",
                "text/html": said + self._drawn(),
            }
        if running_cell():
            from IPython.display import display

            self._keep(
                display(
                    {"text/html": _NOTICE, "text/plain": ""}, raw=True, display_id=True
                )
            )
        return super()._repr_mimebundle_(**settings) | {
            "text/plain": f"{heading} {text} {SAVED}",
            "text/html": f"{said}<p><i>{escape(SAVED)}</i></p>",
        }


class Chart(anywidget.AnyWidget):
    """A figure in the page; other attributes (`data`, `layout`, `to_json`, …) are those
    of a plotly Figure.

    The page gets the figure whole, and then what changes. What draws it there is
    plotly.js, or the scenes of a section (`neuroviz.kit.picture`). The first chart of a
    kernel that needs it brings it; all charts of a page share it, and a page that has
    none asks for it.

    Args:
        parts: of the figure that is drawn first.
        controls: name → widget, of the panel; what is dragged in a scene moves them, in
            the page.
        walks: names of those whose slider has a button that plays it; a scene has its
            own.
        of: the values of the controls that the figure is of; see `neuroviz.kit.status`.

    Attributes:
        width: of the figure in the page, in pixels; 0 until the page has spoken.
        keeps: whether the page sends pictures, of 8 to 25 kB: see `keep`.
    """

    drawn = traitlets.Dict().tag(sync=True)
    painter = traitlets.Unicode("plotly").tag(sync=True)
    code = traitlets.Bytes(b"").tag(sync=True)
    controls = traitlets.Dict().tag(sync=True, **widgets.widget_serialization)
    walks = traitlets.List().tag(sync=True)
    width = traitlets.Int(0).tag(sync=True)
    keeps = traitlets.Bool(False).tag(sync=True)
    _kept_in: DisplayHandle | None = None
    _esm = script("chart.js")
    _has_sent: ClassVar[set[str]] = set()
    _has_brought: ClassVar[set[str]] = set()

    def __init__(
        self,
        parts: Parts | Picture,
        controls: Controls | None = None,
        walks: tuple[str, ...] = (),
        of: dict[str, object] | None = None,
    ) -> None:
        self._figure = None
        drawn = self._plain(parts, of) | {"revision": 0}
        painter = parts.painter if isinstance(parts, Picture) else "plotly"
        brought = b"" if painter in Chart._has_sent else bundle(painter)
        Chart._has_sent.add(painter)
        super().__init__(
            drawn=drawn,
            painter=painter,
            code=brought,
            controls=controls or {},
            walks=[*walks],
        )
        self.on_msg(self._on_message)

    @staticmethod
    def _plain(parts: Parts | Picture, of: dict[str, object] | None) -> dict:
        if isinstance(parts, Picture):
            return plain(parts.message()) | {"of": of or {}}
        if not isinstance(parts, Parts):
            raise TypeError(
                "`draw` returns Parts, made by `compose` of neuroviz.kit.plot, or a "
                f"Picture; got {type(parts).__name__}"
            )
        whole = complete(parts)
        return {"data": whole.traces, "layout": whole.layout, "of": of or {}}

    def show(self, parts: Parts | Picture, of: dict[str, object] | None = None) -> None:
        """Draw other parts, of these values of the controls; send the page what
        differs, in one message."""
        before = self.drawn
        now = self._plain(parts, of)
        revision = before["revision"]
        steps = [step for key in now for step in changes(before[key], now[key], [key])]
        if steps:
            self._figure = None
            # Setting the trait would send the whole figure; a page that is loaded again
            # reads it.
            self._trait_values["drawn"] = now | {"revision": revision + 1}
            self.send({"changes": steps, "from": revision, "to": revision + 1})

    def _on_message(self, _widget: Chart, message: dict, _buffers: list) -> None:
        if message.get("want") == "painter":
            self.send({"painter": True}, buffers=[bundle(self.painter)])
        elif (
            message.get("want") == "figure"
            and message.get("unless") != self.drawn["revision"]
        ):
            self.send({"whole": self.drawn})
        # Only a picture goes into the notebook's HTML, whatever a page may send.
        elif self._kept_in and (picture := str(message.get("picture", ""))).startswith(
            "data:image/"
        ):
            shown = f'{_NOTICE}<img class="nv-kept" src="{escape(picture)}">'
            self._kept_in.update({"text/html": shown, "text/plain": ""}, raw=True)

    def keep(self, shown: DisplayHandle) -> None:
        """Have the page send a picture of each figure into an output, which a notebook
        saves."""
        self._kept_in = shown
        self.keeps = True

    def as_html(self) -> str:
        """The figure for a page without Python and internet; a kernel's first brings
        what draws it."""
        brought = ""
        if self.painter not in Chart._has_brought:
            brought = b64encode(bundle(self.painter)).decode()
            Chart._has_brought.add(self.painter)
        # A </script> in a text would end the script that it stands in.
        figure = json.dumps(self.drawn, allow_nan=False).replace("<", "\\u003c")
        name = f"nv-{uuid4().hex}"
        drawing = script_of_a_page(name, self.painter, brought, figure)
        look = self.drawn.get("look") or {"sizes": self.drawn["layout"]}
        height = look["sizes"].get("height", 370)
        return f'<div id="{name}" style="min-height: {height}px"></div>{drawing}'

    @property
    def facts(self) -> dict:
        """What Python says of a scene, as plain data; `facts["schema"]` names its form.

        Raises:
            TypeError: if the figure is a chart, which is a plotly Figure: see `figure`.
        """
        if "facts" not in self.drawn:
            raise TypeError(
                "only a scene has facts; this is a chart, with .data and .layout as"
                " plotly has"
            )
        return self.drawn["facts"]

    @property
    def figure(self) -> go.Figure:
        """The figure as it is now, as a plotly Figure; changing it changes nothing in
        the page.

        Raises:
            TypeError: if it is a scene, which the page alone draws: see `facts`.
        """
        if "facts" in self.drawn:
            raise TypeError(_NO_FIGURE)
        if self._figure is None:
            import plotly.graph_objects as go

            self._figure = go.Figure(self.drawn["data"], self.drawn["layout"])
        return self._figure

    @property
    def layout(self) -> go.Layout:
        """The layout of `figure`."""
        return self.figure.layout

    def __getattr__(self, name: str) -> object:
        # IPython asks for _repr_png_ and others, which would make a plotly figure.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")
        if "facts" in self.drawn:
            raise AttributeError(f"no attribute {name!r}: {_NO_FIGURE}")
        return getattr(self.figure, name)


def script_of_a_page(name: str, painter: str, brought: str, figure: str) -> str:
    """What draws a figure into the element of this name; `brought` is the bundle of its
    painter, or empty."""
    words = json.dumps([name, painter, brought])
    calls = f"neuroviz.draw(...{words}, {figure});"
    return f"<script>(() => {{\n{script('alone.js')}{calls}\n}})();</script>"


def painters() -> list[str]:
    """What draws figures: "plotly", and "scenes/" with each section.

    >>> "plotly" in painters(), "scenes/deep" in painters()
    (True, True)
    """
    found = _JAVASCRIPT.rglob("*.js.gz")
    return sorted(
        path.relative_to(_JAVASCRIPT).as_posix().removesuffix(".js.gz")
        for path in found
    )


def bundle(name: str) -> bytes:
    """The script of one of the `painters`, compressed."""
    if name not in painters():
        raise LookupError(
            f"no script {name} draws figures; there are {', '.join(painters())}. A"
            " section is a folder of web/ with a scenes.ts; `make javascript` builds"
            " its script"
        )
    return (_JAVASCRIPT / f"{name}.js.gz").read_bytes()


class CopyButtons(anywidget.AnyWidget):
    """The buttons that copy the panel (class nv) they stand in, as Python or as an
    address of the page.

    Attributes:
        name: of the panel's class.

    Args:
        on_link: hears the state that the address of the page asks for, once.
    """

    name = traitlets.Unicode("").tag(sync=True)
    _esm = script("copy.js")

    def __init__(
        self, name: str, on_link: Callable[[str], None], **look: object
    ) -> None:
        super().__init__(name=name, **look)
        self.on_msg(
            lambda _widget, message, _buffers: on_link(str(message.get("state", "")))
        )
