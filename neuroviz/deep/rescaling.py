"""How each virtual weight is rescaled, what L must answer, and whether the outputs move (Eq. 13)."""

from dataclasses import dataclass

import numpy as np

from neuroviz.deep.virtual import Moved, VirtualSetting, example_network
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, Weights, forward
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import virtual_weights
from neuroviz.engine.virtual import balancing_factor
from neuroviz.kit.words import numbered, percent, signed, tiny


@dataclass(frozen=True, eq=False)
class RescalingStudy:
    """Everything that the figure of one rescaling shows.

    Attributes:
        arch: of both networks.
        logs: log₂ λ_i of each layer.
        exponents: 3^{l−i} of each layer, how often M_i stands in a term of Eq. 12.
        balance: the λ_0 of Eq. 13.
        factor: what L was multiplied by; for softmax the best that a single factor can do.
        off: log₂ of what `factor` was then multiplied by in addition.
        virtual: L, M_1, …, M_l.
        outputs: φ(X) for one X.
        unanswered: the same with λ_0 = 1.
        covered: whether the hypotheses of the theorem about the whole fibre hold.
    """

    arch: Architecture
    logs: tuple[float, ...]
    exponents: tuple[int, ...]
    balance: float
    factor: float
    off: float
    virtual: tuple[Moved, ...]
    outputs: Moved
    unanswered: Moved
    covered: bool

    @property
    def is_symmetry(self) -> bool:
        """Whether Eq. 13 applies: it is about lightning."""
        return self.arch.attention == "lightning"


def study_rescaling(request: VirtualSetting) -> RescalingStudy:
    """Multiply every M_i by λ_i and L by the λ_0 that answers, and see what the outputs do."""
    arch, logs, off, over = request.arch, request.logs, request.off, Reals()
    weights, X = example_network(arch, np.random.default_rng(request.seed))
    factors = [2.0**log for log in logs]
    balance = balancing_factor(over, factors)
    scaled = tuple(Layer(c * Q, K, V) for c, (Q, K, V) in zip(factors, weights, strict=True))
    start = forward(over, arch.attention, weights, X)[0]
    unanswered = forward(over, arch.attention, scaled, X)[0]
    factor = balance
    if arch.attention == "softmax":  # least squares: nothing that λ_0 could do is better
        factor = float((start * unanswered).sum() / (unanswered * unanswered).sum())
    applied = factor * 2.0**off
    last = scaled[-1]._replace(V=applied * scaled[-1].V)
    now = forward(over, arch.attention, (*scaled[:-1], last), X)[0]
    L, M = virtual_weights(over, weights)
    moved = [
        Moved(numbered("M", i), one, c * one) for i, (c, one) in enumerate(zip(factors, M, strict=True), 1)
    ]
    return RescalingStudy(
        arch=arch,
        logs=logs,
        exponents=tuple(3**k for k in reversed(range(arch.num_layers))),
        balance=balance,
        factor=factor,
        off=off,
        virtual=(Moved("L", L, applied * L), *moved),
        outputs=Moved("φ(X)", start, now),
        unanswered=Moved("φ(X)", start, unanswered),
        covered=_is_covered(arch, weights),
    )


def _is_covered(arch: Architecture, weights: Weights) -> bool:
    """Whether the whole fibre is known here: by Theorem B, Theorem 3.7, or for one layer Theorem 3.2."""
    L, M = virtual_weights(Reals(), weights)
    if arch.attention == "lightning":
        ranks = [numerical_rank(matrix) for matrix in M]
        if arch.num_layers == 1:
            return min(ranks) > 0 and numerical_rank(L) > 0 and (ranks[0] > 1 or numerical_rank(L) > 1)
        if min(ranks) < 2:
            return False
    return numerical_rank(L) > 0 and all(numerical_rank(matrix + matrix.T) > 0 for matrix in M)


def say_rescaling(study: RescalingStudy) -> str:
    """In words."""
    return " ".join([f"{study.arch}.", _say_answer(study), _say_outputs(study)])


def _say_answer(study: RescalingStudy) -> str:
    terms = " − ".join(
        f"{exponent}·({signed(log)})" if log < 0 else f"{exponent}·{signed(log)}"
        for exponent, log in zip(study.exponents, study.logs, strict=True)
    )
    if not study.is_symmetry:
        return (
            f"Softmax: Eq. 13 would ask for log₂ λ₀ = −{terms}, but doubling M changes where softmax looks, "
            f"and no factor of L undoes that. The best one is {study.factor:.3g}."
        )
    total = sum(-exponent * log for exponent, log in zip(study.exponents, study.logs, strict=True))
    return (
        f"log₂ λ₀ = −{terms} = {signed(total)}, so λ₀ = {_factor(study.balance)}: "
        f"every term of Eq. 12 contains {_and_times(study.exponents)}, and L once."
    )


def _and_times(exponents: tuple[int, ...]) -> str:
    return ", ".join(
        f"{numbered('M', i)} {f'{exponent} times' if exponent > 1 else 'once'}"
        for i, exponent in enumerate(exponents, start=1)
    )


def _say_outputs(study: RescalingStudy) -> str:
    if study.outputs.is_same:
        rounding = f" (rounding: {tiny(study.outputs.change)})" if study.outputs.change else ""
        alone = study.unanswered
        without = (
            ""
            if alone.is_same
            else f"; with λ₀ = 1 they would be {_factor(1 / study.balance)} times as large"
        )
        return f"The outputs do not move{rounding}{without}."
    missed = f"λ₀ is missed by a factor of {signed(2**study.off)}, and " if study.off else "With it "
    if study.is_symmetry:
        return f"{missed}the outputs are {signed(2**study.off)} times as large: another function."
    return f"{missed}the outputs are off by {percent(study.outputs.change)}: another function."


def _factor(value: float) -> str:
    return f"{value:.3g}" if 1e-3 <= value < 1e3 else tiny(value, digits=2)
