"""Where tree and strip lie: rows in pixels, leaves side by side, and the names beside the rows."""

from typing import NamedTuple

from neuroviz.deep.unrolled_term import UnrollStudy
from neuroviz.kit import theme

X_DOMAIN = (0.095, 0.895)  # of the figure's width; names of rows to the left, results to the right
MAX_LAYERS = 4  # that the figure has names of rows for
_LABELLED = 3  # layers up to which there is room for labels in the strip
_PANEL_WIDTH = 1068  # pixels between the margins, that the sizes are worked out for


class Plan(NamedTuple):
    """Rows of the strip, in pixels from its lower end.

    Attributes:
        tokens, ternary, values, values_after, tokens_after: the middles of these rows.
        bars, bars_after, lines: (lower end, height) of these.
        height: of the strip.
        strip, tree: their parts of the figure's height.
        leaf: pixels from one leaf to the next.
        labelled: whether there is room for labels in the strip.
    """

    tokens: float
    bars: tuple[float, float]
    ternary: float
    values: float
    lines: tuple[float, float]
    values_after: float
    bars_after: tuple[float, float]
    tokens_after: float
    height: float
    strip: tuple[float, float]
    tree: tuple[float, float]
    leaf: float
    labelled: bool


def plan_of(study: UnrollStudy) -> Plan:
    """Without the reflection one strip under a high tree; with it a second strip, upside down, below."""
    unit, labelled = theme.size("note"), study.layers <= _LABELLED
    value = 1.6 if labelled else 0.3
    if study.reflection is None:
        parts = (2.3, 3.6, 1.7, value, 0.0, 0.0, 0.0, 0.0)
    else:
        parts = (2.3, 2.3, 0.0, value, 3.2, value, 2.3, 2.3)
    height = unit * sum(parts)
    rows, y = [], height
    for part in parts:
        y -= unit * part
        rows.append((y, unit * part))
    tokens, bars, ternary, values, lines, values_after, bars_after, tokens_after = rows
    plot = theme.size("height") - round(2.2 * theme.size("title")) - 12  # the margins of the template
    return Plan(
        middle(tokens),
        bars,
        middle(ternary),
        middle(values),
        lines,
        middle(values_after),
        bars_after,
        middle(tokens_after),
        height,
        (0.0, height / plot),
        ((height + 2.1 * theme.size("title")) / plot, 1.0),
        (X_DOMAIN[1] - X_DOMAIN[0]) * _PANEL_WIDTH / (3**study.layers + 1),
        labelled,
    )


def middle(row: tuple[float, float]) -> float:
    """The middle of a row of which the lower end and the height are given."""
    return row[0] + row[1] / 2


def bar_at(place: int) -> float:
    """The middle of the k-th bar, in leaves: it lies over the leaves 2k − 1 and 2k."""
    return 2 * place - 0.5


def start_at(plan: Plan) -> float:
    """Where L stands, in leaves: left of the first copy of X."""
    return -min(0.35, 14 / plan.leaf)


def token_at(index: int) -> float:
    """Where j_k stands, in leaves: between the bars k − 1 and k."""
    return 2 * index - 1.5


def axes_of(study: UnrollStudy, axis: str, domain: tuple[float, float], y_range: list[float]) -> dict:
    """The two axes of a view, which nobody sees: both views count leaves from left to right."""
    hidden = {"visible": False, "showgrid": False, "fixedrange": True}
    leaves = [-1.0, float(3**study.layers)]
    return {
        f"xaxis{axis}": {"anchor": f"y{axis}", "domain": list(X_DOMAIN), "range": leaves, **hidden},
        f"yaxis{axis}": {"anchor": f"x{axis}", "domain": list(domain), "range": y_range, **hidden},
    }


def lines(name: str, segments: list[tuple], role: str, width: float, dash: str, axis: str = "") -> dict:
    """Separate lines from (x, y) to (x′, y′) as one trace."""
    return {
        "type": "scatter",
        "name": name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [v for x, _, x_end, _ in segments for v in (x, x_end, None)],
        "y": [v for _, y, _, y_end in segments for v in (y, y_end, None)],
        "mode": "lines",
        "cliponaxis": False,
        "line": {"color": theme.color(role), "width": width, "dash": dash},
        "hoverinfo": "skip",
    }


def beside(text: str, x: float, y: float, axis: str, font: dict, visible: bool = True) -> dict:
    """A text to the left of a view or to the right, at the height of one of its rows."""
    return {
        "text": text,
        "xref": "paper",
        "yref": axis,
        "x": x,
        "y": y,
        "xanchor": "left",
        "yanchor": "middle",
        "visible": visible,
        "showarrow": False,
        "font": font,
    }


def row_name(text: str, y: float, axis: str, visible: bool = True) -> dict:
    """The name of a row, to its left."""
    font = {"size": theme.size("note"), "color": theme.color("soft")}
    return beside(text, 0, y, axis, font, visible)
