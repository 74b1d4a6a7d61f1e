"""The search for a counterexample: fresh architectures, honest marks, and one that is found is shown."""

from dataclasses import replace

import pytest
from panels import PATIENCE

from neuroviz.deep import counterexample_panel as module
from neuroviz.deep.counterexample_figure import trials_parts
from neuroviz.deep.counterexample_panel import (
    CounterexampleExplorer,
    TrialsRequest,
    draw_architecture,
    try_them,
)
from neuroviz.engine.formulas import general_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw


@pytest.fixture(autouse=True)
def nothing_known(monkeypatch):
    monkeypatch.setattr(module, "_known", {})


def test_a_click_tries_one_more():
    panel = CounterexampleExplorer()
    for number in (2, 3, 4):
        panel.controls["tried"].click()
        assert panel.controls["tried"].value == number
        assert panel.description.startswith(str(draw_architecture(number, 3, 5, 0)))
        assert f"{number} tried, no counterexample" in panel.description


def test_every_trial_is_a_measurement_beside_a_formula():
    found = try_them(TrialsRequest(30, 4, 5, 1))
    assert len({trial.arch for trial in found.tried}) > 25
    for trial in found.tried:
        assert trial.measured == measure_dimension(trial.arch)
        assert trial.expected == general_formula(trial.arch)
        assert trial.agrees
    assert {trial.arch.attention for trial in found.tried} == {"lightning", "softmax"}
    assert 0 < found.outside < 30


def test_architectures_stay_within_the_sizes_asked_for():
    drawn = [draw_architecture(n, 2, 3, 5) for n in range(200)]
    assert {arch.num_layers for arch in drawn} == {1, 2}
    assert {width for arch in drawn for width in arch.widths} == {1, 2, 3}


def wrong_at(number):
    """Trials of which one measurement is not what it was."""
    found = try_them(TrialsRequest(6, 3, 5, 0))
    tried = list(found.tried)
    trial = tried[number]
    tried[number] = replace(trial, measured=replace(trial.measured, value=trial.measured.value + 1))
    return replace(found, tried=tuple(tried))


def test_a_counterexample_would_be_marked():
    figure = make(trials_parts(wrong_at(3)))
    assert len(figure.data[4].x) == 1 and figure.data[4].y[0] == figure.data[4].x[0] + 1
    assert "1 of 6 are COUNTEREXAMPLES" in figure.layout.annotations[0].text
    assert "≠" in figure.layout.annotations[-1].text


def test_a_counterexample_would_be_described_with_its_state(monkeypatch):
    panel = CounterexampleExplorer(state="tried=3")
    monkeypatch.setattr(
        module,
        "general_formula",
        lambda arch: replace(general_formula(arch), value=general_formula(arch).value - 1),
    )
    panel.controls["tried"].click()
    assert "1 of 4 DISAGREE" in panel.description
    assert panel.state in panel.description and "tried=4" in panel.description


def test_the_marks_come_from_the_measurements():
    found = try_them(TrialsRequest(20, 3, 5, 0))
    figure = make(trials_parts(found))
    seen = sorted(
        zip([*figure.data[2].x, *figure.data[3].x], [*figure.data[2].y, *figure.data[3].y], strict=True)
    )
    assert seen == sorted((t.expected.value, t.measured.value) for t in found.tried)


@pytest.mark.parametrize("choice", [("light", "notebook"), ("dark", "lecture")])
def test_an_update_in_place_gives_the_same_figure(choice):
    with theme.using({"mode": choice[0], "size": choice[1]}):
        first, second = try_them(TrialsRequest(1, 3, 5, 0)), try_them(TrialsRequest(25, 3, 5, 0))
        figure = make(trials_parts(first))
        for old, new in ((first, second), (None, first), (first, wrong_at(2))):
            redraw(figure, trials_parts(old), trials_parts(new))
            assert figure.to_dict() == make(trials_parts(new)).to_dict()


def test_many_fresh_ones_are_measured_in_the_background_and_then_known():
    panel = CounterexampleExplorer()
    panel.state = "tried=120;max_layers=2;max_width=3"
    assert panel.status == "working …"
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    panel.controls["tried"].click()
    assert panel.status.startswith("done"), "the 120 before it are known here now"
    panel.close()


def test_the_badge_would_say_that_formula_and_measurement_differ(monkeypatch):
    panel = CounterexampleExplorer()
    assert "≠ measured" not in panel._title_html.value
    monkeypatch.setattr(
        module,
        "general_formula",
        lambda arch: replace(general_formula(arch), value=general_formula(arch).value - 1),
    )
    panel.controls["tried"].click()
    assert "≠ measured" in panel._title_html.value
