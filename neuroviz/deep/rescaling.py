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
        layers = self.setting.layers
        return tuple(3 ** (layers - i) for i in range(1, layers + 1))

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
    # Q_i stands in M_i alone and once, and V_l in L alone: they carry the factors.
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
    rank_of_L = numerical_rank(L)
    ranks = [numerical_rank(matrix) for matrix in M]
    if arch.attention == "lightning" and arch.num_layers == 1:
        (rank_of_M,) = ranks
        return min(rank_of_M, rank_of_L) > 0 and max(rank_of_M, rank_of_L) > 1
    if arch.attention == "lightning" and min(ranks) < 2:
        return False
    # Theorem 3.7 and Theorem B ask both that no M is antisymmetric.
    symmetric_parts = [numerical_rank(matrix + matrix.T) for matrix in M]
    return rank_of_L > 0 and min(symmetric_parts) > 0


def say_rescaling(study: RescalingStudy) -> str:
    """The rescaling in words: λ_0, and whether the outputs move."""
    if not any(study.setting.logs):
        said = "All factors are 1."
    elif study.is_symmetry:
        said = _say_balance(study)
    else:
        said = (
            "A doubled M changes where softmax looks, and no factor of L undoes that. "
            f"The best one is {study.factor:.3g}."
        )
    return f"{said} {_say_outputs(study)}"


def _say_balance(study: RescalingStudy) -> str:
    """How λ_0 comes out of the others."""
    terms = []
    often = []
    total = 0.0
    pairs = zip(study.exponents, study.setting.logs, strict=True)
    for i, (n, log) in enumerate(pairs, start=1):
        value = f"({signed(log)})" if log < 0 else signed(log)
        terms.append(f"{n}·{value}")
        often.append(f"{numbered('M', i)} {f'{n} times' if n > 1 else 'once'}")
        total -= n * log
    return (
        f"log₂ λ₀ = −{' − '.join(terms)} = {signed(total)}, so λ₀ = "
        f"{_factor(study.balance)}: every term contains {', '.join(often)}, and L once."
    )


def _say_outputs(study: RescalingStudy) -> str:
    outputs = study.outputs
    off = signed(2**study.setting.off)
    if outputs.is_same:
        said = "The outputs do not move"
        if outputs.change:
            said += f" (rounding: {tiny(outputs.change)})"
        if not study.unanswered.is_same:
            times = _factor(1 / study.balance)
            said += f"; with λ₀ = 1 they would be {times} times as large"
        return f"{said}."
    how = f"off by {percent(outputs.change)}"
    if study.is_symmetry:
        how = f"{off} times as large"
    missed = "With it "
    if study.setting.off:
        missed = f"λ₀ is missed by a factor of {off}, and "
    return f"{missed}the outputs are {how}: another function."


def _factor(value: float) -> str:
    return f"{value:.3g}" if 1e-3 <= value < 1e3 else tiny(value, digits=2)
