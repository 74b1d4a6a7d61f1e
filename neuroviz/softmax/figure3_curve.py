"""The left view of Figure 3: dimension against width, by formula, exactly, in float64 and in float32."""

from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, kind_dash, kind_mark, label
from neuroviz.kit.words import colored
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study

_BESIDE = 0.17  # how far the two kinds stand from δ when both are drawn


def place(study: Figure3Study, point: Figure3Point) -> float:
    """Where a point stands on the axis of widths: at δ, or beside it where there are two kinds."""
    if len(study.setting.kinds) == 1:
        return point.width
    return point.width + (-_BESIDE if point.arch.attention == KINDS[0] else _BESIDE)


def widths_axis(study: Figure3Study) -> dict:
    """Range and ticks of an axis of widths."""
    first, last = study.setting.least, study.setting.most
    return {"range": [first - 0.6, last + 0.6], "tickvals": list(range(first, last + 1))}


def curve_view(study: Figure3Study, x_domain: tuple[float, float]) -> View:
    """The curve, on the axes x and y."""
    traces = [trace for kind in KINDS for trace in _traces(study, kind)]
    return View(traces, _axes(study, x_domain), _annotations(study), [])


def _traces(study: Figure3Study, kind: str) -> list[dict]:
    points = study.of(kind)
    marker, mark = theme.size("marker"), kind_mark(kind)
    predicted = [point for point in points if point.expected.value is not None]
    read = [point for point in points if point.float32_difference is not None]
    right, wrong = ([p for p in read if p.float32_is_wrong is no] for no in (False, True))
    proved = [point for point in points if point.proved_by]
    return [
        _crosses(study, f"float32, right, {kind}", right, "ghost"),  # below the others
        _marks(study, f"formula, {kind}", predicted, [p.expected.value for p in predicted])
        | {
            "mode": "lines+markers",
            "text": [f"{p.expected.source}, {p.expected.status}" for p in predicted],
            "line": {"color": theme.color("formula"), "width": 1.2, "dash": kind_dash(kind)},
            "marker": {
                "symbol": f"{mark}-open",
                "size": marker + 8,
                "color": theme.color("formula"),
                "line": {"width": 1.4},
            },
            "hovertemplate": "%{text}: %{y}<extra></extra>",
        },
        _marks(study, f"exact (measured), {kind}", points, [p.exact.value for p in points])
        | {
            "mode": "markers+text",
            # Beside two curves there is no room for numbers.
            "text": [str(p.exact.value) if len(study.setting.kinds) == 1 else "" for p in points],
            "textposition": "top left",
            "textfont": {"size": theme.size("base"), "color": theme.color("measured")},
            "customdata": [p.exact.note for p in points],
            "marker": {"symbol": mark, "size": marker + 2, "color": theme.color("measured")},
            "hovertemplate": f"{kind}: %{{y}}, exact<br>%{{customdata}}<extra></extra>",
        },
        _marks(study, f"float64 (measured), {kind}", points, [p.floating.value for p in points])
        | {
            "mode": "markers",
            "text": [p.floating.note for p in points],
            "marker": {
                "symbol": "circle",
                "size": round(0.5 * marker),
                "color": theme.color("ground"),
                "line": {"color": theme.color("soft"), "width": 1},
            },
            "hovertemplate": f"{kind}: %{{y}} in float64<br>%{{text}}<extra></extra>",
        },
        _crosses(study, f"float32, wrong, {kind}", wrong, "outside")
        | {
            "mode": "markers+text",
            # Above the upper of two curves; else below, where no exact rank is written.
            "textposition": "bottom right" if kind == study.setting.kinds[-1] else "top left",
            "textfont": {"size": theme.size("base"), "color": theme.color("outside")},
        },
        _marks(study, f"certificates, {kind}", proved, [_row(study, kind)] * len(proved))
        | {
            "mode": "text",
            "text": ["◆" * len(p.proved_by) for p in proved],
            "customdata": [", ".join(p.proved_by) for p in proved],
            "textfont": {"size": theme.size("note"), "color": theme.color("certified")},
            "hovertemplate": f"{kind}: proved by %{{customdata}}<extra></extra>",
        },
    ]


def _marks(study: Figure3Study, name: str, points: object, values: list) -> dict:
    return {"name": name, "x": [place(study, p) for p in points], "y": values, "cliponaxis": False}


def _crosses(study: Figure3Study, name: str, points: list[Figure3Point], role: str) -> dict:
    return _marks(study, name, points, [p.float32.value for p in points]) | {
        "mode": "markers",
        "text": [difference(p.float32_difference) for p in points],
        "customdata": [p.float32.note for p in points],
        "marker": {
            "symbol": "x-thin",
            "size": 2 * theme.size("marker") + 4,
            "line": {"color": theme.color(role), "width": 2.2},
        },
        "hovertemplate": "%{y} in float32 (%{text})<br>%{customdata}<extra></extra>",
    }


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


def _row(study: Figure3Study, kind: str) -> float:
    """How high the diamonds of a kind stand, below the curve."""
    return -_top(study) * (0.12 if kind == study.setting.kinds[-1] else 0.06)


def _highest(study: Figure3Study) -> float:
    """The upper end of the axis: so that no point stands among the words in the upper left corner."""
    words = len(_legend(study)) * 1.35 * theme.size("note") / (0.8 * theme.size("height")) + 0.14
    first, last = study.setting.least, study.setting.most
    under = [p for p in study.points if p.width - first + 0.6 <= 0.72 * (last - first + 1.2)]
    tallest = max(max(p.exact.value, p.expected.value or 0, p.floating.value) for p in under)
    return max(1.12 * _top(study), tallest / (1 - words))


def _axes(study: Figure3Study, x_domain: tuple[float, float]) -> dict:
    below = (0.17 if study.setting.certificates else 0.05) * _top(study)
    return {
        "xaxis": {
            "anchor": "y",
            "domain": x_domain,
            **widths_axis(study),
            "title": {"text": "δ (all widths)"},
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0),
            "range": [-below, _highest(study)],
            "title": {"text": "dimension"},
        },
    }


def _annotations(study: Figure3Study) -> list[dict]:
    return [
        headline(_finding(study)),
        label(
            "<br>".join(_legend(study)),
            0,
            1,
            xref="x domain",
            yref="y domain",
            xanchor="left",
            yanchor="top",
            xshift=10,
            align="left",
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]


def _finding(study: Figure3Study) -> str:
    names = " and ".join(study.setting.kinds)
    off = [point for point in study.points if not point.on_formula]
    count = len(study.points)
    if off:
        where = ", ".join(map(str, sorted({point.width for point in off})))
        return f"{names}: exact rank and formula DIFFER at δ = {where}"
    if len(study.setting.kinds) == 2:
        return f"{names}: all {count} on the formula"
    if count == 1:
        return f"{names}: the exact rank is on the formula"
    return f"{names}: {count} of {count} exact ranks on the formula"


def _legend(study: Figure3Study) -> list[str]:
    kinds, setting = study.setting.kinds, study.setting
    filled = {"softmax": "■", "lightning": "●"}
    hollow = {"softmax": "□", "lightning": "○"}
    lines = [f"{colored('measured', ''.join(filled[k] for k in kinds))} exact"]
    lines[0] += f"   {''.join(hollow[k] for k in kinds)} formula   ∘ float64, inside"
    if len(kinds) == 2:
        lines.append("squares: softmax, circles: lightning")
    if setting.peer:
        off = colored("outside", "✕ where wrong, with the error")
        lines.append(f"{colored('ghost', '✕')} row-by-row float32, {off}")
    if setting.certificates:
        lines.append(f"{colored('certified', '◆')} a certificate: theorem, exact rank, ball")
    return lines
