"""What the dimension buys: how many numbers a network can learn by heart."""

import ipywidgets as widgets

from neuroviz.beyond.memorisation.figure import memorisation_parts
from neuroviz.beyond.memorisation.memorisation import CASES
from neuroviz.beyond.memorisation.study import (
    FARTHEST,
    RUNS,
    STEPS,
    MemorisationSetting,
    MemorisationStudy,
    case_name,
    study_memorisation,
)
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel

_TARGETS = [
    ("a small change", "nearby"),
    ("random numbers", "random"),
    ("another’s outputs", "teacher"),
]
_NETWORKS = [
    (f"{arch.attention} {'→'.join(map(str, arch.widths))}, a = {', '.join(map(str, arch.head_dims))}", name)
    for arch, name in ((arch, case_name(arch)) for arch in CASES)
]


class MemorisationExplorer(Panel):
    """Ask a network for N numbers: does it learn as many as it has parameters, or dimensions?

    Left and middle, an experiment with fourteen networks that was run beforehand: which share of the tasks
    was learnt, against N/D and against N/P. Right, three runs made now, at an N of the reader's.

    Controls: targets (what is to be learnt), network, beyond (N − D); under "More": seed of the three runs.
    See `Panel` for what all panels share.

    >>> panel = MemorisationExplorer(state="beyond=1")
    >>> "0 of 3" in panel.description
    True
    """

    title = "What does the dimension buy?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        default = MemorisationSetting()
        first = {
            "targets": widgets.Dropdown(options=_TARGETS, value=default.targets, description="to be learnt"),
            "network": widgets.Dropdown(options=_NETWORKS, value=default.network, description="network"),
            "beyond": widgets.IntSlider(
                value=default.beyond,
                min=-FARTHEST,
                max=FARTHEST,
                description="N − D",
                continuous_update=False,
            ),
        }
        more = {"seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed")}
        return first, more

    def _lay_out(self, *args: object, **kwargs: object) -> list[widgets.Widget]:
        rows = super()._lay_out(*args, **kwargs)
        if theme.size("base") <= 14:
            self.controls["beyond"].layout.width = "300px"  # so that "More" stands in the same row
        return rows

    def _read(self) -> MemorisationSetting:
        return MemorisationSetting(**{name: control.value for name, control in self.controls.items()})

    _answer = staticmethod(study_memorisation)

    def _is_slow(self, setting: MemorisationSetting) -> bool:
        return setting.targets != "nearby"  # the others take many steps

    draw = staticmethod(memorisation_parts)

    def _badge(self, answer: MemorisationStudy) -> str:
        reach, prime = answer.reach, f"{answer.reach.prime:,}".replace(",", " ")
        exact = theme.badge("exact", f"rank {reach.value} of {answer.count} numbers mod {prime}")
        return exact + theme.badge("float", "what is learnt")

    def _describe(self, answer: MemorisationStudy) -> str:
        return " ".join((_say_reach(answer), _say_runs(answer), _say_experiment(answer)))


def _say_reach(study: MemorisationStudy) -> str:
    N, D, P = study.count, study.dimension.value, study.setting.arch.num_parameters
    asked = f"{study.setting.arch}: P = {P} parameters, dimension D = {D}, and N = {N} numbers asked for."
    if study.reach.value == N:
        return f"{asked} Near generic weights all small changes of them can be reached (exact rank {N})."
    return (
        f"{asked} What it can give has dimension {study.reach.value} (exact rank), so almost all choices "
        "of the numbers are out of its reach."
    )


def _say_runs(study: MemorisationStudy) -> str:
    said = f"{study.learnt} of {RUNS} runs of at most {STEPS} steps learn their numbers"
    if study.setting.targets == "teacher":
        return f"{said}; they come from another network of this shape, so a solution exists for every N."
    if study.learnt < RUNS and study.reach.value == study.count:
        return f"{said}: that a run stops early does not say that there is no solution."
    return f"{said}."


def _say_experiment(study: MemorisationStudy) -> str:
    n = len(study.curves)
    if study.setting.targets == "teacher":
        return (
            f"In all {n} networks together {study.beyond} tasks beyond D were solved: this is no memorising."
        )
    (low, high), (least, most) = study.span(), study.span(parameters=True)
    less = " or less" * study.fails
    of_dimension = "D itself" if low == high == 1 else f"{low:.2g}{less} to {high:.2g} times D"
    return (
        f"In {n} networks the largest N of which half is learnt is {of_dimension}, and {least:.2g}{less} to "
        f"{most:.2g} times P: the parameters do not tell it. Learnt beyond D: {study.beyond or 'none'}."
    )
