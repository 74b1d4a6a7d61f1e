"""Sections of the singular surface: what a plane cuts out of a slice.

On the ruling with root m the plane n·p = c singles out one point, so a section is a
rational curve too:

    q₁(m) = q₂(m) = 0,   n·p = c      three linear equations, by Cramer's rule of degree
                         4 in [X:Y]

Roots that all four minors share belong to rulings that lie in the plane. Every section
is singular where the plane meets the singular curve (a tangent plane adds other
points): a crossing becomes a node, a pinch point or a sharp edge a cusp, and a "closure
only" point becomes isolated. Structure is decided over the rationals; floats are taken
for the rational numbers that they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import atan2, isfinite, pi

import numpy as np

from neuroviz.singular import curves
from neuroviz.singular.curves import Branch, Piece, RationalCurve, Window, null_vectors
from neuroviz.singular.forms import BOUNDARY, Number, is_exact
from neuroviz.singular.surface import Slice

# Height above the plane, relative to the size of a curve: less counts as on it.
_ON_THE_PLANE = 1e-9
_ONE_ANGLE = 1e-9  # angles that are closer are equal


@dataclass(frozen=True)
class Plane:
    """All p with normal·p = offset, in the coordinates of a slice.

    Raises:
        ValueError: if the normal is 0, or a number is not finite.
    """

    normal: tuple[Number, Number, Number]
    offset: Number

    def __post_init__(self) -> None:
        numbers = *self.normal, self.offset
        if len(numbers) != 4 or not all(map(isfinite, numbers)) or not any(self.normal):
            needed = (
                "a plane needs three finite numbers, not all 0, for its normal, and an"
                " offset"
            )
            raise ValueError(f"{needed}; got {numbers}")
        object.__setattr__(self, "normal", tuple(map(Fraction, self.normal)))
        object.__setattr__(self, "offset", Fraction(self.offset))

    @property
    def equation(self) -> tuple[Fraction, Fraction, Fraction, Fraction]:
        """(e_x, e_y, e_z, e₀): the points with e_x x + e_y y + e_z z + e₀ = 0."""
        return *self.normal, -self.offset

    def height(self, points: np.ndarray) -> np.ndarray:
        """How far points, shape (…, 3), are above the plane; below it the number is
        negative."""
        normal = np.array(self.normal, dtype=float)
        return (points @ normal - float(self.offset)) / np.linalg.norm(normal)


@dataclass(frozen=True)
class Run:
    """A stretch of a section: the point on the ruling with root [cos θ : sin θ], for
    each θ.

    Attributes:
        theta: shape (n,), increasing; all equal on a ruling that lies in the plane.
        points: shape (n, 3).
    """

    theta: np.ndarray
    points: np.ndarray

    @property
    def is_ruling(self) -> bool:
        """Whether this is a ruling that lies in the plane."""
        return bool(self.theta[0] == self.theta[-1])


@dataclass(frozen=True, eq=False)
class Section:
    """What a plane cuts out of a slice, inside a window.

    Attributes:
        plane: the plane.
        runs: the curve.
        singular: the points of the singular curve on the plane, and the kind of each.
        along: the stretches of the singular curve that lie in the plane altogether.
    """

    plane: Plane
    runs: tuple[Run, ...]
    singular: tuple[tuple[str, tuple[float, float, float]], ...]
    along: tuple[Piece, ...]

    def of_kind(self, kind: str) -> list[tuple[float, float, float]]:
        """The singular points of one kind: "crossing", "boundary" or "closure only"."""
        return [point for found, point in self.singular if found == kind]


def section_of(slice: Slice, plane: Plane, count: int = 300) -> Section:
    """The section of a slice by a plane: runs of `count` points, and its nodes, cusps
    and isolated points.

    Raises:
        ValueError: if the singular points fill a surface.

    >>> from neuroviz.singular.surface import SLICES
    >>> [section_of(SLICES["S1"], Plane((1, 0, 0), s)).singular for s in (3, 2)]
    [(('crossing', (3.0, 0.0, 0.0)),), (('boundary', (2.0, 0.0, 0.0)),)]
    """
    singular = set()
    along = []
    for branch in slice.branches():
        places = branch.on_plane(plane.equation)
        if places is None:
            pieces = slice.singular_curve(count)
            along += [piece for piece in pieces if _is_in(plane, piece)]
        else:
            singular.update(_singular(branch, places, slice.window))
    runs = _runs(slice, plane, count)
    return Section(plane, tuple(runs), tuple(sorted(singular)), tuple(along))


def _runs(slice: Slice, plane: Plane, count: int) -> list[Run]:
    """The curve: a point on each ruling, and the rulings that lie in the plane."""
    # The coefficients of x, y, z and 1, as forms in the root [X:Y]: two of degree 2,
    # and those of the plane of degree 0.
    equations = [
        [q1 for q1, _ in slice.pairs],
        [q2 for _, q2 in slice.pairs],
        [(e,) for e in plane.equation],
    ]
    solved = curves.solve(equations, 4)
    if solved is None:
        return []
    moving, degree, lost = solved
    runs = []
    if degree > 0 and moving[3]:  # else one point, or a curve at infinity
        curve = RationalCurve(moving, degree)
        poles = {_angle(u, v) for u, v in curve.poles()}
        inside = curves.stretches(curve.at, slice.window.inside, poles, count)
        runs += [Run(theta, curve.at(theta)) for _, _, theta in inside]
    for u, v in lost:
        read = Fraction if is_exact(u, v) else float
        rows = [*slice.equations(u, v), plane.equation]
        basis = null_vectors([[read(t) for t in row] for row in rows])
        runs += _line(basis, _angle(u, v), slice.window, count)
    return runs


def _singular(
    branch: Branch, places: list[tuple[Number, Number]], window: Window
) -> Iterator[tuple[str, tuple[float, float, float]]]:
    """The points of a branch of the singular curve at these [u:v], and the kind of
    each, inside a window."""
    pinches = [_angle(u, v) for u, v in branch.pinches()]
    for u, v in places:
        point = branch.point(u, v)
        if point is None or not window.inside(np.array(point)):
            continue
        angle = _angle(u, v)
        # A rounded place has a discriminant that is not exactly 0: pinch points are
        # known by their angle, modulo π.
        is_pinch = any(abs(np.sin(angle - pinch)) < _ONE_ANGLE for pinch in pinches)
        yield BOUNDARY if is_pinch else branch.kind(angle), point


def _is_in(plane: Plane, piece: Piece) -> bool:
    """Whether a stretch of the singular curve lies in the plane."""
    size = 1 + np.abs(piece.points).max()
    return np.abs(plane.height(piece.points)).max() < _ON_THE_PLANE * size


def _angle(u: Number, v: Number) -> float:
    """The θ in [0, π) with [u:v] = [cos θ : sin θ]."""
    return atan2(v, u) % pi


def _line(
    basis: list[list[Number]], theta: float, window: Window, count: int
) -> list[Run]:
    """The ruling with this basis of its points (x : y : z : w), if it is finite and
    meets the window."""
    # The last vector is a point, with w = 1, and the first one a direction, with w = 0;
    # three vectors are a plane, which no slice has.
    if len(basis) != 2 or not basis[-1][3]:
        return []
    direction, point = (np.array(vector[:3], dtype=float) for vector in basis)
    start, end = window.cut(point, direction)
    return (
        []
        if np.isnan(start).any()
        else [Run(np.full(count, theta), np.linspace(start, end, count))]
    )
