"""A budget of seconds for work of unknown length, which asks it now and then."""

from math import inf
from numbers import Real
from time import monotonic


class BudgetSpent(ValueError):  # noqa: N818 (no error: more seconds may do)
    """Nothing was found, because the seconds ran out; more of them may help."""


class Budget:
    """Seconds of this machine, by the clock on the wall, from now on.

    Args:
        seconds: a number > 0.
        goal: what was not reached, where they are over.
        instead: what else can be done then.

    Raises:
        ValueError: if the number is none.

    >>> Budget(1e-9, instead="take fewer layers").check("nothing done yet")
    Traceback (most recent call last):
    neuroviz.rank.budget.BudgetSpent: not measured in 1e-09 s: nothing done yet; ...
    """

    def __init__(
        self,
        seconds: float,
        goal: str = "not measured",
        instead: str = "take fewer tokens",
    ) -> None:
        is_number = isinstance(seconds, Real) and not isinstance(seconds, bool)
        if not (is_number and 0 < seconds < inf):
            raise ValueError(
                f"budget is a number of seconds > 0, such as 60; got {seconds!r}"
            )
        self.seconds = seconds
        self._goal = goal
        self._instead = instead
        self._end = monotonic() + seconds

    def check(self, so_far: str) -> None:
        """Raise `BudgetSpent` when the seconds are over.

        Raises:
            BudgetSpent: if they are; the message says what had been done, and what to
                do.
        """
        if monotonic() >= self._end:
            raise BudgetSpent(
                f"{self._goal} in {self.seconds:g} s: {so_far}; raise budget, "
                f"{self._instead}, or take a smaller network"
            )
