"""How each virtual weight is rescaled, what L must answer, and whether the outputs move (Eq. 13)."""

from dataclasses import dataclass
from math import log2

from neuroviz.deep.virtual_figure import MAX_LAYERS, Moved
from neuroviz.engine.architecture import Architecture
from neuroviz.kit import theme
from neuroviz.kit.matrices import largest_entry
from neuroviz.kit.plot import Parts, View, compose, headline, label, outside_words
from neuroviz.kit.words import colored, numbered, percent, signed


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


_LEFT, _RIGHT = (0.0, 0.6), (0.69, 1.0)
_HIGH = (0.0, 0.92)  # above it the headlines
_HALF = 0.36  # half the width of a bar


def rescaling_parts(study: RescalingStudy) -> Parts:
    """Factors and outputs."""
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
        "○ start   " + colored("focus", "● now"),
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
        return colored("certified", "the function has not changed")
    if study.is_symmetry:
        return outside_words(f"the outputs are × {signed(2**study.off)}")
    best = "at best off by" if not study.off else "the outputs are off by"
    return outside_words(f"{best} {percent(study.outputs.change)}")
