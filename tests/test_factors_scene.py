"""A = KᵀQ in the page: numbers, C and A are taken hold of by mouse, finger and
keyboard."""

import numpy as np
import pytest
from scenes import ask, comes_to, dragged, middle, place, redraw, said, settle, touch

from neuroviz.factorization.panel import FactorizationExplorer
from tools.book.stills import plain

pytestmark = pytest.mark.browser

TABLES = ("Q", "K", "C Q", "C⁻ᵀ K", "A")
NUMBERS = """(n) => {
  const cells = box.querySelectorAll(".table")[n].querySelectorAll(".cell");
  return [...cells].map((one) => one.textContent);
}"""
RING, BALL = (
    f".nv-handle[aria-label='{name}']"
    for name in ("C, along the rotation", "A on its surface")
)


def numbers(page, name: str) -> list[str]:
    return page.evaluate(NUMBERS, TABLES.index(name))


def entry(name: str) -> str:
    return f"[role=spinbutton][aria-label='{name}']"


def drag_entry(page, name: str, up: float) -> None:
    x, y = middle(page, entry(name))
    dragged(page, entry(name), x, y - up)


def value(number: str) -> float:
    return float(number.replace("−", "-"))


def changed(before: list[str], after: list[str]) -> int:
    return sum(one != other for one, other in zip(before, after, strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    "state",
    ["entries=Q12=0.25", "d=2;a=2;walk=shear", "d=2;a=1;walk=stretch;along=-0.8"],
)
def test_a_number_goes_with_the_pointer_and_a_follows(scene, state):
    page = scene(state, kind=FactorizationExplorer)
    Q, K, A = (numbers(page, name) for name in ("Q", "K", "A"))
    drag_entry(page, "Q, row 1, column 2", 30)
    after = numbers(page, "Q")
    assert value(after[1]) == pytest.approx(value(Q[1]) + 0.5, abs=0.031)
    assert (
        changed(Q, after) == 1 and numbers(page, "K") == K and numbers(page, "A") != A
    )
    assert "Q12=" in place(page)["entries"] and "only Python says" in said(page)
    first = numbers(page, "K")
    now = numbers(page, "C⁻ᵀ K")
    drag_entry(page, "C⁻ᵀ K, row 1, column 1", -30)
    assert changed(now, numbers(page, "C⁻ᵀ K")) == 1
    assert numbers(page, "K") != first and "K11=" in place(page)["entries"]


def test_while_a_number_is_held_it_is_said_and_what_it_reaches_in_a_is_framed(
    scene,
):
    page = scene(kind=FactorizationExplorer)
    page.mouse.move(*middle(page, entry("K, row 1, column 2")))
    page.mouse.down()
    page.mouse.move(
        *np.add(middle(page, entry("K, row 1, column 2")), (0, -12)), steps=4
    )
    settle(page)
    reached = page.evaluate(
        "[...box.querySelectorAll('.table')[4].querySelectorAll('.cell')]"
        ".map((one) => one.classList.contains('reached'))"
    )
    # K reaches a row of A, Q a column
    assert reached == [n // 3 == 1 for n in range(9)]
    page.mouse.up()


def test_c_is_turned_by_hand_and_a_stands_still(scene):
    page = scene("d=4;a=2", kind=FactorizationExplorer)
    A = numbers(page, "A")
    now = numbers(page, "C Q")
    x, y = middle(page, RING)
    dragged(page, RING, x + 5, y + 40)
    assert place(page)["along"] < 0.1
    assert numbers(page, "A") == A and numbers(page, "C Q") != now
    assert "C: turned by" in said(page)


def test_a_rank_that_is_dropped_makes_the_fibre_larger_and_a_number_brings_it_back(
    scene,
):
    page = scene(kind=FactorizationExplorer)
    assert "silent here: 4 of 12 directions" in said(page)
    page.get_by_label("let Q lose a rank").click()
    page.wait_for_function(
        "box.textContent.includes('silent here: 5 of 12 directions, against 4')"
    )
    assert place(page)["rank"] == "Q"
    drag_entry(page, "Q, row 1, column 1", 30)
    assert place(page)["rank"] == "full" and len(place(page)["entries"].split()) == 12
    assert "silent here: 4 of 12" in said(page)


def test_where_a_rank_is_lost_the_other_factor_leaves_the_orbit_by_hand(scene):
    page = scene("along=0", kind=FactorizationExplorer)
    ring = ".nv-handle[aria-label='K alone, off the orbit']"
    assert not page.locator(ring).is_visible()
    page.get_by_label("let Q lose a rank").click()
    page.wait_for_function("box.textContent.includes('against 4')")
    settle(page)
    A, now, start = (numbers(page, name) for name in ("A", "C⁻ᵀ K", "K"))
    x, y = middle(page, ring)
    dragged(page, ring, x, y - 20)
    assert 0.3 < place(page)["off_orbit"] < 1
    assert numbers(page, "A") == A and numbers(page, "K") == start
    assert changed(now, numbers(page, "C⁻ᵀ K")) > 1
    assert "C⁻ᵀ (K + …)" in said(page)
    for key, end in (("Home", -1), ("End", 1)):
        page.locator(ring).press(key)
        assert place(page)["off_orbit"] == end
    settle(page)
    assert numbers(page, "A") == A
    # A number that is set there leaves the others where they have come to.
    there = numbers(page, "C⁻ᵀ K")
    drag_entry(page, "C⁻ᵀ K, row 1, column 1", 30)
    assert changed(there, numbers(page, "C⁻ᵀ K")) == 1
    assert place(page)["off_orbit"] == 0 and place(page)["rank"] == "Q"


def test_played_where_a_rank_is_lost_the_walk_ends_off_the_orbit(scene, bare_page):
    bare_page.clock.install()
    page = scene("rank=Q;along=1", kind=FactorizationExplorer)
    A = numbers(page, "A")
    page.locator(".nv-play").click()
    page.clock.run_for(20_000)
    assert place(page)["off_orbit"] == 1
    assert numbers(page, "A") == A and place(page)["along"] == 1


def test_a_still_of_a_rank_that_is_dropped_has_the_larger_fibre_too(scene):
    page = scene(kind=FactorizationExplorer)
    panel = FactorizationExplorer(state="rank=Q")
    ask(page, "react", plain(panel.figure), 1100)
    panel.close()
    settle(page)
    assert "silent here: 5 of 12 directions, against 4" in said(page)


def test_a_walk_that_moves_nothing_has_no_ring(scene):
    page = scene("a=2", kind=FactorizationExplorer)
    assert page.locator(RING).is_visible()
    redraw(page, FactorizationExplorer(state="a=1"))
    page.wait_for_function(
        "box.textContent.includes('GL₁ has no rotation: nothing moves')"
    )
    assert not page.locator(RING).is_visible()


def test_the_name_of_a_button_has_the_words_that_are_seen_on_it(scene):
    page = scene(kind=FactorizationExplorer)
    for button in page.locator(".name button").all():
        assert button.inner_text() in button.get_attribute("aria-label")


@pytest.mark.parametrize(
    "state",
    ["d=2;a=1;walk=stretch", "d=2;a=3", "d=2;a=1;walk=stretch;entries=Q11=2 K11=-1"],
)
def test_a_moves_on_its_surface_with_the_pointer(scene, state):
    page = scene(state, kind=FactorizationExplorer)
    A, (x, y) = numbers(page, "A"), middle(page, BALL)
    dragged(page, BALL, x - 25, y + 10)
    comes_to(page, BALL, x - 25, y + 10)
    assert numbers(page, "A") != A
    assert place(page)["entries"] == "" or "K12=" in place(page)["entries"]


def test_the_tip_of_a_cone_has_a_name_and_a_large_matrix_is_drawn_smaller(
    scene,
):
    page = scene("d=2;a=1", kind=FactorizationExplorer)
    assert page.get_by_text("singular: A = 0").is_visible() and "drawn 1 :" not in said(
        page
    )
    page.evaluate("box.talk.set({trace: 1})")
    page.wait_for_function("!box.textContent.includes('singular: A = 0')")
    page = scene("d=2;a=2;entries=Q11=4 Q12=-3 K22=5", kind=FactorizationExplorer)
    page.wait_for_function("box.textContent.includes('drawn 1 :')")
    assert not page.locator(BALL).is_visible()  # a > 1: many Q and K have the product


@pytest.mark.long
def test_the_keyboard_alone_changes_a_number_drops_a_rank_and_moves_a(
    scene,
):
    page = scene("d=2;a=2", kind=FactorizationExplorer)
    page.locator(entry("Q, row 1, column 1")).focus()
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown"):
        page.keyboard.press(key)
    assert place(page)["entries"].startswith("Q21=")
    page.get_by_label("let Q lose a rank").press("Enter")
    assert place(page)["rank"] == "Q"
    page = scene("d=2;a=1", kind=FactorizationExplorer)
    for key in ("ArrowLeft", "ArrowUp"):
        page.get_by_label("A on its surface").press(key)
    assert (place(page)["angle"], place(page)["height"]) == (328, 0.62)


def test_what_python_says_comes_back_when_it_has_answered(scene):
    page = scene(kind=FactorizationExplorer)
    drag_entry(page, "Q, row 1, column 1", 30)
    assert "nv-ahead" in page.locator(".nv").get_attribute("class")
    state = f"entries={place(page)['entries']}"
    redraw(page, FactorizationExplorer(state=state))
    settle(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")
    assert "your numbers: a new A that stands still" in said(page)


def test_on_a_phone_matrices_stand_below_one_another_and_a_finger_drags_a_number(
    phone,
):
    page = phone(FactorizationExplorer, 390, 844)
    page.evaluate("box.talk = neurovizScenes.talkOf(box)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    cell = page.locator(entry("Q, row 1, column 2"))
    cell.scroll_into_view_if_needed()
    box = cell.bounding_box()
    assert min(box["width"], box["height"]) >= 44
    touch(page, (box["x"] + 22, box["y"] + 22), (0, -60))
    assert page.evaluate("cancelled") == []
    assert "Q12=" in page.evaluate("box.talk.get('entries')")
