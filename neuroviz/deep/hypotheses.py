"""Where Eq. 14 stops: measured minus formula over a grid of networks, and what happens
to the tokens."""

from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention import Architecture as PaperNetwork
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
MAX_SIZE, MAX_TOKENS = SIZES[-1], 6


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
    """A network of two layers, its neighbours on a map, and the angles between its
    tokens.

    Attributes:
        setting: as asked for.
        measured: the dimension of its network.
        expected, paper: what theory says, and what the paper's formula says, applicable
            or not.
        cells: of the map, one for each pair of `SIZES`.
        angles: for the input and after each layer, the angles between all pairs of
            tokens, in degrees.
    """

    setting: HypothesesSetting
    measured: Measurement
    expected: Expected
    paper: Expected
    cells: tuple[MapCell, ...]
    angles: tuple[tuple[float, ...], ...]

    @property
    def arch(self) -> Architecture:
        """The network."""
        return self.setting.arch

    @property
    def over(self) -> str:
        """What the map varies: "heads", (a₁, a₂), or "widths", the inner width and the
        outer ones."""
        return self.setting.over

    @property
    def here(self) -> tuple[int, int]:
        """The column and the row of the network itself."""
        return (
            self.arch.head_dims
            if self.over == "heads"
            else (self.arch.widths[1], self.arch.widths[0])
        )

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
        """The first layer after which all tokens are parallel, counted from 1; None if
        there is none."""
        return next(
            (i for i, pairs in enumerate(self.angles) if pairs and max(pairs) < 1e-10),
            None,
        )


def study_hypotheses(request: HypothesesSetting) -> HypothesesStudy:
    """Measure the network and its neighbours on the map, and follow random tokens
    through it."""
    arch, seed, over, cells = request.arch, request.seed, request.over, []
    for x, y in product(SIZES, SIZES):
        net = (
            replace(arch, head_dims=(x, y))
            if over == "heads"
            else replace(arch, widths=(y, x, y))
        )
        measured, paper = measure_dimension(net, seed=seed), paper_formula(net)
        cause = _cause(net) if measured.value != paper.value else ""
        cells.append(
            MapCell(x, y, measured, paper, paper.status != "outside hypotheses", cause)
        )
    here = (
        measure_dimension(arch, seed=seed),
        expected_dimension(arch),
        paper_formula(arch),
    )
    return HypothesesStudy(request, *here, tuple(cells), _angles(arch, seed))


def _cause(arch: Architecture) -> str:
    """The failing hypothesis that changes the dimension, in a word or two for a
    cell."""
    causes = ["t = 1"] * (arch.tokens == 1)
    if (
        not causes
        and arch.attention == "lightning"
        and collapsing_layer(arch) is not None
    ):
        thick = (
            general_formula(replace(arch, attention="softmax")).value - arch.num_layers
        )
        if general_formula(arch).value < thick:  # the collapse costs dimensions
            causes.append("rank 1")
    if effective_widths(arch) != arch.widths:
        causes.append("widens")
    return "both" if len(causes) == 2 else "".join(causes)


def _angles(arch: Architecture, seed: int) -> tuple[tuple[float, ...], ...]:
    """Angles between all pairs of random tokens, as they come in and after each layer;
    in degrees."""
    rng = np.random.default_rng([seed, 8])
    # Of Gaussian matrices the second layer alone brings any tokens within 0.001
    # degrees.
    weights = conditioned_weights(arch.layers, arch.attention, rng)
    X = conditioned_tokens(arch.widths[0], arch.tokens, 1, rng)
    stages = [X]
    for depth in range(1, arch.num_layers + 1):
        widths = arch.widths[: depth + 1]
        head_dims = arch.head_dims[:depth]
        first = PaperNetwork(widths, head_dims, arch.tokens, arch.attention)
        stages.append(outputs(first, Reals(), weights, X))
    return tuple(_between(stage[0]) for stage in stages)


def _between(X: np.ndarray) -> tuple[float, ...]:
    """Angles between the lines that tokens span: from 0 to 90 degrees."""
    pairs = [
        (u, v if u @ v >= 0 else -v)
        for u, v in combinations((X / np.linalg.norm(X, axis=0)).T, 2)
    ]
    # For small angles the cosine would keep half of the digits only.
    halves = [
        np.arctan2(np.linalg.norm(u - v), np.linalg.norm(u + v)) for u, v in pairs
    ]
    return tuple(float(np.degrees(2 * half)) for half in halves)
