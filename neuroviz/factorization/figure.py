"""Views of A = KᵀQ: the matrices, the singular values, the count, and the smallest case as a surface."""

from dataclasses import dataclass

import numpy as np

from neuroviz.engine.network import Layer
from neuroviz.engine.symmetry import WALKS
from neuroviz.factorization.cone import SlicePoint, cone_view
from neuroviz.factorization.determinantal import ProductCount
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, focus_ring, headline, ticks
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import colored

_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.38)
RANKS = {"full": "Q and K as they are", "Q": "Q has lost one rank", "K": "K has lost one rank"}
RANGES = {"along": (-1, 1, 0.01), "trace": (0, 1.5, 0.05), "angle": (0, 360, 1), "height": (-1, 1, 0.01)}
SAME = 1e-9
"""What rounding may leave: products that differ by less are the same, and entries below it are zeros."""


@dataclass(frozen=True, eq=False)
class FactorizationStudy:
    """Everything that the figure of one factorisation shows.

    Attributes:
        d, a: Q and K are a × d.
        start, now: the two factorisations (V is None); now is (C Q, C⁻ᵀ K).
        walk, C: which walk in GL_a, and its matrix.
        products: A = KᵀQ at the start and now; `spectrum` has their singular values, decreasing.
        rank: of A now, in floating point.
        counts: measured dimensions, for a = 1, 2, ….
        formula: α(a, d), for the same a.
        here: dimensions of (Q, K) that leave A alone at the point in hand: of the fibre there.
        recovered: the C found from the two factorisations alone, or None where there is none to be found.
        point: for d = 2 where A is in the slice of its trace.
        place, base: what the controls that the scene moves say, and what Q and K are made of beside them.
    """

    d: int
    a: int
    start: Layer
    now: Layer
    walk: str
    C: np.ndarray
    products: tuple[np.ndarray, np.ndarray]
    spectrum: tuple[np.ndarray, np.ndarray]
    rank: int
    counts: tuple[ProductCount, ...]
    formula: tuple[int, ...]
    here: int
    recovered: np.ndarray | None
    point: SlicePoint | None
    place: dict[str, object]
    base: tuple[np.ndarray, ...]

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
    def count(self) -> ProductCount:
        """The measured dimensions for this a."""
        return self.counts[self.a - 1]


def factorization_parts(study: FactorizationStudy) -> Parts:
    """The views; of two by two matrices the surface, too."""
    cone = [cone_view(study.point)] if study.point else []
    left, right = ((0.0, 0.395), (0.455, 0.675)) if cone else ((0.0, 0.56), (0.63, 1.0))
    charts = _spectrum(study, right).view(), _dimensions(study, right).view()
    parts = compose(_matrices(study, left), *charts, *cone)
    choices = {"walk": list(WALKS), "rank": list(RANKS)}
    return as_scene(parts, "factors", study.place, heads_of(study), RANGES, choices)


def heads_of(study: FactorizationStudy) -> dict:
    """What the scene computes from beside `place`, and the Q and K that it comes to."""
    drawn = {"base": study.base, "start": study.start[:2]}
    return {"d": study.d, "a": study.a} | {name: [M.tolist() for M in pair] for name, pair in drawn.items()}


def _matrices(study: FactorizationStudy, across: tuple[float, float]) -> View:
    start, now = study.start, study.now
    weights, products = 1.6 * largest_entry(start.Q, start.K), largest_entry(study.products[0])
    products = products if products > SAME else 1.0
    role, equal = ("certified", "= same A") if study.is_same else ("outside", "≠ A CHANGED")

    def tiles(which: str, layer: Layer, A: np.ndarray, *above: str) -> tuple[Tile, ...]:
        return (
            Tile(f"Q, {which}", layer.Q, weights, above[0]),
            Tile(f"K, {which}", layer.K, weights, above[1]),
            Tile(f"A = KᵀQ, {which}", A, products, above[2], frame=role),
        )

    first = tiles("start", start, study.products[0], "<b>Q</b>", "<b>K</b>", "<b>A = KᵀQ</b>")
    second = tiles("now", now, study.products[1], "C Q", "C⁻ᵀ K", f"<b>{colored(role, equal)}</b>")
    heading = f"<b>{colored('focus', '●<br>now')}</b>"
    view = matrices_view([Row("○<br>start", first), Row(heading, second)], across)
    says = "Q and K move, A stands still" if start.Q.any() and start.K.any() else "A = 0, and stands still"
    if study.place["entries"]:
        says = "your numbers: a new A that stands still"
    elif study.moved <= SAME:
        trivial = study.a == 1 and study.walk != "stretch"
        says = f"GL₁ has no {study.walk}: nothing moves" if trivial else "C = 1: nothing has moved yet"
    if not study.is_same:
        says = "A has CHANGED"
    title = headline(says) | {"xref": "paper", "yref": "paper", "x": 0}
    return view._replace(annotations=[*view.annotations, title])


def _spectrum(study: FactorizationStudy, across: tuple[float, float]) -> Plot:
    plot, index, marker = Plot("2", across, _UPPER), list(range(1, study.d + 1)), theme.size("marker")
    ring = {"symbol": "circle-open", "size": marker + 7, "color": theme.color("ink"), "line": {"width": 1.6}}
    dot = {"size": marker, "color": theme.color("focus")}
    for when, sigma, look in zip(("start", "now"), study.spectrum, (ring, dot), strict=True):
        hover = f"{when}: σ<sub>%{{x}}</sub> = %{{y:.3g}}"
        name = f"singular values of A, {when}"
        plot.points(name, index, sigma.tolist(), look, hover=hover, cliponaxis=False)
    top = max(float(sigma[0]) for sigma in study.spectrum)
    top = top if top > SAME else 1.0
    plot.axis("x", 0.5, study.d + 0.5, "", tickvals=index, showgrid=False)
    plot.axis("y", -0.05 * top, 1.18 * top, "σ<sub>i</sub>(A)", nticks=4)
    plot.headline(f"rank {study.rank}{', start and now' if study.is_same else ' now'}")
    return plot


def _dimensions(study: FactorizationStudy, across: tuple[float, float]) -> Plot:
    d, counts, marker = study.d, study.counts, theme.size("marker")
    plot, heads, formula = Plot("3", across, _LOWER), [count.a for count in counts], list(study.formula)
    fibres = [2 * a * d - value for a, value in zip(heads, formula, strict=True)]
    for name, symbol, expected, measured, words in (
        ("matrices", "circle", formula, [count.dimension for count in counts], "rank ≤ a"),
        ("fibre", "square", fibres, [count.fibre for count in counts], "fibre"),
    ):
        hover, color = f"a = %{{x}}, {words}", theme.color("formula")
        look = {"symbol": f"{symbol}-open", "size": marker + 5, "color": color, "line": {"width": 1.3}}
        line = {"mode": "lines+markers", "line": {"color": color, "width": 1.2}}
        plot.points(f"{name}, formula", heads, expected, look, hover=f"{hover}: formula %{{y}}", **line)
        look = {"symbol": symbol, "size": marker - 1, "color": theme.color("measured")}
        plot.points(f"{name}, measured", heads, measured, look, hover=f"{hover}: measured %{{y}}")
    ring = focus_ring("lightning") | {"symbol": ["circle-open", "square-open"]}
    here = [2 * study.a * d - study.here, study.here]  # where a rank drops the fibre is larger
    plot.points("this a (measured)", [study.a] * 2, here, ring, cliponaxis=False)
    top, end = max(max(fibres), d * d), len(counts) + 0.6
    plot.axis("x", 0.4, end, "head dimension a", tickvals=heads, showgrid=False)
    room = 0.108 * theme.size("note") * top  # for the words above the curves
    plot.axis("y", -0.08 * top, room, "dimension", tickvals=ticks(0, d * d, top))
    plot.headline(_sum(study))
    plot.key(["● matrices A  ■ fibre"], align="left")
    plot.text("a = d", d, 0.8, "note", "soft", yref="y3 domain", yanchor="top", xanchor="left", xshift=4)
    # All matrices have d² dimensions: the level at which the count bends, and stays.
    plot.text("d²", 0.5, d * d, "note", "soft", xanchor="left", yanchor="bottom")
    plot.rule("x", d, "axis", 1.4, "dot", upto=0.8, layer="below")
    plot.rule("y", d * d, "axis", 1.4, "dot", layer="below")
    return plot


def _sum(study: FactorizationStudy) -> str:
    if any(c.dimension != value for c, value in zip(study.counts, study.formula, strict=True)):
        return "formula and measurement DIFFER"
    count, many = study.count, "" if study.count.dimension == 1 else "s"
    return f"{2 * study.a * study.d} − {count.fibre} = {count.dimension} dimension{many}"
