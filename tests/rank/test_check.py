"""The checker passes every network of ours, and fails on each kind of mistake."""

from dataclasses import dataclass

import numpy as np
import pytest
from architectures import random_architectures
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.attention.gauge_slice import GaugeSlice
from neuroviz.rank import measure_dimension, rank_by_inputs
from neuroviz.rank.check import check_network
from neuroviz.rank.field import Reals
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
        cube = tape.note(x.value**3, 3 * x.degree, (source,))
        return tape.matmul(weights["W2"], cube)


@dataclass(frozen=True)
class WithAHalf(Polynomial):
    def record(self, tape, weights, inputs):
        half = tape.constant(np.full((1, 1, 1), 0.5))
        return tape.times(half, super().record(tape, weights, inputs))


@dataclass(frozen=True)
class WithRealInputs(Polynomial):
    def random_inputs(self, field, count, rng):
        return rng.standard_normal((count, self.widths[0], 1))


@dataclass(frozen=True)
class WithTheInputsLast(Polynomial):
    def random_inputs(self, field, count, rng):
        return field.random(rng, (1, self.widths[0], count))


@dataclass(frozen=True)
class WithAGate(Polynomial):
    """x ↦ g · x, entry by entry, in front."""

    shape: object = (1, 1)

    @property
    def parameter_shapes(self):
        return {**super().parameter_shapes, "g": self.shape}

    def record(self, tape, weights, inputs):
        return super().record(tape, weights, tape.times(weights["g"], inputs))


@dataclass(frozen=True)
class WithReLU(Polynomial):
    """The mask is a constant of whole numbers, so all else is as it should be."""

    def record(self, tape, weights, inputs):
        y = tape.matmul(weights["W1"], inputs)
        mask = tape.constant((y.value > 0).astype(float))
        return tape.matmul(weights["W2"], tape.times(mask, y))


@dataclass(frozen=True)
class WithAReLUOfInputs(Polynomial):
    def record(self, tape, weights, inputs):
        mask = tape.constant((inputs.value > 0).astype(float))
        return super().record(tape, weights, tape.times(mask, inputs))


@dataclass(frozen=True)
class WithTooLowADegree(Polynomial):
    def record(self, tape, weights, inputs):
        cube = tape.power(tape.matmul(weights["W1"], inputs), 3)
        cube.degree = 5  # of (w x)³ it is 6
        return tape.matmul(weights["W2"], cube)


@dataclass(frozen=True)
class WithoutTheLastStep(Polynomial):
    def record(self, tape, weights, inputs):
        return tape.power(tape.matmul(weights["W1"], inputs), 2)


@dataclass(frozen=True)
class WithoutInputs(Polynomial):
    def record(self, tape, weights, inputs):
        return tape.matmul(weights["W2"], weights["W1"])


@dataclass(frozen=True)
class WithFlatInputs(Polynomial):
    def random_inputs(self, field, count, rng):
        return field.random(rng, (count, self.widths[0]))


@dataclass(frozen=True)
class WithNumpysExp(Polynomial):
    def record(self, tape, weights, inputs):
        return np.exp(tape.matmul(weights["W1"], inputs))


@dataclass(frozen=True)
class WithAnUnknownStep(Polynomial):
    def record(self, tape, weights, inputs):
        return tape.relu(tape.matmul(weights["W1"], inputs))


@dataclass(frozen=True)
class WithATranspose(Polynomial):
    def record(self, tape, weights, inputs):
        return tape.matmul(weights["W1"].T, inputs)


@dataclass(frozen=True)
class WithAnArray(Polynomial):
    def record(self, tape, weights, inputs):
        return super().record(tape, weights, inputs).value


@dataclass(frozen=True)
class AskingForMore(Polynomial):
    def record(self, tape, weights, inputs):
        return tape.matmul(weights["W3"], inputs)


@dataclass(frozen=True)
class WithAnOperator(Polynomial):
    def record(self, tape, weights, inputs):
        return weights["W1"] @ inputs


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
class InAnotherOrder(Polynomial):
    """Its own point names the last weights first."""

    def conditioned_points(self, count, rng):
        weights = {}
        for name, shape in reversed(self.parameter_shapes.items()):
            weights[name] = rng.standard_normal(shape)
        yield weights, self.random_inputs(Reals(), count, rng)


def test_a_networks_own_point_may_name_its_weights_in_any_order():
    check_network(InAnotherOrder((2, 3, 1)))


@dataclass(frozen=True)
class NotMoreGeneral(Polynomial):
    def relaxed(self):
        return Polynomial((2, 1, 1))


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (WrongStep((2, 3, 1)), "the derivative on the tape"),
        (NotReduced((2, 3, 1)), "numbers are whole.* reduce what your own steps"),
        (WithAHalf((2, 3, 1)), r"0\.5 is not.* take whole numbers as constants"),
        (LookingAtNumbers((2, 3, 1)), "other steps at another point"),
        (WithReLU((2, 3, 1)), "no polynomials of degree 4 .* from numbers, as ReLU is"),
        (WithAReLUOfInputs((2, 3, 1)), "no polynomials of degree"),
        (WithTooLowADegree((2, 3, 1)), "no polynomials of degree 6 .* a higher degree"),
        (
            WithoutTheLastStep((2, 3, 1)),
            r"on .W2. of shape \(1, 3\): use it, or",
        ),
        (WithoutInputs((2, 3, 1)), "does not depend on the inputs"),
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


@pytest.mark.parametrize(
    ("net", "error", "words"),
    [
        (WithAGate((2, 3, 1), 2, ()), ValueError, r"a number as \(1, 1\)"),
        (WithAGate((2, 3, 1), 2, (1,)), ValueError, r"a number as \(1, 1\)"),
        (WithAGate((2, 3, 1), 2, 1), ValueError, "names tuples.* got 1 for 'g'"),
        (WithAGate((2, 3, 1), 2, (3, 1)), ValueError, "an axis of length 1 is repeat"),
        (WithTheInputsLast((2, 3, 1)), ValueError, "whose first axis is that"),
        (WithRealInputs((2, 3, 1)), ValueError, "draw inputs with field.random"),
        (WithAHalf((2, 3, 1)), ValueError, "take whole numbers as constants"),
        (AskingForMore((2, 3, 1)), ValueError, "asks for 'W3'.* name W1, W2$"),
        (WithAnOperator((2, 3, 1)), TypeError, "by their tape: tape.matmul"),
        (WithFlatInputs((2, 3, 1)), ValueError, r"inputs .* as \(count, 3, 1\)"),
        (WithNumpysExp((2, 3, 1)), TypeError, "numpy's exp .* modulo a prime"),
        (WithAnUnknownStep((2, 3, 1)), AttributeError, "'relu', but matmul"),
        (WithATranspose((2, 3, 1)), AttributeError, "no 'T': .* inner_products"),
        (WithAnArray((2, 3, 1)), ValueError, "got ndarray: return what tape.matmul"),
    ],
)
@pytest.mark.parametrize("measure", [check_network, measure_dimension, rank_by_inputs])
def test_whoever_measures_says_the_same(measure, net, error, words):
    """Without the check a rank of 38 was called exact where 23 is right."""
    with pytest.raises(error, match=words):
        measure(net)


@pytest.mark.parametrize("seed", range(6))
def test_a_look_at_one_number_is_found_from_every_seed(seed):
    class Branching(Polynomial):
        def record(self, tape, weights, inputs):
            x = tape.matmul(weights["W1"], inputs)
            if x.value[0, 0, 0] > 0:
                x = tape.power(x, 2)
            return tape.matmul(weights["W2"], x)

    with pytest.raises(ValueError, match="other steps at another point"):
        check_network(Branching((2, 3, 1)), seed)
    with pytest.raises(ValueError, match="no polynomials of degree"):
        check_network(WithReLU((2, 3, 1)), seed)


def test_a_gate_is_one_more_parameter():
    gate = WithAGate((2, 3, 1))
    check_network(gate)
    assert (
        measure_dimension(gate).value == measure_dimension(Polynomial((2, 3, 1))).value
    )
