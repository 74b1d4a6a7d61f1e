"""The ledger as a waterfall: where the numbers come from, and that nothing breaks."""

import re
from dataclasses import replace
from functools import cache

import pytest
from panels import PATIENCE, said, title, trace

import neuroviz as nv
from neuroviz.deep.ledger import FAMILIES, LedgerSetting, family_parts, study_ledger
from neuroviz.deep.ledger_figure import ledger_parts
from neuroviz.deep.ledger_panel import LedgerExplorer, _say_ledger
from neuroviz.engine import formulas, measure
from neuroviz.engine import random_rank as points
from neuroviz.engine.ledger import kernel_ledger
from neuroviz.kit import theme
from neuroviz.kit.plot import make

PANEL = LedgerExplorer
# widths, head dims, tokens, kind
CASES = {
    "start": ((4, 4, 4), (2, 2), 3, "lightning"),
    "softmax": ((4, 4, 4), (2, 2), 3, "softmax"),
    "one layer": ((4, 4), (2,), 3, "lightning"),
    "one layer, one output": ((3, 1), (2,), 3, "lightning"),
    "one layer, softmax": ((4, 2), (3,), 2, "softmax"),
    "one output": ((4, 4, 1), (1, 1), 3, "lightning"),
    "collapse": ((3, 3, 3), (1, 2), 3, "lightning"),
    "widening": ((2, 4, 2), (2, 2), 3, "lightning"),
    "the paper's formula negative": ((2, 8, 2), (2, 2), 3, "lightning"),
    "one token": ((4, 4, 4), (2, 2), 1, "lightning"),
    "one token, softmax": ((4, 4, 4), (2, 2), 1, "softmax"),
    "one token, one layer": ((3, 2), (5,), 1, "lightning"),
    "width one": ((1, 1), (1,), 3, "lightning"),
    "deep and thin": ((1,) * 7, (8,) * 6, 3, "lightning"),
    "unequal inner widths": ((2, 5, 4, 6, 3), (1, 2, 3, 4), 2, "lightning"),
    "two causes": ((2, 5, 5, 2), (1, 2, 2), 3, "lightning"),
}
EXPLAINED = ["start", "softmax", "one layer", "one layer, one output", "one layer, softmax", "width one"]
LEFT_OVER = ["collapse", "widening", "one token", "one token, softmax", "two causes"]

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


@cache
def study(name):
    widths, head_dims, tokens, kind = CASES[name]
    typed = {"widths": ",".join(map(str, widths)), "head_dims": ",".join(map(str, head_dims))}
    return study_ledger(LedgerSetting(**typed, tokens=tokens, kind=kind))


def numbers_above(figure):
    """The six large numbers, from left to right."""
    large = round(1.5 * theme.size("title"))
    notes = sorted((a for a in figure.layout.annotations if a.font.size == large), key=lambda a: a.x)
    return [re.sub("</?b>", "", a.text) for a in notes]


def bars(figure):
    """x → (height, base) of every bar that is drawn."""
    return {
        x: (y, (t.base or [0] * len(t.x))[i])
        for t in figure.data
        if t.type == "bar"
        for i, (x, y) in enumerate(zip(t.x, t.y, strict=True))
    }


# The waterfall


@pytest.mark.parametrize("name", CASES)
def test_each_bar_begins_where_the_one_before_it_ends_and_the_last_meets_the_dimension(name):
    ledger, figure = kernel_ledger(nv.Architecture(*CASES[name])), make(ledger_parts(study(name)))
    drawn = bars(figure)
    costs = [*(ledger.entries.get(family, 0) for family in FAMILIES), ledger.unexplained]
    assert drawn[0] == (ledger.parameters, 0) and drawn[5] == (ledger.dimension, 0)
    assert [drawn.get(i, (0,))[0] for i in (1, 2, 3, 4)] == costs
    above = [f"−{cost}" if cost else "0" for cost in costs]
    assert numbers_above(figure) == [str(ledger.parameters), *above, str(ledger.dimension)]
    level = ledger.parameters
    for i in range(1, 5):
        height, base = drawn.get(i, (0, level))
        assert base + height == level
        level = base
    assert level == ledger.dimension
    low, high = figure.layout.yaxis.range
    assert all(low <= base <= base + height <= high for height, base in drawn.values())
    notes = [note.y for note in figure.layout.annotations if note.yref == "y"]
    assert all(low <= y <= high for y in notes)


def test_a_wrong_ledger_is_shown_as_it_is():
    """The last bar is the measurement, not what the formula says, and not what the others leave over."""
    right = study("start")
    wrong = replace(right, ledger=replace(right.ledger, dimension=35, entries={"head bases": 11}))
    figure = make(ledger_parts(wrong))
    assert numbers_above(figure) == ["64", "−11", "0", "0", "0", "35"]
    assert bars(figure)[5] == (35, 0) and any("29 of 64" in text for text in said(figure))
    assert set(trace(figure, "dimension by the formula").y) == {38}
    assert (
        trace(figure, "dimension (measured)").y != trace(make(ledger_parts(right)), "dimension (measured)").y
    )


@pytest.mark.parametrize("name", CASES)
def test_formula_and_paper_are_ticks_and_the_paper_is_said_not_to_apply_where_it_misleads(name):
    s, figure = study(name), make(ledger_parts(study(name)))
    tick = trace(figure, "dimension by the formula")
    assert list(tick.y) == [nv.expected_dimension(s.ledger.arch).value] * 2
    assert tick.x[0] < 5 < tick.x[1]
    source = s.expected.source.replace(", ", "<br>")
    assert any(text.startswith(f"{source}<br><b>{s.expected.value}</b>") for text in said(figure))
    beside = [t for t in figure.data if t.name == "the paper's formula outside its hypotheses"]
    misleads = s.paper.status == "outside hypotheses" and s.paper.value != s.ledger.dimension
    words = f"<b>{s.paper.value}</b><br>does not apply".replace("-", "−")
    assert any(words in text for text in said(figure)) == misleads
    assert [list(tick.y) for tick in beside] == [[s.paper.value] * 2] * (misleads and s.paper.value >= 1)


@pytest.mark.parametrize("name", CASES)
def test_unexplained_directions_have_a_bar_and_a_cause_exactly_where_there_are_some(name):
    s, figure = study(name), make(ledger_parts(study(name)))
    some = s.ledger.unexplained > 0
    if name in EXPLAINED or name in LEFT_OVER:
        assert some == (name in LEFT_OVER)
    hatched = [t.marker.pattern.shape for t in figure.data if t.name == "unexplained directions"]
    assert hatched == ["/"] * some
    cause = [text for text in said(figure) if text.startswith("▨") and "unexplained" in text]
    assert len(cause) == some
    if some:
        start = s.ledger.note[:40]
        assert start in cause[0].replace("<br>", " ")
        assert s.ledger.note in _say_ledger(s.ledger, s.exact)


def test_the_parts_of_a_family_stay_short():
    def short(*parts):
        return family_parts(replace(study("start").ledger, parts={"interfaces": parts}), "interfaces")

    assert short() == "" and short(9) == "9" and short(4, 4) == "4 + 4" and short(4, 4, 4) == "3 × 4"
    assert short(4, 9, 4) == "4 + 9 + 4" and short(4, 9, 4, 4) == "4 + 9 + …"


def test_below_each_bar_stands_why_it_is_there():
    rows = {name: make(ledger_parts(study(name))).layout.xaxis.ticktext for name in CASES}
    # Of the a² = 64 changes of basis (a − d)² = 49 move neither Q nor K: 2ad − d² = 15 directions.
    assert "a > d: 2ad − d²<br>6 × 15" in rows["deep and thin"][1]
    assert "GL<sub>a</sub> each<br>4 + 4" in rows["start"][1] and "A·c, V÷c<br>1 + 1" in rows["start"][3]
    assert "one layer" in rows["one layer"][2] and "one layer" not in rows["start"][2]
    assert "doubling A is seen" in rows["softmax"][3] and "softmax: none" in rows["one token, softmax"][3]
    assert "nothing left" in rows["start"][4] and "other causes" in rows["collapse"][4]


# The panel


@pytest.mark.parametrize(("state", "widths", "head_dims", "tokens", "kind"), ASKED)
def test_the_panel_shows_the_ledger_of_the_network_asked_for(panel, state, widths, head_dims, tokens, kind):
    ledger = kernel_ledger(nv.Architecture(widths, head_dims, tokens, kind))
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    above = numbers_above(panel.figure)
    assert (above[0], above[-1]) == (str(ledger.parameters), str(ledger.dimension))
    for part in (str(ledger.arch), f"{ledger.parameters} parameters", f"{ledger.dimension} dimension"):
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
    for part in ("2 unexplained: A₁ has rank one", "chance ≤", "Eq. 14 would say 20"):
        assert part in panel.description, part


def test_two_measurements_that_disagree_are_said():
    s = study("start")
    wrong = replace(s.exact, value=37)
    assert "finds 37: they DISAGREE" in _say_ledger(s.ledger, wrong)
    assert "DISAGREE" not in _say_ledger(s.ledger, s.exact)


def test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so(panel, monkeypatch):
    alpha = formulas.alpha
    with monkeypatch.context() as bad:
        bad.setattr(formulas, "alpha", lambda a, d: alpha(a, d) + 1)
        panel.controls["tokens"].value = 4
        assert numbers_above(panel.figure)[-1] == "38" and "Cor. 3.8<br><b>40</b>" in said(panel.figure)
        assert set(trace(panel.figure, "dimension by the formula").y) == {40}
        assert "says 40: they DISAGREE" in panel.description and "≠ measured" in title(panel)
    panel.controls["tokens"].value = 5
    assert "DISAGREE" not in panel.description and "≠" not in title(panel)


def test_a_wrong_measurement_leaves_the_formula_alone_and_the_panel_says_so(panel, monkeypatch):
    eliminate = points.eliminate
    measure.clear_cache()
    with monkeypatch.context() as bad:
        bad.setattr(points, "eliminate", lambda matrix, arithmetic: eliminate(matrix, arithmetic) - 1)
        panel.controls["tokens"].value = 6
        assert panel.wait(PATIENCE) and panel.status.startswith("done")
        assert numbers_above(panel.figure)[-1] == "37" and "they DISAGREE" in panel.description
        assert set(trace(panel.figure, "dimension by the formula").y) == {38}
        assert "1 unexplained" in panel.description and "please tell us" in panel.description
    measure.clear_cache()


def test_the_largest_network_is_measured_in_the_background(panel):
    panel.state = "width=8;width_out=8;head_dim=8;layers=6;tokens=2"
    assert panel.status.startswith("working")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert numbers_above(panel.figure) == ["1152", "−384", "−320", "−6", "0", "442"]


@pytest.mark.parametrize(("name", "text", "words"), BAD_TEXTS)
def test_sizes_that_make_no_sense_are_refused_in_words(panel, name, text, words):
    panel.controls[name].value = text
    assert words in panel.status and not panel.status.startswith(("done", "working"))
    panel.controls[name].value = ""
    assert panel.status.startswith("done")
