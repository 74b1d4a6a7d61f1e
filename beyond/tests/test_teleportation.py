"""The study of teleportation: its formula is measured, and its text says what was
counted."""

import numpy as np
import pytest

from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers.evaluate import forward, jacobian
from studies.teleportation import teleportation
from studies.teleportation.teleportation import (
    DESTINATIONS,
    INPUTS,
    QUICK,
    RULES,
    SEEDS,
    STORED,
    WALKS,
    compare,
    descend,
    draw_problem,
    loss_and_gradient,
    main,
    move,
    norms_along,
    stack,
    stored,
)


def squared_norm(weights):
    return sum(float((matrix**2).sum()) for matrix in weights.values())


def at(walk, problem, s):
    """Loss, ‖∇L‖² and ‖θ‖² after a walk of length s, from the weights there."""
    there = stack([move(walk, problem.weights, problem.generator, s)])
    (loss,), gradient = loss_and_gradient(there, problem.X[None], problem.Y[None])
    return loss, squared_norm(gradient), squared_norm(there)


@pytest.mark.parametrize("walk", ["keys", "interface"])
def test_the_gradient_is_that_of_the_network(walk):
    weights, X, Y, _ = draw_problem(walk, seed=3)
    outputs = forward(Reals(), "lightning", weights, X)
    J = jacobian(Reals(), "lightning", weights, X, (outputs - Y)[:, None] / INPUTS)
    loss, gradient = loss_and_gradient(stack([weights]), X[None], Y[None])
    mine = np.concatenate([matrix[0].ravel() for matrix in gradient.values()])
    np.testing.assert_allclose(mine, J.sum(axis=(0, 1)), rtol=1e-10, atol=1e-12)
    assert np.isclose(loss[0], ((outputs - Y) ** 2).sum() / (2 * INPUTS))


@pytest.mark.parametrize("walk", WALKS)
def test_along_a_walk_the_loss_stays_and_the_norms_are_those_of_the_formula(walk):
    problem = draw_problem(walk, seed=1)
    gradient, length = norms_along(walk, problem)
    start = at(walk, problem, 0.0)
    for s in (-2.0, -0.3, 0.8, 2.0):
        loss, squared, size = at(walk, problem, s)
        assert np.isclose(loss, start[0], rtol=1e-9)
        assert np.isclose(squared, gradient.at(s), rtol=1e-7) and np.isclose(
            size, length.at(s)
        )
        assert not np.isclose(squared, start[1], rtol=1e-3)


@pytest.mark.parametrize("walk", WALKS)
def test_the_gradient_is_shortest_once_and_longest_nowhere(walk):
    problem = draw_problem(walk, 2)
    gradient, _ = norms_along(walk, problem)
    s = np.linspace(gradient.minimum - 2, gradient.minimum + 2, 41)
    values = np.array([at(walk, problem, x)[1] for x in s])
    assert (np.diff(values, 2) > 0).all() and values.argmin() == 20
    there = gradient.nearest(4.0)
    assert np.isclose(
        at(walk, problem, there)[1], 4 * at(walk, problem, 0.0)[1], rtol=1e-6
    )
    nearer = np.linspace(-0.99, 0.99, 50) * abs(there)
    assert all(gradient.at(x) < 4 * gradient.at(0) for x in nearer)


def test_a_first_small_step_wins_what_the_gradient_promises_and_a_large_rate_is_lost():
    problem = draw_problem("keys", 0)
    s = norms_along("keys", problem)[0].nearest(4.0)
    runs = stack([problem.weights, move("keys", problem.weights, problem.generator, s)])
    losses = descend(runs, problem.X[None], problem.Y[None], 1e-7, 1)
    slopes = [at("keys", problem, x)[1] for x in (0, s)]
    np.testing.assert_allclose(
        losses[0] - losses[1], 1e-7 * np.array(slopes), rtol=1e-3
    )
    assert np.isinf(descend(runs, problem.X[None], problem.Y[None], 1.0, 50)[-1]).all()


def test_the_stored_result_is_complete_and_its_places_come_out_again():
    for walk, row in stored().items():
        assert row["walk"] == walk in WALKS and row["seeds"] == SEEDS == len(
            row["least"]
        )
        assert {(c["destination"], c["rule"]) for c in row["counts"]} == {
            (d, r) for d in DESTINATIONS for r in RULES
        }
        for seed in (0, 123):
            gradient, length = norms_along(walk, draw_problem(walk, seed))
            assert row["least"][seed] == pytest.approx(gradient.minimum, abs=2e-4)
            assert row["balanced"][seed] == pytest.approx(length.minimum, abs=2e-4)


def span(name, rule, destination, step=-1):
    """From the walk with the least to the one with the most."""
    counts = [c for row in stored().values() for c in row["counts"]]
    found = [
        c[name][step]
        for c in counts
        if (c["rule"], c["destination"]) == (rule, destination)
    ]
    assert len(found) == len(WALKS)
    return f"{min(found)} to {max(found)}"


def test_the_paragraph_says_what_was_counted():
    said = " ".join(STORED.with_name("README.md").read_text(encoding="utf-8").split())
    twice = "twice"
    shortest = "minimum"
    for words in (
        f"for each {SEEDS} random starts",
        (
            f"behind after 300 steps in {span('behind', 'own', twice)} of {SEEDS} runs,"
            f" and ahead in {span('ahead', 'own', twice)}."
        ),
        f"best for the start, {span('lost', 'same', twice)} of them are lost",
        (
            f"ahead after one step in {span('ahead', 'small', twice, 0)} runs, and"
            f" after 300 steps in {span('ahead', 'small', twice)}."
        ),
        (
            f"is ahead in {span('ahead', 'own', shortest)} runs and behind in"
            f" {span('behind', 'own', shortest)}."
        ),
    ):
        assert words in said, words


@pytest.mark.full
def test_the_quick_command_counts_the_same_story_and_leaves_what_is_stored_alone(
    capsys, monkeypatch
):
    before = STORED.read_bytes()
    rows = {}
    monkeypatch.setattr(
        teleportation,
        "compare",
        lambda walk, seeds: rows.setdefault(walk, compare(walk, seeds)),
    )
    main(["--quick"])
    assert STORED.read_bytes() == before
    assert len(capsys.readouterr().out.splitlines()) == len(WALKS) * len(
        DESTINATIONS
    ) * len(RULES)
    for walk, row in rows.items():
        assert row["least"] == pytest.approx(stored()[walk]["least"][:QUICK], abs=2e-4)
        by = {(c["destination"], c["rule"]): c for c in row["counts"]}
        # at a small rate it is ahead at first
        assert by["twice", "small"]["ahead"][0] > QUICK / 2
        assert by["twice", "same"]["lost"][-1] > QUICK / 2
        assert by["twice", "own"]["behind"][-1] > by["twice", "own"]["ahead"][-1]
