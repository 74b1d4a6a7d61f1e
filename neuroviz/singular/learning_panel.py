"""Layers that learn a target, on the surface of Figure 1."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import real
from neuroviz.singular.forms import Pair, kind_of, nearest_layer
from neuroviz.singular.learning import HALF, nearest_is_singular
from neuroviz.singular.learning_facts import KINDS, MOVES, RANGES, learning_picture
from neuroviz.singular.slice_panel import coordinates

_FIRST = dict(zip(RANGES, map(float, MOVES[0].target), strict=True))


@dataclass(frozen=True)
class LearningSetting:
    """The target: a point of the slice S1."""

    s: float = real("target’s s", _FIRST["s"], *RANGES["s"])
    y: float = real("target’s y", _FIRST["y"], *RANGES["y"])
    z: float = real("target’s z", _FIRST["z"], *RANGES["z"])

    @cached_property
    def target(self) -> tuple[Fraction, Fraction, Fraction]:
        """The same, exactly: sliders go in hundredths."""
        return tuple(Fraction(round(100 * t), 100) for t in (self.s, self.y, self.z))

    @cached_property
    def forms(self) -> Pair:
        """The pair (q₁, q₂) that the layers learn, exactly."""
        return HALF.forms(*self.target)


@dataclass(frozen=True)
class LearningStudy:
    """What is true of a target.

    Attributes:
        setting: the controls.
        kind: where it lies, as `kind_of` says it.
        distance: to the nearest layer.
        is_singular: whether the nearest layer is singular.
        is_asked: whether it is the target of a move, of which the reader guesses first.
    """

    setting: LearningSetting
    kind: str
    distance: float
    is_singular: bool
    is_asked: bool


def study_learning(setting: LearningSetting) -> LearningStudy:
    """Where the target lies, and how its nearest layer is."""
    floats = (tuple(map(float, q)) for q in setting.forms)
    return LearningStudy(
        setting,
        kind_of(*setting.forms),
        float(nearest_layer(*floats).distance),
        nearest_is_singular(*setting.forms),
        setting.target in [move.target for move in MOVES],
    )


class LearningExplorer(Panel):
    """Forty layers that follow their gradient to a target, on the surface of all
    layers.

    Controls: see `LearningSetting`. The target is dragged; three moves ask for a guess
    before they answer. See `Panel` for what all panels share.

    >>> panel = LearningExplorer(state="s=1;y=0;z=1")
    >>> panel.description.split(", ")[3]
    'and singular; a flow may rest elsewhere'
    """

    title = "Do layers that learn end at singular points?"
    setting = LearningSetting
    _answer = staticmethod(study_learning)
    draw = staticmethod(learning_picture)

    def _badge(self, answer: LearningStudy) -> str:
        claim = "It is proved which targets have a singular nearest layer."
        if not answer.is_asked:
            how = "singular" if answer.is_singular else "smooth"
            claim = f"The layer nearest to this target is {how}."
        facts = ("Where layers end is an experiment in floating point.",)
        reasons = Reasons(claim, "Nearest layer", facts=facts)
        return badge("proved here", "The nearest layer", reasons)

    def _describe(self, answer: LearningStudy) -> str:
        at = coordinates(HALF, tuple(map(float, answer.setting.target)))
        said = f"The target {at} is {KINDS[answer.kind]}."
        if answer.is_asked:
            return said
        how = "singular" if answer.is_singular else "smooth"
        if answer.kind in ("off", "closure only"):
            return (
                f"{said} The layer nearest to it is at distance"
                f" {answer.distance:.3g}, and {how}; a flow may rest elsewhere, too."
            )
        return f"{said} It is its own nearest layer, and {how}."
