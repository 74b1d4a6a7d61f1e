"""Rotary positions over any field: real angles, and points of c² + s² = 1 over F_p."""

from fractions import Fraction
from math import log10

import numpy as np
from numpy.random import Generator

from neuroviz.rank.field import Field, PrimeField
from neuroviz.rank.network import Constant

ROTARY_BASE = 10_000.0
LINDEMANN = "real angles turn by the theorem of Lindemann and Weierstrass"
QUARTER_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])

CirclePoint = tuple[np.ndarray, np.ndarray]
"""Cosine and sine."""
Turn = tuple[Fraction, int]
"""Which point of the circle, and to which power."""


def rotations(
    field: Field, head_dims: tuple[int, ...], are_related: bool, rng: Generator
) -> dict[str, Constant]:
    """For each layer "i.R", shape (a/2, 2): cosine and sine of each pair's turn.

    Over the reals the k-th pair turns by θ = 10000^(−2k/a) a place. Over F_p random
    points of the circle stand for the e^{iθ} (Lindemann and Weierstrass): one point for
    all angles that are multiples of the smallest of them, and its powers for the
    multiples (docs/mathematics/exact_rank.md: "Rotary positions"). Equal angles share a
    point, in different layers too.

    Args:
        are_related: False gives each angle a point of its own, as if none were a
            multiple of another.
    """
    degree = turning_degree(head_dims, are_related)
    if not isinstance(field, PrimeField):
        return {
            f"{i}.R": Constant(_real_turns(a), degree, LINDEMANN)
            for i, a in enumerate(head_dims, start=1)
        }
    turns = _turns(head_dims)
    if not are_related:  # each turn is the first power of its own point
        turns = [[(turn, 1) for turn in layer] for layer in turns]
    points = {}
    for layer in turns:
        for base, _ in layer:
            if base not in points:
                points[base] = _point_of_the_circle(field, rng)
    found = {}
    for i, layer in enumerate(turns, start=1):
        pairs = [_power(field, points[base], exponent) for base, exponent in layer]
        found[f"{i}.R"] = Constant(np.array(pairs), degree, LINDEMANN)
    return found


def _real_turns(a: int) -> np.ndarray:
    angles = ROTARY_BASE ** (-2.0 * np.arange(a // 2) / a)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def powers_of_rotations(field: Field, pairs: np.ndarray, tokens: int) -> CirclePoint:
    """Cosines and sines, each of shape (pairs, tokens): the powers 0, 1, …, t − 1."""
    c = np.ones((len(pairs), tokens))
    s = np.zeros((len(pairs), tokens))
    turn = (pairs[:, 0], pairs[:, 1])
    for i in range(1, tokens):
        c[:, i], s[:, i] = _product(field, (c[:, i - 1], s[:, i - 1]), turn)
    return c, s


def turning_degree(head_dims: tuple[int, ...], are_related: bool) -> int:
    """The degree of a turn by one place in the slopes m of the points.

    A point is ((1 − m²)/(1 + m²), 2m/(1 + m²)): Σ 2n over the points, n the highest
    power of each, is what clears the denominators of all of them. A turn by j places
    has j times this degree.
    """
    highest: dict[object, int] = {}
    for layer in _turns(head_dims):
        for base, exponent in layer:
            if are_related:
                highest[base] = max(exponent, highest.get(base, 0))
            else:
                # Base and multiple together are one angle, which has its own point.
                highest[base, exponent] = 1
    return 2 * sum(highest.values())


def _turns(head_dims: tuple[int, ...]) -> list[list[Turn]]:
    """For each layer and pair of coordinates, the point that it takes, and the power.

    θ = 10^(−e) with e = 8k/a. Angles whose e differ by whole numbers are a class: they
    are multiples of the smallest of them, by powers of 10. One angle of each class:
    these are independent over Q.

    >>> _turns((8,))[0][1:3]
    [(Fraction(0, 1), 100), (Fraction(0, 1), 10)]
    """
    digits = round(log10(ROTARY_BASE))  # 10000^(−2k/a) = 10^(−2 · digits · k/a)
    exponents = []
    for a in head_dims:
        exponents.append([Fraction(2 * digits * k, a) for k in range(a // 2)])
    # Of each class, named by e mod 1, the largest e: that of the smallest angle.
    largest: dict[Fraction, Fraction] = {}
    for layer in exponents:
        for e in layer:
            base = e % 1
            largest[base] = max(e, largest.get(base, e))
    turns = []
    for layer in exponents:
        pairs = []
        for e in layer:
            base = e % 1
            # θ is this multiple of the smallest angle of its class.
            multiple = 10 ** int(largest[base] - e)
            pairs.append((base, multiple))
        turns.append(pairs)
    return turns


def _product(field: Field, z: CirclePoint, other: CirclePoint) -> CirclePoint:
    """The product of points c + is of the circle."""
    c = field.reduce(z[0] * other[0] - z[1] * other[1])
    s = field.reduce(z[1] * other[0] + z[0] * other[1])
    return c, s


def _power(field: Field, point: CirclePoint, exponent: int) -> CirclePoint:
    z = (np.array(1.0), np.array(0.0))
    while exponent:  # by squaring
        if exponent % 2:
            z = _product(field, z, point)
        point = _product(field, point, point)
        exponent //= 2
    return z


def _point_of_the_circle(over: PrimeField, rng: Generator) -> CirclePoint:
    """The point of a random slope m: ((1 − m²)/(1 + m²), 2m/(1 + m²))."""
    # Modulo 3 no slope is left, and modulo 5 both that are left have 1 + m² = 0.
    if over.p < 7:
        raise ValueError(
            "rotary positions need a prime of 7 or more, to have rotations; got "
            f"{over.p}"
        )
    norm = 0
    while not norm:  # it is 0 for two slopes where −1 is a square
        # The slopes 0 and ±1 are left out: a turn by 0 or by a quarter has powers that
        # are equal, and may have more silent directions than others.
        m = int(rng.integers(2, over.p - 1))
        norm = (1 + m * m) % over.p
    inverse = pow(norm, -1, over.p)
    c = (1 - m * m) * inverse % over.p
    s = 2 * m * inverse % over.p
    return over.reduce(np.array(float(c))), over.reduce(np.array(float(s)))
