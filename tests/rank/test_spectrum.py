"""What a spectrum decides, and each reason not to trust one."""

import itertools
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import pytest
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.rank import measure_dimension
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import differ
from neuroviz.rank.inputs import rank_by_inputs
from neuroviz.rank.network import real_points_of
from neuroviz.rank.outline import outline
from neuroviz.rank.point import Point, derivative
from neuroviz.rank.spectrum import _doubt_here, _doubt_there, from_spectrum

PLAIN = outline(Architecture((2, 2), (1,)))
ON_A_LINE = outline(Architecture((1, 2, 2), (1, 1), 3, "softmax"))


def rows(*sigma):
    """A matrix with these singular values; rows of equal length hide none of them."""
    rng = np.random.default_rng(1)
    left, _ = np.linalg.qr(rng.normal(size=(8, len(sigma))))
    right, _ = np.linalg.qr(rng.normal(size=(len(sigma), len(sigma))))
    return left * np.array(sigma) @ right


def doubt(J, again, shape=PLAIN):
    found = from_spectrum(J, 2, 0)
    return _doubt_here(shape, J, found) or _doubt_there(again, found)


def test_a_clear_spectrum_at_two_points_leaves_no_doubt():
    assert doubt(rows(1, 1, 0), rows(1, 2, 0)) is None


@pytest.mark.parametrize(
    ("J", "again", "shape", "words"),
    [
        (rows(1, 1, 1e-8, 0), rows(1, 1, 1, 0), PLAIN, "splits by a factor"),
        (rows(1, 1, 0) * (np.arange(8) > 0)[:, None], rows(1, 1, 0), PLAIN, "range"),
        (rows(1, 1, 0), rows(1, 1, 0), ON_A_LINE, "on a line"),
        (rows(1, 1, 1, 0), rows(1, 1, 1e-8, 0), PLAIN, "decides nothing"),
        (rows(1, 1, 0), rows(1, 0, 0), PLAIN, "another random point reads 1"),
    ],
)
def test_each_doubt_is_named(J, again, shape, words):
    assert words in doubt(J, again, shape)


def test_an_exact_zero_that_is_dropped_is_told():
    found = from_spectrum(np.diag([1.0, 0.0]), num_inputs=1)
    assert (found.value, found.decided) == (1, True)
    assert found.note.startswith("nothing but zeros is dropped")


def test_half_as_many_inputs_again_are_taken():
    arch = Architecture((3, 3), (2,))
    enough = rank_by_inputs(arch).enough
    found = measure_dimension(arch, method="float")
    assert found.num_inputs == enough + ceil(enough / 2) + 1


def test_rescaled_tokens_multiply_all_rows_of_an_input_by_one_number():
    """Lightning is homogeneous, so the rank is not touched; deep ones stay finite."""
    arch = Architecture.uniform(3, 2, 3)
    ((weights, X),) = arch.conditioned_points(2, np.random.default_rng(0))
    point = Point(arch, Reals(), weights, {})
    rescaled = derivative(point, 3 * X, rescales=True)
    for whole, ours in zip(derivative(point, 3 * X), rescaled, strict=True):
        ratio = np.abs(whole).max() / np.abs(ours).max()
        assert ratio > 1e6
        np.testing.assert_allclose(ratio * ours, whole, rtol=1e-8, atol=1e-8 * ratio)


@dataclass(frozen=True)
class Points(Polynomial):
    """A network that knows points: its own weights, of these sizes."""

    sizes: tuple[float, ...] = ()

    def conditioned_points(self, count, rng):
        weights = {}
        for name, shape in self.parameter_shapes.items():
            weights[name] = rng.standard_normal(shape)
        X = self.random_inputs(Reals(), count, rng)
        for size in self.sizes:
            yield {name: size * weight for name, weight in weights.items()}, X


@pytest.mark.filterwarnings("error")
def test_the_next_point_is_taken_where_floats_do_not_reach():
    reachable = Points((2, 3, 2), 3, sizes=(1e200, 1.0))
    found = measure_dimension(reachable, method="float")
    assert found.decided and found.value == measure_dimension(reachable).value
    with pytest.raises(
        ValueError, match=r"below 10\^308, and those of .*; take method='exact'"
    ):
        measure_dimension(replace(reachable, sizes=(1e200, 1e190)), method="float")


@pytest.mark.filterwarnings("error")
def test_a_network_without_points_of_its_own_gets_smaller_weights_in_turn():
    """Random weights overflow here; smaller ones do not."""
    deep = Polynomial((2, 2, 2, 2, 2, 2, 2, 2), 3)
    rng = np.random.default_rng([5, 2])
    points = [weights["W3"] for weights, _ in real_points_of(deep, 3, rng)]
    assert len(points) == 8
    for point, smaller in itertools.pairwise(points):
        np.testing.assert_array_equal(point / 2, smaller)
    measure_dimension(deep, method="float", seed=5)  # raises nothing


@pytest.mark.parametrize(("ratio", "is_told_apart"), [(0.9e8, False), (1.1e8, True)])
def test_lengths_differ_too_much_from_a_factor_of_ten_to_the_eight_on(
    ratio, is_told_apart
):
    assert differ(np.array([1.0, 0.0, ratio])) == is_told_apart
