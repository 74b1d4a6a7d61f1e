"""The panel of Theorem B: its picture follows the studies, its words the exact end of the way."""

from dataclasses import replace
from fractions import Fraction

import pytest
from panels import bare, headlines, plain, random_states, said, texts, title, trace

from neuroviz.beyond.proof.uniqueness import study_singleton
from neuroviz.beyond.proof.uniqueness_figure import singletons_parts, verdict
from neuroviz.beyond.proof.uniqueness_panel import SingletonExplorer
from neuroviz.beyond.proof.weight_pairs import CANDIDATES, SingletonSetting
from neuroviz.kit.plot import make
from neuroviz.softmax.two_tokens import Shares

OTHER, SECOND = "not the same function", "a second preimage"
NAMES = ["candidate", "rho", "travel", "symmetric", "layers", "size", "causal", "copies", "seed"]


def study(*args, **change):
    return study_singleton(SingletonSetting(*args, **change))


# The figure


@pytest.mark.parametrize(
    ("setting", "seen", "follows"),
    [
        (SingletonSetting("unrelated"), "θ′ collapses, θ does not", OTHER),
        (SingletonSetting("positive", Fraction(1, 2)), "θ collapses, θ′ does not", OTHER),
        (SingletonSetting("negative"), "they meet at x₁ and at x₂", OTHER),
        (SingletonSetting("negative", causal=True), "θ′ collapses, θ does not", OTHER),
        (SingletonSetting("other M₂", layers=1), "all is frozen, and LX ≠ L′X", OTHER),
        (SingletonSetting("unrelated", travel=0.5), "on the way", "move it on to 1"),
        (SingletonSetting("other M₂", symmetric=0.0), "Sym M₁ = 0: nothing tells them apart", SECOND),
        (SingletonSetting("unrelated", size=0.0), "L = 0: nothing tells them apart", SECOND),
        (SingletonSetting("positive", Fraction(1)), "θ′ is θ", "nothing to tell apart"),
        (SingletonSetting("negative", symmetric=0.0), "both collapse, in different places", OTHER),
        (SingletonSetting("unrelated", symmetric=0.0), "θ collapses, θ′ does not", OTHER),
    ],
)  # fmt: skip
def test_the_verdict_is_the_finding(setting, seen, follows):
    found = study_singleton(setting)
    assert verdict(found) == (seen, follows)
    assert {seen, follows} <= {bare(text) for text in texts(make(singletons_parts(found)))}


def test_the_verdict_is_read_off_the_exact_comparison():
    found = study("unrelated")
    wrong = replace(found, ending=replace(found.ending, left_meet=True, right_meet=False))
    assert verdict(wrong)[0] == "θ collapses, θ′ does not"
    outside = study("other M₂", symmetric=0.0)
    wrong = replace(outside, ending=replace(outside.ending, same=False))
    assert verdict(wrong)[1] == "not the same function"


def test_world_lines_and_dots_are_those_of_the_study():
    found = study("same symmetric part", travel=0.4, layers=3)
    figure = make(singletons_parts(found))
    for name, side in (("θ", found.left), ("θ′", found.right)):
        for token in (0, 1):
            line = trace(figure, f"token {token + 1} of {name}")
            assert list(line.x) == list(side.places[:, token]) and list(line.y) == [0, 1, 2, 3]
        dot = trace(figure, f"(P, Q) of {name}")
        assert (dot.x[0], dot.y[0]) == side.shares[0]
    assert trace(figure, "what is allowed to θ′").x and not trace(figure, "what is allowed to θ").x
    assert trace(figure, "way of θ′").x and not trace(figure, "way of θ").x


def test_the_dot_lies_on_its_way_and_on_what_is_allowed():
    found = study("same symmetric part", travel=0.5)
    assert found.right.shares[0] in found.right.path
    moved = replace(found.right, shares=(Shares(0.5, 0.6), *found.right.shares[1:]))
    figure = make(singletons_parts(replace(found, right=moved)))
    assert trace(figure, "(P, Q) of θ′").y == (0.6,)


def test_tokens_that_meet_are_ringed_and_others_are_not():
    figure = make(singletons_parts(study("unrelated", layers=3)))
    assert trace(figure, "meeting of θ′").y == (1,) and not trace(figure, "meeting of θ").y
    assert "θ′: the tokens meet" in headlines(figure)
    almost = make(singletons_parts(study("unrelated", travel=0.95)))
    assert not trace(almost, "meeting of θ′").y


def test_nothing_infinite_is_drawn():
    for causal in (False, True):
        figure = make(singletons_parts(study("positive", causal=causal)))
        for one in figure.data:
            assert all(abs(value) < 10 for value in (*(one.x or ()), *(one.y or ())))
        assert any("∞ times as far" in text for text in texts(figure))


def test_another_matrix_has_a_prime():
    def letters(setting):
        figure = make(singletons_parts(study_singleton(setting)))
        return [figure.layout.yaxis.ticktext, figure.layout.yaxis4.ticktext]

    assert letters(SingletonSetting("unrelated")) == [("M₁", "M₂", "L"), ("M₁′", "M₂", "L")]
    assert letters(SingletonSetting("other M₂")) == [("M₁", "M₂", "L"), ("M₁", "M₂′", "L")]
    assert letters(SingletonSetting("other M₂", layers=1)) == [("M₁", "L"), ("M₁", "L′")]
    assert letters(SingletonSetting("the same")) == [("M₁", "M₂", "L"), ("M₁", "M₂", "L")]


@pytest.mark.parametrize("candidate", CANDIDATES)
def test_texts_carry_no_dollar_and_no_number_of_python(candidate):
    for text in said(make(singletons_parts(study(candidate, travel=0.3)))):
        assert "$" not in text and "e-" not in text and "nan" not in text and "np." not in text


# The panel


def test_the_panel_has_its_controls_in_this_order():
    assert list(SingletonExplorer().controls) == NAMES


def test_no_state_raises():
    panel = SingletonExplorer()
    for state in random_states(SingletonExplorer, 40, seed=1):
        panel.state = state.replace("=-", "=")  # these sliders begin at 0
        assert panel.status.startswith("done") and panel.description, state
        assert plain(panel.figure)["data"] == plain(make(singletons_parts(panel._shown)))["data"]


def test_a_control_without_a_say_is_disabled():
    panel = SingletonExplorer()

    def disabled():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert disabled() == set()
    panel.controls["candidate"].value = "unrelated"
    assert disabled() == {"rho"}
    panel.controls["causal"].value = True
    assert disabled() == {"rho", "copies"}
    panel.state = "causal=no;symmetric=0"
    assert disabled() == {"rho", "travel"}
    panel.state = "candidate=negative;symmetric=0;causal=yes;rho=2"
    assert disabled() == {"copies"}
    before = panel.description
    panel.controls["copies"].value = 3
    assert panel.description == before


def test_badges_follow_the_hypotheses_and_the_steps():
    panel = SingletonExplorer(state="candidate=unrelated;travel=1")
    assert "proved here · Theorem B, step 2" in title(panel)
    assert "exact · at the end: columns of θ differ, of θ′ agree" in title(panel)
    panel.state = "candidate=positive"
    assert "Theorem B, step 5" in title(panel)
    panel.state = "causal=yes"
    assert "Theorem A′, step 3" in title(panel)
    panel.state = "causal=no;symmetric=0"
    assert "outside hypotheses · Theorem B needs Sym M₁ ≠ 0" in title(panel)
    panel.state = "symmetric=1;size=0"
    assert "outside hypotheses · Theorem B needs L ≠ 0" in title(panel)


def test_the_words_say_the_step_the_place_and_what_follows():
    panel = SingletonExplorer(state="candidate=same symmetric part;travel=0.4")
    assert "the only relation is P′Q′ = (PQ)²" in panel.description
    assert "move it to the end" in panel.description and "not the same" not in panel.description
    panel.controls["travel"].value = 1.0
    assert "those of θ′ 0." in panel.description and "not the same function" in panel.description
    panel.state = "candidate=positive;rho=1"
    assert "ρ = 1 makes M₁′ = M₁: θ′ is θ. Choose another ρ" in panel.description
    panel.state = "candidate=other M₂;layers=1"
    assert "There is no second layer, so it is L′ that is another" in panel.description


def test_an_antisymmetric_first_layer_hides_the_second_and_a_mask_uncovers_it():
    panel = SingletonExplorer(state="candidate=other M₂;symmetric=0;travel=1")
    assert "A second preimage" in panel.description and "10⁻¹⁶ apart (floats)" in panel.description
    panel.controls["copies"].value = 2
    assert "second preimage" not in panel.description and "with t = 3 tokens sees more" in panel.description
    assert "but three different tokens may" in " ".join(texts(panel.figure))
    panel.controls["causal"].value = True
    assert "not the same function" in panel.description and "second preimage" not in panel.description
