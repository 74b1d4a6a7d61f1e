"""A softmax need not be that of tokens among themselves."""

from dataclasses import dataclass

import numpy as np
import pytest

from neuroviz.rank import check_network, measure_dimension


@dataclass(frozen=True)
class Classifier:
    """x ↦ W₂ softmax(W₁ x), over the hidden numbers."""

    width: int
    hidden: int
    outputs: int = 1

    @property
    def parameter_shapes(self):
        return {
            "W1": (self.hidden, self.width),
            "W2": (self.outputs, self.hidden),
        }

    def random_inputs(self, field, count, rng):
        return field.random(rng, (count, self.width, 1))

    def record(self, tape, weights, inputs):
        shares = tape.softmax(tape.matmul(weights["W1"], inputs))
        return tape.matmul(weights["W2"], shares)


@dataclass(frozen=True)
class Latents:
    """X ↦ V X softmax(Xᵀ A L): learned tokens L ask those of the input."""

    width: int
    tokens: int
    latents: int

    @property
    def parameter_shapes(self):
        d = self.width
        return {"A": (d, d), "L": (d, self.latents), "V": (1, d)}

    def random_inputs(self, field, count, rng):
        return field.random(rng, (count, self.width, self.tokens))

    def record(self, tape, weights, inputs):
        asked = tape.matmul(weights["A"], weights["L"])
        shares = tape.softmax(tape.inner_products(inputs, asked))
        return tape.matmul(weights["V"], tape.matmul(inputs, shares))


@pytest.mark.parametrize(
    ("net", "dimension"),
    [
        # A common row of W₁ changes nothing: d less. A single share is 1.
        (Classifier(2, 1), 1),
        (Classifier(2, 3), 7),
        (Classifier(3, 4, outputs=2), 17),
        (Classifier(1, 2), 3),
        # The product A L counts, of rank as large as it can be, and V.
        (Latents(2, tokens=3, latents=1), 4),
        (Latents(2, tokens=3, latents=2), 6),
        (Latents(2, tokens=2, latents=3), 8),
        (Latents(3, tokens=4, latents=2), 9),
        (Latents(3, tokens=1, latents=2), 3),
    ],
    ids=str,
)
def test_a_softmax_of_any_shape_is_measured(net, dimension):
    assert measure_dimension(net).value == dimension
    check_network(net)
    found = measure_dimension(net, method="float")
    assert not found.decided or found.value == dimension


@dataclass(frozen=True)
class Registers(Latents):
    """Some learned tokens stand beside those of the input."""

    @property
    def parameter_shapes(self):
        d = self.width
        return {"A": (d, d), "L": (self.latents, d), "V": (1, d)}

    def record(self, tape, weights, inputs):
        tokens = tape.inner_products(inputs, tape.constant(np.eye(self.width)[None]))
        X = tape.stack([weights["L"], tokens])  # a token is a row
        columns = tape.inner_products(X, tape.constant(np.eye(X.value.shape[1])[None]))
        S = tape.softmax(tape.matmul(X, tape.matmul(weights["A"], columns)))
        return tape.matmul(weights["V"], tape.matmul(columns, S))


def test_logits_that_are_the_same_for_all_inputs_are_no_free_exponentials():
    """Of two learned tokens the first one asks the second one the same each time."""
    check_network(Registers(2, tokens=2, latents=1))
    with pytest.raises(ValueError, match="24 .* on two inputs, but 22 logits"):
        check_network(Registers(2, tokens=2, latents=2))


@dataclass(frozen=True)
class Mixture(Classifier):
    """x ↦ W softmax(w) ⊙ x: logits of parameters alone, drawn once for all inputs."""

    @property
    def parameter_shapes(self):
        return {"w": (self.width, 1), "W": (self.outputs, self.width)}

    def record(self, tape, weights, inputs):
        shares = tape.softmax(weights["w"])
        return tape.matmul(weights["W"], tape.times(shares, inputs))


def test_logits_of_parameters_alone_are_drawn_once():
    net = Mixture(3, 3, outputs=2)
    check_network(net)
    assert measure_dimension(net).value == 6  # all 2 × 3 matrices
