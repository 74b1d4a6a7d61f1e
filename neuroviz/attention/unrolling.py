"""A deep lightning network written out in its virtual weights: as one product, and as
one sum.

    Eq. 10   φ(X) = L G_{l−1} M_l G_{l−2} M_{l−1} ⋯ G_0 M_1 X, a product
    Eq. 11   φ(X) = L X Z_{l−1} B_l ⋯ Z_0 B_1 with B_i = XᵀM_iX, one of t × t matrices
    Eq. 12   φ(X)_i = Σ_{j ∈ [t]^n} L x_{j_1} ∏_k x_{j_k}ᵀ M̃_k x_{j_{k+1}}, a sum, where
             j_{n+1} = i

with n = (3^l − 1)/2 and each M̃_k one of the M_h or its transpose. Tokens, columns of
X, are counted from 0, places k from 1 to n, layers h from 1 to l.
docs/mathematics/deep_networks.md: "Lemma 3.6", "Eq. 12", "Eq. 13", "Eq. 28".
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.checks import whole_number
from neuroviz.rank.field import Field
from neuroviz.rank.pivots import inverse

MAX_LAYERS = 12
_MOST_TERMS = 2_000_000


class Factor(NamedTuple):
    """What stands at one place of Eq. 12: M_layer, or its transpose. Layers are counted
    from 1."""

    layer: int
    transposed: bool


def unroll(layers: int) -> tuple[Factor, ...]:
    """The factors M̃_1, …, M̃_n of Eq. 12, n = (3^l − 1)/2, read off the ternary digits
    of the place k.

    If 3^{h−1} is the largest power of 3 that divides k, layer h stands there;
    transposed if the last non-zero ternary digit of k is 2 ("Eq. 12").

    Raises:
        ValueError: if l is not a whole number from 1 to 12.

    >>> ["M" + str(h) + ("ᵀ" if transposed else "") for h, transposed in unroll(2)]
    ['M1', 'M1ᵀ', 'M2', 'M1']
    """
    layers = whole_number("the number of layers", layers, most=MAX_LAYERS)
    return tuple(_factor(place) for place in range(1, (3**layers - 1) // 2 + 1))


def _factor(place: int) -> Factor:
    layer = 1
    while place % 3 == 0:
        place //= 3
        layer += 1
    return Factor(layer, place % 3 == 2)


def token_form(over: Field, virtual: VirtualWeights, X: np.ndarray) -> np.ndarray:
    """Eq. 11: φ = L X Z_{l−1} B_l ⋯ Z_0 B_1, with B_i = XᵀM_iX, Z_i = Z_{i−1} B_i
    Z_{i−1} B_iᵀ Z_{i−1}.

    X may be a batch, shape (…, d₀, t); the outputs have shape (…, d_l, t).
    """
    mul = over.matmul
    t = X.shape[-1]
    Z = np.broadcast_to(np.eye(t), (*X.shape[:-2], t, t))
    W = np.eye(t)  # Z_{i−1} B_i ⋯ Z_0 B_1, after layer i
    for i, M in enumerate(virtual.M, start=1):
        B = mul(X.mT, mul(M, X))
        W = mul(mul(Z, B), W)
        if i < len(virtual.M):  # the last Z would not be used
            Z = mul(mul(mul(mul(Z, B), Z), B.mT), Z)
    return mul(virtual.L, mul(X, W))


def term(
    over: Field, virtual: VirtualWeights, X: np.ndarray, indices: Sequence[int]
) -> np.ndarray:
    """One summand of Eq. 12: L x_{j_1} ∏_k x_{j_k}ᵀ M̃_k x_{j_{k+1}}.

    The indices are j_1, …, j_n, and j_{n+1} = i, the output token, each from 0 to t −
    1; the result has length d_l.

    Raises:
        ValueError: if there are not n + 1 indices, or one is no token.
    """
    factors = unroll(len(virtual.M))
    t = X.shape[-1]
    if len(indices) != len(factors) + 1 or any(j not in range(t) for j in indices):
        raise ValueError(
            f"a term of {len(virtual.M)} layers needs {len(factors) + 1} tokens, each"
            f" from 0 to {t - 1}; got {tuple(indices)}"
        )
    value = np.ones(1)
    for number in link_values(over, virtual, X, indices):
        value = over.reduce(value * number)
    return over.reduce(over.matmul(virtual.L, X[:, [indices[0]]])[:, 0] * value)


def link_values(
    over: Field, virtual: VirtualWeights, X: np.ndarray, indices: Sequence[int]
) -> tuple[float, ...]:
    """The n numbers x_{j_k}ᵀ M̃_k x_{j_{k+1}} whose product a term of Eq. 12 is.
    Arguments as in `term`."""
    B = [over.matmul(X.T, over.matmul(M, X)) for M in virtual.M]
    factors = unroll(len(virtual.M))
    values = []
    for factor, left, right in zip(factors, indices[:-1], indices[1:], strict=True):
        # Entry (j, i) of B_h is x_jᵀ M_h x_i, and entry (i, j) is x_jᵀ M_hᵀ x_i.
        row, column = (right, left) if factor.transposed else (left, right)
        values.append(float(B[factor.layer - 1][row, column]))
    return tuple(values)


def sum_form(over: Field, virtual: VirtualWeights, X: np.ndarray) -> np.ndarray:
    """Eq. 12 by brute force: all t^n terms for each output token. For small l and t.

    Raises:
        ValueError: if there are more than two million terms.
    """
    places = len(unroll(len(virtual.M)))
    t = X.shape[-1]
    if t ** (places + 1) > _MOST_TERMS:
        raise ValueError(
            f"the sum has {t}^{places} terms for each of {t} outputs, too many to add"
            " one by one: take fewer layers or tokens, or token_form"
        )
    columns = []
    for i in range(t):
        terms = (
            term(over, virtual, X, (*indices, i))
            for indices in product(range(t), repeat=places)
        )
        # So few residues add up exactly, and are reduced once.
        columns.append(over.reduce(sum(terms)))
    return np.stack(columns, axis=1)


def mirror(layers: int, place: int) -> range:
    """The indices that Figure 4's reflection at a place k turns round: j_{k−s+1}, …,
    j_{k+s}.

    Up to s = 3^{h−1}, for M̃_k = M_h or its transpose, the factors at equal distances
    left and right of M̃_k are transposes of each other. So if both ends of the window
    hold the same token, turning it round changes M̃_k into its transpose, and the
    product in no other way.

    The radius s is the largest that stays among j_1, …, j_{n+1} and the mirror.
    Returned are the numbers k − s + 1, …, k + s of the indices, counted from 1.

    Raises:
        ValueError: if there is no such place.

    >>> list(mirror(2, 3)), list(mirror(2, 1))
    ([2, 3, 4, 5], [1, 2])
    """
    factors = unroll(layers)
    if place not in range(1, len(factors) + 1):
        raise ValueError(
            f"places of {layers} layers go from 1 to {len(factors)}; got {place!r}"
        )
    radius = min(3 ** (factors[place - 1].layer - 1), place, len(factors) + 1 - place)
    return range(place - radius + 1, place + radius + 1)


def reflect(layers: int, indices: Sequence[int], place: int) -> tuple[int, ...]:
    """The indices with the window around a place turned round (Figure 4).

    >>> reflect(2, (0, 1, 0, 0, 1), place=3)
    (0, 1, 0, 0, 1)
    >>> reflect(2, (0, 1, 2, 0, 1), place=3)
    (0, 1, 0, 2, 1)
    """
    window = mirror(layers, place)
    # A slice counts from 0, and ends before its last number.
    first = window[0] - 1
    last = window[-1]
    return (*indices[:first], *reversed(indices[first:last]), *indices[last:])


def balancing_factor(over: Field, factors: Sequence[float]) -> float:
    """The λ_0 that makes L → λ_0 L, M_i → λ_i M_i leave the function alone: λ_0 ∏
    λ_i^{3^{l−i}} = 1 (Eq. 13).

    Raises:
        ValueError: if a factor is zero.

    >>> from neuroviz.rank.field import Reals
    >>> balancing_factor(Reals(), [2.0, 1.0]), balancing_factor(Reals(), [1.0, 2.0])
    (0.125, 0.5)
    """
    powers = np.ones((1, 1))  # a matrix, as `inverse` takes one
    for i, factor in enumerate(factors, start=1):
        for _ in range(3 ** (len(factors) - i)):
            powers = over.reduce(powers * float(factor))
    if powers[0, 0] == 0:
        raise ValueError(
            f"a rescaling needs factors that are not zero; got {tuple(factors)}"
        )
    return float(inverse(over, powers)[0, 0])


def part_linear_in_one_token(
    over: Field, virtual: VirtualWeights, y: np.ndarray, x: np.ndarray
) -> np.ndarray:
    """Eq. 28: the part of the output of token x that is linear in x, and otherwise in
    one other token y only.

        L y · (yᵀM_1y)^{3^{l−1} − 1} · ∏_{h ≥ 2} (yᵀM_hy)^{3^{l−h}} · yᵀM_1x

    Tokens y and x have shape (d₀,); the result has length d_l.
    """
    y = y[:, None]
    x = x[:, None]
    depth = len(virtual.M)
    number = over.matmul(y.T, over.matmul(virtual.M[0], x))
    for h, M in enumerate(virtual.M, start=1):
        square = over.matmul(y.T, over.matmul(M, y))
        times = 3 ** (depth - h)  # M_h occurs so often in each term
        if h == 1:
            times -= 1  # one of them stands in yᵀM_1x
        for _ in range(times):
            number = over.reduce(number * square)
    return over.reduce(over.matmul(virtual.L, y) * number)[:, 0]
