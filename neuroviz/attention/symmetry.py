"""Symmetries: changes of the weights that leave the function unchanged.

Four symmetries (docs/mathematics/gauge_slice.md), over any field:

    head bases   Q → C Q and K → C⁻ᵀ K, for C ∈ GL_a                       (Lemma 3.1)
    interfaces   V_i → C V_i, and Q, K, V → · C⁻¹ in layer i + 1, for      (Eq. 9)
                 C ∈ GL_{d_i}
    rescalings   Q → c Q and V → V / c, for lightning                      (Eq. 13)
    the swap     A = u kᵀ, V = h vᵀ → A = v kᵀ, V = h uᵀ, for lightning    (Thm. 3.2)

Weights are named as in `Architecture.parameter_shapes`, and layers are counted from 1.
`neuroviz.attention.directions` has the derivatives of the first three at C = 1.
"""

from math import cos, pi, sin
from typing import NamedTuple

import numpy as np

from neuroviz.attention.layers import by_layer
from neuroviz.rank.checks import whole_number
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import Field, PrimeField, Reals
from neuroviz.rank.network import Weights
from neuroviz.rank.pivots import inverse
from neuroviz.rank.rows import RowSpace

_CLOSE = 1e-8  # relative, over the reals


def change_head_basis(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """Q → C Q, K → C⁻ᵀ K in one layer: A = KᵀQ stays, and so does the function (Lemma
    3.1).

    Raises:
        ValueError: if there is no such layer, or C is not an invertible a × a matrix.

    >>> weights = {
    ...     "1.Q": np.array([[1.0, 2.0]]),
    ...     "1.K": np.array([[4.0, 0.0]]),
    ...     "1.V": np.eye(2),
    ... }
    >>> change_head_basis(Reals(), weights, 1, np.array([[2.0]]))["1.K"]
    array([[2., 0.]])
    """
    w = _layer(weights, layer)
    back = _inverse(over, C, len(w["Q"]), "the head dimension a")
    changed = {
        f"{layer}.Q": over.matmul(C, w["Q"]),
        f"{layer}.K": over.matmul(back.T, w["K"]),
    }
    return {**weights, **changed}


def change_interface(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """V_i → C V_i, and Q, K, V of the layer after `layer` → · C⁻¹: tokens in another
    basis (Eq. 9).

    Raises:
        ValueError: if there is no such interface, or C is not an invertible d_i × d_i
            matrix.
    """
    w = _layer(weights, layer, interface=True)
    back = _inverse(over, C, len(w["V"]), "the width between the two layers")
    changed = {f"{layer}.V": over.matmul(C, w["V"])}
    for name in ("Q", "K", "V"):
        after = f"{layer + 1}.{name}"
        changed[after] = over.matmul(weights[after], back)
    return {**weights, **changed}


def rescale(over: Field, weights: Weights, layer: int, c: float) -> Weights:
    """Q → c Q, V → V / c in one layer: a symmetry of lightning attention, and not of
    softmax (Eq. 13).

    Raises:
        ValueError: if there is no such layer, or c is zero.
    """
    w = _layer(weights, layer)
    try:
        number = float(c)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    back = np.nan  # 1/c, where there is one: over the reals it may overflow, too
    if np.isfinite(number):
        factor = over.reduce(np.array([[number]]))
        if factor[0, 0] != 0:
            back = inverse(over, factor)[0, 0]
    if not np.isfinite(back):
        raise ValueError(
            "a rescaling needs a finite factor c that is not zero, with a finite 1/c;"
            f" got {c!r}"
        )
    changed = {
        f"{layer}.Q": over.reduce(w["Q"] * factor[0, 0]),
        f"{layer}.V": over.reduce(w["V"] * back),
    }
    return {**weights, **changed}


def swap_keys_and_values(over: Field, weights: Weights, layer: int) -> Weights:
    """A = u kᵀ, V = h vᵀ → A = v kᵀ, V = h uᵀ: where both have rank one, u and v may
    change places.

    A symmetry of lightning attention that no continuous one reaches (Thm. 3.2). The new
    Q and K have one row that is not zero.

    Raises:
        ValueError: if there is no such layer, or A or V is not of rank one there.
    """
    w = _layer(weights, layer)
    u, k = _rank_one(over, "A = KᵀQ", over.matmul(w["K"].T, w["Q"]))
    h, v = _rank_one(over, "V", w["V"])
    # Q = e₁ kᵀ and K = e₁ vᵀ have the product KᵀQ = v kᵀ, whatever a is.
    first = np.zeros((len(w["Q"]), 1))
    first[0] = 1.0
    changed = {
        f"{layer}.Q": first * k,
        f"{layer}.K": first * v,
        f"{layer}.V": over.matmul(h[:, None], u[None]),
    }
    return {**weights, **changed}


class VirtualWeights(NamedTuple):
    """L of shape (d_l, d₀) and M_1, …, M_l of shape (d₀, d₀): all of the weights that a
    function can show."""

    L: np.ndarray
    M: tuple[np.ndarray, ...]


def virtual_weights(over: Field, weights: Weights) -> VirtualWeights:
    """L = V_l ⋯ V_1 and M_i = U_{i−1}ᵀ A_i U_{i−1}, with U_i = V_i ⋯ V_1 and U_0 = 1
    (Eq. 8).

    Head bases and interfaces leave them alone. Rescaling layer i by c makes M_i into c
    M_i, each later M_j into M_j / c², and L into L / c.

    >>> weights = {}
    >>> for i in (1, 2):
    ...     weights[f"{i}.Q"] = np.array([[1.0, 0.0]])
    ...     weights[f"{i}.K"] = np.array([[0.0, 1.0]])
    ...     weights[f"{i}.V"] = 2 * np.eye(2)
    >>> virtual_weights(Reals(), weights).M[1]
    array([[0., 0.],
           [4., 0.]])
    """
    layers = by_layer(weights)
    if not layers:
        raise ValueError("weights are named 1.Q, 1.K, 1.V, 2.Q, …; got none of these")
    U = np.eye(layers[0]["V"].shape[1])
    M = []
    for w in layers:
        M.append(over.matmul(over.matmul(w["K"], U).T, over.matmul(w["Q"], U)))
        U = over.matmul(w["V"], U)
    return VirtualWeights(U, tuple(M))


def as_network(virtual: VirtualWeights) -> Weights:
    """A network with these virtual weights and all inner widths d₀: K = 1, Q_i = M_i,
    V_i = 1, and V_l = L.

    >>> virtual = VirtualWeights(np.array([[3.0]]), (np.array([[2.0]]),))
    >>> as_network(virtual)["1.V"]
    array([[3.]])
    """
    eye = np.eye(virtual.L.shape[1])
    weights = {}
    for i, M in enumerate(virtual.M, start=1):
        weights[f"{i}.Q"] = M
        weights[f"{i}.K"] = eye
        weights[f"{i}.V"] = virtual.L if i == len(virtual.M) else eye
    return weights


def recover_head_basis(over: Field, head: Weights, other: Weights) -> np.ndarray:
    """The one C with Q′ = C Q and K′ = C⁻ᵀ K, from two factorisations of one A (Lemma
    3.1).

    Over the reals A′ may be 1e−8 from A, relative to it, and smaller singular values of
    Q or K count as 0.

    Args:
        head, other: "Q" and "K" of one layer, of shape (a, d), as `by_layer` has them.

    Raises:
        ValueError: if the shapes or the products differ, or Q or K has rank below a: C
            is not unique then.

    >>> Q, K, C = np.array([[1.0, 2.0]]), np.array([[4.0, 0.0]]), np.array([[2.0]])
    >>> recover_head_basis(Reals(), {"Q": Q, "K": K}, {"Q": C @ Q, "K": K / 2})
    array([[2.]])
    """
    Q = head["Q"]
    K = head["K"]
    Q2 = other["Q"]
    K2 = other["K"]
    matrices = {"Q": Q, "K": K, "Q′": Q2, "K′": K2}
    shapes = [matrix.shape for matrix in matrices.values()]
    if len(set(shapes)) > 1:
        raise ValueError(
            "two factorisations need Q, K, Q′, K′ of one shape; got"
            f" {', '.join(map(str, shapes))}"
        )
    a, d = Q.shape
    for name, matrix in matrices.items():
        rank = rank_of(over, matrix)
        if rank < a:
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
    A = over.matmul(K.T, Q)
    A2 = over.matmul(K2.T, Q2)
    if not close(over, A, A2):
        raise ValueError(
            "both factorisations need the same product KᵀQ; got products that differ"
            f" by {np.abs(over.reduce(A - A2)).max():.3g}: they belong to different"
            " functions"
        )
    # Q′ = C Q, where Q has a right inverse; then K = CᵀK′ has to hold as well.
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

    >>> one = np.eye(1)
    >>> weights = {
    ...     **{"1.Q": one, "1.K": one, "1.V": 2 * one},
    ...     **{"2.Q": one, "2.K": one, "2.V": 3 * one},
    ... }
    >>> moved = change_interface(Reals(), weights, 1, np.array([[5.0]]))
    >>> recover_interfaces(Reals(), weights, moved)
    (array([[5.]]),)
    """
    _check_same_shapes(weights, other)
    layers = by_layer(weights)
    others = by_layer(other)
    here = np.eye(layers[0]["V"].shape[1])
    there = here
    found = []
    for i, (layer, other_layer) in enumerate(
        zip(layers[:-1], others[:-1], strict=True), start=1
    ):
        here = over.matmul(layer["V"], here)
        there = over.matmul(other_layer["V"], there)
        name = "V_1" if i == 1 else f"V_{i} ⋯ V_1"
        found.append(_recovered_interface(over, i, name, here, there))
    _check_same_virtual_weights(over, weights, other)
    return tuple(found)


def _recovered_interface(
    over: Field, layer: int, name: str, here: np.ndarray, there: np.ndarray
) -> np.ndarray:
    """The C with there = C here, where both have full row rank."""
    for U in (here, there):
        rank = rank_of(over, U)
        if rank < len(U):
            raise ValueError(
                f"the basis after layer {layer} is determined only where {name} has"
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
    return C


def _check_same_virtual_weights(over: Field, weights: Weights, other: Weights) -> None:
    one = virtual_weights(over, weights)
    two = virtual_weights(over, other)
    pairs = {"L": (one.L, two.L)}
    for i, pair in enumerate(zip(one.M, two.M, strict=True), start=1):
        pairs[f"M_{i}"] = pair
    for name, (here, there) in pairs.items():
        if not close(over, here, there):
            gap = np.abs(over.reduce(here - there)).max()
            raise ValueError(
                f"the two networks need the same virtual weights; got {name} that"
                f" differ by {gap:.3g}"
            )


def _layer(
    weights: Weights, layer: int, interface: bool = False
) -> dict[str, np.ndarray]:
    """The weights of that layer, if it is there and, for an interface, has another one
    after it."""
    layers = by_layer(weights)
    layer = whole_number("layer", layer, most=len(layers))
    if interface and layer == len(layers):
        raise ValueError(
            f"an interface lies between two layers; got layer={layer}, the last of"
            f" {len(layers)}: changing the basis after it would change the outputs"
        )
    return layers[layer - 1]


def _inverse(over: Field, C: np.ndarray, size: int, what: str) -> np.ndarray:
    """C⁻¹, if C is an invertible matrix of that size."""
    if np.shape(C) != (size, size):
        raise ValueError(f"C must be {size} × {size}, {what}; got shape {np.shape(C)}")
    if not np.isfinite(C).all():
        raise ValueError("C must be finite; it has entries that are none")
    try:
        return inverse(over, C)
    except np.linalg.LinAlgError:
        raise ValueError(f"C must be invertible; got the matrix {C}") from None


def _check_same_shapes(weights: Weights, other: Weights) -> None:
    one = {name: weight.shape for name, weight in weights.items()}
    two = {name: weight.shape for name, weight in other.items()}
    if one != two:
        raise ValueError(
            f"two networks need the same shapes in every layer; got {one} and {two}"
        )


def _rank_one(
    over: Field, name: str, matrix: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Vectors u, k with matrix = u kᵀ ≠ 0."""
    # u is column j and k is row i over their common entry: the largest one, so that a
    # division enlarges no rounding.
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


def close(over: Field, one: np.ndarray, other: np.ndarray, tol: float = _CLOSE) -> bool:
    """Equality over a prime field; over the reals up to `tol` times the largest entry
    of both."""
    size = max(np.abs(one).max(), np.abs(other).max()) if isinstance(over, Reals) else 0
    return bool(np.abs(over.reduce(one - other)).max() <= tol * size)


def rank_of(over: Field, matrix: np.ndarray, tol: float = _CLOSE) -> int:
    """The exact rank over a prime field; over the reals the singular values above `tol`
    times the largest."""
    if isinstance(over, PrimeField):
        return exact_rank(matrix, over)
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return int((sigma > tol * sigma[0]).sum())


def right_inverse(over: Field, Q: np.ndarray) -> np.ndarray:
    """R with Q R = 1, for Q of full row rank."""
    if isinstance(over, Reals):
        return np.linalg.pinv(Q)
    # The first independent columns of Q have an inverse, which R has in their rows.
    columns = np.flatnonzero(RowSpace(over, len(Q)).add_each(Q.T))
    R = np.zeros(Q.T.shape)
    R[columns] = inverse(over, Q[:, columns])
    return R


WALK_ENDS = {"rotation": pi / 2, "stretch": 3.0, "shear": 1.5}
"""Walk in GL_a → where it is at s = 1: its angle, its factor, or its entry."""
WALKS = tuple(WALK_ENDS)


def walk_in_gl(kind: str, a: int, s: float) -> np.ndarray:
    """C(s) = exp(s G), a one-parameter subgroup of GL_a: C(0) = 1 and C(s) C(t) = C(s +
    t).

        rotation   by 90° · s in the planes (1, 2), (3, 4), …
        stretch    rows 1, 3, … by 3ˢ and rows 2, 4, … by 3⁻ˢ
        shear      row 1 gets 1.5 s times row 2, row 3 the same of row 4, …

    For a = 1 only the stretch moves anything.

    Raises:
        ValueError: if there is no such walk.

    >>> walk_in_gl("stretch", 2, 1.0)
    array([[3.        , 0.        ],
           [0.        , 0.33333333]])
    >>> walk_in_gl("rotation", 3, 1.0).round(9)
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    >>> walk_in_gl("shear", 2, 1.0)
    array([[1. , 1.5],
           [0. , 1. ]])
    """
    if kind not in WALKS:
        raise ValueError(f"a walk is one of {', '.join(WALKS)}; got {kind!r}")
    end = WALK_ENDS[kind]
    if kind == "stretch":
        return np.diag([end ** (s if i % 2 == 0 else -s) for i in range(a)])
    block = np.array([[1.0, end * s], [0.0, 1.0]])
    if kind == "rotation":
        c = cos(end * s)
        sine = sin(end * s)
        block = np.array([[c, -sine], [sine, c]])
    C = np.eye(a)
    for i in range(0, a - 1, 2):
        C[i : i + 2, i : i + 2] = block
    return C


def drop_rank(matrix: np.ndarray) -> np.ndarray:
    """The nearest matrix whose rank is one less: the smallest singular value becomes 0.

    >>> drop_rank(np.array([[3.0, 0.0], [0.0, 2.0]]))
    array([[3., 0.],
           [0., 0.]])
    """
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    return (U[:, :-1] * sigma[:-1]) @ Vt[:-1]
