"""The badges of a dimension: what was measured, and what theory says beside it."""

from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.words import grouped


def measured_badge(found: Measurement) -> str:
    """The badge of an exact measurement, with its number and its prime.

    >>> from neuroviz.engine.architecture import Architecture
    >>> from neuroviz.engine.measure import measure_dimension
    >>> "16 mod 8 388 593" in measured_badge(measure_dimension(Architecture((3, 3), (2,))))
    True
    """
    return theme.badge(found.status, f"{found.value} mod {grouped(found.prime)}")


def theory_badge(expected: Expected, measured: int) -> str:
    """The badge of what theory says: its source and number, and whether the measurement is another one.

    >>> "38 ≠ measured" in theory_badge(Expected(38, "proved", "Cor. 3.8", ""), measured=37)
    True
    """
    if expected.value is None:
        return theme.badge("no formula")
    agrees = "" if expected.value == measured else " ≠ measured"
    return theme.badge(expected.status, f"{expected.source}: {expected.value}{agrees}")
