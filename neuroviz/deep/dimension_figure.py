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
_WIDTHS = {"all": "δ (all widths)", "inner": "δ (inner widths)", "input": "d₀ (input width)"}


def dimension_parts(study: DimensionStudy) -> Parts:
    """The spectrum, and the curve that is asked for."""
    if study.setting.beside == "nothing":
        return compose(spectrum_view(study, _WHOLE))
    curve = _by_width(study) if study.setting.beside == "widths" else _by_inputs(study)
    return compose(spectrum_view(study, _LEFT), curve)


def _by_width(study: DimensionStudy) -> View:
    """Dimension against width, measured and by the formula as separate marks; on the axes x2 and y2."""
    points, kind, plot = study.widths, study.arch.attention, Plot("2", _RIGHT, _WHOLE)
    size, mark = theme.size("marker"), kind_mark(kind)
    measured = [point for point in points if point.measured is not None]
    outside = [point for point in points if has_a_place(point.paper, point.expected)]
    here = [point for point in measured if point.width == study.setting.varied]
    formula, crossed = theme.color("formula"), theme.color("outside")
    hollow = {"symbol": f"{mark}-open", "size": size + 6, "color": formula, "line": {"width": 1.4}}
    look = {"mode": "lines+markers", "line": {"color": formula, "width": 1.2, "dash": kind_dash(kind)}}
    look |= {"text": [point.expected.source for point in points], "hover": "%{text}: %{y}"}
    x, y = [point.width for point in points], [point.expected.value for point in points]
    plot.points("formula", x, y, hollow, **look)
    x, y = [point.width for point in measured], [point.measured.value for point in measured]
    filled = {"symbol": mark, "size": size, "color": theme.color("measured")}
    plot.points("measured", x, y, filled, hover=f"{study.width_name} = %{{x}}: measured %{{y}}")
    x, y = [point.width for point in outside], [point.paper.value for point in outside]
    cross = {"symbol": "x-thin", "size": size, "line": {"color": crossed, "width": 2.2}}
    off = [f"{p.paper.value - p.expected.value:+d}".replace("-", "−") for p in outside]
    look = {"mode": "markers+text", "text": off, "textposition": "top center", "cliponaxis": False}
    look |= {"textfont": {"size": theme.size("note"), "color": crossed}}
    look |= {"customdata": [p.paper.note for p in outside], "hover": "%{y}: does not apply, %{customdata}"}
    plot.points("the paper's formula outside its hypotheses", x, y, cross, **look)
    x, y = [point.width for point in here], [point.measured.value for point in here]
    plot.points("this architecture (measured)", x, y, focus_ring(kind))
    drawn = [point.expected.value or 0 for point in points] + [point.measured.value for point in measured]
    top = max(drawn + [point.paper.value for point in outside])
    first, last = points[0].width, points[-1].width
    plot.axis("x", first - 0.6, last + 0.6, _WIDTHS[study.setting.varies], tickvals=[*range(first, last + 1)])
    plot.axis("y", -0.06 * top, (1.4 if outside else 1.2) * top, "dimension")
    plot.headline(_agreement(study))
    lines = ["■ measured   □ formula" if kind == "softmax" else "● measured   ○ formula"]
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
    return "formula and measurement agree"


def _by_inputs(study: DimensionStudy) -> View:
    """The exact rank against the number of inputs, with its plateau; on the axes x3 and y3."""
    n, kind, curve = study.arch.num_parameters, study.arch.attention, study.inputs
    plot, ranks = Plot("3", _RIGHT, _WHOLE), list(curve.ranks) if curve else []
    tallest = min(n, 2 * study.exact.value)  # the dotted line of equations leaves the picture there
    numbers, blue, most = list(range(1, len(ranks) + 1)), theme.color("measured"), max(len(ranks), 2)
    shown = [number for number in ticks(0, study.exact.value, n) if number <= 1.2 * tallest]
    plot.axis("x", 0.4, most + 0.6, "number of inputs", tickvals=few(most))
    plot.axis("y", -0.08 * tallest, 1.2 * tallest, "rank", tickvals=shown)
    if curve is None:
        plot.headline("rank against inputs: too large to draw here")
        return plot.view()
    equations = [min(k * curve.equations_per_input, n) for k in numbers]
    equations = [number for number in equations if number <= 1.2 * tallest]
    plot.line("equations", numbers[: len(equations)], equations, theme.color("ghost"), 2, "dot")
    look = {"symbol": kind_mark(kind), "size": theme.size("marker"), "color": blue}
    line = {"mode": "lines+markers", "line": {"color": blue, "width": theme.size("line")}}
    hover = "%{x} inputs: rank %{y}"
    plot.points("exact rank by inputs (measured)", numbers, ranks, look, **line, hover=hover)
    in_use = min(study.setting.inputs or curve.enough, len(ranks))
    plot.points("inputs in use", [in_use], [study.visible], focus_ring(kind))
    plot.headline(f"{curve.enough} input{'s are' if curve.enough > 1 else ' is'} enough")
    plot.key([f"· · · equations: {curve.equations_per_input} per input"], yshift=4)
    return plot.view()
