"""Networks whose weights are a tuple with one `Layer` for each layer.

Rooms that look at weights layer by layer keep them so. Others, and all networks with
something in their block, have a dict, named as in `parameter_shapes`, where "1.R" holds
the rotations of layer 1, which are given, not learned. Both go into every function
here.

Tokens are the columns of X; a batch of N inputs has shape (N, d₀, t).
"""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator

from neuroviz.attention import Architecture
from neuroviz.rank import point
from neuroviz.rank import weights as by_names
from neuroviz.rank.field import Field
from neuroviz.rank.network import Constant
from neuroviz.rank.tape import Tape
from neuroviz_beyond.transformers.transformer import Transformer, as_transformer


class Layer(NamedTuple):
    """Q, K of shape (a, d_in) and V of shape (d_out, d_in); A = KᵀQ. Several heads are
    stacked."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


Weights = tuple[Layer, ...]
BlockWeights = dict[str, np.ndarray]
Net = Architecture | Transformer


def layer_shapes(arch: Net) -> list[Layer]:
    """The shapes of Q, K, V, layer by layer.

    >>> layer_shapes(Transformer((4, 3), (2,)))[0].V
    (3, 4)
    >>> layer_shapes(Transformer((4, 3), (2,), heads=5))[0].V
    (5, 3, 4)
    """
    net = as_transformer("layer_shapes", arch)
    found = []
    for H, (d_in, d_out, a) in zip(net.heads, net.layers, strict=True):
        several = () if H == 1 else (H,)
        of_QK = (*several, a, d_in)
        found.append(Layer(of_QK, of_QK, (*several, d_out, d_in)))
    return found


def named(weights: Weights) -> BlockWeights:
    """The same weights as a dict.

    >>> list(named((Layer(np.eye(2), np.eye(2), np.eye(2)),)))
    ['1.Q', '1.K', '1.V']
    """
    found = {}
    for i, layer in enumerate(weights, start=1):
        for name, matrix in layer._asdict().items():
            found[f"{i}.{name}"] = matrix
    return found


def flatten(weights: Weights | BlockWeights) -> np.ndarray:
    """All parameters as one vector: Q₁, K₁, V₁, Q₂, … row by row, the column order of
    `jacobian`."""
    weights = weights if isinstance(weights, dict) else named(weights)
    return np.concatenate([matrix.ravel() for matrix in weights.values()])


def unflatten(arch: Net, parameters: np.ndarray) -> Weights | BlockWeights:
    """The inverse of `flatten`; with a block as `by_name` has it."""
    found = by_name(arch, parameters)
    if not as_transformer("unflatten", arch).block.is_plain:
        return found
    parts = iter(found.values())
    layers = []
    for shapes in layer_shapes(arch):
        layers.append(Layer(*(next(parts).reshape(shape) for shape in shapes)))
    return tuple(layers)


def by_name(arch: Net, parameters: np.ndarray) -> BlockWeights:
    """One vector as a dict, with one axis for the heads.

    Raises:
        ValueError: if the vector does not have one entry for each parameter.
    """
    return by_names.unflatten(as_transformer("by_name", arch), parameters)


def random_block_weights(field: Field, arch: Net, rng: Generator) -> BlockWeights:
    """A random point of parameter space, and the rotations.

    >>> from neuroviz.rank.field import Reals
    >>> from neuroviz_beyond.transformers.block import Block
    >>> net = Transformer((2, 2), (2,), block=Block(rotary=True))
    >>> list(random_block_weights(Reals(), net, np.random.default_rng(0)))
    ['1.Q', '1.K', '1.V', '1.R']
    """
    net = as_transformer("random_block_weights", arch)
    drawn = point.random_point(net, field, rng)
    constants = {name: constant.value for name, constant in drawn.constants.items()}
    return {**drawn.weights, **constants}


def random_weights(field: Field, arch: Net, rng: Generator) -> Weights | BlockWeights:
    """The same point as a tuple of `Layer`s; with a block it is a dict."""
    if not as_transformer("random_weights", arch).block.is_plain:
        return random_block_weights(field, arch, rng)
    layers = []
    for shapes in layer_shapes(arch):
        layers.append(Layer(*(field.random(rng, shape) for shape in shapes)))
    return tuple(layers)


def random_tokens(field: Field, arch: Net, inputs: int, rng: Generator) -> np.ndarray:
    """Random inputs X, of shape (inputs, d₀, t)."""
    return arch.random_inputs(field, inputs, rng)


def forward(
    field: Field,
    arch: Net | str,
    weights: Weights | BlockWeights,
    X: np.ndarray,
    rng: Generator | None = None,
) -> np.ndarray:
    """φ(X), as `Transformer` has it.

    Args:
        arch: a network, or a kind of attention: all sizes are then those of `weights`
            and X.
        X: shape (N, d₀, t); the outputs have the shape (N, d_l, t).
        rng: source of the fresh exponentials; needed for softmax over a prime field
            only.

    >>> from neuroviz.rank.field import Reals
    >>> one = np.eye(2)
    >>> forward(Reals(), "lightning", (Layer(one, one, one),), 2 * one[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    here = _point(field, arch, weights, X)
    output, _ = here.record(Tape(field, rng), X)
    return output.value


def jacobian(
    field: Field,
    arch: Net | str,
    weights: Weights | BlockWeights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: Generator | None = None,
    rescale: bool = False,
) -> np.ndarray:
    """The derivative of `forward` in all weights.

    Args:
        cotangents: shape (N, c, d_l, t): c linear functionals of the output for each
            input. By default every output coordinate, c = d_l·t.
        rescale: over the reals: divide tokens by their norm after each layer, where
            that changes no rank.

    Returns:
        Shape (N, c, number of parameters); columns in the order of `flatten`.
    """
    here = _point(field, arch, weights, X)
    return point.derivative(here, X, rng, cotangents, rescale)


def _point(
    field: Field, arch: Net | str, weights: Weights | BlockWeights, X: np.ndarray
) -> point.Point:
    """The network with these weights, shaped as it wants them."""
    net = _network_of(arch, weights, X) if isinstance(arch, str) else arch
    if getattr(net, "is_plain", False):
        net = net.paper  # the same function, without an axis for one head
    given = weights if isinstance(weights, dict) else named(weights)
    shaped = {}
    for name, shape in net.parameter_shapes.items():
        shaped[name] = np.reshape(given[name], shape)
    constants = {}
    for name, value in given.items():
        if name.endswith(".R"):
            constants[name] = Constant(value, degree=0, theorem="")
    return point.Point(net, field, shaped, constants)


def _network_of(kind: str, weights: Weights, X: np.ndarray) -> Transformer:
    """The network with the shapes of weights and tokens."""
    widths = (X.shape[-2], *(layer.V.shape[-2] for layer in weights))
    head_dims = tuple(layer.Q.shape[-2] for layer in weights)
    heads = tuple(len(layer.Q) if layer.Q.ndim == 3 else 1 for layer in weights)
    return Transformer(widths, head_dims, X.shape[-1], kind, heads)
