"""Eq. 10, 11 and 12 are one function; Eq. 13 and Eq. 28; and what Figure 4's reflection
does."""

from itertools import product

import numpy as np
import pytest
from definition import factors

from neuroviz.attention import Architecture, unrolling
from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.attention.unrolling import (
    Factor,
    balancing_factor,
    link_values,
    mirror,
    part_linear_in_one_token,
    reflect,
    sum_form,
    term,
    token_form,
    unroll,
)
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz_beyond.transformers.evaluate import forward, random_weights

F = PrimeField()
NETWORKS = [
    ((3, 2), (2,), 3),
    ((3, 1, 2), (1, 3), 1),
    ((3, 2, 3), (2, 1), 3),
    ((2, 4, 1), (3, 2), 2),
    ((4, 3, 3, 2), (2, 2, 3), 3),
    ((3, 2, 4, 2, 3, 2), (2, 1, 2, 3, 1), 4),
    ((2, 3, 2, 2, 2, 2, 2), (2, 2, 1, 2, 2, 2), 2),
]


def draw(widths, head_dims, tokens, seed=0):
    """Random weights over F_p, their virtual weights, and one input."""
    arch = Architecture(widths, head_dims, tokens)
    rng = np.random.default_rng(seed)
    weights = random_weights(F, arch, rng)
    return weights, virtual_weights(F, weights), arch.random_inputs(F, 1, rng)[0]


def product_form(over, virtual, X):
    """Eq. 10: with G_0 = XXᵀ and G_i = G_{i−1} M_i G_{i−1} M_iᵀ G_{i−1}, φ = L G_{l−1}
    M_l ⋯ G_0 M_1 X."""
    mul = over.matmul
    G = over.matmul(X, X.T)
    Y = X
    for M in virtual.M:
        Y = mul(mul(G, M), Y)
        G = mul(mul(mul(mul(G, M), G), M.T), G)
    return mul(virtual.L, Y)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_the_network_is_one_product_of_its_virtual_weights(network):
    """Lemma 3.6, Eq. 10 and 11, against the layers one after the other, exactly, for up
    to six layers."""
    weights, virtual, X = draw(*network)
    layered = forward(F, "lightning", weights, X[None])[0]
    assert (product_form(F, virtual, X) == layered).all()
    assert (token_form(F, virtual, X) == layered).all()
    assert layered.any()


@pytest.mark.parametrize(
    "network",
    [n for n in NETWORKS if len(n[1]) < 3] + [((2, 3, 2, 2), (2, 1, 2), 2)],
    ids=str,
)
def test_the_network_is_one_sum_over_all_multi_indices(network):
    """Eq. 12 by brute force: 8,192 terms for each token with three layers."""
    weights, virtual, X = draw(*network)
    assert (
        sum_form(F, virtual, X) == forward(F, "lightning", weights, X[None])[0]
    ).all()


def test_a_wrong_transpose_would_be_seen(monkeypatch):
    from neuroviz.attention import unrolling

    _, virtual, X = draw((3, 2, 3), (2, 1), 3)
    honest = sum_form(F, virtual, X)
    monkeypatch.setattr(
        unrolling, "unroll", lambda n: tuple(Factor(h, False) for h, _ in unroll(n))
    )
    assert (sum_form(F, virtual, X) != honest).any()


@pytest.mark.parametrize("layers", range(1, 7))
def test_the_ternary_rule_is_the_recursion(layers):
    assert list(map(tuple, unroll(layers))) == factors(layers)
    assert len(unroll(layers)) == (3**layers - 1) // 2


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_a_reflection_transposes_one_factor_and_nothing_else(layers):
    """For every place, over indices with equal ends of the window."""
    _, virtual, X = draw((3,) * (layers + 1), (2,) * layers, 3)
    rng = np.random.default_rng(1)
    factors = unroll(layers)
    N = [F.matmul(X.T, F.matmul(M, X)) for M in virtual.M]
    for place in range(1, len(factors) + 1):
        indices = rng.integers(0, 3, len(factors) + 1).tolist()
        window = mirror(layers, place)
        indices[window[-1] - 1] = indices[window[0] - 1]
        turned = reflect(layers, indices, place)
        before, after = (link_values(F, virtual, X, j) for j in (indices, turned))
        others = [
            [v for k, v in enumerate(links, 1) if k != place]
            for links in (before, after)
        ]
        assert sorted(others[0]) == sorted(others[1])
        h, transposed = factors[place - 1]
        j = indices[place - 1]
        i = indices[place]
        assert before[place - 1] == N[h - 1][(i, j) if transposed else (j, i)]
        assert after[place - 1] == N[h - 1][(j, i) if transposed else (i, j)]
        assert reflect(layers, turned, place) == tuple(indices)


def test_a_reflection_with_unequal_ends_changes_the_neighbours():
    _, virtual, X = draw((3, 3, 3), (2, 2), 3)
    indices = (0, 1, 2, 2, 0)  # the window around place 3 is (1, 2, 2, 0)
    before, after = (
        link_values(F, virtual, X, j) for j in (indices, reflect(2, indices, 3))
    )
    assert sorted(v for k, v in enumerate(before) if k != 2) != sorted(
        v for k, v in enumerate(after) if k != 2
    )


def test_terms_with_an_antisymmetric_factor_cancel_in_pairs():
    """M_2 antisymmetric: a term and its reflection at M_2's place add up to zero."""
    _, virtual, X = draw((3, 3, 3), (2, 2), 2)
    M = virtual.M[1]
    antisymmetric = VirtualWeights(virtual.L, (virtual.M[0], F.reduce(M - M.T)))
    for j in product(range(2), repeat=5):
        indices = (*j[:4], j[1])  # equal ends around place 3
        both = term(F, antisymmetric, X, indices) + term(
            F, antisymmetric, X, reflect(2, indices, 3)
        )
        assert (F.reduce(both) == 0).all()


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_the_balancing_factor_keeps_the_function(layers):
    """Eq. 13, exactly; and one factor more does not."""
    _, virtual, X = draw((3,) * (layers + 1), (2,) * layers, 2)
    factors = np.random.default_rng(2).integers(2, 50, layers).astype(float)
    scaled = tuple(F.reduce(f * M) for f, M in zip(factors, virtual.M, strict=True))
    balance = balancing_factor(F, factors)
    kept = VirtualWeights(F.reduce(balance * virtual.L), scaled)
    assert (token_form(F, kept, X) == token_form(F, virtual, X)).all()
    off = VirtualWeights(F.reduce(2 * balance * virtual.L), scaled)
    assert (token_form(F, off, X) != token_form(F, virtual, X)).any()


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_eq_28_is_the_part_linear_in_one_token(layers):
    """Extracted from the network itself: interpolation in s of the output of token s·x
    beside y."""
    weights, virtual, X = draw((3,) * (layers + 1), (2,) * layers, 2)
    y, x = X[:, 0], X[:, 1]
    degree = 3**layers
    p = DEFAULT_PRIME
    points = np.arange(degree + 1)
    inputs = np.stack([np.stack([y, F.reduce(s * x)], axis=1) for s in points])
    outputs = forward(F, "lightning", weights, inputs)[:, :, 1]
    # Lagrange: the coefficient of s is Σ_s output(s) · [s^1] of the basis polynomial.
    total = 0
    for s in points.tolist():
        numerator = [1]
        denominator = 1
        for r in points.tolist():
            if r != s:
                shifted = [0, *numerator]
                numerator = [
                    (a - r * b) % p
                    for a, b in zip(shifted, [*numerator, 0], strict=True)
                ]
                denominator = denominator * (s - r) % p
        weight = numerator[1] * pow(denominator, -1, p) % p
        total = (total + outputs[s].astype(int) * weight) % p
    expected = part_linear_in_one_token(F, virtual, y, x)
    assert (F.reduce(total.astype(float)) == expected).all() and expected.any()


def test_a_sum_of_up_to_two_million_terms_is_added_one_by_one(monkeypatch):
    """One layer has t² terms: 1,000 tokens a million of them, 1,415 just above two."""
    added = []
    monkeypatch.setattr(unrolling, "term", lambda *_: added.append(1) or np.zeros(1))
    one_layer = draw((1, 1), (1,), 1)[1]
    assert (
        sum_form(F, one_layer, np.ones((1, 1000))).shape == (1, 1000)
        and len(added) == 10**6
    )
    with pytest.raises(ValueError, match=r"1415\^1 terms for each of 1415 outputs"):
        sum_form(F, one_layer, np.ones((1, 1415)))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: unroll(0), "from 1 to 12"),
        (lambda: unroll(True), "from 1 to 12"),
        (lambda: unroll(13), "from 1 to 12"),
        (lambda: mirror(2, 0), "go from 1 to 4; got 0"),
        (lambda: balancing_factor(Reals(), [1.0, 0.0]), "not zero"),
        (
            lambda: term(F, draw((2, 2, 2), (1, 1), 2)[1], np.eye(2), (0, 1)),
            "needs 5 tokens, each from 0",
        ),
        (
            lambda: term(F, draw((2, 2), (1,), 2)[1], np.eye(2), (0, 2)),
            "needs 2 tokens",
        ),
        (
            lambda: sum_form(F, draw((2,) * 5, (1,) * 4, 3)[1], np.ones((2, 3))),
            "too many to add one by one",
        ),
    ],
)
def test_what_does_not_fit_is_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
