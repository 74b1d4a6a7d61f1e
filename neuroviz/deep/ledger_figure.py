"""The ledger as a waterfall: a bar for all parameters, less each family, is the dimension."""

from textwrap import wrap

from neuroviz.deep.dimension import has_a_place, paper_name, would_mislead
from neuroviz.deep.ledger import LedgerStudy, family_parts
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose, label, outside_words
from neuroviz.kit.words import colored

_UNEXPLAINED, _DIMENSION = 4, 5  # where these bars stand; parameters at 0, the families at 1, 2, 3
_HALF = 0.33  # half the width of a bar


def ledger_parts(study: LedgerStudy) -> Parts:
    """The waterfall."""
    ledger, plot = study.ledger, Plot("", (0.0, 1.0), (0.0, 1.0))
    _bars(study, plot)
    _ticks(study, plot)
    quiet = {"showgrid": False, "ticks": "", "tickangle": 0}
    font = {"color": theme.color("ink"), "size": theme.size("tick")}
    names = {"tickvals": list(range(_DIMENSION + 1)), "ticktext": _names(study), "tickfont": font}
    plot.axis("x", -0.5, _DIMENSION + 1.6, **quiet, **names)
    plot.axis("y", 0, _top(study), "directions in weight space", showgrid=False, nticks=6)
    idle, n = ledger.parameters - ledger.dimension, ledger.parameters
    plot.headline(f"{idle} of {n} direction{'s' * (n > 1)} {'is' if idle == 1 else 'are'} silent")
    view = plot.view()
    view.annotations.extend((*_numbers(study), _formulas(study), _cause(study)))
    view.shapes.extend(_connectors(study))
    parts = compose(view)
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})


def _bars(study: LedgerStudy, plot: Plot) -> None:
    ledger, costs, levels = study.ledger, study.costs, study.levels
    symmetries = (
        "Q, K with the same KᵀQ in each layer (Lemma 3.1): a² = dim GL_a for a ≤ d, else 2ad − d²",
        "another basis between two layers (Eq. 9)",
        "A → cA, V → V/c in each layer (Eq. 13)",
    )
    outside = theme.color("outside")
    hatched = {
        "shape": "/",
        "bgcolor": theme.color("ground"),
        "fgcolor": outside,
        "size": 8,
        "solidity": 0.35,
    }
    rest = {"color": theme.color("ground"), "pattern": hatched, "line": {"color": outside, "width": 2}}
    all_of_them = f"{ledger.parameters} entries of all Q, K, V"
    explained = [f"{cost}: {what}" for cost, what in zip(costs, symmetries, strict=False)]
    unexplained = f"{ledger.unexplained}: {ledger.note}"
    measured = f"exact rank {ledger.dimension} mod {ledger.measured.prime}"
    blue = {"color": theme.color("measured")}
    for name, x, y, base, said, marker in (
        ("parameters", [0], levels[:1], [0], [all_of_them], {"color": theme.color("soft")}),
        (
            "directions that symmetries explain",
            [1, 2, 3],
            costs[:3],
            levels[1:4],
            explained,
            {"color": theme.color("symmetry")},
        ),
        ("unexplained directions", [_UNEXPLAINED], costs[3:], levels[4:], [unexplained], rest),
        ("dimension (measured)", [_DIMENSION], [ledger.dimension], [0], [measured], blue),
    ):
        seen = {"visible": bool(ledger.unexplained)} if marker is rest else {}
        plot.bars(
            name, x, y, marker, base=base, width=2 * _HALF, customdata=said, hover="%{customdata}", **seen
        )


def _ticks(study: LedgerStudy, plot: Plot) -> None:
    """The formula across the last bar; beside it the paper's, where it does not apply."""
    expected, paper, width = study.expected, study.paper, theme.size("line")
    across = [] if expected.value is None else [_DIMENSION - 0.45, _DIMENSION + 0.45]
    plot.line(
        "dimension by the formula",
        across,
        [expected.value] * len(across),
        theme.color("formula"),
        width + 2,
        hover=f"{expected.source}: {expected.value}",
    )
    # Not across the bar: the number of the measurement stands there.
    beside = [_DIMENSION + _HALF, _DIMENSION + 0.7] if has_a_place(paper, expected) else []
    plot.line(
        "the paper's formula outside its hypotheses",
        beside,
        [paper.value] * len(beside),
        theme.color("outside"),
        width + 0.8,
        "dot",
        hover=f"{paper.value} does not apply here",
    )


def _top(study: LedgerStudy) -> float:
    """The upper end of the axis: room for the numbers above the bars, and for the cause of a rest."""
    ledger, paper = study.ledger, study.paper
    highest = max(ledger.parameters, paper.value if has_a_place(paper, study.expected) else 0)
    return highest * (1.42 if ledger.unexplained else 1.16)


def _names(study: LedgerStudy) -> list[str]:
    """Below each bar its name, and in two rows why it is there."""
    ledger, arch = study.ledger, study.ledger.arch
    # Where a > d, more than a change of basis leaves KᵀQ as it is.
    heads = "GL<sub>a</sub> each" if all(a <= d for d, _, a in arch.layers) else "same KᵀQ, a > d"
    scaled = "A·c, V÷c"
    if arch.attention == "softmax":  # one token sees no A at all: there is nothing to double
        scaled = "doubling A is seen" if arch.tokens > 1 else "softmax: none"
    why = {
        "parameters": ("Q, K and V", ""),
        "head bases": (heads, family_parts(ledger, "head bases")),
        "interfaces": (
            "GL<sub>d</sub> each" if ledger.parts.get("interfaces") else "one layer",
            family_parts(ledger, "interfaces"),
        ),
        "rescalings": (scaled, family_parts(ledger, "rescalings")),
        "unexplained": ("other causes" if ledger.unexplained else "nothing left", ""),
        "dimension": ("exact rank", ""),
    }
    return [f"<b>{name}</b><br>{colored('soft', '<br>'.join(rows))}" for name, rows in why.items()]


def _connectors(study: LedgerStudy) -> list[dict]:
    """From each bar to the next, at the height of what is left."""
    found, line = [], {"color": theme.color("soft"), "width": 1.5, "dash": "dot"}
    for i, level in enumerate(study.levels):
        start = i + (_HALF if i == 0 else -_HALF)
        end = i + 1 + (-_HALF if i + 1 == _DIMENSION else _HALF)
        at = {"xref": "x", "yref": "y", "x0": start, "x1": end, "y0": level, "y1": level}
        found.append({"type": "line", **at, "layer": "above", "line": line})
    return found


def _numbers(study: LedgerStudy) -> list[dict]:
    """The number above each bar."""
    ledger, large = study.ledger, round(1.5 * theme.size("title"))
    shown = [(0, ledger.parameters, str(ledger.parameters), "ink")]
    for i, (above, cost) in enumerate(zip(study.levels, study.costs, strict=False), start=1):
        role = "soft" if not cost else "outside" if i == _UNEXPLAINED else "ink"
        shown.append((i, above, f"−{cost}" if cost > 0 else str(-cost), role))
    over = max(ledger.dimension, study.expected.value or 0)
    shown.append((_DIMENSION, over, str(ledger.dimension), "measured"))
    return [
        label(
            f"<b>{text}</b>",
            x,
            y,
            yanchor="bottom",
            yshift=3,
            font={"size": large, "color": theme.color(role)},
        )
        for x, y, text, role in shown
    ]


def _formulas(study: LedgerStudy) -> dict:
    """Beside the last bar the formula; and the paper's, where it does not apply and says something else."""
    expected, paper, top = study.expected, study.paper, _top(study)
    source = expected.source.replace(", ", "<br>")
    text = "no formula" if expected.value is None else f"{source}<br><b>{expected.value}</b>"
    if would_mislead(paper, expected):
        instead = f"{paper_name(paper)}: <b>{paper.value}</b><br>does not apply".replace("-", "−")
        text += f"<br>{outside_words(instead)}"
    y = expected.value or 0
    anchor = "bottom" if y < 0.2 * top else "top" if y > 0.8 * top else "middle"
    font = {"size": theme.size("note"), "color": theme.color("formula")}
    return label(text, _DIMENSION + 0.76, y, xanchor="left", yanchor=anchor, align="left", font=font)


def _cause(study: LedgerStudy) -> dict:
    """Where the unexplained directions come from: over the bars, which leave that corner free."""
    text, ledger = "", study.ledger
    if ledger.unexplained:
        width = 1600 // theme.size("note")  # characters, on most of the width
        lines = wrap(f"▨ {ledger.unexplained} unexplained: {ledger.note}", width)
        text = "<br>".join(lines[:3]) + (" …" if len(lines) > 3 else "")
    place = {"xref": "x domain", "yref": "y domain", "xanchor": "right", "yanchor": "top", "align": "right"}
    font = {"size": theme.size("note"), "color": theme.color("outside")}
    return label(text, 0.97, 1, **place, font=font)  # right of it are the buttons of the figure
