"""Two forms by their roots: the resultant in Python, in the page, and by its
equation."""

from fractions import Fraction

import numpy as np
import pytest
from node import ask, check_types

from neuroviz.singular.resultant_facts import resultant_facts
from neuroviz.singular.resultant_panel import (
    ResultantExplorer,
    ResultantSetting,
    form_with_roots,
    study_resultant,
)

_PAGE = """
import { chordsOf, onCircle, resultantOf, rootAt } from "singular/resultant_roots";
say(given.map((place) => ({
  factors: chordsOf(place).map(({ factor }) => factor),
  resultant: resultantOf(place),
  back: Object.values(place).map((angle) => rootAt(onCircle(angle))),
  on: onCircle(place.first),
})));
"""


def random_settings(count):
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 180, (count, 4)).tolist()
    return [ResultantSetting(*angles) for angles in drawn]


def by_coefficients(q1, q2):
    """The resultant of two quadratic forms, as the notebook has it."""
    (a1, b1, c1), (a2, b2, c2) = q1, q2
    return (a1 * c2 - a2 * c1) ** 2 - (a1 * b2 - a2 * b1) * (b1 * c2 - b2 * c1)


def test_the_product_of_half_chords_is_the_resultant_of_the_coefficients():
    for setting in random_settings(1000):
        study = study_resultant(setting)
        by_forms = by_coefficients(*study.forms)
        assert study.resultant == pytest.approx(by_forms, abs=1e-13)
        for half, (one, other) in zip(
            study.factors,
            [(a, b) for a in setting.roots[0] for b in setting.roots[1]],
            strict=True,
        ):
            ends = [np.exp(2j * np.radians(angle)) for angle in (one, other)]
            assert abs(half) == pytest.approx(abs(ends[0] - ends[1]) / 2, abs=1e-14)


def test_it_is_negative_exactly_where_roots_of_both_forms_alternate():
    for setting in random_settings(200):
        resultant = study_resultant(setting).resultant
        first, second = sorted(setting.roots[0])
        between = [first < root < second for root in setting.roots[1]]
        if resultant:
            assert (resultant < 0) == (between[0] != between[1])
        panel_says = ResultantExplorer._describe(None, study_resultant(setting))
        assert ("alternate" in panel_says) == (resultant < 0)


def test_over_the_rationals_it_is_the_product_of_all_determinants():
    """R of (αX + βY)(γX + δY) and another form of this kind, without angles."""
    rng = np.random.default_rng(1)

    def times(one, other):
        (a, b), (c, d) = one, other
        return (a * c, a * d + b * c, b * d)

    for _ in range(200):
        lines = [
            tuple(Fraction(int(n), int(m)) for n, m in zip(*pair, strict=True))
            for pair in zip(
                rng.integers(-9, 10, (4, 2)), rng.integers(1, 9, (4, 2)), strict=True
            )
        ]
        product = Fraction(1)
        for a, b in lines[:2]:
            for c, d in lines[2:]:
                product *= a * d - b * c
        assert by_coefficients(times(*lines[:2]), times(*lines[2:])) == product


def test_it_is_zero_exactly_where_roots_meet():
    rng = np.random.default_rng(2)
    for _ in range(200):
        one, other, third = rng.choice(180, 3, replace=False).tolist()
        meets = study_resultant(ResultantSetting(one, other, third, one))
        assert meets.resultant == 0
        assert meets.common == (one,)
        misses = study_resultant(ResultantSetting(one, one, third, other))
        assert misses.resultant != 0
        assert misses.common == ()


def test_a_form_vanishes_at_its_roots_and_its_factors_have_length_one():
    for angles in ((0, 90), (17, 101), (45, 45)):
        a, b, c = form_with_roots(*angles)
        for angle in angles:
            X, Y = np.cos(np.radians(angle)), np.sin(np.radians(angle))
            assert a * X * X + b * X * Y + c * Y * Y == pytest.approx(0, abs=1e-15)
    assert form_with_roots(90, 90) == pytest.approx((1, 0, 0))


def test_the_page_computes_what_python_does_at_1000_random_roots():
    settings = random_settings(1000)
    places = [
        dict(
            zip(
                ("first", "second", "third", "fourth"),
                (*setting.roots[0], *setting.roots[1]),
                strict=True,
            )
        )
        for setting in settings
    ]
    for setting, place, page in zip(settings, places, ask(_PAGE, places), strict=True):
        study = study_resultant(setting)
        np.testing.assert_allclose(page["factors"], study.factors, atol=1e-14)
        assert page["resultant"] == pytest.approx(study.resultant, abs=1e-14)
        assert page["back"] == [*place.values()]
        turned = np.exp(2j * np.radians(place["first"]))
        np.testing.assert_allclose(page["on"], [turned.real, turned.imag], atol=1e-14)


@pytest.mark.long
def test_facts_have_the_form_that_the_page_expects():
    found = [resultant_facts(study_resultant(one)) for one in random_settings(30)]
    found.append(ResultantExplorer(state="third=20").facts)
    found.append(ResultantExplorer(state="third=20;fourth=80").facts)
    check_types("ResultantFacts", "singular/resultant_facts", found)
    words = [facts["says"][1]["text"] for facts in found[-2:]]
    assert words == ["a root is common", "both roots are common"]
