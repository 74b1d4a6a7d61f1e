"""What a measurement says: the number, and the evidence for it."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Measurement:
    """A measured dimension, and what every measurement says of it.

    Attributes:
        value: the rank that was found.
        num_inputs: on how many inputs the function was observed.
        seed: what the random network and inputs were drawn from; None where they were
            given.
        note: how the number was found, in a sentence.
        method: "exact" or "float".
    """

    value: int
    num_inputs: int
    seed: int | None
    note: str
    method: ClassVar[str] = ""

    @property
    def status(self) -> str:
        """What a reader may take the number for: the same as `method`."""
        return self.method

    @property
    def kernel(self) -> int:
        """How many directions are silent: `num_columns` − `value`.

        >>> ExactMeasurement(12, 17, 0, "", 15, 7, 0.0, "weights", "flint").kernel
        3
        """
        return self.num_columns - self.value


@dataclass(frozen=True)
class ExactMeasurement(Measurement):
    """A rank over a prime field.

    Attributes:
        num_columns: parameters, of the network or of its slice.
        prime: p of the field.
        error_bound: the probability that the random points hid some of the generic
            rank; 0 where the rank meets an upper bound.
        route: "slice" (across the symmetries' orbits) or "weights" (all parameters).
        arithmetic: what the matrix was eliminated in.
    """

    num_columns: int
    prime: int
    error_bound: float
    route: str
    arithmetic: str
    method: ClassVar[str] = "exact"


@dataclass(frozen=True)
class FloatMeasurement(Measurement):
    """A rank read off a spectrum; all parameters are columns.

    Attributes:
        singular_values: relative to the largest, one for each parameter; those beyond
            the number of equations are 0.
        gap: the factor across the split.
        decided: False where the spectrum cannot say.
    """

    singular_values: np.ndarray = field(compare=False, repr=False)
    gap: float
    decided: bool
    method: ClassVar[str] = "float"

    @property
    def num_columns(self) -> int:
        """Parameters."""
        return len(self.singular_values)


@dataclass(frozen=True)
class InputsCurve:
    """The exact rank as inputs are added one by one, up to where it stops growing.

    Attributes:
        ranks: the rank on the first 1, 2, …, N inputs.
        enough: the first N after which one more input adds nothing.
        equations_per_input: the numbers of one output.
        num_columns, seed, prime: as in `ExactMeasurement`.
        error_bound: the probability that the last rank is too small.
    """

    ranks: tuple[int, ...]
    enough: int
    equations_per_input: int
    num_columns: int
    seed: int
    prime: int
    error_bound: float


def observed_only(inputs: int) -> str:
    """What is to be said of a rank on fewer inputs than are enough."""
    return f"observed on {counted(inputs, 'input')} only: more may show more"


def counted(number: int, noun: str) -> str:
    """A number of things, whose noun takes an s.

    >>> counted(1, "input"), counted(2000, "input")
    ('1 input', '2,000 inputs')
    """
    return f"1 {noun}" if number == 1 else f"{number:,} {noun}s"
