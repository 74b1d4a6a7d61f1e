"""Theorem 3.9: a softmax layer that is only evaluated gives (A, V) away, and where it cannot."""

import re

import numpy as np
import pytest

from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, forward
from neuroviz.softmax.one_layer import Powers, integer_layer, softmax_layer
from neuroviz.softmax.one_layer_limit import first_order, limit_study
from neuroviz.softmax.one_layer_probes import SAME
from neuroviz.softmax.one_layer_table import read_off_table
from neuroviz.softmax.one_layer_walk import read_off, read_off_exactly


def weights(d, d_out, seed=0):
    rng = np.random.default_rng([seed, d, d_out])
    return rng.standard_normal((d, d)), rng.standard_normal((d_out, d))


def relative_error(found, truth):
    return np.abs(found - truth).max() / np.abs(truth).max()


# The walk


@pytest.mark.parametrize("temperature", [1e-3, 0.1, 1.0, 1e4])
@pytest.mark.parametrize("tokens", [2, 3, 5])
@pytest.mark.parametrize(("d", "d_out"), [(1, 1), (2, 1), (3, 2), (4, 4)])
def test_the_values_of_a_softmax_layer_give_its_weights(d, d_out, tokens, temperature):
    A, V = weights(d, d_out)
    found = read_off(softmax_layer(A, V, temperature), d, tokens, temperature)
    assert relative_error(found.V, V) < 1e-14
    assert relative_error(found.sym, (A + A.T) / 2) < 1e-12
    assert relative_error(found.A, A) < 1e-12
    assert not np.isnan(found.A).any() and found.is_layer


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_large_and_small_weights_are_read_as_well(size):
    A, V = weights(3, 2)
    found = read_off(softmax_layer(size * A, V / size), 3, 3)
    assert relative_error(found.A, size * A) < 1e-12 and relative_error(found.V, V / size) < 1e-14


@pytest.mark.parametrize("tokens", [2, 3])
def test_a_token_that_v_does_not_see_is_switched_on_with_another(tokens):
    A, V = weights(3, 2)
    V[:, [0, 2]] = 0
    found = read_off(softmax_layer(A, V), 3, tokens)
    np.testing.assert_array_equal(found.basis, [[1, 0, 0], [1, 1, 1], [0, 0, 1]])
    assert relative_error(found.A, A) < 1e-12
    assert found.is_layer


def test_equal_and_opposite_columns_and_rank_one_of_v_hide_nothing():
    A, W = weights(3, 2)
    for V in (np.ones((1, 3)), np.array([[1.0, -1.0, 1.0]]), np.outer(W[:, 0], W[1])):
        assert relative_error(read_off(softmax_layer(A, V), 3, 2).A, A) < 1e-12


def test_the_function_knows_a_only_in_units_of_the_temperature():
    A, V = weights(3, 2)
    found = read_off(softmax_layer(A, V, temperature=2.0), 3, 3, temperature=6.0)
    assert relative_error(found.A, 3 * A) < 1e-12 and found.is_layer


# Where it fails


@pytest.mark.parametrize("tokens", [1, 2, 4])
def test_with_v_zero_every_a_gives_the_same_function_and_none_is_read(tokens):
    A, _ = weights(3, 2)
    found = read_off(softmax_layer(A, np.zeros((2, 3))), 3, tokens)
    assert not found.V.any()
    assert np.isnan(found.A).all() and np.isnan(found.sym).all()
    assert found.mismatch == 0  # against the layer with a random A
    assert found.steps[1].dies == "s · 0 = 0 holds for every s"
    assert found.steps[2].dies == "0 = 0 holds for every F"


def test_with_one_token_a_is_invisible_and_v_is_not():
    A, V = weights(3, 2)
    found = read_off(softmax_layer(A, V), 3, 1)
    assert relative_error(found.V, V) < 1e-15
    assert np.isnan(found.A).all() and found.steps[2].probes == ()
    assert found.is_layer  # with a random A
    assert found.scale == 1
    assert "every E" in found.steps[1].dies


def test_sharp_attention_hides_digits_of_a_that_shorter_tokens_show():
    A, V = weights(3, 2)
    layer = softmax_layer(A, V, 0.02)
    sharp, fitting = read_off(layer, 3, 3, 0.02, scale=1.0), read_off(layer, 3, 3, 0.02)
    assert np.isnan(sharp.A).any() or relative_error(sharp.A, A) > 1e-9
    assert relative_error(fitting.A, A) < 1e-12 and fitting.scale < 1
    # It is rounding that hides them: somewhat less sharp, all of it is there.
    assert relative_error(read_off(layer, 3, 3, 0.02, scale=0.125).A, A) < 1e-12


def two_layers(X):
    rng = np.random.default_rng(1)
    network = tuple(Layer(*rng.standard_normal((3, 2, 2))) for _ in range(2))
    return forward(Reals(), "softmax", network, X)


def lightning(X):
    return forward(Reals(), "lightning", (Layer(np.eye(2), np.eye(2), np.eye(2)),), X)


def with_a_bias(X):
    return softmax_layer(*weights(2, 2))(X) + 0.1


def with_two_heads(X):
    return softmax_layer(*weights(2, 2))(X) + softmax_layer(*weights(2, 2, seed=1))(X)


@pytest.mark.parametrize("function", [two_layers, lightning, with_a_bias, with_two_heads])
def test_a_function_that_is_no_softmax_layer_gives_itself_away_on_fresh_tokens(function):
    found = read_off(function, 2, 3)
    assert not found.is_layer and found.mismatch > 1000 * SAME


# What is known on the way


def test_each_step_knows_what_it_claims():
    A, V = weights(3, 2)
    found = read_off(softmax_layer(A, V), 3, 3)
    first, second = found.after(1), found.after(2)
    assert not np.isnan(first.V).any() and np.isnan(first.sym).all() and np.isnan(first.A).all()
    assert relative_error(second.sym, (A + A.T) / 2) < 1e-13
    # One token tells x'Ax only: off the diagonal A stays open.
    assert np.isnan(second.A[~np.eye(3, dtype=bool)]).all()
    np.testing.assert_allclose(np.diag(second.A), np.diag(A), rtol=1e-12)


def test_one_token_cannot_tell_a_from_its_transpose_and_two_can():
    A, V = weights(3, 2)
    one, other = (read_off(softmax_layer(M, V), 3, 3) for M in (A, A.T))
    for p, q in zip(one.steps[1].probes, other.steps[1].probes, strict=True):
        np.testing.assert_allclose(p.Y, q.Y, rtol=1e-12)
    assert any(
        not np.allclose(p.Y, q.Y) for p, q in zip(one.steps[2].probes, other.steps[2].probes, strict=True)
    )


# The exact walk


@pytest.mark.parametrize("tokens", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_over_a_prime_field_whole_weights_come_back_exactly(d, tokens):
    for seed in range(4):
        A, V = integer_layer(d, 2, 3, np.random.default_rng(seed))
        exact = read_off_exactly(A, V, tokens)
        np.testing.assert_array_equal(exact.found.A, A)
        np.testing.assert_array_equal(exact.found.V, V)
        assert exact.equal_A == A.size and exact.equal_V == V.size


def test_over_a_prime_field_rank_one_and_zero_columns_of_v_do_no_harm():
    A = np.array([[1.0, -2.0, 3.0], [0.0, 2.0, -1.0], [4.0, 0.0, -3.0]])
    for V in (np.array([[0.0, 0.0, 2.0]]), np.outer([1.0, -1.0], [1.0, -1.0, 0.0])):
        np.testing.assert_array_equal(read_off_exactly(A, V, 2).found.A, A)


def test_powers_are_a_homomorphism_with_an_inverse():
    powers = Powers()
    n = np.arange(-50, 51)
    product = powers.over.reduce(powers.exp(n) * powers.exp(7 - n))
    np.testing.assert_array_equal(product, np.full(len(n), powers.exp(np.array(7))))
    np.testing.assert_array_equal(powers.log(powers.exp(n)), n)
    # 3 generates: neither half of the group nor the part of order 16 is all there is.
    p = powers.over.p
    assert p - 1 == 16 * 524_287
    assert pow(3, (p - 1) // 2, p) != 1 and pow(3, 16, p) != 1


@pytest.mark.parametrize("base", [1, -1])
def test_an_element_of_small_order_forgets_the_logits(base):
    """g = −1 knows whole numbers modulo 2 only, g = 1 nothing: then A does not come back, and V does."""
    A, V = np.array([[2.0, 1.0], [3.0, 0.0]]), np.array([[1.0, 3.0]])
    exact = read_off_exactly(A, V, 4, Powers(base=base))
    assert exact.equal_V == 2 and exact.equal_A < 4


def test_a_power_that_is_not_in_the_table_is_lost_and_not_guessed():
    A, V = np.array([[40.0]]), np.array([[1.0]])
    assert read_off_exactly(A, V, 3).equal_A == 1
    assert np.isnan(read_off_exactly(A, V, 3, Powers(largest=10)).found.A).all()


def test_over_a_prime_field_v_zero_and_one_token_hide_a_too():
    A = np.array([[1.0, 2.0], [0.0, -1.0]])
    hidden = read_off_exactly(A, np.zeros((1, 2)), 3)
    assert np.isnan(hidden.found.A).all() and hidden.equal_V == 2 and hidden.equal_A == 0
    alone = read_off_exactly(A, np.ones((1, 2)), 1)
    assert np.isnan(alone.found.A).all() and alone.equal_V == 2


# The lightning limit


@pytest.mark.parametrize(("tokens", "slope"), [(2, 3), (3, 2), (4, 2)])
def test_what_is_left_after_the_first_order_falls_with_the_square_and_for_two_tokens_with_the_cube(
    tokens, slope
):
    rng = np.random.default_rng(tokens)
    limit = limit_study(*weights(3, 2), rng.standard_normal((3, tokens)))
    assert limit.mean_slope == pytest.approx(1, abs=0.03)
    assert limit.first_slope == pytest.approx(slope, abs=0.03)


@pytest.mark.parametrize(("tokens", "slope"), [(2, 3), (3, 2)])
def test_of_small_weights_slopes_are_taken_before_the_gaps_are_rounding(tokens, slope):
    A, V = weights(3, 2)
    limit = limit_study(A / 100, V, np.random.default_rng(tokens).standard_normal((3, tokens)))
    assert limit.mean_slope == pytest.approx(1, abs=0.03)
    assert limit.first_slope == pytest.approx(slope, abs=0.03)
    nothing = limit_study(0 * A, V, np.ones((3, tokens)))
    assert nothing.mean_slope is None and nothing.first_slope is None


def test_without_centring_the_first_order_would_be_wrong():
    A, V = weights(3, 2)
    X = np.random.default_rng(0).standard_normal((3, 3))
    Y, (mean, first) = softmax_layer(A, V, 1e4)(X[None])[0], first_order(A, V, X, 1e4)
    uncentred = V @ X @ X.T @ A @ X / 3e4
    assert np.linalg.norm(Y - mean - uncentred) > 100 * np.linalg.norm(Y - mean - first)


def test_rescaling_leaves_the_first_order_alone_and_the_mean_gives_it_away():
    A, V = weights(3, 2)
    X = np.random.default_rng(0).standard_normal((3, 3))
    mean, first = first_order(A, V, X, 1.0)
    other_mean, other_first = first_order(2 * A, V / 2, X, 1.0)
    np.testing.assert_allclose(other_first, first)
    np.testing.assert_allclose(other_mean, mean / 2)
    last = limit_study(A, V, X).path[-1]
    assert last.rescaled_gap == pytest.approx(0.5, abs=1e-3) and last.mean_gap < 1e-3


# The table


def test_the_table_shows_what_was_read_after_each_step():
    A, V = weights(2, 3)
    found = read_off(softmax_layer(A, V), 2, 3)
    rows = read_off_table(found, A + 5, V + 5).rows[1:]  # other weights: only the last row is theirs
    shown = [
        [re.sub("<[^>]*>", "", cell.replace("<br>", " ")).replace("−", "-").split() for cell in row[1:]]
        for row in rows
    ]
    known = [found.after(step) for step in (1, 2, 3)]
    matrices = [*((one.V, one.sym, one.A) for one in known), (V + 5, (A + A.T) / 2 + 5, A + 5)]
    for cells, truth in zip(shown, matrices, strict=True):
        for texts, matrix in zip(cells, truth, strict=True):
            assert texts == ["·" if np.isnan(value) else f"{value:.2f}" for value in matrix.ravel()]
    assert [[cell.count("·") for cell in cells] for cells in shown] == [
        [0, 4, 4],
        [0, 0, 2],
        [0] * 3,
        [0] * 3,
    ]
    assert [str(row).count("<b ") for row in rows] == [6, 4 + 2, 2, 0]  # what each step adds, in colour


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"d": 0}, "d must be a whole number ≥ 1"),
        ({"tokens": 2.0}, "tokens must be a whole number"),
        ({"temperature": 0.0}, "temperature must be above 0"),
        ({"scale": -1.0}, "scale must be above 0"),
        ({"function": lambda X: X[:, :, :1]}, r"it gave \(2, 2, 1\)"),
    ],
)
def test_reading_says_what_it_needs(wrong, words):
    call = {"function": softmax_layer(*weights(2, 2)), "d": 2, "tokens": 3} | wrong
    with pytest.raises(ValueError, match=words):
        read_off(**call)


def test_there_are_three_steps_to_know_something_after():
    found = read_off(softmax_layer(*weights(2, 2)), 2, 2)
    with pytest.raises(ValueError, match="steps 1, 2 and 3"):
        found.after(4)
