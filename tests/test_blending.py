"""Heads that blend while the function stays, and heads that cannot."""

from dataclasses import replace

import numpy as np
import pytest
from variants import random_variants

from neuroviz.beyond.transformers.blending import STEPS, _brought_back, _Heads, _network, _way, blend_heads
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.ledger import kernel_ledger


def ranks(matrices):
    return [int((np.linalg.svd(M, compute_uv=False) > 1e-9).sum()) for M in matrices]


BLENDING = [
    Architecture((3, 3), (3,), heads=2),
    Architecture((3, 3), (4,), heads=3, causal=True),
    Architecture((3, 3), (2,), heads=3),
    Architecture((4, 4, 4), (3, 2), heads=3, skip=True),
    Architecture((4, 4), (2,), heads=6),
    Architecture((3, 3, 3), (2, 2), heads=4, block=Block(value_dim=3, temperature=True, mlp=(4, 2))),
    Architecture((3, 3), (3,), heads=3, block=Block(biases=True, positions=True)),
    Architecture((4, 4), (3,), heads=6, block=Block(value_dim=3)),
    Architecture((4, 4), (2,), heads=4, block=Block(value_dim=1, kv_heads=1)),
    Architecture((3, 3), (2,), heads=4, block=Block(value_dim=2, kv_heads=2)),
]
STUCK = [
    Architecture((3, 3), (2,), heads=2),
    Architecture((4, 4), (2,), heads=5),
    Architecture((3, 3), (3,), heads=3, block=Block(value_dim=1)),
    Architecture((3, 3), (3,), heads=2, block=Block(biases=True)),
    Architecture((3, 3), (2,), heads=2, block=Block(value_dim=1, kv_heads=2)),
    Architecture((3, 3), (3,), attention="softmax", heads=2),
    Architecture((2, 2), (2,), heads=2, block=Block(rotary=True)),
]


@pytest.mark.parametrize("arch", BLENDING, ids=str)
def test_the_function_stays_all_the_way_while_every_head_becomes_another(arch):
    for place in (0.25, 0.5, 1.0):
        found = blend_heads(arch, place)
        assert found.keeps and not found.why and found.reached == place
        assert found.deviation < 1e-12
        apart = np.abs(found.now - found.before).max(axis=(1, 2))
        assert apart.min() > 0.02, "each head moves"
        assert ranks(found.now) == ranks(found.before)


@pytest.mark.parametrize("arch", BLENDING, ids=str)
def test_heads_do_not_only_change_their_size(arch):
    found = blend_heads(arch, 0.5)
    off = found.g - np.diag(np.diag(found.g))
    assert np.abs(off).max() > 0.05 and np.linalg.cond(found.g) < 1e3


@pytest.mark.parametrize("arch", STUCK, ids=str)
def test_where_ranks_or_softmax_forbid_it_a_forced_blend_changes_the_function(arch):
    found = blend_heads(arch, 0.5)
    assert not found.keeps and found.why
    assert found.deviation > 1e-3
    assert max(ranks(found.now)) <= arch.head_dims[0]


def test_the_reason_is_named():
    assert [blend_heads(arch, 0.5).why for arch in STUCK] == [
        "H = 2 is not more than (d − a)² + 1 = 2",
        "H = 5 is not more than (d − a)² + 1 = 5",
        "values of rank 1 leave no room",
        "H = 2 is not more than (d + 1 − a)² + 1 = 2",
        "heads that share keys and values have too many ranks to keep",
        "softmax is not linear in A",
        "rotary positions turn each A from place to place",
    ]
    assert blend_heads(Architecture((3, 3), (2,)), 0.5).why == "there is one head only"


def test_there_is_a_way_exactly_where_the_exact_ledger_has_a_direction():
    """Float null spaces against exact ranks, two programs; with several tokens and no rotations."""
    compared = set()
    for arch in random_variants(60, seed=3, attention="lightning"):
        if arch.tokens == 1 or arch.block.rotary or arch.heads[0] == 1:
            continue
        directions = kernel_ledger(arch).parts["heads that blend"][0]
        found = blend_heads(arch, 0.4)
        assert found.keeps == (directions > 0), arch
        if found.keeps:
            assert found.deviation < 1e-10, arch
        compared.add(found.keeps)
    assert compared == {True, False}


def test_full_heads_turn_by_a_right_angle():
    """a ≥ d: no rank is in the way, g = exp(s G) with G antisymmetric; two heads change places."""
    found = blend_heads(Architecture((3, 3), (3,), heads=2), 1.0)
    np.testing.assert_allclose(found.g, [[0, 1], [-1, 0]], atol=1e-12)
    np.testing.assert_allclose(found.now, [found.before[1], -found.before[0]], atol=1e-12)
    for place in (0.3, 0.8):
        g = blend_heads(Architecture((3, 3), (5,), heads=4), place).g
        np.testing.assert_allclose(g @ g.T, np.eye(4), atol=1e-12)


def test_without_newtons_method_ranks_would_be_lost():
    """The check can fail: a straight step along the way leaves the matrices of rank a."""
    arch = Architecture((3, 3), (2,), heads=3)
    heads = _Heads.of(arch, _network(arch, 0)[0])
    _, way = _way(arch, 0)
    straight = way[0] + 4 * (way[1] - way[0])
    assert np.abs(heads.blended(straight).conditions()[1]).max() > 1e-4
    assert np.abs(heads.blended(_brought_back(heads, straight)).conditions()[1]).max() < 1e-12


def test_places_are_on_the_way_and_the_start_is_the_network_itself():
    arch = Architecture((3, 3), (2,), heads=3)
    _, way = _way(arch, 0)
    assert len(way) == STEPS + 1
    assert max(np.abs(g - h).max() for g, h in zip(way, way[1:], strict=False)) < 0.2
    start = blend_heads(arch, 0.0)
    assert start.deviation == 0 and np.array_equal(start.g, np.eye(3))
    np.testing.assert_allclose(start.now, start.before, atol=1e-12)


def test_another_seed_is_another_network():
    arch = Architecture((3, 3), (2,), heads=3)
    one, other = blend_heads(arch, 0.5), blend_heads(arch, 0.5, seed=1)
    assert np.abs(one.before - other.before).max() > 0.1 and other.deviation < 1e-12


def test_at_the_border_heads_cannot_blend_but_can_be_exchanged_for_another():
    """d = 3, a = 2, H = 2: det(x A₁ + y A₂) = 0 has three roots, and any two of them will do as heads."""
    arch = Architecture((3, 3), (2,), heads=2)
    heads = _Heads.of(arch, _network(arch, 0)[0])
    (A1, A2), (V1, V2) = heads.A, heads.V
    # det(A₁ + x A₂) = x (p + q x), as both ends of the pencil have rank 2
    p, q = np.linalg.solve([[1, 1], [-1, 1]], [np.linalg.det(A1 + A2), np.linalg.det(A1 - A2)])
    x = -p / q
    A3 = A1 + x * A2
    assert ranks([A1, A2, A3, A1 + 2 * x * A2]) == [2, 2, 2, 3]
    before = np.einsum("hij,hkl->ijkl", heads.V, heads.A)
    others = np.einsum("hij,hkl->ijkl", np.stack([V1 - V2 / x, V2 / x]), np.stack([A1, A3]))
    np.testing.assert_allclose(others, before, atol=1e-12)


@pytest.mark.parametrize("place", [-0.1, 1.5, float("nan")])
def test_a_place_is_from_0_to_1(place):
    with pytest.raises(ValueError, match="a place on the way is a number from 0 to 1; got"):
        blend_heads(Architecture((3, 3), (2,), heads=3), place)


def test_what_is_no_architecture_is_refused():
    with pytest.raises(ValueError, match="blend_heads needs an Architecture"):
        blend_heads((3, 3), 0.5)


def test_a_way_that_ends_early_says_where(monkeypatch):
    """Then the place that is shown is not the one that was asked for."""
    from neuroviz.beyond.transformers import blending

    arch = replace(Architecture((3, 3), (2,), heads=3), tokens=4)
    way = blending._way(arch, 9)[1]
    monkeypatch.setattr(blending, "_way", lambda *_: ("", way[:5]))
    found = blend_heads(arch, 1.0, seed=9)
    assert (found.place, found.reached) == (1.0, 4 / STEPS) and found.deviation < 1e-12
