"""Threads: one thread for small matrix products; for large ones each thread computes a
product of its own."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from math import inf
from typing import TypeVar

IN_A_BROWSER = sys.platform == "emscripten"
"""There Python has neither threads nor processes."""
Result = TypeVar("Result")
Run = Callable[[Iterable[Callable[[], Result]]], Iterator[Result]]
"""Starts jobs in order, and yields each result as soon as it is there."""


@contextmanager
def one_thread() -> Iterator[None]:
    """Within the block every thread pool that is loaded, numpy's and torch's, has one
    thread.

    For small products: there, waiting for another thread takes longer than the product.
    """
    pools = _pools()
    # Reading the limits takes a tenth of the time that setting them takes.
    if all(pool.num_threads == 1 for pool in pools.lib_controllers):
        yield
        return
    with pools.limit(limits=1):
        yield


def in_turn(jobs: Iterable[Callable[[], Result]]) -> Iterator[Result]:
    """The `Run` of one thread."""
    return (job() for job in jobs)


@contextmanager
def side_by_side(most: int | None = None) -> Iterator[Run]:
    """Within the block, a `Run` on as many threads as the pools have, or at most so
    many; a product has one.

    A library's own threads wait for each other after every product, and numpy's
    entrywise work in between runs on one of them only. When a job raises, the jobs that
    have not started are dropped.

    >>> with side_by_side(most=2) as run:
    ...     sorted(run([lambda: 2 + 2, lambda: 3 + 3]))
    [4, 6]
    """
    threads = 1 if most == 1 or IN_A_BROWSER else min(os.cpu_count() or 1, most or inf)
    if threads > 1:
        threads = min(
            [threads, *(pool.num_threads for pool in _pools().lib_controllers)]
        )
    if threads < 2:
        yield in_turn
        return

    def alone(job: Callable[[], Result]) -> Result:
        with one_thread():  # OpenMP keeps its limit for each thread
            return job()

    def run(jobs: Iterable[Callable[[], Result]]) -> Iterator[Result]:
        jobs, going = iter(jobs), set()
        while going := going | {
            pool.submit(alone, job) for job in islice(jobs, 2 * threads - len(going))
        }:
            done, going = wait(going, return_when=FIRST_COMPLETED)
            yield from (job.result() for job in done)

    with one_thread(), ThreadPoolExecutor(threads) as pool:
        try:
            yield run
        finally:
            pool.shutdown(cancel_futures=True)


def _pools():
    """All thread pools. A search takes longer than a small rank, so it runs again only
    after new imports."""
    return _found(*(name in sys.modules for name in ("torch", "scipy.linalg")))


@cache
def _found(*_loaded: bool):
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
