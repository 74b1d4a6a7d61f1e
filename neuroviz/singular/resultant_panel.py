"""Two quadratic forms by their roots, and the number that says whether they share
one."""

from dataclasses import dataclass
from math import cos, prod, radians, sin

from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import whole
from neuroviz.singular.resultant_facts import resultant_picture

HALF_TURN = 180  # degrees: [X : Y] and [−X : −Y] are one root


@dataclass(frozen=True)
class ResultantSetting:
    """The roots [cos θ : sin θ] of q₁ and of q₂, each by its angle θ in degrees."""

    first: int = whole("q₁, one root", 20, 0, HALF_TURN - 1)
    second: int = whole("q₁, the other", 80, 0, HALF_TURN - 1)
    third: int = whole("q₂, one root", 125, 0, HALF_TURN - 1)
    fourth: int = whole("q₂, the other", 160, 0, HALF_TURN - 1)

    @property
    def roots(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Those of q₁, and those of q₂."""
        return (self.first, self.second), (self.third, self.fourth)


@dataclass(frozen=True)
class ResultantStudy:
    """Two forms, and their resultant.

    Attributes:
        forms: (a, b, c) of q = aX² + bXY + cY², for each.
        factors: sin(θ′ − θ) for each root θ of q₁ and each θ′ of q₂.
        resultant: the product of the factors.
        common: the roots that both have.
    """

    setting: ResultantSetting
    forms: tuple[tuple[float, float, float], tuple[float, float, float]]
    factors: tuple[float, ...]
    resultant: float
    common: tuple[int, ...]


def form_with_roots(one: float, other: float) -> tuple[float, float, float]:
    """The product of the two linear forms of length 1 that vanish at [cos θ : sin θ].

    The angles are in degrees, and sin θ X − cos θ Y vanishes there.

    >>> [round(number, 9) + 0 for number in form_with_roots(0, 90)]  # Y and X
    [0.0, -1.0, 0.0]
    """
    (a, b), (c, d) = (
        (sin(radians(angle)), -cos(radians(angle))) for angle in (one, other)
    )
    return (a * c, a * d + b * c, b * d)


def study_resultant(setting: ResultantSetting) -> ResultantStudy:
    """The resultant of two forms of length-1 factors, from their roots.

    R = Π sin(θ′ − θ), over the roots θ of q₁ and θ′ of q₂. On the circle a root stands
    at the angle 2θ, so a factor is half the length of the chord between two roots, up
    to its sign. Their product is negative where roots of both forms alternate on the
    circle.

    >>> study = study_resultant(ResultantSetting(0, 90, 45, 90))
    >>> study.resultant, study.common
    (0.0, (90,))
    """
    of_first, of_second = setting.roots
    factors = []
    for root in of_first:
        for other in of_second:
            factors.append(sin(radians(other - root)))
    return ResultantStudy(
        setting,
        (form_with_roots(*of_first), form_with_roots(*of_second)),
        tuple(factors),
        prod(factors) + 0.0,
        tuple(sorted(set(of_first) & set(of_second))),
    )


class ResultantExplorer(Panel):
    """Two quadratic forms with real roots: their resultant is a product of four chords,
    and 0 where two roots meet.

    Controls: see `ResultantSetting`; each root is dragged round the circle. See `Panel`
    for what all panels share.

    >>> ResultantExplorer(state="first=20;third=20").description.split(":")[0]
    'R = 0'
    """

    title = "Have two forms a root in common?"
    setting = ResultantSetting
    _answer = staticmethod(study_resultant)
    draw = staticmethod(resultant_picture)

    def _badge(self, answer: ResultantStudy) -> str:
        says = (
            "The function of a layer is the pair of products q₁ = ℓ₁v, q₂ = ℓ₂v. Two "
            "forms have a common linear factor exactly where their resultant is 0."
        )
        return badge("proved", "Prop. A.5", Reasons(says, "Prop. A.5"))

    def _describe(self, answer: ResultantStudy) -> str:
        if not answer.common:
            said = (
                f"R = {answer.resultant:.3f}: no root of q₁ is one of q₂. A layer has "
                "the factor v in both forms, so no layer has these two."
            ).replace("-", "−")
            if answer.resultant < 0:
                said += " R is negative, as roots of q₁ and q₂ alternate on the circle."
            return said
        several = len(answer.common) > 1
        roots = "roots are" if several else "root is"
        return (
            f"R = 0: {'two' if several else 'a'} {roots} common. The common factor can "
            "be the v of a layer, and what is left of each form a column of its A."
        )
