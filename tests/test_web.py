"""The TypeScript of `web/` has types, follows the rules of eslint, and is formatted."""

import re
import subprocess

from node import WEB, need_node


def test_types_rules_and_format():
    """`npm run check`."""
    need_node()
    done = subprocess.run(
        ["npm", "run", "check"], cwd=WEB, capture_output=True, text=True
    )
    assert not done.returncode, done.stdout[-3000:] + done.stderr[-1000:]


def test_no_line_is_longer_than_100_and_no_colour_stands_in_a_scene():
    """Colours are the theme's: the page gets them with every message."""
    sources = [
        p
        for kind in ("*.ts", "*.css")
        for p in WEB.rglob(kind)
        if "node_modules" not in p.parts
    ]
    assert len(sources) > 10
    for path in sources:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            where = f"{path.relative_to(WEB)}:{number}"
            assert len(line) <= 100, where
            assert not re.search(r"#[0-9a-fA-F]{6}\b", line), where
