"""What moves and what stands still: a change of basis (Eq. 9), or a rescaling that L answers (Eq. 13)."""

from dataclasses import dataclass
from math import log2

import numpy as np

from neuroviz.deep.rescaling import RescalingStudy
from neuroviz.deep.virtual import MAX_LAYERS, SAME, InterfaceStudy, Moved
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, headline, label, outside_words
from neuroviz.kit.words import colored, numbered, percent, signed, tiny

_BARS = (0.0, 0.23)
_COLUMNS = 4 + 1 + 1 + MAX_LAYERS + 1 + 1 + 1  # weights, a gap, L, the M, outputs, a gap, C
_BAR = 0.026  # width of a bar, as a part of the figure's
_GAP = Tile("", np.zeros((0, 0)), 1.0)


@dataclass(frozen=True)
class _Bar:
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
    if isinstance(study, RescalingStudy):
        table = _table(_rescaled(study), _what_outputs_do(study))
        return compose(table, _bars(table, _factors(study), "log₂ of<br>factor", _cost(study)))
    table = _table(_changed(study), _what_moves(study))
    return compose(table, _bars(table, _moves(study), "moved<br>by", _what_is_recovered(study)))


def _table(columns: list[tuple[Tile, Tile]], finding: str) -> View:
    """The two networks, matrix by matrix."""
    columns = columns + [(_GAP, _GAP)] * (_COLUMNS - len(columns))
    upper, lower = zip(*columns, strict=True)
    rows = [Row("○<br>start", upper), Row(colored("focus", "<b>●<br>now</b>"), lower)]
    # Between table and bars stand a finding, and below it what stands over the highest bar.
    margin = theme.margin()
    between = _over_bars() + 1.4 * theme.size("title")
    bottom = _BARS[1] + between / (theme.size("height") - margin["t"] - margin["b"])
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
    """What is to stand still, and whether it does."""
    verdict = colored("certified", "<b>same</b>") if part.is_same else outside_words("<b>moved</b>")
    return _pair(part, largest_entry(part.start), verdict, "certified" if part.is_same else "outside")


# A change of basis


def _changed(study: InterfaceStudy) -> list[tuple[Tile, Tile]]:
    limits = [1.6 * largest_entry(part.start) for part in study.weights]
    limits[1] = limits[2] = max(limits[1:3])
    weights = zip(study.weights, limits, _became(study), strict=True)
    limit, C = largest_entry(study.C), numbered("C", study.interface)
    found = Tile("", np.zeros((0, len(study.C))), 1.0, outside_words("<b>?</b>"))
    if study.recovered is not None:
        frame = "certified" if study.off <= SAME * limit else "outside"
        found = Tile(f"{C}, recovered", study.recovered[study.interface - 1], limit, "recovered", frame=frame)
    return [
        *(_pair(part, limit, became) for part, limit, became in weights),
        (_GAP, _GAP),
        *map(_still, (*study.virtual, study.outputs)),
        (_GAP, _GAP),
        (Tile(f"{C}, applied", study.C, limit, f"<b>{C}</b>"), found),
    ]


def _moves(study: InterfaceStudy) -> list[_Bar]:
    """How far each matrix has moved."""
    weights = len(study.weights)
    parts = [*enumerate(study.weights), *enumerate((*study.virtual, study.outputs), start=weights + 1)]
    found = []
    for column, part in parts:
        text = "0" if part.is_same else percent(part.change)
        role = "focus" if column < weights else "certified" if part.is_same else "outside"
        text_role = "soft" if column < weights and part.is_same else role
        hover = f"{part.name}: moved by {100 * part.change:.2f} % ({part.change:.1e})"
        found.append(_Bar(column, part.name, part.change, text, role, text_role, hover))
    return found


def _became(study: InterfaceStudy) -> tuple[str, ...]:
    """What stands over the moved weights; short, because these texts keep the columns apart."""
    i, prime = study.interface, "′" if study.free else ""
    first = f"{'D' if study.alone else ''}C{numbered('V', i)}"
    return first, *(f"{numbered(letter, i + 1)}{prime}C⁻¹" for letter in "QKV")


def _what_moves(study: InterfaceStudy) -> str:
    if study.moved:
        names = [part.name for part in study.moved]
        return outside_words(f"{_and(names)} MOVED: {numbered('V', study.interface)} alone is no symmetry")
    moving = [part.name for part in study.weights if not part.is_same]
    if not moving:
        return "nothing has moved yet"
    verb = "moves" if len(moving) == 1 else "move"
    return f"{_and(moving)} {verb}; L, every M and the outputs stand still"


def _and(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]


def _what_is_recovered(study: InterfaceStudy) -> str:
    C = numbered("C", study.interface)
    if study.recovered is not None:
        how = f", off by {tiny(study.off)}" if study.off else " exactly"
        return f"the two networks determine {C}: recovered{how}"
    if study.moved:
        return outside_words("no C to recover: these are two functions")
    delta = len(study.C)
    lost = f"{_up_to(study.interface)} has rank {study.rank} of {delta}"
    if study.misfit > SAME:
        return outside_words(f"same L and M, and no C connects them: {lost}")
    return outside_words(f"L and M do not determine {C}: {lost}")


def _up_to(i: int) -> str:
    """U_i, written out."""
    return "V₁" if i == 1 else f"{numbered('V', i)}{'⋯' if i > 2 else ''}V₁"


# A rescaling


def _rescaled(study: RescalingStudy) -> list[tuple[Tile, Tile]]:
    names = [f"{numbered('λ', i)}{part.name}" for i, part in enumerate(study.virtual)]
    pairs = [
        _pair(part, 2 * largest_entry(part.start), name)
        for part, name in zip(study.virtual, names, strict=True)
    ]
    return [*pairs, (_GAP, _GAP), _still(study.outputs)]


def _factors(study: RescalingStudy) -> list[_Bar]:
    """log₂ of what each matrix was multiplied by; what no factor does, in percent."""
    found = []
    for column, part in enumerate(study.virtual):
        log = _log(part)
        hover = f"{part.name}: multiplied by 2^{signed(log)}"
        found.append(_Bar(column, part.name, log, signed(log), "focus", "focus" if log else "soft", hover))
    outputs, role = study.outputs, "certified" if study.outputs.is_same else "outside"
    height, text = (0.0, "0") if outputs.is_same else (_log(outputs), signed(_log(outputs)))
    if not study.is_symmetry and not outputs.is_same:
        height, text = outputs.change, f"off by {percent(outputs.change)}"
    hover = f"{outputs.name}: off by {percent(outputs.change)}"
    return [*found, _Bar(len(study.virtual) + 1, outputs.name, height, text, role, role, hover)]


def _log(part: Moved) -> float:
    """log₂ of the factor between two sizes; 0 for zeros."""
    start, now = float(np.linalg.norm(part.start)), float(np.linalg.norm(part.now))
    return round(log2(now / start), 9) if start and now else 0.0


def _cost(study: RescalingStudy) -> str:
    if not study.is_symmetry:
        nothing = "all λ are 1: nothing to answer"
        return outside_words("softmax: no λ₀ can answer") if any(study.logs) else nothing
    layers, most = len(study.logs), study.exponents[0]
    if layers == 1:
        return "one step of λ₁ costs λ₀ one step"
    return f"one step of λ₁ costs λ₀ {most} steps, one of {numbered('λ', layers)} only 1"


def _what_outputs_do(study: RescalingStudy) -> str:
    if not any(study.logs) and not study.off:
        return "the start: all factors are 1"
    if study.outputs.is_same:
        return colored("certified", "L and the M have changed, the function has not")
    if study.is_symmetry:
        return outside_words(f"the outputs are × {signed(2**study.off)}")
    best = "at best off by" if not study.off else "the outputs are off by"
    return outside_words(f"{best} {percent(study.outputs.change)}")


# The bars


def _bars(table: View, bars: list[_Bar], unit: str, finding: str) -> View:
    """Under each matrix of the table, as far from the left as it."""
    plot, across = Plot("2", (0.0, 1.0), _BARS), table.axes["xaxis"]["range"]
    centres = [(edges[0] + edges[-1]) / 2 for edges in (table.traces[bar.column]["x"] for bar in bars)]
    heights, colors = [bar.height for bar in bars], [theme.color(bar.role) for bar in bars]
    hatched = ["/" if bar.role == "outside" else "" for bar in bars]
    grounds = [theme.color("ground" if shape else "focus") for shape in hatched]
    plot.bars(
        "how far each matrix has moved",
        centres,
        heights,
        {"color": colors, "pattern": {"shape": hatched, "bgcolor": grounds, "fgcolor": colors, "size": 7}},
        width=_BAR * across[1],
        customdata=[bar.name for bar in bars],
        hovertext=[bar.hover for bar in bars],
        cliponaxis=False,
        hover="%{hovertext}",
    )
    plot.points(
        "in numbers",
        centres,
        [max(bar.height, 0.0) for bar in bars],  # over a bar that goes down it stands on the line
        {},
        mode="text",
        text=[f"<b>{bar.text}</b>" for bar in bars],
        textposition="top center",
        textfont={"size": theme.size("base"), "color": [theme.color(bar.text_role) for bar in bars]},
        cliponaxis=False,
    )
    base = {"color": theme.color("axis"), "width": 1.4}
    plot.line("no move", [table.traces[0]["x"][0], centres[-1] + 1], [0, 0], **base)
    plot.axis("x", *across, visible=False)
    plot.axis("y", min(*heights, 0.0), 1.02 * max(*heights, 1.0), visible=False)
    font, view = {"size": theme.size("base")}, plot.view()
    heading = label(unit, 0, 0.5, xref="x", xanchor="left", align="left", yref="y2 domain", font=font)
    place = {"xref": "paper", "yref": "y2 domain", "yshift": _over_bars()}
    view.annotations.extend((heading, headline(finding) | place))
    return view


def _over_bars() -> float:
    """How much room the number over a bar takes, in pixels."""
    return 1.6 * theme.size("base")
