"""The explorer of memorisation: what it shows of the experiment, and the reader's own runs."""

import re
from math import isfinite

import pytest
from panels import PATIENCE, ends, headlines, plain, said, title, trace

from neuroviz.beyond.memorisation.figure import memorisation_parts
from neuroviz.beyond.memorisation.memorisation import CASES, LEARNT, TARGETS, shipped_experiment
from neuroviz.beyond.memorisation.panel import MemorisationExplorer
from neuroviz.beyond.memorisation.study import (
    STEPS,
    MemorisationSetting,
    MemorisationStudy,
    case_name,
    study_memorisation,
)
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

VISIBLE, MORE = ["targets", "network", "beyond"], ["seed"]
STATES = [
    "targets=nearby;network=lightning-3-3-a8;beyond=0",
    "targets=nearby;network=softmax-2-6-2-a2-2;beyond=1",
    "targets=random;network=lightning-5-2-5-a2-2;beyond=2",
    "targets=teacher;network=lightning-3-3-a8;beyond=4;seed=3",
    "targets=random;network=softmax-2-2-2-2-a2-2-2;beyond=-6",
]
BAD_STATES = ["targets=far", "network=lightning-9", "beyond=7", "beyond=-7", "seed=-1", "N=3"]


@pytest.fixture(scope="module")
def shared():
    panel = MemorisationExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def go_to(panel, state):
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done"), (state, panel.status)


# What it shows


@pytest.mark.parametrize("unit", ["D", "P"])
@pytest.mark.parametrize("targets", TARGETS)
def test_every_network_is_drawn_at_what_the_experiment_found(panel, targets, unit):
    go_to(panel, f"targets={targets}")
    drawn = set()
    for name in ("lightning", "softmax", "chosen"):
        one = trace(panel.figure, f"{name}, against N/{unit}")
        drawn |= {(round(x, 9), y) for x, y in zip(one.x, one.y, strict=True) if x is not None}
    expected = {
        (round(t.count / (c.dimension if unit == "D" else c.arch.num_parameters), 9), t.share)
        for c in shipped_experiment().of(targets)
        for t in c.trials
    }
    assert drawn == expected


def test_a_small_change_is_learnt_up_to_d_by_all_and_the_headlines_say_so(panel):
    assert headlines(panel.figure)[0] == "all 14 stop at N = D"
    assert headlines(panel.figure)[1] == "over N/P: 0.18 to 0.96"
    go_to(panel, "targets=random")
    assert headlines(panel.figure)[0] == "none learnt beyond N = D"
    assert headlines(panel.figure)[1] == "over N/P: ≤ 0.14 to 0.96"
    assert "of which half is learnt is 0.62 or less to 1 times D" in panel.description
    go_to(panel, "targets=teacher")
    assert headlines(panel.figure)[0] == "D is no limit where a solution exists"


@pytest.mark.parametrize("state", STATES)
def test_the_dimension_and_the_rank_are_exact_measurements(panel, state):
    go_to(panel, state)
    study, arch = panel._shown, panel._read().arch
    assert study.dimension == measure_dimension(arch) and study.dimension.status == "exact"
    assert study.reach.value == min(study.count, study.dimension.value)
    assert f"rank {study.reach.value} of {study.count} numbers mod 8 388 593" in title(panel)
    assert f"D = {study.dimension.value}" in panel.description


@pytest.mark.parametrize("state", STATES)
def test_the_runs_are_drawn_and_counted_and_learnt_ones_are_filled(panel, state):
    go_to(panel, state)
    study = panel._shown
    for number, run in enumerate(study.runs, start=1):
        drawn = trace(panel.figure, f"run {number}")
        assert len(drawn.y) == len(run) <= STEPS + 1
        assert drawn.y[0] == pytest.approx(run[0])
    marks = trace(panel.figure, "where the runs end").marker.symbol
    assert [not mark.endswith("-open") for mark in marks] == [run[-1] < LEARNT for run in study.runs]
    assert f"{study.learnt} of 3 learnt" in headlines(panel.figure)[2]
    assert f"{study.learnt} of 3 runs" in panel.description


def test_one_number_more_than_the_dimension_is_one_too_many(panel):
    panel.state = "network=lightning-4-4-a4;beyond=0"
    assert headlines(panel.figure)[2] == "N = 31 = D: 3 of 3 learnt"
    panel.controls["beyond"].value = 1
    assert headlines(panel.figure)[2] == "N = 32 > D: 0 of 3 learnt"
    assert "almost all choices of the numbers are out of its reach" in panel.description


def test_with_seed_0_the_runs_are_the_first_of_the_experiment():
    study = study_memorisation(MemorisationSetting(network=case_name(CASES[0]), beyond=0))
    trial = next(t for t in study.chosen.trials if t.count == study.count)
    assert [run[-1] < LEARNT for run in study.runs] == [task[0] < LEARNT for task in trial.misses[:3]]


def test_every_network_has_a_name_of_its_own_that_a_state_can_hold(panel):
    names = [case_name(arch) for arch in CASES]
    assert len(set(names)) == len(CASES) and not any(";" in name for name in names)
    assert [value for _, value in panel.controls["network"].options] == names


@pytest.mark.parametrize(
    "change", [{"targets": "far"}, {"network": "lightning"}, {"beyond": 7}, {"beyond": -7}]
)
def test_a_setting_refuses_what_there_is_not(change):
    with pytest.raises(ValueError, match="must be one of|N goes from"):
        MemorisationSetting(**change)


def test_a_network_that_never_learns_half_is_called_under_what_was_tried():
    curves = shipped_experiment().of("random")
    study = study_memorisation(MemorisationSetting())
    low = [c for c in curves if c.capacity is None]
    other = MemorisationStudy(study.setting, curves, study.dimension, study.reach, study.runs)
    assert bool(low) == other.fails and not study.fails
    assert study.span() == (1.0, 1.0) and other.span()[0] < 0.7


# What every picture owes its reader


@pytest.mark.parametrize("state", STATES)
def test_texts_hold_no_dollar_and_no_python_and_every_mark_has_a_finite_place(panel, state):
    go_to(panel, state)
    for text in [*said(panel.figure), panel.description]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.|float64|Fraction)\b", text), text
    for one in panel.figure.data:
        for x, y in zip(one.x, one.y, strict=True):
            assert x is None or y is None or (isfinite(x) and isfinite(y)), one.name


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(panel, mode, size):
    answer = panel._shown
    theme.use(mode, size)
    try:
        figure = make(memorisation_parts(answer))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        assert min(a.font.size for a in figure.layout.annotations) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


def test_the_figure_keeps_its_elements_and_is_the_one_a_new_panel_would_draw(panel):
    figure, uids = panel.figure, [t.uid for t in panel.figure.data]
    sizes = len(figure.layout.annotations), len(figure.layout.shapes)
    for state in STATES:
        go_to(panel, state)
        assert panel.figure is figure and [t.uid for t in figure.data] == uids
        assert (len(figure.layout.annotations), len(figure.layout.shapes)) == sizes
        assert plain(figure) == plain(make(memorisation_parts(study_memorisation(panel._read())))), state


def test_that_comparison_sees_a_figure_that_was_not_redrawn(panel):
    one = panel._shown
    two = study_memorisation(MemorisationSetting(network=case_name(CASES[9]), beyond=2))
    figure = make(memorisation_parts(one))
    redraw(figure, memorisation_parts(two), memorisation_parts(two))
    assert plain(figure) == plain(make(memorisation_parts(one))) != plain(make(memorisation_parts(two)))
    redraw(figure, None, memorisation_parts(two))
    assert plain(figure) == plain(make(memorisation_parts(two)))


@pytest.mark.parametrize("name", VISIBLE + MORE)
@pytest.mark.parametrize("state", STATES[:3])
def test_both_ends_of_every_control_are_legal(panel, state, name):
    go_to(panel, state)
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        assert panel.wait(PATIENCE) and panel.status.startswith("done"), (value, panel.status)


def test_a_state_restores_the_panel(panel):
    go_to(panel, STATES[1])
    before = panel.state, panel.description, plain(panel.figure)
    panel.reset()
    assert (panel.state, panel.description, plain(panel.figure)) != before
    again = MemorisationExplorer(state=before[0])
    assert (again.state, again.description, plain(again.figure)) == before
    again.close()


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description) == before


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)
