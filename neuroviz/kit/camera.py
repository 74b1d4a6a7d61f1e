"""Where things in a scene are seen: a camera that fills the picture, labels that stand beside the drawing.

A scene is drawn at half its coordinates, so that a drawing of radius 1 is as large as plotly expects;
plotly looks through a lens of 45° from top to bottom.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, tan

import numpy as np

from neuroviz.kit import theme

_LENS = tan(pi / 8)
_SCALE = 0.5
_WIDEST = 0.7  # of the scene's height: labels stay so near to the middle, as panels may be narrow
_NEAR = 0.1  # a tube in the surface is not behind it
_CELL = 4  # pixels, in which the drawing is counted
_STEP = 10  # pixels between the places that a label may take


@dataclass(frozen=True)
class Camera:
    """Where the eye is and what it looks at, in the units of plotly's scene; up is z."""

    eye: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points of the drawing, shape (…, 3), on the screen, (…, 2): 1 is half the scene's height."""
        eye, center = np.array(self.eye), np.array(self.center)
        right, up, ahead = _axes(eye - center)
        away = np.asarray(points, dtype=float) * _SCALE - eye
        depth = (away @ ahead)[..., None]
        return np.concatenate([(away @ right)[..., None], (away @ up)[..., None]], axis=-1) / (depth * _LENS)

    def backed(self, factor: float) -> "Camera":
        """The same, from so many times further away."""
        eye, center = np.array(self.eye), np.array(self.center)
        return Camera(tuple((center + factor * (eye - center)).round(4).tolist()), self.center)

    def layout(self) -> dict:
        """As plotly writes it."""
        return {
            name: dict(zip("xyz", map(float, at), strict=True))
            for name, at in (("eye", self.eye), ("center", self.center))
        }


def axes_of(reach: Sequence[float]) -> dict:
    """Invisible axes from −reach to reach, in true proportions."""
    hidden = {"visible": False, "showspikes": False}
    return {
        **{f"{name}axis": {**hidden, "range": [-r, r]} for name, r in zip("xyz", reach, strict=True)},
        "aspectmode": "manual",
        "aspectratio": {name: 2 * _SCALE * r for name, r in zip("xyz", reach, strict=True)},
    }


def fitting(points: np.ndarray, toward: Sequence[float], height: float = 0.92, width: float = 1.25) -> Camera:
    """The camera in a direction from which a drawing fills so much of the scene's height, or is so wide."""
    toward = np.array(toward, dtype=float) / np.linalg.norm(toward)
    right, up, _ = _axes(toward)
    center = points.mean(axis=0) * _SCALE
    distance = 4 * float(np.linalg.norm(points * _SCALE - center, axis=1).max())
    for _ in range(12):
        seen = Camera(tuple(center + distance * toward), tuple(center)).seen(points)
        low, high = seen.min(axis=0), seen.max(axis=0)
        middle, half = (low + high) / 2, (high - low) / 2
        center = center + distance * _LENS * (middle[0] * right + middle[1] * up)
        distance *= max(half[0] / width, half[1] / height)
    return Camera(tuple((center + distance * toward).round(3).tolist()), tuple(center.round(3).tolist()))


def clearest(
    curves: Sequence[np.ndarray], corners: np.ndarray, toward: Sequence[Sequence[float]]
) -> Sequence[float]:
    """The direction from which curves are seen best: long, and not behind a surface.

    Args:
        curves: each of shape (n, 3).
        corners: the surface's triangles, shape (m, 3, 3).
        toward: directions to choose from; of equals the first is taken.
    """
    middles = np.concatenate([np.zeros((0, 3)), *((curve[1:] + curve[:-1]) / 2 for curve in curves)])
    steps = np.concatenate([np.zeros((0, 3)), *(np.diff(curve, axis=0) for curve in curves)])
    best = []
    for direction in toward:
        right, up, ahead = _axes(np.array(direction, dtype=float))
        seen = np.hypot(steps @ right, steps @ up)
        best.append(round(float(seen[~_hidden(middles, -ahead, corners)].sum()), 2))
    return toward[int(np.argmax(best))]


def _hidden(points: np.ndarray, toward: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Whether a triangle stands between each point and an eye far away; one that the point is on does not."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    across = np.cross(toward, v)
    det = (u * across).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        way = points[:, None] - a
        s = (way * across).sum(-1) / det
        turned = np.cross(way, u)
        t = turned @ toward / det
        far = (turned * v).sum(-1) / det
        return ((s >= 0) & (t >= 0) & (s + t <= 1) & (far > _NEAR)).any(axis=1)


def beside(
    camera: Camera, obstacles: np.ndarray, labels: Sequence[tuple[str, np.ndarray]]
) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """For each label the point it names, out of those given, and the way to its place, in pixels, y down.

    A place is as near to what it names as can be, off the drawing, and off the labels before it.

    Args:
        camera: from where.
        obstacles: points of the drawing, shape (n, 3).
        labels: text and the points, shape (k, 3), any of which it may name.
    """
    scale = _pixels() / 2
    drawn = camera.seen(obstacles) * scale * [1, -1]
    taken: list[
        tuple[np.ndarray, np.ndarray, np.ndarray]
    ] = []  # middle and half size of a box, and its point
    found = []
    for text, candidates in labels:
        half = half_size(text)
        places = _places(half)
        covered = _count(drawn, places, half + 9)
        anchors = camera.seen(np.asarray(candidates)) * scale * [1, -1]
        way = places[:, None] - anchors
        cost = np.linalg.norm(np.maximum(np.abs(way) - half, 0), axis=-1) + 100 * covered[:, None]
        cost += 60 * (np.abs(anchors) > np.array([_WIDEST, 0.5]) * 2 * scale).any(axis=-1)
        for middle, other, anchor in taken:
            overlap = (np.abs(places - middle) < half + other + 6).all(axis=-1)
            cost += 1e4 * overlap[:, None]
            cost += 1e3 * _crosses(anchors[None], places[:, None], anchor, middle)
            cost += 1e3 * (np.abs(anchor - places) < half + 8).all(axis=-1)[:, None]
        place, which = np.unravel_index(cost.argmin(), cost.shape)
        taken.append((places[place], half, anchors[which]))
        found.append((np.asarray(candidates)[which], tuple(way[place, which].round(1).tolist())))
    return found


def _pixels() -> float:
    """The height of a scene in pixels, by what the template leaves of the figure."""
    return theme.size("height") - round(2.2 * theme.size("title")) - 12


def half_size(text: str) -> np.ndarray:
    """How far a label reaches from its middle, in pixels, to the side and up; about."""
    lines = text.split("<br>")
    return theme.size("note") * np.array([0.27 * max(map(len, lines)), 0.68 * len(lines)]) + [5, 4]


def _places(half: np.ndarray) -> np.ndarray:
    tall = _pixels()
    across, down = _WIDEST * tall - half[0], tall / 2 - half[1] - 2
    grid = np.meshgrid(np.arange(-across, across, _STEP), np.arange(-down, down, _STEP))
    return np.stack(grid, -1).reshape(-1, 2)


def _count(points: np.ndarray, middles: np.ndarray, half: np.ndarray) -> np.ndarray:
    """How many points are in boxes around some middles: cell by cell, by sums over corners."""
    size = np.array([2 * _pixels(), _pixels() + 4 * _CELL])
    cells = np.clip(((points + size / 2) / _CELL).astype(int), 0, (size / _CELL).astype(int))
    sums = np.zeros((size / _CELL).astype(int) + 2)
    np.add.at(sums, (cells[:, 0] + 1, cells[:, 1] + 1), 1)
    sums = sums.cumsum(0).cumsum(1)
    low, high = (
        np.clip(((middles + side * half + size / 2) / _CELL).astype(int) + more, 0, np.array(sums.shape) - 1)
        for side, more in ((-1, 0), (1, 1))
    )
    (x0, y0), (x1, y1) = low.T, high.T
    return sums[x1, y1] - sums[x0, y1] - sums[x1, y0] + sums[x0, y0]


def _crosses(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Whether the segments ab and cd cross."""

    def side(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        return (q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0]

    return (side(a, b, c) * side(a, b, d) < 0) & (side(c, d, a) * side(c, d, b) < 0)


def _axes(toward: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right, up and ahead of a camera that looks from there to the origin."""
    ahead = -toward / np.linalg.norm(toward)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, ahead), ahead
