"""The smallest scene, on the page that shows how to add one: its code has types, is
drawn and is dragged."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from node import TOOLS, WEB, need_node

from neuroviz.kit.plot import plain

PAGE = Path(__file__).parents[1] / "docs" / "scene.md"
LIST = """import { offer } from "../kit/sections";
import { failing } from "./failing";
import { late } from "./late";
import { product } from "./product";

offer("deep", { failing, late, product });
"""
# What paints in a frame fails, and so does what ▶ plays.
FAILING = """import { eachFrame, player } from "../kit/motion";
import { footerIn } from "../kit/view";

function make(host: HTMLElement) {
  const fail = () => {
    throw new Error("it fails later");
  };
  const frame = eachFrame(host, fail);
  const walk = { name: "fail", seconds: 1, from: () => 0, to: fail };
  const play = player(footerIn(host).footer, walk);
  host.addEventListener("click", () => frame.soon());
  function close() {
    frame.stop();
    play.stop();
  }
  return { show() {}, close };
}
export const failing = { make, style: ".nv-failing { height: 100px }" };
"""
# A view that comes with the second answer of Python.
LATE = """import { viewIn, type View } from "../kit/view";

function make(host: HTMLElement) {
  let view: View | null = null;
  let shown = 0;
  function show() {
    shown++;
    if (shown > 1) view ??= viewIn(host, "late");
    view?.size();
  }
  return { show, close() {} };
}
export const late = { make, style: ".nv-late { display: grid; height: 100px }" };
"""
# The controls of a panel, which do what the test says.
DRAW_WITH_TALK = """(message) => {
  window.ears = new Set();
  window.talk = {
    isAlone: false,
    get: (name) => message.place[name],
    set() {},
    heard(listen) {
      ears.add(listen);
      return () => ears.delete(listen);
    },
  };
  neurovizScenes.react(box, message, 600, talk);
}"""
GONE = "() => { throw new Error('the control is gone'); }"
HEAR = "setTimeout(() => [...ears].forEach((listen) => listen()))"
DRAW = "(message) => neurovizScenes.react(box, message, 600)"
DRAW_LATER = f"(message) => void setTimeout({DRAW}, 0, message)"
POINT = ".nv-handle[aria-label='the weights (a, v)']"


def code_of(language):
    (code,) = re.findall(
        rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    return code


@pytest.fixture(scope="module")
def defined():
    """What the page defines."""
    names = {"__name__": "a_page"}
    exec(code_of("python"), names)
    return names


@pytest.fixture
def message(defined):
    """What Python says of a = 2, v = 3."""
    return plain(defined["product_picture"](2.0, 3.0).message())


@pytest.fixture
def folder():
    """The scene in a folder beside kit/, as a section's folder is."""
    need_node()
    with tempfile.TemporaryDirectory(dir=WEB) as name:
        folder = Path(name)
        (folder / "product.ts").write_text(code_of("ts"), encoding="utf-8")
        (folder / "failing.ts").write_text(FAILING, encoding="utf-8")
        (folder / "late.ts").write_text(LATE, encoding="utf-8")
        (folder / "list.ts").write_text(LIST, encoding="utf-8")
        yield folder


def run(tool, *words):
    done = subprocess.run(
        [TOOLS / tool, *words], cwd=WEB, capture_output=True, text=True
    )
    assert not done.returncode, done.stdout + done.stderr


@pytest.mark.long
def test_the_code_of_the_page_has_types_follows_the_rules_and_takes_the_facts(
    folder, message
):
    facts = json.dumps(message["facts"], ensure_ascii=False)
    check = (
        'import type { Facts } from "./product";\n\nexport const facts: Facts ='
        f" {facts};\n"
    )
    (folder / "facts.ts").write_text(check, encoding="utf-8")
    options = {
        "extends": "../tsconfig.json",
        "include": ["*.ts", "../styles.d.ts"],
        "exclude": [],
    }
    (folder / "tsconfig.json").write_text(json.dumps(options), encoding="utf-8")
    run("tsc", "-p", folder)
    (folder / "facts.ts").write_text(
        check.replace('"product": 6.0', ""), encoding="utf-8"
    )
    with pytest.raises(AssertionError, match="'product' is missing"):
        run("tsc", "-p", folder)
    (folder / "facts.ts").unlink()
    run("eslint", "--no-ignore", folder / "product.ts")
    run("prettier", "--ignore-path", os.devnull, "--check", folder / "product.ts")


def test_a_panel_shows_what_its_draw_returns_and_the_place_is_its_control(defined):
    panel = defined["Product"]()
    first = panel.figure.drawn
    panel.controls["a"].value = 4.0
    assert first["facts"] == panel.figure.drawn["facts"] == panel.facts
    places = [drawn["place"] for drawn in (first, panel.figure.drawn)]
    assert places == [{"a": 2.0}, {"a": 4.0}]
    slider = panel.controls["a"]
    assert panel.figure.drawn["ranges"]["a"] == [slider.min, slider.max, slider.step]
    panel.close()


def test_the_page_is_short():
    """Whoever adds a scene reads it from its first line to its last one."""
    assert 50 <= len(PAGE.read_text(encoding="utf-8").splitlines()) <= 85


@pytest.fixture
def opened(bare_page, folder):
    """A page with the painter of the scene, and a box."""
    run(
        "esbuild",
        folder / "list.ts",
        "--bundle",
        "--loader:.css=text",
        f"--outfile={folder / 'list.js'}",
    )
    bare_page.set_content(
        "<body style='margin: 0'><div class='nv'><div id='box'></div></div>"
    )
    bare_page.add_script_tag(path=folder / "list.js")
    return bare_page


@pytest.fixture
def errors(bare_page):
    """What the console of the page says of errors."""
    errors = []
    bare_page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


@pytest.mark.browser
def test_the_scene_of_the_page_is_drawn_and_dragged(opened, errors, defined, message):
    bare_page = opened
    bare_page.evaluate(DRAW, message)
    assert bare_page.locator("h4").inner_text() == "one function"

    def words():
        return bare_page.locator(POINT).get_attribute("aria-valuetext")

    def middle():
        box = bare_page.locator(f"{POINT} .ring").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    assert words() == "v = 3.00"
    x, y = middle()
    bare_page.mouse.move(x, y)
    bare_page.mouse.down()
    bare_page.mouse.move(x + 80, y, steps=5)
    assert words() == "v = 2.00", "before the pointer is let go"
    bare_page.mouse.up()
    assert bare_page.evaluate("neurovizScenes.talkOf(box).get('a')") == 3
    # v is smaller, so the point has gone down.
    assert middle() == pytest.approx((x + 80, y + 40), abs=1)
    bare_page.keyboard.press("Shift+ArrowLeft")
    assert words() == "v = 6.00", "the slider ends at a = 1"
    # The slider moves the point, and so does what Python says.
    bare_page.evaluate("neurovizScenes.talkOf(box).set({a: 4})")
    # On a way that one can follow.
    bare_page.wait_for_function(
        "document.querySelector('.nv-handle').ariaValueText === 'v = 1.50'"
    )
    answer = plain(defined["product_picture"](4.0, 3.0).message())
    bare_page.evaluate(DRAW, answer)
    assert words() == "v = 3.00"
    assert not errors


@pytest.mark.browser
def test_a_scene_that_fails_says_why_in_its_place_and_in_the_console(
    opened, errors, message
):
    failed = opened.get_by_role("alert")
    wrong = [
        # before it begins, and while it shows
        (
            {"name": "deep/prodct"},
            "no scene 'deep/prodct' in this build: list it in web/deep/scenes.ts",
        ),
        ({"name": "dep/product"}, "list it in web/dep/scenes.ts"),
        ({"ranges": {}}, "'a' has no range: the ranges of a Picture"),
    ]
    for change, said in wrong:
        if "name" in change:  # what is drawn already is not looked up again
            opened.evaluate("neurovizScenes.purge(box)")
        with opened.expect_event("pageerror", timeout=20_000) as heard:
            opened.evaluate(DRAW_LATER, message | change)
        assert said in str(heard.value) and said in failed.inner_text()
        assert opened.locator(".nv-scene").count() == 0
        opened.evaluate(DRAW, message)
        assert failed.count() == 0 and opened.locator("h4").count() == 1
    # the one that failed does not follow the controls any more
    opened.evaluate("neurovizScenes.talkOf(box).set({a: 4})")
    opened.wait_for_function(
        "document.querySelector('.nv-handle').ariaValueText === 'v = 1.50'"
    )
    assert len(errors) == len(wrong)


def is_told(page, act, error: str) -> None:
    """Whether what is done fails in words, in the place of a picture that hears no
    more."""
    with page.expect_event("pageerror", timeout=20_000) as heard:
        act()
    assert error in str(heard.value)
    (said,) = page.get_by_role("alert").all_inner_texts()
    assert f"the picture cannot be drawn: Error: {error}" in said
    assert page.locator(".nv-scene").count() == 0


@pytest.mark.browser
def test_a_scene_that_fails_in_a_hand_says_so_in_its_place(opened, message):
    def drag():
        opened.locator(f"{POINT} .ring").hover()
        opened.mouse.down()
        opened.mouse.move(300, 200, steps=3)

    def press():
        opened.locator(POINT).focus()
        opened.keyboard.press("ArrowRight")

    for act in (drag, press):
        opened.evaluate(DRAW_WITH_TALK, message)
        assert opened.evaluate("ears.size") > 0
        opened.evaluate(f"void (talk.set = {GONE})")
        is_told(opened, act, "the control is gone")
        assert opened.evaluate("ears.size") == 0
        opened.mouse.up()


@pytest.mark.browser
def test_a_scene_that_fails_when_a_slider_moves_says_so_in_its_place(opened, message):
    opened.evaluate(DRAW_WITH_TALK, message)
    opened.evaluate(f"void (talk.get = {GONE})")
    is_told(opened, lambda: opened.evaluate(HEAR), "the control is gone")


@pytest.mark.browser
@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_a_scene_that_fails_while_it_moves_says_so_in_its_place(
    opened, errors, message, motion
):
    opened.emulate_media(reduced_motion=motion)
    for part in (".nv-play", ".nv-failing"):
        opened.evaluate(DRAW, message | {"name": "deep/failing"})
        is_told(opened, opened.locator(part).click, "it fails later")
        seen = len(errors)
        opened.wait_for_timeout(300)
        assert len(errors) == seen, "once, and not in each frame"


@pytest.mark.browser
def test_a_view_that_comes_later_is_as_large_as_its_box_too(opened, message):
    message = message | {"name": "deep/late"}
    for _ in range(2):
        opened.evaluate(DRAW, message)
    height = "document.querySelector('.nv-view-late svg').height.baseVal.value"
    before = opened.evaluate(height)
    assert before > 0
    opened.evaluate("document.querySelector('.nv-late').style.height = '150px'")
    opened.wait_for_function(f"{height} === {before + 50}", timeout=20_000)


@pytest.mark.browser
def test_a_scene_that_is_closed_hears_no_controls(opened, message):
    opened.evaluate(DRAW_WITH_TALK, message)
    assert opened.evaluate("ears.size") > 0
    opened.evaluate("neurovizScenes.purge(box)")
    assert opened.evaluate("ears.size") == 0
