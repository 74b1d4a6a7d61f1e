"""A place beside a fibre: a plane of weights, the weights, outputs as bars, straight steps."""

from math import log10

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, focus_ring, headline
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import colored, numbered, percent, signed
from neuroviz.single_layer.plane import draw_plane
from neuroviz.single_layer.walk import ALONG, OFF, SHOWN, FiberStudy, StepCurve, local_of

_HEIGHT = (0.06, 0.9)  # two-line headlines stand above
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
    """The four views, as a scene."""
    plane = Plot("2", (0.02, 0.3), _HEIGHT)
    steps = Plot("3", (0.835, 1.0), _HEIGHT)
    bars = Plot("4", (0.615, 0.775), _HEIGHT)
    draw_plane(study, plane)
    _draw_steps(study, steps)
    _draw_outputs(study, bars)
    views = _matrices(study), plane.view(), steps.view(), bars.view()
    ranges = {"along": ALONG, "off": OFF, "input": SHOWN}
    place = {name: getattr(study.setting, name) for name in (*ranges, "negative", "swap")}
    local = local_of(study.setting, study.inputs)
    return as_scene(compose(*views, barmode="overlay"), "fibre", place, local, ranges)


def _matrices(study: FiberStudy) -> View:
    """The weights: what moves."""
    start, now, s = study.start, study.now, study.setting
    factors = ("", "")
    swapped = s.swap and s.preset == "rank-one"
    if s.preset != "zero" and s.walk == "rescale" and not s.off and not swapped:
        c = f"{'−' if s.negative else ''}{2**s.along:.2f}"
        factors = f"× {c}", f"÷ {c}"
    # Fixed by the start, so that the upper row keeps its colours while the lower one moves.
    limits = (
        1.5 * largest_entry(start.A),
        1.5 * (largest_entry(start.V) if start.V.any() else float(np.sqrt(1 / start.V.size))),
    )

    first = map(Tile, ("A, start", "V, start"), start, limits, ("<b>A</b>", "<b>V</b>"))
    second = map(Tile, ("A, now", "V, now"), now, limits, factors)
    rows = [Row("○ start", tuple(first)), Row(colored("focus", "● now"), tuple(second))]
    view = matrices_view(rows, (0.335, 0.595), _HEIGHT)
    return view._replace(annotations=[headline(_outcome(study)) | {"align": "left"}, *view.annotations])


def _outcome(study: FiberStudy) -> str:
    if not study.same_outputs:
        return f"other weights: the outputs<br>moved by {percent(study.moved)}"
    if all(np.array_equal(a, b) for a, b in zip(study.start, study.now, strict=True)):
        return "the start: nothing has<br>moved yet"
    return "other weights,<br>the same outputs"


def _draw_outputs(study: FiberStudy, plot: Plot) -> None:
    """What stays, or moves: the outputs of one input, token by token."""
    rows, tokens = study.outputs_start.shape
    most = 1.5 * max(float(np.abs(study.outputs_start).max()), study.unit)
    x = [token * (rows + 1) + row for token in range(tokens) for row in range(rows)]
    clear, width = "rgba(0,0,0,0)", 0.8
    now = {"color": theme.color("focus"), "line": {"width": 0}}
    start = {"color": clear, "line": {"width": 2, "color": theme.color("ink")}}
    for name, outputs, look in (("now", study.outputs_now, now), ("start", study.outputs_start, start)):
        y = outputs.T.ravel().tolist()
        plot.bars(f"φ(X), {name}", x, y, look, width=width, hover=f"{name}: %{{y:.3f}}")
        for at, high in zip(x, y, strict=True):
            if abs(high) > most:  # it goes on beyond the frame: an arrow, and how far
                text, end = (f"{signed(high)} ▶", "top") if high > 0 else (f"◀ {signed(high)}", "bottom")
                plot.text(text, at, np.clip(high, -most, most), "note", "ink", yanchor=end, textangle=-90)
    ends = -1.0, x[-1] + 1.0
    verdict = colored("focus", "≠ moved")
    if study.same_outputs:
        plot.region(ends, (-most, most), {"color": theme.color("certified"), "width": 3}, clear)
        verdict = colored("certified", "= same" if study.outputs_start.any() else "= same: all 0")
    plot.rule("y", 0, "axis", 1, "solid")
    middles = [token * (rows + 1) + (rows - 1) / 2 for token in range(tokens)]
    names = [numbered("x", token + 1) for token in range(tokens)]
    plot.bare_axis("x", *ends, tickvals=middles, ticktext=names)
    plot.bare_axis("y", -most, most)
    plot.headline(f"outputs φ(X)<br>{verdict}", align="left")


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
    top = log10(max([*study.along.distances, *study.aside.distances, 1.0])) + 1.6  # room for the words
    plot.log_axis("x", -4, _LONGEST_STEP, "", step=2, mirror=True)
    plot.log_axis("y", -10, top, "", step=2)
    title = {"size": "note", "role": "soft"}
    plot.text("the function moves by", -4.1, top, **title, xanchor="left", yanchor="top")
    middle = (_LONGEST_STEP - 4.2) / 2
    plot.text("length of the step", middle, _SMALLEST_DISTANCE, **title, yanchor="top", yshift=-22)
    # Room beside the first step, and below the smallest distance.
    plot.axis("x", -4.2, _LONGEST_STEP)
    plot.axis("y", _SMALLEST_DISTANCE, top)
    slopes = order_in_words(study.aside.slope), order_in_words(study.along.slope)
    found = f"{colored('focus', f'off: {slopes[0]}')}<br>{colored(along_role, f'along: {slopes[1]}')}"
    plot.headline(found, align="left", xshift=-36)  # over the numbers of the axis too: large words need it
    where = "along the fibre" if study.stays else "in the walk's direction"
    _beside(plot, "a step off", study.aside, "focus", above=True)
    _beside(plot, f"a straight step<br>{where}", study.along, along_role, above=False)


def _beside(plot: Plot, name: str, curve: StepCurve, role: str, above: bool) -> None:
    """The slope, beside the curve at the step of length 10⁻²; where there is none, in the free corner."""
    middle = len(curve.steps) // 2
    if curve.slope is None or curve.distances[middle] <= _DRAWN:
        text, x, y = f"{name}:<br>0 at every step", _LONGEST_STEP, _SMALLEST_DISTANCE
        place = "right", "bottom", -6, 4
    else:
        text, x, y = f"slope {curve.slope:.2f}", log10(curve.steps[middle]), log10(curve.distances[middle])
        place = ("right", "bottom", -6, 4) if above else ("left", "top", 4, -6)
    where = dict(zip(("xanchor", "yanchor", "xshift", "yshift"), place, strict=True))
    plot.text(text, x, y, "note", role, **where, align="left")
