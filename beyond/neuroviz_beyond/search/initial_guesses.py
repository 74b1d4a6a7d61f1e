"""Where a search of a fibre starts: at random, and near everything that might be
another solution."""

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.rank.field import Reals
from neuroviz.rank.weights import flatten
from neuroviz_beyond.search.local_coordinates import narrow
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.evaluate import (
    Weights,
    random_weights,
    unflatten,
    with_heads,
)

KINDS = ("random", "near ρM", "transposes", "swapped", "−L")
"""The kinds of start; `draw` says what each means."""
_ORDER = (
    "random",
    "near ρM",
    "random",
    "transposes",
    "random",
    "swapped",
    "random",
    "−L",
)
# log₁₀ of the relative distance of a start from the given weights
_NOISE = (-3.0, -0.5)


def kind_of(number: int, kinds: tuple[str, ...]) -> str:
    """The kind of the start with this number; with all kinds every second start is
    random.

    >>> [kind_of(number, KINDS) for number in range(4)]
    ['random', 'near ρM', 'random', 'transposes']
    >>> kind_of(3, ("−L",))
    '−L'
    """
    order = [kind for kind in _ORDER if kind in kinds]
    return order[number % len(order)]


def draw(
    kind: str, arch: Transformer, weights: Weights, rng: np.random.Generator
) -> tuple[Weights, bool]:
    """A start for the search of the fibre of a network.

        random       everything drawn at random, the sizes of the M_i within a factor of
                     3
        near ρM      some M_i multiplied by numbers of either sign between 0.3 and 3
        transposes   some M_i transposed
        swapped      the M_i in another order; or the strongest directions of L and M_l
                     exchanged
        −L           L with the other sign, and V_l among what moves

    The last four with noise of 0.1 % to 30 %, and cut down to the ranks that the
    architecture allows. Beyond the paper the A of heads stand for the M_i, and in a
    swap the Q of a layer's heads change places.

    Returns a network of this architecture, and whether V_l moves as the other weights
    do; if not, V_l is always the best one.
    """
    if not arch.is_plain:
        drawn = random_weights(Reals(), arch, rng)
        return (
            drawn if kind == "random" else _near_heads(kind, arch, weights, rng)
        ), True
    thin = narrow(arch, weights)
    target = virtual_weights(Reals(), thin)
    if kind == "random":
        return _random(arch, target, rng), False
    L = target.L
    M = list(target.M)
    if kind == "near ρM":
        for i in _some(len(M), rng):
            M[i] = M[i] * rng.choice([-1, 1]) * 10 ** rng.uniform(-0.5, 0.5)
    elif kind == "transposes":
        for i in _some(len(M), rng):
            M[i] = M[i].T
    elif kind == "swapped" and len(M) > 1 and rng.random() < 0.5:
        order = rng.permutation(len(M))
        if (order == np.arange(len(M))).all():  # which is no other order
            order = np.roll(order, 1)
        M = [M[i] for i in order]
    elif kind == "swapped":
        L, M[-1] = _exchanged(L, M[-1])
    else:
        L = -L
    # The best V_l would turn L round again at once.
    return _near(thin, VirtualWeights(L, tuple(M)), rng), kind == "−L"


def _near_heads(
    kind: str, arch: Transformer, weights: Weights, rng: np.random.Generator
) -> Weights:
    """A network with heads near to what the kind says."""
    found = with_heads(arch, weights)
    for i in _some(arch.num_layers, rng) + 1:  # layers are counted from 1
        Q = found[f"{i}.Q"]
        K = found[f"{i}.K"]
        if kind == "near ρM":
            Q = Q * rng.choice([-1, 1]) * 10 ** rng.uniform(-0.5, 0.5)
        # KᵀQ becomes QᵀK; where heads share a K, there are too few of them.
        elif kind == "transposes" and len(Q) == len(K):
            Q, K = K, Q
        elif kind == "swapped":
            Q = rng.permutation(Q)
        found |= {f"{i}.Q": Q, f"{i}.K": K}
    if kind == "−L":
        last = f"{arch.num_layers}.V"
        found[last] = -found[last]
    noise = 10 ** rng.uniform(*_NOISE)
    noisy = {name: _noisy(M, noise, rng) for name, M in found.items()}
    return unflatten(arch, flatten(arch, noisy))


def _random(
    arch: Transformer, target: VirtualWeights, rng: np.random.Generator
) -> Weights:
    drawn = random_weights(Reals(), arch, rng)
    for i, M in enumerate(target.M, start=1):
        Q = drawn[f"{i}.Q"]
        A = drawn[f"{i}.K"].T @ Q
        V = drawn[f"{i}.V"]
        # With orthonormal rows in all earlier V, M_i = UᵀA_iU is as long as A_i.
        if V.shape[0] <= V.shape[1]:
            drawn[f"{i}.V"] = np.linalg.qr(V.T)[0].T
        size = (np.linalg.norm(M) or 1.0) * 10 ** rng.uniform(-0.5, 0.5)
        drawn[f"{i}.Q"] = Q * size / np.linalg.norm(A)
    return drawn


def _some(count: int, rng: np.random.Generator) -> np.ndarray:
    """At least one of 0, …, count − 1."""
    return rng.choice(count, size=rng.integers(1, count + 1), replace=False)


def _exchanged(L: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """L = s h uᵀ + …, M = z c kᵀ + …  →  s h cᵀ + …, z u kᵀ + … (the leading singular
    vectors)."""
    (U, s, Vt), (W, z, Zt) = np.linalg.svd(L), np.linalg.svd(M)
    h, u, c, k = U[:, 0], Vt[0], W[:, 0], Zt[0]
    return L + s[0] * np.outer(h, c - u), M + z[0] * np.outer(u - c, k)


def _near(thin: Weights, wanted: VirtualWeights, rng: np.random.Generator) -> Weights:
    """A network with the V_1, …, V_{l−1} of `thin`, and near to the virtual weights
    wanted."""
    noise = 10 ** rng.uniform(*_NOISE)
    U = np.eye(wanted.L.shape[1])
    found = {}
    for i, M in enumerate(wanted.M, start=1):
        # M = UᵀAU gives A = BᵀMB with U B = 1; of it the best matrix of rank a is kept.
        back = np.linalg.pinv(U)
        left, s, right = np.linalg.svd(_noisy(back.T @ M @ back, noise, rng))
        a = len(thin[f"{i}.Q"])
        V = thin[f"{i}.V"] if i < len(wanted.M) else wanted.L @ back
        found[f"{i}.Q"] = s[:a, None] * right[:a]
        found[f"{i}.K"] = left[:, :a].T
        found[f"{i}.V"] = _noisy(V, noise, rng)
        U = V @ U
    return found


def _noisy(matrix: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    size = float(np.linalg.norm(matrix)) / np.sqrt(matrix.size) or 1.0
    return matrix + share * size * rng.standard_normal(matrix.shape)
