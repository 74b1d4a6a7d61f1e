"""One checker for every network: are its steps, its slice and its claims right?

A rank is only as good as what a network says of itself. These can be wrong without any
error: a `record` that looks at numbers, a parameter that it forgets, a constant that is
no whole number, the derivative or the degree of a step that somebody added, tokens that
are rescaled although the output is not homogeneous in them, exponentials that are
claimed to be free but are not, a slice that misses functions, and a network that is
said to be more general but is not.
"""

from math import comb, prod

import numpy as np
from numpy.random import Generator, default_rng

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import generic_rank
from neuroviz.rank.exponentials import INDEPENDENT, Exponentials, own_shares
from neuroviz.rank.field import Field, PrimeField, Reals, check_residues
from neuroviz.rank.network import (
    Network,
    constants_of,
    real_points_of,
    relaxed_of,
    slice_of,
)
from neuroviz.rank.outline import outline
from neuroviz.rank.point import Point, derivative, num_parameters, random_point
from neuroviz.rank.question import check_members
from neuroviz.rank.tape import Node, Tape
from neuroviz.rank.weights import flatten

# Rounding leaves ε/h = 2·10⁻¹¹ of a slope; a longer step meets kinks more often.
_STEP = 1e-5
_CLOSE = 1e-4  # a wrong pull never gives a slope as close as this
# If half of all numbers meet a condition, eight random points all agree on it with a
# chance of 1 in 128.
_POINTS = 8
_MOST_DEGREE = 200  # which takes as many recordings and two: some tenths of a second


def check_network(net: Network, seed: int = 0) -> None:
    """Refuse a network that is not what it says; for a small one it takes a moment.

    A network that passes may still be wrong at sizes that were not checked: take some
    small ones of each kind. Degrees are checked up to 200, as six layers may have.

    Raises:
        ValueError: if the outputs do not depend on a parameter, or on the inputs; if it
            has other steps at another point, or values that are no residues modulo a
            prime; if its outputs are no polynomials of the degree that the tape counts,
            as where it computes a constant from numbers; if its derivative is not that
            of its outputs, or these are not homogeneous in what it calls `up_to_scale`;
            if its exponentials have relations that it does not tell; or if its slice or
            the more general network has a rank that it cannot have.

    >>> from neuroviz.attention import Architecture
    >>> check_network(Architecture((3, 3), (2,), attention="softmax"))
    """
    check_members(net)
    num_parameters(net)
    outline(net)  # says what is wrong with shapes
    rng = default_rng(seed)
    _check_uses(net, rng)
    _check_steps(net, rng)
    _check_degree(net, rng)
    _check_derivative(net, rng)
    _check_scales(net, rng)
    _check_exponentials(net, rng)
    rank = generic_rank(net, seed).value
    across = slice_of(net)
    if across is not None:
        found = generic_rank(across, seed).value
        if found != rank:
            raise ValueError(f"the slice has rank {found}, and the network {rank}")
    above = relaxed_of(net)
    if above is not None:
        found = generic_rank(above, seed).value
        if found < rank:
            raise ValueError(
                f"the network that is said to be more general has rank {found}, and "
                f"this one {rank}"
            )


def _check_uses(net: Network, rng: Generator) -> None:
    """From each parameter, and from the inputs, steps lead to the outputs."""
    over = PrimeField()
    tape = Tape(over, rng)
    point = random_point(net, over, rng)
    result, parameters = point.record(tape, net.random_inputs(over, 1, rng))
    inputs = tape.nodes[len(parameters) + len(point.constants)]  # they come after both
    used = {result}
    for node in reversed(tape.nodes):
        if node in used:
            used.update(source.node for source in node.sources)
    unused = []
    for name, node in zip(net.parameter_shapes, parameters, strict=True):
        if node not in used:
            unused.append(f"{name!r} of shape {net.parameter_shapes[name]}")
    if unused:
        raise ValueError(
            f"`record` returns what does not depend on {', '.join(unused)}: use it, or "
            "leave it out of parameter_shapes"
        )
    if inputs not in used:
        raise ValueError(
            "`record` returns what does not depend on the inputs: return the last step"
        )


def _check_steps(net: Network, rng: Generator) -> None:
    """At random points and where all parameters are 0; modulo a prime all values are
    residues."""
    over = PrimeField()
    points = [random_point(net, over, rng) for _ in range(_POINTS)]
    # A condition on numbers that holds at random points fails at zeros, most likely.
    zeros = {name: np.zeros(shape) for name, shape in net.parameter_shapes.items()}
    points.append(Point(net, over, zeros, constants_of(net, over, rng)))
    seen = []
    for point in points:
        tape = Tape(over, rng)
        point.record(tape, net.random_inputs(over, 2, rng))
        seen.append([node.value.shape for node in tape.nodes])
        for node in tape.nodes:
            check_residues(over, node.value)
    if any(shapes != seen[0] for shapes in seen):
        raise ValueError(
            "`record` takes other steps at another point: it must not look at numbers"
        )


def _check_degree(net: Network, rng: Generator) -> None:
    """Along a line of weights and inputs the outputs are polynomials of the degree that
    the tape counted: their differences of the next order vanish.

    With the same seed all free exponentials are the same at each place.
    """
    over = PrimeField()
    seed = int(rng.integers(2**32))
    start = random_point(net, over, rng)
    X = net.random_inputs(over, 1, rng)
    way = random_point(net, over, rng).weights
    way_of_inputs = net.random_inputs(over, 1, rng)

    def output_at(place: int) -> Node:
        weights = {}
        for name, weight in start.weights.items():
            weights[name] = over.reduce(weight + place * way[name])
        point = Point(net, over, weights, start.constants)
        tape = Tape(over, default_rng(seed))
        output, _ = point.record(tape, over.reduce(X + place * way_of_inputs))
        return output

    first = output_at(0)
    if first.degree > _MOST_DEGREE:
        return
    order = first.degree + 1
    difference = first.value
    for place in range(1, order + 1):
        factor = (-1) ** place * comb(order, place) % over.p
        term = over.times(over.reduce(np.array(float(factor))), output_at(place).value)
        difference = over.add(difference, term)
    if difference.any():
        raise ValueError(
            f"the outputs are no polynomials of degree {first.degree} in weights and "
            "inputs, as the tape counts it: a constant or a step of yours is computed "
            "from numbers, as ReLU is, or a step of yours has a higher degree than it "
            "says; what is no polynomial has no exact rank"
        )


def _check_derivative(net: Network, rng: Generator) -> None:
    """Along a random direction of the parameters, against differences."""
    weights, X = next(iter(real_points_of(net, 1, rng)))
    constants = constants_of(net, Reals(), rng)
    direction = {name: rng.standard_normal(w.shape) for name, w in weights.items()}

    def moved(by: float) -> np.ndarray:
        there = {name: w + by * direction[name] for name, w in weights.items()}
        output, _ = Point(net, Reals(), there, constants).record(Tape(Reals()), X)
        return output.value.ravel()

    def difference(step: float) -> np.ndarray:
        return (moved(step) - moved(-step)) / (2 * step)

    # Richardson's combination: networks near a zero curve a lot.
    slope = (4 * difference(_STEP) - difference(2 * _STEP)) / 3
    J = derivative(Point(net, Reals(), weights, constants), X)[0]
    ours = J @ flatten(net, direction)
    if not np.allclose(ours, slope, rtol=_CLOSE, atol=_CLOSE * np.abs(slope).max()):
        raise ValueError(
            "the derivative on the tape is not that of the outputs: look at the pulls "
            f"of your own steps; along a random direction {ours[:3]}, but {slope[:3]}"
        )


def _check_scales(net: Network, rng: Generator) -> None:
    """Rescaled on the way, all rows of an input are multiplied by one number."""
    weights, X = next(iter(real_points_of(net, 3, rng)))
    point = Point(net, Reals(), weights, constants_of(net, Reals(), rng))
    for plain, rescaled in zip(
        derivative(point, X), derivative(point, X, rescales=True), strict=True
    ):
        # plain / plain[place] = rescaled / rescaled[place], without a division by zero.
        place = np.unravel_index(np.abs(plain).argmax(), plain.shape)
        left = plain * rescaled[place]
        right = rescaled * plain[place]
        if not np.allclose(left, right, rtol=_CLOSE, atol=_CLOSE * np.abs(left).max()):
            raise ValueError(
                "the outputs are not homogeneous in what is recorded `up_to_scale`: "
                "leave that step out"
            )


class _Listening(Tape):
    """A tape that keeps, of each softmax, the logits and what was claimed of them."""

    def __init__(self, field: Field, rng: Generator) -> None:
        super().__init__(field, rng)
        self.differences: list[np.ndarray] = []  # (inputs, differences of logits)
        self.claimed: list[int] = []

    def softmax(
        self,
        logits: Node,
        exponentials: Exponentials = INDEPENDENT,
        mask: np.ndarray | None = None,
    ) -> Node:
        shape = logits.value.shape
        is_seen = np.ones(shape[-2:], bool) if mask is None else mask
        # A softmax sees the differences s_ji − s_ii only, where s_ii itself gives none.
        j, i = own_shares(*shape[-2:])
        own = logits.value[..., j, i][..., None, :]
        differences = self.field.reduce(logits.value - own)
        others = is_seen.copy()
        others[j, i] = False
        self.differences.append(differences[..., others].reshape(shape[0], -1))
        # Axes between the inputs and the rows hold tables of their own, such as heads.
        self.claimed.append(prod(shape[1:-2]) * exponentials.count(is_seen))
        return super().softmax(logits, exponentials, mask)


def _check_exponentials(net: Network, rng: Generator) -> None:
    """As many are claimed to be free as there are independent logits, up to constants,
    in all layers and on two inputs together: as functions of weights and inputs."""
    over = PrimeField()
    usual = _Listening(over, rng)
    random_point(net, over, rng).record(usual, net.random_inputs(over, 2, rng))
    # Logits of parameters alone are the same for all inputs, and drawn once.
    inputs_of_each = [len(found) for found in usual.differences]
    claimed = 0
    width = 1
    for found, count in zip(usual.differences, usual.claimed, strict=True):
        claimed += len(found) * count
        width += found.size
    samples = width + 8

    # Functions are independent if their values are, at enough random samples: a row for
    # each sample of weights and two inputs, a column for each difference. A column of
    # ones makes it "up to constants".
    tape = _Listening(over, rng)
    weights = {}
    for name, shape in net.parameter_shapes.items():
        # Inputs 2n and 2n + 1 are those of sample n, and have the same weights.
        drawn = over.random(rng, (samples, *shape))
        weights[name] = tape.constant(np.repeat(drawn, 2, axis=0))
    for name, constant in constants_of(net, over, rng).items():
        weights[name] = tape.constant(constant.value[None], constant.degree)
    X = net.random_inputs(over, 2 * samples, rng)
    net.record(tape, weights, tape.constant(X))
    columns = [np.ones((samples, 1))]
    for found, inputs in zip(tape.differences, inputs_of_each, strict=True):
        of_two = found.reshape(samples, 2, -1)
        columns.append(of_two[:, :inputs].reshape(samples, -1))
    independent = exact_rank(np.concatenate(columns, axis=1), over) - 1
    if independent != claimed:
        raise ValueError(
            f"{claimed} exponentials are claimed to be free on two inputs, but "
            f"{independent} logits are independent: hand other `Exponentials` to "
            "softmax, or leave out logits that are the same for all inputs"
        )
