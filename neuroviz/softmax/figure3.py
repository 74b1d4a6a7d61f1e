"""Figure 3 of the paper: the dimension of uniform networks against their width,
measured and predicted.

For each width δ: the exact rank, the rank in float64 with its gap, what theory says,
and, where asked for, what the row-by-row float32 procedure reads off:

    weights and inputs N(0, 1) in float32, the gradient of every output number as a row,
    and torch.linalg.matrix_rank: how many σ_i > max(rows, columns) · 1.2e−7 · σ_1.

torch, which only this procedure needs, is imported where it is used.
"""

import csv
import io
from collections.abc import Generator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import expected_dimension
from neuroviz.kit.measured import measure_dimension, rank_by_inputs
from neuroviz.kit.settings import seed, switch, whole
from neuroviz.kit.steps import in_steps
from neuroviz.rank.checks import whole_number
from neuroviz.rank.results import Measurement

if TYPE_CHECKING:
    import torch

KINDS = ("softmax", "lightning")
_QUICK = 300  # milliseconds


@dataclass(frozen=True)
class Figure3Setting:
    """Which networks to measure, and how. The defaults are the grid of the paper's
    Figure 3.

    Attributes:
        layers, tokens, head_dim: l, t and a; all widths are δ.
        first, last: the ends of the widths δ, in either order.
        lightning: whether to measure lightning networks beside those with softmax.
        peer: whether to run the row-by-row float32 procedure as well.
        inputs: N, its number of inputs.
        runs: how often it is run, from seed, seed + 1, …; the largest rank counts.
        seed: what all random points are drawn from.

    Raises:
        ValueError: if a number is not a whole number in its range.
    """

    layers: int = whole("layers l", 2, 1, 4)
    head_dim: int = whole("head dimension a", 2, 1, 4)
    first: int = whole("widths δ, one end", 3, 1, 12)
    last: int = whole("the other end", 10, 1, 12)
    lightning: bool = switch("lightning")
    peer: bool = switch(
        "float32",
        tooltip=(
            "the row-by-row procedure: 10 to 20 seconds for these 8 widths and 5 runs"
        ),
    )
    tokens: int = whole("tokens t", 3, 1, 6, more=True)
    inputs: int = whole("its inputs N", 250, 10, 250, step=10, more=True)
    runs: int = whole("its runs", 5, 1, 20, more=True)
    seed: int = seed()

    def __post_init__(self) -> None:
        sizes = ("layers", "tokens", "head_dim", "first", "last", "inputs", "runs")
        for name in sizes:
            whole_number(name, getattr(self, name))
        whole_number("seed", self.seed, least=0)

    @property
    def span(self) -> tuple[int, int]:
        """The smallest and the largest δ: first and last may stand in either order."""
        return min(self.first, self.last), max(self.first, self.last)

    @property
    def is_slow(self) -> bool:
        """The float32 procedure has to load torch first. The rest was fitted on a
        laptop-like core."""
        estimate = sum(5 + 4e-4 * arch.num_parameters**2 for arch in self.architectures)
        return self.peer or estimate > _QUICK

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of attention to measure."""
        return KINDS if self.lightning else KINDS[:1]

    @property
    def architectures(self) -> tuple[Architecture, ...]:
        """All networks: kind by kind, by increasing width."""
        first, last = self.span
        found = []
        for kind in self.kinds:
            for d in range(first, last + 1):
                found.append(
                    Architecture.uniform(
                        d, self.head_dim, self.layers, self.tokens, kind
                    )
                )
        return tuple(found)


@dataclass(frozen=True)
class Float32Rank:
    """What the row-by-row float32 procedure reads off. Evidence: neither a bound nor a
    proof.

    Attributes:
        value: the largest rank of all runs; None where every run overflowed.
        tolerance: relative to σ_1: what is not larger counts as zero.
        singular_values: σ_i / σ_1 of the run with the largest rank; empty where every
            run overflowed.
        num_inputs, runs: as in `Figure3Setting`.
        enough: how many inputs show the whole dimension, found exactly; with fewer, no
            rank can be right.
        seed: of the run with the largest rank.
        note: in a sentence.
    """

    value: int | None
    tolerance: float
    singular_values: np.ndarray = field(compare=False, repr=False)
    num_inputs: int
    runs: int
    enough: int
    seed: int
    note: str


@dataclass(frozen=True)
class Figure3Point:
    """One network: the exact rank, that in float64, what theory says, and what else was
    asked for.

    Attributes:
        arch: the network; all its widths are δ.
        exact, floating: the measurements.
        expected: what theory says; never used for a measurement.
        float32: by the row-by-row procedure; None where it was not asked for.
    """

    arch: Architecture
    exact: Measurement
    floating: Measurement
    expected: Expected
    float32: Float32Rank | None = None

    @property
    def width(self) -> int:
        """δ."""
        return self.arch.widths[0]

    @property
    def on_formula(self) -> bool:
        """Whether the exact rank is what theory says."""
        return self.exact.value == self.expected.value

    @property
    def float32_is_wrong(self) -> bool:
        """Whether the float32 procedure was asked, and did not find the exact rank."""
        return self.float32 is not None and self.float32.value != self.exact.value

    @property
    def float32_difference(self) -> int | None:
        """What the float32 procedure reads less the exact rank; None where there is
        nothing to compare."""
        if self.float32 is None or self.float32.value is None:
            return None
        return self.float32.value - self.exact.value


@dataclass(frozen=True)
class Figure3Study:
    """All points of the figure: kind by kind, by increasing width."""

    setting: Figure3Setting
    points: tuple[Figure3Point, ...]

    def of(self, kind: str) -> tuple[Figure3Point, ...]:
        """The points of one kind of attention; empty if it was not measured."""
        return tuple(point for point in self.points if point.arch.attention == kind)

    def to_csv(self) -> str:
        """One line for each network, under a line of names.

        float32 is empty where the procedure was not run (then float32_inputs is empty
        too) or overflowed.

        >>> print(study_figure3(Figure3Setting(last=4)).to_csv()[:56])
        delta,attention,layers,tokens,head_dim,parameters,exact,
        """
        rows = [self._line(point) for point in self.points]
        text = io.StringIO()
        table = csv.DictWriter(text, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
        return text.getvalue()

    def _line(self, point: Figure3Point) -> dict[str, object]:
        """By column; None is written as an empty field."""
        arch = point.arch
        exact = point.exact
        floating = point.floating
        theory = point.expected
        read = point.float32
        return {
            "delta": point.width,
            "attention": arch.attention,
            "layers": arch.num_layers,
            "tokens": arch.tokens,
            "head_dim": self.setting.head_dim,
            "parameters": arch.num_parameters,
            "exact": exact.value,
            "prime": exact.prime,
            "error_bound": f"{exact.error_bound:.6g}",
            "float": floating.value,
            "gap": f"{floating.gap:.6g}",
            "decided": "yes" if floating.decided else "no",
            "float32": None if read is None else read.value,
            "formula": theory.value,
            "status": theory.status,
            "source": theory.source,
            "seed": self.setting.seed,
            "float32_inputs": None if read is None else read.num_inputs,
            "float32_runs": None if read is None else read.runs,
        }


@in_steps
def study_figure3(setting: Figure3Setting) -> Generator[str, None, Figure3Study]:
    """Measure the dimension of every network of the figure.

    >>> [point.exact.value for point in study_figure3(Figure3Setting(last=5)).points]
    [25, 40, 57]
    """
    points = []
    for arch in setting.architectures:
        yield f"{arch.attention}, δ = {arch.widths[0]}"
        points.append(_point(arch, setting))
    return Figure3Study(setting, tuple(points))


def _point(arch: Architecture, setting: Figure3Setting) -> Figure3Point:
    peer = None
    if setting.peer:
        peer = float32_rank(arch, setting.seed, setting.inputs, setting.runs)
    return Figure3Point(
        arch=arch,
        exact=measure_dimension(arch, seed=setting.seed),
        floating=measure_dimension(arch, method="float", seed=setting.seed),
        expected=expected_dimension(arch),
        float32=peer,
    )


# The row-by-row float32 procedure


def procedure_jacobian(arch: Architecture, seed: int, inputs: int) -> "torch.Tensor":
    """The matrix whose rank the float32 procedure takes: ∂(all outputs on N inputs) / ∂
    weights.

    All weights and inputs are N(0, 1), drawn in float32. The procedure takes one
    `backward()` for each of the N · t · d_l output numbers; `vmap(jacrev)` gives the
    same rows up to rounding (about 1e−6 of the largest entry) in a hundredth of the
    time.

    Args:
        seed: of torch's generator.
        inputs: N.

    Returns:
        Shape (N · t · d_l, number of parameters).

    >>> procedure_jacobian(Architecture((2, 2), (1,)), seed=0, inputs=3).shape
    torch.Size([18, 8])
    """
    from neuroviz.attention.modules import AttentionNetwork, torch

    generator = torch.Generator().manual_seed(seed)
    network = AttentionNetwork(arch)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.normal_(generator=generator)
    X = torch.randn(inputs, arch.widths[0], arch.tokens, generator=generator)
    weights = {
        name: parameter.detach() for name, parameter in network.named_parameters()
    }

    def outputs(weights: dict, x: "torch.Tensor") -> "torch.Tensor":
        return torch.func.functional_call(network, weights, (x,)).flatten()

    # For each matrix a block of shape (N, t · d_l, *its own).
    blocks = torch.func.vmap(torch.func.jacrev(outputs), in_dims=(None, 0))(weights, X)
    return torch.cat(
        [block.flatten(0, 1).flatten(1) for block in blocks.values()], dim=1
    )


@lru_cache(maxsize=1024)
def float32_rank(
    arch: Architecture, seed: int = 0, inputs: int = 250, runs: int = 1
) -> Float32Rank:
    """The dimension as the row-by-row float32 procedure reads it: the largest rank of
    some runs.

    The rank is `torch.linalg.matrix_rank` with its default tolerance. Rows are made all
    at once (`procedure_jacobian`), which changes their rounding only.

    Raises:
        ImportError: without torch; it says how to get it.

    >>> arch = Architecture.uniform(3, 2, 2, attention="softmax")
    >>> float32_rank(arch, inputs=100).value
    25
    """
    from threadpoolctl import threadpool_limits

    from neuroviz.attention.modules import torch

    rows = inputs * arch.tokens * arch.widths[-1]
    size = max(rows, arch.num_parameters)
    # The default of `matrix_rank`, relative to σ_1
    tolerance = size * float(torch.finfo(torch.float32).eps)
    enough = rank_by_inputs(arch, seed).enough
    value: int | None = None
    best_run = seed
    sigma = np.zeros(0)
    with threadpool_limits(1):  # torch's threads and numpy's wait for one another
        for run in range(seed, seed + runs):
            J = procedure_jacobian(arch, run, inputs)
            if not torch.isfinite(J).all():
                continue
            rank = int(torch.linalg.matrix_rank(J))
            if value is None or rank > value:
                value = rank
                best_run = run
                sigma = torch.linalg.svdvals(J).numpy().astype(np.float64)
    if sigma.size and sigma[0] > 0:
        sigma = sigma / sigma[0]
    note = (
        "entries of the Jacobian leave the range of float32 in every run: no rank is "
        "found"
    )
    if value is not None:
        times = "one run"
        if runs > 1:
            times = f"the largest of {runs} runs, from seed {best_run}"
        note = (
            f"{times}, on {inputs} inputs; below {tolerance:.1g} of the largest, "
            "singular values count as 0"
        )
        if inputs < enough:
            note += f"; {enough} inputs are needed"
    return Float32Rank(
        value=value,
        tolerance=tolerance,
        singular_values=sigma,
        num_inputs=inputs,
        runs=runs,
        enough=enough,
        seed=best_run,
        note=note,
    )
