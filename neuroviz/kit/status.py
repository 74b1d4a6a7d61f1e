"""What a panel or a question says of itself, and of which values of its controls an
answer is.

Each message of Python carries the values that it stands for, as `values_of` gives them:
the figure, the badges, the description and the status line. The page compares them with
its own controls, again and again, and dims what is of other values
(`web/kit/panel/status.ts`). Nothing has to be heard for an old number to look old: a
kernel that was restarted elsewhere, one that is busy and one that is gone look alike.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape

import anywidget
import ipywidgets as widgets
import traitlets

from neuroviz.kit.page import script
from neuroviz.kit.settings import Controls

Values = dict[str, object]
"""Control → its value, or its words where it is a list."""


def values_of(controls: Controls) -> Values:
    """What the controls show now, as the page reads them.

    >>> number = widgets.FloatSlider(0.7999999999999998)
    >>> kind = widgets.Dropdown(options=[("plain", 0), ("fancy", 1)], value=1)
    >>> values_of({"number": number, "kind": kind})
    {'number': 0.8, 'kind': 'fancy'}
    """
    return {name: _value_of(control) for name, control in controls.items()}


def _value_of(control: widgets.Widget) -> object:
    if hasattr(control, "label"):
        return control.label
    if isinstance(control.value, float):
        return float(f"{control.value:.10g}")  # as memory.ts compares it
    return control.value


def stands_for(values: Mapping[str, object]) -> str:
    """The attribute of an HTML element whose words are of these values.

    >>> stands_for({"number": 3})
    'data-setting="{&quot;number&quot;: 3}"'
    """
    return f'data-setting="{escape(json.dumps(values))}"'


class Status(anywidget.AnyWidget):
    """A line of words; the page puts its own in their place where they are of other
    values of the controls.

    Args:
        controls: name → widget, those that an answer depends on.

    Attributes:
        said: the words, their kind (done, busy, stale, error), and the values that they
            are of.
    """

    said = traitlets.Dict({"text": "", "kind": "done", "of": {}}).tag(sync=True)
    controls = traitlets.Dict().tag(sync=True, **widgets.widget_serialization)
    _esm = script("status.js")

    def __init__(self, controls: Controls, **look: object) -> None:
        super().__init__(controls=controls, **look)
        self.on_msg(self._on_message)

    def say(self, text: str, kind: str, of: Values) -> None:
        """Show these words, which are of these values."""
        self.said = {"text": text, "kind": kind, "of": of}

    def _on_message(self, _widget: Status, message: dict, _buffers: list) -> None:
        # The page asks after each press of a button. Python hears one thing after
        # another, so by now it has heard the press.
        if "heard" in message:
            self.send({"heard": message["heard"]})
