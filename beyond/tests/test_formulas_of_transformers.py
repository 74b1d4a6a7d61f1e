"""Formulas of networks with heads, skips, masks and blocks, against a measurement; of
networks of the paper they are those of the paper."""

import pytest
from architectures import random_architectures

from neuroviz.attention import formulas
from neuroviz.attention.formulas import general_formula
from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.certificate.certificate import certify
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension


def test_a_transformer_that_is_a_network_of_the_paper_has_its_formulas():
    for arch in random_architectures(100, seed=9):
        sizes = arch.widths, arch.head_dims, arch.tokens, arch.attention
        same = Transformer(*sizes)
        known = formulas.expected_dimension(arch)
        assert expected_dimension(same) == expected_dimension(arch) == known, arch


def test_a_list_is_no_transformer():
    said = "expected_dimension needs an Architecture or a Transformer; got list"
    with pytest.raises(ValueError, match=said):
        expected_dimension([3, 3])


@pytest.mark.long
@pytest.mark.parametrize("attention", ["lightning", "softmax"])
def test_the_theorem_certifies_very_deep_networks_at_once_and_in_few_words(attention):
    depth = 10**5
    deep = Transformer.uniform(4, 2, depth, attention=attention)
    thin = Transformer.uniform(1, 1, depth, attention=attention)
    falls = tuple(range(2000, 0, -1))
    widths = (*falls, *falls[::-1])
    uneven = Transformer(widths, tuple(1 + i % 7 for i in range(3999)), 3, attention)
    for arch in (deep, thin, uneven):
        proof = certify(arch, route="theorem")
        assert proof.verify()
        assert proof.dimension == expected_dimension(arch).value
        assert len(str(proof)) < 600


@pytest.mark.parametrize("widths", [(3, 3, 3), (3, 2, 3), (2, 3, 2)])
def test_a_mask_over_one_head_a_layer_is_theorem_a_prime_and_changes_nothing(widths):
    masked = Transformer(widths, (2, 2), 3, "softmax", causal=True)
    found = expected_dimension(masked)
    assert (found.source, found.value) == (
        "Theorem A′",
        measure_dimension(masked).value,
    )
    assert found.value == general_formula(masked.paper).value


@pytest.mark.parametrize(
    ("d", "heads", "v"), [(2, 2, 1), (2, 1, 2), (3, 3, 1), (3, 2, 1)]
)
def test_lightning_layers_with_skips_add_up_where_the_values_just_fill_the_width(
    d, heads, v
):
    """Theorem S asks for H v ≥ d."""
    arch = Transformer(
        (d,) * 3, (2, 2), 3, heads=heads, skip=True, block=Block(value_dim=v)
    )
    found = expected_dimension(arch)
    assert found.value == (measure_dimension(arch).value if heads * v >= d else None)
