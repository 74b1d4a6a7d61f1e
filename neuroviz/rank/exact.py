"""The generic rank of a network's derivative, from random points over a prime field."""

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np
from numpy.random import Generator, default_rng

from neuroviz.rank.arithmetic import Arithmetic, Float64, fastest_arithmetic, stored
from neuroviz.rank.elimination import (
    eliminate,
    exact_rank,
    is_for_flint,
    spare_rows,
)
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.memory import check_memory
from neuroviz.rank.network import Network, relaxed_of
from neuroviz.rank.outline import Outline, outline
from neuroviz.rank.point import (
    BYTES_AT_ONCE,
    num_parameters,
    random_point,
    random_rows,
)
from neuroviz.rank.progress import Report, say_nothing
from neuroviz.rank.threads import one_thread, side_by_side

LARGE = 1500
"""Columns from which a rank uses all threads, and is first tried modulo 241."""
MIXED = 350
"""Columns up to which mixing all of them takes less time than it saves."""
_SPARE_ROWS = 2  # beyond the columns, in case one or two random rows add nothing
_POINTS = 2
_POOR_BOUND = 1e-6  # above this bound of the error more points are worth their time
_NEVER_DRAWN = 5  # residues at most: a rotary slope is not 0, ±1 or a root of −1
BYTES_IN_ALL = 2**27
"""What all threads may take for rows of the derivative, as far as possible."""


def schwartz_zippel(found: int, degree: int, p: int) -> float:
    """A bound on the probability that a random point mod p shows `found` although the
    rank is larger.

    At most (found + 1) · degree / (p − 5): then a minor of that size, not zero as a
    polynomial, is zero at the point. Each number is drawn from p − 5 residues or more,
    and `degree` bounds the total degree of an entry in all of them.

    >>> schwartz_zippel(found=18, degree=22, p=8_388_593) < 5e-5
    True
    """
    numerator = (found + 1) * degree  # of a deep network beyond what floats hold
    size = p - _NEVER_DRAWN
    return 1.0 if numerator >= size else numerator / size


@dataclass(frozen=True)
class ExactRank:
    """The largest rank that was found, and the chance that there is a larger one.

    Attributes:
        value: a rigorous lower bound of the generic rank.
        columns: an upper bound.
        num_inputs: on how many inputs the function was observed.
        prime: of the field.
        error_bound: 0 where the value meets the upper bound.
        arithmetic: what the matrix was eliminated in.
        theorems: on which it rests, beside linear algebra.
    """

    value: int
    columns: int
    num_inputs: int
    prime: int
    error_bound: float
    arithmetic: str
    theorems: tuple[str, ...]


def generic_rank(
    net: Network,
    seed: int = 0,
    inputs: int | None = None,
    prime: int | None = None,
    likely_full: bool = False,
    report: Report = say_nothing,
    shape: Outline | None = None,
) -> ExactRank:
    """The rank of the derivative at random points, in all parameters.

    Args:
        inputs: observe so many, all outputs of each; left out, one random functional
            for each of as many inputs as are always enough.
        likely_full: whether all columns are thought to be independent, as those of a
            slice are. It changes how long the work takes, never what is found.
        shape: the outline of the network, if it is known.
    """
    columns = num_parameters(net)
    # One byte an entry at least, before anything is recorded or drawn.
    check_memory(f"a matrix with {columns} columns", columns**2)
    search = _Search(net, shape or outline(net), columns, inputs, report)
    may_choose = inputs is None and prime is None  # how the rank is found
    if likely_full and may_choose and columns >= LARGE:
        arithmetic = fastest_arithmetic()
        rng = default_rng([seed, arithmetic.over.p])
        value = search.rank_at_a_point(arithmetic, rng)
        if value == columns:  # modulo 241 nothing less can be believed
            return search.found(value, 0.0, arithmetic.over, arithmetic.name)
    check_memory(f"a matrix with {columns} columns", 8 * columns**2)
    over = PrimeField(prime or DEFAULT_PRIME)
    rng = default_rng([seed, over.p])
    return search.at_two_points(over, rng, likely_full)


@dataclass
class _Search:
    """A network, and how it is observed.

    Attributes:
        inputs: observe so many, all outputs of each; None for enough of them.
        num_inputs: how many were observed; it may grow.
    """

    net: Network
    outline: Outline
    columns: int
    inputs: int | None
    report: Report
    num_inputs: int = field(init=False)

    def __post_init__(self) -> None:
        self.num_inputs = self.inputs or self.columns + _SPARE_ROWS

    @property
    def all_outputs(self) -> bool:
        return self.inputs is not None

    def found(
        self, value: int, error: float, over: PrimeField, arithmetic: str
    ) -> ExactRank:
        return ExactRank(
            value=value,
            columns=self.columns,
            num_inputs=self.num_inputs,
            prime=over.p,
            error_bound=error,
            arithmetic=arithmetic,
            theorems=self.outline.theorems,
        )

    def at_two_points(
        self, over: PrimeField, rng: Generator, likely_full: bool
    ) -> ExactRank:
        """The larger rank of two, or the first one if it is full."""
        name = "flint" if is_for_flint(self.columns) else "float64"
        is_large = self.columns >= LARGE
        # Random combinations of the columns have the same rank, and are faster to
        # eliminate if it is not full. How many there are decides how many inputs are
        # taken, so there are none where the caller says that.
        may_mix = not (self.all_outputs or is_large or is_for_flint(self.columns))
        value = 0
        with nullcontext() if is_large else one_thread():
            for _ in range(_POINTS):
                # The second point expects the rank of the first; the first one expects
                # all columns, or is not mixed where those are many or likely to count.
                if may_mix and value:
                    rank = self.rank_of_combinations(over, value, rng)
                elif may_mix and self.columns < MIXED and not likely_full:
                    rank = self.rank_of_combinations(over, self.columns, rng)
                else:
                    rank = self.rank_at_a_point(Float64(over), rng)
                value = max(value, rank)
                if value == self.columns:  # no point can show a larger rank
                    return self.found(value, 0.0, over, name)
        degree = self.outline.degree
        if may_mix:
            degree += 1  # a combination is linear in its random factors
        # For independent points the probabilities are multiplied.
        error = schwartz_zippel(value, degree, over.p) ** _POINTS
        if error > _POOR_BOUND:
            error = min(error, self._error_of_the_relaxed(over, rng, value))
        return self.found(value, error, over, name)

    def _error_of_the_relaxed(
        self, over: PrimeField, rng: Generator, value: int
    ) -> float:
        """The bound for a more general network, if its rank is no larger: then this
        one's is not larger either."""
        net = relaxed_of(self.net)
        if net is None:
            return 1.0
        columns = num_parameters(net)
        search = _Search(net, outline(net), columns, self.inputs, self.report)
        above = search.at_two_points(over, rng, likely_full=False)
        self.num_inputs = max(self.num_inputs, above.num_inputs)
        if above.value > value:
            return 1.0
        return above.error_bound

    def rank_at_a_point(self, arithmetic: Arithmetic, rng: Generator) -> int:
        """The rank of the derivative at one random point."""
        matrix = self._rows(arithmetic, self.num_inputs, rng)
        if is_for_flint(self.columns):
            return exact_rank(matrix, arithmetic.over)
        return eliminate(matrix, arithmetic, partial(self.report, "elimination"))

    def rank_of_combinations(
        self, over: PrimeField, expected: int, rng: Generator
    ) -> int:
        """The rank of the derivative J, from random combinations of its columns.

        Silent directions cost an elimination time in every block. rank(J R) ≤ rank J,
        and a random R with a few spare columns keeps the rank. So inputs and
        combinations are as many as the expected rank, and a few spare ones. If the rank
        found reaches their number, the true rank may be larger: then all are taken.
        """
        arithmetic = Float64(over)
        spare = spare_rows(over.p)
        rank = 0
        for size in (expected + spare, self.columns + spare):
            J = self._rows(arithmetic, size, rng)
            # More combinations than columns show no more.
            R = over.random(rng, (self.columns, min(size, self.columns)))
            mixed = stored(over.matmul(J, R), arithmetic)
            rank = max(rank, eliminate(mixed, arithmetic))
            self.num_inputs = max(self.num_inputs, size)
            if rank < size or size >= self.columns:
                break
        return rank

    def _rows(
        self, arithmetic: Arithmetic, num_inputs: int, rng: Generator
    ) -> np.ndarray:
        """Rows of the derivative at a random point, as the arithmetic stores them."""
        point = random_point(self.net, arithmetic.over, rng)
        rows_each = prod(self.outline.output_shape) if self.all_outputs else 1
        size = num_inputs * rows_each
        most = 1
        if self.columns >= LARGE:  # smaller ones run in one thread
            of_a_block = 8 * rows_each * self.outline.numbers
            most = max(1, BYTES_IN_ALL // max(2 * BYTES_AT_ONCE, of_a_block))
        with side_by_side(most) as run:
            blocks = random_rows(
                point,
                self.outline,
                num_inputs,
                self.all_outputs,
                rng,
                run,
                arithmetic.dtype,
            )
            return self._joined(blocks, size)

    def _joined(self, blocks: Iterator[np.ndarray], size: int) -> np.ndarray:
        """All rows in one matrix; no block is there twice for longer than it takes."""
        matrix = None
        filled = 0
        self.report("derivative", 0.0)
        for rows in blocks:
            if len(rows) == size:  # most matrices have one block only
                matrix = rows
                break
            if matrix is None:
                matrix = np.empty((size, self.columns), rows.dtype)
            matrix[filled : filled + len(rows)] = rows
            filled += len(rows)
            self.report("derivative", filled / size)
        self.report("elimination", 0.0)
        return matrix
