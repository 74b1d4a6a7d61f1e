"""Sections of the surface by planes, and the panel of them: what is drawn and said is what is there."""

from fractions import Fraction

import numpy as np
import pytest
from test_surface import label
from test_surface_explorer import SETTINGS

from neuroviz.singular.chart import in_drawing, stretch_of
from neuroviz.singular.forms import BOUNDARY, CLOSURE, CROSSING, resultant
from neuroviz.singular.section import Plane, section_of
from neuroviz.singular.section_figure import frame_of, plane_of, section_parts
from neuroviz.singular.section_panel import SectionExplorer, SectionSetting, study_section
from neuroviz.singular.slice_panel import PRESETS
from neuroviz.singular.space import camera_of
from neuroviz.singular.surface import SLICES, Slice, s1k, s3

SOME = [*SLICES.values(), s3(2), s1k(Fraction(1, 2)), Slice.random(4)]


every_slice = pytest.mark.parametrize("part", SOME, ids=label)


def planes(part: Slice, count: int, seed: int = 0):
    """Planes that go through the window."""
    for normal, away in np.random.default_rng(seed).standard_normal((count, 2, 3)):
        yield Plane(tuple(normal), normal @ (part.window.centre + 0.3 * part.window.radius * away))


@every_slice
def test_every_point_of_a_section_is_on_the_surface_and_in_the_plane(part):
    drawn = 0
    for plane in planes(part, 8):
        for run in section_of(part, plane).runs:
            forms = part.forms(*run.points.T)
            size = np.sqrt(sum(c**2 for q in forms for c in q))
            assert (np.abs(resultant(*forms)) <= 1e-11 * size**4 + 1e-18).all()
            assert np.abs(plane.height(run.points)).max() < 1e-12 * (1 + np.abs(run.points).max())
            assert part.window.inside(run.points[1:-1]).all()
            u, v = np.cos(run.theta), np.sin(run.theta)
            for a, b, c in forms:
                assert (np.abs(a * u * u + b * u * v + c * v * v) <= 1e-9 * size).all(), "on its ruling"
            drawn += len(run.points)
            moved = part.forms(*(run.points + 0.05).T)
            assert (np.abs(resultant(*moved)) > 1e-11 * size**4).mean() > 0.9, "beside it is no surface"
    assert drawn > 0


@every_slice
def test_where_a_ruling_meets_the_plane_the_section_has_a_point(part):
    """Ruling by ruling, from the chart, which knows nothing of sections."""
    met = 0
    for plane in planes(part, 6, seed=1):
        runs = section_of(part, plane, count=2000).runs
        points = np.concatenate([np.zeros((0, 3)), *(run.points for run in runs)])
        for strip in part.rulings(30):
            one, other = plane.height(strip.starts), plane.height(strip.ends)
            crosses = one * other < 0
            share = (one / (one - other))[crosses, None]
            for place in (1 - share) * strip.starts[crosses] + share * strip.ends[crosses]:
                met += 1
                assert np.linalg.norm(points - place, axis=-1).min() < 0.02 * part.window.reach
    assert met > 20


@every_slice
def test_its_singular_points_are_where_the_singular_curve_goes_through_the_plane(part):
    """Sign changes along the pieces of the curve, each of its kind."""
    found = 0
    for plane in planes(part, 10, seed=2):
        section, expected = section_of(part, plane), []
        for piece in part.singular_curve(4000):
            height = plane.height(piece.points)
            middles = (piece.points[1:] + piece.points[:-1]) / 2
            expected += [(piece.kind, p) for p in middles[height[1:] * height[:-1] < 0]]
        assert len(section.singular) == len(expected)
        for kind, point in section.singular:
            near = [other for other_kind, other in expected if other_kind == kind]
            assert min(np.linalg.norm(np.array(point) - other) for other in near) < 0.01 * part.window.reach
            assert part.kind(*point, tol=1e-7) == kind
            assert abs(plane.height(np.array(point))) < 1e-12 * (1 + np.abs(point).max())
        found += len(expected)
    assert found > 0


@every_slice
def test_a_node_is_passed_twice_and_an_isolated_point_never(part):
    kinds = set()
    for plane in planes(part, 10, seed=3):
        section = section_of(part, plane, count=1500)
        points = np.concatenate([np.zeros((0, 3)), *(run.points for run in section.runs)])
        theta = np.concatenate([np.zeros(0), *(run.theta for run in section.runs)])
        for kind, point in section.singular:
            away = np.linalg.norm(points - np.array(point), axis=-1)
            kinds.add(kind)
            if kind == CROSSING:
                close = theta[away < 0.02 * part.window.reach]
                roots = [root.angle / 2 for root in part.roots(*point, tol=1e-7)]
                passed = [np.abs(np.sin(close - root)).min() < 0.1 for root in roots]
                assert len(roots) == 2 and all(passed), "by the rulings of both its roots"
            elif kind == CLOSURE and len(away):
                pinches = part.pinch_points()
                to_pinch = np.linalg.norm(pinches - point, axis=-1).min() if len(pinches) else np.inf
                assert away.min() > 1e-3 * min(to_pinch, 1.0) > 0
    assert kinds


@pytest.mark.parametrize(
    ("s", "rulings", "kind"), [(3, 2, CROSSING), (-3, 2, CROSSING), (2, 1, BOUNDARY), (1, 0, CLOSURE)]
)
def test_across_the_axis_of_s1_there_are_two_lines_one_or_an_isolated_point(s, rulings, kind):
    """z² = (s² − 4)y² for one s: all the rulings that it meets lie in the plane."""
    section = section_of(SLICES["S1"], Plane((1, 0, 0), s))
    assert [run.is_ruling for run in section.runs] == [True] * rulings
    assert section.singular == ((kind, (float(s), 0.0, 0.0)),)
    for run in section.runs:
        _, y, z = run.points.T
        np.testing.assert_allclose(z**2, (s * s - 4) * y**2, atol=1e-12)


def test_a_plane_along_the_axis_holds_the_yellow_line():
    section = section_of(SLICES["S1"], Plane((0, 0, 1), 0))
    assert [piece.kind for piece in section.along] == [CROSSING, CLOSURE, CROSSING]
    assert sum(run.is_ruling for run in section.runs) == 2, "those with m = ±1, at s = ∓2"
    beside = section_of(SLICES["S1"], Plane((0, 0, 1), Fraction(1, 100)))
    assert not beside.along and not beside.singular


@pytest.mark.parametrize("alpha, kind", [(3, CROSSING), (2, BOUNDARY), (1, CLOSURE)])
def test_a_plane_meets_the_twisted_cubic_up_to_three_times(alpha, kind):
    """At (t, t², t³) with 8t³ − 2t = 0."""
    section = section_of(s3(alpha), Plane((-2, 0, 8), 0))
    assert [point[0] for point in section.of_kind(kind) if point[0]] == [-0.5, 0.5]
    assert (BOUNDARY, (0.0, 0.0, 0.0)) in section.singular
    assert len(section.singular) == 3


def test_through_a_pinch_point_the_section_has_a_cusp():
    """It comes in and goes out in one direction."""
    normal = 1, Fraction(1, 2), Fraction(1, 4)
    section = section_of(SLICES["S1"], Plane(normal, 2), count=4001)
    assert section.singular == ((BOUNDARY, (2.0, 0.0, 0.0)),)
    (run,) = section.runs
    away = run.points - [2, 0, 0]
    here = int(np.linalg.norm(away, axis=-1).argmin())
    before, after = away[here - 12], away[here + 12]
    assert before @ after > 0.9 * np.linalg.norm(before) * np.linalg.norm(after)
    crossing = section_of(SLICES["S1"], Plane(normal, 3), count=4001)
    assert [kind for kind, _ in crossing.singular] == [CROSSING]


def test_a_plane_needs_a_normal():
    with pytest.raises(ValueError, match="not all 0"):
        Plane((0, 0, 0), 1)
    with pytest.raises(ValueError, match="finite"):
        Plane((1, float("nan"), 0), 1)
    assert Plane((0.5, 0, 0), 2.0).equation == (Fraction(1, 2), 0, 0, -2)


# The panel

CUSP = "the section has a cusp at"


def random_studies(count: int, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        setting = {"turn": 5 * int(rng.integers(-18, 19)), "tilt": 5 * int(rng.integers(-18, 19))}
        offset, which = int(rng.integers(-40, 41)) / 64, int(rng.integers(len(PRESETS)))
        yield study_section(SectionSetting(**setting, offset=offset, **[*SETTINGS.values()][which]))


def drawn(study) -> dict:
    return {trace["name"]: trace for trace in section_parts(study).traces}


def points_of(trace, axes="xy") -> np.ndarray:
    return np.array([trace[axis] for axis in axes], dtype=float).T


def test_every_drawn_point_is_on_the_surface_in_the_plane_and_inside_the_rectangle():
    # The page has five digits, and where sheets nearly touch a distance is the root of R.
    count = 0
    for study in random_studies(12, seed=0):
        frame, slice, parts = study.frame, study.chart.slice, section_parts(study)
        traces = {trace["name"]: trace for trace in parts.traces}
        flat = points_of(traces["which sheet"])
        space = frame.offset * frame.normal + flat @ np.array([frame.across, frame.up])
        points = space / stretch_of(slice) + np.array(slice.window.centre)
        size = np.sqrt(sum(c**2 for q in slice.forms(*points.T) for c in q))
        assert (np.abs(slice.resultant(*points.T)) <= 1e-3 * size**4).all()
        assert np.abs(study.section.plane.height(points)).max(initial=0) < 1e-4 * slice.window.reach
        (edge,) = parts.layout["shapes"]
        assert (flat >= np.array([edge["x0"], edge["y0"]]) - 0.03).all()
        assert (flat <= np.array([edge["x1"], edge["y1"]]) + 0.03).all()
        (tube,) = (t for t in parts.traces if t["name"] == "the section" and "z" in t)
        tube = points_of(tube, "xyz")
        assert np.abs(tube @ frame.normal - frame.offset).max(initial=0) < 0.03
        for point in frame.on_page(tube)[::40]:
            assert np.linalg.norm(flat - point, axis=-1).min() < 0.05, "space and page show one curve"
        count += len(points)
    assert count > 1000


def test_the_page_is_the_plane_as_the_camera_sees_it():
    """Right is right and up is up: nothing is mirrored; and the plane drawn is the plane that cuts."""
    for study in random_studies(12, seed=6):
        frame, chart = study.frame, study.chart
        camera, middle = camera_of(chart), frame.offset * frame.normal
        here, *there = camera.seen(middle + 0.01 * np.array([0 * middle, frame.across, frame.up]))
        if abs(camera.eye @ frame.normal) > 0.6:  # else the plane is seen from its edge
            assert np.linalg.det(np.array(there) - here) > 0
        plane, points = plane_of(chart, frame), np.random.default_rng(0).normal(0, 1, (20, 3))
        height = plane.height(points) * np.linalg.norm(np.array(plane.normal, dtype=float))
        expected = in_drawing(chart.slice, points) @ frame.normal - frame.offset
        np.testing.assert_allclose(height, expected, atol=1e-9)
        assert frame_of(chart, frame.turn, frame.tilt, frame.offset) == frame


@pytest.mark.parametrize(
    ("setting", "words", "nodes", "cusps", "rings"),
    [
        ({}, "the section crosses itself once", 1, 0, 0),
        ({"turn": 0, "tilt": 0, "offset": 1.0}, "the section crosses itself once", 1, 0, 0),
        ({"turn": 0, "tilt": 0, "offset": 0.57}, "the section goes through a pinch point", 0, 1, 0),
        ({"turn": 0, "tilt": 0, "offset": 0.25}, "the section is one isolated point", 0, 0, 1),
        ({"offset": 0.46875}, f"{CUSP} a pinch point", 0, 1, 0),
        ({"turn": 45, "tilt": 20, "offset": 0.203125}, "the section has one isolated point", 0, 0, 1),
        ({"turn": -90, "tilt": 0, "offset": 0.0}, "the plane holds the yellow line", 0, 0, 0),
        ({"offset": 1.0}, "the plane misses what is drawn", 0, 0, 0),
        ({"name": "S3", "alpha": 2.0, "offset": 0.3125}, f"{CUSP} the sharp edge", 0, 1, 0),
        ({"name": "S2", "turn": 0, "tilt": 0, "offset": 0.0}, "the section crosses itself once", 1, 0, 0),
    ],
)
def test_the_headline_says_what_is_found_and_the_marks_show_it(setting, words, nodes, cusps, rings):
    study = study_section(SectionSetting(**setting))
    assert study.found == words and words in SectionExplorer._describe(None, study)
    traces = drawn(study)
    names = "nodes: two sheets cross", "cusps: boundary", "isolated points: no real common root"
    marks = [traces[name] for name in names]
    assert [len(mark["x"]) for mark in marks] == [nodes, cusps, rings]
    assert len({mark["marker"]["symbol"] for mark in marks}) == 3, "a second cue beside the colour"
    for kind, mark in zip((CROSSING, BOUNDARY, CLOSURE), marks, strict=True):
        points = in_drawing(study.chart.slice, np.reshape(study.section.of_kind(kind), (-1, 3)))
        np.testing.assert_allclose(points_of(mark), study.frame.on_page(points), atol=1e-4)


def test_the_plane_stops_at_a_pinch_point_and_nowhere_else():
    studies = [study_section(SectionSetting(offset=step / 64)) for step in range(24, 40)]
    kinds = [kind for study in studies for kind, _ in study.section.singular]
    assert len(kinds) == 16 and kinds == sorted(kinds, key=[CLOSURE, BOUNDARY, CROSSING].index)
    assert 1 <= kinds.count(BOUNDARY) <= 4


def test_two_sheets_have_two_colours_at_a_node():
    traces = drawn(study_section(SectionSetting(turn=0, tilt=0, offset=0.875)))
    tones = np.array(traces["which sheet"]["marker"]["color"])
    assert (tones > 0.9).sum() > 200 < (tones < -0.9).sum()


def test_a_plane_keeps_its_equation():
    for setting, words in (
        ({"turn": 0, "tilt": 0, "offset": 0.5}, "s = 1.75"),
        ({"turn": 90, "tilt": 0, "offset": 0.25}, "y = 0.25"),
        ({"turn": 0, "tilt": 90, "offset": -0.5}, "z = −1"),
    ):
        assert study_section(SectionSetting(**setting)).about == f"S1, cut by {words}"


def test_only_the_plane_is_seen_through_and_the_surface_stays_as_it_is():
    traces = section_parts(study_section(SectionSetting())).traces
    assert [trace["name"] for trace in traces if trace.get("opacity")] == ["the plane"]
    moved = section_parts(study_section(SectionSetting(turn=20, offset=0.25))).traces
    assert all(one is other for one, other in zip(traces[1:6], moved[1:6], strict=True))


def test_through_the_middle_along_every_axis():
    """Here planes hold lines, apexes and the yellow curve."""
    for setting in SETTINGS.values():
        for turn, tilt in [(0, 0), (90, 0), (0, 90), (0, -90)]:
            assert study_section(SectionSetting(**setting, turn=turn, tilt=tilt, offset=0.0)).found


def test_a_plane_through_a_line_that_all_rulings_meet_cuts_out_that_line():
    """At (x, 0, 0) the forms are (X − xY)(X + Y) and (X − xY)(X − 2Y): the ruling of root x meets it."""
    along = (0, -1, -1), (0, -1, 2)
    part = Slice(
        "a directrix", ((1, 1, 0), (1, -2, 0)), (along, ((1, 0, 0), (0, 0, 1)), ((0, 0, 1), (1, 1, 0)))
    )
    (line,) = [run for run in section_of(part, Plane((0, 1, 2), 0)).runs if not run.is_ruling]
    x, y, z = line.points.T
    assert np.abs([y, z]).max() < 1e-12 and x.min() < -1.99 and x.max() > 1.99
    np.testing.assert_allclose(np.tan(line.theta) * x, 1, rtol=1e-9)
