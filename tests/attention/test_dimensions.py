"""Dimensions of the paper's networks, against computations that share nothing with the
package."""

import random
from math import ceil

import mpmath
import numpy as np
import pytest
from architectures import random_architectures
from definition import RandomExponential, fractions, measure, residues

from neuroviz.attention import Architecture
from neuroviz.rank import measure_dimension, rank_by_inputs
from neuroviz.rank.field import SECOND_PRIME

BOTH = ("lightning", "softmax")
NOT_FULL = Architecture((3, 3, 1), (1, 3))  # rank 12 on a slice of 15
NOT_FULL_SOFTMAX = Architecture((5, 4, 1), (4, 1), attention="softmax")  # 38 of 39


def random_networks(count, seed):
    return [*random_architectures(count, seed)]


TINY = [
    ((2, 2), (1,), 2),
    ((2, 2), (3,), 2),  # a > d
    ((1, 1), (1,), 3),
    ((2, 1), (2,), 1),  # one token
    ((2, 1, 2), (1, 1), 2),
    ((1, 2, 1), (1, 2), 3),  # tokens on a line
    ((2, 2, 1), (1, 2), 2),  # rank-one collapse
    ((2, 1, 1), (1, 1), 3),
    ((2, 2, 2), (1, 2), 2),
    ((1, 2, 2), (2, 1), 1),
]
TINY_LIGHTNING = [Architecture(*sizes, "lightning") for sizes in TINY]
TINY_SOFTMAX = [Architecture(*sizes, "softmax") for sizes in TINY]


# Against the definition


@pytest.mark.parametrize("arch", TINY_LIGHTNING, ids=str)
def test_lightning_has_the_rank_of_the_definition_over_Q(arch):
    """Token by token in fractions, derivatives by dual numbers, rank by elimination
    over Q."""
    assert measure_dimension(arch).value == measure(arch, fractions(seed=1))


@pytest.mark.parametrize("arch", TINY_SOFTMAX, ids=str)
def test_softmax_has_the_rank_of_the_definition_with_a_random_exponential(arch):
    """A function that takes equal logits to equal values, whatever the reason that they
    are equal."""
    number = residues(2**31 - 1, seed=1)
    assert measure_dimension(arch).value == measure(
        arch, number, RandomExponential(number)
    )


@pytest.mark.parametrize("arch", TINY_SOFTMAX, ids=str)
def test_softmax_has_the_rank_of_the_definition_with_the_real_exponential(arch):
    """In 80 digits: no free exponentials, no prime, no theorem of Ax."""
    draw = random.Random(2)
    with mpmath.workdps(80):
        number = lambda: mpmath.mpf(draw.randint(-1000, 1000)) / 700
        is_zero = lambda x: abs(x) < 1e-40
        assert measure_dimension(arch).value == measure(
            arch, number, mpmath.exp, is_zero=is_zero
        )


def test_the_definition_can_disagree():
    """The checks above can fail: for the other kind of attention, and on a single
    input."""
    lightning, softmax = (Architecture((2, 2), (2,), 2, kind) for kind in BOTH)
    number = residues(2**31 - 1, seed=1)
    assert measure(lightning, number) == measure_dimension(softmax).value - 1 == 7
    assert measure(softmax, number, RandomExponential(number), inputs=1) < 8


# Against itself: primes, routes, seeds


def test_two_primes_two_routes_and_two_seeds_agree():
    for arch in random_networks(50, seed=11):
        (value,) = {
            measure_dimension(arch, seed=seed, route=route, prime=prime).value
            for seed, route, prime in [
                (0, "slice", SECOND_PRIME),
                (1, "weights", 1_000_003),
            ]
        }
        assert measure_dimension(arch).value == value, arch


@pytest.mark.parametrize("method", ["exact", "float"])
@pytest.mark.parametrize("arch", [NOT_FULL, NOT_FULL_SOFTMAX], ids=str)
def test_the_same_seed_gives_the_same_measurement(arch, method):
    first = measure_dimension(arch, method, seed=5)
    again = measure_dimension(arch, method, seed=5)
    assert first == again and first is not again
    if method == "float":
        assert (first.singular_values == again.singular_values).all()


def test_a_tiny_field_may_fall_short_and_never_goes_beyond():
    """A rank mod p is a lower bound, also where p is far too small; the error bound
    says so."""
    short = 0
    for arch in random_networks(60, seed=12):
        found = measure_dimension(arch, prime=3)
        true = measure_dimension(arch).value
        assert found.value <= true
        assert found.value == true or found.error_bound == 1.0
        short += found.value < true
    assert short > 5


# How many inputs


def test_more_equations_than_parameters_are_not_enough():
    """7 inputs give 63 equations for 45 parameters, and rank 19 of 21 (math: "How many
    inputs")."""
    arch = Architecture((3, 3, 3, 3), (1, 1, 1), 3)
    assert 7 * 9 > arch.num_parameters and measure_dimension(arch).value == 21
    for route in ("slice", "weights"):
        assert [
            measure_dimension(arch, inputs=n, route=route).value for n in (7, 8, 9)
        ] == [19, 20, 21]
    assert "only" in measure_dimension(arch, inputs=7).note


@pytest.mark.parametrize(
    "arch",
    [*TINY_LIGHTNING, *TINY_SOFTMAX, NOT_FULL, Architecture.uniform(4, 1, 3)],
    ids=str,
)
def test_what_one_more_input_adds_never_grows(arch):
    curve = rank_by_inputs(arch)
    increments = np.diff([0, *curve.ranks])
    assert (np.diff(increments) <= 0).all() and increments[-1] == 0
    assert curve.ranks[-1] == measure_dimension(arch).value
    assert (
        curve.ranks.index(curve.ranks[-1]) + 1 == curve.enough == len(curve.ranks) - 1
    )
    assert curve.ranks[0] <= curve.equations_per_input == arch.tokens * arch.widths[-1]
    for n, expected in enumerate(curve.ranks[:3], start=1):
        assert measure_dimension(arch, inputs=n, route="weights").value == expected


# What a measurement says about itself


def test_the_error_is_zero_exactly_at_full_rank_and_otherwise_a_small_probability():
    full = 0
    for arch in (NOT_FULL, NOT_FULL_SOFTMAX, *random_networks(60, seed=14)):
        for route in ("slice", "weights"):
            found = measure_dimension(arch, route=route)
            full += found.value == found.num_columns
            assert (found.error_bound == 0) == (found.value == found.num_columns)
            said = (
                f"rank {found.value} of {found.num_columns}"
                if found.error_bound
                else "full rank"
            )
            assert said in found.note and 0 <= found.error_bound < 1e-4
    assert 10 < full < 110


def test_an_exact_measurement_says_where_it_comes_from():
    found = measure_dimension(NOT_FULL, seed=3, prime=SECOND_PRIME)
    assert (found.method, found.status, found.prime, found.seed) == (
        "exact",
        "exact",
        SECOND_PRIME,
        3,
    )
    assert (found.route, found.num_columns, found.num_inputs) == ("slice", 15, 17)
    assert not any(
        hasattr(found, name)
        for name in ("singular_values", "gap", "decided", "certificate")
    )


def test_a_float_measurement_says_where_it_comes_from():
    found = measure_dimension(NOT_FULL, "float", seed=3)
    assert (found.method, found.status, found.seed, found.value) == (
        "float",
        "float",
        3,
        12,
    )
    assert not any(
        hasattr(found, name)
        for name in ("prime", "error_bound", "route", "certificate")
    )
    assert len(found.singular_values) == found.num_columns == NOT_FULL.num_parameters
    enough = rank_by_inputs(NOT_FULL, seed=3).enough
    assert found.num_inputs == enough + ceil(enough / 2) + 1, (
        "half as many again, and one"
    )
    assert found.decided and found.gap > 1e7
    assert found.singular_values[0] == 1 and (np.diff(found.singular_values) <= 0).all()
    with pytest.raises(ValueError, match="read-only"):
        found.singular_values[0] = 2
    few = measure_dimension(Architecture.uniform(4, 2, 2), "float", inputs=1)
    assert few.value == 10 and few.decided and "observed on 1 input only" in few.note
    assert len(few.singular_values) == 64 and not few.singular_values[12:].any()


# Deep networks


@pytest.mark.parametrize("attention", BOTH)
@pytest.mark.parametrize("a", [1, 2])
def test_two_dozen_layers_are_measured_exactly(a, attention):
    net = Architecture.uniform(2, a, 24, attention=attention)
    found = measure_dimension(net)
    assert found.value == measure_dimension(net, route="weights", seed=1).value
    # The spectrum of so deep a network says nothing.
    seen = measure_dimension(net, "float")
    assert not seen.decided and "undecided" in seen.note
    assert np.isfinite(seen.singular_values).all()


@pytest.mark.long
def test_a_float_rank_that_is_decided_is_the_exact_one():
    decided = asked = 0
    for net in random_networks(150, seed=15):
        found = measure_dimension(net, "float")
        assert not found.decided or found.value == measure_dimension(net).value, net
        if net.attention == "lightning" or min(net.widths[:-1]) > 1:
            decided += found.decided
            asked += 1
    assert decided > 0.9 * asked, "a measurement that hardly ever decides is of no use"
