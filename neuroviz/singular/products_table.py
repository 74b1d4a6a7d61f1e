"""The products ℓ_k · v_m of a layer with d = 2 as a table, with the common factors in colour."""

import numpy as np

from neuroviz.kit.table import Table, light
from neuroviz.kit.words import numbered, tiny
from neuroviz.singular.forms import Form
from neuroviz.singular.ranks import forms_table


def products_table(A: np.ndarray, V: np.ndarray) -> Table:
    """ℓ_k · v_m, for the columns ℓ_k of A and the rows v_m of V (Prop. A.5).

    Args:
        A: shape (2, n).
        V: shape (d′, 2).

    Raises:
        ValueError: if a shape is another one.

    >>> products_table([[1, 1], [-1, 1]], [[1, 1]])
                ℓ₁ = X − Y                   ℓ₂ = X + Y
    v₁ = X + Y  (X − Y) · (X + Y) = X² − Y²  (X + Y) · (X + Y) = X² + 2 XY + Y²
    """
    A, V = np.asarray(A, dtype=float), np.asarray(V, dtype=float)
    if A.ndim != 2 or len(A) != 2 or V.ndim != 2 or V.shape[1] != 2 or not A.size or not V.size:
        raise ValueError(f"d = 2: A has 2 rows and V 2 columns; got shapes {A.shape} and {V.shape}")
    columns, rows = [linear_text(tuple(column)) for column in A.T], [linear_text(tuple(row)) for row in V]
    top = ("", *(light("layer 3", f"{numbered('ℓ', k)} = {text}") for k, text in enumerate(columns, start=1)))
    found = [top]
    for m, (name, forms) in enumerate(zip(rows, forms_table(A, V), strict=True), start=1):
        cells = (
            f"{light('layer 3', f'({column})')} · {light('focus', f'({name})')} = {form_text(q)}"
            for column, q in zip(columns, forms, strict=True)
        )
        found.append((light("focus", f"{numbered('v', m)} = {name}"), *cells))
    return Table(tuple(found))


def form_text(q: Form) -> str:
    """A quadratic form with two significant digits; coefficients far below the largest are left out.

    >>> form_text((1.0, -0.5, 0.0)), form_text((0, 0, 0)), form_text((0, -1, 2.25))
    ('X² − 0.5 XY', '0', '−XY + 2.2 Y²')
    """
    return _text(q, ("X²", "XY", "Y²"))


def linear_text(p: tuple[float, float]) -> str:
    """A linear form.

    >>> linear_text((1.0, -2.0))
    'X − 2 Y'
    """
    return _text(p, ("X", "Y"))


def _text(coefficients: tuple, names: tuple[str, ...]) -> str:
    largest = max(map(abs, coefficients))
    terms = [
        ("−" if c < 0 else "+", f"{_size(abs(c))}{name}")
        for c, name in zip(coefficients, names, strict=True)
        if abs(c) > 1e-3 * largest
    ]
    if not terms:
        return "0"
    first = ("−" if terms[0][0] == "−" else "") + terms[0][1]
    return " ".join([first, *(f"{sign} {rest}" for sign, rest in terms[1:])])


def _size(value: float) -> str:
    """A positive coefficient and a blank; nothing for 1."""
    text = f"{value:.2g}" if 1e-3 <= value < 1e4 else tiny(value, digits=1)
    return "" if text == "1" else f"{text} "
