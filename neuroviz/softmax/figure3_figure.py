"""Figure 3 of the paper, with its evidence: dimension against width, and how far a
float can be trusted."""

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
        first - 0.6,
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
    size = theme.size("marker")
    mark = kind_mark(kind)
    x = _widths(study.of(kind))
    formula = theme.color("formula")
    measured = theme.color("measured")
    large = theme.size("base")
    read = [point for point in points if point.float32_difference is not None]
    right, wrong = (
        [p for p in read if p.float32_is_wrong == off] for off in (False, True)
    )
    _crosses(plot, f"float32, right, {kind}", right, "ghost")
    hollow = {
        "symbol": f"{mark}-open",
        "size": size + 8,
        "color": formula,
        "line": {"width": 1.4},
    }
    look = {
        "mode": "lines+markers",
        "line": {"color": formula, "width": 1.2, "dash": kind_dash(kind)},
    }
    look |= {
        "text": [f"{p.expected.source}, {p.expected.status}" for p in points],
        "hover": "%{text}: %{y}",
    }
    plot.points(
        f"formula, {kind}",
        x,
        [point.expected.value for point in points],
        hollow,
        **look,
    )
    filled = {"symbol": mark, "size": size + 2, "color": measured}
    look = {
        "mode": "markers+text",
        "text": _numbers(study, kind),
        "textposition": "top left",
    }
    look |= {
        "textfont": {"size": large, "color": measured},
        "customdata": [p.exact.note for p in points],
    }
    look["hover"] = f"{kind}: %{{y}}, exact<br>%{{customdata}}"
    plot.points(
        f"exact (measured), {kind}",
        x,
        [point.exact.value for point in points],
        filled,
        **look,
    )
    inside = {
        "symbol": "circle",
        "size": round(0.5 * size),
        "color": theme.color("ground"),
    }
    inside["line"] = {"color": theme.color("soft"), "width": 1}
    look = {
        "text": [p.floating.note for p in points],
        "hover": f"{kind}: %{{y}} in float64<br>%{{text}}",
    }
    plot.points(
        f"float64 (measured), {kind}",
        x,
        [p.floating.value for p in points],
        inside,
        **look,
    )
    where = {
        "mode": "markers+text",
        "textposition": "middle right" if kind == KINDS[0] else "bottom left",
    }
    font = {"size": large, "color": theme.color("outside")}
    _crosses(plot, f"float32, wrong, {kind}", wrong, "outside", **where, textfont=font)


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
        widths = [point.width for point in points for _ in range(3)]
        stems = [
            height
            for point in points
            for height in (DECISIVE_GAP, _height(point), None)
        ]
        plot.line(
            f"from what decides to the gap, {kind}",
            widths,
            stems,
            theme.color("ghost"),
            1.5,
        )
        sure = [point for point in points if point.floating.decided]
        unsure = [point for point in points if not point.floating.decided]
        for name, some, role, symbol in (
            ("gap that decides", sure, "soft", mark),
            ("gap that cannot decide", unsure, "outside", f"{mark}-open"),
        ):
            line = {"color": theme.color(role), "width": 2}
            look = {
                "symbol": symbol,
                "size": theme.size("marker"),
                "color": theme.color(role),
                "line": line,
            }
            x = [point.width for point in some]
            y = list(map(_height, some))
            gaps = [tiny(p.floating.gap) for p in some]
            read = [point.floating.value for point in some]
            said = {
                "text": gaps,
                "customdata": read,
                "hover": "float64 reads %{customdata}, gap %{text}",
            }
            plot.points(f"{name}, {kind}", x, y, look, **said, cliponaxis=False)
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
    size = theme.size("marker")
    drawn = [1e-7]
    for kind in study.setting.kinds:
        points = study.of(kind)
        mark = kind_mark(kind)
        last = [
            (p, sigma)
            for p in points
            if (sigma := _sigma(p, p.exact.value)) is not None
        ]
        after = [
            (p, sigma)
            for p in points
            if (sigma := _sigma(p, p.exact.value + 1)) is not None
        ]
        kept = [(p, sigma) for p, sigma in last if sigma > p.float32.tolerance]
        lost = [(p, sigma) for p, sigma in last if sigma <= p.float32.tolerance]
        for name, found, symbol, role, large in (
            ("last true singular value, kept", kept, mark, "soft", size),
            ("last true singular value, lost", lost, "x-thin", "outside", size + 4),
            ("first false singular value", after, f"{mark}-open", "ghost", size - 3),
        ):
            line = {
                "color": theme.color(role),
                "width": 2.2 if symbol == "x-thin" else 1.2,
            }
            look = {
                "symbol": symbol,
                "size": large,
                "color": theme.color(role),
                "line": line,
            }
            widths = [point.width for point, _ in found]
            sigmas = [sigma for _, sigma in found]
            said = {
                "text": [point.float32.note for point, _ in found],
                "hover": "%{y:.1e}<br>%{text}",
            }
            plot.points(f"{name}, {kind}", widths, sigmas, look, **said)
            drawn += sigmas
    asked = study.of(KINDS[0])
    ends = [point.width + side for point in asked for side in (-0.5, 0.5)]
    heights = [point.float32.tolerance for point in asked for _ in range(2)]
    line = (theme.color("ink"), theme.size("line"))
    hover = "counts as 0 below %{y:.1e}"
    plot.line("tolerance of the rank in float32", ends, heights, *line, hover=hover)
    widths_axis(plot, study)
    bottom = next(k for k in range(-3, -46, -1) if 10.0**k < 0.5 * min(drawn))
    plot.log_axis("y", bottom, 1.6, "σ / σ<sub>1</sub>", step=2 if bottom > -10 else 5)
    plot.headline(_float32_finding(study))
    marks = "".join(
        {"softmax": "■", "lightning": "●"}[kind] for kind in study.setting.kinds
    )
    plot.key([f"{marks} last true σ   ∘ rounding   ▬ tolerance"])
    return plot.view()


def _sigma(point: Figure3Point, index: int) -> float | None:
    """A singular value in float32, counted from 1; None where there is none, or where
    it is 0."""
    found = point.float32.singular_values
    return float(found[index - 1]) or None if index <= len(found) else None


def _float32_finding(study: Figure3Study) -> str:
    points = study.points
    over = sum(point.float32.value is None for point in points)
    wrong = sum(point.float32_is_wrong for point in points) - over
    parts = [f"misses {wrong} of {len(points)}"] if wrong or not over else []
    parts += [f"overflows at {over} of {len(points)}"] if over else []
    return "row-by-row float32 " + ", ".join(parts)
