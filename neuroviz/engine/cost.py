"""What a measurement will cost on this machine: seconds and bytes, before it starts.

Each kind of work is timed once in this process, at a size that takes some hundredths of
a second, and scaled by its number of operations. An estimate is right up to a factor of
two or three: enough to refuse a day of work, and to show the time left.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from math import inf
from timeit import repeat

import numpy as np

from neuroviz.attention.formulas import general_formula
from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.gauge_slice import num_columns
from neuroviz.engine.network import jacobian, random_tokens, random_weights
from neuroviz.engine.random_rank import (
    bytes_in_between,
    inputs_at_once,
    numbers_in_between,
)
from neuroviz.rank.arithmetic import Arithmetic, Float64, fastest_arithmetic, stored
from neuroviz.rank.checks import whole_number
from neuroviz.rank.elimination import eliminate
from neuroviz.rank.field import PrimeField
from neuroviz.rank.memory import available_bytes, in_bytes

METHODS = "exact", "float"
BUDGET_SECONDS = 600.0
"""Default limit, in seconds, on the estimated time of a measurement."""
LARGE = 1500
"""Columns from which an exact rank uses all threads, and the slice is first tried
modulo 241."""
MIXED = 350
"""Columns up to which mixing all of them takes less time than it saves."""
# bytes of an entry: the matrix, its scaled copy, and LAPACK's workspace
_SVD_BYTES = 32


@dataclass(frozen=True)
class Cost:
    """What a measurement will take, about.

    Attributes:
        seconds, bytes: time on this machine, and memory at the peak.
        columns: of the matrix whose rank is taken; 0 for a theorem.
        arithmetic: what its entries are: "int8", "float32", "float64"; "" for a
            theorem.
        stages: what is done, in turn, and the seconds of each.
    """

    seconds: float
    bytes: int
    columns: int
    arithmetic: str
    stages: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        return f"about {in_words(self.seconds)} and {in_bytes(self.bytes)}"


def checked_question(
    caller: str,
    arch: object,
    method: str,
    route: str | None,
    inputs: int | None,
    prime: int | None,
) -> tuple[str | None, int | None, int | None]:
    """Check the arguments of a measurement; returns the route to take, and inputs and
    prime as ints.

    Raises:
        ValueError: if an argument is none of those, or does not go with the others.
    """
    check_architecture(caller, arch, variants=True)
    if method not in METHODS:
        raise ValueError(f"method must be 'exact' or 'float'; got {method!r}")
    inputs = None if inputs is None else whole_number("inputs", inputs, least=1)
    if route not in (None, "slice", "weights"):
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    if route == "slice" and not arch.is_plain:
        raise ValueError(
            f"the slice is for networks of the paper; got {arch}: leave route out"
        )
    if method == "float" and prime is not None:
        raise ValueError(
            f"a float measurement has no prime; got {prime=}: leave it out, or take"
            " 'exact'"
        )
    if method == "float" and route == "slice":
        raise ValueError(
            "the float spectrum is that of all parameters: leave route out, or take"
            " 'weights'"
        )
    route = route or ("slice" if method == "exact" and arch.is_plain else "weights")
    return route, inputs, None if prime is None else PrimeField(prime).p


def estimate_cost(
    arch: Architecture,
    method: str = "exact",
    route: str | None = None,
    inputs: int | None = None,
    prime: int | None = None,
) -> Cost:
    """What `measure_dimension` will take on this machine, given the same arguments.

    Where the general formula says that the rank on the slice is full, one matrix is
    enough; from 1,500 columns on it is taken modulo 241, a byte an entry. Otherwise,
    and with all weights as columns, two matrices modulo a large prime are needed, eight
    bytes an entry; after a try modulo 241 the memory is checked again first. The search
    for a proof ends after a minute. Any network is estimated at once.

    Args:
        arch, method, route, inputs, prime: as in `measure_dimension`.

    Raises:
        ValueError: if an argument is none of these.

    >>> from neuroviz import Architecture
    >>> estimate_cost(Architecture.uniform(4, 2, 2)).seconds < 1
    True
    >>> estimate_cost(Architecture.uniform(12_288, 128, 96)).seconds > 1e9
    True
    """
    route, inputs, prime = checked_question(
        "estimate_cost", arch, method, route, inputs, prime
    )
    if method == "float":
        return _float_cost(arch, inputs)
    columns = columns_on(arch, route)
    small = (
        [fastest_arithmetic()]
        if tries_a_small_prime(columns, route, inputs, prime)
        else []
    )
    full = route == "slice" and not inputs and general_formula(arch).value == columns
    points = (small or [Float64()]) if full else [*small, Float64(), Float64()]
    # mixing the columns costs as much again
    mixing = 2 if len(points) > 1 and columns < MIXED else 1
    given, each = (
        (columns + 2, 1) if inputs is None else (inputs, arch.tokens * arch.widths[-1])
    )
    derivative = _derivative_seconds(arch, given, each)
    stages, matrices = [], []
    for arithmetic in points:
        rank = or_infinite(
            lambda a=arithmetic: (
                max(0.1, given * each / columns) * _rank_seconds(columns, a)
            )
        )
        stages += [("derivative", derivative), ("elimination", mixing * rank)]
        matrix = given * each * columns * np.dtype(arithmetic.dtype).itemsize
        matrices.append(matrix + 8 * arithmetic.block * columns)
    size = max(matrices) + bytes_in_between(arch, given, each)
    return _cost(stages, size, columns, points[0].name)


def tries_a_small_prime(
    columns: int, route: str, inputs: int | None, prime: int | None
) -> bool:
    """Whether a rank is first tried modulo 241: a large one, on the slice, which may
    turn out to be full."""
    return columns >= LARGE and route == "slice" and inputs is None and prime is None


def columns_on(arch: Architecture, route: str | None) -> int:
    """How many columns the derivative has on a route; None stands for the best one."""
    return (
        arch.num_parameters
        if route == "weights" or not arch.is_plain
        else num_columns(arch)
    )


def check_budget(cost: Cost, budget: float, arch: Architecture) -> None:
    """Refuse, before it starts, what takes more seconds than the budget or more memory
    than there is.

    Raises:
        ValueError: if it does; the message says what to do.
    """
    memory = available_bytes()
    short = memory is not None and cost.bytes > memory
    if cost.seconds <= budget and not short:
        return
    limit = (
        f"there are {in_bytes(memory)} of memory"
        if short
        else f"the budget is {in_words(budget)}"
    )
    raise ValueError(
        f"a matrix with {cost.columns} columns would take {cost} for {arch}, and"
        f" {limit}; raise budget, take smaller sizes, or ask expected_dimension, which"
        " is quick at every size"
    )


def is_quick(
    arch: Architecture, columns: int, inputs: int | None = None, seconds: int = 1
) -> bool:
    """Whether a rank of so many columns takes at most about `seconds`, by the count of
    its products alone.

    >>> is_quick(Architecture.uniform(4, 2, 2), 38)
    True

    An input of this one has 10⁸ attention weights.

    >>> is_quick(Architecture.uniform(1, 1, 1, tokens=10_000), 1)
    False
    """
    given, each = (
        (columns + 2, 1) if inputs is None else (inputs, arch.tokens * arch.widths[-1])
    )
    calls = arch.num_layers * -(-given // inputs_at_once(arch, each))
    products = (
        given * each * (_work_of_a_row(arch) + columns**2 // 4)
        + _PRODUCTS_OF_A_CALL * calls
    )
    return columns < seconds * _QUICK_COLUMNS and products < seconds * _QUICK_PRODUCTS


_QUICK_COLUMNS = 700  # from this size on an estimate is cheaper than the work
_QUICK_PRODUCTS = 4 * 10**8
_PRODUCTS_OF_A_CALL = 10**5  # products that take as long as one layer's fixed work


def _cost(
    stages: list[tuple[str, float]], size: int, columns: int, arithmetic: str
) -> Cost:
    return Cost(
        sum(seconds for _, seconds in stages),
        6 * size // 5,
        columns,
        arithmetic,
        tuple(stages),
    )


def inputs_cost(arch: Architecture) -> Cost:
    """What `rank_by_inputs` will take: all outputs of about as many inputs as there are
    equations for."""
    columns, each = columns_on(arch, None), arch.tokens * arch.widths[-1]
    given = -(-columns // each) + 6
    eliminations = 20 * or_infinite(lambda: _rank_seconds(columns, Float64()))
    stages = [("inputs", _derivative_seconds(arch, given, each) + eliminations)]
    size = (
        8 * given * each * (arch.num_parameters + numbers_in_between(arch))
        + 24 * columns**2
    )
    return _cost(stages, size, columns, "float64")


def _float_cost(arch: Architecture, inputs: int | None) -> Cost:
    """The cost of the search for enough inputs, then of a spectrum with all rows in
    memory at once."""
    columns = arch.num_parameters
    each = arch.tokens * arch.widths[-1]
    stages = []
    sizes = []
    if inputs is None:
        search = inputs_cost(arch)
        stages += search.stages
        sizes.append(search.bytes)
        inputs = 3 * search.columns // (2 * each) + 3
    rows = inputs * each
    timed_rows, timed_columns = _SPECTRUM
    svd = or_infinite(
        lambda: (
            _timed(_svd)
            * (rows * columns * min(rows, columns))
            / (timed_rows * timed_columns**2)
        )
    )
    stages += [
        ("derivative", _derivative_seconds(arch, inputs, each)),
        ("spectrum", svd),
    ]
    sizes += [
        _SVD_BYTES * rows * columns,
        8 * rows * (columns + numbers_in_between(arch)),
    ]
    return _cost(stages, max(sizes), columns, "float64")


def _work_of_a_row(arch: Architecture) -> int:
    """Products in one row of the derivative, about.

    A weight takes about 3t products. An attention weight takes 2 (a + d) of them, and
    is recomputed, reduced and normalised, which costs as much as 20 products, or 80
    where t² numbers leave the cache.
    """
    t = arch.tokens
    of_an_entry = 20 if t * t < 2**18 else 80
    layers = arch.distinct_layers.items()
    of_heads = sum(
        times * H * (of_an_entry + 2 * (a + d_in))
        for (H, (d_in, _, a)), times in layers
    )
    return 3 * t * arch.num_parameters + t * t * of_heads


def _derivative_seconds(arch: Architecture, inputs: int, rows_each: int) -> float:
    """Seconds of the derivative at so many inputs; a small network needs most of them
    for the calls."""
    a_product = _timed(_derivative, _WIDE) / (_TIMED_INPUTS * _work_of_a_row(_WIDE))
    products = inputs * rows_each * _work_of_a_row(arch)
    blocks = -(-inputs // inputs_at_once(arch, rows_each))
    calls = 7 + (1 + blocks) * arch.num_layers
    return or_infinite(
        lambda: (
            calls * _timed(_derivative, _NARROW) / _NARROW.num_layers
            + products * a_product
        )
    )


def _rank_seconds(columns: int, arithmetic: Arithmetic) -> float:
    """At s times as many columns as timed, s to s³ times as long; small ones take s^1.5
    to s²."""
    if columns < LARGE:
        s = columns / 256
        return _timed(_elimination, arithmetic, 256) * (0.7 * s**1.5 + 0.3 * s**2)
    s, (a, b, c) = (
        columns / LARGE,
        (0.5, 0.43, 0.07) if arithmetic.name == "int8" else (0, 0.6, 0.4),
    )
    return _timed(_elimination, arithmetic, LARGE) * (a * s + b * s**2 + c * s**3)


def or_infinite(work: Callable[[], float]) -> float:
    """A number of seconds; infinite where sizes are beyond what floats go to."""
    try:
        return work()
    except OverflowError:
        return inf


# Timed once


@cache
def _timed(prepare: Callable[..., Callable[[], object]], *of: object) -> float:
    """Seconds of the shortest of three runs: the first one warms up, and other programs
    may slow one down."""
    return min(repeat(prepare(*of), number=1, repeat=3))


def _elimination(arithmetic: Arithmetic, columns: int) -> Callable[[], object]:
    rows = arithmetic.over.random(np.random.default_rng(0), (columns + 2, columns))
    return lambda: eliminate(stored(rows, arithmetic), arithmetic)


def _derivative(arch: Architecture) -> Callable[[], object]:
    over, rng = PrimeField(), np.random.default_rng(0)
    weights = random_weights(over, arch, rng)
    X = random_tokens(over, arch, _TIMED_INPUTS, rng)
    cotangents = over.random(rng, (_TIMED_INPUTS, 1, arch.widths[-1], arch.tokens))
    return lambda: jacobian(over, arch, weights, X, cotangents)


_WIDE = Architecture.uniform(16, 16, 2)
_NARROW = Architecture.uniform(1, 1, 4)
_TIMED_INPUTS = 64


_SPECTRUM = 300, 200
"""Rows and columns of the matrix whose spectrum is timed."""


def _svd() -> Callable[[], object]:
    return partial(
        np.linalg.svd,
        np.random.default_rng(0).standard_normal(_SPECTRUM),
        compute_uv=False,
    )


def in_words(seconds: float) -> str:
    """A time in the largest unit of which there are two.

    >>> [in_words(seconds) for seconds in (119.0, 120.0, 7_199.0, 7_200.0)]
    ['1.2e+02 seconds', '2 minutes', '120 minutes', '2 hours']
    >>> [in_words(seconds) for seconds in (172_799.0, 172_800.0)]
    ['48 hours', '2 days']
    >>> [in_words(seconds) for seconds in (1e15, 1e16, inf)]
    ['11,574,074,074 days', '1.2e+11 days', 'more seconds than floats hold']
    """
    if seconds > 1e15:
        return (
            "more seconds than floats hold"
            if seconds == inf
            else f"{seconds / 86_400:.1e} days"
        )
    for size, name in ((86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:.2g} seconds"
