"""The singular surface cut by a plane: in space, and beside it the section as a plane curve."""

from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import cos, radians, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose
from neuroviz.kit.scene import as_scene
from neuroviz.kit.solids import balls, mesh, rods, sheet_scale, tubes
from neuroviz.singular.chart import Chart, half_sizes, in_drawing, local_of, stretch_of, tone
from neuroviz.singular.section import Plane, Run, Section
from neuroviz.singular.space import camera_of, chart_traces, headline_at, scene_of

RANGES = {"turn": (-90, 90, 5), "tilt": (-90, 90, 5), "offset": (-1, 1, 1 / 256)}  # these steps hit 0
_MOVED = {"meta": "local"}  # the scene draws them itself while the plane moves
SPACE, FLAT = (0.0, 0.58), (0.63, 0.985)
_TUBE, _EDGE, _MARK = 0.024, 0.008, 0.055
_SEE_THROUGH = 0.22
_MARGIN = 0.06
_ROOM = 1.14  # around the surface, for the plane
_EVERY = 3  # the tube in space goes through every third point of the section
_MARKS = {  # name, label, symbol, colour, edge
    "crossing": ("nodes: two sheets cross", "a node", "circle", "singular", 2),
    "boundary": ("cusps: boundary", "boundary", "triangle-up", "boundary", 0),
    "closure only": ("isolated points: no real common root", "isolated", "circle-open", "ink", 3),
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
        return points @ np.stack([self.across, self.up], axis=-1)


@dataclass(frozen=True)
class SectionStudy:
    """A slice, a plane and what the one cuts out of the other.

    Attributes:
        chart: the slice.
        frame: the plane as it is drawn.
        section: the curve and its singular points.
        about: what is drawn in space, in a few words.
        found: what was found in the plane, in a few words.
        place: the controls that say where the plane is.
    """

    chart: Chart
    frame: Frame
    section: Section
    about: str
    found: str
    place: dict[str, float] = field(default_factory=dict)


def frame_of(chart: Chart, turn: float, tilt: float, offset: float) -> Frame:
    """The frame of a plane that is looked at from where the chart's camera stands at first."""
    front = Frame(turn, tilt, offset)
    return front if camera_of(chart).eye @ front.normal >= 0 else replace(front, side=-1)


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
    parts = compose(_space(study), _page(study).view())
    local = local_of(study.chart) | {"eye": list(camera_of(study.chart).eye)}
    return as_scene(parts, "section", study.place, local, RANGES)


def _space(study: SectionStudy) -> View:
    chart, frame = study.chart, study.frame
    middle, half = _box(half_sizes(chart.slice), frame)
    corners = middle + half * [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    corners = frame.offset * frame.normal + corners @ np.array([frame.across, frame.up])
    x, y, z = corners.round(5).T.tolist()
    rectangle = {"x": x, "y": y, "z": z, "i": [0, 0], "j": [1, 2], "k": [2, 3]}
    edges = zip(corners, np.roll(corners, -1, axis=0), strict=True)
    thin = [np.append(run.points[:-1:_EVERY], run.points[-1:], 0) for run in study.section.runs]
    runs = [in_drawing(chart.slice, points) for points in thin]
    singular = [in_drawing(chart.slice, np.array(point)) for _, point in study.section.singular]
    traces = [
        *chart_traces(chart),
        mesh("the plane", "focus", rectangle, opacity=_SEE_THROUGH, hoverinfo="skip", **_MOVED),
        mesh("edge of the plane", "focus", rods(edges, _EDGE), hoverinfo="skip", **_MOVED),
        mesh("the section", "focus", tubes(runs, _TUBE), **_MOVED),
        mesh("where the plane meets the singular curve", "singular", balls(singular, _MARK), **_MOVED),
    ]
    return View(traces, {"scene": scene_of(chart, SPACE, room=_ROOM)}, [headline_at(SPACE, study.about)], [])


@lru_cache(maxsize=256)
def _box(sizes: tuple[float, float, float], frame: Frame) -> tuple[np.ndarray, np.ndarray]:
    """Where in the plane the drawing is: the middle of a rectangle, and its half sizes (as at offset 0)."""
    line = np.linspace(-1.5 * sizes[0], 1.5 * sizes[0], 151)
    page = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)

    def around(offset: float) -> np.ndarray:
        points = offset * frame.normal + page @ np.array([frame.across, frame.up])
        inside = np.linalg.norm(points[:, int(sizes[0] > 1) :], axis=1) <= 1
        return page[inside & (np.abs(points[:, 0]) <= sizes[0])]

    whole, here = around(0.0), around(frame.offset)
    here = here if len(here) else whole
    middle = (here.min(axis=0) + here.max(axis=0)) / 2
    return middle.round(3), (np.ptp(whole, axis=0) / 2 + line[1] - line[0]).round(3)


def _page(study: SectionStudy) -> Plot:
    chart, section, line = study.chart, study.section, theme.size("line")
    middle, half = _box(half_sizes(chart.slice), study.frame)
    (left, low), (right, high) = middle - half, middle + half
    plot = Plot("", FLAT, (0.02, 0.98))
    curves = [_flat(study, run.points) for run in section.runs]
    plot.line("the section", *_joined(curves), theme.color("ruling"), 3.6 * line)
    x, y = np.concatenate([np.zeros((0, 2)), *curves]).T.tolist()
    tones = [t for run in section.runs for t in _tones(chart, run)]
    look = {"size": 2.6 * line, "color": tones, "cmin": -1, "cmax": 1, "colorscale": sheet_scale()}
    plot.points("which sheet", x, y, {**look, "line": {"width": 0}}, hover="the section")
    held, yellow = [_flat(study, piece.points) for piece in section.along], theme.color("singular")
    name, hover = "the singular curve lies in the plane", "the yellow line"
    plot.line(name, *_joined(held), yellow, 2 * line, "8px,5px", hover=hover)
    hidden = {"visible": False, "constrain": "domain"}
    plot.axis("x", left - _MARGIN, right + _MARGIN, **hidden)
    plot.axis("y", low - _MARGIN, high + _MARGIN, **hidden, scaleanchor="x")
    frame = {"color": theme.color("focus"), "width": 2}
    plot.region((left, right), (low, high), frame, theme.color("panel"))
    plot.headline(study.found, xref="paper", yref="paper", x=FLAT[0])
    for kind in _MARKS:
        _mark(plot, kind, _flat(study, np.reshape(section.of_kind(kind), (-1, 3))), middle, half)
    return plot


def _flat(study: SectionStudy, points: np.ndarray) -> np.ndarray:
    """Points of the slice, shape (n, 3), in the plane's own coordinates, (n, 2)."""
    return study.frame.on_page(in_drawing(study.chart.slice, points)).round(5)


def _joined(curves: list[np.ndarray]) -> tuple[list, list]:
    """Several curves as one line, with a gap behind each."""
    return np.concatenate([np.zeros((0, 2)), *(np.append(c, [[np.nan] * 2], 0) for c in curves)]).T.tolist()


def _tones(chart: Chart, run: Run) -> list[float]:
    """Which sheet each point of a section is on: the tone of its ruling, there."""
    theta, points = run.theta, run.points
    if run.is_ruling:
        share = np.linspace(-1, 1, len(points))
        return tone(chart, theta[:1], points[:1], points[-1:], share)[0].round(3).tolist()
    along = chart.slice.lines(theta)[1]
    return tone(chart, theta, points - along, points + along, np.array([0.0]))[:, 0].round(3).tolist()


def _mark(plot: Plot, kind: str, points: np.ndarray, middle: np.ndarray, half: np.ndarray) -> None:
    """The points of one kind, and a label at the first of them, above it where there is room."""
    (name, label, symbol, role, edge), size = _MARKS[kind], theme.size("marker")
    look = {"symbol": symbol, "size": 1.8 * size, "color": theme.color(role)}
    line = {"width": edge, "color": theme.color("ink")}
    plot.points(name, *points.T.tolist(), {**look, "line": line}, hover=name)
    for at in points[:1]:
        across, up = (at - middle) / half
        side = "right" if across > 0.75 else "left" if across < -0.75 else "center"
        anchor, shift = ("top", -1.1 * size) if up > 0.75 else ("bottom", 1.1 * size)
        place = {"xanchor": side, "yanchor": anchor, "yshift": shift, "bgcolor": theme.color("panel")}
        plot.text(label, *at.tolist(), "note", "ink", **place)


def _turned(degrees: float) -> tuple[float, float]:
    """Cosine and sine, exact where they are 0 and 1."""
    return round(cos(radians(degrees)), 12) + 0.0, round(sin(radians(degrees)), 12) + 0.0
