"""Dual numbers over a prime field: rational functions differentiated exactly, along one direction."""

from fractions import Fraction

import numpy as np

from neuroviz.engine.field import DEFAULT_PRIME

_EXACT_DENOMINATOR = 2**20  # a float with a longer one, such as 0.1, was rounded and is not taken as exact


class Dual:
    """value + slope·ε over F_p, with ε² = 0: arithmetic that differentiates rational functions exactly.

    Whatever is not rational (a root, a comparison, a conversion to float) raises a TypeError. Numbers on
    the other side of an operation are constants; a rounded float, such as 0.1, is none of F_p.

    >>> square = Dual(3, 1) ** 2
    >>> square.value, square.slope
    (9, 6)
    """

    __slots__ = ("value", "slope")
    __hash__ = None
    p = DEFAULT_PRIME

    def __init__(self, value: int, slope: int = 0) -> None:
        self.value, self.slope = value % self.p, slope % self.p

    @classmethod
    def of(cls, number: object) -> "Dual":
        """A number as a constant, and a `Dual` as it is.

        Raises:
            TypeError: if it is not a rational number, or a float that was rounded.
            ZeroDivisionError: if its denominator is a multiple of p.
        """
        if isinstance(number, Dual):
            return number
        number = number.item() if isinstance(number, np.generic) else number
        if isinstance(number, bool):
            raise TypeError("a truth value is not a rational function of the weights")
        if not isinstance(number, (int, float, Fraction)):
            raise TypeError(f"{type(number).__name__} is not a rational number")
        if isinstance(number, float) and not np.isfinite(number):
            raise TypeError(f"{number} is not a number")
        exactly = Fraction(number)
        if isinstance(number, float) and exactly.denominator > _EXACT_DENOMINATOR:
            raise TypeError(f"{number!r} is a rounded number: write it as a Fraction")
        if exactly.denominator % cls.p == 0:
            raise ZeroDivisionError(f"the denominator of {exactly} is 0 mod {cls.p}")
        return cls(exactly.numerator * pow(exactly.denominator, -1, cls.p))

    def __add__(self, other: object) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented  # numpy goes through its entries
        other = self.of(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __neg__(self) -> "Dual":
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> "Dual":
        return self

    def __sub__(self, other: object) -> "Dual":
        return NotImplemented if isinstance(other, np.ndarray) else self + -self.of(other)

    def __rsub__(self, other: object) -> "Dual":
        return self.of(other) - self

    def __mul__(self, other: object) -> "Dual":
        if isinstance(other, np.ndarray):
            return NotImplemented
        other = self.of(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    __radd__, __rmul__ = __add__, __mul__

    def __truediv__(self, other: object) -> "Dual":
        return NotImplemented if isinstance(other, np.ndarray) else self * self.of(other) ** -1

    def __rtruediv__(self, other: object) -> "Dual":
        return self.of(other) * self**-1

    def __pow__(self, exponent: object) -> "Dual":
        if isinstance(exponent, (float, np.floating)) and float(exponent).is_integer():
            exponent = int(exponent)
        if isinstance(exponent, (bool, np.bool_)) or not isinstance(exponent, (int, np.integer)):
            raise TypeError("only whole powers are rational functions")
        if exponent == 0:
            return Dual(1)
        if exponent < 0 and not self.value:
            raise ZeroDivisionError("division by zero")
        power = pow(self.value, int(exponent) - 1, self.p)
        return Dual(power * self.value, int(exponent) * power * self.slope)

    def conjugate(self) -> "Dual":
        """Of a real number: itself."""
        return self

    def _not_rational(self, *_: object) -> bool:
        raise TypeError("comparing weights, or asking for their sign, is not a rational function")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __bool__ = __float__ = __abs__ = _not_rational
