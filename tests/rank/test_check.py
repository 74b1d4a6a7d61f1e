"""The checker passes every network of ours, and fails on each kind of mistake."""

from dataclasses import dataclass

import numpy as np
import pytest
from architectures import random_architectures
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.attention.gauge_slice import GaugeSlice
from neuroviz.rank.check import check_network
from neuroviz.rank.tape import Source

NETS = [
    *random_architectures(150, seed=21),
    *(Polynomial(widths, e) for widths in ((2, 3, 1), (3, 2, 2)) for e in (1, 2, 3)),
]


@pytest.mark.parametrize("net", NETS, ids=str)
def test_every_network_of_ours_is_what_it_says(net):
    check_network(net)


@dataclass(frozen=True)
class WrongStep(Polynomial):
    def record(self, tape, weights, inputs):
        x = tape.matmul(weights["W1"], inputs)
        source = Source(x, lambda g: g, 2 * x.degree)  # the derivative of x³ is not 1
        value = tape.field.times(tape.field.times(x.value, x.value), x.value)
        cube = tape.note(value, 3 * x.degree, (source,))
        return tape.matmul(weights["W2"], cube)


@dataclass(frozen=True)
class NotReduced(Polynomial):
    def record(self, tape, weights, inputs):
        x = tape.matmul(weights["W1"], inputs)
        source = Source(x, lambda g: 3 * x.value[:, None] ** 2 * g, 2 * x.degree)
        return tape.note(x.value**3, 3 * x.degree, (source,))


@dataclass(frozen=True)
class WithAHalf(Polynomial):
    def record(self, tape, weights, inputs):
        half = tape.constant(np.full((1, 1, 1), 0.5))
        return tape.times(half, super().record(tape, weights, inputs))


@dataclass(frozen=True)
class WrongClaim(Architecture):
    are_on_a_line = (False, False)


@dataclass(frozen=True)
class WrongSlice(Architecture):
    def slice(self):
        return GaugeSlice(self, {name: 2 for name in self.parameter_shapes})


@dataclass(frozen=True)
class LookingAtNumbers(Polynomial):
    def record(self, tape, weights, inputs):
        x = tape.matmul(weights["W1"], inputs)
        if x.value.any():
            x = tape.power(x, 2)
        return tape.matmul(weights["W2"], x)


@dataclass(frozen=True)
class NotHomogeneous(Polynomial):
    """x ↦ W₂ (y² + y), y = W₁ x."""

    def record(self, tape, weights, inputs):
        y = tape.up_to_scale(tape.matmul(weights["W1"], inputs))
        return tape.matmul(weights["W2"], tape.add(tape.power(y, 2), y))


@dataclass(frozen=True)
class NotMoreGeneral(Polynomial):
    def relaxed(self):
        return Polynomial((2, 1, 1))


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (WrongStep((2, 3, 1)), "the derivative on the tape"),
        (NotReduced((2, 3, 1)), "are residues .* reduce what your own steps"),
        (WithAHalf((2, 3, 1)), r"0\.5 is none: give whole numbers"),
        (LookingAtNumbers((2, 3, 1)), "other steps at another point"),
        (NotHomogeneous((2, 3, 1)), "not homogeneous"),
        (NotMoreGeneral((2, 3, 1)), "more general has rank 2, and this one 3"),
        (Architecture, "needs a network"),
        (WrongClaim((1, 2, 2), (1, 1), 3, "softmax"), "24 .* but 20 logits"),
        (WrongSlice((3, 3), (2,)), "the slice has rank"),
    ],
)
def test_a_mistake_is_named(net, words):
    with pytest.raises(ValueError, match=words):
        check_network(net)
