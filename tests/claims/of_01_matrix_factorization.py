"""What notebooks/01_matrix_factorization.py says in words: see tests/test_claims.py."""

from itertools import combinations, product

import numpy as np

from claims.common import OVER
from neuroviz.beyond.transformers.real_models import real_model
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer
from neuroviz.engine.rank import exact_rank, numerical_rank
from neuroviz.engine.symmetry import WALKS, drop_rank, recover_head_basis, walk_in_gl
from neuroviz.explorables import FactorizationExplorer
from neuroviz.factorization.determinantal import (
    factor,
    measure_product,
    product_jacobian,
    ruling,
    slice_matrix,
)
from neuroviz.factorization.panel import FactorizationSetting, study_factorization
from neuroviz.lessons.checks_one_layer import check_large_fibre


def heads(d, a, seed=0):
    """Random Q and K; those of the notebook for d = 3, a = 2."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((a, d)), rng.standard_normal((a, d))


def moved_by(C, Q, K):
    return C @ Q, np.linalg.inv(C).T @ K


Q, K = heads(3, 2)
A = K.T @ Q
C = np.array([[1.0, 2.0], [0.0, 1.0]])
Q2, K2 = moved_by(C, Q, K)
THIN = drop_rank(Q)


def close(*matrices):
    return all(np.allclose(matrices[0], other, atol=1e-9) for other in matrices[1:])


def null_space(M):
    return np.linalg.svd(M)[2][numerical_rank(M) :]


def refused(*layers):
    try:
        recover_head_basis(Reals(), *layers)
    except ValueError:
        return True
    return False


def fibre_at(Q, K):
    """Dimension of the kernel of the derivative at Q, K."""
    return Q.size + K.size - numerical_rank(product_jacobian(Reals(), Q, K))


def fibre_after_a_drop(d, a, seed=0):
    """Dimension of the kernel at a random K and a Q of rank a − 1, to first order."""
    Q, K = heads(d, a, seed)
    return fibre_at(drop_rank(Q), K)


def attention_is_a_product():
    x, y = np.random.default_rng(1).standard_normal((2, 3))
    return np.isclose((K @ y) @ (Q @ x), y @ A @ x) and not np.isclose((K @ x) @ (Q @ y), y @ A @ x)


def product_stays():
    """For C and its inverse transpose; not when both get the same C."""
    return all(
        close(np.linalg.inv(M).T @ k, Kb) and close(Kb.T @ Qb, k.T @ q) and not close((M @ k).T @ Qb, k.T @ q)
        for d, a in ((3, 2), (2, 3), (4, 4))
        for q, k in [heads(d, a, 1)]
        for M in [np.random.default_rng(2).standard_normal((a, a))]
        for Qb, Kb in [moved_by(M, q, k)]
    )


def spectrum(M):
    return np.linalg.svd(M, compute_uv=False)


def spectra_along_the_walks():
    """For each walk: whether the singular values of A stand still, and whether those of Q do."""
    found = {}
    for walk in WALKS:
        there = [moved_by(walk_in_gl(walk, 2, s), Q, K) for s in (-1.0, 0.3, 1.0)]
        found[walk] = (
            all(close(spectrum(k.T @ q), spectrum(A)) for q, k in there),
            all(close(spectrum(q), spectrum(Q)) for q, _ in there),
        )
    return found


def any_singular_values():
    """Q, of rank 2, is carried to singular values that are chosen."""
    U, sigma, _ = np.linalg.svd(Q, full_matrices=False)
    return all(
        np.allclose(spectrum(np.diag(wanted / sigma) @ U.T @ Q), wanted)
        for wanted in np.array([[5.0, 0.1], [1.0, 1.0], [9.0, 8.0]])
    )


def study(**changes):
    setting = {"d": 3, "a": 2, "walk": "rotation", "along": 0.4, "rank": "full", "trace": 0.0, "angle": 330.0}
    return study_factorization(FactorizationSetting(**(setting | {"height": 0.6, "seed": 0} | changes)))


def walks_that_move(a):
    return [walk for walk in WALKS if study(a=a, walk=walk, along=1.0).moved > 1e-9]


def each_entry_moves_along_the_fibre(d, a):
    """The a² directions (S Q, −Sᵀ K) are independent and in the kernel."""
    q, k = heads(d, a)
    J = product_jacobian(Reals(), q, k)
    units = np.eye(a * a).reshape(-1, a, a)
    directions = np.array([np.concatenate([(S @ q).ravel(), (-S.T @ k).ravel()]) for S in units])
    return numerical_rank(directions) == a * a and np.abs(J @ directions.T).max() < 1e-9


def only_determinant():
    """Products through 3 dimensions in 4 × 4: determinant 0, exactly, and the other minors are not."""
    rng = np.random.default_rng(0)
    q, k = rng.integers(-9, 10, (2, 3, 4))
    M = k.T @ q
    return abs(np.linalg.det(M)) < 1e-6 and abs(np.linalg.det(M[:3, :3])) > 0.5


def typical_rank():
    """At 200 random points the rank is that of measure_product; at Q = 0 it is not."""
    ranks = {numerical_rank(product_jacobian(Reals(), *heads(3, 2, seed))) for seed in range(200)}
    return ranks == {measure_product(3, 2).dimension} and fibre_at(0 * Q, K) != 4


def pinv_cancels(M):
    return close(M @ np.linalg.pinv(M), np.eye(len(M)))


def lemma_3_1(d, a):
    """Two factorisations that know nothing of each other: one C leads from one to the other, and only one."""
    q, k = heads(d, a, 3)
    U, sigma, Vt = np.linalg.svd(k.T @ q)
    q2, k2 = sigma[:a, None] * Vt[:a], U[:, :a].T
    found = recover_head_basis(Reals(), Layer(q, k, None), Layer(q2, k2, None))
    ways = np.kron(np.eye(a), q.T)  # of C ↦ C Q
    return close(found @ q, q2) and close(np.linalg.inv(found).T @ k, k2) and not len(null_space(ways))


def same_row_space(one, other):
    return numerical_rank(one) == numerical_rank(other) == numerical_rank(np.vstack([one, other]))


def the_proof():
    """Its sentences, for a factorisation (Q′, K′) = (C Q, C⁻ᵀ K); with a thin Q nothing can be cancelled."""
    return (
        [numerical_rank(M) for M in (A, Q2, K2)] == [2, 2, 2]
        and same_row_space(A, Q)
        and same_row_space(A, Q2)
        and not same_row_space(A, K)
        and pinv_cancels(Q)
        and not pinv_cancels(THIN)
        and close((K.T - K2.T @ C) @ Q, 0 * A)
        and close(K, C.T @ K2)
    )


def unseen_direction():
    return np.linalg.svd(THIN)[0][:, 1:]


def where_the_surplus_comes_from():
    """Dimensions: of the changes v wᵀ of K, that leave A; of those among them that a C with C Q = Q makes."""
    v = unseen_direction()
    free = [v @ w[None] for w in np.eye(3)]
    by_basis = [-(s[:, None] @ v.T).T @ K for s in np.eye(2)]  # −Sᵀ K with S = s vᵀ, and S Q = 0
    together = np.array([M.ravel() for M in free + by_basis])
    return (
        all(close((K + M).T @ THIN, K.T @ THIN) for M in free)
        and all(np.abs(s[:, None] @ v.T @ THIN).max() < 1e-9 for s in np.eye(2))
        and [numerical_rank(together[:3]), numerical_rank(together[3:]), numerical_rank(together)]
        == [3, 2, 3]
        and np.abs(THIN.T @ v).max() < 1e-9
    )


def a_change_that_no_basis_makes():
    K3 = K + unseen_direction() @ np.array([[1.0, 0.0, 0.0]])
    spans = [numerical_rank(np.vstack([K, other])) for other in (K3, K2, moved_by(C.T, Q, K)[1])]
    return close(K3.T @ THIN, K.T @ THIN) and spans == [3, 2, 2]


def without_queries():
    """d = 2, a = 1, Q = 0: what the walk and the angle do to the key; A; the dimension of the fibre."""
    at = {"d": 2, "a": 1, "walk": "stretch", "rank": "Q"}
    walked = [study(**at, along=s) for s in (-1.0, -0.4, 0.7)]
    turned = [study(**at, along=0.0, angle=angle).start.K for angle in (0.0, 90.0, 200.0)]
    return (
        all(not found.start.Q.any() and not np.abs(found.products[1]).any() for found in walked)
        and all(numerical_rank(np.vstack([found.start.K, found.now.K])) == 1 for found in walked)
        and all(np.abs(found.now.K - found.start.K).max() > 0.05 for found in walked)
        and all(numerical_rank(np.vstack(two)) == 2 for two in combinations(turned, 2))
        and {found.here for found in walked} == {2}
    )


def stabiliser(d, a):
    """Dimension of the S with S Q = 0 and Sᵀ K = 0."""
    q, k = heads(d, a)
    return len(null_space(np.vstack([np.kron(np.eye(a), q.T), np.kron(k.T, np.eye(a))])))


def still_a_basis_change(d, a):
    """Two factorisations of one invertible A, a > d: there are C, invertible, of (a − d)² dimensions."""
    rng = np.random.default_rng(0)
    M = rng.standard_normal((d, d))
    (q, k), (q2, k2) = factor(M, a, rng), factor(M, a, rng)
    system = np.vstack([np.kron(np.eye(a), q.T), np.kron(k2.T, np.eye(a))])  # C Q = Q′, K′ᵀ C = Kᵀ
    right = np.concatenate([q2.ravel(), k.T.ravel()])
    found = np.linalg.lstsq(system, right, rcond=None)[0]
    free = null_space(system)
    sample = (found + free.T @ rng.standard_normal(len(free))).reshape(a, a)
    return (
        np.abs(system @ found - right).max() < 1e-9
        and len(free) == (a - d) ** 2
        and numerical_rank(sample) == a
        and close(*[k2.T @ q2, M])
        and close(np.linalg.inv(sample).T @ k, k2)
    )


def rings_meet_at_a_equal_to_d():
    panel = FactorizationExplorer(state="d=4;a=3;walk=shear", only=["d", "a", "rank"])
    met = []
    for a in range(1, 9):
        panel.controls["a"].value = a
        (ring,) = [one for one in panel.figure.data if one.name == "this a (measured)"]
        met.append(ring.y[0] == ring.y[1])
    red, green, blue = (int(ring.marker.color[n : n + 2], 16) for n in (1, 3, 5))
    symbols = {one.name: one.marker.symbol for one in panel.figure.data if one.type == "scatter"}
    panel.close()
    return (
        met == [a == 4 for a in range(1, 9)]
        and red > green > blue
        and [symbols[f"{name}, measured"] for name in ("matrices", "fibre")] == ["circle", "square"]
        and [symbols[f"{name}, formula"] for name in ("matrices", "fibre")] == ["circle-open", "square-open"]
    )


def two_orbits_at_one_product():
    """a = d: a Q that lost a rank; the same A with a K that did. Both fibres have a² dimensions."""
    q, k = heads(3, 3)
    q = drop_rank(q)
    other = np.random.default_rng(5).standard_normal((3, 3))
    k_other = (k.T @ q @ np.linalg.inv(other)).T
    return (
        close(k_other.T @ other, k.T @ q)
        and (numerical_rank(q), numerical_rank(other)) == (2, 3)
        and fibre_at(q, k) == fibre_at(other, k_other) == 9
    )


def minors(M, size):
    picks = list(combinations(range(len(M)), size))
    return np.array([np.linalg.det(M[np.ix_(rows, columns)]) for rows in picks for columns in picks])


def of_rank(r, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((d, r)) @ rng.standard_normal((r, d))


def minors_vanish_up_to_rank_a():
    return all(
        (np.abs(minors(of_rank(r, d), a + 1)).max() < 1e-9) == (r <= a)
        for d in (2, 3, 4)
        for a in range(1, d)
        for r in range(1, d + 1)
    )


def equations_at(M, a):
    """The rank of the derivative of all (a + 1)-minors at M, by complex steps."""
    h, columns = 1e-20, []
    for unit in np.eye(M.size):
        columns.append(minors(M + 1j * h * unit.reshape(M.shape), a + 1).imag / h)
    return numerical_rank(np.array(columns))


def singular_below_rank_a():
    """At rank a there are (d − a)² independent equations, as many as the dimension asks for; below none."""
    return all(
        equations_at(of_rank(r, d) if r else np.zeros((d, d)), a) == ((d - a) ** 2 if r == a else 0)
        for d in (2, 3, 4)
        for a in range(1, d)
        for r in range(a + 1)
    ) and all(d * d - (d - a) ** 2 == measure_product(d, a).dimension for d in (2, 3, 4) for a in range(1, d))


def rank_falls_with_a_factor():
    """Over F_p: KᵀQ has rank a exactly when both factors have."""
    rng = np.random.default_rng(0)

    def of(rank):
        return OVER.matmul(OVER.random(rng, (2, rank)), OVER.random(rng, (rank, 4)))

    return all(
        (exact_rank(OVER.matmul(of(s).T, of(r)), OVER) == 2) == (r == s == 2) for r in (1, 2) for s in (1, 2)
    )


def derivative_of_the_determinant():
    """Central differences of a quadratic polynomial in whole numbers are its derivative."""
    rng, found = np.random.default_rng(0), True
    for p, q, r, s in rng.integers(-9, 10, (20, 4)).tolist():
        for unit, expected in zip(np.eye(4, dtype=int).tolist(), (s, -r, -q, p), strict=True):
            up, down = ([x + e * u for x, u in zip((p, q, r, s), unit, strict=True)] for e in (1, -1))
            found &= (up[0] * up[3] - up[1] * up[2]) - (down[0] * down[3] - down[1] * down[2]) == 2 * expected
    return found


def slices(and_trace):
    """The directions in which x, y, z move a matrix, and the trace."""
    places = np.eye(4)[0 if and_trace else 1 :]
    return np.array([slice_matrix(*place).ravel() for place in places])


def rods_drawn_at(place):
    """The two lines through the ball, as they are drawn where it stands."""
    panel = FactorizationExplorer(state=f"d=2;a=1;walk=stretch;angle=330;{place}")
    (drawn,) = [one for one in panel.figure.data if one.name.startswith("the two lines through it")]
    panel.close()
    return drawn


def two_orange_rods():
    """Drawn through the ball, in the colour of what the reader moves, and none at the tip."""
    corners = []
    for height in (0.6, 0):
        rod = rods_drawn_at(f"trace=0;height={height}")
        corners.append(len(rod.x or ()))
    red, green, blue = (int(rod.color[n : n + 2], 16) for n in (1, 3, 5))
    return corners[0] > 0 == corners[1] and red > green > blue


def rods():
    """On the cone both are one line; beside it they have two directions."""
    cone = [np.array(ruling(0.0, 70.0, 0.6, family, 1.2)) for family in ("image", "kernel")]
    off = [np.array(ruling(1.0, 70.0, 0.6, family, 1.2)) for family in ("image", "kernel")]
    ways = np.array([line[1] - line[0] for line in off])
    return close(*cone) and numerical_rank(ways) == 2


def rods_keep_a_direction():
    """Along them K, or Q, of a factorisation turns or stands."""
    lines = {family: ruling(1.0, 70.0, 0.6, family, 1.2) for family in ("image", "kernel")}
    found = {
        family: [np.linalg.svd(slice_matrix(1.0, *end)) for end in ends] for family, ends in lines.items()
    }
    (k0, k1), (q0, q1) = [u[0][:, 0] for u in found["image"]], [u[2][0] for u in found["kernel"]]
    (x0, x1) = [u[2][0] for u in found["image"]]
    return np.isclose(abs(k0 @ k1), 1) and np.isclose(abs(q0 @ q1), 1) and abs(x0 @ x1) < 0.99


def lora(m, n, r):
    """What the product of m × r and r × n loses."""
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((m, r)), rng.standard_normal((r, n))
    J = np.hstack([np.kron(np.eye(m), right.T), np.kron(left, np.eye(n))])
    return (m + n) * r - numerical_rank(J)


def error_of_the_basis(smallest):
    """Of C from Q′ = C Q with an error of 10⁻⁹, when Q has this smallest singular value."""
    U, _, Vt = np.linalg.svd(Q, full_matrices=False)
    q, error = U * [1.0, smallest] @ Vt, 1e-9 * np.ones((2, 3))
    return np.abs((C @ q + error) @ np.linalg.pinv(q) - C).max()


def gpt2_small():
    model = real_model("GPT-2 small")
    d, a = model.width, model.head_dim
    return (d, a, 2 * a * d, a * a) == (768, 64, 98_304, 4_096) and round(100 * a * a / (2 * a * d), 1) == 4.2


def the_last_answer():
    corner, one = np.diag([1, 0]), np.eye(2)
    return (one.T @ corner == corner.T @ one).all() and [numerical_rank(M) for M in (corner, one)] == [1, 2]


def views_of_the_panel():
    """The matrices are left, the spectrum in the middle above the counts, the surface right."""
    figure = FactorizationExplorer().figure
    on = {one.name: one.xaxis for one in figure.data if one.type != "mesh3d"}
    left, middle, below = (on[name] for name in ("Q, now", "singular values of A, now", "matrices, measured"))
    axes = {"x": figure.layout.xaxis, "x2": figure.layout.xaxis2, "x3": figure.layout.xaxis3}
    heights = {"x2": figure.layout.yaxis2.domain, "x3": figure.layout.yaxis3.domain}
    return (
        axes[left].domain[1] < axes[middle].domain[0]
        and axes[middle].domain == axes[below].domain
        and heights[below][1] < heights[middle][0]
        and axes[middle].domain[1] < figure.layout.scene.domain.x[0]
    )


def said_below(d, a):
    return FactorizationExplorer(state=f"d={d};a={a}").description


def only_at_right_angles():
    """K may change there in any way; along the line of the queries it may not."""
    rng, v = np.random.default_rng(7), unseen_direction()
    line = THIN[:, :1] / np.linalg.norm(THIN[:, :1])
    ways = rng.standard_normal((20, 1, 3))
    return all(
        close((K + v @ w).T @ THIN, K.T @ THIN) and not close((K + line @ w).T @ THIN, K.T @ THIN)
        for w in ways
    )


def how_far_from_one_orbit(K_there):
    """What remains of C Q = Q and K′ᵀ C = Kᵀ for the best C, with the thin Q."""
    system = np.vstack([np.kron(np.eye(2), THIN.T), np.kron(K_there.T, np.eye(2))])
    right = np.concatenate([THIN.ravel(), K.T.ravel()])
    return np.linalg.norm(system @ np.linalg.lstsq(system, right, rcond=None)[0] - right)


def in_no_common_orbit():
    """Those of the text; K and C⁻ᵀ K, for a C with C Q = Q, are in one."""
    fixes = np.eye(2) + np.array([[2.0], [0.5]]) @ unseen_direction().T
    same = moved_by(fixes, THIN, K)
    return (
        how_far_from_one_orbit(K + unseen_direction() @ np.array([[1.0, 0.0, 0.0]])) > 0.1
        and close(same[0], THIN)
        and how_far_from_one_orbit(same[1]) < 1e-9
    )


def the_angle_moves_the_start():
    at = {"d": 2, "a": 1, "walk": "stretch", "rank": "Q"}
    walked = [study(**at, along=s).start.K for s in (-1.0, 0.0, 0.7)]
    return close(*walked) and not close(*[study(**at, along=0.0, angle=x).start.K for x in (0.0, 90.0)])


def what_acts_on_the_rest_changes_nothing():
    """1 + S with S Q = 0 and Sᵀ K = 0, for a = 7 and d = 3: sixteen dimensions of S. Others do."""
    q, k = heads(3, 7)
    rng, left, right = np.random.default_rng(4), null_space(k.T), null_space(q.T)
    C_rest, C_any = np.eye(7) + left.T @ rng.standard_normal((4, 4)) @ right, rng.standard_normal((7, 7))
    same, other = moved_by(C_rest, q, k), moved_by(C_any, q, k)
    return (
        [len(left), len(right)] == [4, 4]
        and close(same[0], q)
        and close(same[1], k)
        and not close(C_rest, np.eye(7))
        and not close(other[0], q)
    )


def ranks_on_the_cone():
    """Of Q and K at some heights; and whether A is 0."""
    found = [study(d=2, a=1, walk="stretch", along=0.5, height=h) for h in (-0.5, 0.0, 0.6)]
    ranks = [min(numerical_rank(one.start.Q), numerical_rank(one.start.K)) for one in found]
    return ranks == [1, 0, 1] and [not one.products[0].any() for one in found] == [False, True, False]


def small_matrices():
    return np.array(list(product((-1, 0, 1), repeat=4)), dtype=float).reshape(-1, 2, 2)


def all_are_products():
    rng = np.random.default_rng(0)
    found = [(M, factor(M, 2, rng)) for M in small_matrices()]
    return all(close(k.T @ q, M) for M, (q, k) in found) and any(numerical_rank(M) == 2 for M, _ in found)


def the_derivative_vanishes_at_zero_only():
    for M in small_matrices():
        steps = [e * unit.reshape(2, 2) for unit in np.eye(4) for e in (1, -1)]
        up_and_down = np.array([np.linalg.det(M + step) for step in steps]).reshape(4, 2)
        if np.allclose(up_and_down[:, 0], up_and_down[:, 1]) == M.any():
            return False
    return True


def rods_that_are_seen():
    """How many directions the two drawn rods have, on the cone and beside it."""
    found = []
    for trace in (0, 0.8):
        rod = rods_drawn_at(f"trace={trace}")
        ends = np.transpose([rod.x, rod.y, rod.z]).reshape(2, -1, 3)
        ways = [np.linalg.svd(one - one.mean(axis=0))[2][0] for one in ends]
        found.append(int(np.linalg.matrix_rank(ways, tol=1e-3)))
    return found


def many_factorisations_above_each_point():
    """Of matrices on the cone, beside its tip: other Q and K with the same product, a line of them."""
    found = [
        study(d=2, a=1, walk="stretch", along=s, angle=angle, height=0.4)
        for s in (-0.7, 0.9)
        for angle in (20.0, 200.0)
    ]
    return all(one.here == 1 and close(*one.products) and one.moved > 0.1 for one in found)


CLAIMS = [
    (
        "the product of the query of the first with the key of the second",
        attention_is_a_product,
    ),
    ("So $Q$ and $K$ enter through the $d \\times d$ matrix $A$ alone", product_stays),
    (
        "The queries have moved a lot and $A$ by rounding errors only",
        lambda: np.abs(Q2 - Q).max() > 0.5 and np.abs(K2.T @ Q2 - A).max() < 1e-14,
    ),
    ("because $K'^\\top Q' = K^\\top C^{-1} C\\, Q$", product_stays),
    (
        "each of them takes us from one point of the fibre to another",
        lambda: product_stays() and not close(Q2, Q),
    ),
    (
        "that starts at the identity, $C(0) = 1$",
        lambda: all((walk_in_gl(walk, a, 0.0) == np.eye(a)).all() for walk in WALKS for a in (1, 2, 5)),
    ),
    ("In the middle are the singular values of $A$, and below them a count", views_of_the_panel),
    ("The surface on the right has its own section at the end", views_of_the_panel),
    (
        "The singular values of $A$ stand still",
        lambda: all(of_A for of_A, _ in spectra_along_the_walks().values()),
    ),
    ("$Q' = CQ$ can have any singular values", any_singular_values),
    (
        "Of the three walks only the rotation keeps them",
        lambda: [walk for walk, (_, of_Q) in spectra_along_the_walks().items() if of_Q] == ["rotation"],
    ),
    (
        "for $a = 1$ only the stretch moves anything",
        lambda: walks_that_move(1) == ["stretch"] and walks_that_move(2) == list(WALKS),
    ),
    (
        "the matrix $C$ is a number then, and a number cannot rotate or shear",
        lambda: all(
            (walk_in_gl(walk, 1, s)[0, 0] == 1) == (walk != "stretch") for walk in WALKS for s in (-1.0, 0.4)
        ),
    ),
    (
        "$Q$ and $K$ have $2ad$ entries. $A$ has $d^2$",
        lambda: all(
            product_jacobian(Reals(), *heads(d, a)).shape == (d * d, 2 * a * d)
            for d in (2, 3)
            for a in (1, 2, 4)
        ),
    ),
    (
        "for $a < d$ not every $d \\times d$ matrix is like that",
        lambda: all(
            (measure_product(d, a).dimension < d * d) == (a < d) for d in range(1, 6) for a in range(1, 7)
        ),
    ),
    (
        "it is a product through $a$ dimensions, so its rank is at most $a$",
        lambda: all(
            numerical_rank(k.T @ q) == min(a, d)
            for d in (2, 3, 4)
            for a in (1, 2, 3, 5)
            for q, k in [heads(d, a)]
        ),
    ),
    ("For $d = 3$ and $a = 2$ the panel counts 8", lambda: study().count.dimension == 8),
    (
        "24 forgets the basis of the head, 16 forgets that the rank is bounded",
        lambda: 15 + measure_product(4, 3).fibre == 24 and measure_product(4, 4).dimension == 16,
    ),
    (
        "the text below the panel fits both",
        lambda: "Of 24 entries 9 are redundant: 15 dimensions remain, of d² = 16" in said_below(4, 3),
    ),
    (
        "and in the sentence below the picture",
        lambda: all(
            f": {measure_product(d, a).dimension} dimensions remain" in said_below(d, a)
            for d, a in ((3, 2), (4, 3), (4, 1))
        ),
    ),
    ("each variation moves $(Q, K)$ along the fibre", lambda: each_entry_moves_along_the_fibre(4, 3)),
    (
        "9 of the 24 directions do nothing to $A$",
        lambda: fibre_at(*heads(4, 3)) == 9 == measure_product(4, 3).fibre,
    ),
    (
        "$24 - 9 = 15$ remain",
        lambda: measure_product(4, 3).dimension == 15,
    ),
    ("rank $\\le 3$ is the single equation $\\det A = 0$", only_determinant),
    (
        "the product moves by $K^\\top \\dot Q + \\dot K^\\top Q$",
        lambda: np.allclose(
            product_jacobian(Reals(), Q, K) @ np.concatenate([Q2.ravel(), K2.ravel()]),
            ((K + 1e-6 * K2).T @ (Q + 1e-6 * Q2) - (K - 1e-6 * K2).T @ (Q - 1e-6 * Q2)).ravel() / 2e-6,
        ),
    ),
    (
        "linear in the twelve numbers of $\\dot Q, \\dot K$, and its rank is the count",
        lambda: product_jacobian(Reals(), Q, K).shape == (9, 12) and fibre_at(Q, K) == 12 - 8,
    ),
    (
        "does this modulo a large prime at a random point",
        lambda: measure_product(3, 2).status == "exact" and measure_product(3, 2).prime > 10**6,
    ),
    ("the one at almost every point, all but a set of measure zero", typical_rank),
    (
        "numpy's `pinv` is one, as long as the rows of $Q$ are independent",
        lambda: pinv_cancels(Q) and not pinv_cancels(THIN) and not pinv_cancels(heads(2, 3)[0]),
    ),
    ("That is the $C$ from above", lambda: close(Q2 @ np.linalg.pinv(Q), C)),
    (
        "It was determined by $Q$ and $Q'$ alone, and it carries $K$ to $K'$ as well",
        lambda: close(np.linalg.inv(Q2 @ np.linalg.pinv(Q)).T @ K, K2),
    ),
    (
        "Then there is exactly one invertible $C$",
        lambda: all(lemma_3_1(d, a) for d in (1, 2, 3, 5) for a in range(1, d + 1)),
    ),
    (
        "it has $a^2$ dimensions, and nothing but changes of basis is in it",
        lambda: all(measure_product(d, a).fibre == a * a for d in range(1, 6) for a in range(1, d + 1)),
    ),
    ("$A = K^\\top Q$ has rank $a$, so $Q'$ and $K'$ have rank $a$ too", the_proof),
    ("The rows of $A$ span the same space as the rows of $Q$", the_proof),
    ("it says $(K^\\top - K'^\\top C)\\,Q = 0$", the_proof),
    ("But $Q$ can be cancelled, having a right inverse, so $K = C^\\top K'$", the_proof),
    (
        "It checks the hypotheses first",
        lambda: (
            close(recover_head_basis(Reals(), Layer(Q, K, None), Layer(Q2, K2, None)), C)
            and refused(Layer(THIN, K, None), Layer(C @ THIN, K2, None))
            and refused(Layer(Q, K, None), Layer(Q2, 2 * K2, None))
            and refused(*[Layer(*heads(2, 3), None)] * 2)
        ),
    ),
    (
        "both rows of $Q$ become multiples of one vector",
        lambda: (numerical_rank(THIN), numerical_rank(K)) == (1, 2),
    ),
    (
        "has mixed up the fibre and its image",
        lambda: (
            [numerical_rank(product_jacobian(Reals(), q, K)) for q in (Q, THIN)] == [8, 7]
            and [fibre_at(q, K) for q in (Q, THIN)] == [4, 5]
        ),
    ),
    (
        "A query now always points along one line of $\\mathbb{R}^2$",
        lambda: numerical_rank(THIN @ np.random.default_rng(0).standard_normal((3, 50))) == 1,
    ),
    ("is never asked for, so $K$ can be changed there at will", only_at_right_angles),
    (
        "The fibre at this point is larger than $a^2 = 4$",
        lambda: fibre_at(THIN, K) == 5 and fibre_at(Q, K) == 4,
    ),
    ("with any $w$ in $\\mathbb{R}^3$, and $A$ stays", where_the_surplus_comes_from),
    ("That is $d = 3$ dimensions", where_the_surplus_comes_from),
    ("$a = 2$ can also be had by changes of basis that fix all queries", where_the_surplus_comes_from),
    ("new: $4 + 1$", lambda: fibre_after_a_drop(3, 2) == 5),
    (
        "one lost rank of $Q$ costs $d - a$ dimensions more",
        lambda: all(fibre_after_a_drop(d, a) == a * a + d - a for d in (3, 4, 5) for a in range(2, d + 1)),
    ),
    ("Here is a change that no $C$ can make", a_change_that_no_basis_makes),
    ("The product is the same. But", a_change_that_no_basis_makes),
    ("But the rows of $K$ and of $K'$ together span three dimensions", a_change_that_no_basis_makes),
    ("So these two factorisations of one $A$ are in no common orbit of $\\mathrm{GL}_2$", in_no_common_orbit),
    ("$d = 2$, $a = 1$, and all queries are zero", without_queries),
    ("● runs through the orbit of ○. Slide **angle**: ○ moves too", the_angle_moves_the_start),
    ("$A = 0$ throughout. The walk multiplies the key by a number", without_queries),
    ("The angle turns it", without_queries),
    ("2 dimensions, and not $a^2 = 1$", without_queries),
    (
        "The third number is $\\alpha(a, d) = a(2d - a)$ up to $a = d = 3$. From there on it is $d^2 = 9$",
        lambda: [measure_product(3, a).dimension for a in range(1, 7)] == [5, 8, 9, 9, 9, 9],
    ),
    (
        "every matrix has rank at most $d$, so all of them are products",
        lambda: all(
            close(k.T @ q, M)
            for a in (3, 4, 6)
            for M in [np.random.default_rng(a).standard_normal((3, 3))]
            for q, k in [factor(M, a, np.random.default_rng(0))]
        ),
    ),
    (
        "The fibre goes on growing, though no longer like $a^2$",
        lambda: [measure_product(3, a).fibre for a in range(1, 7)] == [1, 4, 9, 15, 21, 27],
    ),
    (
        "Queries and keys are now columns in $\\mathbb{R}^7$ that fill three dimensions only",
        lambda: [numerical_rank(M) for M in heads(3, 7)] == [3, 3],
    ),
    (
        "left over, and on nothing else, change neither $Q$ nor $K$",
        what_acts_on_the_rest_changes_nothing,
    ),
    (
        "They have $(a - d)^2 = 16$ dimensions",
        lambda: (
            49 - measure_product(3, 7).fibre == 16 == stabiliser(3, 7)
            and all(stabiliser(d, a) == max(a - d, 0) ** 2 for d in (2, 3) for a in range(1, 6))
        ),
    ),
    (
        "$a^2 - (a - d)^2 = 2ad - d^2$",
        lambda: all(measure_product(3, a).fibre == 6 * a - 9 for a in (3, 4, 5, 7)),
    ),
    (
        "When $A$ is invertible there still is a $C$ between any two factorisations",
        lambda: all(still_a_basis_change(d, a) for d, a in ((1, 2), (2, 3), (2, 5), (3, 4))),
    ),
    ("watch the orange frames in the middle meet and part", rings_meet_at_a_equal_to_d),
    ("Filled marks are measured, hollow ones are the formula", rings_meet_at_a_equal_to_d),
    (
        "Up to $a = d$ the lemma holds, beyond it does not",
        lambda: [bool(study(d=4, a=a).refusal) for a in range(1, 9)] == [a > 4 for a in range(1, 9)],
    ),
    ("for $a = 5$ the fibre has 24 dimensions and not 25", lambda: measure_product(4, 5).fibre == 24),
    (
        "When a rank drops, it fails for every $a$",
        lambda: all(study(d=4, a=a, rank=rank).refusal for a in range(1, 9) for rank in "QK"),
    ),
    (
        "For $a < d$ the fibre has $d - a$ dimensions more",
        lambda: all(study(d=4, a=a, rank=rank).here == a * a + 4 - a for a in (1, 2, 3) for rank in "QK"),
    ),
    (
        "for $a = d$ it still has $a^2$ of them, but more than one orbit",
        lambda: (
            all(study(d=d, a=d, rank=rank).here == d * d for d in (3, 4) for rank in "QK")
            and two_orbits_at_one_product()
        ),
    ),
    ("all $(a+1) \\times (a+1)$ minors", minors_vanish_up_to_rank_a),
    (
        "has $d = 2$, $a = 1$ and a single equation, $\\det A = 0$",
        lambda: [minors(np.eye(d), a + 1).size for d, a in ((2, 1), (3, 1), (3, 2))] == [1, 9, 1],
    ),
    (
        "It has $\\alpha(1, 2) = 3$ dimensions in the four of all $2 \\times 2$ matrices",
        lambda: [measure_product(2, a).dimension for a in (1, 2)] == [3, 4],
    ),
    (
        "x, y, z are a slice of four dimensions and not all of it",
        lambda: [numerical_rank(slices(c)) for c in (False, True)] == [3, 4],
    ),
    (
        "Each point of the surface has a whole fibre of factorisations above it",
        many_factorisations_above_each_point,
    ),
    ("At the tip $A = 0$, so $Q$ and $K$ cannot both be of rank 1", ranks_on_the_cone),
    (
        "A slice with trace $c \\ne 0$ does not contain the zero matrix",
        lambda: all(
            np.isclose(np.trace(slice_matrix(c, *np.random.default_rng(1).standard_normal(3))), c)
            for c in (-1.0, 0.05, 1.5)
        ),
    ),
    ("With $a = 2 = d$ all $2 \\times 2$ matrices are products", all_are_products),
    (
        "For $\\det A = ps - qr$ the derivative in $(p, q, r, s)$ is $(s, -r, -q, p)$",
        derivative_of_the_determinant,
    ),
    ("so the tip is the only singular point, in all four dimensions", the_derivative_vanishes_at_zero_only),
    (
        "the singular points of $\\{\\mathrm{rank} \\le a\\}$ are the matrices of rank $\\le a - 1$",
        singular_below_rank_a,
    ),
    ("the products for which a factor has dropped rank", rank_falls_with_a_factor),
    (
        "since $K$ keeps its direction; on the other they share their kernel",
        rods_keep_a_direction,
    ),
    ("On the cone the two are the same line", rods),
    ("**The orange rods.** Through each point but the tip go two straight lines", two_orange_rods),
    ("**trace of A** above 0 to see both", lambda: rods_that_are_seen() == [1, 2]),
    (
        "One of the two has to lose a rank, and their product may not vanish",
        lambda: (
            check_large_fibre([[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0]]).passed
            and not check_large_fibre(Q, K).passed
            and not check_large_fibre([[1, 0, 0], [1, 0, 0]], [[0, 0, 0], [0, 0, 0]]).passed
            and not check_large_fibre([[1, 0, 0], [1, 0, 0]], [[0, 1, 0], [0, -1, 0]]).passed
        ),
    ),
    (
        "Q_new = [[1, 0, 0], [1, 0, 0]] K_new = [[1, 0, 0], [0, 1, 0]]",
        lambda: check_large_fibre([[1, 0, 0], [1, 0, 0]], [[1, 0, 0], [0, 1, 0]]).passed,
    ),
    (
        "counting parameters overcounts each head by $a^2$",
        lambda: all(
            2 * a * d - measure_product(d, a).dimension == a * a for d in range(1, 6) for a in range(1, d + 1)
        ),
    ),
    (
        "a single row of $Q$ says nothing by itself",
        lambda: close((np.array([[3.0, -7.0], [0.0, 1.0]]) @ Q)[0], 3 * Q[0] - 7 * Q[1]) and product_stays(),
    ),
    ("$2ad = 98{,}304$ entries in $Q$ and $K$, of which $a^2 = 4{,}096$, about 4.2 %", gpt2_small),
    (
        "factors are known up to a $\\mathrm{GL}_r$ only",
        lambda: all(lora(m, n, r) == r * r for m, n in ((4, 6), (7, 3), (5, 5)) for r in (1, 2, 3)),
    ),
    (
        "small errors in $Q$ are divided by its smallest singular value",
        lambda: all(
            0.1 < error_of_the_basis(s) * s / 1e-9 < 10 and error_of_the_basis(s) > 0.05e-9 / s
            for s in (1e-1, 1e-3, 1e-5)
        ),
    ),
    (
        "Then $Q = A$, $K = I$ is a factorisation, and $Q' = I$, $K' = A$ is another",
        lambda: the_last_answer(),
    ),
    ("Since $CQ$ has the rank of $Q$, which is 1, it is never $Q'$, whose rank is 2", the_last_answer),
]

PANEL = "test_factorization_explorer.py::test_"
ELSEWHERE = [
    ("keep an eye on the two green frames", PANEL + "a_product_that_changed_would_be_seen"),
    (
        "Why does the ball leave the surface",
        PANEL + "a_product_of_rank_two_is_off_the_surface_and_its_foot_is_the_nearest",
    ),
    (
        "along a curve $C(s)$ that starts at the identity, $C(0) = 1$: a rotation, a stretch or a shear",
        PANEL + "a_walk_is_a_one_parameter_subgroup",
    ),
    (
        "On the left are $Q$, $K$ and $A$ at the start (○) and now (●)",
        PANEL + "a_walk_moves_the_factors_and_leaves_the_product_alone",
    ),
    (
        "Its count stands below the singular values",
        PANEL + "the_view_of_dimensions_shows_measurements_beside_the_formula",
    ),
    (
        "What does the badge say on either side of $a = d$, and what when **rank** drops",
        PANEL + "where_the_lemma_does_not_apply_nothing_is_recovered_and_the_panel_says_why",
    ),
    (
        "\\det A = \\frac{c^2}{4} - x^2 - y^2 + z^2",
        PANEL + "the_rank_one_matrices_of_one_trace_are_a_cone_or_a_hyperboloid",
    ),
    (
        "rank $\\le 1$ means $x^2 + y^2 = z^2 + c^2/4$",
        PANEL + "a_point_of_the_surface_has_rank_one_and_its_factors_give_it",
    ),
    (
        "The ball is $A$, on a cone, and it moves when $A$ does: with **angle** and **height**",
        PANEL + "the_ball_is_the_product_that_the_matrices_show",
    ),
    (
        "now $Q$ and $K$ move and the ball stands still",
        PANEL + "the_ball_is_the_product_that_the_matrices_show",
    ),
    (
        'The badge turns to "outside hypotheses", and the fibre has 2 dimensions instead of 1',
        PANEL + "where_the_lemma_does_not_apply_nothing_is_recovered_and_the_panel_says_why",
    ),
    ("The surface is then a hyperboloid, and smooth", PANEL + "only_the_cone_has_a_singular_point"),
    (
        "The cone is the one slice of this family that goes through the bad point",
        PANEL + "the_rank_one_matrices_of_one_trace_are_a_cone_or_a_hyperboloid",
    ),
    (
        "The small ball is the nearest matrix of rank 1 in the slice",
        PANEL + "a_product_of_rank_two_is_off_the_surface_and_its_foot_is_the_nearest",
    ),
    (
        "Through each point but the tip go two straight lines of matrices of rank at most 1",
        PANEL + "a_straight_line_keeps_the_image_or_the_kernel",
    ),
]
