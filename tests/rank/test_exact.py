"""The exact rank's bound, its shortcuts, and where they must not be taken."""

from dataclasses import dataclass

import numpy as np
import pytest
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.rank import measure_dimension
from neuroviz.rank.exact import _Search, generic_rank, say_nothing, schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.outline import outline
from neuroviz.rank.point import num_parameters

NET = Architecture.uniform(4, 2, 2)  # rank 38 of 64 columns, with all of them


def test_the_combinations_count_in_the_error():
    found = measure_dimension(NET, route="weights")
    each = schwartz_zippel(found.value, outline(NET).degree + 1, DEFAULT_PRIME)
    assert (found.value, found.num_columns) == (38, 64)
    assert found.error_bound == pytest.approx(each**2)


@pytest.mark.parametrize(("p", "spare"), [(DEFAULT_PRIME, 2), (241, 8)])
@pytest.mark.parametrize("expected", [1, 7, 37, 38, 39, 64])
def test_combinations_have_the_rank_of_all_columns(expected, p, spare):
    """However many are expected to do: too few are seen to be too few."""
    search = _Search(NET, outline(NET), 64, None, say_nothing)
    search.num_inputs = 0
    rng = np.random.default_rng(expected)
    assert search.rank_of_combinations(PrimeField(p), expected, rng) == 38
    # One spare combination is enough to see that there are no more.
    is_enough = expected + spare > 38
    assert search.num_inputs == (expected if is_enough else 64) + spare


@dataclass(frozen=True)
class Relaxing(Polynomial):
    """A network that names another one as more general."""

    other: object = None

    def relaxed(self):
        return self.other


@pytest.mark.parametrize("power", [60_000])
def test_a_bound_is_taken_over_only_from_a_network_of_no_larger_rank(power):
    steep = Polynomial((2, 1, 2), power)  # rank 3 of 4, and a poor bound
    poor = generic_rank(steep).error_bound
    assert poor > 1e-4
    same = Polynomial((2, 1, 2), 1)
    larger = Polynomial((2, 2), 1)
    assert generic_rank(same).value == generic_rank(steep).value == 3
    assert num_parameters(larger) == generic_rank(larger).value == 4
    better = generic_rank(Relaxing((2, 1, 2), power, other=same))
    assert better.error_bound == generic_rank(same).error_bound < poor
    unchanged = generic_rank(Relaxing((2, 1, 2), power, other=larger))
    assert unchanged.error_bound == poor


def test_fewer_inputs_than_are_needed_say_so():
    found = measure_dimension(Architecture((3, 3), (2,)), inputs=1)
    assert found.value < 16 and "observed on 1 input only" in found.note
