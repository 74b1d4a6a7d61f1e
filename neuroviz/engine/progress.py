"""Progress of long work: the work reports it, and the caller decides whether it is
shown.

Measurements are cached by their arguments, so a listener is no argument: it is set for
the time of a call.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from time import perf_counter
from typing import TypeVar, get_args

from neuroviz.rank.threads import IN_A_BROWSER

Report = Callable[[str, float], None]
"""Called with what is being done, and which part of it is done."""
Result = TypeVar("Result")

_UNPLANNED = 0.01  # share of the bar for stages outside the plan
_SEEN = 0.1  # after this share of a stage its own speed counts, not the plan

_listener: ContextVar[Report | None] = ContextVar("progress", default=None)


def reporting() -> Report:
    """The function that work calls with its stage, and with the part of this stage that
    is done."""
    return _listener.get() or (lambda what, part: None)


@contextmanager
def listening(report: Report | None) -> Iterator[None]:
    """Within the block, this function hears what work reports; None: nobody does."""
    before = _listener.get()
    _listener.set(report)
    try:
        yield
    finally:
        _listener.set(before)


def in_words(what: str, part: float) -> str:
    """A report in words.

    >>> in_words("elimination", 0.5)
    'elimination, 50 %'
    """
    return f"{what}, {100 * part:.0f} %"


@contextmanager
def showing(
    progress: bool | Report,
    stages: Sequence[tuple[str, float]] = (),
    check: Callable[[str], None] = lambda so_far: None,
) -> Iterator[None]:
    """Within the block, show progress: a bar with the time left, a function of the
    caller's, or nothing.

    Whoever listens already goes on listening, and there is no bar.

    Args:
        progress: True, False, or a function called as (what, part), where part is that
            of the whole time.
        stages: what the work will report, in order, and how many seconds each takes,
            about.
        check: told with every report how far the work is; what it raises ends the work.

    >>> with showing(lambda what, part: print(what, part), [("derivative", 1)]):
    ...     reporting()("derivative", 0.0)
    derivative 0.0
    derivative 1.0
    """
    heard = progress if callable(progress) else reporting()
    with (
        _bar() if progress is True and not _listener.get() else nullcontext(heard)
    ) as call:
        whole = _Whole(call, stages, check)
        with listening(whole):
            yield
        if whole.what:
            call(whole.what, 1.0)


class _Whole:
    """Turns the part of a stage into that of the whole time, which never falls.

    The part is seconds passed / (seconds passed + seconds left). A stage's length is
    planned, then measured.
    """

    def __init__(
        self,
        call: Report,
        stages: Sequence[tuple[str, float]],
        check: Callable[[str], None],
    ) -> None:
        self._call, self._check, self._coming = call, check, list(stages)
        self._begin, self._reached, self.what = perf_counter(), 0.0, ""

    def __call__(self, what: str, part: float) -> None:
        now = perf_counter()
        if what != self.what:
            self._enter(what, now)
        if self._planned is None:
            reached = self._low + (1 - self._low) / 2 * part
        else:
            seen = max(part, _SEEN)
            takes = (now - self._entered) / seen + (1 - part / seen) * self._planned
            left = (1 - part) * takes + sum(seconds for _, seconds in self._coming)
            reached = (
                (1 - _UNPLANNED)
                * (now - self._begin)
                / (now - self._begin + left or 1.0)
            )
        self._reached = max(self._reached, reached)
        self._check(f"about {100 * self._reached:.0f} % was done ({what})")
        self._call(what, self._reached)

    def _enter(self, what: str, now: float) -> None:
        """Enter the next stage of this name; a stage outside the plan takes half of the
        bar that is left."""
        self._begin = self._begin if self.what else now
        self.what, self._entered, self._low, self._planned = (
            what,
            now,
            self._reached,
            None,
        )
        names = [name for name, _ in self._coming]
        if what in names:
            self._planned = self._coming[names.index(what)][1]
            del self._coming[: names.index(what) + 1]


@contextmanager
def _bar() -> Iterator[Report]:
    from tqdm.auto import tqdm

    # tqdm tells the time left from the speed since the beginning.
    shape = "{l_bar}{bar}| {elapsed} < about {remaining}"
    if IN_A_BROWSER:
        tqdm.monitor_interval = 0  # it would be a thread
    with tqdm(total=1000, unit="‰", bar_format=shape, smoothing=0, miniters=1) as bar:

        def report(what: str, part: float) -> None:
            bar.set_description(what, refresh=False)
            bar.update(round(1000 * part) - bar.n)

        yield report


# Work in steps: a generator that yields how far it is, and returns what it found


def finish(
    steps: Generator[object, None, Result], tell: Callable[[object], None] | None = None
) -> Result:
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


def in_steps(
    steps: Callable[..., Generator[object, None, Result]],
) -> Callable[..., Result]:
    """A function that runs a generator function to its end, and has it as its attribute
    `in_steps`."""

    @wraps(steps)
    def whole(*arguments: object) -> Result:
        return finish(steps(*arguments))

    shape = signature(steps)
    whole.__signature__ = shape.replace(
        return_annotation=get_args(shape.return_annotation)[-1]
    )
    whole.in_steps = steps
    return whole


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
