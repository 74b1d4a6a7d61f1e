"""Numbers that a reader puts in the place of entries of matrices, as in "Q12=0.5
K21=-1"."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

_ENTRY = re.compile(r"(\w)(\d)(\d)=(-?\d*\.?\d+)")


@dataclass(frozen=True)
class Entries:
    """Which entries of which matrices can be typed.

    Attributes:
        example: what one types, such as "Q12=0.5 K21=-1".
        names: of the matrices, a letter each.
        rows, columns: the largest numbers of a row and of a column.
        most: the largest size of an entry.
    """

    example: str
    names: str
    rows: int
    columns: int
    most: float

    def put(self, typed: str, matrices: Mapping[str, np.ndarray]) -> None:
        """Puts the numbers into the matrices; those of rows and columns that are not
        there wait until they are.

        Raises:
            ValueError: if they are something else.

        >>> A = np.zeros((2, 2))
        >>> Entries("A11=0.5", "A", 3, 3, 9).put("A12=-1 A33=2", {"A": A})
        >>> A
        array([[ 0., -1.],
               [ 0.,  0.]])
        """
        for part in typed.replace(",", " ").split():
            found = _ENTRY.fullmatch(part)
            if not found or not self._fits(*found.groups()):
                raise ValueError(
                    f"entries are such as {self.example}, from −{self.most} to"
                    f" {self.most}, with rows up to {self.rows} and columns up to"
                    f" {self.columns}; got {part!r}"
                )
            name, row, column, value = found.groups()
            M = matrices[name]
            if int(row) <= len(M) and int(column) <= len(M[0]):
                M[int(row) - 1, int(column) - 1] = float(value)

    def _fits(self, name: str, row: str, column: str, value: str) -> bool:
        return (
            name in self.names
            and 1 <= int(row) <= self.rows
            and 1 <= int(column) <= self.columns
            and abs(float(value)) <= self.most
        )


def typed(matrices: Mapping[str, np.ndarray]) -> str:
    """All entries of these matrices, as one types them; no digit is lost.

    >>> typed({"Q": np.array([[1.0, -0.25]])})
    'Q11=1 Q12=-0.25'
    """
    # `put` reads no exponent: 1e-9 is written with all its zeros.
    return " ".join(
        f"{name}{i}{j}={np.format_float_positional(entry, trim='-')}"
        for name, M in matrices.items()
        for i, row in enumerate(M, start=1)
        for j, entry in enumerate(row, start=1)
    )
