"""The plane of the start's A and V: the fibre in it, lines of other functions, and the point that moves."""

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Plot
from neuroviz.single_layer.walk import FiberStudy

_REACH = 3.4  # the plane is drawn from −3.4 to 3.4


def draw_plane(study: FiberStudy, plot: Plot) -> None:
    """The plane and the point in it."""
    (start, base, now), s = study.places, study.setting
    fiber, others, other_branch = _curves(study)
    jump = (start, base) if s.swap and s.preset == "rank-one" else ()
    width, marker = theme.size("line"), theme.size("marker")
    for name, points, role, thick, dash in (
        ("other functions", others, "ghost", 1.3, "solid"),
        ("the fibre", fiber, "certified", 2 * width, "solid"),
        ("the other branch, its shadow", other_branch, "certified", width, "dash"),
        ("the swap", jump, "ghost", 1.3, "dot"),
        ("the step off", (base, now), "focus", width, "solid"),
    ):
        x, y = ([point[i] for point in points] for i in (0, 1))
        plot.line(name, x, y, theme.color(role), thick, dash)
    alone = s.attention == "softmax" and s.tokens > 1 and s.preset != "zero"
    for name, points, role, filled, size in (
        ("the fibre, one point", [start] if alone else [], "certified", False, 2 * marker + 12),
        ("start", [start], "ink", False, marker + 5),
        ("now", [now], "focus", study.outside == 0, marker + 7),
    ):
        x, y = ([point[i] for point in points] for i in (0, 1))
        color = theme.color(role)
        look = {"size": size, "color": color if filled else theme.color("ground")}
        hover = f"{name}: %{{x:.3g}} of A, %{{y:.3g}} of V"
        plot.points(
            name, x, y, {**look, "line": {"color": color, "width": 2.5}}, hover=hover, cliponaxis=False
        )
    reach = max(_REACH, 1.1 * max(map(abs, now)))
    zero = {"zeroline": True, "zerolinecolor": theme.color("axis"), "zerolinewidth": 1}
    plot.axis("x", -reach, reach, "multiple of A", dtick=1, **zero)
    plot.axis("y", -reach, reach, "multiple of V", dtick=1, **zero)
    _write(study, plot, reach)


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


def _write(study: FiberStudy, plot: Plot, reach: float) -> None:
    now, (role, fiber, other) = study.places[2], _labels(study)
    at_fiber, at_other = _label_places(study, reach)
    beside = {"yanchor": "middle", "align": "left", "bgcolor": theme.color("ground")}
    plot.headline(_headline(study), align="left")
    plot.text(fiber, *at_fiber, "note", "certified", xanchor="left", **beside)
    plot.text(other, *at_other, "note", role, xanchor="right", **beside)
    above = (now[0] * now[1] > 1) == (now[1] >= 0)  # on the side of the point where the fibre is not
    side = "left" if now[0] < 0.5 * reach else "right"
    place = {"xanchor": side, "yanchor": "bottom" if above else "top", "yshift": 8 if above else -8}
    # An empty label would still paint its ground over the point.
    ground = {"bgcolor": theme.color("ground")} if study.outside else {"bgcolor": "rgba(0,0,0,0)"}
    plot.text("shadow" if study.outside else "", *now, "note", "focus", **place, **ground)


def _headline(study: FiberStudy) -> str:
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


def _labels(study: FiberStudy) -> tuple[str, str, str]:
    """The role of the thin lines, and what the thick and the thin ones are."""
    s = study.setting
    if s.attention == "softmax" and s.preset == "zero":
        return "ink", "the fibre", ""
    if s.attention == "softmax" and s.tokens > 1:
        return "ink", "the fibre is ○ alone", "for lightning a fibre,<br>here other functions"
    if s.attention != "softmax" and s.preset == "rank-one":
        other = "its other branch,<br>seen as a shadow" if study.case == "rank one" else ""
        return "certified", "the fibre", other
    more = s.attention != "softmax" and s.tokens == 1 and s.preset != "zero"
    return "ink", "the fibre<br>in this plane" if more else "the fibre", "other functions"


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
