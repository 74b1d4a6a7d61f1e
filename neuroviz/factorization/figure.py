"""Four views of A = KᵀQ: the matrices, the singular values, the count, and the smallest case as a surface."""

from dataclasses import dataclass

import numpy as np

from neuroviz.engine.network import Layer
from neuroviz.factorization.cone import SlicePoint, cone_view
from neuroviz.factorization.determinantal import ProductCount
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, View, compose, headline, label, ticks

__all__ = ["FactorizationStudy", "SlicePoint", "factorization_parts"]

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.395), (0.455, 0.675), (0.705, 1.0)
_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.38)
SAME = 1e-9
"""What rounding may leave: products that differ by less are the same, and entries below it are zeros."""


@dataclass(frozen=True, eq=False)
class FactorizationStudy:
    """Everything that the figure of one factorisation shows.

    Attributes:
        d, a: Q and K are a × d.
        start, now: the two factorisations (V is None); now is (C Q, C⁻ᵀ K).
        walk, C: which walk in GL_a, and its matrix.
        spectrum: singular values of A at the start and now, decreasing.
        rank: of A now, in floating point.
        counts: measured dimensions, for a = 1, 2, ….
        formula: α(a, d), for the same a.
        here: dimensions of (Q, K) that leave A alone at the point in hand: of the fibre there.
        recovered: the C found from the two factorisations alone, or None.
        refusal: why none was found, "" if one was.
        point: the matrix in the slice.
    """

    d: int
    a: int
    start: Layer
    now: Layer
    walk: str
    C: np.ndarray
    spectrum: tuple[np.ndarray, np.ndarray]
    rank: int
    counts: tuple[ProductCount, ...]
    formula: tuple[int, ...]
    here: int
    recovered: np.ndarray | None
    refusal: str
    point: SlicePoint

    @property
    def products(self) -> tuple[np.ndarray, np.ndarray]:
        """A = KᵀQ at the start and now."""
        return self.start.K.T @ self.start.Q, self.now.K.T @ self.now.Q

    @property
    def change(self) -> float:
        """By how much the entries of A differ at most."""
        before, after = self.products
        return float(np.abs(after - before).max())

    @property
    def moved(self) -> float:
        """By how much the entries of Q and K differ at most."""
        return max(float(np.abs(M2 - M1).max()) for M1, M2 in zip(self.start[:2], self.now[:2], strict=True))

    @property
    def is_same(self) -> bool:
        """Whether A has stood still."""
        return self.change <= SAME * max(1.0, largest_entry(self.products[0]))

    @property
    def agrees(self) -> bool:
        """Whether the formula and the measurement say the same for every a."""
        return all(c.dimension == value for c, value in zip(self.counts, self.formula, strict=True))

    @property
    def count(self) -> ProductCount:
        """The measured dimensions for this a."""
        return self.counts[self.a - 1]


def factorization_parts(study: FactorizationStudy) -> Parts:
    """The four views."""
    return compose(
        _matrices(study), _spectrum(study), _dimensions(study), cone_view(study.point, _RIGHT, (0.0, 0.9))
    )


def _matrices(study: FactorizationStudy) -> View:
    start, now = study.start, study.now
    weights, products = 1.6 * largest_entry(start.Q, start.K), largest_entry(study.products[0])
    products = products if products > SAME else 1.0
    equal = "= same A" if study.is_same else "≠ A CHANGED"
    role = "certified" if study.is_same else "outside"
    same = f'<b><span style="color:{theme.color(role)}">{equal}</span></b>'

    def tiles(which: str, layer: Layer, A: np.ndarray, above: tuple[str, str, str]) -> tuple[Tile, ...]:
        return (
            Tile(f"Q, {which}", layer.Q, weights, above[0]),
            Tile(f"K, {which}", layer.K, weights, above[1]),
            Tile(f"A = KᵀQ, {which}", A, products, above[2], frame=role),
        )

    names = tuple(f"<b>{name}</b>" for name in ("Q", "K", "A = KᵀQ"))
    focus = theme.color("focus")
    view = matrices_view(
        [
            Row("○<br>start", tiles("start", start, study.products[0], names)),
            Row(
                f'<b><span style="color:{focus}">●<br>now</span></b>',
                tiles("now", now, study.products[1], ("C Q", "C⁻ᵀ K", same)),
            ),
        ],
        _LEFT,
    )
    says = "Q and K move, A stands still" if start.Q.any() and start.K.any() else "A = 0, and stands still"
    if study.moved <= SAME:
        trivial = study.a == 1 and study.walk != "stretch"
        says = f"GL₁ has no {study.walk}: nothing moves" if trivial else "C = 1: nothing has moved yet"
    if not study.is_same:
        says = "A has CHANGED"
    title = headline(says) | {"xref": "paper", "yref": "paper", "x": _LEFT[0]}
    return View(view.traces, view.axes, [*view.annotations, title], view.shapes)


def _spectrum(study: FactorizationStudy) -> View:
    before, after = (sigma.tolist() for sigma in study.spectrum)
    index, on = list(range(1, study.d + 1)), {"xaxis": "x2", "yaxis": "y2", "mode": "markers"}
    marker, top = theme.size("marker"), max(before[0], after[0])
    top = top if top > SAME else 1.0
    hover = "σ<sub>%{x}</sub> = %{y:.3g}<extra></extra>"
    traces = [
        {
            "name": "singular values of A, start",
            **on,
            "x": index,
            "y": before,
            "marker": {
                "symbol": "circle-open",
                "size": marker + 7,
                "color": theme.color("ink"),
                "line": {"width": 1.6},
            },
            "hovertemplate": f"start: {hover}",
            "cliponaxis": False,
        },
        {
            "name": "singular values of A, now",
            **on,
            "x": index,
            "y": after,
            "marker": {"size": marker, "color": theme.color("focus")},
            "hovertemplate": f"now: {hover}",
            "cliponaxis": False,
        },
    ]
    axes = {
        "xaxis2": {
            "anchor": "y2",
            "domain": _MIDDLE,
            "range": [0.5, study.d + 0.5],
            "tickvals": index,
            "showgrid": False,
            "title": {"text": "index i"},
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": _UPPER,
            "range": [-0.05 * top, 1.18 * top],
            "title": {"text": "σ<sub>i</sub>(A)"},
            "nticks": 4,
        },
    }
    as_before = ", as before" if study.is_same else " now"
    return View(traces, axes, [headline(f"rank {study.rank}{as_before}", "2")], [])


def _dimensions(study: FactorizationStudy) -> View:
    d, a, counts = study.d, study.a, study.counts
    marker, on = theme.size("marker"), {"xaxis": "x3", "yaxis": "y3"}
    formula = list(study.formula)
    fibres = [2 * c.a * d - value for c, value in zip(counts, formula, strict=True)]
    values = {
        "matrices": ("circle", formula, [c.dimension for c in counts], "rank ≤ a"),
        "fibre": ("square", fibres, [c.fibre for c in counts], "fibre"),
    }
    traces = []
    for name, (symbol, expected, measured, words) in values.items():
        traces += [
            {
                "name": f"{name}, formula",
                **on,
                "x": [count.a for count in counts],
                "y": expected,
                "mode": "lines+markers",
                "line": {"color": theme.color("formula"), "width": 1.2},
                "marker": {
                    "symbol": f"{symbol}-open",
                    "size": marker + 5,
                    "color": theme.color("formula"),
                    "line": {"width": 1.3},
                },
                "hovertemplate": f"a = %{{x}}, {words}: formula %{{y}}<extra></extra>",
            },
            {
                "name": f"{name}, measured",
                **on,
                "x": [count.a for count in counts],
                "y": measured,
                "mode": "markers",
                "marker": {"symbol": symbol, "size": marker - 1, "color": theme.color("measured")},
                "hovertemplate": f"a = %{{x}}, {words}: measured %{{y}}<extra></extra>",
            },
        ]
    traces.append(
        {
            "name": "this a (measured)",
            **on,
            "x": [a, a],
            "y": [study.count.dimension, study.count.fibre],
            "mode": "markers",
            "marker": {
                "symbol": ["circle-open", "square-open"],
                "size": 2 * marker + 6,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "cliponaxis": False,
            "hoverinfo": "skip",
        }
    )
    top = max(max(fibres), d * d)
    axes = {
        "xaxis3": {
            "anchor": "y3",
            "domain": _MIDDLE,
            "range": [0.4, len(counts) + 0.6],
            "tickvals": [count.a for count in counts],
            "showgrid": False,
            "title": {"text": "head dimension a"},
        },
        "yaxis3": {
            "anchor": "x3",
            "domain": _LOWER,
            "range": [-0.08 * top, 1.65 * top],
            "tickvals": ticks(0, d * d, top),
            "title": {"text": "dimension"},
        },
    }
    soft = {"size": theme.size("note"), "color": theme.color("soft")}
    legend = label("● matrices A of rank ≤ a<br>■ fibre: (Q, K) with one A", 0, 1, xanchor="left") | {
        "xref": "x3 domain",
        "yref": "y3 domain",
        "yanchor": "top",
        "xshift": 6,
        "align": "left",
        "font": soft,
    }
    bend = label("a = d", d, 0.7, "3", yref="y3 domain", yanchor="top", xanchor="left", xshift=4, font=soft)
    line = {
        "type": "line",
        "xref": "x3",
        "yref": "y3 domain",
        "x0": d,
        "x1": d,
        "y0": 0,
        "y1": 0.7,
        "layer": "below",
        "line": {"color": theme.color("axis"), "width": 1.4, "dash": "dot"},
    }
    # All matrices have d² dimensions: the level at which the count bends, and stays.
    level = line | {"yref": "y3", "x0": 0.4, "x1": len(counts) + 0.6, "y0": d * d, "y1": d * d}
    all_of_them = label("d²", 0.5, d * d, "3", xanchor="left", yanchor="bottom", font=soft)
    return View(traces, axes, [headline(_sum(study), "3"), legend, bend, all_of_them], [line, level])


def _sum(study: FactorizationStudy) -> str:
    if not study.agrees:
        return "formula and measurement DIFFER"
    count, many = study.count, "" if study.count.dimension == 1 else "s"
    return f"{2 * study.a * study.d} − {count.fibre} = {count.dimension} dimension{many}"
