"""Theorem B as a duel: a second set of weights, and exponentials at which it gives itself away.

Two softmax networks θ and θ′ differ in one attention matrix. If they had one function, they would have it
for all exponentials that the relations between their logits allow ("Theorem B", step 1). Somewhere among
these one network makes the two tokens equal and the other does not. Where that is depends on how M_1′ is
related to M_1; this module finds the relations exactly, and goes there.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, sqrt

import numpy as np

from neuroviz.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.symmetry import VirtualWeights
from neuroviz.two_tokens import FROZEN, Shares, follow, logits, shares, softmax_shares

CANDIDATES = (
    "unrelated",
    "same symmetric part",
    "negative",
    "positive",
    "irrational",
    "other M₂",
    "the same",
)
_PARTS = 8  # entries of the weights are whole numbers, divided by this
_POINTS = 20
_TURN = np.array([[0.0, 1.0], [-1.0, 0.0]])
_FAR = 12.0  # at the end of the way an exponential is e^±∞; just before, e^±12


@dataclass(frozen=True)
class SingletonSetting:
    """A network θ, a candidate θ′ for the same function, and how far exponentials have been moved.

    Attributes:
        candidate: M_1′ is "unrelated" to M_1, has the "same symmetric part" (times ρ), is ρM_1 with ρ
            "negative", "positive" or "irrational" (√2), or "the same"; with "other M₂" only M_2′ differs.
        rho: |ρ|, a fraction above 0; for "positive" not 1, else θ′ is θ.
        travel: from 0, the true exponentials, to 1, the place that tells θ from θ′.
        layers: l, from 1 to 3; at least 2 for "other M₂".
        copies: m = t − 1; 1 under a mask.
        causal: whether token 1 sees itself only (Theorem A′).
        symmetric: the symmetric part of M_1 is multiplied by this, from 0 to 1; under a mask all of M_1 is.
        size: L is multiplied by this, from 0 to 1.
        seed: what the weights are drawn from.

    Raises:
        ValueError: if one of them is none of the above.
    """

    candidate: str = "unrelated"
    rho: Fraction = Fraction(2)
    travel: float = 1.0
    layers: int = 2
    copies: int = 1
    causal: bool = False
    symmetric: float = 1.0
    size: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.candidate not in CANDIDATES:
            raise ValueError(
                f"candidate is one of {', '.join(map(repr, CANDIDATES))}; got {self.candidate!r}"
            )
        if self.layers not in (1, 2, 3) or (self.candidate == "other M₂" and self.layers < 2):
            raise ValueError(f"layers must be 1, 2 or 3, and 2 or 3 for another M₂; got {self.layers!r}")
        if not self.rho > 0 or (self.candidate == "positive" and self.rho == 1):
            raise ValueError(f"rho must be above 0, and for a positive multiple not 1; got {self.rho}")
        for name in ("travel", "symmetric", "size"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is between 0 and 1; got {getattr(self, name)!r}")
        if self.copies < 1 or (self.causal and self.copies != 1):
            raise ValueError(f"copies must be at least 1, and 1 under a mask; got {self.copies!r}")

    @property
    def factor(self) -> float:
        """ρ as a number, with its sign; 1 where the candidate has none."""
        signed = {"negative": -self.rho, "positive": self.rho, "same symmetric part": self.rho}
        return sqrt(2) if self.candidate == "irrational" else float(signed.get(self.candidate, 1))

    @property
    def hypotheses(self) -> tuple[str, ...]:
        """Those of Theorem B (under a mask: of A′) that fail for θ, in words."""
        part = "M₁ ≠ 0" if self.causal else "Sym M₁ ≠ 0"
        return (("L ≠ 0",) if self.size == 0 else ()) + ((part,) if self.symmetric == 0 else ())


@dataclass(frozen=True)
class Relations:
    """How many of the first layers' logits are independent over Q, exactly.

    Attributes:
        forms: their names: p, q, p′, q′ (under a mask q, q′).
        independent: the rank over Q of their coefficients; with √2 as a second coordinate.
        words: the relations between the exponentials, such as "P′Q′ = (PQ)²"; () if there are none.
    """

    forms: tuple[str, ...]
    independent: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class Ending:
    """What the end of the way does, over F_p, for random tokens and free later exponentials.

    Attributes:
        left_meet, right_meet: whether the two output columns of θ, of θ′, agree.
        same: whether θ and θ′ have the same output.
        prime: p. An inequality mod p is certain; an equality was tested at 20 random points.
    """

    left_meet: bool
    right_meet: bool
    same: bool
    prime: int = DEFAULT_PRIME


@dataclass(frozen=True, eq=False)
class SingletonStudy:
    """Two networks on the same two tokens, with exponentials that their relations allow.

    Attributes:
        setting: as given.
        case: "A", "B2", "B1, ρ < 0", "B1, ρ > 0" of the proof (under a mask only A and B1); "peel" where
            M_1′ = M_1 and the next layer decides; "same" where θ′ = θ; "outside" where a hypothesis fails.
        relations: between the exponentials of the two first layers.
        left, right: X_0, …, X_l of θ and θ′, each (2, 2), at this place of the way.
        left_places, right_places: the same as fractions of the way from x_1 to x_2.
        left_shares, right_shares: (μ, ν) of every layer.
        left_gap, right_gap: how far the two output columns are apart.
        ending: the end of the way, exactly.
        functions_apart: the largest difference of the two true networks on 50 random inputs, in floats.
    """

    setting: SingletonSetting
    case: str
    relations: Relations
    left: tuple[np.ndarray, ...]
    right: tuple[np.ndarray, ...]
    left_places: np.ndarray
    right_places: np.ndarray
    left_shares: tuple[Shares, ...]
    right_shares: tuple[Shares, ...]
    left_gap: float
    right_gap: float
    ending: Ending
    functions_apart: float

    @property
    def told_apart(self) -> bool:
        """Whether the end of the way proves that θ′ has another function."""
        return not self.ending.same


def study_singleton(setting: SingletonSetting) -> SingletonStudy:
    """Where θ and θ′ are told apart, or why they cannot be.

    >>> study = study_singleton(SingletonSetting("same symmetric part"))
    >>> study.case, study.relations.words, study.ending.left_meet, study.ending.right_meet
    ('B2', ('P′Q′ = (PQ)²',), False, True)
    >>> outside = study_singleton(SingletonSetting("other M₂", symmetric=0.0))
    >>> outside.told_apart, outside.functions_apart < 1e-12
    (False, True)
    """
    theta, other = _networks(setting)
    X = np.array([[-0.8, 0.9], [0.1, 0.35]])
    case = _case(setting)
    left_given, right_given, X_right = _on_the_way(setting, case, theta, other, X)
    left, right = follow(Reals(), left_given, X), follow(Reals(), right_given, X_right)
    start = np.array([[0.0, 1.0]])
    start_right = start if X_right is X else _as_places(X, X_right)
    return SingletonStudy(
        setting=setting,
        case=case,
        relations=_relations(setting),
        left=tuple(left),
        right=tuple(right),
        left_places=np.array([row[0] for row in follow(Reals(), left_given, start)]),
        right_places=np.array([row[0] for row in follow(Reals(), right_given, start_right)]),
        left_shares=tuple(left_given),
        right_shares=tuple(right_given),
        left_gap=_gap(theta, left),
        right_gap=_gap(other, right),
        ending=_ending(setting, case),
        functions_apart=_apart(setting, theta, other),
    )


# The two networks


def _whole_weights(setting: SingletonSetting) -> tuple[list[np.ndarray], ...]:
    """Whole numbers: [L, M_1, …] of θ, the same of θ′, and the √2-part of the latter; Sym M_1 as at 1."""
    rng = np.random.default_rng([setting.seed, 8])
    L, M1, M2, M3, N1, N2 = rng.integers(-5, 6, (6, 2, 2))
    for M in (M1, M2, M3, N1, N2):
        M += np.diag([14, 14])  # a token attends mostly to itself, so that tokens do not meet of themselves
    L += np.diag([9, 9])
    theta = [L, M1, M2, M3][: setting.layers + 1]
    other, root = list(theta), [np.zeros_like(M) for M in theta]
    if setting.candidate == "unrelated":
        other[1] = N1
    elif setting.candidate == "irrational":
        other[1], root[1] = np.zeros_like(M1), M1
    elif setting.candidate == "other M₂":
        other[2] = N2
    return theta, other, root


def _networks(setting: SingletonSetting) -> tuple[VirtualWeights, VirtualWeights]:
    theta, other, root = _whole_weights(setting)
    first = _weakened(theta[1] / _PARTS, setting)
    second = _weakened(other[1] / _PARTS + sqrt(2) * root[1] / _PARTS, setting)
    if setting.candidate in ("negative", "positive"):
        second = setting.factor * first
    elif setting.candidate == "same symmetric part":
        second = setting.factor * first + _TURN
    elif setting.candidate == "unrelated":
        second = other[1] / _PARTS  # its symmetric part stays
    L = setting.size * theta[0] / _PARTS
    tail, other_tail = ([M / _PARTS for M in some[2:]] for some in (theta, other))
    return VirtualWeights(L, (first, *tail)), VirtualWeights(L, (second, *other_tail))


def _weakened(M: np.ndarray, setting: SingletonSetting) -> np.ndarray:
    if setting.causal:
        return setting.symmetric * M
    return setting.symmetric * (M + M.T) / 2 + (M - M.T) / 2


# Relations and cases


def _case(setting: SingletonSetting) -> str:
    if setting.candidate == "the same":
        return "same"
    if setting.hypotheses:
        return "outside"
    if setting.candidate == "other M₂":
        return "peel"
    if setting.candidate == "negative":
        return "B1, ρ < 0"
    if setting.candidate == "positive":
        return "B1, ρ > 0"
    if setting.candidate == "same symmetric part" and not setting.causal:
        return "B2"
    return "A"


def _relations(setting: SingletonSetting) -> Relations:
    """The rank over Q of the coefficients of p, q, p′, q′, which are quadratic forms in (x_1, x_2)."""
    import flint

    thousand = 1000
    part = round(setting.symmetric * thousand)

    def weakened(M: np.ndarray) -> np.ndarray:  # times 2000
        if setting.causal:
            return 2 * part * M
        return part * (M + M.T) + thousand * (M - M.T)

    theta, other, root = _whole_weights(setting)
    first, second, with_root = weakened(theta[1]), weakened(other[1]), weakened(root[1])
    top, bottom = setting.rho.numerator, setting.rho.denominator
    if setting.candidate in ("negative", "positive", "same symmetric part"):
        second = (-top if setting.candidate == "negative" else top) * first
        first = bottom * first  # both are multiplied by the denominator of ρ
        if setting.candidate == "same symmetric part":
            second = second + 2 * thousand * _PARTS * bottom * _TURN.astype(int)
    if setting.candidate == "unrelated":
        second = 2 * thousand * other[1]

    def forms(M: np.ndarray) -> list[np.ndarray]:
        """Coefficients of p and q in the products of the coordinates of x_1 and x_2; under a mask q only."""
        zero = np.zeros((2, 2), dtype=int)
        p = np.block([[-2 * M, M.T], [M, zero]])  # (x_2 − x_1)ᵀM x_1, as a symmetric matrix times 2
        q = np.block([[zero, M], [M.T, -2 * M]])
        p, q = p + p.T, q + q.T
        return [q.ravel()] if setting.causal else [p.ravel(), q.ravel()]

    rows = [np.concatenate([form, 0 * form]) for form in forms(first)]
    rows += [np.concatenate(pair) for pair in zip(forms(second), forms(with_root), strict=True)]
    matrix = flint.fmpz_mat([[int(entry) for entry in row] for row in rows])
    names = ("q", "q′") if setting.causal else ("p", "q", "p′", "q′")
    return Relations(names, int(matrix.rank()), _relation_words(setting))


def _never_tied(setting: SingletonSetting) -> tuple[str, ...]:
    """The candidates whose first exponentials satisfy no relation of their own, even if those of θ do."""
    return ("unrelated", "same symmetric part") if setting.causal else ("unrelated",)


def _relation_words(setting: SingletonSetting) -> tuple[str, ...]:
    same = setting.candidate in ("the same", "other M₂")
    if setting.causal and setting.symmetric == 0:
        return ("Q = 1",) + (() if setting.candidate in _never_tied(setting) else ("Q′ = 1",))
    tied = ("PQ = 1",) if setting.symmetric == 0 and not setting.causal else ()
    power = "" if same or setting.rho == 1 else _superscript(setting.rho)
    if setting.candidate == "negative":
        power = "⁻" + ("¹" if setting.rho == 1 else power)
    if same or setting.candidate in ("negative", "positive"):
        letters = "Q" if setting.causal else "PQ"
        return tuple(f"{letter}′ = {letter}{power}" for letter in letters) + tied
    if setting.candidate == "same symmetric part" and not setting.causal:
        return ("P′Q′ = 1", *tied) if tied else (f"P′Q′ = (PQ){power}" if power else "P′Q′ = PQ",)
    if setting.candidate == "irrational" and tied:
        return ("P′Q′ = 1", *tied)
    return tied


def _superscript(number: Fraction) -> str:
    return str(number).translate(str.maketrans("0123456789/", "⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ"))


# The way


def _on_the_way(
    setting: SingletonSetting, case: str, theta: VirtualWeights, other: VirtualWeights, X: np.ndarray
) -> tuple[list[Shares], list[Shares], np.ndarray]:
    """Shares of θ and of θ′ at this place, and the tokens that θ′ gets."""
    m, causal, s = setting.copies, setting.causal, setting.travel
    p, q = (float(one) for one in logits(Reals(), theta.M[0], X))
    p_, q_ = (float(one) for one in logits(Reals(), other.M[0], X))
    far = inf if s == 1 else _FAR * s / (1 - 0.999 * s) / 2
    start = Shares(*softmax_shares(theta.M[:1], X, m, causal)[0])
    start_ = Shares(*softmax_shares(other.M[:1], X, m, causal)[0])
    first, first_, X_right = start, start_, X
    if case == "A" and not causal:
        first_ = shares(exp((1 - s) * p_), exp((1 - s) * q_), m)
    elif case in ("A", "B1, ρ < 0") and causal:
        first_ = Shares(0.0, _limit(q_ + far))
        if case != "A":
            first = Shares(0.0, _limit(q + far / setting.factor))
    elif case == "B2":
        first_ = shares(_exp(p_ - far), _exp(q_ + far), m)
    elif case == "B1, ρ < 0":
        first = shares(_exp(p - far), _exp(q + far), m)
        first_ = shares(_exp(p_ - far * setting.factor), _exp(q_ + far * setting.factor), m)
    elif case == "B1, ρ > 0":
        # Both first layers have moved x_1 (under a mask x_2), by different amounts ("Theorem B", step 5).
        first = first_ = FROZEN
        keep, move = (0, 1) if causal else (1, 0)
        X_right = X.copy()
        X_right[:, move] = X[:, keep] + (1 - s) * (X[:, move] - X[:, keep])
    elif case == "peel":
        first = first_ = Shares(*((1 - min(1.0, 2 * s)) * np.array(start)))
    left, right = [_floats(first)], [_floats(first_)]
    tokens = follow(Reals(), left, X)[-1], follow(Reals(), right, X_right)[-1]
    for i in range(1, setting.layers):
        mine, his = (
            softmax_shares(net.M[i : i + 1], Y, m, causal)[0]
            for net, Y in zip((theta, other), tokens, strict=True)
        )
        if case == "peel" and i == 1 and s > 0.5:
            part = 2 * s - 1
            p_, q_ = (float(one) for one in logits(Reals(), other.M[1], tokens[1]))
            far = inf if s == 1 else _FAR * part / (1 - 0.999 * part) / 2
            his = (
                Shares(0.0, _limit(q_ + far))
                if causal
                else shares(exp((1 - part) * p_), exp((1 - part) * q_), m)
            )
        left.append(_floats(mine))
        right.append(_floats(his))
        tokens = follow(Reals(), left[-1:], tokens[0])[-1], follow(Reals(), right[-1:], tokens[1])[-1]
    return left, right, X_right


def _exp(x: float) -> float:
    return inf if x > 700 else 0.0 if x < -700 else exp(x)


def _limit(logit: float) -> float:
    """ν = Q/(Q + 1) of a logit that may be infinite."""
    return shares(0.0, _exp(logit)).nu


def _floats(one: Shares) -> Shares:
    return Shares(float(one.mu), float(one.nu))


def _as_places(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Tokens on the line through x_1 and x_2, as fractions of the way between them; shape (1, 2)."""
    along = X[:, 1] - X[:, 0]
    return ((Y - X[:, :1]).T @ along / (along @ along))[None]


def _gap(network: VirtualWeights, tokens: list[np.ndarray]) -> float:
    out = network.L @ tokens[-1]
    return float(np.linalg.norm(out[:, 0] - out[:, 1]))


def _apart(setting: SingletonSetting, theta: VirtualWeights, other: VirtualWeights) -> float:
    """The largest difference of the true outputs, relative to nothing: tokens have size about 1."""
    X = np.random.default_rng([setting.seed, 9]).standard_normal((50, 2, 2))
    outs = []
    for network in (theta, other):
        given = softmax_shares(network.M, X, setting.copies, setting.causal)
        outs.append(network.L @ follow(Reals(), given, X)[-1])
    return float(np.abs(outs[0] - outs[1]).max())


def _ending(setting: SingletonSetting, case: str) -> Ending:
    """The end of the way mod p, at 20 random points: which columns agree, and which outputs."""
    over, draw = PrimeField(DEFAULT_PRIME), _Draws(setting)
    theta, _, _ = _whole_weights(setting)
    L = over.reduce(float(round(setting.size * 1000)) * theta[0].astype(float))
    X = X_ = over.random(draw.rng, (_POINTS, 2, 2))
    first, first_ = _first_layers(setting, case, draw)
    tail = [draw.free() for _ in range(setting.layers - 1)]
    tail_ = [draw.free() for _ in tail]
    if case == "B1, ρ > 0":  # one network, on other tokens
        same = X[:, :, :1] if setting.causal else X[:, :, 1:]
        X_ = np.concatenate([same, same], axis=-1)
    if setting.candidate == "other M₂" and (case == "peel" or setting.causal):
        tail_[0] = draw.met()
    elif case == "same" or first_ is first:
        tail_ = tail_ if setting.candidate == "other M₂" else tail
    left = over.matmul(L, follow(over, [first, *tail], X)[-1])
    right = over.matmul(L, follow(over, [first_, *tail_], X_)[-1])

    def columns_agree(out: np.ndarray) -> bool:
        return bool((out[..., 0] == out[..., 1]).all())

    return Ending(columns_agree(left), columns_agree(right), bool((left == right).all()))


class _Draws:
    """Shares mod p, as the relations of a pattern allow them."""

    def __init__(self, setting: SingletonSetting) -> None:
        self.over, self.causal = PrimeField(DEFAULT_PRIME), setting.causal
        self.rng = np.random.default_rng([setting.seed, 10])

    def free(self) -> Shares:
        mu, nu = self.over.random(self.rng, (2, _POINTS))
        return Shares(np.zeros(_POINTS) if self.causal else mu, nu)

    def met(self) -> Shares:
        """PQ = 1, or under a mask Q = ∞: the tokens meet."""
        mu = self.free().mu
        return Shares(mu, self.over.reduce(1 - mu))

    def tied(self) -> Shares:
        """What M_1 = 0 leaves under a mask, Q = 1; else what Sym M_1 = 0 leaves, PQ = 1."""
        half = self.over.reduce(np.full(_POINTS, float((self.over.p + 1) // 2)))
        return Shares(np.zeros(_POINTS), half) if self.causal else self.met()


def _first_layers(setting: SingletonSetting, case: str, draw: _Draws) -> tuple[Shares, Shares]:
    """The shares of both first layers at the end of the way; outside the hypotheses any that are allowed."""
    on_first, on_second = (Shares(np.full(_POINTS, mu), np.full(_POINTS, 1 - mu)) for mu in (0.0, 1.0))
    if case == "A":
        return draw.free(), draw.met()
    if case == "B2":
        return draw.free(), on_first
    if case == "B1, ρ < 0":
        return (FROZEN, on_first) if setting.causal else (on_first, on_second)
    if case in ("B1, ρ > 0", "peel"):
        return FROZEN, FROZEN
    first = draw.tied() if setting.symmetric == 0 else draw.free()
    if setting.candidate in ("the same", "other M₂"):
        return first, first
    freed = setting.candidate == "unrelated" or (
        setting.causal and setting.candidate == "same symmetric part"
    )
    if setting.symmetric > 0 or freed:
        return first, draw.free()
    return first, first if setting.causal else draw.tied()  # a multiple of 0 is 0
