"""Where one layer of any size is singular: walk to rank one and to the boundary, and watch the kernel."""

from dataclasses import dataclass, replace
from fractions import Fraction

from neuroviz.engine.field import DEFAULT_PRIME
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import real, seed, switch, whole
from neuroviz.kit.words import grouped
from neuroviz.singular import ranks
from neuroviz.singular.ranks import BOUNDARY, CROSSING, SMOOTH, THIN, Approach
from neuroviz.singular.singularity_figure import SingularityStudy, singularity_parts

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
    by_s, by_b = _path(approach, "s", (*_PLACES[:-1], end)), _path(approach, "b", _PLACES)
    spectrum = tuple(ranks.singular_values(approach).tolist())
    return SingularityStudy(approach, ranks.singular_facts(approach), spectrum, by_s, by_b)


def _path(approach: Approach, name: str, places: tuple[Fraction, ...]) -> dict[float, list[float]]:
    stations = {float(place): replace(approach, **{name: place}) for place in places}
    return {s: ranks.smallest_values(station, approach.d + 1).tolist() for s, station in stations.items()}


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
        facts, at = answer.facts, answer.approach
        where = f"d = {at.d}, d′ = {at.d_out}, rank A ≤ {at.a}: here rank A = {facts.rank_a}"
        apart = f", and u and v are {at.angle:.0f}° apart" if facts.kind in (CROSSING, BOUNDARY) else ""
        said = {
            SMOOTH: "A smooth point: the kernel is 1, the rescaling (A, −V), and one set of weights.",
            CROSSING: "Singular, though the kernel is still 1: the swap of u and v gives a second set of "
            f"weights, and two smooth branches cross (each reaches {facts.image} dimensions, both together "
            f"{facts.span}).",
            BOUNDARY: f"The boundary: the kernel jumps from 1 to d = {facts.kernel}: (w kᵀ, −h wᵀ) for "
            f"every w, the rescaling (w = v) among them; so {facts.kernel - 1} more of them do nothing.",
            THIN: "The kernel is 1 and there is one set of weights, but A is a singular point of the "
            f"matrices of rank ≤ {at.a}: for a < d that makes the function singular, whatever V is.",
        }[facts.kind]
        if not at.covered:
            said = (
                "With a = d′ = 1 the hypotheses of Theorem 3.4 fail: every function has the weights that the "
                f"swap gives too, with the same tangent space. Counted exactly, the kernel is {facts.kernel}."
            )
        elif facts.kind != THIN and facts.image > facts.dimension - (facts.kernel - 1):
            said += (
                f" As a < d, rank A < a is singular by itself: to first order A may move in all {at.d**2} "
                f"directions, and the differential reaches {facts.image} dimensions where the set has "
                f"{facts.dimension}."
            )
        return (
            f"{where}, rank V = {facts.rank_v}{apart}. {said} Ranks and kernel are counted mod "
            f"{grouped(DEFAULT_PRIME)}, which is exact here: that many directions are known to do nothing."
        )
