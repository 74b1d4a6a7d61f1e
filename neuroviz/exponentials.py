"""Why the rank of a softmax network can be exact: which exponentials of logits are free, and which are not.

By Ax's theorem exponentials of functions satisfy no algebraic relation beyond those forced by linear
relations between the functions. Of a softmax only the differences s_ji − s_ii of its logits matter. So their
linear relations, over Q and modulo constants, decide which exponentials may be drawn at random modulo a
prime. Here these relations are found exactly, layer by layer; ranks are taken with exponentials that respect
them, and with exponentials that do not, to see what a careless count would have answered.
"""

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from neuroviz.architecture import Architecture
from neuroviz.field import DEFAULT_PRIME, Field, PrimeField, Reals
from neuroviz.measure import Measurement, from_spectrum
from neuroviz.network import Layer, conditioned_tokens, conditioned_weights, jacobian
from neuroviz.rank import exact_rank, schwartz_zippel
from neuroviz.symmetry import VirtualWeights

KINDS = ("generic", "symmetric", "antisymmetric", "rank-one", "zero")
PLACES = ("first", "last", "all")
_SPARE_ROWS = 2
_FRESH = 8  # points at which a relation is tried again
_LARGEST = 3  # coefficients of a relation are whole numbers up to this
_TURN = 4.0  # length of a real antisymmetric M: tokens of length 1 attend unevenly, but not to one alone

Place = tuple[int, int, int]
"""(k, j, i): the exponential of s_ji − s_ii in layer k; layers and tokens are counted from 1."""
_Powers = dict[Place, tuple[tuple[Place, int], ...]]


@dataclass(frozen=True)
class Relation:
    """One difference s_ji − s_ii is Σ n · (others): so its exponential is a product of powers of theirs.

    Attributes:
        determined: where the exponential stands that the others determine.
        powers: the other places, each with its whole number n.
        proved: by the coefficients of the weights themselves, as an identity of polynomials; else tried at
            random points that had no part in finding it.
    """

    determined: Place
    powers: tuple[tuple[Place, int], ...]
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
        tokens: t.
        layers: what was found, layer by layer.
        monomials: E_ji of layer k, counted from 0, is Π_f (free exponential f) ** monomials[k, j, i, f].
    """

    tokens: int
    layers: tuple[LayerIndependence, ...]
    monomials: np.ndarray

    @property
    def complete(self) -> bool:
        """Whether there is no relation, so that all exponentials are free."""
        return not any(one.relations for one in self.layers)


def places(tokens: int) -> tuple[tuple[int, int], ...]:
    """All (j, i) with j ≠ i, column by column, counted from 1.

    >>> places(2)
    ((2, 1), (1, 2))
    """
    every = range(1, tokens + 1)
    return tuple((j, i) for i in every for j in every if j != i)


def logit_differences(over: Field, M: np.ndarray, X: np.ndarray) -> np.ndarray:
    """s_ji − s_ii = (x_j − x_i)ᵀM x_i for all j ≠ i, in the order of `places`: all that a softmax sees.

    Args:
        over: the field.
        M: virtual weights of the layer, shape (d₀, d₀).
        X: the tokens that it gets, shape (…, d₀, t).

    Returns:
        Shape (…, t(t − 1)).

    >>> logit_differences(Reals(), np.eye(1), np.array([[1.0, 3.0]]))
    array([ 2., -6.])
    """
    s = over.matmul(np.swapaxes(X, -1, -2), over.matmul(M, X))
    j, i = (np.array(places(X.shape[-1]), dtype=int).reshape(-1, 2) - 1).T
    return over.reduce(s[..., j, i] - s[..., i, i])


def all_free(layers: int, tokens: int) -> np.ndarray:
    """The monomials of a network whose exponentials have nothing to do with each other."""
    count = layers * tokens * (tokens - 1)
    found = np.zeros((layers, tokens, tokens, count), dtype=int)
    where = [(k, j - 1, i - 1) for k in range(layers) for j, i in places(tokens)]
    for free, (k, j, i) in enumerate(where):
        found[k, j, i, free] = 1
    return found


def draw_attention(
    over: PrimeField, monomials: np.ndarray, count: int, rng: np.random.Generator
) -> np.ndarray:
    """Attention matrices S_ji = E_ji / Σ_k E_ki with free exponentials drawn from the units of the field.

    Args:
        over: the prime field.
        monomials: of `Independence`, or `all_free`; shape (l, t, t, number of free exponentials).
        count: how many inputs.
        rng: what the free exponentials are drawn from.

    Returns:
        Shape (l, count, t, t); all columns sum to 1.
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


def measure_independence(
    over: PrimeField, Ms: tuple[np.ndarray, ...], tokens: int, rng: np.random.Generator
) -> Independence:
    """The linear relations between the differences of the logits of all layers, exactly.

    Layer k sees X S_1 ⋯ S_{k−1}. The exponentials in the earlier S are algebraically independent of X and of
    each other (by Ax, from what was found for the earlier layers) but for the relations found there; so they
    are drawn, and the differences are rational functions of what is drawn. Together with 1 and the entries of
    X they are evaluated at more points than there are functions. Where this matrix has full rank mod p, the
    functions are linearly independent over Q, for the whole numbers that the entries of the M stand for:
    a relation, divided by its common factors, would survive mod p. No chance enters. A column that depends
    on earlier ones gives a relation mod p, with small whole coefficients. In layer 1 it is then proved as an
    identity of polynomials; in later layers it is tried at fresh points.

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
    powers: _Powers = {}
    layers = []
    for k in range(1, len(Ms) + 1):
        before = _monomials(k - 1, tokens, kept, powers)
        relations, points = _relations(over, Ms[:k], before, kept, rng)
        powers |= {one.determined: one.powers for one in relations}
        here = [(k, j, i) for j, i in places(tokens)]
        kept += [place for place in here if place not in powers]
        error = 0.0
        if not all(one.proved for one in relations):
            degree = 2 * (1 + (k - 1) * tokens * _column_degree(before))
            error = min(1.0, len(relations) * (degree / over.p) ** _FRESH)
        value, of = len(here) - len(relations), len(here)
        note = f"{value} of {of} differences of logits of layer {k} are independent modulo constants"
        if not relations:
            note += "; a full rank mod p proves it"
        found = Measurement(
            value, "exact", "exact", points, None, note, None, of, prime=over.p, error_bound=error
        )
        layers.append(LayerIndependence(k, found, relations))
    return Independence(tokens, tuple(layers), _monomials(len(Ms), tokens, kept, powers))


def softmax_jacobian(
    over: Field, virtual: VirtualWeights, X: np.ndarray, cotangents: np.ndarray, S: np.ndarray | None = None
) -> np.ndarray:
    """The derivative of a softmax network in its virtual weights, every entry of them free.

    Args:
        over: the field.
        virtual: L of shape (m, d₀) and M_1, …, M_l of shape (d₀, d₀), l ≥ 1.
        X: shape (N, d₀, t).
        cotangents: c functionals of the output for each input, shape (N, c, m, t).
        S: the attention matrices to use, shape (l, N, t, t): over a prime field those of `draw_attention`.
            By default those that the field's own softmax gives.

    Returns:
        Shape (N, c, l d₀² + m d₀): M_1, …, M_l, then L, each row by row.
    """
    L, Ms = virtual
    # A network with K = 1 everywhere and V = 1 but for the last: then Q_k is M_k and the last V is L.
    eye, last = np.eye(L.shape[1]), len(Ms) - 1
    weights = tuple(Layer(M, eye, L if k == last else eye) for k, M in enumerate(Ms))
    free = [
        np.full(matrix.size, name == "Q" or (name == "V" and k == last))
        for k, layer in enumerate(weights)
        for name, matrix in zip(Layer._fields, layer, strict=True)
    ]
    given = over if S is None else _WithAttention(over, list(S))
    return jacobian(given, "softmax", weights, X, cotangents)[..., np.concatenate(free)]


def measure_softmax_kernel(
    over: PrimeField, virtual: VirtualWeights, monomials: np.ndarray, rng: np.random.Generator
) -> Measurement:
    """The exact rank of the derivative in (L, M_1, …, M_l), with exponentials drawn by these monomials.

    The kernel has dimension `num_columns − value`. A kernel of 0 is certain; a larger one may be too large
    with the probability `error_bound` ("Exact rank"). With the monomials of `measure_independence` it is the
    kernel of the network's own derivative on all inputs, by Ax's theorem. With those of `all_free`, where
    there are relations, it is the kernel of no network at all.

    >>> over, rng = PrimeField(), np.random.default_rng(0)
    >>> turn, L, M = np.array([[0.0, 1.0], [-1.0, 0.0]]), *over.random(rng, (2, 2, 2))
    >>> virtual, true = VirtualWeights(L, (turn, M)), measure_independence(over, (turn, M), 2, rng).monomials
    >>> [kernel(measure_softmax_kernel(over, virtual, how, rng)) for how in (true, all_free(2, 2))]
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
    s = tokens * _column_degree(monomials)
    degree = (1 + s) * depth**2 + (4 + s) * depth + 1
    error = 0.0 if value == columns else schwartz_zippel(value, degree, over.p)
    note = f"rank {value} of {columns} entries of L and the M, so a kernel of dimension {columns - value}"
    return Measurement(
        value, "exact", "exact", inputs, None, note, None, columns, prime=over.p, error_bound=error
    )


def measure_attention(
    over: PrimeField, kind: str, width: int, tokens: int, rng: np.random.Generator
) -> Measurement:
    """The dimension of the set of attention matrices that a layer makes, over all X and all M of a kind.

    The exact rank of the derivative of the differences in X and in M; `num_columns` is t(t − 1), the
    dimension that independent exponentials fill. It is at most the number of independent differences, and
    smaller where tokens or M have few entries or M has low rank: then the set is bent, and no algebraic
    equation holds on it beyond those that the relations give.

    >>> rng = np.random.default_rng(0)
    >>> [measure_attention(PrimeField(), kind, 3, 3, rng).value for kind in ("generic", "symmetric")]
    [6, 5]
    """
    X, (A, B) = over.random(rng, (width, tokens)), over.random(rng, (2, width, width))
    M, rows = matrix_of(over, kind, A, B), []
    for unit in np.eye(width * tokens).reshape(-1, width, tokens):
        # The differences are quadratic in X: this is their derivative.
        moved = logit_differences(over, M, X + unit) - logit_differences(over, M, X)
        rows.append(over.reduce(moved - logit_differences(over, M, unit)))
    for unit in np.eye(width * width).reshape(-1, width, width):
        rows.append(logit_differences(over, matrix_of(over, kind, unit, B), X))
        if kind == "rank-one":
            rows.append(logit_differences(over, matrix_of(over, kind, A, unit), X))
    matrix, total = np.array(rows), tokens * (tokens - 1)
    value = exact_rank(matrix, over) if total else 0
    error = 0.0 if value == min(total, len(rows)) else schwartz_zippel(value, 4, over.p)
    note = f"attention matrices of such a layer fill {value} of {total} dimensions"
    return Measurement(value, "exact", "exact", 1, None, note, None, total, prime=over.p, error_bound=error)


def kernel(measured: Measurement) -> int:
    """How many directions do nothing, from a `Measurement` of a rank."""
    return measured.num_columns - measured.value


def matrix_of(over: Field, kind: str, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A matrix of a kind, made of two others: A, A + Aᵀ, A − Aᵀ, the outer product of two columns, or 0.

    >>> matrix_of(Reals(), "antisymmetric", np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2))
    array([[ 0.,  2.],
           [-2.,  0.]])
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
    if kind == "rank-one":
        return over.matmul(A[:, :1], B[:, :1].T)
    return over.reduce({"generic": A, "symmetric": A + A.T, "antisymmetric": A - A.T, "zero": 0 * A}[kind])


# One network and its study


@dataclass(frozen=True)
class ExponentialsSetting:
    """A softmax network with a special layer, and how its exponentials are to be treated.

    Attributes:
        kind: of the special M: "generic", "symmetric" (tied queries and keys), "antisymmetric", "rank-one" or
            "zero"; the others are generic.
        place: which M is special: "first", "last" or "all".
        tokens: t, from 2 to 4.
        width: d₀, and the number of rows of L, from 1 to 3.
        layers: l, from 1 to 3.
        treat: "related" (the exponentials satisfy their relations) or "free" (all are drawn independently).
        seed: what is random is drawn from it.

    Raises:
        ValueError: if one of them is none of the above.
    """

    kind: str = "antisymmetric"
    place: str = "first"
    tokens: int = 2
    width: int = 2
    layers: int = 2
    treat: str = "related"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in (("kind", KINDS), ("place", PLACES), ("treat", ("related", "free"))):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
        for name, least, most in (("tokens", 2, 4), ("width", 1, 3), ("layers", 1, 3)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise ValueError(f"{name} must be a whole number from {least} to {most}; got {value!r}")

    @property
    def special(self) -> int:
        """The layer to look at, from 1: the first special one."""
        return self.layers if self.place == "last" else 1

    def kind_of(self, layer: int) -> str:
        """The kind of M_k, k from 1."""
        special = {"first": layer == 1, "last": layer == self.layers, "all": True}[self.place]
        return self.kind if special else "generic"


@dataclass(frozen=True, eq=False)
class ExponentialsStudy:
    """Which exponentials of a network are free, and what its derivative is with and without their relations.

    Attributes:
        setting: as given.
        independence: the relations, exactly.
        related: the exact rank in (L, M_1, …, M_l) with exponentials that respect the relations.
        free: the same with all exponentials drawn independently.
        spectrum: of the true softmax in floating point, at a network of the same kinds: uses no theorem.
        attention: the dimension of the set of attention matrices of all layers of the special kind.
    """

    setting: ExponentialsSetting
    independence: Independence
    related: Measurement
    free: Measurement
    spectrum: Measurement
    attention: Measurement

    @property
    def misled(self) -> bool:
        """Whether ignoring the relations answers another kernel."""
        return kernel(self.related) != kernel(self.free)

    @property
    def shown(self) -> Measurement:
        """The exact rank with the exponentials as the setting treats them."""
        return self.related if self.setting.treat == "related" else self.free


def study_exponentials(setting: ExponentialsSetting) -> ExponentialsStudy:
    """Relations, exact ranks with and without them, and the spectrum of the true softmax.

    >>> study = study_exponentials(ExponentialsSetting())
    >>> kernel(study.related), kernel(study.free), kernel(study.spectrum)
    (4, 0, 4)
    """
    network = replace(setting, treat="related")
    return ExponentialsStudy(setting, *_exact(network), _spectrum(network), _attention(network))


@lru_cache(maxsize=512)
def _exact(network: ExponentialsSetting) -> tuple[Independence, Measurement, Measurement]:
    over, n = PrimeField(DEFAULT_PRIME), network.width
    rng = np.random.default_rng([network.seed, network.layers, n, network.tokens, 1])
    L, *drawn = over.random(rng, (1 + 2 * network.layers, n, n))
    Ms = tuple(
        matrix_of(over, network.kind_of(k + 1), *drawn[2 * k : 2 * k + 2]) for k in range(network.layers)
    )
    independence = measure_independence(over, Ms, network.tokens, rng)
    ignoring = all_free(network.layers, network.tokens)
    related, free = (
        replace(measure_softmax_kernel(over, VirtualWeights(L, Ms), how, rng), seed=network.seed)
        for how in (independence.monomials, ignoring)
    )
    return independence, related, free


@lru_cache(maxsize=512)
def _attention(network: ExponentialsSetting) -> Measurement:
    rng = np.random.default_rng([network.seed, 2])
    found = measure_attention(PrimeField(DEFAULT_PRIME), network.kind, network.width, network.tokens, rng)
    return replace(found, seed=network.seed)


def real_network(network: ExponentialsSetting) -> VirtualWeights:
    """Real virtual weights of these kinds whose spectrum can be read ("Floating point")."""
    n = network.width
    rng = np.random.default_rng([network.seed, network.layers, n, network.tokens, 3])
    arch = Architecture.uniform(n, n, network.layers, network.tokens, "softmax")
    Ms = []
    for k, (Q, K, _) in enumerate(conditioned_weights(arch, rng), start=1):
        kind, M, N = network.kind_of(k), K.T @ Q, rng.standard_normal((n, n))
        length = np.linalg.norm(M)
        if kind == "antisymmetric":  # M is nearly symmetric: the rest of it is of no use here
            M, length = N, _TURN
        made = matrix_of(Reals(), kind, M, M.T)
        Ms.append(made * length / (np.linalg.norm(made) or 1.0))
    L, _ = np.linalg.qr(rng.standard_normal((n, n)))
    return VirtualWeights(L, tuple(Ms))


@lru_cache(maxsize=512)
def _spectrum(network: ExponentialsSetting) -> Measurement:
    virtual, n, t = real_network(network), network.width, network.tokens
    columns = n * n * (1 + network.layers)
    inputs = columns + _SPARE_ROWS
    rng = np.random.default_rng([network.seed, 4])
    X = conditioned_tokens(Architecture.uniform(n, n, network.layers, t, "softmax"), inputs, rng)
    J = softmax_jacobian(Reals(), virtual, X, np.eye(n * t).reshape(1, n * t, n, t))
    return from_spectrum(J.reshape(-1, columns), inputs, network.seed)


# Inside


class _WithAttention:
    """A field whose softmax gives attention matrices that were drawn before, layer by layer."""

    def __init__(self, over: Field, attention: list[np.ndarray]) -> None:
        self.reduce, self.matmul = over.reduce, over.matmul
        self._left = iter(attention)

    def softmax(self, logits: np.ndarray, symmetric: bool, rng: np.random.Generator) -> np.ndarray:
        return next(self._left)


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
    base = [*range(first), *(first + every.index(place) for place in kept)]
    names = [None] * first + kept + [place for place in every if place[0] == k]
    columns = [*base, *(first + every.index(place) for place in names[len(base) :])]
    values = _evaluate(over, Ms, before, first + len(every) + _SPARE_ROWS, rng)
    fresh = _evaluate(over, Ms, before, _FRESH, rng)[:, first:]
    found = []
    for column, coefficients in _dependent_columns(over, values[:, columns]).items():
        powers = tuple((names[c], _whole(over, names[c], n)) for c, n in coefficients.items())
        proved = k == 1 and _is_identity(Ms[0], names[column], powers)
        found.append(Relation(names[column], powers, proved))
        _try_again(over, found[-1], fresh, every)
    return tuple(found), len(values)


def _monomials(layers: int, tokens: int, kept: list[Place], powers: _Powers) -> np.ndarray:
    """The exponents of the free exponentials in each E_ji of the first layers."""
    index = {place: f for f, place in enumerate(place for place in kept if place[0] <= layers)}
    found = np.zeros((layers, tokens, tokens, len(index)), dtype=int)
    for k in range(1, layers + 1):
        for j, i in places(tokens):
            for place, n in powers.get((k, j, i), (((k, j, i), 1),)):
                found[k - 1, j - 1, i - 1, index[place]] = n
    return found


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


def _is_identity(M: np.ndarray, determined: Place, powers: tuple[tuple[Place, int], ...]) -> bool:
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


def _column_degree(monomials: np.ndarray) -> int:
    """The largest degree of an entry of a column of E after multiplying the column free of denominators."""
    if not monomials.size:
        return 0
    cleared = monomials - np.minimum(monomials.min(axis=1, keepdims=True), 0)
    return int(cleared.sum(axis=-1).max())


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
