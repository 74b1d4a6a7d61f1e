"""What is measured of one architecture: its dimension, its spectrum, other widths, fewer inputs."""

from dataclasses import dataclass

from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import Expected, expected_dimension, paper_formula
from neuroviz.engine.measure import InputsCurve, Measurement, measure_dimension, rank_by_inputs
from neuroviz.engine.orbit_slice import num_columns
from neuroviz.kit.controls import typed_head_dims
from neuroviz.kit.settings import choice, seed, switch, text, whole

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS, MAX_INPUTS = 12, 12, 6, 8, 40
_WIDTHS_SHOWN = 8
# Sizes up to which a part is drawn: columns of exact ranks, parameters of a spectrum. Measured on
# a laptop-like core, the first limits keep a move under about 0.3 s, the others under some seconds.
_QUICK_PARAMETERS, _QUICK_COLUMNS = 450, 400  # some 0.2 s
_MOST_PARAMETERS, _MOST_COLUMNS = 900, 1500
_BESIDE = [("nothing", "nothing"), ("other widths", "widths"), ("number of inputs", "inputs")]


@dataclass(frozen=True)
class DimensionSetting:
    """A network, equal widths or not, what stands beside its spectrum, and how many inputs this uses."""

    width: int = whole("width δ", 4, 1, MAX_WIDTH)
    head_dim: int = whole("head dimension a", 2, 1, MAX_HEAD)
    tokens: int = whole("tokens t", 3, 1, MAX_TOKENS)
    layers: int = whole("layers l", 2, 1, MAX_LAYERS)
    kind: str = choice("attention", ATTENTION_KINDS)
    beside: str = choice("beside it", _BESIDE, more=True)
    equal: bool = switch("all widths equal δ", True, more=True)
    width_in: int = whole("input width d₀", 4, 1, MAX_WIDTH, more=True)
    width_out: int = whole("output width dₗ", 4, 1, MAX_WIDTH, more=True)
    head_dims: str = text("a per layer", placeholder="such as 2,2,1")
    seed: int = seed()
    inputs: int = whole("inputs (0: enough)", 0, 0, MAX_INPUTS, more=True)

    def __post_init__(self) -> None:
        _ = self.arch  # refuses what makes no network

    @property
    def arch(self) -> Architecture:
        """The network."""
        return self.at(self.varied)

    @property
    def varies(self) -> str:
        """The widths that the curve moves; a single layer has no inner width."""
        return "all" if self.equal else "inner" if self.layers > 1 else "input"

    @property
    def varied(self) -> int:
        """Their value."""
        return self.width_in if self.varies == "input" else self.width

    def at(self, width: int) -> Architecture:
        """The same architecture with the varied widths set to another value."""
        widths = [width] * (self.layers + 1)
        if not self.equal:
            widths[0], widths[-1] = width if self.layers == 1 else self.width_in, self.width_out
        head_dims = (self.head_dim,) * self.layers
        if typed := self.head_dims.strip():
            instead = ", or clear the box to use the slider a"
            head_dims = typed_head_dims(typed, "2,2,1", MAX_HEAD, self.layers, instead)
        return Architecture(widths, head_dims, self.tokens, self.kind)

    @property
    def is_slow(self) -> bool:
        """From sizes alone, so that it never depends on the machine."""
        arch = self.arch
        return arch.num_parameters > _QUICK_PARAMETERS or num_columns(arch) > _QUICK_COLUMNS


@dataclass(frozen=True)
class WidthPoint:
    """One point of the curve dimension against width: what was measured there, and what theory says."""

    width: int
    expected: Expected
    paper: Expected
    measured: Measurement | None


@dataclass(frozen=True)
class DimensionStudy:
    """Everything the figure shows about one architecture.

    Attributes:
        setting, arch: as asked for.
        exact: its dimension, measured exactly.
        spectrum: the float measurement, or None where the matrix is too large for a panel.
        expected, paper: what theory says; what the paper's formula says, applicable or not.
        widths: the points of the curve; empty where it is not asked for.
        inputs: the rank against the number of inputs; None where nobody asks, or it would take too long.
    """

    setting: DimensionSetting
    arch: Architecture
    exact: Measurement
    spectrum: Measurement | None
    expected: Expected
    paper: Expected
    widths: tuple[WidthPoint, ...]
    inputs: InputsCurve | None

    @property
    def width_name(self) -> str:
        """What the axis of the curve is called for short."""
        return "d₀" if self.setting.varies == "input" else "δ"

    @property
    def visible(self) -> int:
        """How many directions show on the inputs in use: the dimension, unless the reader chose too few."""
        if not self.setting.inputs or self.inputs is None:
            return self.exact.value
        ranks = self.inputs.ranks
        return ranks[min(self.setting.inputs, len(ranks)) - 1]


def study_dimension(setting: DimensionSetting) -> DimensionStudy:
    """Measure everything that the figure of one architecture shows."""
    arch, seed, inputs, spectrum, curve = setting.arch, setting.seed, setting.inputs or None, None, None
    if arch.num_parameters <= _MOST_PARAMETERS:
        spectrum = measure_dimension(arch, method="float", seed=seed, inputs=inputs)
    if (inputs or setting.beside == "inputs") and num_columns(arch) <= _MOST_COLUMNS:
        curve = rank_by_inputs(arch, seed)
    exact, widths = (
        measure_dimension(arch, seed=seed),
        _by_width(setting) if setting.beside == "widths" else (),
    )
    theory = expected_dimension(arch), paper_formula(arch)
    return DimensionStudy(setting, arch, exact, spectrum, *theory, widths, curve)


def _by_width(setting: DimensionSetting) -> tuple[WidthPoint, ...]:
    """Measured at the chosen width, then at its neighbours while the budget lasts.

    The neighbours may cost about as much as the network itself. Costs are milliseconds, estimated from
    the number of columns, so that the picture never depends on the machine; with one token no slice is
    full, and it is measured twice.
    """
    arch, here, found = setting.arch, setting.varied, []
    first = max(1, min(here - _WIDTHS_SHOWN // 2, MAX_WIDTH - _WIDTHS_SHOWN + 1))
    nets = {width: setting.at(width) for width in range(first, first + _WIDTHS_SHOWN)}
    budget, chosen = 20 + 2e-4 * arch.num_parameters**2, {here}
    for width in sorted(nets, key=lambda width: abs(width - here))[1:]:
        budget -= (1 + 2e-4 * num_columns(nets[width]) ** 2) * (2 if arch.tokens == 1 else 1)
        if budget < 0:
            break
        chosen.add(width)
    for width, at in nets.items():
        measured = measure_dimension(at, seed=setting.seed) if width in chosen else None
        found.append(WidthPoint(width, expected_dimension(at), paper_formula(at), measured))
    return tuple(found)


# What theory says, in the words that several panels share


def would_mislead(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's formula, taken outside its hypotheses, would give another number."""
    return paper.status == "outside hypotheses" and paper.value != expected.value


def has_a_place(paper: Expected, expected: Expected) -> bool:
    """Whether that number can stand on an axis of dimensions: far outside, it may be below 1."""
    return would_mislead(paper, expected) and paper.value >= 1


def paper_name(paper: Expected) -> str:
    """The paper's number of the bare formula, which is all that is left outside its hypotheses."""
    bare = {"Cor. 3.8": "Eq. 14", "Cor. 3.3": "Eq. 7", "Eq. 16, Corollary A": "Eq. 16"}
    return bare.get(paper.source, paper.source)


def agreement(expected: Expected, measured: int) -> str:
    """The verb of a sentence about theory: it agrees, or says another number."""
    return "agrees" if expected.value == measured else f"says {expected.value}: they DISAGREE"


def say_theory(expected: Expected, measured: int) -> str:
    """Whether theory agrees with a measurement, and what it rests on; empty where there is no formula."""
    if expected.value is None:
        return ""
    said = agreement(expected, measured)
    return f"Theory {said}: {expected.source}, {expected.status}; {expected.note}."
