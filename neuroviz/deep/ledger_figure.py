"""The ledger as a waterfall: a bar for all parameters, less each family, is the dimension."""

from textwrap import wrap

from neuroviz.deep.dimension import has_a_place, paper_name, would_mislead
from neuroviz.deep.ledger import MAX_HEADS, MAX_LAYERS, MAX_WIDTH, LedgerStudy, family_parts
from neuroviz.engine.architecture import ATTENTION_KINDS
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import colored

_UNEXPLAINED, _DIMENSION = 4, 5  # places of these bars; parameters stand at 0, the families at 1, 2, 3
_HALF = 0.33  # half the width of a bar
_SYMMETRIES = (
    "Q, K with the same KᵀQ in each layer (Lemma 3.1): a² = dim GL_a for a ≤ d, else 2ad − d²",
    "another basis between two layers (Eq. 9)",
    "A → cA, V → V/c in each head (Eq. 13); with several heads what mixes them, too",
)


def ledger_parts(study: LedgerStudy) -> Parts:
    """The waterfall."""
    ledger, paper, plot = study.ledger, study.paper, Plot("", (0.0, 1.0), (0.0, 1.0))
    highest = max(ledger.parameters, paper.value if has_a_place(paper, study.expected) else 0)
    top = highest * (1.42 if ledger.unexplained else 1.16)  # room for numbers and for the cause of a rest
    _bars(study, plot)
    _ticks(study, plot)
    font = {"color": theme.color("ink"), "size": theme.size("tick")}
    names = {"tickvals": list(range(_DIMENSION + 1)), "ticktext": _names(study), "tickfont": font}
    plot.axis("x", -0.5, _DIMENSION + 1.6, showgrid=False, ticks="", tickangle=0, **names)
    plot.axis("y", 0, top, "directions in weight space", showgrid=False, nticks=6)
    idle, n = ledger.parameters - ledger.dimension, ledger.parameters
    plot.headline(f"{idle} of {n} direction{'s' * (n > 1)} {'is' if idle == 1 else 'are'} silent")
    _numbers(study, plot)
    if ledger.unexplained:  # the cause stands in the corner that the bars leave free
        width = 1600 // theme.size("note")  # characters that fill most of the width
        lines = wrap(f"▨ {ledger.unexplained} unexplained: {ledger.note}", width)
        text = "<br>".join(lines[:3]) + (" …" if len(lines) > 3 else "")
        corner = {"xref": "x domain", "yref": "y domain", "xanchor": "right", "yanchor": "top"}
        plot.text(text, 0.97, 1, "note", "outside", **corner, align="right")  # beside the buttons
    _formulas(study, plot, top)  # keep these last: the scene writes them beside the dimension
    most = {"widest": MAX_WIDTH, "most": MAX_HEADS, "deepest": MAX_LAYERS}
    whole, choices = compose(plot.view(), barmode="overlay"), {"kind": list(ATTENTION_KINDS)}
    return as_scene(whole, "ledger", study.place, most, {}, choices)


def _bars(study: LedgerStudy, plot: Plot) -> None:
    """The bars, and from each to the next a line at the height of what is left."""
    ledger, costs, levels, outside = study.ledger, study.costs, study.levels, theme.color("outside")
    ground, line = theme.color("ground"), {"color": theme.color("soft"), "width": 1.5, "dash": "dot"}
    hatched = {"shape": "/", "bgcolor": ground, "fgcolor": outside, "size": 8, "solidity": 0.35}
    rest = {"color": ground, "pattern": hatched, "line": {"color": outside, "width": 2}}
    explained = [f"{cost}: {what}" for cost, what in zip(costs, _SYMMETRIES, strict=False)]
    everything, n = f"{ledger.parameters} entries of all Q, K, V", ledger.dimension
    measured = f"exact rank {n} mod {ledger.measured.prime}"
    soft, symmetry, blue = ({"color": theme.color(role)} for role in ("soft", "symmetry", "measured"))
    for name, x, y, base, said, look in (
        ("parameters", [0], levels[:1], [0], [everything], soft),
        ("directions that symmetries explain", [1, 2, 3], costs[:3], levels[1:4], explained, symmetry),
        ("unexplained directions", [4], costs[3:], levels[4:], [f"{costs[3]}: {ledger.note}"], rest),
        ("dimension (measured)", [5], [n], [0], [measured], blue),
    ):
        if look is not rest or ledger.unexplained:
            more = {"width": 2 * _HALF, "customdata": said, "hover": "%{customdata}"}
            plot.bars(name, x, y, look, base=base, **more)
    for i, level in enumerate(levels):
        x0, x1 = i + (_HALF if i == 0 else -_HALF), i + 1 + (-_HALF if i == _UNEXPLAINED else _HALF)
        where = {"type": "line", "xref": "x", "yref": "y", "y0": level, "y1": level, "layer": "above"}
        plot.view().shapes.append({**where, "x0": x0, "x1": x1, "line": line})


def _ticks(study: LedgerStudy, plot: Plot) -> None:
    """The formula across the last bar; beside it the paper's, where it does not apply."""
    expected, paper, width = study.expected, study.paper, theme.size("line")
    if expected.value is not None:
        x, y = [_DIMENSION - 0.45, _DIMENSION + 0.45], [expected.value] * 2
        hover, look = f"{expected.source}: {expected.value}", (theme.color("formula"), width + 2)
        plot.line("dimension by the formula", x, y, *look, hover=hover)
    if has_a_place(paper, expected):  # the measured number stands on the bar, so the tick stays beside it
        x, y = [_DIMENSION + _HALF, _DIMENSION + 0.7], [paper.value] * 2
        hover, look = f"{paper.value} does not apply here", (theme.color("outside"), width + 0.8, "dot")
        plot.line("the paper's formula outside its hypotheses", x, y, *look, hover=hover)


def _names(study: LedgerStudy) -> list[str]:
    """Below each bar its name, and in two rows why it is there."""
    ledger, arch = study.ledger, study.ledger.arch
    # Where a > d, (a − d)² of the a² changes of basis leave Q and K themselves as they are.
    heads = "GL<sub>a</sub> each" if all(a <= d for d, _, a in arch.layers) else "a > d: 2ad − d²"
    between = "GL<sub>d</sub> each" if arch.num_layers > 1 else "one layer"
    scaled = "A·c, V÷c" if max(arch.heads) == 1 else "and heads that blend"
    if arch.attention == "softmax":  # one token sees no A at all: there is nothing to double
        scaled = "doubling A is seen" if arch.tokens > 1 else "softmax: none"
    why = {
        "parameters": ("Q, K and V", ""),
        "head bases": (heads, family_parts(ledger, "head bases")),
        "interfaces": (between, family_parts(ledger, "interfaces")),
        "rescalings": (scaled, family_parts(ledger, "rescalings")),
        "unexplained": ("other causes" if ledger.unexplained else "nothing left", ""),
        "dimension": ("exact rank", ""),
    }
    return [f"<b>{name}</b><br>{colored('soft', '<br>'.join(rows))}" for name, rows in why.items()]


def _numbers(study: LedgerStudy, plot: Plot) -> None:
    """The number above each bar."""
    ledger, large = study.ledger, round(1.5 * theme.size("title"))
    shown = [(0, ledger.parameters, str(ledger.parameters), "ink")]
    for i, (above, cost) in enumerate(zip(study.levels, study.costs, strict=False), start=1):
        role = "soft" if not cost else "outside" if i == _UNEXPLAINED else "ink"
        shown.append((i, above, f"−{cost}" if cost > 0 else str(-cost), role))
    over = max(ledger.dimension, study.expected.value or 0)
    for x, y, text, role in (*shown, (_DIMENSION, over, str(ledger.dimension), "measured")):
        font = {"size": large, "color": theme.color(role)}
        plot.text(f"<b>{text}</b>", x, y, "title", role, yanchor="bottom", yshift=3, font=font)


def _formulas(study: LedgerStudy, plot: Plot, top: float) -> None:
    """Beside the last bar the formula; and the paper's, where it does not apply and says something else."""
    expected, paper, y = study.expected, study.paper, study.expected.value or 0
    source = expected.source.replace(", ", "<br>")
    text = "no formula" if expected.value is None else f"{source}<br><b>{expected.value}</b>"
    if would_mislead(paper, expected):
        instead = f"{paper_name(paper)}: <b>{paper.value}</b><br>does not apply".replace("-", "−")
        text += f"<br>{colored('outside', instead)}"
    anchor = "bottom" if y < 0.2 * top else "top" if y > 0.8 * top else "middle"
    place = {"xanchor": "left", "yanchor": anchor, "align": "left"}
    plot.text(text, _DIMENSION + 0.76, y, "note", "formula", **place)
