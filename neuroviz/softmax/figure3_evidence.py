"""The right views of Figure 3: the gaps of float64, and where the float32 procedure draws its line."""

from neuroviz.engine.rank import DECISIVE_GAP
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, kind_mark, label, power_of_ten
from neuroviz.kit.words import tiny
from neuroviz.softmax.figure3 import KINDS, Figure3Point, Figure3Study
from neuroviz.softmax.figure3_curve import place, widths_axis

_GAPS, _SIGMAS = {"xaxis": "x2", "yaxis": "y2"}, {"xaxis": "x3", "yaxis": "y3"}
_TALLEST = 1e17  # where a gap is drawn below which there is nothing, or an exact zero


def gap_view(study: Figure3Study, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """σ_r / σ_{r+1} in float64 for each width, on the axes x2 and y2."""
    traces = [trace for kind in KINDS for trace in _gap_traces(study, kind)]
    axes = {
        "xaxis2": {
            "anchor": "y2",
            "domain": x_domain,
            **widths_axis(study),
            "title": {"text": "" if study.setting.peer else "δ (all widths)"},
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": y_domain,
            "type": "log",
            "range": [-0.6, 18.6],
            "tickvals": [10.0**k for k in (0, 4, 8, 12, 16)],
            "ticktext": [power_of_ten(k) for k in (0, 4, 8, 12, 16)],
            "title": {"text": "gap"},
        },
    }
    line = {
        "type": "line",
        "xref": "x2 domain",
        "yref": "y2",
        "x0": 0,
        "x1": 1,
        "y0": DECISIVE_GAP,
        "y1": DECISIVE_GAP,
        "line": {"color": theme.color("ink"), "width": 1.5, "dash": "dash"},
    }
    side = _quiet_side(study)
    note = label(
        "decides above",
        0 if side == "left" else 1,
        8,
        xref="x2 domain",
        yref="y2",
        xanchor=side,
        xshift=4 if side == "left" else 0,
        yanchor="top",
        yshift=-3,
        borderpad=0,
        bgcolor=theme.color("ground"),  # where gaps are small, their stems run through here
        font={"size": theme.size("note"), "color": theme.color("soft")},
    )
    return View(traces, axes, [headline(_gap_finding(study), "2"), note], [line])


def _quiet_side(study: Figure3Study) -> str:
    """Where fewer gaps lie below the line, so that words under it hide none: "left" or "right"."""
    middle = (study.setting.least + study.setting.most) / 2
    below = [p.width for p in study.points if p.floating.gap < DECISIVE_GAP]
    at_left = sum(width < middle for width in below)
    return "left" if len(below) > 2 * at_left else "right"


def _height(point: Figure3Point) -> float:
    return min(point.floating.gap, _TALLEST)


def _gap_traces(study: Figure3Study, kind: str) -> list[dict]:
    points = study.of(kind)
    sure = [p for p in points if p.floating.decided]
    unsure = [p for p in points if not p.floating.decided]
    stems = [(place(study, p), y) for p in points for y in (DECISIVE_GAP, _height(p), None)]
    return [
        {
            "name": f"from what decides to the gap, {kind}",
            **_GAPS,
            "x": [x for x, _ in stems],
            "y": [y for _, y in stems],
            "mode": "lines",
            "line": {"color": theme.color("ghost"), "width": 1.5},
            "hoverinfo": "skip",
        },
        _gap_marks(study, f"gap that decides, {kind}", sure, "soft", kind_mark(kind)),
        _gap_marks(study, f"gap that cannot decide, {kind}", unsure, "outside", f"{kind_mark(kind)}-open"),
    ]


def _gap_marks(study: Figure3Study, name: str, points: list[Figure3Point], role: str, symbol: str) -> dict:
    return {
        "name": name,
        **_GAPS,
        "x": [place(study, p) for p in points],
        "y": [_height(p) for p in points],
        "text": [tiny(p.floating.gap) for p in points],
        "customdata": [p.floating.value for p in points],
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "symbol": symbol,
            "size": theme.size("marker"),
            "color": theme.color(role),
            "line": {"color": theme.color(role), "width": 2},
        },
        "hovertemplate": "float64 reads %{customdata}, gap %{text}<extra></extra>",
    }


def _gap_finding(study: Figure3Study) -> str:
    points = study.points
    misled = sum(p.floating.decided and p.floating.value != p.exact.value for p in points)
    if misled:
        return f"float64: {misled} of {len(points)} decide WRONGLY"
    sure = sum(bool(p.floating.decided) for p in points)
    if sure == len(points):
        return f"float64: all {sure} gaps decide" if sure > 1 else "float64: the gap decides"
    return f"float64: {sure} of {len(points)} gaps decide"


def float32_view(study: Figure3Study, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The last true singular value and the first false one in float32, on the axes x3 and y3."""
    shown = study.setting.peer
    marks = "".join({"softmax": "■", "lightning": "●"}[kind] for kind in study.setting.kinds)
    traces = [trace for kind in KINDS for trace in _sigma_traces(study, kind)]
    traces.append(_tolerances(study))
    least = min([y for trace in traces for y in trace["y"] if y], default=1e-7)
    bottom = next(k for k in range(-3, -46, -1) if 10.0**k < 0.5 * least)
    decades = list(range(0, bottom - 1, -2 if bottom > -10 else -5))
    axes = {
        "xaxis3": {
            "anchor": "y3",
            "domain": x_domain,
            **widths_axis(study),
            "title": {"text": "δ (all widths)" if shown else ""},
            "visible": shown,
        },
        "yaxis3": {
            "anchor": "x3",
            "domain": y_domain,
            "type": "log",
            "range": [bottom, 1.6],
            "tickvals": [10.0**k for k in decades],
            "ticktext": [power_of_ten(k) for k in decades],
            "title": {"text": "σ / σ<sub>1</sub>" if shown else ""},
            "visible": shown,
        },
    }
    note = label(
        f"{marks} last true σ   ∘ rounding   ▬ tolerance" if shown else "",
        0,
        1,
        xref="x3 domain",
        yref="y3 domain",
        xanchor="left",
        yanchor="top",
        xshift=4,
        font={"size": theme.size("note"), "color": theme.color("soft")},
    )
    return View(traces, axes, [headline(_float32_finding(study), "3"), note], [])


def _sigma(point: Figure3Point, index: int) -> float | None:
    """A singular value in float32, counted from 1; None where there is none, or where it is 0."""
    found = point.float32.singular_values
    return float(found[index - 1]) or None if index <= len(found) else None


def _sigma_traces(study: Figure3Study, kind: str) -> list[dict]:
    points = [p for p in study.of(kind) if p.float32 is not None]
    last = [(p, _sigma(p, p.exact.value)) for p in points]
    kept = [(p, y) for p, y in last if y is not None and y > p.float32.tolerance]
    lost = [(p, y) for p, y in last if y is not None and y <= p.float32.tolerance]
    after = [(p, y) for p in points if (y := _sigma(p, p.exact.value + 1)) is not None]
    mark, marker = kind_mark(kind), theme.size("marker")
    return [
        _sigma_marks(study, f"last true singular value, kept, {kind}", kept, mark, "soft", marker),
        _sigma_marks(study, f"last true singular value, lost, {kind}", lost, "x-thin", "outside", marker + 4),
        _sigma_marks(
            study, f"first false singular value, {kind}", after, f"{mark}-open", "ghost", marker - 3
        ),
    ]


def _sigma_marks(
    study: Figure3Study,
    name: str,
    placed: list[tuple[Figure3Point, float]],
    symbol: str,
    role: str,
    size: float,
) -> dict:
    return {
        "name": name,
        **_SIGMAS,
        "x": [place(study, p) for p, _ in placed],
        "y": [y for _, y in placed],
        "text": [p.float32.note for p, _ in placed],
        "mode": "markers",
        "marker": {
            "symbol": symbol,
            "size": size,
            "color": theme.color(role),
            "line": {"color": theme.color(role), "width": 2.2 if symbol == "x-thin" else 1.2},
        },
        "hovertemplate": "%{y:.1e}<br>%{text}<extra></extra>",
    }


def _tolerances(study: Figure3Study) -> dict:
    points = [p for p in study.of(study.setting.kinds[0]) if p.float32 is not None]
    return {
        "name": "tolerance of the rank in float32",
        **_SIGMAS,
        "x": [p.width + side for p in points for side in (-0.5, 0.5)],
        "y": [p.float32.tolerance for p in points for _ in range(2)],
        "mode": "lines",
        "line": {"color": theme.color("ink"), "width": theme.size("line")},
        "hovertemplate": "counts as 0 below %{y:.1e}<extra></extra>",
    }


def _float32_finding(study: Figure3Study) -> str:
    asked = [p for p in study.points if p.float32 is not None]
    if not asked:
        return ""
    over = sum(p.float32.value is None for p in asked)
    wrong = sum(p.float32_is_wrong for p in asked) - over
    parts = [f"misses {wrong} of {len(asked)}"] if wrong or not over else []
    parts += [f"overflows at {over} of {len(asked)}"] if over else []
    return "row-by-row float32 " + ", ".join(parts)
