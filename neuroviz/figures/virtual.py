"""Weights move, virtual weights do not: changes of basis between layers (Eq. 9), rescalings (Eq. 13)."""

from dataclasses import dataclass
from math import log2

import numpy as np
import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz import theme
from neuroviz.architecture import Architecture
from neuroviz.figures.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.figures.parts import (
    Parts,
    View,
    compose,
    headline,
    label,
    make,
    outside_words,
    power_of_ten,
    redraw,
)

SAME = 1e-9
"""What rounding may leave, relative to a matrix: what has moved by less is the same."""
MAX_LAYERS = 4
_SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def numbered(letter: str, index: int) -> str:
    """A letter with a subscript, in Unicode.

    >>> numbered("M", 2)
    'M₂'
    """
    return letter + str(index).translate(_SUBSCRIPTS)


def percent(part: float) -> str:
    """A part of the whole in percent, with two digits where it is small.

    >>> percent(0.584), percent(0.0123), percent(0.0)
    ('58 %', '1.2 %', '0 %')
    """
    return f"{100 * part:.0f} %" if part >= 0.0995 else f"{100 * part:.2g} %"


def signed(number: float, digits: int = 2) -> str:
    """A number with a true minus and without idle zeros.

    >>> signed(-0.5), signed(1.0), signed(-0.001)
    ('−0.5', '1', '0')
    """
    text = f"{number:.{digits}f}".rstrip("0").rstrip(".").replace("-", "−")
    return "0" if text in ("−0", "") else text


@dataclass(frozen=True, eq=False)
class Moved:
    """A matrix before and after.

    Attributes:
        name: such as "V₁".
        start, now: of one shape.
    """

    name: str
    start: np.ndarray
    now: np.ndarray

    @property
    def change(self) -> float:
        """How far it has moved: ‖now − start‖ over the larger of the two norms; 0 for zeros."""
        size = max(float(np.linalg.norm(self.start)), float(np.linalg.norm(self.now)))
        return float(np.linalg.norm(self.now - self.start)) / size if size else 0.0

    @property
    def is_same(self) -> bool:
        """Whether no more than rounding has moved it."""
        return self.change <= SAME


# A change of basis between two layers


@dataclass(frozen=True, eq=False)
class InterfaceStudy:
    """Everything that the figure of one change of basis shows.

    Attributes:
        arch: of both networks.
        interface: i, from 1 to l − 1: the place between the layers i and i + 1.
        C: the change of basis there, δ × δ.
        weights: V_i, Q_{i+1}, K_{i+1}, V_{i+1}: all that it moves.
        virtual: L, M_1, …, M_l.
        outputs: φ(X) for one X.
        rank: of U_i = V_i ⋯ V_1 at the start; Lemma 3.5 is about rank δ.
        covered: whether the hypotheses of Lemma 3.5 hold.
        recovered: C_1, …, C_{l−1} as found from the two networks alone, or None.
        refusal: why none were found, "" if they were.
        misfit: where none were found: what the best C_1, …, C_{l−1} leave of Eq. 9, relative.
        free: how far the next layer was moved where U_i cannot reach.
        alone: by which part of itself the first row of V_i was moved, with nothing to undo it.
    """

    arch: Architecture
    interface: int
    C: np.ndarray
    weights: tuple[Moved, ...]
    virtual: tuple[Moved, ...]
    outputs: Moved
    rank: int
    covered: bool
    recovered: tuple[np.ndarray, ...] | None
    refusal: str
    misfit: float
    free: float
    alone: float

    @property
    def moved(self) -> tuple[Moved, ...]:
        """What should have stood still and has not."""
        return tuple(part for part in (*self.virtual, self.outputs) if not part.is_same)

    @property
    def off(self) -> float:
        """By how much the entries of the recovered matrices differ from the applied ones, at most."""
        applied = [
            self.C if i == self.interface else np.eye(len(C)) for i, C in enumerate(self.recovered, start=1)
        ]
        return max(float(np.abs(a - b).max()) for a, b in zip(applied, self.recovered, strict=True))


def interface_figure(study: InterfaceStudy) -> go.Figure:
    """Matrices and their moves as a figure of its own; `update_interface` moves it to another study."""
    return make(_interface_parts(study))


def update_interface(figure: BaseFigure, old: InterfaceStudy | None, new: InterfaceStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _interface_parts(old), _interface_parts(new))


_TABLE, _BARS = (0.29, 1.0), (0.0, 0.23)
_COLUMNS = 4 + 1 + 1 + MAX_LAYERS + 1 + 1 + 1  # weights, a gap, L, the M, outputs, a gap, C
_FIRST_STILL = 5  # the column of L
_BAR = 0.026  # width of a bar, as a part of the figure's


def _interface_parts(study: InterfaceStudy) -> Parts:
    table = _table(study)
    return compose(table, _bars(study, table))


def _table(study: InterfaceStudy) -> View:
    i, still = study.interface, (*study.virtual, study.outputs)
    gap = Tile("", np.zeros((0, 0)), 1.0)
    spare = [gap] * (_COLUMNS - 7 - len(still))
    # Fixed by the start, so that the upper row keeps its colours while the lower one moves.
    limits = [1.6 * largest_entry(part.start) for part in study.weights]
    limits[1] = limits[2] = max(limits[1:3])
    became = _became(study)
    limit_C = largest_entry(study.C)
    C = numbered("C", i)

    def verdict(part: Moved) -> str:
        return _colored("certified", "<b>same</b>") if part.is_same else outside_words("<b>moved</b>")

    def frame(part: Moved) -> str:
        return "certified" if part.is_same else "outside"

    upper = [
        *(
            Tile(f"{part.name}, start", part.start, limit, f"<b>{part.name}</b>")
            for part, limit in zip(study.weights, limits, strict=True)
        ),
        gap,
        *(
            Tile(
                f"{part.name}, start",
                part.start,
                largest_entry(part.start),
                f"<b>{part.name}</b>",
                frame=frame(part),
            )
            for part in still
        ),
        gap,
        Tile(f"{C}, applied", study.C, limit_C, f"<b>{C}</b>"),
        *spare,
    ]
    if study.recovered is None:
        found = Tile("", np.zeros((0, len(study.C))), 1.0, outside_words("<b>?</b>"))
    else:
        near = study.off <= SAME * limit_C
        found = Tile(
            f"{C}, recovered",
            study.recovered[i - 1],
            limit_C,
            "recovered",
            frame="certified" if near else "outside",
        )
    lower = [
        *(
            Tile(f"{part.name}, now", part.now, limit, text)
            for part, limit, text in zip(study.weights, limits, became, strict=True)
        ),
        gap,
        *(
            Tile(f"{part.name}, now", part.now, largest_entry(part.start), verdict(part), frame=frame(part))
            for part in still
        ),
        gap,
        found,
        *spare,
    ]
    rows = [
        Row("○<br>start", tuple(upper)),
        Row(_colored("focus", "<b>●<br>now</b>"), tuple(lower)),
    ]
    view = matrices_view(rows, (0.0, 1.0), _TABLE)
    title = headline(_what_moves(study)) | {"xref": "paper", "yref": "paper"}
    return view._replace(annotations=[*view.annotations, title])


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


def _bars(study: InterfaceStudy, table: View) -> View:
    """How far each matrix of the table has moved: under it, on the same x axis."""
    still = (*study.virtual, study.outputs)
    parts = [*enumerate(study.weights), *enumerate(still, start=_FIRST_STILL)]
    centres = [(edges[0] + edges[-1]) / 2 for edges in (table.traces[j]["x"] for j, _ in parts)]
    changes = [part.change for _, part in parts]
    is_weight = [j < _FIRST_STILL for j, _ in parts]
    roles = [
        "focus" if weight else "certified" if part.is_same else "outside"
        for weight, (_, part) in zip(is_weight, parts, strict=True)
    ]
    hatched = ["/" if role == "outside" else "" for role in roles]
    top = max(*changes, 1.0)
    bars = {
        "type": "bar",
        "name": "how far each matrix has moved",
        "xaxis": "x",
        "yaxis": "y2",
        "x": centres,
        "y": changes,
        "width": _BAR * table.axes["xaxis"]["range"][1],
        "customdata": [part.name for _, part in parts],
        "marker": {
            "color": [theme.color(role) for role in roles],
            "pattern": {
                "shape": hatched,
                "bgcolor": [theme.color("ground" if shape else "focus") for shape in hatched],
                "fgcolor": [theme.color(role) for role in roles],
                "size": 7,
            },
        },
        "cliponaxis": False,
        "hovertemplate": "%{customdata}: moved by %{y:.2%} (%{y:.1e})<extra></extra>",
    }
    texts = [
        _over_bar(part, weight, x, role)
        for x, role, weight, (_, part) in zip(centres, roles, is_weight, parts, strict=True)
    ]
    texts += [_text_at("", 0, 0, "ink")] * (4 + 2 + MAX_LAYERS - len(texts))
    heading = label(
        "moved<br>by",
        0,
        0.5,
        xanchor="left",
        align="left",
        yref="y2 domain",
        font={"size": theme.size("base")},
    )
    finding = headline(_what_is_recovered(study)) | {"xref": "paper", "yref": "y2 domain", "yshift": 22}
    base = {
        "type": "line",
        "xref": "x",
        "yref": "y2",
        "x0": table.traces[0]["x"][0],
        "x1": centres[-1] + 1,
        "y0": 0,
        "y1": 0,
        "line": {"color": theme.color("axis"), "width": 1.4},
    }
    axes = {
        "yaxis2": {
            "domain": _BARS,
            "range": [0, 1.02 * top],
            "anchor": "x",
            "visible": False,
            "fixedrange": True,
        }
    }
    return View([bars], axes, [*texts, heading, finding], [base])


def _over_bar(part: Moved, is_weight: bool, x: float, role: str) -> dict:
    text = "0" if part.is_same else percent(part.change)
    quiet = is_weight and part.is_same
    return _text_at(f"<b>{text}</b>", x, part.change, "soft" if quiet else role)


def _text_at(text: str, x: float, y: float, role: str) -> dict:
    font = {"size": theme.size("base"), "color": theme.color(role)}
    return label(text, x, y, yref="y2", yanchor="bottom", yshift=2, font=font)


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


def tiny(number: float, digits: int = 0) -> str:
    """A number in powers of ten: for rounding errors, and for what is very large.

    >>> tiny(2.2e-16), tiny(1.05e6, digits=2), tiny(0.0)
    ('2·10⁻¹⁶', '1.05·10⁶', '0')
    """
    if number == 0:
        return "0"
    digit, exponent = f"{number:.{digits}e}".split("e")
    return f"{digit}·{power_of_ten(int(exponent))}"


def _colored(role: str, text: str) -> str:
    return f'<span style="color:{theme.color(role)}">{text}</span>'


# Rescaling the virtual weights


@dataclass(frozen=True, eq=False)
class RescalingStudy:
    """Everything that the figure of one rescaling shows.

    Attributes:
        arch: of both networks.
        logs: log₂ λ_i of each layer.
        exponents: 3^{l−i} of each layer, how often M_i stands in a term of Eq. 12.
        balance: the λ_0 of Eq. 13.
        factor: what L was multiplied by; for softmax the best that a single factor can do.
        off: log₂ of what `factor` was then multiplied by in addition.
        outputs: φ(X) for one X.
        unanswered: the same with λ_0 = 1.
        covered: whether the hypotheses of the theorem about the whole fibre hold.
    """

    arch: Architecture
    logs: tuple[float, ...]
    exponents: tuple[int, ...]
    balance: float
    factor: float
    off: float
    outputs: Moved
    unanswered: Moved
    covered: bool

    @property
    def is_symmetry(self) -> bool:
        """Whether Eq. 13 applies: it is about lightning."""
        return self.arch.attention == "lightning"


def rescaling_figure(study: RescalingStudy) -> go.Figure:
    """Factors and outputs as a figure of its own; `update_rescaling` moves it to another study."""
    return make(_rescaling_parts(study))


def update_rescaling(figure: BaseFigure, old: RescalingStudy | None, new: RescalingStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _rescaling_parts(old), _rescaling_parts(new))


_LEFT, _RIGHT = (0.0, 0.6), (0.69, 1.0)
_HIGH = (0.0, 0.92)  # above it the headlines
_HALF = 0.36  # half the width of a bar


def _rescaling_parts(study: RescalingStudy) -> Parts:
    return compose(_factors(study), _outputs(study))


def _factors(study: RescalingStudy) -> View:
    layers = len(study.logs)
    answer = layers + 1.6  # where the bar of λ₀ stands
    stacks = _stacks(study)
    ends = [y for low, high in stacks for y in (low, high)] + list(study.logs)
    low, high = min(*ends, -0.5), max(*ends, 0.5)
    spread = high - low
    colors = [theme.color(f"layer {i}") for i in range(1, layers + 1)]
    outline = {"color": theme.color("ground"), "width": 1}
    traces = [
        {
            "type": "bar",
            "name": "log₂ λ of each layer",
            "x": list(range(1, layers + 1)),
            "y": list(study.logs),
            "width": 2 * _HALF,
            "marker": {"color": colors, "line": outline},
            "hovertemplate": "λ<sub>%{x}</sub>: log₂ = %{y:.2f}<extra></extra>",
        }
    ]
    for i in range(1, MAX_LAYERS + 1):
        traces.append(_blocks(study, stacks, i, answer, outline))
    annotations = [
        headline(_cost(study)),
        *_over_bars(study),
        *_shares(study, stacks, answer, spread),
    ]
    annotations.append(_total_text(study, answer, spread))
    shapes = [_line(0.4, answer + _HALF + 0.05, 0.0, "axis", 1.4, True), _total(study, answer)]
    names = [f"<b>{numbered('λ', i)}</b><br>{numbered('M', i)}" for i in range(1, layers + 1)]
    axes = {
        "barmode": "overlay",
        "xaxis": {
            "domain": _LEFT,
            "anchor": "y",
            "range": [0.4, answer + 1.5],
            "tickvals": [*range(1, layers + 1), answer],
            "ticktext": [*names, f"<b>{numbered('λ', 0)}</b><br>L"],
            "tickfont": {"size": theme.size("base"), "color": theme.color("ink")},
            "ticks": "",
            "showgrid": False,
            "showline": False,
        },
        "yaxis": {
            "domain": _HIGH,
            "anchor": "x",
            "range": [low - 0.14 * spread, high + 0.14 * spread],
            "title": {"text": "log₂ of the factor"},
            "nticks": 7,
            "showgrid": False,
        },
    }
    return View(traces, axes, annotations, shapes)


def _stacks(study: RescalingStudy) -> list[tuple[float, float]]:
    """Where each layer's share of −Σ 3^{l−i} log₂ λ_i lies: from 0 upwards or downwards, one on the other."""
    up = down = 0.0
    found = []
    for exponent, log in zip(study.exponents, study.logs, strict=True):
        share = -exponent * log
        if share >= 0:
            found.append((up, up + share))
            up += share
        else:
            found.append((down + share, down))
            down += share
    return found


def _blocks(
    study: RescalingStudy, stacks: list[tuple[float, float]], i: int, x: float, outline: dict
) -> dict:
    """One layer's share, as 3^{l−i} blocks, each as high as the bar of its λ."""
    low, high = stacks[i - 1] if i <= len(stacks) else (0.0, 0.0)
    count = study.exponents[i - 1] if high > low else 0
    step = (high - low) / max(count, 1)
    color = theme.color(f"layer {i}")
    return {
        "type": "bar",
        "name": f"λ₀'s answer to λ{numbered('', i)}",
        "x": [x] * count,
        "y": [step] * count,
        "base": [low + k * step for k in range(count)],
        "width": 2 * _HALF,
        "marker": {
            "color": color,
            "line": outline,
            "pattern": {
                "shape": "" if study.is_symmetry else "/",
                "bgcolor": theme.color("ground") if not study.is_symmetry else color,
                "fgcolor": theme.color("outside"),
            },
        },
        "hovertemplate": f"{count} × log₂ {numbered('λ', i)}<extra></extra>",
    }


def _cost(study: RescalingStudy) -> str:
    if not study.is_symmetry:
        return (
            outside_words("softmax: no λ₀ can answer")
            if any(study.logs)
            else "all λ are 1: nothing to answer"
        )
    layers, most = len(study.logs), study.exponents[0]
    if layers == 1:
        return "one step of λ₁ costs λ₀ one step"
    return f"one step of λ₁ costs λ₀ {most} steps, one of {numbered('λ', layers)} only 1"


def _over_bars(study: RescalingStudy) -> list[dict]:
    """log₂ λ at the end of each bar."""
    texts = []
    for i in range(1, MAX_LAYERS + 1):
        log = study.logs[i - 1] if i <= len(study.logs) else 0.0
        texts.append(
            label(
                f"<b>{signed(log)}</b>" if i <= len(study.logs) else "",
                min(i, len(study.logs)),
                log,
                yanchor="bottom" if log >= 0 else "top",
                yshift=3 if log >= 0 else -3,
                font={"size": theme.size("base"), "color": theme.color("focus")},
            )
        )
    return texts


def _shares(study: RescalingStudy, stacks: list[tuple[float, float]], x: float, spread: float) -> list[dict]:
    """Beside each share: how many steps it is. Neighbours are kept apart, so that they can be read."""
    pixels = (theme.size("height") - 60) * (_HIGH[1] - _HIGH[0]) / (1.28 * spread)
    need = 1.5 * theme.size("base") / pixels
    shown = sorted((sum(ends) / 2, i) for i, ends in enumerate(stacks, start=1) if ends[1] > ends[0])
    places = [y for y, _ in shown]
    for k in range(1, len(places)):
        places[k] = max(places[k], places[k - 1] + need)
    too_high = places[-1] - shown[-1][0] if places else 0.0
    at = {i: y - too_high / 2 for y, (_, i) in zip(places, shown, strict=True)}
    return [
        label(
            f"{study.exponents[i - 1]} × {signed(-study.logs[i - 1])}" if i in at else "",
            x + _HALF + 0.12,
            at.get(i, 0.0),
            xanchor="left",
            font={
                "size": theme.size("base"),
                "color": theme.color("ink" if study.is_symmetry else "outside"),
            },
        )
        for i in range(1, MAX_LAYERS + 1)
    ]


def _total(study: RescalingStudy, x: float) -> dict:
    y = log2(study.balance)
    return _line(x - _HALF - 0.12, x + _HALF + 0.06, y, "formula", 4, study.is_symmetry)


def _line(x0: float, x1: float, y: float, role: str, width: float, visible: bool) -> dict:
    return {
        "type": "line",
        "xref": "x",
        "yref": "y",
        "x0": x0,
        "x1": x1,
        "y0": y,
        "y1": y,
        "visible": visible,
        "line": {"color": theme.color(role), "width": width},
    }


def _total_text(study: RescalingStudy, x: float, spread: float) -> dict:
    """log₂ λ₀, left of its tick; for softmax, in a free corner, why there is none."""
    y = log2(study.balance)
    if study.is_symmetry:
        font = {"size": theme.size("title"), "color": theme.color("formula")}
        place = {"xref": "x", "yref": "y", "xanchor": "right", "align": "right"}
        # Beside its tick, but not on the axis.
        place["yanchor"] = (
            "bottom" if 0 <= y < 0.04 * spread else "top" if -0.04 * spread < y < 0 else "middle"
        )
        return label(f"<b>{signed(y)}</b>", x - _HALF - 0.16, y, font=font, **place)
    font = {"size": theme.size("base"), "color": theme.color("outside")}
    place = {"xref": "x domain", "yref": "y domain", "xanchor": "left", "align": "left"}
    place["yanchor"] = "bottom" if y < 0 else "top"
    text = "▨ Eq. 13 does not apply:<br>it is about lightning"
    return label(text, 0.02, 0.02 if y < 0 else 0.98, font=font, **place)


def _outputs(study: RescalingStudy) -> View:
    d, t = study.outputs.start.shape
    # One token after the other, its entries side by side, with an empty place between two tokens.
    x = [token * (d + 1) + entry for token in range(t) for entry in range(d)]
    unit = largest_entry(study.outputs.start)
    start = (study.outputs.start.T.ravel() / unit).tolist()
    now = (study.outputs.now.T.ravel() / unit).tolist()
    on, marker = {"xaxis": "x2", "yaxis": "y2", "mode": "markers"}, theme.size("marker")
    traces = [
        {
            "name": "outputs, start",
            **on,
            "x": x,
            "y": start,
            "marker": {
                "symbol": "circle-open",
                "size": marker + 8,
                "color": theme.color("ink"),
                "line": {"width": 1.8},
            },
            "hovertemplate": "start: %{y:.4f}<extra></extra>",
        },
        {
            "name": "outputs, now",
            **on,
            "x": x,
            "y": now,
            "marker": {"symbol": "circle", "size": marker, "color": theme.color("focus")},
            "hovertemplate": "now: %{y:.4f}<extra></extra>",
        },
    ]
    # Two heights only: the rings of the start stand still while a slider moves the dots.
    largest = max(map(abs, now))
    reach = next((r for r in (1.3, 2.3) if largest < r), 1.15 * largest)
    axes = {
        "xaxis2": {
            "domain": _RIGHT,
            "anchor": "y2",
            "range": [-0.9, t * (d + 1) - 1.1],
            "tickvals": [token * (d + 1) + (d - 1) / 2 for token in range(t)],
            "ticktext": [f"token {token + 1}" for token in range(t)],
            "ticks": "",
            "showgrid": False,
        },
        "yaxis2": {
            "domain": _HIGH,
            "anchor": "x2",
            "range": [-1.2 * reach, reach],  # below, room for what the marks mean
            "title": {"text": "outputs (largest at the start = 1)"},
            "nticks": 6,
        },
    }
    key = label(
        "○ start   " + _colored("focus", "● now"),
        1,
        0,
        "2",
        xref="x2 domain",
        yref="y2 domain",
        xanchor="right",
        yanchor="bottom",
        yshift=4,
        font={"size": theme.size("base")},
    )
    return View(traces, axes, [headline(_what_outputs_do(study), "2"), key], [])


def _what_outputs_do(study: RescalingStudy) -> str:
    if not any(study.logs) and not study.off:
        return "the start: all factors are 1"
    if study.outputs.is_same:
        return _colored("certified", "the function has not changed")
    if study.is_symmetry:
        return outside_words(f"the outputs are × {signed(2**study.off)}")
    best = "at best off by" if not study.off else "the outputs are off by"
    return outside_words(f"{best} {percent(study.outputs.change)}")
