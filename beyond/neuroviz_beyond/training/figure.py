"""Many runs of gradient flow in three views: loss, what is conserved, and where the
runs end."""

from dataclasses import dataclass
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import BOTTOM, LEFT, TOP, Parts, Plot, compose
from neuroviz.kit.words import power_of_ten, rough, share_in_words
from neuroviz.singular.flow import BOUNDARY, SINGULAR, Attraction, Flow

RUNS_DRAWN = 60
RUNS_COMPARED = 5
# ends of the logarithmic axes
LOWEST_LOSS = -8.0
LOWEST_RATIO = -10.0
LOWEST_ANGLE = -6.0
# a loss that exceeds the least possible one by less counts as reaching it
REACHED = 1e-6
# a target with a smaller least possible loss is a layer, but for rounding
IS_LAYER = 1e-20


class Ending(NamedTuple):
    """How one kind of end is drawn and said."""

    where: str
    dash: str
    dashes: str
    symbol: str
    glyph: str
    said: str


ENDINGS = {
    "smooth": Ending("smooth", "solid", "──", "circle-open", "○", "smooth: rank A = 2"),
    "singular": Ending(
        "singular only", "dash", "– –", "triangle-up", "▲", "singular only: rank A = 1"
    ),
    "boundary": Ending(
        "at the boundary",
        "dot",
        "· · ·",
        "triangle-down",
        "▼",
        "boundary: also keys and values share a form",
    ),
}


@dataclass(frozen=True, eq=False)
class FlowStudy:
    """N runs towards one kind of target, and how they ended.

    Attributes:
        flow: the runs, seen at times that are equally spaced on a logarithmic axis, and
            at the last.
        counts: the shares that end at singular and boundary points.
        target: in words, where the runs are drawn to.
        kind: of a target that the reader placed, where it lies; "" for random targets.
        known: of random targets, the share that a long count gave.
    """

    flow: Flow
    counts: Attraction
    target: str
    kind: str
    known: str

    @property
    def drift(self) -> dict[str, float]:
        """Name of each conserved quantity → its largest change in any run."""
        return {
            name: float(np.abs(path - path[0]).max())
            for name, path in self.flow.conserved.items()
        }

    @property
    def runs(self) -> int:
        """N."""
        return self.flow.loss.shape[1]


def flow_parts(study: FlowStudy) -> Parts:
    """The three views."""
    return compose(*(draw(study).view() for draw in (losses, conserved, places)))


def losses(study: FlowStudy) -> Plot:
    """Upper left: loss against time, a line for each run, by how it ends."""
    plot = Plot("", (0.0, 0.45), (0.57, 1.0))
    flow = study.flow
    drawn = min(RUNS_DRAWN, study.runs)
    for end, style in ENDINGS.items():
        loss = flow.loss[1:, :drawn][:, flow.ends[:drawn] == end].T
        line = paths(flow, np.where(loss > 0, loss, np.nan))
        look = (color(end), 1.3, style.dash)
        hover = f"{style.where}: time %{{x:.3g}}, loss %{{y:.2g}}"
        plot.line(f"loss of runs that end {style.where}", *line, *look, hover=hover)
    top = ceil(log10(max(float(flow.loss[1:].max()), 1e-3)) + 0.1)
    plot.log_axis("x", *np.log10(flow.times[[1, -1]]), "", plain=True)
    plot.log_axis("y", LOWEST_LOSS, top, "loss", step=2)
    plot.headline(said_of_loss(flow.loss[-1], flow.least))
    # The bottom left corner stays free of lines.
    found = flow.ends[:drawn].tolist()
    key = [
        said(e, f"{s.dashes} {s.where}: {found.count(e)}")
        for e, s in ENDINGS.items()
        if e in found
    ]
    if drawn < study.runs:
        key.append(f"the first {drawn} of {study.runs} runs")
    plot.corner(key, LEFT, BOTTOM)
    return plot


def said_of_loss(last: np.ndarray, least: np.ndarray) -> str:
    """How many runs reach their target; where no layer has it, the least loss that a
    layer can have.

    >>> said_of_loss(np.array([1e-9, 0.2]), np.zeros(2))
    '1 of 2 runs reach their target'
    >>> said_of_loss(np.array([1e-9, 0.2]), np.array([1e-10, 0.1]))
    'no layer fits: 1 of 2 reach the least loss'
    """
    reached = int((last - least < REACHED).sum())
    runs = "every run" if reached == len(last) else f"{reached} of {len(last)}"
    lowest = rough(float(last.min()), floor)
    if (least < IS_LAYER).all():
        if not reached:
            return f"no run reaches its target: loss ≥ {lowest}"
        return (
            "every run reaches its target"
            if runs == "every run"
            else f"{runs} runs reach their target"
        )
    if not reached:
        return f"no layer fits, and no run ends nearest: loss ≥ {lowest}"
    return (
        f"no layer fits: {runs} {'reaches' if runs == 'every run' else 'reach'} the"
        " least loss"
    )


def conserved(study: FlowStudy) -> Plot:
    """Lower left: what theory calls conserved, and beside it what is not."""
    plot = Plot("2", (0.0, 0.45), (0.0, 0.34))
    flow = study.flow
    drawn = min(RUNS_DRAWN, study.runs)
    few = min(RUNS_COMPARED, drawn)
    samples = len(flow.times) - 1
    scalar = next(path for path in flow.conserved.values() if path.ndim == 2)[
        1:, :drawn
    ].T
    entries = np.zeros((0, samples))
    if matrix := [path for path in flow.conserved.values() if path.ndim == 4]:
        numbers = matrix[0][1:, :few].reshape(samples, -1, 4)
        # the three of a symmetric matrix
        entries = np.concatenate([numbers[:, :, i].T for i in (0, 1, 3)])
    first, moving = ("A", flow.A) if flow.Q is None else ("Q", flow.Q)
    moved = np.square(moving[1:, :few]).sum(axis=(-2, -1)).T
    for name, lines, role, dash, hover in (
        ("not conserved", moved, "ghost", "dot", f"‖{first}‖²"),
        ("conserved: entries of QQᵀ − KKᵀ", entries, "soft", "dash", "QQᵀ − KKᵀ"),
        ("conserved", scalar, "certified", "solid", f"‖{first}‖² − ‖V‖²"),
    ):
        plot.line(
            name,
            *paths(flow, lines),
            theme.color(role),
            1.3,
            dash,
            hover=f"{hover} = %{{y:.4f}}",
        )
    values = np.concatenate([moved.ravel(), entries.ravel(), scalar.ravel()])
    low = float(values.min())
    high = float(values.max())
    pad = 0.08 * max(high - low, 1e-3)
    title = f"time   (dotted, for comparison: ‖{first}‖², which moves)"
    plot.log_axis("x", *np.log10(flow.times[[1, -1]]), title, plain=True)
    plot.axis("y", low - pad, high + pad, nticks=4)
    names = ", ".join(reversed(study.drift))
    verb = " is conserved" if len(study.drift) == 1 else ""
    plot.headline(f"{names}{verb}: drift ≤ {rough(max(study.drift.values()), ceil)}")
    return plot


def places(study: FlowStudy) -> Plot:
    """Right: where the runs end, singular below a line and at the boundary left of
    another."""
    plot = Plot("3", (0.56, 1.0), (0.0, 1.0))
    flow = study.flow
    size = theme.size("marker")
    x = np.log10(np.maximum(flow.angle, 10.0**LOWEST_ANGLE)).round(4)
    y = np.log10(np.maximum(flow.ratio, 10.0**LOWEST_RATIO)).round(4)
    for end, style in ENDINGS.items():
        here = flow.ends == end
        pairs = zip(flow.ratio[here], flow.angle[here], strict=True)
        look = {
            "symbol": style.symbol,
            "size": size + (1 if end == "smooth" else 2),
            "color": color(end),
        }
        look |= {"opacity": 0.8, "line": {"width": 1.6, "color": color(end)}}
        more = {
            "customdata": [[f"{ratio:.1e}", f"{angle:.1e}"] for ratio, angle in pairs]
        }
        more["hover"] = (
            f"{style.where}: σ₂/σ₁ = %{{customdata[0]}}, sine of the angle"
            " %{customdata[1]}"
        )
        name = f"ends: {style.where}"
        places = (x[here].tolist(), y[here].tolist())
        plot.points(name, *places, look, cliponaxis=False, **more)
    clipped_axis(
        plot,
        "x",
        LOWEST_ANGLE,
        0.35,
        "sine of the angle between forms of keys and values",
    )
    # above 1 there is room for three lines of words
    clipped_axis(plot, "y", LOWEST_RATIO, 3.3, "σ₂/σ₁ of A")
    low = LOWEST_RATIO - 0.35
    left = LOWEST_ANGLE - 0.35
    wash = theme.color("wash")
    dotted = {"width": 2, "color": theme.color("boundary"), "dash": "dot"}
    plot.region((left, 0.35), (low, log10(SINGULAR)), {"width": 0}, wash)
    plot.region((left, log10(BOUNDARY)), (low, log10(SINGULAR)), dotted, wash)
    share = study.counts.singular
    ends = flow.ends.tolist()
    one = study.runs == share == 1
    plot.headline(f"{share_in_words(share, study.runs)} end{'s' * one} singular")
    plot.corner(
        [said(e, f"{s.glyph} {ends.count(e)} {s.said}") for e, s in ENDINGS.items()],
        LEFT,
        TOP,
    )
    return plot


def color(end: str) -> str:
    """Blue, a dark orange, and black or white: far apart in both modes, and the dash
    says it too."""
    if end == "singular":
        return theme.scale("diverging")[-1][1]
    return theme.color({"smooth": "layer 3", "boundary": "boundary"}[end])


def said(end: str, text: str) -> str:
    """Words in the colour of an end."""
    return f'<span style="color:{color(end)}">{text}</span>'


def paths(flow: Flow, values: np.ndarray) -> tuple[list, list]:
    """Many paths, shape (N, S), as one line with gaps, to six digits."""
    times = [*flow.times[1:].round(6).tolist(), None]
    digits = 10.0 ** (5 - np.floor(np.log10(np.maximum(np.abs(values), 1e-300))))
    rounded = np.pad(
        np.round(values * digits) / digits, ((0, 0), (0, 1)), constant_values=np.nan
    )
    return times * len(values), [
        None if y != y else y for y in rounded.ravel().tolist()
    ]


def clipped_axis(
    plot: Plot, which: str, lowest: float, above: float, title: str
) -> None:
    """An axis of logarithms on whose lowest tick everything below it is drawn, as the
    tick says."""
    tens = list(range(int(lowest), 1, 2))
    text = [("≤ " if n == lowest else "") + power_of_ten(n) for n in tens]
    plot.axis(which, lowest - 0.35, above, title, tickvals=tens, ticktext=text)
