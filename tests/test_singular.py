"""Singular and boundary points of one layer: where the kernel jumps, the closure, what
stays inside."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from neuroviz.attention import Architecture
from neuroviz.attention.expected import alpha
from neuroviz.attention.layer import (
    Pair,
    fiber_case,
    function_table,
    kernel_dimension,
    product_table,
)
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.singular import ranks
from neuroviz.singular.forms import (
    Facts,
    discriminant,
    facts_of,
    forms_of,
    kind_of,
    nearest_layer,
    resultant,
)
from neuroviz.singular.ranks import (
    BOUNDARY,
    CROSSING,
    SMOOTH,
    THIN,
    Approach,
    differential,
    directions,
    singular_facts,
)

HALF = Fraction(1, 2)
SIZES = [(2, 1, 2), (2, 2, 2), (3, 1, 3), (3, 2, 2), (3, 2, 1), (4, 3, 4), (2, 3, 4)]
PLACES = [
    (0, 0),
    (HALF, HALF),
    (0, 1),
    (1, 0),
    (1, HALF),
    (Fraction(99, 100), 1),
    (1, 1),
]
F = PrimeField()
every_size = pytest.mark.parametrize(("d", "d_out", "a"), SIZES)
every_place = pytest.mark.parametrize(("s", "b"), PLACES)


@every_size
@every_place
def test_the_kernel_is_one_and_jumps_to_d_exactly_at_the_boundary(d, d_out, a, s, b):
    """Lemma A.3 and Theorem 3.4: singular are ranks at most 1, and boundary those of
    them with u = v."""
    facts = singular_facts(Approach(d, d_out, a, s, b, seed=1))
    rank_one = s == 1 or (a == 1 and d_out == 1)
    assert facts.kind == (
        BOUNDARY if rank_one and b == 1 else CROSSING if rank_one else SMOOTH
    )
    assert facts.kernel == (d if facts.kind == BOUNDARY else 1)


@every_size
@every_place
def test_the_kernel_is_that_of_the_network_itself(d, d_out, a, s, b):
    """Against the Jacobian of outputs on random inputs, where A may move in all
    directions."""
    approach = Approach(d, d_out, a, s, b, seed=2)
    pair = Pair(*map(F.reduce, approach.numerators()))
    moves = directions(F, pair.A, d, exact_rank(pair.A, F))
    rows = differential(F, pair, moves)
    measured = kernel_dimension(F, "lightning", pair, 2, np.random.default_rng(0))
    assert len(rows) - exact_rank(rows.T, F) == measured
    if a >= d:
        assert singular_facts(approach).kernel == measured


@every_size
def test_at_b_0_the_values_are_orthogonal_to_the_keys_and_at_b_1_they_are_not(
    d, d_out, a
):
    """At s = 1 A = u kᵀ and V = h vᵀ; at b = 0 v = w ⟂ u, of as many entries as pair
    off, so V A = 0."""
    for seed in range(4):
        A, V = Approach(d, d_out, a, 1, 0, seed).numerators()
        assert not (V @ A).any() and (V[0] != 0).sum() == d - d % 2
        A, V = Approach(d, d_out, a, 1, 1, seed).numerators()
        assert (V @ A).any()


@every_size
def test_at_a_smooth_point_the_image_has_the_dimension_of_the_set(d, d_out, a):
    facts = singular_facts(Approach(d, d_out, a, HALF, HALF))
    measured = measure_dimension(Architecture((d, d_out), (a,), tokens=2)).value
    assert facts.image == facts.dimension == measured


def test_the_directions_that_the_lemma_names_do_nothing_and_are_all():
    approach = Approach(4, 2, 4, 1, 1, seed=3)
    A, V = approach.numerators()
    v = A[:, 0]
    h = V[:, 0] / A[0, 0]
    k = A[0] / A[0, 0]
    np.testing.assert_array_equal(A, np.outer(v, k))
    np.testing.assert_allclose(V, np.outer(h, v))
    moved = []
    for w in np.eye(4):
        change = product_table(np.outer(w, k), V) + product_table(A, -np.outer(h, w))
        np.testing.assert_allclose(change, 0, atol=1e-9)
        moved.append(np.concatenate([np.outer(w, k).ravel(), -np.outer(h, w).ravel()]))
    assert (
        np.linalg.matrix_rank(moved, rtol=1e-9) == 4 == singular_facts(approach).kernel
    )


@pytest.mark.parametrize(("d", "a"), [(3, 1), (3, 2), (4, 2), (4, 3), (3, 3), (3, 5)])
def test_a_matrix_of_rank_a_moves_along_its_variety_and_one_of_smaller_rank_anywhere(
    d, a
):
    rng = np.random.default_rng(d + a)
    for rank in range(1, min(a, d) + 1):
        A = rng.integers(1, 9, (d, rank)) @ rng.integers(1, 9, (rank, d)) + 0.0
        assert np.linalg.matrix_rank(A, rtol=1e-9) == rank
        expected = alpha(a, d) if rank == min(a, d) else d * d
        exact = directions(F, A, a, rank)
        assert exact_rank(exact.reshape(len(exact), -1).T, F) == expected


@pytest.mark.parametrize(("d", "a"), [(3, 2), (4, 2), (4, 3)])
def test_for_a_below_d_a_smaller_rank_of_a_is_singular_whatever_v_is(d, a):
    """Curves in the set leave in more independent directions than it has dimensions."""
    approach = Approach(d, 2, a, 1, 0, values_too=False)
    facts = singular_facts(approach)
    A = approach.numerators().A
    assert (facts.rank_a, facts.rank_v, facts.kind) == (1, 2, THIN)
    assert facts.image == facts.dimension + (d - a) ** 2 and facts.kernel == 1
    # each is the velocity of a curve of matrices of rank ≤ a
    for move in np.eye(d * d).reshape(-1, d, d):
        assert np.linalg.matrix_rank(A + move, rtol=1e-9) <= a
    whole = singular_facts(Approach(d, 2, d, 1, 0, values_too=False))
    assert whole.kind == SMOOTH and whole.image == whole.dimension


@every_size
def test_where_branches_cross_their_tangent_spaces_differ(d, d_out, a):
    facts = singular_facts(Approach(d, d_out, a, 1, HALF))
    assert facts.kind == CROSSING and facts.span > facts.image >= facts.dimension


def test_with_a_and_d_out_one_the_swap_is_everywhere_and_nothing_crosses():
    """Outside the hypotheses of Theorem 3.4: two weights, one tangent space."""
    approach = Approach(3, 1, 1, HALF, HALF)
    facts = singular_facts(approach)
    assert facts.kind == CROSSING and facts.span == facts.image == facts.dimension


def test_for_d_two_the_facts_are_those_of_the_pair_of_forms():
    for s, b in PLACES:
        approach = Approach(2, 1, 2, s, b)
        q1, q2 = [
            tuple(map(int, q))
            for q in forms_of(approach.numerators().A, approach.numerators().V)
        ]
        found = singular_facts(approach)
        assert facts_of(q1, q2) == tuple(getattr(found, name) for name in Facts._fields)


def test_the_differential_is_the_derivative_of_the_table():
    """The table is linear in A and in V, so a difference is the derivative."""
    pair = Pair(*map(F.reduce, Approach(3, 2, 3, HALF, HALF).numerators()))
    rows = differential(F, pair, directions(F, pair.A, 3, 3))
    before = function_table(F, pair, 2)
    for row, move in zip(rows, np.eye(len(rows)), strict=True):
        there = Pair(pair.A + move[:9].reshape(3, 3), pair.V + move[9:].reshape(2, 3))
        change = F.reduce(function_table(F, there, 2) - before)[
            (..., *np.triu_indices(3))
        ]
        np.testing.assert_array_equal(change.ravel(), F.reduce(row))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"d": 1}, "d ≥ 2"),
        ({"d_out": 0}, "d′ ≥ 1"),
        ({"a": 0}, "a ≥ 1"),
        ({"s": 0.5}, "int or a Fraction"),
        ({"b": Fraction(3, 2)}, "from 0 to 1"),
        ({"s": Fraction(1, 10**6)}, "denominator up to 10000"),
    ],
)
def test_places_that_are_none_are_refused(change, said):
    with pytest.raises(ValueError, match=said):
        Approach(**change)


def test_a_seed_without_a_draw_of_the_wanted_ranks_is_refused(monkeypatch):
    # Its first draw has too small a rank, a later one will do.
    place = Approach(d=2, d_out=3, a=2, s=0, seed=2)
    ranks._ingredients.cache_clear()
    monkeypatch.setattr(ranks, "_DRAWS", 1)
    with pytest.raises(ArithmeticError, match="rank 2 and rank 2 .* another seed"):
        place.numerators()
    monkeypatch.undo()
    A, V = place.numerators()
    assert np.linalg.matrix_rank(A) == np.linalg.matrix_rank(V) == 2


# Corollary A.6


def conjugate_table(v, k):
    """The forms k_j |v·y|² of A = v kᵀ, V = v̄ᵀ with a complex v."""
    square = abs(v[0]) ** 2, 2 * (v[0] * np.conj(v[1])).real, abs(v[1]) ** 2
    return np.outer(k, square).tolist()


@pytest.mark.parametrize("imaginary", [0.01, 0.3, 1.0])
def test_a_complex_v_leaves_the_layers_and_not_their_closure(imaginary):
    v = np.array([0.6, 0.8]) + 1j * imaginary * np.array([-0.8, 0.6])
    k = np.array([1.0, -0.5])
    q1, q2 = conjugate_table(v, k)
    assert resultant(q1, q2) == pytest.approx(0, abs=1e-12) and discriminant(q1) < 0
    assert kind_of(q1, q2) == "closure only"
    assert nearest_layer(q1, q2).distance == pytest.approx(
        np.linalg.norm(k) * imaginary**2
    )
    np.testing.assert_allclose(
        forms_of(np.outer(v, k), v.conj()[None]), (q1, q2), atol=1e-12
    )
    assert kind_of(*conjugate_table(v.real, k)) == BOUNDARY


def test_the_forms_are_the_symmetric_matrices_of_the_table():
    A, V = np.random.default_rng(1).standard_normal((2, 2, 2))
    for m, k in product(range(2), repeat=2):
        T, (a, b, c) = product_table(A, V)[k, m], forms_of(A, [V[m]])[k]
        np.testing.assert_allclose([a, b / 2, b / 2, c], T.ravel())


# Closedness


@pytest.mark.parametrize("d_out", [1, 2])
def test_the_weights_run_off_and_the_functions_converge_to_a_layer(d_out):
    """n (A + B/n), (V + W/n)/n;   (v kᵀ + B/n)/n, n (h vᵀ + W/n);   n A, V/n²."""
    A = np.array([[0.8, -0.6], [0.4, 1.0]])
    B = np.array([[0.3, 0.7], [-0.9, 0.5]])
    V = np.array([[0.6, 1.0], [-1.0, 0.4]])[:d_out]
    W = np.array([[1.2, -0.4], [0.5, 0.8]])[:d_out]
    edge = Pair(
        np.outer([0.6, 0.8], [1.0, -0.7]), np.outer([1.0, 0.6][:d_out], [0.6, 0.8])
    )
    for layer, limit, case in (
        (lambda n: Pair(n * A + B, (V + W / n) / n), Pair(A, V), "generic"),
        (lambda n: Pair((edge.A + B / n) / n, n * edge.V + W), edge, "boundary"),
        (lambda n: Pair(n * A, V / n**2), Pair(0 * A, 0 * V), "zero"),
    ):
        layers = [layer(n) for n in (1, 10, 100, 1000, 10_000)]
        assert max(np.linalg.norm(M) for M in layers[-1]) > 5000
        away = [
            np.linalg.norm(product_table(*pair) - product_table(*limit))
            for pair in layers
        ]
        assert away == sorted(away, reverse=True) and away[-1] < 1e-3
        assert fiber_case(Reals(), limit) == case


def test_the_sizes_of_a_and_v_are_bounded_by_that_of_the_function():
    """|A| |V| ≤ √2 |φ|, with equality where the forms of keys and values are
    perpendicular."""
    rng = np.random.default_rng(2)
    for _ in range(200):
        d, d_out = rng.integers(1, 5, 2)
        A = rng.standard_normal((d, d))
        V = rng.standard_normal((d_out, d))
        most = np.sqrt(2) * np.linalg.norm(product_table(A, V))
        assert np.linalg.norm(A) * np.linalg.norm(V) <= most + 1e-12
    u, v = np.eye(2)
    for V, ratio in ((v, np.sqrt(2)), (u, 1.0)):  # the worst case, and the best
        assert 1 / np.linalg.norm(
            product_table(np.outer(u, v), V[None])
        ) == pytest.approx(ratio)
