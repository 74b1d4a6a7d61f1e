"""What a figure about one architecture shows: results, put together and nothing computed."""

from dataclasses import dataclass

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import InputsCurve, Measurement


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
        arch: the architecture.
        exact: its dimension, measured exactly.
        spectrum: the float measurement, or None where the matrix is too large for a panel.
        expected, paper: what theory says; what the paper's formula says, applicable or not.
        varies: which widths the curve moves together: "all", "inner" or "input".
        width: their value in `arch`.
        widths: the points of the curve.
        inputs: the rank against the number of inputs, or None where it would take too long.
        chosen_inputs: the number of inputs the reader fixed for the spectrum, or None for enough.
    """

    arch: Architecture
    exact: Measurement
    spectrum: Measurement | None
    expected: Expected
    paper: Expected
    varies: str
    width: int
    widths: tuple[WidthPoint, ...]
    inputs: InputsCurve | None
    chosen_inputs: int | None = None

    @property
    def width_name(self) -> str:
        """What the axis of the curve is called for short."""
        return "d₀" if self.varies == "input" else "δ"

    @property
    def visible(self) -> int:
        """How many directions show on the inputs in use: the dimension, unless the reader chose too few."""
        if self.chosen_inputs is None or self.inputs is None:
            return self.exact.value
        ranks = self.inputs.ranks
        return ranks[min(self.chosen_inputs, len(ranks)) - 1]


def would_mislead(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's formula, taken outside its hypotheses, would give another number."""
    return paper.status == "outside hypotheses" and paper.value != expected.value


def has_a_place(paper: Expected, expected: Expected) -> bool:
    """Whether that number can stand on an axis of dimensions: far outside, it may be below 1."""
    return would_mislead(paper, expected) and paper.value >= 1


def paper_name(paper: Expected) -> str:
    """The paper's number of the bare formula, which is all that is left outside its hypotheses."""
    return {"Cor. 3.8": "Eq. 14", "Cor. 3.3": "Eq. 7", "Eq. 16, Corollary A": "Eq. 16"}.get(
        paper.source, paper.source
    )
