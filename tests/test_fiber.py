"""Fibres of one layer: Theorems 3.2 and 3.9 and Lemma A.3, complete over small fields,
measured in floats."""

import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from fibers import outside

from neuroviz.attention import Architecture
from neuroviz.attention.layer import (
    TOLERANCE,
    Pair,
    fiber_case,
    function_table,
    kernel_dimension,
    outputs_of_layer,
    rescaled,
    same_function,
    swapped,
    with_antisymmetric_part,
)
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.rank.point import random_point
from neuroviz.single_layer.walk import (
    PRESETS,
    WALKS,
    FiberSetting,
    plane_of,
    study_fiber,
)

P = PrimeField()
BOTH = ("lightning", "softmax")
SIZES = [(1, 1), (1, 3), (2, 1), (2, 2), (4, 3)]


def random_pair(over, d, d_out, seed=0):
    arch = Architecture((d, d_out), (d,))
    weights = random_point(arch, over, np.random.default_rng(seed)).weights
    return Pair(over.matmul(weights["1.K"].T, weights["1.Q"]), weights["1.V"])


def rank_one(over, d, d_out, seed=0):
    """u, k, v, h of A = u kᵀ, V = h vᵀ."""
    rng = np.random.default_rng([seed, 1])
    return (*(over.random(rng, (d,)) for _ in range(3)), over.random(rng, (d_out,)))


def outer(over, u, k):
    return over.reduce(np.outer(u, k))


def outputs(over, pair, tokens, attention="lightning", inputs=12):
    X = over.random(np.random.default_rng(9), (inputs, len(pair.A), tokens))
    return outputs_of_layer(over, attention, pair, X)


def same_outputs(one, other, tokens):
    """On random inputs over a large prime field: the independent check of
    `same_function`."""
    return (outputs(P, one, tokens) == outputs(P, other, tokens)).all()


# Which weights have the same function


@pytest.mark.parametrize("tokens", [1, 2, 3])
@pytest.mark.parametrize(("d", "d_out"), SIZES)
def test_rescaling_and_swapping_leave_the_function_alone_exactly(d, d_out, tokens):
    pair = random_pair(P, d, d_out)
    for c in (-1, 2, 12345):
        other = rescaled(P, pair, c)
        assert same_function(P, "lightning", pair, other, tokens) and same_outputs(
            pair, other, tokens
        )
    u, k, v, h = rank_one(P, d, d_out)
    thin = Pair(outer(P, u, k), outer(P, h, v))
    other = swapped(P, thin)
    assert same_function(P, "lightning", thin, other, tokens) and same_outputs(
        thin, other, tokens
    )


@pytest.mark.parametrize(("d", "d_out"), [size for size in SIZES if size[0] > 1])
def test_swapping_queries_and_keys_is_no_symmetry_unless_there_is_one_token(d, d_out):
    u, k, v, h = rank_one(P, d, d_out)
    pair = Pair(outer(P, u, k), outer(P, h, v))
    other = Pair(outer(P, k, u), outer(P, h, v))
    queries_and_values = Pair(outer(P, u, v), outer(P, h, k))
    for changed in (other, queries_and_values):
        for tokens in (2, 3):
            assert not same_function(P, "lightning", pair, changed, tokens)
            assert not same_outputs(pair, changed, tokens)
        assert same_function(P, "lightning", pair, changed, 1) and same_outputs(
            pair, changed, 1
        )


@pytest.mark.parametrize(("d", "d_out"), [size for size in SIZES if size[0] > 1])
def test_one_token_does_not_see_the_antisymmetric_part_and_two_do(d, d_out):
    pair = random_pair(P, d, d_out)
    B = P.random(np.random.default_rng(3), (d, d))
    other = Pair(P.reduce(pair.A + B - B.T), pair.V)
    assert same_function(P, "lightning", pair, other, 1) and same_outputs(
        pair, other, 1
    )
    assert not same_function(P, "lightning", pair, other, 2) and not same_outputs(
        pair, other, 2
    )
    symmetric = Pair(P.reduce(pair.A + B + B.T), pair.V)
    assert not same_function(P, "lightning", pair, symmetric, 1) and not same_outputs(
        pair, symmetric, 1
    )


def all_matrices(p, rows, columns):
    half = p // 2
    entries = np.array(
        list(product(range(-half, half + 1), repeat=rows * columns)), dtype=float
    )
    return entries.reshape(-1, rows, columns)


def fiber_size(p, pair, tokens):
    """How many pairs over F_p have the table of this one: all are tried."""
    over, (d_out, d) = PrimeField(p), pair.V.shape
    target = function_table(over, pair, tokens)
    count = 0
    Vs = all_matrices(p, d_out, d)
    for A in all_matrices(p, d, d):
        for V in Vs:
            count += (function_table(over, Pair(A, V), tokens) == target).all()
    return count


def matrix(*rows):
    return np.array(rows, dtype=float)


# p, A, V, the size of the fibre for t ≥ 2 by Theorem 3.2
FIBERS = {
    "generic": (5, matrix([1, 2], [0, 1]), matrix([1, 2]), 4),
    "generic, V of rank one": (5, matrix([1, 0], [0, 2]), matrix([2, -1]), 4),
    "generic, A of rank one": (3, matrix([1, 1], [0, 0]), matrix([1, 0], [0, 1]), 2),
    "rank one": (5, matrix([0, 1], [0, 0]), matrix([0, 1]), 8),
    "rank one, u = k": (5, matrix([1, 0], [0, 0]), matrix([1, 1]), 8),
    "rank one, d′ = 2": (3, matrix([1, 1], [0, 0]), matrix([0, 1], [0, -1]), 4),
    "boundary": (5, matrix([0, 1], [0, 0]), matrix([2, 0]), 4),
    "d = 1": (7, matrix([3]), matrix([2]), 6),
    "V = 0": (5, matrix([1, 2], [0, 1]), matrix([0, 0]), 5**4 + 5**2 - 1),
    "A = 0": (5, matrix([0, 0], [0, 0]), matrix([1, 0]), 5**4 + 5**2 - 1),
}


@pytest.mark.parametrize("name", FIBERS)
def test_the_fibre_has_the_points_of_the_theorem_and_no_others(name):
    """Theorem 3.2; its proof works over every field, so all points over F_p can be
    counted."""
    p, A, V, size = FIBERS[name]
    assert fiber_size(p, Pair(A, V), tokens=2) == size
    case = fiber_case(PrimeField(p), Pair(A, V))
    assert case == {"V = 0": "zero", "A = 0": "zero", "d = 1": "boundary"}.get(
        name, name.split(",")[0]
    )
    if name == "generic, V of rank one":
        # each with p antisymmetric parts
        assert fiber_size(p, Pair(A, V), tokens=1) >= size * p


@pytest.mark.parametrize("c", [1e-6, 1.0, 1e6])
def test_a_rescaled_layer_is_of_the_same_case(c):
    """However much larger than V it makes A."""
    over = Reals()
    u, k, v, h = rank_one(over, 3, 2)
    cases = {
        "generic": random_pair(over, 3, 2),
        "rank one": Pair(np.outer(u, k), np.outer(h, v)),
        "boundary": Pair(np.outer(v, k), np.outer(h, v)),
    }
    for case, pair in cases.items():
        assert fiber_case(over, rescaled(over, pair, c)) == case


@pytest.mark.parametrize("tokens", [2, 3])
def test_a_softmax_layer_determines_its_weights(tokens):
    pair = random_pair(Reals(), 3, 2)
    for other in (
        rescaled(Reals(), pair, 1.1),
        Pair(-pair.A, -pair.V),
        with_antisymmetric_part(pair, 0.1),
    ):
        assert not same_function(Reals(), "softmax", pair, other, tokens)
        apart = outputs(Reals(), pair, tokens, "softmax") - outputs(
            Reals(), other, tokens, "softmax"
        )
        assert np.abs(apart).max() > 1e-3
    assert same_function(Reals(), "softmax", pair, pair, tokens)


def test_softmax_does_not_see_a_where_v_is_zero_or_the_token_is_alone():
    one, other = (random_pair(Reals(), 3, 2, seed) for seed in (0, 1))
    nothing = 0 * one.V
    assert same_function(
        Reals(), "softmax", Pair(one.A, nothing), Pair(other.A, nothing), 2
    )
    assert same_function(Reals(), "softmax", one, Pair(other.A, one.V), 1)
    assert not same_function(Reals(), "softmax", one, Pair(one.A, other.V), 1)


def test_the_swap_keeps_the_length_of_a_and_returns():
    u, k, v, h = rank_one(Reals(), 4, 2)
    pair = Pair(np.outer(u, k), np.outer(h, v))
    there = swapped(Reals(), pair)
    assert np.linalg.norm(there.A) == pytest.approx(np.linalg.norm(pair.A))
    assert np.vdot(there.A, pair.A) > 0
    for again, before in zip(swapped(Reals(), there), pair, strict=True):
        np.testing.assert_allclose(again, before)
    with pytest.raises(ValueError, match="rank one"):
        swapped(Reals(), random_pair(Reals(), 3, 2))


# The kernel of the differential


@pytest.mark.parametrize(("d", "d_out"), [size for size in SIZES if size[0] > 1])
def test_the_kernel_has_the_dimensions_of_lemma_a3(d, d_out):
    rng = np.random.default_rng(5)
    u, k, v, h = rank_one(P, d, d_out)
    generic = random_pair(P, d, d_out)
    V = outer(P, h, v)

    def kernel(pair, tokens=2):
        return kernel_dimension(P, "lightning", pair, tokens, rng)

    assert kernel(generic) == 1
    assert kernel(Pair(outer(P, u, k), V)) == 1
    assert kernel(Pair(outer(P, v, k), V)) == d
    # the common form on the queries: not the condition
    assert kernel(Pair(outer(P, k, v), V)) == 1
    assert kernel(Pair(generic.A, 0 * V)) == d * d
    assert kernel(Pair(0 * generic.A, V)) == d * d_out
    assert kernel(Pair(0 * generic.A, 0 * V)) == d * d + d * d_out
    assert kernel(generic, tokens=1) == 1 + d * (d - 1) // 2
    # xᵀAx = 0: one token sees no V
    antisymmetric = Pair(P.reduce(generic.A - generic.A.T), generic.V)
    assert (kernel(antisymmetric), kernel(antisymmetric, tokens=1)) == (
        1,
        d * d_out + d * (d - 1) // 2,
    )


@pytest.mark.parametrize(("d", "d_out"), [(2, 1), (3, 3)])
def test_the_float_kernel_is_the_exact_one_and_softmax_has_none(d, d_out):
    rng = np.random.default_rng(6)
    u, k, v, h = rank_one(Reals(), d, d_out)
    cases = [
        (random_pair(Reals(), d, d_out), 1),
        (Pair(np.outer(v, k), np.outer(h, v)), d),
    ]
    for pair, expected in cases:
        assert kernel_dimension(Reals(), "lightning", pair, 2, rng) == expected
        assert kernel_dimension(Reals(), "softmax", pair, 2, rng) == 0
        assert kernel_dimension(Reals(), "softmax", pair, 1, rng) == d * d
    assert (
        kernel_dimension(
            Reals(), "softmax", Pair(u[:, None] * k, 0 * np.outer(h, v)), 2, rng
        )
        == d * d
    )


def test_at_the_boundary_the_kernel_is_larger_than_the_fibre():
    """(v + εw)(v − εw) = v² − ε²w²: no change to first order, and yet another
    function."""
    _, k, v, h = rank_one(P, 3, 2)
    w = P.random(np.random.default_rng(7), (3,))
    here = Pair(outer(P, v, k), outer(P, h, v))
    there = Pair(P.reduce(here.A + outer(P, w, k)), P.reduce(here.V - outer(P, h, w)))
    back = Pair(P.reduce(here.A - outer(P, w, k)), P.reduce(here.V + outer(P, h, w)))
    assert not same_function(P, "lightning", here, there, 2)
    assert same_function(P, "lightning", there, back, 2)  # no linear term


# Walks and steps


def settings():
    for preset, attention, tokens, walk in product(PRESETS, BOTH, (1, 2, 3), WALKS):
        for swap, negative in product((False, True), (False, True)):
            if (
                preset == "zero"
                and (walk != "rescale" or swap)
                or swap
                and preset != "rank-one"
            ):
                continue
            for along in (0.8, 1.2):
                yield FiberSetting(
                    preset, attention, along, 0.0, tokens, 3, 2, walk, swap, negative
                )


def allowed(s):
    """Theorem 3.2, Theorem 3.9 and "One token", written out."""
    if s.attention == "softmax":
        if s.preset == "zero":
            return s.along <= 1  # on the way to A = 0; then V grows
        return s.tokens == 1 and s.walk != "rescale" and not s.swap and not s.negative
    return (
        s.preset == "zero"
        or s.walk == "rescale"
        or s.walk == "antisymmetric"
        and s.tokens == 1
    )


@pytest.mark.long
def test_a_walk_leaves_the_outputs_alone_exactly_where_the_theorems_allow_it():
    seen = {True: 0, False: 0}
    for setting in settings():
        study = study_fiber(setting)
        assert (
            study.stays
            == allowed(setting)
            == (study.walked <= TOLERANCE)
            == study.same_outputs
        ), setting
        assert study.walked <= 1e-12 or study.walked > 1e-2, setting
        seen[study.stays] += 1
    assert min(seen.values()) > 50


@pytest.mark.parametrize("direction", ["plane", "random"])
@pytest.mark.parametrize("preset", ["generic", "rank-one"])
@pytest.mark.parametrize(
    ("d", "d_out", "tokens"), [(1, 1, 2), (2, 3, 2), (3, 3, 4), (5, 1, 3)]
)
def test_off_the_fibre_first_order_along_it_second(preset, direction, d, d_out, tokens):
    setting = FiberSetting(
        preset, along=0.5, tokens=tokens, width=d, width_out=d_out, direction=direction
    )
    study = study_fiber(setting)
    assert study.along.slope == pytest.approx(2, abs=0.02)
    assert study.aside.slope == pytest.approx(1, abs=0.05)
    softmax = study_fiber(replace(setting, attention="softmax"))
    assert softmax.along.slope == pytest.approx(1, abs=0.05)
    assert softmax.aside.slope == pytest.approx(1, abs=0.05)


def test_no_slope_where_a_line_lies_in_the_fibre():
    for setting in (
        FiberSetting(tokens=1, walk="antisymmetric"),
        FiberSetting("zero", along=0.4),
        FiberSetting(attention="softmax", tokens=1, walk="a-alone"),
        FiberSetting(width=1, walk="antisymmetric"),
    ):
        study = study_fiber(setting)
        assert study.along.slope is None and max(study.along.distances) < 1e-12
        assert study.aside.slope == pytest.approx(1, abs=0.05)


def test_at_the_crossing_even_a_step_off_is_of_second_order():
    study = study_fiber(FiberSetting("zero", along=1.0))
    assert not study.base.A.any() and not study.base.V.any()
    assert study.aside.slope == pytest.approx(2, abs=1e-3)
    assert study.kernel == study.start.A.size + study.start.V.size
    assert study_fiber(replace(study.setting, along=0.9)).aside.slope == pytest.approx(
        1, abs=0.1
    )


def test_the_places_are_coordinates_in_the_plane_of_the_start():
    study = study_fiber(FiberSetting(along=1.0, off=0.3))
    start, base, now = study.places
    assert start == (1.0, 1.0) and base == (2.0, 0.5) and outside(study) == 0
    plane = plane_of(study.setting)
    np.testing.assert_allclose(study.now.A, now[0] * plane.A, atol=1e-9)
    np.testing.assert_allclose(study.now.V, now[1] * plane.V, atol=1e-9)
    assert np.hypot(now[0] - base[0], now[1] - base[1]) == pytest.approx(0.3)
    # At a right angle to the curve xy = 1, whose tangent at (2, 1/2) is (4, −1).
    assert np.dot(np.subtract(now, base), (4, -1)) == pytest.approx(0, abs=1e-9)
    assert outside(study_fiber(FiberSetting(off=0.3, direction="random"))) > 0.1


@pytest.mark.parametrize("angle", [0, 20, 60, 75])
def test_the_other_branch_casts_its_shadow_on_a_hyperbola_of_its_own(angle):
    for along in (-1.0, 0.0, 1.0):
        study = study_fiber(
            FiberSetting("rank-one", swap=True, along=along, angle=angle)
        )
        x, y = study.places[1]
        assert (
            x * y
            == pytest.approx(study.shadow)
            == pytest.approx(np.cos(np.radians(angle)) ** 2)
        )
        assert (outside(study) > 0) == (angle > 0)
        assert study.case == ("boundary" if angle == 0 else "rank one")
        assert study.kernel == (3 if angle == 0 else 1)


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize(("apart", "is_same"), [(3e-10, True), (3e-9, False)])
def test_layers_less_than_a_billionth_apart_are_the_same(attention, apart, is_same):
    A = np.array([[1.0, 2.0], [0.5, -1.0]])
    V = np.array([[1.0, -0.5]])
    other = Pair((1 + apart) * A, V)
    assert same_function(Reals(), attention, Pair(A, V), other, 3) == is_same


def test_typed_entries_are_where_the_walk_begins():
    setting = FiberSetting(entries="A11=3, A12=-1 V21=2 A55=4")
    drawn = plane_of(FiberSetting())
    typed = plane_of(setting)
    assert typed.A[0, 0] / typed.A[0, 1] == pytest.approx(-3)
    assert typed.A[1, 1] / typed.A[2, 2] == pytest.approx(drawn.A[1, 1] / drawn.A[2, 2])
    assert [np.linalg.norm(M) for M in typed] == pytest.approx([1, 1])


def test_the_angle_of_typed_entries_is_measured():
    entries = "A11=1 A12=2 A21=0 A22=0 V11=1 V12=1 V21=2 V22=2"
    study = study_fiber(FiberSetting("rank-one", width=2, width_out=2, entries=entries))
    assert study.angle == pytest.approx(45) and study.case == "rank one"
    assert study.shadow == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("preset", "entries", "missing"),
    [
        ("rank-one", "A11=5", "take the layer “generic”"),
        ("generic", "V11=0 V12=0 V21=0 V22=0", "A or V is 0"),
        ("generic", "A16=1", "columns up to 5; got 'A16=1'"),
        ("generic", "Q11=1", "such as A12=0.5 V21=-1"),
    ],
)
def test_entries_that_are_no_start_say_what_is_missing(preset, entries, missing):
    with pytest.raises(ValueError, match=re.escape(missing)):
        study_fiber(FiberSetting(preset, width=2, width_out=2, entries=entries))
