"""What notebooks/05_softmax_conjecture.py says in words: see tests/test_claims.py."""

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import flint
import numpy as np

import neuroviz as nv
from claims.common import (
    OVER,
    A,
    dim,
    domains,
    measured,
    random_networks,
    shown,
    under_more,
    uniform,
)
from neuroviz.beyond.proof.exponentials_study import (
    ExponentialsSetting,
    measure_attention,
    study_exponentials,
)
from neuroviz.beyond.proof.logit_relations import logit_differences, measure_independence
from neuroviz.certificate.balls import ball_jacobian, ball_tangents
from neuroviz.engine.block import Block
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, forward, random_tokens, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.engine.symmetry import rescale, virtual_weights
from neuroviz.explorables import Figure3Explorer
from neuroviz.kit import theme
from neuroviz.kit.plot import make
from neuroviz.softmax.figure3 import Figure3Setting, float32_rank, study_figure3
from neuroviz.softmax.figure3_figure import figure3_parts
from neuroviz.softmax.known import measure_at_temperature
from neuroviz.softmax.known_table import known_table
from neuroviz.softmax.one_layer import integer_layer, powers_layer, softmax_layer
from neuroviz.softmax.one_layer_limit import first_order, limit_study
from neuroviz.softmax.one_layer_walk import read_off, read_off_exactly

FIGURE_3 = [25, 40, 57, 76, 97, 120, 145, 172]
ORDER = ((1, 0), (2, 0), (0, 1), (2, 1), (0, 2), (1, 2))  # of logit_differences: y_ji, column by column


def more_than_lightning(*sizes, **more):
    return dim(*sizes, attention="softmax", **more) - dim(*sizes, **more)


def layer(d=3, d_out=3, seed=0):
    draw = np.random.default_rng([seed, d])
    return draw.standard_normal((d, d)), draw.standard_normal((d_out, d))


def softmax(logits):
    return Reals().softmax(logits, False, None)


def outputs(A_, V, X, temperature=1.0):
    return softmax_layer(A_, V, temperature)(X[None])[0]


# The first and the last section of one layer: factors


def factor_is_seen(attention):
    """Whether A doubled and V halved, in either layer of two, gives another function."""
    arch, draw = A((3, 3, 3), (2, 2), attention=attention), np.random.default_rng(0)
    weights, X = random_weights(Reals(), arch, draw), random_tokens(Reals(), arch, 2, draw)
    before = forward(Reals(), attention, weights, X)
    return [
        not np.allclose(before, forward(Reals(), attention, rescale(Reals(), weights, k, 2.0), X))
        for k in (0, 1)
    ]


def doubling_is_sharper():
    draw = np.random.default_rng(0)
    return all(
        (softmax(2 * s).max(axis=0) > softmax(s).max(axis=0)).all() for s in draw.standard_normal((20, 4, 4))
    )


# Reading the weights off


def tokens(*columns, t):
    return np.column_stack([*columns, *[np.zeros(len(columns[0]))] * (t - len(columns))])


def outputs_with_few_tokens_on(d=3, d_out=2):
    """Whether the three formulas for the outputs hold: last column, first column, two tokens."""
    for seed, t in ((0, 2), (1, 3), (2, 5)):
        A_, V = layer(d, d_out, seed)
        x, y = np.random.default_rng(seed).standard_normal((2, d))
        E, F = np.exp(x @ A_ @ x), np.exp(y @ A_ @ x)
        one, two = outputs(A_, V, tokens(x, t=t)), outputs(A_, V, tokens(x, y, t=t))
        yield (
            np.allclose(one[:, -1], V @ x / t),
            np.allclose(one[:, 0], E / (E + t - 1) * V @ x),
            np.allclose(two[:, 0], (E * V @ x + F * V @ y) / (E + F + t - 2)),
        )


def a_zero_looks_at_all_alike():
    A_, _ = layer()
    X = np.random.default_rng(1).standard_normal((3, 4))
    X[:, 2] = 0
    S = softmax(X.T @ A_ @ X)
    return np.allclose(S[:, 2], 1 / 4) and not np.allclose(S[:, 1], 1 / 4)


def values_come_out_column_by_column():
    for seed, t in ((0, 2), (1, 3), (2, 5)):
        A_, V = layer(3, 2, seed)
        read = [t * outputs(A_, V, tokens(e, t=t))[:, -1] for e in np.eye(3)]
        if not np.allclose(np.column_stack(read), V):
            return False
    return True


def logits_with_one_token_on():
    A_, _ = layer()
    x = np.random.default_rng(4).standard_normal(3)
    X = tokens(x, t=4)
    logits = X.T @ A_ @ X
    return np.allclose(logits[:, 0], [x @ A_ @ x, 0, 0, 0]) and not logits[:, 1:].any()


def read_by_hand(d=3, t=4, rank=3):
    """A from outputs and V alone: E from one token, then F from two."""
    A_, V = layer(d)
    V = V if rank > 1 else np.outer(V[:, 0], V[0])
    found, values = np.empty((d, d)), V.T
    E = []
    for i, e in enumerate(np.eye(d)):
        out = outputs(A_, V, tokens(e, t=t))[:, 0]
        share = out @ values[i] / (values[i] @ values[i])
        E.append(share * (t - 1) / (1 - share))
        found[i, i] = np.log(E[i])
    for i, j in np.ndindex(d, d):
        if i != j:
            out = outputs(A_, V, tokens(np.eye(d)[j], np.eye(d)[i], t=t))[:, 0]
            known, unknown = E[j] * values[j] - (E[j] + t - 2) * out, out - values[i]
            found[i, j] = np.log(known @ unknown / (unknown @ unknown))
    return found, A_


def one_token_gives_E():
    """And where Vx = 0 it does not: then every A has the same output there."""
    found, A_ = read_by_hand()
    V = np.array([[1.0, 2.0, 0.0]])
    hidden = [outputs(layer(seed=s)[0], V, tokens(np.eye(3)[2], t=3))[:, 0] for s in (0, 1)]
    return np.allclose(np.diag(found), np.diag(A_)) and not np.any(hidden)


def exact_walk(d, seed):
    draw = np.random.default_rng([seed, d])
    return read_off_exactly(*integer_layer(d, 2, 2, draw), tokens=3)


def powers_of_three():
    """One value of the exact layer, from Python's own powers."""
    for seed in range(4):
        exact = exact_walk(3, seed)
        x, t, p = np.array([1.0, -1.0, 1.0]), 3, exact.powers.over.p
        E = pow(3, int(x @ exact.A @ x), p)
        expected = [E * pow(E + t - 1, -1, p) * int(v) % p for v in exact.V @ x]
        out = powers_layer(exact.A, exact.V, exact.powers)(tokens(x, t=t)[None])[0, :, 0]
        if [int(number) % p for number in out] != expected or not (exact.A == exact.A.round()).all():
            return False
    return True


def squares_give_the_symmetric_part(d):
    """The forms xᵀAx at e_j and e_j + e_k: their rank as equations on A, and on its antisymmetric part."""
    xs = [*np.eye(d), *(np.eye(d)[j] + np.eye(d)[k] for j in range(d) for k in range(j))]
    forms = np.array([np.outer(x, x).ravel() for x in xs])
    hidden = np.array([(U - U.T).ravel() for U in np.eye(d * d).reshape(-1, d, d)])
    return exact_rank(forms, OVER) == d * (d + 1) // 2 and not (forms @ hidden.T).any()


def signs_keep_values_apart():
    turned = 0
    for seed in range(6):
        A_, V = layer(3, 2, seed)
        for probe in read_off(softmax_layer(A_, V), 3, 3).steps[2].probes:
            apart, together = (np.abs(V @ (probe.x + s * probe.y)).max() for s in (-1, 1))
            if apart < together - 1e-9:
                return False
            turned += (probe.y < 0).any()
    return turned > 0


def known_of_A(A_, V, t=3, temperature=1.0, scale=None):
    """How many entries are read."""
    found = read_off(softmax_layer(A_, V, temperature), 3, t, temperature, scale)
    return int((~np.isnan(found.A)).sum())


def six_inputs():
    """Step 3 takes six, none of them on the diagonal, which is known before it."""
    A_, V = layer()
    found = read_off(softmax_layer(A_, V), 3, 3)
    before, probes = found.after(2).A, found.steps[2].probes
    return (
        len({probe.place for probe in probes if probe.place[0] != probe.place[1]}) == 6 == len(probes)
        and not np.isnan(found.A).any()
        and np.array_equal(~np.isnan(before), np.eye(3, dtype=bool))
        and np.allclose(np.diag(before), np.diag(A_))
    )


def outputs_are_multiples_of_one_vector():
    """With V of rank one, and not with one of rank two."""
    draw, ranks = np.random.default_rng(0), []
    for V in (np.outer([1.0, 2.0], [1.0, -1.0, 3.0]), draw.standard_normal((2, 3))):
        A_ = draw.standard_normal((3, 3))
        Y = np.column_stack([outputs(A_, V, draw.standard_normal((3, 4))) for _ in range(4)])
        ranks.append(np.linalg.matrix_rank(Y, rtol=1e-9))
    return ranks == [1, 2]


def hidden_by_sharp_attention():
    cold = {"temperature": 0.01}
    return known_of_A(*layer(), **cold, scale=1.0) < 9 == known_of_A(*layer(), **cold)


# The lightning limit


def shrinks_by(t, of, seed=0):
    """By which factor a gap shrinks when a large τ is doubled."""
    A_, V = layer(seed=seed)
    X = np.random.default_rng(seed).standard_normal((3, t))
    gaps = []
    for tau in (1e3, 2e3):
        mean, first = first_order(A_, V, X, tau)
        gaps.append(np.linalg.norm(outputs(A_, V, X, tau) - mean - (first if of == "both" else 0)))
    return gaps[0] / gaps[1]


def about(number, wanted):
    return abs(number / wanted - 1) < 0.02


def first_order_seen(A_, V, X, temperature=1e5):
    """The mean that is left at an endless temperature, and τ times the distance from it at a high one."""
    mean = outputs(A_, V, X, 1e15)
    return mean, temperature * (outputs(A_, V, X, temperature) - mean)


def first_order_is_centred(t=4):
    A_, V = layer()
    X = np.random.default_rng(0).standard_normal((3, t))
    centred = X - X.mean(axis=1, keepdims=True)
    C = np.eye(t) - np.ones((t, t)) / t
    mean, first = first_order_seen(A_, V, X)
    return (
        np.allclose(mean, np.repeat((V @ X).mean(axis=1, keepdims=True), t, axis=1))
        and np.allclose(first, V @ centred @ centred.T @ A_ @ X / t, atol=1e-3)
        and not np.allclose(first, V @ X @ X.T @ A_ @ X / t, atol=1e-3)
        and np.allclose(X @ C, centred)
        and np.allclose(C @ C.T, C)
    )


def centred_logits():
    A_, _ = layer()
    X = np.random.default_rng(5).standard_normal((3, 4))
    s = X.T @ A_ @ X
    return np.allclose((np.eye(4) - np.ones((4, 4)) / 4) @ s, s - s.mean(axis=0))


def expansion_of_a_column():
    """softmax(s/τ) = (1 + (s − s̄)/τ)/t up to 1/τ²."""
    s, gaps = np.random.default_rng(0).standard_normal((4, 1)), []
    for tau in (1e3, 2e3):
        gaps.append(np.abs(softmax(s / tau) - (1 + (s - s.mean()) / tau) / 4).max())
    return about(gaps[0] / gaps[1], 4)


def two_numbers_are_a_tanh():
    s = np.random.default_rng(0).standard_normal((20, 2))
    shares = np.array([softmax(pair[:, None])[:, 0] for pair in s])
    halves = 0.5 + 0.5 * np.tanh((s[:, 0] - s[:, 1]) / 2)
    return np.allclose(shares[:, 0], halves) and np.allclose(np.tanh(s) + np.tanh(-s), 0)


def mean_is_divided():
    A_, V = layer()
    X = np.random.default_rng(0).standard_normal((3, 3))
    (mean, first), (other, same) = first_order_seen(A_, V, X), first_order_seen(3 * A_, V / 3, X)
    return np.allclose(first, same, atol=1e-3) and np.allclose(other, mean / 3)


def logits_are_divided(log):
    A_, V = layer()
    X = np.random.default_rng(0).standard_normal((3, 3))
    E = np.exp(X.T @ A_ @ X / 10**log)
    return np.allclose(softmax_layer(A_, V, 10**log)(X[None])[0], V @ X @ (E / E.sum(axis=0)))


def gaps_along_the_temperature():
    """The rescaling's ends at a half, those of φ at 0."""
    path = limit_study(*layer(), np.random.default_rng(0).standard_normal((3, 3))).path[8::4]
    last = path[-1]
    return (
        [round(np.log10(point.temperature)) for point in path] == [0, 1, 2, 3, 4]
        and min(point.rescaled_gap for point in path) > 0.3
        and about(last.rescaled_gap, 0.5)
        and last.mean_gap < 1e-2
        and last.first_gap < 1e-6
    )


# Deep networks


def virtual_network(weights):
    """The network with A_i = M_i, V_i = 1 but for the last one, which is L."""
    L, Ms = virtual_weights(Reals(), weights)
    d = np.eye(L.shape[1])
    return tuple(Layer(M, d, L if k == len(Ms) - 1 else d) for k, M in enumerate(Ms))


def virtual_weights_are_enough(attention):
    for arch in (A((3, 2, 4), (2, 1)), A((2, 4, 3, 3), (2, 2, 3)), uniform(3, 2, 3)):
        draw = np.random.default_rng(0)
        weights, X = random_weights(Reals(), arch, draw), random_tokens(Reals(), arch, 3, draw)
        one, two = (forward(Reals(), attention, w, X) for w in (weights, virtual_network(weights)))
        if not np.allclose(one, two):
            return False
    return True


def bottlenecks():
    for d0, inner, d1 in ((3, 2, 4), (3, 1, 2), (3, 3, 3), (5, 3, 4)):
        for heads in ((1, 2), (2, 2), (3, 1), (2, 1, 2)):
            if max(heads) <= inner:
                yield A((d0, *(inner,) * (len(heads) - 1), d1), heads, 2, "softmax"), d0, inner, d1


def eq_16_is_right():
    return all(
        measured(arch) == inner * (d0 + d1 - inner) + sum(a * (2 * d - a) for d, _, a in arch.layers)
        for arch, d0, inner, d1 in bottlenecks()
    )


def board(arch):
    return {entry.question: entry for entry in nv.what_is_known(arch).entries}


def float_reads(log):
    spectrum = measure_at_temperature(uniform(4, 2, 2, 3, "softmax"), 10.0**log)
    return spectrum.value, spectrum.decided


def both_kinds(widths, heads, t=3):
    """The dimensions of lightning and of softmax."""
    return tuple(measured(A(widths, heads, t, kind)) for kind in ("lightning", "softmax"))


def softmax_tokens_are_not_parallel(a):
    """For lightning and softmax: whether the tokens of random networks are parallel after layer 1."""
    found = []
    for attention in ("lightning", "softmax"):
        arch, draw = A((3, 3, 3), (a, 2), attention=attention), np.random.default_rng(0)
        weights, X = random_weights(Reals(), arch, draw), random_tokens(Reals(), arch, 5, draw)
        found.append(
            bool((np.linalg.matrix_rank(forward(Reals(), attention, weights[:1], X), 1e-9) == 1).all())
        )
    return found


# Figure 3


@cache
def in_float32(d):
    return float32_rank(uniform(d, 2, 2, 3, "softmax"), 0, 250, 5)


def lost_to_the_tolerance(d):
    """The last true singular value: above the rounding by more than 1,000 times, below the tolerance."""
    sigma, true = in_float32(d).singular_values, FIGURE_3[d - 3]
    return sigma[true - 1] > 1000 * sigma[true] and sigma[true - 1] < in_float32(d).tolerance


def networks_of_figure_3():
    points = shown(Figure3Explorer)[0].points
    return [point.exact.value for point in points] == FIGURE_3 and [point.arch for point in points] == [
        uniform(d, 2, 2, 3, "softmax") for d in range(3, 11)
    ]


def two_curves():
    panel = Figure3Explorer()
    labels = dict(panel.controls["kind"].options)
    panel.state = f"kind={labels['softmax and lightning']}"
    panel.wait(60)
    traces = {trace.name: np.array(trace.y) for trace in panel.figure.data}
    panel.close()
    one, two = (traces[f"exact (measured), {kind}"] for kind in ("lightning", "softmax"))
    return len(one) == 8 and set(two - one) == {2}


def last_true_values_stand_at_the_lower_right():
    figure = make(figure3_parts(study_figure3(Figure3Setting(last=4, peer=True, runs=1))))
    places = domains(figure)
    others = [place for name, place in places.items() if "gap" in name]
    view = places["tolerance of the rank in float32"]
    return (
        view == places["last true singular value, kept, softmax"]
        and view[0] > places["exact (measured), softmax"][1]
        and all(view[3] < place[2] for place in others)
    )


def filled_and_hollow():
    panel = Figure3Explorer()
    traces = {trace.name: trace for trace in panel.figure.data}
    panel.close()
    exact, formula = traces["exact (measured), softmax"], traces["formula, softmax"]
    return (
        list(exact.y) == list(formula.y) == FIGURE_3
        and "open" in formula.marker.symbol
        and "open" not in exact.marker.symbol
    )


def tolerance_is_black():
    panel = Figure3Explorer(state="last=3")
    (line,) = [t for t in panel.figure.data if t.name == "tolerance of the rank in float32"]
    panel.close()
    return line.line.color == theme.color("ink")


def certified(d, route):
    arch = uniform(d, 2, 2, 3, "softmax")
    return nv.measure_dimension(arch, method="certified", route=route).certificate


def in_decimals(attention, weights, x):
    """The output for one input, by the definition."""
    for Q, K, V in weights:
        S = (K @ x).T @ (Q @ x)
        if attention == "softmax":
            E = np.vectorize(Decimal.exp, otypes=[object])(S)
            S = E / E.sum(axis=0)
        x = V @ x @ S
    return x


def slopes_in_decimals(attention, weights, x):
    """How the output moves along each entry: by differences, in 120 digits, so right to about 60."""
    h, found = Decimal("1e-30"), []
    for matrix in (matrix for one in weights for matrix in one):
        for place in np.ndindex(matrix.shape):
            kept = matrix[place]
            matrix[place] = kept + h
            plus = in_decimals(attention, weights, x)
            matrix[place] = kept - h
            minus = in_decimals(attention, weights, x)
            matrix[place] = kept
            found.append((plus - minus) / (2 * h))
    return np.array(found)


def as_arrays(kind, numbers):
    """Fractions in a certificate, as floats or as decimals: both hold them exactly."""
    number = {float: lambda f: float(Fraction(f)), Decimal: lambda f: Decimal(float(Fraction(f)))}[kind]
    return np.vectorize(number, otypes=[object if kind is Decimal else float])(np.array(numbers))


def point_of(certificate, kind):
    data = certificate.data
    weights = tuple(Layer(*(as_arrays(kind, one) for one in layer)) for layer in data["weights"])
    return weights, as_arrays(kind, data["inputs"]), np.array(data["functionals"])


def holds(ball, true):
    """Whether a ball holds a number; one of width 0 is as near as differences can tell."""
    true = flint.arb(str(true))
    return ball.contains(true) if ball.rad() > 0 else abs(ball - true) < flint.arb("1e-45")


def balls_contain(attention):
    """At the point of a certificate: every ball, found forward or backward, holds the true number."""
    proof = nv.measure_dimension(uniform(2, 2, 2, 2, attention), method="certified", route="ball").certificate
    weights, X, functionals = point_of(proof, float)
    exact, Y, _ = point_of(proof, Decimal)
    places = [
        (i, m, *place)
        for i, one in enumerate(weights)
        for m, matrix in enumerate(one)
        for place in np.ndindex(matrix.shape)
    ]
    bits, found = flint.ctx.prec, []
    try:
        flint.ctx.prec = proof.data["bits"]
        every = np.ones(len(places), dtype=bool)
        backward = ball_jacobian(attention, weights, every, X, functionals)
        forward_ = [ball_tangents(attention, weights, places, x) for x in X]
        flint.ctx.prec = 400
        with localcontext() as context:
            context.prec = 120
            for k, y in enumerate(Y):
                slopes = slopes_in_decimals(attention, exact, y)
                heard = (slopes * functionals[k]).sum(axis=(1, 2))
                pairs = [(backward[k, c], heard[c]) for c in range(len(places))]
                pairs += list(zip(forward_[k].entries(), slopes.ravel(), strict=True))
                found += [holds(ball, true) and float(ball.rad()) < 1e-25 for ball, true in pairs]
    finally:
        flint.ctx.prec = bits
    return len(found) > 1000 and all(found)


def rows_are_independent(rows):
    """By elimination in decimals: no pivot is small."""
    rows = [list(row) for row in rows]
    for k in range(len(rows)):
        size, i, j = max((abs(rows[i][j]), i, j) for i in range(k, len(rows)) for j in range(k, len(rows[0])))
        if size < Decimal("1e-20"):
            return False
        rows[k], rows[i] = rows[i], rows[k]
        for row in rows:
            row[k], row[j] = row[j], row[k]
        for row in rows[k + 1 :]:
            share = row[k] / rows[k][k]
            row[k:] = [one - share * other for one, other in zip(row[k:], rows[k][k:], strict=True)]
    return True


def three_ways():
    """What each is based on; the point of the last one is checked again, in decimals."""
    said = [certified(3, route).argument for route in ("theorem", "exact rank", "ball")]
    weights, X, functionals = point_of(certified(3, "ball"), Decimal)
    with localcontext() as context:
        context.prec = 120
        rows = [
            (slopes_in_decimals("softmax", weights, x) * functional).sum(axis=(1, 2))
            for x, functional in zip(X, functionals, strict=True)
        ]
        twice = [*rows[:-1], rows[0] + rows[1]]
        found = [len(rows), rows_are_independent(rows), rows_are_independent(twice)]
    words = ("Corollary A", "it meets the upper bound of the symmetries", "ball arithmetic")
    return found == [25, True, False] and all(word in text for word, text in zip(words, said, strict=True))


# Exponentials


def of_kind(kind, seed=0, d=3):
    M = OVER.random(np.random.default_rng(seed), (d, d))
    return OVER.reduce({"generic": M, "symmetric": M + M.T, "antisymmetric": M - M.T}[kind])


def independent(kind, t=3):
    draw = np.random.default_rng(1)
    return measure_independence(OVER, (of_kind(kind),), t, draw).layers[0].independent.value


def differences(kind):
    """y_ji of three random tokens, exactly."""
    M, X = of_kind(kind), OVER.random(np.random.default_rng(2), (3, 3))
    s = OVER.matmul(X.T, OVER.matmul(M, X))
    return {(j, i): OVER.reduce(s[j, i] - s[i, i]) for j, i in ORDER}


def round_and_back(kind):
    y = differences(kind)
    return OVER.reduce(y[1, 0] + y[2, 1] + y[0, 2] - y[2, 0] - y[1, 2] - y[0, 1]) == 0


def opposite(kind):
    y = differences(kind)
    return all(OVER.reduce(y[j, i] + y[i, j]) == 0 for j, i in ORDER)


def study(kind="antisymmetric", t=2):
    return study_exponentials(ExponentialsSetting(kind, tokens=t))


def meet(t, kind="antisymmetric"):
    """Whether the tokens of a softmax layer with such an M come out equal."""
    M = np.random.default_rng(0).standard_normal((2, 2))
    M = M - M.T if kind == "antisymmetric" else M
    X = np.random.default_rng(1).standard_normal((2, t))
    Y = outputs(M, np.eye(2), X)
    return np.allclose(Y, Y[:, :1])


def equal_tokens_hide_the_next_layer():
    x = np.random.default_rng(1).standard_normal((2, 1))
    one, two = (outputs(layer(2, 2, seed)[0], np.eye(2), np.repeat(x, 3, axis=1)) for seed in (0, 1))
    return np.allclose(one, two) and np.allclose(one, x)


def logits_of(arch, t):
    """Independent differences of logits, layer by layer, of a random network of these sizes."""
    draw = np.random.default_rng(3)
    virtual = virtual_weights(OVER, random_weights(OVER, arch, draw))
    return [one.independent.value for one in measure_independence(OVER, virtual.M, t, draw).layers]


# Practice


def only_the_product_shows(layers):
    """Whether lightning of width 1 is L ∏ M_i^(3^(l−i)) times the network with all weights 1."""
    draw = np.random.default_rng(layers)
    numbers, X = OVER.random(draw, (layers, 3)), OVER.random(draw, (5, 1, 2))
    ones = tuple(Layer(*np.ones((3, 1, 1))) for _ in numbers)
    weights = tuple(Layer(*(n.reshape(1, 1) for n in row)) for row in numbers)
    L, Ms = virtual_weights(OVER, weights)
    factor = int(L[0, 0])
    for i, M in enumerate(Ms, start=1):
        factor = factor * pow(int(M[0, 0]), 3 ** (layers - i), OVER.p) % OVER.p
    plain = forward(OVER, "lightning", ones, X)
    scaled = OVER.matmul(OVER.reduce(np.array([[float(factor)]])), plain)
    return np.array_equal(forward(OVER, "lightning", weights, X), scaled)


CLAIMS = [
    # Notice a factor
    (
        "Multiply $A$ by 2 and divide $V$ by 2: nothing happens",
        lambda: factor_is_seen("lightning") == [False, False] and factor_is_seen("softmax") == [True, True],
    ),
    (
        "it costs a dimension in every layer",
        lambda: [more_than_lightning((3,) * (k + 1), (2,) * k) for k in (1, 2, 3, 4)] == [1, 2, 3, 4],
    ),
    ("the same change makes the attention sharper", doubling_is_sharper),
    ("has 16 dimensions as lightning", lambda: dim((3, 3), (2,)) == 16),
    ("17 is the answer, one more than lightning", lambda: dim((3, 3), (2,), attention="softmax") == 17),
    (
        "That is all of $\\alpha(a, d) + dd'$",
        lambda: all(
            measured(A((d, d_out), (a,), t, "softmax")) == a * (2 * d - a) + d * d_out
            for d in (1, 2, 3, 4)
            for a in range(1, d + 1)
            for d_out, t in ((1, 2), (3, 3), (5, 2))
        ),
    ),
    (
        "nothing is lost except the basis inside the head",
        lambda: all(
            nv.kernel_ledger(net).entries["head bases"] == a * a == net.num_parameters - measured(net)
            for d, a in ((3, 2), (3, 3), (4, 1))
            for net in [A((d, 3), (a,), attention="softmax")]
        ),
    ),
    # Read the weights off
    ("Take $x = e_1, e_2, \\dots$: this is $V$, column by column", values_come_out_column_by_column),
    ("Token $x$ has one logit $x^\\top A x$, and the others are 0", logits_with_one_token_on),
    ("So $E$ is known wherever $Vx \\ne 0$, and with it $x^\\top A x$", one_token_gives_E),
    ("Nothing else is new, so $F$ is known", lambda: np.allclose(*read_by_hand(rank=1))),
    (
        "And $y^\\top A x$ with $x = e_j$, $y = e_i$ is the entry $A_{ij}$",
        lambda: all(np.allclose(*read_by_hand(d, t)) for d, t in ((2, 2), (3, 3), (3, 5))),
    ),
    (
        "how many of the nine entries of $A$ can be read?",
        lambda: (
            [known_of_A(layer()[0], V) for V in (layer()[1][:1], np.zeros((3, 3)))] == [9, 0]
            and [known_of_A(*layer(), t) for t in (1, 2, 4)] == [0, 9, 9]
        ),
    ),
    ("arithmetic modulo a prime, and powers of 3 in the place of exponentials", powers_of_three),
    ("A token 0 has all logits 0, so it looks at all tokens alike", a_zero_looks_at_all_alike),
    (
        "its output is the mean of the values, $Vx/t$",
        lambda: all(last for last, _, _ in outputs_with_few_tokens_on()),
    ),
    (
        r"the output is $\dfrac{E}{E + t - 1}\, Vx$",
        lambda: all(first for _, first, _ in outputs_with_few_tokens_on()),
    ),
    (
        r"$\dfrac{E\,Vx + F\,Vy}{E + F + t - 2}$",
        lambda: all(two for _, _, two in outputs_with_few_tokens_on()),
    ),
    (
        "Enough of these $x$ give the symmetric part of $A$",
        lambda: all(map(squares_give_the_symmetric_part, (1, 2, 3, 4))),
    ),
    ("(`read_off` puts in $-e_i$ where that keeps $Vx$ and $Vy$ further apart", signs_keep_values_apart),
    (
        "So one can read the weights off the function",
        lambda: all(
            (lambda found, A_, V: max(abs(found.A - A_).max(), abs(found.V - V).max()) < 1e-12)(
                read_off(softmax_layer(*pair), d=3, tokens=4), *pair
            )
            for pair in (layer(seed=s) for s in range(5))
        ),
    ),
    (
        "Divide the logits by a temperature $\\tau$, which is to put $A/\\tau$ in the place of $A$",
        lambda: all(map(logits_are_divided, (-1.0, 0.0, 2.0))),
    ),
    ("Six, one for each entry off the diagonal", six_inputs),
    (
        "A $V$ of rank one loses nothing",
        lambda: all(known_of_A(*layer(d_out=1, seed=seed)) == 9 for seed in range(4)),
    ),
    ("Then the output is a multiple of one fixed vector", outputs_are_multiples_of_one_vector),
    (
        "With $V = 0$ all outputs are 0, for every $A$",
        lambda: (
            known_of_A(layer()[0], np.zeros((3, 3))) == 0
            and not outputs(layer()[0], np.zeros((3, 3)), np.eye(3)).any()
        ),
    ),
    (
        "With one token $S = 1$, and $A$ is not used at all",
        lambda: (
            known_of_A(*layer(), 1) == 0
            and np.allclose(*(outputs(layer(seed=s)[0], layer()[1], np.ones((3, 1))) for s in (1, 2)))
        ),
    ),
    ("the information is there, sixteen digits do not show it", hidden_by_sharp_attention),
    (
        "There the weights come back without any error",
        lambda: all(
            (s.equal_A, s.equal_V) == (s.A.size, s.V.size)
            for s in (exact_walk(d, seed) for d in (1, 2, 3) for seed in range(4))
        ),
    ),
    # Look for lightning inside softmax
    (
        "If $\\tau$ is high, all tokens attend to all alike",
        lambda: (
            np.abs(softmax(layer()[0] / 1e5) - 1 / 3).max() < 1e-4 < np.abs(softmax(layer()[0]) - 1 / 3).max()
        ),
    ),
    (
        "a lightning layer whose keys and values are centred tokens. (As $CC^\\top = C$, it does not matter",
        first_order_is_centred,
    ),
    (
        "doubling it halves the distance from $\\varphi(X)$ to the mean",
        lambda: all(about(shrinks_by(t, "mean", s), 2) for t in (2, 3, 4) for s in (0, 1)),
    ),
    (
        "τ is large, and doubled. By which factor does the distance to both terms shrink?",
        lambda: all(about(shrinks_by(t, "both", s), 4) for t in (3, 4, 5) for s in (0, 1)),
    ),
    ("its softmax is $\\frac1t\\bigl(1 + (s_j - \\bar s)/\\tau + \\dots\\bigr)$", expansion_of_a_column),
    ("The 1 gives the mean, and $s_j - \\bar s$ is an entry of $C X^\\top A X$", centred_logits),
    (
        "(With two tokens it is 8.",
        lambda: (
            all(about(shrinks_by(2, "both", s), 8) for s in range(3))
            and 2
            ** round(limit_study(*layer(), np.random.default_rng(0).standard_normal((3, 2))).first_slope)
            == 8
        ),
    ),
    ("$\\frac12 + \\frac12 \\tanh$, which has no quadratic part", two_numbers_are_a_tanh),
    (
        "the lightning term stays as it is, but the mean is divided by $c$, at any temperature",
        mean_is_divided,
    ),
    ("The first two go to 0, and the last does not", gaps_along_the_temperature),
    # Go deep
    (
        "So the function depends on $(L, M_1, \\dots, M_l)$ only, with softmax and without",
        lambda: virtual_weights_are_enough("softmax") and virtual_weights_are_enough("lightning"),
    ),
    (
        "Almost every function comes from one choice of the virtual weights",
        lambda: all(
            study_exponentials(ExponentialsSetting("generic", tokens=t, width=d, layers=k)).related.kernel
            == 0
            for t in (2, 3)
            for d in (2, 3)
            for k in (1, 2, 3)
        ),
    ),
    (r"\dim = \delta\,(d_0 + d_l - \delta) + \sum_i \alpha(a_i, d_{i-1}), \tag{Eq. 16}", eq_16_is_right),
    (
        "which is the lightning number of Corollary 3.8 without its $-l$",
        lambda: all(
            more_than_lightning(arch.widths, arch.head_dims, tokens=2) == arch.num_layers
            for arch, *_ in bottlenecks()
            if min(*arch.head_dims, *arch.widths) >= 2
        ),
    ),
    (
        "◇ **conjectured** for other functions in the place of",
        lambda: (
            (lambda b: (b["function → (L, M)"].status, b["other normalisations"].status))(
                board(uniform(4, 2, 2, 3, "softmax"))
            )
            == ("proved here", "conjectured")
        ),
    ),
    (
        "Four layers. How many dimensions more than lightning does softmax have?",
        lambda: measured(uniform(4, 2, 4, 3, "softmax")) - measured(uniform(4, 2, 4, 3)) == 4,
    ),
    (
        "What is known of the two, and with what right?",
        lambda: (
            [cell.split("</b>")[0] for cell in known_table(uniform(4, 2, 4, 3)).rows[1][1:]]
            == [f"<b>{measured(uniform(4, 2, 4, 3, kind))}" for kind in ("lightning", "softmax")]
        ),
    ),
    (
        "The dimension of two such layers stays 40",
        lambda: measured(uniform(4, 2, 2, 3, "softmax")) == 40,
    ),
    (
        "Give layer 1 a head of rank one: softmax loses nothing, lightning does",
        lambda: (
            both_kinds((3, 3, 3), (1, 2)) == (18, nv.paper_formula(A((3,) * 3, (1, 2), 3, "softmax")).value)
            and nv.paper_formula(A((3,) * 3, (1, 2))).value > 18
        ),
    ),
    (
        "Now softmax has *fewer* dimensions than lightning",
        lambda: both_kinds((4, 4, 4), (2, 2), 1) == (34, 16) and both_kinds((4, 4, 4), (2, 2), 2) == (38, 40),
    ),
    (
        "But with softmax the gap in the spectrum closes at both ends",
        lambda: [float_reads(log)[1] for log in (-1.5, 0, 1, 5)] == [False, True, True, False],
    ),
    (
        "Floating point reads 38 for 40 at $\\tau = 0.1$ and 31 at $\\tau = 10^{-1.5}$",
        # What drowns in rounding is another number with other rounding, by some.
        lambda: (
            (reads := [float_reads(log) for log in (-1, -1.5, 5, 0)])
            and [decided for _, decided in reads] == [False, False, False, True]
            and abs(reads[0][0] - 38) <= 2
            and abs(reads[1][0] - 31) <= 5
            and reads[3][0] == 40
        ),
    ),
    (
        "a softmax layer takes averages of tokens, and these are not",
        lambda: (
            softmax_tokens_are_not_parallel(1) == [True, False]
            and softmax_tokens_are_not_parallel(2) == [False, False]
        ),
    ),
    (
        "With one token every attention weight is 1, and all that is left of the network is the matrix $L$",
        lambda: all(
            dim(widths, heads, tokens=1, attention="softmax")
            == min(widths) * (widths[0] + widths[-1] - min(widths))
            for widths, heads in (((4, 4, 4), (2, 2)), ((3, 2, 4), (1, 2)), ((3, 5, 4, 2), (2, 2, 2)))
        ),
    ),
    # Reproduce Figure 3
    ("Filled marks are **exact ranks**, hollow ones on the line are Eq. 16", filled_and_hollow),
    ("In the panel are the same networks", networks_of_figure_3),
    ("Set **attention** to *softmax and lightning*. How far apart are the two curves?", two_curves),
    (
        "Switch on **row-by-row float32** (under *More*; it takes some seconds)",
        lambda: under_more(Figure3Explorer, "peer"),
    ),
    ("What does the lower right view say about the reason?", last_true_values_stand_at_the_lower_right),
    (
        "2 everywhere: one for each of the $l = 2$ layers",
        lambda: all(more_than_lightning((d,) * 3, (2, 2)) == 2 for d in range(3, 11)),
    ),
    (
        "Float32 finds too few dimensions for large $\\delta$: 142 for 145 and 169 for 172",
        lambda: [in_float32(d).value for d in (8, 9, 10)] == [120, 142, 169],
    ),
    (
        "by a factor of 1,000 and more; but the usual tolerance, the black line, lies higher still",
        lambda: (
            all(map(lost_to_the_tolerance, (9, 10))) and not lost_to_the_tolerance(8) and tolerance_is_black()
        ),
    ),
    (
        "And each of these numbers can be *proved*, each for its own network, in three ways",
        lambda: (
            [certified(d, "theorem").dimension for d in range(3, 11)] == FIGURE_3
            and [certified(d, "exact rank").dimension for d in range(3, 11)] == FIGURE_3
            and all(
                certified(d, route).verify() for d in (3, 4) for route in ("theorem", "exact rank", "ball")
            )
        ),
    ),
    ("by our theorem; by an exact rank that meets an upper bound; and by ball arithmetic", three_ways),
    (
        "Here is the largest of the eight, with every proof checked again",
        lambda: (
            [certified(10, route).dimension for route in ("theorem", "exact rank", "ball")] == [172] * 3
            and all(certified(10, route).verify() for route in ("theorem", "exact rank", "ball"))
        ),
    ),
    (
        "intervals that are sure to contain the true numbers",
        lambda: balls_contain("softmax") and balls_contain("lightning"),
    ),
    (
        "The last way does not use the idea of the next section",
        lambda: (
            ["Ax's theorem is not used" in certified(4, route).argument for route in ("exact rank", "ball")]
            == [False, True]
        ),
    ),
    # Understand why it can be exact
    (
        "Three tokens have six of them in a layer",
        lambda: (
            logit_differences(OVER, of_kind("generic"), OVER.random(np.random.default_rng(0), (3, 3))).size
            == 6
        ),
    ),
    (
        "Six is the usual answer, and it is right for a generic M",
        lambda: [independent(kind) for kind in ("generic", "symmetric", "antisymmetric")] == [6, 5, 3],
    ),
    (
        "$y_{21} + y_{32} + y_{13} = y_{31} + y_{23} + y_{12}$",
        lambda: round_and_back("symmetric") and not round_and_back("generic"),
    ),
    (
        "For an antisymmetric one $y_{ij} = -y_{ji}$",
        lambda: opposite("antisymmetric") and not opposite("symmetric"),
    ),
    (
        "where $PQ = 1$ for the two exponentials",
        lambda: study().independence.layers[0].independent.value == 1 and independent("generic", 2) == 2,
    ),
    (
        "One count is wrong. By how much?",
        lambda: (
            [
                (one.related.kernel, one.free.kernel, one.spectrum.kernel)
                for one in map(
                    study, ("generic", "antisymmetric", "antisymmetric", "symmetric"), (2, 2, 3, 3)
                )
            ]
            == [(0, 0, 0), (4, 0, 4), (0, 0, 0), (0, 0, 0)]
        ),
    ),
    (
        "by 4, the entries of $M_2$",
        lambda: (study().related.kernel, study().free.kernel, study().spectrum.kernel) == (4, 0, 4),
    ),
    (
        "An antisymmetric $M_1$ makes two tokens equal",
        lambda: meet(2) and not meet(2, "generic"),
    ),
    ("equal tokens stay equal, whatever $M_2$ is", equal_tokens_hide_the_next_layer),
    (
        "Three tokens do not become equal",
        lambda: not meet(3) and study(t=3).related.kernel == study(t=3).free.kernel == 0,
    ),
    (
        "With three tokens and an antisymmetric $M_1$ the relations are still there",
        lambda: study(t=3).independence.layers[0].independent.value == 3,
    ),
    (
        "its attention matrices has 5 dimensions instead of 6",
        lambda: (
            [
                measure_attention(OVER, kind, 3, 3, np.random.default_rng(0)).value
                for kind in ("symmetric", "generic")
            ]
            == [5, 6]
            and study("symmetric", 3).attention.value == 5
        ),
    ),
    (
        "but the number of directions that do nothing is 0 either way",
        lambda: (lambda s: s.related.kernel == s.free.kernel == s.spectrum.kernel == 0)(
            study("symmetric", 3)
        ),
    ),
    (
        "and with three tokens or more the logits are related",
        lambda: (
            logits_of(A((3, 1, 3), (2, 2)), 3)[1] < 6 == logits_of(A((3, 2, 3), (2, 2)), 3)[1]
            and logits_of(A((3, 1, 3), (2, 2)), 2) == [2, 2]
        ),
    ),
    (
        "In all other networks the logits are independent for almost all weights",
        lambda: all(
            logits_of(arch, t) == [t * (t - 1)] * arch.num_layers
            for arch in (A((2, 2, 2), (1, 1)), A((3, 2, 4, 2), (1, 2, 1)), A((4, 3, 3), (2, 3)))
            for t in (2, 3, 4)
        ),
    ),
    # Build one yourself
    (
        "Usually softmax has one dimension more for each layer. Not always",
        lambda: (lambda usual: 0.5 < np.mean(usual) < 1)(
            [
                more_than_lightning(net.widths, net.head_dims, tokens=net.tokens) == net.num_layers
                for net in random_networks(80)
                if net.tokens > 1
            ]
        ),
    ),
    (
        "a first layer of rank one, and a later one with something to lose",
        lambda: (
            more_than_lightning((4, 4, 4), (1, 3)) > 2
            and more_than_lightning((4, 4, 4), (1, 1)) == more_than_lightning((4, 4, 4), (3, 1)) == 2
        ),
    ),
    # In practice
    (
        "A softmax network has no rescaling between $A$ and $V$",
        lambda: all(
            set(nv.kernel_ledger(net).entries) == {"head bases", "interfaces"}
            and not nv.kernel_ledger(net).unexplained
            for net in (uniform(3, 2, 2, 3, "softmax"), uniform(2, 1, 3, 2, "softmax"))
        ),
    ),
    (
        "Learning it adds no dimension",
        lambda: all(
            measured(uniform(3, a, k, 3, "softmax", block=Block(temperature=True)))
            == measured(uniform(3, a, k, 3, "softmax"))
            for a, k in ((1, 1), (2, 1), (2, 2))
        ),
    ),
    (
        "Softmax $l + 1$: the numbers",
        lambda: all(
            measured(uniform(1, 1, k, 2, "softmax")) == k + 1 and measured(uniform(1, 1, k, 2)) == 1
            for k in (1, 2, 3, 4)
        ),
    ),
    (
        r"its function is $L \prod_i M_i^{3^{l-i}}$ times a function without any weights",
        lambda: all(map(only_the_product_shows, (1, 2, 3, 4))),
    ),
]

ELSEWHERE = [
    (
        "Then the exponentials $e^{\\,y_j}$ satisfy no algebraic equation whatever",
        "test_exponentials.py::test_no_equation_of_degree_two_binds_free_exponentials_of_two_tokens",
    ),
    (
        "So draw a random element of the field for each exponential",
        "test_measure.py::test_softmax_has_the_rank_of_the_definition_with_the_real_exponential",
    ),
    (
        "the function of a softmax layer with $V \\ne 0$ determines $A$ and $V$",
        "test_one_layer.py::test_the_values_of_a_softmax_layer_give_its_weights",
    ),
    (
        "If $V = 0$, it determines $V$ only",
        "test_one_layer.py::test_with_v_zero_every_a_gives_the_same_function_and_none_is_read",
    ),
    (
        "A dot is an entry that is not known yet",
        "test_one_layer.py::test_the_table_shows_what_was_read_after_each_step",
    ),
    (
        "take another $x$: as $V \\ne 0$, almost every one will do",
        "test_one_layer.py::test_a_token_that_v_does_not_see_is_switched_on_with_another",
    ),
    (
        "Nothing was used of the exponential but that it turns sums into products and can be inverted",
        "test_one_layer.py::test_over_a_prime_field_whole_weights_come_back_exactly",
    ),
    (
        "no such change alters the **virtual weights**",
        "test_symmetry.py::test_head_bases_and_interfaces_leave_the_virtual_weights_alone",
    ),
    (
        "What is known of the two, and with what right?",
        "test_known.py::test_the_table_of_both_kinds_says_what_the_boards_say",
    ),
    (
        "As text, for one network",
        "test_known.py::test_the_dimension_of_the_board_is_the_exact_rank",
    ),
    (
        "save the numbers (CSV) and the picture (SVG, PNG)",
        "test_browser.py::test_the_buttons_of_figure_3_save_files",
    ),
    (
        "Rounding is not to blame",
        "test_figure3.py::test_what_it_misses_is_lost_to_the_tolerance_and_not_to_the_rounding_of_the_entries",
    ),
    (
        "In a column of a softmax only differences count",
        "test_exponentials.py::test_differences_of_logits_are_what_a_softmax_sees",
    ),
    (
        "counted with the relations, with all exponentials free, and in floating point",
        "test_exponentials.py::test_ignoring_pq_equal_one_hides_four_directions",
    ),
    (
        "the entries of $M_2$",
        "test_exponentials.py::test_the_four_directions_are_the_entries_of_the_second_matrix",
    ),
    (
        "There the software shares the exponentials",
        "test_measure.py::test_tokens_on_a_line_share_their_exponentials_and_others_do_not",
    ),
]
