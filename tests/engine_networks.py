"""The engine's networks in the rooms that will replace it, compared; until it goes."""

from neuroviz.attention import Architecture
from neuroviz.engine import measure as engine
from neuroviz.rank import measure_dimension, rank_by_inputs


def paper_network(arch):
    """An engine's architecture without variants."""
    assert arch.is_plain
    return Architecture(arch.widths, arch.head_dims, arch.tokens, arch.attention)


def check_against_the_engine(arch, net):
    """Exact ranks on each route, bounds of the error, curves, and decided floats.

    Returns what may differ: how many bounds are better, and which floats are decided.
    """
    better = 0
    for route in ("slice", "weights") if arch.is_plain else (None,):
        theirs = engine.measure_dimension(arch, route=route)
        ours = measure_dimension(net, route=route, seed=1)
        for name in ("value", "num_columns", "route", "status"):
            assert getattr(ours, name) == getattr(theirs, name), (net, route, name)
        assert ours.error_bound <= theirs.error_bound, (net, route)
        better += ours.error_bound < theirs.error_bound
    exact = ours.value

    theirs = engine.rank_by_inputs(arch)
    ours = rank_by_inputs(net)
    assert ours.ranks == theirs.ranks and ours.enough == theirs.enough, net
    assert ours.error_bound <= theirs.error_bound, net
    better += ours.error_bound < theirs.error_bound

    theirs = engine.measure_dimension(arch, method="float")
    ours = measure_dimension(net, method="float")
    assert not ours.decided or ours.value == exact, net
    return better, ours.decided, theirs.decided
