"""Two factorisations of one A = KᵀQ, a walk in GL_a apart: what is asked, and all that
is measured."""

from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neuroviz.attention.expected import alpha
from neuroviz.attention.symmetry import (
    WALKS,
    change_head_basis,
    drop_rank,
    recover_head_basis,
    walk_in_gl,
)
from neuroviz.factorization.determinantal import (
    Point,
    ProductCount,
    factor,
    measure_product,
    nearest_rank_one,
    off_orbit_direction,
    product_jacobian,
    rank_one_heads,
    rank_one_point,
    slice_coordinates,
    slice_matrix,
)
from neuroviz.kit.entries import Entries
from neuroviz.kit.matrices import largest_entry
from neuroviz.kit.settings import choice, real, seed, text, whole
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank

RANKS = {
    "full": "Q and K as they are",
    "Q": "Q has lost one rank",
    "K": "K has lost one rank",
}
RANGES = {
    "along": (-1, 1, 0.01),
    "off_orbit": (-1, 1, 0.01),
    "trace": (0, 1.5, 0.05),
    "angle": (0, 360, 1),
    "height": (-1, 1, 0.01),
}
SAME = 1e-9
"""What rounding may leave: products that differ by less are the same, and entries below
it are zeros."""
MAX_WIDTH = 6
MAX_HEAD = 8
MAX_ENTRY = 9
OFF = (4 / 3, 4 / 3, 2 / 3)
"""From a point of the surface to A of rank 2: a step along the normal leaves the
surface."""
ENTRIES = Entries("Q12=0.5 K21=-1", "QK", MAX_HEAD, MAX_WIDTH, MAX_ENTRY)
_BEYOND = 2  # the curves go on to a = d + 2, where nothing is gained any more


class Head(NamedTuple):
    """Q and K of shape (a, d): one factorisation of A = KᵀQ."""

    Q: np.ndarray
    K: np.ndarray


@dataclass(frozen=True)
class FactorizationSetting:
    """Q and K are a × d, a walk in GL_a apart; for d = 2 trace, angle and height place
    A.

    Where one factor has lost a rank and a < d, `off_orbit` moves the other one alone.
    `entries` puts numbers in the place of some entries of Q and K, as in "Q12=0.5
    K31=-1"; those of rows and columns that are not there wait until they are.
    """

    d: int = whole("width d", 3, 1, MAX_WIDTH)
    a: int = whole("head dimension a", 2, 1, MAX_HEAD)
    walk: str = choice("walk in GLₐ", WALKS)
    along: float = real("along the walk", 0.4, *RANGES["along"])
    rank: str = choice("rank", [(words, key) for key, words in RANKS.items()])
    off_orbit: float = real("off the orbit", 0.0, *RANGES["off_orbit"], more=True)
    trace: float = real("trace of A", 0.0, *RANGES["trace"], more=True)
    angle: float = real("angle", 330.0, *RANGES["angle"], more=True, shown=".0f")
    height: float = real("height", 0.6, *RANGES["height"], more=True)
    entries: str = text("entries", placeholder=ENTRIES.example)
    seed: int = seed()


@dataclass(frozen=True)
class SlicePoint:
    """A 2 × 2 matrix in the slice of its trace.

    Attributes:
        angle, height: where its nearest matrix of rank ≤ 1 is on the surface (degrees,
            and z).
        place: its own (x, y, z); for rank 2 off the surface.
    """

    trace: float
    angle: float
    height: float
    place: Point
    rank: int


@dataclass(frozen=True, eq=False)
class FactorizationStudy:
    """Everything that the picture of one factorisation shows.

    Attributes:
        d, a: Q and K are a × d.
        start, now: the two factorisations; now is (C Q, C⁻ᵀ K), and off the orbit
            (C Q, C⁻ᵀ (K + s D)) or (C (Q + s D), C⁻ᵀ K).
        spans: "Q" → rank of the rows of Q at the start and now, one below the other;
            "K" → that of K. Above the rank of both no C leads from one to the other.
        walk, C: which walk in GL_a, and its matrix.
        products: A = KᵀQ at the start and now.
        rank: of A now, in floating point.
        counts: measured dimensions, for a = 1, 2, ….
        formula: α(a, d), for the same a.
        here: directions of (Q, K) that leave A alone to first order at the start:
            dimensions of the fibre there, unless Q and K have both lost rank.
        recovered: the C found from the two factorisations alone, or None where there is
            none to be found.
        point: for d = 2 where A is in the slice of its trace.
        place, base: what the controls that the picture moves say, and what Q and K are
            made of beside them.
        toward: of shape (a, d), drawn at random: D is the part of it that leaves A
            alone.
    """

    d: int
    a: int
    start: Head
    now: Head
    spans: dict[str, int]
    walk: str
    C: np.ndarray
    products: tuple[np.ndarray, np.ndarray]
    rank: int
    counts: tuple[ProductCount, ...]
    formula: tuple[int, ...]
    here: int
    recovered: np.ndarray | None
    point: SlicePoint | None
    place: dict[str, object]
    base: tuple[np.ndarray, ...]
    toward: np.ndarray

    @property
    def change(self) -> float:
        """By how much the entries of A differ at most."""
        before, after = self.products
        return float(np.abs(after - before).max())

    @property
    def moved(self) -> float:
        """By how much the entries of Q and K differ at most."""
        by_Q = np.abs(self.now.Q - self.start.Q).max()
        by_K = np.abs(self.now.K - self.start.K).max()
        return float(max(by_Q, by_K))

    @property
    def is_same(self) -> bool:
        """Whether A has stood still."""
        return self.change <= SAME * max(1.0, largest_entry(self.products[0]))

    @property
    def is_off_orbit(self) -> bool:
        """Whether no C leads from the first factors to those of now."""
        start = self.start._asdict()
        kept = {name: numerical_rank(factor) for name, factor in start.items()}
        return self.spans != kept

    @property
    def count(self) -> ProductCount:
        """The measured dimensions for this a."""
        return self.counts[self.a - 1]


def study_factorization(request: FactorizationSetting) -> FactorizationStudy:
    """Factor one A in two ways, a walk in GL_a apart, and measure everything the
    picture shows of it."""
    d = request.d
    a = request.a
    over = Reals()
    base = _base(request)
    start = _start(request, base)
    C = walk_in_gl(request.walk, a, request.along)
    toward = np.random.default_rng([request.seed, 1]).standard_normal((a, d))
    aside = _aside(request, start, toward)
    moved = change_head_basis(over, {"1.Q": aside.Q, "1.K": aside.K}, 1, C)
    now = Head(moved["1.Q"], moved["1.K"])
    recovered = None
    with suppress(ValueError):  # where Lemma 3.1 does not apply
        recovered = recover_head_basis(over, start._asdict(), now._asdict())
    products = (start.K.T @ start.Q, now.K.T @ now.Q)
    most = max(d + _BEYOND, a)
    counts = tuple(measure_product(d, head_dim) for head_dim in range(1, most + 1))
    J = product_jacobian(over, start.Q, start.K)
    moved_by_hand = ("walk", "rank", "entries", *RANGES)
    return FactorizationStudy(
        d=d,
        a=a,
        start=start,
        now=now,
        spans={
            name: numerical_rank(np.vstack([getattr(start, name), getattr(now, name)]))
            for name in ("Q", "K")
        },
        walk=request.walk,
        C=C,
        products=products,
        rank=numerical_rank(products[1]),
        counts=counts,
        formula=tuple(alpha(count.a, d) for count in counts),
        here=2 * a * d - numerical_rank(J),
        recovered=recovered,
        point=_point(request, products[0]),
        place={name: getattr(request, name) for name in moved_by_hand},
        base=base,
        toward=toward,
    )


def _base(request: FactorizationSetting) -> tuple[np.ndarray, ...]:
    """What is drawn at random: Q and K; for d = 2 and a > 1 those of A = 0, with
    orthonormal columns in K."""
    rng = np.random.default_rng(request.seed)
    if request.d != 2:
        return tuple(rng.standard_normal((2, request.a, request.d)))
    if request.a == 1:
        return ()
    return factor(np.zeros((2, 2)), request.a, rng)


def _start(request: FactorizationSetting, base: tuple[np.ndarray, ...]) -> Head:
    """The first factorisation: drawn at random, or for d = 2 one of the matrix that the
    sliders place."""
    if request.d != 2:
        Q, K = (M.copy() for M in base)
    elif request.a == 1:
        Q, K = rank_one_heads(request.trace, request.angle, request.height)
    else:
        Q, K = _heads_in_the_slice(request, *base)
    ENTRIES.put(request.entries, {"Q": Q, "K": K})
    if request.rank == "Q":
        Q = drop_rank(Q)
    if request.rank == "K":
        K = drop_rank(K)
    return Head(Q, K)


def _aside(request: FactorizationSetting, start: Head, toward: np.ndarray) -> Head:
    """The first factorisation, with one factor moved where the other, which has lost a
    rank, does not see it."""
    Q, K = start
    if request.rank == "Q":
        return Head(Q, K + request.off_orbit * off_orbit_direction(Q, K, toward))
    if request.rank == "K":
        return Head(Q + request.off_orbit * off_orbit_direction(K, Q, toward), K)
    return start


def _heads_in_the_slice(
    request: FactorizationSetting, unseen: np.ndarray, isometry: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Q and K of the 2 × 2 matrix that the sliders place; it has rank 2 where neither
    of them has lost one."""
    place = np.array(rank_one_point(request.trace, request.angle, request.height))
    if request.rank == "full":
        place = np.multiply(OFF, place)
    A = slice_matrix(request.trace, *place)
    if request.rank == "K":
        return isometry.copy(), isometry @ A.T
    if request.rank == "Q":
        return isometry @ A, isometry.copy()
    return isometry @ A + unseen, isometry.copy()


def _point(request: FactorizationSetting, A: np.ndarray) -> SlicePoint | None:
    """Where A, if it is two by two, lies in the slice of its trace."""
    if request.d != 2:
        return None
    # A = 0 is the tip of the cone, whatever trace the slider says
    if numerical_rank(A) == 0:
        return SlicePoint(0.0, request.angle, 0.0, (0.0, 0.0, 0.0), 0)
    # Rounded, and −0.0 made 0.0: a slider shows it.
    trace, x, y, z = (round(t, 12) + 0.0 for t in slice_coordinates(A))
    angle, height = nearest_rank_one(trace, x, y, z)
    return SlicePoint(trace, angle, height, (x, y, z), numerical_rank(A))
