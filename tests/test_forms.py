"""Pairs of forms: their kinds from roots that numpy finds, their weights and ranks from
the network."""

from collections import Counter
from fractions import Fraction
from math import inf

import numpy as np
import pytest
import sympy as sp
from circle import on_circle

from neuroviz.attention import Architecture
from neuroviz.rank import outputs
from neuroviz.rank.field import Reals
from neuroviz.rank.point import Point, derivative
from neuroviz.singular.forms import (
    BOUNDARY,
    CLOSURE,
    CROSSING,
    KINDS,
    OFF,
    SMOOTH,
    Root,
    common_roots,
    discriminant,
    facts_of,
    forms_of,
    kind_of,
    layer_with_root,
    make_root,
    nearest_layer,
    preimages_of,
    resultant,
)

X = sp.symbols("X")
ZERO = (0, 0, 0)
LAYER = Architecture((2, 1), (2,), tokens=3)


def test_the_resultant_is_the_resultant():
    a1, b1, c1, a2, b2, c2 = sp.symbols("a1 b1 c1 a2 b2 c2")
    ours = resultant((a1, b1, c1), (a2, b2, c2))
    sylvester = sp.resultant(a1 * X**2 + b1 * X + c1, a2 * X**2 + b2 * X + c2, X)
    assert sp.expand(ours - sylvester) == 0
    assert sp.Poly(ours, a1, b1, c1, a2, b2, c2).is_irreducible
    assert (
        sp.expand(
            discriminant((a1, b1, c1)) - sp.discriminant(a1 * X**2 + b1 * X + c1, X)
        )
        == 0
    )


def kind_by_roots(q1, q2) -> str:
    """The definition, read off the roots that numpy finds: real common ones,
    proportional or not."""
    pair = np.array([q1, q2], dtype=float)
    if not pair.any():
        return BOUNDARY
    found = []  # as points of the circle
    for form in pair[pair.any(axis=1)]:
        a, b, c = form
        real = [
            2 * np.arctan2(1, root.real)
            for root in np.roots(form)
            if abs(np.imag(root)) < 1e-6
        ]
        found.append(
            np.exp(1j * np.array(real + [0.0] * (int(a == 0) + int(a == b == 0))))
        )
    if np.linalg.matrix_rank(pair, rtol=1e-9) == 1:
        if not len(found[0]):
            return CLOSURE
        return CROSSING if abs(np.diff(found[0])) > 1e-5 else BOUNDARY
    return SMOOTH if (np.abs(np.subtract.outer(*found)) < 1e-5).any() else OFF


@pytest.fixture(scope="module")
def small_pairs():
    """Pairs of every kind with coefficients from −2 to 2: half drawn freely, half with
    a factor in common."""
    rng = np.random.default_rng(0)
    pairs = [
        tuple(map(tuple, pair)) for pair in rng.integers(-2, 3, (300, 2, 3)).tolist()
    ]
    layers = rng.integers(-1, 2, (300, 2, 2)), rng.integers(-1, 2, (300, 1, 2))
    proportional = np.einsum(
        "nk,nc->nkc", rng.integers(-2, 3, (200, 2)), rng.integers(-2, 3, (200, 3))
    )
    pairs += map(forms_of, *layers)
    return pairs + [tuple(map(tuple, pair)) for pair in proportional.tolist()]


def test_the_kind_is_what_the_roots_of_both_forms_say(small_pairs):
    kinds = [kind_of(*pair) for pair in small_pairs]
    assert kinds == [kind_by_roots(*pair) for pair in small_pairs]
    assert set(kinds) == set(KINDS), "each kind has to occur, or nothing was tested"


def test_floats_fractions_and_arrays_agree_on_the_kind(small_pairs):
    exact = [kind_of(*pair) for pair in small_pairs]
    third = [
        kind_of(*(tuple(Fraction(c, 3) for c in q) for q in pair))
        for pair in small_pairs
    ]
    floats = [kind_of(*(tuple(c / 3 for c in q) for q in pair)) for pair in small_pairs]
    columns = (
        np.array(small_pairs, dtype=float).transpose(1, 2, 0).reshape(2, 3, 8, 100)
    )
    at_once = kind_of(*map(tuple, columns))
    assert exact == third == floats == at_once.ravel().tolist()
    assert at_once.shape == (8, 100)


def test_the_common_roots_are_roots_of_both_forms_and_as_many_as_the_kind_says(
    small_pairs,
):
    number = {SMOOTH: 1, CROSSING: 2, BOUNDARY: 1, CLOSURE: 0, OFF: 0}
    for q1, q2 in small_pairs:
        if not any(q1) and not any(q2):
            with pytest.raises(ValueError, match="not 0"):
                common_roots(q1, q2)
            continue
        exact = common_roots(q1, q2)
        floats = common_roots(*([c * 1.0 for c in q] for q in (q1, q2)))
        assert len(exact) == len(floats) == number[kind_of(q1, q2)]
        for root, near in zip(exact, floats, strict=True):
            assert abs(np.exp(1j * root.angle) - np.exp(1j * near.angle)) < 1e-7
            for a, b, c in (q1, q2):
                value = a * root.X**2 + b * root.X * root.Y + c * root.Y**2
                assert value == 0 if isinstance(root.X, int) else abs(value) < 1e-14


def test_roots_at_infinity_double_roots_and_irrational_ones():
    assert common_roots((0, 0, 5), ZERO) == (Root(1, 0),) and Root(1, 0).m == inf
    assert common_roots((4, -4, 1), ZERO) == (Root(1, 2),)
    assert [root.m for root in common_roots((1, 0, -2), ZERO)] == pytest.approx(
        [2**0.5, -(2**0.5)]
    )
    assert common_roots((1, 0, 1), ZERO) == ()
    assert common_roots((Fraction(1, 2), 0, Fraction(-2, 9)), ZERO) == (
        Root(2, 3),
        Root(-2, 3),
    )


@pytest.mark.parametrize(
    ("X", "Y", "root"),
    [
        (0.3, 0.4, (0.6, 0.8)),
        (-0.3, 0.4, (-0.6, 0.8)),
        (3.0, 4.0, (0.6, 0.8)),
        (0.5, 0.0, (1, 0)),
        (0.0, 0.5, (0, 1)),
        (3e-9, 4e-9, (0.6, 0.8)),
    ],
)
def test_a_root_of_floats_has_length_one_and_points_up_or_to_the_right(X, Y, root):
    assert make_root(X, Y) == make_root(-X, -Y) == pytest.approx(root)


def test_whole_numbers_are_decided_exactly_where_floats_cannot_be():
    n = 10**40
    for last, kind in ((0, BOUNDARY), (1, CLOSURE), (-1, CROSSING)):
        q = (1, 2 * n, n * n + last)
        assert kind_of(q, ZERO) == kind
        assert kind_of(tuple(map(float, q)), ZERO) == BOUNDARY
    first, second = common_roots((1, -2 * 10**400, 2), ZERO)  # near 2·10⁴⁰⁰ and 10⁻⁴⁰⁰
    assert (first.Y, second.X) == (0.0, 0.0)


def test_the_zero_function_is_a_boundary_point():
    """Theorem 3.4 with k = 0 or h = 0."""
    for zero in (ZERO, (0.0, 0.0, 0.0)):
        assert kind_of(zero, ZERO) == BOUNDARY
        ((A, V),) = preimages_of(zero, ZERO)
        assert not A.any() and not V.any()
    assert (
        measured_kernel(np.zeros((2, 2)), np.zeros((1, 2)))
        == facts_of(ZERO, ZERO).kernel
        == 6
    )


def test_the_tolerance_is_a_relative_error_of_the_coefficients():
    layer = np.array([[1.0, 0, -1], [1, 2, 1]])
    for size, kind in ((1e-11, SMOOTH), (1e-6, OFF)):
        moved = layer + size * np.array([[1, 0, 0], [0, 0, 1]])
        assert kind_of(*map(tuple, moved)) == kind
    assert kind_of(*map(tuple, moved), tol=1e-4) == SMOOTH
    for tol in (0, 1, -1e-9, np.nan):
        with pytest.raises(ValueError, match="between 0 and 1"):
            kind_of((1.0, 0, 0), (0, 0, 1), tol)


def test_what_is_called_smooth_is_within_the_tolerance_of_its_weights():
    rng = np.random.default_rng(1)
    A = rng.standard_normal((4000, 2, 2))
    V = rng.standard_normal((4000, 1, 2))
    A[:2000, :, 1] = A[:2000, :, 0] * rng.standard_normal(
        (2000, 1)
    ) + 10.0 ** rng.uniform(-9, 0, (2000, 2))
    pair = np.array(forms_of(A, V))
    noise = 10.0 ** rng.uniform(-14, -6, 4000) * rng.standard_normal(pair.shape)
    kind = kind_of(*map(tuple, pair + noise), tol=1e-9)
    on = kind == SMOOTH
    assert 500 < on.sum() < 3500
    asked = (pair + noise)[..., on]
    near = nearest_layer(*asked)
    got = np.array(forms_of(*layer_with_root(*asked, near.X, near.Y)))
    assert (
        np.abs(got - asked).max((0, 1)) <= 3e-9 * np.sqrt((asked**2).sum((0, 1)))
    ).all()
    quiet = np.abs(noise).max((0, 1)) < 1e-11 * np.sqrt((pair**2).sum((0, 1)))
    assert np.isin(kind[quiet], (SMOOTH, CROSSING)).all(), "a layer may not be lost"


def weights_of(A, V) -> dict[str, np.ndarray]:
    """With K = 1, A is Q."""
    return {
        "1.Q": np.asarray(A, dtype=float),
        "1.K": np.eye(2),
        "1.V": np.asarray(V, dtype=float),
    }


def outputs_of(A, V, tokens) -> np.ndarray:
    return outputs(LAYER, Reals(), weights_of(A, V), tokens)


def measured_kernel(A, V) -> int:
    """6 − rank of the network's own Jacobian in (A, V)."""
    tokens = np.random.default_rng(0).standard_normal((8, 2, 3))
    every = derivative(Point(LAYER, Reals(), weights_of(A, V), {}), tokens)
    J = every.reshape(-1, 10)[:, [0, 1, 2, 3, 8, 9]]
    return 6 - np.linalg.matrix_rank(J, tol=1e-7 * max(1, np.abs(J).max()))


def test_a_layer_is_its_pair_of_forms():
    """Prop. A.5, against the network: φ(X)_i = Σ_j Σ_k (x_i)_k q_k(x_j)."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((2, 2))
    V = rng.standard_normal((1, 2))
    tokens = rng.standard_normal((5, 2, 3))
    values = [
        a * tokens[:, 0] ** 2 + b * tokens[:, 0] * tokens[:, 1] + c * tokens[:, 1] ** 2
        for a, b, c in forms_of(A, V)
    ]
    expected = sum(tokens[:, k] * values[k].sum(-1, keepdims=True) for k in (0, 1))
    out = outputs_of(A, V, tokens)[:, 0]
    np.testing.assert_allclose(out, expected, rtol=1e-12)
    wrong = outputs_of(A.T, V, tokens)[:, 0]
    assert not np.allclose(wrong, expected), "rows of A would be the wrong side"


def test_weights_give_the_function_back(small_pairs):
    for q1, q2 in small_pairs:
        if kind_of(q1, q2) in (CLOSURE, OFF):
            for numbers in (int, float):
                with pytest.raises(
                    ValueError, match="real weights need .*'(off|closure only)'"
                ):
                    preimages_of(*(tuple(map(numbers, q)) for q in (q1, q2)))
            continue
        for A, V in preimages_of(q1, q2):
            if V.dtype == object:
                assert forms_of(A, V) == (q1, q2)
            else:
                np.testing.assert_allclose(
                    np.array(forms_of(A, V), dtype=float), (q1, q2), atol=1e-13
                )


def test_the_facts_are_what_the_network_measures(small_pairs):
    """Lemma A.3 and Theorem 3.4: ranks and kernel at every preimage of every pair."""
    seen = Counter()
    for q1, q2 in (pair for pair in small_pairs if np.any(pair)):
        facts = facts_of(q1, q2)
        seen[facts.kind] += 1
        if facts.kind in (CLOSURE, OFF) or seen[facts.kind] > 25:
            continue
        layers = preimages_of(q1, q2)
        # the swap of Theorem 3.2
        assert len(layers) == (2 if facts.kind == CROSSING else 1)
        for A, V in layers:
            ranks = [
                np.linalg.matrix_rank(np.asarray(M, dtype=float), tol=1e-9)
                for M in (A, V)
            ]
            assert ranks == [facts.rank_a, facts.rank_v]
            assert measured_kernel(A, V) == facts.kernel
    assert min(seen[kind] for kind in KINDS) >= 10


def test_the_keys_decide_what_a_boundary_point_is_and_not_the_queries():
    """A = v kᵀ is boundary, A = k vᵀ is not (Theorem 3.4)."""
    v = np.array([[1.0], [2.0]])
    k = np.array([[3.0], [1.0]])
    assert (
        kind_of(*forms_of(v @ k.T, v.T)) == BOUNDARY
        and measured_kernel(v @ k.T, v.T) == 2
    )
    assert (
        kind_of(*forms_of(k @ v.T, v.T)) == CROSSING
        and measured_kernel(k @ v.T, v.T) == 1
    )


def test_the_two_preimages_of_a_crossing_are_the_swap():
    """Theorem 3.2: A = u kᵀ, V = vᵀ and A′ ∝ v kᵀ, V′ ∝ uᵀ; not a rescaling of each
    other."""
    for q1, q2 in (
        ((1, 0, -1), (2, 0, -2)),
        ((0, 1, -3), (0, 0, 0)),
        ((2, 5, 1), (4, 10, 2)),
    ):
        (A, V), (B, W) = (
            (np.asarray(M, dtype=float) for M in pair) for pair in preimages_of(q1, q2)
        )
        assert np.linalg.matrix_rank(np.vstack([V, W])) == 2
        # every column of A is a multiple of the other's values
        for one, other in ((A, W), (B, V)):
            assert np.linalg.matrix_rank(np.hstack([one, other.T]), tol=1e-9) == 1
        tokens = np.random.default_rng(0).standard_normal((4, 2, 3))
        one = outputs_of(A, V, tokens)
        other = outputs_of(B, W, tokens)
        np.testing.assert_allclose(one, other, atol=1e-12)


def test_no_layer_is_nearer_than_the_nearest():
    rng = np.random.default_rng(0)
    pair = rng.standard_normal((2, 3, 200))
    # all roots are equally near
    pair[:, :, :20] = np.outer([1.0, 0.3], [1.0, 0.0, 1.0])[..., None]
    found = nearest_layer(*map(tuple, pair))
    theta = np.linspace(0, np.pi, 10_001)[:, None]
    u = np.cos(theta)
    v = np.sin(theta)
    values = [a * u * u + b * u * v + c * v * v for a, b, c in pair]
    grid = np.sqrt(values[0] ** 2 + values[1] ** 2).min(0)
    assert (found.distance <= grid + 1e-12).all()
    np.testing.assert_allclose(found.distance, grid, atol=1e-5)
    layer = np.array(forms_of(*layer_with_root(*map(tuple, pair), found.X, found.Y)))
    away = np.sqrt(np.einsum("kcn,c->n", (layer - pair) ** 2, [1, 0.5, 1]))
    np.testing.assert_allclose(away, found.distance, atol=1e-12)
    assert (kind_of(*map(tuple, layer)) != OFF).all()


def test_at_a_root_that_two_forms_share_only_rounding_is_left():
    """The quartic alone leaves up to a hundred times as much."""
    rng = np.random.default_rng(0)
    theta = rng.uniform(0, np.pi, 20_000)
    u = np.cos(theta)
    v = np.sin(theta)
    factors = rng.standard_normal((2, 2, 20_000))
    pair = [(v * x, v * y - u * x, -u * y) for x, y in factors]
    found = nearest_layer(*pair)
    assert (found.distance <= 1e-15 * np.linalg.norm(pair, axis=(0, 1))).all()


def test_the_nearest_layer_is_nearest_in_the_bombieri_norm():
    """b² counts half. Found without `nearest_layer`: project on the layers ℓ · v for
    each v in turn."""

    def distance(q, weight_of_b):
        scale = np.sqrt([1, weight_of_b, 1])
        found = []
        for theta in np.linspace(0, np.pi, 2001):
            x = np.cos(theta)
            y = np.sin(theta)
            layers = scale[:, None] * [[x, 0], [y, x], [0, y]]  # X · v and Y · v
            best = np.linalg.lstsq(layers, scale * q)[0]
            found.append(np.linalg.norm(layers @ best - scale * q))
        return min(found)

    for s in (1.0, 1.9):
        near = float(nearest_layer((1.0, s, 1.0), (0.0, 0.0, 0.0)).distance)
        assert distance((1.0, s, 1.0), 0.5) == pytest.approx(near, abs=1e-6)
    assert distance((1.0, 1.0, 1.0), 0.5) == pytest.approx(0.5, abs=1e-6)
    assert distance((1.0, 1.0, 1.0), 1.0) == pytest.approx(0.577, abs=5e-4)


def test_the_circle_shows_real_roots_on_its_rim_and_complex_ones_inside():
    """Against the half-plane: Cayley's map, then Klein's, conjugated so that rim and
    inside fit."""
    rng = np.random.default_rng(0)
    for q in rng.standard_normal((200, 3)).tolist():
        points = on_circle(tuple(q))
        a, b, c = q
        if b * b > 4 * a * c:
            half = np.arctan2(*points.T[::-1]) / 2
            u = np.cos(half)
            v = np.sin(half)
            assert (
                len(half) == 2
                and (np.abs(a * u * u + b * u * v + c * v * v) < 1e-12).all()
            )
            continue
        root = complex(-b / (2 * a), abs(np.sqrt(4 * a * c - b * b) / (2 * a)))
        w = (root - 1j) / (root + 1j)
        klein = np.conj(2 * w / (1 + abs(w) ** 2))
        np.testing.assert_allclose(points, [[klein.real, klein.imag]], atol=1e-12)
        assert np.linalg.norm(points) < 1
