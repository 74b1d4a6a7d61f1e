"""A figure as plain data: its parts, the marks it is made of, and what changes from one
to the next."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.words import power_of_ten

if TYPE_CHECKING:
    import plotly.graph_objects as go

LEFT = "left"
RIGHT = "right"
TOP = "top"
BOTTOM = "bottom"
ANSWER = "answer"
"""The name of words, and the `meta` of a trace, that wait for a guess."""
UNTIL = "until"
"""The name of words that stand there until then."""


def headline(text: str, axis: str = "") -> dict:
    """The bold line above a subplot that says what was found there; axis is "", "2",
    "3", …"""
    place = {
        "xref": f"x{axis} domain",
        "yref": f"y{axis} domain",
        "xanchor": LEFT,
        "yanchor": BOTTOM,
    }
    return label(
        f"<b>{text}</b>",
        0,
        1,
        axis,
        **place,
        yshift=6,
        name=ANSWER,
        font={"size": theme.size("title")},
    )


def label(text: str, x: object, y: object, axis: str = "", **more: object) -> dict:
    """Text at a data point of a subplot; on a log axis y is log₁₀ of the value."""
    note = {
        "text": text,
        "x": x,
        "y": y,
        "xref": f"x{axis}",
        "yref": f"y{axis}",
        "showarrow": False,
    }
    return note | more


def ticks(low: int, middle: int, high: int) -> list[int]:
    """Two or three ticks; the middle one stays, and an end too near to it goes.

    >>> ticks(0, 10, 25), ticks(0, 23, 25), ticks(0, 22, 25)
    ([0, 10, 25], [0, 23], [0, 22, 25])
    """
    near = 0.08 * max(high - low, 1)
    return [
        v
        for v in dict.fromkeys((low, middle, high))
        if v == middle or abs(v - middle) > near
    ]


def kind_mark(attention: str) -> str:
    """The marker of a kind of attention: ● lightning, ■ softmax. (Colours stand for the
    status.)"""
    return "square" if attention == "softmax" else "circle"


def kind_dash(attention: str) -> str:
    """As `kind_mark`, for lines."""
    return "dash" if attention == "softmax" else "solid"


def layer_letters(layer: int) -> str:
    """The role of letters on a layer's colour: in both modes layers 3 and 4 contrast
    with the ground."""
    return "ink" if layer <= 2 else "ground"


class View(NamedTuple):
    """One subplot as plain data: its traces, axes, annotations and shapes."""

    traces: list[dict]
    axes: dict
    annotations: list[dict]
    shapes: list[dict]


class Parts(NamedTuple):
    """A figure as plain data: its traces and its layout."""

    traces: list[dict]
    layout: dict


def compose(*views: View, **layout: object) -> Parts:
    """Join subplots to one figure; `layout` holds what concerns all of them."""
    layout |= {"annotations": [], "shapes": []}
    for view in views:
        layout |= view.axes
        layout["annotations"] += view.annotations
        layout["shapes"] += view.shapes
    return Parts(
        [_without_empty_texts(trace) for view in views for trace in view.traces], layout
    )


def without_answers(parts: Parts) -> Parts:
    """The figure as somebody sees it who has not guessed yet: without headlines, what
    else is named as an answer, and the numbers that pointing at it shows. A page does
    the same in web/book/stills.ts.

    >>> plot = Plot("", (0, 1), (0, 1))
    >>> plot.headline("all stop at D")
    >>> plot.text("D", 1, 0, "note", "ink")
    >>> notes = without_answers(compose(plot.view())).layout["annotations"]
    >>> [note["text"] for note in notes if note.get("visible", True)]
    ['D']
    """
    seen = {ANSWER: False, UNTIL: True}
    traces = [
        trace | {"visible": False} if trace.get("meta") == ANSWER else trace
        for trace in parts.traces
    ]
    notes = []
    for note in parts.layout.get("annotations", ()):
        name = note.get("name")
        notes.append(note | {"visible": seen[name]} if name in seen else note)
    return Parts(traces, parts.layout | {"annotations": notes, "hovermode": False})


def _without_empty_texts(trace: dict) -> dict:
    """Replace empty texts by a space: plotly.js drops an empty text, and the next one
    at its place, too.

    >>> _without_empty_texts({"mode": "markers+text", "text": ["", "7"]})["text"]
    [' ', '7']
    """
    if "text" not in trace.get("mode", "") or not isinstance(trace.get("text"), list):
        return trace
    return trace | {"text": [text or " " for text in trace["text"]]}


def complete(parts: Parts) -> Parts:
    """The parts with the template and the height of the theme in use, as JSON has
    them."""
    layout = {
        "template": theme.template(),
        "height": theme.size("height"),
        **parts.layout,
    }
    return Parts(plain(parts.traces), plain(layout))


_PLAIN = {int, float, str, bool, type(None)}


def plain(value: object) -> object:
    """As JSON has it: lists instead of tuples and arrays, None instead of NaN and
    infinity.

    >>> plain({"x": (1, np.inf), "z": np.arange(2)})
    {'x': [1, None], 'z': [0, 1]}
    """
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, (list, tuple, range)):
        if set(map(type, value)) <= _PLAIN and all(
            isfinite(one) for one in value if type(one) is float
        ):
            return list(value)  # the quick way for lists, which may be long
        return [plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not isfinite(value):
        return None
    return value


def changes(old: object, new: object, path: Sequence = ()) -> list[list]:
    """The steps from old to new plain data: [path, value] sets a value, [path] deletes
    one.

    >>> changes({"a": [{"b": 1}], "c": 2}, {"a": [{"b": 3}]})
    [[['c']], [['a', 0, 'b'], 3]]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        pairs = [(key, old.get(key, _ABSENT), value) for key, value in new.items()]
        gone = [[[*path, key]] for key in old if key not in new]
    elif _are_elements(old) and _are_elements(new) and len(old) == len(new):
        pairs = [(i, *pair) for i, pair in enumerate(zip(old, new, strict=True))]
        gone = []
    else:
        # Of numbers the whole list goes: a path for each would be longer.
        return [] if old == new else [[list(path), new]]
    return gone + [
        one
        for key, before, after in pairs
        for one in changes(before, after, (*path, key))
    ]


_ABSENT = object()


def _are_elements(value: object) -> bool:
    """Whether this is a list of annotations or shapes rather than of numbers."""
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def make(parts: Parts) -> go.Figure:
    """A plotly Figure of its own from its parts."""
    import plotly.graph_objects as go

    return go.Figure(*complete(parts))


# One subplot, made of marks


class Plot:
    """A subplot; its methods add marks, axes and words one by one.

    Args:
        number: "" for the first, then "2", "3", …
        x, y: which part of the figure it takes, from 0 to 1.
    """

    def __init__(
        self, number: str, x: tuple[float, float], y: tuple[float, float]
    ) -> None:
        self._n = number
        self._view = View([], {}, [], [])
        self._on = {"xaxis": f"x{number}", "yaxis": f"y{number}"} if number else {}
        self._view.axes[f"xaxis{number}"] = {"anchor": f"y{number}", "domain": x}
        self._view.axes[f"yaxis{number}"] = {"anchor": f"x{number}", "domain": y}

    def view(self) -> View:
        """What `compose` takes."""
        return self._view

    # What is drawn

    def line(
        self,
        name: str,
        x: list,
        y: list,
        color: str,
        width: float,
        dash: str = "solid",
        **more: object,
    ) -> None:
        """A line; None is a gap."""
        self._trace(
            name,
            x,
            y,
            mode="lines",
            line={"color": color, "width": width, "dash": dash},
            **more,
        )

    def points(self, name: str, x: list, y: list, marker: dict, **more: object) -> None:
        """Marks at points."""
        self._trace(name, x, y, **{"mode": "markers", "marker": marker, **more})

    def bars(self, name: str, x: list, y: list, marker: dict, **more: object) -> None:
        """Bars; `orientation="h"` lays them down, `base` says where they begin."""
        self._trace(name, x, y, **{"type": "bar", "marker": marker, **more})

    def region(self, x: tuple, y: tuple, line: dict, fill: str) -> None:
        """A rectangle behind everything."""
        at = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
        where = {"xref": f"x{self._n}", "yref": f"y{self._n}", "layer": "below"}
        self._view.shapes.append(
            {"type": "rect", **where, **at, "line": line, "fillcolor": fill}
        )

    def rule(
        self,
        which: str,
        at: float,
        role: str,
        width: float,
        dash: str,
        **more: object,
    ) -> None:
        """A line across the plot where x, or y, has a value."""
        other = "y" if which == "x" else "x"
        ends = {f"{which}0": at, f"{which}1": at, f"{other}0": 0, f"{other}1": 1}
        where = {
            f"{which}ref": f"{which}{self._n}",
            f"{other}ref": f"{other}{self._n} domain",
        }
        line = {"color": theme.color(role), "width": width, "dash": dash}
        self._view.shapes.append(
            {"type": "line", **where, **ends, "line": line, **more}
        )

    def _trace(
        self, name: str, x: list, y: list, hover: str | None = None, **more: object
    ) -> None:
        said = (
            {"hoverinfo": "skip"}
            if hover is None
            else {"hovertemplate": f"{hover}<extra></extra>"}
        )
        self._view.traces.append(
            {"name": name, **self._on, "x": x, "y": y, **more, **said}
        )

    # Axes: `which` is "x" or "y"

    def axis(
        self,
        which: str,
        low: float,
        high: float,
        title: str | None = None,
        **more: object,
    ) -> None:
        """An axis from low to high."""
        named = {} if title is None else {"title": {"text": title}}
        self._view.axes[f"{which}axis{self._n}"] |= {
            "range": [low, high],
            **named,
            **more,
        }

    def bare_axis(self, which: str, low: float, high: float, **more: object) -> None:
        """An axis without line, grid or numbers; more=… puts some of them back."""
        bare = {"showgrid": False, "showline": False, "ticks": ""}
        numbers = {} if "tickvals" in more else {"showticklabels": False}
        self.axis(which, low, high, **{**bare, **numbers, **more})

    def log_axis(
        self,
        which: str,
        low: float,
        high: float,
        title: str,
        step: int,
        **more: object,
    ) -> None:
        """A logarithmic axis with ticks at powers of 10ˢᵗᵉᵖ.

        >>> plot = Plot("", (0, 1), (0, 1))
        >>> plot.log_axis("y", -3.2, 4.9, "", step=2)
        >>> plot.view().axes["yaxis"]["tickvals"]
        [0.01, 1.0, 100.0, 10000.0]
        """
        tens = range(step * ceil(low / step), floor(high) + 1, step)
        text = [power_of_ten(n) for n in tens]
        at = [10.0**n for n in tens]
        self.axis(
            which, low, high, title, type="log", tickvals=at, ticktext=text, **more
        )

    # Words

    def headline(self, text: str, before: str = "", **more: object) -> None:
        """What was found here; `before` stands in its place until somebody has
        guessed."""
        self._view.annotations.append(headline(text, self._n) | more)
        if before:
            waits = {"name": UNTIL, "visible": False}
            self._view.annotations.append(headline(before, self._n) | more | waits)

    def text(
        self, text: str, x: object, y: object, size: str, role: str, **more: object
    ) -> None:
        """Words at a point, in the size and the colour of a role."""
        font = {"size": theme.size(size), "color": theme.color(role)}
        self._view.annotations.append(
            label(text, x, y, self._n, **{"font": font, **more})
        )

    def corner(self, lines: list[str], x: str, y: str) -> None:
        """A few lines in a corner, on a nearly opaque ground."""
        place = {
            "xref": f"x{self._n} domain",
            "yref": f"y{self._n} domain",
            "xanchor": x,
            "yanchor": y,
        }
        shift = {"xshift": 6 if x == LEFT else -6, "yshift": 4 if y == BOTTOM else -2}
        look = {
            "bgcolor": theme.color("ground"),
            "opacity": 0.9,
            "font": {"size": theme.size("note")},
        }
        at = int(x == RIGHT), int(y == TOP)
        self._view.annotations.append(
            label("<br>".join(lines), *at, self._n, **place, align=x, **shift, **look)
        )

    def key(self, lines: list[str], **more: object) -> None:
        """What the marks mean: small soft words in the upper left corner."""
        place = {
            "xref": f"x{self._n} domain",
            "yref": f"y{self._n} domain",
            "xanchor": LEFT,
            "yanchor": TOP,
        }
        look = {
            "xshift": 8,
            "font": {"size": theme.size("note"), "color": theme.color("soft")},
        }
        self._view.annotations.append(
            label("<br>".join(lines), 0, 1, self._n, **place, **look, **more)
        )
