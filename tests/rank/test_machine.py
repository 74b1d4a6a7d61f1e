"""Threads and memory of the machine: as many as pools allow, and no more than there
is."""

import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from mmap import mmap
from pathlib import Path
from types import SimpleNamespace

import pytest

from neuroviz.attention import Architecture
from neuroviz.rank import exact, measure_dimension, memory, threads


@pytest.mark.parametrize(
    ("cpus", "pools", "most", "at_once"),
    [(8, 4, None, 4), (8, 4, 3, 3), (2, 4, None, 2), (8, 4, 1, 1)],
)
def test_side_by_side_run_as_many_jobs_as_pools_processors_and_the_caller_allow(
    cpus, pools, most, at_once, monkeypatch
):
    class Pools:
        lib_controllers = [SimpleNamespace(num_threads=pools)]

        def limit(self, limits):
            return nullcontext()

    monkeypatch.setattr(threads, "_pools", Pools)
    monkeypatch.setattr(threads.os, "cpu_count", lambda: cpus)
    # So many pass it together; fewer would wait in vain.
    all_there = threading.Barrier(at_once)
    running = []
    most_seen = []

    def job():
        all_there.wait(timeout=20)
        running.append(0)
        most_seen.append(len(running))
        time.sleep(0.01)
        running.pop()

    with threads.side_by_side(most) as run:
        list(run([job] * (3 * at_once)))
    assert len(most_seen) == 3 * at_once and max(most_seen) <= at_once


def test_when_a_job_raises_those_that_have_not_started_are_dropped(monkeypatch):
    monkeypatch.setattr(threads, "_num_threads", lambda most: 2)
    started = []

    def job():
        started.append(0)
        time.sleep(0.01)
        raise KeyError("no")

    with pytest.raises(KeyError), threads.side_by_side() as run:
        list(run([job] * 100))
    assert len(started) < 10


def test_small_ranks_run_on_one_thread_and_leave_the_pools_as_they_were():
    from threadpoolctl import threadpool_info, threadpool_limits

    def counts():
        pools = threadpool_info()
        return {p["num_threads"] for p in pools if p["user_api"] == "blas"}

    seen = []
    rows = exact.random_rows

    def listening(*arguments):
        seen.append(counts())
        return rows(*arguments)

    with threadpool_limits(2), pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "random_rows", listening)
        before = counts()
        measure_dimension(Architecture.uniform(4, 2, 2))
        assert counts() == before
    assert seen == [{1}]


def test_what_a_process_may_not_take_is_not_there():
    """As where memory is limited by `ulimit -v`; in a process of its own."""
    pytest.importorskip("resource")
    script = """
from resource import RLIMIT_AS, setrlimit
from neuroviz.attention import Architecture
from neuroviz.rank import measure_dimension
from neuroviz.rank.memory import available_bytes
setrlimit(RLIMIT_AS, (2**32, 2**32))
assert available_bytes() < 2**32, available_bytes()
try:
    measure_dimension(Architecture.uniform(1, 1, 1, tokens=15_000), budget=10**6)
except ValueError as refused:
    print(refused)
"""
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "there are" in run.stdout and "of memory" in run.stdout


def test_what_a_process_has_reserved_counts_as_taken_even_if_it_was_never_written(
    monkeypatch,
):
    """As `ulimit -v` counts it."""
    resource = pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc here")
    monkeypatch.setattr(resource, "getrlimit", lambda what: (2**50, 2**50))
    before = memory._left_to_the_process()
    with mmap(-1, 2**30):
        assert before - memory._left_to_the_process() == pytest.approx(2**30, rel=0.01)


def test_arrays_above_64_mb_are_refused_where_they_do_not_fit(monkeypatch):
    monkeypatch.setattr(memory, "available_bytes", lambda: 2**25)
    memory.check_memory("an array", 2**26)
    with pytest.raises(ValueError, match="an array would take about 67.1 MB"):
        memory.check_memory("an array", 2**26 + 1)
