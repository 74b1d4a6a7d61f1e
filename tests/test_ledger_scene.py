"""The ledger in a browser, without a kernel: one takes hold of a network, and the
output stands still."""

import re

import numpy as np
import pytest
from scenes import code_of, settle

from neuroviz.deep.ledger import LedgerSetting
from neuroviz.deep.ledger_panel import LedgerExplorer
from neuroviz.kit import theme

pytestmark = pytest.mark.browser

SIZES = ("width", "width_out", "layers", "widths", "head_dims")
ROW = "[...box.querySelectorAll('.row')]"
# x and width of each long bar, in parameters.
BARS = """() => {
  const ruler = [...box.querySelectorAll(".ruler text")];
  const seen = ruler.map((one) => [+one.textContent, +one.getAttribute("x")]);
  const [[zero, left], [last, right]] = [seen[0], seen[1]];
  const of = (pixels) => (pixels * (last - zero)) / (right - left);
  const number = (bar, name) => +bar.getAttribute(name);
  const long = [...box.querySelectorAll(".bar .long")];
  return long.map((bar) => [of(number(bar, "x") - left), of(number(bar, "width"))]);
}"""
# The edges of all words, with what they say.
WORDS = """[...box.querySelectorAll(
    "h4 span, .row p, .number, .nv-hint, svg text, .name",
  )]
  .filter((one) => one.textContent.trim() && one.getClientRects().length)
  .map((one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    return [one.textContent, left, right, top, bottom];
  })"""
TARGETS = """[...box.querySelectorAll("button:not(.nv-camera), .nv-handle .room")]
  .filter((one) => one.getClientRects().length)
  .map((one) => {
    const { width, height } = one.getBoundingClientRect();
    return [one.title || one.parentElement.getAttribute("aria-label"), width, height];
  })"""


@pytest.fixture
def opened(bare_page):
    """Draws the picture of a panel in a page without a kernel."""

    def open_(state="", width=1085, motion="no-preference"):
        bare_page.set_viewport_size({"width": width, "height": 900})
        bare_page.emulate_media(reduced_motion=motion)
        bare_page.set_content(
            f"{theme.css()}<body style='margin: 0'><div class='nv'><div"
            " id='box'></div></div></body>"
        )
        bare_page.add_script_tag(content=code_of("scenes/deep"))
        show(bare_page, state, width)
        settle(bare_page)  # at first all falls
        return bare_page

    errors = []
    bare_page.on("pageerror", lambda error: errors.append(str(error)))
    yield open_
    assert not errors


def show(page, state="", width=1085):
    """As Python does when it has answered."""
    panel = LedgerExplorer(state=state)
    drawn = panel.figure.drawn
    panel.close()
    page.evaluate("([m, w]) => neurovizScenes.react(box, m, w)", [drawn, width])
    page.evaluate("window.talk = neurovizScenes.talkOf(box)")


def hand(name):
    return f".nv-handle[aria-label='{name}']"


def middle(page, name):
    box = page.locator(f"{hand(name)} .ring").bounding_box()
    return np.array([box["x"] + box["width"] / 2, box["y"] + box["height"] / 2])


def drag(page, name, way):
    start = middle(page, name)
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(*(start + way), steps=10)
    page.mouse.up()
    settle(page)


def asked(page, *names):
    return page.evaluate("(names) => names.map((name) => talk.get(name))", [*names])


def numbers(page):
    """What the rows say, from all parameters to the dimension; None where only Python
    knows."""
    found = page.evaluate(
        f"{ROW}.map((row) => row.querySelector('.number').textContent)"
    )
    return [None if one == "…" else int(one.replace("−", "-")) for one in found]


def tick_is_seen(page):
    return page.evaluate("box.querySelector('.tick').style.display") != "none"


def said(page):
    return page.evaluate("box.textContent")


# What is seen


@pytest.mark.long
@pytest.mark.parametrize(
    "state",
    ["", "widths=3,5,4;head_dims=1,2;tokens=1", "layers=4;kind=softmax", "layers=1"],
)
def test_each_bar_begins_where_the_one_before_it_ends_and_the_last_is_the_dimension(
    opened, state
):
    page = opened(state)
    panel = LedgerExplorer(state=state)
    facts = panel.facts
    panel.close()
    n = facts["parameters"]["count"]
    dimension = facts["dimension"]["count"]
    costs = [
        *(family["cost"] for family in facts["families"]),
        facts["unexplained"]["count"],
    ]
    assert numbers(page) == [n, *(-cost for cost in costs), dimension]
    ends = n - np.cumsum(costs)
    wanted = [[0, n], *zip(ends, costs, strict=True), [0, dimension]]
    np.testing.assert_allclose(page.evaluate(BARS), wanted, atol=0.02 * n)
    tick = page.evaluate("+box.querySelector('.tick').getAttribute('x1')")
    bar = page.locator(".bar.dimension .long")
    end = float(bar.get_attribute("x")) + float(bar.get_attribute("width"))
    assert tick == pytest.approx(end, abs=0.1) and tick_is_seen(page)
    assert page.locator(".row.unexplained b").inner_text() == "the rest"
    hatched = page.locator(".bar.unexplained .long").get_attribute("fill")
    assert (
        hatched.startswith("url(#nv-hatch") and page.locator(hatched[4:-1]).count() == 1
    )
    titles = page.evaluate(
        "[...box.querySelectorAll('.bar title')].map((one) => one.textContent)"
    )
    assert "Lemma 3.1" in titles[1] and "Eq. 9" in titles[2] and "mod" in titles[5]


@pytest.mark.long
def test_where_there_is_no_formula_there_is_no_tick(opened):
    page = opened()
    panel = LedgerExplorer()
    drawn = panel.figure.drawn
    panel.close()
    drawn = drawn | {"facts": drawn["facts"] | {"formula": None}}
    page.evaluate("(m) => neurovizScenes.react(box, m, 1085)", drawn)
    settle(page)
    assert not tick_is_seen(page) and "no formula" in said(page)


# A network is taken hold of


@pytest.mark.long
def test_an_edge_goes_with_the_pointer_and_the_ledger_with_it(opened):
    page = opened("layers=2")
    assert numbers(page)[-1] == 38 and "exact rank" in said(page)
    start = middle(page, "width d₁")
    drag(page, "width d₁", (44, 0))
    assert abs(middle(page, "width d₁") - start - (44, 0))[0] < 12
    assert asked(page, *SIZES) == [4, 0, 2, "4,6,4", ""]
    assert "88 parameters in 2 layers" in said(page) and "by the formula" in said(page)
    assert "nv-ahead" in page.locator(".nv").get_attribute(
        "class"
    ) and "only Python says" in said(page)
    shown = "getComputedStyle(box.querySelector('.nv-view-rows h4')).visibility"
    page.wait_for_function(f"{shown} === 'hidden'")
    show(page, "widths=4,6,4")
    settle(page)
    assert "exact rank" in said(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")
    drag(page, "width d₁", (-44, 0))
    # equal widths: the sliders say them again
    assert asked(page, *SIZES) == [4, 0, 2, "", ""]


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "way", "control", "value"),
    [
        ("head dimension a₁", (0, -60), "head_dims", "4,2"),
        ("head dimension a₂", (0, 20), "head_dims", "2,1"),
        ("width d₀", (30, 0), "widths", "5,4,4"),
        ("width d₂", (0, 30), "width_out", 6),
    ],
)
def test_every_edge_has_its_number(opened, name, way, control, value):
    page = opened()
    drag(page, name, way)
    assert asked(page, control) == [value]


@pytest.mark.long
def test_the_ruler_grows_with_the_parameters(opened):
    page = opened("layers=3")
    drag(page, "width d₀", (60, 0))
    width = asked(page, "widths")[0].split(",")[0]
    assert int(width) > 5
    ruler = "[...box.querySelectorAll('.ruler text')].map((one) => +one.textContent)"
    steps = page.evaluate(ruler)
    parameters = int(re.search(r"(\d+) parameters in 3 layers", said(page))[1])
    assert steps[0] == 0 and steps[-1] >= parameters > steps[-1] / 3
    assert len({b - a for a, b in zip(steps, steps[1:], strict=False)}) == 1


@pytest.mark.long
def test_the_keyboard_alone_builds_any_network_and_on_the_way_each_is_one(opened):
    page = opened("layers=2;head_dims=1,2")
    page.evaluate("""() => {
          const { set } = talk;
          window.seen = [];
          talk.set = (values) => {
            for (const [name, value] of Object.entries(values)) {
              set({ [name]: value });
              const here = Object.keys(values).map((one) => [one, talk.get(one)]);
              seen.push(Object.fromEntries(here));
            }
          };
        }""")
    for name, key in (
        ("head dimension a₁", "ArrowUp"),
        ("width d₂", "Shift+ArrowRight"),
    ):
        page.get_by_role("slider", name=name).focus()
        page.keyboard.press(key)
    page.get_by_role("button", name="add a layer").focus()
    page.keyboard.press("Enter")
    page.get_by_role("slider", name="head dimension a₃").focus()
    page.keyboard.press("ArrowUp")
    assert asked(page, *SIZES) == [4, 8, 3, "", "2,2,3"]
    page.get_by_role("button", name="remove layer 1").focus()
    page.keyboard.press("Enter")
    assert asked(page, *SIZES) == [4, 8, 2, "", "2,3"]
    while (add := page.get_by_role("button", name="add a layer")).is_visible():
        add.press("Enter")
    # Where there is no more to add.
    assert page.evaluate("document.activeElement.ariaLabel") == "remove layer 6"
    seen = page.evaluate("seen")
    assert len(seen) > 10
    for place in seen:
        # raises where the controls contradict each other
        _ = LedgerSetting(**place).arch


@pytest.mark.long
def test_the_tab_key_reaches_everything_and_each_slider_says_its_value(opened):
    page = opened()
    hands = page.evaluate(
        """[...box.querySelectorAll(
            "[tabindex='0'], button:not(:disabled):not([hidden])",
          )].map((one) => one.ariaLabel)"""
    )
    assert (
        hands[-1] == "save the picture as a PNG"
        and len(hands) == len({*hands}) == 5 + 3 + 4 + 1
    )
    reached = []
    for _ in hands:
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.ariaLabel"))
    assert reached == hands
    for slider in page.get_by_role("slider").all():
        least, value, most = (
            float(slider.get_attribute(f"aria-value{one}"))
            for one in ("min", "now", "max")
        )
        assert least <= value <= most
        words = f"{slider.get_attribute('aria-label')}: {value:.0f}"
        assert slider.get_attribute("aria-valuetext") == words


@pytest.mark.long
def test_controls_that_say_no_network_leave_the_last_one(opened):
    page = opened()
    page.evaluate("talk.set({widths: '4,'})")
    settle(page)
    assert "64 parameters in 2 layers" in said(page)
    page.evaluate("talk.set({widths: '4,3'})")
    page.wait_for_function("box.textContent.includes('parameters in 1 layer:')")


# The weights move


@pytest.mark.long
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_symmetry_plays_on_the_weights_while_the_output_stands_still(opened, motion):
    page = opened("layers=2;kind=softmax", motion=motion)
    weights = "box.querySelector('canvas').toDataURL()"
    filled = (
        "[...box.querySelectorAll('.now rect')].map((one) =>"
        " +one.getAttribute('height'))"
    )
    before = page.evaluate(weights)
    still = page.evaluate(filled)
    play = page.get_by_role("button", name="does the output move").all()
    for button in play[:2]:
        button.click()
        page.wait_for_function(
            f"before => {weights} !== before && /weights move by up to (?!0.0).*stands"
            " still, to/.test(box.textContent)",
            arg=before,
        )
        assert page.evaluate(filled) == pytest.approx(still, abs=0.01)
        button.click()
    # a doubled A is seen; and so is any other direction
    for name in ("rescalings", "dimension"):
        page.get_by_text(name, exact=True).click()
        page.wait_for_function(
            "/weights move by up to .*moves by/.test(box.textContent)"
        )
        # in steps it comes and goes
        page.wait_for_selector(".moves .now", state="attached")
    page.evaluate("talk.set({layers: 1})")
    page.wait_for_function("document.querySelectorAll('.nv-play')[1].disabled")


@pytest.mark.long
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_motion_comes_back_to_where_it_began_and_a_bar_plays_it_too(
    opened, bare_page, motion
):
    bare_page.clock.install()
    page = opened(motion=motion)
    page.clock.run_for(1000)
    weights = "box.querySelector('canvas').toDataURL()"
    start = page.evaluate(weights)
    place = asked(page, *SIZES)
    page.locator(".bar.head-bases .long").click()
    page.clock.run_for(1000)
    assert (
        page.evaluate(weights) != start
        and page.locator(".nv-play").first.inner_text() == "❚❚"
    )
    page.clock.run_for(10_000)
    assert page.evaluate(weights) == start and asked(page, *SIZES) == place
    assert page.locator(".nv-play").first.inner_text() == "▶"
    # what was seen stays
    assert re.search(
        r"weights moved by up to [\d.]+; the output ?stood still", said(page)
    )
    page.get_by_text("dimension", exact=True).click()
    page.clock.run_for(12_000)
    assert re.search(r"weights moved by up to [\d.]+; the output ?moved by", said(page))
    page.evaluate("talk.set({layers: 3})")  # another network: nothing has been seen
    page.clock.run_for(1000)
    assert "from these weights" in said(page)


@pytest.mark.long
def test_a_change_is_followed_on_its_way_but_not_where_motion_is_reduced(opened):
    for motion, between in (("no-preference", True), ("reduce", False)):
        page = opened(motion=motion)
        start = page.evaluate("""() => {
          const bar = box.querySelector(".bar.parameters .long");
          const width = () => Number(bar.getAttribute("width"));
          window.widths = [];
          const note = () => widths.push(width());
          new MutationObserver(note).observe(bar, {attributes: true});
          return width();
        }""")
        page.evaluate("talk.set({width: 3})")
        settle(page)
        *way, end = page.evaluate("widths")
        assert start - end > 20
        assert any(end + 2 < width < start - 2 for width in way) == between


# Places


@pytest.mark.long
def test_a_finger_drags_an_edge_and_its_drag_is_never_cancelled(opened):
    page = opened(width=390)
    x, y = middle(page, "head dimension a₁")
    page.evaluate(
        "window.gone = 0; addEventListener('touchcancel', () => gone++, true)"
    )
    touch = page.context.new_cdp_session(page)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page.evaluate("box.replaceChildren(); neurovizScenes.purge(box)")
    show(page, width=390)
    settle(page)
    for kind, way in (("Start", 0), ("Move", 8), ("Move", 30), ("Move", 60)):
        points = [{"x": x, "y": y - way}]
        touch.send(
            "Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": points}
        )
        page.wait_for_timeout(30)
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    assert (
        asked(page, "head_dims")[0] in ("3,2", "4,2", "5,2")
        and page.evaluate("gone") == 0
    )
    action = "getComputedStyle(document.querySelector('.nv-handle')).touchAction"
    assert page.evaluate(action) == "none"


@pytest.mark.long
@pytest.mark.parametrize(
    "state", ["", "layers=6;width=8;head_dim=8", "layers=1;width=1;width_out=1"]
)
def test_on_a_phone_views_stand_below_one_another_whole_and_large_enough(opened, state):
    page = opened(state, width=390)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    tops = [
        page.locator(f".nv-view-{name}").bounding_box()
        for name in ("layers", "output", "rows")
    ]
    assert all(
        a["y"] + a["height"] <= b["y"] for a, b in zip(tops, tops[1:], strict=False)
    )
    for words, left, right, *_ in page.evaluate(WORDS):
        assert 0 <= left and right <= 390, words
    for name, width, height in page.evaluate(TARGETS):
        assert min(width, height) > 43.99, name


@pytest.mark.long
def test_a_dark_room_is_dark(opened, look):
    look("dark", "notebook")
    page = opened()
    ground = "getComputedStyle(box.querySelector('.nv-scene')).backgroundColor"
    seen = [int(one) for one in page.evaluate(ground).strip("rgb()").split(",")]
    assert (
        seen == [int(theme.color("ground")[i : i + 2], 16) for i in (1, 3, 5)]
        and max(seen) < 60
    )
