"""Networks with anything in their `Block`: one formula a layer, over both fields, differentiated by a `Tape`.

Weights are a dict, named and ordered as in `Architecture.parameter_shapes`; "1.R" holds the rotations of
layer 1, which are given, not learned. Networks without a block have a faster way, `neuroviz.engine.network`;
the tests compare the two wherever both apply.
"""

from fractions import Fraction
from math import log10

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Field, PrimeField, Reals
from neuroviz.engine.network import BESIDE_A_SKIP
from neuroviz.engine.tape import Node, Tape

BlockWeights = dict[str, np.ndarray]
ROTARY_BASE = 10_000.0


def random_block_weights(
    field: Field, arch: Architecture, rng: np.random.Generator, related: bool = True
) -> BlockWeights:
    """A random point of parameter space, and the rotations.

    Over the reals the k-th pair of coordinates turns by θ = 10000^(−2k/a) a place, as is usual. Over F_p
    random points of the circle c² + s² = 1 stand for the e^{iθ}, with the same relations between them: one
    point for all equal angles, and its powers for their multiples ("Exact rank"). If not `related`, each
    angle has a point of its own, as angles in general position have.

    >>> from neuroviz.engine.block import Block
    >>> arch = Architecture((2, 2), (2,), block=Block(rotary=True))
    >>> list(random_block_weights(Reals(), arch, np.random.default_rng(0)))
    ['1.Q', '1.K', '1.V', '1.R']
    """
    weights = {name: field.random(rng, shape) for name, shape in arch.parameter_shapes.items()}
    return weights | _rotations(field, arch, rng, related)


def conditioned_block_weights(arch: Architecture, rng: np.random.Generator) -> BlockWeights:
    """A random float64 point with a readable spectrum: matrices near isometries, small biases.

    Q and K of a head are near each other: each token mostly attends to itself (see `network`).
    """
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
            drawn = np.stack([_isometry(rng, *several[1:]) for _ in range(several[0])])
            sharp = 2.0 if kind == "Q" and arch.attention == "softmax" else 1.0
            if kind == "V" and arch.skip:
                sharp = BESIDE_A_SKIP
            weights[name] = sharp * drawn.reshape(shape)
    return weights | _rotations(Reals(), arch, rng)


def block_forward(
    field: Field, arch: Architecture, weights: BlockWeights, X: np.ndarray, rng: np.random.Generator | None
) -> np.ndarray:
    """The outputs, shape (N, d_l, t), for tokens X of shape (N, d₀, t); the formula stands in `Block`."""
    tape = Tape(field)
    return _run(tape, arch, {n: tape.constant(w) for n, w in weights.items()}, X, rng).value[:, 0]


def block_jacobian(
    field: Field,
    arch: Architecture,
    weights: BlockWeights,
    X: np.ndarray,
    cotangents: np.ndarray | None = None,
    rng: np.random.Generator | None = None,
    rescale: bool = False,
) -> np.ndarray:
    """The derivative in all weights, as `network.jacobian`: shape (N, c, number of parameters).

    Raises:
        ValueError: if `rescale` is asked for where the network is not homogeneous (`can_be_rescaled`).
    """
    if rescale and not (isinstance(field, Reals) and can_be_rescaled(arch)):
        raise ValueError(f"rescale is for homogeneous networks over the reals; got {arch} over {field}")
    return _differentiated(field, arch, weights, X, cotangents, rng, rescale)[0]


def can_be_rescaled(arch: Architecture) -> bool:
    """Whether longer tokens make the output longer by a power only: then they may be made short in between.

    >>> can_be_rescaled(Architecture((2, 2), (1,))), can_be_rescaled(Architecture((2, 2), (1,), skip=True))
    (True, False)
    """
    return arch.attention == "lightning" and not (arch.skip or arch.block.biases or arch.block.positions)


def block_degree(arch: Architecture, related: bool = True) -> int:
    """A bound on the total degree of an entry of the derivative in everything that is drawn at random."""
    over, rng = PrimeField(), np.random.default_rng(0)
    X = over.random(rng, (1, arch.widths[0], arch.tokens))
    one = over.random(rng, (1, 1, arch.widths[-1], arch.tokens))
    return _differentiated(over, arch, random_block_weights(over, arch, rng), X, one, rng, related=related)[1]


def on_a_line(arch: Architecture) -> tuple[bool, ...]:
    """For each layer, whether the tokens that enter it lie on a line, whatever the weights.

    >>> on_a_line(Architecture((3, 1, 3, 3), (1, 1, 1)))
    (False, True, True)
    >>> on_a_line(Architecture((3, 1, 3, 3), (1, 1, 1), heads=2))  # Σ_h V_h x S_h: two heads leave the line
    (False, True, False)
    """
    lines, line = [], arch.widths[0] == 1
    for i, (H, d_out) in enumerate(zip(arch.heads, arch.widths[1:], strict=True)):
        lines.append(line)
        thin = min(d_out, H * (arch.block.value_dim or d_out)) == 1
        line = line if arch.skip else (line and H == 1) or thin
        if arch.block.mlp and i < arch.num_layers - 1:
            hidden, power = arch.block.mlp
            if line and arch.block.biases and power > 1 and d_out > 1:
                line = False  # a line beside the origin becomes a curve
            line = line if arch.skip else line or hidden == 1
    return tuple(lines)


def _differentiated(
    field: Field,
    arch: Architecture,
    weights: BlockWeights,
    X: np.ndarray,
    cotangents: np.ndarray | None,
    rng: np.random.Generator | None,
    rescale: bool = False,
    related: bool = True,
) -> tuple[np.ndarray, int]:
    tape, turning = Tape(field), turning_degree(arch, related)
    learned = {name: tape.parameter(weights[name]) for name in arch.parameter_shapes}
    given = {name: tape.constant(w, degree=turning) for name, w in weights.items() if name not in learned}
    Y = _run(tape, arch, learned | given, X, rng, rescale)
    if cotangents is None:
        size = Y.value.shape[-2] * Y.value.shape[-1]
        cotangents = np.eye(size).reshape(1, size, *Y.value.shape[-2:])
    rows, degree = tape.gradients(Y, cotangents, list(learned.values()))
    return np.concatenate([np.broadcast_to(r, (len(X), *r.shape[1:])) for r in rows], axis=-1), degree


def _run(
    tape: Tape,
    arch: Architecture,
    w: dict[str, Node],
    X: np.ndarray,
    rng: np.random.Generator | None,
    rescale: bool = False,
) -> Node:
    """The network, layer by layer, as `Block` has it; with `rescale` each input's tokens get length 1."""
    tokens = tape.constant(X[:, None])
    if arch.block.positions:
        tokens = tape.add(tokens, w["P"])
    lines = on_a_line(arch)
    for i in range(1, arch.num_layers + 1):
        layer = {name.split(".")[1]: node for name, node in w.items() if name.startswith(f"{i}.")}
        attended = _attend(tape, arch, layer, arch.heads[i - 1], tokens, lines[i - 1], rng)
        tokens = tape.add(attended, tokens) if arch.skip else attended
        if "U1" in layer:
            hidden = tape.power(tape.matmul(layer["U1"], tokens), arch.block.mlp[1])
            through = tape.matmul(layer["U2"], hidden)
            tokens = tape.add(through, tokens) if arch.skip else through
        if rescale:  # by a number that stays as it is: rows of the derivative only change in length
            norm = np.linalg.norm(tokens.value, axis=(-2, -1), keepdims=True)
            tokens = tape.times(tokens, tape.constant(1 / np.where(norm > 0, norm, 1.0)))
    return tokens


def _attend(
    tape: Tape,
    arch: Architecture,
    w: dict[str, Node],
    heads: int,
    X: Node,
    line: bool,
    rng: np.random.Generator | None,
) -> Node:
    block = arch.block
    q, k, v = tape.matmul(w["Q"], X), tape.matmul(w["K"], X), tape.matmul(w["V"], X)
    if block.biases:
        q, k, v = tape.add(q, w["q"]), tape.add(k, w["k"]), tape.add(v, w["v"])
    if block.rotary:
        q, k = _rotated(tape, q, w["R"]), _rotated(tape, k, w["R"])
    k, v = tape.share(k, heads), tape.share(v, heads)
    S = tape.matmul(tape.transpose(k), q)
    if block.temperature:
        S = tape.times(w["beta"], S)
    if arch.attention == "softmax":
        symmetric = line and not block.rotary
        # One matrix for each input and head, also where the logits depend on no input.
        logits = np.broadcast_to(S.value, (len(X.value), *S.value.shape[1:]))
        shares = tape.field.softmax(logits, symmetric, rng, causal=arch.causal, drift=block.biases)
        S = tape.softmax(S, shares, degree=3 if symmetric else 1)
    elif arch.causal:
        S = tape.times(S, tape.constant(np.triu(np.ones((arch.tokens, arch.tokens))), degree=0))
    Y = tape.matmul(v, S)
    if block.value_dim:
        Y = tape.matmul(w["O"], Y)
    Y = tape.over_heads(Y)
    return tape.add(Y, w["o"]) if "o" in w else Y


def _rotated(tape: Tape, x: Node, rotation: Node) -> Node:
    """Token i turned by the i-th power of the rotations, pair of coordinates by pair: c x + s Jx."""
    field, pairs = tape.field, rotation.value[0, 0]
    t = x.value.shape[-1]
    c, s = np.ones((len(pairs), t)), np.zeros((len(pairs), t))
    for i in range(1, t):
        c[:, i], s[:, i] = _turned_on(field, (c[:, i - 1], s[:, i - 1]), (pairs[:, 0], pairs[:, 1]))
    quarter = np.kron(np.eye(len(pairs)), np.array([[0.0, -1.0], [1.0, 0.0]]))
    turn = [tape.constant(np.repeat(part, 2, axis=0), degree=rotation.degree * (t - 1)) for part in (c, s)]
    turned = tape.matmul(tape.constant(quarter, degree=0), x)
    return tape.add(tape.times(x, turn[0]), tape.times(turned, turn[1]))


_Point = tuple[np.ndarray, np.ndarray]


def _turned_on(field: Field, z: _Point, by: _Point) -> _Point:
    """The product of points c + is of the circle."""
    return field.reduce(z[0] * by[0] - z[1] * by[1]), field.reduce(z[1] * by[0] + z[0] * by[1])


def _turns(arch: Architecture) -> list[list[tuple[Fraction, int]]]:
    """For each layer and pair of coordinates, the point of the circle that it takes, and to which power.

    θ = 10^(−e) with e = 8k/a. Angles whose e differ by whole numbers are multiples of the smallest of them.

    >>> from neuroviz.engine.block import Block
    >>> _turns(Architecture((2, 2), (8,), block=Block(rotary=True)))[0][1:3]
    [(Fraction(0, 1), 100), (Fraction(0, 1), 10)]
    """
    digits = round(log10(ROTARY_BASE))
    exponents = [[Fraction(2 * digits * k, a) for k in range(a // 2)] for a in arch.head_dims]
    smallest: dict[Fraction, Fraction] = {}
    for e in {e for layer in exponents for e in layer}:
        smallest[e % 1] = max(e, smallest.get(e % 1, e))
    return [[(e % 1, 10 ** int(smallest[e % 1] - e)) for e in layer] for layer in exponents]


def turning_degree(arch: Architecture, related: bool = True) -> int:
    """The degree of a turn by one place in the slopes m of the points ((1 − m²)/(1 + m²), 2m/(1 + m²)).

    Σ 2n over the points, n the highest power of each: what clears the denominators of all of them.
    """
    if not arch.block.rotary:
        return 0
    turns = {turn for layer in _turns(arch) for turn in layer}
    if not related:
        return 2 * len(turns)
    return 2 * sum(max(n for other, n in turns if other == point) for point in {point for point, _ in turns})


def _rotations(
    field: Field, arch: Architecture, rng: np.random.Generator, related: bool = True
) -> BlockWeights:
    if not arch.block.rotary:
        return {}
    if isinstance(field, Reals):
        angles = [ROTARY_BASE ** (-2.0 * np.arange(a // 2) / a) for a in arch.head_dims]
        return {f"{i}.R": np.stack([np.cos(x), np.sin(x)], axis=1) for i, x in enumerate(angles, start=1)}
    turns, points = _turns(arch), {}
    for turn in sorted({turn for layer in turns for turn in layer}):
        base = turn[0] if related else turn
        if base not in points:
            points[base] = _point_of_the_circle(field, rng)
    drawn = {}
    for i, layer in enumerate(turns, start=1):
        pairs = [_power(field, points[turn[0]], turn[1]) if related else points[turn] for turn in layer]
        drawn[f"{i}.R"] = np.array(pairs)
    return drawn


def _power(field: Field, point: _Point, exponent: int) -> _Point:
    z = (np.array(1.0), np.array(0.0))
    while exponent:  # by squaring
        if exponent % 2:
            z = _turned_on(field, z, point)
        point, exponent = _turned_on(field, point, point), exponent // 2
    return z


def _point_of_the_circle(over: PrimeField, rng: np.random.Generator) -> _Point:
    if over.p < 7:
        raise ValueError(f"rotary positions need a prime of 7 or more, to have rotations; got {over.p}")
    while True:
        m = int(rng.integers(2, over.p - 1))
        if norm := (1 + m * m) % over.p:
            inverse = pow(norm, -1, over.p)
            c, s = (1 - m * m) * inverse % over.p, 2 * m * inverse % over.p
            return over.reduce(np.array(float(c))), over.reduce(np.array(float(s)))


def _isometry(rng: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Nearly one: lengths are kept up to a fourth, so that no two of them are the same up to sign."""
    q, _ = np.linalg.qr(rng.standard_normal((max(rows, columns), min(rows, columns))))
    q = q * rng.uniform(0.8, 1.25, q.shape[1])
    return q if rows >= columns else q.T
