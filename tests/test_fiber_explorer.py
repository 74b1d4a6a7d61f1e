"""The explorer of fibres: what its picture claims, that it claims nothing wrong, that nothing breaks it."""

import numpy as np
import pytest
from panels import headlines, said, texts, title, trace

from neuroviz.kit import theme
from neuroviz.kit.words import percent, signed
from neuroviz.single_layer.figure import order_in_words
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.single_layer.walk import plane_of

PANEL = FiberExplorer
STATES = [
    "",
    "along=0",
    "off=-1;direction=random;along=-1.5",
    "kind=softmax;tokens=1;walk=a-alone",
    "kind=softmax;preset=zero;along=1.5",
    "tokens=1;walk=antisymmetric",
    "preset=rank-one;swap=yes;negative=yes;along=-1.5",
    "preset=rank-one;angle=0;swap=yes",
    "preset=rank-one;kind=softmax;swap=yes;angle=75",
    "preset=zero;along=1;off=0.7",
    "width=1;width_out=1;walk=antisymmetric",
]


# What it shows


@pytest.mark.parametrize("state", STATES)
def test_equal_outputs_are_claimed_exactly_where_they_are_measured_and_proved(panel, state):
    panel.state = state
    study = panel._shown
    same = bool(study.moved <= 1e-9)
    frames = [s for s in panel.figure.layout.shapes if s.type == "rect"]
    assert len(frames) == (1 if same else 0)
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
    for when, matrices in [
        ("start", (*study.start, study.outputs_start)),
        ("now", (*study.now, study.outputs_now)),
    ]:
        *weights, outputs = matrices
        for name, matrix in zip(("A", "V"), weights, strict=True):
            np.testing.assert_array_equal(trace(panel.figure, f"{name}, {when}").z, matrix)
        np.testing.assert_array_equal(trace(panel.figure, f"φ(X), {when}").y, outputs.T.ravel())
    A, V, X = study.now.A, study.now.V, study.input_shown
    np.testing.assert_allclose(study.outputs_now, V @ X @ X.T @ A @ X)  # Eq. 1, written out
    assert not np.allclose(A, study.start.A)
    panel.state = "walk=a-alone;along=1.4"
    outputs, most = panel._shown.outputs_now.T.ravel(), panel.figure.layout.yaxis4.range[1]
    ends = [text.strip("◀▶ ") for text in texts(panel.figure) if "▶" in text or "◀" in text]
    assert ends == [signed(y) for y in outputs if abs(y) > most] and len(ends) > 1


@pytest.mark.parametrize("state", STATES)
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
    slopes = f"off: {order_in_words(study.aside.slope)} along: {order_in_words(study.along.slope)}"
    assert headlines(panel.figure)[2].split() == slopes.split()


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
    plane, X = plane_of(study.setting), study.input_shown

    def apart(x, y):
        A, V = x * plane.A, y * plane.V
        S = X.T @ A @ X if study.setting.attention == "lightning" else np.ones((1, 1))
        return np.abs(V @ X @ S - study.outputs_start).max()

    drawn = [(x, y) for x, y in zip(fiber.x, fiber.y, strict=True) if x is not None]
    assert len(drawn) >= 2 and max(apart(*point) for point in drawn) < 1e-9
    others = [(x, y) for x, y in zip(ghosts.x, ghosts.y, strict=True) if x is not None]
    assert all(apart(*point) > 1e-3 for point in others)


def test_the_point_on_the_other_branch_is_hollow_and_called_a_shadow(panel):
    panel.state = "preset=rank-one;along=0.5"
    assert trace(panel.figure, "now").marker.color == theme.color("focus")
    assert not any(text == "shadow" for text in said(panel.figure))
    panel.state = "preset=rank-one;along=0.5;swap=yes"
    assert trace(panel.figure, "now").marker.color == theme.color("ground")
    assert any(text == "shadow" for text in said(panel.figure))
    (x,), (y,) = trace(panel.figure, "now").x, trace(panel.figure, "now").y
    assert x * y == pytest.approx(0.25)  # cos² 60°: on the dashed curve
    dashed = trace(panel.figure, "the other branch, its shadow")
    assert all(a * b == pytest.approx(0.25) for a, b in zip(dashed.x, dashed.y, strict=True) if a)


def test_the_boundary_and_its_larger_kernel_are_said(panel):
    panel.state = "preset=rank-one;angle=0"
    assert "3 of 18 directions are silent" in panel.description and "Lemma A.3" in panel.description
    panel.state = "angle=5"
    assert panel._shown.kernel == 1 and "silent" not in panel.description  # for the class to find


def test_a_slider_that_stops_beside_one_stands_at_the_crossing(panel):
    panel.controls["preset"].value = "zero"
    panel.controls["along"].value = 1.0000000000000002
    assert panel._shown.places[1] == (0.0, 0.0) and "off it like ε²." in panel.description
    assert headlines(panel.figure)[3].endswith("= same: all 0")
