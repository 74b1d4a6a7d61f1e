"""What notebooks/05_the_proof.py says in words: see tests/test_claims.py."""

from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, factorial, inf, log
from pathlib import Path

import flint
import numpy as np
import sympy

import neuroviz as nv
from claims.common import OVER, A, buttons, dim, domains, random_networks, shown, uniform
from neuroviz.beyond.proof.exponentials_study import ExponentialsSetting, study_exponentials
from neuroviz.beyond.proof.immersion import ImmersionSetting, study_immersion
from neuroviz.beyond.proof.logit_relations import measure_independence
from neuroviz.beyond.proof.uniqueness import SingletonSetting, study_singleton
from neuroviz.beyond.search.cases import SearchSetting, study_search
from neuroviz.beyond.search.initial_guesses import draw as draw_start
from neuroviz.certificate.balls import ball_tangents
from neuroviz.certificate.certificate import certify
from neuroviz.engine.field import Reals
from neuroviz.engine.local_coordinates import Chart, tangent_map
from neuroviz.engine.network import Layer, forward, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import VirtualWeights, change_interface, recover_interfaces, virtual_weights
from neuroviz.explorables import (
    ProofExplorer,
    SearchExplorer,
    SingletonExplorer,
)
from neuroviz.lessons.checks_deep import check_meeting
from neuroviz.softmax.two_tokens import (
    FROZEN,
    Shares,
    follow,
    free_jacobian,
    logits,
    shares,
    softmax_shares,
)

R = Reals()
ROOT = Path(__file__).parents[2]
MATHEMATICS = (ROOT / "docs/mathematics.md").read_text(encoding="utf-8")
NOTHING = 1e-14  # what rounding leaves of it where two numbers are subtracted, and no more
ROUND = 1e-12  # what it leaves in a longer computation
SEEN = 1e-7  # what it never reaches


def draw(*seed):
    return np.random.default_rng(seed)


def turning(M):
    return M - M.T


# Networks on two tokens, in floats


def real_network(layers, seed=0, d=3, **instead):
    """Random virtual weights; L or M1, M2, … may be given as functions of what was drawn."""
    L, *Ms = 0.7 * draw(layers, seed, d).standard_normal((layers + 1, d, d))
    Ms = [instead.get(f"M{i}", np.asarray)(M) for i, M in enumerate(Ms, start=1)]
    return VirtualWeights(instead.get("L", np.asarray)(L), tuple(Ms))


def pairs(seed=0, count=20, d=3):
    return 0.6 * draw(seed, 99).standard_normal((count, d, 2))


def output(network, X, copies=1, causal=False):
    return network.L @ follow(R, softmax_shares(network.M, X, copies, causal), X)[-1]


def differences(Y):
    """How far apart two columns are, input by input."""
    return np.linalg.norm(Y[..., 0] - Y[..., 1], axis=-1)


def by_definition(network, X, causal=False):
    """L X_l on any number of tokens, column by column as softmax is defined."""
    for M in network.M:
        scores = X.T @ M @ X
        if causal:
            scores = np.where(np.triu(np.ones_like(scores)), scores, -inf)
        E = np.exp(scores - scores.max(axis=0))
        X = X @ (E / E.sum(axis=0))
    return network.L @ X


def same(one, other):
    return np.abs(np.asarray(one) - np.asarray(other)).max() < 1e-11


# The same over a prime field, with exponentials that are free


def prime_network(layers, seed=0, d=2):
    L, *Ms = OVER.random(draw(layers, seed, d), (layers + 1, d, d))
    return VirtualWeights(L, tuple(Ms))


def prime_pairs(seed=0, count=30, d=2):
    return OVER.random(draw(seed, 98), (count, d, 2))


def free(seed, count=30, causal=False):
    mu, nu = OVER.random(draw(seed, 97), (2, count))
    return Shares(0 * mu if causal else mu, nu)


def met(seed, count=30):
    mu, _ = free(seed, count)
    return Shares(mu, OVER.reduce(1 - mu))


def free_output(network, given, X):
    return OVER.matmul(network.L, follow(OVER, given, X)[-1])


def columns_agree(Y):
    return bool((Y[..., 0] == Y[..., 1]).all())


def columns_differ(Y):
    return bool((Y[..., 0] != Y[..., 1]).any(axis=-1).all())


# What has to be shown


@cache
def virtual_weights_are_enough():
    for arch in random_networks(20):
        arch = A(arch.widths, arch.head_dims, arch.tokens, "softmax")
        weights = random_weights(R, arch, draw(1))
        X = 0.5 * draw(2).standard_normal((arch.widths[0], arch.tokens))
        virtual = virtual_weights(R, weights)
        if not same(forward(R, "softmax", weights, X[None])[0], by_definition(virtual, X)):
            return False
    net, X = real_network(2), draw(3).standard_normal((3, 4))
    return not same(by_definition(net, X), by_definition(net._replace(M=(net.M[0].T, net.M[1])), X))


@cache
def no_other_weights_have_the_function(causal=False):
    """Of what an attacker would try first; and the control, at which two functions are the same."""
    for seed, copies in product(range(4), (1,) if causal else (1, 2)):
        net, X = real_network(2, seed), pairs(seed)
        (M1, M2), N, L = net.M, turning(real_network(1, seed + 9).L), net.L
        others = [
            VirtualWeights(L, (M1.T, M2)), VirtualWeights(L, (M2, M1)), VirtualWeights(-L, (M1, M2)),
            VirtualWeights(L, (2 * M1, M2)), VirtualWeights(L / 2, (2 * M1, M2)),
            VirtualWeights(L, (-M1, M2)), VirtualWeights(L, (M1 + N, M2)), VirtualWeights(L, (M1, M2 + N)),
        ]  # fmt: skip
        apart = [
            np.abs(output(net, X, copies, causal) - output(other, X, copies, causal)).max()
            for other in others
        ]
        first = 0 * L if causal else N
        hidden = [
            VirtualWeights(0 * L, (first, M)) if causal else VirtualWeights(L, (N, M)) for M in (M1, M2)
        ]
        control = np.abs(np.subtract(*(output(one, X, copies, causal) for one in hidden))).max()
        if min(apart) < 1e-4 or control > ROUND:
            return False
    return True


def almost_all_weights_satisfy_the_hypotheses():
    for seed, arch in enumerate(random_networks(60)):
        L, Ms = virtual_weights(OVER, random_weights(OVER, arch, draw(seed)))
        if not L.any() or not all(OVER.reduce(M + M.T).any() for M in Ms):
            return False
    return True


# Two tokens


def copies_stay_equal():
    weights = random_weights(R, uniform(3, 2, 3, 4, "softmax"), draw(0))
    x1, x2, x3 = draw(1).standard_normal((3, 3))
    alike, other = (
        forward(R, "softmax", weights, np.stack(tokens, axis=1)[None])[0]
        for tokens in ((x1, x2, x2, x2), (x1, x2, x2, x3))
    )
    return same(alike[:, 1:], alike[:, 1:2]) and not same(other[:, 1:], other[:, 1:2])


def shares_are_those_of_softmax():
    for seed, m in product(range(5), (1, 2, 5)):
        (x1, x2), M = pairs(seed)[0].T, real_network(1, seed).M[0]
        X = np.stack([x1] + m * [x2], axis=1)
        S = np.exp(X.T @ M @ X)
        S /= S.sum(axis=0)
        P, Q = exp((x2 - x1) @ M @ x1), exp((x1 - x2) @ M @ x2)
        seen, formulas = [S[1:, 0].sum(), S[0, 1]], [m * P / (1 + m * P), Q / (Q + m)]
        if not same(seen, formulas) or not same(seen, shares(P, Q, m)) or same(S[1:, 0].sum(), S[0, 1]):
            return False
    return True


def two_tokens_are_the_network():
    arch = uniform(d=3, a=2, layers=3, tokens=4, attention="softmax")
    for seed in range(5):
        weights = random_weights(R, arch, draw(seed))
        X = pairs(seed)[0]
        whole = forward(R, "softmax", weights, X[:, [0, 1, 1, 1]][None])[0][:, :2]
        virtual = virtual_weights(R, weights)
        if not same(whole, output(virtual, X, copies=3)) or same(whole, output(virtual, X, copies=2)):
            return False
    return True


def the_determinant_in_fractions():
    numbers = [Fraction(2, 3), Fraction(5, 7), Fraction(1), Fraction(3), Fraction(3, 2)]
    for P, Q, m in product(numbers, numbers, (1, 2, 3, 7)):
        mu, nu = shares(P, Q, copies=m)
        if 1 - mu - nu != m * (1 - P * Q) / ((1 + m * P) * (Q + m)):
            return False
    return True


def tokens_meet_where_the_product_is_one():
    numbers = [Fraction(1, 3), Fraction(1), Fraction(5, 2)]
    return all(
        (sum(shares(P, Q, copies=m)) == 1) == (P * Q == 1)
        for P, m in product(numbers, (1, 2, 3))
        for Q in (1 / P, 2 / P, P, Fraction(7, 5))
    )


def slope_of_a_share():
    h = 1e-6
    for p, slope, m in product((-1.0, 0.3, 2.0), (1.0, -0.7), (1, 3)):
        ends = [shares(exp(p + s * h * slope), 1.0, copies=m).mu for s in (1, -1)]
        mu = shares(exp(p), 1.0, copies=m).mu
        if abs((ends[0] - ends[1]) / (2 * h) - mu * (1 - mu) * slope) > 1e-8:
            return False
    return True


def blind_after_a_collapse():
    """The second half says that nothing of this happens without one."""
    net, X, c = prime_network(3), prime_pairs(), prime_pairs(1)
    found = []
    for first in (met(1), free(1)):
        given = [first, free(2), free(3)]
        tokens = follow(OVER, given, X)
        later = [form for M, Y in zip(net.M[1:], tokens[1:], strict=False) for form in logits(OVER, M, Y)]
        J = free_jacobian(OVER, net, X, given, c)
        found.append(
            all(columns_agree(Y) for Y in tokens[1:])
            and not any(form.any() for form in later)
            and not J[:, 4:12].any()
            and J[:, :4].any()
        )
    return found == [True, False]


def columns_differ_for_almost_all_inputs():
    return all(
        (differences(output(real_network(layers, seed), pairs(seed), copies)) > 100 * NOTHING).all()
        for layers, seed, copies in product((1, 2), range(5), (1, 3))
    )


@cache
def columns_never_differ_otherwise():
    broken = [{"L": np.zeros_like}, {"M1": turning}, {"M2": turning}, {"M3": turning}, {"M2": np.zeros_like}]
    return all(
        (differences(output(real_network(3, seed, **one), pairs(seed), copies)) < NOTHING).all()
        for one, seed, copies in product(broken, range(3), (1, 3))
    )


def the_difference_is_multiplied_layer_by_layer():
    """And by 0 only where a form vanishes: here at δ = (1, 1, 0.3)."""
    saddle = real_network(2, M2=lambda _: np.diag([1.0, -1.0, 0.0]))
    x, delta = pairs(5)[0][:, 0], np.array([1.0, 1.0, 0.3])
    on, off = (np.stack([x + step, x], axis=-1)[None] for step in (delta, delta + [0.2, 0, 0]))
    if differences(output(saddle, on))[0] > ROUND or differences(output(saddle, off))[0] < 1e-4:
        return False
    for seed in range(5):
        net, X = real_network(2, seed), pairs(seed)
        factor = np.prod([1 - one.mu - one.nu for one in softmax_shares(net.M, X)], axis=0)
        out, apart = output(net, X), X[..., 0] - X[..., 1]
        if not same(out[..., 0] - out[..., 1], factor[:, None] * (apart @ net.L.T)) or not factor.all():
            return False
    return True


def forms_vanish_almost_nowhere():
    """Exactly; and at an antisymmetric M everywhere."""
    net, delta = prime_network(2, d=3), OVER.random(draw(4), (200, 3, 1))

    def form(M):
        return OVER.matmul(np.swapaxes(delta, 1, 2), OVER.matmul(M, delta))

    seen = OVER.matmul(net.L, delta).any(axis=(1, 2)).all() and all(form(M).all() for M in net.M)
    return bool(seen) and not form(OVER.reduce(turning(net.M[0]))).any()


# Free exponentials


def equations_of_degree_two(first, causal=False):
    """How many hold between X and the true P_1, Q_1, P_2, Q_2 of two layers, on 400 real inputs.

    Under a mask between X and Q_1, Q_2.
    """
    net = real_network(2, 3, d=2, M1=first)
    X = 0.8 * pairs(3, count=400, d=2)
    tokens = follow(R, softmax_shares(net.M, X, causal=causal), X)
    exponents = [form for M, Y in zip(net.M, tokens, strict=False) for form in logits(R, M, Y)[causal:]]
    columns = [np.ones(len(X)), *X.reshape(len(X), -1).T, *np.exp(exponents)]
    table = np.array([a * b for i, a in enumerate(columns) for b in columns[i:]])
    sigma = np.linalg.svd(table / np.linalg.norm(table, axis=1, keepdims=True), compute_uv=False)
    return int((sigma < 1e-11).sum())


def a_relation_without_a_linear_one():
    """The rank of 1, z, log(1 + e^z), and of 1, e^z and the exponential of the second."""
    z = np.linspace(-2, 2, 40)
    exponents = np.array([np.ones(40), z, np.log1p(np.exp(z))])
    ranks = [np.linalg.matrix_rank(one, tol=1e-9) for one in (exponents, np.exp(exponents))]
    return ranks == [3, 2]


def frozen_or_collapsed_changes_one_term_only():
    net, X = prime_network(4), prime_pairs()
    for i in (2, 3, 4):
        for before, collapsed in ((FROZEN, False), (met(5), True)):
            tokens = follow(OVER, [FROZEN] * (i - 2) + [before], X)[-1]
            forms, at_X = (logits(OVER, net.M[i - 1], Y) for Y in (tokens, X))
            same_as = [0 * form for form in at_X] if collapsed else at_X
            if not all((one == two).all() for one, two in zip(forms, same_as, strict=True)):
                return False
    return True


def parts_of_degree_two():
    """Second differences, in one token while the other stands still."""
    M, X = prime_network(1, d=3).M[0], prime_pairs(d=3)

    def square(token):
        x = X[..., token]
        return OVER.matmul(x[:, None], OVER.matmul(M, x[..., None]))[:, 0, 0]

    for moved, other in ((0, 1), (1, 0)):
        values = []
        for factor in (0, 1, 2):
            Y = X.copy()
            Y[..., moved] *= factor
            values.append(logits(OVER, M, OVER.reduce(Y)))
        second = [OVER.reduce(two - 2 * one + none) for none, one, two in zip(*values, strict=True)]
        if OVER.reduce(second[moved] + 2 * square(moved)).any() or second[other].any():
            return False
    return True


@cache
def independent_logits():
    """The table that the notebook prints, for several draws, and the one relation."""
    for seed in range(3):
        g = draw(seed)
        M, N = OVER.random(g, (2, 2, 2))
        u, v = OVER.random(g, (2, 2, 1))
        symmetric = OVER.reduce(M + M.T)
        full = [
            (M, N), (symmetric, symmetric), (OVER.matmul(u, v.T), OVER.matmul(v, u.T)),
        ]  # fmt: skip
        counted = [
            [one.independent.value for one in measure_independence(OVER, Ms, 2, g).layers] for Ms in full
        ]
        first = measure_independence(OVER, (OVER.reduce(turning(M)), N), 2, g).layers
        last = measure_independence(OVER, (M, OVER.reduce(turning(N))), 2, g).layers
        if counted != 3 * [[2, 2]] or [one.independent.value for one in last] != [2, 1]:
            return False
        if [one.independent.value for one in first] != [1, 0]:
            return False
        (relation,) = first[0].relations
        if (relation.determined, relation.powers) != ((1, 1, 2), (((1, 2, 1), -1),)):  # q = −p
            return False
    return True


def two_logits_are_independent():
    """Also of 1 and of the coordinates: one relation where M is antisymmetric, two where it is 0."""
    for d in (2, 3):
        M, X = prime_network(1, 3, d).M[0], prime_pairs(d=d)
        lost = []
        for one in (M, OVER.reduce(turning(M)), 0 * M):
            columns = np.stack([np.ones(len(X)), *X.reshape(len(X), -1).T, *logits(OVER, one, X)])
            lost.append(len(columns) - exact_rank(columns, OVER))
        if lost != [0, 1, 2]:
            return False
    return True


# Theorem A


def columns_of_one_free_layer():
    net, X, c = prime_network(3), prime_pairs(), prime_pairs(1)
    delta = OVER.reduce(X[..., 0] - X[..., 1])
    seen = OVER.matmul(net.L, delta[..., None])[..., 0]
    for i in range(3):
        given = [free(2) if j == i else FROZEN for j in range(3)]
        step = OVER.random(draw(i, 5), (2, 2))
        (mu, nu), (p, q) = given[i], logits(OVER, step, X)
        first = OVER.reduce(OVER.reduce(-mu * OVER.reduce(1 - mu)) * p)
        second = OVER.reduce(OVER.reduce(nu * OVER.reduce(1 - nu)) * q)
        columns = np.stack([OVER.reduce(seen * one[:, None]) for one in (first, second)], axis=-1)
        expected = OVER.reduce(OVER.reduce(c * columns).sum(axis=(1, 2)))
        J = free_jacobian(OVER, net, X, given, c)
        found = OVER.matmul(J[:, 4 * i : 4 * i + 4], step.reshape(4, 1))[:, 0]
        if (found != expected).any() or not found.any():
            return False
    return True


def logits_determine_the_matrix():
    """p˙ for all tokens, and q˙ alone: all d² entries."""
    for d in (1, 2, 3, 4):
        X = prime_pairs(d=d)
        by_p, by_q = (
            np.array([logits(OVER, unit.reshape(d, d), X)[k] for unit in np.eye(d * d)]) for k in (0, 1)
        )
        if exact_rank(by_p, OVER) != d * d or exact_rank(by_q, OVER) != d * d:
            return False
    return True


@cache
def immersion(**changes):
    layers = len(changes.get("modes", ("true", "true")))
    return study_immersion(ImmersionSetting(freed=((0.3, 0.3),) * layers, **changes))


def staircase(study):
    return [experiment.so_far.kernel for experiment in study.experiments]


def the_lines_run_down():
    panel = ProofExplorer()
    (line,) = [one for one in panel.figure.data if one.name == "token 1"]
    bottom, top = panel.figure.layout.yaxis.range
    panel.close()
    return list(line.y) == sorted(line.y) and bottom > top


def experiments_stand_at_the_right():
    """And the tokens at the left; the singular values below the experiments."""
    panel = ProofExplorer()
    at = domains(panel.figure)
    panel.close()
    tokens = [at["token 1"], at["token 2"]]
    bars = [place for name, place in at.items() if name.startswith("hidden in")]
    spectrum = at["singular values up to the exact rank (measured)"]
    return max(place[1] for place in tokens) < min(place[0] for place in (*bars, spectrum)) and spectrum[
        3
    ] < min(place[2] for place in bars)


def both_networks_on_the_same_tokens():
    study, _ = shown(SingletonExplorer)
    panel = SingletonExplorer()
    at = domains(panel.figure)
    panel.close()
    return at["token 1 of θ"][1] < at["token 1 of θ′"][0] and same(
        study.left.places[0], study.right.places[0]
    )


def lines_of_a_frozen_and_of_a_collapsed_layer():
    frozen, collapsed = (immersion(modes=(mode, "true")) for mode in ("frozen", "collapsed"))
    ends = [np.ptp(places) for places in collapsed.places]
    return (
        (frozen.places[0] == frozen.places[1]).all()
        and (frozen.met_after, collapsed.met_after) == (None, 1)
        and max(ends[1:]) < ROUND < ends[0]
        and collapsed.here.blocks[2] == 4
        and frozen.here.blocks[2] == 0
    )


def experiments_of_an_antisymmetric_layer():
    study = immersion(symmetric=0.0)
    panel = ProofExplorer(state="symmetric=0")
    hatched = {
        one.marker.pattern.shape[1:4] for one in panel.figure.data if str(one.name).startswith("hidden in M")
    }
    panel.close()
    return [(one.free_layer, one.possible) for one in study.experiments] == [
        (None, False),
        (1, True),
        (2, False),
    ] and hatched == {("/", "", "/")}


def buttons_of_the_experiments():
    """Frozen, collapsed, an antisymmetric M₁, and L = 0."""
    states = buttons("05_the_proof", "proof_panel")
    frozen, collapsed, turn, nothing = (shown(ProofExplorer, state)[0] for state in states)
    return (
        (frozen.places[0] == frozen.places[1]).all()
        and (frozen.setting.modes[0], collapsed.setting.modes[0]) == ("frozen", "collapsed")
        and np.ptp(collapsed.places[1]) < ROUND < np.ptp(collapsed.places[0])
        and [one.possible for one in turn.experiments] == [False, True, False]
        and [one.everything.kernel for one in (frozen, collapsed, turn, nothing)] == [0, 0, 4, 8]
    )


@cache
def a_kernel_of_four():
    for seed in range(4):
        control = immersion(symmetric=0.0, seed=seed)
        if (control.everything.kernel, control.spectrum.kernel, control.left.kernel) != (4, 4, 4):
            return False
    return immersion().everything.kernel == 0


def rank_of_products(a, d, rows=None):
    """Of the differential of (K, Q) ↦ KᵀQ: the dimension of the matrices of rank at most a."""
    rows = rows or d
    K, Q = OVER.random(draw(a, d), (a, rows)), OVER.random(draw(a, d, 1), (a, d))
    J = [(unit.reshape(a, rows).T @ Q).ravel() for unit in np.eye(a * rows)]
    J += [(K.T @ unit.reshape(a, d)).ravel() for unit in np.eye(a * d)]
    return exact_rank(OVER.reduce(np.array(J)), OVER)


@cache
def set_of_virtual_weights(arch):
    """Its dimension: the rank of weights ↦ (L, M), in floats."""
    centre = random_weights(R, arch, draw(5))
    rank = np.linalg.matrix_rank(tangent_map(Chart(arch, centre, np.eye(arch.num_parameters))), tol=1e-9)
    return int(rank)


SHAPES = [
    ((3, 2, 3), (2, 1)), ((2, 4, 2), (2, 2)), ((5, 4, 1), (2, 1)), ((3, 3, 3), (1, 2)),
    ((4, 2, 3, 2), (2, 2, 2)), ((1, 3, 2), (2, 2)), ((3, 1, 3), (2, 2)), ((2, 3), (3,)),
]  # fmt: skip
BOTTLENECKS = [
    ((3, 2, 4), (1, 2)), ((3, 2, 2, 3), (2, 1, 3)), ((2, 1, 2), (2, 2)), ((4, 3, 3), (2, 2)),
    ((3, 3, 3), (1, 1)),
]  # fmt: skip


@cache
def the_dimension_is_that_of_the_virtual_weights():
    for widths, a in SHAPES:
        arches = [A(widths, a, t, "softmax") for t in (1, 2, 3)]
        one, two, three = (nv.measure_dimension(arch).value for arch in arches)
        if not one < two == three == set_of_virtual_weights(arches[1]):
            return False
    return True


def eq_16(widths, head_dims):
    """Its three terms, with measured dimensions of the matrices of bounded rank."""
    first, inner, last = widths[0], widths[1], widths[-1]
    layers = rank_of_products(head_dims[0], first) + sum(rank_of_products(a, inner) for a in head_dims[1:])
    return inner * (first + last - inner) + layers


def a_form_of_keys_and_queries():
    for seed, arch in enumerate(random_networks(40)):
        weights = random_weights(OVER, arch, draw(seed, 3))
        y = OVER.random(draw(seed, 4), (arch.widths[0], 1))
        z = y
        for layer, M in zip(weights, virtual_weights(OVER, weights).M, strict=True):
            form = OVER.matmul(y.T, OVER.matmul(M, y))
            keys = OVER.matmul(OVER.matmul(layer.K, z).T, OVER.matmul(layer.Q, z))
            if (form != keys).any() or not form.any():
                return False
            z = OVER.matmul(layer.V, z)
    return True


def one_row_space():
    for widths, head_dims in BOTTLENECKS:
        weights = random_weights(OVER, A(widths, head_dims), draw(7))
        L, Ms = virtual_weights(OVER, weights)
        inner, U, spaces = widths[1], np.eye(widths[0]), []
        for layer in weights:
            U = OVER.matmul(layer.V, U)
            spaces.append(U)
        together = [*spaces, *Ms[1:], *(M.T for M in Ms[1:])]
        ranks = [exact_rank(one, OVER) for one in (*spaces, np.concatenate(together))]
        small = [exact_rank(M, OVER) <= a for M, a in zip(Ms, head_dims, strict=True)]
        if set(ranks) != {inner} or not all(small) or (L != spaces[-1]).any():
            return False
    return True


def all_virtual_weights_occur():
    """By the recipe of the proof, in floats."""
    d, inner, a = 5, 3, 2
    V1, B = draw(8).standard_normal((2, inner, d))
    W = np.linalg.pinv(V1)
    keys, queries = draw(9).standard_normal((2, a, inner))
    M = V1.T @ keys.T @ queries @ V1
    core, L = W.T @ M @ W, draw(10).standard_normal((4, inner)) @ V1
    inside, outside = V1.T @ W.T @ V1.T, V1.T @ W.T @ B.T
    return (
        same(inside, V1.T)
        and not same(outside, B.T)
        and same(V1.T @ core @ V1, M)
        and np.linalg.matrix_rank(core, rtol=1e-9) == a
        and same(np.linalg.lstsq(V1.T, L.T, rcond=None)[0].T @ V1, L)
    )


def one_orbit():
    """Another network with the same (L, M), built of these alone: there is a C between all layers."""
    arch = A((4, 2, 2, 3), (2, 1, 2))
    weights = random_weights(R, arch, draw(4))
    L, Ms = virtual_weights(R, weights)
    V1 = np.linalg.svd(L)[2][:2]
    W, others = np.linalg.pinv(V1), []
    for M, a, V in zip(Ms, arch.head_dims, (V1, np.eye(2), L @ W), strict=True):
        core = W.T @ M @ W if others else M
        left, sigma, right = np.linalg.svd(core)
        others.append(Layer(sigma[:a, None] * right[:a], left[:, :a].T, V))
    bases = recover_interfaces(R, weights, tuple(others))
    moved = weights
    for i, C in enumerate(bases):
        moved = change_interface(R, moved, i, C)
    return len(bases) == 2 and all(
        np.allclose(one.K.T @ one.Q, two.K.T @ two.Q) and np.allclose(one.V, two.V)
        for one, two in zip(moved, others, strict=True)
    )


def a_zero_matrix_costs_dimensions():
    """The rank of weights ↦ (L, M) where Q_2 is 0 and stays 0."""
    arch = A((3, 2, 3), (2, 1), 2, "softmax")
    first, second = random_weights(R, arch, draw(6))
    centre = (first, second._replace(Q=0 * second.Q))
    J = tangent_map(Chart(arch, centre, np.eye(arch.num_parameters)))
    start = sum(matrix.size for matrix in first)
    kept = np.delete(J, np.s_[start : start + second.Q.size], axis=1)
    return np.linalg.matrix_rank(kept, tol=1e-9) < set_of_virtual_weights(arch)


# Certificates


def two_counts_of_the_largest():
    proof = nv.measure_dimension(
        uniform(12_288, 128, 96, attention="softmax"), method="certified"
    ).certificate
    found = proof.verify()
    return (
        proof.route == "theorem"
        and found
        and f"the count by codimensions is {proof.dimension}" in found.finding
    )


def a_new_seal_is_not_enough():
    """What the notebook shows: the seal, then the count."""
    proof = nv.measure_dimension(
        uniform(12_288, 128, 96, attention="softmax"), method="certified"
    ).certificate
    forged = replace(proof, dimension=proof.dimension + 1)
    old, new = forged.verify(), replace(forged, seal="").verify()
    return (
        proof.verify()
        and not old
        and "the seal does not fit" in old.finding
        and not new
        and f"gives {proof.dimension}, not {proof.dimension + 1}" in new.finding
        and proof.dimension % 10 < 9
    )


def which_routes_use_ax():
    arch = uniform(2, 2, 2, attention="softmax")
    ball, exact = (certify(arch, route).argument for route in ("ball", "exact rank"))
    return "Ax's theorem is not used" in ball and "free by Ax's theorem" in exact


def exponential_between(x, terms=60):
    """e^x for |x| ≤ 4, between two fractions."""
    found = sum((x**n / factorial(n) for n in range(terms)), Fraction(0))
    rest = 2 * Fraction(4) ** terms / factorial(terms)
    return found - rest, found + rest


def balls_hold_true_exponentials(base=exponential_between):
    """XS of one layer of width 1, which is the derivative in V: x₁ + (x₂ − x₁) / (1 + e^u)."""
    bits = flint.ctx.prec
    try:
        for seed in range(20):
            q, k, v, *x = (float(n) / 8 for n in draw(seed).integers(1, 12, 5))
            layer = Layer(*(np.array([[n]]) for n in (q, k, v)))
            flint.ctx.prec = 128
            balls = ball_tangents("softmax", (layer,), [(0, 2, 0, 0)], np.array([x])).entries()
            flint.ctx.prec = 400
            one, two = map(Fraction, x)
            for ball, here in zip(balls, (one, two), strict=True):
                low, high = base(Fraction(k) * Fraction(q) * (one - two) * here)
                for E in (low, high):
                    value = one + (two - one) / (1 + E)
                    if not ball.contains(flint.arb(flint.fmpq(value.numerator, value.denominator))):
                        return False
                if one != two and not 0 < float(ball.rad()) < 1e-30:
                    return False
    finally:
        flint.ctx.prec = bits
    return True


def rounded_exponentials(x):
    return (Fraction(exp(x)),) * 2


# Theorem B


def two_hundred_pairs():
    """A fifth of those that the cell of the notebook counts."""
    text = (ROOT / "notebooks/05_the_proof.py").read_text(encoding="utf-8")
    candidates = ("unrelated", "same symmetric part", "negative", "positive", "other M₂")
    listed = ", ".join(f'"{name}"' for name in candidates)
    studies = [study_singleton(SingletonSetting(one, seed=s)) for one in candidates for s in range(8)]
    return (
        f"for seed in range(40)\n    for candidate in ({listed})\n" in text
        and len(candidates) * 40 == 200
        and not any(one.ending.same for one in studies)
        and {(one.case, one.ending.left_meet, one.ending.right_meet) for one in studies}
        == {
            ("A", False, True),
            ("B2", False, True),
            ("B1, ρ < 0", True, True),
            ("B1, ρ > 0", False, True),
            ("peel", False, True),
        }
    )


def the_first_layer_split_off():
    net, X = real_network(3), pairs()
    behind = follow(R, softmax_shares(net.M[:1], X), X)[-1]
    tail = net._replace(M=net.M[1:])
    return same(output(net, X), output(tail, behind)) and not same(output(net, X), output(tail, X))


def first_layers(seed):
    """Pairs M_1, M_1′ of the three cases, with the number of relations that each case has."""
    M, other, N = draw(seed, 6).standard_normal((3, 3, 3))
    return [
        (other, 0),
        *((rho * M + turning(N), 1) for rho in (2, -0.5)),
        *((rho * M, 2) for rho in (3, -1)),
    ], M


def parts_say_what_the_relation_says():
    """The three matrix equations have as many solutions as relations hold at random tokens."""
    X = pairs(3, count=60)
    for seed in range(4):
        candidates, M = first_layers(seed)
        for other, relations in candidates:
            forms = np.array([form for one in (M, other) for form in logits(R, one, X)])
            none = np.zeros((3, 3))
            equations = np.array(
                [
                    np.concatenate([part.ravel() for part in parts])
                    for one in (M, other)
                    for parts in ((one + one.T, none, one), (none, one + one.T, one.T))
                ]
            )
            if {4 - np.linalg.matrix_rank(table, rtol=1e-9) for table in (forms, equations)} != {relations}:
                return False
            solutions = np.linalg.svd(equations.T)[2][4 - relations :]
            if np.abs(solutions @ forms).max(initial=0) > 1e-11:
                return False
    return True


def powers_of_the_cases():
    """(P′Q′ = (PQ)^ρ, P′ = P^ρ) for the same symmetric part, a multiple, and an unrelated matrix."""
    M, other, N = draw(7).standard_normal((3, 3, 3))
    X, found = 0.5 * pairs(4), []
    (p, q), rho = logits(R, M, X), 1.5
    for first in (rho * M + turning(N), rho * M, other):
        p_, q_ = logits(R, first, X)
        pairs_agree = np.allclose(np.exp(p_ + q_), np.exp(p + q) ** rho)
        found.append((pairs_agree, np.allclose(np.exp(p_), np.exp(p) ** rho)))
    return found == [(True, False), (True, True), (False, False)]


def independent_of_four(candidate, expected):
    return all(
        study_singleton(SingletonSetting(candidate, rho, seed=seed)).relations.independent == expected
        for seed, rho in product(range(3), (Fraction(2), Fraction(1, 3)))
    )


def all_later_logits_vanish_at_one():
    """For any number of copies; not at P = Q = 2."""
    for m, (number, vanish) in product((1, 3), ((1, True), (2, False))):
        mu, nu = (
            one.numerator * pow(one.denominator, -1, OVER.p) for one in shares(*2 * [Fraction(number)], m)
        )
        first = Shares(*OVER.reduce(np.array([mu % OVER.p, nu % OVER.p], dtype=float)))
        for seed in (0, 1):  # two networks
            net, X = prime_network(3, seed), prime_pairs()
            tokens = follow(OVER, [first, free(1), free(2)], X)
            forms = [form for M, Y in zip(net.M[1:], tokens[1:], strict=False) for form in logits(OVER, M, Y)]
            if vanish == any(form.any() for form in forms):
                return False
    return True


def denominators_of_a_later_logit():
    """(1 + mP)² p_2 is of degree 2 in P, and p_2 is not; and so with (Q + m)² and Q."""
    M, X = prime_network(2).M[1], prime_pairs()
    for m, of_P in product((1, 3), (True, False)):
        cleared, plain = [], []
        for number in map(Fraction, range(1, 5)):
            mu, nu = shares(number, Fraction(2), m) if of_P else shares(Fraction(2), number, m)
            residues = [one.numerator * pow(one.denominator, -1, OVER.p) % OVER.p for one in (mu, nu)]
            given = Shares(*OVER.reduce(np.array(residues, dtype=float)))
            p = logits(OVER, M, follow(OVER, [given], X)[-1])[0]
            plain.append(p)
            cleared.append(OVER.reduce(p * float((1 + m * number if of_P else number + m) ** 2)))
        thirds = [OVER.reduce(y[3] - 3 * y[2] + 3 * y[1] - y[0]).any() for y in (cleared, plain)]
        if thirds != [False, True]:
            return False
    return True


def logits_are_quadratic_forms():
    net, X = prime_network(1), prime_pairs()
    pairs_ = zip(logits(OVER, net.M[0], OVER.reduce(5 * X)), logits(OVER, net.M[0], X), strict=True)
    return all(same(five, OVER.reduce(25 * one)) and one.any() for five, one in pairs_)


def signs_of_denominators(m, causal, mend=lambda x: x):
    """Of the denominators of all logits of three layers, as polynomials in the exponentials before them."""
    x1, x2 = (sympy.Matrix(one) for one in ([1, 2], [-1, 3]))
    symbols, found = [], set()
    for i, M in enumerate(([[1, 2], [0, -1]], [[2, 1], [-3, 1]], [[1, 0], [2, 5]])):
        d = x1 - x2
        for logit in ((-d.T * sympy.Matrix(M) * x1)[0], (d.T * sympy.Matrix(M) * x2)[0]):
            below = sympy.fraction(sympy.together(logit))[1]
            found |= {int(sympy.sign(c)) for c in sympy.Poly(below, *symbols, sympy.Symbol("any")).coeffs()}
        P, Q = sympy.symbols(f"P{i} Q{i}", positive=True)
        symbols += [P, Q]
        mu, nu = (0, Q / (Q + 1)) if causal else (m * P / (1 + m * P), Q / (Q + m))
        x1, x2 = mend(x1 - mu * d), mend(x2 + nu * d)
    return found


@cache
def denominators_are_sums_of_positive_numbers():
    """Where tokens are divided by det S, they are not."""
    P, Q = sympy.symbols("P0 Q0", positive=True)
    return all(
        signs_of_denominators(m, causal) == {1} for m, causal in ((1, False), (3, False), (1, True))
    ) and signs_of_denominators(1, False, lambda x: x / (1 - P * Q)) == {1, -1}


def case_a_ends():
    theta, other = prime_network(3, 0), prime_network(3, 1)
    X, tail = prime_pairs(), [free(2), free(3)]
    right, left = free_output(other, [met(1), *tail], X), free_output(theta, [free(1), *tail], X)
    tokens = follow(OVER, [free(1)], X)[-1]
    return columns_agree(right) and columns_differ(left) and columns_differ(tokens)


def case_b2_ends():
    """Within P′Q′ = (PQ)^ρ, on the way P′ → 0; the tokens come together as fast as P′ does."""
    X, rho, product_ = pairs(2), -1.5, 0.3 * 0.8
    net, small = real_network(1, 4), [1e-3, 1e-6, 1e-9]
    right = [follow(R, [shares(P, product_**rho / P)], X)[-1] for P in small]
    left = follow(R, [shares(0.3, 0.8)], X)[-1]
    together = [differences(tokens).max() < 10 * P for tokens, P in zip(right, small, strict=True)]
    outs = [differences(output(net, tokens)) for tokens in (right[-1], left)]
    return all(together) and outs[0].max() < 1e-9 < 1e-5 < outs[1].min()


def opposite_ends():
    net, X = real_network(2, 5), pairs(3)
    for first, token in ((shares(1e-14, 1e14), 0), (shares(1e14, 1e-14), 1)):
        tokens = follow(R, [first], X)[-1]
        expected = net.L @ X[..., [token, token]]
        if not same(output(net, tokens), expected) or same(output(net, tokens), net.L @ X[..., ::-1]):
            return False
    return True


def the_runaway_token():
    """In fractions: what both networks make of x_1, with Q = 0 and P′ = P^ρ; τ for larger and larger P."""
    y1, y2 = Fraction(3, 7), Fraction(-5, 2)
    for m, rho in product((1, 4), (2, 3)):
        ratios = []
        for P in map(Fraction, (1, 10, 1000)):
            x1 = y2 + (1 + m * P) * (y1 - y2)
            (mu, nu), (mu_, nu_) = shares(P, Fraction(0), m), shares(P**rho, Fraction(0), m)
            tau = (1 + m * P) / (1 + m * P**rho)
            here, there = x1 - mu * (x1 - y2), x1 - mu_ * (x1 - y2)
            if (here, there) != (y1, y2 + tau * (y1 - y2)) or nu or nu_:
                return False
            ratios.append(tau)
        if not ratios[0] > ratios[1] > ratios[2] or ratios[2] > Fraction(1, 500):
            return False
    return True


@cache
def ends_of_the_ways():
    """What the answers say of the shares, the columns and the places of the first layers."""
    end = {
        name: study_singleton(SingletonSetting(name))
        for name in ("unrelated", "irrational", "same symmetric part", "negative", "positive", "other M₂")
    }
    product_is_one = [
        [abs(sum(side.shares[0]) - 1) < ROUND for side in (one.left, one.right)] for one in end.values()
    ]
    runaway = end["positive"]
    start = study_singleton(SingletonSetting("positive", travel=0.5))
    peel = end["other M₂"]
    return (
        product_is_one[:2] == [[False, True]] * 2
        and not any(
            0 in side.shares[0] for name in ("unrelated", "irrational") for side in (end[name].right,)
        )
        and (end["same symmetric part"].left.gap > SEEN)
        and end["same symmetric part"].right.shares[0] == (0, 1)
        and set(end["negative"].left.places[1]) == {0.0}
        and set(end["negative"].right.places[1]) == {1.0}
        and np.isinf(runaway.left.places[0, 0])
        and same(runaway.left.places[1, 0], start.left.places[1, 0])
        and runaway.right.places[1, 0] == runaway.right.places[1, 1] == 1
        and peel.left.shares[0] == peel.right.shares[0] == (0, 0)
        and sum(peel.right.shares[1]) == 1 != sum(peel.left.shares[1])
    )


def buttons_of_the_second_step():
    """The other M₂ at the end of the way; then with an antisymmetric M₁."""
    states = buttons("05_the_proof", "singleton_panel")
    one, turn = (shown(SingletonExplorer, state)[0] for state in states)
    return (
        [(s.setting.candidate, s.setting.travel) for s in (one, turn)] == [("other M₂", 1)] * 2
        and (one.setting.symmetric, turn.setting.symmetric) == (1, 0)
        and (one.ending.left_meet, one.ending.right_meet, one.ending.same) == (False, True, False)
        and turn.ending.same
        and turn.functions_apart < ROUND < SEEN < one.functions_apart
    )


def every_second_matrix_gives_the_same_function():
    for seed, copies in product(range(3), (1, 3)):
        X = pairs(seed)
        nets = [real_network(2, seed, M1=turning, M2=lambda M, c=c: c * M.T) for c in (0, 1, -3)]
        outs = [output(net, X, copies) for net in nets]
        one_free = [output(real_network(2, seed, M2=lambda M, c=c: c * M.T), X) for c in (0, 1)]
        if not all(same(outs[0], out) for out in outs) or same(*one_free):
            return False
    return True


def a_second_preimage():
    studies = [study_singleton(SingletonSetting("other M₂", symmetric=0.0, seed=seed)) for seed in range(5)]
    return all(one.ending.same and one.functions_apart < ROUND for one in studies)


def depth_is_determined():
    """Where a layer is left, PQ = 1 makes columns agree; those of LX do not. And true functions differ."""
    X, Y = prime_pairs(), pairs()
    for left in (1, 2):
        net = prime_network(left)
        given = [met(1), *(free(i) for i in range(2, left + 1))]
        if not columns_agree(free_output(net, given, X)) or not columns_differ(OVER.matmul(net.L, X)):
            return False
        deep = real_network(left + 1)
        if np.abs(output(deep, Y) - output(deep._replace(M=deep.M[:-1]), Y)).max() < 1e-3:
            return False
    return True


# With a causal mask


@cache
def first_token_sees_itself():
    for seed in range(4):
        net, X = real_network(3, seed), draw(seed, 5).standard_normal((3, 4))
        whole = by_definition(net, X, causal=True)
        (x1, x2), M = X[:, :2].T, net.M[0]
        Q = exp((x1 - x2) @ M @ x2)
        one = by_definition(VirtualWeights(np.eye(3), (M,)), X[:, :2], causal=True)
        if not (
            same(whole[:, 0], net.L @ X[:, 0])
            and same(whole[:, :2], output(net, X[:, :2], causal=True))
            and same(one[:, 1], x2 + Q / (Q + 1) * (x1 - x2))
            and not same(by_definition(net, X)[:, 0], net.L @ X[:, 0])
        ):
            return False
    return True


def masked_columns_differ_whatever_the_matrices_are():
    kinds = [{}, {"M1": turning}, {"M1": np.zeros_like}, {"M1": turning, "M2": turning}]
    return (
        all(
            (differences(output(real_network(2, seed, **kind), pairs(seed), causal=True)) > SEEN).all()
            for seed, kind in product(range(4), kinds)
        )
        and columns_never_differ_otherwise()
    )


def masked_dimensions():
    def size(widths, a, t, causal):
        return dim(widths, a, tokens=t, attention="softmax", causal=causal)

    return all(
        size(*shape, 1, True) < size(*shape, 2, True) == size(*shape, 3, True) == size(*shape, 2, False)
        for shape in [*SHAPES, *BOTTLENECKS]
    )


def masked_relations():
    found = {
        candidate: study_singleton(SingletonSetting(candidate, causal=True))
        for candidate in ("unrelated", "same symmetric part", "negative", "positive")
    }
    return [one.case for one in found.values()] == ["A", "A", "B1, ρ < 0", "B1, ρ > 0"] and [
        one.relations.words for one in found.values()
    ] == [(), (), ("Q′ = Q⁻²",), ("Q′ = Q²",)]


def polynomial_in_the_share():
    """The next logit, of degree 2: third differences are 0, second ones are not."""
    M, X = prime_network(1).M[0], prime_pairs()
    q = [logits(OVER, M, follow(OVER, [Shares(0.0, float(nu))], X)[-1])[1] for nu in range(4)]
    third = OVER.reduce(q[3] - 3 * q[2] + 3 * q[1] - q[0])
    return not third.any() and OVER.reduce(q[2] - 2 * q[1] + q[0]).any()


def masked_frozen_or_collapsed():
    """The limit Q → ∞ is ν = 1."""
    net, X = prime_network(2), prime_pairs()
    stays, meets = (follow(OVER, [Shares(0.0, nu)], X)[-1] for nu in (0.0, 1.0))
    q, q_at_X = logits(OVER, net.M[1], stays)[1], logits(OVER, net.M[1], X)[1]
    return columns_agree(meets) and (q == q_at_X).all() and not logits(OVER, net.M[1], meets)[1].any()


def tails(Q, seed=0):
    """(F's first logit, its output, tokens) behind a causal layer with this Q, in floats."""
    net, X = real_network(2, seed), pairs(seed)
    tokens = follow(R, [shares(0, Q, causal=True)], X)[-1]
    return logits(R, net.M[0], tokens)[1], output(net, tokens, causal=True), tokens


def masked_collapse_in_the_limit():
    largest = [np.abs(tails(Q)[0]).max() for Q in (1.0, 1e4, 1e8)]
    return largest[0] > 0.1 > largest[1] > 1e3 * largest[2] and (
        differences(tails(1e14)[1]).max() < 1e-11 < SEEN < differences(tails(1.0)[1]).min()
    )


def the_masked_runaway_token():
    y1, y2 = Fraction(3, 7), Fraction(-5, 2)
    for rho in (2, 3):
        ratios = []
        for Q in map(Fraction, (1, 10, 1000)):
            x2 = y1 + (1 + Q) * (y2 - y1)
            nu, nu_ = shares(Fraction(0), Q).nu, shares(Fraction(0), Q**rho).nu
            tau = (1 + Q) / (1 + Q**rho)
            if (x2 + nu * (y1 - x2), x2 + nu_ * (y1 - x2)) != (y2, y1 + tau * (y2 - y1)):
                return False
            ratios.append(tau)
        if not ratios[0] > ratios[1] > ratios[2] or ratios[2] > Fraction(1, 400):
            return False
    return True


def no_point_collapses_both():
    """Both Q and Q^ρ would have to be large."""
    numbers = np.exp(np.linspace(-20, 20, 81))
    return (
        all((np.minimum(numbers, numbers**rho) <= 1).all() for rho in (-1, -0.5, -3))
        and (np.minimum(numbers, numbers**2) > 1).any()
    )


def the_relation(rho, first):
    """(left side of (2), the display's left side, q_1) with M_2 = M_2′ = M_1, M_1′ = ρ M_1, c = 1."""
    M, X = first(draw(6).standard_normal((3, 3))), pairs(7, count=8)
    delta, x2 = X[..., 0] - X[..., 1], X[..., 1]
    linear, square = (np.einsum("ni,ij,nj->n", delta, M, y) for y in (x2, delta))
    left, display = [], []
    for Q in (0.3, 1.0, 4.0):
        nu, nu_ = (shares(0, one, causal=True).nu for one in (Q, Q**rho))
        behind = [logits(R, M, follow(R, [Shares(0.0, one)], X)[-1])[1] for one in (nu, nu_)]
        left.append(sum(behind))
        display.append(((1 - nu) + (1 - nu_)) * linear + (nu * (1 - nu) + nu_ * (1 - nu_)) * square)
    return np.array(left), np.array(display), linear


def shares_add_up_to_one(rho):
    return all(
        abs(sum(shares(0, one, causal=True).nu for one in (Q, Q**rho)) - 1) < ROUND for Q in (0.3, 1, 4)
    )


def the_relation_exists_where_all_are_antisymmetric():
    found = [(rho, first, *the_relation(rho, first)) for rho in (-1, -2) for first in (turning, np.asarray)]
    return [same(left, q) for _, _, left, _, q in found] == [True, False, False, False]


def masked_ends_of_the_ways():
    """In each case the columns of one network agree, and not those of the other."""
    candidates = ("unrelated", "negative", "positive", "other M₂")
    studies = [
        study_singleton(SingletonSetting(one, seed=seed, causal=True))
        for one in candidates
        for seed in range(6)
    ]
    return {s.case for s in studies} == {"A", "B1, ρ < 0", "B1, ρ > 0", "peel"} and all(
        s.ending.left_meet != s.ending.right_meet and not s.ending.same for s in studies
    )


def masked_preimages_are_gone():
    studies = [
        study_singleton(SingletonSetting("other M₂", symmetric=0.0, causal=causal, seed=seed))
        for seed in range(5)
        for causal in (True, False)
    ]
    return all(one.ending.same != one.setting.causal for one in studies) and all(
        (one.functions_apart > 1e-6) == one.setting.causal for one in studies
    )


def stands_under_more(panel_class, name, label):
    panel = panel_class()
    home = next(box for box in panel.children if panel.controls[name] in getattr(box, "children", ()))
    found = panel.controls[name].description == label and home.layout.display == "none"
    panel.close()
    return found


def two_zero_layers(d, seed):
    """The derivative of the masked network with M_1 = M_2 = 0, exactly."""
    g, zero, half = draw(d, seed), np.zeros((d, d)), Shares(0.0, (OVER.p + 1) / 2)
    inputs = 3 * d * d + 2
    X, functionals = OVER.random(g, (2, inputs, d, 2))
    net = VirtualWeights(OVER.random(g, (d, d)), (zero, zero))
    return free_jacobian(OVER, net, X, [half, half], functionals)


def hidden_by_two_zero_layers():
    """d(d − 1)/2 directions, so one in two dimensions."""
    kernels = {d: 3 * d * d - exact_rank(two_zero_layers(d, 0), OVER) for d in (1, 2, 3)}
    real = softmax_shares([np.zeros((2, 2))] * 2, pairs(d=2), causal=True)
    return kernels == {1: 0, 2: 1, 3: 3} and all((one.nu == 0.5).all() for one in real)


def the_hidden_direction():
    """Ṁ_1 = c Ṁ_2: c = −1/2 and an antisymmetric Ṁ_2, nothing else."""
    J, half = two_zero_layers(2, 1), (OVER.p + 1) / 2
    turn, even = np.array([[0.0, 1.0], [-1.0, 0.0]]), np.eye(2)

    def moves(step, c):
        both = np.concatenate([OVER.reduce(c * step).ravel(), step.ravel(), np.zeros(4)])
        return bool(OVER.matmul(J, both[:, None]).any())

    return [moves(*one) for one in ((turn, -half), (turn, half), (turn, 0), (even, -half))] == [
        False, True, True, True,
    ]  # fmt: skip


def masked_kernel_in_floats(Ms, tokens):
    """By central differences of the definition."""
    sizes, g, h = len(Ms) * 4 + 4, draw(11), 1e-4
    L, inputs = g.standard_normal((2, 2)), 1.5 * g.standard_normal((12, 2, tokens))
    start = np.concatenate([np.ravel(L), *map(np.ravel, Ms)])

    def all_outputs(z):
        L, *rest = z.reshape(-1, 2, 2)
        return np.concatenate([by_definition(VirtualWeights(L, rest), X, True).ravel() for X in inputs])

    J = [(all_outputs(start + h * unit) - all_outputs(start - h * unit)) / (2 * h) for unit in np.eye(sizes)]
    sigma = np.linalg.svd(np.array(J), compute_uv=False)
    return int((sigma < 1e-6 * sigma[0]).sum())


def three_tokens_in_the_table():
    text = (ROOT / "notebooks/05_softmax_conjecture.py").read_text(encoding="utf-8")
    return '("antisymmetric", 3)' in text and "study_exponentials(" in text


@cache
def what_shows_the_hidden_direction():
    zero, M = np.zeros((2, 2)), np.array([[1.0, 0.4], [-0.3, 0.8]])
    return [
        masked_kernel_in_floats(Ms, t)
        for Ms, t in (((zero, zero), 2), ((zero, zero), 3), ((zero, M, zero), 2), ((zero, zero, M), 2))
    ] == [1, 0, 0, 1]


# To build, to attack, in practice


def both_signs_have_such_a_difference():
    """On the line between a direction with a positive and one with a negative square; a "
    "definite M has none."""
    for seed in range(5):
        turn = turning(draw(seed).standard_normal((2, 2)))
        basis = np.linalg.qr(draw(seed, 1).standard_normal((2, 2)))[0]
        M = basis @ np.diag([2.0, -3.0]) @ basis.T + turn
        delta = basis @ [3**0.5, 2**0.5]
        definite = basis @ np.diag([2.0, 3.0]) @ basis.T + turn
        x = pairs(seed, d=2)[0][:, 0]
        if not check_meeting(M, x + delta, x) or check_meeting(definite, x + delta, x):
            return False
        if any(check_meeting(M, *X.T) for X in pairs(seed, d=2)):
            return False
    return True


def cosine(one, other):
    return float(np.vdot(one, other) / np.linalg.norm(one) / np.linalg.norm(other))


def kinds_of_start():
    """What is near to what; the noise of a start is 30 % at most."""
    near, layers_moved = 0.8, 0
    for layers, seed in product((1, 3), range(12)):
        arch = uniform(3, 3, layers, attention="softmax")
        weights = random_weights(R, arch, draw(layers))
        L, Ms = virtual_weights(R, weights)
        at = {
            kind: virtual_weights(R, draw_start(kind, arch, weights, draw(seed)).weights)
            for kind in ("near ρM", "transposes", "swapped", "−L")
        }
        multiples = [abs(cosine(one, M)) > near for one, M in zip(at["near ρM"].M, Ms, strict=True)]
        transposed = [
            (cosine(one, M) > near, cosine(one, M.T) > near)
            for one, M in zip(at["transposes"].M, Ms, strict=True)
        ]
        keys = np.linalg.svd(Ms[-1])[0][:, 0]
        values, values_before = (abs(np.linalg.svd(one)[2][0] @ keys) for one in (at["swapped"].L, L))
        moved = [cosine(one, M) < near for one, M in zip(at["swapped"].M, Ms, strict=True)]
        somewhere = [max(cosine(one, M) for M in Ms) > near for one in at["swapped"].M]
        layers_moved += layers > 1 and any(moved)
        if not (
            all(multiples)
            and all(map(any, transposed))
            and any(other for _, other in transposed)
            and (all(somewhere) if layers > 1 else values > near > values_before)
            and cosine(at["−L"].L, L) < -near
        ):
            return False
    return layers_moved > 2


@cache
def searched(case, starts=12, seed=0):
    """The first starts of the panel's 30."""
    return study_search(SearchSetting(case, starts=starts, seed=seed)).search


def found_of(search, symmetry):
    return sum(point.found for point in search.classes if symmetry in point.symmetry)


def both_solutions_are_found():
    search = searched("rank-one", 30)
    return len(search.classes) == 2 and [found_of(search, one) for one in ("rescaling", "swapped")] == [
        19,
        10,
    ]


@cache
def softmax_starts_arrive_at_the_weights():
    for case, starts, least in (("softmax-1", 30, 27), ("softmax-2", 12, 10), ("softmax-3", 12, 10)):
        search = searched(case, starts)
        (point,) = search.classes
        if point.symmetry != "the same" or not least <= point.found == search.verified:
            return False
    return True


def an_unlucky_seed():
    search = searched("softmax-3", 10, 1)
    return found_of(search, "the same") == search.verified <= 7


def everywhere_and_nowhere_else():
    turn, three = searched("softmax-turn"), searched("softmax-turn-3")
    ends = [one.virtual.M[1] for one in turn.outcomes if one.verified]
    apart = [np.abs(one - other).max() for i, one in enumerate(ends) for other in ends[:i]]
    return len(ends) == 12 and min(apart) > 1e-3 and found_of(three, "the same") == 12


@cache
def names_on_the_controls():
    panels = [ProofExplorer(), SingletonExplorer(), SearchExplorer()]
    proof, pair, search = (panel.controls for panel in panels)
    options = [
        {str(one[0]) for one in menu.options}
        for menu in (proof["experiment"], pair["candidate"], search["case"])
    ]
    found = (
        "my own" in options[0]
        and "M₁, another M₂" in options[1]
        and any("lightning, rank one" in one for one in options[2])
        and {proof["symmetric"].description, pair["symmetric"].description} == {"Sym M₁ times"}
        and pair["travel"].description == "way"
        and search["starts"].description == "starts"
    )
    for panel in panels:
        panel.close()
    return found


def tokens_are_drawn_together():
    settings = [ImmersionSetting(modes=("true",) * n, freed=((0.3, 0.3),) * n) for n in (1, 2, 3, 4)]
    left = [float(np.ptp(study_immersion(one).places[-1])) for one in settings]
    panel = ProofExplorer(state="layers=4")
    said = " ".join(note.text or "" for note in panel.figure.layout.annotations)
    panel.close()
    return sorted(left, reverse=True) == left and round(100 * left[-1], 3) == 0.009 and "0.0088 %" in said


def nearly_equal_tokens_say_little():
    """A change of M is seen with the square of the distance: half of it, a quarter."""
    net, (x, v) = real_network(1, 3), draw(12).standard_normal((2, 3))
    moved = net._replace(M=(net.M[0] + 0.1 * draw(13).standard_normal((3, 3)),))
    heard = []
    for size in (0.02, 0.01, 0.005):
        X = np.stack([x, x + size * v], axis=1)
        heard.append(np.abs(output(net, X) - output(moved, X)).max())
    return all(0.2 < two / one < 0.3 for one, two in zip(heard, heard[1:], strict=False))


def frozen_here_and_not_there():
    x = np.array([1.2, 0.0])
    X = np.stack([x, -x], axis=1)
    first, second = softmax_shares([5 * np.eye(2), -5 * np.eye(2)], X)
    return max(first) < 1e-6 and min(second) > 1 - 1e-6


CLAIMS = [
    ("depends on its **virtual weights** only", virtual_weights_are_enough),
    ("A layer mixes tokens, and at the end $L$ is applied once", virtual_weights_are_enough),
    (
        "and $\\theta'$ is any other choice of virtual weights, then $\\varphi_{\\theta'} \\ne "
        "\\varphi_\\theta$",
        no_other_weights_have_the_function,
    ),
    ("Almost all weights satisfy the hypotheses (Corollary A)", almost_all_weights_satisfy_the_hypotheses),
    ("Copies are treated alike, so they stay equal", copies_stay_equal),
    ("they add up to 1. So one number a column is enough", shares_are_those_of_softmax),
    ("\\qquad \\mu = \\frac{mP}{1 + mP}, \\quad \\nu = \\frac{Q}{Q + m}", shares_are_those_of_softmax),
    ("Compare with the network itself, three layers and four tokens", two_tokens_are_the_network),
    ("1 - \\mu - \\nu = \\dfrac{m\\,(1 - PQ)}{(1 + mP)(Q + m)}", the_determinant_in_fractions),
    (
        'predict("Two tokens meet in a layer if the product PQ is … (a number)"',
        tokens_meet_where_the_product_is_one,
    ),
    ("because $\\dot\\mu = \\mu(1 - \\mu)\\,\\dot p$", slope_of_a_share),
    ("both tokens become equal, all later ones too, and all later $p, q$ are 0", blind_after_a_collapse),
    ("Whatever comes after is blind", blind_after_a_collapse),
    (
        "then the two columns of $\\varphi_\\theta(X)$ differ for almost all $X$",
        columns_differ_for_almost_all_inputs,
    ),
    ("and if one of these is 0, they never differ", columns_never_differ_otherwise),
    (
        "the difference of the tokens is $\\delta$ times a number that is not 0, as long as "
        "$\\delta^\\top M_i \\delta \\ne 0$ for all $i$; at the end it is multiplied by $L$",
        the_difference_is_multiplied_layer_by_layer,
    ),
    (
        "For almost all $\\delta$ none of $L\\delta$ and $\\delta^\\top M_i \\delta$ is 0",
        forms_vanish_almost_nowhere,
    ),
    (
        "are algebraically independent over the rational functions of $X$",
        lambda: equations_of_degree_two(np.asarray) == 0 < equations_of_degree_two(turning),
    ),
    (
        "Nothing changes but the term of layer $i$: in the first case its tokens are those of $X$, in the "
        "second its $p_i, q_i$ are 0",
        frozen_or_collapsed_changes_one_term_only,
    ),
    (
        "Its part of degree 2 in $x_1$ is $-n_i\\, x_1^\\top M_i x_1$, and that in $x_2$ is "
        "$-k_i\\, x_2^\\top M_i x_2$",
        parts_of_degree_two,
    ),
    (
        "$z$ and $\\log(1 + e^z)$ have no linear relation, but the second exponential is $1 + e^z$",
        a_relation_without_a_linear_one,
    ),
    ("As $\\mathrm{Sym}\\,M_i \\ne 0$, both $n_i$ and $k_i$ are 0", two_logits_are_independent),
    ("(Three tokens are counted in the notebook", three_tokens_in_the_table),
    ("Two layers have two logits each", independent_logits),
    ("Special weights do no harm, and the hypothesis is needed", independent_logits),
    ("a layer with an antisymmetric matrix has one relation, $p + q = 0$", independent_logits),
    ("a layer behind it sees equal tokens, for which all logits are 0", blind_after_a_collapse),
    (
        "its two columns say $-\\mu(1-\\mu)\\,\\dot p_i\\, L\\delta = 0$ and "
        "$\\nu(1-\\nu)\\,\\dot q_i\\, L\\delta = 0$",
        columns_of_one_free_layer,
    ),
    (
        "so $\\dot p_i = (x_2 - x_1)^\\top \\dot M_i x_1 = 0$ for all $x_1, x_2$. So $\\dot M_i = 0$",
        logits_determine_the_matrix,
    ),
    (
        "(Twelve entries in all: $L$, $M_1$, $M_2$.)",
        lambda: immersion().everything.measured.num_columns == 12,
    ),
    (
        "all of M₁ and M₂, 8 of 12",
        lambda: immersion().experiments[0].so_far.blocks == (0, 4, 4) and staircase(immersion())[0] == 8,
    ),
    (
        "All of these are exact ranks modulo a prime",
        lambda: (
            staircase(immersion()) == [8, 4, 0]
            and all(one.so_far.measured.prime == OVER.p for one in immersion().experiments)
        ),
    ),
    ("Two tokens travel through the layers, from top to bottom", the_lines_run_down),
    ("Then choose *my own*", names_on_the_controls),
    ("and drag **Sym M₁ times** to 0. Which experiments", names_on_the_controls),
    ("On the right is what the experiments of the proof leave, and", experiments_stand_at_the_right),
    ("After each guess you may press a button instead", buttons_of_the_experiments),
    (
        "Frozen, the lines go straight down; collapsed, they meet and never part, and $M_2$ is hidden",
        lines_of_a_frozen_and_of_a_collapsed_layer,
    ),
    (
        'the proof needs that twice, for "all frozen" and for "layer 2 free" (hatched)',
        experiments_of_an_antisymmetric_layer,
    ),
    (
        "Two tokens always meet in this layer, and the four entries of $M_2$ show nowhere",
        lambda: (
            immersion(symmetric=0.0).everything.blocks == (0, 0, 4)
            and immersion(symmetric=0.0).met_after == 1
        ),
    ),
    (
        "With $L = 0$ the output is 0, and the eight entries of $M_1$ and $M_2$ do nothing",
        lambda: immersion(size=0.0).everything.blocks == (0, 4, 4),
    ),
    (
        "the kernel has dimension 4, in the exact count and in floating point",
        a_kernel_of_four,
    ),
    (
        "A *nearly* antisymmetric $M_1$ is as good as any other, and the last layer may be antisymmetric",
        lambda: all(
            immersion(**change).everything.kernel == immersion(**change).left.kernel == 0
            for change in (
                {"symmetric": 0.001},
                {"symmetric": 1e-6},
                {"symmetric": 0.0, "weak_layer": 2},
            )
        ),
    ),
    (
        "(the theorem does not cover this; *What happens outside* in",
        lambda: "$M_l$ antisymmetric, the others not: nothing is lost" in MATHEMATICS,
    ),
    (
        "With three *different* tokens an antisymmetric $M_1$ hides nothing",
        lambda: (
            [
                study_exponentials(ExponentialsSetting("antisymmetric", "first", t, d, 2)).related.kernel
                for t, d in ((3, 2), (3, 3), (4, 2), (2, 2))
            ]
            == [0, 0, 0, 4]
        ),
    ),
    ("(the notebook [Softmax](05_softmax_conjecture.ipynb) counts it)", three_tokens_in_the_table),
    (
        "$M_1 = 0$ hides all later layers, for every $t$",
        lambda: all(
            study_exponentials(ExponentialsSetting("zero", "first", t, 2, depth)).related.kernel
            == 4 * (depth - 1)
            for t, depth in product((2, 3, 4), (2, 3))
        ),
    ),
    (
        "softmax network of this kind is that of its set of virtual weights: $D$",
        the_dimension_is_that_of_the_virtual_weights,
    ),
    (
        "For one token $\\varphi(x) = Lx$",
        lambda: all(
            same(by_definition(real_network(3, seed), X), real_network(3, seed).L @ X)
            for seed, X in enumerate(draw(1).standard_normal((4, 3, 1)))
        ),
    ),
    ("is not 0 for almost all $K_i, Q_i$", a_form_of_keys_and_queries),
    (
        "it is $a(2d - a)$, and $d^2$ if $a > d$",
        lambda: all(
            rank_of_products(a, d) == (d * d if a > d else a * (2 * d - a))
            for a, d in product(range(1, 6), range(1, 5))
        ),
    ),
    (
        "have the same row space $R$, of dimension $\\delta$. So $L$ is a matrix of rank "
        "$\\delta$, $M_1$ has rank "
        "at most $a_1$, and each later $M_i = U_{i-1}^\\top A_i\\, U_{i-1}$ has rank at most "
        "$a_i$, with its rows "
        "and columns in $R$",
        one_row_space,
    ),
    ("Then $V_1^\\top W^\\top$ is the identity on $R$", all_virtual_weights_occur),
    (
        "Matrices $L$ of size $d_l \\times d_0$ and rank $\\delta$: $\\delta(d_0 + d_l - \\delta)$",
        lambda: all(
            rank_of_products(r, d0, dl) == r * (d0 + dl - r)
            for r, d0, dl in ((1, 3, 2), (2, 3, 4), (2, 2, 2))
        ),
    ),
    (
        "The sum is Eq. 16",
        lambda: (
            all(
                dim(widths, a, tokens=2, attention="softmax") == eq_16(widths, a) for widths, a in BOTTLENECKS
            )
            and dim((2, 4, 2), (2, 2), attention="softmax") != eq_16((2, 4, 2), (2, 2))
        ),
    ),
    ("and more: no bottleneck is needed", the_dimension_is_that_of_the_virtual_weights),
    ("a theorem was applied, and its count made twice, in two ways", two_counts_of_the_largest),
    (
        "the notebook [Why the formula](04_why_the_formula.ipynb) lets you move it",
        lambda: (
            "FlagExplorer()" in (ROOT / "notebooks/04_why_the_formula.py").read_text(encoding="utf-8")
            and "### Lemma D." in MATHEMATICS
        ),
    ),
    ("Change the last digit of the dimension. Who notices?", a_new_seal_is_not_enough),
    ("Ball arithmetic does not use Ax's theorem", which_routes_use_ax),
    (
        "it takes the true exponentials, encloses every number in an interval",
        lambda: balls_hold_true_exponentials() and not balls_hold_true_exponentials(rounded_exponentials),
    ),
    (
        "$\\theta'$ satisfies the hypotheses, too: otherwise the columns of "
        "$\\varphi_{\\theta'}(X)$ would agree",
        columns_never_differ_otherwise,
    ),
    ("Split off the first layers: $\\varphi_\\theta(X) = F(X S(P, Q))$", the_first_layer_split_off),
    (
        "for the parts of degree 2 in $x_1$, of degree 2 in $x_2$, and the mixed part",
        parts_say_what_the_relation_says,
    ),
    (
        '"M₁′ = 2M₁ + N, N antisymmetric. How many of p, q, p′, q′ are independent over ℚ?"',
        lambda: independent_of_four("same symmetric part", 3),
    ),
    (
        "| B2 | $\\mathrm{Sym}\\,M_1' = \\rho\\,\\mathrm{Sym}\\,M_1$ with a rational $\\rho$, but "
        "$M_1' \\ne \\rho M_1$ | $P'Q' = (PQ)^\\rho$ |",
        powers_of_the_cases,
    ),
    (
        "| B1 | $M_1' = \\rho M_1$ with a rational $\\rho$ | $P' = P^\\rho$, $Q' = Q^\\rho$ |",
        lambda: powers_of_the_cases() and independent_of_four("positive", 2),
    ),
    (
        "is not a rational multiple of $\\mathrm{Sym}\\,M_1$ | none |",
        lambda: independent_of_four("unrelated", 4),
    ),
    (
        "($\\sqrt 2\\, M_1$ is case A",
        lambda: (
            independent_of_four("irrational", 4)
            and study_singleton(SingletonSetting("irrational")).case == "A"
        ),
    ),
    (
        "At $g = 1$ all four exponentials are 1, both networks collapse, and all later logits are 0",
        all_later_logits_vanish_at_one,
    ),
    (
        "at $g = 1$ both first layers collapse, so all later $p, q$ are 0",
        all_later_logits_vanish_at_one,
    ),
    ("\\mathbb{Z}p' + \\mathbb{Z}q'$: quadratic forms", logits_are_quadratic_forms),
    ("they are sums of positive numbers", denominators_are_sums_of_positive_numbers),
    (
        "with a denominator that is positive for positive exponentials",
        denominators_are_sums_of_positive_numbers,
    ),
    ("with denominators $1 + mP$, $Q + m$ and so on", denominators_of_a_later_logit),
    ("All four are free", lambda: independent_of_four("unrelated", 4)),
    ("On the left the two tokens $XS(P, Q)$ are as general as any", case_a_ends),
    ("The left side has not moved, and by (†) its columns differ", case_b2_ends),
    ("that is $x_1 = y_2 + (1 + mP)(y_1 - y_2)$", the_runaway_token),
    ("Set $P'Q' = 1$ and leave $PQ \\ne 1$. On the right the columns agree", case_a_ends),
    (
        "then $Q' = (PQ)^\\rho / P' \\to \\infty$, and the right side saturates: columns agree",
        case_b2_ends,
    ),
    (
        "The left side tends to $(Lx_1, Lx_1)$. As $P' = P^\\rho \\to \\infty$ and $Q' \\to 0$, "
        "the right side tends "
        "to $(L'x_2, L'x_2)$",
        opposite_ends,
    ),
    ("\\tau = \\frac{1 + mP}{1 + mP^\\rho}", the_runaway_token),
    ("If $\\rho > 1$ then $\\tau \\to 0$ as $P \\to \\infty$", the_runaway_token),
    (
        "Now $x_2$ stands still and $x_1$ is pulled towards it, in the two networks by different amounts",
        the_runaway_token,
    ),
    ("Choose *M₁, another M₂*, and drag **Sym M₁ times** to 0", names_on_the_controls),
    ("Both networks, on the same tokens", both_networks_on_the_same_tokens),
    ("drag **Sym M₁ times** to 0, or press the buttons", buttons_of_the_second_step),
    ("Unrelated, or $\\sqrt 2\\,M_1$: $PQ = 1$ in one of them only", ends_of_the_ways),
    ("The same symmetric part: one saturates", ends_of_the_ways),
    ("$\\rho < 0$: one ends at $x_1$, the other at $x_2$", ends_of_the_ways),
    (
        "one network brings the runaway token back to where it was, the other all the way to its neighbour",
        ends_of_the_ways,
    ),
    (
        "Another $M_2$: both first layers are frozen, and then the second layer of one collapses",
        ends_of_the_ways,
    ),
    (
        "they have met before $M_2$ looks at them, and every $M_2$ gives the same function",
        every_second_matrix_gives_the_same_function,
    ),
    (
        "The ends of the ways, exactly modulo a prime, for two hundred random pairs",
        two_hundred_pairs,
    ),
    ("another $M_2$, which is a second preimage", a_second_preimage),
    ("Its outputs are the same, exactly, and in floating point up to rounding", a_second_preimage),
    (
        "the weights $(A, V)$ with a given function are one orbit of the changes of basis between layers",
        one_orbit,
    ),
    ("The depth is determined, too", depth_is_determined),
    (
        "Free the exponentials of this layer by Lemma F and set $PQ = 1$: its columns agree, those "
        "of $LX$ do not",
        depth_is_determined,
    ),
    (
        "The first token sees itself, so $\\mu = 0$, and there is a single exponential $Q$ a layer",
        first_token_sees_itself,
    ),
    ("since no later token is seen by them", first_token_sees_itself),
    (
        "the columns differ for almost all $X$, whatever the $M_i$ are",
        masked_columns_differ_whatever_the_matrices_are,
    ),
    ("every direction changes the function; so the dimension is $D$ again", masked_dimensions),
    (
        "for almost every $\\theta$ no other $\\theta'$ of the same architecture has its function",
        lambda: no_other_weights_have_the_function(causal=True),
    ),
    (
        "*Directions.* $Q_1, \\dots, Q_l$ are algebraically independent",
        lambda: (
            equations_of_degree_two(np.asarray, causal=True)
            == equations_of_degree_two(turning, causal=True)
            == 0
            < equations_of_degree_two(np.zeros_like, causal=True)
        ),
    ),
    ("(All is polynomial in $\\nu = Q/(Q+1)$, so the limit does no harm.)", polynomial_in_the_share),
    (
        "in which some $M_i' = 0$ form a set $Z$ of smaller dimension",
        a_zero_matrix_costs_dimensions,
    ),
    ("means $M_1' = \\rho M_1$, so there is no case B2", masked_relations),
    (
        "comparing $Q_{i-1} = 0$ with the limit $Q_{i-1} \\to \\infty$, where the tokens meet",
        masked_frozen_or_collapsed,
    ),
    (
        "$\\dot q_i = (x_1 - x_2)^\\top \\dot M_i x_2 = 0$ for all $x_1, x_2$, so $\\dot M_i = 0$",
        logits_determine_the_matrix,
    ),
    ("The first column of the output is $L x_1$, so $L' = L$", first_token_sees_itself),
    (
        "there both first layers collapse, and all later logits tend to 0. Let $Q' \\to \\infty$: "
        "the columns on "
        "the right agree, on the left they do not",
        masked_collapse_in_the_limit,
    ),
    ("with $\\tau = (1 + Q)/(1 + Q^\\rho)$. For $\\rho > 1$ this tends to 0", the_masked_runaway_token),
    (
        "The same base point works, as $Q$ and $Q' = Q^\\rho$ tend to infinity together",
        no_point_collapses_both,
    ),
    ("If $\\rho = 1$, then $Q \\to 0$ gives $F = F'$: peel", masked_frozen_or_collapsed),
    ("*$\\rho < 0$.* No point collapses both networks now", no_point_collapses_both),
    (
        "all $\\hat q_j \\to 0$, and the $\\hat q_j'$ become the logits of $F'$ on $X$ itself",
        lambda: (
            masked_collapse_in_the_limit()
            and same(tails(0.0)[0], logits(R, real_network(2).M[0], pairs())[1])
            and np.abs(tails(1e-9)[0] - tails(0.0)[0]).max()
            < 1e-7
            < np.abs(tails(1.0)[0] - tails(0.0)[0]).max()
        ),
    ),
    (
        "\\delta^\\top M_1 \\delta = c\\, \\delta^\\top M_1 x_2",
        lambda: all(
            same(*the_relation(rho, first)[:2])
            for rho, first in product((-1, -2, -0.5), (turning, np.asarray))
        ),
    ),
    (
        "the terms with $x_2$ give $\\nu + \\nu' = 1$, which happens for $\\rho = -1$ only",
        lambda: [shares_add_up_to_one(rho) for rho in (-1, -2, -0.5, -3, 1)] == [True] + 4 * [False],
    ),
    (
        "So $c = 0$, Lemma F holds, and $Q \\to 0$ collapses the right side only",
        lambda: (
            [shares(0, Q, causal=True).nu for Q in (0.0, inf)] == [0, 1]
            and all(
                (one.left_meet, one.right_meet) == (False, True)
                for s in range(3)
                for one in [study_singleton(SingletonSetting("negative", causal=True, seed=s)).ending]
            )
        ),
    ),
    (
        "where all $M_i$ are antisymmetric its relation does exist",
        the_relation_exists_where_all_are_antisymmetric,
    ),
    ("The ends of the ways again, now with a mask", masked_ends_of_the_ways),
    (
        "what was a second preimage above, with an antisymmetric $M_1$, is none here",
        masked_preimages_are_gone,
    ),
    (
        "The panels of both theorems have a control **causal mask** under *More*",
        lambda: all(
            stands_under_more(one, "causal", "causal mask") for one in (ProofExplorer, SingletonExplorer)
        ),
    ),
    ("Set **L times** to 0 (under *More*)", lambda: stands_under_more(ProofExplorer, "size", "L times")),
    (
        "Two of three experiments cannot be made as the proof says, since $Q_1 = 1$; and still no "
        "direction is lost",
        lambda: (
            [one.possible for one in immersion(causal=True, symmetric=0.0).experiments]
            == [False, True, False]
            and immersion(causal=True, symmetric=0.0).everything.kernel == 0
            and immersion(causal=True, symmetric=0.0).spectrum.kernel == 0
        ),
    ),
    ("all exponentials are 1, so nothing has to be freed", hidden_by_two_zero_layers),
    ("in two dimensions one direction does nothing", hidden_by_two_zero_layers),
    (
        "It is an antisymmetric $\\dot M_2$ together with $\\dot M_1 = -\\frac12 \\dot M_2$",
        the_hidden_direction,
    ),
    (
        "In floating point a third token shows it, and so does a layer with $M \\ne 0$ between the two",
        what_shows_the_hidden_direction,
    ),
    (
        "If two may depends on the number of tokens",
        what_shows_the_hidden_direction,
    ),
    (
        "my_x1, my_x2 = [2, 1], [1, 0]",
        lambda: (
            bool(check_meeting([[1, 0], [0, -1]], [2, 1], [1, 0]))
            and not check_meeting([[1, 0], [0, -1]], [2, 1], [1, 1])
        ),
    ),
    ("A symmetric part with both signs has such a $\\delta$", both_signs_have_such_a_difference),
    ("For almost all other $x_1, x_2$ the tokens stay apart", both_signs_have_such_a_difference),
    (
        "Starts are random, or near the candidates of Theorem B, or transposed, or with layers swapped (or "
        "values and keys, in the last layer), or with $-L$",
        kinds_of_start,
    ),
    ("Begin with the **network** *lightning, rank one*", names_on_the_controls),
    (
        "of 30 starts 10 end at the weights with values and keys swapped",
        both_solutions_are_found,
    ),
    (
        "(with other seeds often half of them)",
        lambda: found_of(searched("rank-one", 12, 1), "swapped") >= 5,
    ),
    (
        "With softmax nearly all of 30 starts arrive, and all of them at the given weights",
        softmax_starts_arrive_at_the_weights,
    ),
    ("(With three layers and another seed it may be only half of them", an_unlucky_seed),
    ("every start arrives, each somewhere else: $M_2$ can be anything", everywhere_and_nowhere_else),
    ("A third token brings them all back to the given weights", everywhere_and_nowhere_else),
    (
        "44,060 starts of the search: no second solution",
        lambda: (
            "527 targets with 44,060 starts gave no verified point but the true one"
            in " ".join(MATHEMATICS.split())
            and softmax_starts_arrive_at_the_weights()
        ),
    ),
    (
        "linear independence measured exactly, also for special weights; antisymmetric $M_i$ as control",
        independent_logits,
    ),
    (
        "320 exact kernels, among them special weights; antisymmetric $M_1$ as control",
        lambda: (
            "kernel 0 in 320 cases at special weights" in " ".join(MATHEMATICS.split()) and a_kernel_of_four()
        ),
    ),
    (
        "(repositories `noskip_transformer_identifiability`, `attention_only_transformer_identifiability`)",
        lambda: all(
            f"`{name}_transformer_identifiability`" in MATHEMATICS for name in ("noskip", "attention_only")
        ),
    ),
    (
        "Part 4 of [docs/mathematics.md](../docs/mathematics.md)",
        lambda: all(
            f"\n{title}" in MATHEMATICS
            for title in (
                "## Part 4. Softmax",
                "### Theorem E",
                "*One zero layer.*",
                "**What happens outside.**",
            )
        ),
    ),
    (
        "J. Ax, *On Schanuel's conjectures*, Annals of Mathematics 93 (1971)",
        lambda: (
            "J. Ax, *On Schanuel's conjectures*, Annals of Mathematics 93 (1971), 252–268, Theorem 3"
            in " ".join(MATHEMATICS.split())
        ),
    ),
    (
        "the rank of weights $\\mapsto (L, M)$ was $D$ in 2,898 networks",
        lambda: (
            "equals $D$ in 2,898 cases" in " ".join(MATHEMATICS.split())
            and all(
                set_of_virtual_weights(arch)
                == dim(arch.widths, arch.head_dims, tokens=2, attention="softmax")
                for arch in random_networks(12)
            )
        ),
    ),
    (
        "has one set of matrices $L, M_1, \\dots, M_l$ only",
        no_other_weights_have_the_function,
    ),
    (
        "longer sequences add nothing to identifiability",
        lambda: all(
            one < two == four
            for shape in BOTTLENECKS
            for one, two, four in [[dim(*shape, tokens=t, attention="softmax") for t in (1, 2, 4)]]
        ),
    ),
    ("ask it at inputs with two different tokens", no_other_weights_have_the_function),
    ("if they differ, so do the functions", no_other_weights_have_the_function),
    ("0.009 % of their distance is left", tokens_are_drawn_together),
    (
        "what a layer does to tokens that are nearly equal is hard to hear",
        nearly_equal_tokens_say_little,
    ),
    (
        "$p = 5\\,(x_2 - x_1) \\cdot x_1$ and $q = 5\\,(x_1 - x_2) \\cdot x_2$",
        lambda: all(
            same(logits(R, 5 * np.eye(2), X), [5 * (y - x) @ x, 5 * (x - y) @ y])
            for X in pairs(d=2)
            for x, y in [X.T]
        ),
    ),
    (
        "both are $-10\\,|x_1|^2$, so $|x_1| \\ge 1.2$ does it",
        lambda: all(
            p < log(1e-6) and np.isclose(p, -14.4)
            for p in logits(R, 5 * np.eye(2), np.array([[1.2, -1.2], [0.0, 0.0]]))
        ),
    ),
    ("tokens that freeze one layer need not freeze the next", frozen_here_and_not_there),
]

ELSEWHERE = [
    (quote, f"test_{file}.py::test_{test}")
    for file, test, *quotes in (
        (
            "immersion",
            "one_experiment_after_the_other_the_kernel_falls_to_zero",
            "then every direction $(\\dot L, \\dot M_1, \\dots, \\dot M_l)$ changes the function",
            "This works for every $i$. Nothing is left",
        ),
        (
            "immersion",
            "an_experiment_shows_l_and_the_matrix_of_the_layer_that_is_free",
            "What is left is $\\dot L X = 0$ for all $X$. So $\\dot L = 0$",
        ),
        (
            "immersion",
            "special_weights_that_satisfy_the_hypotheses_are_no_exception",
            "That all $M_i$ may be equal, symmetric, or of rank one",
        ),
        (
            "immersion",
            "under_a_mask_one_zero_layer_breaks_the_argument_and_not_the_conclusion",
            "one $M_i$ may be 0, by another argument",
        ),
        (
            "immersion",
            "under_a_mask_antisymmetric_matrices_are_no_exception_either",
            "*For $t \\ge 2$, $L \\ne 0$ and all $M_i \\ne 0$ every direction",
        ),
        (
            "exponentials",
            "ignoring_pq_equal_one_hides_four_directions",
            "This is the negative control",
        ),
        ("formulas", "D_counts_the_virtual_weights", "which Lemma D counts: $D$"),
        (
            "two_tokens",
            "the_tokens_stay_on_their_line_and_their_difference_is_multiplied_by_the_determinant",
            "the new tokens lie on the line through the old ones, even between them",
            "Their difference is $\\delta$ times $\\det S = 1 - \\mu - \\nu$",
        ),
        (
            "two_tokens",
            "a_frozen_layer_does_nothing_and_hides_its_weights",
            "the layer does nothing at all. Its derivative in $M$ is 0 as well",
            "All others do nothing, and neither do their derivatives",
        ),
        (
            "two_tokens",
            "a_saturated_layer_sends_both_tokens_to_one_of_them",
            "both tokens become $x_1$ (or, the other way round, $x_2$)",
        ),
        (
            "two_tokens",
            "the_two_logits_sum_to_a_form_in_the_difference_that_sees_the_symmetric_part_only",
            "Indeed $p + q = -\\delta^\\top M \\delta$",
            "this sees the symmetric part of $M$ only",
            "An antisymmetric $M_1$ has $p + q = 0$, so $PQ = 1$ whatever the tokens are",
            "can be neither frozen nor left: $PQ = 1$ always",
        ),
        (
            "two_tokens",
            "over_a_prime_field_dual_numbers_find_the_same_derivative",
            "This derivative is a rational function of $X, P, Q$",
        ),
        (
            "two_tokens",
            "under_a_mask_the_first_token_stays_and_the_second_reaches_it_only_in_the_limit",
            "the tokens meet in the limit $Q \\to \\infty$ only",
        ),
        (
            "exponentials",
            "no_equation_of_degree_two_binds_free_exponentials_of_two_tokens",
            "exponentials satisfy no algebraic relations, except those that come from linear relations",
        ),
        (
            "exponentials",
            "the_kernel_with_relations_is_that_of_the_true_softmax",
            "so by Lemma G it is 0 for **free** $P, Q$",
        ),
        (
            "proof_explorer",
            "every_bar_is_a_measured_kernel",
            "On the right is what the experiments of the proof leave",
        ),
        (
            "proof_explorer",
            "the_dots_are_the_measured_spectrum_split_at_the_exact_rank",
            "the singular values of the derivative itself",
        ),
        (
            "immersion",
            "floating_point_with_the_true_exponentials_finds_the_exact_kernel",
            "with its true exponentials and without Ax's theorem",
        ),
        (
            "proof_explorer",
            "the_name_of_a_slider_says_what_it_weakens",
            "with the mask, set **M₁ times** to 0",
        ),
        (
            "certificate",
            "one_changed_digit_is_noticed",
            "A changed digit breaks the seal",
        ),
        (
            "certificate",
            "a_wrong_dimension_with_a_seal_that_fits_is_refuted",
            "If the seal is renewed as well, then a wrong dimension is still found",
        ),
        (
            "certificate",
            "what_checks_uses_nothing_of_what_finds",
            "the check computes everything again, in another way",
        ),
        (
            "singletons",
            "two_functions_are_the_same_exactly_if_they_are_in_floats",
            "says that within these relations the exponentials of the first layers are free",
        ),
        (
            "singletons",
            "the_end_of_the_way_tells_them_apart_as_the_proof_says_for_100_seeds",
            "Now each case but $M_1' = M_1$ is refuted by a setting",
            "If $\\rho < 1$, exchange $\\theta$ and $\\theta'$: then $1/\\rho$ takes the place of $\\rho$",
        ),
        (
            "singletons",
            "peeling_freezes_the_first_layer_and_then_moves_the_second",
            "Freeze both first layers: $F = F'$, two networks with a layer less",
        ),
        (
            "singletons",
            "the_way_begins_at_the_truth_and_keeps_the_relations",
            "with the exponentials that the relations allow",
            "Drag **way** from 0, the true exponentials, to 1",
        ),
        (
            "singletons",
            "relations_hold_at_random_tokens_and_there_are_no_more_of_them",
            "the rank over $\\mathbb{Q}$, exact, in the panel",
        ),
        (
            "singletons",
            "the_picture_ends_as_the_exact_comparison_does",
            "the ends of the ways, modulo a prime, and the ways in floating point",
        ),
        (
            "certificate",
            "a_singular_point_is_not_proved_and_no_certificate",
            "and proves that a determinant is not 0",
        ),
        (
            "measure",
            "what_one_more_input_adds_never_grows",
            "since a kernel can shrink only finitely often",
        ),
        (
            "search",
            "rank_one_layers_have_two_points",
            "There *are* two solutions: Theorem 3.2 of the paper",
        ),
        (
            "search",
            "every_known_point_is_found_and_every_point_found_has_the_function",
            "move until the function is that of the given network",
            "But one that finds the second solution where there is one, and never where the theorem says "
            "that there is none",
        ),
        (
            "search",
            "a_search_that_finds_nothing_says_that_this_is_no_information",
            "one that arrives nowhere says nothing at all",
        ),
    )
    for quote in quotes
]
