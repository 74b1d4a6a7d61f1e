"""A point that moves on a slice's surface, or on its singular curve: where it is, and
what is true there."""

from dataclasses import dataclass

import numpy as np

from neuroviz.singular.chart import Chart, in_drawing, singular_places
from neuroviz.singular.curves import Piece
from neuroviz.singular.forms import Facts, Form, Root, discriminant

WHERE_STEP = 0.001
ALONG_STEP = 1 / 256
RANGES = {"where": (0, 1, WHERE_STEP), "along": (-1, 1, ALONG_STEP)}
"""Least, most and step of the numbers that place a point; a step is about a pixel, and
0 is one of them."""
_SNAP = 0.04  # in half rulings: nearer to a singular point, the point snaps to it
_STOP = 0.03  # the same for pinch points, in drawn units
_PROPORTIONAL = ("crossing", "boundary", "closure only")
Place = tuple[float, float, float]


@dataclass(frozen=True)
class SurfacePoint:
    """The point that the reader moves, and what is true there.

    Attributes:
        at: its coordinates in the slice.
        forms: q₁ and q₂.
        facts: kind, ranks, kernel.
        roots: the real roots that both forms share.
        discriminant: of q₁, of q₂ where q₁ = 0, where both are proportional; else None.
    """

    at: Place
    forms: tuple[Form, Form]
    facts: Facts
    roots: tuple[Root, ...]
    discriminant: float | None


def point_at(chart: Chart, on_curve: bool, where: float, along: float) -> SurfacePoint:
    """The point of a slice that two numbers place, and everything that is true there.

    Args:
        chart: the slice.
        on_curve: whether the point is on the singular curve (where there is one), or on
            the surface.
        where: from 0 to 1: along the curve, or over all rulings.
        along: from −1 to 1: along the ruling.

    Raises:
        ValueError: if the slice has no surface inside its window.

    >>> from neuroviz.singular.chart import chart_of
    >>> from neuroviz.singular.surface import SLICES
    >>> point_at(chart_of(SLICES["S1"]), on_curve=True, where=0.5, along=0).facts.kind
    'closure only'
    """
    slice = chart.slice
    if on_curve and chart.pieces:
        at = _on_curve(chart, where)
    else:
        at = _on_surface(chart, where, along)
    forms = slice.forms(*at)
    facts = slice.facts(*at)
    if not any(map(any, forms)):
        return SurfacePoint(at, forms, facts, (), None)
    common = (
        discriminant(next(filter(any, forms))) if facts.kind in _PROPORTIONAL else None
    )
    return SurfacePoint(at, forms, facts, slice.roots(*at), common)


def _on_curve(chart: Chart, where: float) -> Place:
    """The point at a share of the length of the curve as drawn, or the pinch point that
    is near."""
    starts, runs = _runs(chart)
    length = where * starts[-1]
    index = min(int(np.searchsorted(starts, length, side="right")) - 1, len(runs) - 1)
    points = chart.pieces[index].points
    near = [
        float(np.interp(length - starts[index], runs[index], points[:, i]))
        for i in range(3)
    ]
    here = in_drawing(chart.slice, np.array(near))
    for pinch in chart.pinches:
        if np.linalg.norm(in_drawing(chart.slice, np.array(pinch)) - here) < _STOP:
            return pinch
    # The interpolated point lies off the curve; the nearest point on it is solved for.
    return chart.slice.nearest_singular(*near)


def _runs(chart: Chart) -> tuple[np.ndarray, list[np.ndarray]]:
    """Lengths along the drawn curve: where each piece begins, and where its points are
    within the piece."""

    def run(piece: Piece) -> np.ndarray:
        steps = np.linalg.norm(
            np.diff(in_drawing(chart.slice, piece.points), axis=0), axis=1
        )
        return np.concatenate([[0.0], np.cumsum(steps)])

    runs = [run(piece) for piece in chart.pieces]
    return np.concatenate([[0.0], np.cumsum([one[-1] for one in runs])]), runs


def _on_surface(chart: Chart, where: float, along: float) -> Place:
    """The point on a ruling, or the singular point on it that is near."""
    slice = chart.slice
    theta, start, end = _ruling_at(chart, where)
    base, direction = (found[0] for found in slice.lines(np.array([theta])))
    # Ends interpolated between two rulings lie off the one between them: their nearest
    # points on it are taken.
    start, end = (base + (p - base) @ direction * direction for p in (start, end))

    def place(u: float) -> Place:
        return tuple(((1 - u) / 2 * start + (1 + u) / 2 * end).tolist())

    places = np.ravel(singular_places(slice, np.array([theta]), start[None], end[None]))
    near = min(
        places[np.isfinite(places)], key=lambda u: abs(u - along), default=np.inf
    )
    if abs(near - along) <= _SNAP:
        # A point on the curve keeps no rounding of the line.
        return slice.nearest_singular(*place(near))
    return place(along)


def _ruling_at(chart: Chart, where: float) -> tuple[float, np.ndarray, np.ndarray]:
    """θ, start and end of the ruling at this share of all, interpolated between two
    rulings of the chart."""
    position = where * sum(len(strip.theta) for strip in chart.strips)
    for strip in chart.strips:
        rows = np.arange(len(strip.theta))
        if position < len(rows) or strip is chart.strips[-1]:
            columns = (strip.theta, *strip.starts.T, *strip.ends.T)
            # Past the last ruling of a strip np.interp stays there.
            theta, *ends = (
                float(np.interp(position, rows, column)) for column in columns
            )
            return theta, np.array(ends[:3]), np.array(ends[3:])
        position -= len(rows)
    raise ValueError(
        "this slice has no surface inside its window: take another seed or parameter"
    )
