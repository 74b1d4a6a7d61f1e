"""Widgets of a panel: how they are made, shown and hidden; the values of controls as
text, in state strings and as readers type them."""

from collections.abc import Callable
from urllib.parse import unquote

import ipywidgets as widgets

HIDDEN = "nv-hidden"
"""The class of a widget that is not seen."""


class SharedLook:
    """Makes widgets that have one layout in common, and one style of each kind: a page
    makes a model of each anew. How they look is said by their classes, in panel.css.

    >>> look = SharedLook()
    >>> first, second = look.make(widgets.HTML, "nv-a"), look.make(widgets.HTML, "nv-b")
    >>> first.layout is second.layout and first.style is second.style
    True
    """

    def __init__(self) -> None:
        self._layout = widgets.Layout()
        self._styles: dict[type, widgets.Widget] = {}

    def make(self, kind: type, *classes: str, **options: object) -> widgets.Widget:
        """A widget of this kind, with these classes in the page; the options may give
        it a layout of its own."""
        options = {"layout": self._layout} | options
        if classes:
            # add_class would send a message of its own
            options["_dom_classes"] = classes
        style = kind.class_traits().get("style")
        if style is not None:
            if style.klass not in self._styles:
                self._styles[style.klass] = style.klass()
            options["style"] = self._styles[style.klass]
        return kind(**options)


def show(widget: widgets.Widget, is_shown: bool) -> None:
    """Show a widget in its row, or hide it."""
    if is_shown:
        widget.remove_class(HIDDEN)
    else:
        widget.add_class(HIDDEN)


def is_shown(widget: widgets.Widget) -> bool:
    """Whether it is not hidden in its row.

    >>> slider = widgets.IntSlider()
    >>> show(slider, False)
    >>> is_shown(slider)
    False
    """
    return HIDDEN not in widget._dom_classes


def write_control(value: object) -> str:
    """A control's value as a state string holds it.

    >>> write_control(True), write_control(0.1 + 0.2), write_control("a;b")
    ('yes', '0.3', 'a%3Bb')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    # ; separates the parts of a state
    return str(value).replace("%", "%25").replace(";", "%3B")


def options_of(control: widgets.Widget) -> list:
    """The values of a list, in its order.

    >>> options_of(widgets.Dropdown(options=[("plain", 0), ("fancy", 1)]))
    [0, 1]
    """
    return [
        option[1] if isinstance(option, tuple) else option for option in control.options
    ]


def read_control(name: str, control: widgets.Widget, text: str) -> object:
    """A control's value from a state string; ValueError says what it may be."""
    text = text.strip()
    if isinstance(control, (widgets.Checkbox, widgets.ToggleButton)):
        if text not in ("yes", "no"):
            raise ValueError(f"{name} is yes or no; got {text!r}")
        return text == "yes"
    if isinstance(control, (widgets.Dropdown, widgets.ToggleButtons)):
        options = {unquote(write_control(one)): one for one in options_of(control)}
        text = unquote(text)
        if text not in options:
            raise ValueError(f"{name} is one of {', '.join(options)}; got {text!r}")
        return options[text]
    if hasattr(control, "min"):
        kind: Callable = float if isinstance(control.value, float) else int
        ends = f"from {control.min} to {control.max}"
        try:
            value = kind(text)
        except ValueError:
            raise ValueError(f"{name} is a number {ends}; got {text!r}") from None
        if not control.min <= value <= control.max:
            raise ValueError(f"{name} goes {ends}; got {text}")
        # the page would move it to the next step by itself
        if isinstance(control, widgets.FloatSlider):
            steps = round((value - control.min) / control.step)
            value = round(control.min + steps * control.step, 9)
        return value
    return unquote(text)


def typed_widths(
    text: str, example: str, most: int, layers: int, instead: str = ""
) -> tuple[int, ...]:
    """Widths d₀, d₁, …, d_l, each from 1 to `most`, of one layer up to `layers`.

    Args:
        instead: what else a reader can do where there are too many or too few.

    Raises:
        ValueError: if the text holds something else.

    >>> typed_widths("4, 3 5", "4,3,5", most=8, layers=6)
    (4, 3, 5)
    """
    needed = f"2 to {layers + 1} numbers, d₀, d₁, …"
    return _typed("widths", text, example, most, range(2, layers + 2), needed, instead)


def typed_head_dims(
    text: str, example: str, most: int, layers: int, instead: str = ""
) -> tuple[int, ...]:
    """Head dimensions a₁, …, a_l, as many as layers; see `typed_widths`.

    >>> typed_head_dims("2 1", "2,1", most=8, layers=2)
    (2, 1)
    """
    needed = f"{layers} numbers, one for each layer"
    return _typed(
        "a per layer", text, example, most, range(layers, layers + 1), needed, instead
    )


def _typed(
    name: str,
    text: str,
    example: str,
    most: int,
    counts: range,
    needed: str,
    instead: str,
) -> tuple[int, ...]:
    try:
        numbers = tuple(int(part) for part in text.replace(",", " ").split())
    except ValueError:
        raise ValueError(
            f"{name} needs whole numbers such as {example}; got {text!r}"
        ) from None
    if outside := [number for number in numbers if not 1 <= number <= most]:
        raise ValueError(
            f"{name} goes from 1 to {most} in this panel; got {outside[0]}"
        )
    if len(numbers) not in counts:
        got = f"got {len(numbers)} in {text!r}: add or remove some{instead}"
        raise ValueError(f"{name} needs {needed}; {got}")
    return numbers
