"""Figure 1 of the paper as a surface with a point that moves on it."""

from dataclasses import dataclass

from neuroviz.kit.badges import badge
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import choice, real
from neuroviz.singular.chart import Chart, chart_of
from neuroviz.singular.projective_line import KIND_WORDS, pair_text
from neuroviz.singular.slice_panel import (
    SlicePanel,
    SliceSetting,
    coordinates,
    slice_name,
)
from neuroviz.singular.surface_facts import surface_picture
from neuroviz.singular.surface_point import RANGES, SurfacePoint, point_at

_OF_A_LAYER = ("of one lightning layer with d = 2, a ≥ d and two tokens or more",)
_CLAIMS = {
    "smooth": "A has rank 2: the function is a smooth point.",
    "crossing": "A and V have rank 1, and keys and values use different linear forms: "
    "the function is singular, and no boundary point.",
    "boundary": "A = v kᵀ and V = h vᵀ, or one of them is 0: the function is singular, "
    "and a boundary point.",
    "closure only": "The forms share a pair of complex roots: the point solves every "
    "equation that all functions of layers solve, and is none of them.",
    "off": "The resultant is not 0: no layer has this function, and none has a "
    "function near it.",
}
_MOVES = (("on the surface", "surface"), ("along the singular curve", "curve"))


@dataclass(frozen=True)
class SurfaceSetting(SliceSetting):
    """A slice, and where on it: along its singular curve, or on which ruling, and where
    on that."""

    moves: str = choice("the point moves", _MOVES)
    where: float = real("which line", 0.8, *RANGES["where"], shown=".3g")
    along: float = real("along it", 0.5, *RANGES["along"])


@dataclass(frozen=True)
class SurfaceStudy:
    """A slice with a point on it."""

    setting: SurfaceSetting
    chart: Chart
    point: SurfacePoint


def study_surface(setting: SurfaceSetting) -> SurfaceStudy:
    """The slice, and everything that is true at the point."""
    chart = chart_of(setting.slice)
    point = point_at(chart, setting.moves == "curve", setting.where, setting.along)
    return SurfaceStudy(setting, chart, point)


class SurfaceExplorer(SlicePanel):
    """The functions of one layer with d = 2, d′ = 1, in a 3-dimensional slice: where,
    and why, singular.

    Controls: see `SurfaceSetting`. The point is dragged on the surface, and snaps to
    the yellow curve; or a root is, on the circle. See `Panel` for what all panels
    share.

    >>> panel = SurfaceExplorer(state="moves=curve;where=0.5")
    >>> panel.description.split(",")[0]
    'S1 at s = 0'
    """

    title = "Where is the set of functions singular?"
    setting = SurfaceSetting
    _answer = staticmethod(study_surface)
    draw = staticmethod(surface_picture)

    def _arrange(self) -> None:
        super()._arrange()
        on_curve = self.controls["moves"].value == "curve"
        self.controls["along"].disabled = on_curve
        self.controls["where"].description = "where on it" if on_curve else "which line"

    def _badge(self, answer: SurfaceStudy) -> str:
        kind = answer.point.facts.kind
        source = "Cor. A.6" if kind == "closure only" else "Thm. 3.4"
        return badge(
            "proved", source, Reasons(_CLAIMS[kind], source, facts=_OF_A_LAYER)
        )

    def _describe(self, answer: SurfaceStudy) -> str:
        point = answer.point
        slice = answer.chart.slice
        said = (
            f"{coordinates(slice, point.at)}: {KIND_WORDS[point.facts.kind]}."
            f" {_why(point)}"
        )
        return f"{slice_name(slice)} at {said}".replace("-", "−")


def _why(point: SurfacePoint) -> str:
    """Why the point is of its kind."""
    kind = point.facts.kind
    if kind == "boundary" and not any(map(any, point.forms)):
        return "The zero function: every layer with A = 0 or V = 0 has it."
    roots = " and ".join(map(pair_text, point.roots))
    zero = next(
        (
            name
            for name, form in zip(("q₁", "q₂"), point.forms, strict=True)
            if not any(form)
        ),
        "",
    )
    chords = (
        f"{zero} = 0 has no chord of its own"
        if zero
        else "on the circle both chords are one"
    )
    return {
        "smooth": (
            f"q₁ and q₂ share the root [X:Y] = {roots}, and all points of its line"
            " do; one set of weights, up to rescaling, has this function."
        ),
        "crossing": (
            f"q₁ and q₂ are proportional, with the roots [X:Y] = {roots}: either may be"
            " that of v, so two sets of weights have this function (the swap of"
            f" Theorem 3.2), and two sheets cross: {chords}."
        ),
        "boundary": (
            f"q₁ and q₂ are proportional, with the double root [X:Y] = {roots}: keys"
            " and values use the same linear form. The chord has shrunk to a point of"
            " the circle: two sets of weights have met, and 2 directions are silent."
        ),
        "closure only": (
            "q₁ and q₂ are proportional, with a complex pair of roots, a point inside"
            " the circle: both sets of weights are complex. No real weights have this"
            " function, and none have a function near it."
        ),
        "off": "No common root: this function is no layer.",
    }[kind]
