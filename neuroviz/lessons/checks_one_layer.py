"""Checks of the exercises about one head and one layer: notebooks 01, 02 and 03.

Each decides by computing what the task asks for. Floats count as equal up to a relative
error of 10⁻⁹.
"""

from fractions import Fraction
from math import frexp

import numpy as np

from neuroviz.attention.layer import product_table
from neuroviz.factorization.determinantal import product_jacobian
from neuroviz.lessons.exercise import checker, matrix
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank
from neuroviz.singular import forms
from neuroviz.singular.forms import BOUNDARY, CROSSING, Form, forms_of, kind_of

_EQUAL = 1e-9
_NEAREST = 1e-6  # the nearest layer is found by iteration


@checker
def check_large_fibre(Q: object, K: object) -> str:
    """Whether KᵀQ ≠ 0, a = 2, d = 3, and more than a² = 4 directions in (Q, K) leave
    KᵀQ alone.

    The directions are counted: 12 less the rank of (Q̇, K̇) ↦ KᵀQ̇ + K̇ᵀQ, in floating
    point.

    >>> check_large_fibre([[1, 0, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0]])
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


@checker
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
    c = np.vdot(A, A2) / np.vdot(A, A)
    if np.abs(A2 - c * A).max() <= _EQUAL * np.abs(A2).max():
        said = "The functions are equal, but this is a rescaling: A2 = cA and V2 = V/c"
        raise ValueError(f"{said} with c = {c:g}.")
    return "The functions are equal, and no factor leads from one pair to the other."


@checker
def check_boundary_layer(A: object, V: object) -> str:
    """Whether A (2 × 2) and V (1 × 2), with no entry 0, give a boundary point (Theorem
    3.4).

    Whole numbers and fractions are decided exactly.

    >>> check_boundary_layer([[1, 2], [2, 4]], [[1, 1]])
    ✗ Not yet. This point is a crossing: A has rank one,
    but keys and values use different linear forms.
    """
    matrix("A", A, 2, 2), matrix("V", V, 1, 2)
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
        (p, r), (q, s) = np.array(A, dtype=object)
        v, w = np.ravel(np.array(V, dtype=object))
        if (
            abs(p * w - r * v) + abs(q * w - s * v)
            <= _EQUAL * max(map(abs, entries)) ** 2
        ):
            why += (
                " Here queries, not keys, use the form of the values: did you mean the"
                " transpose of A?"
            )
        raise ValueError(why)
    raise ValueError("This point is smooth: A has rank 2.")


@checker
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
