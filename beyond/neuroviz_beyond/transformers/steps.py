"""Steps on a tape that only heads need. Each is a function that calls `Tape.note`.

What belongs to heads has one more axis: (inputs, heads, rows, columns). Its gradient
has the functionals as its second one: (inputs, functionals, heads, rows, columns).
"""

from collections.abc import Sequence

import numpy as np

from neuroviz.rank.tape import Node, Source, Tape


def products(tape: Tape, matrices: Sequence[Node], x: Node) -> list[Node]:
    """Each of the matrices, one for each head, times the tokens x: (N, H, a, t).

    It is one product: most matrices are small.
    """
    flat = [_heads_as_rows(tape, matrix) for matrix in matrices]
    together = tape.matmul(tape.stack(flat), x)
    found = []
    start = 0
    for matrix in matrices:
        _, heads, rows, _ = matrix.value.shape
        stop = start + heads * rows
        found.append(_rows_as_heads(tape, together, start, stop, heads))
        start = stop
    return found


def _heads_as_rows(tape: Tape, x: Node) -> Node:
    """The matrices of all heads one below the other."""
    count, heads, rows, columns = x.value.shape

    def pull(g: np.ndarray) -> np.ndarray:
        return g.reshape(*g.shape[:2], heads, rows, columns)

    value = x.value.reshape(count, heads * rows, columns)
    return tape.note(value, x.degree, (Source(x, pull, 0),))


def _rows_as_heads(tape: Tape, x: Node, start: int, stop: int, heads: int) -> Node:
    """Some rows, cut evenly into heads."""
    rows = x.value[:, start:stop]

    def pull(g: np.ndarray) -> np.ndarray:
        return g.reshape(*g.shape[:2], stop - start, g.shape[-1])

    value = rows.reshape(len(rows), heads, -1, rows.shape[-1])
    source = Source(x, pull, 0, slice(start, stop))
    return tape.note(value, x.degree, (source,))


def shared_by(tape: Tape, x: Node, heads: int) -> Node:
    """Each of the groups of x for several heads in a row, which share it.

    Args:
        x: shape (N, groups, rows, columns).
        heads: how many the result has; a multiple of the groups.
    """
    times = heads // x.value.shape[1]
    if times == 1:
        return x

    def pull(g: np.ndarray) -> np.ndarray:
        # (inputs, functionals, groups, heads of a group, rows, columns)
        by_group = g.reshape(*g.shape[:2], -1, times, *g.shape[3:])
        return tape.field.reduce(by_group.sum(axis=3))

    value = np.repeat(x.value, times, axis=1)
    return tape.note(value, x.degree, (Source(x, pull, 0),))


def summed_over_heads(tape: Tape, x: Node) -> Node:
    """Σ over the heads: (N, H, d, t) to (N, d, t)."""
    heads = x.value.shape[1]
    # One head is its own sum: a view is enough, and nothing has to be reduced.
    if heads == 1:

        def pull(g: np.ndarray) -> np.ndarray:
            return g[:, :, None]

        return tape.note(x.value[:, 0], x.degree, (Source(x, pull, 0),))

    def pull(g: np.ndarray) -> np.ndarray:
        return np.broadcast_to(g[:, :, None], (*g.shape[:2], heads, *g.shape[2:]))

    value = tape.field.reduce(x.value.sum(axis=1))
    return tape.note(value, x.degree, (Source(x, pull, 0),))
