"""Two heads of a lightning layer, turned into one another: A′ = g A, V′ = V g⁻¹.

    Σ_h V′_h X Xᵀ A′_h X = Σ_k V_k X Xᵀ A_k X   for every invertible g.

With g = [[c, s], [−s, c]] the new heads are A₁′ = c A₁ + s A₂ and A₂′ = −s A₁ + c A₂.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import radians, tan
from typing import NamedTuple

import numpy as np

from neuroviz.attention.expected import alpha
from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.blending.special_layer import unit
from neuroviz_beyond.transformers.transformer import Transformer

Rows = Sequence[Sequence[int]]

_LARGEST = 2  # entry of a factor
_TOKENS = 2
_QUARTER, _HALF = 90, 180


class TwoHeads(NamedTuple):
    """Weights of two heads and one input, as whole numbers.

    Attributes:
        A: two d × d matrices of rank min(a, d).
        V: two invertible d × d matrices.
        X: d × 2.
    """

    A: np.ndarray
    V: np.ndarray
    X: np.ndarray


def rank_of(rows: Rows) -> int:
    """The rank of a matrix of whole numbers, by elimination without fractions: a page
    has no python-flint before it has fetched it.

    >>> rank_of([[1, 2], [2, 4]]), rank_of([[10**20, 1], [1, 0]])
    (1, 2)
    """
    left = [[int(entry) for entry in row] for row in rows]
    rank = 0
    for column in range(len(left[0])):
        pivots = [k for k in range(rank, len(left)) if left[k][column]]
        if not pivots:
            continue
        left[rank], left[pivots[0]] = left[pivots[0]], left[rank]
        top = left[rank]
        # top[column] ≠ 0, so multiplying a row by it changes no rank.
        for k in range(rank + 1, len(left)):
            factor = left[k][column]
            left[k] = [
                top[column] * x - factor * y for x, y in zip(left[k], top, strict=True)
            ]
        rank += 1
    return rank


@lru_cache(maxsize=64)
def two_heads(width: int, head_dim: int, shared: bool, seed: int) -> TwoHeads:
    """Random weights A_h = K_hᵀ Q_h and V_h; `shared` gives both heads the same Q.

    They are drawn until they are as generic as the picture asks: A_h of rank
    min(a, d), V_h invertible, and halfway between the heads a rank of min(d, 2a), or
    with the same Q of min(a, d).
    """
    rank = min(head_dim, width)
    # (K₁ + K₂)ᵀ Q has the rank of one head, K₁ᵀQ₁ + K₂ᵀQ₂ that of two.
    half = rank if shared else min(width, 2 * rank)
    rng = np.random.default_rng([seed, width, rank, shared])

    def drawn(*shape: int) -> np.ndarray:
        return rng.integers(-_LARGEST, _LARGEST + 1, shape)

    while True:
        K = drawn(2, rank, width)
        Q = drawn(1, rank, width) if shared else drawn(2, rank, width)
        A = K.transpose(0, 2, 1) @ Q
        V = drawn(2, width, width)
        X = drawn(width, _TOKENS)
        # Halfway, at 45°, A₁′ and A₂′ are multiples of A₁ + A₂ and A₂ − A₁.
        wanted = [(A[0], rank), (A[1], rank), (A[0] + A[1], half), (A[1] - A[0], half)]
        wanted += [(V[0], width), (V[1], width), (X, _TOKENS)]
        if all(rank_of(matrix) == most for matrix, most in wanted):
            return TwoHeads(A, V, X)


def turned(pair: np.ndarray, degrees: float) -> np.ndarray:
    """c M₁ + s M₂ and −s M₁ + c M₂: for the A, and as g⁻¹ = gᵀ for the V, too."""
    c, s = turning(degrees)
    return np.stack([c * pair[0] + s * pair[1], c * pair[1] - s * pair[0]])


def turning(degrees: float) -> tuple[float, float]:
    """Cosine and sine; at quarters of a turn exactly.

    >>> turning(90), turning(180)
    ((0.0, 1.0), (-1.0, 0.0))
    """
    found = unit(degrees)
    return found.real, found.imag


def outputs(A: np.ndarray, V: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Σ_h V_h X Xᵀ A_h X, for numbers of any kind."""
    one, two = (V[h].dot(X).dot(X.T.dot(A[h]).dot(X)) for h in (0, 1))
    return one + two


@lru_cache(maxsize=64)
def ranks(width: int, head_dim: int, shared: bool, seed: int) -> list[tuple[int, int]]:
    """The ranks of A₁′ and A₂′ at 0°, 1°, …, 360°, exactly.

    Between quarters of a turn c A₁ + s A₂ has the rank of A₁ + tan φ · A₂, where tan φ
    is the floating-point number as it is stored.

    >>> [ranks(3, 2, False, 0)[angle] for angle in (0, 30, 90)]
    [(2, 2), (3, 3), (2, 2)]
    """
    A = two_heads(width, head_dim, shared, seed).A
    of_first = [_rank_at(A, degrees) for degrees in range(_HALF)]
    # −A has the rank of A, and A₂′ is where A₁′ is a quarter of a turn later.
    return [
        (of_first[degrees % _HALF], of_first[(degrees + _QUARTER) % _HALF])
        for degrees in range(2 * _HALF + 1)
    ]


def _rank_at(A: np.ndarray, degrees: int) -> int:
    if degrees == 0:
        return rank_of(A[0])
    if degrees == _QUARTER:
        return rank_of(A[1])
    # As objects the entries are Python's whole numbers, which do not overflow.
    top, bottom = tan(radians(degrees)).as_integer_ratio()
    return rank_of(A[0].astype(object) * bottom + A[1].astype(object) * top)


class Count(NamedTuple):
    """How many silent directions H heads have together, at almost all weights.

    Attributes:
        conditions: (d − a)², at least 0: equations for each row of g.
        row: of the H numbers of a row, those that stay free.
        formula: H · max(1, H − (d − a)²), or None where H > d.
        measured: parameters (A, V) less the exact rank.
    """

    conditions: int
    row: int
    formula: int | None
    measured: int
    prime: int


@lru_cache(maxsize=64)
def count(width: int, head_dim: int, heads: int) -> Count:
    """Theorem M and its measurement, for d = d′ and full values.

    >>> count(3, 2, 3)[:4], count(3, 3, 2)[:4]
    ((1, 2, 6, 6), (0, 2, 4, 4))
    """
    found = measure_dimension(Transformer((width, width), (head_dim,), heads=heads))
    conditions = max(width - head_dim, 0) ** 2
    row = max(1, heads - conditions)  # never fewer than the rescaling of the head
    return Count(
        conditions,
        row,
        heads * row if heads <= width else None,
        heads * (alpha(head_dim, width) + width**2) - found.value,
        found.prime,
    )
