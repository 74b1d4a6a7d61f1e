"""What the benchmarks share: how much is asked of them, one thread, cold caches,
medians."""

import os
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from time import process_time

import numpy as np
import torch
from threadpoolctl import threadpool_limits


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        quick: small sizes only, all of it in about a minute.
        large: also sizes that take minutes each.
    """

    quick: bool = False
    large: bool = False


@contextmanager
def one_thread() -> Iterator[None]:
    """Both sides of a comparison on one thread: torch's pools and numpy's."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


def clear_caches() -> None:
    """Empty every function cache of the package, so that no result is remembered from
    an earlier run.

    Which thread pools are loaded is no result; it stays known, as imports do.
    """
    for name, module in list(sys.modules.items()):
        if name == "neuroviz" or (
            name.startswith("neuroviz.") and name != "neuroviz.rank.threads"
        ):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    measured = sys.modules.get("neuroviz.kit.measured")
    if measured is not None:
        measured.clear_cache()


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """Processor time of one call, and what it returned.

    On one thread that is the wall-clock time of an idle machine; other programs disturb
    it less.
    """
    start = process_time()
    result = call()
    return process_time() - start, result


def median_seconds(
    call: Callable[[], object],
    repeats: int,
    before: Callable[[], object] = lambda: None,
) -> tuple[float, object]:
    """Median time over repeated calls, each after an untimed `before()`, and the last
    result."""
    times = []
    for _ in range(repeats):
        before()
        elapsed, result = seconds(call)
        times.append(elapsed)
    return median(times), result


def machine(threads: str = "one thread each") -> str:
    """What the numbers were measured with, and how busy it was: other programs slow
    processor time, too."""
    versions = (
        f"Python {platform.python_version()}, torch {torch.__version__}, numpy"
        f" {np.__version__}"
    )
    load = f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors"
    return f"{versions}, {platform.machine()}, {threads}; {load}."
