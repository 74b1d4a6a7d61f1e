"""Symmetries: changes of the weights that leave the function unchanged.

Four symmetries (docs/mathematics.md, "The gauge slice"), over any field:

    head bases     Q → C Q, K → C⁻ᵀ K                                     C ∈ GL_a
                   (Lemma 3.1)
    interfaces     Q_{i+1}, K_{i+1}, V_{i+1} → · C⁻¹, V_i → C V_i         C ∈ GL_{d_i}
                   (Eq. 9)
    rescalings     Q_i → c Q_i, V_i → V_i / c                              lightning
                   (Eq. 13)
    the swap       A = u kᵀ, V = h vᵀ  →  A = v kᵀ, V = h uᵀ               lightning
                   (Thm. 3.2)

Layers are counted from 0. `block_symmetry` has the derivatives of the first three at C
= 1.
"""

import numpy as np

from neuroviz.attention.symmetry import (
    VirtualWeights,
    close,
    rank_of,
    right_inverse,
)
from neuroviz.engine.network import Layer, Weights
from neuroviz.rank.field import Field
from neuroviz.rank.pivots import inverse


def change_head_basis(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """Q → C Q, K → C⁻ᵀ K in one layer: A = KᵀQ stays, and so does the function (Lemma
    3.1).

    Raises:
        ValueError: if there is no such layer, or C is not an invertible a × a matrix.

    >>> from neuroviz.rank.field import Reals
    >>> weights = (Layer(np.array([[1.0, 2.0]]), np.array([[4.0, 0.0]]), np.eye(2)),)
    >>> change_head_basis(Reals(), weights, 0, np.array([[2.0]]))[0].K
    array([[2., 0.]])
    """
    Q, K, V = _checked(weights, layer)
    _check_square(C, len(Q), "the head dimension a")
    return _replace(
        weights,
        {layer: Layer(over.matmul(C, Q), over.matmul(inverse(over, C).T, K), V)},
    )


def change_interface(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """V_i → C V_i, and Q, K, V of the layer after `layer` → · C⁻¹: tokens in another
    basis (Eq. 9).

    Raises:
        ValueError: if there is no such interface, or C is not an invertible d_i × d_i
            matrix.
    """
    Q, K, V = _checked(weights, layer, interface=True)
    _check_square(C, len(V), "the width between the two layers")
    back = inverse(over, C)
    after = Layer(*(over.matmul(matrix, back) for matrix in weights[layer + 1]))
    return _replace(weights, {layer: Layer(Q, K, over.matmul(C, V)), layer + 1: after})


def rescale(over: Field, weights: Weights, layer: int, c: float) -> Weights:
    """Q → c Q, V → V / c in one layer: a symmetry of lightning attention, and not of
    softmax (Eq. 13).

    Raises:
        ValueError: if there is no such layer, or c is zero.
    """
    Q, K, V = _checked(weights, layer)
    factor = over.reduce(np.array([[float(c)]]))
    if not np.isfinite(factor[0, 0]) or factor[0, 0] == 0:
        raise ValueError(
            f"a rescaling needs a finite factor c that is not zero; got {c!r}"
        )
    c, back = factor[0, 0], inverse(over, factor)[0, 0]
    return _replace(
        weights, {layer: Layer(over.reduce(Q * c), K, over.reduce(V * back))}
    )


def swap_keys_and_values(over: Field, weights: Weights, layer: int) -> Weights:
    """A = u kᵀ, V = h vᵀ → A = v kᵀ, V = h uᵀ: where both have rank one, u and v may
    change places.

    A symmetry of lightning attention that no continuous one reaches (Thm. 3.2). The new
    Q and K have one row that is not zero.

    Raises:
        ValueError: if there is no such layer, or A or V is not of rank one there.
    """
    Q, K, V = _checked(weights, layer)
    u, k = _rank_one(over, "A = KᵀQ", over.matmul(K.T, Q))
    h, v = _rank_one(over, "V", V)
    first = np.zeros((len(Q), 1))
    first[0] = 1.0
    return _replace(
        weights, {layer: Layer(first * k, first * v, over.matmul(h[:, None], u[None]))}
    )


def virtual_weights(over: Field, weights: Weights) -> VirtualWeights:
    """L = V_l ⋯ V_1 and M_i = U_{i−1}ᵀ A_i U_{i−1}, with U_i = V_i ⋯ V_1 and U_0 = 1
    (Eq. 8).

    Head bases and interfaces leave them alone. Rescaling layer i by c makes M_i into c
    M_i, each later M_j into M_j / c², and L into L / c.

    >>> from neuroviz.rank.field import Reals
    >>> layer = Layer(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 2 * np.eye(2))
    >>> virtual_weights(Reals(), (layer, layer)).M[1]
    array([[0., 0.],
           [4., 0.]])
    """
    U, M = np.eye(weights[0].V.shape[1]), []
    for Q, K, V in weights:
        M.append(over.matmul(over.matmul(K, U).T, over.matmul(Q, U)))
        U = over.matmul(V, U)
    return VirtualWeights(U, tuple(M))


def as_network(virtual: VirtualWeights) -> Weights:
    """A network with these virtual weights and all inner widths d₀: K = 1, Q_i = M_i,
    V_i = 1, and V_l = L.

    >>> from neuroviz.rank.field import Reals
    >>> layer = Layer(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]), 2 * np.eye(2))
    >>> virtual = virtual_weights(Reals(), (layer, layer))
    >>> np.array_equal(virtual_weights(Reals(), as_network(virtual)).M[1], virtual.M[1])
    True
    """
    eye, last = np.eye(virtual.L.shape[1]), len(virtual.M) - 1
    return tuple(
        Layer(M, eye, virtual.L if i == last else eye) for i, M in enumerate(virtual.M)
    )


def recover_head_basis(over: Field, head: Layer, other: Layer) -> np.ndarray:
    """The one C with Q′ = C Q and K′ = C⁻ᵀ K, from two factorisations of one A (Lemma
    3.1).

    Over the reals A′ may be 1e−8 from A, relative to it, and smaller singular values of
    Q or K count as 0.

    Raises:
        ValueError: if the shapes or the products differ, or Q or K has rank below a: C
            is not unique then.

    >>> from neuroviz.rank.field import Reals
    >>> Q, K, C = np.array([[1.0, 2.0]]), np.array([[4.0, 0.0]]), np.array([[2.0]])
    >>> recover_head_basis(Reals(), Layer(Q, K, None), Layer(C @ Q, K / 2, None))
    array([[2.]])
    """
    (Q, K, _), (Q2, K2, _) = head, other
    matrices = {"Q": Q, "K": K, "Q′": Q2, "K′": K2}
    shapes = [matrix.shape for matrix in matrices.values()]
    if len(set(shapes)) > 1:
        raise ValueError(
            "two factorisations need Q, K, Q′, K′ of one shape; got"
            f" {', '.join(map(str, shapes))}"
        )
    a, d = Q.shape
    for name, matrix in matrices.items():
        if (rank := rank_of(over, matrix)) < a:
            why = "other factorisations of the same A need not be on one orbit"
            if a > d:
                why = (
                    f"with a > d = {d} its rows cannot be independent; many C lead to"
                    " the same Q′ and K′"
                )
            raise ValueError(
                f"C is determined only where Q and K have rank a = {a} (Lemma 3.1); "
                f"got {name} of rank {rank}: {why}"
            )
    A, A2 = over.matmul(K.T, Q), over.matmul(K2.T, Q2)
    if not close(over, A, A2):
        raise ValueError(
            "both factorisations need the same product KᵀQ; got products that differ"
            f" by {np.abs(over.reduce(A - A2)).max():.3g}: they belong to different"
            " functions"
        )
    C = over.matmul(Q2, right_inverse(over, Q))
    if not close(over, over.matmul(C.T, K2), K):
        raise ValueError(
            "the two factorisations are of nearly equal, but different products: K is"
            " not CᵀK′ for the C that their Q have; they belong to different functions"
        )
    return C


def recover_interfaces(
    over: Field, weights: Weights, other: Weights
) -> tuple[np.ndarray, ...]:
    """The C_1, …, C_{l−1} of Eq. 9 between two networks with the same virtual weights
    (Lemma 3.5).

    With U_i = V_i ⋯ V_1, the answer is the C_i with U_i′ = C_i U_i; then A_i and V_i of
    the other network are those of the first in the new bases. Over the reals the
    virtual weights may be 1e−8 apart, relative to their size.

    Raises:
        ValueError: if the shapes or the virtual weights differ, some U_i has not full
            row rank (a V has lost rank, or the network widens), or the rows of U_i and
            U_i′ span different spaces (L has lost rank).

    >>> from neuroviz.rank.field import Reals
    >>> weights = tuple(Layer(np.eye(1), np.eye(1), v * np.eye(1)) for v in (2.0, 3.0))
    >>> moved = change_interface(Reals(), weights, 0, np.array([[5.0]]))
    >>> recover_interfaces(Reals(), weights, moved)
    (array([[5.]]),)
    """
    _check_same_shapes(weights, other)
    here = np.eye(weights[0].V.shape[1])
    there = np.eye(weights[0].V.shape[1])
    found = []
    for i, (layer, other_layer) in enumerate(
        zip(weights[:-1], other[:-1], strict=True), start=1
    ):
        here, there = over.matmul(layer.V, here), over.matmul(other_layer.V, there)
        name = "V_1" if i == 1 else f"V_{i} ⋯ V_1"
        for U in (here, there):
            if (rank := rank_of(over, U)) < len(U):
                raise ValueError(
                    f"the basis after layer {i} is determined only where {name} has"
                    f" rank {len(U)}; got rank {rank}: on what is lost there, later"
                    " weights are free"
                )
        C = over.matmul(there, right_inverse(over, here))
        if not close(over, over.matmul(C, here), there):
            raise ValueError(
                f"the rows of {name} span different spaces in the two networks: no"
                " change of basis leads from one to the other (Lemma 3.5 needs L of"
                " full rank)"
            )
        found.append(C)
    one, two = virtual_weights(over, weights), virtual_weights(over, other)
    for i, (M, M2) in enumerate(zip((one.L, *one.M), (two.L, *two.M), strict=True)):
        if not close(over, M, M2):
            name, gap = f"M_{i}" if i else "L", np.abs(over.reduce(M - M2)).max()
            raise ValueError(
                f"the two networks need the same virtual weights; got {name} that"
                f" differ by {gap:.3g}"
            )
    return tuple(found)


def _checked(weights: Weights, layer: int, interface: bool = False) -> Layer:
    """That layer, if it is there and, for an interface, has another one after it."""
    if layer not in range(len(weights)):
        raise ValueError(
            f"layers are counted from 0 to {len(weights) - 1} here; got layer={layer!r}"
        )
    if interface and layer == len(weights) - 1:
        raise ValueError(
            f"an interface lies between two layers; got layer={layer}, the last of"
            f" {len(weights)}: changing the basis after it would change the outputs"
        )
    return weights[layer]


def _check_square(C: np.ndarray, size: int, what: str) -> None:
    if np.shape(C) != (size, size):
        raise ValueError(f"C must be {size} × {size}, {what}; got shape {np.shape(C)}")


def _check_same_shapes(weights: Weights, other: Weights) -> None:
    one, two = (
        [tuple(matrix.shape for matrix in layer) for layer in network]
        for network in (weights, other)
    )
    if one != two:
        raise ValueError(
            f"two networks need the same shapes in every layer; got {one} and {two}"
        )


def _replace(weights: Weights, new: dict[int, Layer]) -> Weights:
    return tuple(new.get(i, layer) for i, layer in enumerate(weights))


def _rank_one(
    over: Field, name: str, matrix: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors u, k with matrix = u kᵀ ≠ 0."""
    i, j = np.unravel_index(np.abs(matrix).argmax(), matrix.shape)
    if matrix[i, j] != 0:
        u = matrix[:, j]
        pivot = matrix[i : i + 1, j : j + 1]
        k = over.matmul(inverse(over, pivot), matrix[i : i + 1])[0]
        if close(over, matrix, over.reduce(np.outer(u, k))):
            return u, k
    raise ValueError(
        "keys and values can be swapped only where A and V have rank one; "
        f"got {name} of rank {rank_of(over, matrix)}"
    )
