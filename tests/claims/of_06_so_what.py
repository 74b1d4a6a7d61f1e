"""What notebooks/06_so_what.py says in words: see tests/test_claims.py."""

from functools import cache

import numpy as np

import neuroviz as nv
from claims.common import A, random_networks
from neuroviz.beyond.memorisation.memorisation import (
    CASES,
    DRAWS,
    STARTS,
    draw_task,
    learn,
    measure_reach,
    shipped_experiment,
)
from neuroviz.beyond.memorisation.study import RUNS, MemorisationSetting, study_memorisation
from neuroviz.beyond.teleport.comparison import RATES, SEEDS, compare, norms_along, shipped_comparisons
from neuroviz.beyond.teleport.study import TeleportSetting, study_teleport
from neuroviz.beyond.teleport.teleport import (
    WALKS,
    descend,
    draw_problem,
    loss_and_gradient,
    move,
    squared_norm,
    stack,
)
from neuroviz.engine.field import Reals
from neuroviz.engine.network import forward
from neuroviz.engine.symmetry import change_head_basis
from neuroviz.explorables import MemorisationExplorer, TeleportExplorer
from neuroviz.factorization.determinantal import measure_product
from neuroviz.kit import theme
from neuroviz.lessons.checks_beyond import check_larger_and_poorer

NET = A((3, 3), (8,))


def curves(targets):
    return shipped_experiment().of(targets)


def capacities(targets, of="D"):
    """The largest N of which half is learnt, over D or P."""
    return [c.capacity / (c.dimension if of == "D" else c.arch.num_parameters) for c in curves(targets)]


def random_softmax():
    return [c for c in curves("random") if c.arch.attention == "softmax"]


def gives_up(curve):
    return curve.capacity is None or curve.capacity < 0.95 * curve.dimension


def shares_at(targets, where):
    """Which part is learnt where this holds of N − D, in all networks."""
    return [t.share for c in curves(targets) for t in c.trials if where(t.count - c.dimension)]


def beyond(curve):
    return [trial for trial in curve.trials if trial.count > curve.dimension]


def no_run_learns_beyond():
    return not any(shares_at("nearby", lambda k: k > 0) + shares_at("random", lambda k: k > 0))


def learnt_now(targets, beyond, network=None):
    """How many of the panel's three runs learn."""
    setting = {} if network is None else {"network": network}
    return study_memorisation(MemorisationSetting(targets=targets, beyond=beyond, **setting)).learnt


def reach_is_the_smaller_of_n_and_d():
    networks = [arch for arch in random_networks(40) if arch.tokens > 1][:15]
    return all(
        [measure_reach(arch, N).value for N in (max(D - 1, 1), D, D + 2)] == [max(D - 1, 1), D, D]
        for arch in networks
        for D in [nv.measure_dimension(arch).value]
    )


def each_starts_count():
    """Eight tasks for each N; up to three starts, and one for a small change."""
    tasks = {
        targets: [len(task) for c in curves(targets) for t in c.trials for task in t.misses]
        for targets in ("nearby", "random", "teacher")
    }
    return (
        {len(t.misses) for c in shipped_experiment().curves for t in c.trials} == {8} == {DRAWS}
        and [max(tasks[targets]) for targets in tasks] == [1, 3, 3]
        and STARTS == 3 == RUNS
    )


def upright_lines():
    """Of the left and the middle picture, for N = D − 2: where the orange ones stand."""
    panel = MemorisationExplorer(state="targets=nearby;network=lightning-3-3-a8;beyond=-2")
    orange = theme.color("focus")
    found = sorted(line.x0 for line in panel.figure.layout.shapes if line.line.color == orange)
    red, green, blue = (int(orange[k : k + 2], 16) for k in (1, 3, 5))
    runs = [one for one in panel.figure.data if (one.name or "").startswith("run ")]
    panel.close()
    return np.allclose(found, [15 / 57, 15 / 17]) and red > green > blue and len(runs) == 3


def far_beyond_with_a_teacher():
    return all(learn(*draw_task(NET, "teacher", 17 + k, draw=0)).learnt for k in (5, 10)) and not any(
        learn(*draw_task(NET, "random", 17 + k, draw=0)).learnt for k in (5, 10)
    )


def head_basis_moves_only_the_gradient():
    start, X, Y, _ = draw_problem("keys", 1)
    C = np.array([[2.0, 1.0], [0.0, 0.5]])
    there = change_head_basis(Reals(), start, 0, C)
    losses, gradients = loss_and_gradient(stack([start, there]), X[None], Y[None])
    first, second = squared_norm(gradients)
    outputs = [forward(Reals(), "lightning", weights, X) for weights in (start, there)]
    return np.allclose(*outputs) and np.isclose(*losses) and not np.isclose(first, second, rtol=0.05)


def counts(rule, destination="twice"):
    """Of each walk: what was counted."""
    found = shipped_comparisons().values()
    return [c for walk in found for c in walk.of(rule) if c.destination == destination]


def part_ahead(rule, destination, at=-1):
    """Which part of those that are not alike is ahead, for each walk."""
    return [c.ahead[at] / (c.ahead[at] + c.behind[at]) for c in counts(rule, destination)]


def the_gradient_there_is_twice_as_long():
    """The gradient at the place of the jump is twice as long; the loss is the same."""
    for walk in WALKS:
        problem = draw_problem(walk, 3)
        s = norms_along(walk, problem)[0].nearest(4)
        both = stack([problem.weights, move(walk, problem.weights, problem.generator, s)])
        losses, gradients = loss_and_gradient(both, problem.X[None], problem.Y[None])
        short, long = np.sqrt(squared_norm(gradients))
        if not (np.isclose(long, 2 * short, rtol=1e-5) and np.isclose(*losses)):
            return False
    return True


@cache
def descents(place, rate):
    study = study_teleport(TeleportSetting(place=place, rate=rate))
    return study.from_start, study.from_here, study.gradient / study.gradient_at(0.0)


def faster_from_there_at_a_small_rate():
    start, here, times = descents(1.0, -9)
    back, there, shorter = descents(-1.0, -9)
    return (
        times > 1.5
        and all(h < s for h, s in zip(here[1:], start[1:], strict=True))
        and shorter < 1
        and not any(h < s for h, s in zip(there[1:], back[1:], strict=True))
    )


def lost_from_there_only():
    start, here, _ = descents(1.0, -7)
    return np.isinf(here[-1]) and np.isfinite(start[-1]) and start[-1] < start[0]


def steepness(walk, seed):
    """log₂ of the largest rate that does not fail within 60 steps: from the start, and after a jump."""
    problem, k = draw_problem(walk, seed), np.arange(-14, 1, 0.25)
    s = norms_along(walk, problem)[0].nearest(4)
    found = []
    for weights in (problem.weights, move(walk, problem.weights, problem.generator, s)):
        losses = descend(stack([weights] * len(k)), problem.X[None], problem.Y[None], 2.0**k, 60)[-1]
        found.append(k[np.isinf(losses).argmax() - 1])
    return found


def steeper_after_a_jump():
    return all(steepness(walk, seed)[1] < steepness(walk, seed)[0] for walk in WALKS for seed in range(2))


def colours_of_the_teleport_panel():
    panel = TeleportExplorer(state="walk=keys;place=1;rate=-9")
    found = {one.name: one for one in panel.figure.data}
    red, green, blue = (int(found["ahead: minimum"].line.color[k : k + 2], 16) for k in (1, 3, 5))
    places = [panel.figure.layout[axis].domain[0] for axis in ("xaxis", "xaxis3", "xaxis4")]
    heights = [panel.figure.layout[axis].domain[0] for axis in ("yaxis", "yaxis2")]
    panel.close()
    return (
        found["from the start"].line.dash == "dash"
        and found["from here"].line.dash == "solid"
        and green > max(red, blue)
        and places == sorted(places)
        and heights[0] > heights[1]
    )


def first_of_the_two_hundred():
    """The network that the panel opens with is one of them."""
    least = study_teleport(TeleportSetting()).least
    found = shipped_comparisons()["keys"]
    return found.seeds == 200 and abs(found.least[0] - least) < 2e-4 < abs(found.least[1] - least)


def jumping_helps_at_one_rule_only():
    return all(
        (max(a - b for a, b in zip(c.ahead, c.behind, strict=True)) > 0) == (rule == "small")
        for rule in ("same", "small", "own")
        for c in counts(rule)
    )


def a_few_again():
    """Six seeds counted afresh: at an eighth of the best rate ahead at first, and lost at the best one."""
    by = {(c.destination, c.rule): c for c in compare("values", seeds=6).counts}
    return (
        by["twice", "small"].ahead[0] >= 4
        and by["twice", "same"].lost[-1] >= 4
        and by["twice", "own"].behind[-1] > by["twice", "own"].ahead[-1]
    )


@cache
def best_rates_by_hand(seeds=6):
    """Who is ahead after 300 steps, by more than 1 %, each at the rate of the list that is best there."""
    ahead = 0
    for seed in range(seeds):
        problem = draw_problem("keys", seed)
        s = norms_along("keys", problem)[0].nearest(4)
        best = [
            descend(stack([there] * len(RATES)), problem.X[None], problem.Y[None], np.array(RATES), 300)[
                -1
            ].min()
            for there in (problem.weights, move("keys", problem.weights, problem.generator, s))
        ]
        ahead += best[1] < 0.99 * best[0]
    counted = next(c for c in compare("keys", seeds).counts if (c.destination, c.rule) == ("twice", "own"))
    return ahead == counted.ahead[-1]


def solution():
    larger = nv.Architecture(widths=(4, 1, 4), head_dims=(4, 4))
    smaller = nv.Architecture(widths=(4, 3, 4), head_dims=(1, 2))
    verdicts = [check_larger_and_poorer(*pair) for pair in ((larger, smaller), (smaller, larger))]
    return [verdict.passed for verdict in verdicts] == [True, False]


def networks_of_three_layers(most):
    """How many there are with at most so many parameters, of one kind and one number of tokens."""

    @cache
    def choices(width, left, layers):
        if layers == 0:
            return 1
        return sum(
            choices(after, left - 2 * a * width - width * after, layers - 1)
            for a in range(1, left // (2 * width) + 1)
            for after in range(1, (left - 2 * a * width) // width + 1)
        )

    return sum(choices(width, most, 3) for width in range(1, most))


def heads_that_do_nothing():
    """A head larger than its width: more parameters, the same dimension; a narrow place: a small one."""
    large = [A((4, 1, 4), (a, a)) for a in (4, 5, 8)]
    return (
        len({nv.measure_dimension(arch).value for arch in large}) == 1
        and len({arch.num_parameters for arch in large}) == 3
        and nv.measure_dimension(A((4, 2, 4), (4, 4))).value > nv.measure_dimension(large[0]).value
    )


def offered(panel, name):
    """The words in the list of a control, by what they stand for."""
    (control,) = [one for one in panel.controls.values() if one.description.startswith(name)]
    panel.close()
    return {value: words for words, value in control.options}


def three_kinds_of_numbers():
    words = {"nearby": "a small change", "random": "random numbers", "teacher": "another’s outputs"}
    return offered(MemorisationExplorer(), "to be learnt") == words


def rates_for_the_200():
    words = offered(TeleportExplorer(), "the 200")
    return set(words) == {c.rule for c in shipped_comparisons()["keys"].counts} == {"same", "small", "own"}


@cache
def small_rates_by_hand(part, seeds=5):
    """Who is ahead after one step and after 300 at this part of the rate that is best for the start."""
    ahead = [0, 0]
    for seed in range(seeds):
        problem = draw_problem("keys", seed)
        s = norms_along("keys", problem)[0].nearest(4)
        data = problem.X[None], problem.Y[None]
        rates = np.array(RATES)
        losses = descend(stack([problem.weights] * len(rates)), *data, rates, 300)[-1]
        rate = rates[losses.argmin()] * part
        both = stack([problem.weights, move("keys", problem.weights, problem.generator, s)])
        path = descend(both, *data, np.array([rate, rate]), 300)
        for n, step in enumerate((1, 300)):
            ahead[n] += path[step, 1] < 0.99 * path[step, 0]
    return ahead


def an_eighth_of_the_best_rate(seeds=5):
    found = compare("keys", seeds).counts
    (small,) = [c for c in found if (c.destination, c.rule) == ("twice", "small")]
    return small_rates_by_hand(1 / 8) == [small.ahead[0], small.ahead[-1]] != small_rates_by_hand(1)


def a_number_for_each_input():
    """The network that has learnt gives them: combinations of its outputs that the task fixes."""
    task, start = draw_task(NET, "nearby", 17, draw=0)
    found = [
        (task.C[:, 0] * forward(Reals(), "lightning", weights, task.X)).sum(axis=(1, 2))
        for weights in (learn(task, start).weights, start)
    ]
    near = [np.linalg.norm(numbers - task.y) / task.scale for numbers in found]
    return task.X.shape[0] == task.y.size == 17 and near[0] < 1e-3 < 0.5 < near[1]


CLAIMS = [
    (
        "whether parameters or dimensions decide it",
        lambda: set(capacities("nearby")) == {1.0} and max(capacities("nearby", "P")) < 1,
    ),
    (
        "one random number that the network is to give there: a fixed combination of its outputs",
        a_number_for_each_input,
    ),
    ("moves in $D$ directions only", reach_is_the_smaller_of_n_and_d),
    ("its functions fill a set of measure zero among all $N$ numbers", reach_is_the_smaller_of_n_and_d),
    (
        "a network with a head dimension far above its width",
        lambda: NET.head_dims[0] > 2 * NET.widths[0],
    ),
    (
        "57 says parameters",
        lambda: NET.num_parameters == 57 and nv.measure_dimension(NET).value == 17,
    ),
    (
        "A is a 3 × 3 matrix however large the head, so 9 for A, 9 for V, less one",
        lambda: (
            [measure_product(3, a).dimension for a in (3, 8, 11)] == [9, 9, 9]
            and {nv.measure_dimension(A((3, 3), (a,))).value for a in (3, 5, 8, 11)} == {9 + 9 - 1}
            and nv.measure_dimension(A((3, 3), (8,), attention="softmax")).value == 9 + 9
        ),
    ),
    ("A and V have 9 entries each", lambda: 9 + 9 == nv.measure_dimension(NET).value + 1),
    (
        "Fourteen networks, lightning and softmax",
        lambda: (
            len(CASES) == 14 == len(curves("nearby"))
            and {arch.attention for arch in CASES} == {"lightning", "softmax"}
        ),
    ),
    (
        "Each was asked for $N$ numbers, eight times, and a damped Newton method had up to three starts",
        each_starts_count,
    ),
    ("the upright orange line in the other two pictures", upright_lines),
    ("At the right three runs that were made just now", upright_lines),
    (
        "Move **N − D** from 0 to 1: one number more",
        lambda: [learnt_now("nearby", k, "lightning-3-3-a8") for k in (-1, 0, 1)] == [3, 3, 0],
    ),
    ("Ask for **random numbers** instead of **a small change**", three_kinds_of_numbers),
    (
        "Which kind of attention gives up long before $D$",
        lambda: [learnt_now("random", -2, f"{k}-3-3-3-a2-2") for k in ("lightning", "softmax")] == [3, 0],
    ),
    ("**Another's outputs** are numbers that a teacher gives", three_kinds_of_numbers),
    (
        "numbers that a teacher gives, a network of the same kind with other weights",
        lambda: [learnt_now(of, 2, "lightning-3-3-a8") > 0 for of in ("teacher", "random")] == [True, False],
    ),
    ("One number beyond $D$, and no run learns", no_run_learns_beyond),
    (
        'Point out what is a theorem and what is not: "none beyond D" has a proof',
        lambda: (
            no_run_learns_beyond()
            and set(shares_at("nearby", lambda k: k < 0)) == {1.0}
            and min(shares_at("random", lambda k: k < 0)) == 0
        ),
    ),
    (
        "That softmax learns random numbers badly is an observation on six small networks",
        lambda: len(random_softmax()) == 6 and max(c.arch.num_parameters for c in random_softmax()) <= 57,
    ),
    (
        "fourteen networks fall off one cliff over $N/D$, and over $N/P$ at fourteen different places",
        lambda: (
            capacities("nearby") == [1.0] * 14
            and len({round(share, 3) for share in capacities("nearby", "P")}) == 14
            and min(shares_at("nearby", lambda k: k <= 0)) >= 7 / 8
        ),
    ),
    (
        "softmax gives up before $D$ in five of six networks",
        lambda: (
            [gives_up(c) for c in random_softmax()].count(True) == 5
            and not any(
                c.capacity < 0.9 * c.dimension for c in curves("random") if c.arch.attention == "lightning"
            )
        ),
    ),
    (
        "at $0.9\\,D$ in the mildest case and at $0.62\\,D$ or less in the worst",
        lambda: (
            round(max((c.capacity or 0) / c.dimension for c in random_softmax() if gives_up(c)), 1) == 0.9
            and [c.trials[0].count / c.dimension for c in random_softmax() if c.capacity is None] == [0.625]
        ),
    ),
    (
        "nothing says that a set of the full dimension is everything",
        lambda: any(t.learnt == 0 for c in random_softmax() for t in c.trials if t.count < c.dimension),
    ),
    ("What a teacher gives lies in the set, for every $N$", far_beyond_with_a_teacher),
    (
        "in eleven of the fourteen networks it shows that the method can find a solution beyond $D$",
        lambda: [any(t.learnt for t in beyond(c)) for c in curves("teacher")].count(True) == 11,
    ),
    ("$(CQ, C^{-\\top}K)$ gives the same function as $(Q, K)$", head_basis_moves_only_the_gradient),
    ("The loss is the same, too; its gradient is not", head_basis_moves_only_the_gradient),
    (
        "Two hundred starts jump to where the gradient is twice as long",
        the_gradient_there_is_twice_as_long,
    ),
    ("Then they and those that stayed do 300 steps of gradient descent", best_rates_by_hand),
    ("each with the rate that is best for it at the step that is looked at", best_rates_by_hand),
    (
        "Of 200 that jumped, how many are ahead after 300 steps, each with its own best rate",
        lambda: SEEDS == 200 and all(c.ahead[-1] not in (100, 200) for c in counts("own")),
    ),
    (
        "At the left the length of the gradient along the fibre, and below it the loss, which does not stir",
        colours_of_the_teleport_panel,
    ),
    ("gradient descent from the start (dashed)", colours_of_the_teleport_panel),
    ("Choose another rate for **the 200**", rates_for_the_200),
    ("where the gradient is shortest (the green line)", colours_of_the_teleport_panel),
    ("At the right 200 networks, counted beforehand", first_of_the_two_hundred),
    ("At a small rate the descent from there is faster", faster_from_there_at_a_small_rate),
    (
        "Raise the **rate** to $2^{-7}$: from there the descent is lost, from the start it is not",
        lost_from_there_only,
    ),
    ("four times that rate", lambda: 2.0**-7 == 4 * 2.0**-9),
    (
        "the one setting in which jumping helps: a rate that is too small for the start",
        jumping_helps_at_one_rule_only,
    ),
    ("the largest rate that does not fail is smaller there", steeper_after_a_jump),
    ("At an eighth of the start's best rate", an_eighth_of_the_best_rate),
    (
        "a jump is ahead after one step in most runs, and after 300 steps in about half of them or fewer",
        lambda: all(c.ahead[0] > 120 and c.ahead[-1] < 110 for c in counts("small")) and a_few_again(),
    ),
    (
        "of 200 that doubled their gradient, 136 to 180 are ahead at first and 23 to 103 in the end",
        lambda: (
            [min(c.ahead[0] for c in counts("small")), max(c.ahead[0] for c in counts("small"))] == [136, 180]
            and [min(c.ahead[-1] for c in counts("small")), max(c.ahead[-1] for c in counts("small"))]
            == [23, 103]
        ),
    ),
    (
        "At the start's own best rate most jumps are lost",
        lambda: all(c.lost[-1] > 150 and max(c.start_lost) < 10 for c in counts("same")),
    ),
    (
        "With the best rate for each, jumping is behind in the end, in 155 of 200 or more",
        lambda: min(c.behind[-1] for c in counts("own")) == 155,
    ),
    (
        "To jump to the shortest gradient instead is a toss of a coin in the end",
        lambda: all(0.4 < part < 0.6 for rule in ("small", "own") for part in part_ahead(rule, "minimum")),
    ),
    (
        "and at the start's own best rate a little worse than that",
        lambda: all(0.3 < part < 0.5 for part in part_ahead("same", "minimum")),
    ),
    (
        "So a jump is worth something for a while, where the rate was too small",
        lambda: all(c.ahead[0] > c.behind[0] and c.ahead[-1] < c.ahead[0] for c in counts("small")),
    ),
    (
        "the dimension is the most numbers near its own that a network can learn",
        lambda: set(capacities("nearby")) == {1.0} and not any(shares_at("nearby", lambda k: k > 0)),
    ),
    ("Spend parameters where they do nothing, on large heads around a narrow place", heads_that_do_nothing),
    ("larger = nv.Architecture(widths=(4, 1, 4), head_dims=(4, 4))", solution),
    (
        "There are almost three million choices",
        lambda: networks_of_three_layers(100) == 2_940_613 and networks_of_three_layers(9) == 1,
    ),
]

ELSEWHERE = [
    (
        "At the left the share of tasks that were learnt, over $N/D$; beside it the same over $N/P$",
        "test_memorisation_explorer.py::test_every_network_is_drawn_at_what_the_experiment_found",
    ),
    (
        'has a proof; "all below D" has one for nearby numbers only',
        "test_memorisation.py::test_every_small_change_of_n_numbers_is_in_reach_exactly_up_to_n_equal_to_the_dimension",
    ),
    (
        "Both are experiments, told as they came out",
        "test_memorisation.py::test_running_a_part_again_gives_what_is_shipped",
    ),
    (
        "the squared length of the gradient is a sum of exponentials",
        "test_teleport.py::test_along_a_walk_the_loss_stays_and_the_norms_are_those_of_the_formula",
    ),
    (
        "so it has a shortest place and no longest one",
        "test_teleport.py::test_the_gradient_is_shortest_once_and_longest_nowhere",
    ),
    (
        "Move **place s**: the gradient changes and the loss does not",
        "test_teleport_explorer.py::test_the_loss_is_flat_and_the_gradient_is_that_of_the_weights_there",
    ),
    (
        "which part of them is ahead after so many steps when it jumps first",
        "test_teleport_explorer.py::test_what_was_counted_is_drawn_as_it_was_counted",
    ),
]
