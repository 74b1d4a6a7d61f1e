"""The virtual weights in a browser, without a kernel: held by mouse, finger and
keyboard."""

import numpy as np
import pytest
from scenes import asked, dragged, middle, place, redraw, said, settle

from neuroviz.deep.virtual_panel import VirtualWeightsExplorer

pytestmark = pytest.mark.browser

RING = ".nv-handle[aria-label='C, along the rotation']"
VALUE = "(name) => neurovizScenes.talkOf(box).get(name)"
NAMES = "[...box.querySelectorAll('text')].map((one) => one.textContent)"


def knob(name):
    return f".nv-handle[aria-label='{name}']"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["lightning", "softmax"])
def test_c_is_turned_by_hand_and_the_virtual_weights_stand_still(scene, kind):
    page = scene(
        f"layers=4;interface=middle;width=4;kind={kind}", kind=VirtualWeightsExplorer
    )
    x, y = middle(page, RING)
    dragged(page, RING, x, y + 60)
    assert asked(page, "along")[0] < 0.1
    assert np.hypot(*np.subtract(middle(page, RING), (x, y + 60))) < 25
    assert said(page).count("same") == 6 and "only Python says" in said(page)
    page.locator(knob("row 1 of V₂ alone")).focus()
    page.keyboard.press("Shift+ArrowUp")
    # L, M₃, M₄ and the outputs have moved; so are the bars called.
    page.wait_for_function(
        "[...box.querySelectorAll('text')].filter((one) => one.textContent ==="
        " 'moved').length === 5"
    )
    assert asked(page, "alone") == [0.1]


def test_a_factor_is_dragged_and_l_answers_until_its_own_knob_moves(
    scene,
):
    page = scene("view=rescale", kind=VirtualWeightsExplorer)
    factor = knob("log₂ λ₁")
    x, y = middle(page, factor)
    dragged(page, factor, x, y - 200)
    assert asked(page, "log_1", "log_2") == [1, 0.5]
    assert "same" in said(page) and "−3.5" in said(page)
    page.locator(knob("log₂ of what λ₀ misses")).focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_function(f"!{NAMES}.includes('same')")
    assert asked(page, "off") == [-0.05]


def test_frames_and_words_say_same_and_moved_as_the_facts_do(scene):
    page = scene("alone=0.05", kind=VirtualWeightsExplorer)
    words = page.evaluate(NAMES)
    # one is the name of the bars
    assert words.count("same") == 1 and words.count("moved") == 4
    frames = ".nv-view-matrices .frame"
    assert page.locator(f"{frames}.role-certified").count() == 2
    assert page.locator(f"{frames}.role-outside").count() == 6
    page = scene("", kind=VirtualWeightsExplorer)
    # C, as it is recovered, is one
    assert page.locator(f"{frames}.role-certified").count() == 9
    assert "nv-exact" in page.get_by_text("recovered", exact=True).get_attribute(
        "class"
    )


def test_gl_1_has_no_rotation_and_nothing_to_turn_or_to_play(scene):
    page = scene("width=1", kind=VirtualWeightsExplorer)
    assert "GL₁ has no rotation" in said(page) and "drag the ring" not in said(page)
    assert (
        not page.locator(RING).is_visible()
        and not page.locator(".nv-play").is_visible()
    )
    page.evaluate("box.talk.set({walk: 'stretch'})")
    stretch = page.locator(knob("C, along the stretch"))
    stretch.wait_for()
    assert page.locator(".nv-play").is_visible()
    stretch.focus()
    before = place(page)["along"]
    page.keyboard.press("ArrowRight")
    assert place(page)["along"] == pytest.approx(before + 0.02)


@pytest.mark.parametrize(
    ("state", "name", "control"),
    [
        ("", "row 1 of V₁ alone", "alone"),
        ("view=rescale;layers=4", "log₂ λ₁", "log_1"),
    ],
)
def test_a_finger_drags_a_knob_on_a_phone(phone, state, name, control):
    page = phone(lambda: VirtualWeightsExplorer(state=state or None), 390, 844)
    page.locator(knob(name)).scroll_into_view_if_needed()
    before = page.evaluate(VALUE, control)
    x, y = centre(page, name)
    touch = page.context.new_cdp_session(page)
    for kind, down in (("Start", 0), ("Move", 5), ("Move", 12), ("Move", 30)):
        at = [{"x": x, "y": y + down}]
        touch.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": at}
        )
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    settle(page)
    assert page.evaluate(VALUE, control) < before
    assert centre(page, name) == pytest.approx((x, y + 30), abs=3)
    assert page.evaluate("cancelled") == []


def centre(page, name):
    box = page.locator(f"{knob(name)} .ring").bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.long
def test_in_a_narrow_place_views_stand_below_one_another(scene):
    for width in (390, 820):
        page = scene("layers=4;width=4", kind=VirtualWeightsExplorer)
        page.set_viewport_size({"width": width, "height": 900})
        redraw(page, VirtualWeightsExplorer(state="layers=4;width=4"), width)
        settle(page)
        page.evaluate("document.body.style.margin = 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = [
            page.locator(f".nv-view-{one}").bounding_box()
            for one in ("matrices", "basis", "bars")
        ]
        for above, below in zip(boxes, boxes[1:], strict=False):
            assert below["y"] >= above["y"] + above["height"]
    page = scene("", kind=VirtualWeightsExplorer)
    tops = [
        page.locator(f".nv-view-{one}").bounding_box()["y"] for one in ("basis", "bars")
    ]
    assert tops[0] == pytest.approx(tops[1], abs=1)


@pytest.mark.long
def test_a_walk_never_ends_on_an_empty_matrix(scene):
    """λ₁ = 2 makes L of four layers 2²⁷ times smaller: that is written over it."""
    logs = "log_1=0.5;log_2=0;log_3=0;log_4=0"
    page = scene(f"view=rescale;layers=4;{logs}", kind=VirtualWeightsExplorer)
    assert "× 2⁻¹³·⁵" in page.evaluate(NAMES)
    page.get_by_role("button", name="walk with λ₁").click()
    page.wait_for_function(
        "box.querySelector('.nv-play').textContent === '▶'", timeout=20_000
    )
    assert asked(page, "log_1") == [1] and "× 2⁻²⁷" in page.evaluate(NAMES)


@pytest.mark.long
def test_a_walk_holds_at_its_start_in_the_middle_and_at_its_end(scene):
    page = scene("along=1", kind=VirtualWeightsExplorer)
    page.evaluate("""() => {
      window.seen = [];
      requestAnimationFrame(function note() {
        seen.push(box.talk.get("along"));
        requestAnimationFrame(note);
      });
    }""")
    page.get_by_role("button", name="walk with C").click()
    page.wait_for_timeout(8500)
    seen = np.array(page.evaluate("seen"))
    for along in (-1, 0, 1):
        assert sum(seen == along) > 0.05 * len(seen), along


CELLS = """[...box.querySelectorAll(".nv-view-matrices rect")]
  .map((one) => one.getBoundingClientRect().width)"""


def test_cells_keep_their_size_when_the_basis_begins_to_turn(scene):
    """Their names grow then, from Q₂ to Q₂C⁻¹."""
    at_start = VirtualWeightsExplorer(state="layers=4;interface=middle;along=0")
    page = scene(at_start.state, kind=VirtualWeightsExplorer)
    before = page.evaluate(CELLS)
    assert before
    redraw(page, VirtualWeightsExplorer(state="layers=4;interface=middle;along=0.7"))
    settle(page)
    assert page.evaluate(CELLS) == pytest.approx(before, abs=0.01)
