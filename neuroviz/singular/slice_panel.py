"""Which slice: the controls that several panels share, and what they make of them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import Controls, choice, real, seed, text
from neuroviz.singular.forms import Pair, forms_of
from neuroviz.singular.slice import CONE, FOUR, Slice
from neuroviz.singular.surface import SLICES

SLICE_NAMES = (
    ("S1: like Figure 1", "S1"),
    ("S1κ: less symmetric", "S1k"),
    ("S2: between two dotted rays", "S2"),
    ("S3: along a twisted cubic", "S3"),
    ("S4: along a hyperbola", "S4"),
    ("a random slice", "random"),
    ("through four layers", "four"),
    ("through three layers and zero", "cone"),
)
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
_PARAMETERS = {"S3": "alpha", "S1k": "kappa"}
_GREEK = {"alpha": "α", "kappa": "κ"}
_PICKED = {"four": 4, "cone": 3}


@dataclass(frozen=True)
class SliceSetting:
    """A slice by its name; α is of S3, κ of S1κ, and the seed draws random ones, and layers not written down.

    Raises:
        ValueError: if the layers written down are not what the slice needs, or span no slice.
    """

    preset: str = choice(
        "preset", [*((words, key) for words, (key, _) in PRESETS.items()), ("– another –", _OWN)]
    )
    alpha: float = real("α of S3", 2.6, 0.2, 4.0, 0.1, shown=".3g")
    # 0 is at 80 % of this range, exactly: with others the page makes 4e-16 of it.
    kappa: float = real("κ of S1κ", 0.0, -3.0, 0.75, 0.125, shown=".3g")
    name: str = choice("slice", SLICE_NAMES, more=True, name="slice")
    seed: int = seed()
    layers: str = text("layers", placeholder="a b c d v w / … (empty: by seed)")

    def __post_init__(self) -> None:
        _ = self.slice  # which refuses what is no slice

    @cached_property
    def slice(self) -> Slice:
        """The slice of this name."""
        if self.name == "random":
            return Slice.random(self.seed)
        if self.name in _PICKED:
            return _through(_PICKED[self.name], self.seed, self.layers.strip())
        if parameter := _PARAMETERS.get(self.name):
            return _member(self.name, parameter, getattr(self, parameter))
        return SLICES[self.name]


@lru_cache(maxsize=64)
def _member(name: str, parameter: str, value: float) -> Slice:
    return SLICES[name].at(**{parameter: Fraction(str(value))})


class SlicePanel(Panel):
    """What panels of a slice share: presets that set slice and parameter, and one parameter in sight."""

    _left_out: frozenset[str] | None = None  # by `only`

    def _make_controls(self) -> tuple[Controls, Controls]:
        first, more = super()._make_controls()
        first["preset"].observe(self._follow_preset, names="value")
        for control in (first["alpha"], first["kappa"], more["slice"]):
            control.observe(self._recognise_preset, names="value")
        return first, more

    def _follow_preset(self, change: dict) -> None:
        self._assign(dict(PRESETS.values()).get(change["new"], {}))
        self._recognise_preset(change)

    def _recognise_preset(self, _change: dict) -> None:
        """A slice or parameter set by hand says which preset it is."""
        made = (
            key
            for key, values in PRESETS.values()
            if all(_same(self.controls[name].value, value) for name, value in values.items())
        )
        self._assign({"preset": next(made, _OWN)})

    def _arrange(self) -> None:
        controls = self.controls
        if self._left_out is None:
            hidden = (name for name, control in controls.items() if control.layout.display == "none")
            self._left_out = frozenset(hidden)
        name = controls["slice"].value
        for owner, parameter in _PARAMETERS.items():
            controls[parameter].disabled = name != owner
            if parameter not in self._left_out:
                controls[parameter].layout.display = None if name == owner else "none"
        controls["layers"].disabled = name not in _PICKED
        by_seed = name == "random" or (name in _PICKED and not controls["layers"].value.strip())
        controls["seed"].disabled = not by_seed


def slice_name(slice: Slice) -> str:
    """As a headline calls it: S3, α = 2."""
    values = ", ".join(f"{_GREEK[key]} = {float(value):.3g}" for key, value in slice.parameters)
    name = {FOUR: "through four layers", CONE: "a cone through three layers"}.get(
        slice.name, slice.name.replace("S1k", "S1κ").replace("random", "random slice")
    )
    return f"{name}, {values}".replace("-", "−") if values else name


def coordinates(slice: Slice, point: tuple[float, float, float]) -> str:
    """A point in words: s = 2, y = 0, z = 0."""
    values = zip(slice.coordinates, point, strict=True)
    return ", ".join(f"{name} = {round(value, 9) + 0.0:.3g}" for name, value in values).replace("-", "−")


def _same(one: object, other: object) -> bool:
    return abs(one - other) < 1e-9 if isinstance(one, float) else one == other


@lru_cache(maxsize=64)
def _through(count: int, seed: int, layers: str) -> Slice:
    """The slice through layers that are written down, or drawn with small whole weights."""
    if layers:
        return Slice.through(*_written(layers, count))
    rng, digits = np.random.default_rng(seed), [-3, -2, -1, 1, 2, 3]
    while True:  # a draw may be unlucky: two layers that are one, or a root that all of them share
        drawn = [forms_of(rng.choice(digits, (2, 2)), rng.choice(digits, (1, 2))) for _ in range(count)]
        try:
            slice = Slice.through(*drawn)
            slice.branches()
            return slice
        except ValueError:
            continue


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
