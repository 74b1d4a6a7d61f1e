"""Work that takes longer than a slider may wait: one child process, the newest request only.

Jupyter reads no click while a callback computes, and exact ranks hold the interpreter's lock; so
long work runs in a process of its own, which a cancel or a newer request simply ends.
"""

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection


class Background:
    """Runs one function call at a time in a child process and reports on the caller's event loop.

    `submit` replaces whatever is running: an older result never arrives after a newer request.
    """

    def __init__(self) -> None:
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection | None = None
        self._ticket = 0
        self._settled = threading.Event()
        self._settled.set()

    @property
    def running(self) -> bool:
        """Whether a result is still to come."""
        return not self._settled.is_set()

    def submit(self, work: Callable, argument: object, done: Callable[[object], None]) -> None:
        """Call work(argument) in the child; done(result or exception) on this thread's event loop.

        `work` must be importable and `argument` picklable. Without a running event loop (a plain
        script, a test) `done` is called from a thread.
        """
        self.cancel()
        if self._process is None:
            self._start()
        self._settled.clear()
        self._ticket += 1
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        self._pipe.send((work, argument))
        arguments = (self._pipe, self._ticket, loop, done)
        threading.Thread(target=self._listen, args=arguments, daemon=True).start()

    def cancel(self) -> bool:
        """End what is running; returns whether there was something to end."""
        was_running = self.running
        if was_running:
            self._ticket += 1
            self._stop()
            self._settled.set()
        return was_running

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is running; returns False when the time ran out first."""
        return self._settled.wait(seconds)

    def _listen(
        self,
        pipe: Connection,
        ticket: int,
        loop: asyncio.AbstractEventLoop | None,
        done: Callable[[object], None],
    ) -> None:
        try:
            result = pipe.recv()
        except (EOFError, OSError):
            result = RuntimeError("the process that measured ended before it answered (out of memory?)")

        def deliver() -> None:
            if ticket != self._ticket:
                return  # cancelled, or a newer request has taken over
            if isinstance(result, RuntimeError):
                self._stop()
            try:
                done(result)
            finally:
                self._settled.set()

        if loop is None or loop.is_closed():
            deliver()
        else:
            loop.call_soon_threadsafe(deliver)

    def _start(self) -> None:
        # spawn, not fork: the notebook's process has threads, and BLAS does not survive a fork.
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.join()
            self._pipe.close()
        self._process = self._pipe = None


def _serve(pipe: Connection) -> None:
    """The child: answer requests until the other end closes."""
    while True:
        try:
            work, argument = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            result = work(argument)
        except Exception as error:
            result = error  # it is raised again where it can be shown
        pipe.send(result)
