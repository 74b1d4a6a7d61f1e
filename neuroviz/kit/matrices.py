"""A table of small matrices as heat maps on one plane, so that all their cells have one size."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.plot import View, label
from neuroviz.kit.words import colored

_PANEL_WIDTH = 1100  # pixels of a cell's output in JupyterLab: what the sizes are worked out for
_LARGEST_CELL = 46
_GAP = 18  # pixels between two columns of matrices
_SPARE_BETWEEN_ROWS = 22  # pixels added between two rows where there is room
_CELL_PER_LETTER = 2.5  # cells from this many times the size of a letter on hold numbers such as −0.7 apart
_BESIDE = 12  # pixels kept free at the right end, for the last frame


@dataclass(frozen=True, eq=False)
class Tile:
    """A matrix in the table.

    Attributes:
        name: what hovering says, such as "Q, start".
        matrix: m × n.
        limit: the colours go from −limit to limit; larger entries take the colour of the end. Tiles
            that are to be compared share it.
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
    """Tiles side by side, and the text to their left. A tile may be missing (None): its place stays empty."""

    heading: str
    tiles: tuple[Tile | None, ...]


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
    """The table: one heat map for each place, a text for each heading, above and below, and frames.

    The same rows and columns, whatever their sizes and texts, give the same number of traces,
    annotations and shapes, so `redraw` moves one table to another.

    Args:
        rows: all with the same number of tiles.
        x_domain, y_domain: the part of the figure to use.
        axis: "", "2", …: the plane is drawn on the axes x{axis} and y{axis}.
    """
    plan = _plan(rows, x_domain, y_domain)
    traces, annotations, shapes = [], [], []
    for i, row in enumerate(rows):
        annotations.append(_heading(row, plan, i, axis))
        for j, tile in enumerate(row.tiles):
            traces.append(_heat_map(tile, plan, i, j, axis))
            annotations += _texts(tile, plan, i, j, axis)
            shapes.append(_frame(tile, plan, i, j, axis))
    return View(traces, _axes(plan, x_domain, y_domain, axis), annotations, shapes)


def _plan(rows: list[Row], x_domain: tuple[float, float], y_domain: tuple[float, float]) -> _Plan:
    columns = [[tile for tile in column if tile] for column in zip(*(row.tiles for row in rows), strict=True)]
    # A column or a row may be empty: it keeps its place, with no width or height.
    widths = [max((tile.matrix.shape[1] for tile in column), default=0) for column in columns]
    heights = [max((tile.matrix.shape[0] for tile in row.tiles if tile), default=0) for row in rows]
    texts = [
        max((_pixels(text) for tile in column for text in (tile.above, tile.below)), default=0.0)
        for column in columns
    ]
    lines = 2 if any(tile.below for column in columns for tile in column) else 1
    line = 2.2 * theme.size("base")  # what a text above or below a row takes
    gutter = max(_pixels(row.heading) for row in rows) + 14

    margin = theme.margin()
    x_pixels = (_PANEL_WIDTH - margin["l"] - margin["r"]) * (x_domain[1] - x_domain[0])
    # Less what plotly adds to the margin for the ticks and titles of axes elsewhere in the figure.
    y_pixels = (theme.size("height") - margin["t"] - margin["b"] - 3 * theme.size("base")) * (
        y_domain[1] - y_domain[0]
    )

    def slots(cell: float) -> list[float]:
        """How wide each column is, with its texts."""
        return [max(cell * width, text) for width, text in zip(widths, texts, strict=True)]

    def fits(cell: float) -> bool:
        across = gutter + sum(slots(cell)) + _GAP * (len(widths) - 1) + _BESIDE
        return across <= x_pixels and cell * sum(heights) + line * lines * len(rows) + 6 <= y_pixels

    cell = next((half / 2 for half in range(2 * _LARGEST_CELL, 10, -1) if fits(half / 2)), 5.0)
    left, start = [], gutter
    for slot, width in zip(slots(cell), widths, strict=True):
        left.append((start + (slot - cell * width) / 2) / cell)
        start += slot + _GAP
    spare = y_pixels - cell * sum(heights) - line * lines * len(rows) - 6
    between = line * lines + min(max(spare, 0.0) / len(rows), _SPARE_BETWEEN_ROWS)
    top = [(line + i * between) / cell + sum(heights[:i]) for i in range(len(rows))]
    bottom = top[-1] + heights[-1] + (line * (lines - 1) + 6) / cell
    return _Plan(cell, left, widths, top, x_pixels / cell, bottom)


def _pixels(text: str) -> float:
    """About how wide a text is: an average letter is a little wider than half its size."""
    return max(0.56 * theme.size("base") * len(_bare(part)) for part in text.split("<br>"))


def _bare(text: str) -> str:
    """The text without its tags, for its length."""
    kept, inside = [], False
    for character in text:
        if character in "<>":
            inside = character == "<"
        elif not inside:
            kept.append(character)
    return "".join(kept)


def _heat_map(tile: Tile | None, plan: _Plan, i: int, j: int, axis: str) -> dict:
    matrix = np.zeros((0, 0)) if tile is None else np.asarray(tile.matrix, dtype=float)
    rows, columns = matrix.shape
    note, limit = theme.size("note"), 1.0 if tile is None else tile.limit
    has_room = plan.cell >= _CELL_PER_LETTER * note
    return {
        "type": "heatmap",
        "name": "" if tile is None else tile.name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        # Edges, not centres: a single column has a width all the same.
        "x": [plan.left[j] + k for k in range(columns + 1)],
        "y": [plan.top[i] + k for k in range(rows + 1)],
        "z": matrix.tolist(),
        "zmin": -limit,
        "zmax": limit,
        "colorscale": theme.scale("diverging"),
        "showscale": False,
        "xgap": 2,
        "ygap": 2,
        "text": [[_cell_text(entry, limit) if has_room else "" for entry in row] for row in matrix.tolist()],
        "texttemplate": "%{text}" if has_room else "",
        "textfont": {"size": note},
        "hovertemplate": "" if tile is None else f"{tile.name}: %{{z:.4f}}<extra></extra>",
    }


def _cell_text(entry: float, limit: float) -> str:
    """An entry in the colour that can be read on its cell; one colour for a whole heat map cannot."""
    place = min(max(0.5 + entry / (2 * limit), 0.0), 1.0)
    return colored(theme.letters_on("diverging", place), _short(entry))


def _short(entry: float) -> str:
    """An entry in at most four characters, as long as it is below 1000.

    >>> _short(-0.834), _short(-0.04), _short(12.3), _short(0.001)
    ('−0.8', '−.04', '12', '0')
    """
    text = f"{entry:.1f}" if abs(entry) < 9.95 else f"{entry:.0f}"
    if float(text) == 0:
        text = f"{entry:.2f}".replace("0.", ".")
    return "0" if float(text) == 0 else text.replace("-", "−")


def _heading(row: Row, plan: _Plan, i: int, axis: str) -> dict:
    return label(row.heading, 0, plan.top[i], axis, xanchor="left", yanchor="top", align="left") | {
        "font": {"size": theme.size("base")}
    }


def _texts(tile: Tile | None, plan: _Plan, i: int, j: int, axis: str) -> list[dict]:
    middle = plan.left[j] + plan.widths[j] / 2
    bottom = plan.top[i] + (0 if tile is None else tile.matrix.shape[0])
    font = {"font": {"size": theme.size("base")}}
    above, below = ("", "") if tile is None else (tile.above, tile.below)
    return [
        label(above, middle, plan.top[i], axis, yanchor="bottom", yshift=5) | font,
        label(below, middle, bottom, axis, yanchor="top", yshift=-5) | font,
    ]


def _frame(tile: Tile | None, plan: _Plan, i: int, j: int, axis: str) -> dict:
    rows, columns = (0, 0) if tile is None else tile.matrix.shape
    beside = 4 / plan.cell
    framed = tile is not None and bool(tile.frame)
    return {
        "type": "rect",
        "xref": f"x{axis}",
        "yref": f"y{axis}",
        "x0": plan.left[j] - beside,
        "x1": plan.left[j] + columns + beside,
        "y0": plan.top[i] - beside,
        "y1": plan.top[i] + rows + beside,
        "line": {"color": theme.color(tile.frame if framed else "ground"), "width": 3},
        "visible": framed,
    }


def _axes(plan: _Plan, x_domain: tuple[float, float], y_domain: tuple[float, float], axis: str) -> dict:
    hidden = {"visible": False, "constrain": "domain"}
    return {
        f"xaxis{axis}": {
            "domain": x_domain,
            "range": [0, plan.width],
            "anchor": f"y{axis}",
            "constraintoward": "left",
            **hidden,
        },
        f"yaxis{axis}": {
            "domain": y_domain,
            "range": [plan.height, 0],  # row 1 on top
            "anchor": f"x{axis}",
            "scaleanchor": f"x{axis}",
            "constraintoward": "top",
            **hidden,
        },
    }
