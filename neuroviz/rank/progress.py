"""Progress of long work: the parts of its stages, told as parts of the whole time."""

from collections.abc import Callable, Sequence
from time import perf_counter

Report = Callable[[str, float], None]
"""Told what is being done, and which part of it is; what it raises ends the work."""
Stage = tuple[str, float]
"""What will be reported, and how many seconds it takes, about."""

_UNPLANNED = 0.01  # share of the whole for stages outside the plan
_SEEN = 0.1  # after this share of a stage its own speed counts, not the plan


def say_nothing(what: str, part: float) -> None:
    """The `Report` of those who do not ask."""


class OfTheWhole:
    """A `Report` that tells another one the part of the whole time, which never falls.

    The part is seconds passed / (seconds passed + seconds left). A stage's length is
    planned, then measured.

    Args:
        tell: called with what is being done, and that part.
        plan: the stages, in order.
        check: told with every report how far the work is; what it raises ends the work.

    >>> report = OfTheWhole(lambda what, part: print(what, part), [("derivative", 1)])
    >>> report("derivative", 0.0)
    derivative 0.0
    >>> report.finish()
    derivative 1.0
    """

    def __init__(
        self,
        tell: Report,
        plan: Sequence[Stage] = (),
        check: Callable[[str], None] = lambda so_far: None,
    ) -> None:
        self._tell = tell
        self._coming = list(plan)
        self._check = check
        self._what = ""
        self._begin = perf_counter()
        self._entered = self._begin
        self._reached = 0.0
        self._low = 0.0  # what was reached when this stage began
        self._planned: float | None = None

    def __call__(self, what: str, part: float) -> None:
        now = perf_counter()
        if what != self._what:
            self._enter(what, now)
        if self._planned is None:  # half of what was left when it began
            reached = self._low + (1 - self._low) / 2 * part
        else:
            passed = now - self._begin
            whole = passed + self._seconds_left(part, now)
            # Nothing has passed and nothing is planned: nothing is reached.
            reached = (1 - _UNPLANNED) * passed / whole if whole else 0.0
        self._reached = max(self._reached, reached)
        self._check(f"about {100 * self._reached:.0f} % was done ({what})")
        self._tell(what, self._reached)

    def finish(self) -> None:
        """Tell that all is done, if anything was told at all."""
        if self._what:
            self._tell(self._what, 1.0)

    def _seconds_left(self, part: float, now: float) -> float:
        # From its own speed a stage takes elapsed / part. That counts with the weight
        # part / seen, which is 1 from a tenth of the stage on, and the plan with the
        # rest; the product is written without a division by part, which may be 0.
        seen = max(part, _SEEN)
        elapsed = now - self._entered
        takes = elapsed / seen + (1 - part / seen) * self._planned
        left = (1 - part) * takes
        for _, seconds in self._coming:
            left += seconds
        return left

    def _enter(self, what: str, now: float) -> None:
        """Enter the next stage of this name; a stage outside the plan takes half of
        what is left."""
        if not self._what:
            self._begin = now
        self._what = what
        self._entered = now
        self._low = self._reached
        self._planned = None
        names = [name for name, _ in self._coming]
        if what in names:
            # Stages of the plan before this one were left out.
            place = names.index(what)
            self._planned = self._coming[place][1]
            del self._coming[: place + 1]
