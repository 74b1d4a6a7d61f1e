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

_POINTS = 20


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
    X = X_ = over.random(rng, (_POINTS, WIDTH, 2))

    def free() -> Shares:
        mu, nu = over.random(rng, (2, _POINTS))
        return Shares(0 * mu if causal else mu, nu)

    def met() -> Shares:
        mu = free().mu
        return Shares(mu, over.reduce(1 - mu))

    on_first = Shares(0.0, 1.0)
    on_second = Shares(1.0, 0.0)
    first, first_ = _shares_mod(relations, over, rng)
    tail = [free() for _ in range(setting.layers - 1)]
    tail_ = list(tail)
    if case == "A":
        first_ = met()
    elif case == "B2":
        first_ = on_first
    elif case == "B1, ρ < 0":
        first, first_ = (FROZEN, on_first) if causal else (on_first, on_second)
    elif case in ("B1, ρ > 0", "peel"):
        first = first_ = FROZEN
    # the runaway token has met the other one in one network only
    if case == "B1, ρ > 0":
        stays = X[..., :1] if causal else X[..., 1:]
        together = np.concatenate([stays, stays], axis=-1)
        X, X_ = (X, together) if relations.power > 1 else (together, X)
    elif case == "peel" and tail:
        tail_[0] = met()
    left, right = (
        over.matmul(_mod(one.L, over), follow(over, [begin, *rest], tokens)[-1])
        for one, begin, rest, tokens in zip(
            exact, (first, first_), (tail, tail_), (X, X_), strict=True
        )
    )

    def columns_agree(out: np.ndarray) -> bool:
        return bool((out[..., 0] == out[..., 1]).all())

    return Ending(
        columns_agree(left), columns_agree(right), bool((left == right).all()), over.p
    )


def _shares_mod(
    relations: Relations, over: PrimeField, rng: np.random.Generator
) -> tuple[Shares, Shares]:
    """Shares of both first layers, of random exponentials in F_p that satisfy the
    relations and no more."""
    p = over.p
    free = [
        j
        for j in range(len(relations.letters))
        if not any(_last(row) == j for row in relations.rows)
    ]
    root = lcm(*(c.denominator for row in relations.rows for c in row))
    found = []
    while len(found) < _POINTS:
        base = {j: int(rng.integers(1, p)) for j in free}
        values = {j: pow(g, root, p) for j, g in base.items()}
        for row in relations.rows:
            # 1 · (this logit) + Σ c_j (logit j) = 0
            product = 1
            for j in free:
                product = product * pow(base[j], int(-row[j] * root), p) % p
            values[_last(row)] = product
        half = len(relations.letters) // 2
        point = []
        for side in range(2):
            *P, Q = (values[side * half + j] for j in range(half))
            point += [1 + P[0] if P else 1, P[0] if P else 0, Q + 1, Q]
        # a denominator of S would vanish otherwise: draw again
        if all(point[j] % p for j in (0, 2, 4, 6)):
            found.append(
                [point[j + 1] * pow(point[j], -1, p) % p for j in (0, 2, 4, 6)]
            )
    mu, nu, mu_, nu_ = over.reduce(np.array(found, dtype=float).T)
    return Shares(mu, nu), Shares(mu_, nu_)


def _last(row: tuple[Fraction, ...]) -> int:
    return max(j for j, c in enumerate(row) if c)


def _mod(M: np.ndarray, over: PrimeField) -> np.ndarray:
    """A matrix of fractions mod p."""
    residues = [
        [c.numerator * pow(c.denominator, -1, over.p) % over.p for c in row]
        for row in M
    ]
    return over.reduce(np.array(residues, dtype=float))
