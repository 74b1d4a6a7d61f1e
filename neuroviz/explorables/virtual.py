"""What a deep network shows of its weights: changes of basis between layers, and rescalings."""

from dataclasses import dataclass, replace

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from neuroviz import theme
from neuroviz.architecture import ATTENTION_KINDS, Architecture
from neuroviz.determinantal import WALKS, drop_rank, numerical_rank, walk_in_gl
from neuroviz.explorables.panel import Panel
from neuroviz.field import Reals
from neuroviz.figures.virtual import (
    MAX_LAYERS,
    SAME,
    InterfaceStudy,
    Moved,
    RescalingStudy,
    interface_figure,
    numbered,
    percent,
    rescaling_figure,
    signed,
    tiny,
    update_interface,
    update_rescaling,
)
from neuroviz.network import Layer, Weights, conditioned_tokens, conditioned_weights, forward
from neuroviz.symmetry import change_interface, recover_interfaces, virtual_weights
from neuroviz.unrolling import balancing_factor, occurrences

MAX_WIDTH, MAX_HEAD, TOKENS = 4, 4, 3
_SOFTMAX_SIZE, _VALUE_NOISE = 2.0, 0.2
_PLACES = {"first": "after the first layer", "middle": "in the middle", "last": "before the last layer"}


def _network(arch: Architecture, rng: np.random.Generator) -> tuple[Weights, np.ndarray]:
    """Weights and one input, the same for both kinds of attention up to their sizes.

    Lightning outputs have degree 3^l in X: its length is chosen so that the largest of them is ±1.
    Softmax gets larger Q and K, so that tokens attend to different tokens.
    """
    over, lightning = Reals(), replace(arch, attention="lightning")
    size = _SOFTMAX_SIZE if arch.attention == "softmax" else 1.0
    weights = tuple(
        # Noise, because all singular values of V alike would not say which one `drop_rank` drops.
        Layer(size * Q, size * K, V + _VALUE_NOISE * rng.standard_normal(V.shape))
        for Q, K, V in conditioned_weights(lightning, rng)
    )
    X = conditioned_tokens(lightning, 1, rng)
    largest = float(np.abs(forward(over, "lightning", weights, X)).max())
    if arch.attention == "lightning" and largest:
        X = X * largest ** (-(3.0**-arch.num_layers))
    return weights, X


def _changed(weights: Weights, new: dict[int, Layer]) -> Weights:
    return tuple(new.get(i, layer) for i, layer in enumerate(weights))


# A change of basis between two layers


@dataclass(frozen=True)
class InterfaceRequest:
    """What the controls ask for.

    Attributes:
        arch: the network.
        interface: i, from 1 to l − 1.
        walk, along: the change of basis, C = `walk_in_gl(walk, δ, along)`.
        lost: whether V_i loses one rank first.
        free: how far the next layer moves where U_i does not reach; only where there is such a place.
        alone: by which part of itself the first row of V_i moves, without an answer of the next layer.
        seed: what the network is drawn from.
    """

    arch: Architecture
    interface: int
    walk: str
    along: float
    lost: bool
    free: float
    alone: float
    seed: int


def study_interface(request: InterfaceRequest) -> InterfaceStudy:
    """Change the basis between two layers, and see what has moved and whether the change can be recovered."""
    arch, i, over = request.arch, request.interface, Reals()
    rng, delta = np.random.default_rng(request.seed), request.arch.widths[request.interface]
    start, X = _network(arch, rng)
    if request.lost:
        start = _changed(start, {i - 1: start[i - 1]._replace(V=drop_rank(start[i - 1].V))})
    U = virtual_weights(over, start[:i]).L
    rank = numerical_rank(U)
    free = request.free if rank < delta else 0.0
    moved = start
    if free:
        outside = np.linalg.svd(U)[0][:, -1:]  # nᵀ U_i = 0: no token has a part along n
        moved = _changed(start, {i: Layer(*(W + free * _unit(rng, len(W)) * outside.T for W in start[i]))})
    C = walk_in_gl(request.walk, delta, request.along)
    now = change_interface(over, moved, i - 1, C)
    if request.alone:
        V = now[i - 1].V.copy()
        V[0] *= 1 + request.alone
        now = _changed(now, {i - 1: now[i - 1]._replace(V=V)})

    recovered, refusal, misfit = None, "", 0.0
    try:
        recovered = recover_interfaces(over, start, now)
    except ValueError as error:
        refusal, misfit = str(error), _misfit(start, now)
    before, after = virtual_weights(over, start), virtual_weights(over, now)
    outputs = [forward(over, arch.attention, weights, X)[0] for weights in (start, now)]
    names = [numbered("V", i), *(numbered(letter, i + 1) for letter in "QKV")]
    pairs = zip(names, (start[i - 1].V, *start[i]), (now[i - 1].V, *now[i]), strict=True)
    return InterfaceStudy(
        arch=arch,
        interface=i,
        C=C,
        weights=tuple(Moved(*pair) for pair in pairs),
        virtual=(
            Moved("L", before.L, after.L),
            *(
                Moved(numbered("M", j), M, M_now)
                for j, (M, M_now) in enumerate(zip(before.M, after.M, strict=True), start=1)
            ),
        ),
        outputs=Moved("φ(X)", *outputs),
        rank=rank,
        covered=delta <= min(arch.widths[0], arch.widths[-1]) and numerical_rank(before.L) == delta,
        recovered=recovered,
        refusal=refusal,
        misfit=misfit,
        free=free,
        alone=request.alone,
    )


def _unit(rng: np.random.Generator, size: int) -> np.ndarray:
    column = rng.standard_normal((size, 1))
    return column / np.linalg.norm(column)


def _misfit(start: Weights, now: Weights) -> float:
    """What the best C_1, …, C_{l−1} leave of Eq. 9, relative: 0 if they lead from one network to the other.

    Linear in them all: Q_j′ C_{j−1} = Q_j, K_j′ C_{j−1} = K_j, V_j′ C_{j−1} = C_j V_j, with C_0 = C_l = 1.
    """
    last, delta = len(start), len(start[0].V)
    size = delta * delta
    rows, right = [], []
    for j, (layer, other) in enumerate(zip(start, now, strict=True), start=1):
        for name, W, W_now in zip("QKV", layer, other, strict=True):
            block = np.zeros((W.size, (last - 1) * size))
            known = np.zeros(W.shape)
            if j > 1:
                block[:, (j - 2) * size : (j - 1) * size] += np.kron(W_now, np.eye(delta))
            else:
                known = known - W_now
            if name == "V" and j < last:
                block[:, (j - 1) * size : j * size] -= np.kron(np.eye(delta), W.T)
            else:
                known = known + W
            rows.append(block)
            right.append(known.ravel())
    A, b = np.vstack(rows), np.concatenate(right)
    best = np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.linalg.norm(A @ best - b) / np.linalg.norm(b))


class VirtualWeightsExplorer(Panel):
    """A change of basis between two layers moves Q, K, V, and neither L nor any M nor the function.

    Controls: layers, width (δ), interface (first, middle, last), walk (rotation, stretch or shear in
    GL_δ), along; under "More": lost (V_i loses one rank), free (move the next layer where nothing
    arrives any more), alone (move V_i with no answer: not a symmetry), width_in (d₀), width_out (d_l),
    head_dim, kind, seed. See `Panel` for what all panels share.

    >>> panel = VirtualWeightsExplorer()
    >>> panel.controls["lost"].value = True
    >>> "V_1 has rank 2; got rank 1" in panel.description
    True
    """

    title = "A change of basis that nobody sees"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        def real(label: str, value: float, most: float, form: str = ".2f") -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=-most, max=most, step=0.05, description=label, readout_format=form
            )

        first = {
            "layers": whole("layers l", 2, 2, MAX_LAYERS),
            "width": whole("inner width δ", 2, 1, MAX_WIDTH),
            "interface": widgets.Dropdown(
                options=[(words, key) for key, words in _PLACES.items()], value="first", description="basis"
            ),
            "walk": widgets.Dropdown(options=WALKS, value="rotation", description="walk of C"),
            "along": real("along the walk", 0.4, 1),
        }
        more = {
            "lost": widgets.Checkbox(value=False, description="V before it loses one rank"),
            "free": real("free part", 0.5, 1),
            "alone": real("move V alone", 0.0, 0.3, ".0%"),
            "width_in": whole("input width d₀", 3, 1, MAX_WIDTH),
            "width_out": whole("output width dₗ", 3, 1, MAX_WIDTH),
            "head_dim": whole("head dimension a", 2, 1, MAX_HEAD),
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        # Only where U_i does not reach all of the δ dimensions is anything free.
        self.controls["free"].disabled = not value["lost"] and value["width"] <= value["width_in"]
        self.controls["interface"].disabled = value["layers"] == 2

    def _read(self) -> InterfaceRequest:
        value = {name: control.value for name, control in self.controls.items()}
        layers = value["layers"]
        arch = Architecture(
            (value["width_in"], *(value["width"],) * (layers - 1), value["width_out"]),
            (value["head_dim"],) * layers,
            TOKENS,
            value["kind"],
        )
        place = {"first": 1, "middle": layers // 2, "last": layers - 1}[value["interface"]]
        # A slider of step 0.05 gives 5e-17 where it says 0.
        along, free, alone = (round(value[name], 6) for name in ("along", "free", "alone"))
        return InterfaceRequest(arch, place, value["walk"], along, value["lost"], free, alone, value["seed"])

    _answer = staticmethod(study_interface)

    def _make_figure(self, answer: InterfaceStudy) -> go.Figure:
        return interface_figure(answer)

    def _update_figure(self, old: InterfaceStudy | None, new: InterfaceStudy) -> None:
        update_interface(self.figure, old, new)

    def _badge(self, answer: InterfaceStudy) -> str:
        if answer.moved:
            return theme.badge("outside hypotheses", f"Eq. 9: {numbered('V', answer.interface)} moved alone")
        lemma = (
            theme.badge("proved", "Lemma 3.5: C is unique")
            if answer.covered
            else theme.badge("outside hypotheses", "Lemma 3.5")
        )
        return theme.badge("proved", "Eq. 9: same function") + lemma

    def _describe(self, answer: InterfaceStudy) -> str:
        return " ".join([_say_moves(answer), _say_stands(answer), _say_recovered(answer)])


def _say_moves(study: InterfaceStudy) -> str:
    i = study.interface
    where = f"{study.arch}. Between the layers {i} and {i + 1}"
    names = " ".join(part.name for part in study.weights[1:])
    most = max(part.change for part in study.weights)
    if most <= SAME:
        return f"{where} C = 1: no weight has moved{_why_not(study)}."
    also = f" (here C = 1{_why_not(study)})" if _is_one(study.C) else ""
    if study.free:
        also += ", which first moved where nothing arrives (′)"
    if study.alone:
        also += f"; then row 1 of {study.weights[0].name} is multiplied by {signed(1 + study.alone)} (D)"
    return (
        f"{where}: {study.weights[0].name} → C {study.weights[0].name}, and C⁻¹ behind {names}{also}. "
        f"They move by up to {percent(most)} of their size."
    )


def _is_one(C: np.ndarray) -> bool:
    return np.array_equal(C, np.eye(len(C)))


def _why_not(study: InterfaceStudy) -> str:
    return ", as for δ = 1 it is on all walks but the stretch" if len(study.C) == 1 else ""


def _say_stands(study: InterfaceStudy) -> str:
    still = (*study.virtual, study.outputs)
    if not study.moved:
        most = max(part.change for part in still)
        rounding = f" (rounding: {tiny(most)})" if most else ""
        return f"L, all M and the outputs do not move{rounding}."
    moved = ", ".join(f"{part.name} by {percent(part.change)}" for part in study.moved)
    return f"With nothing to undo it, {moved}: not a symmetry."


def _say_recovered(study: InterfaceStudy) -> str:
    if study.recovered is not None:
        unique = "the only one" if study.covered else "although Lemma 3.5 does not apply"
        return f"From the two networks alone C is recovered, {unique}, off by {tiny(study.off)}."
    said = f"C cannot be recovered: {study.refusal}."
    if study.moved:
        return said
    if study.misfit > SAME:
        return f"{said} Here no C leads from one to the other (the best leaves {percent(study.misfit)})."
    return f"{said} Here some C does lead from one to the other; L and M do not tell."


# Rescaling the virtual weights


@dataclass(frozen=True)
class RescalingRequest:
    """What the controls ask for.

    Attributes:
        arch: the network.
        logs: log₂ λ_i of each layer.
        off: log₂ of a factor by which λ_0 misses its value.
        seed: what the network is drawn from.
    """

    arch: Architecture
    logs: tuple[float, ...]
    off: float
    seed: int


def study_rescaling(request: RescalingRequest) -> RescalingStudy:
    """Multiply every M_i by λ_i and L by the λ_0 that answers, and see what the outputs do."""
    arch, over = request.arch, Reals()
    weights, X = _network(arch, np.random.default_rng(request.seed))
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

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=1, max=most, description=label)

        def log(label: str, value: float = 0.0) -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=-1, max=1, step=0.05, description=label, readout_format=".2f"
            )

        first = {
            "layers": whole("layers l", 3, MAX_LAYERS),
            **{
                f"log_{i}": log(f"log₂ {numbered('λ', i)}", value)
                for i, value in enumerate((0.5, 0.5, 0.5, 0.5), start=1)
            },
        }
        more = {
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
            "off": log("miss λ₀ by"),
            "width": whole("width d", 3, MAX_WIDTH),
            "head_dim": whole("head dimension a", 2, MAX_HEAD),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        for i in range(1, MAX_LAYERS + 1):
            self.controls[f"log_{i}"].disabled = i > self.controls["layers"].value

    def _read(self) -> RescalingRequest:
        value = {name: control.value for name, control in self.controls.items()}
        layers = value["layers"]
        arch = Architecture.uniform(value["width"], value["head_dim"], layers, TOKENS, value["kind"])
        # A slider of step 0.05 gives 5e-17 where it says 0.
        logs = tuple(round(value[f"log_{i}"], 6) for i in range(1, layers + 1))
        return RescalingRequest(arch, logs, round(value["off"], 6), value["seed"])

    _answer = staticmethod(study_rescaling)

    def _make_figure(self, answer: RescalingStudy) -> go.Figure:
        return rescaling_figure(answer)

    def _update_figure(self, old: RescalingStudy | None, new: RescalingStudy) -> None:
        update_rescaling(self.figure, old, new)

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
