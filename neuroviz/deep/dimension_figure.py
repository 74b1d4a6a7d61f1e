"""The spectrum, and beside it, where it is asked for, dimension against width or rank against inputs."""

from math import inf, log10

from neuroviz.deep.dimension import DimensionStudy, has_a_place, paper_name, would_mislead
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose, few, focus_ring, kind_dash, kind_mark, ticks
from neuroviz.kit.words import colored, rough

_WHOLE, _LEFT, _RIGHT = (0.0, 1.0), (0.0, 0.5), (0.6, 1.0)
BOTTOM, TOP = -18.6, 0.9
"""log₁₀ of the ends of the axis of the spectrum."""
_FLOOR = 1e-17  # where an exact zero is drawn
_WIDTHS = {"all": "δ (all widths)", "inner": "δ (inner widths)", "input": "d₀ (input width)"}


def dimension_parts(study: DimensionStudy) -> Parts:
    """The spectrum, and the curve that is asked for."""
    if study.setting.beside == "nothing":
        return compose(spectrum_view(study, _WHOLE))
    curve = _by_width(study) if study.setting.beside == "widths" else _by_inputs(study)
    return compose(spectrum_view(study, _LEFT), curve)


# Singular values in floating point, with the exact rank and the formula drawn in


def spectrum_view(study: DimensionStudy, domain: tuple[float, float]) -> View:
    """The spectrum, on the axes x and y: values that count are filled, those that are rounding are hollow."""
    plot, n, rank = Plot("", domain, (0, 1)), study.arch.num_parameters, study.visible
    found = [] if study.spectrum is None else study.spectrum.singular_values
    sigma = [max(float(value), _FLOOR) for value in found]
    kept, dropped, size = sigma[:rank], sigma[rank:], theme.size("marker")
    for name, first, values, large, fill, edge, width in (
        ("singular values of the weights that move the function", 1, kept, size, "measured", "ground", 0.8),
        ("singular values that are rounding noise", rank + 1, dropped, size - 1, "ground", "ghost", 1.5),
    ):
        look = {
            "size": large,
            "color": theme.color(fill),
            "line": {"color": theme.color(edge), "width": width},
        }
        x, hover = list(range(first, first + len(values))), "σ<sub>%{x}</sub> = %{y:.2e}"
        plot.points(name, x, values, look, cliponaxis=False, hover=hover)
    ends, width = [10.0**BOTTOM, 10.0**TOP], theme.size("line") + 0.8
    plot.line("exact rank (measured)", [rank + 0.5] * 2, ends, theme.color("measured"), width)
    _formula_marks(study, plot)
    said = f"index i of the singular value ({n} parameters)"
    plot.axis("x", 0, n + 1, said, tickvals=ticks(1, rank, n), showgrid=False)
    plot.log_axis("y", BOTTOM, TOP, "σ<sub>i</sub> / σ<sub>1</sub>", step=4)
    plot.headline(_headline(study))
    _gap(study, plot, kept, dropped)
    _names(study, plot)
    if study.spectrum is not None:  # the wash: up to where rounding alone may lift a singular value
        noise = max(n * 2.2e-16, 10 ** (BOTTOM + 0.2))
        plot.region((0, n + 1), (10**BOTTOM, noise), {"width": 0}, theme.color("wash"))
        x, side = (0, "left") if rank > 0.3 * n else (1, "right")
        look = {"xref": "x domain", "yanchor": "top", "size": "note"}
        _beside(plot, "rounding noise", x, log10(noise) - 0.2, side, 6, "soft", **look)
    return plot.view()


def _formula_marks(study: DimensionStudy, plot: Plot) -> None:
    """A triangle at the formula; a cross at the paper's, where it does not apply and says something else."""
    expected, paper, size, y = study.expected, study.paper, theme.size("marker"), [10 ** (BOTTOM + 0.35)]
    if expected.value is not None:
        name, hover = "dimension by the formula", f"{expected.source}: {expected.value}"
        look = {"symbol": "triangle-up-open", "size": 2 * size, "line": {"width": 2.5}}
        look["color"] = theme.color("formula")
        plot.points(name, [expected.value + 0.5], y, look, cliponaxis=False, hover=hover)
    if has_a_place(paper, expected):
        name = "the paper's formula outside its hypotheses, for this architecture"
        line = {"color": theme.color("outside"), "width": 3}
        look = {"symbol": "x-thin", "size": 1.4 * size, "line": line}
        hover = f"{paper.value} does not apply here"
        plot.points(name, [paper.value + 0.5], y, look, cliponaxis=False, hover=hover)


def _headline(study: DimensionStudy) -> str:
    n, rank = study.arch.num_parameters, study.visible
    if rank < study.exact.value:
        shows = "1 input shows" if study.setting.inputs == 1 else f"{study.setting.inputs} inputs show"
        return f"{shows} {rank} of {study.exact.value} directions"
    return f"{rank} of {n} directions move the function"


def _beside(
    plot: Plot,
    text: str,
    x: float,
    y: float,
    side: str,
    away: float,
    role: str,
    size: str = "base",
    **more: object,
) -> None:
    """A text beside a point: to its left or to its right, so many pixels away."""
    place = {"xanchor": side, "xshift": -away if side == "right" else away, "align": side}
    plot.text(text, x, y, size, role, **place, **more)


def _names(study: DimensionStudy, plot: Plot) -> None:
    """What line, triangle and cross are; each where there is room."""
    expected, paper, n, rank = study.expected, study.paper, study.arch.num_parameters, study.visible
    crossed, late, starved = has_a_place(paper, expected), rank > 0.75 * n, rank < study.exact.value
    inputs = f" on {study.setting.inputs} input{'s' if study.setting.inputs != 1 else ''}" if starved else ""
    y, side = (-6.6, "right") if late else (0.35, "left")
    said = f"exact rank{inputs}<br><b>{rank}</b>"
    _beside(plot, said, rank + 0.5, y, side, 8, "measured", yanchor="top")
    side = "right" if rank > (0.25 if crossed and paper.value > rank else 0.4) * n else "left"
    said = "no formula" if expected.value is None else f"{expected.source}: <b>{expected.value}</b>"
    x = (rank if expected.value is None else expected.value) + 0.5
    yshift = 16 if crossed and side == "left" else 0
    _beside(plot, said, x, BOTTOM + 0.45, side, 16, "formula", yshift=yshift)
    if would_mislead(paper, expected):  # in the empty corner: below the dots, or right of the line
        said = f"✕ {paper_name(paper)} would say {paper.value},<br>but does not apply here".replace("-", "−")
        place = (0, -9.0, "left", 8) if late else (1, -7.0, "right", 4)
        look = {"xref": "x domain", "bgcolor": theme.color("ground")}
        _beside(plot, colored("outside", said), *place, "outside", **look)


def _gap(study: DimensionStudy, plot: Plot, kept: list[float], dropped: list[float]) -> None:
    """The double arrow across the split, where there is one, and its text."""
    spectrum, n, rank = study.spectrum, study.arch.num_parameters, study.visible
    full = rank > 0.7 * n  # no room right of the line: the text stands left of it
    x, y0, y1 = rank + 0.5 + (0.5 * (n - rank) if full else 0.09 * n), BOTTOM, BOTTOM
    if spectrum is None:
        text = f"{n} parameters: too many for<br>a spectrum in a panel"
    elif kept and dropped:
        y0, y1 = log10(dropped[0]), log10(kept[-1])
        if y1 > -1.9 and not full:  # the label of the rank stands at the top: the arrow goes beside it
            x = rank + 0.5 + 0.24 * n
        text = f"≈ gap {rough(kept[-1] / dropped[0] if spectrum.singular_values[rank] > 0 else inf)}"
    else:
        text = "nothing dropped:<br>full rank"
    if spectrum is not None and (not spectrum.decided or spectrum.value != rank):
        verdict = "floats cannot decide" if not spectrum.decided else "floats say something else"
        text = f"<b>{verdict}</b><br>they read {spectrum.value}, {text}"
    if y1 - y0 > 1:
        look = {"showarrow": True, "arrowside": "end+start", "startarrowhead": 2}
        plot.text("", x, y1, "base", "ink", ax=x, ay=y0, axref="x", ayref="y", **look)
    # In the middle of the arrow, if there is one; else in the empty upper right.
    middle = (y0 + y1) / 2 - 2.2 if y1 - y0 > 5 else -3.5
    _beside(plot, text, rank + 0.5 if full else x, middle, "right" if full else "left", 8, "ink")


# The curves beside it


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
        lines.append(colored("outside", f"✕ {paper_name(study.paper)} where it does not apply"))
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
