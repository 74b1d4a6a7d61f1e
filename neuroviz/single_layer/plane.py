"""The plane of the start's A and V: the fibre in it, lines of other functions, and the point that moves."""

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.single_layer.walk import FiberStudy

_REACH = 3.4  # the plane is drawn from −3.4 to 3.4


def plane_view(study: FiberStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The plane and the point in it, on the axes x2 and y2."""
    (start, base, now), s = study.places, study.setting
    fiber, others, other_branch = _curves(study)
    swapped_now = s.swap and s.preset == "rank-one"
    jump = (start, base) if swapped_now else ()
    width, ground = theme.size("line"), theme.color("ground")
    hollow = study.outside > 0

    def line(name: str, points: tuple | list, role: str, thick: float, **more: object) -> dict:
        x, y = ([point[i] for point in points] for i in (0, 1))
        return {
            "name": name,
            "xaxis": "x2",
            "yaxis": "y2",
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"color": theme.color(role), "width": thick, "simplify": False, **more},
            "hoverinfo": "skip",
        }

    def mark(name: str, point: tuple, role: str, filled: bool, size: float) -> dict:
        return {
            "name": name,
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [point[0]],
            "y": [point[1]],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "size": size,
                "color": theme.color(role) if filled else ground,
                "line": {"color": theme.color(role), "width": 2.5},
            },
            "hovertemplate": f"{name}: %{{x:.3g}} of A, %{{y:.3g}} of V<extra></extra>",
        }

    marker = theme.size("marker")
    alone = s.attention == "softmax" and s.tokens > 1 and s.preset != "zero"
    traces = [
        line("other functions", others, "ghost", 1.3),
        line("the fibre", fiber, "certified", 2 * width),
        line("the other branch, its shadow", other_branch, "certified", width, dash="dash"),
        line("the swap", jump, "ghost", 1.3, dash="dot"),
        line("the step off", (base, now), "focus", width),
        {
            **mark("the fibre, one point", start, "certified", False, 2 * marker + 12),
            "x": [start[0]] if alone else [],
            "y": [start[1]] if alone else [],
        },
        mark("start", start, "ink", False, marker + 5),
        mark("now", now, "focus", not hollow, marker + 7),
    ]
    reach = max(_REACH, 1.1 * max(map(abs, now)))
    axis = {
        "range": [-reach, reach],
        "dtick": 1,
        "zeroline": True,
        "zerolinecolor": theme.color("axis"),
        "zerolinewidth": 1,
        "fixedrange": True,
    }
    axes = {
        "xaxis2": {"anchor": "y2", "domain": x_domain, "title": {"text": "multiple of A"}, **axis},
        "yaxis2": {"anchor": "x2", "domain": y_domain, "title": {"text": "multiple of V"}, **axis},
    }
    return View(traces, axes, _plane_texts(study, reach), [])


def _curves(study: FiberStudy) -> tuple[list, list, list]:
    """The fibre in the plane, lines of other functions, and the shadow of the other branch."""
    s = study.setting
    ends = 2 * _REACH
    x_axis, y_axis = [(-ends, 0.0), (ends, 0.0)], [(0.0, -ends), (0.0, ends)]
    gap = [(None, None)]
    if s.attention == "softmax":
        if s.preset == "zero":
            return x_axis, [], []
        if s.tokens == 1:
            levels = [[(-ends, y), (ends, y)] for y in (2.0, -1.0)]
            return [(-ends, 1.0), (ends, 1.0)], levels[0] + gap + levels[1], []
        return [], _hyperbola(1.0), []
    if s.preset == "zero":
        return x_axis + gap + y_axis, _hyperbola(1.0) + gap + _hyperbola(-1.0), []
    if s.preset == "rank-one":
        return _hyperbola(1.0), [], _hyperbola(study.shadow) if study.shadow < 1 else []
    return _hyperbola(1.0), _hyperbola(3.0) + gap + _hyperbola(0.3), []


def _hyperbola(product: float) -> list[tuple[float | None, float | None]]:
    """Both arms of xy = product, a little beyond the picture."""
    xs = np.geomspace(abs(product) / (2 * _REACH), 2 * _REACH, 121).tolist()
    return [(x, product / x) for x in xs] + [(None, None)] + [(-x, -product / x) for x in xs]


def _plane_texts(study: FiberStudy, reach: float) -> list[dict]:
    now, fiber, other = study.places[2], *_plane_labels(study)
    small = {"font": {"size": theme.size("note")}, "align": "left", "bgcolor": theme.color("ground")}
    at_fiber, at_other = _label_places(study, reach)
    above = (now[0] * now[1] > 1) == (now[1] >= 0)  # on the side of the point where the fibre is not
    return [
        finding(_plane_headline(study), "2"),
        label(colored("certified", fiber), *at_fiber, "2", xanchor="left", yanchor="middle", **small),
        label(other, *at_other, "2", xanchor="right", yanchor="middle", **small),
        label(
            colored("focus", "shadow") if study.outside else "",
            *now,
            "2",
            xanchor="left" if now[0] < 0.5 * reach else "right",
            yanchor="bottom" if above else "top",
            yshift=8 if above else -8,
            # An empty label would still paint its box over the point.
            **small | {"bgcolor": theme.color("ground") if study.outside else "rgba(0,0,0,0)"},
        ),
    ]


def _plane_headline(study: FiberStudy) -> str:
    s = study.setting
    if s.attention == "softmax":
        if s.preset == "zero":
            return "V = 0: every A gives<br>the zero function"
        return "softmax, one token:<br>A is free" if s.tokens == 1 else "softmax: the fibre<br>is one point"
    if s.preset == "zero":
        return f"the fibre is a cross:<br>{'Sym A = 0' if s.tokens == 1 else 'A = 0'} or V = 0"
    if s.tokens == 1:
        return "one token: the fibre<br>is more than a curve"
    if s.preset == "rank-one":
        return (
            "u = v: the branches<br>have become one"
            if study.case == "boundary"
            else "two branches:<br>u and v swap"
        )
    return "the fibre is a curve:<br>all one function"


def _plane_labels(study: FiberStudy) -> tuple[str, str]:
    """What the thick and the thin lines are."""
    s = study.setting
    if s.attention == "softmax":
        if s.preset == "zero":
            return "the fibre", ""
        if s.tokens == 1:
            return "the fibre", "other functions"
        return "the fibre is ○ alone", "for lightning a fibre,<br>here other functions"
    if s.preset == "rank-one" and study.case == "rank one":
        return "the fibre", colored("certified", "its other branch,<br>seen as a shadow")
    if s.preset == "rank-one":
        return "the fibre", ""
    one_token = s.tokens == 1 and s.preset != "zero"
    return "the fibre<br>in this plane" if one_token else "the fibre", "other functions"


def _label_places(study: FiberStudy, reach: float) -> tuple[tuple[float, float], tuple[float, float]]:
    """Where the two labels stand, the left end of one and the right end of the other: beside their lines."""
    s, edge = study.setting, 0.97 * reach
    if s.attention == "softmax" and (s.tokens == 1 or s.preset == "zero"):
        level = 0.0 if s.preset == "zero" else 1.0
        return (-edge, level + 0.4), (edge, 2.4)
    if s.attention == "softmax":
        return (-edge, 1.0), (edge, -1.5)
    if s.preset == "zero":
        return (0.15, 0.93 * reach), (edge, 1.7)
    if s.preset == "rank-one":
        return (0.5, 0.93 * reach), (edge, -1.3)
    return (0.5, (0.87 if s.tokens == 1 else 0.93) * reach), (edge, 2.0 if s.tokens == 1 else 2.4)


def finding(text: str, axis: str = "") -> dict:
    """A headline of two lines, flush left."""
    return headline(text, axis) | {"align": "left"}


def colored(role: str, text: str) -> str:
    """Text in the colour of a role."""
    return f'<span style="color:{theme.color(role)}">{text}</span>'
