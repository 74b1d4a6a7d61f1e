"""Where a slice is seen from, and which words stand beside it."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from neuroviz.singular.camera import Camera, beside, fitting
from neuroviz.singular.chart import Chart, in_drawing

# From where a slice is seen: most of its singular curve is in front of a sheet, for
# random ones with seed 0.
_TOWARD = {
    "S4": (-0.455, 0.777, 0.435),
    "half of S1": (-0.2, -0.91, 0.36),
    "random": (-0.6524, 0.2444, 0.7174),
}
_TOWARD_LONG = (0.95, -1.5, 0.75)
# Where a parameter moves the surface, the camera stands still and fits the largest of
# the pictures.
_FIXED = {
    "S1k": Camera((2.472, -3.56, 1.504), (0.216, 0.0, -0.276)),
    "S3": Camera((-0.932, 1.634, 1.976), (0.006, -0.01, 0.02)),
}
_LABELS = {
    "crossing": "two sheets cross",
    "closure only": "isolated points:\nno real common root",
    "boundary": "sharp edge: boundary",
}


@lru_cache(maxsize=64)
def camera_of(chart: Chart) -> Camera:
    """From where a chart is seen at first: as large as it can be."""
    slice = chart.slice
    if slice.name in _FIXED:
        return _FIXED[slice.name]
    toward = (
        _TOWARD.get(slice.name, _TOWARD["random"])
        if slice.window.stretch[0]
        else _TOWARD_LONG
    )
    return fitting(_outline(chart), toward)


def _drawn_points(chart: Chart, points: Sequence) -> np.ndarray:
    return in_drawing(chart.slice, np.reshape(points, (-1, 3)))


def _outline(chart: Chart) -> np.ndarray:
    """Points enough to say where the drawing is on the screen."""
    rows = [strip.points(21)[::2].reshape(-1, 3) for strip in chart.strips]
    curves = [
        piece.points[np.r_[: len(piece.points) : 4, -1]] for piece in chart.pieces
    ]
    return in_drawing(chart.slice, np.concatenate([*rows, *curves]))


def labels_of(chart: Chart, room: float) -> list[tuple]:
    """At most one label of each kind, where it covers nothing: its text, what it names,
    and the way there."""
    named = {
        "pinch point: boundary": _drawn_points(chart, chart.pinches),
        **{text: _candidates(chart, kind) for kind, text in _LABELS.items()},
    }
    # Curves take their places first, points last: in this order no label of a preset
    # covers another one.
    shown = {text: points for text, points in reversed(named.items()) if len(points)}
    placed = beside(camera_of(chart).backed(room), _outline(chart), list(shown.items()))
    return [(text, *place) for text, place in zip(shown, placed, strict=True)]


def _candidates(chart: Chart, kind: str) -> np.ndarray:
    """Points that a label may name: middles of pieces, of crossings of the one that
    looks longest."""
    pieces = [
        in_drawing(chart.slice, piece.points)
        for piece in chart.pieces
        if piece.kind == kind
    ]
    pieces.sort(key=lambda piece: np.ptp(camera_of(chart).seen(piece), axis=0).max())
    named = pieces[-1:] if kind == "crossing" else pieces
    return np.reshape(
        [p[np.linspace(0.4 * len(p), 0.6 * len(p), 9).astype(int)] for p in named],
        (-1, 3),
    )
