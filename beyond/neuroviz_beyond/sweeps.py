"""Many architectures, one record each, on whatever runs things: this process, a pool of
its own, a cluster.

Records arrive as they finish and are appended to a file at once, one a line; a sweep
that was stopped goes on from its file. A worker that dies costs its own item, which is
tried again and then recorded as failed. The records say nothing about time or place:
the same seed gives the same records on any executor.
"""

import csv
import io
import json
import os
import signal
import warnings
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from contextlib import (
    AbstractContextManager,
    ExitStack,
    closing,
    contextmanager,
    nullcontext,
)
from dataclasses import asdict, dataclass, fields
from math import inf
from pathlib import Path
from typing import BinaryIO

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.kit.measured import measure_dimension
from neuroviz.rank.checks import whole_number
from neuroviz.rank.question import ask
from neuroviz.rank.threads import one_thread
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension
from neuroviz_beyond.transformers.transformer import as_transformer, in_simplest_form

VERSION = 2
"""Version of the records; it changes when the same seed no longer gives the same
records."""


# most items in the hands of an executor that does not say how many it runs at once
_WAITING = 64
# Seconds without a result, after which a caller's executor may have lost its workers.
_PATIENCE = 60.0
# every line of a file begins so
_BEGINNING = f'{{"version": {VERSION}, "arch": {{'.encode()


@dataclass(frozen=True)
class Record:
    """What was measured of one architecture: the numbers of its `Measurement`, and what
    theory says.

    Attributes:
        value: the dimension; None where it failed.
        status: that of the measurement, or "failed".
        expected, source: `expected_dimension`, and the statement it comes from.
        error_bound, prime: exact only.
        gap, decided: float only.
        note: how the number was found, or why there is none.
    """

    arch: Architecture | Transformer
    method: str
    seed: int
    value: int | None
    status: str
    expected: int | None = None
    source: str = ""
    error_bound: float | None = None
    prime: int | None = None
    gap: float | None = None
    decided: bool | None = None
    route: str | None = None
    note: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is no number."""
        return self.status == "failed"

    def row(self) -> dict[str, object]:
        """All of it as a flat dictionary, for tables: the sizes first."""
        arch = as_transformer("row", self.arch)
        measured = fields(self)[1:]
        row = {
            "attention": arch.attention,
            "layers": arch.num_layers,
            "tokens": arch.tokens,
        }
        row |= {
            name: " ".join(map(str, getattr(arch, name)))
            for name in ("widths", "head_dims", "heads")
        }
        row |= {"skip": arch.skip, "causal": arch.causal, "block": str(arch.block)}
        return (
            row
            | {"parameters": arch.num_parameters}
            | {f.name: getattr(self, f.name) for f in measured}
        )

    def to_json(self) -> str:
        """One line of a sweep's file."""
        said = {"version": VERSION} | asdict(self)
        if self.gap == inf:  # JSON knows no infinity
            said["gap"] = "inf"
        return json.dumps(said, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, line: str | bytes) -> "Record":
        """The record of a line.

        Raises:
            ValueError: if the line is no record, or one of another version.
        """
        try:
            read = json.loads(line)
            if (version := read.pop("version")) == VERSION:
                gap = read["gap"]
                block = Block(**read["arch"].get("block", {}))
                whole = Transformer(**read["arch"] | {"block": block})
                arch = in_simplest_form("from_json", whole)
                return cls(
                    **read | {"arch": arch, "gap": None if gap is None else float(gap)}
                )
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ):
            # ArithmeticError: a whole number too large for a float. RecursionError:
            # brackets without end.
            seen = line if isinstance(line, str) else line.decode(errors="replace")
            raise ValueError(
                "a line of a sweep's file is what Record.to_json writes; "
                f"this one is not: {_beginning_of(seen)}"
            ) from None
        raise ValueError(
            f"a record of version {VERSION} is needed; this one is of version"
            f" {version!r}, and its numbers may be of other random points: give the"
            " sweep another file"
        )


def _beginning_of(line: str) -> str:
    """What an error shows of a line."""
    return repr(line) if len(line) <= 60 else f"{line[:60]!r} …"


_COLUMNS = tuple(Record(Transformer((1, 1), (1,)), "exact", 0, None, "failed").row())


@dataclass(frozen=True)
class Sweep:
    """The records of a sweep, in the order of the architectures that were asked for."""

    records: tuple[Record, ...]

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    @property
    def failed(self) -> tuple[Record, ...]:
        """The records without a number; their notes say why."""
        return tuple(record for record in self.records if record.failed)

    @property
    def disagreements(self) -> tuple[Record, ...]:
        """The records whose number is not the expected one; undecided float ranks are
        not counted."""
        known = (
            r
            for r in self.records
            if None not in (r.value, r.expected) and r.decided is not False
        )
        return tuple(record for record in known if record.value != record.expected)

    def to_pandas(self):
        """A pandas DataFrame, one row a record (needs pandas, which neuroviz does not
        install)."""
        try:
            import pandas
        except ImportError:
            raise ValueError(
                "to_pandas needs pandas: pip install pandas, or use to_csv"
            ) from None
        table = pandas.DataFrame(
            [record.row() for record in self.records], columns=_COLUMNS
        )
        # Whole numbers stay whole where some are missing.
        kinds = dict.fromkeys(("value", "expected", "prime"), "Int64")
        return table.astype(
            kinds | {"error_bound": "float64", "gap": "float64", "decided": "boolean"}
        )

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """A table with one line a record: written to a file, or returned as text where
        no path is given."""
        text = io.StringIO()
        table = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(record.row() for record in self.records)
        if path is None:
            return text.getvalue()
        path_of("path", path).write_text(
            text.getvalue(), encoding="utf-8", newline="\n"
        )

    def __repr__(self) -> str:
        kinds = Counter(record.status for record in self.records).items()
        inside = ", ".join(f"{count} {status}" for status, count in kinds)
        return (
            f"Sweep({len(self.records)} records: {inside}; {len(self.disagreements)}"
            " unlike theory)"
        )


def sweep(
    architectures: Iterable[Architecture | Transformer],
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
        method: "exact" or "float", as in `measure_dimension`. Records are the same on
            every machine for exact; a float gap measures rounding errors, which other
            processors make differently.
        workers: 1: in this process; more: a pool of as many processes, which the sweep
            starts and ends.
        executor: any `concurrent.futures.Executor` instead, such as a dask cluster's
            `Client.get_executor()`; it is not shut down. If it breaks for good, what is
            left is recorded as failed; without workers the sweep waits for some, with a
            warning after a minute.
        file: where each record is appended as one line of JSON. What it holds already
            is not measured again, except for what failed. A last record that was torn,
            by a full disk or a power cut, is cut off and measured again.
        progress: a bar with the time left; False: none; or a function called as (done,
            of, record).
        seed: as in `measure_dimension`.

    Raises:
        ValueError: if an argument is none of the above, or the file holds something
            else.
        ImportError: if workers > 1 and loky is not installed.
        OSError: if the file cannot be written, as on a full disk. The same call goes on
            where it ended.

    >>> from neuroviz_beyond import Transformer
    >>> from neuroviz_beyond.sweeps import sweep
    >>> sweep([Transformer.uniform(d, 2, 2) for d in (2, 3, 4)], progress=False)
    Sweep(3 records: 3 exact; 0 unlike theory)
    """
    wanted = _checked(architectures, method, workers, executor)
    seed = whole_number("seed", seed, least=0)
    if isinstance(progress, np.bool_):
        progress = bool(progress)
    if not callable(progress) and not isinstance(progress, bool):
        raise ValueError(
            "progress is True, False or a function of (done, of, record); got"
            f" {progress!r}"
        )
    found = {} if file is None else _read(path_of("file", file), method, seed)
    todo = [(arch, method, seed) for arch in dict.fromkeys(wanted) if arch not in found]
    of = len(set(wanted))
    with ExitStack() as opened:
        # Without a buffer each record is in the file before the next one begins.
        log = (
            opened.enter_context(open(file, "ab", buffering=0))
            if file is not None
            else None
        )
        if progress is True and todo:
            from tqdm.auto import tqdm

            bar = opened.enter_context(
                tqdm(total=of, initial=of - len(todo), unit="net")
            )
        records = opened.enter_context(closing(_measured(todo, workers, executor)))
        for done, record in enumerate(records, start=of - len(todo) + 1):
            found[record.arch] = record
            if log:
                _append(log, (record.to_json() + "\n").encode())
            if progress is True:
                bar.update()
            elif progress:
                progress(done, of, record)
    return Sweep(tuple(found[arch] for arch in wanted))


Item = tuple[Architecture | Transformer, str, int]


def _measured(
    todo: list[Item], workers: int, executor: Executor | None
) -> Iterator[Record]:
    """The records one by one, as they finish. Closing the iterator ends the work."""
    # In an executor of threads one item would lift another's limit.
    with one_thread():
        if executor is not None:
            yield from _on(lambda: nullcontext(executor), todo, _WAITING, _PATIENCE)
        elif workers > 1:
            yield from _on(lambda: _pool(workers), todo, 2 * workers)
        else:
            yield from map(measure_one, todo)


def measure_one(item: Item, _mark: object = None) -> Record:
    """One record; an error of the measurement becomes a failed record. Runs in a
    worker, on one thread. `_mark` is not read: it makes each try a new call for dask,
    see `_on`."""
    arch, method, seed = item
    try:
        with one_thread():
            m = measure_dimension(arch, method, seed)
    except Exception as error:
        # recorded, because one architecture must not end a sweep
        return _failed(item, f"{type(error).__name__}: {error}")
    said = ("error_bound", "prime", "gap", "decided", "route")
    # A float measurement names no route: all parameters are its columns.
    numbers = {"route": "weights"} | {
        name: getattr(m, name) for name in said if hasattr(m, name)
    }
    # The other digits of a gap are those of rounding errors.
    if method == "float":
        numbers["gap"] = float(f"{m.gap:.6g}")
    theory = expected_dimension(arch)
    return Record(
        *item, m.value, m.status, theory.value, theory.source, note=m.note, **numbers
    )


def _failed(item: Item, why: str) -> Record:
    theory = expected_dimension(item[0])
    return Record(*item, None, "failed", theory.value, theory.source, note=why)


def _checked(
    architectures: Iterable[Architecture | Transformer],
    method: str,
    workers: int,
    executor: Executor | None,
) -> list[Architecture | Transformer]:
    try:
        wanted = [in_simplest_form("sweep", arch) for arch in architectures]
    except TypeError:
        raise ValueError(
            f"sweep needs architectures, in a list; got {architectures}"
        ) from None
    for arch in wanted:
        ask(arch, method)
    whole_number("workers", workers)
    if executor is not None and (workers != 1 or not hasattr(executor, "submit")):
        raise ValueError(
            "executor is a concurrent.futures.Executor, which has its own workers; "
            f"got executor={executor!r} and workers={workers}: leave one of them out"
        )
    if workers > 1:
        try:
            import loky  # noqa: F401
        except ImportError:
            raise ImportError(
                f"sweep(workers={workers}) needs loky: pip install loky;"
                " workers=1 does without, as in a browser, and so does executor=",
                name="loky",
            ) from None
    return wanted


# On executors


def _on(
    open_executor: Callable[[], AbstractContextManager[Executor]],
    todo: list[Item],
    at_a_time: int,
    patience: float | None = None,
) -> Iterator[Record]:
    """The records of an executor. What fails, or runs when a worker dies, is tried
    again at the end, alone.

    An executor of ours is opened anew where a worker died.
    """
    # dask caches the result of a call, also an error: a mark makes each try new.
    this_sweep = os.urandom(8).hex()
    # Alone, an item that kills its worker takes no other one with it.
    for alone in (False, True):
        tries = _Tries(todo, 1 if alone else at_a_time, (this_sweep, alone))
        lost = []
        with closing(tries.results(open_executor, patience)) as results:
            for item, result in results:
                if isinstance(result, Record):
                    yield result
                elif alone:
                    yield _failed(item, _why(result))
                else:
                    lost.append(item)
        for item in tries.waiting:
            yield _failed(item, "the executor is broken: a worker of it died")
        todo = lost


class _Tries:
    """Each item is tried once, and some of them run at a time.

    Attributes:
        waiting: the items that no executor has taken.
    """

    def __init__(self, items: list[Item], at_a_time: int, mark: object) -> None:
        self.waiting = deque(items)
        self._running: dict[Future, Item] = {}
        self._at_a_time = at_a_time
        self._mark = mark
        self._alive = True

    def results(
        self,
        open_executor: Callable[[], AbstractContextManager[Executor]],
        patience: float | None,
    ) -> Iterator[tuple[Item, Record | BaseException]]:
        """The items as they finish, each with its record or with the error of its
        worker.

        Where a worker died the executor is opened anew, unless it took nothing: items
        are left waiting then.
        """
        while self.waiting:
            before = len(self.waiting)
            with open_executor() as executor:
                self._alive = True
                try:
                    self._fill(executor)
                    while self._running:
                        yield from self._collect(patience)
                        self._fill(executor)
                finally:
                    for future in self._running:
                        future.cancel()
            if len(self.waiting) == before:
                return

    def _fill(self, executor: Executor) -> None:
        """Submit items until enough are running."""
        while self.waiting and self._alive and len(self._running) < self._at_a_time:
            try:
                future = executor.submit(measure_one, self.waiting[0], self._mark)
            except BrokenExecutor:
                self._alive = False
            else:
                self._running[future] = self.waiting.popleft()

    def _collect(
        self, patience: float | None
    ) -> Iterator[tuple[Item, Record | BaseException]]:
        """What is done, once there is something."""
        for future in _done(self._running, patience):
            item = self._running.pop(future)
            error = _error_of(future)
            yield item, future.result() if error is None else error
            if isinstance(error, BrokenExecutor):
                self._alive = False


def _error_of(future: Future) -> BaseException | None:
    """Why a future that is done has no result. One that somebody else cancelled would
    raise its error when asked for it."""
    return CancelledError("cancelled") if future.cancelled() else future.exception()


def _why(error: BaseException) -> str:
    """Why there is no record. How a worker died is told with addresses, which are never
    the same."""
    # dask's BrokenExecutor
    if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
        return "the worker died, and again when it was tried again"
    return (
        f"the worker failed, and again when it was tried again: {type(error).__name__}:"
        f" {error}"
    )


def _done(running: dict[Future, Item], patience: float | None) -> list[Future]:
    """The futures that are done, once there is one; a warning when patience ends: are
    there workers?"""
    if not wait(running, patience, FIRST_COMPLETED).done:
        warnings.warn(
            f"no result for {patience:g} s, {len(running)} are awaited: does the"
            " executor still have workers? The sweep waits; interrupt it to stop, and"
            " with file= it goes on later",
            RuntimeWarning,
            stacklevel=2,
        )
    return list(wait(running, None, FIRST_COMPLETED).done)


@contextmanager
def _pool(workers: int) -> Iterator[Executor]:
    """Processes that do not run the caller's script again, and go when the block ends.

    Those of concurrent.futures run it again (spawn) or copy locks of running threads
    (fork).
    """
    from loky import ProcessPoolExecutor

    env = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    # The sweep hears Ctrl-C and ends its workers.
    deaf = dict(initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN))
    pool = ProcessPoolExecutor(workers, env=env, **deaf)
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, kill_workers=True)


# The file


def _append(log: BinaryIO, line: bytes) -> None:
    """All of a line. The system may write a part of it, and says why only when asked
    for the rest."""
    rest = line
    try:
        while rest:
            rest = rest[log.write(rest) :]
    except OSError as error:
        error.add_note(
            "The file keeps what was measured before: the same call goes on from there."
        )
        raise


def _read(
    path: Path, method: str, seed: int
) -> dict[Architecture | Transformer, Record]:
    """What a file holds of this sweep, but for what failed; a torn end is cut off the
    file."""
    if not path.exists():
        return {}
    whole = path.read_bytes()
    # A power cut leaves blocks of zeros, an editor blank lines.
    lines = whole.rstrip(b"\0 \t\r\n").split(b"\n")
    # An empty file is one empty line, the beginning of any record.
    if _is_torn(lines[-1]):
        del lines[-1]
    found = {}
    for number, line in enumerate(lines, start=1):
        try:
            record = Record.from_json(line)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from None
        if (record.method, record.seed) == (method, seed) and not record.failed:
            found[record.arch] = record
    good = b"".join(line + b"\n" for line in lines)
    if whole != good:
        # The good lines stand there already, perhaps but for the last line's end.
        with open(path, "r+b") as file:
            file.truncate(len(good))  # a full disk allows it
            file.seek(max(0, len(good) - 1))
            file.write(good[-1:])
    return found


def _is_torn(line: bytes) -> bool:
    """Whether a last line is a record that ends too early; of an object in JSON no
    beginning is one."""
    if not (line.startswith(_BEGINNING) or _BEGINNING.startswith(line)):
        return False
    try:
        json.loads(line)
    except ValueError:
        return True
    return False


def path_of(name: str, file: str | Path) -> Path:
    """Where a file is to be written.

    Raises:
        ValueError: if that is no path, a folder, or in a folder that is not there.

    >>> path_of("file", 3)
    Traceback (most recent call last):
    ValueError: file needs to be a path, such as 'sweep.jsonl'; got 3
    """
    if not isinstance(file, (str, Path)) or not str(file):
        raise ValueError(
            f"{name} needs to be a path, such as 'sweep.jsonl'; got {file!r}"
        )
    path = Path(file)
    if path.is_dir():
        raise ValueError(
            f"{name} needs to be a file; {str(path)!r} is a folder: name a file in it"
        )
    if not path.parent.is_dir():
        raise ValueError(
            f"{name} is in a folder that is not there: make {str(path.parent)!r} first"
        )
    return path
