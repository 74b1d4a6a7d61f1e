"""Remarks of docs/mathematics and beyond/docs that can be computed, each with what it
rejects."""

from itertools import permutations

import numpy as np
import pytest

from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.alignment import align, shown
from neuroviz_beyond.transformers.block_formulas import known_redundancies
from neuroviz_beyond.transformers.evaluate import forward, random_weights
from neuroviz_beyond.transformers.real_models import real_model

REALS = Reals()
HEADS = 4
GROUPS = 2


def grouped_network(head_dim, value_dim, seed):
    """One layer of width 2, two groups of two heads, and random weights of it."""
    block = Block(value_dim, GROUPS)
    arch = Transformer.uniform(2, head_dim, 1, 3, "softmax", heads=HEADS, block=block)
    return arch, random_weights(REALS, arch, np.random.default_rng(seed))


def shared(group, rank, axis):
    """The matrices of a group, side by side (1) or one above the other (0), as a
    product of this rank."""
    U, s, W = np.linalg.svd(np.concatenate(group, axis=axis))
    kept = (s > 1e-12 * s[0]).sum()
    if kept > rank:
        return None
    return U[:, :rank] * s[:rank], W[:rank]


def in_new_groups(arch, weights, order):
    """Weights of this shape whose heads are those of `weights` in another order; None
    where none are."""
    (layer,) = shown("a test", arch, weights)
    per_group = HEADS // GROUPS
    found = {name: [] for name in "KQVO"}
    for start in range(0, HEADS, per_group):
        heads = list(order[start : start + per_group])
        keys = shared(layer.A[heads], arch.head_dims[0], axis=1)
        values = shared(layer.V[heads], arch.block.value_dim, axis=0)
        if keys is None or values is None:
            return None
        found["K"].append(keys[0].T)
        found["Q"] += np.split(keys[1], per_group, axis=1)
        found["V"].append(values[1])
        found["O"] += np.split(values[0], per_group, axis=0)
    return {f"1.{name}": np.array(matrices) for name, matrices in found.items()}


def keeps_groups(order):
    return {frozenset(order[:2]), frozenset(order[2:])} == {
        frozenset((0, 1)),
        frozenset((2, 3)),
    }


@pytest.mark.parametrize(("head_dim", "value_dim"), [(1, 1), (1, 2), (2, 1), (2, 2)])
@pytest.mark.parametrize("parallel", [False, True], ids=["generic", "K2 = 2 K1"])
def test_heads_change_their_group_exactly_where_the_new_groups_keep_their_ranks(
    head_dim, value_dim, parallel
):
    """Remark 3 to Theorem H. All 24 orders at d = v = 2, a = 1 and K₂ = 2K₁, though a <
    d."""
    arch, first = grouped_network(head_dim, value_dim, seed=3)
    if parallel:
        first["1.K"][1] = 2 * first["1.K"][0]
    X = np.random.default_rng(5).standard_normal((4, 2, 3))
    found = {}
    for order in permutations(range(HEADS)):
        second = in_new_groups(arch, first, order)
        if second is not None:
            found[order] = second
    keys_are_free = head_dim == 2 or parallel
    values_are_free = value_dim == 2
    if keys_are_free and values_are_free:
        assert len(found) == 24
    else:
        assert set(found) == {
            order for order in permutations(range(HEADS)) if keeps_groups(order)
        }
    for order, second in found.items():
        assert np.allclose(
            forward(REALS, arch, first, X), forward(REALS, arch, second, X), atol=1e-11
        )
        assert align(arch, first, second).heads == (tuple(map(int, np.argsort(order))),)


def test_what_is_counted_at_bert_base_beyond_the_bases_of_the_heads():
    """1,179,648 of our 1,206,528; biases are silent in the model, shifts in a stack
    without norms only."""
    model = real_model("BERT-base")
    stack = known_redundancies(model.architecture())
    bases = stack["bases of keys and queries"] + stack["bases of values and outputs"]
    assert bases == 12 * 12 * (64**2 + 64**2) == 1_179_648
    assert stack["key biases"] == stack["value biases"] == 12 * 768 == 9_216
    assert stack["shifts between layers"] == 11 * 768 == 8_448
    assert sum(stack.values()) == 1_206_528
    assert sum(model.redundant.values()) == 1_198_080
