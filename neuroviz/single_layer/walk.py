"""A walk along a fibre of one layer, and a step off it: what the function does on the
way."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.layer import (
    TOLERANCE,
    Pair,
    fiber_case,
    kernel_dimension,
    outputs_of_layer,
    rescaled,
    same_function,
    swapped,
    with_antisymmetric_part,
)
from neuroviz.kit.entries import Entries
from neuroviz.kit.settings import choice, real, seed, switch, text, whole
from neuroviz.rank.field import Reals
from neuroviz.rank.floats import numerical_rank

PRESETS = {"generic": "generic", "rank-one": "rank one", "zero": "zero"}
WALKS = {
    "rescale": "(cA, V/c): rescale",
    "antisymmetric": "antisymmetric part of A",
    "a-alone": "(cA, V): A alone",
}
_DIRECTIONS = [("in the plane", "plane"), ("at random", "random")]
# Least, most and step.
ALONG = (-1.5, 1.5, 0.01)
OFF = (-1.0, 1.0, 0.01)
SHOWN = (1, 6, 1)
MAX_WIDTH = 5
ENTRIES = Entries("A12=0.5 V21=-1", "AV", MAX_WIDTH, MAX_WIDTH, 9)
_NOTHING = 1e-13  # distances below this are rounding
_INPUTS = 64
# Four steps to a power of ten, from the short ones, where a slope is an order, to those
# that are seen.
_STEPS = tuple(float(step) for step in np.geomspace(1e-4, 1.0, 17))
# Slopes are read off at smaller steps: the five up to 1e-3, which rounding may exceed.
_SMALL_STEP = 1.1e-3


def _options(words: dict[str, str]) -> list[tuple[str, str]]:
    return [(said, value) for value, said in words.items()]


@dataclass(frozen=True)
class FiberSetting:
    """Where to stand beside a fibre.

    Attributes:
        preset: the layer to start from.
        along: how far to walk; for the walk "rescale" log₂ of the factor c.
        off: how long a step to take from there, off the fibre; A and V of the start
            have length 1.
        walk: "rescale" (cA, V/c), "antisymmetric" (A + s(A − Aᵀ)/2, V) or "a-alone"
            (cA, V). The preset "zero" has one walk of its own: to A = 0, where it turns
            and goes on with V.
        swap: rank one only: start from the other branch.
        negative: start from (−A, −V) instead.
        direction: of the step off the fibre: "plane" (where A and V both grow) or
            "random".
        angle: between u and v at rank one, in degrees; at 0 the branches merge.
        entries: numbers in the place of some entries of A₀ and V₀, as in "A12=0.5
            V21=-1", before both are divided by their lengths; those of rows and columns
            that are not there wait until they are.
        input: which of a few random inputs is shown.
    """

    preset: str = choice("layer", _options(PRESETS))
    attention: str = choice("attention", ATTENTION_KINDS, name="kind")
    along: float = real("walk along", 0.8, *ALONG)
    off: float = real("step off", 0.0, *OFF)
    tokens: int = whole("tokens t", 2, 1, 4)
    width: int = whole("width d", 3, 1, MAX_WIDTH, more=True)
    width_out: int = whole("output width d′", 3, 1, MAX_WIDTH, more=True)
    walk: str = choice("the walk", _options(WALKS), more=True)
    swap: bool = switch("swap u and v", more=True)
    negative: bool = switch("from (−A, −V)", more=True)
    direction: str = choice("step goes", _DIRECTIONS, more=True)
    angle: int = whole("angle of u, v", 60, 0, 75, step=5, more=True)
    input: int = whole("input X shown", 1, *SHOWN, more=True)
    entries: str = text("entries", placeholder=ENTRIES.example)
    seed: int = seed()


@dataclass(frozen=True)
class StepCurve:
    """How far the function moves when the weights take straight steps of these lengths
    in one direction.

    The slope of log distance against log step at the short steps is the order of the
    change; None where nothing moves.
    """

    steps: tuple[float, ...]
    distances: tuple[float, ...]
    slope: float | None


@dataclass(frozen=True, eq=False)
class FiberStudy:
    """One place beside a fibre, and everything that its picture shows.

    Attributes:
        start, base, now: the layer to start from, where the walk led, and after the
            step off.
        case: of the start, see `fiber_case`.
        inputs: those of which one is shown.
        outputs_start: φ(X) at the start, for the input X that is shown.
        places: coordinates (x, y) of start, base and now in the plane of (A₀, 0) and
            (0, V₀), by orthogonal projection: x is how much of A₀ there is in A, y how
            much of V₀ in V.
        angle: between u and v at rank one, in degrees.
        unit: the root mean square of the start's outputs on 64 random inputs (of those
            of (A₀, V₀) for the preset "zero", whose own are 0).
        walked, moved: distance in function space from the start to `base`, and to
            `now`: the root mean square of the difference on these inputs, in that unit.
        along, aside: straight steps from `base`, in the direction of the walk and of
            the step off.
        kernel: dimension of the kernel of the differential at `base`, measured in
            floating point.
    """

    setting: FiberSetting
    start: Pair
    base: Pair
    now: Pair
    case: str
    inputs: np.ndarray
    outputs_start: np.ndarray
    places: tuple[tuple[float, float], tuple[float, float], tuple[float, float]]
    angle: float
    unit: float
    walked: float
    moved: float
    along: StepCurve
    aside: StepCurve
    kernel: int

    @cached_property
    def stays(self) -> bool:
        """Whether the walk stays on the fibre, by the theorems and not by the measured
        distance."""
        s = self.setting
        return same_function(Reals(), s.attention, self.start, self.base, s.tokens)

    @cached_property
    def goes_along(self) -> bool:
        """Whether the walk goes along the fibre here: it has stayed on it, and one step
        of the slider farther it still does."""
        s = self.setting
        _, _, step = ALONG
        farther = replace(s, along=s.along + step)
        there, _ = _walk(farther, plane_of(s))
        onward = same_function(Reals(), s.attention, self.start, there, s.tokens)
        return self.stays and onward

    @property
    def shadow(self) -> float:
        """The factor by which the plane shortens the other branch, (cos angle)²."""
        # Of A₀ = u kᵀ there is cos(angle) in v kᵀ, and of V₀ = h vᵀ as much in h uᵀ.
        return float(np.cos(np.radians(self.angle)) ** 2)

    @property
    def same_outputs(self) -> bool:
        """Whether the function is now what it was at the start, as measured."""
        return self.moved <= TOLERANCE


def plane_of(setting: FiberSetting) -> Pair:
    """A₀ and V₀, of length 1: the start of the presets "generic" and "rank-one".

    Raises:
        ValueError: if the setting's entries make A₀ or V₀ zero, or the layer "rank one"
            one of another rank.
    """
    A, V = _drawn(setting)
    if not setting.entries.strip():
        return Pair(A, V)
    ENTRIES.put(setting.entries, {"A": A, "V": V})
    if not A.any() or not V.any():
        raise ValueError("With these entries A or V is 0, and the walk has no start.")
    A = _unit(A)
    V = _unit(V)
    if setting.preset == "rank-one" and numerical_rank(A) * numerical_rank(V) != 1:
        raise ValueError(
            "With these entries A or V has rank 2 or more: take the layer"
            " “generic”, or entries of rank one."
        )
    return Pair(A, V)


def _drawn(setting: FiberSetting) -> Pair:
    """A₀ and V₀ before entries are put into them."""
    d = setting.width
    d_out = setting.width_out
    has_rank_one = setting.preset == "rank-one"
    rng = np.random.default_rng([setting.seed, d, d_out, has_rank_one])
    if not has_rank_one:
        A = _unit(rng.standard_normal((d, d)))
        V = _unit(rng.standard_normal((d_out, d)))
        return Pair(A, V)
    # w is drawn whatever the angle: u, k and h stay where they are while it moves.
    u, k, w = (_unit(rng.standard_normal(d)) for _ in range(3))
    h = _unit(rng.standard_normal(d_out))
    v = u
    if setting.angle and d > 1:  # on a line all u and v are parallel
        angle = np.radians(setting.angle)
        across = _unit(w - np.dot(w, u) * u)
        v = np.cos(angle) * u + np.sin(angle) * across
    return Pair(np.outer(u, k), np.outer(h, v))


def study_fiber(setting: FiberSetting) -> FiberStudy:
    """Walk along a fibre, take a step off it, and measure what the function does.

    >>> there = study_fiber(FiberSetting(along=1.0))
    >>> there.places[2], there.same_outputs
    ((2.0, 0.5), True)
    >>> [round(curve.slope, 1) for curve in (there.along, there.aside)]
    [2.0, 1.0]
    """
    real = Reals()
    attention = setting.attention
    plane = plane_of(setting)
    start = plane
    if setting.preset == "zero":
        start = Pair(plane.A, 0 * plane.V)
    base, onward = _walk(setting, plane)
    aside = _direction_off(setting, plane, base)
    now = _step(base, aside, setting.off)

    rng = np.random.default_rng([setting.seed, setting.width, setting.tokens])
    X = rng.standard_normal((_INPUTS, setting.width, setting.tokens))

    def outputs(pair: Pair) -> np.ndarray:
        return outputs_of_layer(real, attention, pair, X)

    outputs_start = outputs(start)
    there = outputs(base)
    typical = outputs(plane)
    unit = _size(typical)
    # Inputs that show something: their outputs are about as large as those of all are
    # together.
    sizes = np.sqrt((typical**2).mean(axis=(1, 2)))
    shown = np.abs(sizes - unit).argsort(kind="stable")[: SHOWN[1]]

    def curve(direction: Pair, sign: float) -> StepCurve:
        """Steps of all lengths from `base`, and how far the outputs move."""
        distances = []
        for length in _STEPS:
            after = outputs(_step(base, direction, sign * length))
            distances.append(_size(after - there) / unit)
        return StepCurve(_STEPS, tuple(distances), _slope(distances))

    return FiberStudy(
        setting=setting,
        start=start,
        base=base,
        now=now,
        case=fiber_case(real, start),
        inputs=X[shown],
        outputs_start=outputs_start[shown[setting.input - 1]],
        places=(_place(plane, start), _place(plane, base), _place(plane, now)),
        angle=_angle(setting, plane),
        unit=unit,
        walked=_size(there - outputs_start) / unit,
        moved=_size(outputs(now) - outputs_start) / unit,
        along=curve(onward, 1.0),
        aside=curve(aside, -1.0 if setting.off < 0 else 1.0),
        kernel=kernel_dimension(real, attention, base, setting.tokens, rng),
    )


def _angle(setting: FiberSetting, plane: Pair) -> float:
    """Between u and v, the directions in which A writes and V reads at rank one."""
    if setting.width == 1:
        return 0.0
    if not setting.entries.strip():
        return setting.angle
    u = np.linalg.svd(plane.A)[0][:, 0]
    v = np.linalg.svd(plane.V)[2][0]
    angle = float(np.degrees(np.arccos(min(1.0, abs(u @ v)))))
    return round(angle, 5)  # rounding leaves a millionth of a degree


def local_of(setting: FiberSetting, inputs: np.ndarray) -> dict:
    """What the page needs to walk, to step off, and to compute the outputs of these
    inputs."""
    plane = plane_of(setting)
    is_random = setting.direction == "random"
    return {
        "preset": setting.preset,
        "walk": setting.walk,
        "attention": setting.attention,
        "plane": plane,
        "swapped": swapped(Reals(), plane) if setting.preset == "rank-one" else None,
        "random": _direction_off(setting, plane, plane) if is_random else None,
        "inputs": inputs,
    }


def _walk(setting: FiberSetting, plane: Pair) -> tuple[Pair, Pair]:
    """Where the walk leads, and its direction there, of length 1 (0 where it stands
    still)."""
    s = setting.along
    if setting.preset == "zero":
        return _walk_over_zero(plane, s, -1.0 if setting.negative else 1.0)
    pair = plane
    if setting.swap and setting.preset == "rank-one":
        pair = swapped(Reals(), pair)
    if setting.negative:
        pair = Pair(-pair.A, -pair.V)
    # `onward` is the derivative of `base` by s, up to a factor.
    if setting.walk == "rescale":
        base = rescaled(Reals(), pair, 2.0**s)
        onward = Pair(base.A, -base.V)
    elif setting.walk == "antisymmetric":
        base = with_antisymmetric_part(pair, s)
        onward = Pair(pair.A - pair.A.T, 0 * pair.V)
    else:
        base = Pair(2.0**s * pair.A, pair.V)
        onward = Pair(pair.A, 0 * pair.V)
    return base, _unit_pair(onward)


def _walk_over_zero(plane: Pair, s: float, sign: float) -> tuple[Pair, Pair]:
    """To A = 0 at s = 1, where it turns and goes on with V; and its direction."""
    none = Pair(0 * plane.A, 0 * plane.V)
    if s < 1:
        base = Pair(sign * (1 - s) * plane.A, none.V)
        return base, Pair(-sign * plane.A, none.V)
    # Twice as fast: where the control ends, at s = 1.5, V has length 1.
    base = Pair(none.A, sign * 2 * (s - 1) * plane.V)
    return base, Pair(none.A, sign * plane.V)


def _direction_off(setting: FiberSetting, plane: Pair, base: Pair) -> Pair:
    """A direction of length 1 off the fibre: at random, or where |A| |V| grows
    fastest."""
    if setting.direction == "random":
        rng = np.random.default_rng([setting.seed, setting.width, setting.width_out, 2])
        A = rng.standard_normal(base.A.shape)
        V = rng.standard_normal(base.V.shape)
        return _unit_pair(Pair(A, V))
    length_of_A = np.linalg.norm(base.A)
    length_of_V = np.linalg.norm(base.V)
    # A matrix that is 0 has no direction: that of the start is taken.
    A = base.A / length_of_A if length_of_A > TOLERANCE else plane.A
    V = base.V / length_of_V if length_of_V > TOLERANCE else plane.V
    if max(length_of_A, length_of_V) <= TOLERANCE:
        return _unit_pair(Pair(A, V))
    # The gradient of |A| |V|
    return _unit_pair(Pair(length_of_V * A, length_of_A * V))


def _step(pair: Pair, direction: Pair, length: float) -> Pair:
    return Pair(pair.A + length * direction.A, pair.V + length * direction.V)


def _place(plane: Pair, pair: Pair) -> tuple[float, float]:
    """Coordinates in the plane, without the last digits that rounding leaves."""
    x = float(np.vdot(plane.A, pair.A))
    y = float(np.vdot(plane.V, pair.V))
    return round(x, 12), round(y, 12)


def _slope(distances: list[float]) -> float | None:
    short = []
    for length, distance in zip(_STEPS, distances, strict=True):
        if length < _SMALL_STEP and distance > _NOTHING:
            short.append((length, distance))
    if len(short) < 2:
        return None
    log_lengths, log_distances = np.log10(short).T
    slope, _ = np.polyfit(log_lengths, log_distances, 1)
    return float(slope)


def _unit(matrix: np.ndarray) -> np.ndarray:
    norm = np.linalg.norm(matrix)
    return matrix / norm if norm else matrix


def _unit_pair(pair: Pair) -> Pair:
    norm = np.hypot(np.linalg.norm(pair.A), np.linalg.norm(pair.V))
    return Pair(pair.A / norm, pair.V / norm) if norm else pair


def _size(outputs: np.ndarray) -> float:
    """Root mean square."""
    return float(np.sqrt(np.mean(outputs**2)))
