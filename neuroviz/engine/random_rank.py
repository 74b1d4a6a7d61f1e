"""A random point of a network over F_p, and the rank of the derivative there, however
large the network is.

Rows are computed a few at a time. Those of a large matrix are stored at once in the
form in which they are eliminated, so that nothing is in memory twice; a small matrix is
joined from its blocks.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.gauge_slice import gauge_slice
from neuroviz.engine.network import (
    BlockWeights,
    Weights,
    jacobian,
    random_block_weights,
    random_tokens,
)
from neuroviz.engine.progress import Report
from neuroviz.rank.arithmetic import Arithmetic, Float64, stored
from neuroviz.rank.elimination import (
    WORTH_THREADS,
    eliminate,
    exact_rank,
    is_for_flint,
    spare_rows,
)
from neuroviz.rank.field import Field, PrimeField
from neuroviz.rank.threads import Run, in_turn, side_by_side

# bytes of derivative rows in float64, and of the numbers they come from
_BYTES_AT_ONCE = 2**23
_BYTES_IN_ALL = 2**27  # bytes that all threads may take for them


def random_point(
    over: Field, arch: Architecture, route: str, rng: np.random.Generator
) -> tuple[Architecture, BlockWeights | Weights, np.ndarray | slice]:
    """A random network on the route, and which of its parameters are free there.

    Args:
        route: "slice", "weights", or "general angles": the weights, with rotations in
            general position.
    """
    if route != "slice":
        return (
            arch,
            random_block_weights(over, arch, rng, related=route != "general angles"),
            slice(None),
        )
    across = gauge_slice(arch)
    return across.reduced, across.weights(over, rng), across.free


def derivative_rows(
    over: Field,
    arch: Architecture,
    route: str,
    num_inputs: int,
    all_outputs: bool,
    rng: np.random.Generator,
    run: Run = in_turn,
    keep: Callable[[np.ndarray], np.ndarray] = lambda rows: rows,
) -> Iterator[np.ndarray]:
    """Rows of the derivative at a random point, block by block: one functional an
    input, or all outputs.

    Args:
        run: with several threads blocks come in any order; each draws from a source of
            its own.
        keep: what is kept of the rows of a block.
    """
    net, weights, free = random_point(over, arch, route, rng)
    outputs = (net.widths[-1], net.tokens)
    at_once = inputs_at_once(net, outputs[0] * outputs[1] if all_outputs else 1)

    def block(inputs: int, rng: np.random.Generator) -> np.ndarray:
        X = random_tokens(over, net, inputs, rng)
        cotangents = None if all_outputs else over.random(rng, (inputs, 1, *outputs))
        J = jacobian(over, net, weights, X, cotangents, rng)
        J = J.reshape(-1, J.shape[-1])
        # J[:, free] would lie column by column, which an elimination row by row waits
        # for.
        return keep(J if isinstance(free, slice) else J.compress(free, axis=1))

    sizes = [
        min(at_once, num_inputs - start) for start in range(0, num_inputs, at_once)
    ]
    sources = rng.spawn(len(sizes)) if len(sizes) > 1 else [rng]
    return run(partial(block, *each) for each in zip(sizes, sources, strict=True))


def numbers_in_between(arch: Architecture) -> int:
    """About how many intermediate numbers one input needs: H t² logits, as many shares,
    and the tokens.

    >>> numbers_in_between(Architecture((4, 4), (2,), tokens=100)) > 4 * 100**2
    True
    """
    t, block = arch.tokens, arch.block
    count = 0
    for (H, (d_in, d_out, a)), times in arch.distinct_layers.items():
        v = block.value_dim or d_out
        each = H * t * (5 * t + 6 * a + 4 * v) + 3 * t * (d_in + d_out)
        count += times * (each + (3 * t * block.mlp[0] if block.mlp else 0))
    return count


def inputs_at_once(arch: Architecture, rows_each: int) -> int:
    """How many inputs make a block, where each gives so many rows."""
    return max(
        1,
        _BYTES_AT_ONCE
        // (8 * rows_each * (arch.num_parameters + numbers_in_between(arch))),
    )


def bytes_in_between(arch: Architecture, inputs: int, rows_each: int = 1) -> int:
    """About how many bytes intermediate numbers take: all inputs', up to a limit, or
    one input's."""
    each = 16 * rows_each * numbers_in_between(arch)
    return max(each, min(_BYTES_IN_ALL, inputs * each))


def rank_of_combinations(
    over: PrimeField,
    arch: Architecture,
    route: str,
    columns: int,
    expected: int,
    rng: np.random.Generator,
    report: Report = lambda what, part: None,
) -> tuple[int, int]:
    """The rank of the derivative J from random combinations of its columns, and how
    many inputs it took.

    Silent directions cost an elimination time in every block. rank(J R) ≤ rank J, and a
    random R with a few spare columns keeps the rank ("Exact rank"). So inputs and
    combinations are as many as the expected rank, and a few spare ones. If the rank
    found reaches their number, the true rank may be larger: then all columns are taken,
    with as many inputs.

    >>> over, arch = PrimeField(), Architecture((3, 3), (2,), heads=3)
    >>> for expected in (45, 7):
    ...     rng = np.random.default_rng(0)
    ...     rank_of_combinations(over, arch, "weights", 63, expected, rng)
    (45, 47)
    (45, 65)
    """
    arithmetic, rank = Float64(over), 0
    for size in (expected + spare_rows(over.p), columns + spare_rows(over.p)):
        J = _whole(derivative_rows(over, arch, route, size, False, rng), size, report)
        mixed = over.matmul(J, over.random(rng, (columns, min(size, columns))))
        rank = max(rank, eliminate(stored(mixed, arithmetic), arithmetic))
        if rank < size or size >= columns:
            break
    return rank, size


def _placed(
    blocks: Iterator[np.ndarray], rows: int, report: Report
) -> Iterator[tuple[int, np.ndarray]]:
    """Each block with the place of its first row, reported as it comes."""
    filled = 0
    report("derivative", 0.0)
    for block in blocks:
        yield filled, block
        filled += len(block)
        report("derivative", filled / rows)
    report("elimination", 0.0)


def _whole(parts: Iterator[np.ndarray], rows: int, report: Report) -> np.ndarray:
    """All blocks of rows, joined to one matrix."""
    return np.concatenate([block for _, block in _placed(parts, rows, report)])


def rank_at_a_point(
    arithmetic: Arithmetic,
    arch: Architecture,
    route: str,
    shape: tuple[int, int],
    all_outputs: bool,
    rng: np.random.Generator,
    report: Report = lambda what, part: None,
) -> int:
    """The rank of the derivative at a random point, block by block; `shape` is (inputs,
    columns there).

    `report` is told "derivative" and "elimination", each from 0 to 1; what it raises
    ends the work.
    """
    num_inputs, columns = shape
    per_input = arch.tokens * arch.widths[-1] if all_outputs else 1
    if is_for_flint(columns):
        rows = derivative_rows(
            arithmetic.over, arch, route, num_inputs, all_outputs, rng
        )
        return exact_rank(_whole(rows, num_inputs * per_input, report), arithmetic.over)
    size, matrix = num_inputs * per_input, None
    of_a_block = max(2 * _BYTES_AT_ONCE, 16 * per_input * numbers_in_between(arch))
    # entries are residues already
    keep = partial(np.asarray, dtype=arithmetic.dtype, order="C")
    with side_by_side(
        1 if columns < WORTH_THREADS else max(1, _BYTES_IN_ALL // of_a_block)
    ) as run:
        blocks = derivative_rows(
            arithmetic.over, arch, route, num_inputs, all_outputs, rng, run, keep
        )
        for start, rows in _placed(blocks, size, report):
            if matrix is None:  # most matrices have one block only
                matrix = (
                    rows
                    if len(rows) == size
                    else np.empty((size, columns), dtype=arithmetic.dtype)
                )
            if matrix is not rows:
                matrix[start : start + len(rows)] = rows
    return eliminate(matrix, arithmetic, partial(report, "elimination"))
