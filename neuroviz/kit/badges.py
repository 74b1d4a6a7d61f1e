"""The badges of a dimension: what was measured, and what theory says beside it."""

from neuroviz.attention.expected import Expected
from neuroviz.kit import theme
from neuroviz.kit.words import grouped
from neuroviz.rank.field import DEFAULT_PRIME
from neuroviz.rank.results import Measurement


def exact_badge(text: str, prime: int = DEFAULT_PRIME) -> str:
    """The badge of what was computed exactly; the prime is seen when the pointer rests
    on it.

    >>> badge = exact_badge("kernel 3")
    >>> "exact · kernel 3<" in badge, "8 388 593" in badge
    (True, True)
    """
    return theme.badge("exact", text, f"modulo the prime {grouped(prime)}")


def measured_badge(found: Measurement) -> str:
    """The badge of an exact measurement, with its number.

    >>> from neuroviz.attention import Architecture
    >>> from neuroviz.kit.measured import measure_dimension
    >>> "exact · 16<" in measured_badge(measure_dimension(Architecture((3, 3), (2,))))
    True
    """
    return theme.badge(
        found.status, str(found.value), f"modulo the prime {grouped(found.prime)}"
    )


def theory_badge(expected: Expected, measured: int) -> str:
    """The badge of what theory says: its source and number, and whether the measurement
    is another one.

    >>> expected = Expected(38, "proved", "Cor. 3.8", "")
    >>> "38 ≠ measured" in theory_badge(expected, measured=37)
    True
    """
    if expected.value is None:
        return theme.badge("no formula")
    agrees = "" if expected.value == measured else " ≠ measured"
    return theme.badge(expected.status, f"{expected.source}: {expected.value}{agrees}")
