"""The derivative with its true exponentials, in floating point: a check of the exact kernel without Ax."""

from neuroviz import theme
from neuroviz.figures.parts import View, headline, label, power_of_ten, ticks
from neuroviz.immersion import ImmersionStudy

_FLOOR = 1e-17  # where an exact zero is drawn on the log axis
_BOTTOM, _TOP = -18.6, 0.9  # log₁₀ of the ends of that axis
_NOISE = 2e-14  # up to where rounding alone may lift a singular value, generously


def spectrum_view(
    study: ImmersionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """The singular values, and the exact rank as a line, on the axes x4 and y4."""
    rank, count = study.everything.measured.value, study.spectrum.num_columns
    sigma = [max(float(value), _FLOOR) for value in study.spectrum.singular_values]
    indices = list(range(1, count + 1))
    traces = [
        _dots("singular values up to the exact rank (measured)", indices[:rank], sigma[:rank], True),
        _dots("singular values beyond the exact rank (measured)", indices[rank:], sigma[rank:], False),
        {
            "name": "exact rank (measured)",
            "xaxis": "x4",
            "yaxis": "y4",
            "x": [rank + 0.5, rank + 0.5],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("measured"), "width": theme.size("line") + 0.8},
            "hoverinfo": "skip",
        },
    ]
    axes = {
        "xaxis4": {
            "domain": x_domain,
            "anchor": "y4",
            "range": [0, count + 1],
            "tickvals": ticks(1, rank, count),
            "showgrid": False,
        },
        "yaxis4": {
            "domain": y_domain,
            "anchor": "x4",
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [1e-16, 1e-8, 1.0],
            "ticktext": [power_of_ten(k) for k in (-16, -8, 0)],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
        },
    }
    return View(traces, axes, [headline(_finding(study), "4"), *_labels(study, rank)], [_noise_band()])


def _dots(name: str, x: list[int], y: list[float], filled: bool) -> dict:
    size = theme.size("marker")
    return {
        "name": name,
        "xaxis": "x4",
        "yaxis": "y4",
        "x": x,
        "y": y,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size if filled else size - 1,
            "color": theme.color("measured" if filled else "ground"),
            "line": {"color": theme.color("ground" if filled else "ghost"), "width": 0.8 if filled else 1.5},
        },
        "hovertemplate": "σ<sub>%{x}</sub> = %{y:.1e}<extra></extra>",
    }


def _noise_band() -> dict:
    return {
        "type": "rect",
        "xref": "x4 domain",
        "yref": "y4",
        "x0": 0,
        "x1": 1,
        "y0": 10**_BOTTOM,
        "y1": _NOISE,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
        "layer": "below",
    }


def _labels(study: ImmersionStudy, rank: int) -> list[dict]:
    to_the_left = 2 * rank > study.spectrum.num_columns
    side = {"xanchor": "right", "xshift": -8} if to_the_left else {"xanchor": "left", "xshift": 8}
    return [
        label(
            f"exact rank <b>{rank}</b>",
            rank + 0.5,
            -8,
            "4",
            yanchor="middle",
            font={"size": theme.size("base"), "color": theme.color("measured")},
            **side,
        ),
        label(
            "rounding",
            0,
            -16.3,
            "4",
            xref="x4 domain",
            xanchor="left",
            yanchor="middle",
            xshift=6,
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]


def _finding(study: ImmersionStudy) -> str:
    """Whether floating point, with the exponentials as they are, says the same."""
    found, zeros = study.spectrum, study.spectrum.kernel
    if not found.decided:
        return f"floats cannot decide: they read rank {found.value}"
    if found.value != study.everything.measured.value:
        return f"floats say rank {found.value}: another number"
    return f"floats agree: {zeros or 'no'} zero{'s' if zeros != 1 else ''} of {found.num_columns}, without Ax"
