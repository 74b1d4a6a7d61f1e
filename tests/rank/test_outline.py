"""What one recording without numbers tells, against recordings with numbers."""

import tracemalloc
from dataclasses import dataclass, replace

import pytest
from degrees import has_the_degree_in_the_error_bound
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.rank import measure_dimension
from neuroviz.rank.field import DEFAULT_PRIME
from neuroviz.rank.outline import outline

SIZES = [
    ((2, 2), (2,)),
    ((2, 3, 2), (1, 2)),
    ((2, 2, 2, 2), (1, 2, 1)),
    ((1, 2, 2), (2, 1)),
    ((2, 1, 2), (2, 1)),
    ((3, 2, 1, 3), (1, 1, 1)),
    ((3, 1, 3, 1, 2), (1, 1, 1, 1)),
]
NETS = [
    *(Architecture(*s, 3, kind) for s in SIZES for kind in ("lightning", "softmax")),
    *(Polynomial(widths, e) for widths in ((2, 3, 1), (2, 2, 2, 1)) for e in (2, 3)),
]


@pytest.mark.parametrize("net", NETS, ids=str)
def test_an_entry_of_the_derivative_has_the_degree_in_the_error_bound(net):
    """So minors have a degree, and Schwartz and Zippel's count applies."""
    assert has_the_degree_in_the_error_bound(net)


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_degrees_are_those_of_the_formulas(depth):
    """Lightning (5·3^l − 3)/2, softmax 2l² + 5l + 1, both plus the cotangent's own."""
    lightning = outline(Architecture.uniform(2, 1, depth)).degree
    softmax = outline(Architecture.uniform(2, 1, depth, attention="softmax")).degree
    assert lightning == (5 * 3**depth - 3) // 2
    assert softmax == 2 * depth**2 + 5 * depth + 1


def test_a_network_that_is_far_too_large_has_an_outline():
    arch = Architecture.uniform(2, 1, 3, tokens=100_000, attention="softmax")
    assert outline(arch).numbers > 3 * arch.tokens**2


def test_an_outline_takes_no_memory_for_matrices():
    net = Architecture.uniform(1000, 500, layers=2).slice()
    tracemalloc.start()
    outline(net)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**20  # one of its matrices alone would take eight times that


class Uneven(Polynomial):
    """A stack of a matrix with two columns and one with three."""

    @property
    def parameter_shapes(self):
        return {"W1": (3, 2), "W2": (1, 3)}

    def record(self, tape, weights, inputs):
        return tape.stack([weights["W1"], weights["W2"]])


def test_parts_of_a_stack_that_do_not_fit_are_named():
    with pytest.raises(ValueError, match=r"stack .* \(1, 3, 2\) and \(1, 1, 3\)"):
        measure_dimension(Uneven((2, 3, 1)))


@dataclass(frozen=True)
class WithABias(Polynomial):
    bias: tuple[int, ...] = (3, 1)

    @property
    def parameter_shapes(self):
        return {"W1": (3, 2), "b": self.bias, "W2": (1, 3)}

    def record(self, tape, weights, inputs):
        hidden = tape.add(tape.matmul(weights["W1"], inputs), weights["b"])
        return tape.matmul(weights["W2"], tape.power(hidden, 2))


def test_a_bias_is_a_column():
    assert measure_dimension(WithABias((2, 3, 1))).value == 6  # all quadratic functions
    with pytest.raises(ValueError, match=r"as a column"):
        measure_dimension(WithABias((2, 3, 1), bias=(3,)))


class OfAVector(Polynomial):
    """A number of each input: the product of a vector with it."""

    @property
    def parameter_shapes(self):
        return {"v": (2,)}

    def record(self, tape, weights, inputs):
        return tape.matmul(weights["v"], inputs)


def test_a_vector_is_a_column():
    with pytest.raises(ValueError, match=r"\(1, 2\) and \(2, 2, 1\): .* as a column"):
        measure_dimension(OfAVector((2, 1)))


class WithoutInputs(Polynomial):
    def random_inputs(self, field, count, rng):
        return None


def test_inputs_that_are_none_are_named():
    with pytest.raises(ValueError, match=r"returned None: an array is needed"):
        measure_dimension(WithoutInputs((2, 3, 1)))


def test_a_matrix_that_does_not_fit_is_named():
    wrong = replace(Polynomial((2, 3, 1)))
    object.__setattr__(wrong, "random_inputs", lambda field, count, rng: field.random(
        rng, (count, 5, 1)
    ))  # fmt: skip
    with pytest.raises(
        ValueError, match=r"as many columns.*\(1, 3, 2\) and \(2, 5, 1\)"
    ):
        outline(wrong)


@pytest.mark.parametrize("depth", [50, 3000])
def test_a_degree_that_bounds_nothing_is_not_counted(depth):
    net = Architecture.uniform(1, 1, depth)
    assert DEFAULT_PRIME < outline(net).degree <= 2**60


@dataclass(frozen=True)
class Wrong(Polynomial):
    shapes: object = None
    returned: object = None
    count: int = 0

    @property
    def parameter_shapes(self):
        return super().parameter_shapes if self.shapes is None else self.shapes

    def random_inputs(self, field, count, rng):
        return super().random_inputs(field, self.count or count, rng)

    def record(self, tape, weights, inputs):
        result = super().record(tape, weights, inputs)
        return self.returned or result


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (dict(shapes={}), "without parameters is one function"),
        (
            dict(shapes={"W1": [3, 2]}),
            r"names tuples of whole numbers, .* got \[3, 2\] for 'W1'",
        ),
        (dict(shapes={"W1": (3, 2.0)}), r"whole numbers, .* got \(3, 2\.0\) for 'W1'"),
        (dict(shapes=[("W1", (3, 2))]), "parameter_shapes is a dict, .* got list"),
        (dict(returned="nothing"), "`record` returns a Node of its tape; got str"),
        (dict(count=1), r"returned an array of shape \(1, 2, 1\)"),
    ],
    ids=str,
)
def test_a_mistake_in_a_network_is_named(wrong, words):
    with pytest.raises(ValueError, match=words):
        measure_dimension(Wrong((2, 3, 1), **wrong))
