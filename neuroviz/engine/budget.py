"""A budget of seconds for work of unknown length: the work asks it now and then, and stops in time."""

from math import inf
from time import monotonic


class BudgetSpent(ValueError):  # noqa: N818 (no error: more seconds may do)
    """Nothing was proved, because the seconds ran out; more of them may help."""


class Budget:
    """Seconds of this machine, by the clock on the wall, from now on.

    Args:
        seconds: a number > 0.

    Raises:
        ValueError: if it is none.

    >>> Budget(1e-9).check("nothing done yet")
    Traceback (most recent call last):
    neuroviz.engine.budget.BudgetSpent: not proved in 1e-09 s: nothing done yet; raise budget, choose ...
    """

    def __init__(self, seconds: float) -> None:
        is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
        if not is_number or not 0 < seconds < inf:
            raise ValueError(f"budget is a number of seconds > 0, such as 60; got {seconds!r}")
        self.seconds = seconds
        self._end = monotonic() + seconds

    def check(self, so_far: str) -> None:
        """Go on, unless the seconds are over.

        Raises:
            BudgetSpent: if they are; the message says what had been done, and what to do.
        """
        if monotonic() >= self._end:
            raise BudgetSpent(
                f"not proved in {self.seconds:g} s: {so_far}; raise budget, choose route='theorem', "
                "or take a smaller network"
            )
