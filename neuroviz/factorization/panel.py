"""A = KᵀQ: walk along the factorisations of one A, count them, and see the smallest case as a surface."""

import re
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import alpha
from neuroviz.engine.network import Layer
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import WALKS, change_head_basis, drop_rank, recover_head_basis, walk_in_gl
from neuroviz.factorization.determinantal import (
    factor,
    measure_product,
    nearest_rank_one,
    product_jacobian,
    rank_one_heads,
    rank_one_point,
    slice_coordinates,
    slice_matrix,
)
from neuroviz.factorization.figure import RANGES, RANKS, FactorizationStudy, SlicePoint, factorization_parts
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, real, seed, text, whole
from neuroviz.kit.words import tiny

MAX_WIDTH, MAX_HEAD, MAX_ENTRY = 6, 8, 9
_ENTRY = re.compile(rf"([QK])([1-{MAX_HEAD}])([1-{MAX_WIDTH}])=(-?\d*\.?\d+)")
_BEYOND = 2  # the curves go on to a = d + 2, where nothing is gained any more
_OFF = np.array([4 / 3, 4 / 3, 2 / 3])  # a step along the normal leaves the surface


@dataclass(frozen=True)
class FactorizationSetting:
    """Q and K are a × d, a walk in GL_a apart; for d = 2 trace, angle and height place A.

    `entries` puts numbers in the place of some entries of Q and K, as in "Q12=0.5 K31=-1"; those of rows and
    columns that are not there wait until they are.
    """

    d: int = whole("width d", 3, 1, MAX_WIDTH)
    a: int = whole("head dimension a", 2, 1, MAX_HEAD)
    walk: str = choice("walk in GLₐ", WALKS)
    along: float = real("along the walk", 0.4, *RANGES["along"])
    rank: str = choice("rank", [(words, key) for key, words in RANKS.items()])
    trace: float = real("trace of A", 0.0, *RANGES["trace"], more=True)
    angle: float = real("angle", 330.0, *RANGES["angle"], more=True, shown=".0f")
    height: float = real("height", 0.6, *RANGES["height"], more=True)
    entries: str = text("entries", placeholder="Q12=0.5 K21=-1")
    seed: int = seed()

    def set_in(self, Q: np.ndarray, K: np.ndarray) -> None:
        """Puts the numbers of `entries` into Q and K.

        Raises:
            ValueError: if they are something else.
        """
        for part in self.entries.replace(",", " ").split():
            found = _ENTRY.fullmatch(part)
            if not found or abs(float(found[4])) > MAX_ENTRY:
                raise ValueError(
                    f"entries are such as Q12=0.5 K21=-1, from −{MAX_ENTRY} to {MAX_ENTRY}, with rows up to "
                    f"{MAX_HEAD} and columns up to {MAX_WIDTH}; got {part!r}"
                )
            place = int(found[2]) - 1, int(found[3]) - 1
            if place[0] < self.a and place[1] < self.d:
                (Q if found[1] == "Q" else K)[place] = float(found[4])


def study_factorization(request: FactorizationSetting) -> FactorizationStudy:
    """Factor one A in two ways, a walk in GL_a apart, and measure everything the figure shows of it."""
    d, a, over = request.d, request.a, Reals()
    base = _base(request)
    start = _start(request, base)
    C = walk_in_gl(request.walk, a, request.along)
    (now,) = change_head_basis(over, (start,), 0, C)
    recovered = None
    with suppress(ValueError):  # where Lemma 3.1 does not apply
        recovered = recover_head_basis(over, start, now)
    products = start.K.T @ start.Q, now.K.T @ now.Q
    counts = tuple(measure_product(d, b) for b in range(1, max(d + _BEYOND, a) + 1))
    J = product_jacobian(over, start.Q, start.K)
    return FactorizationStudy(
        d=d,
        a=a,
        start=start,
        now=now,
        walk=request.walk,
        C=C,
        products=products,
        spectrum=tuple(np.linalg.svd(A, compute_uv=False) for A in products),
        rank=numerical_rank(products[1]),
        counts=counts,
        formula=tuple(alpha(count.a, d) for count in counts),
        here=2 * a * d - numerical_rank(J),
        recovered=recovered,
        point=_point(request, products[0]),
        place={name: getattr(request, name) for name in ("walk", "rank", "entries", *RANGES)},
        base=base,
    )


def _base(request: FactorizationSetting) -> tuple[np.ndarray, ...]:
    """What is drawn at random: Q and K; for d = 2 and a > 1 those of A = 0, with orthonormal columns in K."""
    d, a, rng = request.d, request.a, np.random.default_rng(request.seed)
    if d == 2:
        return factor(np.zeros((2, 2)), a, rng) if a > 1 else ()
    return tuple(rng.standard_normal((2, a, d)))


def _start(request: FactorizationSetting, base: tuple[np.ndarray, ...]) -> Layer:
    """The first factorisation: drawn at random, or for d = 2 one of the matrix that the sliders place."""
    at = (request.trace, request.angle, request.height)
    if request.d != 2:
        Q, K = (M.copy() for M in base)
    elif request.a == 1:
        Q, K = rank_one_heads(*at)
    else:
        unseen, isometry = base
        place = np.array(rank_one_point(*at))
        A = slice_matrix(request.trace, *(_OFF * place if request.rank == "full" else place))
        Q = {"full": isometry @ A + unseen, "Q": isometry @ A, "K": isometry.copy()}[request.rank]
        K = isometry @ A.T if request.rank == "K" else isometry.copy()
    request.set_in(Q, K)
    return Layer(drop_rank(Q) if request.rank == "Q" else Q, drop_rank(K) if request.rank == "K" else K, None)


def _point(request: FactorizationSetting, A: np.ndarray) -> SlicePoint | None:
    """Where A, if it is two by two, lies in the slice of its trace."""
    if request.d != 2:
        return None
    if numerical_rank(A) == 0:  # A = 0 is the tip of the cone, whatever trace the slider says
        return SlicePoint(0.0, request.angle, 0.0, (0.0, 0.0, 0.0), 0)
    trace, *place = (round(t, 12) + 0.0 for t in slice_coordinates(A))
    return SlicePoint(trace, *nearest_rank_one(trace, *place), tuple(place), numerical_rank(A))


class FactorizationExplorer(Panel):
    """A = KᵀQ stands still while Q and K walk along a fibre; how large fibres are, and one variety drawn.

    Controls: d, a, walk (rotation, stretch or shear in GL_a), along, rank (Lemma 3.1 needs Q and K of
    full rank); under "More": trace, angle and height, which place a 2 × 2 matrix A on its surface, entries of
    Q and K, and seed. Each entry can be dragged, C is turned by a handle, and A moves on its surface.

    >>> panel = FactorizationExplorer()
    >>> panel.controls["a"].value = 1
    >>> panel.description.split(". ")[1]
    '1 of 6 directions is silent: 5 dimensions remain, of d² = 9'
    """

    title = "One A, many Q and K"
    setting = FactorizationSetting
    _answer = staticmethod(study_factorization)
    draw = staticmethod(factorization_parts)

    def _arrange(self) -> None:
        # Two by two, the sliders place A, and for a = 1 nothing is left to be drawn at random.
        is_small = self.controls["d"].value == 2
        self.controls["seed"].disabled = is_small and self.controls["a"].value == 1
        for name in ("trace", "angle", "height"):
            self.controls[name].disabled = not is_small

    def _badge(self, answer: FactorizationStudy) -> str:
        count = answer.count
        agrees = "" if count.dimension == answer.formula[answer.a - 1] else " ≠ formula"
        measured = exact_badge(f"{count.dimension}{agrees}", count.prime)
        square = f"a² = {answer.a**2}"
        if answer.recovered is None:
            lemma = theme.badge("outside hypotheses", f"Lemma 3.1: not {square} but {answer.here} here")
        else:
            lemma = theme.badge("proved", f"Lemma 3.1: fibre {square}")
        return lemma + measured

    def _describe(self, answer: FactorizationStudy) -> str:
        d, a, count = answer.d, answer.a, answer.count
        moved = f"by up to {answer.moved:.2f}" if answer.moved else "by 0"
        silent = f"directions {'is' if count.fibre == 1 else 'are'} silent"
        where = "At most points " if answer.here != count.fibre else ""
        remain = f"{count.dimension} dimension{'s remain' if count.dimension != 1 else ' remains'}"
        of = "all d²" if count.dimension == d * d else "of d²"
        return (
            f"Q and K move {moved}, A by {tiny(answer.change)}. "
            f"{where}{count.fibre} of {2 * a * d} {silent}: {remain}, {of} = {d * d}. "
            f"{_recovery(answer)}{_surface(answer.point) if answer.point else ''}"
        )


def _recovery(answer: FactorizationStudy) -> str:
    if answer.recovered is not None:
        off = float(np.abs(answer.recovered - answer.C).max())
        return f"C is recovered from the two factorisations, off by {tiny(off)}."
    d, a, here = answer.d, answer.a, answer.here
    ranks = {name: numerical_rank(M) for name, M in (("Q", answer.start.Q), ("K", answer.start.K))}
    if a > d and min(ranks.values()) == d:
        return (
            f"C cannot be recovered: a > d, and {(a - d) ** 2} of a² = {a * a} directions in GLₐ "
            f"{'move' if (a - d) ** 2 > 1 else 'moves'} neither Q nor K; {here} remain."
        )
    low = min(ranks, key=ranks.get)
    usual = f", against {answer.count.fibre} at most points" if here != answer.count.fibre else ""
    if max(ranks.values()) < min(a, d):  # both ranks dropped: the kernel of the derivative exceeds the fibre
        return (
            f"C cannot be recovered: Q and K both have rank below {min(a, d)}; here {here} directions are "
            f"silent, to first order{usual}."
        )
    return (
        f"C cannot be recovered: {low} has rank {ranks[low]}, below {min(a, d)}, and the fibre is more than "
        f"one orbit; here it has dimension {here}{usual}."
    )


def _surface(point: SlicePoint) -> str:
    shape = "a cone, singular at 0 only" if point.trace == 0 else "a hyperboloid, smooth everywhere"
    where = {0: "A = 0 is that point", 1: "A is on it", 2: "A, of rank 2, is not on it"}[point.rank]
    return f" The surface is {shape}; {where}."
