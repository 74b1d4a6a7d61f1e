"""Runs in the worker of a page: ipywidgets speaks to the page through comms, as it does
to JupyterLab.

Without IPython: ipywidgets asks it for a shell, and hears that there is none.
"""

import json
import sys
import types
from collections.abc import Callable

_IPYTHON = {
    "IPython": {"get_ipython": lambda: None},
    "IPython.core": {},
    "IPython.core.interactiveshell": {"InteractiveShell": object},
    "IPython.display": {"display": None, "clear_output": None},
}
for _name, _content in _IPYTHON.items() if sys.platform == "emscripten" else ():
    sys.modules[_name] = types.ModuleType(_name)
    vars(sys.modules[_name]).update(_content)

import comm  # noqa: E402
from comm.base_comm import BaseComm  # noqa: E402

_panels: dict = {}


def begin(post: Callable) -> None:
    """From now on every widget opens its channel to the page: post(kind, ticket, id,
    data, buffers, rest)."""

    class Channel(BaseComm):
        def publish_msg(
            self,
            msg_type: str,
            data: dict | None = None,
            metadata: object = None,
            buffers: list | None = None,
            **keys: object,
        ) -> None:
            parts = [bytes(one) for one in buffers or ()]
            post(msg_type, "", self.comm_id, json.dumps(data or {}), _sent(parts), "{}")

    def create(*arguments: object, **keys: object) -> BaseComm:
        channel = Channel(*arguments, **keys)
        comm.get_comm_manager().register_comm(channel)
        return channel

    global _post
    _post = post
    comm.create_comm = create
    # What takes longest is done before the first panel is asked for.
    import neuroviz.explorables  # noqa: F401

    class Missing:
        @staticmethod
        def find_spec(name: str, *_: object) -> None:
            post("missing", "", name, "", _sent([]), "{}")

    # The last one is asked for what no other has; the page may fetch it.
    sys.meta_path.append(Missing)


def _sent(parts: list) -> object:
    from pyodide.ffi import to_js

    return to_js(parts)


def open_panel(ticket: str, how: str) -> None:
    """Open a panel; the page hears which widget it is.

    Args:
        how: as JSON, the panel's name, the mode of the page, and what the panel is
            opened with; under "like", the open panel whose state it takes, and whose
            words, if they are shown.
    """
    import neuroviz.explorables
    import neuroviz_beyond.explorables
    from neuroviz.kit import theme

    options = json.loads(how)
    name = options.pop("panel")
    mode = options.pop("mode")
    if like := options.pop("like", None):
        other = _panels[like]
        options["state"] = other.state
        if not other.is_asking:
            options["asks"] = None
    of_the_path = name in neuroviz.explorables.__all__
    door = neuroviz.explorables if of_the_path else neuroviz_beyond.explorables
    with theme.using({"mode": mode}):
        panel = getattr(door, name)(**options)
    _panels[panel.model_id] = panel
    _post("done", ticket, "", "{}", _sent([]), json.dumps({"model": panel.model_id}))


def again() -> None:
    """A package has come: the panels that missed it answer."""
    for panel in _panels.values():
        if panel.status.startswith("No module named"):
            panel.state = panel.state  # as if a reader had set it: it answers anew


def go_to(model: str, state: str) -> None:
    """Give a panel another state, as its presets do: the reader has moved it."""
    panel = _panels[model]
    panel.state = state
    panel.show_words()


def close_panel(model: str) -> None:
    """Close a panel that has left the page."""
    _panels.pop(model).close()


def hear(kind: str, channel: str, data: str, buffers: object) -> None:
    """A message from the page, for one channel."""
    message = {
        "content": {"comm_id": channel, "data": json.loads(data)},
        "metadata": {},
    }
    message["buffers"] = [memoryview(one.to_py()) for one in buffers]
    manager = comm.get_comm_manager()
    if manager.get_comm(channel) is not None:
        getattr(manager, kind)(None, None, message)
