"""Signs of life of long work: the work reports, whoever called decides whether anybody listens.

Measurements are cached by their arguments, so a listener is no argument: it is set for the time of a call.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from typing import TypeVar

Report = Callable[[str, float], None]
"""Called with what is being done, and which part of it is done."""
Result = TypeVar("Result")

_UNPLANNED = 0.01  # of a bar is kept for stages that nobody foresaw

_listener: ContextVar[Report | None] = ContextVar("progress", default=None)


def reporting() -> Report:
    """What work calls with (what, part): the stage that it is in, and which part of this stage is done."""
    return _listener.get() or (lambda what, part: None)


@contextmanager
def showing(
    progress: bool | Report,
    stages: Sequence[tuple[str, float]] = (),
    check: Callable[[str], None] = lambda so_far: None,
) -> Iterator[None]:
    """Within the block, show progress: a bar with the time left, a function of the caller's, or nothing.

    Args:
        progress: True, False, or a function called as (what, part), where part is that of the whole.
        stages: what the work will report, in order, and how many seconds each takes, about.
        check: told with every report how far the work is; what it raises ends the work.

    >>> with showing(lambda what, part: print(what, round(part, 2)), [("derivative", 1), ("elimination", 3)]):
    ...     for what in ("derivative", "elimination"):
    ...         reporting()(what, 0.0)
    ...         reporting()(what, 1.0)
    derivative 0.0
    derivative 0.25
    elimination 0.25
    elimination 0.99
    elimination 1.0
    """
    with _bar() if progress is True else nullcontext(progress or (lambda what, part: None)) as call:
        whole = _Whole(call, stages, check)
        token = _listener.set(whole)
        try:
            yield
        finally:
            _listener.reset(token)
        if whole.what:
            call(whole.what, 1.0)


class _Whole:
    """Turns the parts of stages into parts of the whole, which never fall."""

    def __init__(
        self, call: Report, stages: Sequence[tuple[str, float]], check: Callable[[str], None]
    ) -> None:
        self._call, self._check, self._coming = call, check, list(stages)
        self._each = (1 - _UNPLANNED) / (sum(seconds for _, seconds in stages) or 1.0)
        self._planned = self._begin = self._share = self._reached = 0.0
        self.what = ""

    def __call__(self, what: str, part: float) -> None:
        if what != self.what:
            self._enter(what)
        self._reached = max(self._reached, self._begin + self._share * part)
        self._check(f"about {self._reached:.0%} was done ({what})")
        self._call(what, self._reached)

    def _enter(self, what: str) -> None:
        """The next stage of this name; one that nobody foresaw takes half of what is left."""
        self.what = what
        names = [name for name, _ in self._coming]
        if what not in names:
            self._begin, self._share = self._reached, (1 - max(self._reached, self._planned)) / 2
            return
        passed = names.index(what)
        self._begin = self._planned + self._each * sum(seconds for _, seconds in self._coming[:passed])
        self._share = self._each * self._coming[passed][1]
        self._planned, self._coming = self._begin + self._share, self._coming[passed + 1 :]


@contextmanager
def _bar() -> Iterator[Report]:
    from tqdm.auto import tqdm

    # The time left is told from the speed since the beginning; every ‰ is shown.
    shape = "{l_bar}{bar}| {elapsed} < about {remaining}"
    with tqdm(total=1000, unit="‰", bar_format=shape, smoothing=0, miniters=1) as bar:

        def report(what: str, part: float) -> None:
            bar.set_description(what, refresh=False)
            bar.update(round(1000 * part) - bar.n)

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
