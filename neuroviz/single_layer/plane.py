"""The plane of the start's A and V: the fibre in it, lines of other functions, and the point that moves."""

from typing import NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Plot
from neuroviz.single_layer.walk import FiberStudy

_REACH = 3.6  # the plane is drawn from −3.6 to 3.6, whatever moves in it
_ENDS = (-2 * _REACH, 2 * _REACH)
_GAP = [(None, None)]

Line = list[tuple[float | None, float | None]]
Label = tuple[str, float, float]


def draw_plane(study: FiberStudy, plot: Plot) -> None:
    """The plane and the point in it."""
    (start, base, now), s = study.places, study.setting
    scene = _scene(study)
    jump = (start, base) if s.swap and s.preset == "rank-one" else ()
    width, marker = theme.size("line"), theme.size("marker")
    for name, points, role, thick, dash in (
        ("other functions", scene.others, "ghost", 1.3, "solid"),
        ("the fibre", scene.fiber, "certified", 2 * width, "solid"),
        ("the other branch, its shadow", scene.shadow, "certified", width, "dash"),
        ("the swap", jump, "ghost", 1.3, "dot"),
        ("the step off", (base, now), "focus", width, "solid"),
    ):
        x, y = ([point[i] for point in points] for i in (0, 1))
        plot.line(name, x, y, theme.color(role), thick, dash)
    for name, points, role, filled, size in (
        ("the fibre, one point", [] if scene.fiber else [start], "certified", False, 2 * marker + 12),
        ("start", [start], "ink", False, marker + 5),
        ("now", [now], "focus", study.outside == 0, marker + 7),
    ):
        x, y = ([point[i] for point in points] for i in (0, 1))
        color = theme.color(role)
        look = {"size": size, "color": color if filled else theme.color("ground")}
        look["line"] = {"color": color, "width": 2.5}
        hover = f"{name}: %{{x:.3g}} of A, %{{y:.3g}} of V"
        plot.points(name, x, y, look, hover=hover, cliponaxis=False)
    for which in "xy":
        plot.rule(which, 0, "axis", 1, "solid")
        values = [-3, -2, -1, 0, 1, 2, 3]
        words = [str(value).replace("-", "−") for value in values]
        plot.bare_axis(which, -_REACH, _REACH, tickvals=values, ticktext=words)
    # Below the numbers, and off the other axis: curves pass beside both axes.
    plot.text("multiple of A", _REACH, -_REACH, "note", "soft", xanchor="right", yanchor="top", yshift=-22)
    plot.text("multiple of V", 0, _REACH, "note", "soft", xanchor="right", yanchor="top", xshift=-22)
    _write(study, scene, plot)


class _Scene(NamedTuple):
    """What lies in the plane, and what is said of it.

    `at_fiber` begins, and `at_others` ends, at a place beside the lines that they name.
    """

    headline: str
    fiber: Line
    others: Line
    at_fiber: Label
    at_others: Label
    shadow: Line = []


def _scene(study: FiberStudy) -> _Scene:
    """The theorem about this layer: the fibre, lines of other functions, the shadow of the other branch."""
    s, alone, edge, top = study.setting, study.setting.tokens == 1, 0.97 * _REACH, 0.93 * _REACH
    if s.attention == "softmax" and s.preset == "zero":
        says = "V = 0: every A gives<br>the zero function"
        return _Scene(says, _level(0.0), [], ("the fibre", -edge, 0.4), ("", edge, 2.4))
    if s.attention == "softmax" and alone:
        says, others = "softmax, one token:<br>A is free", _level(2.0) + _GAP + _level(-1.0)
        return _Scene(says, _level(1.0), others, ("the fibre", -edge, 1.4), ("other functions", edge, 2.4))
    if s.attention == "softmax":
        says, other = "softmax: the fibre<br>is one point", "for lightning a fibre,<br>here other functions"
        return _Scene(says, [], _hyperbola(1.0), ("the fibre is ○ alone", -edge, 1.0), (other, edge, -1.5))
    if s.preset == "zero":
        says = f"the fibre is a cross:<br>{'Sym A = 0' if alone else 'A = 0'} or V = 0"
        cross, others = (
            _level(0.0) + _GAP + [(0.0, y) for y in _ENDS],
            _hyperbola(1.0) + _GAP + _hyperbola(-1.0),
        )
        return _Scene(says, cross, others, ("the fibre", 0.15, top), ("other functions", edge, 1.7))
    if s.preset == "rank-one":
        says = "two branches:<br>u and v swap"
        says = "u = v: the branches<br>have become one" if study.case == "boundary" else says
        says = "one token: the fibre<br>is more than a curve" if alone else says
        other = "its other branch,<br>seen as a shadow" if study.case == "rank one" else ""
        shadow = _hyperbola(study.shadow) if study.shadow < 1 else []
        return _Scene(says, _hyperbola(1.0), [], ("the fibre", 0.5, top), (other, edge, -1.3), shadow)
    lines = _hyperbola(1.0), _hyperbola(3.0) + _GAP + _hyperbola(0.3)
    if alone:
        says, here = "one token: the fibre<br>is more than a curve", "the fibre<br>in this plane"
        return _Scene(says, *lines, (here, 0.5, 0.87 * _REACH), ("other functions", edge, 2.0))
    says = "the fibre is a curve:<br>all one function"
    return _Scene(says, *lines, ("the fibre", 0.5, top), ("other functions", edge, 2.4))


def _level(y: float) -> Line:
    return [(x, y) for x in _ENDS]


def _hyperbola(product: float) -> Line:
    """Both arms of xy = product, a little beyond the picture."""
    xs = np.geomspace(abs(product) / (2 * _REACH), 2 * _REACH, 121).tolist()
    return [(x, product / x) for x in xs] + _GAP + [(-x, -product / x) for x in xs]


def _write(study: FiberStudy, scene: _Scene, plot: Plot) -> None:
    now = study.places[2]
    on_branch = study.setting.attention == "lightning" and study.setting.preset == "rank-one"
    beside = {"yanchor": "middle", "align": "left", "bgcolor": theme.color("ground")}
    plot.headline(scene.headline, align="left")
    plot.text(*scene.at_fiber, "note", "certified", xanchor="left", **beside)
    plot.text(*scene.at_others, "note", "certified" if on_branch else "ink", xanchor="right", **beside)
    above = (now[0] * now[1] > 1) == (now[1] >= 0)  # the label avoids the fibre's side of the point
    side = "left" if now[0] < 0.5 * _REACH else "right"
    place = {"xanchor": side, "yanchor": "bottom" if above else "top", "yshift": 8 if above else -8}
    # An empty label would still paint its ground over the point.
    ground = theme.color("ground") if study.outside else "rgba(0,0,0,0)"
    plot.text("shadow" if study.outside else "", *now, "note", "focus", **place, bgcolor=ground)
