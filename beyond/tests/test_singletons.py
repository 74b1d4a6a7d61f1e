"""Theorem B: relations between logits, the way to where two networks come apart, its
end, and the panel."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from panels import title

from neuroviz.rank.field import Reals
from neuroviz.softmax.two_tokens import attention, exponentials, logits, softmax_shares
from neuroviz_beyond.proofs.separation import find_ending
from neuroviz_beyond.proofs.uniqueness import study_singleton
from neuroviz_beyond.proofs.uniqueness_panel import SingletonExplorer
from neuroviz_beyond.proofs.weight_pairs import (
    CANDIDATES,
    Relations,
    UniquenessSetting,
    find_case,
    find_relations,
    two_networks,
)

RHOS = [
    Fraction(1, 3),
    Fraction(1, 2),
    Fraction(1),
    Fraction(2),
    Fraction(3),
    Fraction(5, 7),
]
REAL = [c for c in CANDIDATES if c != "the same"]


def setting_of(candidate="unrelated", rho=2, travel=1.0, **more):
    return UniquenessSetting(candidate, str(rho), travel, **more)


def pair_of(setting):
    exact = two_networks(setting)
    return exact, find_relations(*exact, setting.causal)


def relations_of(setting):
    return pair_of(setting)[1]


def outputs(weights, tokens, causal=False):
    """Token by token, from the definition of softmax."""
    for M in weights.M:
        new = []
        for i, x in enumerate(tokens):
            seen = tokens[: i + 1] if causal else tokens
            e = np.exp([y @ M @ x for y in seen])
            new.append(sum(w * y for w, y in zip(e / e.sum(), seen, strict=True)))
        tokens = new
    return np.stack([weights.L @ x for x in tokens], axis=1)


# Relations


@pytest.mark.parametrize(
    ("candidate", "causal", "symmetric", "independent", "words"),
    [
        ("unrelated", False, 1.0, 4, ()),
        ("same symmetric part", False, 1.0, 3, ("P′Q′ = (PQ)²",)),
        ("negative", False, 1.0, 2, ("P′ = P⁻²", "Q′ = Q⁻²")),
        ("positive", False, 1.0, 2, ("P′ = P²", "Q′ = Q²")),
        ("other M₂", False, 1.0, 2, ("P′ = P", "Q′ = Q")),
        ("same symmetric part", True, 1.0, 2, ()),
        ("negative", True, 1.0, 1, ("Q′ = Q⁻²",)),
        ("same symmetric part", False, 0.0, 2, ("PQ = 1", "P′Q′ = 1")),
        ("positive", False, 0.0, 1, ("PQ = 1", "P′ = P²", "Q′ = P⁻²")),
    ],
)
def test_the_logits_have_the_relations_of_the_proof_and_no_others(
    candidate, causal, symmetric, independent, words
):
    found = relations_of(setting_of(candidate, causal=causal, symmetric=symmetric))
    assert (found.independent, found.words) == (independent, words)


@pytest.mark.parametrize("candidate", CANDIDATES)
@pytest.mark.parametrize(
    ("causal", "symmetric"), list(product((False, True), (1.0, 0.3, 0.0)))
)
def test_relations_hold_at_random_tokens_and_there_are_no_more_of_them(
    candidate, causal, symmetric
):
    for rho in RHOS:
        setting = setting_of(candidate, rho, causal=causal, symmetric=symmetric)
        found = relations_of(setting)
        X = np.random.default_rng(1).standard_normal((40, 3, 2))
        both = [
            logits(Reals(), one.in_floats().M[0], X) for one in two_networks(setting)
        ]
        columns = np.stack(
            [form for p, q in both for form in ((q,) if causal else (p, q))]
        )
        rows = np.array([[float(c) for c in row] for row in found.rows]).reshape(
            -1, len(columns)
        )
        assert np.abs(rows @ columns).max(initial=0) < 1e-12 * np.abs(columns).max()
        if len(rows):  # a changed coefficient would be noticed
            rows[0, -1 if rows[0, -1] else 1] += 1e-3
            assert np.abs(rows @ columns).max() > 1e-6
        assert np.linalg.matrix_rank(columns, rtol=1e-9) == found.independent


def test_a_power_is_read_off_the_relations_only_if_they_are_those_of_a_multiple():
    one = Fraction(1)
    zero = Fraction(0)
    multiple = Relations(
        ("P", "Q", "P′", "Q′"),
        ((-2 * one, zero, one, zero), (zero, -2 * one, zero, one)),
    )
    assert multiple.power == 2
    for rows in (
        (),
        multiple.rows[:1],
        (multiple.rows[0], (zero, -3 * one, zero, one)),
        ((one, one, zero, zero), *multiple.rows),
    ):
        assert Relations(multiple.letters, rows).power is None


# The end of the way

MEET = {  # case → whether the columns of θ, of θ′ agree
    "A": (False, True),
    "B2": (False, True),
    "B1, ρ < 0": (True, True),
    "peel": (False, True),
}


@pytest.mark.parametrize("candidate", REAL)
@pytest.mark.parametrize("causal", [False, True])
def test_the_end_of_the_way_tells_them_apart_as_the_proof_says_for_100_seeds(
    candidate, causal
):
    expected = {
        "unrelated": "A",
        "same symmetric part": "A" if causal else "B2",
        "negative": "B1, ρ < 0",
        "positive": "B1, ρ > 0",
        "other M₂": "peel",
    }[candidate]
    for seed in range(100):
        layers = 1 + seed % 3
        rho = [r for r in RHOS if candidate != "positive" or r != 1][seed % 5]
        setting = setting_of(candidate, rho, layers=layers, causal=causal, seed=seed)
        exact, relations = pair_of(setting)
        case = find_case(setting, exact, relations)
        ending = find_ending(setting, case, relations, exact)
        assert case == expected
        assert not ending.same
        meet = (ending.left_meet, ending.right_meet)
        if case == "B1, ρ > 0":
            assert meet == (rho < 1, rho > 1)
        elif case == "peel" and layers == 1:
            assert meet == (False, False)
        elif case == "B1, ρ < 0" and causal:
            assert meet == (False, True)
        else:
            assert meet == MEET[case]


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"candidate": "the same"}, True),
        ({"candidate": "positive", "rho": Fraction(1)}, True),
        ({"candidate": "unrelated", "size": 0.0}, True),
        ({"candidate": "other M₂", "symmetric": 0.0}, True),
        ({"candidate": "other M₂", "symmetric": 0.0, "layers": 3}, True),
        ({"candidate": "other M₂", "symmetric": 0.05}, False),
        ({"candidate": "other M₂", "symmetric": 0.0, "layers": 1}, False),
        ({"candidate": "other M₂", "symmetric": 0.0, "causal": True}, False),
        ({"candidate": "negative", "symmetric": 0.0}, False),
        (
            {
                "candidate": "negative",
                "symmetric": 0.0,
                "rho": Fraction(1),
                "causal": True,
            },
            False,
        ),
    ],
)
def test_two_functions_are_the_same_exactly_if_they_are_in_floats(change, same):
    """Where a hypothesis fails there are second preimages, and nowhere else."""
    for seed in range(5):
        study = study_singleton(setting_of(**change, seed=seed))
        assert study.ending.same == same and not study.ending.same != same
        assert (study.functions_apart < 1e-12) == same


def test_a_third_token_tells_apart_what_two_cannot():
    """So for t ≥ 3 an antisymmetric M_1 is no second preimage."""
    x, y, z = np.random.default_rng(0).standard_normal((3, 3))
    setting = setting_of("other M₂", symmetric=0.0)
    pair = [one.in_floats() for one in two_networks(setting)]
    for third, same in ((y, True), (z, False)):
        one, other = (outputs(weights, [x, y, third]) for weights in pair)
        assert (np.abs(one - other).max() < 1e-12) == same
    assert study_singleton(setting).ending.same


def test_which_hypothesis_fails_is_said():
    assert setting_of(symmetric=0.0, size=0.0).failing == ("L ≠ 0", "Sym M₁ ≠ 0")
    assert setting_of(symmetric=0.0, causal=True).failing == ()
    assert setting_of("negative", Fraction(1), symmetric=0.0, causal=True).failing == (
        "Sym M₁ ≠ 0",
    )
    assert setting_of("negative", Fraction(2), symmetric=0.0, causal=True).failing == ()
    assert setting_of(symmetric=0.05, size=0.05).failing == ()


def test_the_ending_sees_a_pair_that_is_given_a_wrong_case():
    """The exact comparison is one: with the case of another candidate its answer
    changes."""
    setting = setting_of("same symmetric part")
    exact, relations = pair_of(setting)
    assert find_ending(setting, "B2", relations, exact).right_meet
    assert not find_ending(setting, "outside", relations, exact).right_meet
    tied = Relations(relations.letters, ((*map(Fraction, (1, 1, 0, 0)),),))
    # had PQ been 1, θ would collapse
    assert find_ending(setting, "outside", tied, exact).left_meet


# The way


@pytest.mark.parametrize("candidate", CANDIDATES)
@pytest.mark.parametrize("causal", [False, True])
def test_the_way_begins_at_the_truth_and_keeps_the_relations(candidate, causal):
    for rho in (Fraction(1, 3), Fraction(2)):
        setting = setting_of(candidate, rho, 0.0, layers=3, causal=causal)
        study = study_singleton(setting)
        for side, weights in zip(
            (study.left, study.right), two_networks(setting), strict=True
        ):
            X = np.array([[-0.7, 0.6], [0.3, -0.4], [0.5, -0.1]])
            truth = softmax_shares(weights.in_floats().M, X, causal=causal)
            np.testing.assert_allclose(
                np.array(side.shares), np.array(truth, dtype=float), atol=1e-12
            )
        for travel in (0.0, 0.1, 0.3, 0.45, 0.6, 0.8):
            study = study_singleton(replace(setting, travel=travel))
            logs = []
            for side in (study.left, study.right):
                P, Q = exponentials(side.shares[0])
                logs += [Q] if causal else [P, Q]
            if 0 in logs:
                continue  # frozen: no logarithms are left to compare
            logs = np.log(logs)
            for row in study.relations.rows:
                assert abs(np.array(row, dtype=float) @ logs) < 1e-6 * max(
                    1, np.abs(logs).max()
                )
                # other exponentials do not
                off = logs * (1 + 1e-3 * np.arange(1, len(logs) + 1))
                assert abs(np.array(row, dtype=float) @ off) > 1e-4


@pytest.mark.parametrize("candidate", REAL)
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_picture_ends_as_the_exact_comparison_does(candidate, causal, layers):
    for rho, symmetric in (
        (Fraction(1, 3), 1.0),
        (Fraction(2), 1.0),
        (Fraction(3), 0.0),
    ):
        study = study_singleton(
            setting_of(
                candidate, rho, layers=layers, causal=causal, symmetric=symmetric
            )
        )
        assert (study.left.gap < 1e-12) == study.ending.left_meet
        assert (study.right.gap < 1e-12) == study.ending.right_meet


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("rho", [Fraction(1, 3), Fraction(2)])
def test_a_token_runs_away_and_one_network_sees_it_where_it_was(rho, causal):
    """Step 5: the first layers draw it in, by 1 + mP and by 1 + mP^ρ."""
    token, waiting, ratios = (1, [], []) if causal else (0, [], [])
    for travel in (0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        study = study_singleton(setting_of("positive", rho, travel, causal=causal))
        holds, comes = (
            (study.left, study.right) if rho > 1 else (study.right, study.left)
        )
        waiting.append(holds.places[1, token])
        ratios.append(
            abs(np.subtract(*comes.places[1])) / abs(np.subtract(*holds.places[1]))
        )
        for side in (holds, comes):
            if travel < 1:  # what is drawn is what the layer does
                np.testing.assert_allclose(
                    side.places[0] @ attention(Reals(), side.shares[0]),
                    side.places[1],
                    atol=1e-6,
                )
            else:
                assert np.isinf(side.places[0]).sum() == 1
    np.testing.assert_allclose(waiting, waiting[0], atol=1e-12)
    assert ratios[-1] == 0 and all(
        a > b for a, b in zip(ratios[1:], ratios[2:], strict=False)
    )


def test_peeling_freezes_the_first_layer_and_then_moves_the_second():
    frozen = study_singleton(setting_of("other M₂", travel=0.5, layers=3))
    assert frozen.moved == 1 and frozen.left.shares[0] == frozen.right.shares[0] == (
        0,
        0,
    )
    later = study_singleton(setting_of("other M₂", travel=0.75, layers=3))
    assert later.moved == 2 and later.left.shares[1] != later.right.shares[1]
    assert later.left.shares == frozen.left.shares


def test_the_room_that_relations_leave_is_that_of_their_number():
    def room(**change):
        study = study_singleton(setting_of(**change))
        return study.left.allowed, study.right.allowed

    assert room(candidate="unrelated") == ("all", "all")
    assert room(candidate="same symmetric part") == ("all", "curve")
    assert room(candidate="positive") == ("all", "point")
    assert room(candidate="same symmetric part", symmetric=0.0) == ("curve", "curve")
    assert room(candidate="positive", causal=True) == ("all", "point")
    assert room(candidate="other M₂") == ("all", "all")  # the second layers


def test_the_curve_is_that_of_the_relation():
    study = study_singleton(setting_of("same symmetric part"))
    product_ = np.prod(exponentials(study.left.shares[0]))
    for one in study.right.curve:
        assert np.prod(exponentials(one)) == pytest.approx(product_**2, rel=1e-6)


# The two functions


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("candidate", CANDIDATES)
def test_the_functions_are_as_far_apart_as_the_definition_says(candidate, causal):
    setting = setting_of(candidate, layers=2, causal=causal, seed=3)
    theta, other = (one.in_floats() for one in two_networks(setting))
    apart = 0.0
    for X in np.random.default_rng([3, 9]).standard_normal((50, 3, 2)):
        one, two = (outputs(weights, X.T, causal) for weights in (theta, other))
        apart = max(apart, np.abs(one - two).max())
    assert study_singleton(setting).functions_apart == pytest.approx(
        apart, rel=1e-9, abs=1e-14
    )


def test_an_unknown_candidate_is_refused():
    with pytest.raises(ValueError, match="candidate is one of 'unrelated'"):
        setting_of("M")


# The panel

PANEL = SingletonExplorer
OTHER = "not the same function"
SECOND = "a second preimage"


def test_a_control_without_a_say_is_disabled(panel):
    for state, expected in (
        ("", set()),
        ("candidate=unrelated", {"rho"}),
        ("candidate=unrelated;causal=yes", {"rho"}),
        ("symmetric=0", {"travel"}),
        ("candidate=negative;symmetric=0;causal=yes;rho=2", set()),
    ):
        panel.reset()
        panel.state = state
        assert {
            name for name, control in panel.controls.items() if control.disabled
        } == expected


@pytest.mark.parametrize(
    ("state", "badge", "words"),
    [
        (
            "candidate=unrelated;travel=1",
            "proved here · Theorem B, step 2",
            "Step 2: no relation binds",
        ),
        (
            "candidate=unrelated;travel=1",
            "exact · end: columns agree for θ′ only",
            OTHER,
        ),
        ("travel=0.4", "Theorem B, step 3", "the only relation is P′Q′ = (PQ)²"),
        ("travel=1", "Theorem B, step 3", "those of θ′ 0."),
        ("candidate=positive", "Theorem B, step 5", "runs away"),
        (
            "candidate=positive;symmetric=0",
            "outside hypotheses · Theorem B needs Sym M₁ ≠ 0",
            "always meet",
        ),
        (
            "size=0",
            "outside hypotheses · Theorem B needs L ≠ 0",
            "A second preimage: modulo",
        ),
        (
            "candidate=positive;rho=1",
            "Theorem B<",
            "ρ = 1 makes M₁′ = M₁: θ′ is θ. Choose another ρ",
        ),
        (
            "candidate=other M₂;layers=1",
            "Theorem B, step 6",
            "no second layer, so it is L′ that is another",
        ),
        (
            "candidate=other M₂;symmetric=0",
            "needs Sym M₁ ≠ 0",
            "A second preimage: modulo",
        ),
        (
            "candidate=other M₂;symmetric=0;causal=yes;travel=1",
            "Theorem A′, step 3",
            OTHER,
        ),
    ],
)
def test_badges_and_words_follow_the_hypotheses_and_the_steps(
    panel, state, badge, words
):
    panel.state = state
    assert badge in title(panel) and words in panel.description
    assert (SECOND[2:] in panel.description) == ("A second" in words)
