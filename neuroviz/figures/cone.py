"""The smallest determinantal variety as a surface: 2 × 2 matrices of rank ≤ 1 and of one trace."""

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from neuroviz import theme
from neuroviz.determinantal import rank_one_point, ruling
from neuroviz.figures.parts import View

Point = tuple[float, float, float]

_REACH = 1.15  # the surface is drawn for |z| up to here
_ANGLES, _HEIGHTS, _RODS = 72, 24, 16
_CORNERS = 6  # of a rod's cross section
_NO_MESH: dict = {"x": [], "y": [], "z": [], "i": [], "j": [], "k": []}
_LIGHT = {"ambient": 0.8, "diffuse": 0.42, "specular": 0.06, "roughness": 0.7, "fresnel": 0.02}
_FROM = {"x": 2000, "y": -6000, "z": 9000}


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
    balls = [(point.place, 0.085)] + ([] if on_surface else [(point.foot, 0.045)])
    return [
        _sheet(point.trace),
        _mesh("straight lines of matrices of rank ≤ 1", "ruling", _rods(_all_lines(point.trace), 0.006)),
        _mesh("the two lines through it: one image, one kernel", "focus", _rods(through, 0.017)),
        _mesh("from it to the nearest matrix of rank ≤ 1", "ink", _rods(off, 0.012)),
        _mesh("singular point: the zero matrix", "singular", _balls([((0, 0, 0), 0.06)] if singular else [])),
        _mesh(_name(point), "focus", _balls(balls)),
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
    return {
        "type": "mesh3d",
        "name": "rank ≤ 1",
        **_join([(corners, faces)]),
        "intensity": [float(np.tanh(4 * z)) for _, _, z in corners],
        "colorscale": [
            [0, theme.color("sheet b")],
            [0.5, theme.color("sheet mid")],
            [1, theme.color("sheet a")],
        ],
        "cmin": -1,
        "cmax": 1,
        "showscale": False,
        "lighting": _LIGHT,
        "lightposition": _FROM,
        "hoverinfo": "skip",
    }


def _all_lines(trace: float) -> list[tuple[Point, Point]]:
    families = ("image", "kernel") if trace else ("image",)
    count = _RODS if trace else 2 * _RODS
    return [ruling(trace, 360 * j / count, 0.0, family, _REACH) for family in families for j in range(count)]


def _mesh(name: str, role: str, mesh: dict) -> dict:
    return {
        "type": "mesh3d",
        "name": name,
        **mesh,
        "color": theme.color(role),
        "flatshading": False,
        "lighting": _LIGHT if role != "ruling" else {"ambient": 1, "diffuse": 0, "specular": 0},
        "lightposition": _FROM,
        "hovertemplate": f"{name}<extra></extra>",
    }


def _rods(lines: list[tuple[Point, Point]], radius: float) -> dict:
    """Straight rods as one mesh: a line in a surface would disappear into specks."""
    pieces = []
    for start, end in lines:
        p, q = np.array(start), np.array(end)
        along = (q - p) / np.linalg.norm(q - p)
        aside = np.cross(along, np.eye(3)[np.abs(along).argmin()])
        aside /= np.linalg.norm(aside)
        up = np.cross(along, aside)
        ring = [
            radius * (cos(2 * pi * k / _CORNERS) * aside + sin(2 * pi * k / _CORNERS) * up)
            for k in range(_CORNERS)
        ]
        faces = []
        for k in range(_CORNERS):
            following = (k + 1) % _CORNERS
            faces += [(k, following, _CORNERS + k), (following, _CORNERS + following, _CORNERS + k)]
        pieces.append(([*(p + corner for corner in ring), *(q + corner for corner in ring)], faces))
    return _join(pieces)


def _balls(balls: list[tuple[Point, float]], rings: int = 9, sides: int = 16) -> dict:
    pieces = []
    for center, radius in balls:
        corners, faces = [], []
        for i in range(rings + 1):
            polar = pi * i / rings
            for j in range(sides):
                around = 2 * pi * j / sides
                away = np.array([sin(polar) * cos(around), sin(polar) * sin(around), cos(polar)])
                corners.append(np.array(center) + radius * away)
                if i < rings:
                    here, beside = i * sides + j, i * sides + (j + 1) % sides
                    faces += [(here, beside, here + sides), (beside, beside + sides, here + sides)]
        pieces.append((corners, faces))
    return _join(pieces)


def _join(pieces: list[tuple[list, list[tuple[int, int, int]]]]) -> dict:
    """Several meshes as one."""
    if not pieces:
        return {name: list(values) for name, values in _NO_MESH.items()}
    corners, faces = [], []
    for piece_corners, piece_faces in pieces:
        faces += [tuple(len(corners) + index for index in face) for face in piece_faces]
        corners += piece_corners
    x, y, z = np.array(corners).T.tolist()
    i, j, k = np.array(faces).T.tolist()
    return {"x": x, "y": y, "z": z, "i": i, "j": j, "k": k}


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
    x, y, z = at
    return {
        "text": text,
        "x": x,
        "y": y,
        "z": z,
        "ax": -0.27 * theme.size("note") * len(text) - 34,
        "ay": 0,
        "showarrow": True,
        "arrowhead": 0,
        "arrowwidth": 1.5,
        "arrowcolor": theme.color("soft"),
        "bgcolor": theme.color("ground"),
        "font": {"size": theme.size("note"), "color": theme.color("ink")},
        "visible": shown,
    }


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
