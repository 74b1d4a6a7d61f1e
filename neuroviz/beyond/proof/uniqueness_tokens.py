"""Two tokens on their way down through a network, as places between x₁ and x₂: do they meet?"""

import numpy as np

from neuroviz.beyond.proof.uniqueness import Side, SingletonStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import colored, numbered

_SMALL = 1e-9
_OUT = 3.0  # a token that has run away is drawn as if it came from here
_RANGE = (-0.16, 1.16)


def meeting(side: Side) -> int | None:
    """The number of layers after which the tokens are equal; None if they never are."""
    together = np.abs(side.places[:, 0] - side.places[:, 1]) < _SMALL
    return int(np.argmax(together)) if together.any() else None


def tokens_view(study: SingletonStudy, name: str, x_domain: tuple[float, float]) -> View:
    """The tokens of θ on the axes x and y, or those of θ′ on x4 and y4."""
    side, axis = (study.left, "") if name == "θ" else (study.right, "4")
    depth = len(side.places) - 1
    marker, width = theme.size("marker"), theme.size("line")
    met = meeting(side)
    at = [] if met is None else [(float(side.places[met, 0]), met)]
    traces = [
        _world_line(side, 1, "soft", width, "dash") | {"name": f"token 2 of {name}"},
        _world_line(side, 0, "ink", width, "solid") | {"name": f"token 1 of {name}"},
        {
            "name": f"meeting of {name}",
            "x": [place for place, _ in at],
            "y": [layer for _, layer in at],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": 2 * marker + 6,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hoverinfo": "skip",
        },
    ]
    for trace in traces:
        trace["xaxis"], trace["yaxis"] = f"x{axis}", f"y{axis}"
    layers = range(1, depth + 1)
    letters = [numbered("M", i) + ("′" if name == "θ′" and _differs(study, i) else "") for i in layers]
    last = "L′" if name == "θ′" and _differs(study, depth + 1) else "L"
    axes = {
        f"xaxis{axis}": {
            "domain": x_domain,
            "anchor": f"y{axis}",
            "range": list(_RANGE),
            "showgrid": False,
            "showline": False,
            "ticks": "",
            "showticklabels": False,
        },
        f"yaxis{axis}": {
            "domain": (0.0, 0.93),
            "anchor": f"x{axis}",
            "range": [depth + 0.25, -0.35],
            "tickvals": [*(i - 0.5 for i in layers), depth + 0.15],
            "ticktext": [*letters, last],
            "ticks": "",
            "showgrid": False,
            "showline": False,
            "side": "left" if name == "θ" else "right",
            "tickfont": {"size": theme.size("base"), "color": theme.color("ink")},
        },
    }
    shapes = [_band(study, axis)]
    return View(traces, axes, [_headline(study, side, name, axis), *_labels(side, met, axis)], shapes)


def _differs(study: SingletonStudy, matrix: int) -> bool:
    """Whether θ′ has a matrix of its own as M_i, or, after these, as L."""
    return study.case != "same" and matrix == (2 if study.setting.candidate == "other M₂" else 1)


def _world_line(side: Side, token: int, role: str, width: float, dash: str) -> dict:
    places = [max(-_OUT, min(_OUT, float(place))) for place in side.places[:, token]]
    return {
        "x": places,
        "y": list(range(len(places))),
        "mode": "lines+markers",
        "line": {"color": theme.color(role), "width": width, "dash": dash, "simplify": False},
        "marker": {
            "symbol": "square" if token else "circle",
            "size": theme.size("marker") + 2,
            "color": theme.color("ground" if token else role),
            "line": {"color": theme.color(role), "width": 2},
        },
        "hovertemplate": f"token {token + 1} after layer %{{y}}: at %{{x:.3f}}<extra></extra>",
    }


def _band(study: SingletonStudy, axis: str) -> dict:
    """Behind the layer whose exponentials are moved."""
    return {
        "type": "rect",
        "xref": f"x{axis} domain",
        "yref": f"y{axis}",
        "x0": 0,
        "x1": 1,
        "y0": study.moved - 1,
        "y1": study.moved,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
        "layer": "below",
    }


def _headline(study: SingletonStudy, side: Side, name: str, axis: str) -> dict:
    if study.setting.size == 0:
        text = f"{name}: L = 0, the output is 0"
    elif meeting(side) is not None:
        text = colored("focus", f"{name}: the tokens meet")
    else:
        text = f"{name}: output columns {apart(side.gap)} apart"
    return headline(text, axis)


def apart(gap: float) -> str:
    """A distance with two digits, however small.

    >>> apart(0.503), apart(0.00123)
    ('0.50', '0.0012')
    """
    return f"{gap:.2f}" if gap >= 0.095 else f"{gap:.2g}"


def _labels(side: Side, met: int | None, axis: str) -> list[dict]:
    base, note = theme.size("base"), theme.size("note")
    begin = [float(place) for place in side.places[0]]
    found = []
    for i, place in enumerate(begin):
        inside = _RANGE[0] <= place <= _RANGE[1]
        far = abs(begin[1] - begin[0])
        how_far = "∞" if far == float("inf") else f"{far:.3g}" if far < 1e4 else f"10{_power(far)}"
        arrow = ("← " if place < 0 else "") + f"x<sub>{i + 1}</sub>" + (" →" if place > 1 else "")
        found.append(
            label(
                f"x<sub>{i + 1}</sub>" if inside else f"{arrow}, {how_far} times as far",
                place if inside else _RANGE[0] if place < 0 else _RANGE[1],
                0,
                axis,
                xanchor="center" if inside else "left" if place < 0 else "right",
                yanchor="bottom",
                yshift=9,
                font={"size": base if inside else note, "color": theme.color("ink" if inside else "focus")},
            )
        )
    place = 0.0 if met is None else float(side.places[met, 0])
    found.append(
        label(
            "" if met is None else f"<b>{_where(side, place)}</b>",
            place,
            met or 0,
            axis,
            xanchor="left" if place < 0.5 else "right",
            yanchor="middle",
            xshift=(1 if place < 0.5 else -1) * (1.2 * theme.size("marker") + 10),
            yshift=-14,
            font={"size": base, "color": theme.color("focus")},
        )
    )
    return found


def _where(side: Side, place: float) -> str:
    for i, at in enumerate(side.places[0], start=1):
        if abs(place - float(at)) < _SMALL:
            return f"they meet at x<sub>{i}</sub>"
    return "they meet"


def _power(number: float) -> str:
    return str(int(np.log10(number))).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
