"""Lightning heads that blend into each other while the function of the layer stays.

A layer of lightning heads is X ↦ Σ_h V_h X Xᵀ A_h X: it depends on Σ_h V_h ⊗ A_h only, so

    A_h → Σ_k g_hk A_k,   V_h → Σ_k (g⁻ᵀ)_hk V_k        g ∈ GL_H

leaves it alone. But the new A_h must again be a KᵀQ, of rank at most a: that is (d − a)² equations on
the h-th row of g, so beside rescalings something is left only where H > (d − a)² + 1. There the way
through the admissible g is followed step by step, and Newton's method brings each step back to the ranks; as
g is all that moves, no step changes the sum, and the function is left alone up to rounding.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import pi, sqrt
from numbers import Real

import numpy as np

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block_network import BlockWeights, block_forward, random_block_weights
from neuroviz.engine.block_symmetry import null_space
from neuroviz.engine.field import Reals
from neuroviz.engine.network import conditioned_tokens

STEPS = 20
"""Places on the way, from 0 to 1: about five degrees of turning lie between two of them."""
_INPUTS = 20
_RANK_ERROR = 1e-13  # how far the ranks may be missed, relative to matrices of size one
_NEWTON = 8
# Conditions that are dependent at the ranks are nearly so beside them: what is below such a share of the
# largest singular value is left out, or, where that does not work, kept.
_NEARLY_DEPENDENT = (1e-3, 1e-9)
_SMALL_STEPS = 2  # of the way between two places
_WORST = 1e3  # condition number of g from which on heads count as dependent


@dataclass(frozen=True, eq=False)
class Blend:
    """The heads of the first layer somewhere on their way, and whether the function noticed.

    Attributes:
        arch, place, seed: what was asked for; the place goes from 0 (the heads as drawn) to 1.
        g: how much of each old head is in each new one, H × H.
        before, now: A_h of the first layer, H × d × d (for biased layers without what biases add).
        deviation: the largest change of an output on 20 inputs, relative to the largest output.
        keeps: whether the way keeps all ranks, so that the function must stay.
        why: why there is no such way; "" where there is one.
        reached: the place that is shown: `place`, or less where the way could not be followed so far.
    """

    arch: Architecture
    place: float
    seed: int
    g: np.ndarray
    before: np.ndarray
    now: np.ndarray
    deviation: float
    keeps: bool
    why: str
    reached: float


def blend_heads(arch: Architecture, place: float, seed: int = 0) -> Blend:
    """Move the heads of the first layer along their way, or, where there is none, along the best guess.

    The guess turns the A_h and V_h into each other as if ranks did not matter, and then takes the nearest
    matrices that have the ranks.

    Args:
        arch: any `Architecture`.
        place: from 0 to 1, taken to the nearest of 20 steps.
        seed: of the weights and the inputs.

    Raises:
        ValueError: if `arch` is not an Architecture, or the place not from 0 to 1.

    >>> blend_heads(Architecture((3, 3), (2,), heads=3), 1.0).deviation < 1e-12
    True
    >>> blend_heads(Architecture((3, 3), (2,), heads=2), 1.0).why
    'H = 2 is not more than (d − a)² + 1 = 2'
    """
    check_architecture("blend_heads", arch, variants=True)
    if isinstance(place, bool) or not isinstance(place, Real) or not 0 <= place <= 1:
        raise ValueError(f"a place on the way is a number from 0 to 1; got {place!r}")
    weights, X = _network(arch, seed)
    layer = _Heads.of(arch, weights)
    why, way = _way(arch, seed)
    step = round(place * STEPS)
    reached = min(step, len(way) - 1)
    g = way[reached]
    moved = layer.blended(g)
    if why:
        moved = moved.of_full_rank()
    with_heads = weights | moved.weights(weights)
    Y, Z = (block_forward(Reals(), arch, w, X, np.random.default_rng(0)) for w in (weights, with_heads))
    d = arch.widths[0]
    return Blend(
        arch,
        place,
        seed,
        g,
        layer.A[:, :d, :d],
        moved.A[:, :d, :d],
        float(np.abs(Y - Z).max() / np.abs(Y).max()) if step else 0.0,
        not why,
        why,
        place if reached == step else reached / STEPS,
    )


def _network(arch: Architecture, seed: int) -> tuple[BlockWeights, np.ndarray]:
    """Weights of a readable size, all A of the first layer of the same, and inputs."""
    rng = np.random.default_rng([seed, 5])
    weights = random_block_weights(Reals(), arch, rng)
    for name, w in weights.items():
        if not name.endswith("R"):
            weights[name] = w / np.sqrt(w.shape[-1])
    sizes = np.linalg.norm(_Heads.of(arch, weights).A, axis=(1, 2), keepdims=True)
    for name in {"1.Q", "1.q"} & set(weights):
        weights[name] = weights[name] / sizes
    return weights, conditioned_tokens(arch, _INPUTS, rng)


@dataclass(frozen=True, eq=False)
class _Heads:
    """The first layer as a sum: A of shape (H, d, d) and V of shape (H, d′, d), biases as one column more.

    In each group of heads with shared keys [A_h …] has rank ≤ a, and the V_h on top of each other rank ≤ v.
    """

    arch: Architecture
    A: np.ndarray
    V: np.ndarray

    @classmethod
    def of(cls, arch: Architecture, weights: BlockWeights) -> "_Heads":
        w = {name.removeprefix("1."): matrix for name, matrix in weights.items() if name.startswith("1.")}
        times = arch.heads[0] // len(w["K"])
        Q, K, V = w["Q"], w["K"], w["V"]
        if arch.block.biases:
            Q, K, V = (np.concatenate([w[n], w[n.lower()]], axis=-1) for n in "QKV")
        K, V = np.repeat(K, times, axis=0), np.repeat(V, times, axis=0)
        A = np.swapaxes(K, 1, 2) @ Q * w.get("beta", 1.0)
        return cls(arch, A, w["O"] @ V if "O" in w else V)

    @property
    def groups(self) -> np.ndarray:
        """Which heads share keys and values, one row a group."""
        H = self.arch.heads[0]
        return np.arange(H).reshape(self.arch.block.kv_heads or H, -1)

    def blended(self, g: np.ndarray) -> "_Heads":
        mix = "hk,kij->hij"
        return _Heads(self.arch, np.einsum(mix, g, self.A), np.einsum(mix, np.linalg.inv(g).T, self.V))

    def stacks(self) -> list[tuple[np.ndarray, int, np.ndarray, bool]]:
        """Every matrix of bounded rank: itself, the bound, its heads, and whether it is one of values."""
        a, v = self.arch.head_dims[0], self.arch.block.value_dim
        found = [(np.concatenate(list(self.A[heads]), axis=1), a, heads, False) for heads in self.groups]
        if v:
            found += [(np.concatenate(list(self.V[heads])), v, heads, True) for heads in self.groups]
        return found

    def conditions(self) -> tuple[np.ndarray, np.ndarray]:
        """Linear equations on γ, with g → (1 + γ) g: their matrix, and by how much ranks are missed now.

        A matrix M of rank r stays so to first order where uᵀ Ṁ w = 0 for all u, w with uᵀM = 0, M w = 0.
        """
        H = self.arch.heads[0]
        rows, missed = [np.zeros((0, H * H))], [np.zeros(0)]
        for M, rank, heads, of_values in self.stacks():
            left, _, right = np.linalg.svd(M)
            U, W = left[:, rank:], right[rank:].T
            count = U.shape[1] * W.shape[1]
            if not count:
                continue
            block = np.zeros((count, H, H))
            size = len(M) // len(heads) if of_values else M.shape[1] // len(heads)
            for j, h in enumerate(heads):
                part = slice(j * size, (j + 1) * size)
                if of_values:
                    block[:, :, h] = -np.einsum("ip,kij,jq->pqk", U[part], self.V, W).reshape(count, H)
                else:
                    block[:, h, :] = np.einsum("ip,kij,jq->pqk", U, self.A, W[part]).reshape(count, H)
            rows.append(block.reshape(count, -1))
            missed.append((U.T @ M @ W).ravel())
        return np.concatenate(rows), np.concatenate(missed)

    def of_full_rank(self) -> "_Heads":
        """The nearest matrices that keys and queries, values and outputs can make."""
        A, V = self.A.copy(), self.V.copy()
        for M, rank, heads, of_values in self.stacks():
            left, sigma, right = np.linalg.svd(M, full_matrices=False)
            near = (left[:, :rank] * sigma[:rank]) @ right[:rank]
            (V if of_values else A)[heads] = np.stack(np.split(near, len(heads), axis=0 if of_values else 1))
        return _Heads(self.arch, A, V)

    def weights(self, old: BlockWeights) -> BlockWeights:
        """Weights of the first layer that make these matrices."""
        Q, K, outputs, W = [], [], [], []
        for M, rank, heads, of_values in self.stacks():
            left, sigma, right = np.linalg.svd(M)
            rank_now = min(rank, len(sigma))
            root = np.sqrt(sigma[:rank_now])
            first, last = left[:, :rank_now] * root, root[:, None] * right[:rank_now]
            if of_values:
                W.append(_padded(last, rank))
                outputs += np.split(_padded(first.T, rank).T, len(heads))
            else:
                K.append(_padded(first.T, rank))
                Q += np.split(_padded(last, rank), len(heads), axis=1)
        made = {"Q": np.stack(Q), "K": np.stack(K), "V": np.stack(W) if W else self.V}
        found = {f"1.{name}": matrix[..., : self.arch.widths[0]] for name, matrix in made.items()}
        if self.arch.block.biases:
            found |= {f"1.{name.lower()}": matrix[..., -1:] for name, matrix in made.items()}
        if outputs:
            found["1.O"] = np.stack(outputs)
        if "1.beta" in old:
            found["1.beta"] = np.ones(old["1.beta"].shape)
        return found


def _padded(matrix: np.ndarray, rows: int) -> np.ndarray:
    return np.concatenate([matrix, np.zeros((rows - len(matrix), matrix.shape[1]))])


@lru_cache(maxsize=64)
def _way(arch: Architecture, seed: int) -> tuple[str, tuple[np.ndarray, ...]]:
    """Why there is no way ("" if there is), and g at each of its places, as far as it goes."""
    H = arch.heads[0]
    direction = _towards_each_other(H)
    heads = _Heads.of(arch, _network(arch, seed)[0])
    why = _why_not(arch, heads)
    if why:
        turn = _exponential(direction / STEPS)
        places = [np.eye(H)]
        for _ in range(STEPS):
            places.append(turn @ places[-1])
        return why, tuple(places)
    g, places = np.eye(H), [np.eye(H)]
    while len(places) <= STEPS:
        for _ in range(_SMALL_STEPS):
            direction = _admissible(heads.blended(g), direction)
            g = _brought_back(heads, _exponential(direction / (STEPS * _SMALL_STEPS)) @ g)
            if g is None:
                return "", tuple(places)
        places.append(g)
    return "", tuple(places)


def _why_not(arch: Architecture, heads: _Heads) -> str:
    """What keeps the heads of the first layer from blending."""
    H, a = arch.heads[0], arch.head_dims[0]
    if H == 1:
        return "there is one head only"
    if arch.attention == "softmax":
        return "softmax is not linear in A"
    if arch.block.rotary:
        return "rotary positions turn each A from place to place"
    if len(null_space(Reals(), _off_diagonal(heads.conditions()[0], H))):
        return ""
    if arch.block.kv_heads:
        return "heads that share keys and values have too many ranks to keep"
    short = max(0, arch.widths[0] + arch.block.biases - a)
    if H <= short**2 + 1:
        d = "d + 1" if arch.block.biases else "d"
        return f"H = {H} is not more than ({d} − a)² + 1 = {short**2 + 1}"
    return f"values of rank {arch.block.value_dim} leave no room"


def _towards_each_other(H: int) -> np.ndarray:
    """Each head into the next one: antisymmetric, so that unhindered it is a rotation by a right angle."""
    if H == 1:
        return np.zeros((1, 1))
    step = np.roll(np.eye(H), 1, axis=1)
    turn = np.triu(step) if H == 2 else step
    turn = turn - turn.T
    return turn * (pi / sqrt(2)) / np.linalg.norm(turn)


def _off_diagonal(conditions: np.ndarray, H: int) -> np.ndarray:
    """Only the columns of γ_hk, h ≠ k: the diagonal rescales heads, which no condition forbids."""
    return conditions[:, ~np.eye(H, dtype=bool).ravel()]


def _with_diagonal(values: np.ndarray, H: int) -> np.ndarray:
    gamma = np.zeros((H, H))
    gamma[~np.eye(H, dtype=bool)] = values
    return gamma


def _admissible(heads: _Heads, direction: np.ndarray) -> np.ndarray:
    """What is left of a direction where ranks must stay, at its old speed."""
    H, speed = len(direction), np.linalg.norm(direction)
    conditions = heads.conditions()[0]
    basis = null_space(Reals(), _off_diagonal(conditions, H))
    left = _with_diagonal(basis.T @ (basis @ direction[~np.eye(H, dtype=bool)]), H)
    if (conditions.reshape(-1, H, H).any(axis=2).sum(axis=1) <= 1).all():
        # Each condition is on one head: all of them can have the same speed.
        return left / np.linalg.norm(left, axis=1, keepdims=True) * speed / sqrt(H)
    return left * speed / np.linalg.norm(left)


def _brought_back(heads: _Heads, g: np.ndarray) -> np.ndarray | None:
    """The g near this one that keeps the ranks, by Newton's method; None if it finds none."""
    H, start = len(g), g
    for share in _NEARLY_DEPENDENT:
        g = start
        for _ in range(_NEWTON):
            matrix, missed = heads.blended(g).conditions()
            if not len(missed) or np.abs(missed).max() < _RANK_ERROR:
                return g
            step = np.linalg.lstsq(_off_diagonal(matrix, H), -missed, rcond=share)[0]
            g = g + _with_diagonal(step, H) @ g
            if np.linalg.cond(g) > _WORST:
                break
    return None


def _exponential(G: np.ndarray) -> np.ndarray:
    """exp G for a small G, by its series."""
    total, term = np.eye(len(G)), np.eye(len(G))
    for n in range(1, 20):
        term = term @ G / n
        total = total + term
    return total
