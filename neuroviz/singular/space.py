"""A slice in space: sheets, rulings, the yellow singular curve, pinch points, and a name beside each."""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.camera import Camera, axes_of, beside, clearest, fitting
from neuroviz.kit.solids import balls, both, dashes, join, mesh, pointer, rods, shaded_mesh, sheet, tubes
from neuroviz.singular.curves import Piece, Strip
from neuroviz.singular.forms import layer_with_root
from neuroviz.singular.surface import CONE, Slice

STEPS = 21  # points along a ruling, so that the colour may change on it, and a click is near to one
_RODS = 20  # of the rulings drawn as rods
_TUBE, _END, _ROD = 0.03, 0.011, 0.0045
_PINCH, _PICKED = 0.05, 0.045
_CROSSES_FROM = 0.15  # how different two roots are where the sheets get their full colours
_EDGE = 0.25  # of half a ruling: how far from a sharp edge its sides have their full colours
_LONG = 2.1  # a cylinder is drawn so much longer than it is wide
# From where a slice is seen: the first that shows most of its singular curve. Where a parameter moves the
# surface, the camera stands still and fits the largest of the pictures.
_TOWARD = [
    (cos(turn) * cos(tilt), sin(turn) * cos(tilt), sin(tilt))
    for tilt in (0.45, 0.8)
    for turn in [-0.7 + 0.4 * k for k in (0, -1, 1, -2, 2, -3, 3, 4, -4, 5, -5, 6, -6, 7, -7)]
]
_TOWARD_LONG = [(0.95, -1.5, 0.75)]
_FIXED = {
    "S1k": Camera((1.236, -1.78, 0.752), (0.108, 0.0, -0.138)),
    "S3": Camera((-0.466, 0.817, 0.988), (0.003, -0.005, 0.01)),
}
_LABELS = {
    "crossing": "two sheets cross",
    "closure only": "isolated points:<br>no real common root",
    "boundary": "sharp edge: boundary",
}
_PINCH_LABEL = "pinch point: boundary"
_PICKED_LABEL = "layers that it goes through"


@dataclass(frozen=True, eq=False)
class Chart:
    """What is drawn of a slice, whatever the point; the same object for the same slice, and drawn once.

    Attributes:
        slice: the slice.
        strips: its rulings inside the window.
        pieces: its singular curve, solid and dotted.
        pinches: the pinch points in the window, shape (n, 3).
        picked: the functions the slice was laid through, where it was.
    """

    slice: Slice
    strips: tuple[Strip, ...]
    pieces: tuple[Piece, ...]
    pinches: tuple[tuple[float, float, float], ...]
    picked: tuple[tuple[float, float, float], ...] = ()


def in_drawing(slice: Slice, points: np.ndarray) -> np.ndarray:
    """Coordinates of a slice, shape (…, 3), as they are drawn: the window becomes about a unit ball."""
    return (np.asarray(points, dtype=float) - np.array(slice.window.centre)) * stretch_of(slice)


def stretch_of(slice: Slice) -> np.ndarray:
    """What the coordinates are multiplied with in the drawing."""
    window = slice.window
    stretch = np.array(window.stretch) / window.radius
    if not window.stretch[0]:  # a cylinder: its axis is drawn about twice as long as it is wide
        stretch[0] = _LONG / window.half_length
    return stretch


def half_sizes(slice: Slice) -> tuple[float, float, float]:
    """How far the drawing reaches in x, y and z."""
    return (1.0, 1.0, 1.0) if slice.window.stretch[0] else (_LONG, 1.0, 1.0)


def chart_traces(chart: Chart) -> tuple[dict, ...]:
    """Sheets, rods, tubes and pinch points: the heavy part, which moves with no point and no plane."""
    return _traces(chart, _look())


def scene_of(chart: Chart, domain: tuple[float, float], room: float = 1.0) -> dict:
    """Axes, camera and labels of a chart in a part of the figure's width, seen from so much further away."""
    # What is beyond the axes is not drawn; how far they go moves nothing on the screen.
    reach = [1.15 * half if room == 1 else 3.0 for half in half_sizes(chart.slice)]
    return {
        "domain": {"x": domain, "y": (0.0, 1.0)},
        **axes_of(reach),
        "camera": camera_of(chart).backed(room).layout(),
        "uirevision": chart.slice.name,  # a turned camera stays while sliders move
        "annotations": list(_pointers(chart, room, _look())),
    }


@lru_cache(maxsize=64)
def camera_of(chart: Chart) -> Camera:
    """From where a chart is seen at first: as large as it can be."""
    name = chart.slice.name
    if name in _FIXED:
        return _FIXED[name]
    toward = _TOWARD if chart.slice.window.stretch[0] else _TOWARD_LONG
    curves = [in_drawing(chart.slice, piece.points[::8]) for piece in chart.pieces]
    return fitting(_outline(chart), clearest(curves, _triangles(chart), toward))


def headline_at(domain: tuple[float, float], text: str) -> dict:
    """The bold line above a scene, which has no axes of its own to hold it."""
    return {
        "text": f"<b>{text}</b>",
        "xref": "paper",
        "yref": "paper",
        "x": domain[0],
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "showarrow": False,
        "font": {"size": theme.size("title")},
    }


def tone(chart: Chart, theta: np.ndarray, starts: np.ndarray, ends: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Which of two crossing sheets points of rulings belong to, from −1 to 1; shape (n, k).

    Where a ruling meets the singular curve, the common form q has two real roots, one of them the
    ruling's own; q rises through one and falls through the other as the root turns. So the slope of
    q at its own root tells the sheets apart exactly where they cross, and goes to 0 at a pinch point.
    Along a ruling with two such places the tone goes from one to the other. At a sharp edge it says
    on which side of it a point is; without crossing and edge, and on a cone, it goes round once with
    the root.

    Args:
        chart: the slice, with its singular curve.
        theta: the roots [cos θ : sin θ], shape (n,).
        starts, ends: two points on each ruling, shape (n, 3).
        u: where, −1 at the start and 1 at the end, shape (k,) or (n, k).
    """
    slice, kinds = chart.slice, {piece.kind for piece in chart.pieces}
    X, Y = np.cos(theta), np.sin(theta)
    u = np.broadcast_to(u, (len(theta), np.shape(u)[-1]))
    by_root = np.broadcast_to(0.8 * np.cos(2 * theta)[:, None], u.shape)
    if not kinds & {"crossing", "boundary"} or slice.name == CONE:
        return by_root

    def at(u: float | np.ndarray) -> np.ndarray:
        share = (np.broadcast_to(u, theta.shape)[:, None] + 1) / 2
        return (1 - share) * starts + share * ends

    # On a ruling q_k = ℓ_k·v, and det(ℓ₁, ℓ₂) is quadratic along it: its zeros are the singular points.
    minus, zero, plus = (_determinant(slice, at(t), X, Y) for t in (-1.0, 0.0, 1.0))
    a, b, c = plus + minus - 2 * zero, plus - minus, 2 * zero  # a·u² + b·u + c is the determinant, twice
    size = np.maximum(np.abs(minus), np.maximum(np.abs(zero), np.abs(plus)))
    straight = np.abs(a) <= 1e-9 * size
    disc = b * b - 4 * a * c
    root = np.sqrt(np.maximum(disc, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = (np.where(straight, -c / b, (-b + sign * root) / (2 * a)) for sign in (-1, 1))
    places = np.sort(np.stack([low, high]), axis=0)
    met = np.isfinite(places).all(axis=0) & (disc >= 0) & (size > 0)
    places = np.where(met, places, 0.0)
    if "crossing" not in kinds:  # the two places are one
        with np.errstate(divide="ignore", invalid="ignore"):
            edge = np.where(np.abs(a) > 1e-9 * size, -b / (2 * a), np.where(minus * plus > 0, -9.0, 9.0))
        return np.tanh((u - edge[:, None]) / _EDGE)
    first, last = (_slope(slice, at(place), X, Y) for place in places)
    gap = np.maximum(places[1] - places[0], 1e-12)[:, None]
    share = np.clip((u - places[0][:, None]) / gap, 0.0, 1.0)
    return np.where(met[:, None], (1 - share) * first[:, None] + share * last[:, None], 0.0)


def sheet_tone(chart: Chart, strip: Strip, steps: int) -> np.ndarray:
    """`tone` of all `strip.points(steps)`, shape (n, steps)."""
    return tone(chart, strip.theta, strip.starts, strip.ends, np.linspace(-1, 1, steps))


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


def _look() -> tuple:
    """What traces depend on beside their chart."""
    return tuple(sorted(theme.current().items()))


@lru_cache(maxsize=32)
def _traces(chart: Chart, _look: tuple) -> tuple[dict, ...]:
    slice, solids, tones = chart.slice, [], []
    lines, outlines = [], []
    for strip in chart.strips:
        points = strip.points(STEPS)
        solids.append(sheet(in_drawing(slice, points)))
        tones += sheet_tone(chart, strip, STEPS).ravel().round(3).tolist()
        drawn = in_drawing(slice, points[:, [0, -1]])
        every = max(1, len(drawn) // _RODS)
        lines += list(drawn[every // 2 :: every])
        outlines += [drawn[0], drawn[-1]] if not slice.window.stretch[0] else []
    curves = [(piece.kind, in_drawing(slice, piece.points)) for piece in chart.pieces]
    solid = [_sticking_out(slice, curve) for kind, curve in curves if kind == "crossing"]
    dotted = [dash for kind, curve in curves if kind == "closure only" for dash in dashes(curve, 0.07, 0.075)]
    boundary = [_sticking_out(slice, curve) for kind, curve in curves if kind == "boundary"]
    pinches, picked = (
        in_drawing(slice, np.reshape(points, (-1, 3))) for points in (chart.pinches, chart.picked)
    )
    here = {"hovertemplate": "click: go there<extra></extra>"}
    return (
        shaded_mesh("the surface", join(solids), tones, **here),
        mesh("rulings", "ruling", both(rods(lines, _ROD), rods(outlines, _END)), hoverinfo="skip"),
        mesh("two sheets cross here", "singular", tubes(solid, _TUBE)),
        mesh("isolated points of the closure: no real common root", "singular", tubes(dotted, _TUBE)),
        mesh("boundary: a double common root", "boundary", tubes(boundary, _TUBE)),
        mesh("pinch point: boundary", "boundary", balls(pinches, _PINCH)),
        mesh("a layer that the slice was laid through", "soft", balls(picked, _PICKED)),
    )


def _sticking_out(slice: Slice, curve: np.ndarray) -> np.ndarray:
    """The curve, a little longer at an end that lies on the window."""
    ends = []
    for end, inner in ((curve[0], curve[1]), (curve[-1], curve[-2])):
        away = (end - inner) / max(np.linalg.norm(end - inner), 1e-12)
        on_window = np.linalg.norm(end) > 0.97 if slice.window.stretch[0] else abs(end[0]) > 0.98 * _LONG
        ends.append([end + 0.12 * away] if on_window else [])
    return np.array([*ends[0], *curve, *ends[1]])


def _outline(chart: Chart) -> np.ndarray:
    """Points enough to say where the drawing is on the screen."""
    rows = [strip.points(21)[::2].reshape(-1, 3) for strip in chart.strips]
    curves = [piece.points[::4] for piece in chart.pieces] + [piece.points[[-1]] for piece in chart.pieces]
    return in_drawing(chart.slice, np.concatenate([*rows, *curves]))


def _triangles(chart: Chart) -> np.ndarray:
    """The sheets, coarsely, as triangles of shape (m, 3, 3)."""
    found = [np.zeros((0, 3, 3))]
    for strip in chart.strips:
        corners, faces = sheet(in_drawing(chart.slice, strip.points(5)[::4]))
        found.append(corners[faces])
    return np.concatenate(found)


@lru_cache(maxsize=64)
def _pointers(chart: Chart, room: float, _look: tuple) -> tuple[dict, ...]:
    """At most one label of each kind, where it covers nothing; always the same ones, some hidden."""
    named = {text: _candidates(chart, kind) for kind, text in _LABELS.items()}
    inside = [p for p in chart.pinches if np.abs(in_drawing(chart.slice, np.array(p))).max() < 2.2]
    named[_PINCH_LABEL] = in_drawing(chart.slice, np.reshape(inside, (-1, 3)))
    named[_PICKED_LABEL] = in_drawing(chart.slice, np.reshape(chart.picked, (-1, 3)))
    order = [_PINCH_LABEL, *_LABELS.values(), _PICKED_LABEL]
    shown = [(text, named[text]) for text in order if len(named[text])]
    placed = beside(camera_of(chart).backed(room), _outline(chart), shown)
    at = {text: place for (text, _), place in zip(shown, placed, strict=True)}
    nowhere = (np.zeros(3), (0.0, 0.0))
    return tuple(pointer(text, *at.get(text, nowhere), shown=text in at) for text in order)


def _candidates(chart: Chart, kind: str) -> np.ndarray:
    """Points of the pieces of one kind that a label may name, away from their ends."""
    found = []
    for piece in chart.pieces:
        if piece.kind == kind:
            rows = (np.linspace(0.2, 0.8, 9) * (len(piece.points) - 1)).astype(int)
            found.append(in_drawing(chart.slice, piece.points[rows]))
    return np.concatenate(found) if found else np.zeros((0, 3))
