"""The explorer of gradient flow: what it counts, what it says of it, and how long work is followed."""

import asyncio
import re
from pathlib import Path

import numpy as np
import pytest
from panels import PATIENCE, headlines, plain, trace

from neuroviz.beyond.training.figure import flow_parts
from neuroviz.beyond.training.flow import TARGETS, attraction, forms_table
from neuroviz.beyond.training.panel import TARGETS as KNOWN
from neuroviz.beyond.training.panel import FlowExplorer
from neuroviz.kit import theme
from neuroviz.kit.plot import make
from neuroviz.kit.words import share_in_words, small
from neuroviz.singular.surface import SLICES

VISIBLE = ["target", "runs", "time", "coordinates"]
MORE = ["slice", "x", "y", "z", "seed"]
STATES = [
    "runs=12;time=20",
    "runs=8;time=20;target=realisable;coordinates=QKV",
    "runs=6;time=30;target=placed;x=1",
    "runs=1;time=10;target=gaussian",
    "runs=5;time=20;target=placed;slice=S3;x=1;y=1;z=1",
    "runs=5;time=20;target=placed;slice=S1;x=4;y=-4;z=4;coordinates=QKV",
    "runs=9;time=10;target=dotted, noisy;seed=7",
]
BAD_STATES = ["target=zero", "runs=0", "runs=401", "time=5", "coordinates=V", "slice=S2", "x=5", "seed=-1"]


@pytest.fixture(scope="module")
def shared():
    panel = FlowExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


# What it shows


def test_the_share_is_that_of_the_one_call_that_reproduces_the_table(panel):
    panel.state = "runs=30;time=40;seed=3"
    known = attraction("dotted", 30, seed=3, time=40)
    counts = panel._shown.counts
    assert (counts.singular, counts.boundary) == (known.singular, known.boundary)
    assert headlines(panel.figure)[-1].startswith(share_in_words(known.singular, 30))
    assert share_in_words(known.singular, 30) in panel.description


@pytest.mark.parametrize("state", STATES)
def test_every_run_is_drawn_where_it_ended(panel, state):
    panel.state = state
    flow = panel._shown.flow
    drawn = 0
    for end, name in (("smooth", "smooth"), ("singular", "singular only"), ("boundary", "at the boundary")):
        points = trace(panel.figure, f"ends: {name}")
        where = flow.ends == end
        assert len(points.x) == where.sum()
        np.testing.assert_allclose(points.y, np.log10(np.maximum(flow.ratio[where], 1e-10)), atol=1e-3)
        np.testing.assert_allclose(points.x, np.log10(np.maximum(flow.angle[where], 1e-6)), atol=1e-3)
        drawn += len(points.x)
        loss = trace(panel.figure, f"loss of runs that end {name}")
        assert sum(x is None for x in loss.x) == where.sum()
    assert drawn == panel._shown.counts.runs


@pytest.mark.parametrize("state", STATES)
def test_the_regions_are_those_by_which_runs_are_counted(panel, state):
    panel.state = state
    boundary = trace(panel.figure, "ends: at the boundary")
    singular = trace(panel.figure, "ends: singular only")
    _, box = panel.figure.layout.shapes
    for x, y in zip(boundary.x, boundary.y, strict=True):
        assert box.x0 <= x <= box.x1 + 1e-4 and box.y0 <= y <= box.y1 + 1e-4
    assert all(x >= box.x1 - 1e-4 for x in singular.x)
    assert all(y <= box.y1 + 1e-4 for y in singular.y)


@pytest.mark.parametrize("state", STATES)
def test_what_is_conserved_is_flat_and_its_drift_is_said(panel, state):
    panel.state = state
    study = panel._shown
    assert max(study.drift.values()) < 1e-5
    assert f"drift ≤ {small(max(study.drift.values()))}" in headlines(panel.figure)[1]
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
    assert "a layer at the boundary" in panel.description and "1/√time" in panel.description
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
    assert "With 400 runs of time 600 from (A, V) it was 0 %" in panel.description


@pytest.mark.parametrize(
    ("share", "runs", "words"),
    [(0.0, 40, "none of 40"), (1.0, 5, "all 5"), (1.0, 1, "the run"), (0.5, 100, "50 % ± 5 %")],
)
def test_a_share_has_its_error_or_its_count(share, runs, words):
    assert share_in_words(share, runs) == words


def test_the_place_of_a_target_is_asked_only_of_a_placed_one(panel):
    def off():
        return {name for name, control in panel.controls.items() if control.disabled}

    assert off() == {"slice", "x", "y", "z"}
    panel.state = "target=placed;runs=3;time=10"
    assert off() == set()
    assert panel.controls["x"].description == "target’s s"
    panel.controls["slice"].value = "S3"
    assert panel.controls["x"].description == "target’s x"


# Long flows


def test_a_long_flow_runs_in_the_background_can_be_cancelled_and_says_how_far_it_is():
    async def session():
        panel = FlowExplorer(state="runs=5;time=10")
        try:
            before = plain(panel.figure)
            panel.state = "runs=400;time=600"
            assert panel.status.startswith("working")
            for _ in range(10 * PATIENCE):
                await asyncio.sleep(0.1)
                if "%" in panel.status:
                    break
            assert re.fullmatch(r"working … \d+% of the flow’s time has passed, \d+ s", panel.status)
            panel.cancel()
            assert panel.status.startswith("cancelled") and plain(panel.figure) == before
            await asyncio.sleep(1)
            assert panel.status.startswith("cancelled")
            panel.state = "runs=6;time=70"  # long enough for the background, and soon done
            for _ in range(10 * PATIENCE):
                await asyncio.sleep(0.1)
                if panel.status.startswith("done"):
                    break
            assert panel._shown.counts.runs == 6 and panel.status.startswith("done")
        finally:
            panel.close()

    asyncio.run(session())


def test_a_long_flow_in_a_script_ends_when_it_is_waited_for():
    panel = FlowExplorer(state="runs=4;time=70")
    assert panel.wait(PATIENCE) and panel.status.startswith("done")
    assert panel._shown.counts.runs == 4 and panel._shown.counts.time == 70
    panel.close()


# What every picture owes its reader


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", ["notebook", "lecture"])
def test_a_figure_has_its_ground_and_readable_letters_in_every_look(panel, mode, size):
    answer = panel._shown
    theme.use(mode, size)
    try:
        figure = make(flow_parts(answer))
        assert figure.layout.template.layout.paper_bgcolor == theme.color("ground")
        assert figure.layout.height == theme.size("height")
        sizes = [a.font.size for a in figure.layout.annotations if a.font.size]
        assert min(sizes) >= (14 if size == "lecture" else 12)
    finally:
        theme.use("light", "notebook")


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


def test_what_is_remembered_of_400_runs_is_what_the_docs_say():
    text = " ".join(
        (Path(__file__).parents[1] / "docs" / "mathematics.md").read_text(encoding="utf-8").split()
    )
    counted = re.search(r"400 runs, seed 0: ([\d.]+) %, ([\d.]+) %, ([\d.]+) %, ([\d.]+) %", text).groups()
    assert [f"{float(share):.0f} %" for share in counted] == [kind.known for kind in KNOWN.values()]
    assert list(KNOWN) == list(TARGETS)
