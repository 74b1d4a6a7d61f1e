"""The span of rows over a prime field, as they come."""

import numpy as np
from numpy.random import Generator

from neuroviz.rank.field import PrimeField
from neuroviz.rank.pivots import gauss_jordan

# Rows that go through the whole basis together. At up to 500 columns 24 to 64 are about
# as quick, and 8 take twice as long; at 1,500 columns 128 take 0.6 of the time of 32.
_BLOCK = 32
_BLOCK_OF_WIDE_ROWS = 128
_WIDE = 1000  # columns


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
        self._pivots = np.zeros(0, dtype=np.intp)  # row k has its 1 in column pivots[k]
        self._free = np.arange(columns)  # the columns without a pivot

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
        """Add rows, shape (m, columns); returns which are independent of all before.

        >>> space = RowSpace(PrimeField(7), columns=2)
        >>> space.add_each(np.array([[0.0, 1.0], [0.0, 2.0], [3.0, 0.0]])).tolist()
        [True, False, True]
        """
        is_new = np.zeros(len(rows), dtype=bool)
        size = _BLOCK if rows.shape[1] < _WIDE else _BLOCK_OF_WIDE_ROWS
        for start in range(0, len(rows), size):
            if not len(self._free):  # the rows so far span everything
                break
            places = self._add_block(rows[start : start + size])
            is_new[start + places] = True
        return is_new

    def orthogonal_vector(self, rng: Generator) -> np.ndarray:
        """A random vector whose product with every row added so far is 0.

        >>> space = RowSpace(PrimeField(7), columns=2)
        >>> space.add(np.array([[1.0, 1.0]]))
        1
        >>> vector = space.orthogonal_vector(np.random.default_rng(0))
        >>> vector.any(), vector.sum()
        (np.True_, np.float64(0.0))
        """
        # Row k has 1 in its own pivot and 0 in the others: the free entries are any,
        # and the entry at that pivot makes the product with row k zero.
        vector = np.zeros(self._basis.shape[1])
        vector[self._free] = self._field.random(rng, self._free.shape)
        bound = self._field.matmul(self._basis, vector[:, None])[:, 0]
        vector[self._pivots] = self._field.reduce(-bound)
        return vector

    @property
    def pivots(self) -> np.ndarray:
        """Columns in which the rows added so far are as independent as in all."""
        return np.sort(self._pivots)

    def null_space(self) -> np.ndarray:
        """A basis of the vectors whose product with every row is 0, as rows.

        >>> space = RowSpace(PrimeField(7), columns=3)
        >>> space.add(np.array([[1.0, 2.0, 3.0]]))
        1
        >>> space.null_space().tolist()
        [[-2.0, 1.0, 0.0], [-3.0, 0.0, 1.0]]
        """
        # A vector for each free column, with 1 there and 0 in the other free ones; the
        # entries at the pivots are found as in `orthogonal_vector`.
        count = len(self._free)
        vectors = np.zeros((count, self._basis.shape[1]))
        vectors[np.arange(count), self._free] = 1
        vectors[:, self._pivots] = self._field.reduce(-self._basis[:, self._free].T)
        return vectors

    def _add_block(self, rows: np.ndarray) -> np.ndarray:
        """Add rows; returns the places of those that were independent of all before.

        The elimination subtracts from a row only multiples of earlier rows. So a row
        that depends on them in some columns, and is examined again in more columns,
        still represents its own place.
        """
        field = self._field
        places = np.arange(len(rows))
        found = [np.zeros(0, dtype=int)]
        rows = self._cleared(rows, rows[:, self._pivots], self._basis)
        # A few columns more than rows usually hold all pivots; only dependent rows need
        # a wider look.
        width = len(rows) + 2
        while len(rows) and len(self._free):
            # Columns that are 0 in all rows hold no pivot.
            is_met = rows[:, self._free].any(axis=0)
            columns = self._free[is_met][:width]
            transform, used, pivots = gauss_jordan(field, rows[:, columns])
            rows = field.matmul(transform, rows)
            self._extend(rows[used], columns[pivots])
            found.append(places[used])
            # What is 0 in the columns seen may not be 0 beyond them.
            is_left = rows.any(axis=1)
            is_left[used] = False
            rows = rows[is_left]
            places = places[is_left]
            width *= 8
        return np.concatenate(found)

    def _extend(self, new: np.ndarray, pivots: np.ndarray) -> None:
        """Add reduced rows to the basis, and clear their pivots from the others."""
        factors = self._basis[:, pivots]
        met = np.flatnonzero(factors.any(axis=1))
        self._basis[met] = self._cleared(self._basis[met], factors[met], new)
        self._append(new)
        self._pivots = np.concatenate([self._pivots, pivots])
        self._free = np.setdiff1d(self._free, pivots, assume_unique=True)

    def _cleared(
        self, rows: np.ndarray, factors: np.ndarray, others: np.ndarray
    ) -> np.ndarray:
        """rows − factors · others.

        Rows of symmetries are zero nearly everywhere, so only what can change something
        is multiplied.
        """
        met = np.flatnonzero(factors.any(axis=0))
        if not len(met):
            return rows
        # In place: these arrays are as large as the basis.
        left = self._field.matmul(factors[:, met], others[met])
        np.subtract(rows, left, out=left)
        left -= self._field.multiples(left)
        return left

    def _append(self, new: np.ndarray) -> None:
        """Write rows after the basis; the room for it doubles when it is full."""
        start = len(self._pivots)
        stop = start + len(new)
        room, columns = self._rows.shape
        if stop > room:
            more = np.zeros((min(max(stop, 2 * room), columns), columns))
            more[:start] = self._basis
            self._rows = more
        self._rows[start:stop] = new
