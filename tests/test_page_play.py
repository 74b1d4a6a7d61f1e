"""On a page without Python ▶ goes as far as it goes in a panel: its stills, which come
while it runs, do not end it."""

import re

import pytest
from all_scenes import MOVING
from one_panel import page_of
from test_book import browse, wake  # noqa: F401

from neuroviz.explorables import HypothesesExplorer

pytestmark = pytest.mark.browser

# Where ▶ comes to rest at a still on its way.
ONCE_CUT_SHORT = (
    "candidate=negative;travel=0.8",
    "layers=3;place=9",
    "view=rescale;log_1=-1",
)
PLACES = "all => all.map(one => one.getAttribute('aria-valuetext'))"


def control_of(kind, end: dict) -> str:
    """One that ▶ moves, where a page can have it: then its stills come on the way."""
    panel = kind()
    names = [*(name for name in end if name in panel.controls), *panel.controls]
    panel.close()
    return names[0]


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "state", "_", "end"),
    [one for one in MOVING if one[1] in ONCE_CUT_SHORT],
)
def test_play_reaches_its_end_on_a_page(scene, new_page, tmp_path, kind, state, _, end):
    play_to_the_end(scene, new_page, tmp_path, kind, state, end)


@pytest.mark.full
@pytest.mark.parametrize(("kind", "state", "_", "end"), MOVING)
def test_play_of_every_scene_reaches_its_end_on_a_page(
    scene, new_page, tmp_path, kind, state, _, end
):
    play_to_the_end(scene, new_page, tmp_path, kind, state, end)


def play_to_the_end(scene, new_page, tmp_path, kind, state, end):
    def at_the_end(page) -> list[str | None]:
        page.clock.run_for(1000)
        page.locator(".nv-play").first.click()
        page.clock.run_for(30_000)
        assert page.locator(".nv-play").first.inner_text() == "▶"
        return page.locator(".nv-scene .nv-handle").evaluate_all(PLACES)

    page = new_page(viewport={"width": 1280, "height": 900})
    page.clock.install()
    page.goto(page_of(tmp_path, kind, control_of(kind, end), state=state).as_uri())
    page.locator(".nv-panel").scroll_into_view_if_needed()
    page.wait_for_selector(".nv-play")
    seen = at_the_end(page)

    alone = scene(state, kind=kind)
    alone.clock.install()
    assert seen == at_the_end(alone)


@pytest.mark.long
def test_a_page_has_the_film_of_every_cell_of_its_map(browse, few, tmp_path):
    state = "head_1=2;head_2=2;inner=2;outer=2;tokens=2"
    page = browse(page_of(tmp_path, HypothesesExplorer, "inner", state=state))
    wake(page, 0)
    panel = page.locator(".nv-panel")
    cells = panel.get_by_role("gridcell").all()
    assert len(cells) == 25
    for cell in few(cells, 6):
        network = cell.get_attribute("aria-label")
        cell.click()
        first, second = re.search(r"a₁ = (\d), a₂ = (\d):", network).groups()
        film = f"a = {first}, {second}, t = 2"
        panel.locator(".nv-view-film h4", has_text=film).wait_for()
        assert panel.locator(".nv-view-film .nv-play").inner_text() == "❚❚", network
        assert "nv-ahead" not in panel.get_attribute("class")
