"""A row of buttons that take a panel to chosen states, for the prose around it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import ipywidgets as widgets

from neuroviz.kit.controls import SharedLook

if TYPE_CHECKING:
    from neuroviz.kit.panel import Panel


def presets(panel: Panel, states: Mapping[str, str]) -> widgets.Box:
    """One button for each state, in a row of its own; `Panel(presets=…)` has them above
    its figure.

    Args:
        panel: the one that the buttons drive, wherever it stands on the page.
        states: label of the button → state string, as `panel.state` gives it or
            shorter.

    Raises:
        ValueError: if there is no state, a label is empty, or a state is none of this
            panel.

    >>> from neuroviz.deep.ledger_panel import LedgerExplorer
    >>> panel = LedgerExplorer()
    >>> row = presets(panel, {"a wide network": "width=6", "three layers": "layers=3"})
    >>> row.children[1].click()
    >>> panel.controls["layers"].value, panel.controls["width"].value
    (3, 4)
    """
    row = row_of_presets(panel, states)
    # the style sheet of the panels: letters, and a focus ring that shows
    row.add_class("nv")
    row.add_class(f"nv-to-{panel.identity}")  # lead.ts: they lead to it
    row.panel = panel
    return row


def row_of_presets(panel: Panel, states: Mapping[str, str]) -> widgets.Box:
    """The same without the panels' style sheet, to stand in the panel itself."""
    if not isinstance(states, Mapping) or not states:
        example = f"{{'start': {panel.state!r}}}"
        raise ValueError(
            f"presets needs label → state, such as {example}; got {states!r}"
        )
    make = SharedLook().make
    buttons = [_preset(panel, make, label, state) for label, state in states.items()]
    return make(widgets.Box, "nv-presets", children=buttons)


def _preset(
    panel: Panel, make: Callable[..., widgets.Widget], label: str, state: str
) -> widgets.Button:
    if not isinstance(label, str) or not label.strip():
        raise ValueError(
            f"a preset needs a label that says where it leads; got {label!r} for"
            f" {state!r}"
        )
    try:
        whole = panel.complete(state)
    except ValueError as error:
        raise ValueError(
            f"the preset {label!r} is no state of {type(panel).__name__}: {error}"
        ) from error

    def go(_button: widgets.Button) -> None:
        # A second click must not start slow work a second time, but try again what has
        # failed or was cancelled.
        if panel.state != whole or not panel.status.startswith(("done", "working")):
            panel.state = whole
        panel.show_words()  # a preset that is chosen is a guess, too

    button = make(widgets.Button, description=label, tooltip=state)
    button.on_click(go)
    return button
