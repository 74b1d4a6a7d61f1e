"""Work that takes longer than a slider may wait: one child process, the newest request only.

Jupyter reads no click while a callback computes, and exact ranks hold the interpreter's lock; so
long work runs in a process of its own, which a cancel or a newer request simply ends. The child is
a plain `python -c …` that talks over its standard input and output: it never runs the caller's
script again, as multiprocessing's spawn would, and it goes when its parent does, or when idle.
"""

import asyncio
import os
import pickle
import selectors
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from typing import BinaryIO

_IDLE_SECONDS = 120
_LENGTH_BYTES = 8
_CHILD = "from neuroviz.explorables.background import serve; serve()"


class Background:
    """Runs one function call at a time in a child process and reports on the caller's event loop.

    `submit` replaces whatever is running: an older result never arrives after a newer request.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen | None = None
        self._ticket = 0
        self._received = threading.Event()  # the child has answered, or there is nothing to wait for
        self._received.set()
        self._deliver: Callable[[], None] | None = None

    @property
    def running(self) -> bool:
        """Whether a result is still to come."""
        return self._deliver is not None

    def submit(self, work: Callable, argument: object, done: Callable[[object], None]) -> None:
        """Call work(argument) in the child; done(result or exception) on this thread's event loop.

        Without a running event loop (a plain script, a test) `done` is called from a thread, or by
        whoever calls `wait`.

        Raises:
            ValueError: if the work or its argument cannot be sent to another process.
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
        ticket, answer = self._ticket, []
        lock = threading.RLock()

        def deliver() -> None:
            with lock:  # whoever comes first, the event loop, the thread or `wait`; the others wait
                if ticket != self._ticket or not answer:
                    return
                try:
                    done(answer.pop())
                finally:
                    if ticket == self._ticket:
                        self._deliver = None

        self._received.clear()
        self._deliver = deliver
        child = self._ready_child(request)
        arguments = (child, answer, deliver, loop)
        threading.Thread(target=self._listen, args=arguments, daemon=True).start()

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
        deliver = self._deliver
        if deliver is not None:
            deliver()
        return True

    def close(self) -> None:
        """End the child process; the next request starts another."""
        if self._process is not None:
            _end(self._process)
        self._process = None

    def _ready_child(self, request: bytes) -> subprocess.Popen:
        """A child that has taken the request: the one that is there, unless it died or grew tired."""
        if self._process is not None:
            try:
                _send(self._process.stdin, request)
                return self._process
            except OSError:
                self.close()
        # The child has to find what this process has found, wherever it was started from.
        path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
        self._process = subprocess.Popen(
            [sys.executable, "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
        )
        weakref.finalize(self, _end, self._process)
        _send(self._process.stdin, request)
        return self._process

    def _listen(
        self,
        child: subprocess.Popen,
        answer: list,
        deliver: Callable[[], None],
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        try:
            result = pickle.loads(_receive(child.stdout))
        except (EOFError, OSError, ValueError):
            result = RuntimeError("the process that measured ended before it answered (out of memory?)")
            _end(child)
            if self._process is child:
                self._process = None
        except Exception as error:
            result = RuntimeError(f"the answer cannot be read here: {error}")
        answer.append(result)
        if self._deliver is deliver:
            self._received.set()
        if loop is None or loop.is_closed():
            deliver()
        else:
            try:
                loop.call_soon_threadsafe(deliver)
            except RuntimeError:  # the loop closed in between
                deliver()


def _end(child: subprocess.Popen) -> None:
    child.kill()
    child.wait()
    for stream in (child.stdin, child.stdout):
        try:
            stream.close()
        except OSError:
            pass  # what was still to be written has nobody to go to


def _send(stream: BinaryIO, message: bytes) -> None:
    stream.write(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    stream.flush()


def _receive(stream: BinaryIO) -> bytes:
    length = stream.read(_LENGTH_BYTES)
    if len(length) < _LENGTH_BYTES:
        raise EOFError
    return stream.read(int.from_bytes(length, "big"))


def serve() -> None:
    """The child: answer requests until its parent goes, or it has been idle for two minutes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end is noticed here
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the work prints must not end up among the answers
    waiting = selectors.DefaultSelector()
    waiting.register(requests, selectors.EVENT_READ)
    while waiting.select(_IDLE_SECONDS):
        try:
            message = _receive(requests)
        except EOFError:
            return
        try:
            work, argument = pickle.loads(message)
            result = work(argument)
        except Exception as error:
            result = error  # it is raised again where it can be shown
        _send(answers, _pickled(result))


def _pickled(result: object) -> bytes:
    """The result, or what can be said of it when it does not survive the way to another process."""
    try:
        message = pickle.dumps(result)
        pickle.loads(message)
    except Exception as error:
        if isinstance(result, Exception):
            return pickle.dumps(RuntimeError(f"{type(result).__name__}: {result}"))
        return pickle.dumps(RuntimeError(f"the answer cannot be sent between processes: {error}"))
    return message
