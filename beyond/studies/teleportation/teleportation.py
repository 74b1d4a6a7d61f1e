"""Does it help to walk along a fibre before descending? Two hundred networks for each
walk, counted.

python -m studies.teleportation.teleportation            writes counted.json again
                                                         (minutes)
python -m studies.teleportation.teleportation --quick    ten networks for each walk
                                                         (seconds), writes nothing

A one-parameter group of symmetries multiplies some matrices U of a lightning network by
exp(sE), and others, W, by exp(−sE), with E symmetric (rows or columns, whichever the
group acts on):

    keys        Q → eˢ Q,          K → e⁻ˢ K
    values      Q → eˢ Q,          V → e⁻ˢ V
    basis       Q → exp(sE) Q,     K → exp(−sE) K
    interface   V₁ → exp(sE) V₁,   Q₂, K₂, V₂ → · exp(−sE)

The gradient moves the other way round, so that with the eigenvectors e_k and
eigenvalues ε_k of E

    ‖∇L‖² = rest + Σ_k e^{−2 s ε_k} ‖e_kᵀ ∂_U L‖² + e^{2 s ε_k} ‖e_kᵀ ∂_W L‖²

which is convex in s: beyond/docs/memorisation_and_teleportation.md, "Teleportation".
The idea to move where the gradient is larger, and then to descend: Zhao, Dehmamy,
Walters and Yu, NeurIPS 2022.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import (
    change_head_basis,
    change_interface,
    rescale,
)
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers.evaluate import (
    Weights,
    forward,
    random_weights,
)

STORED = Path(__file__).with_name("counted.json")
WALKS = ("keys", "values", "basis", "interface")
DESTINATIONS = ("minimum", "balanced", "twice", "four times")
"""Where to jump: the shortest gradient, the shortest weights, the nearest gradient 2 or
4 times as long."""
RULES = ("same", "small", "own")
"""At which rate: the best one for the start; an eighth of it; the best one for each of
the two."""
SEEDS = 200
QUICK = 10
CHECKPOINTS = (1, 3, 10, 30, 100, 300)
RATES = tuple(2.0**k for k in range(-14, -2))
INPUTS = 8
_EIGHTH = 3  # places down in RATES
_AT_ONCE = 25  # seeds
_TIE = 0.01  # losses that differ by less than this part are equal
# the minimum and the places of a given gradient are looked for at |s| up to this
_FAR = 12.0
_LOST = 1e6  # a loss so many times larger than at the start counts as infinite


class Problem(NamedTuple):
    """Learn what another network of the same shape does.

    Attributes:
        weights: the start.
        X, Y: inputs (n, d₀, t), and what the teacher makes of them, (n, d_l, t).
        generator: E, symmetric, of spectral norm 1; (1, 1) for the walk "values".
    """

    weights: Weights
    X: np.ndarray
    Y: np.ndarray
    generator: np.ndarray


def draw_problem(walk: str, seed: int) -> Problem:
    """A start, data, and a direction to walk in; an interface needs two layers."""
    arch = (
        Architecture((3, 3, 3), (2, 2))
        if walk == "interface"
        else Architecture((3, 3), (2,))
    )
    rng = np.random.default_rng([seed, arch.num_layers])
    X = arch.random_inputs(Reals(), INPUTS, rng) / np.sqrt(arch.widths[0])
    teacher = _network(arch, X, rng)
    start = _network(arch, X, rng)
    if walk in ("keys", "values"):
        E = np.eye(1 if walk == "values" else arch.head_dims[0])
    else:
        E = rng.standard_normal(
            (arch.head_dims[0],) * 2 if walk == "basis" else (arch.widths[1],) * 2
        )
        E = E + E.T
        E -= np.trace(E) / len(E) * np.eye(len(E))
        E /= np.linalg.norm(E, 2)
    return Problem(start, X, forward(Reals(), "lightning", teacher, X), E)


def _network(arch: Architecture, X: np.ndarray, rng: np.random.Generator) -> Weights:
    """Gaussian weights, A with entries of size 1, and V_i such that each layer's
    outputs have size 1."""
    weights = random_weights(Reals(), arch, rng)
    for i, layer in enumerate(by_layer(weights), start=1):
        Q = layer["Q"] / len(layer["Q"]) ** 0.25
        K = layer["K"] / len(layer["K"]) ** 0.25
        V = layer["V"]
        X = forward(Reals(), "lightning", {"1.Q": Q, "1.K": K, "1.V": V}, X)
        size = np.sqrt((X**2).sum(axis=1).mean())
        weights |= {f"{i}.Q": Q, f"{i}.K": K, f"{i}.V": V / size}
        X = X / size
    return weights


def move(walk: str, weights: Weights, E: np.ndarray, s: float) -> Weights:
    """The weights after a walk of length s along the fibre: the same function."""
    if walk == "values":
        return rescale(Reals(), weights, 1, float(np.exp(s * E[0, 0])))
    epsilon, e = np.linalg.eigh(E)
    C = e * np.exp(s * epsilon) @ e.T
    change = change_interface if walk == "interface" else change_head_basis
    return change(Reals(), weights, 1, C)


# What a walk does to norms


@dataclass(frozen=True)
class Exponentials:
    """rest + Σ_k c_k exp(m_k s), with all c_k ≥ 0: the square of a norm along a
    walk."""

    factors: np.ndarray
    exponents: np.ndarray
    rest: float

    def at(self, s: float) -> float:
        """Its value."""
        return self.rest + float(self.factors @ np.exp(self.exponents * s))

    @property
    def minimum(self) -> float:
        """Where it is smallest: its derivative grows."""
        slopes = self.factors * self.exponents
        return _root(lambda s: slopes @ np.exp(self.exponents * s), -_FAR, _FAR)

    def nearest(self, times: float) -> float:
        """The s nearest to 0 at which it is `times` > 1 times its value at 0: one on
        each side at most.

        Raises:
            ValueError: if there is none within |s| ≤ 12.
        """
        goal = times * self.at(0.0)
        found = [
            side * _root(lambda x, side=side: self.at(side * x) - goal, 0.0, _FAR)
            for side in (-1, 1)
            if self.at(side * _FAR) > goal
        ]
        if not found:
            raise ValueError(
                f"within |s| ≤ {_FAR:g} it never becomes {times:g} times as large"
            )
        return min(found, key=abs)


def norm_along(
    walk: str, weights: Weights, E: np.ndarray, gradient: bool = False
) -> Exponentials:
    """The square of the norm of the weights, or of a gradient, along a walk; a gradient
    moves by exp(−sE)."""
    if walk == "values":
        up = [weights["1.Q"].reshape(1, -1)]
        down = [weights["1.V"].reshape(1, -1)]
    elif walk == "interface":
        up = [weights["1.V"]]
        down = [weights[f"2.{name}"].T for name in "QKV"]
    else:
        up = [weights["1.Q"]]
        down = [weights["1.K"]]
    epsilon, e = np.linalg.eigh(E)
    if gradient:
        up, down = down, up
    factors = np.concatenate(
        [
            sum(((e.T @ matrix) ** 2).sum(axis=1) for matrix in side)
            for side in (up, down)
        ]
    )
    total = sum(float((matrix**2).sum()) for matrix in weights.values())
    return Exponentials(
        factors,
        np.concatenate([2 * epsilon, -2 * epsilon]),
        max(total - float(factors.sum()), 0.0),
    )


def norms_along(walk: str, problem: Problem) -> tuple[Exponentials, Exponentials]:
    """‖∇L‖² and ‖θ‖² along the walk."""
    _, gradient = loss_and_gradient(
        stack([problem.weights]), problem.X[None], problem.Y[None]
    )
    here = {name: matrix[0] for name, matrix in gradient.items()}
    return (
        norm_along(walk, here, problem.generator, gradient=True),
        norm_along(walk, problem.weights, problem.generator),
    )


def _root(function, low: float, high: float) -> float:
    """Where an increasing function passes 0; an end if it does not."""
    if function(high) <= 0:
        return high
    if function(low) >= 0:
        return low
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2


# Descents, B at once: every matrix has a first axis that counts them


def stack(networks: list[Weights]) -> Weights:
    """Networks of one shape as one."""
    return {name: np.stack([one[name] for one in networks]) for name in networks[0]}


def loss_and_gradient(
    weights: Weights, X: np.ndarray, Y: np.ndarray
) -> tuple[np.ndarray, Weights]:
    """L = ½ mean over the inputs of ‖φ(X) − Y‖², of shape (B,), and its gradient.

    Args:
        weights: matrices of shape (B, …).
        X, Y: shape (B or 1, n, d₀, t) and (B or 1, n, d_l, t).
    """
    T = np.matrix_transpose
    layers = []
    for layer in by_layer(weights):
        layers.append({name: matrix[:, None] for name, matrix in layer.items()})
    trace = []
    for layer in layers:
        q = layer["Q"] @ X
        k = layer["K"] @ X
        S = T(k) @ q
        Z = X @ S
        trace.append((X, q, k, S, Z))
        X = layer["V"] @ Z
    rest = X - Y
    n = rest.shape[1]
    loss = (rest**2).sum(axis=(1, 2, 3)) / (2 * n)
    bar = rest / n
    gradient = dict.fromkeys(weights)  # filled from the last layer on
    for i in range(len(layers), 0, -1):
        layer = layers[i - 1]
        X, q, k, S, Z = trace[i - 1]
        gradient[f"{i}.V"] = (bar @ T(Z)).sum(axis=1)
        bar = T(layer["V"]) @ bar
        S_bar = T(X) @ bar
        q_bar = k @ S_bar
        k_bar = q @ T(S_bar)
        gradient[f"{i}.Q"] = (q_bar @ T(X)).sum(axis=1)
        gradient[f"{i}.K"] = (k_bar @ T(X)).sum(axis=1)
        if i > 1:
            bar = bar @ T(S) + T(layer["K"]) @ k_bar + T(layer["Q"]) @ q_bar
    return loss, gradient


def descend(
    weights: Weights, X: np.ndarray, Y: np.ndarray, rates: np.ndarray, steps: int
) -> np.ndarray:
    """The losses of θ → θ − rate · ∇L, shape (steps + 1, B); a lost descent is infinite
    from there on."""
    rates = np.broadcast_to(rates, weights["1.Q"].shape[:1])[:, None, None]
    seen = []
    lost = np.zeros(len(rates), bool)
    for _ in range(steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = loss_and_gradient(weights, X, Y)
            lost |= ~(loss <= _LOST * (seen[0] if seen else loss))
            seen.append(np.where(lost, np.inf, loss))
            # A lost run stands still at 0, where nothing overflows.
            keep = ~lost[:, None, None]
            after = {}
            for name, W in weights.items():
                after[name] = np.where(keep, W - rates * gradient[name], 0.0)
            weights = after
    return np.stack(seen)


# What is counted


def compare(walk: str, seeds: int = SEEDS) -> dict:
    """Descend from the start and from each destination, at all rates, and count who is
    ahead.

    For each seed the result has the places of the shortest gradient (`least`) and of
    the shortest weights (`balanced`), and ‖∇L‖ there divided by the least ‖∇L‖
    (`gain`). For each destination and rule it has, at the checkpoints, how many are
    `ahead` or `behind` by more than 1 %, `lost` after the jump and without it
    (`start_lost`), and the median `ratio` of the losses, None where it is infinite.
    """
    places = [_places(walk, draw_problem(walk, seed)) for seed in range(seeds)]
    losses = np.concatenate(
        [
            _losses(walk, range(low, min(low + _AT_ONCE, seeds)), places)
            for low in range(0, seeds, _AT_ONCE)
        ]
    )
    # The rate that is best for the start in the end; an eighth of it is among the
    # rates, too.
    best = _EIGHTH + losses[:, 0, _EIGHTH:, -1].argmin(axis=1)
    counts = []
    for i, destination in enumerate(DESTINATIONS):
        for rule in RULES:
            if rule == "own":
                start = losses[:, 0].min(axis=1)
                jump = losses[:, 1 + i].min(axis=1)
            else:
                rate = best if rule == "same" else best - _EIGHTH
                start, jump = (losses[np.arange(seeds), k, rate] for k in (0, 1 + i))
            counts.append(
                {"destination": destination, "rule": rule} | _count(start, jump)
            )
    gains = [
        np.sqrt(gradient.at(where[1]) / gradient.at(where[0]))
        for gradient, where in places
    ]
    return {
        "walk": walk,
        "seeds": seeds,
        "least": [round(float(where[0]), 4) for _, where in places],
        "balanced": [round(float(where[1]), 4) for _, where in places],
        "gain": [round(float(gain), 4) for gain in gains],
        "counts": counts,
    }


def _places(walk: str, problem: Problem) -> tuple[Exponentials, tuple[float, ...]]:
    """‖∇L‖² along the walk, and the destinations on it."""
    gradient, length = norms_along(walk, problem)
    return gradient, (
        gradient.minimum,
        length.minimum,
        gradient.nearest(4),
        gradient.nearest(16),
    )


def _losses(walk: str, seeds: range, places: list[tuple]) -> np.ndarray:
    """Losses of shape (seeds, 1 + destinations, rates, checkpoints)."""
    weights = []
    X = []
    Y = []
    for seed in seeds:
        problem = draw_problem(walk, seed)
        for s in (0.0, *places[seed][1]):
            weights += [move(walk, problem.weights, problem.generator, s)] * len(RATES)
            X += [problem.X] * len(RATES)
            Y += [problem.Y] * len(RATES)
    rates = np.tile(RATES, len(weights) // len(RATES))
    seen = descend(stack(weights), np.stack(X), np.stack(Y), rates, max(CHECKPOINTS))
    return seen[list(CHECKPOINTS)].T.reshape(
        len(seeds), -1, len(RATES), len(CHECKPOINTS)
    )


def _count(start: np.ndarray, jump: np.ndarray) -> dict[str, list]:
    """Of losses of shape (seeds, checkpoints)."""
    both_lost = np.isinf(start) & np.isinf(jump)
    ratio = np.where(both_lost, 1.0, jump / np.where(np.isinf(start), 1.0, start))
    ratio[np.isinf(start) & ~np.isinf(jump)] = 0.0
    with np.errstate(invalid="ignore"):
        middle = np.median(ratio, axis=0)
    return {
        "ahead": (ratio < 1 - _TIE).sum(axis=0).tolist(),
        "behind": (ratio > 1 + _TIE).sum(axis=0).tolist(),
        "lost": np.isinf(jump).sum(axis=0).tolist(),
        "start_lost": np.isinf(start).sum(axis=0).tolist(),
        "ratio": [
            float(f"{value:.3g}") if np.isfinite(value) else None for value in middle
        ],
    }


def stored() -> dict[str, dict]:
    """The rows of counted.json, by walk."""
    return {row["walk"]: row for row in json.loads(STORED.read_text(encoding="utf-8"))}


def main(arguments: list[str] | None = None) -> None:
    """The command line: compare, say what is found, and write it down."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.teleportation.teleportation"
    )
    parser.add_argument(
        "--quick", action="store_true", help=f"{QUICK} networks for each walk: seconds"
    )
    quick = parser.parse_args(arguments).quick
    rows = []
    for walk in WALKS:
        row = compare(walk, QUICK if quick else SEEDS)
        for count in row["counts"]:
            words = "  ".join(
                f"{step}: +{up} −{down} lost {lost}"
                for step, up, down, lost in zip(
                    CHECKPOINTS,
                    count["ahead"],
                    count["behind"],
                    count["lost"],
                    strict=True,
                )
            )
            print(
                f"{walk:9} {count['rule']:5} {count['destination']:10} {words}",
                flush=True,
            )
        rows.append(json.dumps(row))
    if not quick:
        STORED.write_text(
            "[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8", newline="\n"
        )


if __name__ == "__main__":
    main()
