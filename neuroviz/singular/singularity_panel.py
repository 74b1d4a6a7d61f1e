"""Where one layer of any size is singular: walk to rank one and to the boundary, and watch the kernel."""

from dataclasses import dataclass, replace
from fractions import Fraction

from neuroviz.engine.field import DEFAULT_PRIME
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import real, seed, switch, whole
from neuroviz.kit.words import grouped
from neuroviz.singular.ranks import (
    BOUNDARY,
    CROSSING,
    THIN,
    Approach,
    singular_facts,
    singular_values,
    smallest_values,
)
from neuroviz.singular.singularity_figure import FallingValues, SingularityStudy, singularity_parts

MAX_WIDTH = 6
_STEPS = 100  # of a slider
_PLACES = tuple(Fraction(i, 20) for i in range(21))
_NEARLY = Fraction(9999, 10_000)


@dataclass(frozen=True)
class SingularitySetting:
    """Sizes of one layer, and how far it has gone towards rank one and towards the boundary."""

    d: int = whole("width d", 4, 2, MAX_WIDTH)
    d_out: int = whole("output width d′", 2, 1, MAX_WIDTH)
    a: int = whole("head dimension a", 4, 1, MAX_WIDTH)
    s: float = real("s: to rank one", 1.0, 0, 1, 1 / _STEPS)
    b: float = real("b: u and v meet", 1.0, 0, 1, 1 / _STEPS)
    values_too: bool = switch("V goes to rank one too", True, more=True, name="values")
    seed: int = seed()

    @property
    def approach(self) -> Approach:
        """The same place with rational numbers."""
        s, b = (Fraction(round(_STEPS * share), _STEPS) for share in (self.s, self.b))
        return Approach(self.d, self.d_out, self.a, s, b, self.seed, self.values_too)


def study_singularity(setting: SingularitySetting) -> SingularityStudy:
    """Count and measure everything that the figure shows of one place."""
    approach = setting.approach
    # For a < d there are suddenly more directions at rank one, so a curve stops just before.
    end = _NEARLY if approach.a < approach.d else Fraction(1)
    count = approach.d + 1
    s_places, b_places = (*_PLACES[:-1], end), _PLACES
    return SingularityStudy(
        approach,
        singular_facts(approach),
        tuple(singular_values(approach).tolist()),
        _path([replace(approach, s=s) for s in s_places], s_places, count),
        _path([replace(approach, b=b) for b in b_places], b_places, count),
    )


def _path(stations: list[Approach], places: tuple[Fraction, ...], count: int) -> FallingValues:
    values = [tuple(smallest_values(station, count).tolist()) for station in stations]
    return FallingValues(tuple(map(float, places)), tuple(values))


class SingularityExplorer(Panel):
    """Theorem 3.4 in any size: where ranks fall and forms meet, what does the differential see?

    Controls: d, d_out (d′), a, s (towards rank one), b (towards the boundary); under "More": values
    (whether V goes to rank one together with A), seed. See `Panel` for what all panels share.

    >>> panel = SingularityExplorer(state="d=4;a=4;s=1;b=1")
    >>> "jumps from 1 to d = 4" in panel.description
    True
    """

    title = "Where does the kernel jump?"

    setting = SingularitySetting
    _answer = staticmethod(study_singularity)
    draw = staticmethod(singularity_parts)

    def _arrange(self) -> None:
        self.controls["values"].disabled = self.controls["d_out"].value == 1  # V has one row

    def _badge(self, answer: SingularityStudy) -> str:
        counted = exact_badge(f"kernel {answer.facts.kernel}")
        if not answer.approach.covered:
            return counted + theme.badge("outside hypotheses", "Thm. 3.4")
        if answer.facts.kind == THIN:
            return counted + theme.badge("proved here", "Thm. 3.4, a < d")
        return counted + theme.badge("proved", "Thm. 3.4, Lemma A.3")

    def _describe(self, answer: SingularityStudy) -> str:
        facts, approach = answer.facts, answer.approach
        where = (
            f"d = {approach.d}, d′ = {approach.d_out}, rank A ≤ {approach.a}: here rank A = {facts.rank_a}, "
            f"rank V = {facts.rank_v}"
        )
        if facts.kind in (CROSSING, BOUNDARY):
            where += f", and u and v are {approach.angle:.0f}° apart"
        if not approach.covered:
            said = (
                "With a = d′ = 1 the hypotheses of Theorem 3.4 fail: every function has the weights that the "
                f"swap gives too, with the same tangent space. Counted exactly, the kernel is {facts.kernel}."
            )
        elif facts.kind == BOUNDARY:
            said = (
                f"The boundary: the kernel jumps from 1 to d = {facts.kernel}: (w kᵀ, −h wᵀ) for "
                f"every w, the rescaling (w = v) among them; so {facts.kernel - 1} more of them do nothing."
            )
        elif facts.kind == CROSSING:
            said = (
                "Singular, though the kernel is still 1: the swap of u and v gives a second set of weights, "
                f"and two smooth branches cross (each reaches {facts.image} dimensions, both together "
                f"{facts.span})."
            )
        elif facts.kind == THIN:
            said = (
                "The kernel is 1 and there is one set of weights, but A is a singular point of the matrices "
                f"of rank ≤ {approach.a}: for a < d that makes the function singular, whatever V is."
            )
        else:
            said = "A smooth point: the kernel is 1, the rescaling (A, −V), and one set of weights."
        restricted = ""
        if approach.covered and facts.kind != THIN and facts.image > facts.dimension - (facts.kernel - 1):
            restricted = (
                f" As a < d, rank A < a is singular by itself: to first order A may move in all "
                f"{approach.d**2} directions, and the differential reaches {facts.image} dimensions where "
                f"the set has {facts.dimension}."
            )
        return (
            f"{where}. {said}{restricted} Ranks and kernel are counted mod {grouped(DEFAULT_PRIME)}, which "
            "is exact here: that many directions are known to do nothing."
        )
