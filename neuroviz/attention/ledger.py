"""Where the parameters go: how many directions in weight space each symmetry accounts
for.

Nothing forces the numbers to add up. Parameters are counted, the dimension is measured,
the directions of each symmetry are written down and their rank is computed; what is
left over is `unexplained`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import singledispatch

import numpy as np

from neuroviz.attention.architecture import Architecture
from neuroviz.attention.directions import symmetry_directions
from neuroviz.attention.formulas import (
    collapsing_layer,
    effective_widths,
    general_formula,
    numbered,
)
from neuroviz.rank.budget import Budget
from neuroviz.rank.cost import BUDGET_SECONDS, in_words
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.memory import check_memory
from neuroviz.rank.network import Network
from neuroviz.rank.point import num_parameters, random_point
from neuroviz.rank.progress import OfTheWhole, Report, say_nothing
from neuroviz.rank.results import ExactMeasurement
from neuroviz.rank.rows import RowSpace

_BYTES = 64  # of memory for each entry of the silent directions, at the peak
_BYTES_BEFORE = 24  # of each of P² entries: before a measurement all P may be silent
# So many silent directions of so many parameters take about a second at most.
_DIRECTIONS_A_SECOND = 1200
_AT_ONCE = 256  # rows between two signs of life


@dataclass(frozen=True)
class KernelLedger:
    """parameters − Σ entries − unexplained = dimension.

    Attributes:
        network: whose ledger it is.
        parameters: all entries of all weights.
        entries: name of a family of symmetries → how many directions it adds to the
            families before it, as `symmetry_directions` names them.
        parts: the same, layer by layer: its numbers add up to the entry.
        unexplained: silent directions that belong to none of these symmetries.
        dimension: what remains.
        note: where the unexplained directions come from.
        measured: the measurement of the dimension, over all parameters.
        error_bound: the probability that random points made the dimension too small.
            The ranks of the families are those at one random point: where nothing is
            unexplained, their sum is right if the dimension is.
    """

    network: Network
    parameters: int
    entries: dict[str, int] = field(hash=False)
    parts: dict[str, tuple[int, ...]] = field(hash=False)
    unexplained: int
    dimension: int
    note: str
    measured: ExactMeasurement
    error_bound: float


def ledger_of(
    net: Network,
    measured: ExactMeasurement,
    budget: float = BUDGET_SECONDS,
    report: Report = say_nothing,
) -> KernelLedger:
    """What each symmetry costs, beside a dimension measured over all parameters.

    An entry is the exact rank of the directions of its family at a random network,
    beyond those of the families before it.

    Raises:
        ValueError: if there are too many silent directions for the memory or the
            budget.
    """
    limit = Budget(budget, "no ledger", "take fewer heads")
    parameters = num_parameters(net)
    check_memory(
        f"the silent directions of {net}", _BYTES * measured.kernel * parameters
    )
    seconds = measured.kernel**2 * parameters / _DIRECTIONS_A_SECOND**3
    if seconds > budget:
        raise ValueError(
            f"the {measured.kernel:,} silent directions of {net} would take about "
            f"{in_words(seconds)}, and the budget is {in_words(budget)}; raise budget, "
            "or take fewer heads or smaller sizes"
        )
    tell = OfTheWhole(report, [("symmetries", seconds)], limit.check)
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([measured.seed, over.p, 3])
    point = random_point(net, over, rng)
    weights = dict(point.weights)
    # The directions of some networks need constants, such as rotary angles, as well.
    for name, constant in point.constants.items():
        weights[name] = constant.value
    space = RowSpace(over, parameters)
    entries = {}
    parts = {}
    for name, of_the_layers in symmetry_directions(net, over, weights).items():
        added = [_added(space, rows, tell) for rows in of_the_layers]
        parts[name] = tuple(added)
        entries[name] = sum(added)
    tell.finish()

    unexplained = parameters - space.dimension - measured.value
    return KernelLedger(
        network=net,
        parameters=parameters,
        entries=entries,
        parts=parts,
        unexplained=unexplained,
        dimension=measured.value,
        note=_note(net, entries, unexplained, measured.value),
        measured=measured,
        error_bound=measured.error_bound,
    )


def check_room(net: Network) -> None:
    """Refuse, before anything is measured, a ledger for which there is no memory.

    Raises:
        ValueError: if there is none.
    """
    check_memory(
        f"the silent directions of {net}", _BYTES_BEFORE * num_parameters(net) ** 2
    )


def _added(space: RowSpace, rows: np.ndarray, report: Report) -> int:
    """How many directions these rows add to those before, with a sign of life now and
    then."""
    before = space.dimension
    for start in range(0, len(rows), _AT_ONCE):
        report("symmetries", space.dimension / rows.shape[1])
        space.add(rows[start : start + _AT_ONCE])
    return space.dimension - before


def _note(
    net: Network, entries: Mapping[str, int], unexplained: int, dimension: int
) -> str:
    if unexplained and not entries:
        return (
            "no symmetry of such a network is known here; what you know of it, "
            "register with neuroviz.attention.directions.symmetry_directions"
        )
    if unexplained:
        return cause_of_the_rest(net, entries, dimension) or (
            "these symmetries do not explain all of it, and no cause is known: please "
            "tell us"
        )
    names = [name for name, count in entries.items() if count]
    if not names:
        return "no direction is silent"
    if len(names) == 1:
        return f"{names[0]} explain every silent direction"
    return f"{', '.join(names[:-1])} and {names[-1]} explain every silent direction"


@singledispatch
def cause_of_the_rest(
    net: Network, entries: Mapping[str, int], dimension: int
) -> str | None:
    """What hides the directions that the symmetries do not explain; None where no cause
    is known.

    Args:
        net: a network with unexplained silent directions.
        entries: the ledger's, name of a family → directions.
        dimension: as measured.
    """
    return None


@cause_of_the_rest.register
def _cause_in_the_paper(
    net: Architecture, entries: Mapping[str, int], dimension: int
) -> str:
    """One token, rank-one collapse, and coordinates that no later layer sees.

    Each cause is named only where it costs something, by the general formula: with two
    tokens and no collapse there would be D dimensions, for lightning D − l.
    """
    # Softmax has no collapse: with two tokens its dimension is D (general_formula.md).
    without_collapse = replace(net, attention="softmax", tokens=2)
    generic = general_formula(without_collapse).value
    if net.attention == "lightning":
        generic -= net.num_layers
    causes = []
    if general_formula(net).value < generic:
        causes.append(hidden_by_tokens(net))
    # If later layers saw all widths, the symmetries would leave `generic` directions.
    if net.num_parameters - sum(entries.values()) > generic:
        causes.append(_hidden_between_layers(net))
    return "; ".join(causes)


def _hidden_between_layers(net: Architecture) -> str:
    said = "of the coordinates between layers only some reach the output"
    if net.tokens == 1:
        return said  # the numbers hold for two tokens or more
    numbers = []
    widths = zip(net.widths[1:-1], effective_widths(net)[1:-1], strict=True)
    for i, (width, seen) in enumerate(widths, start=1):
        if seen < width:
            numbers.append(f"{seen} of the {width} after layer {i}")
    return f"{said}: {', '.join(numbers)}"


def hidden_by_tokens(net: Architecture) -> str:
    """Why some part of A cannot be seen: a single token, or tokens that are
    parallel."""
    if net.tokens == 1 and net.attention == "softmax":
        return "one token attends to itself alone: no A is visible"
    if net.tokens == 1:
        return "one token sees xᵀAx only: the antisymmetric part of each A is hidden"
    layer = collapsing_layer(net)
    return hidden_after(layer, is_on_a_line=effective_widths(net)[layer - 1] == 1)


def hidden_after(layer: int, is_on_a_line: bool = False) -> str:
    """What parallel tokens after a layer hide, and why they are parallel."""
    what = f"{numbered('A', layer)} has rank one"
    if is_on_a_line:
        what = f"the tokens of layer {layer} lie on a line"
    return (
        f"{what}: after layer {layer} all tokens are parallel, so the antisymmetric "
        "part of later A is hidden"
    )
