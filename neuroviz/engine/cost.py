"""What a measurement will cost on this machine: seconds and bytes, before it starts.

Each kind of work is timed once in this process, at a size that takes some hundredths of a second, and scaled
by its number of operations. An estimate is good to a factor of two or three; it is there to refuse a day of
work, and to say how long a minute will be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import inf
from time import perf_counter

import numpy as np

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block import whole_number
from neuroviz.engine.budget import available_bytes, in_bytes
from neuroviz.engine.elimination import Arithmetic, Float64, eliminate, fastest_arithmetic, stored
from neuroviz.engine.field import PrimeField
from neuroviz.engine.formulas import general_formula
from neuroviz.engine.network import jacobian, random_tokens, random_weights
from neuroviz.engine.orbit_slice import num_columns
from neuroviz.engine.prover import prover
from neuroviz.engine.random_rank import bytes_in_between, inputs_at_once, numbers_in_between

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
        stages: what is done, in turn, and the seconds of each.
    """

    seconds: float
    bytes: int
    columns: int
    arithmetic: str
    stages: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return f"about {_in_words(self.seconds)} and {in_bytes(self.bytes)}"


def estimate_cost(
    arch: Architecture,
    method: str = "exact",
    route: str | None = None,
    inputs: int | None = None,
    prime: int | None = None,
) -> Cost:
    """What `measure_dimension` will take on this machine, given the same arguments.

    An exact rank on the slice is full where the general formula says so: then one matrix modulo 241 is
    enough. Where it is not, two more follow, modulo a large prime and eight bytes an entry, which is what all
    weights as columns take from the start; before these the memory is looked at again. A proof is given up
    after a minute. Networks of any size are estimated at once.

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
        return prover().cost(arch, route)
    if method not in ("exact", "float"):
        raise ValueError(f"method must be 'exact', 'float' or 'certified'; got {method!r}")
    if route not in (None, "slice", "weights"):
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    inputs = None if inputs is None else whole_number("inputs", inputs, least=1)
    if method == "float":
        return _float_cost(arch, inputs)
    if prime is not None:
        PrimeField(prime)  # says what is wrong with it
    columns = columns_on(arch, route)
    sliced = arch.is_plain and route != "weights"
    full = sliced and inputs is None and general_formula(arch).value == columns
    points: list[Arithmetic] = [] if full else [Float64(), Float64()]
    if tries_a_small_prime(arch, route, inputs, prime):
        points = [fastest_arithmetic(columns), *points]
    points = points or [Float64()]
    given, each = (columns + 2, 1) if inputs is None else (inputs, arch.tokens * arch.widths[-1])
    derivative = _derivative_seconds(arch, given, each)
    mixing = 2 if len(points) > 1 and columns < LARGE else 1  # the columns are mixed first
    stages, size = [], 0
    for arithmetic in points:
        rank = or_infinite(lambda a=arithmetic: max(0.1, given * each / columns) * _rank_seconds(columns, a))
        stages += [("derivative", derivative), ("elimination", mixing * rank)]
        matrix = given * each * columns * np.dtype(arithmetic.dtype).itemsize
        size = max(size, matrix + 8 * arithmetic.block * columns)
    size += bytes_in_between(arch, given, each)
    return _cost(stages, size, columns, points[0].name)


def tries_a_small_prime(
    arch: Architecture, route: str | None, inputs: int | None = None, prime: int | None = None
) -> bool:
    """Whether a rank is first tried modulo 241: a large one, that may turn out to be full.

    On the slice it may; among all weights some directions always do nothing.
    """
    on_the_slice = arch.is_plain and route != "weights"
    return on_the_slice and inputs is None and prime is None and num_columns(arch) >= LARGE


def columns_on(arch: Architecture, route: str | None) -> int:
    """How many columns the derivative has on a route; None stands for the best one."""
    return arch.num_parameters if route == "weights" or not arch.is_plain else num_columns(arch)


def check_budget(cost: Cost, budget: float, arch: Architecture | None = None) -> None:
    """Refuse, before it starts, what takes more seconds than the budget or more memory than there is.

    Raises:
        ValueError: if it does; the message says what to do.
    """
    memory = available_bytes()
    if cost.seconds <= budget and (memory is None or cost.bytes <= memory):
        return
    limit = f"the budget is {_in_words(budget)}"
    if memory is not None and cost.bytes > memory:
        limit = f"there are {in_bytes(memory)} of memory"
    of = f" for {arch}" if arch else ""
    proof = "" if arch and not arch.is_plain else "method='certified' (by a theorem every size is quick), "
    raise ValueError(
        f"a matrix with {cost.columns} columns would take {cost}{of}, and {limit}; raise budget, take "
        f"{proof or 'smaller sizes, '}or let another machine do it: sweep([…], executor=…)"
    )


def is_quick(arch: Architecture, columns: int, inputs: int | None = None, seconds: int = 1) -> bool:
    """Whether a rank of so many columns takes about a second, or some, by the count of its products alone.

    >>> is_quick(Architecture.uniform(4, 2, 2), 38)
    True
    >>> is_quick(Architecture.uniform(1, 1, 1, tokens=10_000), 1)  # attention weights: 10⁸ an input
    False
    """
    given, each = (columns + 2, 1) if inputs is None else (inputs, arch.tokens * arch.widths[-1])
    calls = arch.num_layers * -(-given // inputs_at_once(arch, each))
    products = given * each * (_work_of_a_row(arch) + columns**2 // 4) + _PRODUCTS_OF_A_CALL * calls
    return columns < seconds * _QUICK_COLUMNS and products < seconds * _QUICK_PRODUCTS


_QUICK_COLUMNS = 700  # from here on an estimate takes less time than the work
_QUICK_PRODUCTS = 4 * 10**8
_PRODUCTS_OF_A_CALL = 10**5  # as long as what is done once for each layer, whatever its size


def _cost(stages: list[tuple[str, float]], size: int, columns: int, arithmetic: str) -> Cost:
    return Cost(sum(seconds for _, seconds in stages), 6 * size // 5, columns, arithmetic, tuple(stages))


def or_infinite(work: Callable[[], float]) -> float:
    """A number of seconds; infinite where sizes are beyond what floats go to."""
    try:
        return work()
    except OverflowError:
        return inf


def inputs_cost(arch: Architecture) -> Cost:
    """What `rank_by_inputs` will take: all outputs of about as many inputs as there are equations for."""
    columns, each = columns_on(arch, None), arch.tokens * arch.widths[-1]
    given = -(-columns // each) + 6
    search = 20 * or_infinite(lambda: _rank_seconds(columns, Float64()))
    stages = [("derivative", _derivative_seconds(arch, given, each)), ("elimination", search)]
    size = 8 * given * each * (arch.num_parameters + numbers_in_between(arch)) + 24 * columns**2
    return _cost(stages, size, columns, "float64")


def _float_cost(arch: Architecture, inputs: int | None) -> Cost:
    """As many inputs as are enough are looked for first; then all rows are there at once."""
    columns, each, stages, size = arch.num_parameters, arch.tokens * arch.widths[-1], [], 0
    given = inputs
    if given is None:
        search = inputs_cost(arch)
        stages, size = [("inputs", search.seconds)], search.bytes
        given = 3 * columns_on(arch, None) // (2 * each) + 3
    rows = given * each
    svd = or_infinite(lambda: 4.0 * rows * columns * min(rows, columns) * _seconds_per_svd())
    stages += [("derivative", _derivative_seconds(arch, given, each)), ("spectrum", svd)]
    in_between = 8 * rows * (columns + numbers_in_between(arch))
    return _cost(stages, max(size, _SVD_BYTES * rows * columns, in_between), columns, "float64")


def _work_of_a_row(arch: Architecture) -> int:
    """Products in one row of the derivative, about.

    Each weight meets t tokens, some times; each attention weight meets both ends of a head, and is made anew,
    reduced and normalised, which takes as long as some twenty products, and far more beyond the cache.
    """
    t = arch.tokens
    of_an_entry = 20 if t * t < 2**18 else 80
    of_heads = sum(
        times * H * (of_an_entry + 2 * (a + d_in))
        for (H, (d_in, _, a)), times in arch.distinct_layers.items()
    )
    return 3 * t * arch.num_parameters + t * t * of_heads


def _derivative_seconds(arch: Architecture, inputs: int, rows_each: int) -> float:
    """Of so many inputs, block by block: a small network takes most of it for calls, however small."""
    blocks = -(-inputs // inputs_at_once(arch, rows_each))
    calls = or_infinite(lambda: (7 + (1.0 + blocks) * arch.num_layers) * _seconds_per_small_layer())
    return calls + or_infinite(lambda: inputs * rows_each * _work_of_a_row(arch) * _seconds_per_product())


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
def _seconds_per_product() -> float:
    arch = Architecture.uniform(16, 16, 2)
    return _timed_derivative(arch) / (_TIMED_INPUTS * _work_of_a_row(arch))


@cache
def _seconds_per_small_layer() -> float:
    return _timed_derivative(Architecture.uniform(1, 1, 4)) / 4


def _timed_derivative(arch: Architecture) -> float:
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
    if seconds > 1e15:
        return "more seconds than floats hold" if seconds == inf else f"{seconds / 86_400:.1e} days"
    for size, name in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:.2g} seconds"
