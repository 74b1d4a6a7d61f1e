"""The function of a network and its derivative, at given weights.

Weights are a dict, named as in `parameter_shapes`, where "1.R" holds the rotations of
layer 1, which are given, not learned. Those of a network of the paper have the shapes
that `Architecture` gives them, all others one axis more, for the heads.

Tokens are the columns of X; a batch of N inputs has shape (N, d₀, t).
"""

import numpy as np
from numpy.random import Generator

from neuroviz.attention import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.rank import point
from neuroviz.rank import weights as by_names
from neuroviz.rank.field import Field
from neuroviz.rank.network import Constant
from neuroviz.rank.tape import Tape
from neuroviz_beyond.transformers.transformer import (
    Transformer,
    as_transformer,
    in_simplest_form,
)

Weights = dict[str, np.ndarray]
Net = Architecture | Transformer


def unflatten(arch: Net, parameters: np.ndarray) -> Weights:
    """Weights of the vector that `neuroviz.rank.weights.flatten` makes of them.

    Raises:
        ValueError: if the vector does not have one entry for each parameter.
    """
    return by_names.unflatten(in_simplest_form("unflatten", arch), parameters)


def with_heads(arch: Net, weights: Weights) -> Weights:
    """The same weights with an axis for the heads, also where there is one only.

    >>> weights = {"1.Q": np.eye(2), "1.K": np.eye(2), "1.V": np.eye(2)}
    >>> with_heads(Transformer((2, 2), (2,)), weights)["1.Q"].shape
    (1, 2, 2)
    """
    net = as_transformer("with_heads", arch)
    # Both shapes hold the same entries in the same order.
    return by_names.unflatten(net, by_names.flatten(net, weights))


def random_weights(field: Field, arch: Net, rng: Generator) -> Weights:
    """A random point of parameter space, and the rotations.

    >>> from neuroviz.rank.field import Reals
    >>> from neuroviz_beyond.transformers.block import Block
    >>> net = Transformer((2, 2), (2,), block=Block(rotary=True))
    >>> list(random_weights(Reals(), net, np.random.default_rng(0)))
    ['1.Q', '1.K', '1.V', '1.R']
    """
    net = in_simplest_form("random_weights", arch)
    drawn = point.random_point(net, field, rng)
    constants = {name: constant.value for name, constant in drawn.constants.items()}
    return {**drawn.weights, **constants}


def forward(
    field: Field,
    arch: Net | str,
    weights: Weights,
    X: np.ndarray,
) -> np.ndarray:
    """φ(X), as `Transformer` has it.

    Args:
        field: the reals; for lightning a prime field, too.
        arch: a network, or a kind of attention: the network of the paper, with the
            sizes of weights and X.
        X: shape (N, d₀, t); the outputs have the shape (N, d_l, t).

    >>> from neuroviz.rank.field import Reals
    >>> weights = {"1.Q": np.eye(2), "1.K": np.eye(2), "1.V": np.eye(2)}
    >>> forward(Reals(), "lightning", weights, 2 * np.eye(2)[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    here = _point(field, arch, weights, X)
    output, _ = here.record(Tape(field), X)
    return output.value


def jacobian(
    field: Field,
    arch: Net | str,
    weights: Weights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: Generator | None = None,
) -> np.ndarray:
    """The derivative of `forward` in all weights.

    Args:
        cotangents: shape (N, c, d_l, t): c linear functionals of the output for each
            input. By default every output coordinate, c = d_l·t.
        rng: source of the free exponentials; needed for softmax over a prime field
            only.

    Returns:
        Shape (N, c, number of parameters); columns in the order of
        `neuroviz.rank.weights.flatten`.
    """
    here = _point(field, arch, weights, X)
    return point.derivative(here, X, rng, cotangents)


def _point(
    field: Field, arch: Net | str, weights: Weights, X: np.ndarray
) -> point.Point:
    """The network with these weights, shaped as it wants them."""
    if isinstance(arch, str):
        net = _network_of(arch, weights, X)
    else:
        net = in_simplest_form("forward", arch)
    shaped = {}
    for name, shape in net.parameter_shapes.items():
        shaped[name] = np.reshape(weights[name], shape)
    constants = {}
    for name, value in weights.items():
        if name.endswith(".R"):
            # Degree and theorem are about random points, and this point is given.
            constants[name] = Constant(value, degree=0, theorem="")
    return point.Point(net, field, shaped, constants)


def _network_of(attention: str, weights: Weights, X: np.ndarray) -> Architecture:
    """The network with the shapes of weights and tokens."""
    layers = by_layer(weights)
    # V is d_i × d_{i−1}, and Q a_i × d_{i−1}.
    widths = (X.shape[-2], *(len(layer["V"]) for layer in layers))
    head_dims = tuple(len(layer["Q"]) for layer in layers)
    return Architecture(widths, head_dims, X.shape[-1], attention)
