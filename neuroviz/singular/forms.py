"""Pairs of real binary quadratic forms: what one lightning layer with d = 2, d′ = 1
computes.

The layer (A, V) is known by the pair q_k = ℓ_k·v, where ℓ_k is column k of A and v the
row V, as linear forms in (X, Y) (Prop. A.5). So a function is a point of a
6-dimensional space, and

    layers            pairs with a common real linear factor               (dimension 5)
    Zariski closure   pairs with any common factor: the resultant is 0     (Cor. A.6)
    singular points   proportional pairs                                   (Thm. 3.4)

A form aX² + bXY + cY² is a triple (a, b, c); its size is √(a² + b²/2 + c²), which no
rotation of (X, Y) changes. Everything is exact for int and Fraction, and else takes
arrays of any shape. docs/mathematics/singular_points.md: "Theorem 3.4", "Figure 1";
docs/mathematics/one_lightning_layer.md: "Lemma A.3".
"""

from fractions import Fraction
from math import acos, atan2, cos, hypot, inf, isqrt, pi, sin, sqrt
from typing import NamedTuple

import numpy as np

from neuroviz.attention.layer import Pair as Weights

Number = int | Fraction | float | np.ndarray
Form = tuple[Number, Number, Number]
Pair = tuple[Form, Form]

SMOOTH = "smooth"
CROSSING = "crossing"
BOUNDARY = "boundary"
CLOSURE = "closure only"
OFF = "off"
KINDS = (SMOOTH, CROSSING, BOUNDARY, CLOSURE, OFF)
TOLERANCE = 1e-9
"""How far, relative to their size, float coefficients may be from what is said of
them."""
ROUNDING = 1e-12
"""What is smaller, relative to what it is made of, is 0 up to rounding."""


class Root(NamedTuple):
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


class Nearest(NamedTuple):
    """The root [X:Y] (a unit vector) of the layer nearest to a pair, and how far that
    layer is."""

    X: np.ndarray
    Y: np.ndarray
    distance: np.ndarray


class Facts(NamedTuple):
    """What Theorem 3.2, Lemma A.3 and Theorem 3.4 say about a function.

    Attributes:
        kind: one of `KINDS`.
        rank_a, rank_v: the ranks of its weights A, V; None where it has no real
            weights.
        kernel: dimension of the kernel of the differential in (A, V) at its weights;
            None likewise.
    """

    kind: str
    rank_a: int | None = None
    rank_v: int | None = None
    kernel: int | None = None


# rank A, rank V, kernel: forms that are not proportional need independent ℓ₁, ℓ₂; the
# kernel is 1, and d = 2 at the boundary (Lemma A.3).
_FACTS = {
    SMOOTH: (2, 1, 1),
    CROSSING: (1, 1, 1),
    BOUNDARY: (1, 1, 2),
}
_ZERO_FACTS = Facts(BOUNDARY, 0, 0, 6)  # at A = 0, V = 0


def minors(q1: Form, q2: Form) -> Form:
    """a₁b₂ − a₂b₁, a₁c₂ − a₂c₁, b₁c₂ − b₂c₁: all 0 exactly if the forms are
    proportional.

    >>> minors((1, 0, 1), (0, 1, 0))
    (1, 0, -1)
    """
    (a1, b1, c1), (a2, b2, c2) = q1, q2
    return a1 * b2 - a2 * b1, a1 * c2 - a2 * c1, b1 * c2 - b2 * c1


def resultant(q1: Form, q2: Form) -> Number:
    """R = (a₁c₂ − a₂c₁)² − (a₁b₂ − a₂b₁)(b₁c₂ − b₂c₁): 0 exactly if the forms have a
    common factor.

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


def kind_of(q1: Form, q2: Form, tol: float = TOLERANCE) -> str | np.ndarray:
    """Where a pair of forms lies: "smooth", "crossing", "boundary", "closure only" or
    "off" (Thm. 3.4).

        not proportional   smooth if a real root is common, else off
        proportional       with the common form: crossing if it has two real roots,
                           boundary if a double one, closure only if none; (0, 0) is a
                           boundary point, v·0ᵀ

    Int and Fraction are decided exactly, floats up to a relative error `tol`. Arrays of
    coefficients are broadcast, and the answer is then an array of words.

    Raises:
        ValueError: if a coefficient is not finite, or tol is not between 0 and 1.

    >>> kind_of((1, 0, -1), (1, 2, 1))
    'smooth'
    >>> kind_of((1, 0, 1), (2, 0, 2))
    'closure only'
    >>> kind_of((1, 2, 1), (0, 0, 0))
    'boundary'
    """
    if is_exact(*q1, *q2):
        return _sort_exactly(q1, q2)[0]
    kind = _sort(q1, q2, tol)[0]
    return kind if kind.ndim else str(kind)


def common_roots(q1: Form, q2: Form, tol: float = TOLERANCE) -> tuple[Root, ...]:
    """The real roots that two forms share, by their angle: one, two (proportional
    forms) or none.

    The roots of one form q are those of (q, 0), a double one once.

    Raises:
        ValueError: as in `kind_of`, and for the pair (0, 0).

    >>> common_roots((1, 0, -1), (1, 2, 1)), common_roots((1, 0, -1), (2, 0, -2))
    ((Root(X=-1, Y=1),), (Root(X=1, Y=1), Root(X=-1, Y=1)))
    """
    if not any(q1) and not any(q2):
        raise ValueError(
            "roots need a form that is not 0; every [X:Y] is a root of 0: take another"
            " point"
        )
    if is_exact(*q1, *q2):
        return _sort_exactly(q1, q2)[1]
    kind, nearest, (u0, u1, u2) = _sort(q1, q2, tol)
    # The common form is u₀ + |(u₁, u₂)| cos(2θ − centre), up to a factor.
    centre = atan2(u2, u1)
    half = acos(np.clip(-u0 / (hypot(u1, u2) or 1.0), -1, 1))
    # At a double root the cosine is −1 if u₀ > 0, and 1 if u₀ < 0; acos would turn the
    # rounding into its square root.
    double = centre + (pi if u0 > 0 else 0.0)
    angles = {
        SMOOTH: [nearest],
        CROSSING: [centre - half, centre + half],
        BOUNDARY: [double],
    }
    turned = sorted(float(_turn(angle)) / 2 for angle in angles.get(str(kind), []))
    return tuple(make_root(cos(theta), sin(theta)) for theta in turned)


def nearest_layer(q1: Form, q2: Form) -> Nearest:
    """How far a pair of forms is from the nearest layer, `layer_with_root(q1, q2, X,
    Y)`, and its root.

        distance = min over unit (X, Y) of √(q₁² + q₂²)(X, Y)     that to the pairs with
                                                                  root [X:Y]

    >>> round(float(nearest_layer((1, 0, 1), (0, 0, 0)).distance), 12)
    1.0
    """
    phi, distance = _nearest(_light(q1, q2))
    return Nearest(np.cos(phi / 2), np.sin(phi / 2), distance)


def layer_with_root(q1: Form, q2: Form, X: Number, Y: Number) -> Weights:
    """V = (Y, −X), which vanishes at the root, and the A whose layer is nearest to the
    pair.

    At a common root [X:Y] the layer is the pair; exactly so for int and Fraction.
    """
    exact = is_exact(*q1, *q2, X, Y)
    squared = (X * X + Y * Y) ** 2
    columns = []
    for a, b, c in (q1, q2):
        # With the linear forms w = (X, Y), v = (Y, −X), of length n = √(X² + Y²) both,
        #     n⁴ q = q(X, Y) w² + mixed·wv + across·v².
        # Layers with this root are the multiples of v, and w² is orthogonal to those:
        # the nearest one has ℓ = (mixed·w + across·v)/n⁴.
        mixed = 2 * (a - c) * X * Y + b * (Y * Y - X * X)
        across = a * Y * Y - b * X * Y + c * X * X
        parts = mixed * X + across * Y, mixed * Y - across * X
        columns.append(
            [
                tidy(Fraction(part) / squared) if exact else part / squared
                for part in parts
            ]
        )
    return Weights(
        _matrix(zip(*columns, strict=True), exact), _matrix([[Y, -X]], exact)
    )


def preimages_of(q1: Form, q2: Form) -> tuple[Weights, ...]:
    """All real weights of one function up to rescaling: 1, or 2 at a crossing (the swap
    of Thm. 3.2).

    The zero function has infinitely many, of which A = 0, V = 0 stands for all.

    Raises:
        ValueError: if the pair is "off" or "closure only": then it has no real weights.

    >>> [V.tolist() for A, V in preimages_of((1, 0, -1), (2, 0, -2))]
    [[[1, -1]], [[1, 1]]]
    """
    if (kind := kind_of(q1, q2)) in (CLOSURE, OFF):
        needed = "real weights need a function that is smooth, crossing or boundary"
        raise ValueError(
            f"{needed}; this one is {kind!r}: move along a ruling, or take the"
            " nearest_layer"
        )
    if not any(q1) and not any(q2):
        return (
            Weights(np.zeros((2, 2), dtype=object), np.zeros((1, 2), dtype=object)),
        )
    return tuple(layer_with_root(q1, q2, *root) for root in common_roots(q1, q2))


def facts_of(q1: Form, q2: Form) -> Facts:
    """Ranks and kernel of one function, by Thm. 3.2, Lemma A.3 and Thm. 3.4.

    >>> facts_of((1, 2, 1), (0, 0, 0))
    Facts(kind='boundary', rank_a=1, rank_v=1, kernel=2)
    """
    kind = kind_of(q1, q2)
    return Facts(kind, *_FACTS.get(kind, ())) if any(q1) or any(q2) else _ZERO_FACTS


def forms_of(A: np.ndarray, V: np.ndarray) -> Pair:
    """The pair q_k = ℓ_k·v of a layer, ℓ_k being column k of A and v the row V (Prop.
    A.5).

    >>> forms_of([[1, 1], [-1, 1]], [[1, 1]])
    ((1, 0, -1), (1, 2, 1))
    """
    A, V = (
        M if isinstance(M, np.ndarray) else np.asarray(M, dtype=object) for M in (A, V)
    )
    if A.shape[-2:] != (2, 2) or V.shape[-2:] != (1, 2):
        raise ValueError(
            f"d = 2, d′ = 1 needs A of shape (2, 2), V of (1, 2); got {A.shape},"
            f" {V.shape}"
        )
    v = V[..., 0, 0]
    w = V[..., 0, 1]
    return tuple(
        (p * v, p * w + r * v, r * w)
        for p, r in ((A[..., 0, k], A[..., 1, k]) for k in (0, 1))
    )


# --- Exact numbers --------------------------------------------------------------------


def is_exact(*numbers: Number) -> bool:
    """Whether all of them are int or Fraction."""
    return all(isinstance(t, (int, Fraction, np.integer)) for t in numbers)


def tidy(t: Number) -> Number:
    """The same number, as a Python int where it is one."""
    if isinstance(t, Fraction):
        return t.numerator if t.denominator == 1 else t
    return int(t) if isinstance(t, np.integer) else t


def _matrix(rows, exact: bool) -> np.ndarray:
    """Rows of numbers, or of arrays: shape (…, rows, columns)."""
    rows = [
        [np.asarray(entry, dtype=object if exact else float) for entry in row]
        for row in rows
    ]
    entries = np.stack(
        np.broadcast_arrays(*(entry for row in rows for entry in row)), -1
    )
    return entries.reshape(*entries.shape[:-1], len(rows), -1)


def make_root(X: Number, Y: Number) -> Root:
    """The root [X:Y], as `Root` writes it.

    Raises:
        ValueError: if X, Y are both 0, or not finite.
    """
    if is_exact(X, Y) and (X or Y):
        if not Y:
            return Root(1, 0)
        return Root(*(Fraction(tidy(X)) / tidy(Y)).as_integer_ratio())
    length = hypot(X, Y)
    if not 0 < length < inf:
        raise ValueError(
            f"a root [X:Y] needs finite numbers, not both 0; got [{X}:{Y}]"
        )
    length = -length if Y < 0 or (Y == 0 and X < 0) else length
    # + 0.0 makes 0 of −0.
    return Root(float(X / length) + 0.0, float(Y / length) + 0.0)


def _sort_exactly(q1: Form, q2: Form) -> tuple[str, tuple[Root, ...]]:
    """Kind and common real roots of a pair of rational forms; none are listed for (0,
    0)."""
    q1 = tuple(map(tidy, q1))
    q2 = tuple(map(tidy, q2))
    ab, ac, bc = minors(q1, q2)
    if ab or ac or bc:
        if resultant(q1, q2):
            return OFF, ()
        # (X², XY, Y²) is orthogonal to both forms: a multiple of their cross product
        # (bc, −ac, ab). So [X:Y] = [X²:XY], or [XY:Y²] where X = 0.
        root = make_root(bc, -ac) if bc else make_root(-ac, ab)
        return SMOOTH, (root,)
    a, b, c = q1 if any(q1) else q2
    disc = Fraction(discriminant((a, b, c)))
    if disc < 0:
        return CLOSURE, ()
    if disc == 0 and a:
        return BOUNDARY, (make_root(-b, 2 * a),)
    if disc == 0 and c:  # a = 0, so b² = 4ac = 0: the form is cY²
        return BOUNDARY, (make_root(1, 0),)
    if disc == 0:  # every [X:Y] is a root
        return BOUNDARY, ()
    # A fraction in lowest terms is a square if its numerator and denominator are.
    root = Fraction(isqrt(disc.numerator), isqrt(disc.denominator))
    if root * root != disc:
        # large whole numbers would leave the float range
        largest = max(abs(a), abs(b), abs(c))
        a, b, c = (Fraction(t) / largest for t in (a, b, c))
        root = sqrt(disc / largest**2)
    # Nothing cancels in this numerator; the product c/a of both roots gives the other
    # one.
    numerator = -b - root if b > 0 else -b + root
    roots = make_root(numerator, 2 * a), make_root(2 * c, numerator)
    return CROSSING, tuple(sorted(roots, key=lambda root: root.angle))


# --- Floats ---------------------------------------------------------------------------


def _light(q1: Form, q2: Form) -> np.ndarray:
    """Orthonormal u of both forms, shape (…, 2, 3): √2·q(cos θ, sin θ) = u₀ + u₁ cos 2θ
    + u₂ sin 2θ.

    So the size of a form is |u|, and its discriminant is 2(u₁² + u₂² − u₀²): the forms
    with a double root are a light cone.
    """
    a, b, c = np.moveaxis(_matrix((q1, q2), exact=False), -1, 0)
    pair = np.stack([a + c, a - c, b], -1) / sqrt(2)
    if not np.isfinite(pair).all():
        raise ValueError(
            "forms need finite coefficients; some overflowed or are undefined"
        )
    return pair


def _sort(q1: Form, q2: Form, tol: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kind, angle 2θ of the root of the nearest layer, and `_light` of what
    proportional forms share."""
    if not 0 < tol < 1:
        raise ValueError(f"tol is a relative error between 0 and 1; got {tol!r}")
    pair = _light(q1, q2)
    size = np.abs(pair).max((-2, -1))
    zero = size == 0
    # Squares of the coefficients are taken below: at this size they stay in range.
    pair = pair / np.where(zero, 1.0, size)[..., None, None]
    sigma, right = np.linalg.svd(pair, full_matrices=False)[1:]
    proportional = sigma[..., 1] <= tol * sigma[..., 0]
    nearest, distance = _nearest(pair)
    distance = distance / np.where(zero, 1.0, np.linalg.norm(pair, axis=(-2, -1)))

    # Proportional forms are a column λ times a row q: the leading right singular vector
    # is q, of size 1.
    common = np.moveaxis(right[..., 0, :], -1, 0)
    disc = common[1] ** 2 + common[2] ** 2 - common[0] ** 2
    kind = np.select(
        [zero | (np.abs(disc) <= tol), disc > 0], [BOUNDARY, CROSSING], CLOSURE
    )
    return (
        np.where(proportional, kind, np.where(distance <= tol, SMOOTH, OFF)),
        nearest,
        common,
    )


def _nearest(pair: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The φ = 2θ at which |(q₁, q₂)(cos θ, sin θ)| is least, and this least value.

    With G the Gram matrix its square is ½(1, c, s)G(1, c, s)ᵀ, whose critical points
    are zeros of a quartic in e^{iφ}. Newton's method improves them, as those close
    together come out badly.
    """
    G = np.swapaxes(pair, -1, -2) @ pair
    # With z = e^{iφ} the derivative of this square by φ, times 2z², is
    #     two·z⁴ + one·z³ + one*·z + two*,   * the complex conjugate.
    one = G[..., 0, 2] + 1j * G[..., 0, 1]
    two = G[..., 1, 2] - 0.5j * (G[..., 2, 2] - G[..., 1, 1])
    size = np.abs(one) + np.abs(two)
    # A leading coefficient near 0 is moved away from 0; Newton's method undoes the
    # change.
    floor = ROUNDING * size
    # Where all coefficients are 0, every angle is as good as another.
    two = np.where(np.abs(two) > floor, two, np.where(size > 0, floor, 1.0))
    companion = np.zeros((*two.shape, 4, 4), dtype=complex)
    companion[..., 0, :] = (
        np.stack([-one, 0 * one, -one.conj(), -two.conj()], -1) / two[..., None]
    )
    companion[..., [1, 2, 3], [0, 1, 2]] = 1
    # A zero off the unit circle is no critical point; its angle does no harm, as the
    # least value counts.
    phi = np.angle(np.linalg.eigvals(companion))
    # Each has shape (…, 2, 1): both forms, beside (…, 1, 4) for the four angles.
    u0, u1, u2 = np.moveaxis(pair[..., None] / sqrt(2), -2, 0)

    def value(phi: np.ndarray) -> np.ndarray:
        """(q₁, q₂)(cos θ, sin θ)."""
        return u0 + u1 * np.cos(phi)[..., None, :] + u2 * np.sin(phi)[..., None, :]

    least = np.linalg.norm(value(phi), axis=-2)
    for _ in range(4):
        q = value(phi)
        slope = value(phi + pi / 2) - u0  # q′ by φ; and q″ = u₀ − q
        gradient = (q * slope).sum(-2)
        # The absolute value sends a step downhill from a maximum, too.
        curvature = np.abs((slope**2 + q * (u0 - q)).sum(-2))
        moved = phi - np.divide(
            gradient, curvature, out=np.zeros_like(phi), where=curvature > 0
        )
        lower = np.linalg.norm(value(moved), axis=-2)
        phi = np.where(lower < least, moved, phi)
        least = np.minimum(lower, least)
    best = least.argmin(-1)[..., None]
    phi, least = (np.take_along_axis(t, best, -1)[..., 0] for t in (phi, least))
    return _turn(phi), least


def _turn(phi: np.ndarray) -> np.ndarray:
    """An angle from 0 up to 2π; what lies less than the rounding below 2π is 0."""
    phi = np.mod(phi, 2 * pi)
    return np.where(2 * pi - phi < ROUNDING, 0.0, phi)
