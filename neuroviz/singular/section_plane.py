"""A plane through the drawing of a slice: where the controls put it, and how it is
looked at."""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import cos, radians, sin

import numpy as np

from neuroviz.singular.chart import Chart, half_sizes, in_drawing, stretch_of
from neuroviz.singular.section import Plane
from neuroviz.singular.space import camera_of

# With these steps the sliders stop at 0.
RANGES = {"turn": (-90, 90, 5), "tilt": (-90, 90, 5), "offset": (-1, 1, 1 / 256)}
SNAP = 0.02
"""Share of the way out: nearer to a pinch point than this, the plane snaps to it."""


@dataclass(frozen=True)
class Frame:
    """A plane as it is drawn: its directions to the right and up, its normal, how far
    out it is.

    Args:
        turn, tilt: of the normal, in degrees: around z from x towards y, and up from
            there.
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


def frame_of(chart: Chart, turn: float, tilt: float, offset: float) -> Frame:
    """The frame of a plane that is looked at from where the chart's camera stands at
    first."""
    front = Frame(turn, tilt, offset)
    return (
        front if camera_of(chart).eye @ front.normal >= 0 else replace(front, side=-1)
    )


def plane_of(chart: Chart, frame: Frame) -> Plane:
    """The plane in the coordinates of the slice."""
    # As drawn, frame.normal · stretch (p − centre) = frame.offset.
    normal = frame.normal * stretch_of(chart.slice)
    offset = frame.offset + float(normal @ chart.slice.window.centre)
    return Plane(tuple(normal.tolist()), offset)


def plane_at(
    chart: Chart, turn: float, tilt: float, offset: float
) -> tuple[Frame, Plane]:
    """Where the controls put the plane; it snaps to a pinch point that is near.

    Args:
        chart: the slice.
        turn, tilt: of its normal, in degrees.
        offset: how far out it is, as a share of the drawing.
    """
    frame = frame_of(chart, turn, tilt, 0.0)
    far = reach(chart, frame.normal)
    asked = offset * far
    # Of pinch points at one height the first of the chart counts.
    pinches = {
        float(in_drawing(chart.slice, np.array(pinch)) @ frame.normal): pinch
        for pinch in reversed(chart.pinches)
    }
    near = min(pinches, key=lambda height: abs(height - asked), default=np.inf)
    snaps = abs(near - asked) < SNAP * far
    frame = replace(frame, offset=near if snaps else asked)
    plane = plane_of(chart, frame)
    if snaps:  # exactly through the pinch point: rounding cannot hide the cusp
        through = zip(plane.normal, pinches[near], strict=True)
        plane = replace(plane, offset=sum(n * Fraction(t) for n, t in through))
    return frame, plane


def reach(chart: Chart, direction: np.ndarray) -> float:
    """How far the drawing of a slice reaches in a direction of length 1."""
    long, wide, _ = half_sizes(chart.slice)
    if long == wide:
        return wide
    # A cylinder is a segment along x plus a disc across it, so their reaches add up.
    across = np.sqrt(max(1 - direction[0] ** 2, 0.0))
    return float(abs(direction[0]) * long + across * wide)


def _turned(degrees: float) -> tuple[float, float]:
    """Cosine and sine, exact where they are 0 and 1."""
    return (
        round(cos(radians(degrees)), 12) + 0.0,
        round(sin(radians(degrees)), 12) + 0.0,
    )
