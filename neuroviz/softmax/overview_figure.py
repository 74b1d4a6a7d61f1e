"""Lightning at the left, softmax at the right: parameters, singular values, and what is known of each."""

from math import inf, log10

from neuroviz.kit import theme
from neuroviz.kit.plot import (
    Parts,
    View,
    compose,
    headline,
    kind_mark,
    label,
    power_of_ten,
    rough,
    ticks,
)
from neuroviz.kit.sigma import drawable, noise_band
from neuroviz.kit.words import colored, tiny
from neuroviz.softmax.overview import Side, SoftmaxSetting, SoftmaxStudy
from neuroviz.softmax.overview_board import board_view

__all__ = ["Side", "SoftmaxSetting", "SoftmaxStudy", "softmax_parts"]

_COLUMNS = (0.13, 0.545), (0.59, 1.0)
_BARS, _SPECTRA, _BOARD = (0.91, 1.0), (0.455, 0.735), (0.0, 0.365)
_BOTTOM, _TOP = -18.0, 1.0  # log₁₀ of the ends of that axis
_FAMILIES = ("head bases", "interfaces", "rescalings")
_SHORT = {"head bases": "heads", "interfaces": "interfaces", "rescalings": "rescalings"}


def softmax_parts(study: SoftmaxStudy) -> Parts:
    """Both kinds."""
    views = []
    for side, columns, axes in zip(
        (study.lightning, study.softmax), _COLUMNS, (("", "3"), ("2", "4")), strict=True
    ):
        views += [_bar_view(study, side, columns, axes[0]), _spectrum_view(study, side, columns, axes[1])]
    parts = compose(*views, board_view(study, _COLUMNS, _BOARD))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})


# The parameters, as one bar


def _pieces(side: Side) -> list[tuple[str, int, str]]:
    """Name, size and role of the pieces of the bar, from the left."""
    ledger = side.ledger
    return [
        ("dimension (measured)", ledger.dimension, "measured"),
        *((family, ledger.entries.get(family, 0), "symmetry") for family in _FAMILIES),
        ("unexplained", ledger.unexplained, "outside"),
    ]


def _bar_view(study: SoftmaxStudy, side: Side, x_domain: tuple[float, float], axis: str) -> View:
    traces, start = [], 0
    for name, size, role in _pieces(side):
        marker = {
            "color": theme.color("ground" if role == "outside" else role),
            "line": {"color": theme.color("outside" if role == "outside" else "ground"), "width": 1.5},
        }
        if role == "outside":
            marker["pattern"] = {
                "shape": "/",
                "bgcolor": theme.color("ground"),
                "fgcolor": theme.color("outside"),
                "size": 6,
                "solidity": 0.35,
            }
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": f"{side.arch.attention}: {name}",
                "x": [size],
                "base": [start],
                "y": [0],
                "width": 0.9,
                "visible": size > 0,
                "xaxis": f"x{axis}",
                "yaxis": f"y{axis}",
                "marker": marker,
                "hovertemplate": f"{name}: {size}<extra></extra>",
            }
        )
        start += size
    axes = {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": x_domain,
            "range": [0, side.ledger.parameters],
            "visible": False,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": _BARS,
            "range": [-0.5, 0.5],
            "visible": False,
            "fixedrange": True,
        },
    }
    said = [headline(_finding(study, side), axis), *_bar_texts(side, axis), _bar_name(side)]
    return View(traces, axes, said, [])


def _finding(study: SoftmaxStudy, side: Side) -> str:
    mark = "■" if kind_mark(side.arch.attention) == "square" else "●"
    count = side.exact.value
    found = f"{mark} {side.arch.attention}: {count} dimension{'s' if count != 1 else ''}"
    if side.arch.attention == "lightning" or not study.difference:
        return found
    return f"{found}, {abs(study.difference)} {'more' if study.difference > 0 else 'fewer'}"


def _bar_texts(side: Side, axis: str) -> list[dict]:
    """The number in the bar, and the sum below it."""
    ledger = side.ledger
    inside = ledger.dimension / ledger.parameters > 0.06
    sum_ = [colored("measured", f"<b>{ledger.dimension}</b>")]
    sum_ += [f"{_SHORT[name]} {ledger.entries[name]}" for name in _FAMILIES if ledger.entries.get(name)]
    if ledger.unexplained:
        sum_.append(colored("outside", f"▨ other {ledger.unexplained}"))
    return [
        label(
            f"<b>{ledger.dimension}</b>" if inside else "",
            ledger.dimension / 2,
            0,
            axis,
            font={"size": theme.size("title"), "color": theme.color("ground")},
        ),
        label(
            f"{ledger.parameters} = {' + '.join(sum_)}",
            0,
            -0.5,
            axis,
            xanchor="left",
            yanchor="top",
            yshift=-2,
            font={"size": theme.size("note"), "color": theme.color("ink")},
        ),
    ]


def _bar_name(side: Side) -> dict:
    """What the bars are, once, in the column of the questions."""
    return label(
        "parameters" if side.arch.attention == "lightning" else "",
        0,
        sum(_BARS) / 2,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="middle",
        font={"size": theme.size("note"), "color": theme.color("soft")},
    )


# The singular values


def _spectrum_view(study: SoftmaxStudy, side: Side, x_domain: tuple[float, float], axis: str) -> View:
    return View(
        _spectrum_traces(side, axis),
        _spectrum_axes(side, x_domain, axis),
        [headline(_float_finding(side), axis), _rank_label(side, axis), _gap_label(study, side, axis)],
        [noise_band(axis, _noise(side), _BOTTOM)],
    )


def _spectrum_traces(side: Side, axis: str) -> list[dict]:
    rank, marker = side.exact.value, theme.size("marker") - 2
    sigma = [] if side.spectrum is None else drawable(side.spectrum.singular_values)
    place = {"xaxis": f"x{axis}", "yaxis": f"y{axis}", "mode": "markers"}
    symbol, kind = kind_mark(side.arch.attention), side.arch.attention
    return [
        place
        | {
            "name": f"{kind}: singular values up to the exact rank",
            "x": list(range(1, len(sigma[:rank]) + 1)),
            "y": sigma[:rank],
            "marker": {"symbol": symbol, "size": marker, "color": theme.color("measured")},
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        place
        | {
            "name": f"{kind}: singular values that are rounding noise",
            "x": list(range(rank + 1, len(sigma) + 1)),
            "y": sigma[rank:],
            "marker": {
                "symbol": symbol,
                "size": marker - 1,
                "color": theme.color("ground"),
                "line": {"color": theme.color("ghost"), "width": 1.5},
            },
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        place
        | {
            "name": f"{kind}: exact rank (measured)",
            "x": [rank + 0.5, rank + 0.5],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("measured"), "width": theme.size("line") + 0.8},
            "hoverinfo": "skip",
        },
    ]


def _spectrum_axes(side: Side, x_domain: tuple[float, float], axis: str) -> dict:
    n, left = side.arch.num_parameters, side.arch.attention == "lightning"
    return {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": x_domain,
            "range": [0, n + 1],
            "tickvals": ticks(1, side.exact.value, n),
            "showgrid": False,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": _SPECTRA,
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [1e-16, 1e-8, 1.0],
            "ticktext": [power_of_ten(k) for k in (-16, -8, 0)] if left else ["", "", ""],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>" if left else ""},
            "automargin": False,
        },
    }


def _noise(side: Side) -> float:
    """Up to where rounding alone may lift a singular value."""
    return side.arch.num_parameters * 2.2e-16


def _words_at_left(side: Side) -> bool:
    """Whether the words stand left of the line of the exact rank, as there is no room at its right."""
    return side.exact.value > 0.7 * side.arch.num_parameters


def _rank_label(side: Side, axis: str) -> dict:
    at_left = _words_at_left(side)
    return label(
        f"exact rank <b>{side.exact.value}</b>",
        side.exact.value + 0.5,
        -1.5 if at_left else _TOP,
        axis,
        xanchor="right" if at_left else "left",
        yanchor="top",
        xshift=-8 if at_left else 8,
        font={"size": theme.size("base"), "color": theme.color("measured")},
    )


def _gap_label(study: SoftmaxStudy, side: Side, axis: str) -> dict:
    """What floating point makes of it: below the exact rank, or in the empty corner at the left."""
    at_left = _words_at_left(side)
    return label(
        _float_words(study, side),
        0 if at_left else side.exact.value + 0.5,
        log10(_noise(side)) + 0.4,
        axis,
        xref=f"x{axis} domain" if at_left else f"x{axis}",
        xanchor="left",
        yanchor="bottom",
        xshift=8,
        align="left",
        font={"size": theme.size("note"), "color": theme.color("ink")},
    )


def _float_finding(side: Side) -> str:
    if side.spectrum is None:
        return f"{side.arch.num_parameters} parameters: no spectrum here"
    found = f"≈ floats read {side.spectrum.value}"
    if side.spectrum.value == side.exact.value:
        return f"{found} too" if side.spectrum.decided else f"{found}, undecided"
    return colored("outside", f"{found}, not {side.exact.value}")


def _float_words(study: SoftmaxStudy, side: Side) -> str:
    tau = study.setting.temperature
    if side.spectrum is None:
        return ""
    at = "" if tau == 1 else f"τ = {temperature_text(tau)}<br>"
    if side.split is None:
        gap = "nothing dropped"
    elif side.split[0] == 0:
        gap = "no gap"
    else:
        kept, dropped = side.split
        gap = f"gap {rough(inf if dropped == 0 else kept / dropped)}"
    return f"{at}{gap}"


def temperature_text(tau: float) -> str:
    """A temperature as a reader writes it.

    >>> temperature_text(0.1), temperature_text(31.6227766), temperature_text(10**4.5)
    ('0.1', '31.6', '3.2·10⁴')
    """
    if 0.01 <= tau < 1000:
        return f"{tau:.3g}"
    exponent = log10(tau)
    return power_of_ten(round(exponent)) if abs(exponent - round(exponent)) < 1e-9 else tiny(tau, digits=1)
