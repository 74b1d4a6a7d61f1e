"""The TypeScript of `web/` has types, follows the rules of eslint, and is formatted;
and what the pages load is built from it."""

import gzip
import hashlib
import re
import subprocess
from pathlib import Path

import pytest
from node import WEB, ask, need_node

ROOT = WEB.parent
SOURCES = sorted(
    path
    for path in WEB.rglob("*")
    if path.suffix in (".ts", ".js", ".mjs", ".css")
    and "node_modules" not in path.parts
)
BUNDLES = sorted(
    path
    for folder in ("neuroviz", "tools")
    for kind in ("*.js", "*.js.gz")
    for path in (ROOT / folder).rglob(kind)
)


def text_of(bundle: Path) -> str:
    """Of a bundle, packed or not."""
    content = bundle.read_bytes()
    return (gzip.decompress(content) if bundle.suffix == ".gz" else content).decode()


@pytest.mark.long
def test_types_rules_and_format():
    """`npm run check`."""
    need_node()
    done = subprocess.run(
        ["npm", "run", "check"], cwd=WEB, capture_output=True, text=True
    )
    assert not done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def test_no_line_is_longer_than_100_and_no_colour_stands_in_a_scene():
    """Colours are the theme's: the page gets them with every message."""
    assert len(SOURCES) > 10
    for path in SOURCES:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.relative_to(WEB)}:{number}"
            assert len(line) <= 100, where
            assert not re.search(r"#[0-9a-fA-F]{6}\b", line), where


@pytest.mark.parametrize("bundle", BUNDLES, ids=lambda path: path.name)
def test_a_script_of_a_page_is_built_from_what_stands_here(bundle):
    """`make javascript` builds it: nobody writes it by hand, and none is forgotten."""
    banner = re.match(r"/\* (?:.*; )?built from (\w+): (.*) \*/\n", text_of(bundle))
    assert banner, f"{bundle.name} does not say what it is built from"
    hashed, names = banner.groups()
    said = hashlib.sha256()
    for name in names.split():
        said.update((WEB / name).read_bytes())
    assert said.hexdigest() == hashed, f"{bundle.name}: run `make javascript`"


SILENCE = """
import { Silence } from "kit/panel/silence";
const silence = new Silence();
say(given.map(([words, at]: [string, number]) => silence.after(words, 1000 * at)));
"""


def test_while_python_says_nothing_the_page_counts_the_seconds():
    said = [
        ("30 %, 2 s", 10),
        ("30 %, 2 s", 13.9),
        ("30 %, 2 s", 57),
        ("done soon", 58),
    ]
    assert ask(SILENCE, said) == [
        "30 %, 2 s",
        "30 %, 2 s",
        "30 %, 2 s · no news for 47 s",
        "done soon",
    ]
