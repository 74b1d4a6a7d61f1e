"""A layer on the way to rank one and to the boundary: spectrum of the differential, what falls, and facts."""

from dataclasses import dataclass
from math import log10

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, few, headline, label, power_of_ten
from neuroviz.singular.ranks import BOUNDARY, CROSSING, SMOOTH, THIN, Approach, SingularFacts

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.38), (0.47, 0.71), (0.76, 1.0)
_UPPER, _LOWER = (0.6, 1.0), (0.0, 0.34)
_FLOOR = 1e-17  # where a singular value that came out as 0 is drawn
_FALLEN = 2e-3  # a value below this at the end of a curve has gone to 0

KIND_WORDS = {
    SMOOTH: "a smooth point",
    CROSSING: "singular: branches cross",
    BOUNDARY: "singular: boundary",
    THIN: "singular: rank A < a",
}


@dataclass(frozen=True)
class FallingValues:
    """The smallest singular values along one path, increasing, the kernel's own 0 first.

    Attributes:
        places: from 0 to 1: s, or b.
        values: for each place, one after the other.
    """

    places: tuple[float, ...]
    values: tuple[tuple[float, ...], ...]

    @property
    def fallen(self) -> int:
        """How many have gone to 0 at the end, besides the first, which is 0 everywhere."""
        return sum(value < _FALLEN for value in self.values[-1][1:])


@dataclass(frozen=True, eq=False)
class SingularityStudy:
    """One place, and the two ways through it.

    Attributes:
        approach: where.
        facts: what is true there, exactly.
        spectrum: singular values of the differential, decreasing, for A and V of length 1.
        by_s, by_b: the smallest ones when s, or b, goes from 0 to 1 and the rest stays.
    """

    approach: Approach
    facts: SingularFacts
    spectrum: tuple[float, ...]
    by_s: FallingValues
    by_b: FallingValues

    @property
    def verdict(self) -> str:
        """What the point is; outside the hypotheses of Theorem 3.4, what is counted there."""
        if not self.approach.covered:
            return "outside Theorem 3.4"
        return KIND_WORDS[self.facts.kind]


def singularity_parts(study: SingularityStudy) -> Parts:
    """Spectrum, curves and facts."""
    return compose(
        _spectrum(study),
        _falling(study, study.by_s, "s", "2", _UPPER),
        _falling(study, study.by_b, "b", "3", _LOWER),
        _facts(study),
    )


# Left: all singular values.


def _spectrum(study: SingularityStudy) -> View:
    facts, values = study.facts, study.spectrum
    marker, kept = theme.size("marker"), study.facts.image
    last = min(facts.directions - 1, len(values))  # in the end, all but one are not 0 at a smooth point
    low = max(kept - _watched(study) if facts.kernel == 1 else kept, 0)
    groups = [
        ("singular values", range(low), "ink", False),
        (f"the {_watched(study)} that go to 0 at the boundary", range(low, last), "focus", facts.kernel > 1),
        ("0 everywhere: the rescaling", range(last, len(values)), "soft", True),
    ]
    traces = [
        {
            "name": name,
            "x": [i + 1 for i in indices],
            "y": [max(values[i], _FLOOR) for i in indices],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "circle-open" if hollow else "circle",
                "size": marker,
                "color": theme.color(role),
                "line": {"width": 1.8, "color": theme.color(role)},
            },
            "hovertemplate": f"σ%{{x}} = %{{y:.2e}}<br>{name}<extra></extra>",
        }
        for name, indices, role, hollow in groups
    ]
    n = len(values)
    tens = list(range(-16, 1, 4))
    axes = {
        "xaxis": {
            "anchor": "y",
            "domain": _LEFT,
            "range": [0, n + 1],
            "tickvals": few(n) if n < 13 else [1, kept, n] if n - kept > 2 else [1, n],
            "title": {"text": f"number, of {n} directions of (A, V)"},
            "fixedrange": True,
        },
        "yaxis": {
            "type": "log",
            "anchor": "x",
            "domain": (0.0, 1.0),
            "range": [-18, 1],
            "tickvals": [10.0**e for e in tens],
            "ticktext": [power_of_ten(e) for e in tens],
            "title": {"text": "singular value"},
            "fixedrange": True,
        },
    }
    many = facts.kernel > 1
    jump = f"kernel jumps from 1 to d = {facts.kernel} at the boundary"
    what = "(w kᵀ, −h wᵀ) for every w" if many else "(A, −V)"
    kernel = f"kernel: {facts.kernel} (exact)<br>{what}"
    line = {
        "type": "line",
        "xref": "x",
        "yref": "y domain",
        "x0": kept + 0.5,
        "x1": kept + 0.5,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.color("certified"), "width": 1.6, "dash": "dot"},
    }
    words = [
        headline(jump if many else "kernel 1: only the rescaling"),
        label(
            f"<span style=\"color:{theme.color('certified')}\">exact rank {kept}</span>",
            kept + 0.5, 1, yref="y domain", xanchor="right", yanchor="top", xshift=-5, yshift=-46,
            font={"size": theme.size("base")},
        ),
        label(
            kernel, kept + 0.5, log10(1e-11), xanchor="right", xshift=-6, align="right",
            font={"size": theme.size("base")},
        ),
    ]  # fmt: skip
    return View(traces, axes, words, [line])


def _watched(study: SingularityStudy) -> int:
    """d − 1: how many singular values go to 0 at the boundary."""
    return study.approach.d - 1


# Middle: the smallest singular values along the two sliders.


def _falling(
    study: SingularityStudy,
    path: FallingValues,
    name: str,
    axis: str,
    y_domain: tuple[float, float],
) -> View:
    on = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    count, watched, approach = len(path.values[0]), _watched(study), study.approach
    if name == "s":
        here, what_moves, rest = float(approach.s), "s: to rank one", f"b = {float(approach.b):g}"
    else:
        here, what_moves, rest = float(approach.b), "b: u and v meet", f"s = {float(approach.s):g}"
    width = theme.size("line")
    groups = [
        ("kernel: always 0", range(1), "soft", "dot", 0.8 * width),
        ("the next", range(watched + 1, count), "ink", "solid", 0.7 * width),
        ("what goes to 0 at the boundary", range(1, min(watched + 1, count)), "focus", "solid", width),
    ]
    traces = []
    for what, indices, role, dash, thick in groups:
        x, y = [], []
        for i in indices:
            x += [*path.places, None]
            y += [*(round(values[i], 6) for values in path.values), None]
        traces.append(
            {"name": f"against {name}: {what}", **on, "x": x, "y": y, "mode": "lines"}
            | {"line": {"color": theme.color(role), "dash": dash, "width": thick}}
            | {"hovertemplate": f"{name} = %{{x:.2f}}: %{{y:.3f}}<extra></extra>"}
        )
    top = 1.18 * max(max(values[1:]) for values in path.values)
    axes = {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": _MIDDLE,
            "range": [-0.02, 1.04],
            "tickvals": [0, 0.5, 1],
            "title": {"text": f"{what_moves}   ({rest})"},
            "fixedrange": True,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": y_domain,
            "range": [-0.05 * top, top],
            "nticks": 4,
            "fixedrange": True,
        },
    }
    fallen = path.fallen
    found = f"{fallen} fall{'s' * (fallen == 1)} to 0" if fallen else "none falls to 0"
    marker = {
        "type": "line",
        "xref": f"x{axis}",
        "yref": f"y{axis} domain",
        "x0": here,
        "x1": here,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.color("focus"), "width": 1.4, "dash": "dash"},
    }
    return View(traces, axes, [headline(f"{found} as {name} → 1", axis)], [marker])


# Right: what is true here.


def _facts(study: SingularityStudy) -> View:
    facts, approach = study.facts, study.approach
    over = facts.image - facts.dimension
    compared = f"{facts.image}" + (f" = D {'+' if over > 0 else '−'} {abs(over)}" if over else " = D")
    rows = [
        ("rank A, rank V", f"{facts.rank_a}, {facts.rank_v}"),
        ("angle of u and v", f"{approach.angle:.0f}°"),
        ("dimension D of the set", f"{facts.dimension}"),
        ("directions of (A, V)", f"{facts.directions}"),
        ("kernel", f"{facts.kernel}"),
        ("what they reach", compared),
        ("weights, up to rescaling", f"{facts.preimages}"),
        ("both branches reach", "–" if facts.span is None else f"{facts.span}"),
    ]
    base = theme.size("base")
    at = {"xref": "paper", "yref": "paper", "yanchor": "top", "showarrow": False}
    words = [
        at | {"text": f"<b>{study.verdict}</b>", "x": _RIGHT[0], "y": 1, "yanchor": "bottom", "yshift": 6}
        | {"xanchor": "left", "font": {"size": theme.size("title")}},
        at | {"text": "<br>".join(name for name, _ in rows), "x": _RIGHT[0], "y": 0.98, "xanchor": "left"}
        | {"align": "left", "font": {"size": base, "color": theme.color("soft")}},
        at | {"text": "<br>".join(f"<b>{value}</b>" for _, value in rows), "x": 1, "y": 0.98}
        | {"xanchor": "right", "align": "right", "font": {"size": base}},
        at | {"text": "<br>".join(_why(study)), "x": _RIGHT[0], "y": 0.44, "xanchor": "left", "align": "left"}
        | {"font": {"size": min(base, 16)}},
    ]  # fmt: skip
    return View([], {}, words, [])


def _why(study: SingularityStudy) -> list[str]:
    """A few lines: how the numbers above show what the point is."""
    facts, approach = study.facts, study.approach
    missing, more = facts.dimension - facts.image, facts.image - facts.dimension
    if not approach.covered:
        return ["With a = d′ = 1 the theorem", "says nothing: u and v may", "be swapped everywhere."]
    if more > 0:
        lines = [
            f"rank A = {facts.rank_a} < a = {approach.a} < d: A may",
            "move in all directions, more",
            "than the set has dimensions.",
        ]
        if facts.kind == CROSSING:
            lines.append("And two branches cross.")
        if facts.kind == BOUNDARY:
            lines.append("And keys’ form = values’.")
        return lines
    if facts.kind == BOUNDARY:
        lines = [
            "Keys and values use the same",
            "form, v: every w moves A by",
            "w kᵀ and V by −h wᵀ at no cost.",
        ]
        return [
            *lines,
            f"{missing} dimension{'s' * (missing != 1)} {'are' if missing != 1 else 'is'} not reached.",
        ]
    if facts.kind == CROSSING:
        return [
            "Two weights, the swap u ↔ v.",
            "Each branch is smooth, and",
            f"reaches {facts.image}; together {facts.span}.",
        ]
    return ["The differential reaches as much", "as the set has dimensions, and", "from one side only."]
