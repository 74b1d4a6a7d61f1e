"""What floats decide of transformers, they decide rightly."""

from dataclasses import replace
from itertools import islice

import pytest
from variants import random_blocks, random_variants

from neuroviz.rank import measure_dimension
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers import transformer as module

BOTH = ("lightning", "softmax")
SHARED = Block(value_dim=2, kv_heads=1, temperature=True, positions=True, mlp=(1, 3))
AND_AN_MLP = Block(value_dim=1, kv_heads=1, mlp=(2, 3))
SKIP = {"skip": True}
MASK = {"causal": True}
ONCE_DECIDED = {
    # Gaps of 10⁸ to 10¹²; in which draw one does hangs on the machine.
    "tokens on a line": (
        Transformer((6, 1, 6, 6, 2), (1, 3, 1, 1), 3, "softmax"),
        range(4),
    ),
    "two layers later": (
        Transformer((4, 2, 1, 5, 6), (1, 1, 1, 3), 2, "softmax"),
        range(4),
    ),
    "and wider": (Transformer((2, 3, 1, 4, 5), (1, 1, 2, 4), 2, "softmax"), range(4)),
    "an MLP and three layers": (
        Transformer((1,) * 4, (2, 2, 1), 2, heads=2, **SKIP, **MASK, block=SHARED),
        (6, 12, 14, 25, 36, 38),
    ),
    "rows far apart": (
        Transformer(
            (2,) * 5, (3, 1, 2, 1), 3, **SKIP, block=Block(2, kv_heads=1, mlp=(2, 2))
        ),
        [783556],
    ),
    "another point sees more": (
        Transformer(
            (2,) * 4, (2, 3, 2), 3, "softmax", **SKIP, **MASK, block=AND_AN_MLP
        ),
        [100009],
    ),
    "gaps of 2e9 and 1e9": (
        Transformer((4, 6, 2, 5, 5, 5), (2, 2, 3, 3, 2), 3),
        [20539],
    ),
    "gaps of 7e9 and 7e8": (
        Transformer((2, 4, 3, 5, 5, 5, 1), (3, 3, 3, 4, 4, 3), 4),
        [21668],
    ),
    "gaps of 3e10 and 4e8": (
        Transformer((2, 3, 5, 6, 3, 4, 3), (3, 2, 4, 4, 2, 4), 2),
        [21642],
    ),
    "derivatives that became 0": (
        Transformer(
            (3, 4, 4, 3, 2),
            (1, 2, 2, 3),
            3,
            **MASK,
            block=Block(1, positions=True, mlp=(1, 3)),
        ),
        [394343],
    ),
    "all inputs but one became 0": (
        Transformer(
            (1, 1, 3, 2, 4, 3),
            (3, 2, 1, 1, 1),
            1,
            **MASK,
            block=Block(positions=True, mlp=(1, 3)),
        ),
        [960562],
    ),
}


@pytest.mark.parametrize(("arch", "seeds"), ONCE_DECIDED.values(), ids=ONCE_DECIDED)
def test_what_floats_decided_wrongly_they_leave_undecided_or_decide_rightly(
    arch, seeds
):
    """Each of these has shown a clear gap at a wrong rank; beside skips layers write
    less now."""
    for seed in seeds:
        found = measure_dimension(arch, "float", seed=seed)
        if found.decided:
            assert arch.skip and found.value == measure_dimension(arch).value
        else:
            assert "undecided" in found.note


@pytest.mark.parametrize(
    "arch",
    [
        Transformer.uniform(1, 1, 4, 3, "softmax"),
        Transformer.uniform(2, 2, 3, 3, "softmax"),
        Transformer.uniform(3, 2, 3, 3, "softmax", skip=True),
        Transformer.uniform(3, 2, 3, 3, "lightning", skip=True),
    ],
    ids=str,
)
def test_weights_are_drawn_so_that_a_spectrum_splits_at_the_exact_rank(arch):
    """On a line, in the plane and beside skips; a softmax twice as sharp hides ranks on
    a line."""
    for seed in range(5):
        found = measure_dimension(arch, "float", seed=seed)
        assert found.value == measure_dimension(arch).value and found.gap > 1e10, seed


def test_tokens_on_a_line_are_named_where_nothing_else_is_seen():
    block = Block(biases=True, positions=True, mlp=(1, 3))
    arch = Transformer(
        (1, 1, 1), (2, 2), 2, "softmax", heads=2, skip=True, causal=True, block=block
    )
    notes = [
        measure_dimension(arch, "float", seed=seed).note
        for seed in range(431200, 431220)
    ]
    assert all("undecided" in note for note in notes) and any(
        "tokens on a line" in note for note in notes
    )


@pytest.mark.parametrize("block", [Block(value_dim=1), Block(mlp=(1, 2))], ids=str)
def test_tokens_on_a_line_decide_nothing_at_a_larger_width(block):
    arch = Transformer((3, 3, 3), (2, 2), 3, "softmax", block=block)
    assert arch.are_on_a_line == (False, True)
    assert "tokens on a line" in measure_dimension(arch, "float").note


def test_a_float_rank_of_a_block_that_is_decided_is_the_exact_one():
    decided = 0
    archs = [arch for arch in random_variants(60, seed=3) if not arch.block.rotary]
    for seed, arch in enumerate(archs):
        found = measure_dimension(arch, "float", seed=seed)
        assert not found.decided or found.value == measure_dimension(arch).value, arch
        decided += found.decided
    assert decided > 0.4 * len(archs), (
        "a measurement that hardly ever decides is of no use"
    )


@pytest.mark.parametrize(
    ("attention", "block"),
    [
        ("lightning", Block()),
        ("lightning", Block(biases=True)),
        ("lightning", Block(mlp=(2, 4))),
        ("softmax", Block(mlp=(2, 4))),
    ],
    ids=str,
)
@pytest.mark.parametrize("layers", [7, 9])
@pytest.mark.filterwarnings("error")
def test_floats_also_decide_deep_stacks_with_skips(layers, attention, block):
    """Tokens grow like x + x³ a layer: at weights of the usual size eight layers
    overflow."""
    arch = Transformer.uniform(2, 2, layers, 2, attention, skip=True, block=block)
    found = measure_dimension(arch, "float")
    assert found.decided and found.value == measure_dimension(arch).value


@pytest.mark.parametrize("seed", range(100))
@pytest.mark.filterwarnings("error")
def test_no_float_rank_that_is_decided_is_wrong_in_deep_stacks_with_skips(seed):
    """With `--full` 800 networks of four to six layers, half of them lightning."""
    deep = (
        arch
        for arch in random_blocks(seed)
        if arch.skip and arch.num_layers > 3 and not arch.block.rotary
    )
    for number, arch in enumerate(islice(deep, 8)):
        arch = replace(arch, attention=BOTH[number % 2])
        found = measure_dimension(arch, "float")
        assert not found.decided or found.value == measure_dimension(arch).value, arch


@pytest.mark.filterwarnings("error")
def test_where_floats_do_not_reach_the_refusal_says_what_does(monkeypatch):
    monkeypatch.setattr(module, "SHRINKS", (1.0,))
    net = Transformer.uniform(2, 2, 9, 2, skip=True)
    with pytest.raises(
        ValueError,
        match=r"derivatives below 10\^308, and those of .*; take method='exact'",
    ):
        measure_dimension(net, "float", seed=2)
