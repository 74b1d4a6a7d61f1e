"""What the tests of several panels ask of a panel: its texts, its ends, random states
of it."""

import json
import os
import random
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from html import unescape

import ipywidgets as widgets

from neuroviz.kit import theme
from neuroviz.kit.page import Chart
from neuroviz.kit.plot import changes

PATIENCE = 600
"""Seconds: a test waits for an event, and this limit only ends a hang. A busy machine
stays below it."""


def is_alive(pid):
    """Whether a process is there that has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    with (
        open(f"/proc/{pid}/stat")
        if os.path.exists(f"/proc/{pid}/stat")
        else open(os.devnull)
    ) as stat:
        return " Z " not in stat.read()


def eventually(fact):
    """Whether something becomes true, as soon as it is."""
    end = time.monotonic() + PATIENCE
    while not fact() and time.monotonic() < end:
        time.sleep(0.02)
    return fact()


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


@contextmanager
def serving(module, words, ready, log, **settings):
    """A server of a module, from when it answers there until it is no longer needed."""
    command = [sys.executable, "-m", module, *words]
    with log.open("w") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=subprocess.STDOUT, **settings
        )
    try:
        for _ in range(2 * PATIENCE):
            try:
                urllib.request.urlopen(ready, timeout=2)
                break
            except OSError:
                assert server.poll() is None, log.read_text()
                time.sleep(0.5)
        else:
            raise AssertionError(log.read_text())
        yield
    finally:
        server.terminate()
        server.wait(PATIENCE)


class Page:
    """What a page has of a panel's figure: what it was sent at first, and every change
    since."""

    def __init__(self, chart):
        self.shown = chart.drawn
        chart.send = self.hear

    def hear(self, message, buffers=None):
        assert message["from"] == self.shown["revision"]
        for path, *value in json.loads(json.dumps(message["changes"], allow_nan=False)):
            self.shown = changed(self.shown, path, value)
        self.shown["revision"] = message["to"]


def changed(target, path, value):
    """A copy of plain data with one place changed, or gone if there is no value: as
    changes.ts does it."""
    copy, (key, *rest) = target.copy(), path
    if rest:
        copy[key] = changed(copy[key], rest, value)
    elif value:
        copy[key] = value[0]
    else:
        del copy[key]
    return copy


def plain(figure):
    """What a figure says, without what differs from one to the next: a chart's data and
    layout, or facts."""
    drawn = figure.drawn if isinstance(figure, Chart) else json.loads(figure.to_json())
    if "facts" in drawn:
        return {
            name: drawn[name]
            for name in ("facts", "place", "ranges", "choices", "look")
        }
    # as plotly takes one without a type
    data = [{"type": "scatter", **trace} for trace in drawn["data"]]
    return without({"data": data, "layout": drawn["layout"]}, ("uid", "template"))


def without(value, keys):
    """Plain data without these keys, and without what is empty."""
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return [without(inner, keys) for inner in value]
    if not isinstance(value, dict):
        return value
    rest = {
        key: without(inner, keys) for key, inner in value.items() if key not in keys
    }
    return {key: inner for key, inner in rest.items() if inner not in ({}, [], None)}


def differences(one, two):
    """Where two figures differ, as paths such as data.3.y."""
    found = changes(plain(one), plain(two))
    return [".".join(map(str, path)) for path, *_ in found]


def trace(figure, name):
    """The one trace of this name."""
    (found,) = [t for t in figure.data if t.name == name]
    return found


def texts(figure):
    """All annotations."""
    return [a.text or "" for a in figure.layout.annotations]


def walk(widget):
    """A widget and all that is in it, folded or not."""
    yield widget
    if hasattr(widget, "unfold"):
        widget.unfold()
    for child in getattr(widget, "children", ()):
        yield from walk(child)


def title(panel):
    """The title line, with its badges."""
    return next(
        w.value for w in walk(panel) if "nv-title" in str(getattr(w, "value", ""))[:30]
    )


def answers(panel):
    """What a panel shows → the values of its controls that it is of, as the page gets
    them."""
    lines = {
        "badges": panel._title_html.value,
        "description": panel._description_html.value,
    }
    found = {
        what: json.loads(unescape(re.search('data-setting="(.*?)"', line)[1]))
        for what, line in lines.items()
    }
    return found | {
        "figure": panel.figure.drawn["of"],
        "status": panel._status.said["of"],
    }


def ends(control):
    """The first and the last value of a control."""
    if hasattr(control, "min"):
        return control.min, control.max
    if isinstance(control, widgets.Dropdown):
        values = [
            option[1] if isinstance(option, tuple) else option
            for option in control.options
        ]
        return values[0], values[-1]
    return False, True


def text(value):
    """A value as a state writes it."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def said(figure):
    """Every text in a figure, also that of axes and that which appears on hovering; all
    words of facts."""
    found = []
    if isinstance(figure, Chart) and "facts" in figure.drawn:
        return list(words_of(figure.facts))

    def collect(value, key=""):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                collect(inner, inner_key)
        elif isinstance(value, str):
            if key in ("text", "ticktext", "name", "hovertemplate"):
                found.append(value)
        elif isinstance(value, list):
            for inner in value:
                collect(inner, key)

    collect(plain(figure))
    return found


def words_of(facts):
    """Every text in the facts of a scene."""
    if isinstance(facts, str):
        yield facts
    elif isinstance(facts, (dict, list)):
        for inner in facts.values() if isinstance(facts, dict) else facts:
            yield from words_of(inner)


def bare(text):
    return re.sub(r"</?(b|br|span)\b[^>]*>", " ", text).strip()


def headlines(figure):
    found = [
        a
        for a in figure.layout.annotations
        if a.yanchor == "bottom" and a.text.startswith("<b>")
    ]
    return [bare(a.text) for a in found if a.font.size == theme.size("title")]


def random_states(kind, count, seed, keep=""):
    """States in which every control has a random value, half of the sliders of
    fractions next to 0.

    Controls of texts keep theirs, and those that the state `keep` names have what it
    says.

    Args:
        kind: a panel, or its class.
    """
    draw = random.Random(seed)
    panel = kind() if isinstance(kind, type) else kind
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
                steps = draw.randint(
                    0, round((control.max - control.min) / control.step)
                )
                values[name] = (
                    f"{draw.choice((rest, control.min + steps * control.step)):.6g}"
                )
            elif isinstance(control, widgets.IntSlider):
                values[name] = str(
                    draw.randrange(control.min, control.max + 1, control.step)
                )
            elif hasattr(control, "min"):
                values[name] = str(draw.randint(control.min, control.max))
            else:
                values[name] = text(draw.choice(places(control)))
        yield ";".join(f"{name}={value}" for name, value in values.items())
    if isinstance(kind, type):
        panel.close()


def places(control):
    """Where a control is to be taken: both ends of a slider, every option of a list; a
    text has none."""
    if hasattr(control, "options"):
        return [
            option[1] if isinstance(option, tuple) else option
            for option in control.options
        ]
    if hasattr(control, "min"):
        return [control.min, control.max]
    return [False, True] if isinstance(control.value, bool) else []
