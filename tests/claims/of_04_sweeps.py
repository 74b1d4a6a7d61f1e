"""What notebooks/04_sweeps.py says in words: see tests/test_claims.py."""

import tempfile
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import psutil

import neuroviz as nv
from claims.common import A, dim, measured, uniform
from neuroviz.beyond.sweep.figure import sweep_map
from neuroviz.engine.cost import BUDGET_SECONDS, Cost, check_budget
from neuroviz.engine.elimination import Float32, Float64, eliminate, stored
from neuroviz.engine.field import DEFAULT_PRIME, PrimeField
from neuroviz.engine.network import forward, random_tokens, random_weights
from neuroviz.engine.random_rank import rank_at_a_point
from neuroviz.engine.rank import exact_rank

GRID = [A((4, w, 4), (a, a)) for w in range(1, 9) for a in range(1, 6)]
SHAPES = [
    A((d, w, d), (a, b), t, kind)
    for d, w, a, b, t, kind in product((2, 3, 4), (1, 3, 5), (1, 2), (1, 3), (1, 3), ("lightning", "softmax"))
]


def heads_mix(a, heads):
    """Whether the heads of a layer with d = d′ = 4 lose more than a factor each."""
    net = A((4, 4), (a,), heads=heads)
    alpha = a * (8 - a)
    return measured(net) < heads * (alpha + 16) - heads


def products_in_an_elimination(n):
    """How many products of residues it takes to find the rank of an n × n matrix."""
    counts = []

    class Counted(Float64):
        def subtract_product(self, target, left, right):
            counts.append(len(left) * right.size)
            super().subtract_product(target, left, right)

    arithmetic = Counted(block=32)
    rows = arithmetic.over.random(np.random.default_rng(0), (n, n))
    assert eliminate(stored(rows, arithmetic), arithmetic) == n
    return sum(counts)


def is_refused(work):
    try:
        work()
    except ValueError as refusal:
        return all(words in str(refusal) for words in ("raise budget", "certified", "sweep"))
    return False


@cache
def large(width, layers):
    return nv.measure_dimension(uniform(width, width, layers, attention="softmax"))


def falls_short(prime, arch, points=1000):
    """Whether the exact rank at one of so many random points is below the generic one."""
    columns, most = nv.measure_dimension(arch).num_columns, measured(arch)
    over = PrimeField(prime)
    ranks = {
        rank_at_a_point(over, arch, "slice", columns + 2, False, np.random.default_rng([seed, prime]))
        for seed in range(points)
    }
    assert max(ranks) == most
    return min(ranks) < most


def chance_of_bad_luck(prime, arch):
    """What is known about it: the bound that a measurement carries where its rank is not full."""
    return nv.measure_dimension(arch, prime=prime).error_bound


def tokens_across():
    return [[dim((4, w, 4), (2, 2), t) for t in range(1, 5)] for w in range(1, 6)]


def cells_of(grid, x, y):
    """The networks of a grid that the notebook writes down, by their places in its figure."""
    found = sweep_map(nv.sweep(grid, progress=False), x, y)
    return {(cell.column, cell.row): [r.arch for r in cell.records] for cell in found.cells}


def stops_at_four(rows):
    return all(row[2] < row[3] == row[4] == row[7] == max(row) for row in rows)


def tokens_are_parallel(a):
    over, net = PrimeField(DEFAULT_PRIME), A((4, 4, 4), (a, 2))
    draw = np.random.default_rng(0)
    weights, X = random_weights(over, net, draw), random_tokens(over, net, 1, draw)
    return exact_rank(forward(over, "lightning", weights[:1], X)[0], over) == 1


def below_the_pattern(head):
    """Which of the columns a₁ = 1, 2, … have fewer dimensions than Eq. 14 says, used all the same."""
    return [dim((4, 4, 4), (a, head)) < nv.paper_formula(A((4, 4, 4), (a, head))).value for a in range(1, 6)]


def resumed():
    with tempfile.TemporaryDirectory() as folder:
        kept, heard = Path(folder, "shapes.jsonl"), []
        nv.sweep(SHAPES[:100], file=kept, progress=False)
        one_a_line = len(kept.read_text().splitlines()) == 100
        again = nv.sweep(SHAPES, file=kept, progress=lambda done, of, record: heard.append(record.arch))
        return one_a_line and heard == SHAPES[100:] and again == nv.sweep(SHAPES, progress=False)


def measuring_processes():
    return {
        child.pid
        for child in psutil.Process().children(recursive=True)
        if child.is_running()
        and child.status() != psutil.STATUS_ZOMBIE
        and "resource_tracker" not in " ".join(child.cmdline())
    }


def four_processes():
    before, seen = measuring_processes(), []
    nv.sweep(SHAPES[:24], workers=4, progress=lambda *_: seen.append(len(measuring_processes() - before)))
    return max(seen) == 4 and not measuring_processes() - before


def lost_to_factors(a, heads):
    """How many dimensions lightning has less than softmax, which has no rescalings and no mixing."""
    one, other = (
        measured(uniform(3, a, 2, heads=heads, attention=kind)) for kind in ("softmax", "lightning")
    )
    return one - other


def variants_are_swept():
    """To what a network of its own says, with switches that make a difference."""
    switches = [
        {},
        {"heads": 3},
        {"skip": True},
        {"causal": True},
        {"heads": 3, "skip": True, "causal": True},
    ]
    nets = [uniform(3, 2, 2, **one) for one in switches]
    found = nv.sweep(nets, progress=False)
    values = [record.value for record in found]
    return not found.failed and values == [measured(net) for net in nets] and len(set(values)) > 3


CLAIMS = [
    (
        "An exact rank takes time that grows with the third power of the number of columns",
        lambda: 2**2.5 < products_in_an_elimination(768) / products_in_an_elimination(384) < 2**3.5,
    ),
    (
        "You will know what a measurement costs before it starts",
        lambda: all(
            nv.estimate_cost(net).columns == nv.measure_dimension(net).num_columns
            for net in (uniform(4, 2, 3), A((3, 4, 2), (1, 2), 2, "softmax"), uniform(2, 2, 2, 1))
        ),
    ),
    (
        "there are four times as many columns",
        lambda: all(large(2 * d, 4).num_columns == 4 * large(d, 4).num_columns for d in (2, 3, 4)),
    ),
    (
        "What would take longer than ten minutes, or more memory than there is, is refused",
        lambda: (
            is_refused(lambda: nv.measure_dimension(uniform(300, 300, 4)))
            and is_refused(lambda: check_budget(Cost(601.0, 1, 9, ""), BUDGET_SECONDS))
            and is_refused(lambda: check_budget(Cost(1.0, 10**15, 9, ""), BUDGET_SECONDS))
            and not is_refused(lambda: check_budget(Cost(599.0, 1, 9, ""), BUDGET_SECONDS))
        ),
    ),
    (
        "From about 1,500 columns on the rank is taken modulo 241",
        lambda: (
            [(large(d, k).num_columns, large(d, k).prime) for d, k in ((18, 3), (16, 5))]
            == [(1296, DEFAULT_PRIME), (1536, 241)]
        ),
    ),
    (
        "where an entry fits into one byte",
        lambda: np.dtype(Float32().dtype).itemsize == 1 and Float32().over.p // 2 <= 127,
    ),
    (
        "Modulo so small a prime the bound on the chance of bad luck is worth nothing",
        lambda: (
            all(
                chance_of_bad_luck(241, net) == 1 and chance_of_bad_luck(DEFAULT_PRIME, net) < 1e-3
                for net in (A((3, 3, 3), (1, 2)), A((4, 4, 4, 4), (1, 3, 3)))
            )
            and falls_short(241, uniform(2, 2, 2))
            and not falls_short(DEFAULT_PRIME, uniform(2, 2, 2), points=300)
        ),
    ),
    (
        "`error_bound` is 0: all columns are independent",
        lambda: (
            large(16, 5).error_bound == 0
            and large(16, 5).value == large(16, 5).num_columns
            and 0 < nv.measure_dimension(A((3, 3, 3), (1, 2))).error_bound < 1e-3
        ),
    ),
    (
        "The formulas of the paper do not cover all of these 40 networks",
        lambda: len(GRID) == 40 and 0 < sum(nv.paper_formula(net).status == "proved" for net in GRID) < 40,
    ),
    (
        "40 networks. How many agree with the general formula?",
        lambda: all(measured(net) == nv.general_formula(net).value for net in GRID),
    ),
    (
        "Here are two layers; the inner width goes from 1 to 8, the head dimension from 1 to 5",
        lambda: (
            cells_of(GRID, "inner width", "a")
            == {(w, a): [A((4, w, 4), (a, a))] for w in range(1, 9) for a in range(1, 6)}
        ),
    ),
    (
        "the number of tokens across; then $\\delta = 4$ and the head dimension of layer 1 across",
        lambda: (
            cells_of([A((4, w, 4), (2, 2), t) for t in (1, 2) for w in (1, 2)], "tokens", "inner width")
            == {(t, w): [A((4, w, 4), (2, 2), t)] for t in (1, 2) for w in (1, 2)}
            and cells_of([A((4, 4, 4), (a, b)) for a in (1, 2) for b in (1, 2)], "a1", "a2")
            == {(a, b): [A((4, 4, 4), (a, b))] for a in (1, 2) for b in (1, 2)}
        ),
    ),
    (
        "At $\\delta = 4$, the width of the input",
        lambda: (
            stops_at_four([[dim((4, w, 4), (a, a)) for w in range(1, 9)] for a in range(1, 6)])
            and dim((5, 4, 5), (2, 2)) < dim((5, 5, 5), (2, 2)) == dim((5, 6, 5), (2, 2))
        ),
    ),
    (
        "From $t = 2$ on: two tokens tell everything that more of them would (one does not)",
        lambda: all(row[0] < row[1] == row[2] == row[3] for row in tokens_across()),
    ),
    (
        "$a_1 = 1$ makes all tokens parallel",
        lambda: tokens_are_parallel(1) and not tokens_are_parallel(2),
    ),
    (
        "later layers show less of their weights than the pattern of the other columns suggests",
        lambda: all(below_the_pattern(head) == [True, False, False, False, False] for head in (2, 3, 4, 5)),
    ),
    (
        "Compare with Eq. 14 and Eq. 16 as they stand, without their hypotheses. In how many of the 144",
        lambda: len(set(SHAPES)) == 144,
    ),
    (
        "The bare pattern fails more often than it is right",
        lambda: 2 * sum(nv.paper_formula(net).value != measured(net) for net in SHAPES) > 144,
    ),
    ("Run the same sweep again, and only what is missing is measured", resumed),
    ("`workers=4` starts four processes and ends them afterwards", four_processes),
    (
        "A dimension does not tell the number of parameters",
        lambda: (
            len({A((3, w, 3), (2, 2)).num_parameters for w in (3, 4, 5)}) == 3
            and len({dim((3, w, 3), (2, 2)) for w in (3, 4, 5)}) == 1
        ),
    ),
    (
        "Widen the inner layer beyond what comes in, and nothing is gained",
        lambda: all(
            dim((d, d, d), (a, b)) == dim((d, d + more, d), (a, b)) > dim((d, d - 1, d), (a, b))
            for d, a, b, more in product((2, 3, 4), (1, 2), (2, 3), (1, 2))
        ),
    ),
    ("are part of an `Architecture`, too, and can be measured and swept", variants_are_swept),
    (
        "For some there is a formula of ours; for others nobody has one yet",
        lambda: (
            all(
                nv.expected_dimension(net).value == measured(net)
                for net in (
                    uniform(3, 2, 2, heads=3),
                    uniform(3, 2, 2, skip=True),
                    uniform(3, 2, 2, causal=True),
                )
            )
            and nv.expected_dimension(A((3, 4, 3), (2, 2), heads=2)).value is None
            and dim((3, 4, 3), (2, 2), heads=2) > 0
        ),
    ),
    (
        "Three heads with $a = 2$ lose more than one rescaling each, and those with $a = 1$ do not",
        lambda: lost_to_factors(2, 3) > 2 * 3 == lost_to_factors(1, 3),
    ),
    (
        "From $H > (d - a)^2 + 1$ on",
        lambda: all(
            heads_mix(a, heads) == (heads > (4 - a) ** 2 + 1) for a in (1, 2, 3, 4) for heads in (1, 2, 3, 4)
        ),
    ),
    (
        "for $a = 4$ with the second head, for $a = 3$ with the third",
        lambda: (
            [(heads_mix(4, h), heads_mix(3, h)) for h in (1, 2, 3)]
            == [(False, False), (True, False), (True, True)]
        ),
    ),
    (
        "For $a = 2$ it would take six heads, more than there are outputs; there the formula ends",
        lambda: (
            [heads_mix(2, h) for h in (4, 5, 6)] == [False, False, True]
            and [nv.expected_dimension(A((4, 4), (2,), heads=h)).value is None for h in (4, 5, 6)]
            == [False, True, True]
        ),
    ),
    (
        "`expected_dimension` gives the formula and its status: observed, not proved",
        lambda: all(
            nv.expected_dimension(A((4, 4), (a,), heads=h)).status == "observed"
            and nv.expected_dimension(A((4, 4), (a,), heads=h)).value == dim((4, 4), (a,), heads=h)
            for a in (1, 2, 3, 4)
            for h in (2, 3, 4)
        ),
    ),
]

ELSEWHERE = [
    (
        "the message says what to do instead",
        "test_cost.py::test_what_is_too_long_is_refused_before_it_starts",
    ),
    (
        "a rank modulo *any* prime is a lower bound",
        "test_measure.py::test_a_tiny_field_may_fall_short_and_never_goes_beyond",
    ),
    (
        "and the symmetries give an upper one. If they meet, the number is proved",
        "test_cost.py::test_a_large_rank_that_meets_the_bound_is_taken_modulo_a_small_prime",
    ),
    (
        "two independent points modulo a prime near 8 million decide instead",
        "test_cost.py::test_one_that_does_not_is_taken_again_modulo_a_large_prime",
    ),
    (
        "Each cell is a network, and the number in it is its dimension, measured",
        "test_sweep_figure.py::test_every_number_on_the_map_is_that_of_a_record",
    ),
    (
        "Any list of architectures will do",
        "test_sweep.py::test_any_iterable_will_do_and_so_will_an_empty_one",
    ),
    (
        "What surprises is in `disagreements`",
        "test_sweep.py::test_a_disagreement_is_a_number_unlike_theory_and_nothing_else",
    ),
    (
        "what went wrong is in `failed`, with the reason, and does not stop the rest",
        "test_sweep.py::test_an_exception_in_one_measurement_is_one_failed_record",
    ),
    (
        '`found.to_pandas()` and `found.to_csv("shapes.csv")` make tables of it',
        "test_sweep.py::test_the_tables_hold_every_record",
    ),
    (
        "With `file=` every record is written as soon as it is there, one a line",
        "test_sweep.py::test_each_record_is_in_the_file_as_soon_as_it_is_reported",
    ),
    (
        "so a sweep can be interrupted, by you or by a power cut",
        "test_sweep.py::test_interrupted_and_resumed_gives_the_same_lines_up_to_order",
    ),
    (
        "If one of them dies, its network is tried again, and then recorded as failed",
        "test_sweep.py::test_what_always_kills_its_worker_is_one_failed_record_and_the_others_are_there",
    ),
    ("nothing else is lost", "test_sweep.py::test_a_killed_worker_of_the_own_pool_loses_no_record"),
    (
        "On a cluster use its executor",
        "test_sweep.py::test_the_same_seed_gives_the_same_records_wherever_they_are_made",
    ),
    (
        "The same seed gives the same records, wherever they are computed",
        "test_sweep.py::test_the_same_seed_gives_the_same_records_wherever_they_are_made",
    ),
]
