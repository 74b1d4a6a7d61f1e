"""From an architecture to its dimension: spectrum, dimension against width, rank against inputs."""

from neuroviz.deep.dimension import DimensionSetting, DimensionStudy, say_theory, study_dimension
from neuroviz.deep.dimension_figure import dimension_parts
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel


class DimensionExplorer(Panel):
    """How many dimensions the functions of a deep attention network have, measured while you move it.

    Controls: δ, a, t, layers, kind; under "More": beside (nothing, widths or inputs: what stands beside
    the spectrum), equal widths, d₀, d_l, a per layer (such as 2,2,1), seed, inputs (0: as many as are
    needed). See `Panel` for what all panels share.

    >>> panel = DimensionExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(":")[0]
    'lightning 4→4→4→4, a = 2, 2, 2, t = 3'
    """

    title, setting = "How many dimensions?", DimensionSetting
    _answer, draw = staticmethod(study_dimension), staticmethod(dimension_parts)

    def _arrange(self) -> None:
        equal = self.controls["equal"].value
        self.controls["width_in"].disabled = self.controls["width_out"].disabled = equal
        # A single layer of unequal widths has no inner width.
        self.controls["width"].disabled = not equal and self.controls["layers"].value == 1
        self.controls["head_dim"].disabled = bool(self.controls["head_dims"].value.strip())

    def _badge(self, answer: DimensionStudy) -> str:
        return measured_badge(answer.exact) + theory_badge(answer.expected, answer.exact.value)

    def _describe(self, answer: DimensionStudy) -> str:
        arch, exact, spectrum = answer.arch, answer.exact, answer.spectrum
        sure = f"wrong with chance ≤ {exact.error_bound:.0e}" if exact.error_bound else "full rank, a proof"
        said = [
            f"{arch}: of {arch.num_parameters} parameters, {exact.value} "
            f"dimension{'s remain' if exact.value != 1 else ' remains'} (exact, {sure}).",
            say_theory(answer.expected, exact.value),
        ]
        if spectrum is not None and not spectrum.decided:
            said.append(f"Floating point reads {spectrum.value} and cannot decide.")
        elif spectrum is not None and spectrum.value != answer.visible:
            said.append(f"Floating point reads {spectrum.value}, against the exact rank.")
        if answer.visible < exact.value:
            inputs = f"{answer.setting.inputs} input{'s' if answer.setting.inputs > 1 else ''}"
            said.append(
                f"On {inputs} only {answer.visible} directions show; {answer.inputs.enough} are enough."
            )
        return " ".join(filter(None, said))
