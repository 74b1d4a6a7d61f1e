"""Theorem A in two views: two tokens run down the layers, and what the experiments leave hidden."""

from math import inf
from typing import NamedTuple

from neuroviz.beyond.proof.immersion import ImmersionStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose, layer_letters
from neuroviz.kit.words import colored, numbered, percent, signed, tiny
from neuroviz.softmax.two_tokens import exponentials

LEFT, RIGHT = (0.0, 0.49), (0.54, 1.0)
# Tokens stand at x from 0 to 1; right of them the squares of shares, then the words on the layers.
MAP, WORDS, RIGHT_END = (1.18, 1.74), 1.88, 2.88
TOP, LOW = 0.9, 0.1  # upper and lower edge of a layer's square, in rows
GAP = 0.45  # a gap between the proof's experiments and the columns beside them
NAMES = {"true": "as it is", "free": "free", "frozen": "frozen", "collapsed": "collapsed"}


def immersion_parts(study: ImmersionStudy) -> Parts:
    """The two views."""
    return compose(tokens(study).view(), stairs(study).view(), barmode="stack")


# Left: the tokens


def tokens(study: ImmersionStudy) -> Plot:
    """Places on the way from x₁ to x₂, layer by layer downwards."""
    plot, met = Plot("", LEFT, (0.0, 0.9)), study.met_after
    first, second = ([float(place) for place in column] for column in study.places.T)
    depth, marker, width = list(range(len(first))), theme.size("marker"), theme.size("line")
    moved = [i for i in depth[1:] if is_moved(study, i)]
    levels, grid = [0.0, 1.0, None] * len(depth), theme.color("grid")
    plot.line("levels", levels, [level for i in depth for level in (i, i, None)], grid, 1)
    equal = [] if met is None else depth[met:]
    plot.line("equal tokens", [first[i] for i in equal], equal, theme.color("wash"), 4 * width + 6)
    plot.line("token 1", first, depth, theme.color("ink"), width)
    plot.line("token 2", second, depth, theme.color("soft"), width, "dash")
    x = [place for column in (first, second) for i in moved for place in (column[i - 1], column[i], None)]
    y = [level for _ in (first, second) for i in moved for level in (i - 1, i, None)]
    plot.line("layers that the reader sets", x, y, theme.color("focus"), width + 1)
    for number, column, fill, edge in ((1, first, "ink", "ink"), (2, second, "ground", "soft")):
        name, hover = f"token {number} between the layers", "%{x:.3f} of the way from x₁ to x₂"
        line = {"color": theme.color(edge), "width": 2.2}
        look = {"size": marker + 2, "color": theme.color(fill), "line": line}
        plot.points(name, column, depth, look, cliponaxis=False, hover=hover)
    plot.headline(tokens_finding(study), yref="paper")  # both headlines stand on one line
    for token, place in enumerate(study.setting.inputs, start=1):
        plot.text(f"x<sub>{token}</sub>", place, 0, "base", "ink", yanchor="bottom", yshift=marker)
    for layer in range(1, study.setting.layers + 1):
        color = theme.color(f"layer {layer}")
        rows = (layer - TOP, layer - LOW)
        plot.region((WORDS - 0.04, WORDS), rows, {"width": 0}, color)
        plot.region(MAP, rows, {"color": theme.color("axis"), "width": 1}, theme.color("ground"))
        plot.text("ν", MAP[0], rows[0], "note", "soft", xanchor="right", yanchor="top", xshift=-3)
        if not study.setting.causal:
            plot.text("μ", MAP[1], rows[1], "note", "soft", xanchor="left", yanchor="bottom", xshift=3)
            plot.line(f"tokens meet in layer {layer}", list(MAP), list(rows), theme.color("soft"), 1.4)
        beside = {"xanchor": "left", "yanchor": "middle", "xshift": 6, "align": "left"}
        plot.text("<br>".join(say_layer(study, layer)), WORDS, layer - 0.5, "note", "ink", **beside)
    dot = {"size": marker + 6, "color": theme.color("focus"), "line": {"width": 0}}
    x = [MAP[0] + mu * (MAP[1] - MAP[0]) for mu, _ in study.given]
    y = [layer - LOW - (TOP - LOW) * nu for layer, (_, nu) in enumerate(study.given, start=1)]
    plot.points("(μ, ν) of the layers", x, y, dot, cliponaxis=False)
    plot.bare_axis("x", -0.16, RIGHT_END, title="columns of S sum to 1: tokens stay on their line")
    plot.bare_axis("y", len(first) - 0.82, -0.12)
    return plot


def is_moved(study: ImmersionStudy, layer: int) -> bool:
    """Whether the reader moves a layer: not where a relation fixes its exponentials."""
    return study.setting.modes[layer - 1] != "true" and study.setting.tied_layer != layer


def tokens_finding(study: ImmersionStudy) -> str:
    """What happens to the distance of the tokens."""
    met, setting = study.met_after, study.setting
    if met == 0:
        return "equal from the start: every layer is blind"
    if met is not None:
        last = f"the tokens meet in layer {met}, the last"
        text = last if met == setting.layers else f"they meet in layer {met}: the rest is blind"
        return colored("outside", text) if met == setting.tied_layer else text
    if all(mu == nu == 0 for mu, nu in study.given):
        return "frozen: nothing moves"
    first, *_, last = (two - one for one, two in study.places.tolist())
    left = last / first
    return f"{percent(abs(left))} of the tokens’ distance is left{', turned' if left < 0 else ''}"


def say_layer(study: ImmersionStudy, layer: int) -> tuple[str, str]:
    """Two lines: what is done to the layer, and what that does."""
    setting, met, given = study.setting, study.met_after, study.given[layer - 1]
    mode = setting.modes[layer - 1]
    name = f"<b>layer {layer}: {NAMES[mode]}</b>"
    if setting.tied_layer == layer and mode != "true":
        name = f"<b>layer {layer}: {colored('outside', 'cannot be set')}</b>"
    elif is_moved(study, layer):
        name = colored("focus", name)
    if met is not None and layer > met:
        return name, f"blind: {numbered('M', layer)} is hidden"
    P, Q = (number(value) for value in exponentials(given))
    numbers = f"Q = {Q}" if setting.causal else f"P = Q = {P}" if P == Q else f"P = {P}, Q = {Q}"
    if given == (0, 0):
        return name, f"{numbers}: does nothing"
    if met == layer:
        return name, f"{numbers}: they meet"
    return name, numbers + (": they swap" if given == (1, 1) else "")


def number(value: float) -> str:
    """An exponential as a reader writes it.

    >>> number(0.5), number(inf), number(12345.0), number(0.0001)
    ('0.5', '∞', '1·10⁴', '1·10⁻⁴')
    """
    if value == inf:
        return "∞"
    return signed(value) if 0.01 <= value < 1000 or value == 0 else tiny(value)


# Right: the experiments


class Column(NamedTuple):
    """One bar: where it stands, what is written below it, and what is hidden there."""

    x: float
    name: str
    blocks: tuple[int, ...]
    total: int
    possible: bool = True


def columns_of(study: ImmersionStudy) -> list[Column]:
    """Before any experiment, behind each of them, with everything free, and as the reader set it."""
    n = study.setting.width
    everything = (n * n,) * (study.setting.layers + 1)
    found = [Column(0, "before", everything, sum(everything))]
    for i, one in enumerate(study.experiments, start=1):
        sign = "" if one.possible else "▨ "
        name = f"{sign}all<br>frozen" if one.free_layer is None else f"layer {one.free_layer}<br>{sign}free"
        pairs = enumerate(zip(found[-1].blocks, one.so_far.blocks, strict=True))
        seen = [letter(block) for block, (before, after) in pairs if after < before]
        name += "<br>" + ("sees " if len(seen) == 1 else "") + (", ".join(seen) or "–")
        name = name if one.possible else colored("outside", name)
        found.append(Column(i, name, one.so_far.blocks, one.so_far.kernel, one.possible))
    x, yours = len(found) + GAP, colored("focus", "<b>your<br>setting</b>")
    found.append(Column(x, "all as<br>they are", study.everything.blocks, study.everything.kernel))
    found.append(Column(x + 1, yours, study.here.blocks, study.here.kernel))
    return found


def letter(block: int) -> str:
    """L, M_1, …"""
    return numbered("M", block) if block else "L"


def stairs(study: ImmersionStudy) -> Plot:
    """Stacked bars, one colour for each matrix, that fall to 0."""
    plot, columns = Plot("2", RIGHT, (0.0, 1.0)), columns_of(study)
    whole, last = columns[0].total, columns[-1]
    for block in range(study.setting.layers + 1):
        bars(plot, columns, block)
    name, hover = "hidden in several matrices at once (measured)", "%{y} more silent directions move several"
    mixed = [column.total - sum(column.blocks) for column in columns]
    look = {"color": theme.color("symmetry"), "line": {"color": theme.color("ground"), "width": 1}}
    x = [column.x for column in columns]
    plot.bars(name, x, mixed, look, width=0.74, hover=f"{hover} matrices at once")
    least = 0.05 * whole  # an empty frame needs a height, too
    plot.headline(stairs_finding(study))
    for k, column in enumerate(columns):
        failed = k > study.setting.layers and column.total
        role = "focus" if column is last else "outside" if failed else "ink"
        height = max(column.total, least) if column is last else column.total
        font = {"size": 1.35 * theme.size("base"), "color": theme.color(role)}
        plot.text(f"<b>{column.total}</b>", column.x, height, "base", role, yanchor="bottom", font=font)
    if study.setting.tied_layer is not None:
        relation = colored("outside", f"▨ cannot be made: {relation_of(study)}")
        corner = {"xanchor": "right", "yanchor": "top"}
        plot.text(relation, last.x + 0.5, 1.3 * whole, "base", "ink", **corner)
    middle, nothing = (columns[-3].x + columns[-2].x) / 2, "rgba(0, 0, 0, 0)"
    dotted = {"color": theme.color("axis"), "width": 1, "dash": "dot"}
    plot.region((middle, middle), (0, 1.07 * whole), dotted, nothing)
    frame = {"color": theme.color("focus"), "width": 3}
    plot.region((last.x - 0.42, last.x + 0.42), (0, max(last.total, least)), frame, nothing)
    names = {"tickvals": x, "ticktext": [column.name for column in columns], "tickangle": 0}
    font = {"color": theme.color("ink"), "size": theme.size("note")}
    plot.bare_axis("x", -0.55, last.x + 0.55, **names, tickfont=font)
    plot.bare_axis("y", 0, 1.3 * whole)
    return plot


def bars(plot: Plot, columns: list[Column], block: int) -> None:
    """One matrix in all columns."""
    color, heights = theme.color(f"layer {block}" if block else "wash"), [c.blocks[block] for c in columns]
    ink = theme.color(layer_letters(block) if block else "ink")
    least = columns[0].total * theme.size("note") / 240  # a bar too low for letters has none
    pattern = {"shape": ["" if column.possible else "/" for column in columns], "size": 9, "solidity": 0.16}
    look = {"color": color, "line": {"color": theme.color("ground" if block else "axis"), "width": 1}}
    look["pattern"] = {**pattern, "bgcolor": color, "fgcolor": theme.color("outside")}
    inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
    inside |= {"insidetextfont": {"size": theme.size("base"), "color": ink}}
    inside |= {"text": [letter(block) if height >= least else "" for height in heights], "width": 0.74}
    name, hover = f"hidden in {letter(block)} (measured)", f"%{{y}} silent directions of {letter(block)}"
    plot.bars(name, [column.x for column in columns], heights, look, hover=hover, **inside)


def relation_of(study: ImmersionStudy) -> str:
    """What ties the exponentials of the layer that cannot be freed."""
    tied = study.setting.tied_layer
    return f"{'' if study.setting.causal else numbered('P', tied)}{numbered('Q', tied)} = 1"


def stairs_finding(study: ImmersionStudy) -> str:
    """Whether the experiments leave something, and why."""
    setting, left = study.setting, study.left.kernel
    if setting.holds:
        chain = " → ".join(str(column.total) for column in columns_of(study)[:-2])
        return f"still silent: {chain}" if left == 0 else outside(f"{left} left: this DISAGREES")
    M, zero = numbered("M", setting.tied_layer or 0), setting.causal or setting.width == 1
    why = "L = 0" if setting.size == 0 else f"{M} = 0" if zero else f"{M} is antisymmetric"
    if left == 0:
        last = not setting.causal and setting.tied_layer == setting.layers
        return outside(
            f"{why}, but last: nothing is left" if last else "the argument breaks, yet nothing is left"
        )
    return outside(f"{left} {'direction is' if left == 1 else 'directions are'} silent: {why}")


def outside(text: str) -> str:
    """Words in the colour of what lies outside the hypotheses."""
    return colored("outside", text)
