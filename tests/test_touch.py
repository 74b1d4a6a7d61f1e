"""Fingers: no drag of a handle is cancelled, the page scrolls past a picture, nothing
is cut off."""

import gzip

import pytest
from test_axe import SCENES, WITH_HANDLES

from neuroviz.kit import theme
from neuroviz.kit.page import bundle

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

LEAST = 43.9  # 44 pixels, what a finger finds, to rounding
HEAR = """() => {
  window.cancelled = [];
  const note = ({type, target}) =>
    cancelled.push(`${type} ${target.outerHTML.slice(0, 80)}`);
  for (const kind of ["pointercancel", "touchcancel"])
    addEventListener(kind, note, true);
}"""
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


@pytest.fixture
def phone(chromium):
    """Opens a panel's scene in a page of its own, in the middle of other text."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)

        def open_(kind, width, height):
            size = {"width": width, "height": height}
            page = browser.new_context(
                viewport=size, has_touch=True, is_mobile=True
            ).new_page()
            text = "<div style='height: 300px'>text</div>"
            viewport = "<meta name=viewport content='width=device-width'>"
            page.set_content(
                f"{viewport}{theme.css()}<body style='margin: 0'>{text}<div"
                f" class=nv><div id=box></div></div>{text * 4}</body>"
            )
            page.add_script_tag(content=gzip.decompress(bundle("scenes")).decode())
            panel = kind()
            page.evaluate(
                "([m, w]) => neurovizScenes.react(box, m, w)",
                [panel.figure.drawn, width],
            )
            panel.close()
            page.wait_for_timeout(500)
            page.evaluate(HEAR)
            return page

        yield open_
        browser.close()


def touch(page, start, way, steps=8):
    session = page.context.new_cdp_session(page)
    for step in range(steps + 1):
        x, y = (at + by * step / steps for at, by in zip(start, way, strict=True))
        kind = "touchStart" if step == 0 else "touchMove"
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": x, "y": y}]},
        )
        page.wait_for_timeout(16)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


# Handles know nothing of the width: a tablet's are tried by `make test-all` alone.
@pytest.mark.parametrize(
    "size",
    [
        pytest.param((390, 844), id="phone"),
        pytest.param((820, 1180), id="tablet", marks=pytest.mark.full),
    ],
)
@pytest.mark.parametrize("kind", sorted(WITH_HANDLES, key=lambda kind: kind.__name__))
def test_no_drag_of_a_handle_is_cancelled(phone, kind, size):
    page = phone(kind, *size)
    names = [name for name, *_ in page.evaluate(HANDLES)]
    assert names
    for name in names:
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
    small = [one for one in page.evaluate(TARGETS) if "PNG" not in one[0]]
    assert [name for name, wide, high in small if min(wide, high) < LEAST] == []
    assert [one for one in page.evaluate(HANDLES) if min(one[3:]) < LEAST - 0.01] == []
    if size[0] < 700:  # views stand below one another
        tops = page.evaluate(
            "[...box.querySelectorAll('.nv-view')].filter(v => v.checkVisibility())"
            ".map(v => v.getBoundingClientRect().top)"
        )
        assert len(set(map(round, tops))) == len(tops) > 0


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
        page.wait_for_timeout(300)
        assert page.evaluate("scrollY") > before + 30, view
