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

from neuroviz.certificate.certificate import DEFAULT_BUDGET, routes_to_try
from neuroviz.certificate.certificate import ROUTES as CERTIFICATE_ROUTES
from neuroviz.certificate.find import num_columns, rough_seconds
from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.elimination import Arithmetic, Float64, eliminate, fastest_arithmetic, stored
from neuroviz.engine.field import PrimeField
from neuroviz.engine.network import jacobian, random_tokens, random_weights
from neuroviz.engine.random_rank import bytes_in_between

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
    from the start; before these the memory is looked at again. A proof is given up after a minute.

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
    if points == 2 and columns < LARGE:
        rank *= 2  # the columns are mixed first
    matrix = rows * columns * np.dtype(arithmetic.dtype).itemsize
    matrix += 8 * arithmetic.block * columns + bytes_in_between(arch, rows)
    return _cost(points * _calls(arch) + derivative, rank, matrix, columns, arithmetic.name)


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
    tried = [route] if route else list(routes_to_try(arch))
    if tried == ["theorem"]:
        return Cost(0.001, 10**6, 0, "")
    columns = num_columns(arch)
    seconds = sum(_seconds_of_a_proof(arch, each) for each in tried)
    exact = tried[0] == "exact rank"
    size = (64 if exact else 200) * columns**2
    return Cost(min(seconds, DEFAULT_BUDGET), size, columns, "float64" if exact else "balls")


def _seconds_of_a_proof(arch: Architecture, route: str) -> float:
    """Fitted to 140 networks: calls, a quarter of the rough seconds, more bits for balls beyond layer 6."""
    deep = max(0, arch.num_layers - 6) if route == "ball" else 0
    return 0.005 + rough_seconds(arch, route) / 4 * 6**deep


def _float_cost(arch: Architecture) -> Cost:
    columns = arch.num_parameters
    rows = 1.5 * _num_columns(arch, None) + 3 * arch.tokens * arch.widths[-1]
    derivative = rows * _work_of_a_row(arch) * _seconds_per_derivative()
    svd = 4 * rows * columns * min(rows, columns) * _seconds_per_svd()
    search = 20 * _rank_seconds(_num_columns(arch, None), Float64())  # how many inputs are enough
    size = int(_SVD_BYTES * rows * columns)
    return _cost(_calls(arch) + derivative, svd + search, size, columns, "float64")


def _work_of_a_row(arch: Architecture) -> float:
    """Products in one row of the derivative, about: each weight meets t tokens, some times."""
    return 3.0 * arch.tokens * (arch.num_parameters + arch.num_layers * arch.tokens * max(arch.widths))


def _calls(arch: Architecture) -> float:
    """Seconds that calls take, however small what they are given: most of it in a small network."""
    return (7 + 2 * arch.num_layers) * _seconds_per_small_layer()


# Timed once


def _timed(work: Callable[[], object]) -> float:
    """The shortest of three runs: the first one warms up, and a machine is not idle all the time."""
    times = []
    for _ in range(3):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


def _rank_seconds(columns: int, arithmetic: Arithmetic) -> float:
    """At s times as many columns as timed, 0.6 s² + 0.4 s³ times as long; small ones take s^1.5 to s²."""
    if columns < LARGE:
        scale = columns / _SMALL_COLUMNS
        return _seconds_when_timed(arithmetic, _SMALL_COLUMNS) * (0.7 * scale**1.5 + 0.3 * scale**2)
    scale = columns / LARGE
    return _seconds_when_timed(arithmetic, LARGE) * (0.6 * scale**2 + 0.4 * scale**3)


_SMALL_COLUMNS = 256


@cache
def _seconds_when_timed(arithmetic: Arithmetic, columns: int) -> float:
    rows = arithmetic.over.random(np.random.default_rng(0), (columns + 2, columns))
    return _timed(lambda: eliminate(stored(rows, arithmetic), arithmetic))


@cache
def _seconds_per_derivative() -> float:
    arch = Architecture.uniform(16, 16, 2)
    return _derivative_seconds(arch) / (_TIMED_INPUTS * _work_of_a_row(arch))


@cache
def _seconds_per_small_layer() -> float:
    return _derivative_seconds(Architecture.uniform(1, 1, 4)) / 4


def _derivative_seconds(arch: Architecture) -> float:
    over, rng = PrimeField(), np.random.default_rng(0)
    weights, X = random_weights(over, arch, rng), random_tokens(over, arch, _TIMED_INPUTS, rng)
    cotangents = over.random(rng, (_TIMED_INPUTS, 1, arch.widths[-1], arch.tokens))
    return _timed(lambda: jacobian(over, arch.attention, weights, X, cotangents))


_TIMED_INPUTS = 64


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
