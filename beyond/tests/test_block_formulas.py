"""What the named silent directions of a Block predict, against exact ranks; and where
they stop being all."""

from dataclasses import replace
from itertools import islice, product

import pytest
from variants import random_blocks, random_variants

from neuroviz.kit.measured import kernel_ledger, measure_dimension
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import (
    known_redundancies,
    what_is_missing,
)
from neuroviz_beyond.transformers.formulas import expected_dimension


@pytest.mark.parametrize("seed", range(4))
def test_parameters_less_what_has_a_name_is_what_is_measured(seed):
    answered = 0
    for arch in random_variants(150, seed, "softmax", most=200):
        if arch.block.is_plain:
            continue
        theory = expected_dimension(arch)
        missing = what_is_missing(arch) is not None
        if theory.source != "Theorem W":
            assert (theory.value is None) == missing == (theory.status == "no formula")
        if theory.value is not None:
            answered += 1
            assert measure_dimension(arch).value == theory.value, (
                str(arch),
                known_redundancies(arch),
            )
    assert answered > 40


@pytest.mark.parametrize("seed", range(100))
def test_no_formula_is_wrong_among_ten_thousand_networks_that_it_answers(seed):
    """With `--full` seeds 0 to 99, the first 105 networks of each that have a
    formula."""
    answered = (
        arch
        for arch in random_blocks(seed)
        if expected_dimension(arch).value is not None
    )
    for arch in islice(answered, 105):
        assert measure_dimension(arch).value == expected_dimension(arch).value, repr(
            arch
        )


@pytest.mark.parametrize("rotary", [False, True])
@pytest.mark.parametrize("causal", [False, True])
def test_learned_positions_lose_the_width_of_the_input_also_before_a_narrower_output(
    rotary, causal
):
    """At 2 → 1 with a = 1 and two tokens 9; a shift of the width of the output would
    give 10."""
    block = Block(biases=True, positions=True)
    smallest = Transformer((2, 1), (1,), 2, "softmax", block=block)
    assert expected_dimension(smallest).value == measure_dimension(smallest).value == 9
    answered = 0
    for d, d_out, a, heads, tokens in product(
        range(1, 4), range(1, 4), range(1, 4), (1, 2), (2, 3)
    ):
        if rotary and a % 2:
            continue
        with_turns = replace(block, rotary=rotary)
        arch = Transformer(
            (d, d_out), (a,), tokens, "softmax", heads, causal=causal, block=with_turns
        )
        theory = expected_dimension(arch)
        if theory.value is not None:
            answered += 1
            lost = known_redundancies(arch)
            assert measure_dimension(arch).value == theory.value, (str(arch), lost)
            assert lost["shifts between layers"] == d
    assert answered >= (9 if rotary else 80)


@pytest.mark.long
@pytest.mark.parametrize("heads", [1, 2])
def test_squares_between_skips_let_affine_maps_pass_if_there_are_biases(heads):
    """(l − 1) min(d, m) constants, of which d² equations keep max(0, …); no other power
    loses any."""
    depths = {1: range(1, 6), 2: range(1, 7), 3: (5,)}
    lost = 0
    switches = (False, True), (False, True)
    for d in depths:
        for layers, hidden, power, skip, biases in product(
            depths[d], (1, 2, 4), (2, 3, 4), *switches
        ):
            block = Block(biases=biases, mlp=(hidden, power))
            arch = Transformer.uniform(
                d, 1, layers, 2, "softmax", heads=heads, skip=skip, block=block
            )
            theory = expected_dimension(arch)
            names = known_redundancies(arch)
            law = max(0, (layers - 1) * min(d, hidden) - d * d) * (
                power == 2 and skip and biases
            )
            assert names.get("affine maps between layers", 0) == law
            if theory.value is None:
                # narrow MLPs without skips
                assert layers > 1 and not skip and hidden < d
                continue
            lost += law > 0
            assert measure_dimension(arch).value == theory.value, (str(arch), names)
    assert lost == 9 + 7 + 1


def test_with_squares_between_skips_four_layers_of_width_two_lose_two_dimensions():
    arch = Transformer(
        (2,) * 5,
        (1,) * 4,
        2,
        "softmax",
        skip=True,
        block=Block(biases=True, mlp=(2, 2)),
    )
    assert expected_dimension(arch).value == measure_dimension(arch).value == 56
    assert kernel_ledger(arch).entries["affine maps between layers"] == 2
    assert kernel_ledger(arch).unexplained == 0


def with_a_block(arch, **block):
    return Transformer(**arch | {"block": Block(**block)})


SOFTMAX = {"attention": "softmax", "tokens": 3}
TWO = SOFTMAX | {"widths": (3, 3, 3), "head_dims": (2, 2)}
MASKED = SOFTMAX | {"widths": (2, 2), "head_dims": (4,), "causal": True}


@pytest.mark.parametrize(
    ("arch", "words"),
    [
        (with_a_block(TWO, value_dim=1, biases=True), "lower rank"),
        (with_a_block(TWO, mlp=(1, 2)), "narrower"),
        (with_a_block(TWO | {"skip": True}, mlp=(2, 1)), "power one"),
        (with_a_block(MASKED, rotary=True), "rotary"),
    ],
)
def test_where_no_formula_is_claimed_the_names_do_not_explain_it_all(arch, words):
    assert words in what_is_missing(arch) and expected_dimension(arch).value is None
    predicted = arch.num_parameters - sum(known_redundancies(arch).values())
    assert measure_dimension(arch).value != predicted


@pytest.mark.parametrize(("hidden", "power"), [(2, 1), (1, 1), (1, 2)])
def test_an_mlp_stands_between_layers_so_one_layer_has_none_whose_power_could_matter(
    hidden, power
):
    arch = with_a_block(
        TWO | {"widths": (3, 3), "head_dims": (2,)}, mlp=(hidden, power), biases=True
    )
    without = replace(arch, block=Block(biases=True))
    assert (
        what_is_missing(arch) is None and arch.num_parameters == without.num_parameters
    )
    assert expected_dimension(arch).value == measure_dimension(without).value


@pytest.mark.parametrize(
    ("block", "status", "source"),
    [
        ({"value_dim": 2}, "proved here", "Theorem H"),
        (
            {"value_dim": 2, "biases": True, "temperature": True},
            "proved here",
            "Theorem H",
        ),
        ({"value_dim": 4, "kv_heads": 1}, "proved here", "Theorem H"),
        # One group of values of rank 2 < d: Theorem H asks for G v ≥ d, Theorem W does
        # not.
        ({"value_dim": 2, "kv_heads": 1}, "proved here", "Theorem W"),
        (
            {"value_dim": 2, "kv_heads": 1, "biases": True},
            "no formula",
            "Beyond the paper",
        ),
        ({"value_dim": 2, "rotary": True}, "proved here", "Theorem R"),
        ({"positions": True}, "proved here", "Theorem R"),
        ({"positions": True, "biases": True}, "observed", "Beyond the paper"),
        # values of rank 2 in one group do not fill the width
        (
            {"value_dim": 2, "kv_heads": 1, "rotary": True},
            "no formula",
            "Beyond the paper",
        ),
        ({"mlp": (4, 2)}, "observed", "Beyond the paper"),
    ],
)
def test_a_theorem_is_named_as_far_as_it_reaches(block, status, source):
    heads = {"widths": (4, 4, 4), "head_dims": (2, 2), "heads": 2} | SOFTMAX
    theory = expected_dimension(with_a_block(heads, **block))
    assert (theory.status, theory.source) == (status, source)


def lightning_with_mlps():
    """d, l ≤ 3, MLPs between layers of up to 5 units and of powers 1 to 4."""
    for d, depth, hidden, power in product((2, 3), (2, 3), range(1, 6), range(1, 5)):
        for a in product(range(1, d + 1), repeat=depth):
            yield Transformer(
                (d,) * (depth + 1), a, 2, block=Block(mlp=(hidden, power))
            )


def test_lightning_with_mlps_has_a_formula_where_nothing_is_narrow():
    for arch in lightning_with_mlps():
        hidden, power = arch.block.mlp
        narrow = hidden < arch.widths[0] or power == 1 or 1 in arch.head_dims[:-1]
        assert (expected_dimension(arch).value is None) == narrow


def test_lightning_with_mlps_is_observed_on_the_grid_that_its_note_names():
    answered = 0
    for arch in lightning_with_mlps():
        theory = expected_dimension(arch)
        if theory.value is not None and arch.num_parameters <= 100:
            answered += 1
            assert "(114 networks" in theory.note and theory.status == "observed"
            assert measure_dimension(arch).value == theory.value, str(arch)
    assert answered == 114


@pytest.mark.parametrize(
    ("widths", "heads", "block"),
    [
        ((3, 3, 2), 2, Block(value_dim=2)),
        ((2, 3, 2), 1, Block(value_dim=1)),
        ((3, 2, 3), 2, Block(value_dim=1, kv_heads=1)),
        ((3, 3, 3), (2, 1), Block(value_dim=2)),
    ],
)
def test_for_two_tokens_theorem_w_is_told_as_a_bound(widths, heads, block):
    arch = Transformer(widths, (2, 2), 2, "softmax", heads=heads, block=block)
    found = expected_dimension(arch)
    bound = expected_dimension(replace(arch, tokens=3)).value
    assert found.value is None and f"it is at most {bound} (Theorem W)" in found.note
    assert measure_dimension(arch).value <= bound
