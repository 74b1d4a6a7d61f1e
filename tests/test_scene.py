"""Scenes in a real browser, without a kernel: their arithmetic is Python's, and one
takes hold of things."""

import base64
import json

import numpy as np
import pytest
from all_scenes import MOVING
from fibers import outputs_now
from panels import PATIENCE
from scenes import (
    ask,
    asked,
    dragged,
    load,
    middle,
    named,
    place,
    redraw,
    said,
    settle,
)

from neuroviz.kit import theme
from neuroviz.single_layer.panel import FiberExplorer
from neuroviz.singular.chart import chart_of, in_drawing
from neuroviz.singular.surface_panel import SurfaceExplorer
from neuroviz.singular.surface_point import point_at
from neuroviz_beyond.formula.panel import FormulaExplorer
from neuroviz_beyond.unrolling.panel import UnrollingExplorer

pytestmark = pytest.mark.browser

POINT, ROOT_HANDLE = named("the point"), named("the common root")


@pytest.mark.long
def test_the_point_follows_the_pointer_and_its_words_are_hidden_until_python_answers(
    scene,
):
    page = scene()
    x, y = middle(page, POINT)
    before = place(page)
    assert "nv-ahead" not in page.locator(".nv").get_attribute("class")
    dragged(page, POINT, x + 30, y + 30)
    assert np.hypot(*np.subtract(middle(page, POINT), (x + 30, y + 30))) < 3
    assert place(page) != before and place(page)["moves"] == "surface"
    assert "nv-ahead" in page.locator(".nv").get_attribute("class")
    assert "only Python says" in said(page)
    page.wait_for_function(
        "getComputedStyle(box.querySelector('.nv-exact')).visibility === 'hidden'"
    )


@pytest.mark.long
def test_the_point_snaps_to_the_yellow_line_and_there_are_two_sets_of_weights(scene):
    page = scene("moves=curve;where=0.928571")
    on_line = middle(page, POINT)
    page = scene()
    assert "one set of weights" in said(page)
    dragged(page, POINT, on_line[0] + 3, on_line[1] + 3)
    assert place(page)["moves"] == "curve" and "two sets of weights" in said(page)
    assert "both roots common" in said(page)
    assert abs(place(page)["where"] - 0.928571) < 0.02


@pytest.mark.long
def test_a_root_is_dragged_round_the_circle_and_the_point_follows(scene):
    page = scene()
    start, (x, y) = place(page), middle(page, ROOT_HANDLE)
    before = middle(page, POINT)
    dragged(page, ROOT_HANDLE, x + 25, y - 10)
    assert (
        place(page)["along"] == start["along"]
        and abs(place(page)["where"] - start["where"]) > 0.02
    )
    assert middle(page, POINT) != before


@pytest.mark.long
def test_the_keyboard_takes_the_point_to_the_yellow_line_and_back_and_turns_the_surface(
    scene,
):
    page = scene()
    page.locator(POINT).focus()
    page.keyboard.press("Shift+ArrowDown")
    # down its line the point meets the yellow one, exactly
    while "two sets of weights" not in said(page):
        assert place(page)["along"] > -1
        page.keyboard.press("ArrowDown")
        settle(page)
    at = middle(page, POINT)
    for moves in ("curve", "surface"):
        page.keyboard.press("Enter")
        assert (
            place(page)["moves"] == moves
            and np.hypot(*np.subtract(middle(page, POINT), at)) < 3
        )
    page.locator("canvas").focus()
    settle(page)
    at_first = middle(page, POINT)
    for key in ("ArrowLeft", "+"):
        seen = middle(page, POINT)
        page.keyboard.press(key)
        settle(page)
        assert middle(page, POINT) != seen, key
    page.keyboard.press("Home")
    settle(page)
    assert middle(page, POINT) == at_first


@pytest.mark.long
def test_play_walks_through_the_pinch_point(scene):
    page = scene("moves=curve;where=0.8")
    page.locator(".nv-play").click()
    page.wait_for_function("box.textContent.includes('no real weights')")
    seen = place(page)
    page.locator(".nv-play").click()
    assert seen["moves"] == "curve" and seen["where"] < 0.78
    stopped = place(page)
    page.wait_for_timeout(1000)
    assert place(page) == stopped


@pytest.mark.long
@pytest.mark.parametrize(
    "state", ["", "where=0.3;along=0.6", "preset=crossing;where=0.7;along=-0.4"]
)
def test_enter_takes_the_point_to_the_nearest_place_of_the_curve_and_back(scene, state):
    page = scene(state)
    page.locator(POINT).focus()
    start = place(page)
    page.keyboard.press("Enter")
    landed = place(page)
    assert landed["moves"] == "curve"
    panel = SurfaceExplorer(state=state)
    chart = chart_of(panel._read().slice)
    panel.close()

    def drawn(on_curve, where, along=0.0):
        return in_drawing(chart.slice, point_at(chart, on_curve, where, along).at)

    begin = drawn(False, start["where"], start["along"])
    away = [
        np.linalg.norm(drawn(True, where) - begin) for where in np.linspace(0, 1, 401)
    ]
    assert np.linalg.norm(drawn(True, landed["where"]) - begin) < min(away) + 0.02
    page.keyboard.press("Enter")
    back = place(page)
    assert back.pop("moves") == start.pop(
        "moves"
    ) == "surface" and back == pytest.approx(start, abs=1e-6)


@pytest.mark.long
def test_a_second_finger_moves_nothing(scene):
    page = scene()
    touch = page.context.new_cdp_session(page)
    box = page.locator("canvas").bounding_box()
    first = {"x": box["x"] + 60, "y": box["y"] + 60, "id": 1}
    second = {"x": first["x"] + 250, "y": first["y"] + 90, "id": 2}

    def fingers(kind, *points):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [*points]})
        settle(page)
        return middle(page, POINT)

    begin = fingers("touchStart", first)
    first["x"] += 30
    turned = fingers("touchMove", first)
    assert np.hypot(*np.subtract(turned, begin)) > 3
    for kind in ("touchStart", "touchMove"):
        assert fingers(kind, first, second) == turned, kind
        second["y"] += 20
    first["x"] += 30
    # the finger that began still holds it
    assert fingers("touchMove", first, second) != turned
    fingers("touchEnd")


@pytest.mark.long
def test_of_eighteen_surfaces_each_is_there_when_it_comes_into_sight(scene):
    """A browser gives a page sixteen contexts, and takes the oldest away without a
    word."""
    page = scene()
    panel = SurfaceExplorer()
    page.evaluate(
        """([drawn, count]) => {
            for (let n = 0; n < count; n++) {
                const one = document.createElement("div");
                one.className = "one-of-many";
                document.body.append(one);
                neurovizScenes.react(one, drawn, 900);
            }
        }""",
        [panel.figure.drawn, 18],
    )
    panel.close()
    seen = page.locator(".one-of-many canvas")
    settle(page)
    for n in (0, 17, 9, 1, 0):
        seen.nth(n).scroll_into_view_if_needed()
        page.wait_for_function(
            """async (n) => {
                const canvas = document.querySelectorAll(".one-of-many canvas")[n];
                const pen = document.createElement("canvas").getContext("2d");
                const shown = Object.assign(new Image(), {src: canvas.still()});
                await shown.decode();
                pen.drawImage(shown, 0, 0, 300, 150);
                const {data} = pen.getImageData(0, 0, 300, 150);
                const colours = new Set(new Uint32Array(data.buffer));
                const isLost = canvas.getContext("webgl2").isContextLost();
                return !isLost && colours.size > 100;
            }""",
            arg=n,
            timeout=20_000,
        )
    # Those that sleep have a picture: what is printed shows all.
    bare = (
        "one.getContext('webgl2').isContextLost() &&"
        " !one.style.background.includes('url(')"
    )
    all_of_them = "[...document.querySelectorAll('.one-of-many canvas')]"
    assert page.evaluate(f"{all_of_them}.filter((one) => {bare}).length") == 0


RECTANGLE = (
    "node => (({left, right, top, bottom}) => [left, right, top,"
    " bottom])(node.getBoundingClientRect())"
)


def overlap(one, other):
    """Whether two rectangles of the page, left, right, top, bottom, have a whole pixel
    in common."""
    wide, high = (min(one[i + 1], other[i + 1]) - max(one[i], other[i]) for i in (0, 2))
    return wide >= 1 and high >= 1


@pytest.mark.parametrize("width", [950, 1100])
def test_in_a_lecture_the_words_of_a_fibre_of_rank_one_leave_each_other_room(
    scene, look, width
):
    look("light", "lecture")
    page = scene("preset=rank-one;swap=yes", kind=FiberExplorer)
    redraw(page, FiberExplorer(state="preset=rank-one;swap=yes"), width)
    settle(page)
    button = page.locator("button", has_text="another input X").evaluate(RECTANGLE)
    hint = page.locator(".nv-hint").evaluate(RECTANGLE)
    assert "drag the point" in said(page) and not overlap(hint, button)
    shadow = page.locator("text", has_text="shadow").filter(has_not_text="branch")
    rectangles = shadow.evaluate_all(f"all => all.map({RECTANGLE})")
    branch = (
        "[...box.querySelectorAll('div, text')].filter(one => /^its other"
        " branch/.test(one.textContent))"
    )
    words = page.evaluate(f"{branch}.map({RECTANGLE})")
    assert words and rectangles
    assert not [
        pair
        for pair in [(a, b) for a in rectangles for b in words if a != b]
        if overlap(*pair)
    ]


@pytest.mark.long
def test_a_slice_that_changes_is_drawn_anew(scene):
    page = scene("preset=crossing")
    seen = page.locator("canvas").screenshot()
    redraw(page, SurfaceExplorer(state="preset=tangent"))
    page.wait_for_function("box.textContent.includes('α = 2:')")
    settle(page)
    assert page.locator("canvas").screenshot() != seen
    assert page.locator(POINT).count() == 1


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
@pytest.mark.parametrize(("kind", "state", "jump", "end"), MOVING)
def test_a_change_is_followed_and_play_takes_few_steps_where_motion_is_reduced(
    scene, bare_page, motion, kind, state, jump, end
):
    bare_page.clock.install()
    page = scene(state, motion, kind)
    page.clock.run_for(1000)  # what falls at first
    before = place(page)
    for to in (jump, before):
        ask(page, "changes")
        page.evaluate("to => box.talk.set(to)", to)
        page.clock.run_for(500)
        pictures = ask(page, "changes")
        assert pictures == 1 if motion == "reduce" else pictures > 5
    page.locator(".nv-play").first.click()
    page.clock.run_for(25_000)
    assert place(page) == before | end
    assert page.locator(".nv-play").first.inner_text() == "▶"
    pictures = ask(page, "changes")
    assert 1 < pictures <= 15 if motion == "reduce" else pictures > 15


@pytest.mark.parametrize(("kind", "state"), [one[:2] for one in MOVING])
def test_tab_reaches_everything_in_a_scene_arrows_move_it_and_the_focus_is_seen(
    scene, kind, state
):
    page = scene(state, kind=kind)
    wanted = ask(page, "hands")
    reached = []
    assert len(wanted) > 2 and wanted[-1] == "save the picture as a PNG"
    for _ in wanted:
        page.keyboard.press("Tab")
        page.wait_for_function("helper.focused()?.[1]")
        name, _, role = ask(page, "focused")
        reached.append(name)
        if role in ("slider", "spinbutton"):
            before = place(page)
            heard = ask(page, "valued")
            least, value, most = map(float, heard[:3])
            assert least <= value <= most and least < most and heard[3], name
            moved = [
                page.keyboard.press(key) or place(page) != before
                for key in ("ArrowDown", "ArrowUp")
            ]
            assert any(moved), name
    assert reached == wanted


@pytest.mark.parametrize(("kind", "state"), [one[:2] for one in MOVING])
def test_home_and_end_lead_to_the_ends_and_leave_the_page_where_it_is(
    scene, kind, state
):
    page = scene(state, "reduce", kind)
    page.evaluate("document.body.style.height = '5000px'")
    opened = place(page)
    rings = page.query_selector_all(".nv-handle[role=slider]")
    seen = [ring for ring in rings if ring.is_visible()]
    assert seen
    for ring in seen:
        # What has gone to an end may hide another one.
        page.evaluate("to => box.talk.set(to)", opened)
        settle(page)
        ring.focus()
        top = page.evaluate("scrollY")
        for key, end in (("End", "max"), ("Home", "min")):
            page.keyboard.press(key)
            is_there = (
                "ring => ring.getAttribute('aria-valuenow')"
                f" === ring.getAttribute('aria-value{end}')"
            )
            page.wait_for_function(is_there, arg=ring, timeout=10_000)
        assert page.evaluate("scrollY") == top


# Parts of a scene of which Tab reaches one before another that stands above it, or
# to the left of it.
AGAINST_THE_SCREEN = """() => {
  const hands = [...box.querySelectorAll("[tabindex='0'], button:not(:disabled)")]
    .filter((one) => one.checkVisibility());
  const all = hands.map((one) => one.closest(".nv-view, .nv-footer"));
  const parts = [...new Set(all)].filter(Boolean);
  return parts.slice(1).flatMap((part, n) => {
    const [before, after] = [parts[n], part].map((one) => one.getBoundingClientRect());
    const isAbove = after.bottom <= before.top + 1;
    const isBeside = after.top < before.bottom - 1 && before.top < after.bottom - 1;
    const isLeft = isBeside && after.right <= before.left + 1;
    return isAbove || isLeft ? [[parts[n].className, part.className]] : [];
  });
}"""


@pytest.mark.parametrize("kind", sorted({one[0] for one in MOVING}, key=str))
def test_tab_goes_through_the_parts_of_a_scene_as_they_stand_on_the_screen(scene, kind):
    page = scene("", kind=kind)
    for width in (1100, 390, 1100):
        redraw(page, kind(), width)
        settle(page)
        assert page.evaluate(AGAINST_THE_SCREEN) == [], width


def test_a_scene_without_webgl_has_all_but_the_picture_in_space(scene, bare_page):
    """As where the browser refuses: the canvas gives no WebGL."""
    bare_page.add_init_script(
        "const get = HTMLCanvasElement.prototype.getContext;"
        " HTMLCanvasElement.prototype.getContext = function (kind, ...more) { return"
        " kind === 'webgl2' ? null : get.call(this, kind, ...more); };"
    )
    bare_page.goto("about:blank")
    page = scene()
    assert "this browser has no WebGL" in said(page) and "one set of weights" in said(
        page
    )
    x, y = middle(page, ROOT_HANDLE)
    before = place(page)
    dragged(page, ROOT_HANDLE, x + 25, y - 10)
    assert place(page) != before


CANVAS = "box.querySelector('canvas')"


@pytest.mark.long
def test_what_the_graphics_card_lost_comes_back_and_all_that_is_seen_is_saved(
    scene,
):
    page = scene()
    seen = page.evaluate(f"{CANVAS}.still()")
    # Before the page has heard of the loss, a browser gives nothing back.
    page.evaluate(
        "() => new Promise((heard) => {"
        f"  const canvas = {CANVAS};"
        "  canvas.addEventListener('webglcontextlost', () => setTimeout(heard));"
        "  lost = canvas.getContext('webgl2').getExtension('WEBGL_lose_context');"
        "  lost.loseContext();"
        "})"
    )
    assert page.evaluate(f"{CANVAS}.still()") != seen
    page.evaluate("lost.restoreContext()")
    page.wait_for_function(f"seen => {CANVAS}.still() === seen", arg=seen)
    with page.expect_download() as saved:
        page.get_by_role("button", name="save the picture").click()
    assert saved.value.suggested_filename == "neuroviz-surface.png"
    picture = base64.b64encode(saved.value.path().read_bytes()).decode()
    colors = ask(page, "picture", picture)
    # the surface, and the roots beside it
    assert colors[0] == 2200 and min(colors[1:]) > 20


TURN = named("turn the window round")


@pytest.mark.long
def test_a_factor_is_picked_and_its_window_dragged_over_and_back(scene):
    page = scene("layers=3;place=9", kind=UnrollingExplorer)
    factors = page.get_by_role("slider", name="place k")
    box = page.evaluate("box.getBoundingClientRect().x")
    y = factors.locator("rect").bounding_box()["y"] + 10
    page.mouse.click(box + 506, y)  # M₂ᵀ, the sixth
    page.wait_for_function("box.textContent.includes('M₂ᵀ at place 6 joins')")
    assert asked(page, "place", "reflect") == [6, False] and "only Python says" in said(
        page
    )
    factors.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("box.textContent.includes('at place 7 joins')")
    x, y = middle(page, TURN)
    dragged(page, TURN, x, y + 40)
    # not far enough: it goes home
    page.wait_for_function("!box.textContent.includes('sum')")
    dragged(page, TURN, x, y + 150)
    page.wait_for_function("box.textContent.includes('sum')")
    assert asked(page, "place", "reflect") == [7, True]
    page.locator(TURN).focus()
    page.keyboard.press("ArrowUp")
    page.wait_for_function("!box.textContent.includes('sum')")
    assert asked(page, "reflect") == [False]


# The fibre

PAIR = ".nv-handle[aria-label='the point (A, V)']"


def bars(page) -> list[float]:
    """How high the bars of φ(X) are now, in pixels."""
    return ask(page, "heights", theme.color("focus"))


def middle_at(page, selector, controls):
    """Where a handle is for these controls, which are then put back."""
    before = place(page)
    page.evaluate("to => box.talk.set(to)", controls)
    settle(page)
    seen = middle(page, selector)
    page.evaluate("to => box.talk.set(to)", before)
    settle(page)
    return seen


@pytest.mark.long
@pytest.mark.parametrize(
    ("state", "goal"),
    [
        ("", {"along": -0.5}),
        ("", {"along": 0.3, "negative": True}),
        ("preset=rank-one;along=0.5", {"swap": True}),
        ("preset=rank-one;along=0.5;swap=yes", {"swap": False}),
        ("preset=zero;along=0", {"along": 1.3}),
        ("kind=softmax;tokens=1;walk=a-alone", {"along": 1.2}),
    ],
)
def test_the_point_is_dragged_along_its_fibre_and_the_bars_stand_still(
    scene, state, goal
):
    page = scene(state, kind=FiberExplorer)
    before, still = place(page), bars(page)
    x, y = middle_at(page, PAIR, goal)
    dragged(page, PAIR, x + 2, y - 2)
    here = place(page)
    assert here["off"] == 0 and here["along"] == pytest.approx(
        goal.get("along", before["along"]), abs=0.1
    )
    assert {**here, "along": 0} == {**before, **goal, "along": 0}
    assert np.hypot(*np.subtract(middle(page, PAIR), (x, y))) < 6
    assert bars(page) == pytest.approx(still, abs=0.01)
    assert page.locator("text", has_text="shadow").last.is_visible() == here["swap"]


def test_off_the_fibre_the_point_goes_with_the_pointer_and_the_bars_move(scene):
    page = scene(kind=FiberExplorer)
    before, still, (x, y) = place(page), bars(page), middle(page, PAIR)
    dragged(page, PAIR, x + 10, y - 25)
    assert middle(page, PAIR) == pytest.approx((x + 10, y - 25), abs=2)
    assert (
        place(page)["off"] > 0.3 and np.abs(np.subtract(bars(page), still)).max() > 10
    )
    assert "nv-ahead" in page.locator(".nv").get_attribute(
        "class"
    ) and "only Python says" in said(page)
    dragged(page, PAIR, x, y)
    here = place(page)  # a mouse has whole pixels
    assert here == before | {"along": pytest.approx(before["along"], abs=0.02)}
    assert bars(page) == pytest.approx(still, abs=0.01)


def test_a_bar_that_is_longer_than_the_axis_says_its_number(scene):
    page = scene("walk=a-alone;along=1.4", kind=FiberExplorer)
    settle(page)
    panel = FiberExplorer(state="walk=a-alone;along=1.4")
    outputs = outputs_now(panel._shown).T.ravel()
    reach = panel.facts["outputs"]["reach"]
    panel.close()
    seen = [
        words.strip("◀▶ ") for words in page.locator(".now text").all_text_contents()
    ]
    assert [words for words in seen if words] == [
        f"{y:.2f}".replace("-", "−") for y in outputs if abs(y) > reach
    ]
    assert len(seen) > 1


def test_the_point_on_the_other_branch_is_hollow(scene):
    for swap, filled in (("no", 1), ("yes", 0)):
        page = scene(f"preset=rank-one;along=0.5;swap={swap}", kind=FiberExplorer)
        assert page.locator(".nv-view-plane .mark.role-focus.filled").count() == filled


@pytest.mark.long
def test_the_keyboard_walks_steps_off_takes_another_input_and_goes_over_to_the_swap(
    scene,
):
    page = scene(kind=FiberExplorer)
    page.locator(PAIR).focus()
    for key, name, way in (("ArrowRight", "along", 1), ("Shift+ArrowDown", "off", -1)):
        before = place(page)[name]
        page.keyboard.press(key)
        assert way * (place(page)[name] - before) > 0.005
    settle(page)
    before = bars(page)
    page.keyboard.press("Enter")
    assert place(page)["negative"]
    page.get_by_role("button", name="another input X").focus()
    page.keyboard.press("Enter")
    settle(page)
    assert place(page)["input"] == 2 and bars(page) != before
    page = scene("preset=rank-one;along=0.5", kind=FiberExplorer)
    still = bars(page)
    seen = {middle(page, PAIR)}
    page.locator(PAIR).focus()
    # all arms of both
    for swap, negative in ((False, True), (True, False), (True, True), (False, False)):
        page.keyboard.press("Enter")
        settle(page)
        assert (
            place(page).items()
            >= {
                "swap": swap,
                "negative": negative,
                "along": 0.5,
            }.items()
        )
        assert bars(page) == pytest.approx(still, abs=0.01)
        seen.add(middle(page, PAIR))
    assert len(seen) == 4


# Charts that plotly draws


def test_a_tooltip_says_the_numbers_of_its_point(bare_page):
    figure = json.loads(json.dumps(FormulaExplorer().figure.drawn))
    said = {
        words.replace("<br>", "")
        for one in figure["data"]
        for words in one.get("customdata", ())
    }
    bare_page.set_content("<div id='box'></div>")
    load(bare_page, "plotly")
    bare_page.evaluate(
        "figure => code.default.react(box, figure.data, {...figure.layout, width:"
        " 1000})",
        figure,
    )
    bare_page.locator(".textpoint").first.hover(force=True, timeout=20_000)
    bare_page.wait_for_selector(".hovertext", timeout=1000 * PATIENCE)
    assert bare_page.locator(".hovertext").text_content() in said
