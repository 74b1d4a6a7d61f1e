"""The front page: its weights move, its output stands still, and it gives nothing
away."""

import re

import numpy as np
import pytest
from node import WEB, ask, check_types, need_node
from scenes import painted, touch

import neuroviz as nv
from neuroviz.kit import theme
from tools.book import front, site
from tools.notebooks import name_of, sources

EVERY = [name_of(path) for path in sources()]

# What is true of the picture


def output_of(layers: list[dict], X: list) -> np.ndarray:
    """Another way to compute it than that of the picture."""
    tokens = np.array(X)
    for Q, K, V in ([np.array(one[name]) for name in "QKV"] for one in layers):
        tokens = V @ tokens @ (tokens.T @ K.T @ Q @ tokens)
    return tokens


def flat(layers: list[dict]) -> np.ndarray:
    return np.concatenate([np.ravel(one[name]) for one in layers for name in "QKV"])


def test_the_facts_are_those_of_a_network():
    facts = front.facts()
    found = output_of(facts["layers"], facts["input"])
    np.testing.assert_allclose(found, facts["output"], atol=1e-12)
    check_types("FrontFacts", "front/weights", [facts])
    assert facts["parameters"] == len(flat(facts["layers"]))
    # Colours and bars of both signs, none of them hidden by a larger one.
    assert np.abs(found).max() < 2 * np.sqrt(np.mean(found**2))
    assert 0.3 < np.mean(found > 0) < 0.7


IN_THE_PAGE = """
import { entriesOf, placeAt, weightsAt, withEntry } from "front/weights";
const { layers } = given.facts;
const entries = entriesOf(layers);
say({
  moved: given.points.map((at: [number, number]) => weightsAt(layers, at)),
  alone: entries.map((entry) => withEntry(layers, entry, 0.5)),
  round: given.times.map(placeAt),
});
"""


def test_all_weights_move_and_the_output_stands_still_anywhere_in_the_disc():
    """A single weight moves it."""
    facts = front.facts()
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, 2 * np.pi, 20)
    points = np.sqrt(rng.uniform(0, 1, 20)) * np.array([np.cos(angles), np.sin(angles)])
    times = np.arange(0, 14, 0.25).tolist()
    given = {"facts": facts, "points": points.T.tolist(), "times": times}
    said = ask(IN_THE_PAGE, given)
    before = flat(facts["layers"])
    changes = []
    for layers in said["moved"]:
        found = output_of(layers, facts["input"])
        np.testing.assert_allclose(found, facts["output"], atol=1e-12)
        changes.append(np.abs(flat(layers) - before))
    assert np.max(changes, axis=0).min() > 0.05  # of the weight that moves least
    for n, layers in enumerate(said["alone"]):
        assert np.flatnonzero(flat(layers) - before).tolist() == [n]
    moved = [output_of(layers, facts["input"]) for layers in said["alone"]]
    least = min(np.abs(one - facts["output"]).max() for one in moved)
    assert least > 0.01


def test_by_themselves_first_all_weights_move_and_then_one():
    times = np.arange(0, 14, 0.05).tolist()
    facts = front.facts()
    said = ask(IN_THE_PAGE, {"facts": facts, "points": [], "times": times})["round"]
    at = np.array([place["at"] for place in said])
    alone = np.array([place["alone"] for place in said])
    assert np.hypot(*at.T).max() < 1  # in the disc
    # No leap, from one round into the next neither.
    ends = np.vstack([at, at[:1]])
    assert np.hypot(*np.diff(ends, axis=0).T).max() < 0.12
    assert np.abs(np.diff([*alone, alone[0]])).max() < 0.12
    assert np.abs(alone).max() > 0.5
    assert not np.any((np.hypot(*at.T) > 1e-9) & (alone != 0))


def test_the_page_has_the_colours_of_the_still():
    entries = np.linspace(-2, 2, 83).round(3).tolist()
    program = 'import { shade } from "front/shade"; say(given.map(shade));'
    found = ask(program, entries)
    # A half is rounded in two ways.
    same = [
        one == front.shade(entry) for one, entry in zip(found, entries, strict=True)
    ]
    assert sum(same) > 80 and len(set(found)) > 30


# What it gives away, and where it leads


def test_the_picture_answers_no_question_of_the_course():
    """No network of a notebook is shown, and of this one no count but that of its
    weights."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources())
    named = re.findall(
        r"(?:nv\.)?Architecture(?:\.uniform)?\([^()]*(?:\([^()]*\)[^()]*)*\)", text
    )
    known = set()
    for code in named:
        try:
            known.add(eval(code if code.startswith("nv.") else f"nv.{code}"))
        except (NameError, ValueError, TypeError):
            continue  # it stands for a network that a reader gives
    assert nv.Architecture.uniform(d=4, a=2, layers=2, tokens=3) in known
    assert len(known) > 5 and front.NETWORK not in known
    words = re.sub(
        r"<script.*?</script>|<[^>]*>", " ", front.picture(), flags=re.DOTALL
    )
    numbers = {int(one) for one in re.findall(r"\d+", words)}
    assert numbers == {front.NETWORK.num_parameters, 1, 2, 3}  # and the tokens


def test_the_cards_are_the_questions_of_the_first_notebook():
    found = front.sections()
    assert [one.name for one in found] == [
        name for name in EVERY if re.match("0[1-5]", name)
    ]
    html = front.cards(EVERY)
    start = front._source(front.START)
    for one in found:
        assert one.question[1:] in start
        assert f'href="notebooks/{one.name}.html"' in html and one.question in html
    assert len(re.findall("<svg", html)) == len(found) == 5
    assert "href" not in front.cards(["00_start"])


def test_the_notebooks_beyond_the_course_are_all_named():
    html = front.more(EVERY)
    for name in EVERY:
        assert ("/" in name) == (f'href="{site.place_of(name)}.html"' in html)
    assert front.more(["00_start"]) == ""


# The page in a browser


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The front page without the others."""
    out = tmp_path_factory.mktemp("front")
    text = site._filled("index.md", EVERY)
    text = re.sub(r"```\{toctree\}.*?```", "", text, flags=re.DOTALL)
    site._write(out / "source" / "index.md", text)
    (out / "site").mkdir()
    site._sphinx(out / "source", out / "site")
    site._write(out / "site" / "_static" / "look.css", site.look_css())
    return out / "site"


DESK = {"viewport": {"width": 1280, "height": 720}}
PHONE = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
CELLS = (
    "[...document.querySelectorAll('.weights rect')].map(one => one.style.fill).join()"
)
BARS = "[...document.querySelectorAll('.now')].map(one => one.getAttribute('height'))"
MOVES = "document.querySelector('.output svg').classList.contains('moves')"
RING = ".hold .nv-handle"
WEIGHT = ".weights .nv-handle"


@pytest.fixture
def visit(new_page, folder):
    """Opens the front page; nothing may go wrong in it."""
    errors = []

    def open_(**settings):
        page = new_page(**DESK | settings)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto((folder / "index.html").as_uri())
        return page

    yield open_
    assert not errors


def goes(page) -> None:
    """Waits until the weights have moved."""
    page.wait_for_function(f"before => {CELLS} !== before", arg=page.evaluate(CELLS))


def stands(page, milliseconds: int = 700) -> bool:
    painted(page)
    before = page.evaluate(CELLS)
    page.wait_for_timeout(milliseconds)
    return page.evaluate(CELLS) == before


def middle(page, selector: str, n: int = 0) -> tuple[float, float]:
    box = page.locator(selector).nth(n).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def pull(page, start: tuple[float, float], way: tuple[float, float]) -> None:
    """Takes hold with the mouse, and does not let go."""
    page.mouse.move(*start)
    page.mouse.down()
    page.mouse.move(start[0] + way[0], start[1] + way[1], steps=5)


@pytest.mark.long
@pytest.mark.browser
def test_it_moves_by_itself_and_the_output_stands_still(visit):
    page = visit()
    bars = page.evaluate(BARS)
    goes(page)
    page.wait_for_timeout(500)
    heights = np.array(page.evaluate(BARS), dtype=float)
    np.testing.assert_allclose(heights, np.array(bars, dtype=float), atol=0.011)
    assert "126 weights move" in page.locator(".weights .says").inner_text()
    assert "stands still" in page.locator(".output .says").inner_text()
    page.get_by_role("button", name="hold the weights still").click()
    assert stands(page)
    page.get_by_role("button", name="let the weights move").click()
    goes(page)


@pytest.mark.long
@pytest.mark.browser
def test_who_takes_hold_of_the_ring_moves_all_weights_and_nothing_else_does(visit):
    page = visit()
    goes(page)
    bars = page.evaluate(BARS)
    pull(page, middle(page, RING), (25, 10))
    before = page.evaluate(CELLS)
    page.mouse.move(*middle(page, ".disc"))
    page.wait_for_function(f"before => {CELLS} !== before", arg=before)
    page.mouse.up()
    assert stands(page)
    assert not page.evaluate(MOVES)
    heights = np.array(page.evaluate(BARS), dtype=float)
    np.testing.assert_allclose(heights, np.array(bars, dtype=float), atol=0.011)
    # Anywhere in the disc.
    box = page.locator(".disc").bounding_box()
    page.mouse.click(box["x"] + 0.3 * box["width"], box["y"] + 0.3 * box["height"])
    painted(page)
    said = page.locator(RING).get_attribute("aria-valuetext").replace("−", "-")
    across, up = map(float, re.findall(r"-?\d\.\d+", said))
    np.testing.assert_allclose([across, up], [-0.4, 0.4], atol=0.02)


@pytest.mark.long
@pytest.mark.browser
def test_one_weight_alone_moves_the_output_and_goes_home(visit):
    page = visit()
    page.get_by_role("button", name="hold").click()
    pull(page, middle(page, ".weights rect", 7), (40, 0))
    page.wait_for_function(MOVES)
    assert page.locator(".weights .says").inner_text() == "1 weight moves"
    assert re.search(r"moves by \d+ %", page.locator(".output .says").inner_text())
    assert page.locator(".weights rect.held").count() == 1
    page.mouse.up()
    page.wait_for_function(f"!{MOVES}")
    assert stands(page)


@pytest.mark.long
@pytest.mark.browser
def test_the_keyboard_takes_hold_of_both(visit):
    page = visit()
    goes(page)
    page.locator(RING).focus()
    assert stands(page)
    before = page.evaluate(CELLS)
    for key in ("Shift+ArrowRight", "ArrowUp"):
        page.keyboard.press(key)
    page.wait_for_function(f"before => {CELLS} !== before", arg=before)
    assert not page.evaluate(MOVES)
    page.keyboard.press("Home")
    ring = page.locator(RING)
    page.wait_for_function(
        f"document.querySelector('{RING}').getAttribute('aria-valuetext')"
        " === '0.00 across, 0.00 up'"
    )
    assert ring.get_attribute("role") == "slider"
    page.locator(WEIGHT).focus()
    name = page.locator(WEIGHT).get_attribute("aria-label")
    assert "K of layer 1, row 2, column 3" in name
    page.keyboard.press("Enter")
    assert page.locator(WEIGHT).get_attribute("aria-label") != name
    page.keyboard.press("Shift+ArrowUp")
    page.wait_for_function(MOVES)
    page.keyboard.press("Tab")  # who leaves it lets go
    page.wait_for_function(f"!{MOVES}")


@pytest.mark.long
@pytest.mark.browser
def test_a_finger_holds_a_weight_sideways_and_scrolls_past_it(visit):
    page = visit(**PHONE)
    goes(page)
    cell = middle(page, ".weights rect", 100)
    touch(page, cell, (0, -120))
    page.wait_for_function("scrollY > 60")
    goes(page)  # nobody has taken hold
    assert page.locator(".play").get_attribute("title") == "hold the weights still"
    page.evaluate("scrollTo(0, 0)")
    page.evaluate(
        "new MutationObserver(() => { window.moved ||= "
        + MOVES
        + " }).observe(document.querySelector('.output svg'), {attributes: true})"
    )
    cell = middle(page, ".weights rect", 100)
    touch(page, cell, (60, 0))
    page.wait_for_function("window.moved")
    assert page.evaluate("scrollY") == 0
    assert page.locator(".play").get_attribute("title") == "let the weights move"
    before = page.evaluate(CELLS)
    touch(page, middle(page, RING), (-30, 0))
    page.wait_for_function(f"before => {CELLS} !== before", arg=before)


@pytest.mark.long
@pytest.mark.browser
def test_it_stops_out_of_sight_and_while_the_page_is_hidden(visit):
    page = visit(viewport={"width": 1280, "height": 400})
    goes(page)
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    # It is told so after a while; then it stays.
    assert any(stands(page) for _ in range(5)) and stands(page)
    page.evaluate("scrollTo(0, 0)")
    goes(page)
    hide = (
        "is => { Object.defineProperty(document, 'hidden', {value: is, configurable:"
        " true}); document.dispatchEvent(new Event('visibilitychange')); }"
    )
    page.evaluate(hide, True)
    assert stands(page)
    page.evaluate(hide, False)
    goes(page)


@pytest.mark.long
@pytest.mark.browser
def test_where_motion_is_reduced_it_stands_and_goes_in_steps(visit):
    page = visit(reduced_motion="reduce")
    assert stands(page, 1500)
    page.get_by_role("button", name="let the weights move").click()
    page.evaluate(
        f"() => {{ window.seen = new Set(); const look = () => {{ seen.add({CELLS});"
        " requestAnimationFrame(look); }; look(); }"
    )
    page.wait_for_timeout(2600)
    assert 2 <= page.evaluate("seen.size") <= 6


@pytest.mark.browser
def test_without_scripts_there_is_a_still_picture_with_all_links(visit):
    page = visit(java_script_enabled=False)
    assert page.locator(".weights rect").count() == 126
    assert page.locator(".weights svg").is_visible()
    assert not page.locator(".hold").is_visible()
    assert page.get_by_role("link", name="Begin").is_visible()
    for one in front.sections():
        assert page.get_by_role("link", name=one.question).is_visible()


@pytest.mark.browser
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_the_first_screen_shows_the_button_and_both_halves_of_the_picture(visit, size):
    page = visit(**size)
    goes(page)
    low = size["viewport"]["height"]
    selectors = (".begin a", ".weights svg", ".output .says", ".output svg", ".disc")
    for selector in selectors:
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] <= low, selector
    assert (
        page.evaluate("document.documentElement.scrollWidth")
        <= size["viewport"]["width"]
    )
    # What moves moves nothing else.
    tall = "document.querySelector('.nv-front-scene').getBoundingClientRect().height"
    before = page.evaluate(tall)
    page.get_by_role("button", name="hold").click()
    pull(page, middle(page, ".weights rect"), (30, 0))
    page.wait_for_function(MOVES)
    assert page.evaluate(tall) == before


@pytest.mark.browser
def test_a_finger_finds_everything(visit):
    page = visit(**PHONE)
    goes(page)
    places = ".nv-handle .room, .play, .begin a, .cards a"
    for box in page.locator(places).all():
        found = box.bounding_box()
        assert min(found["width"], found["height"]) > 43.9, box


AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.browser
@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
def test_axe_finds_nothing(visit, size, mode):
    need_node()
    page = visit(**size, color_scheme=mode)
    goes(page)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate(
        "async () => (await axe.run('article')).violations.map(({id, nodes}) =>"
        " `${id}: ${nodes.map((one) => one.html.slice(0, 150)).join(' | ')}`)"
    )
    assert not found, "\n".join(found)


@pytest.mark.browser
def test_a_dark_page_has_dark_colours(visit):
    seen = {}
    for mode in ("light", "dark"):
        page = visit(color_scheme=mode)
        look = "getComputedStyle(document.querySelector('{}')).{}"
        with theme.using({"mode": mode}):
            code = theme.color("ground")
        ground = [int(code[n : n + 2], 16) for n in (1, 3, 5)]
        found = page.evaluate(look.format(".nv-front-scene", "backgroundColor"))
        assert [int(one) for one in re.findall(r"\d+", found)] == ground
        seen[mode] = page.evaluate(look.format(".weights rect", "fill"))
    assert seen["light"] != seen["dark"]
