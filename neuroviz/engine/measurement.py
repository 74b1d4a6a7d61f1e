"""What a measurement found, and what it says of itself."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np


@dataclass(frozen=True)
class Measurement:
    """A measured dimension, and what every measurement says of it.

    Attributes:
        value: the rank that was found.
        num_inputs: on how many inputs the function was observed; 0 where a theorem needed none.
        seed: what the random network and inputs were drawn from; None where they were given.
        note: how the number was found, in a sentence.
        method: "exact", "float" or "certified"; `status`, what a reader may take the number for, is the same.
    """

    value: int
    num_inputs: int
    seed: int | None
    note: str
    method: ClassVar[str] = ""

    @property
    def status(self) -> str:
        """What a reader may take the number for."""
        return self.method

    @property
    def kernel(self) -> int:
        """How many columns of an exact or float measurement do nothing: `num_columns` − `value`.

        >>> ExactMeasurement(12, 17, 0, "", 15, 7, 0.0, "weights", "flint").kernel
        3
        """
        return self.num_columns - self.value


@dataclass(frozen=True)
class ExactMeasurement(Measurement):
    """A rank over a prime field.

    Attributes:
        num_columns: free entries of the slice, or parameters.
        prime: p of the field.
        error_bound: the probability that the random point hid some of the generic rank; 0 where the rank
            meets an upper bound, such as the one that the symmetries prove.
        route: "slice" (across the symmetries' orbits) or "weights" (every parameter a column).
        arithmetic: what the matrix was eliminated in, "float64", "float32", "int8", or "flint" for a small
            one (python-flint's whole numbers modulo p).
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
        singular_values: relative to the largest, one for each parameter; those beyond the number of
            equations are 0.
        gap: the factor across the split.
        decided: False where the spectrum cannot say ("Floating point").
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
class CertifiedMeasurement(Measurement):
    """A proved dimension.

    Attributes:
        route: "theorem", "exact rank" or "ball".
        certificate: a `Certificate`: what was proved, and how; its `verify()` checks it again.
    """

    route: str
    certificate: object = field(compare=False, repr=False)
    method: ClassVar[str] = "certified"


@dataclass(frozen=True)
class InputsCurve:
    """The exact rank as inputs are added one by one, up to where it stops growing.

    Attributes:
        ranks: the rank on the first 1, 2, …, N inputs.
        enough: the first N after which one more input adds nothing.
        equations_per_input: t · d_l outputs.
        num_columns, seed, prime: as in `Measurement`.
        error_bound: the probability that the last rank is too small; 0 at full rank.
    """

    ranks: tuple[int, ...]
    enough: int
    equations_per_input: int
    num_columns: int
    seed: int
    prime: int
    error_bound: float
