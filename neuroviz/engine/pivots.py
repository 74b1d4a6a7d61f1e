"""Gauss–Jordan elimination of a small block over a prime field, in whole numbers of 64 bits."""

from collections.abc import Iterable
from operator import mul, neg

import numpy as np

from neuroviz.engine.field import PrimeField


def gauss_jordan(over: PrimeField, block: np.ndarray) -> tuple[np.ndarray, list[int], list[int]]:
    """T, rows and columns such that T · block is the identity there and 0 in its other rows."""
    cleared, rows, columns = clear_columns(over, block)
    transform = np.eye(len(block))
    transform[:, rows] = cleared
    return transform, rows, columns


def clear_columns(over: PrimeField, block: np.ndarray) -> tuple[np.ndarray, list[int], list[int]]:
    """Those columns of T that the pivots' rows are multiplied with (the others are 1 or 0); rows; columns.

    Four pivots at a time, where the 4 × 4 matrix at hand is regular, else one. In whole numbers of 64 bits
    2¹⁷ products of residues add up exactly, so rows and columns become residues only when they are used. What
    T does takes the place of the cleared columns, which are brought to the front.
    """
    height, width = block.shape
    work, order = block.astype(np.int64), list(range(width))
    rows, row, less = [], 0, np.empty_like(work)
    while row < height and len(rows) < width:
        done = len(rows)
        count = 4 if min(height - row, width - done) >= 4 else 1
        head = work[row : row + count] % over.p
        inverse = _inverse(head[:, done : done + count].T.tolist(), over.p)
        if inverse is None:
            count, head = 1, head[:1]
            candidates = np.flatnonzero(head[0, done:])
            if not len(candidates):
                row += 1
                continue
            pivot = done + int(candidates[0])
            for lines in (work, head):
                lines[:, [done, pivot]] = lines[:, [pivot, done]]
            order[done], order[pivot] = order[pivot], order[done]
            inverse = _inverse(head[:, done : done + 1].tolist(), over.p)
        here, cleared = slice(row, row + count), slice(done, done + count)
        left = work[:, cleared] % over.p
        left[here] = 0
        work[:, cleared] = 0
        head = inverse @ head % over.p
        head[:, cleared] = inverse
        work -= np.matmul(left, head, out=less)
        work[here] = head
        rows += range(row, row + count)
        row += count
    return over.reduce((work[:, : len(rows)] % over.p).astype(np.float64)), rows, order[: len(rows)]


def _inverse(columns: list[list[int]], p: int) -> np.ndarray | None:
    """The inverse mod p of a matrix with these 1 or 4 columns, if there is one.

    Of size 4 by the rule of Laplace: what stands beside an entry in the determinant is made of the other
    column of its pair, the first or the last two, and of the 2 × 2 minors of the other pair. A general
    elimination takes three times as long, and a rank of 100 columns a sixth more.

    >>> _inverse([[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 0], [1, 0, 2, 0]], 7).tolist()
    [[0, 0, 0, 1], [5, 0, 1, 0], [0, 1, 0, 0], [1, 0, 0, 0]]
    """
    if len(columns) == 1:
        ((entry,),) = columns
        return np.array([[pow(entry, -1, p)]]) if entry else None
    first, second, third, fourth = columns
    left, right = _minors(first, second, p), _minors(third, fourth, p)
    beside_first = _cofactors(second, right)
    determinant = sum(map(mul, first, beside_first)) % p
    if not determinant:
        return None
    beside_second, beside_fourth = _cofactors(first, map(neg, right)), _cofactors(third, map(neg, left))
    adjugate = np.array([beside_first, beside_second, _cofactors(fourth, left), beside_fourth])
    return adjugate % p * pow(determinant, -1, p) % p


def _minors(column: list[int], other: list[int], p: int) -> list[int]:
    """The 2 × 2 minors of two columns, in rows 12, 13, 14, 23, 24, 34."""
    a, b, c, d = column
    e, f, g, h = other
    return [
        (a * f - b * e) % p,
        (a * g - c * e) % p,
        (a * h - d * e) % p,
        (b * g - c * f) % p,
        (b * h - d * f) % p,
        (c * h - d * g) % p,
    ]


def _cofactors(column: list[int], minors: Iterable[int]) -> list[int]:
    """The 3 × 3 minors of a column beside the two of these minors, each without one row, with signs."""
    a, b, c, d = column
    m12, m13, m14, m23, m24, m34 = minors
    return [
        b * m34 - c * m24 + d * m23,
        c * m14 - a * m34 - d * m13,
        a * m24 - b * m14 + d * m12,
        b * m13 - a * m23 - c * m12,
    ]
