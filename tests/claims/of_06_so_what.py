"""What notebooks/06_so_what.py says in words: see tests/test_claims.py."""

from functools import cache

import numpy as np

import neuroviz as nv
from claims.common import A, random_networks
from neuroviz.beyond.memorisation.memorisation import (
    CASES,
    DRAWS,
    LEARNT,
    STARTS,
    draw_task,
    learn,
    measure_reach,
    stored_curves,
)
from neuroviz.engine.field import Reals
from neuroviz.engine.network import forward
from neuroviz.engine.symmetry import change_head_basis
from neuroviz.explorables import MemorisationExplorer
from neuroviz.factorization.determinantal import measure_product
from neuroviz.lessons.checks_beyond import check_larger_and_poorer
from studies.teleportation.teleportation import (
    RATES,
    WALKS,
    descend,
    draw_problem,
    loss_and_gradient,
    move,
    norms_along,
    stack,
    stored,
)

NET = A((3, 3), (8,))


def curves(targets):
    return [curve for curve in stored_curves() if curve.targets == targets]


def capacities(targets, of="D"):
    """The largest N of which half is learnt, over D or P."""
    return [c.capacity / (c.dimension if of == "D" else c.arch.num_parameters) for c in curves(targets)]


def random_softmax():
    return [c for c in curves("random") if c.arch.attention == "softmax"]


def gives_up(curve):
    return curve.capacity is None or curve.capacity < 0.95 * curve.dimension


def shares_at(targets, where):
    """Which part is learnt where this holds of N − D, in all networks."""
    return [share for c in curves(targets) for N, share in c.shares.items() if where(N - c.dimension)]


def no_run_learns_beyond():
    return not any(shares_at("nearby", lambda k: k > 0) + shares_at("random", lambda k: k > 0))


def learnt_again(targets, beyond, arch=NET):
    """How many of three tasks with N = D + beyond are learnt."""
    N = nv.measure_dimension(arch).value + beyond
    return sum(learn(*draw_task(arch, targets, N, draw))[-1] < LEARNT for draw in range(3))


def gives_up_long_before():
    """Softmax, in what is stored and again."""
    early = [
        c.arch.attention for c in curves("random") if c.capacity is None or c.capacity < 0.9 * c.dimension
    ]
    pair = [A((3, 3, 3), (2, 2), attention=kind) for kind in ("lightning", "softmax")]
    return set(early) == {"softmax"} and [learnt_again("random", -2, arch) for arch in pair] == [3, 0]


def reach_is_the_smaller_of_n_and_d():
    networks = [arch for arch in random_networks(40) if arch.tokens > 1][:15]
    return all(
        [measure_reach(arch, N) for N in (max(D - 1, 1), D, D + 2)] == [max(D - 1, 1), D, D]
        for arch in networks
        for D in [nv.measure_dimension(arch).value]
    )


def each_starts_count():
    """Eight tasks for each N; up to three starts, and one for a small change."""
    tasks = {
        targets: [len(task) for c in curves(targets) for tasks in c.misses.values() for task in tasks]
        for targets in ("nearby", "random", "teacher")
    }
    return (
        {len(tasks) for c in stored_curves() for tasks in c.misses.values()} == {8} == {DRAWS}
        and [max(tasks[targets]) for targets in tasks] == [1, 3, 3]
        and STARTS == 3
    )


def far_beyond_with_a_teacher():
    missed = {
        targets: [learn(*draw_task(NET, targets, 17 + k, draw=0))[-1] for k in (5, 10)]
        for targets in ("teacher", "random")
    }
    return max(missed["teacher"]) < LEARNT < min(missed["random"])


def head_basis_moves_only_the_gradient():
    start, X, Y, _ = draw_problem("keys", 1)
    C = np.array([[2.0, 1.0], [0.0, 0.5]])
    there = change_head_basis(Reals(), start, 0, C)
    losses, gradients = loss_and_gradient(stack([start, there]), X[None], Y[None])
    first, second = sum((matrix**2).sum(axis=(1, 2)) for layer in gradients for matrix in layer)
    outputs = [forward(Reals(), "lightning", weights, X) for weights in (start, there)]
    return np.allclose(*outputs) and np.isclose(*losses) and not np.isclose(first, second, rtol=0.05)


def behind_with_the_best_rates():
    """As stored; and counted again for six seeds by hand: more of them are behind than ahead."""
    least = min(
        c["behind"][-1]
        for row in stored().values()
        for c in row["counts"]
        if (c["destination"], c["rule"]) == ("twice", "own")
    )
    ratios = []
    for seed in range(6):
        problem = draw_problem("keys", seed)
        s = norms_along("keys", problem)[0].nearest(4)
        best = [
            descend(stack([there] * len(RATES)), problem.X[None], problem.Y[None], np.array(RATES), 300)[-1]
            for there in (problem.weights, move("keys", problem.weights, problem.generator, s))
        ]
        ratios.append(best[1].min() / best[0].min())
    return least == 155 and sum(ratio > 1.01 for ratio in ratios) > 3


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


def a_number_for_each_input():
    """A task fixes one combination of the outputs at each of its inputs, and the number there."""
    (_, X, C, y, scale), start = task = draw_task(NET, "nearby", 17, draw=0)
    found = (C[:, 0] * forward(Reals(), "lightning", start, X)).sum(axis=(1, 2))
    misses = learn(*task)
    return X.shape[0] == y.size == 17 and np.isclose(np.linalg.norm(found - y) / scale, misses[0])


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
    (
        "What happens at one number more than $D$?",
        lambda: [learnt_again("nearby", k) for k in (-1, 0, 1)] == [3, 3, 0],
    ),
    ("Ask for **random numbers** instead of **a small change**", three_kinds_of_numbers),
    (
        "Which kind of attention gives up long before $D$",
        gives_up_long_before,
    ),
    ("**Another's outputs** are numbers that a teacher gives", three_kinds_of_numbers),
    (
        "numbers that a teacher gives, a network of the same kind with other weights",
        lambda: [learnt_again(of, 2) > 0 for of in ("teacher", "random")] == [True, False],
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
            and [min(c.misses) / c.dimension for c in random_softmax() if c.capacity is None] == [0.625]
        ),
    ),
    (
        "nothing says that a set of the full dimension is everything",
        lambda: any(not s for c in random_softmax() for N, s in c.shares.items() if N < c.dimension),
    ),
    ("What a teacher gives lies in the set, for every $N$", far_beyond_with_a_teacher),
    (
        "in eleven of the fourteen networks it shows that the method can find a solution beyond $D$",
        lambda: [c.beyond > 0 for c in curves("teacher")].count(True) == 11,
    ),
    ("$(CQ, C^{-\\top}K)$ gives the same function as $(Q, K)$", head_basis_moves_only_the_gradient),
    ("The loss is the same, too; its gradient is not", head_basis_moves_only_the_gradient),
    ("We tried it on 200 small networks", lambda: {row["seeds"] for row in stored().values()} == {200}),
    ("the largest rate that does not fail is smaller there", steeper_after_a_jump),
    ("those that jumped are behind after 300 steps, in 155 of 200 or more", behind_with_the_best_rates),
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
        "A line for each network shows the share of tasks that were learnt, over $N/D$",
        "test_memorisation_explorer.py::test_every_network_is_drawn_at_what_the_experiment_found",
    ),
    (
        'has a proof; "all below D" has one for nearby numbers only',
        "test_memorisation.py::test_every_small_change_of_n_numbers_is_in_reach_exactly_up_to_n_equal_to_the_dimension",
    ),
    (
        "Both are experiments, told as they came out",
        "test_memorisation.py::test_running_a_part_again_gives_what_is_stored",
    ),
]
