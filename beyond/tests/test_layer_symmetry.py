"""Symmetries of weights that are a tuple of layers, counted from 0: those of weights by
name, and what is no layer is refused."""

import numpy as np
import pytest

from neuroviz.attention import Architecture, symmetry
from neuroviz.rank.field import PrimeField
from neuroviz_beyond.transformers.layer_symmetry import (
    change_head_basis,
    change_interface,
    rescale,
    virtual_weights,
)
from neuroviz_beyond.transformers.layers import named, random_weights

F = PrimeField()
WEIGHTS = random_weights(F, Architecture((2, 2, 3), (2, 2)), np.random.default_rng(0))
C = np.array([[1.0, 2.0], [0.0, 1.0]])
ACTS = [
    (change_head_basis, symmetry.change_head_basis, C),
    (change_interface, symmetry.change_interface, C),
    (rescale, symmetry.rescale, 5),
]


@pytest.mark.parametrize(("of_layers", "by_name", "element"), ACTS)
def test_layer_0_here_is_layer_1_by_name(of_layers, by_name, element):
    moved = named(of_layers(F, WEIGHTS, 0, element))
    expected = by_name(F, named(WEIGHTS), 1, element)
    assert list(moved) == list(expected)
    for name, matrix in expected.items():
        assert (moved[name] == matrix).all()


@pytest.mark.parametrize("layer", [-1, 2])
@pytest.mark.parametrize(("of_layers", "by_name", "element"), ACTS)
def test_what_is_no_layer_is_refused_counting_from_0(
    of_layers, by_name, element, layer
):
    said = f"layers are counted from 0 to 1 here; got layer={layer}"
    with pytest.raises(ValueError, match=said):
        of_layers(F, WEIGHTS, layer, element)


def test_after_the_last_layer_there_is_no_interface():
    with pytest.raises(ValueError, match="got layer=1, the last of 2"):
        change_interface(F, WEIGHTS, 1, C)


def test_the_virtual_weights_are_those_of_the_weights_by_name():
    found = virtual_weights(F, WEIGHTS)
    expected = symmetry.virtual_weights(F, named(WEIGHTS))
    for one, other in zip((found.L, *found.M), (expected.L, *expected.M), strict=True):
        assert (one == other).all()
