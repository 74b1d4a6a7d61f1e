"""Where the long work of a panel is done, so that the page stays alive meanwhile.

A Python with processes does it in a child process (`kit/process.py`, whose other end is
`kit/worker.py`); in a browser, which has none, it takes turns with the event loop
(`kit/event_loop.py`). A panel sees one interface, `Background`.
"""

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Protocol

from neuroviz.kit.event_loop import EventLoop
from neuroviz.rank.threads import IN_A_BROWSER

_LATE_SECONDS = 0.06


class Background(Protocol):
    """One call at a time, away from the page. A newer request replaces an older one."""

    @property
    def running(self) -> bool:
        """Whether a result is still to come."""

    def submit(
        self,
        work: Callable,
        argument: object,
        done: Callable[[object], None],
        partly: Callable[[object], None] | None = None,
    ) -> None:
        """Call work(argument); then done(its result, or the exception that it raised).

        Where the work is a generator function, or has one as its attribute `in_steps`,
        partly hears what that yields, and done what it returns. Of other work partly
        hears how far it is. An exception of partly ends the work, and done hears it.

        Both are called on the event loop that runs here now. Without one (a plain
        script, a test) they are called from another thread, or by whoever calls `wait`.
        Once a newer request is made, or `cancel` or `close` is called, neither hears of
        this one any more.

        Raises:
            ValueError: if the work or its argument cannot be sent to where the work is
                done.
            RuntimeError: if the machine gives no process or thread for it.
        """

    def cancel(self) -> bool:
        """End what is running; returns whether there was something to end."""

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the result has been delivered; returns False when the time ran out
        first."""

    def close(self) -> None:
        """End what is running, and give back what was held for it; the next request
        starts afresh."""


def background() -> Background:
    """The background of a new panel: a child process, or the event loop where there are
    no processes."""
    if IN_A_BROWSER:
        return EventLoop()
    # imports what a browser does not have
    from neuroviz.kit.process import ChildProcess

    return ChildProcess()


@contextmanager
def late(call: Callable[[], None]) -> Generator[None]:
    """Call it when the block has taken 60 ms, or at once where there are no threads:
    to show that work goes on takes 8 ms itself."""
    timer = threading.Timer(_LATE_SECONDS, call)
    if IN_A_BROWSER:
        call()
    else:
        timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident:  # it was started; a call under way ends before the answer
            timer.join()
