"""One softmax layer φ(X) = V X S, S_ji = E_ji / Σ_k E_ki, over the reals and with whole numbers mod p.

Over the reals E_ji = exp(x_jᵀAx_i / τ). Over a prime field the powers of a generator stand for exp: they turn
sums into products as well, and have an inverse. That is all that reading (A, V) off the function needs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neuroviz.engine.field import Field, PrimeField, Reals
from neuroviz.engine.network import Layer, forward

_LARGEST_VALUE = 3  # entries of V in the integer layer; those of Q and K are −1, 0, 1

Function = Callable[[np.ndarray], np.ndarray]
"""Tokens (N, d, t) ↦ outputs (N, d', t)."""


@dataclass(frozen=True)
class RealExponential:
    """exp(·/τ) and its inverse, over the reals."""

    temperature: float = 1.0

    @property
    def over(self) -> Field:
        """The field in which exponentials live."""
        return Reals()

    def log(self, E: np.ndarray) -> np.ndarray:
        """τ log E; NaN where E is not positive and finite: rounding has eaten it, or it is no exponential."""
        lost = ~(np.isfinite(E) & (E > 0))
        return np.where(lost, np.nan, self.temperature * np.log(np.where(lost, 1.0, E)))

    def divide(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x / y, NaN where y is 0."""
        return np.asarray(x) / np.where(np.asarray(y) == 0, np.nan, y)


@dataclass(frozen=True)
class Powers:
    """n ↦ gⁿ in F_p: it turns sums into products as exp does, and whole numbers come back from a table.

    Attributes:
        over: the prime field.
        base: g. A generator of the p − 1 invertible elements tells all n apart; an element of order m only
            what n leaves modulo m.
        largest: the table holds g^−largest to g^largest.

    >>> powers = Powers()
    >>> powers.log(powers.exp(np.array([-3, 0, 5])))
    array([-3.,  0.,  5.])
    """

    over: PrimeField = PrimeField()
    base: int = 3
    largest: int = 100

    @cached_property
    def _table(self) -> dict[int, int]:
        """Element → exponent; of several exponents the one nearest to 0."""
        exponents = sorted(range(-self.largest, self.largest + 1), key=abs, reverse=True)
        return {pow(self.base, n, self.over.p): n for n in exponents}

    def exp(self, n: np.ndarray) -> np.ndarray:
        """gⁿ for whole numbers n."""
        found = [pow(self.base, int(k), self.over.p) for k in np.ravel(n)]
        return self.over.reduce(np.array(found, dtype=float).reshape(np.shape(n)))

    def log(self, E: np.ndarray) -> np.ndarray:
        """n for gⁿ; NaN where E is none of the powers in the table."""
        return self._each(lambda k: self._table.get(k, np.nan), E)

    def divide(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x / y mod p, NaN where y is 0."""
        inverse = self._each(lambda k: pow(k, -1, self.over.p) if k else np.nan, y)
        return self.over.reduce(np.asarray(x) * self.over.reduce(inverse))

    def _each(self, rule: Callable[[int], float], x: np.ndarray) -> np.ndarray:
        found = [np.nan if np.isnan(k) else float(rule(int(k) % self.over.p)) for k in np.ravel(x)]
        return np.array(found).reshape(np.shape(x))


def softmax_layer(A: np.ndarray, V: np.ndarray, temperature: float = 1.0) -> Function:
    """The function of one softmax layer over the reals.

    >>> layer = softmax_layer(np.eye(2), np.eye(2))
    >>> layer(np.array([[[3.0, 0.0], [0.0, 0.0]]]))[0, :, 1]
    array([1.5, 0. ])
    """
    weights = (Layer(A / temperature, np.eye(len(A)), V),)
    return lambda X: forward(Reals(), "softmax", weights, X)


def powers_layer(A: np.ndarray, V: np.ndarray, powers: Powers) -> Function:
    """The same with gⁿ for exp, of whole A, V and tokens: outputs in F_p; NaN where a column of E sums to 0.

    >>> powers_layer(np.eye(1), np.eye(1), Powers())(np.array([[[4.0, 0.0]]]))[0, :, 1]
    array([2.])
    """

    def function(X: np.ndarray) -> np.ndarray:
        E = powers.exp(np.swapaxes(X, -1, -2) @ A @ X)
        S = powers.divide(E, powers.over.reduce(E.sum(axis=-2, keepdims=True)))
        return powers.over.matmul(V, powers.over.matmul(X, S))

    return function


def integer_layer(
    d: int, head_dim: int, d_out: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """A = KᵀQ and V with small whole entries, V not 0.

    >>> A, V = integer_layer(3, 2, 1, np.random.default_rng(0))
    >>> A.shape, V.shape, bool(V.any())
    ((3, 3), (1, 3), True)
    """
    Q, K = rng.integers(-1, 2, (2, head_dim, d)).astype(float)
    V = np.zeros((d_out, d))
    while not V.any():
        V = rng.integers(-_LARGEST_VALUE, _LARGEST_VALUE + 1, (d_out, d)).astype(float)
    return K.T @ Q, V
