"""The two fields that networks are computed over: the reals, and a prime field.

Both store their elements as float64 arrays, so the same numpy expressions, and the same
BLAS, serve both. A prime field keeps the residues of least absolute value and reduces
after every product; with p < 2²³ each product is below 2⁴⁴ and a sum of 2⁹ of them is
exact in float64.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from math import isqrt
from operator import index

import numpy as np

DEFAULT_PRIME = 8_388_593  # the largest prime below 2²³
SECOND_PRIME = 8_388_587  # the next smaller prime
_LARGEST_PRIME = 2**23


@dataclass(frozen=True)
class Reals:
    """Floating point numbers, in which the displayed spectrum is computed."""

    def reduce(self, x: np.ndarray) -> np.ndarray:
        """The numbers unchanged."""
        return x

    def matmul(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x @ y."""
        return x @ y

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """The inverse of a square matrix; numpy's LinAlgError, a ValueError, where
        there is none."""
        return np.linalg.inv(x)

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Independent standard normal entries."""
        return rng.standard_normal(shape)

    def softmax(
        self,
        logits: np.ndarray,
        symmetric: bool,
        rng: np.random.Generator,
        causal: bool = False,
    ) -> np.ndarray:
        """exp(s_ji) / Σ_k exp(s_ki), column by column (Eq. 15 with temperature 1); with
        a mask over k ≤ i."""
        if causal:
            logits = np.where(
                np.triu(np.ones(logits.shape[-2:], bool)), logits, -np.inf
            )
        # Subtracting a column's largest logit only avoids overflow.
        e = np.exp(logits - logits.max(axis=-2, keepdims=True))
        return e / e.sum(axis=-2, keepdims=True)


@dataclass(frozen=True)
class PrimeField:
    """Arithmetic modulo a prime p < 2²³, exact.

    A rank over it at a random point is a rigorous lower bound of the generic rank over
    Q, and falls short of it with a probability that `neuroviz.engine.rank` bounds
    ("Exact rank").

    Raises:
        ValueError: if p is not a prime between 3 and 2²³.

    >>> F = PrimeField(7)
    >>> F.matmul(np.array([[3.0, 4.0]]), np.array([[2.0], [4.0]]))
    array([[1.]])
    """

    p: int = DEFAULT_PRIME

    def __post_init__(self) -> None:
        try:
            p = index(self.p)
        except TypeError:
            p = 0
        if not (3 <= p < _LARGEST_PRIME and _is_prime(p)):
            raise ValueError(
                f"the field needs an odd prime below 2²³ = {_LARGEST_PRIME}, so that"
                f" float64 holds every sum of products exactly; got {self.p!r}: try"
                f" {DEFAULT_PRIME} or {SECOND_PRIME}"
            )
        object.__setattr__(self, "p", p)

    @cached_property
    def _longest_sum(self) -> int:
        """How many products of residues, and one more term, add up below 2⁵³."""
        return int(2**53 // ((self.p + 1) // 2) ** 2) - 1

    def reduce(self, x: np.ndarray) -> np.ndarray:
        """The residues of least absolute value (up to rounding at ±p/2), for |x| <
        2⁵³."""
        return x - self.multiples(x)

    def multiples(self, x: np.ndarray) -> np.ndarray:
        """The multiples of p nearest to x, in place, because new memory costs more time
        than sums."""
        nearest = np.asarray(x * (1.0 / self.p))
        np.rint(nearest, out=nearest)
        nearest *= self.p
        return nearest

    def matmul(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """x @ y mod p, in blocks short enough to be exact."""
        n, step = x.shape[-1], self._longest_sum
        if n <= step:
            product = x @ y
            product -= self.multiples(product)
            return product
        return self.reduce(
            sum(
                self.reduce(x[..., i : i + step] @ y[..., i : i + step, :])
                for i in range(0, n, step)
            )
        )

    def inverse(self, x: np.ndarray) -> np.ndarray:
        """The inverse of a square matrix of residues.

        Raises:
            ValueError: if its determinant is 0 mod p, or an entry is not a whole
                number.

        >>> PrimeField(7).inverse(np.array([[2.0]]))
        array([[-3.]])
        """
        # late: pivots imports this module
        from neuroviz.engine.pivots import gauss_jordan

        n = len(x)
        if not (x == np.rint(x)).all():
            raise ValueError(
                f"a matrix mod {self.p} has whole entries; got {x[x != np.rint(x)][0]}"
            )
        transform, rows, columns = gauss_jordan(self, x)
        if len(rows) < n:
            raise ValueError(f"the {n} × {n} matrix has no inverse mod {self.p}")
        return transform[np.argsort(columns)]

    def random(self, rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        """Independent uniform elements."""
        half = self.p // 2
        return rng.integers(-half, self.p - half, shape).astype(np.float64)

    def softmax(
        self,
        logits: np.ndarray,
        symmetric: bool,
        rng: np.random.Generator,
        causal: bool = False,
    ) -> np.ndarray:
        """Random columns that sum to 1; they stand for a softmax whose exponentials are
        free variables.

        By Ax's theorem the exponentials of independent logits satisfy no algebraic
        relation with the weights and tokens, so for the generic rank each may be
        replaced by a fresh random element E_ji ("Exponentials as free elements"). The
        columns E_ji / Σ_k E_ki are then free but for their sums. Logits symmetric in j
        and i share their exponentials, E_ji = E_ij; then the columns are E_ji c_i off
        the diagonal, with the c_i = 1 / Σ_k E_ki free as well. Under a mask only one of
        E_ji, E_ij occurs, and nothing is shared. A term of the logits in j alone is a
        factor G_j, and changes nothing: the columns of E_ji G_j are those of E_ji G_j
        G_i, symmetric again.
        """
        S = self.random(rng, logits.shape)
        if causal:
            S = np.triu(S)
        elif symmetric:
            above = np.triu(S, 1)
            c = self.random(rng, (*logits.shape[:-2], 1, logits.shape[-1]))
            S = self.reduce((above + np.swapaxes(above, -1, -2)) * c)
        diagonal = np.arange(logits.shape[-1])
        S[..., diagonal, diagonal] = 0
        S[..., diagonal, diagonal] = self.reduce(1 - S.sum(axis=-2))
        return S


Field = Reals | PrimeField


@cache
def _is_prime(n: int) -> bool:
    return n % 2 == 1 and bool((n % np.arange(3, isqrt(n) + 1, 2)).all())
