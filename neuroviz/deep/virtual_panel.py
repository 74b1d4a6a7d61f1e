"""What a deep network shows of its weights, and a change of basis between two layers that nobody sees."""

import re
from dataclasses import dataclass, replace

import numpy as np

from neuroviz.deep.virtual_figure import MAX_LAYERS, SAME, InterfaceStudy, Moved, interface_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, Weights, conditioned_tokens, conditioned_weights, forward
from neuroviz.engine.orbit_slice import interface_misfit
from neuroviz.engine.rank import numerical_rank
from neuroviz.engine.symmetry import (
    WALKS,
    change_interface,
    drop_rank,
    recover_interfaces,
    virtual_weights,
    walk_in_gl,
)
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, real, seed, switch, whole
from neuroviz.kit.words import numbered, percent, signed, tiny

MAX_WIDTH, MAX_HEAD, TOKENS = 4, 4, 3
_SOFTMAX_SIZE, _VALUE_NOISE = 2.0, 0.2
_PLACES = {"first": "after the first layer", "middle": "in the middle", "last": "before the last layer"}


def example_network(arch: Architecture, rng: np.random.Generator) -> tuple[Weights, np.ndarray]:
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


@dataclass(frozen=True)
class InterfaceSetting:
    """A network, and what happens between two of its layers.

    Attributes:
        walk, along: the change of basis, C = `walk_in_gl(walk, δ, along)`.
        lost: whether V_i loses one rank first.
        free: how far the next layer moves where U_i does not reach; only where there is such a place.
        alone: by which part of itself the first row of V_i moves, without an answer of the next layer.
    """

    layers: int = whole("layers l", 2, 2, MAX_LAYERS)
    width: int = whole("inner width δ", 2, 1, MAX_WIDTH)
    place: str = choice("basis", [(words, key) for key, words in _PLACES.items()], name="interface")
    walk: str = choice("walk of C", WALKS)
    along: float = real("along the walk", 0.4, -1, 1, 0.05)
    lost: bool = switch("V before it loses one rank", more=True)
    free: float = real("free part", 0.5, -1, 1, 0.05, more=True)
    alone: float = real("move V alone", 0.0, -0.3, 0.3, 0.05, more=True, shown=".0%")
    width_in: int = whole("input width d₀", 3, 1, MAX_WIDTH, more=True)
    width_out: int = whole("output width dₗ", 3, 1, MAX_WIDTH, more=True)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD, more=True)
    kind: str = choice("attention", ATTENTION_KINDS, more=True)
    seed: int = seed()

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = self.width_in, *(self.width,) * (self.layers - 1), self.width_out
        return Architecture(widths, (self.head_dim,) * self.layers, TOKENS, self.kind)

    @property
    def interface(self) -> int:
        """i, from 1 to l − 1: the change is between layers i and i + 1."""
        return {"first": 1, "middle": self.layers // 2, "last": self.layers - 1}[self.place]


def study_interface(request: InterfaceSetting) -> InterfaceStudy:
    """Change the basis between two layers, and see what has moved and whether the change can be recovered."""
    arch, i, over = request.arch, request.interface, Reals()
    rng, delta = np.random.default_rng(request.seed), request.arch.widths[request.interface]
    start, X = example_network(arch, rng)
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
        refusal = re.sub(r"V_(\d+)", lambda found: numbered("V", int(found[1])), str(error))
        misfit = interface_misfit(start, now)
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


class VirtualWeightsExplorer(Panel):
    """A change of basis between two layers moves Q, K, V, and neither L nor any M nor the function.

    Controls: layers, width (δ), interface (first, middle, last), walk (rotation, stretch or shear in
    GL_δ), along; under "More": lost (V_i loses one rank), free (move the next layer where nothing
    arrives any more), alone (move V_i with no answer: not a symmetry), width_in (d₀), width_out (d_l),
    head_dim, kind, seed. See `Panel` for what all panels share.

    >>> panel = VirtualWeightsExplorer()
    >>> panel.controls["lost"].value = True
    >>> "V₁ has rank 2; got rank 1" in panel.description
    True
    """

    title = "A change of basis that nobody sees"
    setting = InterfaceSetting

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        # Only where U_i does not reach all of the δ dimensions is anything free.
        self.controls["free"].disabled = not value["lost"] and value["width"] <= value["width_in"]
        self.controls["interface"].disabled = value["layers"] == 2

    _answer = staticmethod(study_interface)

    draw = staticmethod(interface_parts)

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
