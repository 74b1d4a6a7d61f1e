"""The explorer of rescalings: what its pictures claim, and how it survives."""

import json
from itertools import combinations, product
from math import isfinite, log2

import numpy as np
import pytest
from panels import ends, plain, random_states, text, texts, title, trace

from neuroviz.deep import rescaling_panel as module
from neuroviz.deep.rescaling_figure import rescaling_parts
from neuroviz.deep.rescaling_panel import RescalingExplorer
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, conditioned_weights
from neuroviz.engine.symmetry import rescale, virtual_weights
from neuroviz.kit import plot as parts
from neuroviz.kit import theme
from neuroviz.kit.plot import make

FIRST = ["layers", "log_1", "log_2", "log_3", "log_4"]
MORE = ["kind", "off", "width", "head_dim", "seed"]

STATES = [
    "",
    "log_1=0;log_2=0;log_3=0",
    "layers=1;log_1=-1",
    "layers=4;log_1=1;log_2=1;log_3=1;log_4=1;width=1;head_dim=1",
    "layers=4;log_1=-1;log_2=1;log_3=-1;log_4=1;off=-1;width=4;head_dim=4",
    "kind=softmax",
    "kind=softmax;log_1=0;log_2=0;log_3=0",
    "kind=softmax;layers=4;off=1;width=1",
    "off=0.5;seed=3",
]

BAD_STATES = ["layers=0", "layers=5", "log_1=1.1", "log_5=0", "kind=linear", "off=2", "width=", "seed=x"]


@pytest.fixture(scope="module")
def shared():
    panel = RescalingExplorer()
    panel.start = panel.state
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    return shared


def at(panel, state):
    panel.state = f"{panel.start};{state}"  # of two values of one name the later one counts
    assert panel.status.startswith("done"), panel.status
    return panel


def shown(panel):
    return panel.state, panel.description, plain(panel.figure)


# Eq. 13


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == FIRST + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in FIRST)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


def test_controls_without_a_say_are_greyed_out(panel):
    assert {name for name, c in panel.controls.items() if c.disabled} == {"log_4"}
    panel.state = "layers=1"
    assert {name for name, c in panel.controls.items() if c.disabled} == {"log_2", "log_3", "log_4"}


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_with_the_answer_of_eq_13_the_outputs_stand_still(panel, layers):
    panel.state = f"layers={layers};log_1=-0.8;log_2=1;log_3=0.45;log_4=-0.3"
    study = panel._shown
    start, now = (np.array(trace(panel.figure, f"outputs, {w}").y) for w in ("start", "now"))
    assert np.abs(start - now).max() < 1e-9 and np.abs(start).max() == pytest.approx(1)
    assert study.exponents == tuple(3 ** (layers - i) for i in range(1, layers + 1))
    assert not study.unanswered.is_same  # and without the answer they do not
    ratio = np.linalg.norm(study.unanswered.now) / np.linalg.norm(study.unanswered.start)
    assert ratio * study.balance == pytest.approx(1)
    assert any("has not changed" in text for text in texts(panel.figure))


@pytest.mark.parametrize("off", [-1, -0.05, 0.05, 1])
def test_another_factor_than_that_of_eq_13_is_seen(panel, off):
    panel.state = f"off={off}"
    start, now = (np.array(trace(panel.figure, f"outputs, {w}").y) for w in ("start", "now"))
    assert np.allclose(now, 2**off * start)
    assert "another function" in panel.description and "missed" in panel.description
    assert not any("has not changed" in text for text in texts(panel.figure))


def test_a_layer_at_a_time_the_rescaling_is_that_of_the_weights():
    """(Q, V) → (c Q, V / c) is the rescaling λ_i = c, λ_j = c⁻² for j > i, λ_0 = 1/c of Eq. 13."""
    over, arch = Reals(), Architecture.uniform(3, 2, 3)
    start = conditioned_weights(arch, np.random.default_rng(1))
    before, after = (virtual_weights(over, w) for w in (start, rescale(over, start, 1, 2.0)))
    factors = [
        float(np.vdot(b, a) / np.vdot(b, b))
        for b, a in zip((before.L, *before.M), (after.L, *after.M), strict=True)
    ]
    assert factors == pytest.approx([0.5, 1.0, 2.0, 0.25])
    assert module.balancing_factor(over, factors[1:]) == pytest.approx(factors[0])


@pytest.mark.parametrize("state", ["", "layers=4;log_1=1;log_2=-1;log_3=0.3;log_4=-1", "layers=1;log_1=-0.7"])
def test_the_answer_is_as_many_blocks_as_m_occurs_each_as_high_as_the_bar(panel, state):
    panel.state = state
    study, figure = panel._shown, panel.figure
    bars_of = trace(figure, "log₂ λ of each layer")
    assert tuple(bars_of.y) == study.logs
    up = down = 0.0
    for i, (log, exponent) in enumerate(zip(study.logs, study.exponents, strict=True), start=1):
        blocks = trace(figure, f"λ₀'s answer to λ{'₀₁₂₃₄'[i]}")
        assert len(blocks.y) == exponent and np.allclose(blocks.y, abs(log))
        bottom, top = min(blocks.base), max(blocks.base) + abs(log)
        assert (down == pytest.approx(top)) if log > 0 else (up == pytest.approx(bottom))
        up, down = (up, bottom) if log > 0 else (top, down)
    tick = figure.layout.shapes[1]
    assert tick.y0 == tick.y1 == log2(study.balance) == pytest.approx(up + down)


def test_softmax_has_no_rescaling_and_the_best_factor_leaves_a_distance(panel):
    panel.state = "kind=softmax"
    study = panel._shown
    assert not study.outputs.is_same and study.outputs.change > 0.01
    worse = [
        np.linalg.norm(c * study.unanswered.now - study.outputs.start)
        for c in (0.9 * study.factor, 1.1 * study.factor)
    ]
    assert min(worse) > np.linalg.norm(study.outputs.now - study.outputs.start)
    assert any("no λ₀ can answer" in text for text in texts(panel.figure))
    assert any("at best off by" in text for text in texts(panel.figure))
    assert not panel.figure.layout.shapes[1].visible
    assert "proved here · Theorem B" in title(panel) and "outside hypotheses · Eq. 13" in title(panel)
    panel.state = "log_1=0;log_2=0;log_3=0"
    assert panel._shown.outputs.is_same
    assert not any("no λ₀ can answer" in text for text in texts(panel.figure))


@pytest.mark.parametrize(
    ("state", "badge"),
    [
        ("", "proved · Thm. 3.7: nothing else"),
        ("layers=1", "proved · Thm. 3.2: nothing else"),
        ("head_dim=1", "outside hypotheses · Thm. 3.7"),
        ("width=1", "outside hypotheses · Thm. 3.7"),
        ("layers=1;width=1", "outside hypotheses · Thm. 3.2"),
        ("layers=1;head_dim=1", "proved · Thm. 3.2: nothing else"),
        ("kind=softmax;width=1;head_dim=1", "proved here · Theorem B"),
    ],
)
def test_the_whole_fibre_is_claimed_only_where_it_is_known(panel, state, badge):
    panel.state = state
    assert badge in title(panel)


def test_theorem_b_is_not_claimed_where_m_is_antisymmetric():
    arch = Architecture((2, 2), (2,), 3, "softmax")
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    assert not module._is_covered(arch, (Layer(turn, np.eye(2), np.eye(2)),))
    assert module._is_covered(arch, (Layer(np.eye(2), np.eye(2), np.eye(2)),))
    assert not module._is_covered(arch, (Layer(np.eye(2), np.eye(2), np.zeros((2, 2))),))


def test_a_factor_is_written_as_people_write_it():
    assert module._factor(0.011) == "0.011" and module._factor(2.0**40) == "1.10·10¹²"


# In place, and nothing breaks it


@pytest.mark.parametrize("state", STATES)
def test_every_number_drawn_is_finite_and_no_text_carries_a_dollar(shared, state):
    panel = at(shared, state)
    found = []

    def collect(value, key=""):
        if isinstance(value, dict):
            for inner_key, inner in value.items():
                collect(inner, inner_key)
        elif isinstance(value, list):
            for inner in value:
                collect(inner, key)
        elif isinstance(value, float):
            assert isfinite(value), key
        elif isinstance(value, str):
            found.append(value)

    collect(plain(panel.figure))
    assert not any("$" in text or "nan" in text.lower().split() for text in [*found, panel.description])
    assert "measured" not in " ".join(t.name for t in panel.figure.data)


def test_the_figure_keeps_its_elements_whatever_is_asked(panel):
    figure, traces = panel.figure, panel.figure.data
    sizes = len(figure.layout.annotations), len(figure.layout.shapes)
    for state in STATES:
        at(panel, state)
        assert panel.figure is figure and all(a is b for a, b in zip(figure.data, traces, strict=True))
        assert (len(figure.layout.annotations), len(figure.layout.shapes)) == sizes


def test_after_any_walk_the_figure_is_the_one_a_new_panel_would_draw(panel):
    for state in [*STATES, *random_states(RescalingExplorer, 12, seed=1)]:
        panel.state = state
        assert panel.status.startswith("done"), (state, panel.status)
        assert plain(panel.figure) == plain(make(rescaling_parts(module.study_rescaling(panel._read())))), (
            state
        )


PAIRED = ["layers", "kind", "width", "off"]


def test_both_ends_of_every_control_are_legal_and_so_are_two_at_once(panel):
    for settings in [*((name,) for name in panel.controls), *combinations(PAIRED, 2)]:
        for values in product(*(ends(panel.controls[name]) for name in settings)):
            asked = ";".join(f"{n}={text(value)}" for n, value in zip(settings, values, strict=True))
            at(panel, asked)
            assert str(panel._read().arch) in panel.description, asked


@pytest.mark.parametrize("name", FIRST + MORE)
def test_every_control_changes_the_picture(panel, name):
    panel.state = "layers=4"
    pictures = []
    for value in ends(panel.controls[name]):
        panel.controls[name].value = value
        pictures.append(plain(panel.figure))
    assert pictures[0] != pictures[1]


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = shown(panel)
    with pytest.raises(ValueError):
        panel.state = state
    assert shown(panel) == before


def test_a_slider_beside_zero_is_zero(panel):
    """A slider of step 0.05 gives 5e-17 where it says 0."""
    panel.controls["log_1"].value = 5e-17
    assert panel._read().logs[0] == 0


def test_a_figure_that_was_half_drawn_is_made_whole_again(panel, monkeypatch):
    before, set_changes, calls = plain(panel.figure), parts._set_changes, []

    def fails_on_the_way(target, old, new):
        calls.append(target)
        if len(calls) == 9:
            raise RuntimeError("the ninth change went wrong")
        set_changes(target, old, new)

    with monkeypatch.context() as bad:
        bad.setattr(parts, "_set_changes", fails_on_the_way)
        panel.controls["layers"].value = 4
        assert "the ninth change went wrong" in panel.status
    panel.controls["layers"].value = 3
    panel.reset()
    assert panel.status.startswith("done") and plain(panel.figure) == before


@pytest.mark.parametrize("size", ["notebook", "lecture"])
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_the_panel_opens_in_every_theme(size, mode):
    with theme.using({"mode": mode, "size": size}):
        one = RescalingExplorer(state="layers=4")
        assert one.status.startswith("done")
        assert theme.color("focus") in json.dumps(plain(one.figure))
        one.close()
