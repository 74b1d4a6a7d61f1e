"""One checker for every network: are its steps, its slice and its claims right?

A rank is only as good as what a network says of itself. Three things can be wrong
without any error: the derivative of a step that somebody added, a slice that misses
functions, and exponentials that are claimed to be free but are not.
"""

from math import prod

import numpy as np
from numpy.random import Generator, default_rng

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import generic_rank
from neuroviz.rank.exponentials import INDEPENDENT, Exponentials
from neuroviz.rank.field import Field, PrimeField, Reals
from neuroviz.rank.network import Network, constants_of, real_points_of, slice_of
from neuroviz.rank.point import Point, derivative
from neuroviz.rank.tape import Node, Tape

_STEP = 1e-5
_CLOSE = 1e-4  # of a wrong pull nothing is so close; deep networks curve a lot


def check_network(net: Network, seed: int = 0) -> None:
    """Refuse a network that is not what it says; a small one, it takes a moment.

    Raises:
        ValueError: if its derivative is not that of its outputs, its slice has another
            rank, or its exponentials have relations that it does not tell.
    """
    rng = default_rng(seed)
    _check_derivative(net, rng)
    _check_exponentials(net, rng)
    across = slice_of(net)
    if across is not None:
        whole = generic_rank(net, seed).value
        found = generic_rank(across, seed).value
        if whole != found:
            raise ValueError(f"the slice has rank {found}, and the network {whole}")


def _check_derivative(net: Network, rng: Generator) -> None:
    """Along a random direction of the parameters, against differences."""
    weights, X = next(iter(real_points_of(net, 1, rng)))
    constants = constants_of(net, Reals(), rng)
    direction = {name: rng.standard_normal(w.shape) for name, w in weights.items()}

    def moved(by: float) -> np.ndarray:
        there = {name: w + by * direction[name] for name, w in weights.items()}
        output, _ = Point(net, Reals(), there, constants).record(Tape(Reals()), X)
        return output.value.ravel()

    slope = (moved(_STEP) - moved(-_STEP)) / (2 * _STEP)
    J = derivative(Point(net, Reals(), weights, constants), X)[0]
    ours = J @ np.concatenate([direction[name].ravel() for name in weights])
    if not np.allclose(ours, slope, rtol=_CLOSE, atol=_CLOSE * np.abs(slope).max()):
        raise ValueError(
            "the derivative on the tape is not that of the outputs: look at the pulls "
            f"of your own steps; along a random direction {ours[:3]}, but {slope[:3]}"
        )


class _Listening(Tape):
    """A tape that keeps the logits of each softmax, and what was claimed of them."""

    def __init__(self, field: Field, rng: Generator) -> None:
        super().__init__(field, rng)
        self.differences: list[np.ndarray] = []
        self.claimed = 0

    def softmax(
        self,
        logits: Node,
        exponentials: Exponentials = INDEPENDENT,
        mask: np.ndarray | None = None,
    ) -> Node:
        shape = logits.value.shape
        t = shape[-1]
        is_seen = np.ones((t, t), bool) if mask is None else mask
        # A softmax sees the differences s_ji − s_ii only.
        diagonal = np.diagonal(logits.value, axis1=-2, axis2=-1)[..., None, :]
        differences = self.field.reduce(logits.value - diagonal)
        others = is_seen & ~np.eye(t, dtype=bool)
        self.differences.append(differences[..., others].reshape(shape[0], -1))
        self.claimed += prod(shape[1:-2]) * exponentials.count(is_seen)
        return super().softmax(logits, exponentials, mask)


def _check_exponentials(net: Network, rng: Generator) -> None:
    """As many are claimed to be free as there are independent logits, up to constants,
    in all layers together: as functions of weights and inputs."""
    over = PrimeField()
    inputs = 8
    while True:
        tape = _Listening(over, rng)
        weights = {}
        for name, shape in net.parameter_shapes.items():  # other weights for each input
            weights[name] = tape.constant(over.random(rng, (inputs, *shape)))
        for name, constant in constants_of(net, over, rng).items():
            weights[name] = tape.constant(constant.value[None], constant.degree)
        net.record(tape, weights, tape.constant(net.random_inputs(over, inputs, rng)))
        rows = np.concatenate([np.ones((inputs, 1)), *tape.differences], axis=1)
        if inputs > rows.shape[1]:
            break
        inputs = rows.shape[1] + 8
    found = exact_rank(rows, over) - 1
    if found != tape.claimed:
        raise ValueError(
            f"{tape.claimed} exponentials are claimed to be free, but {found} logits "
            "are independent: hand other `Exponentials` to softmax"
        )
