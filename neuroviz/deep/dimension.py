"""What is measured of one architecture: its dimension and its spectrum."""

from dataclasses import dataclass

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import paper_formula
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.gauge_slice import num_columns
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.kit.controls import typed_head_dims
from neuroviz.kit.settings import choice, seed, switch, text, whole

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS = 12, 12, 6, 8
# Limits, measured on a laptop-like core: a study beyond the first two numbers runs in
# the background, and no spectrum is computed beyond `_MOST_PARAMETERS`.
_QUICK_PARAMETERS, _QUICK_COLUMNS = 450, 400  # a move within these takes some 0.2 s
_MOST_PARAMETERS = 900


@dataclass(frozen=True)
class DimensionSetting:
    """A network, of equal widths or not."""

    width: int = whole("width δ", 4, 1, MAX_WIDTH)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS)
    layers: int = whole("layers l", 2, 1, MAX_LAYERS)
    kind: str = choice("attention", ATTENTION_KINDS)
    equal: bool = switch("all widths equal δ", True, more=True)
    width_in: int = whole("input width d₀", 4, 1, MAX_WIDTH, more=True)
    width_out: int = whole("output width dₗ", 4, 1, MAX_WIDTH, more=True)
    head_dims: str = text("a per layer", placeholder="such as 2,2,1")
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.arch  # an impossible network raises here

    @property
    def arch(self) -> Architecture:
        """The network."""
        widths = [self.width] * (self.layers + 1)
        if not self.equal:
            widths[0], widths[-1] = self.width_in, self.width_out
        head_dims = (self.head_dim,) * self.layers
        if typed := self.head_dims.strip():
            instead = ", or clear the box to use the slider a"
            head_dims = typed_head_dims(typed, "2,2,1", MAX_HEAD, self.layers, instead)
        return Architecture(widths, head_dims, self.tokens, self.kind)

    @property
    def is_slow(self) -> bool:
        """Whether the study takes long, by the sizes alone: the answer must not depend
        on the machine."""
        arch = self.arch
        return (
            arch.num_parameters > _QUICK_PARAMETERS
            or num_columns(arch) > _QUICK_COLUMNS
        )


@dataclass(frozen=True)
class DimensionStudy:
    """Everything the figure shows about one architecture.

    Attributes:
        setting, arch: as asked for.
        exact: its dimension, measured exactly.
        spectrum: the float measurement, or None where the matrix is too large for a
            panel.
        expected, paper: what theory says; what the paper's formula says, applicable or
            not.
    """

    setting: DimensionSetting
    arch: Architecture
    exact: Measurement
    spectrum: Measurement | None
    expected: Expected
    paper: Expected


def study_dimension(setting: DimensionSetting) -> DimensionStudy:
    """Measure everything that the figure of one architecture shows."""
    arch, seed, spectrum = setting.arch, setting.seed, None
    if arch.num_parameters <= _MOST_PARAMETERS:
        spectrum = measure_dimension(arch, method="float", seed=seed)
    exact = measure_dimension(arch, seed=seed)
    return DimensionStudy(
        setting, arch, exact, spectrum, expected_dimension(arch), paper_formula(arch)
    )


# What theory says, in the words that several panels share


def would_mislead(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's formula, taken outside its hypotheses, would give another
    number."""
    return paper.status == "outside hypotheses" and paper.value != expected.value


def has_a_place(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's number fits on an axis of dimensions; outside its hypotheses
    it may be below 1."""
    return would_mislead(paper, expected) and paper.value >= 1


def paper_name(paper: Expected) -> str:
    """The name of the paper's formula without its hypotheses: the number of an
    equation, if it has one."""
    bare = {"Cor. 3.8": "Eq. 14", "Cor. 3.3": "Eq. 7", "Eq. 16, Corollary A": "Eq. 16"}
    return bare.get(paper.source, paper.source)


def agreement(expected: Expected, measured: int) -> str:
    """The verb of a sentence about theory: it agrees, or says another number."""
    return (
        "agrees"
        if expected.value == measured
        else f"says {expected.value}: they DISAGREE"
    )


def say_theory(expected: Expected, measured: int) -> str:
    """Whether theory agrees with a measurement, and its source; empty where there is no
    formula."""
    if expected.value is None:
        return ""
    return (
        f"Theory {agreement(expected, measured)}: {expected.source}, {expected.status}."
    )
