"""What a badge answers: the statement with the reader's numbers, and a page that has
it."""

import re
from html import unescape

import pytest
from architectures import random_architectures
from node import ask
from texts import ROOT, anchor, headings

import neuroviz as nv
import neuroviz.explorables
from neuroviz.attention.formulas import paper_hypotheses
from neuroviz.attention.in_numbers import (
    general_formula_in_numbers,
    paper_formula_in_numbers,
)
from neuroviz.kit.reasons import PAGES, of_a_formula, of_a_measurement

PATH = neuroviz.explorables.__all__


def evaluated(sum_in_words):
    """The value of a sum such as 3·(4 + 5 − 3) + 12."""
    return eval(sum_in_words.replace("·", "*").replace("−", "-"))


def some(count):
    return [*random_architectures(count, seed=5)]


def test_both_formulas_with_numbers_are_the_formulas():
    for arch in some(1000):
        paper = nv.paper_formula(arch)
        assert evaluated(paper_formula_in_numbers(arch)) == paper.value
        general = nv.general_formula(arch)
        assert evaluated(general_formula_in_numbers(arch)) == general.value


def test_what_a_formula_says_ends_with_its_value_and_its_line_of_python_repeats_it():
    seen = set()
    for arch in some(100):
        for found in (nv.paper_formula(arch), nv.general_formula(arch)):
            reasons = of_a_formula(found, arch)
            _, formula, value = re.split(r": dim = | = (?=-?\d+$)", reasons.says)
            assert evaluated(formula) == int(value) == found.value
            assert reasons.source in PAGES
            if reasons.code:
                assert eval(reasons.code, {"nv": nv}) == found.value
            seen.add((found.source, found.status))
    assert len(seen) >= 6


def test_a_formula_outside_its_hypotheses_shows_which_one_fails():
    arch = nv.Architecture((3, 3, 3), (1, 2))
    reasons = of_a_formula(nv.paper_formula(arch), arch)
    assert [one.says for one in reasons.hypotheses if not one.holds] == [
        "2 ≤ a₁ ≤ d₀ (a₁ = 1, d₀ = 3)"
    ]
    _, html = reasons.as_html()
    assert "✗ 2 ≤ a₁ ≤ d₀" in html
    assert html.count("✓") == 4


def test_different_inner_widths_have_no_delta():
    asked = paper_hypotheses(nv.Architecture((2, 2, 3, 2), (2, 2, 2)))
    says = [one.says for one in asked]
    assert (
        "inner widths at most the first and the last (the largest is 3, d₀ = 2, d₃ = 2)"
        in says
    )
    assert "δ ≥ 2 (the smallest is 2)" in says


def test_the_hypotheses_hold_exactly_where_the_paper_s_formula_answers():
    for arch in some(500):
        holds = all(asked.holds for asked in paper_hypotheses(arch))
        assert holds == (nv.paper_formula(arch).status != "outside hypotheses")


def test_a_measurement_says_prime_columns_and_the_chance_of_an_error():
    net = nv.Architecture((3, 3, 3), (1, 2))
    sure = of_a_measurement(nv.measure_dimension(nv.Architecture((3, 3), (2,))), net)
    assert sure.facts[-1].startswith("certain")
    unsure = nv.measure_dimension(net)
    assert unsure.error_bound > 0
    facts = " ".join(of_a_measurement(unsure, net).facts)
    assert facts.endswith("at most 3·10⁻⁹")  # 2.1·10⁻⁹, rounded up
    assert f"{unsure.num_columns} columns" in facts
    assert eval(of_a_measurement(unsure, net).code, {"nv": nv}) == unsure.value


@pytest.mark.parametrize("source", PAGES)
def test_every_source_has_its_heading(source):
    page, heading = PAGES[source]
    assert heading in [words for _, words in headings(ROOT / page)]


def test_the_page_names_a_heading_as_the_site_does():
    program = 'import { anchorOf } from "kit/pages"; say(given.map(anchorOf));'
    words = [heading for _, heading in PAGES.values()]
    assert ask(program, words) == [anchor(heading) for heading in words]


@pytest.mark.parametrize("name", PATH)
def test_every_badge_of_the_path_answers(name):
    panel = getattr(neuroviz.explorables, name)()
    badges = panel._badges
    assert 'class="nv-badge"' in badges
    assert "<span" not in badges
    targets = re.findall(r'popovertarget="([^"]+)"', badges)
    opened = re.findall(r'<div popover id="([^"]+)"', badges)
    assert targets == opened
    assert len(set(opened)) == len(opened)
    for page, heading in re.findall(
        r'data-page="([^"]+)" data-heading="([^"]+)"', badges
    ):
        assert (page, unescape(heading)) in PAGES.values()
    panel.close()
