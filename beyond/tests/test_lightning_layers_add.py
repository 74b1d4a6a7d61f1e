"""Theorem N: its Claim, exactly, and the steps of the proof that can be computed; and
networks outside its hypotheses, about which it says nothing."""

from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import (
    expected_dimension,
    what_theorem_n_lacks,
    with_full_values,
)

OVER = PrimeField(DEFAULT_PRIME)


def times(*matrices):
    """The product of (stacks of) matrices over F_p, one factor at a time."""
    found = matrices[0]
    for matrix in matrices[1:]:
        found = OVER.reduce(found @ matrix)
    return found


def shown(form, causal):
    """The matrix itself, or its upper triangle under a mask."""
    return np.triu(form) if causal else form


# The Claim


def lightning(layer, X, causal):
    """Σ V_h X [Xᵀ A_h X] for stacks of inputs."""
    found = 0
    for A, V in layer:
        form = shown(times(np.swapaxes(X, -1, -2), A, X), causal)
        found = OVER.reduce(found + times(V, X, form))
    return found


def derivative(layer, X, D, causal):
    """The derivative of `lightning` at X in the direction D."""
    turned = np.swapaxes(X, -1, -2)
    found = 0
    for A, V in layer:
        form = shown(times(turned, A, X), causal)
        moved = times(np.swapaxes(D, -1, -2), A, X) + times(turned, A, D)
        moved = shown(OVER.reduce(moved), causal)
        found = OVER.reduce(found + times(V, D, form) + times(V, X, moved))
    return found


def monomials(Y, degree):
    """All monomials of this degree in the entries of each matrix of a stack."""
    entries = Y.reshape(len(Y), -1)
    found = []
    for chosen in combinations_with_replacement(range(entries.shape[1]), degree):
        product_ = np.ones(len(Y))
        for place in chosen:
            product_ = OVER.reduce(product_ * entries[:, place])
        found.append(product_)
    return np.stack(found, axis=1)


def kernel_of_the_claim(d0, widths, P, causal):
    """The dimension of the pairs (Ḟ, c) with Ḟ ∘ f⁰ + DF(f⁰)[c] = 0, c in 𝒞, and any
    polynomial map Ḟ of the degree of F.

    f⁰ = J X [Xᵀ P X], J = [I|0], and F is a generic tail of two heads a layer.
    """
    rng = np.random.default_rng([d0, *widths, causal])
    delta = widths[0]
    first = [(P, np.eye(delta, d0))]
    tail = [
        [(OVER.random(rng, (d, d)), OVER.random(rng, (d_out, d))) for _ in range(2)]
        for d, d_out in zip(widths, widths[1:], strict=False)
    ]
    degree = 3 ** len(tail)
    outputs = 2 * widths[-1]
    polynomials = len(list(combinations_with_replacement(range(2 * delta), degree)))
    # a basis of 𝒞: in each entry of the table Vy ⊗ Aᵀy a form y_i y_j, i ≤ j
    basis = []
    for row, i, j, k in product(range(delta), range(d0), range(d0), range(d0)):
        if i <= j:
            A = np.zeros((d0, d0))
            V = np.zeros((delta, d0))
            A[i, k] = 1
            V[row, j] = 1
            basis.append((A, V))
    columns = outputs * polynomials + len(basis)
    count = columns // outputs + 8
    X = OVER.random(rng, (count, d0, 2))
    Y = lightning(first, X, causal)
    of_tails = np.kron(monomials(Y, degree), np.eye(outputs))
    of_layer = []
    for one in basis:
        D = lightning([one], X, causal)
        Z = Y
        for layer in tail:
            D, Z = derivative(layer, Z, D, causal), lightning(layer, Z, causal)
        of_layer.append(D.reshape(-1))
    matrix = np.concatenate([of_tails, np.stack(of_layer, axis=1)], axis=1)
    return columns - exact_rank(matrix, OVER)


def diagonal(d0, ones):
    return np.diag([1.0] * ones + [0.0] * (d0 - ones))


@pytest.mark.parametrize(
    ("d0", "widths", "causal"),
    [
        (2, (2, 2), False),
        (3, (2, 2), False),
        (2, (2, 3), False),
        (3, (3, 3), False),
        (2, (2, 2, 2), False),
        (1, (1, 1), True),
        (2, (1, 2), True),
        (2, (2, 2), True),
        (3, (2, 2), True),
        (3, (3, 3), True),
        (2, (2, 2, 2), True),
    ],
)
def test_the_kernel_of_the_claim_is_that_of_the_bases(d0, widths, causal):
    ones = 1 if causal else 2
    assert kernel_of_the_claim(d0, widths, diagonal(d0, ones), causal) == widths[0] ** 2


@pytest.mark.parametrize("widths", [(2, 2), (3, 3)])
def test_without_a_mask_a_form_of_rank_one_has_a_larger_kernel(widths):
    P = diagonal(widths[0], 1)
    assert kernel_of_the_claim(widths[0], widths, P, causal=False) > widths[0] ** 2


# Steps without a mask


def cubes(X, P):
    return X @ X.T @ P @ X


def test_two_tokens_that_are_orthogonal_may_turn_by_a_cube_root_of_one():
    """x₁ᵀ P x₂ = 0: X and (ω x₁, x₂) have the same image; not if they are not
    orthogonal."""
    rng = np.random.default_rng(3)
    P = diagonal(3, 2)
    X = rng.standard_normal((3, 2))
    skew = X.copy()
    X[:, 1] -= X[:, 0] * (X[:, 0] @ P @ X[:, 1]) / (X[:, 0] @ P @ X[:, 0])
    turn = np.diag([np.exp(2j * np.pi / 3), 1])
    assert np.allclose(cubes(X @ turn, P), cubes(X, P))
    assert not np.allclose(cubes(skew @ turn, P), cubes(skew, P))


def test_the_derivative_keeps_directions_of_one_form():
    """(r, τ y₁) at orthogonal tokens goes to another one of this form, at (n₁y₁,
    n₂y₂)."""
    rng = np.random.default_rng(4)
    P = diagonal(3, 2)
    y1, y2, r = (rng.integers(-4, 5, 3).astype(float) for _ in range(3))
    y2 = y2 * (y1 @ P @ y1) - y1 * (y1 @ P @ y2)
    tau = 5.0
    Y = np.stack([y1, y2], axis=1)
    D = np.stack([r, tau * y1], axis=1)
    n1, n2 = y1 @ P @ y1, y2 @ P @ y2
    moved = D @ Y.T @ P @ Y + Y @ D.T @ P @ Y + Y @ Y.T @ P @ D
    first = n1 * r + 2 * (y1 @ P @ r) * y1 + (y2 @ P @ r + tau * n1) * y2
    second = (y2 @ P @ r + tau * (n1 + n2)) * y1
    assert n1 and n2 and np.array_equal(moved, np.stack([first, second], axis=1))
    assert np.array_equal(cubes(Y, P), Y * [n1, n2])


def of_last_layer(upsilon, kappa):
    """The four equations in (ξ, η, τ, λ), with μ₂ = υ μ₁ and ν₂ = κ ν₁."""
    return np.array(
        [
            [0, 1, 1, -upsilon],
            [2, upsilon, upsilon, -1],
            [1, kappa, 0, 1],
            [0, 0, 1, kappa],
        ]
    )


def test_the_last_layer_leaves_nothing_but_on_one_curve():
    """det = ±(υ² − 2κυ − 2κ² − 3): with κ = 1 it vanishes at υ = 1 + √6 only, and at
    1 − √6."""
    values = [
        (np.linalg.det(of_last_layer(u, k)), u * u - 2 * k * u - 2 * k * k - 3)
        for u, k in np.random.default_rng(5).standard_normal((20, 2))
    ]
    ratios = [det / form for det, form in values]
    assert np.allclose(ratios, ratios[0]) and abs(ratios[0]) == pytest.approx(1)
    for root in (1 + 6**0.5, 1 - 6**0.5):
        assert abs(np.linalg.det(of_last_layer(root, 1.0))) < 1e-12


# Steps with a mask


def masked(X, k):
    """X [Xᵀ k kᵀ X] of two tokens."""
    form = np.outer(X.T @ k, X.T @ k)
    return X @ np.triu(form)


def test_under_a_mask_a_second_token_has_the_same_image():
    rng = np.random.default_rng(6)
    k = np.eye(3)[0]
    X = rng.standard_normal((3, 2))
    r, b = X[0]
    for s in np.roots([1, b, b * b + r * r]):
        other = X.astype(complex)
        other[:, 1] = r * (b - s) / s**2 * X[:, 0] + b**2 / s**2 * X[:, 1]
        assert np.isclose(other[0, 1], s) and abs(s.imag) > 1e-3
        assert np.allclose(masked(other, k), masked(X, k))
    other[:, 1] *= 1.1
    assert not np.allclose(masked(other, k), masked(X, k))


@pytest.mark.parametrize("d", [1, 2, 3])
def test_the_masked_map_is_an_immersion_where_it_is_said(d):
    """Its differential has a determinant of κ₁, κ₂ and κ₁² + 3κ₂² alone."""
    rng = np.random.default_rng(d)
    k = np.eye(d)[0]

    def smallest(X):
        h = 1e-20
        steps = np.eye(2 * d).reshape(-1, d, 2)
        J = [masked(X + h * 1j * step, k).imag.ravel() / h for step in steps]
        return np.abs(np.linalg.det(np.array(J)))

    X = rng.standard_normal((d, 2))
    k1, k2 = X[0]
    said = 3 * abs(k1) ** (2 * d) * abs(k2) ** (2 * d - 2) * (k1**2 + 3 * k2**2)
    assert smallest(X) == pytest.approx(said)
    X[0, 0] = 0
    assert smallest(X) == pytest.approx(0)


def test_the_degrees_of_the_masked_equation_leave_two_coefficients():
    """The equation C(x₁,x₁,x₂′) + C(x₂′,x₂′,x₂′) = C(x₁,x₁,x₂) + C(x₂,x₂,x₂) in the
    C(x, y, w) = C(y, x, w) with values in ℝ: of d²(d + 1)/2 numbers d remain."""
    rng = np.random.default_rng(8)
    for d in (2, 3, 4):
        k = np.eye(d)[0]
        places = [(i, j, m) for i, j, m in product(range(d), repeat=3) if i <= j]

        def terms(x, w):
            return np.array(
                [(x[i] * x[j]) * w[m] for i, j, m in places]  # noqa: B023
            )

        rows = []
        for _ in range(4 * len(places)):
            x1, x2 = rng.standard_normal((2, d))
            r, b = x1 @ k, x2 @ k
            for s in np.roots([1, b, b * b + r * r]):
                other = r * (b - s) / s**2 * x1 + b**2 / s**2 * x2
                row = terms(x1, other) + terms(other, other)
                row = row - terms(x1, x2) - terms(x2, x2)
                rows.append(row / np.abs(row).max())
        rank = np.linalg.matrix_rank(np.array(rows), rtol=1e-9)
        assert len(places) == d * d * (d + 1) // 2 and rank == len(places) - d


# The statement


@pytest.mark.parametrize(
    ("arch", "value", "source"),
    [
        # H > d: each layer has 12 dimensions
        (Transformer.uniform(2, 1, 2, heads=3), 20, "Theorem N, Exact rank"),
        (Transformer.uniform(3, 2, 2, heads=3), 81, "Theorem N, Theorem M"),
        (
            Transformer.uniform(3, 2, 2, heads=3, causal=True),
            81,
            "Theorem N, Theorem M",
        ),
        (
            Transformer((3, 2, 3), (2, 2), 2, block=Block(2), causal=True),
            13 + 9 - 4,
            "Theorem N",
        ),
    ],
)
def test_the_layers_add_up_and_the_source_says_whose_their_dimensions_are(
    arch, value, source
):
    found = expected_dimension(arch)
    assert (found.value, found.source) == (value, source)
    assert measure_dimension(arch).value == value
    assert found.status == ("exact" if "Exact" in source else "proved here")


def test_what_was_measured_is_named_and_what_is_too_large_is_not_measured():
    small = expected_dimension(Transformer.uniform(2, 1, 2, heads=3))
    assert "layer 2→2 of 3 heads, a = 1, was measured by itself: 12" in small.note
    large = expected_dimension(Transformer.uniform(40, 40, 2, heads=50))
    assert large.value is None and "too large to be measured unasked" in large.note
    closed = expected_dimension(Transformer.uniform(4000, 40, 20, heads=50))
    assert closed.value is not None and closed.status == "proved here"


@pytest.mark.parametrize(
    ("widths", "heads", "skip"),
    [((2, 2, 2), (3, 4), False), ((3, 2, 4), (3, 5), False), ((2, 2, 2), (4, 3), True)],
)
def test_every_layer_that_was_measured_is_named_with_its_own_number(
    widths, heads, skip
):
    arch = Transformer(widths, (1, 1), heads=heads, skip=skip)
    note = expected_dimension(arch).note
    for H, d, d_out in zip(heads, widths, widths[1:], strict=False):
        alone = measure_dimension(Transformer((d, d_out), (1,), heads=H)).value
        said = f"{d}→{d_out} of {H} heads, a = 1, was measured by itself: {alone}"
        assert said in note


@pytest.mark.parametrize(
    ("arch", "is_proved"),
    [
        # ⌊G/2⌋ v is 2, and G v / 2 is 3
        (Transformer((3, 3, 3), (1, 2), heads=3, block=Block(2)), False),
        (Transformer((3, 3, 3), (1, 2), heads=4, block=Block(2)), True),
        # a single head of rank one, in the last layer or before it
        (Transformer((2, 2, 2), (2, 1), heads=(2, 1)), True),
        (Transformer((2, 2, 2), (1, 2), heads=(1, 2)), False),
        # values of rank one: two heads for one half of δ only
        (Transformer((2, 2, 2), (1, 1), heads=2, block=Block(1)), False),
        # the last layer has to be filled without skips, and may be thin with them
        (Transformer((2, 2, 2), (2, 2), heads=(2, 1), block=Block(1)), False),
        (Transformer((2, 2, 2), (2, 2), heads=(2, 1), skip=True, block=Block(1)), True),
        (
            Transformer((2, 2, 2), (2, 2), heads=(1, 2), skip=True, block=Block(1)),
            False,
        ),
    ],
    ids=str,
)
def test_a_network_at_an_edge_is_added_up_just_inside_the_hypotheses(arch, is_proved):
    found = expected_dimension(arch)
    assert (found.value is not None) == is_proved
    if is_proved:
        assert found.value == measure_dimension(arch).value
        assert found.status in ("proved here", "exact")


def test_with_skips_layers_of_any_number_of_heads_add_up_too():
    """Theorem S, with shared keys and more heads than the width: measured layers."""
    measured = 0
    for d, heads, a, causal in product((1, 2, 3), (2, 4), (1, 2), (False, True)):
        for block in (Block(), Block(d), Block(2, 2), Block(1, 2), Block(1)):
            arch = Transformer.uniform(
                d, a, 2, 2, heads=heads, skip=True, causal=causal, block=block
            )
            found = expected_dimension(arch)
            groups = block.kv_heads or heads
            filled = groups * (block.value_dim or d) >= d
            assert (found.value is not None) == filled
            if filled:
                measured += found.source == "Theorem S, Exact rank"
                assert measure_dimension(arch).value == found.value, str(arch)
    assert measured > 30


def lightning_networks():
    """Deep ones, small, in and outside the hypotheses."""
    for widths in product((1, 2, 3), repeat=3):
        for heads in product((1, 2, 3), (1, 2)):
            for a, causal in product((1, 2), (False, True)):
                for block in (Block(), Block(1), Block(2, 1)):
                    yield Transformer(
                        widths, (a, 2), 2, "lightning", heads, False, causal, block
                    )


@pytest.mark.long
def test_where_a_hypothesis_fails_nothing_is_claimed_and_the_sum_is_often_wrong():
    outside = wrong = 0
    for arch in lightning_networks():
        if set(arch.heads) == {1} and arch.block.is_plain:
            continue  # Theorems C and K
        missing = what_theorem_n_lacks(arch)
        found = expected_dimension(arch)
        if missing is None:
            assert found.value is not None
            continue
        if with_full_values(arch) == arch:
            assert found.status == "no formula" and missing in found.note
        else:
            assert found.source == ("Theorem K" if arch.causal else "Theorem C")
        outside += 1
        layers = [
            Transformer((d, d_out), (a,), 2, heads=H, block=arch.block)
            for H, (d, d_out, a) in zip(arch.heads, arch.layers, strict=True)
        ]
        added = sum(measure_dimension(layer).value for layer in layers)
        added -= arch.widths[1] ** 2
        wrong += added != measure_dimension(arch).value
    assert (outside, wrong) == (1339, 635)


@pytest.mark.parametrize(
    ("widths", "a", "v", "causal", "value"),
    [
        ((2, 2, 2), 1, 2, False, 8),
        ((2, 1, 2), 1, 1, False, 5),
        ((2, 3, 2), 2, 3, False, 10),
        ((2, 3, 2), 2, 2, False, 10),
        ((2, 3, 2), 2, 2, True, 10),
    ],
)
@pytest.mark.parametrize("kv_heads", [None, 1])
def test_one_head_whose_values_can_be_any_matrices_is_that_without_a_value_dim(
    widths, a, v, causal, value, kv_heads
):
    block = Block(v, kv_heads)
    arch = Transformer(widths, (a, a), 2, causal=causal, block=block)
    found = expected_dimension(arch)
    assert what_theorem_n_lacks(arch) is not None
    assert (found.value, found.status) == (value, "proved here")
    assert found.source == ("Theorem K" if causal else "Theorem C")
    assert measure_dimension(arch).value == value


def test_of_one_head_a_layer_no_note_speaks_of_several():
    for widths, a, v in product(product((1, 2, 3), repeat=3), (1, 2), (1, 2, 3)):
        for causal in (False, True):
            arch = Transformer(widths, (a, 2), 2, causal=causal, block=Block(v))
            assert "several" not in (what_theorem_n_lacks(arch) or "")
            assert "several" not in expected_dimension(arch).note
    thin = expected_dimension(Transformer((2, 3, 2), (2, 2), block=Block(1)))
    said = "no formula is known for lightning layers of one head with values of a given"
    assert thin.value is None and thin.note.startswith(said)


def test_a_large_layer_has_its_observed_formula_or_none_and_the_sum_says_so():
    large = expected_dimension(Transformer((64, 64, 80), (60, 60), heads=(64, 70)))
    assert (large.status, large.source) == ("observed", "Theorem N, Beyond the paper")
    none = expected_dimension(Transformer((64, 64, 64), (60, 60), heads=(64, 70)))
    assert none.value is None


def test_a_single_head_of_rank_one_before_the_last_layer_can_cost_dimensions():
    """d = 2, heads (1, 2), a = (1, 1): 10, where the layers less the bases give 14."""
    arch = Transformer.uniform(2, 1, 2, heads=(1, 2))
    assert expected_dimension(arch).value is None
    one, two = (
        measure_dimension(Transformer((2, 2), (1,), heads=H)).value for H in (1, 2)
    )
    assert (measure_dimension(arch).value, one + two - 4) == (10, 14)
