"""Long work in a Python without processes: it takes turns with what the page asks for,
a cancel among it."""

import asyncio
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from math import inf

from neuroviz.kit.bar import listening, part_in_words
from neuroviz.kit.steps import retold


class EventLoop:
    """A `Background` on the event loop: the page has its turn after each step of the
    work.

    Where a browser can suspend a call of Python, it has its turn at each report of
    progress, too.
    """

    def __init__(self) -> None:
        self._job: _Job | None = None

    @property
    def running(self) -> bool:
        """Whether a result is still to come."""
        return self._job is not None

    def submit(
        self,
        work: Callable,
        argument: object,
        done: Callable[[object], None],
        partly: Callable[[object], None] | None = None,
    ) -> None:
        """As `Background.submit` says. The work begins when the event loop is next
        free."""
        self.cancel()
        self._job = job = _Job(self, work, argument, done, partly)
        # The loop always has the task in its queue, so nobody needs to hold it.
        with suppress(RuntimeError):  # without a loop, `wait` takes the steps
            asyncio.get_running_loop().create_task(self._take_turns(job))

    def cancel(self) -> bool:
        """End what is running; returns whether there was something. A suspended call
        ends when it goes on."""
        was_running = self.running
        self._job = None
        return was_running

    def wait(self, seconds: float | None = None) -> bool:
        """Take all steps that are left; returns False when the time ran out first."""
        until = inf if seconds is None else time.monotonic() + seconds
        while self._job is not None:
            self._job.step()
            if self._job is not None and time.monotonic() > until:
                return False
            time.sleep(0)  # where a call can be suspended the page has its turn here
        return True

    def close(self) -> None:
        """End what is running."""
        self.cancel()

    async def _take_turns(self, job: "_Job") -> None:
        while job is self._job:
            job.step()
            await asyncio.sleep(0)


class _Job:
    """One request: it is its owner's job until it is done, cancelled or replaced."""

    def __init__(
        self,
        owner: EventLoop,
        work: Callable,
        argument: object,
        done: Callable[[object], None],
        partly: Callable[[object], None] | None,
    ) -> None:
        self._owner = owner
        self._work = work
        self._argument = argument
        self._done = done
        self._partly = partly or (lambda part: None)
        self._has_steps = False
        self._steps = self._run()

    def step(self) -> None:
        """Take a step, unless one is suspended."""
        # Who hears a part may call `wait` within the step.
        if not self._steps.gi_running:
            with listening(self._hear):
                next(self._steps, None)

    def _run(self) -> Generator[None]:
        """Do the work, and say its result."""
        try:
            result = getattr(self._work, "in_steps", self._work)(self._argument)
            if isinstance(result, Generator):
                self._has_steps = True
                # It tells each step to _partly, and each yield is a turn for the page.
                result = yield from retold(result, self._partly)
        except asyncio.CancelledError:
            return
        except Exception as error:  # the panel shows it
            result = error
        except SystemExit as error:  # the work ends by it, and Python need not
            result = RuntimeError(f"SystemExit: {error}")
        if self._owner._job is not self:
            return
        try:
            self._done(result)
        finally:
            if self._owner._job is self:  # who hears it may have asked anew
                self._owner._job = None

    def _hear(self, what: str, part: float) -> None:
        """Tell how far the work is, unless its steps say more; then let others have
        their turn."""
        if not self._has_steps:
            self._partly(part_in_words(what, part))
        time.sleep(0)  # where a call can be suspended the page has its turn here
        # No Exception, so the work does not catch it by accident.
        if self._owner._job is not self:
            raise asyncio.CancelledError
