"""The singular values on the way to a special first layer, beside those without it."""

from neuroviz import theme
from neuroviz.figures.parts import View, headline, label, outside_words, power_of_ten
from neuroviz.peeling import PeelStudy

_FLOOR = 1e-17  # where an exact zero is drawn on the log axis
_BOTTOM, _TOP = -18.6, 0.9  # log₁₀ of the ends of that axis
_NOISE = 2e-14  # up to where rounding alone may lift a singular value, generously
_TAIL = 1.3  # where the network without its first layer stands on the axis of s
END_NAMES = {"antisymmetric": "αβᵀ − βαᵀ", "symmetric": "ααᵀ", "rank-one": "αβᵀ"}


def spectra_view(study: PeelStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The ways of the singular values, on the axes x2 and y2."""
    generic, last = study.at_start.value, study.at_end.value
    marker = theme.size("marker")
    kept, zeros = _split(study.spectrum, study.here.value)
    tail_kept, tail_zeros = _split(study.tail_spectrum, study.tail.value)
    s = study.setting.place
    traces = [
        _ways(study, "singular values along the way (measured)", range(min(last, generic)), "measured", 1.2),
        _ways(
            study,
            "singular values that fall to 0 (measured)",
            range(last, generic),
            "outside",
            theme.size("line") + 0.4,
        ),
        {
            "name": "this place",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [s, s],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("focus"), "width": theme.size("line")},
            "hoverinfo": "skip",
        },
        _dots("singular values here (measured)", s, kept, True, marker),
        _dots("zeros here (measured)", s, zeros, False, marker),
        _dots("singular values without layer 1 (measured)", _TAIL, tail_kept, True, marker),
        _dots("zeros without layer 1 (measured)", _TAIL, tail_zeros, False, marker),
    ]
    return View(traces, _axes(study, x_domain, y_domain), _labels(study), [_noise_band(), _divider()])


def _split(spectrum: object, rank: int) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others; zeros sit on the floor of the axis."""
    sigma = [max(float(value), _FLOOR) for value in spectrum.singular_values]
    return sigma[:rank], sigma[rank:]


def _ways(study: PeelStudy, name: str, which: range, role: str, width: float) -> dict:
    """One line for each singular value, all in one trace."""
    x, y = [], []
    for i in which:
        for placed in study.path:
            x.append(placed.place)
            y.append(max(float(placed.spectrum.singular_values[i]), _FLOOR))
        x.append(None)
        y.append(None)
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": x,
        "y": y,
        "mode": "lines",
        "opacity": 0.55 if role == "measured" else 1.0,
        "line": {"color": theme.color(role), "width": width, "simplify": False},
        "hoverinfo": "skip",
    }


def _dots(name: str, x: float, values: list[float], filled: bool, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [x] * len(values),
        "y": values,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size if filled else size - 1,
            "color": theme.color("measured" if filled else "ground"),
            "line": {"color": theme.color("ground" if filled else "ghost"), "width": 0.8 if filled else 1.5},
        },
        "hovertemplate": "%{y:.1e}<extra></extra>",
    }


def _axes(study: PeelStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> dict:
    name = END_NAMES[study.setting.end]
    return {
        "xaxis2": {
            "domain": x_domain,
            "anchor": "y2",
            "range": [-0.06, _TAIL + 0.27],
            "tickvals": [0, 1, _TAIL],
            "ticktext": ["s = 0:<br>M₁ random", f"s = 1:<br>{name}", "without<br>layer 1"],
            "showgrid": False,
        },
        "yaxis2": {
            "domain": y_domain,
            "anchor": "x2",
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [10.0**k for k in range(-16, 1, 4)],
            "ticktext": [power_of_ten(k) for k in range(-16, 1, 4)],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
        },
    }


def _noise_band() -> dict:
    return {
        "type": "rect",
        "xref": "x2 domain",
        "yref": "y2",
        "x0": 0,
        "x1": 1,
        "y0": 10**_BOTTOM,
        "y1": _NOISE,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
        "layer": "below",
    }


def _divider() -> dict:
    """Between the way and the other network."""
    middle = (1 + _TAIL) / 2
    return {
        "type": "line",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": middle,
        "x1": middle,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.color("axis"), "width": 1, "dash": "dot"},
    }


def _labels(study: PeelStudy) -> list[dict]:
    s, soft = study.setting.place, {"size": theme.size("note"), "color": theme.color("soft")}
    to_the_left = s > 0.55
    zeros, tail_zeros = study.here.kernel, study.tail.kernel
    return [
        headline(_finding(study), "2"),
        label(
            f"{_zeros(zeros)} here",
            s,
            -16.3,
            "2",
            xanchor="right" if to_the_left else "left",
            yanchor="middle",
            xshift=-12 if to_the_left else 12,
            font=soft,
        ),
        label(_zeros(tail_zeros), _TAIL, -16.3, "2", xanchor="left", yanchor="middle", xshift=12, font=soft),
        label(
            "rounding",
            0.0 if s > 0.55 else 0.78,
            -16.3,
            "2",
            xanchor="left" if s > 0.55 else "center",
            yanchor="middle",
            font=soft,
        ),
    ]


def _zeros(count: int) -> str:
    return f"{count} zero{'s' if count != 1 else ''}"


def _finding(study: PeelStudy) -> str:
    fall = study.at_end.kernel - study.at_start.kernel
    if fall <= 0:
        return "on the way nothing falls to 0"
    return outside_words(f"at the end {fall} value{'s fall' if fall > 1 else ' falls'} to 0")
