"""Which slice: the controls that several panels share, and what they make of them."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache

from neuroviz.kit.controls import is_shown, show
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import Controls, choice, real, seed
from neuroviz.singular.slice import Slice
from neuroviz.singular.surface import SLICES

SLICE_NAMES = (
    ("S1: like Figure 1", "S1"),
    ("S1κ: less symmetric", "S1k"),
    ("S2: between two dotted rays", "S2"),
    ("S3: along a twisted cubic", "S3"),
    ("S4: along a hyperbola", "S4"),
    ("a random slice", "random"),
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
}
_OWN = "own"  # the preset of one's own forms
_PARAMETERS = {"S3": "alpha", "S1k": "kappa"}
_GREEK = {"alpha": "α", "kappa": "κ"}


@dataclass(frozen=True)
class SliceSetting:
    """A slice by its name; α is of S3, κ of S1κ, and the seed draws random ones."""

    preset: str = choice(
        "preset",
        [*((words, key) for words, (key, _) in PRESETS.items()), ("– another –", _OWN)],
    )
    alpha: float = real("α of S3", 2.6, 0.2, 4.0, 0.1, shown=".3g")
    # 0 lies at exactly 80 % of this range; other ranges give 4e-16 on the page.
    kappa: float = real("κ of S1κ", 0.0, -3.0, 0.75, 0.125, shown=".3g")
    name: str = choice("slice", SLICE_NAMES, more=True, name="slice")
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.slice  # an impossible slice raises here

    @cached_property
    def slice(self) -> Slice:
        """The slice of this name."""
        if self.name == "random":
            return Slice.random(self.seed)
        if parameter := _PARAMETERS.get(self.name):
            return _member(self.name, parameter, getattr(self, parameter))
        return SLICES[self.name]


@lru_cache(maxsize=64)
def _member(name: str, parameter: str, value: float) -> Slice:
    # A slider's number as it is written: 2.6 is 13/5, not the float beside it.
    return SLICES[name].at(**{parameter: Fraction(str(value))})


class SlicePanel(Panel):
    """What panels of a slice share: presets that set slice and parameter, and one
    parameter in sight."""

    _left_out: frozenset[str] | None = None  # controls that `only` leaves out

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
        """Set the preset to the one that slice and parameter belong to."""
        made = (
            key
            for key, values in PRESETS.values()
            if all(
                _same(self.controls[name].value, value)
                for name, value in values.items()
            )
        )
        self._assign({"preset": next(made, _OWN)})

    def _arrange(self) -> None:
        controls = self.controls
        if self._left_out is None:
            hidden = (
                name for name, control in controls.items() if not is_shown(control)
            )
            self._left_out = frozenset(hidden)
        name = controls["slice"].value
        for owner, parameter in _PARAMETERS.items():
            controls[parameter].disabled = name != owner
            if parameter not in self._left_out:
                show(controls[parameter], name == owner)
        controls["seed"].disabled = name != "random"


def slice_name(slice: Slice) -> str:
    """As a headline calls it: S3, α = 2."""
    values = ", ".join(
        f"{_GREEK[key]} = {float(value):.3g}" for key, value in slice.parameters
    )
    name = slice.name.replace("S1k", "S1κ").replace("random", "random slice")
    return f"{name}, {values}".replace("-", "−") if values else name


def coordinates(slice: Slice, point: tuple[float, float, float]) -> str:
    """A point in words: s = 2, y = 0, z = 0."""
    values = zip(slice.coordinates, point, strict=True)
    return ", ".join(
        f"{name} = {round(value, 9) + 0.0:.3g}" for name, value in values
    ).replace("-", "−")


def _same(one: object, other: object) -> bool:
    return abs(one - other) < 1e-9 if isinstance(one, float) else one == other
