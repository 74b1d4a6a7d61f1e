"""Numbers that carry a derivative along, over a prime field."""

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np

from neuroviz.rank.field import DEFAULT_PRIME

# A float with a larger denominator, such as 0.1, was rounded: it is not exact.
_EXACT_DENOMINATOR = 2**20


def _operation(rule: Callable[["Dual", "Dual"], "Dual"]) -> Callable:
    def apply(self: "Dual", other: object) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy then asks entry by entry
        return rule(self, self.of(other))

    return apply


class Dual:
    """value + slope·ε over F_p, with ε² = 0: arithmetic that differentiates rational
    functions exactly.

    Whatever is not rational (a root, a comparison, a conversion to float) raises a
    TypeError. Numbers on the other side of an operation are constants; a rounded float,
    such as 0.1, is none of F_p.

    >>> square = Dual(3, 1) ** 2
    >>> square.value, square.slope
    (9, 6)
    """

    __slots__ = ("value", "slope")
    __hash__ = None
    p = DEFAULT_PRIME

    @staticmethod
    @cache
    def over(p: int) -> type["Dual"]:
        """The same numbers over another prime field.

        >>> (Dual.over(7)(3, 1) ** 2).value
        2
        """
        return type("Dual", (Dual,), {"p": p, "__slots__": ()})

    def __init__(self, value: int, slope: int = 0) -> None:
        self.value = value % self.p
        self.slope = slope % self.p

    @classmethod
    def of(cls, number: object) -> "Dual":
        """A number as a constant, and a `Dual` as it is; an error for others, and for
        rounded floats.

        >>> (Dual.of(Fraction(2, 3)) * 3).value
        2
        """
        if isinstance(number, Dual):
            return number
        number = number.item() if isinstance(number, np.generic) else number
        if isinstance(number, bool) or not isinstance(number, (int, float, Fraction)):
            raise TypeError(f"{number!r} is not a rational number")
        exactly = Fraction(number)
        if isinstance(number, float) and exactly.denominator > _EXACT_DENOMINATOR:
            raise TypeError(f"{number!r} was rounded")
        return cls(exactly.numerator * pow(exactly.denominator, -1, cls.p))

    def __neg__(self) -> "Dual":
        return type(self)(-self.value, -self.slope)

    def __pos__(self) -> "Dual":
        return self

    def __pow__(self, exponent: object) -> "Dual":
        if isinstance(exponent, (float, np.floating)) and float(exponent).is_integer():
            exponent = int(exponent)
        if isinstance(exponent, (bool, np.bool_)) or not isinstance(
            exponent, (int, np.integer)
        ):
            raise TypeError("only whole powers are rational functions")
        if exponent == 0:
            return type(self)(1)
        if exponent < 0 and not self.value:
            raise ZeroDivisionError("division by zero")
        # (v + s ε)ᵉ = vᵉ + e vᵉ⁻¹ s ε; a negative power is one of the inverse mod p.
        power = pow(self.value, int(exponent) - 1, self.p)
        slope = int(exponent) * power * self.slope
        return type(self)(power * self.value, slope)

    @_operation
    def __add__(self, other: "Dual") -> "Dual":
        return type(self)(self.value + other.value, self.slope + other.slope)

    @_operation
    def __mul__(self, other: "Dual") -> "Dual":
        slope = self.value * other.slope + self.slope * other.value
        return type(self)(self.value * other.value, slope)

    __radd__ = __add__
    __rmul__ = __mul__
    __sub__ = _operation(lambda x, y: x + -y)
    __rsub__ = _operation(lambda x, y: y + -x)
    __truediv__ = _operation(lambda x, y: x * y**-1)
    __rtruediv__ = _operation(lambda x, y: y * x**-1)

    def conjugate(self) -> "Dual":
        """Of a real number: itself."""
        return self

    def _not_rational(self, *_: object) -> bool:
        raise TypeError(
            "comparing weights, or asking for their sign, is not a rational function"
        )

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = (
        __abs__
    ) = _not_rational
