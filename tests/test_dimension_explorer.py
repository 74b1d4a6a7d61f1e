"""The dimension panel: its marks are measurements and formulas, and it says where they
differ."""

from dataclasses import replace
from functools import cache
from math import inf, isfinite, log10

import numpy as np
import pytest
from panels import PATIENCE, bare, said, title, trace

import neuroviz as nv
from neuroviz.deep.dimension import DimensionSetting, study_dimension
from neuroviz.deep.dimension_panel import dimension_parts
from neuroviz.engine import formulas, measure
from neuroviz.engine import random_rank as points
from neuroviz.engine.rank import FloatRank
from neuroviz.explorables import DimensionExplorer
from neuroviz.kit.plot import make
from neuroviz.kit.words import rough

PANEL = DimensionExplorer
MOVING = "singular values of the weights that move the function"
NOISE = "singular values that are rounding noise"
CROSS = "the paper's formula outside its hypotheses, for this architecture"

# state, the architecture it asks for
ASKED = [
    ("", (4, 4, 4), (2, 2), 3, "lightning"),
    ("width=3;layers=3", (3, 3, 3, 3), (2, 2, 2), 3, "lightning"),
    ("head_dims=1,3;kind=softmax", (4, 4, 4), (1, 3), 3, "softmax"),
    ("head_dims= 3 1 ;tokens=1", (4, 4, 4), (3, 1), 1, "lightning"),
    ("equal=no;width=3;width_in=5;width_out=6", (5, 3, 6), (2, 2), 3, "lightning"),
    ("equal=no;layers=1;width=9;width_in=5;width_out=2", (5, 2), (2,), 3, "lightning"),
    ("equal=yes;width=3;width_in=5;width_out=6", (3, 3, 3), (2, 2), 3, "lightning"),
    ("kind=softmax;layers=1;seed=5", (4, 4), (2,), 3, "softmax"),
]

# Settings of studies that are drawn without a panel
CASES = {
    "start": {},
    "softmax": {"kind": "softmax"},
    "inner width moves": {
        "equal": False,
        "width": 3,
        "width_in": 5,
        "width_out": 6,
        "tokens": 2,
    },
    "d₀ moves": {
        "equal": False,
        "layers": 1,
        "width_in": 3,
        "width_out": 5,
        "kind": "softmax",
    },
    "widening": {"equal": False, "width": 6, "width_in": 2, "width_out": 3},
    "the paper's formula negative here": {
        "equal": False,
        "width": 8,
        "width_in": 2,
        "width_out": 2,
    },
    "rank one": {"width": 3, "head_dims": "1,2"},
    "one token": {"tokens": 1},
    "width one": {
        "width": 1,
        "layers": 3,
        "head_dims": "3,1,2",
        "tokens": 2,
        "kind": "softmax",
    },
    "a > d": {"width": 2, "head_dims": "5,3", "kind": "softmax"},
    "undecided": {"width": 2, "layers": 8},
}
HUGE = "no spectrum"


@cache
def study(name):
    if name == HUGE:  # a study whose spectrum would take too long
        return replace(study("start"), spectrum=None)
    return study_dimension(DimensionSetting(**CASES[name]))


def drawn(name):
    return make(dimension_parts(study(name)))


@pytest.fixture
def cold():
    """No measurement is remembered from before, and none of this test afterwards."""
    measure.clear_cache()
    yield
    measure.clear_cache()


def agrees_with_measurements(panel, arch, seed=0):
    """Whether every measured mark of the figure is what measuring the architecture
    gives."""
    exact = nv.measure_dimension(arch, seed=seed).value
    sigma = nv.measure_dimension(arch, method="float", seed=seed).singular_values
    kept, noise = (trace(panel.figure, name).y for name in (MOVING, NOISE))
    return (
        trace(panel.figure, "exact rank (measured)").x[0] == exact + 0.5
        and np.array_equal([*kept, *noise], np.maximum(sigma, 1e-17))
        and len(kept) == exact
        and str(arch) in panel.description
        and f"{arch.num_parameters} parameters" in panel.description
        and f"{exact} dimensions" in panel.description
    )


# What it asks for and what it shows


@pytest.mark.parametrize(("state", "widths", "head_dims", "tokens", "kind"), ASKED)
def test_the_figure_shows_measurements_of_the_architecture_asked_for(
    panel, state, widths, head_dims, tokens, kind
):
    arch = nv.Architecture(widths, head_dims, tokens, kind)
    panel.state = state
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert agrees_with_measurements(panel, arch, panel.controls["seed"].value)
    assert (
        trace(panel.figure, "dimension by the formula").x[0]
        == nv.expected_dimension(arch).value + 0.5
    )


def test_that_check_sees_another_architecture(panel):
    assert agrees_with_measurements(panel, nv.Architecture((4, 4, 4), (2, 2)))
    for other in [
        ((4, 4, 4), (2, 2), 2),
        ((4, 4, 4), (2, 3)),
        ((4, 4, 4), (2, 2), 3, "softmax"),
    ]:
        assert not agrees_with_measurements(panel, nv.Architecture(*other))
    assert not agrees_with_measurements(
        panel, nv.Architecture((4, 4, 4), (2, 2)), seed=1
    )


def test_a_state_with_a_curve_beside_the_spectrum_still_opens(panel):
    panel.state = "width=3;beside=widths;inputs=2"
    assert panel.status.startswith("done") and "3→3→3" in panel.description


def test_description_and_badge_say_what_is_shown_and_why(panel):
    for part in (
        "lightning 4→4→4, a = 2, 2, t = 3",
        "64 parameters",
        "38 dimensions",
        "agrees",
        "Cor. 3.8",
    ):
        assert part in panel.description, part
    for part in ("● exact · 38", "■ proved · Cor. 3.8: 38"):
        assert part in title(panel)
    panel.state = "width=2;layers=8"
    assert "cannot decide" in panel.description
    panel.state = "layers=2;head_dims=1,2"
    assert "□ proved here · Theorem C" in title(panel)


# The spectrum


@pytest.mark.parametrize("name", [*CASES, HUGE])
def test_line_gap_and_formula_stand_where_the_measurements_say(name):
    s, figure = study(name), drawn(name)
    words = [a.text for a in figure.layout.annotations]
    assert f"exact rank<br><b>{s.exact.value}</b>" in words
    assert list(trace(figure, "exact rank (measured)").x) == [s.exact.value + 0.5] * 2
    assert f"{s.expected.source}: <b>{s.expected.value}</b>" in words
    assert list(trace(figure, "dimension by the formula").x) == [s.expected.value + 0.5]
    arrows = [a for a in figure.layout.annotations if a.showarrow]
    dropped = (
        []
        if s.spectrum is None
        else np.maximum(s.spectrum.singular_values[s.exact.value :], 1e-17)
    )
    if s.spectrum is None:
        assert any("too many for" in text for text in words)
    if len(dropped) == 0:
        assert not arrows
        return
    kept = s.spectrum.singular_values[s.exact.value - 1]
    ends = [(log10(kept), log10(dropped[0]))] if kept > 10 * dropped[0] else []
    assert [(arrow.y, arrow.ay) for arrow in arrows] == [
        pytest.approx(pair) for pair in ends
    ]
    zero = s.spectrum.singular_values[s.exact.value] == 0
    assert any(
        f"gap {rough(inf if zero else kept / dropped[0])}" in text for text in words
    )
    assert any("floats cannot decide" in text for text in words) == (
        not s.spectrum.decided
    )


@pytest.mark.parametrize("name", ["widening", "rank one", "one token", "start"])
def test_the_paper_outside_its_hypotheses_is_marked_as_that(name):
    s, figure = study(name), drawn(name)
    crosses = [t for t in figure.data if t.name == CROSS]
    words = " ".join(map(bare, said(figure)))
    outside = (
        s.paper.status == "outside hypotheses" and s.paper.value != s.expected.value
    )
    assert outside == (name != "start")
    assert [list(cross.x) for cross in crosses] == [[s.paper.value + 0.5]] * outside
    assert (
        (f"would say {s.paper.value}," in words)
        == ("but does not apply" in words)
        == outside
    )


def test_every_mark_is_a_finite_number_inside_its_axes():
    for name in [*CASES, HUGE]:
        figure = drawn(name)
        for one in figure.data:
            for which, values in (("x", one.x), ("y", one.y)):
                axis = figure.layout[
                    (one[f"{which}axis"] or which).replace(which, f"{which}axis")
                ]
                low, high = axis.range
                for value in values:
                    at = log10(value) if axis.type == "log" else value
                    assert isfinite(at) and low - 1e-9 <= at <= high + 1e-9, (
                        name,
                        one.name,
                        at,
                    )


# A disagreement is seen, whoever is wrong


def test_a_wrong_formula_leaves_the_measurements_alone_and_the_panel_says_so(
    panel, monkeypatch, cold
):
    alpha = formulas.alpha
    monkeypatch.setattr(formulas, "alpha", lambda a, d: alpha(a, d) + 1)
    panel.controls["tokens"].value = 4  # another picture of the same numbers
    assert trace(panel.figure, "exact rank (measured)").x[0] == 38.5
    assert trace(panel.figure, "dimension by the formula").x[0] == 40.5
    assert "DISAGREE" in panel.description and "40" in panel.description
    assert "≠ measured" in title(panel)

    monkeypatch.setattr(formulas, "alpha", alpha)
    panel.controls["tokens"].value = 5
    assert "DISAGREE" not in panel.description and "≠" not in title(panel)


def test_a_wrong_measurement_leaves_the_formula_alone_and_the_panel_says_so(
    panel, monkeypatch, cold
):
    rank = points.exact_rank
    monkeypatch.setattr(
        points, "exact_rank", lambda matrix, over: rank(matrix, over) - 1
    )
    panel.controls["tokens"].value = 4
    assert trace(panel.figure, "exact rank (measured)").x[0] == 37.5
    assert trace(panel.figure, "dimension by the formula").x[0] == 38.5
    assert "DISAGREE" in panel.description and "≠ measured" in title(panel)
    assert "37 dimensions" in panel.description and "a proof" not in panel.description


def test_a_float_rank_that_contradicts_the_exact_one_is_said(panel, monkeypatch, cold):
    """Sure of itself, and wrong: the spectrum alone would not show it."""
    agreeing = [note.text for note in panel.figure.layout.annotations]
    assert (
        not any("floats say" in text for text in agreeing)
        and "Floating point" not in panel.description
    )
    real = measure.rank.float_rank

    def too_small(J):
        found = real(J)
        return FloatRank(
            found.value - 3, found.singular_values, found.noise, found.gap, True
        )

    monkeypatch.setattr(measure.rank, "float_rank", too_small)
    panel.controls["tokens"].value = 4
    assert "reads 35, against the exact rank" in panel.description
    says = [note.text for note in panel.figure.layout.annotations]
    assert any(
        "floats say something else" in text and "they read 35" in text for text in says
    )


def test_a_slow_network_is_drawn_without_what_would_take_too_long(panel):
    panel.state = "width=12;head_dim=8;layers=4;tokens=6;kind=softmax"
    assert panel.status.startswith("working")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert (
        "1344 parameters" in panel.description
        and len(trace(panel.figure, MOVING).x) == 0
    )
    exact = nv.expected_dimension(nv.Architecture.uniform(12, 8, 4, 6, "softmax")).value
    assert trace(panel.figure, "exact rank (measured)").x[0] == exact + 0.5
    assert "agrees" in panel.description


def test_more_layers_than_head_dimensions_is_a_message_and_not_the_end(panel):
    panel.controls["head_dims"].value = "2,1"
    panel.controls["layers"].value = 3
    assert "needs 3 numbers" in panel.status
    panel.controls["head_dims"].value = ""
    assert panel.status.startswith("done") and "a = 2, 2, 2" in panel.description
