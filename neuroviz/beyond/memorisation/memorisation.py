"""How many random numbers can a network learn by heart: as many as it has parameters, or dimensions?

A network is asked for N numbers, one random functional of its output at each of N random inputs:

    f: weights → R^N,   f_i(θ) = ⟨C_i, φ_θ(X_i)⟩

Its derivative has rank min(N, D) at generic weights, for D the dimension ("Memorisation"). So for N > D the
numbers that can be reached have measure 0, and for N ≤ D they contain an open set, which need not be all.
What an optimiser makes of that is an experiment, and its result is shipped with the package:

    python -m neuroviz.beyond.memorisation.memorisation            writes memorisation.json again (minutes)
    ... --quick --file FILE                                        three architectures, three draws (seconds)

Memorisation and the dimension of multi-head softmax attention are the subject of "Generic Fibers and
Functional Dimension of Multi-Head Attention" (OpenReview 7vPmnHdAPl); nothing of it is used here.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import PrimeField, Reals
from neuroviz.engine.measure import ExactMeasurement, Measurement, measure_dimension
from neuroviz.engine.network import (
    Weights,
    conditioned_tokens,
    conditioned_weights,
    flatten,
    forward,
    jacobian,
    random_tokens,
    unflatten,
)
from neuroviz.engine.random_rank import derivative, random_point
from neuroviz.engine.rank import arithmetic_of, exact_rank

TARGETS = ("nearby", "random", "teacher")
"""To be learnt: f(θ) plus a small random step, from θ; Gaussian numbers; what another network gives."""

CASES = (
    Architecture((4, 4), (1,)),
    Architecture((4, 4), (4,)),
    Architecture((3, 3), (8,)),
    Architecture((3, 3, 3), (2, 2)),
    Architecture((3, 3, 3), (1, 2)),
    Architecture((5, 2, 5), (2, 2)),
    Architecture((2, 6, 2), (2, 2)),
    Architecture((2, 2, 2, 2), (2, 2, 2)),
    Architecture((4, 4), (1,), attention="softmax"),
    Architecture((3, 3), (8,), attention="softmax"),
    Architecture((3, 3, 3), (2, 2), attention="softmax"),
    Architecture((4, 2, 4), (2, 2), attention="softmax"),
    Architecture((2, 6, 2), (2, 2), attention="softmax"),
    Architecture((2, 2, 2, 2), (2, 2, 2), attention="softmax"),
)
"""Networks whose parameters (24 to 57) and dimensions (10 to 34) come in another order."""

LEARNT = 1e-6
"""Numbers are learnt when what is missing is below this part of what was asked for."""
STEPS, DRAWS, STARTS = 400, 8, 3
"""Steps of one run at most; random tasks for each N; starts for each task, until one succeeds."""
_SHARES = (0.6, 0.7, 0.8, 0.9, 1.1, 1.2)  # of D; besides, D − 1, D and D + 1
_NEARBY = 1e-6  # length of the small step, relative to f(θ)
_DONE, _PATIENCE, _LEAST_GAIN = 1e-9, 40, 0.01


# One task, and what Levenberg–Marquardt makes of it


class Task(NamedTuple):
    """N numbers that a network is asked for.

    Attributes:
        arch: of the network.
        X, C: inputs, shape (N, d₀, t), and functionals, shape (N, 1, d_l, t).
        y: the numbers, shape (N,).
        scale: what a miss is measured by: ‖y‖, or for "nearby" the length of the step.
    """

    arch: Architecture
    X: np.ndarray
    C: np.ndarray
    y: np.ndarray
    scale: float


class Fit(NamedTuple):
    """One run of Levenberg–Marquardt.

    Attributes:
        weights: where it ended.
        misses: ‖f(θ) − y‖ / scale, at the start and after each step; it never rises.
    """

    weights: Weights
    misses: tuple[float, ...]

    @property
    def learnt(self) -> bool:
        """Whether the numbers were reached."""
        return self.misses[-1] < LEARNT


def values(arch: Architecture, weights: Weights, X: np.ndarray, C: np.ndarray) -> np.ndarray:
    """f(θ): one functional of the output for each input, shape (N,)."""
    return (forward(Reals(), arch.attention, weights, X) * C[:, 0]).sum(axis=(1, 2))


def draw_task(
    arch: Architecture, targets: str, count: int, draw: int, start: int = 0, seed: int = 0
) -> tuple[Task, Weights]:
    """N = `count` numbers to learn, and weights to start from; the same for the same arguments.

    Weights and inputs are drawn as in `network.conditioned_weights`, and f is scaled so that its entries, and
    the numbers, have size 1.

    Args:
        arch: plain: without heads, skip, mask or block.
        targets: of `TARGETS`.
        count, draw, start, seed: N; which of the random tasks; which start for it ("nearby" has one only);
            what all is drawn from.

    Raises:
        ValueError: if the network is not plain, the targets are unknown, or the count is below 1.
    """
    if not arch.is_plain:
        raise ValueError(f"this experiment is for the paper's networks; got {arch}")
    if targets not in TARGETS:
        raise ValueError(f"targets are one of {', '.join(map(repr, TARGETS))}; got {targets!r}")
    if count < 1:
        raise ValueError(f"a network is asked for one number or more; got a count of {count!r}")
    rng = np.random.default_rng([seed, TARGETS.index(targets), count, draw])
    X = conditioned_tokens(arch, count, rng)
    C = rng.standard_normal((count, 1, arch.widths[-1], arch.tokens))
    teacher = conditioned_weights(arch, rng)
    # A deep lightning network makes some inputs very large and others very small.
    outputs = forward(Reals(), arch.attention, teacher, X)
    C = C / np.linalg.norm(outputs, axis=(1, 2))[:, None, None, None]
    teacher, step = _scaled(arch, teacher, X, C), rng.standard_normal(count)
    y = values(arch, teacher, X, C)
    if targets == "nearby":
        length = _NEARBY * float(np.linalg.norm(y))
        return Task(arch, X, C, y + length * step / np.linalg.norm(step), length), teacher
    if targets == "random":
        y = step
    weights = conditioned_weights(arch, np.random.default_rng([seed, count, draw, start, 1]))
    return Task(arch, X, C, y, float(np.linalg.norm(y))), _scaled(arch, weights, X, C)


def _scaled(arch: Architecture, weights: Weights, X: np.ndarray, C: np.ndarray) -> Weights:
    """The network with V_l divided so that f(θ) has root mean square 1."""
    size = np.sqrt(np.mean(values(arch, weights, X, C) ** 2))
    return (*weights[:-1], weights[-1]._replace(V=weights[-1].V / size))


def learn(task: Task, weights: Weights, steps: int = STEPS) -> Fit:
    """Bring what is missing down by Levenberg–Marquardt with the exact derivative.

    The step is −Jᵀ(JJᵀ + μ)⁻¹(f − y): for μ → 0 the shortest one that Gauss and Newton would take, which goes
    nowhere along directions that do nothing. μ falls after a good step and grows after a bad one, which is
    taken back (Nielsen's rule). A run ends when the numbers are reached, when 40 steps have won less than
    1 %, or after `steps` steps.

    >>> fit = learn(*draw_task(Architecture((2, 2), (1,)), "nearby", 5, draw=0))
    >>> fit.learnt, len(fit.misses) < 20
    (True, True)
    """
    arch, X, C, y, scale = task
    point, rest = flatten(weights), values(arch, weights, X, C) - y
    J = jacobian(Reals(), arch.attention, weights, X, C)[:, 0]
    mu, growth = 1e-3 * float((J * J).sum()) / len(J), 2.0
    misses = [float(np.linalg.norm(rest)) / scale]
    while len(misses) <= steps and misses[-1] > _DONE and np.isfinite(mu):
        if len(misses) > _PATIENCE and misses[-1] > (1 - _LEAST_GAIN) * misses[-1 - _PATIENCE]:
            break
        step = -J.T @ np.linalg.solve(J @ J.T + mu * np.eye(len(J)), rest)
        with np.errstate(over="ignore", invalid="ignore"):
            new = values(arch, unflatten(arch, point + step), X, C) - y
            won, promised = rest @ rest - new @ new, step @ (mu * step - J.T @ rest)
        if np.isfinite(won) and won > 0:
            mu, growth = mu * max(1 / 3, 1 - (2 * won / promised - 1) ** 3), 2.0
            point, rest = point + step, new
            J = jacobian(Reals(), arch.attention, unflatten(arch, point), X, C)[:, 0]
        else:
            mu, growth = mu * growth, 2 * growth
        misses.append(float(np.linalg.norm(rest)) / scale)
    return Fit(unflatten(arch, point), tuple(misses))


def measure_reach(arch: Architecture, count: int, seed: int = 0) -> Measurement:
    """The exact rank of the derivative of f for N = `count`: which part of R^N is reached near f(θ).

    Rank N is certain, because a rank mod p is a lower bound: near generic weights every small change of the
    numbers can be reached. A rank below N is D, and as sure as that.

    >>> arch = Architecture((3, 3), (2,))
    >>> measure_dimension(arch).value, [measure_reach(arch, N).value for N in (15, 16, 17)]
    (16, [15, 16, 16])
    """
    over, rng = PrimeField(), np.random.default_rng([seed, count])
    _, weights, _ = random_point(over, arch, "weights", rng)
    X = random_tokens(over, arch, count, rng)
    C = over.random(rng, (count, 1, arch.widths[-1], arch.tokens))
    value = exact_rank(derivative(over, arch, weights, X, C, rng)[:, 0], over)
    columns, error = arch.num_parameters, 0.0 if value == count else measure_dimension(arch).error_bound
    note = f"rank {value} of {count} numbers in {columns} weights"
    return ExactMeasurement(
        value, count, seed, note, columns, over.p, error, "weights", arithmetic_of(columns)
    )


# The experiment


@dataclass(frozen=True)
class Trial:
    """All runs for one network and one N.

    Attributes:
        count: N.
        misses: what was missing at the end, for each task and each start that was tried.
    """

    count: int
    misses: tuple[tuple[float, ...], ...]

    @property
    def learnt(self) -> int:
        """How many tasks were learnt, from any start."""
        return sum(min(task) < LEARNT for task in self.misses)

    @property
    def share(self) -> float:
        """Which part of the tasks was learnt."""
        return self.learnt / len(self.misses)


@dataclass(frozen=True)
class Curve:
    """One network and one kind of targets: which share is learnt, against N.

    Attributes:
        arch, targets: which.
        dimension: D, measured exactly.
        trials: for increasing N.
    """

    arch: Architecture
    targets: str
    dimension: int
    trials: tuple[Trial, ...]

    @property
    def capacity(self) -> int | None:
        """The largest N of which at least half of the tasks was learnt; None if there is none."""
        return max((trial.count for trial in self.trials if trial.share >= 0.5), default=None)


@dataclass(frozen=True)
class Experiment:
    """What `run_experiment` found.

    Attributes:
        settings: what it was run with: seed, draws, starts, steps, learnt.
        curves: one for each network and kind of targets.
    """

    settings: dict[str, float]
    curves: tuple[Curve, ...]

    def of(self, targets: str) -> tuple[Curve, ...]:
        """The curves for one kind of targets, in the order of the networks."""
        return tuple(curve for curve in self.curves if curve.targets == targets)


def counts_for(dimension: int) -> tuple[int, ...]:
    """The N that are tried: from 0.6 D to 1.2 D, and all of D − 1, D, D + 1.

    >>> counts_for(20)
    (12, 14, 16, 18, 19, 20, 21, 22, 24)
    """
    near = (dimension - 1, dimension, dimension + 1)
    return tuple(sorted({*(max(1, round(share * dimension)) for share in _SHARES), *near} - {0}))


def run_trial(arch: Architecture, targets: str, count: int, draws: int, starts: int, seed: int) -> Trial:
    """Try to learn `draws` tasks of N = `count` numbers, each from several starts until one succeeds."""
    tasks = []
    for draw in range(draws):
        misses: list[float] = []
        while len(misses) < (1 if targets == "nearby" else starts) and min(misses, default=1) >= LEARNT:
            misses.append(learn(*draw_task(arch, targets, count, draw, len(misses), seed)).misses[-1])
        tasks.append(tuple(misses))
    return Trial(count, tuple(tasks))


def run_experiment(
    cases: tuple[Architecture, ...] = CASES, draws: int = DRAWS, starts: int = STARTS, seed: int = 0
) -> Iterator[Curve]:
    """All curves, one after the other; with the defaults a few minutes on one core."""
    for targets in TARGETS:
        for arch in cases:
            D = measure_dimension(arch).value
            trials = tuple(run_trial(arch, targets, N, draws, starts, seed) for N in counts_for(D))
            yield Curve(arch, targets, D, trials)


def to_json(experiment: Experiment) -> str:
    """The experiment as text; `from_json` reads it."""
    rows = [
        {
            "widths": curve.arch.widths,
            "head_dims": curve.arch.head_dims,
            "tokens": curve.arch.tokens,
            "attention": curve.arch.attention,
            "targets": curve.targets,
            "dimension": curve.dimension,
            "trials": [
                [trial.count, [[float(f"{miss:.1e}") for miss in task] for task in trial.misses]]
                for trial in curve.trials
            ],
        }
        for curve in experiment.curves
    ]
    lines = ",\n".join(json.dumps(row) for row in rows)
    return f'{{"settings": {json.dumps(experiment.settings)},\n"curves": [\n{lines}\n]}}\n'


def from_json(text: str) -> Experiment:
    """The experiment that `to_json` wrote."""
    read = json.loads(text)
    curves = [
        Curve(
            Architecture(row["widths"], row["head_dims"], row["tokens"], attention=row["attention"]),
            row["targets"],
            row["dimension"],
            tuple(Trial(N, tuple(map(tuple, tasks))) for N, tasks in row["trials"]),
        )
        for row in read["curves"]
    ]
    return Experiment(read["settings"], tuple(curves))


@cache
def shipped_experiment() -> Experiment:
    """The result that comes with the package.

    >>> len(shipped_experiment().of("nearby")) == len(CASES)
    True
    """
    return from_json(_shipped().read_text(encoding="utf-8"))


def _shipped() -> Path:
    return Path(__file__).with_name("memorisation.json")


def main(arguments: list[str] | None = None) -> None:
    """The command line: run the experiment, say what is found, and write it down."""
    parser = argparse.ArgumentParser(
        prog="python -m neuroviz.beyond.memorisation.memorisation",
        description="Run the experiment on memorisation again.",
    )
    parser.add_argument("--quick", action="store_true", help="three architectures, three draws: seconds")
    parser.add_argument("--file", type=Path, help="where to write; with --quick nowhere unless given")
    chosen = parser.parse_args(arguments)
    cases, draws = (CASES[:3], 3) if chosen.quick else (CASES, DRAWS)
    curves = []
    for curve in run_experiment(cases, draws):
        found = "  ".join(f"{trial.count}: {trial.learnt}/{draws}" for trial in curve.trials)
        print(f"{curve.targets:8} {curve.arch}, D = {curve.dimension}:  {found}", flush=True)
        curves.append(curve)
    settings = {"seed": 0, "draws": draws, "starts": STARTS, "steps": STEPS, "learnt": LEARNT}
    file = chosen.file or (None if chosen.quick else _shipped())
    if file is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(to_json(Experiment(settings, tuple(curves))), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
