"""The layer f⁰(X) = X Xᵀ P X of Theorem N, over any numbers, and where it is not
one-to-one.

Here d = 2, so P = diag(1, 1) is the identity. Tokens are x₁ = (12/13, −5/13) and
x₂ = (5/13, 12/13) + s x₁, so x₁ᵀPx₂ = s. With the first token multiplied by ω,

    column 1 = ω³ x₁ + ω s x₂,   column 2 = ω² s x₁ + (1 + s²) x₂.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import cos, radians, sin
from typing import TypeVar

Number = TypeVar("Number")
Columns = list[list[Number]]
"""Two columns, each as the list of its entries."""

FULL_TURN = 360


@dataclass(frozen=True)
class CubeRootNumber:
    """a + b ω with ω² = −1 − ω, so ω³ = 1 and ω ≠ 1: a number of ℚ(ω), exactly.

    >>> omega = CubeRootNumber(Fraction(0), Fraction(1))
    >>> omega * omega * omega
    CubeRootNumber(a=Fraction(1, 1), b=Fraction(0, 1))
    """

    a: Fraction
    b: Fraction = Fraction(0)

    def __add__(self, other: CubeRootNumber) -> CubeRootNumber:
        return CubeRootNumber(self.a + other.a, self.b + other.b)

    def __mul__(self, other: CubeRootNumber) -> CubeRootNumber:
        # b b′ ω² = −b b′ − b b′ ω
        last = self.b * other.b
        return CubeRootNumber(
            self.a * other.a - last,
            self.a * other.b + self.b * other.a - last,
        )


def tokens_of(slant: Fraction) -> tuple[list[Fraction], list[Fraction]]:
    """The tokens x₁ and x₂, with x₁ᵀPx₂ = slant.

    >>> one, two = tokens_of(Fraction(1, 4))
    >>> sum(x * y for x, y in zip(one, two))
    Fraction(1, 4)
    """
    one = [Fraction(12, 13), Fraction(-5, 13)]
    across = [Fraction(5, 13), Fraction(12, 13)]
    return one, [y + slant * x for x, y in zip(one, across, strict=True)]


def special_layer(columns: Columns) -> Columns:
    """X Xᵀ P X: column c is Σ_j (x_jᵀ x_c) x_j."""
    return [_column(columns, column) for column in columns]


def _column(columns: Columns, column: list[Number]) -> list[Number]:
    scores = [_sum(x * y for x, y in zip(one, column, strict=True)) for one in columns]
    rows = range(len(column))
    return [
        _sum(score * one[row] for score, one in zip(scores, columns, strict=True))
        for row in rows
    ]


def _sum(terms: Sequence[Number]) -> Number:
    # Sums of CubeRootNumber have no 0 to begin with.
    first, *rest = terms
    for term in rest:
        first = first + term
    return first


def at_angle(slant: float, degrees: float) -> Columns:
    """The output for (ω x₁, x₂), in floating point.

    >>> [[round(13 * x.real) for x in column] for column in at_angle(0.0, 0)]
    [[12, -5], [5, 12]]
    """
    one, two = tokens_of(Fraction(slant))
    omega = unit(degrees)
    turned = [omega * float(x) for x in one]
    return special_layer([turned, [complex(float(x)) for x in two]])


def unit(degrees: float) -> complex:
    """The number of absolute value 1 at this angle; at quarters of a turn exactly.

    >>> unit(180)
    (-1+0j)
    """
    if degrees % 90 == 0:
        return (1 + 0j, 1j, -1 + 0j, -1j)[int(degrees // 90) % 4]
    return complex(cos(radians(degrees)), sin(radians(degrees)))


def returns(slant: Fraction) -> list[int]:
    """The angles of ω, of those with |ω| = 1 and 0 ≤ angle < 360°, at which the output
    is what it is at ω = 1, exactly.

    There are no others than cube roots of 1: x₁ and x₂ are independent, so the first
    column asks for ω³ = 1. The cube roots themselves are tried in ℚ(ω).

    >>> returns(Fraction(0)), returns(Fraction(1, 10))
    ([0, 120, 240], [0])
    """
    one, two = ([CubeRootNumber(x) for x in token] for token in tokens_of(slant))
    before = special_layer([one, two])
    omega = CubeRootNumber(Fraction(0), Fraction(1))
    found = [0]
    power = omega
    for angle in (120, 240):
        if special_layer([[power * x for x in one], two]) == before:
            found.append(angle)
        power = power * omega
    return found


def distance(slant: float, degrees: float) -> float:
    """How far the output is from that at ω = 1: the root of the sum of the squares.

    >>> round(distance(0.0, 60), 12)
    2.0
    """
    pairs = zip(
        sum(at_angle(slant, degrees), []), sum(at_angle(slant, 0), []), strict=True
    )
    return sum(abs(now - before) ** 2 for now, before in pairs) ** 0.5
