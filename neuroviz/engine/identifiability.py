"""Can this quantity be recovered from the function?

A quantity, such as the trace of A₁, is locally determined by the function that a
network computes exactly when no silent direction changes it: its gradient lies in the
row space of the Jacobian. Rational quantities are decided over a prime field, the
others in floats.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from numbers import Number

import numpy as np

from neuroviz.attention.formulas import effective_widths
from neuroviz.engine import network
from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block_formulas import speaks_of_fibres
from neuroviz.engine.cost import BUDGET_SECONDS, check_budget, estimate_cost, is_quick
from neuroviz.engine.measure import measure_dimension, rank_by_inputs
from neuroviz.engine.network import (
    Weights,
    by_name,
    can_be_rescaled,
    flatten,
    jacobian,
    random_tokens,
    unflatten,
)
from neuroviz.engine.random_rank import numbers_in_between
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.rank.floats import DECISIVE_GAP
from neuroviz.rank.memory import check_memory
from neuroviz.rank.rows import RowSpace

# a float with a larger denominator, such as 0.1, was rounded: it is not exact
_EXACT_DENOMINATOR = 2**20
_POINTS = 8  # random points tried before giving up
_STEP = 1e-3  # step of the finite differences, for weights of size 1
_GENEROUS = 1e3  # a gap this many times the decisive one needs no better point
_NO_CHANGE = 1e-10  # a gradient below this, for a quantity of size 1, may be rounding
_HUGE = 1e6  # beside a number of this size a change may be rounded away altogether
# most relative distance of the rough and the five-point difference, if smooth
_ROUGH = 1e-2
# a share of the gradient is none below the first, and some above the second
_ZERO, _CLEAR = 1e-8, 1e-3


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


def is_identifiable(
    arch: Architecture, quantity: Callable[[Weights], object], seed: int = 0
) -> Identifiability:
    """Whether the network's function locally determines a quantity of its weights.

    exact   A rational function of the weights (+ − · / ** and numpy's sum, trace, @,
            …): differentiated over F_p along a random silent direction. A derivative
            that is not zero shows that it is not identifiable; zero shows that it is,
            but for a chance of about degree/p.
    float   Anything else that is differentiable (a norm, a singular value): central
            differences at a random real network, and the share of the gradient along
            those directions.

    "Locally": among the weights near almost every point. Where Theorem B, F or H says
    that all weights with the function are one orbit, an exact yes holds for all of
    them, or up to the order of the heads; the note says so.

    Args:
        arch: any `Architecture` without rotary or learned positions and MLPs.
        quantity: weights → number or array of numbers; an array stands for all its
            entries. Weights are a tuple with one `Layer` (fields Q, K, V, several heads
            stacked) for each layer; with a block a dict, named as in
            `Architecture.parameter_shapes`.
        seed: a whole number ≥ 0.

    Raises:
        ValueError: if the quantity is no function, is undefined at random weights, or
            returns something else than numbers; or if it would take more than 600
            seconds, or more memory than there is.

    >>> arch = Architecture((3, 3), (2,))
    >>> A = lambda weights: weights[0].K.T @ weights[0].Q
    >>> is_identifiable(arch, lambda weights: np.trace(A(weights))).value
    False
    >>> is_identifiable(arch, lambda weights: A(weights)[0, 1] / A(weights)[0, 0]).value
    True
    """
    check_architecture("is_identifiable", arch, variants=True)
    if arch.block.rotary or arch.block.positions or arch.block.mlp:
        raise ValueError(
            "is_identifiable does not know rotary or learned positions and MLPs; got"
            f" {arch}"
        )
    if not callable(quantity):
        raise ValueError(
            f"quantity must be a function of the weights; got {type(quantity).__name__}"
        )
    columns = arch.num_parameters
    if not is_quick(arch, columns):
        check_budget(estimate_cost(arch, route="weights"), BUDGET_SECONDS, arch)
        check_memory(
            f"the derivative of {arch}",
            8 * columns * (2 * columns + numbers_in_between(arch)),
        )
    # this call also checks the seed
    dimension = measure_dimension(arch, seed=seed).value
    try:
        return _exact(arch, quantity, dimension, seed)
    except _NotRationalError:
        # A mistake in the quantity, rather than a root or a norm in it, shows again in
        # floating point.
        return _float(arch, quantity, dimension, seed)


def orbit_theorem(arch: Architecture) -> str:
    """The theorem by which a generic fibre is one orbit of heads' orders, bases, shifts
    and rescalings.

    "" where none says so, and where heads share keys and values of full rank: there
    they may change groups.
    """
    d, a, block = arch.widths, arch.head_dims, arch.block
    if arch.tokens == 1:
        return ""
    if arch.attention == "softmax":
        if (
            set(arch.heads) == {1}
            and not arch.skip
            and block.is_plain
            and effective_widths(arch) == d
        ):
            return "Theorem H" if arch.causal else "Theorem B"
        G, v = block.kv_heads, block.value_dim
        told = G in (None, 1) or all(
            H == G or head_dim < d_in or v < min(H // G * d_out, d_in)
            for H, (d_in, d_out, head_dim) in zip(arch.heads, arch.layers, strict=True)
        )
        return "Theorem H" if told and speaks_of_fibres(arch) else ""
    if (
        arch.skip
        and not arch.causal
        and block.is_plain
        and set(arch.heads) == {1}
        and min(d[0], *a) > 1
    ):
        return "Theorem L"
    if not arch.is_plain or effective_widths(arch) != d:
        return ""
    ranks = [min(pair) for pair in zip(d, a, strict=False)]
    swaps = a[-1] == d[-1] == 1 < d[-2]
    return "" if swaps or min(ranks[:-1], default=2) < 2 else "Theorem F"


def _shuffles(arch: Architecture) -> Iterator[np.ndarray]:
    """Orders of the parameters, one for each of some permutations of heads that
    generate all."""
    places = by_name(arch, np.arange(arch.num_parameters))
    for i, H in enumerate(arch.heads, start=1):
        G = arch.block.kv_heads or H
        heads = np.arange(H).reshape(G, -1)
        swaps = [(order, heads[order].ravel()) for order in _neighbours(G, G)]
        swaps += [(np.arange(G), order) for order in _neighbours(H // G, H)]
        for groups, order in swaps:
            moved = {f"{i}.{name}": groups for name in "KVkv"} | {
                f"{i}.{n}": order for n in "QOq"
            }
            moved[f"{i}.beta"] = order
            yield flatten(
                {name: at[moved.get(name, slice(None))] for name, at in places.items()}
            )


def _neighbours(count: int, among: int) -> Iterator[np.ndarray]:
    """Two neighbours of the first `count` change places."""
    for k in range(1, count):
        order = np.arange(among)
        order[[k - 1, k]] = k, k - 1
        yield order


def _exact(
    arch: Architecture, quantity: Callable, dimension: int, seed: int
) -> Identifiability:
    over = PrimeField(DEFAULT_PRIME)
    points = 0
    complete = 0
    columns = arch.num_parameters
    silent = f"the {columns - dimension} silent directions"
    for rng in np.random.default_rng([seed, over.p, 4]).spawn(_POINTS):
        weights = network.random_weights(over, arch, rng)
        # as many as could be needed, one functional each
        X = random_tokens(over, arch, columns + 2, rng)
        cotangents = over.random(rng, (columns + 2, 1, arch.widths[-1], arch.tokens))
        space = RowSpace(over, columns)
        if (
            space.add(jacobian(over, arch, weights, X, cotangents, rng)[:, 0])
            < dimension
        ):
            continue  # an unlucky point
        complete += 1
        pairs = zip(flatten(weights), space.orthogonal_vector(rng), strict=True)
        moving = np.array(
            [Dual(int(value), int(slope)) for value, slope in pairs], dtype=object
        )
        try:
            values = np.asarray(
                quantity(unflatten(arch, moving.copy())), dtype=object
            ).ravel()
            slopes = [Dual.of(value).slope for value in values]
        except ZeroDivisionError:
            continue
        except Exception as error:
            raise _NotRationalError from error
        if any(slopes):
            note = f"its derivative along a random mixture of {silent} is not zero"
            return Identifiability(False, "exact", None, note, seed)
        points += 1
        if points == 2:
            note = (
                f"its derivative along random mixtures of {silent} is zero, at two"
                " random points"
            )
            note = f"{note} mod {over.p}"
            if theorem := orbit_theorem(arch):
                orders = (
                    quantity(unflatten(arch, moving[order]))
                    for order in _shuffles(arch)
                )
                same = all(_values(each) == _values(values) for each in orders)
                but = "" if same else ", but for the order of heads, which changes it"
                note = (
                    f"{note}; all weights with the function are one orbit{but}"
                    f" ({theorem})"
                )
            return Identifiability(True, "exact", None, note, seed)
    if complete < 2:
        raise ValueError(
            f"fewer than two of {_POINTS} random points mod {over.p} were generic: try"
            " another seed"
        )
    raise ValueError(
        "the quantity is undefined at random weights: it divides by something that is"
        " zero"
    )


def _values(quantity: object) -> list[int]:
    """A quantity at a point, without its derivative."""
    return [
        Dual.of(value).value for value in np.asarray(quantity, dtype=object).ravel()
    ]


class _NotRationalError(Exception):
    """The elements of the prime field cannot follow a quantity: a root, a comparison, a
    float in it."""


def _float(
    arch: Architecture, quantity: Callable, dimension: int, seed: int
) -> Identifiability:
    weights, silent, gap = _silent_directions(arch, dimension, seed)
    point = flatten(weights)
    size = np.abs(_evaluate(quantity, arch, point))
    if not size.size:
        raise ValueError(
            "the quantity must give at least one number; got an empty array"
        )
    coarse, gradient = _slopes(quantity, arch, point, np.eye(len(point)))
    _, along = _slopes(quantity, arch, point, silent)

    largest = np.abs(gradient).max(axis=0)
    changes = largest > 0
    # first: squares of extreme numbers leave the float range
    scale = np.where(changes, largest, 1.0)
    slopes = gradient, along, gradient - coarse
    whole, lost, rough = (np.linalg.norm(each / scale, axis=0) for each in slopes)
    margin = float(np.max(np.where(changes, lost / np.where(changes, whole, 1.0), 0.0)))
    share = (
        f"{margin:.1g} of its gradient lies along the {len(silent)} silent directions"
    )
    value = None
    if gap < DECISIVE_GAP:
        note = (
            f"the spectrum splits by {gap:.1g} only, so the silent directions are not"
            " known"
        )
    elif (largest < _NO_CHANGE * np.maximum(size, 1.0))[changes].any() or (
        size > _HUGE
    )[~changes].any():
        note = (
            "it changes so little with the weights that rounding hides how: multiply it"
            " by a large number"
        )
    elif (rough > _ROUGH * whole)[changes].any():
        note = (
            "differences over two steps disagree: it is not smooth here, or hardly more"
            " than rounding"
        )
    elif margin < _ZERO:
        value, note = True, f"only {share}: as good as nothing, in floating point"
    elif margin > _CLEAR:
        value, note = False, f"{share}, in floating point"
    else:
        note = f"{share}: too little for a change, too much for rounding"
    return Identifiability(value, "float", margin, note, seed)


def _slopes(
    quantity: Callable, arch: Architecture, point: np.ndarray, directions: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Derivatives along directions, roughly and by a five-point formula; shape
    (directions, entries) each."""

    def difference(step: np.ndarray) -> np.ndarray:
        return _evaluate(quantity, arch, point + step) - _evaluate(
            quantity, arch, point - step
        )

    steps = _STEP * directions, 2 * _STEP * directions
    near, far = (
        np.array([*map(difference, many)]).reshape(len(many), -1) for many in steps
    )
    return far / (4 * _STEP), (8 * near - far) / (12 * _STEP)


def _silent_directions(
    arch: Architecture, dimension: int, seed: int
) -> tuple[Weights, np.ndarray, float]:
    """A real network whose Jacobian splits as clearly as we find, its kernel, and the
    gap above it."""
    best: tuple[Weights, np.ndarray, float] | None = None
    columns, inputs = arch.num_parameters, 2 * rank_by_inputs(arch, seed).enough
    scale = np.concatenate(
        [np.full(prod(s), np.sqrt(s[-1])) for s in arch.parameter_shapes.values()]
    )
    for rng in np.random.default_rng([seed, 5]).spawn(_POINTS):
        drawn = network.random_weights(Reals(), arch, rng)
        weights = unflatten(arch, flatten(drawn) / scale)
        X = random_tokens(Reals(), arch, inputs, rng)
        J = jacobian(Reals(), arch, weights, X, rescale=can_be_rescaled(arch))
        J = J.reshape(-1, columns)
        norm = np.linalg.norm(J, axis=1, keepdims=True)
        J = np.concatenate(
            [J / np.where(norm == 0, 1.0, norm), np.zeros((columns, columns))]
        )
        _, sigma, directions = np.linalg.svd(J, full_matrices=False)
        rounding = sigma[0] * np.finfo(float).eps
        gap = float(
            sigma[dimension - 1] / max(rounding, *sigma[dimension : dimension + 1])
        )
        if best is None or gap > best[2]:
            best = weights, directions[dimension:], gap
        if gap >= _GENEROUS * DECISIVE_GAP:
            break
    return best


def _evaluate(
    quantity: Callable, arch: Architecture, parameters: np.ndarray
) -> np.ndarray:
    # it may write into its argument
    values = np.asarray(quantity(unflatten(arch, parameters.copy())))
    if values.dtype == object and all(
        isinstance(value, Number) for value in values.ravel()
    ):
        values = values.astype(float)
    if values.dtype.kind not in "fiu" or not np.isfinite(values).all():
        raise ValueError(
            "the quantity must give finite real numbers at random weights; got"
            f" {values.ravel()[:3].tolist()}"
        )
    return values.ravel().astype(float)


def _operation(rule: Callable[["Dual", "Dual"], "Dual"]) -> Callable:
    def apply(self: "Dual", other: object) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy then asks entry by entry
        return rule(self, self.of(other))

    return apply


class Dual:
    """value + slope·ε over F_p, with ε² = 0: arithmetic that differentiates rational
    functions exactly.

    Whatever is not rational (a root, a comparison, a conversion to float) raises a
    TypeError. Numbers on the other side of an operation are constants; a rounded float,
    such as 0.1, is none of F_p.

    >>> square = Dual(3, 1) ** 2
    >>> square.value, square.slope
    (9, 6)
    """

    __slots__ = ("value", "slope")
    __hash__ = None
    p = DEFAULT_PRIME

    def __init__(self, value: int, slope: int = 0) -> None:
        self.value, self.slope = value % self.p, slope % self.p

    @classmethod
    def of(cls, number: object) -> "Dual":
        """A number as a constant, and a `Dual` as it is; an error for others, and for
        rounded floats.

        >>> (Dual.of(Fraction(2, 3)) * 3).value
        2
        """
        if isinstance(number, Dual):
            return number
        number = number.item() if isinstance(number, np.generic) else number
        if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
            raise TypeError(f"{number!r} is not a rational number")
        exactly = Fraction(number)
        if isinstance(number, float) and exactly.denominator > _EXACT_DENOMINATOR:
            raise TypeError(f"{number!r} was rounded")
        return cls(exactly.numerator * pow(exactly.denominator, -1, cls.p))

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> "Dual":
        return self

    def __pow__(self, exponent: object) -> "Dual":
        if isinstance(exponent, (float, np.floating)) and float(exponent).is_integer():
            exponent = int(exponent)
        if isinstance(exponent, (bool, np.bool_)) or not isinstance(
            exponent, (int, np.integer)
        ):
            raise TypeError("only whole powers are rational functions")
        if exponent == 0:
            return Dual(1)
        if exponent < 0 and not self.value:
            raise ZeroDivisionError("division by zero")
        power = pow(self.value, int(exponent) - 1, self.p)
        return Dual(power * self.value, int(exponent) * power * self.slope)

    __add__ = __radd__ = _operation(
        lambda x, y: Dual(x.value + y.value, x.slope + y.slope)
    )
    __mul__ = __rmul__ = _operation(
        lambda x, y: Dual(x.value * y.value, x.value * y.slope + x.slope * y.value)
    )
    __sub__, __rsub__ = _operation(lambda x, y: x + -y), _operation(lambda x, y: y + -x)
    __truediv__ = _operation(lambda x, y: x * y**-1)
    __rtruediv__ = _operation(lambda x, y: y * x**-1)

    def conjugate(self) -> "Dual":
        """Of a real number: itself."""
        return self

    def _not_rational(self, *_: object) -> bool:
        raise TypeError(
            "comparing weights, or asking for their sign, is not a rational function"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = (
        __abs__
    ) = _not_rational
