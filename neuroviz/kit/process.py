"""Long work in a child process, which a cancel or a newer request simply ends.

Jupyter reads no click while a callback computes, and exact ranks hold the interpreter's
lock: so long work needs a process of its own. It runs `kit/worker.py` and never the
caller's script, as multiprocessing's spawn would. It ends with its parent, even in the
middle of its work, or after two idle minutes.
"""

import asyncio
import threading
import weakref
from collections import deque
from collections.abc import Callable
from contextlib import suppress

from neuroviz.kit.child import Child
from neuroviz.kit.request import packed


class ChildProcess:
    """A `Background` in a child process."""

    def __init__(self) -> None:
        self._job: _Job | None = None
        self._child: Child | None = None
        self._end_child: Callable[[], None] | None = None

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
        """As `Background.submit` says; work and argument are pickled, and the child
        imports their modules."""
        self.cancel()
        request = packed(work, argument)
        self._job = _Job(done, partly)
        try:
            if self._child is None or not self._child.take(request):
                self._start_child(request)
        except (OSError, RuntimeError) as error:
            self.close()
            if isinstance(error, FileNotFoundError):
                advice = "the Python of this kernel is not there any more, restart it"
            else:
                advice = "free memory or end other programs, then ask again"
            raise RuntimeError(
                "long work needs a process of its own, and the system gave none"
                f" ({error}): {advice}"
            ) from error

    def cancel(self) -> bool:
        """End what is running, and its child; returns whether there was something to
        end."""
        was_running = self.running
        if was_running:
            self.close()
        return was_running

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the result has been delivered; returns False when the time ran out
        first."""
        job = self._job
        if job is None:
            return True
        if not job.is_over.wait(seconds):
            return False
        # The event loop stands still while its thread waits here, and delivers nothing.
        self._deliver(job)
        return True

    def close(self) -> None:
        """End what is running, and the child; the next request starts another."""
        job = self._job
        self._job = None
        self._drop_child()
        if job is not None:
            job.is_over.set()

    def _start_child(self, request: bytes) -> None:
        """Start a child with its first request, in the place of one that has ended."""
        self._drop_child()
        self._child = child = Child(request)
        # The child ends also with a background that nobody has closed.
        self._end_child = weakref.finalize(self, child.end)
        # The thread holds no background, or that would never end.
        threading.Thread(
            target=_serve, args=(weakref.ref(self), child), daemon=True
        ).start()

    def _drop_child(self) -> None:
        """End the child, if there is one."""
        self._child = None
        if self._end_child is not None:
            self._end_child()
            self._end_child = None

    def _hear(self, child: Child, is_last: bool, answer: object) -> None:
        """Take an answer of the child for the present job, and deliver it."""
        job = self._job
        # the child's job was cancelled or replaced
        if job is None or child is not self._child:
            return
        job.answers.append((is_last, answer))
        if is_last:
            job.is_over.set()
        if job.loop is not None:
            with suppress(RuntimeError):  # the loop has been closed
                job.loop.call_soon_threadsafe(self._deliver, job)
                return
        self._deliver(job)

    def _deliver(self, job: "_Job") -> None:
        """Tell the job's answers, unless it was cancelled or replaced."""
        with job.lock:  # the event loop, the child's thread and `wait` may all deliver
            while job.answers and job is self._job:
                is_last, answer = job.answers.popleft()
                if is_last:
                    self._finish(job, answer)
                else:
                    self._tell_part(job, answer)

    def _tell_part(self, job: "_Job", part: object) -> None:
        try:
            job.partly(part)
        except Exception as error:
            if job is self._job:  # who hears it may have cancelled first
                self._drop_child()  # nobody hears the rest of its answers
                self._finish(job, error)

    def _finish(self, job: "_Job", answer: object) -> None:
        try:
            job.done(answer)
        finally:
            if job is self._job:  # who hears it may have asked anew
                self._job = None
            job.is_over.set()


class _Job:
    """A request that is answered: who hears it, and the answers that nobody has heard
    yet."""

    def __init__(
        self, done: Callable[[object], None], partly: Callable[[object], None] | None
    ) -> None:
        self.done = done
        self.partly = partly or (lambda part: None)
        self.answers: deque[tuple[bool, object]] = deque()
        # its last answer has come, or none will be heard
        self.is_over = threading.Event()
        # Who hears an answer may call `wait`, which delivers on the same thread.
        self.lock = threading.RLock()
        try:
            self.loop = asyncio.get_running_loop()
        except RuntimeError:
            self.loop = None


def _serve(background: weakref.ref, child: Child) -> None:
    """Bring requests to the child and its answers back. The background may end
    meanwhile."""
    try:
        while (request := child.next_request()) is not None:
            for is_last, answer in child.answers(request):
                listener = background()
                if listener is None:
                    return
                listener._hear(child, is_last, answer)
                # Held until the next answer, they would keep the background alive.
                del listener, answer
    finally:
        child.end()
        child.connection.close()
