"""Where things in a scene are seen: a camera that fills the picture, labels that stand
beside the drawing.

The lens is one of 45° from top to bottom, as in `web/kit/space.ts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, tan

import numpy as np

from neuroviz.kit import theme

_LENS = tan(pi / 8)
# labels stay within this part of the scene's height from the middle: panels may be
# narrow; by eye
_WIDEST = 0.7
# most of half the scene's height that is filled sideways (as `WIDTH` of `space.ts`) and
# upwards; by eye
_FILLED = np.array([1.25, 0.92])
# of `fitting`: our slices and 40 random ones need at most 8 for three digits
_ROUNDS = 12
_STEP = 16  # pixels between the places that a label may take


@dataclass(frozen=True)
class Camera:
    """Where the eye is and what it looks at, in the drawing; up is z."""

    eye: tuple[float, float, float]
    center: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def seen(self, points: np.ndarray) -> np.ndarray:
        """Points of the drawing, shape (…, 3), on the screen, (…, 2): 1 is half the
        scene's height."""
        eye = np.array(self.eye)
        center = np.array(self.center)
        right, up, ahead = _axes(eye - center)
        away = np.asarray(points, dtype=float) - eye
        return (
            np.stack([away @ right, away @ up], axis=-1)
            / (away @ ahead * _LENS)[..., None]
        )

    def backed(self, factor: float) -> "Camera":
        """The same, from so many times further away."""
        eye = np.array(self.eye)
        center = np.array(self.center)
        return Camera(
            tuple((center + factor * (eye - center)).round(4).tolist()), self.center
        )


def fitting(points: np.ndarray, toward: Sequence[float]) -> Camera:
    """The camera in a direction from which a drawing is as large as `_FILLED` says."""
    toward = np.array(toward, dtype=float) / np.linalg.norm(toward)
    right, up, _ = _axes(toward)
    center = points.mean(axis=0)
    distance = 4 * float(np.linalg.norm(points - center, axis=1).max())
    # Nearer parts grow faster as the eye comes nearer, so one fit is not enough.
    for _ in range(_ROUNDS):
        seen = Camera(tuple(center + distance * toward), tuple(center)).seen(points)
        low = seen.min(axis=0)
        high = seen.max(axis=0)
        across, above = (low + high) / 2
        center = center + distance * _LENS * (across * right + above * up)
        distance *= float(((high - low) / 2 / _FILLED).max())
    return Camera(
        tuple((center + distance * toward).round(3).tolist()),
        tuple(center.round(3).tolist()),
    )


def beside(
    camera: Camera, drawing: np.ndarray, labels: Sequence[tuple[str, np.ndarray]]
) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """For each label the point it names, out of those given, and the way to its place,
    in pixels, y down.

    A place is near to what it names, off the drawing and off the other labels, and no
    lines cross. A label is given by its text and the points, shape (k, 3), any of which
    it may name; the drawing by points too.
    """
    # The page leaves about this height of a picture to space.
    tall = theme.size("height") - round(2.2 * theme.size("title")) - 12
    pixels = tall / 2 * np.array([1, -1])
    drawn = camera.seen(drawing) * pixels
    found = []
    taken = []
    lines = []
    for text, candidates in labels:
        half = half_size(text)
        across = _WIDEST * tall - half[0]
        down = tall / 2 - half[1] - 2
        grid = np.meshgrid(
            np.arange(-across, across, _STEP), np.arange(-down, down, _STEP)
        )
        places = np.stack(grid, -1).reshape(-1, 2)
        # For each place how many points of the drawing it covers, or nearly so.
        covered = np.array(
            [(np.abs(drawn - place) < half + 9).all(axis=-1).sum() for place in places]
        )
        anchors = camera.seen(candidates) * pixels
        # From the edge of each label (a row) to each point it may name (a column)
        away = np.linalg.norm(
            np.maximum(np.abs(places[:, None] - anchors) - half, 0), axis=-1
        )
        # By eye, in pixels, all that follows. A point that is hardly in sight is named
        # only where it saves 60.
        away += 60 * (np.abs(anchors) > tall * np.array([_WIDEST, 0.5])).any(axis=-1)
        # A label rather stands 100 farther off than on a point of the drawing, 900
        # farther than on a crossing of lines, and never on a label.
        cost = away + 100 * covered[:, None]
        wide = half * [1, 0]
        for at, other in taken:
            cost += 1e5 * (np.abs(places - at) < half + other + 6).all(axis=-1)[:, None]
        for line in lines:  # the line meets an earlier label or its words
            cost += 900 * _cross(places[:, None], anchors, *line)
            cost += 900 * _cross(places - wide, places + wide, *line)[:, None]
        where, which = np.unravel_index(cost.argmin(), cost.shape)
        place = places[where]
        taken.append((place, half))
        lines += [(place, anchors[which]), (place - wide, place + wide)]
        found.append(
            (candidates[which], tuple((place - anchors[which]).round(1).tolist()))
        )
    return found


def _cross(a: np.ndarray, b: np.ndarray, c: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Whether the line from a to b crosses that from c to d; points have shape (…,
    2)."""

    def left(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Whether r is to the left of the way from p to q."""
        u, v = q - p, r - p
        return u[..., 0] * v[..., 1] > u[..., 1] * v[..., 0]

    # Each line has the ends of the other one on different sides.
    return (left(a, b, c) != left(a, b, d)) & (left(c, d, a) != left(c, d, b))


def half_size(text: str) -> np.ndarray:
    """How far a label reaches from its middle, in pixels, to the side and up; about."""
    lines = text.split("\n")
    # In sizes of the font: half the width of a character, and half the height of a
    # line; and a margin.
    return theme.size("note") * np.array(
        [0.27 * max(map(len, lines)), 0.68 * len(lines)]
    ) + [5, 4]


def _axes(toward: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Right, up and ahead of a camera that looks from there to the origin."""
    ahead = -toward / np.linalg.norm(toward)
    right = np.cross(ahead, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    return right, np.cross(right, ahead), ahead
