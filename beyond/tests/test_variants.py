"""Heads, skips and masks: networks against the definition, formulas against exact
ranks."""

from itertools import product

import numpy as np
import pytest

import neuroviz as nv
import neuroviz_beyond as nb
from neuroviz.attention.expected import alpha
from neuroviz.attention.formulas import general_formula
from neuroviz.kit.measured import measure_dimension, rank_by_inputs
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.evaluate import (
    forward,
    random_weights,
)
from neuroviz_beyond.transformers.formulas import expected_dimension

KINDS = ("lightning", "softmax")
COMBINATIONS = [
    Transformer((3, 3, 3), (2, 1), 3, kind, heads, skip, causal)
    for kind, heads, skip, causal in product(
        KINDS, (1, 2, (1, 3)), (False, True), (False, True)
    )
] + [
    Transformer((4, 2, 3), (2, 1), 3, kind, (2, 1), False, causal)
    for kind in KINDS
    for causal in (False, True)
]


def a_network(arch, seed=0):
    rng = np.random.default_rng(seed)
    weights = random_weights(Reals(), arch, rng)
    weights = {name: 0.6 * matrix for name, matrix in weights.items()}
    return weights, 0.8 * arch.random_inputs(Reals(), 4, rng), rng


@pytest.mark.parametrize("arch", COMBINATIONS, ids=str)
def test_exact_and_decided_float_ranks_agree_and_so_does_another_prime(arch):
    found = measure_dimension(arch)
    assert (
        found.route == ("slice" if arch.is_plain else "weights")
        and found.error_bound < 1e-3
    )
    assert measure_dimension(arch, prime=8_388_587, seed=3).value == found.value
    seen = measure_dimension(arch, method="float")
    assert not seen.decided or seen.value == found.value
    assert rank_by_inputs(arch).ranks[-1] == found.value


def random_variants(count, seed):
    rng = np.random.default_rng(seed)
    found = []
    while len(found) < count:
        depth, d, tokens = (int(rng.integers(1, most)) for most in (4, 5, 5))
        skip = bool(rng.integers(2))
        causal = bool(rng.integers(2))
        kind = KINDS[int(rng.integers(2))]
        equal = skip or rng.random() < 0.6
        widths = (
            (d,) * (depth + 1)
            if equal
            else tuple(map(int, rng.integers(1, 5, depth + 1)))
        )
        head_dims, heads = (
            tuple(map(int, rng.integers(1, most, depth))) for most in (5, 4)
        )
        arch = Transformer(widths, head_dims, tokens, kind, heads, skip, causal)
        found += [] if arch.is_plain else [arch]
    return found


@pytest.mark.parametrize("seed", range(2))
def test_wherever_there_is_a_formula_it_is_what_is_measured(seed):
    answered = 0
    for arch in random_variants(120, seed):
        theory = expected_dimension(arch)
        if theory.value is None:
            assert theory.status == "no formula"
            continue
        answered += 1
        assert measure_dimension(arch).value == theory.value, (str(arch), theory)
    assert answered > 40


def test_heads_of_lightning_blend_from_some_number_on_also_when_they_are_not_full():
    """d = 3, a = 2, three heads: a formula that lets heads blend at a = d only would be
    6 too large."""
    arch = Transformer.uniform(3, 2, 2, heads=3)
    assert measure_dimension(arch).value == expected_dimension(arch).value == 81
    assert 2 * 3 * (alpha(2, 3) + 9) - 9 - 2 * 3 == 81 + 6


def test_blending_heads_leave_the_function_alone():
    """a = d: A_h → Σ g_hk A_k and V_h → Σ (g⁻ᵀ)_hk V_k is a symmetry, and with other
    matrices it is not."""
    arch = Transformer((3, 3), (3,), heads=2)
    weights, X, rng = a_network(arch)
    g = rng.standard_normal((2, 2))
    A = np.einsum("hai,haj->hij", weights["1.K"], weights["1.Q"])
    V = weights["1.V"]
    blended = np.einsum("hk,kij->hij", g, A)

    def network(matrices, V):
        eye = np.broadcast_to(np.eye(3), (2, 3, 3))
        return forward(Reals(), arch, {"1.Q": matrices, "1.K": eye, "1.V": V}, X)

    before = network(A, V)
    after = network(blended, np.einsum("hk,kij->hij", np.linalg.inv(g).T, V))
    np.testing.assert_allclose(before, after, atol=1e-12)
    assert (
        np.abs(
            before - network(blended, np.einsum("hk,kij->hij", np.linalg.inv(g), V))
        ).max()
        > 1e-3
    )


def test_at_the_border_heads_cannot_blend_but_can_be_exchanged_for_another():
    """d = 3, a = 2, H = 2: det(x A₁ + y A₂) = 0 has three roots, and any two of them
    will do as heads."""
    rng = np.random.default_rng(0)
    A1, A2 = rng.standard_normal((2, 3, 2)) @ rng.standard_normal((2, 2, 3))
    V1, V2 = rng.standard_normal((2, 3, 3))
    # det(A₁ + x A₂) = x (p + q x), as both ends of the pencil have rank 2
    p, q = np.linalg.solve(
        [[1, 1], [-1, 1]], [np.linalg.det(A1 + A2), np.linalg.det(A1 - A2)]
    )
    A3 = A1 - p / q * A2
    assert [
        np.linalg.matrix_rank(M, tol=1e-9) for M in (A1, A3, A1 - 2 * p / q * A2)
    ] == [2, 2, 3]

    def function(V, A):
        return np.einsum("hij,hkl->ijkl", np.stack(V), np.stack(A))

    before = function([V1, V2], [A1, A2])
    np.testing.assert_allclose(
        function([V1 + q / p * V2, -q / p * V2], [A1, A3]), before, atol=1e-12
    )


def test_outside_what_is_known_nothing_is_claimed_and_the_number_is_measured():
    arch = Transformer((3, 4, 5), (2, 2), heads=2)  # no bottleneck
    assert expected_dimension(arch).value is None and measure_dimension(arch).value > 0
    collapsed = Transformer((3, 3, 3), (1, 2), heads=(1, 2))
    assert expected_dimension(collapsed).value is None
    # a collapse costs
    assert measure_dimension(collapsed).value < 2 * 9 + 5 + 2 * (8 + 9) - 3


def test_a_mask_on_a_single_token_is_none():
    masked = Transformer((3, 2, 3), (2, 2), 1, causal=True)
    assert expected_dimension(masked) == general_formula(masked.paper)


def test_sweeps_know_variants():
    blocks = [
        Block(),
        Block(value_dim=2, biases=True),
        Block(mlp=(3, 2), positions=True),
    ]
    with_blocks = [
        Transformer.uniform(3, 2, 2, attention=kind, block=b)
        for kind in KINDS
        for b in blocks
    ]
    found = nb.sweep(random_variants(10, 9) + with_blocks, progress=False)
    assert not found.failed
    assert all(r.expected in (None, r.value) for r in found)
    again = [nb.Record.from_json(r.to_json()) for r in found]
    assert tuple(again) == found.records


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"heads": 0}, "heads"),
        ({"heads": True}, "heads"),
        ({"heads": (1, 2, 3)}, "one for each of 2"),
        ({"heads": 1.5}, "heads"),
        ({"skip": 1}, "skip is True or False"),
        ({"causal": "yes"}, "causal is True or False"),
        ({"widths": (3, 2, 3), "skip": True}, "all widths must be equal"),
    ],
)
def test_bad_variants_are_refused(arguments, words):
    with pytest.raises(ValueError, match=words):
        Transformer(**{"widths": (3, 3, 3), "head_dims": (2, 2)} | arguments)


@pytest.mark.parametrize("ask", [nv.general_formula, nv.paper_formula])
def test_what_knows_the_paper_only_says_so(ask):
    said = "needs an Architecture; got Transformer: .* knows networks with heads"
    with pytest.raises(ValueError, match=said):
        ask(Transformer((3, 3), (2,), heads=2))
