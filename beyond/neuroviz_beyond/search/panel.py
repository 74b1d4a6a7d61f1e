"""Attack the claim that the function determines the weights: search for another set of
them."""

from collections.abc import Iterable
from math import floor, log10
from statistics import median
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.kit import theme
from neuroviz.kit.badges import badge
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import ANSWER, Parts, Plot, View, compose, headline
from neuroviz.kit.words import colored, counted, numbered, power_of_ten, tiny
from neuroviz_beyond.reasons import PAGES, Reasons, repeated
from neuroviz_beyond.search.asked import what_is_asked
from neuroviz_beyond.search.cases import SearchSetting, SearchStudy, study_search
from neuroviz_beyond.search.equivalent_weights import (
    UNEXPLAINED,
    nearest_signs,
    normalised,
)
from neuroviz_beyond.search.result import FiberPoint, FiberSearch, StartOutcome
from neuroviz_beyond.search.search import VERIFIED
from neuroviz_beyond.transformers.reasons import in_python

LEFT = (0.0, 0.45)
RIGHT = (0.57, 1.0)
MOST_LAYERS = 3
# where 0 and what has overflowed are drawn; hovering shows the numbers
LOWEST = 1e-17
HIGHEST = 1e20
# of both axes, as powers of ten
START = -17.6  # a little before LOWEST
LEAST_END = 1.6
NAMED = 3  # so many points get a ring and a name


class End(NamedTuple):
    """A kind of end: its role, and what the dots are."""

    role: str
    dots: str


ENDS = {
    "given": End("certified", "the given weights again"),
    "other": End("focus", "other solutions"),
    "loose": End("outside", "solutions that are not isolated"),
    "none": End("ghost", "no solution"),
}


def search_parts(study: SearchStudy) -> Parts:
    """Left where the starts ended, right the weights that were found."""
    return compose(outcomes_plot(study).view(), weights_view(study))


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
    return (
        "another point, unexplained"
        if point.symmetry == UNEXPLAINED
        else point.symmetry.split(" (")[0]
    )


def drawn(value: float) -> float:
    """A value moved into the range of the axes."""
    return min(max(value, LOWEST), HIGHEST)


def log(value: float) -> float:
    """Its logarithm."""
    return log10(drawn(value))


class Named(NamedTuple):
    """A point of the fibre that gets a ring and a name: in the middle of its starts, as
    powers of ten."""

    point: FiberPoint
    role: str
    across: float
    up: float
    highest: float  # of its starts


def outcomes_plot(study: SearchStudy) -> Plot:
    """All starts on two log axes: solutions are low."""
    plot = Plot("", LEFT, (0.0, 1.0))
    search = study.search
    size = theme.size("marker")
    ends: dict[str, list[StartOutcome]] = {end: [] for end in ENDS}
    for outcome in search.outcomes:
        ends[end_of(study, outcome)].append(outcome)
    for end in ("none", "given", "other", "loose"):
        dots(plot, ENDS[end], ends[end], size, filled=end != "none")
    named = named_points(search)
    rings(plot, named)

    right = end_of_axis(outcome.distance for outcome in search.outcomes)
    top = end_of_axis(outcome.residual for outcome in search.outcomes)
    away = "distance from the given weights"
    if study.case.arch.attention == "lightning":
        away += ", up to rescaling"
    axis(plot, "x", right, away)
    axis(plot, "y", top, "disagreement on fresh inputs")
    # Shapes take the values, not their logarithms.
    plot.region(
        (10**START, 10**right),
        (10**START, VERIFIED),
        {"width": 0},
        theme.color("wash"),
    )

    plot.headline(finding(study))
    middle = (START + right) / 2
    same = {"xanchor": "center", "yanchor": "bottom", "yshift": 3}
    plot.text("same function, to 10⁻⁸", middle, START, "note", "soft", **same)
    failed = f"no solution: {len(ends['none'])}" if ends["none"] else ""
    corner = {"xanchor": "left", "yanchor": "top", "xshift": 6}
    plot.text(failed, START, top, "note", "soft", **corner)

    for number, one in enumerate(named):
        text = f"<b>{short_name(one.point)}</b><br>found {one.point.found} times"
        # The second name stands above the first one, the third above that.
        above = 1.5 * size + 4 + 2.6 * theme.size("base") * number
        write_name(plot, text, one.across, one.highest, middle, one.role, above)
    if loose := ends["loose"]:
        text = f"<b>not isolated</b><br>{len(loose)} different solutions"
        across = median(log(outcome.distance) for outcome in loose)
        up = max(log(outcome.residual) for outcome in loose)
        write_name(plot, text, across, up, middle, "outside", size)
    return plot


def named_points(search: FiberSearch) -> list[Named]:
    """The given weights first, then the others as they were found."""
    points = list(enumerate(search.classes))
    points.sort(key=lambda numbered: not numbered[1].is_given)
    named = []
    for number, point in points[:NAMED]:
        starts = [outcome for outcome in search.outcomes if outcome.point == number]
        residuals = [log(outcome.residual) for outcome in starts]
        named.append(
            Named(
                point,
                role="ink" if point.is_given else "focus",
                across=median(log(outcome.distance) for outcome in starts),
                up=median(residuals),
                highest=max(residuals),
            )
        )
    return named


def rings(plot: Plot, named: list[Named]) -> None:
    """A ring around each point with a name."""
    marker = {
        "symbol": "circle-open",
        "size": 3 * theme.size("marker"),
        "color": [theme.color(one.role) for one in named],
        "line": {"width": 2.5},
    }
    x = [10**one.across for one in named]
    y = [10**one.up for one in named]
    plot.points("points of the fibre", x, y, marker, cliponaxis=False)


def end_of_axis(values: Iterable[float]) -> float:
    """Where an axis ends, as a power of ten: beyond all values."""
    return max(LEAST_END, *(log(value) + 0.6 for value in values))


def axis(plot: Plot, which: str, end: float, title: str) -> None:
    """A log axis, with a number at every fourth or eighth power of ten."""
    step = 4 if end < 8 else 8
    tens = range(-16, floor(end) + 1, step)
    numbers = {
        "tickvals": [10.0**k for k in tens],
        "ticktext": [power_of_ten(k) for k in tens],
    }
    plot.axis(which, START, end, title, type="log", **numbers)


def write_name(
    plot: Plot,
    text: str,
    across: float,
    up: float,
    middle: float,
    role: str,
    yshift: float,
) -> None:
    """Write a name above a place, shifted to the middle so that it is not cut off."""
    side = "left" if across < middle else "right"
    place = {
        "xanchor": side,
        "align": side,
        "xshift": -8 if side == "left" else 8,
        "yanchor": "bottom",
        "yshift": yshift,
    }
    plot.text(text, across, up, "base", role, **place, name=ANSWER)


def dots(
    plot: Plot, end: End, outcomes: list[StartOutcome], size: float, filled: bool
) -> None:
    """The starts that ended in one way."""
    color = theme.color(end.role)
    ground = theme.color("ground")
    look = {"size": size, "color": color, "opacity": 0.75}
    if not filled:
        look = {"size": size - 2, "color": ground, "opacity": 1.0}
    x = [drawn(o.distance) for o in outcomes]
    y = [drawn(o.residual) for o in outcomes]
    said = [
        f"start {o.kind}, distance {o.distance:.1e}, residual {o.residual:.1e}"
        for o in outcomes
    ]
    more = {"text": said, "cliponaxis": False, "hover": f"{end.dots}: %{{text}}"}
    plot.points(
        end.dots, x, y, {**look, "line": {"color": color, "width": 1.4}}, **more
    )


def finding(study: SearchStudy) -> str:
    """What the search says, in a few words."""
    search = study.search
    if not search.verified:
        return "nothing converged: no information"
    if search.continuum and not search.classes:
        far = search.continuum.farthest
        shown = f"{far:.1f}" if 0.1 <= far < 100 else tiny(far)
        return colored("outside", f"a continuum: solutions up to {shown} away")
    others = search.others
    number = len(search.classes)
    if not others:
        return f"one point: {search.verified} of {search.starts} starts came back to it"
    if len(others) == 1 and number == 2:
        return f"2 points: given + {colored('focus', short_name(others[0]))}"
    alone = ", not the given one" if len(others) == number else ""
    return f"{counted(number, 'point')} found{alone}"


def weights_view(study: SearchStudy) -> View:
    """L and the M_i that were given, and below them those of another point, where one
    was found."""
    attention = study.case.arch.attention
    search = study.search
    given = normalised(attention, search.target)
    other = None
    name = ""
    role = "soft"
    if search.others:
        said = short_name(search.others[0])
        other = search.others[0].virtual
        role = "focus"
        name = "<br>".join(wrap(said, len(said) // 2 + 2))
    elif search.continuum:
        other = search.continuum.example
        name = "one of many<br>others"
        role = "outside"
    if other is not None:
        other = nearest_signs(attention, given, normalised(attention, other))
    # all rescalings are free, so the given L is scaled to length 1
    if attention == "lightning":
        length = float(np.linalg.norm(given.L))
        given, other = (
            one and VirtualWeights(one.L / length, one.M) for one in (given, other)
        )
    first, second = (pictured(study, one) if one else {} for one in (given, other))
    # Free entries may be large, so the colours follow the given entries.
    compared = second if search.others else first
    limits = [largest_entry(first[name], compared[name]) for name in first]
    rows = [
        Row("<b>given</b>", tiles(first, limits, "given", above=True)),
        Row(
            f"<b>{colored(role, name)}</b>", tiles(second, limits, "other", above=False)
        ),
    ]
    view = _second_waits(matrices_view(rows, RIGHT, (0.15, 1.0), "2"), name)
    # The headline spans the column; the matrices keep square cells and may be narrower.
    said = headline(weights_finding(study)) | {
        "xref": "paper",
        "yref": "paper",
        "x": RIGHT[0],
    }
    return view._replace(annotations=[*view.annotations, said])


def _second_waits(view: View, name: str) -> View:
    """That there are other weights, and what they are called, answers a question."""
    traces = [
        trace | {"meta": ANSWER} if trace.get("name", "").endswith(", other") else trace
        for trace in view.traces
    ]
    notes = [
        note | {"name": ANSWER} if name and name in note["text"] else note
        for note in view.annotations
    ]
    return view._replace(traces=traces, annotations=notes)


def pictured(study: SearchStudy, virtual: VirtualWeights) -> dict[str, np.ndarray]:
    """L and the M_i; of heads, which are in one layer, A and V."""
    if study.case.arch.is_plain:
        return {"L": virtual.L} | {
            numbered("M", i): M for i, M in enumerate(virtual.M, start=1)
        }
    d = study.case.arch.widths[0]  # A, c and V stand one above the other
    parts = ("A", slice(d)), ("V", slice(d + 1, None))
    return {
        numbered(name, h): M[at]
        for h, M in enumerate(virtual.M[0], start=1)
        for name, at in parts
    }


def tiles(
    matrices: dict[str, np.ndarray], limits: list[float], which: str, above: bool
) -> tuple:
    """The matrices side by side, or nothing."""
    made = [
        Tile(f"{name}, {which}", matrix, limit, above=name if above else "")
        for (name, matrix), limit in zip(
            matrices.items(), limits[: len(matrices)], strict=True
        )
    ]
    return (*made, *[None] * (1 + MOST_LAYERS - len(made)))


def weights_finding(study: SearchStudy) -> str:
    """Whether there are other weights."""
    if study.search.others:
        return colored("focus", "same function, other weights")
    if study.search.continuum:
        low, high = study.search.continuum.kernel
        count = str(low) if low == high else f"{low} to {high}"
        return colored("outside", f"{count} directions change weights, not outputs")
    return "no other weights found" if study.search.verified else "no weights found"


class SearchExplorer(Panel):
    """Search the fibre of a network from many starts, and see where they end.

    Left, every start: how far from the given weights it ended, and how far from their
    function. Right, the other weights that were found.

    Controls: see `SearchSetting`; `study_search` of the same setting has the starts one
    by one.

    >>> panel = SearchExplorer()
    >>> "values and keys swapped" in panel.description
    True
    """

    title = "Search for other weights"
    setting = SearchSetting
    _answer = staticmethod(study_search)
    draw = staticmethod(search_parts)

    def _badge(self, answer: SearchStudy) -> str:
        search = answer.search
        case = answer.case
        found = f"{search.verified} of {search.starts} starts verified"
        searched = badge("float", found, _of_the_search(answer))
        return searched + badge(case.status, case.source, _of_the_case(answer))

    def _describe(self, answer: SearchStudy) -> str:
        return " ".join(
            filter(None, (answer.search.note, _say_known(answer), _say_limits(answer)))
        )


def _say_known(study: SearchStudy) -> str:
    case = study.case
    found = len(study.search.classes)
    said = f"Theory says: {study.case.known}"
    if case.points is not None and (found > case.points or study.search.continuum):
        return f"{said} They DISAGREE."
    if case.points is not None and 0 < found < case.points:
        return f"{said} These starts did not find all."
    return said


def _say_limits(study: SearchStudy) -> str:
    """What the search does and does not show."""
    search = study.search
    if not search.verified:
        return "Take more starts, or starts nearer to the given weights."
    if search.continuum and not search.classes:
        return ""
    if not search.others:
        return "A search can refute that there is one point, and cannot prove it."
    apart = max(point.residual for point in search.classes)
    return f"At these points outputs differ by at most {tiny(apart)}."


def _of_the_search(study: SearchStudy) -> Reasons:
    """What was searched, and what it cannot say."""
    search = study.search
    points = len(search.classes)
    ended = counted(points, "point")
    if search.continuum:
        ended = f"{ended}, and a continuum" if points else "a continuum"
    return Reasons(
        f"{search.starts} starts: {search.verified} ended at weights whose outputs are "
        f"those of the given ones, in {ended}.",
        "Search",
        facts=(
            "verified: on 100 fresh inputs the outputs differ by less than 10⁻⁸",
            "a search can refute that there is one point, and cannot prove it",
        ),
        code=repeated(study_search, study.setting, ".search.note"),
    )


def _of_the_case(study: SearchStudy) -> Reasons:
    """The theorem about this network, and what it asks of the given weights."""
    case = study.case
    source = case.source
    if source not in PAGES:  # the paper's are abbreviated there
        source = source.replace("Theorem", "Thm.")
    facts = ("our proof, not peer-reviewed",) if case.status == "proved here" else ()
    return Reasons(
        f"{case.source}, {case.arch}: {case.known}",
        source,
        what_is_asked(case, study.search.target, study.setting.seed),
        facts,
        f"nb.what_is_known({in_python(case.arch)})",
    )
