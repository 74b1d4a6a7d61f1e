"""A page of the site with one panel and nothing else, quickly made."""

import json
import shutil
from pathlib import Path

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from tools.book import pages, site, stills

HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>x</title>'
    '<meta name="viewport" content="width=device-width">'
    '<link rel="icon" href="data:,">'
    '<link rel="stylesheet" href="_static/look.css">'
    '<link rel="stylesheet" href="_static/book.css">'
    '<link rel="stylesheet" href="_static/box.css">'
)


def page_of(
    folder: Path,
    kind: type[Panel],
    control: str,
    row: dict[str, str] | None = None,
    **opened: object,
) -> Path:
    """Write the page of a panel, "one", whose control moves it, and the files it loads.

    Args:
        row: label → state, of presets that stand far below it.
    """
    with theme.using({"mode": "light"}):
        panel = kind(**opened)
        data = stills.packed(panel, control)
        taken = stills.take_presets(
            panel, control, row or {}, data["stills"], data["figure"]
        )
        panel.close()
    listed = stills.add_stills(data["stills"], taken)
    far = f'<div style="height: 2000px"></div>{pages.presets(listed, "one")}'
    data = json.loads(json.dumps(data))
    site._files(folder, [], {"one": pages.script("one", data)}, "../pyodide/")
    shutil.copytree(site.STATIC, folder / "_static", dirs_exist_ok=True)
    text = '<p style="height: 300px">text</p>'
    inside = f"{text}{pages.panel('one', '00_start', data)}{text * 4}{far * bool(row)}"
    page = folder / "index.html"
    page.write_text(
        f"{HEAD}<body><article>{inside}</article>"
        '<script src="_static/book.js"></script>',
        encoding="utf-8",
    )
    return page
