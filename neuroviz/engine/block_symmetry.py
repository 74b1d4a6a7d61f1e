"""The directions in which no network of ours changes, written down at given weights, over any field.

`neuroviz.engine.block_formulas` counts them by formula; here they are vectors, and the tests hold the exact
derivative against each. Where a family has no closed form it is the null space of a small linear map:
what leaves the products alone that a layer is made of.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Field, PrimeField
from neuroviz.engine.network import BlockWeights, Weights, named
from neuroviz.engine.pivots import gauss_jordan
from neuroviz.engine.rotary import QUARTER_TURN, powers_of_rotations
from neuroviz.engine.tape import Tape

Change = dict[str, np.ndarray]
"""The derivative of some of the weights; the others stand still."""

_IN_THE_PAPER = {"bases of keys and queries": "head bases", "bases between layers": "interfaces"}


def null_space(over: Field, matrix: np.ndarray) -> np.ndarray:
    """A basis of {x : matrix x = 0}, as rows; over the reals orthonormal, where σ < 1e−9 counts as 0.

    For matrices with entries of the size of 1: of larger ones those below 1e−9 of the largest.

    >>> null_space(PrimeField(7), np.array([[1.0, 2.0, 3.0]])).shape
    (2, 3)
    """
    rows, columns = matrix.shape
    if not matrix.size:
        return np.eye(columns)
    if isinstance(over, PrimeField):
        transform, used, pivots = gauss_jordan(over, matrix)
        free = np.setdiff1d(np.arange(columns), pivots)
        basis = np.zeros((len(free), columns))
        basis[np.arange(len(free)), free] = 1
        basis[:, pivots] = over.reduce(-over.matmul(transform, matrix)[used][:, free].T)
        return basis
    _, sigma, right = np.linalg.svd(matrix)
    return right[int((sigma > 1e-9 * max(sigma[0], 1.0)).sum()) :]


def symmetry_directions(
    over: Field, arch: Architecture, weights: BlockWeights | Weights
) -> dict[str, list[np.ndarray]]:
    """All continuous symmetries that we know of any `Architecture`, by family and layer.

    The families, in the order in which `kernel_ledger` counts them, are those of `known_redundancies`, and
    for lightning two more:

        rescalings         Q_h → c Q_h, V_h → V_h / c (or O_h), one a head
        heads that blend   A_h → Σ_k g_hk A_k, V_h → Σ_k (g⁻ᵀ)_hk V_k, as far as all ranks allow it:
                           Σ_h V_h X Xᵀ A_h X depends on Σ_h V_h ⊗ A_h only

    A network of the paper has its own names: "head bases" (Lemma 3.1), "interfaces" (Eq. 9), and for
    lightning "rescalings" (Eq. 13).

    Args:
        weights: over this field, as in `random_block_weights`; without a block also as in `random_weights`.

    Returns:
        name of the family → one array of directions, shape (directions, number of parameters), for each
        layer or place between two layers; affine maps go through all layers and are one array. The rows
        need not be independent.

    >>> from neuroviz.engine.network import random_block_weights
    >>> arch, over = Architecture((3, 3), (3,), heads=2), PrimeField()
    >>> found = symmetry_directions(over, arch, random_block_weights(over, arch, np.random.default_rng(0)))
    >>> list(found)
    ['bases of keys and queries', 'rescalings', 'heads that blend']
    """
    shapes, block, softmax = arch.parameter_shapes, arch.block, arch.attention == "softmax"
    if not isinstance(weights, dict):
        weights = {name: matrix.reshape(shapes[name]) for name, matrix in named(weights).items()}
    net = _Network(over, arch, weights, shapes)
    layers, places = range(1, arch.num_layers + 1), range(1, arch.num_layers)
    output = ("O",) if block.value_dim else ("V", "v")
    families: list[tuple[str, bool, Callable[[_Network, int], Iterable[Change]], range]] = [
        ("bases of keys and queries", True, _query_bases, layers),
        ("bases of values and outputs", block.value_dim is not None, _value_bases, layers),
        ("temperatures", block.temperature, partial(_scalings, up=("beta",), down=("Q", "q")), layers),
        ("key biases", softmax and block.biases and not block.rotary, _key_biases, layers),
        ("value biases", softmax and block.biases, _value_biases, layers),
        ("shifts between layers", block.biases, _shifts, range(arch.num_layers)),
        ("hidden units of the MLPs", block.mlp is not None, _hidden_units, places),
        ("affine maps between layers", _lets_affine_maps_pass(arch), _affine_maps, range(1)),
        ("bases between layers", not arch.skip, _interfaces, places),
        ("rescalings", not softmax, partial(_scalings, up=("Q", "q"), down=output), layers),
        ("heads that blend", not softmax and max(arch.heads) > 1, _blends, layers),
    ]
    names = _IN_THE_PAPER if arch.is_plain else {}
    return {
        names.get(name, name): [net.rows(directions(net, i)) for i in where]
        for name, there, directions, where in families
        if there and (where or arch.is_plain)
    }


@dataclass(frozen=True, eq=False)
class _Network:
    over: Field
    arch: Architecture
    weights: BlockWeights
    shapes: dict[str, tuple[int, ...]]

    def layer(self, i: int) -> BlockWeights:
        """The weights of layer i, from 1, by their short names."""
        return {n.split(".")[1]: w for n, w in self.weights.items() if n.startswith(f"{i}.")}

    def heads_of(self, i: int) -> np.ndarray:
        """Which heads share the keys and values of each group of layer i; a row for each group."""
        H = self.arch.heads[i - 1]
        return np.arange(H).reshape(self.arch.block.kv_heads or H, -1)

    def change(self, i: int, *parts: tuple[str, object, np.ndarray]) -> Change:
        """Each part is a weight of layer i, an index in it and its derivative there; others do not exist."""
        found: Change = {}
        for name, index, value in parts:
            if (key := f"{i}.{name}") in self.shapes:
                found.setdefault(key, np.zeros(self.shapes[key]))[index] += value
        return found

    def constant(self, i: int, c: np.ndarray) -> tuple[str, object, np.ndarray]:
        """What layer i adds to all tokens moves by c."""
        return ("o", ..., c) if f"{i}.o" in self.shapes else ("v", 0, c)

    def rows(self, changes: Iterable[Change]) -> np.ndarray:
        """Changes as rows of all parameters, in the order of `parameter_shapes`."""
        still = {name: np.zeros(shape) for name, shape in self.shapes.items()}
        found = [np.concatenate([part.ravel() for part in (still | change).values()]) for change in changes]
        return self.over.reduce(np.array(found).reshape(len(found), self.arch.num_parameters))

    def rotations(self, i: int) -> list[np.ndarray]:
        """Rᵟ for all differences δ of two places that attend to each other; without rotary positions 1."""
        if not self.arch.block.rotary:
            return [np.eye(self.arch.head_dims[i - 1])]
        cosines, sines = powers_of_rotations(self.over, self.layer(i)["R"], self.arch.tokens)
        turns = zip(cosines.T, sines.T, strict=True)
        powers = [np.kron(np.diag(c), np.eye(2)) + np.kron(np.diag(s), QUARTER_TURN) for c, s in turns]
        return powers if self.arch.causal else powers + [power.T for power in powers[1:]]


def _units(size: int) -> Iterator[np.ndarray]:
    for entry in np.eye(size * size):
        yield entry.reshape(size, size)


# What a layer is made of


def _query_bases(net: _Network, i: int) -> Iterator[Change]:
    """Q_h → C Q_h, K_g → C⁻ᵀ K_g, biases too; and what products with a matrix of low rank do not show."""
    over, w, a = net.over, net.layer(i), net.arch.head_dims[i - 1]
    turns = net.rotations(i)
    # Softmax does not see k: it adds one number to all logits of a column. With rotations it sees it.
    seen_bias = net.arch.attention == "lightning" or net.arch.block.rotary
    keys = [name for name in ("K", "k") if name in w and (seen_bias or name == "K")]
    queries = [name for name in ("Q", "q") if name in w]
    for g, heads in enumerate(net.heads_of(i)):
        for E in _commuting(a) if net.arch.block.rotary else _units(a):
            moved = [(name, h, over.matmul(E, w[name][h])) for name in queries for h in heads]
            yield net.change(i, *moved, *((name, g, over.matmul(-E.T, w[name][g])) for name in keys))
        K = np.concatenate([w[name][g] for name in keys], axis=-1)
        Q = np.concatenate([w[name][h] for h in heads for name in queries], axis=1)
        unseen = null_space(over, np.concatenate([over.matmul(K.T, R) for R in turns]))
        yield from _fill(net, i, unseen, [(name, h) for name in queries for h in heads])
        unread = null_space(over, np.concatenate([over.matmul(R, Q).T for R in turns]))
        yield from _fill(net, i, unread, [(name, g) for name in keys])


def _commuting(a: int) -> Iterator[np.ndarray]:
    """What commutes with turns of pairs of coordinates: a turn and a stretch of each pair."""
    for unit in np.eye(a // 2):
        for small in (np.eye(2), QUARTER_TURN):
            yield np.kron(np.diag(unit), small)


def _fill(net: _Network, i: int, vectors: np.ndarray, places: list[tuple[str, int]]) -> Iterator[Change]:
    """Each vector in each column of each of some matrices of layer i."""
    for (name, index), vector in product(places, vectors):
        for column in range(net.shapes[f"{i}.{name}"][-1]):
            yield net.change(i, (name, (index, slice(None), column), vector))


def _value_bases(net: _Network, i: int) -> Iterator[Change]:
    """W_g → C W_g, O_h → O_h C⁻¹; and what products with a matrix of low rank do not show.

    Columns of a softmax sum to 1, so there O v is a constant vector, which the output bias takes back.
    """
    over, w = net.over, net.layer(i)
    values = [name for name in ("V", "v") if name in w and (name == "V" or net.arch.attention == "lightning")]

    def repaired(*parts: tuple[str, object, np.ndarray]) -> Change:
        change = net.change(i, *parts)
        if "o" in w and "v" not in values:
            change[f"{i}.o"] = -sum(over.matmul(change[f"{i}.O"][h], w["v"][g]) for h in heads)
        return change

    for g, heads in enumerate(net.heads_of(i)):
        for E in _units(net.arch.block.value_dim):
            moved = [(name, g, over.matmul(E, w[name][g])) for name in values]
            yield repaired(*moved, *(("O", h, over.matmul(w["O"][h], -E)) for h in heads))
        outputs = np.concatenate([w["O"][h] for h in heads])
        yield from _fill(net, i, null_space(over, outputs), [(name, g) for name in values])
        W = np.concatenate([w[name][g] for name in values], axis=-1)
        for vector in null_space(over, W.T):
            for h, row in product(heads, range(net.arch.widths[i])):
                yield repaired(("O", (h, row), vector))


def _scalings(net: _Network, i: int, up: tuple[str, ...], down: tuple[str, ...]) -> Iterator[Change]:
    """The `up` weights of one head times c, the `down` ones by c."""
    w = net.layer(i)
    signs = [(name, sign) for names, sign in ((up, 1), (down, -1)) for name in names if name in w]
    for h in range(net.arch.heads[i - 1]):
        yield net.change(i, *((name, h, sign * w[name][h]) for name, sign in signs))


def _key_biases(net: _Network, i: int) -> Iterator[Change]:
    """Any k: the same number for all logits of a column."""
    return _fill(net, i, np.eye(net.arch.head_dims[i - 1]), [("k", g) for g in range(len(net.heads_of(i)))])


def _value_biases(net: _Network, i: int) -> Iterator[Change]:
    """A constant vector, from any head, taken back by the output bias or by the first head."""
    w = net.layer(i)
    for g, heads in enumerate(net.heads_of(i)):
        for vector in np.eye(w["v"].shape[1])[..., None] if g or "o" in w else ():
            sums = sum(net.over.matmul(w["O"][h], vector) for h in heads) if "o" in w else vector
            yield net.change(i, ("v", g, vector), net.constant(i, -sums))


# Between layers


def _shifts(net: _Network, i: int) -> Iterator[Change]:
    """A constant vector, added to the tokens after layer i (0: to the positions), undone by layer i + 1."""
    over, arch = net.over, net.arch
    writes_constants = arch.attention == "softmax" or arch.block.value_dim is not None
    if (i == 0 and not arch.block.positions) or ((i or arch.skip) and not writes_constants):
        return
    vectors, passed = np.eye(arch.widths[i]), np.eye(arch.widths[i])
    if arch.block.mlp and i:
        w = net.layer(i)
        if arch.block.mlp[1] > 1:
            vectors = null_space(over, w["U1"])  # directions that the MLP does not see
            passed = vectors if arch.skip else 0 * vectors
        else:
            passed = over.reduce(over.matmul(w["U2"], w["U1"]).T + arch.skip * passed)
    w = net.layer(i + 1)
    for c, after in zip(vectors[..., None], passed[..., None], strict=True):
        change = net.change(i, net.constant(i, c)) if i else {"P": np.broadcast_to(c, net.shapes["P"])}
        undone = [(bias, ..., -over.matmul(w[bias.upper()], after)) for bias in ("q", "k", "v")]
        yield change | net.change(i + 1, *undone, *([net.constant(i + 1, -after)] * arch.skip))


def _interfaces(net: _Network, i: int) -> Iterator[Change]:
    """Another basis for the tokens after layer i; with an MLP there, before and after it."""
    over, here, after = net.over, net.layer(i), net.layer(i + 1)
    written = ("O", "o") if "O" in here else ("V", "v")
    writers = [{f"{i}.{name}": here[name] for name in written if name in here}]
    readers = [{f"{i + 1}.{name}": after[name] for name in ("Q", "K", "V")}]
    if "U1" in here:
        writers.append({f"{i}.U2": here["U2"]})
        readers.insert(0, {f"{i}.U1": here["U1"]})
    for writer, reader in zip(writers, readers, strict=True):
        for E in _units(net.arch.widths[i]):
            change = {name: over.matmul(E, matrix) for name, matrix in writer.items()}
            yield change | {name: over.matmul(matrix, -E) for name, matrix in reader.items()}


def _hidden_units(net: _Network, i: int) -> Iterator[Change]:
    """What leaves U₂ (U₁ y)^e alone on random tokens y: (c u₁, u₂ / c^e) a unit, more if m is large."""
    over, (m, e), w = net.over, net.arch.block.mlp, net.layer(i)
    d, points, tape = len(w["U2"]), 2 * m + 2, Tape(over)
    y = tape.constant(over.random(np.random.default_rng(points), (d, points)).T[:, None, :, None])
    U1, U2 = tape.parameter(w["U1"]), tape.parameter(w["U2"])
    output = tape.matmul(U2, tape.power(tape.matmul(U1, y), e))
    J = np.concatenate(tape.gradients(output, np.eye(d).reshape(1, d, d, 1), [U1, U2]), axis=-1)
    for vector in null_space(over, J.reshape(-1, 2 * m * d)):
        yield {f"{i}.U1": vector[: m * d].reshape(m, d), f"{i}.U2": vector[m * d :].reshape(d, m)}


def _lets_affine_maps_pass(arch: Architecture) -> bool:
    """Whether tokens may become an affine map of what they were, between the first and the last layer."""
    writes_constants = arch.attention == "softmax" or arch.block.value_dim is not None
    squares = arch.block.mlp is not None and arch.block.mlp[1] == 2 and arch.num_layers > 1
    return squares and arch.skip and arch.block.biases and writes_constants


def _affine_maps(net: _Network, _: int) -> Iterator[Change]:
    """Tokens after attention i change by s_i + L_{i−1} y, and after its MLP by s_i + L_i z; L₀ = L_{l−1} = 0.

    Attention lets an affine change pass and adds any constant; an MLP of power 2 makes of it
    L_i = L_{i−1} + 2 U₂ diag(U₁ s_i) U₁ ("Affine maps between layers"). All layers change at once.
    """
    over, depth, d = net.over, net.arch.num_layers, net.arch.widths[0]
    layers = [net.layer(i) for i in range(1, depth + 1)]
    # What each coordinate of s_i adds to L: a d × d matrix.
    bends = []
    for w in layers[:-1]:
        scaled = over.reduce(2 * over.reduce(w["U2"] * w["U1"].T[:, None]))
        bends.append(over.matmul(scaled, w["U1"]))
    equations = np.concatenate(bends).reshape(-1, d * d).T
    for solution in null_space(over, equations):
        constants = solution.reshape(depth - 1, d, 1)
        yield _affine_change(net, layers, constants, bends)


def _affine_change(
    net: _Network, layers: list[BlockWeights], constants: np.ndarray, bends: list[np.ndarray]
) -> Change:
    """What all weights do while the tokens change by s_i + L_i z."""
    over, d = net.over, net.arch.widths[0]
    L, s, change = np.zeros((d, d)), np.zeros((d, 1)), {}
    for i, w in enumerate(layers, start=1):
        is_last = i == len(layers)
        next_s = np.zeros((d, 1)) if is_last else constants[i - 1]
        parts = [(name, ..., -over.matmul(w[name], L)) for name in "QKV"]
        parts += [(name.lower(), ..., -over.matmul(w[name], s)) for name in "QKV"]
        parts += [(name, ..., over.matmul(L, w[name])) for name in (("O", "o") if "O" in w else ("V", "v"))]
        parts.append(net.constant(i, next_s - s))
        if not is_last:
            parts.append(("U1", ..., -over.matmul(w["U1"], L)))
            L = over.reduce(L + over.matmul(next_s.T, bends[i - 1].reshape(d, d * d)).reshape(d, d))
            parts.append(("U2", ..., over.matmul(L, w["U2"])))
        change |= net.change(i, *parts)
        s = next_s
    return change


# Heads that blend


def _blends(net: _Network, i: int) -> Iterator[Change]:
    """Ȧ_h = Σ_k g_hk A_k and V̇_h = −Σ_k g_kh V_k for those g that Q, K, V and O can follow.

    With A_h = β_h K_gᵀ Rᵟ Q_h (all δ, biases as one more column) and V_h = O_h W_g this is one linear system
    in g and the changes of K, Q, W and O; its solutions with g = 0 are changes of basis.
    """
    over, arch, w = net.over, net.arch, net.layer(i)
    H, low = arch.heads[i - 1], arch.block.value_dim is not None
    if H == 1:
        return
    groups = net.heads_of(i)
    of = np.repeat(np.arange(len(groups)), groups.shape[1])
    Q, K, V = (np.concatenate([w[n] for n in (name, name.lower()) if n in w], axis=-1) for name in "QKV")
    if "beta" in w:
        Q = over.reduce(Q * w["beta"])
    shapes = {"g": (H, H), "K": K.shape, "Q": Q.shape, "V": V.shape} | ({"O": w["O"].shape} if low else {})
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])

    def split(rows: np.ndarray) -> dict[str, np.ndarray]:
        parts = zip(shapes.items(), np.split(rows, ends[:-1], axis=-1), strict=True)
        return {name: part.reshape(-1, *shape) for (name, shape), part in parts}

    unit, rows = split(np.eye(ends[-1])), []  # the effect of each unknown alone
    for R in net.rotations(i):
        turned, KR = over.matmul(R, Q), over.matmul(K.mT[of], R)
        moved = over.matmul(unit["K"].mT[:, of], turned) + over.matmul(KR, unit["Q"])
        rows.append(moved - np.einsum("nhk,kij->nhij", unit["g"], over.matmul(KR, Q)))
    values, moved = V[of], unit["V"][:, of]
    if low:
        moved = over.matmul(unit["O"], values) + over.matmul(w["O"], moved)
        values = over.matmul(w["O"], values)
    rows.append(moved + np.einsum("nkh,kij->nhij", unit["g"], values))
    system = over.reduce(np.concatenate([row.reshape(ends[-1], -1) for row in rows], axis=1)).T
    for vector in null_space(over, system):
        yield _as_change(net, i, {name: part[0] for name, part in split(vector).items()})


def _as_change(net: _Network, i: int, solution: dict[str, np.ndarray]) -> Change:
    """K̇, Q̇, V̇, Ȯ with their biases; what was solved for in place of Q̇ is β Q̇."""
    w, change = net.layer(i), {}
    if "beta" in w:
        inverse = np.stack([net.over.inverse(beta) for beta in w["beta"]])
        solution = solution | {"Q": net.over.reduce(solution["Q"] * inverse)}
    for name in ("K", "Q", "V"):
        matrix = solution[name]
        if net.arch.block.biases:
            change[f"{i}.{name.lower()}"], matrix = matrix[..., -1:], matrix[..., :-1]
        change[f"{i}.{name}"] = matrix
    if "O" in solution:
        change[f"{i}.O"] = solution["O"]
    return change
