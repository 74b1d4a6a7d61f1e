"""Measurements with a bar for the time left, each made once.

These are the functions of `neuroviz.rank` and the ledger, as notebooks and panels call
them. What was found is kept as long as Python runs: it depends on the arguments alone.
Networks that may change, because they are no frozen dataclasses, are measured anew.
"""

from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from typing import TypeVar

from neuroviz import rank
from neuroviz.attention.directions import symmetry_directions
from neuroviz.attention.ledger import KernelLedger, check_room, ledger_of
from neuroviz.kit.bar import showing
from neuroviz.rank.budget import Budget
from neuroviz.rank.checks import whole_number
from neuroviz.rank.cost import BUDGET_SECONDS
from neuroviz.rank.field import DEFAULT_PRIME, PrimeField
from neuroviz.rank.measure import answer
from neuroviz.rank.network import Network
from neuroviz.rank.progress import Report, say_nothing
from neuroviz.rank.question import ask, check_members
from neuroviz.rank.results import InputsCurve, Measurement

Progress = bool | Report | None
"""True for a bar with the time left, False for none, None for one where it takes some
seconds; or a function called as (what, part of the whole)."""
Found = TypeVar("Found")

_MOST = 4096  # results that are kept
_kept: dict[Hashable, object] = {}


def measure_dimension(
    net: Network,
    method: str = "exact",
    seed: int = 0,
    inputs: int | None = None,
    route: str | None = None,
    prime: int | None = None,
    budget: float | None = None,
    progress: Progress = None,
) -> Measurement:
    """The dimension of the set of a network's functions: the generic rank of the
    derivative weights ↦ outputs.

    `neuroviz.rank.measure_dimension` says what each method does.

    Args:
        net: an `Architecture`, or anything with the three members of a `Network`.
        method: "exact" or "float".
        seed: a whole number ≥ 0; the same seed gives the same measurement.
        inputs: observe so many inputs, all outputs of each, instead of enough of them.
        route: "slice" (columns across the symmetries' orbits, so that full rank is a
            proof; the default for exact, where the network has one) or "weights".
        prime: exact only: an odd prime below 2²³; another one is an independent check.
        budget: seconds, 600 if None; what takes more is refused, or ended. It never
            changes what is found, only whether something is.
        progress: True for a bar with the time left, False for none, None for one where
            it takes some seconds; or a function called as (what, part of the whole).

    Raises:
        ValueError: if an argument is none of the above, or the budget too small.

    >>> from neuroviz import Architecture, measure_dimension
    >>> found = measure_dimension(Architecture((3, 3, 1), (1, 3)))
    >>> found.value, found.status, found.prime
    (12, 'exact', 8388593)
    """
    question = ask(net, method, route, inputs, prime)
    seed = whole_number("seed", seed, least=0)
    # The question has filled in its defaults: left out or given, they are one key.
    arguments = (method, seed, question.inputs, question.route, question.prime)

    def work(report: Report | None) -> Measurement:
        return answer(question, seed, budget, report)

    return _once(net, arguments, budget, progress, work)


def rank_by_inputs(
    net: Network,
    seed: int = 0,
    prime: int = DEFAULT_PRIME,
    budget: float | None = None,
    progress: Progress = None,
) -> InputsCurve:
    """The exact rank on the first N inputs, all outputs of each, until one more adds
    nothing.

    Args:
        net, seed, prime, budget, progress: as in `measure_dimension`.

    Raises:
        ValueError: as in `measure_dimension`.

    >>> from neuroviz import Architecture
    >>> rank_by_inputs(Architecture((3, 3, 3, 3), (1, 1, 1))).ranks
    (5, 8, 11, 14, 17, 18, 19, 20, 21, 21)
    """
    check_members(net)
    seed = whole_number("seed", seed, least=0)
    prime = PrimeField(prime).p

    def work(report: Report | None) -> InputsCurve:
        return rank.rank_by_inputs(net, seed, prime, budget, report)

    return _once(net, ("by inputs", seed, prime), budget, progress, work)


def kernel_ledger(
    net: Network, seed: int = 0, budget: float | None = None, progress: Progress = None
) -> KernelLedger:
    """What each symmetry costs: parameters − Σ entries − unexplained = dimension, all
    measured.

    The dimension is the exact rank over all parameters; an entry is the exact rank of
    the directions of its family (`neuroviz.attention.directions`) at a random network,
    beyond those of the families before it. For t ≥ 2, in a bottleneck without rank-one
    collapse, nothing is unexplained ("The gauge slice"). Beyond the paper what is
    unexplained has a cause in the note only where one is known.

    Args:
        net: any network.
        seed: a whole number ≥ 0.
        budget, progress: as in `measure_dimension`; the symmetries count, too.

    Raises:
        ValueError: if the seed is not a whole number, or if the network is too large
            for the memory or the budget.

    >>> from neuroviz import Architecture
    >>> ledger = kernel_ledger(Architecture((4, 3, 5), (2, 2)))
    >>> ledger.parameters, ledger.entries, ledger.unexplained, ledger.dimension
    (55, {'head bases': 8, 'interfaces': 9, 'rescalings': 2}, 0, 36)
    >>> kernel_ledger(Architecture((3, 3, 3), (1, 2))).note
    'A₁ has rank one: after layer 1 all tokens are parallel,
    so the antisymmetric part of later A is hidden'
    """
    check_members(net)
    check_room(net)
    measured = measure_dimension(
        net, seed=seed, route="weights", budget=budget, progress=progress
    )
    seconds = BUDGET_SECONDS if budget is None else budget

    def work(report: Report | None) -> KernelLedger:
        return ledger_of(net, measured, seconds, report or say_nothing)

    # A ledger is another one once a reader has registered symmetries of the network.
    known = symmetry_directions.dispatch(type(net))
    ledger = _once(net, ("ledger", measured.seed, known), budget, progress, work)
    # What is kept is not handed out: its dictionaries can be changed.
    return replace(ledger, entries=dict(ledger.entries), parts=dict(ledger.parts))


def clear_cache() -> None:
    """Forget all results, for those who time them."""
    _kept.clear()


def _once(
    net: Network,
    arguments: tuple,
    budget: float | None,
    progress: Progress,
    work: Callable[[Report | None], Found],
) -> Found:
    """What the work finds, or found before."""
    if budget is not None:
        Budget(budget)  # an impossible one is refused, also where a result is kept
    with showing(progress) as report:
        if not _stays_as_it_is(net):
            return work(report)
        key = (net, *arguments)
        found = _kept.get(key)
        if found is None:
            found = work(report)
            if len(_kept) >= _MOST:  # the oldest goes
                _kept.pop(next(iter(_kept)), None)
            _kept[key] = found
        return found


def _stays_as_it_is(net: Network) -> bool:
    """Whether it is a frozen dataclass, without a dictionary or a list in it, that is
    equal to others only if all of its fields are."""
    made = getattr(type(net), "__dataclass_params__", None)
    if made is None or not (made.frozen and made.eq):
        return False
    if not all(field.compare for field in fields(net)):
        return False
    try:
        hash(net)
    except TypeError:
        return False
    return True
