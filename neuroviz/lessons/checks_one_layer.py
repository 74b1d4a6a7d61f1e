"""Checks of the exercises about one head and one layer: notebooks 01, 02 and 03.

Each decides by computing what the task asks for. Floats count as equal up to a relative
error of 10⁻⁹.
"""

from fractions import Fraction
from itertools import combinations
from math import frexp

import numpy as np

from neuroviz.attention.layer import Pair, fiber_case, product_table, swapped
from neuroviz.factorization.determinantal import product_jacobian
from neuroviz.factorization.study import MAX_ENTRY
from neuroviz.kit.entries import typed
from neuroviz.lessons.exercise import checker, matrix
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank
from neuroviz.single_layer.walk import ALONG, MAX_WIDTH
from neuroviz.singular import forms
from neuroviz.singular.forms import BOUNDARY, CROSSING, Form, forms_of, kind_of
from neuroviz.singular.learning import nearest_is_singular
from neuroviz.singular.learning_facts import RANGES
from neuroviz.singular.learning_panel import LearningSetting

_EQUAL = 1e-9
_NEAREST = 1e-6  # the nearest layer is found by iteration

THIN = np.array([[1.0, 3.0, -2.0], [2.0, 6.0, -4.0]])
"""The queries of rank 1 of notebook 01."""

RANK_ONE = np.random.default_rng(1).standard_normal((4, 3))
"""u, k, v and h of notebook 02."""

NO_LAYER = np.array([(1.0, 0.0, 1.0), (1.0, 2.0, 1.0)])
"""The forms of no layer in the text of notebook 03."""


def _has_thin_queries(Q: object, K: object) -> bool:
    """Whether Q is a multiple of `THIN`. What the panel of notebook 01 shows is
    rounded, and a copy of it has full rank."""
    return _is_multiple(np.array(Q, dtype=float), THIN)


def _in_the_factors(Q: object, K: object) -> tuple[str, str] | None:
    """The panel of notebook 01, with these entries."""
    pair = {"Q": matrix("Q", Q, 2, 3), "K": matrix("K", K, 2, 3)}
    if max(np.abs(M).max() for M in pair.values()) > MAX_ENTRY:
        return None
    return "FactorizationExplorer", f"d=3;a=2;along=0;entries={typed(pair)}"


def _entries(*matrices: object) -> int:
    """How many entries are not 0."""
    return sum(np.count_nonzero(np.array(M, dtype=float)) for M in matrices)


_ENTRIES = ("entries other than 0", _entries)


@checker(shown=_has_thin_queries, panel=_in_the_factors, fewest=_ENTRIES)
def check_large_fiber(Q: object, K: object) -> str:
    """Whether KᵀQ ≠ 0, a = 2, d = 3, and more than a² = 4 directions in (Q, K) leave
    KᵀQ alone.

    The directions are counted: 12 less the rank of (Q̇, K̇) ↦ KᵀQ̇ + K̇ᵀQ, in floating
    point.

    >>> check_large_fiber([[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
    ✗ Not yet. 4 of 12 directions are silent, as many as in GL₂:
    Q has rank 2 and K has rank 2.
    """
    Q = _scaled("Q", matrix("Q", Q, 2, 3))
    K = _scaled("K", matrix("K", K, 2, 3))
    if not numerical_rank(K.T @ Q):
        raise ValueError("The product KᵀQ is 0; the task asks for another one.")
    directions = Q.size + K.size - numerical_rank(product_jacobian(Reals(), Q, K))
    ranks = f"Q has rank {numerical_rank(Q)} and K has rank {numerical_rank(K)}"
    if directions <= 4:
        raise ValueError(
            f"{directions} of 12 directions are silent, as many as in GL₂: {ranks}."
        )
    return f"{directions} of 12 directions are silent, more than the 4 of GL₂: {ranks}."


def _has_the_forms_of_the_page(A: object, V: object, A2: object, V2: object) -> bool:
    """Whether the answer is the swap of `RANK_ONE`, up to factors."""
    # A = u kᵀ, V = h vᵀ and A2 = v kᵀ, V2 = h uᵀ: each A settles its V, up to a factor.
    u, k, v, _ = RANK_ONE
    found = [np.array(M, dtype=float) for M in (A, A2)]
    if found[0].shape != (3, 3):
        return False
    pages = [np.outer(u, k), np.outer(v, k)]
    return any(all(map(_is_multiple, found, order)) for order in (pages, pages[::-1]))


def _beside_the_fiber(
    A: object, V: object, A2: object, V2: object
) -> tuple[str, str] | None:
    """The panel of notebook 02 that starts from (A, V), each divided by its length, and
    has walked to (A2, V2), or stands still where its walk does not come there."""
    A, V, A2, V2 = (matrix("a factor", M) for M in (A, V, A2, V2))
    if max(*A.shape, *V.shape) > MAX_WIDTH or not A.any() or not V.any():
        return None
    start = Pair(A / np.linalg.norm(A), V / np.linalg.norm(V))
    case = fiber_case(Reals(), start)
    preset = "generic" if case == "generic" else "rank-one"
    walk = _walk_to(start, case, A2 / np.linalg.norm(A), V2 / np.linalg.norm(V))
    entries = typed({"A": _below_one(A), "V": _below_one(V)})
    sizes = f"width={A.shape[1]};width_out={len(V)}"
    return "FiberExplorer", f"preset={preset};{sizes};{walk};entries={entries}"


def _walk_to(start: Pair, case: str, A: np.ndarray, V: np.ndarray) -> str:
    """How the panel walks from a start to (A, V)."""
    # On each branch A has length 1, so ⟨branch.A, A⟩ is c where A = c branch.A.
    branches = {"no": start}
    if case != "generic":
        branches["yes"] = swapped(Reals(), start)
    for swap, branch in branches.items():
        if A.shape != branch.A.shape or V.shape != branch.V.shape:
            continue
        c = float(np.vdot(branch.A, A))
        along = np.log2(abs(c)) if c else np.inf
        there = abs(along) <= ALONG[1]
        if there and np.allclose(A, c * branch.A) and np.allclose(V, branch.V / c):
            negative = "yes" if c < 0 else "no"
            return f"along={along:.2f};swap={swap};negative={negative}"
    return "along=0"


def _below_one(M: np.ndarray) -> np.ndarray:
    """The same matrix divided by a power of two, so that no digit is lost.

    The panel refuses entries above 9, and scales to length 1 what it is given.
    """
    return M / 2.0 ** frexp(np.abs(M).max())[1]


@checker(shown=_has_the_forms_of_the_page, panel=_beside_the_fiber, fewest=_ENTRIES)
def check_second_branch(A: object, V: object, A2: object, V2: object) -> str:
    """Whether (A, V) and (A2, V2) have one function, not 0, and no c gives A2 = cA, V2
    = V/c.

    For t ≥ 2 the function is the table of products (ℓ_k · v_m) of columns of A and rows
    of V (Prop. A.5).

    >>> check_second_branch([[1, 0], [0, 1]], [[1, 2]], [[2, 0], [0, 2]], [[0.5, 1]])
    ✗ Not yet. The functions are equal, but this is a rescaling:
    A2 = cA and V2 = V/c with c = 2.
    """
    A = matrix("A", A)
    d = len(A)
    A = matrix("A", A, d, d)
    V = matrix("V", V, columns=d)
    A2 = matrix("A2", A2, d, d)
    V2 = matrix("V2", V2)
    V2 = matrix("V2", V2, *V.shape)
    one = product_table(A, V)
    other = product_table(A2, V2)
    size = max(np.abs(one).max(), np.abs(other).max())
    if not size or np.abs(one).max() <= _EQUAL * size:
        raise ValueError(
            "The function of (A, V) is 0, whose fibre is larger than any other: take"
            " another."
        )
    if np.abs(one - other).max() > _EQUAL * size:
        said = (
            "The two functions differ. Compare the products of columns of A with rows"
            " of V: "
        )
        raise ValueError(f"{said}which vectors may change places?")
    # The c with cA nearest to A2. If A2 = cA, equal products ℓ_k · v_m give V2 = V/c.
    c = np.vdot(A, A2) / np.vdot(A, A)
    if np.abs(A2 - c * A).max() <= _EQUAL * np.abs(A2).max():
        said = "The functions are equal, but this is a rescaling: A2 = cA and V2 = V/c"
        raise ValueError(f"{said} with c = {c:g}.")
    return "The functions are equal, and no factor leads from one pair to the other."


def _on_the_circle(A: object, V: object) -> tuple[str, str] | None:
    """The panel of notebook 03 with the roots of this layer, where whole degrees tell
    them apart."""
    A = matrix("A", A, 2, 2)
    V = matrix("V", V, 1, 2)
    linear = [A[:, 0], V[0], A[:, 1], V[0]]
    if not all(form.any() for form in linear):
        return None
    # p cos θ + r sin θ = 0 for tan θ = −p/r; a root is a line, so θ counts modulo 180°.
    exact = [float(np.degrees(np.arctan2(-p, r))) % 180 for p, r in linear]
    roots = [round(root) % 180 for root in exact]
    for one, other in combinations(range(4), 2):
        # Two forms have one root if and only if their determinant is 0.
        is_one = abs(np.linalg.det([linear[one], linear[other]])) <= _EQUAL * (
            np.linalg.norm(linear[one]) * np.linalg.norm(linear[other])
        )
        if is_one != (roots[one] == roots[other]):
            return None
    names = ("first", "second", "third", "fourth")
    state = ";".join(f"{name}={root}" for name, root in zip(names, roots, strict=True))
    return "ResultantExplorer", state


# The course cannot have shown an answer: its boundary points lie in the slice S1, where
# q₂ = 0 there, so a column of A is 0, and the task asks for no entry 0. Nothing is
# least, either: every answer has six entries.
@checker(panel=_on_the_circle)
def check_boundary_layer(A: object, V: object) -> str:
    """Whether A (2 × 2) and V (1 × 2), with no entry 0, give a boundary point (Theorem
    3.4).

    Whole numbers and fractions are decided exactly.

    >>> check_boundary_layer([[1, 2], [2, 4]], [[1, 1]])
    ✗ Not yet. This point is a crossing: A has rank one,
    but keys and values use different linear forms.
    """
    # These refuse other shapes; the entries themselves stay exact.
    matrix("A", A, 2, 2)
    matrix("V", V, 1, 2)
    entries = [
        *np.ravel(np.array(A, dtype=object)),
        *np.ravel(np.array(V, dtype=object)),
    ]
    if not all(entries):
        raise ValueError("Some entry is 0; the task asks for a layer without zeros.")
    kind = kind_of(*forms_of(A, V))
    if kind == BOUNDARY:
        how = "exactly" if forms.is_exact(*entries) else "up to rounding"
        return f"A boundary point, {how}: A = v kᵀ and V = h vᵀ."
    if kind == CROSSING:
        why = (
            "This point is a crossing: A has rank one, but keys and values use"
            " different linear forms."
        )
        v, w = np.ravel(np.array(V, dtype=object))
        # 0 where the rows of A are multiples of V: Aᵀ = v kᵀ, not A.
        off = sum(abs(p * w - q * v) for p, q in np.array(A, dtype=object))
        if off <= _EQUAL * max(map(abs, entries)) ** 2:
            why += (
                " Here queries, not keys, use the form of the values: did you mean the"
                " transpose of A?"
            )
        raise ValueError(why)
    raise ValueError("This point is smooth: A has rank 2.")


def _has_a_target_of_the_page(q1: object, q2: object) -> bool:
    """Whether the forms are a point of S1, up to a factor, where the panel of notebook
    03 has drawn the targets that are asked for; or the pair of its text."""
    (a1, _, c1), (a2, _, c2) = q1, q2
    pair = np.array([q1, q2], dtype=float)
    return bool(a1 == c1 and a2 == -c2) or _is_multiple(pair, NO_LAYER)


def _twin(q1: object, q2: object) -> tuple[str, str] | None:
    """The panel of notebook 03 with the target that these forms become when (q₁, q₂)
    and (X, Y) are turned; a hundredth must not change its kind."""
    given = _form("q1", q1), _form("q2", q2)
    exact = [tuple(map(Fraction, q)) for q in given]
    # Turning (X, Y) by φ leaves a + c as it is, and turns (a − c, b) by 2φ.
    sums = np.array([float(a + c) for a, _, c in exact])
    parts = np.array([[float(a - c), float(b)] for a, b, c in exact])
    size = np.linalg.norm(sums)
    if not size:
        return None
    # (q₁, q₂) is turned until the second has a + c = 0, then (X, Y) until the first has
    # a = c. Divided by size/2, the two are a target: (1, s, 1) and (y, z, −y).
    cos, sin = sums / size
    first, second = np.array([[cos, sin], [-sin, cos]]) @ parts
    length = np.linalg.norm(first)
    x, b = first / length if length else (0.0, 1.0)
    s = 2 * length / size
    y = (second[0] * b - second[1] * x) / size
    z = 2 * (second @ (x, b)) / size
    place = dict(zip(RANGES, (s, y, z), strict=True))
    # + 0.0 makes 0.0 of −0.0.
    setting = LearningSetting(**{name: round(t, 2) + 0.0 for name, t in place.items()})
    fits = all(RANGES[name][0] <= t <= RANGES[name][1] for name, t in place.items())
    is_alike = kind_of(*setting.forms) == kind_of(*exact) and (
        nearest_is_singular(*setting.forms) == nearest_is_singular(*exact)
    )
    if not fits or not is_alike:
        return None
    state = ";".join(f"{name}={getattr(setting, name):.2f}" for name in place)
    return "LearningExplorer", state


@checker(shown=_has_a_target_of_the_page, panel=_twin)
def check_singular_goal(q1: object, q2: object) -> str:
    """Whether no layer has the forms q₁, q₂, and the nearest one that is found is at a
    singular point.

    The distance is that of `nearest_layer`, in the Bombieri norm; its kind is decided
    up to a relative error of 10⁻⁶. Both forms are first multiplied by one power of two,
    so that their size does not matter.

    >>> check_singular_goal((1, 0, -1), (1, 2, 1))
    ✗ Not yet. A layer has these two forms: they share a real root.
    """
    q1, q2, size = _of_order_one(_form("q1", q1), _form("q2", q2))
    if kind_of(q1, q2) not in (forms.OFF, forms.CLOSURE):
        raise ValueError("A layer has these two forms: they share a real root.")
    near = forms.nearest_layer(q1, q2)
    found = forms.layer_with_root(
        tuple(map(float, q1)), tuple(map(float, q2)), near.X, near.Y
    )
    kind = kind_of(*forms_of(*found), tol=_NEAREST)
    if forms.is_exact(*q1, *q2) and nearest_is_singular(q1, q2):
        # at the rim of the coin the iteration finds half of the digits only
        kind = CROSSING if kind == CROSSING else BOUNDARY
    distance = float(near.distance) * size
    where = (
        f"The nearest layer is {distance:.3g} away in the Bombieri norm, and its"
        " function is"
    )
    if kind in (BOUNDARY, CROSSING):
        words = "a boundary point" if kind == BOUNDARY else "a crossing"
        return f"No layer has these two forms. {where} {words}."
    raise ValueError(
        f"No layer has these two forms. {where} smooth: do q₁ and q₂ have to differ"
        " that much?"
    )


def _is_multiple(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether one matrix is c times the other, not 0."""
    c = np.vdot(other, one) / np.vdot(other, other)
    return bool(np.abs(one - c * other).max() <= _EQUAL * np.abs(one).max())


def _scaled(name: str, M: np.ndarray) -> np.ndarray:
    """The same matrix with entries of order one, which changes no rank."""
    if not M.any():
        raise ValueError(
            f"{name} is 0, and so is the product KᵀQ; the task asks for another one."
        )
    return M / np.abs(M).max()


def _of_order_one(q1: Form, q2: Form) -> tuple[Form, Form, float]:
    """Both forms divided by one power of two, and this power; exact forms stay
    exact."""
    largest = max(map(abs, (*q1, *q2)))
    if not largest:
        return q1, q2, 1.0
    if not float(largest):
        raise FloatingPointError("an exact number below the range of floats")
    power = frexp(largest)[1] - 1
    scale = Fraction(2) ** power if forms.is_exact(*q1, *q2) else 2.0**power
    q1, q2 = (tuple(forms.tidy(c) / scale for c in q) for q in (q1, q2))
    return q1, q2, float(scale)


def _form(name: str, given: object) -> Form:
    matrix(name, [given], 1, 3)
    return tuple(given)
