"""What is in reach for N numbers, exactly; what an optimiser reaches; and that the
stored result says so."""

import json

import numpy as np
import pytest

from neuroviz.attention.formulas import expected_dimension
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField
from neuroviz.rank.point import derivative, random_point
from neuroviz_beyond.memorisation import memorisation
from neuroviz_beyond.memorisation.memorisation import (
    CASES,
    DRAWS,
    LEARNT,
    STARTS,
    STEPS,
    STORED,
    TARGETS,
    Curve,
    counts_for,
    draw_task,
    learn,
    main,
    stored_curves,
    try_numbers,
    values,
)

QUICK = [
    arch for arch in CASES if arch.num_layers == 1 and arch.attention == "lightning"
]


def curves(targets):
    return [curve for curve in stored_curves() if curve.targets == targets]


def measure_reach(arch, count):
    """The exact rank of the derivative of f for N = count."""
    over = PrimeField()
    rng = np.random.default_rng([0, count])
    point = random_point(arch, over, rng)
    X = arch.random_inputs(over, count, rng)
    C = over.random(rng, (count, 1, arch.widths[-1], arch.tokens))
    return exact_rank(derivative(point, X, rng, C)[:, 0], over)


@pytest.mark.parametrize("arch", CASES, ids=str)
def test_every_small_change_of_n_numbers_is_in_reach_exactly_up_to_the_dimension(
    arch,
):
    D = expected_dimension(arch).value
    assert [measure_reach(arch, N) for N in (D - 1, D, D + 1, D + 5)] == [
        D - 1,
        D,
        D,
        D,
    ]


@pytest.mark.parametrize("arch", CASES, ids=str)
def test_a_small_change_is_learnt_below_the_dimension_and_not_above_it(arch):
    D = expected_dimension(arch).value
    assert learn(*draw_task(arch, "nearby", D - 2, draw=0))[-1] < LEARNT
    assert learn(*draw_task(arch, "nearby", D + 1, draw=0))[-1] > 100 * LEARNT


def test_what_another_network_gives_is_learnt_beyond_the_dimension():
    """So it is the set, and not the optimiser, that ends at N = D."""
    arch = CASES[2]
    D = expected_dimension(arch).value
    # A single run may get stuck; of Gaussian numbers no run gets there.
    assert any(
        learn(*draw_task(arch, "teacher", D + 3, draw))[-1] < LEARNT
        for draw in range(20)
    )
    assert not any(
        learn(*draw_task(arch, "random", D + 3, draw))[-1] < LEARNT for draw in range(5)
    )


def test_a_run_goes_down_and_ends_after_so_many_steps():
    task, start = draw_task(CASES[3], "random", 14, draw=1)
    misses = learn(task, start)
    assert all(b <= a for a, b in zip(misses, misses[1:], strict=False))
    assert (
        len(learn(task, start, steps=2)) == 3
        and learn(task, start, steps=2)[-1] > LEARNT
    )


def test_numbers_have_size_one_whatever_the_network():
    for arch in CASES:
        for targets in TARGETS:
            task, start = draw_task(arch, targets, 40, draw=0)
            assert 0.5 < np.sqrt(np.mean(task.y**2)) < 1.6
            assert np.isclose(np.mean(values(arch, start, task.X, task.C) ** 2), 1)
            if targets == "nearby":
                change = np.linalg.norm(task.rest(start)) / np.linalg.norm(task.y)
                assert np.isclose(change, 1e-6)


# The stored result


@pytest.mark.parametrize("arch", QUICK, ids=str)
@pytest.mark.parametrize("targets", ["nearby", "random"])
def test_running_a_part_again_gives_what_is_stored(arch, targets):
    """One layer, where success does not hang on the last bit of a sum."""
    (curve,) = [c for c in curves(targets) if c.arch == arch]
    counts = sorted(curve.misses)
    for N in (counts[0], counts[-1]):
        again = try_numbers(arch, targets, N, 2)
        assert [task[0] < LEARNT for task in again] == [
            task[0] < LEARNT for task in curve.misses[N][:2]
        ]


def test_the_stored_result_is_of_these_networks_numbers_and_settings():
    settings = json.loads(STORED.read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "seed": 0,
        "draws": DRAWS,
        "starts": STARTS,
        "steps": STEPS,
        "learnt": LEARNT,
    }
    for targets in TARGETS:
        assert tuple(curve.arch for curve in curves(targets)) == CASES
    for curve in stored_curves():
        assert curve.dimension == measure_dimension(curve.arch).value
        assert list(curve.misses) == counts_for(curve.dimension)
        assert all(len(tasks) == DRAWS for tasks in curve.misses.values())
    assert counts_for(20) == [12, 14, 16, 18, 19, 20, 21, 22, 24]


def test_what_is_told_of_the_results_is_true():
    # A small change: all of it below D, almost all at D, nothing beyond.
    for curve in curves("nearby"):
        for N, share in curve.shares.items():
            D = curve.dimension
            assert share == 1 if N < D else share >= 7 / 8 if N == D else share == 0
    # Random numbers: nothing beyond D; with lightning half of them up to D − 1 at
    # least.
    for curve in curves("random"):
        assert curve.beyond == 0
        assert (
            curve.arch.attention == "softmax" or curve.capacity >= curve.dimension - 1
        )
    soft = [c for c in curves("random") if c.arch.attention == "softmax"]
    assert sum((c.capacity or 0) < 0.9 * c.dimension for c in soft) >= 4
    # Between a hundredth of the threshold and a hundred times it there is next to
    # nothing.
    every = [*curves("nearby"), *curves("random")]
    misses = [
        m
        for curve in every
        for tasks in curve.misses.values()
        for task in tasks
        for m in task
    ]
    assert sum(LEARNT / 100 < m < LEARNT * 100 for m in misses) < 0.01 * len(misses)
    # What a teacher gives is found beyond D, too.
    assert sum(curve.beyond for curve in curves("teacher")) > 100


def test_the_capacity_is_the_largest_n_of_which_half_is_learnt():
    misses = {
        5: [[0.0], [0.0]],
        6: [[0.5, 1e-9], [0.5]],
        7: [[0.5], [0.5, 1e-9, 0.1]],
        8: [[0.5], [0.5]],
    }
    curve = Curve(CASES[0], "random", 6, misses)
    assert (
        list(curve.shares.values()) == [1, 0.5, 0.5, 0]
        and curve.capacity == 7
        and curve.beyond == 1
    )
    assert Curve(CASES[0], "random", 6, {8: misses[8]}).capacity is None


def test_the_command_writes_a_file_that_agrees_with_what_is_stored(
    tmp_path, capsys, monkeypatch
):
    shipped = curves("nearby")[0]
    monkeypatch.setattr(memorisation, "STORED", tmp_path / "memorisation.json")
    monkeypatch.setattr(memorisation, "CASES", CASES[:1])
    monkeypatch.setattr(memorisation, "DRAWS", 3)
    monkeypatch.setattr(memorisation, "counts_for", lambda D: (13, 22))
    main(quick=True)
    assert "13: 100%" in capsys.readouterr().out and not list(tmp_path.iterdir())
    main(quick=False)
    again = memorisation.stored_curves.__wrapped__()
    assert [curve.targets for curve in again] == list(TARGETS) and again[
        0
    ].arch == CASES[0]
    for N, tasks in again[0].misses.items():
        assert [task[0] < LEARNT for task in tasks] == [
            task[0] < LEARNT for task in shipped.misses[N][:3]
        ]
