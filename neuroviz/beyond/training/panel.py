"""Train one layer many times, towards a target that the reader chooses, and see where the runs end."""

from collections.abc import Generator
from dataclasses import dataclass

import ipywidgets as widgets
import numpy as np

from neuroviz.beyond.training.figure import FlowStudy, flow_parts, share_in_words, small
from neuroviz.beyond.training.flow import (
    BOUNDARY,
    count_ends,
    flow_in_steps,
    forms_table,
    random_starts,
    random_targets,
)
from neuroviz.engine.progress import finish, retold
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.singular.forms import kind_of
from neuroviz.singular.surface import SLICES

_TARGETS = [
    ("Gaussian: any table", "gaussian"),
    ("realisable: a random layer", "realisable"),
    ("dotted: no real common root", "dotted"),
    ("dotted, plus noise", "dotted, noisy"),
    ("placed by you (see More)", "placed"),
]
_COORDINATES = [("(A, V)", "AV"), ("(Q, K, V)", "QKV")]
_QUICK_RUNS, _QUICK_TIME = 40, 60  # about 0.3 s
_MOMENTS = 70

_IN_WORDS = {
    "gaussian": ("Gaussian target", "Gaussian targets"),
    "realisable": ("target that is a layer", "targets that are layers"),
    "dotted": ("target on the dotted curve", "targets on the dotted curve"),
    "dotted, noisy": ("target next to the dotted curve", "targets next to the dotted curve"),
}
# What 400 runs of time 600 gave (docs/mathematics.md, "Gradient flow").
_KNOWN = {"gaussian": "0 %", "realisable": "2 %", "dotted": "99 %", "dotted, noisy": "4 %"}
_PLACE_WORDS = {
    "smooth": "a layer, at a smooth point",
    "crossing": "a layer, where two sheets cross",
    "boundary": "a layer at the boundary",
    "closure only": "on the dotted curve: no layer",
    "off": "no layer, and off the closure",
}


@dataclass(frozen=True)
class FlowSetting:
    """What the controls ask for.

    Attributes:
        target: a kind of `neuroviz.beyond.training.flow.TARGETS`, or "placed".
        slice, at: where a placed target lies; None for the other kinds.
        runs, time, factored, seed: how many runs, for how long, in (Q, K, V) or in (A, V), from what.
    """

    target: str
    slice: str | None
    at: tuple[float, float, float] | None
    runs: int
    time: float
    factored: bool
    seed: int


def study_flow(setting: FlowSetting) -> FlowStudy:
    """Run the flow and count where it ends.

    >>> study = study_flow(FlowSetting("dotted", None, None, runs=5, time=10, factored=False, seed=0))
    >>> study.flow.loss.shape[1], study.counts.runs
    (5, 5)
    """
    return finish(study_in_steps(setting))


def study_in_steps(setting: FlowSetting) -> Generator[str, None, FlowStudy]:
    """The same, saying now and then how far it is."""
    if setting.target == "placed":
        forms = SLICES[setting.slice].forms(*setting.at)
        table, kind = forms_table(*forms), str(kind_of(*forms))
        words = f"the target at {_position(setting)} of {setting.slice}"
    else:
        table, kind = random_targets(setting.target, setting.runs, setting.seed), ""
        words = f"{setting.runs} {_IN_WORDS[setting.target][setting.runs > 1]}"
    steps = flow_in_steps(
        table,
        random_starts(setting.runs, setting.seed, setting.factored),
        times=np.concatenate([[0.0], np.geomspace(0.1, setting.time, _MOMENTS)]),
        rtol=1e-9,  # with less, a loss that has gone to 0 shows the noise of the solver
    )
    flow = yield from retold(steps, lambda share: f"{share:.0%} of the flow’s time has passed")
    return FlowStudy(flow, count_ends(flow, setting.target, setting.seed), words, kind)


def _position(setting: FlowSetting) -> str:
    names = SLICES[setting.slice].coordinates
    return ", ".join(f"{name} = {value:g}" for name, value in zip(names, setting.at, strict=True))


class FlowExplorer(Panel):
    """Gradient flow of one layer in function space, from many starts: does it end at singular points?

    Controls: target ("gaussian", "realisable", "dotted", "dotted, noisy" or "placed"), runs, time,
    coordinates (AV or QKV); under "More": slice (S1, S3), x, y, z for a placed target, and seed. Long
    flows run in the background, and the status line says how far they are. See `Panel` for what all
    panels share.

    >>> panel = FlowExplorer(state="target=gaussian;runs=10;time=20")
    >>> panel.description.startswith("10 Gaussian targets")
    True
    """

    title = "Does training end at singular points?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int, step: int) -> widgets.IntSlider:
            return widgets.IntSlider(
                value=value, min=least, max=most, step=step, description=label, continuous_update=False
            )

        def place(label: str, value: float) -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=-4, max=4, step=0.05, description=label, continuous_update=False
            )

        first = {
            "target": widgets.Dropdown(options=_TARGETS, value="dotted", description="target"),
            "runs": whole("runs N", 40, 1, 400, 1),
            "time": whole("time", 60, 10, 600, 10),
            "coordinates": widgets.Dropdown(options=_COORDINATES, description="weights"),
        }
        more = {
            "slice": widgets.Dropdown(options=["S1", "S3"], description="slice"),
            "x": place("x", 1.0),
            "y": place("y", 0.0),
            "z": place("z", 0.0),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        placed = self.controls["target"].value == "placed"
        names = SLICES[self.controls["slice"].value].coordinates
        self.controls["slice"].disabled = not placed
        for control, name in zip("xyz", names, strict=True):
            self.controls[control].disabled = not placed
            self.controls[control].description = f"target’s {name}"

    def _read(self) -> FlowSetting:
        value = {name: control.value for name, control in self.controls.items()}
        placed = value["target"] == "placed"
        return FlowSetting(
            target=value["target"],
            slice=value["slice"] if placed else None,
            # A slider of step 0.05 stops at 1.0000000000000002, which is beside the dotted curve.
            at=tuple(round(value[name], 6) for name in "xyz") if placed else None,
            runs=value["runs"],
            time=float(value["time"]),
            factored=value["coordinates"] == "QKV",
            seed=value["seed"],
        )

    _answer = staticmethod(study_flow)
    _answer_in_steps = staticmethod(study_in_steps)

    def _is_slow(self, setting: FlowSetting) -> bool:
        return setting.runs > _QUICK_RUNS or setting.time > _QUICK_TIME

    draw = staticmethod(flow_parts)

    def _badge(self, answer: FlowStudy) -> str:
        return theme.badge("proved", "conserved quantities") + theme.badge("float", "where runs end")

    def _describe(self, answer: FlowStudy) -> str:
        counts = answer.counts
        share = share_in_words(counts.singular, counts.runs)
        of_them = f" ({share_in_words(counts.boundary, counts.runs)} at the boundary)" * bool(counts.singular)
        parts = [
            f"{answer.target}, time {counts.time:g}: {share} end{'s' * (share == 'the run')} "
            f"at a singular point{of_them}."
        ]
        if answer.target_kind:
            parts.append(f"This target is {_PLACE_WORDS[answer.target_kind]}.")
            if answer.target_kind == "boundary":
                parts.append(
                    "Runs come near it as slowly as 1/√time: they count as “at the boundary” from an angle "
                    f"of {BOUNDARY:g} on, which can take a time of 10,000."
                )
        else:
            parts.append(f"With 400 runs of time 600 from (A, V) it was {_KNOWN[counts.target]}.")
        if counts.singular == 0 and counts.runs > 2:
            parts.append(
                f"({counts.runs} runs cannot tell 0 from a share of {min(300 / counts.runs, 90):.2g} %.)"
            )
        drift = ", ".join(f"{name} by {small(value)}" for name, value in answer.drift.items())
        parts.append(f"What theory calls conserved moved no more than the solver’s rounding: {drift}.")
        parts.append(
            "Does training prefer singular points, as the paper wonders? In this small model for special "
            "targets, such as those on the dotted curve, and not for generic ones; place your own."
        )
        return " ".join(parts)
