"""Where the paper's dimension formula stops, which hypothesis fails there, and what happens to the tokens."""

from math import sqrt

from neuroviz.deep.dimension import agreement, paper_name
from neuroviz.deep.hypotheses import SIZES, HypothesesSetting, HypothesesStudy, study_hypotheses
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, View, compose
from neuroviz.kit.words import colored, in_two_lines, signed

_MAP, _ANGLES = (0.0, 0.64), (0.75, 1.0)
_DARKEST = sqrt(50)  # no network of `SIZES` is off by more than 50


def hypotheses_parts(study: HypothesesStudy) -> Parts:
    """The map and the angles."""
    return compose(_map(study), _angles(study))


def _map(study: HypothesesStudy) -> View:
    d, delta, _ = study.arch.widths
    a1, a2 = study.arch.head_dims
    titles = {
        "heads": (f"a₁ (widths {d}→{delta}→{d})", "a₂"),
        "widths": (f"inner width δ (a = {a1}, {a2})", "outer widths d₀ = d₂"),
    }[study.over]
    high = 1 - 1.5 * theme.size("note") / (theme.size("height") - 7 * theme.size("title"))
    plot = Plot("", _MAP, (0.0, round(high, 3)))
    for which, title in zip("xy", titles, strict=True):
        quiet = {"showgrid": False, "showline": False, "ticks": "", "tickvals": list(SIZES)}
        plot.axis(which, SIZES[0] - 0.56, SIZES[-1] + 0.56, title, **quiet)
    _cells(study, plot)
    plot.view().shapes.extend(_outlines(study))
    plot.headline(_headline(study), yref="paper", align="left")
    place = {"xref": "x domain", "yref": "paper", "xanchor": "left", "align": "left"}
    plot.text(_subtitle(study), 0, 1, "note", "soft", **place, yanchor="top", yshift=4)
    return plot.view()


def _cells(study: HypothesesStudy, plot: Plot) -> None:
    """The size of the difference as a colour; the difference, the measurement and the cause as text."""
    # A number and its negative share one colour on all maps.
    shades = {(cell.column, cell.row): sqrt(abs(cell.difference)) for cell in study.cells}
    note, base, name = theme.size("note"), theme.size("base"), paper_name(study.paper)
    top = 0.0857 * _DARKEST  # only 0 has the colour of 0
    texts, colors, hovers = [], [], []
    for cell, shade in zip(study.cells, shades.values(), strict=True):
        difference = f"{'+' * (cell.difference > 0)}{signed(cell.difference)}"
        if cell.difference:
            difference = f"<b>{difference}</b>"
        below = f"{cell.measured.value}{f' · {cell.cause}' if cell.cause else ''}"
        large, small = (f'<span style="font-size:{size}px">' for size in (base, note))
        texts.append(f"{large}{difference}</span><br>{small}{below}</span>")
        letters = theme.letters_on("deficit", (_DARKEST - shade) / (_DARKEST + top))
        colors.append(theme.color(letters if cell.difference else "soft"))
        applies = cell.paper.status != "outside hypotheses"
        not_here = "" if applies else f", which does not apply: {cell.paper.note}"
        hovers.append(f"measured {cell.measured.value}, {name}: {cell.paper.value}{not_here}")
    z = [[-shades[x, y] for x in SIZES] for y in SIZES]
    colour = {"zmin": -_DARKEST, "zmax": top, "colorscale": theme.scale("deficit"), "showscale": False}
    what = {"type": "heatmap", "name": "distance between measurement and formula", "hoverinfo": "skip"}
    grid = {"x": list(SIZES), "y": list(SIZES), "z": z, "xgap": 3, "ygap": 3}
    plot.view().traces.append(what | grid | colour)
    x, y = [cell.column for cell in study.cells], [cell.row for cell in study.cells]
    look = {"mode": "text", "text": texts, "textfont": {"color": colors, "size": note}, "customdata": hovers}
    plot.points("measured minus formula, and measured", x, y, {}, **look, hover="%{customdata}")


def _headline(study: HypothesesStudy) -> str:
    if study.contradicted:
        return f"{_statement(study)} DIFFERS"
    name, off, cells = paper_name(study.paper), len(study.off), len(study.cells)
    if not off:
        return f"{name} is right in all {cells} cells"
    return f"{name} is off in {'all' if off == cells else f'{off} of'} {cells} cells"


def _statement(study: HypothesesStudy) -> str:
    """The statement of the paper that the formula comes from, such as Cor. 3.8."""
    return study.paper.source.split(",")[0]


def _subtitle(study: HypothesesStudy) -> str:
    """What the cells hold, and what the frame means."""
    statement, covered = _statement(study), sum(cell.covered for cell in study.cells)
    if study.contradicted:
        places = ", ".join(f"({cell.column}, {cell.row})" for cell in study.contradicted[:4])
        more = ", …" if len(study.contradicted) > 4 else ""
        frame = colored("outside", f"▨ at {places}{more}")
    elif not covered:
        one_token = "t = 1: " if study.arch.tokens == 1 else ""
        frame = colored("outside", f"▨ {one_token}{statement} does not apply")
    elif covered == len(study.cells):
        sign, role = theme.glyph(study.cells[0].paper.status)
        frame = colored(role, f"{sign} {statement} applies in every cell")
    else:
        frame = colored("certified", f"frame: {statement} applies")
    return f"measured − {paper_name(study.paper)}; below: measured, cause · {frame}"


def _outlines(study: HypothesesStudy) -> list[dict]:
    """A frame around the cells that the paper's statement covers, and a ring around the chosen network."""
    covered = {(cell.column, cell.row) for cell in study.cells if cell.covered}
    end, edges = 0.025, []  # each edge is drawn a little longer, so that corners close
    for x, y in sorted(covered):
        for step in (-1, 1):
            if (x + step, y) not in covered:
                edges.append(f"M{x + step / 2},{y - 0.5 - end}L{x + step / 2},{y + 0.5 + end}")
            if (x, y + step) not in covered:
                edges.append(f"M{x - 0.5 - end},{y + step / 2}L{x + 0.5 + end},{y + step / 2}")
    look = {"xref": "x", "yref": "y", "layer": "above"}
    frame, ring = (
        look | {"line": {"color": theme.color(role), "width": 4}} for role in ("certified", "focus")
    )
    x, y = study.here
    ring |= {"type": "rect", "x0": x - 0.42, "x1": x + 0.42, "y0": y - 0.42, "y1": y + 0.42}
    return [frame | {"type": "path", "path": "".join(edges)}] * bool(edges) + [ring]


def _angles(study: HypothesesStudy) -> View:
    """Every pair of tokens as a thin line from layer to layer."""
    pairs, last = list(zip(*study.angles, strict=True)), len(study.angles) - 1
    view = Plot("2", _ANGLES, (0.0, 0.86))
    x = [i for pair in pairs for i in [*range(len(pair)), None]]
    y = [angle for pair in pairs for angle in [*pair, None]]
    line = {"mode": "lines+markers", "line": {"color": theme.color("ghost"), "width": 1.2}}
    dots = {"size": theme.size("marker"), "color": theme.color("focus")}
    view.points("angle between two tokens", x, y, dots, **line, connectgaps=False, hover="%{y:.3g}°")
    names = ["input", *(f"layer {i}" for i in range(1, last + 1))]
    numbers = {"tickvals": list(range(last + 1)), "ticktext": names, "tickangle": 0}
    view.axis("x", -0.35, last + 0.35, **numbers, showgrid=False)
    view.axis("y", -6, 108, "angle between two tokens (degrees)", tickvals=[0, 30, 60, 90])
    apart = (
        "tokens apart" if min(map(max, pairs and study.angles), default=1) >= 1 else "tokens nearly parallel"
    )
    parallel = {None: apart, 0: "tokens on one line"}.get(study.collapsed, "tokens parallel")
    view.headline("one token" if study.arch.tokens == 1 else parallel)
    view.key(["one pair, one line" if len(pairs) > 1 else ""])
    return view.view()


class HypothesesExplorer(Panel):
    """Where Eq. 14 fails for two layers, and why.

    Left, measured minus formula over the head dimensions or over the widths; right, the angles between the
    tokens of a random network, layer by layer: they are 0 after a layer of rank one.

    Controls: a₁, a₂, inner width δ, outer widths, attention, what the map is over; under "More": t, seed.
    See `Panel`.

    >>> panel = HypothesesExplorer(state="head_1=1")
    >>> "A₁ has rank one" in panel.description
    True
    """

    title, setting = "Where the formula stops", HypothesesSetting
    _answer, draw = staticmethod(study_hypotheses), staticmethod(hypotheses_parts)

    def _badge(self, answer: HypothesesStudy) -> str:
        measured, paper = answer.measured, answer.paper
        badges = measured_badge(measured)
        if paper.status == "outside hypotheses":
            badges += theme.badge("outside hypotheses", f"{paper_name(paper)}: {paper.value}")
        return badges + theory_badge(answer.expected, measured.value)

    def _describe(self, answer: HypothesesStudy) -> str:
        measured, expected, paper = answer.measured.value, answer.expected, answer.paper
        name = paper_name(paper)
        off = f"off by {measured - paper.value:+d}".replace("-", "−") if measured != paper.value else "right"
        why = expected.note.partition(". So")[2].replace("the general formula", "it")
        said = f"{answer.arch}: dimension {measured}, measured exactly; {name} says {paper.value}, {off}."
        general = f"The general formula {agreement(expected, measured)}{why}."
        in_map = f"In the map {name} is off in {len(answer.off)} of {len(answer.cells)} networks."
        return in_two_lines([said, general, in_map], 2)
