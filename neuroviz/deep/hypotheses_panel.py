"""Where the paper's dimension formula stops, which hypothesis fails there, and what happens to the tokens."""

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from neuroviz.deep.dimension import paper_name
from neuroviz.deep.hypotheses_figure import SIZES, HypothesesStudy, MapCell, hypotheses_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.formulas import (
    collapsing_layer,
    effective_widths,
    expected_dimension,
    general_formula,
    paper_formula,
)
from neuroviz.engine.measure import measure_dimension
from neuroviz.engine.network import forward, random_tokens, random_weights
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, seed, whole

MAX_SIZE, MAX_TOKENS = SIZES[-1], 6


@dataclass(frozen=True)
class HypothesesSetting:
    """A network of two layers, equal widths outside."""

    head_1: int = whole("head dimension a₁", 1, 1, MAX_SIZE)
    head_2: int = whole("head dimension a₂", 3, 1, MAX_SIZE)
    inner: int = whole("inner width δ", 4, 1, MAX_SIZE)
    outer: int = whole("outer widths", 4, 1, MAX_SIZE)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS)
    kind: str = choice("attention", ATTENTION_KINDS)
    over: str = choice("map over", [("head dimensions", "heads"), ("widths", "widths")])
    seed: int = seed()

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = self.outer, self.inner, self.outer
        return Architecture(widths, (self.head_1, self.head_2), self.tokens, self.kind)


def study_hypotheses(request: HypothesesSetting) -> HypothesesStudy:
    """Measure the network and its neighbours on the map, and follow random tokens through it."""
    arch, seed = request.arch, request.seed
    places = [(x, y) for x in SIZES for y in SIZES]
    if request.over == "heads":
        nets = [replace(arch, head_dims=place) for place in places]
    else:
        nets = [replace(arch, widths=(y, x, y)) for x, y in places]
    return HypothesesStudy(
        arch,
        measure_dimension(arch, seed=seed),
        expected_dimension(arch),
        paper_formula(arch),
        request.over,
        tuple(_cell(place, net, seed) for place, net in zip(places, nets, strict=True)),
        _angles(arch, seed),
    )


def _cell(place: tuple[int, int], arch: Architecture, seed: int) -> MapCell:
    measured, paper = measure_dimension(arch, seed=seed), paper_formula(arch)
    cause = _cause(arch) if measured.value != paper.value else ""
    return MapCell(*place, measured, paper, paper.status != "outside hypotheses", cause)


def _cause(arch: Architecture) -> str:
    """Which hypothesis it is whose failure costs something, in a word or two for a cell."""
    causes = []
    if arch.tokens == 1:
        causes.append("t = 1")
    elif arch.attention == "lightning" and collapsing_layer(arch) is not None:
        thick = general_formula(replace(arch, attention="softmax")).value - arch.num_layers
        if general_formula(arch).value < thick:  # without the collapse there would be more
            causes.append("rank 1")
    if effective_widths(arch) != arch.widths:
        causes.append("widens")
    return "both" if len(causes) == 2 else "".join(causes)


def _angles(arch: Architecture, seed: int) -> tuple[tuple[float, ...], ...]:
    """Angles between all pairs of random tokens, as they come in and after each layer; in degrees."""
    rng = np.random.default_rng([seed, 8])
    weights = random_weights(Reals(), arch, rng)
    X = random_tokens(Reals(), arch, 1, rng)
    stages = [X, *(forward(Reals(), arch.attention, weights[: i + 1], X) for i in range(arch.num_layers))]
    return tuple(_between(stage[0]) for stage in stages)


def _between(X: np.ndarray) -> tuple[float, ...]:
    """Angles between the lines that tokens span: from 0 to 90 degrees."""
    units = X / np.linalg.norm(X, axis=0)
    angles = []
    for i, j in combinations(range(X.shape[1]), 2):
        u, v = units[:, i], units[:, j]
        v = v if u @ v >= 0 else -v
        # Of small angles the cosine would keep half the digits only.
        angles.append(float(np.degrees(2 * np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)))))
    return tuple(angles)


class HypothesesExplorer(Panel):
    """Where Eq. 14 stops to hold for two layers, and why.

    Left, measured minus formula over the head dimensions or over the widths; right, the angles between the
    tokens of a random network, layer by layer: they are 0 after a layer of rank one.

    Controls: a₁, a₂, inner width δ, outer widths, t, attention, what the map is over; under "More": seed.
    See `Panel`.

    >>> panel = HypothesesExplorer(state="head_1=1")
    >>> "A₁ has rank one" in panel.description
    True
    """

    title = "Where does the formula stop?"
    setting = HypothesesSetting

    _answer = staticmethod(study_hypotheses)

    draw = staticmethod(hypotheses_parts)

    def _badge(self, answer: HypothesesStudy) -> str:
        measured, paper = answer.measured, answer.paper
        badges = measured_badge(measured)
        if paper.status == "outside hypotheses":
            badges += theme.badge("outside hypotheses", f"{paper_name(paper)}: {paper.value}")
        return badges + theory_badge(answer.expected, measured.value)

    def _describe(self, answer: HypothesesStudy) -> str:
        arch, measured, expected, paper = answer.arch, answer.measured, answer.expected, answer.paper
        off = measured.value - paper.value
        verdict = f"off by {off:+d}".replace("-", "−") if off else "right"
        agrees = "agrees" if expected.value == measured.value else f"says {expected.value}: they DISAGREE"
        parts = [
            f"{arch}: {measured.value} dimensions, measured exactly; {paper_name(paper)} says {paper.value}, "
            f"{verdict}.",
            f"The general formula {agrees}: {expected.note}.",
            f"Over the {dict(heads='head dimensions').get(answer.over, answer.over)} {paper_name(paper)} is "
            f"off in {len(answer.off)} of {len(answer.cells)} networks.",
        ]
        if answer.collapsed:
            parts.append(f"After layer {answer.collapsed} all tokens of the network drawn here are parallel.")
        return " ".join(parts)
