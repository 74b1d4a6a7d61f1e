"""Attack the claim that a function determines its weights: look for other weights with
the same function.

From many starts (`initial_guesses`) the outputs are brought to agree with those of a
given network (`descent`). What agrees on fresh inputs is a point of the fibre. A search
can refute that a fibre is one point; it cannot prove it, and starts that do not
converge say nothing (beyond/docs/fibres_not_one_orbit.md).
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from math import inf, nan

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.kit.steps import finish
from neuroviz.rank.checks import whole_number
from neuroviz.rank.field import Reals
from neuroviz.rank.memory import check_memory
from neuroviz.rank.outline import outline
from neuroviz.rank.point import num_parameters
from neuroviz.rank.weights import flatten
from neuroviz_beyond.search.descent import Misfit, descend, polish
from neuroviz_beyond.search.equivalent_weights import (
    SHUFFLED,
    UNEXPLAINED,
    Equivalent,
    comparable,
    distance,
    known_equivalents,
    normalised,
    shuffled,
)
from neuroviz_beyond.search.initial_guesses import KINDS, draw, kind_of
from neuroviz_beyond.search.local_coordinates import (
    chart_at,
    narrow,
    narrow_network,
    tangent_map,
)
from neuroviz_beyond.search.result import (
    Continuum,
    FiberPoint,
    FiberSearch,
    StartOutcome,
)
from neuroviz_beyond.search.units import as_given, fitting_units, in_units
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.alignment import checked
from neuroviz_beyond.transformers.block_formulas import speaks_of_fibers
from neuroviz_beyond.transformers.evaluate import (
    Weights,
    forward,
    jacobian,
    unflatten,
)
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.transformer import as_transformer

VERIFIED = 1e-8
"""The largest relative difference of the outputs that a verified point may have, on any
fresh input."""
FRESH_INPUTS = 100
# spare equations: fewer starts get stuck
_INPUTS_PER_COORDINATE = {"lightning": 3, "softmax": 2}
# softmax: inputs of the descent are scaled so that logits of the largest M_i are about
# this large
_LOGITS = 0.2
_WORTH_A_POLISH = 1e-4
_CONVERGED = 1e-9
# σ counts as 0 below this share, or 10 residuals
_KERNEL = 1e-12
_KERNEL_RESIDUALS = 10
# tolerance of the rank of (coordinates → L, M_i), relative to its largest σ
_RANK = 1e-8
# nearer findings are one: usual, singular, most
_MERGE = 1e-6
_MERGE_SINGULAR = 1e-3
_MERGE_MOST = 1e-2


def search_fiber(
    arch: Architecture | Transformer,
    weights: Weights,
    starts: int = 100,
    seed: int = 0,
    progress: Callable[[int, int, int], None] | None = None,
    kinds: tuple[str, ...] = KINDS,
) -> FiberSearch:
    """Look for all (L′, M_1′, …, M_l′) of this architecture with φ_θ′ = φ_θ.

    Beyond the paper as far as Theorem H reaches: softmax with heads, skips, a mask,
    value ranks, shared keys, biases and temperatures. Points are compared after
    `align`; other orders of heads are known points.

    Args:
        arch, weights: the network whose fibre is searched; over the reals, named as in
            `parameter_shapes`.
        starts: how many, at least 1.
        seed: each start is drawn from this and from its own number, so a longer search
            repeats a shorter one.
        progress: called as progress(done, starts, verified) after each start.
        kinds: which kinds of start to use, of `initial_guesses.KINDS`.

    Raises:
        ValueError: if the weights are not of this architecture or their function is
            zero, if the starts, seed or kinds make no search, if no inputs show all
            heads of a softmax network, or if a step would take more memory than there
            is.

    >>> from neuroviz_beyond.transformers.evaluate import random_weights
    >>> arch = Transformer.uniform(2, 2, 1, 3, "softmax")
    >>> weights = random_weights(Reals(), arch, np.random.default_rng(0))
    >>> found = search_fiber(arch, weights, starts=8)
    >>> found.verified, [point.symmetry for point in found.classes]
    (8, ['the same'])
    """
    if progress is not None and not callable(progress):
        raise ValueError(f"progress is a function, or None; got {progress!r}")
    steps = search_in_steps(arch, weights, starts, seed, kinds)
    return finish(steps, progress and (lambda done: progress(*done)))


def search_in_steps(
    arch: Architecture | Transformer,
    weights: Weights,
    starts: int,
    seed: int = 0,
    kinds: tuple[str, ...] = KINDS,
    ends: list | None = None,
) -> Generator[tuple[int, int, int], None, FiberSearch]:
    """`search_fiber`, start by start: yields (done, starts, verified); goes on after
    `ends`, adds to them."""
    arch = as_transformer("search_fiber", arch)
    if not (arch.is_plain or speaks_of_fibers(arch)):
        raise ValueError(
            "beyond the paper search_fiber knows what Theorem H is about: softmax of"
            " one layer, with skips or in a bottleneck that the values fill; two"
            f" tokens or more; no rotary or learned positions, no MLPs; got {arch}"
        )
    weights = _checked(arch, weights, starts, seed, kinds)
    # Half of the inputs are for the polish, which needs an equation for each
    # coordinate.
    enough = arch.num_parameters // min(4, arch.tokens * arch.widths[-1]) + 1
    inputs = _INPUTS_PER_COORDINATE[arch.attention] * (
        num_parameters(arch.slice()) if arch.is_plain else enough
    )
    rows = inputs * arch.tokens * arch.widths[-1]
    in_a_step = (
        max(FRESH_INPUTS, rows) * outline(arch).numbers + rows * arch.num_parameters
    )
    check_memory(f"a search of the fibre of {arch}", 8 * in_a_step)
    reduced = arch
    thin = weights
    if arch.is_plain:
        reduced = narrow_network(arch)
        thin = narrow(arch, weights)
    units = fitting_units(reduced, thin)
    thin = in_units(reduced, thin, units)
    target = comparable(reduced, thin, thin)
    fresh = Reals().random(
        np.random.default_rng([seed, 0]), (FRESH_INPUTS, arch.widths[0], arch.tokens)
    )
    if not np.linalg.norm(forward(Reals(), reduced, thin, fresh)) > 0:
        raise ValueError(
            "the function of these weights is zero (L = 0, or for lightning some M_i ="
            " 0): then everything else is free, and there is nothing to search; give"
            " weights with another function"
        )
    ends = [] if ends is None else ends
    for number in range(len(ends), starts):
        # Each start has its own random numbers, whatever the others take.
        draws = np.random.default_rng([seed, 1, number])  # for the start
        looks = np.random.default_rng([seed, 3, number])  # around its end
        end, outcome = _try(
            kind_of(number, kinds), reduced, thin, target, inputs, draws
        )
        around = (
            _spectrum(reduced, end, outcome.residual, looks)
            if outcome.verified
            else (nan, 0)
        )
        ends.append(_End(number, outcome, *around))
        yield number + 1, starts, sum(one.outcome.verified for one in ends)
    sigma_min, kernel = _spectrum(reduced, thin, 0.0, np.random.default_rng([seed, 2]))
    classes, continuum, outcomes = _sort(reduced, target, ends[:starts])
    if continuum:
        continuum = replace(
            continuum, example=as_given(reduced, continuum.example, units)
        )
    outcomes, classes = (
        tuple(
            replace(one, virtual=as_given(reduced, one.virtual, units)) for one in each
        )
        for each in (outcomes, classes)
    )
    target = as_given(reduced, target, units)
    return FiberSearch(
        arch, target, seed, outcomes, classes, continuum, sigma_min, kernel
    )


def _checked(
    arch: Transformer,
    weights: Weights,
    starts: int,
    seed: int,
    kinds: tuple[str, ...],
) -> Weights:
    given = checked("search_fiber", arch, weights)
    floats = {name: matrix.astype(float) for name, matrix in given.items()}
    whole_number("starts", starts)
    whole_number("seed", seed, least=0)
    if (
        not isinstance(kinds, (tuple, list))
        or not kinds
        or any(kind not in KINDS for kind in kinds)
    ):
        raise ValueError(
            f"kinds of start are some of {', '.join(map(repr, KINDS))}; got {kinds!r}"
        )
    return unflatten(arch, flatten(arch, floats))


def _tokens(
    arch: Transformer, inputs: int, rng: np.random.Generator, scale: float = 1.0
) -> np.ndarray:
    """Inputs to fit on. Lightning is homogeneous: there all inputs get one length, and
    no scale."""
    X = rng.standard_normal((inputs, arch.widths[0], arch.tokens))
    if arch.attention == "lightning":
        return X / np.linalg.norm(X, axis=(1, 2), keepdims=True)
    return scale * X


def _try(
    kind: str,
    arch: Transformer,
    thin: Weights,
    target: VirtualWeights,
    inputs: int,
    rng: np.random.Generator,
) -> tuple[Weights, StartOutcome]:
    """One start: descend on small inputs, polish on inputs of size 1, then test on
    fresh inputs."""
    # the spectral norm of M_i; with heads of A, c and V of a layer, one above the other
    size = max(np.linalg.norm(M.reshape(-1, M.shape[-1]), 2) for M in target.M)
    network = arch.attention if arch.is_plain else arch
    scale = np.sqrt(_LOGITS / size) if size > 0 else 1.0
    start, last_moves = draw(kind, arch, thin, rng)
    X = _tokens(arch, inputs, rng, scale)
    Y = forward(Reals(), network, thin, X)
    weights, misfit = descend(
        arch, start, Misfit(network, X, Y, eliminate=not last_moves)
    )
    converged = False
    if misfit < _WORTH_A_POLISH:
        X = _tokens(arch, inputs // 2, rng)
        Y = forward(Reals(), network, thin, X)
        weights, misfit = polish(arch, weights, Misfit(network, X, Y, eliminate=False))
        converged = misfit < _CONVERGED
    virtual = comparable(arch, thin, weights)
    residual = _residual(arch, thin, weights, rng)
    verified = converged and residual <= VERIFIED
    away = distance(arch.attention, target, virtual)
    return weights, StartOutcome(kind, virtual, verified, residual, away, point=None)


def _residual(
    arch: Transformer, weights: Weights, other: Weights, rng: np.random.Generator
) -> float:
    """The largest relative difference of the outputs over fresh inputs; infinite after
    an overflow."""
    X = rng.standard_normal((FRESH_INPUTS, arch.widths[0], arch.tokens))
    with np.errstate(over="ignore", invalid="ignore"):
        Y, Y2 = (forward(Reals(), arch, network, X) for network in (weights, other))
        apart = np.linalg.norm(Y2 - Y, axis=(1, 2)) / np.linalg.norm(Y, axis=(1, 2))
    return float(apart.max()) if np.isfinite(apart).all() else inf


def _spectrum(
    arch: Transformer, weights: Weights, residual: float, rng: np.random.Generator
) -> tuple[float, int]:
    """σ_min and the dimension of the kernel of dφ/‖φ‖ by dθ/‖θ‖, across the rescalings.

    Along the tangent space of the virtual weights of this architecture; where that is
    smaller than the chart (an M_i that has lost rank), only along what moves the
    virtual weights. At a solution that is known up to a residual, a singular value of
    that size is not told from 0.
    """
    chart = chart_at(arch, weights)
    X = _tokens(arch, 2 * chart.size, rng)
    J = jacobian(Reals(), arch, chart.centre, X) @ chart.directions
    Y = forward(Reals(), arch, chart.centre, X)
    if not arch.is_plain:  # the changes of Theorem H move no output
        J = J.reshape(-1, chart.size) * (
            np.linalg.norm(flatten(arch, weights)) / np.linalg.norm(Y)
        )
        # As many as the dimension: all others belong to those changes.
        sigma = np.linalg.svd(J, compute_uv=False)[: expected_dimension(arch).value]
        return float(sigma[-1]), _zeros(sigma, residual)
    along = tangent_map(chart)
    virtual = virtual_weights(Reals(), chart.centre)
    entries = sum(M.size for M in virtual.M)
    size = np.sqrt(sum((M**2).sum() for M in virtual.M) + (virtual.L**2).sum())
    if arch.attention == "lightning":  # with ‖L‖ = 1, L moves by a share of its length
        length = np.linalg.norm(virtual.L)
        along[entries:] /= length
        size = np.sqrt(len(virtual.M) + 1)  # the centre has all ‖M_i‖ = 1
    # Back from orthonormal directions of the virtual weights to coordinates.
    _, s, coordinates = np.linalg.svd(along, full_matrices=False)
    kept = s > _RANK * s[0]
    J = J.reshape(-1, chart.size) @ (coordinates[kept].T / s[kept])
    sigma = np.linalg.svd(J * (size / np.linalg.norm(Y)), compute_uv=False)
    return float(sigma[-1]), _zeros(sigma, residual)


def _zeros(sigma: np.ndarray, residual: float) -> int:
    return int((sigma <= max(_KERNEL * sigma[0], _KERNEL_RESIDUALS * residual)).sum())


@dataclass(frozen=True, eq=False)
class _End:
    """Where a start has ended; of a verified end also what is known of its
    surroundings."""

    number: int
    outcome: StartOutcome
    sigma_min: float
    kernel: int

    @property
    def reach(self) -> float:
        """The largest distance of two findings of one point."""
        if self.kernel:
            return _MERGE_SINGULAR
        # To first order the point is residual/σ_min away.
        return min(
            _MERGE_MOST, max(_MERGE, 100 * self.outcome.residual / self.sigma_min)
        )


def _sort(
    arch: Transformer, target: VirtualWeights, ends: list[_End]
) -> tuple[tuple[FiberPoint, ...], Continuum | None, tuple[StartOutcome, ...]]:
    """Gather verified ends into points; different ends that are not isolated form a
    continuum."""
    groups = _gather(arch.attention, [end for end in ends if end.outcome.verified])
    loose = [group for group in groups if all(found.kernel for found in group)]
    continuum = None
    if len(loose) > 1:  # one alone is a point, perhaps a singular one
        groups = [group for group in groups if group not in loose]
        members = [found for group in loose for found in group]
        kernels, ended = zip(
            *((found.kernel, found.outcome) for found in members), strict=True
        )
        # An example of other weights is near the given ones, but visibly not they.
        example = min(ended, key=lambda one: (one.distance < 0.1, one.distance))
        farthest = max(one.distance for one in ended)
        continuum = Continuum(
            len(members), (min(kernels), max(kernels)), farthest, example.virtual
        )
    groups.sort(key=lambda group: -len(group))
    equivalents = known_equivalents(arch.attention, target)
    classes = tuple(_point(arch, target, equivalents, group) for group in groups)
    place = {found.number: i for i, group in enumerate(groups) for found in group}
    outcomes = tuple(replace(end.outcome, point=place.get(end.number)) for end in ends)
    return classes, continuum, outcomes


def _gather(attention: str, findings: list[_End]) -> list[list[_End]]:
    """Groups of findings near to the best one of the group."""
    groups: list[list[_End]] = []
    # The best comes first, so each group begins with its best one.
    for found in sorted(findings, key=lambda one: one.outcome.residual):
        for group in groups:
            apart = distance(attention, group[0].outcome.virtual, found.outcome.virtual)
            if apart <= max(found.reach, group[0].reach):
                group.append(found)
                break
        else:
            groups.append([found])
    return groups


def _point(
    arch: Transformer,
    target: VirtualWeights,
    equivalents: tuple[Equivalent, ...],
    group: list[_End],
) -> FiberPoint:
    best = group[0]
    members = [found.outcome for found in group]
    attention = arch.attention
    virtual = best.outcome.virtual
    if not arch.is_plain:
        equivalents = (*equivalents, Equivalent(SHUFFLED, shuffled(target, virtual)))
    near = max(best.reach, _MERGE)
    named = (
        one.symmetry
        for one in equivalents
        if distance(attention, one.virtual, virtual) <= near
    )
    radius = max(distance(attention, virtual, one.virtual) for one in members)
    return FiberPoint(
        virtual=normalised(attention, virtual),
        found=len(group),
        radius=radius,
        distance=best.outcome.distance,
        residual=best.outcome.residual,
        sigma_min=best.sigma_min,
        kernel=best.kernel,
        symmetry=next(named, UNEXPLAINED),
    )
