"""Signs of life of long work: the work reports, whoever called decides whether anybody listens.

Measurements are cached by their arguments, so a listener is no argument: it is set for the time of a call.
"""

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Report = Callable[[str, float], None]
Result = TypeVar("Result")

_listener: ContextVar[Report | None] = ContextVar("progress", default=None)


def reporting() -> Report:
    """What work calls with (what, part): what is being done, and which part of it is done, from 0 to 1."""
    return _listener.get() or (lambda what, part: None)


@contextmanager
def showing(progress: bool | Report, first_share: float = 0.5) -> Iterator[None]:
    """Within the block, show progress: a bar with the time left, a function of the caller's, or nothing.

    Args:
        progress: True, False, or a function called as (what, part).
        first_share: which part of the whole is "derivative", so that the bar moves evenly.
    """
    if progress is False:
        yield
        return
    with _bar(first_share) if progress is True else _passed_on(progress) as report:
        token = _listener.set(report)
        try:
            yield
        finally:
            _listener.reset(token)


@contextmanager
def _passed_on(call: Report) -> Iterator[Report]:
    yield call


@contextmanager
def _bar(first_share: float) -> Iterator[Report]:
    from tqdm.auto import tqdm

    with tqdm(total=1000, unit="‰", bar_format="{l_bar}{bar}| {elapsed} < {remaining}") as bar:

        def report(what: str, part: float) -> None:
            done = part * first_share if what == "derivative" else first_share + part * (1 - first_share)
            bar.set_description(what, refresh=False)
            bar.update(max(0, round(1000 * done) - bar.n))

        yield report


# Work in steps: a generator that yields how far it is, and returns what it found


def finish(steps: Generator[object, None, Result], tell: Callable[[object], None] | None = None) -> Result:
    """Run a generator to its end; returns what it returns, and tells what it yields.

    >>> def add(numbers):
    ...     for number in numbers:
    ...         yield f"{number} is taken"
    ...     return sum(numbers)
    >>> finish(add([1, 2]), print)
    1 is taken
    2 is taken
    3
    """
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        if tell is not None:
            tell(step)


def retold(
    steps: Generator[object, None, Result], words: Callable[[object], str]
) -> Generator[str, None, Result]:
    """The same steps in other words: `result = yield from retold(steps, words)`.

    >>> def half():
    ...     yield 0.5
    >>> list(retold(half(), "{:.0%} done".format))
    ['50% done']
    """
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return end.value
        yield words(step)
