"""The setting of a panel: a frozen dataclass whose fields declare widget, range, label
and row.

    @dataclass(frozen=True)
    class WalkSetting:
        a: int = whole("head dimension a", 2, 1, 8)
        attention: str = choice("attention", ATTENTION_KINDS)
        seed: int = seed()

A setting refuses what does not fit together with a ValueError in `__post_init__`.
Fields with `more=True` stand under "More"; what nothing moves is a `ClassVar`.
ipywidgets is loaded when the controls are made, so mathematics may declare settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ipywidgets as widgets

Controls = dict[str, "widgets.Widget"]
QUICK_MILLISECONDS = 250
"""What is estimated to take longer is slow: a setting's `is_slow`."""


@dataclass(frozen=True)
class Control:
    """How a field is shown: the name of its widget, the widget's options, its row, and
    its name in states."""

    widget: str
    options: dict
    more: bool
    name: str | None


def _check_start(label: str, default: float, least: float, most: float) -> None:
    if not least <= default <= most:
        raise ValueError(
            f"the slider {label!r} starts somewhere from {least} to {most}, its ends; "
            f"got {default}: take another default, or other ends"
        )


# What follows returns a field, and says the type of its value: so a checker sees the
# setting's `a: int = whole(…)` as a number.
def _control(
    widget: str, default: object, more: bool, name: str | None = None, **options: object
) -> object:
    return field(
        default=default, metadata={"control": Control(widget, options, more, name)}
    )


def choice(
    label: str,
    options: Sequence,
    default: str | None = None,
    more: bool = False,
    name: str | None = None,
) -> str:
    """A choice from a list of values, or of pairs (words, value); it starts at the
    default or the first.

    `name` is the control's, where it is not the field's.
    """
    values = [one[1] if isinstance(one, tuple) else one for one in options]
    start = values[0] if default is None else default
    return _control(
        "Dropdown", start, more, name, options=list(options), description=label
    )


def whole(
    label: str,
    default: int,
    least: int,
    most: int,
    step: int = 1,
    more: bool = False,
    slow: bool = False,
) -> int:
    """A whole number on a slider; a `slow` slider acts only when it is released."""
    _check_start(label, default, least, most)
    ends = {"min": least, "max": most, "step": step}
    return _control(
        "IntSlider",
        default,
        more,
        **ends,
        description=label,
        continuous_update=not slow,
    )


def real(
    label: str,
    default: float,
    least: float,
    most: float,
    step: float,
    more: bool = False,
    slow: bool = False,
    shown: str = ".2f",
) -> float:
    """A number on a slider, `shown` in this format."""
    _check_start(label, default, least, most)
    ends = {"min": least, "max": most, "step": step, "readout_format": shown}
    return _control(
        "FloatSlider",
        default,
        more,
        **ends,
        description=label,
        continuous_update=not slow,
    )


def switch(
    label: str, default: bool = False, more: bool = False, **look: object
) -> bool:
    """Yes or no, as a box to tick."""
    return _control("Checkbox", default, more, description=label, **look)


def toggle(label: str, **look: object) -> bool:
    """Yes or no, as a button that stays down; it is up at first."""
    return _control("ToggleButton", False, False, description=label, **look)


def text(label: str, default: str = "", more: bool = True, **look: object) -> str:
    """Words to type; they count when Enter is pressed. `placeholder` is seen while it
    is empty."""
    return _control(
        "Text", default, more, description=label, continuous_update=False, **look
    )


def seed(label: str = "seed") -> int:
    """The seed of all random draws; always under "More"."""
    return _control("BoundedIntText", 0, True, min=0, max=10**6, description=label)


def make_controls(setting: type) -> tuple[Controls, Controls]:
    """The widgets of a setting: those seen at first, and those under "More"; name →
    widget.

    Raises:
        TypeError: if a field declares no control: nothing would move it.
    """
    import ipywidgets as widgets

    from neuroviz.kit.controls import SharedLook

    first: Controls = {}
    more: Controls = {}
    make = SharedLook().make
    for one in fields(setting):
        control = one.metadata.get("control")
        if control is None:
            raise TypeError(
                f"each field of {setting.__name__} declares a control, as in a: int = "
                f'whole("a", 3, 1, 8); {one.name} has none: take a function of '
                "neuroviz/kit/settings.py, or make it a ClassVar, which nothing moves"
            )
        kind = getattr(widgets, control.widget)
        made = make(kind, value=one.default, **control.options)
        row = more if control.more else first
        row[control.name or one.name] = made
    return first, more


def read_setting(setting: type, controls: Controls) -> object:
    """The controls as a setting; floats are rounded to 8 decimals, as a slider may give
    1.0000000000000002.

    Raises:
        ValueError: if the setting refuses them.
    """
    values = {}
    for one in fields(setting):
        control = one.metadata["control"]
        value = controls[control.name or one.name].value
        # The page compares 6 digits, and rounds 5 up where Python rounds to even: it
        # gets more of them.
        values[one.name] = round(value, 8) if isinstance(value, float) else value
    return setting(**values)
