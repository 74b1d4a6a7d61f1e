"""Theorems H, W, K, S, F, L, M, N and R: the formula against exact ranks of random
networks, edges included; and what they do not claim."""

from typing import NamedTuple

import numpy as np
import pytest

from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.block_formulas import speaks_of_fibers
from neuroviz_beyond.transformers.formulas import expected_dimension

SEEDS = range(200)
EACH = dict.fromkeys("HWKSFL", 60) | {"M": 200, "N": 150, "R": 150}
"""How many networks of each seed: 12,000 for a theorem, of which at least 10,000 are
different; 30,000 or 40,000 for the last three, of which at least 20,000 are. How many
of these differ in what their dimension depends on: `COUNTS`."""


def random_networks(theorem, seed):
    """Small networks that the theorem is about: everything that it allows, drawn at
    random."""
    rng = np.random.default_rng([seed, ord(theorem)])
    found = 0
    while found < EACH[theorem]:
        arch = _draw(theorem, rng)
        about = speaks_of_fibers(arch) if theorem == "H" else theorem in "FL"
        if arch.num_parameters <= 200 and (
            about or f"Theorem {theorem}" in expected_dimension(arch).source
        ):
            found += 1
            yield arch


def _draw(theorem, rng):
    if theorem in "MNR":
        return {"M": _one_layer, "N": _bottleneck, "R": _positions}[theorem](rng)

    def size(least, most):
        return int(rng.integers(least, most + 1))

    deepest = 3 + (theorem in "KSF") + 4 * (theorem == "L")
    d = size(1, 4)
    # few layers make few networks
    depth = max(size(1 + (theorem == "W"), deepest), size(1, deepest))
    causal = bool(size(0, 1))
    skip = theorem in "SL" or (theorem == "H" and bool(size(0, 1)))
    widths = tuple(size(1, 4 + (theorem in "KF")) for _ in range(depth + 1))
    if theorem in "HSL":
        d += theorem != "H" and size(0, 2)
        widths = (d,) * (depth + 1)
    if theorem == "H" and not skip and size(0, 1):  # a bottleneck
        widths = (d + size(0, 2), *widths[1:-1], d + size(0, 2))
    head_dims = tuple(size(1, 7 if theorem in "SFL" else 5) for _ in range(depth))
    if theorem == "K":
        return Transformer(widths, head_dims, size(2, 4), causal=True)
    if theorem in "FL":  # ranks of 2 and more, but in the last layer of Theorem F
        narrow = depth - (theorem == "F")
        widths = tuple(
            max(2, width) if i < narrow else width for i, width in enumerate(widths)
        )
        head_dims = tuple(
            max(2, a) if i < narrow else a for i, a in enumerate(head_dims)
        )
        widths = (max(2, d),) * (depth + 1) if skip else widths
        return Transformer(widths, head_dims, size(2, 5 + 2 * skip), skip=skip)
    if theorem == "S":
        heads = tuple(size(1, d) if size(0, 1) else 1 for _ in range(depth))
        block = Block(size(1, d)) if size(0, 1) else Block()
        return Transformer(
            widths, head_dims, size(2, 5), "lightning", heads, True, causal, block
        )
    block = {"value_dim": size(1, 4)} if size(0, 1) else {}
    groups = size(1, 2) if block and size(0, 1) else 0
    if groups:
        block["kv_heads"] = groups
    if theorem == "H":
        block |= {"biases": bool(size(0, 1)), "temperature": bool(size(0, 1))}
    heads = tuple(groups * size(1, 2) if groups else size(1, 3) for _ in range(depth))
    tokens = size(2 + (theorem == "W"), 4)
    return Transformer(
        widths, head_dims, tokens, "softmax", heads, skip, causal, Block(**block)
    )


def _one_layer(rng):
    """Theorem M: a lightning layer, or several with skips."""

    def size(least, most):
        return int(rng.integers(least, most + 1))

    depth = 1 if size(0, 3) == 0 else size(2, 4)
    d = size(1, 5 if depth > 1 else 6)
    widths = (d,) * (depth + 1) if depth > 1 else (d, size(1, 6))
    heads = tuple(size(1, min(widths)) for _ in range(depth))
    head_dims = tuple(size(1, d + 1) for _ in range(depth))
    block = Block(size(1, min(widths) + 1)) if size(0, 1) else Block()
    skip = depth > 1 or (widths[0] == widths[1] and bool(size(0, 1)))
    causal = bool(size(0, 1))
    tokens = size(2, 5)
    return Transformer(
        widths, head_dims, tokens, "lightning", heads, skip, causal, block
    )


def _bottleneck(rng):
    """Theorem N: lightning without skips, any number of heads."""

    def size(least, most):
        return int(rng.integers(least, most + 1))

    depth = size(2, 4)
    delta = size(1, 4)
    widths = (delta + size(0, 1), *(delta,) * (depth - 1), delta + size(0, 1))
    block = Block()
    groups = 0
    most = delta  # full values and few heads: the layers are those of Theorem M
    if size(0, 1):
        most = delta + 2
        groups = size(1, 3) * size(0, 1)
        block = Block(size(1, delta + 1), groups or None) if size(0, 2) else Block()
    heads = tuple(
        groups * size(1, 2) if block.kv_heads else size(1, most) for _ in range(depth)
    )
    head_dims = tuple(size(1, delta + 1) for _ in range(depth))
    causal = bool(size(0, 1))
    return Transformer(
        widths, head_dims, size(2, 4), "lightning", heads, False, causal, block
    )


def _positions(rng):
    """Theorem R: softmax with rotary or learned positions."""

    def size(least, most):
        return int(rng.integers(least, most + 1))

    depth = 1 if size(0, 4) == 0 else size(2, 4)
    d = size(1, 7 if depth == 1 else 4)
    if d == 1:  # few networks
        d = size(1, 4)
    rotary = d > 1 and bool(size(0, 2))
    groups = size(1, 3) * size(0, 1)
    block = Block(
        size(1, d) if groups or size(0, 1) else None,
        groups or None,
        rotary,
        temperature=size(0, 5) == 0,
        positions=not rotary or bool(size(0, 1)),
    )
    heads = tuple((groups or 1) * size(1, 3) for _ in range(depth))
    head_dims = tuple(
        2 * size(1, d // 2) if rotary else size(1, d) for _ in range(depth)
    )
    skip = bool(size(0, 1))
    causal = bool(size(0, 1))
    return Transformer(
        (d,) * (depth + 1), head_dims, size(2, 4), "softmax", heads, skip, causal, block
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("theorem", EACH)
def test_a_theorem_says_what_is_measured(theorem, seed):
    for arch in random_networks(theorem, seed):
        assert (
            measure_dimension(arch, seed=seed).value == expected_dimension(arch).value
        ), str(arch)


class Count(NamedTuple):
    """Of the networks of all seeds: how many are different; how many still are where
    `what_matters` is all that counts; and if the order of the layers does not."""

    different: int
    in_what_matters: int
    up_to_order: int


COUNTS = {
    "Theorem M": Count(23_692, 4_501, 1_978),
    "Theorem N": Count(24_795, 11_242, 8_563),
    "Theorem N, Theorem M": Count(12_952, 5_349, 3_861),
    "Theorem R": Count(24_035, 14_713, 10_089),
}


def what_matters(arch):
    """The layers, and what else the statement speaks of: not t, nor the mask, nor the
    part of a above d or of v above the widths, nor of one lightning layer the skip."""
    block = arch.block
    is_softmax = arch.attention == "softmax"
    layers = []
    for H, (d, d_out, a) in zip(arch.heads, arch.layers, strict=True):
        v = min(block.value_dim or d, d, d_out)
        if is_softmax and block.value_dim is None:
            v = None  # full V, not a product of a d × d matrix with another
        layers.append((H, block.kv_heads or H, d, d_out, min(a, d), v))
    skip = arch.skip if is_softmax else arch.skip and arch.num_layers > 1
    return tuple(layers), skip, block.rotary, block.positions, block.temperature


@pytest.mark.full
@pytest.mark.parametrize("theorem", "MNR")
def test_the_pages_say_how_many_of_the_random_networks_differ(theorem):
    found = [arch for seed in SEEDS for arch in random_networks(theorem, seed)]
    parts = {f"Theorem {theorem}": found}
    if theorem == "N":
        closed = "Theorem N, Theorem M"
        parts[closed] = [a for a in found if expected_dimension(a).source == closed]
    for name, networks in parts.items():
        core = {what_matters(arch) for arch in networks}
        unordered = {(tuple(sorted(layers, key=str)), *more) for layers, *more in core}
        count = Count(len(set(networks)), len(core), len(unordered))
        assert count == COUNTS[name]


def test_what_does_not_matter_does_not_make_networks_different():
    one = Transformer((2, 2), (2,), heads=2)
    same = Transformer((2, 2), (3,), 4, "lightning", 2, True, True, Block(3))
    assert what_matters(one) == what_matters(same)
    for other in (
        Transformer((2, 2), (1,), heads=2),
        Transformer((2, 2), (2,), heads=2, block=Block(1)),
        Transformer.uniform(2, 2, 2, heads=2),
    ):
        assert what_matters(one) != what_matters(other)
    assert what_matters(Transformer.uniform(2, 2, 2)) != what_matters(
        Transformer.uniform(2, 2, 2, skip=True)
    )


def test_two_tokens_can_have_less_than_theorem_w_says():
    """Widths (2, 4, 2), heads (2, 1): 32 for three tokens, 30 for two, where no formula
    is claimed."""
    three = Transformer((2, 4, 2), (2, 4), 3, "softmax", heads=(2, 1))
    two = Transformer((2, 4, 2), (2, 4), 2, "softmax", heads=(2, 1))
    assert expected_dimension(three).value == measure_dimension(three).value == 32
    assert measure_dimension(two).value == 30
    theory = expected_dimension(two)
    assert theory.value is None and "at most 32" in theory.note


def test_a_mask_does_not_change_the_dimension_of_one_lightning_layer():
    for heads, a, d_out in [(1, 2, 3), (2, 1, 3), (3, 3, 3), (2, 2, 1)]:
        plain, other = (
            Transformer((3, d_out), (a,), 3, heads=heads, causal=mask)
            for mask in (False, True)
        )
        assert measure_dimension(plain).value == measure_dimension(other).value
