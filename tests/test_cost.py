"""Large exact ranks: block by block, within a budget, with a sign of life, and stopped
when asked."""

import subprocess
import sys
import tracemalloc
from functools import partial
from itertools import count, groupby
from math import prod
from types import SimpleNamespace

import numpy as np
import pytest

from neuroviz.attention.formulas import general_formula
from neuroviz.engine import cost, measure, progress
from neuroviz.engine import random_rank as points
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.cost import LARGE, Cost, check_budget, estimate_cost
from neuroviz.engine.identifiability import is_identifiable
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.engine.measure import clear_cache, measure_dimension, rank_by_inputs
from neuroviz.engine.progress import reporting, showing
from neuroviz.rank import budget
from neuroviz.rank.arithmetic import Float32, Float64
from neuroviz.rank.budget import BudgetSpent
from neuroviz_beyond.proofs.known import what_is_known

WIDE = Architecture.uniform(d=20, a=20, layers=3, attention="softmax")  # 1,600 columns
# fewer dimensions than its 1,770 columns
COLLAPSED = Architecture((24, 24, 24, 24), (1, 24, 24), 3)
NARROWING = Architecture((16, 16, 4), (8, 8), 3)
HUGE = Architecture.uniform(300, 300, 4)


@pytest.fixture(autouse=True)
def _afresh():
    clear_cache()
    yield
    clear_cache()


def test_a_large_rank_that_meets_the_bound_is_taken_modulo_a_small_prime():
    found = measure_dimension(WIDE)
    assert found.value == general_formula(WIDE).value == 1600 >= LARGE
    assert (found.prime, found.error_bound) == (241, 0.0) and found.arithmetic in (
        "float32",
        "int8",
    )
    assert measure_dimension(Architecture.uniform(3, 2, 2)).arithmetic == "flint"
    assert (
        measure_dimension(Architecture.uniform(6, 3, 2), prime=8_388_587).prime
        == 8_388_587
    )


def test_one_that_does_not_is_taken_again_modulo_a_large_prime():
    found = measure_dimension(COLLAPSED)
    assert found.value == general_formula(COLLAPSED).value < found.num_columns >= LARGE
    assert (found.prime, found.arithmetic) == (
        8_388_593,
        "float64",
    ) and 0 < found.error_bound < 1e-2


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize("route", ["slice", "weights"])
def test_block_by_block_the_rank_is_the_same(attention, route, monkeypatch):
    arch = Architecture((5, 4, 5), (3, 3), 3, attention)
    columns = (
        arch.num_parameters
        if route == "weights"
        else measure_dimension(arch).num_columns
    )
    whole = measure_dimension(arch, route=route).value
    outputs = measure_dimension(arch, route=route, inputs=4).value
    # seven rows at a time
    monkeypatch.setattr(points, "_BYTES_AT_ONCE", 8 * 7 * arch.num_parameters)

    def rank(inputs, arithmetic, all_outputs=False):
        given = arch, route, (inputs, columns), all_outputs
        return points.rank_at_a_point(arithmetic, *given, np.random.default_rng(1))

    assert rank(columns + 2, Float64()) == rank(columns + 2, Float32()) == whole
    assert rank(4, Float64(), all_outputs=True) == outputs
    assert rank(columns // 2, Float64()) < whole  # the check can fail: too few inputs


def test_the_matrix_is_never_there_twice():
    """Peak memory, beyond the matrix, is that of a block of rows and some columns."""

    def stop_late(what, part):
        if what == "elimination" and part > 0.3:
            raise StopIteration

    arch, columns = Architecture.uniform(36, 36, 3, 3, "softmax"), 4 * 36**2
    arguments = (
        Float32(),
        arch,
        "slice",
        (columns + 2, columns),
        False,
        np.random.default_rng(0),
    )
    tracemalloc.start()
    with pytest.raises(StopIteration):
        points.rank_at_a_point(*arguments, stop_late)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.5 * columns**2 + 5 * points._BYTES_AT_ONCE
    assert peak < 0.8 * 8 * columns**2  # far from float64 rows of everything


def test_costs_grow_with_the_network():
    small, large = (estimate_cost(Architecture.uniform(d, d, 3)) for d in (10, 40))
    assert small.seconds < large.seconds and small.bytes < large.bytes
    assert estimate_cost(HUGE).columns == 449_996
    assert estimate_cost(HUGE, "float").seconds > 1
    assert estimate_cost(HUGE, route="weights").columns == HUGE.num_parameters


def test_where_full_rank_cannot_be_two_matrices_of_eight_bytes_are_counted():
    """Among all weights some directions are silent: no try modulo 241, and its memory
    would be too little."""
    arch = Architecture.uniform(24, 24, 3)
    slice_, weights = estimate_cost(arch), estimate_cost(arch, route="weights")
    assert slice_.arithmetic != "float64" == weights.arithmetic
    assert weights.bytes > 1.5 * slice_.bytes and weights.seconds > slice_.seconds
    heads = Architecture.uniform(24, 8, 2, heads=3, skip=True)
    assert (
        estimate_cost(heads).arithmetic == "float64"
        and estimate_cost(heads).columns >= LARGE
    )
    assert estimate_cost(arch, prime=8_388_587).arithmetic == "float64"
    assert (
        estimate_cost(arch, inputs=4).bytes
        < slice_.bytes
        < estimate_cost(arch, inputs=60).bytes
    )


def test_memory_is_looked_at_again_before_the_large_prime(monkeypatch):
    free = iter([10**12, 10**7])
    monkeypatch.setattr(cost, "available_bytes", lambda: next(free))
    with pytest.raises(ValueError, match="there are 10 MB of memory"):
        measure_dimension(COLLAPSED)
    assert (
        next(free, None) is None and measure._measure_exact.cache_info().currsize == 0
    )


def test_what_is_too_long_is_refused_before_it_starts():
    small = Architecture.uniform(4, 2, 2)
    heads = Architecture.uniform(300, 300, 4, heads=2)
    for arch, seconds, said in (
        (
            HUGE,
            None,
            "449996 columns would take about .* raise budget.*expected_dimension",
        ),
        (small, 1e-6, "the budget is 1e-06 seconds"),
        (small, "long", "budget is a number of seconds > 0, such as 60; got 'long'"),
        (heads, None, "take smaller sizes"),
    ):
        with pytest.raises(ValueError, match=said):
            measure_dimension(arch, budget=seconds)
    assert measure_dimension(small, budget=60).value == 38


def test_what_does_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr(cost, "available_bytes", lambda: 10**6)
    with pytest.raises(ValueError, match="there are 1 MB of memory"):
        check_budget(Cost(1.0, 10**7, 3000, "float32"), 600, WIDE)
    # a system that does not say
    monkeypatch.setattr(cost, "available_bytes", lambda: None)
    check_budget(Cost(1.0, 10**15, 3000, "float32"), 600, WIDE)


def heard_of(arch, **arguments):
    """What a measurement tells, in runs of one stage each."""
    seen = []
    measure_dimension(
        arch, progress=lambda what, part: seen.append((what, part)), **arguments
    )
    runs = [
        (what, [part for _, part in run])
        for what, run in groupby(seen, key=lambda said: said[0])
    ]
    parts = [part for _, part in seen]
    assert parts == sorted(parts) and parts[0] == 0.0 and parts[-1] == 1.0
    assert runs[0] == ("estimate", [0.0])  # said before what takes long may be imported
    return runs[1:]


def test_where_more_points_follow_the_first_one_they_are_foreseen(monkeypatch):
    """Modulo 241 first, then twice modulo a large prime."""
    monkeypatch.setattr(cost, "LARGE", 50)
    arch = Architecture((6, 6, 6, 6), (1, 6, 6), 3)
    stages = estimate_cost(arch).stages
    runs = heard_of(arch)
    assert (
        [what for what, _ in runs]
        == [what for what, _ in stages]
        == 3 * ["derivative", "elimination"]
    )
    assert all(parts[0] <= parts[-1] for _, parts in runs)


@pytest.mark.parametrize(("planned", "most"), [(30.0, 0.02), (90.0, 0.16)])
def test_what_is_said_is_the_part_of_the_time_whatever_was_planned(
    planned, most, monkeypatch
):
    """A derivative of 10 seconds, an elimination of 30: a wrong plan is found out
    within a tenth of it."""
    now, heard = [0.0], []
    monkeypatch.setattr(progress, "perf_counter", lambda: now[0], raising=False)
    with showing(
        lambda what, part: heard.append(part),
        [("derivative", 10.0), ("elimination", planned)],
    ):
        for what, begin, end in (("derivative", 0, 10), ("elimination", 10, 40)):
            for second in range(begin, end + 1):
                now[0] = float(second)
                reporting()(what, (second - begin) / (end - begin))
    wrong = np.abs(heard[:-1] - np.array([*range(11), *range(10, 41)]) / 40)
    assert wrong.max() < most and wrong[14:].max() < 0.02


def test_a_stage_that_nobody_foresaw_neither_stops_the_bar_nor_ends_it():
    heard = []
    with showing(lambda what, part: heard.append(part), [("derivative", 1.0)]):
        for what in ("derivative", "elimination", "derivative"):
            for part in (0.0, 1.0):
                reporting()(what, part)
    reporting()("derivative", 0.7)  # after the block nobody hears
    assert (
        heard == sorted(heard) and len(set(heard)) == 5 and heard[-2] < heard[-1] == 1.0
    )


def test_a_middle_sized_rank_tells_its_progress_and_its_budget_holds_while_it_runs(
    monkeypatch,
):
    arch = Architecture.uniform(4, 2, 2)
    assert [what for what, _ in heard_of(arch)] == ["derivative", "elimination"]
    clear_cache()
    seconds = count()
    # a second passes between two looks
    monkeypatch.setattr(budget, "monotonic", lambda: next(seconds))
    for method in ("exact", "float"):
        with pytest.raises(
            BudgetSpent,
            match=r"not measured in 3 s: about .*% was done .*; raise budget",
        ):
            measure_dimension(arch, method, budget=3)
    assert measure_dimension(arch, budget=30).value == 38


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
def test_few_columns_and_many_tokens_are_refused_before_they_start(attention):
    """One column; but the attention weights of one input are 10¹⁰ numbers."""
    arch = Architecture.uniform(1, 1, 1, tokens=10**5, attention=attention)
    assert not cost.is_quick(arch, 1) and estimate_cost(arch).bytes > 8 * 10**10
    for attempt in (
        partial(measure_dimension, budget=5),
        partial(measure_dimension, inputs=1),
        partial(measure_dimension, method="float"),
        rank_by_inputs,
        kernel_ledger,
        partial(is_identifiable, quantity=lambda weights: weights[0].Q.sum()),
    ):
        with pytest.raises(
            ValueError, match=r"would take about .*, and (the budget is|there are)"
        ):
            attempt(arch)
    assert what_is_known(arch).entry("exact rank").answer == "not measured"


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize(
    "sizes",
    [
        (1, 1, 10**5),
        (10**5, 1, 10**5),
        (10**9, 10**9, 3),
        (2, 2, 2, 10**9),
        (10**400, 3, 2),
    ],
    ids=["deep", "both", "wide", "long", "beyond floats"],
)
def test_every_size_that_can_be_written_down_is_estimated_at_once(
    attention, sizes, monkeypatch
):
    monkeypatch.setattr(measure, "_measure_exact", None)  # nothing starts
    monkeypatch.setattr(measure, "_measure_float", None)
    arch = Architecture.uniform(*sizes, attention=attention)
    assert estimate_cost(arch).seconds > 5 < estimate_cost(arch, "float").seconds
    assert len(str(estimate_cost(arch))) < 100
    for method in ("exact", "float"):
        with pytest.raises(ValueError, match="would take about"):
            measure_dimension(arch, method, budget=5)


def test_deep_and_wide_blocks_are_estimated_at_once():
    block = Block(
        value_dim=2,
        kv_heads=10**9,
        rotary=True,
        positions=True,
        biases=True,
        mlp=(8, 10**9),
    )
    arch = Architecture.uniform(4, 2, 10**4, heads=10**9, block=block)
    assert arch.num_parameters == sum(
        prod(shape) for shape in arch.parameter_shapes.values()
    )
    assert estimate_cost(arch).columns == arch.num_parameters
    with pytest.raises(ValueError, match="would take about"):
        measure_dimension(arch, budget=5)


def test_stopping_in_the_middle_leaves_nothing_behind_and_a_bar_shows_the_time_left(
    capsys,
):
    def stop(what, part):
        if what == "elimination":
            raise KeyboardInterrupt

    arch = Architecture.uniform(6, 3, 2)
    with pytest.raises(KeyboardInterrupt):
        measure_dimension(arch, progress=stop)
    assert measure._measure_exact.cache_info().currsize == 0
    measure_dimension(arch, progress=True)
    shown = capsys.readouterr().err
    assert "elimination: 100%" in shown and "< about" in shown
    clear_cache()
    measure_dimension(arch, progress=False)
    assert capsys.readouterr().err == ""


def test_what_cannot_be_measured_has_no_cost():
    heads = Architecture((3, 3), (2,), heads=2)
    for arch, arguments, said in (
        (WIDE, {"method": "guess"}, "must be"),
        (heads, {"method": "guess"}, "method must be"),
        (WIDE, {"route": "scenic"}, "must be"),
        (
            heads,
            {"route": "slice"},
            "the slice is for networks of the paper.*leave route out",
        ),
        ("softmax", {}, "needs an Architecture; got str"),
    ):
        for ask in (estimate_cost, measure_dimension):
            with pytest.raises(ValueError, match=said):
                ask(arch, **arguments)


def test_columns_are_expected_to_be_mixed_where_few_of_them_may_not_all_count(
    monkeypatch,
):
    """As dear as another elimination, of the rows of two inputs more than there are
    columns."""
    monkeypatch.setattr(cost, "_rank_seconds", lambda columns, arithmetic: 1.0)
    full, not_full = Architecture.uniform(3, 2, 2), Architecture((3, 3, 1), (1, 3))

    def eliminations(arch):
        return [
            seconds
            for what, seconds in estimate_cost(arch).stages
            if what == "elimination"
        ]

    assert estimate_cost(full).columns == general_formula(full).value == 23
    assert estimate_cost(not_full).columns == 15 > general_formula(not_full).value
    for limit, mixing in ((14, 1), (15, 1), (16, 2)):
        monkeypatch.setattr(cost, "MIXED", limit)
        assert eliminations(not_full) == pytest.approx([mixing * 17 / 15] * 2)
        assert eliminations(full) == pytest.approx([25 / 23])


@pytest.mark.usefixtures("nobody_else_limits_threads")
@pytest.mark.parametrize(
    "arithmetic", [Float64(), Float32(), SimpleNamespace(name="int8")]
)
def test_at_the_size_that_is_timed_a_rank_is_expected_to_take_that_time(
    arithmetic, monkeypatch
):
    """And at s times as many columns s to s³ times as long; s^1.5 to s² for few of
    them."""
    monkeypatch.setattr(
        cost,
        "_timed",
        lambda work, arithmetic, columns: {256: 1.0, LARGE: 100.0}[columns],
    )
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
    timed, arch = cost._timed, Architecture((10, 10), (5,), 3)
    monkeypatch.setattr(
        cost, "_timed", lambda work, *of: 7.0 if work is cost._svd else timed(work, *of)
    )
    assert arch.num_parameters == 200 and arch.tokens * arch.widths[-1] * 10 == 300
    assert dict(estimate_cost(arch, "float", inputs=10).stages)[
        "spectrum"
    ] == pytest.approx(7)
    assert dict(estimate_cost(arch, "float", inputs=20).stages)[
        "spectrum"
    ] == pytest.approx(14)


def test_at_the_size_that_is_timed_a_derivative_is_expected_to_take_that_time(
    monkeypatch,
):
    """Beside the calls, which a small network needs most of its time for."""
    monkeypatch.setattr(
        cost, "_timed", lambda work, arch: {cost._WIDE: 7.0, cost._NARROW: 0.0}[arch]
    )
    assert cost._derivative_seconds(cost._WIDE, 64, 1) == pytest.approx(7)
    assert cost._derivative_seconds(cost._WIDE, 64, 3) == pytest.approx(21)
    monkeypatch.setattr(
        cost, "_timed", lambda work, arch: {cost._WIDE: 0.0, cost._NARROW: 4.0}[arch]
    )
    assert cost._derivative_seconds(Architecture.uniform(1, 1, 1), 64, 1) == 7 + 2
    assert cost._derivative_seconds(Architecture.uniform(1, 1, 5), 64, 1) == 7 + 2 * 5


def test_of_three_runs_each_is_timed_alone():
    runs = []
    assert cost._timed(lambda: lambda: runs.append(0)) >= 0
    assert len(runs) == 3


def test_small_ranks_run_on_one_thread_and_leave_the_pools_as_they_were():
    from threadpoolctl import threadpool_info, threadpool_limits

    def threads():
        return {
            pool["num_threads"]
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        }

    seen, whole = [], points.rank_at_a_point
    with threadpool_limits(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            points,
            "rank_at_a_point",
            lambda *given: seen.append(threads()) or whole(*given),
        )
        before = threads()
        measure_dimension(Architecture.uniform(4, 2, 2))
        assert threads() == before
    assert seen == [{1}]


def test_what_a_process_may_not_take_is_not_there():
    """As where memory is limited by `ulimit -v`; in a process of its own."""
    pytest.importorskip("resource")
    script = """
from resource import RLIMIT_AS, setrlimit
from neuroviz import Architecture, measure_dimension
from neuroviz.rank.memory import available_bytes
setrlimit(RLIMIT_AS, (2**32, 2**32))
assert available_bytes() < 2**32, available_bytes()
try:
    measure_dimension(Architecture.uniform(1, 1, 1, tokens=10_000), budget=10**6)
except ValueError as refused:
    print(refused)
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "there are" in run.stdout and "of memory" in run.stdout


def test_as_many_inputs_are_foreseen_as_are_taken(monkeypatch):
    foreseen = []
    monkeypatch.setattr(
        cost, "_derivative_seconds", lambda arch, *of: foreseen.append(of) or 0.0
    )
    estimate_cost(NARROWING, "float")
    (for_the_search, each), (for_the_spectrum, also_each) = foreseen
    search, found = rank_by_inputs(NARROWING), measure_dimension(NARROWING, "float")
    assert each == also_each == search.equations_per_input
    assert for_the_search == pytest.approx(len(search.ranks), rel=0.1)
    assert for_the_spectrum == pytest.approx(found.num_inputs, rel=0.15)


def test_the_search_for_enough_inputs_takes_about_as_much_memory_as_was_said():
    tracemalloc.start()
    rank_by_inputs(NARROWING)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < cost.inputs_cost(NARROWING).bytes < 3 * peak


@pytest.mark.parametrize(("tokens", "quick"), [(1_000, True), (2_000, False)])
def test_a_million_attention_weights_are_quick_and_four_million_are_not(tokens, quick):
    """Some 250 products for each weight and input; about 4·10⁸ of them take a
    second."""
    assert cost.is_quick(Architecture.uniform(1, 1, 1, tokens=tokens), 1) == quick
