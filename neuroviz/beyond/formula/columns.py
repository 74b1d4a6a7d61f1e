"""A formula against measurements: a column for each choice of sizes, values above and differences below."""

from itertools import product

from neuroviz.beyond.formula.families import LETTERS, Sizes
from neuroviz.beyond.formula.family import FamilyStudy, Verdict
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, kind_mark, label
from neuroviz.kit.words import colored

_PLOTS, _VALUES, _DIFFERENCES = (0.0, 0.66), (0.5, 1.0), (0.1, 0.38)
_MOST_OUTER = 5
_SPREAD = 0.36  # of a column, to either side of its middle, for the values of one letter


class Places:
    """Where the members stand: a column for each choice of the other letters, a row for each value along."""

    def __init__(self, study: FamilyStudy) -> None:
        family, self.axis = study.family, study.setting.axis
        values = dict(zip(LETTERS, family.grid, strict=True))
        self.others = tuple(letter for letter in family.varies if letter != self.axis)
        there = {tuple(v.sizes.values[letter] for letter in self.others) for v in study.verdicts}
        self.columns = [one for one in product(*(values[letter] for letter in self.others)) if one in there]
        self.rows = values[self.axis]

    def of(self, sizes: Sizes) -> tuple[int, int]:
        """Column and row of a member."""
        column = tuple(sizes.values[letter] for letter in self.others)
        return self.columns.index(column), self.rows.index(sizes.values[self.axis])

    def x(self, sizes: Sizes) -> float:
        """Where a member stands in the upper plot: in its column, to the right as its row grows."""
        column, row = self.of(sizes)
        return column + _SPREAD * (2 * row / (len(self.rows) - 1) - 1)

    @property
    def outer(self) -> list[tuple[int, int, int]]:
        """For each value of the slower of two other letters: the value, its first and its last column."""
        if len(self.others) < 2:
            return []
        found: dict[int, list[int]] = {}
        for place, (value, *_) in enumerate(self.columns):
            found.setdefault(value, []).append(place)
        return [(value, places[0], places[-1]) for value, places in found.items()]


def _say(study: FamilyStudy, verdict: Verdict) -> str:
    return (
        f"{study.family.name_of(verdict.sizes)}<br>measured {verdict.measured.value}, you {verdict.proposed}"
    )


# Above: the values


def values_view(study: FamilyStudy, places: Places) -> View:
    marker, largest = theme.size("marker"), max(v.measured.value for v in study.verdicts)
    most = max([largest, *(v.proposed for v in study.verdicts if v.proposed <= 2 * largest)])
    low, high = -0.06 * most, 1.22 * most
    inside = [v for v in study.verdicts if low < v.proposed <= 2 * largest]
    outside = [v for v in study.verdicts if v not in inside]
    bar = {"symbol": "line-ew", "size": 1.7 * marker, "line": {"width": 2.2, "color": theme.color("formula")}}
    cross = {"symbol": "x-thin", "size": marker, "line": {"width": 2.2, "color": theme.color("outside")}}

    def marks(name: str, verdicts: list[Verdict], heights: list[float], marker: dict) -> dict:
        return {
            "name": name,
            "x": [places.x(v.sizes) for v in verdicts],
            "y": heights,
            "text": [_say(study, v) for v in verdicts],
            "mode": "markers",
            "marker": marker,
            "cliponaxis": False,
            "hovertemplate": "%{text}<extra></extra>",
        }

    right = [v for v in inside if not v.difference]
    wrong = [v for v in inside if v.difference]
    first = [study.first] if study.first else []
    dot = {"symbol": kind_mark(study.family.attention), "size": marker, "color": theme.color("measured")}
    edge = {
        "symbol": ["triangle-up" if v.proposed > 0 else "triangle-down" for v in outside],
        "size": marker + 2,
        "color": theme.color("outside"),
    }
    ring = {
        "symbol": f"{kind_mark(study.family.attention)}-open",
        "size": 2 * marker + 4,
        "color": theme.color("focus"),
        "line": {"width": 3},
    }
    traces = [
        _joined("measured, joined", study, places, "ghost"),
        _sticks(wrong, places),
        marks("measured", list(study.verdicts), [v.measured.value for v in study.verdicts], dot),
        marks("proposed, as measured", right, [v.proposed for v in right], bar),
        marks("proposed, not as measured", wrong, [v.proposed for v in wrong], cross),
        marks(
            "proposed, beyond the picture",
            outside,
            [1.06 * most if v.proposed > 0 else 0.8 * low for v in outside],
            edge,
        ),
        marks("first counterexample (measured)", first, [v.measured.value for v in first], ring),
    ]
    axes = {
        "xaxis": {
            "domain": _PLOTS,
            "anchor": "y",
            "range": [-0.5, len(places.columns) - 0.5],
            "showticklabels": False,
            "ticks": "",
            "showgrid": False,
        },
        "yaxis": {
            "domain": _VALUES,
            "anchor": "x",
            "range": [low, high],
            "title": {"text": "dimension"},
            "nticks": 5,
        },
    }
    annotations = [headline(_finding(study)), _legend(study, beyond=bool(outside))]
    return View(traces, axes, annotations, _between(places))


def _joined(name: str, study: FamilyStudy, places: Places, role: str) -> dict:
    """Thin lines from each measured value to the next one in its column."""
    x: list[float | None] = []
    y: list[int | None] = []
    ordered = sorted(study.verdicts, key=lambda v: places.of(v.sizes))
    for before, verdict in zip([None, *ordered], ordered, strict=False):
        if before is not None and places.of(before.sizes)[0] != places.of(verdict.sizes)[0]:
            x.append(None)
            y.append(None)
        x.append(places.x(verdict.sizes))
        y.append(verdict.measured.value)
    line = {"color": theme.color(role), "width": 1.2}
    return {"name": name, "x": x, "y": y, "mode": "lines", "line": line, "hoverinfo": "skip"}


def _sticks(wrong: list[Verdict], places: Places) -> dict:
    """From what is proposed to what is measured, where they differ."""
    return {
        "name": "how far off",
        "x": [x for v in wrong for x in (places.x(v.sizes), places.x(v.sizes), None)],
        "y": [y for v in wrong for y in (v.proposed, v.measured.value, None)],
        "mode": "lines",
        "line": {"color": theme.color("outside"), "width": 1.5, "dash": "dot"},
        "hoverinfo": "skip",
    }


def _finding(study: FamilyStudy) -> str:
    wrong, count = len(study.wrong), len(study.verdicts)
    return f"wrong at {wrong} of {count} networks" if wrong else f"right at all {count} networks"


def _legend(study: FamilyStudy, beyond: bool) -> dict:
    filled = "■" if study.family.attention == "softmax" else "●"
    said = f"{filled} measured   ━ you, right   " + colored("outside", "✕ you, wrong")
    if beyond:
        said += "   " + colored("outside", "▲▼ you, beyond the picture")
    return label(
        said, 0, 1, xref="x domain", yref="y domain", xanchor="left", yanchor="top", xshift=8,
        bgcolor=theme.color("ground"), font={"size": theme.size("note"), "color": theme.color("soft")},
    )  # fmt: skip


def _between(places: Places, axis: str = "") -> list[dict]:
    """A line before each new value of the slower letter; always as many."""
    at = [first - 0.5 for _, first, _ in places.outer[1:]]
    return [
        {
            "type": "line",
            "xref": f"x{axis}",
            "yref": f"y{axis} domain",
            "x0": at[i] if i < len(at) else -0.5,
            "x1": at[i] if i < len(at) else -0.5,
            "y0": 0,
            "y1": 1,
            "line": {"color": theme.color("axis"), "width": 1},
            "visible": i < len(at),
        }
        for i in range(_MOST_OUTER - 1)
    ]


# Below: the differences, as a table


def differences_view(study: FamilyStudy, places: Places) -> View:
    at = {places.of(v.sizes): v for v in study.verdicts}
    rows, columns = range(len(places.rows)), range(len(places.columns))
    z = [[_cell(at.get((column, row))) for column in columns] for row in rows]
    wash, outside = theme.color("wash"), theme.color("outside")
    small = len(places.columns) > 12 or theme.size("base") > 14
    size = theme.size("note") + (0 if small else 2)

    def numbers(name: str, right: bool, role: str) -> dict:
        shown = [v for v in study.verdicts if (v.difference == 0) == right]
        cells = [places.of(v.sizes) for v in shown]
        return {
            "name": name,
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [column for column, _ in cells],
            "y": [row for _, row in cells],
            "text": ["0" if right else _signed(v.difference) for v in shown],
            "customdata": [_say(study, v) for v in shown],
            "mode": "text",
            "textfont": {"size": size, "color": theme.color(role)},
            "hovertemplate": "%{customdata}<extra></extra>",
        }

    traces = [
        {
            "type": "heatmap",
            "name": "where it is wrong (measured)",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": list(columns),
            "y": list(rows),
            "z": z,
            "zmin": 0,
            "zmax": 1,
            "colorscale": [[0, wash], [1, outside]],
            "showscale": False,
            "xgap": 2,
            "ygap": 2,
            "hoverinfo": "skip",
        },
        numbers("you − measured: none", right=True, role="soft"),
        numbers("you − measured", right=False, role="ground"),
    ]
    letter = places.others[-1] if places.others else ""
    ticks = {"showgrid": False, "showline": False, "ticks": ""}
    axes = {
        "xaxis2": ticks
        | {
            "domain": _PLOTS,
            "anchor": "y2",
            "range": [-0.5, len(places.columns) - 0.5],
            "tickvals": list(columns),
            "ticktext": [f"{letter} = {c[-1]}" if i == 0 or len(columns) < 10 else f"{c[-1]}"
                         for i, c in enumerate(places.columns)],
        },
        "yaxis2": ticks
        | {
            "domain": _DIFFERENCES,
            "anchor": "x2",
            "range": [-0.5, len(places.rows) - 0.5],
            "tickvals": list(rows),
            "ticktext": [f"{places.axis} = {value}" for value in places.rows],
        },
    }  # fmt: skip
    outer = places.outer + [("", 0, 0)] * (_MOST_OUTER - len(places.outer))
    below = [
        label(
            f"{places.others[0]} = {value}" if value else "",
            (first + last) / 2,
            0,
            xref="x2",
            yref="y2 domain",
            yanchor="top",
            yshift=-1.65 * theme.size("tick"),
            font={"size": theme.size("base")},
        )
        for value, first, last in outer
    ]
    return View(
        traces, axes, [headline(_shape(study), "2"), *below], [*_between(places, "2"), _frame(study, places)]
    )


def _cell(verdict: Verdict | None) -> int | None:
    return None if verdict is None else int(verdict.difference != 0)


def _signed(number: int) -> str:
    """At most four characters: hovering says the rest."""
    if abs(number) >= 1000:
        return "≫ 0" if number > 0 else "≪ 0"
    return f"{number:+d}".replace("-", "−")


def _shape(study: FamilyStudy) -> str:
    """What the differences have in common."""
    off = {verdict.difference for verdict in study.verdicts}
    if off == {0}:
        return "you − measured: 0 everywhere"
    if len(off) == 1:
        return f"you − measured: always {_signed(off.pop())}"
    if min(off) >= 0:
        return "you − measured: never too small"
    if max(off) <= 0:
        return "you − measured: never too large"
    return "you − measured: too large here, too small there"


def _frame(study: FamilyStudy, places: Places) -> dict:
    """Around the cell of the first counterexample."""
    column, row = places.of(study.first.sizes) if study.first else (0, 0)
    return {
        "type": "rect",
        "xref": "x2",
        "yref": "y2",
        "x0": column - 0.5,
        "x1": column + 0.5,
        "y0": row - 0.5,
        "y1": row + 0.5,
        "line": {"color": theme.color("focus"), "width": 3},
        "visible": study.first is not None,
    }
