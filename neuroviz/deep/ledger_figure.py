"""Where the parameters of one network go: a bar for all of them, less each family, is the dimension."""

from dataclasses import dataclass
from textwrap import wrap

from neuroviz.deep.dimension import has_a_place, paper_name, would_mislead
from neuroviz.engine.formulas import Expected
from neuroviz.engine.ledger import KernelLedger
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, label, outside_words
from neuroviz.kit.words import colored

FAMILIES = ("head bases", "interfaces", "rescalings")
_UNEXPLAINED, _DIMENSION = 4, 5  # where these bars stand; parameters at 0, the families at 1, 2, 3
_HALF = 0.33  # half the width of a bar
_SYMMETRIES = {
    "head bases": "Q → CQ, K → C⁻ᵀK in each layer (Lemma 3.1)",
    "interfaces": "another basis between two layers (Eq. 9)",
    "rescalings": "A → cA, V → V/c in each layer (Eq. 13)",
}


@dataclass(frozen=True)
class LedgerStudy:
    """Everything the figure of the ledger shows.

    Attributes:
        ledger: where the parameters of the network go.
        exact: its dimension measured a second time, across the orbits of the symmetries.
        expected, paper: what theory says; what the paper's formula says, applicable or not.
    """

    ledger: KernelLedger
    exact: Measurement
    expected: Expected
    paper: Expected


def ledger_parts(study: LedgerStudy) -> Parts:
    """The waterfall."""
    return compose(View(_traces(study), _axes(study), _words(study), _connectors(study.ledger)))


def family_parts(ledger: KernelLedger, family: str) -> str:
    """What a family costs, layer by layer, in few characters; empty where it costs nothing.

    Three or more equal numbers are multiplied, up to three others added up, more end in an ellipsis.
    """
    parts = ledger.parts.get(family, ())
    if len(parts) > 2 and len(set(parts)) == 1:
        return f"{len(parts)} × {parts[0]}"
    shown = parts if len(parts) < 4 else (*parts[:2], "…")
    return " + ".join(map(str, shown))


def _costs(ledger: KernelLedger) -> list[int]:
    """What the floating bars take away: the three families and the unexplained."""
    return [*(ledger.entries.get(family, 0) for family in FAMILIES), ledger.unexplained]


def _levels(ledger: KernelLedger) -> list[int]:
    """What is left after each bar: all parameters, then less each cost."""
    levels = [ledger.parameters]
    for cost in _costs(ledger):
        levels.append(levels[-1] - cost)
    return levels


def _traces(study: LedgerStudy) -> list[dict]:
    ledger, expected, paper = study.ledger, study.expected, study.paper
    levels, costs, line = _levels(ledger), _costs(ledger), theme.size("line")
    on_axis = has_a_place(paper, expected)
    hatched = {
        "shape": "/",
        "bgcolor": theme.color("ground"),
        "fgcolor": theme.color("outside"),
        "size": 8,
        "solidity": 0.35,
    }

    def bars(name: str, x: list[int], y: list[int], base: list[int], said: list[str], **look: object) -> dict:
        place = {"x": x, "y": y, "base": base, "width": 2 * _HALF, "customdata": said}
        return {"type": "bar", "name": name, **place, "hovertemplate": "%{customdata}<extra></extra>", **look}

    def tick(name: str, x: list[float], y: int | None, said: str, **look: object) -> dict:
        hover = f"{said}<extra></extra>"
        return {
            "name": name,
            "x": x,
            "y": [y] * len(x),
            "mode": "lines",
            "line": look,
            "hovertemplate": hover,
        }

    return [
        bars(
            "parameters",
            [0],
            [ledger.parameters],
            [0],
            [f"{ledger.parameters} entries of all Q, K, V"],
            marker={"color": theme.color("soft")},
        ),
        bars(
            "directions that symmetries explain",
            [1, 2, 3],
            costs[:3],
            levels[1:4],
            [f"{ledger.entries.get(family, 0)}: {what}" for family, what in _SYMMETRIES.items()],
            marker={"color": theme.color("symmetry")},
        ),
        bars(
            "unexplained directions",
            [_UNEXPLAINED],
            [ledger.unexplained],
            [levels[4]],
            [f"{ledger.unexplained}: {ledger.note}"],
            visible=ledger.unexplained != 0,
            marker={
                "color": theme.color("ground"),
                "pattern": hatched,
                "line": {"color": theme.color("outside"), "width": 2},
            },
        ),
        bars(
            "dimension (measured)",
            [_DIMENSION],
            [ledger.dimension],
            [0],
            [f"exact rank {ledger.dimension} mod {ledger.measured.prime}"],
            marker={"color": theme.color("measured")},
        ),
        tick(
            "dimension by the formula",
            [] if expected.value is None else [_DIMENSION - 0.45, _DIMENSION + 0.45],
            expected.value,
            f"{expected.source}: {expected.value}",
            color=theme.color("formula"),
            width=line + 2,
        ),
        tick(
            "the paper's formula outside its hypotheses",
            # Beside the bar, not across it: the number of the measurement stands there.
            [_DIMENSION + _HALF, _DIMENSION + 0.7] if on_axis else [],
            paper.value,
            f"{paper.value} does not apply here",
            color=theme.color("outside"),
            width=line + 0.8,
            dash="dot",
        ),
    ]


def _top(study: LedgerStudy) -> float:
    """The upper end of the axis: room for the numbers above the bars, and for the cause of a rest."""
    ledger, paper = study.ledger, study.paper
    highest = max(ledger.parameters, paper.value if has_a_place(paper, study.expected) else 0)
    return highest * (1.42 if ledger.unexplained else 1.16)


def _axes(study: LedgerStudy) -> dict:
    return {
        "barmode": "overlay",
        "xaxis": {
            "anchor": "y",
            "domain": (0.0, 1.0),
            "range": [-0.5, _DIMENSION + 1.6],
            "tickvals": list(range(_DIMENSION + 1)),
            "ticktext": _names(study.ledger),
            "tickfont": {"color": theme.color("ink"), "size": theme.size("tick")},
            "tickangle": 0,
            "ticks": "",
            "showgrid": False,
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0),
            "range": [0, _top(study)],
            "title": {"text": "directions in weight space"},
            "showgrid": False,
            "nticks": 6,
        },
    }


def _names(ledger: KernelLedger) -> list[str]:
    """Below each bar its name, and in two rows why it is there."""
    scaled = "A·c, V÷c"
    if ledger.arch.attention == "softmax":  # one token sees no A at all: there is nothing to double
        scaled = "doubling A is seen" if ledger.arch.tokens > 1 else "softmax: none"
    why = {
        "parameters": ("Q, K and V", ""),
        "head bases": ("GL<sub>a</sub> each", family_parts(ledger, "head bases")),
        "interfaces": (
            "GL<sub>d</sub> each" if ledger.parts.get("interfaces") else "one layer",
            family_parts(ledger, "interfaces"),
        ),
        "rescalings": (scaled, family_parts(ledger, "rescalings")),
        "unexplained": ("other causes" if ledger.unexplained else "nothing left", ""),
        "dimension": ("exact rank", ""),
    }
    return [f"<b>{name}</b><br>{colored('soft', '<br>'.join(rows))}" for name, rows in why.items()]


def _connectors(ledger: KernelLedger) -> list[dict]:
    """From each bar to the next, at the height of what is left."""
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": "y",
            "x0": i + _HALF if i == 0 else i - _HALF,
            "x1": i + 1 - _HALF if i + 1 == _DIMENSION else i + 1 + _HALF,
            "y0": level,
            "y1": level,
            "layer": "above",
            "line": {"color": theme.color("soft"), "width": 1.5, "dash": "dot"},
        }
        for i, level in enumerate(_levels(ledger))
    ]


def _words(study: LedgerStudy) -> list[dict]:
    ledger = study.ledger
    idle = ledger.parameters - ledger.dimension
    does = "does" if idle == 1 else "do"
    said = f"{idle} of {ledger.parameters} parameter{'s' if ledger.parameters > 1 else ''} {does} nothing"
    return [headline(said), *_numbers(study), _formulas(study), _cause(ledger)]


def _numbers(study: LedgerStudy) -> list[dict]:
    """The number above each bar."""
    ledger, large = study.ledger, round(1.5 * theme.size("title"))
    over = max(ledger.dimension, study.expected.value or 0)
    shown = [(0, ledger.parameters, str(ledger.parameters), "ink")]
    for i, (above, cost) in enumerate(zip(_levels(ledger), _costs(ledger), strict=False), start=1):
        role = "soft" if not cost else "outside" if i == _UNEXPLAINED else "ink"
        shown.append((i, above, f"−{cost}" if cost > 0 else str(-cost), role))
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


def _cause(ledger: KernelLedger) -> dict:
    """Where the unexplained directions come from: over the bars, which leave that corner free."""
    text = ""
    if ledger.unexplained:
        width = 1600 // theme.size("note")  # characters, on most of the width
        lines = wrap(f"▨ {ledger.unexplained} unexplained: {ledger.note}", width)
        text = "<br>".join(lines[:3]) + (" …" if len(lines) > 3 else "")
    place = {"xref": "x domain", "yref": "y domain", "xanchor": "right", "yanchor": "top", "align": "right"}
    font = {"size": theme.size("note"), "color": theme.color("outside")}
    return label(text, 0.97, 1, **place, font=font)  # right of it are the buttons of the figure
