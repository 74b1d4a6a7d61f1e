"""The rank of a random n × n matrix over a prime field, by everything that we have,
beside a plain product.

    int8, float32, float64   `neuroviz.rank.arithmetic`; int8 only where
                             `int8_is_exact` and `int8_is_fast`
    row space                `neuroviz.rank.rows.RowSpace`, which grows a row echelon
                             form block by block
    flint                    `nmod_mat.rank` of python-flint, building the matrix from
                             a list included
    product                  numpy's product of an n × n and an n × n/3 matrix, float64:
                             as many operations, 2n³/3, as an elimination needs

Two rows more than columns, one thread, processor time. Each rank has to come out as n.
"""

from collections.abc import Callable
from math import log2

import numpy as np

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, one_thread, seconds
from neuroviz.rank.arithmetic import (
    Arithmetic,
    Float32,
    Float64,
    Int8,
    int8_is_exact,
    int8_is_fast,
)
from neuroviz.rank.elimination import eliminate
from neuroviz.rank.field import PrimeField
from neuroviz.rank.rows import RowSpace

OURS = ("int8", "float32", "float64")
ENGINES = (*OURS, "row space", "flint", "product")
GOAL_EXPONENT = 3.1
GOAL_INT8 = {8192: 4, 16384: 8}
_MOST = {"row space": 2048, "flint": 2048}  # beyond, it takes longer than all the rest
_MOST_LARGE = {"row space": 4096, "flint": 4096}
_BYTES_AT_ONCE = 2**26


def random_matrix(arithmetic: Arithmetic, n: int) -> np.ndarray:
    """n + 2 random rows as they are stored, drawn a few at a time so that they are
    never there twice."""
    rng = np.random.default_rng(n)
    matrix = np.empty((n + 2, n), dtype=arithmetic.dtype)
    at_once = max(1, _BYTES_AT_ONCE // (8 * n))
    for start in range(0, n + 2, at_once):
        part = matrix[start : start + at_once]
        part[...] = arithmetic.over.random(rng, part.shape)
    return matrix


def elimination_seconds(arithmetic: Arithmetic, n: int) -> float:
    matrix = random_matrix(arithmetic, n)
    return _of_full_rank(n, lambda: eliminate(matrix, arithmetic))


def row_space_seconds(n: int) -> float:
    rows = random_matrix(Float64(), n)
    space = RowSpace(PrimeField(), n)
    return _of_full_rank(n, lambda: space.add(rows))


def flint_seconds(n: int) -> float:
    import flint

    rows = random_matrix(Float64(), n).astype(np.int64)
    return _of_full_rank(
        n,
        lambda: flint.nmod_mat(
            *rows.shape, rows.ravel().tolist(), PrimeField().p
        ).rank(),
    )


def product_seconds(n: int) -> float:
    rng = np.random.default_rng(n)
    left = rng.random((n, n))
    right = rng.random((n, n // 3))
    return seconds(lambda: left @ right)[0]


def _of_full_rank(n: int, call: Callable[[], int]) -> float:
    taken, rank = seconds(call)
    if rank < n - 3:  # mod 241 a random matrix may lack one, once in 241³ times
        raise RuntimeError(f"a random matrix with {n} columns has rank {rank}")
    return taken


def engine_seconds(name: str, n: int, effort: Effort) -> float | None:
    """The shortest of some runs; None where the engine is not for this size or this
    machine."""
    if n > (_MOST_LARGE if effort.large else _MOST).get(name, n):
        return None
    if name == "int8" and not (int8_is_exact() and int8_is_fast()):
        return None
    call = {
        "int8": lambda: elimination_seconds(Int8(), n),
        "float32": lambda: elimination_seconds(Float32(), n),
        "float64": lambda: elimination_seconds(Float64(), n),
        "row space": lambda: row_space_seconds(n),
        "flint": lambda: flint_seconds(n),
        "product": lambda: product_seconds(n),
    }[name]
    return min(call() for _ in range(5 if n <= 512 else 2 if n <= 2048 else 1))


def growth(times: list[float | None]) -> list[float | None]:
    """log₂ of the growth from each size to the next, which is twice as large.

    >>> growth([1.0, 8.0, None])
    [3.0, None]
    """
    pairs = zip(times[:-1], times[1:], strict=True)
    return [
        log2(after / before) if before and after else None for before, after in pairs
    ]


def int8_words() -> str:
    """Why the column int8 is empty; "" where it is not."""
    if not int8_is_exact():
        return (
            " int8: not on this machine, whose byte products saturate or are not there."
        )
    if not int8_is_fast():
        return (
            " int8: not on this machine; byte products are exact here, and slower than"
            " float32 ones."
        )
    return ""


def run(effort: Effort) -> list[Table]:
    sizes = [2**e for e in range(8, 11 if effort.quick else 15 if effort.large else 14)]
    with one_thread():
        for name in ENGINES:
            engine_seconds(name, 256, effort)  # once, untimed
        rows = [
            (n, *(engine_seconds(name, n, effort) for name in ENGINES)) for n in sizes
        ]
        words = int8_words()
    columns = {name: [row[1 + i] for row in rows] for i, name in enumerate(ENGINES)}
    beside = [
        (ours / product)
        for ours, product in zip(columns["float64"], columns["product"], strict=True)
    ]
    header = ("n", *(f"{name}, s" for name in ENGINES), "float64 / product")
    table = Table(
        "ranks",
        header,
        (",", *(".3f",) * len(ENGINES), ".1f"),
        tuple((*row, ratio) for row, ratio in zip(rows, beside, strict=True)),
        f"–: not measured.{words} {machine()}",
        (*_int8_findings(sizes, columns), _product_finding(sizes, columns)),
    )
    return [table, _growth_table(sizes, columns)]


def _int8_findings(sizes: list[int], columns: dict[str, list]) -> list[Finding]:
    found = []
    for n, goal in GOAL_INT8.items():
        if n in sizes:
            small, large = (
                columns[name][sizes.index(n)] for name in ("int8", "float64")
            )
            said = f"{large / small:.1f} × as fast" if small else "not on this machine"
            met = large / small >= goal if small else None
            found.append(
                Finding(f"int8 against float64, n = {n:,}", said, f"≥ {goal} ×", met)
            )
    return found


def _product_finding(sizes: list[int], columns: dict[str, list]) -> Finding:
    times = {name: columns[name][-1] for name in (*OURS, "product")}
    said = ", ".join(
        f"{name} {times[name] / times['product']:.1f} ×" for name in OURS if times[name]
    )
    return Finding(
        f"exact rank at n = {sizes[-1]:,}, against a float64 product of as many"
        " operations",
        said,
    )


def _growth_table(sizes: list[int], columns: dict[str, list]) -> Table:
    grown = {name: growth(times) for name, times in columns.items()}
    rows = tuple(
        (f"{a:,} → {b:,}", *(grown[name][i] for name in ENGINES))
        for i, (a, b) in enumerate(zip(sizes[:-1], sizes[1:], strict=True))
    )
    most = max(value for name in OURS for value in grown[name] if value is not None)
    finding = Finding(
        "exact rank, growth exponent in n",
        f"at most {most:.2f}",
        f"≤ {GOAL_EXPONENT}",
        most <= GOAL_EXPONENT,
    )
    header = ("n", *ENGINES)
    note = (
        "The exponent e of nᵉ between two sizes. Elimination has 3; overhead at the"
        " smaller size hides some."
    )
    return Table(
        "growth", header, ("", *(".2f",) * len(ENGINES)), rows, note, (finding,)
    )
