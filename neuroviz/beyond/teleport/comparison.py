"""Does it help to walk along the fibre before descending? Two hundred networks, counted.

python -m neuroviz.beyond.teleport.comparison                      writes comparison.json again (minutes)
python -m neuroviz.beyond.teleport.comparison --quick --file FILE  ten seeds (seconds)
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import numpy as np

from neuroviz.beyond.teleport.teleport import (
    WALKS,
    Exponentials,
    Problem,
    descend,
    draw_problem,
    loss_and_gradient,
    move,
    norm_along,
    stack,
)
from neuroviz.engine.network import Layer

DESTINATIONS = ("minimum", "balanced", "twice", "four times")
"""Where to jump: the shortest gradient, the shortest weights, the nearest gradient 2 or 4 times as long."""
RULES = ("same", "small", "own")
"""At which rate: the best one for the start; an eighth of it; the best one for each of the two."""
SEEDS = 200
CHECKPOINTS = (1, 3, 10, 30, 100, 300)
RATES = tuple(2.0**k for k in range(-14, -2))
_EIGHTH = 3  # places down in RATES
_AT_ONCE = 25  # seeds
_TIE = 0.01  # losses that differ by less than this part are equal


@dataclass(frozen=True)
class Count:
    """One destination and one rule, over all seeds, at the checkpoints.

    Attributes:
        destination, rule: of `DESTINATIONS` and `RULES`.
        ahead, behind: how many networks have a smaller, or a larger, loss after the jump than without it, by
            more than 1 %; a lost descent has an infinite loss.
        lost, start_lost: how many descents are lost after the jump, and without it.
        ratio: the median of the loss after the jump divided by that without it.
    """

    destination: str
    rule: str
    ahead: tuple[int, ...]
    behind: tuple[int, ...]
    lost: tuple[int, ...]
    start_lost: tuple[int, ...]
    ratio: tuple[float, ...]


@dataclass(frozen=True)
class Comparison:
    """One walk, over many seeds.

    Attributes:
        walk: of `teleport.WALKS`.
        seeds: how many.
        least, balanced: for each seed, where the gradient is shortest and where the weights are.
        gain: for each seed, ‖∇L‖ where the weights are shortest, divided by the least ‖∇L‖.
        counts: one for each destination and rule.
    """

    walk: str
    seeds: int
    least: tuple[float, ...]
    balanced: tuple[float, ...]
    gain: tuple[float, ...]
    counts: tuple[Count, ...]

    def of(self, rule: str) -> tuple[Count, ...]:
        """The counts for one rule, by destination."""
        return tuple(count for count in self.counts if count.rule == rule)


def compare(walk: str, seeds: int = SEEDS) -> Comparison:
    """Descend from the start and from each destination, at all rates, and count who is ahead."""
    places = [_places(walk, draw_problem(walk, seed)) for seed in range(seeds)]
    losses = np.concatenate(
        [_losses(walk, range(low, min(low + _AT_ONCE, seeds)), places) for low in range(0, seeds, _AT_ONCE)]
    )
    # The rate that is best for the start in the end; an eighth of it is among the rates, too.
    best = _EIGHTH + losses[:, 0, _EIGHTH:, -1].argmin(axis=1)
    counts = []
    for i, destination in enumerate(DESTINATIONS):
        for rule in RULES:
            if rule == "own":
                start, jump = losses[:, 0].min(axis=1), losses[:, 1 + i].min(axis=1)
            else:
                rate = best if rule == "same" else best - _EIGHTH
                start, jump = (losses[np.arange(seeds), k, rate] for k in (0, 1 + i))
            counts.append(_count(destination, rule, start, jump))
    gains = [np.sqrt(g.at(b) / g.at(m)) for g, (m, b, *_) in (p for p in places)]
    return Comparison(
        walk,
        seeds,
        *(tuple(round(float(where[k]), 4) for _, where in places) for k in (0, 1)),
        tuple(round(float(gain), 4) for gain in gains),
        tuple(counts),
    )


def norms_along(walk: str, problem: Problem) -> tuple[Exponentials, Exponentials]:
    """‖∇L‖² and ‖θ‖² along the walk."""
    _, gradient = loss_and_gradient(stack([problem.weights]), problem.X[None], problem.Y[None])
    here = tuple(Layer(*(matrix[0] for matrix in layer)) for layer in gradient)
    return (
        norm_along(walk, here, problem.generator, gradient=True),
        norm_along(walk, problem.weights, problem.generator),
    )


def _places(walk: str, problem: Problem) -> tuple[Exponentials, tuple[float, ...]]:
    """‖∇L‖² along the walk, and the destinations on it."""
    gradient, length = norms_along(walk, problem)
    return gradient, (gradient.minimum, length.minimum, gradient.nearest(4), gradient.nearest(16))


def _losses(walk: str, seeds: range, places: list[tuple]) -> np.ndarray:
    """Losses of shape (seeds, 1 + destinations, rates, checkpoints)."""
    weights, X, Y = [], [], []
    for seed in seeds:
        problem = draw_problem(walk, seed)
        for s in (0.0, *places[seed][1]):
            weights += [move(walk, problem.weights, problem.generator, s)] * len(RATES)
            X += [problem.X] * len(RATES)
            Y += [problem.Y] * len(RATES)
    rates = np.tile(RATES, len(weights) // len(RATES))
    seen = descend(stack(weights), np.stack(X), np.stack(Y), rates, max(CHECKPOINTS))
    return seen[list(CHECKPOINTS)].T.reshape(len(seeds), -1, len(RATES), len(CHECKPOINTS))


def _count(destination: str, rule: str, start: np.ndarray, jump: np.ndarray) -> Count:
    """Of losses of shape (seeds, checkpoints)."""
    both_lost = np.isinf(start) & np.isinf(jump)
    ratio = np.where(both_lost, 1.0, jump / np.where(np.isinf(start), 1.0, start))
    ratio[np.isinf(start) & ~np.isinf(jump)] = 0.0
    with np.errstate(invalid="ignore"):
        middle = np.median(ratio, axis=0)
    return Count(
        destination,
        rule,
        tuple((ratio < 1 - _TIE).sum(axis=0).tolist()),
        tuple((ratio > 1 + _TIE).sum(axis=0).tolist()),
        tuple(np.isinf(jump).sum(axis=0).tolist()),
        tuple(np.isinf(start).sum(axis=0).tolist()),
        tuple(float(f"{value:.3g}") for value in middle),
    )


def run_comparisons(seeds: int = SEEDS) -> Iterator[Comparison]:
    """One after the other, for every walk; two hundred seeds take a few minutes on one core."""
    for walk in WALKS:
        yield compare(walk, seeds)


def to_json(comparisons: list[Comparison]) -> str:
    """Comparisons as text; `from_json` reads them. An infinite ratio is written as null."""
    rows = []
    for one in comparisons:
        row = asdict(one)
        for count in row["counts"]:
            count["ratio"] = [value if np.isfinite(value) else None for value in count["ratio"]]
        rows.append(json.dumps(row))
    return "[\n" + ",\n".join(rows) + "\n]\n"


def from_json(text: str) -> dict[str, Comparison]:
    """The comparisons that `to_json` wrote, by walk."""
    found = {}
    for row in json.loads(text):
        counts = []
        for count in row.pop("counts"):
            ratio = tuple(float("inf") if value is None else value for value in count.pop("ratio"))
            counts.append(Count(count.pop("destination"), count.pop("rule"), **_tuples(count), ratio=ratio))
        walk, seeds = row.pop("walk"), row.pop("seeds")
        found[walk] = Comparison(walk, seeds, **_tuples(row), counts=tuple(counts))
    return found


def _tuples(lists: dict[str, list]) -> dict[str, tuple]:
    return {name: tuple(values) for name, values in lists.items()}


@cache
def shipped_comparisons() -> dict[str, Comparison]:
    """What comes with the package, by walk.

    >>> sorted(shipped_comparisons()) == sorted(WALKS)
    True
    """
    return from_json(_shipped().read_text(encoding="utf-8"))


def _shipped() -> Path:
    return Path(__file__).with_name("comparison.json")


def main(arguments: list[str] | None = None) -> None:
    """The command line: compare, say what is found, and write it down."""
    parser = argparse.ArgumentParser(
        prog="python -m neuroviz.beyond.teleport.comparison",
        description="Count again whether teleportation helps.",
    )
    parser.add_argument("--quick", action="store_true", help="ten seeds: seconds")
    parser.add_argument("--file", type=Path, help="where to write; with --quick nowhere unless given")
    chosen = parser.parse_args(arguments)
    comparisons = []
    for found in run_comparisons(10 if chosen.quick else SEEDS):
        for count in found.counts:
            words = "  ".join(
                f"{step}: +{up} −{down} lost {lost} ×{ratio:.2g}"
                for step, up, down, lost, ratio in zip(
                    CHECKPOINTS, count.ahead, count.behind, count.lost, count.ratio, strict=True
                )
            )
            print(f"{found.walk:9} {count.rule:5} {count.destination:10} {words}", flush=True)
        comparisons.append(found)
    file = chosen.file or (None if chosen.quick else _shipped())
    if file is not None:
        file.parent.mkdir(exist_ok=True)
        file.write_text(to_json(comparisons), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
