"""Where the parameters go: how many directions in weight space each symmetry accounts
for.

Nothing forces the numbers to add up. Parameters are counted, the dimension is measured,
the directions of each symmetry are written down and their rank is computed; what is
left over is `unexplained`.
"""

from dataclasses import dataclass, field, replace
from functools import lru_cache

import numpy as np

from neuroviz.attention.formulas import (
    collapsing_layer,
    effective_widths,
    general_formula,
    numbered,
)
from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.block_formulas import what_is_missing
from neuroviz.engine.block_symmetry import symmetry_directions
from neuroviz.engine.cost import BUDGET_SECONDS, in_words
from neuroviz.engine.measure import Measurement, measure_dimension
from neuroviz.engine.network import random_block_weights
from neuroviz.engine.progress import Report, reporting, showing
from neuroviz.rank.budget import Budget
from neuroviz.rank.exact import schwartz_zippel
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.memory import check_memory
from neuroviz.rank.rows import RowSpace

_BYTES = 64  # of memory for each entry of the silent directions, at the peak
# silent directions of as many parameters that take a second at most, about
_A_SECOND = 1200
_SECONDS_WITHOUT_A_BAR = 4.0
_AT_ONCE = 256  # rows between two signs of life


@dataclass(frozen=True)
class KernelLedger:
    """parameters − Σ entries − unexplained = dimension.

    Attributes:
        arch: the architecture.
        parameters: all entries of all Q, K, V, and of what else the layers have.
        entries: name of a family of symmetries → how many directions it adds to the
            families before it, as `symmetry_directions` names them.
        parts: the same, layer by layer: its numbers add up to the entry.
        unexplained: silent directions that belong to none of these symmetries.
        dimension: what remains.
        note: where the unexplained directions come from.
        measured: the measurement of the dimension, over all parameters.
        error_bound: the probability that a random point made one of the ranks too
            small.
    """

    arch: Architecture
    parameters: int
    entries: dict[str, int] = field(hash=False)
    parts: dict[str, tuple[int, ...]] = field(hash=False)
    unexplained: int
    dimension: int
    note: str
    measured: Measurement
    error_bound: float


def kernel_ledger(
    arch: Architecture,
    seed: int = 0,
    budget: float | None = None,
    progress: bool | Report | None = None,
) -> KernelLedger:
    """What each symmetry costs: parameters − Σ entries − unexplained = dimension, all
    measured.

    The dimension is the exact rank over all parameters; an entry is the exact rank of
    the directions of its family (`symmetry_directions`) at a random network, beyond
    those of the families before it. For t ≥ 2, in a bottleneck without rank-one
    collapse, nothing is unexplained ("The gauge slice"). Beyond the paper what is
    unexplained has a cause in the note only where one is known.

    Args:
        arch: any `Architecture`.
        seed: a whole number ≥ 0.
        budget, progress: as in `measure_dimension`; the symmetries count, too.

    Raises:
        ValueError: if `arch` is not an Architecture or the seed is not a whole number,
            or if the network is too large for the memory or the budget.

    >>> ledger = kernel_ledger(Architecture((4, 3, 5), (2, 2)))
    >>> ledger.parameters, ledger.entries, ledger.unexplained, ledger.dimension
    (55, {'head bases': 8, 'interfaces': 9, 'rescalings': 2}, 0, 36)
    >>> kernel_ledger(Architecture((3, 3, 3), (1, 2))).note
    'A₁ has rank one: after layer 1 all tokens are parallel,
    so the antisymmetric part of later A is hidden'
    >>> kernel_ledger(Architecture((3, 3), (2,), heads=3)).entries
    {'bases of keys and queries': 12, 'rescalings': 3, 'heads that blend': 3}
    """
    check_architecture("kernel_ledger", arch, variants=True)
    seconds = BUDGET_SECONDS if budget is None else budget
    # an impossible budget raises here
    limit = Budget(seconds, "no ledger", "take fewer heads")
    check_memory(f"the silent directions of {arch}", 24 * arch.num_parameters**2)
    # This call also checks the seed, and refuses what is too large to be measured.
    measured = measure_dimension(
        arch, seed=seed, route="weights", budget=budget, progress=progress
    )
    check_memory(
        f"the silent directions of {arch}",
        _BYTES * measured.kernel * arch.num_parameters,
    )
    takes = measured.kernel**2 * arch.num_parameters / _A_SECOND**3
    if takes > seconds:
        raise ValueError(
            f"the {measured.kernel:,} silent directions of {arch} would take about"
            f" {in_words(takes)}, and the budget is {in_words(seconds)}; raise budget,"
            " or take fewer heads or smaller sizes"
        )
    if progress is None:
        progress = takes > _SECONDS_WITHOUT_A_BAR
    with showing(progress, [("symmetries", takes)], limit.check):
        ledger = _kernel_ledger(arch, measured)
    # the cache keeps its own
    return replace(ledger, entries=dict(ledger.entries), parts=dict(ledger.parts))


@lru_cache(maxsize=1024)
def _kernel_ledger(arch: Architecture, measured: Measurement) -> KernelLedger:
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([measured.seed, over.p, 3])
    space, parts = RowSpace(over, arch.num_parameters), {}
    for name, each in symmetry_directions(
        over, arch, random_block_weights(over, arch, rng)
    ).items():
        parts[name] = tuple(_added(space, rows, arch.num_parameters) for rows in each)
    entries = {name: sum(numbers) for name, numbers in parts.items()}
    unexplained = arch.num_parameters - space.dimension - measured.value
    error = min(1.0, measured.error_bound + schwartz_zippel(space.dimension, 1, over.p))
    left = (
        unexplained,
        measured.value,
        _note(arch, entries, unexplained, measured.value),
    )
    return KernelLedger(
        arch, arch.num_parameters, entries, parts, *left, measured, error
    )


def _added(space: RowSpace, rows: np.ndarray, parameters: int) -> int:
    """How many directions these rows add to those before, with a sign of life now and
    then."""
    before = space.dimension
    for start in range(0, len(rows), _AT_ONCE):
        reporting()("symmetries", space.dimension / parameters)
        space.add(rows[start : start + _AT_ONCE])
    return space.dimension - before


def _note(
    arch: Architecture, entries: dict[str, int], unexplained: int, dimension: int
) -> str:
    if not unexplained:
        *most, last = [
            name for name, count in entries.items() if count or arch.is_plain
        ] or [""]
        if not last:
            return "no direction is silent"
        return (
            f"{', '.join(most)}{' and ' * bool(most)}{last} explain every silent"
            " direction"
        )
    # a mask hides nothing
    without = replace(arch, causal=False) if arch.attention == "softmax" else arch
    cause = (
        _causes(without, entries)
        if without.is_plain
        else _cause_beyond(arch, dimension)
    )
    return cause or (
        "these symmetries do not explain all of it, and no cause is known: please tell"
        " us"
    )


def _causes(arch: Architecture, entries: dict[str, int]) -> str:
    """What else hides parameters ("One token", "Rank-one collapse", "The general
    formula").

    Each cause is named only where it costs something, by the general formula: with two
    tokens and no collapse there would be D dimensions, for lightning D − l.
    """
    # D: no collapse
    with_two_tokens = general_formula(
        replace(arch, attention="softmax", tokens=2)
    ).value
    generic = with_two_tokens - arch.num_layers * (arch.attention == "lightning")
    causes = [_hidden_by_tokens(arch)] if general_formula(arch).value < generic else []
    if arch.num_parameters - sum(entries.values()) > generic:
        inside = enumerate(
            zip(arch.widths[1:-1], effective_widths(arch)[1:-1], strict=True), start=1
        )
        hidden = [
            f"{seen} of the {width} after layer {i}"
            for i, (width, seen) in inside
            if seen < width
        ]
        # they hold for two tokens or more
        numbers = "" if arch.tokens == 1 else ": " + ", ".join(hidden)
        causes.append(
            f"of the coordinates between layers only some reach the output{numbers}"
        )
    return "; ".join(causes)


def _hidden_by_tokens(arch: Architecture) -> str:
    """Why some part of A cannot be seen: a single token, or tokens that are
    parallel."""
    if arch.tokens == 1 and arch.attention == "softmax":
        return "one token attends to itself alone: no A is visible"
    if arch.tokens == 1:
        return "one token sees xᵀAx only: the antisymmetric part of each A is hidden"
    layer = collapsing_layer(arch)
    return _hidden_after(layer, on_a_line=effective_widths(arch)[layer - 1] == 1)


def _hidden_after(layer: int, on_a_line: bool = False) -> str:
    what = (
        f"the tokens of layer {layer} lie on a line"
        if on_a_line
        else f"{numbered('A', layer)} has rank one"
    )
    said = f"{what}: after layer {layer} all tokens are parallel"
    return f"{said}, so the antisymmetric part of later A is hidden"


def _cause_beyond(arch: Architecture, dimension: int) -> str | None:
    """What hides parameters of networks beyond the paper, as far as anybody knows."""
    if arch.tokens == 1:
        return _hidden_by_tokens(arch)
    block, layers = arch.block, list(zip(arch.heads, arch.layers, strict=True))
    if arch.attention == "softmax":
        missing = None if block.is_plain else what_is_missing(arch)
        return missing and f"no cause is proved; the formulas do not reach {missing}"
    if not block.is_plain:
        return None
    if not (arch.skip or arch.causal):
        d, d_out, _ = arch.layers[0]
        if arch.num_layers == 1 and dimension == (most := d_out * d * d * (d + 1) // 2):
            return (
                f"a layer has {most} coefficients, and with so many heads it reaches"
                " all of them"
            )
        for i, (H, (_, _, a)) in enumerate(layers[:-1], start=1):
            if H == a == 1:
                return _hidden_after(i)
    if any(H > d_out for H, (_, d_out, _) in layers):
        return (
            "a layer has more heads than outputs: then more can be lost, and no rule"
            " for it is known"
        )
    return None
