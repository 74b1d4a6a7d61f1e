"""Two tokens, and exponentials that are free: what the softmax proofs of
docs/mathematics/softmax.md work with.

On inputs (x_1, x_2) a softmax layer with virtual weights M is X ↦ X S,

    S = [[1 − μ, ν], [μ, 1 − ν]],   μ = P/(1 + P),   ν = Q/(1 + Q),
    P = exp((x_2 − x_1)ᵀM x_1),     Q = exp((x_1 − x_2)ᵀM x_2).

By Lemma G the P, Q of all layers are free where no M is antisymmetric: whatever holds
for all X, holds for all P, Q. Everything here is written in the shares μ and ν. They
are polynomial where P, Q are not, and they have room for the limits P, Q → ∞. Under a
causal mask the first token sees itself only: μ = 0.
"""

from collections.abc import Sequence
from math import inf
from typing import NamedTuple

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import Field, Reals

_REALS = Reals()


class Shares(NamedTuple):
    """μ, of x_2 in the new first token, and ν, of x_1 in the new second one; numbers,
    or arrays (N,)."""

    mu: np.ndarray | float
    nu: np.ndarray | float


FROZEN = Shares(0.0, 0.0)
"""P = Q = 0: the layer does nothing, and its derivative in M vanishes as well."""


def shares(P: float, Q: float, causal: bool = False) -> Shares:
    """The shares that exponentials give; P or Q may be infinite.

    >>> shares(1.0, 1.0)
    Shares(mu=0.5, nu=0.5)
    >>> shares(0.0, inf)
    Shares(mu=0.0, nu=1.0)
    """
    mu = 1.0 if P == inf else P / (1 + P)
    nu = 1.0 if Q == inf else Q / (1 + Q)
    if causal:
        mu = 0.0
    return Shares(mu, nu)


def exponentials(given: Shares) -> tuple[float, float]:
    """P and Q, from the shares: the inverse of `shares`.

    >>> exponentials(Shares(0.5, 1.0))
    (1.0, inf)
    """
    P = inf if given.mu == 1 else given.mu / (1 - given.mu)
    Q = inf if given.nu == 1 else given.nu / (1 - given.nu)
    return P, Q


def attention(over: Field, given: Shares) -> np.ndarray:
    """S, of shape (…, 2, 2); its columns sum to 1, and det S = 1 − μ − ν is what
    happens to x_1 − x_2.

    >>> attention(Reals(), FROZEN)
    array([[1., 0.],
           [0., 1.]])
    """
    mu = np.asarray(given.mu, dtype=float)
    nu = np.asarray(given.nu, dtype=float)
    first = np.stack([1 - mu, nu], axis=-1)
    second = np.stack([mu, 1 - nu], axis=-1)
    return over.reduce(np.stack([first, second], axis=-2))


def logits(over: Field, M: np.ndarray, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """p = (x_2 − x_1)ᵀM x_1 and q = (x_1 − x_2)ᵀM x_2, for X of shape (…, n, 2).

    Their sum is −δᵀMδ with δ = x_1 − x_2: it sees the symmetric part of M only.
    """
    apart = over.reduce(X[..., 1] - X[..., 0])
    seen = over.matmul(apart[..., None, :], over.matmul(M, X))[..., 0, :]
    return seen[..., 0], over.reduce(-seen[..., 1])


def along_line(M: Sequence[np.ndarray], X: np.ndarray) -> list[list[float]]:
    """δᵀM x_1 and δᵀM δ for each M, with δ = x_2 − x_1 and X of shape (n, 2): all
    logits on the tokens' line.

    Tokens x_1 + sδ and x_1 + uδ have p = (u − s)(δᵀM x_1 + s δᵀM δ) and q = (s − u)(δᵀM
    x_1 + u δᵀM δ).
    """
    first = X[:, 0]
    apart = X[:, 1] - X[:, 0]
    return [[float(apart @ one @ first), float(apart @ one @ apart)] for one in M]


def follow(over: Field, given: Sequence[Shares], X: np.ndarray) -> list[np.ndarray]:
    """The tokens before the first layer and after each: X_i = X_{i−1} S_i; X of shape
    (…, n, 2)."""
    tokens = [X]
    for one in given:
        tokens.append(over.matmul(tokens[-1], attention(over, one)))
    return tokens


def softmax_shares(
    M: Sequence[np.ndarray], X: np.ndarray, causal: bool = False
) -> list[Shares]:
    """The shares that the exponentials really have, layer by layer, for real tokens X
    of shape (…, n, 2).

    Args:
        M: M_1, …, M_l, each (n, n).
        X: two tokens.
        causal: token 1 sees itself only.
    """
    found = []
    for one in M:
        p, q = logits(_REALS, one, X)
        mu = _logistic(p)
        if causal:
            mu = np.zeros(np.shape(p))
        here = Shares(mu, _logistic(q))
        found.append(here)
        X = X @ attention(_REALS, here)
    return found


def free_jacobian(
    over: Field,
    virtual: VirtualWeights,
    X: np.ndarray,
    given: Sequence[Shares],
    functionals: np.ndarray,
) -> np.ndarray:
    """The derivative of ⟨functional, L X_l⟩ in the virtual weights, the exponentials
    treated as free.

    The weights move the logits, these the shares: μ˙ = μ(1 − μ) p˙, ν˙ = ν(1 − ν) q˙.
    With the shares of `softmax_shares` this is the derivative of the network itself;
    with others it is what the derivative says once its exponentials are free ("Theorem
    A", step 1).

    Args:
        over: the field.
        virtual: L of shape (m, n) and M_1, …, M_l of shape (n, n).
        X: N inputs of two tokens, shape (N, n, 2).
        given: for each layer the shares, arrays of shape (N,) or numbers.
        functionals: one for each input, shape (N, m, 2).

    Returns:
        Shape (N, l n² + m n): M_1, …, M_l, then L, each row by row.
    """
    mul = over.matmul
    red = over.reduce
    L, Ms = virtual
    N = len(X)
    n = L.shape[1]
    tokens = follow(over, given, X)
    # ∂⟨f, L X_l⟩/∂L = f X_lᵀ, and the gradient of X_l is Lᵀf.
    blocks = [mul(functionals, tokens[-1].mT).reshape(N, -1)]
    grad = mul(L.T, functionals)
    # Layer by layer from the last one; a bar marks the gradient of what carries it.
    for M, X, one in zip(
        reversed(Ms), reversed(tokens[:-1]), reversed(given), strict=True
    ):
        mu = np.broadcast_to(np.asarray(one.mu, dtype=float), (N,))
        nu = np.broadcast_to(np.asarray(one.nu, dtype=float), (N,))
        S_bar = mul(X.mT, grad)
        # The columns of S are (1 − μ, μ) and (ν, 1 − ν), so μ̄ = S̄_21 − S̄_11 and
        # ν̄ = S̄_12 − S̄_22; and p̄ = μ(1 − μ) μ̄, q̄ = ν(1 − ν) ν̄.
        p_bar = red(red(mu * red(1 - mu)) * red(S_bar[:, 1, 0] - S_bar[:, 0, 0]))
        q_bar = red(red(nu * red(1 - nu)) * red(S_bar[:, 0, 1] - S_bar[:, 1, 1]))
        # With δ = x_2 − x_1: p = δᵀM x_1, q = −δᵀM x_2, and M̄ = δ (p̄ x_1 − q̄ x_2)ᵀ.
        apart = red(X[..., 1] - X[..., 0])[..., None]
        weight = np.stack([p_bar, -q_bar], axis=-1)
        seen = mul(X, weight[..., None])
        blocks.insert(0, mul(apart, seen.mT).reshape(N, n * n))
        # A token has three gradients: through δ (left), as the x_1 or x_2 behind M
        # (right), and through X S.
        left = mul(M, seen)
        right = mul(mul(M.T, apart), weight[:, None, :])
        grad = red(
            mul(grad, attention(over, one).mT)
            + red(right + np.concatenate([-left, left], axis=-1))
        )
    return np.concatenate(blocks, axis=-1)


def _logistic(x: np.ndarray) -> np.ndarray:
    """1 / (1 + e^−x), without overflow."""
    return (1 + np.tanh(np.asarray(x) / 2)) / 2
