"""What a sceptical reading found: each of these was wrong, misleading, or endless
once."""

import numpy as np
import pytest
import torch
from torch import nn

from neuroviz import kernel_ledger, measure_dimension
from neuroviz.rank.field import PrimeField
from neuroviz_beyond import (
    Block,
    Transformer,
    expected_dimension,
    functional_dimension,
    module_symmetries,
)
from neuroviz_beyond.transformers.rotary import _point_of_the_circle

UNLIKE_THEORY = (
    # Keys and values of all groups together have a lower rank than the width, those of
    # all heads have not.
    Transformer(
        (4, 4, 4),
        (1, 3),
        tokens=2,
        attention="softmax",
        heads=(2, 1),
        block=Block(value_dim=2, kv_heads=1),
    ),
    # The rank of the values is that of d′ × d matrices, not d.
    Transformer((3, 1), (1,), attention="softmax", block=Block(positions=True)),
    Transformer(
        (5, 2), (1,), attention="softmax", heads=2, block=Block(positions=True)
    ),
    Transformer(
        (3, 1),
        (1,),
        tokens=2,
        attention="softmax",
        block=Block(value_dim=2, positions=True),
    ),
    # The last layer has one value, one key and one query, which see 3 of 4 dimensions:
    # parameters less the named directions are 78, and the rank is 77.
    Transformer(
        (4, 4, 4),
        (1, 1),
        attention="softmax",
        heads=(5, 1),
        block=Block(value_dim=1, biases=True),
    ),
)


@pytest.mark.parametrize("arch", UNLIKE_THEORY, ids=str)
def test_a_formula_is_right_or_is_not_given(arch):
    assert expected_dimension(arch).value in (None, measure_dimension(arch).value)


NOT_GENERIC = (
    # V is a reflection, so I + V is singular.
    (Transformer.uniform(2, 1, 2, tokens=1, attention="softmax", skip=True), 0),
    (Transformer.uniform(4, 2, 3, tokens=1, attention="softmax", skip=True), 0),
    # Queries of two heads that share a key are both ±2.
    (
        Transformer(
            (1, 1),
            (1,),
            tokens=2,
            attention="softmax",
            heads=4,
            block=Block(value_dim=1, kv_heads=2),
        ),
        0,
    ),
    # Rows of very different size, as nothing is rescaled between the layers of a tape.
    (Transformer.uniform(2, 2, 3, block=Block(mlp=(3, 3))), 1),
    (Transformer.uniform(2, 2, 3, block=Block(mlp=(3, 4))), 2),
    (Transformer.uniform(2, 2, 2, block=Block(mlp=(3, 30))), 0),
)


@pytest.mark.parametrize(("arch", "seed"), NOT_GENERIC, ids=str)
def test_a_decided_float_rank_is_the_exact_one(arch, seed):
    found = measure_dimension(arch, "float", seed=seed)
    assert not found.decided or found.value == measure_dimension(arch).value


@pytest.mark.parametrize("scale", [3, 10])
def test_no_module_has_more_dimensions_than_its_symmetries_leave(scale):
    for seed in range(6):
        torch.manual_seed(seed)
        attention = nn.MultiheadAttention(2, 1, batch_first=True)
        found = functional_dimension(
            attention, lambda n: (scale * torch.randn(n, 3, 2),) * 3
        )
        assert not found.decided or found.value <= module_symmetries(attention).bound


class _Product(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype
        self.first = nn.Parameter(torch.eye(3) + 0.3)
        self.second = nn.Parameter(torch.eye(3) - 0.2)

    def forward(self, x):
        return x.to(self.dtype) @ self.first.to(self.dtype) @ self.second.to(self.dtype)


@pytest.mark.parametrize(
    "dtype", [torch.float64, torch.float32, torch.bfloat16], ids=str
)
def test_a_forward_that_casts_down_is_refused_or_undecided(dtype):
    """A product of two 3 × 3 matrices has nine dimensions; in float32 its rounding
    looks like nine more."""
    torch.manual_seed(0)
    try:
        found = functional_dimension(_Product(dtype), lambda n: torch.randn(n, 3))
    except ValueError:
        return
    assert found.value == 9 or not found.decided


def test_a_sparse_gradient_counts_like_any_other():
    dense, sparse = (nn.Embedding(5, 3, sparse=kind) for kind in (False, True))
    assert functional_dimension(sparse, torch.arange(5)).value == 15
    assert functional_dimension(dense, torch.arange(5)).value == 15


class _Limited:
    """A generator that refuses to go on for ever."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.drawn = 0

    def integers(self, *bounds):
        self.drawn += 1
        assert self.drawn < 10_000, "nothing that is drawn will ever do"
        return self.rng.integers(*bounds)


@pytest.mark.parametrize("p", [3, 5])
def test_small_primes_have_rotations_or_are_refused(p):
    """Modulo 5 both 2 and 3 are roots of −1; modulo 3 there is nothing between 2 and p
    − 1."""
    try:
        c, s = _point_of_the_circle(PrimeField(p), _Limited())
    except ValueError as error:
        assert "prime" in str(error)
    else:
        assert (c**2 + s**2) % p == 1


def test_a_mask_does_not_hide_the_cause_of_what_is_unexplained():
    arch = Transformer((1, 2, 4), (1, 4), tokens=2, attention="softmax")
    masked = Transformer((1, 2, 4), (1, 4), tokens=2, attention="softmax", causal=True)
    assert kernel_ledger(arch).unexplained == kernel_ledger(masked).unexplained == 5
    assert "only some reach the output" in kernel_ledger(arch).note
    assert "only some reach the output" in kernel_ledger(masked).note


def test_tokens_on_a_curve_are_not_on_a_line():
    """u s + o, to the power of two entry by entry, is a parabola."""
    arch = Transformer(
        (1, 2, 2), (1, 1), attention="softmax", block=Block(biases=True, mlp=(2, 2))
    )
    assert arch.are_on_a_line == (True, False)
