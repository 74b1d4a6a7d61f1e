"""Many architectures, one record each, on whatever runs things: this process, a pool of its own, a cluster.

Records arrive as they finish and are appended to a file at once, one a line; a sweep that was stopped goes on
from its file. A worker that dies costs its own item, which is tried again and then recorded as failed. The
records say nothing about time or place: the same seed gives the same records on any executor.
"""

import os
import signal
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from contextlib import closing, contextmanager
from pathlib import Path

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block import whole_number
from neuroviz.engine.formulas import expected_dimension
from neuroviz.engine.measure import METHODS, measure_dimension
from neuroviz.engine.records import VERSION, Record, Sweep, path_of
from neuroviz.engine.threads import one_thread

_TRIES = 2  # of an item whose worker died, or that was in flight when another one did
_WAITING = 64  # items handed to an executor that does not say how many it runs at a time
_PATIENCE = 60.0  # seconds without a result: an executor that is not ours may have no workers left
_DIED = "the worker died, and again when it was tried again"
_BEGINNING = f'{{"version": {VERSION}, "arch": {{'.encode()  # of every line of a file


def sweep(
    architectures: Iterable[Architecture],
    method: str = "exact",
    workers: int = 1,
    executor: Executor | None = None,
    file: str | Path | None = None,
    progress: bool | Callable[[int, int, Record], None] = True,
    seed: int = 0,
) -> Sweep:
    """Measure many architectures; records are kept as they finish.

    Args:
        architectures: any number of them; equal ones are measured once.
        method: "exact", "float" or "certified", as in `measure_dimension`. Records are the same on every
            machine for exact; a float gap measures rounding errors, which other processors make differently.
        workers: 1: in this process; more: a pool of as many processes, which the sweep starts and ends.
        executor: any `concurrent.futures.Executor` instead, a dask cluster's through `Client.get_executor()`
            included; it is not shut down. If it breaks for good, what is left is recorded as failed; without
            workers the sweep waits for some, with a warning after a minute.
        file: where each record is appended as one line of JSON. If the file is there, what it holds is not
            measured again, except for what failed; a last line that was cut off is dropped. Other methods
            and seeds may stand in the same file.
        progress: a bar with the time left; False: none; or a function called as (done, of, record).
        seed: as in `measure_dimension`.

    Raises:
        ValueError: if an argument is none of the above, or the file holds something else.

    >>> from neuroviz import Architecture
    >>> from neuroviz.engine.sweep import sweep
    >>> sweep([Architecture.uniform(d, 2, 2) for d in (2, 3, 4)], progress=False)
    Sweep(3 records: 3 exact; 0 unlike theory)
    """
    wanted = _checked(architectures, method, workers, executor, seed)
    seed = int(seed)  # a number that JSON can write
    if not callable(progress) and not isinstance(progress, bool):
        raise ValueError(f"progress is True, False or a function of (done, of, record); got {progress!r}")
    found = {} if file is None else _read(path_of("file", file), method, seed)
    todo = [arch for arch in dict.fromkeys(wanted) if arch not in found]
    done = len(set(wanted)) - len(todo)
    with _Progress(progress, len(set(wanted)), done) as report, _Log(file) as log:
        with closing(measured(todo, method, seed, workers, executor)) as records:
            for record in records:
                found[record.arch] = record
                log.append(record)
                done += 1
                report(done, record)
    return Sweep(tuple(found[arch] for arch in wanted))


def measured(
    architectures: Iterable[Architecture],
    method: str = "exact",
    seed: int = 0,
    workers: int = 1,
    executor: Executor | None = None,
) -> Iterator[Record]:
    """The records one by one, as they finish: what `sweep` is made of. Closing the iterator ends the work."""
    todo = [(arch, method, int(seed)) for arch in _checked(architectures, method, workers, executor, seed)]
    if executor is None and workers > 1:
        yield from _on_a_pool(todo, workers)
        return
    # The limit of each item is enough where it runs alone. In threads, one would lift that of another.
    with one_thread():
        yield from (measure_one(item) for item in todo) if executor is None else _on(executor, todo, _WAITING)


Item = tuple[Architecture, str, int]


def measure_one(item: Item) -> Record:
    """One record; an error of the measurement becomes a failed record. Runs in a worker, on one thread."""
    arch, method, seed = item
    theory = expected_dimension(arch)
    try:
        with one_thread():
            m = measure_dimension(arch, method, seed)
    except Exception as error:  # recorded: one architecture must not end a sweep
        return _failed(item, f"{type(error).__name__}: {error}")
    gap = float(f"{m.gap:.6g}") if m.method == "float" else None
    return Record(
        arch,
        method,
        seed,
        m.value,
        m.status,
        theory.value,
        theory.source,
        getattr(m, "error_bound", None),
        getattr(m, "prime", None),
        gap,
        getattr(m, "decided", None),
        getattr(m, "route", "weights"),
        m.note,
    )


def _failed(item: Item, why: str) -> Record:
    theory = expected_dimension(item[0])
    return Record(*item, None, "failed", theory.value, theory.source, note=why)


def _checked(
    architectures: Iterable[Architecture], method: str, workers: int, executor: Executor | None, seed: int
) -> list[Architecture]:
    if isinstance(architectures, Architecture):
        raise ValueError(f"sweep needs several architectures, in a list; got one: [{architectures}]?")
    try:
        wanted = list(architectures)
    except TypeError:
        raise ValueError(f"sweep needs architectures, in a list; got {architectures!r}") from None
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}; got {method!r}")
    for arch in wanted:
        check_architecture("sweep", arch, variants=method in ("exact", "float"))
    for name, value, least in (("workers", workers, 1), ("seed", seed, 0)):
        whole_number(name, value, least)
    if executor is not None and (workers != 1 or not hasattr(executor, "submit")):
        raise ValueError(
            "executor is a concurrent.futures.Executor, which has its own workers; "
            f"got executor={executor!r} and workers={workers}: leave one of them out"
        )
    return wanted


# On executors


def _on(executor: Executor, todo: list[Item], at_a_time: int) -> Iterator[Record]:
    """The records of an executor that is not ours: what fails there is tried again there.

    dask gives up an item when several workers have died that held it, be it its fault or that of another one
    beside it: such items are tried again alone.
    """
    waiting, tries, this_sweep = deque(todo), Counter(), os.urandom(8).hex()
    suspects: list[Item] = []
    running: dict[Future, Item] = {}
    try:
        while waiting or running:
            while waiting and len(running) < at_a_time:
                item = waiting.popleft()
                tries[item] += 1
                try:
                    running[executor.submit(_attempt, item, (this_sweep, tries[item]))] = item
                except BrokenExecutor:
                    yield _failed(item, "the executor is broken: a worker of it died")
            if not running:  # the executor took none of them
                continue
            for future in _first(running, _PATIENCE) or _after_a_warning(running):
                item = running.pop(future)
                error = _error(future)
                if error is None:
                    yield future.result()
                elif _gave_up(error) and at_a_time > 1:
                    suspects.append(item)
                elif tries[item] < _TRIES and not _gave_up(error):
                    waiting.append(item)
                else:
                    yield _failed(item, _why(error))
        for item in suspects:
            yield from _on(executor, [item], 1)
    finally:
        for future in running:
            future.cancel()


def _attempt(item: Item, _mark: tuple[str, int]) -> Record:
    """dask keeps what a call came to, errors and cancellations too: each try has to be a call of its own."""
    return measure_one(item)


def _error(future: Future) -> BaseException | None:
    return CancelledError("somebody else cancelled it") if future.cancelled() else future.exception()


def _gave_up(error: BaseException) -> bool:
    """Whether dask has tried it on several workers already, and all of them died."""
    return type(error).__name__ == "KilledWorker"


def _why(error: BaseException) -> str:
    """Why there is no record. How a worker died is told with addresses, which are never the same."""
    if isinstance(error, BrokenExecutor) or _gave_up(error):
        return _DIED
    return f"the worker failed, and again when it was tried again: {type(error).__name__}: {error}"


def _first(running: dict[Future, Item], patience: float | None = None) -> list[Future]:
    """The futures that are done, once there is one, or the patience is at its end."""
    return list(wait(running, patience, FIRST_COMPLETED).done)


def _after_a_warning(running: dict[Future, Item]) -> list[Future]:
    """The same without end: an executor does not say whether it has any workers."""
    warnings.warn(
        f"no result for {_PATIENCE:g} s, {len(running)} are awaited: does the executor still have workers? "
        "The sweep waits; interrupt it to stop, and with file= it goes on later from what it has",
        RuntimeWarning,
        stacklevel=2,
    )
    return _first(running)


def _on_a_pool(todo: list[Item], workers: int) -> Iterator[Record]:
    """The records of a pool of our own. Where a worker dies, all that were running are tried again, alone."""
    waiting, suspects = deque(todo), deque()
    while waiting:
        with _pool(workers) as pool:
            yield from _until_one_dies(pool, waiting, 2 * workers, suspects)
    while suspects:
        with _pool(1) as pool:
            dead: deque[Item] = deque()
            yield from _until_one_dies(pool, suspects, 1, dead)
        for item in dead:
            yield _failed(item, _DIED)


def _until_one_dies(
    pool: Executor, waiting: deque[Item], at_a_time: int, lost: deque[Item]
) -> Iterator[Record]:
    """The records of what is waiting, until a worker dies; what was running then is lost."""
    running: dict[Future, Item] = {}
    alive = True
    while (waiting and alive) or running:
        while waiting and alive and len(running) < at_a_time:
            item = waiting.popleft()
            try:
                running[pool.submit(measure_one, item)] = item
            except BrokenExecutor:
                waiting.appendleft(item)
                alive = False
        for future in _first(running):
            item = running.pop(future)
            if _error(future) is None:
                yield future.result()
            else:
                lost.append(item)
                alive = False


@contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Processes that do not run the caller's script again, and go when the block ends."""
    from loky import ProcessPoolExecutor

    env = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    pool = ProcessPoolExecutor(workers, env=env, initializer=_ignore_interrupts)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, kill_workers=True)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the sweep, which ends its workers


# The file


def _read(path: Path, method: str, seed: int) -> dict[Architecture, Record]:
    """What a file holds of this sweep, but for what failed; a torn last line is cut off the file."""
    if not path.exists():
        return {}
    whole, end, torn = path.read_bytes().rpartition(b"\n")
    found = {}
    for number, line in enumerate(whole.split(b"\n") if end else [], start=1):
        try:
            record = Record.from_json(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if (record.method, record.seed) == (method, seed) and not record.failed:
            found[record.arch] = record
    if not (torn.startswith(_BEGINNING) or _BEGINNING.startswith(torn)):  # then it is not ours to cut
        raise ValueError(f"{path} ends in something that is no record: give the sweep another file")
    if torn:
        os.truncate(path, len(whole + end))
    return found


class _Log:
    """Appends records to a file, each as one line that is written at once; without a file, nothing."""

    def __init__(self, path: str | Path | None) -> None:
        self._path, self._file = path, None

    def __enter__(self) -> "_Log":
        if self._path is not None:
            self._file = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        return self

    def append(self, record: Record) -> None:
        if self._file is not None:
            os.write(self._file, (record.to_json() + "\n").encode())

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            os.close(self._file)


class _Progress:
    """A bar with the time left, a function of the caller's, or nothing."""

    def __init__(self, wanted: bool | Callable, total: int, done: int) -> None:
        self._total, self._bar = total, None
        self._call = wanted if callable(wanted) else None
        if wanted is True:
            from tqdm.auto import tqdm

            self._bar = tqdm(total=total, initial=done, unit="net", disable=total == done)

    def __enter__(self) -> Callable[[int, Record], None]:
        return self._report

    def _report(self, done: int, record: Record) -> None:
        if self._call:
            self._call(done, self._total, record)
        if self._bar is not None:
            self._bar.update()

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
