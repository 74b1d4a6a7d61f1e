"""Deep attention networks over any field: weights, outputs, and the derivative of
outputs in weights.

Tokens are the columns of X; a batch of N inputs has shape (N, d₀, t). Weights are a
dict, named as in `Architecture.parameter_shapes`, where "1.R" holds the rotations of
layer 1, which are given, not learned; without a block they may also be a tuple with one
`Layer` for each layer.
"""

from functools import lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.rotary import (
    QUARTER_TURN,
    powers_of_rotations,
    random_rotations,
    turning_degree,
)
from neuroviz.engine.tape import Node, Tape
from neuroviz.rank.exponentials import INDEPENDENT, SYMMETRIC
from neuroviz.rank.field import Field, Reals


class Layer(NamedTuple):
    """Q, K of shape (a, d_in) and V of shape (d_out, d_in); A = KᵀQ. Several heads are
    stacked."""

    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray


Weights = tuple[Layer, ...]
BlockWeights = dict[str, np.ndarray]
# weights of one layer, in order
_LEARNED = ("P", "QKV", "O", "q", "k", "v", "o", "beta", "U1", "U2")


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
    return {
        f"{i}.{name}": M
        for i, layer in enumerate(weights, 1)
        for name, M in layer._asdict().items()
    }


def flatten(weights: Weights | BlockWeights) -> np.ndarray:
    """All parameters as one vector: Q₁, K₁, V₁, Q₂, … row by row, the column order of
    `jacobian`."""
    weights = weights if isinstance(weights, dict) else named(weights)
    return np.concatenate([matrix.ravel() for matrix in weights.values()])


def unflatten(arch: Architecture, parameters: np.ndarray) -> Weights | BlockWeights:
    """The inverse of `flatten`; with a block as `by_name` has it."""
    found = by_name(arch, parameters)
    if not arch.block.is_plain:
        return found
    parts = iter(found.values())
    return tuple(
        Layer(*(next(parts).reshape(shape) for shape in layer))
        for layer in layer_shapes(arch)
    )


def by_name(arch: Architecture, parameters: np.ndarray) -> BlockWeights:
    """One vector as a dict, named and shaped as in `Architecture.parameter_shapes`.

    Raises:
        ValueError: if the vector does not have one entry for each parameter.
    """
    if np.shape(parameters) != (arch.num_parameters,):
        raise ValueError(
            f"{arch} has {arch.num_parameters} parameters; got an array of shape"
            f" {np.shape(parameters)}"
        )
    shapes = arch.parameter_shapes
    parts = np.split(parameters, np.cumsum([*map(prod, shapes.values())])[:-1])
    return {
        n: part.reshape(shape)
        for (n, shape), part in zip(shapes.items(), parts, strict=True)
    }


def random_block_weights(
    field: Field, arch: Architecture, rng: np.random.Generator, related: bool = True
) -> BlockWeights:
    """A random point of parameter space, and the rotations (`random_rotations`).

    >>> from neuroviz.engine.block import Block
    >>> arch = Architecture((2, 2), (2,), block=Block(rotary=True))
    >>> list(random_block_weights(Reals(), arch, np.random.default_rng(0)))
    ['1.Q', '1.K', '1.V', '1.R']
    """
    weights = {
        name: field.random(rng, shape) for name, shape in arch.parameter_shapes.items()
    }
    return weights | random_rotations(field, arch, rng, related)


def random_weights(
    field: Field, arch: Architecture, rng: np.random.Generator
) -> Weights | BlockWeights:
    """The same point as a tuple of `Layer`s; with a block it is a dict."""
    if not arch.block.is_plain:
        return random_block_weights(field, arch, rng)
    return tuple(
        Layer(*(field.random(rng, shape) for shape in shapes))
        for shapes in layer_shapes(arch)
    )


def random_tokens(
    field: Field, arch: Architecture, inputs: int, rng: np.random.Generator
) -> np.ndarray:
    """Random inputs X, of shape (inputs, d₀, t)."""
    return field.random(rng, (inputs, arch.widths[0], arch.tokens))


# How the float spectrum is made readable (docs/mathematics/floating_point.md): each
# token mostly attends to itself, so that no layer makes the tokens parallel and nothing
# fades from layer to layer.
_HEAD_NOISE = 0.3  # K = Q + noise: A = KᵀQ nearly positive semidefinite
_SOFTMAX_SHARPNESS = 12.0  # multiplies A
# on a line a token cannot attend to itself alone; larger factors saturate
_SHARPNESS_ON_A_LINE = 6.0
# multiplies V: I + V must be invertible, and an isometry may have the eigenvalue −1
_BESIDE_A_SKIP = 0.7
# tokens: orthonormal as far as they can be, plus noise, then of length near 1
_TOKEN_NOISE = 0.4


def conditioned_weights(arch: Architecture, rng: np.random.Generator) -> Weights:
    """A random float64 point at which the Jacobian's spectrum is as readable as we know
    how to make it.

    Q with orthonormal rows (or columns), K = Q + noise, V with orthonormal rows (or
    columns).
    """
    layers = []
    for i, (H, (d_in, d_out, a)) in enumerate(
        zip(arch.heads, arch.layers, strict=True)
    ):
        sharpness = 1.0
        if arch.attention == "softmax":
            sharpness = (
                _SHARPNESS_ON_A_LINE
                if min(arch.widths[: i + 1]) == 1
                else _SOFTMAX_SHARPNESS
            )
        heads = []
        for _ in range(H):
            Q = _orthonormal(rng, a, d_in)
            K = Q + _HEAD_NOISE * rng.standard_normal((a, d_in)) / np.sqrt(d_in)
            V = (_BESIDE_A_SKIP if arch.skip else 1.0) * _orthonormal(rng, d_out, d_in)
            heads.append((np.sqrt(sharpness) * Q, np.sqrt(sharpness) * K, V))
        layers.append(
            Layer(*(heads[0] if H == 1 else map(np.stack, zip(*heads, strict=True))))
        )
    return tuple(layers)


def conditioned_block_weights(
    arch: Architecture, rng: np.random.Generator
) -> BlockWeights:
    """`conditioned_weights` as a dict; a block gets near isometries, Q near K, and
    small biases."""
    if arch.block.is_plain:
        return named(conditioned_weights(arch, rng))
    weights: BlockWeights = {}
    for name, shape in arch.parameter_shapes.items():
        kind = name.split(".")[-1]
        if kind in ("P", "q", "k", "v", "o"):
            weights[name] = 0.3 * rng.standard_normal(shape)
        elif kind == "beta":
            weights[name] = rng.uniform(0.8, 1.25, shape)
        elif kind == "K":
            Q = weights[f"{name[:-1]}Q"]  # the first of the queries that share a key
            weights[name] = Q[:: len(Q) // shape[0]] + 0.3 * rng.standard_normal(
                shape
            ) / np.sqrt(shape[-1])
        else:
            several = (1, *shape) if len(shape) == 2 else shape
            drawn = np.stack(
                [_near_isometry(rng, *several[1:]) for _ in range(several[0])]
            )
            sharp = 2.0 if kind == "Q" and arch.attention == "softmax" else 1.0
            if kind == "V" and arch.skip:
                sharp = _BESIDE_A_SKIP
            weights[name] = sharp * drawn.reshape(shape)
    return weights | random_rotations(Reals(), arch, rng)


def conditioned_tokens(
    arch: Architecture, inputs: int, rng: np.random.Generator
) -> np.ndarray:
    """Random tokens of length near 1, as orthogonal to each other as noise and d₀
    allow; (inputs, d₀, t)."""
    d, t = arch.widths[0], arch.tokens
    X = np.stack([_orthonormal(rng, d, t) for _ in range(inputs)])
    X = X + _TOKEN_NOISE * rng.standard_normal(X.shape) / np.sqrt(d)
    # Unit tokens on a line would be ±1 only, so there the lengths vary more.
    spread = 0.7 if d == 1 else 0.2
    lengths = 1 + spread * rng.uniform(-1, 1, (inputs, 1, t))
    return lengths * X / np.linalg.norm(X, axis=1, keepdims=True)


def _orthonormal(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Orthonormal rows or columns, whichever are fewer."""
    q, _ = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    return q if rows >= columns else q.T


def _near_isometry(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """A matrix with singular values from 0.8 to 1.25; exact isometries of size 1 × 1
    would all be ±1."""
    q = _orthonormal(rng, rows, columns)
    lengths = rng.uniform(0.8, 1.25, min(rows, columns))
    return q * lengths if rows >= columns else lengths[:, None] * q


# Outputs and derivative


def forward(
    field: Field,
    arch: Architecture | str,
    weights: BlockWeights | Weights,
    X: np.ndarray,
    rng: np.random.Generator | None = None,
) -> np.ndarray:
    """φ(X): each layer is X ↦ V X S with S = XᵀAX (lightning) or its column softmax.

        lightning   φ(X) = V X Xᵀ A X                      (Eq. 1–3)
        softmax     φ(X) = V X softmax(Xᵀ A X)             (Eq. 15, temperature 1)

    Several heads are added, Σ_h V_h X S_h; `Block` has the formula of all else.

    Args:
        arch: an architecture, or a kind of attention: all sizes are then those of
            `weights` and X.
        X: shape (N, d₀, t); the outputs have the shape (N, d_l, t).
        rng: source of the fresh exponentials; needed for softmax over a prime field
            only.

    >>> one = np.eye(2)
    >>> forward(Reals(), "lightning", (Layer(one, one, one),), 2 * one[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    return _recorded(Tape(field), _architecture(arch, weights, X), weights, X, rng)[
        0
    ].value[:, 0]


def jacobian(
    field: Field,
    arch: Architecture | str,
    weights: BlockWeights | Weights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    rescale: bool = False,
) -> np.ndarray:
    """The derivative of `forward` in all weights, by a structured reverse pass.

    Args:
        cotangents: shape (N, c, d_l, t): c linear functionals of the output for each
            input. By default every output coordinate, c = d_l·t.
        rescale: over the reals, where `can_be_rescaled`: divide each input's tokens by
            their norm after every layer. This multiplies all rows of one input by one
            number, which changes no rank and keeps 3^l-th powers in the float range.

    Returns:
        Shape (N, c, number of parameters); columns in the order of
        `Architecture.parameter_shapes`.

    Raises:
        ValueError: if `rescale` is asked for where it would change the function.
    """
    arch = _architecture(arch, weights, X)
    if rescale and not (isinstance(field, Reals) and can_be_rescaled(arch)):
        raise ValueError(
            "rescale is for lightning over the reals, without skips, biases or"
            f" positions, where it changes no rank; got {arch} over {field}: leave"
            " rescale out"
        )
    tape = Tape(field)
    Y, learned = _recorded(tape, arch, weights, X, rng, rescale)
    if cotangents is None:
        size = Y.value.shape[-2] * Y.value.shape[-1]
        cotangents = np.eye(size).reshape(1, size, *Y.value.shape[-2:])
    return np.concatenate(tape.gradients(Y, cotangents, learned), axis=-1)


@lru_cache(maxsize=4096)
def block_degree(arch: Architecture, related: bool = True) -> int:
    """A bound on the total degree of an entry of the derivative in everything that is
    drawn at random.

    Lightning (5·3^l − 3)/2; softmax 2l² + 5l + 1, and up to 3l² + 6l + 1 where tokens
    lie on a line and share their exponentials (docs/mathematics/exact_rank.md).

    >>> for widths in ((2, 2, 2, 2), (2, 2, 1, 2), (1, 1, 1, 1)):
    ...     print(block_degree(Architecture(widths, (1, 1, 1), attention="softmax")))
    34
    36
    46
    """
    weights = {name: np.zeros(shape) for name, shape in arch.parameter_shapes.items()}
    weights |= random_rotations(Reals(), arch, np.random.default_rng(0))
    tape, X = Tape(Reals()), np.zeros((1, arch.widths[0], arch.tokens))
    return tape.degree(*_recorded(tape, arch, weights, X, None, related=related))


def can_be_rescaled(arch: Architecture) -> bool:
    """Whether longer tokens make the output longer by a power only: then they may be
    made short in between.

    >>> [can_be_rescaled(Architecture((2, 2), (1,), skip=on)) for on in (False, True)]
    [True, False]
    """
    return arch.attention == "lightning" and not (
        arch.skip or arch.block.biases or arch.block.positions
    )


def on_a_line(arch: Architecture) -> tuple[bool, ...]:
    """For each layer, whether the tokens that enter it lie on a line, whatever the
    weights.

    >>> on_a_line(Architecture((3, 1, 3, 3), (1, 1, 1)))
    (False, True, True)

    Two heads leave the line, by Σ_h V_h x S_h.

    >>> on_a_line(Architecture((3, 1, 3, 3), (1, 1, 1), heads=2))
    (False, True, False)
    """
    lines, line = [], arch.widths[0] == 1
    for H, d_out in zip(arch.heads, arch.widths[1:], strict=True):
        lines.append(line)
        thin = min(d_out, H * (arch.block.value_dim or d_out)) == 1
        line = line if arch.skip else (line and H == 1) or thin
        if arch.block.mlp:
            hidden, power = arch.block.mlp
            if line and arch.block.biases and power > 1 and d_out > 1:
                line = False  # a line beside the origin becomes a curve
            line = line if arch.skip else line or hidden == 1
    return tuple(lines)


def _architecture(
    arch: Architecture | str, weights: BlockWeights | Weights, X: np.ndarray
) -> Architecture:
    """The architecture itself; for a kind of attention, the one with the shapes of
    weights and tokens."""
    if isinstance(arch, Architecture):
        return arch
    widths = X.shape[-2], *(layer.V.shape[-2] for layer in weights)
    head_dims = tuple(layer.Q.shape[-2] for layer in weights)
    heads = tuple(len(layer.Q) if layer.Q.ndim == 3 else 1 for layer in weights)
    return Architecture(widths, head_dims, X.shape[-1], arch, heads)


def _by_layer(
    arch: Architecture, weights: BlockWeights | Weights
) -> list[BlockWeights]:
    """The positions, then the weights of each layer; Q, K, V of all heads one above the
    other, as "QKV"."""
    layers: list[BlockWeights] = [{} for _ in range(arch.num_layers + 1)]
    for name, matrix in (
        weights if isinstance(weights, dict) else named(weights)
    ).items():
        place, _, kind = name.rpartition(".")
        # the weights may belong to a longer network
        if int(place or 0) <= arch.num_layers:
            layers[int(place or 0)][kind] = matrix
    for layer in layers[1:]:
        # One product with the tokens instead of three: most matrices are small.
        parts = [layer.pop(kind) for kind in "QKV"]
        layer["QKV"] = np.concatenate(
            [part.reshape(-1, part.shape[-1]) for part in parts]
        )
    return layers


def _recorded(
    tape: Tape,
    arch: Architecture,
    weights: BlockWeights | Weights,
    X: np.ndarray,
    rng: np.random.Generator | None,
    rescale: bool = False,
    related: bool = True,
) -> tuple[Node, list[Node]]:
    """The network, layer by layer, as `Block` has it: its output, and the parameters in
    order."""
    layers, learned, turning = [], [], turning_degree(arch, related)
    for layer in _by_layer(arch, weights):
        nodes = {
            kind: tape.parameter(layer[kind]) for kind in _LEARNED if kind in layer
        }
        learned += nodes.values()
        layers.append(
            nodes
            | {
                kind: tape.constant(layer[kind], turning)
                for kind in layer
                if kind not in nodes
            }
        )
    tokens = tape.constant(X[:, None])
    if arch.block.positions:
        tokens = tape.add(tokens, layers[0]["P"])
    for i, (w, line) in enumerate(zip(layers[1:], on_a_line(arch), strict=True)):
        attended = _attend(tape, arch, i, w, tokens, line, rng)
        tokens = tape.add(attended, tokens) if arch.skip else attended
        if "U1" in w:
            hidden = tape.power(tape.matmul(w["U1"], tokens), arch.block.mlp[1])
            through = tape.matmul(w["U2"], hidden)
            tokens = tape.add(through, tokens) if arch.skip else through
        # a constant factor changes only the length of the derivative's rows
        if rescale:
            norm = np.linalg.norm(tokens.value, axis=(-2, -1), keepdims=True)
            tokens = tape.times(
                tokens, tape.constant(1 / np.where(norm > 0, norm, 1.0))
            )
    return tokens, learned


def _attend(
    tape: Tape,
    arch: Architecture,
    i: int,
    w: dict[str, Node],
    X: Node,
    line: bool,
    rng: np.random.Generator | None,
) -> Node:
    """The attention of layer i (from 0 on), all heads added."""
    block, heads, a = arch.block, arch.heads[i], arch.head_dims[i]
    groups, value_dim = block.kv_heads or heads, block.value_dim or arch.widths[i + 1]
    pieces = (heads, a), (groups, a), (groups, value_dim)
    q, k, v = tape.split(tape.matmul(w["QKV"], X), pieces)
    if block.biases:
        q, k, v = tape.add(q, w["q"]), tape.add(k, w["k"]), tape.add(v, w["v"])
    if block.rotary:
        q, k = _rotated(tape, q, w["R"]), _rotated(tape, k, w["R"])
    k, v = tape.share(k, heads), tape.share(v, heads)
    S = tape.inner_products(k, q)
    if block.temperature:
        S = tape.times(w["beta"], S)
    if arch.attention == "softmax":
        symmetric = line and not block.rotary
        # Also with biases: a term of the logits in j alone is a factor G_j, and the
        # columns of E_ji G_j are those of E_ji G_j G_i, symmetric again. Under a mask
        # only one of E_ji, E_ij occurs, and nothing is shared.
        relations = SYMMETRIC if symmetric and not arch.causal else INDEPENDENT
        mask = None
        if arch.causal:
            mask = np.triu(np.ones(S.value.shape[-2:], bool))  # of any number of tokens
        # Certificates store the shares of one head without an axis for heads.
        logits = S.value if heads > 1 else S.value[:, 0]
        shares = tape.field.softmax(logits, relations.draw, mask, rng)
        S = tape.softmax(S, shares.reshape(S.value.shape), relations.degree)
    elif arch.causal:
        mask = np.triu(np.ones(S.value.shape[-2:]))
        S = tape.times(S, tape.constant(mask, degree=0))
    Y = tape.matmul(v, S)
    if block.value_dim:
        Y = tape.matmul(w["O"], Y)
    Y = tape.over_heads(Y)
    return tape.add(Y, w["o"]) if "o" in w else Y


def _rotated(tape: Tape, x: Node, rotation: Node) -> Node:
    """Token i turned by the i-th power of the rotations, pair of coordinates by pair: c
    x + s Jx."""
    pairs, t = rotation.value[0, 0], x.value.shape[-1]
    cosines, sines = (
        tape.constant(np.repeat(part, 2, axis=0), degree=rotation.degree * (t - 1))
        for part in powers_of_rotations(tape.field, pairs, t)
    )
    quarter = np.kron(np.eye(len(pairs)), QUARTER_TURN)
    turned = tape.matmul(tape.constant(quarter, degree=0), x)
    return tape.add(tape.times(x, cosines), tape.times(turned, sines))
