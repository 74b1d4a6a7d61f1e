"""What is asked before it is shown.

A panel with `asks="crossing"` opens without its names and numbers. They appear once a
question of the same topic is answered, once the reader has moved the panel, or at "Show
me". So a topic ties questions to panels, wherever they stand in a notebook.
"""

from typing import Protocol
from weakref import WeakSet

FIRST_GUESS = (
    "Look first, and guess. What there is to say appears once you have answered, or "
    "moved something."
)
"""What stands in the place of a panel's words."""


class Listener(Protocol):
    """What wants to know when a topic is answered, or asked again."""

    def on_answers(self) -> None:
        """Look again at what is answered."""

    def ask_again(self) -> None:
        """Be as it was opened: nothing is answered."""


_answered: set[str] = set()
_listeners: WeakSet[Listener] = WeakSet()
_shows_all = False


def topic_of(asks: object) -> str | None:
    """A checked topic; None is none.

    Raises:
        ValueError: if it is no text, or an empty one.

    >>> topic_of(" crossing ")
    'crossing'
    """
    if asks is None:
        return None
    if not isinstance(asks, str) or not asks.strip():
        raise ValueError(
            "asks names a topic that a question of the notebook answers, such as "
            f"'crossing'; got {asks!r}"
        )
    return asks.strip()


def is_answered(topic: str) -> bool:
    """Whether it may be shown."""
    return _shows_all or topic in _answered


def listen(listener: Listener) -> None:
    """Tell it, as long as somebody holds it."""
    _listeners.add(listener)


def answer(topic: str) -> None:
    """Show what panels say of a topic: its question is answered."""
    _answered.add(topic)
    _tell()


def show_answers() -> None:
    """Open all panels at once, now and later: for who teaches."""
    global _shows_all
    _shows_all = True
    _tell()


def ask_again() -> None:
    """Panels that ask keep their words back, as when they were opened."""
    global _shows_all
    _shows_all = False
    _answered.clear()
    for listener in list(_listeners):
        listener.ask_again()


def _tell() -> None:
    for listener in list(_listeners):
        listener.on_answers()
