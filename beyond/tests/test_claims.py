"""What transformers say of themselves: relations of exponentials, degrees, biases on a
line."""

from dataclasses import dataclass, replace

import pytest
from degrees import has_the_degree_in_the_error_bound
from variants import random_variants

from neuroviz.rank.check import check_network
from neuroviz.rank.exponentials import INDEPENDENT
from neuroviz_beyond.transformers import Block, Transformer

NETS = random_variants(250, seed=22)


@pytest.mark.parametrize("net", NETS, ids=str)
def test_every_transformer_is_what_it_says(net):
    check_network(net)


@dataclass(frozen=True)
class WrongRelation(Transformer):
    def _exponentials(self, is_on_a_line):
        return replace(INDEPENDENT, count=lambda mask: 0)


@dataclass(frozen=True)
class WrongLine(Transformer):
    are_on_a_line = (False, False)


@pytest.mark.parametrize(
    ("net", "words"),
    [
        (WrongRelation((2, 2), (1,), 3, "softmax"), "0 .* but 12 logits"),
        (WrongLine((1, 2, 2), (1, 1), 3, "softmax"), "24 .* but 20 logits"),
    ],
)
def test_a_wrong_claim_is_named(net, words):
    with pytest.raises(ValueError, match=words):
        check_network(net)


BLOCKS = [
    {"causal": True},
    {"skip": True},
    {"heads": 2},
    {"block": Block(value_dim=1, kv_heads=1), "heads": 2},
    {"block": Block(biases=True)},
    {"block": Block(temperature=True)},
    {"block": Block(positions=True)},
    {"block": Block(mlp=(2, 3))},
]
BESIDE_THE_ORIGIN = [
    Transformer(
        (1,) * (depth + 1), (1,) * depth, 3, "softmax", block=Block(biases=True)
    )
    for depth in (1, 2, 3)
]


@pytest.mark.parametrize(
    "net",
    [
        *(
            Transformer((2,) * (depth + 1), (1,) * depth, 2, **more)
            for depth in (1, 2)
            for more in BLOCKS
        ),
        Transformer((2, 2, 2), (1, 1), 3, "softmax", 2, block=Block(mlp=(2, 3))),
        *BESIDE_THE_ORIGIN,
    ],
    ids=str,
)
def test_the_degree_counts_skips_masks_heads_and_all_of_a_block(net):
    assert has_the_degree_in_the_error_bound(net)
