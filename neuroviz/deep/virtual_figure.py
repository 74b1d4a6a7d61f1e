"""What moves and what stands still: a change of basis (Eq. 9), or a rescaling that L answers (Eq. 13)."""

from math import log2
from typing import NamedTuple

import numpy as np

from neuroviz.deep.rescaling import RescalingStudy
from neuroviz.deep.virtual import LOGS, MAX_LAYERS, RANGES, SAME, InterfaceStudy, Moved
from neuroviz.engine.symmetry import WALKS
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, headline
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import colored, numbered, percent, signed, tiny

_BARS = {"notebook": (0.0, 0.23), "lecture": (0.0, 0.13)}  # large words leave the matrices less room
_COLUMNS = 6 + 1 + 1 + MAX_LAYERS + 1 + 1 + 1  # weights, a gap, L, the M, outputs, a gap, C
_BAR = 0.026  # width of a bar, in figure widths
_GAP = Tile("", np.zeros((0, 0)), 1.0)


class _Bar(NamedTuple):
    """What stands under a column of the table: its height, the text over it, the role of its colour."""

    column: int
    name: str
    height: float
    text: str
    role: str
    text_role: str
    hover: str


def virtual_parts(study: InterfaceStudy | RescalingStudy) -> Parts:
    """Matrices before and after, and below them how far each has moved."""
    setting, network = study.setting, [layer._asdict() for layer in study.start]
    local = {"kind": setting.kind, "X": study.X[0].tolist()}
    local["layers"] = [{name: M.tolist() for name, M in layer.items()} for layer in network]
    if isinstance(study, RescalingStudy):
        table = _table(_rescaled(study), _what_outputs_do(study))
        parts = compose(table, _bars(table, _factors(study), "log₂", _cost(study)))
        moves = (*LOGS[: setting.layers], "off")
    else:
        table = _table(_changed(study), _what_moves(study))
        parts = compose(table, _bars(table, _moves(study), "moved", _what_is_recovered(study)))
        moves, local["at"] = ("along", "alone"), setting.interface
    place, ranges = ({name: pick(name) for name in moves} for pick in (vars(setting).get, RANGES.get))
    choices = {} if isinstance(study, RescalingStudy) else {"walk": list(WALKS)}
    place |= {name: getattr(setting, name) for name in choices}
    return as_scene(parts, "weights", place, local, ranges, choices)


def _table(columns: list[tuple[Tile, Tile]], finding: str) -> View:
    """The two networks, matrix by matrix."""
    columns = columns + [(_GAP, _GAP)] * (_COLUMNS - len(columns))
    upper, lower = zip(*columns, strict=True)
    rows = [Row("○<br>start", upper), Row(colored("focus", "<b>●<br>now</b>"), lower)]
    # A finding stands between table and bars; the highest bar's text stands below it.
    margin = theme.margin()
    between = _over_bars() + 1.4 * theme.size("title")
    bottom = _BARS[theme.current()["size"]][1] + between / (theme.size("height") - margin["t"] - margin["b"])
    view = matrices_view(rows, (0.0, 1.0), (bottom, 1.0))
    title = headline(finding) | {"xref": "paper", "yref": "paper"}
    return view._replace(annotations=[*view.annotations, title])


def _pair(part: Moved, limit: float, above: str, frame: str = "") -> tuple[Tile, Tile]:
    """A matrix before and after; the colours are fixed by the start, so that the upper row keeps them."""
    return (
        Tile(f"{part.name}, start", part.start, limit, f"<b>{part.name}</b>", frame=frame),
        Tile(f"{part.name}, now", part.now, limit, above, frame=frame),
    )


def _still(part: Moved) -> tuple[Tile, Tile]:
    """A matrix that should not move, with the verdict "same" or "moved"."""
    verdict = colored("certified", "<b>same</b>") if part.is_same else colored("outside", "<b>moved</b>")
    return _pair(part, largest_entry(part.start), verdict, "certified" if part.is_same else "outside")


# A change of basis


def _changed(study: InterfaceStudy) -> list[tuple[Tile, Tile]]:
    limits = [1.6 * largest_entry(part.start) for part in study.weights]
    for head in (slice(0, 2), slice(3, 5)):  # Q and K of a layer
        limits[head] = [max(limits[head])] * 2
    limit, C = largest_entry(study.C), numbered("C", study.setting.interface)
    found = Tile("", np.zeros((0, len(study.C))), 1.0, colored("outside", "<b>?</b>"))
    if study.recovered is not None:
        frame = "certified" if study.off <= SAME * limit else "outside"
        found = Tile(
            f"{C}, recovered", study.recovered[study.setting.interface - 1], limit, "recovered", frame=frame
        )
    return [
        *map(_pair, study.weights, limits, _became(study)),
        (_GAP, _GAP),
        *map(_still, (*study.virtual, study.outputs)),
        (_GAP, _GAP),
        (Tile(f"{C}, applied", study.C, limit, f"<b>{C}</b>"), found),
    ]


def _moves(study: InterfaceStudy) -> list[_Bar]:
    """How far each matrix has moved."""
    weights, found = len(study.weights), []
    for i, part in enumerate((*study.weights, *study.virtual, study.outputs)):
        text = "0" if part.is_same else percent(part.change)
        role = "focus" if i < weights else "certified" if part.is_same else "outside"
        text_role = "soft" if i < weights and part.is_same else role
        hover = f"{part.name}: moved by {100 * part.change:.2f} % ({part.change:.1e})"
        column = i + (i >= weights)  # a gap follows the weights
        found.append(_Bar(column, part.name, part.change, text, role, text_role, hover))
    return found


def _became(study: InterfaceStudy) -> tuple[str, ...]:
    """The texts above the weights; they are short, because a longer text widens its column."""
    names = [part.name for part in study.weights]
    before = "D" * bool(study.setting.alone) + "C" * study.turns
    return (*names[:2], before + names[2], *(name + "C⁻¹" * study.turns for name in names[3:]))


def _what_moves(study: InterfaceStudy) -> str:
    if study.moved:
        alone = f"{numbered('V', study.setting.interface)} alone is no symmetry"
        return colored("outside", f"{_and([part.name for part in study.moved])} MOVED: {alone}")
    moving = [part.name for part in study.weights if not part.is_same]
    if not moving:
        return "nothing has moved yet"
    verb = "moves" if len(moving) == 1 else "move"
    return f"{_and(moving)} {verb}; L, every M and the outputs stand still"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _what_is_recovered(study: InterfaceStudy) -> str:
    i = study.setting.interface
    C = numbered("C", i)
    if study.recovered is not None:
        how = f", off by {tiny(study.off)}" if study.off else " exactly"
        return f"the two networks determine {C}: recovered{how}"
    if study.moved:
        return colored("outside", "no C to recover: these are two functions")
    U = "V₁" if i == 1 else f"{numbered('V', i)}{'⋯' if i > 2 else ''}V₁"
    return colored("outside", f"L and M do not determine {C}: {U} has rank {study.rank} of {len(study.C)}")


# A rescaling


def _rescaled(study: RescalingStudy) -> list[tuple[Tile, Tile]]:
    names = (f"{numbered('λ', i)}{part.name}" for i, part in enumerate(study.virtual))
    limits = (2 * largest_entry(part.start) for part in study.virtual)
    return [*map(_pair, study.virtual, limits, names), (_GAP, _GAP), _still(study.outputs)]


def _factors(study: RescalingStudy) -> list[_Bar]:
    """log₂ of what each matrix was multiplied by; what no factor does, in percent."""
    found, outputs, log = [], study.outputs, _log(study.outputs)
    for column, part in enumerate(study.virtual):
        by, text = _log(part), signed(_log(part))
        hover = f"{part.name}: multiplied by 2^{text}"
        found.append(_Bar(column, part.name, by, text, "focus", "focus" if by else "soft", hover))
    role, off = "certified" if outputs.is_same else "outside", f"off by {percent(outputs.change)}"
    height, text = (log, signed(log)) if study.is_symmetry else (outputs.change, off)
    height, text = (0.0, "0") if outputs.is_same else (height, text)
    last = _Bar(len(study.virtual) + 1, outputs.name, height, text, role, role, f"{outputs.name}: {off}")
    return [*found, last]


def _log(part: Moved) -> float:
    """log₂ of the factor between two sizes; 0 for zeros."""
    start, now = float(np.linalg.norm(part.start)), float(np.linalg.norm(part.now))
    return round(log2(now / start), 9) if start and now else 0.0


def _cost(study: RescalingStudy) -> str:
    if not any(study.setting.logs):
        return "all λ are 1: nothing to answer"
    if not study.is_symmetry:
        return colored("outside", "softmax: no λ₀ can answer")
    layers, most = len(study.setting.logs), study.exponents[0]
    if layers == 1:
        return "one step of λ₁ costs λ₀ one step"
    return f"one step of λ₁ costs λ₀ {most} steps, one of {numbered('λ', layers)} only 1"


def _what_outputs_do(study: RescalingStudy) -> str:
    if not any(study.setting.logs) and not study.setting.off:
        return "the start: all factors are 1"
    if study.outputs.is_same:
        return colored("certified", "L and the M have changed, the function has not")
    if study.is_symmetry:
        return colored("outside", f"the outputs are × {signed(2**study.setting.off)}")
    best = "at best off by" if not study.setting.off else "the outputs are off by"
    return colored("outside", f"{best} {percent(study.outputs.change)}")


# The bars


def _bars(table: View, bars: list[_Bar], unit: str, finding: str) -> View:
    """Under each matrix of the table, as far from the left as it."""
    plot = Plot("2", (0.0, 1.0), _BARS[theme.current()["size"]])
    across, base = table.axes["xaxis"]["range"], theme.size("base")
    centres = [(edges[0] + edges[-1]) / 2 for edges in (table.traces[bar.column]["x"] for bar in bars)]
    heights, colors = [bar.height for bar in bars], [theme.color(bar.role) for bar in bars]
    hatched = ["/" if bar.role == "outside" else "" for bar in bars]
    grounds = [theme.color("ground" if shape else "focus") for shape in hatched]
    pattern = {"shape": hatched, "bgcolor": grounds, "fgcolor": colors, "size": 7}
    said = {"customdata": [bar.name for bar in bars], "hovertext": [bar.hover for bar in bars]}
    look = {"width": _BAR * across[1], "cliponaxis": False, "hover": "%{hovertext}"}
    marker = {"color": colors, "pattern": pattern}
    plot.bars("how far each matrix has moved", centres, heights, marker, **said, **look)
    over = [max(height, 0.0) for height in heights]  # the number of a negative bar stands on the line
    font = {"size": base, "color": [theme.color(bar.text_role) for bar in bars]}
    look = {"mode": "text", "textposition": "top center", "textfont": font, "cliponaxis": False}
    plot.points("in numbers", centres, over, {}, text=[f"<b>{bar.text}</b>" for bar in bars], **look)
    ends = [table.traces[0]["x"][0], centres[-1] + 1]
    plot.line("no move", ends, [0, 0], theme.color("axis"), 1.4)
    plot.axis("x", *across, visible=False)
    plot.axis("y", min(*heights, 0.0), 1.02 * max(*heights, 1.0), visible=False)
    beside = {"xref": "x", "xanchor": "left", "align": "left", "yref": "y2 domain"}
    plot.text(unit, 0, 0.5, "base", "ink", **beside, font={"size": base})
    plot.headline(finding, xref="paper", yshift=_over_bars())
    return plot.view()


def _over_bars() -> float:
    """How much room the number over a bar takes, in pixels."""
    return 1.6 * theme.size("base")
