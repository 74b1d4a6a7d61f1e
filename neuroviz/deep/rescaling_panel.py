"""What L must answer where the virtual weights are rescaled, and whether the function stays."""

from dataclasses import dataclass

import numpy as np

from neuroviz.deep.rescaling_figure import RescalingStudy, rescaling_parts
from neuroviz.deep.virtual_figure import MAX_LAYERS, Moved
from neuroviz.deep.virtual_panel import MAX_HEAD, MAX_WIDTH, TOKENS, example_network
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, Weights, forward
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import virtual_weights
from neuroviz.engine.virtual import balancing_factor, occurrences
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, real, seed, whole
from neuroviz.kit.words import numbered, percent, signed, tiny


def _log(label: str, value: float = 0.0, more: bool = False) -> float:
    return real(label, value, -1, 1, 0.05, more=more)


@dataclass(frozen=True)
class RescalingSetting:
    """log₂ λ_i of each layer, and log₂ of a factor by which λ_0 misses its value."""

    layers: int = whole("layers l", 3, 1, MAX_LAYERS)
    log_1: float = _log("log₂ λ₁", 0.5)
    log_2: float = _log("log₂ λ₂", 0.5)
    log_3: float = _log("log₂ λ₃", 0.5)
    log_4: float = _log("log₂ λ₄", 0.5)
    kind: str = choice("attention", ATTENTION_KINDS, more=True)
    off: float = _log("miss λ₀ by", more=True)
    width: int = whole("width d", 3, 1, MAX_WIDTH, more=True)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD, more=True)
    seed: int = seed()

    @property
    def arch(self) -> Architecture:
        """The network."""
        return Architecture.uniform(self.width, self.head_dim, self.layers, TOKENS, self.kind)

    @property
    def logs(self) -> tuple[float, ...]:
        """log₂ λ_1, …, log₂ λ_l."""
        return (self.log_1, self.log_2, self.log_3, self.log_4)[: self.layers]


def study_rescaling(request: RescalingSetting) -> RescalingStudy:
    """Multiply every M_i by λ_i and L by the λ_0 that answers, and see what the outputs do."""
    arch, over = request.arch, Reals()
    weights, X = example_network(arch, np.random.default_rng(request.seed))
    factors = [2.0**log for log in request.logs]
    balance = balancing_factor(over, factors)
    scaled = tuple(Layer(c * Q, K, V) for c, (Q, K, V) in zip(factors, weights, strict=True))

    start = forward(over, arch.attention, weights, X)[0]
    unanswered = forward(over, arch.attention, scaled, X)[0]
    factor = balance
    if arch.attention == "softmax":  # least squares: nothing that λ_0 could do is better
        factor = float((start * unanswered).sum() / (unanswered * unanswered).sum())
    applied = factor * 2.0**request.off
    last = scaled[-1]._replace(V=applied * scaled[-1].V)
    now = forward(over, arch.attention, (*scaled[:-1], last), X)[0]
    return RescalingStudy(
        arch=arch,
        logs=request.logs,
        exponents=occurrences(arch.num_layers),
        balance=balance,
        factor=factor,
        off=request.off,
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


class RescalingExplorer(Panel):
    """Multiply each M_i by λ_i: L must answer with λ_0 = ∏ λ_i^{−3^{l−i}}, and the function stays (Eq. 13).

    Controls: layers, log₂ λ_1 to log₂ λ_4; under "More": kind (for softmax nothing answers), off (log₂ of
    a factor by which λ_0 misses), width, head_dim, seed. See `Panel` for what all panels share.

    >>> panel = RescalingExplorer()
    >>> panel.controls["layers"].value = 4
    >>> panel._shown.exponents
    (27, 9, 3, 1)
    """

    title = "What must λ₀ be?"
    setting = RescalingSetting

    def _arrange(self) -> None:
        for i in range(1, MAX_LAYERS + 1):
            self.controls[f"log_{i}"].disabled = i > self.controls["layers"].value

    _answer = staticmethod(study_rescaling)

    draw = staticmethod(rescaling_parts)

    def _badge(self, answer: RescalingStudy) -> str:
        if not answer.is_symmetry:
            rest = (
                theme.badge("proved here", "Theorem B: no rescaling at all")
                if answer.covered
                else theme.badge("outside hypotheses", "Theorem B")
            )
            return theme.badge("outside hypotheses", "Eq. 13") + rest
        theorem = "Thm. 3.2" if answer.arch.num_layers == 1 else "Thm. 3.7"
        rest = (
            theme.badge("proved", f"{theorem}: nothing else")
            if answer.covered
            else theme.badge("outside hypotheses", theorem)
        )
        return theme.badge("proved", "Eq. 13") + rest

    def _describe(self, answer: RescalingStudy) -> str:
        return " ".join([f"{answer.arch}.", _say_answer(answer), _say_outputs(answer)])


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
