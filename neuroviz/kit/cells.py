"""Widgets by notebook cell: those that a cell has made are closed when it runs again."""

import re

import ipywidgets as widgets
from IPython import get_ipython

_MADE: dict[str, list[widgets.Widget]] = {}
"""Cell → what its last run has made."""


def running_cell() -> str:
    """What the notebook calls the cell that is running; "" outside of notebooks.

    >>> running_cell()
    ''
    """
    shell = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return str(parent.get("metadata", {}).get("cellId", ""))


def keep(made: widgets.Widget) -> None:
    """Remember what the running cell makes: it is closed when that cell runs again, and by no other."""
    if cell := running_cell():
        _MADE.setdefault(cell, []).append(made)
        get_ipython().events.register("pre_run_cell", _close_earlier)  # registering twice changes nothing


def forget(made: widgets.Widget) -> None:
    """Forget a widget that is closed already."""
    for cell, those in list(_MADE.items()):
        _MADE[cell] = [one for one in those if one is not made]


def _close_earlier(_info: object) -> None:
    """Close what the cell made in its last run, and remove it from Out[…], _ and the like."""
    shell = get_ipython()
    for made in _MADE.pop(running_cell(), ()):
        made.close()
        shown = shell.user_ns, shell.user_ns_hidden, shell.user_ns.get("_oh", {}), vars(shell.displayhook)
        for names in shown:
            # IPython keeps a cell's value as _, __, ___, as _7, and as entry 7 of its outputs.
            for name, value in list(names.items()):
                if value is made and re.fullmatch(r"_{0,3}\d*", str(name)):
                    names[name] = None
