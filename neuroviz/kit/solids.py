"""Rods, tubes, balls and sheets as meshes: what a 3-D picture is made of.

A line that lies in a surface has the surface's depth and disappears into specks, so lines are drawn
as thin solids; many of them make one mesh, and one trace.
"""

from collections.abc import Iterable, Sequence
from math import pi

import numpy as np

from neuroviz.kit import theme

Point = Sequence[float]
Mesh = dict[str, list]

_CORNERS = 6  # corners of a rod's cross section
_TURN = 0.03  # in radians: a tube needs no corner where its curve is straight
_DIGITS = 5  # rounding takes two thirds off the message and cannot be seen
_LIGHT = {"ambient": 0.8, "diffuse": 0.42, "specular": 0.06, "roughness": 0.7, "fresnel": 0.02}
_FLAT = {"ambient": 1, "diffuse": 0, "specular": 0}
_FROM = {"x": 2000, "y": -6000, "z": 9000}


def rods(lines: Iterable[tuple[Point, Point]], radius: float) -> Mesh:
    """Straight rods, one for each pair of ends; ends that coincide make none."""
    return join([_tube(np.array(line, dtype=float), radius) for line in lines], _DIGITS)


def tubes(curves: Iterable[np.ndarray], radius: float) -> Mesh:
    """Round tubes along curves, each of shape (n, 3)."""
    return join([_tube(np.asarray(curve, dtype=float), radius) for curve in curves], _DIGITS)


def dashes(curve: np.ndarray, length: float, gap: float) -> list[np.ndarray]:
    """A curve, shape (n, 3), cut into short stretches: dotted, whatever the zoom."""
    curve = np.asarray(curve, dtype=float)
    run = np.concatenate([[0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    if run[-1] == 0:
        return []
    count = max(1, round((run[-1] - length) / (length + gap)) + 1)
    period = (run[-1] - length) / (count - 1) if count > 1 else run[-1]
    pieces = []
    for k in range(count):
        at = np.linspace(k * period, min(k * period + length, run[-1]), 4)
        pieces.append(np.stack([np.interp(at, run, curve[:, i]) for i in range(3)], axis=1))
    return pieces


def balls(centers: Iterable[Point], radius: float, rings: int = 9, sides: int = 16) -> Mesh:
    """Balls of one size."""
    polar, around = np.meshgrid(pi * np.arange(rings + 1) / rings, _turns(sides), indexing="ij")
    away = np.stack([np.sin(polar) * np.cos(around), np.sin(polar) * np.sin(around), np.cos(polar)], axis=2)
    corners, faces = radius * away.reshape(-1, 3), _bands(rings + 1, sides)
    return join([(np.asarray(center, dtype=float) + corners, faces) for center in centers], _DIGITS)


def _turns(sides: int) -> np.ndarray:
    return 2 * pi * np.arange(sides) / sides


def _bands(rings: int, sides: int) -> np.ndarray:
    """Triangles between rings of corners."""
    here = np.arange((rings - 1) * sides)
    beside = here // sides * sides + (here + 1) % sides
    corners = [here, beside, here + sides, beside, beside + sides, here + sides]
    return np.stack(corners, axis=1).reshape(-1, 3)


def sheet(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A grid of points, shape (n, m, 3), as corners and triangles."""
    n, m, _ = points.shape
    index = np.arange(n * m).reshape(n, m)
    a, b, c, d = (part.ravel() for part in (index[:-1, :-1], index[1:, :-1], index[:-1, 1:], index[1:, 1:]))
    return points.reshape(-1, 3), np.concatenate([np.stack([a, b, d], 1), np.stack([a, d, c], 1)])


def join(pieces: Iterable[tuple[np.ndarray, np.ndarray]], digits: int | None = None) -> Mesh:
    """Several meshes as one, in plotly's words: corners x, y, z, perhaps rounded, and triangles i, j, k."""
    kept = [(corners, faces) for corners, faces in pieces if len(faces)]
    if not kept:
        return {name: [] for name in "xyzijk"}
    corners, faces = zip(*kept, strict=True)
    before = np.cumsum([0, *map(len, corners[:-1])])
    points = np.concatenate(corners)
    points = points if digits is None else points.round(digits)
    triangles = np.concatenate([part + count for part, count in zip(faces, before, strict=True)])
    return dict(zip("xyzijk", [*points.T.tolist(), *triangles.T.tolist()], strict=True))


def both(one: Mesh, other: Mesh) -> Mesh:
    """Two meshes as one."""
    shift = len(one["x"])
    faces = {name: one[name] + [index + shift for index in other[name]] for name in "ijk"}
    return {name: one[name] + other[name] for name in "xyz"} | faces


def sheet_scale() -> list[list]:
    """The colours of two sheets that cross: b at −1, mid where they blend, a at 1."""
    return [[0, theme.color("sheet b")], [0.5, theme.color("sheet mid")], [1, theme.color("sheet a")]]


def mesh(name: str, role: str, solid: Mesh, **more: object) -> dict:
    """A trace of one colour; rulings are drawn without light, so that they stay thin and dark."""
    hover = {} if "hoverinfo" in more else {"hovertemplate": f"{name}<extra></extra>"}
    light = _FLAT if role == "ruling" else _LIGHT
    return _mesh(name, solid, color=theme.color(role), **hover, **{"lighting": light, **more})


def shaded_mesh(name: str, solid: Mesh, tone: Sequence[float], **more: object) -> dict:
    """A trace whose colour goes from sheet b (tone −1) over mid (0) to sheet a (1), corner by corner."""
    shades = {"intensity": list(tone), "cmin": -1, "cmax": 1, "colorscale": sheet_scale(), "showscale": False}
    return _mesh(name, solid, **{**shades, "lighting": _LIGHT, **more})


def _mesh(name: str, solid: Mesh, **look: object) -> dict:
    fixed = {"type": "mesh3d", "name": name, "flatshading": False, "lightposition": _FROM}
    return fixed | solid | look


def pointer(text: str, at: Point, shift: tuple[float, float], shown: bool = True) -> dict:
    """A label in the scene, beside a point and joined to it by a line; the shift is in pixels."""
    line = {"showarrow": True, "arrowhead": 0, "arrowwidth": 1.5, "arrowcolor": theme.color("soft")}
    font = {"size": theme.size("note"), "color": theme.color("ink")}
    look = {"bgcolor": theme.color("ground"), "font": font, "visible": shown}
    return {"text": text, **_place(at), "ax": shift[0], "ay": shift[1], **line, **look}


def frame(at: Point, size: float) -> dict:
    """A square around a point of the scene, in the focus colour; nothing in the scene hides it."""
    border = {"borderpad": 0, "bordercolor": theme.color("focus"), "borderwidth": 2, "font": {"size": 1}}
    return {"text": " ", **_place(at), "showarrow": False, "width": size, "height": size, **border}


def _place(at: Point) -> dict[str, float]:
    return dict(zip("xyz", map(float, at), strict=True))


def axes_of(reach: Sequence[float], scale: float) -> dict:
    """Invisible axes from −reach to reach, in true proportions: 2 is as long as `scale` of plotly's units."""
    hidden = {"visible": False, "showspikes": False}
    return {
        **{f"{name}axis": {**hidden, "range": [-r, r]} for name, r in zip("xyz", reach, strict=True)},
        "aspectmode": "manual",
        "aspectratio": {name: round(scale * r, 9) for name, r in zip("xyz", reach, strict=True)},
    }


def _tube(curve: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Rings around the points of a curve, joined, with a lid at both ends."""
    step = np.linalg.norm(np.diff(curve, axis=0), axis=1)
    curve = _bends(curve[np.concatenate([[True], step > 1e-9])])
    if len(curve) < 2:
        return np.zeros((0, 3)), np.zeros((0, 3), dtype=int)
    along = np.gradient(curve, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    aside = np.cross(along[0], np.eye(3)[np.abs(along[0]).argmin()])
    corners, around = [], _turns(_CORNERS)
    circle = radius * np.stack([np.cos(around), np.sin(around)], axis=1)
    for point, direction in zip(curve, along, strict=True):
        aside = aside - (aside @ direction) * direction  # carried along without twisting
        aside /= np.linalg.norm(aside)
        corners += [*(point + circle @ [aside, np.cross(direction, aside)])]
    last = len(corners) - _CORNERS
    lids = [((0, k + 1, k), (last, last + k, last + k + 1)) for k in range(1, _CORNERS - 1)]
    faces = np.concatenate([_bands(len(curve), _CORNERS), np.reshape(lids, (-1, 3))])
    return np.array(corners), np.array(faces)


def _bends(curve: np.ndarray) -> np.ndarray:
    """The ends of a curve, and the points between them where it has turned by more than `_TURN`."""
    if len(curve) < 3:
        return curve
    ways = np.diff(curve, axis=0)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    kept, last = [0], ways[0]
    for row, way in enumerate(ways[1:], start=1):
        if np.linalg.norm(way - last) > _TURN:
            kept, last = [*kept, row], way
    return curve[[*kept, len(curve) - 1]]
