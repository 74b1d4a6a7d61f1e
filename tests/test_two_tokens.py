"""Two tokens with free exponentials: a plain softmax network says the same, and so do
dual numbers."""

from itertools import product
from math import inf

import numpy as np
import pytest
import torch

from neuroviz.attention.dual import Dual
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.softmax.two_tokens import (
    FROZEN,
    Shares,
    along_line,
    attention,
    exponentials,
    follow,
    free_jacobian,
    logits,
    shares,
    softmax_shares,
)

F = PrimeField()
R = Reals()
SIZES = [(1, 1, 1), (1, 3, 2), (2, 1, 3), (3, 3, 1), (3, 2, 2)]


def draw(seed, *shape, over=F):
    return over.random(np.random.default_rng(seed), shape)


def network(width, rows, layers, seed=0, over=R):
    M = draw([seed, 1], layers, width, width, over=over)
    return VirtualWeights(draw([seed, 2], rows, width, over=over), tuple(M))


def plain_softmax(L, Ms, X, causal):
    """L X_l on (x_1, x_2): nothing is said about P and Q here."""
    # key j > query i
    hidden = torch.tril(torch.ones(X.shape[1], X.shape[1]), -1).bool()
    for M in Ms:
        scores = X.T @ M @ X
        if causal:
            scores = scores.masked_fill(hidden, -inf)
        X = X @ torch.softmax(scores, dim=0)
    return L @ X


@pytest.mark.parametrize(("width", "rows", "layers"), SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_with_the_true_shares_it_is_the_derivative_of_the_plain_network(
    width, rows, layers, causal
):
    virtual = network(width, rows, layers)
    X = 0.7 * draw(3, 4, width, 2, over=R)
    functionals = draw(4, 4, rows, 2, over=R)
    given = softmax_shares(virtual.M, X, causal)
    J = free_jacobian(R, virtual, X, given, functionals)
    L, *Ms = (
        torch.tensor(matrix, requires_grad=True) for matrix in (virtual.L, *virtual.M)
    )
    tokens = follow(R, given, X)[-1]
    for row, x, functional, after in zip(J, X, functionals, tokens, strict=True):
        out = plain_softmax(L, Ms, torch.tensor(x), causal)
        found = torch.autograd.grad((out * torch.tensor(functional)).sum(), [*Ms, L])
        np.testing.assert_allclose(
            row, np.concatenate([one.ravel() for one in found]), atol=1e-10
        )
        np.testing.assert_allclose(virtual.L @ after, out.detach(), atol=1e-12)


def test_with_other_shares_it_is_not():
    virtual = network(2, 2, 2)
    X = draw(3, 4, 2, 2, over=R)
    functionals = draw(4, 4, 2, 2, over=R)
    true = softmax_shares(virtual.M, X)
    masked = softmax_shares(virtual.M, X, causal=True)
    one, other = (
        free_jacobian(R, virtual, X, given, functionals) for given in (true, masked)
    )
    assert np.abs(one - other).max() > 0.01


@pytest.mark.parametrize(("width", "rows", "layers"), SIZES)
@pytest.mark.parametrize("causal", [False, True])
def test_over_a_prime_field_dual_numbers_find_the_same_derivative(
    width, rows, layers, causal
):
    """With P and Q as numbers whose slopes are P p˙ and Q q˙, and the shares as
    fractions in them."""
    virtual, move = (network(width, rows, layers, seed, F) for seed in (0, 1))
    X = draw(3, width, 2)
    functional = draw(4, rows, 2)
    exps = draw(5, layers, 2)

    def dual(value, slope):
        return np.vectorize(lambda v, s: Dual(int(v), int(s)), otypes=[object])(
            value, slope
        )

    L = dual(virtual.L, move.L)
    tokens = dual(X, np.zeros_like(X))
    given = []
    for M, M_dot, (P, Q) in zip(virtual.M, move.M, exps, strict=True):
        M = dual(M, M_dot)
        x = tokens[:, 0]
        y = tokens[:, 1]
        p = (y - x) @ M @ x
        q = (x - y) @ M @ y
        P, Q = (Dual(int(e), int(e) * logit.slope) for e, logit in ((P, p), (Q, q)))
        mu = P / (1 + P)
        nu = Q / (1 + Q)
        if causal:
            mu = Dual(0)
        given.append(Shares(float(mu.value), float(nu.value)))
        tokens = np.stack([x + (y - x) * mu, y + (x - y) * nu], axis=-1)
    expected = (functional * (L @ tokens)).sum()
    row = free_jacobian(F, virtual, X[None], given, functional[None])
    direction = np.concatenate([*(one.ravel() for one in move.M), move.L.ravel()])
    assert F.matmul(row, direction[:, None])[0, 0] % F.p == expected.slope


def test_the_tokens_stay_on_their_line_and_the_determinant_scales_their_difference():
    virtual = network(3, 3, 3)
    X = draw(1, 5, 3, 2, over=R)
    given = softmax_shares(virtual.M, X)
    tokens = follow(R, given, X)
    apart = X[..., 0] - X[..., 1]
    for one, before, after in zip(given, tokens[:-1], tokens[1:], strict=True):
        S = attention(R, one)
        np.testing.assert_allclose(S.sum(axis=-2), 1)
        np.testing.assert_allclose(np.linalg.det(S), 1 - one.mu - one.nu, atol=1e-12)
        difference = after[..., 0] - after[..., 1]
        was = before[..., 0] - before[..., 1]
        np.testing.assert_allclose(
            difference, np.linalg.det(S)[:, None] * was, atol=1e-12
        )
        for j in (0, 1):  # on the segment: a share between 0 and 1 of the way
            way = X[..., 0] - after[..., j]
            share = (way * apart).sum(-1) / (apart**2).sum(-1)
            np.testing.assert_allclose(way, share[:, None] * apart, atol=1e-12)
            assert (share >= 0).all() and (share <= 1).all()


def test_a_frozen_layer_does_nothing_and_hides_its_weights():
    virtual = network(2, 2, 1, over=F)
    X = draw(1, 5, 2, 2)
    np.testing.assert_array_equal(follow(F, [FROZEN], X)[-1], X)
    J = free_jacobian(F, virtual, X, [FROZEN], draw(2, 5, 2, 2))
    assert not J[:, :4].any() and J[:, 4:].any()


def test_a_saturated_layer_sends_both_tokens_to_one_of_them():
    X = draw(1, 5, 2, 2, over=R)
    for given, token in ((shares(0.0, inf), 0), (shares(inf, 0.0), 1)):
        after = follow(R, [given], X)[-1]
        for j in (0, 1):
            np.testing.assert_array_equal(after[..., j], X[..., token])


def test_under_a_mask_the_first_token_stays_and_the_second_meets_it_in_the_limit():
    virtual = network(2, 2, 3)
    X = draw(1, 5, 2, 2, over=R)
    given = softmax_shares(virtual.M, X, causal=True)
    for tokens in follow(R, given, X):
        np.testing.assert_array_equal(tokens[..., 0], X[..., 0])
        assert np.abs(tokens[..., 1] - X[..., 0]).max() > 1e-3
    assert shares(3.0, inf, causal=True) == (0.0, 1.0)


def test_shares_and_exponentials_are_inverse_to_each_other():
    for P, Q in product((0.0, 0.25, 1.0, 8.0, inf), repeat=2):
        assert exponentials(shares(P, Q)) == pytest.approx((P, Q))


def test_the_two_logits_sum_to_a_form_that_sees_the_symmetric_part_only():
    M = draw(1, 3, 3)
    X = draw(2, 6, 3, 2)
    apart = F.reduce(X[..., 0] - X[..., 1])[..., None]
    p, q = logits(F, M, X)
    form = F.matmul(F.matmul(np.swapaxes(apart, -1, -2), M), apart)[:, 0, 0]
    assert not F.reduce(p + q + form).any()
    p, q = logits(F, F.reduce(M - M.T), X)
    assert p.any() and not F.reduce(p + q).any()


def test_two_numbers_for_each_layer_give_the_logits_of_all_tokens_on_the_line():
    Ms, (x, y) = draw(1, 3, 2, 2, over=R), draw(2, 2, 2, over=R)
    s, u = 0.3, -1.7
    X = np.stack([x, y], axis=-1)
    on_the_line = np.stack([x + s * (y - x), x + u * (y - x)], axis=-1)
    for M, (at_x, of_apart) in zip(Ms, along_line(Ms, X), strict=True):
        p, q = logits(R, M, on_the_line[None])
        assert p == pytest.approx((u - s) * (at_x + s * of_apart))
        assert q == pytest.approx((s - u) * (at_x + u * of_apart))


def test_large_logits_do_not_overflow():
    X = np.array([[[40.0, -40.0]]])
    for sign in (1.0, -1.0):
        (one,) = softmax_shares([np.array([[sign]])], X)
        assert {float(one.mu[0]), float(one.nu[0])} <= {0.0, 1.0}


@pytest.mark.parametrize(("layer", "tokens"), [(1, 2), (1, 3), (2, 2), (2, 3)])
def test_a_layer_first_moves_the_mean_of_near_tokens_as_the_other_proof_of_b_says(
    layer, tokens
):
    """At the order 2·3^(i−1) of their spread, by z zᵀM_i m; a spread that M_1 has made
    0 shows no layer 2."""
    Ms, (m, z) = network(3, 1, 2, seed=5).M, 0.5 * draw(6, 2, 3, over=R)
    c = np.linspace(-1, 1, tokens) / np.sqrt(np.mean(np.linspace(-1, 1, tokens) ** 2))

    def mean(Ms, spread):
        X = m[:, None] + spread * np.outer(z, c)
        for M in Ms:
            S = np.exp(X.T @ M @ X)
            X = X @ (S / S.sum(axis=0))
        return X.mean(axis=1)

    def apart(Ms, spread):
        other = [M + (i == layer) * np.outer(z, m) for i, M in enumerate(Ms, 1)]
        return np.linalg.norm(mean(other, spread) - mean(Ms, spread)) / spread ** (
            2 * 3 ** (layer - 1)
        )

    spread_before = (z @ Ms[0] @ z) ** (layer - 1)
    limit = np.linalg.norm(z) * (z @ z) * (m @ m) * spread_before**2
    assert apart(Ms, 0.02) == pytest.approx(limit, rel=0.02)
    assert apart(Ms, 0.5) != pytest.approx(limit, rel=0.02)
    antisymmetric = Ms[0] - Ms[0].T
    assert layer == 1 or apart([antisymmetric, Ms[1]], 0.02) < 0.02 * limit
