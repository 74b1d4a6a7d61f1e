"""One network among those of the experiment on memorisation, with a few runs of its own."""

from dataclasses import dataclass

from neuroviz.beyond.memorisation.memorisation import (
    CASES,
    LEARNT,
    TARGETS,
    Curve,
    draw_task,
    learn,
    measure_reach,
    shipped_experiment,
)
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.measure import Measurement, measure_dimension

FARTHEST = 6
"""How far the reader may move N away from D."""
RUNS, STEPS = 3, 120
"""Of the reader's own runs: how many, and how many steps at most."""


def case_name(arch: Architecture) -> str:
    """A name for a network, as a state string can hold it.

    >>> case_name(CASES[3])
    'lightning-3-3-3-a2-2'
    """
    return "-".join([arch.attention, *map(str, arch.widths), "a" + "-".join(map(str, arch.head_dims))])


@dataclass(frozen=True)
class MemorisationSetting:
    """Which network, what it is to learn, and how much of it.

    Attributes:
        targets: of `memorisation.TARGETS`.
        network: the `case_name` of one of `memorisation.CASES`.
        beyond: N − D, from −6 to 6.
        seed: of the reader's own runs; with 0 they are the first ones of the experiment, cut after 120 steps.

    Raises:
        ValueError: if a word is unknown or a number is out of its range.
    """

    targets: str = "nearby"
    network: str = case_name(CASES[2])
    beyond: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        for name, known in (("targets", TARGETS), ("network", tuple(map(case_name, CASES)))):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}; got {getattr(self, name)!r}"
                )
        if not -FARTHEST <= self.beyond <= FARTHEST:
            raise ValueError(f"N goes from D − {FARTHEST} to D + {FARTHEST}; got N = D + {self.beyond!r}")

    @property
    def arch(self) -> Architecture:
        """The network."""
        return next(arch for arch in CASES if case_name(arch) == self.network)


@dataclass(frozen=True, eq=False)
class MemorisationStudy:
    """What the experiment found for one kind of targets, and the reader's own runs.

    Attributes:
        setting: as given.
        curves: of the experiment, one for each network, for these targets.
        dimension: D of the reader's network, exact.
        reach: the exact rank of the derivative of its N numbers.
        runs: what was missing after each step, relative to what was asked for, one for each run.
    """

    setting: MemorisationSetting
    curves: tuple[Curve, ...]
    dimension: Measurement
    reach: Measurement
    runs: tuple[tuple[float, ...], ...]

    @property
    def count(self) -> int:
        """N."""
        return self.dimension.value + self.setting.beyond

    @property
    def chosen(self) -> Curve:
        """The curve of the reader's network."""
        return next(curve for curve in self.curves if curve.arch == self.setting.arch)

    @property
    def learnt(self) -> int:
        """How many of the reader's runs reached their numbers."""
        return sum(run[-1] < LEARNT for run in self.runs)

    @property
    def beyond(self) -> int:
        """How many tasks with N > D were learnt, in all networks."""
        return sum(trial.learnt for c in self.curves for trial in c.trials if trial.count > c.dimension)

    @property
    def fails(self) -> bool:
        """Whether some network learnt half of nothing that was tried."""
        return any(curve.capacity is None for curve in self.curves)

    def span(self, parameters: bool = False) -> tuple[float, float]:
        """The smallest and the largest capacity of a network, divided by D, or by its number P of parameters.

        The capacity is the largest N of which half is learnt, or where there is none the smallest that was
        tried.
        """
        found = [
            (curve.trials[0].count if curve.capacity is None else curve.capacity)
            / (curve.arch.num_parameters if parameters else curve.dimension)
            for curve in self.curves
        ]
        return min(found), max(found)


def study_memorisation(setting: MemorisationSetting) -> MemorisationStudy:
    """The experiment's curves, the exact rank at this N, and three runs.

    >>> study = study_memorisation(MemorisationSetting(beyond=1))
    >>> study.count, study.reach.value, study.learnt
    (18, 17, 0)
    """
    arch, dimension = setting.arch, measure_dimension(setting.arch)
    count = dimension.value + setting.beyond
    tasks = [draw_task(arch, setting.targets, count, draw, seed=setting.seed) for draw in range(RUNS)]
    return MemorisationStudy(
        setting,
        shipped_experiment().of(setting.targets),
        dimension,
        measure_reach(arch, count),
        tuple(learn(*task, steps=STEPS).misses for task in tasks),
    )
