"""The panel in which a reader looks for a formula: it measures, remembers, and survives anything."""

import random
import re
from dataclasses import replace

import ipywidgets as widgets
import pytest
from panels import headlines, plain, said, texts, title, trace

from neuroviz.beyond.formula.expression import FormulaError
from neuroviz.beyond.formula.families import FAMILIES
from neuroviz.beyond.formula.family import FamilySetting, study_family
from neuroviz.beyond.formula.figure import formula_parts
from neuroviz.beyond.formula.panel import FormulaExplorer
from neuroviz.kit.plot import make

GUIDED = [name for name, family in FAMILIES.items() if family.hints]
MALFORMED = [
    "", "2*a*d +", "2ad + d²", "l(a + d)", "(d", "foo", "d/2", "1/(d - 3)", "2**2**2**2**99",
    "__import__('os')", "d;a", "d%a", "<b>", "=d", "(" * 300, "9" * 5000, "🙂",
]  # fmt: skip
FORMULAS = [
    "2*a*d + d**2",
    "alpha(a, d) + d**2 - 1",
    "d",
    "-5*d",
    "5000",
    "10**9",
    "0",
    "l*(alpha(a, d) + d**2 - 1)",
]


@pytest.fixture(scope="module")
def shared():
    panel = FormulaExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def shown(panel):
    """What a reader sees, apart from the status line."""
    return panel.state, panel.description, title(panel), plain(panel.figure)


def type_in(panel, formula):
    panel.controls["formula"].value = formula


def met(panel):
    return panel.controls["met"].value


# What it shows


@pytest.mark.parametrize("family", FAMILIES)
def test_the_figure_shows_every_measurement_and_what_was_proposed(panel, family):
    panel.state = f"family={family};formula=2*a*d + d**2"
    study = study_family(FamilySetting(family, "2*a*d + d**2", panel.controls["along"].value))
    assert panel.status.startswith("done")
    values = [verdict.measured.value for verdict in study.verdicts]
    assert list(trace(panel.figure, "measured").y) == values
    wrong = [verdict for verdict in study.verdicts if verdict.difference]
    drawn = {
        name: trace(panel.figure, f"proposed, {name}").text
        for name in ("as measured", "not as measured", "beyond the picture")
    }
    assert sum(map(len, drawn.values())) == len(values)
    assert len(drawn["not as measured"]) + len(drawn["beyond the picture"]) == len(wrong)
    table = trace(panel.figure, "you − measured")
    assert sorted(table.text) == sorted(f"{v.difference:+d}".replace("-", "−") for v in wrong)
    assert f"wrong at {len(wrong)} of {len(values)} networks" in headlines(panel.figure)[0]
    first = study.first
    assert (
        f"{study.family.name_of(first.sizes)}: you say {first.proposed}, measured {first.measured.value}."
        in (panel.description)
    )
    (ring,) = trace(panel.figure, "first counterexample (measured)").y
    assert ring == first.measured.value


@pytest.mark.parametrize("along", "datlH")
@pytest.mark.parametrize("family", FAMILIES)
def test_no_two_members_share_a_place_whatever_runs_along_the_axis(family, along):
    figure = make(formula_parts(study_family(FamilySetting(family, "0", along))))
    dots, cells = trace(figure, "measured"), trace(figure, "you − measured")
    places = set(dots.x)
    assert len(places) == len(dots.x) == len(FAMILIES[family].members)
    assert len(set(zip(cells.x, cells.y, strict=True))) == len(dots.x)
    low, high = figure.layout.xaxis.range
    assert all(low < x < high for x in places)


def test_marks_that_are_called_measured_come_from_measurements():
    study = study_family(FamilySetting())
    other = [replace(v, measured=replace(v.measured, value=v.measured.value + 7)) for v in study.verdicts]
    figure = make(formula_parts(replace(study, verdicts=tuple(other))))
    for name in ("measured", "measured, joined", "you − measured"):
        before = trace(make(formula_parts(study)), name)
        after = trace(figure, name)
        assert (before.y, before.text) != (after.y, after.text), name
    assert trace(figure, "measured").y == tuple(v.measured.value + 7 for v in study.verdicts)


def test_a_right_formula_is_called_evidence_and_no_proof(panel):
    type_in(panel, "alpha(a, d) + d**2 - 1")
    assert "says what is measured at all 40 networks" in panel.description
    assert "no proof" in panel.description and "○ observed · your formula, 40 networks" in title(panel)
    assert headlines(panel.figure)[0] == "right at all 40 networks"
    assert trace(panel.figure, "you − measured").text == ()
    type_in(panel, "alpha(a, d) + d**2")
    assert "observed" not in title(panel) and "no proof" not in panel.description
    assert headlines(panel.figure)[1] == "you − measured: always +1"


def test_what_lies_beyond_the_picture_is_marked_at_its_edge(panel):
    type_in(panel, "5000")
    edge = trace(panel.figure, "proposed, beyond the picture")
    low, high = panel.figure.layout.yaxis.range
    assert len(edge.x) == 40 and all(low < y < high for y in edge.y)
    assert any("beyond the picture" in text for text in texts(panel.figure))
    type_in(panel, "-5000")
    assert set(trace(panel.figure, "proposed, beyond the picture").marker.symbol) == {"triangle-down"}
    type_in(panel, "d")
    assert not any("beyond the picture" in text for text in texts(panel.figure))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_known_stays_hidden_until_asked_for(panel, family):
    known = FAMILIES[family].known
    panel.state = f"family={family};formula=2*a*d + d**2"
    if known:
        everything = " ".join([panel.description, title(panel), *said(panel.figure)])
        assert known not in everything and "what is known" not in everything
    panel.controls["known"].value = True
    assert "what is known" in title(panel) and "What is known" in panel.description
    assert known in panel.description
    status = study_family(FamilySetting(family, known=True)).expected.status
    assert status in title(panel) and any(status in text for text in texts(panel.figure))
    panel.controls["family"].value = "softmax" if family == "lightning" else "lightning"
    assert "what is known" not in title(panel), "another family's answer is not asked for yet"


def test_a_letter_that_does_not_vary_is_replaced_aloud(panel):
    panel.state = "family=lightning;along=H"
    assert "H is 1 in this whole family, so the axis runs over a." in panel.description
    panel.state = "along=t"
    assert "whole family" not in panel.description


# What it remembers


def test_counterexamples_are_remembered_and_a_new_formula_meets_them_first(panel):
    assert met(panel) == "d1a1t2"
    type_in(panel, "2*a*d - a**2 + d**2 - 1")  # right up to a = d
    assert met(panel) == "d1a1t2, d1a2t2"
    assert any("✓ d = 1, a = 1, t = 2: 1 = 1" in text for text in texts(panel.figure))
    type_in(panel, "alpha(a, d) + d**2 - 1 + max(a - 3, 0)")
    assert met(panel) == "d1a1t2, d1a2t2, d1a4t2"
    type_in(panel, "alpha(a, d) + d**2 + max(a - 3, 0)")
    assert "First at d = 1, a = 1, t = 2" in panel.description
    type_in(panel, "alpha(a, d) + d**2 - 1")
    assert met(panel) == "d1a1t2, d1a2t2, d1a4t2"
    lines = next(text for text in texts(panel.figure) if text.count("✓") > 1)
    assert lines.count("✓") == 3 and "✕" not in lines


def test_a_long_memory_says_how_much_older_it_is(panel):
    keys = [FAMILIES["lightning"].key_of(sizes) for sizes in FAMILIES["lightning"].members[:12]]
    panel.state = f"met={', '.join(keys)}"
    assert any("and 4 older" in text for text in texts(panel.figure))
    assert met(panel) == ", ".join(keys)


def test_another_family_has_counterexamples_and_hints_of_its_own(panel):
    panel.state = "family=skip;hints=2"
    assert met(panel) == "d1a1l1"
    panel.controls["family"].value = "heads"
    assert met(panel) == "d1a1H1" and panel.controls["hints"].value == 0
    assert panel.controls["along"].value in FAMILIES["heads"].varies


def test_a_wrong_memory_is_an_error_and_leaves_the_panel_alive(panel):
    panel.controls["met"].value = "d9a9"
    assert "networks of this family, such as d1a1t2; got 'd9a9'" in panel.status
    panel.controls["met"].value = ""
    assert panel.status.startswith("done")


def test_reset_forgets(panel):
    start = shown(panel)
    type_in(panel, "d**2 + 1")
    panel.controls["family"].value = "skip"
    panel.reset()
    assert shown(panel) == start


# Malformed formulas


@pytest.mark.parametrize("formula", MALFORMED)
def test_a_malformed_formula_gives_a_clear_error_and_leaves_the_panel_alive(panel, formula):
    picture = plain(panel.figure)
    type_in(panel, formula)
    assert panel.status.startswith("character ") and "Error" not in panel.status
    assert 'role="alert"' in panel._status_html.value
    assert plain(panel.figure) == picture
    type_in(panel, "alpha(a, d) + d**2 - 1")
    assert panel.status.startswith("done")
    assert "at all 40 networks" in panel.description


def test_what_was_typed_is_text_and_never_html(panel):
    type_in(panel, "d + <img src=x>")
    assert "<img" not in panel._status_html.value + panel._description_html.value


def test_the_text_box_has_a_label(panel):
    for name in ("formula", "met"):
        control = panel.controls[name]
        assert isinstance(control, widgets.Text) and control.description and not control.continuous_update


# Hints


@pytest.mark.parametrize("family", GUIDED)
def test_hints_come_one_by_one_and_only_the_last_one_is_the_answer(panel, family):
    panel.controls["family"].value = family
    hints, slider = FAMILIES[family].hints, panel.controls["hints"]
    assert "Hint" not in panel.description and not slider.disabled
    for number, _ in enumerate(hints, start=1):
        slider.value = number
        assert f"Hint {number} of {len(hints)}: " in panel.description
        assert (FAMILIES[family].known in panel.description) == (number == len(hints))
    type_in(panel, FAMILIES[family].known)
    assert "says what is measured at all" in panel.description


def test_families_without_hints_have_none_to_show(panel):
    assert panel.controls["hints"].disabled
    panel.state = "hints=3"
    assert panel.status.startswith("done") and "Hint" not in panel.description


# What all panels promise


def test_random_states_come_back_and_are_drawn_as_if_opened_there(panel):
    draw = random.Random(3)
    for _ in range(8):
        family = draw.choice(list(FAMILIES))
        members = draw.sample(FAMILIES[family].members, draw.randint(0, 4))
        keys = ", ".join(FAMILIES[family].key_of(sizes) for sizes in members)
        panel.state = (
            f"met={keys};family={family};formula={draw.choice(FORMULAS)};along={draw.choice('datlH')};"
            f"hints={draw.randint(0, 4)};known={draw.choice(('yes', 'no'))};seed={draw.randint(0, 9)}"
        )
        assert panel.status.startswith("done"), panel.status
        other = FormulaExplorer(state=panel.state)
        assert shown(other) == shown(panel)
        other.close()


def test_a_state_holds_every_sign_that_a_formula_can_have(panel):
    formula = "2*a*d - d**2 + (3**(l/1) if t != 1 <= a else 0)"
    type_in(panel, formula)
    text = panel.state
    panel.reset()
    panel.state = text
    assert panel.state == text and panel.controls["formula"].value == formula


def test_a_state_in_the_old_notation_is_refused_with_the_new_form(panel):
    with pytest.raises(FormulaError, match=re.escape("2*a*d + d**2, not 2ad + d²")):
        panel.state = "family=skip;formula=l(α(a, d) + d² − 1)"


@pytest.mark.parametrize(
    "state",
    ["family=rotary", "formula=2*a*d +", "formula=d/2", "along=x", "hints=5", "known=maybe", "met=d9", "l=2"],
)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    panel.state = "family=skip;formula=l*(alpha(a, d) + d**2);hints=1;met=d2a1l3"
    before = shown(panel)
    with pytest.raises(ValueError):
        panel.state = f"family=heads;{state}"
    assert shown(panel)[0] == before[0] and shown(panel)[3] == before[3]
    with pytest.raises(ValueError):
        FormulaExplorer(state=state)


def test_no_text_carries_a_dollar_sign_and_nothing_is_smaller_than_it_may_be(panel):
    for family in FAMILIES:
        panel.state = f"family={family};formula=2*a*d + d**2;known=yes"
        assert not any("$" in text for text in said(panel.figure))
        sizes = [a.font.size for a in panel.figure.layout.annotations if a.text and a.font.size]
        assert min(sizes) >= 12
