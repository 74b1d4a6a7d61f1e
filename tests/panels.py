"""What the tests of several panels ask of a panel: its texts, its ends, random states of it."""

import json
import random
import re

import ipywidgets as widgets
import plotly.graph_objects as go

from neuroviz import theme


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
                collect(inner, inner_key)
        elif isinstance(value, list):
            for inner in value:
                collect(inner, key)
        elif isinstance(value, str) and key in ("text", "ticktext", "name", "hovertemplate"):
            found.append(value)

    collect(plain(figure))
    return found


def bare(text):
    return re.sub(r"</?(b|br|span)\b[^>]*>", " ", text).strip()


def headlines(figure):
    found = [a for a in figure.layout.annotations if a.yanchor == "bottom" and a.text.startswith("<b>")]
    return [bare(a.text) for a in found if a.font.size == theme.size("title")]


def random_states(kind, count, seed):
    """States in which every control has a random value, half of the sliders of fractions next to 0."""
    draw, panel = random.Random(seed), kind()
    for _ in range(count):
        values = {}
        for name, control in panel.controls.items():
            if isinstance(control, widgets.FloatSlider):
                rest = min(max(0.0, control.min), control.max)
                steps = draw.randint(0, round((control.max - control.min) / control.step))
                values[name] = f"{draw.choice((rest, control.min + steps * control.step)):.6g}"
            elif isinstance(control, widgets.IntSlider):
                values[name] = str(draw.randrange(control.min, control.max + 1, control.step))
            elif isinstance(control, widgets.BoundedIntText):
                values[name] = str(draw.randint(0, 10**6))
            else:
                values[name] = text(draw.choice(_values(control)))
        yield ";".join(f"{name}={value}" for name, value in values.items())
    panel.close()


def _values(control):
    if isinstance(control, widgets.Checkbox):
        return [False, True]
    return [option[1] if isinstance(option, tuple) else option for option in control.options]
