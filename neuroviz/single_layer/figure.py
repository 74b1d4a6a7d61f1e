"""A place beside a fibre, in three views: matrices and outputs, a plane of weights, straight steps."""

from math import log10

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, View, compose, label, power_of_ten
from neuroviz.single_layer.plane import colored, finding, plane_view
from neuroviz.single_layer.walk import FiberStudy, StepCurve

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.39), (0.44, 0.7), (0.775, 1.0)
_HEIGHT = (0.0, 0.9)  # above it the headlines, of two lines
_LONGEST_STEP, _SMALLEST_DISTANCE = 0.2, -10.4  # ends of the logarithmic axes
_DRAWN = 1e-10  # smaller distances are rounding, and have no place on a logarithmic axis


def order_in_words(slope: float | None) -> str:
    """What a slope in the log–log picture means.

    >>> order_in_words(2.001), order_in_words(1.4), order_in_words(None)
    ('second order', 'slope 1.4', 'nothing moves')
    """
    if slope is None:
        return "nothing moves"
    words = {1: "first order", 2: "second order", 3: "third order"}
    whole = round(slope)
    return words[whole] if abs(slope - whole) < 0.1 and whole in words else f"slope {slope:.1f}"


def fiber_parts(study: FiberStudy) -> Parts:
    """The three views."""
    return compose(_matrices(study), plane_view(study, _MIDDLE, _HEIGHT), _steps(study))


# Left: what moves and what stays.


def _matrices(study: FiberStudy) -> View:
    start, now, s = study.start, study.now, study.setting
    same = study.same_outputs
    frame = "certified" if same else ""
    verdict = colored("certified", "<b>= same</b>") if same else colored("focus", "≠ moved")
    factors = ("", "")
    swapped = s.swap and s.preset == "rank-one"
    if s.preset != "zero" and s.walk == "rescale" and not s.off and not swapped:
        c = f"{'−' if s.negative else ''}{2**s.along:.2f}"
        factors = f"× {c}", f"÷ {c}"
    # Fixed by the start, so that the upper row keeps its colours while the lower one moves.
    limits = (
        1.5 * largest_entry(start.A),
        1.5 * (largest_entry(start.V) if start.V.any() else float(np.sqrt(1 / start.V.size))),
        1.2 * max(float(np.abs(study.outputs_start).max()), study.unit),
    )
    rows = [
        Row(
            "○ start",
            (
                Tile("A, start", start.A, limits[0], "<b>A</b>"),
                Tile("V, start", start.V, limits[1], "<b>V</b>"),
                Tile("φ(X), start", study.outputs_start, limits[2], "<b>φ(X)</b>", verdict, frame),
            ),
        ),
        Row(
            colored("focus", "● now"),
            (
                Tile("A, now", now.A, limits[0], "", factors[0]),
                Tile("V, now", now.V, limits[1], "", factors[1]),
                Tile("φ(X), now", study.outputs_now, limits[2], "", "", frame),
            ),
        ),
    ]
    view = matrices_view(rows, _LEFT, _HEIGHT)
    return view._replace(annotations=[finding(_outcome(study)), *view.annotations])


def _outcome(study: FiberStudy) -> str:
    if study.same_outputs:
        if _nothing_moved(study):
            return "the start: nothing has<br>moved yet"
        return "other weights,<br>the same outputs"
    return f"other weights: the outputs<br>moved by {percent(study.moved)}"


def _nothing_moved(study: FiberStudy) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(study.start, study.now, strict=True))


def percent(distance: float) -> str:
    """A distance in function space, in percent of the unit.

    >>> percent(0.584), percent(0.0123)
    ('58 %', '1.2 %')
    """
    return f"{100 * distance:.0f} %" if distance >= 0.0995 else f"{100 * distance:.2g} %"


# Right: straight steps.


def _steps(study: FiberStudy) -> View:
    stays, off = study.stays, abs(study.setting.off)
    along_role = "certified" if stays else "ink"
    ring = [] if not off else [(off, float(np.interp(off, study.aside.steps, study.aside.distances)))]
    traces = [
        _curve("straight steps along", study.along, along_role, "circle"),
        _curve("straight steps off", study.aside, "focus", "square"),
        {
            "name": "the step of now",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": [at[0] for at in ring if at[1] > _DRAWN],
            "y": [at[1] for at in ring if at[1] > _DRAWN],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": 2 * theme.size("marker") + 4,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hovertemplate": "step %{x:.2g}: the function moves by %{y:.2g}<extra></extra>",
        },
    ]
    top = max(1.0, log10(2 * max([*study.along.distances, *study.aside.distances, 1.0])))
    tens = list(range(-10, 1, 2))
    axes = {
        "xaxis3": {
            "type": "log",
            "anchor": "y3",
            "domain": _RIGHT,
            "range": [-4.2, _LONGEST_STEP],
            "tickvals": [1e-4, 1e-2, 1.0],
            "ticktext": [power_of_ten(n) for n in (-4, -2, 0)],
            "title": {"text": "length of the step"},
            "fixedrange": True,
        },
        "yaxis3": {
            "type": "log",
            "anchor": "x3",
            "domain": _HEIGHT,
            "range": [_SMALLEST_DISTANCE, top],
            "tickvals": [10.0**n for n in tens],
            "ticktext": [power_of_ten(n) for n in tens],
            "title": {"text": "the function moves by"},
            "fixedrange": True,
        },
    }
    return View(traces, axes, _step_texts(study, along_role), [])


def _curve(name: str, curve: StepCurve, role: str, symbol: str) -> dict:
    seen = [(e, d) for e, d in zip(curve.steps, curve.distances, strict=True) if d > _DRAWN]
    return {
        "name": name,
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [e for e, _ in seen],
        "y": [d for _, d in seen],
        "mode": "lines+markers",
        "line": {"color": theme.color(role), "width": theme.size("line")},
        "marker": {"symbol": symbol, "size": theme.size("marker") - 2, "color": theme.color(role)},
        "hovertemplate": "step %{x:.1e}: the function moves by %{y:.1e}<extra></extra>",
    }


def _step_texts(study: FiberStudy, along_role: str) -> list[dict]:
    where = "along the fibre" if study.stays else "in the walk's direction"
    off, along = order_in_words(study.aside.slope), order_in_words(study.along.slope)
    found = f"{colored('focus', f'off: {off}')}<br>{colored(along_role, f'along: {along}')}"
    return [
        finding(found, "3"),
        _beside("a step off", study.aside, "focus", above=True),
        _beside(f"a straight step<br>{where}", study.along, along_role, above=False),
    ]


def _beside(name: str, curve: StepCurve, role: str, above: bool) -> dict:
    """The slope, beside the curve at the step of length 10⁻²; at the bottom where there is no curve."""
    middle = len(curve.steps) // 2
    if curve.slope is None or curve.distances[middle] <= _DRAWN:
        text, x, y, left, low, shift = f"{name}:<br>0 at every step", -4.0, -10.0, True, True, (0, 0)
    else:
        text = f"slope {curve.slope:.2f}"
        x, y = log10(curve.steps[middle]), log10(curve.distances[middle])
        left, low, shift = not above, above, (-6, 4) if above else (4, -6)
    return label(
        colored(role, text),
        x,
        y,
        "3",
        xanchor="left" if left else "right",
        yanchor="bottom" if low else "top",
        xshift=shift[0],
        yshift=shift[1],
        align="left",
        font={"size": theme.size("note")},
    )
