"""The paper's formula put to the test on a grid of two sizes: measured minus formula."""

from dataclasses import dataclass

from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import View, outside_words

_BEYOND_PALE = 0.45  # below this point of the deficit scale, text in the colour of the ground reads better
_SUBTITLES = 3  # lines between headline and cells


@dataclass(frozen=True)
class MapCell:
    """One network of the map.

    Attributes:
        column, row: where it stands, by the values that vary.
        measured: its dimension.
        paper: what the paper's formula says there, applicable or not.
        covered: whether all that the paper asks for in its statement is true there.
        cause: in a word or two, why the formula is off there; "" leaves it out.
    """

    column: int
    row: int
    measured: Measurement
    paper: Expected
    covered: bool
    cause: str = ""

    @property
    def difference(self) -> int:
        """Measured minus formula."""
        return self.measured.value - self.paper.value


@dataclass(frozen=True)
class FormulaMap:
    """The paper's formula against measurements, over two sizes of a network.

    Attributes:
        cells: one for each column and row.
        columns, rows: the values that vary, increasing.
        column_title, row_title: what the axes vary.
        tokens: of every network on the map.
        formula: the name of the formula, such as "Eq. 14".
        statement: the statement of the paper it comes from, such as "Cor. 3.8".
        here: the column and the row of the chosen network, or None where it is not on the map.
    """

    cells: tuple[MapCell, ...]
    columns: tuple[int, ...]
    rows: tuple[int, ...]
    column_title: str
    row_title: str
    tokens: int
    formula: str
    statement: str
    here: tuple[int, int] | None

    @property
    def off(self) -> tuple[MapCell, ...]:
        """Where the measurement is not what the formula says."""
        return tuple(cell for cell in self.cells if cell.difference)

    @property
    def contradicted(self) -> tuple[MapCell, ...]:
        """Where it is not, though the paper says that it must be: a mistake, the paper's or ours."""
        return tuple(cell for cell in self.off if cell.covered)

    @property
    def unneeded(self) -> tuple[MapCell, ...]:
        """Where the formula is right although the paper does not promise it."""
        return tuple(cell for cell in self.cells if not cell.difference and not cell.covered)


def map_view(found: FormulaMap, x_domain: tuple[float, float], axis: str = "2") -> View:
    """The map, on the axes x2 and y2, or others."""
    return View(
        [_colours(found, axis), _numbers(found, axis)],
        _axes(found, x_domain, axis),
        _annotations(found, axis),
        [_frame(found, axis), _ring(found, axis)],
    )


def _worst(found: FormulaMap) -> int:
    return max(1, *(abs(cell.difference) for cell in found.cells))


def _colours(found: FormulaMap, axis: str) -> dict:
    """How far off, whichever way: the sign is in the text."""
    by_place = {(cell.column, cell.row): cell for cell in found.cells}
    worst = _worst(found)
    return {
        "type": "heatmap",
        "name": "distance between measurement and formula",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": list(range(len(found.columns))),
        "y": list(range(len(found.rows))),
        "z": [[-abs(by_place[x, y].difference) for x in found.columns] for y in found.rows],
        "zmin": -worst,
        "zmax": 0.0857 * worst,  # so that 0, and nothing else, falls on the colour that is its own
        "colorscale": theme.scale("deficit"),
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "hoverinfo": "skip",
    }


def _numbers(found: FormulaMap, axis: str) -> dict:
    note, title, worst = theme.size("note"), theme.size("title"), _worst(found)
    lower = round(0.012 * (title - note), 3)  # the larger first line would stand too high
    texts, colors, hovers = [], [], []
    for cell in found.cells:
        difference = f"{cell.difference:+d}".replace("-", "−") if cell.difference else "0"
        # Three digits and a sign are wider than a cell in the size of a title.
        large = title if len(difference) < 4 else note + 1
        said = f"<b>{difference}</b>" if cell.difference else difference
        lines = [
            f'<span style="font-size:{large}px">{said}</span>',
            f'<span style="font-size:{note}px">{cell.measured.value}</span>',
        ]
        if cell.cause:  # large letters leave room for two lines
            lines = [*lines[: 1 if _is_large() else 2], cell.cause]
        texts.append("<br>".join(lines))
        colors.append(_text_color(abs(cell.difference) / worst))
        applies = f", which does not apply: {cell.paper.note}"
        hovers.append(
            f"measured {cell.measured.value}, {found.formula}: {cell.paper.value}"
            + (applies if cell.paper.status == "outside hypotheses" else "")
        )
    return {
        "type": "scatter",
        "name": "measured minus formula, and measured",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [found.columns.index(cell.column) for cell in found.cells],
        "y": [found.rows.index(cell.row) - lower for cell in found.cells],
        "mode": "text",
        "text": texts,
        "textfont": {"color": colors, "size": note},
        "customdata": hovers,
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _text_color(share: float) -> str:
    """Of text on a cell that is off by this share of the largest distance."""
    if share == 0:
        return theme.color("soft")
    return theme.color("ground" if 0.92 * (1 - share) < _BEYOND_PALE else "ink")


def _axes(found: FormulaMap, x_domain: tuple[float, float], axis: str) -> dict:
    columns, rows = len(found.columns), len(found.rows)
    lines = _SUBTITLES * 1.35 * theme.size("note")
    top = 1 - lines / (theme.size("height") - 3 * theme.size("title") - 3 * theme.size("base"))
    quiet = {"showgrid": False, "showline": False, "ticks": ""}
    return {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": x_domain,
            "range": [-0.56, columns - 0.44],
            "tickvals": list(range(columns)),
            "ticktext": [str(d) for d in found.columns],
            "title": {"text": found.column_title},
            **quiet,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": (0.0, round(top, 3)),
            "range": [-0.56, rows - 0.44],
            "tickvals": list(range(rows)),
            "ticktext": [str(a) for a in found.rows],
            "title": {"text": found.row_title},
            **quiet,
        },
    }


def _annotations(found: FormulaMap, axis: str) -> list[dict]:
    at_top = {
        "x": 0,
        "y": 1,
        "xref": f"x{axis} domain",
        "yref": "paper",
        "xanchor": "left",
        "showarrow": False,
    }
    return [
        at_top
        | {
            "text": f"<b>{_headline(found)}</b>",
            "yanchor": "bottom",
            "yshift": 6,
            "font": {"size": theme.size("title")},
        },
        at_top
        | {
            "text": "<br>".join(_subtitles(found)),
            "yanchor": "top",
            "yshift": 4,
            "align": "left",
            "font": {"size": theme.size("note"), "color": theme.color("soft")},
        },
    ]


def _headline(found: FormulaMap) -> str:
    if found.contradicted:
        return f"{found.statement} DIFFERS"
    off, cells = len(found.off), len(found.cells)
    where = cells if _is_large() else f"{cells} cells"  # large letters have no room for more
    if not off:
        return f"{found.formula} is right in all {where}"
    return f"{found.formula} is off in {'all' if off == cells else f'{off} of'} {where}"


def _is_large() -> bool:
    """Whether letters have the size for a lecture."""
    return theme.size("title") >= 20


def _subtitles(found: FormulaMap) -> list[str]:
    """What the cells hold, what the frame means, and what stands outside it."""
    covered = sum(cell.covered for cell in found.cells)
    below = "the cause" if _is_large() and any(cell.cause for cell in found.cells) else "measured"
    lines = [f"measured − {found.formula}, over {below}"]
    if found.contradicted:
        places = ", ".join(f"({cell.column}, {cell.row})" for cell in found.contradicted[:4])
        lines.append(outside_words(f"▨ at {places}{', …' if len(found.contradicted) > 4 else ''}"))
        return lines
    if covered == 0:
        one_token = "t = 1: " if found.tokens == 1 else ""
        lines.append(outside_words(f"▨ {one_token}{found.statement} does not apply"))
    elif covered == len(found.cells):
        lines.append(_proved_words(f"■ {found.statement} covers them all"))
    else:
        lines.append(_proved_words(f"frame: what {found.statement} asks for: all 0"))
    if unneeded := len(found.unneeded):
        # Where the formula is off nowhere, the paper's hypotheses exclude nothing that they have to.
        too_much = "" if found.off else ": here it asks too much"
        lines.append(
            f"right in {unneeded} more{too_much}" if covered else f"right in {unneeded} all the same"
        )
    return lines


def _proved_words(text: str) -> str:
    return f'<span style="color:{theme.color("certified")}">{text}</span>'


def _frame(found: FormulaMap, axis: str) -> dict:
    """The outline of the cells that the paper's statement covers."""
    covered = {
        (found.columns.index(cell.column), found.rows.index(cell.row)) for cell in found.cells if cell.covered
    }
    end = 0.025  # edges are drawn one by one, each a little longer, so that corners close
    edges = []
    for x, y in sorted(covered):
        for step in (-1, 1):
            if (x + step, y) not in covered:
                edges.append(f"M{x + step / 2},{y - 0.5 - end}L{x + step / 2},{y + 0.5 + end}")
            if (x, y + step) not in covered:
                edges.append(f"M{x - 0.5 - end},{y + step / 2}L{x + 0.5 + end},{y + step / 2}")
    return {
        "type": "path",
        "path": "".join(edges) or "M0,0",
        "xref": f"x{axis}",
        "yref": f"y{axis}",
        "layer": "above",
        "line": {"color": theme.color("certified"), "width": 4},
        "opacity": 1 if edges else 0,
    }


def _ring(found: FormulaMap, axis: str) -> dict:
    """Around the network that the reader has chosen."""
    x, y = found.here or (found.columns[0], found.rows[0])
    x, y = found.columns.index(x), found.rows.index(y)
    return {
        "type": "rect",
        "xref": f"x{axis}",
        "yref": f"y{axis}",
        "x0": x - 0.4,
        "x1": x + 0.4,
        "y0": y - 0.42,
        "y1": y + 0.42,
        "layer": "above",
        "line": {"color": theme.color("focus"), "width": 4},
        "opacity": 0 if found.here is None else 1,
    }
