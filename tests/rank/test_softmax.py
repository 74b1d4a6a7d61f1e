"""A softmax need not be that of tokens among themselves."""

from dataclasses import dataclass

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
