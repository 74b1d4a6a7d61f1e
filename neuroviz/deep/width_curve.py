"""The upper right view: dimension against width, measured and by the formula, as separate marks."""

from neuroviz.deep.dimension import DimensionStudy, has_a_place, paper_name
from neuroviz.kit import theme
from neuroviz.kit.plot import View, focus_ring, headline, kind_dash, kind_mark, label, outside_words

_ON = {"xaxis": "x2", "yaxis": "y2"}


def width_view(study: DimensionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The curve over the widths, on the axes x2 and y2."""
    return View(_traces(study), _axes(study, x_domain, y_domain), _annotations(study), [])


def _traces(study: DimensionStudy) -> list[dict]:
    marker, mark = theme.size("marker"), kind_mark(study.arch.attention)
    measured = [point for point in study.widths if point.measured is not None]
    outside = [point for point in study.widths if has_a_place(point.paper, point.expected)]
    here = next(point for point in study.widths if point.width == study.width)
    return [
        {
            "name": "formula",
            **_ON,
            "x": [point.width for point in study.widths],
            "y": [point.expected.value for point in study.widths],
            "text": [point.expected.source for point in study.widths],
            "mode": "lines+markers",
            "line": {"color": theme.color("formula"), "width": 1.2, "dash": kind_dash(study.arch.attention)},
            "marker": {
                "symbol": f"{mark}-open",
                "size": marker + 6,
                "color": theme.color("formula"),
                "line": {"width": 1.4},
            },
            "hovertemplate": "%{text}: %{y}<extra></extra>",
        },
        {
            "name": "measured",
            **_ON,
            "x": [point.width for point in measured],
            "y": [point.measured.value for point in measured],
            "mode": "markers",
            "marker": {"symbol": mark, "size": marker, "color": theme.color("measured")},
            "hovertemplate": f"{study.width_name} = %{{x}}: measured %{{y}}<extra></extra>",
        },
        {
            "name": "the paper's formula outside its hypotheses",
            **_ON,
            "x": [point.width for point in outside],
            "y": [point.paper.value for point in outside],
            "text": [f"{p.paper.value - p.expected.value:+d}".replace("-", "−") for p in outside],
            "customdata": [point.paper.note for point in outside],
            "mode": "markers+text",
            "cliponaxis": False,
            "textposition": "top center",
            "textfont": {"size": theme.size("note"), "color": theme.color("outside")},
            "marker": {
                "symbol": "x-thin",
                "size": marker,
                "line": {"color": theme.color("outside"), "width": 2.2},
            },
            "hovertemplate": "%{y}: does not apply, %{customdata}<extra></extra>",
        },
        {
            "name": "this architecture (measured)",
            **_ON,
            "x": [study.width],
            "y": [study.exact.value if here.measured is None else here.measured.value],
            "mode": "markers",
            "marker": focus_ring(study.arch.attention),
            "hoverinfo": "skip",
        },
    ]


def _axes(study: DimensionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> dict:
    top = max(
        [p.expected.value or 0 for p in study.widths]
        + [p.measured.value for p in study.widths if p.measured]
        + [p.paper.value for p in study.widths if has_a_place(p.paper, p.expected)]
    )
    first, last = study.widths[0].width, study.widths[-1].width
    return {
        "xaxis2": {
            "anchor": "y2",
            "domain": x_domain,
            "range": [first - 0.6, last + 0.6],
            "tickvals": list(range(first, last + 1)),
            "title": {"text": _axis_title(study)},
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": y_domain,
            "range": [-0.06 * top, (1.5 if _has_crosses(study) else 1.25) * top],
            "title": {"text": "dimension"},
            "nticks": 4,
        },
    }


def _annotations(study: DimensionStudy) -> list[dict]:
    return [
        headline(_headline(study), "2"),
        label(
            _legend(study),
            0,
            1,
            xref="x2 domain",
            yref="y2 domain",
            xanchor="left",
            yanchor="top",
            xshift=8,
            align="left",
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]


def _headline(study: DimensionStudy) -> str:
    off = [p.width for p in study.widths if p.measured and p.measured.value != p.expected.value]
    if off:
        return f"formula and measurement DIFFER at {study.width_name} = {', '.join(map(str, off))}"
    measured = sum(p.measured is not None for p in study.widths)
    if measured < len(study.widths):
        return f"formula agrees at all {measured} measured"
    return "formula and measurement agree"


def _axis_title(study: DimensionStudy) -> str:
    return {"all": "δ (all widths)", "inner": "δ (inner widths)", "input": "d₀ (input width)"}[study.varies]


def _legend(study: DimensionStudy) -> str:
    filled, hollow = ("■", "□") if study.arch.attention == "softmax" else ("●", "○")
    lines = [f"{filled} measured   {hollow} formula"]
    if _has_crosses(study):
        lines.append(outside_words(f"✕ {paper_name(study.paper)} where it does not apply"))
    return "<br>".join(lines)


def _has_crosses(study: DimensionStudy) -> bool:
    return any(has_a_place(point.paper, point.expected) for point in study.widths)
