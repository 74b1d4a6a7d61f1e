"""Sweeps: the same records wherever they run, none of them lost, none measured
twice."""

import csv
import io
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import fields
from itertools import product
from math import inf

import dask
import numpy as np
import pandas
import psutil
import pytest
from distributed import Client, LocalCluster
from loky import ProcessPoolExecutor
from panels import PATIENCE
from threadpoolctl import threadpool_info, threadpool_limits

from neuroviz.attention import Architecture
from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.sweeps import Record, Sweep, sweep
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.formulas import expected_dimension

MODULE = sys.modules["neuroviz_beyond.sweeps"]
# workers inherit it
HOME = os.environ.setdefault("NEUROVIZ_TEST_SWEEP", str(os.getpid()))

SIZES = product(("lightning", "softmax"), (2, 3), (1, 3), (1, 2), (1, 3))
SMALL = [
    Architecture((d, inner, d), (a, 2), tokens, kind)
    for kind, d, inner, a, tokens in SIZES
]


class Deadly(Transformer):
    """Ends whatever process asks for its slice, but for the one that the tests run
    in."""

    def slice(self):
        if str(os.getpid()) != HOME:
            time.sleep(0.3)  # dask gives a worker up that dies before it is quite there
            os._exit(1)
        return super().slice()


DEADLY = Deadly((3, 2, 3), (2, 2))


def lines(path):
    return path.read_text().splitlines()


def workers():
    """The processes below this one that can measure: loky's book-keepers stay until the
    end."""
    below = psutil.Process().children(recursive=True)
    alive = (
        child
        for child in below
        if child.is_running() and child.status() != psutil.STATUS_ZOMBIE
    )
    return {
        child for child in alive if "resource_tracker" not in " ".join(child.cmdline())
    }


def stopping_after(count):
    """A function for `progress` that is interrupted, as by Ctrl-C, after so many
    records."""

    def report(done, of, record):
        if done == count:
            raise KeyboardInterrupt

    return report


def killing(pids, after=3):
    """A function for `progress` that kills one of the processes after a few records;
    and whom it killed."""
    killed = []

    def report(done, of, record):
        if not killed and done >= after:
            killed.append(sorted(pids())[0])
            os.kill(killed[0], signal.SIGKILL)

    return report, killed


@pytest.fixture
def counted(monkeypatch):
    """The architectures that are measured in this process, in order; those in
    `counted.bad` fail."""

    class Counted(list):
        bad = ()

    calls = Counted()

    def measure(arch, method, seed):
        calls.append(arch)
        if arch in calls.bad:
            raise ArithmeticError("it cannot be counted")
        return measure_dimension(arch, method, seed)

    monkeypatch.setattr(MODULE, "measure_dimension", measure)
    return calls


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A real dask cluster of two processes on this machine; a task may kill two workers
    and no more."""
    quiet = dict(dashboard_address=None, silence_logs=logging.CRITICAL)
    settings = dict(
        n_workers=2,
        threads_per_worker=1,
        local_directory=tmp_path_factory.mktemp("dask"),
    )
    once = dask.config.set({"distributed.scheduler.allowed-failures": 1})
    with (
        once,
        LocalCluster(processes=True, **quiet, **settings) as made,
        Client(made) as client,
    ):
        yield client


@pytest.fixture
def executors(cluster):
    """A name → the arguments that make a sweep run there."""
    threads = ThreadPoolExecutor(3)
    pool = ProcessPoolExecutor(2)
    yield {
        "this process": {},
        "two workers": {"workers": 2},
        "threads": {"executor": threads},
        "loky": {"executor": pool},
        "dask": {"executor": cluster.get_executor()},
    }
    threads.shutdown()
    pool.shutdown(kill_workers=True)


# What is recorded


def test_a_record_holds_what_the_measurement_and_theory_say():
    for record in sweep(SMALL, progress=False):
        found = measure_dimension(record.arch)
        theory = expected_dimension(record.arch)
        for name in ("value", "status", "note", "error_bound", "prime", "route"):
            assert getattr(record, name) == getattr(found, name)
        assert (record.expected, record.source, record.failed) == (
            theory.value,
            theory.source,
            False,
        )


@pytest.mark.long
@pytest.mark.parametrize("method", ["exact", "float"])
def test_the_same_seed_gives_the_same_records_wherever_they_are_made(executors, method):
    """On a cluster too every call is a new one, though dask gives equal calls one
    answer."""
    here = sweep(SMALL, method, progress=False, seed=np.int64(3))
    for name, there in executors.items():
        assert sweep(SMALL, method, progress=False, seed=3, **there) == here, name
    assert sweep(SMALL, method, progress=False, seed=4) != here


def test_whoever_gives_no_seed_reads_the_seed_zero_in_each_record():
    records = sweep([Architecture((2, 2), (1,))], progress=False).records
    assert {record.seed for record in records} == {0}


@pytest.mark.long
def test_records_come_in_the_order_of_the_question_and_equal_ones_are_measured_once(
    counted, executors
):
    twice = [SMALL[3], SMALL[0], SMALL[3], SMALL[3]]
    found = sweep(twice, progress=False)
    assert [record.arch for record in found] == twice
    assert counted == [SMALL[3], SMALL[0]]
    for there in executors.values():
        assert [
            record.arch for record in sweep(SMALL[::-1], progress=False, **there)
        ] == SMALL[::-1]


def test_any_iterable_will_do_and_so_will_an_empty_one():
    assert sweep((arch for arch in SMALL), progress=False) == sweep(
        SMALL, progress=False
    )
    assert sweep([], progress=False) == Sweep(())
    assert sweep([], workers=2, progress=False).to_pandas().empty


# What goes wrong in one place costs that place


@pytest.mark.parametrize("where", ["this process", "threads"])
def test_an_exception_in_one_measurement_is_one_failed_record(
    counted, executors, where
):
    counted.bad = (SMALL[2],)
    found = sweep(SMALL, progress=False, **executors[where])
    (failed,) = found.failed
    assert (failed.arch, failed.value, failed.status) == (SMALL[2], None, "failed")
    assert failed.note == "ArithmeticError: it cannot be counted"
    assert failed.expected == expected_dimension(SMALL[2]).value
    counted.bad = ()
    good = sweep(SMALL, progress=False)
    assert good.failed == () and [r for r in good if r.arch != SMALL[2]] == [
        r for r in found if not r.failed
    ]


@pytest.mark.long
@pytest.mark.parametrize("where", ["two workers", "dask"])
def test_what_always_kills_its_worker_is_one_failed_record_and_the_others_are_there(
    executors, where
):
    found = sweep([*SMALL[:5], DEADLY, *SMALL[5:]], progress=False, **executors[where])
    (failed,) = found.failed
    assert failed.arch == DEADLY
    assert failed.note == "the worker died, and again when it was tried again"
    assert [r for r in found if not r.failed] == list(sweep(SMALL, progress=False))


@pytest.mark.long
def test_a_killed_worker_of_the_own_pool_loses_no_record(tmp_path):
    before = workers()
    report, killed = killing(lambda: {worker.pid for worker in workers() - before})
    found = sweep(SMALL, workers=2, file=tmp_path / "sweep.jsonl", progress=report)
    assert len(killed) == 1 and not psutil.pid_exists(killed[0])
    assert found == sweep(SMALL, progress=False)
    assert len(lines(tmp_path / "sweep.jsonl")) == len(SMALL)


def test_a_killed_worker_of_a_cluster_loses_no_record(cluster):
    report, killed = killing(lambda: cluster.run(os.getpid).values())
    found = sweep(SMALL, executor=cluster.get_executor(), progress=report)
    assert len(killed) == 1 and found == sweep(SMALL, progress=False)


# nothing is waited for, so there is nothing to warn of
@pytest.mark.filterwarnings("error")
def test_a_broken_executor_leaves_failed_records_which_another_one_makes_good(
    tmp_path,
):
    """Here a killed worker does cost records: nobody but its owner can start it
    again."""
    before = workers()
    pool = ProcessPoolExecutor(1)
    report, killed = killing(lambda: {worker.pid for worker in workers() - before})
    found = sweep(SMALL, executor=pool, file=tmp_path / "sweep.jsonl", progress=report)
    pool.shutdown(kill_workers=True)
    assert killed and found.failed and len(found) == len(SMALL)
    assert {record.note for record in found.failed} == {
        "the executor is broken: a worker of it died"
    }
    assert sweep(SMALL, file=tmp_path / "sweep.jsonl", progress=False) == sweep(
        SMALL, progress=False
    )


class WithoutWorkers(ThreadPoolExecutor):
    """Takes work, and does nothing until somebody is impatient."""

    def submit(self, work, *given):
        self.left = (work, given, Future())
        return self.left[-1]

    def a_worker_comes(self):
        work, given, future = self.left
        future.set_result(work(*given))


def test_a_silent_executor_is_spoken_of(monkeypatch):
    executor = WithoutWorkers()
    monkeypatch.setattr(MODULE, "_PATIENCE", 0.01)
    threading.Timer(0.5, executor.a_worker_comes).start()
    with pytest.warns(RuntimeWarning, match="no result for 0.01 s, 1 are awaited"):
        assert len(sweep(SMALL[:1], executor=executor, progress=False).records) == 1


class Moody(ThreadPoolExecutor):
    """Its first answer, or answers, to everything is an error, or that somebody has
    cancelled it."""

    def __init__(self, error, times=1):
        super().__init__(1)
        self.error = error
        self.times = times
        self.asked = []
        self.calls = set()

    def submit(self, work, item, *rest):
        self.asked.append(item)
        self.calls.add((item, *rest))
        if self.asked.count(item) > self.times:
            return super().submit(work, item, *rest)
        future = Future()
        if self.error:
            future.set_exception(self.error)
        elif future.cancel():
            future.set_running_or_notify_cancel()
        return future


@pytest.mark.parametrize("error", [None, OSError("the network is down"), MemoryError()])
def test_what_fails_on_the_way_is_tried_again(error):
    with Moody(error) as executor:
        assert sweep(SMALL, executor=executor, progress=False) == sweep(
            SMALL, progress=False
        )
        assert len(executor.asked) == len(executor.calls) == 2 * len(SMALL)


def test_what_fails_twice_on_the_way_is_recorded_with_the_reason():
    with Moody(OSError("the network is down"), times=2) as executor:
        found = sweep(SMALL[:3], executor=executor, progress=False)
    said = (
        "the worker failed, and again when it was tried again: OSError: the network is"
        " down"
    )
    assert [record.note for record in found] == 3 * [said]


# Its file


@pytest.mark.parametrize("where", ["this process", "two workers"])
def test_interrupted_and_resumed_gives_the_same_lines_up_to_order(
    tmp_path, executors, where
):
    whole = tmp_path / "whole.jsonl"
    parts = tmp_path / "parts.jsonl"
    found = sweep(SMALL, file=whole, progress=False)
    for count in (3, 9):
        with pytest.raises(KeyboardInterrupt):
            sweep(SMALL, file=parts, progress=stopping_after(count), **executors[where])
        assert count <= len(lines(parts)) < len(SMALL)
    assert sweep(SMALL, file=parts, progress=False, **executors[where]) == found
    assert sorted(lines(parts)) == sorted(lines(whole)) and len(lines(whole)) == len(
        SMALL
    )


_SCRIPT = """
import sys
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.sweeps import Record, sweep

if __name__ == "__main__":
    small = [Transformer((d, 2, d), (a, 2)) for d in (2, 3) for a in (1, 2)]
    # It takes minutes, so that the interrupt comes first.
    large = Transformer.uniform(48, 40, 16)
    print("never:", sweep([*small, large], workers=int(sys.argv[1]), file=sys.argv[2]))
"""


@pytest.mark.long
@pytest.mark.parametrize("count", [1, 2])
def test_an_interrupt_ends_it_and_its_workers_and_what_was_measured_is_kept(
    tmp_path, count
):
    script = tmp_path / "script.py"
    file = tmp_path / "sweep.jsonl"
    script.write_text(_SCRIPT)
    command = [sys.executable, str(script), str(count), str(file)]
    pipes = dict(
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    process = subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}, **pipes
    )
    try:
        end = time.monotonic() + PATIENCE
        while (not file.exists() or len(lines(file)) < 4) and time.monotonic() < end:
            time.sleep(0.01)
        below = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers, too
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT and "never" not in out
    assert err.count("Traceback") == 1 and err.rstrip().endswith("KeyboardInterrupt")
    assert not psutil.wait_procs(below, timeout=PATIENCE)[1]
    assert len(lines(file)) == 4
    small = [Transformer((d, 2, d), (a, 2)) for d in (2, 3) for a in (1, 2)]
    sweep(small, file=tmp_path / "whole.jsonl", progress=False)
    assert sorted(lines(file)) == sorted(lines(tmp_path / "whole.jsonl"))


def test_nothing_is_measured_twice_on_resume(tmp_path, counted):
    file = tmp_path / "sweep.jsonl"
    with pytest.raises(KeyboardInterrupt):
        sweep(SMALL, file=file, progress=stopping_after(5))
    assert counted == SMALL[:5]
    sweep(SMALL, file=file, progress=False)
    assert counted == SMALL
    sweep(SMALL[::-1], file=file, progress=False)
    assert counted == SMALL and len(lines(file)) == len(SMALL)
    sweep(SMALL, progress=False)
    assert len(counted) == 2 * len(SMALL)


@contextmanager
def files_end_at(size):
    """As on a full disk: the system writes the part of a line that fits, and refuses
    the rest."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield lambda: resource.setrlimit(resource.RLIMIT_FSIZE, before)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_for_a_moment_costs_no_record_but_the_torn_one(
    tmp_path, counted
):
    file = tmp_path / "sweep.jsonl"
    whole = tmp_path / "whole.jsonl"
    sweep(SMALL[:5], file=whole, progress=False)
    good = whole.read_bytes().splitlines(keepends=True)
    with files_end_at(len(b"".join(good[:2])) + 40) as lift:

        def room_again_after_three(done, _of, _record):
            if done == 3:
                lift()

        with pytest.raises(OSError) as refused:
            sweep(SMALL[:5], file=file, progress=room_again_after_three)
    assert "the same call goes on from there" in refused.value.__notes__[0]
    assert file.read_bytes() == b"".join(good[:2]) + good[2][:40]
    counted.clear()
    sweep(SMALL[:5], file=file, progress=False)
    assert counted == SMALL[2:5]
    assert file.read_bytes() == whole.read_bytes()


ENDS = {
    "as it was": b"",
    "zeros": bytes(512),
    "a blank line": b"\n",
    "blank lines": b"\n \n\r\n",
    "zeros and a line": bytes(512) + b"\n",
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_torn_end_of_any_shape_costs_at_most_the_torn_record(tmp_path, counted, end):
    file = tmp_path / "sweep.jsonl"
    found = sweep(SMALL[:3], file=file, progress=False)
    whole = file.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    complete = len(whole) - 1  # without its newline
    for cut in range(start, len(whole) + 1):
        file.write_bytes(whole[:cut] + end)
        counted.clear()
        assert sweep(SMALL[:3], file=file, progress=False) == found
        assert counted == SMALL[2 : 3 if cut < complete else 2]
        assert file.read_bytes() == whole


def test_a_first_record_that_became_zeros_is_measured_again(tmp_path, counted):
    file = tmp_path / "sweep.jsonl"
    file.write_bytes(bytes(512))
    sweep(SMALL[:1], file=file, progress=False)
    assert counted == SMALL[:1] and len(lines(file)) == 1


def test_a_broken_line_in_the_middle_is_refused_with_its_number_and_left_alone(
    tmp_path,
):
    file = tmp_path / "sweep.jsonl"
    sweep(SMALL[:3], file=file, progress=False)
    good = file.read_bytes().splitlines(keepends=True)
    other = good[1].replace(b'{"version": 2, ', b'{"version": 7, ')
    huge = good[1].replace(b'"gap": null', b'"gap": 1' + b"0" * 400)
    two = good[1][:40] + good[1]
    deep = b"[" * 100_000 + b"\n"
    assert other != good[1] != huge
    for bad in (
        b"{}\n",
        b"\n",
        b"3\n",
        b"null\n",
        b"\xff\xfe\n",
        bytes(512) + b"\n",
        good[1][:40] + b"\n",
        two,
        huge,
        deep,
        other,
    ):
        broken = good[0] + bad + good[2]
        file.write_bytes(broken)
        with pytest.raises(
            ValueError,
            match=r"sweep\.jsonl, line 2: a (line of a sweep's file is|record)",
        ):
            sweep(SMALL[:3], file=file, progress=False)
        assert file.read_bytes() == broken


def test_a_whole_last_line_that_is_no_record_of_ours_is_refused_and_left_alone(
    tmp_path,
):
    file = tmp_path / "sweep.jsonl"
    sweep(SMALL[:3], file=file, progress=False)
    good = file.read_bytes().splitlines(keepends=True)
    newer = good[2].replace(b'{"version": 2, ', b'{"version": 7, ')
    edited = good[2].replace(b'"tokens": ', b'"tokens": -')
    for bad in (newer, edited, b"a note of mine"):
        broken = good[0] + good[1] + bad
        file.write_bytes(broken)
        with pytest.raises(ValueError, match=r"sweep\.jsonl, line 3: "):
            sweep(SMALL[:3], file=file, progress=False)
        assert file.read_bytes() == broken


@pytest.mark.parametrize("text", ["my thesis", "a,b\n1,2", '{"some": "other JSON"}'])
def test_a_file_that_is_no_sweep_is_refused_and_left_alone(tmp_path, text):
    file = tmp_path / "thesis.txt"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"thesis\.txt"):
        sweep(SMALL[:1], file=file, progress=False)
    assert file.read_text() == text


def test_what_failed_is_tried_again_and_the_later_record_counts(tmp_path, counted):
    file = tmp_path / "sweep.jsonl"
    counted.bad = (SMALL[1],)
    assert len(sweep(SMALL[:3], file=file, progress=False).failed) == 1
    assert len(sweep(SMALL[:3], file=file, progress=False).failed) == 1
    assert counted == [*SMALL[:3], SMALL[1]]
    counted.bad = ()
    assert sweep(SMALL[:3], file=file, progress=False) == sweep(
        SMALL[:3], progress=False
    )
    assert len(lines(file)) == 5
    assert not sweep(SMALL[:3], file=file, progress=False).failed
    later = json.loads(lines(file)[0]) | {"value": 999}
    with open(file, "a") as more:
        more.write(json.dumps(later) + "\n")
    assert sweep(SMALL[:1], file=file, progress=False).records[0].value == 999


def test_each_record_is_in_the_file_as_soon_as_it_is_reported(tmp_path):
    file = tmp_path / "sweep.jsonl"
    seen = []

    def report(done, of, record):
        seen.append(record)
        assert [Record.from_json(line) for line in lines(file)] == seen

    sweep(SMALL[:5], file=file, progress=report)
    assert len(seen) == 5


def test_a_line_is_the_record_and_json_that_others_can_read(tmp_path):
    def no(word):
        raise AssertionError(f"{word} is no JSON")

    odd = 'a line\nand\u2028two \x85 more, "quoted" — ‘θ’'
    records = [
        Record(SMALL[0], "float", 0, 3, "float", 3, gap=inf, decided=True),
        Record(SMALL[0], "float", 0, 3, "float", 3, gap=1e12, decided=False, note=odd),
        *sweep(SMALL, progress=False),
    ]
    for record in records:
        line = record.to_json()
        assert "\n" not in line and Record.from_json(line) == record
        json.loads(line, parse_constant=no)
    file = tmp_path / "sweep.jsonl"
    file.write_text("".join(record.to_json() + "\n" for record in records[1:2]))
    assert sweep(SMALL[:1], "float", file=file, progress=False).records[0].note == odd


# Tables


def test_the_tables_hold_every_record(tmp_path, counted):
    counted.bad = SMALL[:1]
    found = sweep(SMALL, progress=False)
    file = tmp_path / "sweep.csv"
    assert found.to_csv(file) is None and file.read_bytes().decode() == found.to_csv()
    table = found.to_pandas()
    assert {field.name for field in fields(Record)} - {"arch"} <= set(table.columns)
    empty = dict.fromkeys(
        ("value", "error_bound", "prime", "gap", "decided", "route"), [""]
    ) | {"note": []}
    read = pandas.read_csv(
        file, dtype=table.dtypes.to_dict(), keep_default_na=False, na_values=empty
    )
    pandas.testing.assert_frame_equal(read, table)
    assert table["value"].isna().sum() == 1 and table["value"].dtype == "Int64"
    for record, row in zip(
        found, csv.DictReader(io.StringIO(found.to_csv())), strict=True
    ):
        assert tuple(map(int, row["widths"].split())) == record.arch.widths
        assert row["value"] == ("" if record.failed else str(record.value))


def test_a_disagreement_is_a_number_unlike_theory_and_nothing_else():
    def record(value, expected, decided=None):
        return Record(
            SMALL[0],
            "exact",
            0,
            value,
            "exact" if value else "failed",
            expected,
            decided=decided,
        )

    agree = record(5, 5)
    off = record(5, 6)
    failed = record(None, 6)
    unsure = record(5, 6, decided=False)
    unknown = record(5, None)
    assert Sweep((agree, off, failed, unsure, unknown)).disagreements == (off,)
    assert (
        repr(Sweep((agree, off, failed)))
        == "Sweep(3 records: 2 exact, 1 failed; 1 unlike theory)"
    )


# Progress


def test_the_bar_shows_how_much_time_is_left_and_can_be_turned_off(capsys, tmp_path):
    sweep(SMALL, file=tmp_path / "sweep.jsonl")
    said = capsys.readouterr().err
    assert f"{len(SMALL)}/{len(SMALL)} [" in said and "<" in said and "net/s" in said
    sweep(SMALL, progress=False)
    sweep(SMALL, file=tmp_path / "sweep.jsonl")  # nothing is left to wait for
    assert capsys.readouterr() == ("", "")
    sweep(SMALL[:5], file=tmp_path / "part.jsonl", progress=False)
    sweep(SMALL, file=tmp_path / "part.jsonl")
    said = capsys.readouterr().err
    assert f"5/{len(SMALL)} [" in said and f" 0/{len(SMALL)} [" not in said


def test_a_function_hears_how_many_of_how_many_and_the_record(tmp_path):
    heard = []
    sweep(
        [*SMALL[:2], SMALL[0]],
        file=tmp_path / "sweep.jsonl",
        progress=lambda *said: heard.append(said),
    )
    first, second = sweep(SMALL[:2], progress=False)
    assert heard == [(1, 2, first), (2, 2, second)]
    sweep(
        SMALL[:3],
        file=tmp_path / "sweep.jsonl",
        progress=lambda *said: heard.append(said),
    )
    assert [said[:2] for said in heard[2:]] == [(3, 3)]


# What is refused


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"architectures": SMALL[0]},
            "sweep needs architectures, in a list; got lightning 2→1→2",
        ),
        ({"architectures": None}, "sweep needs architectures, in a list; got None"),
        (
            {"architectures": [SMALL[0], (3, 3)]},
            "sweep needs an Architecture or a Transformer; got tuple",
        ),
        (
            {"method": "guess"},
            "method must be 'exact' or 'float'; got 'guess'",
        ),
        ({"workers": 0}, "workers must be a whole number ≥ 1; got 0"),
        ({"seed": -1}, "seed must be a whole number ≥ 0; got -1"),
        ({"seed": True}, "seed must be a whole number ≥ 0; got True"),
        ({"executor": ThreadPoolExecutor(1), "workers": 2}, "leave one of them out"),
        ({"executor": "dask"}, "executor is a concurrent.futures.Executor"),
        ({"progress": "yes"}, "progress is True, False or a function"),
        ({"file": 3}, "file needs to be a path, such as 'sweep.jsonl'; got 3"),
        ({"file": ""}, "file needs to be a path, such as 'sweep.jsonl'; got ''"),
        ({"file": "."}, "'.' is a folder: name a file in it"),
        ({"file": "nowhere/a.jsonl"}, "make 'nowhere' first"),
    ],
)
def test_a_bad_question_is_answered_with_what_to_ask(arguments, said):
    with pytest.raises(ValueError) as refused:
        sweep(**{"architectures": SMALL[:1], "progress": False} | arguments)
    assert said in str(refused.value)


# What is left behind


@pytest.mark.parametrize(
    ("error", "progress"),
    [
        (None, False),
        (KeyboardInterrupt, stopping_after(2)),
        (ZeroDivisionError, lambda *_: 1 / 0),
    ],
)
def test_no_worker_is_left_after_the_end_an_interrupt_or_an_error(error, progress):
    before = workers()
    with pytest.raises(error) if error else nullcontext():
        sweep(SMALL, workers=2, progress=progress)
    assert workers() <= before


def test_an_executor_of_the_caller_is_not_shut_down(executors):
    for name in ("threads", "loky", "dask"):
        sweep(SMALL[:2], progress=False, **executors[name])
        assert executors[name]["executor"].submit(abs, -3).result() == 3


@pytest.mark.usefixtures("nobody_else_limits_threads")
def test_measurements_run_on_one_thread_each_and_leave_the_libraries_as_they_were(
    monkeypatch,
):
    inside = []
    threads = lambda: [library["num_threads"] for library in threadpool_info()]

    def measure(arch, method, seed):
        inside.extend(threads())
        return measure_dimension(arch, method, seed)

    monkeypatch.setattr(MODULE, "measure_dimension", measure)
    with threadpool_limits(limits=2):
        before = threads()
        sweep(SMALL, progress=False)
        with ThreadPoolExecutor(4) as executor:
            sweep(SMALL, executor=executor, progress=False)
        assert threads() == before and set(inside) == {1}
