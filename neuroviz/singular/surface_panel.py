"""A place rather than a picture: Figure 1 of the paper as a surface with a point that moves on it."""

from dataclasses import dataclass
from math import cos, sin

import ipywidgets as widgets
import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.singular.curves import Piece, Strip
from neuroviz.singular.forms import discriminant
from neuroviz.singular.projective_line import KIND_WORDS, SurfacePoint, root_text
from neuroviz.singular.slice_panel import (
    arrange_slice,
    chart_of,
    coordinates,
    follow_presets,
    read_slice,
    slice_controls,
    slice_name,
)
from neuroviz.singular.space import Chart, in_drawing
from neuroviz.singular.surface import Slice
from neuroviz.singular.surface_figure import SurfaceStudy, surface_parts

_SNAP = 0.02  # of a ruling: nearer to a singular point, the slider stops on it
_STOP = 0.03  # the same for pinch points, as drawn
_WHERE, _ALONG = 0.005, 1 / 64  # steps of the two sliders: a slider that crosses 0 has to hit it exactly


@dataclass(frozen=True)
class SurfaceRequest:
    """What the controls ask for.

    Attributes:
        slice: which slice.
        on_curve: whether the point moves along the singular curve, or on the surface.
        where: from 0 to 1: along the curve, or over all rulings.
        along: from −1 to 1: along the ruling.
    """

    slice: Slice
    on_curve: bool
    where: float
    along: float


def study_surface(request: SurfaceRequest) -> SurfaceStudy:
    """The slice, and everything that is true at the point."""
    chart, slice = chart_of(request.slice), request.slice
    if request.on_curve and chart.pieces:
        at, ruling = _on_curve(chart, request.where), None
    else:
        at, ruling = _on_surface(chart, request.where, request.along)
    forms, facts = slice.forms(*at), slice.facts(*at)
    is_zero = not any(map(any, forms))
    roots = () if is_zero else slice.roots(*at)
    proportional = facts.kind in ("crossing", "boundary", "closure only") and not is_zero
    q = max(forms, key=lambda form: sum(c * c for c in form))
    disc = discriminant(q) / sum(c * c for c in q) if proportional else None
    return SurfaceStudy(chart, SurfacePoint(at, forms, facts, roots, ruling, disc), _headline(chart))


def _on_curve(chart: Chart, where: float) -> tuple[float, float, float]:
    """The point at a share of the length of the curve as drawn, or the pinch point that is near."""
    starts, lengths = _shares(chart)
    index = min(int(np.searchsorted(starts, where, side="right")) - 1, len(chart.pieces) - 1)
    points = chart.pieces[index].points
    run = _run(chart, chart.pieces[index])
    share = (where - starts[index]) / (starts[index + 1] - starts[index])
    near = [float(np.interp(share * lengths[index], run, points[:, i])) for i in range(3)]
    pinch = _pinch_near(chart, near)
    # Between two points of the curve, the curve itself: it is solved for, not interpolated.
    return pinch or chart.slice.nearest_singular(*near)


def _on_surface(chart: Chart, where: float, along: float) -> tuple:
    """The point on a ruling, or the singular point on it that is near; and the ruling with its ends."""
    strip, row = _strip_at(chart, where)
    rows = np.arange(len(strip.theta))
    theta = float(np.interp(row, rows, strip.theta))
    start, end = (
        np.array([np.interp(row, rows, ends[:, i]) for i in range(3)]) for ends in (strip.starts, strip.ends)
    )
    try:
        line = chart.slice.ruling(cos(theta), sin(theta))
    except ValueError:  # a plane of points that share this root: no ruling is singled out
        return tuple(((1 - along) / 2 * start + (1 + along) / 2 * end).tolist()), None
    direction, base = np.asarray(line.direction, dtype=float), np.asarray(line.point, dtype=float)
    lo, hi = (float((p - base) @ direction) for p in (start, end))
    t = (1 - along) / 2 * lo + (1 + along) / 2 * hi
    try:
        singular = chart.slice.singular_positions(cos(theta), sin(theta))
    except ValueError:  # the whole ruling is singular
        singular = ()
    near = min(
        (s for s in singular if abs(s - t) <= _SNAP * abs(hi - lo)), key=lambda s: abs(s - t), default=None
    )
    at = tuple(float(c) for c in line.at(t if near is None else near))
    if near is not None:
        at = chart.slice.nearest_singular(*at)  # on the curve, without the rounding of the line
    ends = tuple(tuple(float(c) for c in line.at(s)) for s in (lo, hi))
    return at, (line, *ends)


def _strip_at(chart: Chart, where: float) -> tuple[Strip, float]:
    """The strip at a share of all rulings, and the (fractional) row in it."""
    position = where * sum(len(strip.theta) for strip in chart.strips)
    for strip in chart.strips:
        if position < len(strip.theta) or strip is chart.strips[-1]:
            return strip, min(position, len(strip.theta) - 1)
        position -= len(strip.theta)
    raise ValueError("this slice has no surface inside its window: take another seed or parameter")


def nearest_on_surface(chart: Chart, drawn: np.ndarray) -> dict[str, float]:
    """Where the sliders stand for the point of the surface nearest to one of the drawing."""
    best, before, total = None, 0, sum(len(strip.theta) for strip in chart.strips)
    for strip in chart.strips:
        starts, ends = (in_drawing(chart.slice, points) for points in (strip.starts, strip.ends))
        way = ends - starts
        square = np.maximum((way * way).sum(-1), 1e-300)
        share = np.clip(((drawn - starts) * way).sum(-1) / square, 0, 1)
        away = np.linalg.norm(starts + share[:, None] * way - drawn, axis=-1)
        row = int(away.argmin())
        if best is None or away[row] < best[0]:
            best = float(away[row]), (before + row) / total, 2 * float(share[row]) - 1
        before += len(strip.theta)
    return {"where": _to_step(best[1], _WHERE), "along": _to_step(best[2], _ALONG)}


def nearest_on_curve(chart: Chart, drawn: np.ndarray) -> dict[str, float]:
    """The same for the singular curve."""
    starts, lengths = _shares(chart)
    best = None
    for index, piece in enumerate(chart.pieces):
        away = np.linalg.norm(in_drawing(chart.slice, piece.points) - drawn, axis=-1)
        row = int(away.argmin())
        share = _run(chart, piece)[row] / lengths[index]
        if best is None or away[row] < best[0]:
            best = float(away[row]), starts[index] + share * (starts[index + 1] - starts[index])
    return {"where": _to_step(best[1], _WHERE)}


def _to_step(value: float, step: float) -> float:
    return round(round(value / step) * step, 6)


def _pinch_near(chart: Chart, at: list[float]) -> tuple[float, float, float] | None:
    """The pinch point that is so near, as drawn, that the slider stops there."""
    here = in_drawing(chart.slice, np.array(at))
    for pinch in chart.pinches:
        if np.linalg.norm(in_drawing(chart.slice, np.array(pinch)) - here) < _STOP:
            return pinch
    return None


def _run(chart: Chart, piece: Piece) -> np.ndarray:
    """How far along its piece each point of the curve is, as drawn."""
    steps = np.linalg.norm(np.diff(in_drawing(chart.slice, piece.points), axis=0), axis=1)
    return np.concatenate([[0.0], np.cumsum(steps)])


def _shares(chart: Chart) -> tuple[np.ndarray, list[float]]:
    """At which share of the whole curve each piece begins (and the last one ends), and their lengths."""
    lengths = [float(_run(chart, piece)[-1]) for piece in chart.pieces]
    return np.concatenate([[0.0], np.cumsum(lengths)]) / sum(lengths), lengths


def _headline(chart: Chart) -> str:
    kinds, name = {piece.kind for piece in chart.pieces}, slice_name(chart.slice)
    if "crossing" in kinds:
        return f"{name}: the surface crosses itself along the yellow line"
    if "boundary" in kinds:
        return f"{name}: a sharp edge, all of it boundary"
    if "closure only" in kinds:
        return f"{name}: the yellow curve is isolated, no crossing"
    return f"{name}: no singular points in this window"


class SurfaceExplorer(Panel):
    """The functions of one layer with d = 2, d′ = 1, in a 3-dimensional slice: where, and why, singular.

    Controls: preset, α or κ where the slice has one, what the point moves on, where, along; under
    "More": slice, seed, and the layers that a slice is laid through. A click on the surface, or on
    the yellow curve, moves the point there. See `Panel` for what all panels share.

    >>> panel = SurfaceExplorer(state="moves=curve;where=0.5")
    >>> panel.description.split(",")[0]
    'S1 at s = 0'
    """

    title = "Where is the set of functions singular?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        first, more = slice_controls()
        first |= {
            "moves": widgets.Dropdown(
                options=[("on the surface", "surface"), ("along the yellow curve", "curve")],
                value="surface",
                description="the point moves",
            ),
            "where": widgets.FloatSlider(value=0.8, min=0, max=1, step=_WHERE, description="which line"),
            "along": widgets.FloatSlider(value=0.5, min=-1, max=1, step=_ALONG, description="along it"),
        }
        for name in ("where", "along"):
            first[name].readout_format = ".3g"
        follow_presets(first | more, self._assign)
        return first, more

    def _arrange(self) -> None:
        controls = self.controls
        if not hasattr(self, "_hidden"):  # by `only`
            self._hidden = {name for name, control in controls.items() if control.layout.display == "none"}
        arrange_slice(controls, self._hidden)
        on_curve = controls["moves"].value == "curve"
        controls["along"].disabled = on_curve
        controls["where"].description = "where on it" if on_curve else "which line"

    def _read(self) -> SurfaceRequest:
        value = {name: control.value for name, control in self.controls.items()}
        where, along = round(value["where"], 6), round(value["along"], 6)
        return SurfaceRequest(read_slice(self.controls), value["moves"] == "curve", where, along)

    _answer = staticmethod(study_surface)

    draw = staticmethod(surface_parts)

    def _on_click(self, trace: dict, point: int) -> None:
        """Move the point to a corner of a mesh that was clicked."""
        if trace.get("type") != "mesh3d" or not trace.get("name") or self._shown is None:
            return
        on_curve = trace["name"] != self.figure.drawn["data"][0]["name"]
        nearest = nearest_on_curve if on_curve else nearest_on_surface
        drawn = np.array([trace[axis][point] for axis in "xyz"], dtype=float)
        self._assign({"moves": "curve" if on_curve else "surface", **nearest(self._shown.chart, drawn)})
        self._refresh()

    def _badge(self, answer: SurfaceStudy) -> str:
        source = "Cor. A.6" if answer.point.facts.kind == "closure only" else "Thm. 3.4"
        return theme.badge("proved", source)

    def _describe(self, answer: SurfaceStudy) -> str:
        point, slice = answer.point, answer.chart.slice
        where = coordinates(slice, point.at)
        return f"{slice_name(slice)} at {where}: {KIND_WORDS[point.facts.kind]}. {_said(point)}".replace(
            "-", "−"
        )


def _said(point: SurfacePoint) -> str:
    """Why the point is of its kind."""
    kind = point.facts.kind
    if kind == "boundary" and not any(map(any, point.forms)):
        return "The zero function: every layer with A = 0 or V = 0 has it."
    roots = " and ".join(map(root_text, point.roots))
    zero = next((name for name, form in zip(("q₁", "q₂"), point.forms, strict=True) if not any(form)), "")
    chords = f"{zero} = 0 has no chord of its own" if zero else "on the circle both chords are one"
    return {
        "smooth": f"q₁ and q₂ share the root m = X/Y = {roots}, and all points of its line do; one set of "
        "weights, up to rescaling, has this function.",
        "crossing": f"q₁ and q₂ are proportional, with the roots m = {roots}: either may be that of v, so "
        f"two sets of weights have this function (the swap of Theorem 3.2), and two sheets cross: {chords}.",
        "boundary": f"q₁ and q₂ are proportional, with the double root m = {roots}: keys and values use the "
        "same linear form. The chord has shrunk to a point of the circle: two preimages have met, and the "
        "kernel has dimension 2.",
        "closure only": "q₁ and q₂ are proportional, with a complex pair of roots, a point inside the "
        "circle: the two preimages are complex, and no real weights have this function, nor one near it.",
        "off": "No common root: this function is no layer.",
    }[kind]
