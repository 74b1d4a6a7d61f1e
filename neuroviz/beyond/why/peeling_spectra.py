"""The singular values on the way to a special first layer, beside those without it."""

from neuroviz.beyond.why.peeling import PeelStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words
from neuroviz.kit.sigma import BOTTOM, TOP, drawable, noise_band, sigma_axis, sigma_dots

_TAIL = 1.3  # where the network without its first layer stands on the axis of s
END_NAMES = {"antisymmetric": "αβᵀ − βαᵀ", "symmetric": "ααᵀ", "rank-one": "αβᵀ"}


def spectra_view(study: PeelStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The ways of the singular values, on the axes x2 and y2."""
    generic, last = study.at_start.value, study.at_end.value
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
            "y": [10**BOTTOM, 10**TOP],
            "mode": "lines",
            "line": {"color": theme.color("focus"), "width": theme.size("line")},
            "hoverinfo": "skip",
        },
        _dots("singular values here (measured)", s, kept, True),
        _dots("zeros here (measured)", s, zeros, False),
        _dots("singular values without layer 1 (measured)", _TAIL, tail_kept, True),
        _dots("zeros without layer 1 (measured)", _TAIL, tail_zeros, False),
    ]
    return View(traces, _axes(study, x_domain, y_domain), _labels(study), [noise_band("2"), _divider()])


def _split(spectrum: object, rank: int) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others; zeros sit on the floor of the axis."""
    sigma = drawable(spectrum.singular_values)
    return sigma[:rank], sigma[rank:]


def _ways(study: PeelStudy, name: str, which: range, role: str, width: float) -> dict:
    """One line for each singular value, all in one trace."""
    x, y = [], []
    for i in which:
        for placed in study.path:
            x.append(placed.place)
            y.append(drawable([placed.spectrum.singular_values[i]])[0])
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


def _dots(name: str, place: float, values: list[float], filled: bool) -> dict:
    """Values above one place of the way."""
    return sigma_dots(name, "2", [place] * len(values), values, filled, "%{y:.1e}<extra></extra>")


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
        "yaxis2": sigma_axis("2", y_domain, step=4),
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
