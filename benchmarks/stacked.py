"""Many small ranks at a time: stacked in one array and eliminated together, against one
after the other.

A panel's grid or a sweep takes hundreds of small ranks. Here their matrices, caught on
their way into the engine, are padded with zeros, sixteen of about one size at a time,
and eliminated column by column: one numpy call for all sixteen, and as many as there
are columns. *Ranks* is what the engine takes for the same matrices; it is no more than
the share of a whole measurement beside it that stacking could save.
"""

from collections.abc import Callable, Sequence
from unittest.mock import patch

import numpy as np
from neuroviz.engine import random_rank

import neuroviz as nv
import neuroviz_beyond as nb
from benchmarks.figure3 import exact_ranks, grid
from benchmarks.sweeps import shapes
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, clear_caches, machine, median_seconds, one_thread
from neuroviz.rank.elimination import eliminate, exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField

GAIN = 1.5
"""What many at a time would have to gain, to be worth a second elimination."""
Matrices = list[tuple[np.ndarray, int]]


def ranks_together(
    matrices: Sequence[np.ndarray], p: int = DEFAULT_PRIME, at_once: int = 16
) -> list[int]:
    """The ranks mod p of matrices of residues, those of about one size eliminated at
    once.

    >>> ranks_together([np.array([[1.0, 2.0], [2.0, 4.0]]), np.eye(3)])
    [1, 3]
    """
    found = {}
    by_size = sorted(range(len(matrices)), key=lambda i: matrices[i].shape[1])
    for start in range(0, len(matrices), at_once):
        chosen = by_size[start : start + at_once]
        found |= zip(
            chosen, _stacked([matrices[i] for i in chosen], PrimeField(p)), strict=True
        )
    return [found[i] for i in range(len(matrices))]


def _stacked(matrices: Sequence[np.ndarray], over: PrimeField) -> list[int]:
    m, n = np.max([matrix.shape for matrix in matrices], axis=0)
    stack = np.zeros((len(matrices), m, n))
    every = np.arange(len(matrices))
    found = np.zeros(len(matrices), int)
    for whole, matrix in zip(stack, matrices, strict=True):
        whole[: matrix.shape[0], : matrix.shape[1]] = matrix
    found, rows = np.zeros(len(matrices), int), np.arange(m)
    for column in range(n):
        top = found.min()  # above it all rows are done
        left = stack[:, top:, column:]
        usable = (left[:, :, 0] != 0) & (rows[top:] >= found[:, None])
        there, row = np.flatnonzero(usable.any(axis=1)), top + usable.argmax(axis=1)
        if not len(there):
            continue
        pivot = stack[every, row, column:]
        # the row of the pivot is done
        stack[there, row[there]] = stack[there, found[there]]
        inverse = np.zeros(len(stack))
        inverse[there] = [pow(int(x), -1, over.p) for x in pivot[there, 0]]
        found[there] += 1
        factors = np.where(rows[top:] >= found[:, None], left[:, :, 0], 0)
        left -= factors[:, :, None] * over.reduce(pivot * inverse[:, None])[:, None, :]
        left -= over.multiples(left)
    return found.tolist()


def caught(work: Callable[[], object]) -> Matrices:
    """The matrices, and the primes, whose ranks a measurement asks for."""
    clear_caches()
    seen: Matrices = []

    def exact(matrix: np.ndarray, over: PrimeField) -> int:
        seen.append((matrix.copy(), over.p))
        return exact_rank(matrix, over)

    def blocks(matrix: np.ndarray, arithmetic: object, *progress: object) -> int:
        seen.append((matrix.copy(), arithmetic.over.p))
        return eliminate(matrix, arithmetic, *progress)

    with (
        patch.object(random_rank, "exact_rank", exact),
        patch.object(random_rank, "eliminate", blocks),
    ):
        work()
    return seen


def one_by_one(matrices: Matrices) -> list[int]:
    """The ranks as the engine takes them."""
    return [exact_rank(matrix, PrimeField(p)) for matrix, p in matrices]


def run(effort: Effort) -> list[Table]:
    widths, count = (range(3, 6), 40) if effort.quick else (range(3, 11), 200)
    field = [
        nv.Architecture((4, w, 4), (a, a), 3) for w in range(1, 9) for a in range(1, 9)
    ]
    works = {
        "Figure 3, both kinds": lambda: exact_ranks(
            grid(widths) + grid(widths, "lightning")
        ),
        f"a sweep of {count}": lambda: nb.sweep(shapes(count), progress=False),
        "a map of 8 × 8": lambda: exact_ranks(field),
    }
    rows = []
    with one_thread():
        for name, work in works.items():
            work()
            whole, _ = median_seconds(work, 5, before=clear_caches)
            matrices = caught(work)
            theirs, ranks = median_seconds(lambda m=matrices: one_by_one(m), 5)
            ours, together = median_seconds(
                lambda m=matrices: ranks_together([a for a, _ in m]), 3
            )
            if {p for _, p in matrices} != {DEFAULT_PRIME} or ranks != together:
                raise RuntimeError(f"{name}: {ranks} one by one, {together} together")
            rows.append(
                (name, len(ranks), 1e3 * whole, 1e3 * theirs, 1e3 * ours, ours / theirs)
            )
    header = (
        "what",
        "ranks",
        "measured, ms",
        "ranks, ms",
        "together, ms",
        "together / ranks",
    )
    forms = ("", ",", ",.0f", ",.0f", ",.0f", ".1f")
    gains = [theirs / ours for *_, theirs, ours, _ in rows]
    said = (
        f"{min(gains):.2g} to {max(gains):.2g} × as fast as one after the other: not"
        " kept"
    )
    said = said.removesuffix(": not kept") if max(gains) >= GAIN else said
    finding = Finding("small ranks, many at a time", said, f"kept from {GAIN} × on")
    return [Table("stacked", header, forms, tuple(rows), machine(), (finding,))]
