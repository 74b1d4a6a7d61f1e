"""A sweep as a heat map over any two sizes of its networks: dimensions, and what differs from theory.

A cell holds whatever records fall into it: one number, or the smallest and the largest of several. What
failed has a mark, and a place that no network has is empty.
"""

from collections.abc import Callable
from textwrap import wrap

import plotly.graph_objects as go

from neuroviz.beyond.sweep.map import SweepCell, SweepMap, sweep_map
from neuroviz.engine.records import Sweep
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose, make

FAILED = "✕"
_NAMED = 4  # records that are listed on hovering
_TICKS = 26
_WIDE = 980  # pixels that the cells have side by side in the width of a lecture


def sweep_figure(sweep: Sweep, x: str, y: str) -> go.Figure:
    """A heat map of a sweep.

    Args:
        sweep: what `neuroviz.sweep` returns.
        x, y: two of `AXES`: "layers", "tokens", "width", "d0", "inner width", "dl", "a", "a1", "a2",
            "attention", "parameters".

    Raises:
        ValueError: if there is nothing to draw, an axis is none of these, or a network has no place, or
            several, on an axis.

    >>> from neuroviz import Architecture
    >>> from neuroviz.engine.sweep import sweep
    >>> found = sweep([Architecture.uniform(d, a, 2) for d in (2, 3) for a in (1, 2)], progress=False)
    >>> sweep_figure(found, "width", "a").layout.annotations[0].text
    '<b>4 of 4 networks agree with theory, 0 failed</b>'
    """
    return make(map_parts(sweep_map(sweep, x, y)))


def map_parts(found: SweepMap) -> Parts:
    """The figure of cells that are there already."""
    lines = 1.5 * theme.size("note")
    top = 1 - lines / (theme.size("height") - 3 * theme.size("title") - 3 * theme.size("base"))
    plot = Plot("", (0.0, 1.0), (0.0, round(top, 3)))
    numbers = [value for cell in found.cells for value in cell.values]
    least, most = min(numbers, default=0), max(numbers, default=0)
    gap = 3 if max(len(found.columns), len(found.rows)) <= _TICKS else 1
    colours = {
        "type": "heatmap",
        "name": "measured",
        "x": list(range(len(found.columns))),
        "y": list(range(len(found.rows))),
        # What differs from theory stands on the ground, in the colour of its role.
        "z": _grid(found, lambda cell: None if any(cell.differences) else max(cell.values, default=None)),
        # Only the paler half of the scale: dark letters stand out on all of it, in a dark figure light ones.
        "zmin": least,
        "zmax": least + 2 * max(most - least, 1),
        "colorscale": [[0, theme.color("wash")], [1, theme.color("measured")]],
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "text": _grid(found, _hover),
        "hoverongaps": True,
        "hovertemplate": "%{text}<extra></extra>",
    }
    plot.view().traces.append(colours)
    said = [_say(cell) for cell in found.cells]
    large = _letters(found, said)
    font = {"color": [theme.color(role) for *_, role in said], "size": large or theme.size("note")}
    at = [(found.columns.index(cell.column), found.rows.index(cell.row)) for cell in found.cells]
    texts = [_text(*one, large is not None) for one in said]
    plot.points("numbers", *map(list, zip(*at, strict=True)), {}, mode="text", text=texts, textfont=font)
    for which, values, title in (
        ("x", found.columns, found.column_title),
        ("y", found.rows, found.row_title),
    ):
        step = -(-len(values) // _TICKS)
        ticks = {"tickvals": list(range(0, len(values), step)), "ticktext": list(map(str, values[::step]))}
        plot.bare_axis(which, -0.54, len(values) - 0.46, title=title, **ticks)
    at_top = {"yref": "paper", "xref": "x domain", "xanchor": "left"}
    plot.text(f"<b>{found.headline}</b>", 0, 1, "title", "ink", **at_top, yanchor="bottom", yshift=6)
    plot.text(_subtitle(found), 0, 1, "note", "soft", **at_top, yanchor="top", yshift=4)
    return compose(plot.view())


def _grid(found: SweepMap, of: Callable[[SweepCell], object]) -> list[list]:
    """Something of each cell, row by row; None where there is no network."""
    cells = {(cell.column, cell.row): of(cell) for cell in found.cells}
    return [[cells.get((column, row)) for column in found.columns] for row in found.rows]


def _say(cell: SweepCell) -> tuple[str, str, str]:
    """What a cell says: a first line, a second one, and the role of the letters of the first."""
    if not cell.values:
        return FAILED, "", "ink"
    number = _span([str(value) for value in cell.values], "–") + " ?" * cell.undecided
    if off := [f"{d:+d}".replace("-", "−") for d in cell.differences if d]:
        return number, f"▨ {_span(off, ' … ')}", "outside"
    return number, f"{cell.failed} {FAILED}" if cell.failed else "", "ink"


def _span(ordered: list[str], between: str) -> str:
    """The first and the last."""
    return between.join(dict.fromkeys([ordered[0], ordered[-1]]))


def _text(first: str, second: str, role: str, readable: bool) -> str:
    """What is written in a cell; where letters do not fit, only marks."""
    if not readable:
        return FAILED if first == FAILED else "▨" * (role == "outside")
    small = f'<br><span style="font-size:{theme.size("note")}px">{second}</span>'
    return f"<b>{first}</b>" + small * bool(second)


def _hover(cell: SweepCell) -> str:
    said = []
    for record in cell.records[:_NAMED]:
        theory = "no formula" if record.expected is None else f"{record.source}: {record.expected}"
        number = "failed" if record.failed else f"{record.value} ({record.status})"
        note = "<br>".join(wrap(record.note.replace("<", "&lt;"), 80))
        said.append(f"<b>{record.arch}</b><br>{number}, {theory}<br>{note}")
    if len(cell.records) > _NAMED:
        said.append(f"and {len(cell.records) - _NAMED} more")
    return "<br>".join(said)


def _letters(found: SweepMap, said: list[tuple[str, str, str]]) -> float | None:
    """The size of letters that fits into all cells; None where none does."""
    longest = max((len(first) for first, _, _ in said), default=0)
    lines = 2 if any(second for _, second, _ in said) else 1
    wide, high = _WIDE / len(found.columns), 0.74 * theme.size("height") / len(found.rows)
    for size in (theme.size("title"), theme.size("note")):
        if 0.62 * size * longest <= wide - 4 and 1.3 * size * lines <= high:
            return size
    return None


def _subtitle(found: SweepMap) -> str:
    parts = ["dimension, measured"]
    if any(len(cell.records) > 1 for cell in found.cells):
        parts.append("several networks in a cell: smallest–largest, coloured by the largest")
    if any(d for cell in found.cells for d in cell.differences):
        parts.append("▨ measured − theory")
    if any(cell.undecided for cell in found.cells):
        parts.append("? undecided")
    if any(cell.failed for cell in found.cells):
        parts.append(f"{FAILED} failed: hover for the reason")
    return "; ".join(parts)
