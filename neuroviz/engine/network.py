"""Deep attention networks without a block, over any field: weights layer by layer, outputs, derivative.

Tokens are the columns of X. A batch of N inputs has shape (N, d₀, t). `neuroviz.engine.block_network`
computes: over `Reals` the spectrum that people look at, over `PrimeField` the exact rank.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block_network import BlockWeights, block_forward, block_jacobian
from neuroviz.engine.field import Field, Reals
from neuroviz.engine.rotary import random_rotations


class Layer(NamedTuple):
    """Q, K of shape (a, d_in) and V of shape (d_out, d_in); A = KᵀQ. Several heads are stacked."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


Weights = tuple[Layer, ...]


def layer_shapes(arch: Architecture) -> list[Layer]:
    """The shapes of Q, K, V, layer by layer.

    >>> layer_shapes(Architecture((4, 3), (2,)))[0].V
    (3, 4)
    >>> layer_shapes(Architecture((4, 3), (2,), heads=5))[0].V
    (5, 3, 4)
    """
    several = [() if H == 1 else (H,) for H in arch.heads]
    return [
        Layer((*H, a, d_in), (*H, a, d_in), (*H, d_out, d_in))
        for H, (d_in, d_out, a) in zip(several, arch.layers, strict=True)
    ]


def named(weights: Weights) -> BlockWeights:
    """The same weights as a dict, named as in `Architecture.parameter_shapes`.

    >>> list(named((Layer(np.eye(2), np.eye(2), np.eye(2)),)))
    ['1.Q', '1.K', '1.V']
    """
    return {f"{i}.{name}": M for i, layer in enumerate(weights, 1) for name, M in layer._asdict().items()}


def random_weights(field: Field, arch: Architecture, rng: np.random.Generator) -> Weights:
    """A random point of parameter space."""
    return tuple(Layer(*(field.random(rng, shape) for shape in shapes)) for shapes in layer_shapes(arch))


def random_tokens(field: Field, arch: Architecture, inputs: int, rng: np.random.Generator) -> np.ndarray:
    """Random inputs X, of shape (inputs, d₀, t)."""
    return field.random(rng, (inputs, arch.widths[0], arch.tokens))


# How the float spectrum is made readable (docs/mathematics.md, "Floating point"): each token mostly
# attends to itself, so that no layer makes the tokens parallel and nothing fades from layer to layer.
_HEAD_NOISE = 0.3  # K = Q + noise: A = KᵀQ nearly positive semidefinite
_SOFTMAX_SHARPNESS = 12.0  # multiplies A
_SHARPNESS_ON_A_LINE = 6.0  # there a token cannot attend to itself alone, and more would saturate
_BESIDE_A_SKIP = 0.7  # multiplies V: I + V must be invertible, and an isometry may have the eigenvalue −1
_TOKEN_NOISE = 0.4  # tokens: orthonormal as far as they can be, plus noise, then of length near 1


def conditioned_weights(arch: Architecture, rng: np.random.Generator) -> Weights:
    """A random float64 point at which the Jacobian's spectrum is as readable as we know how to make it.

    Q with orthonormal rows (or columns), K = Q + noise, V with orthonormal rows (or columns).
    """
    layers = []
    for i, (H, (d_in, d_out, a)) in enumerate(zip(arch.heads, arch.layers, strict=True)):
        sharpness = 1.0
        if arch.attention == "softmax":
            sharpness = _SHARPNESS_ON_A_LINE if min(arch.widths[: i + 1]) == 1 else _SOFTMAX_SHARPNESS
        heads = []
        for _ in range(H):
            Q = _orthonormal(rng, a, d_in)
            K = Q + _HEAD_NOISE * rng.standard_normal((a, d_in)) / np.sqrt(d_in)
            V = (_BESIDE_A_SKIP if arch.skip else 1.0) * _orthonormal(rng, d_out, d_in)
            heads.append((np.sqrt(sharpness) * Q, np.sqrt(sharpness) * K, V))
        layers.append(Layer(*(heads[0] if H == 1 else map(np.stack, zip(*heads, strict=True)))))
    return tuple(layers)


def conditioned_block_weights(arch: Architecture, rng: np.random.Generator) -> BlockWeights:
    """The same for any block: matrices near isometries, Q and K of a head near each other, small biases."""
    weights: BlockWeights = {}
    for name, shape in arch.parameter_shapes.items():
        kind = name.split(".")[-1]
        if kind in ("P", "q", "k", "v", "o"):
            weights[name] = 0.3 * rng.standard_normal(shape)
        elif kind == "beta":
            weights[name] = rng.uniform(0.8, 1.25, shape)
        elif kind == "K":
            Q = weights[f"{name[:-1]}Q"]  # of several queries that share a key, the first
            weights[name] = Q[:: len(Q) // shape[0]] + 0.3 * rng.standard_normal(shape) / np.sqrt(shape[-1])
        else:
            several = (1, *shape) if len(shape) == 2 else shape
            drawn = np.stack([_near_isometry(rng, *several[1:]) for _ in range(several[0])])
            sharp = 2.0 if kind == "Q" and arch.attention == "softmax" else 1.0
            if kind == "V" and arch.skip:
                sharp = _BESIDE_A_SKIP
            weights[name] = sharp * drawn.reshape(shape)
    return weights | random_rotations(Reals(), arch, rng)


def conditioned_tokens(arch: Architecture, inputs: int, rng: np.random.Generator) -> np.ndarray:
    """Random tokens of length near 1, as orthogonal to each other as noise and d₀ allow; (inputs, d₀, t)."""
    d, t = arch.widths[0], arch.tokens
    X = np.stack([_orthonormal(rng, d, t) for _ in range(inputs)])
    X = X + _TOKEN_NOISE * rng.standard_normal(X.shape) / np.sqrt(d)
    # On a line, unit tokens would be ±1 only: there the lengths must do all the varying.
    spread = 0.7 if d == 1 else 0.2
    lengths = 1 + spread * rng.uniform(-1, 1, (inputs, 1, t))
    return lengths * X / np.linalg.norm(X, axis=1, keepdims=True)


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Orthonormal rows or columns, whichever are fewer."""
    q, _ = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    return q if rows >= columns else q.T


def _near_isometry(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Lengths are kept up to a fourth, so that no two of them are the same up to sign."""
    q = _orthonormal(rng, rows, columns)
    lengths = rng.uniform(0.8, 1.25, min(rows, columns))
    return q * lengths if rows >= columns else lengths[:, None] * q


def flatten(weights: Weights) -> np.ndarray:
    """All parameters as one vector: Q₁, K₁, V₁, Q₂, … row by row, the column order of `jacobian`."""
    return np.concatenate([matrix.ravel() for layer in weights for matrix in layer])


def unflatten(arch: Architecture, parameters: np.ndarray) -> Weights:
    """The inverse of `flatten`.

    Raises:
        ValueError: if the vector does not have one entry for each parameter.
    """
    if np.shape(parameters) != (arch.num_parameters,):
        raise ValueError(
            f"{arch} has {arch.num_parameters} parameters; got an array of shape {np.shape(parameters)}"
        )
    shapes = layer_shapes(arch)
    ends = np.cumsum([prod(shape) for layer in shapes for shape in layer])
    parts = iter(np.split(parameters, ends[:-1]))
    return tuple(Layer(*(next(parts).reshape(shape) for shape in layer)) for layer in shapes)


def forward(
    field: Field, attention: str, weights: Weights, X: np.ndarray, rng: np.random.Generator | None = None
) -> np.ndarray:
    """φ(X): each layer is X ↦ V X S with S = XᵀAX (lightning) or its column softmax.

        lightning   φ(X) = V X Xᵀ A X                      (Eq. 1–3)
        softmax     φ(X) = V X softmax(Xᵀ A X)             (Eq. 15, temperature 1)

    Several heads are added, Σ_h V_h X S_h. X has the shape (N, d₀, t), the outputs (N, d_l, t); only softmax
    over a prime field needs `rng`, for the fresh exponentials. `block_forward` knows skips and masks.

    >>> identity = np.eye(2)
    >>> forward(Reals(), "lightning", (Layer(identity, identity, identity),), 2 * identity[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    return block_forward(field, _architecture(attention, weights, X), named(weights), X, rng)


def jacobian(
    field: Field,
    attention: str,
    weights: Weights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    rescale: bool = False,
) -> np.ndarray:
    """The derivative of `forward` in all weights; all else as in `block_jacobian`."""
    arch = _architecture(attention, weights, X)
    return block_jacobian(field, arch, named(weights), X, cotangents, rng, rescale)


def _architecture(attention: str, weights: Weights, X: np.ndarray) -> Architecture:
    """What these weights and tokens have the shapes of."""
    widths = X.shape[-2], *(layer.V.shape[-2] for layer in weights)
    head_dims = tuple(layer.Q.shape[-2] for layer in weights)
    heads = tuple(len(layer.Q) if layer.Q.ndim == 3 else 1 for layer in weights)
    return Architecture(widths, head_dims, X.shape[-1], attention, heads)
