"""Targets for a layer that learns: when the layer nearest to one is singular, and the
slice in which they are shown.

A layer with d = 2, d′ = 1 is a pair of forms with a common real root
(`neuroviz.singular.forms`); its nearest one, in the Bombieri norm, is where gradient
flow may end (`neuroviz.singular.flow`). docs/mathematics/nearest_layer.md.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from neuroviz.singular.curves import Window
from neuroviz.singular.forms import (
    BOUNDARY,
    CROSSING,
    Form,
    Number,
    is_exact,
    kind_of,
)
from neuroviz.singular.surface import SLICES

# The stretch makes distances in the drawing those of functions, up to one factor: a
# step (s, y, z) in S1 has the size √((s² + 4y² + z²)/2).
HALF = replace(
    SLICES["S1"],
    name="half of S1",
    window=Window(1.0, centre=(2.0, 0.0, 0.0), stretch=(0.5, 1.0, 0.5)),
)
"""S1 for s ≥ 0, in a ball around the pinch point; S1 for s ≤ 0 has the same functions,
turned."""


class Coin(NamedTuple):
    """The disc y = 0, (s − centre)² + z² ≤ radius² in the slice S1."""

    centre: int
    radius: int

    def has(self, s: Number, y: Number, z: Number) -> bool:
        """Whether a target lies on it.

        >>> COIN.has(1, 0, 1), COIN.has(1, 0, 1.5), COIN.has(1, 0.1, 0)
        (True, False, False)
        """
        away = (s - self.centre) ** 2 + z**2
        return y == 0 and away <= self.radius**2


COIN = Coin(1, 1)
"""For s ≥ 0 the targets whose nearest layer is a boundary point ("The nearest
layer")."""


def nearest_is_singular(q1: Form, q2: Form) -> bool:
    """Whether the layer nearest to a pair of forms is singular; decided exactly.

    With S_k = a_k + c_k and X_k = (a_k − c_k, b_k) it is, for a pair that is no layer,
    exactly where

        X₁ and X₂ are parallel,   |S₁X₁ + S₂X₂| ≥ |X₁|² + |X₂|²,

    and a layer is its own nearest one ("The nearest layer").

    Args:
        q1, q2: coefficients (a, b, c), int or Fraction.

    Raises:
        ValueError: if a coefficient is a float: then it could not be decided.

    >>> nearest_is_singular((1, 1, 1), (0, 0, 0))
    True
    >>> nearest_is_singular((1, 0, 1), (0, 1, 0))
    False
    """
    if not is_exact(*q1, *q2):
        raise ValueError(
            "whether the nearest layer is singular is decided exactly: give int or"
            f" Fraction; got {q1}, {q2}"
        )
    if kind_of(q1, q2) in (BOUNDARY, CROSSING):
        return True
    sums = [a + c for a, _, c in (q1, q2)]
    parts = [(a - c, b) for a, b, c in (q1, q2)]
    (x1, y1), (x2, y2) = parts
    # No smooth pair passes this: if both forms are diagonal in one basis, a common real
    # root makes them proportional.
    if x1 * y2 != x2 * y1:
        return False
    pulled = [
        sum(S * part[i] for S, part in zip(sums, parts, strict=True)) for i in (0, 1)
    ]
    # Squares are compared: lengths would need a root.
    return _square(pulled) >= (_square(parts[0]) + _square(parts[1])) ** 2


def _square(vector: Sequence[Number]) -> Number:
    return sum(entry * entry for entry in vector)
