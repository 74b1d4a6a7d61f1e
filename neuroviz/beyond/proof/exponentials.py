"""Exponentials of logits as elements of a prime field: attention drawn from free ones, and ranks with it.

Where exponentials satisfy no relation, each may be drawn at random ("Exponentials as free elements"). Where
they do, some are free and the others are monomials in these ("Relations between logits"): which ones,
`logit_relations` finds out. Here attention is drawn from any such monomials, the true ones or not, and the
derivative of a network with it has an exact rank.
"""

from collections.abc import Callable

import numpy as np

from neuroviz.beyond.why.peeling import virtual_jacobian
from neuroviz.engine.field import Field, PrimeField
from neuroviz.engine.measure import ExactMeasurement, Measurement, from_spectrum
from neuroviz.engine.rank import arithmetic_of, exact_rank, is_wide, nearby, schwartz_zippel, without_rounding
from neuroviz.engine.symmetry import VirtualWeights

_SPARE_ROWS = 2


def places(tokens: int) -> tuple[tuple[int, int], ...]:
    """All (j, i) with j ≠ i, column by column, counted from 1.

    >>> places(2)
    ((2, 1), (1, 2))
    """
    every = range(1, tokens + 1)
    return tuple((j, i) for i in every for j in every if j != i)


def all_free(layers: int, tokens: int) -> np.ndarray:
    """The monomials of a network whose exponentials have nothing to do with each other.

    Returns:
        E_ji of layer k, all counted from 0, is Π_f (free exponential f) ** found[k, j, i, f].

    >>> all_free(1, 2)[0].tolist()
    [[[0, 0], [0, 1]], [[1, 0], [0, 0]]]
    """
    count = layers * tokens * (tokens - 1)
    found = np.zeros((layers, tokens, tokens, count), dtype=int)
    where = [(k, j - 1, i - 1) for k in range(layers) for j, i in places(tokens)]
    for free, (k, j, i) in enumerate(where):
        found[k, j, i, free] = 1
    return found


def column_degree(monomials: np.ndarray) -> int:
    """The largest degree of an entry of a column of E after multiplying the column free of denominators.

    >>> column_degree(all_free(2, 3))
    1
    """
    if not monomials.size:
        return 0
    cleared = monomials - np.minimum(monomials.min(axis=1, keepdims=True), 0)
    return int(cleared.sum(axis=-1).max())


def draw_attention(
    over: PrimeField, monomials: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Attention matrices S_ji = E_ji / Σ_k E_ki with free exponentials drawn from the units of the field.

    Args:
        over: the prime field.
        monomials: as in `all_free`; shape (l, t, t, number of free exponentials).
        count: how many inputs.
        rng: what the free exponentials are drawn from.

    Returns:
        Shape (l, count, t, t); all columns sum to 1.

    >>> S = draw_attention(PrimeField(), all_free(1, 2), 5, np.random.default_rng(0))
    >>> S.shape, set(PrimeField().reduce(S.sum(axis=-2)).ravel().tolist())
    ((1, 5, 2, 2), {1.0})
    """
    layers, tokens, _, free = monomials.shape
    found = np.empty((layers, count, tokens, tokens))
    missing = np.arange(count)
    while len(missing):
        units = rng.integers(1, over.p, (len(missing), free)).astype(np.float64)
        E = _products(over, over.reduce(units), monomials)
        sums = over.reduce(E.sum(axis=-2, keepdims=True))
        found[:, missing] = over.reduce(E * _inverses(over, sums))
        # A column whose sum is 0 mod p has no softmax: that point is drawn again.
        missing = missing[(sums == 0).any(axis=(0, 2, 3))]
    return found


def softmax_jacobian(
    over: Field, virtual: VirtualWeights, X: np.ndarray, cotangents: np.ndarray, S: np.ndarray | None = None
) -> np.ndarray:
    """The derivative of a softmax network in its virtual weights, every entry of them free.

    Args:
        over, virtual, X, cotangents: as in `virtual_jacobian`.
        S: the attention matrices to use, shape (l, N, t, t): over a prime field those of `draw_attention`.
            By default those that the field's own softmax gives.

    Returns:
        Shape (N, c, l d₀² + m d₀): M_1, …, M_l, then L, each row by row.

    >>> from neuroviz.engine.field import Reals
    >>> one, X = np.ones((1, 1)), np.array([[[1.0, 0.0]]])
    >>> softmax_jacobian(Reals(), VirtualWeights(one, (one,)), X, np.ones((1, 1, 1, 2))).round(3)
    array([[[0.197, 1.231]]])
    """
    given = over if S is None else _WithAttention(over, list(S))
    return virtual_jacobian(given, virtual, X, cotangents, attention="softmax")


def measure_softmax_kernel(
    over: PrimeField, virtual: VirtualWeights, monomials: np.ndarray, rng: np.random.Generator
) -> ExactMeasurement:
    """The exact rank of the derivative in (L, M_1, …, M_l), with exponentials drawn by these monomials.

    A `kernel` of 0 is certain; a larger one may be too large with the probability `error_bound` ("Exact
    rank"). With the monomials of `measure_independence` it is the kernel of the network's own derivative on
    all inputs, by Ax's theorem. With those of `all_free`, where there are relations, it is the kernel of no
    network at all.

    >>> from neuroviz.beyond.proof.logit_relations import measure_independence
    >>> over, rng = PrimeField(), np.random.default_rng(0)
    >>> turn, L, M = np.array([[0.0, 1.0], [-1.0, 0.0]]), *over.random(rng, (2, 2, 2))
    >>> virtual, true = VirtualWeights(L, (turn, M)), measure_independence(over, (turn, M), 2, rng).monomials
    >>> [measure_softmax_kernel(over, virtual, how, rng).kernel for how in (true, all_free(2, 2))]
    [4, 0]
    """
    L, Ms = virtual
    depth, tokens = monomials.shape[:2]
    columns = L.size + sum(M.size for M in Ms)
    inputs = columns + _SPARE_ROWS
    X = over.random(rng, (inputs, L.shape[1], tokens))
    cotangents = over.random(rng, (inputs, 1, len(L), tokens))
    J = softmax_jacobian(over, virtual, X, cotangents, draw_attention(over, monomials, inputs, rng))
    value = exact_rank(J.reshape(-1, columns), over)
    # As in measure.py, but an entry of S is a quotient: s counts the denominators, brought to one.
    s = tokens * column_degree(monomials)
    degree = (1 + s) * depth**2 + (4 + s) * depth + 1
    error = 0.0 if value == columns else schwartz_zippel(value, degree, over.p)
    note = f"rank {value} of {columns} entries of L and the M, so a kernel of dimension {columns - value}"
    arithmetic = arithmetic_of(columns)
    return ExactMeasurement(value, inputs, None, note, columns, over.p, error, "weights", arithmetic)


def true_spectrum(
    rows: Callable[[VirtualWeights, np.ndarray], np.ndarray],
    virtual: VirtualWeights,
    X: np.ndarray,
    rng: np.random.Generator,
    seed: int,
) -> Measurement:
    """The spectrum of a derivative, rows(weights, inputs) with N inputs X, in floating point without Ax."""
    J = rows(virtual, X)
    if is_wide(J):  # directions that do nothing come out as rounding
        near = VirtualWeights(nearby(virtual.L, rng), tuple(nearby(M, rng) for M in virtual.M))
        J = without_rounding(J, rows(near, nearby(X, rng)))
    return from_spectrum(J, len(X), seed)


class _WithAttention:
    """A field whose softmax gives attention matrices that were drawn before, layer by layer."""

    def __init__(self, over: Field, attention: list[np.ndarray]) -> None:
        self.reduce, self.matmul = over.reduce, over.matmul
        self._left = iter(attention)

    def softmax(self, logits: np.ndarray, symmetric: bool, rng: np.random.Generator) -> np.ndarray:
        return next(self._left)


def _products(over: PrimeField, units: np.ndarray, monomials: np.ndarray) -> np.ndarray:
    """Π_f units[:, f] ** monomials[k, j, i, f], of shape (l, count, t, t)."""
    layers, tokens, _, free = monomials.shape
    found = np.ones((layers, len(units), tokens, tokens))
    inverse = _inverses(over, units)
    for f in range(free):
        n = monomials[:, None, :, :, f]
        for sign, base in ((1, units), (-1, inverse)):
            for power in range(1, int((sign * n).max(initial=0)) + 1):
                factor = np.where(sign * n >= power, base[None, :, f, None, None], 1.0)
                found = over.reduce(found * factor)
    return found


def _inverses(over: PrimeField, x: np.ndarray) -> np.ndarray:
    """x^(p − 2) = 1/x, entry by entry; 0 where x is 0."""
    found, power, left = np.ones_like(x), x, over.p - 2
    while left:
        if left & 1:
            found = over.reduce(found * power)
        power, left = over.reduce(power * power), left >> 1
    return found
