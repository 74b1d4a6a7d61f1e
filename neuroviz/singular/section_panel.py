"""A plane through the surface of Figure 1, and the curve that it cuts out."""

from dataclasses import dataclass

import numpy as np

from neuroviz.kit.badges import badge
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import real, whole
from neuroviz.kit.words import in_two_lines
from neuroviz.singular.chart import Chart, chart_of
from neuroviz.singular.section import Plane, Section, section_of
from neuroviz.singular.section_facts import section_picture
from neuroviz.singular.section_plane import RANGES, Frame, plane_at
from neuroviz.singular.slice import Slice
from neuroviz.singular.slice_panel import (
    SlicePanel,
    SliceSetting,
    coordinates,
    slice_name,
)

_NUMBERS = {1: "one", 2: "two", 3: "three"}
_MEANING = {
    "crossing": "The curve crosses itself where two sheets cross: two sets of weights",
    "boundary": "At a boundary point the two sheets have met",
    "closure only": (
        "An isolated point is in the Zariski closure only: no weights have this"
        " function, and none have a function near it"
    ),
}


@dataclass(frozen=True)
class SectionSetting(SliceSetting):
    """A slice and a plane: turn and tilt of its normal, and how far out it is, as a
    share of the drawing."""

    turn: int = whole("turn, in °", -25, *RANGES["turn"])
    tilt: int = whole("tilt, in °", 10, *RANGES["tilt"])
    offset: float = real("move it", 0.6875, *RANGES["offset"])


@dataclass(frozen=True)
class SectionStudy:
    """A slice, a plane and what the one cuts out of the other.

    Attributes:
        setting: the controls.
        chart: the slice.
        frame: the plane as it is drawn.
        section: the curve and its singular points.
        about: what is drawn in space, in a few words.
        found: what was found in the plane, in a few words.
    """

    setting: SectionSetting
    chart: Chart
    frame: Frame
    section: Section
    about: str
    found: str


def study_section(setting: SectionSetting) -> SectionStudy:
    """The plane, snapped to a pinch point that is near, and its section."""
    chart = chart_of(setting.slice)
    frame, plane = plane_at(chart, setting.turn, setting.tilt, setting.offset)
    section = section_of(setting.slice, plane)
    about = f"{slice_name(setting.slice)}, cut by {_equation(setting.slice, plane)}"
    return SectionStudy(setting, chart, frame, section, about, _found(chart, section))


def _equation(slice: Slice, plane: Plane) -> str:
    """Such as s = 2 or s − 0.5 y = 1: the largest coefficient is 1."""
    normal = np.array(plane.normal, dtype=float)
    largest = max(normal.tolist(), key=abs)
    coefficients = (normal / largest).round(2).tolist()
    text = ""
    for c, name in zip(coefficients, slice.coordinates, strict=True):
        if c == 0:
            continue
        term = name if abs(c) == 1 else f"{abs(c):g} {name}"
        if text:
            text += f" − {term}" if c < 0 else f" + {term}"
        else:
            text = f"−{term}" if c < 0 else term
    right = round(float(plane.offset) / largest, 3) + 0.0
    return f"{text} = {right:.3g}".replace("-", "−")


def _found(chart: Chart, section: Section) -> str:
    """The headline: what the section has, most of all its singular points."""
    nodes, cusps, isolated = (len(section.of_kind(kind)) for kind in _MEANING)
    if section.along:
        return "the plane holds the yellow line"
    if not section.runs and not isolated:
        return "the plane misses what is drawn"
    said = []
    if nodes:
        times = {1: "once", 2: "twice"}
        often = times.get(nodes, f"{_NUMBERS.get(nodes, nodes)} times")
        said.append(f"crosses itself {often}")
    if cusps:
        only_rulings = all(run.is_ruling for run in section.runs)
        verb = "goes through" if only_rulings else "has a cusp at"
        place = "a pinch point" if chart.pinches else "the sharp edge"
        said.append(f"{verb} {place}")
    if isolated:
        verb = "has" if section.runs else "is"
        noun = "point" if isolated == 1 else "points"
        number = _NUMBERS.get(isolated, isolated)
        said.append(f"{verb} {number} isolated {noun}")
    return f"the section {' and '.join(said) or 'has no crossing'}"


class SectionExplorer(SlicePanel):
    """The singular surface cut by a plane that moves: where two sheets
    cross, the curve does, and at a pinch point it has a cusp.

    Controls: see `SectionSetting`. The plane stops at pinch points. See `Panel` for
    what all panels share.

    >>> SectionExplorer(state="turn=0;tilt=0;offset=0").description.split(":")[0]
    'S1 cut by s = 0'
    """

    title = "What does a plane cut out of it?"
    setting = SectionSetting
    _answer = staticmethod(study_section)
    draw = staticmethod(section_picture)

    def _badge(self, answer: SectionStudy) -> str:
        only_closure = (
            answer.section.of_kind("closure only") and not answer.section.runs
        )
        source = "Cor. A.6" if only_closure else "Thm. 3.4"
        says = (
            "The plane meets the surface in points of the Zariski closure only, which "
            "no layer has."
            if only_closure
            else "A point of the section is singular exactly where A and V have rank 1:"
            " the curve crosses itself where two sheets cross, and has a cusp at a"
            " pinch point."
        )
        return badge("proved", source, Reasons(says, source))

    def _describe(self, answer: SectionStudy) -> str:
        found = f"{answer.about.replace(', cut', ' cut', 1)}: {answer.found}."
        meanings = []
        for kind, words in _MEANING.items():
            where = "; ".join(
                coordinates(answer.chart.slice, p) for p in answer.section.of_kind(kind)
            )
            if where:
                meanings.append(f"{words} ({where}).")
        return in_two_lines([found, *meanings], spare=meanings[::-1])
