"""The smallest determinantal variety as a surface: 2 × 2 matrices of rank ≤ 1 and of one trace."""

from dataclasses import dataclass, replace
from math import hypot

import numpy as np

from neuroviz.factorization.determinantal import Point, rank_one_point, ruling
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.solids import axes_of, balls, both, join, mesh, pointer, rods, shaded_mesh, sheet
from neuroviz.kit.words import colored

_PLACE = {"x": (0.705, 1.0), "y": (0.0, 0.9)}
_REACH = 1.15  # the surface is drawn for |z| up to here
_MOST = (1.5, 1.67, 1.15)  # largest trace, distance from the axis and height in the picture
_ANGLES, _HEIGHTS, _RODS = 72, 24, 16


@dataclass(frozen=True)
class SlicePoint:
    """A 2 × 2 matrix in the slice of its trace.

    Attributes:
        angle, height: where its nearest matrix of rank ≤ 1 is on the surface (degrees, and z).
        place: its own (x, y, z); for rank 2 off the surface.
    """

    trace: float
    angle: float
    height: float
    place: Point
    rank: int

    @property
    def foot(self) -> Point:
        """The matrix of rank ≤ 1 at the angle and height."""
        return rank_one_point(self.trace, self.angle, self.height)

    @property
    def unit(self) -> float:
        """What is drawn of length 1; more than 1 for a matrix that would be outside the picture."""
        x, y, z = self.place
        return max(1.0, *(abs(t) / most for t, most in zip((self.trace, hypot(x, y), z), _MOST, strict=True)))


def cone_view(point: SlicePoint) -> View:
    """The surface, its straight lines, the singular point if there is one, and the matrix as a ball."""
    unit = point.unit
    place = tuple(t / unit for t in point.place)
    drawn = replace(point, trace=point.trace / unit, height=point.height / unit, place=place)
    return View(_traces(drawn), {"scene": _scene(drawn)}, _annotations(point), [])


def _traces(point: SlicePoint) -> list[dict]:
    families = ("image", "kernel") if point.rank else ()  # all lines of the cone go through zero
    through = [ruling(point.trace, point.angle, point.height, family, _REACH) for family in families]
    foot = [point.foot] if point.rank == 2 else []
    way = [(point.foot, point.place)] if foot else []
    tip = [(0, 0, 0)] if point.trace == 0 else []
    return [
        _sheet(point.trace),
        mesh("straight lines of matrices of rank ≤ 1", "ruling", rods(_all_lines(point.trace), 0.006)),
        mesh("the two lines through it: one image, one kernel", "focus", rods(through, 0.017)),
        mesh("from it to the nearest matrix of rank ≤ 1", "ink", rods(way, 0.012)),
        mesh("singular point: the zero matrix", "singular", balls(tip, 0.06)),
        mesh("A", "focus", both(balls([point.place], 0.085), balls(foot, 0.045))),
    ]


def _sheet(trace: float) -> dict:
    """The surface, as triangles: plotly redraws these several times faster than its own kind of surface."""
    heights = np.linspace(-_REACH, _REACH, _HEIGHTS + 1)
    angles = np.linspace(0, 360, _ANGLES + 1)
    grid = np.array([[rank_one_point(trace, angle, z) for angle in angles] for z in heights])
    tone = np.tanh(4 * grid[..., 2]).ravel().tolist()
    return shaded_mesh("rank ≤ 1", join([sheet(grid)]), tone, hoverinfo="skip")


def _all_lines(trace: float) -> list[tuple[Point, Point]]:
    families = ("image", "kernel") if trace else ("image",)
    count = _RODS if trace else 2 * _RODS
    return [ruling(trace, 360 * j / count, 0.0, family, _REACH) for family in families for j in range(count)]


def _scene(point: SlicePoint) -> dict:
    tip = "singular: A = 0"
    shift = (-0.27 * theme.size("note") * len(tip) - 34, 0)  # to the left, as far as its length asks for
    eye, center = {"x": 0.95, "y": -1.35, "z": 0.66}, {"x": 0.0, "y": 0.0, "z": -0.04}
    return {
        "domain": _PLACE,
        **axes_of((1.65, 1.65, 1.25), scale=0.8),
        "camera": {"eye": eye, "center": center},
        "uirevision": "cone",  # with the same value the reader's camera stays
        "annotations": [pointer(tip, (0, 0, 0), shift, point.trace == 0)],
    }


def _annotations(point: SlicePoint) -> list[dict]:
    says = "a cone, singular at its tip" if point.trace == 0 else "a hyperboloid, smooth"
    which = f"2 × 2, rank ≤ 1, trace {point.trace:.3g}".replace("-", "−")
    which += f", drawn 1 : {point.unit:.2g}" if point.unit > 1 else ""
    about = ("A, the zero matrix", "A, of rank 1", "A, of rank 2: off the surface")[point.rank]
    at_top = {"xref": "paper", "yref": "paper", "x": _PLACE["x"][0], "xanchor": "left"}
    soft = {"size": theme.size("note"), "color": theme.color("soft")}
    text = f"{which}<br>{colored('focus', f'● {about}')}"
    below = label(text, 0, 1, yanchor="top", align="left", font=soft)
    return [headline(says) | at_top, below | at_top]
