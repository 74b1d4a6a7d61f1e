"""Steps of the proofs of Theorems W, K, S and L that can be computed, each with a case that it rejects."""

import flint
import numpy as np
import pytest

from neuroviz.beyond.transformers.alignment import shown
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import effective_widths
from neuroviz.engine.network import random_block_weights

S = np.array(None)
S[()] = flint.fmpq_poly([0, 1])
exact = np.vectorize(lambda n: flint.fmpq_poly([int(n)]), otypes=[object])


def reduced(layers):
    """dim T_i / N_i of the inner widths: step 1 of Theorem W, by its definition."""
    tokens = [np.eye(layers[0].V.shape[2])]
    for layer in layers:
        U, s, _ = np.linalg.svd(np.hstack(layer.V @ tokens[-1]))
        tokens.append(U[:, : (s > 1e-9 * s[0]).sum()])
    seen, found = np.eye(len(tokens[-1])), []
    for T, (A, V, *_) in zip(reversed(tokens[1:-1]), reversed(layers), strict=False):
        s, rows = np.linalg.svd(np.vstack([*(seen @ V), *(T.T @ A), *(T.T @ A.mT)]) @ T)[1:]
        found.append(int((s > 1e-9 * s[0]).sum()))
        seen = rows[: found[-1]] @ T.T
    return tuple(reversed(found))


@pytest.mark.parametrize("seed", range(40))
def test_w1_what_later_layers_see_has_the_widths_of_theorem_w(seed):
    rng = np.random.default_rng(seed)
    groups, value_dim = map(int, rng.integers(1, (3, 4)))
    block = Block(value_dim, groups) if seed % 2 else Block()
    widths = tuple(map(int, rng.choice([1, 2, 3, 6, 9], int(rng.integers(3, 5)))))
    heads, head_dims = [groups * int(n) for n in rng.integers(1, 3, len(widths) - 1)], [2, 1, 3, 2]
    arch = Architecture(widths, head_dims[: len(heads)], 3, "softmax", heads, block=block)
    layers = shown("a test", arch, random_block_weights(Reals(), arch, rng))
    assert reduced(layers) == effective_widths(arch)[1:-1]
    layers[-1] = layers[-1]._replace(A=0 * layers[-1].A, V=0 * layers[-1].V)
    assert reduced(layers)[-1] == 0


@pytest.mark.parametrize(("widths", "minimal"), [((2, 3, 2), True), ((2, 3, 3, 1), True), ((1, 3, 2), False)])
def test_w5_what_moves_no_path_is_the_gauge_where_networks_are_minimal(widths, minimal):
    """(1, 3, 2): two heads fill two of the three inner dimensions, and V₂ and A₂ are free on the third."""
    sizes = [(2, d, d) for d in widths[:-1]] + [(2, d, c) for c, d in zip(widths, widths[1:], strict=False)]
    cuts = np.cumsum([np.prod(size) for size in sizes])

    def paths(z):
        parts = [p.reshape(size) for p, size in zip(np.split(z, cuts[:-1]), sizes, strict=True)]
        U, found = [np.eye(widths[0])], []
        for A, V in zip(parts[: len(parts) // 2], parts[len(parts) // 2 :], strict=True):
            found += [u.T @ A_h @ v for A_h in A for u in U for v in U]
            U = [V_h @ u for V_h in V for u in U]
        return np.concatenate([M.ravel() for M in found + U])

    z = np.random.default_rng(1).standard_normal(cuts[-1])
    J = np.array([paths(z + 1e-30j * e).imag / 1e-30 for e in np.eye(len(z))])
    kernel, gauge = len(z) - np.linalg.matrix_rank(J, rtol=1e-10), sum(d * d for d in widths[1:-1])
    assert kernel == gauge if minimal else kernel > gauge


@pytest.mark.parametrize("least", [1, 2, 3])
def test_k_the_second_token_moves_by_the_power_of_s_that_the_proof_says(least):
    """Tokens x and sw; N_j is 0 before the least index and antisymmetric from it on."""
    rng = np.random.default_rng(least)
    (x, w), Ms, Ns = (exact(rng.integers(1, 6, shape)) for shape in ((2, 3), (3, 3, 3), (3, 3, 3)))

    def form(left, M, right):
        return (left[None] @ M @ right[:, None])[0]

    def orders(directions):
        """The derivatives of both tokens; on the way the leading terms of z₂ = a x + b w."""
        one, two, first, second = x, w * S, 0 * x, 0 * x
        alpha, beta, rho = form(x, Ms[0], w), form(w, Ms[0], w), form(x, Ms[0], x)
        for j, (M, N) in enumerate(zip(Ms, directions, strict=True), start=1):
            if j > 1:
                m = form(x, M, x)
                beta, alpha, rho = beta * alpha**2 * m, alpha * rho**2 * m, rho**3 * m
            to, own = form(one, M, two), form(two, M, two)
            to_ = form(first, M, two) + form(one, N, two) + form(one, M, second)
            own_ = form(second, M, two) + form(two, N, two) + form(two, M, second)
            second = first * to + one * to_ + second * own + two * own_
            own_ = form(first, M, one) + form(one, N, one) + form(one, M, first)
            two, first = one * to + two * own, first * form(one, M, one) + one * own_
            one = one * form(one, M, one)
            a, b = coordinates(two)
            assert (
                (one == x * rho).all()
                and lowest(a) == (1, alpha[0][0])
                and lowest(b) == (2 * j + 1, beta[0][0])
            )
        return first, coordinates(second)

    def coordinates(z):
        below = (x[0] * w[1] - x[1] * w[0])[0]
        return [(z[0] * w[1] - z[1] * w[0]) / below, (x[0] * z[1] - x[1] * z[0]) / below]

    def lowest(poly):
        return next((k, c) for k, c in enumerate(poly.coeffs()) if c)

    first, (a, b) = orders([N - N.T if j >= least else 0 * N for j, N in enumerate(Ns, start=1)])
    assert not first.any() and lowest(a)[0] == 2 * least - 1 and (not b or lowest(b)[0] > 2 * least - 1)
    assert orders([N + N.T for N in Ns])[0].any()


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_s_the_inverse_stays_bounded_where_hypothesis_one_holds(heads):
    """(I + s K(y))⁻¹ for s → ∞; not where yᵀA V y = 0 for all y, as A = J V⁻¹ with antisymmetric J has it."""
    rng, y = np.random.default_rng(heads), np.array([0.6, -1.1, 0.7])
    A, V = rng.standard_normal((2, heads, 3, 3))

    def growth(A, V):
        K = np.einsum("hij,j,k,hkl->il", V, y, y, A)
        small, large = (np.linalg.norm(np.linalg.inv(np.eye(3) + s * K), 2) for s in (1e3, 1e6))
        return large / small

    assert growth(A, V) < 2 and growth((A - A.mT) @ np.linalg.inv(V[0]), V[[0] * heads]) > 500


def test_l_the_part_next_to_the_highest_is_the_derivative_of_the_rest_along_the_input():
    """f₃ ∘ f₂ ∘ f₁ at rX: r²⁷ is h₃h₂h₁, r²⁵ is DG(h₁(X))[X] with G = h₃h₂, and r²⁶ is missing."""
    rng = np.random.default_rng(2)
    layers, X, C = (exact(rng.integers(1, 6, size)) for size in ((3, 2, 2, 2), (2, 2), (2, 2)))
    Z = X * S
    for A, V in layers:
        Z = Z + V @ Z @ (Z.T @ A @ Z)

    def along(D):
        A, V = layers[0]
        Y = V @ X @ (X.T @ A @ X)
        for A, V in layers[1:]:
            form = Y.T @ A @ Y
            D, Y = V @ (D @ form + Y @ (D.T @ A @ Y + Y.T @ A @ D)), V @ Y @ form
        return [constant[0] for constant in Y.flat], [constant[0] for constant in D.flat]

    part = {k: [entry[k] for entry in Z.flat] for k in (27, 26, 25)}
    assert (part[27], part[25]) == along(X) and not any(part[26])
    assert part[25] != along(C @ X)[1]
