"""Sections of the surface by planes: what is found is what is there."""

from fractions import Fraction

import numpy as np
import pytest
from test_surface import label

from neuroviz.singular.forms import BOUNDARY, CLOSURE, CROSSING, resultant
from neuroviz.singular.section import Plane, section_of
from neuroviz.singular.surface import SLICES, Slice, s1k, s3

SOME = [*SLICES.values(), s3(2), s1k(Fraction(1, 2)), Slice.random(4)]


every_slice = pytest.mark.parametrize("part", SOME, ids=label)


def planes(part: Slice, count: int, seed: int = 0):
    """Planes that go through the window."""
    for normal, away in np.random.default_rng(seed).standard_normal((count, 2, 3)):
        yield Plane(
            tuple(normal),
            normal @ (part.window.centre + 0.3 * part.window.radius * away),
        )


@every_slice
def test_every_point_of_a_section_is_on_the_surface_and_in_the_plane(part):
    drawn = 0
    for plane in planes(part, 8):
        for run in section_of(part, plane).runs:
            forms = part.forms(*run.points.T)
            size = np.sqrt(sum(c**2 for q in forms for c in q))
            assert (np.abs(resultant(*forms)) <= 1e-11 * size**4 + 1e-18).all()
            assert np.abs(plane.height(run.points)).max() < 1e-12 * (
                1 + np.abs(run.points).max()
            )
            assert part.window.inside(run.points[1:-1]).all()
            u = np.cos(run.theta)
            v = np.sin(run.theta)
            for a, b, c in forms:
                assert (
                    np.abs(a * u * u + b * u * v + c * v * v) <= 1e-9 * size
                ).all(), "on its ruling"
            drawn += len(run.points)
            moved = part.forms(*(run.points + 0.05).T)
            assert (np.abs(resultant(*moved)) > 1e-11 * size**4).mean() > 0.9, (
                "beside it is no surface"
            )
    assert drawn > 0


@every_slice
def test_where_a_ruling_meets_the_plane_the_section_has_a_point(part):
    """Ruling by ruling, from the chart, which knows nothing of sections."""
    met = 0
    for plane in planes(part, 6, seed=1):
        runs = section_of(part, plane, count=2000).runs
        points = np.concatenate([np.zeros((0, 3)), *(run.points for run in runs)])
        for strip in part.rulings(30):
            one = plane.height(strip.starts)
            other = plane.height(strip.ends)
            crosses = one * other < 0
            share = (one / (one - other))[crosses, None]
            for place in (1 - share) * strip.starts[crosses] + share * strip.ends[
                crosses
            ]:
                met += 1
                assert (
                    np.linalg.norm(points - place, axis=-1).min()
                    < 0.02 * part.window.reach
                )
    assert met > 20


@every_slice
def test_its_singular_points_are_where_the_singular_curve_goes_through_the_plane(part):
    """Sign changes along the pieces of the curve, each of its kind."""
    found = 0
    for plane in planes(part, 10, seed=2):
        section = section_of(part, plane)
        expected = []
        for piece in part.singular_curve(4000):
            height = plane.height(piece.points)
            middles = (piece.points[1:] + piece.points[:-1]) / 2
            expected += [(piece.kind, p) for p in middles[height[1:] * height[:-1] < 0]]
        assert len(section.singular) == len(expected)
        for kind, point in section.singular:
            near = [other for other_kind, other in expected if other_kind == kind]
            assert (
                min(np.linalg.norm(np.array(point) - other) for other in near)
                < 0.01 * part.window.reach
            )
            assert part.kind(*point, tol=1e-7) == kind
            assert abs(plane.height(np.array(point))) < 1e-12 * (
                1 + np.abs(point).max()
            )
        found += len(expected)
    assert found > 0


@every_slice
def test_a_node_is_passed_twice_and_an_isolated_point_never(part):
    kinds = set()
    for plane in planes(part, 10, seed=3):
        section = section_of(part, plane, count=1500)
        points = np.concatenate(
            [np.zeros((0, 3)), *(run.points for run in section.runs)]
        )
        theta = np.concatenate([np.zeros(0), *(run.theta for run in section.runs)])
        for kind, point in section.singular:
            away = np.linalg.norm(points - np.array(point), axis=-1)
            kinds.add(kind)
            if kind == CROSSING:
                close = theta[away < 0.02 * part.window.reach]
                roots = [root.angle / 2 for root in part.roots(*point, tol=1e-7)]
                passed = [np.abs(np.sin(close - root)).min() < 0.1 for root in roots]
                assert len(roots) == 2 and all(passed), (
                    "by the rulings of both its roots"
                )
            elif kind == CLOSURE and len(away):
                pinches = part.pinch_points()
                to_pinch = (
                    np.linalg.norm(pinches - point, axis=-1).min()
                    if len(pinches)
                    else np.inf
                )
                assert away.min() > 1e-3 * min(to_pinch, 1.0) > 0
    assert kinds


@pytest.mark.parametrize(
    ("s", "rulings", "kind"),
    [(3, 2, CROSSING), (-3, 2, CROSSING), (2, 1, BOUNDARY), (1, 0, CLOSURE)],
)
def test_across_the_axis_of_s1_there_are_two_lines_one_or_an_isolated_point(
    s, rulings, kind
):
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
    assert sum(run.is_ruling for run in section.runs) == 2, (
        "those with m = ±1, at s = ∓2"
    )
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
    before = away[here - 12]
    after = away[here + 12]
    assert before @ after > 0.9 * np.linalg.norm(before) * np.linalg.norm(after)
    crossing = section_of(SLICES["S1"], Plane(normal, 3), count=4001)
    assert [kind for kind, _ in crossing.singular] == [CROSSING]


def test_a_plane_needs_a_normal():
    with pytest.raises(ValueError, match="not all 0"):
        Plane((0, 0, 0), 1)
    with pytest.raises(ValueError, match="finite"):
        Plane((1, float("nan"), 0), 1)
    assert Plane((0.5, 0, 0), 2.0).equation == (Fraction(1, 2), 0, 0, -2)


def test_a_plane_through_a_line_that_all_rulings_meet_cuts_out_that_line():
    """At (x, 0, 0) the forms are (X − xY)(X + Y) and (X − xY)(X − 2Y): the ruling of
    root x meets it."""
    along = (0, -1, -1), (0, -1, 2)
    part = Slice(
        "a directrix",
        ((1, 1, 0), (1, -2, 0)),
        (along, ((1, 0, 0), (0, 0, 1)), ((0, 0, 1), (1, 1, 0))),
    )
    (line,) = [
        run for run in section_of(part, Plane((0, 1, 2), 0)).runs if not run.is_ruling
    ]
    x, y, z = line.points.T
    assert np.abs([y, z]).max() < 1e-12 and x.min() < -1.99 and x.max() > 1.99
    np.testing.assert_allclose(np.tan(line.theta) * x, 1, rtol=1e-9)
