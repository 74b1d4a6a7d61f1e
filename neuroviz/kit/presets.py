"""A row of buttons that take a panel to chosen states: for the prose around it."""

from collections.abc import Callable, Mapping

import ipywidgets as widgets

from neuroviz.kit.panel import Panel


def presets(panel: Panel, states: Mapping[str, str]) -> widgets.Box:
    """One button for each state: pressing it drives the panel there, and pressing it again changes nothing.

    What a state does not name is as the panel was opened, whatever the reader did in between. A state is
    tried on the controls before its button exists, and the panel stays where it is.

    Args:
        panel: the one that the buttons drive, wherever it stands on the page.
        states: label of the button → state string, as `panel.state` gives it or shorter.

    Raises:
        ValueError: if there is no state, a label is empty, or a state is none of this panel.

    >>> from neuroviz.deep.dimension_panel import DimensionExplorer
    >>> panel = DimensionExplorer()
    >>> row = presets(panel, {"a wide network": "width=6", "three layers": "layers=3"})
    >>> row.children[1].click()
    >>> panel.controls["layers"].value, panel.controls["width"].value
    (3, 4)
    """
    if not isinstance(states, Mapping) or not states:
        raise ValueError(f"presets needs label → state, such as {{'start': {panel.state!r}}}; got {states!r}")
    row = widgets.Box(
        [_button(panel, label, state) for label, state in states.items()],
        layout={"display": "flex", "flex_flow": "row wrap", "width": "100%"},
    )
    row.add_class("nv")  # the style sheet of the panels: letters, and a focus ring that shows
    row.add_class("nv-presets")
    return row


def _button(panel: Panel, label: str, state: str) -> widgets.Button:
    if not isinstance(label, str) or not label.strip():
        raise ValueError(f"a preset needs a label that says where it leads; got {label!r} for {state!r}")
    try:
        whole = panel.complete(state)
    except ValueError as error:
        raise ValueError(f"the preset {label!r} is no state of {type(panel).__name__}: {error}") from error
    button = widgets.Button(description=label, tooltip=state, layout={"width": "auto"})
    button.on_click(_driver(panel, whole))
    return button


def _driver(panel: Panel, state: str) -> Callable[[object], None]:
    def drive(_button: object) -> None:
        there = panel.state == state and panel.status.startswith(("done", "working"))
        if not there:  # a second click must not start slow work a second time
            panel.state = state

    return drive
