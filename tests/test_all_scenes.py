"""What every scene keeps: its words stay apart and inside, and what is saved is what is
seen."""

import base64
import re
import struct

import pytest
from all_scenes import MOVING, SCENES
from scenes import named, place, redraw, settle

from neuroviz.deep.hypotheses_panel import HypothesesExplorer
from neuroviz.deep.ledger_panel import LedgerExplorer
from neuroviz.deep.virtual_panel import VirtualWeightsExplorer
from neuroviz.factorization.panel import FactorizationExplorer
from neuroviz.kit import theme
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.singular.resultant_panel import ResultantExplorer
from neuroviz.singular.section_panel import SectionExplorer
from neuroviz.singular.surface_panel import SurfaceExplorer
from neuroviz_beyond.unrolling.panel import UnrollingExplorer

pytestmark = [pytest.mark.browser, pytest.mark.long]

# States, beside those of `MOVING`, in which there is much to say or little room.
CROWDED = {
    FactorizationExplorer: [
        "d=2;a=2",
        "d=1;a=1;walk=stretch",
        "d=6;a=8",
        "d=4;a=1;walk=stretch",
        "rank=Q;off_orbit=-0.5",
        "d=6;a=5;rank=K;off_orbit=1",
    ],
    HypothesesExplorer: ["over=widths;tokens=1;inner=5;outer=3"],
    LedgerExplorer: [
        "layers=4",
        "layers=6",
        "widths=3,5,4;head_dims=1,2;tokens=1",
    ],
    VirtualWeightsExplorer: ["layers=4;width=4;alone=0.2", "view=rescale;layers=4"],
    UnrollingExplorer: [
        f"layers={layers};place={(3**layers + 1) // 4};tokens=4;{more}"
        for layers in (1, 2, 3, 4)
        for more in ("reflect=no", "reflect=yes", "two_tokens=yes")
    ],
}
WIDTHS = {"notebook": (1085, 820, 390), "lecture": (1085, 1040)}
# Each line of words that is seen, the number of its element, and what it says.
WORDS = """() => {
  const found = [];
  const hasWords = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  let element = 0;
  (function walk(one) {
    const isSeen = {opacityProperty: true, visibilityProperty: true};
    if (!one.checkVisibility(isSeen)) return;
    if (![...one.childNodes].some(hasWords)) return [...one.children].forEach(walk);
    element++;
    // The ground around letters of a drawing may be covered.
    const {stroke, strokeWidth} = getComputedStyle(one);
    const line = stroke === "none" ? 0 : parseFloat(strokeWidth) / 2;
    const range = document.createRange();
    range.selectNodeContents(one);
    for (const {left, right, top, bottom} of range.getClientRects())
      if (right > left) {
        const edges = [left + line, right - line, top + line, bottom - line];
        found.push([edges, element, one.textContent]);
      }
  })(box);
  return found;
}"""
# Of two pictures, drawn small: how far their colours are apart, and how far those of
# the second one are from its ground.
DIFFERENCE = """async (sources) => {
  const [one, other] = await Promise.all(sources.map(async (source) => {
    const seen = Object.assign(new Image(), {src: `data:image/png;base64,${source}`});
    await seen.decode();
    const pen = new OffscreenCanvas(275, 92).getContext("2d");
    pen.imageSmoothingQuality = "high";
    pen.drawImage(seen, 0, 0, 275, 92);
    return [...pen.getImageData(0, 0, 275, 92).data];
  }));
  const sum = (numbers) => numbers.reduce((total, number) => total + Math.abs(number));
  return [
    sum(one.map((color, i) => color - other[i])),
    sum(other.map((color, i) => color - other[i % 4])),
  ];
}"""

WALKED = [
    (FactorizationExplorer, "C, along the rotation"),
    (FiberExplorer, "the point (A, V)"),
    (VirtualWeightsExplorer, "C, along the rotation"),
    (SectionExplorer, "the plane"),
    (SurfaceExplorer, "the point"),
    (ResultantExplorer, None),
]
"""Scenes with ▶, and a handle: of the resultant it is the first one."""


@pytest.mark.parametrize(("kind", "handle"), WALKED)
def test_a_key_moves_what_plays_and_the_walk_does_not_move_it_back(scene, kind, handle):
    page = scene("", kind=kind)
    page.locator(".nv-play").first.click()
    assert page.locator(".nv-play").first.inner_text() == "❚❚"
    page.locator(named(handle) if handle else ".nv-handle").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.locator(".nv-play").first.inner_text() == "▶"
    here = place(page)
    page.wait_for_timeout(300)
    assert place(page) == here


LEFT_OUT = ".nv button, .nv-hint"

each_scene = pytest.mark.parametrize(
    "kind", sorted(SCENES, key=lambda kind: kind.__name__)
)


def states_of(kind) -> list[str]:
    return sorted({"", *(state for other, state, *_ in MOVING if other is kind)})


@each_scene
@pytest.mark.parametrize("size", WIDTHS)
def test_words_stay_apart_and_in_the_picture(scene, look, kind, size):
    look(size=size)
    page = scene("", "reduce", kind=kind)
    for state in [*states_of(kind), *CROWDED.get(kind, [])]:
        for width in WIDTHS[size]:
            redraw(page, kind(state=state), width)
            settle(page)
            assert faults_of(page, width) == [], (state, width)
            # Beside one another, views have the height of a picture.
            if width == 1085 and (kind, size) != (UnrollingExplorer, "lecture"):
                assert page.evaluate("box.scrollHeight") <= theme.size("height") + 1


def faults_of(page, width: int) -> list:
    words = page.evaluate(WORDS)
    assert len(words) > 3
    start, end = page.evaluate(
        "(({left, bottom}) => [left, bottom])(box.getBoundingClientRect())"
    )
    found = []
    for n, ((left, right, _, bottom), _, said) in enumerate(words):
        if left < start - 1 or right > start + width + 1 or bottom > end + 1:
            found.append(said)
        for other in words[:n]:
            if do_meet(words[n], other):
                found.append((said, other[2]))
    return found


def do_meet(one, other) -> bool:
    """Whether the letters of two elements do; their boxes may, by up to three pixels
    above or below the letters."""
    (left, right, top, bottom), element, _ = one
    (other_left, other_right, other_top, other_bottom), other_element, _ = other
    wide = min(right, other_right) - max(left, other_left)
    high = min(bottom, other_bottom) - max(top, other_top)
    return element != other_element and wide >= 1 and high >= 3


@each_scene
def test_the_saved_picture_is_what_is_seen(scene, kind):
    for state in states_of(kind):
        page = scene(state, "reduce", kind=kind)
        settle(page)
        with page.expect_download() as saved:
            page.get_by_role("button", name="save the picture").click()
        assert re.fullmatch("neuroviz-[a-z-]+.png", saved.value.suggested_filename)
        data = saved.value.path().read_bytes()
        width, height = (number // 2 for number in struct.unpack(">II", data[16:24]))
        assert (width, height) == (1100, theme.size("height"))
        # Buttons and hints are not in a saved picture.
        page.add_style_tag(content=f"{LEFT_OUT} {{ visibility: hidden }}")
        place = page.locator("#box").bounding_box()
        edges = {"x": place["x"], "y": place["y"], "width": width, "height": height}
        shot = page.screenshot(clip=edges)
        both = [base64.b64encode(one).decode() for one in (data, shot)]
        difference, seen = page.evaluate(DIFFERENCE, both)
        assert difference < 0.25 * seen, state
