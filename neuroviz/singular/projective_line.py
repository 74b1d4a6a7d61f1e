"""Two quadratic forms by their roots on the projective line, drawn as a circle: chords, and points inside."""

from dataclasses import dataclass
from math import cos, inf, pi, sin

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import View, label
from neuroviz.singular.curves import Ruling
from neuroviz.singular.forms import Facts, Form, Root, on_circle

KIND_WORDS = {
    "smooth": "a smooth point",
    "crossing": "a crossing of two sheets",
    "boundary": "a boundary point",
    "closure only": "in the Zariski closure only",
    "off": "off the surface",
}


@dataclass(frozen=True)
class SurfacePoint:
    """The point that the reader moves, and what is true there.

    Attributes:
        at: its coordinates in the slice.
        forms: q₁ and q₂.
        facts: kind, ranks, kernel, number of preimages.
        roots: the real roots that both forms share.
        ruling: the line of the surface it is moved along, from end to end; None on the curve.
        discriminant: of the common form where the two are proportional, else None; for a form of size 1.
    """

    at: tuple[float, float, float]
    forms: tuple[Form, Form]
    facts: Facts
    roots: tuple[Root, ...]
    ruling: tuple[Ruling, tuple[float, float, float], tuple[float, float, float]] | None
    discriminant: float | None


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
        q1, q2 = point.forms
        common = on_circle(q1 if any(q1) else q2).tolist()
    rim = np.linspace(0, 2 * pi, 121)
    traces = [
        {
            "name": "the projective line",
            "x": np.cos(rim).round(5).tolist(),
            "y": np.sin(rim).round(5).tolist(),
            "mode": "lines",
            "line": {"color": theme.color("axis"), "width": 2},
            "fill": "toself",
            "fillcolor": theme.color("wash"),
            "hoverinfo": "skip",
        },
        _form_trace("q₁", point.forms[0], "ink", "solid", "circle", 0.75),
        _form_trace("q₂", point.forms[1], "soft", "dash", "square-open", 1.6),
        {
            "name": "common root",
            "x": [x for x, _ in common],
            "y": [y for _, y in common],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": 3.4 * theme.size("marker"),
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hovertemplate": "common root<extra></extra>",
        },
    ]
    hidden = {"visible": False, "constrain": "domain"}
    axes = {
        "xaxis": {**hidden, "domain": domain, "anchor": "y", "range": [-1.35, 1.35]},
        "yaxis": {
            **hidden,
            "domain": (0.30, 1 - 5.2 * theme.size("note") / theme.size("height")),
            "anchor": "x",
            "range": [-1.26, 1.26],
            "scaleanchor": "x",
        },
    }
    return View(traces, axes, _words(point, common, domain), [])


def _form_trace(name: str, q: Form, role: str, dash: str, symbol: str, size: float) -> dict:
    places = on_circle(q).tolist() if any(q) else []
    kind = "real roots" if len(places) == 2 else "a double root" if _on_rim(places) else "a complex pair"
    return {
        "name": f"roots of {name}",
        "x": [x for x, _ in places],
        "y": [y for _, y in places],
        "mode": "lines+markers",
        "line": {"color": theme.color(role), "width": theme.size("line"), "dash": dash},
        "marker": {
            "symbol": symbol,
            "size": size * theme.size("marker") + 2,
            "color": theme.color(role),
            "line": {"width": 2, "color": theme.color(role)},
        },
        "hovertemplate": f"{name}: {kind}<extra></extra>",
    }


def _on_rim(places: list) -> bool:
    return bool(places) and abs(np.hypot(*places[0]) - 1) < 1e-9


def _words(point: SurfacePoint, common: list, domain: tuple[float, float]) -> list[dict]:
    note, ink = theme.size("note"), theme.color("ink")
    at = {
        "xref": "paper",
        "yref": "paper",
        "x": domain[0],
        "xanchor": "left",
        "align": "left",
        "showarrow": False,
    }
    top = {**at, "y": 1, "yanchor": "bottom", "yshift": 6, "font": {"size": theme.size("title")}}
    key = {**at, "y": 1, "yanchor": "top", "font": {"size": note, "color": theme.color("soft")}}
    below = {**at, "y": 0.0, "yanchor": "bottom", "font": {"size": note + 1, "color": ink}}
    x, y = common[0] if common else (0.0, 0.0)
    up = 1 if y >= 0 else -1
    return [
        {**top, "text": f"<b>{_headline(point)}</b>"},
        {**key, "text": "roots on RP¹: q₁ ●—, q₂ □- -<br>real pair: a chord · complex pair: a point inside"},
        {**below, "text": "<br>".join(_facts(point))},
        label(
            _common_words(point),
            x,
            y,
            yanchor="bottom" if up > 0 else "top",
            yshift=up * 2 * theme.size("marker"),
            xshift=3 * x * theme.size("marker"),
            font={"size": note, "color": theme.color("focus")},
        ),
    ]


def _common_words(point: SurfacePoint) -> str:
    if point.facts.kind == "closure only":
        return "common pair, not real"
    return {0: "", 1: "common root", 2: "both roots common"}[len(point.roots)]


def _headline(point: SurfacePoint) -> str:
    kind = point.facts.kind
    if kind == "boundary":
        return "q₁ and q₂: one double root" if any(map(any, point.forms)) else "q₁ = q₂ = 0"
    return {
        "smooth": "q₁ and q₂ share one root",
        "crossing": "q₁ and q₂ share both roots",
        "closure only": "both roots shared, not real",
        "off": "no common root",
    }[kind]


def _facts(point: SurfacePoint) -> list[str]:
    facts = point.facts
    lines = [f"<b>{KIND_WORDS[facts.kind]}</b>"]
    if point.roots:  # Prop. A.5: the table of products
        products = "q₁ = ℓ₁v, q₂ = ℓ₂v, " if len(point.roots) == 1 else "both qₖ = ℓₖv: "
        lines.append(f"{products}v = {' or '.join(map(factor_text, point.roots))}")
    if facts.rank_a is None:
        lines.append("no real weights: 0 preimages")
    else:
        preimages = "infinitely many" if facts.preimages == inf else facts.preimages
        lines.append(f"rank A = {facts.rank_a}, rank V = {facts.rank_v}")
        lines.append(f"preimages: {preimages}, kernel there: {facts.kernel}")
    if point.discriminant is not None:
        sign = "= 0" if facts.kind == "boundary" else f"= {point.discriminant:.3g}"
        lines.append(f"discriminant of the common form {sign}".replace("-", "−"))
    return lines
