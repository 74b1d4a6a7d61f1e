"""The singular surface cut by a plane: in space, and beside it the section as a plane curve."""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import cos, radians, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, label
from neuroviz.kit.solids import balls, mesh, rods, sheet_scale, tubes
from neuroviz.singular.section import Plane, Section
from neuroviz.singular.space import (
    Chart,
    camera_of,
    chart_traces,
    half_sizes,
    headline_at,
    in_drawing,
    scene_of,
    stretch_of,
    tone,
)

SPACE, FLAT = (0.0, 0.58), (0.63, 0.985)
_TUBE, _EDGE, _MARK = 0.024, 0.008, 0.055
_SEE_THROUGH = 0.22
_MARGIN = 0.06
_ROOM = 1.14  # around the surface, for the plane
_EVERY = 3  # of the section's points that the tube in space goes through
_MARKS = {
    "crossing": ("nodes: two sheets cross", "a node"),
    "boundary": ("cusps: boundary", "boundary"),
    "closure only": ("isolated points: no real common root", "isolated"),
}


@dataclass(frozen=True)
class Frame:
    """A plane as it is drawn: its directions to the right and up, its normal, and how far out it is.

    Args:
        turn, tilt: of the normal, in degrees: around z from x towards y, and up from there.
        offset: how far from the middle of the drawing.
        side: 1 if it is looked at from where the normal points to, −1 from behind.
    """

    turn: float
    tilt: float
    offset: float
    side: int = 1

    @property
    def normal(self) -> np.ndarray:
        """Of length 1; exact where the angles are multiples of 90°."""
        (c, s), (e, f) = _turned(self.turn), _turned(self.tilt)
        return np.array([e * c, e * s, f])

    @property
    def across(self) -> np.ndarray:
        """To the right, for who looks at it."""
        c, s = _turned(self.turn)
        return self.side * np.array([-s, c, 0.0])

    @property
    def up(self) -> np.ndarray:
        """Up, for who looks at it."""
        return np.cross(self.side * self.normal, self.across)

    def on_page(self, points: np.ndarray) -> np.ndarray:
        """Points of the drawing, shape (…, 3), in the plane's own coordinates, (…, 2)."""
        return np.stack([points @ self.across, points @ self.up], axis=-1)


@dataclass(frozen=True)
class SectionStudy:
    """A slice, a plane and what the one cuts out of the other.

    Attributes:
        chart: the slice.
        frame: the plane as it is drawn.
        section: the curve and its singular points.
        about: what is drawn in space, in a few words.
        found: what was found in the plane, in a few words.
    """

    chart: Chart
    frame: Frame
    section: Section
    about: str
    found: str


def frame_of(chart: Chart, turn: float, tilt: float, offset: float) -> Frame:
    """The frame of a plane that is looked at from where the chart's camera stands at first."""
    front = Frame(turn, tilt, offset)
    away = np.array(camera_of(chart).eye) @ front.normal
    return front if away >= 0 else replace(front, side=-1)


def plane_of(chart: Chart, frame: Frame) -> Plane:
    """The plane in the coordinates of the slice."""
    normal = frame.normal * stretch_of(chart.slice)
    return Plane(tuple(normal.tolist()), frame.offset + float(normal @ chart.slice.window.centre))


def reach(chart: Chart, direction: np.ndarray) -> float:
    """How far the drawing of a slice reaches in a direction of length 1."""
    long, wide, _ = half_sizes(chart.slice)
    if long == wide:
        return wide
    return float(abs(direction[0]) * long + np.sqrt(max(1 - direction[0] ** 2, 0.0)) * wide)


def section_parts(study: SectionStudy) -> Parts:
    """Space and section."""
    return compose(_space(study), _page(study))._replace(seen=study.chart.slice.name)


def _space(study: SectionStudy) -> View:
    chart, frame = study.chart, study.frame
    middle, half = _box(half_sizes(chart.slice), frame)
    corners = [
        frame.offset * frame.normal + p * frame.across + q * frame.up
        for p, q in middle + half * [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    ]
    x, y, z = np.array(corners).round(5).T.tolist()
    rectangle = {"x": x, "y": y, "z": z, "i": [0, 0], "j": [1, 2], "k": [2, 3]}
    runs = [in_drawing(chart.slice, _thin(run.points)) for run in study.section.runs]
    singular = [in_drawing(chart.slice, np.array(point)) for _, point in study.section.singular]
    surface, *others = chart_traces(chart)
    traces = [
        {**surface, "hovertemplate": "the surface<extra></extra>"},
        *others,
        mesh("the plane", "focus", rectangle, opacity=_SEE_THROUGH, hoverinfo="skip"),
        mesh("edge of the plane", "focus", rods(_around(corners), _EDGE), hoverinfo="skip"),
        mesh("the section", "focus", tubes(runs, _TUBE)),
        mesh("where the plane meets the singular curve", "singular", balls(singular, _MARK)),
    ]
    return View(traces, {"scene": scene_of(chart, SPACE, room=_ROOM)}, [headline_at(SPACE, study.about)], [])


@lru_cache(maxsize=256)
def _box(sizes: tuple[float, float, float], frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Where in the plane the drawing is: the middle of a rectangle, and its half sizes (as at offset 0)."""
    line = np.linspace(-1.5 * sizes[0], 1.5 * sizes[0], 151)
    page = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def around(offset: float) -> tuple[np.ndarray, np.ndarray] | None:
        points = offset * frame.normal + page @ np.array([frame.across, frame.up])
        long = sizes[0] > 1
        inside = np.linalg.norm(points[:, int(long) :], axis=1) <= 1
        inside &= np.abs(points[:, 0]) <= sizes[0]
        found = page[inside]
        return (found.min(axis=0), found.max(axis=0)) if len(found) else None

    low, high = around(0.0)
    here = around(frame.offset) or (low, high)
    return ((here[0] + here[1]) / 2).round(3), ((high - low) / 2 + line[1] - line[0]).round(3)


def _thin(points: np.ndarray) -> np.ndarray:
    return points[np.r_[0 : len(points) - 1 : _EVERY, len(points) - 1]]


def _around(corners: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(zip(corners, [*corners[1:], corners[0]], strict=True))


def _page(study: SectionStudy) -> View:
    chart, frame, section = study.chart, study.frame, study.section
    middle, half = _box(half_sizes(chart.slice), frame)
    (left, low), (right, high) = middle - half, middle + half
    curves = [_flat(chart, frame, run.points) for run in section.runs]
    tones = [_tones(chart, run.theta, run.points) for run in section.runs]
    held = [_flat(chart, frame, piece.points) for piece in section.along]
    mark, line = theme.size("marker"), theme.size("line")
    traces = [
        {
            **_joined("the section", curves),
            "mode": "lines",
            "line": {"color": theme.color("ruling"), "width": 3.6 * line, "simplify": False},
            "hoverinfo": "skip",
        },
        {
            "name": "which sheet",
            "x": [x for curve in curves for x in curve[:, 0].tolist()],
            "y": [y for curve in curves for y in curve[:, 1].tolist()],
            "mode": "markers",
            "marker": {
                "size": 2.6 * line,
                "color": [t for values in tones for t in values],
                "cmin": -1,
                "cmax": 1,
                "colorscale": sheet_scale(),
                "line": {"width": 0},
            },
            "hovertemplate": "the section<extra></extra>",
        },
        {
            **_joined("the singular curve lies in the plane", held),
            "mode": "lines",
            "line": {"color": theme.color("singular"), "width": 2 * line, "dash": "8px,5px"},
            "hovertemplate": "the yellow line<extra></extra>",
        },
        *(_mark(study, kind, mark) for kind in _MARKS),
    ]
    hidden = {"visible": False, "constrain": "domain", "fixedrange": True}
    axes = {
        "xaxis": {**hidden, "domain": FLAT, "anchor": "y", "range": [left - _MARGIN, right + _MARGIN]},
        "yaxis": {
            **hidden,
            "domain": (0.02, 0.98),
            "anchor": "x",
            "range": [low - _MARGIN, high + _MARGIN],
            "scaleanchor": "x",
        },
    }
    edge = {
        "type": "rect",
        "x0": left,
        "x1": right,
        "y0": low,
        "y1": high,
        "layer": "below",
        "line": {"color": theme.color("focus"), "width": 2},
        "fillcolor": theme.color("panel"),
    }
    words = [headline_at(FLAT, study.found), *(_word(study, kind, (middle, half)) for kind in _MARKS)]
    return View(traces, axes, words, [edge])


def _flat(chart: Chart, frame: Frame, points: np.ndarray) -> np.ndarray:
    """Points of the slice, shape (n, 3), in the plane's own coordinates, (n, 2)."""
    return frame.on_page(in_drawing(chart.slice, points)).round(5)


def _joined(name: str, curves: list[np.ndarray]) -> dict:
    """Several curves as one trace, with a gap between them."""
    found: dict = {"name": name, "x": [], "y": []}
    for curve in curves:
        found["x"] += [*curve[:, 0].tolist(), None]
        found["y"] += [*curve[:, 1].tolist(), None]
    return found


def _tones(chart: Chart, theta: np.ndarray, points: np.ndarray) -> list[float]:
    """Which sheet each point of a section is on: the tone of its ruling, there."""
    slice = chart.slice
    if theta[0] == theta[-1]:
        share = np.linspace(-1, 1, len(points))
        return tone(chart, theta[:1], points[:1], points[-1:], share)[0].round(3).tolist()
    _, directions = slice.lines(theta)
    return (
        tone(chart, theta, points - directions, points + directions, np.array([0.0]))[:, 0].round(3).tolist()
    )


def _mark(study: SectionStudy, kind: str, size: float) -> dict:
    points = np.reshape(study.section.of_kind(kind), (-1, 3))
    flat = _flat(study.chart, study.frame, points)
    name, _ = _MARKS[kind]
    symbol, color, width = {
        "crossing": ("circle", "singular", 2),
        "boundary": ("diamond", "boundary", 0),
        "closure only": ("circle-open", "ink", 3),
    }[kind]
    return {
        "name": name,
        "x": flat[:, 0].tolist(),
        "y": flat[:, 1].tolist(),
        "mode": "markers",
        "marker": {
            "symbol": symbol,
            "size": 1.8 * size,
            "color": theme.color(color),
            "line": {"width": width, "color": theme.color("ink")},
        },
        "hovertemplate": f"{name}<extra></extra>",
    }


def _word(study: SectionStudy, kind: str, box: tuple[np.ndarray, np.ndarray]) -> dict:
    """A label at the first of the marks of a kind, above it where there is room."""
    points = study.section.of_kind(kind)
    x, y = _flat(study.chart, study.frame, np.array(points))[0].tolist() if points else (0.0, 0.0)
    share = (np.array([x, y]) - box[0]) / box[1]
    up = -1 if share[1] > 0.75 else 1
    side = "right" if share[0] > 0.75 else "left" if share[0] < -0.75 else "center"
    return label(
        _MARKS[kind][1] if points else "",
        x,
        y,
        xanchor=side,
        yanchor="bottom" if up > 0 else "top",
        yshift=up * 1.1 * theme.size("marker"),
        font={"size": theme.size("note"), "color": theme.color("ink")},
        bgcolor=theme.color("panel"),
    )


def _turned(degrees: float) -> tuple[float, float]:
    """Cosine and sine, exact where they are 0 and 1."""
    return round(cos(radians(degrees)), 12) + 0.0, round(sin(radians(degrees)), 12) + 0.0
