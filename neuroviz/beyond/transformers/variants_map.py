"""Where heads of one layer blend: how many directions, over d − a and the number of heads."""

from neuroviz.beyond.transformers.variants import BlendCell, VariantStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline


def blend_map_view(
    study: VariantStudy, x_domain: tuple[float, float], y_domain: tuple[float, float], axis: str
) -> View:
    """The map: H to the right, d − a upwards."""
    return View(
        [_colours(study, axis), _numbers(study, axis), _border(study, axis), _here(study, axis)],
        _axes(study, x_domain, y_domain, axis),
        [headline(_said(study), axis)],
        [],
    )


def _colours(study: VariantStudy, axis: str) -> dict:
    most = max(1, *(cell.blends for cell in study.cells))
    of = {(cell.row, cell.column): cell for cell in study.cells}
    grid = [[of[row, column] for row in study.rows] for column in study.columns]
    return {
        "type": "heatmap",
        "name": "measured",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": list(study.rows),
        "y": list(study.columns),
        # No blend has a colour of its own; of the scale only the paler half is used, for the letters on it.
        "z": [[cell.blends + 0.35 * most if cell.blends else 0 for cell in line] for line in grid],
        "zmin": 0,
        "zmax": 2.4 * most,
        "colorscale": [[0, theme.color("wash")], [1, theme.color("measured")]],
        "showscale": False,
        "xgap": 3,
        "ygap": 3,
        "text": [[_hover(cell) for cell in line] for line in grid],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _hover(cell: BlendCell) -> str:
    ledger = cell.ledger
    return (
        f"{ledger.arch}<br>{cell.blends} directions in which heads blend, beside rescalings"
        f"<br>{ledger.unexplained} unexplained; dimension {ledger.dimension} (exact)"
    )


def _numbers(study: VariantStudy, axis: str) -> dict:
    return {
        "type": "scatter",
        "name": "blends, measured",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [cell.row for cell in study.cells],
        "y": [cell.column for cell in study.cells],
        "mode": "text",
        "text": [f"<b>{cell.blends}</b>" if cell.blends else "0" for cell in study.cells],
        "textfont": {
            "size": theme.size("base"),
            "color": [theme.color("ink" if cell.blends else "soft") for cell in study.cells],
        },
        "hoverinfo": "skip",
    }


def _border(study: VariantStudy, axis: str) -> dict:
    """The line H = (d − a)² + 1: heads blend to the right of it, lightning heads at least."""
    x, y = [], []
    if study.ledger.arch.attention == "lightning":
        end = study.rows[-1] + 0.5
        for column in study.columns:
            place = min(column**2 + 1.5, end)
            x += [place, place]
            y += [column - 0.5, column + 0.5]
    return {
        "type": "scatter",
        "name": "border H = (d − a)² + 1",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": theme.color("formula"), "width": theme.size("line")},
        "hoverinfo": "skip",
    }


def _here(study: VariantStudy, axis: str) -> dict:
    """A ring around the network's first layer."""
    x, y = ([study.here[1]], [study.here[0]]) if study.here else ([], [])
    return {
        "type": "scatter",
        "name": "this network",
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": x,
        "y": y,
        "mode": "markers",
        "marker": {
            "symbol": "circle-open",
            "size": 2.1 * theme.size("base"),
            "color": theme.color("focus"),
            "line": {"width": 3},
        },
        "hovertemplate": "the first layer of this network<extra></extra>",
    }


def _axes(
    study: VariantStudy, x_domain: tuple[float, float], y_domain: tuple[float, float], axis: str
) -> dict:
    quiet = {"showgrid": False, "showline": False, "ticks": ""}
    return {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": x_domain,
            "range": [study.rows[0] - 0.52, study.rows[-1] + 0.52],
            "tickvals": list(study.rows),
            "title": {"text": study.map_title},
            **quiet,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": y_domain,
            "range": [study.columns[0] - 0.52, study.columns[-1] + 0.52],
            "tickvals": list(study.columns),
            "title": {"text": "d − a"},
            **quiet,
        },
    }


def _said(study: VariantStudy) -> str:
    if not any(cell.blends for cell in study.cells):
        return "Softmax heads never blend" if study.ledger.arch.attention == "softmax" else "Nothing blends"
    return "Heads blend where H > (d − a)² + 1"
