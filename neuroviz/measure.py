"""Architecture → Measurement: the one path that every panel, test and benchmark takes.

A measurement never consults a formula. It draws a random network and random inputs, takes the
derivative of the function in the weights, and finds its rank: over a prime field ("exact"), or
in floating point ("float").
"""

from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from math import ceil, inf

import numpy as np

from neuroviz.architecture import Architecture, check_architecture
from neuroviz.certificate import Certificate, certify
from neuroviz.field import DEFAULT_PRIME, Field, PrimeField, Reals
from neuroviz.gauge import gauge_slice
from neuroviz.network import (
    Weights,
    conditioned_tokens,
    conditioned_weights,
    jacobian,
    random_tokens,
    random_weights,
)
from neuroviz.rank import RowSpace, exact_rank, float_rank, schwartz_zippel

METHODS = ("exact", "float", "certified")
ROUTES = ("slice", "weights")
_SPARE_ROWS = 2  # rows beyond the columns: if they add nothing, the others had saturated


@dataclass(frozen=True)
class Measurement:
    """A measured dimension, and what it rests on.

    Attributes:
        value: the rank that was found.
        method: "exact" (over a prime field), "float" or "certified".
        status: the same word: what a reader may take the number for.
        num_inputs: on how many inputs the function was observed; 0 where a theorem needed none.
        seed: what the random network and inputs were drawn from; None where they were given.
        note: how the number was found, in a sentence.
        route: "slice" (across the symmetries' orbits) or "weights" (every parameter a column).
        num_columns: free entries of the slice, or parameters.
        prime, error_bound: exact only: the field, and the probability that the random point hid
            some of the generic rank; 0 where the rank meets the upper bound that the symmetries prove.
        singular_values, gap, decided: float only: the spectrum relative to its largest value (one for
            each parameter, those beyond the number of equations being 0), the factor across the
            split, and False where it is too small to say.
        certificate: certified only: what was proved, and how; `certificate.verify()` checks it again.
    """

    value: int
    method: str
    status: str
    num_inputs: int
    seed: int | None
    note: str
    route: str | None = None
    num_columns: int | None = None
    prime: int | None = None
    error_bound: float | None = None
    singular_values: np.ndarray | None = field(default=None, compare=False)
    gap: float | None = None
    decided: bool | None = None
    certificate: Certificate | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """Every field that says something; the spectrum by its length only."""
        said = {f.name: getattr(self, f.name) for f in fields(self)}
        if self.singular_values is not None:
            said["singular_values"] = f"<{len(self.singular_values)} values>"
        if self.gap is not None:
            said["gap"] = float(f"{self.gap:.3g}")
        inside = ", ".join(
            f"{name}={value if name == 'singular_values' else repr(value)}"
            for name, value in said.items()
            if value is not None and name != "certificate"
        )
        return f"Measurement({inside})"


@dataclass(frozen=True)
class InputsCurve:
    """The exact rank as inputs are added one by one, up to where it stops growing.

    Attributes:
        ranks: the rank on the first 1, 2, …, N inputs.
        enough: the first N after which one more input adds nothing.
        equations_per_input: t · d_l outputs.
        num_columns, seed, prime: as in `Measurement`.
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
) -> Measurement:
    """The dimension of the neuromanifold: generic rank of the derivative weights ↦ outputs.

    exact   A random point over F_p, one random functional of the output for each of n + 2 inputs
            (n columns): always enough, and the rank is a rigorous lower bound of the generic rank
            ("How many inputs", "Exact rank"). Softmax: each exponential is a fresh element (Ax 1971).
            When the rank is below the number of columns, a second independent point is tried.
    float   float64 at well conditioned weights and tokens, half as many inputs again as the exact
            rank needs; the spectrum, its gap, and whether the gap decides. Evidence only.
    certified   the strongest proof that we have, as an object that checks itself again: see
            `neuroviz.certificate`. The status of the statement it rests on is in its argument.

    Args:
        arch: any `Architecture`.
        method: "exact", "float" or "certified".
        seed: a whole number ≥ 0; the same seed gives the same measurement.
        inputs: observe this many inputs, all outputs of each, instead of enough of them.
        route: "slice" (default for exact: columns across the symmetries' orbits, so that full rank
            is a proof) or "weights" (all parameters; default, and only choice, for float). For
            certified "theorem", "exact rank", "ball", or None for the strongest.
        prime: exact only: an odd prime below 2²³; another one is an independent check.
        budget: certified only: seconds that finding a proof may take, 60 if None (`certify` has the small
            print). It never changes what is found, only whether something is.

    Raises:
        ValueError: if an argument is none of the above; for certified also if nothing is proved.

    >>> from neuroviz import Architecture, measure_dimension
    >>> found = measure_dimension(Architecture((3, 3, 1), (1, 3)))
    >>> found.value, found.status, found.prime
    (12, 'exact', 8388593)
    """
    check_architecture("measure_dimension", arch)
    if method not in METHODS:
        raise ValueError(f"method must be 'exact', 'float' or 'certified'; got {method!r}")
    seed = _whole("seed", seed, least=0)
    inputs = None if inputs is None else _whole("inputs", inputs, least=1)
    if method == "certified":
        if inputs is not None or prime is not None:
            raise ValueError(
                "a certificate chooses its inputs and its field itself: leave inputs and prime out"
            )
        return _certified(arch, seed, route, budget)
    if budget is not None:
        raise ValueError(f"only a certificate has a budget; got budget={budget!r}: leave it out")
    if route is not None and route not in ROUTES:
        raise ValueError(f"route must be 'slice', 'weights' or None; got {route!r}")
    if method == "exact":
        over = PrimeField(DEFAULT_PRIME if prime is None else prime)
        return _measure_exact(arch, seed, inputs, route or "slice", over.p)
    if prime is not None:
        raise ValueError(
            f"a float measurement has no prime; got prime={prime!r}: leave it out, or take 'exact'"
        )
    if route == "slice":
        raise ValueError("the float spectrum is that of all parameters: leave route out, or take 'weights'")
    return _measure_float(arch, seed, inputs)


@lru_cache(maxsize=256)
def _certified(arch: Architecture, seed: int, route: str | None, budget: float | None) -> Measurement:
    proof = certify(arch, route, seed, budget)
    inputs = len(proof.data.get("inputs", ()))
    return Measurement(
        proof.dimension,
        "certified",
        "certified",
        inputs,
        seed,
        proof.argument,
        proof.route,
        certificate=proof,
    )


def _whole(name: str, value: int, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} must be a whole number ≥ {least}; got {value!r}")
    return int(value)


@lru_cache(maxsize=4096)
def _measure_exact(arch: Architecture, seed: int, inputs: int | None, route: str, p: int) -> Measurement:
    over = PrimeField(p)
    columns = gauge_slice(arch).num_free if route == "slice" else arch.num_parameters
    full = "slice" if route == "slice" else "parameter space"
    num_inputs = inputs or columns + _SPARE_ROWS
    value = points = 0
    for rng in np.random.default_rng([seed, p]).spawn(2):
        matrix = _jacobian_rows(over, arch, route, num_inputs, inputs is not None, rng)
        value = max(value, exact_rank(matrix, over))
        points += 1
        if value == columns:
            break
    if value == columns:
        note = (
            f"full rank: all {columns} directions of the {full} move the function, so this is the dimension"
        )
        if arch.attention == "softmax":
            note += " (exponentials free by Ax's theorem)"
        error = 0.0
    else:
        error = schwartz_zippel(value, _degree(arch), p) ** points
        where = f" on {inputs} input{'s' if inputs > 1 else ''}" if inputs is not None else ""
        note = (
            f"rank {value}{where} of {columns} columns of the {full}, the larger of {points} random points "
            f"mod {p}; that generic points give more{where} has probability at most {error:.1g}"
        )
        if inputs is not None:
            note += f"; observed{where} only: more may show more, so this need not be the dimension"
    return Measurement(
        value, "exact", "exact", num_inputs, seed, note, route, columns, prime=p, error_bound=error
    )


def clear_cache() -> None:
    """Forget all measurements, so that the next ones are made anew (for timing, for tests)."""
    for cached in (_measure_exact, _measure_float, _certified, _rank_by_inputs):
        cached.cache_clear()


def _jacobian_rows(
    over: Field,
    arch: Architecture,
    route: str,
    num_inputs: int,
    all_outputs: bool,
    rng: np.random.Generator,
) -> np.ndarray:
    """Rows of the derivative at a random point over F_p: one functional an input, or all outputs."""
    net, weights, free = _random_point(over, arch, route, rng)
    X = random_tokens(over, net, num_inputs, rng)
    outputs = (net.widths[-1], net.tokens)
    cotangents = None if all_outputs else over.random(rng, (num_inputs, 1, *outputs))
    J = jacobian(over, net.attention, weights, X, cotangents, rng)
    return J.reshape(-1, J.shape[-1])[:, free]


def _random_point(
    over: Field, arch: Architecture, route: str, rng: np.random.Generator
) -> tuple[Architecture, Weights, np.ndarray | slice]:
    """A random network on the route, and which of its parameters are free there."""
    if route == "weights":
        return arch, random_weights(over, arch, rng), slice(None)
    across = gauge_slice(arch)
    return across.reduced, across.weights(over, rng), across.free


def _degree(arch: Architecture) -> int:
    """Total degree of an entry of a Jacobian row in everything that is drawn at random.

    Lightning (5·3^l − 3)/2; softmax 2l² + 5l + 1, and 3l² + 6l + 1 where tokens lie on a line and
    share their exponentials (docs/mathematics.md, "Exact rank").
    """
    depth = arch.num_layers
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
        ValueError: as in `measure_dimension`.

    >>> from neuroviz import Architecture, rank_by_inputs
    >>> rank_by_inputs(Architecture((3, 3, 3, 3), (1, 1, 1))).ranks
    (5, 8, 11, 14, 17, 18, 19, 20, 21, 21)
    """
    check_architecture("rank_by_inputs", arch)
    return _rank_by_inputs(arch, _whole("seed", seed, least=0), PrimeField(prime).p)


@lru_cache(maxsize=1024)
def _rank_by_inputs(arch: Architecture, seed: int, p: int) -> InputsCurve:
    over = PrimeField(p)
    rng = np.random.default_rng([seed, p, 1])
    net, weights, free = _random_point(over, arch, "slice", rng)
    columns = gauge_slice(arch).num_free
    equations = arch.tokens * arch.widths[-1]
    space, ranks = RowSpace(over, columns), []
    while len(ranks) < 2 or ranks[-1] > ranks[-2]:
        # About as many inputs as the equations suggest, then a few at a time.
        chunk = ceil(columns / equations) + 2 if not ranks else 4
        X = random_tokens(over, net, chunk, rng)
        for rows in jacobian(over, net.attention, weights, X, None, rng)[..., free]:
            space.add(rows)
            ranks.append(space.dimension)
            if len(ranks) > 1 and ranks[-1] == ranks[-2]:
                break
    error = 0.0 if ranks[-1] == columns else schwartz_zippel(ranks[-1], _degree(arch), p)
    return InputsCurve(tuple(ranks), ranks.index(ranks[-1]) + 1, equations, columns, seed, p, error)


@lru_cache(maxsize=256)
def _measure_float(arch: Architecture, seed: int, inputs: int | None) -> Measurement:
    num_inputs = inputs or ceil(1.5 * _rank_by_inputs(arch, seed, DEFAULT_PRIME).enough) + 1
    rng = np.random.default_rng([seed, 2])
    weights = conditioned_weights(arch, rng)
    X = conditioned_tokens(arch, num_inputs, rng)
    J = jacobian(Reals(), arch.attention, weights, X, rescale=arch.attention == "lightning")
    found = from_spectrum(J.reshape(-1, J.shape[-1]), num_inputs, seed)
    on_a_line = arch.attention == "softmax" and min(arch.widths[:-1]) == 1
    if on_a_line and arch.num_layers > 1 and arch.tokens > 1 and found.decided:
        # Tokens on a line: true singular values were seen to drown in the rounding behind a clear gap.
        note = "undecided: tokens on a line have shown clear gaps at wrong ranks; the exact rank can tell"
        found = replace(found, decided=False, note=note)
    if inputs is not None:
        note = f"{found.note}; observed on {inputs} input{'s' if inputs > 1 else ''} only: more may show more"
        found = replace(found, note=note)
    return found


def from_spectrum(J: np.ndarray, num_inputs: int, seed: int | None = None) -> Measurement:
    """The float measurement that a Jacobian, one column for each parameter, amounts to."""
    rank = float_rank(J)
    if rank.decided:
        split = "nothing is dropped" if rank.gap == inf else f"the spectrum splits by a factor {rank.gap:.1g}"
        note = f"{split}; floating point is evidence, not a bound"
    else:
        split = (
            "nothing is dropped, but"
            if rank.gap == inf
            else f"it splits by a factor {rank.gap:.1g} only, and"
        )
        note = f"undecided: {split} values lie near the rounding noise; the exact rank can tell"
    return Measurement(
        rank.value,
        "float",
        "float",
        num_inputs,
        seed,
        note,
        "weights",
        J.shape[1],
        singular_values=_one_for_each_column(rank.singular_values, J.shape[1]),
        gap=rank.gap,
        decided=rank.decided,
    )


def _one_for_each_column(sigma: np.ndarray, columns: int) -> np.ndarray:
    """The spectrum, continued by the zeros of the columns that the rows are too few for."""
    padded = np.zeros(columns)
    padded[: len(sigma)] = sigma[:columns]
    padded.flags.writeable = False
    return padded
