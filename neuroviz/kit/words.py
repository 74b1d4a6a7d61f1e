"""Names and numbers as a reader writes them: subscripts, percent, signs, powers of ten,
words in colour."""

from collections.abc import Callable, Sequence
from math import ceil, floor, inf, log10

from neuroviz.attention.formulas import numbered as numbered
from neuroviz.kit import theme
from neuroviz.rank.results import counted as counted

_TWO_LINES = 300  # signs, below a panel of 1,085 pixels
# Unicode has no raised point: a dot at half height stands for it.
_SUPERSCRIPTS = str.maketrans("-−.0123456789", "⁻⁻·⁰¹²³⁴⁵⁶⁷⁸⁹")


def superscript(number: int | str) -> str:
    """An exponent in Unicode: the text of a figure carries no dollar signs."""
    return str(number).translate(_SUPERSCRIPTS)


def power_of_ten(exponent: int) -> str:
    """10ⁿ in Unicode.

    >>> power_of_ten(-12), power_of_ten(0)
    ('10⁻¹²', '1')
    """
    return f"10{superscript(exponent)}" if exponent else "1"


def rough(value: float, to: Callable[[float], int] = round) -> str:
    """A number ≥ 0 with one digit, rounded by `to`: round, or ceil, or floor.

    >>> rough(31_700_000_000_000.0), rough(42.0), rough(0.13, floor), rough(0.0)
    ('3·10¹³', '40', '0.1', '0')
    >>> rough(96_000.0), rough(999.0), rough(0.00096)  # 10·10⁴ is 1·10⁵
    ('1·10⁵', '1·10³', '1·10⁻³')
    """
    if value in (0, inf):
        return "∞" if value else "0"
    exponent = floor(log10(value))
    # The quotient is off by a rounding error, of which ceil would make a digit more.
    digit = to(round(value / 10**exponent, 6))
    if digit == 10:
        digit = 1
        exponent = exponent + 1
    return (
        f"{digit * 10.0**exponent:g}"
        if -3 < exponent < 3
        else f"{digit}·{power_of_ten(exponent)}"
    )


def at_most(bound: float) -> str:
    """An upper bound, such as that of a chance, with one digit: never below it.

    >>> at_most(2.1e-9), at_most(3e-6)
    ('3·10⁻⁹', '3·10⁻⁶')
    """
    return rough(bound, ceil)


def percent(part: float) -> str:
    """A part of the whole in percent, with two digits where it is small.

    >>> percent(0.584), percent(0.0123), percent(0.0), percent(1e-7)
    ('58 %', '1.2 %', '0 %', '1·10⁻⁵ %')
    """
    if 0 < part < 1e-6:
        return f"{tiny(100 * part)} %"
    # From 9.95 % on, rounded to 10 %, two digits have no decimal.
    return f"{100 * part:.0f} %" if part >= 0.0995 else f"{100 * part:.2g} %"


def grouped(number: int) -> str:
    """A whole number in groups of three digits, with a true minus.

    >>> grouped(8388593), grouped(-451411968)
    ('8 388 593', '−451 411 968')
    """
    return f"{number:,}".replace(",", " ").replace("-", "−")


def signed(number: float, digits: int = 2) -> str:
    """A number with a true minus and without idle zeros.

    >>> signed(-0.5), signed(1.0), signed(-0.001), signed(10.0, digits=0)
    ('−0.5', '1', '0', '10')
    """
    text = f"{number:.{digits}f}"
    if "." in text:  # the zeros of 10 are not idle
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text.replace("-", "−")


def tiny(number: float, digits: int = 0) -> str:
    """A number in powers of ten: for rounding errors, and for what is very large.

    >>> tiny(2.2e-16), tiny(1.05e6, digits=2), tiny(0.0), tiny(float("inf"))
    ('2·10⁻¹⁶', '1.05·10⁶', '0', '∞')
    """
    if number in (0, inf):
        return "∞" if number else "0"
    digit, exponent = f"{number:.{digits}e}".split("e")
    return f"{digit}·{power_of_ten(int(exponent))}"


def colored(role: str, text: str) -> str:
    """Words in the colour of a role."""
    return f'<span style="color:{theme.color(role)}">{text}</span>'


def sentence(note: str) -> str:
    """A note as a sentence.

    >>> sentence("two heads share a key")
    'Two heads share a key.'
    """
    return f"{note[:1].upper()}{note[1:]}."


def in_two_lines(sentences: Sequence[str], spare: Sequence[str] = ()) -> str:
    """Sentences below a picture; where two lines are too short for all, the spare ones
    go, in this order.

    >>> in_two_lines(["Short.", "Shorter."], spare=["Short."])
    'Short. Shorter.'
    >>> len(in_two_lines(["long" * 72, "and longer", "an end"], spare=["and longer"]))
    295
    """
    # Where even the shortest is too long, it stays.
    for gone in range(len(spare) + 1):
        said = " ".join(text for text in sentences if text and text not in spare[:gone])
        if len(said) <= _TWO_LINES:
            break
    return said
