"""Where one layer of any size is singular: walk to rank one and to the boundary, and watch the kernel."""

from dataclasses import dataclass
from fractions import Fraction

from neuroviz.engine.field import DEFAULT_PRIME
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose, few
from neuroviz.kit.settings import real, seed, switch, whole
from neuroviz.kit.words import grouped
from neuroviz.singular import ranks
from neuroviz.singular.ranks import BOUNDARY, CROSSING, SMOOTH, THIN, Approach, SingularFacts

_LEFT, _RIGHT = (0.0, 0.6), (0.7, 1.0)
_FLOOR = 1e-17  # where a singular value that came out as 0 is drawn

KIND_WORDS = {
    SMOOTH: "a smooth point",
    CROSSING: "singular: branches cross",
    BOUNDARY: "singular: boundary",
    THIN: "singular: rank A < a",
}


@dataclass(frozen=True, eq=False)
class SingularityStudy:
    """One place on the way to rank one and to the boundary.

    Attributes:
        approach: where.
        facts: what is true there, exactly.
        spectrum: singular values of the differential, decreasing, for A and V of length 1.
    """

    approach: Approach
    facts: SingularFacts
    spectrum: tuple[float, ...]


def singularity_parts(study: SingularityStudy) -> Parts:
    """Left all singular values, right what is true here."""
    plot = Plot("", _LEFT, (0.0, 1.0))
    _spectrum(study, plot)
    _facts(study, plot)
    return compose(plot.view())


def _spectrum(study: SingularityStudy, plot: Plot) -> None:
    facts, values, watched = study.facts, study.spectrum, study.approach.d - 1
    n, kept, many = len(values), facts.image, facts.kernel > 1
    last = min(facts.directions - 1, n)  # in the end, all but one are not 0 at a smooth point
    low = kept if many else max(kept - watched, 0)
    for name, indices, role, hollow in (
        ("singular values", range(low), "ink", False),
        (f"the {watched} that go to 0 at the boundary", range(low, last), "focus", many),
        ("0 everywhere: the rescaling", range(last, n), "soft", True),
    ):
        color, symbol = theme.color(role), "circle-open" if hollow else "circle"
        look = {"symbol": symbol, "size": theme.size("marker"), "color": color}
        look["line"] = {"width": 1.8, "color": color}
        x, y = [i + 1 for i in indices], [max(values[i], _FLOOR) for i in indices]
        plot.points(name, x, y, look, cliponaxis=False, hover=f"σ%{{x}} = %{{y:.2e}}<br>{name}")
    numbers = few(n) if n < 13 else [1, kept, n] if n - kept > 2 else [1, n]
    plot.axis("x", 0, n + 1, f"number, of {n} directions of (A, V)", tickvals=numbers)
    plot.log_axis("y", -18, 1, "singular value", step=6)
    plot.rule("x", kept + 0.5, "certified", 1.6, "dot")
    jump = f"kernel jumps from 1 to d = {facts.kernel} at the boundary"
    plot.headline(jump if many else "kernel 1: only the rescaling")
    at_top = {"yref": "y domain", "yanchor": "top", "xshift": -5, "yshift": -46}
    plot.text(f"exact rank {kept}", kept + 0.5, 1, "base", "certified", xanchor="right", **at_top)
    nothing = "(w kᵀ, −h wᵀ) for every w" if many else "(A, −V)"
    kernel = f"kernel: {facts.kernel} (exact)<br>{nothing}"
    plot.text(kernel, kept + 0.5, -11, "base", "ink", xanchor="right", xshift=-6, align="right")


def _facts(study: SingularityStudy, plot: Plot) -> None:
    facts, approach = study.facts, study.approach
    over = facts.image - facts.dimension
    rows = {
        "rank A, rank V": f"{facts.rank_a}, {facts.rank_v}",
        "angle of u and v": f"{approach.angle:.0f}°",
        "dimension D of the set": f"{facts.dimension}",
        "directions of (A, V)": f"{facts.directions}",
        "kernel": f"{facts.kernel}",
        "what they reach": f"{facts.image} = D"
        + (f" {'+' if over > 0 else '−'} {abs(over)}" if over else ""),
        "weights, up to rescaling": f"{facts.preimages}",
        "both branches reach": "–" if facts.span is None else f"{facts.span}",
    }
    at = {"xref": "paper", "yref": "paper"}
    verdict = KIND_WORDS[facts.kind] if approach.covered else "outside Theorem 3.4"
    plot.headline(verdict, **at, x=_RIGHT[0])
    left, right = ({**at, "yanchor": "top", "xanchor": side, "align": side} for side in ("left", "right"))
    plot.text("<br>".join(rows), _RIGHT[0], 0.98, "base", "soft", **left)
    plot.text(f"<b>{'<br>'.join(rows.values())}</b>", 1, 0.98, "base", "ink", **right)


MAX_WIDTH = 6
_STEPS = 100  # of a slider


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
    spectrum = tuple(ranks.singular_values(approach).tolist())
    return SingularityStudy(approach, ranks.singular_facts(approach), spectrum)


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
