"""The degree of a network's derivative, measured: finite differences along a line."""

from math import comb

import numpy as np

from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.network import constants_of
from neuroviz.rank.outline import outline
from neuroviz.rank.point import Point, derivative


class OnALine(PrimeField):
    """Draws the k-th point of a line: x + k y, where x and y come from the source."""

    def random(self, rng, shape):
        x = super().random(rng, shape)
        y = super().random(rng, shape)
        return self.reduce(x + self.reduce(self.place * y))


def entry_at(net, place):
    """One entry of the derivative, of a random functional, at a point of the line."""
    over = OnALine()
    object.__setattr__(over, "place", place)
    rng = np.random.default_rng(3)
    shapes = net.parameter_shapes
    weights = {name: over.random(rng, shape) for name, shape in shapes.items()}
    X = net.random_inputs(over, 1, rng)
    shape = outline(net).output_shape
    cotangents = over.random(rng, (1, 1, *shape))
    point = Point(net, over, weights, constants_of(net, over, rng))
    return derivative(point, X, rng, cotangents)[0, 0]


def difference(rows, order):
    """The finite difference: zero for every polynomial of smaller degree."""
    total = 0
    for k in range(order + 1):
        whole = rows[k].astype(np.int64).astype(object)
        total = total + (-1) ** k * comb(order, k) * whole
    return total % DEFAULT_PRIME


def has_the_degree_in_the_error_bound(net):
    """It is not larger, and not much smaller either."""
    degree = outline(net).degree
    rows = [entry_at(net, place) for place in range(degree + 2)]
    is_enough = not difference(rows, degree + 1).any()
    return is_enough and bool(difference(rows, degree - 1).any())
