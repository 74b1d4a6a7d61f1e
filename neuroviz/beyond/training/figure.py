"""Many runs of gradient flow in three views: loss, what is conserved, and where the runs end."""

from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from neuroviz.beyond.training.flow import BOUNDARY, SINGULAR, Attraction, Flow
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, label, power_of_ten

_LEFT, _RIGHT = (0.0, 0.45), (0.56, 1.0)
_UPPER, _LOWER = (0.57, 1.0), (0.0, 0.34)
_RUNS_DRAWN, _RUNS_COMPARED = 60, 8
_LOWEST_LOSS, _LOWEST_RATIO, _LOWEST_ANGLE = -8.0, -10.0, -6.0  # ends of the logarithmic axes
_ROOM_ABOVE = 3.3  # tens above 1 for three lines of words
_MET = 1e-6  # a smaller loss counts as the target reached
_ENDS = ("smooth", "singular", "boundary")
_DASH = {"smooth": "solid", "singular": "dash", "boundary": "dot"}
_MARK = {"smooth": "circle-open", "singular": "triangle-up", "boundary": "diamond"}
_GLYPH = {"smooth": "○", "singular": "▲", "boundary": "◆"}


@dataclass(frozen=True, eq=False)
class FlowStudy:
    """N runs towards one kind of target, and how they ended.

    Attributes:
        flow: the runs, seen at times that are equally spaced on a logarithmic axis.
        counts: the shares that end at singular and boundary points.
        target: in words, where the runs are drawn to.
        target_kind: of a target that the reader placed, where it lies; "" for random targets.
    """

    flow: Flow
    counts: Attraction
    target: str
    target_kind: str

    @property
    def drift(self) -> dict[str, float]:
        """By how much each conserved quantity moved at most, in any run, by name."""
        return {name: float(np.abs(path - path[0]).max()) for name, path in self.flow.conserved.items()}


def share_in_words(share: float, runs: int) -> str:
    """A share of runs with its standard error; where that is 0, the counts.

    >>> share_in_words(0.25, 100), share_in_words(0.0, 40)
    ('25 % ± 4 %', 'none of 40')
    """
    if share == 0:
        return f"none of {runs}"
    if share == 1:
        return f"all {runs}" if runs > 1 else "the run"
    return f"{100 * share:.2g} % ± {100 * np.sqrt(share * (1 - share) / runs):.1g} %"


def small(value: float, up: bool = True) -> str:
    """A small number with one digit, rounded up or down; 0 stays 0.

    >>> small(2.3e-6), small(0.13, up=False), small(0.0)
    ('3·10⁻⁶', '0.1', '0')
    """
    if value == 0:
        return "0"
    exponent = floor(log10(value))
    digit = (ceil if up else floor)(round(value / 10**exponent, 6))
    if digit == 10:
        digit, exponent = 1, exponent + 1
    return f"{digit * 10.0**exponent:g}" if exponent > -3 else f"{digit}·{power_of_ten(exponent)}"


def flow_parts(study: FlowStudy) -> Parts:
    """The three views."""
    return compose(_loss(study), _conserved(study), _places(study))


def _color(end: str) -> str:
    """Blue, a dark orange, and black or white: far apart in both modes, and the dash says it too."""
    if end == "singular":
        return theme.scale("diverging")[-1][1]
    return theme.color({"smooth": "layer 3", "boundary": "boundary"}[end])


def _said(end: str, text: str) -> str:
    return f'<span style="color:{_color(end)}">{text}</span>'


def _time_axis(study: FlowStudy, anchor: str, title: str) -> dict:
    times = study.flow.times
    tens = range(ceil(log10(times[1])), floor(log10(times[-1])) + 1)
    return {
        "type": "log",
        "anchor": anchor,
        "domain": _LEFT,
        "range": [log10(times[1]), log10(times[-1])],
        "tickvals": [10.0**n for n in tens],
        "ticktext": [f"{10.0**n:g}" for n in tens],
        "title": {"text": title},
        "fixedrange": True,
    }


# Upper left: loss against time.


def _loss(study: FlowStudy) -> View:
    flow, drawn = study.flow, min(_RUNS_DRAWN, study.counts.runs)
    ends = flow.ends[:drawn]
    traces = []
    for end in _ENDS:
        chosen = flow.loss[1:, :drawn][:, ends == end].T
        x, y = _lines(flow.times[1:], np.where(chosen > 0, chosen, np.nan))
        traces.append(
            {
                "name": f"loss of runs that end {_where(end)}",
                "x": x,
                "y": y,
                "mode": "lines",
                "line": {"color": _color(end), "width": 1.3, "dash": _DASH[end]},
                "hovertemplate": f"{_where(end)}: time %{{x:.3g}}, loss %{{y:.2g}}<extra></extra>",
            }
        )
    top = ceil(log10(max(float(flow.loss[1:].max()), 1e-3)) + 0.1)
    tens = list(range(int(_LOWEST_LOSS), top + 1, 2))
    axes = {
        "xaxis": _time_axis(study, "y", ""),
        "yaxis": {
            "type": "log",
            "anchor": "x",
            "domain": _UPPER,
            "range": [_LOWEST_LOSS, top],
            "tickvals": [10.0**n for n in tens],
            "ticktext": [power_of_ten(n) for n in tens],
            "title": {"text": "loss"},
            "fixedrange": True,
        },
    }
    return View(traces, axes, [headline(_loss_found(study)), _key(study, drawn)], [])


def _loss_found(study: FlowStudy) -> str:
    last = study.flow.loss[-1]
    met = int((last < _MET).sum())
    if met == len(last):
        return "every run reaches its target"
    if met == 0:
        return f"no run reaches its target: loss ≥ {small(float(last.min()), up=False)}"
    return f"{met} of {len(last)} runs reach their target"


def _key(study: FlowStudy, drawn: int) -> dict:
    """Which line is which, with the counts: at the bottom left, where no line comes early on."""
    found = study.flow.ends[:drawn].tolist()
    lines = [
        _said(end, f"{dash} {_where(end)}: {found.count(end)}")
        for end, dash in (("smooth", "──"), ("singular", "– –"), ("boundary", "· · ·"))
        if found.count(end)
    ]
    if drawn < study.counts.runs:
        lines.append(f"the first {drawn} of {study.counts.runs} runs")
    return _corner("<br>".join(lines), "", "left", "bottom")


def _where(end: str) -> str:
    return {"smooth": "smooth", "singular": "singular only", "boundary": "at the boundary"}[end]


def _lines(times: np.ndarray, paths: np.ndarray) -> tuple[list, list]:
    """Many paths, shape (N, S), as one line with gaps."""
    x, y = [], []
    for path in paths:
        x += [*(round(float(t), 6) for t in times), None]
        y += [*(None if np.isnan(v) else float(f"{v:.6g}") for v in path), None]
    return x, y


# Lower left: what is conserved.


def _conserved(study: FlowStudy) -> View:
    flow, drawn = study.flow, min(_RUNS_DRAWN, study.counts.runs)
    named = list(flow.conserved.items())
    scalar = next(path for _, path in named if path.ndim == 2)[1:, :drawn]
    matrix = next((path for _, path in named if path.ndim == 4), None)
    entries = np.zeros((0, len(flow.times) - 1))
    if matrix is not None:
        few = matrix[1:, : min(_RUNS_COMPARED, drawn)].reshape(len(flow.times) - 1, -1, 4)
        entries = np.concatenate([few[:, :, i].T for i in (0, 1, 3)])  # symmetric: three numbers
    moving = flow.A if flow.Q is None else flow.Q
    compared = np.square(moving[1:, : min(_RUNS_COMPARED, drawn)]).sum(axis=(-2, -1)).T
    first = "A" if flow.Q is None else "Q"
    traces = [
        _thin("not conserved", compared, flow, "ghost", "dot", f"‖{first}‖²"),
        _thin("conserved: entries of QQᵀ − KKᵀ", entries, flow, "soft", "dash", "QQᵀ − KKᵀ"),
        _thin("conserved", scalar.T, flow, "certified", "solid", f"‖{first}‖² − ‖V‖²"),
    ]
    values = np.concatenate([part.ravel() for part in (compared, entries, scalar)])
    low, high = float(values.min()), float(values.max())
    pad = 0.08 * max(high - low, 1e-3)
    axes = {
        "xaxis2": _time_axis(study, "y2", f"time   (dotted, for comparison: ‖{first}‖², which moves)"),
        "yaxis2": {
            "anchor": "x2",
            "domain": _LOWER,
            "range": [low - pad, high + pad],
            "nticks": 4,
            "fixedrange": True,
        },
    }
    return View(traces, axes, [headline(_drift_found(study), "2")], [])


def _thin(name: str, paths: np.ndarray, flow: Flow, role: str, dash: str, hover: str) -> dict:
    x, y = _lines(flow.times[1:], paths)
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": {"color": theme.color(role), "width": 1.3, "dash": dash},
        "hovertemplate": f"{hover} = %{{y:.4f}}<extra></extra>",
    }


def _drift_found(study: FlowStudy) -> str:
    names = ", ".join(reversed(study.drift))
    conserved = " is conserved" if len(study.drift) == 1 else ""
    return f"{names}{conserved}: drift ≤ {small(max(study.drift.values()))}"


# Right: where the runs end.


def _places(study: FlowStudy) -> View:
    flow, marker = study.flow, theme.size("marker")
    x = np.log10(np.maximum(flow.angle, 10.0**_LOWEST_ANGLE))
    y = np.log10(np.maximum(flow.ratio, 10.0**_LOWEST_RATIO))
    ends = flow.ends
    traces = [
        {
            "name": f"ends: {_where(end)}",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": x[ends == end].round(4).tolist(),
            "y": y[ends == end].round(4).tolist(),
            "customdata": [
                [f"{r:.1e}", f"{s:.1e}"]
                for r, s in zip(flow.ratio[ends == end], flow.angle[ends == end], strict=True)
            ],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": _MARK[end],
                "size": marker + (1 if end == "smooth" else 2),
                "color": _color(end),
                "opacity": 0.8,
                "line": {"width": 1.6, "color": _color(end)},
            },
            "hovertemplate": f"{_where(end)}: σ₂/σ₁ = %{{customdata[0]}}, "
            "sine of the angle %{customdata[1]}<extra></extra>",
        }
        for end in _ENDS
    ]
    axes = {
        "xaxis3": _log_axis(
            "y3", _RIGHT, _LOWEST_ANGLE, 2, "sine of the angle between forms of keys and values"
        ),
        "yaxis3": _log_axis("x3", (0.0, 1.0), _LOWEST_RATIO, 2, "σ₂/σ₁ of A", _ROOM_ABOVE),
    }
    return View(traces, axes, _place_words(study, ends.tolist()), _regions())


def _log_axis(
    anchor: str, domain: tuple[float, float], lowest: float, step: int, title: str, above: float = 0.35
) -> dict:
    """An axis of logarithms, drawn by hand: what lies below the lowest tick is drawn on it, and says so."""
    tens = list(range(int(lowest), 1, step))
    return {
        "anchor": anchor,
        "domain": domain,
        "range": [lowest - 0.35, above],
        "tickvals": tens,
        "ticktext": [("≤ " if n == lowest else "") + power_of_ten(n) for n in tens],
        "title": {"text": title},
        "fixedrange": True,
    }


def _regions() -> list[dict]:
    """Singular: below a line; boundary: its left part."""
    low, left = _LOWEST_RATIO - 0.35, _LOWEST_ANGLE - 0.35
    on = {"type": "rect", "xref": "x3", "yref": "y3", "layer": "below"}
    top, right = log10(SINGULAR), log10(BOUNDARY)
    return [
        on | {"x0": left, "x1": 0.35, "y0": low, "y1": top, "line": {"width": 0}}
        | {"fillcolor": theme.color("wash")},
        on | {"x0": left, "x1": right, "y0": low, "y1": top, "fillcolor": theme.color("wash")}
        | {"line": {"width": 2, "color": theme.color("boundary"), "dash": "dot"}},
    ]  # fmt: skip


def _place_words(study: FlowStudy, ends: list[str]) -> list[dict]:
    counts = study.counts
    # Above 1, where no ratio is: within, wherever words stood, runs would end behind them.
    said = {
        "smooth": "smooth: rank A = 2",
        "singular": "singular only: rank A = 1",
        "boundary": "boundary: also keys and values share a form",
    }
    lines = [_said(end, f"{_GLYPH[end]} {ends.count(end)} {text}") for end, text in said.items()]
    one = counts.runs == 1 and counts.singular == 1
    found = f"{share_in_words(counts.singular, counts.runs)} end{'s' * one} singular"
    return [
        headline(found, "3"),
        _corner("<br>".join(lines), "3", "left", "top"),
    ]


def _corner(text: str, axis: str, xanchor: str, yanchor: str) -> dict:
    """A few words in a corner of a subplot, on a ground that lets the lines behind them rest."""
    return label(
        text,
        0 if xanchor == "left" else 1,
        0 if yanchor == "bottom" else 1,
        axis,
        xref=f"x{axis} domain",
        yref=f"y{axis} domain",
        xanchor=xanchor,
        yanchor=yanchor,
        align=xanchor,
        xshift=6 if xanchor == "left" else -6,
        yshift=4 if yanchor == "bottom" else -2,
        bgcolor=theme.color("ground"),
        opacity=0.9,
        font={"size": theme.size("note")},
    )
