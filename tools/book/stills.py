"""A panel as a row of stills: its main control at some values, and what the panel shows
at each."""

import base64
import json
import math
import re
from dataclasses import dataclass
from itertools import pairwise, product

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from neuroviz.kit.controls import is_shown
from neuroviz.kit.page import Chart
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import changes

MOST_STILLS = 15
_LARGE = 150_000  # characters of a preset's still: more of them wait for Live
_WAIT_SECONDS = 240

# The control that each panel is about. Where a notebook asks for another one, it is
# named below.
MAIN_CONTROL = {
    "BlendingExplorer": "angle",
    "FactorizationExplorer": "along",
    "FiberExplorer": "along",
    "Figure3Explorer": "layers",
    "FlagExplorer": "tokens",
    "FormulaExplorer": "family",
    "HypothesesExplorer": "inner",
    "LearningExplorer": "s",
    "LedgerExplorer": "head_dim",
    "MemorisationExplorer": "targets",
    "NewVariableExplorer": "stage",
    "ProofExplorer": "experiment",
    "RealModelsExplorer": "parts",
    "ResultantExplorer": "third",
    "SameFunctionExplorer": "basis",
    "SearchExplorer": "case",
    "SectionExplorer": "offset",
    "SingletonExplorer": "travel",
    "SurfaceExplorer": "along",
    "UnrollingExplorer": "place",
    "VariantsExplorer": "heads",
    "VirtualWeightsExplorer": "along",
}

# Notebook and place of the panel in it, from 0 → the control that its text asks the
# reader to move.
ASKED_FOR = {
    ("00_start", 0): "layers",
    ("04_deep_dimension", 1): "log_1",
    ("04_deep_dimension", 2): "layers",
    ("05_softmax_conjecture", 1): "kind",
    ("heads", 1): "turn",
    ("transformers", 1): "third",
}

# Of a long list of choices, those that are shown; the panel may have opened with
# another one.
CHOSEN = {
    ("SearchExplorer", "case"): (
        "rank-one",
        "lightning-1",
        "lightning-2",
        "softmax-1",
        "softmax-2",
        "softmax-3",
        "softmax-turn",
        "softmax-turn-3",
    ),
}

# A picture with places to press: the controls that a press moves; each place has a
# still.
PRESSED = {"HypothesesExplorer": ("head_1", "head_2")}

# Fewer stills where each of them is large, as surfaces are.
FEWER = {"SectionExplorer": 9, "SurfaceExplorer": 9}


@dataclass(frozen=True)
class Still:
    """What a panel shows in one state: the value of its control, also in words, whether
    it moves nothing there, the texts and the figure."""

    value: object
    label: str
    is_idle: bool
    state: str
    title: str
    description: str
    figure: dict


def main_control(panel: Panel, asked_for: str | None = None) -> str:
    """The name of the control that a panel's stills move; of a panel without an entry,
    the first it shows.

    Raises:
        ValueError: if the panel has no such control, or does not show it, or none of
            its controls has values.

    >>> from neuroviz.explorables import LedgerExplorer
    >>> main_control(LedgerExplorer())
    'head_dim'
    >>> main_control(LedgerExplorer(only=["layers", "seed"]))
    'layers'
    """
    shown = {
        name: control for name, control in panel.controls.items() if is_shown(control)
    }
    ranged = [name for name, control in shown.items() if _has_values(control)]
    usual = MAIN_CONTROL.get(type(panel).__name__)
    name = asked_for or (usual if usual in shown else next(iter(ranged), None))
    if name not in ranged:
        known = ", ".join(ranged) or "nothing"
        raise ValueError(
            f"{type(panel).__name__} has {known} to move here; got {name!r}"
        )
    return name


def _has_values(control: widgets.Widget) -> bool:
    is_choice = hasattr(control, "options") or isinstance(
        control, (widgets.Checkbox, widgets.ToggleButton)
    )
    return is_choice or hasattr(control, "min")


def values(control: widgets.Widget, most: int = MOST_STILLS) -> list:
    """Up to `most` values of a control, evenly spread, the one that it has among them.

    >>> values(widgets.IntSlider(value=4, min=1, max=12), most=7)
    [1, 4, 5, 7, 8, 10, 12]
    >>> values(widgets.Dropdown(options=[("one", "1"), ("two", "2")]))
    ['1', '2']
    """
    if isinstance(control, (widgets.Checkbox, widgets.ToggleButton)):
        return [False, True]
    if hasattr(control, "options"):
        return [
            option[1] if isinstance(option, tuple) else option
            for option in control.options
        ]
    # Steps count from 0, which is the least value, to `count`.
    step = getattr(control, "step", 1)
    count = round((control.max - control.min) / step)
    steps = sorted({round(k * count / (most - 1)) for k in range(most)})
    here = round((control.value - control.min) / step)
    if here not in steps:  # in the place of its neighbour; the ends stay
        inner = steps[1:-1] or steps
        steps[steps.index(min(inner, key=lambda other: abs(other - here)))] = here
    if isinstance(step, float):
        # As a page would set it: 0.9500000000000001 is 0.95.
        return [round(control.min + k * step, 9) for k in sorted(steps)]
    return [control.min + k * step for k in sorted(steps)]


def in_words(control: widgets.Widget) -> str:
    """The value of a control as the reader sees it.

    >>> in_words(widgets.FloatSlider(value=0.4, readout_format=".2f"))
    '0.40'
    >>> in_words(widgets.Checkbox())
    'no'
    """
    value = control.value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(control, "options"):
        return str(control.label if hasattr(control, "label") else value)
    if isinstance(value, float):
        return format(value, control.readout_format).replace("-", "−")
    return str(value).replace("-", "−")


def places(panel: Panel, name: str, most: int | None = None) -> list:
    """Where a still is taken: values of a control.

    Raises:
        ValueError: if it is a list of so many choices that some have to be chosen.
    """
    control = panel.controls[name]
    kind = type(panel).__name__
    every = values(control, most or FEWER.get(kind, 11))
    if (kind, name) in CHOSEN:
        every = [
            value
            for value in every
            if value in CHOSEN[kind, name] or value == control.value
        ]
    if len(every) > MOST_STILLS:
        raise ValueError(
            f"at most {MOST_STILLS} stills of a panel; {name} of {kind} has"
            f" {len(every)} values: name some of them in CHOSEN (tools/book/stills.py)"
        )
    return every


def take(panel: Panel, name: str, most: int | None = None) -> tuple[list[Still], int]:
    """Move one control of a panel through its values: the stills, and which of them the
    panel opened with.

    Raises:
        ValueError: if the panel does not say "done" at some value.
    """
    control = panel.controls[name]
    opened = panel.state
    panel.show_words()  # the page itself keeps them back
    _finish(panel, opened)
    start = control.value
    every = places(panel, name, most)
    found = []
    for value in every:
        panel.state = opened  # a control may have moved others
        _finish(panel, opened)
        control.value = value
        _finish(panel, f"{name}={value}")
        found.append(_still(panel, name))
    panel.state = opened
    _finish(panel, opened)
    # A slider between two steps has no still of its own: it opens with the first.
    here = every.index(start) if start in every else 0
    return found, here


def _still(panel: Panel, name: str) -> Still:
    control = panel.controls[name]
    return Still(
        control.value,
        in_words(control),
        control.disabled,
        panel.state,
        title_of(panel),
        panel.description,
        plain(panel.figure),
    )


def take_presets(
    panel: Panel, name: str, states: dict[str, str], stills: list[dict], figure: dict
) -> list[dict]:
    """What buttons of a panel lead to: label, the whole state, and a still.

    It has none if one of `stills` is there already, or if it is large.

    Args:
        name: the control of the panel's stills.
        states: label of the button → state.
        stills: of the control, as `packed` gives them.
        figure: the one that stills are given by their difference from.
    """
    known = {still["state"] for still in stills}
    opened = panel.state
    found = []
    for label, state in states.items():
        whole = panel.complete(state)
        still = None
        if whole not in known:
            panel.state = whole
            _finish(panel, whole)
            still = _packed_still(_still(panel, name), figure)
            if len(json.dumps(still, ensure_ascii=False)) > _LARGE:
                still = None
        found.append({"label": label, "state": whole, "still": still})
    if panel.state != opened:
        panel.state = opened
        _finish(panel, opened)
    return found


def _pressed(panel: Panel) -> dict[str, str]:
    """The states that a press in the picture leads to: each is its own label."""
    moved = PRESSED.get(type(panel).__name__, ())
    every = [values(panel.controls[name]) for name in moved]
    states = [
        ";".join(f"{name}={value}" for name, value in zip(moved, place, strict=True))
        for place in product(*every)
        if moved
    ]
    return {state: state for state in states}


def add_stills(stills: list[dict], listed: list[dict]) -> list[dict]:
    """Put the stills of presets behind those of a panel; returns the presets, each with
    the place of its still, or None.

    >>> stills = [{"state": "layers=1"}]
    >>> four = {"label": "four", "state": "layers=4", "still": {"state": "layers=4"}}
    >>> one = {"label": "one", "state": "layers=1", "still": None}
    >>> [preset["still"] for preset in add_stills(stills, [four, one])]
    [1, 0]
    >>> stills
    [{'state': 'layers=1'}, {'state': 'layers=4'}]
    """
    places = {still["state"]: place for place, still in enumerate(stills)}
    found = []
    for preset in listed:
        state = preset["state"]
        if state not in places and preset["still"]:
            places[state] = len(stills)
            stills.append(preset["still"])
        found.append(preset | {"still": places.get(state)})
    return found


def _packed_still(still: Still, figure: dict) -> dict:
    packed = {
        "value": still.value,
        "label": still.label,
        "state": still.state,
        "title": still.title,
        "description": still.description,
        "changes": changes(figure, still.figure),
    }
    if still.is_idle:
        packed["idle"] = True
    return packed


def _finish(panel: Panel, where: str) -> None:
    if not panel.wait(_WAIT_SECONDS) or not panel.status.startswith("done"):
        raise ValueError(
            f"{type(panel).__name__} at {where} is not done: {panel.status}"
        )


def packed_figure(figure: go.Figure) -> dict:
    """All that a page needs to show a figure that nothing moves; its bold lines say
    what is in it.

    >>> annotations = [{"text": "<b>4 of 4 agree</b>"}]
    >>> drawn = go.Figure(layout={"height": 300, "annotations": annotations})
    >>> packed_figure(drawn)["stills"][0]["description"]
    '4 of 4 agree'
    """
    notes = (
        note.text
        for note in figure.layout.annotations
        if (note.text or "").startswith("<b>")
    )
    said = ". ".join(re.sub("<[^>]*>", "", note) for note in notes)
    return {
        "control": "",
        "here": 0,
        "height": figure.layout.height,
        "figure": plain(figure),
        "stills": [{"label": "", "title": "", "description": said, "changes": []}],
    }


def title_of(panel: Panel) -> str:
    """The title line of a panel with its badges, as HTML.

    >>> from neuroviz.explorables import LedgerExplorer
    >>> LedgerExplorer.title in title_of(LedgerExplorer())
    True
    """

    def inside(widget: widgets.Widget) -> list[widgets.Widget]:
        return [
            widget,
            *(
                one
                for child in getattr(widget, "children", ())
                for one in inside(child)
            ),
        ]

    lines = [one.value for one in inside(panel) if isinstance(one, widgets.HTML)]
    (line,) = [line for line in lines if line.startswith('<div class="nv-title">')]
    return line.removeprefix('<div class="nv-title">').removesuffix("</div>")


def plain(figure: go.Figure | Chart) -> dict:
    """A figure as lists and dicts, its numbers with five digits, without template and
    names of its own.

    >>> drawn = go.Figure(go.Scatter(x=np.array([0.1, 1 / 3]), y=[1, 2]))
    >>> plain(drawn)["data"][0]["x"]
    [0.1, 0.33333]
    """
    if isinstance(figure, Chart) and "facts" in figure.drawn:
        names = "name", "facts", "place", "ranges", "choices", "look"
        return {name: _short(figure.drawn[name]) for name in names}
    found = json.loads(figure.to_json())
    found["layout"].pop("template", None)
    found["layout"].pop("width", None)
    for one in found["data"]:
        one.pop("uid", None)
    return {"data": _short(found["data"]), "layout": _short(found["layout"])}


def height_of(figure: Chart) -> float:
    """The height of a panel's figure in pixels, as wide as a page."""
    if "facts" in figure.drawn:
        return figure.drawn["look"]["sizes"]["height"]
    return figure.layout.height


_EXACT = ("local", "formulas", "start")
"""What a scene computes from keeps its digits: points of its curves are points of
these, and a matrix that has lost a rank would have it back."""


def _short(value: object) -> object:
    if isinstance(value, dict):
        if "bdata" in value:
            return _short(_decoded(value).tolist())
        return {
            key: inner if key in _EXACT else _short(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_short(inner) for inner in value]
    if isinstance(value, float) and math.isfinite(value):
        short = float(f"{value:.5g}")
        return int(short) if short.is_integer() and abs(short) < 1e15 else short
    return value


def _decoded(packed: dict) -> np.ndarray:
    """An array as plotly packs it: the kind of number, base64, and the shape if it has
    rows."""
    flat = np.frombuffer(
        base64.b64decode(packed["bdata"]),
        dtype=np.dtype(packed["dtype"]).newbyteorder("<"),
    )
    if "shape" not in packed:
        return flat
    return flat.reshape([int(size) for size in str(packed["shape"]).split(",")])


def applied(old: dict, listed: list[list]) -> dict:
    """The other figure again; the page does the same in web/book/stills.ts.

    >>> old, new = {"a": [{"x": 1, "y": 2}], "b": 0}, {"a": [{"x": 1, "y": 3}], "c": 4}
    >>> applied(old, changes(old, new)) == new
    True
    """
    found = json.loads(json.dumps(old))
    for path, *value in listed:
        place = found
        for step in path[:-1]:
            place = place[step]
        if value:
            place[path[-1]] = value[0]
        else:
            del place[path[-1]]
    return found


def labels(box: widgets.Widget) -> dict[str, str]:
    """What the buttons of a row of presets say, and their states; empty for any other
    widget."""
    is_row = "nv-presets" in getattr(box, "_dom_classes", ())
    return (
        {button.description: button.tooltip for button in box.children}
        if is_row
        else {}
    )


def packed(panel: Panel, name: str) -> dict:
    """All that a page needs to show a panel and to move its control, ready for JSON."""
    stills, here = take(panel, name)
    control = panel.controls[name]
    others = [
        other.description
        for key, other in panel.controls.items()
        if key != name and is_shown(other) and other.description
    ]
    states = {
        label: state for part in panel.children for label, state in labels(part).items()
    }
    opened = {
        "panel": type(panel).__name__,
        "state": panel.state,
        "presets": states or None,
        "asks": panel.asks,
        "only": panel._only,
    }
    distinct = all(a.label != b.label for a, b in pairwise(stills))
    figure = stills[here].figure  # most pictures differ from it in little
    listed = [_packed_still(still, figure) for still in stills]
    if not distinct:  # a slider that seems to stand still is no control
        for place, still in enumerate(listed):
            still["label"] = f"{place + 1}"
    main = len(listed)
    taken = take_presets(panel, name, states, listed, figure)
    shown_presets = add_stills(listed, taken)
    pressed = take_presets(panel, name, _pressed(panel), listed, figure)
    add_stills(listed, pressed)
    return {
        "panel": type(panel).__name__,
        "name": name,
        "control": control.description,
        "words": hasattr(control, "options"),
        "others": others,
        "presets": shown_presets,
        "state": panel.state,
        "open": opened,
        "here": here,
        "main": main,
        "height": height_of(panel.figure),
        "figure": figure,
        "stills": listed,
    }
