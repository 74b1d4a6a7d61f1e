"""The directions in which the function of a transformer does not change, at given
weights, over any field.

`transformers.block_formulas` counts them by formula; here they are vectors, and the
tests hold the exact derivative against each. Where a family has no closed form it is
the null space of a small linear map: what leaves the products alone that a layer is
made of.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from neuroviz.attention.directions import (
    acting,
    as_rows,
    null_space,
    row_space,
    symmetry_directions,
)
from neuroviz.rank.field import Field, PrimeField
from neuroviz.rank.network import Weights
from neuroviz.rank.pivots import inverse
from neuroviz.rank.tape import Tape
from neuroviz_beyond.transformers.rotary import QUARTER_TURN, powers_of_rotations
from neuroviz_beyond.transformers.transformer import Transformer

Change = dict[str, np.ndarray]
"""The derivative of some of the weights; the others stand still."""

_IN_THE_PAPER = {
    "bases of keys and queries": "head bases",
    "bases between layers": "interfaces",
}


@symmetry_directions.register
def _of_a_transformer(
    net: Transformer, over: Field, weights: Weights
) -> dict[str, list[np.ndarray]]:
    """All continuous symmetries that we know of any `Transformer`, by family and layer.

    The families, in the order in which `kernel_ledger` counts them, are those of
    `known_redundancies`, and for lightning two more:

        rescalings         Q_h → c Q_h, V_h → V_h / c (or O_h), one a head
        heads that blend   A_h → Σ_k g_hk A_k, V_h → Σ_k (g⁻ᵀ)_hk V_k, as far as all
                           ranks allow it: Σ_h V_h X Xᵀ A_h X depends on Σ_h V_h ⊗ A_h
                           only

    A network of the paper has its own names: "head bases" (Lemma 3.1), "interfaces"
    (Eq. 9), and for lightning "rescalings" (Eq. 13). Affine maps go through all layers
    and are one array.

    >>> from neuroviz.rank.point import random_point
    >>> net, over = Transformer((3, 3), (3,), heads=2), PrimeField()
    >>> point = random_point(net, over, np.random.default_rng(0))
    >>> list(symmetry_directions(net, over, point.weights))
    ['bases of keys and queries', 'rescalings', 'heads that blend']
    """
    block = net.block
    is_softmax = net.attention == "softmax"
    layers = range(1, net.num_layers + 1)
    places = range(1, net.num_layers)
    output = ("O",) if block.value_dim else ("V", "v")
    has_key_biases = is_softmax and block.biases and not block.rotary
    has_blends = not is_softmax and max(net.heads) > 1
    scaled_keys = partial(_scalings, up=("beta",), down=("Q", "q"))
    rescaled = partial(_scalings, up=("Q", "q"), down=output)
    # name, whether there are any, the changes at a place, and the places
    families: list[tuple[str, bool, Changes, range]] = [
        ("bases of keys and queries", True, _query_bases, layers),
        ("bases of values and outputs", bool(block.value_dim), _value_bases, layers),
        ("temperatures", block.temperature, scaled_keys, layers),
        ("key biases", has_key_biases, _key_biases, layers),
        ("value biases", is_softmax and block.biases, _value_biases, layers),
        ("shifts between layers", block.biases, _shifts, range(net.num_layers)),
        ("hidden units of the MLPs", bool(block.mlp), _hidden_units, places),
        ("affine maps between layers", _has_affine_maps(net), _affine_maps, range(1)),
        ("bases between layers", not net.skip, _interfaces, places),
        ("rescalings", not is_softmax, rescaled, layers),
        ("heads that blend", has_blends, _blends, layers),
    ]
    names = _IN_THE_PAPER if net.is_plain else {}
    shapes = net.parameter_shapes
    # weights of one head may come without the axis of the heads
    with_heads = {n: np.reshape(weights[n], shape) for n, shape in shapes.items()}
    about = _Network(over, net, {**weights, **with_heads}, shapes)
    found = {}
    for name, exist, changes_at, where in families:
        # A network of the paper names its interfaces even if a single layer leaves no
        # place for them, as `Architecture` does.
        if exist and (where or net.is_plain):
            rows = [as_rows(net, over, changes_at(about, i)) for i in where]
            found[names.get(name, name)] = rows
    return found


@dataclass(frozen=True, eq=False)
class _Network:
    """A transformer at its weights."""

    over: Field
    arch: Transformer
    weights: Weights
    shapes: dict[str, tuple[int, ...]]

    def layer(self, i: int) -> Weights:
        """The weights of layer i, from 1, by their short names."""
        return {
            n.split(".")[1]: w for n, w in self.weights.items() if n.startswith(f"{i}.")
        }

    def heads_of(self, i: int) -> np.ndarray:
        """Which heads share the keys and values of each group of layer i; a row for
        each group."""
        heads = self.arch.heads[i - 1]
        return np.arange(heads).reshape(self.arch.groups[i - 1], -1)

    def change(self, i: int, *parts: tuple[str, object, np.ndarray]) -> Change:
        """Each part is a weight of layer i, an index in it and its derivative there;
        parts in one place add up, and weights that do not exist are left out."""
        found: Change = {}
        for name, index, value in parts:
            if (key := f"{i}.{name}") in self.shapes:
                found.setdefault(key, np.zeros(self.shapes[key]))[index] += value
        return found

    def constant(self, i: int, c: np.ndarray) -> tuple[str, object, np.ndarray]:
        """What layer i adds to all tokens moves by c: by its output bias, else by the
        value bias of its first head."""
        return ("o", ..., c) if f"{i}.o" in self.shapes else ("v", 0, c)

    def rotations(self, i: int) -> list[np.ndarray]:
        """Rᵟ for all differences δ of two places that attend to each other; without
        rotary positions 1.

        The logit of a key at place j and a query at place c is yⱼᵀ Kᵀ R^(c−j) Q y_c
        (Theorem R).
        """
        if not self.arch.block.rotary:
            return [np.eye(self.arch.head_dims[i - 1])]
        cosines, sines = powers_of_rotations(
            self.over, self.layer(i)["R"], self.arch.tokens
        )
        turns = zip(cosines.T, sines.T, strict=True)
        powers = [
            np.kron(np.diag(c), np.eye(2)) + np.kron(np.diag(s), QUARTER_TURN)
            for c, s in turns
        ]
        if self.arch.causal:
            return powers
        # R is orthogonal, so these are its negative powers.
        return powers + [power.T for power in powers[1:]]


Changes = Callable[[_Network, int], Iterable[Change]]


# What a layer is made of


def _query_bases(net: _Network, i: int) -> Iterator[Change]:
    """Q_h → C Q_h, K_g → C⁻ᵀ K_g, biases too; and what products with a matrix of low
    rank do not show."""
    over = net.over
    w = net.layer(i)
    a = net.arch.head_dims[i - 1]
    turns = net.rotations(i)
    # Softmax does not see k: it adds one number to all logits of a column. With
    # rotations it sees it.
    seen_bias = net.arch.attention == "lightning" or net.arch.block.rotary
    keys = [name for name in ("K", "k") if name in w and (seen_bias or name == "K")]
    queries = [name for name in ("Q", "q") if name in w]
    for g, heads in enumerate(net.heads_of(i)):
        # A bias is one more column of its matrix. K: (a, d or d⁺); Q: (a, n d⁺) for the
        # n heads of the group, side by side.
        K = np.concatenate([w[name][g] for name in keys], axis=-1)
        Q = np.concatenate([w[name][h] for h in heads for name in queries], axis=1)
        # C = 1 + ε E: with turns E commutes with them, else it is a matrix unit
        # e_row e_columnᵀ.
        if net.arch.block.rotary:
            for E in _commuting(a):
                parts = [
                    (name, h, over.matmul(E, w[name][h]))
                    for name, h in product(queries, heads)
                ]
                parts += [(name, g, over.matmul(-E.T, w[name][g])) for name in keys]
                yield net.change(i, *parts)
        else:
            for row, column in acting(over, K.T, Q):
                parts = [
                    (name, (h, row), w[name][h, column])
                    for name, h in product(queries, heads)
                ]
                parts += [(name, (g, column), -w[name][g, row]) for name in keys]
                yield net.change(i, *parts)
        # Any x with Kᵀ R x = 0 for all R may be added to each column of Q_h ...
        unseen = null_space(over, np.concatenate([over.matmul(K.T, R) for R in turns]))
        yield from _fill(net, i, unseen, [(name, h) for name in queries for h in heads])
        # ... and any x with xᵀ R Q = 0 to each column of K_g.
        unread = null_space(over, np.concatenate([over.matmul(R, Q).T for R in turns]))
        yield from _fill(net, i, unread, [(name, g) for name in keys])


def _commuting(a: int) -> Iterator[np.ndarray]:
    """What commutes with turns of pairs of coordinates: a turn and a stretch of each
    pair."""
    for unit in np.eye(a // 2):
        for small in (np.eye(2), QUARTER_TURN):
            yield np.kron(np.diag(unit), small)


def _fill(
    net: _Network, i: int, vectors: np.ndarray, places: list[tuple[str, int]]
) -> Iterator[Change]:
    """Each vector in each column of each of some matrices of layer i."""
    for (name, index), vector in product(places, vectors):
        for column in range(net.shapes[f"{i}.{name}"][-1]):
            yield net.change(i, (name, (index, slice(None), column), vector))


def _value_bases(net: _Network, i: int) -> Iterator[Change]:
    """W_g → C W_g, O_h → O_h C⁻¹; and what products with a matrix of low rank do not
    show.

    Columns of a softmax sum to 1, so there O v is a constant vector, which the output
    bias takes back.
    """
    over = net.over
    w = net.layer(i)
    values = [
        name
        for name in ("V", "v")
        if name in w and (name == "V" or net.arch.attention == "lightning")
    ]

    def repaired(
        g: int, heads: np.ndarray, parts: list[tuple[str, object, np.ndarray]]
    ) -> Change:
        """With the output bias that takes the move of Σ O_h v_g back."""
        change = net.change(i, *parts)
        if "o" in w and "v" not in values:
            change[f"{i}.o"] = -sum(
                over.matmul(change[f"{i}.O"][h], w["v"][g]) for h in heads
            )
        return change

    for g, heads in enumerate(net.heads_of(i)):
        # outputs: (n d′, v), the O_h of the group one below the other; W: (v, d or d⁺).
        outputs = np.concatenate([w["O"][h] for h in heads])
        W = np.concatenate([w[name][g] for name in values], axis=-1)
        for row, column in acting(over, outputs, W):
            parts = [(name, (g, row), w[name][g, column]) for name in values]
            parts += [
                ("O", (h, slice(None), column), -w["O"][h][:, row]) for h in heads
            ]
            yield repaired(g, heads, parts)
        # Any x with O_h x = 0 for all h may be added to each column of W_g ...
        yield from _fill(
            net, i, null_space(over, outputs), [(name, g) for name in values]
        )
        # ... and any xᵀ with xᵀ W_g = 0 to each row of O_h.
        for vector in null_space(over, W.T):
            for h, row in product(heads, range(net.arch.widths[i])):
                yield repaired(g, heads, [("O", (h, row), vector)])


def _scalings(
    net: _Network, i: int, up: tuple[str, ...], down: tuple[str, ...]
) -> Iterator[Change]:
    """The `up` weights of one head times c, the `down` ones divided by c."""
    w = net.layer(i)
    signs = [(name, 1) for name in up] + [(name, -1) for name in down]
    existing = [(name, sign) for name, sign in signs if name in w]
    for h in range(net.arch.heads[i - 1]):
        yield net.change(i, *((name, h, sign * w[name][h]) for name, sign in existing))


def _key_biases(net: _Network, i: int) -> Iterator[Change]:
    """Any k: the same number for all logits of a column."""
    return _fill(
        net,
        i,
        np.eye(net.arch.head_dims[i - 1]),
        [("k", g) for g in range(len(net.heads_of(i)))],
    )


def _value_biases(net: _Network, i: int) -> Iterator[Change]:
    """A constant vector, from any head, taken back by the output bias or by the first
    head."""
    w = net.layer(i)
    for g, heads in enumerate(net.heads_of(i)):
        if g == 0 and "o" not in w:
            continue  # the first head takes back what the others add
        for vector in np.eye(w["v"].shape[1])[..., None]:
            added = vector
            if "o" in w:
                # Columns of S sum to 1: each token gets O_h times the vector.
                added = sum(net.over.matmul(w["O"][h], vector) for h in heads)
            yield net.change(i, ("v", g, vector), net.constant(i, -added))


# Between layers


def _shifts(net: _Network, i: int) -> Iterator[Change]:
    """A constant vector, added to the tokens after layer i (0: to the positions),
    undone by layer i + 1."""
    over = net.over
    arch = net.arch
    # A softmax passes value biases on as they are. Lightning does not, and adds
    # constants by an output bias only.
    writes_constants = arch.attention == "softmax" or arch.block.value_dim is not None
    if i == 0 and not arch.block.positions:
        return
    # Layer i has to add it, and with a skip layer i + 1 has to take it away again.
    if (i > 0 or arch.skip) and not writes_constants:
        return
    # Rows: the vectors that layer i adds, and what of each layer i + 1 gets.
    vectors = np.eye(arch.widths[i])
    passed = np.eye(arch.widths[i])
    if arch.block.mlp and i:
        w = net.layer(i)
        if arch.block.mlp[1] > 1:
            vectors = null_space(over, w["U1"])  # directions that the MLP does not see
            passed = vectors if arch.skip else 0 * vectors
        else:
            # An MLP of power 1 is the matrix U₂ U₁.
            passed = over.reduce(over.matmul(w["U2"], w["U1"]).T + arch.skip * passed)
    w = net.layer(i + 1)
    for c, after in zip(vectors[..., None], passed[..., None], strict=True):
        if i == 0:
            change = {"P": np.broadcast_to(c, net.shapes["P"])}
        else:
            change = net.change(i, net.constant(i, c))
        undone = [
            (bias, ..., -over.matmul(w[bias.upper()], after))
            for bias in ("q", "k", "v")
        ]
        if arch.skip:
            undone.append(net.constant(i + 1, -after))
        yield change | net.change(i + 1, *undone)


def _interfaces(net: _Network, i: int) -> Iterator[Change]:
    """Another basis for the tokens after layer i; with an MLP there, before and after
    it."""
    here = net.layer(i)
    after = net.layer(i + 1)
    d = net.arch.widths[i]
    written = ("O", "o") if "O" in here else ("V", "v")
    writers = [{f"{i}.{name}": here[name] for name in written if name in here}]
    readers = [{f"{i + 1}.{name}": after[name] for name in ("Q", "K", "V")}]
    if "U1" in here:
        # Two places: from the layer to U₁, and from U₂ to the next layer.
        writers.append({f"{i}.U2": here["U2"]})
        readers.insert(0, {f"{i}.U1": here["U1"]})
    for writer, reader in zip(writers, readers, strict=True):
        # All that is written as one matrix with d rows, and all that reads with d
        # columns.
        right = np.concatenate(
            [np.moveaxis(matrix, -2, 0).reshape(d, -1) for matrix in writer.values()],
            axis=1,
        )
        left = np.concatenate([matrix.reshape(-1, d) for matrix in reader.values()])
        # The tokens z become (1 + ε e_row e_columnᵀ) z.
        for row, column in acting(net.over, left, right):
            change = {
                name: np.zeros(matrix.shape)
                for name, matrix in (writer | reader).items()
            }
            for name, matrix in writer.items():
                change[name][..., row, :] = matrix[..., column, :]
            for name, matrix in reader.items():
                change[name][..., column] = -matrix[..., row]
            yield change


def _hidden_units(net: _Network, i: int) -> Iterator[Change]:
    """What leaves U₂ (U₁ y)^e alone on random tokens y: (c u₁, u₂ / c^e) a unit, more
    if m is large."""
    over = net.over
    m, e = net.arch.block.mlp
    w = net.layer(i)
    d = len(w["U2"])
    # A point gives d equations for the 2 m d entries of U₁ and U₂; two are to spare.
    points = 2 * m + 2
    rng = np.random.default_rng(points)
    tape = Tape(over)
    y = tape.constant(over.random(rng, (points, d, 1)))
    U1 = tape.parameter(w["U1"])
    U2 = tape.parameter(w["U2"])
    output = tape.matmul(U2, tape.power(tape.matmul(U1, y), e))
    parts = tape.gradients(output, np.eye(d).reshape(1, d, d, 1), [U1, U2])
    J = np.concatenate(parts, axis=-1)
    for vector in null_space(over, J.reshape(-1, 2 * m * d)):
        yield {
            f"{i}.U1": vector[: m * d].reshape(m, d),
            f"{i}.U2": vector[m * d :].reshape(d, m),
        }


def _has_affine_maps(arch: Transformer) -> bool:
    """Whether tokens may become an affine map of what they were, between the first and
    the last layer."""
    writes_constants = arch.attention == "softmax" or arch.block.value_dim is not None
    squares = (
        arch.block.mlp is not None and arch.block.mlp[1] == 2 and arch.num_layers > 1
    )
    return squares and arch.skip and arch.block.biases and writes_constants


def _affine_maps(net: _Network, _: int) -> Iterator[Change]:
    """Tokens after attention i change by s_i + L_{i−1} y, and after its MLP by s_i +
    L_i z; L₀ = L_{l−1} = 0.

    Attention lets an affine change pass and adds any constant; an MLP of power 2 makes
    of it L_i = L_{i−1} + 2 U₂ diag(U₁ s_i) U₁ ("Affine maps between layers"). All
    layers change at once.
    """
    over = net.over
    depth = net.arch.num_layers
    d = net.arch.widths[0]
    layers = [net.layer(i) for i in range(1, depth + 1)]
    # What each coordinate of s_i adds to L: a d × d matrix.
    bends = []
    for w in layers[:-1]:
        # 2 U₂ diag(U₁ e_k) for each k: (d, d, m).
        scaled = over.reduce(2 * over.reduce(w["U2"] * w["U1"].T[:, None]))
        bends.append(over.matmul(scaled, w["U1"]))
    # L_{l−1} = 0: an equation for each entry of L, an unknown for each coordinate of
    # each s_i.
    equations = np.concatenate(bends).reshape(-1, d * d).T
    for solution in null_space(over, equations):
        constants = solution.reshape(depth - 1, d, 1)
        yield _affine_change(net, layers, constants, bends)


def _affine_change(
    net: _Network,
    layers: list[Weights],
    constants: np.ndarray,
    bends: list[np.ndarray],
) -> Change:
    """What all weights do while the tokens change by s_i + L_i z.

    The formulas are those of "Affine maps between layers" in
    beyond/docs/beyond_the_paper.md.
    """
    over = net.over
    d = net.arch.widths[0]
    L = np.zeros((d, d))
    s = np.zeros((d, 1))
    change = {}
    for i, w in enumerate(layers, start=1):
        is_last = i == len(layers)
        next_s = np.zeros((d, 1)) if is_last else constants[i - 1]
        # What reads the tokens takes s + L y back, and what writes to them follows L.
        parts = [(name, ..., -over.matmul(w[name], L)) for name in "QKV"]
        parts += [(name.lower(), ..., -over.matmul(w[name], s)) for name in "QKV"]
        parts += [
            (name, ..., over.matmul(L, w[name]))
            for name in (("O", "o") if "O" in w else ("V", "v"))
        ]
        # The skip passes s on, and the constant of the layer makes s_i of it.
        parts.append(net.constant(i, next_s - s))
        if not is_last:
            parts.append(("U1", ..., -over.matmul(w["U1"], L)))
            L = over.reduce(
                L + over.matmul(next_s.T, bends[i - 1].reshape(d, d * d)).reshape(d, d)
            )
            parts.append(("U2", ..., over.matmul(L, w["U2"])))
        change |= net.change(i, *parts)
        s = next_s
    return change


# Heads that blend


def _blends(net: _Network, i: int) -> Iterator[Change]:
    """Ȧ_h = Σ_k g_hk A_k and V̇_h = −Σ_k g_kh V_k for those g that Q, K, V and O can
    follow.

    Let A and V have the A_h = β_h K_gᵀ Rᵟ Q_h (all δ, biases as one more column) and
    V_h = O_h W_g as rows. Then gA = Ȧ and Vᵀg = −V̇ᵀ have a common solution g if and
    only if the rows of Ȧ are in the row space of A, those of V̇ in that of V, and VᵀȦ +
    V̇ᵀA = 0. The first two are solved group by group.
    """
    if net.arch.heads[i - 1] == 1:
        return
    over = net.over
    w = net.layer(i)
    groups = net.heads_of(i)
    Q, K, V = (_with_bias(w, name) for name in "QKV")
    outputs = w["O"].mT if "O" in w else None
    scaled = Q
    if "beta" in w:
        # β Q̇ is solved for in place of Q̇. β itself stands still: its own direction is
        # the family "temperatures".
        scaled = over.reduce(Q * w["beta"])
        inverses = np.stack([inverse(over, beta) for beta in w["beta"]])

    turns = net.rotations(i)
    still = [np.eye(V.shape[1])]
    attention = []
    values = []
    for g, heads in enumerate(groups):
        # A_h = K_gᵀ Rᵟ (β_h Q_h), and V_hᵀ = W_gᵀ O_hᵀ.
        attention.append(_Products(over, K[g], scaled[heads], turns))
        of_group = None if outputs is None else outputs[heads]
        values.append(_Products(over, V[g], of_group, still))
    of_A = _Rows(over, attention)
    of_V = _Rows(over, values)

    solutions = _common_solutions(over, groups, of_A, of_V)
    for A_moves, V_moves in zip(*solutions, strict=True):
        of_K, of_Q = _in_both_factors(A_moves, K, Q)
        if "beta" in w:
            of_Q = over.reduce(of_Q * inverses)
        solution = {"K": of_K, "Q": of_Q}
        if outputs is None:
            solution["V"] = V_moves.reshape(V.shape)
        else:
            solution["V"], of_O = _in_both_factors(V_moves, V, outputs)
            solution["O"] = of_O.mT
        yield _as_change(net, i, solution)


def _with_bias(w: Weights, name: str) -> np.ndarray:
    """A weight, with its bias as one more column where there is one."""
    bias = name.lower()
    return np.concatenate([w[name], w[bias]], axis=-1) if bias in w else w[name]


class _Products:
    """firstᵀ R second_h for the heads h of a group and some R; without seconds `first`
    itself.

    Args:
        first: shape (a, x); without seconds the V of a head.
        seconds: shape (heads, a, y).
        turns: the R, of shape (a, a). The products with all of them stand in one row,
            as one change of the factors moves them together.

    Attributes:
        rows: a row for each head.
        effect: shape (entries of the factors, heads, entries of a row): what each entry
            alone changes.
    """

    def __init__(
        self,
        over: Field,
        first: np.ndarray,
        seconds: np.ndarray | None,
        turns: list[np.ndarray],
    ) -> None:
        if seconds is None:
            self.rows = first.reshape(1, -1)
            self.effect = np.eye(first.size)[:, None]
            return
        (a, x), (heads, _, y) = first.shape, seconds.shape
        rows = []
        effects = []
        for R in turns:
            left = over.matmul(first.T, R)
            right = over.matmul(R, seconds)
            rows.append(over.matmul(left, seconds).reshape(heads, -1))
            # The entries of `first` have the axes (a, x), those of `seconds` (heads, a,
            # y); the others are (heads, x, y), of the products.
            of_first = np.zeros((a, x, heads, x, y))
            of_seconds = np.zeros((heads, a, y, heads, x, y))
            # Entry (k, column) of `first` moves row `column` of each product by row k
            # of R second_h.
            for column in range(x):
                of_first[:, column, :, column] = right.swapaxes(0, 1)
            # Entry (k, column) of second_h moves column `column` of product h by column
            # k of firstᵀ R.
            for h, column in product(range(heads), range(y)):
                of_seconds[h, :, column, h, :, column] = left.T
            both = (
                of_first.reshape(-1, heads, x * y),
                of_seconds.reshape(-1, heads, x * y),
            )
            effects.append(np.concatenate(both))
        self.rows = np.concatenate(rows, axis=-1)
        self.effect = np.concatenate(effects, axis=-1)


class _Rows:
    """The rows of all heads, and those changes of factors that leave each in the space
    of all.

    Attributes:
        rows: of all heads, in coordinates of their space.
        free: for each group a basis of these changes.
        moved: for each group what they do to its rows, shape (changes, heads,
            coordinates).
    """

    def __init__(self, over: Field, groups: list[_Products]) -> None:
        rows = np.concatenate([group.rows for group in groups])
        # A row is in the space of all exactly if row · outside = 0.
        outside = null_space(over, rows).T
        inside = _coordinates(over, rows)
        self.rows = over.matmul(rows, inside)
        self.free = []
        self.moved = []
        for group in groups:
            entries, heads, length = group.effect.shape
            leaves = over.matmul(group.effect, outside).reshape(entries, -1)
            free = null_space(over, leaves.T)
            moved = over.matmul(free, group.effect.reshape(entries, -1)).reshape(
                len(free), heads, length
            )
            self.free.append(free)
            self.moved.append(over.matmul(moved, inside))


def _common_solutions(
    over: Field, groups: np.ndarray, of_A: _Rows, of_V: _Rows
) -> tuple[np.ndarray, np.ndarray]:
    """The free changes with VᵀȦ + V̇ᵀA = 0.

    Returns:
        What the factors of A do, and those of V, each of shape (solutions, groups,
        entries of the factors of a group).
    """
    # A column for each free change, an equation for each entry of VᵀȦ + V̇ᵀA.
    columns = []
    for heads, moved in zip(groups, of_A.moved, strict=True):
        columns.append(over.matmul(of_V.rows[heads].T, moved))
    for heads, moved in zip(groups, of_V.moved, strict=True):
        columns.append(over.matmul(moved.mT, of_A.rows[heads]))
    equations = np.concatenate(columns)
    solutions = null_space(over, equations.reshape(len(equations), -1).T)

    # A solution mixes the free changes: first those of A, group by group, then of V.
    free = [*of_A.free, *of_V.free]
    ends = np.cumsum([len(basis) for basis in free])
    parts = np.split(solutions, ends[:-1], axis=1)
    changes = [
        over.matmul(part, basis) for part, basis in zip(parts, free, strict=True)
    ]
    of_factors_of_A = changes[: len(groups)]
    of_factors_of_V = changes[len(groups) :]
    return np.stack(of_factors_of_A, axis=1), np.stack(of_factors_of_V, axis=1)


def _in_both_factors(
    moves: np.ndarray, first: np.ndarray, seconds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """What a solution does to both factors of the products; its rows hold for each
    group the entries of `first`, then those of its `seconds`."""
    in_first = first[0].size
    return (
        moves[:, :in_first].reshape(first.shape),
        moves[:, in_first:].reshape(seconds.shape),
    )


def _coordinates(over: Field, rows: np.ndarray) -> np.ndarray:
    """A matrix with rows · it as independent as the rows, and no more columns than
    there are rows."""
    if isinstance(over, PrimeField):
        # The columns at the pivots determine all others.
        return np.eye(rows.shape[1])[:, row_space(over, rows).pivots]
    # Orthonormal coordinates leave the sizes alone that `null_space` looks at.
    return np.linalg.svd(rows, full_matrices=False)[2].T


def _as_change(net: _Network, i: int, solution: dict[str, np.ndarray]) -> Change:
    """K̇, Q̇, V̇, Ȯ with their biases."""
    change: Change = {}
    for name in ("K", "Q", "V"):
        matrix = solution[name]
        if net.arch.block.biases:
            change[f"{i}.{name.lower()}"], matrix = matrix[..., -1:], matrix[..., :-1]
        change[f"{i}.{name}"] = matrix
    if "O" in solution:
        change[f"{i}.O"] = solution["O"]
    return change
