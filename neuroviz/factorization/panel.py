"""A = KᵀQ: walk along the factorisations of one A, count them, and see the smallest
case as a surface."""

import numpy as np

from neuroviz.attention.formulas import Hypothesis
from neuroviz.factorization.factors_facts import factors_picture
from neuroviz.factorization.study import (
    FactorizationSetting,
    FactorizationStudy,
    SlicePoint,
    study_factorization,
)
from neuroviz.kit.badges import badge, exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.words import tiny
from neuroviz.rank.floats import numerical_rank


class FactorizationExplorer(Panel):
    """A = KᵀQ stands still while Q and K walk along a fibre; how large fibres are, and
    one variety drawn.

    Controls: d, a, walk (rotation, stretch or shear in GL_a), along, rank (Lemma 3.1
    needs Q and K of full rank); under "More": off the orbit, where one factor has
    lost a rank and the other moves alone; trace, angle and height, which place a 2 × 2
    matrix A on its surface, entries of Q and K, and seed. Each entry can be dragged, C
    is turned by a handle, and A moves on its surface.

    >>> panel = FactorizationExplorer()
    >>> panel.controls["a"].value = 1
    >>> panel.description.split(". ")[1]
    '1 of 6 directions is silent: 5 dimensions remain, of d² = 9'
    """

    title = "One A, many Q and K"
    setting = FactorizationSetting
    _answer = staticmethod(study_factorization)
    draw = staticmethod(factors_picture)

    def _arrange(self) -> None:
        # Two by two, the sliders place A, and for a = 1 nothing is left to be drawn at
        # random.
        is_small = self.controls["d"].value == 2
        self.controls["seed"].disabled = is_small and self.controls["a"].value == 1
        # D of `off_orbit_direction` is 0 otherwise
        is_larger = self.controls["rank"].value != "full"
        is_wide = self.controls["a"].value < self.controls["d"].value
        self.controls["off_orbit"].disabled = not (is_larger and is_wide)
        for name in ("trace", "angle", "height"):
            self.controls[name].disabled = not is_small

    def _badge(self, answer: FactorizationStudy) -> str:
        count = answer.count
        agrees = "" if count.dimension == answer.formula[answer.a - 1] else " ≠ formula"
        measured = exact_badge(
            f"{count.dimension}{agrees}",
            count.prime,
            f"The rank of (Q, K) ↦ KᵀQ at a random point: {count.dimension}.",
        )
        square = f"a² = {answer.a**2}"
        reasons = _lemma(answer)
        if answer.recovered is None:
            said = f"Lemma 3.1: not {square} but {answer.here} here"
            return badge("outside hypotheses", said, reasons) + measured
        return badge("proved", f"Lemma 3.1: fibre {square}", reasons) + measured

    def _describe(self, answer: FactorizationStudy) -> str:
        d = answer.d
        a = answer.a
        count = answer.count
        moved = f"by up to {answer.moved:.2f}" if answer.moved else "by 0"
        silent = f"directions {'is' if count.fiber == 1 else 'are'} silent"
        where = "At most points " if answer.here != count.fiber else ""
        remain = (
            f"{count.dimension}"
            f" dimension{'s remain' if count.dimension != 1 else ' remains'}"
        )
        of = "all d²" if count.dimension == d * d else "of d²"
        return (
            f"Q and K move {moved}, A by {tiny(answer.change)}. "
            f"{where}{count.fiber} of {2 * a * d} {silent}: {remain}, {of} = {d * d}. "
            f"{_recovery(answer)}{_departure(answer)}"
            f"{_surface(answer.point) if answer.point else ''}"
        )


def _recovery(answer: FactorizationStudy) -> str:
    if answer.recovered is not None:
        off = float(np.abs(answer.recovered - answer.C).max())
        return f"C is recovered from the two factorisations, off by {tiny(off)}."
    d = answer.d
    a = answer.a
    here = answer.here
    ranks = {
        name: numerical_rank(M)
        for name, M in (("Q", answer.start.Q), ("K", answer.start.K))
    }
    if a > d and min(ranks.values()) == d:
        return (
            f"C cannot be recovered: a > d, and {(a - d) ** 2} of a² = {a * a}"
            f" directions in GLₐ {'move' if (a - d) ** 2 > 1 else 'moves'} neither Q"
            f" nor K; {here} remain."
        )
    low = min(ranks, key=ranks.get)
    # `_describe` has said that this is what it is at most points.
    usual = f", against {answer.count.fiber}" if here != answer.count.fiber else ""
    # both ranks dropped: the kernel of the derivative exceeds the fibre
    if max(ranks.values()) < min(a, d):
        return (
            f"C cannot be recovered: Q and K both have rank below {min(a, d)}; here"
            f" {here} directions are silent, to first order{usual}."
        )
    return (
        f"C cannot be recovered: {low} has rank {ranks[low]}, below {min(a, d)}, and"
        f" the fibre is more than one orbit; here it has dimension {here}{usual}."
    )


def _departure(answer: FactorizationStudy) -> str:
    """How far from one orbit both factorisations are."""
    if not answer.is_off_orbit:
        return ""
    name = "K" if answer.place["rank"] == "Q" else "Q"
    each = numerical_rank(getattr(answer.start, name))
    return (
        f" The rows of {name} at the start and now span {answer.spans[name]} dimensions"
        f" together, and {each} each: no C leads from one to the other."
    )


def _surface(point: SlicePoint) -> str:
    shape = (
        "a cone, singular at 0 only"
        if point.trace == 0
        else "a hyperboloid, smooth everywhere"
    )
    where = {
        0: "A = 0 is that point",
        1: "A is on it",
        2: "A, of rank 2, is not on it",
    }[point.rank]
    return f" The surface is {shape}; {where}."


def _lemma(study: FactorizationStudy) -> Reasons:
    """Lemma 3.1 at this pair."""
    d = study.d
    a = study.a
    ranks = [numerical_rank(factor) for factor in study.now]
    asked = (
        Hypothesis(f"a ≤ d (a = {a}, d = {d})", a <= d),
        Hypothesis(f"Q has rank a (rank {ranks[0]})", ranks[0] == a),
        Hypothesis(f"K has rank a (rank {ranks[1]})", ranks[1] == a),
    )
    says = (
        "Two pairs (Q, K) with one product differ by exactly one invertible C, so the "
        f"fibre has a² = {a**2} dimensions."
    )
    if study.recovered is None:
        says = (
            f"The lemma does not apply here; to first order {study.here} directions of "
            "(Q, K) leave A alone."
        )
    return Reasons(says, "Lemma 3.1", asked)
