"""The right views of Figure 3: the gaps of float64, and where the float32 procedure draws its line."""

from neuroviz.engine.rank import DECISIVE_GAP
from neuroviz.kit import theme
from neuroviz.kit.plot import Plot, View, kind_mark, label
from neuroviz.kit.words import tiny
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study
from neuroviz.softmax.figure3_curve import widths_axis

_TALLEST = 1e17  # where a gap is drawn below which there is nothing, or an exact zero


def gap_view(study: Figure3Study, x: tuple[float, float], y: tuple[float, float]) -> View:
    """σ_r / σ_{r+1} in float64 for each width, on the axes x2 and y2."""
    plot = Plot("2", x, y)
    for kind in KINDS:
        points = study.of(kind)
        sure = [point for point in points if point.floating.decided]
        unsure = [point for point in points if not point.floating.decided]
        plot.line(
            f"from what decides to the gap, {kind}",
            [point.width for point in points for _ in range(3)],
            [height for point in points for height in (DECISIVE_GAP, _height(point), None)],
            theme.color("ghost"),
            1.5,
        )
        _gaps(plot, f"gap that decides, {kind}", sure, "soft", kind_mark(kind))
        _gaps(plot, f"gap that cannot decide, {kind}", unsure, "outside", f"{kind_mark(kind)}-open")
    widths_axis(plot, study, "" if study.setting.peer else "δ (all widths)")
    plot.log_axis("y", -0.6, 18.6, "gap", step=4)
    plot.headline(_gap_finding(study))
    view = plot.view()
    place = {"xref": "x2 domain", "xanchor": "right", "yanchor": "top", "yshift": -3, "borderpad": 0}
    # Where gaps are small, their stems run through the words.
    look = {
        "bgcolor": theme.color("ground"),
        "font": {"size": theme.size("note"), "color": theme.color("soft")},
    }
    view.annotations.append(label("decides above", 1, 8, "2", **place, **look))
    ends = {"xref": "x2 domain", "yref": "y2", "x0": 0, "x1": 1, "y0": DECISIVE_GAP, "y1": DECISIVE_GAP}
    line = {"color": theme.color("ink"), "width": 1.5, "dash": "dash"}
    view.shapes.append({"type": "line", **ends, "line": line})
    return view


def _height(point: Figure3Point) -> float:
    return min(point.floating.gap, _TALLEST)


def _gaps(plot: Plot, name: str, points: list[Figure3Point], role: str, symbol: str) -> None:
    look = {"symbol": symbol, "size": theme.size("marker"), "color": theme.color(role)}
    plot.points(
        name,
        [point.width for point in points],
        [_height(point) for point in points],
        look | {"line": {"color": theme.color(role), "width": 2}},
        text=[tiny(point.floating.gap) for point in points],
        customdata=[point.floating.value for point in points],
        cliponaxis=False,
        hover="float64 reads %{customdata}, gap %{text}",
    )


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
    plot, shown, size = Plot("3", x, y), study.setting.peer, theme.size("marker")
    drawn = [1e-7]
    for kind in KINDS:
        points, mark = [point for point in study.of(kind) if point.float32 is not None], kind_mark(kind)
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
            plot.points(
                f"{name}, {kind}",
                [point.width for point, _ in found],
                [sigma for _, sigma in found],
                {"symbol": symbol, "size": large, "color": theme.color(role), "line": line},
                text=[point.float32.note for point, _ in found],
                hover="%{y:.1e}<br>%{text}",
            )
            drawn += [sigma for _, sigma in found]
    asked = [point for point in study.of(KINDS[0]) if point.float32 is not None]
    plot.line(
        "tolerance of the rank in float32",
        [point.width + side for point in asked for side in (-0.5, 0.5)],
        [point.float32.tolerance for point in asked for _ in range(2)],
        theme.color("ink"),
        theme.size("line"),
        hover="counts as 0 below %{y:.1e}",
    )
    widths_axis(plot, study, "δ (all widths)" if shown else "", visible=shown)
    bottom = next(k for k in range(-3, -46, -1) if 10.0**k < 0.5 * min(drawn))
    plot.log_axis(
        "y", bottom, 1.6, "σ / σ<sub>1</sub>" if shown else "", step=2 if bottom > -10 else 5, visible=shown
    )
    plot.headline(_float32_finding(study))
    marks = "".join({"softmax": "■", "lightning": "●"}[kind] for kind in study.setting.kinds)
    plot.key([f"{marks} last true σ   ∘ rounding   ▬ tolerance" if shown else ""])
    return plot.view()


def _sigma(point: Figure3Point, index: int) -> float | None:
    """A singular value in float32, counted from 1; None where there is none, or where it is 0."""
    found = point.float32.singular_values
    return float(found[index - 1]) or None if index <= len(found) else None


def _float32_finding(study: Figure3Study) -> str:
    asked = [point for point in study.points if point.float32 is not None]
    if not asked:
        return ""
    over = sum(point.float32.value is None for point in asked)
    wrong = sum(point.float32_is_wrong for point in asked) - over
    parts = [f"misses {wrong} of {len(asked)}"] if wrong or not over else []
    parts += [f"overflows at {over} of {len(asked)}"] if over else []
    return "row-by-row float32 " + ", ".join(parts)
