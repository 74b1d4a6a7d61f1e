"""A formula put to the test: members are measured, and the first counterexample is
found."""

import re

import pytest

import neuroviz_beyond as nb
from neuroviz.kit.measured import measure_dimension
from neuroviz_beyond.formula.expression import parse_formula
from neuroviz_beyond.formula.families import FAMILIES, Sizes
from neuroviz_beyond.formula.family import (
    FamilySetting,
    status_of_family,
    study_family,
    try_formula,
)
from neuroviz_beyond.transformers.formulas import expected_dimension

WITH_FORMULA = [family for family in FAMILIES.values() if family.known]


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_every_member_is_measured_and_the_formula_is_evaluated_there(family):
    study = study_family(FamilySetting(family.name, "2*a*d + d**2"))
    assert [verdict.sizes for verdict in study.verdicts] == list(family.members)
    for verdict in study.verdicts:
        at = verdict.sizes
        found = measure_dimension(family.architecture(verdict.sizes))
        said = 2 * at.head_dim * at.width + at.width**2
        assert (verdict.measured, verdict.proposed, verdict.difference) == (
            found,
            said,
            said - found.value,
        )


@pytest.mark.parametrize(
    "family", WITH_FORMULA, ids=[family.name for family in WITH_FORMULA]
)
def test_the_known_formula_is_what_theory_says_and_what_is_measured(family):
    formula = parse_formula(family.known)
    for sizes in family.members:
        assert (
            formula(**sizes.values)
            == expected_dimension(family.architecture(sizes)).value
        )
    study = study_family(FamilySetting(family.name, family.known))
    assert not study.wrong and study.first is None
    off = study_family(FamilySetting(family.name, f"{family.known} + 1"))
    assert off.wrong == off.verdicts and {
        verdict.difference for verdict in off.verdicts
    } == {1}


def test_what_is_known_has_the_status_of_the_member_about_which_least_is_known():
    for family in FAMILIES.values():
        values = {
            expected_dimension(family.architecture(sizes)).value
            for sizes in family.members
        }
        assert (None in values) == (not family.known)
    statuses = {
        name: status_of_family(family).status for name, family in FAMILIES.items()
    }
    assert (statuses["lightning"], statuses["token"], statuses["heads"]) == (
        "proved",
        "proved here",
        "proved here",
    )
    assert statuses["heads-many"] == "no formula"
    heads = FAMILIES["heads"]  # one head is proved in the paper, several are here
    assert {
        expected_dimension(heads.architecture(sizes)).status for sizes in heads.members
    } == {
        "proved",
        "proved here",
    }


def test_the_first_counterexample_is_the_smallest_network():
    # right without the skip
    study = study_family(FamilySetting("skip", "d**2 + l*(alpha(a, d) - 1)"))
    assert study.first == study.wrong[0]
    assert FAMILIES["skip"].name_of(study.first.sizes) == "d = 1, a = 1, l = 2"


def test_heads_are_as_many_as_the_family_says():
    assert all(sizes.heads <= sizes.width for sizes in FAMILIES["heads"].members)
    assert all(sizes.heads > sizes.width for sizes in FAMILIES["heads-many"].members)
    kinds = {
        name: FAMILIES[name].architecture(FAMILIES[name].members[-1])
        for name in FAMILIES
    }
    assert {name for name, arch in kinds.items() if arch.skip} == {
        "skip",
        "skip-softmax",
    }
    assert {name for name, arch in kinds.items() if arch.causal} == {
        "causal",
        "causal-softmax",
    }
    assert all(
        (arch.attention == "softmax") == ("softmax" in name)
        for name, arch in kinds.items()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"family": "rotary"}, "a family is one of lightning"),
        ({"formula": "2*a*d +"}, "Python cannot read this"),
        ({"formula": "d/2"}, "gives 0.5 at d = 1, a = 1, t = 2"),
        (
            {"formula": "1/(d - 2)"},
            "no value at d = 2, a = 1, t = 2: float division by zero",
        ),
        ({"formula": "9**9**9"}, "no value at d = 1"),
        ({"formula": "(0 - 8)**(1/2) < d"}, "no value at d = 1"),
        ({"formula": "10**12 + 1"}, "up to 10¹²"),
    ],
)
def test_a_setting_refuses_what_it_cannot_answer(change, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")):
        FamilySetting(**change)


# In a script


def cap(d, a, t, l, H):  # noqa: E741
    return a * (2 * d - a) + d**2 - 1 if a <= d else 2 * d**2 - 1


def test_a_function_is_tried_up_to_the_first_network_at_which_it_is_wrong():
    found = try_formula(lambda a, d: a * (2 * d - a) + d**2 - 1)  # right up to a = d
    study = study_family(FamilySetting("lightning", "2*a*d - a**2 + d**2 - 1"))
    assert (
        found.first == study.first
        and found.measured == study.verdicts.index(study.first) + 1
    )
    assert repr(found) == "wrong at d = 1, a = 2, t = 2: the formula says 0, measured 1"
    assert try_formula(cap).first is None and try_formula(cap).measured == 40
    assert repr(try_formula(cap)).endswith("evidence, no proof")
    assert nb.try_formula is try_formula


@pytest.mark.parametrize(
    "family", WITH_FORMULA, ids=[family.name for family in WITH_FORMULA]
)
def test_a_text_is_tried_like_a_function(family):
    assert try_formula(family.known, family.name).first is None
    off = try_formula(f"{family.known} + (1 if d > 1 else 0)", family.name)
    assert off.first.sizes.width == 2 and off.first.difference == 1


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (lambda d, x: d, "letters of d, a, t, l, H; got x"),
        (lambda d: d / 2, "gives 0.5 at d = 1, a = 1, t = 2"),
        (lambda d: "d", "gives 'd' at"),
        (max, "letters of d, a, t, l, H; got …"),
        ("2ad", "a * is missing"),
    ],
)
def test_what_cannot_be_tried_is_refused_in_words(formula, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        try_formula(formula)


# What the hints say


def measured(family, layers=1, heads=1, width=2, head_dim=2):
    return measure_dimension(
        FAMILIES[family].architecture(Sizes(layers, heads, 2, width, head_dim))
    ).value


def test_the_numbers_in_the_hints_are_measured():
    assert "7 are measured" in FAMILIES["skip"].hints[2] and measured("skip") == 7
    assert (
        "4 are lost at H = d = a = 2, and 9 at H = d = a = 3"
        in FAMILIES["heads"].hints[1]
    )
    assert 2 * (4 + 4) - measured("heads", heads=2) == 4
    assert 3 * (9 + 9) - measured("heads", heads=3, width=3, head_dim=3) == 9
    # "Where a is much smaller than d, it is one for each head."
    assert 2 * (7 + 16) - measured("heads", heads=2, width=4, head_dim=1) == 2
    # "Compare l = 1, 2, 3 …: the measured numbers are multiples", which they are not
    # without a skip.
    for family, multiples in (("skip", True), ("deep", False)):
        values = [measured(family, layers=depth, width=3) for depth in (1, 2, 3)]
        assert (values == [values[0], 2 * values[0], 3 * values[0]]) == multiples


def test_what_holds_for_few_heads_and_is_capped_fails_for_seven_heads_of_width_two():
    capped = f"min({FAMILIES['heads'].known}, d**3*(d + 1)/2)"
    study = study_family(FamilySetting("heads-many", capped))
    assert {(verdict.sizes.heads, verdict.sizes.width) for verdict in study.wrong} == {
        (7, 2)
    }
    assert not study_family(FamilySetting("heads", capped)).wrong
