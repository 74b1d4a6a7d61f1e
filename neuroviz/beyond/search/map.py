"""Where the starts of a search ended: how far from the given weights, and how far from the function."""

from math import floor, log10
from statistics import median

from neuroviz.beyond.search.cases import SearchStudy
from neuroviz.beyond.search.equivalent_weights import RESCALED, SAME, UNEXPLAINED
from neuroviz.beyond.search.result import FiberPoint, StartOutcome
from neuroviz.beyond.search.search import VERIFIED
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words, power_of_ten
from neuroviz.kit.words import colored, tiny

_FLOOR, _CEILING = 1e-17, 1e20  # where 0 and what has overflowed are drawn; hovering shows the numbers
_LABELS = 3  # points that are named; more are only drawn
SHORT = {
    SAME: "the given weights",
    RESCALED: "the given weights",
    UNEXPLAINED: "another point, unexplained",
}
"""What a point is called in a figure, where not by the name of its symmetry."""


def short_name(point: FiberPoint) -> str:
    """The name of a point without the source in brackets."""
    return SHORT.get(point.symmetry, point.symmetry.split(" (")[0])


def is_given(point: FiberPoint) -> bool:
    """Whether a point is where one started from, up to rescaling."""
    return point.symmetry in (SAME, RESCALED)


def map_view(study: SearchStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """All starts on two log axes x and y: solutions are low."""
    outcomes = study.search.outcomes
    points = study.search.classes
    given = [o for o in outcomes if o.point is not None and is_given(points[o.point])]
    others = [o for o in outcomes if o.point is not None and not is_given(points[o.point])]
    loose = [o for o in outcomes if o.verified and o.point is None]
    failed = [o for o in outcomes if not o.verified]
    size = theme.size("marker")
    traces = [
        _dots("no solution", failed, "ghost", size - 2, filled=False),
        _dots("the given weights again", given, "certified", size, filled=True),
        _dots("other solutions", others, "focus", size, filled=True),
        _dots("solutions that are not isolated", loose, "outside", size, filled=True),
        _rings(study),
    ]
    ends = _range(outcomes)
    return View(
        traces,
        _axes(study, ends, x_domain, y_domain),
        [headline(_finding(study)), *_texts(study, ends)],
        [_wash(ends)],
    )


def _log(value: float) -> float:
    return log10(_drawn(value))


def _drawn(value: float) -> float:
    return min(max(value, _FLOOR), _CEILING)


def _dots(name: str, outcomes: list[StartOutcome], role: str, size: float, filled: bool) -> dict:
    color = theme.color(role)
    return {
        "name": name,
        "x": [_drawn(o.distance) for o in outcomes],
        "y": [_drawn(o.residual) for o in outcomes],
        "text": [f"start {o.kind}, distance {o.distance:.1e}, residual {o.residual:.1e}" for o in outcomes],
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size,
            "color": color if filled else theme.color("ground"),
            "opacity": 0.75 if filled else 1.0,
            "line": {"color": color, "width": 1.4},
        },
        "hovertemplate": f"{name}: %{{text}}<extra></extra>",
    }


def _place(study: SearchStudy, number: int) -> tuple[float, float]:
    """The middle of the dots of one point, as logarithms."""
    own = [o for o in study.search.outcomes if o.point == number]
    return median(_log(o.distance) for o in own), median(_log(o.residual) for o in own)


def _named(study: SearchStudy) -> list[int]:
    """The points that get a ring and a name: the given one first."""
    points = study.search.classes
    return sorted(range(len(points)), key=lambda i: (not is_given(points[i]), i))[:_LABELS]


def _rings(study: SearchStudy) -> dict:
    places = [_place(study, number) for number in _named(study)]
    roles = ["ink" if is_given(study.search.classes[number]) else "focus" for number in _named(study)]
    return {
        "name": "points of the fibre",
        "x": [10**x for x, _ in places],
        "y": [10**y for _, y in places],
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "symbol": "circle-open",
            "size": 3 * theme.size("marker"),
            "color": [theme.color(role) for role in roles],
            "line": {"width": 2.5},
        },
        "hoverinfo": "skip",
    }


def _range(outcomes: tuple[StartOutcome, ...]) -> tuple[list[float], list[float]]:
    """The ends of both axes, as logarithms: from rounding errors to what was farthest."""
    return tuple(
        [-17.6, max(1.6, *(_log(getattr(o, name)) + 0.6 for o in outcomes))]
        for name in ("distance", "residual")
    )


def _axes(
    study: SearchStudy,
    ends: tuple[list[float], list[float]],
    x_domain: tuple[float, float],
    y_domain: tuple[float, float],
) -> dict:
    rescaled = ", up to rescaling" if study.case.arch.attention == "lightning" else ""

    def ticks(high: float) -> dict:
        places = range(-16, floor(high) + 1, 4 if high < 8 else 8)
        return {"tickvals": [10.0**k for k in places], "ticktext": [power_of_ten(k) for k in places]}

    x, y = ends
    return {
        "xaxis": {
            "domain": x_domain, "anchor": "y", "type": "log", "range": x, **ticks(x[1]),
            "title": {"text": f"distance from the given weights{rescaled}"},
        },
        "yaxis": {
            "domain": y_domain, "anchor": "x", "type": "log", "range": y, **ticks(y[1]),
            "title": {"text": "disagreement on fresh inputs"},
        },
    }  # fmt: skip


def _wash(ends: tuple[list[float], list[float]]) -> dict:
    """Behind everything that agrees on fresh inputs. Shapes take the values, not their logarithms."""
    (left, right), (low, _) = ends
    return {
        "type": "rect", "xref": "x", "yref": "y", "x0": 10**left, "x1": 10**right,
        "y0": 10**low, "y1": VERIFIED,
        "fillcolor": theme.color("wash"), "line": {"width": 0}, "layer": "below",
    }  # fmt: skip


def _texts(study: SearchStudy, ends: tuple[list[float], list[float]]) -> list[dict]:
    (left, right), (low, high) = ends
    note = {"font": {"size": theme.size("note"), "color": theme.color("soft")}}
    found = [
        label("same function, to 10⁻⁸", (left + right) / 2, low, xanchor="center", yanchor="bottom", yshift=3)
        | note
    ]
    failed = study.search.starts - study.search.verified
    found.append(
        label(f"no solution: {failed}" if failed else "", left, high, xanchor="left", yanchor="top", xshift=6)
        | note
    )
    points, named = study.search.classes, _named(study)
    for slot in range(_LABELS):
        if slot < len(named):
            point, (x, y) = points[named[slot]], _place(study, named[slot])
            y = max([y, *(_log(o.residual) for o in study.search.outcomes if o.point == named[slot])])
            role = "ink" if is_given(point) else "focus"
            text = f"<b>{short_name(point)}</b><br>found {point.found} times"
            found.append(_beside(text, x, y, role, left, right, 3 * theme.size("marker") / 2 + 4, slot))
        else:
            found.append(_beside("", left, high, "ink", left, right, 0, slot))
    loose = [o for o in study.search.outcomes if o.verified and o.point is None]
    text = ""
    x = y = 0.0
    if loose:
        text = f"<b>not isolated</b><br>{len(loose)} different solutions"
        x, y = median(_log(o.distance) for o in loose), max(_log(o.residual) for o in loose)
    found.append(_beside(text, x, y, "outside", left, right, theme.size("marker"), _LABELS))
    return found


def _beside(
    text: str, x: float, y: float, role: str, left: float, right: float, shift: float, slot: int
) -> dict:
    """A text above a place; towards the middle of the plot, so that it is not cut off."""
    anchor = "left" if x < (left + right) / 2 else "right"
    # A second name on the same side stands higher.
    yshift = shift + (2.6 * theme.size("base") if slot == 2 else 0)
    return label(
        text, x, y, xanchor=anchor, yanchor="bottom", yshift=yshift, xshift=-8 if anchor == "left" else 8,
        align=anchor,
    ) | {"font": {"size": theme.size("base"), "color": theme.color(role)}}  # fmt: skip


def _finding(study: SearchStudy) -> str:
    """What the search says, in a few words."""
    search = study.search
    if not search.verified:
        return "nothing converged: no information"
    if search.continuum and not search.classes:
        return outside_words(f"a continuum: solutions up to {_far(search.continuum.farthest)} away")
    others = [point for point in search.classes if not is_given(point)]
    given = len(others) < len(search.classes)
    if not others:
        return f"one point: {search.verified} of {search.starts} starts came back to it"
    if given and len(others) == 1:
        return f"2 points: given + {colored('focus', short_name(others[0]))}"
    number = len(search.classes)
    return f"{number} point{'s' if number > 1 else ''} found" + ("" if given else ", not the given one")


def _far(distance: float) -> str:
    return f"{distance:.1f}" if 0.1 <= distance < 100 else tiny(distance)
