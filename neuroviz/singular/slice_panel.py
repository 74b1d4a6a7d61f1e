"""Which slice: the controls that several panels share, and what they make of them."""

from collections.abc import Callable, Container
from fractions import Fraction
from functools import lru_cache

import ipywidgets as widgets
import numpy as np

from neuroviz.singular.forms import Pair, forms_of
from neuroviz.singular.space import Chart
from neuroviz.singular.surface import CONE, SLICES, Slice

SLICE_NAMES = {
    "S1: like Figure 1": "S1",
    "S1κ: less symmetric": "S1k",
    "S2: between two dotted rays": "S2",
    "S3: along a twisted cubic": "S3",
    "S4: along a hyperbola": "S4",
    "a random slice": "random",
    "through four layers": "four",
    "through three layers and zero": "cone",
}
PRESETS = {
    "like Figure 1": ("figure-1", {"slice": "S1"}),
    "less symmetric": ("cubic", {"slice": "S1k", "kappa": 0.0}),
    "between two dotted rays": ("rays", {"slice": "S2"}),
    "crossing along a twisted cubic": ("crossing", {"slice": "S3", "alpha": 2.6}),
    "tangent developable": ("tangent", {"slice": "S3", "alpha": 2.0}),
    "an isolated twisted cubic": ("isolated", {"slice": "S3", "alpha": 1.2}),
    "along a hyperbola": ("hyperbola", {"slice": "S4"}),
    "a random slice": ("random", {"slice": "random"}),
    "through four layers": ("four", {"slice": "four"}),
    "a cone: three layers and zero": ("cone", {"slice": "cone"}),
}
_OWN = "own"  # the preset that stands for none
_RULINGS, _CURVE_POINTS = 120, 160
_PICKED = {"four": 4, "cone": 3}


def slice_controls() -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
    """The controls seen at first (preset, alpha, kappa) and those under "More" (slice, seed, layers)."""

    def slider(label: str, value: float, least: float, most: float, step: float) -> widgets.FloatSlider:
        return widgets.FloatSlider(
            value=value, min=least, max=most, step=step, description=label, readout_format=".3g"
        )

    presets = [(words, key) for words, (key, _) in PRESETS.items()]
    first = {
        "preset": widgets.Dropdown(
            options=[*presets, ("– another –", _OWN)], value="figure-1", description="preset"
        ),
        "alpha": slider("α of S3", 2.6, 0.2, 4.0, 0.1),
        # 0 is at 80 % of this range, exactly: with others the page makes 4e-16 of it.
        "kappa": slider("κ of S1κ", 0.0, -3.0, 0.75, 0.125),
    }
    more = {
        "slice": widgets.Dropdown(options=list(SLICE_NAMES.items()), value="S1", description="slice"),
        "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        "layers": widgets.Text(
            value="",
            placeholder="a b c d v w / … (empty: by seed)",
            description="layers",
            continuous_update=False,
        ),
    }
    return first, more


def follow_presets(controls: dict[str, widgets.Widget], assign: Callable[[dict[str, object]], None]) -> None:
    """A preset sets slice and parameter; a slice or parameter set by hand says which preset it is.

    Args:
        controls: the panel's.
        assign: sets controls by name without a redraw for each.
    """
    busy = []

    def together(work: Callable[[dict], None]) -> Callable[[dict], None]:
        def once(change: dict) -> None:
            if not busy:
                busy.append(True)
                try:
                    work(change)
                finally:
                    busy.pop()

        return once

    def choose(change: dict) -> None:
        assign(dict(PRESETS.values()).get(change["new"], {}))
        recognise(change)

    def recognise(_change: dict) -> None:
        assign({"preset": preset_of(controls)})

    controls["preset"].observe(together(choose), names="value")
    for name in ("slice", "alpha", "kappa"):
        controls[name].observe(together(recognise), names="value")


def preset_of(controls: dict[str, widgets.Widget]) -> str:
    """The preset that slice and parameter make, or "own"."""
    for key, settings in PRESETS.values():
        if all(_same(controls[name].value, value) for name, value in settings.items()):
            return key
    return _OWN


def arrange_slice(controls: dict[str, widgets.Widget], hidden: Container[str]) -> None:
    """Show the parameter that the slice has, and disable what has no say in it; `hidden` ones stay so."""
    name = controls["slice"].value
    for parameter, owner in (("alpha", "S3"), ("kappa", "S1k")):
        controls[parameter].disabled = name != owner
        if parameter not in hidden:
            controls[parameter].layout.display = None if name == owner else "none"
    controls["layers"].disabled = name not in _PICKED
    by_seed = name == "random" or (name in _PICKED and not controls["layers"].value.strip())
    controls["seed"].disabled = not by_seed


def read_slice(controls: dict[str, widgets.Widget]) -> Slice:
    """The slice that the controls ask for.

    Raises:
        ValueError: if the layers written down are not what the slice needs, or span no slice.
    """
    value = {name: controls[name].value for name in ("slice", "alpha", "kappa", "seed", "layers")}
    name = value["slice"]
    if name == "random":
        return Slice.random(value["seed"])
    if name in _PICKED:
        return _through(_PICKED[name], value["seed"], value["layers"].strip())
    parameter = {"S3": "alpha", "S1k": "kappa"}.get(name)
    # A slider of step 0.1 gives 2.0000000000000004 where it says 2: the tangent developable is at 2.
    return (
        SLICES[name].at(**{parameter: Fraction(str(round(value[parameter], 6)))})
        if parameter
        else SLICES[name]
    )


@lru_cache(maxsize=64)
def chart_of(slice: Slice) -> Chart:
    """The rulings and the singular curve of a slice, inside its window."""
    inside = [tuple(p) for p in slice.pinch_points().tolist() if slice.window.inside(np.array(p))]
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    picked = {"through four functions": corners, CONE: corners[1:]}
    return Chart(
        slice,
        slice.rulings(_RULINGS),
        slice.singular_curve(_CURVE_POINTS),
        tuple(inside),
        tuple(picked.get(slice.name, ())),
    )


def slice_name(slice: Slice) -> str:
    """As a headline calls it: S3, α = 2."""
    values = ", ".join(f"{_GREEK[key]} = {float(value):.3g}" for key, value in slice.parameters)
    name = {
        "through four functions": "through four layers",
        CONE: "a cone through three layers",
    }.get(slice.name, slice.name.replace("S1k", "S1κ").replace("random", "random slice"))
    return f"{name}, {values}".replace("-", "−") if values else name


def coordinates(slice: Slice, point: tuple[float, float, float]) -> str:
    """A point in words: s = 2, y = 0, z = 0."""
    values = zip(slice.coordinates, point, strict=True)
    return ", ".join(f"{name} = {round(value, 9) + 0.0:.3g}" for name, value in values).replace("-", "−")


_GREEK = {"alpha": "α", "kappa": "κ"}


def _same(one: object, other: object) -> bool:
    return abs(one - other) < 1e-9 if isinstance(one, float) else one == other


@lru_cache(maxsize=64)
def _through(count: int, seed: int, text: str) -> Slice:
    if text:
        return Slice.through(*_written(text, count))
    rng = np.random.default_rng(seed)
    while True:  # a draw may be unlucky: two layers that are one, or a root that all of them share
        try:
            slice = Slice.through(*_drawn(rng, count))
            slice.branches()
            return slice
        except ValueError:
            continue


def _drawn(rng: np.random.Generator, count: int) -> list[Pair]:
    """Layers with small whole weights."""
    digits = [-3, -2, -1, 1, 2, 3]
    return [forms_of(rng.choice(digits, (2, 2)), rng.choice(digits, (1, 2))) for _ in range(count)]


def _written(text: str, count: int) -> list[Pair]:
    """Layers from text: for each the rows of A, then V, six numbers, with / between the layers."""
    layers = []
    for part in text.split("/"):
        try:
            numbers = [Fraction(word) for word in part.replace(",", " ").split()]
        except (ValueError, ZeroDivisionError):
            raise ValueError(
                f"layers are written in numbers such as 1 0 0 1 1 −2; got {part.strip()!r}"
            ) from None
        if len(numbers) != 6:
            raise ValueError(
                f"a layer is six numbers, the rows of A and then V; got {len(numbers)} in {part.strip()!r}"
            )
        a, b, c, d, v, w = numbers
        layers.append(forms_of([[a, b], [c, d]], [[v, w]]))
    if len(layers) != count:
        raise ValueError(
            f"this slice goes through {count} layers; got {len(layers)}: write them with / between, "
            "or clear the box to draw them by the seed"
        )
    return layers
