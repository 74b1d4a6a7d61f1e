"""A layer on the way to rank one and to the boundary: spectrum of the differential, what falls, and facts."""

from dataclasses import dataclass

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose, few
from neuroviz.singular.ranks import BOUNDARY, CROSSING, SMOOTH, THIN, Approach, SingularFacts

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.38), (0.47, 0.71), (0.76, 1.0)
_FLOOR = 1e-17  # where a singular value that came out as 0 is drawn
_FALLEN = 2e-3  # a value below this at the end of a curve has gone to 0

KIND_WORDS = {
    SMOOTH: "a smooth point",
    CROSSING: "singular: branches cross",
    BOUNDARY: "singular: boundary",
    THIN: "singular: rank A < a",
}


@dataclass(frozen=True, eq=False)
class SingularityStudy:
    """One place, and the two ways through it.

    Attributes:
        approach: where.
        facts: what is true there, exactly.
        spectrum: singular values of the differential, decreasing, for A and V of length 1.
        by_s, by_b: for each s, or b, from 0 to 1 the smallest of them, increasing, where the rest stays.
    """

    approach: Approach
    facts: SingularFacts
    spectrum: tuple[float, ...]
    by_s: dict[float, list[float]]
    by_b: dict[float, list[float]]


def singularity_parts(study: SingularityStudy) -> Parts:
    """Spectrum, curves and facts."""
    s, b = float(study.approach.s), float(study.approach.b)
    plots = Plot("", _LEFT, (0.0, 1.0)), Plot("2", _MIDDLE, (0.6, 1.0)), Plot("3", _MIDDLE, (0.0, 0.34))
    spectrum, upper, lower = plots
    _spectrum(study, spectrum)
    _falling(study, study.by_s, "s", s, f"s: to rank one   (b = {b:g})", upper)
    _falling(study, study.by_b, "b", b, f"b: u and v meet   (s = {s:g})", lower)
    _facts(study, lower)
    return compose(*(plot.view() for plot in plots))


def _spectrum(study: SingularityStudy, plot: Plot) -> None:
    """Left: all singular values."""
    facts, values, watched = study.facts, study.spectrum, study.approach.d - 1
    n, kept, many = len(values), facts.image, facts.kernel > 1
    last = min(facts.directions - 1, n)  # in the end, all but one are not 0 at a smooth point
    low = kept if many else max(kept - watched, 0)
    for name, indices, role, hollow in (
        ("singular values", range(low), "ink", False),
        (f"the {watched} that go to 0 at the boundary", range(low, last), "focus", many),
        ("0 everywhere: the rescaling", range(last, n), "soft", True),
    ):
        color, symbol = theme.color(role), "circle-open" if hollow else "circle"
        look = {"symbol": symbol, "size": theme.size("marker"), "color": color}
        look["line"] = {"width": 1.8, "color": color}
        x, y = [i + 1 for i in indices], [max(values[i], _FLOOR) for i in indices]
        plot.points(name, x, y, look, cliponaxis=False, hover=f"σ%{{x}} = %{{y:.2e}}<br>{name}")
    numbers = few(n) if n < 13 else [1, kept, n] if n - kept > 2 else [1, n]
    plot.axis("x", 0, n + 1, f"number, of {n} directions of (A, V)", tickvals=numbers)
    plot.log_axis("y", -18, 1, "singular value", step=6)
    plot.rule("x", kept + 0.5, "certified", 1.6, "dot")
    jump = f"kernel jumps from 1 to d = {facts.kernel} at the boundary"
    plot.headline(jump if many else "kernel 1: only the rescaling")
    at_top = {"yref": "y domain", "yanchor": "top", "xshift": -5, "yshift": -46}
    plot.text(f"exact rank {kept}", kept + 0.5, 1, "base", "certified", xanchor="right", **at_top)
    nothing = "(w kᵀ, −h wᵀ) for every w" if many else "(A, −V)"
    kernel = f"kernel: {facts.kernel} (exact)<br>{nothing}"
    plot.text(kernel, kept + 0.5, -11, "base", "ink", xanchor="right", xshift=-6, align="right")


def _falling(
    study: SingularityStudy, path: dict[float, list[float]], name: str, here: float, title: str, plot: Plot
) -> None:
    """Middle: the smallest singular values along one of the two sliders."""
    rows, watched, width = list(path.values()), study.approach.d - 1, theme.size("line")
    count = len(rows[0])
    for what, indices, role, dash, thick in (
        ("kernel: always 0", range(1), "soft", "dot", 0.8 * width),
        ("the next", range(watched + 1, count), "ink", "solid", 0.7 * width),
        ("what goes to 0 at the boundary", range(1, min(watched + 1, count)), "focus", "solid", width),
    ):
        x = [*path, None] * len(indices)
        y = [v for i in indices for v in (*(round(values[i], 6) for values in rows), None)]
        hover = f"{name} = %{{x:.2f}}: %{{y:.3f}}"
        plot.line(f"against {name}: {what}", x, y, theme.color(role), thick, dash, hover=hover)
    top = 1.18 * max(max(values[1:]) for values in rows)
    plot.axis("x", -0.02, 1.04, title, tickvals=[0, 0.5, 1])
    plot.axis("y", -0.05 * top, top, nticks=4)
    plot.rule("x", here, "focus", 1.4, "dash")
    fallen = sum(value < _FALLEN for value in rows[-1][1:])
    found = f"{fallen} fall{'s' * (fallen == 1)} to 0" if fallen else "none falls to 0"
    plot.headline(f"{found} as {name} → 1")


def _facts(study: SingularityStudy, plot: Plot) -> None:
    """Right: what is true here."""
    facts, approach = study.facts, study.approach
    over = facts.image - facts.dimension
    rows = {
        "rank A, rank V": f"{facts.rank_a}, {facts.rank_v}",
        "angle of u and v": f"{approach.angle:.0f}°",
        "dimension D of the set": f"{facts.dimension}",
        "directions of (A, V)": f"{facts.directions}",
        "kernel": f"{facts.kernel}",
        "what they reach": f"{facts.image} = D"
        + (f" {'+' if over > 0 else '−'} {abs(over)}" if over else ""),
        "weights, up to rescaling": f"{facts.preimages}",
        "both branches reach": "–" if facts.span is None else f"{facts.span}",
    }
    at = {"xref": "paper", "yref": "paper"}
    verdict = KIND_WORDS[facts.kind] if approach.covered else "outside Theorem 3.4"
    plot.headline(verdict, **at, x=_RIGHT[0])
    left, right = ({**at, "yanchor": "top", "xanchor": side, "align": side} for side in ("left", "right"))
    plot.text("<br>".join(rows), _RIGHT[0], 0.98, "base", "soft", **left)
    plot.text(f"<b>{'<br>'.join(rows.values())}</b>", 1, 0.98, "base", "ink", **right)
