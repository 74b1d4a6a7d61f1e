"""What each switch of a transformer's layer does to its ledger."""

from neuroviz.attention.ledger import KernelLedger
from neuroviz.kit import theme
from neuroviz.kit.controls import write_control
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose
from neuroviz.kit.words import at_most, colored, in_two_lines
from neuroviz_beyond.transformers.reasons import dimension_badges
from neuroviz_beyond.transformers.variants import (
    FAMILIES,
    VariantSetting,
    VariantStudy,
    costs,
    effects,
    study_variants,
)

UNEXPLAINED = "unexplained"
# heights in a row: the present bar, and the former one below it
_THICK = 0.46
_THIN = 0.14
_UP = 0.08  # the present bar and its number stand higher by this part of a row
_TICK = 34  # pixels: the mark of the formula is longer than the bar is thick
# the axis is longer than the longest bar by this factor: room for the numbers
_ROOM = 1.3


def variants_parts(study: VariantStudy) -> Parts:
    """The ledger, with the one before as thin bars."""
    plot = Plot("", (0.0, 1.0), (0.0, 1.0))
    names = _names(study)
    ledger = study.ledger
    before = study.before
    now = _bars(ledger, names)
    old = _bars(before, names)
    last = len(names) + 1
    said = [f"before: {length}" for _, length in old]
    _draw(plot, "before", old, range(len(old)), "ghost", said, thin=True)
    _draw(plot, "parameters", now, [0], "soft", [f"{ledger.parameters} parameters"])
    rest = [names.index(UNEXPLAINED) + 1] if UNEXPLAINED in names else []
    explained = [row for row in range(1, last) if row not in rest]
    said = [f"{now[row][1]}: {names[row - 1]}" for row in explained]
    _draw(plot, "directions that symmetries explain", now, explained, "symmetry", said)
    said = [f"{ledger.unexplained}: {ledger.note}" for _ in rest]
    _draw(plot, "unexplained directions", now, rest, "outside", said)
    said = [f"exact rank {ledger.dimension} mod {ledger.measured.prime or ''}"]
    _draw(plot, "dimension (measured)", now, [last], "measured", said)

    value = study.expected.value
    source = study.expected.source
    known = ([value], [last - _UP]) if value is not None else ([], [])
    line = {"color": theme.color("formula"), "width": theme.size("line") + 2}
    # the mark that the ledger has, too
    look = {"symbol": "line-ns", "size": _TICK, "line": line}
    plot.points("dimension by the formula", *known, look, hover=f"{source}: %{{x}}")
    x = [start + length for start, length in now]
    y = [row - _UP for row in range(last + 1)]
    font = {"size": theme.size("base"), "color": theme.color("ink")}
    look = {
        "mode": "text",
        "textposition": "middle right",
        "textfont": font,
        "cliponaxis": False,
    }
    plot.points("numbers", x, y, {}, text=_numbers(study, now, old), **look)

    longest = max(ledger.parameters, value or 0, before.parameters if before else 0)
    title = f"directions in weight space{' (thin bars: before)' if before else ''}"
    plot.axis("x", 0, _ROOM * longest, title, showgrid=False, nticks=6)
    shown = ["parameters", *(FAMILIES.get(name, name) for name in names), "dimension"]
    letters = {"color": theme.color("ink"), "size": theme.size("tick")}
    ticks = {"tickvals": list(range(last + 1)), "ticktext": shown, "tickfont": letters}
    plot.bare_axis("y", last + 0.55, -0.5, **ticks)
    plot.headline(_said(study))
    return compose(plot.view(), barmode="overlay")


def _names(study: VariantStudy) -> list[str]:
    """The families that cost something now or did before, and "unexplained" if there is
    anything."""
    ledgers = [ledger for ledger in (study.ledger, study.before) if ledger]
    names = [
        name for name in FAMILIES if any(costs(ledger).get(name) for ledger in ledgers)
    ]
    return names + [UNEXPLAINED] * any(ledger.unexplained for ledger in ledgers)


def _bars(ledger: KernelLedger | None, names: list[str]) -> list[tuple[int, int]]:
    """Start and length of each bar, from the parameters to the dimension."""
    if ledger is None:
        return []
    bars = [(0, ledger.parameters)]
    left = ledger.parameters
    for name in names:
        cost = ledger.unexplained if name == UNEXPLAINED else costs(ledger).get(name, 0)
        left -= cost
        bars.append((left, cost))
    return [*bars, (0, ledger.dimension)]


def _draw(
    plot: Plot,
    name: str,
    bars: list,
    rows: list[int] | range,
    role: str,
    said: list[str],
    thin: bool = False,
) -> None:
    """Some of the bars, in the colour of a role."""
    marker: dict = {"color": theme.color(role)}
    if role == "outside":
        color = theme.color(role)
        ground = theme.color("ground")
        pattern = {
            "shape": "/",
            "bgcolor": ground,
            "fgcolor": color,
            "size": 8,
            "solidity": 0.35,
        }
        marker = {
            "color": ground,
            "pattern": pattern,
            "line": {"color": color, "width": 2},
        }
    places = [row + (_THICK / 2 + 0.04 if thin else -_UP) for row in rows]
    look = {
        "base": [bars[row][0] for row in rows],
        "width": _THIN if thin else _THICK,
        "orientation": "h",
    }
    lengths = [bars[row][1] for row in rows]
    hover = {"customdata": said, "hover": "%{customdata}"}
    plot.bars(name, lengths, places, marker, **look, **hover)


def _numbers(
    study: VariantStudy, now: list[tuple[int, int]], old: list[tuple[int, int]]
) -> list[str]:
    """The number right of each bar; where another one stood there before, that one
    too."""
    found = []
    small = f"font-size:{theme.size('note')}px"
    for row, (_, length) in enumerate(now[:-1]):
        text = f" <b>{'−' if row and length else ''}{length}</b>"
        if old and (was := old[row][1]) != length:
            minus = "−" if row and was else ""
            text += colored("soft", f'<span style="{small}"> was {minus}{was}</span>')
        found.append(text)
    value = study.expected.value
    source = study.expected.source
    source = {"Beyond the paper": "observed"}.get(source, source.split(",")[0])
    theory = "no formula" if value is None else f"{source}: {value}"
    number = colored("measured", f"<b>{study.ledger.dimension}</b>")
    return [*found, f'   {number}<span style="{small}"> {theory}</span>']


def _said(study: VariantStudy) -> str:
    ledger = study.ledger
    before = study.before
    toggle = study.setting.toggle
    if before is None:
        return (
            f"{ledger.parameters - ledger.dimension} of {ledger.parameters} directions"
            " are silent"
        )
    if before.dimension == ledger.dimension:
        return f"{toggle}: still {ledger.dimension} dimensions"
    return f"{toggle}: {before.dimension} → {ledger.dimension} dimensions"


class VariantsExplorer(Panel):
    """Switch heads, skips, masks and MLPs on and off, and see which directions of the
    weights are silent.

    Parameters, less what each family of symmetries costs, is the dimension; the thin
    bars are those of the network before the last switch, which `before` names.
    Controls: see `VariantSetting`.

    >>> panel = VariantsExplorer()
    >>> panel.controls["skip"].value = True
    >>> panel.controls["before"].value
    'skip=no'
    """

    title = "Which switch frees which directions?"
    setting = VariantSetting
    draw = staticmethod(variants_parts)
    _answer = staticmethod(study_variants)

    def _on_change(self, change: dict) -> None:
        (name,) = [
            name
            for name, control in self.controls.items()
            if control is change["owner"]
        ]
        if not self._quiet and name not in ("before", "seed"):
            self._assign({"before": f"{name}={write_control(change['old'])}"})
        super()._on_change(change)

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        idle = {"mlp": value["layers"] == 1, "rotary": value["head_dim"] % 2 == 1}
        idle["shared"] = value["value_dim"] == "full" or value["heads"] == 1
        for name, disabled in idle.items():
            self.controls[name].disabled = disabled

    def _badge(self, answer: VariantStudy) -> str:
        ledger = answer.ledger
        return dimension_badges(ledger.measured, answer.expected, ledger.network)

    def _describe(self, answer: VariantStudy) -> str:
        ledger = answer.ledger
        change = ""
        if answer.before:
            change = (
                f"With {answer.setting.toggle}:"
                f" {'; '.join(effects(answer.before, ledger))}."
            )
        found = ", ".join(
            f"{name} {count}" for name, count in costs(ledger).items() if count
        )
        idle = ledger.parameters - ledger.dimension
        rest = f"{ledger.unexplained} unexplained: {ledger.note}."
        said = (
            f"{ledger.parameters} parameters; {idle}"
            f" direction{'s are' if idle != 1 else ' is'} silent; "
        )
        said += (
            f"dimension {ledger.dimension} (exact, wrong with chance ≤"
            f" {at_most(ledger.error_bound)})."
        )
        network = f"{ledger.network}:"
        silent = f"Silent: {found}." if found else ""
        parts = [
            network,
            said,
            silent,
            rest if ledger.unexplained else "",
            change,
            answer.setting.ignored,
        ]
        return in_two_lines(parts, spare=[silent, network, change])
