"""Singular values on a log axis: dots above the noise, rings in it, and what several spectra share."""

from collections.abc import Iterable

from neuroviz.kit import theme
from neuroviz.kit.plot import power_of_ten

BOTTOM, TOP = -18.6, 0.9
"""log₁₀ of the ends of the axis."""
NOISE = 2e-14
"""Up to where rounding alone may lift a singular value, generously."""
_FLOOR = 1e-17  # where an exact zero is drawn


def drawable(singular_values: Iterable[float]) -> list[float]:
    """The values as a log axis can show them: exact zeros stand on the floor.

    >>> drawable([1.0, 0.0])
    [1.0, 1e-17]
    """
    return [max(float(value), _FLOOR) for value in singular_values]


def sigma_dots(name: str, axis: str, x: list, y: list[float], filled: bool, hover: str) -> dict:
    """Values that count, filled, or values that are rounding noise, hollow; `hover` is plotly's template."""
    size = theme.size("marker")
    return {
        "name": name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": x,
        "y": y,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size if filled else size - 1,
            "color": theme.color("measured" if filled else "ground"),
            "line": {"color": theme.color("ground" if filled else "ghost"), "width": 0.8 if filled else 1.5},
        },
        "hovertemplate": hover,
    }


def rank_line(
    name: str, axis: str, rank: int, ends: tuple[float, float] = (BOTTOM, TOP), **style: object
) -> dict:
    """The exact rank, as a line after its last dot; style goes into the line."""
    line = {"color": theme.color("measured"), "width": theme.size("line") + 0.8}
    return {
        "name": name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [rank + 0.5, rank + 0.5],
        "y": [10**end for end in ends],
        "mode": "lines",
        "line": line | style,
        "hoverinfo": "skip",
    }


def sigma_axis(axis: str, y_domain: tuple[float, float], step: int = 8) -> dict:
    """The log axis, with a tick at every 10⁻ˢᵗᵉᵖ."""
    powers = range(-16, 1, step)
    return {
        "domain": y_domain,
        "anchor": f"x{axis}",
        "type": "log",
        "range": [BOTTOM, TOP],
        "tickvals": [10.0**k for k in powers],
        "ticktext": [power_of_ten(k) for k in powers],
        "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
    }


def noise_band(axis: str, up_to: float = NOISE, bottom: float = BOTTOM) -> dict:
    """The wash over what rounding alone produces."""
    return {
        "type": "rect",
        "xref": f"x{axis} domain",
        "yref": f"y{axis}",
        "x0": 0,
        "x1": 1,
        "y0": 10**bottom,
        "y1": up_to,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
        "layer": "below",
    }
