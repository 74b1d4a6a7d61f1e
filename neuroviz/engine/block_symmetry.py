"""The directions in which no network of ours changes, written down at given weights, over any field.

`neuroviz.engine.block_formulas` counts them by formula; here they are vectors, and the tests hold the exact
derivative against each. Where a family has no closed form it is the null space of a small linear map:
what leaves the products alone that a layer is made of.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block_network import BlockWeights
from neuroviz.engine.field import Field, PrimeField
from neuroviz.engine.network import Weights

Change = dict[str, np.ndarray]
"""The derivative of some of the weights; the others stand still."""

_ALL = slice(None)
_IN_THE_PAPER = {"bases of keys and queries": "head bases", "bases between layers": "interfaces"}


def null_space(over: Field, matrix: np.ndarray) -> np.ndarray:
    """A basis of {x : matrix x = 0}, as rows; over the reals orthonormal, where σ < 1e−9 counts as 0.

    For matrices with entries of the size of 1: of larger ones those below 1e−9 of the largest.

    >>> null_space(PrimeField(7), np.array([[1.0, 2.0, 3.0]])).shape
    (2, 3)
    """
    rows, columns = matrix.shape
    if not rows or not columns:
        return np.eye(columns)
    if isinstance(over, PrimeField):
        import flint  # here: it would take a quarter of the time that importing neuroviz takes

        entries = matrix.astype(np.int64).ravel().tolist()
        basis, count = flint.nmod_mat(rows, columns, entries, over.p).nullspace()
        found = np.array([int(entry) for entry in basis.entries()], dtype=float)
        return over.reduce(found.reshape(columns, -1)[:, :count].T)
    _, sigma, right = np.linalg.svd(matrix)
    return right[int((sigma > 1e-9 * max(sigma[0], 1.0)).sum()) :]


def symmetry_directions(
    over: Field, arch: Architecture, weights: BlockWeights | Weights
) -> dict[str, list[np.ndarray]]:
    """All continuous symmetries that we know, by family and layer, for any `Architecture`.

    The families, in the order in which `kernel_ledger` counts them, are those of `known_redundancies`, and
    for lightning two more:

        rescalings         Q_h → c Q_h, V_h → V_h / c (or O_h), one a head
        heads that blend   A_h → Σ_k g_hk A_k, V_h → Σ_k (g⁻ᵀ)_hk V_k, as far as all ranks allow it:
                           Σ_h V_h X Xᵀ A_h X depends on Σ_h V_h ⊗ A_h only

    A network of the paper has its own names: "head bases" (Lemma 3.1), "interfaces" (Eq. 9), and for
    lightning "rescalings" (Eq. 13).

    Args:
        over: the field of the weights.
        arch: any architecture.
        weights: as in `random_block_weights`; without a block also as in `random_weights`.

    Returns:
        name of the family → one array of directions, shape (directions, number of parameters), for each
        layer or place between two layers. The rows need not be independent.

    >>> from neuroviz.engine.block_network import random_block_weights
    >>> arch, over = Architecture((3, 3), (3,), heads=2), PrimeField()
    >>> found = symmetry_directions(over, arch, random_block_weights(over, arch, np.random.default_rng(0)))
    >>> list(found)
    ['bases of keys and queries', 'rescalings', 'heads that blend']
    """
    if not isinstance(weights, dict):
        shapes, matrices = arch.parameter_shapes, [matrix for layer in weights for matrix in layer]
        weights = {n: matrix.reshape(shapes[n]) for n, matrix in zip(shapes, matrices, strict=True)}
    net, block = _Network(over, arch, weights), arch.block
    layers, places = range(1, arch.num_layers + 1), range(1, arch.num_layers)
    softmax = arch.attention == "softmax"
    families: list[tuple[str, bool, Callable[[_Network, int], Iterable[Change]], Iterable[int]]] = [
        ("bases of keys and queries", True, _query_bases, layers),
        ("bases of values and outputs", block.value_dim is not None, _value_bases, layers),
        ("temperatures", block.temperature, _temperatures, layers),
        ("key biases", softmax and block.biases and not block.rotary, _key_biases, layers),
        ("value biases", softmax and block.biases, _value_biases, layers),
        ("shifts between layers", block.biases, _shifts, range(arch.num_layers)),
        ("hidden units of the MLPs", block.mlp is not None, _hidden_units, places),
        ("bases between layers", not arch.skip, _interfaces, places),
        ("rescalings", not softmax, _rescalings, layers),
        ("heads that blend", not softmax and max(arch.heads) > 1, _blends, layers),
    ]
    names = _IN_THE_PAPER if arch.is_plain else {}
    return {
        names.get(name, name): [net.rows(directions(net, i)) for i in where]
        for name, there, directions, where in families
        if there and (len(where) or arch.is_plain)
    }


@dataclass(frozen=True, eq=False)
class _Network:
    over: Field
    arch: Architecture
    weights: BlockWeights

    @cached_property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return self.arch.parameter_shapes

    def layer(self, i: int) -> BlockWeights:
        """The weights of layer i, from 1, by their short names."""
        return {n.split(".")[1]: w for n, w in self.weights.items() if n.startswith(f"{i}.")}

    def heads_of(self, i: int) -> list[range]:
        """Which heads share the keys and values of each group of layer i."""
        H = self.arch.heads[i - 1]
        n = H // (self.arch.block.kv_heads or H)
        return [range(first, first + n) for first in range(0, H, n)]

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
        found = [
            np.concatenate([c.get(name, np.zeros(shape)).ravel() for name, shape in self.shapes.items()])
            for c in changes
        ]
        return self.over.reduce(np.array(found).reshape(len(found), self.arch.num_parameters))

    def rotations(self, i: int) -> list[np.ndarray]:
        """Rᵟ for all differences δ of two places that attend to each other; without rotary positions 1."""
        a, t = self.arch.head_dims[i - 1], self.arch.tokens
        if not self.arch.block.rotary:
            return [np.eye(a)]
        R = np.zeros((a, a))
        for k, (c, s) in enumerate(self.layer(i)["R"]):
            R[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[c, -s], [s, c]]
        powers = [np.eye(a)]
        for _ in range(t - 1):
            powers.append(self.over.matmul(powers[-1], R))
        return powers if self.arch.causal else powers + [power.T for power in powers[1:]]


def _units(size: int) -> Iterator[np.ndarray]:
    for entry in np.eye(size * size):
        yield entry.reshape(size, size)


def _columns(matrix: np.ndarray, bias: np.ndarray | None) -> np.ndarray:
    """[W b], a map of tokens with a 1 below; without a bias W."""
    return matrix if bias is None else np.concatenate([matrix, bias], axis=-1)


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
    for k in range(a // 2):
        for small in (np.eye(2), np.array([[0.0, -1.0], [1.0, 0.0]])):
            E = np.zeros((a, a))
            E[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = small
            yield E


def _fill(net: _Network, i: int, vectors: np.ndarray, places: list[tuple[str, int]]) -> Iterator[Change]:
    """Each vector in each column of each of some matrices of layer i."""
    for name, index in places:
        for vector in vectors:
            for column in range(net.shapes.get(f"{i}.{name}", (0,))[-1]):
                yield net.change(i, (name, (index, _ALL, column), vector))


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
            for place in np.ndindex(len(heads), net.arch.widths[i]):
                yield repaired(("O", (heads[place[0]], place[1]), vector))


def _scalings(net: _Network, i: int, up: tuple[str, ...], down: tuple[str, ...]) -> Iterator[Change]:
    """The `up` weights of one head times c, the `down` ones by c."""
    w = net.layer(i)
    signs = [(name, sign) for names, sign in ((up, 1), (down, -1)) for name in names if name in w]
    for h in range(net.arch.heads[i - 1]):
        yield net.change(i, *((name, h, sign * w[name][h]) for name, sign in signs))


def _temperatures(net: _Network, i: int) -> Iterator[Change]:
    """β_h → c β_h, Q_h → Q_h / c."""
    return _scalings(net, i, ("beta",), ("Q", "q"))


def _rescalings(net: _Network, i: int) -> Iterator[Change]:
    """Q_h → c Q_h, V_h → V_h / c, or O_h → O_h / c."""
    return _scalings(net, i, ("Q", "q"), ("O",) if net.arch.block.value_dim else ("V", "v"))


def _key_biases(net: _Network, i: int) -> Iterator[Change]:
    """Any k: the same number for all logits of a column."""
    return _fill(net, i, np.eye(net.arch.head_dims[i - 1]), [("k", g) for g in range(len(net.heads_of(i)))])


def _value_biases(net: _Network, i: int) -> Iterator[Change]:
    """A constant vector, from any head, taken back by the output bias or by the first head."""
    w = net.layer(i)
    for g, heads in enumerate(net.heads_of(i)):
        if "o" not in w and g == 0:
            continue
        for vector in np.eye(w["v"].shape[1])[..., None]:
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
            vectors = null_space(over, w["U1"])  # what the MLP does not see
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
    over, (m, e) = net.over, net.arch.block.mlp
    U1, U2 = net.layer(i)["U1"], net.layer(i)["U2"]
    d, points = len(U2), 2 * m + 2
    y = over.random(np.random.default_rng(points), (d, points))
    z = over.matmul(U1, y)
    below = np.ones_like(z)
    for _ in range(e - 1):
        below = over.reduce(below * z)
    slope = over.reduce(e * below)
    # Row (r, n): output r at token n. Columns: U₁ (j, c), then U₂ (s, j).
    of_U2 = np.einsum("rs,jn->rnsj", np.eye(d), over.reduce(below * z))
    of_U1 = over.reduce(over.reduce(U2[:, None, :, None] * slope.T[None, :, :, None]) * y.T[None, :, None, :])
    J = np.concatenate([of_U1.reshape(d * points, -1), of_U2.reshape(d * points, -1)], axis=1)
    for vector in null_space(over, J):
        yield {f"{i}.U1": vector[: m * d].reshape(m, d), f"{i}.U2": vector[m * d :].reshape(d, m)}


# Heads that blend


def _blends(net: _Network, i: int) -> Iterator[Change]:
    """Ȧ_h = Σ_k g_hk A_k and V̇_h = −Σ_k g_kh V_k for those g that Q, K, V and O can follow.

    With A_h = β_h K_gᵀ Rᵟ Q_h (all δ, biases as one more column) and V_h = O_h W_g this is one linear system
    in g and the changes of K, Q, W and O; its solutions with g = 0 are changes of basis.
    """
    over, arch, w = net.over, net.arch, net.layer(i)
    groups, H = net.heads_of(i), arch.heads[i - 1]
    if H == 1:
        return
    of = [g for g, heads in enumerate(groups) for _ in heads]
    biased = arch.block.biases
    Q, K, V = (_columns(w[n], w[n.lower()] if biased else None) for n in ("Q", "K", "V"))
    if "beta" in w:
        Q = over.reduce(Q * w["beta"])
    turns = net.rotations(i)
    low = arch.block.value_dim is not None
    parts = {"g": (H, H), "K": K.shape, "Q": Q.shape, "V": V.shape} | ({"O": w["O"].shape} if low else {})
    ends = np.cumsum([0, *(int(np.prod(shape)) for shape in parts.values())])
    place = {n: slice(*ends[k : k + 2]) for k, n in enumerate(parts)}
    equations = []

    def equation(rows: int) -> Callable[[str, int], np.ndarray]:
        block = np.zeros((rows, ends[-1]))
        equations.append(block)
        # A view of the columns of one head's (or group's) matrix.
        return lambda name, index: block[:, place[name]].reshape(rows, parts[name][0], -1)[:, index]

    for R in turns:
        turned = over.matmul(R, Q)
        A = over.matmul(np.swapaxes(K, 1, 2)[of], turned)
        for h in range(H):
            left = over.matmul(K[of[h]].T, R)
            column = equation(A[0].size)
            column("Q", h)[:] = np.kron(left, np.eye(Q.shape[-1]))
            # (K̇ᵀ R Q)_ji = Σ_b K̇_bj (R Q)_bi
            column("K", of[h])[:] = np.einsum("jc,bi->jibc", np.eye(K.shape[-1]), turned[h]).reshape(
                A[0].size, -1
            )
            column("g", h)[:] = -A.reshape(H, -1).T
    values = over.matmul(w["O"], V[of]) if low else V
    for h in range(H):
        column = equation(values[0].size)
        column("V", of[h])[:] = np.kron(w["O"][h] if low else np.eye(V.shape[1]), np.eye(V.shape[-1]))
        if low:
            column("O", h)[:] = np.kron(np.eye(w["O"].shape[1]), V[of[h]].T)
        for k in range(H):
            column("g", k)[:, h] = values[k].ravel()
    for vector in null_space(over, np.concatenate(equations)):
        yield _as_change(net, i, {n: vector[place[n]].reshape(shape) for n, shape in parts.items()})


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
