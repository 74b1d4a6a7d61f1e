"""Symmetries and training: walk along a fibre before descending, and see whether it helps."""

from math import inf

import ipywidgets as widgets

from neuroviz.beyond.teleport.comparison import CHECKPOINTS
from neuroviz.beyond.teleport.figure import teleport_parts
from neuroviz.beyond.teleport.study import FARTHEST, TeleportSetting, TeleportStudy, study_teleport
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import small

_WALKS = [
    ("Q up, K down", "keys"),
    ("Q up, V down", "values"),
    ("a basis of the head", "basis"),
    ("a basis between layers", "interface"),
]
_RULES = [
    ("the start’s best rate", "same"),
    ("⅛ of the start’s best", "small"),
    ("each its own best rate", "own"),
]


class TeleportExplorer(Panel):
    """Move along a fibre: the loss stays and its gradient changes. Does it help to do that before descending?

    Left, the length of the gradient along the fibre, and below it the loss. Middle, gradient descent from the
    start and from the place of the walk, at one rate. Right, two hundred networks that were counted
    beforehand: the share that is ahead when it first jumps to where the gradient is shortest, or 2 or 4 times
    as long.

    Controls: walk (which one-parameter group), place (s), rate (k: the rate is 2ᵏ), rule (at which rate the
    two hundred descend); under "More": steps, seed. See `Panel` for what all panels share.

    >>> panel = TeleportExplorer(state="place=2.5;rate=-7")
    >>> "is lost" in panel.description
    True
    """

    title = "Teleportation: the loss stays, the gradient does not"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        default = TeleportSetting()
        first = {
            "walk": widgets.Dropdown(options=_WALKS, value=default.walk, description="walk"),
            "place": widgets.FloatSlider(
                value=default.place,
                min=-FARTHEST,
                max=FARTHEST,
                step=0.05,
                description="place s",
                readout_format=".2f",
            ),
            "rate": widgets.IntSlider(value=default.rate, min=-12, max=-3, description="rate 2ᵏ: k"),
            "rule": widgets.Dropdown(options=_RULES, value=default.rule, description="the 200 at"),
        }
        more = {
            "steps": widgets.IntSlider(value=default.steps, min=5, max=400, step=5, description="steps"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _read(self) -> TeleportSetting:
        value = {name: control.value for name, control in self.controls.items()}
        return TeleportSetting(place=round(value.pop("place"), 6), **value)

    _answer = staticmethod(study_teleport)

    draw = staticmethod(teleport_parts)

    def _badge(self, answer: TeleportStudy) -> str:
        return theme.badge("proved here", "convex in s") + theme.badge("float", "descents")

    def _describe(self, answer: TeleportStudy) -> str:
        return " ".join(
            (_say_walk(answer), _say_minimum(answer), _say_descents(answer), _say_counted(answer))
        )


def _say_walk(study: TeleportStudy) -> str:
    times = study.gradient / study.gradient_at(0.0)
    return (
        f"At s = {_signed(study.setting.place)} the loss is {study.loss:.4g} as at the start (to "
        f"{small(study.drift)}), and its gradient {times:.2g} times as long."
    )


def _say_minimum(study: TeleportStudy) -> str:
    more = study.gradient_at(study.balanced) / study.gradient_at(study.least)
    return (
        f"The gradient is shortest at {_signed(study.least)}, the weights themselves at "
        f"{_signed(study.balanced)}, where the gradient is {100 * (more - 1):.2g} % longer; there is no "
        "longest gradient."
    )


def _signed(s: float) -> str:
    return f"{s:.2f}".replace("-", "−")


def _say_descents(study: TeleportStudy) -> str:
    start, here = study.from_start, study.from_here
    steps = study.setting.steps
    if here[-1] == inf:
        at = here.index(inf)
        also = ", and so is that from the start" if start[-1] == inf else ""
        return f"From here the descent is lost after {at} step{'s' * (at > 1)}{also}."
    if start[-1] == inf:
        return "From the start the descent is lost at this rate, and from here it is not."
    return (
        f"From the start and from here the losses are {start[1]:.3g} and {here[1]:.3g} after 1 step, "
        f"{start[-1]:.3g} and {here[-1]:.3g} after {steps}."
    )


def _say_counted(study: TeleportStudy) -> str:
    comparison = study.comparison
    twice = next(c for c in comparison.of(study.setting.rule) if c.destination == "twice")
    lost = f"; {twice.lost[-1]} are lost" if twice.lost[-1] else ""
    return (
        f"Of {comparison.seeds} that first doubled their gradient {twice.ahead[0]} are ahead after 1 step, "
        f"{twice.ahead[2]} after {CHECKPOINTS[2]}, {twice.ahead[-1]} after {CHECKPOINTS[-1]}{lost}."
    )
