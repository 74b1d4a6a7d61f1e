"""A budget of seconds for work of unknown length, which asks it now and then; and the
memory there is."""

import os
import re
from contextlib import suppress
from math import inf
from pathlib import Path
from time import monotonic


class BudgetSpent(ValueError):  # noqa: N818 (no error: more seconds may do)
    """Nothing was found, because the seconds ran out; more of them may help."""


class Budget:
    """Seconds of this machine, by the clock on the wall, from now on.

    Args:
        seconds: a number > 0.
        goal, instead: what to say where they are over: what was not reached, and what
            else can be done.

    Raises:
        ValueError: if it is none.

    >>> Budget(1e-9).check("nothing done yet")
    Traceback (most recent call last):
    neuroviz.engine.budget.BudgetSpent: not proved in 1e-09 s: nothing done yet; ...
    """

    def __init__(
        self,
        seconds: float,
        goal: str = "not proved",
        instead: str = "choose route='theorem'",
    ) -> None:
        if isinstance(seconds, bool) or not (
            isinstance(seconds, (int, float)) and 0 < seconds < inf
        ):
            raise ValueError(
                f"budget is a number of seconds > 0, such as 60; got {seconds!r}"
            )
        self.seconds, self._goal, self._instead = seconds, goal, instead
        self._end = monotonic() + seconds

    def check(self, so_far: str) -> None:
        """Raise `BudgetSpent` when the seconds are over.

        Raises:
            BudgetSpent: if they are; the message says what had been done, and what to
                do.
        """
        if monotonic() >= self._end:
            raise BudgetSpent(
                f"{self._goal} in {self.seconds:g} s: {so_far}; raise budget,"
                f" {self._instead}, or take a smaller network"
            )


def available_bytes() -> int | None:
    """Memory that can be had now without taking it from others; None where the system
    does not say."""
    said = []
    for ask in (_free_here, _left_to_the_container, _left_to_the_process):
        with suppress(AttributeError, ImportError, OSError, ValueError):
            said.append(ask())
    return max(0, min(said)) if said else None


def _free_here() -> int:
    with suppress(OSError, TypeError):  # Linux counts caches as available, too
        said = Path("/proc/meminfo").read_text(encoding="ascii")
        return 1024 * int(re.search(r"MemAvailable:\s*(\d+)", said)[1])
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _left_to_the_container() -> int:
    """A container, such as a notebook server's, may have less than its machine; "max"
    is no limit."""
    limit, used = (
        int(Path(f"/sys/fs/cgroup/memory.{name}").read_text())
        for name in ("max", "current")
    )
    return limit - used


def _left_to_the_process() -> int:
    """What `ulimit -v` leaves."""
    from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

    if (limit := getrlimit(RLIMIT_AS)[0]) == RLIM_INFINITY:
        raise ValueError("no limit")
    return limit - int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf(
        "SC_PAGE_SIZE"
    )


def check_memory(what: str, size: int) -> None:
    """Refuse arrays of about so many bytes that do not fit into the memory, before they
    are made.

    Raises:
        ValueError: if they do not fit.
    """
    memory = available_bytes() if size > 2**26 else None  # smaller arrays need no check
    if memory is not None and size > memory:
        raise ValueError(
            f"{what} would take about {in_bytes(size)}, and there are"
            f" {in_bytes(memory)} of memory; take a smaller network or fewer tokens"
        )


def in_bytes(size: int) -> str:
    """A number of bytes in words.

    >>> in_bytes(3 * 10**9), in_bytes(10**18), in_bytes(10**40)
    ('3 GB', '10^6 TB', '10^28 TB')
    """
    if size >= 10**18:
        return f"10^{len(str(size)) - 13} TB"
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}"
    return f"{size / 1e3:.0f} kB"
