"""Two softmax transformers of two layers and two heads that compute the same, and the
poles that say why.

Tokens x₁, x₂ and a third one of a weight s from 0 (not there) to 1; d = 2.
beyond/docs/softmax_heads_fibres.md: "Theorem H".
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import pi
from typing import NamedTuple

import numpy as np

from neuroviz.attention.layer import TOLERANCE
from neuroviz.kit.settings import choice, real, seed, switch
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.alignment import (
    Alignment,
    Shown,
    align,
    where_theorem_h_fails,
)
from neuroviz_beyond.transformers.evaluate import Weights

D = 2
LAYERS = 2
HEADS = 2
_ORDERS = {"none": (), "layer 1": (0,), "layer 2": (1,), "both": (0, 1)}
_INPUTS = 64
_CANDIDATES = 100
# The rate of a layer's faster head on its line: its poles are iπ apart.
_FASTEST = 2.0
Network = tuple[Shown, ...]


@dataclass(frozen=True)
class TwinSetting:
    """Two networks, and the changes that lead from the first to the second.

    Attributes:
        view: "weights" (and outputs), or "poles".
        swapped: the layers whose heads change places.
        basis: t of the basis G = exp(tE) of the tokens between the layers; only without
            skip.
        shift: how far these tokens are shifted; only with biases.
        third: the weight of the third token, from 0 to 1.
        skip, biases: of both networks.
        signs: in the first network the values of layer 1 add up to 0; the second has
            −A, −c and −V there.
        off: a step that no theorem allows, of one A.
        seed: what the first network, the tokens and the directions are drawn from.

    Raises:
        ValueError: if the view or the layers are something else.
    """

    view: str = choice(
        "picture", [("weights and outputs", "weights"), ("poles", "poles")]
    )
    swapped: str = choice("swap heads", list(_ORDERS), "layer 1")
    basis: float = real("basis exp(tE), t", 0.5, -1.0, 1.0, 0.05)
    shift: float = real("shift", 0.0, -1.0, 1.0, 0.05)
    third: float = real("third token", 1.0, 0.0, 1.0, 0.05)
    skip: bool = switch("skip")
    biases: bool = switch("biases")
    signs: bool = switch("−A and −V", more=True)
    off: float = real("step off", 0.0, -1.0, 1.0, 0.05, more=True)
    seed: int = seed()

    def __post_init__(self) -> None:
        for name, known in (
            ("view", ("weights", "poles")),
            ("swapped", tuple(_ORDERS)),
        ):
            if (value := getattr(self, name)) not in known:
                raise ValueError(
                    f"{name} is one of {', '.join(map(repr, known))}; got {value!r}"
                )

    @property
    def has_skip(self) -> bool:
        """Whether both have a skip; they need it where the values of layer 1 add up to
        0."""
        return self.skip or self.signs

    @property
    def arch(self) -> Transformer:
        """Both networks; two tokens where the third weighs nothing."""
        sizes = D, D, LAYERS, 3 if self.third else 2
        more = {
            "heads": HEADS,
            "skip": self.has_skip,
            "block": Block(biases=self.biases),
        }
        return Transformer.uniform(*sizes, "softmax", **more)


@dataclass(frozen=True, eq=False)
class TwinStudy:
    """Two networks, what they do to one input, and where their freed functions have
    poles.

    Attributes:
        setting: what was asked for.
        first, second: the networks.
        places: head h of layer i of the first is head places[i][h] of the second, as
            far as it was moved.
        outputs: φ(X) of both for one X, tokens 1 and 2.
        moved: root mean square of the difference on 64 random inputs, over that of the
            first's outputs.
        rates: (network, layer, head): the logit of the head at x₁ = x₂ + z w is rate ·
            z; x₂ and w are those of the layer, chosen so that its heads are seen apart.
        found: what `align` says of the two; in words where it finds nothing.
        failing: the conditions of Theorem H that the first network violates.
    """

    setting: TwinSetting
    first: Network
    second: Network
    places: tuple[tuple[int, ...], ...]
    outputs: tuple[np.ndarray, np.ndarray]
    moved: float
    rates: np.ndarray
    found: Alignment | str
    failing: tuple[str, ...]

    @property
    def same_outputs(self) -> bool:
        """Whether both compute the same, as measured."""
        return self.moved <= TOLERANCE

    @cached_property
    def partners(self) -> tuple[tuple[tuple[int, int] | None, ...], ...]:
        """(layer, head of the first) → head of the second with the same poles, and the
        sign of its logit."""
        return tuple(
            tuple(self._partner(i, h) for h in range(HEADS)) for i in range(LAYERS)
        )

    def _partner(self, layer: int, head: int) -> tuple[int, int] | None:
        rate = self.rates[0, layer, head]
        others = self.rates[1, layer]
        # Only with two tokens have q and −q the same poles: at exp(q) = −m with m = 1.
        for sign in (1, -1) if self.setting.third == 0 else (1,):
            k = int(np.abs(others - sign * rate).argmin())
            if abs(others[k] - sign * rate) <= TOLERANCE * abs(rate):
                return k, sign
        return None


def study_twins(setting: TwinSetting) -> TwinStudy:
    """Make both networks, run them, and look for what leads from one to the other.

    >>> study = study_twins(TwinSetting(swapped="both", basis=0.5))
    >>> study.same_outputs, study.found.heads
    (True, ((1, 0), (1, 0)))
    """
    # Only what the draw depends on, so that moving a control finds it in the cache.
    drawn = _random_parts(
        TwinSetting(
            seed=setting.seed,
            skip=setting.skip,
            biases=setting.biases,
            signs=setting.signs,
        )
    )
    places = tuple(
        (1, 0) if i in _ORDERS[setting.swapped] else (0, 1) for i in range(LAYERS)
    )
    first = drawn.first
    second = _second(setting, drawn, places)

    weight = np.array([1.0, 1.0, setting.third])
    outputs, other_outputs = (
        forward(network, drawn.X, weight, setting.has_skip)[..., :2]
        for network in (first, second)
    )
    # The input whose outputs are nearest to the usual size is shown.
    sizes = np.sqrt((outputs**2).mean(axis=(1, 2)))
    unit = float(np.sqrt((outputs**2).mean()))
    shown = int(np.abs(sizes - unit).argmin())
    moved = float(np.sqrt(((other_outputs - outputs) ** 2).mean())) / unit

    weights = as_block_weights(first, setting.biases)
    try:
        found: Alignment | str = align(
            setting.arch, weights, as_block_weights(second, setting.biases)
        )
    except ValueError as error:
        found = str(error)
    return TwinStudy(
        setting=setting,
        first=first,
        second=second,
        places=places,
        outputs=(outputs[shown], other_outputs[shown]),
        moved=moved,
        rates=np.array(
            [
                _rates_on_lines(network, drawn.lines, setting.has_skip)
                for network in (first, second)
            ]
        ),
        found=found,
        failing=where_theorem_h_fails(setting.arch, weights),
    )


class _Drawn(NamedTuple):
    """What is random."""

    first: Network
    E: np.ndarray  # the direction of a basis
    g: np.ndarray  # that of a shift
    lines: list[tuple[np.ndarray, np.ndarray]]  # x₂ and w, of inputs for each layer
    X: np.ndarray  # inputs


@lru_cache(16)
def _random_parts(setting: TwinSetting) -> _Drawn:
    rng = np.random.default_rng([setting.seed, 3])
    first = _first(setting, rng)
    E = rng.standard_normal((D, D))
    g = rng.standard_normal(D)
    lines = [_line(setting, first, layer, rng) for layer in range(LAYERS)]
    return _Drawn(first, E, g, lines, rng.standard_normal((_INPUTS, D, 3)))


def _second(
    setting: TwinSetting, drawn: _Drawn, places: tuple[tuple[int, ...], ...]
) -> Network:
    """The second network: the first one after all changes of the setting."""
    turned = _with_other_signs(drawn.first) if setting.signs else drawn.first
    G = np.eye(D)
    if not setting.has_skip:
        G = _exponential(setting.basis * drawn.E / np.linalg.norm(drawn.E))
    g = 0 * drawn.g
    if setting.biases:
        g = setting.shift * drawn.g / np.linalg.norm(drawn.g)
    rebased = _in_another_basis(turned, G, g, setting.has_skip)
    # The step that moves the rate wᵀ(A x + c) of a head on its line fastest.
    x, w = drawn.lines[0]
    step = setting.off * np.outer(w, x) / (np.linalg.norm(w) * np.linalg.norm(x))
    return _with_heads_in_order(_with_step(rebased, step), places)


def _with_other_signs(network: Network) -> Network:
    """Layer 1 with −A, −c and −V."""
    one, two = network
    return one._replace(A=-one.A, V=-one.V, c=-one.c), two


def _exponential(M: np.ndarray) -> np.ndarray:
    """exp(M), by the eigenvectors of M."""
    values, P = np.linalg.eig(M)
    return ((P * np.exp(values)) @ np.linalg.inv(P)).real


def _with_step(network: Network, step: np.ndarray) -> Network:
    """The first A moved by a step."""
    one, two = network
    return one._replace(A=one.A + np.stack([step, 0 * step])), two


def _with_heads_in_order(
    network: Network, places: tuple[tuple[int, ...], ...]
) -> Network:
    """The heads of each layer in another order."""
    reordered = []
    for layer, order in zip(network, places, strict=True):
        heads = list(order)
        reordered.append(
            layer._replace(A=layer.A[heads], V=layer.V[heads], c=layer.c[heads])
        )
    return tuple(reordered)


def _rates_on_lines(
    network: Network, lines: list[tuple[np.ndarray, np.ndarray]], skip: bool
) -> list[list[float]]:
    """(layer, head): the rate of a head on the line of its layer."""
    return [rates(network, x, w, skip)[i] for i, (x, w) in enumerate(lines)]


def forward(
    network: Network, X: np.ndarray, weight: np.ndarray, skip: bool
) -> np.ndarray:
    """The outputs, shape (N, d, t), where a token of weight s counts s times in every
    softmax."""
    for A, V, c, omega in network:
        logits = X[:, None].mT @ (A @ X[:, None] + c[..., None])
        shares = weight[:, None] * np.exp(logits - logits.max(axis=-2, keepdims=True))
        shares /= shares.sum(axis=-2, keepdims=True)
        X = (X if skip else 0) + (V @ X[:, None] @ shares).sum(axis=1) + omega[:, None]
    return X


def rates(
    network: Network, x: np.ndarray, w: np.ndarray, skip: bool
) -> list[list[float]]:
    """The logits q = (x₁ − x₂)ᵀ(A x₂ + c) at x₁ = x₂ + z w are rates · z; the layers
    before are frozen.

    Frozen (μ = ν = 0, no token sees another), a layer is y = ([I +] Σ V) x + ω.

    >>> identity = np.array([np.eye(2)])
    >>> one = Shown(identity, identity, np.zeros((1, 2)), np.zeros(2))
    >>> rates((one, one), np.array([1.0, 0.0]), np.array([2.0, 0.0]), skip=True)
    [[2.0], [8.0]]
    """
    found = []
    for A, V, c, omega in network:
        found.append(
            [float(w @ (A_h @ x + c_h)) for A_h, c_h in zip(A, c, strict=True)]
        )
        F = V.sum(0) + (np.eye(len(x)) if skip else 0)
        x = F @ x + omega
        w = F @ w
    return found


def poles(rate: float, third: float, height: float) -> np.ndarray:
    """Where 1 + s + exp(rate · z) = 0: the poles of the head's share, with |Im z| ≤
    height.

    z = (log(1 + s) + iπ(2k + 1)) / rate

    >>> poles(2.0, 0.0, 2.0).round(2)
    array([0.-1.57j, 0.+1.57j])
    """
    # π |2k + 1| ≤ |rate| · height; k and −1 − k have opposite imaginary parts.
    last = int((abs(rate) * height / pi + 1) // 2)
    k = np.arange(-last, last)
    return (np.log1p(third) + 1j * pi * (2 * k + 1)) / rate


def as_block_weights(network: Network, biases: bool) -> Weights:
    """The weights of a network, named as in `Transformer.parameter_shapes`; K = I."""
    weights: Weights = {}
    for i, (A, V, c, omega) in enumerate(network, start=1):
        weights |= {f"{i}.Q": A, f"{i}.K": np.stack([np.eye(D)] * HEADS), f"{i}.V": V}
        if biases:
            zero = np.zeros((HEADS, D, 1))
            # the first head carries all of ω
            values = np.stack([omega, 0 * omega])[..., None]
            weights |= {f"{i}.q": c[..., None], f"{i}.k": zero, f"{i}.v": values}
    return weights


def _first(setting: TwinSetting, rng: np.random.Generator) -> Network:
    """Random weights; the same ones with and without skip and biases."""
    layers = []
    for _ in range(LAYERS):
        A, V = rng.standard_normal((2, HEADS, D, D))
        c = rng.standard_normal((HEADS, D))
        omega = rng.standard_normal(D)
        layers.append(Shown(A, V, c * setting.biases, omega * setting.biases))
    if setting.signs:
        layers[0].V[1] = -layers[0].V[0]
    return tuple(layers)


def _in_another_basis(
    network: Network, G: np.ndarray, g: np.ndarray, skip: bool
) -> Network:
    """The tokens between the two layers become Gz + g, which is 𝔊₁ of Theorem H."""
    one, two = network
    back = np.linalg.inv(G)
    A = back.T @ two.A @ back
    F = two.V.sum(0) + (np.eye(D) if skip else 0)
    return (
        one._replace(V=G @ one.V, omega=G @ one.omega + g),
        Shown(A, two.V @ back, two.c @ back - A @ g, two.omega - F @ back @ g),
    )


def _line(
    setting: TwinSetting, first: Network, layer: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """x₂ and w: of many random ones those with the rates of a layer's heads farthest
    apart, and from 0."""
    best = -1.0
    chosen = (np.ones(D), np.ones(D))
    for x, w in rng.standard_normal((_CANDIDATES, 2, D)):
        small, large = sorted(np.abs(rates(first, x, w, setting.has_skip)[layer]))
        score = float(min(small, large - small) / large)
        if score > best:
            best = score
            chosen = (x, w * _FASTEST / large)
    return chosen
