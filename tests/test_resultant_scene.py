"""The roots of two forms in a browser: held by mouse, finger and keyboard, without a
kernel."""

import pytest
from scenes import dragged, middle, named, place, said

from neuroviz.singular.resultant_panel import ResultantExplorer

pytestmark = pytest.mark.browser

FIRST, THIRD = named("one root of q₁"), named("one root of q₂")


@pytest.mark.long
def test_a_root_that_is_dragged_onto_another_makes_the_resultant_zero(scene):
    page = scene(kind=ResultantExplorer)
    assert "no root is common" in said(page)
    dragged(page, THIRD, *middle(page, FIRST))
    assert place(page)["third"] == place(page)["first"] == 20
    assert "0.000" in said(page) and "0: a ● and a □ have met" in said(page)
    assert page.locator(".meeting circle").count() == 1


def test_a_negative_resultant_says_where_its_sign_comes_from(scene):
    page = scene(kind=ResultantExplorer)
    assert "alternate" not in said(page)
    page.locator("[aria-label='one root of q₂']").focus()
    for _ in range(6):  # from 125 past 80, the other root of q₁
        page.keyboard.press("Shift+ArrowLeft")
    page.wait_for_function("box.textContent.includes('alternate')")
    assert 20 < place(page)["third"] < 80


def test_the_keyboard_turns_a_root_past_the_end_of_its_slider(scene):
    page = scene("first=1", kind=ResultantExplorer)
    page.locator("[aria-label='one root of q₁']").focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert place(page)["first"] == 178
    page.keyboard.press("Shift+ArrowUp")
    assert place(page)["first"] == 8


@pytest.mark.long
def test_the_walk_stops_where_the_root_meets_another(scene):
    page = scene("third=50", motion="reduce", kind=ResultantExplorer)
    page.locator(".nv-play").click()
    for met in (80, 20, 50):
        page.wait_for_function(f"helper.place().third === {met}", timeout=8000)
    page.wait_for_function("document.querySelector('.nv-play').textContent === '▶'")
