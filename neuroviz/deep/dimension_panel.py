"""From an architecture to its dimension: spectrum, dimension against width, rank against inputs."""

from dataclasses import dataclass, replace

import ipywidgets as widgets

from neuroviz.deep.dimension_figure import DimensionStudy, WidthPoint, dimension_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import expected_dimension, paper_formula
from neuroviz.engine.measure import measure_dimension, rank_by_inputs
from neuroviz.engine.orbit_slice import gauge_slice
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import whole_numbers
from neuroviz.kit.panel import Panel

MAX_WIDTH, MAX_HEAD, MAX_TOKENS, MAX_LAYERS, MAX_INPUTS = 12, 12, 6, 8, 40
_WIDTHS_SHOWN = 8
# Sizes up to which a part is drawn: columns of exact ranks, parameters of a spectrum. Measured on
# a laptop-like core, the first limits keep a move under about 0.3 s, the others under some seconds.
_QUICK_PARAMETERS, _QUICK_COLUMNS = 450, 400  # some 0.2 s
_MOST_PARAMETERS, _MOST_COLUMNS = 900, 1500


@dataclass(frozen=True)
class DimensionRequest:
    """What the controls ask for."""

    arch: Architecture
    varies: str  # the widths that the curve moves: "all", "inner" or "input"
    seed: int
    inputs: int | None

    @property
    def width(self) -> int:
        """The value of the varied widths."""
        return self.arch.widths[1 if self.varies == "inner" else 0]

    def at_width(self, width: int) -> Architecture:
        """The same architecture with the varied widths set to another value."""
        d = self.arch.widths
        if self.varies == "all":
            widths = (width,) * len(d)
        elif self.varies == "inner":
            widths = (d[0], *(width,) * (len(d) - 2), d[-1])
        else:
            widths = (width, *d[1:])
        return replace(self.arch, widths=widths)


def study_dimension(request: DimensionRequest) -> DimensionStudy:
    """Measure everything that the figure of one architecture shows."""
    arch, seed = request.arch, request.seed
    columns = gauge_slice(arch).num_free
    affordable = _affordable_widths(request)
    points = tuple(
        WidthPoint(
            width,
            expected_dimension(at),
            paper_formula(at),
            measure_dimension(at, seed=seed) if width in affordable else None,
        )
        for width in _widths_shown(request.width)
        for at in [request.at_width(width)]
    )
    return DimensionStudy(
        arch=arch,
        exact=measure_dimension(arch, seed=seed),
        spectrum=(
            measure_dimension(arch, method="float", seed=seed, inputs=request.inputs)
            if arch.num_parameters <= _MOST_PARAMETERS
            else None
        ),
        expected=expected_dimension(arch),
        paper=paper_formula(arch),
        varies=request.varies,
        width=request.width,
        widths=points,
        inputs=rank_by_inputs(arch, seed) if columns <= _MOST_COLUMNS else None,
        chosen_inputs=request.inputs,
    )


def _widths_shown(here: int) -> range:
    first = max(1, min(here - _WIDTHS_SHOWN // 2, MAX_WIDTH - _WIDTHS_SHOWN + 1))
    return range(first, first + _WIDTHS_SHOWN)


def _affordable_widths(request: DimensionRequest) -> set[int]:
    """The widths of the curve to measure: the chosen one, then its neighbours while the budget lasts.

    The neighbours illustrate; they may cost about as much as what they stand beside. Costs are
    estimated, in milliseconds, from the number of columns, so that the picture never depends on the
    machine; a slice that is known not to be full, with one token, is measured twice.
    """
    arch = request.arch
    budget = 20 + 2e-4 * arch.num_parameters**2
    chosen = {request.width}
    for width in sorted(_widths_shown(request.width), key=lambda width: abs(width - request.width)):
        columns = gauge_slice(request.at_width(width)).num_free
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

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def slider(label: str, value: int, most: int, least: int = 1) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        first = {
            "width": slider("width δ", 4, MAX_WIDTH),
            "head_dim": slider("head dimension a", 2, MAX_HEAD),
            "tokens": slider("tokens t", 3, MAX_TOKENS),
            "layers": slider("layers l", 2, MAX_LAYERS),
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
        }
        more = {
            "equal": widgets.Checkbox(value=True, description="all widths equal δ"),
            "width_in": slider("input width d₀", 4, MAX_WIDTH),
            "width_out": slider("output width dₗ", 4, MAX_WIDTH),
            "head_dims": widgets.Text(
                value="", placeholder="such as 2,2,1", description="a per layer", continuous_update=False
            ),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
            "inputs": slider("inputs (0: enough)", 0, MAX_INPUTS, least=0),
        }
        return first, more

    def _arrange(self) -> None:
        equal = self.controls["equal"].value
        self.controls["width_in"].disabled = self.controls["width_out"].disabled = equal
        # A single layer of unequal widths has no inner width.
        self.controls["width"].disabled = not equal and self.controls["layers"].value == 1
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    def _read(self) -> DimensionRequest:
        value = {name: control.value for name, control in self.controls.items()}
        layers, width = value["layers"], value["width"]
        if value["equal"]:
            widths = (width,) * (layers + 1)
            varies = "all"
        else:
            widths = (value["width_in"], *(width,) * (layers - 1), value["width_out"])
            # A single layer has no inner width: the curve runs over the input width instead.
            varies = "inner" if layers > 1 else "input"
        head_dims = (value["head_dim"],) * layers
        if text := value["head_dims"].strip():
            head_dims = _head_dims(text, layers)
        arch = Architecture(widths, head_dims, value["tokens"], value["kind"])
        return DimensionRequest(arch, varies, value["seed"], value["inputs"] or None)

    _answer = staticmethod(study_dimension)

    def _is_slow(self, request: DimensionRequest) -> bool:
        arch = request.arch
        return arch.num_parameters > _QUICK_PARAMETERS or gauge_slice(arch).num_free > _QUICK_COLUMNS

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


def _head_dims(text: str, layers: int) -> tuple[int, ...]:
    """Head dimensions from text such as 2,2,1: one for each layer."""
    numbers = whole_numbers("a per layer", text, "2,2,1", MAX_HEAD)
    if len(numbers) != layers:
        raise ValueError(
            f"a per layer needs {layers} numbers, one for each layer; got {len(numbers)} in {text!r}: "
            "add or remove some, or clear the box to use the slider a"
        )
    return numbers
