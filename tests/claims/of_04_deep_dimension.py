"""What notebooks/04_deep_dimension.py says in words: see tests/test_claims.py."""

import random
from functools import cache
from itertools import product

import numpy as np

import neuroviz as nv
from claims.common import OVER, A, buttons, dim, domains, lost, measured, random_networks, shown, uniform
from neuroviz.deep.hypotheses_figure import hypotheses_parts
from neuroviz.deep.hypotheses_panel import HypothesesSetting, study_hypotheses
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, forward, jacobian, random_tokens, random_weights
from neuroviz.engine.rank import exact_rank
from neuroviz.explorables import DimensionExplorer, HypothesesExplorer
from neuroviz.kit.plot import make
from neuroviz.lessons.wrong_answers import wrong_answers

FIGURE_3 = [25, 40, 57, 76, 97, 120, 145, 172]
THIN, WIDE = A((3, 3, 3), (1, 2)), A((2, 4, 2), (2, 2))
NARROW = uniform(3, 1, 3)
BOTTLENECKS = [
    A((d0, *(inner,) * (len(heads) - 1), d1), heads, tokens)
    for d0, inner, d1 in ((3, 2, 4), (3, 3, 3), (4, 3, 5), (2, 2, 2))
    for heads in ((2, 2), (2, 2, 2))
    for tokens in (2, 3)
]


def off(arch):
    """The measured dimension less what Eq. 14 or 16 says, used all the same."""
    return measured(arch) - nv.paper_formula(arch).value


def off_by(*sizes, **more):
    return off(A(*sizes, **more))


def matrices(a, d, symmetric=False):
    """The dimension of the d × d matrices KᵀQ with a rows in Q and K, or of their symmetric parts."""
    draw, rows = np.random.default_rng([a, d]), []
    Q, K = OVER.random(draw, (2, a, d))
    for unit in np.eye(a * d).reshape(-1, a, d):
        for moved in (OVER.matmul(K.T, unit), OVER.matmul(unit.T, Q)):
            rows.append(OVER.reduce(moved + moved.T if symmetric else moved).ravel())
    return exact_rank(np.array(rows), OVER)


def products(layers, d0, inner, d1):
    """The dimension of the matrices V_l … V_1."""
    draw, rows = np.random.default_rng(0), []
    widths = (d0, *(inner,) * (layers - 1), d1)
    Vs = [OVER.random(draw, (after, before)) for before, after in zip(widths, widths[1:], strict=False)]
    for k, V in enumerate(Vs):
        for unit in np.eye(V.size).reshape(-1, *V.shape):
            L = np.eye(d0)
            for factor in [*Vs[:k], unit, *Vs[k + 1 :]]:
                L = OVER.matmul(factor, L)
            rows.append(L.ravel())
    return exact_rank(np.array(rows), OVER)


def random_pair(arch, seed=0, over=OVER):
    draw = np.random.default_rng(seed)
    return random_weights(over, arch, draw), random_tokens(over, arch, 1, draw)


def tokens_after(arch, layers, seed=0):
    """The tokens of a random lightning network after so many layers, exactly."""
    weights, X = random_pair(arch, seed)
    return forward(OVER, "lightning", weights[:layers], X)[0]


def is_seen(weights, X, other, attention="lightning"):
    """Whether other weights have another function."""
    over = OVER if attention == "lightning" else Reals()
    one, two = (forward(over, attention, some, X) for some in (weights, other))
    return not (np.array_equal(one, two) if over is OVER else np.allclose(one, two))


def doubled(layer, over):
    """A doubled and V halved."""
    half = (over.p + 1) // 2 if over is OVER else 0.5
    return Layer(over.reduce(2.0 * layer.Q), layer.K, over.reduce(half * layer.V))


def doubling_is_seen(attention):
    over = OVER if attention == "lightning" else Reals()
    weights, X = random_pair(A((3, 3, 3), (2, 2)), over=over)
    return is_seen(weights, X, (doubled(weights[0], over), weights[1]), attention)


def transposing_is_seen(arch):
    """Whether A₂ᵀ in the place of A₂, in the last of two layers, gives another function."""
    (one, two), X = random_pair(arch)
    return is_seen((one, two), X, (one, Layer(two.K, two.Q, two.V)))


def first_layer_is_one_vector_times_numbers():
    ((q, k, V), _), X = random_pair(THIN)
    X = X[0]
    vector = OVER.matmul(V, OVER.matmul(X, OVER.matmul(X.T, k.T)))
    return np.array_equal(tokens_after(THIN, 1), OVER.matmul(vector, OVER.matmul(q, X)))


@cache
def hypotheses(widths, heads, tokens=3, attention="lightning", seed=0, over="heads"):
    return study_hypotheses(HypothesesSetting(*heads, widths[1], widths[0], tokens, attention, over, seed))


def angles(a1, attention="lightning", seed=0):
    """The largest angle between tokens as they come in and after each layer of the panel's network."""
    return [max(stage) for stage in hypotheses((3, 3, 3), (a1, 2), 3, attention, seed).angles]


def cells_show_difference_and_rank():
    """Over heads and over widths, against measurements made here."""
    heads, widths = (hypotheses((3, 3, 3), (1, 2), over=over) for over in ("heads", "widths"))
    for study in (heads, widths):
        (drawn,) = [t for t in make(hypotheses_parts(study)).data if t.name.endswith(", and measured")]
        for text, cell in zip(drawn.text, study.cells, strict=True):
            above, below = text.split("<br>")
            difference = f"{cell.measured.value - cell.paper.value:+d}".replace("-", "−").replace("+0", "0")
            if f">{difference}<" not in above or f">{cell.measured.value}" not in below:
                return False
    return all(c.measured.value == dim((3, 3, 3), (c.column, c.row)) for c in heads.cells) and all(
        c.measured.value == dim((c.row, c.column, c.row), (1, 2)) for c in widths.cells
    )


def angles_are_drawn():
    study = hypotheses((3, 3, 3), (2, 2))
    (drawn,) = [t for t in make(hypotheses_parts(study)).data if t.name == "angle between two tokens"]
    pairs = np.array(study.angles).T
    return np.array_equal([y for y in drawn.y if y is not None], pairs.ravel())


def vanishing_on(V):
    """Rows that are 0 on the image of a d × 2 matrix, d − 2 of them."""
    (a, b), (c, d) = V[:2]
    inverse = OVER.reduce(np.array([[d, -b], [-c, a]]) * pow(int((a * d - b * c) % OVER.p), -1, OVER.p))
    rows = np.concatenate([OVER.reduce(-OVER.matmul(V[2:], inverse)), np.eye(len(V) - 2)], axis=1)
    assert not OVER.matmul(rows, V).any()
    return rows


def second_layer_is_seen(rows_of):
    """Whether adding multiples of some rows to all matrices of layer 2 changes the function."""
    (one, two), X = random_pair(WIDE)
    rows, draw = rows_of(one.V), np.random.default_rng(6)
    moved = [OVER.reduce(W + OVER.matmul(OVER.random(draw, (len(W), len(rows))), rows)) for W in two]
    return is_seen((one, two), X, (one, Layer(*moved)))


def functions_are_multiples(arch):
    """Whether two random networks differ by a factor only."""
    draw = np.random.default_rng(4)
    X = OVER.random(draw, (6, arch.widths[0], arch.tokens))
    values = [forward(OVER, "lightning", random_weights(OVER, arch, draw), X).ravel() for _ in range(2)]
    return exact_rank(np.array(values), OVER) == 1


def widening():
    """Every cell of the map that widens: (δ, outer widths) → measured minus Eq. 14."""
    cells = hypotheses((3, 3, 3), (2, 2), over="widths").cells
    return {(c.column, c.row): off_by((c.row, c.column, c.row), (2, 2)) for c in cells if c.column > c.row}


def widening_cells_are_on_the_lower_right():
    layout = make(hypotheses_parts(hypotheses((3, 3, 3), (2, 2), over="widths"))).layout
    titles = layout.xaxis.title.text, layout.yaxis.title.text
    return (
        titles[0].startswith("inner width δ")
        and titles[1].startswith("outer widths")
        and all(low < high for low, high in (layout.xaxis.range, layout.yaxis.range))
    )


def panel(state, *names):
    """The panel's words and the traces of these names."""
    made = DimensionExplorer(state=state)
    assert made.wait(60) and made.status.startswith("done")
    traces = [next(t for t in made.figure.data if t.name == name) for name in names]
    texts = [a.text or "" for a in made.figure.layout.annotations]
    made.close()
    return made.description, texts, traces


def views_of_the_dimension():
    """The spectrum at the left; against the width at the upper right, against inputs at the lower."""
    made = DimensionExplorer()
    at = domains(made.figure)
    made.close()
    left, upper, lower = (
        at[name] for name in ("exact rank (measured)", "measured", "exact rank by inputs (measured)")
    )
    return (
        left[1] < min(upper[0], lower[0])
        and upper[2] > lower[3]
        and at["dimension by the formula"] == left
        and (at["formula"], at["equations"]) == (upper, lower)
    )


def map_and_angles():
    """The map of numbers at the left, the angles at the right."""
    at = domains(make(hypotheses_parts(hypotheses((3, 3, 3), (1, 2)))))
    return at["measured minus formula, and measured"][1] < at["angle between two tokens"][0]


def line_and_triangle():
    _, _, (line, triangle) = panel("", "exact rank (measured)", "dimension by the formula")
    blue = line.line.color.lstrip("#")
    red, green, most = (int(blue[i : i + 2], 16) for i in (0, 2, 4))
    return most > green > red and "triangle" in triangle.marker.symbol and line.x[0] == triangle.x[0] == 38.5


def gap_closes():
    """Weaker and weaker, until floats cannot decide; the exact rank agrees all the way."""
    nets = [uniform(4, 2, layers) for layers in range(1, 9)]
    if any(off(net) for net in nets):
        return False
    spectra = [nv.measure_dimension(net, "float") for net in nets]
    weakest = [s.singular_values[measured(net) - 1] for s, net in zip(spectra, nets, strict=True)]
    return (
        all(one > two for one, two in zip(weakest[:6], weakest[1:6], strict=False))
        and [s.decided for s in spectra] == [True] * 4 + [False] * 4
        and all(value < 1e-15 for value in weakest[5:])
    )


def floats_cannot_decide(layers):
    return any("floats cannot decide" in text for text in panel(f"layers={layers}")[1])


def upper_right_is_figure_3(kind, less=0):
    _, _, (found, formula) = panel(f"width=7;head_dim=2;tokens=3;layers=2;kind={kind}", "measured", "formula")
    hollow = "open" in formula.marker.symbol and "open" not in found.marker.symbol
    wanted = [number - less for number in FIGURE_3]
    return hollow and list(found.x) == list(range(3, 11)) and list(found.y) == list(formula.y) == wanted


def ratio(layers, width, a=None):
    net = uniform(width, a or width, layers)
    return net.num_parameters / nv.expected_dimension(net).value


def measured_ratio(layers, width, a=None):
    net = uniform(width, a or width, layers)
    return net.num_parameters / measured(net)


def interfaces(width, a):
    return nv.kernel_ledger(uniform(width, a, 3)).parts["interfaces"]


def ranks_of_single_numbers(arch, count, seed=0):
    """The rank after 1, 2, … numbers, a random combination of the outputs of one input each."""
    draw = np.random.default_rng(seed)
    weights, X = random_weights(OVER, arch, draw), OVER.random(draw, (count, arch.widths[0], arch.tokens))
    combinations = OVER.random(draw, (count, 1, arch.widths[-1], arch.tokens))
    rows = jacobian(OVER, "lightning", weights, X, combinations)[:, 0]
    return [exact_rank(rows[:n], OVER) for n in range(1, count + 1)]


def numbers_about_attention(arch, inputs):
    """The rank of the derivative in all Q and K together, from all outputs of so many inputs."""
    draw = np.random.default_rng(0)
    weights, X = random_weights(OVER, arch, draw), OVER.random(draw, (inputs, arch.widths[0], arch.tokens))
    J = jacobian(OVER, "lightning", weights, X)
    of_attention = np.concatenate([np.full(W.size, W is not layer.V) for layer in weights for W in layer])
    return exact_rank(J.reshape(-1, J.shape[-1])[:, of_attention], OVER)


def equations_stay_above():
    state = "width=3;head_dim=1;tokens=3;layers=3;inputs=5"
    _, _, (equations, ranks) = panel(state, "equations", "exact rank by inputs (measured)")
    capped = all(y == min(9 * n, 45) for n, y in zip(equations.x, equations.y, strict=True))
    below = all(rank < 9 * n for n, rank in zip(ranks.x, ranks.y, strict=True))
    return equations.line.dash == "dot" and capped and below and max(ranks.y) == 21


def of_the_notebook(seed, count=50, most_layers=3, most_width=5):
    draw = random.Random(seed)
    for _ in range(count):
        layers = draw.randint(1, most_layers)
        widths = [draw.randint(1, most_width) for _ in range(layers + 1)]
        heads = [draw.randint(1, 4) for _ in range(layers)]
        yield A(widths, heads, draw.randint(1, 4), draw.choice(("lightning", "softmax")))


def decided_and_right(arch):
    """Whether the float rank is decided; one that is decided and wrong ends the test."""
    seen = nv.measure_dimension(arch, "float")
    assert not seen.decided or seen.value == nv.measure_dimension(arch).value, str(arch)
    return seen.decided


def deep_networks(count):
    draw = random.Random(1)
    for _ in range(count):
        layers = draw.randint(5, 8)
        widths, heads = ([draw.randint(1, most) for _ in range(layers + n)] for most, n in ((6, 1), (4, 0)))
        yield A(widths, heads, draw.randint(1, 4), draw.choice(("lightning", "softmax")))


def hypotheses_of_eq_14():
    """Whether the formula is called proved exactly where they hold."""
    return all(
        (nv.paper_formula(A((d0, inner, d1), heads, t)).status == "proved")
        == (2 <= inner <= min(d0, d1) and 2 <= heads[0] <= d0 and 2 <= heads[1] <= inner and t >= 2)
        for d0, inner, d1 in product((1, 2, 3, 4), repeat=3)
        for heads in product((1, 2, 3, 4), repeat=2)
        for t in (1, 2, 3)
    )


def line_at(state):
    """Where the blue line stands, and the triangle."""
    _, _, (line, triangle) = panel(state, "exact rank (measured)", "dimension by the formula")
    return line.x[0], triangle.x[0]


def spread_at_the_rank(layers):
    """The last singular value that should count over the first that should not."""
    net = uniform(4, 2, layers)
    sigma = nv.measure_dimension(net, "float").singular_values
    return sigma[measured(net) - 1] / sigma[measured(net)]


def buttons_of_the_curve():
    states = buttons("04_deep_dimension", "dimension_panel")
    return [shown(DimensionExplorer, state)[0].arch for state in states]


def buttons_of_the_hypotheses():
    """What the panel shows from where the notebook opens it."""
    opened = "head_1=1;head_2=2;inner=3;outer=3;tokens=3"
    states = buttons("04_deep_dimension", "hypotheses_panel")
    return [shown(HypothesesExplorer, f"{opened};{state}")[0] for state in states]


def last_two_questions():
    last, softmax = buttons_of_the_hypotheses()[:2]
    return (
        (last.arch, softmax.arch) == (A((3, 3, 3), (2, 1)), A((3, 3, 3), (1, 2), attention="softmax"))
        and off(last.arch) == off(softmax.arch) == 0
        and max(softmax.angles[1]) > 1e-3
    )


def buttons_to_the_widths():
    equal, wide = buttons_of_the_hypotheses()[2:]
    cells = [{(c.row, c.column): c.measured.value for c in one.cells} for one in (equal, wide)]
    networks = (equal.arch, wide.arch) == (A((3, 3, 3), (2, 2)), WIDE)
    return (
        networks
        and equal.over == wide.over == "widths"
        and all(found[2, 4] == measured(WIDE) and found[3, 3] == dim((3, 3, 3), (2, 2)) for found in cells)
    )


def wider_and_deeper():
    nets = list(of_the_notebook(1, 20, 5, 8))
    return (
        max(net.num_layers for net in nets) > 3
        and max(max(net.widths) for net in nets) > 5
        and all(measured(net) == nv.general_formula(net).value for net in nets)
    )


CLAIMS = [
    (
        "You will find three places where the obvious formula breaks, a layer of rank one",
        lambda: (
            all(off(net) for net in (THIN, WIDE, uniform(3, 2, 2, 1)))
            and not off(uniform(3, 2, 2))
            and nv.measure_dimension(NARROW, inputs=5).value < measured(NARROW)
        ),
    ),
    # Parameters are not dimensions
    (
        "Each has $3d^2$ parameters",
        lambda: all(
            sum(W.size for layer in random_pair(uniform(d, d, k))[0] for W in layer) == 3 * k * d * d
            for d in (1, 2, 4)
            for k in (1, 3)
        ),
    ),
    (
        "64 forgets the three rescalings, 96 removes the bases in the heads and nothing else",
        lambda: (
            (lambda e: (64 - e["rescalings"], 144 - e["head bases"], sum(e.values())) == (61, 96, 83))(
                nv.kernel_ledger(uniform(4, 4, 3)).entries
            )
            and 64 in {mistake.value for mistake in wrong_answers(uniform(4, 4, 3))}
        ),
    ),
    (
        "That is $a^2$ directions a layer",
        lambda: all(
            nv.kernel_ledger(uniform(d, a, k)).parts["head bases"] == (a * a,) * k
            for d, a, k in ((4, 4, 3), (3, 2, 2), (4, 1, 2))
        ),
    ),
    (
        "$d^2$ directions for each of the $l - 1$ interfaces",
        lambda: all(interfaces(d, a) == (d * d, d * d) for d, a in ((4, 4), (3, 2), (2, 1))),
    ),
    (
        "multiply $A_i$ by $c$ and divide $V_i$ by $c$: one direction a layer",
        lambda: (
            nv.kernel_ledger(uniform(4, 4, 3)).parts["rescalings"] == (1, 1, 1)
            and "rescalings" not in nv.kernel_ledger(uniform(4, 4, 3, attention="softmax")).entries
        ),
    ),
    (
        "61 remain: 58 % of the",
        lambda: nv.measure_dimension(uniform(4, 4, 3)).value == 61 and round(100 * 83 / 144) == 58,
    ),
    (
        "$3ld^2$ parameters shrink to $(l+1)d^2 - l$ dimensions",
        lambda: all(
            measured(uniform(d, d, k)) == (k + 1) * d * d - k for d in (2, 3, 4) for k in (1, 2, 3, 4)
        ),
    ),
    (
        "That nothing *else* is lost is a theorem",
        lambda: (
            all(nv.kernel_ledger(net).unexplained == 0 for net in (uniform(4, 4, 3), *BOTTLENECKS))
            and nv.kernel_ledger(THIN).unexplained > 0
        ),
    ),
    (
        r"\dim = \delta\,(d_0 + d_l - \delta) + \sum_{i=1}^{l} \alpha(a_i, d_{i-1}) - l",
        lambda: all(
            measured(net)
            == net.widths[1] * (net.widths[0] + net.widths[-1] - net.widths[1])
            + sum(a * (2 * d - a) for d, _, a in net.layers)
            - net.num_layers
            for net in BOTTLENECKS
        ),
    ),
    (
        "The first term counts the linear map $L = V_l",
        lambda: all(
            products(k, d0, inner, d1) == inner * (d0 + d1 - inner)
            for k in (2, 3)
            for d0, inner, d1 in ((3, 2, 4), (3, 3, 3), (4, 1, 2))
        ),
    ),
    (
        r"each $\alpha$ counts one attention matrix of rank at most $a_i$",
        lambda: all(matrices(a, d) == a * (2 * d - a) for d in (2, 3, 4) for a in range(1, d + 1)),
    ),
    (r"Let the inner widths all be $\delta \ge 2$, no larger than", hypotheses_of_eq_14),
    # Move it
    ("the blue line (the exact rank) and the triangle (the formula)", line_and_triangle),
    ("and the triangle (the formula) on the left", views_of_the_dimension),
    (
        "be silent until somebody says that the line stands still",
        lambda: (
            [line_at(f"head_dim={a}") for a in (2, 3, 4, 5, 6)]
            == [(place + 0.5,) * 2 for place in (38, 44, 46, 46, 46)]
        ),
    ),
    (
        "At six layers the gap closes",
        lambda: spread_at_the_rank(4) > 1e6 and spread_at_the_rank(5) > 100 and spread_at_the_rank(6) < 10,
    ),
    (
        "The exact rank still agrees with the formula",
        lambda: all(len(set(line_at(f"layers={k}"))) == 1 for k in (6, 7, 8)),
    ),
    (
        "The number of parameters goes on growing",
        lambda: [uniform(4, a, 2).num_parameters for a in (4, 5, 6, 7)] == [96, 112, 128, 144],
    ),
    (
        r"Past $a = \delta$ every $\delta \times \delta$ matrix is already some $K^\top Q$",
        lambda: all(
            [measured(uniform(d, a, 2)) for a in (d, d + 1, d + 3)] == [measured(uniform(d, d, 2))] * 3
            and measured(uniform(d, d - 1, 2)) < measured(uniform(d, d, 2))
            and matrices(d, d) == matrices(d + 2, d) == d * d
            for d in (2, 3, 4)
        ),
    ),
    (
        "softmax has exactly $l$ dimensions more, whatever $\\delta$",
        lambda: all(
            dim((d,) * (k + 1), (a,) * k, tokens=t, attention="softmax") - dim((d,) * (k + 1), (a,) * k, t)
            == k
            for d in (1, 2, 3, 4)
            for k in (1, 2, 3)
            for a, t in ((2, 3), (3, 2))
        ),
    ),
    (
        "doubling $A$ changes a softmax, so no factor can move to $V$",
        lambda: doubling_is_seen("softmax") and not doubling_is_seen("lightning"),
    ),
    ("with each layer the sizes of the singular values spread further", gap_closes),
    (
        'The panel then says "floats cannot decide"',
        lambda: [floats_cannot_decide(k) for k in (2, 6, 8)] == [False, True, True],
    ),
    (
        "for softmax nothing of $A$ can be seen, and the network is one linear map",
        lambda: all(
            measured(uniform(d, 2, 2, 1)) > measured(uniform(d, 2, 2, 1, "softmax")) == d * d
            for d in (2, 3, 4)
        ),
    ),
    # The curve of the paper
    (
        "These are the values of Eq. 16",
        lambda: (
            [measured(uniform(d, 2, 2, 3, "softmax")) for d in range(3, 11)]
            == [nv.paper_formula(uniform(d, 2, 2, 3, "softmax")).value for d in range(3, 11)]
            == FIGURE_3
        ),
    ),
    (
        "Lightning has two less, one for each layer",
        lambda: [measured(uniform(d, 2, 2, 3)) for d in range(3, 11)] == [n - 2 for n in FIGURE_3],
    ),
    (
        "The upper right part of the panel above draws exactly that",
        lambda: upper_right_is_figure_3("softmax") and upper_right_is_figure_3("lightning", less=2),
    ),
    (
        "Press a button, or set **δ** to 7, **a** to 2, **tokens** to 3, **layers** to 2",
        lambda: buttons_of_the_curve() == [uniform(7, 2, 2, 3, "softmax"), uniform(7, 2, 2, 3)],
    ),
    # Count parameters against dimensions
    (
        r"\frac{3l\delta^2}{(l+1)\delta^2 - l}",
        lambda: all(
            abs(measured_ratio(k, d) - 3 * k * d * d / ((k + 1) * d * d - k)) < 1e-12
            for d in (2, 3, 4)
            for k in (1, 2, 3)
        ),
    ),
    (
        "Down a column the width grows: $3l/(l+1)$, which is 1.5 for one layer, 2 for two, 2.25 for three",
        lambda: all(
            abs(ratio(k, 768) - limit) < 1e-4 < ratio(k, 2) - limit
            for k, limit in ((1, 1.5), (2, 2), (3, 2.25))
        ),
    ),
    (
        "which is 4 for $\\delta = 2$ and 3.2 for $\\delta = 4$",
        lambda: all(abs(ratio(10**4, d) - limit) < 1e-3 for d, limit in ((2, 4), (4, 3.2))),
    ),
    (
        "With both growing it is 3, so that two thirds of all directions do nothing",
        lambda: abs(ratio(1000, 768) - 3) < 0.01 and abs(1 - 1 / ratio(1000, 768) - 2 / 3) < 0.001,
    ),
    (
        "One $\\delta^2$ goes to the basis of its head, one to the basis of the tokens in front of it",
        lambda: all(
            lost(uniform(d, d, 4)) - lost(uniform(d, d, 3)) == 2 * d * d + 1
            and measured(uniform(d, d, 4)) - measured(uniform(d, d, 3)) == d * d - 1
            for d in (2, 3, 4)
        ),
    ),
    (
        "about twofold with two layers and threefold with many",
        lambda: round(ratio(2, 16)) == 2 and round(ratio(96, 16)) == 3,
    ),
    (
        "With many layers and heads below a third of the width it is more",
        lambda: (
            measured_ratio(8, 8, 2) > measured_ratio(8, 8) > measured_ratio(8, 8, 4)
            and measured_ratio(2, 8, 2) < measured_ratio(2, 8)
            and all(
                (ratio(10**4, 3 * n, a) > ratio(10**4, 3 * n)) == (a < n)
                for n in (4, 20)
                for a in (2, n - 1, n + 1, 2 * n)
            )
        ),
    ),
    (
        "between the layers cost $\\delta^2$ in any case",
        lambda: all(interfaces(4, a) == (16, 16) for a in (1, 2, 3, 4)),
    ),
    (
        "4.8 for $\\delta = 768$, $a = 64$ and 12 layers",
        lambda: round(ratio(12, 768, 64), 1) == 4.8 and off(uniform(6, 2, 12)) == 0,
    ),
    # One layer of rank one
    (
        "Eq. 14, used all the same, says 20",
        lambda: nv.paper_formula(THIN).value == 20 and "outside" in nv.paper_formula(THIN).status,
    ),
    ("Two dimensions are missing", lambda: measured(THIN) == nv.general_formula(THIN).value == 18),
    (r"V_1 X X^\top k \,\cdot\, (q^\top x_i)", first_layer_is_one_vector_times_numbers),
    (
        "**All tokens have become parallel.**",
        lambda: all(
            [exact_rank(tokens_after(A((3, 3, 3), (a, 2)), 1, s), OVER) for a in (1, 2)] == [1, 2]
            for s in range(5)
        ),
    ),
    (
        "this sees the symmetric part of $A$ alone",
        lambda: not transposing_is_seen(THIN) and transposing_is_seen(A((3, 3, 3), (2, 2))),
    ),
    (
        r"counted with the dimension of the symmetric parts, called $\sigma$ here",
        lambda: all(
            dim((3, 3, 3), (1, a)) == 9 + matrices(1, 3) + matrices(a, 3, symmetric=True) - 2
            for a in (1, 2, 3, 4)
        ),
    ),
    ("above, its exact rank minus Eq. 14, below, the rank", cells_show_difference_and_rank),
    ("On the left every cell is a network of its own", map_and_angles),
    ("are the angles between the tokens of one random network", angles_are_drawn),
    (
        "With $a_1 = 1$ all angles are 0 after layer 1; with $a_1 = 2$ they are not, and nothing is lost",
        lambda: (
            angles(1)[0] > 10
            and max(angles(1)[1:]) < 1e-9
            and min(angles(2)) > 0.1
            and hypotheses((3, 3, 3), (2, 2)).measured.value == nv.paper_formula(A((3, 3, 3), (2, 2))).value
        ),
    ),
    (
        "0 for $a_2 = 1$, then 2, then 3",
        lambda: (
            [-off_by((3, 3, 3), (1, a)) for a in (1, 2, 3)]
            == [matrices(a, 3) - matrices(a, 3, symmetric=True) for a in (1, 2, 3)]
            == [0, 2, 3]
        ),
    ),
    (
        "antisymmetric $3 \\times 3$ matrices",
        lambda: exact_rank(np.array([(U - U.T).ravel() for U in np.eye(9).reshape(9, 3, 3)]), OVER) == 3,
    ),
    (
        "A last layer of rank one costs nothing",
        lambda: all(off_by((d, 3, d), (2, 1)) == 0 for d in (3, 4, 5)) and off_by((3, 3, 3), (1, 2)) < 0,
    ),
    (
        "a softmax of rank-one logits is not a rank-one matrix",
        lambda: all(
            np.linalg.matrix_rank(Reals().softmax(np.outer(k, q), False, None)) == 3
            for k, q in np.random.default_rng(0).standard_normal((5, 2, 3))
        ),
    ),
    (
        "the tokens come closer to each other but not onto one line",
        lambda: all(
            (lambda X, S: np.ptp(X @ S, axis=1).max() < np.ptp(X, axis=1).max())(
                draw.standard_normal((1, 3)),
                Reals().softmax(np.outer(*draw.standard_normal((2, 3))), False, None),
            )
            and angles(1, "softmax", seed)[1] > 1e-3
            for seed in range(5)
            for draw in [np.random.default_rng(seed)]
        ),
    ),
    ("The buttons lead to the places that the last two questions are about", last_two_questions),
    (
        "what Eq. 16 says, with $a_i = 1$ too",
        lambda: (
            not any(
                off_by((d,) * (k + 1), heads, attention="softmax")
                for d in (2, 3, 4)
                for k, heads in ((2, (1, 2)), (2, (1, 1)), (3, (1, 3, 1)), (3, (2, 1, 2)))
            )
        ),
    ),
    (
        "one such layer is enough, wherever it stands, if a later layer has something to lose",
        lambda: (
            all(
                off(uniform(3, heads, 3) if isinstance(heads, int) else A((3,) * 4, heads)) < 0
                for heads in ((1, 2, 2), (2, 1, 2), (1, 1, 2), (1, 2, 1))
            )
            and all(off(A((3,) * 4, heads)) == 0 for heads in ((2, 2, 1), (1, 1, 1), (2, 1, 1), (2, 2, 2)))
        ),
    ),
    (
        r"as many dimensions as the matrices themselves: $\alpha(1, 3) = \sigma(1, 3) = 5$",
        lambda: matrices(1, 3) == matrices(1, 3, symmetric=True) == 5 and off(NARROW) == 0,
    ),
    # A network that widens
    (
        "Eq. 14, used all the same, says 14. And the network?",
        lambda: nv.paper_formula(WIDE).value == 14 and measured(WIDE) == 10,
    ),
    (
        "the image of a $4 \\times 2$ matrix, so two of the four coordinates carry nothing new",
        lambda: (
            exact_rank(
                np.concatenate(
                    [
                        forward(OVER, "lightning", random_pair(WIDE)[0][:1], X)[0]
                        for X in OVER.random(np.random.default_rng(1), (6, 1, 2, 3))
                    ],
                    axis=1,
                ),
                OVER,
            )
            == 2
        ),
    ),
    (
        "whatever the second layer does with them alone cannot be seen",
        lambda: not second_layer_is_seen(vanishing_on) and second_layer_is_seen(lambda V: np.eye(4)[:2]),
    ),
    ("The cells with $\\delta > d_0$, on the lower right, widen", widening_cells_are_on_the_lower_right),
    (
        "set **a₁** and **a₂** to 2 and **map over** to widths, or press a button",
        buttons_to_the_widths,
    ),
    (
        "It is right in none of them. In most it is too large, by 2, 3 or 4",
        lambda: (
            len(widening()) == 10
            and 0 not in widening().values()
            and {-value for place, value in widening().items() if place != (5, 1)} == {2, 3, 4}
        ),
    ),
    (
        "For outer widths 1 and $\\delta = 5$ it is too small: it says 0",
        lambda: nv.paper_formula(A((1, 5, 1), (2, 2))).value == 0 and dim((1, 5, 1), (2, 2)) == 1,
    ),
    (
        "but the network can still multiply by a number, 1 dimension",
        lambda: functions_are_multiples(A((1, 5, 1), (2, 2))) and not functions_are_multiples(WIDE),
    ),
    # One token
    (
        "3, 3, 3 with a = 2, 2. Eq. 14 says 23. And with one token?",
        lambda: (
            nv.paper_formula(A((3, 3, 3), (2, 2), tokens=1)).value == 23
            and dim((3, 3, 3), (2, 2), tokens=1) == 19
        ),
    ),
    (
        r"$\alpha(2, 3) = 8$ becomes $\sigma(2, 3) = 6$, twice",
        lambda: (
            (matrices(2, 3), matrices(2, 3, symmetric=True)) == (8, 6)
            and dim((3, 3, 3), (2, 2)) - dim((3, 3, 3), (2, 2), tokens=1) == 2 * (8 - 6)
            and not transposing_is_seen(A((3, 3, 3), (2, 2), tokens=1))
        ),
    ),
    # A formula without these limits
    (
        "every width, every head dimension and every number of tokens",
        lambda: all(measured(net) == nv.general_formula(net).value for net in random_networks(150)),
    ),
    (
        "These are the three measurements from above",
        lambda: (
            [nv.general_formula(net).value for net in (THIN, WIDE, A((3, 3, 3), (2, 2), tokens=1))]
            == [18, 10, 19]
        ),
    ),
    # How many inputs
    (
        "so five inputs give 45 equations for 45 parameters",
        lambda: (
            NARROW.num_parameters
            == 5 * forward(OVER, "lightning", *random_pair(NARROW)).size
            == nv.rank_by_inputs(NARROW).equations_per_input * 5
            == 45
        ),
    ),
    (
        "Counting equations is not enough",
        lambda: (
            nv.measure_dimension(NARROW, inputs=5).value < measured(NARROW) == 21
            and nv.measure_dimension(NARROW, inputs=10).value == 21
        ),
    ),
    (
        "one input shows only a few numbers about all attention matrices together",
        lambda: all(
            numbers_about_attention(net, inputs=1) <= net.tokens**2 < numbers_about_attention(net, inputs=10)
            for net in (NARROW, uniform(4, 2, 4, 2), uniform(4, 2, 2), uniform(5, 3, 3, 2))
        ),
    ),
    (
        "The dimension is 21. How much of it do 5 inputs show?",
        lambda: nv.measure_dimension(NARROW, inputs=5).value == 17,
    ),
    ("stays below the dotted line of equations", equations_stay_above),
    (
        "they repeated each other",
        lambda: nv.measure_dimension(NARROW, inputs=1).value == 5 < 9,
    ),
    (
        "Each number fixes one dimension, until all 21 are fixed",
        lambda: (
            ranks_of_single_numbers(NARROW, 30) == [min(n, 21) for n in range(1, 31)]
            and ranks_of_single_numbers(THIN, 24, seed=1) == [min(n, 18) for n in range(1, 25)]
        ),
    ),
    (
        "fewer than $D$ numbers leave a whole family of functions that fit perfectly",
        lambda: all(
            measured(net) - ranks_of_single_numbers(net, n, seed=2)[-1] == max(measured(net) - n, 0)
            for net in (THIN, WIDE, uniform(2, 2, 2))
            for n in (1, 6, 9, 10, 11)
        ),
    ),
    (
        "$D$ numbers leave no other function nearby that fits. Here 21 are enough",
        lambda: ranks_of_single_numbers(NARROW, 21)[-1] == measured(NARROW) == 21 < NARROW.num_parameters,
    ),
    # Look for a counterexample
    (
        "All fifty agree.",
        lambda: all(
            measured(net) == nv.general_formula(net).value for s in (1, 2) for net in of_the_notebook(s)
        ),
    ),
    ("Change the seed to draw others, or the sizes to draw wider and deeper ones", wider_and_deeper),
    (
        "The general formula is about all fifty of them, the paper's own formulas are about some",
        lambda: 0 < sum("outside" not in nv.paper_formula(net).status for net in of_the_notebook(1)) < 50,
    ),
    (
        "None of them makes its number wrong every time",
        lambda: (
            not any(off(net) for net in (A((3, 3, 3), (2, 1)), A((1, 4, 2), (2, 1)), uniform(3, 1, 2, 1)))
            and all(off(net) for net in (THIN, WIDE, uniform(3, 2, 2, 1)))
        ),
    ),
    (
        "for each layer the antisymmetric part of $A$ is lost",
        lambda: (
            not transposing_is_seen(A((4, 4, 4), (3, 3), tokens=1))
            and -off_by((4, 4, 4), (3, 3), tokens=1) == 2 * (matrices(3, 4) - matrices(3, 4, symmetric=True))
        ),
    ),
    # In practice
    (
        "Look at `decided`: it is False where the spectrum is no help",
        lambda: (
            [
                (found.decided, found.value == measured(net))
                for net in (uniform(4, 2, 2), uniform(4, 2, 8))
                for found in [nv.measure_dimension(net, "float")]
            ]
            == [(True, True), (False, False)]
        ),
    ),
    (
        "with at most four layers 85 in 100 were decided",
        lambda: (lambda seen: sum(seen) > 0.65 * len(seen))(
            [decided_and_right(arch) for arch in random_networks(60)]
        ),
    ),
    (
        "of those with five to eight layers about half, and none of 6,000 of them wrongly",
        lambda: 0.35 < np.mean([decided_and_right(net) for net in deep_networks(60)]) < 0.75,
    ),
    (
        "has 14 parameters and dimension 1",
        lambda: A((1, 3, 1), (1, 1)).num_parameters == 14 and dim((1, 3, 1), (1, 1)) == 1,
    ),
    (
        "tokens on a line can only be multiplied by numbers",
        lambda: (
            functions_are_multiples(A((1, 3, 1), (1, 1)))
            and not functions_are_multiples(A((2, 3, 2), (1, 1)))
        ),
    ),
]

ELSEWHERE = [
    (
        "The exact rank is not affected, since it has no rounding in it",
        "test_measure.py::test_two_dozen_layers_are_measured_exactly",
    ),
    (
        "It can be too small, with a tiny probability, which `Measurement.error_bound` states",
        "test_measure.py::test_a_deficient_rank_carries_a_probability_of_error",
    ),
    (
        "only $A = K^\\top Q$ matters",
        "test_network.py::test_a_change_of_basis_in_a_head_does_not_move_the_function",
    ),
    (
        "let layer $i$ hand on $C X_i$ instead of $X_i$ and let layer $i+1$ undo it",
        "test_network.py::test_a_change_of_basis_between_layers_does_not_move_the_function",
    ),
    (
        "The panel measures while you drag",
        "test_dimension_explorer.py::test_the_figure_shows_measurements_of_the_architecture_asked_for",
    ),
    (
        "they come from different code, and where they differ you would see two marks instead of one",
        "test_dimension_explorer.py::test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so",
    ),
    (
        "It first asks how much of each width the later layers can see",
        "test_formulas.py::test_effective_widths_are_ranks",
    ),
    (
        "Once a further input adds nothing, none ever will",
        "test_measure.py::test_what_one_more_input_adds_never_grows",
    ),
    (
        "So the place where the curve first stays level is the end",
        "test_measure.py::test_what_one_more_input_adds_never_grows",
    ),
    (
        "An exact rank modulo a prime can never be too large",
        "test_measure.py::test_a_tiny_field_may_fall_short_and_never_goes_beyond",
    ),
    (
        "It is 0 when the rank reaches the upper bound that the symmetries prove",
        "test_measure.py::test_the_error_is_zero_exactly_at_full_rank_and_otherwise_a_probability",
    ),
    (
        "the exponentials are replaced by free random elements. That this changes no rank",
        "test_measure.py::test_softmax_has_the_rank_of_the_definition_with_the_real_exponential",
    ),
]
