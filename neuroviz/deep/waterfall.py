"""Where the parameters of one network go: a bar for all of them, less each family, is the dimension."""

from textwrap import wrap

from neuroviz.deep.dimension import LedgerStudy, has_a_place, paper_name, would_mislead
from neuroviz.engine.ledger import KernelLedger
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label

FAMILIES = ("head bases", "interfaces", "rescalings")
_NAMES = ("parameters", "head bases", "interfaces", "rescalings", "unexplained", "dimension")
_UNEXPLAINED, _DIMENSION = 4, 5  # where these bars stand; parameters at 0, the families at 1, 2, 3
_HALF = 0.33  # half the width of a bar
_RIGHT_END = _DIMENSION + 1.4  # of the axis: room for the name of the formula


def waterfall_view(study: LedgerStudy, x_domain: tuple[float, float]) -> View:
    """The waterfall, on the axes x and y."""
    return View(_traces(study), _axes(study, x_domain), _annotations(study), _connectors(study.ledger))


def family_parts(ledger: KernelLedger, family: str) -> str:
    """What a family costs, layer by layer, in few characters; empty where it costs nothing.

    Three or more equal numbers are multiplied, up to three others added up, more end in an ellipsis.
    """
    parts = ledger.parts.get(family, ())
    if len(parts) > 2 and len(set(parts)) == 1:
        return f"{len(parts)} × {parts[0]}"
    shown = parts if len(parts) < 4 else (*parts[:2], "…")
    return " + ".join(map(str, shown))


def _levels(ledger: KernelLedger) -> list[int]:
    """What is left after each bar: all parameters, then less each family, then less the unexplained."""
    levels = [ledger.parameters]
    for cost in (*(ledger.entries.get(family, 0) for family in FAMILIES), ledger.unexplained):
        levels.append(levels[-1] - cost)
    return levels


def _floating(ledger: KernelLedger) -> list[int]:
    """What the floating bars take away: the three families and the unexplained."""
    return [*(ledger.entries.get(family, 0) for family in FAMILIES), ledger.unexplained]


def _top(study: LedgerStudy) -> float:
    """The upper end of the axis: room for the numbers above the bars, and for the cause of a rest."""
    ledger, paper = study.ledger, study.paper
    highest = max(ledger.parameters, paper.value if has_a_place(paper, study.expected) else 0)
    return highest * (1.42 if ledger.unexplained else 1.16)


def _pixels(study: LedgerStudy) -> float:
    """About how many pixels one direction is high; only used to see whether a text fits."""
    plot = theme.size("height") - 2.2 * theme.size("title") - 3.6 * theme.size("base")
    return plot / _top(study)


# The bars


def _traces(study: LedgerStudy) -> list[dict]:
    ledger, line = study.ledger, theme.size("line")
    levels, costs = _levels(ledger), _floating(ledger)
    beside = has_a_place(study.paper, study.expected)
    known = study.expected.value is not None
    bar = {"type": "bar", "width": 2 * _HALF, "hovertemplate": "%{customdata}<extra></extra>"}
    return [
        bar
        | {
            "name": "parameters",
            "x": [0],
            "y": [ledger.parameters],
            "customdata": [f"{ledger.parameters} entries of all Q, K, V"],
            "marker": {"color": theme.color("soft")},
        },
        bar
        | {
            "name": "directions that symmetries explain",
            "x": [1, 2, 3],
            "y": costs[:3],
            "base": levels[1:4],
            "customdata": [_hover(ledger, family) for family in FAMILIES],
            "marker": {"color": theme.color("symmetry")},
        },
        bar
        | {
            "name": "unexplained directions",
            "x": [_UNEXPLAINED],
            "y": [ledger.unexplained],
            "base": [levels[4]],
            "customdata": [f"{ledger.unexplained}: {ledger.note}"],
            "visible": ledger.unexplained != 0,
            "marker": {
                "color": theme.color("ground"),
                "pattern": {
                    "shape": "/",
                    "bgcolor": theme.color("ground"),
                    "fgcolor": theme.color("outside"),
                    "size": 8,
                    "solidity": 0.35,
                },
                "line": {"color": theme.color("outside"), "width": 2},
            },
        },
        bar
        | {
            "name": "dimension (measured)",
            "x": [_DIMENSION],
            "y": [ledger.dimension],
            "customdata": [f"exact rank {ledger.dimension} mod {ledger.measured.prime}"],
            "marker": {"color": theme.color("measured")},
        },
        {
            "type": "scatter",
            "name": "dimension by the formula",
            "x": [_DIMENSION - 0.45, _DIMENSION + 0.45] if known else [],
            "y": [study.expected.value] * 2 if known else [],
            "mode": "lines",
            "line": {"color": theme.color("formula"), "width": line + 2},
            "hovertemplate": f"{study.expected.source}: {study.expected.value}<extra></extra>",
        },
        {
            "type": "scatter",
            "name": "the paper's formula outside its hypotheses",
            # Beside the bar, not across it: the number of the measurement stands there.
            "x": [_DIMENSION + _HALF, _RIGHT_END] if beside else [],
            "y": [study.paper.value] * 2 if beside else [],
            "mode": "lines",
            "line": {"color": theme.color("outside"), "width": line + 0.8, "dash": "dot"},
            "hovertemplate": f"{study.paper.value} does not apply here<extra></extra>",
        },
    ]


def _hover(ledger: KernelLedger, family: str) -> str:
    what = {
        "head bases": "Q → CQ, K → C⁻ᵀK in each layer (Lemma 3.1)",
        "interfaces": "another basis between two layers (Eq. 9)",
        "rescalings": "A → cA, V → V/c in each layer (Eq. 13)",
    }[family]
    return f"{ledger.entries.get(family, 0)}: {what}"


def _axes(study: LedgerStudy, x_domain: tuple[float, float]) -> dict:
    large = theme.size("tick") > 12
    return {
        "xaxis": {
            "anchor": "y",
            "domain": x_domain,
            "range": [-0.5, _RIGHT_END],
            "tickvals": list(range(len(_NAMES))),
            # Large letters need two rows, alternately.
            "ticktext": [f"<br>{name}" if large and i % 2 else name for i, name in enumerate(_NAMES)],
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


# The words


def _annotations(study: LedgerStudy) -> list[dict]:
    ledger = study.ledger
    idle = ledger.parameters - ledger.dimension
    does = "does" if idle == 1 else "do"
    said = f"{idle} of {ledger.parameters} parameter{'s' if ledger.parameters > 1 else ''} {does} nothing"
    return [
        headline(said),
        *_figures(study),
        *_reasons(study),
        *_inside(study),
        *_formula_labels(study),
        _cause(ledger),
    ]


def _figures(study: LedgerStudy) -> list[dict]:
    """The number above each bar."""
    ledger, expected = study.ledger, study.expected
    levels, costs = _levels(ledger), _floating(ledger)
    over = max(ledger.dimension, expected.value or 0)
    numbers = [(0, ledger.parameters, str(ledger.parameters), "ink")]
    for i, (above, cost) in enumerate(zip(levels, costs, strict=False), start=1):
        quiet = "outside" if i == _UNEXPLAINED else "ink"
        numbers.append((i, above, f"−{cost}" if cost > 0 else str(-cost), quiet if cost else "soft"))
    numbers.append((_DIMENSION, over, str(ledger.dimension), "measured"))
    return [
        label(
            f"<b>{text}</b>",
            x,
            y,
            yanchor="bottom",
            yshift=3,
            font={"size": round(1.5 * theme.size("title")), "color": theme.color(role)},
        )
        for x, y, text, role in numbers
    ]


def _reasons(study: LedgerStudy) -> list[dict]:
    """Why each floating bar is there: below it, or where there is no room above its number or beside it."""
    ledger, note, pixels = study.ledger, theme.size("note"), _pixels(study)
    levels, number = _levels(ledger), 2.1 * theme.size("title")
    # Over the bars the note on the unexplained has the upper end; where there is none, the axis ends.
    ceiling = (1.16 if ledger.unexplained else 1) * levels[0]
    found = []
    for i, text in enumerate(_reason_texts(ledger), start=1):
        height = 1.35 * note * (1 + text.count("<br>")) + 8
        place = {"x": i, "y": levels[i], "yanchor": "top", "yshift": -3}
        if levels[i] * pixels < height:
            place = {"x": i, "y": levels[i - 1], "yanchor": "bottom", "yshift": round(number)}
            if levels[i - 1] * pixels + number + height > ceiling * pixels:
                place = {"x": i + 1.1 * _HALF, "y": levels[i - 1], "yanchor": "top", "xanchor": "left"}
        role = "outside" if i == _UNEXPLAINED and ledger.unexplained else "soft"
        plain = {"xanchor": "center", "yshift": 0}
        found.append(
            label(text, **(plain | place), font={"size": note, "color": theme.color(role)}, align="center")
        )
    return found


def _reason_texts(ledger: KernelLedger) -> list[str]:
    arch = ledger.arch
    scaled = "A·c, V÷c:"
    if arch.attention == "softmax":  # one token sees no A at all: there is nothing to double
        scaled = "doubling<br>A is seen" if arch.tokens > 1 else "softmax:<br>none"
    return [
        f"GL<sub>a</sub> each:<br>{family_parts(ledger, 'head bases')}",
        f"GL<sub>d</sub> each:<br>{family_parts(ledger, 'interfaces')}"
        if ledger.parts.get("interfaces")
        else "one layer",
        scaled + "".join(f"<br>{text}" for text in [family_parts(ledger, "rescalings")] if text),
        "other<br>causes" if ledger.unexplained else "nothing<br>left",
    ]


def _inside(study: LedgerStudy) -> list[dict]:
    """What the two full bars count, where they are high enough to hold it."""
    ledger, pixels = study.ledger, _pixels(study)
    room = 4 * theme.size("note")
    return [
        label(
            text if value * pixels > room else "",
            x,
            value / 2,
            font={"size": theme.size("note"), "color": theme.color("ground")},
        )
        for x, value, text in (
            (0, ledger.parameters, "Q, K<br>and V"),
            (_DIMENSION, ledger.dimension, "exact<br>rank"),
        )
    ]


def _formula_labels(study: LedgerStudy) -> list[dict]:
    """The formula beside its tick; and the paper's, where it does not apply and says something else."""
    expected, paper = study.expected, study.paper
    source = expected.source.replace(", ", "<br>")
    theory = "no formula" if expected.value is None else f"{source}<br><b>{expected.value}</b>"
    instead = f"{paper_name(paper)}: <b>{paper.value}</b><br>does not<br>apply".replace("-", "−")
    if not would_mislead(paper, expected):
        return [
            _beside(study, theory, expected.value or 0, "middle", "formula"),
            _beside(study, "", 0, "middle", "outside"),
        ]
    # One below its value, one above; both above the axis, and the upper one above the lower one.
    texts, values = (theory, instead), (expected.value or 0, paper.value)
    low, high = (0, 1) if values[0] < values[1] else (1, 0)
    floor = max(values[low], _height(study, texts[low]))
    found = {
        low: _beside(study, texts[low], floor, "top", ("formula", "outside")[low]),
        high: _beside(study, texts[high], max(values[high], floor), "bottom", ("formula", "outside")[high]),
    }
    return [found[0], found[1]]


def _height(study: LedgerStudy, text: str) -> float:
    """About how high a text is, in directions."""
    return 1.4 * theme.size("note") * (1 + text.count("<br>")) / _pixels(study)


def _beside(study: LedgerStudy, text: str, value: float, anchor: str, role: str) -> dict:
    """A text to the right of the last bar, never below the axis."""
    if anchor == "middle":
        value = max(value, _height(study, text) / 2)
    return label(
        text,
        _DIMENSION + 0.52,
        value,
        xanchor="left",
        yanchor=anchor,
        yshift={"top": -3, "middle": 0, "bottom": 3}[anchor],
        align="left",
        font={"size": theme.size("note"), "color": theme.color(role)},
    )


def _cause(ledger: KernelLedger) -> dict:
    """Where the unexplained directions come from: over the bars, which leave that corner free."""
    text = ""
    if ledger.unexplained:
        width = 1100 // theme.size("note")  # characters, on some four fifths of the width
        lines = wrap(f"▨ {ledger.unexplained} unexplained: {ledger.note}", width)
        text = "<br>".join(lines[:3]) + (" …" if len(lines) > 3 else "")
    return label(
        text,
        1,
        1,
        xref="x domain",
        yref="y domain",
        xanchor="right",
        yanchor="top",
        align="right",
        font={"size": theme.size("note"), "color": theme.color("outside")},
    )
