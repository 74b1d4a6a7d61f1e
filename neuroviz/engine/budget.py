"""A budget of seconds for work of unknown length, which asks it now and then; and the memory there is."""

import os
from math import inf
from pathlib import Path
from time import monotonic


class BudgetSpent(ValueError):  # noqa: N818 (no error: more seconds may do)
    """Nothing was found, because the seconds ran out; more of them may help."""


class Budget:
    """Seconds of this machine, by the clock on the wall, from now on.

    Args:
        seconds: a number > 0.
        goal, instead: what to say where they are over: what was not reached, and what else can be done.

    Raises:
        ValueError: if it is none.

    >>> Budget(1e-9).check("nothing done yet")
    Traceback (most recent call last):
    neuroviz.engine.budget.BudgetSpent: not proved in 1e-09 s: nothing done yet; raise budget, choose ...
    """

    def __init__(
        self, seconds: float, goal: str = "not proved", instead: str = "choose route='theorem'"
    ) -> None:
        is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if not is_number or not 0 < seconds < inf:
            raise ValueError(f"budget is a number of seconds > 0, such as 60; got {seconds!r}")
        self.seconds, self._goal, self._instead = seconds, goal, instead
        self._end = monotonic() + seconds

    def check(self, so_far: str) -> None:
        """Go on, unless the seconds are over.

        Raises:
            BudgetSpent: if they are; the message says what had been done, and what to do.
        """
        if monotonic() >= self._end:
            raise BudgetSpent(
                f"{self._goal} in {self.seconds:g} s: {so_far}; raise budget, {self._instead}, "
                "or take a smaller network"
            )


def available_bytes() -> int | None:
    """Memory that can be had now without taking it from others; None where the system does not say."""
    said = [
        free for free in (_free_here(), _left_to_the_container(), _left_to_the_process()) if free is not None
    ]
    return max(0, min(said)) if said else None


def _free_here() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as said:
            for line in said:
                if line.startswith("MemAvailable:"):  # free, and what caches would give back
                    return 1024 * int(line.split()[1])
    except OSError:
        pass  # not Linux: what is free has to do
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _left_to_the_container() -> int | None:
    """A container, such as a notebook server's, may have less than its machine."""
    try:
        limit, used = (Path(f"/sys/fs/cgroup/memory.{name}").read_text() for name in ("max", "current"))
        return int(limit) - int(used)
    except (OSError, ValueError):  # none, or "max"
        return None


def _left_to_the_process() -> int | None:
    """What `ulimit -v` leaves."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

        limit, pages = getrlimit(RLIMIT_AS)[0], int(Path("/proc/self/statm").read_text().split()[0])
        return None if limit == RLIM_INFINITY else limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError):
        return None


_SMALL = 2**26  # bytes that are there


def check_memory(what: str, size: int) -> None:
    """Refuse arrays of about so many bytes that do not fit into the memory, before they are made.

    Raises:
        ValueError: if they do not fit.
    """
    memory = available_bytes() if size > _SMALL else None
    if memory is not None and size > memory:
        raise ValueError(
            f"{what} would take about {in_bytes(size)}, and there are {in_bytes(memory)} of memory; take "
            "a smaller network or fewer tokens"
        )


def in_bytes(size: int) -> str:
    """A number of bytes in words.

    >>> in_bytes(3 * 10**9), in_bytes(10**40)
    ('3 GB', '10^28 TB')
    """
    if size >= 10**18:
        return f"10^{len(str(size)) - 13} TB"
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:,.3g} {name}"
    return f"{size / 1e3:.0f} kB"
