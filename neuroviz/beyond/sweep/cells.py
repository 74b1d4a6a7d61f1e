"""The cells of a sweep's heat map: colours, numbers, marks, and what appears on hovering."""

from math import inf, log10
from textwrap import wrap

from neuroviz.beyond.sweep.map import KINDS, SweepCell, SweepMap, headline, kind_of
from neuroviz.kit import theme
from neuroviz.kit.plot import View, power_of_ten

FAILED = "✕"
_BEYOND_PALE = 0.45  # below this point of the deficit scale, text in the colour of the ground reads better
_NAMED = 4  # records that are listed on hovering
_TICKS = 26
_WIDE = 980  # pixels that the cells have side by side in the width of a lecture


def cells_view(found: SweepMap) -> View:
    """The map, on the axes x and y."""
    said = [_say(cell, found.show) for cell in found.cells]
    return View([_colours(found), _texts(found, said)], _axes(found), _annotations(found), [])


# What a cell says: a first line, a second one, and the role of the letters of the first


def _say(cell: SweepCell, show: str) -> tuple[str, str, str]:
    if not cell.values:
        return FAILED, "", "ink"
    crosses = f"{len(cell.failed)} {FAILED}" if cell.failed else ""
    if show == "status":
        return KINDS[cell.kind][0], crosses or _evidence(cell), "ink"
    if show == "deficit":
        text = _span([signed(d) for d in cell.differences], " … ")
        return text or ("?" if cell.kind == "undecided" else "–"), crosses, "soft"
    number = _span([str(value) for value in cell.values], "–")
    if cell.kind == "undecided":
        number += " ?"
    off = [signed(d) for d in cell.differences if d]
    return (number, f"▨ {_span(off, ' … ')}", "outside") if off else (number, crosses, "ink")


def signed(difference: int) -> str:
    """A difference with its sign, and a true minus.

    >>> signed(3), signed(-3), signed(0)
    ('+3', '−3', '0')
    """
    return f"{difference:+d}".replace("-", "−") if difference else "0"


def _span(ordered: list[str], between: str) -> str:
    return between.join(dict.fromkeys([*ordered[:1], *ordered[-1:]]))


def _evidence(cell: SweepCell) -> str:
    """What the weakest number rests on, in a word or two."""
    weakest = [r for r in cell.records if not r.failed and kind_of(r) == cell.kind]
    if cell.kind == "exact":
        return f"≤ {_about(max(r.error_bound for r in weakest))}"
    if cell.kind == "float":
        gap = min(r.gap for r in weakest)
        return "gap ∞" if gap == inf else f"gap {_about(gap)}"
    if cell.kind == "certified":
        return min(r.route for r in weakest)
    return KINDS[cell.kind][2]


def _about(number: float) -> str:
    return power_of_ten(round(log10(number)))


# Traces


def _grid(found: SweepMap, of: dict) -> list[list]:
    return [[of.get((column, row)) for column in found.columns] for row in found.rows]


def _colours(found: SweepMap) -> dict:
    gap = 3 if max(len(found.columns), len(found.rows)) <= _TICKS else 1
    return {
        "type": "heatmap",
        "name": "measured",
        "x": list(range(len(found.columns))),
        "y": list(range(len(found.rows))),
        **_shades(found),
        "showscale": False,
        "xgap": gap,
        "ygap": gap,
        "text": _grid(found, {(c.column, c.row): _hover(c) for c in found.cells}),
        "hoverongaps": True,
        "hovertemplate": "%{text}<extra></extra>",
    }


def _shades(found: SweepMap) -> dict:
    """The numbers behind the colours, their range, and the colours."""
    places = {(cell.column, cell.row): cell for cell in found.cells if cell.values}
    if found.show == "deficit":
        worst = _worst(found)
        z = {p: -max(map(abs, c.differences)) for p, c in places.items() if c.differences}
        # So that 0, and nothing else, falls on the colour that is its own.
        ends, scale, opacity = (-worst, 0.0857 * worst), theme.scale("deficit"), 1
    elif found.show == "status":
        z = {place: list(KINDS).index(cell.kind) for place, cell in places.items()}
        count = len(KINDS)
        scale = [
            [(i + end) / count, theme.color(role)]
            for i, (_, role, _) in enumerate(KINDS.values())
            for end in (0, 1)
        ]
        ends, opacity = (-0.5, count - 0.5), 0.28  # letters stand out on all of them
    else:
        numbers = [value for cell in places.values() for value in cell.values]
        least, most = min(numbers, default=0), max(numbers, default=0)
        # What differs from theory stands on the ground, in the colour of its role.
        z = {place: c.values[-1] for place, c in places.items() if not any(c.differences)}
        # Only the paler half of the scale: dark letters stand out on all of it, in a dark figure light ones.
        ends, opacity = (least, least + 2 * max(most - least, 1)), 1
        scale = [[0, theme.color("wash")], [1, theme.color("measured")]]
    return {"z": _grid(found, z), "zmin": ends[0], "zmax": ends[1], "colorscale": scale, "opacity": opacity}


def _worst(found: SweepMap) -> int:
    return max(1, *(abs(d) for cell in found.cells for d in (0, 0, *cell.differences)))


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


def _texts(found: SweepMap, said: list[tuple[str, str, str]]) -> dict:
    large = _letters(found, said)
    texts, colors = [], []
    for cell, (first, second, role) in zip(found.cells, said, strict=True):
        shown = first
        if large is None and first != FAILED:
            shown = "▨" if role == "outside" else ""
        bold = shown not in ("", "0") and found.show != "status"
        lines = [f"<b>{shown}</b>" if bold else shown]
        if second and large is not None:
            lines.append(f'<span style="font-size:{theme.size("note")}px">{second}</span>')
        texts.append("<br>".join(lines))
        if found.show == "deficit" and cell.differences:
            role = _letters_on(max(map(abs, cell.differences)) / _worst(found))
        colors.append(theme.color(role))
    return {
        "type": "scatter",
        "name": "numbers",
        "x": [found.columns.index(cell.column) for cell in found.cells],
        "y": [found.rows.index(cell.row) for cell in found.cells],
        "mode": "text",
        "text": texts,
        "textfont": {"color": colors, "size": large or theme.size("note")},
        "hoverinfo": "skip",
    }


def _letters(found: SweepMap, said: list[tuple[str, str, str]]) -> float | None:
    """The size of letters that fits into all cells; None where none does."""
    longest = max((len(first) for first, _, _ in said), default=0)
    lines = 2 if any(second for _, second, _ in said) else 1
    wide, high = _WIDE / len(found.columns), 0.74 * theme.size("height") / len(found.rows)
    for size in (theme.size("title"), theme.size("note")):
        if 0.62 * size * longest <= wide - 4 and 1.3 * size * lines <= high:
            return size
    return None


def _letters_on(share: float) -> str:
    """The role of letters on a cell that is off by this share of the largest difference."""
    if share == 0:
        return "soft"
    return "ground" if 0.92 * (1 - share) < _BEYOND_PALE else "ink"


# Around the cells


def _axes(found: SweepMap) -> dict:
    lines = 1.5 * theme.size("note")
    top = 1 - lines / (theme.size("height") - 3 * theme.size("title") - 3 * theme.size("base"))

    def axis(values: tuple, title: str) -> dict:
        step = -(-len(values) // _TICKS)
        return {
            "range": [-0.54, len(values) - 0.46],
            "tickvals": list(range(0, len(values), step)),
            "ticktext": [str(value) for value in values[::step]],
            "title": {"text": title},
            "showgrid": False,
            "showline": False,
            "ticks": "",
        }

    return {
        "xaxis": {"anchor": "y", "domain": (0.0, 1.0), **axis(found.columns, found.column_title)},
        "yaxis": {"anchor": "x", "domain": (0.0, round(top, 3)), **axis(found.rows, found.row_title)},
    }


def _annotations(found: SweepMap) -> list[dict]:
    at_top = {"x": 0, "y": 1, "xref": "x domain", "yref": "paper", "xanchor": "left", "showarrow": False}
    return [
        at_top
        | {
            "text": f"<b>{headline(found)}</b>",
            "yanchor": "bottom",
            "yshift": 6,
            "font": {"size": theme.size("title")},
        },
        at_top
        | {
            "text": _subtitle(found),
            "yanchor": "top",
            "yshift": 4,
            "font": {"size": theme.size("note"), "color": theme.color("soft")},
        },
    ]


def _subtitle(found: SweepMap) -> str:
    several = any(len(cell.records) > 1 for cell in found.cells)
    parts = {
        "dimension": ["dimension, measured"]
        + (["several networks in a cell: smallest–largest, coloured by the largest"] if several else []),
        "deficit": ["measured − theory" + (", coloured by the largest difference" if several else "")],
        "status": ["how sure each number is" + (": the least sure in its cell" if several else "")],
    }[found.show]
    if found.show == "dimension" and any(d for cell in found.cells for d in cell.differences):
        parts.append("▨ measured − theory")
    if any(cell.failed for cell in found.cells):
        parts.append(f"{FAILED} failed: hover for the reason")
    return "; ".join(parts)
