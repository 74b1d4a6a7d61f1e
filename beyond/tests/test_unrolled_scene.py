"""The unrolled network in a browser, without a kernel: held by mouse, finger and
keyboard."""

import node as program
import pytest
from scenes import (
    ask,
    asked,
    dragged,
    middle,
    named,
    pause,
    place,
    redraw,
    said,
    settle,
    touch,
)

from neuroviz.attention.unrolling import unroll
from neuroviz.kit import theme
from neuroviz_beyond.unrolling.panel import UnrollingExplorer

pytestmark = pytest.mark.browser

TURN = named("turn the window round")
FACTORS = "[role=slider][aria-label='place k']"
TERM = ".nv-view-term"
# What stands in a row of the term, from left to right: words whose middles are as high.
ROWS = """() => {
  const rows = {};
  for (const one of box.querySelectorAll(".nv-view-term text")) {
    const {left, width, top, height} = one.getBoundingClientRect();
    const row = Math.round((top + height / 2) / 6);
    (rows[row] ??= []).push([left + width / 2, one.textContent]);
  }
  return Object.values(rows).map((row) =>
    row.sort((one, other) => one[0] - other[0]).map(([, words]) => words));
}"""
LAYER_NAMES = """[...box.querySelectorAll(".nv-view-tree text")]
  .map((one) => one.textContent)
  .filter((words) => words.startsWith("layer"))"""
# Lines and nodes of the tree under the name of a layer.
UNDER_NAMES = """() => {
  const found = [];
  const names = [...box.querySelectorAll(".nv-view-tree text")]
    .filter((one) => one.textContent.startsWith("layer"));
  for (const name of names) {
    const {x, y, width, height} = name.getBBox();
    const at = name.transform.baseVal[0].matrix;
    for (const path of box.querySelectorAll(".nv-view-tree path")) {
      const [, ...lines] = path.getAttribute("d").split("M");
      for (const line of lines) {
        const [a, b, c, d] = line.split(/[,L]/).map(Number);
        for (let share = 0; share <= 1; share += 0.01) {
          const [left, top] = [a + share * (c - a), b + share * (d - b)];
          const isIn = left > at.e + x && left < at.e + x + width
            && top > at.f + y && top < at.f + y + height;
          if (isIn && !found.includes(name.textContent)) found.push(name.textContent);
        }
      }
    }
  }
  return found;
}"""


def row(page, *words: str) -> list[list[str]]:
    """The rows of the term that hold one of these words, without their names."""
    found = [one for one in page.evaluate(ROWS) if set(one) & set(words)]
    return [[word for word in one if word not in ("tokens", "turned")] for one in found]


def centre(page, selector: str) -> tuple[float, float]:
    box = page.locator(selector).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def bars(page) -> list[dict]:
    """The frames of the factors, from left to right."""
    found = [one.bounding_box() for one in page.locator(f"{TERM} .frame").all()]
    return sorted(found, key=lambda box: box["x"])


# Held


@pytest.mark.long
def test_a_drag_along_the_factors_picks_the_one_under_the_pointer(scene):
    page = scene("layers=3;place=1", kind=UnrollingExplorer)
    frames = bars(page)
    y = frames[0]["y"] + frames[0]["height"] / 2
    page.mouse.move(frames[1]["x"] + frames[1]["width"] / 2, y)
    page.mouse.down()
    seen = [asked(page, "place")[0]]
    for frame in frames[2:6]:
        page.mouse.move(frame["x"] + frame["width"] / 2, y, steps=4)
        seen += asked(page, "place")
    page.mouse.move(frames[-1]["x"] + 500, y)
    seen += asked(page, "place")
    page.mouse.up()
    assert seen == [2, 3, 4, 5, 6, len(frames)]
    page.wait_for_function(f"box.textContent.includes('at place {len(frames)} joins')")


def test_a_click_on_a_node_picks_the_factor_of_its_layer(scene):
    page = scene("layers=2;place=1", kind=UnrollingExplorer)
    found = {}
    for node in page.locator(".nv-view-tree .node").all():
        box = node.bounding_box()
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        at = asked(page, "place")[0]
        page.wait_for_function(f"box.textContent.includes('at place {at} joins')")
        ring = centre(page, ".nv-view-tree .ring")
        assert ring == pytest.approx(centre_of(box), abs=1)
        found[at] = "layer-2" in node.get_attribute("class")
    layers = [layer for layer, _ in unroll(2)]
    assert found == {k: layer == 2 for k, layer in enumerate(layers, start=1)}


def centre_of(box: dict) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.mark.long
def test_the_ring_turns_the_window_round_and_a_short_drag_goes_home(scene):
    page = scene("layers=2;place=3", kind=UnrollingExplorer)
    (before,) = row(page, "x₃")
    x, y = middle(page, TURN)
    dragged(page, TURN, x, y + 20)
    settle(page)
    assert asked(page, "reflect") == [False] and "sum" not in said(page)
    assert middle(page, TURN) == pytest.approx((x, y), abs=1)
    dragged(page, TURN, x, y + 400)
    settle(page)
    assert asked(page, "place", "reflect") == [3, True]
    tokens, turned = row(page, "x₃")
    assert tokens == before
    # The window holds the last four tokens.
    assert turned == before[:1] + before[:0:-1] != before
    assert "M₂ ⇄ M₂ᵀ" in said(page) and "sum" in said(page)
    assert middle(page, TURN)[1] > y + 100


def test_the_sum_is_that_of_both_terms(scene):
    panel = UnrollingExplorer(state="layers=2;place=3;reflect=yes")
    study = panel._shown
    panel.close()
    page = scene("layers=2;place=3;reflect=yes", kind=UnrollingExplorer)
    settle(page)
    words = [words for one in page.evaluate(ROWS) for words in one]
    said = [float(one[2:].replace("−", "-")) for one in words if one.startswith("= ")]
    (total,) = (one.split()[1] for one in words if one.startswith("sum "))
    values = [study.value, study.reflection.value]
    assert said == pytest.approx(values, rel=5e-3)
    assert float(total.replace("−", "-")) == pytest.approx(sum(values), rel=5e-3)


def test_the_keyboard_alone_picks_factors_and_turns_the_window(scene):
    page = scene("layers=3;place=9", kind=UnrollingExplorer)
    page.locator(FACTORS).focus()
    steps = (
        ("ArrowRight", 10),
        ("ArrowUp", 11),
        ("ArrowLeft", 10),
        ("ArrowDown", 9),
        ("Shift+ArrowLeft", 1),
        ("ArrowLeft", 1),
        ("Shift+ArrowRight", 11),
        ("Shift+ArrowRight", 13),
    )
    for key, at in steps:
        page.keyboard.press(key)
        assert asked(page, "place") == [at], key
    page.wait_for_function("box.textContent.includes('at place 13 joins')")
    _, now, most, words = ask(page, "valued")
    assert (now, most) == ("13", "13")
    assert words.startswith("place 13: ") and "M₁" in words
    page.locator(TURN).focus()
    for key, is_turned in (
        ("ArrowDown", True),
        ("ArrowDown", True),
        ("ArrowUp", False),
        ("ArrowRight", True),
        ("ArrowLeft", False),
    ):
        page.keyboard.press(key)
        assert asked(page, "reflect") == [is_turned], key
    page.keyboard.press("ArrowDown")
    settle(page)
    assert ask(page, "valued")[1:] == ["1", "1", "turned round"]


def test_where_only_y_and_x_are_left_nothing_is_picked_or_turned(scene):
    page = scene("layers=2;place=3", kind=UnrollingExplorer)
    redraw(page, UnrollingExplorer(state="layers=2;place=3;two_tokens=yes"))
    settle(page)
    assert not page.locator(TURN).is_visible()
    factors = page.locator(FACTORS)
    assert factors.get_attribute("aria-disabled") == "true"
    factors.focus()
    page.keyboard.press("ArrowLeft")
    first = bars(page)[0]
    page.mouse.click(first["x"] + 10, first["y"] + 10)
    assert asked(page, "place") == [3]
    (tokens,) = row(page, "x")
    assert [one for one in tokens if one in "xy"] == ["y", "y", "y", "y", "x"]


@pytest.mark.long
def test_a_finger_turns_the_window_and_picks_a_factor_on_a_phone(phone):
    page = phone(lambda: UnrollingExplorer(state="layers=2;place=3"), 390, 844)
    values = "['place', 'reflect'].map(neurovizScenes.talkOf(box).get)"
    page.locator(TURN).scroll_into_view_if_needed()
    page.evaluate("window.scrollBy(0, 300)")
    touch(page, centre(page, f"{TURN} .ring"), (0, 200))
    settle(page)
    assert page.evaluate(values) == [3, True]
    frames = bars(page)
    upper = min(frames, key=lambda box: (round(box["y"]), box["x"]))
    right = max(box["x"] for box in frames)
    touch(page, centre_of(upper), (right - upper["x"], 0))
    settle(page)
    assert page.evaluate(values) == [4, True]
    assert page.evaluate("cancelled") == []


# Seen


@pytest.mark.long
@pytest.mark.parametrize(
    "size", ["notebook", pytest.param("lecture", marks=pytest.mark.full)]
)
def test_the_names_of_layers_lie_not_on_the_tree(scene, size):
    with theme.using({"size": size}):
        page = scene("layers=1", kind=UnrollingExplorer)
        for layers in (1, 2, 3, 4):
            middle_place = (3**layers + 1) // 4
            for more in ("reflect=no", "reflect=yes", "two_tokens=yes"):
                state = f"layers={layers};place={middle_place};tokens=4;{more}"
                for width in (1085, 820, 390):
                    redraw(page, UnrollingExplorer(state=state), width)
                    settle(page)
                    assert page.evaluate(UNDER_NAMES) == [], (state, width)


@pytest.mark.long
def test_names_for_which_there_is_no_room_are_left_out(scene):
    page = scene("layers=2", kind=UnrollingExplorer)

    def seen(layers: int, width: int) -> tuple[int, int, list[str]]:
        """How many factors have names, how many tokens, and which layers."""
        redraw(page, UnrollingExplorer(state=f"layers={layers}"), width)
        settle(page)
        words = page.locator(f"{TERM} text").all_text_contents()
        names = [one for one in words if one.startswith("M")]
        tokens = [one for one in words if one.strip("x₁₂₃₄") == ""]
        numbers = [one for one in words if one in "1234"]
        return len(names), len(tokens) or len(numbers), page.evaluate(LAYER_NAMES)

    assert seen(2, 1085) == (4, 5, ["layer 1", "layer 2"])
    assert seen(3, 1085) == (13, 14, ["layer 1", "layer 2", "layer 3"])
    # Of factors the colour is left, of tokens the number.
    names, tokens, layers = seen(4, 1085)
    assert (names, tokens) == (0, 41) and len(layers) == 4
    # On a phone the tree leaves the lowest name no room, and tokens are dots.
    assert seen(2, 390) == (4, 5, ["layer 1", "layer 2"])
    names, tokens, layers = seen(4, 390)
    assert (names, tokens) == (0, 0)
    assert "layer 1" not in layers and "layer 4" in layers


@pytest.mark.parametrize("width", [1085, 390])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_the_wash_lies_behind_the_key_of_the_tree_and_its_tokens(scene, layers, width):
    page = scene(f"layers={layers}", kind=UnrollingExplorer)
    redraw(page, UnrollingExplorer(state=f"layers={layers}"), width)
    settle(page)
    wash = page.locator(".nv-view-tree .wash").bounding_box()
    end = wash["x"] + wash["width"]
    leaves = page.locator(".nv-view-tree .role-ink circle").all()
    inside = [wash["x"] < centre_of(one.bounding_box())[0] < end for one in leaves]
    third = 3 ** (layers - 1)
    assert inside == [False] * third + [True] * third + [False] * third
    # It goes down behind the factors, and ends below them.
    frame = bars(page)[0]
    bottom = frame["y"] + frame["height"]
    assert wash["y"] + wash["height"] == pytest.approx(bottom + 3, abs=2)
    # Its right edge is the middle of M_l, its left one the token before the key.
    last = page.locator(f"{TERM} .frame").nth(third - 1).bounding_box()
    assert end == pytest.approx(centre_of(last)[0], abs=1)


@pytest.mark.long
def test_what_only_python_says_is_hidden_until_it_has_answered(scene):
    page = scene("layers=2;place=3", kind=UnrollingExplorer)

    def seen() -> list[bool]:
        settle(page)
        return [one.is_visible() for one in page.locator("h4").all()]

    assert seen() == [True, True] and "only Python says" not in said(page)
    page.locator(FACTORS).focus()
    page.keyboard.press("ArrowLeft")
    # The headline of the tree says how large the network is, whatever the place.
    assert seen() == [True, False] and "only Python says" in said(page)
    page.keyboard.press("ArrowRight")
    assert seen() == [True, True]
    page.keyboard.press("ArrowLeft")
    redraw(page, UnrollingExplorer(state="layers=2;place=2"))
    assert seen() == [True, True] and place(page)["place"] == 2


# ▶

STORY = """
import { momentsOf, storyAt } from "beyond/unrolled_story";
say(given.map((layers: number) => ({
  moments: momentsOf(layers).map((share) => ({share, ...storyAt(layers, share)})),
  places: Array.from({length: 1001}, (_, n) => storyAt(layers, n / 1000)),
})));
"""


def test_the_story_stops_at_each_kind_of_factor_and_round_the_window():
    told = program.ask(STORY, [1, 2, 3, 4])
    for layers, story in enumerate(told, start=1):
        *firsts, before, after = story["moments"]
        last = 3 ** (layers - 1)
        kinds = unroll(layers)[:last]
        wanted = [k for k, kind in enumerate(kinds, 1) if kinds.index(kind) == k - 1]
        assert [one["place"] for one in firsts] == wanted
        assert [(one["place"], one["turn"]) for one in (before, after)] == [
            (last, 0),
            (last, 1),
        ]
        shares = [one["share"] for one in story["moments"]]
        assert shares == sorted(set(shares)) and 0 < shares[0] and shares[-1] < 1
        places = [one["place"] for one in story["places"]]
        assert set(places) == set(range(1, last + 1)) and places == sorted(places)
        assert story["places"][-1] == {"place": last, "turn": 1}


@pytest.mark.long
def test_play_goes_along_the_factors_and_turns_the_window_round(scene, bare_page):
    bare_page.clock.install()
    page = scene("layers=2;place=3;reflect=yes", kind=UnrollingExplorer)
    pause(page)
    page.clock.run_for(600)
    page.locator(".nv-play").click()
    stops, told = [], []
    for _ in range(230):
        page.clock.run_for(100)
        stops.append((place(page)["place"], middle(page, TURN)[1]))
        words = page.locator(".nv-joins").text_content()
        told += [words] * (words not in told)
    held = [at for at in dict.fromkeys(stops) if stops.count(at) >= 10]
    assert [at for at, _ in held] == [1, 2, 3, 3]
    assert held[-1][1] > held[-2][1] + 100  # the ring has gone down
    assert [words.partition(" joins")[0] for words in told] == [
        "M₁ at place 1",
        "M₁ᵀ at place 2",
        "M₂ at place 3",
        "turned round, M₂ at place 3",
    ]
    assert asked(page, "place", "reflect") == [3, True]
    assert "M₂ ⇄ M₂ᵀ" in said(page) and "sum" in said(page)
    assert page.locator(".nv-play").inner_text() == "▶"


@pytest.mark.long
def test_who_takes_hold_of_the_term_ends_the_story(scene, bare_page):
    bare_page.clock.install()
    page = scene("layers=2;place=3", kind=UnrollingExplorer)
    pause(page)
    page.clock.run_for(600)
    home = middle(page, TURN)
    page.locator(".nv-play").click()
    page.clock.run_for(14_500)  # the window is turning
    assert middle(page, TURN)[1] > home[1] + 20
    page.locator(FACTORS).focus()
    page.keyboard.press("ArrowLeft")
    page.clock.run_for(600)
    assert place(page) == {"place": 2, "reflect": False}
    assert middle(page, TURN)[1] == pytest.approx(home[1], abs=1)
    assert page.locator(".nv-play").inner_text() == "▶"


def test_a_term_of_two_tokens_is_not_turned_whatever_is_pressed(scene):
    page = scene(kind=UnrollingExplorer)
    redraw(page, UnrollingExplorer(state="reflect=yes;two_tokens=yes;layers=2"))
    settle(page)
    drawn = "box.querySelector('.nv-view-term .nv-box').innerHTML"
    before = page.evaluate(drawn)
    page.locator(FACTORS).focus()
    page.keyboard.press("ArrowRight")
    settle(page)
    assert page.evaluate(drawn) == before


def test_of_two_tokens_there_is_nothing_to_play(scene):
    page = scene(kind=UnrollingExplorer)
    assert page.locator(".nv-play").is_visible()
    redraw(page, UnrollingExplorer(state="two_tokens=yes"))
    settle(page)
    assert not page.locator(".nv-play").is_visible()
