"""The weights that are read off a softmax layer, after each step: one token on, then two."""

import numpy as np

from neuroviz.kit.table import Table, light
from neuroviz.softmax.one_layer_probes import ReadOff

_STEPS = ("(x, 0, …, 0), last column", "(x, 0, …, 0), first column", "(x, y, 0, …, 0), first column")
_UNKNOWN = "·"


def read_off_table(found: ReadOff, A: np.ndarray, V: np.ndarray) -> Table:
    """What is known of V, Sym A and A after each step, new entries in colour; dots are not known yet.

    Args:
        found: what `read_off` returns.
        A, V: the true weights, for the last row.

    >>> from neuroviz.softmax.one_layer import softmax_layer
    >>> from neuroviz.softmax.one_layer_walk import read_off
    >>> A, V = np.array([[0.5, -1.0], [2.0, 0.25]]), np.array([[1.0, 2.0]])
    >>> read_off_table(read_off(softmax_layer(A, V), 2, 3), A, V)
    put in, looked at              V          Sym A                 A
    (x, 0, …, 0), last column      1.00 2.00  · ·; · ·              · ·; · ·
    (x, 0, …, 0), first column     1.00 2.00  0.50 0.50; 0.50 0.25  0.50 ·; · 0.25
    (x, y, 0, …, 0), first column  1.00 2.00  0.50 0.50; 0.50 0.25  0.50 −1.00; 2.00 0.25
    true weights                   1.00 2.00  0.50 0.50; 0.50 0.25  0.50 −1.00; 2.00 0.25
    """
    A, V = np.asarray(A, dtype=float), np.asarray(V, dtype=float)
    truth = (V, (A + A.T) / 2, A)
    rows = [("put in, looked at", "V", "Sym A", "A")]
    before = tuple(np.full(matrix.shape, np.nan) for matrix in truth)
    for step, put_in in enumerate(_STEPS, start=1):
        known = found.after(step)
        now = (known.V, known.sym, known.A)
        rows.append((put_in, *map(_entries, now, before)))
        before = now
    return Table((*rows, ("true weights", *map(_entries, truth, truth))))


def _entries(matrix: np.ndarray, before: np.ndarray) -> str:
    """The rows of a matrix, those of its entries in colour that were not known before."""
    lines = (" ".join(map(_entry, row, known)) for row, known in zip(matrix, ~np.isnan(before), strict=True))
    return f'<span style="font-family:monospace;white-space:pre">{"<br>".join(lines)}</span>'


def _entry(value: float, known: bool) -> str:
    if np.isnan(value):
        return f"{_UNKNOWN:>5}"
    text = f"{value:5.2f}".replace("-", "−")
    return text if known else light("focus", text)
