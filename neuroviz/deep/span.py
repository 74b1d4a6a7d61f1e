"""Why the general formula counts what it counts: a flag of subspaces.

Lemma D. The rows of L and the rows and columns of M_{i+1}, …, M_l span a subspace R_i
of the input space, of dimension w_i: what later layers can see. Counting these flags
gives the general formula.
"""

from dataclasses import dataclass

import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import check_architecture
from neuroviz.attention.formulas import effective_widths
from neuroviz.attention.symmetry import virtual_weights
from neuroviz.rank.elimination import exact_rank, is_for_flint
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.point import random_point
from neuroviz.rank.results import ExactMeasurement, Measurement


@dataclass(frozen=True)
class FlagStep:
    """One width of a network: what the tokens reach of it, and what later layers see.

    Attributes:
        index: i, from 0 to l.
        width: d_i.
        arriving: r_i = min(d₀..d_i): the tokens live in a space of this dimension.
        seen: w_i, the part of it that later layers can see (for i = l all of d_l are
            outputs, and w₀ := d₀).
        parts: w_i as a sum: (0, rows of L), then (j, what rows and columns of M_j add)
            for j = l, …, i + 1.
        measured: the exact dimension of R_i at random weights, for the inner widths.
    """

    index: int
    width: int
    arriving: int
    seen: int
    parts: tuple[tuple[int, int], ...]
    measured: Measurement | None


def flag_steps(arch: Architecture, seed: int = 0) -> tuple[FlagStep, ...]:
    """The recursion w_{i−1} = min(r_{i−1}, w_i + 2 min(a_i, r_{i−1})) of Lemma D, step
    by step.

    Each inner step carries an exact measurement of the same dimension, made without the
    recursion.

    >>> steps = flag_steps(Architecture((9, 8, 9, 1), (2, 2, 1)))
    >>> [(step.arriving, step.seen) for step in steps]
    [(9, 9), (8, 7), (8, 3), (1, 1)]
    """
    check_architecture("flag_steps", arch)
    d = arch.widths
    w = effective_widths(arch)
    last = arch.num_layers
    steps = [FlagStep(last, d[-1], min(d), w[-1], ((0, d[-1]),), None)]
    # The d_l rows of L span min(d) dimensions, and M_{i+1} adds what w_i has beyond.
    parts = [(0, min(d))]
    for i in range(last - 1, 0, -1):
        before = sum(count for _, count in parts)
        parts.append((i + 1, w[i] - before))
        steps.append(
            FlagStep(
                index=i,
                width=d[i],
                arriving=min(d[: i + 1]),
                seen=w[i],
                parts=tuple(parts),
                measured=measure_span(arch, i, seed),
            )
        )
    steps.append(FlagStep(0, d[0], d[0], w[0], (), None))
    return tuple(reversed(steps))


def measure_span(arch: Architecture, index: int, seed: int = 0) -> Measurement:
    """The dimension of R_i at random weights: rank of the rows of L, M_{i+1}, M_{i+1}ᵀ,
    …, over F_p.

    Args:
        arch: any architecture.
        index: i, from 0 to l − 1.
        seed: as in `measure_dimension`.

    Raises:
        ValueError: if there is no such i.

    >>> measure_span(Architecture((9, 8, 9, 1), (2, 2, 1)), 2).value
    3
    """
    if index not in range(arch.num_layers):
        raise ValueError(
            f"R_i is there for i from 0 to {arch.num_layers - 1} in {arch}; got"
            f" {index!r}"
        )
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([seed, over.p, 4])
    virtual = virtual_weights(over, random_point(arch, over, rng).weights)
    rows = [virtual.L]
    for M in virtual.M[index:]:
        rows += [M, M.T]
    value = exact_rank(np.concatenate(rows), over)
    # All these rows lie in the row space of U_i. An entry of M_j has degree 2j in the
    # weights, of L degree l.
    is_full = value == min(arch.widths[: index + 1])
    error = 0.0
    if not is_full:
        error = schwartz_zippel(value, 2 * arch.num_layers, over.p)
    note = (
        f"the rows of L and the rows and columns of M_{index + 1}, … span {value}"
        " dimensions"
    )
    columns = arch.widths[0]
    return ExactMeasurement(
        value=value,
        num_inputs=0,
        seed=seed,
        note=note,
        num_columns=columns,
        prime=over.p,
        error_bound=error,
        route="weights",
        arithmetic="flint" if is_for_flint(columns) else "float64",
    )
