"""The explorer of teleportation: its loss stands still; its gradient and descents are the package’s."""

import re
from math import inf, isfinite

import numpy as np
import pytest
from panels import ends, headlines, plain, random_states, said, title, trace

from neuroviz.beyond.teleport.comparison import CHECKPOINTS, RULES, Count, shipped_comparisons
from neuroviz.beyond.teleport.figure import share, teleport_parts
from neuroviz.beyond.teleport.panel import TeleportExplorer
from neuroviz.beyond.teleport.study import TeleportSetting, study_teleport
from neuroviz.beyond.teleport.teleport import (
    WALKS,
    draw_problem,
    loss_and_gradient,
    move,
    squared_norm,
    stack,
)
from neuroviz.kit import theme
from neuroviz.kit.plot import make, redraw

VISIBLE, MORE = ["walk", "place", "rate", "rule"], ["steps", "seed"]
STATES = [
    "walk=keys;place=1;rate=-9;rule=small;steps=60",
    "walk=values;place=-2.5;rate=-3;rule=same;steps=40",
    "walk=basis;place=0;rate=-8;rule=own;steps=30;seed=5",
    "walk=interface;place=0.6;rate=-11;rule=small;steps=100",
    "walk=interface;place=2.5;rate=-12;steps=20;seed=2",
]
BAD_STATES = ["walk=swap", "place=3", "rate=-2", "rule=best", "steps=401", "seed=-1"]


@pytest.fixture(scope="module")
def shared():
    panel = TeleportExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


# What it shows


@pytest.mark.parametrize("state", STATES)
def test_the_loss_is_flat_and_the_gradient_is_that_of_the_weights_there(panel, state):
    panel.state = state
    drawn = trace(panel.figure, "loss along the fibre")
    assert np.ptp(drawn.y) < 1e-8 * drawn.y[0]
    setting = panel._read()
    problem = draw_problem(setting.walk, setting.seed)
    there = move(setting.walk, problem.weights, problem.generator, setting.place)
    loss, gradient = loss_and_gradient(stack([there]), problem.X[None], problem.Y[None])
    here = trace(panel.figure, "here")
    assert here.x[0] == setting.place and here.y[0] == pytest.approx(np.sqrt(squared_norm(gradient)[0]))
    assert trace(panel.figure, "loss here").y[0] == pytest.approx(loss[0])


def test_the_headline_says_how_much_longer_the_gradient_is(panel):
    panel.controls["place"].value = 0.0
    assert headlines(panel.figure)[0] == "gradient × 1 on the same fibre"
    panel.controls["place"].value = 1.0
    times = panel._shown.gradient / panel._shown.gradient_at(0.0)
    assert headlines(panel.figure)[0] == f"gradient × {times:.2g} on the same fibre" and times > 1.5
    assert f"{times:.2g} times as long" in panel.description


@pytest.mark.parametrize("walk", WALKS)
def test_the_triangle_stands_at_the_bottom_of_the_curve_and_the_diamond_beside_it(panel, walk):
    panel.state = f"walk={walk}"
    curve = trace(panel.figure, "length of the gradient")
    bottom = trace(panel.figure, "shortest gradient, by the formula")
    assert bottom.y[0] <= min(curve.y) * (1 + 1e-9)
    assert abs(bottom.x[0] - curve.x[int(np.argmin(curve.y))]) < 0.11
    diamond = trace(panel.figure, "shortest weights")
    assert diamond.y[0] > bottom.y[0]


@pytest.mark.parametrize("state", STATES)
def test_descents_are_drawn_until_they_are_lost(panel, state):
    panel.state = state
    study = panel._shown
    for name, run in (("from the start", study.from_start), ("from here", study.from_here)):
        drawn = trace(panel.figure, name)
        kept = [loss for loss in run if isfinite(loss)]
        assert drawn.y[0] == pytest.approx(run[0])
        assert len(drawn.y) <= len(run) and (len(kept) < len(run) or max(run) > 1e3 * run[0] or
                                             list(drawn.y) == pytest.approx(list(run)))  # fmt: skip


def test_a_lost_descent_is_said_to_be_lost(panel):
    panel.state = "place=2;rate=-7"
    assert panel._shown.from_here[-1] == inf and isfinite(panel._shown.from_start[-1])
    assert "lost" in headlines(panel.figure)[2] and "is lost after" in panel.description
    panel.controls["rate"].value = -3
    assert headlines(panel.figure)[2] == "both descents are lost"
    assert "and so is that from the start" in panel.description


def test_at_the_start_both_descents_are_alike(panel):
    panel.controls["place"].value = 0.0
    assert headlines(panel.figure)[2] == "both are alike"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("walk", WALKS)
def test_what_was_counted_is_drawn_as_it_was_counted(panel, walk, rule):
    panel.state = f"walk={walk};rule={rule};steps=10"
    for count in shipped_comparisons()[walk].of(rule):
        if count.destination == "balanced":
            continue
        drawn = trace(panel.figure, f"ahead: {count.destination}")
        assert list(drawn.x) == list(CHECKPOINTS)
        assert list(drawn.y) == [share(count, i) for i in range(len(CHECKPOINTS))]
        if count.destination == "twice":
            assert f"{count.ahead[0]} are ahead after 1 step" in panel.description


def test_a_share_of_nothing_is_a_half():
    assert share(Count("twice", "same", (0,), (0,), (0,), (0,), (1.0,)), 0) == 0.5
    assert share(Count("twice", "same", (0,), (3,), (0,), (0,), (2.0,)), 0) == 0.0


def test_the_badges_say_what_is_proved_and_what_is_not(panel):
    assert "proved here · convex in s" in title(panel) and "floating point · descents" in title(panel)


# What every picture owes its reader


@pytest.mark.parametrize("state", STATES)
def test_texts_hold_no_dollar_and_no_python_and_every_mark_has_a_finite_place(panel, state):
    panel.state = state
    for text in [*said(panel.figure), panel.description]:
        assert "$" not in text and not re.search(r"\b(None|nan|inf|np\.|float64|Fraction)\b", text), text
    for one in panel.figure.data:
        assert len(one.x) == len(one.y)
        assert all(isfinite(x) and isfinite(y) for x, y in zip(one.x, one.y, strict=True)), one.name


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(panel, mode, size):
    answer = panel._shown
    theme.use(mode, size)
    try:
        figure = make(teleport_parts(answer))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        assert min(a.font.size for a in figure.layout.annotations) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


def test_the_figure_keeps_its_elements_and_is_the_one_a_new_panel_would_draw(panel):
    figure, uids = panel.figure, [t.uid for t in panel.figure.data]
    sizes = len(figure.layout.annotations), len(figure.layout.shapes)
    for state in STATES:
        panel.state = state
        assert panel.status.startswith("done"), (state, panel.status)
        assert panel.figure is figure and [t.uid for t in figure.data] == uids
        assert (len(figure.layout.annotations), len(figure.layout.shapes)) == sizes
        assert plain(figure) == plain(make(teleport_parts(study_teleport(panel._read())))), state


def test_that_comparison_sees_a_figure_that_was_not_redrawn(panel):
    one, two = panel._shown, study_teleport(TeleportSetting(walk="basis", place=-1.0, steps=30))
    figure = make(teleport_parts(one))
    redraw(figure, teleport_parts(two), teleport_parts(two))
    assert plain(figure) == plain(make(teleport_parts(one))) != plain(make(teleport_parts(two)))
    redraw(figure, None, teleport_parts(two))
    assert plain(figure) == plain(make(teleport_parts(two)))


@pytest.mark.parametrize("name", VISIBLE + MORE)
@pytest.mark.parametrize("state", STATES)
def test_both_ends_of_every_control_are_legal(panel, state, name):
    panel.state = state
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        assert panel.status.startswith("done"), (value, panel.status)


@pytest.mark.parametrize("state", list(random_states(TeleportExplorer, 12, seed=1)))
def test_no_combination_of_controls_fails(panel, state):
    panel.state = state
    assert panel.status.startswith("done"), panel.status
    assert not re.search(r"\b(None|nan|inf)\b", panel.description)


def test_a_state_restores_the_panel(panel):
    panel.state = STATES[3]
    before = panel.state, panel.description, plain(panel.figure)
    panel.reset()
    assert (panel.state, panel.description, plain(panel.figure)) != before
    again = TeleportExplorer(state=before[0])
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
