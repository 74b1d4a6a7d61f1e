"""Gradient flow of one layer: the right velocity, what it conserves, and where it
ends."""

import numpy as np
import pytest
from flows import followed, forms_table

from neuroviz.attention.layer import product_table
from neuroviz.singular.flow import (
    TARGETS,
    Flow,
    attraction,
    gradient_flow,
    random_starts,
    random_targets,
)


def starts(runs, d, d_out, a=None, seed=0):
    rng = np.random.default_rng(seed)
    head = [(runs, d, d)] if a is None else [(runs, a, d), (runs, a, d)]
    return [rng.standard_normal(shape) / 2 for shape in (*head, (runs, d_out, d))]


def bombieri(form):
    """a² + b²/2 + c² for aX² + bXY + cY²."""
    a, b, c = form
    return a**2 + b**2 / 2 + c**2


def forms(A, V):
    """The forms l_k · v_m of a layer with d = 2, multiplied out by hand."""
    return [
        (A[0, k] * v[0], A[0, k] * v[1] + A[1, k] * v[0], A[1, k] * v[1])
        for k in range(2)
        for v in V
    ]


def test_the_loss_is_half_the_bombieri_distance_of_the_forms():
    (A, V), (A2, V2) = starts(1, 2, 3, seed=1), starts(1, 2, 3, seed=2)
    flow = gradient_flow(product_table(A2, V2), A, V, times=(0, 0.1))
    apart = [
        np.subtract(p, q)
        for p, q in zip(forms(A[0], V[0]), forms(A2[0], V2[0]), strict=True)
    ]
    assert flow.loss[0, 0] == pytest.approx(sum(map(bombieri, apart)) / 2)


@pytest.mark.parametrize(("d", "d_out"), [(2, 1), (3, 2), (2, 3)])
def test_the_runs_follow_minus_the_gradient(d, d_out):
    """Against torch's autograd, integrated by another solver."""
    A, V = starts(2, d, d_out)
    target = product_table(*starts(2, d, d_out, seed=9))
    flow = gradient_flow(target, A, V, times=(0, 1, 2), rtol=1e-9)
    for run in range(2):
        reference = followed(target[run], [A[run], V[run]], (0, 1, 2))
        np.testing.assert_allclose(flow.A[:, run], reference[0], atol=1e-6)
        np.testing.assert_allclose(flow.V[:, run], reference[1], atol=1e-6)


def test_the_loss_never_rises():
    A, V = starts(20, 2, 1, seed=3)
    targets = random_targets("gaussian", 20, seed=3)
    flow = gradient_flow(targets, A, V, times=np.linspace(0, 200, 61))
    assert (np.diff(flow.loss, axis=0) <= 1e-6).all()
    assert (flow.loss[-1] < flow.loss[0]).all()
    assert flow.loss.shape == (61, 20) and flow.times[-1] == 200


def squares(matrices):
    """Squared Frobenius norms."""
    return np.square(matrices).sum(axis=(-2, -1))


def check_constant(values, atol):
    np.testing.assert_allclose(
        values, np.broadcast_to(values[0], values.shape), atol=atol
    )


def test_what_theory_says_is_conserved_in_a_and_v_is():
    A, V = starts(8, 3, 2, seed=4)
    target = product_table(*starts(8, 3, 2, seed=5))
    flow = gradient_flow(target, A, V, times=np.linspace(0, 40, 61), rtol=1e-9)
    check_constant(squares(flow.A) - squares(flow.V), atol=1e-6)
    # this one nothing conserves
    assert np.ptp(squares(flow.A), axis=0).max() > 0.1


@pytest.mark.parametrize("a", [1, 2, 4])
def test_what_theory_says_is_conserved_in_q_and_k_is(a):
    parts = [part[0] for part in starts(1, 3, 2, a, seed=4)]
    (target,) = product_table(*starts(1, 3, 2, seed=5))
    Q, K, V = followed(target, parts, np.linspace(0, 40, 61))
    check_constant(Q @ Q.mT - K @ K.mT, atol=1e-6)
    check_constant(squares(Q) - squares(V), atol=1e-6)
    # this one nothing conserves
    assert np.ptp(squares(Q)) > 0.1


def ended(A, V):
    """A flow that stands still at given weights."""
    A = np.array([[A]], dtype=float)
    V = np.array([[V]], dtype=float)
    return Flow(np.zeros(1), product_table(A[0], V[0]), A, V, np.zeros((1, 1)))


@pytest.mark.parametrize(
    ("A", "V", "end"),
    [
        ([[1, 0], [0, 1]], [[1, 0]], "smooth"),
        # A = u kᵀ with u = (1, 0), v = (0, 1)
        ([[1, 2], [0, 0]], [[0, 1]], "singular"),
        # u = v: the keys' form is the values' form
        ([[1, 2], [0, 0]], [[1, 0]], "boundary"),
        ([[1, 0], [2, 0]], [[1, 0]], "singular"),  # A = k vᵀ: v on the wrong side
        ([[1, 2], [0, 0]], [[1, 0], [0, 1]], "smooth"),  # V of rank two
        ([[1, 2], [0, 0]], [[1, 0], [3, 0]], "boundary"),
    ],
)
def test_where_a_run_ends_is_read_off_its_weights(A, V, end):
    assert ended(A, V).ends.tolist() == [end]


def test_a_target_at_the_boundary_is_reached_as_slowly_as_one_over_the_root_of_time():
    target = forms_table((1, 2, 1), (0, 0, 0))  # (X + Y)²
    angles = []
    for time in (400, 1_600):
        flow = gradient_flow(target, *random_starts(4, seed=0), times=(0, time))
        assert set(flow.ends) == {"singular"}
        angles.append(flow.angle.mean())
    assert 1.9 < angles[0] / angles[1] < 2.1


def test_starts_have_entries_of_variance_one_quarter():
    for part in random_starts(3000, seed=0):
        assert part.var() == pytest.approx(0.25, abs=0.01) and abs(part.mean()) < 0.02


def test_a_flow_is_the_same_at_whatever_times_one_looks():
    T = random_targets("dotted", 5, 1)
    start = random_starts(5, 1)
    few = gradient_flow(T, *start, times=[0, 0.5, 7, 20])
    many = gradient_flow(T, *start, times=np.linspace(0, 20, 41))
    np.testing.assert_allclose(few.times, [0, 0.5, 7, 20])
    np.testing.assert_allclose(few.A, many.A[[0, 1, 14, 40]], atol=1e-5)
    for times in ([1, 2], [0], [0, 2, 2], [[0, 1]]):
        with pytest.raises(ValueError, match="increase from 0"):
            gradient_flow(T, *start, times=times)


def test_the_table_of_a_pair_of_forms_is_that_of_a_layer_that_has_them():
    A, V = (part[0] for part in starts(1, 2, 1, seed=6))
    np.testing.assert_allclose(forms_table(*forms(A, V)), product_table(A, V))


def test_dotted_targets_have_no_common_real_root_and_realisable_ones_have():
    def common_real_root(T):
        (a1, b1, c1), (a2, b2, c2) = [(q[0, 0], 2 * q[0, 1], q[1, 1]) for q in T[:, 0]]
        resultant = (a1 * c2 - a2 * c1) ** 2 - (a1 * b2 - a2 * b1) * (b1 * c2 - b2 * c1)
        return abs(resultant) < 1e-9 and b1**2 - 4 * a1 * c1 >= -1e-9

    assert all(common_real_root(T) for T in random_targets("realisable", 50, seed=0))
    assert not any(common_real_root(T) for T in random_targets("dotted", 50, seed=0))
    assert not any(common_real_root(T) for T in random_targets("gaussian", 50, seed=0))
    for kind in TARGETS:
        T = random_targets(kind, 3, seed=0)
        assert T.shape == (3, 2, 1, 2, 2) and (T == np.swapaxes(T, -1, -2)).all()


def test_gaussian_targets_are_isotropic_for_the_norm():
    T = random_targets("gaussian", 4000, seed=0)[:, 0, 0]
    spread = [np.var(T[:, 0, 0]), 2 * np.var(T[:, 0, 1]), np.var(T[:, 1, 1])]
    np.testing.assert_allclose(spread, 1, atol=0.12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"V": np.ones((3, 1, 2))}, "with one N and one d"),
        ({"V": np.ones((2, 1, 3))}, "with one N and one d"),
        ({"A": np.ones((2, 2))}, "need shapes"),
        ({"target": np.ones((2, 2, 2, 2))}, r"the target needs shape \(2, 1, 2, 2\)"),
        ({"target": np.triu(np.ones((2, 1, 2, 2)))}, "symmetric"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    given = {
        "target": np.zeros((2, 1, 2, 2)),
        "A": np.ones((2, 2, 2)),
        "V": np.ones((2, 1, 2)),
        "times": (0, 1),
    } | change
    with pytest.raises(ValueError, match=said):
        gradient_flow(**given)


def test_unknown_targets_and_runs_are_refused():
    with pytest.raises(ValueError, match="one of 'gaussian', 'realisable'"):
        attraction("random")
    with pytest.raises(ValueError, match="runs must be a whole number ≥ 1; got 0"):
        attraction("dotted", runs=0)


@pytest.mark.full
def test_the_table_of_the_documentation_is_reproduced():
    """Its numbers are of 4,000 runs and time 600; here 60 runs and time 300, within
    four standard errors."""
    table = [attraction(target, runs=60, seed=2, time=300) for target in TARGETS]
    for row, documented in zip(table, (0.001, 0.022, 0.996, 0.052), strict=True):
        error = max((documented * (1 - documented) / 60) ** 0.5, 1 / 60)
        assert abs(row.singular - documented) <= 4 * error, row
        assert row.near >= row.singular >= row.boundary
    assert table[2].boundary > 0.6
