"""What the benchmarks share: their options, one thread, cold caches, medians, and the tables in README.md."""

import argparse
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import torch
from threadpoolctl import threadpool_limits

README = Path(__file__).with_name("README.md")


def arguments(about: str, quick: str) -> argparse.Namespace:
    """--quick and --write, which exclude each other: README.md holds whole tables only."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    either = parser.add_mutually_exclusive_group()
    either.add_argument("--quick", action="store_true", help=quick)
    either.add_argument("--write", action="store_true", help=f"store the table in {README.name}")
    return parser.parse_args()


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
    """Empty every function cache of the package, so that nothing is remembered from an earlier run."""
    for name, module in list(sys.modules.items()):
        if name == "neuroviz" or name.startswith("neuroviz."):
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def seconds(call: Callable[[], object]) -> tuple[float, object]:
    """Processor time of one call, and what it returned.

    On one thread that is the wall-clock time of an idle machine; other programs disturb it less.
    """
    start = process_time()
    result = call()
    return process_time() - start, result


def median_seconds(
    call: Callable[[], object], repeats: int, before: Callable[[], object] = lambda: None
) -> tuple[float, object]:
    """Median time over repeated calls, each after an untimed `before()`, and the last result."""
    times = []
    for _ in range(repeats):
        before()
        elapsed, result = seconds(call)
        times.append(elapsed)
    return median(times), result


def table(header: list[str], rows: list[list[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---:"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine() -> str:
    """What the numbers were measured with; the ratios matter, the seconds depend on the machine."""
    versions = f"Python {platform.python_version()}, torch {torch.__version__}, numpy {np.__version__}"
    return f"{versions}, {platform.machine()}, one thread each."


def write(name: str, text: str) -> None:
    """Replace what stands between the markers of one benchmark in README.md."""
    readme = README.read_text(encoding="utf-8")
    start, end = f"<!-- {name} -->\n", f"<!-- end {name} -->"
    if readme.count(start) != 1 or readme.count(end) != 1:
        raise ValueError(
            f"{README.name} needs the lines {start.strip()!r} and {end!r} once each, in that order"
        )
    before, rest = readme.split(start)
    _, after = rest.split(end)
    README.write_text(f"{before}{start}\n{text}\n\n{end}{after}", encoding="utf-8")
