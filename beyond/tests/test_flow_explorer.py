"""The explorer of gradient flow: what it counts, what it says of it, and how long work
is followed."""

import re
from math import ceil
from pathlib import Path

import numpy as np
import pytest
from panels import headlines, trace

from neuroviz.kit.words import rough, share_in_words
from neuroviz.singular.flow import TARGETS, attraction, forms_table
from neuroviz.singular.surface import SLICES
from neuroviz_beyond.training.panel import TARGETS as KNOWN
from neuroviz_beyond.training.panel import FlowExplorer, FlowSetting, study_flow

PANEL = FlowExplorer
STATES = [
    "runs=12;time=20",
    "runs=8;time=20;target=realisable;coordinates=QKV",
    "runs=6;time=30;target=placed;x=1",
    "runs=1;time=10;target=gaussian",
]


def test_the_share_is_that_of_the_one_call_that_reproduces_the_table(panel):
    panel.state = "runs=30;time=45;seed=3"  # a time between two of the slider
    known = attraction("dotted", 30, seed=3, time=45)
    counts = panel._shown.counts
    assert panel._shown.flow.times[-1] == 45
    assert (counts.singular, counts.boundary) == (known.singular, known.boundary)
    assert headlines(panel.figure)[-1].startswith(share_in_words(known.singular, 30))
    assert share_in_words(known.singular, 30) in panel.description


def test_outside_the_set_the_least_possible_loss_is_told(panel):
    """Dotted targets are no layer's functions, however small a loss; realisable ones
    are reached."""
    panel.state = "runs=40;time=60;target=dotted"
    flow = panel._shown.flow
    theta = np.linspace(0, np.pi, 20_001)
    u = np.stack([np.cos(theta), np.sin(theta)])
    values = np.einsum("nkij,is,js->nks", flow.target[:, :, 0], u, u)
    least = (values**2).sum(axis=1).min(axis=1) / 2
    np.testing.assert_allclose(flow.least, least, atol=1e-7)
    assert (flow.loss >= flow.least - 1e-12).all() and flow.least.min() > 0
    reached = ((flow.loss[-1] - flow.least) < 1e-6).sum()
    assert (
        headlines(panel.figure)[0]
        == f"no layer fits: {reached} of 40 reach the least loss"
    )
    panel.state = "runs=40;time=60;target=realisable"
    assert (panel._shown.flow.least < 1e-25).all()
    assert headlines(panel.figure)[0].endswith("of 40 runs reach their target")


@pytest.mark.parametrize("state", STATES)
def test_every_run_is_drawn_where_it_ended_and_in_the_region_by_which_it_is_counted(
    panel, state
):
    panel.state = state
    flow, (_, box) = panel._shown.flow, panel.figure.layout.shapes
    drawn = 0
    for end, name in (
        ("smooth", "smooth"),
        ("singular", "singular only"),
        ("boundary", "at the boundary"),
    ):
        points = trace(panel.figure, f"ends: {name}")
        where = flow.ends == end
        assert len(points.x) == where.sum()
        np.testing.assert_allclose(
            points.y, np.log10(np.maximum(flow.ratio[where], 1e-10)), atol=1e-3
        )
        np.testing.assert_allclose(
            points.x, np.log10(np.maximum(flow.angle[where], 1e-6)), atol=1e-3
        )
        low = np.array(points.y) <= box.y1 + 1e-4
        left = np.array(points.x) <= box.x1
        assert end == "smooth" or (low.all() and (left == (end == "boundary")).all())
        drawn += len(points.x)
        loss = trace(panel.figure, f"loss of runs that end {name}")
        assert sum(x is None for x in loss.x) == where.sum()
    assert drawn == panel._shown.runs


@pytest.mark.parametrize("state", STATES)
def test_what_is_conserved_is_flat_and_its_drift_is_said(panel, state):
    panel.state = state
    study = panel._shown
    assert max(study.drift.values()) < 1e-5
    assert (
        f"drift ≤ {rough(max(study.drift.values()), ceil)}"
        in headlines(panel.figure)[1]
    )
    flat = trace(panel.figure, "conserved")
    runs = " ".join("|" if y is None else f"{y:.6f}" for y in flat.y).split("|")
    for run in filter(str.strip, runs):
        values = np.array(run.split(), dtype=float)
        assert np.ptp(values) < 1e-4
    moving = [y for y in trace(panel.figure, "not conserved").y if y is not None]
    assert np.ptp(moving) > 1e-3


def test_a_placed_target_is_the_function_at_that_point_of_the_slice(panel):
    panel.state = "target=placed;slice=S3;x=1;y=1;z=1;runs=3;time=10"
    expected = forms_table(*SLICES["S3"].forms(1, 1, 1))
    np.testing.assert_array_equal(panel._shown.flow.target[2], expected)
    assert "a layer, where two sheets cross" in panel.description
    panel.state = "slice=S1;x=1;y=0;z=0"
    assert "on the dotted curve: no layer" in panel.description
    panel.state = "x=2"
    assert (
        "a layer at the boundary" in panel.description
        and "1/√time" in panel.description
    )
    panel.state = "x=2;y=1;z=1"
    assert "off the closure" in panel.description


def test_a_slider_that_stops_beside_the_dotted_curve_stands_on_it(panel):
    panel.state = "target=placed;runs=3;time=10"
    panel.controls["y"].value = 1e-17
    assert "on the dotted curve" in panel.description


def test_the_finding_is_told_and_so_is_what_a_zero_leaves_open(panel):
    panel.state = "target=gaussian;runs=20;time=20"
    assert "none of 20 end at a singular point" in panel.description
    assert "20 runs cannot tell 0 from a share of 15 %" in panel.description
    assert "With 4,000 runs of time 600 from (A, V) it was 0.1 %" in panel.description


def test_the_place_of_a_target_is_asked_only_of_a_placed_one(panel):
    def off():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert off() == {"slice", "x", "y", "z"}
    panel.state = "target=placed;runs=3;time=10"
    assert off() == set()
    assert panel.controls["x"].description == "target’s s"
    panel.controls["slice"].value = "S3"
    assert panel.controls["x"].description == "target’s x"


def test_a_long_flow_is_declared_and_says_how_far_it_is():
    setting = FlowSetting(runs=5, time=70)
    assert (
        setting.is_slow and not FlowSetting().is_slow and FlowSetting(runs=41).is_slow
    )
    said = list(study_flow.in_steps(setting))
    assert said and all(
        re.fullmatch(r"\d+ % of the flow’s time has passed", step) for step in said
    )


def test_what_is_remembered_of_4000_runs_is_what_the_docs_say():
    text = " ".join(
        (Path(__file__).parents[2] / "docs/mathematics/gradient_flow.md")
        .read_text(encoding="utf-8")
        .split()
    )
    counted = re.search(
        r"4,000 runs, seed 0: ([\d.]+) %, ([\d.]+) %, ([\d.]+) %, ([\d.]+) %", text
    ).groups()
    assert [f"{share} %" for share in counted] == [
        kind.known for kind in KNOWN.values()
    ]
    assert list(KNOWN) == list(TARGETS)
