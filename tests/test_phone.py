"""The pages under a finger, 390 pixels wide, and by the keys alone; what a first visit
fetches."""

import gzip
from urllib.parse import unquote, urlsplit

import pytest
from all_scenes import SingletonExplorer
from fingers import PHONE, SMALL
from one_panel import page_of
from scenes import HEAR, painted, settle, touch
from test_book import browse, built, notebooks, wake  # noqa: F401

from neuroviz.explorables import (
    Figure3Explorer,
    HypothesesExplorer,
    LearningExplorer,
    LedgerExplorer,
    SurfaceExplorer,
)
from tools.book import font

pytestmark = pytest.mark.browser

TABLET = PHONE | {"viewport": {"width": 820, "height": 1180}}
CHART = ".js-plotly-plot"
FIRST_VISIT = 250_000  # bytes, as a server sends them


def middle(page, selector: str) -> tuple[float, float]:
    """Of a part of the page, in the middle of the window."""
    part = page.locator(selector).first
    part.evaluate("one => one.scrollIntoView({block: 'center', behavior: 'instant'})")
    box = part.bounding_box()
    return box["x"] + min(box["width"], 390) / 2, box["y"] + box["height"] / 2


def swiped(page, start: tuple[float, float]) -> float:
    """How far the page has scrolled after a finger went up by 150 pixels."""
    before = page.evaluate("scrollY")
    touch(page, start, (0, -150))
    settle(page)
    return page.evaluate("scrollY") - before


# Under a finger


@pytest.mark.long
def test_what_one_presses_is_44_pixels_wide_and_high(built, browse, few):  # noqa: F811
    for path in few(notebooks(built)):
        page = browse(path, **PHONE)
        for number in range(page.locator(".nv-panel").count()):
            wake(page, number)
        assert page.evaluate(SMALL) == [], path.name
        page.context.close()


@pytest.mark.parametrize("device", [PHONE, TABLET], ids=["phone", "tablet"])
def test_a_finger_finds_the_rings_of_the_front_page(built, browse, device):  # noqa: F811
    page = browse(built / "index.html", **device)
    rooms = page.locator(".nv-front-scene .room")
    assert rooms.count() == 2
    assert all(room.bounding_box()["width"] >= 44 for room in rooms.all())


def test_a_link_in_a_line_is_44_pixels_high_and_the_line_is_not(built, browse):  # noqa: F811
    page = browse(notebooks(built)[0], **PHONE)
    wake(page, 0)  # a picture that comes would move the line
    x, y = middle(page, ".nv-below a")
    hit = "([x, y]) => !!document.elementFromPoint(x, y)?.closest('.nv-below a')"
    assert all(page.evaluate(hit, [x, y + far]) for far in (-21, 21))
    assert page.locator(".nv-below a").first.bounding_box()["height"] < 30


def test_a_finger_finds_the_cells_of_the_map_on_a_small_tablet(tmp_path, browse):  # noqa: F811
    # As wide as in a page of 768, whose text has margins.
    device = PHONE | {"viewport": {"width": 748, "height": 1024}}
    page = browse(page_of(tmp_path, HypothesesExplorer, "inner"), **device)
    page.add_style_tag(content="article { line-height: 1.5; }")  # of the theme
    wake(page, 0)
    cells = [cell.bounding_box() for cell in page.locator("[role=gridcell]").all()]
    assert len(cells) == 25 and min(cell["height"] for cell in cells) >= 43.9


@pytest.mark.long
@pytest.mark.parametrize("device", [PHONE, TABLET], ids=["phone", "tablet"])
def test_two_charts_fit_a_tablet_and_stand_one_below_the_other_on_a_phone(
    tmp_path,
    browse,  # noqa: F811
    device,
):
    page = browse(page_of(tmp_path, Figure3Explorer, "layers"), **device)
    wake(page, 0)
    wide = "document.querySelector('.nv-scroll')"
    assert page.evaluate(f"{wide}.scrollWidth <= {wide}.clientWidth")
    left, right = (
        page.locator(f"{CHART} .subplot.{name}").first for name in ("xy", "x2y2")
    )
    below = right.bounding_box()["y"] - left.bounding_box()["y"]
    assert (below > 300) == (device is PHONE)
    edge = page.locator(CHART).bounding_box()
    for headline in page.locator(f"{CHART} .annotation text").all():
        box = headline.bounding_box()
        assert box["x"] + box["width"] <= edge["x"] + edge["width"] + 1


def test_a_mouse_finds_smaller_ones(built, browse):  # noqa: F811
    """The check above has a case where it fails."""
    assert browse(notebooks(built)[0]).evaluate(SMALL)


@pytest.mark.long
def test_a_swipe_over_a_chart_scrolls_the_page(built, browse):  # noqa: F811
    page = browse(built / "beyond" / "notebooks" / "memorisation.html", **PHONE)
    wake(page, 0)
    assert swiped(page, middle(page, CHART)) > 100


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "control", "handle"),
    [
        (LedgerExplorer, "layers", "head dimension a₁"),
        (SurfaceExplorer, "where", "the point"),
    ],
)
def test_a_handle_follows_a_finger_and_a_picture_lets_it_scroll(
    tmp_path,
    browse,  # noqa: F811
    kind,
    control,
    handle,
):
    page = browse(page_of(tmp_path, kind, control), **PHONE)
    wake(page, 0)
    page.evaluate(HEAR)
    ring = f".nv-handle[aria-label='{handle}']"
    said = f"document.querySelector(\"{ring}\").getAttribute('aria-valuetext')"
    x, y = middle(page, f"{ring} .room")
    before, top = page.evaluate(said), page.evaluate("scrollY")
    touch(page, (x, y), (60, 40))
    settle(page)
    assert page.evaluate("cancelled") == []
    assert page.evaluate(said) != before and page.evaluate("scrollY") == top
    text = ".nv-scene h4, .nv-scene canvas"
    edge = page.locator(text).first.bounding_box()
    assert swiped(page, (edge["x"] + 8, edge["y"] + 8)) > 100


@pytest.mark.long
def test_a_hand_that_rests_at_a_still_keeps_what_it_holds(tmp_path, browse):  # noqa: F811
    page = browse(page_of(tmp_path, SingletonExplorer, "travel"), **PHONE)
    wake(page, 0)
    page.evaluate(HEAR)
    ring = ".nv-handle[aria-label='(μ, ν) of θ′']"
    held = page.locator(ring).element_handle()
    x, y = middle(page, f"{ring} .room")
    top = page.evaluate("scrollY")
    # Its end is halfway: the rest of the drag it stays at the place of a still.
    touch(page, (x, y), (0, -250), steps=40)
    assert page.evaluate(f"{TALK}.get('travel')") == 1
    assert page.evaluate("cancelled") == [] and page.evaluate("scrollY") == top
    assert held.evaluate("one => one.isConnected")


@pytest.mark.long
def test_what_is_wider_fades_out_where_there_is_more_and_keys_reach_it(
    built,  # noqa: F811
    browse,  # noqa: F811
):
    page = browse(built / "beyond" / "notebooks" / "memorisation.html", **PHONE)
    wake(page, 0)
    for wide in ("pre", ".nv-scroll"):
        one = page.locator(f"article {wide}").first
        one.scroll_into_view_if_needed()
        look = f"document.querySelector('article {wide}').className"
        page.wait_for_function(f"{look}.includes('nv-more-after')")
        assert "nv-more-before" not in page.evaluate(look)
        assert page.get_by_text("The chart goes on").first.is_visible()
        assert one.get_attribute("tabindex") == "0" and one.get_attribute("aria-label")
        one.evaluate("one => one.scrollLeft = 1e4")
        page.wait_for_function(f"{look}.includes('nv-more-before')")
        assert "nv-more-after" not in page.evaluate(look)
    page.set_viewport_size({"width": 1280, "height": 844})
    page.wait_for_function(
        "!document.querySelector('article pre').hasAttribute('tabindex')"
    )
    page.get_by_text("The chart goes on").first.wait_for(state="hidden")


def test_back_to_top_covers_no_title(built, browse):  # noqa: F811
    page = browse(notebooks(built)[0], **PHONE)
    page.evaluate("scrollTo({top: 1500, behavior: 'instant'})")
    painted(page)
    page.evaluate("scrollTo({top: 1300, behavior: 'instant'})")
    box = page.get_by_role("link", name="Back to top")
    box.wait_for()
    assert box.bounding_box()["y"] > 844 / 2


# Presets and places without Python

ROW = {"three layers": "layers=3", "a = 1": "head_dim=1"}
SAID = ".nv-panel .nv-description"


@pytest.mark.long
def test_a_preset_far_away_shows_its_still_and_the_panel_leads_back(
    tmp_path,
    browse,  # noqa: F811
):
    page = browse(page_of(tmp_path, LedgerExplorer, "layers", row=ROW), **PHONE)
    wake(page, 0)
    for label, words, readout in (
        ("three layers", "4→4→4→4,", "3"),
        ("a = 1", "a = 1, 1,", "2"),
    ):
        row = page.get_by_role("button", name=label)
        row.click()
        page.locator(SAID, has_text=words).wait_for()
        assert 0 <= page.locator(".nv-panel").bounding_box()["y"] < 60
        assert page.locator("output").inner_text() == readout
        state = page.locator(".nv-at").inner_text()
        assert ROW[label] in state
        back = page.get_by_role("button", name="Back to the text")
        assert back.evaluate("one => one === document.activeElement")
        assert page.evaluate(SMALL) == []
        back.press("Enter")
        assert row.evaluate("one => one === document.activeElement")
        assert 0 < row.bounding_box()["y"] < 844 and back.count() == 0
    # A still of the control would bring the panel's first network back.
    page.locator(".nv-control input").press("ArrowLeft")
    page.wait_for_function(f"{TALK}.get('layers') === 1")
    assert page.evaluate(f"{TALK}.get('head_dim')") == 1
    page.locator(".nv-moved").wait_for()
    assert (page.complaints, page.left) == ([], [])


@pytest.mark.long
def test_where_a_scene_is_moved_nothing_stands_that_python_said_of_its_still(
    tmp_path,
    browse,  # noqa: F811
):
    page = browse(page_of(tmp_path, LedgerExplorer, "layers"), **PHONE)
    wake(page, 0)
    moved = page.locator(".nv-moved")
    heard = [SAID, ".nv-at", ".nv-title .nv-badge", ".nv-view-rows h4"]
    offset = f"document.querySelector('{SAID}').offsetTop"
    before = page.evaluate(offset)
    assert page.locator("output").inner_text() == "2" and not moved.is_visible()
    page.locator(".nv-handle[aria-label='head dimension a₁']").press("ArrowLeft")
    moved.wait_for()
    assert [page.locator(one).first.is_visible() for one in heard] == [False] * 4
    assert page.evaluate(offset) == before  # nothing jumps
    name = page.locator(".nv-panel .nv-figure").get_attribute("aria-label")
    assert name == "Where do the parameters go?"
    moved.get_by_role("button").click()
    moved.wait_for(state="hidden")
    for one in heard:
        page.locator(one).first.wait_for()


def test_the_control_of_a_page_goes_with_the_scene(tmp_path, browse):  # noqa: F811
    page = browse(page_of(tmp_path, LedgerExplorer, "layers"), **PHONE)
    wake(page, 0)
    assert page.evaluate(f"{TALK}.set({{layers: 3}})") is None
    page.locator(SAID, has_text="4→4→4→4,").wait_for()  # its still is there
    assert page.locator("output").inner_text() == "3"
    assert page.locator(".nv-control input").input_value() == "2"
    page.evaluate(f"{TALK}.set({{layers: 4, width: 3}})")
    page.locator(".nv-moved").wait_for()
    assert page.locator("output").inner_text() == "4"


def test_the_control_leaves_alone_what_was_moved_by_hand(
    tmp_path,
    browse,  # noqa: F811
):
    page = browse(
        page_of(tmp_path, LearningExplorer, "s", state="s=1;y=0;z=0.5"), **PHONE
    )
    wake(page, 0)
    page.evaluate(f"{TALK}.set({{y: 0.4}})")
    page.locator(".nv-moved").wait_for()
    before = page.evaluate(f"{TALK}.get('s')")
    page.locator(".nv-control input").press("ArrowRight")
    page.wait_for_function(f"{TALK}.get('s') > {before} + 0.01")
    assert page.evaluate(f"[{TALK}.get('y'), {TALK}.get('z')]") == [0.4, 0.5]
    assert page.locator(".nv-moved").is_visible()


def test_the_control_takes_back_words_that_would_not_fit(
    tmp_path,
    browse,  # noqa: F811
):
    """Two head dimensions are none of three layers."""
    page = browse(page_of(tmp_path, LedgerExplorer, "layers"), **PHONE)
    wake(page, 0)
    page.locator(".nv-handle[aria-label='head dimension a₁']").press("ArrowLeft")
    page.wait_for_function(f"{TALK}.get('head_dims') === '1,2'")
    page.locator(".nv-control input").press("ArrowRight")
    page.locator(SAID, has_text="4→4→4→4,").wait_for()
    assert page.evaluate(f"{TALK}.get('head_dims')") == ""


# By the keys

TALK = "neurovizScenes.talkOf(document.querySelector('.nv-figure'))"
FOCUS = """() => {
  const one = document.activeElement;
  const {outlineStyle, outlineWidth} = getComputedStyle(one);
  const {top, bottom} = one.getBoundingClientRect();
  const isSeen = outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
  const isHere = bottom > 0 && top < innerHeight;
  one.dataset.reached = "yes";
  return [one.outerHTML.slice(0, 100), isSeen, isHere, one.tagName];
}"""
LEFT_OUT = """() => [...document.querySelectorAll(
  "article :is(a[href], summary, button, input, select, .nv-handle)",
)].filter((one) => one.checkVisibility({ visibilityProperty: true }) &&
  one.getClientRects().length && // a hidden handle says that it is visible
  !one.dataset.reached && !one.matches(":disabled, .headerlink, [tabindex='-1']"),
).map((one) => one.outerHTML.slice(0, 100))"""


def open_all_by_tab(page, name):
    """Goes through a page with the Tab key, and opens what is folded."""
    page.evaluate("scrollTo(0, 0)")
    while True:
        page.keyboard.press("Tab")
        what, is_seen, is_here, tag = page.evaluate(FOCUS)
        if tag == "BODY":
            return
        page.wait_for_timeout(10)
        assert is_seen and is_here, f"{name}: {what}"
        opened = "document.activeElement.parentElement.open"
        if tag == "SUMMARY" and not page.evaluate(opened):  # a question, or a fold
            page.keyboard.press("Enter")
            page.wait_for_function(opened)


NAMES = """() => [...document.querySelectorAll("article table")].map(
  (one) => one.querySelector("td").offsetWidth / one.offsetWidth)"""


def test_a_long_name_leaves_room_in_its_row(built, browse):  # noqa: F811
    """On a tablet and on a desk, of what goes wrong in a class."""
    for width in (820, 1280):
        page = browse(
            built / "docs" / "class_session.html",
            viewport={"width": width, "height": 900},
        )
        shares = page.evaluate(NAMES)
        assert shares and max(shares) < 0.4
        page.context.close()


@pytest.mark.long
@pytest.mark.parametrize("width", [1280, 640])
def test_keys_alone_reach_and_open_everything(built, browse, width):  # noqa: F811
    """640 is 1280 at 200 %."""
    for path in notebooks(built):
        page = browse(path, viewport={"width": width, "height": 800})
        page.add_style_tag(
            content="* { scroll-behavior: auto !important;"
            " transition: none !important; }"
        )
        for number in range(page.locator(".nv-panel").count()):
            wake(page, number)
        open_all_by_tab(page, path.name)
        # Once more: a question that has been opened below a panel brings its badge.
        open_all_by_tab(page, path.name)
        assert page.evaluate(LEFT_OUT) == [], path.name
        page.context.close()


def test_keys_open_the_drawers_of_a_narrow_page(built, browse):  # noqa: F811
    page = browse(notebooks(built)[0], viewport={"width": 640, "height": 800})
    link = page.locator(".sidebar-tree a").first
    assert not link.is_visible()
    page.get_by_role("button", name="Toggle site navigation sidebar").press("Enter")
    link.wait_for()


# A first visit


def test_a_first_visit_fetches_little(built, browse):  # noqa: F811
    """Without the panels, which come when they are near."""
    page = browse(notebooks(built)[0], **PHONE)
    page.evaluate("document.fonts.ready")
    page.wait_for_timeout(500)
    places = {unquote(urlsplit(url).path) for url in page.asked if "file:" in url}
    sizes = {}
    for place in places:
        path = built / place.removeprefix(built.as_posix() + "/")
        if path.parent.name in ("panels", "scenes") or path.name == "look.js":
            continue
        sent = path.read_bytes()
        packed = sent if path.suffix == ".woff2" else gzip.compress(sent)
        sizes[path.name] = len(packed)
    assert {"00_start.html", "book.css", "book.js", font.PART} <= set(sizes)
    assert sum(sizes.values()) < FIRST_VISIT, sizes
    assert sizes[font.PART] < 110_000
