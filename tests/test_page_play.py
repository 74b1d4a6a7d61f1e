"""On a page without Python ▶ goes as far as it goes in a panel: its stills, which come
while it runs, do not end it."""

import pytest
from all_scenes import MOVING
from one_panel import page_of

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("book")]

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
