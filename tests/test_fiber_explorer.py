"""The explorer of fibres: what its words claim, that they claim nothing wrong; see also
test_fiber_facts."""

import numpy as np
import pytest
from fibers import input_shown
from panels import title

from neuroviz.kit.words import percent
from neuroviz.single_layer.facts import fiber_facts
from neuroviz.single_layer.panel import FiberExplorer

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


@pytest.mark.parametrize("state", STATES)
def test_equal_outputs_are_claimed_exactly_where_they_are_measured_and_proved(
    panel, state
):
    panel.state = state
    study = panel._shown
    same = bool(study.moved <= 1e-9)
    assert ("what they were" in panel.description) == same
    assert same or percent(study.moved) in panel.description
    assert panel.facts["outputs"]["same"] == same


def test_the_weights_and_outputs_are_those_of_equation_1(panel):
    study = panel._shown
    for found, matrix in zip(panel.facts["weights"]["start"], study.start, strict=True):
        np.testing.assert_array_equal(found, matrix)
    np.testing.assert_array_equal(panel.facts["outputs"]["start"], study.outputs_start)
    A = study.start.A
    V = study.start.V
    X = input_shown(study)
    # Eq. 1, written out
    np.testing.assert_allclose(study.outputs_start, V @ X @ X.T @ A @ X)


@pytest.mark.parametrize(
    ("state", "badge"),
    [
        ("", "■ proved · Thm. 3.2"),
        ("preset=rank-one", "■ proved · Thm. 3.2"),
        ("preset=rank-one;angle=0", "■ proved · Thm. 3.2"),
        ("preset=zero", "■ proved · Thm. 3.2"),
        ("preset=zero;tokens=1", "□ proved here · One token"),
        ("tokens=1", "□ proved here · One token"),
        ("kind=softmax", "■ proved · Thm. 3.9"),
        ("kind=softmax;preset=zero", "■ proved · Thm. 3.9"),
        ("kind=softmax;tokens=1", "□ proved here · One token"),
    ],
)
def test_each_case_of_the_theorems_has_its_badge(panel, state, badge):
    panel.state = state
    assert badge in title(panel)


def test_the_boundary_and_its_larger_kernel_are_said(panel):
    panel.state = "preset=rank-one;angle=0"
    assert (
        "3 of 18 directions are silent" in panel.description
        and "Lemma A.3" in panel.description
    )
    panel.state = "angle=5"
    # for the class to find
    assert panel._shown.kernel == 1 and "silent" not in panel.description


def test_a_slider_that_stops_beside_one_stands_at_the_crossing(panel):
    panel.controls["preset"].value = "zero"
    panel.controls["along"].value = 1.0000000000000002
    assert (
        panel._shown.places[1] == (0.0, 0.0) and "off it like ε²." in panel.description
    )
    assert fiber_facts(panel._shown)["outputs"]["says"][-1]["text"] == "= same: all 0"


@pytest.mark.parametrize(
    ("state", "goes_along"),
    [
        ("along=0", True),
        ("preset=rank-one;along=0;swap=yes", True),
        ("preset=zero;along=1", True),
        ("kind=softmax;along=0", False),
        ("kind=softmax;along=1", False),
        ("walk=a-alone;along=0", False),
        ("walk=antisymmetric;along=0", False),
        ("walk=antisymmetric;along=0;tokens=1", True),
        ("kind=softmax;tokens=1;walk=a-alone;along=0", True),
        # up to A = 0 the function is 0; there the walk turns, and V grows
        ("kind=softmax;preset=zero;along=0.99", True),
        ("kind=softmax;preset=zero;along=1", False),
    ],
)
def test_a_step_is_along_the_fibre_only_where_the_walk_goes_on_along_it(
    panel, state, goes_along
):
    panel.state = state
    where = "along the fibre" if goes_along else "in the walk's direction"
    assert f"A straight step ε {where} moves φ" in panel.description
    _, along = panel.facts["steps"]["curves"]
    assert along["role"] == ("certified" if goes_along else "ink")


def test_where_the_function_is_zero_the_lengths_of_both_matrices_are_said(panel):
    panel.state = "preset=zero;along=0"
    assert "now A has length 1 and V has length 0." in panel.description
    panel.state = "preset=zero;along=1.5;negative=yes"
    assert "both signs changed, now A has length 0 and V has length 1." in (
        panel.description
    )
    panel.state = "preset=zero;along=0;off=0.5"
    assert "of the outputs of a layer with A and V of length 1." in panel.description
