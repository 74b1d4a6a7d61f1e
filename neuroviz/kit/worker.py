"""The program of the child process that does a panel's long work: `python -m
neuroviz.kit.worker HANDLE`.

Requests come and answers go over the connection of that handle, whose other end is
`kit/child.py`. Nothing else is written there: what the work prints goes to standard
output.

A request is three things: the folder and the `sys.path` to work in, and the pickled
call (work, argument). An answer is a pickled pair: whether it is the last one, and the
answer, which may be an exception.
"""

import os
import pickle
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Generator
from multiprocessing import connection

from neuroviz.kit.bar import listening, part_in_words
from neuroviz.kit.steps import finish

_GLANCE_SECONDS = 1  # so often it looks whether its parent is still there

if sys.platform == "win32":
    Connection = connection.PipeConnection
else:
    Connection = connection.Connection


def main() -> None:
    """Answer one request after the other, until the parent ends."""
    parent = Connection(int(sys.argv[1]))
    requests = queue.SimpleQueue()
    threading.Thread(target=_take_in, args=(parent, requests), daemon=True).start()

    def tell(part: object) -> None:
        parent.send_bytes(pickle.dumps((False, part)))

    while True:
        result = _result_of(requests.get(), tell)
        parent.send_bytes(_last_answer(result))


def _take_in(parent: Connection, requests: queue.SimpleQueue) -> None:
    """Pass on the requests; end this process with its parent, also in the middle of its
    work."""
    started_by = os.getppid()
    try:
        # A connection ends with the parent. A process that the parent has forked may
        # hold it open, though; an orphan has another parent.
        while os.getppid() == started_by:
            if parent.poll(_GLANCE_SECONDS):
                requests.put(parent.recv_bytes())
    except BaseException:
        traceback.print_exc()  # the parent, if it is there, tells the last line
    finally:
        # sys.exit would end this thread alone.
        os._exit(1)


def _result_of(request: bytes, tell: Callable[[object], None]) -> object:
    """What the work of a request returns, or the exception that it raises; tell hears
    its parts."""
    try:
        work, argument = _unpacked(request)
        with listening(lambda what, part: tell(part_in_words(what, part))):
            result = getattr(work, "in_steps", work)(argument)
        # Outside the block: of work in steps the steps are told, not its reports.
        if isinstance(result, Generator):
            result = finish(result, tell)
        return result
    except Exception as error:
        return error
    except SystemExit as error:  # the work ends by it, and this process need not
        return RuntimeError(f"SystemExit: {error}")


def _unpacked(request: bytes) -> tuple[Callable, object]:
    """The call of a request, once this process works where its parent does."""
    folder, path, call = pickle.loads(request)
    if folder is not None:
        os.chdir(folder)
    sys.path[:] = path
    try:
        return pickle.loads(call)
    except Exception as error:
        raise RuntimeError(
            "work in the background needs a function and an argument that a second"
            f" Python can import; it says {type(error).__name__}: {error}"
        ) from error


def _last_answer(result: object) -> bytes:
    """The result as the last answer; where it cannot be sent, an error that says so."""
    try:
        message = pickle.dumps((True, result))
        if isinstance(result, Exception):
            # some exceptions cannot be built again from what they carry
            pickle.loads(message)
        return message
    except Exception as error:
        if isinstance(result, Exception):
            why = f"{type(result).__name__}: {result}"
        else:
            why = (
                f"the answer cannot be sent between processes ({type(error).__name__}:"
                f" {error})"
            )
        return pickle.dumps((True, RuntimeError(why)))


if __name__ == "__main__":
    main()
