"""Lines and rational curves in space, inside a window: what a slice of the surface is
drawn from.

A curve is given by polynomials over the rationals, [u:v] ↦ (x : y : z : 1): where it
goes to infinity, and where the form that it carries is a square, is then solved for,
not searched.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from math import atan2, cos, inf, pi, sin
from typing import TYPE_CHECKING

import numpy as np

from neuroviz.singular.forms import (
    BOUNDARY,
    CLOSURE,
    CROSSING,
    ROUNDING,
    Form,
    Number,
    is_exact,
    tidy,
)

if TYPE_CHECKING:
    from flint import fmpq_poly

Map = Callable[[np.ndarray], np.ndarray]
# samples of a curve that show where it is inside; what lies between two is missed
_SAMPLES = 1440


@dataclass(frozen=True)
class Window:
    """What is drawn of a slice: |stretch·(p − centre)| ≤ radius and |x| ≤ half_length.

    An ellipsoid; or, with stretch[0] = 0, a cylinder around the x axis.
    """

    radius: float
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stretch: tuple[float, float, float] = (1.0, 1.0, 1.0)
    half_length: float = inf

    @property
    def reach(self) -> float:
        """No point inside is further from the centre, in any coordinate."""
        across = max(self.radius / s if s else 0.0 for s in self.stretch)
        return (
            across
            if all(self.stretch)
            else max(across, self.half_length + abs(self.centre[0]))
        )

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Whether points, shape (…, 3), are inside, up to rounding: a plane may lie at
        the very end."""
        with np.errstate(invalid="ignore"):  # a point at infinity is outside
            away = np.linalg.norm(
                (points - np.array(self.centre)) * self.stretch, axis=-1
            )
            return (
                np.maximum(
                    away / self.radius, np.abs(points[..., 0]) / self.half_length
                )
                <= 1 + 1e-12
            )

    def cut(
        self, point: np.ndarray, direction: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where lines, given by arrays of shape (…, 3), enter and leave; nan for a line
        that misses."""
        p = (point - np.array(self.centre)) * self.stretch
        d = direction * self.stretch
        around = _within(p, d, self.radius)
        along = _within(point[..., :1], direction[..., :1], self.half_length)
        lo = np.maximum(around[0], along[0])
        hi = np.minimum(around[1], along[1])
        return tuple(
            point + np.where(lo <= hi, t, np.nan)[..., None] * direction
            for t in (lo, hi)
        )


@dataclass(frozen=True)
class Strip:
    """A run of neighbouring rulings: the line with root [cos θ : sin θ] goes from
    `starts` to `ends`.

    Attributes:
        theta: shape (n,), increasing; may run past π, since [cos θ : sin θ] has period
            π. All equal on a plane, whose points have one root.
        starts, ends: where each line enters and leaves the window, shape (n, 3).
    """

    theta: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def points(self, steps: int = 2) -> np.ndarray:
        """`steps` points on each ruling, ends included: a mesh of shape (n, steps,
        3)."""
        share = np.linspace(0, 1, steps)[:, None]
        return (1 - share) * self.starts[:, None] + share * self.ends[:, None]


@dataclass(frozen=True)
class Piece:
    """A stretch of the singular curve: "crossing" and "boundary" are solid, "closure
    only" is dotted.

    The points, shape (n, 3), have this kind, except an end that is a pinch point; other
    ends lie on the window.
    """

    kind: str
    points: np.ndarray


def meeting_line(e1: np.ndarray, e2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point nearest to the origin, and the direction, of two planes n·p + e₀ = 0;
    nan where parallel."""
    (n1, h1), (n2, h2) = ((e[..., :3], -e[..., 3:]) for e in (e1, e2))
    # The point with n₁·p = h₁, n₂·p = h₂, u·p = 0 is (h₁ n₂×u + h₂ u×n₁)/|u|².
    u = np.cross(n1, n2)
    point = h1 * np.cross(n2, u) + h2 * np.cross(u, n1)
    square = (u * u).sum(-1, keepdims=True)
    lengths = (n1 * n1).sum(-1, keepdims=True) * (n2 * n2).sum(-1, keepdims=True)
    # |u|² is the product of the lengths times the squared sine of the angle between.
    square = np.where(square > ROUNDING**2 * lengths, square, np.nan)
    return point / square, u / np.sqrt(square)


def null_vectors(rows) -> list[list[Number]]:
    """A basis of the x with rows·x = 0, by elimination, a 1 for each free entry; floats
    up to rounding.

    Only the last vector can end in another number than 0, and then it ends in 1.
    """
    rows = [[tidy(t) for t in row] for row in rows]
    exact = is_exact(*(t for row in rows for t in row))
    if not exact:
        # `_eliminate` takes for 0 what is below `ROUNDING`: rows need size 1 for it.
        rows = [[t / (max(map(abs, row)) or 1) for t in row] for row in rows]
    pivots = _eliminate(rows, exact)
    columns = len(rows[0])
    basis = []
    for free in range(columns):
        if free in pivots:
            continue
        vector = [0] * columns
        vector[free] = 1
        # Rows without a pivot are 0.
        for row, pivot in zip(rows, pivots, strict=False):
            vector[pivot] = tidy(-row[free])
        basis.append(vector)
    return basis


def _eliminate(rows: list[list[Number]], exact: bool) -> list[int]:
    """Bring rows to their reduced echelon form, in place.

    Returns:
        The columns of the pivots.
    """
    nothing = 0 if exact else ROUNDING
    pivots = []
    for column in range(len(rows[0])):
        done = len(pivots)
        if done == len(rows):
            break
        largest = max(range(done, len(rows)), key=lambda i: abs(rows[i][column]))
        if abs(rows[largest][column]) <= nothing:
            # Rounding that stayed here would be a number of a null vector.
            for row in rows[done:]:
                row[column] = 0
            continue
        rows[done], rows[largest] = rows[largest], rows[done]
        entry = rows[done][column]
        scale = Fraction(1) / entry if exact else 1 / entry
        pivot = [t * scale for t in rows[done]]
        rows[done] = pivot
        for k, row in enumerate(rows):
            if k != done:
                factor = row[column]
                rows[k] = [t - factor * s for t, s in zip(row, pivot, strict=True)]
        pivots.append(column)
    return pivots


def _within(
    p: np.ndarray, d: np.ndarray, radius: float
) -> tuple[np.ndarray, np.ndarray]:
    """The t with |p + t·d| ≤ radius, from and to: nan if there are none, ±∞ if all."""
    if radius == inf:
        return np.full(d.shape[:-1], -inf), np.full(d.shape[:-1], inf)
    dd = (d * d).sum(-1)
    pd = (p * d).sum(-1)
    pp = (p * p).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = -pd / dd
        half = np.sqrt(pd * pd - dd * (pp - radius**2)) / dd
    # With d = 0 the point stands still: it is inside for all t, or for none.
    everywhere = np.where(pp <= radius**2, inf, np.nan)
    return np.where(dd == 0, -everywhere, middle - half), np.where(
        dd == 0, everywhere, middle + half
    )


def _cosines(lo: float, hi: float, count: int) -> np.ndarray:
    """Numbers from lo to hi, denser towards both ends, where curves run off quickly."""
    cosines = np.cos(np.linspace(0, pi, count))
    return ((1 + cosines) * lo + (1 - cosines) * hi) / 2  # both ends without rounding


def _intervals(
    hit: Map, lo: float, hi: float, closed: bool
) -> list[tuple[float, float]]:
    """The intervals of [lo, hi] on which `hit` holds, their inner ends refined.

    If it is `closed`, hi is the same place as lo, and an interval may run past hi.
    """
    t = np.linspace(lo, hi, _SAMPLES + 1) if closed else _cosines(lo, hi, _SAMPLES + 1)
    hits = hit(t)
    if hits.all():
        return [(lo, hi)]
    if closed:  # begin at a point outside
        k = int(hits.argmin())
        t = np.append(t[k:-1], t[: k + 1] + hi - lo)
        hits = np.append(hits[k:-1], hits[: k + 1])

    def edge(inside: float, outside: float) -> float:
        """The last parameter that hits, on the way from one that does to one that does
        not."""
        for _ in range(11):  # 32¹¹ = 2⁵⁵ parts: finer than a float
            between = np.linspace(inside, outside, 33)
            misses = np.append(~hit(between[1:-1]), True)
            last = int(misses.argmax())  # before the first that misses
            inside = between[last]
            outside = between[last + 1]
        return inside

    found = []
    # Runs of neighbouring samples that all hit, or all miss
    for run in np.split(np.arange(len(t)), np.flatnonzero(np.diff(hits)) + 1):
        if hits[run[0]]:
            start = t[0] if run[0] == 0 else edge(t[run[0]], t[run[0] - 1])
            stop = t[-1] if run[-1] == len(t) - 1 else edge(t[run[-1]], t[run[-1] + 1])
            found.append((float(start), float(stop)))
    return found


def runs(
    curve: Map,
    hit: Map,
    lo: float,
    hi: float,
    count: int,
    closed: bool = False,
    samples: int = 2001,
) -> list[np.ndarray]:
    """`count` parameters, at equal arc lengths, on each stretch between lo and hi whose
    points `hit`."""
    found = []
    for interval in _intervals(lambda t: hit(curve(t)), lo, hi, closed):
        t = _cosines(*interval, samples)
        moved = np.append(
            0.0, np.cumsum(np.linalg.norm(np.diff(curve(t), axis=0), axis=-1))
        )
        found.append(np.interp(np.linspace(0, moved[-1], count), moved, t))
    return found


def stretches(
    curve: Map, hit: Map, corners: Collection[float], count: int, samples: int = 2001
) -> list[tuple[float, float, np.ndarray]]:
    """`runs` for a curve of period π, cut at its corners; returns corner, next corner,
    parameters."""
    at = sorted(corners) or [0.0]
    return [
        (lo, hi, t)
        for lo, hi in pairwise([*at, at[0] + pi])
        for t in runs(curve, hit, lo, hi, count, not corners, samples)
    ]


# Binary forms Σ f_i u^{n−i} v^i, each as the polynomial Σ f_i tⁱ in t = v/u, beside its
# degree n: the polynomial does not show a factor u.


def polynomial(*coefficients: Number) -> "fmpq_poly":
    """Σ f_i tⁱ from the f_i."""
    import flint  # late: flint would take a quarter of neuroviz's import time

    numbers = [Fraction(c) for c in coefficients]
    return flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in numbers])


def _fractions(form: "fmpq_poly") -> list[Fraction]:
    return [Fraction(int(c.p), int(c.q)) for c in form.coeffs()] or [Fraction(0)]


def solve(
    matrix, degree: int
) -> tuple[list["fmpq_poly"], int, list[tuple[Number, Number]]] | None:
    """The curve orthogonal to all rows of a 3 × 4 matrix of forms, whose minors have
    this degree, by Cramer.

    Also its degree, and the [u:v] at which more than one point is orthogonal; None if
    all [u:v] are such.
    """
    rows = [[polynomial(*form) for form in row] for row in matrix]

    def minor(j: int) -> "fmpq_poly":
        (a, b, c), (d, e, f), (g, h, i) = (row[:j] + row[j + 1 :] for row in rows)
        return (-1) ** j * (
            a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g)
        )

    minors = [minor(j) for j in range(4)]
    if not any(minors):
        return None
    common, lost = common_factor(minors, degree)
    return [minor // common for minor in minors], degree - lost, zeros(common, lost)


def common_factor(forms: list["fmpq_poly"], degree: int) -> tuple["fmpq_poly", int]:
    """The greatest common divisor of forms of one degree that are not all 0, and its
    degree."""
    common = reduce(lambda one, other: one.gcd(other), forms)
    power_of_u = degree - max(form.degree() for form in forms)
    return common, common.degree() + power_of_u


def zeros(form: "fmpq_poly", degree: int) -> list[tuple[Number, Number]]:
    """The real zeros [u:v], each once; exact if rational with a small denominator. The
    form 0 gives []."""
    # A factor u makes [0:1] a zero.
    found = [(0, 1)] if 0 <= form.degree() < degree else []
    for t, _ in form.complex_roots() if form.degree() > 0 else []:
        if t.imag == 0:  # exact: ball arithmetic has isolated the root
            near = Fraction(float(t.real)).limit_denominator(10_000)
            exact = form(polynomial(near)) == 0
            angle = atan2(float(t.real), 1.0)
            found.append(
                (near.denominator, near.numerator)
                if exact
                else (cos(angle), sin(angle))
            )
    return found


class RationalCurve:
    """[u:v] ↦ (x : y : z : 1), given by four forms of one degree without a common
    factor, the last not 0."""

    def __init__(self, point: list["fmpq_poly"], degree: int) -> None:
        self._w = point[3]
        self._degree = degree
        rows = [_fractions(form) for form in point]
        self._exact = [row + [0] * (degree + 1 - len(row)) for row in rows]
        # Homogeneous coordinates have no size: all are divided, so that floats do not
        # overflow.
        largest = max(abs(c) for row in self._exact for c in row)
        self._floats = np.array(
            [[float(c / largest) for c in row] for row in self._exact]
        )

    @property
    def coefficients(self) -> list[list[float]]:
        """Coefficients of x, y, z and 1 as forms in [u:v], a row each, from uⁿ to vⁿ;
        the largest is ±1."""
        return self._floats.tolist()

    def poles(self) -> list[tuple[Number, Number]]:
        """Where the curve goes to infinity."""
        return zeros(self._w, self._degree)

    def on_plane(
        self, equation: Sequence[Number]
    ) -> list[tuple[Number, Number]] | None:
        """Where e_x x + e_y y + e_z z + e₀ = 0; None if it is so everywhere."""
        value = sum(
            polynomial(e) * polynomial(*row)
            for e, row in zip(equation, self._exact, strict=True)
        )
        return zeros(value, self._degree) if value else None

    def point(self, u: Number, v: Number) -> tuple[float, float, float] | None:
        """The point at [u:v], or None at infinity."""
        n = self._degree
        *p, w = (
            sum(c * u ** (n - i) * v**i for i, c in enumerate(row))
            for row in self._exact
        )
        if abs(w) <= (0 if is_exact(u, v) else ROUNDING * max(map(abs, p))):
            return None
        return tuple(float(t / w) for t in p)

    def at(self, phi: np.ndarray) -> np.ndarray:
        """The points at [cos φ : sin φ], shape (n, 3); not finite at a pole."""
        powers = [
            np.cos(phi) ** (self._degree - i) * np.sin(phi) ** i
            for i in range(self._degree + 1)
        ]
        *p, w = self._floats @ np.array(powers)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack(p, -1) / w[:, None] + 0.0

    def near(self, here: np.ndarray) -> np.ndarray:
        """The point nearest to a given one: a critical point of the squared
        distance."""
        *p, w = (np.polynomial.Polynomial(row) for row in self._floats)
        # The squared distance is square/w²; the numerator of its derivative by t = v/u:
        square = sum((t - h * w) ** 2 for t, h in zip(p, here, strict=True))
        critical = (square.deriv() * w - 2 * square * w.deriv()).trim(1e-14)
        # The real part of a complex zero is one more point of the curve: it does no
        # harm. π/2 is t = ∞, which is no zero of a polynomial.
        angles = np.append(np.arctan(critical.roots().real), pi / 2)
        points = self.at(angles)
        points = points[np.isfinite(points).all(-1)]
        return points[np.linalg.norm(points - here, axis=-1).argmin()]


class Branch(RationalCurve):
    """A component of the singular curve, and the discriminant of the form common to q₁
    and q₂ on it.

    Up to a factor the common form is Σ forms[i] · (x, y, z, 1)[i]; on the curve it has
    degree `q_degree`.
    """

    def __init__(
        self, point: list["fmpq_poly"], degree: int, forms: list[Form], q_degree: int
    ) -> None:
        super().__init__(point, degree)
        q = [
            sum(p * polynomial(form[j]) for form, p in zip(forms, point, strict=True))
            for j in range(3)
        ]
        self._disc = q[1] ** 2 - 4 * q[0] * q[2]
        self._disc_degree = 2 * q_degree

    def pinches(self) -> list[tuple[Number, Number]]:
        """Where the common form is a square."""
        return zeros(self._disc, self._disc_degree)

    def kind(self, phi: float) -> str:
        """The kind at [cos φ : sin φ]: the sign of the discriminant.

        Its degree is even in [u:v] and in the common form: no sign of theirs matters.
        """
        u = cos(phi)
        v = sin(phi)
        n = self._disc_degree
        disc = sum(
            float(c) * u ** (n - i) * v**i for i, c in enumerate(_fractions(self._disc))
        )
        if disc > 0:
            return CROSSING
        if disc < 0:
            return CLOSURE
        return BOUNDARY
