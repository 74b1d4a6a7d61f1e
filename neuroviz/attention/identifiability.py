"""Can this quantity be recovered from the function?

A quantity, such as the trace of A₁, is locally determined by the function that a
network computes exactly when no silent direction changes it: its gradient lies in the
row space of the Jacobian. Rational quantities are decided over a prime field, the
others in floats.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import singledispatch
from numbers import Number

import numpy as np
from numpy.random import Generator

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.dual import Dual
from neuroviz.attention.formulas import effective_widths
from neuroviz.rank.cost import BUDGET_SECONDS, check_budget, cost_of, is_quick
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals
from neuroviz.rank.floats import DECISIVE_GAP
from neuroviz.rank.inputs import rank_by_inputs
from neuroviz.rank.measure import measure_dimension
from neuroviz.rank.memory import check_memory
from neuroviz.rank.network import Network, constants_of
from neuroviz.rank.outline import outline
from neuroviz.rank.point import Point, derivative, num_parameters, random_point
from neuroviz.rank.question import Question, ask
from neuroviz.rank.rows import RowSpace
from neuroviz.rank.weights import flatten, unflatten

Quantity = Callable[[dict[str, np.ndarray]], object]
"""Weights by name → a number, or an array of numbers."""

_POINTS = 8  # random points tried before giving up
# A derivative is called zero where it is zero modulo both: one prime may divide it.
_PRIMES = (DEFAULT_PRIME, SECOND_PRIME)
# Step of the five-point differences, for weights of size 1: the fifth root of the
# rounding, so that ε/h and h⁴ are both about 10⁻¹².
_STEP = 1e-3
_GENEROUS = 1e3  # a gap this many times the decisive one needs no better point
_NO_CHANGE = 1e-10  # a gradient below this, for a quantity of size 1, may be rounding
_HUGE = 1e6  # beside a number of this size a change may be rounded away altogether
# Most relative distance of the rough and the five-point difference, if smooth: then it
# is about h², and at a kink about 1.
_ROUGH = 1e-2
# A share of the gradient below _ZERO counts as none, one above _CLEAR as some; between
# them nothing is decided. Differences leave 10⁻¹².
_ZERO = 1e-8
_CLEAR = 1e-3


@dataclass(frozen=True)
class Identifiability:
    """Whether the function determines a quantity, locally and for almost all weights.

    Attributes:
        value: True or False; None where floating point cannot decide.
        status: "exact" (over a prime field) or "float".
        margin: float only: the share of the gradient that points along directions in
            which the function does not change; 0 for an identifiable quantity, up to 1
            for one that is not.
        note: how it was decided, in a sentence.
        seed: what the random network was drawn from.
    """

    value: bool | None
    status: str
    margin: float | None
    note: str
    seed: int

    def __bool__(self) -> bool:
        """The value; ValueError where there is none."""
        if self.value is None:
            raise ValueError(
                f"this could not be decided: {self.note}; look at .value and .margin"
            )
        return self.value


def is_identifiable(net: Network, quantity: Quantity, seed: int = 0) -> Identifiability:
    """Whether the network's function locally determines a quantity of its weights.

    exact   A rational function of the weights (+ − · / ** and numpy's sum, trace, @,
            …): differentiated over F_p along a random silent direction. A derivative
            that is not zero shows that it is not identifiable; zero, modulo two primes
            p, shows that it is, but for a chance of about degree/p.
    float   Anything else that is differentiable (a norm, a singular value): central
            differences at a random real network, and the share of the gradient along
            those directions.

    "Locally": among the weights near almost every point. Where `orbit_theorem` says
    that all weights with the function are one orbit, an exact yes holds for all of
    them, or up to the order of the heads; the note says so.

    Args:
        net: any network.
        quantity: weights → number or array of numbers; an array stands for all its
            entries. Weights are a dict, named as in `net.parameter_shapes`.
        seed: a whole number ≥ 0.

    Raises:
        ValueError: if the quantity is no function, is undefined at random weights, or
            returns something else than numbers; or if it would take more than 600
            seconds, or more memory than there is.

    >>> net = Architecture((3, 3), (2,))
    >>> A = lambda weights: weights["1.K"].T @ weights["1.Q"]
    >>> is_identifiable(net, lambda weights: np.trace(A(weights))).value
    False
    >>> is_identifiable(net, lambda weights: A(weights)[0, 1] / A(weights)[0, 0]).value
    True
    """
    if not callable(quantity):
        raise ValueError(
            f"quantity must be a function of the weights; got {type(quantity).__name__}"
        )
    _check_room(ask(net, route="weights"))
    # This call also checks the seed.
    dimension = measure_dimension(net, seed=seed).value
    try:
        return _exact(net, quantity, dimension, seed)
    except _NotRationalError:
        # A mistake in the quantity, rather than a root or a norm in it, shows again in
        # floating point.
        return _float(net, quantity, dimension, seed)


def _check_room(question: Question) -> None:
    """Refuse what takes too long, or more memory than there is."""
    if is_quick(question):
        return
    check_budget(cost_of(question), BUDGET_SECONDS, question.net)
    numbers = 2 * question.columns + question.outline.numbers
    check_memory(f"the derivative of {question.net}", 8 * question.columns * numbers)


# What theory adds


@singledispatch
def orbit_theorem(net: Network) -> str:
    """The theorem by which a generic fibre is one orbit of heads' orders, bases, shifts
    and rescalings; "" where none says so."""
    return ""


@orbit_theorem.register
def _orbit_theorem_of_the_paper(net: Architecture) -> str:
    widths = net.widths
    if net.tokens == 1 or effective_widths(net) != widths:
        return ""
    if net.attention == "softmax":
        return "Theorem B"
    # The rank of A_i is min(d_{i−1}, a_i); the last width has no head after it.
    ranks = [min(sizes) for sizes in zip(widths, net.head_dims, strict=False)]
    # If A_l = u kᵀ and L = h vᵀ have rank one, another class has u and v exchanged,
    # unless a width of 1 makes them parallel.
    has_rank_one_last = net.head_dims[-1] == 1 and widths[-1] == 1
    can_swap = has_rank_one_last and widths[-2] > 1
    if can_swap or 1 in ranks[:-1]:
        return ""
    return "Theorem F"


@singledispatch
def orders_of_heads(net: Network) -> Iterator[np.ndarray]:
    """Orders of the parameters, one for each of some permutations of heads that
    generate all: none, unless somebody registers a function for a kind of network."""
    return iter(())


# Over a prime field


class _NotRationalError(Exception):
    """The elements of the prime field cannot follow a quantity: a root, a comparison, a
    float in it."""


def _exact(
    net: Network, quantity: Quantity, dimension: int, seed: int
) -> Identifiability:
    silent = f"the {num_parameters(net) - dimension} silent directions"
    for prime in _PRIMES:
        moving, values = _at_a_generic_point(net, quantity, dimension, seed, prime)
        if any(value.slope for value in values):
            note = f"its derivative along a random mixture of {silent} is not zero"
            return Identifiability(False, "exact", None, note, seed)
    modulo = " and ".join(map(str, _PRIMES))
    note = (
        f"its derivative along random mixtures of {silent} is zero, at random points "
        f"mod {modulo}"
    )
    theorem = orbit_theorem(net)
    if theorem:
        note += _on_the_whole_fiber(net, quantity, moving, values, theorem)
    return Identifiability(True, "exact", None, note, seed)


def _at_a_generic_point(
    net: Network, quantity: Quantity, dimension: int, seed: int, prime: int
) -> tuple[np.ndarray, list[Dual]]:
    """Parameters that move along a random mixture of the silent directions, and the
    quantity there."""
    over = PrimeField(prime)
    is_generic = False
    for rng in np.random.default_rng([seed, prime, 4]).spawn(_POINTS):
        moving = _along_a_silent_direction(net, over, dimension, rng)
        if moving is None:
            continue  # an unlucky point
        is_generic = True
        try:
            return moving, _entries(quantity(unflatten(net, moving.copy())), prime)
        except ZeroDivisionError:
            continue
        except Exception as error:
            raise _NotRationalError from error
    if is_generic:
        raise ValueError(
            "the quantity is undefined at random weights: it divides by something that"
            " is zero"
        )
    raise ValueError(
        f"none of {_POINTS} random points mod {prime} was generic: try another seed"
    )


def _along_a_silent_direction(
    net: Network, over: PrimeField, dimension: int, rng: Generator
) -> np.ndarray | None:
    """A random point, each parameter with its share of a random mixture of the silent
    directions; None if the point is not generic."""
    columns = num_parameters(net)
    point = random_point(net, over, rng)
    # As many inputs as could be needed, one functional each.
    X = net.random_inputs(over, columns + 2, rng)
    shape = outline(net).output_shape
    cotangents = over.random(rng, (columns + 2, 1, *shape))
    space = RowSpace(over, columns)
    rows = derivative(point, X, rng, cotangents)[:, 0]  # the one functional
    if space.add(rows) < dimension:
        return None
    parameters = flatten(net, point.weights)
    direction = space.orthogonal_vector(rng)
    moving = []
    for value, slope in zip(parameters, direction, strict=True):
        moving.append(Dual.over(over.p)(int(value), int(slope)))
    return np.array(moving, dtype=object)


def _on_the_whole_fiber(
    net: Network,
    quantity: Quantity,
    moving: np.ndarray,
    values: list[Dual],
    theorem: str,
) -> str:
    """What a theorem about fibres makes of a yes."""
    prime = values[0].p
    here = [value.value for value in values]
    but = ""
    for order in orders_of_heads(net):
        there = _entries(quantity(unflatten(net, moving[order])), prime)
        if [value.value for value in there] != here:
            but = ", but for the order of heads, which changes it"
    return f"; all weights with the function are one orbit{but} ({theorem})"


def _entries(quantity: object, prime: int) -> list[Dual]:
    number = Dual.over(prime)
    entries = [number.of(entry) for entry in np.asarray(quantity, dtype=object).ravel()]
    if not entries:
        raise TypeError("no number")  # the floating point says so in words
    return entries


# In floating point


@dataclass(frozen=True)
class _Kernel:
    """A real network, the directions in which its function stands still, and the gap in
    the spectrum above them."""

    weights: dict[str, np.ndarray]
    directions: np.ndarray
    gap: float


def _float(
    net: Network, quantity: Quantity, dimension: int, seed: int
) -> Identifiability:
    kernel = _silent_directions(net, dimension, seed)
    point = flatten(net, kernel.weights)
    size = np.abs(_evaluate(quantity, net, point))
    if not size.size:
        raise ValueError(
            "the quantity must give at least one number; got an empty array"
        )
    # A row for each direction, a column for each number of the quantity.
    coarse, gradient = _slopes(quantity, net, point, np.eye(len(point)))
    _, along = _slopes(quantity, net, point, kernel.directions)

    largest = np.abs(gradient).max(axis=0)
    changes = largest > 0
    # Scaled first: squares of extreme numbers leave the range of floats.
    scale = np.where(changes, largest, 1.0)
    whole = np.linalg.norm(gradient / scale, axis=0)
    # The silent directions are orthonormal: these slopes are the gradient's projection.
    lost = np.linalg.norm(along / scale, axis=0)
    rough = np.linalg.norm((gradient - coarse) / scale, axis=0)
    shares = np.where(changes, lost / np.where(changes, whole, 1.0), 0.0)
    margin = float(np.max(shares))
    said = (
        f"{margin:.1g} of its gradient lies along the {len(kernel.directions)} silent "
        "directions"
    )

    is_flat = largest < _NO_CHANGE * np.maximum(size, 1.0)
    is_drowned = (size > _HUGE) & ~changes
    is_rough = (rough > _ROUGH * whole) & changes
    value = None
    if kernel.gap < DECISIVE_GAP:
        note = (
            f"the spectrum splits by {kernel.gap:.1g} only, so the silent directions "
            "are not known"
        )
    elif (is_flat & changes).any() or is_drowned.any():
        note = (
            "it changes so little with the weights that rounding hides how: multiply "
            "it by a large number"
        )
    elif is_rough.any():
        note = (
            "differences over two steps disagree: it is not smooth here, or hardly "
            "more than rounding"
        )
    elif margin < _ZERO:
        value = True
        note = f"only {said}: as good as nothing, in floating point"
    elif margin > _CLEAR:
        value = False
        note = f"{said}, in floating point"
    else:
        note = f"{said}: too little for a change, too much for rounding"
    return Identifiability(value, "float", margin, note, seed)


def _slopes(
    quantity: Quantity, net: Network, point: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives along directions, roughly and by a five-point formula; shape
    (directions, entries) each."""

    def differences(steps: np.ndarray) -> np.ndarray:
        found = []
        for step in steps:
            after = _evaluate(quantity, net, point + step)
            before = _evaluate(quantity, net, point - step)
            found.append(after - before)
        return np.array(found).reshape(len(steps), -1)

    # f(h) − f(−h) = 2 h f′ + h³ f‴/3 + …, so 8 times that less that of 2 h is 12 h f′
    # without third derivatives.
    near = differences(_STEP * directions)
    far = differences(2 * _STEP * directions)
    return far / (4 * _STEP), (8 * near - far) / (12 * _STEP)


def _silent_directions(net: Network, dimension: int, seed: int) -> _Kernel:
    """At a real network whose Jacobian splits as clearly as we find."""
    columns = num_parameters(net)
    inputs = 2 * rank_by_inputs(net, seed).enough
    best: _Kernel | None = None
    for rng in np.random.default_rng([seed, 5]).spawn(_POINTS):
        weights = {}
        for name, shape in net.parameter_shapes.items():
            weights[name] = Reals().random(rng, shape) / np.sqrt(shape[-1])
        point = Point(net, Reals(), weights, constants_of(net, Reals(), rng))
        X = net.random_inputs(Reals(), inputs, rng)
        J = derivative(point, X, rng, rescales=True).reshape(-1, columns)
        norm = np.linalg.norm(J, axis=1, keepdims=True)
        rows = J / np.where(norm == 0, 1.0, norm)
        # With zeros below there is a right singular vector for each parameter.
        square = np.concatenate([rows, np.zeros((columns, columns))])
        _, sigma, directions = np.linalg.svd(square, full_matrices=False)
        # The first value that is dropped, but at least the rounding.
        below = sigma[0] * np.finfo(float).eps
        if dimension < columns:
            below = max(below, sigma[dimension])
        gap = float(sigma[dimension - 1] / below)
        if best is None or gap > best.gap:
            best = _Kernel(weights, directions[dimension:], gap)
        if gap >= _GENEROUS * DECISIVE_GAP:
            break
    return best


class _Named(dict):
    """Weights that say their names where another one is asked for."""

    def __missing__(self, name: str) -> None:
        raise KeyError(f"no weights {name!r}: the network has {', '.join(self)}")


def _evaluate(quantity: Quantity, net: Network, parameters: np.ndarray) -> np.ndarray:
    # The quantity may write into them.
    given = quantity(_Named(unflatten(net, parameters.copy())))
    try:
        values = np.asarray(given)
    except ValueError as error:
        raise ValueError(
            f"the quantity must give a number or an array of numbers; {error}"
        ) from error
    if values.dtype == object:
        if all(isinstance(value, Number) for value in values.ravel()):
            values = values.astype(float)
    if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise ValueError(
            "the quantity must give finite real numbers at random weights; got "
            f"{values.ravel()[:3].tolist()}"
        )
    return values.ravel().astype(float)
