"""Train one layer many times, towards a target that the reader chooses, and see where
the runs end."""

from collections.abc import Generator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import ceil
from typing import NamedTuple

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, real, seed, whole
from neuroviz.kit.steps import in_steps, retold
from neuroviz.kit.words import in_two_lines, rough, share_in_words
from neuroviz.singular.flow import (
    BOUNDARY,
    Flow,
    count_ends,
    flow_in_steps,
    forms_table,
    random_starts,
    random_targets,
)
from neuroviz.singular.forms import kind_of
from neuroviz.singular.surface import SLICES
from neuroviz_beyond.training.figure import FlowStudy, flow_parts


class Kind(NamedTuple):
    """A kind of random target: its option, in words, and what 4,000 runs gave
    ("Gradient flow")."""

    option: str
    one: str
    many: str
    known: str


TARGETS = {
    "gaussian": Kind(
        "Gaussian: any table", "Gaussian target", "Gaussian targets", "0.1 %"
    ),
    "realisable": Kind(
        "realisable: a random layer",
        "target that is a layer",
        "targets that are layers",
        "2.2 %",
    ),
    "dotted": Kind(
        "dotted: no real common root",
        "target on the dotted curve",
        "targets on the dotted curve",
        "99.6 %",
    ),
    "dotted, noisy": Kind(
        "dotted, plus noise",
        "target next to the dotted curve",
        "targets next to the dotted curve",
        "5.2 %",
    ),
}
OPTIONS = [
    *((kind.option, name) for name, kind in TARGETS.items()),
    ("placed by you (see More)", "placed"),
]
PLACES = {
    "smooth": "a layer, at a smooth point",
    "crossing": "a layer, where two sheets cross",
    "boundary": "a layer at the boundary",
    "closure only": "on the dotted curve: no layer",
    "off": "no layer, and off the closure",
}
# what is computed; the first of both takes about 0.3 s, once
RUNS = (40, 100, 400)
TIMES = (60, 150, 600)
MOMENTS = np.geomspace(0.1, TIMES[-1], 32)


@dataclass(frozen=True)
class FlowSetting:
    """Towards what, how many runs, for how long, in which weights; a placed target lies
    in a slice."""

    target: str = choice("target", OPTIONS, "dotted")
    runs: int = whole("runs N", 40, 1, 400, slow=True)
    time: int = whole("time", 60, 10, 600, step=10, slow=True)
    coordinates: str = choice("weights", [("(A, V)", "AV"), ("(Q, K, V)", "QKV")], "AV")
    slice: str = choice("slice", ["S1", "S3"], "S1", more=True)
    x: float = real("x", 1.0, -4, 4, 0.05, more=True, slow=True)
    y: float = real("y", 0.0, -4, 4, 0.05, more=True, slow=True)
    z: float = real("z", 0.0, -4, 4, 0.05, more=True, slow=True)
    seed: int = seed()

    @property
    def is_slow(self) -> bool:
        """Whether it takes longer than a slider may wait."""
        return self.runs > RUNS[0] or self.time > TIMES[0]


@lru_cache(8)
def _flows(_setting: FlowSetting) -> list[Flow]:
    """The last flow of such runs: fewer of them, for a shorter time, are its
    beginning."""
    return []


@in_steps
def study_flow(setting: FlowSetting) -> Generator[str, None, FlowStudy]:
    """Run the flow and count where it ends."""
    runs = next((n for n in RUNS if n >= setting.runs), setting.runs)
    time = next((n for n in TIMES if n >= setting.time), setting.time)
    if setting.target == "placed":
        at = setting.x, setting.y, setting.z
        forms = SLICES[setting.slice].forms(*at)
        names = SLICES[setting.slice].coordinates
        table = forms_table(*forms)
        kind = str(kind_of(*forms))
        known = ""
        where = ", ".join(
            f"{name} = {value:g}" for name, value in zip(names, at, strict=True)
        )
        words = f"the target at {where} of {setting.slice}"
    else:
        chosen = TARGETS[setting.target]
        table = random_targets(setting.target, runs, setting.seed)
        kind = ""
        known = chosen.known
        words = f"{setting.runs} {chosen.many if setting.runs > 1 else chosen.one}"
    flows = _flows(replace(setting, runs=RUNS[0], time=TIMES[0]))
    if not flows or flows[0].loss.shape[1] < runs or setting.time not in flows[0].times:
        starts = random_starts(runs, setting.seed, setting.coordinates == "QKV")
        times = np.unique(
            [0, *MOMENTS[MOMENTS < time], *range(10, time + 1, 10), setting.time]
        )
        # with more, noise is seen where the loss is 0
        steps = flow_in_steps(table, starts, times, rtol=1e-9)
        told = retold(
            steps, lambda share: f"{100 * share:.0f} % of the flow’s time has passed"
        )
        flows[:] = [(yield from told)]
    flow = flows[0].first(
        setting.runs, [0, *MOMENTS[MOMENTS < setting.time], setting.time]
    )
    return FlowStudy(flow, count_ends(flow), words, kind, known)


class FlowExplorer(Panel):
    """Gradient flow of one layer in function space, from many starts: does it end at
    singular points?

    Controls: see `FlowSetting`. Long flows run in the background, and the status line
    says how far they are.

    >>> panel = FlowExplorer(state="target=gaussian;runs=10;time=20")
    >>> panel.description.startswith("10 Gaussian targets")
    True
    """

    title = "Does training end at singular points?"
    setting = FlowSetting
    _answer = staticmethod(study_flow)
    draw = staticmethod(flow_parts)
    walks = ("time",)

    def _arrange(self) -> None:
        placed = self.controls["target"].value == "placed"
        names = SLICES[self.controls["slice"].value].coordinates
        self.controls["slice"].disabled = not placed
        for control, name in zip("xyz", names, strict=True):
            self.controls[control].disabled = not placed
            self.controls[control].description = f"target’s {name}"

    def _badge(self, answer: FlowStudy) -> str:
        return theme.badge("proved", "conserved quantities") + theme.badge(
            "float", "where runs end"
        )

    def _describe(self, answer: FlowStudy) -> str:
        counts = answer.counts
        kind = answer.kind
        runs = answer.runs
        share, boundary = (
            share_in_words(part, runs) for part in (counts.singular, counts.boundary)
        )
        of_them = f" ({boundary} at the boundary)" * bool(counts.singular)
        end = f"end{'s' * (share == 'the run')} at a singular point"
        parts = [
            f"{answer.target}, time {answer.flow.times[-1]:g}: {share} {end}{of_them}."
        ]
        if kind:
            parts.append(f"This target is {PLACES[kind]}.")
        if kind == "boundary":
            parts.append(
                "Runs come near it as slowly as 1/√time: they count as “at the"
                f" boundary” from an angle of {BOUNDARY:g} on, which can take a time of"
                " 10,000."
            )
        if not kind:
            parts.append(
                f"With 4,000 runs of time 600 from (A, V) it was {answer.known}."
            )
        if counts.singular == 0 and runs > 2:
            most = min(300 / runs, 90)
            parts.append(f"({runs} runs cannot tell 0 from a share of {most:.2g} %.)")
        drift = ", ".join(
            f"{name} by {rough(value, ceil)}" for name, value in answer.drift.items()
        )
        parts.append(
            "What theory calls conserved moved no more than the solver’s rounding:"
            f" {drift}."
        )
        return in_two_lines(parts, len(parts) - 1, len(parts) - 2)
