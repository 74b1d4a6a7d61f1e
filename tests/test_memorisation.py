"""What is in reach for N numbers, exactly; what an optimiser reaches; and that the shipped results say so."""

import tomllib
from pathlib import Path

import numpy as np
import pytest

from neuroviz.beyond.memorisation.memorisation import (
    CASES,
    DRAWS,
    LEARNT,
    STARTS,
    STEPS,
    TARGETS,
    Curve,
    Experiment,
    Trial,
    counts_for,
    draw_task,
    from_json,
    learn,
    main,
    measure_reach,
    run_trial,
    shipped_experiment,
    to_json,
    values,
)
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.measure import measure_dimension
from neuroviz.engine.network import flatten

ROOT = Path(__file__).parents[1]
QUICK = [arch for arch in CASES if arch.num_layers == 1 and arch.attention == "lightning"]


# What is in reach, exactly


@pytest.mark.parametrize("arch", CASES, ids=str)
def test_every_small_change_of_n_numbers_is_in_reach_exactly_up_to_n_equal_to_the_dimension(arch):
    D = expected_dimension(arch).value
    assert [measure_reach(arch, N).value for N in (D - 1, D, D + 1, D + 5)] == [D - 1, D, D, D]


def test_a_full_rank_is_certain_and_a_smaller_one_is_as_sure_as_the_dimension():
    arch = CASES[2]
    D = measure_dimension(arch)
    assert measure_reach(arch, D.value).error_bound == 0.0
    short = measure_reach(arch, D.value + 1)
    assert short.error_bound == D.error_bound and short.num_columns == arch.num_parameters


def test_the_networks_have_parameters_and_dimensions_in_another_order():
    pairs = [(arch.num_parameters, expected_dimension(arch).value) for arch in CASES]
    assert any(p > q and d < e for p, d in pairs for q, e in pairs)
    assert all(d <= p for p, d in pairs)


# What an optimiser reaches


@pytest.mark.parametrize("arch", CASES, ids=str)
def test_a_small_change_is_learnt_below_the_dimension_and_not_above_it(arch):
    D = expected_dimension(arch).value
    assert learn(*draw_task(arch, "nearby", D - 2, draw=0)).learnt
    fit = learn(*draw_task(arch, "nearby", D + 1, draw=0))
    assert not fit.learnt and fit.misses[-1] > 100 * LEARNT


def test_what_another_network_gives_is_learnt_beyond_the_dimension():
    """So it is the set, and not the optimiser, that ends at N = D."""
    arch = CASES[2]
    D = expected_dimension(arch).value
    # A single run may get stuck; of Gaussian numbers no run gets there.
    assert any(learn(*draw_task(arch, "teacher", D + 3, draw)).learnt for draw in range(20))
    assert not any(learn(*draw_task(arch, "random", D + 3, draw)).learnt for draw in range(5))


def test_a_run_goes_down_ends_where_it_says_and_does_not_move_its_task():
    task, start = draw_task(CASES[3], "random", 14, draw=1)
    fit = learn(task, start)
    assert all(b <= a for a, b in zip(fit.misses, fit.misses[1:], strict=False))
    apart = values(task.arch, fit.weights, task.X, task.C) - task.y
    assert np.isclose(np.linalg.norm(apart) / task.scale, fit.misses[-1], rtol=1e-6)
    np.testing.assert_array_equal(flatten(start), flatten(draw_task(CASES[3], "random", 14, draw=1)[1]))


def test_a_run_may_be_cut_short_and_says_that_nothing_was_learnt():
    task, start = draw_task(CASES[3], "random", 14, draw=1)
    assert len(learn(task, start, steps=2).misses) == 3
    assert not learn(task, start, steps=2).learnt


def test_numbers_have_size_one_whatever_the_network():
    for arch in CASES:
        for targets in TARGETS:
            task, start = draw_task(arch, targets, 40, draw=0)
            assert 0.5 < np.sqrt(np.mean(task.y**2)) < 1.6
            assert np.isclose(np.mean(values(arch, start, task.X, task.C) ** 2), 1)


def test_a_nearby_task_is_one_millionth_away():
    task, start = draw_task(CASES[0], "nearby", 10, draw=0)
    at_start = values(CASES[0], start, task.X, task.C)
    assert np.isclose(np.linalg.norm(task.y - at_start) / np.linalg.norm(at_start), 1e-6)
    assert np.isclose(learn(task, start, steps=0).misses[0], 1.0)


def test_another_draw_start_or_seed_is_another_task():
    def numbers(**change):
        task, start = draw_task(CASES[0], "random", **({"count": 9, "draw": 0} | change))
        return np.concatenate([task.y, flatten(start)])

    same = numbers()
    np.testing.assert_array_equal(same, numbers())
    for change in ({"draw": 1}, {"seed": 1}, {"start": 1}):
        assert not np.allclose(same, numbers(**change))
    assert np.array_equal(same[:9], numbers(start=1)[:9])  # another start for the same task


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"targets": "far"}, "targets are one of 'nearby', 'random', 'teacher'; got 'far'"),
        ({"count": 0}, "one number or more; got a count of 0"),
        ({"arch": Architecture((3, 3), (2,), skip=True)}, "paper's networks; got lightning 3→3"),
        ({"arch": Architecture((3, 3), (2,), block=Block(biases=True))}, "paper's networks"),
    ],
)
def test_a_task_that_makes_no_sense_is_refused(change, words):
    with pytest.raises(ValueError, match=words):
        draw_task(**({"arch": CASES[0], "targets": "random", "count": 5, "draw": 0} | change))


# The experiment


@pytest.mark.parametrize("arch", QUICK, ids=str)
@pytest.mark.parametrize("targets", ["nearby", "random"])
def test_running_a_part_again_gives_what_is_shipped(arch, targets):
    """One layer, where success does not hang on the last bit of a sum."""
    curve = next(c for c in shipped_experiment().of(targets) if c.arch == arch)
    for trial in (curve.trials[0], curve.trials[2], curve.trials[-1]):
        again = run_trial(arch, targets, trial.count, DRAWS, STARTS if trial.learnt else 1, seed=0)
        assert again.learnt == trial.learnt
        found = [task[0] < LEARNT for task in again.misses]
        assert found == [task[0] < LEARNT for task in trial.misses]


def test_the_shipped_results_are_of_these_networks_numbers_and_settings():
    found = shipped_experiment()
    assert found.settings == {"seed": 0, "draws": DRAWS, "starts": STARTS, "steps": STEPS, "learnt": LEARNT}
    for targets in TARGETS:
        assert tuple(curve.arch for curve in found.of(targets)) == CASES
    for curve in found.curves:
        assert curve.dimension == measure_dimension(curve.arch).value
        assert tuple(trial.count for trial in curve.trials) == counts_for(curve.dimension)
        assert all(len(trial.misses) == DRAWS for trial in curve.trials)


def test_what_is_told_of_the_results_is_true():
    found = shipped_experiment()
    # A small change: all of it below D, almost all at D, nothing beyond.
    for curve in found.of("nearby"):
        for trial in curve.trials:
            assert trial.share == (1 if trial.count < curve.dimension else trial.share)
            assert trial.share >= 7 / 8 if trial.count == curve.dimension else True
            assert trial.share == 0 if trial.count > curve.dimension else True
    # Random numbers: nothing beyond D; with lightning half of them up to D − 1 at least.
    for curve in found.of("random"):
        assert not any(trial.learnt for trial in curve.trials if trial.count > curve.dimension)
        if curve.arch.attention == "lightning":
            assert curve.capacity >= curve.dimension - 1
    soft = [c for c in found.of("random") if c.arch.attention == "softmax"]
    assert sum((c.capacity or 0) < 0.9 * c.dimension for c in soft) >= 4
    # What a teacher gives is found beyond D, too.
    assert sum(t.learnt for c in found.of("teacher") for t in c.trials if t.count > c.dimension) > 100


def test_no_result_lies_where_it_could_be_counted_either_way():
    """Between a hundredth of the threshold and a hundred times it there is next to nothing."""
    for targets in ("nearby", "random"):
        misses = [
            m for c in shipped_experiment().of(targets) for t in c.trials for task in t.misses for m in task
        ]
        between = [m for m in misses if LEARNT / 100 < m < LEARNT * 100]
        assert len(between) < 0.01 * len(misses)


def test_the_capacity_is_the_largest_n_of_which_half_is_learnt():
    trials = (Trial(5, ((0.0,), (0.0,))), Trial(6, ((0.5, 1e-9), (0.5,))), Trial(7, ((0.5,), (0.5,))))
    curve = Curve(CASES[0], "random", 6, trials)
    assert [trial.share for trial in trials] == [1, 0.5, 0] and curve.capacity == 6
    assert Curve(CASES[0], "random", 6, trials[2:]).capacity is None


def test_an_experiment_survives_being_written_down():
    curve = Curve(CASES[8], "random", 23, (Trial(5, ((0.5, 1e-9), (0.25,))),))
    experiment = Experiment({"seed": 0}, (curve,))
    assert from_json(to_json(experiment)) == experiment
    assert from_json(to_json(shipped_experiment())) == shipped_experiment()


def test_the_command_writes_a_file_that_agrees_with_what_is_shipped(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("neuroviz.beyond.memorisation.memorisation.CASES", CASES[:1])
    monkeypatch.setattr("neuroviz.beyond.memorisation.memorisation.counts_for", lambda D: (13, 22))
    main(["--quick", "--file", str(tmp_path / "new" / "file.json")])
    again = from_json((tmp_path / "new" / "file.json").read_text(encoding="utf-8"))
    assert "D = 22" in capsys.readouterr().out and len(again.curves) == len(TARGETS)
    shipped = {trial.count: trial for trial in shipped_experiment().of("nearby")[0].trials}
    for trial in again.of("nearby")[0].trials:
        assert trial.learnt == 3 == sum(min(task) < LEARNT for task in shipped[trial.count].misses[:3])


def test_the_quick_command_leaves_what_is_shipped_alone(capsys, monkeypatch):
    before = (ROOT / "neuroviz" / "data" / "memorisation.json").read_bytes()
    monkeypatch.setattr("neuroviz.beyond.memorisation.memorisation.CASES", CASES[:1])
    monkeypatch.setattr("neuroviz.beyond.memorisation.memorisation.counts_for", lambda D: (13,))
    main(["--quick"])
    assert "13: 3/3" in capsys.readouterr().out
    assert (ROOT / "neuroviz" / "data" / "memorisation.json").read_bytes() == before


def test_the_wheel_holds_the_results():
    """hatchling takes all of the package's folder that git does not ignore."""
    with open(ROOT / "pyproject.toml", "rb") as file:
        targets = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]
    assert targets["wheel"] == {"packages": ["neuroviz"]}
    ignored = (ROOT / ".gitignore").read_text(encoding="utf-8").split()
    assert not {"data", "data/", "*.json", "neuroviz/data", "neuroviz/data/"} & set(ignored)
    assert (ROOT / "neuroviz" / "data" / "memorisation.json").stat().st_size < 200_000
