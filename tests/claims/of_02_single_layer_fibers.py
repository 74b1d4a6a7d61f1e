"""What notebooks/02_single_layer_fibers.py says in words: see tests/test_claims.py."""

from itertools import permutations, product
from unittest.mock import patch

import numpy as np

import neuroviz as nv
from claims.common import OVER, A, dim, lost, uniform
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import paper_promises
from neuroviz.engine.layer import Pair, as_weights, kernel_dimension, rescaled, same_function, swapped
from neuroviz.engine.network import forward, random_weights
from neuroviz.explorables import FiberExplorer, LedgerExplorer
from neuroviz.lessons.checks_one_layer import check_second_branch
from neuroviz.lessons.wrong_answers import wrong_answers
from neuroviz.single_layer import walk
from neuroviz.single_layer.walk import FiberSetting, study_fiber
from neuroviz.singular.forms import kind_of
from neuroviz.singular.ranks import Approach, singular_facts

REAL = Reals()
WALKED = np.arange(-1.5, 1.51, 0.25)


def fresh(seed=0):
    return np.random.default_rng(seed)


def layer(A, V, X):
    return V @ X @ X.T @ A @ X


def the_notebooks_numbers():
    rng = fresh()
    A, V = rng.standard_normal((2, 3, 3))
    return A, V, rng.standard_normal((3, 2))


def permutations_that_do_nothing(tokens):
    rng = fresh()
    u, k, v, h = rng.standard_normal((4, 3))
    X = rng.standard_normal((3, tokens))
    before = layer(np.outer(u, k), np.outer(h, v), X)
    orders = permutations([u, k, v])
    return sum(np.allclose(layer(np.outer(p, q), np.outer(h, r), X), before) for p, q, r in orders)


def softmax_outputs(pair, X):
    return forward(REAL, "softmax", as_weights(pair), X[None])[0]


def a_network_of_one_layer_is_that_formula():
    """Q and K of a head of rank 2, tokens as columns."""
    weights = random_weights(REAL, A((3, 4), (2,)), fresh(1))
    X = fresh(2).standard_normal((3, 5))
    (Q, K, V), found = weights[0], forward(REAL, "lightning", weights, X[None])[0]
    return np.allclose(layer(K.T @ Q, V, X), found) and not np.allclose(layer(Q.T @ K, V, X), found)


def softmax_is_that_formula():
    A_, V, X = the_notebooks_numbers()
    E = np.exp(X.T @ A_ @ X)  # row j, column i
    p = E / E.sum(axis=0)
    found = softmax_outputs(Pair(A_, V), X)
    columns = [sum(p[j, i] * V @ X[:, j] for j in range(2)) for i in range(2)]
    return np.allclose(found, np.transpose(columns)) and not np.allclose(found, V @ X @ p.T)


def factorisations(rows, a, p=3):
    """How many (Q, K) over F_p have the product KᵀQ of the given rows of Q and K; all are tried."""
    entries = np.array(list(product(range(p), repeat=a * len(rows[0][0]))))
    every = entries.reshape(len(entries), a, -1)
    Q, K = (np.array(one) for one in rows)
    target = K.T @ Q % p
    return sum(int((np.einsum("ai,maj->mij", k, every) % p == target).all((1, 2)).sum()) for k in every)


def heads_of_full_rank_have_a_basis_and_others_more():
    """|GL₁(F₃)| = 2 and |GL₂(F₃)| = 48 factorisations, and more where Q has rank 1."""
    return (
        factorisations([[[1, 0]], [[1, 2]]], 1) == 2
        and factorisations([[[1, 0], [0, 1]], [[1, 2], [0, 1]]], 2) == 48
        and factorisations([[[1, 0], [0, 0]], [[1, 2], [0, 1]]], 2) > 48
    )


def kernel_at(pair, tokens=2):
    return kernel_dimension(OVER, "lightning", pair, tokens, fresh(5))


def exact_pair(d=3, d_out=3, seed=0):
    return Pair(OVER.random(fresh(seed), (d, d)), OVER.random(fresh(seed + 9), (d_out, d)))


def study(**setting):
    return study_fiber(FiberSetting(**setting))


def weights_change_and_outputs_do_not():
    found = [study(along=along) for along in WALKED if along]
    moved = [not np.allclose(s.now.A, s.start.A) and not np.allclose(s.now.V, s.start.V) for s in found]
    return all(moved) and all(s.same_outputs for s in found)


def places(**setting):
    return np.array([study(along=along, **setting).places[2] for along in WALKED])


def arms_are_apart():
    here, there = places(), places(negative=True)
    on_the_curve = np.allclose(here.prod(axis=1), 1) and np.allclose(there.prod(axis=1), 1)
    A_, V, X = the_notebooks_numbers()
    nothing = not layer(0 * A_, V, X).any() and layer(A_, V, X).any()
    return on_the_curve and (here > 0).all() and (there < 0).all() and nothing


def drawn_curve(name, state=None):
    (found,) = [t for t in FiberExplorer(state=state).figure.data if t.name == name]
    return np.array([(x, y) for x, y in zip(found.x, found.y, strict=True) if x is not None], dtype=float)


def thick_and_thin_curves():
    panel = FiberExplorer()
    thin, thick = ([t for t in panel.figure.data if t.name == n][0] for n in ("other functions", "the fibre"))
    others = drawn_curve("other functions").prod(axis=1)
    return (
        np.allclose(drawn_curve("the fibre").prod(axis=1), 1)
        and np.abs(others[np.isfinite(others)] - 1).min() > 0.01
        and thick.line.width > 2 * thin.line.width
    )


def the_dashed_curve_is_the_second_branch():
    """At 60° its points have xy = cos² 60°, and so has the swap, wherever it is walked to."""
    state = "preset=rank-one;along=0.5"
    name = "the other branch, its shadow"
    (dashed,) = [t for t in FiberExplorer(state=state).figure.data if t.name == name]
    walked = [study(preset="rank-one", swap=True, along=along).places[1] for along in (-1.0, 0.5)]
    return (
        dashed.line.dash == "dash"
        and np.allclose(drawn_curve(name, state).prod(axis=1), 0.25)
        and np.allclose(np.prod(walked, axis=1), 0.25)
    )


def along_the_curve():
    """Which of: an entry, a ratio, V up to scale, a product of entries, |A| |V|; stay under a rescaling."""
    A_, V, _ = the_notebooks_numbers()
    values = [
        (
            M[0, 1],
            M[0, 1] / M[0, 0],
            N[1, 2] / N[0, 0],
            M[0, 1] * N[0, 0],
            np.linalg.norm(M) * np.linalg.norm(N),
        )
        for M, N in ((A_, V), rescaled(REAL, Pair(A_, V), 3.0))
    ]
    return np.isclose(*values).tolist()


def step(e, across):
    A_, V, X = the_notebooks_numbers()
    return np.abs(layer((1 + e) * A_, (1 + (e if across else -e)) * V, X) / layer(A_, V, X) - 1).max()


def random_steps_have_slope_one():
    slopes = [study(along=0.5, direction="random", seed=seed).aside.slope for seed in range(20)]
    return all(abs(slope - 1) < 0.1 for slope in slopes) and abs(study(along=0.5).along.slope - 2) < 0.02


def only_the_rescaling_does_nothing():
    pair = exact_pair()
    J = [layer_change(pair, Pair(c * pair.A, d * pair.V)) for c, d in ((1, -1), (1, 0), (0, 1))]
    return kernel_at(pair) == 1 and not J[0].any() and J[1].any() and J[2].any()


def layer_change(pair, direction):
    """The derivative in a direction, over F_p, on some inputs."""
    X = OVER.random(fresh(3), (3, 2))
    one, two = (OVER.reduce(chain(OVER, M, N, X)) for M, N in ((direction.A, pair.V), (pair.A, direction.V)))
    return OVER.reduce(one + two)


def chain(over, A_, V, X):
    product_ = over.reduce(V)
    for M in (X, X.T, over.reduce(A_), X):
        product_ = over.matmul(product_, M)
    return product_


def token_formula():
    u, k, v, h = fresh(4).standard_normal((4, 3))
    X = fresh(5).standard_normal((3, 4))
    columns = [sum((u @ x) * (k @ y) * (v @ x) for x in X.T) * h for y in X.T]
    return np.allclose(layer(np.outer(u, k), np.outer(h, v), X), np.transpose(columns))


def thin(seed=6, angle=None):
    u, k, v, h = fresh(seed).standard_normal((4, 3))
    return Pair(np.outer(u, k), np.outer(h, u if angle == 0 else v))


def the_swap_is_no_rescaling():
    pair = thin()
    other = swapped(REAL, pair)
    branch = [rescaled(REAL, pair, c).A.ravel() for c in (-3.0, -0.5, 0.1, 2.0)]
    return (
        same_function(REAL, "lightning", pair, other, 2)
        and np.linalg.matrix_rank(branch, rtol=1e-9) == 1
        and np.linalg.matrix_rank([*branch, other.A.ravel()], rtol=1e-9) == 2
    )


def branches_in_planes():
    """How many dimensions the points of the first branch span, of the second one, and of both."""
    pair = thin()
    one, two = (
        [np.concatenate([M.ravel() for M in rescaled(REAL, start, c)]) for c in (-2.0, -0.5, 1.0, 3.0)]
        for start in (pair, swapped(REAL, pair))
    )
    return [np.linalg.matrix_rank(points, rtol=1e-9) for points in (one, two, one + two)]


def a_tick_jumps():
    one, two = (study(preset="rank-one", along=0.5, swap=swap) for swap in (False, True))
    return two.same_outputs and np.abs(one.now.A - two.now.A).max() > 0.05


def the_shadow_moves_onto_the_first_branch():
    found = [study(preset="rank-one", swap=True, along=0.5, angle=angle) for angle in (60, 30, 5, 0)]
    x_times_y = [np.prod(s.places[1]) for s in found]
    same = study(preset="rank-one", along=0.5, angle=0).now
    return (
        x_times_y == sorted(x_times_y)
        and np.isclose(x_times_y[-1], 1)
        and x_times_y[0] < 0.3
        and np.allclose(found[-1].now.A, same.A)
    )


def the_sentence_below(state):
    return FiberExplorer(state=f"preset=rank-one;along=0.5;{state}").description


def a_second_order_loss():
    """(v + εw)(v − εw): the change is −ε² times the layer of w, exactly, and not 0."""
    rng = fresh(8)
    v, k, w, h, e = rng.integers(-5, 6, 3), rng.integers(1, 6, 3), rng.integers(1, 6, 3), np.array([1, 2]), 7
    X = rng.integers(-5, 6, (3, 2))
    there = layer(np.outer(v + e * w, k), np.outer(h, v - e * w), X)
    lost_ = layer(np.outer(v, k), np.outer(h, v), X) - there
    return (lost_ == e * e * layer(np.outer(w, k), np.outer(h, w), X)).all() and lost_.any()


def a_boundary_point_has_others_beside_it():
    """X² is a layer; X² + εY² is none, for any ε > 0. At X² − Y² all that is near in this way are layers."""
    beside = [kind_of((1, 0, nv_e), (0, 0, 0)) for nv_e in (1, 1e-3, 1e-6)]
    inside = [kind_of((1, 0, -1 + nv_e), (0, 0, 0)) for nv_e in (0.1, 1e-3, -1e-3)]
    return kind_of((1, 0, 0), (0, 0, 0)) == "boundary" and set(beside) == {"closure only"} != set(inside)


def the_walk_turns_at_zero_only():
    for along in np.arange(0, 1.51, 0.25):
        s = study(preset="zero", along=along)
        if (along < 1) != s.now.A.any() or (along > 1) != s.now.V.any() or not s.same_outputs:
            return False
    sizes = [np.linalg.norm(study(preset="zero", along=along).now.A) for along in (0, 0.25, 0.5, 0.75, 1)]
    both = study(preset="zero", along=0.5).now._replace(V=exact_pair().V)
    X = the_notebooks_numbers()[2]
    return sizes == sorted(sizes, reverse=True) and layer(both.A, both.V, X).any()


def steps_from_the_crossing():
    slopes = [study(preset="zero", along=along).aside.slope for along in (1.0, 0.5)]
    sizes = [[np.linalg.norm(M) for M in study(preset="zero", along=1.0, off=e).now] for e in (0.1, 0.2)]
    return np.allclose(slopes, [2, 1], atol=0.05) and np.allclose(np.multiply(2, sizes[0]), sizes[1])


def the_part_of_two_tokens():
    """φ at (x, y), column 1, less what y = 0 leaves, has the degrees 1 and 2 and is (yᵀAx) Vy."""
    A_, V, X = the_notebooks_numbers()
    x, y = X.T

    def part(s, t):
        both, alone = np.column_stack([s * x, t * y]), s * x[:, None]
        return layer(A_, V, both)[:, 0] - layer(A_, V, alone)[:, 0]

    return np.allclose(part(1, 1), (y @ A_ @ x) * (V @ y)) and np.allclose(part(2, 3), 18 * part(1, 1))


def one_token_sees_the_symmetric_part():
    A_, V, X = the_notebooks_numbers()
    B, x = (A_ - A_.T) / 2, X[:, :1]
    unseen = np.allclose(layer(A_ + B, V, x), layer(A_, V, x))
    seen = not np.allclose(layer(A_ + B, V, X), layer(A_, V, X))
    return unseen and seen and not np.allclose(layer(A_ + (A_ + A_.T), V, x), layer(A_, V, x))


def hidden_from_one_token(d, d_out, a):
    return dim((d, d_out), (a,), tokens=2) - dim((d, d_out), (a,), tokens=1)


def the_antisymmetric_walk():
    one, two = (study(walk="antisymmetric", along=1.0, tokens=t) for t in (1, 2))
    A_ = one.start.A
    return np.allclose(one.now.A - A_, (A_ - A_.T) / 2) and one.same_outputs and not two.same_outputs


def softmax_leaves_the_thin_curve():
    moved = [study(attention="softmax", along=along) for along in (-1.0, 0.5, 1.0)]
    stood = [study(along=along) for along in (-1.0, 0.5, 1.0)]
    slopes = [getattr(s, way).slope for s in moved for way in ("along", "aside")]
    return (
        not any(s.same_outputs for s in moved)
        and all(s.same_outputs for s in stood)
        and np.allclose(slopes, 1, atol=0.1)
    )


def equal_tokens_show_v():
    A_, V, X = the_notebooks_numbers()
    equal = np.repeat(X[:, :1], 3, axis=1)
    return np.allclose(softmax_outputs(Pair(A_, V), equal), V @ equal) and not np.allclose(
        softmax_outputs(Pair(A_, V), X), V @ X
    )


def a_softmax_fibre_is_a_point():
    """No direction does nothing, and far points of the curve and of the swap have other functions."""
    pair = Pair(*the_notebooks_numbers()[:2])
    kernels = [kernel_dimension(REAL, "softmax", p, t, fresh(5)) for p in (pair, thin()) for t in (2, 3)]
    others = [rescaled(REAL, pair, c) for c in (-1.0, 0.5, 3.0)] + [Pair(pair.A.T, pair.V)]
    X = the_notebooks_numbers()[2]
    same = [np.allclose(softmax_outputs(other, X), softmax_outputs(pair, X)) for other in others]
    return kernels == [0, 0, 0, 0] and not any(same)


def walks_of_one_softmax_token():
    return [
        study(attention="softmax", tokens=1, walk=w, along=1.0).same_outputs
        for w in ("rescale", "antisymmetric", "a-alone")
    ]


def one_softmax_token_shows_v():
    A_, V, X = the_notebooks_numbers()
    x = X[:, :1]
    return np.allclose(softmax_outputs(Pair(A_, V), x), V @ x) and np.allclose(
        softmax_outputs(Pair(-5 * A_.T, V), x), V @ x
    )


def attention_matrix(weights):
    return weights[0].K.T @ weights[0].Q


def ratio(w):
    return attention_matrix(w)[0, 1] / attention_matrix(w)[0, 0]


def entry(w):
    return attention_matrix(w)[0, 1]


def six_answers():
    quantities = [
        entry,
        ratio,
        lambda w: w[0].V / w[0].V[0, 0],
        lambda w: entry(w) * w[0].V[0, 0],
        lambda w: np.linalg.svd(w[0].Q, compute_uv=False),
        lambda w: np.linalg.norm(attention_matrix(w)) * np.linalg.norm(w[0].V),
    ]
    return [bool(nv.is_identifiable(A((3, 3), (2,), tokens=2), q).value) for q in quantities]


def seen(quantity, tokens, attention="lightning"):
    return bool(nv.is_identifiable(A((3, 3), (2,), tokens=tokens, attention=attention), quantity).value)


def singular_values_depend_on_the_basis():
    Q, K = fresh(1).standard_normal((2, 2, 3))
    C = np.array([[2.0, 1.0], [0.0, 1.0]])
    same = np.allclose((np.linalg.inv(C).T @ K).T @ C @ Q, K.T @ Q)
    values = [np.linalg.svd(M, compute_uv=False) for M in (Q, C @ Q)]
    return same and not np.allclose(*values)


def one_layer_sizes():
    return product(range(1, 6), range(1, 4), range(1, 6))


def corollary_3_3(tokens=2):
    """Where measured and written differ, as (d, d′, a)."""

    def written(d, d_out, a):
        return (a * (2 * d - a) if a <= d else d * d) + d * d_out - 1

    return [s for s in one_layer_sizes() if dim(s[:2], (s[2],), tokens=tokens) != written(*s)]


def ledger(**changes):
    state = {"width": 3, "width_out": 3, "head_dim": 2, "tokens": 2, "layers": 1} | changes
    panel = LedgerExplorer(state=";".join(f"{name}={value}" for name, value in state.items()))
    return panel._shown


def heads_at_which_eq_7_is_off(**changes):
    found = [ledger(head_dim=a, **changes) for a in range(1, 9)]
    return [a for a, one in enumerate(found, start=1) if one.ledger.dimension != one.paper.value]


def excluded_layers_have_rank_one():
    for d, d_out, a in one_layer_sizes():
        Q, K, V = random_weights(REAL, A((d, d_out), (a,)), fresh(2))[0]
        thin_ = max(np.linalg.matrix_rank(K.T @ Q, rtol=1e-9), np.linalg.matrix_rank(V, rtol=1e-9)) == 1
        if thin_ != (d == 1 or (a == 1 and d_out == 1)):
            return False
    return True


def the_solution():
    ones, twos, mixed, out = np.array([1, 1]), np.array([2, 1]), np.array([1, 3]), np.array([1])
    one = np.outer(ones, twos), np.outer(out, mixed)
    two = 2 * np.outer(mixed, twos), np.outer(out, ones) / 2
    return bool(check_second_branch(*one, *two)) and not check_second_branch(*one, 2 * one[0], one[1] / 2)


def inputs_of_the_panel():
    shapes = []

    def recorded(over, attention, weights, X):
        shapes.append(X.shape)
        return forward(over, attention, weights, X)

    with patch.object(walk, "forward", recorded):
        study_fiber(FiberSetting(tokens=3))
    return {shape[0] for shape in shapes}


def equal_means_to_a_billionth():
    found = [study(off=off) for off in (1e-11, 1e-7)]
    return [s.same_outputs for s in found] == [True, False] and found[0].moved < 1e-9 < found[1].moved


def balanced_weights_are_smallest():
    (Q, K, V), X = random_weights(REAL, A((3, 3), (2,)), fresh(1))[0], fresh(2).standard_normal((1, 3, 2))
    q, k, v = map(np.linalg.norm, (Q, K, V))
    g = (q * k * v) ** (1 / 3)

    def moved(c, other):
        return (type(random_weights(REAL, A((3, 3), (2,)), fresh(1))[0])(c * Q, other * K, V / (c * other)),)

    def size(weights):
        return sum((M**2).sum() for M in weights[0])

    best, before = moved(g / q, g / k), (moved(1.0, 1.0))
    others = [moved(*pair) for pair in np.exp(fresh(3).standard_normal((200, 2)))]
    same = [
        np.allclose(forward(REAL, "lightning", w, X), forward(REAL, "lightning", before, X)) for w in others
    ]
    return (
        all(same)
        and np.allclose([np.linalg.norm(M) for M in best[0]], g)
        and all(size(best) < size(w) for w in others)
    )


def pairs_of_that_length(pair):
    """Points of the fibre with |A′| = |A|, of those that Theorem 3.2 names."""
    starts = [pair] if np.linalg.matrix_rank(pair.A, rtol=1e-9) > 1 else [pair, swapped(REAL, pair)]
    found = []
    for start in starts:
        c = np.linalg.norm(pair.A) / np.linalg.norm(start.A)
        for sign in (-1, 1):
            new = rescaled(REAL, start, sign * c)
            if not same_function(REAL, "lightning", pair, new, 2):
                return None
            if not any(np.allclose(new.A, old.A) and np.allclose(new.V, old.V) for old in found):
                found.append(new)
    return len(found)


def zero_has_a_sphere():
    A_, V, X = the_notebooks_numbers()
    turned = np.linalg.norm(A_) * (A_.T / np.linalg.norm(A_))
    free = not layer(turned, 0 * V, X).any() and not np.allclose(turned, A_)
    return (
        free and np.isclose(np.linalg.norm(turned), np.linalg.norm(A_)) and not layer(0 * A_, 5 * V, X).any()
    )


def drawn(panel, name):
    """How thick a line is, and its points in the picture; 41 of a straight one."""
    (found,) = [t for t in panel.figure.data if t.name == name]
    runs = [[]]
    for x, y in zip(found.x, found.y, strict=True):
        runs = [*runs, []] if x is None else [*runs[:-1], [*runs[-1], (x, y)]]
    runs = [np.linspace(*run, 41) if len(run) == 2 else np.array(run).reshape(-1, 2) for run in runs]
    points = np.concatenate(runs)
    return found.line.width, points[np.abs(points).max(axis=1, initial=0) < 3.4]


def outputs_at(panel, place):
    """Of x A and y V, for A and V of length 1 that the plane is laid through."""
    setting, plane = panel._shown.setting, walk.plane_of(panel._shown.setting)
    X = fresh(7).standard_normal((8, setting.width, setting.tokens))
    there = as_weights(Pair(place[0] * plane.A, place[1] * plane.V))
    return forward(REAL, setting.attention, there, X)


def of_the_start(panel, place):
    """Whether the function there is that of the start."""
    start = (1, 0) if panel._shown.setting.preset == "zero" else (1, 1)
    return np.allclose(outputs_at(panel, place), outputs_at(panel, start), atol=1e-9)


def thick_is_the_fibre_and_thin_is_not(state):
    """Every drawn point has the function of the start, or has another one (the start itself aside)."""
    panel = FiberExplorer(state=state)
    (thick, fibre), (thin, others) = (drawn(panel, name) for name in ("the fibre", "other functions"))
    start = (1, 0) if panel._shown.setting.preset == "zero" else (1, 1)
    others = others[np.linalg.norm(others - start, axis=1) > 0.05]
    same = [[of_the_start(panel, place) for place in places] for places in (fibre, others)]
    return thick > 3 * thin and all(same[0]) and not any(same[1]) and len(fibre) + len(others) > 0


def everywhere_thick_is_the_fibre():
    states = ("", "preset=rank-one", "preset=zero", "tokens=1", "kind=softmax;tokens=1")
    return all(map(thick_is_the_fibre_and_thin_is_not, (*states, "kind=softmax;preset=zero")))


def under_softmax_the_curve_of_lightning_is_thin():
    state = "tokens=2;walk=rescale;along=1"
    before, after = (FiberExplorer(state=state + kind) for kind in ("", ";kind=softmax"))
    (_, fibre), (_, nothing), (_, curve) = (
        drawn(before, "the fibre"),
        drawn(after, "the fibre"),
        drawn(after, "other functions"),
    )
    return (
        len(nothing) == 0 < len(curve)
        and np.allclose(fibre, curve)
        and np.allclose(curve.prod(axis=1), 1)
        and thick_is_the_fibre_and_thin_is_not(state + ";kind=softmax")
    )


def shapes_in_the_picture():
    """A cross: both axes; two branches: two lines; one curve: xy = 1 alone."""
    zero, two, one = (FiberExplorer(state=f"preset={name}") for name in ("zero", "rank-one", "generic"))
    cross, shadow = drawn(zero, "the fibre")[1], "the other branch, its shadow"
    return [
        not cross.prod(axis=1).any() and bool((np.ptp(cross, axis=0) > 6).all()),
        len(drawn(two, "the fibre")[1]) > 0 < len(drawn(two, shadow)[1]),
        len(drawn(one, "the fibre")[1]) > 0 == len(drawn(one, shadow)[1]),
    ]


def an_input_goes_through_both():
    """What the two tiles of outputs show, and that formula on the input of the panel."""
    panel = FiberExplorer(state="along=0.7;off=0.3")
    study_, tiles = panel._shown, {t.name: t.z for t in panel.figure.data if t.type == "heatmap"}
    outputs = [layer(*pair, study_.input_shown) for pair in (study_.start, study_.now)]
    return (
        np.allclose(np.array(tiles["φ(X), start"], dtype=float), outputs[0])
        and np.allclose(np.array(tiles["φ(X), now"], dtype=float), outputs[1])
        and not np.allclose(*outputs)
    )


def places_of_the_views(panel, *names):
    """Where the views of some traces begin and end, from left to right."""
    on = {t.name: (getattr(t, "xaxis", None) or "x").replace("x", "xaxis") for t in panel.figure.data}
    return [panel.figure.layout[on[name]].domain for name in names]


def side_by_side(panel, *names):
    domains = places_of_the_views(panel, *names)
    return all(one[1] <= other[0] for one, other in zip(domains, domains[1:], strict=False))


def is_called(panel, name, *options):
    """Whether a control of this name is there, with such words in its list; and if "More" unfolds it."""
    (control,) = [c for c in panel.controls.values() if c.description == name]
    (row,) = [box for box in panel.children if panel._more in getattr(box, "children", ())]
    offered = getattr(control, "_options_labels", ())
    return all(any(option in words for words in offered) for option in options), control not in row.children


def the_zero_function_begins_so():
    at = [study(preset="zero", along=along).now for along in (0.0, 1.0)]
    return [[bool(M.any()) for M in pair] for pair in at] == [[True, False], [False, False]]


def which_permutations():
    """Of (keys, queries, values): who may stand where (u, k, v) stood."""
    rng = fresh()
    vectors, X = rng.standard_normal((3, 3)), rng.standard_normal((3, 2))
    h, u, k, v = rng.standard_normal(3), *vectors
    before = layer(np.outer(u, k), np.outer(h, v), X)
    orders = permutations(range(3))
    return [
        order
        for order in orders
        if np.allclose(layer(np.outer(*vectors[list(order[:2])]), np.outer(h, vectors[order[2]]), X), before)
    ]


def a_sign_is_not_asked_for():
    """The sign of an entry counts as seen, and yet (−A, −V) has the same function."""
    pair = Pair(*the_notebooks_numbers()[:2])
    other = rescaled(REAL, pair, -1.0)
    return (
        seen(lambda w: np.sign(entry(w)), 2)
        and not seen(entry, 2)
        and same_function(REAL, "lightning", pair, other, 2)
        and np.allclose(np.sign(other.A), -np.sign(pair.A))
    )


def two_of_that_length_on_a_line():
    """d = 1: all whole numbers A′ as long as A = 3, with V′ = 0."""
    same = [a for a in range(-9, 10) if np.linalg.norm([[a]]) == 3]
    return same == [-3, 3] and all(
        not layer(np.array([[a]]), np.zeros((1, 1)), np.ones((1, 2))).any() for a in same
    )


def keys_and_values_look_alike():
    """The layer of v kᵀ and h vᵀ, token by token; that of u kᵀ is another one."""
    u, k, v, h = fresh(4).standard_normal((4, 3))
    X = fresh(5).standard_normal((3, 4))
    columns = np.transpose([sum((v @ x) * (v @ x) * (k @ y) for x in X.T) * h for y in X.T])
    same, other = (layer(np.outer(keys, k), np.outer(h, v), X) for keys in (v, u))
    return np.allclose(same, columns) and not np.allclose(other, columns)


CLAIMS = [
    ("maps the tokens, the columns of $X$, to", a_network_of_one_layer_is_that_formula),
    (
        r"in a head of full rank, all $Q, K$ with the same $A$ are $CQ,\ C^{-\top}K$ for an invertible $C$",
        heads_of_full_rank_have_a_basis_and_others_more,
    ),
    (
        "so a factor can move from one to the other",
        lambda: (lambda A_, V, X: np.allclose(layer(2 * A_, V / 2, X), layer(A_, V, X)))(
            *the_notebooks_numbers()
        ),
    ),
    (
        "how many of them move the function; the rest does nothing",
        lambda: dim((3, 3), (3,), tokens=2) == 18 - 1 == 18 - kernel_at(exact_pair()),
    ),
    (
        "An input $X$ is pushed through the layer at the **start** and through the layer **now**",
        an_input_goes_through_both,
    ),
    (
        "On the left the weights and the outputs",
        lambda: side_by_side(FiberExplorer(), "φ(X), now", "the fibre", "straight steps off"),
    ),
    ("In the middle the plane of all $(xA, yV)$", everywhere_thick_is_the_fibre),
    (
        "the thick curve $xy = 1$ is the fibre, the thin ones are other functions",
        thick_and_thin_curves,
    ),
    (
        "when the weights take a *straight* step of some length, on logarithmic scales",
        lambda: {FiberExplorer().figure.layout[axis].type for axis in ("xaxis3", "yaxis3")} == {"log"},
    ),
    (
        "(Under **More**, *from (−A, −V)* puts it there.)",
        lambda: is_called(FiberExplorer(), "from (−A, −V)") == (True, True),
    ),
    ("*from (−A, −V)* puts it there", lambda: (places(negative=True) < 0).all() and (places() > 0).all()),
    ("The weights change, the outputs stand still", weights_change_and_outputs_do_not),
    ("The point cannot get across: the arms are $c > 0$ and $c < 0$", arms_are_apart),
    (
        "As soon as the point leaves the curve the outputs move",
        lambda: not any(study(along=0.8, off=off).same_outputs for off in (-1.0, -0.05, 0.05, 0.3, 1.0)),
    ),
    (
        "which starts out along the curve",
        lambda: step(1e-4, across=False) / step(1e-3, across=False) < 0.011,
    ),
    ("A millionth: $(1+\\varepsilon)(1-\\varepsilon)", lambda: abs(step(0.001, False) - 1e-6) < 1e-9),
    ("Two thousandths: of first order", lambda: abs(step(0.001, True) - 0.002) < 1e-5),
    ("and so it is in any direction but that of the curve", random_steps_have_slope_one),
    (
        "under **More**, set **step goes** to *at random*",
        lambda: is_called(FiberExplorer(), "step goes", "at random") == (True, True),
    ),
    ("to first order nothing else is invisible", only_the_rescaling_does_nothing),
    (r"\varphi(X)_i = \sum_j (u \cdot x_j)\,(k \cdot x_i)\,(v \cdot x_j)\; h", token_formula),
    (
        "In the formula $u$ and $v$ play the same part, both meet $x_j$, and may change places",
        lambda: which_permutations() == [(0, 1, 2), (2, 1, 0)],
    ),
    (
        "$k$ meets $x_i$ and may not",
        lambda: (
            (1, 0, 2) not in which_permutations()
            and (0, 2, 1) not in which_permutations()
            and len(which_permutations()) == 2
        ),
    ),
    ("So two: leave all as it is, or swap $u$ and $v$", lambda: permutations_that_do_nothing(2) == 2),
    ("No walk along the curve leads there", the_swap_is_no_rescaling),
    ("The weights jump, the outputs do not", a_tick_jumps),
    (
        "No plane contains both branches: each of them bends within a plane of its own",
        lambda: branches_in_planes() == [2, 2, 4],
    ),
    ("The shadow moves onto the first branch", the_shadow_moves_onto_the_first_branch),
    (
        "But 1 direction has become 3",
        lambda: (
            (
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=0)).kernel,
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=1)).kernel,
            )
            == (1, 3)
        ),
    ),
    (
        "how many directions does the sentence below the picture say do nothing?",
        lambda: (
            "3 of 18 directions do nothing" in the_sentence_below("angle=0")
            and "1 of 18 directions does nothing" in the_sentence_below("angle=60")
        ),
    ),
    ("The dashed curve is the second branch", the_dashed_curve_is_the_second_branch),
    (
        "The keys and the values look at a token $y$ through $(v \\cdot y)(v \\cdot y)$ now",
        keys_and_values_look_alike,
    ),
    (r"the product loses $\varepsilon^2 (w \cdot y)^2$", a_second_order_loss),
    ("Such a function is a *boundary point*", a_boundary_point_has_others_beside_it),
    (
        "set **layer** to *zero* and **walk along** to 0",
        lambda: (
            is_called(FiberExplorer(), "layer", "zero")
            == (True, False)
            == is_called(FiberExplorer(), "walk along")
        ),
    ),
    ("the start is $V = 0$, with some $A$", the_zero_function_begins_so),
    ("only there, the walk may turn and let $V$ grow instead", the_walk_turns_at_zero_only),
    ("Stop at the crossing, with **walk along** at 1 (the second button)", the_zero_function_begins_so),
    (r"a step of length $\varepsilon$ makes both of size $\varepsilon$", steps_from_the_crossing),
    (
        "The function is a product of the two",
        lambda: (
            lambda A_, V, X: (
                np.allclose(layer(0.2 * A_, 0.3 * V, X), 0.06 * layer(A_, V, X)) and layer(A_, V, X).any()
            )
        )(*the_notebooks_numbers()),
    ),
    ("all pairs with $A' = 0$ or $V' = 0$ | a cross |", lambda: shapes_in_the_picture()[0]),
    ("| two branches | | all others", lambda: shapes_in_the_picture() == [True] * 3),
    ("linear in $x$ and quadratic in $y$, which is $(y^\\top A x)\\,Vy$", the_part_of_two_tokens),
    (
        "With a single one, $\\varphi(x) = (x^\\top A x)\\, V x$",
        lambda: (
            lambda A_, V, X: (
                np.allclose(layer(A_, V, X[:, :1]), (X[:, 0] @ A_ @ X[:, 0]) * V @ X[:, :1])
                and not np.allclose(layer(A_, V, X)[:, :1], layer(A_, V, X[:, :1]))
            )
        )(*the_notebooks_numbers()),
    ),
    ("only the **symmetric part** $\\tfrac12(A + A^\\top)$ counts", one_token_sees_the_symmetric_part),
    (
        "antisymmetric part, which for $3 \\times 3$ matrices has 3 dimensions",
        lambda: hidden_from_one_token(3, 3, 3) == 3,
    ),
    ("In this panel the walk adds multiples of the antisymmetric part of $A$", the_antisymmetric_walk),
    (
        r"All six: $\varphi(x) = (u \cdot x)(k \cdot x)(v \cdot x)\,h$",
        lambda: permutations_that_do_nothing(1) == 6,
    ),
    ("Softmax divides by a sum of exponentials", softmax_is_that_formula),
    (
        "set **tokens t** to 2, **the walk** to *rescale* and **attention** to *softmax*",
        lambda: all(
            is_called(FiberExplorer(), *asked)[0]
            for asked in (("tokens t",), ("the walk", "rescale"), ("attention", "softmax"))
        ),
    ),
    ("The thin curve is where lightning stood still", under_softmax_the_curve_of_lightning_is_thin),
    ("Here walking along it moves the outputs, and its direction has slope 1", softmax_leaves_the_thin_curve),
    ("so the output is $Vx$, which shows all of $V$", equal_tokens_show_v),
    ("for $t \\ge 2$ and $V \\ne 0$ the fibre in $(A, V)$ is a single point", a_softmax_fibre_is_a_point),
    (
        "and try the three walks",
        lambda: (
            list(walk.WALKS) == ["rescale", "antisymmetric", "a-alone"]
            and is_called(FiberExplorer(), "the walk", "rescale", "antisymmetric", "A alone")[0]
        ),
    ),
    ("$A$ is invisible altogether", one_softmax_token_shows_v),
    (
        "both walks that leave $V$ alone stay in it",
        lambda: walks_of_one_softmax_token() == [False, True, True],
    ),
    (
        "Not an entry of $A$, and not the singular values of $Q$; the other four can be read off",
        lambda: six_answers() == [False, True, True, True, False, True],
    ),
    (
        "Entries change along the curve $(cA, V/c)$; ratios and products do not",
        lambda: along_the_curve() == [False, True, True, True, True],
    ),
    ("The singular values of $Q$ change with the basis of the head", singular_values_depend_on_the_basis),
    ("a sign, such as that of $c$, is not asked for", a_sign_is_not_asked_for),
    (
        "One token: no, since of an entry of $A$ and its mirror image only the sum counts",
        lambda: (
            not seen(ratio, 1)
            and seen(lambda w: (entry(w) + attention_matrix(w)[1, 0]) / attention_matrix(w)[0, 0], 1)
        ),
    ),
    ("Softmax with two tokens: yes, even entries", lambda: seen(entry, 2, "softmax") and not seen(entry, 2)),
    (
        "This is the whole loss of one layer",
        lambda: all(
            lost(A((d, d_out), (a,), tokens=2)) == a * a + 1
            for d in range(1, 5)
            for d_out in (1, 2, 4)
            for a in range(1, d + 1)
        ),
    ),
    (
        "20 forgets the basis of the head and 17 forgets the rescaling",
        lambda: (
            {"Q and K separately": 20, "no rescaling": 17}.items()
            <= {m.name: m.value for m in wrong_answers(A((3, 3), (2,), tokens=2))}.items()
        ),
    ),
    (
        "21 parameters, d = d' = 3, a = 2, t = 2",
        lambda: A((3, 3), (2,), tokens=2).num_parameters == 21,
    ),
    ("For $t \\ge 2$ the functions of one layer have dimension", lambda: corollary_3_3() == []),
    (
        "Set **head dimension a** and **output width d′** to 1, which this leaves out",
        lambda: not paper_promises(ledger(width_out=1, head_dim=1).ledger.arch),
    ),
    (
        "It is right: the hypotheses are not needed for the dimension",
        lambda: (
            all(
                nv.measure_dimension(net).value == nv.paper_formula(net).value
                for net in (A((d, 1), (a,), tokens=2) for d in range(1, 6) for a in range(1, 6))
            )
            and heads_at_which_eq_7_is_off(width_out=1) == []
        ),
    ),
    (
        "What they exclude are networks in which $A$ and $V$ always have rank one",
        excluded_layers_have_rank_one,
    ),
    (
        "a swap does not cost a dimension: two curves are as thin as one",
        lambda: all(lost(A((d, 1), (1,), tokens=2)) == 1 + 1 for d in range(1, 6)),
    ),
    (
        "With one token it fails wherever $a > 1$ and $d > 1$",
        lambda: (
            heads_at_which_eq_7_is_off(tokens=1) == [2, 3, 4, 5, 6, 7, 8]
            and corollary_3_3(tokens=1) == [s for s in one_layer_sizes() if s[0] > 1 and s[2] > 1]
        ),
    ),
    (
        "For $a \\ge d$ this costs all $d(d-1)/2$",
        lambda: all(
            hidden_from_one_token(d, 2, a) == d * (d - 1) // 2 for d in range(1, 5) for a in range(d, 6)
        ),
    ),
    (
        "3 for $d = 3$; here, where $a = 2$ bounds the rank, 2. For $a = 1$ it costs none",
        lambda: [hidden_from_one_token(3, 3, a) for a in (3, 2, 1)] == [3, 2, 0],
    ),
    (
        "brings its own head (4) and its own factor (1), and in between the basis of the tokens: 9 more",
        lambda: lost(uniform(3, 2, 2, 2)) - lost(uniform(3, 2, 1, 2)) == 4 + 1 + 9,
    ),
    (
        "Lightning has 16 dimensions here",
        lambda: (dim((3, 3), (2,), tokens=2), dim((3, 3), (2,), tokens=2, attention="softmax")) == (16, 17),
    ),
    ("let $u$ and $v$ change places; a factor may move as well", the_solution),
    (
        '"Same outputs" in the panel means equal on 64 random inputs up to a billionth of their size',
        lambda: inputs_of_the_panel() == {64} and equal_means_to_a_billionth(),
    ),
    (
        "is read off a spectrum in floating point; `nv.measure_dimension` is exact",
        lambda: (
            FiberExplorer().description.endswith("(floating point).")
            and nv.measure_dimension(A((3, 3), (2,))).status == "exact"
        ),
    ),
    (
        r"it likes those with $\lVert Q \rVert = \lVert K \rVert = \lVert V \rVert$ best",
        balanced_weights_are_smallest,
    ),
    (
        "Generic: two, $\\pm(A, V)$. Rank one: four, if $u$ and $v$ are not parallel, two if they are",
        lambda: (
            [
                pairs_of_that_length(pair)
                for pair in (Pair(*the_notebooks_numbers()[:2]), thin(), thin(angle=0))
            ]
            == [2, 4, 2]
        ),
    ),
    ("If $A = 0$, then $A' = 0$ leaves $V'$ free", zero_has_a_sphere),
    ("$A'$ may be any matrix of that length", zero_has_a_sphere),
    ("(for $d = 1$ there are only two)", two_of_that_length_on_a_line),
]

_ALL_PAIRS = "test_fiber.py::test_the_fibre_has_the_points_of_the_theorem_and_no_others"
ELSEWHERE = [
    (
        "On logarithmic scales an order is a slope",
        "test_fiber_explorer.py::test_the_curves_are_the_measured_steps_and_their_slopes_are_printed",
    ),
    ("| $A = 0$ or $V = 0$ | all pairs with $A' = 0$ or $V' = 0$ | a cross |", _ALL_PAIRS),
    ("and $(c\\,v k^\\top, h u^\\top / c)$ | two branches |", _ALL_PAIRS),
    ("| all others | $(cA, V/c)$, $c \\ne 0$ | one curve |", _ALL_PAIRS),
    ("do nothing to first order, and yet the fibre is a curve", _ALL_PAIRS),
    ("Only rank one has a second branch", _ALL_PAIRS),
    ("find exactly the fibres of Theorem 3.2", _ALL_PAIRS),
    (
        "the swap exchanges u and v, never u and k",
        "test_fiber.py::test_swapping_queries_and_keys_is_no_symmetry_unless_there_is_one_token",
    ),
    (
        "a green frame means that the outputs are equal",
        "test_fiber_explorer.py::test_equal_outputs_are_claimed_exactly_where_they_are_measured_and_proved",
    ),
    (
        "how far the function moves when the weights take a *straight* step",
        "test_fiber_explorer.py::test_the_curves_are_the_measured_steps_and_their_slopes_are_printed",
    ),
    (
        "That is why the point is hollow",
        "test_fiber_explorer.py::test_the_point_on_the_other_branch_is_hollow_and_called_a_shadow",
    ),
    (
        "the badge names it",
        "test_fiber_explorer.py::test_each_case_of_the_theorems_has_its_finding_and_its_badge",
    ),
    (
        "With two different tokens the output then shows $p_{ji}$, hence the exponents, hence $A$",
        "test_one_layer.py::test_the_values_of_a_softmax_layer_give_its_weights",
    ),
    (
        "the parameters are spent one symmetry at a time",
        "test_ledger_explorer.py::test_each_bar_begins_where_the_one_before_it_ends_and_the_last_meets_the_dimension",
    ),
    (
        "The last bar is measured, the line across it is the formula",
        "test_ledger_explorer.py::test_a_wrong_formula_moves_its_own_mark_and_no_bar",
    ),
    (
        "(They do matter for Theorem 3.4, on singular points.)",
        "test_singular.py::test_with_a_and_d_out_one_the_swap_is_everywhere_and_nothing_crosses",
    ),
]
