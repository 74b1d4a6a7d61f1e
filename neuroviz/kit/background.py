"""The long work of a panel: one child process, in which a newer request replaces an older one.

Jupyter reads no click while a callback computes, and exact ranks hold the interpreter's lock. So
every long job runs in a process of its own, which a cancel or a newer request simply ends. The child is
a plain `python -c …` that talks over its standard input and output: it never runs the caller's
script again, as multiprocessing's spawn would, and it ends with its parent, even in the middle of
its work, or after two idle minutes.

A browser has no processes. There `EventLoop` takes the place of `Background`: in between it hears what the
page asks for, a cancel among it.
"""

import asyncio
import os
import pickle
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from math import inf
from typing import BinaryIO

from neuroviz.engine.progress import Report, finish, listening, retold
from neuroviz.engine.threads import IN_A_BROWSER

_Loop = asyncio.AbstractEventLoop | None
_Hear = Callable[[object], None]
_IDLE_SECONDS = 120
_LENGTH_BYTES = 8
_PART, _LAST = b"p", b"l"  # the first byte of a message: a part of the answer, or its end
# The child reads before it imports anything: imports take a second or two, and the parent may end meanwhile.
# The parent hears Ctrl-C. When its end of the pipe closes, the parent is gone and the child ends.
_CHILD = f"""\
import os, queue, signal, threading
signal.signal(signal.SIGINT, signal.SIG_IGN)
arrived, requests = queue.SimpleQueue(), os.fdopen(os.dup(0), "rb")
def take_in():
    while True:
        length = requests.read({_LENGTH_BYTES})
        if len(length) < {_LENGTH_BYTES}:
            os._exit(0)
        arrived.put(requests.read(int.from_bytes(length, "big")))
threading.Thread(target=take_in, daemon=True).start()
from neuroviz.kit.background import serve
serve(arrived)
"""


def _nobody(part: object) -> None:
    """Ignore a part of an answer."""


class Background:
    """Runs one function call at a time in a child process and reports on the caller's event loop.

    `submit` replaces whatever is running: an older result never arrives after a newer request.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._ticket = 0
        self._received = threading.Event()  # set when the child has answered, or nothing is under way
        self._received.set()
        self._deliver: Callable[[], None] | None = None

    @property
    def running(self) -> bool:
        """Whether a result is still to come."""
        return self._deliver is not None

    def submit(self, work: Callable, argument: object, done: _Hear, partly: _Hear = _nobody) -> None:
        """Call work(argument) in the child; done(result or exception) on this thread's event loop.

        Work may be a generator function: partly(what it yields), as it comes, and done(what it returns). Of
        other work partly hears how far it is.

        Without a running event loop (a plain script, a test) both are called from a thread, or by
        whoever calls `wait`.

        Raises:
            ValueError: if the work or its argument cannot be sent to another process.
            RuntimeError: if the machine gives no process or thread for it.
        """
        self.cancel()
        try:
            request = pickle.dumps((work, argument))
        except Exception as error:
            raise ValueError(
                f"work in the background needs an importable function and a picklable argument; got {work!r} "
                f"and {argument!r} ({error})"
            ) from error
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        self._ticket += 1
        ticket, answers = self._ticket, deque()
        lock = threading.RLock()

        def deliver() -> None:
            with lock:  # the event loop, the thread and `wait` may all deliver
                while answers and ticket == self._ticket:
                    is_last, answer = answers.popleft()
                    if not is_last:
                        partly(answer)
                        continue
                    try:
                        done(answer)
                    finally:
                        if ticket == self._ticket:
                            self._deliver = None

        self._received.clear()
        self._deliver = deliver
        try:
            arguments = (weakref.ref(self), self._ready_child(request), ticket, answers, loop)
            threading.Thread(target=_listen, args=arguments, daemon=True).start()
        except Exception as error:
            self.cancel()
            raise RuntimeError(
                f"long work needs a process of its own, and the system gave none ({error}): free memory or "
                "end other programs, then ask again"
            ) from error

    def cancel(self) -> bool:
        """End what is running; returns whether there was something to end."""
        was_running = self.running
        if was_running:
            self._ticket += 1
            self._deliver = None
            self.close()
            self._received.set()
        return was_running

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the result has been delivered; returns False when the time ran out first."""
        if not self._received.wait(seconds):
            return False
        if deliver := self._deliver:
            deliver()
        return True

    def close(self) -> None:
        """End the child process; the next request starts another."""
        if self._process is not None:
            _end(self._process)
            self._process = None

    def _ready_child(self, request: bytes) -> subprocess.Popen:
        """A child that has taken the request: the present one, unless it has ended."""
        if self._process is not None:
            try:
                _send(self._process.stdin, request)
                return self._process
            except OSError:
                self.close()
        # The child imports from the same folders as this process.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        ends = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        command, env = [sys.executable, "-c", _CHILD], os.environ | {"PYTHONPATH": path}
        self._process = subprocess.Popen(command, **ends, env=env)
        weakref.finalize(self, _end, self._process)
        _send(self._process.stdin, request)
        return self._process

    def _on_message(
        self, child: subprocess.Popen, message: bytes | None, ticket: int, answers: deque, loop: _Loop
    ) -> bool:
        """Deliver one message of the child, None for its end; returns whether it was the last."""
        deliver = self._deliver if ticket == self._ticket else None
        try:
            is_last, answer = message[:1] == _LAST, pickle.loads(message[1:])
        except Exception as error:
            why = f"the answer cannot be read here: {error}"
            if message is None:
                why = "the process that measured ended before it answered (out of memory?)"
            is_last, answer = True, RuntimeError(why)
            _end(child)  # its later messages have no reader
            if self._process is child:
                self._process = None
        answers.append((is_last, answer))
        if deliver is None:  # the job was cancelled or replaced
            return is_last
        if is_last:
            self._received.set()
        if loop is None or loop.is_closed():
            deliver()
        else:
            try:
                loop.call_soon_threadsafe(deliver)
            except RuntimeError:  # the loop has closed meanwhile
                deliver()
        return is_last


class EventLoop:
    """The same for a Python without processes: the work takes turns with what the page asks for.

    After each of its steps; and at each report of its progress, where a browser can put a call aside.
    """

    def __init__(self) -> None:
        self._steps: Generator | None = None
        self._report: Report | None = None
        self.running = False

    def submit(self, work: Callable, argument: object, done: _Hear, partly: _Hear = _nobody) -> None:
        """Call work(argument) when the event loop is next free, and done(result or exception) after it."""
        self.cancel()
        self.running = True
        self._steps = steps = self._run(work, argument, done, partly)

        def report(what: str, part: float) -> None:
            if not hasattr(work, "in_steps"):  # its steps say more
                partly(f"{what}, {100 * part:.0f} %")
            time.sleep(0)  # in a browser others have their turn
            if steps is not self._steps:
                raise asyncio.CancelledError

        self._report = report
        with suppress(RuntimeError):  # without a loop `wait` takes the steps
            asyncio.get_running_loop().create_task(self._take_turns(steps))

    def _run(self, work: Callable, argument: object, done: _Hear, partly: _Hear) -> Generator:
        yield
        try:
            answer = getattr(work, "in_steps", work)(argument)
            if isinstance(answer, Generator):
                answer = yield from retold(answer, partly)
        except asyncio.CancelledError:
            return
        except Exception as error:
            answer = error  # the panel shows it
        self.running = False
        done(answer)

    def _step(self, steps: Generator) -> bool:
        """Take a step, unless one is put aside; whether more may come."""
        if not steps.gi_running:
            with listening(self._report):
                next(steps, None)
        return steps.gi_frame is not None

    async def _take_turns(self, steps: Generator) -> None:
        while steps is self._steps and self._step(steps):
            await asyncio.sleep(0)

    def cancel(self) -> bool:
        """End what is running, a call put aside when it goes on; returns whether there was something."""
        was_running, self.running, self._steps = self.running, False, None
        return was_running

    def wait(self, seconds: float | None = None) -> bool:
        """Take all steps that are left; returns False when the time ran out first."""
        until = inf if seconds is None else time.monotonic() + seconds
        while self._steps and self._step(self._steps):
            if time.monotonic() > until:
                return False
            time.sleep(0)
        return True

    close = cancel


def background() -> Background | EventLoop:
    """The worker for a panel's long work: a child process, or the event loop where there are no processes."""
    return EventLoop() if IN_A_BROWSER else Background()


@contextmanager
def late(call: Callable[[], None]) -> Generator[None]:
    """Call when what stands below has taken 60 ms, at once where there are no threads; a sign costs 8 ms."""
    timer = threading.Timer(0.06, call)
    call() if IN_A_BROWSER else timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident:
            timer.join()


def _listen(
    background: weakref.ref, child: subprocess.Popen, ticket: int, answers: deque, loop: _Loop
) -> None:
    """Pass on the messages of the child, until its last one or until nobody holds the background any more."""
    is_last = False
    while not is_last:
        message = None
        with suppress(OSError, ValueError):
            length = child.stdout.read(_LENGTH_BYTES)
            if len(length) == _LENGTH_BYTES:
                message = child.stdout.read(int.from_bytes(length, "big"))
        listener = background()
        is_last = listener is None or listener._on_message(child, message, ticket, answers, loop)
        del listener  # the thread must not keep the background alive while it waits


def _end(child: subprocess.Popen) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        with suppress(OSError):  # unsent bytes have no reader any more
            stream.close()


def _send(stream: BinaryIO, message: bytes) -> None:
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    stream.flush()


def serve(arrived: queue.SimpleQueue) -> None:
    """The child: answer requests until its parent goes, or it has been idle for two minutes."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # prints of the work must not mix with the answers

    def tell(part: object) -> None:
        _send(answers, _PART + pickle.dumps(part))

    while True:
        try:
            message = arrived.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            os._exit(0)  # without waiting for the thread
        try:
            work, argument = pickle.loads(message)
            with listening(lambda what, part: tell(f"{what}, {100 * part:.0f} %")):
                result = getattr(work, "in_steps", work)(argument)
            if isinstance(result, Generator):
                result = finish(result, tell)
        except Exception as error:
            result = error  # the parent raises it again, where it can be shown
        _send(answers, _LAST + _pickled(result))


def _pickled(result: object) -> bytes:
    """The pickled result; where it cannot be pickled, a pickled error that says so."""
    try:
        message = pickle.dumps(result)
        pickle.loads(message)
    except Exception as error:
        if isinstance(result, Exception):
            return pickle.dumps(RuntimeError(f"{type(result).__name__}: {result}"))
        return pickle.dumps(RuntimeError(f"the answer cannot be sent between processes: {error}"))
    return message
