"""Where Eq. 14 stops: measured minus formula over a grid of networks, and the way of
tokens through one of them."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.conditioned import conditioned_tokens, conditioned_weights
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import (
    collapsing_layer,
    effective_widths,
    expected_dimension,
    general_formula,
    paper_formula,
)
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.settings import choice, seed, whole
from neuroviz.rank.field import Reals
from neuroviz.rank.point import outputs
from neuroviz.rank.results import Measurement

SIZES = (1, 2, 3, 4, 5)
"""The values of both axes of the map."""
PARALLEL = 1e-10
"""Degrees: tokens as near to each other as rounding can say."""
MAX_SIZE = SIZES[-1]
MAX_TOKENS = 6


@dataclass(frozen=True)
class HypothesesSetting:
    """A network of two layers with equal input and output widths."""

    head_1: int = whole("head dimension a₁", 1, 1, MAX_SIZE)
    head_2: int = whole("head dimension a₂", 3, 1, MAX_SIZE)
    inner: int = whole("inner width δ", 4, 1, MAX_SIZE)
    outer: int = whole("outer widths", 4, 1, MAX_SIZE)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS, more=True)
    kind: str = choice("attention", ATTENTION_KINDS)
    over: str = choice("map over", [("head dimensions", "heads"), ("widths", "widths")])
    seed: int = seed()

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = self.outer, self.inner, self.outer
        return Architecture(widths, (self.head_1, self.head_2), self.tokens, self.kind)


@dataclass(frozen=True)
class MapCell:
    """One network of the map.

    Attributes:
        column, row: where it stands, by the values that vary.
        measured: its dimension.
        paper: what the paper's formula says there, applicable or not.
        covered: whether all hypotheses of the paper's statement hold there.
        cause: in a word or two, why the formula is off there; "" leaves it out.
    """

    column: int
    row: int
    measured: Measurement
    paper: Expected
    covered: bool
    cause: str = ""

    @property
    def difference(self) -> int:
        """Measured minus formula."""
        return self.measured.value - self.paper.value


@dataclass(frozen=True)
class HypothesesStudy:
    """A network of two layers, its neighbours on a map, and the way of a few tokens
    through it.

    Attributes:
        setting: as asked for.
        measured: the dimension of its network.
        expected, paper: what theory says, and what the paper's formula says, applicable
            or not.
        cells: of the map, one for each pair of `SIZES`.
        weights: random weights of the network, by name.
        stages: random tokens, as they come in and after each layer; they are columns.
    """

    setting: HypothesesSetting
    measured: Measurement
    expected: Expected
    paper: Expected
    cells: tuple[MapCell, ...]
    weights: dict[str, np.ndarray]
    stages: tuple[np.ndarray, ...]

    @property
    def arch(self) -> Architecture:
        """The network."""
        return self.setting.arch

    @cached_property
    def angles(self) -> tuple[tuple[float, ...], ...]:
        """For the input and after each layer, the angles between all pairs of tokens,
        in degrees."""
        return tuple(_between(stage) for stage in self.stages)

    @property
    def over(self) -> str:
        """What the map varies: "heads", (a₁, a₂), or "widths", the inner width and the
        outer ones."""
        return self.setting.over

    @property
    def here(self) -> tuple[int, int]:
        """The column and the row of the network itself."""
        if self.over == "heads":
            return self.arch.head_dims
        outer, inner, _ = self.arch.widths
        return inner, outer

    @property
    def off(self) -> tuple[MapCell, ...]:
        """Cells where measurement and formula differ."""
        return tuple(cell for cell in self.cells if cell.difference)

    @property
    def contradicted(self) -> tuple[MapCell, ...]:
        """Cells where the formula fails inside its hypotheses: a mistake of the paper
        or of ours."""
        return tuple(cell for cell in self.off if cell.covered)

    @property
    def collapsed(self) -> int | None:
        """The first layer after which all tokens are parallel, 0 for the input; None if
        there is none."""
        for layer, pairs in enumerate(self.angles):
            if pairs and max(pairs) < PARALLEL:
                return layer
        return None


def study_hypotheses(request: HypothesesSetting) -> HypothesesStudy:
    """Measure the network and its neighbours on the map, and follow random tokens
    through it."""
    arch = request.arch
    cells = []
    for column, row in product(SIZES, SIZES):
        if request.over == "heads":
            net = replace(arch, head_dims=(column, row))
        else:
            net = replace(arch, widths=(row, column, row))
        cells.append(_cell(column, row, net, request.seed))
    weights, stages = _follow_tokens(arch, request.seed)
    return HypothesesStudy(
        setting=request,
        measured=measure_dimension(arch, seed=request.seed),
        expected=expected_dimension(arch),
        paper=paper_formula(arch),
        cells=tuple(cells),
        weights=weights,
        stages=stages,
    )


def _cell(column: int, row: int, net: Architecture, seed: int) -> MapCell:
    measured = measure_dimension(net, seed=seed)
    paper = paper_formula(net)
    return MapCell(
        column=column,
        row=row,
        measured=measured,
        paper=paper,
        covered=paper.status != "outside hypotheses",
        cause="" if measured.value == paper.value else _cause(net),
    )


def _cause(arch: Architecture) -> str:
    """The failing hypothesis that changes the dimension, in a word or two for a
    cell."""
    causes = []
    if arch.tokens == 1:
        causes.append("t = 1")
    elif _collapse_costs(arch):
        causes.append("rank 1")
    if effective_widths(arch) != arch.widths:
        causes.append("widens")
    return "both" if len(causes) == 2 else "".join(causes)


def _collapse_costs(arch: Architecture) -> bool:
    """Whether parallel tokens hide something; softmax keeps them apart."""
    if arch.attention == "softmax" or collapsing_layer(arch) is None:
        return False
    # Softmax has D dimensions, and lightning D − l if nothing is hidden.
    softmax = general_formula(replace(arch, attention="softmax")).value
    return general_formula(arch).value < softmax - arch.num_layers


def _follow_tokens(
    arch: Architecture, seed: int
) -> tuple[dict[str, np.ndarray], tuple[np.ndarray, ...]]:
    """Random weights, and random tokens as they come in and after each layer."""
    rng = np.random.default_rng([seed, 8])
    # Of Gaussian matrices the second layer alone brings any tokens within 0.001
    # degrees.
    weights = conditioned_weights(arch.layers, arch.attention, rng)
    X = conditioned_tokens(arch.widths[0], arch.tokens, 1, rng)
    stages = [X[0]]
    for depth in range(1, arch.num_layers + 1):
        # The layers up to here are a network, which takes no later weights.
        widths = arch.widths[: depth + 1]
        head_dims = arch.head_dims[:depth]
        first = Architecture(widths, head_dims, arch.tokens, arch.attention)
        stages.append(outputs(first, Reals(), weights, X)[0])
    return weights, tuple(stages)


def _between(X: np.ndarray) -> tuple[float, ...]:
    """Angles between the lines that tokens span: from 0 to 90 degrees."""
    units = (X / np.linalg.norm(X, axis=0)).T
    angles = []
    for u, v in combinations(units, 2):
        if u @ v < 0:
            v = -v
        # For small angles the cosine would keep half of the digits only.
        half = np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v))
        angles.append(float(np.degrees(2 * half)))
    return tuple(angles)
