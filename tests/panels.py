"""What the tests of several panels ask of a panel: its texts, its ends, random states of it."""

import json
import random
import re

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from neuroviz.kit import theme

PATIENCE = 600
"""Seconds: a test waits for an event, and this limit only ends a hang. A busy machine stays below it."""


def differences(one, two):
    """Where two figures differ, as paths such as data.3.y; quick, for it copies and checks nothing."""
    found = []

    def compare(a, b, path):
        if isinstance(a, dict) and isinstance(b, dict):
            for key in {**a, **b}:
                if key not in ("uid", "template"):
                    compare(a.get(key), b.get(key), f"{path}.{key}")
        elif (
            isinstance(a, str) or isinstance(b, str) or not (hasattr(a, "__len__") and hasattr(b, "__len__"))
        ):
            if not (a is b or a == b or (a != a and b != b)):  # a missing value is nan, and like no other
                found.append(path)
        elif len(a) != len(b):
            found.append(path)
        elif isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and a.dtype != object != b.dtype:
            if not np.array_equal(a, b, equal_nan=a.dtype.kind == "f" == b.dtype.kind):
                found.append(path)
        elif not (isinstance(a, (list, tuple)) and a is b):
            for index, (x, y) in enumerate(zip(a, b, strict=True)):
                compare(x, y, f"{path}.{index}")

    compare(list(one._data), list(two._data), "data")
    compare(one._layout_obj._props, two._layout_obj._props, "layout")
    return found


def plain(figure):
    """A figure as JSON says it, without what differs from one to the next."""
    found = json.loads(go.Figure(figure).to_json())
    found["layout"].pop("template", None)
    for one in found["data"]:
        one.pop("uid", None)
    return found


def trace(figure, name):
    """The one trace of this name."""
    (found,) = [t for t in figure.data if t.name == name]
    return found


def texts(figure):
    """All annotations."""
    return [a.text or "" for a in figure.layout.annotations]


def title(panel):
    """The title line, with its badges."""

    def walk(widget):
        yield widget
        for child in getattr(widget, "children", ()):
            yield from walk(child)

    return next(w.value for w in walk(panel) if "nv-title" in str(getattr(w, "value", ""))[:30])


def ends(control):
    """The first and the last value of a control."""
    if hasattr(control, "min"):
        return control.min, control.max
    if isinstance(control, widgets.Dropdown):
        values = [option[1] if isinstance(option, tuple) else option for option in control.options]
        return values[0], values[-1]
    return False, True


def text(value):
    """A value as a state writes it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def said(figure):
    """Every text in a figure, also that of axes and that which appears on hovering."""
    found = []

    def collect(value, key=""):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                if inner_key != "template":
                    collect(inner, inner_key)
        elif isinstance(value, str):
            if key in ("text", "ticktext", "name", "hovertemplate"):
                found.append(value)
        elif isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.dtype.kind in "OU"):
            for inner in value:
                collect(inner, key)

    collect(list(figure._data))
    collect(figure._layout_obj._props)
    return found


def bare(text):
    return re.sub(r"</?(b|br|span)\b[^>]*>", " ", text).strip()


def headlines(figure):
    found = [a for a in figure.layout.annotations if a.yanchor == "bottom" and a.text.startswith("<b>")]
    return [bare(a.text) for a in found if a.font.size == theme.size("title")]


def random_states(kind, count, seed, keep=""):
    """States in which every control has a random value, half of the sliders of fractions next to 0.

    Controls of texts keep theirs, and those that the state `keep` names have what it says.

    Args:
        kind: a panel, or its class.
    """
    draw, panel = random.Random(seed), kind() if isinstance(kind, type) else kind
    kept = dict(part.split("=", 1) for part in keep.split(";") if part)
    for _ in range(count):
        values = {}
        for name, control in panel.controls.items():
            if name in kept:
                values[name] = kept[name]
            elif type(control) is widgets.Text:
                values[name] = text(control.value)
            elif isinstance(control, widgets.FloatSlider):
                rest = min(max(0.0, control.min), control.max)
                steps = draw.randint(0, round((control.max - control.min) / control.step))
                values[name] = f"{draw.choice((rest, control.min + steps * control.step)):.6g}"
            elif isinstance(control, widgets.IntSlider):
                values[name] = str(draw.randrange(control.min, control.max + 1, control.step))
            elif hasattr(control, "min"):
                values[name] = str(draw.randint(control.min, control.max))
            else:
                values[name] = text(draw.choice(places(control)))
        yield ";".join(f"{name}={value}" for name, value in values.items())
    if isinstance(kind, type):
        panel.close()


def places(control):
    """Where a control is to be taken: both ends of a slider, every option of a list; a text has none."""
    if hasattr(control, "options"):
        return [option[1] if isinstance(option, tuple) else option for option in control.options]
    if hasattr(control, "min"):
        return [control.min, control.max]
    return [False, True] if isinstance(control.value, bool) else []
