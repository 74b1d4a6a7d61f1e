"""The end of the way to tell two softmax networks apart, exactly modulo a prime
("Theorem B", steps 2 to 6).

At the end of the way the first layers have exponentials that make the tokens of one
network equal. There everything is rational: the output columns can be compared over
F_p, with random tokens, and with free exponentials in the later layers.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.softmax.two_tokens import FROZEN, Shares, follow
from neuroviz_beyond.proofs.weight_pairs import (
    WIDTH,
    ExactWeights,
    Relations,
    UniquenessSetting,
)

_POINTS = 20  # random tokens and exponentials at which outputs are compared


@dataclass(frozen=True)
class Ending:
    """What the end of the way does, over F_p, for random tokens and free exponentials
    elsewhere.

    Attributes:
        left_meet, right_meet: whether the two output columns of θ, of θ′, agree.
        same: whether θ and θ′ have the same output.
        prime: p. An inequality mod p is certain; an equality was tested at 20 random
            points.
    """

    left_meet: bool
    right_meet: bool
    same: bool
    prime: int = DEFAULT_PRIME


def find_ending(
    setting: UniquenessSetting,
    case: str,
    relations: Relations,
    exact: tuple[ExactWeights, ...],
) -> Ending:
    """Which columns agree mod p at the end of the way, and which outputs; tokens and
    tails are random.

    Args:
        setting, exact: two networks, as `two_networks` gives them.
        case, relations: what `find_case` and `find_relations` say of them; without its
            case ("outside") the exponentials are random ones that satisfy the
            relations.
    """
    over = PrimeField(DEFAULT_PRIME)
    causal = setting.causal
    rng = np.random.default_rng([setting.seed, 10])
    tokens = over.random(rng, (_POINTS, WIDTH, 2))

    # Free exponentials are free shares; under a mask token 1 sees itself only.
    def free() -> Shares:
        mu, nu = over.random(rng, (2, _POINTS))
        return Shares(0 * mu if causal else mu, nu)

    # The tokens meet where det S = 1 − μ − ν is 0: at PQ = 1, under a mask at Q = ∞.
    def met() -> Shares:
        mu = free().mu
        return Shares(mu, over.reduce(1 - mu))

    # Saturated: both new tokens are x₁, or both are x₂.
    on_first = Shares(0.0, 1.0)
    on_second = Shares(1.0, 0.0)
    left_first, right_first = _shares_mod(relations, over, rng)
    # Whether columns agree shows with any tail; θ′ = θ has the same one.
    left_tail = [free() for _ in range(setting.layers - 1)]
    right_tail = list(left_tail)
    left_tokens = tokens
    right_tokens = tokens
    # The limits of steps 2 to 6 of Theorem B; under a mask those of Theorem A′.
    if case == "A":
        right_first = met()
    elif case == "B2":
        right_first = on_first
    elif case == "B1, ρ < 0":
        left_first = FROZEN if causal else on_first
        right_first = on_first if causal else on_second
    elif case == "B1, ρ > 0":
        # F(y₁, y₂) = F′(y₂, y₂) is left, without first layers: the runaway token has
        # met the other one in one network only.
        left_first = right_first = FROZEN
        stays = tokens[..., :1] if causal else tokens[..., 1:]
        together = np.concatenate([stays, stays], axis=-1)
        if relations.power > 1:
            right_tokens = together
        else:
            left_tokens = together
    elif case == "peel":
        left_first = right_first = FROZEN
        if right_tail:
            right_tail[0] = met()

    theta, other = exact
    left = _outputs(over, theta, [left_first, *left_tail], left_tokens)
    right = _outputs(over, other, [right_first, *right_tail], right_tokens)
    return Ending(
        left_meet=bool((left[..., 0] == left[..., 1]).all()),
        right_meet=bool((right[..., 0] == right[..., 1]).all()),
        same=bool((left == right).all()),
        prime=over.p,
    )


def _outputs(
    over: PrimeField, weights: ExactWeights, given: list[Shares], tokens: np.ndarray
) -> np.ndarray:
    """Both output columns of a network with these shares, (20, 3, 2)."""
    return over.matmul(_mod(weights.L, over), follow(over, given, tokens)[-1])


def _shares_mod(
    relations: Relations, over: PrimeField, rng: np.random.Generator
) -> tuple[Shares, Shares]:
    """Shares of both first layers, of random exponentials in F_p that satisfy the
    relations and no more."""
    half = len(relations.letters) // 2
    found: list[tuple[Shares, Shares]] = []
    while len(found) < _POINTS:
        exponentials = _exponentials_mod(relations, over.p, rng)
        left = _one_point(exponentials[:half], over.p)
        right = _one_point(exponentials[half:], over.p)
        if left and right:
            found.append((left, right))
    lefts, rights = zip(*found, strict=True)
    return _of_all_points(lefts, over), _of_all_points(rights, over)


def _exponentials_mod(
    relations: Relations, p: int, rng: np.random.Generator
) -> list[int]:
    """The exponentials in the order of the letters, at one random point."""
    # Each relation gives its last exponential in terms of free ones.
    last = [_last(row) for row in relations.rows]
    free = [j for j in range(len(relations.letters)) if j not in last]
    # A relation may ask for roots, which not all numbers mod p have; these powers do.
    root = lcm(*(c.denominator for row in relations.rows for c in row))
    base = {j: int(rng.integers(1, p)) for j in free}
    values = {j: pow(base[j], root, p) for j in free}
    for row, j in zip(relations.rows, last, strict=True):
        # 1 · (this logit) + Σ c_k (logit k) = 0
        values[j] = 1
        for k in free:
            values[j] = values[j] * pow(base[k], int(-row[k] * root), p) % p
    return [values[j] for j in range(len(relations.letters))]


def _one_point(exponentials: list[int], p: int) -> Shares | None:
    """The shares mod p that P and Q give, under a mask Q alone; None if a denominator
    vanishes."""
    Q = exponentials[-1]
    P = exponentials[0] if len(exponentials) == 2 else 0  # P = 0 is μ = 0: a mask
    if (1 + P) % p == 0 or (1 + Q) % p == 0:
        return None
    return Shares(P * pow(1 + P, -1, p) % p, Q * pow(1 + Q, -1, p) % p)


def _of_all_points(points: tuple[Shares, ...], over: PrimeField) -> Shares:
    mu = np.array([point.mu for point in points], dtype=float)
    nu = np.array([point.nu for point in points], dtype=float)
    return Shares(over.reduce(mu), over.reduce(nu))


def _last(row: tuple[Fraction, ...]) -> int:
    return max(j for j, c in enumerate(row) if c)


def _mod(M: np.ndarray, over: PrimeField) -> np.ndarray:
    """A matrix of fractions mod p."""
    residues = [
        [c.numerator * pow(c.denominator, -1, over.p) % over.p for c in row]
        for row in M
    ]
    return over.reduce(np.array(residues, dtype=float))
