"""Steps of the proofs of Theorems H, W, F, K, S and L that can be computed, each with
what it rejects."""

from itertools import product

import flint
import numpy as np
import pytest

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField, Reals
from neuroviz_beyond.transformers import Block, Transformer, evaluate
from neuroviz_beyond.transformers.alignment import shown
from neuroviz_beyond.transformers.block_formulas import effective_widths
from neuroviz_beyond.transformers.evaluate import forward, jacobian

S = np.array(None)
S[()] = flint.fmpq_poly([0, 1])
exact = np.vectorize(lambda n: flint.fmpq_poly([int(n)]), otypes=[object])


def reduced(layers):
    """dim T_i / 𝒩_i of the inner widths: step 1 of Theorem W, by its definition."""
    tokens = [np.eye(layers[0].V.shape[2])]
    for layer in layers:
        U, s, _ = np.linalg.svd(np.hstack(layer.V @ tokens[-1]))
        tokens.append(U[:, : (s > 1e-9 * s[0]).sum()])
    seen = np.eye(len(tokens[-1]))
    found = []
    for T, (A, V, *_) in zip(reversed(tokens[1:-1]), reversed(layers), strict=False):
        s, rows = np.linalg.svd(
            np.vstack([*(seen @ V), *(T.T @ A), *(T.T @ A.mT)]) @ T
        )[1:]
        found.append(int((s > 1e-9 * s[0]).sum()))
        seen = rows[: found[-1]] @ T.T
    return tuple(reversed(found))


@pytest.mark.parametrize("seed", range(40))
def test_w1_what_later_layers_see_has_the_widths_of_theorem_w(seed):
    rng = np.random.default_rng(seed)
    groups, value_dim = map(int, rng.integers(1, (3, 4)))
    block = Block(value_dim, groups) if seed % 2 else Block()
    widths = tuple(map(int, rng.choice([1, 2, 3, 6, 9], int(rng.integers(3, 5)))))
    heads = [groups * int(n) for n in rng.integers(1, 3, len(widths) - 1)]
    head_dims = [2, 1, 3, 2]
    arch = Transformer(
        widths, head_dims[: len(heads)], 3, "softmax", heads, block=block
    )
    layers = shown("a test", arch, evaluate.random_weights(Reals(), arch, rng))
    assert reduced(layers) == effective_widths(arch)[1:-1]
    layers[-1] = layers[-1]._replace(A=0 * layers[-1].A, V=0 * layers[-1].V)
    assert reduced(layers)[-1] == 0


def split(z, widths):
    """(A, V) of each layer, of two heads."""
    sizes = [(2, d, d) for d in widths[:-1]] + [
        (2, c, d) for d, c in zip(widths, widths[1:], strict=False)
    ]
    cuts = np.cumsum([np.prod(size) for size in sizes])
    parts = [
        p.reshape(size) for p, size in zip(np.split(z, cuts[:-1]), sizes, strict=True)
    ]
    return list(zip(parts[: len(parts) // 2], parts[len(parts) // 2 :], strict=True))


def random_weights(rng, widths):
    return rng.standard_normal(
        sum(2 * d * (d + c) for d, c in zip(widths, widths[1:], strict=False))
    )


@pytest.mark.parametrize(
    ("widths", "minimal"), [((2, 3, 2), True), ((2, 3, 3, 1), True), ((1, 3, 2), False)]
)
def test_w2_w5_the_function_sees_paths_and_what_moves_no_path_is_the_gauge(
    widths, minimal
):
    """(1, 3, 2): two heads fill two of the three inner dimensions, and V₂ and A₂ are
    free on the third."""
    rng = np.random.default_rng(1)
    arch = Transformer(widths, widths[:-1], 3, "softmax", heads=2)
    X = rng.standard_normal((5, widths[0], 3))
    z = random_weights(rng, widths)

    def paths(z):
        U = [np.eye(widths[0])]
        found = []
        for A, V in split(z, widths):
            found += [u.T @ A_h @ v for A_h in A for u in U for v in U]
            U = [V_h @ u for V_h in V for u in U]
        return np.concatenate([M.ravel() for M in found + U])

    def output(z):
        weights = {}
        for i, (A, V) in enumerate(split(z, widths), start=1):
            weights |= {
                f"{i}.Q": A,
                f"{i}.K": np.stack([np.eye(A.shape[1])] * 2),
                f"{i}.V": V,
            }
        return forward(Reals(), arch, weights, X)

    J = np.array([paths(z + 1e-30j * e).imag / 1e-30 for e in np.eye(len(z))]).T
    s, rows = np.linalg.svd(J)[1:]
    kernel = rows[(s > 1e-10 * s[0]).sum() :]
    gauge = sum(d * d for d in widths[1:-1])
    assert len(kernel) == gauge if minimal else len(kernel) > gauge
    along = [
        np.abs(output(z + 1e-5 * e) - output(z - 1e-5 * e)).max()
        for e in (*kernel, rows[0])
    ]
    assert max(along[:-1]) < 1e-12 < 1e-7 < along[-1]


def shares(rng, heads, tokens, causal):
    """As if logits were free: columns that sum to 1."""
    S = rng.random((heads, tokens, tokens)) + 0.1
    S = np.triu(S) if causal else S
    return S / S.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("causal", "heads", "width", "tokens", "related"),
    [
        (True, 2, 2, 3, 0),
        (True, 1, 1, 3, 0),
        (False, 2, 3, 3, 0),
        (False, 1, 1, 3, 1),
        (False, 1, 1, 4, 3),
    ]
    + [(causal, 2, width, 2, 0) for causal in (True, False) for width in (2, 3)],
)
def test_w3_logits_have_no_relation_but_without_a_mask_on_a_line(
    causal, heads, width, tokens, related
):
    """Of the (y_j − y_c)ᵀ A y_c of two layers, the tokens and 1; the shares of layer 1
    are free.

    Two tokens: "Independence" in Theorem H, at width 3 with a skip.
    On a line n_jc = −n_cj with sums 0 are relations: (t − 1)(t − 2)/2 a head.
    """
    rng = np.random.default_rng(tokens)
    V, A, B = (
        rng.standard_normal((heads, c, d))
        for c, d in ((width, 3), (3, 3), (width, width))
    )
    unequal = np.triu(np.ones((tokens, tokens)), 1) + np.tril(
        np.ones((tokens, tokens)), -1
    ) * (not causal)

    def relations(B):
        rows = []
        for _ in range(60):
            X = rng.standard_normal((3, tokens))
            row = [1]
            Z = (V @ X @ shares(rng, heads, tokens, causal)).sum(0) + (
                X if width == tokens + 1 == 3 else 0
            )
            for Y, M in ((X, A), (Z, B)):
                s = Y.T @ M @ Y
                row = np.append(
                    row, (s - np.diagonal(s, axis1=1, axis2=2)[:, None])[:, unequal > 0]
                )
            rows.append(np.append(row, X))
        return len(rows[0]) - np.linalg.matrix_rank(rows, rtol=1e-9)

    assert (
        relations(B)
        == related
        == (tokens - 1) * (tokens - 2) // 2 * (not causal and width == 1)
    )
    assert relations(B[[0] * heads]) > related or heads == 1


def test_w3_triangular_shares_are_limits_of_those_with_symmetric_logits():
    """S_jc = E_jc u_c with symmetric E."""
    S = shares(np.random.default_rng(0), 1, 3, True)[0]

    def off(e, second=1.0):
        above = np.array([[0, S[0, 1], e * S[0, 2] / S[1, 2]], [0, 0, e], [0, 0, 0]])
        near = (above + above.T) * [e * e, second, S[1, 2] / e]
        return np.abs(near + np.diag(1 - near.sum(0)) - S).max()

    assert off(1e-3) < 2e-3 and off(1e-6) < 2e-6 and off(1e-6, second=0.5) > 0.01


@pytest.mark.parametrize("widths", [(2, 2, 2), (2, 3, 2), (3, 2, 1, 2)])
def test_w4_in_the_kernel_no_share_moves_where_all_values_are_seen(widths):
    """Causal, three tokens, free shares; δ_j is the total derivative of s_j3 − s_33."""
    rng = np.random.default_rng(4)
    theta = random_weights(rng, widths)

    def along(theta, direction, X, S):
        Y = X
        dY = 0 * X
        deltas = []
        for (A, V), (dA, dV), P in zip(
            split(theta, widths), split(direction, widths), S, strict=True
        ):
            ds = dY.T @ A @ Y + Y.T @ dA @ Y + Y.T @ A @ dY
            dP = P * (ds - (P * ds).sum(axis=1, keepdims=True))
            deltas.append(ds[:, :2, 2] - ds[:, 2:, 2])
            Y, dY = (V @ Y @ P).sum(0), (dV @ Y @ P + V @ dY @ P + V @ Y @ dP).sum(0)
        return dY.ravel(), np.ravel(deltas)

    def kernel(theta):
        moves = []
        for _ in range(20):
            at = (
                rng.standard_normal((widths[0], 3)),
                [shares(rng, 2, 3, True) for _ in widths[1:]],
            )
            moves.append([along(theta, e, *at) for e in np.eye(len(theta))])
        J, D = (
            np.concatenate([np.array([move[k] for move in m]).T for m in moves])
            for k in (0, 1)
        )
        s, rows = np.linalg.svd(J)[1:]
        silent = rows[(s > 1e-9 * s[0]).sum() :]
        return len(silent), np.abs(D @ silent.T).max()

    dimension, moved = kernel(theta)
    assert dimension == sum(d * d for d in widths[1:-1]) and moved < 1e-9
    split(theta, widths)[-1][1][0] = 0  # then the A of this head is free
    assert kernel(theta)[1] > 0.1


@pytest.mark.parametrize(
    ("tokens", "hidden"), [(2, False), (3, False), (2, True), (3, True)]
)
def test_h_which_is_which_only_plus_fits_one_layer_unless_values_add_up_to_zero(
    tokens, hidden
):
    """A_h′ = ± A_h: are there V_h′ with the same function? Where V_J = 0 and t = 2,
    also with −A_h in J."""
    rng = np.random.default_rng(5)
    A, V = rng.standard_normal((2, 3, 2, 2))
    if hidden:
        V[1] = -V[0]
    X = rng.standard_normal((40, 1, 2, tokens))

    def attended(A):
        S = np.exp(X.mT @ A @ X)
        return np.concatenate(
            np.moveaxis(X @ (S / S.sum(axis=-2, keepdims=True)), 0, -2).reshape(
                3, 2, -1
            )
        )

    wanted = np.concatenate(V, axis=1) @ attended(A)
    fits = set()
    for signs in product((1, -1), repeat=3):
        seen = attended(np.array(signs)[:, None, None] * A)
        found = np.linalg.lstsq(seen.T, wanted.T)[0]
        if np.abs(seen.T @ found - wanted.T).max() < 1e-9:
            fits.add(signs)
    assert fits == {(1, 1, 1)} | ({(-1, -1, 1)} if hidden and tokens == 2 else set())


@pytest.mark.parametrize(("n", "rank"), [(2, 1), (2, 2), (3, 1), (3, 2), (4, 3)])
def test_f_the_layer_is_open_from_rank_two_on(n, rank):
    """The differential of X ↦ X XᵀM X on n × 2 matrices at a random point; M may be
    antisymmetric."""
    rng = np.random.default_rng(n)
    M = rng.integers(1, 9, (n, rank)) @ rng.integers(1, 9, (rank, n))
    X = rng.integers(1, 9, (n, 2))
    for form in (M, M - M.T):
        columns = []
        for D in np.eye(2 * n, dtype=int).reshape(-1, n, 2):
            columns.append(
                (D @ X.T @ form @ X + X @ D.T @ form @ X + X @ X.T @ form @ D)
                .ravel()
                .tolist()
            )
        is_full = flint.fmpz_mat(columns).rank() == 2 * n
        assert is_full == (flint.fmpz_mat(form.tolist()).rank() > 1)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_k_the_second_token_moves_by_the_power_of_s_that_the_proof_says(least):
    """Tokens x and sw; Ω_j is 0 before the least index and antisymmetric from it on."""
    rng = np.random.default_rng(least)
    (x, w), Ms, turns = (
        exact(rng.integers(1, 6, shape)) for shape in ((2, 3), (3, 3, 3), (3, 3, 3))
    )

    def form(left, M, right):
        return (left[None] @ M @ right[:, None])[0]

    def orders(directions):
        """The derivatives of both tokens; on the way the leading terms of z₂ = f x + g
        w."""
        one = x
        two = w * S
        first = 0 * x
        second = 0 * x
        alpha = form(x, Ms[0], w)
        beta = form(w, Ms[0], w)
        xi = form(x, Ms[0], x)
        for j, (M, turn) in enumerate(zip(Ms, directions, strict=True), start=1):
            if j > 1:
                m = form(x, M, x)
                beta = beta * alpha**2 * m
                alpha = alpha * xi**2 * m
                xi = xi**3 * m
            to = form(one, M, two)
            own = form(two, M, two)
            to_ = form(first, M, two) + form(one, turn, two) + form(one, M, second)
            own_ = form(second, M, two) + form(two, turn, two) + form(two, M, second)
            second = first * to + one * to_ + second * own + two * own_
            own_ = form(first, M, one) + form(one, turn, one) + form(one, M, first)
            two = one * to + two * own
            first = first * form(one, M, one) + one * own_
            one = one * form(one, M, one)
            f, g = coordinates(two)
            assert (one == x * xi).all()
            assert (lowest(f), lowest(g)) == ((1, alpha[0][0]), (2 * j + 1, beta[0][0]))
        return first, coordinates(second)

    def coordinates(z):
        below = (x[0] * w[1] - x[1] * w[0])[0]
        return [
            (z[0] * w[1] - z[1] * w[0]) / below,
            (x[0] * z[1] - x[1] * z[0]) / below,
        ]

    def lowest(poly):
        return next((k, c) for k, c in enumerate(poly.coeffs()) if c)

    antisymmetric = [
        turn - turn.T if j >= least else 0 * turn
        for j, turn in enumerate(turns, start=1)
    ]
    first, (f, g) = orders(antisymmetric)
    assert (
        not first.any()
        and lowest(f)[0] == 2 * least - 1
        and (not g or lowest(g)[0] > 2 * least - 1)
    )
    assert orders([turn + turn.T for turn in turns])[0].any()


@pytest.mark.parametrize("alone", [False, True])
def test_s_a_the_last_layer_adds_all_its_directions_behind_a_layer_with_a_skip(alone):
    """ż + c ∘ z = 0 only for c = 0, any Σ V ⊗ A (four heads of width 2 reach all 12);
    not where V₁ = 0."""
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng(1)
    first = Transformer((2, 2), (2,), 3, skip=True)
    last = Transformer((2, 2), (2,), 3, heads=4)
    before, behind = (
        evaluate.random_weights(over, arch, rng) for arch in (first, last)
    )
    if alone:
        before["1.V"] *= 0
    X = over.random(rng, (12, 2, 3))
    dz = jacobian(over, first, before, X).reshape(-1, first.num_parameters)
    c = jacobian(over, last, behind, forward(over, first, before, X)).reshape(
        -1, last.num_parameters
    )
    both = exact_rank(np.concatenate([dz, c], axis=1), over)
    assert exact_rank(c, over) == 12
    assert both == 12 if alone else both == exact_rank(dz, over) + 12 == 7 + 12


@pytest.mark.parametrize("causal", [False, True])
def test_s_b_a_small_second_token_goes_through_the_matrices_of_the_proof(causal):
    """Tokens x and sw: the part s¹ of the second column is (I + Λ₂)(I + Λ₁)w, Λ = Σ V y
    yᵀ A; not y yᵀ Aᵀ."""
    rng = np.random.default_rng(3)
    layers, x, w = (
        exact(rng.integers(1, 6, size)) for size in ((2, 2, 2, 3, 3), (3, 1), (3, 1))
    )

    def slope(turned):
        y, B = x, w
        for A, V in layers:
            A_ = A.swapaxes(1, 2) if turned else A
            B = B + sum(
                V_h @ y @ (y.T @ A_h @ B) for V_h, A_h in zip(V, A_, strict=True)
            )
            y = y + sum(
                V_h @ y @ (y.T @ A_h @ y) for V_h, A_h in zip(V, A, strict=True)
            )
        return [entry[0] for entry in B.flat]

    Z = np.hstack([x, w * S])
    for A, V in layers:
        forms = [Z.T @ A_h @ Z for A_h in A]
        Z = Z + sum(
            V_h @ Z @ (np.triu(form) if causal else form)
            for V_h, form in zip(V, forms, strict=True)
        )
    assert [entry[1] for entry in Z[:, 1]] == slope(turned=False) != slope(turned=True)


@pytest.mark.parametrize(
    ("d", "heads", "v"), [(3, 1, 3), (3, 2, 2), (2, 3, 1), (3, 1, 2), (3, 2, 1)]
)
def test_s_hypotheses_one_and_two_hold_for_generic_values_that_fill_the_width(
    d, heads, v
):
    """Exactly where H v ≥ d (II); (I) for H ≤ d too, for H > d as the n × n matrix is a
    sum of H."""
    rng = np.random.default_rng(d)
    A = rng.standard_normal((heads, d, d))
    V = rng.standard_normal((heads, d, v)) @ rng.standard_normal((heads, v, d))
    y = rng.standard_normal(d)
    seen = V @ y
    forms = y @ A @ y
    one = (A.mT @ y) @ seen.T if heads <= d else np.einsum("hi,hj->ij", seen, A.mT @ y)
    two = np.einsum("h,hij->ij", forms, V) + np.einsum(
        "hi,hj->ij", seen, (A + A.mT) @ y
    )
    assert np.linalg.matrix_rank(one, rtol=1e-9) == min(heads, d)
    assert (np.linalg.matrix_rank(two, rtol=1e-9) == d) == (heads * v >= d)


@pytest.mark.parametrize("heads", [1, 2, 4])
def test_s_the_inverse_stays_bounded_where_hypothesis_one_holds(heads):
    """(I + s Λ(y))⁻¹ for s → ∞; not where yᵀA V y = 0 for all y, as A = J V⁻¹ with
    antisymmetric J has it."""
    rng = np.random.default_rng(heads)
    y = np.array([0.6, -1.1, 0.7])
    A, V = rng.standard_normal((2, heads, 3, 3))

    def growth(A, V):
        Lambda = np.einsum("hij,j,k,hkl->il", V, y, y, A)
        small, large = (
            np.linalg.norm(np.linalg.inv(np.eye(3) + s * Lambda), 2) for s in (1e3, 1e6)
        )
        return large / small

    assert (
        growth(A, V) < 2
        and growth((A - A.mT) @ np.linalg.inv(V[0]), V[[0] * heads]) > 500
    )


def test_l_the_part_next_to_the_highest_is_the_derivative_of_the_rest_along_the_input():
    """f₃ ∘ f₂ ∘ f₁ at rX: r²⁷ is h₃h₂h₁, r²⁵ is DG(h₁(X))[X] with G = h₃h₂, and r²⁶ is
    missing.

    Weights with h₁′ = C h₁ and G′ = G C⁻¹ have the same r²⁷, and DG(h₁(X))[C⁻¹X].
    """
    rng = np.random.default_rng(2)
    layers, X = (exact(rng.integers(1, 6, size)) for size in ((3, 2, 2, 2), (2, 2)))
    C = exact([[1, 2], [0, 1]])
    back = exact([[1, -2], [0, 1]])
    others = layers.copy()
    others[0, 1], others[1] = (
        C @ layers[0, 1],
        (back.T @ layers[1, 0] @ back, layers[1, 1] @ back),
    )

    def along(D):
        A, V = layers[0]
        Y = V @ X @ (X.T @ A @ X)
        for A, V in layers[1:]:
            form = Y.T @ A @ Y
            D = V @ (D @ form + Y @ (D.T @ A @ Y + Y.T @ A @ D))
            Y = V @ Y @ form
        return [constant[0] for constant in Y.flat], [
            constant[0] for constant in D.flat
        ]

    for weights, way in ((layers, X), (others, back @ X)):
        Z = X * S
        for A, V in weights:
            Z = Z + V @ Z @ (Z.T @ A @ Z)
        part = {k: [entry[k] for entry in Z.flat] for k in (27, 26, 25)}
        assert (part[27], part[25]) == along(way) and not any(part[26])
    assert along(X)[1] != along(back @ X)[1]
