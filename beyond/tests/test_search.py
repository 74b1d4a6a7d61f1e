"""Searching a fibre: what is found is there, what is known to be there is found, and
the panel shows it."""

from dataclasses import replace
from functools import cache, partial

import mpmath
import numpy as np
import pytest
from count import count_fiber
from definition import Residue, output
from panels import PATIENCE, headlines, title, trace
from scipy.optimize import least_squares

from neuroviz.attention.layer import Pair, function_table
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import VirtualWeights, as_network, virtual_weights
from neuroviz.kit.plot import make
from neuroviz.rank.elimination import exact_rank
from neuroviz.rank.field import PrimeField, Reals
from neuroviz.rank.point import num_parameters
from neuroviz_beyond.search.cases import SearchSetting, study_search
from neuroviz_beyond.search.descent import Misfit, _least_squares, descend
from neuroviz_beyond.search.equivalent_weights import (
    LAYERS_SWAPPED,
    RESCALED,
    SAME,
    SHUFFLED,
    SWAPPED,
    UNEXPLAINED,
    comparable,
    distance,
    known_equivalents,
    shuffled,
)
from neuroviz_beyond.search.initial_guesses import draw
from neuroviz_beyond.search.local_coordinates import (
    Chart,
    chart_at,
    flat,
    narrow,
    tangent_map,
)
from neuroviz_beyond.search.panel import SearchExplorer, search_parts
from neuroviz_beyond.search.search import VERIFIED, search_fiber
from neuroviz_beyond.search.units import fitting_units
from neuroviz_beyond.transformers import Block, Transformer
from neuroviz_beyond.transformers.evaluate import forward, random_weights

J = np.array([[0.0, 1.0], [-1.0, 0.0]])


def rng(seed=0):
    return np.random.default_rng(seed)


def random(arch, seed=5):
    return random_weights(Reals(), arch, rng(seed))


def disagreement(attention, one, other, tokens, count=3, seed=9):
    """How far two points are from having one function, by the definition, token by
    token."""
    worst = 0.0
    for X in rng(seed).standard_normal((count, one.L.shape[1], tokens)):
        pair = []
        for virtual in (one, other):
            lists = [
                [layer[name].tolist() for name in "QKV"]
                for layer in by_layer(as_network(virtual))
            ]
            # mpmath's exponential does not overflow.
            pair.append(
                np.array(
                    output(attention, lists, X.T.tolist(), mpmath.exp), dtype=float
                )
            )
        worst = max(
            worst, float(np.abs(pair[0] - pair[1]).max() / np.abs(pair[0]).max())
        )
    return worst


@cache
def studied(setting):
    return study_search(setting)


def study(case, starts, kind="all"):
    return studied(SearchSetting(case, starts, kind))


def found(case, starts, kind="all"):
    return study(case, starts, kind).search


# What is known to be there is found, and what is found is there.


@pytest.mark.parametrize(
    ("case", "starts", "kind", "surely"),
    [
        ("softmax-1", 8, "all", {SAME}),
        ("softmax-2", 4, "all", {SAME}),
        ("softmax-3", 4, "all", {SAME}),
        ("softmax-turn-3", 8, "all", {SAME}),
        ("lightning-1", 10, "all", {RESCALED}),
        ("rank-one", 20, "all", {RESCALED, SWAPPED}),
        ("lightning-2", 24, "all", {RESCALED}),
        ("lightning-turn", 24, "swapped", {RESCALED, LAYERS_SWAPPED}),
        ("lightning-221", 20, "swapped", {SWAPPED}),
        ("lightning-331", 16, "swapped", {SWAPPED}),
        ("lightning-312", 20, "random", {RESCALED, SWAPPED}),
    ],
)
def test_every_known_point_is_found_and_every_point_found_has_the_function(
    case, starts, kind, surely
):
    """Where a single start ends may hang on rounding: one from near one point may also
    end in another."""
    search = found(case, starts, kind)
    arch = search.arch
    symmetries = [point.symmetry for point in search.classes]
    known = {one.symmetry for one in known_equivalents(arch.attention, search.target)}
    assert surely <= set(symmetries) <= known
    assert len(symmetries) == len(set(symmetries)) and search.continuum is None
    assert search.kernel == 0 and search.sigma_min > 1e-4
    assert sum(point.found for point in search.classes) == search.verified
    for point in search.classes:
        assert (
            disagreement(arch.attention, search.target, point.virtual, arch.tokens)
            < 1e-7
        )
        assert point.kernel == 0 and point.residual <= VERIFIED and point.radius < 1e-4
        assert (point.distance < 1e-4) == (point.symmetry in (SAME, RESCALED))
        wrong = VirtualWeights(
            point.virtual.L, (point.virtual.M[0] * 1.001 + 0.001, *point.virtual.M[1:])
        )
        # the check can fail
        assert disagreement(arch.attention, search.target, wrong, arch.tokens) > 1e-6


@pytest.mark.parametrize(
    ("case", "kernel"),
    [
        ("softmax-turn", 4),
        ("softmax-zero", 4),
        ("softmax-token", 4),
        ("lightning-collapse", 2),
    ],
)
def test_where_weights_are_free_the_search_says_so_and_reports_no_points(case, kernel):
    search = found(case, 8)
    assert search.classes == () and search.continuum.found == search.verified > 1
    assert search.kernel == kernel and search.continuum.kernel == (kernel, kernel)
    assert search.sigma_min < 1e-12 and search.continuum.farthest > 0.1
    assert "none isolated" in search.note and f"dimension {kernel}" in search.note
    ends = [one.virtual for one in search.outcomes if one.verified]
    attention = search.arch.attention
    tokens = search.arch.tokens
    assert distance(attention, ends[0], ends[1]) > 1e-3
    for virtual in (*ends[:3], search.continuum.example):
        assert disagreement(attention, search.target, virtual, tokens) < 1e-7


def test_at_a_boundary_point_the_kernel_is_larger_and_the_fibre_still_one_point():
    v, k, h = rng(1).standard_normal((3, 3))
    arch = Transformer((3, 1), (1,))
    weights = {"1.Q": k[None], "1.K": v[None], "1.V": h[:1, None] * v[None]}
    search = search_fiber(arch, weights, starts=16)
    assert search.kernel == 2  # d, of which the rescaling is one (Lemma A.3)
    assert search.continuum is None and [
        point.symmetry for point in search.classes
    ] == [RESCALED]


HEADS = Transformer.uniform(2, 2, 1, 3, "softmax", heads=2)


@pytest.mark.parametrize(
    ("arch", "kinds", "surely"),
    [
        (HEADS, ("random",), (SAME, SHUFFLED)),
        (
            Transformer((3, 2, 3), (1, 1), 2, "softmax", 2, causal=True),
            ("transposes",),
            (SAME,),
        ),
        (
            replace(HEADS, skip=True, block=Block(1, 1, biases=True, temperature=True)),
            ("near ρM",),
            (SAME,),
        ),
    ],
    ids=str,
)
def test_with_heads_the_points_found_are_those_of_theorem_h(arch, kinds, surely):
    search = search_fiber(arch, random(arch), starts=8, kinds=kinds)
    assert set(surely) <= {one.symmetry for one in search.classes} <= {SAME, SHUFFLED}
    assert search.continuum is None
    assert search.kernel == 0 and search.sigma_min > 1e-3
    for one in search.classes:
        again = shuffled(search.target, one.virtual)
        assert distance("softmax", again, one.virtual) < 1e-6 and one.kernel == 0
        assert (distance("softmax", search.target, one.virtual) < 1e-6) == (
            one.symmetry == SAME
        )


def test_where_condition_4_of_theorem_h_fails_unexplained_weights_are_found():
    """V₁ + V₂ = 0 and two tokens: −A and −V have the same function (remark 6)."""
    arch = replace(HEADS, tokens=2)
    weights = random(arch, 1)
    V = weights["1.V"][0]
    weights["1.V"] = np.stack([V, -V])
    search = search_fiber(arch, weights, starts=12, kinds=("near ρM",))
    assert UNEXPLAINED in {one.symmetry for one in search.classes}
    changed = {"1.Q": -weights["1.Q"], "1.V": -weights["1.V"]}
    negative = comparable(arch, weights, weights | changed)
    others = [one for one in search.classes if one.symmetry == UNEXPLAINED]
    for one in others:
        assert distance("softmax", shuffled(negative, one.virtual), one.virtual) < 1e-6


def test_a_search_that_finds_nothing_says_that_this_is_no_information(monkeypatch):
    # so that nothing is
    monkeypatch.setattr("neuroviz_beyond.search.search.VERIFIED", -1.0)
    search = study_search(SearchSetting("lightning-1", 3)).search
    assert search.verified == 0 and search.classes == ()
    assert search.note == "3 starts, none verified on fresh inputs: no information."


def test_with_too_few_inputs_networks_agree_by_accident_and_fresh_inputs_tell():
    arch = Transformer.uniform(2, 2, 1, 3, "softmax")
    weights = random(arch)
    X, fresh = rng(1).standard_normal((2, 1, 2, 3))
    misfit = Misfit(
        "softmax", X, forward(Reals(), "softmax", weights, X), eliminate=True
    )
    ends = [
        descend(arch, draw("random", arch, weights, rng(seed))[0], misfit)
        for seed in range(8)
    ]
    agree = [end for end, left in ends if left < 1e-6]
    assert agree
    right, *wrong = (
        forward(Reals(), "softmax", network, fresh) for network in (weights, *agree)
    )
    assert all(np.abs(output - right).max() > 1e-6 for output in wrong)


# Networks of other sizes


ONE, TWO_LAYERS = (Transformer.uniform(2, 2, layers, 3, "softmax") for layers in (1, 2))
BIASED = replace(HEADS, block=Block(1, 1, biases=True, temperature=True))
SIZES = [
    *(
        (arch, {f"1.{name}": size})
        for arch in (ONE, HEADS)
        for name, size in (("Q", 1e4), ("Q", 1e-4), ("Q", 1e8), ("V", 1e8), ("V", 1e-8))
    ),
    (TWO_LAYERS, {"2.V": 1e8}),
    (TWO_LAYERS, {"1.V": 1e8, "2.Q": 1e-8, "2.K": 1e-8}),
    (TWO_LAYERS, {"1.Q": 1e8, "2.Q": 1e8}),
    (HEADS, {"1.V": np.array([100, 1])[:, None, None]}),
    (BIASED, {"1.O": 1e8, "1.o": 1e8}),
    (BIASED, {"1.V": 1e8, "1.v": 1e8, "1.o": 1e8}),
    (BIASED, {"1.beta": 1e8, "1.Q": 1e-8, "1.q": 1e-8}),
    (BIASED, {"1.Q": 1e8, "1.q": 1e4, "1.v": 1e-4, "1.o": 1e-4}),
]


def of_other_sizes(arch, change, seed=5):
    """Random weights, of which some are so many times larger."""
    weights = random(arch, seed)
    return weights | {name: factor * weights[name] for name, factor in change.items()}


@pytest.mark.parametrize(("arch", "change"), SIZES, ids=str)
def test_a_search_is_right_for_weights_of_any_size(arch, change):
    """Saturated, kernels of 4 to 8 were seen where there are none."""
    weights = of_other_sizes(arch, change)
    search = search_fiber(arch, weights, starts=6, kinds=("near ρM",))
    assert search.kernel == 0 and search.sigma_min > 1e-4 and search.continuum is None
    assert search.verified and {one.symmetry for one in search.classes} <= {
        SAME,
        SHUFFLED,
    }
    given = comparable(arch, weights, weights)
    for one in search.classes:
        assert one.kernel == 0 and one.residual <= VERIFIED
    for one, other in zip(
        (given.L, *given.M), (search.target.L, *search.target.M), strict=True
    ):
        np.testing.assert_allclose(
            other, one, rtol=1e-9, atol=1e-12 * np.abs(one).max(initial=0.0)
        )
    same = [one for one in search.classes if one.symmetry == SAME]
    assert all(distance("softmax", given, one.virtual) < 1e-6 for one in same)


@pytest.mark.parametrize("size", [1e8, 1e-8])
def test_heads_that_no_input_shows_together_are_refused_at_once(size):
    with pytest.raises(ValueError, match="needs tokens that all heads tell apart"):
        search_fiber(
            TWO_LAYERS, of_other_sizes(TWO_LAYERS, {"1.V": size}), progress=pytest.fail
        )
    half = np.array([size, 1])[:, None, None]
    for name, said in (
        ("1.Q", "tokens that all heads tell apart"),
        ("1.V", "would not see all heads of layer 1"),
    ):
        with pytest.raises(ValueError, match=said):
            search_fiber(
                HEADS, of_other_sizes(HEADS, {name: half}), progress=pytest.fail
            )


@pytest.mark.parametrize(
    "arch",
    [ONE, TWO_LAYERS, HEADS, Transformer.uniform(3, 2, 3, 3, "softmax")],
    ids=str,
)
def test_networks_of_ordinary_sizes_are_searched_as_they_are(arch):
    for seed in range(20):
        assert set(fitting_units(arch, random(arch, seed))) == {1.0}


@pytest.mark.parametrize("name", ["1.q", "1.v", "1.o"])
def test_biases_that_no_input_shows_are_refused_at_once(name):
    change = {"1.o": 1e-6, "1.v": 1e-6} if name == "1.v" else {name: 1e6}
    with pytest.raises(
        ValueError, match="would not see all weights of layer 1.*biases"
    ):
        search_fiber(BIASED, of_other_sizes(BIASED, change), progress=pytest.fail)


def test_tensors_are_searched_as_the_numbers_that_they_hold():
    torch = pytest.importorskip("torch")
    weights = random(ONE)
    half = {}
    for name, matrix in weights.items():
        half[name] = torch.nn.Parameter(torch.tensor(matrix).bfloat16())
    exact = {name: matrix.detach().double().numpy() for name, matrix in half.items()}
    one, other = (search_fiber(ONE, each, starts=2) for each in (half, exact))
    np.testing.assert_array_equal(flat(one.target), flat(other.target))
    with pytest.raises(ValueError, match="finite weights; 1.V"):
        search_fiber(ONE, weights | {"1.V": np.inf * weights["1.V"]})


# How it is run.


def test_a_search_tells_its_progress():
    arch = Transformer.uniform(2, 2, 1, 3, "softmax")
    seen = []
    whole = search_fiber(
        arch, random(arch), starts=5, progress=lambda *counts: seen.append(counts)
    )
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5] and {
        total for _, total, _ in seen
    } == {5}
    assert seen[-1][2] == whole.verified


def test_more_starts_only_add_and_a_seed_is_a_search():
    arch = Transformer.uniform(2, 2, 1, 3, "softmax")
    few, more = (search_fiber(arch, random(arch), starts=n, seed=3) for n in (2, 4))
    for one, two in zip(few.outcomes, more.outcomes[:2], strict=True):
        np.testing.assert_array_equal(flat(one.virtual), flat(two.virtual))
    other = search_fiber(arch, random(arch), starts=2, seed=4)
    assert not np.array_equal(
        flat(few.outcomes[0].virtual), flat(other.outcomes[0].virtual)
    )


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"starts": True}, "whole number ≥ 1"),
        ({"kinds": ("lucky",)}, "lucky"),
        ({"kinds": 3}, "kinds of start.*got 3"),
        ({"kinds": [["random"]]}, "kinds of start"),
        ({"seed": "0"}, "seed must be a whole number ≥ 0; got '0'"),
        ({"progress": 3}, "progress is a function, or None; got 3"),
        ({"weights": ()}, "needs a dict with 1.Q of shape"),
        ({"weights": {"1.Q": np.eye(3)}}, r"1.Q of shape \(1, 2, 2\).*got \(3, 3\)"),
        ({"arch": "softmax"}, "needs an Architecture or a Transformer"),
        (
            {"arch": Transformer.uniform(2, 2, 1, heads=2)},
            "what Theorem H is about: softmax",
        ),
        (
            {"arch": Transformer((2, 4, 2), (2, 2), 3, "softmax", 2)},
            "in a bottleneck that the values fill",
        ),
    ],
)
def test_what_makes_no_search_is_refused(change, words):
    arch = Transformer.uniform(2, 2, 1, 3, "softmax")
    with pytest.raises(ValueError, match=words):
        search_fiber(**{"arch": arch, "weights": random(arch), "starts": 2} | change)


@pytest.mark.parametrize("attention", ["softmax", "lightning"])
def test_the_zero_function_is_refused(attention):
    arch = Transformer.uniform(2, 2, 1, 3, attention)
    weights = random(arch)
    with pytest.raises(ValueError, match="zero"):
        search_fiber(arch, weights | {"1.V": 0 * weights["1.V"]}, starts=2)


def test_settings_that_are_none_are_refused():
    for wrong in ({"case": "gpt"}, {"kind": "lucky"}, {"starts": 2.0}):
        with pytest.raises(ValueError, match="must be"):
            SearchSetting(**wrong)


# The coordinates, and the way down.

ARCHS = [
    Transformer((3, 2, 3), (2, 1), 3, "softmax"),
    Transformer((3, 2, 3), (2, 1)),
    Transformer.uniform(2, 2, 3),
    Transformer((3, 3, 1), (2, 1)),
]


@pytest.mark.parametrize("arch", ARCHS, ids=str)
def test_a_chart_has_as_many_coordinates_as_the_gauge_slice_and_loses_no_direction(
    arch,
):
    chart = chart_at(arch, random(arch))
    assert chart.size == num_parameters(arch.slice())
    X = rng(2).standard_normal((4, arch.widths[0], arch.tokens))
    wanted = forward(Reals(), arch.attention, random(arch), X)
    np.testing.assert_allclose(
        forward(Reals(), arch.attention, chart.centre, X), wanted, rtol=1e-9
    )
    # The virtual weights move as freely in a chart as with all weights, but for
    # rescaling.
    everything = Chart(arch, chart.centre, np.eye(arch.num_parameters))
    lost = arch.num_layers if arch.attention == "lightning" else 0
    rank = np.linalg.matrix_rank(tangent_map(everything), tol=1e-9)
    assert (
        np.linalg.matrix_rank(tangent_map(chart), tol=1e-9) == rank - lost == chart.size
    )


@pytest.mark.parametrize(
    "arch", [Transformer((2, 4, 3, 2), (3, 1, 5)), Transformer((3, 1, 2), (2, 2))]
)
def test_a_narrow_network_has_the_same_virtual_weights_also_where_values_lost_rank(
    arch,
):
    weights = random(arch)
    V = weights["1.V"]
    lost = np.outer(rng(3).standard_normal(len(V)), V[0])
    for given in (weights, weights | {"1.V": lost}):
        thin = narrow(arch, given)
        shapes = {name: matrix.shape for name, matrix in thin.items()}
        assert shapes == arch.slice().network.parameter_shapes
        one, other = (
            flat(virtual_weights(Reals(), network)) for network in (given, thin)
        )
        np.testing.assert_allclose(other, one, atol=1e-10 * np.abs(one).max())


@pytest.mark.parametrize("eliminate", [False, True])
@pytest.mark.parametrize("arch", ARCHS, ids=str)
def test_the_derivative_of_the_misfit_is_exact_with_and_without_the_last_matrix(
    arch, eliminate
):
    X = 0.5 * rng(1).standard_normal((6, arch.widths[0], arch.tokens))
    misfit = Misfit(
        arch.attention,
        X,
        forward(Reals(), arch.attention, random(arch, 1), X),
        eliminate,
    )
    chart = chart_at(arch, random(arch, 2), free_last=not eliminate)
    place = 0.1 * rng(3).standard_normal(chart.size)
    J_here = misfit.derivative(chart, place)
    for column, unit in zip(J_here.T, np.eye(chart.size), strict=True):
        ends = [misfit.value(chart, place + s * 1e-6 * unit) for s in (1, -1)]
        np.testing.assert_allclose(
            (ends[0] - ends[1]) / 2e-6, column, atol=1e-6 * np.abs(J_here).max()
        )


# Which equivalents are known.


def known_cases():
    g = rng(1).standard_normal
    v = g(3)
    return {
        "rank one": VirtualWeights(np.outer(g(2), g(3)), (np.outer(g(3), g(3)),)),
        "in the last layer": VirtualWeights(
            g((1, 3)), (g((3, 3)), np.outer(g(3), g(3)))
        ),
        "in the first layer": VirtualWeights(
            np.outer(g(2), v), (np.outer(g(3), g(3)), -2 * np.outer(v, v))
        ),
        "J first": VirtualWeights(g((2, 2)), (2.5 * J, g((2, 2)))),
        "J last": VirtualWeights(g((2, 2)), (g((2, 2)), -0.7 * J)),
        "J in the middle": VirtualWeights(g((2, 2)), (g((2, 2)), 1.2 * J, g((2, 2)))),
    }


@pytest.mark.parametrize("name", known_cases())
def test_every_known_equivalent_has_the_same_function_and_is_another_point(name):
    virtual = known_cases()[name]
    equivalents = known_equivalents("lightning", virtual)
    assert len(equivalents) == (3 if name == "J in the middle" else 2)
    for one in equivalents[1:]:
        # Three layers are of degree 27, and rounding grows with it; the next test is
        # exact.
        assert disagreement("lightning", virtual, one.virtual, 3) < (
            1e-9 if len(virtual.M) < 3 else 1e-4
        )
        assert distance("lightning", virtual, one.virtual) > 0.1


def test_a_swap_of_parallel_vectors_is_a_rescaling():
    h, k, v = rng(1).standard_normal((3, 3))
    for u, count in ((-2 * v, 1), (v + 0.1 * h, 2)):
        virtual = VirtualWeights(np.outer(h, v), (np.outer(u, k),))
        assert len(known_equivalents("lightning", virtual)) == count


@pytest.mark.parametrize(("depth", "place"), [(2, 0), (3, 0), (3, 1)])
def test_an_antisymmetric_layer_and_the_next_change_places_exactly(depth, place):
    p = 10007
    over = PrimeField(p)
    L, *M = over.random(rng(depth), (depth + 1, 2, 2))
    c = 3
    B = M[place + 1]
    M[place] = c * J
    det = int(
        over.reduce(over.reduce(B[0, 0] * B[1, 1]) - over.reduce(B[0, 1] * B[1, 0]))
    )
    factor = pow(c * c * pow(det, -1, p), 3 ** (depth - 2 - place), p)
    other = [*M[:place], B, c * J, *M[place + 2 :]]
    tokens = [
        [Residue(int(x), p) for x in token] for token in rng(1).integers(0, p, (3, 2))
    ]
    one, two, wrong = (
        output("lightning", of_residues(VirtualWeights(K, tuple(N)), p), tokens, None)
        for K, N in ((L, M), (over.reduce(L * factor), other), (L, other))
    )
    assert one == two != wrong


def test_generic_weights_have_no_known_equivalent_and_softmax_never_has():
    g = rng(2).standard_normal
    virtual = VirtualWeights(g((2, 2)), (g((2, 2)), g((2, 2))))
    turned = known_cases()["J first"]
    assert [one.symmetry for one in known_equivalents("lightning", virtual)] == [
        RESCALED
    ]
    assert [one.symmetry for one in known_equivalents("softmax", turned)] == [SAME]
    for one in (virtual, turned):  # the second because L has to be divided by det B
        assert (
            disagreement("lightning", one, VirtualWeights(one.L, one.M[::-1]), 3) > 1e-3
        )


# Counting over a prime field.


def of_residues(virtual, p):
    return [
        tuple(
            [[Residue(int(x) % p, p) for x in row] for row in layer[name]]
            for name in "QKV"
        )
        for layer in by_layer(as_network(virtual))
    ]


def test_one_layer_counted_by_outputs_and_by_coefficients_is_the_same():
    p = 3
    over = PrimeField(3)
    for seed in range(2):
        A, V = over.random(rng(seed), (2, 2, 2))
        assert A.any() and V.any()
        wanted = function_table(over, Pair(A, V), tokens=2)
        entries = (
            np.array(np.meshgrid(*[[-1.0, 0.0, 1.0]] * 4))
            .reshape(4, -1)
            .T.reshape(-1, 2, 2)
        )
        same = sum(
            np.array_equal(
                over.reduce(function_table(over, Pair(B, W), 2) - wanted), 0 * wanted
            )
            for B in entries
            for W in entries
        )
        # rescalings: p − 1
        assert count_fiber(p, VirtualWeights(V, (A,))).classes * (p - 1) == same


def hypotheses_hold(M, p):
    return round(np.linalg.det(M)) % p != 0 and bool(((M + M.T) % p).any())


@pytest.mark.parametrize("p", [3, 5])
def test_two_layers_have_one_point_as_proved_and_two_at_an_antisymmetric_one(
    p,
):
    over = PrimeField(p)
    seeds = range(20)
    draws = [over.random(rng(seed), (3, 2, 2)) for seed in seeds]
    generic = [
        d for d in draws if d[0].any() and all(hypotheses_hold(M, p) for M in d[1:])
    ][: 3 if p == 3 else 1]
    for L, *Ms in generic:
        assert count_fiber(p, VirtualWeights(L, tuple(Ms))).classes == 1
    L, _, B = generic[0]
    counted = count_fiber(p, VirtualWeights(L, (J, B)))
    assert counted.classes == 2
    tokens = [
        [[Residue(int(x), p) for x in token] for token in X]
        for X in rng(1).integers(0, p, (40, 2, 2))
    ]
    for X in tokens:
        outputs = [
            output("lightning", of_residues(one, p), X, None) for one in counted.points
        ]
        assert (
            outputs[0]
            == outputs[1]
            == output("lightning", of_residues(counted.target, p), X, None)
        )
    orders = sorted(
        exact_rank(over.reduce(one.M[0] + one.M[0].T), over) == 0
        for one in counted.points
    )
    assert orders == [False, True]  # J is first in one of them only


def test_rank_one_layers_have_two_points():
    u = np.array([1.0, 1.0])
    k = np.array([1.0, -1.0])
    one = VirtualWeights(np.array([[1.0, 0.0]]), (np.outer(u, k),))
    assert count_fiber(5, one).classes == 2
    # the boundary: u and v are one
    assert count_fiber(5, VirtualWeights(np.array([u]), one.M)).classes == 1


# The panel.


@pytest.fixture(scope="module")
def panel():
    panel = SearchExplorer(state="starts=10")
    yield panel
    panel.close()


def test_every_start_is_a_dot_where_it_ended():
    answer = study("lightning-221", 20, "swapped")
    figure = make(search_parts(answer))
    search = answer.search
    dots = [
        t
        for t in figure.data
        if t.type == "scatter" and t.name != "points of the fibre"
    ]
    drawn = {t.name: len(t.x) for t in dots}
    assert sum(drawn.values()) == 20 and drawn["no solution"] == 20 - search.verified
    wanted = [
        o
        for o in search.outcomes
        if o.point is not None and search.classes[o.point].symmetry == SWAPPED
    ]
    np.testing.assert_allclose(
        trace(figure, "other solutions").x, [o.distance for o in wanted]
    )
    assert len(trace(figure, "points of the fibre").x) == len(search.classes)
    (wash,) = [shape for shape in figure.layout.shapes if shape.layer == "below"]
    for name in ("other solutions", "the given weights again"):
        assert max(trace(figure, name).y, default=0) <= VERIFIED == wash.y1


def test_a_point_that_nothing_explains_is_shown_and_said(panel):
    answer = study("rank-one", 20)
    assert (
        headlines(make(search_parts(answer)))[0]
        == "2 points: given +  values and keys swapped"
    )
    (other,) = answer.search.others
    strange = replace(other, symmetry=UNEXPLAINED)
    given = tuple(point for point in answer.search.classes if point.is_given)
    wrong = replace(answer, search=replace(answer.search, classes=(*given, strange)))
    assert "unexplained" in headlines(make(search_parts(wrong)))[0]
    third = replace(
        answer, search=replace(answer.search, classes=(*given, other, strange))
    )
    assert "They DISAGREE" in panel._describe(
        third
    ) and "DISAGREE" not in panel._describe(answer)


def test_both_sets_of_weights_are_drawn_and_they_differ():
    answer = study("rank-one", 20)
    tiles = {
        t.name: np.array(t.z, dtype=float)
        for t in make(search_parts(answer)).data
        if t.type == "heatmap" and t.name
    }
    assert set(tiles) == {"L, given", "M₁, given", "L, other", "M₁, other"}
    assert np.abs(tiles["M₁, given"] - tiles["M₁, other"]).max() > 0.05
    target = answer.search.target.M[0]
    np.testing.assert_allclose(
        tiles["M₁, given"], target / np.linalg.norm(target), atol=1e-12
    )
    heads = {
        t.name: t.z
        for t in make(search_parts(study("softmax-heads", 20))).data
        if t.type == "heatmap"
    }
    for one, other in (("A₁", "A₂"), ("A₂", "A₁"), ("V₁", "V₂"), ("V₂", "V₁")):
        np.testing.assert_allclose(
            heads[f"{one}, given"], heads[f"{other}, other"], atol=1e-6
        )
    single = make(search_parts(study("softmax-1", 8)))
    assert not any(t.name.endswith("other") for t in single.data if t.type == "heatmap")


def test_the_words_say_what_a_search_can_and_cannot_do(panel):
    assert "Theorem 3.2" in title(panel) and "floating point" in title(panel)
    both = study("rank-one", 20)
    one = study("softmax-1", 8)
    assert "2 classes modulo rescaling" in panel._describe(
        both
    ) and "swapped" in panel._describe(both)
    assert "cannot prove it" in panel._describe(
        one
    ) and "cannot prove it" not in panel._describe(both)
    assert "did not find all" in panel._describe(study("rank-one", 3, "near"))
    assert headlines(make(search_parts(study("softmax-turn", 8))))[0].startswith(
        "a continuum"
    )
    nothing = study("lightning-331", 3, "transposes")
    assert "no information" in panel._describe(nothing)
    assert headlines(make(search_parts(nothing)))[:2] == [
        "nothing converged: no information",
        "no weights found",
    ]


def test_a_long_search_says_at_once_what_it_does_and_ends_with_the_same_answer():
    panel = SearchExplorer(state="starts=10")
    heard = []
    set_status = panel._set_status
    panel._set_status = lambda text, *rest, **of: (
        heard.append(text),
        set_status(text, *rest, **of),
    )
    panel.state = "case=softmax-zero"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    steps = [
        text.removeprefix("working … softmax, M₁ = 0: ")
        for text in heard
        if "of 10 starts" in text
    ]
    assert [step.split(", ")[0] for step in steps] == [
        f"{done} of 10 starts" for done in range(11)
    ]
    assert panel._shown.search.note == found("softmax-zero", 10).note
    before = panel.description
    panel.state = "case=softmax-2;starts=200"
    panel.cancel()
    assert panel.status.startswith("cancelled")
    assert panel.description == f"Of an earlier setting: {before}"
    panel.close()


@pytest.mark.parametrize("arch", ARCHS, ids=str)
def test_a_descent_goes_down_as_far_as_minpack_does(arch):
    X = 0.5 * rng(1).standard_normal((60, arch.widths[0], arch.tokens))
    misfit = Misfit(
        arch.attention,
        X,
        forward(Reals(), arch.attention, random(arch, 1), X),
        eliminate=False,
    )
    chart = chart_at(arch, random(arch, 2))
    place, left, _ = _least_squares(misfit, chart, 1e-12, 1e-14, 400)
    value, derivative = (partial(f, chart) for f in (misfit.value, misfit.derivative))
    scale = "jac" if arch.attention == "lightning" else 1.0
    given = {
        "method": "lm",
        "x_scale": scale,
        "ftol": 1e-12,
        "xtol": 1e-14,
        "max_nfev": 400,
    }
    other = np.linalg.norm(least_squares(value, 0 * place, derivative, **given).fun)
    assert left == pytest.approx(np.linalg.norm(value(place)), abs=1e-14)
    assert left <= 1.001 * other + 1e-9


def test_distance_sees_no_rescaling_of_lightning_and_every_one_of_softmax():
    g = rng(3).standard_normal
    virtual = VirtualWeights(g((2, 3)), (g((3, 3)), g((3, 3))))
    moved = VirtualWeights(
        virtual.L / ((-2.0) ** 3 * 0.5), (-2 * virtual.M[0], 0.5 * virtual.M[1])
    )
    assert disagreement("lightning", virtual, moved, 3) < 1e-12
    assert (
        distance("lightning", virtual, moved)
        < 1e-12
        < distance("softmax", virtual, moved)
    )
    assert distance("lightning", virtual, moved._replace(L=2 * moved.L)) > 0.1
