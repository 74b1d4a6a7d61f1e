"""Rank of a large matrix over a prime field: elimination in blocks, nearly all of it
matrix products.

A block of pivots is found in a few more rows than columns, and inverted; one product T
A₁₂ and one product A₂₁ (T A₁₂) clear its columns from all other rows. What the products
are made of is a choice of arithmetic:

    float64   p near 2²³ in float64: the prime of the small ranks, 8 bytes an entry
    float32   p = 241 in float32 products, stored in one byte an entry
    int8      the same entries in integer products, where the processor does these
              exactly

A rank modulo any prime is a lower bound of the generic rank. Modulo 241 nothing can be
said about how seldom a random point misses it, so only a rank which meets a proved
upper bound is believed ("Exact rank" in docs/mathematics.md).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from itertools import product
from time import process_time
from typing import Protocol

import numpy as np

from neuroviz.engine.pivots import clear_columns
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.threads import Run, in_turn, one_thread, side_by_side

SMALL_PRIME = 241
_LEAST_BLOCK = 30
_LEAF = 30  # columns below which a block is inverted row by row
_HAS_FLINT = find_spec("flint") is not None  # flint may be missing in a browser
_SMALL = 42  # columns below which flint, building included, is quicker than our blocks
# rows and columns of a tile that is updated at once: it fits into the cache
_TILE = (256, 1024)
# rows and columns that a thread updates between two reports of progress
_AT_ONCE = 1024
WORTH_THREADS = 1024  # from so many columns on threads gain more than they cost
# a product in a block's inversion takes as long as so many of large blocks
_INVERSE = 16


class Arithmetic(Protocol):
    """How the entries of a large matrix are stored and multiplied."""

    name: str
    over: PrimeField
    block: int
    dtype: type

    def subtract_product(
        self, target: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> None:
        """target ← target − left · right mod p, in place; all of them stored."""


@dataclass(frozen=True)
class Float64:
    """A prime below 2²³: sums of 511 products are exact, so blocks of 384 columns
    are."""

    over: PrimeField = PrimeField(DEFAULT_PRIME)
    name: str = "float64"
    block: int = 384
    dtype: type = np.float64

    def subtract_product(
        self, target: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> None:
        """In place, tile by tile."""
        for columns in _slices(0, target.shape[1], _TILE[1]):
            for rows in _slices(0, len(target), _TILE[0]):
                tile = target[rows, columns]
                tile -= left[rows] @ right[:, columns]
                tile -= self.over.multiples(tile)


class _OneByte:
    """p = 241, one byte an entry; only tiles are ever there in four."""

    over: PrimeField = PrimeField(SMALL_PRIME)
    dtype: type = np.int8

    def subtract_product(
        self, target: np.ndarray, left: np.ndarray, right: np.ndarray
    ) -> None:
        """In place, tile by tile; a quotient of sums below 2²⁵ in float32 is off by at
        most one."""
        for columns in _slices(0, target.shape[1], _TILE[1]):
            across = self._factor(right[:, columns])
            for rows in _slices(0, len(target), _TILE[0]):
                sums = self._product(self._factor(left[rows]), across)
                np.subtract(target[rows, columns], sums, out=sums)
                quotient = np.multiply(
                    sums,
                    np.float32(1 / SMALL_PRIME),
                    dtype=np.float32,
                    casting="unsafe",
                )
                whole = np.rint(quotient, out=quotient).astype(sums.dtype, copy=False)
                whole *= SMALL_PRIME
                sums -= whole
                target[rows, columns] = sums


@dataclass(frozen=True)
class Float32(_OneByte):
    """p = 241: 1,024 products of residues, each at most 120², add up below 2²⁴, exactly
    in float32."""

    name: str = "float32"
    block: int = 1024

    def _factor(self, part: np.ndarray) -> np.ndarray:
        return part.astype(np.float32)

    def _product(self, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        return left @ right


@dataclass(frozen=True)
class Int8(_OneByte):
    """p = 241 in the processor's integer products, 2,048 of them below 2²⁵; only where
    `int8_is_exact`."""

    name: str = "int8"
    # half of them add up exactly in float32, too, where a block is inverted
    block: int = 2048

    def _factor(self, part: np.ndarray) -> object:
        import torch

        return torch.from_numpy(np.ascontiguousarray(part))

    def _product(self, left: object, right: object) -> np.ndarray:
        import torch

        return torch._int_mm(left, right).numpy()


def _slices(start: int, stop: int, step: int) -> list[slice]:
    return [slice(at, min(at + step, stop)) for at in range(start, stop, step)]


@cache
def int8_is_exact() -> bool:
    """Whether there is a torch that multiplies bytes exactly here, tried with the
    largest entries.

    Without VNNI or AMX instructions pairs of products are added in 16 bits, which
    saturate silently.
    """
    try:
        import torch
    except ImportError:
        return False

    rng, n = np.random.default_rng(0), 256
    signs = [rng.choice([-120, 119, 120], (n, n)) for _ in range(2)]
    full = np.full((n, n), 120)
    # each loss of a bit shows in one of these
    for a, b in ((full, full), (-full, full), signs):
        try:
            product = torch._int_mm(
                *(torch.from_numpy(part.astype(np.int8)) for part in (a, b))
            )
        except (AttributeError, RuntimeError):
            # this torch offers no byte products here
            return False
        if (product.numpy() != a @ b).any():
            return False
    return True


@cache
def int8_is_fast() -> bool:
    """Whether torch multiplies bytes more quickly here than numpy multiplies float32
    numbers."""
    import torch

    n, times = 512, []
    whole = np.random.default_rng(0).integers(-120, 121, (n, n)).astype(np.int8)
    as_torch, as_floats = torch.from_numpy(whole), whole.astype(np.float32)
    # one thread, as in an elimination; processor time, which other programs disturb
    # less
    with one_thread():
        for multiply in (
            lambda: torch._int_mm(as_torch, as_torch),
            lambda: as_floats @ as_floats,
        ):
            multiply()
            start = process_time()
            for _ in range(3):
                multiply()
            times.append(process_time() - start)
    return times[0] < times[1]


def fastest_arithmetic() -> Arithmetic:
    """For ranks that an upper bound can confirm: int8 where it pays, else float32."""
    return Int8() if int8_is_exact() and int8_is_fast() else Float32()


def stored(matrix: np.ndarray, arithmetic: Arithmetic) -> np.ndarray:
    """A matrix of residues as the arithmetic keeps it.

    Raises:
        ValueError: if the entries do not fit, which means that they are residues of
            another prime.
    """
    if matrix.size and max(matrix.max(), -matrix.min()) > arithmetic.over.p // 2 + 1:
        raise ValueError(
            f"entries must be residues mod {arithmetic.over.p}, of least absolute value"
        )
    return matrix.astype(arithmetic.dtype, order="C")


def eliminate(
    matrix: np.ndarray,
    arithmetic: Arithmetic,
    progress: Callable[[float], None] | None = None,
) -> int:
    """The rank of a matrix `stored` for the arithmetic, which is overwritten.

    `progress` is told which part of the products is done; what it raises ends the work.

    >>> rng = np.random.default_rng(0)
    >>> over = PrimeField(SMALL_PRIME)
    >>> low = over.matmul(over.random(rng, (60, 20)), over.random(rng, (20, 50)))
    >>> eliminate(stored(low, Float32()), Float32())
    20
    """
    with side_by_side(None if matrix.shape[1] >= WORTH_THREADS else 1) as run:
        return _eliminate(matrix, arithmetic, run, progress)


def _eliminate(
    matrix: np.ndarray,
    arithmetic: Arithmetic,
    run: Run,
    progress: Callable[[float], None] | None,
) -> int:
    """Block by block; the next block of pivots is inverted beside the products that do
    not touch it."""
    over = arithmetic.over
    size = min(arithmetic.block, max(_LEAST_BLOCK, matrix.shape[1] // 12))
    height = size + spare_rows(over.p)
    whole = max(1, _products(*matrix.shape, size)) if progress else 1
    is_small = max(matrix.shape) <= _AT_ONCE
    # `rest` is a view of what is still to do; `found` holds its first pivots, once
    # known.
    rank, rest, found = 0, matrix, []

    def invert(head: np.ndarray) -> int:
        found[:] = invert_pivots(
            over, head.astype(np.result_type(head, np.float32), copy=False)
        )
        return _INVERSE * min(head.shape) ** 3

    while rest.size:
        if is_small and is_for_flint(rest.shape[1]):
            return rank + flint_rank(rest, over.p)
        head = rest[:height, :size]
        if not found:
            invert(head)
        rows, columns, inverse = found
        found.clear()
        k = len(rows)
        if k < min(size, *rest.shape):
            rest, changed = _drop_zero_columns(rest, head.shape[1])
            if changed or not k:
                continue
        _bring_first(rest[: len(head)], rows)
        _bring_first(rest.T[: head.shape[1]], columns)
        across, below = rest[:k, k:], rest[k:, k:]
        if is_small:  # a list of jobs would cost as much as the work
            across[...] = over.matmul(inverse, across.astype(np.float64, copy=False))
            arithmetic.subtract_product(below, rest[k:, :k], across)
            rank, rest = rank + k, below
            continue
        minus = (-inverse).astype(arithmetic.dtype)

        def solve(part: slice, k=k, minus=minus, across=across) -> int:
            """Multiply columns of these rows by the inverse."""
            solved = np.zeros((k, part.stop - part.start), arithmetic.dtype)
            arithmetic.subtract_product(solved, minus, across[:, part])
            across[:, part] = solved
            return k * solved.size

        def clear(
            part: tuple[slice, slice], left=rest[k:, :k], across=across, below=below
        ) -> int:
            """Clear the pivots' columns from rows further down, and bring some columns
            there up to date."""
            target = below[part]
            arithmetic.subtract_product(target, left[part[0]], across[:, part[1]])
            return left.shape[1] * target.size

        m, n = below.shape
        # place of the next pivots
        h, w = (0, 0) if run is in_turn else (min(height, m), min(size, n))
        first = product(_slices(0, h, _AT_ONCE), _slices(0, w, _AT_ONCE))
        others = [
            *product(_slices(0, h, _AT_ONCE), _slices(w, n, _AT_ONCE)),
            *product(_slices(h, m, _AT_ONCE), _slices(0, n, _AT_ONCE)),
        ]
        left = _products(*rest.shape, size) if progress else 0
        for jobs in (
            [partial(solve, part) for part in _slices(0, n, _AT_ONCE)],
            [partial(clear, part) for part in first],
            [partial(invert, below[:h, :w])] * (h > 0 < w)
            + [partial(clear, part) for part in others],
        ):
            for done in run(jobs):
                left -= done
                if progress:
                    progress(1 - max(0, left) / whole)
        rank, rest = rank + k, below
    if progress:
        progress(1.0)
    return rank


def is_for_flint(columns: int) -> bool:
    """Whether so few columns are left to flint; never where there is none."""
    return columns < _SMALL and _HAS_FLINT


def flint_rank(matrix: np.ndarray, p: int) -> int:
    """The rank of a matrix of residues mod p, by python-flint."""
    import flint  # late: flint would take a quarter of neuroviz's import time

    return flint.nmod_mat(
        *matrix.shape, matrix.astype(np.int64).ravel().tolist(), p
    ).rank()


def _products(rows: int, columns: int, size: int) -> int:
    """How many products an elimination in blocks of a size takes, about, once the first
    one is inverted."""
    total = 0
    while rows and columns:
        k = min(size, rows, columns)
        total, rows, columns = total + k * rows * (columns - k), rows - k, columns - k
        total += _INVERSE * min(size, rows, columns) ** 3
    return total


def spare_rows(p: int) -> int:
    """With r of them a block of pivots is missed with a chance of about p⁻ʳ⁻¹: 10⁻²¹
    for both our primes."""
    return 2 if p > 2**22 else 8


def _bring_first(lines: np.ndarray, chosen: list[int]) -> None:
    """Reorder rows in place so that the chosen ones come first, in their order."""
    if chosen != list(range(len(chosen))):
        others = np.setdiff1d(np.arange(len(lines)), chosen)
        lines[...] = lines[np.concatenate([np.array(chosen, dtype=int), others])]


def _drop_zero_columns(rest: np.ndarray, block: int) -> tuple[np.ndarray, bool]:
    """A view without the zero columns of its first block and with a first row that is
    not zero there.

    And whether anything was moved: then the block is looked at again.
    """
    head = rest[:, :block]
    zero = ~head.any(axis=0)
    if zero.any():
        keep = np.flatnonzero(~zero)
        _bring_first(rest.T[:block], [*np.flatnonzero(zero), *keep])
        return rest[:, int(zero.sum()) :], True
    if head[0].any():  # this row has a pivot
        return rest, False
    row = int(np.flatnonzero(head.any(axis=1))[0])
    rest[[0, row]] = rest[[row, 0]]
    return rest, True


def invert_pivots(
    over: PrimeField, panel: np.ndarray
) -> tuple[list[int], list[int], np.ndarray]:
    """Rows and columns of a regular part of a panel, as large as found, and its inverse
    mod p.

    The left half first; then the right half of what is left, and the inverse of the
    whole by blocks:
    with A⁻¹ = T and S = D − C T B,

        [A B; C D]⁻¹ = [T + T B S⁻¹ C T,  −T B S⁻¹;  −S⁻¹ C T,  S⁻¹].

    >>> matrix = np.array([[0.0, 2.0], [3.0, 1.0]])
    >>> rows, columns, inverse = invert_pivots(PrimeField(7), matrix)
    >>> rows, columns, inverse.tolist()
    ([0, 1], [1, 0], [[-3.0, 0.0], [1.0, -2.0]])
    """
    m, n = panel.shape
    if n <= _LEAF:
        cleared, rows, columns = clear_columns(over, panel)
        return rows, columns, cleared[rows].astype(panel.dtype, copy=False)
    half = n // 2
    rows, columns, T = invert_pivots(over, panel[: half + spare_rows(over.p), :half])
    others = np.setdiff1d(np.arange(m), rows)
    C, B = panel[np.ix_(others, columns)], panel[np.ix_(rows, range(half, n))]
    CT = over.matmul(C, T)
    S = over.reduce(panel[others, half:] - over.matmul(CT, B))
    rows_, columns_, inverse = invert_pivots(over, S)
    TB, CT = over.matmul(T, B[:, columns_]), CT[rows_]
    right = over.reduce(-over.matmul(TB, inverse))
    left = over.reduce(-over.matmul(inverse, CT))
    whole = np.block(
        [[over.reduce(T - over.matmul(right, CT)), right], [left, inverse]]
    )
    return (
        [*rows, *others[rows_].tolist()],
        [*columns, *(half + c for c in columns_)],
        whole,
    )
