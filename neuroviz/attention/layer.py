"""Fibres of one layer: which pairs (A, V), A = KᵀQ, have the same function ("Theorem
3.2")."""

from typing import NamedTuple

import numpy as np

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.symmetry import (
    VirtualWeights,
    as_network,
    close,
    rank_of,
    rescale,
    swap_keys_and_values,
)
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import Field, PrimeField, Reals
from neuroviz.rank.floats import float_rank
from neuroviz.rank.network import Weights
from neuroviz.rank.point import Point, derivative, outputs

TOLERANCE = 1e-9
"""How far apart, relative to their size, two floats may be that stand for the same
number."""


class Pair(NamedTuple):
    """A of shape (d, d) and V of shape (d′, d): one layer, as far as its function shows
    it."""

    A: np.ndarray
    V: np.ndarray


def as_pair(over: Field, weights: Weights) -> Pair:
    """(KᵀQ, V) of a network of one layer."""
    return Pair(over.matmul(weights["1.K"].T, weights["1.Q"]), weights["1.V"])


def as_weights(pair: Pair) -> Weights:
    """A network of one layer with this A and V: Q = A, K = 1."""
    return as_network(VirtualWeights(pair.V, (pair.A,)))


def outputs_of_layer(
    over: Field,
    attention: str,
    pair: Pair,
    X: np.ndarray,
) -> np.ndarray:
    """V X (XᵀAX), or V X softmax(XᵀAX), at N inputs: shape (N, d, t) → (N, d′, t).

    Args:
        over: the reals; for lightning a prime field, too.

    >>> one = np.eye(2)
    >>> outputs_of_layer(Reals(), "lightning", Pair(one, one), 2 * one[None])[0]
    array([[8., 0.],
           [0., 8.]])
    """
    network = _network_of(attention, pair, X.shape[-1])
    return outputs(network, over, as_weights(pair), X)


def _network_of(attention: str, pair: Pair, tokens: int) -> Architecture:
    d_out, d = pair.V.shape
    return Architecture((d, d_out), (d,), tokens, attention)


def function_table(over: Field, pair: Pair, tokens: int) -> np.ndarray:
    """All coefficients of a lightning layer: two layers have the same function exactly
    if these agree.

        t ≥ 2   A_ik V_mj + A_jk V_mi, of the quadratic forms (Aᵀy)_k (Vy)_m
                (Prop. A.5)
        t = 1   S_ij V_mn + S_in V_mj + S_jn V_mi with S = A + Aᵀ, of the cubic forms
                (xᵀAx) (Vx)_m

    Returns:
        Shape (d, d′, d, d) for t ≥ 2, (d′, d, d, d) for t = 1.

    >>> shear = Pair(np.array([[1.0, 1.0], [0.0, 1.0]]), np.eye(2))
    >>> function_table(Reals(), shear, tokens=2).shape
    (2, 2, 2, 2)
    """
    A, V = pair
    if tokens == 1:
        S = over.reduce(A + A.T)
        # Axes m, i, j, n.
        product = over.reduce(S[None, :, :, None] * V[:, None, None, :])
        j_and_n = product.transpose(0, 1, 3, 2)  # S_in V_mj
        i_and_n = product.transpose(0, 3, 2, 1)  # S_jn V_mi, as S is symmetric
        return over.reduce(product + j_and_n + i_and_n)
    # Axes k, m, i, j.
    product = over.reduce(A.T[:, None, :, None] * V[None, :, None, :])
    return over.reduce(product + product.swapaxes(-1, -2))


def same_function(
    over: Field, attention: str, one: Pair, other: Pair, tokens: int
) -> bool:
    """Whether two layers have the same function, decided from their weights alone.

    Lightning: by `function_table`. Softmax: for t ≥ 2 if V′ = V and, unless V = 0, A′ =
    A (Thm. 3.9); for t = 1 if V′ = V ("One token"). Exact over a prime field
    (lightning); over the reals up to `TOLERANCE`, relative to the larger.

    >>> u, v, k, h = np.eye(4)[:, :3]
    >>> one = Pair(np.outer(u, k), np.outer(h, v))
    >>> other = Pair(np.outer(v, k), np.outer(h, u))
    >>> same_function(Reals(), "lightning", one, other, tokens=2)
    True
    """
    if attention == "lightning":
        here = function_table(over, one, tokens)
        there = function_table(over, other, tokens)
        return close(over, here, there, TOLERANCE)
    if not close(over, one.V, other.V, TOLERANCE):
        return False
    return tokens == 1 or not one.V.any() or close(over, one.A, other.A, TOLERANCE)


def fiber_case(over: Field, pair: Pair) -> str:
    """Which case of Theorem 3.2 a layer is: "zero", "rank one", "boundary" or
    "generic".

    Boundary: A = v kᵀ and V = h vᵀ with the same v, where swapping u and v changes
    nothing (Thm. 3.4).

    >>> fiber_case(Reals(), Pair(np.eye(2), np.eye(2)))
    'generic'
    """
    if not pair.A.any() or not pair.V.any():
        return "zero"
    if rank_of(over, pair.A, TOLERANCE) > 1 or rank_of(over, pair.V, TOLERANCE) > 1:
        return "generic"
    # The columns of A are multiples of u, those of Vᵀ multiples of v: of equal size, so
    # that a rescaling (c A, V / c) does not make one of them negligible.
    A, V = pair
    if isinstance(over, Reals):
        A = A / np.abs(A).max()
        V = V / np.abs(V).max()
    if rank_of(over, np.hstack([A, V.T]), TOLERANCE) == 1:
        return "boundary"
    return "rank one"


def rescaled(over: Field, pair: Pair, c: float) -> Pair:
    """(c A, V / c): the same lightning function for every c that is not 0."""
    return as_pair(over, rescale(over, as_weights(pair), 1, c))


def swapped(over: Field, pair: Pair) -> Pair:
    """A = u kᵀ, V = h vᵀ → c v kᵀ, h uᵀ / c: the same lightning function.

    Over the reals c makes the new A as long as the old one, at an angle of at most 90°
    to it.

    Raises:
        ValueError: unless A and V have rank one.
    """
    new = as_pair(over, swap_keys_and_values(over, as_weights(pair), 1))
    if not isinstance(over, Reals):
        return new
    c = np.linalg.norm(pair.A) / np.linalg.norm(new.A)
    return rescaled(over, new, -c if np.vdot(new.A, pair.A) < 0 else c)


def with_antisymmetric_part(pair: Pair, amount: float) -> Pair:
    """A + amount · (A − Aᵀ)/2: one token sees no difference; amount −1 leaves the
    symmetric part.

    >>> pair = Pair(np.array([[1.0, 2.0], [4.0, 5.0]]), np.array([[1.0, 0.0]]))
    >>> with_antisymmetric_part(pair, -1).A
    array([[1., 3.],
           [3., 5.]])
    """
    return Pair(pair.A + amount * (pair.A - pair.A.T) / 2, pair.V)


def kernel_dimension(
    over: Field, attention: str, pair: Pair, tokens: int, rng: np.random.Generator
) -> int:
    """How many independent directions (Ȧ, V̇) leave the function unchanged to first
    order, measured.

    Lemma A.3 (lightning, t ≥ 2): 1 where A ≠ 0 and V ≠ 0, but d where A = v kᵀ, V = h
    vᵀ. Over the reals the count is read off a spectrum.

    >>> layer = Pair(np.eye(2), np.array([[1.0, 2.0]]))
    >>> kernel_dimension(Reals(), "lightning", layer, 2, np.random.default_rng(0))
    1
    """
    size = pair.A.size
    # Each number of an output is an equation. These inputs give twice as many equations
    # as there are unknowns, then enough for A alone, of which an input may show only
    # t(t − 1) numbers, and eight are to spare.
    equations_each = tokens * len(pair.V)
    of_A = max(1, tokens * (tokens - 1))
    inputs = 2 * (size + pair.V.size) // equations_each + size // of_A + 8
    X = over.random(rng, (inputs, len(pair.A), tokens))
    network = _network_of(attention, pair, tokens)
    J = derivative(Point(network, over, as_weights(pair), {}), X, rng)
    # The columns are those of Q = A, K and V; K = 1 is not free here.
    J = np.delete(J.reshape(-1, J.shape[-1]), slice(size, 2 * size), axis=1)
    rank = exact_rank(J, over) if isinstance(over, PrimeField) else float_rank(J).value
    return J.shape[1] - rank


def product_table(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The forms q_km = (Aᵀy)_k (Vy)_m in y, as symmetric matrices: (…, d, d),
    (…, d′, d) → (…, d, d′, d, d).

    >>> product_table(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.0, 2.0]]))[0, 0]
    array([[0., 1.],
           [1., 0.]])
    """
    product = np.einsum("...ik,...mj->...kmij", A, V)
    return (product + np.swapaxes(product, -1, -2)) / 2
