"""Rows of sizes: checked, and written in short."""

from collections.abc import Mapping, Sequence, Set

from neuroviz.rank.checks import whole_number

_LONG = 12  # a longer list of equal sizes is counted, not listed
_TOO_LONG = 60  # of a longer list only the first and last sizes are listed


def sizes(name: str, values: Sequence[int]) -> tuple[int, ...]:
    """Whole numbers ≥ 1, in order.

    Raises:
        ValueError: if the values are anything else.

    >>> sizes("widths", [4, 0])
    Traceback (most recent call last):
    ValueError: each of widths must be a whole number ≥ 1; got 0
    """
    try:
        # Sets and dicts have no fixed order; a text is no list of sizes.
        if isinstance(values, (str, bytes, Set, Mapping)):
            raise TypeError
        ordered = iter(values)
    except TypeError:
        raise ValueError(
            f"{name} needs a sequence of whole numbers ≥ 1, in order; got {values!r}: "
            f"write a tuple such as {name}=(4, 4)"
        ) from None
    return tuple(whole_number(f"each of {name}", value) for value in ordered)


def in_short(numbers: Sequence[int], between: str = ", ") -> str:
    """All numbers; of many equal ones the number and how often, of very many the first
    and the last ones.

    >>> in_short((4,) * 20), in_short(range(1000), "→")
    ('4 (20 times)', '0→1→2→3→4→5→…→997→998→999 (1000 numbers)')
    """
    if len(numbers) > _LONG and len(set(numbers)) == 1:
        return f"{numbers[0]} ({len(numbers)} times)"
    if len(numbers) > _TOO_LONG:
        first = between.join(map(str, numbers[:6]))
        last = between.join(map(str, numbers[-3:]))
        return f"{first}{between}…{between}{last} ({len(numbers)} numbers)"
    return between.join(map(str, numbers))


def as_tuple(numbers: tuple[int, ...]) -> str:
    """As Python writes it; of a long row as much as `in_short` has.

    >>> as_tuple((4,) * 20)
    '(4,) * 20'
    """
    if len(numbers) > _LONG and len(set(numbers)) == 1:
        return f"({numbers[0]},) * {len(numbers)}"
    if len(numbers) > _TOO_LONG:
        return f"({in_short(numbers)})"
    return repr(numbers)
