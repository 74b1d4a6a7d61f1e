"""What notebooks call: measurements are made once, and show how far they are."""

import inspect
from dataclasses import dataclass, field
from functools import partial
from itertools import count, groupby

import numpy as np
import pytest
from polynomial import Polynomial

import neuroviz
from neuroviz import Architecture
from neuroviz.attention import ledger as ledgers
from neuroviz.kit import bar as bars
from neuroviz.kit import measured
from neuroviz.kit.bar import listening
from neuroviz.kit.measured import (
    clear_cache,
    kernel_ledger,
    measure_dimension,
    rank_by_inputs,
)
from neuroviz.rank import budget
from neuroviz.rank.budget import BudgetSpent

SMALL = Architecture.uniform(4, 2, 2)


@pytest.fixture(autouse=True)
def empty():
    clear_cache()
    yield
    clear_cache()


# Each once


def test_what_was_found_is_not_measured_again(monkeypatch):
    found = measure_dimension(SMALL)
    curve = rank_by_inputs(SMALL)
    ledger = kernel_ledger(SMALL)
    monkeypatch.setattr(measured, "rank", None)  # nothing can be measured any more
    monkeypatch.setattr(measured, "answer", None)
    monkeypatch.setattr(measured, "ledger_of", None)
    assert measure_dimension(SMALL, seed=np.int64(0)) is found
    assert measure_dimension(SMALL, route="slice") is found  # it is the default
    assert rank_by_inputs(SMALL) is curve
    assert kernel_ledger(SMALL) == ledger
    for other in (
        partial(measure_dimension, seed=1),
        partial(measure_dimension, inputs=3),
        partial(measure_dimension, route="weights", prime=101),
        partial(measure_dimension, method="float"),
        partial(rank_by_inputs, seed=1),
    ):
        with pytest.raises((AttributeError, TypeError), match="NoneType"):
            other(SMALL)


def test_what_is_handed_out_can_be_changed_and_what_is_kept_stays():
    kernel_ledger(SMALL).entries["interfaces"] = -1
    assert kernel_ledger(SMALL).entries["interfaces"] == 16
    spectrum = measure_dimension(SMALL, method="float").singular_values
    with pytest.raises(ValueError, match="read-only"):
        spectrum[0] = 0


def test_a_network_that_may_change_is_measured_anew():
    net = Polynomial((2, 3, 1), 2)
    assert measure_dimension(net).value == 3

    @dataclass(frozen=True)
    class WithAList:
        """Frozen, but what is in it is not."""

        exponents: list = field(default_factory=lambda: [2])
        parameter_shapes = net.parameter_shapes
        random_inputs = net.random_inputs

        def record(self, tape, weights, inputs):
            return Polynomial((2, 3, 1), self.exponents[0]).record(
                tape, weights, inputs
            )

    @dataclass(frozen=True)
    class WithAnUncomparedPower(WithAList):
        """Two of them are equal, and are two networks."""

        exponents: int = field(default=2, compare=False)

        def record(self, tape, weights, inputs):
            return Polynomial((2, 3, 1), self.exponents).record(tape, weights, inputs)

    @dataclass(frozen=True, eq=False)
    class WithoutEquality(WithAList):
        """It has a hash, which says nothing of the list."""

    unequal = WithoutEquality()
    assert measure_dimension(unequal).value == 3
    unequal.exponents[0] = 3
    assert measure_dimension(unequal).value == 4

    assert measure_dimension(WithAnUncomparedPower(2)).value == 3
    assert measure_dimension(WithAnUncomparedPower(3)).value == 4
    changing = WithAList()
    assert measure_dimension(changing).value == 3  # quadratic forms in two variables
    changing.exponents[0] = 3
    assert measure_dimension(changing).value == 4  # cubic ones


def test_the_oldest_of_too_many_results_is_forgotten(monkeypatch):
    monkeypatch.setattr(measured, "_MOST", 2)
    for seed in range(3):
        measure_dimension(SMALL, seed=seed)
    assert len(measured._kept) == 2


# Signs of life


def heard_of(work):
    """What work tells, in runs of one stage each."""
    seen = []
    work(progress=lambda what, part: seen.append((what, part)))
    parts = [part for _, part in seen]
    assert parts == sorted(parts) and parts[-1] == 1.0
    return [what for what, _ in groupby(seen, key=lambda said: said[0])]


def test_a_function_is_told_how_far_the_work_is():
    stages = ["derivative", "elimination"]
    assert heard_of(partial(measure_dimension, SMALL)) == stages
    assert heard_of(partial(rank_by_inputs, SMALL)) == ["inputs"]
    seen = []
    kernel_ledger(SMALL, progress=lambda what, part: seen.append(what))
    assert seen[-1] == "symmetries" and "elimination" in seen


def test_a_panel_that_listens_hears_it_and_there_is_no_bar(capsys):
    heard = []
    with listening(lambda what, part: heard.append(what)):
        measure_dimension(SMALL, progress=True)
    assert heard and capsys.readouterr().err == ""
    heard.clear()
    clear_cache()
    measure_dimension(SMALL)
    assert not heard


def test_stopping_in_the_middle_leaves_nothing_behind():
    def stop(what, part):
        if what == "elimination":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_dimension(SMALL, progress=stop)
    assert not measured._kept


def test_a_bar_shows_the_time_left_where_it_is_asked_for_or_work_takes_long(
    capsys, monkeypatch
):
    measure_dimension(SMALL, progress=True)
    shown = capsys.readouterr().err
    assert "elimination: 100%" in shown and "< about" in shown
    clear_cache()
    measure_dimension(SMALL)
    measure_dimension(SMALL, seed=1, progress=False)
    assert capsys.readouterr().err == ""
    seconds = count(step=3)
    monkeypatch.setattr(bars, "time", lambda: next(seconds))
    measure_dimension(SMALL, seed=2)
    assert "< about" in capsys.readouterr().err


# Budgets and arguments


def test_a_budget_holds_while_the_work_runs(monkeypatch):
    seconds = count()
    # a second passes between two looks
    monkeypatch.setattr(budget, "monotonic", lambda: next(seconds))
    for method in ("exact", "float"):
        with pytest.raises(BudgetSpent, match=r"not measured in 2 s: about .*% was"):
            measure_dimension(SMALL, method, budget=2)
    with pytest.raises(BudgetSpent, match="in 2 s"):
        kernel_ledger(SMALL, budget=2)
    assert measure_dimension(SMALL, budget=30).value == 38


def test_silent_directions_beyond_the_budget_or_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr(ledgers, "_DIRECTIONS_A_SECOND", 1)
    with pytest.raises(ValueError, match=r"the 26 silent directions of .* budget is"):
        kernel_ledger(SMALL)
    huge = Architecture.uniform(4000, 4000, 2)
    with pytest.raises(ValueError, match="silent directions of .* memory"):
        kernel_ledger(huge)


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param((1, 1, 10**5), id="deep", marks=pytest.mark.long),
        pytest.param((10**5, 1, 10**5), id="both", marks=pytest.mark.long),
        pytest.param((10**4, 1, 10**4), id="both, a tenth"),
        pytest.param((10**9, 10**9, 3), id="wide"),
        pytest.param((2, 2, 2, 10**9), id="long"),
        pytest.param((10**400, 3, 2), id="beyond floats"),
    ],
)
def test_every_size_that_can_be_written_down_is_refused_at_once(attention, sizes):
    arch = Architecture.uniform(*sizes, attention=attention)
    for method in ("exact", "float"):
        assert neuroviz.estimate_cost(arch, method).seconds > 5
        with pytest.raises(ValueError, match="would take about"):
            measure_dimension(arch, method, budget=5)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"net": "lightning"}, "needs a network.*str has no .*functional_dimension"),
        ({"method": "guess"}, "method must be 'exact' or 'float'; got 'guess'"),
        ({"seed": -1}, "seed must be a whole number ≥ 0; got -1"),
        ({"seed": True}, "seed must be a whole number ≥ 0; got True"),
        ({"inputs": 0}, "inputs must be a whole number ≥ 1; got 0"),
        ({"route": "short"}, "route must be 'slice', 'weights' or None; got 'short'"),
        ({"method": "float", "route": "slice"}, "spectrum is that of all parameters"),
        ({"prime": 10}, "odd prime below 2²³ = 8388608.*got 10: try 8388593"),
        ({"progress": "yes"}, "progress is True, False, None or a function.*got 'yes'"),
        ({"budget": "long"}, "budget is a number of seconds > 0, such as 60"),
        ({"budget": 1e-6, "seed": 9}, "the budget is 1e-06 seconds|in 1e-06 s"),
    ],
    ids=str,
)
def test_a_bad_argument_is_refused_also_where_a_result_is_kept(changes, message):
    measure_dimension(SMALL, seed=1)
    for function in (measure_dimension, rank_by_inputs, kernel_ledger):
        arguments = {"net": SMALL} | changes
        if arguments.keys() <= set(inspect.signature(function).parameters):
            with pytest.raises(ValueError, match=message):
                function(**arguments)


def test_whoever_gives_no_seed_gets_the_seed_zero_everywhere():
    defaults = set()
    for name in neuroviz.__all__:
        function = getattr(neuroviz, name)
        if inspect.isfunction(function):
            seed = inspect.signature(function).parameters.get("seed")
            if seed is not None and seed.default is not seed.empty:
                defaults.add((name, seed.default))
    assert len(defaults) > 3 and {default for _, default in defaults} == {0}
