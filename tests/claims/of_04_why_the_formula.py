"""What notebooks/04_why_the_formula.py says in words: see tests/test_claims.py."""

from pathlib import Path

import numpy as np

import neuroviz as nv
from claims.common import OVER, A, buttons, dim, domains, lost, random_networks, shown, uniform
from neuroviz.beyond.why.flag import flag_steps, formula_terms, measure_span
from neuroviz.beyond.why.peeling import (
    antisymmetric,
    first_layer,
    measure_kernel,
    scale_and_turn,
    virtual_jacobian,
    without_first_layer,
)
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import collapsing_layer, effective_widths
from neuroviz.engine.network import Layer, forward, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import VirtualWeights, virtual_weights
from neuroviz.engine.virtual import product_form
from neuroviz.explorables import FlagExplorer
from neuroviz.lessons.checks_deep import check_unseen

ROOT = Path(__file__).parents[2]
MATHEMATICS = ROOT / "docs/mathematics.md"
NET = A((9, 8, 9, 1), (2, 2, 1), tokens=2)
J = np.array([[0.0, 1.0], [-1.0, 0.0]])
R, same = Reals(), np.array_equal


def rng(seed=0):
    return np.random.default_rng([seed, 44])


def tokens(*shape, seed=0):
    return OVER.random(rng([seed, 1]), shape)


def mul(*matrices):
    first, *others = matrices
    for other in others:
        first = OVER.matmul(first, other)
    return first


def power(number, exponent):
    return float(OVER.reduce(np.array(float(pow(int(number), exponent, OVER.p)))))


def weights_of(arch, seed=0):
    return random_weights(OVER, arch, rng(seed))


def lightning_networks(count):
    return [n for n in random_networks(3 * count) if n.attention == "lightning"][:count]


# First layers to take away


def symmetric_rank_one(draw, width):
    a = OVER.random(draw, (width,))
    return OVER.matmul(a[:, None], a[None])


def rank_one(draw, width):
    a, b = OVER.random(draw, (2, width))
    return OVER.matmul(a[:, None], b[None])


def any_antisymmetric(draw, width):
    G = OVER.random(draw, (width, width))
    return OVER.reduce(G - G.T)


def antisymmetric_of_rank_two(draw, width):
    return antisymmetric(OVER, *OVER.random(draw, (2, width)))


def any_matrix(draw, width):
    return OVER.random(draw, (width, width))


def network(layers, width, M1, seed=1):
    draw = np.random.default_rng(seed)
    L, *Ms = OVER.random(draw, (layers + 1, width, width))
    return VirtualWeights(L, (M1(draw, width), *Ms[1:]))


def kernel_of(virtual, seed=2):
    return measure_kernel(virtual, OVER, np.random.default_rng(seed)).kernel


def kernel(layers, width, M1, seed=1):
    return kernel_of(network(layers, width, M1, seed))


# What later layers see


def seen_rows(virtual, index, columns=True):
    """The rows of L and of the later M, with their columns."""
    parts = [part for M in virtual.M[index:] for part in ((M, M.T) if columns else (M,))]
    return np.concatenate([virtual.L, *parts])


def what_nobody_looks_at_does_nothing():
    ledger = nv.kernel_ledger(NET)
    return (
        sum(ledger.entries.values()) == 151
        and ledger.unexplained == 1
        and "of the coordinates between layers only some reach the output" in ledger.note
        and unseen_parts_go_unnoticed()
    )


def tokens_after(weights, X, layers):
    return forward(OVER, "lightning", weights[:layers], X[None])[0]


def eight_dimensions_after_layer_two():
    """Of all inputs together."""
    weights = weights_of(NET)
    after = [tokens_after(weights, tokens(9, 2, seed=seed), 2) for seed in range(12)]
    return exact_rank(np.concatenate(after, axis=1), OVER) == 8 and len(weights[1].V) == 9


def unseen_parts_go_unnoticed():
    """Six directions on which V₃, K₃ and Q₃ vanish; and any of the other three is noticed."""
    weights = weights_of(NET)
    Y = tokens_after(weights, tokens(9, 2), 2)
    last = weights[2:]
    looked_at = np.concatenate([last[0].V, last[0].K, last[0].Q])
    across = OVER.matmul(OVER.inverse(looked_at[:, :3]), looked_at[:, 3:])
    unseen = np.concatenate([OVER.reduce(-across), np.eye(6)])

    def outputs(moved):
        return forward(OVER, "lightning", last, OVER.reduce(Y + moved)[None])[0]

    before = outputs(0 * Y)
    noticed = [not same(outputs(np.eye(9)[:, [k]] * tokens(1, 2, seed=k)), before) for k in range(3)]
    return (
        exact_rank(looked_at, OVER) == 3
        and not OVER.matmul(looked_at, unseen).any()
        and same(outputs(OVER.matmul(unseen, tokens(6, 2, seed=9))), before)
        and all(noticed)
    )


def spans_of_our_network():
    """With the columns, without them, and one layer earlier."""
    virtual = virtual_weights(OVER, weights_of(NET))
    return (
        exact_rank(seen_rows(virtual, 2), OVER),
        exact_rank(seen_rows(virtual, 2, columns=False), OVER),
        exact_rank(virtual.M[1], OVER),
        exact_rank(seen_rows(virtual, 1), OVER),
    )


def who_looks_after_layer_two():
    """By L, by k, by q: one number each."""
    virtual = virtual_weights(OVER, weights_of(NET))
    M3 = virtual.M[2]
    rows = [exact_rank(virtual.L, OVER), exact_rank(M3, OVER), exact_rank(np.concatenate([M3, M3.T]), OVER)]
    return len(virtual.L) == 1 and rows == [1, 1, 2]


def cells_at_the_left_and_the_sum_at_the_right():
    panel = FlagExplorer()
    at = domains(panel.figure)
    panel.close()
    cells = [place for name, place in at.items() if name.startswith(("seen by", "arrives", "no token"))]
    terms = [place for name, place in at.items() if name.startswith("term: ")]
    return max(place[1] for place in cells) < min(place[0] for place in terms) and len(terms) > 5


def answers_of_the_flag_panel():
    (_, one, two, _) = shown(FlagExplorer, "widths=9,8,9,1;head_dims=2,2,3")[0].steps
    return (two.measured.value, two.width, one.measured.value, one.width) == (7, 9, 8, 8)


def two_cells_are_empty():
    arch = A((2, 4, 2), (2, 2), tokens=2)
    (_, step, _) = shown(FlagExplorer, "widths=2,4,2;head_dims=2,2")[0].steps
    reached = exact_rank(tokens_after(weights_of(arch), tokens(2, 9), 1), OVER)
    paper = nv.paper_formula(arch)
    return (
        step.width - step.arriving == 4 - reached == 2
        and step.seen == 2
        and paper.status == "outside hypotheses"
        and "inner widths at most the first and the last" in paper.note
        and paper.value != nv.measure_dimension(arch).value
    )


def all_is_seen_in_a_bottleneck():
    bottlenecks = [
        A((5, 3, 4), (2, 2)),
        A((3, 3, 3, 3), (1, 1, 1)),
        A((4, 2, 2, 5), (1, 2, 1)),
        A((6, 2, 2), (1, 3)),
    ]
    return all(
        step.measured.value == step.width for arch in bottlenecks for step in flag_steps(arch)[1:-1]
    ) and any(step.measured.value < step.width for step in flag_steps(NET)[1:-1])


def tokens_live_in_the_narrowest_width_so_far():
    for arch in random_networks(25):
        weights = weights_of(arch)
        for i in range(1, arch.num_layers + 1):
            if exact_rank(virtual_weights(OVER, weights[:i]).L, OVER) != min(arch.widths[: i + 1]):
                return False
    return True


def all_of_the_input_counts():
    """Though later layers, with L, may look at less of it."""
    narrow = A((9, 2, 1), (2, 1))
    virtual = virtual_weights(OVER, weights_of(narrow))
    looked_at = exact_rank(seen_rows(virtual, 0), OVER)
    return (
        all(effective_widths(arch)[0] == arch.widths[0] for arch in random_networks(25))
        and looked_at < effective_widths(narrow)[0] == flag_steps(narrow)[0].seen == 9
        and nv.general_formula(narrow).value == nv.measure_dimension(narrow).value
    )


def adds_at_most_twice_its_rank():
    """Also at special M₂: symmetric ones of rank r add r at most."""
    L = tokens(1, 9)
    found = []
    for rank in (1, 2, 3):
        u, k = tokens(2, rank, 9, seed=rank)
        for M, most in ((OVER.matmul(u.T, k), 2 * rank), (OVER.matmul(u.T, u), rank)):
            found.append(exact_rank(np.concatenate([L, M, M.T]), OVER) == 1 + most)
    return all(found)


def later_spans_lie_in_earlier_ones():
    for arch in (NET, A((5, 6, 4, 3, 2), (1, 2, 1, 1))):
        virtual = virtual_weights(OVER, weights_of(arch))
        spans = [seen_rows(virtual, i) for i in range(1, arch.num_layers)]
        for larger, smaller in zip(spans, spans[1:], strict=False):
            if exact_rank(np.concatenate([larger, smaller]), OVER) != exact_rank(larger, OVER):
                return False
            if exact_rank(smaller, OVER) >= exact_rank(larger, OVER):
                return False
    return True


def ways_to_choose_a_subspace(k, n):
    """The rank of the derivative of B ↦ the projector onto the row space of B, by differences."""
    B = rng(k + 10 * n).standard_normal((k, n))

    def projector(B):
        return np.linalg.pinv(B) @ B

    columns = []
    for unit in np.eye(k * n):
        moved = 1e-5 * unit.reshape(k, n)
        columns.append(((projector(B + moved) - projector(B - moved)) / 2e-5).ravel())
    return np.linalg.matrix_rank(np.array(columns), tol=1e-6)


def ways_to_choose_L():
    """Matrices with d_l rows in a space of w dimensions."""
    basis = tokens(3, 9)
    found = [OVER.matmul(unit.reshape(2, 3), basis).ravel() for unit in np.eye(6)]
    return exact_rank(np.array(found), OVER) == 2 * 3


def inside(rows, a, draw, kind):
    """A matrix of rank a, or less, with rows and columns in the span of these rows."""
    u, k = draw.standard_normal((2, a, len(rows))) @ rows
    return {"any": u.T @ k, "symmetric": u.T @ u, "antisymmetric": u[:1].T @ k[:1] - k[:1].T @ u[:1]}[kind]


def reached_by_weights(arch, kind, seed=0):
    """A flag, then L and the M_i inside it; then weights with exactly these (Step 3 of Lemma D)."""
    draw, w = rng(seed), effective_widths(arch)
    flag = [np.eye(arch.widths[0])]
    for i in range(1, arch.num_layers):
        flag.append(draw.standard_normal((w[i], len(flag[-1]))) @ flag[-1])
    L = (
        draw.standard_normal((arch.widths[-1], w[-2])) @ flag[-1]
        if arch.num_layers > 1
        else draw.standard_normal((arch.widths[1], arch.widths[0]))
    )
    Ms = [inside(rows, a, draw, kind) for rows, a in zip(flag, arch.head_dims, strict=True)]
    U, weights = np.eye(arch.widths[0]), []
    for i, (M, a, width) in enumerate(zip(Ms, arch.head_dims, arch.widths[1:], strict=True), start=1):
        back = np.linalg.pinv(U)
        left, sigma, right = np.linalg.svd(back.T @ M @ back)
        if (sigma[a:] > 1e-9 * sigma[0]).any():
            return False  # no head of a rows has this A
        K, Q = np.zeros((2, a, U.shape[0]))
        size = min(a, len(sigma))
        K[:size], Q[:size] = left[:, :size].T, sigma[:size, None] * right[:size]
        after = L if i == arch.num_layers else draw.standard_normal((width, w[i])) @ flag[i]
        weights.append(Layer(Q, K, after @ back))
        U = after
    found = virtual_weights(R, tuple(weights))
    shapes = [(W.Q.shape, W.V.shape) for W in weights] == [
        ((a, d), (d_out, d)) for d, d_out, a in arch.layers
    ]
    return shapes and all(np.allclose(x, y) for x, y in zip((found.L, *found.M), (L, *Ms), strict=True))


def every_choice_comes_from_weights():
    nets = [
        NET,
        A((2, 4, 2), (2, 2)),
        A((5, 3, 4), (2, 2)),
        A((3, 1, 3), (2, 2)),
        A((4, 3, 5, 2, 1), (1, 2, 3, 1)),
    ]
    return all(reached_by_weights(arch, "any", seed) for seed, arch in enumerate(nets))


def antisymmetric_choices_come_from_weights():
    """So they are limits of generic weights: all weights are one vector space."""
    return all(
        reached_by_weights(arch, "antisymmetric")
        for arch in (A((9, 8, 9, 3), (2, 2, 2)), A((4, 4, 4), (2, 2)), A((5, 3, 4), (3, 2)))
    ) and not reached_by_weights(A((4, 4, 4), (1, 1)), "antisymmetric")


def general_count(arch):
    """D of Lemma D: the dimension of softmax, which has neither rescalings nor a collapse."""
    return nv.general_formula(A(arch.widths, arch.head_dims, 2, "softmax")).value


def at_most_D_minus_l():
    nets = lightning_networks(40)
    return all(nv.measure_dimension(arch).value <= general_count(arch) - arch.num_layers for arch in nets)


def parallel_tokens_may_cost_dimensions():
    fewer, equal = A((3, 3, 3), (1, 2), tokens=2), A((3, 3, 3), (1, 1), tokens=2)
    return (
        dim((3, 3, 3), (1, 2), tokens=2) < general_count(fewer) - 2
        and dim((3, 3, 3), (1, 1), tokens=2) == general_count(equal) - 2
    )


# Special points


def ranks_near_a_special_point():
    """Also along lines through special matrices of larger size."""
    first = [np.linalg.matrix_rank(np.array([[1, 1], [1, 1 + s]])) for s in (0, 0.001, 0.1, 1)]
    for seed in range(10):
        draw = rng(seed)
        special = draw.integers(-3, 4, (5, 2)) @ draw.integers(-3, 4, (2, 5))
        away = special + 0.1 * draw.standard_normal((5, 5))
        if np.linalg.matrix_rank(special, rtol=1e-9) > 2 or np.linalg.matrix_rank(away, rtol=1e-9) != 5:
            return False
    return first == [1, 2, 2, 2]


def kernels_are_never_smaller_at_special_weights():
    kinds = [
        symmetric_rank_one,
        rank_one,
        any_antisymmetric,
        lambda draw, width: np.zeros((width, width)),
        lambda draw, width: np.eye(width),
    ]
    found = [kernel(layers, width, M1) - layers for M1 in kinds for layers in (1, 2, 3) for width in (2, 3)]
    generic = [kernel(layers, width, any_matrix) for layers in (1, 2, 3) for width in (2, 3)]
    return generic == [1, 1, 2, 2, 3, 3] and min(found) == 0 < max(found)


# The first layer disappears


def no_token_attends_to_itself():
    M, X = any_antisymmetric(rng(), 4), tokens(4, 6)
    other = any_matrix(rng(), 4)
    diagonals = [np.diagonal(mul(X.T, N, X)).any() for N in (M, other)]
    return diagonals == [False, True]


def delta_is_an_area():
    """The determinant exactly; and the signed area of the parallelogram, by its corners."""
    alpha, beta = tokens(2, 4)
    X = tokens(4, 2, seed=2)
    scale, _ = scale_and_turn(OVER, antisymmetric(OVER, alpha, beta), X)
    (p, q), (r, s) = OVER.matmul(np.stack([alpha, beta]), X)
    det = OVER.reduce(OVER.reduce(p * s) - OVER.reduce(q * r))
    draw = rng(3)
    alpha, beta = draw.standard_normal((2, 3))
    X = draw.standard_normal((3, 2))
    real, _ = scale_and_turn(R, antisymmetric(R, alpha, beta), X)
    x, y = (np.stack([alpha, beta]) @ X).T
    corners = np.array([0 * x, x, x + y, y])
    ahead = np.roll(corners, -1, axis=0)
    area = (corners[:, 0] * ahead[:, 1] - corners[:, 1] * ahead[:, 0]).sum() / 2
    return same(scale, det) and np.isclose(real, area)


def J_passes_as_it_is():
    """Through any later layers; another matrix does not."""
    rest, X = without_first_layer(network(3, 3, any_matrix)), tokens(3, 2)
    other = np.array([[0.0, 1.0], [1.0, 1.0]])
    passes = [
        same(product_form(OVER, rest, OVER.matmul(X, T)), OVER.matmul(product_form(OVER, rest, X), T))
        for T in (J, other)
    ]
    XJ = OVER.matmul(X, J)
    return same(mul(XJ, XJ.T), mul(X, X.T)) and passes == [True, False]


def powers_of_delta(layers):
    """κ for which φ(X) = Δ^κ F(X) J, of all up to 30."""
    virtual, X = network(layers, 3, antisymmetric_of_rank_two), tokens(3, 2)
    scale, _ = scale_and_turn(OVER, virtual.M[0], X)
    rest = without_first_layer(virtual)
    tail = product_form(OVER, rest, X) if rest.M else OVER.matmul(rest.L, X)
    whole, turned = product_form(OVER, virtual, X), OVER.matmul(tail, J)
    return [k for k in range(31) if same(whole, OVER.reduce(power(scale, k) * turned))]


def both_tokens_vanish_if_parallel():
    (M, *_), X = network(3, 3, antisymmetric_of_rank_two).M, tokens(3, 2)
    parallel = np.stack([X[..., 0], OVER.reduce(7 * X[..., 0])], axis=-1)
    return not first_layer(OVER, M, parallel).any() and first_layer(OVER, M, X).any()


# The proof of the Peel lemma


def close(one, other):
    """Relative to their size, however small."""
    return 0 < np.abs(other).max() and np.abs(one - other).max() < 1e-8 * np.abs(other).max()


def with_slopes(function, point, direction, step=1e-30):
    """The derivative by a complex step: no rounding, as the function is a polynomial."""
    return function(*(p + 1j * step * q for p, q in zip(point, direction, strict=True))).imag / step


def real_peel(layers=3, width=3, seed=0):
    draw = rng(seed)
    L, *tail = draw.standard_normal((layers, width, width))
    M1 = antisymmetric(R, *draw.standard_normal((2, width)))
    moves = draw.standard_normal((layers + 1, width, width))
    return (L, M1, *tail), moves, draw.standard_normal((width, 2))


def deep(L, *Ms_and_X):
    *Ms, X = Ms_and_X
    return product_form(R, VirtualWeights(L, tuple(Ms)), X)


def tail_moved_along(point, X, W):
    """DF(X)[W]."""
    L, _, *tail = point
    still = [np.zeros_like(M) for M in (L, *tail)]
    return with_slopes(deep, (L, *tail, X), (*still, W))


def kernel_equation():
    """dφ = Δ^{κ−1} (Δ Ḟ − DF[XXᵀṀ₁XJ]) J for every direction, so it vanishes where the equation holds."""
    for seed in range(3):
        point, moves, X = real_peel(seed=seed)
        (L, M1, *tail), (L_dot, M1_dot, *tail_dot), none = point, moves, np.zeros_like(X)
        delta = X[:, 0] @ M1 @ X[:, 1]
        whole = with_slopes(deep, (*point, X), (*moves, none))
        F_dot = with_slopes(deep, (L, *tail, X), (L_dot, *tail_dot, none))
        right = tail_moved_along(point, X, X @ X.T @ M1_dot @ X @ J)
        if not close(whole, delta**8 * (delta * F_dot - right) @ J):
            return False
    return True


def on_a_line_the_symmetric_part_is_read():
    """DF at X = usᵀ is uᵀṀ₁u times something not zero; for an antisymmetric Ṁ₁ it vanishes."""
    for seed in range(3):
        point, moves, _ = real_peel(seed=seed)
        draw = rng(seed + 30)
        u, s = draw.standard_normal(3), draw.standard_normal(2)
        X = np.outer(u, s)

        def right(M, X=X, point=point):
            return tail_moved_along(point, X, X @ X.T @ M @ X @ J)

        one, other = moves[1], moves[2]
        ratio = right(one) * (u @ other @ u) - right(other) * (u @ one @ u)
        size = np.abs(right(one)).max()
        if not (
            size > 1e-6 and np.abs(ratio).max() < 1e-9 * size and abs(X[:, 0] @ point[1] @ X[:, 1]) < 1e-9
        ):
            return False
        if np.abs(right(one - one.T)).max() > 1e-9 * size:
            return False
    return True


def delta_divides():
    """For an antisymmetric Ṁ₁: XᵀṀ₁X = Δ̇ J, and the right side is −9 Δ̇ F, so Δ Ḟ = −κ Δ̇ F."""
    point, moves, X = real_peel()
    M = moves[1] - moves[1].T
    delta_dot = X[:, 0] @ M @ X[:, 1]
    F = deep(point[0], *point[2:], X)
    right = tail_moved_along(point, X, X @ X.T @ M @ X @ J)
    return close(X.T @ M @ X, delta_dot * J) and close(right, -9 * delta_dot * F)


def rank_as_a_form(M):
    """Of (x₁, x₂) ↦ x₁ᵀMx₂ as a quadratic form: a product of two linear ones has rank 2 at most."""
    zero = np.zeros_like(M)
    return exact_rank(np.block([[zero, M], [M.T, zero]]), OVER)


def delta_cannot_be_factored():
    """Not over a larger field either; for a matrix of rank one it can."""
    return [rank_as_a_form(M(rng(), 3)) for M in (antisymmetric_of_rank_two, rank_one)] == [4, 2]


def the_rest_does_not_vanish_with_delta():
    """On tokens on one line; with a later antisymmetric matrix it does."""
    virtual = network(3, 3, antisymmetric_of_rank_two)
    L, (_, M2, M3) = virtual
    X = OVER.matmul(tokens(3, 1), tokens(1, 2, seed=3))
    scale, _ = scale_and_turn(OVER, virtual.M[0], X)
    good, bad = (
        product_form(OVER, VirtualWeights(L, tail), X) for tail in ((M2, M3), (M2, OVER.reduce(M3 - M3.T)))
    )
    return not scale.any() and good.any() and not bad.any()


def kernels_with_and_without(layers, width, seed=1):
    virtual = network(layers, width, antisymmetric_of_rank_two, seed)
    return kernel_of(virtual), kernel_of(without_first_layer(virtual))


def parallel_and_symmetric():
    """After a layer of rank one; later M may be transposed, and the first may not."""
    virtual = network(3, 2, symmetric_rank_one)
    X = tokens(2, 2)
    after = first_layer(OVER, virtual.M[0], X)
    L, (M1, M2, M3) = virtual
    outputs = [product_form(OVER, VirtualWeights(L, Ms), X) for Ms in ((M1, M2, M3), (M1, M2.T, M3.T))]
    G = network(3, 2, any_matrix).M[0]
    others = [product_form(OVER, VirtualWeights(L, Ms), X) for Ms in ((G, M2, M3), (G, M2.T, M3.T))]
    return exact_rank(after, OVER) == 1 and same(*outputs) and not same(*others)


def three_each_in_three_dimensions():
    return kernel(3, 3, symmetric_rank_one) == 9


# Peel again


def the_chain():
    for width in (2, 3):
        k = [kernel(layers, width, any_matrix) for layers in (1, 2, 3, 4)]
        peeled = [kernel(layers, width, antisymmetric_of_rank_two) for layers in (1, 2, 3, 4)]
        if k != [1, 2, 3, 4] or any(here > there for here, there in zip(k, peeled, strict=True)):
            return False
        if peeled[1:] != [1 + one for one in k[:-1]]:
            return False
    return True


def antisymmetric_needs_rank_two():
    """In a space of one dimension, or with one product only, there is none but zero."""
    draw = rng()
    ranks = {exact_rank(antisymmetric_of_rank_two(draw, width), OVER) for width in (2, 3, 5)}
    odd = {exact_rank(any_antisymmetric(draw, width), OVER) for width in (2, 3, 4, 5)}
    return ranks == {2} and odd == {2, 4} and not any_antisymmetric(draw, 1).any()


def rank_one_exactly_then():
    for arch in lightning_networks(40):
        virtual = virtual_weights(OVER, weights_of(arch))
        w = effective_widths(arch)
        for k in range(1, arch.num_layers):
            found = exact_rank(virtual.M[k - 1], OVER) == 1
            if found != (min(arch.head_dims[k - 1], w[k - 1]) == 1):
                return False
    return True


def tokens_become_parallel():
    """With three tokens; and from there on a transposed A goes unnoticed, not before."""
    for widths, heads, k in [
        ((3, 3, 3, 3), (2, 1, 2), 2),
        ((3, 4, 2, 3), (1, 2, 2), 1),
        ((3, 3, 3, 3), (2, 2, 2), 4),
    ]:
        weights, X = weights_of(A(widths, heads)), tokens(3, 3)
        before = forward(OVER, "lightning", weights, X[None])
        for layer, (Q, K, V) in enumerate(weights, start=1):
            turned = tuple(Layer(K, Q, V) if i == layer else W for i, W in enumerate(weights, start=1))
            unnoticed = same(forward(OVER, "lightning", turned, X[None]), before)
            parallel = exact_rank(tokens_after(weights, X, layer), OVER) == 1
            if unnoticed != (layer > k) or parallel != (layer >= k):
                return False
    return True


def layers_before_a_collapse_are_peeled_off():
    """M₂ or M₃ of rank one, M₁ antisymmetric: the rescaling, and the kernel of the rest."""
    for layers, k in ((2, 2), (3, 2), (3, 3), (4, 3)):
        for width in (2, 3):
            L, Ms = network(layers, width, antisymmetric_of_rank_two)
            Ms = tuple(rank_one(rng(k), width) if i == k else M for i, M in enumerate(Ms, start=1))
            virtual = VirtualWeights(L, Ms)
            if kernel_of(virtual) != 1 + kernel_of(without_first_layer(virtual)):
                return False
    return True


def collapse_may_cost():
    """σ is never more than α, and less but for rank one or width one."""
    costs = {a: dim((3, 3, 3), (2, a)) - dim((3, 3, 3), (1, a)) - 3 for a in (1, 2, 3)}
    return costs == {1: 0, 2: 2, 3: 3}


def collapsed_formula():
    """φ = |s|^e Ψ(g) sᵀ with M₁ = uvᵀ, g = XXᵀu, s = Xᵀv."""
    for layers in (2, 3):
        draw = rng(layers)
        u, v = OVER.random(draw, (2, 3, 1))
        L, *tail = OVER.random(draw, (layers, 3, 3))
        X = OVER.random(draw, (3, 2))
        g, s = mul(X, X.T, u), mul(X.T, v)
        number = power(mul(s.T, s)[0, 0], (3 ** (layers - 1) - 1) // 2)
        for j, M in enumerate(tail, start=2):
            number = float(OVER.reduce(number * power(mul(g.T, M, g)[0, 0], 3 ** (layers - j))))
        by_formula = OVER.reduce(number * mul(L, g, s.T))
        if not same(by_formula, product_form(OVER, VirtualWeights(L, (mul(u, v.T), *tail)), X)):
            return False
    return True


def collapsed_networks_keep_their_rescalings_only():
    """The kernel less the unseen antisymmetric parts; and D with σ after the collapse, less l."""
    nets = [
        A((3, 3, 3, 3), (2, 1, 2)),
        A((4, 3, 2, 3), (2, 1, 2)),
        A((3, 1, 3, 2), (2, 2, 2)),
        A((3, 3, 3), (1, 3)),
    ]
    counted = all(
        kernel(layers, width, rank_one) - (layers - 1) * width * (width - 1) // 2 == layers
        for layers in (1, 2, 3)
        for width in (2, 3)
    )
    return counted and all(
        collapsing_layer(arch) is not None
        and nv.measure_dimension(arch).value == nv.general_formula(arch).value
        for arch in nets
    )


def heading(name):
    return f"\n### {name}" in MATHEMATICS.read_text(encoding="utf-8")


def one_layer_and_its_lemma():
    notebook = (ROOT / "notebooks/02_single_layer_fibers.py").read_text(encoding="utf-8")
    return (
        "Lemma A.3 of the paper" in notebook
        and heading("Lemma A.3. The kernel of the differential of one layer")
        and all(kernel(1, width, any_matrix, seed) == 1 for width in (2, 3, 4) for seed in (1, 2))
    )


def part_five():
    text = MATHEMATICS.read_text()
    return text[text.index("\n### Peel lemma\n") : text.index("\n### What is not proved\n")]


def proof_is_elementary():
    """It names Theorem 3.7 once, as what it does not need, and Ax nowhere."""
    proof, text = part_five(), MATHEMATICS.read_text()
    lemma_D = text[text.index("\n### Lemma D.") : text.index("\n## Part 4.")]
    expected = nv.general_formula(NET)
    return (
        proof.count("Theorem 3.7") == 1
        and "Elementary; independent of Theorem 3.7" in proof
        and "Theorem 3.7" not in lemma_D
        and "Ax" not in proof + lemma_D
        and (expected.status, "not peer-reviewed" in expected.note) == ("proved here", True)
    )


def unseen_may_make_the_paper_too_large():
    """Too large where the unseen cells follow a wider input; equal where they do not; never too small."""
    found = {}
    for d0, d1 in [(6, 6), (5, 5), (7, 6), (6, 5), (7, 5), (5, 4)]:
        arch = A((d0, d1, 1), (2, 1), tokens=2)
        assert measure_span(arch, 1).value < d1
        found[d0 > d1, nv.paper_formula(arch).value > nv.measure_dimension(arch).value] = True
        assert nv.paper_formula(arch).value >= nv.measure_dimension(arch).value
    ours = (nv.paper_formula(NET).value, nv.measure_dimension(NET).value) == (90, 87)
    return ours and set(found) == {(True, True), (False, False)}


def solution_is_right():
    arch = A((6, 6, 1), (2, 1))
    verdict, other = check_unseen(arch), check_unseen(A((6, 3, 1), (2, 1)))
    return (
        bool(verdict)
        and "After layer 1 arrive 6 dimensions, and 3 of them are seen" in verdict.message
        and not other
    )


def kernel_on(virtual, count, t):
    """The kernel of the derivative on some inputs of t tokens."""
    columns = virtual.L.size + sum(M.size for M in virtual.M)
    X = tokens(count, virtual.L.shape[1], t)
    rows = virtual_jacobian(OVER, virtual, X)
    return columns - exact_rank(rows.reshape(-1, columns), OVER)


def fewer_inputs_have_larger_kernels():
    """More inputs, or more tokens of each, never make the kernel larger."""
    for M1 in (any_matrix, symmetric_rank_one, antisymmetric_of_rank_two):
        virtual = network(2, 3, M1)
        by_count = [kernel_on(virtual, count, 2) for count in (1, 2, 3, 4, 8, 16)]
        by_tokens = [kernel_on(virtual, 16, t) for t in (1, 2, 3)]
        for found in (by_count, by_tokens):
            if found != sorted(found, reverse=True):
                return False
        if not by_count[0] > by_count[-1]:
            return False
    return True


def lemma_at_random_sizes():
    draw = np.random.default_rng(7)
    sizes = [(int(draw.integers(1, 5)), int(draw.integers(2, 5))) for _ in range(30)]
    pairs = [kernels_with_and_without(layers, width, seed) for seed, (layers, width) in enumerate(sizes)]
    return all(here == 1 + rest for here, rest in pairs)


def no_button_shows_all():
    states = buttons("04_why_the_formula", "flag_panel")
    return all(any(s.seen < s.width for s in shown(FlagExplorer, state)[0].inner) for state in states)


def buttons_type_what_the_text_says():
    studies = [shown(FlagExplorer, state)[0] for state in buttons("04_why_the_formula", "flag_panel")]
    return [(one.arch.widths, one.arch.head_dims) for one in studies] == [
        (NET.widths, NET.head_dims),
        (NET.widths, (2, 2, 3)),
        ((2, 4, 2), (2, 2)),
    ]


def rank_four_only_scales_and_turns():
    M, X = any_antisymmetric(rng(), 4), tokens(4, 2)
    scale, turned = scale_and_turn(OVER, M, X)
    return exact_rank(M, OVER) == 4 and same(first_layer(OVER, M, X), OVER.reduce(scale * turned))


def error_bounds():
    """0 where the rank is all that the symmetries leave; not for our network, with its unseen parts."""
    sure = [uniform(3, 2, 2, 2), A((5, 3, 4), (2, 2))]
    found = [nv.measure_dimension(arch) for arch in sure]
    return (
        all(
            one.error_bound == 0
            and one.value == arch.num_parameters - sum(nv.kernel_ledger(arch).entries.values())
            for arch, one in zip(sure, found, strict=True)
        )
        and nv.measure_dimension(A((3, 3, 3), (1, 2))).error_bound > 0
    )


CLAIMS = [
    (
        "neither narrow in the middle nor of one width",
        lambda: all(
            words in nv.paper_formula(NET).note
            for words in ("equal inner widths", "inner widths at most the first and the last")
        ),
    ),
    (
        "239 parameters, and 87 dimensions",
        lambda: (
            (NET.num_parameters, nv.measure_dimension(NET).value, nv.general_formula(NET).value)
            == (239, 87, 87)
        ),
    ),
    ("find 152 independent ways to change the weights that do nothing", lambda: lost(NET) == 152),
    ("and so is every change of what nobody looks at", what_nobody_looks_at_does_nothing),
    ("so they live in a space of 8 dimensions", eight_dimensions_after_layer_two),
    ("$M_3 = k q^\\top$, so it takes two", who_looks_after_layer_two),
    ("Everything else about these tokens goes unnoticed", unseen_parts_go_unnoticed),
    (
        "of the rows of $L$ together with the rows and columns of $M_3$",
        lambda: spans_of_our_network()[:2] == (3, 2),
    ),
    (
        "It has rank 2, so it takes four numbers more, and there are $3 + 4 = 7$ dimensions",
        lambda: spans_of_our_network()[2:] == (2, 7),
    ),
    ("$1 + 2 \\cdot 3 = 7$ of 9, and after layer 1 all 8", answers_of_the_flag_panel),
    ("here the formula of the paper does not apply, and this is why", two_cells_are_empty),
    ("All is seen in a bottleneck, such as `5,3,4`", all_is_seen_in_a_bottleneck),
    (
        "be the dimension of the space in which the tokens after layer $i$ live",
        tokens_live_in_the_narrowest_width_so_far,
    ),
    ("since $M_i$ adds at most twice its rank", adds_at_most_twice_its_rank),
    ("(At the input, $w_0$ is $d_0$.)", all_of_the_input_counts),
    ("$R_2 \\subset R_1 \\subset \\mathbb{R}^9$, spaces inside spaces", later_spans_lie_in_earlier_ones),
    (
        "can be chosen in $w_i (w_{i-1} - w_i)$ independent ways",
        lambda: all(
            ways_to_choose_a_subspace(k, n) == k * (n - k) for n in (2, 3, 4, 5) for k in range(1, n)
        ),
    ),
    ("In how many independent ways can it be tilted?", lambda: ways_to_choose_a_subspace(2, 3) == 2),
    ("whose $d_l$ rows lie in the last of these spaces: $d_l\\, w_{l-1}$ ways", ways_to_choose_L),
    ("every such choice comes from weights of the network", every_choice_comes_from_weights),
    (
        "$14 + 12 + 3 + 32 + 24 + 5 - 3 = 87$",
        lambda: (
            [t.value for t in formula_terms(NET)] == [14, 12, 3, 32, 24, 5, -3]
            and nv.measure_dimension(NET).value == 14 + 12 + 3 + 32 + 24 + 5 - 3
        ),
    ),
    ("So there are **at most $D - l$ dimensions**", at_most_D_minus_l),
    ("(If tokens become parallel there may be fewer; see below.)", parallel_tokens_may_cost_dimensions),
    ("A rank can drop at a special point, and never jumps up there", ranks_near_a_special_point),
    (
        "can be more at special weights than elsewhere, and never fewer",
        kernels_are_never_smaller_at_special_weights,
    ),
    ("No token attends to itself now, since $x^\\top M_1 x = 0$", no_token_attends_to_itself),
    ("which is the area between the two tokens in the coordinates $\\alpha, \\beta$", delta_is_an_area),
    ("$J$ passes as it is, because $XJ(XJ)^\\top = XX^\\top$", J_passes_as_it_is),
    (
        "So $\\varphi(X) = \\Delta^{\\kappa}\\, F(X)\\, J$ with $\\kappa = 3^{l-1}$",
        lambda: [powers_of_delta(layers) for layers in (1, 2, 3, 4)] == [[1], [3], [9], [27]],
    ),
    ("On the left each width is a column of cells", cells_at_the_left_and_the_sum_at_the_right),
    ("Or press a button instead of typing", buttons_type_what_the_text_says),
    ("Or press a button instead of typing; the last question has none", no_button_shows_all),
    ("(For parallel tokens the area $\\Delta$ is 0, and both vanish.)", both_tokens_vanish_if_parallel),
    ("$\\Delta \\cdot \\dot F(X) = DF(X)[XX^\\top \\dot M_1 X J]$", kernel_equation),
    (
        "it comes out as $u^\\top \\dot M_1 u$ times something that is not zero",
        on_a_line_the_symmetric_part_is_read,
    ),
    (
        "Then $X^\\top \\dot M_1 X$ is a number $\\dot\\Delta$ times $J$, and the equation says",
        delta_divides,
    ),
    ("is a $2 \\times 2$ determinant, which cannot be factored", delta_cannot_be_factored),
    ("and $F$ does not vanish wherever $\\Delta$ does", the_rest_does_not_vanish_with_delta),
    (
        "for one to four layers and three dimensions: the kernel at an antisymmetric $M_1$",
        lambda: [kernels_with_and_without(k, 3) for k in (1, 2, 3, 4)] == [(1, 0), (2, 1), (3, 2), (4, 3)],
    ),
    (
        "One more each time: the step that peels off a layer costs its rescaling and nothing else",
        lemma_at_random_sizes,
    ),
    ("That is more than three", lambda: kernel(3, 2, symmetric_rank_one) == 5),
    ("After a layer of rank one the tokens are parallel", parallel_and_symmetric),
    ("the kernel is $3 + 6 = 9$", three_each_in_three_dimensions),
    ("\\text{kernel at an antisymmetric } M_1 \\;=\\; 1 + k(l-1)", the_chain),
    ("It has rank 2: this needs $a_i \\ge 2$ and $w_{i-1} \\ge 2$", antisymmetric_needs_rank_two),
    ("And it has to be a limit of what generic weights give", antisymmetric_choices_come_from_weights),
    ("*Peel lemma*", lambda: heading("Peel lemma\n") and not heading("Peel lemmas\n")),
    ("where $k(1) = 1$ is Lemma A.3 of the paper, which you met in notebook 02", one_layer_and_its_lemma),
    ("But exactly then $M_k$ has rank one", rank_one_exactly_then),
    ("later layers show the symmetric part of their $M_j$ only", tokens_become_parallel),
    ("So there may be fewer dimensions: $\\sigma$ instead of $\\alpha$", collapse_may_cost),
    ("The layers before $k$ are peeled off as before", layers_before_a_collapse_are_peeled_off),
    ("the function is a product of powers of quadratic forms $g^\\top M_j\\, g$", collapsed_formula),
    ("These numbers are the rescalings", collapsed_networks_keep_their_rescalings_only),
    ("it uses neither Theorem 3.7 of the paper nor Ax's theorem", proof_is_elementary),
    ("may be too large: for our network it says 90", unseen_may_make_the_paper_too_large),
    ("after layer 1 arrive 6 dimensions, and $1 + 2 \\cdot 1 = 3$ are looked at", solution_is_right),
    ("it can only be too large, so this is the harmless direction", fewer_inputs_have_larger_kernels),
    (
        "the cases with a width of 1 are treated separately",
        lambda: "**Case II: $w_{k-1}=1$.**" in part_five(),
    ),
    (
        "120 exact cases",
        lambda: (
            "Peel lemma: identity and kernel $=l$ in 120 cases" in MATHEMATICS.read_text()
            and lemma_at_random_sizes()
        ),
    ),
    (
        "more than 20,000 exact ranks, three implementations, no mismatch",
        lambda: (
            "on more than 20,000 architectures" in MATHEMATICS.read_text()
            and all(
                nv.measure_dimension(arch).value
                == nv.measure_dimension(arch, prime=8_388_587, route="weights").value
                == nv.general_formula(arch).value
                for arch in random_networks(80)
            )
        ),
    ),
    ("the Peel lemma at random sizes, each time with fresh weights", lemma_at_random_sizes),
    ("`nv.measure_dimension` then gives an `error_bound` of 0", error_bounds),
    ("(*Theorem A* in [docs/mathematics.md](../docs/mathematics.md))", lambda: heading("Theorem A. Softmax")),
    (
        "The kernels for $l = 2, 3$ are 2 and 3",
        lambda: [kernel(k, 4, any_antisymmetric) for k in (2, 3)] == [2, 3],
    ),
    (
        "and an antisymmetric one is a number times $J$, whatever the rank of $M_1$",
        rank_four_only_scales_and_turns,
    ),
    (
        "Rank 2 is taken because it fits into heads with $a_1 = 2$",
        lambda: (
            [exact_rank(M(rng(), 4), OVER) for M in (antisymmetric_of_rank_two, any_antisymmetric)] == [2, 4]
        ),
    ),
    (
        "The number $x_1^\\top M_1 x_2$ cannot be factored either",
        lambda: rank_as_a_form(any_antisymmetric(rng(), 4)) == 8,
    ),
]

ELSEWHERE = [
    (
        "The general formula gives the dimension of every deep lightning network",
        "test_formulas.py::test_the_general_formula_is_the_measured_dimension_of_any_network",
    ),
    (
        "The function depends on the virtual weights only",
        "test_symmetry.py::test_virtual_weights_determine_the_lightning_function",
    ),
    (
        "or *unseen* if it arrives and nobody looks, or *empty* if no token ever reaches it",
        "test_flag_explorer.py::test_every_column_has_a_cell_for_each_dimension_of_its_width",
    ),
    (
        "$$w_{i-1} = \\min\\bigl(r_{i-1},\\ w_i + 2\\min(a_i, r_{i-1})\\bigr),$$",
        "test_flag_explorer.py::test_the_spans_have_the_dimensions_of_the_recursion",
    ),
    (
        "with rows and columns in $R_{i-1}$: $\\alpha(a_i, w_{i-1})$ ways",
        "test_formulas.py::test_alpha_and_sigma_are_ranks_of_differentials",
    ),
    (
        "The right part of the panel adds the terms",
        "test_flag_explorer.py::test_the_bars_of_the_sum_follow_each_other_and_end_at_the_dimension",
    ),
    (
        "and choices in general position give different virtual weights",
        "test_formulas.py::test_D_counts_the_virtual_weights",
    ),
    (
        "in $l$ independent directions and leave the function alone",
        "test_peeling.py::test_a_generic_first_layer_has_the_rescalings_as_its_kernel",
    ),
    (
        "It puts $-x_2$ in the place of $x_1$, and $x_1$ in the place of $x_2$",
        "test_peeling.py::test_an_antisymmetric_layer_only_scales_and_turns",
    ),
    (
        "the kernel consists of the rescaling of $M_1$ and of the kernel of $F$",
        "test_peeling.py::test_the_kernel_is_one_rescaling_and_the_kernel_of_the_rest",
    ),
    (
        "and no later $M_j$ antisymmetric)",
        "test_peeling.py::test_the_later_symmetric_parts_must_not_vanish",
    ),
    (
        "so $\\dot\\Delta = c\\,\\Delta$ and $\\dot M_1 = c M_1$",
        "test_peeling.py::test_in_every_direction_of_the_kernel_the_first_matrix_moves_along_itself",
    ),
    (
        "Then $M_2$ and $M_3$ are asked for their symmetric part only",
        "test_peeling.py::test_at_a_symmetric_matrix_of_rank_one_the_kernel_is_larger",
    ),
    (
        "**Theorem C.** For two tokens or more the dimension is $D - l$",
        "test_formulas.py::test_the_general_formula_is_the_measured_dimension_of_any_network",
    ),
    (
        "the panel measures each $w_i$ as a rank, without the rule",
        "test_flag_explorer.py::test_the_marks_are_the_measured_spans_and_the_bars_the_recursion",
    ),
    (
        "the rank of weights $\\mapsto (L, M)$ was $D$ in 2,898 networks",
        "test_formulas.py::test_D_counts_the_virtual_weights",
    ),
    (
        "three implementations, no mismatch",
        "test_measure.py::test_lightning_has_the_rank_of_the_definition_over_Q",
    ),
    (
        "one computed rank a lower bound",
        "test_measure.py::test_a_tiny_field_may_fall_short_and_never_goes_beyond",
    ),
    (
        "symmetries give an upper bound",
        "test_gauge.py::test_the_slice_never_has_fewer_free_entries_than_there_are_dimensions",
    ),
    (
        'this is where "no later $M_j$ antisymmetric" is used',
        "test_peeling.py::test_the_later_symmetric_parts_must_not_vanish",
    ),
    (
        "every token attends to itself alone, so that a layer does nothing at all",
        "test_two_tokens.py::test_a_frozen_layer_does_nothing_and_hides_its_weights",
    ),
]
