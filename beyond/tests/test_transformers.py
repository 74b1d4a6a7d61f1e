"""Everything in a Block, heads, skips and masks: transformers against torch, whole
numbers and balls."""

import random
import tracemalloc
from itertools import product

import definition
import flint
import numpy as np
import pytest
import torch
from flint import arb
from torch_blocks import BlockNetwork

from neuroviz.rank import estimate_cost, measure_dimension, outputs
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz.rank.outline import outline
from neuroviz.rank.point import Point, derivative, random_point
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.rotary import rotations

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
                yield Transformer((3, 3, 3), (2, 2), 3, kind, 2, skip, causal, block)


COMBINATIONS = list(every_combination())


def a_point(net, seed=0):
    rng = np.random.default_rng(seed)
    drawn = random_point(net, Reals(), rng)
    weights = {name: 0.5 * w for name, w in drawn.weights.items()}
    X = 0.7 * net.random_inputs(Reals(), 2, rng)
    return Point(net, Reals(), weights, drawn.constants), X, rng


@pytest.mark.parametrize("net", COMBINATIONS, ids=str)
def test_torch_and_numpy_agree_on_outputs_and_derivative(net):
    point, X, rng = a_point(net)
    again = BlockNetwork(net, point.weights)
    np.testing.assert_allclose(
        outputs(net, Reals(), point.weights, X),
        again(torch.from_numpy(X)).detach().numpy(),
        atol=1e-10,
    )
    cotangents = rng.standard_normal((2, 2, 3, 3))
    J = derivative(point, X, cotangents=cotangents)
    assert J.shape == (2, 2, net.num_parameters)
    names = [name.replace(".", "_") for name in net.parameter_shapes]
    for n, c in product(range(2), repeat=2):
        functional = (
            again(torch.from_numpy(X[n])) * torch.from_numpy(cotangents[n, c])
        ).sum()
        grads = torch.autograd.grad(functional, [again.weights[name] for name in names])
        np.testing.assert_allclose(
            J[n, c], torch.cat([g.reshape(-1) for g in grads]).numpy(), atol=1e-9
        )


@pytest.mark.parametrize(
    "block",
    [
        Block(rotary=True),
        Block(biases=True),
        Block(temperature=True),
        Block(positions=True),
        Block(mlp=(4, 2)),
    ],
    ids=str,
)
def test_each_switch_changes_the_function(block):
    plain = Transformer((3, 3, 3), (2, 2), 3, "softmax", 2)
    net = Transformer((3, 3, 3), (2, 2), 3, "softmax", 2, block=block)
    rng = np.random.default_rng(0)
    X = plain.random_inputs(Reals(), 1, rng)
    weights = random_point(net, Reals(), rng).weights
    with_it = outputs(net, Reals(), weights, X)
    without = outputs(plain, Reals(), weights, X)
    assert np.abs(with_it - without).max() > 1e-2


WHOLE = [
    net
    for net in COMBINATIONS
    if net.attention == "lightning"
    and not net.block.rotary
    and net.block.mlp != (3, 3)  # cubes leave float64
]


@pytest.mark.parametrize("net", WHOLE, ids=str)
def test_over_a_prime_field_it_is_the_same_polynomial(net):
    """Whole weights: the derivative over the reals is whole, and mod p it is that over
    F_p."""
    rng = np.random.default_rng(2)
    over = PrimeField()
    weights = {}
    for name, shape in net.parameter_shapes.items():
        weights[name] = rng.integers(-1, 2, shape).astype(float)
        if name.endswith("beta"):
            weights[name] = np.ones(shape)
    X = rng.integers(-1, 2, (2, 3, 3)).astype(float)
    real, modular = (derivative(Point(net, F, weights, {}), X) for F in (Reals(), over))
    assert 0 < np.abs(real).max() < 2**52
    np.testing.assert_array_equal(over.reduce(real), modular)


@pytest.mark.parametrize("seed", range(20))
def test_tokens_are_said_to_be_on_a_line_exactly_where_they_are(seed, monkeypatch):
    """Against the tokens themselves: heads leave the line, biases move it, behind them
    a power bends it."""
    rng = np.random.default_rng(seed)
    over = PrimeField()
    entered = []
    attention = Transformer._attention

    def listening(self, tape, w, X, heads, is_on_a_line):
        entered.append(X.value[0])
        return attention(self, tape, w, X, heads, is_on_a_line)

    monkeypatch.setattr(Transformer, "_attention", listening)

    def whole(least, most, *shape):
        return rng.integers(least, most + 1, shape).tolist()

    for _ in range(5):
        skip = bool(rng.random() < 0.4)
        widths = whole(1, 2, 5)
        heads = whole(1, 2, 4)
        if skip:
            widths = [whole(1, 2)] * 5
            heads = whole(1, 2)
        mlp = (whole(1, 2), whole(1, 3)) if rng.random() < 0.6 else None
        block = Block(value_dim=whole(1, 2), biases=bool(rng.integers(2)), mlp=mlp)
        net = Transformer(widths, (1,) * 4, 4, "softmax", heads, skip, block=block)
        entered.clear()
        weights = random_point(net, over, rng).weights
        outputs(net, over, weights, net.random_inputs(over, 1, rng), rng)
        seen = []
        for tokens in entered:
            beside = over.reduce(tokens - tokens[:, :1] * block.biases)
            seen.append(exact_rank(beside, over) <= 1)
        assert net.are_on_a_line == tuple(seen), net


ROTARY = [
    (Transformer((1, 3, 1), (2, 2), 2, heads=2, block=Block(rotary=True)), 7),
    (Transformer((1, 4, 2), (2, 2), 5, heads=(2, 3), block=Block(rotary=True)), 14),
    (Transformer((1, 2, 1), (4, 2), 3, heads=2, block=Block(rotary=True)), None),
    (
        Transformer(
            (1, 2, 1), (8, 4), 2, heads=1, causal=True, block=Block(rotary=True)
        ),
        None,
    ),
    (Transformer((2, 1, 2), (2, 4), 3, heads=(1, 2), block=Block(rotary=True)), None),
]


@pytest.mark.parametrize(("net", "known"), ROTARY, ids=str)
def test_layers_turn_by_the_same_angles(net, known):
    """Exact ranks against ball arithmetic with the real angles, from the definition,
    and against floats."""
    found = measure_dimension(net)
    assert found.value == rank_in_balls(net) and known in (None, found.value)
    assert 0 < found.error_bound < 1e-4 and "Lindemann" in found.note
    spectrum = measure_dimension(net, method="float")
    assert not spectrum.decided or spectrum.value == found.value


@pytest.mark.parametrize(
    ("tokens", "angle", "are_related"),
    [(2, 4, True), (3, 4, False), (2, 8, False)],
    ids=["good enough", "just not", "poor"],
)
def test_a_bound_above_a_millionth_is_taken_at_angles_in_general_position_instead(
    tokens, angle, are_related
):
    """Powers of one angle have a high degree: bounds of 5·10⁻⁷, 2·10⁻⁶ and 5·10⁻⁵ at
    two points."""
    net = Transformer((2, 2), (angle,), tokens, block=Block(rotary=True))
    found = measure_dimension(net)
    taken = net if are_related else net.relaxed()
    bound = schwartz_zippel(found.value, outline(taken).degree, DEFAULT_PRIME) ** 2
    assert found.error_bound == pytest.approx(bound)
    own = schwartz_zippel(found.value, outline(net).degree, DEFAULT_PRIME) ** 2
    assert (own > 1e-6) == (not are_related) and own < 1e-4


def test_angles_that_are_no_multiples_of_one_another_are_general_already():
    assert Transformer((2, 2), (2,), block=Block(rotary=True)).relaxed() is None
    assert Transformer((2, 2), (4,)).relaxed() is None


def rank_in_balls(arch, bits=600):
    """The rank at whole weights: pivots are balls without 0, so it is no less; what is
    dropped may be 0."""
    rng = random.Random(1)
    precision = flint.ctx.prec
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
        c = angle.cos()
        s = angle.sin()
        scaled = lambda y, factor: definition.Dual(y.value * factor, y.slope * factor)
        u = x[2 * k]
        v = x[2 * k + 1]
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
    over = PrimeField()
    rng = np.random.default_rng(0)
    turns = rotations(over, (8, 4), are_related=True, rng=rng)
    first = turns["1.R"].value
    second = turns["2.R"].value
    np.testing.assert_array_equal(second, first[[0, 2]])
    z = (int(first[1, 0]), int(first[1, 1]))
    power = (1, 0)
    for _ in range(10):
        power = (
            (power[0] * z[0] - power[1] * z[1]) % over.p,
            (power[0] * z[1] + power[1] * z[0]) % over.p,
        )
    assert power == tuple(int(x) % over.p for x in first[0])
    drawn = rotations(over, (8, 4), are_related=False, rng=rng)["1.R"].value
    assert len({tuple(point) for point in drawn.tolist()}) == 4


@pytest.mark.parametrize("p", [3, 5])
def test_small_primes_without_rotations_are_refused(p):
    net = Transformer((2, 2), (2,), block=Block(rotary=True))
    with pytest.raises(ValueError, match="need a prime of 7 or more"):
        measure_dimension(net, prime=p)


@pytest.mark.long
def test_the_attention_of_many_tokens_takes_a_bounded_memory_that_the_estimate_covers():
    """All 314 inputs at once took 883 MB."""
    block = Block(biases=True, value_dim=2)
    net = Transformer.uniform(
        4, 2, 2, tokens=96, attention="softmax", heads=4, skip=True, block=block
    )
    tracemalloc.start()
    measure_dimension(net)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5e8 and peak < 2 * estimate_cost(net).bytes
