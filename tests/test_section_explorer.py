"""The explorer of sections: the curve it draws is the plane's, and the headline counts what is there."""

import random

import numpy as np
import pytest
from panels import ends, plain

from neuroviz.kit import theme
from neuroviz.singular.section_figure import Frame, frame_of, plane_of
from neuroviz.singular.section_panel import SectionExplorer
from neuroviz.singular.slice_panel import PRESETS
from neuroviz.singular.space import camera_of, chart_traces, in_drawing, stretch_of

VISIBLE = ["preset", "alpha", "kappa", "turn", "tilt", "offset"]
MORE = ["slice", "seed", "layers"]
KEYS = [key for key, _ in PRESETS.values()]
BAD_STATES = ["preset=two", "turn=91", "turn=2.5", "tilt=-91", "offset=1.1", "offset=x", "kappa=1", "depth=2"]
HEAVY = 7  # traces that only the slice moves
NAMES = {
    "crossing": "nodes: two sheets cross",
    "boundary": "cusps: boundary",
    "closure only": "isolated points: no real common root",
}
PLANE, EDGE, TUBE, MARKS = range(HEAVY, HEAVY + 4)


@pytest.fixture(scope="module")
def shared():
    panel = SectionExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def trace(panel, name):
    (found,) = [t for t in panel.figure.data if t.name == name]
    return found


def corners(trace) -> np.ndarray:
    return np.array([trace.x, trace.y, trace.z], dtype=float).T


def on_page(trace) -> np.ndarray:
    return np.array([[x, y] for x, y in zip(trace.x, trace.y, strict=True) if x is not None]).reshape(-1, 2)


def found(panel) -> str:
    return panel.figure.layout.annotations[1].text.removeprefix("<b>").removesuffix("</b>")


def from_page(panel, flat: np.ndarray) -> np.ndarray:
    """What is drawn on the page, in the coordinates of the slice: Frame and drawing undone."""
    study = panel._shown
    frame, slice = study.frame, study.chart.slice
    drawn = frame.offset * frame.normal + flat @ np.array([frame.across, frame.up])
    return drawn / stretch_of(slice) + np.array(slice.window.centre)


def random_states(count, seed):
    draw = random.Random(seed)
    for _ in range(count):
        yield ";".join(
            [
                f"preset={draw.choice(KEYS)}",
                f"turn={5 * draw.randint(-18, 18)}",
                f"tilt={5 * draw.randint(-18, 18)}",
                f"offset={draw.randint(-40, 40) / 64:.6g}",
                f"seed={draw.randint(0, 10**6)}",
            ]
        )


# What it shows


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


def test_every_drawn_point_is_on_the_surface_and_in_the_plane(panel):
    drawn = 0
    for state in random_states(12, seed=0):
        panel.state = state
        slice, plane = panel._shown.chart.slice, panel._shown.section.plane
        points = from_page(panel, on_page(trace(panel, "which sheet")))
        drawn += len(points)
        forms = slice.forms(*points.T)
        size = np.sqrt(sum(c**2 for q in forms for c in q))
        # The page has five digits, and where sheets nearly touch the distance is the root of R.
        assert (np.abs(slice.resultant(*points.T)) <= 1e-3 * size**4).all()
        assert np.abs(plane.height(points)).max(initial=0) < 1e-4 * slice.window.reach
        if len(points):
            off = points + 0.1 * slice.window.reach * np.array(plane.normal, dtype=float)
            assert np.abs(plane.height(off)).min() > 0.01
    assert drawn > 1000


def test_tube_and_page_show_the_same_curve(panel):
    for state in random_states(6, seed=4):
        panel.state = state
        frame = panel._shown.frame
        flat, tube = on_page(trace(panel, "which sheet")), corners(panel.figure.data[TUBE])
        assert np.abs(tube @ frame.normal - frame.offset).max(initial=0) < 0.03
        back = frame.on_page(tube)
        for point in back[::40]:
            assert np.linalg.norm(flat - point, axis=-1).min() < 0.05


def test_the_page_is_the_plane_as_the_camera_sees_it(panel):
    """Right is right and up is up: nothing is mirrored."""
    for state in random_states(15, seed=6):
        panel.state = state
        frame, camera = panel._shown.frame, camera_of(panel._shown.chart)
        middle = frame.offset * frame.normal
        here, right, up = camera.seen(
            np.array([middle, middle + 0.01 * frame.across, middle + 0.01 * frame.up])
        )
        (a, b), (c, d) = right - here, up - here
        if abs(np.array(camera.eye) @ frame.normal) > 0.6:  # else the plane is seen from its edge
            assert a * d - b * c > 0


@pytest.mark.parametrize(
    ("state", "words", "nodes", "cusps", "rings"),
    [
        ("", "the section crosses itself once", 1, 0, 0),
        ("turn=0;tilt=0;offset=0.875", "two lines that cross", 1, 0, 0),
        ("turn=0;tilt=0;offset=0.57", "one line, twice: through a pinch point", 0, 1, 0),
        ("turn=0;tilt=0;offset=0.25", "one isolated point, and no curve", 0, 0, 1),
        ("turn=-25;tilt=10;offset=0.46875", "a cusp: the plane goes through a pinch point", 0, 1, 0),
        ("turn=45;tilt=20;offset=0.203125", "one isolated point, off the curve", 0, 0, 1),
        ("turn=-90;tilt=0;offset=0", "the plane holds the yellow line", 0, 0, 0),
        ("offset=1", "the plane misses what is drawn", 0, 0, 0),
        ("preset=tangent;offset=0.3125", "a cusp: the plane goes through the sharp edge", 0, 1, 0),
        ("preset=isolated;offset=0.3125", "one isolated point, off the curve", 0, 0, 1),
        ("preset=crossing;offset=0", "a cusp: the plane goes through a pinch point", 0, 1, 0),
        ("preset=rays;turn=0;tilt=0;offset=0", "two lines that cross", 1, 0, 0),
    ],
)
def test_the_headline_says_what_is_found(panel, state, words, nodes, cusps, rings):
    panel.state = state
    assert found(panel) == words and words in panel.description
    marks = [trace(panel, name) for name in NAMES.values()]
    assert [len(mark.x) for mark in marks] == [nodes, cusps, rings]
    labels = [a.text for a in panel.figure.layout.annotations[2:]]
    assert [bool(text) for text in labels] == [bool(nodes), bool(cusps), bool(rings)]
    assert len({mark.marker.symbol for mark in marks}) == 3, "a second cue beside the colour"
    assert len(corners(panel.figure.data[MARKS])) == (nodes + cusps + rings) * (
        len(corners(panel.figure.data[MARKS])) // max(nodes + cusps + rings, 1)
    )


def test_the_marks_are_the_singular_curve_in_the_plane(panel):
    seen = set()
    for state in random_states(12, seed=3):
        panel.state = state
        section, slice = panel._shown.section, panel._shown.chart.slice
        for kind, name in NAMES.items():
            points = from_page(panel, on_page(trace(panel, name)))
            expected = np.reshape(section.of_kind(kind), (-1, 3))
            np.testing.assert_allclose(points, expected, atol=1e-4 * slice.window.reach)
            assert all(slice.kind(*point, tol=1e-7) == kind for point in expected)
            seen |= {kind} if len(points) else set()
    assert {"crossing", "closure only"} <= seen


def test_the_plane_stops_at_a_pinch_point_and_nowhere_else(panel):
    kinds = []
    for step in range(20, 52):
        panel.controls["offset"].value = step / 64
        (singular,) = panel._shown.section.singular
        kinds.append(singular[0])
    assert kinds == sorted(kinds, key=["closure only", "boundary", "crossing"].index)
    assert 1 <= kinds.count("boundary") <= 4


def test_two_sheets_have_two_colours_at_a_node(panel):
    panel.state = "turn=0;tilt=0;offset=0.875"
    tones = np.array(trace(panel, "which sheet").marker.color)
    assert (tones > 0.9).sum() > 200 < (tones < -0.9).sum()


def test_the_plane_is_drawn_through_and_only_the_plane_is_seen_through(panel):
    opacities = [t.opacity for t in panel.figure.data[:11]]
    assert opacities[PLANE] < 0.5 and opacities[:PLANE] + opacities[PLANE + 1 :] == [None] * 10
    frame = panel._shown.frame
    rectangle = corners(panel.figure.data[PLANE])
    np.testing.assert_allclose(rectangle @ frame.normal, frame.offset, atol=1e-4)
    flat = frame.on_page(rectangle)
    (edge,) = panel.figure.layout.shapes
    np.testing.assert_allclose(flat.min(axis=0), [edge.x0, edge.y0], atol=1e-4)
    np.testing.assert_allclose(flat.max(axis=0), [edge.x1, edge.y1], atol=1e-4)
    assert edge.line.color == panel.figure.data[EDGE].color == theme.color("focus")


@pytest.mark.parametrize("key", KEYS)
def test_the_section_stays_inside_the_rectangle(panel, key):
    for turn, tilt, offset in [(0, 0, 0.25), (-60, 30, 0.5), (45, -45, -0.25), (90, 90, 0.125)]:
        panel.state = f"preset={key};turn={turn};tilt={tilt};offset={offset}"
        (edge,) = panel.figure.layout.shapes
        flat = on_page(trace(panel, "which sheet"))
        assert (flat >= np.array([edge.x0, edge.y0]) - 0.03).all()
        assert (flat <= np.array([edge.x1, edge.y1]) + 0.03).all()


def test_a_plane_keeps_its_equation(panel):
    panel.state = "turn=0;tilt=0;offset=0.5"
    assert "S1, cut by s = 1.75" in panel.figure.layout.annotations[0].text
    panel.state = "turn=90;tilt=0;offset=0.25"
    assert "cut by y = 0.25" in panel.description.replace("−", "-")
    panel.state = "turn=0;tilt=90;offset=-0.5"
    assert "cut by z = −1" in panel.description


def test_a_frame_is_a_right_handed_basis_and_exact_at_right_angles():
    for turn, tilt in [(0, 0), (90, 0), (-25, 10), (40, 90), (-90, -35)]:
        for side in (1, -1):
            frame = Frame(turn, tilt, 0.3, side)
            basis = np.array([frame.across, frame.up, side * frame.normal])
            np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-9)
            assert np.linalg.det(basis) == pytest.approx(1)
    assert Frame(90, 0, 0).normal.tolist() == [0, 1, 0] and Frame(0, 90, 0).normal.tolist() == [0, 0, 1]


def test_the_plane_that_is_drawn_is_the_plane_that_cuts(panel):
    for state in random_states(8, seed=9):
        panel.state = state
        study = panel._shown
        plane = plane_of(study.chart, study.frame)
        points = np.random.default_rng(0).normal(0, 1, (20, 3))
        drawn = in_drawing(study.chart.slice, points) @ study.frame.normal - study.frame.offset
        normal = np.linalg.norm(np.array(plane.normal, dtype=float))
        np.testing.assert_allclose(plane.height(points) * normal, drawn, atol=1e-9)
        again = frame_of(study.chart, study.frame.turn, study.frame.tilt, study.frame.offset)
        assert again == study.frame


# In place


def test_moving_the_plane_leaves_the_surface_alone(panel, monkeypatch):
    sent = []
    for name in ("_send_update_msg", "_send_restyle_msg", "_send_relayout_msg"):
        monkeypatch.setattr(panel.figure, name, lambda _n=name, **sends: sent.append((_n, sends)))
    for name, value in [("offset", 0.25), ("turn", 20), ("tilt", -30)]:
        sent.clear()
        panel.controls[name].value = value
        ((message, sends),) = sent
        assert message == "_send_update_msg" and min(sends["trace_indexes"]) >= HEAVY
        assert not any("camera" in key for key in sends["relayout_data"])
    chart = panel._shown.chart
    assert all(a is b for a, b in zip(chart_traces(chart), chart_traces(chart), strict=True))


def test_a_turned_camera_stays_while_the_plane_moves(panel):
    panel.figure.layout.scene.camera = {"eye": {"x": 2.5, "y": 1.0, "z": 0.5}}
    for name, value in [("offset", 0.25), ("turn", 20), ("tilt", -30)]:
        panel.controls[name].value = value
        assert panel.figure.layout.scene.camera.eye.x == 2.5
    panel.controls["preset"].value = "rays"
    assert panel.figure.layout.scene.camera.eye.x != 2.5


def test_there_is_one_scene(panel):
    assert sum(key.startswith("scene") for key in plain(panel.figure)["layout"]) == 1


# Nothing breaks it


@pytest.mark.parametrize("key", KEYS)
def test_both_ends_of_every_control_are_legal_in_every_slice(panel, key):
    for name in VISIBLE[1:] + ["seed"]:
        for value in ends(panel.controls[name]):
            panel.state = f"preset={key}"
            panel.controls[name].value = value
            assert panel.status.startswith("done"), (name, value, panel.status)


def test_through_the_middle_along_every_axis(panel):
    """Here planes hold lines, apexes and the yellow curve."""
    for key in KEYS:
        for turn, tilt in [(0, 0), (90, 0), (-90, 0), (0, 90), (0, -90)]:
            panel.state = f"preset={key};turn={turn};tilt={tilt};offset=0"
            assert panel.status.startswith("done"), panel.status


def test_a_plane_that_two_of_the_layers_share_is_part_of_the_surface(panel):
    panel.state = "slice=cone;layers=1 0 0 1 1 3 / 0 1 0 0 1 3 / 1 2 2 1 1 1;tilt=90;turn=0;offset=0"
    assert found(panel) == "all of this plane belongs to the surface"
    assert not on_page(trace(panel, "which sheet")).size


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before
