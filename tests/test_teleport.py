"""A walk along a fibre keeps the loss and changes its gradient, as the formula says; and what was counted."""

from dataclasses import replace

import numpy as np
import pytest

from neuroviz.beyond.teleport.comparison import (
    CHECKPOINTS,
    DESTINATIONS,
    RULES,
    SEEDS,
    compare,
    from_json,
    main,
    norms_along,
    shipped_comparisons,
    to_json,
)
from neuroviz.beyond.teleport.study import TeleportSetting, study_teleport
from neuroviz.beyond.teleport.teleport import (
    INPUTS,
    WALKS,
    Exponentials,
    descend,
    draw_problem,
    loss_and_gradient,
    move,
    norm_along,
    squared_norm,
    stack,
)
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, forward, jacobian


def at(walk, problem, s):
    """Loss, ‖∇L‖² and ‖θ‖² after a walk of length s, from the weights there."""
    there = stack([move(walk, problem.weights, problem.generator, s)])
    loss, gradient = loss_and_gradient(there, problem.X[None], problem.Y[None])
    return loss[0], squared_norm(gradient)[0], squared_norm(there)[0]


# The gradient


@pytest.mark.parametrize("walk", ["keys", "interface"])
def test_the_gradient_is_that_of_the_network(walk):
    weights, X, Y, _ = draw_problem(walk, seed=3)
    outputs = forward(Reals(), "lightning", weights, X)
    J = jacobian(Reals(), "lightning", weights, X, (outputs - Y)[:, None] / INPUTS)
    loss, gradient = loss_and_gradient(stack([weights]), X[None], Y[None])
    mine = np.concatenate([matrix[0].ravel() for layer in gradient for matrix in layer])
    np.testing.assert_allclose(mine, J.sum(axis=(0, 1)), rtol=1e-10, atol=1e-12)
    assert np.isclose(loss[0], ((outputs - Y) ** 2).sum() / (2 * INPUTS))


def test_the_gradient_is_what_the_loss_does_in_small_steps():
    weights, X, Y, _ = draw_problem("interface", seed=1)
    _, gradient = loss_and_gradient(stack([weights]), X[None], Y[None])
    moved = [
        tuple(Layer(*(W + h * G[0] for W, G in zip(layer, bar, strict=True))) for layer, bar in
              zip(weights, gradient, strict=True))
        for h in (1e-6, -1e-6)
    ]  # fmt: skip
    (up, down), _ = loss_and_gradient(stack(moved), X[None], Y[None])
    assert np.isclose((up - down) / 2e-6, squared_norm(gradient)[0], rtol=1e-5)


def test_many_networks_at_once_are_as_many_networks():
    problems = [draw_problem("interface", seed) for seed in range(3)]
    X, Y = (np.stack([getattr(p, name) for p in problems]) for name in "XY")
    loss, gradient = loss_and_gradient(stack([p.weights for p in problems]), X, Y)
    for i, p in enumerate(problems):
        one, bar = loss_and_gradient(stack([p.weights]), p.X[None], p.Y[None])
        assert np.isclose(one[0], loss[i]) and np.isclose(squared_norm(bar)[0], squared_norm(gradient)[i])


# The walk


@pytest.mark.parametrize("walk", WALKS)
@pytest.mark.parametrize("seed", range(3))
def test_along_a_walk_the_loss_stays_and_the_norms_are_those_of_the_formula(walk, seed):
    problem = draw_problem(walk, seed)
    gradient, length = norms_along(walk, problem)
    start = at(walk, problem, 0.0)
    for s in (-2.0, -0.3, 0.8, 2.0):
        loss, squared, size = at(walk, problem, s)
        assert np.isclose(loss, start[0], rtol=1e-9)
        assert np.isclose(squared, gradient.at(s), rtol=1e-7) and np.isclose(size, length.at(s))
        assert not np.isclose(squared, start[1], rtol=1e-3)


@pytest.mark.parametrize("walk", WALKS)
def test_a_step_off_the_fibre_changes_the_loss(walk):
    weights, X, Y, E = draw_problem(walk, seed=0)
    moved = move(walk, weights, E, 0.5)
    off = (moved[0]._replace(V=weights[0].V * 1.1), *moved[1:])
    before, after = (loss_and_gradient(stack([w]), X[None], Y[None])[0][0] for w in (weights, off))
    assert not np.isclose(before, after, rtol=1e-3)


@pytest.mark.parametrize("walk", WALKS)
def test_the_gradient_is_shortest_once_and_longest_nowhere(walk):
    for seed in range(5):
        gradient, _ = norms_along(walk, draw_problem(walk, seed))
        least = gradient.minimum
        s = np.linspace(least - 2, least + 2, 41)
        values = np.array([gradient.at(x) for x in s])
        assert (np.diff(values, 2) > 0).all() and values.argmin() == 20
        assert min(gradient.at(least - 8), gradient.at(least + 8)) > 100 * gradient.at(least)


def test_a_walk_in_which_nothing_moves_up_or_down_has_no_inner_minimum():
    flat = Exponentials((1.0,), (2.0,), 3.0)
    assert flat.minimum == -12.0  # towards −∞, as far as is looked


def test_where_gradients_balance_and_where_weights_do_are_not_the_same():
    """For Q up, K down: ‖∂L/∂Q‖ = ‖∂L/∂K‖ at the one, ‖Q‖ = ‖K‖ at the other."""
    problem = draw_problem("keys", 0)
    gradient, length = norms_along("keys", problem)
    there = stack([move("keys", problem.weights, problem.generator, gradient.minimum)])
    _, bar = loss_and_gradient(there, problem.X[None], problem.Y[None])
    assert np.isclose(np.linalg.norm(bar[0].Q), np.linalg.norm(bar[0].K))
    balanced = move("keys", problem.weights, problem.generator, length.minimum)
    assert np.isclose(np.linalg.norm(balanced[0].Q), np.linalg.norm(balanced[0].K))
    assert abs(gradient.minimum - length.minimum) > 0.1


def test_the_nearest_place_with_a_longer_gradient_has_it_and_nothing_nearer_does():
    for walk in WALKS:
        problem = draw_problem(walk, 2)
        gradient, _ = norms_along(walk, problem)
        s = gradient.nearest(4.0)
        assert np.isclose(at(walk, problem, s)[1], 4 * gradient.at(0.0), rtol=1e-6)
        assert all(gradient.at(x) < 4 * gradient.at(0) for x in np.linspace(-0.99 * abs(s), 0.99 * abs(s), 9))


@pytest.mark.parametrize("times", [1.0, 0.5, -2.0, float("nan")])
def test_only_a_longer_gradient_can_be_asked_for(times):
    with pytest.raises(ValueError, match="a factor above 1"):
        Exponentials((1.0,), (2.0,), 0.0).nearest(times)


def test_what_does_not_grow_within_reach_is_refused():
    with pytest.raises(ValueError, match="never becomes 4 times"):
        Exponentials((0.0,), (2.0,), 1.0).nearest(4.0)


def test_norm_along_counts_every_entry_once():
    for walk in WALKS:
        weights, *_, E = draw_problem(walk, 1)
        assert np.isclose(norm_along(walk, weights, E).at(0.0), squared_norm(stack([weights]))[0])


@pytest.mark.parametrize("walk", ["swap", "", None])
def test_an_unknown_walk_is_refused(walk):
    with pytest.raises(ValueError, match="a walk is one of 'keys', 'values', 'basis', 'interface'"):
        draw_problem(walk, 0)


# Descending


def test_gradient_descent_goes_down_at_a_small_rate_and_is_lost_at_a_large_one():
    weights, X, Y, _ = draw_problem("keys", 0)
    small, large = descend(stack([weights] * 2), X[None], Y[None], np.array([2**-9, 1.0]), 50).T
    assert (np.diff(small) < 0).all()
    assert np.isinf(large[-1]) and np.isfinite(large[0])
    lost = np.isinf(large).argmax()
    assert np.isinf(large[lost:]).all()


def test_a_first_small_step_wins_what_the_gradient_promises():
    """L falls by rate · ‖∇L‖²: so at first a longer gradient wins more."""
    problem = draw_problem("keys", 0)
    gradient, _ = norms_along("keys", problem)
    s = gradient.nearest(4.0)
    runs = [problem.weights, move("keys", problem.weights, problem.generator, s)]
    losses = descend(stack(runs), problem.X[None], problem.Y[None], 1e-7, 1)
    won = losses[0] - losses[1]
    np.testing.assert_allclose(won, 1e-7 * np.array([gradient.at(0), gradient.at(s)]), rtol=1e-3)
    assert np.isclose(won[1] / won[0], 4, rtol=1e-3)


# The study of one network


def test_a_study_measures_what_the_formula_says():
    study = study_teleport(TeleportSetting(walk="basis", place=-0.7, steps=30, seed=4))
    assert study.drift < 1e-9
    np.testing.assert_allclose(study.gradients, [study.gradient_at(s) for s in study.places], rtol=1e-7)
    assert np.isclose(study.gradient, study.gradient_at(-0.7))
    assert np.isclose(study.from_start[0], study.from_here[0]) and len(study.from_here) == 31
    assert study.from_start[1:] != study.from_here[1:]


def test_at_the_start_both_descents_are_the_same():
    study = study_teleport(TeleportSetting(place=0.0, steps=20))
    np.testing.assert_allclose(study.from_start, study.from_here, rtol=1e-6)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"walk": "swap"}, "walk must be one of"),
        ({"rule": "best"}, "rule must be one of"),
        ({"place": 2.6}, "place goes from -2.5 to 2.5"),
        ({"rate": 0}, "rate goes from -12 to -3"),
        ({"steps": 4}, "steps goes from 5 to 400"),
        ({"place": float("nan")}, "place goes from"),
    ],
)
def test_a_setting_refuses_what_there_is_not(change, words):
    with pytest.raises(ValueError, match=words):
        TeleportSetting(**change)


# What was counted


def test_the_shipped_counts_are_of_all_walks_destinations_and_rules():
    for walk, found in shipped_comparisons().items():
        assert found.walk == walk in WALKS and found.seeds == SEEDS
        assert {(c.destination, c.rule) for c in found.counts} == {
            (d, r) for d in DESTINATIONS for r in RULES
        }
        for c in found.counts:
            assert all(a + b <= SEEDS for a, b in zip(c.ahead, c.behind, strict=True))
            assert len(c.ahead) == len(c.ratio) == len(CHECKPOINTS)


def test_places_and_gains_of_the_shipped_results_come_out_again():
    for walk, found in shipped_comparisons().items():
        for seed in (0, 7, 123):
            gradient, length = norms_along(walk, draw_problem(walk, seed))
            assert found.least[seed] == pytest.approx(gradient.minimum, abs=2e-4)
            assert found.balanced[seed] == pytest.approx(length.minimum, abs=2e-4)
            ratio = np.sqrt(gradient.at(length.minimum) / gradient.at(gradient.minimum))
            assert found.gain[seed] == pytest.approx(ratio, abs=2e-4)


def test_counting_a_few_again_finds_the_same_story(monkeypatch):
    monkeypatch.setattr("neuroviz.beyond.teleport.comparison.CHECKPOINTS", (1, 10))
    again = compare("keys", seeds=6)
    by = {(c.destination, c.rule): c for c in again.counts}
    assert again.least == pytest.approx(shipped_comparisons()["keys"].least[:6], abs=2e-4)
    assert by["twice", "small"].ahead[0] >= 4  # at a small rate a longer gradient is ahead at first
    assert by["twice", "same"].behind[1] >= 4  # at the best rate it is behind, or lost
    assert by["four times", "same"].lost[1] >= 4


def test_what_is_told_of_the_results_is_true():
    for walk, found in shipped_comparisons().items():
        by = {(c.destination, c.rule): c for c in found.counts}
        first, last = 0, -1
        # At a small rate, a gradient twice as long is ahead at first in most networks, and by less later.
        small = by["twice", "small"]
        assert small.ahead[first] > 0.6 * SEEDS, walk
        assert small.ahead[last] < small.ahead[first], walk
        # At the best rate for the start, most are lost; with a rate of their own they stay behind.
        assert by["twice", "same"].lost[last] > 0.5 * SEEDS, walk
        assert by["twice", "own"].behind[last] > by["twice", "own"].ahead[last], walk
        # The shortest gradient and the shortest weights are not at one place, but the difference is small.
        assert np.median(np.abs(np.subtract(found.least, found.balanced))) > 0.01, walk
        assert min(found.gain) >= 1 - 1e-9 and 1 < np.median(found.gain) < 1.5, walk


def test_the_best_rate_for_the_start_hardly_ever_loses_it():
    """So whoever is lost at that rate is lost because of the jump."""
    for walk, found in shipped_comparisons().items():
        most = 10 if walk == "interface" else 0
        assert all(max(count.start_lost) <= most for count in found.counts), walk


def test_comparisons_survive_being_written_down():
    found = compare("values", seeds=2)
    again = from_json(to_json([found]))
    assert again == {"values": replace(found)}
    shipped = shipped_comparisons()
    assert from_json(to_json(list(shipped.values()))) == shipped


def test_the_command_writes_a_file(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("neuroviz.beyond.teleport.comparison.WALKS", ("keys",))
    monkeypatch.setattr("neuroviz.beyond.teleport.comparison.CHECKPOINTS", (1, 3))
    main(["--quick", "--file", str(tmp_path / "new" / "file.json")])
    again = from_json((tmp_path / "new" / "file.json").read_text(encoding="utf-8"))
    assert again["keys"].seeds == 10 and "keys" in capsys.readouterr().out
    assert again["keys"].least == pytest.approx(shipped_comparisons()["keys"].least[:10], abs=2e-4)
