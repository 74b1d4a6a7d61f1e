"""From an architecture to its dimension: spectrum, dimension against width, rank against inputs."""

from dataclasses import dataclass

from neuroviz.deep.dimension_figure import DimensionStudy, WidthPoint, dimension_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import expected_dimension, paper_formula
from neuroviz.engine.measure import measure_dimension, rank_by_inputs
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import typed_head_dims
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, seed, switch, text, whole

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS, MAX_INPUTS = 12, 12, 6, 8, 40
_WIDTHS_SHOWN = 8
# Sizes up to which a part is drawn: columns of exact ranks, parameters of a spectrum. Measured on
# a laptop-like core, the first limits keep a move under about 0.3 s, the others under some seconds.
_QUICK_PARAMETERS, _QUICK_COLUMNS = 450, 400  # some 0.2 s
_MOST_PARAMETERS, _MOST_COLUMNS = 900, 1500


@dataclass(frozen=True)
class DimensionSetting:
    """A network, equal widths or not, and how many inputs the spectrum is measured on."""

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
        widths = (width,) * (self.layers + 1)
        if not self.equal:
            first = width if self.layers == 1 else self.width_in
            widths = (first, *widths[1:-1], self.width_out)
        head_dims = (self.head_dim,) * self.layers
        if typed := self.head_dims.strip():
            instead = ", or clear the box to use the slider a"
            head_dims = typed_head_dims(typed, "2,2,1", MAX_HEAD, self.layers, instead)
        return Architecture(widths, head_dims, self.tokens, self.kind)

    @property
    def is_slow(self) -> bool:
        """From sizes alone, so that it never depends on the machine."""
        arch = self.arch
        return arch.num_parameters > _QUICK_PARAMETERS or gauge_slice(arch).num_free > _QUICK_COLUMNS


def study_dimension(request: DimensionSetting) -> DimensionStudy:
    """Measure everything that the figure of one architecture shows."""
    arch, seed, inputs = request.arch, request.seed, request.inputs or None
    columns = gauge_slice(arch).num_free
    affordable = _affordable_widths(request)
    points = tuple(
        WidthPoint(
            width,
            expected_dimension(at),
            paper_formula(at),
            measure_dimension(at, seed=seed) if width in affordable else None,
        )
        for width in _widths_shown(request.varied)
        for at in [request.at(width)]
    )
    return DimensionStudy(
        arch=arch,
        exact=measure_dimension(arch, seed=seed),
        spectrum=(
            measure_dimension(arch, method="float", seed=seed, inputs=inputs)
            if arch.num_parameters <= _MOST_PARAMETERS
            else None
        ),
        expected=expected_dimension(arch),
        paper=paper_formula(arch),
        varies=request.varies,
        width=request.varied,
        widths=points,
        inputs=rank_by_inputs(arch, seed) if columns <= _MOST_COLUMNS else None,
        chosen_inputs=inputs,
    )


def _widths_shown(here: int) -> range:
    first = max(1, min(here - _WIDTHS_SHOWN // 2, MAX_WIDTH - _WIDTHS_SHOWN + 1))
    return range(first, first + _WIDTHS_SHOWN)


def _affordable_widths(request: DimensionSetting) -> set[int]:
    """The widths of the curve to measure: the chosen one, then its neighbours while the budget lasts.

    The neighbours illustrate; they may cost about as much as what they stand beside. Costs are
    estimated, in milliseconds, from the number of columns, so that the picture never depends on the
    machine; a slice that is known not to be full, with one token, is measured twice.
    """
    arch = request.arch
    budget = 20 + 2e-4 * arch.num_parameters**2
    chosen = {request.varied}
    for width in sorted(_widths_shown(request.varied), key=lambda width: abs(width - request.varied)):
        columns = gauge_slice(request.at(width)).num_free
        if width not in chosen:
            budget -= (1 + 2e-4 * columns**2) * (2 if arch.tokens == 1 else 1)
            if budget < 0:
                break
            chosen.add(width)
    return chosen


class DimensionExplorer(Panel):
    """How many dimensions the functions of a deep attention network have, measured while you move it.

    Controls: δ, a, t, layers, kind; under "More": equal widths, d₀, d_l, a per layer (such as
    2,2,1), seed, inputs (0: as many as are needed). See `Panel` for what all panels share.

    >>> panel = DimensionExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(":")[0]
    'lightning 4→4→4→4, a = 2, 2, 2, t = 3'
    """

    title = "How many dimensions?"
    setting = DimensionSetting

    def _arrange(self) -> None:
        equal = self.controls["equal"].value
        self.controls["width_in"].disabled = self.controls["width_out"].disabled = equal
        # A single layer of unequal widths has no inner width.
        self.controls["width"].disabled = not equal and self.controls["layers"].value == 1
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    _answer = staticmethod(study_dimension)

    draw = staticmethod(dimension_parts)

    def _badge(self, answer: DimensionStudy) -> str:
        return measured_badge(answer.exact) + theory_badge(answer.expected, answer.exact.value)

    def _describe(self, answer: DimensionStudy) -> str:
        arch, exact, expected = answer.arch, answer.exact, answer.expected
        sure = (
            "full rank, a proof" if exact.error_bound == 0 else f"wrong with chance ≤ {exact.error_bound:.0e}"
        )
        parts = [
            f"{arch}: of {arch.num_parameters} parameters, {exact.value} "
            f"dimension{'s remain' if exact.value != 1 else ' remains'} (exact, {sure})."
        ]
        if expected.value is not None:
            verdict = "agrees" if expected.value == exact.value else f"says {expected.value}: they DISAGREE"
            parts.append(f"Theory {verdict}: {expected.source}, {expected.status}; {expected.note}.")
        spectrum = answer.spectrum
        if spectrum is not None and not spectrum.decided:
            parts.append(f"Floating point reads {spectrum.value} and cannot decide.")
        elif spectrum is not None and spectrum.value != answer.visible:
            parts.append(f"Floating point reads {spectrum.value}, against the exact rank.")
        if answer.visible < exact.value:
            inputs = answer.chosen_inputs
            parts.append(
                f"On {inputs} input{'s' if inputs > 1 else ''} only {answer.visible} directions show; "
                f"{answer.inputs.enough} are enough."
            )
        return " ".join(parts)
