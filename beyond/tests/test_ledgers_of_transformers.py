"""The ledger of networks with heads, skips, masks and blocks: it adds up, and says what
it can of the rest."""

import pytest
from variants import random_variants

from neuroviz.kit.measured import kernel_ledger, measure_dimension
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import (
    known_redundancies,
    what_is_missing,
)
from neuroviz_beyond.transformers.formulas import expected_dimension


@pytest.mark.long
def test_ledgers_of_variants_add_up_and_known_ones_leave_nothing_unexplained():
    """100 random softmax and lightning networks: entries are ranks of directions, the
    formulas are counts."""
    explained = 0
    for arch in random_variants(100, seed=5):
        ledger = kernel_ledger(arch)
        left = ledger.parameters - sum(ledger.entries.values()) - ledger.unexplained
        assert (
            left
            == ledger.dimension
            == measure_dimension(arch, seed=7, route="weights").value
        ), arch
        assert ledger.unexplained >= 0 and min(ledger.entries.values()) >= 0, arch
        assert {
            name: sum(parts) for name, parts in ledger.parts.items()
        } == ledger.entries, arch
        theory = expected_dimension(arch).value
        assert theory in (None, ledger.dimension), arch
        if (
            arch.attention == "softmax"
            and arch.tokens > 1
            and what_is_missing(arch) is None
        ):
            explained += 1
            assert ledger.unexplained == 0, arch
            assert {n: c for n, c in ledger.entries.items() if c} == known_redundancies(
                arch
            ), arch
    assert explained > 15


def test_a_skip_brings_the_interfaces_to_life_and_the_rescalings_stay():
    networks = (
        Transformer.uniform(3, 2, 3, heads=2, skip=skip) for skip in (False, True)
    )
    without, with_skip = map(kernel_ledger, networks)
    assert without.entries["bases between layers"] == 2 * 9
    assert "bases between layers" not in with_skip.entries
    assert without.entries["rescalings"] == with_skip.entries["rescalings"] == 6
    assert with_skip.dimension - without.dimension == 18


def test_with_so_many_heads_that_a_layer_reaches_everything_the_note_says_so():
    ledger = kernel_ledger(Transformer((2, 2), (2,), heads=4))
    assert ledger.dimension == 2 * 4 * 3 // 2 and ledger.unexplained > 0
    assert "has 12 coefficients, and with so many heads it reaches all" in ledger.note


@pytest.mark.parametrize(
    ("arch", "said"),
    [
        (Transformer((3, 3), (2,), 1, "softmax", heads=2), "no A is visible"),
        (
            Transformer((3, 3), (2,), 1, heads=2, skip=True),
            "antisymmetric part of each A is hidden",
        ),
        (
            Transformer((3, 3, 3), (2, 2), 3, "softmax", block=Block(value_dim=1)),
            (
                "the formulas do not reach values that together have lower rank than"
                " the width"
            ),
        ),
        # rotary positions on two masked tokens with 2 a > d + 1
        (
            Transformer((4, 4), (4,), 2, "softmax", 1, True, True, Block(rotary=True)),
            "observed, not proved: logits of two masked tokens 2",
        ),
        (
            Transformer.uniform(2, 2, 2, 3, heads=3),
            "a layer has more heads than outputs",
        ),
        (
            Transformer((3, 3, 3), (1, 2), 3, heads=(1, 2)),
            "A₁ has rank one: after layer 1 all tokens are parallel",
        ),
    ],
    ids=str,
)
def test_what_is_unexplained_in_a_variant_has_a_cause_only_where_one_is_known(
    arch, said
):
    ledger = kernel_ledger(arch)
    assert ledger.unexplained > 0 and said in ledger.note


def test_the_note_of_a_variant_names_the_families_that_cost_something():
    note = kernel_ledger(Transformer((3, 3), (2,), heads=2)).note
    assert (
        note
        == "bases of keys and queries and rescalings explain every silent direction"
    )
    alone = kernel_ledger(Transformer((3, 3), (2,), attention="softmax", heads=2)).note
    assert alone == "bases of keys and queries explain every silent direction"


def test_a_probability_is_at_most_one_however_deep_the_transformer_is():
    assert kernel_ledger(Transformer.uniform(1, 1, 15)).error_bound == 1


@pytest.mark.parametrize(
    ("arch", "entries"),
    [
        (
            Transformer((2, 2), (2,), attention="softmax", block=Block(value_dim=500)),
            {
                "bases of keys and queries": 4,
                "bases of values and outputs": 4 * 500 - 4,
            },
        ),
        # 100 heads: the layer reaches all 12 functions.
        (
            Transformer((2, 2), (2,), heads=100),
            {
                "bases of keys and queries": 400,
                "rescalings": 100,
                "heads that blend": 1200 - 500 - 12 - 4,
            },
        ),
    ],
    ids=["values of rank 500", "100 heads"],
)
def test_directions_of_a_transformer_that_act_alike_are_written_down_once(
    arch, entries
):
    ledger = kernel_ledger(arch)
    assert ledger.entries == entries
    assert (
        ledger.unexplained
        == ledger.parameters - sum(entries.values()) - ledger.dimension
    )
