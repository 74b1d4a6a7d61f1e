"""Gauss–Jordan elimination of a small block over a prime field, in whole numbers of 64
bits."""

import numpy as np

from neuroviz.rank.field import PrimeField


def gauss_jordan(
    over: PrimeField, block: np.ndarray
) -> tuple[np.ndarray, list[int], list[int]]:
    """T, rows and columns such that T · block is the identity there and 0 in its other
    rows."""
    cleared, rows, columns = clear_columns(over, block)
    transform = np.eye(len(block))
    transform[:, rows] = cleared
    return transform, rows, columns


def clear_columns(
    over: PrimeField, block: np.ndarray
) -> tuple[np.ndarray, list[int], list[int]]:
    """Those columns of T that the pivots' rows are multiplied with (the others are 1 or
    0); rows; columns.

    Three pivots at a time, where the 3 × 3 matrix at hand is regular, else one. In
    whole numbers of 64 bits 2¹⁷ products of residues add up exactly, so rows and
    columns become residues only when they are used. What T does takes the place of the
    cleared columns, which are brought to the front.
    """
    height, width = block.shape
    work, order = block.astype(np.int64), list(range(width))
    rows, row, less = [], 0, np.empty_like(work)
    while row < height and len(rows) < width:
        done = len(rows)
        count = 3 if min(height - row, width - done) >= 3 else 1
        head = work[row : row + count] % over.p
        inverse = _inverse(head[:, done : done + count], over.p)
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
            inverse = _inverse(head[:, done : done + 1], over.p)
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
    return (
        over.reduce((work[:, : len(rows)] % over.p).astype(np.float64)),
        rows,
        order[: len(rows)],
    )


def _inverse(square: np.ndarray, p: int) -> np.ndarray | None:
    """The inverse mod p of a 1 × 1 or 3 × 3 matrix, if there is one: its adjugate by
    its determinant."""
    if len(square) == 1:
        entry = int(square[0, 0])
        return np.array([[pow(entry, -1, p)]]) if entry else None
    (a, b, c), (d, e, f), (g, h, i) = square.tolist()
    u, v, w = e * i - f * h, f * g - d * i, d * h - e * g
    determinant = (a * u + b * v + c * w) % p
    if not determinant:
        return None
    rows = (
        [u, c * h - b * i, b * f - c * e],
        [v, a * i - c * g, c * d - a * f],
        [w, b * g - a * h, a * e - b * d],
    )
    return np.array(rows) % p * pow(determinant, -1, p) % p
