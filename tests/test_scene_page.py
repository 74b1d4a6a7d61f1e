"""The smallest scene, on the page that shows how to add one: its code has types, is
drawn and is dragged."""

import json
import re
import subprocess
import tempfile
from pathlib import Path

import pytest
from node import TOOLS, WEB, need_node

from neuroviz.kit.plot import plain

PAGE = Path(__file__).parents[1] / "docs" / "scene.md"
LIST = """import { painterOf } from "../kit/painter";
import { product } from "./product";

Object.assign(globalThis, { painter: painterOf({ product }) });
"""
POINT = ".nv-handle[aria-label='the weights (a, v)']"


def code_of(language):
    (code,) = re.findall(
        rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    return code


@pytest.fixture
def message():
    """What Python says of a = 2, v = 3."""
    names = {}
    exec(code_of("python"), names)
    return plain(names["product_picture"](2.0, 3.0).message())


@pytest.fixture
def folder():
    """The scene in a folder beside kit/, as a section's folder is."""
    need_node()
    with tempfile.TemporaryDirectory(dir=WEB) as name:
        folder = Path(name)
        (folder / "product.ts").write_text(code_of("ts"), encoding="utf-8")
        (folder / "list.ts").write_text(LIST, encoding="utf-8")
        yield folder


def run(tool, *words):
    done = subprocess.run(
        [TOOLS / tool, *words], cwd=WEB, capture_output=True, text=True
    )
    assert not done.returncode, done.stdout + done.stderr


def test_the_code_of_the_page_has_types_follows_the_rules_and_takes_the_facts(
    folder, message
):
    facts = json.dumps(message["facts"], ensure_ascii=False)
    check = (
        'import type { Facts } from "./product";\n\nexport const facts: Facts ='
        f" {facts};\n"
    )
    (folder / "facts.ts").write_text(check, encoding="utf-8")
    options = {"extends": "../tsconfig.json", "include": ["*.ts", "../styles.d.ts"]}
    (folder / "tsconfig.json").write_text(json.dumps(options), encoding="utf-8")
    run("tsc", "-p", folder)
    (folder / "facts.ts").write_text(
        check.replace('"product": 6.0', ""), encoding="utf-8"
    )
    with pytest.raises(AssertionError, match="'product' is missing"):
        run("tsc", "-p", folder)
    (folder / "facts.ts").unlink()
    run("eslint", folder / "product.ts")
    run("prettier", "--check", folder / "product.ts")


@pytest.mark.browser
@pytest.mark.xdist_group("browser")
def test_the_scene_of_the_page_is_drawn_and_dragged(bare_page, folder, message):
    run(
        "esbuild",
        folder / "list.ts",
        "--bundle",
        "--loader:.css=text",
        f"--outfile={folder / 'list.js'}",
    )
    errors = []
    bare_page.on("pageerror", lambda error: errors.append(str(error)))
    bare_page.set_content(
        "<body style='margin: 0'><div class='nv'><div id='box'></div></div>"
    )
    bare_page.add_script_tag(path=folder / "list.js")
    bare_page.evaluate("(message) => painter.react(box, message, 600)", message)
    assert "the same product" in bare_page.locator("h4").inner_text()
    assert bare_page.locator("path.role-certified").get_attribute("d").count("L") == 50

    def words():
        return bare_page.locator(POINT).get_attribute("aria-valuetext")

    def middle():
        box = bare_page.locator(f"{POINT} .ring").bounding_box()
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2

    assert words() == "a = 2.00, v = 3.00"
    x, y = middle()
    bare_page.mouse.move(x, y)
    bare_page.mouse.down()
    bare_page.mouse.move(x + 600 / 7, y + 20, steps=5)  # the axis goes from 0 to 7
    bare_page.mouse.up()
    assert bare_page.evaluate("painter.talkOf(box).get('a')") == 3
    assert words() == "a = 3.00, v = 2.00"
    assert middle()[0] == pytest.approx(x + 600 / 7, abs=1) and middle()[1] > y
    bare_page.keyboard.press("Shift+ArrowLeft")
    assert words() == "a = 1.00, v = 6.00"
    assert not errors
