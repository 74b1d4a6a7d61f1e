"""The new core measures the networks of the paper as the engine does.

This file stays until the engine goes.
"""

import pytest
from engine_networks import check_against_the_engine, paper_network
from variants import random_architectures


@pytest.mark.parametrize("seed", range(200))
def test_ranks_bounds_curves_and_decided_floats_are_the_engines(seed):
    """Four networks each: 80 in all, and 800 with `--full`."""
    for arch in random_architectures(4, seed=7000 + seed):
        check_against_the_engine(arch, paper_network(arch))
