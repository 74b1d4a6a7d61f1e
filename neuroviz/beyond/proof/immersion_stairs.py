"""The experiments of Theorem A, in order: what is still hidden of L and the M, as bars that fall to 0."""

from typing import NamedTuple

from neuroviz.beyond.proof.immersion import MOST_LAYERS, Hidden, ImmersionStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, layer_letters, outside_words
from neuroviz.kit.words import colored, numbered

_GAP = 0.45  # between the experiments of the proof and what stands beside them
_MOST_COLUMNS = MOST_LAYERS + 4


class Column(NamedTuple):
    """One bar: where it stands, what is written below it, and what is hidden there."""

    x: float
    name: str
    blocks: tuple[int, ...]
    total: int
    possible: bool


def stairs_view(study: ImmersionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """Stacked bars, one colour for each matrix, on the axes x3 and y3."""
    columns = _columns(study)
    top = 1.3 * columns[0].total
    traces = [_bars(study, columns, block) for block in range(MOST_LAYERS + 1)] + [_mixed(columns)]
    numbers = [_total(study, columns, k) for k in range(_MOST_COLUMNS)]
    axes = {
        "barmode": "stack",
        "xaxis3": {
            "domain": x_domain,
            "anchor": "y3",
            "range": [-0.55, columns[-1].x + 0.55],
            "tickvals": [column.x for column in columns],
            "ticktext": [column.name for column in columns],
            "tickangle": 0,
            "ticks": "",
            "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
            "showgrid": False,
        },
        "yaxis3": {
            "domain": y_domain,
            "anchor": "x3",
            "range": [0, top],
            "showgrid": False,
            "showline": False,
            "ticks": "",
            "showticklabels": False,
        },
    }
    shapes = [_divider(columns), _focus(columns)]
    return View(traces, axes, [headline(_finding(study), "3"), *numbers, _note(study, columns, top)], shapes)


def _columns(study: ImmersionStudy) -> list[Column]:
    """Before any experiment, behind each of them, with everything free, and as the reader set it."""
    n = study.setting.width
    everything = (n * n,) * (study.setting.layers + 1)
    found = [Column(0, "before", everything, sum(everything), True)]
    for i, one in enumerate(study.experiments, start=1):
        sign = "" if one.possible else "▨ "
        name = f"{sign}all<br>frozen" if one.free_layer is None else f"layer {one.free_layer}<br>{sign}free"
        seen = [
            b
            for b, (old, new) in enumerate(zip(found[-1].blocks, one.so_far.blocks, strict=True))
            if new < old
        ]
        name += "<br>" + ("sees " if len(seen) == 1 else "") + (", ".join(map(_letter, seen)) or "–")
        if not one.possible:
            name = outside_words(name)
        found.append(Column(i, name, one.so_far.blocks, one.so_far.kernel, one.possible))
    x = len(found) + _GAP
    found.append(_beside(x, "all as<br>they are", study.everything))
    found.append(_beside(x + 1, colored("focus", "<b>your<br>setting</b>"), study.here))
    return found


def _beside(x: float, name: str, hidden: Hidden) -> Column:
    return Column(x, name, hidden.blocks, hidden.kernel, True)


def _letter(block: int) -> str:
    return numbered("M", block) if block else "L"


def _bars(study: ImmersionStudy, columns: list[Column], block: int) -> dict:
    """One matrix in all columns; empty for layers that are not there."""
    there = block <= study.setting.layers
    role = f"layer {block}" if block else "wash"
    heights = [column.blocks[block] if there else 0 for column in columns]
    # A bar too low for its letters goes without.
    least = columns[0].total * theme.size("note") / 130
    return {
        "type": "bar",
        "name": f"hidden in {_letter(block)} (measured)",
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [column.x for column in columns],
        "y": heights,
        "width": 0.74,
        "text": [_letter(block) if height >= least else "" for height in heights],
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "insidetextfont": {
            "size": theme.size("base"),
            "color": theme.color(layer_letters(block) if block else "ink"),
        },
        "marker": {
            "color": theme.color(role),
            "line": {"color": theme.color("axis" if not block else "ground"), "width": 1},
            "pattern": {
                "shape": ["" if column.possible else "/" for column in columns],
                "bgcolor": theme.color(role),
                "fgcolor": theme.color("outside"),
                "size": 9,
                "solidity": 0.16,
            },
        },
        "hovertemplate": f"%{{y}} directions of {_letter(block)} do nothing<extra></extra>",
    }


def _mixed(columns: list[Column]) -> dict:
    """Directions that move several matrices at once."""
    return {
        "type": "bar",
        "name": "hidden in several matrices at once (measured)",
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [column.x for column in columns],
        "y": [column.total - sum(column.blocks) for column in columns],
        "width": 0.74,
        "marker": {"color": theme.color("symmetry"), "line": {"color": theme.color("ground"), "width": 1}},
        "hovertemplate": "%{y} more move several matrices at once and do nothing<extra></extra>",
    }


def _total(study: ImmersionStudy, columns: list[Column], k: int) -> dict:
    """The number above a bar, where there is one."""
    there = k < len(columns)
    column = columns[k] if there else columns[0]
    yours, all_made = k == len(columns) - 1, k > study.setting.layers
    role = "focus" if yours else "outside" if all_made and column.total else "ink"
    return label(
        f"<b>{column.total}</b>" if there else "",
        column.x,
        _height(columns, k) if there else 0,
        "3",
        yanchor="bottom",
        font={"size": 1.35 * theme.size("base"), "color": theme.color(role)},
    )


def _height(columns: list[Column], k: int) -> float:
    """How high a bar is; the frame around nothing has a height as well."""
    least = 0.05 * columns[0].total if k == len(columns) - 1 else 0
    return max(columns[k].total, least)


def _note(study: ImmersionStudy, columns: list[Column], top: float) -> dict:
    """Why some experiments are hatched."""
    tied = study.setting.tied_layer
    relation = f"{numbered('Q', tied or 0)} = 1"
    if not study.setting.causal:
        relation = numbered("P", tied or 0) + relation
    return label(
        "" if tied is None else outside_words(f"▨ cannot be made: {relation}"),
        columns[-1].x + 0.5,
        top,
        "3",
        xanchor="right",
        yanchor="top",
        font={"size": theme.size("base")},
    )


def _divider(columns: list[Column]) -> dict:
    middle = (columns[-3].x + columns[-2].x) / 2
    return {
        "type": "line",
        "xref": "x3",
        "yref": "y3 domain",
        "x0": middle,
        "x1": middle,
        "y0": 0,
        "y1": 0.82,
        "line": {"color": theme.color("axis"), "width": 1, "dash": "dot"},
    }


def _focus(columns: list[Column]) -> dict:
    """The frame around what the reader set."""
    column = columns[-1]
    return {
        "type": "rect",
        "xref": "x3",
        "yref": "y3",
        "x0": column.x - 0.42,
        "x1": column.x + 0.42,
        "y0": 0,
        "y1": _height(columns, len(columns) - 1),
        "line": {"color": theme.color("focus"), "width": 3},
    }


def _finding(study: ImmersionStudy) -> str:
    """Whether the experiments leave something, and why."""
    setting, left = study.setting, study.left.kernel
    if setting.holds:
        columns = _columns(study)[:-2]
        chain = " → ".join(str(column.total) for column in columns)
        return f"hidden directions: {chain}" if left == 0 else outside_words(f"{left} left: this DISAGREES")
    if left == 0:
        last = not setting.causal and setting.tied_layer == setting.layers
        return outside_words(
            f"{_why(study)}, but last: nothing is left"
            if last
            else "the argument breaks, yet nothing is left"
        )
    do = "direction does" if left == 1 else "directions do"
    return outside_words(f"{left} {do} nothing: {_why(study)}")


def _why(study: ImmersionStudy) -> str:
    """The hypothesis that fails, in a few words."""
    setting = study.setting
    if setting.size == 0:
        return "L = 0"
    zero = setting.causal or setting.width == 1
    return numbered("M", setting.tied_layer) + (" = 0" if zero else " is antisymmetric")
