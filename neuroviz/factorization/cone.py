"""The smallest determinantal variety as a surface: 2 × 2 matrices of rank ≤ 1 and of one trace."""

from dataclasses import dataclass

import numpy as np

from neuroviz.factorization.determinantal import rank_one_point, ruling
from neuroviz.kit import theme
from neuroviz.kit.plot import View
from neuroviz.kit.solids import balls, both, join, mesh, pointer, rods, shaded_mesh

Point = tuple[float, float, float]

_REACH = 1.15  # the surface is drawn for |z| up to here
_ANGLES, _HEIGHTS, _RODS = 72, 24, 16


@dataclass(frozen=True)
class SlicePoint:
    """A 2 × 2 matrix in its slice.

    Attributes:
        trace: which slice.
        angle, height: where its nearest matrix of rank ≤ 1 is on the surface (degrees, and z).
        place: its own (x, y, z).
        rank: its rank; for 2 it is off the surface.
        is_product: whether it is the product KᵀQ that the other views show.
    """

    trace: float
    angle: float
    height: float
    place: Point
    rank: int
    is_product: bool

    @property
    def foot(self) -> Point:
        """The matrix of rank ≤ 1 at the angle and height."""
        return rank_one_point(self.trace, self.angle, self.height)


def cone_view(point: SlicePoint, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The surface, its straight lines, the singular point if there is one, and the matrix as a ball."""
    return View(
        _traces(point), {"scene": _scene(point, x_domain, y_domain)}, _annotations(point, x_domain), []
    )


def _traces(point: SlicePoint) -> list[dict]:
    on_surface, singular = point.rank < 2, point.trace == 0
    families = ("image", "kernel") if point.rank else ()  # all lines of the cone go through zero
    through = [ruling(point.trace, point.angle, point.height, family, _REACH) for family in families]
    off = [] if on_surface else [(point.foot, point.place)]
    foot = [] if on_surface else [point.foot]
    return [
        _sheet(point.trace),
        mesh("straight lines of matrices of rank ≤ 1", "ruling", rods(_all_lines(point.trace), 0.006)),
        mesh("the two lines through it: one image, one kernel", "focus", rods(through, 0.017)),
        mesh("from it to the nearest matrix of rank ≤ 1", "ink", rods(off, 0.012)),
        mesh("singular point: the zero matrix", "singular", balls([(0, 0, 0)] if singular else [], 0.06)),
        mesh(_name(point), "focus", both(balls([point.place], 0.085), balls(foot, 0.045))),
    ]


def _name(point: SlicePoint) -> str:
    return "A" if point.is_product else "a 2 × 2 matrix"


def _sheet(trace: float) -> dict:
    """The surface, as triangles: plotly redraws these several times faster than its own kind of surface."""
    heights = [_REACH * (2 * i / _HEIGHTS - 1) for i in range(_HEIGHTS + 1)]
    corners = [rank_one_point(trace, 360 * j / _ANGLES, z) for z in heights for j in range(_ANGLES)]
    faces = []
    for row in range(0, _HEIGHTS * _ANGLES, _ANGLES):
        for j in range(_ANGLES):
            here, beside = row + j, row + (j + 1) % _ANGLES
            faces += [(here, beside, here + _ANGLES), (beside, beside + _ANGLES, here + _ANGLES)]
    tone = [float(np.tanh(4 * z)) for _, _, z in corners]
    return shaded_mesh("rank ≤ 1", join([(np.array(corners), np.array(faces))]), tone, hoverinfo="skip")


def _all_lines(trace: float) -> list[tuple[Point, Point]]:
    families = ("image", "kernel") if trace else ("image",)
    count = _RODS if trace else 2 * _RODS
    return [ruling(trace, 360 * j / count, 0.0, family, _REACH) for family in families for j in range(count)]


def _scene(point: SlicePoint, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> dict:
    hidden = {"visible": False, "showspikes": False}
    across, up = [-1.65, 1.65], [-1.25, 1.25]
    return {
        "domain": {"x": x_domain, "y": y_domain},
        "xaxis": {**hidden, "range": across},
        "yaxis": {**hidden, "range": across},
        "zaxis": {**hidden, "range": up},
        "aspectmode": "manual",
        "aspectratio": {"x": 1.32, "y": 1.32, "z": 1.0},
        "camera": {
            "eye": {"x": 0.95, "y": -1.35, "z": 0.66},
            "center": {"x": 0.0, "y": 0.0, "z": -0.04},
        },
        "annotations": [_pointer("singular: A = 0", (0, 0, 0), point.trace == 0)],
    }


def _pointer(text: str, at: Point, shown: bool) -> dict:
    """A label to the left of a point, as far as its own length asks for."""
    return pointer(text, at, (-0.27 * theme.size("note") * len(text) - 34, 0), shown)


def _annotations(point: SlicePoint, x_domain: tuple[float, float]) -> list[dict]:
    says = "a cone, singular at its tip" if point.trace == 0 else "a hyperboloid, smooth"
    which = f"2 × 2, rank ≤ 1, trace {point.trace:.3g}".replace("-", "−")
    rank = "the zero matrix" if point.rank == 0 else f"of rank {point.rank}"
    about = f"A, {rank}" if point.is_product else f"a matrix {rank} (A, once d = 2)"
    if point.rank == 2:
        about += ": off the surface"
    ball = f'<span style="color:{theme.color("focus")}">● {about}</span>'
    at_top = {"xref": "paper", "yref": "paper", "x": x_domain[0], "y": 1, "xanchor": "left"}
    return [
        {
            **at_top,
            "text": f"<b>{says}</b>",
            "yanchor": "bottom",
            "yshift": 6,
            "showarrow": False,
            "font": {"size": theme.size("title")},
        },
        {
            **at_top,
            "text": f"{which}<br>{ball}",
            "yanchor": "top",
            "showarrow": False,
            "align": "left",
            "font": {"size": theme.size("note"), "color": theme.color("soft")},
        },
    ]
