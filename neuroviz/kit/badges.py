"""The badges of a dimension: what was measured, and what theory says beside it.

Pressed, they say what they rest on.
"""

from neuroviz.attention.expected import Expected
from neuroviz.kit import theme
from neuroviz.kit.reasons import Reasons, of_a_formula, of_a_measurement
from neuroviz.kit.words import grouped
from neuroviz.rank.field import DEFAULT_PRIME
from neuroviz.rank.results import Measurement


def badge(status: str, source: str, reasons: Reasons) -> str:
    """A badge that answers.

    >>> opened = badge("proved", "Thm. 3.2", Reasons("one curve", "Thm. 3.2"))
    >>> "one curve" in opened, "popovertarget" in opened
    (True, True)
    """
    return theme.badge_html(status, source, reasons.as_html())


def exact_badge(text: str, prime: int = DEFAULT_PRIME, says: str = "") -> str:
    """The badge of what was computed exactly; pressed, it says modulo which prime.

    >>> badge = exact_badge("kernel 3")
    >>> "exact · kernel 3<" in badge, "8 388 593" in badge
    (True, True)
    """
    modulo = f"modulo the prime {grouped(prime)}"
    said = says or "Ranks of derivatives at random points, computed without rounding."
    return badge("exact", text, Reasons(said, "exact rank", facts=(modulo,)))


def measured_badge(found: Measurement, net: object = None, code: str = "") -> str:
    """The badge of an exact measurement, with its number.

    Args:
        code: a line of Python that repeats it, where `net` is no network of the paper.

    >>> from neuroviz.attention import Architecture
    >>> from neuroviz.kit.measured import measure_dimension
    >>> "exact · 16<" in measured_badge(measure_dimension(Architecture((3, 3), (2,))))
    True
    """
    reasons = of_a_measurement(found, net, code=code)
    return badge(found.status, str(found.value), reasons)


def theory_badge(
    expected: Expected,
    measured: int,
    net: object = None,
    reasons: Reasons | None = None,
) -> str:
    """The badge of what theory says: its source and number, and whether the measurement
    is another one.

    Args:
        reasons: what it rests on, where `net` is no network of the paper.

    >>> expected = Expected(38, "proved", "Cor. 3.8", "")
    >>> "38 ≠ measured" in theory_badge(expected, measured=37)
    True
    """
    reasons = reasons or of_a_formula(expected, net)
    opens = None if reasons is None else reasons.as_html()
    if expected.value is None:
        return theme.badge_html("no formula", opens=opens)
    agrees = "" if expected.value == measured else " ≠ measured"
    said = f"{expected.source}: {expected.value}{agrees}"
    return theme.badge_html(expected.status, said, opens)
