"""A slice as it is drawn: its rulings and its singular curve inside the window, which
becomes a unit ball."""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from neuroviz.singular.curves import Piece, Strip
from neuroviz.singular.forms import layer_with_root
from neuroviz.singular.slice import Slice

LONG = 2.1
"""A cylinder is drawn so many times longer than it is wide."""
_RULINGS = 120
_CURVE_POINTS = 160
# difference of two roots from which on the sheets have full colours
_CROSSES_FROM = 0.15
# distance from a sharp edge, in half rulings, from which on its sides have full colours
_EDGE = 0.25


@dataclass(frozen=True, eq=False)
class Chart:
    """The parts of a slice's drawing that no moved point changes; computed once for
    each slice.

    Attributes:
        slice: the slice.
        strips: its rulings inside the window.
        pieces: its singular curve, solid and dotted.
        pinches: the pinch points in the window, each as (x, y, z).
    """

    slice: Slice
    strips: tuple[Strip, ...]
    pieces: tuple[Piece, ...]
    pinches: tuple[tuple[float, float, float], ...]


@lru_cache(maxsize=64)
def chart_of(slice: Slice) -> Chart:
    """The rulings and the singular curve of a slice, inside its window."""
    inside = tuple(
        tuple(p)
        for p in slice.pinch_points().tolist()
        if slice.window.inside(np.array(p))
    )
    curve = slice.singular_curve(_CURVE_POINTS)
    return Chart(slice, slice.rulings(_RULINGS), curve, inside)


def stretch_of(slice: Slice) -> np.ndarray:
    """The factors of x, y and z in the drawing."""
    window = slice.window
    # A cylinder has stretch 0 along x: there its half length becomes LONG.
    along, *across = np.array(window.stretch) / window.radius
    return np.array([along or LONG / window.half_length, *across])


def in_drawing(slice: Slice, points: np.ndarray) -> np.ndarray:
    """Coordinates of a slice, shape (…, 3), as they are drawn: the window becomes about
    a unit ball."""
    return (
        np.asarray(points, dtype=float) - np.array(slice.window.centre)
    ) * stretch_of(slice)


def half_sizes(slice: Slice) -> tuple[float, float, float]:
    """How far the drawing reaches in x, y and z."""
    return (1.0, 1.0, 1.0) if slice.window.stretch[0] else (LONG, 1.0, 1.0)


def tone(
    chart: Chart, theta: np.ndarray, starts: np.ndarray, ends: np.ndarray, u: np.ndarray
) -> np.ndarray:
    """Which of two crossing sheets points of rulings belong to, from −1 to 1; shape (n,
    k).

    Where a ruling meets the singular curve, the common form q has two real roots, one
    of them the ruling's own; q rises through one and falls through the other as the
    root turns. So the slope of q at its own root tells the sheets apart exactly where
    they cross, and goes to 0 at a pinch point. Along a ruling with two such places the
    tone goes from one to the other. At a sharp edge it says on which side of it a point
    is; without crossing and edge it goes round once with the root.

    Args:
        theta, starts, ends: as in `singular_places`.
        u: where, −1 at the start and 1 at the end, shape (k,) or (n, k).
    """
    slice = chart.slice
    kinds = {piece.kind for piece in chart.pieces}
    u = np.broadcast_to(u, (len(theta), np.shape(u)[-1]))
    if not kinds & {"crossing", "boundary"}:
        # The root [cos θ : sin θ] goes round once in half a turn of θ.
        return np.broadcast_to(0.8 * np.cos(2 * theta)[:, None], u.shape)
    low, high = singular_places(slice, theta, starts, ends)
    if "crossing" not in kinds:  # a sharp edge, where the two places are one
        # A ruling that meets it far away, on either side, is all beyond it: −9 is well
        # before the start.
        edge = np.where(np.abs(low + high) < 1e4, (low + high) / 2, -9.0)
        return np.tanh((u - edge[:, None]) / _EDGE)
    met = np.isfinite(low) & np.isfinite(high)
    low = np.where(met, low, 0.0)
    high = np.where(met, high, 0.0)
    X = np.cos(theta)
    Y = np.sin(theta)
    first, last = (
        _slope(slice, _at(starts, ends, place), X, Y) for place in (low, high)
    )
    # 0 at the first place, 1 at the last one, and constant beyond them
    share = np.clip(
        (u - low[:, None]) / np.maximum(high - low, 1e-12)[:, None], 0.0, 1.0
    )
    return np.where(
        met[:, None], (1 - share) * first[:, None] + share * last[:, None], 0.0
    )


def singular_places(
    slice: Slice, theta: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where rulings meet the singular curve: −1 at the start and 1 at the end; nan for
    none, ±∞ far away.

    On a ruling q_k = ℓ_k·v, so det(ℓ₁, ℓ₂) is quadratic along it: its zeros are the
    singular points.

    Args:
        slice: the slice.
        theta: the roots [cos θ : sin θ], shape (n,).
        starts, ends: two points on each ruling, shape (n, 3).
    """
    X = np.cos(theta)
    Y = np.sin(theta)

    def det(u: float) -> np.ndarray:
        return np.linalg.det(
            layer_with_root(*slice.forms(*_at(starts, ends, u).T), X, Y).A
        )

    minus, zero, plus = values = np.array([det(-1.0), det(0.0), det(1.0)])
    # a·u² + b·u + c is twice the determinant, which three values fix.
    a = plus + minus - 2 * zero
    b = plus - minus
    c = 2 * zero
    # Rounding is taken for 0: a double zero stays one, and a zero at infinity stays
    # there.
    size = np.abs(values).max(axis=0)
    a = np.where(np.abs(a) <= 1e-9 * size, 0.0, a)
    disc = b * b - 4 * a * c
    disc = np.where(np.abs(disc) <= 1e-9 * size**2, 0.0, disc)
    with np.errstate(divide="ignore", invalid="ignore"):
        root = np.sqrt(disc)
        found = [
            np.where(a == 0, -c / b, (-b + sign * root) / (2 * a)) for sign in (-1, 1)
        ]
    return tuple(np.sort(found, axis=0))


def _at(starts: np.ndarray, ends: np.ndarray, u: float | np.ndarray) -> np.ndarray:
    """The points at u, −1 at the start and 1 at the end: one on each ruling."""
    share = (np.broadcast_to(u, len(starts))[:, None] + 1) / 2
    return (1 - share) * starts + share * ends


def _slope(slice: Slice, at: np.ndarray, X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """How steeply the common form at singular points rises through the roots (X, Y),
    from −1 to 1."""
    q1, q2 = (np.stack(np.broadcast_arrays(*q), axis=-1) for q in slice.forms(*at.T))
    pair = np.stack([q1, q2], axis=1).astype(float)
    # Proportional forms are a column λ times a row q; the svd gives λ up to its sign.
    ratio = np.linalg.svd(pair)[0][:, :, 0]
    # λ₁ > 0, or λ₂ > 0 where λ₁ = 0, fixes the sign of q: neighbours have the same.
    leading = np.where(np.abs(ratio[:, 0]) > 1e-6, ratio[:, 0], ratio[:, 1])
    a, b, c = np.einsum("nk,nkj->jn", ratio * np.sign(leading)[:, None], pair)
    # The derivative of q(cos θ, sin θ) by θ, relative to the size of q
    slope = 2 * (c - a) * X * Y + b * (X * X - Y * Y)
    return np.tanh(
        slope / np.maximum(np.sqrt(a * a + b * b / 2 + c * c), 1e-300) / _CROSSES_FROM
    )


@lru_cache(maxsize=64)
def local_of(chart: Chart) -> dict:
    """What the page needs to find points of a slice by itself: see
    `web/singular/surface_point.ts`."""
    slice = chart.slice
    return {
        "pairs": [[[float(c) for c in q] for q in pair] for pair in slice.pairs],
        "centre": list(map(float, slice.window.centre)),
        "stretch": stretch_of(slice).tolist(),
        "half": list(half_sizes(slice)),
        "branches": (
            [branch.coefficients for branch in slice.branches()] if chart.pieces else []
        ),
        "strips": [
            {
                name: getattr(strip, name).ravel().tolist()
                for name in ("theta", "starts", "ends")
            }
            for strip in chart.strips
        ],
        "pieces": [
            {"kind": piece.kind, "points": piece.points.ravel().tolist()}
            for piece in chart.pieces
        ],
        "pinches": [list(pinch) for pinch in chart.pinches],
    }
