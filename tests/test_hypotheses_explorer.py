"""Where the paper's formula stops: cells are measurements, angles are those of
tokens."""

import numpy as np
import pytest
from panels import said, title

from neuroviz.attention import Architecture
from neuroviz.attention.formulas import general_formula
from neuroviz.deep.hypotheses import HypothesesSetting, _between, study_hypotheses
from neuroviz.deep.hypotheses_panel import HypothesesExplorer
from neuroviz.kit.measured import measure_dimension


def study(
    widths=(4, 4, 4), head_dims=(1, 3), tokens=3, attention="lightning", over="heads"
):
    return study_hypotheses(
        HypothesesSetting(*head_dims, widths[1], widths[0], tokens, attention, over)
    )


@pytest.mark.parametrize("attention", ["lightning", "softmax"])
@pytest.mark.parametrize("tokens", [1, 3])
def test_every_cell_is_a_measurement_and_the_general_formula_is_right_there(
    attention, tokens
):
    for over in ("heads", "widths"):
        for cell in study(tokens=tokens, attention=attention, over=over).cells:
            place = (4, 4, 4), (cell.column, cell.row)
            if over == "widths":
                place = (cell.row, cell.column, cell.row), (1, 3)
            arch = Architecture(*place, tokens, attention)
            assert cell.measured == measure_dimension(arch)
            assert cell.measured.value == general_formula(arch).value


def test_the_formula_is_right_wherever_its_hypotheses_hold_and_only_there_promised():
    found = study()
    assert not found.contradicted and not study(over="widths").contradicted
    assert {(c.column, c.row) for c in found.cells if c.covered} == {
        (a, b) for a in (2, 3, 4) for b in (2, 3, 4)
    }
    assert {(c.column, c.row) for c in found.off} == {(1, b) for b in (2, 3, 4, 5)}


@pytest.mark.parametrize(
    ("widths", "tokens", "attention"),
    [((4, 4, 4), 1, "softmax"), ((4, 4, 4), 3, "lightning"), ((3, 5, 3), 3, "softmax")],
)
def test_every_cell_that_is_off_names_its_cause_and_no_other_does(
    widths, tokens, attention
):
    for over in ("heads", "widths"):
        for cell in study(widths, (1, 3), tokens, attention, over).cells:
            assert bool(cell.cause) == bool(cell.difference)


def test_causes_are_told_apart():
    heads = {(c.column, c.row): c.cause for c in study().cells}
    widths = {(c.column, c.row): c.cause for c in study(over="widths").cells}
    assert heads[1, 3] == "rank 1" and heads[2, 3] == "" and heads[1, 1] == ""
    assert (
        widths[3, 4] == "rank 1" and widths[5, 4] == "both" and widths[3, 1] == "widens"
    )
    assert {c.cause for c in study(tokens=1).cells} == {"t = 1", ""}


def test_a_layer_of_rank_one_makes_all_tokens_parallel_and_a_thicker_one_does_not():
    assert study(head_dims=(1, 3)).collapsed == 1
    assert study(head_dims=(2, 3)).collapsed is None
    # the last layer: nothing comes after it
    assert study(head_dims=(3, 1)).collapsed == 2
    assert study(attention="softmax").collapsed is None
    # a line, whatever the rank
    assert study(widths=(3, 1, 3), head_dims=(2, 2)).collapsed == 1


def test_angles_are_between_lines():
    X = np.array([[1.0, 1.0, -2.0, 1e-9], [0.0, 1.0, 0.0, 1.0]])
    np.testing.assert_allclose(_between(X), [45, 0, 90, 45, 45, 90], atol=1e-6)
    assert _between(X[:, :1]) == ()


def test_where_all_cells_are_covered_the_sign_is_that_of_the_badge():
    """Softmax: Eq. 16 is proved here, □; ■ would be a theorem of the paper."""
    panel = HypothesesExplorer(state="head_1=1;kind=softmax")
    assert all(cell.covered for cell in panel._shown.cells)
    assert "□ proved here" in title(panel)
    assert any(
        "□ Eq. 16 applies in every cell" in words for words in said(panel.figure)
    )
    assert not any("■" in words for words in said(panel.figure))


def test_the_words_say_what_is_measured_and_why():
    panel = HypothesesExplorer(state="head_1=1;head_2=3")
    assert (
        "dimension 31, measured exactly; Eq. 14 says 36, off by −5" in panel.description
    )
    assert "In the map Eq. 14 is off in 4 of 25 networks" in panel.description
    assert "after layer 1 all tokens are parallel" in panel.description
    panel.state = "head_1=2"
    assert "right" in panel.description and "parallel" not in panel.description
