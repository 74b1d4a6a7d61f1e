"""The panel of the ledger: which network it measures, and what it says where two
numbers disagree."""

from dataclasses import replace

import pytest
from panels import PATIENCE, title

import neuroviz as nv
from neuroviz.attention import formulas
from neuroviz.deep.ledger import LedgerSetting, study_ledger
from neuroviz.deep.ledger_panel import LedgerExplorer, _say_ledger
from neuroviz.kit.measured import clear_cache, kernel_ledger
from neuroviz.rank import exact

PANEL = LedgerExplorer
ASKED = [
    ("", (4, 4, 4), (2, 2), 3, "lightning"),
    ("width=3;width_out=5;layers=3", (3, 3, 3, 5), (2, 2, 2), 3, "lightning"),
    ("layers=1;width_out=1;kind=softmax", (4, 1), (2,), 3, "softmax"),
    ("widths=4,3,5;head_dims=2,1", (4, 3, 5), (2, 1), 3, "lightning"),
    ("widths= 2 4 2 ;tokens=1;layers=5;width=8", (2, 4, 2), (2, 2), 1, "lightning"),
    ("head_dims=1,3;head_dim=8", (4, 4, 4), (1, 3), 3, "lightning"),
    ("widths=3,2", (3, 2), (2,), 3, "lightning"),
]
BAD_TEXTS = [
    ("widths", "4", "2 to 7 numbers"),
    ("widths", "4,x", "whole numbers"),
    ("widths", "4,9", "from 1 to 8"),
    ("head_dims", "2,1,2", "needs 2 numbers"),
    ("head_dims", "9" * 5000 + ",2", "a per layer"),
]


def numbers(panel):
    """The six numbers, from all parameters to the dimension."""
    facts = panel.facts
    costs = [
        *(family["cost"] for family in facts["families"]),
        facts["unexplained"]["count"],
    ]
    return [facts["parameters"]["count"], *costs, facts["dimension"]["count"]]


@pytest.mark.parametrize(("state", "widths", "head_dims", "tokens", "kind"), ASKED)
def test_the_panel_shows_the_ledger_of_the_network_asked_for(
    panel, state, widths, head_dims, tokens, kind
):
    ledger = kernel_ledger(nv.Architecture(widths, head_dims, tokens, kind))
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    found = numbers(panel)
    assert (found[0], found[-1]) == (ledger.parameters, ledger.dimension)
    for part in (
        str(ledger.network),
        f"{ledger.parameters} parameters",
        f"{ledger.dimension} dimension",
    ):
        assert part in panel.description


def test_the_description_says_in_words_what_is_shown(panel):
    for part in (
        "lightning 4→4→4, a = 2, 2, t = 3: of 64 parameters 26 directions are silent",
        "(head bases 8, interfaces 16, rescalings 2)",
        "38 dimensions remain (exact, with a proof)",
        "Theory agrees: Cor. 3.8, proved",
    ):
        assert part in panel.description, part
    assert "● exact · 38" in title(panel) and "■ proved · Cor. 3.8: 38" in title(panel)
    panel.state = "widths=3,3,3;head_dims=1,2"
    assert "□ proved here · Theorem C: 18" in title(panel)
    for part in ("the rest 2: A₁ has rank one", "chance ≤", "Eq. 14 would say 20"):
        assert part in panel.description, part


def test_two_measurements_that_disagree_are_said():
    s = study_ledger(LedgerSetting())
    wrong = replace(s.exact, value=37)
    assert "finds 37: they DISAGREE" in _say_ledger(s.ledger, wrong)
    assert "DISAGREE" not in _say_ledger(s.ledger, s.exact)


def test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so(
    panel, monkeypatch
):
    alpha = formulas.alpha
    with monkeypatch.context() as bad:
        bad.setattr(formulas, "alpha", lambda a, d: alpha(a, d) + 1)
        panel.controls["tokens"].value = 4
        assert numbers(panel)[-1] == 38
        assert panel.facts["formula"] == {"source": "Cor. 3.8", "value": 40}
        assert "says 40: they DISAGREE" in panel.description and "≠ measured" in title(
            panel
        )
    panel.controls["tokens"].value = 5
    assert "DISAGREE" not in panel.description and "≠" not in title(panel)


def test_a_wrong_measurement_leaves_the_formula_alone_and_the_panel_says_so(
    panel, monkeypatch
):
    eliminate = exact.eliminate
    clear_cache()
    with monkeypatch.context() as bad:
        bad.setattr(
            exact,
            "eliminate",
            lambda matrix, arithmetic: eliminate(matrix, arithmetic) - 1,
        )
        panel.controls["tokens"].value = 6
        assert panel.wait(PATIENCE) and panel.status.startswith("done")
        assert numbers(panel)[-1] == 37 and "they DISAGREE" in panel.description
        assert panel.facts["formula"]["value"] == 38
        assert (
            "the rest 1:" in panel.description and "please tell us" in panel.description
        )
    clear_cache()


def test_the_largest_network_is_measured_in_the_background(panel):
    panel.state = "width=8;width_out=8;head_dim=8;layers=6;tokens=2"
    assert panel.status.startswith("working")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert numbers(panel) == [1152, 384, 320, 6, 0, 442]


@pytest.mark.parametrize(("name", "text", "words"), BAD_TEXTS)
def test_sizes_that_make_no_sense_are_refused_in_words(panel, name, text, words):
    panel.controls[name].value = text
    assert words in panel.status and not panel.status.startswith(("done", "working"))
    panel.controls[name].value = ""
    assert panel.status.startswith("done")


def test_the_cause_of_unexplained_directions_is_said_in_the_description():
    s = study_ledger(LedgerSetting(widths="3,3,3", head_dims="1,2"))
    assert s.ledger.unexplained and f"the rest 2: {s.ledger.note}" in _say_ledger(
        s.ledger, s.exact
    )
