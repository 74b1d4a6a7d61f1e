"""A walk along a fibre: the gradient on it, two descents from it, and what two hundred networks say."""

from math import floor, inf, log10

from neuroviz.beyond.teleport.comparison import CHECKPOINTS, Count
from neuroviz.beyond.teleport.study import FARTHEST, TeleportStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, label, power_of_ten
from neuroviz.kit.words import small

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.32), (0.405, 0.68), (0.745, 1.0)
_UPPER, _LOWER = (0.38, 1.0), (0.0, 0.16)
_DASH = {"minimum": "solid", "twice": "dash", "four times": "dot"}
_ROLE = {"minimum": "certified", "twice": "soft", "four times": "ink"}
_LABEL = {"minimum": "shortest ∇L", "twice": "∇L × 2", "four times": "∇L × 4"}
_EARLY = 10  # steps
_HIGHEST = 4.0  # a loss so many powers of ten above the first one leaves the picture


def teleport_parts(study: TeleportStudy) -> Parts:
    """The views."""
    return compose(_gradients(study), _losses(study), _descents(study), _counted(study))


# Upper left: the length of the gradient along the fibre.


def _gradients(study: TeleportStudy) -> View:
    s, width, marker = study.setting.place, theme.size("line"), theme.size("marker")
    marks = [
        ("start", 0.0, "ink", "circle-open", study.gradient_at(0.0)),
        ("shortest gradient, by the formula", study.least, "certified", "triangle-up-open", None),
        ("shortest weights", study.balanced, "soft", "diamond-open", None),
        ("here", s, "focus", "circle", study.gradient),
    ]
    traces = [
        {"name": "length of the gradient", "x": list(study.places), "y": list(study.gradients)}
        | {"mode": "lines", "line": {"color": theme.color("ink"), "width": width}}
        | {"hovertemplate": "s = %{x:.2f}: ‖∇L‖ = %{y:.3g}<extra></extra>"}
    ]
    for name, place, role, symbol, height in marks:
        seen = abs(place) <= FARTHEST
        traces.append(
            {"name": name, "x": [place] if seen else [], "mode": "markers", "cliponaxis": False}
            | {"y": [study.gradient_at(place) if height is None else height] if seen else []}
            | {"hovertemplate": f"{name}: s = %{{x:.2f}}, ‖∇L‖ = %{{y:.3g}}<extra></extra>"}
            | {
                "marker": {
                    "symbol": symbol,
                    "size": marker + (6 if name == "here" else 4),
                    "color": theme.color(role),
                    "line": {"width": 2, "color": theme.color(role)},
                }
            }
        )
    low, high = log10(min(study.gradients)), log10(max(study.gradients))
    room = 0.14 * (high - low)
    axes = {
        "xaxis": _walk_axis("y", ""),
        "yaxis": _log_axis("x", _UPPER, low - 1.8 * room, high + room, "length of ∇L"),
    }
    times = study.gradient / study.gradient_at(0.0)
    words = [headline(f"gradient × {times:.2g} on the same fibre"), *_places(study)]
    return View(traces, axes, words, [])


def _places(study: TeleportStudy) -> list[dict]:
    """What △ and ◇ are, below the curve; where they are close, on either side of it."""
    left = "right" if study.least <= study.balanced else "left"
    words = []
    for name, place, role, side in (
        ("△ shortest ∇L", study.least, "certified", left),
        ("◇ shortest θ", study.balanced, "soft", "left" if left == "right" else "right"),
    ):
        seen = abs(place) <= FARTHEST
        text = f'<span style="color:{theme.color(role)}">{name}</span>' if seen else ""
        at = {"xanchor": side, "yanchor": "bottom", "xshift": 4 if side == "left" else -4}
        words.append(
            label(
                text, place if seen else 0.0, 0.01, yref="y domain", **at, font={"size": theme.size("note")}
            )
        )
    return words


def _walk_axis(anchor: str, title: str) -> dict:
    return {
        "anchor": anchor,
        "domain": _LEFT,
        "range": [-1.04 * FARTHEST, 1.04 * FARTHEST],
        "tickvals": [-2, -1, 0, 1, 2],
        "title": {"text": title},
        "fixedrange": True,
    }


def _log_axis(anchor: str, domain: tuple[float, float], low: float, high: float, title: str) -> dict:
    """A logarithmic axis, with ticks at 1, 2, 5 where few powers of ten are in sight."""
    tens = range(floor(low), floor(high) + 1)
    steps = (1, 2, 5) if high - low < 1.5 else (1, 3) if high - low < 3 else (1,)
    every = 1 if high - low < 7 else 2 if high - low < 14 else 4
    values = [(step, n) for n in tens if n % every == 0 for step in steps if low <= log10(step) + n <= high]
    return {
        "type": "log",
        "anchor": anchor,
        "domain": domain,
        "range": [low, high],
        "tickvals": [step * 10.0**n for step, n in values],
        "ticktext": [f"{step * 10.0**n:g}" if -3 < n < 5 else power_of_ten(n) for step, n in values],
        "title": {"text": title},
        "fixedrange": True,
    }


# Lower left: the loss along the fibre.


def _losses(study: TeleportStudy) -> View:
    traces = [
        {"name": "loss along the fibre", "xaxis": "x2", "yaxis": "y2", "x": list(study.places)}
        | {"y": list(study.losses), "mode": "lines"}
        | {"line": {"color": theme.color("ink"), "width": theme.size("line")}}
        | {"hovertemplate": "s = %{x:.2f}: L = %{y:.12g}<extra></extra>"},
        {"name": "loss here", "xaxis": "x2", "yaxis": "y2", "x": [study.setting.place], "y": [study.loss]}
        | {"mode": "markers", "marker": {"color": theme.color("focus"), "size": theme.size("marker") + 4}}
        | {"hovertemplate": "L = %{y:.12g}<extra></extra>"},
    ]
    axes = {
        "xaxis2": _walk_axis("y2", "walk s along the fibre"),
        "yaxis2": {
            "anchor": "x2",
            "domain": _LOWER,
            "range": [0, 2 * study.loss],
            "tickvals": [0, study.loss],
            "ticktext": ["0", f"{study.loss:.3g}"],
            "title": {"text": "L"},
            "fixedrange": True,
        },
    }
    found = f"loss: the same to {small(study.drift)}" if study.drift else "loss: the same to the last bit"
    return View(traces, axes, [headline(found, "2")], [])


# Middle: two descents.


def _descents(study: TeleportStudy) -> View:
    first = study.from_start[0]
    ceiling = first * 10**_HIGHEST
    traces, ends = [], []
    for name, run, role, dash in (
        ("from the start", study.from_start, "ink", "dash"),
        ("from here", study.from_here, "focus", "solid"),
    ):
        kept = [loss for loss in run if loss <= ceiling]
        lost = len(kept) < len(run)
        kept = run[: next((i for i, loss in enumerate(run) if not loss <= ceiling), len(run))]
        shown = [*kept, ceiling] if lost else list(kept)
        traces.append(
            {"name": name, "xaxis": "x3", "yaxis": "y3", "x": list(range(len(shown))), "y": shown}
            | {"mode": "lines"}
            | {"line": {"color": theme.color(role), "width": 1.2 * theme.size("line"), "dash": dash}}
            | {"hovertemplate": f"{name}: step %{{x}}, L = %{{y:.3g}}<extra></extra>"}
        )
        ends.append((lost, shown))
    seen = [loss for _, shown in ends for loss in shown if loss > 0]
    low, high = log10(min(seen)), log10(max(seen))
    room = 0.06 * max(high - low, 0.3)
    axes = {
        "xaxis3": {
            "anchor": "y3",
            "domain": _MIDDLE,
            "range": [0, study.setting.steps],
            "nticks": 5,
            "title": {"text": f"step, at rate {_rate(study.setting.rate)}"},
            "fixedrange": True,
        },
        "yaxis3": _log_axis("x3", (0.0, 1.0), low - room, high + 3 * room, "loss L"),
    }
    legend = f'– – from the start<br><span style="color:{theme.color("focus")}"><b>—</b> from here</span>'
    words = [
        headline(_ahead(study), "3"),
        label(
            legend, 0.98, 0.99, "3", xref="x3 domain", yref="y3 domain", xanchor="right", yanchor="top",
            align="left", bgcolor=theme.color("ground"), opacity=0.9, font={"size": theme.size("note")},
        ),
    ]  # fmt: skip
    return View(traces, axes, words, [])


def _rate(k: int) -> str:
    return "2" + power_of_ten(k).removeprefix("10")


def _ahead(study: TeleportStudy) -> str:
    """Who is ahead at the end, in words."""
    start, here = study.from_start[-1], study.from_here[-1]
    if start == here == inf:
        return "both descents are lost"
    if here == inf:
        return "from here it is lost"
    if start == inf:
        return "only from here it descends"
    if abs(here / start - 1) < 0.01:
        early = min(_EARLY, len(study.from_here) - 1)
        first = study.from_here[early] / study.from_start[early]
        return "both are alike" if 0.99 < first < 1.01 else f"{_sooner(first)} at first, then alike"
    return f"from here: loss × {here / start:.2g}"


def _sooner(ratio: float) -> str:
    return "faster" if ratio < 1 else "slower"


# Right: what was counted.


def _counted(study: TeleportStudy) -> View:
    comparison, rule = study.comparison, study.setting.rule
    traces, words = [], []
    counts = {count.destination: count for count in comparison.of(rule)}
    for destination, dash in _DASH.items():
        count = counts[destination]
        traces.append(
            {"name": f"ahead: {destination}", "xaxis": "x4", "yaxis": "y4", "x": list(CHECKPOINTS)}
            | {"y": [share(count, i) for i in range(len(CHECKPOINTS))], "mode": "lines+markers"}
            | {"cliponaxis": False, "marker": {"size": theme.size("marker") - 1}}
            | {"line": {"color": theme.color(_ROLE[destination]), "width": theme.size("line"), "dash": dash}}
            | {
                "customdata": [
                    [up, down, lost]
                    for up, down, lost in zip(count.ahead, count.behind, count.lost, strict=True)
                ]
            }
            | {"hovertemplate": "step %{x}: %{customdata[0]} ahead, %{customdata[1]} behind, "
               "%{customdata[2]} of these lost<extra></extra>"}
        )  # fmt: skip
    names = [
        f'<span style="color:{theme.color(_ROLE[name])}">{line} {_LABEL[name]}</span>'
        for name, line in (("minimum", "——"), ("twice", "– – –"), ("four times", "· · ·"))
    ]
    axes = {
        "xaxis4": {
            "type": "log",
            "anchor": "y4",
            "domain": _RIGHT,
            "range": [-0.08, log10(CHECKPOINTS[-1]) + 0.08],
            "tickvals": list(CHECKPOINTS),
            "ticktext": [str(step) for step in CHECKPOINTS],
            "title": {"text": "after so many steps"},
            "fixedrange": True,
        },
        "yaxis4": {
            "anchor": "x4",
            "domain": (0.0, 0.78),
            "range": [-0.03, 1.03],
            "tickvals": [0, 0.5, 1],
            "ticktext": ["0", "½", "1"],
            "title": {"text": "ahead, of those that differ"},
            "fixedrange": True,
        },
    }
    words = [
        headline(f"share of {comparison.seeds} ahead", "4"),
        label(
            "<br>".join(["jump first, to:", *names]), 0, 1, "4", xref="x4 domain", yref="paper",
            xanchor="left", yanchor="top", align="left", font={"size": theme.size("note")},
        ),
    ]  # fmt: skip
    words[0] |= {"yref": "paper", "y": 1}
    half = {"type": "line", "xref": "x4 domain", "yref": "y4", "x0": 0, "x1": 1, "y0": 0.5, "y1": 0.5}
    return View(traces, axes, words, [half | {"line": {"color": theme.color("axis"), "width": 1.2}}])


def share(count: Count, checkpoint: int) -> float:
    """The networks that are ahead after the jump, of those where it makes a difference; ½ if there are none.

    >>> share(Count("twice", "same", (30,), (10,), (0,), (0,), (0.9,)), 0)
    0.75
    """
    ahead, behind = count.ahead[checkpoint], count.behind[checkpoint]
    return ahead / (ahead + behind) if ahead + behind else 0.5
