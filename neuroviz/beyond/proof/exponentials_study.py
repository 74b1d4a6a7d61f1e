"""Softmax networks with a special layer: their free exponentials, and what a count answers that forgets them.

Ranks are taken with exponentials that respect the relations between the logits, and with exponentials that do
not, beside the spectrum of the true softmax, which uses no theorem.
"""

from dataclasses import dataclass, replace

import numpy as np

from neuroviz.beyond.proof.exponentials import (
    all_free,
    measure_softmax_kernel,
    softmax_jacobian,
    true_spectrum,
)
from neuroviz.beyond.proof.logit_relations import Independence, logit_differences, measure_independence
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import whole_number
from neuroviz.engine.field import DEFAULT_PRIME, Field, PrimeField, Reals
from neuroviz.engine.measure import ExactMeasurement, Measurement
from neuroviz.engine.network import conditioned_tokens, conditioned_weights
from neuroviz.engine.rank import arithmetic_of, exact_rank, schwartz_zippel
from neuroviz.engine.symmetry import VirtualWeights

KINDS = ("generic", "symmetric", "antisymmetric", "rank-one", "zero")
PLACES = ("first", "last", "all")
_SPARE_ROWS = 2
_TURN = 4.0  # length of a real antisymmetric M: tokens of length 1 attend unevenly, but not to one alone


def matrix_of(over: Field, kind: str, A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A matrix of a kind, made of two others: A, A + Aᵀ, A − Aᵀ, the outer product of two columns, or 0.

    Raises:
        ValueError: if there is no such kind.

    >>> matrix_of(Reals(), "antisymmetric", np.array([[1.0, 2.0], [0.0, 1.0]]), np.eye(2))
    array([[ 0.,  2.],
           [-2.,  0.]])
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {', '.join(map(repr, KINDS))}; got {kind!r}")
    if kind == "rank-one":
        return over.matmul(A[:, :1], B[:, :1].T)
    return over.reduce({"generic": A, "symmetric": A + A.T, "antisymmetric": A - A.T, "zero": 0 * A}[kind])


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
    arithmetic = arithmetic_of(total)
    return ExactMeasurement(value, 1, None, note, total, over.p, error, "weights", arithmetic)


@dataclass(frozen=True)
class ExponentialsSetting:
    """A softmax network with a special layer.

    Attributes:
        kind: of the special M: "generic", "symmetric" (tied queries and keys), "antisymmetric", "rank-one" or
            "zero"; the others are generic.
        place: which M is special: "first", "last" or "all".
        tokens: t, from 2 to 4.
        width: d₀, and the number of rows of L, from 1 to 3.
        layers: l, from 1 to 3.
        seed: what is random is drawn from it.

    Raises:
        ValueError: if one of them is none of the above.
    """

    kind: str = "antisymmetric"
    place: str = "first"
    tokens: int = 2
    width: int = 2
    layers: int = 2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in (("kind", KINDS), ("place", PLACES)):
            if (value := getattr(self, name)) not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
        for name, least, most in (("tokens", 2, 4), ("width", 1, 3), ("layers", 1, 3)):
            whole_number(name, getattr(self, name), least, most)

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


def study_exponentials(setting: ExponentialsSetting) -> ExponentialsStudy:
    """Relations, exact ranks with and without them, and the spectrum of the true softmax.

    >>> study = study_exponentials(ExponentialsSetting())
    >>> study.related.kernel, study.free.kernel, study.spectrum.kernel
    (4, 0, 4)
    """
    over, n, t, seed = PrimeField(DEFAULT_PRIME), setting.width, setting.tokens, setting.seed
    rng = np.random.default_rng([seed, setting.layers, n, t, 1])
    L, *drawn = over.random(rng, (1 + 2 * setting.layers, n, n))
    pairs = zip(drawn[::2], drawn[1::2], strict=True)
    Ms = tuple(matrix_of(over, setting.kind_of(k), *pair) for k, pair in enumerate(pairs, start=1))
    independence = measure_independence(over, Ms, t, rng)
    related, free = (
        replace(measure_softmax_kernel(over, VirtualWeights(L, Ms), how, rng), seed=seed)
        for how in (independence.monomials, all_free(setting.layers, t))
    )
    attention = measure_attention(over, setting.kind, n, t, np.random.default_rng([seed, 2]))
    return ExponentialsStudy(
        setting, independence, related, free, _spectrum(setting), replace(attention, seed=seed)
    )


def real_network(network: ExponentialsSetting) -> VirtualWeights:
    """Real virtual weights of these kinds whose spectrum can be read ("Floating point").

    >>> M = real_network(ExponentialsSetting("antisymmetric")).M[0]
    >>> np.array_equal(M, -M.T)
    True
    """
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


def _spectrum(network: ExponentialsSetting) -> Measurement:
    virtual, n, t = real_network(network), network.width, network.tokens
    columns = n * n * (1 + network.layers)
    rng = np.random.default_rng([network.seed, 4])
    arch = Architecture.uniform(n, n, network.layers, t, "softmax")
    outputs = np.eye(n * t).reshape(1, n * t, n, t)

    def rows(virtual: VirtualWeights, X: np.ndarray) -> np.ndarray:
        return softmax_jacobian(Reals(), virtual, X, outputs).reshape(-1, columns)

    X = conditioned_tokens(arch, columns + _SPARE_ROWS, rng)
    return true_spectrum(rows, virtual, X, rng, network.seed)
