"""A plane through the surface of Figure 1, and the curve that it cuts out."""

from dataclasses import dataclass, replace
from fractions import Fraction

import ipywidgets as widgets
import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.singular.section import Plane, Section, section_of
from neuroviz.singular.section_figure import Frame, SectionStudy, frame_of, plane_of, reach, section_parts
from neuroviz.singular.slice_panel import (
    arrange_slice,
    chart_of,
    coordinates,
    follow_presets,
    read_slice,
    slice_controls,
    slice_name,
)
from neuroviz.singular.space import Chart, in_drawing
from neuroviz.singular.surface import Slice

_SNAP = 0.02  # of the way out: so near to a pinch point the plane goes through it
_STEP = 1 / 64  # so that the slider hits 0
_TIMES = {1: "once", 2: "twice", 3: "three times"}
_NUMBERS = {1: "one", 2: "two", 3: "three"}


@dataclass(frozen=True)
class SectionRequest:
    """What the controls ask for.

    Attributes:
        slice: which slice.
        turn, tilt: of the plane's normal, in degrees.
        offset: from −1 to 1: how far out the plane is, of the way to where the drawing ends.
    """

    slice: Slice
    turn: float
    tilt: float
    offset: float


def study_section(request: SectionRequest) -> SectionStudy:
    """The plane, snapped to a pinch point that is near, and its section."""
    chart = chart_of(request.slice)
    frame, plane = _plane(chart, request)
    section = section_of(request.slice, plane)
    about = f"{slice_name(request.slice)}, cut by {_equation(request.slice, plane)}"
    return SectionStudy(chart, frame, section, about, _found(chart, section))


def _plane(chart: Chart, request: SectionRequest) -> tuple[Frame, Plane]:
    frame = frame_of(chart, request.turn, request.tilt, 0.0)
    far = reach(chart, frame.normal)
    offset, at = request.offset * far, None
    for pinch in chart.pinches:
        height = float(in_drawing(chart.slice, np.array(pinch)) @ frame.normal)
        if abs(height - request.offset * far) < _SNAP * far and (
            at is None or abs(height - request.offset * far) < abs(offset - request.offset * far)
        ):
            offset, at = height, pinch
    frame = replace(frame, offset=offset)
    plane = plane_of(chart, frame)
    if at is not None:  # exactly, so that a cusp is no matter of rounding
        plane = Plane(plane.normal, sum(n * Fraction(t) for n, t in zip(plane.normal, at, strict=True)))
    return frame, plane


def _equation(slice: Slice, plane: Plane) -> str:
    """Such as s = 2 or s − 0.5 y = 1: the largest coefficient is 1."""
    normal = np.array(plane.normal, dtype=float)
    largest = float(normal[np.abs(normal).argmax()])
    text = ""
    for c, name in zip((normal / largest).round(2).tolist(), slice.coordinates, strict=True):
        if c:
            sign = ("− " if c < 0 else "+ ") if text else ("−" if c < 0 else "")
            text += sign + ("" if abs(c) == 1 else f"{abs(c):g} ") + name + " "
    offset = round(float(plane.offset) / largest, 3) + 0.0
    return f"{text}= {offset:.3g}".replace("-", "−")


def _found(chart: Chart, section: Section) -> str:
    """The headline: what the section has, most of all its singular points."""
    nodes, cusps, isolated = (len(section.of_kind(kind)) for kind in ("crossing", "boundary", "closure only"))
    rulings = sum(run.is_ruling for run in section.runs)
    if section.whole:
        return "all of this plane belongs to the surface"
    if section.along:
        return "the plane holds the yellow line"
    if not section.runs:
        return f"{_isolated(isolated)}, and no curve" if isolated else "the plane misses what is drawn"
    if rulings == len(section.runs):
        if cusps:
            return (
                "one line, twice: through a pinch point" if rulings == 1 else "lines through a boundary point"
            )
        lines = "one line" if rulings == 1 else f"{_NUMBERS.get(rulings, rulings)} lines"
        return f"{lines} that cross" if nodes else f"{lines} of the surface"
    if cusps:
        where = "a pinch point" if chart.pinches else "the sharp edge"
        most = "a cusp" if cusps == 1 else f"{_NUMBERS.get(cusps, cusps)} cusps"
        return f"{most}: the plane goes through {where}"
    if nodes and isolated:
        return f"it crosses itself {_times(nodes)}; {_isolated(isolated)}"
    if nodes:
        return f"the section crosses itself {_times(nodes)}"
    if isolated:
        return f"{_isolated(isolated)}, off the curve"
    return "a line of the surface, and a curve" if rulings else "no crossing here"


def _times(count: int) -> str:
    return _TIMES.get(count, f"{count} times")


def _isolated(count: int) -> str:
    return f"{_NUMBERS.get(count, count)} isolated point{'s' if count > 1 else ''}"


class SectionExplorer(Panel):
    """The singular surface cut by a plane that moves: crossings become nodes, pinch points cusps.

    Controls: preset, α or κ where the slice has one, turn and tilt of the plane, and how far out it
    is; under "More": slice, seed, and the layers that a slice is laid through. The plane stops at
    pinch points. See `Panel` for what all panels share.

    >>> SectionExplorer(state="turn=0;tilt=0;offset=0").description.split(":")[0]
    'S1 cut by s = 0'
    """

    title = "What does a plane cut out of it?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        first, more = slice_controls()
        first |= {
            "turn": widgets.IntSlider(value=-25, min=-90, max=90, step=5, description="turn, in °"),
            "tilt": widgets.IntSlider(value=10, min=-90, max=90, step=5, description="tilt, in °"),
            "offset": widgets.FloatSlider(value=0.6875, min=-1, max=1, step=_STEP, description="move it"),
        }
        follow_presets(first | more, self._assign)
        return first, more

    def _arrange(self) -> None:
        if not hasattr(self, "_hidden"):  # by `only`
            hidden = (name for name, control in self.controls.items() if control.layout.display == "none")
            self._hidden = set(hidden)
        arrange_slice(self.controls, self._hidden)

    def _read(self) -> SectionRequest:
        value = {name: control.value for name, control in self.controls.items()}
        return SectionRequest(
            read_slice(self.controls), value["turn"], value["tilt"], round(value["offset"], 6)
        )

    _answer = staticmethod(study_section)

    draw = staticmethod(section_parts)

    def _badge(self, answer: SectionStudy) -> str:
        only_closure = answer.section.of_kind("closure only") and not answer.section.runs
        return theme.badge("proved", "Cor. A.6" if only_closure else "Thm. 3.4")

    def _describe(self, answer: SectionStudy) -> str:
        section = answer.section
        parts = [f"{answer.about.replace(', cut', ' cut', 1)}: {answer.found}."]
        for kind, words in (
            ("crossing", "A node is a crossing of two sheets: two sets of weights"),
            ("boundary", "At a boundary point the two sheets have met"),
            (
                "closure only",
                "The ring is a point of the Zariski closure: no weights have it, nor a point near it",
            ),
        ):
            if points := section.of_kind(kind):
                where = "; ".join(coordinates(answer.chart.slice, point) for point in points)
                parts.append(f"{words} ({where}).")
        return " ".join(parts)
