"""The rank of a matrix, together with the evidence for it. Nothing here knows about
attention.

Over a prime field the rank of the given matrix is exact; it comes with the prime, and
with the probability that a random point hid some of the generic rank. Over the reals a
rank is an integer read off a list of floats; it comes with that list and its gap.
"""

from dataclasses import dataclass, field
from math import inf

import numpy as np

from neuroviz.rank.arithmetic import Float64, stored
from neuroviz.rank.elimination import eliminate, flint_rank, is_for_flint
from neuroviz.rank.field import PrimeField
from neuroviz.rank.pivots import gauss_jordan

_BLOCK = 32
_WIDE = 1000  # columns from which larger blocks pay
_SMALLEST_SCALE = 1e-9
# a true zero is computed as less than this
_ROUNDING = 16 * float(np.finfo(np.float64).eps)
_DUST = 1e-12  # rows shorter than this, relative to the longest, may be rounding
_CHANGED = 0.05  # and are, if so large a part of them changes at a near point


@dataclass(frozen=True)
class FloatRank:
    """Singular values in decreasing order, relative to the largest, and how they split.

    Attributes:
        value: how many exceed the rounding noise.
        singular_values: σ_i / σ_1, decreasing.
        noise: what rounding alone produces, max(rows, columns) · 2.2e−16 relative to
            σ_1.
        gap: σ_r / σ_{r+1} across the split; infinite when nothing was dropped or an
            exact zero was.
        decided: False when the split is too small, a value too near to the noise, or
            the rows or columns too different in length, to say.
        wide: whether rows or columns differ so much in length that this alone leaves it
            undecided.
    """

    value: int
    singular_values: np.ndarray = field(compare=False)
    noise: float
    gap: float
    decided: bool
    wide: bool = False


DECISIVE_GAP = 1e8
"""A split decides from this factor on: below it wrong ranks were seen, above it they
are rare."""
# a dropped value above this may be a true one
_TRUE_ZERO = 8 * float(np.finfo(np.float64).eps)
_CLEAR_OF_NOISE = 1e3
_CLEAR_OF_SCALING = 10.0
WIDEST = 1e8
"""Rows or columns whose lengths differ by more decide nothing: what is small may hide a
direction."""


def float_rank(matrix: np.ndarray) -> FloatRank:
    """Count the singular values that rounding errors cannot explain.

    Rows, then columns, are first scaled to unit length: that changes no rank, and
    undoes the spread in size that a deep polynomial network gives its outputs. Lengths
    that differ by more than `WIDEST` leave it undecided. A float rank is evidence,
    never a bound ("Floating point").

    Raises:
        ValueError: if the matrix has no entries, or an entry that is not finite.

    >>> float_rank(np.array([[1e9, 0.0], [1.0, 1e-3]])).value
    2
    """
    if matrix.size == 0:
        raise ValueError(
            f"a rank needs a matrix with entries; got shape {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        raise ValueError(
            "the matrix has entries that overflowed or are undefined, so its spectrum"
            " says nothing; take smaller inputs or weights, fewer layers, or the exact"
            " rank"
        )
    noise = max(matrix.shape) * np.finfo(np.float64).eps
    by_rows, rows = _unit(matrix, axis=1)
    scaled, columns = _unit(by_rows, axis=0)
    sigma = np.linalg.svd(scaled, compute_uv=False)
    if sigma[0] == 0:
        return FloatRank(0, sigma, noise, inf, True)
    # Scaling also enlarges rounding errors of the largest entries, which could then
    # count as rank.
    blown_up = (
        np.finfo(np.float64).eps
        * np.linalg.norm(rows)
        * np.linalg.norm(columns)
        / sigma[0]
    )
    sigma = sigma / sigma[0]
    # Strictly greater, so that what is at the noise counts as noise.
    value = int((sigma > noise).sum())
    dropped = sigma[value] if value < len(sigma) else 0.0
    gap = float(sigma[value - 1] / dropped) if dropped > 0 else inf
    decided = (
        gap >= DECISIVE_GAP
        and sigma[value - 1] >= _CLEAR_OF_NOISE * noise
        and dropped <= _TRUE_ZERO
    )
    decided = decided and sigma[value - 1] >= _CLEAR_OF_SCALING * blown_up
    wide = is_wide(matrix)
    return FloatRank(value, sigma, noise, gap, bool(decided and not wide), wide)


def is_wide(matrix: np.ndarray) -> bool:
    """Whether the lengths of its rows, or of its columns, `differ`.

    >>> is_wide(np.diag([1.0, 1e-7, 0.0])), is_wide(np.diag([1.0, 1e-9, 0.0]))
    (False, True)
    """
    return any(map(differ, lengths(matrix)))


def differ(sizes: np.ndarray, by: float = WIDEST) -> bool:
    """Whether one is more than so many times as large as another; zeros do not
    count."""
    return bool(sizes.any() and sizes.max() / by > sizes[sizes > 0].min())


def lengths(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The lengths of its rows, and of its columns; squares of large or small entries
    lose nothing.

    >>> lengths(np.array([[3e200, 4e200]]))
    (array([5.e+200]), array([3.e+200, 4.e+200]))
    """
    norms = []
    for axis in (1, 0):
        largest = np.abs(matrix).max(axis=axis, keepdims=True, initial=0.0)
        safe = np.where(largest > 0, largest, 1.0)
        # a length beyond the floats is infinite
        with np.errstate(over="ignore", invalid="ignore"):
            norms.append(
                np.squeeze(largest, axis) * np.linalg.norm(matrix / safe, axis=axis)
            )
    return norms[0], norms[1]


def without_rounding(matrix: np.ndarray, near: np.ndarray) -> np.ndarray:
    """The matrix, with zeros for the rows and columns that are nothing but rounding.

    A derivative that cancels comes out near 10⁻¹⁶ of the others, and so may one that is
    small. `near` is the same matrix at a point so near (`nearby`) that only rounding
    can change an entry as a whole.

    >>> matrix = np.array([[1.0, 3e-17], [2.0, 1e-17]])
    >>> near = np.array([[1.0, -2e-17], [2.0, 1e-17]])
    >>> without_rounding(matrix, near)
    array([[1., 0.],
           [2., 0.]])
    """
    rows, columns = (
        (length < _DUST * length.max(initial=0.0)) & (change > _CHANGED * length)
        for length, change in zip(lengths(matrix), lengths(matrix - near), strict=True)
    )
    return np.where(rows[:, None] | columns, 0.0, matrix)


def nearby(x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """x, each entry changed by some units in the last place."""
    return x * (1 + 2.0**-48 * rng.uniform(-1, 1, x.shape))


def _unit(matrix: np.ndarray, axis: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows (axis 1) or columns (axis 0) of unit length, unless they are too small to be
    trusted.

    Also returns the factor of each row or column, after a division of all by the
    largest entry.
    """
    largest = np.abs(matrix).max()
    if largest == 0:
        return matrix, np.zeros(matrix.shape[1 - axis])
    # scale first: squares of very large entries leave the float range
    matrix = matrix / largest
    norm = np.linalg.norm(matrix, axis=axis, keepdims=True)
    # A row far below the rest may be the rounding left by a cancellation: it is
    # enlarged by a limited factor only, and counts as zero at the level of the noise.
    counts = norm > _ROUNDING * norm.max()
    factor = np.where(counts, 1 / np.maximum(norm, _SMALLEST_SCALE * norm.max()), 0.0)
    return matrix * factor, factor.ravel()


def exact_rank(matrix: np.ndarray, over: PrimeField) -> int:
    """The rank over F_p of a matrix of residues; exact.

    >>> exact_rank(np.array([[1.0, 2.0], [3.0, 6.0]]), PrimeField(7))
    1
    """
    if is_for_flint(matrix.shape[1]):
        return flint_rank(matrix, over.p)
    arithmetic = Float64(over)
    return eliminate(stored(matrix, arithmetic), arithmetic)


def arithmetic_of(columns: int) -> str:
    """The arithmetic that `exact_rank` uses for so many columns; "flint" only where it
    is installed.

    >>> arithmetic_of(20), arithmetic_of(500)
    ('flint', 'float64')
    """
    return "flint" if is_for_flint(columns) else "float64"


def schwartz_zippel(found: int, degree: int, p: int) -> float:
    """A bound on the probability that a random point mod p shows `found` although the
    rank is larger.

    At most (found + 1) · degree / p: then a minor of that size, not zero as a
    polynomial, is zero at the point. `degree` bounds the total degree of an entry in
    everything that was drawn at random ("Exact rank").

    >>> schwartz_zippel(found=18, degree=22, p=8_388_593) < 5e-5
    True
    """
    numerator = (found + 1) * degree
    return 1.0 if numerator >= p else numerator / p


class RowSpace:
    """The span of the rows added so far over F_p, kept in reduced row echelon form.

    Rows arrive in blocks, and the dimension can be read after each: what does one more
    input add? All heavy work is float64 matrix products. For a rank alone `exact_rank`
    is several times as fast.

    >>> space = RowSpace(PrimeField(7), columns=3)
    >>> space.add(np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]]))
    1
    >>> space.add(np.array([[0.0, 1.0, 0.0]]))
    1
    >>> space.dimension
    2
    """

    def __init__(self, over: PrimeField, columns: int) -> None:
        self._field = over
        self._rows = np.zeros((0, columns))  # the basis, and room for more of it
        self._pivots = np.zeros(0, dtype=np.intp)
        self._free = np.arange(columns)

    @property
    def _basis(self) -> np.ndarray:
        """Independent rows, whose pivot columns form the identity."""
        return self._rows[: len(self._pivots)]

    @property
    def dimension(self) -> int:
        """How many independent rows there are so far."""
        return len(self._pivots)

    def add(self, rows: np.ndarray) -> int:
        """Add rows, shape (m, columns); returns by how much the dimension grew."""
        return int(self.add_each(rows).sum())

    def add_each(self, rows: np.ndarray) -> np.ndarray:
        """Add rows, shape (m, columns); returns which of them are independent of all
        before them.

        >>> space = RowSpace(PrimeField(7), columns=2)
        >>> space.add_each(np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 0.0]])).tolist()
        [True, False, True]
        """
        new = np.zeros(len(rows), dtype=bool)
        # each block goes through the whole basis
        size = _BLOCK if rows.shape[1] < _WIDE else 4 * _BLOCK
        for start in range(0, len(rows), size):
            if not len(self._free):
                break
            new[start + self._add_block(rows[start : start + size])] = True
        return new

    def orthogonal_vector(self, rng: np.random.Generator) -> np.ndarray:
        """A random vector of length `columns` whose product with every row added so far
        is 0.

        >>> space = RowSpace(PrimeField(7), columns=2)
        >>> space.add(np.array([[1.0, 1.0]]))
        1
        >>> vector = space.orthogonal_vector(np.random.default_rng(0))
        >>> vector.any(), vector.sum()
        (np.True_, np.float64(0.0))
        """
        vector = np.zeros(self._basis.shape[1])
        vector[self._free] = self._field.random(rng, self._free.shape)
        vector[self._pivots] = self._field.reduce(
            -self._field.matmul(self._basis, vector[:, None])[:, 0]
        )
        return vector

    @property
    def pivots(self) -> np.ndarray:
        """Columns in which the rows added so far are as independent as in all."""
        return np.sort(self._pivots)

    def null_space(self) -> np.ndarray:
        """A basis of the vectors whose product with every row added so far is 0, as
        rows.

        >>> space = RowSpace(PrimeField(7), columns=3)
        >>> space.add(np.array([[1.0, 2.0, 3.0]]))
        1
        >>> space.null_space().tolist()
        [[-2.0, 1.0, 0.0], [-3.0, 0.0, 1.0]]
        """
        basis = np.zeros((len(self._free), self._basis.shape[1]))
        basis[np.arange(len(self._free)), self._free] = 1
        basis[:, self._pivots] = self._field.reduce(-self._basis[:, self._free].T)
        return basis

    def _add_block(self, rows: np.ndarray) -> np.ndarray:
        """Adds rows; returns the places of those that were independent of all before
        them.

        The elimination subtracts from a row only multiples of earlier rows. So a row
        that depends on them in some columns, and is examined again in more columns,
        still represents its own place.
        """
        F, places, found = self._field, np.arange(len(rows)), []
        # Rows of symmetries are zero nearly everywhere, so only what can change is
        # multiplied.
        factors = rows[:, self._pivots]
        met = np.flatnonzero(factors.any(axis=0))
        if len(met):
            rows = F.reduce(rows - F.matmul(factors[:, met], self._basis[met]))
        # A few columns more than rows usually hold all pivots; only dependent rows need
        # a wider look.
        width = len(rows) + 2
        while len(rows) and len(self._free):
            columns = self._free[rows[:, self._free].any(axis=0)][:width]
            transform, used, pivots = gauss_jordan(F, rows[:, columns])
            rows = F.matmul(transform, rows)
            new, pivots = rows[used], columns[pivots]
            factors = self._basis[:, pivots]
            met = np.flatnonzero(factors.any(axis=1))
            if len(met):
                self._basis[met] = F.reduce(
                    self._basis[met] - F.matmul(factors[met], new)
                )
            self._append(new)
            self._pivots = np.concatenate([self._pivots, pivots])
            self._free = np.setdiff1d(self._free, pivots, assume_unique=True)
            found.append(places[used])
            left = rows.any(axis=1)
            left[used] = False
            rows, places = rows[left], places[left]
            width *= 8
        return np.concatenate(found) if found else np.zeros(0, dtype=int)

    def _append(self, new: np.ndarray) -> None:
        """Write rows after the basis; the room for it doubles when it is full."""
        start, room = len(self._pivots), len(self._rows)
        stop = start + len(new)
        if stop > room:
            more = np.zeros(
                (min(max(stop, 2 * room), self._rows.shape[1]), self._rows.shape[1])
            )
            more[:start] = self._basis
            self._rows = more
        self._rows[start:stop] = new


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
