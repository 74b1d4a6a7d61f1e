"""The new core measures transformers as the engine does.

This file stays until the engine goes.
"""

import pytest
from engine_networks import check_against_the_engine
from engine_variants import transformer
from variants import random_variants


@pytest.mark.parametrize("seed", range(240))
def test_ranks_bounds_curves_and_decided_floats_are_the_engines(seed):
    """Five networks each: 100 in all, and 1,200 with `--full`."""
    for arch in random_variants(5, seed=[8, seed]):
        check_against_the_engine(arch, transformer(arch))
