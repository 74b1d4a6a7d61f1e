"""How each M_i is rescaled, which factor of L balances it, and whether the outputs move
(Eq. 13)."""

from dataclasses import dataclass

import numpy as np

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.symmetry import virtual_weights
from neuroviz.attention.unrolling import balancing_factor
from neuroviz.deep.virtual import Moved, VirtualSetting, example_network
from neuroviz.kit.words import numbered, percent, signed, tiny
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank
from neuroviz.rank.network import Weights
from neuroviz.rank.point import outputs


@dataclass(frozen=True, eq=False)
class RescalingStudy:
    """Everything that the figure of one rescaling shows.

    Attributes:
        setting: what was asked for: both networks, log₂ λ_i, and log₂ of what λ_0 is
            off by.
        start, X: the first network and the one input.
        balance: the λ_0 of Eq. 13.
        factor: what L was multiplied by, up to `off`; for softmax the best that a
            single factor can do.
        virtual: L, M_1, …, M_l.
        outputs: φ(X) for one X.
        unanswered: φ(X) before and after, with λ_0 = 1.
        covered: whether the hypotheses of the theorem about the whole fibre hold.
    """

    setting: VirtualSetting
    start: Weights
    X: np.ndarray
    balance: float
    factor: float
    virtual: tuple[Moved, ...]
    outputs: Moved
    unanswered: Moved
    covered: bool

    @property
    def exponents(self) -> tuple[int, ...]:
        """3^{l−i} of each layer, how often M_i stands in a term of Eq. 12."""
        return tuple(
            3 ** (self.setting.layers - i) for i in range(1, self.setting.layers + 1)
        )

    @property
    def is_symmetry(self) -> bool:
        """Whether Eq. 13 applies: it is about lightning."""
        return self.setting.kind == "lightning"


def study_rescaling(setting: VirtualSetting) -> RescalingStudy:
    """Multiply every M_i by λ_i and L by λ_0 (for softmax by the best factor), and
    compare the outputs."""
    arch = setting.arch
    over = Reals()
    weights, X = example_network(arch, np.random.default_rng(setting.seed))
    factors = [2.0**log for log in setting.logs]
    factor = balance = balancing_factor(over, factors)
    scaled = dict(weights)
    for i, c in enumerate(factors, start=1):
        scaled[f"{i}.Q"] = c * weights[f"{i}.Q"]
    start = outputs(arch, over, weights, X)[0]
    unanswered = outputs(arch, over, scaled, X)[0]
    if arch.attention == "softmax":  # λ_0 by least squares: no λ_0 does better
        factor = float((start * unanswered).sum() / (unanswered * unanswered).sum())
    applied = factor * 2.0**setting.off
    last = f"{arch.num_layers}.V"
    answered = {**scaled, last: applied * scaled[last]}
    now = outputs(arch, over, answered, X)[0]
    L, Ms = virtual_weights(over, weights)
    moved = [Moved("L", L, applied * L)]
    for i, (c, M) in enumerate(zip(factors, Ms, strict=True), start=1):
        moved.append(Moved(numbered("M", i), M, c * M))
    return RescalingStudy(
        setting=setting,
        start=weights,
        X=X,
        balance=balance,
        factor=factor,
        virtual=tuple(moved),
        outputs=Moved("φ(X)", start, now),
        unanswered=Moved("φ(X)", start, unanswered),
        covered=_is_covered(arch, weights),
    )


def _is_covered(arch: Architecture, weights: Weights) -> bool:
    """Whether the whole fibre is known here: by Theorem B, Theorem 3.7, or for one
    layer Theorem 3.2."""
    L, M = virtual_weights(Reals(), weights)
    if arch.attention == "lightning":
        ranks = [numerical_rank(matrix) for matrix in M]
        if arch.num_layers == 1:
            return (
                min(ranks) > 0
                and numerical_rank(L) > 0
                and (ranks[0] > 1 or numerical_rank(L) > 1)
            )
        if min(ranks) < 2:
            return False
    return numerical_rank(L) > 0 and all(
        numerical_rank(matrix + matrix.T) > 0 for matrix in M
    )


def say_rescaling(study: RescalingStudy) -> str:
    """The rescaling in words: λ_0, and whether the outputs move."""
    logs, answer = study.setting.logs, study.balance
    pairs = list(zip(study.exponents, logs, strict=True))
    terms = " − ".join(
        f"{n}·({signed(log)})" if log < 0 else f"{n}·{signed(log)}" for n, log in pairs
    )
    said = (
        "A doubled M changes where softmax looks, and no factor of L undoes that. "
        f"The best one is {study.factor:.3g}."
    )
    if not any(logs):
        said = "All factors are 1."
    elif study.is_symmetry:
        often = [f"{n} times" if n > 1 else "once" for n in study.exponents]
        each = ", ".join(
            f"{numbered('M', i)} {words}" for i, words in enumerate(often, start=1)
        )
        said = (
            f"log₂ λ₀ = −{terms} = {signed(sum(-n * log for n, log in pairs))}, so λ₀ ="
            f" {_factor(answer)}: every term contains {each}, and L once."
        )
    return f"{said} {_say_outputs(study)}"


def _say_outputs(study: RescalingStudy) -> str:
    off, outputs = signed(2**study.setting.off), study.outputs
    if outputs.is_same:
        rounding = f" (rounding: {tiny(outputs.change)})" if outputs.change else ""
        without = (
            f"; with λ₀ = 1 they would be {_factor(1 / study.balance)} times as large"
        )
        return (
            "The outputs do not"
            f" move{rounding}{'' if study.unanswered.is_same else without}."
        )
    missed = (
        f"λ₀ is missed by a factor of {off}, and " if study.setting.off else "With it "
    )
    how = (
        f"{off} times as large"
        if study.is_symmetry
        else f"off by {percent(outputs.change)}"
    )
    return f"{missed}the outputs are {how}: another function."


def _factor(value: float) -> str:
    return f"{value:.3g}" if 1e-3 <= value < 1e3 else tiny(value, digits=2)
