"""Candidates for a second set of softmax weights with the same function, and how their
logits are related.

The proof of Theorem B frees the exponentials of the two first layers. How far they can
be freed depends on the relations over Q between p, q of θ and p′, q′ of θ′, which are
quadratic forms in the tokens:

    n p + k q + n′ p′ + k′ q′ = 0   gives   Pⁿ Q^k P′^n′ Q′^k′ = 1.

Entries of the weights are fractions here, so that relations are exact.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit.settings import choice, real, seed, switch, whole
from neuroviz.singular.curves import null_vectors

CANDIDATES = {
    "unrelated": "M₁′ unrelated",
    "same symmetric part": "ρM₁ + antisymmetric",
    "negative": "−ρM₁",
    "positive": "ρM₁",
    "other M₂": "M₁, another M₂",
    "the same": "θ itself",
}
"""Candidate → what M₁′ is; in a single layer "other M₂" is another L."""
WITH_RHO = ("same symmetric part", "negative", "positive")
WAY = (0.0, 1.0, 0.01)  # least, most and step of the way
WIDTH = 3  # at width 2 all antisymmetric matrices are multiples of one another
_NUMERALS = str.maketrans("0123456789/-", "⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ⁻")


@dataclass(frozen=True)
class UniquenessSetting:
    """A network θ, a candidate θ′ for the same function, and how far exponentials have
    been moved.

    `travel` goes from 0, the true exponentials, to 1, the place that tells θ from θ′.
    `symmetric` multiplies the symmetric part of M_1, `size` L. Under a mask token 1
    sees itself only (Theorem A′).

    Raises:
        ValueError: if there is no such candidate.
    """

    candidate: str = choice(
        "M₁′", [(said, key) for key, said in CANDIDATES.items()], "same symmetric part"
    )
    rho: str = choice("ρ", ("1/3", "1/2", "1", "2", "3"), "2")
    travel: float = real("way", 0.4, *WAY)
    symmetric: float = real("Sym M₁ times", 1.0, 0, 1, 0.05)
    layers: int = whole("layers l", 2, 1, 3, more=True)
    size: float = real("L times", 1.0, 0, 1, 0.05, more=True)
    causal: bool = switch("causal mask", more=True)
    seed: int = seed()

    def __post_init__(self) -> None:
        if self.candidate not in CANDIDATES:
            known = ", ".join(map(repr, CANDIDATES))
            raise ValueError(f"candidate is one of {known}; got {self.candidate!r}")

    @property
    def ratio(self) -> Fraction:
        """|ρ|, which three of the candidates have."""
        return Fraction(self.rho)

    @property
    def is_minus(self) -> bool:
        """Whether M_1′ = −M_1."""
        return self.candidate == "negative" and self.ratio == 1

    @property
    def failing(self) -> tuple[str, ...]:
        """The hypotheses of Theorem B that fail for θ, in words; under a mask those of
        steps 1 to 4 of A′.

        A mask asks for M_1 ≠ 0, which is always so here, and for Sym M_1 ≠ 0 only if
        M_1′ = −M_1.
        """
        needed = not self.causal or self.is_minus
        found = (
            ("L ≠ 0", self.size == 0),
            ("Sym M₁ ≠ 0", needed and self.symmetric == 0),
        )
        return tuple(name for name, fails in found if fails)


@dataclass(frozen=True, eq=False)
class ExactWeights:
    """Virtual weights L, M_1, …; arrays of fractions, (3, 3)."""

    L: np.ndarray
    M: tuple[np.ndarray, ...]

    def in_floats(self) -> VirtualWeights:
        """The same, rounded."""
        return VirtualWeights(
            self.L.astype(float), tuple(M.astype(float) for M in self.M)
        )

    def equals(self, other: "ExactWeights") -> bool:
        """Whether every entry is the same."""
        return all(map(np.array_equal, (self.L, *self.M), (other.L, *other.M)))


def two_networks(setting: UniquenessSetting) -> tuple[ExactWeights, ExactWeights]:
    """θ and θ′.

    L and, but for the factor `symmetric`, the symmetric parts of all M_i are positive
    definite, so that tokens never meet of themselves. The later M_i are larger: softmax
    draws tokens together, and the closer they are the faster.

    >>> theta, other = two_networks(UniquenessSetting("positive", "1/2"))
    >>> bool((2 * other.M[0] == theta.M[0]).all())
    True
    """
    rng = np.random.default_rng([setting.seed, 8])
    # All are drawn in any case: only the seed changes these numbers.
    L, other_L, *M = (_drawn(rng, part) for part in (16, 16, 12, 3, 3))
    other_first = _drawn(rng, 12)
    other_second = _drawn(rng, 3)
    N = _drawn(rng, 4)
    L = _fraction(setting.size) * L
    other_L = _fraction(setting.size) * other_L
    first = _fraction(setting.symmetric) * (M[0] + M[0].T) / 2 + (M[0] - M[0].T) / 2
    M = [first, *M[1 : setting.layers]]
    theirs = list(M)
    its_L = L
    their_first = {
        "unrelated": other_first,
        "same symmetric part": setting.ratio * first + (N - N.T) / 2,
        "negative": -setting.ratio * first,
        "positive": setting.ratio * first,
    }
    theirs[0] = their_first.get(setting.candidate, first)
    if setting.candidate == "other M₂" and setting.layers > 1:
        theirs[1] = other_second
    elif setting.candidate == "other M₂":
        its_L = other_L
    return ExactWeights(L, tuple(M)), ExactWeights(its_L, tuple(theirs))


def _drawn(rng: np.random.Generator, parts: int) -> np.ndarray:
    """Whole numbers divided by `parts`; never symmetric, and the symmetric part is
    positive definite.

    The latter by Gershgorin's circles; the former because 12 is more than entries from
    −5 to 5 can undo.
    """
    turn = np.array([[0, 6, 0], [-6, 0, 0], [0, 0, 0]])
    # Of the symmetric part the diagonal is at least 16 − 5 = 11, and the other entries
    # of a row add up to at most 2 · 5.
    whole = rng.integers(-5, 6, (WIDTH, WIDTH)) + np.diag([16] * WIDTH) + turn
    return np.array([[Fraction(int(entry), parts) for entry in row] for row in whole])


def _fraction(number: float) -> Fraction:
    # a slider's 0.15 is meant to be 3/20
    return Fraction(number).limit_denominator(10**6)


# Relations


@dataclass(frozen=True)
class Relations:
    """All linear relations over Q between the logits of the two first layers, exactly.

    Attributes:
        letters: the exponentials: P, Q, P′, Q′ (under a mask Q, Q′).
        rows: a basis of the relations, each as the coefficients of the logits. The last
            that is not 0 is 1, and this exponential appears in no other row.
    """

    letters: tuple[str, ...]
    rows: tuple[tuple[Fraction, ...], ...]

    @property
    def independent(self) -> int:
        """How many of the logits are independent over Q."""
        return len(self.letters) - len(self.rows)

    @property
    def words(self) -> tuple[str, ...]:
        """The relations between the exponentials, such as "P′Q′ = (PQ)²"; () if there
        are none."""
        return tuple(_in_words(self.letters, row) for row in self.rows)

    @property
    def power(self) -> Fraction | None:
        """ρ, if the relations are P′ = P^ρ and Q′ = Q^ρ (under a mask Q′ = Q^ρ) and no
        others."""
        half = len(self.letters) // 2
        # −ρp + p′ = 0 and −ρq + q′ = 0 are the rows of [−ρ·1 | 1].
        rho = -self.rows[0][0] if self.rows else 0
        one = np.eye(half, dtype=int).astype(object)
        return rho if np.array_equal(self.rows, np.hstack([-rho * one, one])) else None


def find_relations(theta: ExactWeights, other: ExactWeights, causal: bool) -> Relations:
    """The relations between p, q of θ and p′, q′ of θ′, from the coefficients of these
    quadratic forms.

    >>> setting = UniquenessSetting("same symmetric part")
    >>> found = find_relations(*two_networks(setting), setting.causal)
    >>> found.words, found.independent
    (('P′Q′ = (PQ)²',), 3)
    """
    columns = [*_forms(theta, causal), *_forms(other, causal)]
    letters = ("Q", "Q′") if causal else ("P", "Q", "P′", "Q′")
    # A column for each logit, a row for each product of coordinates.
    found = null_vectors(zip(*columns, strict=True))
    return Relations(letters, tuple(tuple(map(Fraction, row)) for row in found))


def find_case(
    setting: UniquenessSetting,
    exact: tuple[ExactWeights, ExactWeights],
    relations: Relations,
) -> str:
    """Which step of the proof tells two networks apart.

    Returns:
        "A", "B2", "B1, ρ < 0" or "B1, ρ > 0" (under a mask A and B1 only); "peel" where
        M_1′ = M_1 and what comes next decides; "same" where θ′ = θ; "outside" where a
        hypothesis fails.
    """
    if exact[0].equals(exact[1]):
        return "same"
    if setting.failing:
        return "outside"
    if not relations.rows:
        return "A"
    if relations.power is None:
        return "B2"
    if relations.power == 1:
        return "peel"
    return "B1, ρ > 0" if relations.power > 0 else "B1, ρ < 0"


def _forms(weights: ExactWeights, causal: bool) -> list[list[Fraction]]:
    """p = (x_2 − x_1)ᵀM x_1 and q = (x_1 − x_2)ᵀM x_2 as coefficients of products of
    coordinates.

    First those of x_1, and of x_2, with themselves, which show symmetric parts; then
    those of x_1 with x_2.
    """
    # Of −p and −q, with squares doubled: the same factors in all columns change no
    # relation.
    M = weights.M[0]
    symmetric = list((M + M.T)[np.triu_indices(WIDTH)])
    none = [Fraction(0)] * len(symmetric)
    p = [*symmetric, *none, *(-M).ravel()]
    q = [*none, *symmetric, *(-M.T).ravel()]
    return [q] if causal else [p, q]


def _in_words(letters: tuple[str, ...], row: tuple[Fraction, ...]) -> str:
    """θ′ on the left if it takes part, θ on the right."""
    mine: dict[str, Fraction] = {}
    theirs: dict[str, Fraction] = {}
    for letter, c in zip(letters, row, strict=True):
        if c:
            (theirs if "′" in letter else mine)[letter] = c
    if not theirs:
        return f"{_monomial(mine)} = 1"
    # On the other side of the equation a power has the other sign.
    right = {letter: -c for letter, c in mine.items()}
    return f"{_monomial(theirs)} = {_monomial(right)}"


def _monomial(powers: dict[str, Fraction]) -> str:
    """A product of powers; (PQ)² where both have the same.

    >>> _monomial({"P": Fraction(2), "Q": Fraction(2)})
    '(PQ)²'
    >>> _monomial({"Q": Fraction(-1, 2)}), _monomial({})
    ('Q⁻¹ᐟ²', '1')
    """
    if len(powers) == 2 and len(set(powers.values())) == 1:
        together = "".join(powers)
        power = next(iter(powers.values()))
        return (
            together if power == 1 else f"({together}){str(power).translate(_NUMERALS)}"
        )
    parts = (
        x if c == 1 else x + str(c).translate(_NUMERALS) for x, c in powers.items()
    )
    return "".join(parts) or "1"
