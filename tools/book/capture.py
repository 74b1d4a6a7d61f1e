"""Runs inside the kernel of a notebook: panels, questions and presets are shown as
data, not as widgets."""

import json
from html import unescape
from itertools import count
from weakref import WeakKeyDictionary

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython import get_ipython
from IPython.display import display

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.lessons import teaching
from tools.book.stills import (
    ASKED_FOR,
    labels,
    main_control,
    packed,
    packed_figure,
    take_presets,
)

PANEL = "application/vnd.neuroviz.panel+json"
QUESTION = "application/vnd.neuroviz.question+json"
PRESETS = "application/vnd.neuroviz.presets+json"

# The panels that a notebook has shown → their data.
_shown: WeakKeyDictionary[Panel, dict] = WeakKeyDictionary()


def install(notebook: str) -> None:
    """From now on, panels at the ends of cells are rows of stills, figures single ones;
    the rest is text."""
    theme.use("light", "notebook")
    number = count()

    def show_panel(panel: Panel, **_: object) -> dict:
        asked_for = ASKED_FOR.get((notebook, next(number)))
        data = pack(panel, main_control(panel, asked_for))
        panel.close()
        return {PANEL: data}

    def show_figure(figure: go.Figure) -> None:
        display({PANEL: packed_figure(figure)}, raw=True)

    get_ipython().display_formatter.ipython_display_formatter.for_type(
        go.Figure, show_figure
    )
    formatter = get_ipython().display_formatter.mimebundle_formatter
    formatter.for_type(Panel, show_panel)
    formatter.for_type(
        teaching.Question, lambda question, **_: {QUESTION: texts(question)}
    )
    formatter.for_type(widgets.Box, show_box)


def pack(panel: Panel, name: str) -> dict:
    """A panel as data that JSON has, with a number that its rows of presets name."""
    data = {"number": len(_shown)} | packed(panel, name)
    # As a page will read it: tuples are lists, and NaN is an error here.
    _shown[panel] = json.loads(json.dumps(data, allow_nan=False))
    return _shown[panel]


def show_box(box: widgets.Box, **settings: object) -> dict:
    """What a row of presets leads to; any other box is shown as ever.

    Raises:
        ValueError: if the panel of the row has not been shown above it.

    >>> from neuroviz.explorables import LedgerExplorer
    >>> from neuroviz.kit.presets import presets
    >>> panel = LedgerExplorer()
    >>> _ = pack(panel, "layers")
    >>> row = presets(panel, {"two layers": "layers=2", "wide": "width=6"})
    >>> for preset in show_box(row)[PRESETS]["presets"]:
    ...     preset["label"], preset["still"] is None
    ('two layers', True)
    ('wide', False)
    """
    if not (states := labels(box)):
        return box._repr_mimebundle_(**settings)
    data = _shown.get(box.panel)
    if data is None:
        raise ValueError(
            f"the panel of the presets {', '.join(states)} is to be shown above them"
        )
    taken = take_presets(
        box.panel, data["name"], states, data["stills"], data["figure"]
    )
    # It was closed when it was shown; a slow preset has started another child.
    box.panel.close()
    presets = json.loads(json.dumps(taken, allow_nan=False))
    return {PRESETS: {"number": data["number"], "presets": presets}}


def texts(question: teaching.Question) -> dict:
    """A question, its answer with badge and reason, and the remarks on other answers.

    >>> wrong = {40: "A factor can move."}
    >>> said = texts(teaching.predict("How many dimensions?", 38, wrong=wrong))
    >>> said["question"], said["answer"], said["remarks"]
    ('How many dimensions?', '38', [['40', 'A factor can move.']])
    """
    (asked,) = [
        one.value for one in question.children if isinstance(one, widgets.HTMLMath)
    ]
    found = {
        "question": unescape(asked.removeprefix("<b>Predict.</b> ")),
        "asks": question.asks,
        "badge": "",
        "why": "",
    }
    if isinstance(question, teaching.Choice):
        return found | {
            "kind": "choice",
            "answer": question._answer,
            "remarks": [list(p) for p in question._remarks.items()],
        }
    value, status, why = question._answer
    remarks = [
        [str(guess), hint] for guess, hint in question._hints.items() if guess != value
    ]
    badge = theme.badge_html(*status) if status else ""
    return found | {
        "kind": "number",
        "answer": str(value),
        "badge": badge,
        "why": why,
        "remarks": remarks,
    }
