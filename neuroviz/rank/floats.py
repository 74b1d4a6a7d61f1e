"""A rank over the reals: an integer read off a list of floats, with that list and its
gap. It is evidence, never a bound."""

from dataclasses import dataclass, field
from math import inf

import numpy as np
from numpy.random import Generator

_EPS = float(np.finfo(np.float64).eps)
# Where this limit of the scaling is felt, lengths differ by more than WIDEST.
_SMALLEST_SCALE = 1e-9
_ROUNDING = 16 * _EPS  # a true zero is computed as less than this
_DUST = 1e-12  # rows shorter than this, relative to the longest, may be rounding
_CHANGED = 0.05  # and are, if so large a part of them changes at a near point
_LARGEST_DROPPED = 8 * _EPS  # above it a dropped value may not be zero
# How far a kept value has to be above the noise, and above what scaling made of it.
# With these and the gap 11,615 networks were decided, all rightly (floating_point.md).
_CLEAR_OF_NOISE = 1e3
_CLEAR_OF_SCALING = 10.0

DECISIVE_GAP = 1e8
"""A split decides from this factor on: below it wrong ranks were seen."""
WIDEST = 1e8
"""Rows or columns whose lengths differ by more decide nothing."""


@dataclass(frozen=True)
class FloatRank:
    """Singular values in decreasing order, relative to the largest, and their split.

    Attributes:
        value: how many exceed the rounding noise.
        singular_values: σ_i / σ_1, decreasing.
        noise: what rounding alone produces, max(rows, columns) · 2.2e−16.
        gap: σ_r / σ_{r+1} across the split; infinite when nothing was dropped or an
            exact zero was.
        decided: False when the split is too small, a value too near to the noise, or
            the rows or columns too different in length, to say.
        wide: whether that difference in length alone leaves it undecided.
    """

    value: int
    singular_values: np.ndarray = field(compare=False)
    noise: float
    gap: float
    decided: bool
    wide: bool = False


def float_rank(matrix: np.ndarray) -> FloatRank:
    """Count the singular values that rounding errors cannot explain.

    Rows, then columns, are first scaled to unit length: that changes no rank, and
    undoes the spread in size that a deep polynomial network gives its outputs.

    Raises:
        ValueError: if the matrix has no entries, or one that is not finite.

    >>> float_rank(np.array([[1e9, 0.0], [1.0, 1e-3]])).value
    2
    """
    if matrix.size == 0:
        raise ValueError(
            f"a rank needs a matrix with entries; got shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError(
            "the matrix has entries that overflowed or are undefined, so its spectrum "
            "says nothing; take smaller inputs or weights, fewer layers, or the exact "
            "rank"
        )
    noise = max(matrix.shape) * _EPS
    by_rows, row_factors = _unit(matrix, axis=1)
    scaled, column_factors = _unit(by_rows, axis=0)
    sigma = np.linalg.svd(scaled, compute_uv=False)
    if sigma[0] == 0:
        return FloatRank(0, sigma, noise, inf, True)
    # Scaling also enlarges rounding errors of the largest entries, which could then
    # count as rank. With factors r_i of rows and c_j of columns an error of eps in each
    # entry becomes eps r_i c_j, and all of them together about eps |r| |c|.
    factors = np.linalg.norm(row_factors) * np.linalg.norm(column_factors)
    blown_up = _EPS * factors / sigma[0]
    sigma = sigma / sigma[0]
    # Strictly greater, so that what is at the noise counts as noise.
    value = int((sigma > noise).sum())
    kept = sigma[value - 1]
    dropped = sigma[value] if value < len(sigma) else 0.0
    gap = float(kept / dropped) if dropped > 0 else inf
    wide = is_wide(matrix)
    decided = (
        gap >= DECISIVE_GAP
        and kept >= _CLEAR_OF_NOISE * noise
        and dropped <= _LARGEST_DROPPED
        and kept >= _CLEAR_OF_SCALING * blown_up
        and not wide
    )
    return FloatRank(value, sigma, noise, gap, bool(decided), wide)


def is_wide(matrix: np.ndarray) -> bool:
    """Whether the lengths of its rows, or of its columns, `differ`.

    >>> is_wide(np.diag([1.0, 1e-7, 0.0])), is_wide(np.diag([1.0, 1e-9, 0.0]))
    (False, True)
    """
    rows, columns = lengths(matrix)
    return differ(rows) or differ(columns)


def differ(sizes: np.ndarray, by: float = WIDEST) -> bool:
    """Whether one is more than so many times another; zeros do not count."""
    return bool(sizes.any() and sizes.max() / by > sizes[sizes > 0].min())


def lengths(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths of its rows, and of its columns.

    >>> lengths(np.array([[3e200, 4e200]]))  # squares of large entries lose nothing
    (array([5.e+200]), array([3.e+200, 4.e+200]))
    """
    norms = []
    for axis in (1, 0):
        # Squares are taken of entries of at most 1, and the largest is put back after.
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0.0)
        safe = np.where(largest > 0, largest, 1.0)
        # A length beyond the floats is infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            norm = np.linalg.norm(matrix / safe, axis=axis)
            norms.append(np.squeeze(largest, axis) * norm)
    return norms[0], norms[1]


def without_rounding(matrix: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The matrix, with zeros for rows and columns that are nothing but rounding.

    A derivative that cancels comes out near 10⁻¹⁶ of the others, and so may one that is
    small. `near` is the same matrix at a point so near (`nearby`) that only rounding
    can change an entry as a whole.

    >>> matrix = np.array([[1.0, 3e-17], [2.0, 1e-17]])
    >>> near = np.array([[1.0, -2e-17], [2.0, 1e-17]])
    >>> without_rounding(matrix, near)
    array([[1., 0.],
           [2., 0.]])
    """
    row_lengths, column_lengths = lengths(matrix)
    row_changes, column_changes = lengths(matrix - near)
    rows = _is_rounding(row_lengths, row_changes)
    columns = _is_rounding(column_lengths, column_changes)
    return np.where(rows[:, None] | columns, 0.0, matrix)


def _is_rounding(length: np.ndarray, change: np.ndarray) -> np.ndarray:
    is_dust = length < _DUST * length.max(initial=0.0)
    return is_dust & (change > _CHANGED * length)


def nearby(x: np.ndarray, rng: Generator) -> np.ndarray:
    """x, each entry changed by some units in the last place."""
    return x * (1 + 2.0**-48 * rng.uniform(-1, 1, x.shape))


def _unit(matrix: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (axis 1) or columns (axis 0) of unit length, unless too small to be trusted.

    Also returns the factor of each, after a division of all by the largest entry.
    """
    largest = np.abs(matrix).max()
    if largest == 0:
        return matrix, np.zeros(matrix.shape[1 - axis])
    # Scale first: squares of very large entries leave the float range.
    matrix = matrix / largest
    norm = np.linalg.norm(matrix, axis=axis, keepdims=True)
    # A row far below the rest may be the rounding left by a cancellation: it is
    # enlarged by a limited factor only, and counts as zero at the level of the noise.
    counts = norm > _ROUNDING * norm.max()
    at_most = 1 / np.maximum(norm, _SMALLEST_SCALE * norm.max())
    factor = np.where(counts, at_most, 0.0)
    return matrix * factor, factor.ravel()


TOLERANCE = 1e-9
"""What `numerical_rank` takes for rounding, unless it is told otherwise."""


def numerical_rank(matrix: np.ndarray, tol: float = TOLERANCE) -> int:
    """How many singular values exceed tol, or tol times the largest if that is more.

    For small matrices with entries of order one, where what rounding leaves is far
    below tol.

    >>> numerical_rank(np.array([[1.0, 2.0], [2.0, 4.0 + 1e-15]]))
    1
    >>> numerical_rank(np.full((2, 2), 1e-16))
    0
    """
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return int((sigma > tol * max(1.0, sigma[0])).sum())
