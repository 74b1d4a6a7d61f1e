"""The walk of Theorem 3.9 at one place: what a panel asks for, and all that it shows."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import floor
from typing import NamedTuple

import numpy as np

from neuroviz.softmax.one_layer import integer_layer, softmax_layer
from neuroviz.softmax.one_layer_limit import LimitStudy, limit_study
from neuroviz.softmax.one_layer_probes import Known, Probe, ReadOff, Step, relative_error
from neuroviz.softmax.one_layer_walk import ExactReadOff, read_off, read_off_exactly

STEPS = ("V", "one token", "two tokens", "limit")


@dataclass(frozen=True)
class OneLayerSetting:
    """A softmax layer, and how far the walk has come.

    Attributes:
        step: one of `STEPS`.
        part: how much of the step has been done, above 0 and up to 1.
        log_temperature: log₁₀ τ.
        size: what V is multiplied by; 0 for V = 0.
        fitted: whether the tokens have the length that suits the temperature, or length 1.
        width, head_dim, out, tokens: d, a, d' and t.
        seed: what the weights are drawn from.

    Raises:
        ValueError: if one of them is none of the above.
    """

    step: str = "V"
    part: float = 1.0
    log_temperature: float = 0.0
    size: float = 1.0
    fitted: bool = True
    width: int = 3
    head_dim: int = 2
    out: int = 2
    tokens: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if self.step not in STEPS:
            raise ValueError(f"step must be one of {', '.join(map(repr, STEPS))}; got {self.step!r}")
        if not 0 < self.part <= 1:
            raise ValueError(f"part is above 0 and at most 1, the whole step; got {self.part!r}")
        for name in ("width", "head_dim", "out", "tokens"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1 on; got {value!r}")
        if not -6 <= self.log_temperature <= 6:
            raise ValueError(f"log_temperature goes from −6 to 6; got {self.log_temperature!r}")

    @property
    def temperature(self) -> float:
        """τ."""
        return 10.0**self.log_temperature


class Reading(NamedTuple):
    """A matrix by its name: what is known of it by now (NaN for what is not), and the truth."""

    name: str
    found: np.ndarray
    truth: np.ndarray

    @property
    def known(self) -> int:
        """How many entries are known."""
        return int((~np.isnan(self.found)).sum())

    @property
    def error(self) -> float | None:
        """The largest error of these, relative to the largest entry; None if none is known."""
        return relative_error(self.found, self.truth)


@dataclass(frozen=True, eq=False)
class OneLayerStudy:
    """The walk at one place: the layer, what has been read so far, the exact walk and the limit.

    Attributes:
        setting: as given.
        A, V: the weights, which the walk does not see.
        read: all that the walk reads.
        exact: the walk with integer weights of the same shape.
        limit: the layer on random tokens, on its way to the limit.
    """

    setting: OneLayerSetting
    A: np.ndarray
    V: np.ndarray
    read: ReadOff
    exact: ExactReadOff
    limit: LimitStudy

    @property
    def number(self) -> int:
        """The step of the walk, 1 to 3; in the limit all three are done."""
        return min(STEPS.index(self.setting.step) + 1, 3)

    @property
    def step(self) -> Step:
        """The step that is shown."""
        return self.read.steps[self.number - 1]

    @property
    def count(self) -> int:
        """How many probes of the step have been made: at least one, and all of them only at the end."""
        part = 1.0 if self.setting.step == "limit" else self.setting.part
        probes = len(self.step.probes)
        # 0.7 · 10 is a little less than 7 in some products.
        return min(max(1, floor(part * probes + 1e-9)), probes)

    @property
    def probe(self) -> Probe | None:
        """The last of them; None where the step has none (t = 1, two tokens)."""
        return self.step.probes[self.count - 1] if self.count else None

    @cached_property
    def known(self) -> Known:
        """What is known by now."""
        return self.read.after(self.number, self.count)

    @cached_property
    def readings(self) -> tuple[Reading, Reading, Reading]:
        """What is known by now of V, of Sym A = (A + Aᵀ)/2 and of A, which the three steps read."""
        return (
            Reading("V", self.known.V, self.V),
            Reading("Sym A", self.known.sym, (self.A + self.A.T) / 2),
            Reading("A", self.known.A, self.A),
        )

    @property
    def reading(self) -> Reading:
        """What is known by now of the matrix that this step reads."""
        return self.readings[self.number - 1]

    @property
    def entry(self) -> tuple[int, int] | None:
        """The row and column that the last probe read, of Sym A or A; None where it takes others as well."""
        probe, step = self.probe, self.setting.step
        if step not in ("one token", "two tokens") or probe is None:
            return None
        j, k = probe.place
        entry = (j, k) if step == "one token" else (k, j)
        alone = np.array_equal(self.read.basis[:, [j, k]], np.eye(len(self.A))[:, [j, k]])
        return entry if alone and not np.isnan(self.reading.found[entry]) else None

    @property
    def true_logit(self) -> float | None:
        """What the last probe should have read, from the weights."""
        probe = self.probe
        if probe is None or probe.logit is None:
            return None
        x = self.read.scale * probe.x
        y = x if probe.y is None else self.read.scale * probe.y
        return float(y @ self.A @ x)


def study_one_layer(setting: OneLayerSetting) -> OneLayerStudy:
    """Everything about one place of the walk.

    >>> study = study_one_layer(OneLayerSetting(step="two tokens"))
    >>> study.reading.error < 1e-13, study.exact.equal_A, study.exact.equal_V
    (True, 9, 6)
    """
    return OneLayerStudy(setting, *_all_of(replace(setting, step="V", part=1.0)))


@lru_cache(maxsize=256)
def _all_of(s: OneLayerSetting) -> tuple[np.ndarray, np.ndarray, ReadOff, ExactReadOff, LimitStudy]:
    rng = np.random.default_rng([s.seed, s.width, s.head_dim, s.out, s.tokens, 39])
    Q, K = rng.standard_normal((2, s.head_dim, s.width)) / s.head_dim**0.25
    A, V = K.T @ Q, s.size * rng.standard_normal((s.out, s.width))
    X = rng.standard_normal((s.width, s.tokens))
    tau = s.temperature
    read = read_off(softmax_layer(A, V, tau), s.width, s.tokens, tau, None if s.fitted else 1.0, s.seed)
    whole_A, whole_V = integer_layer(s.width, s.head_dim, s.out, rng)
    exact = read_off_exactly(whole_A, whole_V * (s.size != 0), s.tokens)
    return A, V, read, exact, limit_study(A, V, X, tau)
