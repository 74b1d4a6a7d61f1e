"""What notebooks/03_where_training_ends.py says in words: see tests/test_claims.py."""

from functools import cache
from unittest import mock

import numpy as np
from scipy.integrate import DOP853

from neuroviz.beyond.training.flow import (
    Attraction,
    attraction,
    forms_table,
    gradient_flow,
    random_starts,
    random_targets,
)
from neuroviz.beyond.training.panel import FlowSetting, study_flow
from neuroviz.engine.layer import product_table
from neuroviz.explorables import FlowExplorer
from neuroviz.lessons.checks_one_layer import check_singular_goal
from neuroviz.lessons.questions import BOUNDARY as AT_BOUNDARY
from neuroviz.lessons.questions import SMOOTH, where_runs_end
from neuroviz.singular.forms import (
    BOUNDARY,
    CLOSURE,
    CROSSING,
    OFF,
    forms_of,
    kind_of,
    layer_with_root,
    nearest_layer,
)
from neuroviz.singular.surface import SLICES

NEAREST = 1e-6
"""The nearest layer is found by iteration."""


@cache
def row(target, runs, time):
    return attraction(target, runs=runs, time=time)


def about(found, *told):
    """Whether the shares singular, at the boundary and near are these per cents, up to one per cent."""
    shares = (found.singular, found.boundary, found.near)
    return all(abs(100 * share - percent) <= 1 for share, percent in zip(shares, told, strict=True))


def within(found, told):
    """Whether a share of some runs is what was told of 400, up to four standard errors."""
    error = max((told * (1 - told) / found[1]) ** 0.5, 1 / found[1])
    return abs(found[0] - told) <= 4 * error


def one_run():
    """The run of the notebook."""
    rng = np.random.default_rng(0)
    A, V = rng.standard_normal((1, 2, 2)) / 2, rng.standard_normal((1, 1, 2)) / 2
    return gradient_flow(random_targets("realisable", 1, seed=0), A, V, time=60)


def loss(A, V, T):
    return ((product_table(A, V) - T) ** 2).sum() / 2


def slopes(A, V, T):
    """⟨∇_A, A⟩ and ⟨∇_V, V⟩, from the loss alone."""
    h = 1e-5
    by_A = (loss((1 + h) * A, V, T) - loss((1 - h) * A, V, T)) / (2 * h)
    by_V = (loss(A, (1 + h) * V, T) - loss(A, (1 - h) * V, T)) / (2 * h)
    return by_A, by_V


def layers(count):
    for seed in range(count):
        start = random_starts(1, seed)
        yield 2 * start["A"][0], 2 * start["V"][0], random_targets("gaussian", 1, seed)[0]


def rescaling_keeps_the_loss():
    return all(
        np.isclose(loss(A, V, T), loss(c * A, V / c, T)) and not np.isclose(loss(A, V, T), loss(c * A, V, T))
        for A, V, T in layers(5)
        for c in (-2.0, 0.3, 5.0)
    )


def slopes_along_the_rescaling_cancel():
    found = [slopes(A, V, T) for A, V, T in layers(8)]
    return all(np.isclose(*pair, atol=1e-7) and abs(pair[0]) > 1e-3 for pair in found)


def derivative_along_the_flow():
    """Also for a loss without the symmetry, ½‖A − B‖² + ½‖V‖², where it is not 0: one small step."""
    rng, h = np.random.default_rng(0), 1e-6
    A, B, V = rng.standard_normal((2, 2)), rng.standard_normal((2, 2)), rng.standard_normal((1, 2))
    A2, V2 = A - h * (A - B), V - h * V
    half = ((A2**2).sum() - (V2**2).sum() - (A**2).sum() + (V**2).sum()) / (2 * h)
    return np.isclose(half, -(((A - B) * A).sum() - (V * V).sum()), rtol=1e-4) and abs(half) > 0.1


def kept(flow):
    return np.abs(flow.conserved["‖A‖² − ‖V‖²"] - flow.conserved["‖A‖² − ‖V‖²"][0]).max()


def forms_in(T):
    return [(q[0, 0], 2 * q[0, 1], q[1, 1]) for q in T[:, 0]]


@cache
def kinds(target, of_nearest):
    """The kinds of 60 targets, or of the layers nearest to them."""
    found = set()
    for T in random_targets(target, 60, seed=0):
        q1, q2 = forms_in(T)
        if of_nearest:
            near = nearest_layer(q1, q2)
            q1, q2 = forms_of(*layer_with_root(q1, q2, near.X, near.Y))
        found.add(str(kind_of(q1, q2, tol=NEAREST)))
    return found


def next_to_a_dotted_one():
    """What noise adds, relative to the target: some per cent."""
    dotted, noisy = (random_targets(kind, 400, 0) for kind in ("dotted", "dotted, noisy"))
    size = np.sqrt((dotted**2).sum(axis=(1, 2, 3, 4)))
    off = np.sqrt(((noisy - dotted) ** 2).sum(axis=(1, 2, 3, 4))) / size
    return 0.01 < np.median(off) < 0.1 and kinds("dotted, noisy", False) == {OFF}


def placed(x, y=0.0, z=0.0, time=60.0):
    """The kind of a target in S1, and the shares of 40 runs that end singular or at the boundary."""
    study = study_flow(FlowSetting("placed", time=time, x=x, y=y, z=z))
    return study.target_kind, study.counts.singular, study.counts.boundary


def strip_and_corner():
    """The regions of the picture: the strip reaches from end to end at the bottom, the corner is its left."""
    panel = FlowExplorer(state="target=dotted;runs=40;time=60")
    strip, corner = panel.figure.layout.shapes
    low = panel.figure.layout.yaxis3.range[0]
    ends = {one.name: one for one in panel.figure.data if one.name.startswith("ends")}
    singular, smooth = (
        [*ends["ends: singular only"].y, *ends["ends: at the boundary"].y],
        ends["ends: smooth"].y,
    )
    losses = sum(list(one.x).count(None) for one in panel.figure.data if one.name.startswith("loss of runs"))
    panel.close()
    return (
        strip.y0 == corner.y0 <= low
        and strip.y1 == corner.y1
        and strip.x0 == corner.x0 < corner.x1 < strip.x1
        and corner.line.width > 0 == strip.line.width
        and max(singular) <= strip.y1 < min(smooth, default=0.0)
        and losses == 40
    )


def controls_of_a_placed_target():
    panel = FlowExplorer(state="target=placed;runs=2;time=10")
    boxes = [box for box in panel.children if panel.controls["x"] in getattr(box, "children", ())]
    folded = {name for name, control in panel.controls.items() if control in boxes[0].children}
    label = dict((value, words) for words, value in panel.controls["target"].options)["placed"]
    panel.close()
    return folded >= {"slice", "x", "y", "z"} and "target" not in folded and "placed by you" in label


def proportional(q1, q2):
    return np.linalg.matrix_rank(np.array([q1, q2], dtype=float), tol=1e-9) == 1


def nearest_to_proportional_ones():
    """… without real roots: proportional, too. With other forms it is not."""
    found = []
    for pair in (
        ((1, 0, 2), (2, 0, 4)),
        ((3, 1, 1), (-6, -2, -2)),
        ((1, 1, 1), (0, 0, 0)),
        ((1, 0, 2), (2, 1, 1)),
    ):
        near = nearest_layer(*pair)
        forms = np.array(forms_of(*layer_with_root(*pair, near.X, near.Y)), dtype=float)
        found.append(np.linalg.svd(forms, compute_uv=False)[1] < NEAREST)
    return found == [True, True, True, False]


def descended(steps, noise, rate=0.02, runs=40):
    """How far ‖A‖² − ‖V‖² has moved after gradient descent, with noise on the targets at each step."""
    rng, T = np.random.default_rng(0), random_targets("realisable", runs, 0)
    A, V = random_starts(runs, 0).values()
    before, lost = (A**2).sum((1, 2)) - (V**2).sum((1, 2)), ((product_table(A, V) - T) ** 2).sum()
    for _ in range(steps):
        rest = product_table(A, V) - T
        if noise:
            rest = rest + noise * forms_table(*rng.standard_normal((2, 3)))
        step_A, step_V = np.einsum("nkmij,nmj->nik", rest, V), np.einsum("nkmij,nik->nmj", rest, A)
        A, V = A - rate * step_A, V - rate * step_V
    moved = np.abs((A**2).sum((1, 2)) - (V**2).sum((1, 2)) - before)
    assert noise or ((product_table(A, V) - T) ** 2).sum() < 0.05 * lost
    return float(np.median(moved))


@cache
def ended(factored, time):
    """20 runs towards dotted targets, in (Q, K, V) or in (A, V): where they end."""
    start = random_starts(20, 0, factored)
    return gradient_flow(random_targets("dotted", 20, 0), **start, time=time, samples=2)


def singular_share(factored, time):
    return np.mean(ended(factored, time).ends != "smooth")


def solvers_for(runs):
    """How many solvers a flow makes, and of how many numbers."""
    with mock.patch("scipy.integrate.DOP853", wraps=DOP853) as solver:
        gradient_flow(random_targets("gaussian", runs, 0), **random_starts(runs, 0), time=1)
    return solver.call_count, len(solver.call_args.args[2])


def squares(M):
    return (M**2).sum(axis=(-2, -1))


def conserved_in_three_factors():
    flow = ended(True, 150)
    moved = {name: np.abs(path[-1] - path[0]).max() for name, path in flow.conserved.items()}
    matrix = flow.conserved["QQᵀ − KKᵀ"]
    old = squares(flow.A) - squares(flow.V)
    return (
        set(moved) == {"QQᵀ − KKᵀ", "‖Q‖² − ‖V‖²"}
        and max(moved.values()) < 1e-3
        and np.abs(old[-1] - old[0]).max() > 0.1
        and np.allclose(matrix, np.swapaxes(matrix, -1, -2))
    )


def offered(name):
    """The words in the list of a control of the panel, by what they stand for."""
    panel = FlowExplorer(state="runs=2;time=10")
    (control,) = [one for one in panel.controls.values() if one.description == name]
    found = {value: words for words, value in control.options}
    panel.close()
    return found


def four_kinds_and_one_of_your_own():
    named = {"gaussian": "Gaussian", "realisable": "realisable", "dotted": "dotted", "dotted, noisy": "noise"}
    words = offered("target")
    return set(words) == {*named, "placed"} and all(named[kind] in words[kind] for kind in named)


def ratios_at_the_end(runs, time):
    """σ₂/σ₁ of A, of the runs towards dotted targets that a row of the table counts."""
    flow = gradient_flow(random_targets("dotted", runs, 0), **random_starts(runs, 0), time=time)
    sigma = np.linalg.svd(flow.A[-1], compute_uv=False)
    return sigma[:, 1] / sigma[:, 0]


def a_thousandth_counts_as_singular():
    """Soon after the start, when other bounds would give other shares."""
    ratios, found = ratios_at_the_end(40, 20), row("dotted", 40, 20)
    shares = [(ratios < bound).mean() for bound in (3e-4, 1e-3, 3e-3, 0.05)]
    return shares[0] < shares[1] == found.singular < shares[2] and shares[3] == found.near


TEST = "test_flow.py::test_"
CLAIMS = [
    (
        "Its function is a table of two quadratic forms",
        lambda: random_targets("realisable", 1, 0).shape[1:] == (2, 1, 2, 2),
    ),
    ("The loss falls", lambda: np.diff(one_run().loss[:, 0]).max() < 1e-9 and one_run().loss[-1, 0] < 1e-6),
    (
        "the run ends somewhere: smooth, singular",
        lambda: one_run().ends[0] == "smooth",
    ),
    ("Rescaling $(cA, V/c)$ does not change the loss", rescaling_keeps_the_loss),
    ("A symmetry of the loss freezes a quantity of the flow", lambda: kept(one_run()) < 1e-6),
    (
        "\\langle \\nabla_A, A \\rangle - \\langle \\nabla_V, V \\rangle = 0",
        slopes_along_the_rescaling_cancel,
    ),
    ("along the flow is minus exactly this", derivative_along_the_flow),
    ("the flow stays on the fibre's level at which it began", lambda: kept(ended(False, 150)) < 1e-3),
    ("Four kinds of targets:", four_kinds_and_one_of_your_own),
    (
        "any pair of forms, usually the function of no layer",
        lambda: kinds("gaussian", False) == {OFF},
    ),
    (
        "so that the loss can reach zero",
        lambda: (
            np.median(
                gradient_flow(random_targets("realisable", 40, 0), **random_starts(40, 0), time=60).loss[-1]
            )
            < 1e-6
            and np.median(
                gradient_flow(random_targets("gaussian", 40, 0), **random_starts(40, 0), time=60).loss[-1]
            )
            > 1e-3
        ),
    ),
    (
        "two proportional forms without real roots, which are the function of no layer",
        lambda: (
            kinds("dotted", False) == {CLOSURE}
            and all(proportional(*forms_in(T)) for T in random_targets("dotted", 60, 0))
        ),
    ),
    ("**dotted, plus noise**: next to one", next_to_a_dotted_one),
    ("In the strip at the bottom are singular points, and in its framed corner", strip_and_corner),
    (
        "Gaussian targets. Where do most of 40 runs end?",
        lambda: (
            where_runs_end(row("gaussian", 40, 100)) == SMOOTH
            and where_runs_end(row("dotted", 40, 100)) == AT_BOUNDARY
        ),
    ),
    ("($\\sigma_2/\\sigma_1$ of $A$ below $10^{-3}$ counts as singular", a_thousandth_counts_as_singular),
    (
        "| Gaussian | 0 % | | 8 % |",
        lambda: about(row("gaussian", 400, 600), 0, 0, 8),
    ),
    (
        "| realisable | 2 % | none | 21 % |",
        lambda: about(row("realisable", 400, 600), 2, 0, 21) and not row("realisable", 400, 600).boundary,
    ),
    (
        "| dotted | 99 % | nearly all | all |",
        lambda: (lambda a: a.singular > 0.9 and a.boundary > 0.8 and a.near > 0.95)(row("dotted", 60, 200)),
    ),
    (
        "| dotted, plus noise | 4 % | nearly all | 85 % |",
        lambda: (
            lambda a: (
                within((a.singular, 60), 0.04)
                and within((a.near, 60), 0.85)
                and a.boundary >= 0.5 * a.singular > 0
            )
        )(row("dotted, noisy", 60, 200)),
    ),
    (
        "the standard error is about two per cent at most",
        lambda: (
            max(Attraction("", 400, 0, 600.0, s, 0, s).error(s) for s in (0.08, 0.02, 0.21, 0.99, 0.04, 0.85))
            < 0.0205
        ),
    ),
    (
        "then the nearest function of a layer *is* singular",
        lambda: (
            kinds("dotted", True) == {BOUNDARY}
            and not any({BOUNDARY, CROSSING} & kinds(target, True) for target in ("gaussian", "realisable"))
        ),
    ),
    (
        "For generic targets the flow has no preference",
        lambda: row("gaussian", 400, 600).singular < 0.01 and row("realisable", 400, 600).singular < 0.05,
    ),
    (
        "choose *placed by you* and move it through the slice of the last notebook",
        controls_of_a_placed_target,
    ),
    (
        "two of them on the yellow line of the last notebook, where $y = z = 0$",
        lambda: (
            [str(kind_of(*SLICES["S1"].forms(*at))) for at in ((3, 0, 0), (1, 0, 0), (1, 0.5, 0))]
            == [CROSSING, CLOSURE, OFF]
        ),
    ),
    (
        "Where do targets have to lie for the runs to end at the boundary",
        lambda: [placed(3)[1:], placed(1)[1:], placed(1, 0.5)[1:]] == [(1, 0), (1, 1), (0, 0)],
    ),
    (
        "Those whose nearest layer is singular",
        lambda: (
            kinds("dotted", True) == {BOUNDARY}
            and BOUNDARY not in kinds("dotted, noisy", True)
            and row("dotted", 60, 200).singular > 0.9 > 0.2 > row("dotted, noisy", 60, 200).singular
        ),
    ),
    (
        "Two proportional forms without real roots: a point of the dotted part",
        lambda: kind_of((1, 0, 2), (2, 0, 4)) == CLOSURE != kind_of((1, 0, 2), (2, 0, 5)),
    ),
    ("The nearest layer has proportional forms, too", nearest_to_proportional_ones),
    (
        "my_q1 = (1, 0, 2) my_q2 = (2, 0, 4)",
        lambda: (
            check_singular_goal((1, 0, 2), (2, 0, 4)).passed
            and not check_singular_goal((1, 0, 2), (2, 1, 4)).passed
        ),
    ),
    (
        "an adaptive solver (DOP853 of scipy), all runs in one system",
        lambda: [solvers_for(runs) for runs in (1, 7, 40)] == [(1, 6), (1, 42), (1, 240)],
    ),
    ('"Flat" means: up to the solver\'s tolerance', lambda: 0 < kept(one_run()) < 1e-6),
    (
        "with a finite step conserves these quantities only roughly",
        lambda: 1e-5 < descended(3000, noise=0) < 0.1 and descended(3000, 0, rate=0.005) < descended(3000, 0),
    ),
    ("stochastic descent does not conserve them", lambda: descended(10_000, noise=1.0) > 0.3),
    (
        "A share of 2 % among 400 runs has a standard error of 0.7 %",
        lambda: round(100 * row("realisable", 400, 600).error(0.02), 1) == 0.7,
    ),
    (
        "Other seeds give other digits",
        lambda: len({attraction("gaussian", runs=60, seed=seed, time=60).near for seed in range(4)}) > 1,
    ),
    (
        "Let the weights be $(Q, K, V)$ instead of $(A, V)$ in the panel",
        lambda: offered("weights") == {"AV": "(A, V)", "QKV": "(Q, K, V)"},
    ),
    ("in the place of $\\lVert A \\rVert^2 - \\lVert V \\rVert^2$", conserved_in_three_factors),
    ("one symmetric matrix for the head basis of Lemma 3.1", conserved_in_three_factors),
    (
        "In the end about as many runs for dotted targets are at singular points",
        lambda: abs(singular_share(True, 150) - singular_share(False, 150)) <= 0.15,
    ),
    (
        "how fast they get there is not the same",
        lambda: singular_share(False, 20) > singular_share(True, 20) + 0.2,
    ),
]

ELSEWHERE = [
    (
        "the loss is half the squared distance to a target table",
        TEST + "the_loss_is_half_the_bombieri_distance_of_the_forms",
    ),
    ("\\dot\\theta = -\\nabla\\,\\mathrm{loss}", TEST + "the_runs_follow_minus_the_gradient"),
    (
        "singular (both ranks at most one), or at the boundary (and keys and values use the same form)",
        TEST + "where_a_run_ends_is_read_off_its_weights",
    ),
    ("check what the flow is not allowed to change", TEST + "what_theory_says_is_conserved_is"),
    (
        "The loss of every run against time; what is conserved, flat",
        "test_flow_explorer.py::test_what_is_conserved_is_flat_and_its_drift_is_said",
    ),
    (
        "With 400 runs of time 600 for each kind, this is what we found",
        TEST + "the_table_of_the_documentation_is_reproduced_by_one_call",
    ),
    (
        "(`neuroviz.beyond.training.flow.attraction_table()` makes the whole table.)",
        TEST + "the_table_of_the_documentation_is_reproduced_by_one_call",
    ),
    (
        "the function of a random layer, so that the loss can reach zero",
        TEST + "dotted_targets_have_no_common_real_root_and_realisable_ones_have",
    ),
]
