"""Long exact ranks: foreseen, refused, ended, and telling how far they are."""

import tracemalloc
from dataclasses import replace
from itertools import count, groupby
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from polynomial import Polynomial

from neuroviz.attention import Architecture
from neuroviz.rank import budget as budgets
from neuroviz.rank import (
    cost,
    estimate_cost,
    measure_dimension,
    memory,
    rank_by_inputs,
    spectrum,
)
from neuroviz.rank import progress as progresses
from neuroviz.rank.budget import BudgetSpent
from neuroviz.rank.cost import SVD_BYTES, Cost, check_budget
from neuroviz.rank.exact import LARGE
from neuroviz.rank.floats import float_rank
from neuroviz.rank.memory import available_bytes
from neuroviz.rank.outline import outline
from neuroviz.rank.point import inputs_at_once, num_parameters
from neuroviz.rank.progress import OfTheWhole

NET = Architecture.uniform(4, 2, 2)
HUGE = Architecture.uniform(300, 300, 4)


@pytest.fixture
def nothing_is_quick(monkeypatch):
    monkeypatch.setattr(cost, "_QUICK_PRODUCTS", 0)


def heard_of(net, **arguments):
    """What is told, stage by stage, but for the estimate."""
    heard = []
    measure_dimension(net, report=lambda *said: heard.append(said), **arguments)
    runs = groupby(heard, key=lambda said: said[0])
    stages = [(what, [part for _, part in told]) for what, told in runs]
    return [(what, parts) for what, parts in stages if what != "estimate"]


@pytest.mark.parametrize(
    ("net", "arguments"),
    [
        (NET, {}),
        (NET, {"route": "weights"}),
        (NET, {"method": "float"}),
        (NET, {"method": "float", "inputs": 3}),
        (Polynomial((3, 4, 1), 3), {}),
    ],
    ids=str,
)
def test_what_is_foreseen_is_what_is_told(net, arguments, nothing_is_quick):
    """Stage by stage; and the parts of the whole never fall, from 0 to 1."""
    stages = heard_of(net, **arguments)
    foreseen = [what for what, _ in estimate_cost(net, **arguments).stages]
    assert [what for what, _ in stages] == foreseen
    parts = [part for _, told in stages for part in told]
    assert parts == sorted(parts) and parts[0] < 0.2 and parts[-1] == 1.0


def test_a_curve_tells_how_many_directions_it_has_seen(nothing_is_quick):
    heard = []
    rank_by_inputs(NET, report=lambda what, part: heard.append((what, part)))
    assert {what for what, _ in heard} == {"estimate", "inputs"}
    assert heard[-1] == ("inputs", 1.0)


@pytest.mark.parametrize(("planned", "most"), [(30.0, 0.02), (90.0, 0.16)])
def test_what_is_said_is_the_part_of_the_time_whatever_was_planned(
    planned, most, monkeypatch
):
    """A derivative of 10 seconds, an elimination of 30: a wrong plan is found out
    within a tenth of it."""
    now = [0.0]
    heard = []
    monkeypatch.setattr(progresses, "perf_counter", lambda: now[0])
    plan = [("derivative", 10.0), ("elimination", planned)]
    report = OfTheWhole(lambda what, part: heard.append(part), plan)
    for what, begin, end in (("derivative", 0, 10), ("elimination", 10, 40)):
        for second in range(begin, end + 1):
            now[0] = float(second)
            report(what, (second - begin) / (end - begin))
    wrong = np.abs(heard - np.array([*range(11), *range(10, 41)]) / 40)
    assert wrong.max() < most and wrong[14:].max() < 0.02


def test_a_stage_that_nobody_foresaw_neither_stops_the_progress_nor_ends_it():
    heard = []
    report = OfTheWhole(lambda what, part: heard.append(part), [("derivative", 1.0)])
    for what in ("derivative", "elimination", "derivative"):
        for part in (0.0, 1.0):
            report(what, part)
    report.finish()
    assert heard == sorted(heard) and len(set(heard)) == 5
    assert heard[-2] < heard[-1] == 1.0


@pytest.mark.parametrize("method", ["exact", "float"])
def test_a_budget_holds_while_the_work_runs(method, monkeypatch):
    seconds = count()  # one passes between two looks
    monkeypatch.setattr(budgets, "monotonic", lambda: next(seconds))
    with pytest.raises(
        BudgetSpent, match=r"not measured in 2 s: about .*% was done .*; raise budget"
    ):
        measure_dimension(NET, method, budget=2)
    assert measure_dimension(NET, budget=30).value == 38


@pytest.mark.parametrize("seconds", [0, -1, "60", True, float("inf"), float("nan")])
def test_what_is_no_number_of_seconds_is_refused(seconds):
    with pytest.raises(ValueError, match="budget is a number of seconds > 0"):
        measure_dimension(NET, budget=seconds)


def test_a_budget_may_be_one_of_numpys_numbers():
    assert measure_dimension(NET, budget=np.int64(30)).value == 38


@pytest.mark.parametrize("ask", [measure_dimension, rank_by_inputs])
def test_what_takes_too_long_is_refused_before_it_starts(ask):
    with pytest.raises(ValueError, match=r"columns would take about .*; raise budget"):
        ask(HUGE, budget=1)


def test_what_does_not_fit_into_the_memory_is_refused(monkeypatch):
    needed = Cost(seconds=1.0, bytes=3 * 10**9, columns=10, arithmetic="float64")
    monkeypatch.setattr(cost, "available_bytes", lambda: 2 * 10**9)
    with pytest.raises(ValueError, match="3 GB for .*, and there are 2 GB of memory"):
        check_budget(needed, 60.0, NET)
    check_budget(replace(needed, bytes=10**9), 60.0, NET)


def test_few_columns_and_many_tokens_are_refused_before_they_start():
    """Each of 10¹⁰ attention weights of an input takes memory and time."""
    for attention in ("lightning", "softmax"):
        net = Architecture.uniform(1, 1, 1, 10**5, attention)
        with pytest.raises(ValueError, match="would take about"):
            measure_dimension(net)


def test_costs_grow_with_the_network():
    sizes = [Architecture.uniform(d, d, 2) for d in (4, 12, 36, 100)]
    costs = [estimate_cost(net) for net in sizes]
    for smaller, larger in zip(costs, costs[1:], strict=False):
        assert smaller.seconds < larger.seconds and smaller.bytes < larger.bytes
    assert estimate_cost(HUGE).seconds > 100


@pytest.mark.parametrize("method", ["exact", "float"])
@pytest.mark.parametrize("layers", [1, 100, 10_000])
@pytest.mark.parametrize("d", [1, 10_000])
def test_large_networks_are_estimated(layers, d, method):
    net = Architecture.uniform(d, d, layers)
    found = estimate_cost(net, method)
    assert found.seconds > 0 and found.bytes > 0 and str(found).startswith("about")


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize("d", [12, 24])
def test_an_estimate_is_right_up_to_a_factor_of_ten(d, attention):
    """Of three, but other programs may run beside the tests."""
    from time import process_time

    net = Architecture.uniform(d, d, 2, 3, attention)
    expected = estimate_cost(net).seconds
    times = []
    for seed in range(3):
        begin = process_time()
        measure_dimension(net, seed=seed)
        times.append(process_time() - begin)
    assert expected / 10 < min(times) < 10 * expected


# At the size that is timed


@pytest.mark.parametrize("name", ["float64", "float32", "int8"])
def test_at_the_size_that_is_timed_a_rank_is_expected_to_take_that_time(
    name, monkeypatch
):
    """And at s times as many columns s to s³ times as long; s^1.5 to s² for few of
    them."""
    arithmetic = SimpleNamespace(name=name)
    times = {256: 1.0, LARGE: 100.0}
    monkeypatch.setattr(cost, "_timed", lambda work, of, columns: times[columns])
    assert cost._rank_seconds(256, arithmetic) == pytest.approx(1)
    assert cost._rank_seconds(LARGE, arithmetic) == pytest.approx(100)
    for s in (2, 4, 5.5):
        assert s**1.5 <= cost._rank_seconds(256 * s, arithmetic) <= s**2
        assert s <= cost._rank_seconds(LARGE * s, arithmetic) / 100 <= s**3
    far = cost._rank_seconds(10**6 * LARGE, arithmetic) / 100
    assert 1e16 < far < 1e18, "in the end by elimination, that is s³"


def test_at_the_size_that_is_timed_a_spectrum_is_expected_to_take_that_time(
    monkeypatch,
):
    timed = cost._timed
    monkeypatch.setattr(
        cost, "_timed", lambda work, *of: 7.0 if work is cost._svd else timed(work, *of)
    )
    net = Architecture((10, 10), (5,), 3)  # 200 columns, 30 rows for each input
    for inputs, seconds in ((10, 7), (20, 14)):
        stages = dict(estimate_cost(net, "float", inputs=inputs).stages)
        assert stages["spectrum"] == pytest.approx(seconds)


def test_at_the_size_that_is_timed_a_derivative_is_expected_to_take_that_time(
    monkeypatch,
):
    """Beside the calls, which a small network needs most of its time for."""
    wide = outline(cost._WIDE)
    columns = num_parameters(cost._WIDE)

    def seconds(shape, columns, num_inputs, rows_each, **times):
        monkeypatch.setattr(cost, "_timed", lambda work: times[work.__name__])
        return cost._derivative_seconds(shape, columns, num_inputs, rows_each)

    work_only = {"_wide_steps": 7.0, "_many_steps": 0.0}
    assert seconds(wide, columns, 64, 1, **work_only) == pytest.approx(7)
    assert seconds(wide, columns, 64, 3, **work_only) == pytest.approx(21)
    calls_only = {"_wide_steps": 0.0, "_many_steps": 4.0}
    for layers in (1, 40):
        probe = cost._Probe(width=1, layers=layers)
        shape = outline(probe)
        found = seconds(shape, layers, 1, 1, **calls_only)
        assert found == pytest.approx(4 * shape.steps / 40)


def test_the_shortest_of_three_runs_counts(monkeypatch):
    def runs(call, number, repeat):
        assert (call(), number, repeat) == ("done", 1, 3)
        return [5.0, 2.0, 3.0]

    monkeypatch.setattr(cost, "repeat", runs)
    assert cost._timed(lambda: lambda: "done") == 2


def test_columns_are_expected_to_be_mixed_where_few_of_them_may_not_all_count(
    monkeypatch,
):
    """As dear as another elimination, of the rows of two inputs more than there are
    columns."""
    monkeypatch.setattr(cost, "_rank_seconds", lambda columns, arithmetic: 1.0)

    def eliminations(route):
        stages = estimate_cost(NET, route=route).stages
        return [seconds for what, seconds in stages if what == "elimination"]

    for limit, mixing in ((63, 1), (64, 1), (65, 2)):
        monkeypatch.setattr(cost, "MIXED", limit)
        assert eliminations("weights") == pytest.approx([mixing * 66 / 64] * 2)
        assert eliminations("slice") == pytest.approx([40 / 38])


def test_of_a_large_network_one_input_is_taken_at_a_time():
    shape = outline(Architecture.uniform(1, 1, 1, tokens=10_000))
    assert inputs_at_once(shape, columns=2, rows_each=1) == 1
    small = outline(Architecture.uniform(1, 1, 1))
    assert inputs_at_once(small, columns=2, rows_each=1) > 1000


def test_a_spectrum_takes_the_memory_that_is_foreseen():
    matrix = np.random.default_rng(0).standard_normal((600, 400))
    float_rank(matrix[:2])  # what the first call leaves is no part of it
    tracemalloc.start()
    try:
        float_rank(matrix)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    with_the_matrix = peak + matrix.nbytes
    assert 0.9 * SVD_BYTES < with_the_matrix / matrix.size < 1.02 * SVD_BYTES


@pytest.mark.parametrize(
    "net",
    [
        Architecture.uniform(7, 2, 3),
        Architecture((6, 6, 6, 6), (5, 5, 2), 2, "softmax"),  # 2 of 12 equations count
        Architecture.uniform(6, 2, 2, tokens=1),  # 1 of 6 equations counts
        Architecture((4, 4, 4, 4), (1, 4, 4), 3),  # the first layer shows one number
        Architecture((5, 4, 3, 4), (3, 2, 1), 5, "softmax"),
        Polynomial((3, 5, 2)),
    ],
    ids=str,
)
def test_a_float_measurement_takes_less_memory_than_foreseen(net):
    """Late inputs add few directions, so more are needed than equations suggest."""
    measure_dimension(net, "float")  # what the first call leaves is no part of it
    foreseen = estimate_cost(net, "float").bytes
    tracemalloc.start()
    try:
        measure_dimension(net, "float")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < foreseen < 6 * peak


def test_before_a_spectrum_the_memory_is_looked_at_again(monkeypatch):
    asked = []
    monkeypatch.setattr(spectrum, "check_memory", lambda what, size: asked.append(size))
    found = measure_dimension(NET, "float")
    rows = found.num_inputs * 12  # four numbers of three tokens
    assert asked == [SVD_BYTES * rows * found.num_columns]


def test_no_more_memory_is_free_than_there_is():
    meminfo = Path("/proc/meminfo")
    if not meminfo.exists():
        pytest.skip("this system tells its memory elsewhere")
    kilobytes = int(meminfo.read_text().split("MemTotal:")[1].split()[0])
    assert 2**20 < available_bytes() <= 1024 * kilobytes
    assert 2**20 < memory._free_here() <= 1024 * kilobytes


# Arguments


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (dict(net="lightning"), "needs a network, .* str has no parameter_shapes"),
        (dict(method="guess"), "method must be 'exact' or 'float'; got 'guess'"),
        (dict(seed=-1), "seed must be a whole number ≥ 0; got -1"),
        (dict(seed=1.0), "seed must be a whole number ≥ 0; got 1.0"),
        (dict(inputs=0), "inputs must be a whole number ≥ 1; got 0"),
        (dict(route="short"), "route must be 'slice', 'weights' or None; got 'short'"),
        (
            dict(method="float", route="slice"),
            "float spectrum is that of all parameters",
        ),
        (dict(net=Polynomial((2, 2)), route="slice"), "has no slice: leave route out"),
        (dict(prime=10), "odd prime below 2²³ = 8388608.*got 10: try 8388593"),
        (
            dict(method="float", prime=101),
            "float measurement has no prime; got prime=101",
        ),
    ],
    ids=str,
)
def test_a_bad_argument_is_refused_with_what_is_needed_and_what_came(arguments, words):
    given = {"net": NET} | arguments
    with pytest.raises(ValueError, match=words):
        measure_dimension(**given)
    if "seed" not in given:
        with pytest.raises(ValueError, match=words):
            estimate_cost(**given)


def test_numpy_integers_are_whole_numbers():
    found = measure_dimension(
        NET, seed=np.int64(2), inputs=np.uint8(9), prime=np.int64(1_000_003)
    )
    assert found == measure_dimension(NET, seed=2, inputs=9, prime=1_000_003)
    numbers = found.value, found.seed, found.num_inputs, found.num_columns, found.prime
    assert {type(x) for x in numbers} == {int}


@pytest.mark.parametrize("ask", [measure_dimension, rank_by_inputs])
def test_whoever_gives_no_seed_gets_the_seed_zero(ask):
    assert ask(NET).seed == 0
