"""Find the formula yourself: type one, and see at once at which network it is wrong."""

from dataclasses import replace
from typing import NamedTuple

from neuroviz.kit import theme
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose
from neuroviz.kit.settings import Controls
from neuroviz.kit.words import at_most, colored, grouped, in_two_lines
from neuroviz_beyond.formula.families import FAMILIES
from neuroviz_beyond.formula.family import (
    FamilySetting,
    FamilyStudy,
    Verdict,
    least_known,
    study_family,
)
from neuroviz_beyond.reasons import Reasons
from neuroviz_beyond.transformers.reasons import of_a_formula

_TABLE = (0.0, 0.7)
_WORDS = 0.73
# heights of the two numbers in a cell, in rows from its middle
_NUMBER = 0.16
_BELOW = -0.2


class _Cell(NamedTuple):
    """A network, where it stands in the table."""

    column: int
    row: int
    verdict: Verdict


class _Table(NamedTuple):
    """A row for each d, a column for each choice of the other letters."""

    letters: list[str]  # all but d, the slow ones first
    columns: list[tuple[int, ...]]  # their values
    rows: list[int]  # d
    cells: list[_Cell]


def formula_parts(study: FamilyStudy) -> Parts:
    """The picture: a row for each d, a column for each choice of the other letters."""
    plot = Plot("", _TABLE, (0.12, 1.0))
    table = _table(study)
    _cells(plot, table)
    _numbers(plot, table, study)
    _axes(plot, table)
    off = len(study.wrong)
    count = len(study.verdicts)
    if off:
        plot.headline(f"wrong at {off} of {count} networks")
    else:
        plot.headline(f"right at all {count} networks")
    differences = _shape({verdict.difference for verdict in study.verdicts})
    plot.key([f"large: measured, below it: {differences}"], yshift=4)
    if len(table.letters) > 1:
        _letters(plot, table)
    if study.first:
        _ring(plot, table, study.first)
    _write(plot, study)
    return compose(plot.view())


def _table(study: FamilyStudy) -> _Table:
    letters = [letter for letter in study.family.varies if letter != "d"]

    def values(verdict: Verdict) -> tuple[int, ...]:
        return tuple(verdict.sizes.values[letter] for letter in letters)

    columns = sorted({values(verdict) for verdict in study.verdicts})
    rows = sorted({verdict.sizes.width for verdict in study.verdicts})
    cells = [
        _Cell(columns.index(values(verdict)), rows.index(verdict.sizes.width), verdict)
        for verdict in study.verdicts
    ]
    return _Table(letters, columns, rows, cells)


def _cells(plot: Plot, table: _Table) -> None:
    """Where the formula is wrong; a place without a network stays empty."""
    z: list[list[int | None]] = [[None] * len(table.columns) for _ in table.rows]
    for cell in table.cells:
        z[cell.row][cell.column] = 1 if cell.verdict.difference else 0
    look = {
        "zmin": 0,
        "zmax": 1,
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "hoverinfo": "skip",
        "colorscale": [[0, theme.color("wash")], [1, theme.color("outside")]],
    }
    places = {
        "x": list(range(len(table.columns))),
        "y": list(range(len(table.rows))),
        "z": z,
    }
    name = "where it is wrong (measured)"
    plot.view().traces.append({"type": "heatmap", "name": name} | look | places)


def _numbers(plot: Plot, table: _Table, study: FamilyStudy) -> None:
    """What was measured, and below it by how much the formula is wrong."""
    said = []
    measured = []
    differences = []
    inks = []
    for cell in table.cells:
        verdict = cell.verdict
        value = verdict.measured.value
        name = study.family.name_of(verdict.sizes)
        said.append(f"{name}<br>measured {value}, you {verdict.proposed}")
        measured.append(f"<b>{value}</b>")
        differences.append(_signed(verdict.difference))
        inks.append(theme.color("ground" if verdict.difference else "ink"))

    def write(name: str, texts: list[str], shift: float, size: str) -> None:
        x = [cell.column for cell in table.cells]
        y = [cell.row + shift for cell in table.cells]
        look = {
            "mode": "text",
            "text": texts,
            "textfont": {"size": theme.size(size), "color": inks},
        }
        plot.points(name, x, y, {}, **look, customdata=said, hover="%{customdata}")

    write("measured", measured, _NUMBER, "base")
    write("you − measured", differences, _BELOW, "note")


def _axes(plot: Plot, table: _Table) -> None:
    """d of the rows, and of the columns the letter that changes fast."""
    letter = table.letters[-1]
    has_room = len(table.columns) < 10
    names = []
    for number, values in enumerate(table.columns):
        if has_room or number == 0:
            names.append(f"{letter} = {values[-1]}")
        else:
            names.append(str(values[-1]))
    x = {"tickvals": list(range(len(table.columns))), "ticktext": names}
    plot.bare_axis("x", -0.5, len(table.columns) - 0.5, **x)
    names = [f"d = {width}" for width in table.rows]
    y = {"tickvals": list(range(len(table.rows))), "ticktext": names}
    plot.bare_axis("y", -0.5, 1.08 * len(table.rows) - 0.5, **y)


def _letters(plot: Plot, table: _Table) -> None:
    """Below the table the values of the letter that changes slowly, and a line between
    two of them."""
    below = {"yref": "y domain", "yanchor": "top", "yshift": -1.65 * theme.size("tick")}
    slow = [values[0] for values in table.columns]
    for value in dict.fromkeys(slow):
        first = slow.index(value)
        middle = first + (slow.count(value) - 1) / 2
        plot.text(f"{table.letters[0]} = {value}", middle, 0, "base", "ink", **below)
        if first > 0:
            line = {
                "type": "line",
                "xref": "x",
                "yref": "y",
                "x0": first - 0.5,
                "x1": first - 0.5,
                "y0": -0.5,
                "y1": len(table.rows) - 0.5,
                "line": {"color": theme.color("axis"), "width": 1},
            }
            plot.view().shapes.append(line)


def _ring(plot: Plot, table: _Table, first: Verdict) -> None:
    """Mark the first counterexample."""
    cell = next(cell for cell in table.cells if cell.verdict is first)
    ring = {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": cell.column - 0.5,
        "x1": cell.column + 0.5,
        "y0": cell.row - 0.5,
        "y1": cell.row + 0.5,
        "line": {"color": theme.color("focus"), "width": 4},
    }
    plot.view().shapes.append(ring)


def _signed(number: int) -> str:
    """A difference in at most four characters; hovering shows all digits."""
    if abs(number) >= 1000:
        return "≫ 0" if number > 0 else "≪ 0"
    return f"{number:+d}".replace("-", "−") if number else "0"


def _shape(off: set[int]) -> str:
    """A pattern that all differences share."""
    if len(off) == 1:
        (same,) = off
        return f"you − measured, always {_signed(same)}"
    if min(off) >= 0:
        return "you − measured, never too small"
    return "you − measured, " + (
        "never too large" if max(off) <= 0 else "too large here, too small there"
    )


def _write(plot: Plot, study: FamilyStudy) -> None:
    """Right of the table: the first counterexample, and what is known where that is
    asked for."""
    first = study.first
    known = ""
    says = f"none among {len(study.verdicts)} networks.<br>That is evidence, no proof."
    if first:
        found = colored("measured", f"<b>{first.measured.value}</b>")
        said = str(first.proposed).replace("-", "−")
        says = (
            f"{study.family.name_of(first.sizes)}:<br>you say <b>{said}</b>, measured"
            f" {found}"
        )
    if study.expected:
        formula = study.family.known
        # the two longest formulas are broken into lines
        for part in (" - H*max", " if t", " else s"):
            formula = formula.replace(part, f"<br>   {part}")
        known = f"<b>what is known</b> ({study.expected.status})<br>{formula}"
    at = {"xref": "paper", "yref": "paper", "xanchor": "left", "align": "left"}
    for words, y, anchor, shift, size in (
        ("<b>first counterexample</b>", 1, "bottom", 6, "title"),
        (says, 1, "top", -2, "base"),
        (known, 0, "bottom", 0, "note"),
    ):
        plot.text(words, _WORDS, y, size, "ink", **at, yanchor=anchor, yshift=shift)


_LANGUAGE = (
    "Type a formula in d, a, t, l and H (heads), with + - * / // **, min, max, x if …"
    " else y and alpha(a, d)."
)


class FormulaExplorer(Panel):
    """Propose a formula for the dimensions of a family of networks, which are measured,
    and see it fail.

    Two families are guided discoveries: their hints lead to the answer one by one.
    Controls: see `FamilySetting`.

    >>> panel = FormulaExplorer(state="family=skip;formula=l*(alpha(a, d) + d**2)")
    >>> panel.description.split(".")[0]
    'Lightning with skips: your formula is wrong at 36 of 36 networks'
    """

    title = "Find the formula yourself"
    setting = FamilySetting
    draw = staticmethod(formula_parts)
    _answer = staticmethod(study_family)

    def _make_controls(self) -> tuple[Controls, Controls]:
        first, more = super()._make_controls()
        # This observer comes first: the shell then reads controls that fit the new
        # family.
        first["family"].observe(self._on_family, names="value")
        return first, more

    def _on_family(self, change: dict) -> None:
        """Reset hints and answer, which belong to one family."""
        self._assign({"hints": 0, "known": False})

    def _assign(self, values: dict[str, object]) -> None:
        # Set the family first: it resets the controls of another family.
        super()._assign(
            {name: values[name] for name in self.controls if name in values}
        )

    def _arrange(self) -> None:
        self.controls["hints"].disabled = not FAMILIES[
            self.controls["family"].value
        ].hints

    def _badge(self, answer: FamilyStudy) -> str:
        count = len(answer.verdicts)
        badges = badge("exact", f"{count} networks", _of_the_measurements(answer))
        if not answer.wrong:
            said = f"your formula, {count} networks"
            badges += badge("observed", said, _of_your_formula(answer))
        if known := answer.expected:
            source = (
                f", {known.source}"
                if known.source and known.status != "no formula"
                else ""
            )
            said = f"what is known{source}"
            badges += badge(known.status, said, _of_what_is_known(answer))
        return badges

    def _describe(self, answer: FamilyStudy) -> str:
        family = answer.family
        first = answer.first
        setting = answer.setting
        title = family.title.lstrip("①② ")
        count = len(answer.verdicts)
        name = title[:1].upper() + title[1:]
        parts = [
            f"{name}: your formula says what is measured at all {count} networks.",
            "That is evidence and no proof: it is observed, on these networks.",
        ]
        if first:
            parts = [
                (
                    f"{name}: your formula is wrong at {len(answer.wrong)} of {count}"
                    " networks."
                ),
                (
                    f"First at {family.name_of(first.sizes)}: you say {first.proposed},"
                    f" measured {first.measured.value}."
                ),
            ]
        if shown := min(setting.hints, len(family.hints)):
            parts.append(
                f"Hint {shown} of {len(family.hints)}: {family.hints[shown - 1]}"
            )
        if known := answer.expected:
            said = f"{family.known} ({known.status}): " if family.known else ""
            parts.append(f"What is known: {said}{known.note.split('So: ')[-1]}.")
        if shown:  # a hint that somebody asks for has its room
            return " ".join(parts)
        return in_two_lines([*parts, _LANGUAGE], spare=[_LANGUAGE, parts[1]])


def _tried(study: FamilyStudy) -> str:
    s = study.setting
    return f"nb.try_formula({s.formula!r}, {s.family!r}, seed={s.seed})"


def _of_the_measurements(study: FamilyStudy) -> Reasons:
    """All members: the smallest and the largest dimension, and how sure they are."""
    found = [verdict.measured for verdict in study.verdicts]
    values = [one.value for one in found]
    chance = max(one.error_bound for one in found)
    sure = f"each is wrong with a chance of at most {at_most(chance)}"
    return Reasons(
        f"Each dimension is the rank of the derivative weights ↦ function at a random "
        f"point, computed without rounding; they go from {min(values)} to "
        f"{max(values)}.",
        "exact rank",
        facts=(
            f"modulo the prime {grouped(found[0].prime)}",
            sure if chance else "each is certain",
        ),
        code=_tried(study),
    )


def _of_your_formula(study: FamilyStudy) -> Reasons:
    return Reasons(
        f"{study.setting.formula} is what is measured at all {len(study.verdicts)} "
        "networks. This is evidence and no proof: it may fail at the next one.",
        "Not proved",
        code=_tried(study),
    )


def _of_what_is_known(study: FamilyStudy) -> Reasons:
    """At the network about which least is known."""
    network, expected = least_known(study.family)
    found = of_a_formula(expected, network)
    facts = (f"of {network}, about which least is known", *found.facts)
    if study.family.known:
        facts = (f"all of them: {study.family.known}", *facts)
    return replace(found, facts=facts)  # of the same kind, so with the same pages
