"""How much networks learn by heart: against the dimension, against the parameters, and three runs."""

from math import log10

from neuroviz.beyond.memorisation.memorisation import LEARNT, Curve
from neuroviz.beyond.memorisation.study import STEPS, MemorisationStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import (
    Parts,
    View,
    compose,
    headline,
    kind_dash,
    kind_mark,
    label,
    power_of_ten,
)

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.33), (0.385, 0.65), (0.745, 1.0)
_RANGES = {"D": (0.56, 1.24), "P": (0.05, 1.2)}
_LOWEST = 1e-10  # less is drawn here


def memorisation_parts(study: MemorisationStudy) -> Parts:
    """The three views."""
    return compose(_shares(study, "D", "", _LEFT), _shares(study, "P", "2", _MIDDLE), _runs(study))


def _per(curve: Curve, unit: str) -> int:
    return curve.dimension if unit == "D" else curve.arch.num_parameters


# Left and middle: the experiment.


def _shares(study: MemorisationStudy, unit: str, axis: str, domain: tuple[float, float]) -> View:
    on = {"xaxis": f"x{axis}", "yaxis": f"y{axis}"}
    chosen, line = study.chosen, theme.size("line")
    traces = []
    for attention in ("lightning", "softmax"):
        x, y, names = [], [], []
        for curve in study.curves:
            if curve.arch.attention == attention and curve is not chosen:
                x += [*(trial.count / _per(curve, unit) for trial in curve.trials), None]
                y += [*(trial.share for trial in curve.trials), None]
                names += [*(_name(curve, trial.count) for trial in curve.trials), ""]
        traces.append(
            {"name": f"{attention}, against N/{unit}", **on, "x": x, "y": y, "text": names, "mode": "lines"}
            | {"line": {"color": theme.color("soft"), "width": 0.6 * line, "dash": kind_dash(attention)}}
            | {"hovertemplate": "%{text}: %{y:.0%} learnt<extra></extra>"}
        )
    attention = chosen.arch.attention
    traces.append(
        {"name": f"chosen, against N/{unit}", **on, "mode": "lines+markers", "cliponaxis": False}
        | {"x": [trial.count / _per(chosen, unit) for trial in chosen.trials]}
        | {"y": [trial.share for trial in chosen.trials]}
        | {"text": [_name(chosen, trial.count) for trial in chosen.trials]}
        | {"line": {"color": theme.color("focus"), "width": 1.2 * line, "dash": kind_dash(attention)}}
        | {"marker": {"color": theme.color("focus"), "size": theme.size("marker")}}
        | {"hovertemplate": "%{text}: %{y:.0%} learnt<extra></extra>"}
    )
    traces[-1]["marker"]["symbol"] = kind_mark(attention)
    axes = {
        f"xaxis{axis}": {
            "anchor": f"y{axis}",
            "domain": domain,
            "range": list(_RANGES[unit]),
            "tickvals": [0.6, 0.8, 1.0, 1.2] if unit == "D" else [0.2, 0.4, 0.6, 0.8, 1.0],
            "title": {"text": "N / dimension D   (dashed: softmax)" if unit == "D" else "N / parameters P"},
            "fixedrange": True,
        },
        f"yaxis{axis}": {
            "anchor": f"x{axis}",
            "domain": (0.0, 1.0),
            "range": [-0.04, 1.12],
            "tickvals": [0, 0.5, 1],
            "ticktext": ["0", "½", "all"] if unit == "D" else ["", "", ""],
            "title": {"text": "tasks learnt" if unit == "D" else ""},
            "fixedrange": True,
        },
    }
    words = [headline(_found(study, unit), axis), *_marks(study, unit, axis)]
    lines = [
        _upright(1.0, axis, "certified" if unit == "D" else "ghost", "dot"),
        _upright(study.count / _per(chosen, unit), axis, "focus", "solid"),  # the reader's N
    ]
    return View(traces, axes, words, lines)


def _name(curve: Curve, count: int) -> str:
    return f"{curve.arch}, D = {curve.dimension}, P = {curve.arch.num_parameters}, N = {count}"


def _found(study: MemorisationStudy, unit: str) -> str:
    if unit == "P" and study.setting.targets == "teacher":
        return "and neither is P"
    if unit == "P":
        low, high = study.span(parameters=True)
        return f"over N/P: {'≤ ' * study.fails}{low:.2g} to {high:.2g}"
    if study.span() == (1.0, 1.0) and not study.fails:
        return f"all {len(study.curves)} stop at N = D"
    if study.beyond == 0:
        return "none learnt beyond N = D"
    return "D is no limit where a solution exists"


def _marks(study: MemorisationStudy, unit: str, axis: str) -> list[dict]:
    """What the upright line is, and where the chosen network has it."""
    chosen, note = study.chosen, theme.size("note")
    role = "certified" if unit == "D" else "soft"
    at = {"yref": f"y{axis} domain", "yanchor": "top", "font": {"size": note}}
    at |= {"bgcolor": theme.color("ground"), "borderpad": 0}  # no line through the words
    name = f'<span style="color:{theme.color(role)}">N = {unit}</span>'
    words = [label(name, 1.0, 1.0, axis, xanchor="left", xshift=4, **at)]
    if unit == "P":
        D, P = chosen.dimension, chosen.arch.num_parameters
        text = f'<span style="color:{theme.color("focus")}"><b>D = {D}, P = {P}</b></span>'
        words.append(label(text, D / P, 1.0, axis, xanchor="left" if D / P < 0.55 else "right", **at))
    return words


def _upright(x: float, axis: str, role: str, dash: str) -> dict:
    return {
        "type": "line",
        "xref": f"x{axis}",
        "yref": f"y{axis} domain",
        "x0": x,
        "x1": x,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.color(role), "width": 1.6, "dash": dash},
    }


# Right: the reader's own runs.


def _runs(study: MemorisationStudy) -> View:
    attention, color = study.setting.arch.attention, theme.color("focus")
    traces = []
    for number, run in enumerate(study.runs, start=1):
        traces.append(
            {"name": f"run {number}", "xaxis": "x3", "yaxis": "y3", "mode": "lines"}
            | {"x": list(range(len(run))), "y": [max(miss, _LOWEST) for miss in run]}
            | {"line": {"color": color, "width": theme.size("line"), "dash": kind_dash(attention)}}
            | {"hovertemplate": "step %{x}: %{y:.1e} is missing<extra></extra>"}
        )
    traces.append(
        {"name": "where the runs end", "xaxis": "x3", "yaxis": "y3", "mode": "markers", "cliponaxis": False}
        | {"x": [len(run) - 1 for run in study.runs], "y": [max(run[-1], _LOWEST) for run in study.runs]}
        | {"hovertemplate": "%{y:.1e} is missing at the end<extra></extra>"}
        | {
            "marker": {
                "symbol": [
                    kind_mark(attention) + ("" if run[-1] < LEARNT else "-open") for run in study.runs
                ],
                "size": theme.size("marker") + 2,
                "color": color,
                "line": {"width": 2, "color": color},
            }
        }
    )
    tens = [-10, -8, -6, -4, -2, 0]
    axes = {
        "xaxis3": {
            "anchor": "y3",
            "domain": _RIGHT,
            "range": [-0.03 * STEPS, 1.05 * STEPS],
            "tickvals": [0, STEPS // 2, STEPS],
            "title": {"text": "step of Levenberg–Marquardt"},
            "fixedrange": True,
        },
        "yaxis3": {
            "type": "log",
            "anchor": "x3",
            "domain": (0.0, 1.0),
            "range": [-10.3, 0.6],
            "tickvals": [10.0**n for n in tens],
            "ticktext": [power_of_ten(n) for n in tens],
            "title": {"text": "part that is missing"},
            "fixedrange": True,
        },
    }
    count, D = study.count, study.dimension.value
    sign = "<" if count < D else ">" if count > D else "="
    words = [
        headline(f"N = {count} {sign} D: {study.learnt} of 3 learnt", "3"),
        label(
            "below: learnt", STEPS, log10(LEARNT), "3", xanchor="right", yanchor="top",
            font={"size": theme.size("note")},
        ),
    ]  # fmt: skip
    level = {"type": "line", "xref": "x3 domain", "yref": "y3", "x0": 0, "x1": 1, "y0": LEARNT, "y1": LEARNT}
    return View(traces, axes, words, [level | {"line": {"color": theme.color("axis"), "width": 1.4}}])
