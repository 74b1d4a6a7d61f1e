"""Rotary positions over both fields: real angles, and points of the circle c² + s² = 1
over F_p."""

from fractions import Fraction
from math import log10

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.rank.field import Field, PrimeField, Reals

ROTARY_BASE = 10_000.0
QUARTER_TURN = np.array([[0.0, -1.0], [1.0, 0.0]])
_Point = tuple[np.ndarray, np.ndarray]


def random_rotations(
    field: Field, arch: Architecture, rng: np.random.Generator, related: bool = True
) -> dict[str, np.ndarray]:
    """For each layer "i.R", shape (a/2, 2): cosine and sine of each pair of
    coordinates' turn by a place.

    Over the reals the k-th pair turns by θ = 10000^(−2k/a), as is usual. Over F_p
    random points of the circle stand for the e^{iθ}: one point for all equal angles,
    and its powers for their multiples ("Exact rank"). If not `related`, each angle has
    a point of its own, as angles in general position have.

    Raises:
        ValueError: over F_p with p < 7, which has too few rotations.

    >>> from neuroviz.engine.block import Block
    >>> arch = Architecture((2, 2), (2,), block=Block(rotary=True))
    >>> random_rotations(Reals(), arch, np.random.default_rng(0))["1.R"].round(2)
    array([[0.54, 0.84]])
    """
    if not arch.block.rotary:
        return {}
    if isinstance(field, Reals):
        angles = [ROTARY_BASE ** (-2.0 * np.arange(a // 2) / a) for a in arch.head_dims]
        return {
            f"{i}.R": np.stack([np.cos(x), np.sin(x)], axis=1)
            for i, x in enumerate(angles, start=1)
        }
    turns = _turns(arch)
    if not related:  # each turn is the first power of its own point
        turns = [[(turn, 1) for turn in layer] for layer in turns]
    bases = dict.fromkeys(
        base for base, _ in sorted({turn for layer in turns for turn in layer})
    )
    points = {base: _point_of_the_circle(field, rng) for base in bases}
    layers = [
        np.array([_power(field, points[base], n) for base, n in layer])
        for layer in turns
    ]
    return {f"{i}.R": pairs for i, pairs in enumerate(layers, start=1)}


def powers_of_rotations(field: Field, pairs: np.ndarray, tokens: int) -> _Point:
    """Cosines and sines, each of shape (pairs, tokens): rotations to the power 0, 1, …,
    t − 1."""
    c, s = np.ones((len(pairs), tokens)), np.zeros((len(pairs), tokens))
    for i in range(1, tokens):
        c[:, i], s[:, i] = _product(
            field, (c[:, i - 1], s[:, i - 1]), (pairs[:, 0], pairs[:, 1])
        )
    return c, s


def turning_degree(arch: Architecture, related: bool = True) -> int:
    """The degree of a turn by one place in the slopes m of the points ((1 − m²)/(1 +
    m²), 2m/(1 + m²)).

    Σ 2n over the points, n the highest power of each: what clears the denominators of
    all of them.
    """
    if not arch.block.rotary:
        return 0
    turns = {turn for layer in _turns(arch) for turn in layer}
    if not related:
        return 2 * len(turns)
    return 2 * sum(
        max(n for other, n in turns if other == point)
        for point in {point for point, _ in turns}
    )


def _turns(arch: Architecture) -> list[list[tuple[Fraction, int]]]:
    """For each layer and pair of coordinates, the point of the circle that it takes,
    and to which power.

    θ = 10^(−e) with e = 8k/a. Angles whose e differ by whole numbers are multiples of
    the smallest of them.

    >>> from neuroviz.engine.block import Block
    >>> _turns(Architecture((2, 2), (8,), block=Block(rotary=True)))[0][1:3]
    [(Fraction(0, 1), 100), (Fraction(0, 1), 10)]
    """
    digits = round(log10(ROTARY_BASE))
    exponents = [
        [Fraction(2 * digits * k, a) for k in range(a // 2)] for a in arch.head_dims
    ]
    smallest: dict[Fraction, Fraction] = {}
    for e in {e for layer in exponents for e in layer}:
        smallest[e % 1] = max(e, smallest.get(e % 1, e))
    return [
        [(e % 1, 10 ** int(smallest[e % 1] - e)) for e in layer] for layer in exponents
    ]


def _product(field: Field, z: _Point, other: _Point) -> _Point:
    """The product of points c + is of the circle."""
    return (
        field.reduce(z[0] * other[0] - z[1] * other[1]),
        field.reduce(z[1] * other[0] + z[0] * other[1]),
    )


def _power(field: Field, point: _Point, exponent: int) -> _Point:
    z = (np.array(1.0), np.array(0.0))
    while exponent:  # by squaring
        if exponent % 2:
            z = _product(field, z, point)
        point, exponent = _product(field, point, point), exponent // 2
    return z


def _point_of_the_circle(over: PrimeField, rng: np.random.Generator) -> _Point:
    if over.p < 7:
        raise ValueError(
            "rotary positions need a prime of 7 or more, to have rotations; got"
            f" {over.p}"
        )
    while True:
        m = int(rng.integers(2, over.p - 1))
        if norm := (1 + m * m) % over.p:
            inverse = pow(norm, -1, over.p)
            c, s = (1 - m * m) * inverse % over.p, 2 * m * inverse % over.p
            return over.reduce(np.array(float(c))), over.reduce(np.array(float(s)))
