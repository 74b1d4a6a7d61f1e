"""The explorer of fibres: what its picture claims, that it claims nothing wrong, that nothing breaks it."""

import random
import re
from math import isfinite, log10

import numpy as np
import pytest
from panels import plain, said, title, trace

from neuroviz.kit import plot as parts
from neuroviz.kit import theme
from neuroviz.kit.plot import make
from neuroviz.single_layer.figure import fiber_parts, order_in_words, percent
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.single_layer.walk import FiberSetting, study_fiber

VISIBLE = ["preset", "kind", "along", "off", "tokens"]
MORE = ["width", "width_out", "walk", "swap", "negative", "direction", "angle", "seed"]

STATES = [
    "",
    "along=0",
    "off=0.5",
    "off=-1;direction=random;along=-1.5",
    "kind=softmax",
    "kind=softmax;tokens=1;walk=a-alone",
    "kind=softmax;preset=zero;along=1.5",
    "tokens=1;walk=antisymmetric",
    "preset=rank-one",
    "preset=rank-one;swap=yes;negative=yes;along=-1.5",
    "preset=rank-one;angle=0;swap=yes",
    "preset=rank-one;tokens=1;swap=yes",
    "preset=rank-one;kind=softmax;swap=yes;angle=75",
    "preset=zero;along=1",
    "preset=zero;along=1;off=0.7",
    "preset=zero;along=1.5;tokens=1;negative=yes",
    "preset=zero;along=-1.5;off=1;direction=random",
    "width=1;width_out=1;walk=antisymmetric",
    "width=5;width_out=5;tokens=4;seed=1000000",
]

BAD_STATES = [
    "preset=two", "kind=hardmax", "along=1.6", "along=x", "off=-1.1", "tokens=0", "tokens=5", "width=6",
    "width_out=0", "walk=run", "swap=1", "negative=maybe", "direction=up", "angle=80", "seed=-1", "depth=2",
]  # fmt: skip


@pytest.fixture(scope="module")
def shared():
    panel = FiberExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def headlines(figure):
    return [
        re.sub(r"<br>", " ", re.sub(r"</?b>|</?span[^>]*>", "", a.text))
        for a in figure.layout.annotations
        if a.text.startswith("<b>") and (a.xref or "").endswith("domain")
    ]


def random_states(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        yield ";".join(
            [
                f"preset={draw.choice(('generic', 'rank-one', 'zero'))}",
                f"kind={draw.choice(('lightning', 'softmax'))}",
                f"along={draw.randint(-30, 30) / 20:.6g}",
                f"off={draw.choice((0, draw.randint(-20, 20))) / 20:.6g}",
                f"tokens={draw.randint(1, 4)}",
                f"width={draw.randint(1, 5)}",
                f"width_out={draw.randint(1, 5)}",
                f"walk={draw.choice(('rescale', 'antisymmetric', 'a-alone'))}",
                f"swap={draw.choice(('yes', 'no'))}",
                f"negative={draw.choice(('yes', 'no'))}",
                f"direction={draw.choice(('plane', 'random'))}",
                f"angle={draw.randint(0, 15) * 5}",
                f"seed={draw.randint(0, 10**6)}",
            ]
        )


EVERY_STATE = [*STATES, *random_states(5, seed=3)]


# What it shows


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize("state", EVERY_STATE)
def test_equal_outputs_are_claimed_exactly_where_they_are_measured_and_proved(panel, state):
    panel.state = state
    study = panel._shown
    same = bool(study.moved <= 1e-9)
    frames = [s for s in panel.figure.layout.shapes if s.visible]
    assert len(frames) == (2 if same else 0)
    assert all(frame.line.color == theme.color("certified") for frame in frames)
    assert any("= same" in text for text in said(panel.figure)) == same
    assert ("what they were" in panel.description) == same
    assert (headlines(panel.figure)[0].endswith("the same outputs")) <= same
    if not study.setting.off:
        assert study.stays == same
    if not same:
        assert f"moved by {percent(study.moved)}" in headlines(panel.figure)[0]
        assert percent(study.moved) in panel.description


def test_the_matrices_are_the_weights_and_the_outputs(panel):
    study = panel._shown
    for name, matrix in [
        ("A, start", study.start.A),
        ("V, start", study.start.V),
        ("φ(X), start", study.outputs_start),
        ("A, now", study.now.A),
        ("V, now", study.now.V),
        ("φ(X), now", study.outputs_now),
    ]:
        np.testing.assert_array_equal(np.array(trace(panel.figure, name).z, dtype=float), matrix)
    A, V, X = study.now.A, study.now.V, study.input_shown
    np.testing.assert_allclose(study.outputs_now, V @ X @ X.T @ A @ X)  # Eq. 1, written out
    assert not np.allclose(A, study.start.A)


@pytest.mark.parametrize("state", EVERY_STATE)
def test_the_curves_are_the_measured_steps_and_their_slopes_are_printed(panel, state):
    panel.state = state
    study = panel._shown
    for name, curve in [("straight steps along", study.along), ("straight steps off", study.aside)]:
        drawn = dict(zip(trace(panel.figure, name).x, trace(panel.figure, name).y, strict=True))
        measured = dict(zip(curve.steps, curve.distances, strict=True))
        assert drawn.items() <= measured.items()
        assert all(measured[step] <= 1e-10 for step in set(measured) - set(drawn))
        if curve.slope is not None:
            assert any(f"slope {curve.slope:.2f}" in text for text in said(panel.figure)), curve.slope
    off = f"off: {order_in_words(study.aside.slope)}"
    along = f"along: {order_in_words(study.along.slope)}"
    assert headlines(panel.figure)[2] == f"{off} {along}"


def test_the_order_is_said_at_the_start_at_the_crossing_and_for_softmax(panel):
    assert headlines(panel.figure)[2] == "off: first order along: second order"
    panel.state = "preset=zero;along=1"
    assert headlines(panel.figure)[2] == "off: second order along: nothing moves"
    panel.state = "preset=generic;kind=softmax"
    assert headlines(panel.figure)[2] == "off: first order along: first order"


@pytest.mark.parametrize(
    ("state", "finding", "badge"),
    [
        ("", "the fibre is a curve", "■ proved · Thm. 3.2"),
        ("preset=rank-one", "two branches", "■ proved · Thm. 3.2"),
        ("preset=rank-one;angle=0", "have become one", "■ proved · Thm. 3.2"),
        ("preset=zero", "cross: A = 0 or V = 0", "■ proved · Thm. 3.2"),
        ("preset=zero;tokens=1", "cross: Sym A = 0 or V = 0", "□ proved here · One token"),
        ("tokens=1", "more than a curve", "□ proved here · One token"),
        ("kind=softmax", "one point", "■ proved · Thm. 3.9"),
        ("kind=softmax;preset=zero", "every A gives the zero function", "■ proved · Thm. 3.9"),
        ("kind=softmax;tokens=1", "A is free", "□ proved here · One token"),
    ],
)
def test_each_case_of_the_theorems_has_its_finding_and_its_badge(panel, state, finding, badge):
    panel.state = state
    assert finding in headlines(panel.figure)[1] and badge in title(panel)


@pytest.mark.parametrize("state", ["", "preset=rank-one", "preset=zero", "kind=softmax;tokens=1"])
def test_every_point_of_the_drawn_fibre_has_the_function_of_the_start(panel, state):
    """The thick line is read back and its points are made into layers again."""
    panel.state = state
    study, fiber = panel._shown, trace(panel.figure, "the fibre")
    ghosts = trace(panel.figure, "other functions")
    plane_A = study.start.A
    plane_V = study_fiber(FiberSetting(**{**study.setting.__dict__, "preset": "generic"})).start.V
    plane_V = plane_V if study.setting.preset == "zero" else study.start.V
    X = study.input_shown

    def apart(x, y):
        A, V = x * plane_A, y * plane_V
        S = X.T @ A @ X if study.setting.attention == "lightning" else np.ones((1, 1))
        return np.abs(V @ X @ S - study.outputs_start).max()

    drawn = [(x, y) for x, y in zip(fiber.x, fiber.y, strict=True) if x is not None]
    assert len(drawn) >= 2 and max(apart(*point) for point in drawn) < 1e-9
    others = [(x, y) for x, y in zip(ghosts.x, ghosts.y, strict=True) if x is not None]
    assert all(apart(*point) > 1e-3 for point in others)


def test_the_point_on_the_other_branch_is_hollow_and_called_a_shadow(panel):
    panel.state = "preset=rank-one;along=0.5"
    assert trace(panel.figure, "now").marker.color == theme.color("focus")
    assert not any("outside" in text or text.endswith(">shadow</span>") for text in said(panel.figure))
    panel.state = "preset=rank-one;along=0.5;swap=yes"
    assert trace(panel.figure, "now").marker.color == theme.color("ground")
    assert any(text.endswith(">shadow</span>") for text in said(panel.figure))
    (x,), (y,) = trace(panel.figure, "now").x, trace(panel.figure, "now").y
    assert x * y == pytest.approx(0.25)  # cos² 60°: on the dashed curve
    dashed = trace(panel.figure, "the other branch, its shadow")
    assert all(a * b == pytest.approx(0.25) for a, b in zip(dashed.x, dashed.y, strict=True) if a)


def test_the_boundary_and_its_larger_kernel_are_said(panel):
    panel.state = "preset=rank-one;angle=0"
    assert "3 of 18 directions do nothing" in panel.description and "Lemma A.3" in panel.description
    panel.state = "angle=5"
    assert "1 of 18 directions does nothing" in panel.description


def test_controls_without_a_say_are_greyed_out(panel):
    def off():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert off() == {"swap", "angle"}
    panel.controls["preset"].value = "rank-one"
    assert off() == set()
    panel.controls["width"].value = 1
    assert off() == {"angle"}
    panel.controls["preset"].value = "zero"
    assert off() == {"swap", "angle", "walk"}


# What every picture owes its reader


@pytest.mark.parametrize("state", EVERY_STATE)
def test_every_mark_has_a_finite_place_and_those_of_the_reader_are_in_the_picture(panel, state):
    panel.state = state
    figure = panel.figure
    for one in figure.data:
        if one.type == "heatmap":
            assert np.isfinite(np.array(one.z, dtype=float)).all()
            continue
        assert len(one.x) == len(one.y)
        for x, y in zip(one.x, one.y, strict=True):
            assert (x is None and y is None) or (isfinite(x) and isfinite(y))
    for name in ("start", "now", "straight steps off", "the step of now", "straight steps along"):
        one = trace(figure, name)
        places = [(x, one.xaxis.replace("x", "xaxis")) for x in one.x]
        places += [(y, one.yaxis.replace("y", "yaxis")) for y in one.y]
        for value, axis in places:
            layout = figure.layout[axis]
            seen = log10(value) if layout.type == "log" else value
            assert layout.range[0] <= seen <= layout.range[1], (name, axis, value)


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(mode, size):
    theme.use(mode, size)
    try:
        figure = make(fiber_parts(study_fiber(FiberSetting(along=0.5, off=0.5))))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


# In place


def test_a_figure_that_was_half_drawn_is_made_whole_again(panel, monkeypatch):
    before = plain(panel.figure)
    set_changes, calls = parts._set_changes, []

    def fails_on_the_way(target, old, new):
        calls.append(target)
        if len(calls) == 5:
            raise RuntimeError("the fifth change went wrong")
        set_changes(target, old, new)

    with monkeypatch.context() as bad:
        bad.setattr(parts, "_set_changes", fails_on_the_way)
        panel.controls["along"].value = -1.0
        assert "the fifth change went wrong" in panel.status
    panel.controls["along"].value = 0.8
    assert panel.status.startswith("done") and plain(panel.figure) == before


# Nothing breaks it


def test_a_slider_that_stops_beside_one_stands_at_the_crossing(panel):
    panel.controls["preset"].value = "zero"
    panel.controls["along"].value = 1.0000000000000002
    assert panel._shown.places[1] == (0.0, 0.0) and "second order" in panel.description


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before
    with pytest.raises(ValueError):
        FiberExplorer(state=state)
