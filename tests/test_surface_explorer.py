"""The explorer of the singular surface: what it draws is the surface, and what it says
of a point is true."""

from itertools import combinations
from math import hypot
from types import SimpleNamespace

import numpy as np
import pytest
from circle import on_circle

from neuroviz.kit import theme
from neuroviz.kit.controls import is_shown
from neuroviz.singular.camera import Camera, _cross, half_size
from neuroviz.singular.chart import _slope, chart_of, in_drawing, singular_places, tone
from neuroviz.singular.forms import BOUNDARY, CLOSURE, CROSSING
from neuroviz.singular.projective_line import KIND_WORDS
from neuroviz.singular.slice_panel import PRESETS
from neuroviz.singular.space import camera_of, labels_of
from neuroviz.singular.surface import SLICES, s3
from neuroviz.singular.surface_facts import surface_facts
from neuroviz.singular.surface_panel import SurfaceExplorer, SurfaceSetting
from neuroviz.singular.surface_point import point_at

PANEL = SurfaceExplorer
SETTINGS = {
    key: {"name" if name == "slice" else name: value for name, value in values.items()}
    for key, values in PRESETS.values()
}
every_preset = pytest.mark.parametrize("key", SETTINGS)


def study(key="figure-1", **more):
    return SurfaceExplorer._answer(SurfaceSetting(**SETTINGS[key], **more))


@every_preset
def test_solid_curves_lie_on_the_mesh_and_dotted_ones_off_it(key):
    chart = chart_of(SurfaceSetting(**SETTINGS[key]).slice)
    mesh = np.concatenate(
        [in_drawing(chart.slice, s.points(60)).reshape(-1, 3) for s in chart.strips]
    )
    pinches = in_drawing(chart.slice, np.reshape(chart.pinches, (-1, 3)))
    for piece in chart.pieces:
        points = in_drawing(chart.slice, piece.points[2:-2:6])
        if len(pinches):
            points = points[
                np.linalg.norm(points[:, None] - pinches, axis=-1).min(axis=1) > 0.3
            ]
        away = [np.linalg.norm(mesh - point, axis=-1).min() for point in points]
        assert all(
            d > 0.02 if piece.kind == "closure only" else d < 0.04 for d in away
        ), piece.kind


@every_preset
def test_the_kind_in_figure_and_words_is_that_of_the_slice(panel, key):
    for moves in ("surface", "curve"):
        for where in (0.0, 0.13, 0.5, 1.0):
            answer = study(key, moves=moves, where=where)
            point = answer.point
            slice = answer.chart.slice
            kind = answer.point.facts.kind
            assert (
                point.facts == slice.facts(*point.at)
                and kind == slice.kind(*point.at) != "off"
            )
            assert KIND_WORDS[kind] in panel._describe(answer)
            assert ("Cor. A.6" in panel._badge(answer)) == (kind == "closure only")
            assert surface_facts(answer)["point"]["lines"][0] == KIND_WORDS[kind]


def test_sliding_through_a_pinch_point_two_chords_meet_and_a_point_inside_appears():
    seen = []
    for where in (0.95, 0.85, 0.785, 0.7, 0.5):
        answer = study(moves="curve", where=where)
        roots = on_circle(next(filter(any, answer.point.forms)))
        seen.append((len(roots), hypot(*roots[0]), answer.point))
    assert [count for count, _, _ in seen] == [2, 2, 1, 1, 1]
    assert [abs(radius - 1) < 1e-9 for _, radius, _ in seen] == [
        True,
        True,
        True,
        False,
        False,
    ]
    kinds = [CROSSING, CROSSING, BOUNDARY, CLOSURE, CLOSURE]
    assert [point.facts.kind for *_, point in seen] == kinds
    assert [np.sign(point.discriminant) for *_, point in seen] == [1, 1, 0, -1, -1]


def test_points_stop_at_pinch_points_on_the_curve_and_at_crossings_on_a_ruling():
    chart = chart_of(SLICES["S1"])
    kinds = [
        point_at(chart, True, step / 200, 0.0).facts.kind for step in range(140, 176)
    ]
    assert kinds == sorted(kinds, key=["closure only", "boundary", "crossing"].index)
    assert 1 <= kinds.count("boundary") <= 4
    assert [point_at(chart, False, 0.8, a).facts.kind for a in (0.015625, 0.0625)] == [
        "crossing",
        "smooth",
    ]
    crossing = point_at(chart, False, 0.8, 0.0)
    assert crossing.at[1:] == (0, 0) and not any(crossing.forms[1]), "without rounding"


def test_a_point_of_the_surface_moves_along_its_ruling_and_keeps_the_root():
    chart = chart_of(SLICES["S1"])
    roots = {
        round(point_at(chart, False, 0.8, a).roots[0].m, 9)
        for a in (-1.0, -0.5, 0.25, 1.0)
    }
    assert len(roots) == 1
    assert round(point_at(chart, False, 0.3, 0.5).roots[0].m, 9) not in roots


@pytest.mark.parametrize(
    "slice", [SLICES["S1"], SLICES["S2"], s3(3), s3(2.6), SLICES["S4"]]
)
def test_where_two_sheets_cross_their_colours_differ(slice):
    chart = chart_of(slice)
    pinches = in_drawing(slice, np.reshape(chart.pinches, (-1, 3)))
    seen = 0
    for piece in (piece for piece in chart.pieces if piece.kind == "crossing"):
        for point in piece.points[20:-20:20]:
            if np.linalg.norm(in_drawing(slice, point) - pinches, axis=-1).min() < 0.2:
                continue
            tones = []
            for root in slice.roots(*point):
                theta = np.array([root.angle / 2])
                direction = 0.3 * slice.lines(theta)[1]
                start = point - 1.3 * direction
                end = point + 0.7 * direction
                tones.append(
                    float(tone(chart, theta, start, end, np.array([0.3]))[0, 0])
                )
            assert tones[0] * tones[1] < -0.2
            seen += 1
    assert seen > 5


def test_where_no_sheets_cross_the_colour_goes_round_once_with_the_root():
    """A root [cos θ : sin θ] is back at θ + π, and between its two colours lies a
    quarter turn."""
    plain = SimpleNamespace(slice=None, pieces=())
    theta = np.linspace(0, np.pi, 181)
    tones = tone(plain, theta, None, None, np.array([-1.0, 0.5, 1.0]))
    assert tones.shape == (181, 3) and (tones == tones[:, :1]).all()
    falls, rises = np.split(np.diff(tones[:, 0]), 2)
    assert (falls < 0).all() and (rises > 0).all()
    assert tones[[0, 45, 90, 135, 180], 0] == pytest.approx([0.8, 0, -0.8, 0, 0.8])


def test_the_two_sides_of_a_sharp_edge_differ_too():
    chart = chart_of(s3(2))
    (strip,) = chart.strips
    tones = tone(chart, strip.theta, strip.starts, strip.ends, np.linspace(-1, 1, 21))
    assert (tones.min(axis=1) < -0.5).any() and (tones.max(axis=1) > 0.5).any()
    assert (np.diff(tones, axis=1) >= -1e-12).all(), "from one side to the other, once"
    at_the_edge, _ = singular_places(chart.slice, strip.theta, strip.starts, strip.ends)
    near = np.abs(at_the_edge) < 1e3
    tones = tone(
        chart,
        strip.theta[near],
        strip.starts[near],
        strip.ends[near],
        at_the_edge[near, None],
    )
    assert near.sum() > 20 and np.abs(tones).max() < 1e-6


@pytest.mark.parametrize(
    ("multiple", "sign"), [(1.0, 1), (1e-5, 1), (1e-7, -1), (0.0, -1)]
)
def test_the_common_form_has_the_sign_of_the_first_form_unless_that_is_rounding(
    multiple, sign
):
    """q₁ = m·q and q₂ = −q: below a millionth q₁ is rounding, and q₂ tells the sign."""
    form = np.array([[0.0], [1.0], [0.0]])  # XY rises through its root [1 : 0]
    pair = multiple * form, -form
    slice = SimpleNamespace(forms=lambda x, y, z: pair)
    at = np.zeros((1, 3))
    X = np.array([1.0])
    Y = np.array([0.0])
    rises = _slope(slice, at, X, Y)[0]
    assert np.sign(rises) == sign, rises


# Presets, parameters and layers


@every_preset
def test_a_preset_sets_slice_and_parameter_and_shows_no_other_parameter(panel, key):
    panel.controls["preset"].value = key
    assert panel.status.startswith("done") and panel.controls["preset"].value == key
    assert panel._shown.chart.slice == SurfaceSetting(**SETTINGS[key]).slice
    shown = {name for name in ("alpha", "kappa") if is_shown(panel.controls[name])}
    assert (
        shown
        == set(SETTINGS[key]) - {"name"}
        == {n for n in shown if not panel.controls[n].disabled}
    )


def test_a_parameter_moved_by_hand_is_recognised(panel):
    panel.controls["preset"].value = "isolated"
    panel.controls["preset"].value = "tangent"
    assert panel._shown.chart.slice == s3(2)
    for name, value, preset in (
        ("alpha", 2.3, "own"),
        ("alpha", 2.6, "crossing"),
        ("slice", "S2", "rays"),
    ):
        panel.controls[name].value = value
        assert panel.controls["preset"].value == preset
    panel.controls["preset"].value = "own"
    assert panel.controls["preset"].value == "rays", "that is what it is"


def test_a_slider_that_stops_beside_two_gives_the_tangent_developable(panel):
    panel.state = "preset=crossing"
    panel.controls["alpha"].value = 2.0000000000000004
    assert (
        panel._shown.chart.slice == s3(2)
        and panel.controls["preset"].value == "tangent"
    )


def test_many_seeds_make_a_surface():
    for seed in range(12):
        assert SurfaceSetting(name="random", seed=seed).slice.rulings(count=10), (
            "inside the window"
        )


# Labels and camera


@pytest.mark.parametrize("size", ["notebook", "lecture"])
@every_preset
def test_no_label_covers_another_or_leaves_the_scene_and_no_lines_cross(key, size):
    with theme.using({"mode": "light", "size": size}):
        chart = chart_of(SurfaceSetting(**SETTINGS[key]).slice)
        tall = theme.size("height") - round(2.2 * theme.size("title")) - 12
        boxes = []
        lines = []
        for text, at, away in labels_of(chart, 1.0):
            anchor = camera_of(chart).seen(np.array(at)) * tall / 2 * [1, -1]
            boxes.append((anchor + away, half_size(text)))
            lines.append((anchor, boxes[-1][0]))
        assert boxes
        assert not any(_cross(*one, *other) for one, other in combinations(lines, 2))
        for place, half in boxes:
            assert (np.abs(place) + half <= [0.75 * tall, tall / 2]).all()
        for (one, half), (two, other) in combinations(boxes, 2):
            assert (np.abs(one - two) > half + other).any()


@every_preset
def test_the_drawing_fills_the_height_or_the_width_and_is_not_cut(key):
    chart = chart_of(SurfaceSetting(**SETTINGS[key]).slice)
    points = np.concatenate(
        [in_drawing(chart.slice, s.points(5)).reshape(-1, 3) for s in chart.strips]
    )
    across, up = np.abs(camera_of(chart).seen(points)).max(axis=0)
    assert up < 1.02 and across < 1.45
    assert up > 0.7 or across > 1.0


def test_the_camera_sees_a_point_where_the_page_draws_it():
    """Above the middle is up, to the right of it right, and nearer is larger."""
    camera = Camera((0.0, -4.0, 0.0))
    right, up, near, far = camera.seen(
        np.array([[1, 0, 0], [0, 0, 1], [1, -1, 0], [1, 1, 0]])
    )
    assert right[0] > 0 == right[1] and up[1] > 0 == up[0]
    assert near[0] > right[0] > far[0] > 0
    # 1 up, seen from 4 away through a lens of 45°
    assert up[1] == pytest.approx(0.25 / np.tan(np.pi / 8))
