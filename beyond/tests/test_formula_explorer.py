"""The panel in which a reader looks for a formula: it measures, and survives
anything."""

import re
from dataclasses import replace

import pytest
from panels import bare, headlines, plain, said, texts, title, trace

from neuroviz.kit.plot import make
from neuroviz_beyond.formula.families import FAMILIES
from neuroviz_beyond.formula.family import FamilySetting, study_family
from neuroviz_beyond.formula.panel import FormulaExplorer, formula_parts

PANEL = FormulaExplorer
GUIDED = [name for name, family in FAMILIES.items() if family.hints]
MALFORMED = [
    "",
    "2*a*d +",
    "2ad + d²",
    "foo",
    "d/2",
    "1/(d - 3)",
    "__import__('os')",
    "<b>",
    "(" * 300,
    "🙂",
]


def type_in(panel, formula):
    panel.controls["formula"].value = formula


@pytest.mark.parametrize("family", ["lightning", "skip", "heads-many"])
def test_every_cell_has_the_measurement_and_the_difference_of_its_network(family):
    study = study_family(FamilySetting(family, "2*a*d + d**2"))
    other = [
        replace(v, measured=replace(v.measured, value=v.measured.value + 7))
        for v in study.verdicts
    ]
    # what is called measured is
    for one in (study, replace(study, verdicts=tuple(other))):
        figure = make(formula_parts(one))
        numbers = trace(figure, "measured")
        below = trace(figure, "you − measured")
        assert [int(bare(text)) for text in numbers.text] == [
            v.measured.value for v in one.verdicts
        ]
        assert [int(t.replace("−", "-")) for t in below.text] == [
            v.difference for v in one.verdicts
        ]
        assert len(set(zip(numbers.x, numbers.y, strict=True))) == len(
            FAMILIES[family].members
        )
        colours = [
            cell
            for row in trace(figure, "where it is wrong (measured)").z
            for cell in row
        ]
        assert colours.count(1) == len(one.wrong) and colours.count(0) == len(
            one.verdicts
        ) - len(one.wrong)
        assert (
            f"wrong at {len(one.wrong)} of {len(one.verdicts)} networks"
            in headlines(figure)[0]
        )


def test_the_first_counterexample_is_ringed_and_said(panel):
    first = panel._shown.first
    ring = panel.figure.layout.shapes[-1]
    numbers = trace(panel.figure, "measured")
    at = [
        t
        for t, x, y in zip(numbers.text, numbers.x, numbers.y, strict=True)
        if ring.x0 < x < ring.x1 and ring.y0 < y < ring.y1
    ]
    assert at == [f"<b>{first.measured.value}</b>"] and ring.type == "rect"
    assert "First at d = 1, a = 1, t = 2: you say 3, measured 1." in panel.description
    assert any("you say <b>3</b>, measured" in text for text in texts(panel.figure))


def test_a_right_formula_is_called_evidence_and_no_proof(panel):
    type_in(panel, "alpha(a, d) + d**2 - 1")
    assert "says what is measured at all 40 networks" in panel.description
    assert (
        "no proof" in panel.description
        and "○ observed · your formula, 40 networks" in title(panel)
    )
    assert headlines(panel.figure)[0] == "right at all 40 networks"
    assert set(trace(panel.figure, "you − measured").text) == {"0"}
    assert not any(shape.type == "rect" for shape in panel.figure.layout.shapes)
    type_in(panel, "alpha(a, d) + d**2")
    assert "observed" not in title(panel) and "no proof" not in panel.description
    assert any("you − measured, always +1" in text for text in texts(panel.figure))
    type_in(panel, "5000")
    assert set(trace(panel.figure, "you − measured").text) == {"≫ 0"}


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
    assert status in title(panel) and any(
        status in text for text in texts(panel.figure)
    )
    panel.controls["family"].value = "softmax" if family == "lightning" else "lightning"
    assert "what is known" not in title(panel), (
        "another family's answer is not asked for yet"
    )


# Malformed formulas, and states


@pytest.mark.parametrize("formula", MALFORMED)
def test_a_malformed_formula_gives_a_clear_error_and_leaves_the_panel_alive(
    panel, formula
):
    picture = plain(panel.figure)
    type_in(panel, formula)
    assert (
        panel.status
        and not panel.status.startswith("done")
        and "Error" not in panel.status
    )
    assert panel._status.said["kind"] == "error"
    assert plain(panel.figure) == picture
    type_in(panel, "alpha(a, d) + d**2 - 1")
    assert panel.status.startswith("done")
    assert "at all 40 networks" in panel.description


def test_a_state_holds_every_sign_that_a_formula_can_have(panel):
    formula = "2*a*d - d**2 + (3**(l/1) if t != 1 <= a else 0)"
    type_in(panel, formula)
    text = panel.state
    panel.reset()
    panel.state = text
    assert panel.state == text and panel.controls["formula"].value == formula


def test_the_notation_of_a_text_is_refused_with_the_form_that_python_reads(panel):
    with pytest.raises(ValueError, match=re.escape("2*a*d + d**2, not 2ad + d²")):
        panel.state = "family=skip;formula=l(α(a, d) + d² − 1)"


# Hints


@pytest.mark.parametrize("family", GUIDED)
def test_hints_come_one_by_one_and_only_the_last_one_is_the_answer(panel, family):
    panel.controls["family"].value = family
    hints = FAMILIES[family].hints
    slider = panel.controls["hints"]
    assert (
        "Hint" not in panel.description and not slider.disabled and 3 <= len(hints) <= 4
    )
    for number, _ in enumerate(hints, start=1):
        slider.value = number
        assert f"Hint {number} of {len(hints)}: " in panel.description
        assert (FAMILIES[family].known in panel.description) == (number == len(hints))
    type_in(panel, FAMILIES[family].known)
    assert "says what is measured at all" in panel.description
    panel.state = "family=lightning;hints=3"
    assert panel.controls["hints"].disabled and "Hint" not in panel.description
