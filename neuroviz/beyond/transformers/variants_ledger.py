"""Where the parameters go before and after a switch: two ledgers as waterfalls, one row a family."""

from textwrap import wrap

from neuroviz.beyond.transformers.variants import FAMILIES, VariantStudy, costs, effects
from neuroviz.engine.ledger import KernelLedger
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import colored

_THICK, _THIN = 0.46, 0.14  # of a row: the bar of now, and below it the bar of before
_ROOM = 1.36  # the axis goes so much farther than the longest bar: room for the numbers


def toggle_view(study: VariantStudy, x_domain: tuple[float, float]) -> View:
    """The two ledgers, on the axes x and y."""
    names = _names(study)
    return View(_traces(study, names), _axes(study, names, x_domain), _annotations(study, names), [])


def _names(study: VariantStudy) -> list[str]:
    """The families that cost something now or did before, and "unexplained" if there is anything."""
    ledgers = [ledger for ledger in (study.ledger, study.before) if ledger]
    names = [name for name in FAMILIES if any(costs(ledger).get(name) for ledger in ledgers)]
    return names + ["unexplained"] * any(ledger.unexplained for ledger in ledgers)


def _taken(ledger: KernelLedger, names: list[str]) -> list[int]:
    return [ledger.unexplained if n == "unexplained" else costs(ledger).get(n, 0) for n in names]


def _ends(ledger: KernelLedger, names: list[str]) -> list[int]:
    """What is left after each row."""
    left = [ledger.parameters]
    for cost in _taken(ledger, names):
        left.append(left[-1] - cost)
    return left


def _bars(ledger: KernelLedger | None, names: list[str]) -> tuple[list[int], list[int]]:
    """Lengths and starts of all rows, from the parameters to the dimension."""
    if ledger is None:
        return [], []
    ends = _ends(ledger, names)
    return (
        [ledger.parameters, *_taken(ledger, names), ledger.dimension],
        [0, *ends[1:], 0],
    )


def _traces(study: VariantStudy, names: list[str]) -> list[dict]:
    ledger, before, last = study.ledger, study.before, len(names) + 1
    lengths, starts = _bars(ledger, names)
    old_lengths, old_starts = _bars(before, names)
    explained = [i for i, name in enumerate(names, start=1) if name != "unexplained"]
    rest = [last - 1] if "unexplained" in names else []
    bar = {
        "type": "bar",
        "orientation": "h",
        "width": _THICK,
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    hatch = {
        "color": theme.color("ground"),
        "pattern": {
            "shape": "/",
            "bgcolor": theme.color("ground"),
            "fgcolor": theme.color("outside"),
            "size": 8,
            "solidity": 0.35,
        },
        "line": {"color": theme.color("outside"), "width": 2},
    }

    def now(name: str, rows: list[int], said: list[str], marker: dict) -> dict:
        return bar | {
            "name": name,
            "y": [row - 0.08 for row in rows],
            "x": [lengths[row] for row in rows],
            "base": [starts[row] for row in rows],
            "customdata": said,
            "marker": marker,
            "hovertemplate": "%{customdata}<extra></extra>",
        }

    known = study.expected.value is not None
    return [
        {
            "type": "bar",
            "orientation": "h",
            "width": _THIN,
            "name": "before",
            "y": [row + _THICK / 2 + 0.04 for row in range(len(old_lengths))],
            "x": old_lengths,
            "base": old_starts,
            "marker": {"color": theme.color("ghost")},
            "hovertemplate": "before: %{x}<extra></extra>",
        },
        now("parameters", [0], [f"{ledger.parameters} parameters"], {"color": theme.color("soft")}),
        now(
            "directions that symmetries explain",
            explained,
            [f"{lengths[i]}: {names[i - 1]}" for i in explained],
            {"color": theme.color("symmetry")},
        ),
        now("unexplained directions", rest, [f"{ledger.unexplained}: {ledger.note}" for _ in rest], hatch),
        now(
            "dimension (measured)",
            [last],
            [f"exact rank {ledger.dimension} mod {ledger.measured.prime or ''}"],
            {"color": theme.color("measured")},
        ),
        {
            "type": "scatter",
            "name": "dimension by the formula",
            "x": [study.expected.value] if known else [],
            "y": [last - 0.08] if known else [],
            "mode": "markers",
            "marker": {
                "symbol": "diamond-open",
                "size": 1.6 * theme.size("marker"),
                "color": theme.color("formula"),
                "line": {"width": 2},
            },
            "hovertemplate": f"{study.expected.source}: %{{x}}<extra></extra>",
        },
        {
            "type": "scatter",
            "name": "numbers",
            "x": [start + length for start, length in zip(starts, lengths, strict=True)],
            "y": [row - 0.08 for row in range(last + 1)],
            "mode": "text",
            "text": _numbers(study, names),
            "textposition": "middle right",
            "textfont": {"size": theme.size("base"), "color": theme.color("ink")},
            "cliponaxis": False,
            "hoverinfo": "skip",
        },
    ]


def _numbers(study: VariantStudy, names: list[str]) -> list[str]:
    """The number right of each bar; where another one stood there before, that one too."""
    lengths, _ = _bars(study.ledger, names)
    old, _ = _bars(study.before, names)
    small = f"font-size:{theme.size('note')}px"
    found = []
    for row, length in enumerate(lengths):
        sign = "−" if 0 < row <= len(names) and length else ""
        text = f" <b>{sign}{length}</b>"
        if old and old[row] != length and row <= len(names):
            minus = "−" if row and old[row] else ""
            text += colored("soft", f'<span style="{small}"> was {minus}{old[row]}</span>')
        found.append(text)
    expected = study.expected
    theory = "no formula" if expected.value is None else f"{_short(expected.source)}: {expected.value}"
    found[-1] = (
        f"   {colored('measured', f'<b>{study.ledger.dimension}</b>')}"
        f'<span style="{small}"> {"" if expected.value is None else "◇ "}{theory}</span>'
    )
    return found


def _short(source: str) -> str:
    """The source of a formula, where there is little room."""
    return {"Beyond the paper": "observed"}.get(source, source.split(",")[0])


def _longest(study: VariantStudy) -> int:
    values = [study.ledger.parameters, study.expected.value or 0]
    return max(*values, study.before.parameters if study.before else 0)


def _axes(study: VariantStudy, names: list[str], x_domain: tuple[float, float]) -> dict:
    return {
        "xaxis": {
            "anchor": "y",
            "domain": x_domain,
            "range": [0, _ROOM * _longest(study)],
            "title": {"text": f"directions in weight space{' (thin bars: before)' if study.before else ''}"},
            "showgrid": False,
            "nticks": 6,
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0),
            "range": [len(names) + 1.55, -0.5],
            "tickvals": list(range(len(names) + 2)),
            "ticktext": _shown(names),
            "tickfont": {"color": theme.color("ink"), "size": theme.size("tick")},
            "ticks": "",
            "showgrid": False,
            "showline": False,
        },
    }


def _shown(names: list[str]) -> list[str]:
    return ["parameters", *(FAMILIES.get(name, name) for name in names), "dimension"]


def _annotations(study: VariantStudy, names: list[str]) -> list[dict]:
    ledger, before = study.ledger, study.before
    if before is None:
        said = f"{ledger.parameters - ledger.dimension} of {ledger.parameters} parameters do nothing"
    elif before.dimension == ledger.dimension:
        said = f"{study.toggle}: still {ledger.dimension} dimensions"
    else:
        said = f"{study.toggle}: {before.dimension} → {ledger.dimension} dimensions"
    wide = max(len(name) for name in _shown(names))
    return [headline(said) | {"xshift": round(-0.48 * theme.size("tick") * wide)}, _beside(study, names)]


def _beside(study: VariantStudy, names: list[str]) -> dict:
    """What the switch did, left of the floating bars: that place is always free, if sometimes narrow."""
    text = ""
    if study.before:
        free = min(study.ledger.dimension, study.before.dimension) / (_ROOM * _longest(study))
        letters = int(0.32 * 1070 * free / (0.5 * theme.size("note"))) - 2
        rows = int(0.8 * theme.size("height") * len(names) / (len(names) + 2) / (1.35 * theme.size("note")))
        # What goes from one number to another stays on one line.
        said = [words.replace(" → ", "\u00a0→\u00a0") for words in effects(study.before, study.ledger)]
        lines = [line for words in said for line in wrap(words, max(letters, 8))]
        text = "<br>".join(lines) if letters >= 16 and len(lines) <= rows else ""
    return label(
        text,
        0,
        (len(names) + 1) / 2,
        xanchor="left",
        xshift=8,
        yanchor="middle",
        align="left",
        font={"size": theme.size("note"), "color": theme.color("focus")},
    )
