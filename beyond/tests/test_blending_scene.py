"""A turned token and heads that blend in a browser: by mouse, finger and keyboard,
without a kernel."""

from math import cos, radians, sin

import pytest
from scenes import ask, dragged, named, pause, place, redraw, said, settle, touch

from neuroviz_beyond.blending.panel import BlendingExplorer

pytestmark = pytest.mark.browser

OMEGA, G = named("the angle of ω"), named("the angle of g")
HEADS = "view=heads;head_dim=2"


def at(page, view: str, degrees: float) -> tuple[float, float]:
    """A place of the circle in the page."""
    rim = page.locator(f".nv-view-{view} .rim").bounding_box()
    radius = rim["width"] / 2
    return (
        rim["x"] + radius * (1 + cos(radians(degrees))),
        rim["y"] + radius * (1 - sin(radians(degrees))),
    )


def seen(page, view: str) -> str:
    return page.locator(f".nv-view-{view}").inner_text()


@pytest.mark.long
def test_dragged_to_a_cube_root_the_output_is_what_it_was(scene):  # noqa: F811
    page = scene(kind=BlendingExplorer)
    dragged(page, OMEGA, *at(page, "omega", 118.5))  # near it, it snaps
    assert place(page)["angle"] == 120
    assert "the output is what it was" in seen(page, "distance")
    assert "turned by 3 · 120° = 360°" in seen(page, "first")
    assert "stands still" in seen(page, "second")
    assert page.locator(".nv-view-omega .rim.found").count() == 1
    dragged(page, OMEGA, *at(page, "omega", 358.5))  # from both sides
    assert place(page)["angle"] == 0
    dragged(page, OMEGA, *at(page, "omega", 60))
    assert place(page)["angle"] == 60
    assert "2.00 away" in seen(page, "distance")
    assert page.locator(".nv-view-omega .rim.found").count() == 0


def test_the_first_column_turns_three_times_as_fast_and_the_second_stands(
    scene,  # noqa: F811
):
    page = scene("angle=10", kind=BlendingExplorer)

    def tips():
        return [
            [middle_of(page, f".nv-view-{view} .tip", n) for n in (0, 1)]
            for view in ("first", "second")
        ]

    (first, second), hollow = tips(), middle_of(page, ".nv-view-first .before", 0)
    page.locator(OMEGA).focus()
    page.keyboard.press("Shift+ArrowUp")
    settle(page)
    assert place(page)["angle"] == 20
    after, same = tips()
    assert same == second and after != first
    for _ in range(10):
        page.keyboard.press("Shift+ArrowUp")
    settle(page)
    assert place(page)["angle"] == 120
    assert tips()[0][0] == pytest.approx(hollow, abs=0.5)


def middle_of(page, selector, number):
    box = page.locator(selector).nth(number).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_with_other_tokens_the_second_column_moves_and_one_place_is_left(
    scene,  # noqa: F811
):
    page = scene("angle=120", kind=BlendingExplorer)
    assert page.locator(".nv-view-omega .place").count() == 3
    assert page.locator(".nv-view-distance .place").count() == 4  # 0° and 360°
    page.evaluate("box.talk.set({slant: 0.3})")
    settle(page)
    assert page.locator(".nv-view-omega .place").count() == 1
    assert "moves as well" in seen(page, "second")
    assert "away from what it was" in seen(page, "distance")


def test_keys_go_to_both_ends_and_step_by_step(scene):  # noqa: F811
    for state, handle, name in (("", OMEGA, "angle"), (HEADS, G, "turn")):
        page = scene(state, kind=BlendingExplorer)
        page.locator(handle).focus()
        for key, value in (("End", 360), ("ArrowLeft", 359), ("Home", 0)):
            page.keyboard.press(key)
            settle(page)
            assert place(page)[name] == value
            assert ask(page, "valued")[1] == str(value)


@pytest.mark.long
def test_heads_turn_and_the_bars_stand_still_until_the_values_stay_behind(
    scene,  # noqa: F811
):
    page = scene(HEADS, kind=BlendingExplorer)
    bars = page.locator(".nv-view-outputs .now rect")

    def heights():
        return [float(bar.get_attribute("height")) for bar in bars.all()]

    def cells():
        tiles = page.locator(".nv-view-weights .cell").all()
        return [tile.get_attribute("fill") for tile in tiles]

    before, colors = heights(), cells()
    dragged(page, G, *at(page, "g", 150))
    assert place(page)["turn"] == pytest.approx(150, abs=1)
    assert cells() != colors
    assert heights() == pytest.approx(before, abs=1e-6)
    assert "the outputs stand still" in seen(page, "outputs")
    assert "rank 3, allowed is 2" in seen(page, "weights")
    page.evaluate("box.talk.set({follow: false})")
    settle(page)
    assert "without V′ they move" in seen(page, "outputs")
    assert heights() != pytest.approx(before, abs=1)


@pytest.mark.long
def test_ranks_are_allowed_at_four_places_or_everywhere(scene):  # noqa: F811
    page = scene(HEADS, kind=BlendingExplorer)
    assert page.locator(".nv-view-g .place").count() == 4
    dragged(page, G, *at(page, "g", 91.5))
    assert place(page)["turn"] == 90
    assert "ranks 2 and 2: allowed" in seen(page, "weights")
    assert page.locator(".nv-view-weights .frame.out").count() == 0
    for state in ("view=heads", f"{HEADS};shared=yes"):
        redraw(page, BlendingExplorer(state=state))
        settle(page)
        assert page.locator(".nv-view-g .every").count() == 1
        assert page.locator(".nv-view-g .place").count() == 0


@pytest.mark.long
def test_the_numbers_of_g_that_stay_free_are_those_of_the_formula(scene):  # noqa: F811
    page = scene(HEADS, kind=BlendingExplorer)
    for state, free, gone in (
        ("head_dim=2;heads=2", 2, 2),
        ("head_dim=2;heads=3", 6, 3),
        ("head_dim=3;heads=3", 9, 0),
        ("head_dim=1;heads=3", 3, 6),
        ("heads=4", 0, 0),
    ):
        redraw(page, BlendingExplorer(state=f"view=heads;{state}"))
        settle(page)
        assert page.locator(".nv-view-count .free").count() == free
        assert page.locator(".nv-view-count .gone").count() == gone
    assert page.locator(".nv-view-count .unknown").count() == 16
    assert "H = 4 > d = 3: no formula" in said(page)


@pytest.mark.long
def test_another_view_brings_its_own_parts_and_nothing_else(scene):  # noqa: F811
    page = scene(kind=BlendingExplorer)
    for state, here, gone in (
        (HEADS, G, OMEGA),
        ("", OMEGA, G),
    ):
        redraw(page, BlendingExplorer(state=state))
        settle(page)
        assert page.locator(here).is_visible()
        assert not page.locator(gone).is_visible()
        views = page.locator(".nv-view").all()
        assert sum(view.is_visible() for view in views) == 4


@pytest.mark.long
@pytest.mark.parametrize(
    ("state", "name", "moments"),
    [("angle=0", "angle", (120, 240)), (f"{HEADS};turn=0", "turn", (45,))],
)
def test_play_holds_where_something_happens(
    scene,  # noqa: F811
    bare_page,
    state,
    name,
    moments,
):
    bare_page.clock.install()
    page = scene(state, kind=BlendingExplorer)
    pause(page)
    page.clock.run_for(500)
    page.locator(".nv-play").click()
    stops = []
    for _ in range(140):
        page.clock.run_for(100)
        stops.append(place(page)[name])
    for moment in moments:
        assert stops.count(moment) >= 9  # tenths of a second
    assert stops[-1] == (360 if name == "angle" else 90)


def test_where_motion_is_reduced_it_goes_from_moment_to_moment(
    scene,  # noqa: F811
    bare_page,
):
    bare_page.clock.install()
    page = scene("angle=0", "reduce", BlendingExplorer)
    pause(page)
    page.locator(".nv-play").click()
    stops = []
    for _ in range(50):
        page.clock.run_for(100)
        stops.append(place(page)["angle"])
    assert set(stops) == {0, 120, 240, 360}


@pytest.mark.long
@pytest.mark.parametrize(
    ("state", "handle", "name"), [("", OMEGA, "angle"), (HEADS, G, "turn")]
)
def test_a_finger_turns_it_on_a_phone(phone, state, handle, name):  # noqa: F811
    page = phone(lambda: BlendingExplorer(state=state or None), 390, 844)
    ring = page.locator(f"{handle} .ring")
    ring.scroll_into_view_if_needed()
    box = ring.bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.evaluate(f"neurovizScenes.talkOf(box).get('{name}')")
    touch(page, start, (-60, -30))
    assert page.evaluate(f"neurovizScenes.talkOf(box).get('{name}')") > before + 15
    assert page.evaluate("cancelled") == []


def test_the_names_of_entries_that_lie_side_by_side_stay_apart(scene):
    page = scene("view=token;slant=0.3;angle=120", kind=BlendingExplorer)
    for view in ("first", "second"):
        one, other = (
            page.locator(f".nv-view-{view} text", has_text=f"entry {n}").bounding_box()
            for n in (1, 2)
        )
        upper, lower = sorted((one, other), key=lambda box: box["y"])
        assert upper["y"] + upper["height"] <= lower["y"]
