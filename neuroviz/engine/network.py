"""Deep attention networks over any field: weights, forward pass, and the derivative in the weights.

Tokens are the columns of X. A batch of N inputs has shape (N, d₀, t). The forward pass and the
structured reverse pass are written once; over `Reals` they give the spectrum that people look at,
over `PrimeField` the exact rank that settles the question. torch's autograd checks both, in the tests.
"""

from math import prod
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Field, Reals


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
    shapes = []
    for H, (d_in, d_out, a) in zip(arch.heads, arch.layers, strict=True):
        several = () if H == 1 else (H,)
        shapes.append(Layer((*several, a, d_in), (*several, a, d_in), (*several, d_out, d_in)))
    return shapes


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
BESIDE_A_SKIP = 0.7
"""Multiplies V there: I + V must be invertible, and a random isometry may have the eigenvalue −1."""
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
            V = (BESIDE_A_SKIP if arch.skip else 1.0) * _orthonormal(rng, d_out, d_in)
            heads.append((np.sqrt(sharpness) * Q, np.sqrt(sharpness) * K, V))
        matrices = heads[0] if H == 1 else map(np.stack, zip(*heads, strict=True))
        layers.append(Layer(*matrices))
    return tuple(layers)


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
    layers, start = [], 0
    for shapes in layer_shapes(arch):
        matrices = []
        for shape in shapes:
            matrices.append(parameters[start : start + prod(shape)].reshape(shape))
            start += prod(shape)
        layers.append(Layer(*matrices))
    return tuple(layers)


class _Trace(NamedTuple):
    """What a layer's reverse pass needs to remember of its forward pass; the second axis counts heads."""

    X: np.ndarray  # tokens in, (N, 1, d_in, t)
    q: np.ndarray  # Q X
    k: np.ndarray  # K X
    S: np.ndarray  # attention weights; column i says how token i attends
    Z: np.ndarray  # X S, what is attended to
    scale: np.ndarray | None  # what the layer's output was divided by, for each input


def _by_head(layer: Layer) -> Layer:
    """The matrices with an axis for the heads, also where there is one only."""
    return Layer(*(matrix if matrix.ndim == 3 else matrix[None] for matrix in layer))


def _masked(S: np.ndarray, causal: bool) -> np.ndarray:
    """Row j, column i: under a mask token i attends to j ≤ i."""
    return np.triu(S) if causal else S


def _run(
    field: Field,
    attention: str,
    weights: Weights,
    X: np.ndarray,
    rng: np.random.Generator | None,
    rescale: bool = False,
    skip: bool = False,
    causal: bool = False,
) -> tuple[np.ndarray, list[_Trace]]:
    # Tokens on a line have logits A·x_j·x_i, symmetric in j and i, so their exponentials coincide.
    traces, line = [], X.shape[-2] == 1
    for Q, K, V in map(_by_head, weights):
        X = X[:, None]
        q, k = field.matmul(Q, X), field.matmul(K, X)
        S = field.matmul(_T(k), q)  # S_ji = x_jᵀ A x_i
        if attention == "softmax":
            mask = {"causal": True} if causal else {}
            S = field.softmax(S.squeeze(1) if len(Q) == 1 else S, line, rng, **mask)
            S = S.reshape(len(S), len(Q), *S.shape[-2:])
        S = _masked(S, causal)
        Z = field.matmul(X, S)
        Y, scale = _sum(field, field.matmul(V, Z), axis=1), None
        if skip:
            Y = field.reduce(Y + X[:, 0])
        if rescale:
            scale = np.linalg.norm(Y, axis=(-2, -1), keepdims=True)
            scale[scale == 0] = 1.0
            Y = Y / scale
        traces.append(_Trace(X, q, k, S, Z, scale))
        X = Y
        line = (line and len(Q) == 1) or X.shape[-2] == 1  # two heads leave the line
    return X, traces


def forward(
    field: Field,
    attention: str,
    weights: Weights,
    X: np.ndarray,
    rng: np.random.Generator | None = None,
    skip: bool = False,
    causal: bool = False,
) -> np.ndarray:
    """φ(X): each layer is X ↦ V X S with S = XᵀAX (lightning) or its column softmax.

        lightning   φ(X) = V X Xᵀ A X                      (Eq. 1–3)
        softmax     φ(X) = V X softmax(Xᵀ A X)             (Eq. 15, temperature 1)

    Several heads are added, Σ_h V_h X S_h; a skip adds X; under a mask S_ji = 0 for j > i.

    Args:
        field: `Reals()` or `PrimeField(p)`.
        attention: "lightning" or "softmax".
        weights: one `Layer` after the other.
        X: tokens as columns, shape (N, d₀, t).
        rng: source of the fresh exponentials; needed for softmax over a prime field only.
        skip, causal: as in `Architecture`.

    Returns:
        The outputs, shape (N, d_l, t).

    >>> from neuroviz.engine.field import Reals
    >>> identity = np.eye(2)
    >>> forward(Reals(), "lightning", (Layer(identity, identity, identity),), 2 * identity[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    return _run(field, attention, weights, X, rng, skip=skip, causal=causal)[0]


def jacobian(
    field: Field,
    attention: str,
    weights: Weights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    rescale: bool = False,
    skip: bool = False,
    causal: bool = False,
) -> np.ndarray:
    """The derivative of the network in all its weights, by a structured reverse pass.

    With Z = X S, k = K X, q = Q X a cotangent Ȳ of a layer's output goes, in each head, to

        V̄ = Ȳ Zᵀ,  S̄ = Xᵀ Vᵀ Ȳ,  K̄ = q B̄ᵀ Xᵀ,  Q̄ = k B̄ Xᵀ,  X̄ = Vᵀ Ȳ Sᵀ + Kᵀ q B̄ᵀ + Qᵀ k B̄

    where B̄ = S̄ (lightning) or B̄_ji = S_ji (S̄_ji − Σ_k S_ki S̄_ki) (softmax), 0 where masked. The X̄ of all
    heads are added, and a skip adds Ȳ.

    Args:
        field, attention, weights, X, rng, skip, causal: as in `forward`.
        cotangents: shape (N, c, d_l, t): c linear functionals of the output for each input. By
            default every output coordinate, c = d_l·t.
        rescale: over the reals and for lightning without skips only: divide each input's tokens by their
            norm after every layer. Lightning is homogeneous, so this multiplies all rows of one input
            by one number, which changes no rank and keeps 3^l-th powers in the float range.

    Returns:
        Shape (N, c, number of parameters); columns in the order of `flatten`.

    Raises:
        ValueError: if `rescale` is asked for where it would change the function.
    """
    if rescale and (skip or not (attention == "lightning" and isinstance(field, Reals))):
        raise ValueError(
            "rescale is for lightning over the reals, without skips, where it changes no rank; "
            f"got {attention}{' with a skip' if skip else ''} over {field}: leave rescale out"
        )
    Y, traces = _run(field, attention, weights, X, rng, rescale, skip, causal)
    if cotangents is None:
        size = Y.shape[-2] * Y.shape[-1]
        cotangents = np.eye(size).reshape(1, size, *Y.shape[-2:])
    mul = field.matmul
    blocks: list[np.ndarray] = []
    grad = cotangents[:, :, None]  # an axis for the heads
    for layer, trace in zip(reversed(weights), reversed(traces), strict=True):
        Q, K, V = _by_head(layer)
        X, q, k, S, Z = (part[:, None] for part in trace[:5])
        if trace.scale is not None:
            grad = grad / trace.scale[:, None, None]
        V_bar = mul(grad, _T(Z))
        passed, grad = grad, mul(_T(V), grad)
        B_bar = mul(_T(X), grad)
        if attention == "softmax":
            weighted = field.reduce(S * B_bar)
            B_bar = field.reduce(weighted - S * field.reduce(weighted.sum(axis=-2, keepdims=True)))
        B_bar = _masked(B_bar, causal)
        k_bar, q_bar = mul(q, _T(B_bar)), mul(k, B_bar)
        blocks += [_rows(V_bar), _rows(mul(k_bar, _T(X))), _rows(mul(q_bar, _T(X)))]  # from the last on
        if len(blocks) < 3 * len(weights):  # the tokens of the first layer are given
            grad = field.sum_of_products((grad, _T(S)), (_T(K), k_bar), (_T(Q), q_bar))
            grad = _sum(field, grad, axis=2, keepdims=True)
            if skip:
                grad = field.reduce(grad + passed)
    return np.concatenate(blocks[::-1], axis=-1)


def _sum(field: Field, x: np.ndarray, axis: int, keepdims: bool = False) -> np.ndarray:
    """Σ over the heads; of one head nothing is to be added."""
    if x.shape[axis] == 1:
        return x if keepdims else x.squeeze(axis)
    return field.reduce(x.sum(axis=axis, keepdims=keepdims))


def _T(matrices: np.ndarray) -> np.ndarray:
    return matrices.swapaxes(-1, -2)


def _rows(matrices: np.ndarray) -> np.ndarray:
    """The matrices of all heads as one row: (N, c, H, m, n) → (N, c, H·m·n)."""
    return matrices.reshape(*matrices.shape[:-3], -1)
