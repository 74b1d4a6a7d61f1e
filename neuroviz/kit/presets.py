"""A row of buttons that take a panel to chosen states, for the prose around it."""

from collections.abc import Mapping

import ipywidgets as widgets

from neuroviz.kit.panel import Panel


def presets(panel: Panel, states: Mapping[str, str]) -> widgets.Box:
    """One button for each state, in a row of its own; `Panel(presets=…)` has them above its figure.

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
    row = panel.row_of_presets(states)
    row.add_class("nv")  # the style sheet of the panels: letters, and a focus ring that shows
    return row
