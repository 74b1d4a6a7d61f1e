"""Numbers as people type them.

web/classroom/numbers.ts reads them in the same way, on the pages of a class.
"""

import re
from fractions import Fraction

_DECIMAL = re.compile(
    r"(\d+[.,]?\d*|[.,]\d+)(e[-+]?\d{1,2})?", re.IGNORECASE | re.ASCII
)
"""38, 0.5, 0,5 or 1e3; an exponent of three digits would be more than any guess."""

_FRACTION = re.compile(r"(\d+) ?[/⁄] ?(\d+)", re.ASCII)

# \2: one number has one sign between all its groups.
_IN_GROUPS = re.compile(r"\d{1,3}(([ '’])\d{3}(\2\d{3})*|(,\d{3}){2,})", re.ASCII)
"""1 234 567, 1'234'567, or with commas if there are two of them."""

_COMMA_OR_THOUSAND = re.compile(r"[1-9]\d{0,2},\d{3}", re.ASCII)
"""A thousand to some and one to others."""

_LONGEST = 40
"""Signs of a guess."""

_SIGN = re.compile(r"[-−–+] ?")


def number_in(text: str) -> Fraction:
    """The number in a text.

    Raises:
        ValueError: if the text is not plainly one; says why, and what is wanted.

    >>> number_in("38"), number_in("−0,5"), number_in("3/4"), number_in("123 456")
    (Fraction(38, 1), Fraction(-1, 2), Fraction(3, 4), Fraction(123456, 1))
    >>> number_in("1,234")
    Traceback (most recent call last):
      ...
    ValueError: “1,234” may be 1234 or 1.234. Type the one that you mean.
    """
    # Some keyboards and texts have spaces that do not break; below is one kind.
    typed = re.sub(r"\s", " ", text.strip())
    if not typed:
        raise ValueError("Type a number first. Any guess will do.")
    sign = _SIGN.match(typed)
    size = typed[sign.end() :] if sign else typed
    if _COMMA_OR_THOUSAND.fullmatch(size):
        signed = typed.replace("-", "−", 1) if typed[0] == "-" else typed
        thousand = signed.replace(",", "")
        decimal = signed.replace(",", ".")
        raise ValueError(
            f"“{typed}” may be {thousand} or {decimal}. Type the one that you mean."
        )
    number = _size_in(size)
    if number is None:
        raise ValueError(
            f"“{typed}” is not a number alone. Type one, such as 7, −2, 0.5 or 3/4."
        )
    return -number if typed[0] in "-−–" else number


def _size_in(typed: str) -> Fraction | None:
    """The number in a text without a sign, or None."""
    if len(typed) > _LONGEST:
        return None
    if _IN_GROUPS.fullmatch(typed):
        return Fraction(re.sub(r"\D", "", typed))
    if fraction := _FRACTION.fullmatch(typed):
        over, under = map(int, fraction.groups())
        return Fraction(over, under) if under else None
    if _DECIMAL.fullmatch(typed):
        return Fraction(typed.replace(",", "."))
    return None
