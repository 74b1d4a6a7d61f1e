"""A slice in space: sheets, rulings, the yellow singular curve, pinch points, and a name beside each."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from neuroviz.kit import solids, theme
from neuroviz.kit.plot import headline
from neuroviz.kit.solids import balls, mesh, rods
from neuroviz.singular.camera import Camera, beside, fitting
from neuroviz.singular.chart import LONG, Chart, half_sizes, in_drawing, tone
from neuroviz.singular.slice import Slice

CURVES = (
    "two sheets cross here",
    "isolated points of the closure: no real common root",
    "boundary: a double common root",
    "pinch point: boundary",
)
_STEPS = 11  # points along a ruling: colours change along it, and a click finds one near
_RODS = 20  # rulings of a strip that are drawn as rods, about
_TUBE, _END, _ROD = 0.03, 0.011, 0.0045
_PINCH = 0.05
# From where a slice is seen: most of its singular curve is in front of a sheet, for random ones with seed 0.
_TOWARD = {"S4": (-0.455, 0.777, 0.435), "random": (-0.6524, 0.2444, 0.7174)}
_TOWARD_LONG = (0.95, -1.5, 0.75)
# Where a parameter moves the surface, the camera stands still and fits the largest of the pictures.
_FIXED = {
    "S1k": Camera((1.236, -1.78, 0.752), (0.108, 0.0, -0.138)),
    "S3": Camera((-0.466, 0.817, 0.988), (0.003, -0.005, 0.01)),
}
_LABELS = {
    "crossing": "two sheets cross",
    "closure only": "isolated points:<br>no real common root",
    "boundary": "sharp edge: boundary",
}


def chart_traces(chart: Chart) -> tuple[dict, ...]:
    """Sheets, rods, tubes and pinch points: large meshes that no moved point or plane changes."""
    return _traces(chart, _look())


def scene_of(chart: Chart, domain: tuple[float, float], room: float = 1.0) -> dict:
    """Axes, camera and labels of a chart in a part of the figure's width, seen from so much further away."""
    # The picture ends at the axes; their length moves nothing on the screen.
    reach = [1.15 * half if room == 1 else 3.0 for half in half_sizes(chart.slice)]
    return {
        "domain": {"x": domain, "y": (0.0, 1.0)},
        **solids.axes_of(reach, scale=1.0),
        "camera": camera_of(chart).backed(room).layout(),
        "uirevision": chart.slice.name,  # with the same value the reader's camera stays
        "annotations": list(_pointers(chart, room, _look())),
    }


@lru_cache(maxsize=64)
def camera_of(chart: Chart) -> Camera:
    """From where a chart is seen at first: as large as it can be."""
    slice = chart.slice
    if slice.name in _FIXED:
        return _FIXED[slice.name]
    toward = _TOWARD.get(slice.name, _TOWARD["random"]) if slice.window.stretch[0] else _TOWARD_LONG
    return fitting(_outline(chart), toward)


def headline_at(domain: tuple[float, float], text: str) -> dict:
    """The bold line above a scene, which has no axes of its own to hold it."""
    return headline(text) | {"xref": "paper", "yref": "paper", "x": domain[0]}


def _look() -> tuple:
    """The theme in use, on which traces depend besides their chart."""
    return tuple(sorted(theme.current().items()))


@lru_cache(maxsize=32)
def _traces(chart: Chart, _look: tuple) -> tuple[dict, ...]:
    slice, sheets, tones, lines, outlines = chart.slice, [], [], [], []
    for strip in chart.strips:
        points = in_drawing(slice, strip.points(_STEPS))
        sheets.append(solids.sheet(points))
        tones += tone(chart, strip.theta, strip.starts, strip.ends, np.linspace(-1, 1, _STEPS)).tolist()
        drawn = points[:, [0, -1]]
        every = max(1, len(drawn) // _RODS)
        lines += list(drawn[every // 2 :: every])
        outlines += [drawn[0], drawn[-1]] if not slice.window.stretch[0] else []
    tubes = {"crossing": [], "closure only": [], "boundary": []}
    for piece in chart.pieces:
        curve, dotted = in_drawing(slice, piece.points), piece.kind == "closure only"
        tubes[piece.kind] += solids.dashes(curve, 0.07, 0.075) if dotted else [_sticking_out(slice, curve)]
    colours = np.array(tones).ravel().round(3).tolist()
    pinches = balls(_drawn_points(chart, chart.pinches), _PINCH)
    roles = "singular", "singular", "boundary", "boundary"
    drawn = (*(solids.tubes(curves, _TUBE) for curves in tubes.values()), pinches)
    return (
        solids.shaded_mesh("the surface", solids.join(sheets), colours, hoverinfo="skip"),
        mesh("rulings", "ruling", solids.both(rods(lines, _ROD), rods(outlines, _END)), hoverinfo="skip"),
        *map(mesh, CURVES, roles, drawn),
    )


def _drawn_points(chart: Chart, points: Sequence) -> np.ndarray:
    return in_drawing(chart.slice, np.reshape(points, (-1, 3)))


def _sticking_out(slice: Slice, curve: np.ndarray) -> np.ndarray:
    """The curve, a little longer at an end that lies on the window."""
    for _ in range(2):  # each end in turn
        end, away = curve[-1], curve[-1] - curve[-2]
        on_window = np.linalg.norm(end) > 0.97 if slice.window.stretch[0] else abs(end[0]) > 0.98 * LONG
        longer = end + 0.12 * away / max(np.linalg.norm(away), 1e-12)
        curve = np.array([*curve, longer] if on_window else curve)[::-1]
    return curve


def _outline(chart: Chart) -> np.ndarray:
    """Points enough to say where the drawing is on the screen."""
    rows = [strip.points(21)[::2].reshape(-1, 3) for strip in chart.strips]
    curves = [piece.points[np.r_[: len(piece.points) : 4, -1]] for piece in chart.pieces]
    return in_drawing(chart.slice, np.concatenate([*rows, *curves]))


@lru_cache(maxsize=64)
def _pointers(chart: Chart, room: float, _look: tuple) -> tuple[dict, ...]:
    return tuple(solids.pointer(text, *place) for text, *place in labels_of(chart, room))


def labels_of(chart: Chart, room: float) -> list[tuple]:
    """At most one label of each kind, where it covers nothing: its text, what it names, and the way there."""
    pinches = _drawn_points(chart, chart.pinches)
    named = {
        "pinch point: boundary": pinches[np.abs(pinches).max(axis=1, initial=0) < 2.2],
        **{text: _candidates(chart, kind) for kind, text in _LABELS.items()},
    }
    shown = {text: points for text, points in reversed(named.items()) if len(points)}
    placed = beside(camera_of(chart).backed(room), _outline(chart), list(shown.items()))
    return [(text, *place) for text, place in zip(shown, placed, strict=True)]


def _candidates(chart: Chart, kind: str) -> np.ndarray:
    """Points that a label may name: middles of pieces, of crossings of the one that looks longest."""
    pieces = [in_drawing(chart.slice, piece.points) for piece in chart.pieces if piece.kind == kind]
    pieces.sort(key=lambda piece: np.ptp(camera_of(chart).seen(piece), axis=0).max())
    named = pieces[-1:] if kind == "crossing" else pieces
    return np.reshape([p[np.linspace(0.4 * len(p), 0.6 * len(p), 9).astype(int)] for p in named], (-1, 3))
