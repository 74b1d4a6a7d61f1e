"""Two quadratic forms by their roots on the projective line, drawn as a circle: chords, and points inside."""

from math import cos, pi, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import Plot, View
from neuroviz.singular.forms import Form, Root, on_circle
from neuroviz.singular.surface_point import SurfacePoint

KIND_WORDS = {
    "smooth": "a smooth point",
    "crossing": "a crossing of two sheets",
    "boundary": "a boundary point",
    "closure only": "in the Zariski closure only",
    "off": "off the surface",
}
_SHARED = {
    "smooth": "q₁ and q₂ share one root",
    "crossing": "q₁ and q₂ share both roots",
    "boundary": "q₁ and q₂: one double root",
    "closure only": "both roots shared, not real",
    "off": "no common root",
}


def root_text(root: Root) -> str:
    """The number m = X/Y.

    >>> root_text(Root(-1, 2)), root_text(Root(1, 0)), root_text(Root(1e-17, 1.0))
    ('−0.5', '∞', '0')
    """
    return "∞" if abs(root.m) > 1e9 else f"{round(root.m, 9) + 0.0:.3g}".replace("-", "−")


def factor_text(root: Root) -> str:
    """The linear form that vanishes at a root.

    >>> factor_text(Root(-1, 2)), factor_text(Root(1, 0)), factor_text(Root(1, 1)), factor_text(Root(0, 1))
    ('X + 0.5 Y', 'Y', 'X − Y', 'X')
    """
    m = root_text(root)
    if m in ("∞", "0"):
        return {"∞": "Y", "0": "X"}[m]
    times = m.removeprefix("−")
    return f"X {'+' if m.startswith('−') else '−'} {'' if times == '1' else times + ' '}Y"


def roots_view(point: SurfacePoint, domain: tuple[float, float]) -> View:
    """The circle with both forms, what they share, and in words what follows."""
    common = [[cos(root.angle), sin(root.angle)] for root in point.roots]
    if not common and point.facts.kind == "closure only":
        common = on_circle(next(filter(any, point.forms))).tolist()
    note, marker = theme.size("note"), theme.size("marker")
    key = ["roots [X:Y] on a circle: q₁ ●—, q₂ □- -", "real pair: a chord · complex pair: a point inside"]
    key = key[:1] if theme.current()["size"] == "lecture" else key  # large letters take the room
    plot = Plot("", domain, (0.28, 1 - (2.3 + 1.45 * len(key)) * note / theme.size("height")))
    rim = np.linspace(0, 2 * pi, 121)
    x, y = np.cos(rim).round(5).tolist(), np.sin(rim).round(5).tolist()
    filled = {"fill": "toself", "fillcolor": theme.color("wash")}
    plot.line("the projective line", x, y, theme.color("axis"), 2, **filled)
    _draw_form(plot, "q₁", point.forms[0], "ink", "solid", "circle", 0.75)
    _draw_form(plot, "q₂", point.forms[1], "soft", "dash", "square-open", 1.6)
    ring = {"symbol": "circle-open", "size": 3.4 * marker, "line": {"width": 3}}
    plot.points("common root", *_columns(common), ring | {"color": theme.color("focus")}, hover="common root")
    hidden = {"visible": False, "constrain": "domain"}
    plot.axis("x", -1.35, 1.35, **hidden)
    plot.axis("y", -1.26, 1.26, **hidden, scaleanchor="x")

    at = {"xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
    said = _SHARED[point.facts.kind] if any(map(any, point.forms)) else "q₁ = q₂ = 0"
    plot.headline(said, **at, x=domain[0])
    plot.text("<br>".join(key), domain[0], 1, "note", "soft", **at, yanchor="top")
    letters = {"size": note + 1, "color": theme.color("ink")}
    plot.text("<br>".join(_facts(point)), domain[0], 0.0, "note", "ink", **at, yanchor="bottom", font=letters)
    for x, y in common[:1]:
        anchor, shift = ("bottom", 2 * marker) if y >= 0 else ("top", -2 * marker)
        words = {0: "common pair, not real", 1: "common root", 2: "both roots common"}[len(point.roots)]
        plot.text(words, x, y, "note", "focus", yanchor=anchor, yshift=shift, xshift=3 * x * marker)
    return plot.view()


def _columns(places: list) -> list[list[float]]:
    return np.reshape(places, (-1, 2)).T.tolist()


def _draw_form(plot: Plot, name: str, q: Form, role: str, dash: str, symbol: str, size: float) -> None:
    if not any(q):
        return
    places = on_circle(q).tolist()
    on_rim = abs(np.hypot(*places[0]) - 1) < 1e-9
    kind = "real roots" if len(places) == 2 else "a double root" if on_rim else "a complex pair"
    color, size = theme.color(role), size * theme.size("marker") + 2
    marker = {"symbol": symbol, "size": size, "color": color, "line": {"width": 2, "color": color}}
    line = {"mode": "lines+markers", "line": {"color": color, "width": theme.size("line"), "dash": dash}}
    plot.points(f"roots of {name}", *_columns(places), marker, **line, hover=f"{name}: {kind}")


def _facts(point: SurfacePoint) -> list[str]:
    facts = point.facts
    lines = [f"<b>{KIND_WORDS[facts.kind]}</b>"]
    if point.roots:  # Prop. A.5: the table of products
        products = "q₁ = ℓ₁v, q₂ = ℓ₂v, " if len(point.roots) == 1 else "both qₖ = ℓₖv: "
        lines.append(f"{products}v = {' or '.join(map(factor_text, point.roots))}")
    if facts.rank_a is None:
        lines.append("no real weights")
    else:
        lines.append(f"rank A = {facts.rank_a}, rank V = {facts.rank_v} · silent directions: {facts.kernel}")
    if point.discriminant is not None:
        sign = "= 0" if facts.kind == "boundary" else f"= {float(f'{point.discriminant:.2g}'):g}"
        name = "q₁" if any(point.forms[0]) else "q₂"
        lines.append(f"discriminant of {name} {sign}".replace("-", "−"))
    return lines
