"""Each step of a tape: its value, its degree, and how gradients go back through it."""

import numpy as np
import pytest

from neuroviz.rank.exponentials import INDEPENDENT, SYMMETRIC
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.rank.tape import Tape

# Of a parameter w, 3 × 3, and a constant x of two inputs. Beside each step: the degree
# of its value, and of its derivative in w.
STEPS = {
    "w + x": (lambda tape, w, x: tape.add(w, x), 1, 0),
    "x + w": (lambda tape, w, x: tape.add(x, w), 1, 0),
    "w x": (lambda tape, w, x: tape.matmul(w, x), 2, 1),
    "x w": (lambda tape, w, x: tape.matmul(x, w), 2, 1),
    "w w": (lambda tape, w, x: tape.matmul(w, w), 2, 1),
    "wᵀ x": (lambda tape, w, x: tape.inner_products(w, x), 2, 1),
    "xᵀ w": (lambda tape, w, x: tape.inner_products(x, w), 2, 1),
    "w times x": (lambda tape, w, x: tape.times(w, x), 2, 1),
    "w": (lambda tape, w, x: tape.power(w, 1), 1, 0),
    "w³": (lambda tape, w, x: tape.power(w, 3), 3, 2),
    "(w x)³ + x": (
        lambda tape, w, x: tape.add(tape.power(tape.matmul(w, x), 3), x),
        6,
        5,
    ),
    "softmax of w": (lambda tape, w, x: tape.softmax(w), 1, 2),
    "softmax of w, shares of degree 2": (
        lambda tape, w, x: tape.softmax(w, SYMMETRIC),
        2,
        4,
    ),
    "a row of w": (lambda tape, w, x: tape.rows(w, 1, 2), 1, 0),
    "the last rows of w": (lambda tape, w, x: tape.rows(w, 1), 1, 0),
    "w over w": (lambda tape, w, x: tape.stack([w, w]), 1, 0),
    "w over x": (lambda tape, w, x: tape.stack([w, x]), 1, 0),
}
# In these the rows of one value go different ways.
PIECES = {
    "in order": lambda tape, y: [tape.rows(y, 0, 1), tape.rows(y, 1, 3)],
    "in another order": lambda tape, y: [tape.rows(y, 1, 3), tape.rows(y, 0, 1)],
    "overlapping": lambda tape, y: [tape.rows(y, 0, 2), tape.rows(y, 1, 3)],
    "with a gap": lambda tape, y: [tape.rows(y, 0, 1), tape.rows(y, 2, 3)],
    "twice": lambda tape, y: [tape.rows(y, 0, 3), tape.rows(y, 0, 3)],
    "beside the whole": lambda tape, y: [tape.rows(y, 0, 1), y, tape.rows(y, 1, 3)],
}


@pytest.mark.parametrize("name", STEPS)
def test_each_step_has_the_degree_of_its_formula(name):
    """The cotangent, of degree 1, counts in a derivative."""
    step, of_the_value, of_the_derivative = STEPS[name]
    tape = Tape(Reals())
    w = tape.parameter(np.eye(3))
    x = tape.constant(np.eye(3)[None])
    result = step(tape, w, x)
    assert result.degree == of_the_value
    assert tape.degree(result, [w]) == 1 + of_the_derivative


def check_gradient(step, rng):
    """Against differences along a random direction, for each output of each input."""
    W, D = rng.standard_normal((2, 3, 3))
    X = rng.standard_normal((2, 3, 3))

    def result(weights):
        tape = Tape(Reals())
        w = tape.parameter(weights)
        return tape, w, step(tape, w, tape.constant(X))

    tape, w, y = result(W)
    shape = y.value.shape[1:]
    size = int(np.prod(shape))
    (J,) = tape.gradients(y, np.eye(size).reshape(1, size, *shape), [w])
    step_size = 1e-6
    slopes = result(W + step_size * D)[2].value - result(W - step_size * D)[2].value
    found = J @ D.ravel()
    expected = slopes.reshape(-1, size) / (2 * step_size)
    np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), atol=1e-7)


@pytest.mark.parametrize("name", STEPS)
def test_each_gradient_is_that_of_differences(name):
    check_gradient(STEPS[name][0], np.random.default_rng(0))


@pytest.mark.parametrize("of", ["w", "w x"])
@pytest.mark.parametrize("name", PIECES)
def test_rows_that_go_different_ways_bring_their_gradients_back(name, of):
    """Each piece is used in its own way: one linearly, so that its gradient is the same
    for all inputs, and the others in products with x."""

    def step(tape, w, x):
        y = w if of == "w" else tape.matmul(w, x)
        first, *others = PIECES[name](tape, y)
        parts = [first]
        for power, part in enumerate(others, start=2):
            parts.append(tape.matmul(tape.power(part, power), x))
        return tape.stack(parts)

    check_gradient(step, np.random.default_rng(1))


@pytest.mark.parametrize(
    "shape, size, expected",
    [
        ((2, 3), 0, [[10, 11, 12], [13, 14, 15]]),
        ((2, 3), 1, [[1, 10, 11], [12, 13, 14]]),
        ((2, 3), 2, [[1, 0, 10], [0, 1, 11]]),
        ((3, 2), 2, [[1, 0], [0, 1], [10, 11]]),
    ],
)
def test_a_matrix_is_completed_by_an_identity_in_its_corner(shape, size, expected):
    count = shape[0] * shape[1] - size**2
    tape = Tape(Reals())
    entries = tape.parameter(10 + np.arange(float(count)))
    whole = tape.beside_identity(entries, shape, size)
    np.testing.assert_array_equal(whole.value[0], expected)
    # The cotangent of each entry is its value: it comes back where it came from.
    (g,) = tape.gradients(whole, whole.value[:, None], [entries])
    np.testing.assert_array_equal(g[0, 0], entries.value[0])


def test_a_high_power_takes_few_products():
    class Counted(Reals):
        count = 0

        def times(self, x, y):
            Counted.count += 1
            return x * y

    tape = Tape(Counted())
    tape.power(tape.constant(np.ones((1, 1, 1))), 2000)
    assert Counted.count < 100


@pytest.mark.parametrize("exponent", [0, -1, 0.5, 2.0, True, 2**53])
def test_an_exponent_that_is_no_whole_number_from_one_is_refused(exponent):
    tape = Tape(Reals())
    with pytest.raises(ValueError, match="exponent must be a whole number from 1 to"):
        tape.power(tape.constant(np.ones((1, 1, 1))), exponent)


@pytest.mark.parametrize(
    ("start", "stop"), [(0, 4), (2, 2), (2, 1), (-1, 2), (3, None)]
)
def test_rows_that_are_not_there_are_refused(start, stop):
    tape = Tape(Reals())
    with pytest.raises(ValueError, match="of 3 rows"):
        tape.rows(tape.constant(np.ones((1, 3, 2))), start, stop)


def test_what_is_no_node_is_refused():
    tape = Tape(Reals())
    node = tape.constant(np.ones((1, 1, 1)))
    for step in (tape.matmul, tape.inner_products, tape.times, tape.add):
        with pytest.raises(TypeError, match="computes with its nodes; got int"):
            step(2, node)
    array = np.ones((1, 2, 2))
    for step in (
        lambda: tape.softmax(array),
        lambda: tape.stack([array]),
        lambda: tape.rows(array, 0),
        lambda: tape.beside_identity(array, (2, 2), 1),
    ):
        with pytest.raises(TypeError, match="computes with its nodes; got ndarray"):
            step()
    with pytest.raises(TypeError, match="a constant is an array"):
        tape.constant(node)
    with pytest.raises(ValueError, match="one part or more"):
        tape.stack([])


@pytest.mark.parametrize("exponent", [1, 2, 3, 10, 10**12, 2**53 - 1])
def test_modulo_a_prime_a_power_and_its_slope_are_those_of_whole_numbers(exponent):
    over = PrimeField()
    tape = Tape(over)
    w = tape.parameter(np.array([[-3.0]]))
    y = tape.power(w, exponent)
    (slope,) = tape.gradients(y, np.ones((1, 1, 1, 1)), [w])
    assert int(y.value.item()) % over.p == pow(-3, exponent, over.p)
    expected = exponent * pow(-3, exponent - 1, over.p) % over.p
    assert int(slope.item()) % over.p == expected


def test_what_does_not_move_has_no_gradient():
    tape = Tape(Reals())
    w = tape.parameter(np.eye(2))
    x = tape.constant(np.eye(2)[None])
    (g,) = tape.gradients(tape.matmul(x, x), np.ones((1, 1, 2, 2)), [w])
    assert g.shape == (1, 1, 4) and not g.any()
    assert tape.degree(x, [w]) == 0


def test_over_a_prime_field_a_softmax_needs_a_source():
    tape = Tape(PrimeField())
    w = tape.parameter(np.eye(2))
    with pytest.raises(ValueError, match="make the tape with a generator"):
        tape.softmax(w)


def test_a_mask_shows_a_token_itself_and_hides_one_of_two_shares():
    rng = np.random.default_rng(0)
    mask = np.triu(np.ones((3, 3), bool))
    shares = PrimeField().softmax(np.zeros((5, 3, 3)), INDEPENDENT.draw, mask, rng)
    assert not shares[:, ~mask].any() and shares[:, mask].all()
    with pytest.raises(ValueError, match="take INDEPENDENT"):
        PrimeField().softmax(np.zeros((5, 3, 3)), SYMMETRIC.draw, mask, rng)
