"""A formula that was understood, and its value: exact, bounded, and never handed to Python.

`neuroviz.beyond.formula.language` reads formulas; here are what it makes of them, and the errors of both.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from neuroviz.engine.expected import alpha, sigma

NAMES = {"d": "width", "a": "head dimension", "t": "tokens", "l": "layers", "H": "heads"}
LARGEST = 10**12
_SHOWN = 60  # characters around the place that an error points at


class FormulaError(ValueError):
    """A formula that cannot be read, or has no value: what is wrong, and where.

    Attributes:
        message: what is needed, what came, what to do: one line.
        text: the formula.
        place, length: the characters that are meant.
    """

    def __init__(self, message: str, text: str, place: int, length: int = 1) -> None:
        self.message, self.text, self.place, self.length = message, text, place, length
        super().__init__(message, text, place, length)

    @property
    def pointed(self) -> str:
        """The formula, and under it a caret at the place."""
        start = max(0, self.place - _SHOWN // 2)
        line = "".join(" " if c.isspace() else c for c in self.text[start : start + _SHOWN])
        before, after = "…" * (start > 0), "…" * (start + _SHOWN < len(self.text))
        carets = "^" * min(max(1, self.length), _SHOWN // 2)
        return f"{before}{line}{after}\n{' ' * (len(before) + self.place - start)}{carets}"

    def __str__(self) -> str:
        return f"{self.message}\n{self.pointed}"


@dataclass(frozen=True)
class Step:
    """One step of a formula's evaluation on a stack, and the characters that it comes from."""

    kind: str  # "number", "name", or an operation
    operand: int | str  # the number, the name, or how many values the operation takes
    place: int
    length: int = 1


@dataclass(frozen=True)
class Formula:
    """A formula that was understood.

    Attributes:
        text: as it was typed.
        steps: in the order of evaluation.
    """

    text: str
    steps: tuple[Step, ...]

    @property
    def names(self) -> frozenset[str]:
        """The names that it speaks of."""
        return frozenset(step.operand for step in self.steps if step.kind == "name")

    def value(self, sizes: Mapping[str, int], where: str | None = None) -> int:
        """The whole number that the formula gives.

        Args:
            sizes: a number for each of d, a, t, l, H.
            where: how an error calls these sizes; None: "d = 2, a = 1, …".

        Raises:
            FormulaError: if the value is a fraction, a number passes `LARGEST`, or there is none.

        >>> from neuroviz.beyond.formula.language import parse_formula
        >>> parse_formula("a(2d − a) + d²").value({"d": 3, "a": 2, "t": 2, "l": 1, "H": 1})
        17
        """
        here = ", ".join(f"{name} = {sizes[name]}" for name in sizes) if where is None else where
        stack: list[Fraction] = []
        for step in self.steps:
            if step.kind == "number":
                stack.append(Fraction(step.operand))
            elif step.kind == "name":
                stack.append(Fraction(sizes[step.operand]))
            else:
                values = stack[-step.operand :]
                del stack[-step.operand :]
                try:
                    stack.append(_bounded(_OPERATIONS[step.kind](*values)))
                except _NoValueError as error:
                    raise FormulaError(f"{error} (at {here})", self.text, step.place, step.length) from None
        (result,) = stack
        if result.denominator != 1:
            raise FormulaError(
                f"a dimension is a whole number; the formula gives {result} at {here}: "
                "// divides and rounds down",
                self.text,
                0,
                len(self.text),
            )
        return int(result)


# What the steps do


class _NoValueError(Exception):
    """An operation that has no value, or one that is too large, in words."""


def _bounded(value: Fraction) -> Fraction:
    if abs(value.numerator) > LARGEST or value.denominator > LARGEST:
        raise _NoValueError("numbers go up to 10¹² here; this one is larger")
    return value


def _divide(x: Fraction, y: Fraction) -> Fraction:
    if y == 0:
        raise _NoValueError("nothing can be divided by 0; the divisor is 0 here")
    return x / y


def _divide_down(x: Fraction, y: Fraction) -> Fraction:
    return Fraction(_divide(x, y).__floor__())


def _power(x: Fraction, y: Fraction) -> Fraction:
    if y.denominator != 1 or y < 0:
        raise _NoValueError(f"an exponent is a whole number ≥ 0; this one is {y}")
    if abs(x) not in (0, 1) and y > LARGEST.bit_length():
        raise _NoValueError("numbers go up to 10¹² here; this power is larger")  # before it is computed
    return x ** int(y)


def _count_of(count: Callable[[int, int], int], name: str) -> Callable[[Fraction, Fraction], Fraction]:
    def counted(a: Fraction, d: Fraction) -> Fraction:
        for value in (a, d):
            if value.denominator != 1 or value < 0:
                raise _NoValueError(f"{name} needs whole numbers ≥ 0; got {value}")
        return Fraction(count(int(a), int(d)))

    return counted


_OPERATIONS: dict[str, Callable[..., Fraction]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _divide,
    "//": _divide_down,
    "**": _power,
    "negative": lambda x: -x,
    "min": min,
    "max": max,
    "pos": lambda x: max(x, Fraction(0)),
    "α": _count_of(alpha, "α"),
    "σ": _count_of(sigma, "σ"),
}
