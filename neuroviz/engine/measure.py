"""Architecture → Measurement: the one path that every panel, test and benchmark takes.

A measurement never consults a formula. It draws a random network and random inputs,
takes the derivative of the function in the weights, and finds its rank: over a prime
field ("exact"), or in floating point ("float").
"""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil, inf
from typing import ClassVar

import numpy as np

from neuroviz.engine import cost, network, random_rank
from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.network import block_degree, can_be_rescaled, jacobian, on_a_line
from neuroviz.engine.progress import Report, reporting, showing
from neuroviz.engine.rotary import turning_degree
from neuroviz.rank.arithmetic import Float64, fastest_arithmetic
from neuroviz.rank.budget import Budget
from neuroviz.rank.checks import whole_number
from neuroviz.rank.elimination import is_for_flint
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.rank.floats import WIDEST, float_rank, is_wide, nearby, without_rounding
from neuroviz.rank.rows import RowSpace
from neuroviz.rank.threads import one_thread

# above this bound of the error a few more points are worth their time
_POOR_BOUND = 1e-6
_SPARE_ROWS = 2  # rows beyond the columns, in case one or two random rows add nothing
_SECONDS_WITHOUT_A_BAR = 4.0


@dataclass(frozen=True)
class Measurement:
    """A measured dimension, and what every measurement says of it.

    Attributes:
        value: the rank that was found.
        num_inputs: on how many inputs the function was observed; 0 where a theorem
            needed none.
        seed: what the random network and inputs were drawn from; None where they were
            given.
        note: how the number was found, in a sentence.
        method: "exact" or "float"; `status`, what a reader may take the number for, is
            the same.
    """

    value: int
    num_inputs: int
    seed: int | None
    note: str
    method: ClassVar[str] = ""

    @property
    def status(self) -> str:
        """What a reader may take the number for."""
        return self.method

    @property
    def kernel(self) -> int:
        """How many directions are silent, `num_columns` − `value`.

        >>> ExactMeasurement(12, 17, 0, "", 15, 7, 0.0, "weights", "flint").kernel
        3
        """
        return self.num_columns - self.value


@dataclass(frozen=True)
class ExactMeasurement(Measurement):
    """A rank over a prime field.

    Attributes:
        num_columns: free entries of the slice, or parameters.
        prime: p of the field.
        error_bound: the probability that the random point hid some of the generic rank;
            0 where the rank meets an upper bound, such as the one that the symmetries
            prove.
        route: "slice" (across the symmetries' orbits) or "weights" (every parameter a
            column).
        arithmetic: what the matrix was eliminated in, "float64", "float32", "int8", or
            "flint" for a small one (python-flint's whole numbers modulo p).
    """

    num_columns: int
    prime: int
    error_bound: float
    route: str
    arithmetic: str
    method: ClassVar[str] = "exact"


@dataclass(frozen=True)
class FloatMeasurement(Measurement):
    """A rank read off a spectrum; all parameters are columns.

    Attributes:
        singular_values: relative to the largest, one for each parameter; those beyond
            the number of equations are 0.
        gap: the factor across the split.
        decided: False where the spectrum cannot say ("Floating point").
    """

    singular_values: np.ndarray = field(compare=False, repr=False)
    gap: float
    decided: bool
    method: ClassVar[str] = "float"

    @property
    def num_columns(self) -> int:
        """Parameters."""
        return len(self.singular_values)


@dataclass(frozen=True)
class InputsCurve:
    """The exact rank as inputs are added one by one, up to where it stops growing.

    Attributes:
        ranks: the rank on the first 1, 2, …, N inputs.
        enough: the first N after which one more input adds nothing.
        equations_per_input: t · d_l outputs.
        num_columns, seed, prime: as in `ExactMeasurement`.
        error_bound: the probability that the last rank is too small; 0 at full rank.
    """

    ranks: tuple[int, ...]
    enough: int
    equations_per_input: int
    num_columns: int
    seed: int
    prime: int
    error_bound: float


def measure_dimension(
    arch: Architecture,
    method: str = "exact",
    seed: int = 0,
    inputs: int | None = None,
    route: str | None = None,
    prime: int | None = None,
    budget: float | None = None,
    progress: bool | Report | None = None,
) -> Measurement:
    """The dimension of the neuromanifold: generic rank of the derivative weights ↦
    outputs.

    exact   A random point over F_p, one random functional of the output for each of n +
            2 inputs (n columns): always enough, and the rank is a rigorous lower bound
            of the generic rank ("How many inputs", "Exact rank"). Softmax: each
            exponential is a fresh element (Ax 1971). When the rank is below the number
            of columns, a second independent point is tried.
    float   float64 at well conditioned weights and tokens, half as many inputs again as
            the exact rank needs, and one; the spectrum, its gap, and whether the gap
            decides. Evidence only.

    Args:
        arch: any `Architecture`.
        method: "exact" or "float".
        seed: a whole number ≥ 0; the same seed gives the same measurement.
        inputs: observe this many inputs, all outputs of each, instead of enough of
            them.
        route: "slice" (default for exact: columns across the symmetries' orbits, so
            that full rank is a proof) or "weights" (all parameters; default, and only
            choice, for float, and for networks with heads, skips or masks).
        prime: exact only: an odd prime below 2²³; another one is an independent check.
        budget: seconds, 600 if None. What will take more by `estimate_cost` is refused,
            and what takes longer after all is stopped. It never changes what is found,
            only whether something is.
        progress: True for a bar with the time left, False for none, None for one where
            it takes some seconds; or a function called as (what, part of the whole).

    Raises:
        ValueError: if an argument is none of the above, or the budget too small.

    >>> from neuroviz import Architecture, measure_dimension
    >>> found = measure_dimension(Architecture((3, 3, 1), (1, 3)))
    >>> found.value, found.status, found.prime
    (12, 'exact', 8388593)
    """
    route, inputs, p = cost.checked_question(
        "measure_dimension", arch, method, route, inputs, prime
    )
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(
            "progress is True, False, None or a function of (what, part); got"
            f" {progress!r}"
        )
    seed = whole_number("seed", seed, least=0)
    if budget is not None:
        Budget(budget)  # an impossible budget raises here
    # A float measurement looks at all outputs of each input.
    columns, each = cost.columns_on(arch, route), arch.tokens * arch.widths[-1]
    taken = inputs or (2 + 3 * columns // (2 * each) if method == "float" else None)
    context = nullcontext()
    if budget is not None or progress or not cost.is_quick(arch, columns, taken):
        instead = "take smaller sizes"
        if callable(progress):
            # A process's first estimate imports torch, which takes seconds.
            progress("estimate", 0.0)
        expected = cost.estimate_cost(arch, method, route, inputs, p)
        context = _within(arch, expected, instead, budget, progress)
    with context:
        if method == "float":
            return _measure_float(arch, seed, inputs)
        return _measure_exact(arch, seed, inputs, route, p)


def _within(
    arch: Architecture,
    expected: cost.Cost,
    instead: str,
    budget: float | None = None,
    progress: bool | Report | None = False,
) -> AbstractContextManager[None]:
    """Refuse what the budget does not allow, end what takes longer, and show the
    progress of long work."""
    seconds = cost.BUDGET_SECONDS if budget is None else budget
    cost.check_budget(expected, seconds, arch)
    if progress is None:
        progress = expected.seconds > _SECONDS_WITHOUT_A_BAR
    return showing(
        progress, expected.stages, Budget(seconds, "not measured", instead).check
    )


@lru_cache(maxsize=4096)
def _measure_exact(
    arch: Architecture, seed: int, inputs: int | None, route: str, p: int | None
) -> ExactMeasurement:
    columns, value, error = cost.columns_on(arch, route), 0, 0.0
    if cost.tries_a_small_prime(columns, route, inputs, p):
        # A small prime is believed only where the rank meets the upper bound; its
        # entries take one byte.
        arithmetic, taken = fastest_arithmetic(), columns + _SPARE_ROWS
        over, name = arithmetic.over, arithmetic.name
        rng = np.random.default_rng([seed, over.p])
        value = random_rank.rank_at_a_point(
            arithmetic, arch, route, (taken, columns), False, rng, reporting()
        )
        if value < columns:
            # Entries now take eight bytes, so the memory is checked again; the time is
            # not.
            cost.check_budget(
                cost.Cost(0.0, 8 * columns**2, columns, "float64"), inf, arch
            )
    if value < columns:
        over = PrimeField(p or DEFAULT_PRIME)
        name = "flint" if is_for_flint(columns) else "float64"
        value, taken, error = _at_two_points(over, arch, seed, inputs, route, columns)
    space = {"slice": "slice", "weights": "parameter space"}[route]
    turned = (
        " (turned by the real angles, by the theorem of Lindemann and Weierstrass)"
        * arch.block.rotary
    )
    if value == columns:
        free = " (exponentials free by Ax's theorem)" * (arch.attention == "softmax")
        note = (
            f"full rank: all {columns} directions of the {space} move the function, so"
            " this is the "
        )
        note += f"dimension{free}{turned}"
    else:
        seen = "" if inputs is None else f" on {_counted(inputs)}"
        note = (
            f"rank {value}{seen} of {columns} columns of the {space}, the larger of 2"
            f" random points mod {over.p}; that generic points give more{seen} has"
            f" probability at most {error:.1g}{turned}"
        )
        if seen:
            note += (
                f"; observed{seen} only: more may show more, so this need not be the"
                " dimension"
            )
    return ExactMeasurement(
        value, taken, seed, note, columns, over.p, error, route, name
    )


def _counted(inputs: int) -> str:
    return f"{inputs} input{'s' if inputs > 1 else ''}"


def _at_two_points(
    over: PrimeField,
    arch: Architecture,
    seed: int,
    inputs: int | None,
    route: str,
    columns: int,
) -> tuple[int, int, float]:
    """The larger rank at two random points, how many inputs it took, and the
    probability of a larger one."""
    rows = inputs or columns + _SPARE_ROWS
    large = columns >= cost.LARGE
    all_outputs = inputs is not None
    # Random combinations of the columns have the same rank, and are faster to eliminate
    # if it is not full.
    mixed = inputs is None and not large and not is_for_flint(columns)
    likely_full = route == "slice" and arch.tokens > 1
    value, num_inputs, points = 0, rows, 2
    source = np.random.default_rng([seed, over.p])

    def at_a_point(where: str) -> tuple[int, int]:
        """The rank at the next random point, and how many inputs it took."""
        (rng,) = source.spawn(1)
        with nullcontext() if large else one_thread():
            if mixed and (value or (columns < cost.MIXED and not likely_full)):
                sizes = columns, value or columns, rng, reporting()
                return random_rank.rank_of_combinations(over, arch, where, *sizes)
            sizes = (rows, columns), all_outputs, rng, reporting()
            return random_rank.rank_at_a_point(Float64(over), arch, where, *sizes), rows

    for _ in range(points):
        found, taken = at_a_point(route)
        value, num_inputs = max(value, found), max(num_inputs, taken)
        if value == columns:
            # no point can show a larger rank: nothing is left to chance
            return value, num_inputs, 0.0
    error = schwartz_zippel(value, block_degree(arch) + mixed, over.p) ** points
    if error > _POOR_BOUND and turning_degree(arch) > turning_degree(
        arch, related=False
    ):
        # Angles in general position give no smaller rank and a lower degree, hence a
        # better bound.
        if max(at_a_point("general angles")[0] for _ in range(points)) <= value:
            degree = block_degree(arch, related=False) + mixed
            error = min(error, schwartz_zippel(value, degree, over.p) ** points)
    return value, num_inputs, error


def clear_cache() -> None:
    """Forget all measurements, so that the next ones are made anew (for timing, for
    tests)."""
    for cached in (_measure_exact, _measure_float, _rank_by_inputs):
        cached.cache_clear()


def rank_by_inputs(
    arch: Architecture, seed: int = 0, prime: int = DEFAULT_PRIME
) -> InputsCurve:
    """The exact rank on the first N inputs, all outputs of each, until one more adds
    nothing.

    What a generic further input adds never grows with N, so the first input that adds
    nothing ends the growth for good ("How many inputs").

    Raises:
        ValueError: as in `measure_dimension`, whose budget of 600 seconds holds here,
            too.

    >>> from neuroviz import Architecture, rank_by_inputs
    >>> rank_by_inputs(Architecture((3, 3, 3, 3), (1, 1, 1))).ranks
    (5, 8, 11, 14, 17, 18, 19, 20, 21, 21)
    """
    check_architecture("rank_by_inputs", arch, variants=True)
    seed = whole_number("seed", seed, least=0)
    p = PrimeField(prime).p
    columns = cost.columns_on(arch, None)
    inputs = 3 + columns // (arch.tokens * arch.widths[-1])
    quick = cost.is_quick(arch, columns, inputs)
    with (
        one_thread(),
        (
            nullcontext()
            if quick
            else _within(arch, cost.inputs_cost(arch), "take fewer layers")
        ),
    ):
        return _rank_by_inputs(arch, seed, p)


@lru_cache(maxsize=1024)
def _rank_by_inputs(arch: Architecture, seed: int, p: int) -> InputsCurve:
    over, rng = PrimeField(p), np.random.default_rng([seed, p, 1])
    route = "slice" if arch.is_plain else "weights"
    net, weights, free = random_rank.random_point(over, arch, route, rng)
    columns, equations = cost.columns_on(arch, route), arch.tokens * arch.widths[-1]
    space, ranks, end = RowSpace(over, columns), [], None
    while end is None:
        # The first block has about as many inputs as the equations suggest, each later
        # one a few.
        chunk = ceil(columns / equations) + 2 if not ranks else 4
        X = network.random_tokens(over, net, chunk, rng)
        before = space.dimension
        reporting()("inputs", before / columns)
        new = space.add_each(
            jacobian(over, net, weights, X, None, rng)[..., free].reshape(-1, columns)
        )
        ranks += (before + new.reshape(chunk, equations).sum(axis=1).cumsum()).tolist()
        end = next(
            (n for n in range(2, len(ranks) + 1) if ranks[n - 1] == ranks[n - 2]), None
        )
    ranks = ranks[:end]
    error = (
        0.0
        if ranks[-1] == columns
        else schwartz_zippel(ranks[-1], block_degree(arch), p)
    )
    return InputsCurve(
        tuple(ranks), ranks.index(ranks[-1]) + 1, equations, columns, seed, p, error
    )


_CLEAR_GAP = 1e10  # asked for at both points: a wrong rank was seen at two with 7·10⁹


@lru_cache(maxsize=256)
def _measure_float(
    arch: Architecture, seed: int, inputs: int | None
) -> FloatMeasurement:
    num_inputs = (
        inputs or ceil(1.5 * _rank_by_inputs(arch, seed, DEFAULT_PRIME).enough) + 1
    )
    reporting()("derivative", 0.0)
    J = _float_rows(arch, num_inputs, seed, 2)
    reporting()("spectrum", 0.0)
    found = from_spectrum(J, num_inputs, seed)
    if found.decided and (doubt := _doubt(arch, J, found)):
        found = replace(
            found, decided=False, note=f"undecided: {doubt}; the exact rank can tell"
        )
    if inputs is None:
        return found
    return replace(
        found,
        note=f"{found.note}; observed on {_counted(inputs)} only: more may show more",
    )


def _doubt(arch: Architecture, J: np.ndarray, found: FloatMeasurement) -> str | None:
    """Why a spectrum that seems to decide is not trusted; None if it is."""
    if found.gap < _CLEAR_GAP:
        return f"it splits by a factor {found.gap:.1g} only"
    moves = J.any(axis=1).reshape(found.num_inputs, -1)
    # generic weights move the same outputs on each input
    if not moves.any() or (moves != moves[0]).any():
        return "derivatives left the range of floats and became 0"
    if (
        arch.attention == "softmax"
        and any(on_a_line(arch))
        and arch.num_layers > 1
        and arch.tokens > 1
    ):
        # True singular values were seen below the rounding, behind a clear gap.
        return "tokens on a line have shown clear gaps at wrong ranks"
    again = from_spectrum(
        _float_rows(arch, found.num_inputs, found.seed, 3), found.num_inputs
    )
    if not again.decided or again.gap < _CLEAR_GAP:
        return f"{found.value} here, but another random point decides nothing"
    if again.value != found.value:
        return f"{found.value} here, but another random point reads {again.value}"
    return None


_WRITERS = ("O", "o", "V", "v", "U2")
_SHRINKS = tuple(0.5**k for k in range(8))


def _float_rows(
    arch: Architecture, num_inputs: int, seed: int, point: int
) -> np.ndarray:
    """The derivative at a conditioned point, a column for each parameter; what is only
    rounding is 0.

    Where numbers leave the range of floats, and beside skips also where lengths differ
    too much to decide, layers write less, by factors of 2: the tokens of a lightning
    layer with a skip grow like x + x³.

    Raises:
        ValueError: if they leave it even where layers write 1/128 of what they usually
            do.
    """

    def rows(weights: dict[str, np.ndarray], X: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            J = jacobian(Reals(), arch, weights, X, rescale=can_be_rescaled(arch))
        return J.reshape(-1, J.shape[-1])

    for shrink in _SHRINKS:
        rng = np.random.default_rng([seed, point])
        weights = _writing_less(network.conditioned_block_weights(arch, rng), shrink)
        X = network.conditioned_tokens(arch, num_inputs, rng)
        J = rows(weights, X)
        if np.isfinite(J).all() and not (arch.skip and is_wide(J)):
            break
    if not np.isfinite(J).all():
        raise ValueError(
            f"a float measurement needs derivatives below 10^308, and those of {arch}"
            " are larger at all weights that it tries; take method='exact', fewer"
            " layers or a smaller power of the MLPs"
        )
    if not is_wide(J):
        return J
    shaken = {name: nearby(w, rng) for name, w in weights.items()}
    return without_rounding(J, rows(shaken, nearby(X, rng)))


def _writing_less(
    weights: dict[str, np.ndarray], shrink: float
) -> dict[str, np.ndarray]:
    """What writes to the tokens, matrices and biases, times this."""
    return {
        name: shrink * w if name.split(".")[-1] in _WRITERS else w
        for name, w in weights.items()
    }


def from_spectrum(
    J: np.ndarray,
    num_inputs: int,
    seed: int | None = None,
    instead: str = "the exact rank can tell",
) -> FloatMeasurement:
    """The float measurement read off a Jacobian with one column for each parameter.

    `instead` says what to do where the spectrum decides nothing.
    """
    found = float_rank(J)
    splits = f"splits by a factor {found.gap:.1g}"
    if found.decided:
        split = "nothing is dropped" if found.gap == inf else f"the spectrum {splits}"
        note = f"{split}; floating point is evidence, not a proof"
    elif found.wide:
        note = (
            "undecided: rows or columns of the derivative differ in length by more"
            f" than {WIDEST:.0e}, so small directions may be lost; {instead}"
        )
    else:
        split = (
            "nothing is dropped, but" if found.gap == inf else f"it {splits} only, and"
        )
        note = f"undecided: {split} values lie near the rounding noise; {instead}"
    spectrum = np.zeros(J.shape[1])  # columns beyond the number of rows get 0
    spectrum[: len(found.singular_values)] = found.singular_values[: J.shape[1]]
    spectrum.flags.writeable = False
    return FloatMeasurement(
        found.value, num_inputs, seed, note, spectrum, found.gap, found.decided
    )
