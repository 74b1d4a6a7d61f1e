"""Singular and boundary points of one lightning layer in any size.

Weights move towards rank one and towards the boundary, at rational points, so that
ranks and the kernel of the differential of (A, V) ↦ function are exact.
docs/mathematics/one_lightning_layer.md: "Lemma A.3";
docs/mathematics/singular_points.md: "Theorem 3.4".
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import NamedTuple

import numpy as np

from neuroviz.attention.expected import alpha
from neuroviz.attention.layer import Pair, fiber_case, function_table
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz.singular.forms import BOUNDARY, CROSSING, SMOOTH

THIN = "thin"
"""A fourth kind of points: rank A < a < d, with rank A or rank V above 1."""
# s and b have a common denominator up to the square of this, so that the numerators of
# A and V are whole numbers below 2⁵³, exact as floats.
_LARGEST_DENOMINATOR = 10_000
# A draw has the wanted ranks with probability 27/128 where that is rarest: d = d′ = 2
# and u, k, h on the diagonals. There a hundred draws all fail with probability 5·10⁻¹¹.
_DRAWS = 100


@dataclass(frozen=True)
class Approach:
    """Weights on the way to rank one and to the boundary.

        A = u kᵀ + (1 − s) R,   V = h vᵀ + (1 − s) W,   v = b u + (1 − b) w,   w ⟂ u

    R and W are random, of ranks min(a, d) − 1 and min(d, d′) − 1; so s = 1 is rank one,
    and s = b = 1 is the boundary. All entries are rational.

    Attributes:
        d, d_out, a: d ≥ 2, d′ ≥ 1, and the rank that A may have at most (a > d
            restricts nothing).
        s, b: from 0 to 1, int or Fraction with a denominator up to 10,000.
        seed: what everything is drawn from.
        values_too: whether V goes to rank one together with A; else V = h vᵀ + W.

    Raises:
        ValueError: if a size is too small, or s or b is not such a number.
        ArithmeticError: when the numbers are drawn, if no draw has the wanted ranks.
    """

    d: int = 3
    d_out: int = 2
    a: int = 3
    s: Fraction = Fraction(1, 2)
    b: Fraction = Fraction(1, 2)
    seed: int = 0
    values_too: bool = True

    def __post_init__(self) -> None:
        if self.d < 2 or self.d_out < 1 or self.a < 1:
            raise ValueError(
                f"sizes need d ≥ 2, d′ ≥ 1, a ≥ 1; got {self.d}, {self.d_out}, {self.a}"
            )
        for name in ("s", "b"):
            value = getattr(self, name)
            if not isinstance(value, (int, Fraction)) or not 0 <= value <= 1:
                raise ValueError(
                    f"{name} is an int or a Fraction from 0 to 1; got {value!r}"
                )
            if Fraction(value).denominator > _LARGEST_DENOMINATOR:
                raise ValueError(
                    f"{name} has a denominator up to {_LARGEST_DENOMINATOR}; got"
                    f" {value}"
                )

    def numerators(self) -> Pair:
        """A and V times their common denominator: whole numbers, as floats.

        >>> A, V = Approach(d=2, d_out=1, a=2, s=1, b=1).numerators()
        >>> np.linalg.matrix_rank(np.hstack([A, V.T]))
        np.int64(1)
        """
        of = _ingredients(self.d, self.d_out, self.a, self.seed)
        n = lcm(Fraction(self.s).denominator, Fraction(self.b).denominator)
        far = int((1 - self.s) * n)
        near = int(self.b * n)
        v = near * of.u + (n - near) * of.w
        A = n * np.outer(of.u, of.k) + far * of.R
        V = np.outer(of.h, v) + (far if self.values_too else n) * of.W
        return Pair(A, V)


class _Ingredients(NamedTuple):
    """What an `Approach` is made of."""

    u: np.ndarray
    w: np.ndarray
    k: np.ndarray
    h: np.ndarray
    R: np.ndarray
    W: np.ndarray


@lru_cache(maxsize=64)
def _ingredients(d: int, d_out: int, a: int, seed: int) -> _Ingredients:
    rng = np.random.default_rng([seed, d, d_out, a, 34])

    def vector(size: int) -> np.ndarray:
        """Without zeros."""
        return rng.choice([-2.0, -1.0, 1.0, 2.0], size)

    def matrix(rows: int, columns: int, rank: int) -> np.ndarray:
        found = np.zeros((rows, columns))
        for _ in range(rank):
            left = vector(rows)
            found += np.outer(left, vector(columns))
        return found

    u = vector(d)
    k = vector(d)
    h = vector(d_out)
    w = np.zeros(d)
    even = d - d % 2
    # A quarter turn of pairs of entries makes w ⟂ u; of an odd number the last is 0.
    w[0:even:2] = -u[1:even:2]
    w[1:even:2] = u[0:even:2]
    rank_a = min(a, d)
    rank_v = min(d, d_out)
    # Drawn until no rank is lower by coincidence at s = 0: that of A, and that of V at
    # both ends b = 0 (v = w) and b = 1 (v = u).
    for _ in range(_DRAWS):
        R = matrix(d, d, rank_a - 1)
        W = matrix(d_out, d, rank_v - 1)
        has_ranks = (
            np.linalg.matrix_rank(np.outer(u, k) + R) == rank_a
            and np.linalg.matrix_rank(np.outer(h, w) + W) == rank_v
            and np.linalg.matrix_rank(np.outer(h, u) + W) == rank_v
        )
        if has_ranks:
            return _Ingredients(u, w, k, h, R, W)
    raise ArithmeticError(
        f"A and V need rank {rank_a} and rank {rank_v} at s = 0; {_DRAWS} draws of seed"
        f" {seed} for d = {d}, d′ = {d_out}, a = {a} had smaller ones: take another"
        f" seed"
    )


def directions(over: PrimeField, A: np.ndarray, a: int, rank: int) -> np.ndarray:
    """Matrices that span the directions in which A of the given rank may move with rank
    ≤ a; (m, d, d).

    rank A = a < d   A M + N A for all M, N: a(2d − a) dimensions
    otherwise        all matrices: at rank A < a every minor of size a + 1 vanishes to
                     second order
    """
    d = len(A)
    units = np.eye(d * d).reshape(d * d, d, d)
    # With a ≥ d nothing restricts A. At rank A < a every xyᵀ is the velocity of
    # A + εxyᵀ, and these span all matrices.
    if rank < a or a >= d:
        return units
    return np.concatenate([over.matmul(A, units), over.matmul(units, A)])


def differential(over: PrimeField, pair: Pair, moves: np.ndarray) -> np.ndarray:
    """The differential of (A, V) ↦ table of products, a row for each direction: those
    of A, then of V.

    The columns are the coefficients of `function_table`, each once.
    """
    A, V = pair
    # The table is bilinear: its derivative along Ȧ is the table of (Ȧ, V).
    changes = [Pair(move, V) for move in moves]
    for unit in np.eye(V.size).reshape(-1, *V.shape):
        changes.append(Pair(A, unit))
    tables = np.stack([function_table(over, change, 2) for change in changes])
    # Each quadratic form is a symmetric matrix: its upper triangle says all.
    rows, columns = np.triu_indices(len(A))
    return tables[..., rows, columns].reshape(len(tables), -1)


class SingularFacts(NamedTuple):
    """What is true at a point, exactly.

    Attributes:
        kind: SMOOTH, CROSSING, BOUNDARY or THIN.
        rank_a, rank_v: ranks of A and V.
        directions: in how many dimensions (A, V) may move, to first order, with rank A
            ≤ a.
        kernel: how many of them are silent.
        dimension: of the set of functions, α(a, d) + dd′ − 1 (Cor. 3.3).
        span: at a crossing, the dimension that the tangent spaces of both branches span
            together; else None.
    """

    kind: str
    rank_a: int
    rank_v: int
    directions: int
    kernel: int
    dimension: int
    span: int | None

    @property
    def image(self) -> int:
        """The dimension of the image of the differential."""
        return self.directions - self.kernel


def singular_facts(approach: Approach) -> SingularFacts:
    """Ranks, kernel and tangent dimension at a rational point, counted over F_p.

    A count over F_p can only make a rank too small and a kernel too large; but the
    kernel is at least 1 (d at the boundary) by the directions that Lemma A.3 names.
    Where the count says 1 or d, it is exact.

    For a < d a point with rank A < a is singular, whatever V: there A may move to first
    order in all d² directions, and the image of the differential has more dimensions
    than the set.

    >>> for s, b in ((0, 0), (1, 0), (0, 1), (1, 1)):
    ...     print(singular_facts(Approach(3, 2, 3, s, b)).kernel, end=" ")
    1 1 1 3
    """
    over = PrimeField()
    a = approach.a
    given = approach.numerators()
    pair = Pair(over.reduce(given.A), over.reduce(given.V))
    rank_a = exact_rank(pair.A, over)
    moves = directions(over, pair.A, a, rank_a)
    free = exact_rank(moves.reshape(len(moves), -1).T, over) + pair.V.size
    rows = differential(over, pair, moves)
    image = exact_rank(rows.T, over)

    span = None
    case = fiber_case(over, pair)
    if case == "rank one":
        kind = CROSSING
        span = _span_at_a_crossing(over, approach, pair, rows)
    elif case == "boundary":
        kind = BOUNDARY
    else:
        kind = THIN if rank_a < a < approach.d else SMOOTH
    return SingularFacts(
        kind=kind,
        rank_a=rank_a,
        rank_v=exact_rank(pair.V, over),
        directions=free,
        kernel=free - image,
        dimension=alpha(a, approach.d) + pair.V.size - 1,
        span=span,
    )


def _span_at_a_crossing(
    over: PrimeField, approach: Approach, pair: Pair, rows: np.ndarray
) -> int:
    """The dimension of the tangent spaces of both branches together: the given rows,
    and those at the weights with u and v swapped."""
    of = _ingredients(approach.d, approach.d_out, approach.a, approach.seed)
    # V = h vᵀ, so its first row is v up to a factor, as no entry of h is 0. Factors of
    # A and V do not move a tangent space.
    v = pair.V[0]
    A = over.reduce(np.outer(v, of.k))
    V = over.reduce(np.outer(of.h, of.u))
    there = differential(over, Pair(A, V), directions(over, A, approach.a, rank=1))
    return exact_rank(np.concatenate([rows, there]).T, over)
