"""The singular surface: sheets, rulings and the yellow curve in space; beside it the roots of two forms."""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, pi, sin

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz import theme
from neuroviz.curves import Piece, Ruling, Strip
from neuroviz.figures.parts import Parts, View, compose, label, make, redraw
from neuroviz.figures.solids import balls, dashes, join, mesh, pointer, rods, shaded_mesh, sheet, tubes
from neuroviz.forms import Facts, Form, Root, layer_with_root, on_circle
from neuroviz.surface import Slice

SPACE, DISC = (0.0, 0.64), (0.68, 1.0)
_STEPS = 7  # points along a ruling, so that the colour may change on it
_RODS = 20  # of the rulings drawn as rods
_TUBE, _FOCUS, _END, _ROD = 0.03, 0.02, 0.011, 0.0045
_BALL, _PINCH = 0.062, 0.05
_CROSSES_FROM = 0.15  # how different two roots are where the sheets get their full colours

KIND_WORDS = {
    "smooth": "a smooth point",
    "crossing": "a crossing of two sheets",
    "boundary": "a boundary point",
    "closure only": "in the Zariski closure only",
    "off": "off the surface",
}


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn of a slice, whatever the point; the same object for the same slice, and drawn once.

    Attributes:
        slice: the slice.
        strips: its rulings inside the window.
        pieces: its singular curve, solid and dotted.
        pinches: the pinch points in the window, shape (n, 3).
    """

    slice: Slice
    strips: tuple[Strip, ...]
    pieces: tuple[Piece, ...]
    pinches: tuple[tuple[float, float, float], ...]


@dataclass(frozen=True)
class SurfacePoint:
    """The point that the reader moves, and what is true there.

    Attributes:
        at: its coordinates in the slice.
        forms: q₁ and q₂.
        facts: kind, ranks, kernel, number of preimages.
        roots: the real roots that both forms share.
        ruling: the line of the surface it is moved along, from end to end; None on the curve.
        discriminant: of the common form where the two are proportional, else None; for a form of size 1.
    """

    at: tuple[float, float, float]
    forms: tuple[Form, Form]
    facts: Facts
    roots: tuple[Root, ...]
    ruling: tuple[Ruling, tuple[float, float, float], tuple[float, float, float]] | None
    discriminant: float | None


@dataclass(frozen=True)
class SurfaceStudy:
    """A slice with a point on it."""

    chart: Chart
    point: SurfacePoint
    headline: str


def surface_figure(study: SurfaceStudy) -> go.Figure:
    """Space and roots as a figure of its own; `update_surface` moves it to another study."""
    return make(_parts(study))


def update_surface(figure: BaseFigure, old: SurfaceStudy | None, new: SurfaceStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def in_drawing(slice: Slice, points: np.ndarray) -> np.ndarray:
    """Coordinates of a slice, shape (…, 3), as they are drawn: the window becomes about a unit ball."""
    window = slice.window
    stretch = np.array(window.stretch) / window.radius
    if not window.stretch[0]:  # a cylinder: its axis is drawn twice as long as it is wide
        stretch[0] = 2.1 / window.half_length
    return (np.asarray(points, dtype=float) - np.array(window.centre)) * stretch


def _parts(study: SurfaceStudy) -> Parts:
    return compose(_space(study), _roots(study.point))


def _space(study: SurfaceStudy) -> View:
    chart, point = study.chart, study.point
    look = tuple(sorted(theme.current().items()))
    traces = list(_chart_traces(chart, look))
    lines = [point.ruling[1:]] if point.ruling else []
    drawn = [in_drawing(chart.slice, np.array(line)) for line in lines]
    name = KIND_WORDS[point.facts.kind]
    traces += [
        mesh("the ruling through the point", "focus", rods(drawn, _FOCUS), hoverinfo="skip"),
        mesh(f"the point: {name}", "focus", balls([in_drawing(chart.slice, np.array(point.at))], _BALL)),
    ]
    at_top = {"xref": "paper", "yref": "paper", "x": SPACE[0], "y": 1, "xanchor": "left", "showarrow": False}
    title = {"font": {"size": theme.size("title")}, "yanchor": "bottom", "yshift": 6}
    headline = {**at_top, **title, "text": f"<b>{study.headline}</b>"}
    return View(traces, {"scene": _scene(chart)}, [headline], [])


@lru_cache(maxsize=32)
def _chart_traces(chart: Chart, _look: tuple) -> tuple[dict, ...]:
    """Sheets, rods, tubes and pinch points: the heavy part, which does not move with the point."""
    slice, solids, tone = chart.slice, [], []
    lines, outlines = [], []
    for strip in chart.strips:
        points = strip.points(_STEPS)
        solids.append(sheet(in_drawing(slice, points)))
        tone += sheet_tone(slice, strip, _STEPS).ravel().round(4).tolist()
        drawn = in_drawing(slice, points[:, [0, -1]])
        every = max(1, len(drawn) // _RODS)
        lines += list(drawn[every // 2 :: every])
        outlines += [drawn[0], drawn[-1]] if not slice.window.stretch[0] else []
    curves = [(piece.dotted, piece.kind, in_drawing(slice, piece.points)) for piece in chart.pieces]
    solid = [_sticking_out(curve) for _, kind, curve in curves if kind == "crossing"]
    dotted = [dash for is_dotted, _, curve in curves if is_dotted for dash in dashes(curve, 0.07, 0.075)]
    boundary = [curve for _, kind, curve in curves if kind == "boundary"]
    pinches = [in_drawing(slice, np.array(pinch)) for pinch in chart.pinches]
    return (
        shaded_mesh("the surface", join(solids), tone, hovertemplate="click: go there<extra></extra>"),
        mesh("rulings", "ruling", join([*_pieces(lines, _ROD), *_pieces(outlines, _END)]), hoverinfo="skip"),
        mesh("two sheets cross here", "singular", tubes(solid, _TUBE)),
        mesh("isolated points of the closure: no real common root", "singular", tubes(dotted, _TUBE)),
        mesh("boundary: a double common root", "boundary", tubes(boundary, _TUBE)),
        mesh("pinch point: boundary", "boundary", balls(pinches, _PINCH)),
    )


def _pieces(lines: list[np.ndarray], radius: float) -> list[tuple[np.ndarray, np.ndarray]]:
    solid = rods(lines, radius)
    corners = np.array([solid[name] for name in "xyz"]).T.reshape(-1, 3)
    return [(corners, np.array([solid[name] for name in "ijk"], dtype=int).T.reshape(-1, 3))]


def _sticking_out(curve: np.ndarray) -> np.ndarray:
    """The curve, a little longer at an end that lies on the window."""
    ends = []
    for end, inner in ((curve[0], curve[1]), (curve[-1], curve[-2])):
        away = (end - inner) / max(np.linalg.norm(end - inner), 1e-12)
        on_window = np.linalg.norm(end) > 0.97 or abs(end[0]) > 2.05
        ends.append([end + 0.12 * away] if on_window else [])
    return np.array([*ends[0], *curve, *ends[1]])


def sheet_tone(slice: Slice, strip: Strip, steps: int) -> np.ndarray:
    """Which of the two sheets each point of `strip.points(steps)` belongs to, from −1 to 1; shape (n, steps).

    Where a ruling meets the singular curve, the common form q has two real roots, one of them the
    ruling's own; q rises through one and falls through the other as the root turns. So the slope of
    q at its own root tells the sheets apart exactly where they cross, and goes to 0 at a pinch point.
    Along a ruling with two such places the tone goes from one to the other.
    """
    X, Y = np.cos(strip.theta), np.sin(strip.theta)
    # On a ruling q_k = ℓ_k·v, and det(ℓ₁, ℓ₂) is quadratic along it: its zeros are the singular points.
    minus, zero, plus = (_determinant(slice, _at(strip, t), X, Y) for t in (0.0, 0.5, 1.0))
    a, b, c = plus + minus - 2 * zero, plus - minus, 2 * zero  # in u = 2t − 1, twice
    size = np.maximum(np.abs(minus), np.maximum(np.abs(zero), np.abs(plus)))
    straight = np.abs(a) <= 1e-9 * size
    root = np.sqrt(np.maximum(b * b - 2 * a * c, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(straight, -c / (2 * b), (-b - root) / a)
        high = np.where(straight, -c / (2 * b), (-b + root) / a)
    places = np.sort(np.stack([low, high]), axis=0)
    met = np.isfinite(places).all(axis=0) & (b * b - 2 * a * c >= 0) & (size > 0)
    places = np.where(met, places, 0.0)
    first, last = (_slope(slice, _at(strip, (u + 1) / 2), X, Y) for u in places)
    u = np.linspace(-1, 1, steps)
    gap = np.maximum(places[1] - places[0], 1e-12)[:, None]
    share = np.clip((u - places[0][:, None]) / gap, 0.0, 1.0)
    return np.where(met[:, None], (1 - share) * first[:, None] + share * last[:, None], 0.0)


def _at(strip: Strip, share: float | np.ndarray) -> np.ndarray:
    """A point on each ruling, at a share of the way from its start to its end; shape (n, 3)."""
    share = np.broadcast_to(share, strip.theta.shape)[:, None]
    return (1 - share) * strip.starts + share * strip.ends


def _determinant(slice: Slice, at: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """det A of the layers at points of the rulings with roots (X, Y)."""
    return np.linalg.det(layer_with_root(*slice.forms(*at.T), X, Y).A)


def _slope(slice: Slice, at: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """How steeply the common form at singular points rises through the roots (X, Y), from −1 to 1."""
    q1, q2 = (np.stack(np.broadcast_arrays(*q), axis=-1) for q in slice.forms(*at.T))
    pair = np.stack([q1, q2], axis=1).astype(float)
    ratio = np.linalg.svd(pair)[0][:, :, 0]
    # q₁ = λ₁q, q₂ = λ₂q with λ₁ > 0: q without a choice of sign
    leading = np.where(np.abs(ratio[:, 0]) > 1e-6, ratio[:, 0], ratio[:, 1])
    a, b, c = np.einsum("nk,nkj->jn", ratio * np.sign(leading)[:, None], pair)
    slope = 2 * (c - a) * X * Y + b * (X * X - Y * Y)
    return np.tanh(slope / np.maximum(np.sqrt(a * a + b * b / 2 + c * c), 1e-300) / _CROSSES_FROM)


def _scene(chart: Chart) -> dict:
    window = chart.slice.window
    long = not window.stretch[0]
    reach = [2.35, 1.15, 1.15] if long else [1.15, 1.15, 1.15]
    axes = {
        f"{name}axis": {"visible": False, "showspikes": False, "range": [-r, r]}
        for name, r in zip("xyz", reach, strict=True)
    }
    eye = {"x": 1.38, "y": -1.26, "z": 0.66} if long else {"x": 1.1, "y": -0.9, "z": 0.62}
    return {
        "domain": {"x": SPACE, "y": (0.0, 1.0)},
        **axes,
        "aspectmode": "manual",
        "aspectratio": {"x": 1.9, "y": 0.93, "z": 0.93} if long else {"x": 1.0, "y": 1.0, "z": 1.0},
        "camera": {"eye": eye, "center": {"x": 0.0, "y": 0.0, "z": -0.05}},
        "uirevision": chart.slice.name,  # a turned camera stays while the point moves
        "annotations": _pointers(chart),
    }


def _pointers(chart: Chart) -> list[dict]:
    """At most one label of each kind, in the middle of what it names."""
    h = theme.size("height")
    found = []
    for text, kind, shift in (
        ("two sheets cross", "crossing", (-10, -0.24 * h)),
        ("isolated points:<br>no real common root", "closure only", (-20, 0.24 * h)),
        ("boundary: a double root", "boundary", (-30, -0.26 * h)),
    ):
        pieces = [piece for piece in chart.pieces if piece.kind == kind]
        longest = max(pieces, key=lambda piece: _length(chart, piece), default=None)
        at = (0.0, 0.0, 0.0) if longest is None else _middle(chart, longest)
        found.append(pointer(text, at, shift, shown=longest is not None))
    pinch = min(chart.pinches, key=lambda p: tuple(p), default=None)
    at = (0.0, 0.0, 0.0) if pinch is None else in_drawing(chart.slice, np.array(pinch))
    found.append(pointer("pinch point: boundary", at, (20, -0.3 * h), shown=pinch is not None))
    return found


def _length(chart: Chart, piece: Piece) -> float:
    return float(np.linalg.norm(np.diff(in_drawing(chart.slice, piece.points), axis=0), axis=1).sum())


def _middle(chart: Chart, piece: Piece) -> np.ndarray:
    return in_drawing(chart.slice, piece.points[len(piece.points) // 2])


# The right half: two forms, their roots on the projective line drawn as a circle.


def _roots(point: SurfacePoint) -> View:
    q1, q2 = point.forms
    common = [[cos(root.angle), sin(root.angle)] for root in point.roots]
    if not common and point.facts.kind == "closure only":
        common = on_circle(q1 if any(q1) else q2).tolist()
    rim = np.linspace(0, 2 * pi, 121)
    traces = [
        {
            "name": "the projective line",
            "x": np.cos(rim).round(5).tolist(),
            "y": np.sin(rim).round(5).tolist(),
            "mode": "lines",
            "line": {"color": theme.color("axis"), "width": 2},
            "fill": "toself",
            "fillcolor": theme.color("wash"),
            "hoverinfo": "skip",
        },
        _form_trace("q₁", q1, "ink", "solid", "circle", 0.75),
        _form_trace("q₂", q2, "soft", "dash", "square-open", 1.6),
        {
            "name": "common root",
            "x": [x for x, _ in common],
            "y": [y for _, y in common],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": 3.4 * theme.size("marker"),
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hovertemplate": "common root<extra></extra>",
        },
    ]
    lo, hi = 0.30, 0.84
    axes = {
        "xaxis": {
            "domain": DISC,
            "anchor": "y",
            "range": [-1.35, 1.35],
            "visible": False,
            "constrain": "domain",
        },
        "yaxis": {
            "domain": (lo, hi),
            "anchor": "x",
            "range": [-1.2, 1.2],
            "visible": False,
            "scaleanchor": "x",
            "constrain": "domain",
        },
    }
    return View(traces, axes, _root_words(point, common), [])


def _form_trace(name: str, q: Form, role: str, dash: str, symbol: str, size: float) -> dict:
    places = on_circle(q).tolist() if any(q) else []
    kind = "real roots" if len(places) == 2 else "a double root" if _on_rim(places) else "a complex pair"
    return {
        "name": f"roots of {name}",
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "mode": "lines+markers",
        "line": {"color": theme.color(role), "width": theme.size("line"), "dash": dash},
        "marker": {
            "symbol": symbol,
            "size": size * theme.size("marker") + 2,
            "color": theme.color(role),
            "line": {"width": 2, "color": theme.color(role)},
        },
        "hovertemplate": f"{name}: {kind}<extra></extra>",
    }


def _on_rim(places: list) -> bool:
    return bool(places) and abs(np.hypot(*places[0]) - 1) < 1e-9


def _root_words(point: SurfacePoint, common: list) -> list[dict]:
    note, ink = theme.size("note"), theme.color("ink")
    at = {
        "xref": "paper",
        "yref": "paper",
        "x": DISC[0],
        "xanchor": "left",
        "align": "left",
        "showarrow": False,
    }
    top = {**at, "y": 1, "yanchor": "bottom", "yshift": 6, "font": {"size": theme.size("title")}}
    legend = {**at, "y": 1, "yanchor": "top", "font": {"size": note, "color": theme.color("soft")}}
    below = {**at, "y": 0.0, "yanchor": "bottom", "font": {"size": note + 1, "color": ink}}
    return [
        {**top, "text": f"<b>{_root_headline(point)}</b>"},
        {
            **legend,
            "text": "roots on RP¹: q₁ ●—, q₂ □- -<br>real pair: a chord · complex pair: a point inside",
        },
        {**below, "text": "<br>".join(_facts(point))},
        label(
            "common root" if len(common) == 1 else "",
            common[0][0] if common else 0,
            common[0][1] if common else 0,
            yanchor="bottom" if common and common[0][1] >= 0 else "top",
            yshift=(1 if common and common[0][1] >= 0 else -1) * 2 * theme.size("marker"),
            font={"size": note, "color": theme.color("focus")},
        ),
    ]


def _root_headline(point: SurfacePoint) -> str:
    kind = point.facts.kind
    if kind == "boundary":
        return "q₁ and q₂: one double root" if any(map(any, point.forms)) else "q₁ = q₂ = 0"
    return {
        "smooth": "q₁ and q₂ share one root",
        "crossing": "q₁ and q₂ share both roots",
        "closure only": "both roots shared, not real",
        "off": "no common root",
    }[kind]


def _facts(point: SurfacePoint) -> list[str]:
    facts = point.facts
    lines = [f"<b>{KIND_WORDS[facts.kind]}</b>"]
    if facts.rank_a is None:
        lines.append("no real weights: 0 preimages")
    else:
        preimages = "infinitely many" if facts.preimages == float("inf") else facts.preimages
        lines.append(f"rank A = {facts.rank_a}, rank V = {facts.rank_v}")
        lines.append(f"preimages: {preimages}, kernel there: {facts.kernel}")
    if point.discriminant is not None:
        sign = "= 0" if facts.kind == "boundary" else "> 0" if point.discriminant > 0 else "< 0"
        lines.append(f"discriminant {point.discriminant:.3g} {sign}".replace("-", "−"))
    return lines
