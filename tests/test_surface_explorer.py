"""The explorer of the singular surface: what it draws is the surface, and what it says of a point is true."""

import json
from itertools import combinations
from math import hypot
from types import SimpleNamespace

import numpy as np
import pytest
from panels import plain

from neuroviz.kit import theme
from neuroviz.kit.camera import Camera, clearest, fitting, half_size
from neuroviz.singular.forms import resultant
from neuroviz.singular.projective_line import KIND_WORDS
from neuroviz.singular.slice_panel import PRESETS, chart_of, read_slice
from neuroviz.singular.space import (
    Chart,
    camera_of,
    chart_traces,
    in_drawing,
    scene_of,
    sheet_tone,
    stretch_of,
    tone,
)
from neuroviz.singular.surface import SLICES, s3
from neuroviz.singular.surface_figure import SPACE
from neuroviz.singular.surface_panel import SurfaceExplorer, SurfaceRequest, study_surface

VISIBLE = ["preset", "alpha", "kappa", "moves", "where", "along"]
MORE = ["slice", "seed", "layers"]
KEYS = [key for key, _ in PRESETS.values()]
LAYERS = "1 0 0 1 1 1 / 1 2 3 4 1 3 / 0 1 2 1 2 -1 / 1 1 0 1 1 -2"
BAD_STATES = [
    "preset=two", "slice=S5", "alpha=0", "alpha=4.1", "kappa=1", "where=-0.1", "where=1.1", "along=x",
    "along=2", "moves=up", "seed=-1", "depth=2", "slice=four;layers=1 2 3", "slice=cone;layers=" + LAYERS,
    "slice=four;layers=1 0 0 x 1 1",
]  # fmt: skip
SURFACE, RODS, CROSSING, DOTTED, BOUNDARY, PINCH, PICKED, RULING, BALL = range(9)


@pytest.fixture(scope="module")
def shared():
    panel = SurfaceExplorer()
    yield panel
    panel.close()


@pytest.fixture
def panel(shared):
    shared.reset()
    assert shared.status.startswith("done")
    return shared


def corners(trace) -> np.ndarray:
    return np.array([trace.x, trace.y, trace.z], dtype=float).T


def from_drawing(slice, points: np.ndarray) -> np.ndarray:
    return points / stretch_of(slice) + np.array(slice.window.centre)


def middle(trace) -> np.ndarray:
    return (corners(trace).min(axis=0) + corners(trace).max(axis=0)) / 2


# What it shows


def test_few_controls_are_visible_and_the_rest_is_under_more(panel):
    assert list(panel.controls) == VISIBLE + MORE
    homes = {child: box for box in panel.children for child in getattr(box, "children", ())}
    assert all(homes[panel.controls[name]].layout.display == "flex" for name in VISIBLE)
    assert all(homes[panel.controls[name]].layout.display == "none" for name in MORE)


@pytest.mark.parametrize("key", KEYS)
def test_the_drawn_mesh_is_the_surface_to_rounding(panel, key):
    panel.state = f"preset={key}"
    slice = read_slice(panel.controls)
    points = from_drawing(slice, corners(panel.figure.data[SURFACE]))
    forms = slice.forms(*points.T)
    size = np.sqrt(sum(c**2 for q in forms for c in q))
    assert (np.abs(resultant(*forms)) <= 1e-12 * size**4 + 1e-15).all()
    moved = slice.forms(*(points + 0.02).T)
    assert not (np.abs(resultant(*moved)) <= 1e-12 * size**4 + 1e-15).all()


@pytest.mark.parametrize("key", KEYS)
def test_solid_curves_lie_on_the_mesh_and_dotted_ones_off_it(key):
    chart = chart_of(read_slice(SurfaceExplorer(state=f"preset={key}").controls))
    mesh = np.concatenate([in_drawing(chart.slice, s.points(60)).reshape(-1, 3) for s in chart.strips])
    pinches = in_drawing(chart.slice, np.reshape(chart.pinches, (-1, 3)))
    for piece in chart.pieces:
        points = in_drawing(chart.slice, piece.points[2:-2:6])
        if len(pinches):
            points = points[np.linalg.norm(points[:, None] - pinches, axis=-1).min(axis=1) > 0.3]
        away = [np.linalg.norm(mesh - point, axis=-1).min() for point in points]
        assert all(d > 0.02 if piece.dotted else d < 0.04 for d in away), piece.kind


def test_the_default_is_like_figure_1(panel):
    """A surface that crosses itself along a line; a yellow line whose middle segment is dotted."""
    assert "S1: the surface crosses itself along the yellow line" in panel.figure.layout.annotations[0].text
    solid, dotted = (corners(panel.figure.data[index]) for index in (CROSSING, DOTTED))
    assert np.abs(solid[:, 1:]).max() < 0.04 and np.abs(dotted[:, 1:]).max() < 0.04
    assert np.abs(dotted[:, 0]).max() < 1.25 and np.abs(solid[:, 0]).min() > 1.15
    gaps = np.diff(np.unique(dotted[:, 0].round(3)))
    assert (gaps > 0.05).sum() > 8, "dotted"
    assert {panel.figure.data[index].color for index in (CROSSING, DOTTED)} == {theme.color("singular")}
    assert corners(panel.figure.data[PINCH])[:, 0].max() == pytest.approx(1.25, abs=0.002)


@pytest.mark.parametrize("key", KEYS)
def test_the_kind_on_the_panel_is_that_of_the_slice(panel, key):
    panel.state = f"preset={key}"
    slice = read_slice(panel.controls)
    for moves in ("surface", "curve"):
        panel.controls["moves"].value = moves
        for where in (0.0, 0.13, 0.5, 0.77, 1.0):
            panel.controls["where"].value = where
            point = panel._shown.point
            assert point.facts == slice.facts(*point.at) and point.facts.kind == slice.kind(*point.at)
            assert KIND_WORDS[point.facts.kind] in panel.description
            texts = [a.text for a in panel.figure.layout.annotations]
            assert any(f"<b>{KIND_WORDS[point.facts.kind]}</b>" in text for text in texts)
            assert slice.kind(*point.at) != "off"
            np.testing.assert_allclose(
                middle(panel.figure.data[BALL]), in_drawing(slice, np.array(point.at)), atol=1e-4
            )
            assert ("Cor. A.6" in panel._title_html.value) == (point.facts.kind == "closure only")


def test_sliding_through_a_pinch_point_two_chords_meet_and_a_point_inside_appears(panel):
    panel.state = "moves=curve"
    seen = []
    for where in (0.95, 0.85, 0.785, 0.7, 0.5):
        panel.controls["where"].value = where
        q1, q2, ring = panel.figure.data[BALL + 2 :]
        np.testing.assert_allclose([q1.x, q1.y], [q2.x, q2.y] if q2.x else [q1.x, q1.y], atol=1e-9)
        seen.append((len(ring.x), hypot(ring.x[0], ring.y[0]), panel._shown.point))
    assert [count for count, _, _ in seen] == [2, 2, 1, 1, 1]
    assert [abs(radius - 1) < 1e-9 for _, radius, _ in seen] == [True, True, True, False, False]
    assert [point.facts.preimages for *_, point in seen] == [2, 2, 1, 0, 0]
    signs = [np.sign(point.discriminant) for *_, point in seen]
    assert signs == [1, 1, 0, -1, -1]
    panel.controls["where"].value = 0.9
    assert "two sets of weights" in panel.description and "q₂ = 0 has no chord" in panel.description
    panel.controls["where"].value = 0.785
    assert "two preimages have met" in panel.description
    panel.controls["where"].value = 0.7
    assert "point inside the circle" in panel.description and "no real weights" in panel.description


def test_on_the_curve_the_point_stops_at_pinch_points_only():
    kinds = {}
    for step in range(201):
        kinds[step] = study_surface(SurfaceRequest(SLICES["S1"], True, step / 200, 0.0)).point.facts.kind
    assert 2 <= list(kinds.values()).count("boundary") <= 8
    assert {"crossing", "boundary", "closure only"} == set(kinds.values())


def test_on_a_ruling_the_slider_stops_at_a_crossing(panel):
    panel.state = "along=0.015625"
    assert panel._shown.point.facts.kind == "crossing"
    panel.controls["along"].value = 0.0625
    assert panel._shown.point.facts.kind == "smooth"


def test_a_point_of_the_surface_moves_along_its_ruling_and_keeps_the_root(panel):
    roots = set()
    for along in (-1.0, -0.5, 0.25, 1.0):
        panel.controls["along"].value = along
        (root,) = panel._shown.point.roots
        roots.add(round(root.m, 9))
        assert f"m = X/Y = {root.m:.3g}".replace("-", "−") in panel.description
    assert len(roots) == 1
    panel.controls["where"].value = 0.3
    assert round(panel._shown.point.roots[0].m, 9) not in roots


def test_on_a_line_the_crossing_is_the_one_of_the_curve_without_rounding(panel):
    panel.state = "along=0"
    point = panel._shown.point
    assert point.facts.kind == "crossing" and point.at[1:] == (0, 0) and not any(point.forms[1])
    assert "q₂ = 0 has no chord" in panel.description and not panel.figure.data[BALL + 3].x
    panel.state = "preset=crossing;moves=curve;where=0.9"
    q1, q2, _ = panel.figure.data[BALL + 2 :]
    np.testing.assert_allclose([q1.x, q1.y], [q2.x, q2.y], atol=1e-6)
    assert "both chords are one" in panel.description


@pytest.mark.parametrize("slice", [SLICES["S1"], SLICES["S2"], s3(3), s3(2.6), SLICES["S4"]])
def test_where_two_sheets_cross_their_colours_differ(slice):
    chart = chart_of(slice)
    pinches, seen = in_drawing(slice, np.reshape(chart.pinches, (-1, 3))), 0
    for piece in (piece for piece in chart.pieces if piece.kind == "crossing"):
        for point in piece.points[20:-20:20]:
            if np.linalg.norm(in_drawing(slice, point) - pinches, axis=-1).min() < 0.2:
                continue
            tones = []
            for root in slice.roots(*point):
                line = slice.ruling(root.X, root.Y)
                direction = np.array(line.direction, dtype=float)[None] * 0.3
                theta = np.array([root.angle / 2])
                start, end = point - 1.3 * direction, point + 0.7 * direction
                tones.append(float(tone(chart, theta, start, end, np.array([0.3]))[0, 0]))
            assert tones[0] * tones[1] < -0.2
            seen += 1
    assert seen > 5


def test_the_two_sides_of_a_sharp_edge_differ_too():
    chart = chart_of(s3(2))
    (strip,) = chart.strips
    tones = sheet_tone(chart, strip, 21)
    assert (tones.min(axis=1) < -0.5).any() and (tones.max(axis=1) > 0.5).any()
    assert (np.diff(tones, axis=1) >= -1e-12).all(), "from one side to the other, once"


def test_headlines_say_what_the_slice_does(panel):
    for key, words in [
        ("crossing", "S3, α = 2.6: the surface crosses itself"),
        ("tangent", "S3, α = 2: a sharp edge, all of it boundary"),
        ("isolated", "S3, α = 1.2: the yellow curve is isolated"),
        ("cone", "a cone through three layers"),
        ("cubic", "S1κ, κ = 0"),
    ]:
        panel.controls["preset"].value = key
        assert words in panel.figure.layout.annotations[0].text


# Presets and parameters


@pytest.mark.parametrize(("key", "settings"), PRESETS.values())
def test_a_preset_sets_slice_and_a_legal_parameter(panel, key, settings):
    panel.controls["preset"].value = key
    assert panel.status.startswith("done") and panel.controls["preset"].value == key
    for name, value in settings.items():
        assert panel.controls[name].value == value
    for name, value in settings.items():
        if name != "slice":
            assert panel._shown.chart.slice.parameters == ((name, pytest.approx(value)),)


def test_a_parameter_moved_by_hand_is_recognised(panel):
    panel.controls["preset"].value = "tangent"
    panel.controls["alpha"].value = 2.3
    assert panel.controls["preset"].value == "own"
    panel.controls["alpha"].value = 2.6
    assert panel.controls["preset"].value == "crossing"
    panel.controls["slice"].value = "S2"
    assert panel.controls["preset"].value == "rays"
    panel.controls["preset"].value = "own"
    assert panel.controls["preset"].value == "rays", "that is what it is"


def test_each_slice_shows_its_own_parameter_and_no_other(panel):
    for key, shown in [("figure-1", set()), ("crossing", {"alpha"}), ("cubic", {"kappa"}), ("rays", set())]:
        panel.controls["preset"].value = key
        visible = {name for name in ("alpha", "kappa") if panel.controls[name].layout.display != "none"}
        assert visible == shown == {n for n in ("alpha", "kappa") if not panel.controls[n].disabled}


def test_a_slider_that_stops_beside_two_gives_the_tangent_developable(panel):
    panel.state = "preset=crossing"
    panel.controls["alpha"].value = 2.0000000000000004
    assert panel._shown.chart.slice == s3(2) and panel.controls["preset"].value == "tangent"


def test_one_preset_is_one_redraw(panel, monkeypatch):
    calls = []
    monkeypatch.setattr(
        SurfaceExplorer, "_answer", staticmethod(lambda r: calls.append(r) or study_surface(r))
    )
    panel.controls["preset"].value = "tangent"
    assert len(calls) == 1


# Slices through layers


def test_a_slice_goes_through_the_layers_that_are_written_down(panel):
    panel.state = f"slice=four;layers={LAYERS}"
    slice = panel._shown.chart.slice
    assert slice.forms(0, 0, 0) == ((1, 1, 0), (0, 1, 1))
    np.testing.assert_allclose(middle(panel.figure.data[PICKED]), [0.25, 0.25, 0.25], atol=0.01)
    assert all(slice.kind(*corner) != "off" for corner in [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    three = "/".join(LAYERS.split("/")[:3])
    panel.state = f"slice=cone;layers={three}"
    assert panel._shown.chart.slice.forms(1, 0, 0) == ((1, 1, 0), (0, 1, 1))
    assert panel._shown.chart.slice.kind(0, 0, 0) == "boundary" and "a cone" in panel.description


def test_layers_that_do_not_fit_are_an_error_and_not_the_end(panel):
    panel.state = "slice=four"
    for text, words in [
        ("1 0", "six numbers"),
        ("1 0 0 1 1 1", "4 layers; got 1"),
        ("a b c d e f", "numbers"),
    ]:
        panel.controls["layers"].value = text
        assert words in panel.status
    panel.controls["layers"].value = ""
    assert panel.status.startswith("done")


@pytest.mark.parametrize("kind", ["random", "four", "cone"])
def test_many_seeds_make_a_surface(kind):
    for seed in range(40):
        controls = SimpleNamespace
        values = {"slice": kind, "alpha": 2.6, "kappa": 0.0, "seed": seed, "layers": ""}
        slice = read_slice({name: controls(value=value) for name, value in values.items()})
        assert slice.rulings(count=10), "a surface inside the window"


# The point moves by a click


@pytest.mark.parametrize("key", KEYS)
def test_a_click_on_the_surface_moves_the_point_there(panel, key):
    panel.state = f"preset={key};moves=curve"
    trace = panel.figure.data[SURFACE]
    for index in np.random.default_rng(0).integers(0, len(trace.x), 12).tolist():
        there = corners(trace)[index]
        panel._on_surface_click(trace, SimpleNamespace(point_inds=[index]), None)
        assert panel.controls["moves"].value == "surface" and panel.status.startswith("done")
        here = in_drawing(panel._shown.chart.slice, np.array(panel._shown.point.at))
        assert np.linalg.norm(here - there) < 0.08
        assert f"where={panel.controls['where'].value:.6g}" in panel.state


def test_a_click_on_the_yellow_curve_moves_the_point_along_it(panel):
    for key, index in [("figure-1", CROSSING), ("figure-1", DOTTED), ("tangent", BOUNDARY), ("rays", PINCH)]:
        panel.state = f"preset={key}"
        trace = panel.figure.data[index]
        panel._on_click(panel.figure.drawn["data"][index], len(trace.x) // 3)
        assert panel.controls["moves"].value == "curve"
        here = in_drawing(panel._shown.chart.slice, np.array(panel._shown.point.at))
        assert np.linalg.norm(here - corners(trace)[len(trace.x) // 3]) < 0.1


def test_every_mesh_that_says_so_can_be_clicked(panel):
    for index, handler in [(SURFACE, "_on_surface_click"), (CROSSING, "_on_curve_click")]:
        assert [f.__name__ for f in panel.figure.data[index]._click_callbacks] == [handler]
    before = panel.state
    panel._on_surface_click(panel.figure.data[SURFACE], SimpleNamespace(point_inds=[]), None)
    assert panel.state == before


# In place


def test_moving_the_point_sends_one_message_with_the_focus_and_the_circle_only(panel, monkeypatch):
    sent = []
    for name in ("_send_update_msg", "_send_restyle_msg", "_send_relayout_msg"):
        monkeypatch.setattr(panel.figure, name, lambda _n=name, **sends: sent.append((_n, sends)))
    for name, value in [("along", -0.25), ("where", 0.4), ("moves", "curve"), ("where", 0.9)]:
        sent.clear()
        panel.controls[name].value = value
        ((message, sends),) = sent
        assert message == "_send_update_msg"
        restyle, relayout, indices = (
            sends[key] for key in ("restyle_data", "relayout_data", "trace_indexes")
        )
        assert set(indices) <= {RULING, BALL, BALL + 2, BALL + 3, BALL + 4}, name
        assert not any("camera" in key for key in relayout)
        assert len(json.dumps([restyle, relayout], default=str)) < 40_000
    sent.clear()
    panel.controls["preset"].value = "rays"
    ((_, sends),) = sent
    assert SURFACE in sends["trace_indexes"] and any("camera" in key for key in sends["relayout_data"])


def test_the_heavy_traces_are_the_same_objects_between_two_points():
    one, two = (study_surface(SurfaceRequest(SLICES["S1"], False, where, 0.5)) for where in (0.2, 0.7))
    assert one.chart is two.chart
    assert all(a is b for a, b in zip(chart_traces(one.chart), chart_traces(two.chart), strict=True))
    other = study_surface(SurfaceRequest(SLICES["S2"], False, 0.2, 0.5))
    assert chart_traces(other.chart)[0] is not chart_traces(one.chart)[0]


def test_a_turned_camera_stays_while_sliders_move_and_goes_with_the_slice(panel):
    panel.state = "preset=crossing"
    turned = {"eye": {"x": 2.0, "y": 1.0, "z": 0.5}}
    panel.figure.layout.scene.camera = turned
    for name, value in [("where", 0.3), ("along", -0.5), ("alpha", 3.0), ("moves", "curve")]:
        panel.controls[name].value = value
        assert panel.figure.layout.scene.camera.eye.x == 2.0, name
    assert panel.figure.layout.scene.uirevision == "S3"
    panel.controls["preset"].value = "hyperbola"
    assert panel.figure.layout.scene.camera.eye.x != 2.0
    assert panel.figure.layout.scene.uirevision == "S4"


# Labels and camera


@pytest.mark.parametrize("size", ["notebook", "lecture"])
@pytest.mark.parametrize("key", KEYS)
def test_no_label_covers_another_or_leaves_the_scene(key, size):
    with theme.using({"mode": "light", "size": size}):
        chart = chart_of(read_slice(SurfaceExplorer(state=f"preset={key}").controls))
        tall = theme.size("height") - round(2.2 * theme.size("title")) - 12
        boxes = []
        for label in scene_of(chart, SPACE)["annotations"]:
            if not label["visible"]:
                continue
            anchor = camera_of(chart).seen(np.array([label[axis] for axis in "xyz"])) * tall / 2 * [1, -1]
            middle_of_box = anchor + [label["ax"], label["ay"]]
            boxes.append((middle_of_box, half_size(label["text"])))
        for place, half in boxes:
            assert (np.abs(place) + half <= [0.75 * tall, tall / 2]).all()
        for (one, half), (two, other) in combinations(boxes, 2):
            assert (np.abs(one - two) > half + other).any()
        texts = [label["text"] for label in scene_of(chart, SPACE)["annotations"]]
        assert len(texts) == len(set(texts)), "at most one of each"


@pytest.mark.parametrize("key", KEYS)
def test_the_drawing_fills_the_height_or_the_width_and_is_not_cut(key):
    chart = chart_of(read_slice(SurfaceExplorer(state=f"preset={key}").controls))
    seen = np.concatenate(
        [
            camera_of(chart).seen(in_drawing(chart.slice, strip.points(5))).reshape(-1, 2)
            for strip in chart.strips
        ]
    )
    across, up = np.abs(seen).max(axis=0)
    assert up < 1.02 and across < 1.45
    assert up > 0.7 or across > 1.0


def test_the_camera_sees_a_point_where_plotly_draws_it():
    """Above the middle is up, to the right of it right, and nearer is larger."""
    camera = Camera((0.0, -2.0, 0.0))
    right, up, near, far = camera.seen(np.array([[1, 0, 0], [0, 0, 1], [1, -1, 0], [1, 1, 0]]))
    assert right[0] > 0 == right[1] and up[1] > 0 == up[0]
    assert near[0] > right[0] > far[0] > 0
    # 0.5 up, seen from 2 away through a lens of 45°
    assert up[1] == pytest.approx(0.25 / np.tan(np.pi / 8))


def test_a_fitted_camera_fills_its_picture():
    points = np.random.default_rng(0).normal(0, 1, (300, 3)) * [2.0, 0.5, 0.5]
    for width in (0.5, 1.3):
        camera = fitting(points, (1, -1, 0.5), height=0.9, width=width)
        half = np.abs(camera.seen(points)).max(axis=0)
        assert half[0] == pytest.approx(width, abs=0.02) or half[1] == pytest.approx(0.9, abs=0.02)
        assert half[0] < width + 0.02 and half[1] < 0.92


def test_the_clearest_direction_is_not_behind_a_wall():
    wall = np.array([[[-9.0, -1, -9], [9, -1, -9], [0, -1, 18]]])
    curve = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]])
    before, behind, along = (0.0, -1.0, 0.1), (0.0, 1.0, 0.1), (1.0, 0.0, 0.1)
    assert clearest([curve], wall, [before, behind, along]) == behind
    assert clearest([curve], wall[:0], [before, behind, along]) == before
    assert clearest([curve], wall[:0], [along, before]) == before


# Nothing breaks it


def test_slice_and_parameter_are_legal_together(panel):
    for key in KEYS:
        for alpha, kappa in [(0.2, -3.0), (4.0, 0.75)]:
            panel.state = f"preset={key};alpha={alpha};kappa={kappa}"
            assert panel.status.startswith("done"), panel.status
            assert (panel.controls["alpha"].value, panel.controls["kappa"].value) == (alpha, kappa)


@pytest.mark.parametrize("state", BAD_STATES)
def test_a_bad_state_is_refused_and_changes_nothing(panel, state):
    before = panel.state, panel.description, plain(panel.figure)
    with pytest.raises(ValueError):
        panel.state = state
    assert (panel.state, panel.description, plain(panel.figure)) == before


def test_there_is_one_scene(panel):
    assert sum(key.startswith("scene") for key in plain(panel.figure)["layout"]) == 1


def test_a_slice_without_singular_points_in_sight_says_so():
    chart = chart_of(SLICES["S1"])
    empty = Chart(chart.slice, chart.strips, (), ())
    assert not any(label["visible"] for label in scene_of(empty, SPACE)["annotations"])
