"""The table of products of linear forms of a layer with d = 2: a disc of roots for each product."""

from dataclasses import dataclass
from math import atan2, cos, floor, log10, pi, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import View, label, power_of_ten
from neuroviz.singular.forms import Form, on_circle
from neuroviz.singular.ranks import Sequence

TABLE = (0.0, 0.62)
_DOWN = 3.4  # from one disc to the next; a disc has radius 1
_ACROSS = {1: 3.4, 2: 4.6}  # the same, by the number of rows: with two, discs are small beside their texts


@dataclass(frozen=True)
class ConjugatePath:
    """The distance to the nearest layer when the imaginary part of v goes from 0 to 1."""

    imaginary: tuple[float, ...]
    distances: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class ProductsStudy:
    """A table of products ℓ_k · v_m, and what is true of its function.

    Attributes:
        mode: "layer", "complex" (v complex, Cor. A.6) or "sequence".
        columns, rows: the linear forms ℓ_k and v_m, pairs of coefficients; ℓ_k = k_k v if v is complex.
        factors: where v is complex, these k_k; else None.
        cells: the products, for each row a list over the columns.
        limit: those of the limit of a sequence, else None.
        kind: "smooth", "crossing", "boundary" or "closure only"; of a sequence, the kind of its limit.
        rank_a, rank_v: of A and V (over the complex numbers).
        resultants: of the two forms in each row.
        distance: from the nearest layer where that is known (d′ = 1, or 0), else None.
        path: how that distance grows, in the mode "complex" with d′ = 1.
        sequence, step: the sequence, and which of its layers is drawn.
    """

    mode: str
    columns: tuple
    rows: tuple
    cells: list[list[Form]]
    limit: list[list[Form]] | None
    kind: str
    rank_a: int
    rank_v: int
    resultants: tuple[float, ...]
    distance: float | None
    imaginary: float
    factors: tuple[float, float] | None = None
    path: ConjugatePath | None = None
    sequence: Sequence | None = None
    step: int = 0


def _centre(study: ProductsStudy, row: int, column: int) -> tuple[float, float]:
    return column * _ACROSS[len(study.cells)], -row * _DOWN


def table_view(study: ProductsStudy) -> View:
    rim = np.linspace(0, 2 * pi, 61)
    rims, chords, ghosts, inside, v_roots, l_roots = (
        ([], []),
        ([], []),
        ([], []),
        ([], []),
        ([], []),
        ([], []),
    )
    for m, row in enumerate(study.cells):
        for k, q in enumerate(row):
            x0, y0 = _centre(study, m, k)
            _line(rims, [(x0 + cos(t), y0 + sin(t)) for t in rim])
            places = _places(q)
            (_line if len(places) == 2 else _dots)(
                chords if len(places) == 2 else inside, [(x0 + x, y0 + y) for x, y in places]
            )
            if study.limit is not None:
                limit = _places(study.limit[m][k])
                _line(ghosts, [(x0 + x, y0 + y) for x, y in limit])
            for roots, form in ((v_roots, study.rows[m]), (l_roots, study.columns[k])):
                place = root_of(form)
                if place is not None:
                    _dots(roots, [(x0 + place[0], y0 + place[1])])
    marker, width = theme.size("marker"), theme.size("line")
    traces = [
        _trace("the projective line", rims, "lines", line={"color": theme.color("axis"), "width": 1.4}),
        _trace(
            "roots of the limit", ghosts, "lines+markers",
            line={"color": theme.color("ghost"), "width": width, "dash": "dot"},
            marker={"symbol": "circle-open", "size": marker + 6, "color": theme.color("ghost")},
        ),
        _trace("two real roots", chords, "lines", line={"color": theme.color("ink"), "width": width}),
        _trace(
            "root of ℓ_k", l_roots, "markers",
            marker={
                "symbol": "square-open", "size": marker + 5, "color": theme.color("layer 3"),
                "line": {"width": 2.6, "color": theme.color("layer 3")},
            },
        ),
        _trace(
            "root of v_m", v_roots, "markers",
            marker={"symbol": "circle", "size": marker + 2, "color": theme.color("focus")},
        ),
        _trace(
            "a double root, or a complex pair", inside, "markers",
            marker={
                "symbol": "diamond", "size": marker + 3, "color": theme.color("ink"),
                "line": {"width": 1, "color": theme.color("ground")},
            },
        ),
    ]  # fmt: skip
    return View(traces, _table_axes(study), _table_words(study), [])


def _places(q: Form) -> list[list[float]]:
    return on_circle(q).round(6).tolist() if any(q) else []


def _line(into: tuple[list, list], points: list[tuple[float, float]]) -> None:
    for x, y in points:
        into[0].append(round(x, 5))
        into[1].append(round(y, 5))
    if points:
        into[0].append(None)
        into[1].append(None)


def _dots(into: tuple[list, list], points: list[tuple[float, float]]) -> None:
    for x, y in points:
        into[0].append(round(x, 5))
        into[1].append(round(y, 5))


def _trace(name: str, points: tuple[list, list], mode: str, **look: dict) -> dict:
    return {"name": name, "x": points[0], "y": points[1], "mode": mode, "hoverinfo": "name"} | look


def _table_axes(study: ProductsStudy) -> dict:
    rows = len(study.cells)
    hidden = {"visible": False, "constrain": "domain", "fixedrange": True}
    return {
        "xaxis": {"domain": TABLE, "anchor": "y", "range": [-3.9, _ACROSS[rows] + 1.4], **hidden},
        "yaxis": {
            "domain": (0.07, 0.94),
            "anchor": "x",
            "range": [-(rows - 1) * _DOWN - 1.75, 1.95],
            "scaleanchor": "x",
            **hidden,
        },
    }


def _table_words(study: ProductsStudy) -> list[dict]:
    base = {"font": {"size": theme.size("base")}}
    note = {"font": {"size": theme.size("note")}}
    focus, blue = theme.color("focus"), theme.color("layer 3")
    words = [title(_table_found(study), TABLE[0]), _table_key()]
    for k in range(2):
        what = linear_text(study.columns[k]) if study.factors is None else _multiple(study.factors[k])
        text = f'<b><span style="color:{blue}">ℓ{"₁₂"[k]}</span></b> = {what}'
        words.append(label(text, _centre(study, 0, k)[0], 1.3, yanchor="bottom") | base)
    for m in range(2):
        text = ""
        if m < len(study.rows):
            name = f'<b><span style="color:{focus}">{_row_name(study, m)}</span></b>'
            text = f"{name} =<br>{_row_text(study, m)}"
        words.append(label(text, -1.35, -m * _DOWN, xanchor="right", align="right") | base)
    for m in range(2):
        for k in range(2):
            text = form_text(study.cells[m][k]) if m < len(study.cells) else ""
            x, y = _centre(study, m, k)
            words.append(label(text, x, y - 1.1, yanchor="top") | note)
    return words


def _row_name(study: ProductsStudy, m: int) -> str:
    if study.factors is not None:
        return "v*"
    return "v" if len(study.rows) == 1 else f"v{'₁₂'[m]}"


def _row_text(study: ProductsStudy, m: int) -> str:
    row = [complex(c) for c in study.rows[m]]
    real, imaginary = (linear_text(tuple(part)) for part in ([c.real for c in row], [c.imag for c in row]))
    return real if study.factors is None else f"{real}<br>+ i ({imaginary})"


def _multiple(factor: float) -> str:
    text = f"{factor:.2g}".replace("-", "−")
    return "0" if not factor else {"1": "v", "−1": "−v"}.get(text, f"{text} v")


def _table_key() -> dict:
    """Which mark is which, below the table."""
    blue, focus = theme.color("layer 3"), theme.color("focus")
    text = (
        f'roots:  <span style="color:{blue}">□ of the column’s ℓ</span>   '
        f'<span style="color:{focus}">● of the row’s v</span>   '
        "◆ double; inside: a complex pair"
    )
    at = {"xref": "paper", "yref": "paper", "x": 0, "y": 0, "xanchor": "left", "yanchor": "bottom"}
    return at | {"text": text, "showarrow": False, "font": {"size": theme.size("note")}}


def _table_found(study: ProductsStudy) -> str:
    if not any(any(q) for row in study.cells for q in row):
        return "every product is 0"
    if study.mode == "complex":
        return "v complex: roots leave the rim" if study.imaginary else "v real: a double root in every cell"
    if study.mode == "sequence":
        return f"n = {study.sequence.steps[study.step]}: the table nears its limit (dotted)"
    one = len(study.rows) == 1
    return {
        "smooth": "both products share the root of v" if one else "each row shares the root of its v",
        "crossing": "one form in every cell: two real roots",
        "boundary": "one form in every cell: a double root",
    }[study.kind]


def form_text(q: Form) -> str:
    """A quadratic form with two significant digits; coefficients far below the largest are left out.

    >>> form_text((1.0, -0.5, 0.0)), form_text((0, 0, 0)), form_text((0, -1, 2.25))
    ('X² − 0.5 XY', '0', '−XY + 2.2 Y²')
    """
    return _text(q, ("X²", "XY", "Y²"))


def linear_text(p: tuple[complex, complex]) -> str:
    """A linear form, real or complex.

    >>> linear_text((1.0, -2.0)), linear_text((0.5 + 0.5j, 1.0))
    ('X − 2 Y', '(0.5 + 0.5i) X + Y')
    """
    return _text(p, ("X", "Y"))


def _text(coefficients: tuple, names: tuple[str, ...]) -> str:
    largest = max(abs(c) for c in coefficients)
    terms = []
    for c, name in zip(coefficients, names, strict=True):
        if abs(c) <= 1e-3 * largest:
            continue
        if isinstance(c, complex) and abs(c.imag) > 1e-3 * largest:
            sign, size = "+", f"({c.real:.2g} {'−' if c.imag < 0 else '+'} {abs(c.imag):.2g}i) "
        else:
            real = c.real
            sign, size = "−" if real < 0 else "+", _size(abs(real))
        terms.append((sign, f"{size}{name}"))
    if not terms:
        return "0"
    first = ("−" if terms[0][0] == "−" else "") + terms[0][1]
    return " ".join([first, *(f"{sign} {rest}" for sign, rest in terms[1:])]).replace("-", "−")


def _size(value: float) -> str:
    """A positive coefficient and a blank; nothing for 1."""
    text = f"{value:.2g}" if 1e-3 <= value < 1e4 else _power(value)
    return "" if text == "1" else f"{text} "


def _power(value: float) -> str:
    exponent = floor(log10(value))
    return f"{value / 10**exponent:.1f}·{power_of_ten(exponent)}"


def root_of(p: tuple[complex, complex]) -> tuple[float, float] | None:
    """Where the root [r : −p] of a real form pX + rY is on the circle; None of a complex one, or of 0.

    >>> root_of((0.0, 1.0))
    (1.0, 0.0)
    """
    if any(abs(complex(c).imag) > 0 for c in p) or not any(abs(c) for c in p):
        return None
    x, y = float(complex(p[1]).real), -float(complex(p[0]).real)
    angle = 2 * atan2(y, x)
    return round(cos(angle), 12) + 0.0, round(sin(angle), 12) + 0.0


def title(text: str, x: float) -> dict:
    """A headline at x, on top of the figure."""
    return {
        "text": f"<b>{text}</b>" if text else "",
        "xref": "paper",
        "yref": "paper",
        "x": x,
        "y": 1,
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 6,
        "showarrow": False,
        "font": {"size": theme.size("title")},
    }
