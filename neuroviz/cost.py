"""What a measurement will cost on this machine: seconds and bytes, before it starts.

Each kind of work is timed once in this process, at a size that takes some hundredths of a second, and scaled
by its number of operations. An estimate is good to a factor of two or three; it is there to refuse a day of
work, and to say how long a minute will be.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from time import perf_counter

import numpy as np

from neuroviz.architecture import Architecture, check_architecture
from neuroviz.certificate import ROUTES as CERTIFICATE_ROUTES
from neuroviz.elimination import Arithmetic, Float64, eliminate, fastest_arithmetic, stored
from neuroviz.field import PrimeField
from neuroviz.network import jacobian, random_tokens, random_weights
from neuroviz.points import bytes_in_between
from neuroviz.proofs import num_columns, rough_seconds

BUDGET_SECONDS = 600.0
"""What a measurement may take by its own estimate, unless told otherwise."""
LARGE = 1500
"""Columns from which an exact rank is taken block by block, and on the slice first tried modulo 241."""
_SVD_BYTES = 32  # an entry of a float measurement: the matrix, its scaled copy, and what LAPACK needs


@dataclass(frozen=True)
class Cost:
    """What a measurement will take, about.

    Attributes:
        seconds, bytes: on this machine, and at the peak.
        columns: of the matrix whose rank is taken; 0 for a theorem.
        arithmetic: what its entries are: "int8", "float32", "float64"; "" for a theorem.
        derivative_share: which part of the seconds goes into the derivative, the rest into the rank.
    """

    seconds: float
    bytes: int
    columns: int
    arithmetic: str
    derivative_share: float = 0.0

    def __str__(self) -> str:
        return f"about {_in_words(self.seconds)} and {_in_bytes(self.bytes)}"


def estimate_cost(
    arch: Architecture,
    method: str = "exact",
    route: str | None = None,
    inputs: int | None = None,
    prime: int | None = None,
) -> Cost:
    """What `measure_dimension` will take on this machine, given the same arguments.

    An exact rank on the slice is expected to be full: then one matrix modulo 241 is enough. Where it is not,
    two more follow, modulo a large prime and eight bytes an entry, which is what all weights as columns take
    from the start; before these the memory is looked at again.

    Args:
        arch: any `Architecture`.
        method: "exact", "float" or "certified".
        route, inputs, prime: as in `measure_dimension`.

    Raises:
        ValueError: if an argument is none of these.

    >>> from neuroviz import Architecture
    >>> estimate_cost(Architecture.uniform(4, 2, 2)).seconds < 1
    True
    >>> estimate_cost(Architecture.uniform(12_288, 128, 96)).seconds > 1e9
    True
    """
    check_architecture("estimate_cost", arch, variants=method in ("exact", "float"))
    if method == "certified":
        return _certified_cost(arch, route)
    if method not in ("exact", "float"):
        raise ValueError(f"method must be 'exact', 'float' or 'certified'; got {method!r}")
    if route not in (None, "slice", "weights"):
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    if method == "float":
        return _float_cost(arch)
    columns = _num_columns(arch, route)
    rows = columns + 2 if inputs is None else inputs * arch.tokens * arch.widths[-1]
    small_prime = tries_a_small_prime(arch, route, inputs, prime)
    arithmetic = fastest_arithmetic(columns) if small_prime else Float64()
    points = 1 if arch.is_plain and route != "weights" and inputs is None else 2
    derivative = points * rows * _work_of_a_row(arch) * _seconds_per_derivative()
    rank = points * max(0.1, rows / columns) * _rank_seconds(columns, arithmetic)
    matrix = rows * columns * np.dtype(arithmetic.dtype).itemsize
    matrix += 8 * arithmetic.block * columns + bytes_in_between(arch, rows)
    return _cost(derivative, rank, matrix, columns, arithmetic.name)


def tries_a_small_prime(
    arch: Architecture, route: str | None, inputs: int | None = None, prime: int | None = None
) -> bool:
    """Whether a rank is first tried modulo 241: a large one, that may turn out to be full.

    On the slice it may; among all weights some directions always do nothing.
    """
    on_the_slice = arch.is_plain and route != "weights"
    return on_the_slice and inputs is None and prime is None and num_columns(arch) >= LARGE


def _num_columns(arch: Architecture, route: str | None) -> int:
    return arch.num_parameters if route == "weights" or not arch.is_plain else num_columns(arch)


def check_budget(cost: Cost, budget: float) -> None:
    """Refuse what is too long or too large, before it starts.

    Raises:
        ValueError: if it is; the message says what to do.
    """
    memory = available_bytes()
    if cost.seconds <= budget and (memory is None or cost.bytes <= memory):
        return
    limit = f"the budget is {_in_words(budget)}"
    if memory is not None and cost.bytes > memory:
        limit = f"there are {_in_bytes(memory)} of memory"
    raise ValueError(
        f"a matrix with {cost.columns} columns would take {cost}, and {limit}; raise budget, take "
        "method='certified' (by a theorem every size is quick), or let another machine do it: "
        "sweep([…], executor=…)"
    )


def available_bytes() -> int | None:
    """Memory that can be had now without taking it from others; None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as said:
            for line in said:
                if line.startswith("MemAvailable:"):  # free, and what caches would give back
                    return 1024 * int(line.split()[1])
    except OSError:
        pass  # not Linux: what is free has to do
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _cost(derivative: float, rank: float, size: int, columns: int, arithmetic: str) -> Cost:
    seconds = derivative + rank
    return Cost(seconds, int(1.2 * size), columns, arithmetic, derivative / seconds)


def _certified_cost(arch: Architecture, route: str | None) -> Cost:
    if route is not None and route not in CERTIFICATE_ROUTES:
        raise ValueError(
            f"route must be one of {', '.join(map(repr, CERTIFICATE_ROUTES))}, or None; got {route!r}"
        )
    if route in (None, "theorem"):  # without a route what would take long is proved by the theorem
        return Cost(0.01, 10**6, 0, "")
    columns = num_columns(arch)
    each = 64 if route == "exact rank" else 200
    return Cost(rough_seconds(arch, route), each * columns**2, columns, "float64" if each == 64 else "balls")


def _float_cost(arch: Architecture) -> Cost:
    columns = arch.num_parameters
    rows = 1.5 * _num_columns(arch, None) + 3 * arch.tokens * arch.widths[-1]
    derivative = rows * _work_of_a_row(arch) * _seconds_per_derivative()
    svd = 4 * rows * columns * min(rows, columns) * _seconds_per_svd()
    search = 20 * _rank_seconds(_num_columns(arch, None), Float64())  # how many inputs are enough
    return _cost(derivative, svd + search, int(_SVD_BYTES * rows * columns), columns, "float64")


def _work_of_a_row(arch: Architecture) -> float:
    """Products in one row of the derivative, about: each weight meets t tokens, some times."""
    return 3.0 * arch.tokens * (arch.num_parameters + arch.num_layers * arch.tokens * max(arch.widths))


# Timed once


def _timed(work: Callable[[], object]) -> float:
    """The shorter of two runs: the first one warms up."""
    times = []
    for _ in range(2):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def _rank_seconds(columns: int, arithmetic: Arithmetic) -> float:
    """Elimination takes about 0.6 s² + 0.4 s³ times as long as at 1,536 columns, at s times as many."""
    scale = columns / _TIMED_COLUMNS
    return _seconds_when_timed(arithmetic) * (0.6 * scale**2 + 0.4 * scale**3)


_TIMED_COLUMNS = 1536


@cache
def _seconds_when_timed(arithmetic: Arithmetic) -> float:
    n = _TIMED_COLUMNS
    rows = arithmetic.over.random(np.random.default_rng(0), (n + 2, n))
    return _timed(lambda: eliminate(stored(rows, arithmetic), arithmetic))


@cache
def _seconds_per_derivative() -> float:
    arch, over, rng = Architecture.uniform(16, 16, 2), PrimeField(), np.random.default_rng(0)
    weights, X = random_weights(over, arch, rng), random_tokens(over, arch, 64, rng)
    cotangents = over.random(rng, (64, 1, 16, arch.tokens))
    seconds = _timed(lambda: jacobian(over, "lightning", weights, X, cotangents))
    return seconds / (64 * _work_of_a_row(arch))


@cache
def _seconds_per_svd() -> float:
    matrix = np.random.default_rng(0).standard_normal((300, 200))
    return _timed(lambda: np.linalg.svd(matrix, compute_uv=False)) / (4 * 300 * 200 * 200)


def _in_words(seconds: float) -> str:
    for size, name in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:.2g} seconds"


def _in_bytes(size: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}"
    return f"{size / 1e3:.0f} kB"
