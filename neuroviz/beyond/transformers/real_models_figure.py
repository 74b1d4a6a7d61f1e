"""Real models: small networks measured, the formula from them to the model, and all models side by side."""

from math import log10, sqrt

from neuroviz.beyond.transformers.model_bars import bars_view
from neuroviz.beyond.transformers.real_models_study import BlockCount, ModelStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, kind_dash, kind_mark, label
from neuroviz.kit.words import grouped, percent

_LEFT, _RIGHT = (0.0, 0.52), (0.67, 1.0)
_WIDTHS = (1.5, 30_000.0)
_TICKS = (2, 4, 8, 32, 128, 512, 2048, 8192)
_MARK, _DASH = kind_mark("softmax"), kind_dash("softmax")


def real_model_parts(study: ModelStudy) -> Parts:
    """Both views."""
    return compose(_widths_view(study), bars_view(study, _RIGHT))


def _widths_view(study: ModelStudy) -> View:
    """Over the width, both axes logarithmic: measured on the left, the model far to the right."""
    return View(_traces(study), _axes(study), _annotations(study), [_wash(study)])


def _rises(study: ModelStudy) -> bool:
    """Directions grow with the width, their share falls."""
    return study.setting.base == "directions"


# The marks


def _traces(study: ModelStudy) -> list[dict]:
    marker, base = theme.size("marker"), study.setting.base
    own, others = study.lines[-1], study.lines[:-1]
    at = study.blocks
    last = own[-1]
    starts = [line[0] for line in study.lines if line]
    return [
        _line("formula, other head dimensions", others, base, "ghost", 1.2),
        _line("formula, head dimension of the model", (own,), base, "formula", 1.6),
        {
            "name": "formula",
            "x": [block.formula.width for block in at],
            "y": [block.formula.shown(base) for block in at],
            "mode": "markers",
            "marker": {
                "symbol": f"{_MARK}-open",
                "size": marker + 6,
                "color": theme.color("formula"),
                "line": {"width": 1.4},
            },
            "hoverinfo": "skip",
        },
        {
            "name": "measured",
            "x": [block.formula.width for block in at],
            "y": [block.found.shown(base) for block in at],
            "customdata": [
                f"{block.measured.kernel} of {block.measured.num_columns} directions do nothing, measured "
                f"(formula {block.formula.redundant}): {block.formula.arch}"
                for block in at
            ],
            "mode": "markers",
            "marker": {"symbol": _MARK, "size": marker, "color": theme.color("measured")},
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        {
            "name": "extrapolated",
            "x": [last.width],
            "y": [last.shown(base)],
            "customdata": [f"{study.model.name}: by the formula, nothing was measured"],
            "mode": "markers",
            "marker": {
                "symbol": "diamond-open",
                "size": 2 * marker,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        {
            "name": "head dimensions",
            "x": [point.width for point in starts],
            "y": [point.shown(base) for point in starts],
            # A second row, which is empty, keeps the first one off the mark below.
            "text": [f"{'' if i else 'a = '}{point.head_dim}<br>\u2002" for i, point in enumerate(starts)],
            "mode": "text",
            "textposition": "top center",
            "textfont": {"size": theme.size("note"), "color": theme.color("soft")},
            "cliponaxis": False,
            "hoverinfo": "skip",
        },
    ]


def _line(name: str, lines: tuple[tuple[BlockCount, ...], ...], base: str, role: str, width: float) -> dict:
    points = [point for line in lines for point in [*line, None]]
    return {
        "name": name,
        "x": [point and point.width for point in points],
        "y": [point and point.shown(base) for point in points],
        "text": ["" if point is None else f"a = {point.head_dim}, H = {point.heads}" for point in points],
        "mode": "lines",
        "connectgaps": False,
        "line": {"color": theme.color(role), "width": width, "dash": _DASH},
        "hovertemplate": "formula, %{text}<extra></extra>",
    }


# Axes and words


def _range(study: ModelStudy) -> tuple[float, float]:
    """Exponents of the lowest and the highest value, with room for words beyond the model's."""
    values = [point.shown(study.setting.base) for line in study.lines for point in line]
    values += [block.found.shown(study.setting.base) for block in study.blocks]
    low, high = log10(min(v for v in values if v > 0)), log10(max(values))
    room = 0.28 * (high - low)
    return (low - 0.25 * room, high + room) if _rises(study) else (low - room, high + 0.65 * room)


def _axes(study: ModelStudy) -> dict:
    low, high = _range(study)
    steps = (1, 2, 5) if high - low < 2.5 else (1,)
    values = [step * 10.0**k for k in range(-5, 9) for step in steps if low <= log10(step) + k <= high]
    title = "redundant directions a layer" if _rises(study) else "of the attention weights do nothing"
    return {
        "xaxis": {
            "anchor": "y",
            "domain": _LEFT,
            "type": "log",
            "range": [log10(w) for w in _WIDTHS],
            "tickvals": list(_TICKS),
            "ticktext": [str(w) for w in _TICKS],
            "tickangle": 0,
            "showgrid": False,
            "title": {"text": "width d"},
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0),
            "type": "log",
            "range": [low, high],
            "tickvals": values,
            "ticktext": [grouped(round(v)) if _rises(study) else percent(v) for v in values],
            "title": {"text": title},
        },
    }


def _wash(study: ModelStudy) -> dict:
    """Where nothing was measured; shapes take data values on a logarithmic axis."""
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y domain",
        "x0": study.setting.widest * sqrt(2),
        "x1": _WIDTHS[1],
        "y0": 0,
        "y1": 1,
        "layer": "below",
        "line": {"width": 0},
        "fillcolor": theme.color("wash"),
    }


def _annotations(study: ModelStudy) -> list[dict]:
    note, rises = theme.size("note"), _rises(study)
    right = len(study.blocks) - len(study.wrong)
    word = "WRONG" if study.wrong else "right"
    count = len(study.wrong) if study.wrong else right
    last = study.lines[-1][-1]
    far = last.width > 1500
    soft = {"size": note, "color": theme.color("soft")}
    return [
        headline(f"formula {word} on {count} of {len(study.blocks)} small networks"),
        label(
            f"<b>{study.model.name}: {_value(study)}</b><br>extrapolated",
            log10(last.width),
            log10(last.shown(study.setting.base)),
            xanchor="right" if far else "center",
            xshift=2 * note if far else 0,
            yanchor="bottom" if rises else "top",
            yshift=theme.size("marker") + 4 if rises else -theme.size("marker") - 4,
            align="right" if far else "center",
            font={"size": note, "color": theme.color("focus")},
        ),
        label(
            "nothing was<br>measured here",
            1,
            0 if rises else 1,
            xref="x domain",
            yref="y domain",
            xanchor="right",
            yanchor="bottom" if rises else "top",
            xshift=-8,
            align="right",
            font=soft,
        ),
        label(
            f'<span style="color:{theme.color("measured")}">■</span> measured<br>□ formula',
            0,
            1 if rises else 0,
            xref="x domain",
            yref="y domain",
            xanchor="left",
            yanchor="top" if rises else "bottom",
            xshift=6,
            align="left",
            font=soft,
        ),
    ]


def _value(study: ModelStudy) -> str:
    last = study.lines[-1][-1]
    value = last.shown(study.setting.base)
    return f"{grouped(round(value))} a layer" if _rises(study) else percent(value)
