"""Everything in a Block, heads, skips and masks: the engine against torch, whole
numbers and balls."""

import random
from dataclasses import replace
from itertools import product

import definition
import flint
import numpy as np
import pytest
import torch
from flint import arb
from torch_blocks import BlockNetwork

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.measure import clear_cache, measure_dimension
from neuroviz.engine.network import (
    block_degree,
    forward,
    jacobian,
    on_a_line,
    random_block_weights,
    random_tokens,
)
from neuroviz.attention.modules import AttentionNetwork
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals

KINDS = ("lightning", "softmax")
SWITCHES = ("rotary", "biases", "temperature", "positions")


def every_combination():
    """All 2⁴ switches, both kinds, with and without value rank, groups, MLP, skip and
    mask."""
    wiring = product((False, True), repeat=2)
    for kind, on, (skip, causal) in product(
        KINDS, product((False, True), repeat=4), wiring
    ):
        values = ({}, {"value_dim": 1}, {"value_dim": 2, "kv_heads": 1})
        for more in values:
            for mlp in (None, (4, 2), (3, 3)):
                block = Block(**more, mlp=mlp, **dict(zip(SWITCHES, on, strict=True)))
                yield Architecture((3, 3, 3), (2, 2), 3, kind, 2, skip, causal, block)


COMBINATIONS = list(every_combination())


def a_network(arch, seed=0):
    rng = np.random.default_rng(seed)
    weights = {
        n: w if n.endswith("R") else 0.5 * w
        for n, w in random_block_weights(Reals(), arch, rng).items()
    }
    return weights, 0.7 * random_tokens(Reals(), arch, 2, rng), rng


@pytest.mark.parametrize("arch", COMBINATIONS, ids=str)
def test_torch_and_numpy_agree_on_forward_and_derivative(arch):
    weights, X, rng = a_network(arch)
    net = BlockNetwork(arch, weights)
    Y = net(torch.from_numpy(X))
    np.testing.assert_allclose(
        forward(Reals(), arch, weights, X, None), Y.detach().numpy(), atol=1e-10
    )
    cotangents = rng.standard_normal((2, 2, 3, 3))
    J = jacobian(Reals(), arch, weights, X, cotangents)
    assert J.shape == (2, 2, arch.num_parameters)
    names = [name.replace(".", "_") for name in arch.parameter_shapes]
    for n, c in product(range(2), repeat=2):
        functional = (
            net(torch.from_numpy(X[n])) * torch.from_numpy(cotangents[n, c])
        ).sum()
        grads = torch.autograd.grad(functional, [net.weights[name] for name in names])
        np.testing.assert_allclose(
            J[n, c], torch.cat([g.reshape(-1) for g in grads]).numpy(), atol=1e-9
        )


def test_each_switch_changes_the_function():
    plain = Architecture((3, 3, 3), (2, 2), 3, "softmax", 2)
    rng = np.random.default_rng(0)
    X = random_tokens(Reals(), plain, 1, rng)
    for block in (
        Block(rotary=True),
        Block(biases=True),
        Block(temperature=True),
        Block(positions=True),
        Block(mlp=(4, 2)),
    ):
        arch = Architecture((3, 3, 3), (2, 2), 3, "softmax", 2, block=block)
        weights = random_block_weights(Reals(), arch, rng)
        without = {name: weights[name] for name in plain.parameter_shapes}
        Y = forward(Reals(), arch, weights, X, None)
        Z = forward(Reals(), plain, without, X, None)
        assert np.abs(Y - Z).max() > 1e-2, block


WHOLE = [
    a
    for a in COMBINATIONS
    if a.attention == "lightning"
    and not a.block.rotary
    and a.block.mlp != (3, 3)  # cubes leave float64
]


@pytest.mark.parametrize("arch", WHOLE, ids=str)
def test_over_a_prime_field_it_is_the_same_polynomial(arch):
    """Whole weights: the derivative over the reals is whole, and mod p it is that over
    F_p."""
    rng, over = np.random.default_rng(2), PrimeField()
    weights = {
        n: rng.integers(-1, 2, shape).astype(float)
        for n, shape in arch.parameter_shapes.items()
    }
    weights |= {
        n: np.ones(shape)
        for n, shape in arch.parameter_shapes.items()
        if n.endswith("beta")
    }
    X = rng.integers(-1, 2, (2, 3, 3)).astype(float)
    real, modular = (jacobian(F, arch, weights, X) for F in (Reals(), over))
    assert 0 < np.abs(real).max() < 2**52
    np.testing.assert_array_equal(over.reduce(real), modular)


@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_said_to_be_on_a_line_exactly_where_they_are(seed):
    """Against the tokens themselves: heads leave the line, biases move it, behind them
    a power bends it."""
    rng = np.random.default_rng(seed)

    def whole(least, most, *shape):
        return rng.integers(least, most + 1, shape).tolist()

    for _ in range(5):
        skip = bool(rng.random() < 0.4)
        widths, heads = (
            ([whole(1, 2)] * 5, whole(1, 2))
            if skip
            else (whole(1, 2, 5), whole(1, 2, 4))
        )
        mlp = (whole(1, 2), whole(1, 3)) if rng.random() < 0.6 else None
        block = Block(value_dim=whole(1, 2), biases=bool(rng.integers(2)), mlp=mlp)
        arch = Architecture(widths, (1,) * 4, 4, "softmax", heads, skip, block=block)
        over, seen = PrimeField(), []
        weights = random_block_weights(over, arch, rng)
        X = random_tokens(over, arch, 1, rng)
        for i in range(4):
            tokens = X[0]
            if i:
                part = replace(
                    arch,
                    widths=arch.widths[: i + 1],
                    head_dims=(1,) * i,
                    heads=arch.heads[:i],
                )
                tokens = forward(over, part, weights, X, rng)[0]
            seen.append(
                exact_rank(over.reduce(tokens - tokens[:, :1] * block.biases), over)
                <= 1
            )
        assert on_a_line(arch) == tuple(seen), arch


ROTARY = [
    (Architecture((1, 3, 1), (2, 2), 2, heads=2, block=Block(rotary=True)), 7),
    (Architecture((1, 4, 2), (2, 2), 5, heads=(2, 3), block=Block(rotary=True)), 14),
    (Architecture((1, 2, 1), (4, 2), 3, heads=2, block=Block(rotary=True)), None),
    (
        Architecture(
            (1, 2, 1), (8, 4), 2, heads=1, causal=True, block=Block(rotary=True)
        ),
        None,
    ),
    (Architecture((2, 1, 2), (2, 4), 3, heads=(1, 2), block=Block(rotary=True)), None),
]


@pytest.mark.parametrize(("arch", "known"), ROTARY, ids=str)
def test_layers_turn_by_the_same_angles(arch, known):
    """Exact ranks against ball arithmetic with the real angles, from the definition,
    and against floats."""
    found = measure_dimension(arch)
    assert found.value == rank_in_balls(arch) and known in (None, found.value)
    assert 0 < found.error_bound < 1e-4 and "Lindemann" in found.note
    spectrum = measure_dimension(arch, method="float")
    assert not spectrum.decided or spectrum.value == found.value


@pytest.mark.parametrize(
    ("tokens", "angle", "related"),
    [(2, 4, True), (3, 4, False), (2, 8, False)],
    ids=["good enough", "just not", "poor"],
)
def test_a_bound_above_a_millionth_is_taken_at_angles_in_general_position_instead(
    tokens, angle, related
):
    """Powers of one angle have a high degree: bounds of 5·10⁻⁷, 2·10⁻⁶ and 5·10⁻⁵ at
    two points."""
    arch = Architecture((2, 2), (angle,), tokens, block=Block(rotary=True))
    found = measure_dimension(arch)
    degree = block_degree(arch, related=related)
    bound = schwartz_zippel(found.value, degree, DEFAULT_PRIME) ** 2
    assert found.error_bound == pytest.approx(bound)
    at_the_angles = schwartz_zippel(found.value, block_degree(arch), DEFAULT_PRIME) ** 2
    assert (at_the_angles > 1e-6) == (not related) and at_the_angles < 1e-4


def rank_in_balls(arch, bits=600):
    """The rank at whole weights: pivots are balls without 0, so it is no less; what is
    dropped may be 0."""
    rng, precision = random.Random(1), flint.ctx.prec
    flint.ctx.prec = bits
    try:
        number = lambda: arb(rng.randint(-9, 9) or 1)
        flat = np.full(arch.num_parameters, arb(0), dtype=object)
        column = iter(range(arch.num_parameters))

        def parameter():
            slope = flat.copy()
            slope[next(column)] = arb(1)
            return definition.Dual(number(), slope)

        matrix = lambda rows, columns: [
            [parameter() for _ in range(columns)] for _ in range(rows)
        ]
        layers = [
            (a, [(matrix(a, d), matrix(a, d), matrix(out, d)) for _ in range(H)])
            for H, (d, out, a) in zip(arch.heads, arch.layers, strict=True)
        ]
        rows = []
        while len(rows) < arch.num_parameters + 2:
            tokens = [
                [definition.Dual(number(), flat) for _ in range(arch.widths[0])]
                for _ in range(arch.tokens)
            ]
            for a, heads in layers:
                tokens = attended(tokens, heads, a, arch.causal)
            rows += [list(x.slope) for token in tokens for x in token]
        return definition.rank(rows, is_zero=lambda x: x.contains(0))
    finally:
        flint.ctx.prec = precision


def attended(tokens, heads, a, causal):
    """Lightning with rotary positions: Σ_h Σ_j (R_j K_h x_j)ᵀ (R_i Q_h x_i) V_h x_j."""
    after = []
    for i, x_i in enumerate(tokens):
        terms = []
        for Q, K, V in heads:
            query = turned(definition.apply(Q, x_i), i, a)
            for j, x_j in enumerate(tokens[: i + 1] if causal else tokens):
                share = definition.dot(turned(definition.apply(K, x_j), j, a), query)
                terms.append([share * y for y in definition.apply(V, x_j)])
        after.append([definition.total(column) for column in zip(*terms, strict=True)])
    return after


def turned(x, place, a):
    for k in range(a // 2):
        angle = place * arb(10_000) ** (arb(-2 * k) / a)
        c, s = angle.cos(), angle.sin()
        scaled = lambda y, factor: definition.Dual(y.value * factor, y.slope * factor)
        u, v = x[2 * k], x[2 * k + 1]
        x = [
            *x[: 2 * k],
            scaled(u, c) + scaled(v, -s),
            scaled(u, s) + scaled(v, c),
            *x[2 * k + 2 :],
        ]
    return x


def test_angles_that_are_multiples_of_one_another_have_points_that_are_powers():
    """For a = 8 and 4 the angles are 1, 0.1, 0.01, 0.001 and 1, 0.01: a whole turn of
    the smallest each."""
    arch, over = Architecture((2, 2, 2), (8, 4), block=Block(rotary=True)), PrimeField()
    weights = random_block_weights(over, arch, np.random.default_rng(0))
    first, second = weights["1.R"], weights["2.R"]
    np.testing.assert_array_equal(second, first[[0, 2]])
    z = (int(first[1, 0]), int(first[1, 1]))
    power = (1, 0)
    for _ in range(10):
        power = (
            (power[0] * z[0] - power[1] * z[1]) % over.p,
            (power[0] * z[1] + power[1] * z[0]) % over.p,
        )
    assert power == tuple(int(x) % over.p for x in first[0])
    drawn = random_block_weights(over, arch, np.random.default_rng(0), related=False)
    assert len({tuple(point) for point in drawn["1.R"].tolist()}) == 4


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Block(value_dim=0), "value_dim must be a whole number"),
        (lambda: Block(kv_heads=2), "give value_dim, too"),
        (lambda: Block(rotary=1), "rotary is True or False"),
        (lambda: Block(mlp=3), r"mlp is \(hidden width, power\)"),
        (lambda: Block(mlp=(3, 0)), "power must be a whole number"),
        (lambda: Architecture((3, 3), (3,), block=Block(rotary=True)), "in pairs"),
        (
            lambda: Architecture((3, 3), (2,), heads=3, block=Block(1, 2)),
            "divides the heads",
        ),
        (
            lambda: Architecture((3, 3), (2,), block={"biases": True}),
            "block is a Block",
        ),
        (
            lambda: AttentionNetwork(Architecture((3, 3), (2,), block=Block(1))),
            "has Q, K and V only; got",
        ),
    ],
)
def test_bad_blocks_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


ON_A_LINE = [
    Architecture(
        (1,) * (depth + 1),
        (a,) * depth,
        t,
        "softmax",
        heads,
        skip,
        causal,
        Block(biases=True, **more),
    )
    for depth, a, t, heads, skip, causal in (
        (1, 1, 3, 1, False, False),
        (1, 2, 4, 2, True, False),
        (2, 1, 3, 1, False, True),
        (2, 1, 3, 2, True, False),
        (2, 2, 4, 1, True, False),
    )
    for more in ({}, {"temperature": True}, {"positions": True})
]


@pytest.mark.parametrize("arch", ON_A_LINE, ids=str)
def test_biases_on_a_line_leave_the_free_exponentials_symmetric(arch):
    """Such exponentials have the rank of the reals."""
    clear_cache()
    found, seen = measure_dimension(arch), measure_dimension(arch, method="float")
    assert seen.gap < 1e4 or seen.value == found.value
    assert found.value == measure_dimension(arch, prime=8_388_587, seed=1).value


@pytest.mark.parametrize(
    "arch", [arch for arch in ON_A_LINE if not arch.causal], ids=str
)
def test_biases_on_a_line_add_a_factor_of_each_token_that_no_share_feels(
    arch, monkeypatch
):
    """E_ji G_j has the columns of E_ji G_j G_i, symmetric again; so S₁₂S₂₃S₃₁ =
    S₂₁S₃₂S₁₃ over the reals."""
    seen, softmax = [], Reals.softmax
    monkeypatch.setattr(
        Reals, "softmax", lambda *some: seen.append(softmax(*some)) or seen[-1]
    )
    rng = np.random.default_rng(0)
    weights = random_block_weights(Reals(), arch, rng)
    X = random_tokens(Reals(), arch, 5, rng)
    forward(Reals(), arch, weights, X)
    assert len(seen) == arch.num_layers
    for S in seen:
        there = S[..., 0, 1] * S[..., 1, 2] * S[..., 2, 0]
        back = S[..., 1, 0] * S[..., 2, 1] * S[..., 0, 2]
        np.testing.assert_allclose(there, back, rtol=1e-9)
        assert (np.abs(S[..., 0, 1] / S[..., 1, 0] - 1) > 1e-6).any()
