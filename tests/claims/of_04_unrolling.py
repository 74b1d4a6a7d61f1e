"""What notebooks/04_unrolling.py says in words: see tests/test_claims.py."""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path

import numpy as np
from definition import factors

import neuroviz as nv
from claims.common import OVER, A, buttons, lost, shown, uniform
from neuroviz.deep.virtual import example_network
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, forward, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import (
    WALKS,
    VirtualWeights,
    change_head_basis,
    change_interface,
    drop_rank,
    recover_interfaces,
    rescale,
    virtual_weights,
    walk_in_gl,
)
from neuroviz.engine.virtual import product_form, reflect, term
from neuroviz.explorables import LedgerExplorer, UnrollingExplorer, VirtualWeightsExplorer
from neuroviz.lessons.checks_deep import check_rescaling

ROOT = Path(__file__).parents[2]
OURS = A((3, 2, 3), (2, 2), tokens=3)
R, same = Reals(), np.array_equal


def drawn(*sizes, tokens=3, seed=0, over=OVER):
    """Random weights and an input; without sizes, of the notebook's network."""
    rng = np.random.default_rng([seed, 21])
    arch = A(*sizes, tokens=tokens) if sizes else OURS
    return random_weights(over, arch, rng), over.random(rng, (arch.widths[0], tokens))


def virtual(layers, width=3, seed=0, over=OVER):
    L, *Ms = over.random(np.random.default_rng([seed, layers, width]), (layers + 1, width, width))
    return VirtualWeights(L, tuple(Ms))


def tokens(*shape, seed=0, over=OVER):
    return over.random(np.random.default_rng([seed, 5]), shape)


def out(weights, X, over=OVER):
    return forward(over, "lightning", weights, X[None])[0]


def mod(number):
    """A whole number of any size as an element of the field."""
    return float(OVER.reduce(np.array(float(number % OVER.p))))


def times(number, matrix):
    return OVER.reduce(mod(number) * matrix)


def weight_by_weight(one, other):
    """The names of the matrices that differ."""
    return [
        f"{letter}{i}"
        for i, pair in enumerate(zip(one, other, strict=True), start=1)
        for letter, W, W2 in zip("QKV", *pair, strict=True)
        if not same(W, W2)
    ]


def heading(name):
    return (
        f"\n### {name}\n" in (text := (ROOT / "docs/mathematics.md").read_text()) or f"\n## {name}\n" in text
    )


# Virtual weights


def virtual_weights_are_as_large_as_the_input():
    for sizes in [((3, 2, 4), (2, 1)), ((2, 5, 3, 1), (1, 3, 2))]:
        L, M = virtual_weights(OVER, drawn(*sizes)[0])
        d, *_, d_out = sizes[0]
        if L.shape != (d_out, d) or any(M_i.shape != (d, d) for M_i in M):
            return False
    return True


def attention_goes_through_the_values_before_it():
    """V₁ from 2 into 4 dimensions: of A₂ only a part is asked for; what is not, is free."""
    (first, (Q, K, V)), X = drawn((2, 4, 3), (2, 2))
    first = first._replace(V=first.V * np.array([[1], [1], [1], [0]]))
    answers = []
    for column in (3, 0):
        K2 = K.copy()
        K2[:, column] += 1
        one, other = (
            change_interface(OVER, (first, Layer(Q, key, V)), 0, tokens(4, 4, seed=8)) for key in (K, K2)
        )
        U = one[0].V
        parts = [
            OVER.matmul(OVER.matmul(w[1].K, U).T, OVER.matmul(w[1].Q, U)) for w in (one, other)
        ]  # V₁ᵀA₂V₁
        A2s = [OVER.matmul(w[1].K.T, w[1].Q) for w in (one, other)]
        answers.append((same(*A2s), same(*parts), same(out(one, X), out(other, X))))
    return answers == [(False, True, True), (False, False, False)]


def tokens_stay_where_they_came_from():
    for seed, sizes in enumerate(
        [((3, 2, 3), (2, 2)), ((2, 4, 1, 3), (1, 2, 2)), ((4, 3, 2, 3, 2), (2,) * 4)]
    ):
        weights, X = drawn(*sizes, seed=seed)
        L, M = virtual_weights(OVER, weights)
        Y = X
        for M_i in M:
            Y = OVER.matmul(OVER.matmul(Y, Y.T), OVER.matmul(M_i, Y))
        if not same(OVER.matmul(L, Y), out(weights, X)) or same(Y, OVER.matmul(L, Y)):
            return False
    return True


# A basis that nobody sees


def four_matrices_answer():
    weights, X = drawn()
    C = np.array([[1.0, 2.0], [0.0, 1.0]])
    other, back = change_interface(OVER, weights, 0, C), OVER.inverse(C)
    (Q1, K1, V1), (Q2, K2, V2) = weights
    by_hand = (Layer(Q1, K1, OVER.matmul(C, V1)), Layer(*(OVER.matmul(W, back) for W in (Q2, K2, V2))))
    untold = (by_hand[0], weights[1])
    return (
        weight_by_weight(weights, other) == ["V1", "Q2", "K2", "V2"]
        and weight_by_weight(other, by_hand) == []
        and same(out(other, X), out(weights, X))
        and not same(out(untold, X), out(weights, X))
    )


def the_walk_stays_invertible():
    return all(
        abs(np.linalg.det(walk_in_gl(walk, d, s))) > 0.1
        for walk in WALKS
        for d in (1, 2, 3, 4)
        for s in np.linspace(-1, 1, 41)
    )


def still_four_with_four_layers():
    weights, _ = drawn((3, 2, 2, 2, 3), (2,) * 4)
    counts = [
        weight_by_weight(weights, change_interface(OVER, weights, i, tokens(2, 2, seed=i))) for i in range(3)
    ]
    study, _ = shown(VirtualWeightsExplorer, "layers=4;interface=middle;along=0.7")
    moving = [part.name for part in study.weights if not part.is_same]
    return (
        counts == [[f"V{i}", f"Q{i + 1}", f"K{i + 1}", f"V{i + 1}"] for i in (1, 2, 3)]
        and moving == ["V₂", "Q₃", "K₃", "V₃"]
        and study.moved == ()
    )


def values_that_move_alone_are_noticed_by_L_and_M2():
    study, _ = shown(VirtualWeightsExplorer, "along=0;alone=0.3")
    return {part.name for part in study.moved} == {"L", "M₂", "φ(X)"} and study.virtual[1].change == 0


def the_change_comes_out_again():
    weights, _ = drawn(over=R)
    C = np.array([[1.0, 2.0], [0.0, 1.0]])
    other = change_interface(R, weights, 0, C)
    return np.allclose(other[0].V, C @ weights[0].V) and np.allclose(
        other[0].V @ np.linalg.pinv(weights[0].V), C
    )


def made_from_virtual_weights(L, Ms, width, rng):
    """A network of its own with these L and M; its A_i stand as Q, beside K = 1."""
    U, rows, layers = np.eye(L.shape[1]), np.linalg.svd(L)[2][:width], []
    for i, M in enumerate(Ms, start=1):
        back = np.linalg.pinv(U)
        if i == len(Ms):
            V = L @ back
        else:
            V = rng.standard_normal((width, width)) @ (rows if i == 1 else np.eye(width))
        layers.append(Layer(back.T @ M @ back, np.eye(len(back.T)), V))
        U = V @ U
    return tuple(layers)


def equal_virtual_weights_are_one_orbit():
    """The second network knows L and M of the first, and nothing else."""
    for depth, width in [(2, 2), (3, 2), (4, 3)]:
        rng = np.random.default_rng(depth)
        weights = random_weights(R, A((4, *(width,) * (depth - 1), 4), (2,) * depth), rng)
        one = tuple(Layer(K.T @ Q, np.eye(Q.shape[1]), V) for Q, K, V in weights)
        L, Ms = virtual_weights(R, one)
        other = made_from_virtual_weights(L, Ms, width, rng)
        C = recover_interfaces(R, one, other, tol=1e-6)
        for here, after, i in zip(one, other, range(depth), strict=True):
            before = np.linalg.inv(C[i - 1]) if i else np.eye(4)
            behind = C[i] if i < depth - 1 else np.eye(4)
            U = virtual_weights(R, one[: i + 1]).L
            unique = np.linalg.matrix_rank(U) == width
            if not (
                unique
                and np.allclose(after.V, behind @ here.V @ before, atol=1e-6)
                and np.allclose(after.Q, before.T @ here.Q @ before, atol=1e-6)
            ):
                return False
    return True


def led_to(panel, kind):
    """What the buttons of a panel lead to, in turn."""
    return [shown(kind, state)[0] for state in buttons("04_unrolling", panel)]


def first_button_moves_a_basis_in_the_middle():
    study = led_to("basis_panel", VirtualWeightsExplorer)[0]
    return (
        (study.arch.num_layers, study.interface) == (4, 2)
        and [part.name for part in study.weights if not part.is_same] == ["V₂", "Q₃", "K₃", "V₃"]
        and study.outputs.is_same
    )


def second_button_moves_V_alone():
    study = led_to("basis_panel", VirtualWeightsExplorer)[1]
    return (
        (study.arch.num_layers, study.alone) == (2, 0.3)
        and np.array_equal(study.C, np.eye(2))
        and [part.name for part in study.weights if not part.is_same] == ["V₁"]
        and not study.outputs.is_same
    )


# A V of smaller rank


def thin_network():
    weights, X = drawn(over=R)
    return (weights[0]._replace(V=drop_rank(weights[0].V)), weights[1]), X


def with_rows_moved(weights, n, seed=4):
    rng = np.random.default_rng(seed)
    return (weights[0], Layer(*(W + rng.standard_normal((len(W), 1)) @ n.T for W in weights[1])))


def nobody_looks_along_n():
    thin, X = thin_network()
    U, sigma, _ = np.linalg.svd(thin[0].V)
    across, along = U[:, 1:], U[:, :1]
    moved, noticed = (with_rows_moved(thin, n) for n in (across, along))
    after = out(thin[:1], X, R)
    return (
        np.linalg.matrix_rank(after, tol=1e-9 * np.abs(after).max()) == 1
        and sigma[1] < 1e-12
        and np.allclose(out(moved, X, R), out(thin, X, R))
        and not np.allclose(out(noticed, X, R), out(thin, X, R))
    )


def tokens_on_one_line():
    """With V₁ of rank one, and not before."""
    weights, X = drawn(over=R)
    return [np.linalg.matrix_rank(out(one[:1], X, R), tol=1e-9) for one in (weights, thin_network()[0])] == [
        2,
        1,
    ]


def five_of_seven_belong_to_no_change_of_basis():
    """Over a prime field, with n = (0, 1): first which C leave V₁ alone, then what they move."""
    (first, second), _ = drawn()
    V1 = first.V * np.array([[1], [0]])
    units = np.eye(4).reshape(4, 2, 2)
    leaving = [E for E in units if not OVER.matmul(E, V1).any()]
    rank_of_all = exact_rank(np.array([OVER.matmul(E, V1).ravel() for E in units]), OVER)
    moves = [np.concatenate([OVER.matmul(W, E).ravel() for W in second]) for E in leaving]
    rows = np.concatenate([np.kron(np.eye(7), [[0.0, 1.0]])])
    free, by_C = exact_rank(rows, OVER), exact_rank(np.array(moves), OVER)
    together = exact_rank(np.concatenate([rows, moves]), OVER)
    return 4 - rank_of_all == len(leaving) == by_C == 2 and free == together == 7 and free - by_C == 5


def without_rank_the_panel_finds_no_basis():
    for free in (-1, 0.5, 1):
        study, said = shown(VirtualWeightsExplorer, f"lost=yes;free={free}")
        if study.moved or study.recovered is not None or "C cannot be recovered" not in said:
            return False
    study, said = shown(VirtualWeightsExplorer)
    return study.recovered is not None and "C is recovered" in said


# One product, one sum


def grams_follow_each_other():
    L, Ms = virtual(3)
    Y = tokens(3, 3)
    G = OVER.matmul(Y, Y.T)
    for M in Ms:
        Y = OVER.matmul(G, OVER.matmul(M, Y))
        GM = OVER.matmul(G, M)
        G = OVER.matmul(OVER.matmul(GM, G), OVER.matmul(M.T, G))
        if not same(G, OVER.matmul(Y, Y.T)):
            return False
    return True


def each_gram_contains_three_of_the_one_before():
    """Seven times the first one makes the others 7³, 7⁹ and 7²⁷ times as large."""
    Ms = virtual(3).M
    Y = tokens(3, 3)

    def grams(G):
        for M in Ms:
            G = OVER.matmul(OVER.matmul(OVER.matmul(G, M), G), OVER.matmul(M.T, G))
            yield G

    G = OVER.matmul(Y, Y.T)
    pairs = zip(grams(G), grams(OVER.reduce(7 * G)), (3, 9, 27), strict=True)
    return all(
        same(other, times(pow(7, exponent, OVER.p), one)) and one.any() for one, other, exponent in pairs
    )


def has_degree(exponent, layers, t, factor=7):
    weights, X = drawn((3,) * (layers + 1), (2,) * layers, tokens=t)
    scaled = out(weights, OVER.reduce(factor * X))
    return same(scaled, times(pow(factor, exponent, OVER.p), out(weights, X))) and scaled.any()


def six_layers_overflow():
    """Weights and tokens of no unusual size: entries around 3."""
    lost_in = 0
    for seed in range(10):
        weights, X = drawn((3,) * 7, (2,) * 6, seed=seed, over=R)
        with np.errstate(all="ignore"):
            lost_in += not np.isfinite(out(weights, 3 * X, R)).all()
    return lost_in >= 8


def two_layers_written_out():
    L, (M1, M2) = virtual(2)
    X, p = tokens(3, 3), OVER.p

    def form(x, M, y):
        return int(OVER.matmul(x[None], OVER.matmul(M, y[:, None]))[0, 0])

    x = X.T
    for i in range(3):
        total = np.zeros(3)
        for j1, j2, j3, j4 in product(range(3), repeat=4):
            number = prod(
                [
                    form(x[j1], M1, x[j2]),
                    form(x[j2], M1.T, x[j3]),
                    form(x[j3], M2, x[j4]),
                    form(x[j4], M1, x[i]),
                ]
            )
            total = OVER.reduce(total + times(number % p, OVER.matmul(L, x[j1][:, None])[:, 0]))
        if not same(total, product_form(OVER, VirtualWeights(L, (M1, M2)), X)[:, i]):
            return False
    return True


def three_times_whatever_the_tokens():
    one_layer = all(has_degree(3, 1, t) and not has_degree(t, 1, t) for t in (1, 2, 5))
    return one_layer and all(has_degree(3**layers, layers, t) for layers in (2, 3) for t in (1, 2, 4))


def said_by_digits(place):
    digits = np.base_repr(place, 3)
    significant = digits.rstrip("0")
    return len(digits) - len(significant) + 1, significant[-1] == "2"


def digits_say_which_matrix():
    return all(
        [said_by_digits(k) for k in range(1, (3**layers + 1) // 2)]
        == factors(layers)
        == [tuple(factor) for factor in nv.unroll(layers)]
        for layers in range(1, 7)
    )


def each_matrix_stands_so_often():
    return all(
        Counter(h for h, _ in factors(layers)) == {h: 3 ** (layers - h) for h in range(1, layers + 1)}
        for layers in range(1, 7)
    ) and sorted(Counter(h for h, _ in nv.unroll(3)).values()) == [1, 3, 9]


def place_36():
    study, _ = shown(UnrollingExplorer, "layers=4;place=36")
    return study.factor == (3, False) == tuple(nv.unroll(4)[35]) and np.base_repr(36, 3) == "1100"


# The mirror


def the_window_is_turned_round():
    study, _ = shown(UnrollingExplorer, "layers=2;place=3;reflect=yes")
    before, after = study.indices, study.reflection.indices
    return (
        study.factor == (2, False)
        and study.window == (2, 3, 4, 5)
        and after == (before[0], *before[:0:-1])
        and len(study.values) == 4
        and after != before
    )


def two_buttons_turn_the_window():
    before, after = led_to("term_panel", UnrollingExplorer)
    return (
        (before.reflection, before.factor, before.indices) == (None, (2, False), after.indices)
        and after.reflection.indices == (after.indices[0], *after.indices[:0:-1])
        and len(before.values) == 4
    )


def the_term_stands_below_the_tree():
    panel = UnrollingExplorer()
    tree, term_ = panel.figure.layout.yaxis.domain, panel.figure.layout.yaxis2.domain
    axes = {one.name: one.yaxis or "y" for one in panel.figure.data}
    panel.close()
    return tree[0] > term_[1] and (axes["copies of X"], axes["factors"], axes["values"]) == ("y", "y2", "y2")


def turned_away(indices):
    return reflect(2, indices, place=3)


def all_terms_that_return_cancel():
    L, (M1, G) = virtual(2)
    X = tokens(3, 3)
    kinds = {"antisymmetric": OVER.reduce(G - G.T), "any": G}
    sums = {}
    for name, M2 in kinds.items():
        network = VirtualWeights(L, (M1, M2))
        for i in range(3):
            j = [(*indices, i) for indices in product(range(3), repeat=4)]
            for back in (True, False):
                terms = [term(OVER, network, X, indices) for indices in j if (indices[1] == i) == back]
                assert len(terms) == (27 if back else 54)
                sums[name, i, back] = OVER.reduce(sum(terms)).any()
            if name == "antisymmetric":
                returning = [indices for indices in j if indices[1] == i]
                assert {turned_away(indices) for indices in returning} == set(returning)
    return all(found == ((name, back) != ("antisymmetric", True)) for (name, _, back), found in sums.items())


def the_panel_shows_two_terms_cancel():
    study, said = shown(UnrollingExplorer, "place=3;antisymmetric=yes;reflect=yes")
    other, _ = shown(UnrollingExplorer, "place=3;reflect=yes")
    sizes = sorted(map(abs, study.values)), sorted(map(abs, study.reflection.values))
    return study.cancels and np.allclose(*sizes) and "the two terms cancel" in said and not other.cancels


# Rescaling


def a_term_of_three_layers_is_multiplied():
    L, (M1, M2, M3) = virtual(3)
    X, rng = tokens(3, 3), np.random.default_rng(0)
    doubled = VirtualWeights(L, (OVER.reduce(2 * M1), M2, M3))
    answered = doubled._replace(L=OVER.matmul(L, OVER.inverse(512 * np.eye(3))))
    plain = VirtualWeights(L, (M1, M2, M3))
    for _ in range(20):
        indices = tuple(map(int, rng.integers(0, 3, 14)))
        if not same(term(OVER, doubled, X, indices), times(2**9, term(OVER, plain, X, indices))):
            return False
    return same(product_form(OVER, answered, X), product_form(OVER, plain, X))


def same_function_exactly_when():
    """All choices of some factors and their inverses, with up to three layers."""
    X = tokens(3, 2)
    seen = set()
    for layers in (1, 2, 3):
        L, Ms = virtual(layers)
        before = product_form(OVER, VirtualWeights(L, Ms), X)
        thirds = [2, -1, pow(2, -1, OVER.p), 1]
        answers = [pow(2, k, OVER.p) for k in range(-13, 14)] + [-1]
        for scales in product(thirds, repeat=layers):
            scaled = tuple(times(f, M) for f, M in zip(scales, Ms, strict=True))
            Y = product_form(OVER, VirtualWeights(L, scaled), X)
            for first in answers:
                power = first * prod(f**3 ** (layers - i) for i, f in enumerate(scales, start=1)) % OVER.p
                if same(times(first, Y), before) != (power == 1):
                    return False
                seen.add(power == 1)
    return seen == {True, False}


RESCALE = "view=rescale;width=3"
FOUR = f"{RESCALE};layers=4;log_1=1;log_2=0;log_3=0;log_4=0"


def sliders_and_bars_are_logarithms():
    panel = VirtualWeightsExplorer(state=FOUR)
    labels = [panel.controls[f"log_{i}"].description for i in (1, 2, 3, 4)]
    (bars,) = [t for t in panel.figure.data if t.type == "bar"]
    heights, words = list(bars.y), [a.text for a in panel.figure.layout.annotations]
    panel.close()
    named = all(label.startswith("log₂") for label in labels) and "log₂ of<br>factor" in words
    return named and heights == [-27, 1, 0, 0, 0, 0]


def first_slider_moves_it_most():
    """By how much a slider, moved by one, moves log₂ λ₀."""
    moved = []
    for i in (1, 2, 3):
        state = ";".join(f"log_{j}={int(i == j)}" for j in (1, 2, 3))
        moved.append(np.log2(shown(VirtualWeightsExplorer, f"{RESCALE};layers=3;{state}")[0].balance))
    return moved == [-9, -3, -1]


def buttons_of_the_rescaling():
    """Doubled, missed by a little, and as softmax: how far the outputs are off."""
    opened = "view=rescale;layers=3;width=3"
    states = buttons("04_unrolling", "rescaling_panel")
    studies = [shown(VirtualWeightsExplorer, f"{opened};{state}")[0] for state in states]
    return (
        all(one.logs == (1, 0, 0, 0) for one in studies)
        and [one.arch.attention for one in studies] == ["lightning", "lightning", "softmax"]
        and [one.off for one in studies] == [0, 0.1, 0]
        and [one.outputs.is_same for one in studies] == [True, False, False]
        and studies[0].balance == 2**-27
    )


def the_answer_to_a_doubled_first_layer():
    study, _ = shown(VirtualWeightsExplorer, FOUR)
    return study.balance == 2**-27 and f"{study.balance:.1e}" == "7.5e-09" and study.outputs.is_same


def what_comes_out_of_the_fourth_layer():
    study, _ = shown(VirtualWeightsExplorer, FOUR)
    grown = study.unanswered.now / study.unanswered.start
    return np.allclose(grown, 2**27) and round(float(grown.mean()) / 10**6) == 134


def missed_outputs_are_off_by_the_factor():
    study, _ = shown(VirtualWeightsExplorer, FOUR + ";off=0.1")
    return np.allclose(study.outputs.now, 2**0.1 * study.outputs.start) and not study.outputs.is_same


def best_L(kind):
    """What the best matrix behind the doubled network leaves of the outputs, over many inputs."""
    arch, rng = uniform(3, 2, 1, 3, kind), np.random.default_rng(0)
    ((Q, K, V),), _ = example_network(arch, rng)
    X = rng.standard_normal((50, 3, 3))
    before, after = (np.concatenate(list(forward(R, kind, (Layer(c * Q, K, V),), X)), axis=1) for c in (1, 2))
    fit = np.linalg.lstsq(after.T, before.T, rcond=None)[0]
    return np.linalg.norm(after.T @ fit - before.T) / np.linalg.norm(before)


def no_L_undoes_a_sharper_softmax():
    study, said = shown(VirtualWeightsExplorer, FOUR + ";kind=softmax")
    logits = np.random.default_rng(0).standard_normal((3, 200))

    def largest(scale):
        e = np.exp(scale * logits)
        return (e / e.sum(axis=0)).max(axis=0)

    return (
        study.outputs.change > 0.01
        and "no factor of L undoes that" in said
        and (largest(2) > largest(1)).all()
        and best_L("softmax") > 0.05 > 1e-9 > best_L("lightning")
    )


# Reading weights off


def linear_part(weights, y, x, step=1e-5):
    """By a difference of outputs: nothing is known of the weights."""
    plus, minus = (out(weights, np.stack([y, s * x], axis=1), R)[:, 1] for s in (step, -step))
    return (plus - minus) / (2 * step)


def ratios_are_those_of_M1():
    e = np.eye(3)
    for seed in range(4):
        weights, _ = drawn(seed=seed, over=R)
        L, (M1, _) = virtual_weights(R, weights)
        read = [linear_part(weights, e[0], e[j])[0] for j in range(3)]
        if not np.allclose(read / read[0], M1[0] / M1[0, 0], rtol=1e-4):
            return False
        if np.allclose(read / read[0], M1[:, 0] / M1[0, 0], rtol=1e-2):
            return False  # the row, and not the column
    return True


def directions_are_those_of_L():
    e = np.eye(3)
    for seed in range(4):
        weights, _ = drawn(seed=seed, over=R)
        L = virtual_weights(R, weights).L
        for y in range(3):
            read = linear_part(weights, e[y], e[1])
            if not np.allclose(read / read[0], L[:, y] / L[0, y], rtol=1e-4):
                return False
    return True


def direction_and_dependence():
    """For any y: of Ly, and of yᵀM₁x."""
    draw = np.random.default_rng(9)
    for seed in range(4):
        weights, _ = drawn(seed=seed, over=R)
        L, (M1, _) = virtual_weights(R, weights)
        y, *xs = draw.standard_normal((4, 3))
        read = np.array([linear_part(weights, y, x) for x in xs])
        expected = np.outer([y @ M1 @ x for x in xs], L @ y)
        if not np.allclose(read / read[0, 0], expected / expected[0, 0], rtol=1e-3):
            return False
    return True


def ratios_say_nothing_about_u():
    k, *us = np.random.default_rng(2).standard_normal((3, 3))
    weights, _ = drawn(over=R)
    e, ratios = np.eye(3), []
    for u in us:
        special = (Layer(np.stack([k, 0 * k]), np.stack([u, 0 * u]), weights[0].V), weights[1])
        read = np.array([linear_part(special, e[0], x)[0] for x in e])
        ratios.append(read / read[0])
    return all(np.allclose(found, k / k[0], rtol=1e-4) for found in ratios)


J = np.array([[0.0, 1.0], [-1.0, 0.0]])


def two_layers_change_places():
    for seed in range(5):
        B, L = tokens(2, 2, 2, seed=seed)
        X = tokens(2, 3, seed=seed + 50)
        det = OVER.reduce(OVER.reduce(B[0, 0] * B[1, 1]) - OVER.reduce(B[0, 1] * B[1, 0]))
        back = OVER.inverse(np.array([[det]]))[0, 0]
        first = VirtualWeights(L, (J, B))
        second = VirtualWeights(OVER.reduce(back * L), (B, J))
        multiple_of_J = exact_rank(np.stack([B.ravel(), J.ravel()]), OVER) == 1
        S = OVER.reduce(B + B.T)
        turned = [product_form(OVER, VirtualWeights(L, pair), X) for pair in ((S, B), (B, S))]
        proportional = exact_rank(np.stack([one.ravel() for one in turned]), OVER) == 1
        if multiple_of_J or proportional or not same(*(product_form(OVER, v, X) for v in (first, second))):
            return False
    return True


def labels(kind):
    panel = kind()
    found = {control.description for control in panel.controls.values()}
    panel.close()
    return found


def labels_under_more(kind):
    panel = kind()
    found = {control.description for control in panel._more_row.children}
    hidden = panel._more_row.layout.display == "none"
    panel.close()
    return found if hidden else set()


# Changes to try


def the_five(seed=0):
    """By what part of their size each of the five changes the outputs."""
    weights, X = drawn(seed=seed, over=R)
    (Q1, K1, V1), (Q2, K2, V2) = weights
    T = np.array([[0.6, -0.8], [0.8, 0.6]])
    tries = [
        (Layer(2 * Q1, K1 / 2, V1), weights[1]),
        (Layer(Q1, K1, 2 * V1), Layer(Q2, K2, V2 / 2)),
        (Layer(Q1, K1, 2 * V1), Layer(Q2, K2, V2 / 8)),
        (Layer(K1, Q1, V1), Layer(K2, Q2, V2)),
        (Layer(Q1, K1, T @ V1), Layer(Q2 @ T.T, K2 @ T.T, V2)),
        (Layer(Q1, K1, T @ V1), Layer(Q2 @ T.T, K2 @ T.T, V2 @ T.T)),
    ]
    before = out(weights, X, R)
    return [np.linalg.norm(out(one, X, R) - before) / np.linalg.norm(before) for one in tries]


def the_first_and_the_third():
    return all(
        [error < 1e-9 for error in the_five(s)[:5]] == [True, False, True, False, False] for s in range(5)
    )


def off_by_three_times_their_size():
    (layer,), X = drawn((3, 3), (2,), over=R)
    eight = np.allclose(out((layer,), 2 * X, R), 8 * out((layer,), X, R))
    return eight and all(np.isclose(the_five(s)[1], 3) for s in range(3))


def exchanged_keys_and_queries():
    weights, _ = drawn()
    return all(same(OVER.matmul(Q.T, K), OVER.matmul(K.T, Q).T) for Q, K, _ in weights)


# Counting


def three_families_and_no_more():
    ledgers = [nv.kernel_ledger(uniform(3, 2, depth)) for depth in range(1, 7)]
    bottlenecks = [
        nv.kernel_ledger(A((4, 2, 2, 3), (2, 2, 2), tokens=2)),
        nv.kernel_ledger(A((5, 3, 4), (2, 3))),
    ]
    return all(ledger.unexplained == 0 for ledger in (*ledgers, *bottlenecks)) and all(
        tuple(ledger.entries.values()) == (4 * depth, 9 * (depth - 1), depth)
        for depth, ledger in enumerate(ledgers, start=1)
    )


LEDGER = "width=3;width_out=3;head_dim=2;tokens=2;layers=4"


def a_further_layer_costs():
    ledger = shown(LedgerExplorer, LEDGER)[0].ledger
    return all(
        lost(uniform(3, 2, k + 1, 2)) - lost(uniform(3, 2, k, 2)) == 4 + 9 + 1 for k in range(1, 5)
    ) and (ledger.parts == {"head bases": (4,) * 4, "interfaces": (9,) * 3, "rescalings": (1,) * 4})


def softmax_has_two_families():
    ledger = shown(LedgerExplorer, LEDGER + ";kind=softmax")[0].ledger
    return list(ledger.entries) == ["head bases", "interfaces"] and ledger.unexplained == 0


def one_token_sees_symmetric_parts():
    """Any A with the same symmetric part does; with two tokens it does not."""
    weights, X = drawn((3, 3, 3), (3, 3), tokens=2)
    N = tokens(3, 3, seed=3)
    turned = []
    for Q, K, V in weights:
        M = OVER.reduce(OVER.matmul(K.T, Q) + N - N.T)
        turned.append(Layer(M, np.eye(3), V))
    return same(out(weights, X[:, :1]), out(turned, X[:, :1])) and not same(out(weights, X), out(turned, X))


def two_in_each_layer_after_the_first():
    return shown(LedgerExplorer, LEDGER + ";head_dims=1,2,2,2")[0].ledger.unexplained == 6 and all(
        nv.kernel_ledger(A((3,) * (k + 1), (1, *(2,) * (k - 1)), tokens=2)).unexplained == 2 * (k - 1)
        for k in range(1, 6)
    )


def fourteen_of_thirty_two():
    ledger = nv.kernel_ledger(OURS)
    return (OURS.num_parameters, lost(OURS), ledger.unexplained) == (32, 14, 0) and ledger.parts == {
        "head bases": (4, 4),
        "interfaces": (4,),
        "rescalings": (1, 1),
    }


def steps(answered, seed):
    """By what part of their size outputs change: steps of 0.01 and 0.001."""
    weights, X = drawn(seed=seed, over=R)
    (Q1, K1, V1), second = weights
    D, before = np.random.default_rng(seed).standard_normal((2, 2)), out(weights, X, R)
    found = []
    for e in (0.01, 0.001):
        back = np.eye(2) - e * D if answered else np.eye(2)
        moved = (Layer(Q1, K1, V1 + e * D @ V1), Layer(*(W @ back for W in second)))
        found.append(np.linalg.norm(out(moved, X, R) - before) / np.linalg.norm(before))
    return found


def second_order_with_the_answer():
    """And none at all along the bent orbit."""
    weights, X = drawn(over=R)
    bent = change_interface(R, weights, 0, np.eye(2) + 0.01 * np.array([[1.0, 2.0], [-1.0, 0.5]]))
    ratios = [large / small for large, small in (steps(True, seed) for seed in range(4))]
    return np.allclose(ratios, 100, rtol=0.05) and np.allclose(out(bent, X, R), out(weights, X, R), rtol=1e-9)


def first_order_without():
    return np.allclose(
        [large / small for large, small in (steps(False, seed) for seed in range(4))], 10, rtol=0.1
    )


# Build one yourself


def fractions_come_out_exactly():
    """The answer to 2, 3, 5: as a fraction, and as a float."""
    exact = Fraction(1, 2**9 * 3**3 * 5)
    return (
        exact * 2**9 * 3**3 * 5 == 1
        and bool(check_rescaling((exact, 2, 3, 5)))
        and not check_rescaling((float(exact), 2, 3, 5))
    )


# In practice


def moved_by_everything():
    weights, X = drawn((3, 2, 3), (2, 2))
    other = change_interface(OVER, weights, 0, tokens(2, 2, seed=1))
    for i in (0, 1):
        other = change_head_basis(OVER, other, i, tokens(2, 2, seed=2 + i))
        other = rescale(OVER, other, i, 3 + i)
    assert same(out(weights, X), out(other, X))
    return weights, other


def compared_by_virtual_weights():
    one, two = moved_by_everything()
    (L, M), (L2, M2) = (virtual_weights(OVER, weights) for weights in (one, two))
    return len(weight_by_weight(one, two)) == 6 and all(
        exact_rank(np.stack([a.ravel(), b.ravel()]), OVER) == 1 and not same(a, b)
        for a, b in zip((L, *M), (L2, *M2), strict=True)
    )


def a_small_entry_in_another_basis():
    weights, X = drawn(over=R)
    V1 = weights[0].V.copy()
    V1[0, 0] = 0
    small = (weights[0]._replace(V=V1), weights[1])
    turned = change_interface(R, small, 0, walk_in_gl("rotation", 2, 0.5))
    return abs(turned[0].V[0, 0]) > 0.1 and np.allclose(out(turned, X, R), out(small, X, R))


def signs_that_do_nothing():
    for layers in (1, 2, 3, 4):
        L, Ms = virtual(layers)
        X = tokens(3, 2)
        before = product_form(OVER, VirtualWeights(L, Ms), X)
        kept = [
            signs
            for first, *signs in product((1, -1), repeat=layers + 1)
            if same(
                product_form(
                    OVER, VirtualWeights(first * L, tuple(s * M for s, M in zip(signs, Ms, strict=True))), X
                ),
                before,
            )
        ]
        if len(kept) != 2**layers or len(set(map(tuple, kept))) != 2**layers:
            return False
    return True


CLAIMS = [
    ("So it never uses $A_2$ alone, only $V_1^\\top A_2 V_1$", attention_goes_through_the_values_before_it),
    ("The $M_i$ all have the size of the input", virtual_weights_are_as_large_as_the_input),
    ("never leave the space that they came from, and $L$ is applied once", tokens_stay_where_they_came_from),
    ("become $Q_2C^{-1}, K_2C^{-1}, V_2C^{-1}$ (Eq. 9). So four.", four_matrices_answer),
    ("Drag **along the walk**: $C$ runs through the invertible matrices", the_walk_stays_invertible),
    ("or press the first button. How many matrices move now?", first_button_moves_a_basis_in_the_middle),
    ("(the second button): layer 1 has changed its language and told nobody", second_button_moves_V_alone),
    ("Still four: the basis between two layers concerns only", still_four_with_four_layers),
    ("if $V_1$ moves alone, $L$ and $M_2$ move with it", values_that_move_alone_are_noticed_by_L_and_M2),
    ("Which $C$ leads from one to the other? Since $U_1' = C U_1$", the_change_comes_out_again),
    ("by changes of basis between the layers, and the $C_i$ are unique", equal_virtual_weights_are_one_orbit),
    ("we may add a multiple of $n^\\top$, and no token will ever notice", nobody_looks_along_n),
    ("All tokens after layer 1 lie on one line", tokens_on_one_line),
    (
        "There are $2 + 2 + 3 = 7$ rows",
        lambda: [len(W) for W in drawn()[0][1]] == [2, 2, 3],
    ),
    ("five of the seven belong to no change of basis", five_of_seven_belong_to_no_change_of_basis),
    (
        "tick **V before it loses one rank** and drag **free part**",
        lambda: (
            {"V before it loses one rank", "free part", "move V alone", "along the walk"}
            < labels(VirtualWeightsExplorer)
        ),
    ),
    (
        "under **More**, tick *M at place k antisymmetric*",
        lambda: (
            {"M at place k antisymmetric", "only y and x (Eq. 28)"} < labels_under_more(UnrollingExplorer)
        ),
    ),
    ("$L$, $M$ and the outputs stay, and the sentence below", without_rank_the_panel_finds_no_basis),
    ("$$G_i = G_{i-1} M_i\\, G_{i-1} M_i^\\top G_{i-1}", grams_follow_each_other),
    ("each $G$ contains the one before it three times", each_gram_contains_three_of_the_one_before),
    (
        "Six layers are a polynomial of degree $3^6 = 729$",
        lambda: has_degree(729, 6, 3) and not has_degree(727, 6, 3),
    ),
    ("In floating point that overflows easily", six_layers_overflow),
    ("(x_{j_2}^\\top M_1^\\top x_{j_3})\\,(x_{j_3}^\\top M_2\\, x_{j_4})", two_layers_written_out),
    (
        "1, 4, 13, 40 places for $l = 1, 2, 3, 4$",
        lambda: [len(factors(k)) for k in (1, 2, 3, 4)] == [1, 4, 13, 40],
    ),
    (
        "So $3^4 = 81$ terms for two layers, $3^{13} = 1{,}594{,}323$ for three, and about $10^{19}$",
        lambda: (
            [3 ** len(nv.unroll(k)) for k in (2, 3)] == [81, 1_594_323]
            and 1e19 < 3 ** len(nv.unroll(4)) < 1.5e19
        ),
    ),
    ("a layer uses its input three times, as keys, queries and values", three_times_whatever_the_tokens),
    ("The last digit that is not zero says whether it is transposed", digits_say_which_matrix),
    ("Nine times, three times, once: $M_h$ or its transpose", each_matrix_stands_so_often),
    ("$36$ is $1100$ in base three: two zeros, so $M_3$", place_36),
    ("Below it is one term", the_term_stands_below_the_tree),
    (
        "type `1,2,2,2` into **a per layer**",
        lambda: "a per layer" in labels(LedgerExplorer),
    ),
    ("The tokens in a window around place 3 change their order", the_window_is_turned_round),
    ("and press **reflect**; or press the two buttons, one after the other", two_buttons_turn_the_window),
    ("They cancel. So do all terms with $j_2 = i$", all_terms_that_return_cancel),
    ("see two terms cancel, number by number", the_panel_shows_two_terms_cancel),
    ("each term of three layers is multiplied by $2^9$", a_term_of_three_layers_is_multiplied),
    ("give the same function (if it is not zero) exactly when", same_function_exactly_when),
    ("Sliders and bars count in powers of two", sliders_and_bars_are_logarithms),
    ("Which slider moves it most?", first_slider_moves_it_most),
    ("Does any $\\lambda_0$ answer there? (The other two buttons.)", buttons_of_the_rescaling),
    (
        "Under **More**: miss $\\lambda_0$ by a little. And switch **attention** to softmax",
        lambda: {"miss λ₀ by", "attention"} < labels_under_more(VirtualWeightsExplorer),
    ),
    ("$2^{-27}$, about $7.5 \\cdot 10^{-9}$", the_answer_to_a_doubled_first_layer),
    ("comes out of the fourth as 134 million", what_comes_out_of_the_fourth_layer),
    ("Miss $\\lambda_0$, and all outputs are off by this factor", missed_outputs_are_off_by_the_factor),
    ("a doubled $M$ makes a sharper softmax, which no $L$ can undo", no_L_undoes_a_sharper_softmax),
    ("Here the ratio of two entries of $M_1$, from outputs alone", ratios_are_those_of_M1),
    ("And the first column of $L$, up to a factor", directions_are_those_of_L),
    (
        "Its direction is that of $Ly$, and its dependence on $x$ is that of $y^\\top M_1 x$",
        direction_and_dependence,
    ),
    ("and these ratios say nothing about $u$", ratios_say_nothing_about_u),
    ("The same function, from weights that no rescaling connects", two_layers_change_places),
    ("The first, a change of basis in a head, and the third", the_first_and_the_third),
    ("are four times too large: off by three times their size", off_by_three_times_their_size),
    ("Exchanging $Q$ and $K$ transposes every $A$", exchanged_keys_and_queries),
    (
        "in the last one $V_2$ was forgotten",
        lambda: all(the_five(s)[4] > 0.01 > 1e-9 > the_five(s)[5] for s in range(3)),
    ),
    ("To first order, too, there is nothing else", three_families_and_no_more),
    ("For $d = 3$, $a = 2$: 4 for its head, 9 for the basis in front of it", a_further_layer_costs),
    ("Softmax has no rescalings", softmax_has_two_families),
    (
        "Set **tokens** to 1: 8 directions are unexplained",
        lambda: shown(LedgerExplorer, LEDGER + ";tokens=1")[0].ledger.unexplained == 8,
    ),
    ("One token sees the symmetric part of an $A_i$ only", one_token_sees_symmetric_parts),
    (
        "this hides 2 dimensions of each",
        lambda: all(nv.kernel_ledger(uniform(3, 2, k, 1)).unexplained == 2 * k for k in range(1, 6)),
    ),
    ("six directions are unexplained, two in each layer after the first", two_in_each_layer_after_the_first),
    (
        "With `1,1,1,1` the hypothesis fails in all layers, and nothing is unexplained",
        lambda: shown(LedgerExplorer, LEDGER + ";head_dims=1,1,1,1")[0].ledger.unexplained == 0,
    ),
    ("$4 + 4$ for the heads, $4$ for the basis between the layers", fourteen_of_thirty_two),
    ("A tenth of the step, a hundredth of the change", second_order_with_the_answer),
    ("Without the answer it moves in first order, in proportion to the step", first_order_without),
    ("Fractions are the safest", fractions_come_out_exactly),
    ("Compare $L$ and $M_i$, up to one factor each", compared_by_virtual_weights),
    ("a small entry of $V_i$ is small in that basis only", a_small_entry_in_another_basis),
    ("and $\\lambda_0$ follows from them: $2^l$ points", signs_that_do_nothing),
    (
        "*Fibres that are not one orbit*",
        lambda: heading("Fibres that are not one orbit") and not heading("Fibres that are one orbit"),
    ),
    ("*Beyond the paper* in", lambda: heading("Beyond the paper")),
    (
        "(Notebook 02 knew.)",
        lambda: all(
            words
            in " ".join((ROOT / "notebooks/02_single_layer_fibers.py").read_text(encoding="utf-8").split())
            for words in ("## Look with one token only", "only the **symmetric part**")
        ),
    ),
    (
        "Both are told in [Deep dimension](04_deep_dimension.ipynb)",
        lambda: all(
            words in (ROOT / "notebooks/04_deep_dimension.py").read_text()
            for words in ("one layer of rank one", "$\\alpha(1, 3) = \\sigma(1, 3) = 5$")
        ),
    ),
]

ELSEWHERE = [
    (
        "One matrix in the term has been transposed",
        "test_unrolling.py::test_a_reflection_transposes_one_factor_and_nothing_else",
    ),
    ("What counts is", "test_symmetry.py::test_virtual_weights_determine_the_lightning_function"),
    (
        "the package goes from interface to interface in the same way",
        "test_symmetry.py::test_the_bases_between_the_layers_are_found_again",
    ),
    (
        "Why is there no C?",
        "test_virtual_explorer.py::test_where_v_has_lost_rank_there_are_networks_that_no_change_of_basis_reaches",
    ),
    (
        "\\varphi(X) = L\\, G_{l-1} M_l\\, G_{l-2} M_{l-1} \\cdots G_0 M_1\\, X$$",
        "test_unrolling.py::test_the_network_is_one_product_of_its_virtual_weights",
    ),
    (
        "`token_form` is Eq. 11, the same with matrices of the size of the number of tokens",
        "test_unrolling.py::test_the_network_is_one_product_of_its_virtual_weights",
    ),
    (
        "Modulo a prime there is no rounding, and equal means equal",
        "test_field.py::test_matrix_products_are_those_of_whole_numbers",
    ),
    (
        "There are few enough to add them one by one",
        "test_unrolling.py::test_the_network_is_one_sum_over_all_multi_indices",
    ),
    ("`nv.unroll` reads this off", "test_unrolling.py::test_the_ternary_rule_is_the_recursion"),
    (
        "for its values, for its keys (these mirrored) and for its queries",
        "test_unrolling_explorer.py::test_a_node_stands_over_its_key_child_and_the_wash_lies_behind_the_key",
    ),
    (
        "So the tree has $3^l$ copies of $X$ at the bottom, 9 here",
        "test_unrolling_explorer.py::test_the_figure_shows_that_tree_over_that_strip",
    ),
    (
        "coloured by layer and hatched where transposed; $k$ in base three",
        "test_unrolling_explorer.py::test_the_figure_shows_that_tree_over_that_strip",
    ),
    (
        "and the numbers, at random weights, whose product is the term",
        "test_unrolling_explorer.py::test_the_values_are_the_links_and_their_product_is_the_term",
    ),
    ("(In code, tokens are counted from 0.)", "test_unrolling.py::test_what_does_not_fit_is_refused"),
    (
        "The numbers at equal distances left and right of place 3 change places with each other",
        "test_unrolling_explorer.py::test_with_equal_ends_one_number_changes_and_the_others_change_places",
    ),
    (
        "because the matrices there are transposes of each other",
        "test_unrolling.py::test_left_and_right_of_the_mirror_stand_transposes",
    ),
    (
        "Only the middle one really changes",
        "test_unrolling.py::test_a_reflection_transposes_one_factor_and_nothing_else",
    ),
    (
        "This works if both ends of the window hold the same token",
        "test_unrolling.py::test_a_reflection_with_unequal_ends_changes_the_neighbours",
    ),
    (
        "In every term $M_h$ occurs $3^{l-h}$ times",
        "test_unrolling.py::test_layer_h_occurs_three_to_the_l_minus_h_times",
    ),
    (
        "a second view, in which $\\lambda_0$ answers by itself",
        "test_virtual_explorer.py::test_with_the_answer_of_eq_13_the_outputs_stand_still",
    ),
    (
        "it is the rescaling of notebook 02, one for each layer: $(cA_i, V_i/c)$",
        "test_virtual_explorer.py::test_a_layer_at_a_time_the_rescaling_is_that_of_the_weights",
    ),
    ("**One** term is left", "test_unrolling.py::test_eq_28_is_the_part_linear_in_one_token"),
    (
        "in the panel with the tree, under **More**: *only y and x*",
        "test_unrolling_explorer.py::test_with_y_and_x_only_the_term_is_the_coefficient_of_eq_28",
    ),
    (
        "the part that we look at is zero, since $y^\\top M y = 0$",
        "test_unrolling_explorer.py::test_an_antisymmetric_m_leaves_nothing_to_read_off",
    ),
    (
        "Then $(L', M')$ has the same function as $(L, M)$ exactly when it is a rescaling of it (Eq. 13)",
        "test_search.py::test_two_layers_have_one_point_where_the_theorem_says_so_and_two_at_an_antisymmetric_one",
    ),
    (
        "weights with the same function differ by changes of basis inside the heads",
        "test_ledger.py::test_in_a_bottleneck_every_direction_is_explained",
    ),
    ("Choose three, and the fourth follows", "test_exercise.py::test_every_correct_answer_passes"),
    (
        "this family of changes is gone then. The factor for each layer remains for lightning",
        "test_ledger.py::test_a_skip_brings_the_interfaces_to_life_and_the_rescalings_stay",
    ),
]
