"""What plays by itself: it slows down where something happens, and holds."""

import itertools

import node
import numpy as np
import pytest

HOLD = 1.1

_PACE = """
import { nextStop, pace, withMiddles } from "kit/motion";
const { start, moments, seconds, times } = given;
const shareAt = pace(start, moments, seconds);
const stops = [start];
while (stops.at(-1)! < 1) stops.push(nextStop(stops.at(-1)!, moments));
say({ shares: times.map(shareAt), stops, middles: withMiddles(moments) });
"""


def played(start, moments, seconds=6.0):
    """Times, the shares there, the stops of who wants no motion, and the middles."""
    times = np.arange(0, seconds + HOLD * len(moments) + 2, 0.01)
    given = {
        "start": start,
        "moments": moments,
        "seconds": seconds,
        "times": times.tolist(),
    }
    found = node.ask(_PACE, given)
    return times, np.array(found["shares"]), found["stops"], found["middles"]


@pytest.mark.parametrize(
    "start, moments", [(0.0, [0.25, 0.6]), (0.3, [0.25, 0.6]), (0.0, [0.5, 0.5, 0.52])]
)
def test_a_walk_holds_at_its_moments_and_nowhere_else(start, moments):
    times, shares, stops, _ = played(start, moments)
    ahead = sorted({one for one in moments if one > start})
    assert (np.diff(shares) >= 0).all()
    assert shares[0] == start
    assert shares[-1] == 1
    stands = [share for share, same in itertools.groupby(shares) if len(list(same)) > 5]
    assert stands == [*ahead, 1]
    for moment in ahead:
        held = times[shares == moment]
        assert held[-1] - held[0] == pytest.approx(HOLD, abs=0.03)
        # It slows down before, and speeds up after.
        (first,) = np.flatnonzero(shares == moment)[:1]
        steps = np.diff(shares[first - 10 : first])
        assert steps[-1] < steps[0]
    assert stops == [start, *ahead, 1]


def test_a_walk_without_moments_is_even():
    times, shares, stops, _ = played(0.0, [])
    moving = shares < 1
    np.testing.assert_allclose(shares[moving], times[moving] / 6, atol=1e-9)
    np.testing.assert_allclose(stops, np.arange(11) / 10)


def test_the_last_stop_is_the_end():
    *_, stops, _ = played(0.96, [])
    assert stops == [0.96, 1]


def test_between_moments_there_are_middles():
    *_, middles = played(0.0, [0.2, 0.6, 0.0, 1.0])
    np.testing.assert_allclose(middles, [0.1, 0.2, 0.4, 0.6, 0.8])


def test_a_walk_may_hold_before_it_begins():
    times, shares, stops, _ = played(0.0, [0.0, 0.5])
    assert (shares[times < HOLD] == 0).all()
    assert (shares[times > HOLD + 0.1] > 0).all()
    assert stops == [0, 0.5, 1]
