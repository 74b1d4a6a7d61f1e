"""The mode Lecture, for what has no switch of its own: a question is as large as the
panels of its notebook."""

from typing import Protocol
from weakref import WeakSet

import ipywidgets as widgets


class Follower(Protocol):
    """What has letters of two sizes."""

    def on_size(self, size: str) -> None:
        """Have letters of this size, "notebook" or "lecture"."""


_followers: WeakSet[Follower] = WeakSet()


def follow(follower: Follower) -> None:
    """Tell it, as long as somebody holds it, when a panel changes its size.

    >>> class Words:
    ...     def on_size(self, size):
    ...         print(size)
    >>> words = Words()
    >>> follow(words)
    >>> say("lecture")
    lecture
    """
    _followers.add(follower)


def set_size(widget: widgets.DOMWidget, size: str) -> None:
    """Letters and widths of controls for a notebook or for a lecture: panel.css has
    both.

    >>> box = widgets.Box()
    >>> set_size(box, "lecture"); box._dom_classes
    ('nv-lecture',)
    """
    if size == "lecture":
        widget.add_class("nv-lecture")
    else:
        widget.remove_class("nv-lecture")


def say(size: str) -> None:
    """A reader has pressed Lecture in a panel."""
    for follower in list(_followers):
        follower.on_size(size)
