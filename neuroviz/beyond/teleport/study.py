"""One network, a walk along its fibre, and two descents: from the start, and from where the walk ends."""

from dataclasses import dataclass

import numpy as np

from neuroviz.beyond.teleport.comparison import RULES, Comparison, norms_along, shipped_comparisons
from neuroviz.beyond.teleport.teleport import (
    WALKS,
    Exponentials,
    descend,
    draw_problem,
    loss_and_gradient,
    move,
    squared_norm,
    stack,
)

FARTHEST = 2.5
"""How far the reader may walk, in either direction."""
_PLACES = tuple(k / 20 for k in range(-50, 51, 2))


@dataclass(frozen=True)
class TeleportSetting:
    """Where to walk to, and how to descend from there.

    Attributes:
        walk: of `teleport.WALKS`.
        place: s, from −2.5 to 2.5.
        rate: k: the rate of gradient descent is 2ᵏ, from −12 to −3.
        steps: of gradient descent, from 5 to 400.
        rule: of `RULES`, for what is shown of the two hundred.
        seed: what the network and the data are drawn from.

    Raises:
        ValueError: if a word is unknown or a number is out of its range.
    """

    walk: str = "keys"
    place: float = 1.0
    rate: int = -9
    steps: int = 200
    rule: str = "small"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in (("walk", WALKS), ("rule", RULES)):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}; got {getattr(self, name)!r}"
                )
        for name, least, most in (("place", -FARTHEST, FARTHEST), ("rate", -12, -3), ("steps", 5, 400)):
            if not least <= getattr(self, name) <= most:
                raise ValueError(f"{name} goes from {least:g} to {most:g}; got {getattr(self, name)!r}")


@dataclass(frozen=True, eq=False)
class TeleportStudy:
    """A walk along one fibre, and two descents: from where it starts and from one place of it.

    Attributes:
        setting: as given.
        places: of the walk.
        gradients, losses: ‖∇L‖ and L at these places, computed afresh from the weights there.
        gradient, loss: at the place of the setting.
        by_formula, length: ‖∇L‖² and ‖θ‖² along the walk, from what they are at its start.
        from_start, from_here: the losses of the two descents; infinite from where one is lost on.
        comparison: what was counted for this walk over many seeds.
    """

    setting: TeleportSetting
    places: tuple[float, ...]
    gradients: tuple[float, ...]
    losses: tuple[float, ...]
    gradient: float
    loss: float
    by_formula: Exponentials
    length: Exponentials
    from_start: tuple[float, ...]
    from_here: tuple[float, ...]
    comparison: Comparison

    @property
    def drift(self) -> float:
        """By which part the loss changes at most along the walk: rounding."""
        return max(abs(loss / self.loss - 1) for loss in self.losses)

    @property
    def least(self) -> float:
        """Where on the walk the gradient is shortest."""
        return self.by_formula.minimum

    @property
    def balanced(self) -> float:
        """Where on the walk the weights are shortest."""
        return self.length.minimum

    def gradient_at(self, s: float) -> float:
        """‖∇L‖ at any place, by the formula."""
        return float(np.sqrt(self.by_formula.at(s)))


def study_teleport(setting: TeleportSetting) -> TeleportStudy:
    """The walk, the two descents, and what was counted.

    >>> study = study_teleport(TeleportSetting(steps=20))
    >>> study.drift < 1e-9, study.gradient > study.gradient_at(0.0)
    (True, True)
    """
    problem = draw_problem(setting.walk, setting.seed)
    X, Y, E = problem.X[None], problem.Y[None], problem.generator
    there = [move(setting.walk, problem.weights, E, s) for s in (*_PLACES, setting.place)]
    losses, gradients = loss_and_gradient(stack(there), X, Y)
    norms = np.sqrt(squared_norm(gradients))
    runs = descend(stack([problem.weights, there[-1]]), X, Y, 2.0**setting.rate, setting.steps)
    by_formula, length = norms_along(setting.walk, problem)
    return TeleportStudy(
        setting,
        _PLACES,
        tuple(norms[:-1].tolist()),
        tuple(losses[:-1].tolist()),
        float(norms[-1]),
        float(losses[-1]),
        by_formula,
        length,
        tuple(runs[:, 0].tolist()),
        tuple(runs[:, 1].tolist()),
        shipped_comparisons()[setting.walk],
    )
