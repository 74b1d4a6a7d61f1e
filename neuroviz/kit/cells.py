"""Widgets by notebook cell: those that a cell has made are closed when it runs again.

Those that a callback of `interact` has made are closed when it is called again.
"""

import os
import re
import sys
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import ipywidgets as widgets
from IPython import get_ipython

_MADE: dict[str, list[widgets.Widget]] = {}
"""Cell → what its last run has made."""


@dataclass
class _Call:
    """What the last call of an `interact` has made; the message that led to it, and the
    cell it stands in."""

    message: str = ""
    cell: str = ""
    made: list[widgets.Widget] = field(default_factory=list)


_CALLS: WeakKeyDictionary[widgets.Output, _Call] = WeakKeyDictionary()
"""Output of an `interact` → its last call."""


def running_cell() -> str:
    """What the notebook calls the cell that is running; "" outside of notebooks.

    >>> running_cell()
    ''
    """
    return str(_message().get("metadata", {}).get("cellId", ""))


def nobody_is_there() -> bool:
    """Whether a notebook runs without a page, to be read later, as by nbconvert
    --execute. Voila has readers.

    >>> nobody_is_there()
    False
    """
    # Where nobody is, nobody can type: such a run says so. Voila says it, too.
    is_voila = os.environ.get("SERVER_SOFTWARE", "").startswith("voila")
    return _message().get("content", {}).get("allow_stdin") is False and not is_voila


def keep(made: widgets.Widget) -> None:
    """Remember what the running cell makes: it is closed when that cell runs again, and
    by no other."""
    cell = running_cell()
    if output := _output_of_interact():
        cell = _keep_in(output, made)
    if cell:
        _MADE.setdefault(cell, []).append(made)
        # registering twice changes nothing
        get_ipython().events.register("pre_run_cell", _close_earlier)


def forget(made: widgets.Widget) -> None:
    """Forget a widget that is closed already."""
    for call in _CALLS.values():
        call.made = [one for one in call.made if one is not made]
    for cell, those in list(_MADE.items()):
        _MADE[cell] = [one for one in those if one is not made]


def _message() -> dict:
    """What the page has asked for, as far as there is a page."""
    shell = get_ipython()
    return shell.get_parent() if hasattr(shell, "get_parent") else {}


def _output_of_interact() -> widgets.Output | None:
    """Where a callback of `interact` shows what it makes, while one is called;
    ipywidgets does not tell."""
    frame = sys._getframe(1)
    while frame:
        if frame.f_globals.get("__name__") == "ipywidgets.widgets.interaction":
            # `interactive` has its output as self.out, `interactive_output` as out.
            output = getattr(
                frame.f_locals.get("self"), "out", frame.f_locals.get("out")
            )
            if isinstance(output, widgets.Output):
                return output
        frame = frame.f_back
    return None


def _keep_in(output: widgets.Output, made: widgets.Widget) -> str:
    """Close what the call before has made; returns the cell in which all of them
    stand."""
    call = _CALLS.get(output)
    if call is None:
        call = _CALLS[output] = _Call(cell=running_cell())

        def close_with_it(change: dict) -> None:
            if not change["new"]:  # a closed widget has no comm
                _close(_CALLS[output].made)

        output.observe(close_with_it, names="comm")
    # A call that makes several widgets makes all of them for one message.
    message = str(_message().get("header", {}).get("msg_id", ""))
    if message != call.message:
        _close(call.made)
    call.message = message
    call.made.append(made)
    return call.cell


def _close_earlier(_info: object) -> None:
    """Close what the cell made in its last run."""
    _close(_MADE.pop(running_cell(), []))


def _close(those: list[widgets.Widget]) -> None:
    """Close widgets, and remove them from Out[…], _ and the like."""
    shell = get_ipython()
    for made in list(those):
        made.close()
        if shell is None:
            continue
        shown = (
            shell.user_ns,
            shell.user_ns_hidden,
            shell.user_ns.get("_oh", {}),
            vars(shell.displayhook),
        )
        for names in shown:
            # IPython keeps a cell's value as _, __, ___, as _7, and as entry 7 of its
            # outputs.
            for name, value in list(names.items()):
                if value is made and re.fullmatch(r"_{0,3}\d*", str(name)):
                    names[name] = None
