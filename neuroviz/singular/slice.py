"""A 3-dimensional affine part of the space of pairs of forms, and the surface and
singular curve in it.

The layers are the pairs with a common real root (`neuroviz.singular.forms`). What a
slice cuts out of their Zariski closure is a ruled surface: a root m = [X:Y] gives the
line q₁(m) = q₂(m) = 0. Its singular points form a rational curve: a ratio [λ₁:λ₂] gives
the point where λ₂q₁ = λ₁q₂. Both are solved for, never contoured. Everything is exact
for int and Fraction, and takes numpy arrays of any shape otherwise.
docs/mathematics/singular_points.md: "Figure 1".
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product
from math import atan2, pi

import numpy as np

from neuroviz.singular import curves
from neuroviz.singular.curves import (
    Branch,
    Piece,
    Strip,
    Window,
    null_vectors,
    polynomial,
)
from neuroviz.singular.forms import (
    TOLERANCE,
    Facts,
    Number,
    Pair,
    Root,
    common_roots,
    facts_of,
    is_exact,
    kind_of,
    resultant,
    tidy,
)


@dataclass(frozen=True)
class Slice:
    """A 3-dimensional affine part of the pairs of forms: origin + x·∂x + y·∂y + z·∂z.

    Args:
        name: "S1", …, "random 3".
        origin: the pair (q₁, q₂) at (0, 0, 0).
        directions: what a step in x, y and z adds: three such pairs, linearly
            independent.
        parameters: such as (("alpha", 3),); `at` changes them, by `family`.
        coordinates: the names of x, y, z.
        window: what is drawn by default.

    Coefficients are int or Fraction; a float is taken for the rational number that it
    is.

    Raises:
        ValueError: if the directions are dependent, a coefficient is not a finite
            number, all functions of the slice have a common factor, so that it holds no
            surface, or a plane of them has one root.

    >>> from neuroviz.singular.surface import SLICES
    >>> SLICES["S1"].forms(3, 1, 0)
    ((1, 3, 1), (1, 0, -1))
    >>> [SLICES["S1"].kind(p, 0, 0) for p in (3, 2, 1.5)]
    ['crossing', 'boundary', 'closure only']
    """

    name: str
    origin: Pair
    directions: tuple[Pair, ...]
    parameters: tuple[tuple[str, Number], ...] = ()
    coordinates: tuple[str, str, str] = ("x", "y", "z")
    window: Window = field(default=Window(2.0), compare=False)
    family: "Callable[..., Slice] | None" = field(
        default=None, compare=False, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", _pair(self.origin))
        object.__setattr__(self, "directions", tuple(map(_pair, self.directions)))
        # A row for each of the six coefficients, a column for each direction: a null
        # vector is a dependency.
        coefficients = zip(*((*q1, *q2) for q1, q2 in self.directions), strict=True)
        if len(self.directions) != 3 or null_vectors(coefficients):
            needed = (
                "a slice needs three linearly independent directions; got"
                f" {self.directions}"
            )
            raise ValueError(f"{needed}: take functions that do not lie in one plane")
        # The resultant has degree 4: if it is 0 on this grid of 5³ points, it is 0.
        if all(self.resultant(*p) == 0 for p in product(range(5), repeat=3)):
            found = f"all those of {self.name} have a common factor"
            raise ValueError(
                f"a surface needs functions beside it; {found}: take another function"
            )
        if self._has_plane():
            raise ValueError(
                f"a plane of functions of {self.name} has one root: take another slice"
            )

    @classmethod
    def random(cls, seed: int) -> "Slice":
        """A slice with random coefficients, whole numbers from −4 to 4.

        >>> Slice.random(0) == Slice.random(0), Slice.random(0) == Slice.random(1)
        (True, False)
        """
        origin, *directions = (
            np.random.default_rng(seed).integers(-4, 5, (4, 2, 3)).tolist()
        )
        return cls(f"random {seed}", origin, directions, window=Window(3.0))

    def at(self, **parameters: Number) -> "Slice":
        """The same slice with other values of its parameters.

        >>> from neuroviz.singular.surface import SLICES
        >>> SLICES["S3"].at(alpha=2).parameters
        (('alpha', 2),)
        """
        names = sorted(name for name, _ in self.parameters)
        if sorted(parameters) != names:
            raise ValueError(
                f"{self.name} has the parameters {names}; got {sorted(parameters)}"
            )
        return self.family(**parameters) if names else self

    def forms(self, x: Number, y: Number, z: Number) -> Pair:
        """The pair (q₁, q₂) at a point; exact for int and Fraction, else float, in
        arrays of any shape."""
        p = [tidy(t) for t in (x, y, z)]
        read = tidy
        if any(isinstance(t, (float, np.floating, np.ndarray, list, tuple)) for t in p):
            p = [np.asarray(t, dtype=float) for t in p]
            read = float
        p.append(1)
        return tuple(
            tuple(
                sum(read(pair[k][j]) * t for pair, t in zip(self.pairs, p, strict=True))
                for j in range(3)
            )
            for k in (0, 1)
        )

    def resultant(self, x: Number, y: Number, z: Number) -> Number:
        """R(q₁, q₂), of degree at most 4: 0 on the surface and on its dotted curve."""
        return resultant(*self.forms(x, y, z))

    def kind(
        self, x: Number, y: Number, z: Number, tol: float = TOLERANCE
    ) -> str | np.ndarray:
        """`kind_of` a point's function: exact for int and Fraction, up to a relative
        `tol` for floats."""
        return kind_of(*self.forms(x, y, z), tol)

    def facts(self, x: Number, y: Number, z: Number) -> Facts:
        """`facts_of` the function at a point: ranks, kernel."""
        return facts_of(*self.forms(x, y, z))

    def roots(
        self, x: Number, y: Number, z: Number, tol: float = TOLERANCE
    ) -> tuple[Root, ...]:
        """The common real roots at a point: one for each ruling through it."""
        return common_roots(*self.forms(x, y, z), tol)

    def lines(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rulings with roots [cos θ : sin θ]: two linear equations, q₁(X, Y) =
        q₂(X, Y) = 0.

        Returns:
            The points nearest to the origin, and unit directions, shape (n, 3); nan
            where the planes of the equations are parallel, as the line has gone to
            infinity (S1 at [1:0]).

        >>> from neuroviz.singular.surface import SLICES
        >>> points, _ = SLICES["S1"].lines(np.arctan2([1], [2]))
        >>> points[:, 0].round(9).tolist()
        [-2.5]
        """
        equations = self.equations(np.cos(theta), np.sin(theta))
        return curves.meeting_line(
            *(np.stack(np.broadcast_arrays(*e), -1) for e in equations)
        )

    def rulings(self, count: int = 120) -> tuple[Strip, ...]:
        """The chart: all rulings inside the window, as strips of `count` lines, evenly
        spread in space.

        A strip ends where its lines leave the window.
        """

        def lines(theta: np.ndarray) -> np.ndarray:
            """Both ends of each line, as a curve in 6 dimensions: `stretches` spreads
            the lines evenly along it."""
            return np.hstack(self.window.cut(*self.lines(theta)))

        def met(ends: np.ndarray) -> np.ndarray:
            return np.isfinite(ends[:, 0])

        found = (theta for _, _, theta in curves.stretches(lines, met, (), count))
        return tuple(Strip(theta, *np.hsplit(lines(theta), 2)) for theta in found)

    def singular_curve(self, count: int = 200) -> tuple[Piece, ...]:
        """The singular points inside the window: solid and dotted pieces of `count`
        points each.

        For each ratio [λ₁:λ₂] the equation λ₂q₁ = λ₁q₂ is linear in (x, y, z), and by
        Cramer's rule its solution is cubic in the ratio: the curve is a twisted cubic
        (S3), or what it degenerates to (S1: three lines, two of them at infinity).
        Pieces are split at the pinch points.

        Raises:
            ValueError: if the singular points fill a surface.

        >>> from neuroviz.singular.surface import SLICES
        >>> for piece in SLICES["S1"].singular_curve():
        ...     print(piece.kind, piece.points[[0, -1], 0].round(9).tolist())
        crossing [-3.5, -2.0]
        closure only [-2.0, 2.0]
        crossing [2.0, 3.5]
        """
        pieces = []
        for branch in self.branches():
            special = {
                atan2(v, u) % pi: branch.point(u, v)
                for u, v in branch.pinches() + branch.poles()
            }
            for lo, hi, phi in curves.stretches(
                branch.at, self.window.inside, special, count, samples=1001
            ):
                points = branch.at(phi)
                for end, corner in (0, lo), (-1, hi):
                    # a pinch point, without the rounding of its angle
                    if special and phi[end] == corner:
                        # The last corner is the first one, after half a turn.
                        points[end] = special[
                            corner if corner in special else min(special)
                        ]
                # The points run from small to large x.
                points = points if points[0, 0] <= points[-1, 0] else points[::-1]
                # The discriminant changes its sign at corners only.
                pieces.append(Piece(branch.kind((lo + hi) / 2), points))
        return tuple(sorted(pieces, key=lambda piece: tuple(piece.points[0])))

    def pinch_points(self) -> np.ndarray:
        """The points of the singular curve whose common form is a square, shape (n, 3):
        boundary points.

        They are the zeros of a form of degree 4 in the ratio [λ₁:λ₂], so at most four;
        none are singled out where the whole curve is boundary (S3 with α = 2).

        Raises:
            ValueError: if the singular points fill a surface.

        >>> from neuroviz.singular.surface import SLICES
        >>> SLICES["S1"].pinch_points().tolist()
        [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
        """
        points = {
            branch.point(u, v)
            for branch in self.branches()
            for u, v in branch.pinches()
        }
        return np.array(sorted(filter(None, points))).reshape(-1, 3)

    def nearest_singular(
        self, x: float, y: float, z: float
    ) -> tuple[float, float, float]:
        """The point of the singular curve, dotted or not, that is nearest to a given
        one.

        Raises:
            ValueError: if the slice has no singular points, or they fill a surface.

        >>> from neuroviz.singular.surface import SLICES
        >>> [round(t, 9) for t in SLICES["S1"].nearest_singular(1.97, 0.02, 0.0)]
        [1.97, 0.0, 0.0]
        """
        here = np.array([x, y, z], dtype=float)
        points = [branch.near(here) for branch in self.branches()]
        if not points:
            raise ValueError(f"{self.name} has no singular points: take another slice")
        return tuple(min(points, key=lambda p: np.linalg.norm(p - here)).tolist())

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of forms that x, y, z and 1 multiply."""
        return *self.directions, self.origin

    def equations(self, X: Number, Y: Number) -> tuple[list[Number], list[Number]]:
        """(e_x, e_y, e_z, e₀) with q_k(X, Y) = e_x x + e_y y + e_z z + e₀, for k = 1,
        2."""
        read = tidy if is_exact(X, Y) else float
        powers = X * X, X * Y, Y * Y
        return tuple(
            [
                sum(read(c) * p for c, p in zip(pair[k], powers, strict=True))
                for pair in self.pairs
            ]
            for k in (0, 1)
        )

    def _has_plane(self) -> bool:
        """Whether at some root [X:Y] the two equations of a ruling are one: their
        minors are all 0."""
        columns = [(polynomial(*q1), polynomial(*q2)) for q1, q2 in self.pairs]
        # Of the 2 × 4 matrix of (e_x, e_y, e_z, e₀): forms of degree 2 + 2 in [X:Y].
        minors = [p * s - q * r for (p, q), (r, s) in combinations(columns, 2)]
        roots = curves.zeros(*curves.common_factor(minors, 4))
        for root in roots:
            normals = [e[:3] for e in self.equations(*root)]
            # Where both normals are 0 too, the plane is the one at infinity.
            if any(map(any, normals)):
                return True
        return False

    def branches(self) -> list[Branch]:
        """The components of the singular curve that are not at infinity, each
        parametrised by [u:v]."""
        # λ₂q₁ − λ₁q₂ = 0 with [u:v] = [λ₁:λ₂], its entries −q₂u + q₁v: a row for each
        # of X², XY, Y², a column for each of x, y, z, 1.
        matrix = [[(-pair[1][j], pair[0][j]) for pair in self.pairs] for j in range(3)]
        solved = curves.solve(matrix, 3)
        branches = []
        if solved is None:
            raise self._fill("surface")
        moving, n, lost = solved
        q1, q2 = zip(*self.pairs, strict=True)
        if moving[3] and n > 0:
            # q₁ has degree n along the curve, and q₁ = u·q: as polynomials in t = v/u
            # both are one, and q has degree n − 1.
            branches.append(Branch(moving, n, q1, n - 1))
        for u, v in lost:  # ratios that belong to a whole line
            basis = null_vectors([[a * u + b * v for a, b in row] for row in matrix])
            # The last vector is a point (x : y : z : 1), the first one a direction, or
            # all of the line is at infinity.
            if basis[-1][3]:
                if len(basis) > 2:
                    raise self._fill("plane")
                line = [
                    polynomial(first, last) for first, last in zip(*basis, strict=True)
                ]
                # q₁ = u·q, q₂ = v·q with one [u:v] on the whole line: the one that is
                # not 0 stands for q.
                branches.append(Branch(line, 1, q2 if abs(u) < abs(v) else q1, 1))
        return branches

    def _fill(self, what: str) -> ValueError:
        points = f"the singular points of {self.name} fill a {what}"
        return ValueError(f"{points}, not a curve: take another function")


def exact(name: str, value: Number) -> Number:
    """An int or Fraction; a float as the rational number that it is."""
    try:
        return tidy(value if is_exact(value) else Fraction(float(value)))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a finite number; got {value!r}") from None


def _pair(pair: Pair) -> Pair:
    """Two triples of exact numbers."""
    try:
        (a1, b1, c1), (a2, b2, c2) = pair
    except (TypeError, ValueError):
        raise ValueError(
            f"a function is a pair of forms (a, b, c), (a, b, c); got {pair!r}"
        ) from None
    numbers = [exact("a coefficient", t) for t in (a1, b1, c1, a2, b2, c2)]
    return tuple(numbers[:3]), tuple(numbers[3:])
