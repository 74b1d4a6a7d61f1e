"""Which exponentials of a softmax network are free, exactly: the linear relations between its logits.

By Ax's theorem the linear relations between the differences s_ji − s_ii, over Q and modulo constants, decide
which exponentials may be drawn at random modulo a prime ("Relations between logits").
"""

from dataclasses import dataclass

import numpy as np

from neuroviz.beyond.proof.exponentials import column_degree, draw_attention, places
from neuroviz.engine.field import Field, PrimeField
from neuroviz.engine.measure import ExactMeasurement, Measurement
from neuroviz.engine.rank import arithmetic_of

_SPARE_ROWS = 2
_FRESH = 8  # points at which a relation is tried again
_LARGEST = 3  # coefficients of a relation are whole numbers up to this

Place = tuple[int, int, int]
"""(k, j, i): the exponential of s_ji − s_ii in layer k; layers and tokens are counted from 1."""
Powers = tuple[tuple[Place, int], ...]
"""Exponentials, each with the whole number that it is raised to."""


@dataclass(frozen=True)
class Relation:
    """One difference s_ji − s_ii is Σ n · (others): so its exponential is a product of powers of theirs.

    Attributes:
        determined: where the exponential stands that the others determine.
        powers: the other places, each with its n.
        proved: by the coefficients of the weights themselves, as an identity of polynomials; else tried at
            random points that had no part in finding it.
    """

    determined: Place
    powers: Powers
    proved: bool


@dataclass(frozen=True)
class LayerIndependence:
    """What enters one softmax layer: t(t − 1) differences of logits, and how many of them are independent.

    Attributes:
        layer: k, from 1.
        independent: the exact measurement; `value` of `num_columns` differences are independent over Q
            modulo constants, of the inputs, of each other, and of those of earlier layers.
        relations: one for each of the others.
    """

    layer: int
    independent: Measurement
    relations: tuple[Relation, ...]


@dataclass(frozen=True, eq=False)
class Independence:
    """Which exponentials of a network are free, and how the others follow.

    Attributes:
        layers: what was found, layer by layer.
        monomials: the exponents of the free ones in each exponential, as in `all_free`.
    """

    layers: tuple[LayerIndependence, ...]
    monomials: np.ndarray

    @property
    def complete(self) -> bool:
        """Whether there is no relation, so that all exponentials are free."""
        return not any(one.relations for one in self.layers)


def logit_differences(over: Field, M: np.ndarray, X: np.ndarray) -> np.ndarray:
    """s_ji − s_ii = (x_j − x_i)ᵀM x_i for all j ≠ i, in the order of `places`: all that a softmax sees.

    Args:
        over: the field.
        M: virtual weights of the layer, shape (d₀, d₀).
        X: the tokens that it gets, shape (…, d₀, t).

    Returns:
        Shape (…, t(t − 1)).

    >>> logit_differences(PrimeField(), np.eye(1), np.array([[1.0, 3.0]]))
    array([ 2., -6.])
    """
    s = over.matmul(np.swapaxes(X, -1, -2), over.matmul(M, X))
    j, i = (np.array(places(X.shape[-1]), dtype=int).reshape(-1, 2) - 1).T
    return over.reduce(s[..., j, i] - s[..., i, i])


def measure_independence(
    over: PrimeField, Ms: tuple[np.ndarray, ...], tokens: int, rng: np.random.Generator
) -> Independence:
    """The linear relations between the differences of the logits of all layers, exactly.

    Layer k sees X S_1 ⋯ S_{k−1}; by Ax the exponentials in these S are free but for the relations found
    before, so they are drawn. The differences, 1 and the entries of X are evaluated at more points than there
    are functions. A full rank mod p proves that they are independent over Q: no chance enters. A dependent
    column gives a relation with small whole coefficients, in layer 1 proved as an identity of polynomials,
    in later layers tried at fresh points ("Relations between logits").

    Args:
        over: the prime field.
        Ms: M_1, …, M_l over it, each (d₀, d₀).
        tokens: t.
        rng: what the points are drawn from.

    Raises:
        ValueError: if a relation has no small whole coefficients; other weights or another prime help.

    >>> over, rng = PrimeField(), np.random.default_rng(0)
    >>> M = over.random(rng, (2, 2))
    >>> measure_independence(over, (M,), 3, rng).complete
    True
    >>> turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> measure_independence(over, (turn,), 2, rng).layers[0].relations
    (Relation(determined=(1, 1, 2), powers=(((1, 2, 1), -1),), proved=True),)
    """
    kept: list[Place] = []
    powers: dict[Place, Powers] = {}
    layers = []
    for k in range(1, len(Ms) + 1):
        before = _monomials(k - 1, tokens, kept, powers)
        relations, points = _relations(over, Ms[:k], before, kept, rng)
        powers |= {one.determined: one.powers for one in relations}
        here = [(k, j, i) for j, i in places(tokens)]
        kept += [place for place in here if place not in powers]
        error = 0.0
        if not all(one.proved for one in relations):
            degree = 2 * (1 + (k - 1) * tokens * column_degree(before))
            error = min(1.0, len(relations) * (degree / over.p) ** _FRESH)
        value, of = len(here) - len(relations), len(here)
        note = f"{value} of {of} differences of logits of layer {k} are independent modulo constants"
        if not relations:
            note += "; a full rank mod p proves it"
        arithmetic = arithmetic_of(of)
        found = ExactMeasurement(value, points, None, note, of, over.p, error, "weights", arithmetic)
        layers.append(LayerIndependence(k, found, relations))
    return Independence(tuple(layers), _monomials(len(Ms), tokens, kept, powers))


def _monomials(layers: int, tokens: int, kept: list[Place], powers: dict[Place, Powers]) -> np.ndarray:
    """The exponents of the free exponentials in each E_ji of the first layers."""
    index = {place: f for f, place in enumerate(place for place in kept if place[0] <= layers)}
    found = np.zeros((layers, tokens, tokens, len(index)), dtype=int)
    for k in range(1, layers + 1):
        for j, i in places(tokens):
            for place, n in powers.get((k, j, i), (((k, j, i), 1),)):
                found[k - 1, j - 1, i - 1, index[place]] = n
    return found


def _relations(
    over: PrimeField,
    Ms: tuple[np.ndarray, ...],
    before: np.ndarray,
    kept: list[Place],
    rng: np.random.Generator,
) -> tuple[tuple[Relation, ...], int]:
    """The relations of the last of these layers, and at how many points they were looked for."""
    k, tokens = len(Ms), before.shape[1]
    every = [(h, j, i) for h in range(1, k + 1) for j, i in places(tokens)]
    first = 1 + Ms[0].shape[0] * tokens  # the column of the first difference
    looked_at = [*kept, *(place for place in every if place[0] == k)]
    names = [None] * first + looked_at
    columns = [*range(first), *(first + every.index(place) for place in looked_at)]
    values = _evaluate(over, Ms, before, first + len(every) + _SPARE_ROWS, rng)
    fresh = _evaluate(over, Ms, before, _FRESH, rng)[:, first:]
    found = []
    for column, coefficients in _dependent_columns(over, values[:, columns]).items():
        powers = tuple((names[c], _whole(over, names[c], n)) for c, n in coefficients.items())
        proved = k == 1 and _is_identity(Ms[0], names[column], powers)
        found.append(Relation(names[column], powers, proved))
        _try_again(over, found[-1], fresh, every)
    return tuple(found), len(values)


def _evaluate(
    over: PrimeField, Ms: tuple[np.ndarray, ...], monomials: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """1, the entries of X and the differences of all layers, as columns, at `count` random points.

    `monomials` are those of all layers but the last.
    """
    X = over.random(rng, (count, Ms[0].shape[0], monomials.shape[1]))
    columns = [np.ones((count, 1)), X.reshape(count, -1)]
    for M, S in zip(Ms, [*draw_attention(over, monomials, count, rng), None], strict=True):
        columns.append(logit_differences(over, M, X))
        X = X if S is None else over.matmul(X, S)
    return np.concatenate(columns, axis=1)


def _dependent_columns(over: PrimeField, matrix: np.ndarray) -> dict[int, dict[int, float]]:
    """The columns that are combinations of earlier ones, each with the coefficients of these."""
    import flint  # here: it would take a quarter of the time that importing neuroviz takes

    rows, columns = matrix.shape
    reduced, rank = flint.nmod_mat(rows, columns, matrix.astype(np.int64).ravel().tolist(), over.p).rref()
    R = np.array([[int(entry) for entry in row] for row in reduced.tolist()], dtype=float)[:rank]
    pivots = [int(row.nonzero()[0][0]) for row in R]
    R = over.reduce(R)
    return {
        c: {pivot: float(n) for pivot, n in zip(pivots, R[:, c], strict=True) if n}
        for c in range(columns)
        if c not in pivots
    }


def _whole(over: PrimeField, place: Place | None, n: float) -> int:
    """The coefficient of a relation as the small whole number that it must be."""
    if place is None or abs(n) > _LARGEST:
        raise ValueError(
            f"a relation between logits needs whole coefficients up to {_LARGEST} and no part linear in X; "
            f"mod {over.p} one with {n:.0f} was found: take other weights, or another prime"
        )
    return int(n)


def _is_identity(M: np.ndarray, determined: Place, powers: Powers) -> bool:
    """Whether Σ n_ji (s_ji − s_ii) = 0 as a polynomial in X: n_ji M + n_ij Mᵀ = 0 and (Σ_j n_ji) Sym M = 0.

    In whole numbers, without a prime: entries of M below 2²³ and small n are exact.
    """
    n: dict[tuple[int, int], int] = {determined[1:]: -1} | {place[1:]: m for place, m in powers}
    most = max(max(pair) for pair in n)
    across = all(not (n.get((j, i), 0) * M + n.get((i, j), 0) * M.T).any() for j, i in places(most) if j < i)
    sums = (sum(m for (_, column), m in n.items() if column == i) for i in range(1, most + 1))
    return across and all(not (total * (M + M.T)).any() for total in sums)


def _try_again(over: PrimeField, relation: Relation, values: np.ndarray, every: list[Place]) -> None:
    """Evaluate a relation at points that had no part in finding it."""
    left = values[:, every.index(relation.determined)]
    right = sum((n * values[:, every.index(place)] for place, n in relation.powers), np.zeros(len(values)))
    if over.reduce(left - right).any():
        raise ValueError(
            f"the relation found for {relation.determined} fails at fresh points: "
            "an unlucky draw, try another seed"
        )
