"""Fingers: no drag of a handle is cancelled, the page scrolls past a picture, nothing
is cut off."""

from functools import partial

import pytest
from all_scenes import (
    SCENES,
    WITH_HANDLES,
    BlendingExplorer,
    FiberExplorer,
    ProofExplorer,
    SingletonExplorer,
    SurfaceExplorer,
    UnrollingExplorer,
    VirtualWeightsExplorer,
)
from scenes import settle, touch

pytestmark = pytest.mark.browser

LEAST = 43.9  # 44 pixels, what a finger finds, to rounding
# The middle of every handle, and how far its room reaches.
HANDLES = """() => [...box.querySelectorAll(".nv-handle")].flatMap((one) => {
  // A stem below a ring is not taken hold of.
  const hand = one.querySelector(".room") ?? one;
  const {left, top, width, height} = hand.getBoundingClientRect();
  if (!width) return [];
  const name = one.getAttribute("aria-label");
  return [[name, left + width / 2, top + height / 2, width, height]];
})"""
# What can be pressed, besides handles, and how large it is.
TARGETS = """() => [...box.querySelectorAll(
  "button, select, input, [role=gridcell]",
)].flatMap((one) => {
  const {width, height} = one.getBoundingClientRect();
  return width ? [[one.ariaLabel || one.textContent, width, height]] : [];
})"""
# Words that reach over the edge of the page.
CUT_OFF = """() => [...box.querySelectorAll(
  "h4 span, text, button, .nv-hint",
)].flatMap((one) => {
  const {left, right, width} = one.getBoundingClientRect();
  const isSeen = width && getComputedStyle(one).visibility !== "hidden";
  return isSeen && (left < -1 || right > innerWidth + 1) ? [one.textContent] : [];
})"""


# Handles know nothing of the width: a tablet's are tried by `make test-all` alone.
@pytest.mark.parametrize(
    "size",
    [
        pytest.param((390, 844), id="phone"),
        pytest.param((820, 1180), id="tablet", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("kind", sorted(WITH_HANDLES, key=lambda kind: kind.__name__))
def test_no_drag_of_a_handle_is_cancelled(phone, few, kind, size):
    page = phone(kind, *size)
    names = [name for name, *_ in page.evaluate(HANDLES)]
    assert names
    for name in few(names):
        page.locator(
            f'.nv-handle[aria-label="{name}"]'
        ).first.scroll_into_view_if_needed()
        for way in ((0, 60), (60, 0)):
            found = [one for one in page.evaluate(HANDLES) if one[0] == name]
            if not found:  # the drag before has taken it away
                continue
            _, x, y, *_ = found[0]
            before = page.evaluate("scrollY")
            touch(page, (x, y), way)
            assert page.evaluate("cancelled") == [], name
            assert page.evaluate("scrollY") == before, name


@pytest.mark.parametrize("size", [(390, 844), (820, 1180)], ids=["phone", "tablet"])
@pytest.mark.parametrize("kind", sorted(SCENES, key=lambda kind: kind.__name__))
def test_nothing_is_cut_off_and_a_finger_finds_everything(phone, kind, size):
    page = phone(kind, *size)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    assert page.evaluate(CUT_OFF) == []
    targets = page.evaluate(TARGETS)
    assert [name for name, wide, high in targets if min(wide, high) < LEAST] == []
    assert "save the picture as a PNG" in [name for name, *_ in targets]
    assert [one for one in page.evaluate(HANDLES) if min(one[3:]) < LEAST - 0.01] == []
    if size[0] < 700:  # views stand below one another
        tops = page.evaluate(
            "[...box.querySelectorAll('.nv-view')].filter(v => v.checkVisibility())"
            ".map(v => v.getBoundingClientRect().top)"
        )
        assert len(set(map(round, tops))) == len(tops) > 0


TABLET = (820, 1180)


@pytest.mark.parametrize("kind", [FiberExplorer, BlendingExplorer])
def test_on_a_tablet_four_views_stand_two_and_two(phone, kind):
    page = phone(kind, *TABLET)
    tops = page.evaluate(
        "[...box.querySelectorAll('.nv-view')].filter(v => v.checkVisibility())"
        ".map(v => Math.round(v.getBoundingClientRect().top))"
    )
    first, second, third, fourth = sorted(tops)
    assert first == second < third == fourth


def test_a_finger_saves_the_picture_and_sees_the_button_for_it(phone):
    """In a corner, where a mouse brings it up, it would be pressed unseen."""
    page = phone(SurfaceExplorer, 390, 844)
    button = page.locator(".nv-footer .nv-camera")
    assert float(button.evaluate("one => getComputedStyle(one).opacity")) > 0.5
    with page.expect_download() as saved:
        button.tap()
    assert saved.value.suggested_filename == "neuroviz-surface.png"


def test_a_button_lies_over_the_room_of_a_handle(phone):
    """The last token has its room down to it."""
    page = phone(partial(ProofExplorer, state="experiment=frozen"), *TABLET)
    button = page.locator(".nv-play").bounding_box()
    top = button["y"] + 3
    below = [
        x
        for _, x, y, *_ in page.evaluate(HANDLES)
        if 0 < x - button["x"] < button["width"] and abs(top - y) < LEAST / 2
    ]
    assert below
    hit = "([x, y]) => document.elementFromPoint(x, y).className"
    assert page.evaluate(hit, [below[0], top]) == "nv-play"


def test_who_drags_a_factor_sees_its_bar(phone):
    page = phone(partial(VirtualWeightsExplorer, state="view=rescale"), 390, 844)
    bars = page.locator(".nv-view-bars").bounding_box()
    knobs = [y for _, _, y, *_ in page.evaluate(HANDLES)]
    assert bars["y"] + bars["height"] < min(knobs)
    assert max(knobs) - bars["y"] < 600  # of the 844 of a phone


def test_over_buttons_for_a_finger_the_tree_keeps_its_room(phone):
    page = phone(UnrollingExplorer, *TABLET)
    tree = page.locator(".nv-view-tree .nv-box").bounding_box()
    assert tree["height"] > 100


def test_in_a_narrow_tree_the_name_of_the_value_stands_beside_its_node(phone):
    """Not over the way to the root."""
    page = phone(UnrollingExplorer, 390, 844)
    name = page.locator(".nv-view-tree text", has_text="value").bounding_box()
    node = page.locator(".nv-view-tree circle.node").first.bounding_box()
    assert name["x"] + name["width"] < node["x"]


def test_the_lowest_letter_stands_over_the_button(phone, look):
    """A headline of two lines takes room from its view."""
    look(size="lecture")
    page = phone(SingletonExplorer, 860, 1180)
    letter = page.locator(".nv-view-left .letter, .nv-view-left text", has_text="L")
    lowest = letter.last.bounding_box()
    button = page.locator(".nv-footer").bounding_box()
    assert lowest["y"] + lowest["height"] <= button["y"] + 2


@pytest.mark.long
@pytest.mark.parametrize("kind", sorted(SCENES, key=lambda kind: kind.__name__))
def test_the_page_scrolls_past_a_picture(phone, kind):
    """Where no handle is: on the words, on the picture, in space."""
    page = phone(kind, 390, 844)
    handles = page.evaluate(HANDLES)
    for view in range(page.locator(".nv-view").count()):
        page.evaluate("window.scrollTo(0, 0)")
        # as a surface that is not 2 × 2
        if not page.locator(".nv-view").nth(view).is_visible():
            continue
        box = page.locator(".nv-view").nth(view).bounding_box()
        page.evaluate("y => window.scrollTo(0, y)", max(0, box["y"] - 200))
        before = page.evaluate("scrollY")
        handles = page.evaluate(HANDLES)
        rows = page.locator(".nv-view").nth(view).bounding_box()
        free = [
            (x, y)
            for x in range(30, 370, 20)
            for y in range(
                int(rows["y"]) + 60, min(int(rows["y"] + rows["height"]), 800), 20
            )
            if all(abs(x - a) > 40 or abs(y - b) > 40 for _, a, b, *_ in handles)
        ]
        touch(page, free[len(free) // 2], (0, -150), steps=12)
        settle(page)
        assert page.evaluate("scrollY") > before + 30, view
