"""A = KᵀQ: what the walk leaves alone, what Lemma 3.1 recovers, and the smallest case
as a surface."""

from itertools import product

import numpy as np
import pytest
import sympy
from panels import title

from neuroviz.attention.expected import alpha
from neuroviz.attention.symmetry import WALKS, walk_in_gl
from neuroviz.factorization import study as module
from neuroviz.factorization.determinantal import (
    factor,
    measure_product,
    product_jacobian,
    rank_one_heads,
    rank_one_point,
    ruling,
    slice_coordinates,
    slice_matrix,
)
from neuroviz.factorization.panel import FactorizationExplorer
from neuroviz.rank.field import DEFAULT_PRIME, SECOND_PRIME, PrimeField, Reals
from neuroviz.rank.floats import numerical_rank

PANEL = FactorizationExplorer
SIZES = [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (2, 4), (4, 2), (6, 8)]
SLICES = [(0.0, 330.0, 0.6), (1.0, 77.0, 0.0), (1.5, 200.0, -0.4), (0.3, 360.0, 1.0)]

REFUSED = [
    # state, what is said, dimension of the fibre there
    ("a=5", "a > d, and 4 of a² = 25 directions in GLₐ move neither", 21),
    ("rank=Q", "Q has rank 1, below 2", 5),
    ("rank=K", "K has rank 1, below 2", 5),
    ("a=1;rank=Q", "Q has rank 0, below 1", 3),
    ("d=2;a=1;rank=K", "K has rank 0, below 1", 2),
    ("d=2;a=1;height=0", "Q has rank 0, below 1", 2),
    ("d=2;a=2;height=0", "Q has rank 0, below 2", 4),
    ("d=2;a=2;rank=K;trace=1", "K has rank 1, below 2", 4),
    ("d=2;a=4;rank=Q;trace=1", "Q has rank 1, below 2", 12),
    ("a=5;rank=K", "K has rank 2, below 3", 21),
]


def said(facts):
    return " ".join(line["text"] for line in facts["says"])


def heads(d, a, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((a, d)), rng.standard_normal((a, d))


# Walks in GL_a


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize("a", [1, 2, 3, 8])
def test_a_walk_is_a_one_parameter_subgroup(kind, a):
    for s, t in [(0.3, 0.5), (-1.0, 1.0), (0.0, 0.7)]:
        both = walk_in_gl(kind, a, s) @ walk_in_gl(kind, a, t)
        np.testing.assert_allclose(both, walk_in_gl(kind, a, s + t), atol=1e-12)
    np.testing.assert_array_equal(walk_in_gl(kind, a, 0.0), np.eye(a))
    moves = not np.array_equal(walk_in_gl(kind, a, 0.4), np.eye(a))
    assert moves == (a > 1 or kind == "stretch")


@pytest.mark.parametrize("kind", WALKS)
def test_a_walk_moves_each_pair_of_coordinates_alike(kind):
    one_pair, four_pairs = (walk_in_gl(kind, a, 0.4) for a in (2, 8))
    np.testing.assert_array_equal(four_pairs, np.kron(np.eye(4), one_pair))


@pytest.mark.parametrize("kind", WALKS)
@pytest.mark.parametrize(("d", "a"), SIZES)
def test_a_walk_moves_the_factors_leaves_the_product_alone_and_is_recovered(
    panel, kind, d, a
):
    """Lemma 3.1 recovers it, for a ≤ d."""
    panel.state = f"d={d};a={a};walk={kind};along=-0.8"
    study = panel._shown
    assert study.change < 1e-9 and study.is_same
    assert (study.moved > 0.05) == (a > 1 or kind == "stretch")
    np.testing.assert_allclose(study.now.Q, study.C @ study.start.Q, atol=1e-12)
    np.testing.assert_allclose(study.C.T @ study.now.K, study.start.K, atol=1e-12)
    assert (study.recovered is None) == (a > d)
    if a <= d:
        np.testing.assert_allclose(
            study.recovered, walk_in_gl(kind, a, -0.8), atol=1e-9
        )
        assert study.here == a * a and "C is recovered" in panel.description
        assert f"■ proved · Lemma 3.1: fibre a² = {a * a}" in title(panel)


def test_entries_by_hand_take_the_place_of_those_that_are_drawn(panel):
    Q, K = panel._shown.start[:2]
    panel.state = "entries=Q12=0.5, K23=-1 Q71=2"
    other = panel._shown.start
    assert (
        (other.Q != Q).sum() == (other.K != K).sum() == 1
        and other.Q[0, 1] == 0.5
        and other.K[1, 2] == -1
    )
    assert said(panel.facts["matrices"]) == "your numbers: a new A that stands still"
    panel.controls["a"].value = 8
    assert panel._shown.start.Q[6, 0] == 2
    for wrong in ("Q12", "Q01=1", "Q12=9.5", "V11=1"):
        panel.controls["entries"].value = wrong
        assert (
            "entries are such as Q12=0.5" in panel.status
            and repr(wrong) in panel.status
        )


def foot_of(point):
    """The matrix of rank ≤ 1 at the angle and height of a point."""
    return rank_one_point(point.trace, point.angle, point.height)


def test_the_foot_of_a_large_product_is_the_nearest(panel):
    panel.state = "d=2;a=2;entries=Q11=4 Q12=-3 K22=5"
    point = panel._shown.point
    far = 2 * np.abs(point.place).max()
    places = product(range(360), np.linspace(-far, far, 800))
    around = [rank_one_point(point.trace, angle, z) for angle, z in places]
    least = np.linalg.norm(np.array(around) - point.place, axis=1).min()
    assert (
        least - 1e-3
        < np.linalg.norm(np.subtract(foot_of(point), point.place))
        <= least + 1e-9
    )


# Lemma 3.1


@pytest.mark.parametrize(("state", "said", "fiber"), REFUSED)
def test_where_the_lemma_does_not_apply_nothing_is_recovered(panel, state, said, fiber):
    panel.state = state
    assert panel.status.startswith("done")
    assert f"C cannot be recovered: {said}" in panel.description
    assert panel._shown.here == fiber and str(fiber) in panel.description
    a = panel.controls["a"].value
    assert (
        f"▨ outside hypotheses · Lemma 3.1: not a² = {a * a} but {fiber} here"
        in title(panel)
    )
    assert panel._shown.recovered is None and panel._shown.is_same


def test_where_both_factors_have_lost_rank_no_dimension_is_claimed(panel):
    panel.state = "d=2;a=1;entries=Q11%3D0 Q12%3D0 K11%3D0 K12%3D0"
    # The kernel of the derivative; {KᵀQ = 0} has dimension 2.
    assert panel._shown.here == 4
    assert "to first order 4 directions of (Q, K) leave A alone" in panel._badges


@pytest.mark.parametrize("state", ["rank=Q", "rank=K", "d=6;a=4;rank=Q", "a=1;rank=K"])
def test_off_the_orbit_one_factor_moves_alone_and_no_c_leads_there(panel, state):
    panel.state = f"{state};along=0;off_orbit=0.5"
    study = panel._shown
    moves = 1 if "rank=Q" in state else 0
    assert np.array_equal(study.now[1 - moves], study.start[1 - moves])
    change = study.now[moves] - study.start[moves]
    assert np.linalg.norm(change) == pytest.approx(0.5)
    # CQ and C⁻ᵀK have the row spaces of Q and K; this one has a row outside
    rows, *_ = np.linalg.lstsq(study.start[moves].T, change.T, rcond=None)
    outside = change.T - study.start[moves].T @ rows
    assert np.linalg.norm(outside) == pytest.approx(0.5)
    assert study.is_same and study.is_off_orbit
    name = "QK"[moves]
    assert f"{name} leaves the orbit, A stands still" in said(panel.facts["matrices"])
    assert "no C leads from one to the other" in panel.description


@pytest.mark.parametrize("state", ["rank=full", "a=3;rank=Q", "d=2;a=4;rank=K"])
def test_nothing_is_off_the_orbit_where_no_rank_is_lost_or_the_head_is_wide(
    panel, state
):
    panel.state = f"{state};off_orbit=0.5"
    assert panel.controls["off_orbit"].disabled
    assert panel._shown.is_same and not panel._shown.is_off_orbit
    assert "no C leads" not in panel.description
    panel.state = "d=3;a=2;rank=Q"
    assert not panel.controls["off_orbit"].disabled


# Counting


@pytest.mark.parametrize("d", range(1, 7))
def test_the_measured_dimensions_are_the_formula(d):
    for a in range(1, 9):
        for prime in (DEFAULT_PRIME, SECOND_PRIME):
            found = measure_product(d, a, seed=1, prime=prime)
            assert found.dimension == alpha(a, d) and found.fiber == 2 * a * d - alpha(
                a, d
            )
            assert found.fiber == (a * a if a <= d else 2 * a * d - d * d)
            assert (found.error_bound == 0) == (a >= d) and found.error_bound < 1e-5


def test_the_count_can_disagree():
    """A small field hides rank often enough: over F₃ some seeds fall short, and the
    bound says it may be."""
    counts = [measure_product(2, 1, seed=seed, prime=3) for seed in range(40)]
    assert {count.dimension for count in counts} != {3}
    assert all(count.dimension <= 3 and count.error_bound > 0.3 for count in counts)
    with pytest.raises(ValueError, match="d = 0, a = 1"):
        measure_product(0, 1)


def test_the_derivative_of_the_product_is_that_of_finite_differences():
    Q, K = heads(3, 2)
    J = product_jacobian(Reals(), Q, K)
    step = 1e-6
    columns = []
    for direction in np.eye(12):
        dQ = direction[:6].reshape(2, 3)
        dK = direction[6:].reshape(2, 3)
        ahead, behind = ((K + s * dK).T @ (Q + s * dQ) for s in (step, -step))
        columns.append((ahead - behind).ravel() / (2 * step))
    np.testing.assert_allclose(J, np.array(columns).T, atol=1e-9)
    over = PrimeField(7)
    assert np.array_equal(
        product_jacobian(over, over.reduce(Q.round()), K.round()) % 7,
        product_jacobian(Reals(), Q.round(), K.round()) % 7,
    )


def test_a_given_matrix_is_factored():
    A = slice_matrix(0.7, 0.1, 0.2, 0.3)
    for a in (2, 3, 8):
        Q, K = factor(A, a, np.random.default_rng(0))
        np.testing.assert_allclose(K.T @ Q, A, atol=1e-12)
        assert Q.shape == K.shape == (a, 2) and numerical_rank(K) == 2
    with pytest.raises(ValueError, match="a = 1 < d = 2"):
        factor(A, 1, np.random.default_rng(0))


def test_the_counts_are_said(panel):
    """`test_factors_facts` has that they are measured, and stand beside the formula."""
    for d, a in SIZES:
        panel.state = f"d={d};a={a}"
        facts = panel.facts["dimensions"]
        dimension, fiber = (
            facts[what]["measured"][a - 1] for what in ("matrices", "fiber")
        )
        assert f"{fiber} of {2 * a * d} directions " in panel.description
        assert (
            f"{dimension} dimension" in panel.description
            and f"d² = {d * d}" in panel.description
        )


def test_a_wrong_formula_leaves_the_measurement_alone_and_the_panel_says_so(
    panel, monkeypatch
):
    before = panel.facts["dimensions"]["matrices"]["measured"]
    monkeypatch.setattr(module, "alpha", lambda a, d: alpha(a, d) + 1)
    panel.controls["along"].value = 0.5
    assert panel.facts["dimensions"]["matrices"]["measured"] == before
    assert "≠ formula" in title(panel) and "DIFFER" in said(panel.facts["dimensions"])
    monkeypatch.undo()
    panel.controls["along"].value = 0.4
    assert "≠" not in title(panel) and "DIFFER" not in said(panel.facts["dimensions"])


# The surface


def test_the_rank_one_matrices_of_one_trace_are_a_cone_or_a_hyperboloid():
    c, x, y, z = sympy.symbols("c x y z", real=True)
    A = sympy.Matrix([[c / 2 + x, y + z], [y - z, c / 2 - x]])
    det = c**2 / 4 - x**2 - y**2 + z**2
    assert sympy.expand(A.det() - det) == 0
    np.testing.assert_allclose(
        slice_matrix(0.7, 0.1, 0.2, 0.3),
        np.array(A.subs({c: 0.7, x: 0.1, y: 0.2, z: 0.3})).astype(float),
    )
    # Singular: on the surface, and the gradient is zero. That is the origin, and only
    # for c = 0.
    singular = sympy.solve(
        [det, *(sympy.diff(det, v) for v in (x, y, z))], [x, y, z, c], dict=True
    )
    assert singular == [{x: 0, y: 0, z: 0, c: 0}]


@pytest.mark.parametrize("at", SLICES)
def test_a_point_of_the_surface_has_rank_one_and_its_factors_give_it(at):
    A = slice_matrix(at[0], *rank_one_point(*at))
    assert abs(np.linalg.det(A)) < 1e-12 and numerical_rank(A) == 1
    Q, K = rank_one_heads(*at)
    np.testing.assert_allclose(K.T @ Q, A, atol=1e-12)
    assert np.linalg.norm(K) == pytest.approx(1)
    np.testing.assert_allclose(
        slice_coordinates(A), (at[0], *rank_one_point(*at)), atol=1e-12
    )
    x, y, z = rank_one_point(*at)
    # beside it: rank 2
    assert abs(np.linalg.det(slice_matrix(at[0], 1.1 * x, 1.1 * y, z))) > 1e-3


@pytest.mark.parametrize("at", SLICES)
@pytest.mark.parametrize(
    ("family", "stack"), [("image", np.hstack), ("kernel", np.vstack)]
)
def test_a_straight_line_keeps_the_image_or_the_kernel(at, family, stack):
    start, end = map(np.array, ruling(*at, family, 1.2))
    A = slice_matrix(at[0], *rank_one_point(*at))
    for share in (0.0, 0.3, 1.0):
        other = slice_matrix(at[0], *(start + share * (end - start)))
        assert abs(np.linalg.det(other)) < 1e-12
        assert numerical_rank(stack([A, other])) == 1
    np.testing.assert_allclose(
        start + (at[2] + 1.2) / 2.4 * (end - start), rank_one_point(*at), atol=1e-12
    )


@pytest.mark.parametrize("at", SLICES)
def test_the_point_of_the_surface_is_the_product_wherever_the_walk_is(panel, at):
    panel.state = "d=2;a=1;walk=stretch;trace={};angle={};height={}".format(*at)
    for along in (0.4, -1.0):
        panel.controls["along"].value = along
        point = panel._shown.point
        seen = slice_coordinates(panel._shown.products[1])
        np.testing.assert_allclose(seen, (at[0], *rank_one_point(*at)), atol=1e-9)
        np.testing.assert_allclose(point.place, seen[1:], atol=1e-9)
        np.testing.assert_allclose(foot_of(point), point.place, atol=1e-9)
    assert "A is on it" in panel.description


@pytest.mark.parametrize("at", SLICES)
def test_a_product_of_rank_two_is_off_the_surface_and_its_foot_is_the_nearest(
    panel, at
):
    panel.state = "d=2;a=3;trace={};angle={};height={}".format(*at)
    point = panel._shown.point
    assert point.rank == 2 and "A, of rank 2, is not on it" in panel.description
    A = np.array(point.place)
    distance = np.linalg.norm(np.array(point.place) - foot_of(point))
    places = product(range(0, 360, 5), np.linspace(-1.5, 1.5, 121))
    around = [rank_one_point(at[0], angle, z) for angle, z in places]
    assert distance <= np.linalg.norm(np.array(around) - A, axis=1).min() + 1e-9
    panel.state = "rank=Q"
    assert panel._shown.point.rank == 1


def test_only_the_cone_has_a_singular_point(panel):
    assert "surface" not in panel.description and panel.controls["trace"].disabled
    panel.controls["d"].value = 2
    assert "singular at 0 only" in panel.description and panel.facts["surface"]["tip"]
    panel.controls["trace"].value = 0.05
    assert "smooth everywhere" in panel.description


def test_a_product_that_changed_would_be_seen(panel, monkeypatch):
    """The equality on the screen is measured: a wrong symmetry is said."""
    assert "A stands still" in said(panel.facts["matrices"])
    wrong = lambda over, weights, layer, C: {
        "1.Q": C @ weights["1.Q"],
        "1.K": C.T @ weights["1.K"],
    }
    monkeypatch.setattr(module, "change_head_basis", wrong)
    panel.controls["walk"].value = "shear"
    assert said(panel.facts["matrices"]) == "A has CHANGED"
    assert "outside hypotheses" in title(panel)
