"""The facts of a slice and a plane, and the page's formulas: what is said and drawn is
what is there."""

import random
from itertools import pairwise

import numpy as np
import pytest
from node import ask, check_types
from test_surface_explorer import SETTINGS

from neuroviz.kit.plot import plain
from neuroviz.singular.chart import chart_of, half_sizes, in_drawing, stretch_of
from neuroviz.singular.forms import BOUNDARY, CLOSURE, CROSSING
from neuroviz.singular.section import section_of
from neuroviz.singular.section_facts import section_facts
from neuroviz.singular.section_panel import (
    SectionExplorer,
    SectionSetting,
    study_section,
)
from neuroviz.singular.section_plane import frame_of, plane_at, plane_of
from neuroviz.singular.slice_panel import PRESETS
from neuroviz.singular.space import camera_of

AGREE = 1e-9
CUSP = "the section has a cusp at"
SLICES = [*SETTINGS.values()]


def random_studies(count: int, seed: int):
    rng = np.random.default_rng(seed)
    for _ in range(count):
        setting = {
            "turn": 5 * int(rng.integers(-18, 19)),
            "tilt": 5 * int(rng.integers(-18, 19)),
        }
        offset = int(rng.integers(-40, 41)) / 64
        which = int(rng.integers(len(PRESETS)))
        yield study_section(SectionSetting(**setting, offset=offset, **SLICES[which]))


def facts_of(study) -> dict:
    return plain(section_facts(study))


def rows(flat: list) -> np.ndarray:
    return np.reshape(flat, (-1, 3))


def points_of(facts: dict) -> np.ndarray:
    """All points of the section."""
    return np.concatenate(
        [np.zeros((0, 3)), *(rows(run["points"]) for run in facts["section"]["runs"])]
    )


def farthest(points: np.ndarray, chords: np.ndarray) -> float:
    """How far the farthest of these points is from the nearest chord."""
    start = chords[:, 0]
    way = chords[:, 1] - chords[:, 0]
    share = ((points[:, None] - start) * way).sum(-1) / np.maximum(
        (way * way).sum(-1), 1e-300
    )
    away = points[:, None] - start - np.clip(share, 0, 1)[..., None] * way
    return np.linalg.norm(away, axis=-1).min(axis=1).max()


# What Python says


def test_every_point_of_the_facts_is_on_the_surface_and_in_the_plane():
    # The page has five digits, and where sheets nearly touch a distance is the root of
    # R.
    count = 0
    for study in random_studies(12, seed=0):
        frame = study.frame
        slice = study.chart.slice
        facts = facts_of(study)
        drawn = points_of(facts)
        points = drawn / stretch_of(slice) + np.array(slice.window.centre)
        size = np.sqrt(sum(c**2 for q in slice.forms(*points.T) for c in q))
        assert (np.abs(slice.resultant(*points.T)) <= 1e-3 * size**4).all()
        assert (
            np.abs(study.section.plane.height(points)).max(initial=0)
            < 1e-4 * slice.window.reach
        )
        assert np.abs(drawn @ frame.normal - frame.offset).max(initial=0) < 1e-4
        count += len(points)
    assert count > 1000


def test_the_page_is_the_plane_as_the_camera_sees_it():
    """Right is right and up is up: nothing is mirrored; and the plane drawn is the
    plane that cuts."""
    for study in random_studies(12, seed=6):
        frame = study.frame
        chart = study.chart
        camera = camera_of(chart)
        middle = frame.offset * frame.normal
        here, *there = camera.seen(
            middle + 0.01 * np.array([0 * middle, frame.across, frame.up])
        )
        if abs(camera.eye @ frame.normal) > 1.2:  # else the plane is seen from its edge
            assert np.linalg.det(np.array(there) - here) > 0
        plane = plane_of(chart, frame)
        points = np.random.default_rng(0).normal(0, 1, (20, 3))
        height = plane.height(points) * np.linalg.norm(
            np.array(plane.normal, dtype=float)
        )
        expected = in_drawing(chart.slice, points) @ frame.normal - frame.offset
        np.testing.assert_allclose(height, expected, atol=1e-9)
        assert frame_of(chart, frame.turn, frame.tilt, frame.offset) == frame


@pytest.mark.parametrize(
    ("setting", "words", "nodes", "cusps", "rings"),
    [
        ({}, "the section crosses itself once", 1, 0, 0),
        (
            {"turn": 0, "tilt": 0, "offset": 1.0},
            "the section crosses itself once",
            1,
            0,
            0,
        ),
        (
            {"turn": 0, "tilt": 0, "offset": 0.57},
            "the section goes through a pinch point",
            0,
            1,
            0,
        ),
        (
            {"turn": 0, "tilt": 0, "offset": 0.25},
            "the section is one isolated point",
            0,
            0,
            1,
        ),
        ({"offset": 0.46875}, f"{CUSP} a pinch point", 0, 1, 0),
        (
            {"turn": 45, "tilt": 20, "offset": 0.203125},
            "the section has one isolated point",
            0,
            0,
            1,
        ),
        (
            {"turn": -90, "tilt": 0, "offset": 0.0},
            "the plane holds the yellow line",
            0,
            0,
            0,
        ),
        ({"offset": 1.0}, "the plane misses what is drawn", 0, 0, 0),
        (
            {"name": "S3", "alpha": 2.0, "offset": 0.3125},
            f"{CUSP} the sharp edge",
            0,
            1,
            0,
        ),
        (
            {"name": "S2", "turn": 0, "tilt": 0, "offset": 0.0},
            "the section crosses itself once",
            1,
            0,
            0,
        ),
    ],
)
def test_the_headline_says_what_is_found_and_the_facts_have_it(
    setting, words, nodes, cusps, rings
):
    study = study_section(SectionSetting(**setting))
    facts = facts_of(study)
    assert facts["found"] == [{"text": words}] and words in SectionExplorer._describe(
        None, study
    )
    singular = facts["section"]["singular"]
    kinds = [one["kind"] for one in singular]
    assert [kinds.count(kind) for kind in (CROSSING, BOUNDARY, CLOSURE)] == [
        nodes,
        cusps,
        rings,
    ]
    for one, (kind, point) in zip(singular, study.section.singular, strict=True):
        assert one["kind"] == kind
        np.testing.assert_allclose(
            one["at"], in_drawing(study.chart.slice, np.array(point)), atol=1e-4
        )


def test_the_plane_stops_at_a_pinch_point_and_nowhere_else():
    studies = [
        study_section(SectionSetting(offset=step / 64)) for step in range(24, 40)
    ]
    kinds = [kind for study in studies for kind, _ in study.section.singular]
    assert len(kinds) == 16 and kinds == sorted(
        kinds, key=[CLOSURE, BOUNDARY, CROSSING].index
    )
    assert 1 <= kinds.count(BOUNDARY) <= 4


def test_two_sheets_have_two_colours_at_a_node():
    facts = facts_of(study_section(SectionSetting(turn=0, tilt=0, offset=0.875)))
    runs = facts["section"]["runs"]
    assert all(3 * len(run["tones"]) == len(run["points"]) for run in runs)
    tones = np.concatenate([run["tones"] for run in runs])
    assert (tones > 0.9).sum() > 200 < (tones < -0.9).sum()


def test_a_plane_keeps_its_equation():
    for setting, words in (
        ({"turn": 0, "tilt": 0, "offset": 0.5}, "s = 1.75"),
        ({"turn": 90, "tilt": 0, "offset": 0.25}, "y = 0.25"),
        ({"turn": 0, "tilt": 90, "offset": -0.5}, "z = −1"),
    ):
        facts = facts_of(study_section(SectionSetting(**setting)))
        assert facts["about"] == [{"text": f"S1, cut by {words}"}]


def test_a_plane_that_moves_leaves_slice_and_formulas_as_they_are():
    """So the page does not make its meshes anew, and nothing of them is sent again."""
    one = section_facts(study_section(SectionSetting()))
    other = section_facts(study_section(SectionSetting(turn=20, offset=0.25)))
    assert one["slice"] is other["slice"] and one["formulas"] is other["formulas"]
    assert one["section"] != other["section"]


def test_through_the_middle_along_every_axis():
    """Here planes hold lines, apexes and the yellow curve."""
    for setting in SETTINGS.values():
        for turn, tilt in [(0, 0), (90, 0), (0, 90), (0, -90)]:
            assert study_section(
                SectionSetting(**setting, turn=turn, tilt=tilt, offset=0.0)
            ).found


# Types and formulas, under node

_SECTIONS = """
import { Cutter, inSpace, onPage } from "singular/section_plane";
say(given.map(([{ formulas, slice }, places]: any) => {
  const cutter = new Cutter(formulas);
  return places.map((place: any) => {
    const plane = cutter.planeAt(place);
    const cut = cutter.cut(plane);
    const box = cutter.boxOf(plane);
    const runs = cut.runs.map((run) => run.map(({ p, theta }) => [...p, theta]));
    const middle = onPage(plane, inSpace(plane, box.middle));
    const drawn = cutter.section(cut, slice.tones);
    return { ...plane, ...box, ...cut, runs, again: middle, drawn };
  });
}));
"""


@pytest.mark.long
def test_facts_have_the_form_that_the_page_expects():
    studies = [
        *random_studies(10, seed=8),
        study_section(SectionSetting(turn=-90, tilt=0, offset=0.0)),
    ]
    check_types(
        "SectionFacts", "singular/section_facts", [facts_of(study) for study in studies]
    )


@pytest.mark.long
def test_the_page_cuts_1000_random_sections_as_python_does():
    draw = random.Random(4)
    kinds = set()
    gaps = []
    charts = [chart_of(SectionSetting(**some).slice) for some in SLICES]
    places = [
        [
            {
                "turn": draw.choice([0, draw.randrange(-90, 91, 5)]),
                "tilt": draw.choice([0, draw.randrange(-90, 91, 5)]),
                "offset": round(draw.uniform(-1, 1), 6),
            }
            for _ in range(125)
        ]
        for _ in charts
    ]
    said = [facts_of(study_section(SectionSetting(**some))) for some in SLICES]
    answers = ask(_SECTIONS, [*zip(said, places, strict=True)])
    for chart, some, found in zip(charts, places, answers, strict=True):
        for place, page in zip(some, found, strict=True):
            gaps += assert_same(chart, place, page)
            kinds |= {one["kind"] for one in page["singular"]}
    assert kinds == {CROSSING, BOUNDARY, CLOSURE}
    # The page does not see a section that leaves the window for less than the way from
    # one of its rulings to the next.
    assert len(gaps) > 1000 and max(gaps) < 0.005 and np.sum(np.array(gaps) > 0.001) < 4


def assert_same(chart, place: dict, page: dict) -> list[float]:
    """Returns how far the curve is from the page's chords, for each run that is long
    enough."""
    slice = chart.slice
    long = int(half_sizes(chart.slice)[0] > 1)
    frame, plane = plane_at(chart, **place)
    exact = section_of(slice, plane, 25)
    assert page["at"] == pytest.approx(frame.offset, abs=AGREE), place
    for name in ("normal", "across", "up"):
        np.testing.assert_allclose(page[name], getattr(frame, name), atol=AGREE)

    # A corner is on the plane, on its ruling and in the window.
    cut = np.array([one for run in page["runs"] for one in run]).reshape(-1, 4)
    p, (base, way) = cut[:, :3], slice.lines(cut[:, 3])
    np.testing.assert_allclose(p @ frame.normal, frame.offset, atol=AGREE)
    beside = p / stretch_of(slice) + slice.window.centre - base
    beside -= (beside * way).sum(1, keepdims=True) * way
    assert np.abs(beside * stretch_of(slice)).max(initial=0) < AGREE, place
    assert (np.linalg.norm(p[:, long:], axis=1) <= 1 + AGREE).all()
    chords = np.array([chord for run in page["runs"] for chord in pairwise(run)])[
        ..., :3
    ]
    runs = [in_drawing(slice, run.points) for run in exact.runs]
    # less may be between two rulings as drawn
    long_ones = [run for run in runs if np.linalg.norm(np.ptp(run, axis=0)) > 0.1]

    # It is all inside the rectangle that is drawn of the plane.
    flat = p @ np.array([frame.across, frame.up]).T
    assert (np.abs(flat - page["middle"]) <= np.array(page["half"]) + 0.03).all(), place
    np.testing.assert_allclose(page["again"], page["middle"], atol=AGREE)

    # What is drawn has a tone at each point.
    drawn = page["drawn"]["runs"]
    assert [len(run["tones"]) for run in drawn] == [len(run) for run in page["runs"]]
    assert all(np.abs(run["tones"]).max() <= 1 for run in drawn)

    assert len(page["along"]) == len(exact.along), place
    mine = [(one["kind"], one["at"]) for one in page["singular"]]
    wanted = [
        (kind, in_drawing(slice, np.array(at)).tolist()) for kind, at in exact.singular
    ]
    order = [
        sorted((kind, np.round(at, 6).tolist(), at) for kind, at in all)
        for all in (mine, wanted)
    ]
    for one, other in zip(*order, strict=True):
        assert one[0] == other[0] and one[2] == pytest.approx(other[2], abs=AGREE), (
            place
        )
    return [farthest(run, chords) for run in long_ones]


def test_the_rectangle_of_a_plane_holds_all_of_the_window_that_is_in_it():
    draw = np.random.default_rng(5)
    for some in SLICES[:4]:
        study = study_section(SectionSetting(**some))
        place = {"turn": 35, "tilt": -20, "offset": 0.4}
        ((page,),) = ask(_SECTIONS, [[facts_of(study), [place]]])
        frame, _ = plane_at(study.chart, **place)
        half = np.array(half_sizes(study.chart.slice))
        flat = draw.uniform(-2 * half[0], 2 * half[0], (20_000, 2))
        space = frame.offset * frame.normal + flat @ np.array([frame.across, frame.up])
        inside = np.linalg.norm(space[:, int(half[0] > 1) :], axis=1) <= 1
        flat = flat[inside & (np.abs(space[:, 0]) <= half[0])]
        assert len(flat) > 500
        reach = np.abs(flat - page["middle"]).max(axis=0)
        assert (reach <= np.array(page["half"])).all()


@pytest.mark.parametrize("some", SLICES)
def test_the_rectangle_of_a_plane_through_the_middle_is_no_larger_than_needed(some):
    """And it keeps its size when the plane moves, so that the page does not zoom."""
    places = [{"turn": 35, "tilt": -20, "offset": offset} for offset in (0, 0.3, -0.6)]
    study = study_section(SectionSetting(**some))
    ((page, *moved),) = ask(_SECTIONS, [[facts_of(study), places]])
    frame, _ = plane_at(study.chart, **places[0])
    half = np.array(half_sizes(study.chart.slice))
    draw = np.random.default_rng(5)
    flat = np.array(page["middle"]) + draw.uniform(-1, 1, (100_000, 2)) * page["half"]
    space = frame.offset * frame.normal + flat @ np.array([frame.across, frame.up])
    inside = np.linalg.norm(space[:, int(half[0] > 1) :], axis=1) <= 1
    flat = flat[inside & (np.abs(space[:, 0]) <= half[0])]
    reach = np.ptp(flat, axis=0) / 2
    np.testing.assert_allclose(page["half"], reach, atol=0.05 * half[0])
    assert all(one["half"] == page["half"] for one in moved)


@pytest.mark.parametrize("some", SLICES)
def test_a_point_has_the_tone_that_python_says_nearby(some):
    """Python's section and the page's are cut at other rulings; their colours are the
    same."""
    is_long = half_sizes(SectionSetting(**some).slice)[0] > 1
    place = {"turn": 10, "tilt": 20, "offset": 0.6 if is_long else 0.1}
    facts = facts_of(study_section(SectionSetting(**some, **place)))
    ((page,),) = ask(_SECTIONS, [[facts, [place]]])
    said = points_of(facts)
    tones = np.concatenate([[], *(run["tones"] for run in facts["section"]["runs"])])
    near = 0
    away = []
    for run in page["drawn"]["runs"]:
        for point, tone in zip(rows(run["points"]), run["tones"], strict=True):
            gaps = np.linalg.norm(said - point, axis=1)
            if gaps.min() > 0.02:
                continue
            near += 1
            # Where two sheets cross, the point of the other one may be the nearest.
            away.append(np.abs(tones[gaps < gaps.min() + 0.02] - tone).min())
    assert near > 20 and np.quantile(away, 0.9) < 0.2
