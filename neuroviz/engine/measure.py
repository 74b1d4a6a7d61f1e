"""Architecture → Measurement: the one path that every panel, test and benchmark takes.

A measurement never consults a formula. It draws a random network and random inputs, takes the
derivative of the function in the weights, and finds its rank: over a prime field ("exact"), or
in floating point ("float").
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from math import ceil, inf

import numpy as np

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block import whole_number
from neuroviz.engine.block_network import (
    BlockWeights,
    block_degree,
    block_jacobian,
    can_be_rescaled,
    on_a_line,
)
from neuroviz.engine.budget import Budget
from neuroviz.engine.cost import (
    BUDGET_SECONDS,
    LARGE,
    Cost,
    check_budget,
    columns_on,
    estimate_cost,
    inputs_cost,
    is_quick,
    tries_a_small_prime,
)
from neuroviz.engine.elimination import Float64, fastest_arithmetic
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.engine.measurement import (
    CertifiedMeasurement,
    ExactMeasurement,
    FloatMeasurement,
    InputsCurve,
    Measurement,
)
from neuroviz.engine.network import (
    conditioned_block_weights,
    conditioned_tokens,
    conditioned_weights,
    named,
    random_tokens,
)
from neuroviz.engine.progress import reporting, showing
from neuroviz.engine.prover import prover
from neuroviz.engine.random_rank import (
    large_rank_at_a_point,
    random_point,
    rank_at_a_point,
    rank_of_combinations,
)
from neuroviz.engine.rank import (
    WIDEST,
    RowSpace,
    arithmetic_of,
    float_rank,
    is_wide,
    nearby,
    schwartz_zippel,
    without_rounding,
)
from neuroviz.engine.rotary import turning_degree
from neuroviz.engine.threads import one_thread

METHODS = ("exact", "float", "certified")
ROUTES = ("slice", "weights")
_POOR_BOUND = 1e-6  # of an error: above, a few more points are worth it
_SPARE_ROWS = 2  # rows beyond the columns: if they add nothing, the others had saturated


def measure_dimension(
    arch: Architecture,
    method: str = "exact",
    seed: int = 0,
    inputs: int | None = None,
    route: str | None = None,
    prime: int | None = None,
    budget: float | None = None,
    progress: bool | Callable[[str, float], None] | None = None,
) -> Measurement:
    """The dimension of the neuromanifold: generic rank of the derivative weights ↦ outputs.

    exact   A random point over F_p, one random functional of the output for each of n + 2 inputs
            (n columns): always enough, and the rank is a rigorous lower bound of the generic rank
            ("How many inputs", "Exact rank"). Softmax: each exponential is a fresh element (Ax 1971).
            When the rank is below the number of columns, a second independent point is tried.
    float   float64 at well conditioned weights and tokens, half as many inputs again as the exact
            rank needs; the spectrum, its gap, and whether the gap decides. Evidence only.
    certified   the strongest proof that we have, as an object that checks itself again: see
            `neuroviz.certificate.certificate`. The status of the statement it rests on is in its argument.

    Args:
        arch: any `Architecture`.
        method: "exact", "float" or "certified".
        seed: a whole number ≥ 0; the same seed gives the same measurement.
        inputs: observe this many inputs, all outputs of each, instead of enough of them.
        route: "slice" (default for exact: columns across the symmetries' orbits, so that full rank
            is a proof) or "weights" (all parameters; default, and only choice, for float, and for
            networks with heads, skips or masks). For certified "theorem", "exact rank", "ball", or
            None for the strongest.
        prime: exact only: an odd prime below 2²³; another one is an independent check.
        budget: seconds. Exact and float refuse what will take more by `estimate_cost`, 600 if None, and stop
            where it takes longer after all. A certificate's search stops after it, 60 if None. It never
            changes what is found, only whether something is.
        progress: True for a bar with the time left, False for none, None for one where it takes some seconds;
            or a function called as (what, part of the whole). A certificate shows none.

    Raises:
        ValueError: if an argument is none of the above, or the budget too small; for certified also if
            nothing is proved.

    >>> from neuroviz import Architecture, measure_dimension
    >>> found = measure_dimension(Architecture((3, 3, 1), (1, 3)))
    >>> found.value, found.status, found.prime
    (12, 'exact', 8388593)
    """
    check_architecture("measure_dimension", arch, variants=True)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be 'exact', 'float' or 'certified'; got {method!r}")
    if method == "certified" and not arch.is_plain:
        raise ValueError(
            f"certificates are for one head a layer, no skip and no mask, an empty block; got {arch}: take "
            "method='exact'"
        )
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(f"progress is True, False, None or a function of (what, part); got {progress!r}")
    seed = whole_number("seed", seed, least=0)
    inputs = None if inputs is None else whole_number("inputs", inputs, least=1)
    if method == "certified":
        if inputs is not None or prime is not None:
            raise ValueError(
                "a certificate chooses its inputs and its field itself: leave inputs and prime out"
            )
        return _certified(arch, seed, route, budget)
    if route is not None and not (isinstance(route, str) and route in ROUTES):
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    if route == "slice" and not arch.is_plain:
        raise ValueError(f"the slice is for networks of the paper; got {arch}: leave route out")
    if method == "exact":
        p = None if prime is None else PrimeField(prime).p
        with _within(arch, method, route, inputs, p, budget, progress):
            return _measure_exact(arch, seed, inputs, route or _best_route(arch), p)
    if prime is not None:
        raise ValueError(
            f"a float measurement has no prime; got prime={prime!r}: leave it out, or take 'exact'"
        )
    if route == "slice":
        raise ValueError("the float spectrum is that of all parameters: leave route out, or take 'weights'")
    with _within(arch, method, route, inputs, None, budget, progress):
        return _measure_float(arch, seed, inputs)


def _best_route(arch: Architecture) -> str:
    """The slice knows the symmetries of the paper's networks; of others all weights are columns."""
    return "slice" if arch.is_plain else "weights"


_SECONDS_WITHOUT_A_BAR = 4.0


@contextmanager
def _within(
    arch: Architecture,
    method: str,
    route: str | None,
    inputs: int | None,
    prime: int | None,
    budget: float | None,
    progress: bool | Callable[[str, float], None] | None,
) -> Iterator[None]:
    """Refuse what the budget does not allow, end what takes longer, and show the progress of long work."""
    if budget is not None:
        Budget(budget)  # says what is wrong with it
    columns = columns_on(arch, route if method == "exact" else "weights")
    # A float measurement looks at all outputs of each input.
    taken = inputs or (2 + 3 * columns // (2 * arch.tokens * arch.widths[-1]) if method == "float" else None)
    if budget is None and not progress and is_quick(arch, columns, taken):
        yield
        return
    cost = estimate_cost(arch, method, route if method == "exact" else None, inputs, prime)
    seconds = BUDGET_SECONDS if budget is None else budget
    check_budget(cost, seconds, arch)
    if progress is None:
        progress = cost.seconds > _SECONDS_WITHOUT_A_BAR
    clock = Budget(seconds, "not measured", "take method='certified'" if arch.is_plain else "fewer tokens")
    with showing(progress, cost.stages, clock.check):
        yield


@lru_cache(maxsize=256)
def _certified(
    arch: Architecture, seed: int, route: str | None, budget: float | None
) -> CertifiedMeasurement:
    proof = prover().certify(arch, route, seed, budget)
    inputs = len(proof.data.get("inputs", ()))
    return CertifiedMeasurement(proof.dimension, inputs, seed, proof.argument, proof.route, proof)


@lru_cache(maxsize=4096)
def _measure_exact(
    arch: Architecture, seed: int, inputs: int | None, route: str, p: int | None
) -> ExactMeasurement:
    columns = columns_on(arch, route)
    shape = inputs or columns + _SPARE_ROWS, columns
    large = columns >= LARGE
    if tries_a_small_prime(arch, route, inputs, p):
        # One byte an entry; modulo so small a prime only a rank that meets the upper bound is believed.
        arithmetic = fastest_arithmetic(columns)
        rng = np.random.default_rng([seed, arithmetic.over.p])
        if large_rank_at_a_point(arithmetic, arch, route, shape, False, rng, reporting()) == columns:
            return _full_rank(arch, seed, shape, route, arithmetic.over.p, arithmetic.name)
        # Not full: now eight bytes an entry, and twice. The time is spent as it is, the memory may be short.
        check_budget(Cost(0.0, 8 * columns**2, columns, "float64"), inf, arch)
    over = PrimeField(DEFAULT_PRIME if p is None else p)
    # A rank that is not full: random combinations of the columns have it too, and are faster to eliminate.
    mixed = inputs is None and not large and arithmetic_of(columns) != "flint"
    full = route == "slice" and arch.tokens > 1  # or so it is likely to be
    value, num_inputs, points = 0, shape[0], 2
    source = np.random.default_rng([seed, over.p])

    def at_a_point(where: str) -> tuple[int, int]:
        """The rank at the next random point, and how many inputs it took."""
        (rng,) = source.spawn(1)
        if large:
            sizes = shape, inputs is not None, rng, reporting()
            return large_rank_at_a_point(Float64(over), arch, where, *sizes), shape[0]
        with one_thread():
            if mixed and (value or not full):
                return rank_of_combinations(over, arch, where, columns, value or columns, rng, reporting())
            all_outputs = inputs is not None
            return rank_at_a_point(over, arch, where, shape[0], all_outputs, rng, reporting()), shape[0]

    for _ in range(points):
        rank, taken = at_a_point(route)
        value, num_inputs = max(value, rank), max(num_inputs, taken)
        if value == columns:
            return _full_rank(arch, seed, (num_inputs, columns), route, over.p, arithmetic_of(columns))
    error = schwartz_zippel(value, _degree(arch) + mixed, over.p) ** points
    if error > _POOR_BOUND and turning_degree(arch) > turning_degree(arch, related=False):
        # Angles in general position give as much or more, with a lower degree: a better bound if not more.
        if max(at_a_point("general angles")[0] for _ in range(points)) <= value:
            degree = block_degree(arch, related=False) + mixed
            error = min(error, schwartz_zippel(value, degree, over.p) ** points)
    seen = f" on {inputs} input{'s' if inputs > 1 else ''}" if inputs is not None else ""
    note = (
        f"rank {value}{seen} of {columns} columns of the {_COLUMNS_OF[route]}, the larger of {points} random "
        f"points mod {over.p}; that generic points give more{seen} has probability at most {error:.1g}"
    )
    note += _LINDEMANN if arch.block.rotary else ""
    if inputs is not None:
        note += f"; observed{seen} only: more may show more, so this need not be the dimension"
    arithmetic = arithmetic_of(columns)
    return ExactMeasurement(value, num_inputs, seed, note, columns, over.p, error, route, arithmetic)


_COLUMNS_OF = {"slice": "slice", "weights": "parameter space"}
_LINDEMANN = " (turned by the real angles, by the theorem of Lindemann and Weierstrass)"


def _full_rank(
    arch: Architecture, seed: int, shape: tuple[int, int], route: str, p: int, arithmetic: str
) -> ExactMeasurement:
    """The rank is the number of columns: no point can show more, so nothing was left to chance."""
    num_inputs, columns = shape
    note = (
        f"full rank: all {columns} directions of the {_COLUMNS_OF[route]} move the function, so this is the "
        "dimension"
    )
    if arch.attention == "softmax":
        note += " (exponentials free by Ax's theorem)"
    note += _LINDEMANN if arch.block.rotary else ""
    return ExactMeasurement(columns, num_inputs, seed, note, columns, p, 0.0, route, arithmetic)


def clear_cache() -> None:
    """Forget all measurements, so that the next ones are made anew (for timing, for tests)."""
    for cached in (_measure_exact, _measure_float, _certified, _rank_by_inputs):
        cached.cache_clear()


def _degree(arch: Architecture) -> int:
    """Total degree of an entry of a Jacobian row in everything that is drawn at random.

    Lightning (5·3^l − 3)/2; softmax 2l² + 5l + 1, and 3l² + 6l + 1 where tokens lie on a line and
    share their exponentials (docs/mathematics.md, "Exact rank"). With a block a tape counts.
    """
    depth = arch.num_layers
    if not arch.block.is_plain:
        return block_degree(arch)
    if arch.attention == "lightning":
        return (5 * 3**depth - 3) // 2
    if min(arch.widths[:-1]) == 1:
        return 3 * depth**2 + 6 * depth + 1
    return 2 * depth**2 + 5 * depth + 1


def rank_by_inputs(arch: Architecture, seed: int = 0, prime: int = DEFAULT_PRIME) -> InputsCurve:
    """The exact rank on the first N inputs, all outputs of each, until one more adds nothing.

    What a generic further input adds never grows with N, so the first input that adds nothing ends
    the growth for good ("How many inputs").

    Raises:
        ValueError: as in `measure_dimension`, whose budget of 600 seconds holds here, too.

    >>> from neuroviz import Architecture, rank_by_inputs
    >>> rank_by_inputs(Architecture((3, 3, 3, 3), (1, 1, 1))).ranks
    (5, 8, 11, 14, 17, 18, 19, 20, 21, 21)
    """
    check_architecture("rank_by_inputs", arch, variants=True)
    seed, p = whole_number("seed", seed, least=0), PrimeField(prime).p
    columns = columns_on(arch, None)
    if is_quick(arch, columns, 3 + columns // (arch.tokens * arch.widths[-1])):
        with one_thread():
            return _rank_by_inputs(arch, seed, p)
    cost = inputs_cost(arch)
    check_budget(cost, BUDGET_SECONDS, arch)
    clock = Budget(BUDGET_SECONDS, "not measured", "take fewer layers")
    with one_thread(), showing(False, (("inputs", cost.seconds),), clock.check):
        return _rank_by_inputs(arch, seed, p)


@lru_cache(maxsize=1024)
def _rank_by_inputs(arch: Architecture, seed: int, p: int) -> InputsCurve:
    over = PrimeField(p)
    rng = np.random.default_rng([seed, p, 1])
    route = _best_route(arch)
    net, weights, free = random_point(over, arch, route, rng)
    columns = columns_on(arch, route)
    equations = arch.tokens * arch.widths[-1]
    space, ranks, end = RowSpace(over, columns), [], None
    while end is None:
        # About as many inputs as the equations suggest, then a few at a time.
        chunk = ceil(columns / equations) + 2 if not ranks else 4
        X = random_tokens(over, net, chunk, rng)
        before = space.dimension
        reporting()("inputs", before / columns)
        new = space.add_each(block_jacobian(over, net, weights, X, None, rng)[..., free].reshape(-1, columns))
        ranks += (before + new.reshape(chunk, equations).sum(axis=1).cumsum()).tolist()
        end = next((n for n in range(2, len(ranks) + 1) if ranks[n - 1] == ranks[n - 2]), None)
    ranks = ranks[:end]
    error = 0.0 if ranks[-1] == columns else schwartz_zippel(ranks[-1], _degree(arch), p)
    return InputsCurve(tuple(ranks), ranks.index(ranks[-1]) + 1, equations, columns, seed, p, error)


_CLEAR_GAP = 1e10  # of an architecture, at both points: at 7·10⁹ a wrong rank was seen at two


@lru_cache(maxsize=256)
def _measure_float(arch: Architecture, seed: int, inputs: int | None) -> FloatMeasurement:
    num_inputs = inputs or ceil(1.5 * _rank_by_inputs(arch, seed, DEFAULT_PRIME).enough) + 1
    reporting()("derivative", 0.0)
    J = _float_rows(arch, num_inputs, seed, 2)
    reporting()("spectrum", 0.0)
    found = from_spectrum(J, num_inputs, seed)
    if found.decided and (doubt := _doubt(arch, J, found)):
        found = replace(found, decided=False, note=f"undecided: {doubt}; the exact rank can tell")
    if inputs is not None:
        note = f"{found.note}; observed on {inputs} input{'s' if inputs > 1 else ''} only: more may show more"
        found = replace(found, note=note)
    return found


def _doubt(arch: Architecture, J: np.ndarray, found: FloatMeasurement) -> str | None:
    """Why a spectrum that decides is not believed, if it is not."""
    if found.gap < _CLEAR_GAP:
        return f"it splits by a factor {found.gap:.1g} only"
    if _underflowed(arch, J):
        return "derivatives left the range of floats and became 0"
    if arch.attention == "softmax" and any(on_a_line(arch)) and arch.num_layers > 1 and arch.tokens > 1:
        # True singular values were seen to drown in the rounding behind a clear gap.
        return "tokens on a line have shown clear gaps at wrong ranks"
    again = from_spectrum(_float_rows(arch, found.num_inputs, found.seed, 3), found.num_inputs)
    if not again.decided or again.gap < _CLEAR_GAP:
        return f"{found.value} here, but another random point decides nothing"
    if again.value != found.value:
        return f"{found.value} here, but another random point reads {again.value}"
    return None


def _underflowed(arch: Architecture, J: np.ndarray) -> bool:
    """Whether an output moves with no weight on one input: generic weights move all or the same on each."""
    moves = J.any(axis=1).reshape(-1, arch.widths[-1] * arch.tokens)
    return not moves.any() or bool((moves != moves[0]).any())


def _float_rows(arch: Architecture, num_inputs: int, seed: int, point: int) -> np.ndarray:
    """The derivative at a conditioned point, a column for each parameter; what is only rounding is 0."""
    rng = np.random.default_rng([seed, point])
    weights = (
        named(conditioned_weights(arch, rng)) if arch.block.is_plain else conditioned_block_weights(arch, rng)
    )
    X = conditioned_tokens(arch, num_inputs, rng)

    def rows(weights: BlockWeights, X: np.ndarray) -> np.ndarray:
        J = block_jacobian(Reals(), arch, weights, X, rescale=can_be_rescaled(arch))
        return J.reshape(-1, J.shape[-1])

    J = rows(weights, X)
    if not (np.isfinite(J).all() and is_wide(J)):
        return J
    shaken = {name: nearby(w, rng) for name, w in weights.items()}
    return without_rounding(J, rows(shaken, nearby(X, rng)))


def from_spectrum(
    J: np.ndarray, num_inputs: int, seed: int | None = None, wide: bool = False
) -> FloatMeasurement:
    """The float measurement that a Jacobian, one column for each parameter, amounts to.

    Args:
        wide: whether its rows or columns were too different in length (`rank.WIDEST`), if not any more.
    """
    rank = float_rank(J)
    decided = rank.decided and not wide
    if decided:
        split = "nothing is dropped" if rank.gap == inf else f"the spectrum splits by a factor {rank.gap:.1g}"
        note = f"{split}; floating point is evidence, not a bound"
    elif rank.wide or wide:
        note = (
            f"undecided: rows or columns of the derivative differ in length by more than {WIDEST:.0e}, so "
            "small directions may be lost; the exact rank can tell"
        )
    else:
        split = (
            "nothing is dropped, but"
            if rank.gap == inf
            else f"it splits by a factor {rank.gap:.1g} only, and"
        )
        note = f"undecided: {split} values lie near the rounding noise; the exact rank can tell"
    spectrum = np.zeros(J.shape[1])  # 0 for the columns that the rows are too few for
    spectrum[: len(rank.singular_values)] = rank.singular_values[: J.shape[1]]
    spectrum.flags.writeable = False
    return FloatMeasurement(rank.value, num_inputs, seed, note, spectrum, rank.gap, decided)
