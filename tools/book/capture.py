"""Runs inside the kernel of a notebook: panels, questions and presets are shown as
data, not as widgets."""

import json
from html import unescape
from itertools import count

import ipywidgets as widgets
import plotly.graph_objects as go
from IPython import get_ipython
from IPython.display import display

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.lessons import teaching
from tools.book.stills import ASKED_FOR, labels, main_control, packed, packed_figure

PANEL = "application/vnd.neuroviz.panel+json"
QUESTION = "application/vnd.neuroviz.question+json"
PRESETS = "application/vnd.neuroviz.presets+json"


def install(notebook: str) -> None:
    """From now on, panels at the ends of cells are rows of stills, figures single ones;
    the rest is text."""
    theme.use("light", "notebook")
    number = count()

    def show_panel(panel: Panel, **_: object) -> dict:
        data = packed(
            panel, main_control(panel, ASKED_FOR.get((notebook, next(number))))
        )
        panel.close()
        return {PANEL: json.loads(json.dumps(data, allow_nan=False))}

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


def show_box(box: widgets.Box, **settings: object) -> dict:
    """The labels of a row of presets; any other box is shown as ever.

    >>> from neuroviz.explorables import LedgerExplorer
    >>> from neuroviz.kit.presets import presets
    >>> states = {"two layers": "layers=2", "four layers": "layers=4"}
    >>> show_box(presets(LedgerExplorer(), states))[PRESETS]
    ['two layers', 'four layers']
    """
    if not (found := labels(box)):
        return box._repr_mimebundle_(**settings)
    return {PRESETS: [*found]}


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
    badge = theme.badge(*status) if status else ""
    return found | {
        "kind": "number",
        "answer": str(value),
        "badge": badge,
        "why": why,
        "remarks": remarks,
    }
