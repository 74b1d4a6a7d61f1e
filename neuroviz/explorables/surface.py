"""A place rather than a picture: Figure 1 of the paper as a surface with a point that moves on it."""

from dataclasses import dataclass
from functools import lru_cache
from math import cos, sin

import ipywidgets as widgets
import numpy as np
import plotly.graph_objects as go

from neuroviz import theme
from neuroviz.curves import Piece, Strip
from neuroviz.explorables.panel import Panel
from neuroviz.figures.surface import (
    KIND_WORDS,
    Chart,
    SurfacePoint,
    SurfaceStudy,
    in_drawing,
    surface_figure,
    update_surface,
)
from neuroviz.forms import discriminant
from neuroviz.surface import SLICES, Slice

PRESETS = {
    "like Figure 1": "S1",
    "S1κ: less symmetric": "S1k",
    "S2: between two dotted rays": "S2",
    "S3: along a twisted cubic": "S3",
    "S4: along a hyperbola": "S4",
    "a random slice": "random",
}
_PARAMETERS = {"S1k": ("kappa", -3.0, 0.9), "S3": ("alpha", 0.2, 4.0)}
_RULINGS, _CURVE_POINTS = 120, 160
_SNAP = 0.02  # of a ruling: nearer to a singular point, the slider stops on it
_STOP = 0.03  # the same for pinch points, as drawn


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


@lru_cache(maxsize=64)
def chart_of(slice: Slice) -> Chart:
    """The rulings and the singular curve of a slice, inside its window."""
    inside = [tuple(p) for p in slice.pinch_points().tolist() if slice.window.inside(np.array(p))]
    return Chart(slice, slice.rulings(_RULINGS), slice.singular_curve(_CURVE_POINTS), tuple(inside))


def study_surface(request: SurfaceRequest) -> SurfaceStudy:
    """The slice, and everything that is true at the point."""
    chart = chart_of(request.slice)
    if request.on_curve and chart.pieces:
        at, ruling = _on_curve(chart, request.where), None
    else:
        at, ruling = _on_surface(chart, request.where, request.along)
    slice = request.slice
    forms = slice.forms(*at)
    facts = slice.facts(*at)
    roots = slice.roots(*at) if any(map(any, forms)) else ()
    proportional = facts.kind in ("crossing", "boundary", "closure only") and any(map(any, forms))
    q = max(forms, key=lambda form: sum(c * c for c in form))
    disc = discriminant(q) / sum(c * c for c in q) if proportional else None
    return SurfaceStudy(chart, SurfacePoint(at, forms, facts, roots, ruling, disc), _headline(chart))


def _on_curve(chart: Chart, where: float) -> tuple[float, float, float]:
    """The point at a share of the length of the curve as drawn, or the pinch point that is near."""
    lengths = [_length(chart, piece) for piece in chart.pieces]
    starts = np.concatenate([[0], np.cumsum(lengths)]) / sum(lengths)
    index = min(int(np.searchsorted(starts, where, side="right")) - 1, len(chart.pieces) - 1)
    points = chart.pieces[index].points
    run = np.concatenate([[0], np.cumsum(_steps(chart, chart.pieces[index]))])
    share = (where - starts[index]) / (starts[index + 1] - starts[index])
    near = [float(np.interp(share * run[-1], run, points[:, i])) for i in range(3)]
    pinch = _pinch_near(chart, near)
    # Between two points of the curve, the curve itself: it is solved for, not interpolated.
    return pinch or chart.slice.snap(*near, tol=1.0)


def _on_surface(chart: Chart, where: float, along: float) -> tuple:
    """The point on a ruling, or the singular point on it that is near; and the ruling with its ends."""
    strip, row = _strip_at(chart, where)
    theta = float(np.interp(row, range(len(strip.theta)), strip.theta))
    start, end = (
        np.array([np.interp(row, range(len(strip.theta)), ends[:, i]) for i in range(3)])
        for ends in (strip.starts, strip.ends)
    )
    try:
        line = chart.slice.ruling(cos(theta), sin(theta))
    except ValueError:  # a plane of points that share this root: no ruling is singled out
        at = tuple(((1 - along) / 2 * start + (1 + along) / 2 * end).tolist())
        return at, None
    direction = np.asarray(line.direction, dtype=float)
    base = np.asarray(line.point, dtype=float)
    lo, hi = sorted(float((p - base) @ direction) for p in (start, end))
    t = (1 - along) / 2 * lo + (1 + along) / 2 * hi
    try:
        singular = chart.slice.singular_positions(cos(theta), sin(theta))
    except ValueError:  # the whole ruling is singular
        singular = ()
    t = min((s for s in singular if abs(s - t) <= _SNAP * (hi - lo)), key=lambda s: abs(s - t), default=t)
    at = tuple(float(c) for c in line.at(t))
    ends = tuple(tuple(float(c) for c in line.at(s)) for s in (lo, hi))
    return at, (line, *ends)


def _strip_at(chart: Chart, where: float) -> tuple[Strip, float]:
    """The strip at a share of all rulings, and the (fractional) row in it."""
    count = sum(len(strip.theta) for strip in chart.strips)
    position = where * count
    for strip in chart.strips:
        if position < len(strip.theta) or strip is chart.strips[-1]:
            return strip, min(position, len(strip.theta) - 1)
        position -= len(strip.theta)
    raise ValueError("this slice has no surface inside its window: take another seed or parameter")


def _pinch_near(chart: Chart, at: list[float]) -> tuple[float, float, float] | None:
    """The pinch point that is so near, as drawn, that the slider stops there."""
    here = in_drawing(chart.slice, np.array(at))
    for pinch in chart.pinches:
        if np.linalg.norm(in_drawing(chart.slice, np.array(pinch)) - here) < _STOP:
            return pinch
    return None


def _steps(chart: Chart, piece: Piece) -> np.ndarray:
    return np.linalg.norm(np.diff(in_drawing(chart.slice, piece.points), axis=0), axis=1)


def _length(chart: Chart, piece: Piece) -> float:
    return float(_steps(chart, piece).sum())


def _headline(chart: Chart) -> str:
    kinds = {piece.kind for piece in chart.pieces}
    name = chart.slice.name.replace("S1k", "S1κ")
    values = ", ".join(f"{_greek(key)} = {float(value):.3g}" for key, value in chart.slice.parameters)
    name += f", {values}".replace("-", "−") if values else ""
    if "crossing" in kinds:
        return f"{name}: the surface crosses itself along the yellow line"
    if "boundary" in kinds:
        return f"{name}: a sharp edge, all of it boundary"
    if "closure only" in kinds:
        return f"{name}: the yellow curve is isolated, no crossing"
    return f"{name}: no singular points in this window"


def _greek(name: str) -> str:
    return {"alpha": "α", "kappa": "κ"}[name]


class SurfaceExplorer(Panel):
    """The functions of one layer with d = 2, d′ = 1, in a 3-dimensional slice: where, and why, singular.

    Controls: slice, parameter, what the point moves on, where, along; under "More": seed. A click
    on the surface moves the point there. See `Panel` for what all panels share.

    >>> panel = SurfaceExplorer(state="moves=curve;where=0.5")
    >>> panel.description.split(":")[0]
    'S1'
    """

    title = "Where is the set of functions singular?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        first = {
            "slice": widgets.Dropdown(options=list(PRESETS.items()), value="S1", description="slice"),
            "parameter": widgets.FloatSlider(value=2.6, min=-3, max=4, step=0.1, description="α or κ"),
            "moves": widgets.Dropdown(
                options=[("on the surface", "surface"), ("along the yellow curve", "curve")],
                value="surface",
                description="the point moves",
            ),
            "where": widgets.FloatSlider(value=0.8, min=0, max=1, step=0.005, description="which line"),
            "along": widgets.FloatSlider(value=0.5, min=-1, max=1, step=0.01, description="along it"),
        }
        more = {"seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed")}
        for name in ("where", "along"):
            first[name].readout_format = ".3g"
        return first, more

    def _arrange(self) -> None:
        controls = self.controls
        name = controls["slice"].value
        controls["parameter"].disabled = name not in _PARAMETERS
        controls["parameter"].description = {"S3": "α", "S1k": "κ"}.get(name, "no parameter")
        controls["seed"].disabled = name != "random"
        on_curve = controls["moves"].value == "curve"
        controls["along"].disabled = on_curve
        controls["where"].description = "where on it" if on_curve else "which line"

    def _read(self) -> SurfaceRequest:
        value = {name: control.value for name, control in self.controls.items()}
        return SurfaceRequest(
            _slice(value["slice"], value["parameter"], value["seed"]),
            value["moves"] == "curve",
            value["where"],
            value["along"],
        )

    _answer = staticmethod(study_surface)

    def _make_figure(self, answer: SurfaceStudy) -> go.Figure:
        return surface_figure(answer)

    def _update_figure(self, old: SurfaceStudy | None, new: SurfaceStudy) -> None:
        update_surface(self.figure, old, new)

    def _badge(self, answer: SurfaceStudy) -> str:
        source = "Cor. A.6" if answer.point.facts.kind == "closure only" else "Thm. 3.4"
        return theme.badge("proved", source)

    def _describe(self, answer: SurfaceStudy) -> str:
        point, slice = answer.point, answer.chart.slice
        where = ", ".join(
            f"{name} = {value:.3g}" for name, value in zip(slice.coordinates, point.at, strict=True)
        )
        said = {
            "smooth": "One real linear factor is common to q₁ and q₂; one set of weights, up to rescaling.",
            "crossing": "q₁ and q₂ are proportional, with two real roots: either may be that of v, so two "
            "sets of weights have this function (the swap of Theorem 3.2), and two sheets cross.",
            "boundary": "q₁ and q₂ are proportional, with a double root: keys and values use the same linear "
            "form. The two preimages have met, and the kernel has dimension 2.",
            "closure only": "q₁ and q₂ are proportional, with a complex pair of roots: no real weights have "
            "this function, nor one near it.",
            "off": "No common root: this function is no layer.",
        }[point.facts.kind]
        return f"{slice.name}: at {where}, {KIND_WORDS[point.facts.kind]}. {said}".replace("-", "−")


def _slice(name: str, parameter: float, seed: int) -> Slice:
    if name == "random":
        return Slice.random(seed)
    if name not in _PARAMETERS:
        return SLICES[name]
    key, least, most = _PARAMETERS[name]
    if not least <= parameter <= most:
        raise ValueError(
            f"{_greek(key)} goes from {least:g} to {most:g} in this panel; got {parameter:g}: move its slider"
        )
    return SLICES[name].at(**{key: parameter})
