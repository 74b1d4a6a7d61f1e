"""A place beside a fibre, in three views: matrices and outputs, a plane of weights, straight steps."""

from math import log10

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, focus_ring, headline
from neuroviz.kit.words import colored, percent
from neuroviz.single_layer.plane import draw_plane
from neuroviz.single_layer.walk import FiberStudy, StepCurve

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
    plane = Plot("2", (0.44, 0.7), _HEIGHT)
    steps = Plot("3", (0.775, 1.0), _HEIGHT)
    draw_plane(study, plane)
    _draw_steps(study, steps)
    return compose(_matrices(study), plane.view(), steps.view())


def _matrices(study: FiberStudy) -> View:
    """Left: what moves and what stays."""
    start, now, s = study.start, study.now, study.setting
    same = study.same_outputs
    frames = ("", "", "certified" if same else "")
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

    def tiles(when: str, matrices: tuple, above: tuple, below: tuple) -> tuple[Tile, ...]:
        names = [f"{name}, {when}" for name in ("A", "V", "φ(X)")]
        return tuple(map(Tile, names, matrices, limits, above, below, frames))

    names = ("<b>A</b>", "<b>V</b>", "<b>φ(X)</b>")
    first = tiles("start", (*start, study.outputs_start), names, ("", "", verdict))
    second = tiles("now", (*now, study.outputs_now), ("",) * 3, (*factors, ""))
    rows = [Row("○ start", first), Row(colored("focus", "● now"), second)]
    view = matrices_view(rows, (0.0, 0.39), _HEIGHT)
    said = headline(_outcome(study)) | {"align": "left"}
    return view._replace(annotations=[said, *view.annotations])


def _outcome(study: FiberStudy) -> str:
    if not study.same_outputs:
        return f"other weights: the outputs<br>moved by {percent(study.moved)}"
    if all(np.array_equal(a, b) for a, b in zip(study.start, study.now, strict=True)):
        return "the start: nothing has<br>moved yet"
    return "other weights,<br>the same outputs"


def _draw_steps(study: FiberStudy, plot: Plot) -> None:
    """Right: straight steps, and the order at which the function leaves."""
    along_role, size = "certified" if study.stays else "ink", theme.size("marker")
    curves = (("along", study.along, along_role, "circle"), ("off", study.aside, "focus", "square"))
    for name, curve, role, symbol in curves:
        seen = [(e, d) for e, d in zip(curve.steps, curve.distances, strict=True) if d > _DRAWN]
        x, y = [e for e, _ in seen], [d for _, d in seen]
        marker = {"symbol": symbol, "size": size - 2, "color": theme.color(role)}
        line = {"color": theme.color(role), "width": theme.size("line")}
        hover = "step %{x:.1e}: the function moves by %{y:.1e}"
        plot.points(f"straight steps {name}", x, y, marker, mode="lines+markers", line=line, hover=hover)
    off = abs(study.setting.off)
    here = float(np.interp(off, study.aside.steps, study.aside.distances))
    x, y = ([off], [here]) if off and here > _DRAWN else ([], [])
    ring = focus_ring("lightning") | {"size": 2 * size + 4}
    plot.points("the step of now", x, y, ring, hover="step %{x:.2g}: the function moves by %{y:.2g}")
    top = max(1.0, log10(2 * max([*study.along.distances, *study.aside.distances, 1.0])))
    plot.log_axis("x", -4, _LONGEST_STEP, "length of the step", step=2)
    plot.log_axis("y", -10, top, "the function moves by", step=2)
    # Room beside the first step, and below the smallest distance.
    plot.axis("x", -4.2, _LONGEST_STEP)
    plot.axis("y", _SMALLEST_DISTANCE, top)
    slopes = order_in_words(study.aside.slope), order_in_words(study.along.slope)
    found = f"{colored('focus', f'off: {slopes[0]}')}<br>{colored(along_role, f'along: {slopes[1]}')}"
    plot.headline(found, align="left")
    where = "along the fibre" if study.stays else "in the walk's direction"
    _beside(plot, "a step off", study.aside, "focus", above=True)
    _beside(plot, f"a straight step<br>{where}", study.along, along_role, above=False)


def _beside(plot: Plot, name: str, curve: StepCurve, role: str, above: bool) -> None:
    """The slope, beside the curve at the step of length 10⁻²; at the bottom where there is no curve."""
    middle = len(curve.steps) // 2
    if curve.slope is None or curve.distances[middle] <= _DRAWN:
        text, x, y = f"{name}:<br>0 at every step", -4.0, -10.0
        place = "left", "bottom", 0, 0
    else:
        text, x, y = f"slope {curve.slope:.2f}", log10(curve.steps[middle]), log10(curve.distances[middle])
        place = ("right", "bottom", -6, 4) if above else ("left", "top", 4, -6)
    where = dict(zip(("xanchor", "yanchor", "xshift", "yshift"), place, strict=True))
    plot.text(text, x, y, "note", role, **where, align="left")
