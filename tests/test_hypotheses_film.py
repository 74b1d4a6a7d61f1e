"""The film of a network of the map: what it shows is measured, and what fades is
unseen."""

import random
from itertools import product

import numpy as np
import pytest
from node import ask
from test_axe import AXE, OF_A_PAGE, RUN
from test_hypotheses_facts import some_setting
from test_hypotheses_scene import cell, opened, place, put  # noqa: F401 (a fixture)

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import general_formula, paper_formula
from neuroviz.deep.hypotheses import SIZES, HypothesesSetting, study_hypotheses
from neuroviz.deep.hypotheses_film import film_facts, shares_of
from neuroviz.kit import theme
from neuroviz.kit.plot import plain

# Of the film: where words are, each with its text, and whether it is seen.
FILM_WORDS = """[...box.querySelectorAll(
  ".nv-view-film :is(h4, .words p, svg text)",
)].map((one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const {left, right, top, bottom} = range.getBoundingClientRect();
  const isSeen = right > left && one.getAttribute("opacity") !== "0";
  return [left, right, top, bottom, one.textContent, isSeen];
})"""


def film_of(**setting):
    return film_facts(study_hypotheses(HypothesesSetting(**setting)))


def said(film):
    return [" ".join(line["text"] for line in act["says"]) for act in film["acts"]]


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize("tokens", [1, 2, 3])
def test_the_shares_add_up_to_the_two_numbers_of_every_network(attention, tokens):
    for o, i, a, b in product(SIZES, repeat=4):
        arch = Architecture((o, i, o), (a, b), tokens, attention)
        shares = shares_of(arch)
        assert sum(share.formula for share in shares) == paper_formula(arch).value
        assert sum(share.seen for share in shares) == general_formula(arch).value


@pytest.mark.long
def test_the_bar_goes_from_the_formula_to_the_exact_rank_and_its_words_say_both():
    draw = random.Random(4)
    for _ in range(60):
        study = study_hypotheses(some_setting(draw))
        film = film_facts(study)
        bar = film["bar"]
        assert bar["exact"] == study.measured.value
        assert bar["formula"] == paper_formula(study.arch).value
        assert [act["kind"] for act in film["acts"]][-1] == "count"
        last = said(film)[-1]
        assert str(bar["exact"]) in last
        assert str(bar["formula"]).replace("-", "−") in last
        assert last.startswith("The bar stays") == (bar["exact"] == bar["formula"])


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"head_1": 1, "head_2": 2}, "A₂ counts 10, not 12: Eq. 14 says 33,"),
        ({"inner": 5, "outer": 3, "head_1": 2, "head_2": 2}, "L counts 9, not 5; A₂ "),
        ({"outer": 1, "inner": 5, "head_1": 2, "head_2": 2}, "L counts 1, not −15"),
        ({"head_1": 1, "head_2": 1}, "the symmetric parts of A₂ have as many dim"),
        ({"head_1": 2, "head_2": 1}, "Eq. 14 does not apply, but its 33 is right."),
        ({"tokens": 1, "kind": "softmax"}, "A₁ counts 0, not 7; A₂ counts 0, not 15"),
        ({"head_1": 2}, "The bar stays: Eq. 14 says 41, and so does the exact rank."),
        ({"kind": "softmax"}, "The bar stays: Eq. 16 says 38, and so does the exact"),
    ],
)
def test_the_last_words_say_what_is_not_seen(setting, words):
    assert words in said(film_of(**setting))[-1]


def test_the_words_of_an_act_are_about_what_is_drawn():
    film = film_of(seed=3)
    _, first, look, second, _ = said(film)
    assert "A₁ has rank one" in first and "All become parallel" in first
    assert "gᵀA₂g does not see the antisymmetric part" in look
    assert "Parallel tokens leave layer 2 parallel" in second
    assert [station["spread"] for station in film["stations"]][1:] == ["0° apart"] * 2
    softmax = said(film_of(kind="softmax", seed=4))
    assert "A₁ has rank one, but its softmax has not" in softmax[1]
    assert "it sees all of A₂" in softmax[2]
    last = said(film_of(head_1=2, head_2=1))
    assert "A₂ has rank one" in last[3] and "No later layer looks" in last[3]


def _shown_scores(study, layer):
    """Yᵀ A Y with the whole A, and with those entries alone that the film says are
    seen."""
    arch, weights = study.arch, study.weights
    Y = study.stages[layer - 1]
    A = weights[f"{layer}.K"].T @ weights[f"{layer}.Q"]
    basis = np.eye(len(A))
    if layer == 2 and arch.widths[1] > arch.widths[0]:
        basis, _, _ = np.linalg.svd(weights["1.V"])
    parts = film_facts(study)["matrices"][layer - 1]["parts"]
    entries = sum(np.array(part["entries"]) for part in parts)
    np.testing.assert_allclose(basis @ entries @ basis.T, A, atol=1e-12)
    seen = sum(np.array(part["entries"]) * part["seen"] for part in parts)
    Z = basis.T @ Y
    return Y.T @ A @ Y, Z.T @ seen @ Z


@pytest.mark.long
def test_what_fades_makes_no_difference_to_the_scores():
    draw = random.Random(11)
    faded = 0
    for _ in range(80):
        study = study_hypotheses(some_setting(draw))
        if study.arch.tokens == 1 and study.arch.attention == "softmax":
            continue  # whatever the scores are, their softmax is 1
        for layer in (1, 2):
            whole, seen = _shown_scores(study, layer)
            np.testing.assert_allclose(seen, whole, atol=1e-9 * abs(whole).max())
            parts = film_facts(study)["matrices"][layer - 1]["parts"]
            faded += not np.all([part["seen"] for part in parts])
    assert faded > 20


def test_where_all_of_a_is_said_to_be_seen_no_part_can_be_left_out():
    study = study_hypotheses(HypothesesSetting(head_1=2, head_2=2))
    Y = study.stages[1]
    parts = film_facts(study)["matrices"][1]["parts"]
    assert np.all([part["seen"] for part in parts])
    anti = np.array(parts[1]["entries"])
    assert abs(Y.T @ anti @ Y).max() > 1e-4 * abs(Y).max() ** 2


@pytest.mark.long
def test_lines_are_those_of_the_tokens_and_turn_little():
    draw = random.Random(5)
    for _ in range(40):
        study = study_hypotheses(some_setting(draw))
        before = None
        stations = film_facts(study)["stations"]
        for station, X in zip(stations, study.stages, strict=True):
            lines = station["lines"]
            angles = np.array([line["angle"] for line in lines])
            reach = np.array([line["reach"] for line in lines])
            at = np.array([line["at"] for line in lines])
            lengths = np.linalg.norm(X, axis=0)
            np.testing.assert_allclose(abs(at), lengths / lengths.max())
            assert np.all(reach <= 1 + 1e-9)
            if len(X) <= 2:  # the plane has room for all of it: angles are true
                turn = np.radians(angles)
                flat = lengths * np.sign(at) * np.stack([np.cos(turn), np.sin(turn)])
                np.testing.assert_allclose(flat.T @ flat, X.T @ X, atol=1e-9)
            if before is not None:
                assert np.all(abs(angles - before) <= 90 + 1e-6)
            before = angles


CLOCK = """
import { barAt, doneOf, linesAt, momentAt, secondsOf } from "deep/hypotheses_clock";
say(given.map((film: any) => ({
  seconds: secondsOf(film.acts),
  moments: Array.from({ length: 201 }, (_, n) => momentAt(film.acts, n / 200)),
  ends: [barAt(film, 0), barAt(film, 1), linesAt(film, 1, 0), linesAt(film, 1, 1)],
  never: doneOf(film.acts, momentAt(film.acts, 1), "look", 3),
})));
"""


def test_the_clock_moves_one_act_at_a_time_and_holds_after_each():
    draw = random.Random(2)
    films = [plain(film_facts(study_hypotheses(some_setting(draw)))) for _ in range(12)]
    for film, found in zip(films, ask(CLOCK, films), strict=True):
        acts = film["acts"]
        assert 10 <= found["seconds"] <= 25 and found["never"] == 0
        moments = found["moments"]
        assert moments[0]["act"] == 0
        assert moments[-1]["act"] == len(acts) - 1 and set(moments[-1]["done"]) == {1}
        held = set()
        for before, now in zip(moments, moments[1:], strict=False):
            moving = [n for n, done in enumerate(now["done"]) if 0 < done < 1]
            assert len(moving) <= 1 and moving in ([], [now["act"]])
            if not moving and before["done"] == now["done"]:
                held.add(now["act"])
            pairs = zip(before["done"], now["done"], strict=True)
            assert all(new >= old for old, new in pairs)
        assert held >= set(range(len(acts) - 1))
        formula, exact, start, end = found["ends"]
        assert [formula, exact] == [film["bar"]["formula"], film["bar"]["exact"]]
        stations = film["stations"]
        shown = stations[0]["lines"] + stations[1]["lines"]
        for line, seen in zip(start + end, shown, strict=True):
            assert line == pytest.approx(seen)


# In a browser


def words(page):
    return page.locator(".nv-view-film .words p").inner_text()


def plays(page):
    return page.locator(".nv-view-film").is_visible()


def opacity(page, selector):
    found = page.locator(f".nv-view-film {selector}").first
    return float(found.get_attribute("opacity") or 1)


@pytest.mark.long
@pytest.mark.browser
def test_nothing_plays_before_it_is_asked_for(opened):  # noqa: F811
    page = opened("head_1=1;head_2=3")
    assert not plays(page) and page.locator(".nv-view-angles").is_visible()
    put(page, head_1=2)
    put(page, head_1=1)
    assert not plays(page)


@pytest.mark.long
@pytest.mark.browser
def test_a_click_plays_a_second_one_holds_and_the_end_shows_both_numbers(
    opened,  # noqa: F811
):
    page = opened("head_1=1;head_2=3")
    cell(page, 1, 3).click()
    assert plays(page) and not page.locator(".nv-view-angles").is_visible()
    assert "random tokens come in" in words(page)
    assert opacity(page, "text.exact") == 0
    page.get_by_text("A₁ has rank one").wait_for()
    cell(page, 1, 3).click()
    held = page.locator(".nv-view-film svg").inner_html()
    assert "A₁ has rank one" in words(page)
    page.wait_for_timeout(500)
    assert page.locator(".nv-view-film svg").inner_html() == held
    cell(page, 1, 3).focus()
    page.keyboard.press("Enter")
    page.wait_for_function(
        "box.querySelector('.nv-view-film .nv-play').textContent === '▶'"
    )
    assert "Eq. 14 says 36, the exact rank is 31" in words(page)
    assert opacity(page, "text.exact") == 1
    texts = page.locator(".nv-view-film svg text").all_text_contents()
    assert "Eq. 14: 36" in texts and "exact rank: 31 (−5)" in texts
    assert page.locator("rect.now.is-exact").count() == 1
    whole, now = (
        page.locator(f".nv-view-film rect.{kind}").bounding_box()["width"]
        for kind in ("formula", "now")
    )
    assert now / whole == pytest.approx(31 / 36, abs=0.01)
    assert opacity(page, ".hidden") == pytest.approx(0.1)
    assert page.evaluate("box.scrollHeight") <= 371
    cell(page, 1, 3).click()  # once more: its first frame says so
    page.get_by_text("random tokens come in").wait_for()


@pytest.mark.browser
def test_another_network_brings_the_angles_back(opened):  # noqa: F811
    page = opened("head_1=1;head_2=3")
    cell(page, 1, 3).click()
    assert plays(page)
    put(page, head_1=4)
    assert not plays(page) and page.locator(".nv-view-angles").is_visible()


@pytest.mark.browser
def test_the_film_of_another_cell_waits_for_python(opened):  # noqa: F811
    from test_hypotheses_scene import answer

    page = opened("head_1=1;head_2=3")
    cell(page, 3, 3).click()
    assert place(page, "head_1") == [3] and not plays(page)
    answer(page, "head_1=3;head_2=3")
    assert plays(page)
    texts = page.locator(".nv-view-film svg text").all_text_contents()
    assert "Eq. 14: 44" in texts


@pytest.mark.browser
def test_where_motion_is_reduced_the_end_is_there_at_once(opened):  # noqa: F811
    page = opened("head_1=1;head_2=3", reduced_motion="reduce")
    cell(page, 1, 3).click()
    assert "the exact rank is 31" in words(page)
    assert opacity(page, "text.exact") == 1
    assert not page.locator(".nv-view-film .nv-play").is_visible()


@pytest.mark.browser
def test_what_answers_can_be_withheld(opened):  # noqa: F811
    """The numbers of the map and of the film, and the words of both."""
    page = opened("head_1=1;head_2=3", reduced_motion="reduce")
    cell(page, 1, 3).click()
    page.add_style_tag(content=".nv-answer { visibility: hidden }")
    seen = page.evaluate("""[...box.querySelectorAll(".nv-view *")]
      .filter((one) => !one.children.length && one.textContent.trim())
      .filter((one) => getComputedStyle(one).visibility !== "hidden")
      .filter((one) => one.getClientRects().length)
      .map((one) => one.textContent)""")
    said = " · ".join(seen)
    for answer_ in ("31", "−5", "rank 1", "off in", "parallel", "not seen", "0° apart"):
        assert answer_ not in said, answer_


@pytest.mark.long
@pytest.mark.browser
@pytest.mark.parametrize("size", ["notebook", "lecture"])
@pytest.mark.parametrize("width", [1085, 820, 390])
def test_the_words_of_the_film_stay_apart_and_axe_finds_nothing(
    opened,  # noqa: F811
    size,
    width,
):
    if size == "lecture" and width < 1040:
        pytest.skip("a panel has no lecture size there")
    for state in ("head_1=1;head_2=3", "inner=5;outer=4;over=widths", "tokens=1"):
        with theme.using({"size": size}):
            page = opened(state, width, reduced_motion="reduce")
        page.locator(".cell.chosen").click()
        found = [one for one in page.evaluate(FILM_WORDS) if one[5]]
        assert len(found) > 10
        for n, one in enumerate(found):
            assert one[0] >= 0 and one[1] <= width, one
            for other in found[:n]:
                is_beside = one[0] >= other[1] - 1 or other[0] >= one[1] - 1
                # letters stand lower and higher than their ink
                is_below = one[2] >= other[3] - 3 or other[2] >= one[3] - 3
                assert is_beside or is_below, (one, other)
        page.evaluate(AXE.read_text(encoding="utf-8"))
        assert page.evaluate(RUN, [*OF_A_PAGE]) == []
