"""The singular surface in space with a point on it; beside it the roots of the point's two forms."""

from dataclasses import dataclass, field

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose
from neuroviz.kit.scene import as_scene
from neuroviz.kit.solids import balls, frame, mesh, rods
from neuroviz.singular.chart import Chart, in_drawing, local_of
from neuroviz.singular.projective_line import KIND_WORDS, roots_view
from neuroviz.singular.space import chart_traces, headline_at, scene_of
from neuroviz.singular.surface_point import RANGES, SurfacePoint

SPACE, DISC = (0.0, 0.64), (0.68, 1.0)
_LINE, _BALL = 0.022, 0.07
_MOVED = {"meta": "local"}  # the scene draws them itself
_BEYOND = 0.07  # the point's ruling sticks out of the surface, so that it is found behind a sheet


@dataclass(frozen=True)
class SurfaceStudy:
    """A slice with a point on it, what the picture shows in a few words, and the controls that say where."""

    chart: Chart
    point: SurfacePoint
    headline: str
    place: dict[str, object] = field(default_factory=dict)


def surface_parts(study: SurfaceStudy) -> Parts:
    """Space and roots."""
    parts = compose(_space(study), roots_view(study.point, DISC))
    choices = {"moves": ["surface", "curve"]}
    return as_scene(parts, "surface", study.place, local_of(study.chart), RANGES, choices)


def _space(study: SurfaceStudy) -> View:
    chart, point = study.chart, study.point
    place = in_drawing(chart.slice, np.array(point.at))
    lines = [_longer(in_drawing(chart.slice, np.array(point.ruling)))] if point.ruling else []
    traces = [
        *chart_traces(chart),
        mesh("the ruling through the point", "focus", rods(lines, _LINE), hoverinfo="skip", **_MOVED),
        mesh(f"the point: {KIND_WORDS[point.facts.kind]}", "focus", balls([place], _BALL), **_MOVED),
    ]
    scene = scene_of(chart, SPACE)
    scene["annotations"] = [frame(place, 2.6 * theme.size("marker")), *scene["annotations"]]
    return View(traces, {"scene": scene}, [headline_at(SPACE, study.headline)], [])


def _longer(line: np.ndarray) -> np.ndarray:
    along = line[1] - line[0]
    along = along / max(np.linalg.norm(along), 1e-12)
    return np.array([line[0] - _BEYOND * along, line[1] + _BEYOND * along])
