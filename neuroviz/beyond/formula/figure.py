"""A formula against measurements: values above, differences as a table below, counterexamples in words."""

from itertools import product

from neuroviz.beyond.formula.families import LETTERS, Sizes
from neuroviz.beyond.formula.family import FamilyStudy, Verdict
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, View, compose, kind_mark, label
from neuroviz.kit.words import colored

_PLOTS, _VALUES, _DIFFERENCES, _WORDS = (0.0, 0.66), (0.5, 1.0), (0.1, 0.38), 0.71
_MOST_OUTER, _MOST_MET = 5, 8
_SPREAD = 0.36  # of a column, to either side of its middle, for the values of one letter


def formula_parts(study: FamilyStudy) -> Parts:
    """The picture."""
    places = Places(study)
    return compose(_values(study, places), _differences(study, places), _counterexamples(study))


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
        found: dict[int, list[int]] = {}
        for place, (value, *_) in enumerate(self.columns if len(self.others) > 1 else []):
            found.setdefault(value, []).append(place)
        return [(value, places[0], places[-1]) for value, places in found.items()]


def _say(study: FamilyStudy, verdict: Verdict) -> str:
    return (
        f"{study.family.name_of(verdict.sizes)}<br>measured {verdict.measured.value}, you {verdict.proposed}"
    )


def _values(study: FamilyStudy, places: Places) -> View:
    """Above: measured and proposed."""
    plot, size, shape = Plot("", _PLOTS, _VALUES), theme.size("marker"), kind_mark(study.family.attention)
    largest = max(v.measured.value for v in study.verdicts)
    most = max([largest, *(v.proposed for v in study.verdicts if v.proposed <= 2 * largest)])
    inside = [v for v in study.verdicts if -0.06 * most < v.proposed <= 2 * largest]
    beyond = [v for v in study.verdicts if v not in inside]
    right, wrong = ([v for v in inside if (v.difference == 0) == yes] for yes in (True, False))
    first = [study.first] if study.first else []

    def marks(name: str, shown: list[Verdict], heights: list[float], role: str, **marker: object) -> None:
        color = theme.color(role)
        plot.points(
            name,
            [places.x(v.sizes) for v in shown],
            heights,
            {"size": size, "color": color, "line": {"width": 2.2, "color": color}} | marker,
            text=[_say(study, v) for v in shown],
            cliponaxis=False,
            hover="%{text}",
        )

    x, y = [], []  # from each measured value to the next one in its column
    for verdict in sorted(study.verdicts, key=lambda v: places.of(v.sizes)):
        gap = places.of(verdict.sizes)[1] == 0
        x += [None, places.x(verdict.sizes)] if gap else [places.x(verdict.sizes)]
        y += [None, verdict.measured.value] if gap else [verdict.measured.value]
    plot.line("measured, joined", x, y, theme.color("ghost"), 1.2)
    values = [v.measured.value for v in study.verdicts]
    marks("measured", list(study.verdicts), values, "measured", symbol=shape, line={"width": 0})
    heights = [v.proposed for v in right]
    marks("proposed, as measured", right, heights, "formula", symbol="line-ew", size=1.7 * size)
    marks("proposed, not as measured", wrong, [v.proposed for v in wrong], "outside", symbol="x-thin")
    marks(
        "proposed, beyond the picture",
        beyond,
        [1.06 * most if v.proposed > 0 else -0.05 * most for v in beyond],
        "outside",
        symbol=["triangle-up" if v.proposed > 0 else "triangle-down" for v in beyond],
    )
    ring = {"symbol": f"{shape}-open", "size": 2 * size + 4, "line": {"width": 3}}
    marks("first counterexample (measured)", first, [v.measured.value for v in first], "focus", **ring)
    bare = {"showticklabels": False, "ticks": "", "showgrid": False}
    plot.axis("x", -0.5, len(places.columns) - 0.5, **bare)
    plot.axis("y", -0.06 * most, 1.22 * most, "dimension", nticks=5)
    off, count = len(study.wrong), len(study.verdicts)
    plot.headline(f"wrong at {off} of {count} networks" if off else f"right at all {count} networks")
    key = f"{'■' if shape == 'square' else '●'} measured   ━ you, right   " + colored(
        "outside", "✕ you, wrong"
    )
    key += "   " + colored("outside", "▲▼ you, beyond the picture") if beyond else ""
    plot.key([key], bgcolor=theme.color("ground"))
    plot.view().shapes.extend(_between(places, ""))
    return plot.view()


def _differences(study: FamilyStudy, places: Places) -> View:
    """Below: proposed − measured, as a table."""
    plot, size = Plot("2", _PLOTS, _DIFFERENCES), theme.size("note")
    if len(places.columns) <= 12 and theme.size("base") <= 14:
        size += 2
    at = {places.of(v.sizes): v for v in study.verdicts}
    rows, columns = range(len(places.rows)), range(len(places.columns))
    cells = {place: int(verdict.difference != 0) for place, verdict in at.items()}
    z = [[cells.get((column, row)) for column in columns] for row in rows]
    look = {"zmin": 0, "zmax": 1, "showscale": False, "xgap": 2, "ygap": 2, "hoverinfo": "skip"}
    look["colorscale"] = [[0, theme.color("wash")], [1, theme.color("outside")]]
    table = {"type": "heatmap", "name": "where it is wrong (measured)", "xaxis": "x2", "yaxis": "y2"}
    plot.view().traces.append(table | look | {"x": list(columns), "y": list(rows), "z": z})
    for name, yes, role in (("you − measured: none", True, "soft"), ("you − measured", False, "ground")):
        shown = {place: v for place, v in at.items() if (v.difference == 0) == yes}
        plot.points(
            name,
            [column for column, _ in shown],
            [row for _, row in shown],
            {},
            mode="text",
            text=["0" if yes else _signed(v.difference) for v in shown.values()],
            customdata=[_say(study, v) for v in shown.values()],
            textfont={"size": size, "color": theme.color(role)},
            hover="%{customdata}",
        )
    bare = {"showgrid": False, "showline": False, "ticks": ""}
    letter = places.others[-1] if places.others else ""
    names = [
        f"{letter} = {c[-1]}" if i == 0 or len(columns) < 10 else f"{c[-1]}"
        for i, c in enumerate(places.columns)
    ]
    plot.axis("x", -0.5, len(columns) - 0.5, tickvals=list(columns), ticktext=names, **bare)
    names = [f"{places.axis} = {value}" for value in places.rows]
    plot.axis("y", -0.5, len(rows) - 0.5, tickvals=list(rows), ticktext=names, **bare)
    plot.headline(_shape({v.difference for v in study.verdicts}))
    below = {"yref": "y2 domain", "yanchor": "top", "yshift": -1.65 * theme.size("tick")}
    for value, one, other in (places.outer + [(0, 0, 0)] * _MOST_OUTER)[:_MOST_OUTER]:
        words = f"{places.others[0]} = {value}" if value else ""
        plot.view().annotations.append(label(words, (one + other) / 2, 0, "2", **below))
    column, row = places.of(study.first.sizes) if study.first else (0, 0)
    box = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    line = {"color": theme.color("focus"), "width": 3}
    ring = {"type": "rect", "xref": "x2", "yref": "y2", **box, "line": line, "visible": bool(study.first)}
    plot.view().shapes.extend([*_between(places, "2"), ring])
    return plot.view()


def _between(places: Places, axis: str) -> list[dict]:
    """A line before each new value of the slower letter; always as many."""
    at = [first - 0.5 for _, first, _ in places.outer[1:]]
    look = {"type": "line", "xref": f"x{axis}", "yref": f"y{axis} domain", "y0": 0, "y1": 1}
    look["line"] = {"color": theme.color("axis"), "width": 1}
    ends = [(x, True) for x in at] + [(-0.5, False)] * (_MOST_OUTER - 1 - len(at))
    return [look | {"x0": x, "x1": x, "visible": shown} for x, shown in ends]


def _signed(number: int) -> str:
    """At most four characters: hovering says the rest."""
    if abs(number) >= 1000:
        return "≫ 0" if number > 0 else "≪ 0"
    return f"{number:+d}".replace("-", "−")


def _shape(off: set[int]) -> str:
    """What the differences have in common."""
    if len(off) == 1:
        (same,) = off
        return f"you − measured: always {_signed(same)}" if same else "you − measured: 0 everywhere"
    if min(off) >= 0:
        return "you − measured: never too small"
    return "you − measured: " + ("never too large" if max(off) <= 0 else "too large here, too small there")


def _counterexamples(study: FamilyStudy) -> View:
    """Right: the first counterexample, those met so far, and what is known, in words."""
    first, title, base, note = study.first, *map(theme.size, ("title", "base", "note"))
    says = f"none among {len(study.verdicts)} networks.<br>That is evidence, no proof."
    if first:
        found = colored("measured", f"<b>{first.measured.value}</b>")
        said = str(first.proposed).replace("-", "−")
        says = f"{study.family.name_of(first.sizes)}:<br>you say <b>{said}</b>, measured {found}"
    met = []
    for verdict in reversed(study.remembered[-_MOST_MET:]):
        here = f"{study.family.name_of(verdict.sizes)}: {verdict.measured.value}"
        wrong = colored("outside", f"✕ {here} ≠ {verdict.proposed}".replace("-", "−"))
        met.append(wrong if verdict.difference else f"✓ {here} = {verdict.proposed}")
    older = len(study.remembered) - len(met)
    met += [f"and {older} older"] if older else []
    known = ""
    if study.expected:
        formula = study.family.known
        for part in (" - H*max", " if t", " else s"):  # the longest two in lines
            formula = formula.replace(part, f"<br>   {part}")
        known = f"<b>what is known</b> ({study.expected.status})<br>{formula}"
    step, at = 1.45 * base, {"xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
    words = [
        ("<b>first counterexample</b>", 1, "bottom", 6, title),
        (says, 1, "top", -2, base + 1),
        ("<b>met so far: measured, you</b>" if met else "", 1, "top", -3.4 * step, title),
        ("<br>".join(met), 1, "top", -4.7 * step, note + 1),
        (known, 0, "bottom", 0, note + 1),
    ]
    notes = [
        label(said, _WORDS, y, **at, yanchor=anchor, yshift=shift, font={"size": size})
        for said, y, anchor, shift, size in words
    ]
    return View([], {}, notes, [])
