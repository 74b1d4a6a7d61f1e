"""A table of small matrices as heat maps on one plane, so that all their cells have one
size."""

import re
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import View, label
from neuroviz.kit.words import colored

_PANEL_WIDTH = 1100  # pixels of a cell's output in JupyterLab; all sizes follow from it
_NARROWEST = 700  # pixels of a page on a tablet: cells shrink with it, and no text does
_LARGEST_CELL = 46.0
_SMALLEST_CELL = 5.0
_GAP = 18  # pixels between two columns of matrices
_AFTER_HEADINGS = 14  # pixels between the headings and the first column
_AT_THE_BOTTOM = 6  # pixels kept free there
_LINE = 2.2  # height of a text above or below a row, in sizes of its letters
_SPARE_BETWEEN_ROWS = 22  # more pixels between two rows, where there is room
_CELL_PER_LETTER = 2.5  # a cell wider than so many letters holds a number such as −0.7
_BESIDE = 12  # pixels kept free at the right end, for the last frame


@dataclass(frozen=True, eq=False)
class Tile:
    """A matrix in the table.

    Attributes:
        name: what hovering says, such as "Q, start".
        matrix: m × n.
        limit: the colours go from −limit to limit; larger entries take the colour of
            the end. Tiles that are to be compared share it.
        above, below: text over and under the matrix, "" for none.
        frame: the role of a frame around it ("certified"), "" for none.
    """

    name: str
    matrix: np.ndarray
    limit: float
    above: str = ""
    below: str = ""
    frame: str = ""


@dataclass(frozen=True, eq=False)
class Row:
    """Tiles side by side, and the text to their left. A tile may be missing (None): its
    place stays empty."""

    heading: str
    tiles: tuple[Tile | None, ...]


class _Column(NamedTuple):
    """How wide a column is."""

    cells: int  # of its widest matrix
    text: float  # pixels of its widest text

    def pixels(self, cell: float) -> float:
        """What it takes with cells of this size."""
        return max(cell * self.cells, self.text)


class _Plan(NamedTuple):
    """Where everything lies, in cells: x to the right, y downwards."""

    cell: float  # pixels
    left: list[float]  # of each column
    widths: list[int]
    top: list[float]  # of each row
    width: float
    height: float


def largest_entry(*matrices: np.ndarray) -> float:
    """The largest absolute entry, 1 for zeros: a `limit` that no entry exceeds.

    >>> largest_entry(np.array([[1.0, -3.0]]), np.zeros((2, 2)))
    3.0
    """
    return max(float(np.abs(matrix).max()) for matrix in matrices) or 1.0


def matrices_view(
    rows: list[Row],
    x_domain: tuple[float, float] = (0.0, 0.4),
    y_domain: tuple[float, float] = (0.0, 1.0),
    axis: str = "",
) -> View:
    """The table: a heat map for each tile, a text for each heading, above and below,
    and frames.

    Args:
        rows: all with the same number of tiles.
        x_domain, y_domain: the part of the figure to use.
        axis: "", "2", …: the plane is drawn on the axes x{axis} and y{axis}.
    """
    plan = _plan(rows, x_domain, y_domain)
    font = {"font": {"size": theme.size("base")}}
    view = View([], _axes(plan, x_domain, y_domain, axis), [], [])
    for row, top in zip(rows, plan.top, strict=True):
        place = {"xanchor": "left", "yanchor": "top", "align": "left"}
        view.annotations.append(label(row.heading, 0, top, axis, **place) | font)
        for tile, left, width in zip(row.tiles, plan.left, plan.widths, strict=True):
            if tile is None:
                continue
            view.traces.append(_heat_map(tile, plan.cell, left, top, axis))
            middle = left + width / 2
            bottom = top + len(tile.matrix)
            if tile.above:
                above = label(tile.above, middle, top, axis, yanchor="bottom", yshift=5)
                view.annotations.append(above | font)
            if tile.below:
                below = label(
                    tile.below, middle, bottom, axis, yanchor="top", yshift=-5
                )
                view.annotations.append(below | font)
            if tile.frame:
                view.shapes.append(_frame(tile, plan.cell, left, top, axis))
    return view


def _plan(
    rows: list[Row], x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> _Plan:
    columns = _columns(rows)
    heights = [_height(row) for row in rows]
    has_text_below = any(tile and tile.below for row in rows for tile in row.tiles)
    line = _LINE * theme.size("base")
    texts = 2 * line if has_text_below else line  # of one row
    gutter = max(_pixels(row.heading) for row in rows) + _AFTER_HEADINGS
    gutter *= _PANEL_WIDTH / _NARROWEST

    margin = theme.margin()
    x_pixels = (_PANEL_WIDTH - margin["l"] - margin["r"]) * (x_domain[1] - x_domain[0])
    # plotly enlarges the margin for the ticks and titles of other axes.
    y_pixels = theme.size("height") - margin["t"] - margin["b"] - 3 * theme.size("base")
    y_pixels *= y_domain[1] - y_domain[0]
    for_columns = x_pixels - gutter - _GAP * (len(columns) - 1) - _BESIDE
    for_cells = y_pixels - texts * len(rows) - _AT_THE_BOTTOM

    cell = _cell_size(columns, sum(heights), for_columns, for_cells)
    spare = max(for_cells - cell * sum(heights), 0.0) / len(rows)
    between = texts + min(spare, _SPARE_BETWEEN_ROWS)
    # A text stands above each row, and between two rows also the spare pixels.
    top = [(line + i * between) / cell + sum(heights[:i]) for i in range(len(rows))]
    # Below the last row are the texts below it, if any.
    bottom = top[-1] + heights[-1] + (texts - line + _AT_THE_BOTTOM) / cell
    return _Plan(
        cell,
        _lefts(columns, cell, gutter),
        [column.cells for column in columns],
        top,
        x_pixels / cell,
        bottom,
    )


def _columns(rows: list[Row]) -> list[_Column]:
    """How wide the columns are; one without any tile has no width."""
    columns = []
    for tiles in zip(*(row.tiles for row in rows), strict=True):
        cells = 0
        text = 0.0
        for tile in tiles:
            if tile:
                cells = max(cells, tile.matrix.shape[1])
                text = max(text, _pixels(tile.above), _pixels(tile.below))
        columns.append(_Column(cells, text))
    return columns


def _height(row: Row) -> int:
    """Of its highest matrix; 0 of a row without any tile."""
    return max((tile.matrix.shape[0] for tile in row.tiles if tile), default=0)


def _cell_size(
    columns: list[_Column], height: int, for_columns: float, for_cells: float
) -> float:
    """The largest cell with which all columns and `height` cells fit into so many
    pixels; the smallest one if none does."""
    cell = _LARGEST_CELL
    while cell > _SMALLEST_CELL:
        width = sum(column.pixels(cell) for column in columns)
        if width <= for_columns and cell * height <= for_cells:
            break
        cell -= 0.5
    return cell


def _lefts(columns: list[_Column], cell: float, gutter: float) -> list[float]:
    """Where the matrices of each column begin, in cells: each stands in the middle."""
    lefts = []
    start = gutter
    for column in columns:
        beside = (column.pixels(cell) - cell * column.cells) / 2
        lefts.append((start + beside) / cell)
        start += column.pixels(cell) + _GAP
    return lefts


def _pixels(text: str) -> float:
    """About how wide a text is: an average letter is a little wider than half its
    size."""
    # Tags have no width, but <br> begins a line; the widest line counts.
    return max(
        0.56 * theme.size("base") * len(part)
        for part in re.sub("<(?!br>)[^>]*>", "", text).split("<br>")
    )


def _heat_map(tile: Tile, cell: float, left: float, top: float, axis: str) -> dict:
    matrix = np.asarray(tile.matrix, dtype=float)
    limit = tile.limit
    note = theme.size("note")
    rows, columns = matrix.shape
    has_room = cell >= _CELL_PER_LETTER * note
    # plotly gets edges instead of centres, so that a single column has a width.
    edges = {
        "x": [left + k for k in range(columns + 1)],
        "y": [top + k for k in range(rows + 1)],
    }
    colors = {
        "zmin": -limit,
        "zmax": limit,
        "colorscale": theme.scale("diverging"),
        "showscale": False,
    }
    text = [
        [_cell_text(entry, limit) if has_room else "" for entry in row]
        for row in matrix.tolist()
    ]
    return {
        "type": "heatmap",
        "name": tile.name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        **edges,
        "z": matrix.tolist(),
        **colors,
        "xgap": 2,
        "ygap": 2,
        "text": text,
        "texttemplate": "%{text}" if has_room else "",
        "textfont": {"size": note},
        "hovertemplate": f"{tile.name}: %{{z:.4f}}<extra></extra>",
    }


def _cell_text(entry: float, limit: float) -> str:
    """An entry in the colour that can be read on its cell; one colour for a whole heat
    map cannot."""
    place = min(max(0.5 + entry / (2 * limit), 0.0), 1.0)
    return colored(theme.letters_on("diverging", place), _short(entry))


def _short(entry: float) -> str:
    """An entry in at most four characters, as long as it is below 1000.

    >>> _short(-0.834), _short(-0.04), _short(12.3), _short(0.001)
    ('−0.8', '−.04', '12', '0')
    """
    # From 9.95 on a decimal would make −10.0, of five characters.
    text = f"{entry:.1f}" if abs(entry) < 9.95 else f"{entry:.0f}"
    if float(text) == 0:
        text = f"{entry:.2f}".replace("0.", ".")
    return "0" if float(text) == 0 else text.replace("-", "−")


def _frame(tile: Tile, cell: float, left: float, top: float, axis: str) -> dict:
    rows, columns = tile.matrix.shape
    beside = 4 / cell  # pixels, in cells
    x = (left - beside, left + columns + beside)
    y = (top - beside, top + rows + beside)
    ends = {"x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1]}
    line = {"color": theme.color(tile.frame), "width": 3}
    return {
        "type": "rect",
        "xref": f"x{axis}",
        "yref": f"y{axis}",
        **ends,
        "line": line,
    }


def _axes(
    plan: _Plan, x_domain: tuple[float, float], y_domain: tuple[float, float], axis: str
) -> dict:
    # `scaleanchor` makes the cells squares; for that `constrain` shrinks the plot, and
    # not the ranges.
    hidden = {"visible": False, "constrain": "domain"}
    x = {
        "domain": x_domain,
        "range": [0, plan.width],
        "anchor": f"y{axis}",
        "constraintoward": "left",
    }
    y = {
        "domain": y_domain,
        "range": [plan.height, 0],  # downwards
        "anchor": f"x{axis}",
        "scaleanchor": f"x{axis}",
    }
    y["constraintoward"] = "top"  # row 1 stands at the top
    return {f"xaxis{axis}": x | hidden, f"yaxis{axis}": y | hidden}
