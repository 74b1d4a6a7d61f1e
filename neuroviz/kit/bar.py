"""A bar with the time left, around work that reports how far it is.

>>> from neuroviz.attention import Architecture
>>> from neuroviz.rank import measure_dimension
>>> with bar(after=4.0) as report:  # nobody sees a bar of shorter work
...     measure_dimension(Architecture((3, 3), (2,)), report=report).value
16
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from time import time

import numpy as np

from neuroviz.rank.progress import Report
from neuroviz.rank.threads import IN_A_BROWSER

SECONDS_WITHOUT_A_BAR = 4.0

_listener: ContextVar[Report | None] = ContextVar("listener", default=None)


@contextmanager
def listening(report: Report | None) -> Iterator[None]:
    """In the block, this function hears what work reports, and no bar is drawn."""
    before = _listener.get()
    _listener.set(report)
    try:
        yield
    finally:
        _listener.set(before)


@contextmanager
def showing(progress: bool | Report | None) -> Iterator[Report | None]:
    """In the block, the `Report` that a reader asks for.

    A panel that is `listening` hears it instead, unless the reader gives a function.

    Args:
        progress: True for a bar, False for none, None for one where the work takes some
            seconds; or a function called as (what, part of the whole).

    Raises:
        ValueError: if it is none of these.
    """
    if isinstance(progress, np.bool_):
        progress = bool(progress)
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise ValueError(
            "progress is True, False, None or a function of (what, part); got "
            f"{progress!r}"
        )
    listener = _listener.get()
    if callable(progress):
        yield progress
    elif listener is not None:
        yield listener
    elif progress is False:
        yield None
    else:
        after = 0.0 if progress else SECONDS_WITHOUT_A_BAR
        with bar(after) as report:
            yield report


@contextmanager
def bar(after: float) -> Iterator[Report]:
    """In the block, a `Report` that draws a bar once so many seconds have passed."""
    begin = time()
    drawn = None

    def report(what: str, part: float) -> None:
        nonlocal drawn
        if drawn is None and time() - begin < after:
            return
        if drawn is None:
            drawn = _new_bar(begin)
        drawn.set_description(what, refresh=False)
        # tqdm counts what is new, in thousandths.
        drawn.update(round(1000 * part) - drawn.n)

    try:
        yield report
    finally:
        if drawn is not None:
            drawn.close()


def _new_bar(begin: float):
    from tqdm.auto import tqdm

    if IN_A_BROWSER:
        tqdm.monitor_interval = 0  # it would be a thread
    shape = "{l_bar}{bar}| {elapsed} < about {remaining}"
    # smoothing=0 is the mean speed; miniters=1 looks at the clock at every report.
    drawn = tqdm(total=1000, unit="‰", bar_format=shape, smoothing=0, miniters=1)
    drawn.start_t = begin  # the time left comes from the speed since then
    return drawn


def part_in_words(what: str, part: float) -> str:
    """A report in words.

    >>> part_in_words("elimination", 0.5)
    'elimination, 50 %'
    """
    return f"{what}, {100 * part:.0f} %"
