"""Every formula against a measurement, and what it says where it has no right to
speak."""

import itertools

import numpy as np
import pytest
from architectures import random_architectures
from differentials import P, jacobian_rank, random_matrix, units, virtual_rank
from texts import MATHEMATICS, headings

from neuroviz.attention import Architecture
from neuroviz.attention.expected import alpha, sigma
from neuroviz.attention.formulas import (
    collapsing_layer,
    effective_widths,
    expected_dimension,
    general_formula,
    paper_formula,
)
from neuroviz.kit.measured import measure_dimension

BOTH = ("lightning", "softmax")


TOO_WIDE = "inner widths at most the first and the last"

# One hypothesis fails, and it is named.
OUTSIDE = [
    ("Cor. 3.3", Architecture((3, 3), (2,), 1), "t ≥ 2 (there is one token)"),
    ("Cor. 3.8", Architecture((3, 2, 3), (2, 2), 1), "t ≥ 2 (there is one token)"),
    ("Cor. 3.8", Architecture((3, 3, 3), (1, 2)), "2 ≤ a₁ ≤ d₀ (a₁ = 1, d₀ = 3)"),
    ("Cor. 3.8", Architecture((3, 3, 3), (2, 1)), "2 ≤ a₂ ≤ d₁ (a₂ = 1, d₁ = 3)"),
    ("Cor. 3.8", Architecture((3, 3, 3), (4, 2)), "2 ≤ a₁ ≤ d₀ (a₁ = 4, d₀ = 3)"),
    ("Cor. 3.8", Architecture((3, 2, 3), (2, 3)), "2 ≤ a₂ ≤ d₁ (a₂ = 3, d₁ = 2)"),
    (
        "Cor. 3.8",
        Architecture((4, 3, 2, 4), (2, 2, 2)),
        "equal inner widths (they are 3, 2)",
    ),
    (
        "Cor. 3.8",
        Architecture((2, 3, 2), (2, 2)),
        f"{TOO_WIDE} (δ = 3, d₀ = 2, d₂ = 2)",
    ),
    (
        "Cor. 3.8",
        Architecture((3, 3, 2), (2, 2)),
        f"{TOO_WIDE} (δ = 3, d₀ = 3, d₂ = 2)",
    ),
    (
        "Cor. 3.8",
        Architecture((3, 1, 3), (2, 2)),
        # no network misses the first alone
        "δ ≥ 2 (an inner width is 1); 2 ≤ a₂ ≤ d₁ (a₂ = 2, d₁ = 1)",
    ),
    (
        "Thm. 3.9",
        Architecture((3, 3), (2,), 1, "softmax"),
        "t ≥ 2 (there is one token)",
    ),
    (
        "Eq. 16",
        Architecture((3, 2, 3), (2, 2), 1, "softmax"),
        "t ≥ 2 (there is one token)",
    ),
    (
        "Eq. 16",
        Architecture((4, 3, 2, 4), (2, 2, 2), 3, "softmax"),
        "equal inner widths (they are 3, 2)",
    ),
    (
        "Eq. 16",
        Architecture((2, 3, 3), (2, 2), 3, "softmax"),
        f"{TOO_WIDE} (δ = 3, d₀ = 2, d₂ = 3)",
    ),
]

INSIDE = [
    ("Cor. 3.3", "proved", Architecture((3, 3), (2,), 2)),
    ("Cor. 3.3", "proved", Architecture((1, 1), (1,))),
    ("Cor. 3.3", "proved", Architecture((2, 4), (5,))),
    ("Cor. 3.8", "proved", Architecture((3, 2, 3), (2, 2), 2)),
    ("Cor. 3.8", "proved", Architecture((5, 3, 3, 4), (4, 2, 3))),
    ("Thm. 3.9", "proved", Architecture((3, 3), (2,), 2, "softmax")),
    ("Thm. 3.9", "proved", Architecture((2, 1), (5,), 3, "softmax")),
    (
        "Eq. 16, Corollary A",
        "proved here",
        Architecture((3, 2, 3), (2, 2), 2, "softmax"),
    ),
    (
        "Eq. 16, Corollary A",
        "proved here",
        Architecture((3, 1, 3), (1, 4), 3, "softmax"),
    ),
    (
        "Eq. 16, Corollary A",
        "proved here",
        Architecture((4, 3, 3, 3, 4), (1, 5, 2, 3), 2, "softmax"),
    ),
]


# The general formula and the measurement


@pytest.mark.parametrize("seed", range(2))
def test_the_general_formula_is_the_measured_dimension_of_any_network(seed):
    """Corollary A and Theorem C."""
    for arch in random_architectures(150, seed):
        assert general_formula(arch).value == measure_dimension(arch, prime=P).value, (
            arch
        )


def wrong(formula):
    """On how many of 100 random networks a formula is not the measured dimension."""
    return sum(
        formula(one) != measure_dimension(one, prime=P).value
        for one in random_architectures(100, 0)
    )


def without_effective_widths(arch):
    d = arch.widths
    rescalings = arch.num_layers * (arch.attention == "lightning")
    values = (
        sum(d[i] * (d[i - 1] - d[i]) for i in range(1, arch.num_layers)) + d[-1] * d[-2]
    )
    return values + sum(alpha(a, d_in) for d_in, _, a in arch.layers) - rescalings


def without_rescaling(arch):
    return general_formula(arch).value + arch.num_layers * (
        arch.attention == "lightning"
    )


def without_collapse(arch):
    softmax = Architecture(arch.widths, arch.head_dims, max(2, arch.tokens), "softmax")
    return general_formula(softmax).value - arch.num_layers * (
        arch.attention == "lightning"
    )


@pytest.mark.parametrize(
    "formula", [without_effective_widths, without_rescaling, without_collapse]
)
def test_a_formula_that_forgets_something_disagrees_with_the_measurement(formula):
    assert wrong(lambda arch: general_formula(arch).value) == 0 < 5 < wrong(formula)


# The pieces of the formula


@pytest.mark.parametrize("d", range(1, 6))
@pytest.mark.parametrize("a", range(1, 7))
def test_alpha_and_sigma_are_ranks_of_differentials(a, d):
    """Of (Q, K) ↦ KᵀQ (Lemma 3.1), and of its symmetric part."""
    rng = np.random.default_rng([a, d])
    Q = random_matrix(rng, a, d)
    K = random_matrix(rng, a, d)
    moved = [dK.T @ Q + K.T @ dQ for dQ, dK in units((a, d), (a, d))]
    assert alpha(a, d) == jacobian_rank([A.ravel() for A in moved])
    assert sigma(a, d) == jacobian_rank([(A + A.T).ravel() for A in moved])


def test_D_counts_the_virtual_weights():
    """Lemma D: no network, no tokens, only the map from weights to (L, M₁ … M_l)."""
    small = [
        arch for arch in random_architectures(80, seed=7) if arch.num_parameters <= 90
    ]
    assert len(small) > 30
    for arch in small:
        softmax = Architecture(arch.widths, arch.head_dims, 2, "softmax")
        one_token = Architecture(arch.widths, arch.head_dims, 1, "lightning")
        assert general_formula(softmax).value == virtual_rank(arch, symmetric=False), (
            arch
        )
        assert general_formula(one_token).value + arch.num_layers == virtual_rank(
            arch, symmetric=True
        ), arch


@pytest.mark.parametrize(
    ("widths", "head_dims", "layer"),
    [
        ((3, 3, 3), (1, 2), 1),
        ((3, 3, 3), (2, 1), None),  # the last layer has nothing after it
        ((3, 3, 3, 3), (2, 1, 1), 2),
        ((3, 1, 3, 3), (2, 2, 2), 2),  # width one is rank one
        ((3, 3), (1,), None),
    ],
)
def test_the_collapsing_layer_is_the_first_of_rank_one_that_has_a_successor(
    widths, head_dims, layer
):
    arch = Architecture(widths, head_dims)
    assert collapsing_layer(arch) == layer
    if layer:
        rank_one = f"A{'₀₁₂₃'[layer]} has rank one"
        on_a_line = f"tokens of layer {layer} lie on a line"
        assert (on_a_line if widths[layer - 1] == 1 else rank_one) in general_formula(
            arch
        ).note
    # σ(1, w) = α(1, w): with rank one everywhere the symmetric parts are as many.
    assert "costs nothing here" in general_formula(Architecture((3, 3, 3), (1, 1))).note
    assert "costs nothing" not in general_formula(Architecture((3, 3, 3), (1, 2))).note


# Formulas under their own names


@pytest.mark.parametrize(
    ("source", "status", "arch"), INSIDE, ids=lambda value: str(value)
)
def test_inside_its_hypotheses_a_formula_answers_under_its_own_name(
    source, status, arch
):
    named = paper_formula(arch)
    assert (named.source, named.status) == (source, status)
    assert expected_dimension(arch) == named
    assert named.value == measure_dimension(arch, prime=P).value
    assert ("not peer-reviewed" in named.note) == (status == "proved here")


@pytest.mark.parametrize(
    ("source", "arch", "failing"), OUTSIDE, ids=lambda value: str(value)
)
def test_outside_its_hypotheses_a_formula_names_which_fails_and_another_answers(
    source, arch, failing
):
    named = paper_formula(arch)
    assert (named.status, named.note) == (
        "outside hypotheses",
        f"{source} needs {failing}",
    )
    expected = expected_dimension(arch)
    general = general_formula(arch)
    assert (expected.status, expected.source) == ("proved here", general.source)
    assert expected.value == general.value == measure_dimension(arch, prime=P).value
    assert failing in expected.note and general.note in expected.note


def hypotheses_hold(arch) -> bool:
    """The hypotheses as the mathematics states them, once more."""
    inner = set(arch.widths[1:-1])
    narrow = len(inner) <= 1 and all(
        delta <= min(arch.widths[0], arch.widths[-1]) for delta in inner
    )
    if arch.attention == "softmax" or arch.num_layers == 1:
        return arch.tokens >= 2 and narrow
    ranks = all(2 <= a <= d_in for d_in, _, a in arch.layers)
    return arch.tokens >= 2 and narrow and min(inner) >= 2 and ranks


SMALL = [
    Architecture(widths, head_dims, tokens, attention)
    for depth, largest in ((1, 4), (2, 3), (3, 2))
    for widths in itertools.product(range(1, largest + 1), repeat=depth + 1)
    for head_dims in itertools.product(range(1, largest + 1), repeat=depth)
    for tokens in (1, 2)
    for attention in BOTH
]


def test_a_formula_speaks_exactly_where_its_hypotheses_hold():
    """There the general formula agrees; elsewhere the bare pattern is often wrong, so
    it may not answer."""
    wrong = 0
    for arch in SMALL:
        named = paper_formula(arch)
        general = general_formula(arch)
        answer = expected_dimension(arch)
        holds = hypotheses_hold(arch)
        assert (named.status != "outside hypotheses") == holds, arch
        if holds:
            assert named.value == general.value, arch
        wrong += not holds and named.value != general.value
        assert (answer.status == "proved") == (
            answer.source in {"Cor. 3.3", "Cor. 3.8", "Thm. 3.9"}
        ), arch
        assert answer.status in {"proved", "proved here"} and answer.note
    assert wrong > len(SMALL) // 8


@pytest.mark.parametrize("ask", [expected_dimension, paper_formula, general_formula])
def test_what_is_no_architecture_is_refused(ask):
    with pytest.raises(
        ValueError, match=f"{ask.__name__} needs an Architecture; got list"
    ):
        ask([3, 3])


def test_every_source_is_a_heading_of_the_mathematics():
    """`Expected.source` names what a reader can look up in docs/mathematics and
    beyond/docs."""
    named = [words for path in MATHEMATICS for _, words in headings(path)]
    sources = {
        ask(arch).source
        for arch in SMALL
        for ask in (expected_dimension, paper_formula)
    }
    assert len(sources) == 7, sources
    for item in {part for source in sources for part in source.split(", ")}:
        in_full = item.replace("Cor.", "Corollary").replace("Thm.", "Theorem")
        assert any(in_full in heading for heading in named), f"no heading for {item}"


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
def test_formulas_of_very_deep_networks_are_at_once_what_they_say(attention):
    """Each formula by hand, also the general one for widths that fall and rise."""
    depth = 10**5
    lost = 10**5 if attention == "lightning" else 0
    d, a = 12_288, 128  # GPT-3's width and head dimension
    wide = expected_dimension(Architecture.uniform(d, a, 96, attention="softmax"))
    assert (wide.value, wide.source) == (
        d * d + 96 * a * (2 * d - a),
        "Eq. 16, Corollary A",
    )
    deep = Architecture.uniform(4, 2, depth, attention=attention)
    assert expected_dimension(deep).value == 12 * depth + 16 - lost
    thin = Architecture.uniform(1, 1, depth, attention=attention)
    assert general_formula(thin).value == depth + 1 - lost
    falls = tuple(range(2000, 0, -1))
    uneven = Architecture(
        (*falls, *falls[::-1]), tuple(1 + i % 7 for i in range(3999)), 3, attention
    )
    # What falls to 1 stays there; A₁ has rank one, and lightning collapses.
    seen = (*falls, *[1] * 1999)
    count = alpha if attention == "softmax" else sigma
    values = sum(falls[1:]) + 2000
    heads = alpha(1, 2000) + sum(map(count, uneven.head_dims[1:], seen[1:]))
    lost = 3999 if attention == "lightning" else 0
    assert expected_dimension(uneven).value == values + heads - lost
    for arch in (deep, thin, uneven):
        for said in (expected_dimension(arch).note, paper_formula(arch).note):
            assert len(said) < 600


def test_the_general_formula_names_the_widths_that_are_seen_where_they_are_fewer():
    for arch in random_architectures(60, seed=5):
        if arch.attention == "softmax" and arch.tokens > 1:
            assert ("can be seen" in general_formula(arch).note) == (
                effective_widths(arch) != arch.widths
            )
