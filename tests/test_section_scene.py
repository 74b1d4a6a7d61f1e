"""The plane through the surface in a browser: held by mouse, finger and keyboard,
without a kernel."""

import numpy as np
import pytest
from scenes import dragged, middle, named, place, redraw, said, settle, touch

from neuroviz.singular.section_panel import SectionExplorer

pytestmark = pytest.mark.browser

PLANE = named("the plane")
ARROW = named("which way the plane looks")
# The lines of the plane curve, and the rectangle around it, in the page.
CURVES = """() => [".edges path", ".frame"].map((which) =>
  [...box.querySelectorAll(which)].map((one) => {
    const {left, right, top, bottom} = one.getBoundingClientRect();
    return [left, right, top, bottom];
  }))"""

# How many triangles of what is drawn next are seen through.
WATCH = """() => {
  window.seenThrough = [];
  const gl = WebGL2RenderingContext.prototype;
  for (const name of ["drawElements", "drawArrays"]) {
    const draw = gl[name];
    gl[name] = function (...given) {
      const count = given[name === "drawElements" ? 1 : 2] / 3;
      window.seenThrough.push([count, this.isEnabled(this.BLEND)]);
      return draw.apply(this, given);
    };
  }
}"""


@pytest.mark.long
def test_the_plane_is_dragged_through_the_surface_and_turned(scene):
    page = scene("turn=0;tilt=0;offset=0", kind=SectionExplorer)
    (x, y), (u, v) = middle(page, PLANE), middle(page, ARROW)
    dragged(page, PLANE, x + (u - x), y + (v - y))  # to where its arrow ended
    assert place(page)["offset"] == pytest.approx(0.55 / 2.1, abs=0.02)
    assert np.hypot(*np.subtract(middle(page, PLANE), (u, v))) < 3
    u, v = middle(page, ARROW)
    dragged(page, ARROW, u - 20, v - 25)
    turned = place(page)
    assert (turned["turn"], turned["tilt"]) != (0, 0) and turned["turn"] % 5 == turned[
        "tilt"
    ] % 5 == 0


@pytest.mark.long
def test_the_plane_walks_slowly_and_ends_where_it_still_meets_the_surface(
    scene,
):
    page = scene("offset=-1", motion="reduce", kind=SectionExplorer)
    state = place(page)
    page.locator(".nv-play").click()
    page.wait_for_function("document.querySelector('.nv-play').textContent === '▶'")
    end = place(page)
    assert 0.3 < end["offset"] < 1 and {**end, "offset": 0} == {**state, "offset": 0}
    for offset, is_met in ((end["offset"], True), (1.0, False)):
        panel = SectionExplorer(state=f"offset={offset}")
        assert bool(panel.facts["section"]["runs"]) == is_met
        panel.close()


@pytest.mark.long
def test_what_only_python_says_is_hidden_while_the_curve_follows(scene):
    page = scene(kind=SectionExplorer)
    words = "drag the ring to move the plane, the end of the arrow to turn it"
    assert words in said(page) and "the section crosses itself once" in said(page)
    before = page.evaluate(CURVES)
    x, y = middle(page, PLANE)
    dragged(page, PLANE, x - 25, y - 5)
    assert "nv-ahead" in page.locator(".nv").get_attribute(
        "class"
    ) and "only Python says" in said(page)
    page.wait_for_function(
        "getComputedStyle(box.querySelector('.nv-exact')).visibility === 'hidden'"
    )
    assert page.locator("h4.nv-exact").count() == 2
    assert page.evaluate(CURVES) != before
    here = place(page)
    redraw(page, SectionExplorer(state=f"offset={here['offset']}"))
    settle(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")


@pytest.mark.parametrize(
    ("state", "marks"),
    [
        ("", {"crossing": "a crossing"}),
        ("offset=0.46875", {"boundary": "boundary"}),
        ("turn=45;tilt=20;offset=0.203125", {"closure-only": "isolated"}),
        ("turn=-90;tilt=0;offset=0", {}),
    ],
)
def test_a_singular_point_has_a_mark_of_its_kind_and_a_name(scene, state, marks):
    """As Python said it, and as the page finds it a little beside that."""
    page = scene(state, kind=SectionExplorer)
    for _ in range(2):
        classes = [one.get_attribute("class") for one in page.locator(".mark").all()]
        assert classes == [f"mark {kind}" for kind in marks]
        names = page.locator(".nv-view-page text").all_text_contents()
        assert names == [*marks.values()]
        page.evaluate(
            "to => box.talk.set(to)", {"offset": place(page)["offset"] + 1 / 256}
        )
        settle(page)
        if "offset=0" in state:  # beside it, the plane does not hold the yellow line
            break
    shapes = {one.evaluate("one => one.tagName") for one in page.locator(".mark").all()}
    assert shapes <= {"polygon"} if "boundary" in marks else shapes <= {"circle"}


def test_only_the_plane_is_seen_through(scene):
    page = scene(kind=SectionExplorer)
    page.evaluate(WATCH)
    page.evaluate("to => box.talk.set(to)", {"offset": 0.6})
    page.wait_for_function("seenThrough.some(([, isClear]) => isClear)")
    drawn = page.evaluate("seenThrough")
    assert {count for count, is_clear in drawn if is_clear} == {2}, (
        "the two triangles of the plane"
    )
    assert sum(not is_clear for _, is_clear in drawn) > 4 and max(drawn)[0] > 1000


def test_the_yellow_line_is_dashed_in_a_plane_that_holds_it(scene):
    page = scene("turn=-90;tilt=0;offset=0", kind=SectionExplorer)
    assert page.locator(".along path").count() == 3
    dash = page.locator(".along path").first.evaluate(
        "one => getComputedStyle(one).strokeDasharray"
    )
    assert dash != "none"


def test_the_keyboard_alone_moves_and_turns_the_plane(scene):
    page = scene("turn=0;tilt=0;offset=0", kind=SectionExplorer)
    page.locator(PLANE).focus()
    for key, offset in (
        ("ArrowRight", 1 / 64),
        ("ArrowDown", 0),
        ("Shift+ArrowUp", 10 / 64),
    ):
        page.keyboard.press(key)
        assert place(page)["offset"] == pytest.approx(offset, abs=1e-6), key
    page.locator(ARROW).focus()
    for key, turn, tilt in (
        ("ArrowRight", 5, 0),
        ("ArrowUp", 5, 5),
        ("ArrowLeft", 0, 5),
        ("Shift+ArrowUp", 0, 10),  # ten steps would be 50°
    ):
        page.keyboard.press(key)
        assert (place(page)["turn"], place(page)["tilt"]) == (turn, tilt), key
    settle(page)
    assert (
        page.locator(ARROW).get_attribute("aria-valuetext")
        == "turned by 0°, tilted by 10°"
    )
    assert page.locator(PLANE).get_attribute("aria-valuetext") == "0.16 of the way out"
    assert "drag the ring" not in said(page)


@pytest.mark.parametrize("width", [390, 820, 1100])
def test_the_curve_stands_in_its_rectangle_and_nothing_is_cut_off(scene, width):
    page = scene(kind=SectionExplorer)
    page.set_viewport_size({"width": width, "height": 900})
    redraw(page, SectionExplorer(), width)
    settle(page)
    runs, ((left, right, top, bottom),) = page.evaluate(CURVES)
    assert runs and 0 <= left < right <= width
    for a, b, c, d in runs:
        assert left - 5 < a <= b < right + 5 and top - 5 < c <= d < bottom + 5
    assert page.evaluate("box.scrollWidth") <= width
    space, flat = (
        page.locator(f".nv-view-{name}").bounding_box() for name in ("space", "page")
    )
    if width == 390:  # one below the other
        assert flat["y"] > space["y"] + space["height"]
    else:
        assert flat["x"] > space["x"] + space["width"] and flat["y"] == space["y"]


@pytest.mark.long
def test_a_finger_moves_the_plane_and_scrolls_past_the_surface(phone):
    page = phone(SectionExplorer, 390, 844)
    page.locator(PLANE).scroll_into_view_if_needed()
    offset = "neurovizScenes.talkOf(box).get('offset')"
    before = page.evaluate(offset)
    ring = page.locator(f"{PLANE} .ring").bounding_box()
    start = ring["x"] + ring["width"] / 2, ring["y"] + ring["height"] / 2
    touch(page, start, (-40, 0))
    assert (
        abs(page.evaluate(offset) - before) > 0.05 and page.evaluate("cancelled") == []
    )
    assert (
        page.locator("canvas").evaluate("one => getComputedStyle(one).touchAction")
        == "pan-y"
    )
