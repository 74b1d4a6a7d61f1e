"""One pair of tokens, and its exponential as a new variable: which equations stay true?

A softmax layer with d = 1, the weights k and q of one head, M = kq, and the tokens x₁
and x₂ = x₁ + δ has the exponentials

    P = e^y,   y = δ k q x₁,        Q = e^z,   z = −δ k q x₂

and the new tokens x₁ + μδ, x₂ − νδ with μ = P/(1 + P), ν = Q/(1 + Q). Two tables of
numbers are looked at, and of both whether a·d = b·c, so that the rank is 1:

* the derivatives of the new tokens by k and by q, the first row times (1 + P)², the
  second times (1 + Q)²;
* with an antisymmetric M in two dimensions, where z = −y: the attention matrix S, its
  columns times 1 + P and 1 + Q.

The entries are polynomials in weights, tokens, P and Q. The first equation is one in
these letters. The second is true for exponentials of these y and z only: they are not
independent, and Ax's theorem (docs/mathematics/softmax.md) says nothing of them.
"""

from __future__ import annotations

from fractions import Fraction
from math import exp, floor
from typing import NamedTuple

SILENT = "silent"
"""The derivatives by k and by q: one direction is silent."""
MEET = "meet"
"""The attention matrix of an antisymmetric M: the new tokens are equal."""
PRIME = 7


class Power(NamedTuple):
    """The number factor · e^exponent, both rational: so equality can be decided.

    >>> e = Power(Fraction(1), Fraction(1))
    >>> e * Power(Fraction(2), Fraction(-1)) == Power(Fraction(2), Fraction(0))
    True
    """

    factor: Fraction
    exponent: Fraction = Fraction(0)

    def __mul__(self, other: Power) -> Power:
        return Power(self.factor * other.factor, self.exponent + other.exponent)

    def __float__(self) -> float:
        return float(self.factor) * exp(self.exponent)

    def is_equal(self, other: Power) -> bool:
        """Whether both are one number: powers of e with different rational exponents
        are independent over the rationals (Lindemann, Weierstrass)."""
        if self.factor == 0 or other.factor == 0:
            return self.factor == other.factor
        return self == other


class Residue(NamedTuple):
    """A whole number modulo 7.

    >>> Residue(5) * Residue(3)
    Residue(value=1)
    """

    value: int

    def __mul__(self, other: Residue) -> Residue:
        return Residue(self.value * other.value % PRIME)

    def __float__(self) -> float:
        return float(self.value)

    def is_equal(self, other: Residue) -> bool:
        """Whether both are one residue."""
        return self == other


Number = Power | Residue


class Letters(NamedTuple):
    """What the letters stand for: the weights, the tokens and their difference
    x₂ − x₁, the exponentials, and 1. They are multiplied, nothing else."""

    k: Number
    q: Number
    first: Number
    second: Number
    apart: Number
    P: Number
    Q: Number
    one: Number


class Table(NamedTuple):
    """The entries a, b in the first row, c, d in the second one."""

    a: Number
    b: Number
    c: Number
    d: Number

    @property
    def sides(self) -> tuple[Number, Number]:
        """The products a·d and b·c."""
        return self.a * self.d, self.b * self.c

    @property
    def holds(self) -> bool:
        """Whether a·d = b·c."""
        left, right = self.sides
        return left.is_equal(right)

    @property
    def rank(self) -> int:
        """The rank of the table."""
        if not self.holds:
            return 2
        return 1 if any(map(float, self)) else 0


def table_of(statement: str, letters: Letters) -> Table:
    """The table that a statement is about.

    For the silent direction ∂/∂k and ∂/∂q of both new tokens, times (1 + P)² and
    (1 + Q)². The rule (e^y)′ = e^y y′ is in it, and nothing else of the exponential:

        a = δ² q x₁ P,   b = δ² k x₁ P,   c = δ² q x₂ Q,   d = δ² k x₂ Q.

    For tokens that meet S, with its columns times 1 + P and 1 + Q:

        a = 1,   b = Q,   c = P,   d = 1.

    >>> letters = Letters(k=1, q=3, first=1, second=2, apart=1, P=5, Q=0, one=1)
    >>> table_of(SILENT, letters)
    Table(a=15, b=5, c=0, d=0)
    >>> table_of(MEET, letters)
    Table(a=1, b=0, c=5, d=1)
    """
    k, q, first, second, apart, P, Q, one = letters
    if statement == MEET:
        return Table(a=one, b=Q, c=P, d=one)
    square = apart * apart
    return Table(
        a=square * q * first * P,
        b=square * k * first * P,
        c=square * q * second * Q,
        d=square * k * second * Q,
    )


# The weights and the first token of the picture: whole numbers, but for ½, which is 4
# modulo 7.
KEY = Fraction(1)
QUERY = Fraction(1, 2)
FIRST = Fraction(1)


def second_token(y: Fraction) -> Fraction:
    """Where x₂ stands in the layer with d = 1, if y = (x₂ − x₁) k q x₁."""
    return FIRST + y / (KEY * QUERY * FIRST)


def real_letters(statement: str, y: Fraction, P: Fraction | None) -> Letters:
    """The letters at these tokens; P is this number, or e^y where it is None."""
    second = second_token(y)
    apart = second - FIRST
    # An antisymmetric M makes z = −y.
    z = -y if statement == MEET else -apart * KEY * QUERY * second
    one = Fraction(1)
    return Letters(
        k=Power(KEY),
        q=Power(QUERY),
        first=Power(FIRST),
        second=Power(second),
        apart=Power(apart),
        P=Power(one, y) if P is None else Power(P),
        Q=Power(one, z),
        one=Power(one),
    )


def ring_letters(P: int) -> Letters:
    """The same weights and first token modulo 7; x₂ and Q are drawn once, and P is any
    whole number."""
    return Letters(
        k=Residue(1),
        q=Residue(pow(2, -1, PRIME)),
        first=Residue(1),
        second=Residue(3),
        apart=Residue(2),
        P=Residue(P % PRIME),
        Q=Residue(3),
        one=Residue(1),
    )


def nearest_whole(P: Fraction) -> int:
    """The whole number nearest to P; of two, the larger one, as the page has it."""
    return floor(P + Fraction(1, 2))
