"""Matrices of bounded rank, and the pairs (Q, K) that factor them.

The d × d matrices of rank at most a are a determinantal variety: the minors of size a +
1 vanish. They are the products A = KᵀQ of a × d matrices, and Lemma 3.1 says how many
products each of them is.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import atan2, copysign, cos, degrees, hypot, pi, sin, sqrt

import numpy as np

from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, Field, PrimeField
from neuroviz.rank.floats import TOLERANCE, numerical_rank

Point = tuple[float, float, float]


def factor(
    A: np.ndarray, a: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Q and K, a × d with a ≥ d, whose product KᵀQ is a given d × d matrix A; K has
    orthonormal columns.

    Where a > d, Q has a random part that K does not see, so that its rank is at least
    min(a − d, d).

    Raises:
        ValueError: if a < d; not every A is a product then.
    """
    d = len(A)
    if a < d:
        raise ValueError(
            f"a product KᵀQ with a = {a} < d = {d} has rank at most a; take a ≥ d"
        )
    K, _ = np.linalg.qr(rng.standard_normal((a, d)))
    if a == d:
        return K @ A, K
    unseen = rng.standard_normal((a, d))
    return K @ A + unseen - K @ (K.T @ unseen), K


def product_jacobian(over: Field, Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    """The derivative of (Q, K) ↦ KᵀQ, that is (Q̇, K̇) ↦ KᵀQ̇ + K̇ᵀQ.

    Returns:
        Shape (d², 2ad): a row for each entry of A, a column for each entry of Q, then
        of K.
    """
    a, d = Q.shape
    by_K = np.einsum("is,rj->ijrs", np.eye(d), Q).reshape(d * d, a * d)
    return over.reduce(np.hstack([np.kron(K.T, np.eye(d)), by_K]))


def off_orbit_direction(
    low: np.ndarray, other: np.ndarray, toward: np.ndarray
) -> np.ndarray:
    """The D of length 1 nearest to `toward` with lowᵀ D = 0 and other Dᵀ = 0: added to
    `other`, it leaves the product alone, and no C does the same.

    The first equation says that the product stays. The second one says that the rows of
    D are not in the span of the rows of `other`, to which any C keeps. All three have
    shape (a, d). The answer is 0 where the equations leave nothing else, as for full
    rank of `low` or of a square `other`.

    >>> low = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    >>> other = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    >>> off_orbit_direction(low, other, np.ones((2, 3)))
    array([[0., 0., 0.],
           [0., 0., 1.]])
    """
    U, _, _ = np.linalg.svd(low)
    _, _, Vt = np.linalg.svd(other)
    left = U[:, numerical_rank(low) :]
    right = Vt[numerical_rank(other) :]
    D = left @ (left.T @ toward @ right.T) @ right
    length = np.linalg.norm(D)
    return D / length if length > TOLERANCE else np.zeros_like(D)


@dataclass(frozen=True)
class ProductCount:
    """How many dimensions (Q, K) ↦ KᵀQ reaches, and how many it loses; measured.

    Attributes:
        d, a: Q and K are a × d.
        dimension: generic rank of the derivative: the dimension of the matrices of rank
            ≤ a.
        fiber: 2ad − dimension: of a generic fibre, the pairs with one and the same
            product.
        prime, error_bound: as in `measure.Measurement`.
    """

    d: int
    a: int
    dimension: int
    fiber: int
    prime: int
    error_bound: float


@lru_cache(maxsize=256)
def measure_product(
    d: int, a: int, seed: int = 0, prime: int = DEFAULT_PRIME
) -> ProductCount:
    """Count the dimensions of {KᵀQ}, Q and K a × d, by the rank of the derivative at a
    random point of F_p.

    Raises:
        ValueError: if d or a is below 1, or p no odd prime below 2²³.

    >>> found = measure_product(3, 2)
    >>> found.dimension, found.fiber
    (8, 4)
    """
    if min(d, a) < 1:
        raise ValueError(
            f"Q and K need at least one row and one column; got d = {d}, a = {a}"
        )
    over = PrimeField(prime)
    rng = np.random.default_rng(seed)
    Q = over.random(rng, (a, d))
    K = over.random(rng, (a, d))
    J = product_jacobian(over, Q, K)
    rank = exact_rank(J, over)
    # A rank mod p is a lower bound of the generic one, so a full one is certain.
    error = 0.0
    if rank < min(J.shape):
        error = schwartz_zippel(found=rank, degree=1, p=prime)
    return ProductCount(d, a, rank, 2 * a * d - rank, prime, error)


# The smallest case, 2 × 2 and rank ≤ 1, in the three dimensions of the matrices of one
# trace.


def slice_matrix(trace: float, x: float, y: float, z: float) -> np.ndarray:
    """The 2 × 2 matrix of a given trace at (x, y, z); its determinant is trace²/4 − x²
    − y² + z².

        A = ( trace/2 + x     y + z
              y − z           trace/2 − x )

    So rank ≤ 1 means x² + y² = z² + trace²/4: a cone for trace 0, else a hyperboloid of
    one sheet.

    >>> slice_matrix(2.0, 3.0, 5.0, 1.0)
    array([[ 4.,  6.],
           [ 4., -2.]])
    """
    return np.array([[trace / 2 + x, y + z], [y - z, trace / 2 - x]])


def slice_coordinates(A: np.ndarray) -> tuple[float, float, float, float]:
    """The inverse of `slice_matrix`: trace, x, y, z of a 2 × 2 matrix.

    >>> slice_coordinates(np.array([[4.0, 6.0], [4.0, -2.0]])) == (2, 3, 5, 1)
    True
    """
    (p, q), (r, s) = A.tolist()
    return p + s, (p - s) / 2, (q + r) / 2, (q - r) / 2


def rank_one_point(trace: float, angle: float, height: float) -> Point:
    """(x, y, z) of the matrix of rank ≤ 1 at an angle (degrees) and a height z of the
    slice.

    >>> rank_one_point(0.0, 90.0, 0.5)[1:]
    (0.5, 0.5)
    """
    r = hypot(height, trace / 2)
    at = pi * angle / 180
    return r * cos(at), r * sin(at), height


def nearest_rank_one(trace: float, x: float, y: float, z: float) -> tuple[float, float]:
    """Angle and height of the matrix of rank ≤ 1 that is nearest to one in the slice.

    It lies at (x/(1+t), y/(1+t), z/(1−t)), with the one t between −1 and 1 that makes
    its determinant 0.
    """
    r = hypot(x, y)
    up = abs(z)
    low = -1.0
    high = 1.0
    for _ in range(50):
        t = (low + high) / 2
        if (r / (1 + t)) ** 2 > (up / (1 - t)) ** 2 + trace**2 / 4:
            low = t
        else:
            high = t
    if t < 1 - 1e-6:
        height = up / (1 - t)
    else:  # up is 0, and the equation of the surface gives the height
        height = sqrt(max((r / 2) ** 2 - trace**2 / 4, 0.0))
    return degrees(atan2(y, x)), copysign(height, z)


def rank_one_heads(
    trace: float, angle: float, height: float
) -> tuple[np.ndarray, np.ndarray]:
    """Q and K, both 1 × 2, whose product KᵀQ is the matrix at `rank_one_point`; K has
    length 1.

    Where that matrix is zero (trace 0, height 0) so is Q, and K could be anything.

    >>> Q, K = rank_one_heads(trace=1.0, angle=0.0, height=0.0)
    >>> K.T @ Q
    array([[1., 0.],
           [0., 0.]])
    """
    # K at (θ + δ)/2 and Q at (θ − δ)/2: the formulas for products of cos and sin give
    # the matrix above.
    theta = pi * angle / 180
    delta = atan2(-2 * height, trace)
    at_k = (theta + delta) / 2
    at_q = (theta - delta) / 2
    length = hypot(trace, 2 * height)
    Q = length * np.array([[cos(at_q), sin(at_q)]])
    K = np.array([[cos(at_k), sin(at_k)]])
    return Q, K


def ruling(
    trace: float, angle: float, height: float, family: str, reach: float
) -> tuple[Point, Point]:
    """The ends, at z = ±reach, of a straight line of rank ≤ 1 matrices through
    `rank_one_point`.

    Two lines go through each point but the tip of the cone: on "image" all matrices
    have the same image (K keeps its direction), on "kernel" the same kernel (Q does).
    On the cone, trace 0, the two are one line.
    """
    sign = {"image": 1, "kernel": -1}[family]
    waist = trace / 2
    turned = atan2(height, waist) if height or waist else pi / 2
    at = pi * angle / 180 - sign * turned

    def end(z: float) -> Point:
        return (
            waist * cos(at) - sign * z * sin(at),
            waist * sin(at) + sign * z * cos(at),
            z,
        )

    return end(-reach), end(reach)
