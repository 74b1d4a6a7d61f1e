"""The map of hypotheses in a browser, without a kernel: cells are chosen by mouse,
finger and keyboard."""

import pytest
from scenes import code_of, painted, settle

from neuroviz.deep.hypotheses_panel import HypothesesExplorer
from neuroviz.kit import theme

pytestmark = pytest.mark.browser

FINGER = 44  # pixels
CELL = "[role=gridcell]"


@pytest.fixture
def opened(new_page):
    """Draws the scene of a state in a page of its own."""
    pages = []

    def open_(state="", width=1085, height=900, **settings):
        page = new_page(viewport={"width": width, "height": height}, **settings)
        page.errors = []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        head = f"<meta name=viewport content='width=device-width'>{theme.css()}"
        page.set_content(
            f"{head}<body style='margin: 0'><div class='nv'><div id='box'></div></div>"
        )
        page.add_script_tag(content=code_of("scenes/deep"))
        page.drawn_in = width
        answer(page, state)
        pages.append(page)
        return page

    yield open_
    assert not [error for page in pages for error in page.errors]


def answer(page, state):
    """What Python says of these controls."""
    panel = HypothesesExplorer(state=state)
    page.evaluate(
        "([m, w]) => neurovizScenes.react(box, m, w)",
        [panel.figure.drawn, page.drawn_in],
    )
    panel.close()
    painted(page)


def place(page, *names):
    return page.evaluate(
        "(names) => names.map((name) => neurovizScenes.talkOf(box).get(name))", names
    )


def put(page, **values):
    """Moves the controls as their sliders do."""
    page.evaluate("(values) => neurovizScenes.talkOf(box).set(values)", values)
    settle(page)


def cell(page, column, row):
    return page.get_by_role("gridcell", name=f"a₁ = {column}, a₂ = {row}:")


def chosen(page):
    """The accessible name of the one cell that has the ring."""
    (found,) = page.locator(".cell.chosen").all()
    assert found.get_attribute("aria-selected") == "true"
    assert page.locator("[aria-selected=true]").count() == 1
    return found.get_attribute("aria-label")


def says(page):
    return page.locator(".nv-footer").inner_text()


def await_opacity(page, opacity):
    """Waits until the map has it: it fades, after a frame."""
    page.wait_for_function(
        "(one) => getComputedStyle(document.querySelector('.grid')).opacity === one",
        arg=opacity,
    )


def is_ahead(page):
    return "nv-ahead" in page.locator(".nv").get_attribute("class")


def test_each_cell_shows_its_difference_what_is_measured_and_the_cause(opened):
    page = opened()
    assert page.get_by_role("grid").count() == 1 and page.locator(CELL).count() == 25
    assert cell(page, 1, 3).text_content().split() == ["−5", "31", "rank", "1"]
    assert cell(page, 3, 3).text_content().split() == ["0", "44"]
    assert page.get_by_role("rowheader").all_text_contents() == [
        "5",
        "4",
        "3",
        "2",
        "1",
    ]
    assert page.get_by_role("columnheader").all_text_contents() == [
        "1",
        "2",
        "3",
        "4",
        "5",
    ]
    assert page.get_by_text("Eq. 14 is off in 4 of 25 cells").is_visible()
    assert page.get_by_text("frame: Cor. 3.8 applies").is_visible()


def test_a_click_moves_the_controls_and_the_ring(opened):
    page = opened("head_1=1;head_2=3")
    assert chosen(page).startswith(
        "−5 31 rank 1; a₁ = 1, a₂ = 3: measured 31, Eq. 14: 36"
    )
    assert "choose a cell" in says(page)
    cell(page, 4, 2).click()
    painted(page)
    assert place(page, "head_1", "head_2", "inner") == [4, 2, 4]
    assert "a₁ = 4, a₂ = 2: measured 42" in chosen(page)
    assert "a₁ = 4, a₂ = 2: measured 42, Eq. 14: 42" in says(page)
    assert "choose a cell" not in says(page)


def test_over_widths_a_click_moves_the_widths(opened):
    page = opened("over=widths")
    page.get_by_role("gridcell", name="inner width δ = 5, outer widths = 3:").click()
    assert place(page, "inner", "outer", "head_1", "head_2") == [5, 3, 1, 3]


@pytest.mark.long
def test_only_the_angles_wait_for_python_when_a_cell_is_chosen(opened):
    """The map is that of all its cells, and stays; the angles and the words are hidden
    without Python."""
    page = opened()
    cell(page, 3, 3).click()
    settle(page)
    assert is_ahead(page) and "only Python says" in says(page)
    shown = {
        name: page.locator(name).evaluate("(one) => getComputedStyle(one).visibility")
        for name in (".grid", ".legend", ".pairs")
    }
    assert shown == {".grid": "visible", ".legend": "visible", ".pairs": "hidden"}
    await_opacity(page, "1")
    answer(page, "head_1=3;head_2=3")
    assert not is_ahead(page)
    assert "4→4→4, a = 3, 3" in page.locator(".nv-view-film h4").inner_text()
    put(page, inner=2)  # a map of other networks
    await_opacity(page, "0.35")
    answer(page, "head_1=3;head_2=3;inner=2")
    await_opacity(page, "1")


def test_the_keyboard_goes_from_cell_to_cell_and_enter_chooses(opened):
    page = opened()
    page.keyboard.press("Tab")
    focused = "document.activeElement.getAttribute('aria-label')"
    assert page.evaluate(focused) == chosen(page)
    for key, at in (
        ("ArrowRight", (2, 3)),
        ("ArrowUp", (2, 4)),
        ("End", (5, 4)),
        ("ArrowRight", (5, 4)),
        ("ArrowDown", (5, 3)),
    ):
        page.keyboard.press(key)
        assert f"a₁ = {at[0]}, a₂ = {at[1]}:" in page.evaluate(focused)
        assert f"a₁ = {at[0]}, a₂ = {at[1]}: measured" in says(page)
    assert place(page, "head_1", "head_2") == [1, 3]  # only looked at until now
    assert page.locator(f"{CELL}[tabindex='0']").count() == 1
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    painted(page)
    assert place(page, "head_1", "head_2") == [5, 3]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Space")
    painted(page)
    assert place(page, "head_1", "head_2") == [5, 2] and "a₁ = 5, a₂ = 2" in chosen(
        page
    )
    answer(page, "head_1=5;head_2=2")  # the focus stays where it was
    assert "a₁ = 5, a₂ = 2:" in page.evaluate(focused)


@pytest.mark.long
def test_a_slider_moves_the_ring_from_cell_to_cell_but_not_where_motion_is_reduced(
    opened,
):
    for motion, is_on_its_way in (("no-preference", True), ("reduce", False)):
        page = opened(reduced_motion=motion)
        page.evaluate("""() => {
              window.seen = new Set();
              const note = () => seen.add(box.querySelector(".chosen")?.ariaLabel);
              new MutationObserver(note).observe(box, {
                subtree: true,
                attributes: true,
                attributeFilter: ["aria-selected"],
              });
            }""")
        put(page, head_1=5)
        page.wait_for_function(
            "box.querySelector('.chosen')?.ariaLabel.includes('a₁ = 5, a₂ = 3')"
        )
        assert "a₁ = 5, a₂ = 3" in chosen(page)
        assert (len(page.evaluate("[...seen]")) > 2) == is_on_its_way


def test_what_the_pointer_rests_on_is_said_below_the_map(opened):
    page = opened()
    cell(page, 5, 5).hover()
    assert (
        "a₁ = 5, a₂ = 5: measured 46, Eq. 14: 46, which does not apply: Cor. 3.8 needs"
        in says(page)
    )
    page.mouse.move(0, 0)
    assert "a₁ = 1, a₂ = 3: measured 31" in says(page)


def test_the_frame_goes_once_around_the_covered_cells(opened):
    page = opened("over=widths;head_1=2;head_2=2")
    sides = ("left", "right", "above", "below")
    edges = {side: page.locator(f".frame-{side}").count() for side in sides}
    panel = HypothesesExplorer(state="over=widths;head_1=2;head_2=2")
    covered = {
        (one["column"], one["row"])
        for one in panel.facts["map"]["cells"]
        if one["covered"]
    }
    panel.close()
    steps = {"left": (-1, 0), "right": (1, 0), "above": (0, 1), "below": (0, -1)}
    assert edges == {
        side: sum((x + dx, y + dy) not in covered for x, y in covered)
        for side, (dx, dy) in steps.items()
    }


@pytest.mark.long
@pytest.mark.parametrize("width", [390, 274])
def test_on_a_phone_a_finger_finds_every_cell_and_the_page_scrolls_past(opened, width):
    page = opened("over=widths", width, 844, has_touch=True, is_mobile=True)
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<div style=\"height:"
        " 900px\"></div>')"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for one in page.locator(CELL).all():
        box = one.bounding_box()
        assert (
            min(box["width"], box["height"]) >= FINGER
            and box["x"] + box["width"] <= width
        )
        wide = "(one) => Math.max(...[...one.children].map((line) => line.scrollWidth))"
        assert one.evaluate(wide) <= box["width"]
    views = [one.bounding_box() for one in page.locator(".nv-view").all()]
    assert views[1]["y"] >= views[0]["y"] + views[0]["height"]
    target = page.get_by_role("gridcell", name="inner width δ = 2, outer widths = 2:")
    target.tap()
    assert place(page, "inner", "outer") == [2, 2]
    box = target.bounding_box()
    finger = page.context.new_cdp_session(page)
    for step in range(12):
        at = {"x": box["x"] + 20, "y": box["y"] + 20 - 15 * step}
        kind = "touchMove" if step else "touchStart"
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [at]})
        page.wait_for_timeout(16)
    finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_function("scrollY > 50")
    assert place(page, "inner", "outer") == [2, 2]
