"""The spectrum, and beside it, where it is asked for, dimension against width or rank against inputs."""

from neuroviz.deep.dimension import DimensionStudy, has_a_place, paper_name
from neuroviz.deep.spectrum import spectrum_view
from neuroviz.kit import theme
from neuroviz.kit.plot import (
    Parts,
    Plot,
    View,
    compose,
    few,
    focus_ring,
    kind_dash,
    kind_mark,
    outside_words,
    ticks,
)

_WHOLE, _LEFT, _RIGHT = (0.0, 1.0), (0.0, 0.5), (0.6, 1.0)
_NOWHERE = (0.999, 1.0), (0.0, 0.001)  # a view that nobody asked for covers no other one
_WIDTHS = {"all": "δ (all widths)", "inner": "δ (inner widths)", "input": "d₀ (input width)"}


def dimension_parts(study: DimensionStudy) -> Parts:
    """The spectrum and the two curves, of which one at most is seen."""
    left = _WHOLE if study.beside == "nothing" else _LEFT
    return compose(spectrum_view(study, left), _by_width(study), _by_inputs(study))


def _beside(number: str, shown: bool) -> Plot:
    return Plot(number, *((_RIGHT, _WHOLE) if shown else _NOWHERE))


def _by_width(study: DimensionStudy) -> View:
    """Dimension against width, measured and by the formula as separate marks; on the axes x2 and y2."""
    points, kind, shown = study.widths, study.arch.attention, study.beside == "widths"
    plot, size, mark = _beside("2", shown), theme.size("marker"), kind_mark(kind)
    measured = [point for point in points if point.measured is not None]
    outside = [point for point in points if has_a_place(point.paper, point.expected)]
    here = [point for point in measured if point.width == study.width]
    formula, crossed = theme.color("formula"), theme.color("outside")
    plot.points(
        "formula",
        [point.width for point in points],
        [point.expected.value for point in points],
        {"symbol": f"{mark}-open", "size": size + 6, "color": formula, "line": {"width": 1.4}},
        mode="lines+markers",
        line={"color": formula, "width": 1.2, "dash": kind_dash(kind)},
        text=[point.expected.source for point in points],
        hover="%{text}: %{y}",
    )
    plot.points(
        "measured",
        [point.width for point in measured],
        [point.measured.value for point in measured],
        {"symbol": mark, "size": size, "color": theme.color("measured")},
        hover=f"{study.width_name} = %{{x}}: measured %{{y}}",
    )
    plot.points(
        "the paper's formula outside its hypotheses",
        [point.width for point in outside],
        [point.paper.value for point in outside],
        {"symbol": "x-thin", "size": size, "line": {"color": crossed, "width": 2.2}},
        mode="markers+text",
        cliponaxis=False,
        text=[f"{p.paper.value - p.expected.value:+d}".replace("-", "−") for p in outside],
        textposition="top center",
        textfont={"size": theme.size("note"), "color": crossed},
        customdata=[point.paper.note for point in outside],
        hover="%{y}: does not apply, %{customdata}",
    )
    plot.points(
        "this architecture (measured)",
        [point.width for point in here],
        [point.measured.value for point in here],
        focus_ring(kind),
    )
    drawn = [point.expected.value or 0 for point in points] + [point.measured.value for point in measured]
    top = max(drawn + [point.paper.value for point in outside], default=1)
    first, last = (points[0].width, points[-1].width) if shown else (1, 2)
    plot.axis(
        "x", first - 0.6, last + 0.6, _WIDTHS[study.varies], tickvals=[*range(first, last + 1)], visible=shown
    )
    plot.axis("y", -0.06 * top, (1.4 if outside else 1.2) * top, "dimension", visible=shown)
    plot.headline(_agreement(study))
    filled, hollow = ("■", "□") if kind == "softmax" else ("●", "○")
    lines = [f"{filled} measured   {hollow} formula" if shown else ""]
    if outside:
        lines.append(outside_words(f"✕ {paper_name(study.paper)} where it does not apply"))
    plot.key(lines, align="left")
    return plot.view()


def _agreement(study: DimensionStudy) -> str:
    """Whether formula and measurement agree, wherever both are."""
    measured = [point for point in study.widths if point.measured]
    if off := [str(p.width) for p in measured if p.measured.value != p.expected.value]:
        return f"formula and measurement DIFFER at {study.width_name} = {', '.join(off)}"
    if len(measured) < len(study.widths):
        return f"formula agrees at all {len(measured)} measured"
    return "formula and measurement agree" if measured else ""


def _by_inputs(study: DimensionStudy) -> View:
    """The exact rank against the number of inputs, with its plateau; on the axes x3 and y3."""
    n, kind, asked = study.arch.num_parameters, study.arch.attention, study.beside == "inputs"
    plot = _beside("3", asked)
    curve = study.inputs if asked else None
    ranks = list(curve.ranks) if curve else []
    numbers, blue = list(range(1, len(ranks) + 1)), theme.color("measured")
    tallest = min(n, 2 * study.exact.value)  # the dotted line of equations leaves the picture there
    equations = [min(k * curve.equations_per_input, n) for k in numbers]
    equations = [number for number in equations if number <= 1.2 * tallest]
    plot.line("equations", numbers[: len(equations)], equations, theme.color("ghost"), 2, "dot")
    plot.points(
        "exact rank by inputs (measured)",
        numbers,
        ranks,
        {"symbol": kind_mark(kind), "size": theme.size("marker"), "color": blue},
        mode="lines+markers",
        line={"color": blue, "width": theme.size("line")},
        hover="%{x} inputs: rank %{y}",
    )
    in_use = [min(study.chosen_inputs or curve.enough, len(ranks))] if curve else []
    plot.points("inputs in use", in_use, [study.visible] * len(in_use), focus_ring(kind))
    most = max(len(ranks), 2)
    plot.axis("x", 0.4, most + 0.6, "number of inputs", tickvals=few(most), visible=asked)
    shown = [number for number in ticks(0, study.exact.value, n) if number <= 1.2 * tallest]
    plot.axis("y", -0.08 * tallest, 1.2 * tallest, "rank", tickvals=shown, visible=asked)
    if curve:
        plot.headline(f"{curve.enough} input{'s are' if curve.enough > 1 else ' is'} enough")
    else:
        plot.headline("rank against inputs: too large to draw here" if asked else "")
    plot.key([f"· · · equations: {curve.equations_per_input} per input" if curve else ""], yshift=4)
    return plot.view()
