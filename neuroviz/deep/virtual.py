"""A network before and after: a change of basis between two layers, which no virtual
weight sees (Eq. 9)."""

import re
from dataclasses import dataclass, replace

import numpy as np

from neuroviz.attention.architecture import ATTENTION_KINDS, Architecture
from neuroviz.attention.conditioned import conditioned_tokens, conditioned_weights
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import (
    WALKS,
    change_interface,
    drop_rank,
    recover_interfaces,
    virtual_weights,
    walk_in_gl,
)
from neuroviz.kit.settings import choice, real, seed, switch, whole
from neuroviz.kit.words import numbered
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank
from neuroviz.rank.network import Weights
from neuroviz.rank.point import outputs

SAME = 1e-9
"""What rounding may leave, relative to a matrix: what has moved by less is the same."""
MAX_LAYERS = 4
MAX_WIDTH = 4
MAX_HEAD = 4
TOKENS = 3
LOGS = tuple(f"log_{i}" for i in range(1, MAX_LAYERS + 1))
RANGES = {
    "along": (-1, 1, 0.01),
    "alone": (-0.3, 0.3, 0.01),
    **dict.fromkeys((*LOGS, "off"), (-1, 1, 0.05)),
}
"""Of the controls that are real numbers: least, most, step."""
_SOFTMAX_SIZE = 2.0
_VALUE_NOISE = 0.2
_PLACES = {
    "first": "after the first layer",
    "middle": "in the middle",
    "last": "before the last layer",
}


def _log(label: str, value: float = 0.0, more: bool = False) -> float:
    return real(label, value, *RANGES["off"], more=more)


@dataclass(frozen=True)
class VirtualSetting:
    """A network, and what happens to it: a change of basis between two of its layers,
    or a rescaling.

    Attributes:
        view: "basis", the change of basis, or "rescale".
        place: of the basis, "first", "middle" or "last"; its control, and in states, is
            called interface.
        walk, along: the change of basis, C = `walk_in_gl(walk, δ, along)`.
        log_1, …, log_4: log₂ λ_i of each layer; L is multiplied by λ_0 = ∏
            λ_i^{−3^{l−i}} (Eq. 13).
        off: log₂ of a factor by which λ_0 misses its value.
        lost: whether V_i loses one rank first.
        alone: the relative change of the first row of V_i, which the next layer does
            not undo.
    """

    view: str = choice(
        "view", [("change of basis", "basis"), ("rescale L and the M", "rescale")]
    )
    layers: int = whole("layers l", 2, 2, MAX_LAYERS)
    width: int = whole("inner width δ", 2, 1, MAX_WIDTH)
    place: str = choice(
        "basis", [(words, key) for key, words in _PLACES.items()], name="interface"
    )
    walk: str = choice("walk of C", WALKS)
    along: float = real("along the walk", 0.4, *RANGES["along"])
    log_1: float = _log("log₂ λ₁", 0.5)
    log_2: float = _log("log₂ λ₂", 0.5)
    log_3: float = _log("log₂ λ₃", 0.5)
    log_4: float = _log("log₂ λ₄", 0.5)
    lost: bool = switch("V before it loses one rank", more=True)
    alone: float = real("move V alone", 0.0, *RANGES["alone"], more=True, shown=".0%")
    off: float = _log("miss λ₀ by", more=True)
    width_in: int = whole("input width d₀", 3, 1, MAX_WIDTH, more=True)
    width_out: int = whole("output width dₗ", 3, 1, MAX_WIDTH, more=True)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD, more=True)
    kind: str = choice("attention", ATTENTION_KINDS, more=True)
    seed: int = seed()

    @property
    def arch(self) -> Architecture:
        """The network."""
        inner = (self.width,) * (self.layers - 1)
        widths = (self.width_in, *inner, self.width_out)
        return Architecture(widths, (self.head_dim,) * self.layers, TOKENS, self.kind)

    @property
    def interface(self) -> int:
        """i, from 1 to l − 1: the change is between layers i and i + 1."""
        places = {"first": 1, "middle": self.layers // 2, "last": self.layers - 1}
        return places[self.place]

    @property
    def logs(self) -> tuple[float, ...]:
        """log₂ λ_1, …, log₂ λ_l."""
        of_all = (self.log_1, self.log_2, self.log_3, self.log_4)
        return of_all[: self.layers]


@dataclass(frozen=True, eq=False)
class Moved:
    """A matrix before and after.

    Attributes:
        name: such as "V₁".
        start, now: of one shape.
    """

    name: str
    start: np.ndarray
    now: np.ndarray

    @property
    def change(self) -> float:
        """How far it has moved: ‖now − start‖ over the larger of the two norms; 0 for
        zeros."""
        size = max(np.linalg.norm(self.start), np.linalg.norm(self.now))
        if not size:
            return 0.0
        return float(np.linalg.norm(self.now - self.start) / size)

    @property
    def is_same(self) -> bool:
        """Whether no more than rounding has moved it."""
        return self.change <= SAME


@dataclass(frozen=True, eq=False)
class InterfaceStudy:
    """Everything that the figure of one change of basis shows.

    Attributes:
        setting: what was asked for: both networks, and the place i between the layers i
            and i + 1.
        start, X: the first network and the one input.
        C: the change of basis there, δ × δ.
        weights: Q_i, K_i, V_i, Q_{i+1}, K_{i+1}, V_{i+1}, of which it moves the last
            four.
        virtual: L, M_1, …, M_l.
        outputs: φ(X) for one X.
        rank: of U_i = V_i ⋯ V_1 at the start; Lemma 3.5 is about rank δ.
        covered: whether the hypotheses of Lemma 3.5 hold.
        recovered: C_1, …, C_{l−1} as found from the two networks alone, or None.
        refusal: why none were found, "" if they were.
    """

    setting: VirtualSetting
    start: Weights
    X: np.ndarray
    C: np.ndarray
    weights: tuple[Moved, ...]
    virtual: tuple[Moved, ...]
    outputs: Moved
    rank: int
    covered: bool
    recovered: tuple[np.ndarray, ...] | None
    refusal: str

    @property
    def moved(self) -> tuple[Moved, ...]:
        """The matrices that moved although they should not."""
        return tuple(part for part in (*self.virtual, self.outputs) if not part.is_same)

    @property
    def turns(self) -> bool:
        """Whether C is another basis at all."""
        return not np.array_equal(self.C, np.eye(len(self.C)))

    @property
    def off(self) -> float:
        """The largest difference between an entry of a recovered matrix and of the
        applied one."""
        largest = 0.0
        for i, found in enumerate(self.recovered, start=1):
            applied = self.C if i == self.setting.interface else np.eye(len(self.C))
            largest = max(largest, float(np.abs(applied - found).max()))
        return largest


def example_network(
    arch: Architecture, rng: np.random.Generator
) -> tuple[Weights, np.ndarray]:
    """Weights and one input, the same for both kinds of attention up to their sizes.

    Lightning outputs have degree 3^l in X: its length is chosen so that the largest of
    them is ±1. Softmax gets larger Q and K, so that tokens attend to different tokens.
    """
    lightning = replace(arch, attention="lightning")
    size = _SOFTMAX_SIZE if arch.attention == "softmax" else 1.0
    weights = conditioned_weights(lightning.layers, lightning.attention, rng)
    for name, weight in weights.items():
        if name.endswith("V"):
            # The singular values of V now differ, so that `drop_rank` has one to drop.
            noise = rng.standard_normal(weight.shape)
            weights[name] = weight + _VALUE_NOISE * noise
        else:
            weights[name] = size * weight
    X = conditioned_tokens(arch.widths[0], arch.tokens, 1, rng)
    largest = float(np.abs(outputs(lightning, Reals(), weights, X)).max())
    if arch.attention == "lightning" and largest:
        X = X * largest ** (-(3.0**-arch.num_layers))
    return weights, X


def study_interface(setting: VirtualSetting) -> InterfaceStudy:
    """Change the basis between two layers, and see what has moved and whether the
    change can be recovered."""
    arch = setting.arch
    i = setting.interface
    over = Reals()
    start, X = example_network(arch, np.random.default_rng(setting.seed))
    delta = arch.widths[i]
    if setting.lost:
        start[f"{i}.V"] = drop_rank(start[f"{i}.V"])
    U = np.eye(arch.widths[0])
    for layer in by_layer(start)[:i]:
        U = layer["V"] @ U
    rank = numerical_rank(U)
    C = walk_in_gl(setting.walk, delta, setting.along)
    now = dict(change_interface(over, start, i, C))
    if setting.alone:
        D = np.eye(delta)
        D[0, 0] += setting.alone
        now[f"{i}.V"] = D @ now[f"{i}.V"]
    recovered = None
    refusal = ""
    try:
        recovered = recover_interfaces(over, start, now)
    except ValueError as error:
        refusal = re.sub(
            r"V_(\d+)", lambda found: numbered("V", int(found[1])), str(error)
        )
    moved = []
    for layer in (i, i + 1):
        for letter in "QKV":
            name = f"{layer}.{letter}"
            moved.append(Moved(numbered(letter, layer), start[name], now[name]))
    before = virtual_weights(over, start)
    after = virtual_weights(over, now)
    still = [Moved("L", before.L, after.L)]
    for j, (M, M_now) in enumerate(zip(before.M, after.M, strict=True), start=1):
        still.append(Moved(numbered("M", j), M, M_now))
    output = outputs(arch, over, start, X)[0]
    output_now = outputs(arch, over, now, X)[0]
    covered = (
        delta <= min(arch.widths[0], arch.widths[-1])
        and numerical_rank(before.L) == delta
    )
    return InterfaceStudy(
        setting=setting,
        start=start,
        X=X,
        C=C,
        weights=tuple(moved),
        virtual=tuple(still),
        outputs=Moved("φ(X)", output, output_now),
        rank=rank,
        covered=covered,
        recovered=recovered,
        refusal=refusal,
    )
