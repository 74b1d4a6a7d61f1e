"""The singular surface of Figure 1: one lightning layer with d = 2, d′ = 1, seen as two quadratic forms.

The layer (A, V) is known by the pair q_k = ℓ_k·v, where ℓ_k is column k of A and v the row V, as
linear forms in (X, Y) (Prop. A.5). So a function is a point of a 6-dimensional space, and

    layers            pairs with a common real linear factor               (dimension 5)
    Zariski closure   pairs with any common factor: the resultant is 0     (Cor. A.6)
    singular points   proportional pairs                                   (Thm. 3.4)

A `Slice` is a 3-dimensional affine part of that space. What it cuts out of the closure is a ruled
surface: a root m = [X:Y] gives the line q₁(m) = q₂(m) = 0. And its singular points form a rational
curve: a ratio [λ₁:λ₂] gives the point where λ₂q₁ = λ₁q₂. Both are solved here, never contoured.

A form aX² + bXY + cY² is a triple (a, b, c); its size is √(a² + b²/2 + c²), which no rotation of
(X, Y) changes. Everything is exact for int and Fraction, and takes numpy arrays of any shape
otherwise. docs/mathematics.md: "Figure 1. The surface", "Theorem 3.4", "Lemma A.3".
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from math import atan2, cos, dist, gcd, hypot, inf, isqrt, pi, sin, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from flint import fmpq_poly

Number = int | Fraction | float | np.ndarray
Form = tuple[Number, Number, Number]
Pair = tuple[Form, Form]

SMOOTH, CROSSING, BOUNDARY, CLOSURE, OFF = "smooth", "crossing", "boundary", "closure only", "off"
KINDS = (SMOOTH, CROSSING, BOUNDARY, CLOSURE, OFF)
TOLERANCE = 1e-9
"""How far, relative to their size, float coefficients may be from what is said of them."""
_ROUNDING = 1e-12
_NEAR_A_PLANE = 1e-6  # nearer to its root, a ruling beside a plane would have fewer than half its digits


@dataclass(frozen=True)
class Root:
    """A point [X:Y] of the projective line, with Y > 0 or [X:Y] = [1:0].

    Coprime integers where it is rational and known exactly; else a unit vector.
    """

    X: Number
    Y: Number

    @property
    def m(self) -> float:
        """X/Y; infinite at [1:0]."""
        return float(self.X / self.Y) if self.Y else inf

    @property
    def angle(self) -> float:
        """2·atan2(Y, X), in [0, 2π): where the root lies on the circle that RP¹ is."""
        return 2 * atan2(self.Y, self.X) % (2 * pi)


class Weights(NamedTuple):
    """A of shape (…, 2, 2) and V of shape (…, 1, 2); of dtype object where they are exact."""

    A: np.ndarray
    V: np.ndarray


class Nearest(NamedTuple):
    """The root [X:Y] (a unit vector) of the layer nearest to a pair, and how far that layer is."""

    X: np.ndarray
    Y: np.ndarray
    distance: np.ndarray


@dataclass(frozen=True)
class Facts:
    """What Theorem 3.2, Lemma A.3 and Theorem 3.4 say about a function.

    Attributes:
        kind: one of `KINDS`.
        rank_a, rank_v: the ranks of its weights A, V; None where it has no real weights.
        kernel: dimension of the kernel of the differential in (A, V) at its weights; None likewise.
        preimages: how many real weights it has, up to rescaling.
    """

    kind: str
    rank_a: int | None
    rank_v: int | None
    kernel: int | None
    preimages: int | float


_FACTS = {
    SMOOTH: Facts(SMOOTH, 2, 1, 1, 1),
    CROSSING: Facts(CROSSING, 1, 1, 1, 2),  # the swap of Theorem 3.2
    BOUNDARY: Facts(BOUNDARY, 1, 1, 2, 1),
    CLOSURE: Facts(CLOSURE, None, None, None, 0),
    OFF: Facts(OFF, None, None, None, 0),
}
_ZERO_FACTS = Facts(BOUNDARY, 0, 0, 6, inf)  # at A = 0, V = 0


# --- Pairs of forms ---------------------------------------------------------------------------------


def minors(q1: Form, q2: Form) -> Form:
    """a₁b₂ − a₂b₁, a₁c₂ − a₂c₁, b₁c₂ − b₂c₁: all 0 exactly if the forms are proportional.

    >>> minors((1, 0, 1), (0, 1, 0))
    (1, 0, -1)
    """
    (a1, b1, c1), (a2, b2, c2) = q1, q2
    return a1 * b2 - a2 * b1, a1 * c2 - a2 * c1, b1 * c2 - b2 * c1


def resultant(q1: Form, q2: Form) -> Number:
    """R = (a₁c₂ − a₂c₁)² − (a₁b₂ − a₂b₁)(b₁c₂ − b₂c₁): 0 exactly if the forms have a common factor.

    >>> resultant((1, 0, -1), (1, 2, 1)), resultant((1, 0, -1), (1, 0, 1))
    (0, 4)
    """
    ab, ac, bc = minors(q1, q2)
    return ac * ac - ab * bc


def discriminant(q: Form) -> Number:
    """b² − 4ac: positive for two real roots, 0 for a double one, negative for none.

    >>> discriminant((1, 3, 1))
    5
    """
    a, b, c = q
    return b * b - 4 * a * c


def real_roots(q: Form, tol: float = TOLERANCE) -> tuple[Root, ...]:
    """The real roots of one form, by their angle: two, one (double) or none.

    Exact for int and Fraction; a float form is taken for a square if it is one up to a relative `tol`.

    Raises:
        ValueError: for the zero form, and as in `kind_of`.

    >>> real_roots((0, 1, -2))
    (Root(X=1, Y=0), Root(X=2, Y=1))
    """
    return common_roots(q, (0, 0, 0), tol)


def kind_of(q1: Form, q2: Form, tol: float = TOLERANCE) -> str | np.ndarray:
    """Where a pair of forms lies: "smooth", "crossing", "boundary", "closure only" or "off" (Thm. 3.4).

        not proportional   smooth if a real root is common, else off
        proportional       with the common form: crossing if it has two real roots, boundary if a
                           double one, closure only if none; (0, 0) is a boundary point, v·0ᵀ

    Int and Fraction are decided exactly. Float pairs are taken for proportional, for a pair with a
    common root, or for one with a double root, if they are so up to a relative error `tol`.

    Args:
        q1, q2: coefficients; arrays are broadcast, and the answer is then an array of words.
        tol: between 0 and 1; used for floats only.

    Raises:
        ValueError: if a coefficient is not finite, or tol is not between 0 and 1.

    >>> kind_of((1, 0, -1), (1, 2, 1)), kind_of((1, 0, 1), (2, 0, 2)), kind_of((1, 2, 1), (0, 0, 0))
    ('smooth', 'closure only', 'boundary')
    """
    if _is_exact(*q1, *q2):
        return _sort_exactly(q1, q2)[0]
    kind = _sort(q1, q2, tol)[0]
    return kind if kind.ndim else str(kind)


def common_roots(q1: Form, q2: Form, tol: float = TOLERANCE) -> tuple[Root, ...]:
    """The real roots that two forms share, by their angle: one, two (proportional forms) or none.

    Raises:
        ValueError: as in `kind_of`, and for the pair (0, 0).

    >>> common_roots((1, 0, -1), (1, 2, 1)), common_roots((1, 0, -1), (2, 0, -2))
    ((Root(X=-1, Y=1),), (Root(X=1, Y=1), Root(X=-1, Y=1)))
    """
    if not any(q1) and not any(q2):
        raise ValueError("roots need a form that is not 0; every [X:Y] is a root of 0: take another point")
    if _is_exact(*q1, *q2):
        return _sort_exactly(q1, q2)[1]
    angles = _sort(q1, q2, tol)[1] / 2
    return tuple(_root(np.cos(angle), np.sin(angle)) for angle in angles if not np.isnan(angle))


def nearest_layer(q1: Form, q2: Form) -> Nearest:
    """How far a pair of forms is from the nearest layer, and that layer's root.

        distance = min over unit (X, Y) of √(q₁(X, Y)² + q₂(X, Y)²)

    since this is the distance to the pairs with root [X:Y]. The layer is `layer_with_root(q1, q2, X, Y)`.

    >>> round(float(nearest_layer((1, 0, 1), (0, 0, 0)).distance), 12)
    1.0
    """
    phi, distance = _nearest(_light_pair(q1, q2))
    return Nearest(np.cos(phi / 2), np.sin(phi / 2), distance)


def layer_with_root(q1: Form, q2: Form, X: Number, Y: Number) -> Weights:
    """V = (Y, −X), which vanishes at the root, and the A whose layer is nearest to the pair.

    At a common root [X:Y] the layer is the pair; exactly so for int and Fraction.
    """
    exact = _is_exact(*q1, *q2, X, Y)
    squared = (X * X + Y * Y) ** 2
    columns = []
    for a, b, c in (q1, q2):
        # q in the basis (X, Y), (Y, −X): its value along the root is left out, the rest divided by v.
        mixed = 2 * (a - c) * X * Y + b * (Y * Y - X * X)
        across = a * Y * Y - b * X * Y + c * X * X
        parts = mixed * X + across * Y, mixed * Y - across * X
        columns.append([_tidy(Fraction(part) / squared) if exact else part / squared for part in parts])
    return Weights(_matrix(zip(*columns, strict=True), exact), _matrix([[Y, -X]], exact))


def weights_of(q1: Form, q2: Form, tol: float = TOLERANCE) -> Weights:
    """Real weights (A, V) of a function: the first of its `preimages_of`; for arrays of any shape.

    Exact where q₁, q₂ and the root are rational. The zero function gets A = 0, V = 0.

    Raises:
        ValueError: if a pair is "off" or "closure only": then it has no real weights.

    >>> weights_of((1, 0, -1), (1, 2, 1))
    Weights(A=array([[1, 1],
           [-1, 1]], dtype=object), V=array([[1, 1]], dtype=object))
    """
    if _is_exact(*q1, *q2):
        return preimages_of(q1, q2)[0]
    kind, angles, _ = _sort(q1, q2, tol)
    _need_weights(kind)
    half = angles[..., 0] / 2
    found = layer_with_root(q1, q2, np.cos(half), np.sin(half))
    return Weights(*map(np.nan_to_num, found))  # the zero function has no root of its own


def preimages_of(q1: Form, q2: Form, tol: float = TOLERANCE) -> tuple[Weights, ...]:
    """All real weights of one function up to rescaling: 1, or 2 at a crossing (the swap of Thm. 3.2).

    The zero function has infinitely many, of which A = 0, V = 0 stands for all.

    Raises:
        ValueError: as in `weights_of`.

    >>> [V.tolist() for A, V in preimages_of((1, 0, -1), (2, 0, -2))]
    [[[1, -1]], [[1, 1]]]
    """
    _need_weights(np.asarray(kind_of(q1, q2, tol)))
    if not any(q1) and not any(q2):
        return (layer_with_root((0, 0, 0), (0, 0, 0), 0, 1)._replace(V=_matrix([[0, 0]], True)),)
    return tuple(layer_with_root(q1, q2, root.X, root.Y) for root in common_roots(q1, q2, tol))


def facts_of(q1: Form, q2: Form, tol: float = TOLERANCE) -> Facts:
    """Ranks, kernel and number of preimages of one function, by Thm. 3.2, Lemma A.3 and Thm. 3.4.

    >>> facts_of((1, 2, 1), (0, 0, 0))
    Facts(kind='boundary', rank_a=1, rank_v=1, kernel=2, preimages=1)
    """
    return _FACTS[kind_of(q1, q2, tol)] if any(q1) or any(q2) else _ZERO_FACTS


def forms_of(A: np.ndarray, V: np.ndarray) -> Pair:
    """The pair q_k = ℓ_k·v of a layer, ℓ_k being column k of A and v the row V (Prop. A.5).

    >>> forms_of([[1, 1], [-1, 1]], [[1, 1]])
    ((1, 0, -1), (1, 2, 1))
    """
    A, V = (M if isinstance(M, np.ndarray) else np.asarray(M, dtype=object) for M in (A, V))
    if A.shape[-2:] != (2, 2) or V.shape[-2:] != (1, 2):
        raise ValueError(
            f"d = 2, d′ = 1 needs A of shape (2, 2), V of shape (1, 2); got {A.shape}, {V.shape}"
        )
    v, w = V[..., 0, 0], V[..., 0, 1]
    return tuple((p * v, p * w + r * v, r * w) for p, r in ((A[..., 0, k], A[..., 1, k]) for k in (0, 1)))


def kernel_dimension(A: np.ndarray, V: np.ndarray, tol: float = TOLERANCE) -> int:
    """Dimension of the kernel of the differential of (A, V) ↦ function, by Lemma A.3.

    1; 2 if A = v kᵀ and V = h v, for floats up to a relative `tol`; 2 at A = 0, 4 at V = 0, 6 at both.

    >>> kernel_dimension([[1, 0], [0, 1]], [[1, 2]]), kernel_dimension([[1, 3], [2, 6]], [[1, 2]])
    (1, 2)
    """
    A, V = np.asarray(A, dtype=object), np.asarray(V, dtype=object)
    if not A.any() or not V.any():
        return 6 if A.any() == V.any() else 4 if A.any() else 2
    tol = 0 if _is_exact(*A.flat, *V.flat) else tol
    beside = V[0, 0] * A[1] - V[0, 1] * A[0]  # 0 where ℓ_k is a multiple of v
    return 2 if np.abs(beside).max() <= tol * np.abs(A).max() * np.abs(V).max() else 1


def on_circle(q: Form, tol: float = TOLERANCE) -> np.ndarray:
    """A form as a picture in the unit disc: two ends of a chord, one point of the rim, or one inside, (k, 2).

    Real roots are the points of the rim at their `Root.angle`. A complex pair is the point
    (c − a, −b)/(a + c) inside: hyperbolic geometry in the model whose lines are chords. As the
    discriminant goes to 0, from either side, chord and point shrink to the same point of the rim.

    Raises:
        ValueError: for the zero form.

    >>> on_circle((1, 0, -1)).round(3).tolist(), on_circle((1, 0, 1)).tolist()
    ([[0.0, 1.0], [-0.0, -1.0]], [[0.0, 0.0]])
    """
    roots = real_roots(q, tol)
    if roots:
        return np.array([[np.cos(root.angle), np.sin(root.angle)] for root in roots])
    a, b, c = (float(t) for t in q)
    return np.array([[c - a, -b]]) / (a + c) + 0.0


# --- Slices -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Window:
    """What is drawn of a slice: |stretch·(p − centre)| ≤ radius and |x| ≤ half_length.

    A ball, an ellipsoid; or, with stretch[0] = 0, a cylinder around the x axis.
    """

    radius: float
    centre: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stretch: tuple[float, float, float] = (1.0, 1.0, 1.0)
    half_length: float = inf

    @property
    def reach(self) -> float:
        """No point inside is further from the centre, in any coordinate."""
        across = max(self.radius / s if s else 0.0 for s in self.stretch)
        return across if all(self.stretch) else max(across, self.half_length + abs(self.centre[0]))

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Whether points, shape (…, 3), are inside."""
        with np.errstate(invalid="ignore"):  # a point at infinity is outside
            away = np.linalg.norm((points - np.array(self.centre)) * self.stretch, axis=-1)
        return (away <= self.radius) & (np.abs(points[..., 0]) <= self.half_length)

    def cut(self, point: np.ndarray, direction: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The t between which point + t·direction is inside; nan for a line that misses."""
        point, direction = np.asarray(point, dtype=float), np.asarray(direction, dtype=float)
        p, d = (point - np.array(self.centre)) * self.stretch, direction * self.stretch
        around, along = (
            _within(p, d, self.radius),
            _within(point[..., :1], direction[..., :1], self.half_length),
        )
        lo, hi = np.maximum(around[0], along[0]), np.minimum(around[1], along[1])
        return np.where(lo <= hi, lo, np.nan), np.where(lo <= hi, hi, np.nan)


@dataclass(frozen=True)
class Ruling:
    """A line of the surface, all of whose functions vanish at one root; `point` is nearest to the origin."""

    root: Root
    point: np.ndarray
    direction: np.ndarray

    def at(self, t: Number) -> np.ndarray:
        """point + t·direction, shape (3,), or (…, 3) for an array of t."""
        return self.point + np.multiply.outer(t, self.direction)


@dataclass(frozen=True)
class Strip:
    """A run of neighbouring rulings: the line with root [cos θ : sin θ] goes from `starts` to `ends`.

    Attributes:
        theta: shape (n,), increasing; may run past π, since [cos θ : sin θ] has period π. All equal on
            a plane, whose points have one root.
        starts, ends: where each line enters and leaves the window, shape (n, 3).
    """

    theta: np.ndarray
    starts: np.ndarray
    ends: np.ndarray

    def points(self, steps: int = 2) -> np.ndarray:
        """`steps` points on each ruling, ends included: a mesh of shape (n, steps, 3)."""
        share = np.linspace(0, 1, steps)[:, None]
        return (1 - share) * self.starts[:, None] + share * self.ends[:, None]


@dataclass(frozen=True)
class Piece:
    """A stretch of the singular curve: "crossing" and "boundary" are solid, "closure only" is dotted.

    The points, shape (n, 3), have this kind, except an end that is a pinch point; other ends lie on
    the window.
    """

    kind: str
    points: np.ndarray

    @property
    def dotted(self) -> bool:
        """Whether these are points of the Zariski closure only, without a real common root."""
        return self.kind == CLOSURE


@dataclass(frozen=True)
class Slice:
    """A 3-dimensional affine part of the pairs of forms: origin + x·∂x + y·∂y + z·∂z.

    Args:
        name: "S1", …, "random 3", "through four functions".
        origin: the pair (q₁, q₂) at (0, 0, 0).
        directions: what a step in x, y and z adds: three such pairs, linearly independent.
        parameters: such as (("alpha", 3),); `at` changes them.
        coordinates: the names of x, y, z.
        window: what is drawn by default.

    Coefficients are int or Fraction; a float is taken for the rational number that it is.

    Raises:
        ValueError: if the directions are dependent, a coefficient is not a finite number, or all
            functions of the slice have a common factor, so that it holds no surface.

    >>> SLICES["S1"].forms(3, 1, 0)
    ((1, 3, 1), (1, 0, -1))
    >>> SLICES["S1"].kind(3, 0, 0), SLICES["S1"].kind(2, 0, 0), SLICES["S1"].kind(1.5, 0.0, 0.0)
    ('crossing', 'boundary', 'closure only')
    """

    name: str
    origin: Pair
    directions: tuple[Pair, ...]
    parameters: tuple[tuple[str, Number], ...] = ()
    coordinates: tuple[str, str, str] = ("x", "y", "z")
    window: Window = field(default=Window(2.0), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "origin", _pair(self.origin))
        object.__setattr__(self, "directions", tuple(map(_pair, self.directions)))
        columns = zip(*((*q1, *q2) for q1, q2 in self.directions), strict=True)
        if len(self.directions) != 3 or _kernel(columns):
            raise ValueError(
                f"a slice needs three linearly independent directions; got {self.directions}: "
                "take functions that do not lie in one plane"
            )
        if all(self.resultant(*p) == 0 for p in product(range(5), repeat=3)):  # of degree 4
            raise ValueError(
                f"a surface needs functions beside it; all those of {self.name} have a common factor: "
                "take another function"
            )

    @classmethod
    def random(cls, seed: int) -> "Slice":
        """A slice with random coefficients, whole numbers from −4 to 4.

        >>> Slice.random(0) == Slice.random(0), Slice.random(0) == Slice.random(1)
        (True, False)
        """
        origin, *directions = np.random.default_rng(seed).integers(-4, 5, (4, 2, 3)).tolist()
        return cls(f"random {seed}", origin, directions, window=Window(3.0))

    @classmethod
    def through(cls, *functions: Pair) -> "Slice":
        """The slice through four functions; or through three and zero: a cone, as c·φ is a layer if φ is.

        The functions are at (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1); of three, at the last three.

        Args:
            functions: pairs (q₁, q₂), of layers, `forms_of(A, V)`, or not.

        Raises:
            ValueError: if there are not three or four of them; and as for any `Slice`.

        >>> cone = Slice.through(((1, 0, 0), (0, 1, 0)), ((0, 0, 1), (1, 0, 0)), ((0, 1, 0), (0, 0, 1)))
        >>> cone.kind(0, 0, 0), cone.kind(5, 0, 0)
        ('boundary', 'smooth')
        """
        if len(functions) not in (3, 4):
            raise ValueError(f"a slice goes through four functions, or three and zero; got {len(functions)}")
        if len(functions) == 3:
            return cls("through three functions and zero", ((0, 0, 0), (0, 0, 0)), functions)
        return cls("through four functions", *_steps(*map(_pair, functions)))

    def at(self, **parameters: Number) -> "Slice":
        """The same slice with other values of its parameters.

        >>> SLICES["S3"].at(alpha=2).parameters
        (('alpha', 2),)
        """
        names = sorted(name for name, _ in self.parameters)
        if sorted(parameters) != names:
            raise ValueError(f"{self.name} has the parameters {names}; got {sorted(parameters)}")
        return _FAMILIES[self.name](**parameters) if names else self

    def forms(self, x: Number, y: Number, z: Number) -> Pair:
        """The pair (q₁, q₂) at a point; exact for int and Fraction, else float, in arrays of any shape."""
        p, read = [_tidy(t) for t in (x, y, z)], _tidy
        if any(isinstance(t, (float, np.floating, np.ndarray, list, tuple)) for t in p):
            p, read = [np.asarray(t, dtype=float) for t in p], float
        p.append(1)
        return tuple(
            tuple(sum(read(pair[k][j]) * t for pair, t in zip(self._pairs, p, strict=True)) for j in range(3))
            for k in (0, 1)
        )

    def resultant(self, x: Number, y: Number, z: Number) -> Number:
        """R(q₁, q₂), of degree at most 4: 0 on the surface and on its dotted curve."""
        return resultant(*self.forms(x, y, z))

    def kind(self, x: Number, y: Number, z: Number, tol: float = TOLERANCE) -> str | np.ndarray:
        """`kind_of` a point's function: exact for int and Fraction, up to a relative `tol` for floats."""
        return kind_of(*self.forms(x, y, z), tol)

    def facts(self, x: Number, y: Number, z: Number, tol: float = TOLERANCE) -> Facts:
        """`facts_of` the function at a point: ranks, kernel, number of preimages."""
        return facts_of(*self.forms(x, y, z), tol)

    def roots(self, x: Number, y: Number, z: Number, tol: float = TOLERANCE) -> tuple[Root, ...]:
        """The common real roots at a point: one for each ruling through it."""
        return common_roots(*self.forms(x, y, z), tol)

    def weights(self, x: Number, y: Number, z: Number, tol: float = TOLERANCE) -> Weights:
        """Real weights (A, V) of the function at a point of the surface.

        Raises:
            ValueError: if the point is off the surface, or on its dotted curve.

        >>> A, V = SLICES["S4"].weights(4, 4, Fraction(1, 4))
        >>> forms_of(A, V) == SLICES["S4"].forms(4, 4, Fraction(1, 4))
        True
        """
        return weights_of(*self.forms(x, y, z), tol)

    def preimages(self, x: Number, y: Number, z: Number, tol: float = TOLERANCE) -> tuple[Weights, ...]:
        """`preimages_of` the function at a point: at a crossing two, which the swap exchanges."""
        return preimages_of(*self.forms(x, y, z), tol)

    def ruling(self, X: Number, Y: Number) -> Ruling:
        """The line of all points with common root [X:Y]: two linear equations, q₁(X, Y) = q₂(X, Y) = 0.

        Exact for int and Fraction; for floats the direction has length 1.

        Raises:
            ValueError: if the equations have no solution (S1 at [1:0] and [0:1], where the line has
                gone to infinity), or more than a line of them.

        >>> SLICES["S1"].ruling(2, 1).point.tolist()
        [Fraction(-5, 2), 0, 0]
        """
        root = _root(X, Y)
        equations = np.array(self._equations(root.X, root.Y))
        if equations.dtype != object and equations.dtype.kind == "i":
            equations = equations.astype(object)
        solutions = _kernel(equations.tolist())
        if len(solutions) != 2 or not solutions[-1][3]:
            found = {3: "a whole plane", 4: "every point"}[len(solutions)] if solutions[-1][3] else "no point"
            raise ValueError(
                f"a ruling needs a root that belongs to one line; in {self.name} {found} has the common root "
                f"[{root.X}:{root.Y}]: take another root"
            )
        return Ruling(root, *_line(*equations))

    def singular_positions(self, X: Number, Y: Number) -> tuple[float, ...]:
        """The t at which `ruling(X, Y).at(t)` is a singular point: none, one or two.

        On the ruling q_k = ℓ_k·v with ℓ_k affine in t, so det(ℓ₁, ℓ₂) = 0 is a quadratic equation.

        Raises:
            ValueError: as in `ruling`, and if every point of the ruling is singular.

        >>> SLICES["S1"].singular_positions(2, 1)
        (0.0,)
        """
        line = self.ruling(X, Y)
        layers = [layer_with_root(*self.forms(*line.at(t)), line.root.X, line.root.Y).A for t in (-1, 0, 1)]
        minus, zero, plus = (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0] for A in layers)
        form = plus + minus - 2 * zero, plus - minus, 2 * zero
        if not _is_exact(*form):
            smallest = _ROUNDING * max(np.abs(A).max() ** 2 for A in layers)
            form = tuple(0.0 if abs(c) <= smallest else float(c) for c in form)
        if not any(form):
            raise ValueError(
                f"every point of the ruling [{line.root.X}:{line.root.Y}] of {self.name} is singular: "
                "take another root"
            )
        return tuple(sorted(root.m for root in real_roots(form) if root.m < 1 / _ROUNDING))

    def rulings(self, count: int = 120, window: Window | None = None) -> tuple[Strip, ...]:
        """The chart: all rulings inside a window, as strips of `count` lines, evenly spread in space.

        A strip ends where its lines leave the window. A root to which a whole plane belongs (as when two
        of the reader's functions share it) has a strip of its own, of parallel lines.
        """
        window = window or self.window

        def cut(point: np.ndarray, direction: np.ndarray) -> np.ndarray:
            lo, hi = window.cut(point, direction)
            return np.stack([point + lo[:, None] * direction, point + hi[:, None] * direction], 1)

        def lines(theta: np.ndarray) -> np.ndarray:
            equations = self._equations(np.cos(theta), np.sin(theta))
            return cut(*_line(*(np.stack(np.broadcast_arrays(*e), -1) for e in equations)))

        def strips(
            ends: Callable[[np.ndarray], np.ndarray], lo: float, hi: float, closed: bool
        ) -> list[Strip]:
            found = []
            for run in _runs(lambda t: np.isfinite(ends(t)[:, 0, 0]), lo, hi, closed):
                t = _evenly(lambda t: ends(t).reshape(-1, 6), _cosines(*run, 2001), count)
                found.append(Strip(t, *np.moveaxis(ends(t), 1, 0)))
            return found

        planes = sorted((atan2(v, u) % pi, u, v) for u, v in self._roots_with_planes())
        if not planes:
            return tuple(strips(lines, 0.0, pi, closed=True))
        corners = [theta for theta, _, _ in planes]
        found = []
        for lo, hi in zip(corners, [*corners[1:], corners[0] + pi], strict=True):
            found += strips(lines, lo + _NEAR_A_PLANE, hi - _NEAR_A_PLANE, closed=False)
        for theta, u, v in planes:
            normal = max(np.array(self._equations(float(u), float(v))), key=lambda e: np.linalg.norm(e[:3]))
            normal = normal / np.linalg.norm(normal[:3])
            across, along = np.linalg.svd(normal[None, :3])[2][1:]
            middle = np.array(window.centre) - (normal[:3] @ window.centre + normal[3]) * normal[:3]

            def parallels(t: np.ndarray, across=across, along=along, middle=middle) -> np.ndarray:
                return cut(middle + t[:, None] * across, np.broadcast_to(along, (len(t), 3)))

            for strip in strips(parallels, -window.reach, window.reach, closed=False):
                found.append(replace(strip, theta=np.full(count, theta)))
        return tuple(found)

    def singular_curve(self, count: int = 200, window: Window | None = None) -> tuple[Piece, ...]:
        """The singular points inside a window: solid and dotted pieces of `count` points each.

        For each ratio [λ₁:λ₂] the equation λ₂q₁ = λ₁q₂ is linear in (x, y, z), and by Cramer's rule
        its solution is cubic in the ratio: the curve is a twisted cubic (S3), or what it degenerates
        to (S1: three lines, two of them at infinity). Pieces are split at the pinch points.

        Raises:
            ValueError: if the singular points fill a surface.

        >>> pieces = SLICES["S1"].singular_curve()
        >>> [(piece.kind, piece.points[[0, -1], 0].round(9).tolist()) for piece in pieces]
        [('crossing', [-3.5, -2.0]), ('closure only', [-2.0, 2.0]), ('crossing', [2.0, 3.5])]
        """
        window = window or self.window
        pieces = []
        for branch in self._branches():
            special = {atan2(v, u) % pi: branch.point(u, v) for u, v in branch.pinches() + branch.poles()}
            corners = sorted(special) or [0.0]
            for lo, hi in zip(corners, [*corners[1:], corners[0] + pi], strict=True):
                kind = branch.kind((lo + hi) / 2)
                runs = _runs(lambda phi, at=branch.at: window.inside(at(phi)), lo, hi, closed=not special)
                for run in runs:
                    points = branch.at(_evenly(branch.at, _cosines(*run, 1001), count))
                    for end, angle, corner in (0, run[0], lo), (-1, run[1], hi):
                        if special and angle == corner:  # a pinch point, without the rounding of its angle
                            points[end] = special[corner if corner in special else corners[0]]
                    # From small to large x, whichever way the ratio turns.
                    pieces.append(Piece(kind, points if points[0, 0] <= points[-1, 0] else points[::-1]))
        return tuple(sorted(pieces, key=lambda piece: tuple(piece.points[0])))

    def pinch_points(self) -> np.ndarray:
        """The points of the singular curve whose common form is a square, shape (n, 3): boundary points.

        They are the zeros of a form of degree 4 in the ratio [λ₁:λ₂], so at most four; none are
        singled out where the whole curve is boundary (S3 with α = 2).

        Raises:
            ValueError: if the singular points fill a surface.

        >>> SLICES["S1"].pinch_points().tolist()
        [[-2.0, 0.0, 0.0], [2.0, 0.0, 0.0]]
        """
        points = [branch.point(u, v) for branch in self._branches() for u, v in branch.pinches()]
        found: list[tuple[float, float, float]] = []
        for p in sorted(filter(None, points)):  # lines of a cone meet in one point, up to rounding
            if all(dist(p, q) > TOLERANCE * (1 + hypot(*p)) for q in found):
                found.append(p)
        return np.array(found).reshape(-1, 3)

    def snap(self, x: float, y: float, z: float, tol: float) -> tuple[float, float, float]:
        """The nearest pinch point, if it is within `tol`; else the singular curve's; else the point itself.

        Raises:
            ValueError: if tol is not positive, or the singular points fill a surface.

        >>> SLICES["S1"].snap(1.97, 0.02, 0.0, tol=0.05), SLICES["S1"].snap(1.9, 0.2, 0.0, tol=0.05)
        ((2.0, 0.0, 0.0), (1.9, 0.2, 0.0))
        """
        if not 0 < tol < inf:
            raise ValueError(f"snapping needs a distance tol > 0; got {tol!r}")
        here = np.array([x, y, z], dtype=float)
        on_curve = [branch.near(here) for branch in self._branches()]
        for points in (self.pinch_points(), np.array(on_curve).reshape(-1, 3)):
            away = np.linalg.norm(points - here, axis=-1)
            if len(points) and away.min() <= tol:
                return tuple(points[away.argmin()].tolist())
        return tuple(here.tolist())

    @property
    def _pairs(self) -> tuple[Pair, ...]:
        """What x, y, z and 1 are multiplied with."""
        return *self.directions, self.origin

    def _equations(self, X: Number, Y: Number) -> tuple[list[Number], list[Number]]:
        """(e_x, e_y, e_z, e₀) with q_k(X, Y) = e_x x + e_y y + e_z z + e₀, for k = 1, 2."""
        read = _tidy if _is_exact(X, Y) else float
        powers = X * X, X * Y, Y * Y
        return tuple(
            [sum(read(c) * p for c, p in zip(pair[k], powers, strict=True)) for pair in self._pairs]
            for k in (0, 1)
        )

    def _roots_with_planes(self) -> list[tuple[Number, Number]]:
        """The roots [X:Y] at which the two equations of a ruling are one: where their minors are all 0."""
        columns = [(_polynomial(*q1), _polynomial(*q2)) for q1, q2 in self._pairs]
        common, degree = _common_factor([p * s - q * r for (p, q), (r, s) in combinations(columns, 2)], 4)
        # Where both normals vanish too, the plane is the one at infinity.
        return [m for m in _zeros(common, degree) if any(any(e[:3]) for e in self._equations(*m))]

    def _branches(self) -> list["_Branch"]:
        """The components of the singular curve that are not at infinity, each parametrised by [u:v]."""
        # λ₂q₁ − λ₁q₂ at λ₁ = 1, λ₂ = t: a row for each coefficient, a column for each of x, y, z, 1.
        matrix = [[(-pair[1][j], pair[0][j]) for pair in self._pairs] for j in range(3)]
        cubics = _cross([[_polynomial(*entry) for entry in row] for row in matrix])
        if not any(cubics):
            raise self._fill("surface")
        common, lost = _common_factor(cubics, 3)
        moving, n, branches = [cubic // common for cubic in cubics], 3 - lost, []
        if moving[3] and n > 0:
            branches.append(
                _Branch(moving, n, _common_form(self._pairs, 0, moving), n - 1)
            )  # q₁ = λ₁q, λ₁ = 1
        for u, v in _zeros(common, lost):  # ratios that belong to a whole line
            basis = _kernel([[a * u + b * v for a, b in row] for row in matrix])
            if basis[-1][3]:  # else the line is at infinity
                if len(basis) > 2:
                    raise self._fill("plane")
                line = [_polynomial(first, last) for first, last in zip(*basis, strict=True)]
                q = _common_form(self._pairs, int(abs(u) < abs(v)), line)
                branches.append(_Branch(line, 1, q, 1, 0 if _is_exact(u, v) else _ROUNDING))
        return branches

    def _fill(self, what: str) -> ValueError:
        return ValueError(
            f"the singular points of {self.name} fill a {what}, not a curve: take another function"
        )


def _affine(name: str, pair: Callable[..., Pair], **fields) -> Slice:
    """A slice from its pair (q₁, q₂), written as a function of the coordinates that is affine in them."""
    corners = (0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)
    return Slice(name, *_steps(*(pair(*corner) for corner in corners)), **fields)


def _steps(origin: Pair, *others: Pair) -> tuple[Pair, tuple[Pair, ...]]:
    """A pair, and what must be added to it to reach the others."""

    def step(q: Form, q0: Form) -> Form:
        return tuple(t - t0 for t, t0 in zip(q, q0, strict=True))

    return origin, tuple((step(q1, origin[0]), step(q2, origin[1])) for q1, q2 in others)


_ALONG_THE_AXIS = Window(1.0, stretch=(0.0, 1.0, 0.5), half_length=3.5)


def s1() -> Slice:
    """S1, with what Figure 1 shows: two sheets cross along |s| > 2, a dotted segment for |s| < 2.

    q₁ = X² + sXY + Y², q₂ = y(X² − Y²) + zXY;  z² = (s² − 4)y².
    """
    return _affine(
        "S1", lambda s, y, z: ((1, s, 1), (y, z, -y)), coordinates=("s", "y", "z"), window=_ALONG_THE_AXIS
    )


def s1k(kappa: Number = 0) -> Slice:
    """S1κ: S1 is κ = −1; at κ = 0 the surface is of degree 3, z² − syz + y² = 0.

    q₁ = X² + sXY + Y², q₂ = yX² + zXY + κyY²;  (z − sy)(z − κsy) + (κ − 1)²y² = 0.

    Raises:
        ValueError: for κ = 1, where the singular points fill the surface z = sy.
    """
    k = _exact("kappa", kappa)
    if k == 1:
        raise ValueError("S1k needs a kappa other than 1, where all of the surface z = sy is singular; got 1")
    return _affine(
        "S1k",
        lambda s, y, z: ((1, s, 1), (y, z, k * y)),
        parameters=(("kappa", k),),
        coordinates=("s", "y", "z"),
        window=_ALONG_THE_AXIS,
    )


def s2() -> Slice:
    """S2: a surface over |s| ≤ 1, with dotted rays outside.

    q₁ = (1 + s)X² + (s − 1)Y², q₂ = y(X² + Y²) + zXY;  4y² = (1 − s²)z².
    """
    return _affine(
        "S2",
        lambda s, y, z: ((1 + s, 0, s - 1), (y, z, y)),
        coordinates=("s", "y", "z"),
        window=Window(1.0, stretch=(0.0, 2.0, 1.0), half_length=2.0),
    )


def s3(alpha: Number = 3) -> Slice:
    """S3: along the twisted cubic (x, x², x³); dotted for |α| < 2, crossing for |α| > 2, boundary for 2.

    q₁ = X² + αxXY + yY², q₂ = xX² + αyXY + zY²;  (z − xy)² = α²(y − x²)(xz − y²).
    At the origin q₁ = X², q₂ = 0: a pinch point whatever α.

    Raises:
        ValueError: for α = 0, where the singular points fill the surface z = xy.
    """
    a = _exact("alpha", alpha)
    if a == 0:
        raise ValueError("S3 needs an alpha other than 0, where all of the surface z = xy is singular; got 0")
    return _affine(
        "S3",
        lambda x, y, z: ((1, a * x, y), (x, a * y, z)),
        parameters=(("alpha", a),),
        window=Window(1.25),
    )


def s4() -> Slice:
    """S4: along the hyperbola x = y = 1/z, dotted for 0 < x < 4, with the pinch point (4, 4, ¼).

    q₁ = X² + xXY + yY², q₂ = zX² + XY + Y²;  (1 − yz)² = (1 − xz)(x − y).
    """
    return _affine(
        "S4",
        lambda x, y, z: ((1, x, y), (z, 1, 1)),
        window=Window(6.0, (2.0, 2.0, 0.0), (1.0, 1.0, 3.0)),
    )


_FAMILIES: dict[str, Callable[..., Slice]] = {"S1": s1, "S1k": s1k, "S2": s2, "S3": s3, "S4": s4}


# --- Exact numbers ----------------------------------------------------------------------------------


def _is_exact(*numbers: Number) -> bool:
    return all(isinstance(t, (int, Fraction, np.integer)) for t in numbers)


def _tidy(t: Number) -> Number:
    """The same number, as a Python int where it is one."""
    if isinstance(t, Fraction):
        return t.numerator if t.denominator == 1 else t
    return int(t) if isinstance(t, np.integer) else t


def _exact(name: str, value: Number) -> Number:
    """An int or Fraction; a float as the rational number that it is."""
    try:
        return _tidy(value if _is_exact(value) else Fraction(float(value)))
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be a finite number; got {value!r}") from None


def _pair(pair: Pair) -> Pair:
    """Two triples of exact numbers."""
    try:
        (a1, b1, c1), (a2, b2, c2) = pair
    except (TypeError, ValueError):
        raise ValueError(f"a function is a pair of forms (a, b, c), (a, b, c); got {pair!r}") from None
    numbers = [_exact("a coefficient", t) for t in (a1, b1, c1, a2, b2, c2)]
    return tuple(numbers[:3]), tuple(numbers[3:])


def _kernel(rows) -> list[list[Number]]:
    """A basis of the x with rows·x = 0, by elimination, a 1 for each free entry; floats up to rounding."""
    rows = [[_tidy(t) for t in row] for row in rows]
    exact = _is_exact(*(t for row in rows for t in row))
    if not exact:
        rows = [[t / (max(map(abs, row)) or 1) for t in row] for row in rows]
    columns, pivots = len(rows[0]), []
    for j in range(columns):
        done = len(pivots)
        i = max(range(done, len(rows)), key=lambda i: abs(rows[i][j]), default=None)
        if i is None or abs(rows[i][j]) <= (0 if exact else _ROUNDING):
            continue
        rows[done], rows[i] = rows[i], rows[done]
        scale = Fraction(1) / rows[done][j] if exact else 1 / rows[done][j]
        pivot = rows[done] = [t * scale for t in rows[done]]
        for k, row in enumerate(rows):
            if k != done:
                rows[k] = [t - row[j] * s for t, s in zip(row, pivot, strict=True)]
        pivots.append(j)
    basis = []
    for free in sorted(set(range(columns)) - set(pivots)):
        entries = {j: _tidy(-row[free]) for row, j in zip(rows, pivots, strict=False)}
        basis.append([entries.get(j, int(j == free)) for j in range(columns)])
    return basis


def _matrix(rows, exact: bool) -> np.ndarray:
    """Rows of numbers, or of arrays: shape (…, rows, columns)."""
    dtype = object if exact else float
    rows = [np.broadcast_arrays(*(np.asarray(entry, dtype=dtype) for entry in row)) for row in rows]
    return np.stack([np.stack(row, -1) for row in rows], -2)


def _root(X: Number, Y: Number) -> Root:
    exact = _is_exact(X, Y)
    length = (1 if X or Y else 0) if exact else hypot(X, Y)
    if not 0 < length < inf:
        raise ValueError(f"a root [X:Y] needs finite numbers, not both 0; got [{X}:{Y}]")
    if exact:
        X, Y = Fraction(_tidy(X)), Fraction(_tidy(Y))
        p, q = X.numerator * Y.denominator, Y.numerator * X.denominator
        length = gcd(p, q) * (-1 if q < 0 or (q == 0 and p < 0) else 1)
        return Root(p // length, q // length)
    length = -length if Y < 0 or (Y == 0 and X < 0) else length
    return Root(float(X / length) + 0.0, float(Y / length) + 0.0)


def _sort_exactly(q1: Form, q2: Form) -> tuple[str, tuple[Root, ...]]:
    """Kind and common real roots of a pair of rational forms; none are listed for (0, 0)."""
    q1, q2 = tuple(map(_tidy, q1)), tuple(map(_tidy, q2))
    ab, ac, bc = minors(q1, q2)
    if ab or ac or bc:
        if resultant(q1, q2):
            return OFF, ()
        # (X², XY, Y²) is orthogonal to both forms, so it is their cross product (bc, −ac, ab).
        return SMOOTH, (_root(bc, -ac) if bc else _root(-ac, ab),)
    a, b, c = q1 if any(q1) else q2
    disc = Fraction(discriminant((a, b, c)))
    if disc < 0:
        return CLOSURE, ()
    if disc == 0:
        return BOUNDARY, (_root(-b, 2 * a),) if a else (_root(1, 0),) if c else ()
    root = Fraction(isqrt(disc.numerator), isqrt(disc.denominator))
    if root * root != disc:
        largest = max(abs(a), abs(b), abs(c))  # lest whole numbers leave the float range
        a, b, c = (Fraction(t) / largest for t in (a, b, c))
        root = sqrt(disc / largest**2)
    # The numerator in which nothing cancels, and the other root by the product of both, c/a.
    numerator = -b - root if b > 0 else -b + root
    return CROSSING, tuple(sorted((_root(numerator, 2 * a), _root(2 * c, numerator)), key=lambda r: r.angle))


def _need_weights(kind: np.ndarray) -> None:
    without = np.isin(kind, (CLOSURE, OFF))
    if without.any():
        which = f"{without.sum()} of {kind.size} are not, the first is" if kind.ndim else "this one is"
        raise ValueError(
            f"real weights need a function that is smooth, crossing or boundary; {which} "
            f"{str(kind[without][0])!r}: move along a ruling, or take the nearest_layer"
        )


# --- Floats -----------------------------------------------------------------------------------------


def _light(q: Form) -> np.ndarray:
    """Orthonormal u with √2·q(cos θ, sin θ) = u₀ + u₁ cos 2θ + u₂ sin 2θ; disc = 2(u₁² + u₂² − u₀²)."""
    a, b, c = np.broadcast_arrays(*(np.asarray(t, dtype=float) for t in q))
    return np.stack([a + c, a - c, b], -1) / sqrt(2)


def _light_pair(q1: Form, q2: Form) -> np.ndarray:
    """Both forms in these coordinates, shape (…, 2, 3)."""
    pair = np.stack(np.broadcast_arrays(_light(q1), _light(q2)), -2)
    if not np.isfinite(pair).all():
        raise ValueError("forms need finite coefficients; some overflowed or are undefined")
    return pair


def _sort(q1: Form, q2: Form, tol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kind, angles 2θ of the common roots (…, 2), padded with nan, and relative distance from the layers."""
    if not 0 < tol < 1:
        raise ValueError(f"tol is a relative error between 0 and 1; got {tol!r}")
    pair = _light_pair(q1, q2)
    size = np.abs(pair).max((-2, -1))
    zero = size == 0
    pair = pair / np.where(zero, 1.0, size)[..., None, None]
    sigma, right = np.linalg.svd(pair, full_matrices=False)[1:]
    proportional = sigma[..., 1] <= tol * sigma[..., 0]
    nearest, distance = _nearest(pair)
    distance = distance / np.where(zero, 1.0, np.linalg.norm(pair, axis=(-2, -1)))

    u0, u1, u2 = np.moveaxis(right[..., 0, :], -1, 0)  # the common form, of size 1
    radius, centre = np.hypot(u1, u2), np.arctan2(u2, u1)
    disc = radius**2 - u0**2
    common = np.select([zero | (np.abs(disc) <= tol), disc > 0], [BOUNDARY, CROSSING], CLOSURE)
    kind = np.where(proportional, common, np.where(distance <= tol, SMOOTH, OFF))

    half = np.arccos(np.clip(np.divide(-u0, radius, out=np.zeros_like(u0), where=radius > 0), -1, 1))
    one, other, double = map(_turn, (centre - half, centre + half, centre + np.where(u0 > 0, pi, 0.0)))
    cases = [kind == CROSSING, (kind == BOUNDARY) & ~zero, kind == SMOOTH]
    first = np.select(cases, [np.minimum(one, other), double, nearest], np.nan)
    return kind, np.stack([first, np.where(cases[0], np.maximum(one, other), np.nan)], -1), distance


def _nearest(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The φ = 2θ at which |(q₁, q₂)(cos θ, sin θ)| is least, and this least value.

    With G the Gram matrix its square is ½(1, c, s)G(1, c, s)ᵀ, whose critical points are zeros of a
    quartic in e^{iφ}. Newton's method improves them, as those close together come out badly.
    """
    G = np.swapaxes(pair, -1, -2) @ pair
    one = G[..., 0, 2] + 1j * G[..., 0, 1]
    two = G[..., 1, 2] - 0.5j * (G[..., 2, 2] - G[..., 1, 1])
    size = np.abs(one) + np.abs(two)
    # A leading coefficient that is nearly 0 is moved off it; what this changes Newton's method undoes.
    two = np.where(np.abs(two) > 1e-10 * size, two, np.where(size > 0, 1e-10 * size, 1.0))
    companion = np.zeros((*two.shape, 4, 4), dtype=complex)
    companion[..., 0, :] = np.stack([-one, 0 * one, -one.conj(), -two.conj()], -1) / two[..., None]
    companion[..., [1, 2, 3], [0, 1, 2]] = 1
    phi = np.angle(np.linalg.eigvals(companion))
    u0, u1, u2 = np.moveaxis(pair[..., None] / sqrt(2), -2, 0)  # each (…, 2, 1), beside (…, 1, 4) angles

    def value(phi: np.ndarray) -> np.ndarray:
        return u0 + u1 * np.cos(phi)[..., None, :] + u2 * np.sin(phi)[..., None, :]

    least = np.linalg.norm(value(phi), axis=-2)
    for _ in range(4):
        q = value(phi)
        slope = value(phi + pi / 2) - u0
        gradient, curvature = (q * slope).sum(-2), np.abs((slope**2 + q * (u0 - q)).sum(-2))
        moved = phi - np.divide(gradient, curvature, out=np.zeros_like(phi), where=curvature > 0)
        lower = np.linalg.norm(value(moved), axis=-2)
        phi, least = np.where(lower < least, moved, phi), np.minimum(lower, least)
    best = least.argmin(-1)[..., None]
    phi, least = (np.take_along_axis(t, best, -1)[..., 0] for t in (phi, least))
    return _turn(phi), least


def _turn(phi: np.ndarray) -> np.ndarray:
    """An angle from 0 up to 2π; what lies less than the rounding below 2π is 0."""
    phi = np.mod(phi, 2 * pi)
    return np.where(2 * pi - phi < _ROUNDING, 0.0, phi)


# --- Lines and curves -------------------------------------------------------------------------------


def _line(e1: np.ndarray, e2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The point nearest to the origin, and the direction, of two planes n·p + e₀ = 0; nan where parallel."""
    (n1, h1), (n2, h2) = ((e[..., :3], -e[..., 3:]) for e in (e1, e2))
    u = np.cross(n1, n2)
    point, square = h1 * np.cross(n2, u) + h2 * np.cross(u, n1), (u * u).sum(-1, keepdims=True)
    if u.dtype == object:
        return np.array([_tidy(Fraction(t) / square[0]) for t in point], dtype=object), u
    lengths = (n1 * n1).sum(-1, keepdims=True) * (n2 * n2).sum(-1, keepdims=True)
    square = np.where(square > _ROUNDING**2 * lengths, square, np.nan)
    return point / square, u / np.sqrt(square)


def _within(p: np.ndarray, d: np.ndarray, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """The t with |p + t·d| ≤ radius, from and to: nan if there are none, ±∞ if all."""
    if radius == inf:
        return np.full(d.shape[:-1], -inf), np.full(d.shape[:-1], inf)
    dd, pd, pp = (d * d).sum(-1), (p * d).sum(-1), (p * p).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle, half = -pd / dd, np.sqrt(pd * pd - dd * (pp - radius**2)) / dd
    everywhere = np.where(pp <= radius**2, inf, np.nan)
    return np.where(dd == 0, -everywhere, middle - half), np.where(dd == 0, everywhere, middle + half)


def _cosines(lo: float, hi: float, count: int) -> np.ndarray:
    """Numbers from lo to hi, denser towards both ends, where curves run off quickly."""
    found = lo + (hi - lo) * (1 - np.cos(np.linspace(0, pi, count))) / 2
    found[-1] = hi  # rounding may have missed it
    return found


def _runs(
    hit: Callable[[np.ndarray], np.ndarray], lo: float, hi: float, closed: bool, samples: int = 1440
) -> list[tuple[float, float]]:
    """The intervals of [lo, hi] on which `hit` holds, their inner ends refined.

    If it is `closed`, hi is the same place as lo, and an interval may run past hi.
    """
    t = np.linspace(lo, hi, samples + 1) if closed else _cosines(lo, hi, samples + 1)
    hits = hit(t)
    if hits.all():
        return [(lo, hi)]
    if closed:  # start at a miss
        k = int(hits.argmin())
        t, hits = np.append(t[k:-1], t[: k + 1] + hi - lo), np.append(hits[k:-1], hits[: k + 1])

    def edge(inside: float, outside: float) -> float:
        for _ in range(11):  # 32¹¹ = 2⁵⁵
            between = np.linspace(inside, outside, 33)
            last = int((~hit(between[1:-1])).argmax()) if not hit(between[1:-1]).all() else 31
            inside, outside = between[last], between[last + 1]
        return inside

    found = []
    for run in np.split(np.arange(len(t)), np.flatnonzero(np.diff(hits)) + 1):
        if hits[run[0]]:
            start = t[0] if run[0] == 0 else edge(t[run[0]], t[run[0] - 1])
            stop = t[-1] if run[-1] == len(t) - 1 else edge(t[run[-1]], t[run[-1] + 1])
            found.append((float(start), float(stop)))
    return found


def _evenly(curve: Callable[[np.ndarray], np.ndarray], t: np.ndarray, count: int) -> np.ndarray:
    """Parameters from t[0] to t[−1] between which the curve moves on by equal lengths."""
    moved = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(curve(t), axis=0), axis=-1)))
    return np.interp(np.linspace(0, moved[-1], count), moved, t)


# --- Binary forms Σ f_i u^{n−i} v^i, each as the polynomial Σ f_i tⁱ and its degree n -----------------


def _polynomial(*coefficients: Number) -> "fmpq_poly":
    import flint  # here: it would take a quarter of the time that importing neuroviz takes

    numbers = [Fraction(c) for c in coefficients]
    return flint.fmpq_poly([flint.fmpq(c.numerator, c.denominator) for c in numbers])


def _fractions(form: "fmpq_poly") -> list[Fraction]:
    return [Fraction(int(c.p), int(c.q)) for c in form.coeffs()] or [Fraction(0)]


def _cross(m: list[list["fmpq_poly"]]) -> list["fmpq_poly"]:
    """The vector of signed 3 × 3 minors of a 3 × 4 matrix, which all its rows are orthogonal to."""

    def determinant(i: int, j: int, k: int) -> "fmpq_poly":
        a, b, c = ([row[n] for n in (i, j, k)] for row in m)
        return (
            a[0] * (b[1] * c[2] - b[2] * c[1])
            + a[1] * (b[2] * c[0] - b[0] * c[2])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
        )

    return [determinant(1, 2, 3), -determinant(0, 2, 3), determinant(0, 1, 3), -determinant(0, 1, 2)]


def _common_factor(forms: list["fmpq_poly"], degree: int) -> tuple["fmpq_poly", int]:
    """The greatest common divisor of forms of one degree that are not all 0, and its degree."""
    common = forms[0] * 0
    for form in forms:
        common = common.gcd(form)
    return common, common.degree() + degree - max(form.degree() for form in forms)


def _common_form(pairs: tuple[Pair, ...], k: int, point: list["fmpq_poly"]) -> list["fmpq_poly"]:
    """The coefficients of q_k along a curve (x : y : z : 1) of polynomials."""
    return [
        sum((p * _polynomial(pair[k][j]) for pair, p in zip(pairs, point, strict=True)), point[0] * 0)
        for j in range(3)
    ]


def _zeros(form: "fmpq_poly", degree: int) -> list[tuple[Number, Number]]:
    """The real zeros [u:v], each once; exact where they are rational with a small denominator. None of 0."""
    found: list[tuple[Number, Number]] = [(0, 1)] if 0 <= form.degree() < degree else []
    for t, _ in form.complex_roots() if form.degree() > 0 else []:
        if t.imag == 0:  # isolated by ball arithmetic, so this is no question of rounding
            near = Fraction(float(t.real)).limit_denominator(10_000)
            exact = form(_polynomial(near)) == 0
            angle = atan2(float(t.real), 1.0)
            found.append((near.denominator, near.numerator) if exact else (cos(angle), sin(angle)))
    return found


class _Branch:
    """A rational curve [u:v] ↦ (x : y : z : 1), and the discriminant of the form common to q₁ and q₂ on it.

    `rounding` is the relative error of the coefficients, 0 where they are exact.
    """

    def __init__(
        self, point: list["fmpq_poly"], degree: int, q: list["fmpq_poly"], q_degree: int, rounding: float = 0
    ) -> None:
        self._w, self._degree, self._rounding = point[3], degree, rounding
        rows = [_fractions(form) for form in point]
        smallest = rounding * max(abs(c) for form in q for c in _fractions(form)) ** 2
        disc = _fractions(q[1] ** 2 - 4 * q[0] * q[2])
        self._disc = _polynomial(*(0 if abs(c) <= smallest else c for c in disc))
        self._disc_degree = 2 * q_degree
        self._exact = [row + [0] * (degree + 1 - len(row)) for row in rows]
        largest = max(abs(c) for row in self._exact for c in row)
        self._floats = np.array([[float(c / largest) for c in row] for row in self._exact])

    def pinches(self) -> list[tuple[Number, Number]]:
        """Where the common form is a square."""
        if self._rounding and self._disc:  # of degree 2, and rounding may have split a double zero
            a, b, c = (*_fractions(self._disc), 0, 0)[:3]
            if abs(b * b - 4 * a * c) <= self._rounding * (abs(a) + abs(b) + abs(c)) ** 2:
                return [(-b, 2 * a) if abs(a) > abs(c) else (2 * c, -b)]
        return _zeros(self._disc, self._disc_degree)

    def poles(self) -> list[tuple[Number, Number]]:
        """Where the curve goes to infinity."""
        return _zeros(self._w, self._degree)

    def kind(self, phi: float) -> str:
        """The kind at [cos φ : sin φ]: the sign of the discriminant."""
        u, v, n = cos(phi), sin(phi), self._disc_degree
        disc = sum(float(c) * u ** (n - i) * v**i for i, c in enumerate(_fractions(self._disc)))
        return CROSSING if disc > 0 else CLOSURE if disc < 0 else BOUNDARY

    def point(self, u: Number, v: Number) -> tuple[float, float, float] | None:
        """The point at [u:v], or None at infinity."""
        n = self._degree
        *p, w = (sum(c * u ** (n - i) * v**i for i, c in enumerate(row)) for row in self._exact)
        if abs(w) <= (0 if _is_exact(u, v) else _ROUNDING * max(map(abs, p))):
            return None
        return tuple(float(t / w) for t in p)

    def at(self, phi: np.ndarray) -> np.ndarray:
        """The points at [cos φ : sin φ], shape (n, 3); not finite at a pole."""
        powers = [np.cos(phi) ** (self._degree - i) * np.sin(phi) ** i for i in range(self._degree + 1)]
        *p, w = self._floats @ np.array(powers)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.stack(p, -1) / w[:, None] + 0.0

    def near(self, here: np.ndarray) -> np.ndarray:
        """The point nearest to a given one: a critical point of the squared distance."""
        *p, w = (np.polynomial.Polynomial(row) for row in self._floats)
        square = sum((t - h * w) ** 2 for t, h in zip(p, here, strict=True))
        critical = (square.deriv() * w - 2 * square * w.deriv()).trim(1e-14)
        # The real part of any zero is a point of the curve too, and can do no harm.
        points = self.at(np.append(np.arctan(critical.roots().real), pi / 2))
        points = points[np.isfinite(points).all(-1)]
        return points[np.linalg.norm(points - here, axis=-1).argmin()]


SLICES = {name: make() for name, make in _FAMILIES.items()}
"""The slices of "Figure 1. The surface" by name; `SLICES["S3"].at(alpha=2)` for other parameters."""
