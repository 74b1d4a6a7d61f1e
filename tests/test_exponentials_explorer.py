"""The panel on free exponentials: what it shows is what was measured, in every state it can be in."""

import re
from dataclasses import replace
from itertools import combinations
from math import isfinite, log10

import pytest
from panels import ends, headlines, plain, random_states, said, texts, title, trace

from neuroviz.beyond.proof.exponentials_figure import exponentials_parts
from neuroviz.beyond.proof.exponentials_grid import equation_of, product_of
from neuroviz.beyond.proof.exponentials_panel import ExponentialsExplorer
from neuroviz.beyond.proof.exponentials_study import ExponentialsSetting, study_exponentials
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

STATES = [
    "",
    "treat=free",
    "kind=symmetric;tokens=3",
    "kind=symmetric;tokens=4;width=3;layers=3;treat=free",
    "kind=antisymmetric;tokens=3",
    "kind=antisymmetric;tokens=4;treat=free",
    "kind=zero;tokens=3;width=3;layers=3;treat=free",
    "kind=generic;tokens=4",
    "kind=generic;tokens=4;width=1;layers=3",
    "kind=rank-one;tokens=3",
    "place=last",
    "place=all;kind=symmetric;tokens=3;layers=3",
]


@pytest.fixture
def panel():
    panel = ExponentialsExplorer()
    yield panel
    panel.close()


def test_the_panel_opens_on_the_case_where_ignoring_a_relation_is_wrong(panel):
    first, relation, kernels, spectrum = headlines(panel.figure)
    assert first == "layer 1: 1 of 2 exponentials is free"
    assert relation == "relation: PQ = 1"
    assert re.sub(" +", " ", kernels) == "4 directions do nothing; drawn free: 0"
    assert spectrum == "the true softmax has 4 zeros"
    assert "with all exponentials free the count says 0, which is wrong" in panel.description


def test_a_cell_says_what_its_exponential_is_or_that_it_was_drawn_instead(panel):
    assert "<b>Q</b> = 1/P" in texts(panel.figure)
    panel.controls["treat"].value = "free"
    assert "<b>Q</b> ≠ 1/P" in texts(panel.figure) and "<b>Q</b> = 1/P" not in texts(panel.figure)


def test_drawing_all_free_moves_the_rank_away_from_the_gap(panel):
    line = trace(panel.figure, "exact rank (measured)")
    assert line.x[0] == 8.5
    panel.controls["treat"].value = "free"
    assert line.x[0] == 12.5 and line.line.dash == "dash"
    assert headlines(panel.figure)[-1].replace("  ", " ").startswith("the true softmax has 4 zeros , not 0")
    assert "▨ outside hypotheses" in title(panel)


def test_a_relation_that_hides_nothing_is_said_to_hide_nothing(panel):
    panel.state = "kind=symmetric;tokens=3"
    assert headlines(panel.figure)[0] == "layer 1: 5 of 6 exponentials are free"
    assert headlines(panel.figure)[2] == "every direction is seen, either way"
    assert "The attention matrices of all such layers fill 5 dimensions (exact) of 6" in panel.description
    assert "the count says 0 as well" in panel.description


def test_without_a_relation_all_may_be_drawn(panel):
    panel.state = "kind=generic;tokens=3"
    assert headlines(panel.figure)[:2] == [
        "layer 1: all 6 exponentials are free",
        "logits: no linear relation",
    ]
    assert "□ proved here" in title(panel)
    panel.controls["treat"].value = "free"
    assert "□ proved here" in title(panel)  # there is nothing to ignore


def test_products_and_equations_say_the_same(panel):
    study = study_exponentials(ExponentialsSetting("symmetric", tokens=3))
    (relation,) = study.independence.layers[0].relations
    assert product_of(study, relation) == "adf/bc"
    assert equation_of(relation) == "E₁₂E₂₃E₃₁ = E₁₃E₂₁E₃₂"
    study = study_exponentials(ExponentialsSetting("zero", tokens=2))
    assert [product_of(study, one) for one in study.independence.layers[0].relations] == ["1", "1"]


@pytest.mark.parametrize("state", STATES)
def test_every_cell_is_what_was_measured(panel, state):
    panel.state = state
    s, t = panel._shown, panel._shown.setting.tokens
    layer = s.independence.layers[s.setting.special - 1]
    cells = [shape for shape in panel.figure.layout.shapes if shape.xref == "x" and shape.opacity > 0]
    assert len(cells) == t * t
    free = [cell for cell in cells if cell.fillcolor == theme.color("measured")]
    bound = [cell for cell in cells if cell.line.color == theme.color("outside")]
    assert len(free) == layer.independent.value and len(bound) == len(layer.relations)
    assert len(free) + len(bound) == t * (t - 1)


@pytest.mark.parametrize("state", STATES)
def test_every_square_is_a_measured_count(panel, state):
    panel.state = state
    s, count = panel._shown, {one.name: len(one.x) for one in panel.figure.data}
    found = [one.independent for one in s.independence.layers]
    assert count["independent differences of logits (measured)"] == sum(one.value for one in found)
    assert count["differences that others determine (measured)"] == sum(one.kernel for one in found)
    assert count["kernel as the exponentials are related (measured)"] == s.related.kernel
    assert count["kernel with all exponentials free (measured)"] == s.free.kernel
    assert count["kernel in floating point (measured)"] == s.spectrum.kernel


@pytest.mark.parametrize("state", STATES)
def test_the_dots_are_the_measured_spectrum(panel, state):
    panel.state = state
    kept = trace(panel.figure, "singular values of the true softmax (measured)")
    zeros = trace(panel.figure, "zeros of the true softmax (measured)")
    sigma = panel._shown.spectrum.singular_values
    assert [*kept.y, *zeros.y] == [max(value, 1e-17) for value in sigma]
    assert [*kept.x, *zeros.x] == list(range(1, len(sigma) + 1))


@pytest.mark.parametrize("state", STATES)
def test_every_mark_has_a_finite_place_inside_its_picture(panel, state):
    panel.state = state
    for one in panel.figure.data:
        assert len(one.x) == len(one.y)
        across = panel.figure.layout[(one.xaxis or "x").replace("x", "xaxis")]
        up = panel.figure.layout[(one.yaxis or "y").replace("y", "yaxis")]
        for x, y in zip(one.x, one.y, strict=True):
            height = log10(y) if up.type == "log" else y
            assert isfinite(x) and isfinite(height)
            assert min(across.range) <= x <= max(across.range), one.name
            assert min(up.range) - 1e-9 <= height <= max(up.range) + 1e-9, one.name


@pytest.mark.parametrize("state", STATES)
def test_texts_hold_no_dollar_and_no_python(panel, state):
    panel.state = state
    for text in [*said(panel.figure), panel.description]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.|float64)\b", text), text


def test_a_disagreement_would_be_said(panel):
    s = panel._shown
    wrong = replace(s, spectrum=replace(s.spectrum, value=7))
    assert "DISAGREE" in panel._describe(wrong) and "DISAGREE" not in panel._describe(s)
    undecided = replace(s, spectrum=replace(s.spectrum, decided=False))
    assert "cannot decide" in panel._describe(undecided)
    assert "floats cannot decide here" in headlines(make(exponentials_parts(undecided)))


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(mode, size):
    with theme.using({"mode": mode, "size": size}):
        figure = make(exponentials_parts(study_exponentials(ExponentialsSetting("symmetric", tokens=4))))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)


def test_after_any_walk_the_figure_is_the_one_a_new_panel_would_draw(panel):
    figure, uids = panel.figure, [one.uid for one in panel.figure.data]
    for state in [*STATES, *random_states(ExponentialsExplorer, 6, seed=1)]:
        panel.reset()
        panel.state = state
        assert panel.status.startswith("done")
        assert panel.figure is figure and [one.uid for one in figure.data] == uids
        assert plain(figure) == plain(make(exponentials_parts(study_exponentials(panel._read())))), state


def test_that_comparison_sees_a_figure_that_was_not_redrawn():
    one, two = (study_exponentials(ExponentialsSetting(kind)) for kind in ("zero", "antisymmetric"))
    figure = make(exponentials_parts(one))
    redraw(figure, exponentials_parts(two), exponentials_parts(two))
    assert plain(figure) == plain(make(exponentials_parts(one))) != plain(make(exponentials_parts(two)))
    redraw(figure, None, exponentials_parts(two))
    assert plain(figure) == plain(make(exponentials_parts(two)))


@pytest.mark.parametrize(
    ("one", "two"),
    list(combinations(["kind", "tokens", "width", "layers", "treat", "place", "seed"], 2)),
)
def test_extremes_of_two_controls_are_legal_together(panel, one, two):
    for first in ends(panel.controls[one]):
        for second in ends(panel.controls[two]):
            panel.controls[one].value = first
            panel.controls[two].value = second
            assert panel.status.startswith("done"), (panel.state, panel.status)
            assert f"d₀ = {panel.controls['width'].value}" in panel.description


@pytest.mark.parametrize("state", ["kind=skew", "tokens=1", "layers=4", "width=two", "treat=tied", "depth=2"])
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before


@pytest.mark.parametrize("only", [["treat"], ["kind", "place"], []])
def test_only_shows_these_controls_and_no_others(only):
    panel = ExponentialsExplorer(only=only)
    assert [name for name, c in panel.controls.items() if c.layout.display != "none"] == only
    panel.close()


def test_the_control_says_which_matrix_is_special(panel):
    for place, words in (("first", "M₁ is"), ("last", "the last M is"), ("all", "every M is")):
        panel.controls["place"].value = place
        assert panel.controls["kind"].description == words
