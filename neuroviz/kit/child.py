"""The child process of a panel's long work, as its parent sees it: `kit/worker.py` is
what runs in it."""

import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, Pipe
from types import ModuleType
from typing import BinaryIO

from neuroviz.kit.request import current_folder, search_path

_IDLE_SECONDS = 120
# How often the parent looks whether a silent child is still there.
_GLANCE_SECONDS = 1
_ENDING_SECONDS = 5  # a process that has closed its connection ends within this time
_TAIL_BYTES = 4096
_MOST_CHARACTERS = 300


class Child:
    """The process, the connection to it, and the requests that it has not been sent
    yet."""

    def __init__(self, request: bytes) -> None:
        self._modules = _loaded_modules()
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._requests.put(request)
        self._lock = threading.RLock()
        self._has_ended = False
        self._printed = bytearray()
        self.connection, theirs = Pipe()
        # A copy of the child's end here would keep the connection open after the child.
        with theirs:
            self.process = _start(theirs)
        self._printer = threading.Thread(
            target=_pass_on, args=(self.process.stdout, self._printed), daemon=True
        )
        try:
            self._printer.start()
        except BaseException:
            self.end()
            raise

    def take(self, request: bytes) -> bool:
        """Take a further request; False where the child has ended, or its modules are
        not those of today."""
        with self._lock:
            if self._has_ended or self.process.poll() is not None:
                return False
            present = _loaded_modules()
            if any(
                present.get(name, spec) is not spec
                for name, spec in self._modules.items()
            ):
                return False
            # The child will import what has come since as it is now.
            self._modules |= present
            self._requests.put(request)
            return True

    def next_request(self) -> bytes | None:
        """Wait for a request; None when the child has been ended, as it is after two
        minutes without one."""
        try:
            return self._requests.get(timeout=_IDLE_SECONDS)
        except queue.Empty:
            with self._lock:
                if self._requests.empty():
                    self.end()
            # the None of `end`, or a request that came just before the lock
            return self._requests.get()

    def answers(self, request: bytes) -> Generator[tuple[bool, object]]:
        """Send a request; yield whether an answer is the last one, and the answer.

        The end of the process is an answer, too.
        """
        is_last = False
        try:
            self.connection.send_bytes(request)
            while not is_last:
                is_last, answer = self._read(self._next_message())
                yield is_last, answer
        except (EOFError, OSError):
            how = self._how_it_ended()
            yield (
                True,
                RuntimeError(
                    f"the process that measured ended before it answered: {how}"
                ),
            )

    def _next_message(self) -> bytes:
        while not self.connection.poll(_GLANCE_SECONDS):
            # A process that the work has forked may hold the connection open after the
            # child's end. Its last answer may come between the two looks.
            if self.process.poll() is not None and not self.connection.poll():
                raise EOFError
        return self.connection.recv_bytes()

    def _read(self, message: bytes) -> tuple[bool, object]:
        try:
            return pickle.loads(message)
        except BaseException as error:
            # a SystemExit, too, or nobody would listen any more
            self.end()
            return True, RuntimeError(
                f"the answer cannot be read here ({type(error).__name__}: {error})"
            )

    def _how_it_ended(self) -> str:
        """What ended the process, in words."""
        try:
            status = self.process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            self.end()
            return "the connection to it broke"
        # Its last words are on their way; a fork of it may print for ever.
        self._printer.join(_GLANCE_SECONDS)
        if status == -9:  # SIGKILL, which Windows does not have
            return (
                "it was killed, as systems do when memory runs out; ask for less, or"
                " free memory"
            )
        if status < 0:
            how = f"it crashed ({signal.strsignal(-status)})"
        else:
            how = f"it ended by itself with exit status {status}"
        lines = self._printed.decode(errors="replace").split("\n")
        words = [line.strip() for line in lines if line.strip()]
        if words:
            how += f"; its last words: {words[-1][:_MOST_CHARACTERS]}"
        return how

    def end(self) -> None:
        """End the process, and the thread that serves it."""
        with self._lock:
            self._has_ended = True
            self._requests.put(None)
            self.process.kill()
            self.process.wait()  # else the system keeps its entry


def _start(theirs: Connection) -> subprocess.Popen:
    """The worker, with its end of a connection."""
    handle = theirs.fileno()
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        options = {
            "startupinfo": subprocess.STARTUPINFO(
                lpAttributeList={"handle_list": [handle]}
            ),
            "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP,  # no Ctrl-C there
        }
    else:
        options = {"pass_fds": [handle]}
    path = search_path()
    # with an entry that is relative to it, Python would not start
    if current_folder() is None:
        path = [entry for entry in path if os.path.isabs(entry)]
    # The child has the mask of the thread that starts it.
    with _without_interrupts():
        return subprocess.Popen(
            # -P: no folder before the standard library. -u: words are heard before a
            # sudden end.
            [sys.executable, "-P", "-u", "-m", "neuroviz.kit.worker", str(handle)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path)},
            **options,
        )


@contextmanager
def _without_interrupts() -> Generator[None]:
    """Within the block, a process starts that never hears Ctrl-C: the parent hears
    it."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _pass_on(printed: BinaryIO, tail: bytearray) -> None:
    """Write what the child prints to the standard error here, and keep the end of
    it."""
    with printed:
        while text := printed.read1():
            with suppress(OSError):  # there may be no standard error
                os.write(2, text)
            tail += text
            del tail[:-_TAIL_BYTES]


def _loaded_modules() -> dict[str, object]:
    """The name of each module → its specification, which is another one after it has
    been loaded anew."""
    return {
        name: vars(module).get("__spec__")
        for name, module in [*sys.modules.items()]  # another thread may import
        if type(module) is ModuleType  # others may load themselves when they are asked
    }
