"""An exponential that is let go, in a browser: by mouse, finger, keyboard and ▶."""

import pytest
from scenes import (
    dragged,
    middle,
    named,
    pause,
    place,
    redraw,
    said,
    settle,
    touch,
)

from neuroviz.softmax.new_variable_panel import NewVariableExplorer

pytestmark = pytest.mark.browser

DOT = named("the dot (y, P)")
TOKEN = named("token x₂")


STRUCK = """(() => {
  const words = [...box.querySelectorAll(".nv-view-plane text")].find((one) =>
    one.textContent.startsWith("P = ") && !one.textContent.includes("e"));
  const { left, right, top, bottom } = words.getBoundingClientRect();
  const curve = box.querySelector("path.curve");
  const screen = curve.getScreenCTM();
  return Array.from({ length: 400 }, (_, n) => {
    const length = (n / 399) * curve.getTotalLength();
    return curve.getPointAtLength(length).matrixTransform(screen);
  }).filter(({ x, y }) => x > left && x < right && y > top + 2 && y < bottom - 2);
})()"""


def value(number: str) -> float:
    return float(number.replace("−", "-"))


def sides(page) -> list[str]:
    """Both sides as they are written, and the sign between them."""
    names = (".side-0", ".sign", ".side-1")
    return [page.locator(f"text{name}").text_content() for name in names]


@pytest.mark.long
def test_the_dot_leaves_the_curve_and_both_sides_move_and_stay_equal(scene):
    page = scene(kind=NewVariableExplorer)
    assert place(page)["stage"] == "curve"
    before = sides(page)
    x, y = middle(page, DOT)
    dragged(page, DOT, x, y - 60)
    after = sides(page)
    assert place(page)["stage"] == "free" and middle(page, DOT) == pytest.approx(
        (x, y - 60), abs=2
    )
    assert before[1] == after[1] == "=" and after[0] == after[2] != before[0]
    # the tokens' own P stays on the curve
    own = page.locator("circle.own")
    assert own.is_visible()
    dragged(page, DOT, x + 2, y + 3)
    assert place(page)["stage"] == "curve" and not own.is_visible()


def test_small_products_are_not_rounded_to_zero(scene):
    page = scene("y=0.03", kind=NewVariableExplorer)
    left, sign, right = sides(page)
    assert (left, sign, right) == (left, "=", left) and 0 < abs(value(left)) < 0.1


@pytest.mark.parametrize("y", [-1.3, -0.9, -0.3, 0.0, 0.5, 1.0, 1.3])
def test_the_curve_strikes_no_number_through(scene, y):
    page = scene(f"y={y}", kind=NewVariableExplorer)
    assert page.evaluate(STRUCK) == []


def test_a_statement_of_the_curve_breaks_off_it(scene):
    page = scene("statement=meet", kind=NewVariableExplorer)
    assert sides(page) == ["1.00", "=", "1.00"]
    x, y = middle(page, DOT)
    dragged(page, DOT, x, y - 60)
    left, sign, right = sides(page)
    assert (left, sign) == ("1.00", "≠") and right != left
    assert "they no longer meet" in said(page)
    assert page.locator(".rank").text_content() == "rank 2 · for true tokens: 1"


def test_the_token_takes_the_dot_along_the_curve(scene):
    page = scene(kind=NewVariableExplorer)
    at = middle(page, TOKEN)
    dragged(page, TOKEN, at[0] - 100, at[1])
    here = place(page)
    assert here["stage"] == "curve" and here["y"] < 0.4
    assert middle(page, DOT)[0] == pytest.approx(middle(page, TOKEN)[0], abs=1)
    assert sides(page)[1] == "="


def test_the_dot_stops_at_0_and_goes_below(scene):
    page = scene("stage=free;P=1", kind=NewVariableExplorer)
    x, y = middle(page, DOT)
    one = page.locator("[data-whole='1'] circle").bounding_box()["y"]
    zero = page.locator("[data-whole='0'] circle").bounding_box()["y"]
    dragged(page, DOT, x, y + zero - one + 2)
    assert place(page)["P"] == 0 and "no tokens have P = 0" in said(page)
    dragged(page, DOT, x, y + 2.4 * (zero - one))
    assert place(page)["P"] == pytest.approx(-1.4, abs=0.1)
    assert "even with P < 0" in said(page) and sides(page)[1] == "="


def test_on_the_ring_the_dot_goes_from_residue_to_residue(scene):
    page = scene("stage=modulo;P=3", kind=NewVariableExplorer)
    assert not page.locator(TOKEN).is_visible()
    for whole in (4, -2, 0):
        box = page.locator(f"[data-whole='{whole}'] circle").bounding_box()
        dragged(
            page, DOT, box["x"] + box["width"] / 2 + 4, box["y"] + box["height"] / 2
        )
        assert place(page)["P"] == whole
        left, sign, right = sides(page)
        assert sign == "=" and left == right == str(2 * whole % 7)
    texts = page.locator("[data-whole] text").all_text_contents()
    assert texts == ["5", "6", "0", "1", "2", "3", "4"]


def test_the_keyboard_lets_go_comes_back_and_goes_to_the_ends(scene):
    page = scene(kind=NewVariableExplorer)
    page.locator(DOT).focus()
    page.keyboard.press("ArrowRight")
    assert place(page)["stage"] == "curve" and place(page)["y"] == pytest.approx(0.65)
    page.keyboard.press("ArrowUp")
    assert place(page)["stage"] == "free"
    assert place(page)["P"] == pytest.approx(1.97, abs=0.01)  # e^0.65 and a step
    for key, end in (("Home", -2), ("End", 4)):
        page.keyboard.press(key)
        assert place(page)["P"] == end
    page.keyboard.press("Enter")
    assert place(page)["stage"] == "curve"
    page.locator(TOKEN).focus()
    for key, end in (("Home", -1.3), ("End", 1.3)):
        page.keyboard.press(key)
        assert place(page)["y"] == end


@pytest.mark.long
def test_play_tells_the_story_in_words_and_stops_where_one_takes_hold(scene, bare_page):
    bare_page.clock.install()
    page = scene(kind=NewVariableExplorer)
    pause(page)
    page.clock.run_for(100)
    page.get_by_role("button", name="let go of the exponential").click()
    told = []
    for _ in range(32):
        page.clock.run_for(500)
        words = page.locator("h4").all_text_contents()
        assert sides(page)[1] == "="
        if not told or told[-1] != words:
            told.append(words)
    stages = [stage for stage, _ in told]
    assert [stages[0], stages[-1]] == [
        "P = eʸ: the tokens decide",
        "P is a whole number modulo 7",
    ]
    found = [moment for _, moment in told]
    assert "no tokens have P = 0, and still a·d = b·c" in found
    assert "even with P < 0: a·d = b·c" in found and found[-1].startswith("modulo 7")
    assert sides(page) == ["6", "=", "6"]
    page.locator(".nv-play").click()
    page.clock.run_for(500)
    page.locator(DOT).focus()
    page.keyboard.press("ArrowUp")
    assert page.locator(".nv-play").inner_text() == "▶"


def test_while_the_panel_asks_the_answer_is_hidden_and_the_picture_is_whole(scene):
    page = scene("stage=free", kind=NewVariableExplorer)
    style = "visibility: hidden"
    page.add_style_tag(content=f".nv-asking .nv-answer {{ {style} }}")
    answers = [".side-1", ".sign", ".rank", ".why", ".nv-view-sides h4", ".bar.broken"]
    asks = page.locator(".asks")
    assert not asks.is_visible()
    assert all(page.locator(one).is_visible() for one in answers)
    page.evaluate("box.closest('.nv').classList.add('nv-asking')")
    assert asks.is_visible()
    assert not any(page.locator(one).is_visible() for one in answers)
    for whole in (DOT, TOKEN, "path.curve", ".side-0", ".entry >> nth=3"):
        assert page.locator(whole).is_visible()


def test_on_a_phone_a_finger_lets_go_and_nothing_is_cut_off(phone):
    page = phone(NewVariableExplorer, 390, 844)
    page.locator(DOT).scroll_into_view_if_needed()
    box = page.locator(f"{DOT} .ring").bounding_box()
    start = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    touch(page, start, (-10, 60))
    here = page.evaluate("['stage', 'P'].map(neurovizScenes.talkOf(box).get)")
    assert here[0] == "free" and here[1] < 1 and page.evaluate("cancelled") == []
    views = [
        page.locator(f".nv-view-{name}").bounding_box() for name in ("plane", "sides")
    ]
    assert views[1]["y"] > views[0]["y"] + views[0]["height"] - 1


def test_a_bar_that_is_longer_than_its_axis_ends_in_an_arrow(scene):
    page = scene("statement=meet;stage=free;P=4;y=-1.3", kind=NewVariableExplorer)
    arrows = page.locator(".longer").all_text_contents()
    assert arrows == ["", "▸"]
    redraw(page, NewVariableExplorer(state="statement=meet;stage=free;P=0;y=-1.3"))
    settle(page)
    assert page.locator(".longer").all_text_contents() == ["", ""]
