"""The facts of the surface that learns: three moves, what is asked of each and what is
true, as plain data.

`web/singular/learning_facts.ts` types them. The layers that learn are the page's own:
`web/singular/learning_flow.ts` is `neuroviz.singular.flow` once more, and a test
compares where both end.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.singular.chart import chart_of, local_of
from neuroviz.singular.flow import SINGULAR_BELOW
from neuroviz.singular.forms import BOUNDARY, CLOSURE, CROSSING, OFF, SMOOTH
from neuroviz.singular.learning import COIN, HALF
from neuroviz.singular.slice_facts import slice_facts

if TYPE_CHECKING:
    from neuroviz.singular.learning_panel import LearningStudy

SCHEMA = "learning/1"
RUNS = 40
TIME = 600.0
TOLERANCE = 1e-6  # of a step of the flow, relative
RANGES = {
    "s": (0.0, 4.0, 0.01),
    "y": (-0.9, 0.9, 0.01),
    "z": (-1.8, 1.8, 0.01),
}
CHOICES = ("none", "some", "all")
KINDS = {
    SMOOTH: "on a sheet: a layer has this function",
    CROSSING: "on the yellow line: a layer has this function",
    BOUNDARY: "the pinch point: a layer has this function",
    CLOSURE: "on the dotted line: no layer has this function",
    OFF: "off the surface: no layer has this function",
}
_ROOM = 1.0  # around the surface, for layers outside the window


_SAYS = words(
    "Each dot is a layer. It learns, and moves on the surface of all layers.",
    "Drawn at its twin in this half of the slice, s ≥ 0: turned and scaled, smooth or"
    " singular as it is. The chart has true distances.",
    last="soft",
)


class Move(NamedTuple):
    """A target and a guess.

    Attributes:
        name: on its button.
        target: (s, y, z) in S1, exactly.
        asks: the question.
        right: of `CHOICES`, how many of the layers end at a singular point.
        says: the answer.
        shows_coin: whether the coin appears with the answer.
    """

    name: str
    target: tuple[Fraction, Fraction, Fraction]
    asks: str
    right: str
    says: str
    shows_coin: bool = False


def _at(s: str, y: str, z: str) -> tuple[Fraction, Fraction, Fraction]:
    return Fraction(s), Fraction(y), Fraction(z)


MOVES = (
    Move(
        "1 · on a sheet",
        _at("2.5", "-0.6", "0.9"),
        "The target is on a sheet: a layer has this function."
        f" How many of {RUNS} layers that learn it end at a singular point?",
        "none",
        "Not one: all end at the target, which is smooth. The yellow line keeps"
        " nobody.",
    ),
    Move(
        "2 · on the dots",
        _at("1", "0", "0"),
        "The target is on the dotted line: no layer has this function."
        f" How many of {RUNS} end at a singular point?",
        "all",
        "All end at the pinch point: the layer nearest to the target is singular."
        " Does training like singular points? Drag the target along the dots, then go"
        " on.",
    ),
    Move(
        "3 · beside them",
        _at("1", "0.45", "0.5"),
        "One step beside the dots, and still no layer has this function."
        f" How many of {RUNS} end at a singular point?",
        "none",
        "Not one: here the nearest layer is smooth. In this half of the slice it is"
        " singular for targets on the yellow line and on the coin that has appeared;"
        " and a coin is thin.",
        shows_coin=True,
    ),
)


def learning_picture(study: LearningStudy) -> Picture:
    """The surface with the layers on it, and beside it the question and the true
    distances."""
    place = {name: getattr(study.setting, name) for name in RANGES}
    return Picture("singular/learning", learning_facts(), place, RANGES)


@lru_cache(maxsize=1)
def learning_facts() -> Facts:
    """What the picture says; no target changes it.

    >>> facts = learning_facts()
    >>> facts["schema"], facts["choices"][facts["moves"][1]["right"]]
    ('learning/1', 'all')
    """
    chart = chart_of(HALF)
    return {
        "schema": SCHEMA,
        "says": [line | {"name": True} for line in _SAYS],
        "slice": slice_facts(chart, _ROOM),
        "formulas": local_of(chart),
        "flow": {
            "runs": RUNS,
            "time": TIME,
            "tolerance": TOLERANCE,
            "singular": SINGULAR_BELOW,
        },
        "kinds": KINDS,
        "choices": list(CHOICES),
        "moves": [
            {
                "name": move.name,
                "target": dict(zip(RANGES, map(float, move.target), strict=True)),
                "asks": move.asks,
                "right": CHOICES.index(move.right),
                "says": move.says,
                "showsCoin": move.shows_coin,
            }
            for move in MOVES
        ],
        "coin": {
            **COIN._asdict(),
            "lines": ["the coin: targets whose", "nearest layer is singular"],
        },
    }
