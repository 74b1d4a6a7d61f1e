"""The left view of Figure 3: dimension against width, by formula, exactly, in float64 and in float32."""

from neuroviz.kit import theme
from neuroviz.kit.plot import Plot, View, kind_dash, kind_mark
from neuroviz.kit.words import colored
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study

_FILLED, _HOLLOW = {"softmax": "■", "lightning": "●"}, {"softmax": "□", "lightning": "○"}


def widths_axis(plot: Plot, study: Figure3Study, title: str = "δ (all widths)", **more: object) -> None:
    """The axis of widths, a tick for each."""
    first, last = study.setting.span
    plot.axis("x", first - 0.6, last + 0.6, title, tickvals=list(range(first, last + 1)), **more)


def curve_view(study: Figure3Study, x: tuple[float, float]) -> View:
    """The curve, on the axes x and y; both kinds stand at their width."""
    plot = Plot("", x, (0.0, 1.0))
    for kind in reversed(study.setting.kinds):  # softmax over lightning
        _draw(plot, study, kind)
    widths_axis(plot, study)
    words, top = _legend(study), _top(study)
    below = (0.17 if study.setting.certificates else 0.05) * top
    plot.axis("y", -below, (1.2 + 0.12 * len(words)) * top, "dimension")  # the words stand over all points
    plot.headline(_finding(study))
    plot.key(words, align="left")
    return plot.view()


def _draw(plot: Plot, study: Figure3Study, kind: str) -> None:
    points, size, mark, x = study.of(kind), theme.size("marker"), kind_mark(kind), _widths(study.of(kind))
    formula, measured, large = theme.color("formula"), theme.color("measured"), theme.size("base")
    read = [point for point in points if point.float32_difference is not None]
    right, wrong = ([p for p in read if p.float32_is_wrong == off] for off in (False, True))
    _crosses(plot, f"float32, right, {kind}", right, "ghost")
    hollow = {"symbol": f"{mark}-open", "size": size + 8, "color": formula, "line": {"width": 1.4}}
    look = {"mode": "lines+markers", "line": {"color": formula, "width": 1.2, "dash": kind_dash(kind)}}
    look |= {"text": [f"{p.expected.source}, {p.expected.status}" for p in points], "hover": "%{text}: %{y}"}
    plot.points(f"formula, {kind}", x, [point.expected.value for point in points], hollow, **look)
    filled = {"symbol": mark, "size": size + 2, "color": measured}
    look = {"mode": "markers+text", "text": _numbers(study, kind), "textposition": "top left"}
    look |= {"textfont": {"size": large, "color": measured}, "customdata": [p.exact.note for p in points]}
    look["hover"] = f"{kind}: %{{y}}, exact<br>%{{customdata}}"
    plot.points(f"exact (measured), {kind}", x, [point.exact.value for point in points], filled, **look)
    inside = {"symbol": "circle", "size": round(0.5 * size), "color": theme.color("ground")}
    inside["line"] = {"color": theme.color("soft"), "width": 1}
    look = {"text": [p.floating.note for p in points], "hover": f"{kind}: %{{y}} in float64<br>%{{text}}"}
    plot.points(f"float64 (measured), {kind}", x, [p.floating.value for p in points], inside, **look)
    where = {"mode": "markers+text", "textposition": "middle right" if kind == KINDS[0] else "bottom left"}
    font = {"size": large, "color": theme.color("outside")}
    _crosses(plot, f"float32, wrong, {kind}", wrong, "outside", **where, textfont=font)
    proved = [point for point in points if point.proved_by]
    row = -_top(study) * (0.06 if kind == KINDS[0] else 0.12)
    font = {"size": theme.size("note"), "color": theme.color("certified")}
    look = {"mode": "text", "text": ["◆" * len(point.proved_by) for point in proved], "textfont": font}
    look |= {"customdata": [", ".join(point.proved_by) for point in proved]}
    look["hover"] = f"{kind}: proved by %{{customdata}}"
    plot.points(f"certificates, {kind}", _widths(proved), [row] * len(proved), {}, **look)


def _widths(points: object) -> list[int]:
    return [point.width for point in points]


def _numbers(study: Figure3Study, kind: str) -> list[str]:
    """Beside one curve its numbers; where there are two, beside the upper one how far they are apart."""
    if not study.setting.lightning:
        return [str(point.exact.value) for point in study.of(kind)]
    if kind == "lightning":
        return [""] * len(study.of(kind))
    pairs = zip(study.of("softmax"), study.of("lightning"), strict=True)
    return [difference(one.exact.value - other.exact.value) for one, other in pairs]


def _crosses(plot: Plot, name: str, points: list[Figure3Point], role: str, **more: object) -> None:
    y, line = [point.float32.value for point in points], {"color": theme.color(role), "width": 2.2}
    look = {"symbol": "x-thin", "size": 2 * theme.size("marker") + 4, "line": line}
    more["text"] = [difference(point.float32_difference) for point in points]
    more["customdata"] = [point.float32.note for point in points]
    plot.points(name, _widths(points), y, look, hover="%{y} in float32 (%{text})<br>%{customdata}", **more)


def difference(number: int) -> str:
    """A difference with its sign.

    >>> difference(-3), difference(2), difference(0)
    ('−3', '+2', '±0')
    """
    return "±0" if number == 0 else f"{number:+d}".replace("-", "−")


def _top(study: Figure3Study) -> int:
    """The largest number that is drawn."""
    numbers = [n for p in study.points for n in (p.exact.value, p.floating.value, p.expected.value)]
    numbers += [p.float32.value for p in study.points if p.float32]
    return max(n for n in numbers if n is not None)


def _finding(study: Figure3Study) -> str:
    names, count = " and ".join(study.setting.kinds), len(study.points)
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
    filled, hollow = ("".join(marks[kind] for kind in setting.kinds) for marks in (_FILLED, _HOLLOW))
    lines = [f"{colored('measured', filled)} exact   {hollow} formula   ∘ float64, inside"]
    if setting.lightning:
        lines.append("squares: softmax, circles: lightning; numbers: how far apart")
    if setting.peer:
        off = colored("outside", "✕ where wrong, with the error")
        lines.append(f"{colored('ghost', '✕')} row-by-row float32, {off}")
    if setting.certificates:
        lines.append(f"{colored('certified', '◆')} a certificate: theorem, exact rank, ball")
    return lines
