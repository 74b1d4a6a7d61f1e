"""Where the starts of a search ended: how far from the given weights, and how far from the function."""

from math import floor, log10
from statistics import median
from typing import NamedTuple

from neuroviz.beyond.search.cases import SearchStudy
from neuroviz.beyond.search.equivalent_weights import UNEXPLAINED
from neuroviz.beyond.search.result import FiberPoint, StartOutcome
from neuroviz.beyond.search.search import VERIFIED
from neuroviz.kit import theme
from neuroviz.kit.plot import Plot
from neuroviz.kit.words import colored, power_of_ten, tiny

LOWEST, HIGHEST = 1e-17, 1e20  # where 0 and what has overflowed are drawn; hovering shows the numbers
NAMED = 3  # points that get a ring and a name; more are only drawn


class End(NamedTuple):
    """A kind of end: its role, what the bars call it, and what the dots are."""

    role: str
    words: str
    dots: str


ENDS = {
    "given": End("certified", "the given", "the given weights again"),
    "other": End("focus", "others", "other solutions"),
    "loose": End("outside", "not isolated", "solutions that are not isolated"),
    "none": End("ghost", "nowhere", "no solution"),
}


def end_of(study: SearchStudy, outcome: StartOutcome) -> str:
    """Which of `ENDS` a start has."""
    if not outcome.verified:
        return "none"
    if outcome.point is None:
        return "loose"
    return "given" if study.search.classes[outcome.point].is_given else "other"


def short_name(point: FiberPoint) -> str:
    """The name of a point without the source in brackets."""
    if point.is_given:
        return "the given weights"
    return "another point, unexplained" if point.symmetry == UNEXPLAINED else point.symmetry.split(" (")[0]


def drawn(value: float) -> float:
    """A value as the axes can show it."""
    return min(max(value, LOWEST), HIGHEST)


def log(value: float) -> float:
    """Its logarithm."""
    return log10(drawn(value))


def outcomes_plot(study: SearchStudy, x: tuple[float, float], y: tuple[float, float]) -> Plot:
    """All starts on two log axes: solutions are low."""
    plot, search, size = Plot("", x, y), study.search, theme.size("marker")
    ends: dict[str, list[StartOutcome]] = {end: [] for end in ENDS}
    for outcome in search.outcomes:
        ends[end_of(study, outcome)].append(outcome)
    for end in ("none", "given", "other", "loose"):
        dots(plot, ENDS[end], ends[end], size, filled=end != "none")
    named = sorted(range(len(search.classes)), key=lambda i: (not search.classes[i].is_given, i))[:NAMED]
    own = [[o for o in search.outcomes if o.point == number] for number in named]
    points = [search.classes[number] for number in named]
    roles = ["ink" if point.is_given else "focus" for point in points]
    places = [(median(log(o.distance) for o in one), median(log(o.residual) for o in one)) for one in own]
    ring = {"symbol": "circle-open", "size": 3 * size, "color": list(map(theme.color, roles))}
    x, y = [10**across for across, _ in places], [10**up for _, up in places]
    plot.points("points of the fibre", x, y, ring | {"line": {"width": 2.5}}, cliponaxis=False)
    logs = zip(*((log(o.distance), log(o.residual)) for o in search.outcomes), strict=True)
    right, top = (max(1.6, *(value + 0.6 for value in values)) for values in logs)
    left = bottom = -17.6
    away = "distance from the given weights" + ", up to rescaling" * (
        study.case.arch.attention == "lightning"
    )
    for which, high, title in (("x", right, away), ("y", top, "disagreement on fresh inputs")):
        tens = range(-16, floor(high) + 1, 4 if high < 8 else 8)
        numbers = {"tickvals": [10.0**k for k in tens], "ticktext": [power_of_ten(k) for k in tens]}
        plot.axis(which, left, high, title, type="log", **numbers)
    # Shapes take the values, not their logarithms.
    plot.region((10**left, 10**right), (10**bottom, VERIFIED), {"width": 0}, theme.color("wash"))

    plot.headline(finding(study))
    middle = (left + right) / 2
    same = {"xanchor": "center", "yanchor": "bottom", "yshift": 3}
    plot.text("same function, to 10⁻⁸", middle, bottom, "note", "soft", **same)
    failed = f"no solution: {len(ends['none'])}" if ends["none"] else ""
    plot.text(failed, left, top, "note", "soft", xanchor="left", yanchor="top", xshift=6)

    def name(text: str, across: float, up: float, role: str, yshift: float) -> None:
        """Above a place, and towards the middle of the plot, so that it is not cut off."""
        side = "left" if across < middle else "right"
        place = {"xanchor": side, "align": side, "xshift": -8 if side == "left" else 8, "yanchor": "bottom"}
        plot.text(text, across, up, "base", role, **place, yshift=yshift)

    for slot, point in enumerate(points):
        up = max(log(o.residual) for o in own[slot])
        text = f"<b>{short_name(point)}</b><br>found {point.found} times"
        above = 1.5 * size + 4 + (2.6 * theme.size("base") if slot == 2 else 0)  # over the second name
        name(text, places[slot][0], up, roles[slot], above)
    if loose := ends["loose"]:
        text = f"<b>not isolated</b><br>{len(loose)} different solutions"
        place = median(log(o.distance) for o in loose), max(log(o.residual) for o in loose)
        name(text, *place, "outside", size)
    return plot


def dots(plot: Plot, end: End, outcomes: list[StartOutcome], size: float, filled: bool) -> None:
    """The starts that ended in one way."""
    color, ground = theme.color(end.role), theme.color("ground")
    look = {"size": size, "color": color, "opacity": 0.75}
    if not filled:
        look = {"size": size - 2, "color": ground, "opacity": 1.0}
    x, y = [drawn(o.distance) for o in outcomes], [drawn(o.residual) for o in outcomes]
    said = [f"start {o.kind}, distance {o.distance:.1e}, residual {o.residual:.1e}" for o in outcomes]
    more = {"text": said, "cliponaxis": False, "hover": f"{end.dots}: %{{text}}"}
    plot.points(end.dots, x, y, {**look, "line": {"color": color, "width": 1.4}}, **more)


def finding(study: SearchStudy) -> str:
    """What the search says, in a few words."""
    search = study.search
    if not search.verified:
        return "nothing converged: no information"
    if search.continuum and not search.classes:
        far = search.continuum.farthest
        shown = f"{far:.1f}" if 0.1 <= far < 100 else tiny(far)
        return colored("outside", f"a continuum: solutions up to {shown} away")
    others, number = search.others, len(search.classes)
    if not others:
        return f"one point: {search.verified} of {search.starts} starts came back to it"
    if len(others) == 1 and number == 2:
        return f"2 points: given + {colored('focus', short_name(others[0]))}"
    alone = ", not the given one" if len(others) == number else ""
    return f"{number} point{'s' if number > 1 else ''} found{alone}"
