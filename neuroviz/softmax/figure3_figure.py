"""Figure 3 of the paper, with its evidence: dimension against width, and how far a float can be trusted."""

from neuroviz.engine.rank import DECISIVE_GAP
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose, kind_mark
from neuroviz.kit.words import tiny
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study
from neuroviz.softmax.figure3_curve import curve_view, widths_axis

_LEFT, _RIGHT = (0.0, 0.56), (0.66, 1.0)
_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.36)
_TALLEST = 1e17  # where a gap is drawn below which there is nothing, or an exact zero


def figure3_parts(study: Figure3Study) -> Parts:
    """The curve, the gaps of float64, and where the float32 procedure draws its line."""
    if not study.setting.peer:
        return compose(curve_view(study, _LEFT), gap_view(study, _RIGHT, (0.0, 1.0)))
    gaps, float32 = gap_view(study, _RIGHT, _UPPER), float32_view(study, _RIGHT, _LOWER)
    return compose(curve_view(study, _LEFT), gaps, float32)


def gap_view(study: Figure3Study, x: tuple[float, float], y: tuple[float, float]) -> View:
    """σ_r / σ_{r+1} in float64 for each width, on the axes x2 and y2."""
    plot = Plot("2", x, y)
    for kind in study.setting.kinds:
        points, mark = study.of(kind), kind_mark(kind)
        widths = [point.width for point in points for _ in range(3)]
        stems = [height for point in points for height in (DECISIVE_GAP, _height(point), None)]
        plot.line(f"from what decides to the gap, {kind}", widths, stems, theme.color("ghost"), 1.5)
        sure = [point for point in points if point.floating.decided]
        unsure = [point for point in points if not point.floating.decided]
        for name, some, role, symbol in (
            ("gap that decides", sure, "soft", mark),
            ("gap that cannot decide", unsure, "outside", f"{mark}-open"),
        ):
            line = {"color": theme.color(role), "width": 2}
            look = {"symbol": symbol, "size": theme.size("marker"), "color": theme.color(role), "line": line}
            x, y = [point.width for point in some], list(map(_height, some))
            gaps, read = [tiny(p.floating.gap) for p in some], [point.floating.value for point in some]
            said = {"text": gaps, "customdata": read, "hover": "float64 reads %{customdata}, gap %{text}"}
            plot.points(f"{name}, {kind}", x, y, look, **said, cliponaxis=False)
    widths_axis(plot, study, "" if study.setting.peer else "δ (all widths)")
    plot.log_axis("y", -0.6, 18.6, "gap", step=4)
    plot.headline(_gap_finding(study))
    place = {"xref": "x2 domain", "xanchor": "right", "yanchor": "top", "yshift": -3, "borderpad": 0}
    # Where gaps are small, their stems run through the words.
    plot.text("decides above", 1, 8, "note", "soft", **place, bgcolor=theme.color("ground"))
    plot.rule("y", DECISIVE_GAP, "ink", 1.5, "dash")
    return plot.view()


def _height(point: Figure3Point) -> float:
    return min(point.floating.gap, _TALLEST)


def _gap_finding(study: Figure3Study) -> str:
    points = study.points
    misled = sum(p.floating.decided and p.floating.value != p.exact.value for p in points)
    if misled:
        return f"float64: {misled} of {len(points)} decide WRONGLY"
    sure = sum(bool(p.floating.decided) for p in points)
    if sure == len(points):
        return f"float64: all {sure} gaps decide" if sure > 1 else "float64: the gap decides"
    return f"float64: {sure} of {len(points)} gaps decide"


def float32_view(study: Figure3Study, x: tuple[float, float], y: tuple[float, float]) -> View:
    """The last true singular value and the first false one in float32, on the axes x3 and y3."""
    plot, size, drawn = Plot("3", x, y), theme.size("marker"), [1e-7]
    for kind in study.setting.kinds:
        points, mark = study.of(kind), kind_mark(kind)
        last = [(p, sigma) for p in points if (sigma := _sigma(p, p.exact.value)) is not None]
        after = [(p, sigma) for p in points if (sigma := _sigma(p, p.exact.value + 1)) is not None]
        kept = [(p, sigma) for p, sigma in last if sigma > p.float32.tolerance]
        lost = [(p, sigma) for p, sigma in last if sigma <= p.float32.tolerance]
        for name, found, symbol, role, large in (
            ("last true singular value, kept", kept, mark, "soft", size),
            ("last true singular value, lost", lost, "x-thin", "outside", size + 4),
            ("first false singular value", after, f"{mark}-open", "ghost", size - 3),
        ):
            line = {"color": theme.color(role), "width": 2.2 if symbol == "x-thin" else 1.2}
            look = {"symbol": symbol, "size": large, "color": theme.color(role), "line": line}
            widths, sigmas = [point.width for point, _ in found], [sigma for _, sigma in found]
            said = {"text": [point.float32.note for point, _ in found], "hover": "%{y:.1e}<br>%{text}"}
            plot.points(f"{name}, {kind}", widths, sigmas, look, **said)
            drawn += sigmas
    asked = study.of(KINDS[0])
    ends = [point.width + side for point in asked for side in (-0.5, 0.5)]
    heights = [point.float32.tolerance for point in asked for _ in range(2)]
    line, hover = (theme.color("ink"), theme.size("line")), "counts as 0 below %{y:.1e}"
    plot.line("tolerance of the rank in float32", ends, heights, *line, hover=hover)
    widths_axis(plot, study)
    bottom = next(k for k in range(-3, -46, -1) if 10.0**k < 0.5 * min(drawn))
    plot.log_axis("y", bottom, 1.6, "σ / σ<sub>1</sub>", step=2 if bottom > -10 else 5)
    plot.headline(_float32_finding(study))
    marks = "".join({"softmax": "■", "lightning": "●"}[kind] for kind in study.setting.kinds)
    plot.key([f"{marks} last true σ   ∘ rounding   ▬ tolerance"])
    return plot.view()


def _sigma(point: Figure3Point, index: int) -> float | None:
    """A singular value in float32, counted from 1; None where there is none, or where it is 0."""
    found = point.float32.singular_values
    return float(found[index - 1]) or None if index <= len(found) else None


def _float32_finding(study: Figure3Study) -> str:
    points = study.points
    over = sum(point.float32.value is None for point in points)
    wrong = sum(point.float32_is_wrong for point in points) - over
    parts = [f"misses {wrong} of {len(points)}"] if wrong or not over else []
    parts += [f"overflows at {over} of {len(points)}"] if over else []
    return "row-by-row float32 " + ", ".join(parts)
