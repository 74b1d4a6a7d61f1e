"""Figure 3 of the paper, with its evidence: dimension against width, and how far a
float can be trusted."""

from typing import NamedTuple

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose, kind_dash, kind_mark
from neuroviz.kit.words import colored, tiny
from neuroviz.rank.floats import DECISIVE_GAP
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study

_LEFT = (0.0, 0.56)
_RIGHT = (0.66, 1.0)
_UPPER = (0.62, 1.0)
_LOWER = (0.0, 0.36)
_TALLEST = 1e17  # height of a gap above nothing, or above an exact zero
_FILLED = {"softmax": "■", "lightning": "●"}
_HOLLOW = {"softmax": "□", "lightning": "○"}


def figure3_parts(study: Figure3Study) -> Parts:
    """The curve, the gaps of float64, and where the float32 procedure draws its
    line."""
    if not study.setting.peer:
        return compose(curve_view(study, _LEFT), gap_view(study, _RIGHT, (0.0, 1.0)))
    gaps = gap_view(study, _RIGHT, _UPPER)
    float32 = float32_view(study, _RIGHT, _LOWER)
    return compose(curve_view(study, _LEFT), gaps, float32)


# Left: dimension against width, by formula, exactly, in float64 and in float32


def widths_axis(
    plot: Plot, study: Figure3Study, title: str = "δ (all widths)", **more: object
) -> None:
    """The axis of widths, a tick for each."""
    first, last = study.setting.span
    plot.axis(
        "x",
        first - 0.9,  # the number of the first point stands at its left
        last + 0.6,
        title,
        tickvals=list(range(first, last + 1)),
        **more,
    )


def curve_view(study: Figure3Study, x: tuple[float, float]) -> View:
    """The curve, on the axes x and y; both kinds stand at their width."""
    plot = Plot("", x, (0.0, 1.0))
    for kind in reversed(study.setting.kinds):  # softmax is drawn over lightning
        _draw(plot, study, kind)
    widths_axis(plot, study)
    words = _legend(study)
    top = _top(study)
    highest = (1.2 + 0.12 * len(words)) * top  # the words stand above all points
    plot.axis("y", -0.05 * top, highest, "dimension")
    plot.headline(_finding(study))
    plot.key(words, align="left")
    return plot.view()


def _draw(plot: Plot, study: Figure3Study, kind: str) -> None:
    points = study.of(kind)
    read = [point for point in points if point.float32_difference is not None]
    right = [point for point in read if not point.float32_is_wrong]
    wrong = [point for point in read if point.float32_is_wrong]
    _crosses(plot, f"float32, right, {kind}", right, "ghost")
    _draw_formula(plot, points, kind)
    _draw_exact(plot, points, kind, _numbers(study, kind))
    _draw_float64(plot, points, kind)
    said = {
        "mode": "markers+text",
        "textposition": "middle right" if kind == KINDS[0] else "bottom left",
        "textfont": {"size": theme.size("base"), "color": theme.color("outside")},
    }
    _crosses(plot, f"float32, wrong, {kind}", wrong, "outside", **said)


def _draw_formula(plot: Plot, points: list[Figure3Point], kind: str) -> None:
    """Hollow marks on a line."""
    color = theme.color("formula")
    marker = {
        "symbol": f"{kind_mark(kind)}-open",
        "size": theme.size("marker") + 8,
        "color": color,
        "line": {"width": 1.4},
    }
    look = {
        "mode": "lines+markers",
        "line": {"color": color, "width": 1.2, "dash": kind_dash(kind)},
        "text": [f"{p.expected.source}, {p.expected.status}" for p in points],
        "hover": "%{text}: %{y}",
    }
    y = [point.expected.value for point in points]
    plot.points(f"formula, {kind}", _widths(points), y, marker, **look)


def _draw_exact(
    plot: Plot, points: list[Figure3Point], kind: str, numbers: list[str]
) -> None:
    """Filled marks, with numbers beside them."""
    color = theme.color("measured")
    marker = {
        "symbol": kind_mark(kind),
        "size": theme.size("marker") + 2,
        "color": color,
    }
    look = {
        "mode": "markers+text",
        "text": numbers,
        "textposition": "top left",
        "textfont": {"size": theme.size("base"), "color": color},
        "customdata": [point.exact.note for point in points],
        "hover": f"{kind}: %{{y}}, exact<br>%{{customdata}}",
    }
    y = [point.exact.value for point in points]
    plot.points(f"exact (measured), {kind}", _widths(points), y, marker, **look)


def _draw_float64(plot: Plot, points: list[Figure3Point], kind: str) -> None:
    """Small circles inside the marks."""
    marker = {
        "symbol": "circle",
        "size": round(0.5 * theme.size("marker")),
        "color": theme.color("ground"),
        "line": {"color": theme.color("soft"), "width": 1},
    }
    look = {
        "text": [point.floating.note for point in points],
        "hover": f"{kind}: %{{y}} in float64<br>%{{text}}",
    }
    y = [point.floating.value for point in points]
    plot.points(f"float64 (measured), {kind}", _widths(points), y, marker, **look)


def _widths(points: object) -> list[int]:
    return [point.width for point in points]


def _numbers(study: Figure3Study, kind: str) -> list[str]:
    """Beside one curve its numbers; where there are two, beside the upper one how far
    they are apart."""
    if not study.setting.lightning:
        return [str(point.exact.value) for point in study.of(kind)]
    if kind == "lightning":
        return [""] * len(study.of(kind))
    pairs = zip(study.of("softmax"), study.of("lightning"), strict=True)
    return [difference(one.exact.value - other.exact.value) for one, other in pairs]


def _crosses(
    plot: Plot, name: str, points: list[Figure3Point], role: str, **more: object
) -> None:
    y = [point.float32.value for point in points]
    line = {"color": theme.color(role), "width": 2.2}
    look = {"symbol": "x-thin", "size": 2 * theme.size("marker") + 4, "line": line}
    more["text"] = [difference(point.float32_difference) for point in points]
    more["customdata"] = [point.float32.note for point in points]
    plot.points(
        name,
        _widths(points),
        y,
        look,
        hover="%{y} in float32 (%{text})<br>%{customdata}",
        **more,
    )


def difference(number: int) -> str:
    """A difference with its sign.

    >>> difference(-3), difference(2), difference(0)
    ('−3', '+2', '±0')
    """
    return "±0" if number == 0 else f"{number:+d}".replace("-", "−")


def _top(study: Figure3Study) -> int:
    """The largest number that is drawn."""
    numbers = [
        n
        for p in study.points
        for n in (p.exact.value, p.floating.value, p.expected.value)
    ]
    numbers += [p.float32.value for p in study.points if p.float32]
    return max(n for n in numbers if n is not None)


def _finding(study: Figure3Study) -> str:
    names = " and ".join(study.setting.kinds)
    count = len(study.points)
    if off := [point for point in study.points if not point.on_formula]:
        where = ", ".join(map(str, sorted(set(_widths(off)))))
        return f"{names}: exact rank and formula DIFFER at δ = {where}"
    if study.setting.lightning:
        return f"{names}: all {count} on the formula"
    if count == 1:
        return f"{names}: the exact rank is on the formula"
    return f"{names}: {count} of {count} exact ranks on the formula"


def _legend(study: Figure3Study) -> list[str]:
    setting = study.setting
    filled, hollow = (
        "".join(marks[kind] for kind in setting.kinds) for marks in (_FILLED, _HOLLOW)
    )
    lines = [
        f"{colored('measured', filled)} exact   {hollow} formula   ∘ float64, inside"
    ]
    if setting.lightning:
        lines.append("squares: softmax, circles: lightning; numbers: how far apart")
    if setting.peer:
        off = colored("outside", "✕ where wrong, with the error")
        lines.append(f"{colored('ghost', '✕')} row-by-row float32, {off}")
    return lines


# Right: the gaps of float64, and where the float32 procedure draws its line


def gap_view(
    study: Figure3Study, x: tuple[float, float], y: tuple[float, float]
) -> View:
    """σ_r / σ_{r+1} in float64 for each width, on the axes x2 and y2."""
    plot = Plot("2", x, y)
    for kind in study.setting.kinds:
        points = study.of(kind)
        mark = kind_mark(kind)
        sure = [point for point in points if point.floating.decided]
        unsure = [point for point in points if not point.floating.decided]
        _draw_stems(plot, points, kind)
        _draw_gaps(plot, f"gap that decides, {kind}", sure, "soft", mark)
        hollow = f"{mark}-open"
        _draw_gaps(plot, f"gap that cannot decide, {kind}", unsure, "outside", hollow)
    widths_axis(plot, study, "" if study.setting.peer else "δ (all widths)")
    plot.log_axis("y", -0.6, 18.6, "gap", step=4)
    plot.headline(_gap_finding(study))
    place = {
        "xref": "x2 domain",
        "xanchor": "right",
        "yanchor": "top",
        "yshift": -3,
        "borderpad": 0,
    }
    # Where gaps are small, their stems run through the words.
    plot.text(
        "decides above", 1, 8, "note", "soft", **place, bgcolor=theme.color("ground")
    )
    plot.rule("y", DECISIVE_GAP, "ink", 1.5, "dash")
    return plot.view()


def _draw_stems(plot: Plot, points: list[Figure3Point], kind: str) -> None:
    widths = []
    heights = []
    for point in points:
        widths += [point.width] * 3
        heights += [DECISIVE_GAP, _height(point), None]
    name = f"from what decides to the gap, {kind}"
    plot.line(name, widths, heights, theme.color("ghost"), 1.5)


def _draw_gaps(
    plot: Plot, name: str, points: list[Figure3Point], role: str, symbol: str
) -> None:
    color = theme.color(role)
    marker = {
        "symbol": symbol,
        "size": theme.size("marker"),
        "color": color,
        "line": {"color": color, "width": 2},
    }
    look = {
        "text": [tiny(point.floating.gap) for point in points],
        "customdata": [point.floating.value for point in points],
        "hover": "float64 reads %{customdata}, gap %{text}",
        "cliponaxis": False,
    }
    y = [_height(point) for point in points]
    plot.points(name, _widths(points), y, marker, **look)


def _height(point: Figure3Point) -> float:
    return min(point.floating.gap, _TALLEST)


def _gap_finding(study: Figure3Study) -> str:
    points = study.points
    misled = sum(
        p.floating.decided and p.floating.value != p.exact.value for p in points
    )
    if misled:
        return f"float64: {misled} of {len(points)} decide WRONGLY"
    sure = sum(bool(p.floating.decided) for p in points)
    if sure == len(points):
        return (
            f"float64: all {sure} gaps decide"
            if sure > 1
            else "float64: the gap decides"
        )
    return f"float64: {sure} of {len(points)} gaps decide"


def float32_view(
    study: Figure3Study, x: tuple[float, float], y: tuple[float, float]
) -> View:
    """The last true singular value and the first false one in float32, on the axes x3
    and y3."""
    plot = Plot("3", x, y)
    drawn = [1e-7]  # the axis reaches down to float32’s rounding, whatever is drawn
    for kind in study.setting.kinds:
        drawn += _draw_singular_values(plot, study.of(kind), kind)
    _draw_tolerance(plot, study.of(KINDS[0]))
    widths_axis(plot, study)
    bottom = -3
    while 10.0**bottom >= 0.5 * min(drawn):
        bottom -= 1
    plot.log_axis("y", bottom, 1.6, "σ / σ<sub>1</sub>", step=2 if bottom > -10 else 5)
    plot.headline(_float32_finding(study))
    marks = "".join(_FILLED[kind] for kind in study.setting.kinds)
    plot.key([f"{marks} last true σ   ∘ rounding   ▬ tolerance"])
    return plot.view()


class _Sigma(NamedTuple):
    """A singular value in float32."""

    point: Figure3Point
    value: float


def _draw_singular_values(
    plot: Plot, points: list[Figure3Point], kind: str
) -> list[float]:
    """The last true ones, and the first false ones; returns all that are drawn."""
    kept = []
    lost = []
    false = []
    for point in points:
        value = _sigma(point, point.exact.value)
        if value is not None and value > point.float32.tolerance:
            kept.append(_Sigma(point, value))
        elif value is not None:
            lost.append(_Sigma(point, value))
        value = _sigma(point, point.exact.value + 1)
        if value is not None:
            false.append(_Sigma(point, value))
    size = theme.size("marker")
    mark = kind_mark(kind)
    hollow = f"{mark}-open"
    last = "last true singular value"
    _draw_sigmas(plot, f"{last}, kept, {kind}", kept, mark, "soft", size)
    _draw_sigmas(plot, f"{last}, lost, {kind}", lost, "x-thin", "outside", size + 4)
    first = f"first false singular value, {kind}"
    _draw_sigmas(plot, first, false, hollow, "ghost", size - 3)
    return [sigma.value for sigma in (*kept, *lost, *false)]


def _draw_sigmas(
    plot: Plot, name: str, sigmas: list[_Sigma], symbol: str, role: str, size: float
) -> None:
    color = theme.color(role)
    marker = {
        "symbol": symbol,
        "size": size,
        "color": color,
        "line": {"color": color, "width": 2.2 if symbol == "x-thin" else 1.2},
    }
    look = {
        "text": [sigma.point.float32.note for sigma in sigmas],
        "hover": "%{y:.1e}<br>%{text}",
    }
    x = [sigma.point.width for sigma in sigmas]
    y = [sigma.value for sigma in sigmas]
    plot.points(name, x, y, marker, **look)


def _draw_tolerance(plot: Plot, points: list[Figure3Point]) -> None:
    """A step for each width."""
    x = []
    y = []
    for point in points:
        x += [point.width - 0.5, point.width + 0.5]
        y += [point.float32.tolerance] * 2
    name = "tolerance of the rank in float32"
    color = theme.color("ink")
    hover = "counts as 0 below %{y:.1e}"
    plot.line(name, x, y, color, theme.size("line"), hover=hover)


def _sigma(point: Figure3Point, index: int) -> float | None:
    """A singular value in float32, counted from 1; None where there is none, or where
    it is 0."""
    found = point.float32.singular_values
    if index > len(found):
        return None
    value = float(found[index - 1])
    return None if value == 0 else value


def _float32_finding(study: Figure3Study) -> str:
    points = study.points
    over = sum(point.float32.value is None for point in points)
    wrong = sum(point.float32_is_wrong for point in points) - over
    parts = [f"misses {wrong} of {len(points)}"] if wrong or not over else []
    parts += [f"overflows at {over} of {len(points)}"] if over else []
    return "row-by-row float32 " + ", ".join(parts)
