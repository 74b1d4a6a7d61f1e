"""Three views of one dimension: the spectrum, dimension against width, rank against inputs."""

from dataclasses import dataclass
from math import inf, log10

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz import theme
from neuroviz.architecture import Architecture
from neuroviz.figures.parts import Parts, headline, label, make, power_of_ten, redraw, rough
from neuroviz.formulas import Expected
from neuroviz.measure import InputsCurve, Measurement

_FLOOR = 1e-17  # where an exact zero is drawn on the log axis
_BOTTOM, _TOP = -18.6, 0.7  # log₁₀ of the ends of that axis
_LEFT, _RIGHT = (0.0, 0.5), (0.6, 1.0)
_UPPER, _LOWER = (0.6, 1.0), (0.0, 0.36)


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


def dimension_figure(study: DimensionStudy) -> go.Figure:
    """The three views as a figure of its own; `update_dimension` moves it to another study."""
    return make(_parts(study))


def update_dimension(figure: BaseFigure, old: DimensionStudy | None, new: DimensionStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: DimensionStudy) -> Parts:
    return Parts(_traces(study), _layout(study))


def _is_wrong(paper: Expected, expected: Expected) -> bool:
    """Whether the paper's formula, taken outside its hypotheses, would give another number."""
    return paper.status == "outside hypotheses" and paper.value != expected.value


def _has_crosses(study: DimensionStudy) -> bool:
    return any(_can_be_drawn(point.paper, point.expected) for point in study.widths)


def _can_be_drawn(paper: Expected, expected: Expected) -> bool:
    """Whether that number can stand on an axis of dimensions: far outside, it may be below 1."""
    return _is_wrong(paper, expected) and paper.value >= 1


def _paper_name(paper: Expected) -> str:
    """The paper's number of the bare formula, which is all that is left outside its hypotheses."""
    return {"Cor. 3.8": "Eq. 14", "Cor. 3.3": "Eq. 7", "Eq. 16, Corollary A": "Eq. 16"}.get(
        paper.source, paper.source
    )


def _kind_mark(arch: Architecture) -> str:
    return "square" if arch.attention == "softmax" else "circle"


def _kind_dash(arch: Architecture) -> str:
    return "dash" if arch.attention == "softmax" else "solid"


def _split(study: DimensionStudy) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others; zeros sit on the floor of the axis."""
    if study.spectrum is None:
        return [], []
    sigma = [max(float(s), _FLOOR) for s in study.spectrum.singular_values]
    return sigma[: study.visible], sigma[study.visible :]


def _traces(study: DimensionStudy) -> list[dict]:
    """Always the same traces in the same order; what has nothing to show is empty."""
    arch, marker, line = study.arch, theme.size("marker"), theme.size("line")
    kept, dropped = _split(study)
    rank = study.visible
    measured = [point for point in study.widths if point.measured is not None]
    outside = [point for point in study.widths if _can_be_drawn(point.paper, point.expected)]
    here = next(point for point in study.widths if point.width == study.width)
    curve = study.inputs
    inputs = list(range(1, len(curve.ranks) + 1)) if curve else []
    equations = [min(n * curve.equations_per_input, arch.num_parameters) for n in inputs]
    equations = [y for y in equations if y <= 1.2 * _tallest(study)]
    mark = _kind_mark(arch)
    return [
        {
            "name": "singular values of the weights that move the function",
            "x": list(range(1, len(kept) + 1)),
            "y": kept,
            "mode": "markers",
            "marker": {"size": marker, "color": theme.color("measured")},
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        {
            "name": "singular values that are rounding noise",
            "x": list(range(rank + 1, rank + 1 + len(dropped))),
            "y": dropped,
            "mode": "markers",
            "marker": {
                "size": marker - 1,
                "color": theme.color("ground"),
                "line": {"color": theme.color("ghost"), "width": 1.5},
            },
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        {
            "name": "exact rank (measured)",
            "x": [rank + 0.5, rank + 0.5],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("measured"), "width": line + 0.8},
            "hoverinfo": "skip",
        },
        {
            "name": "dimension by the formula",
            "x": [] if study.expected.value is None else [study.expected.value + 0.5],
            "y": [] if study.expected.value is None else [10 ** (_BOTTOM + 0.35)],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "triangle-up-open",
                "size": 2 * marker,
                "color": theme.color("formula"),
                "line": {"width": 2.5},
            },
            "hovertemplate": f"{study.expected.source}: {study.expected.value}<extra></extra>",
        },
        {
            "name": "the paper's formula outside its hypotheses, for this architecture",
            "x": [study.paper.value + 0.5] if _can_be_drawn(study.paper, study.expected) else [],
            "y": [10 ** (_BOTTOM + 0.35)] if _can_be_drawn(study.paper, study.expected) else [],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "x-thin",
                "size": 1.4 * marker,
                "line": {"color": theme.color("outside"), "width": 3},
            },
            "hovertemplate": f"{study.paper.value} does not apply here<extra></extra>",
        },
        {
            "name": "formula",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [point.width for point in study.widths],
            "y": [point.expected.value for point in study.widths],
            "text": [point.expected.source for point in study.widths],
            "mode": "lines+markers",
            "line": {"color": theme.color("formula"), "width": 1.2, "dash": _kind_dash(arch)},
            "marker": {
                "symbol": f"{mark}-open",
                "size": marker + 6,
                "color": theme.color("formula"),
                "line": {"width": 1.4},
            },
            "hovertemplate": "%{text}: %{y}<extra></extra>",
        },
        {
            "name": "measured",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [point.width for point in measured],
            "y": [point.measured.value for point in measured],
            "mode": "markers",
            "marker": {"symbol": mark, "size": marker, "color": theme.color("measured")},
            "hovertemplate": f"{study.width_name} = %{{x}}: measured %{{y}}<extra></extra>",
        },
        {
            "name": "the paper's formula outside its hypotheses",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [point.width for point in outside],
            "y": [point.paper.value for point in outside],
            "text": [f"{p.paper.value - p.expected.value:+d}".replace("-", "−") for p in outside],
            "customdata": [point.paper.note for point in outside],
            "mode": "markers+text",
            "cliponaxis": False,
            "textposition": "top center",
            "textfont": {"size": theme.size("note"), "color": theme.color("outside")},
            "marker": {
                "symbol": "x-thin",
                "size": marker,
                "line": {"color": theme.color("outside"), "width": 2.2},
            },
            "hovertemplate": "%{y}: does not apply, %{customdata}<extra></extra>",
        },
        {
            "name": "this architecture (measured)",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [study.width],
            "y": [study.exact.value if here.measured is None else here.measured.value],
            "mode": "markers",
            "marker": {
                "symbol": f"{mark}-open",
                "size": 2 * marker + 6,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hoverinfo": "skip",
        },
        {
            "name": "equations",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": inputs[: len(equations)],
            "y": equations,
            "mode": "lines",
            "line": {"color": theme.color("ghost"), "width": 2, "dash": "dot"},
            "hoverinfo": "skip",
        },
        {
            "name": "exact rank by inputs (measured)",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": inputs,
            "y": list(curve.ranks) if curve else [],
            "mode": "lines+markers",
            "line": {"color": theme.color("measured"), "width": line},
            "marker": {"symbol": mark, "size": marker, "color": theme.color("measured")},
            "hovertemplate": "%{x} inputs: rank %{y}<extra></extra>",
        },
        {
            "name": "inputs in use",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": [] if curve is None else [_inputs_in_use(study)],
            "y": [] if curve is None else [study.visible],
            "mode": "markers",
            "marker": {
                "symbol": f"{mark}-open",
                "size": 2 * marker + 6,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hoverinfo": "skip",
        },
    ]


def _tallest(study: DimensionStudy) -> int:
    """Up to where the ranks are drawn; the dotted line of equations leaves the picture there."""
    return min(study.arch.num_parameters, 2 * study.exact.value)


def _inputs_in_use(study: DimensionStudy) -> int:
    """Where the ring sits on the inputs curve: the chosen number, or the first that is enough."""
    if study.chosen_inputs is None:
        return study.inputs.enough
    return min(study.chosen_inputs, len(study.inputs.ranks))


def _layout(study: DimensionStudy) -> dict:
    arch, expected, spectrum = study.arch, study.expected, study.spectrum
    n, rank = arch.num_parameters, study.visible
    soft, measured, formula = theme.color("soft"), theme.color("measured"), theme.color("formula")
    noise = max(n * 2.2e-16, 10 ** (_BOTTOM + 0.2)) if spectrum is not None else 10**_BOTTOM
    top = max(
        [p.expected.value or 0 for p in study.widths]
        + [p.measured.value for p in study.widths if p.measured]
        + [p.paper.value for p in study.widths if _can_be_drawn(p.paper, p.expected)]
    )
    first, last = study.widths[0].width, study.widths[-1].width
    tallest = _tallest(study)
    most_inputs = max(len(study.inputs.ranks) if study.inputs else 1, 2)
    crossed = _can_be_drawn(study.paper, expected)
    formula_left = rank > (0.25 if crossed and study.paper.value > rank else 0.4) * n
    to_the_left = rank > 0.75 * n  # labels of the rank stand where there is room
    return {
        "xaxis": {
            "domain": _LEFT,
            "range": [0, n + 1],
            "title": {"text": f"index i of the singular value ({n} parameters)"},
            "tickvals": _ticks(1, rank, n),
            "showgrid": False,
        },
        "yaxis": {
            "domain": (0, 1),
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [10.0**k for k in range(-16, 1, 4)],
            "ticktext": [power_of_ten(k) for k in range(-16, 1, 4)],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
        },
        "xaxis2": {
            "anchor": "y2",
            "domain": _RIGHT,
            "range": [first - 0.6, last + 0.6],
            "tickvals": list(range(first, last + 1)),
            "title": {"text": _width_axis(study)},
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": _UPPER,
            "range": [-0.06 * top, (1.5 if _has_crosses(study) else 1.25) * top],
            "title": {"text": "dimension"},
            "nticks": 4,
        },
        "xaxis3": {
            "anchor": "y3",
            "domain": _RIGHT,
            "range": [0.4, most_inputs + 0.6],
            "tickvals": _few(most_inputs),
            "title": {"text": "number of inputs"},
        },
        "yaxis3": {
            "anchor": "x3",
            "domain": _LOWER,
            "range": [-0.08 * tallest, 1.2 * tallest],
            "tickvals": [v for v in _ticks(0, study.exact.value, n) if v <= 1.2 * tallest],
            "title": {"text": "rank"},
        },
        "shapes": [
            {
                "type": "rect",
                "xref": "x domain",
                "yref": "y",
                "x0": 0,
                "x1": 1,
                "y0": 10**_BOTTOM,
                "y1": noise,
                "fillcolor": theme.color("wash"),
                "line": {"width": 0},
                "layer": "below",
            }
        ],
        "annotations": [
            headline(_spectrum_headline(study)),
            headline(_width_headline(study), "2"),
            headline(_inputs_headline(study), "3"),
            label(
                f"{_rank_name(study)}<br><b>{rank}</b>",
                rank + 0.5,
                -6.6 if to_the_left else 0.35,
                align="right" if to_the_left else "left",
                xanchor="right" if to_the_left else "left",
                yanchor="top",
                xshift=-8 if to_the_left else 8,
                font={"size": theme.size("base"), "color": measured},
            ),
            label(
                _formula_text(study),
                (rank if expected.value is None else expected.value) + 0.5,
                _BOTTOM + 0.45,
                xanchor="right" if formula_left else "left",
                xshift=-16 if formula_left else 16,
                yshift=0 if formula_left or not crossed else 16,
                font={"size": theme.size("base"), "color": formula},
            ),
            _outside_label(study),
            label(
                "rounding noise" if spectrum is not None else "",
                0 if rank > 0.3 * n else 1,
                log10(noise) - 0.2,
                xref="x domain",
                xanchor="left" if rank > 0.3 * n else "right",
                yanchor="top",
                xshift=6 if rank > 0.3 * n else -6,
                font={"size": theme.size("note"), "color": soft},
            ),
            *_gap(study),
            label(
                _width_legend(study),
                0,
                1,
                xref="x2 domain",
                yref="y2 domain",
                xanchor="left",
                yanchor="top",
                xshift=8,
                align="left",
                font={"size": theme.size("note"), "color": soft},
            ),
            label(
                f"· · · equations: {study.inputs.equations_per_input} per input" if study.inputs else "",
                0,
                1,
                xref="x3 domain",
                yref="y3 domain",
                xanchor="left",
                yanchor="top",
                xshift=8,
                yshift=4,
                font={"size": theme.size("note"), "color": soft},
            ),
        ],
    }


def _formula_text(study: DimensionStudy) -> str:
    expected = study.expected
    return "no formula" if expected.value is None else f"{expected.source}: <b>{expected.value}</b>"


def _outside_label(study: DimensionStudy) -> dict:
    """What the cross on the axis says, in the empty corner: below the dots, or right of the line."""
    paper, n = study.paper, study.arch.num_parameters
    value = paper.value if paper.value >= 1 else f"\u2212{-paper.value}" if paper.value else "0"
    text = _outside(f"✕ {_paper_name(paper)} would say {value},<br>but does not apply here")
    below_the_dots = study.visible > 0.75 * n
    return label(
        text if _is_wrong(paper, study.expected) else "",
        0 if below_the_dots else 1,
        -9.0 if below_the_dots else -7.0,
        xref="x domain",
        xanchor="left" if below_the_dots else "right",
        xshift=8 if below_the_dots else -4,
        align="left" if below_the_dots else "right",
        font={"size": theme.size("base")},
        bgcolor=theme.color("ground"),
    )


def _spectrum_headline(study: DimensionStudy) -> str:
    n, rank = study.arch.num_parameters, study.visible
    if rank < study.exact.value:
        shows = "1 input shows" if study.chosen_inputs == 1 else f"{study.chosen_inputs} inputs show"
        return f"{shows} {rank} of {study.exact.value} directions"
    return f"{rank} of {n} directions move the function"


def _rank_name(study: DimensionStudy) -> str:
    if study.visible == study.exact.value:
        return "exact rank"
    return f"exact rank on {study.chosen_inputs} input{'s' if study.chosen_inputs > 1 else ''}"


def _width_headline(study: DimensionStudy) -> str:
    off = [p.width for p in study.widths if p.measured and p.measured.value != p.expected.value]
    if off:
        return f"formula and measurement DIFFER at {study.width_name} = {', '.join(map(str, off))}"
    measured = sum(p.measured is not None for p in study.widths)
    where = "" if measured == len(study.widths) else f" at the {measured} measured"
    return f"formula and measurement agree{where}"


def _width_axis(study: DimensionStudy) -> str:
    return {"all": "δ (all widths)", "inner": "δ (inner widths)", "input": "d₀ (input width)"}[study.varies]


def _width_legend(study: DimensionStudy) -> str:
    filled, hollow = ("■", "□") if study.arch.attention == "softmax" else ("●", "○")
    lines = [f"{filled} measured   {hollow} formula"]
    if _has_crosses(study):
        lines.append(_outside(f"✕ {_paper_name(study.paper)} where it does not apply"))
    return "<br>".join(lines)


def _outside(text: str) -> str:
    return f'<span style="color:{theme.color("outside")}">{text}</span>'


def _inputs_headline(study: DimensionStudy) -> str:
    if study.inputs is None:
        return "rank against inputs: too large to draw here"
    enough = study.inputs.enough
    return f"{enough} input{'s are' if enough > 1 else ' is'} enough"


def _gap(study: DimensionStudy) -> list[dict]:
    """The double arrow across the split, and its text; the arrow is invisible where there is no split."""
    kept, dropped = _split(study)
    spectrum, n, rank = study.spectrum, study.arch.num_parameters, study.visible
    no_room = rank > 0.7 * n  # right of the line: then the text stands left of it
    x, y0, y1 = rank + 0.5 + (0.5 * (n - rank) if no_room else 0.09 * n), _BOTTOM, _BOTTOM
    if spectrum is None:
        text = f"{n} parameters: too many for<br>a spectrum in a panel"
    elif kept and dropped:
        y0, y1 = log10(dropped[0]), log10(kept[-1])
        if y1 > -1.9 and not no_room:  # the label of the rank stands at the top: the arrow goes beside it
            x = rank + 0.5 + 0.24 * n
        text = f"≈ gap {rough(kept[-1] / dropped[0] if spectrum.singular_values[rank] > 0 else inf)}"
    else:
        text = "nothing dropped:<br>full rank"
    if spectrum is not None and (not spectrum.decided or spectrum.value != rank):
        verdict = "floats cannot decide" if not spectrum.decided else "floats say something else"
        text = f"<b>{verdict}</b><br>they read {spectrum.value}, {text}"
    return [
        {
            "text": "",
            "x": x,
            "y": y1,
            "ax": x,
            "ay": y0,
            "xref": "x",
            "yref": "y",
            "axref": "x",
            "ayref": "y",
            "showarrow": True,
            "arrowside": "end+start",
            "startarrowhead": 2,
            "opacity": 1.0 if y1 - y0 > 1 else 0.0,
        },
        label(
            text,
            rank + 0.5 if no_room else x,
            # In the middle of the arrow, if there is one; else in the empty upper right.
            (y0 + y1) / 2 - 2.2 if y1 - y0 > 5 else -3.5,
            xanchor="right" if no_room else "left",
            xshift=-8 if no_room else 8,
            align="right" if no_room else "left",
            font={"size": theme.size("base"), "color": theme.color("ink")},
        ),
    ]


def _ticks(low: int, middle: int, high: int) -> list[int]:
    """Two or three ticks; the middle one stays, and an end too near to it goes."""
    near = 0.08 * max(high - low, 1)
    return [v for v in dict.fromkeys((low, middle, high)) if v == middle or abs(v - middle) > near]


def _few(most: int) -> list[int]:
    """At most a dozen whole ticks from 1 to `most`."""
    step = next(s for s in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 10**6) if most / s <= 12)
    return [1, *range(step if step > 1 else 2, most + 1, step)]
