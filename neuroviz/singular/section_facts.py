"""The facts of a slice and a plane: what the picture says of what one cuts out of the
other.

`web/singular/section_facts.ts` types them. Points are in the units of the drawing, as
x, y, z, x, y, z, …
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.singular.chart import Chart, in_drawing, local_of, tone
from neuroviz.singular.curves import Piece
from neuroviz.singular.section import Run
from neuroviz.singular.section_plane import RANGES, SNAP
from neuroviz.singular.slice_facts import slice_facts
from neuroviz.singular.space import camera_of

if TYPE_CHECKING:
    from neuroviz.singular.section_panel import SectionStudy

SCHEMA = "section/1"
_ROOM = 1.14  # around the surface, for the plane


def section_picture(study: SectionStudy) -> Picture:
    """The slice with the plane in space, and beside it the section as a plane curve."""
    place = {name: getattr(study.setting, name) for name in RANGES}
    return Picture("singular/section", section_facts(study), place, RANGES)


def section_facts(study: SectionStudy) -> Facts:
    """What the picture says of the plane and of the section, and what its formulas
    need.

    >>> from neuroviz.singular.section_panel import SectionSetting, study_section
    >>> facts = section_facts(study_section(SectionSetting()))
    >>> facts["found"], facts["section"]["singular"][0]["kind"]
    ([{'text': 'the section crosses itself once'}], 'crossing')
    """
    chart = study.chart
    section = study.section
    return {
        "schema": SCHEMA,
        "slice": slice_facts(chart, _ROOM),
        "about": words(study.about),
        "found": words(study.found),
        "section": {
            "runs": [_run(chart, run) for run in section.runs],
            "singular": [
                {"kind": kind, "at": _flat(chart, at)} for kind, at in section.singular
            ],
            "along": [_piece(chart, piece) for piece in section.along],
        },
        "formulas": _formulas(chart),
    }


@lru_cache(maxsize=64)
def _formulas(chart: Chart) -> Facts:
    """What the page needs to cut the slice by itself: see
    `web/singular/section_plane.ts`.

    `eye` is on the side from which the plane is looked at; `snap` is the share of the
    way out that is near to a pinch point.
    """
    return local_of(chart) | {"eye": list(camera_of(chart).eye), "snap": SNAP}


def _flat(chart: Chart, points: np.ndarray) -> list[float]:
    return in_drawing(chart.slice, points).round(5).ravel().tolist()


def _run(chart: Chart, run: Run) -> Facts:
    """The points of a run, and which sheet each is on, from −1 to 1: its ruling's tone
    there."""
    return {"points": _flat(chart, run.points), "tones": _tones(chart, run)}


def _piece(chart: Chart, piece: Piece) -> Facts:
    return {"kind": piece.kind, "points": _flat(chart, piece.points)}


def _tones(chart: Chart, run: Run) -> list[float]:
    theta = run.theta
    points = run.points
    if run.is_ruling:
        along = np.linspace(-1, 1, len(points))
        tones = tone(chart, theta[:1], points[:1], points[-1:], along)[0]
    else:
        # Each point is the middle, u = 0, of a stretch of its own ruling.
        way = chart.slice.lines(theta)[1]
        tones = tone(chart, theta, points - way, points + way, np.array([0.0]))[:, 0]
    return tones.round(3).tolist()
