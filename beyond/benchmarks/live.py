"""What live panels cost in a page without a server, in a Chromium that draws without a
graphics card.

Processor time from opening to the first figure, then for each move of a slider by a
key: of the worker that is Python, of the page's main thread, and of all threads,
painting and compiling included. PYODIDE=path takes a distribution of Pyodide with numpy
from there; without it Python comes over the network. Linux only.
"""

import functools
import http.server
import os
import re
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

PANELS = (
    "LedgerExplorer",
    "FactorizationExplorer",
    "HypothesesExplorer",
    "FiberExplorer",
)
MOVES = 4
MOST_FIRST = 15.0
MOST_MOVE = 150.0
PAGE = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="live/live.css"><div id="place" style="width: 900px"></div>
<script type="module">
import start from "./live/start.js";
const place = document.getElementById("place");
const seen = (what) => document.querySelector(what);
let python, panel;
const drawn = ".nv-figure :is(.main-svg, .nv-handle, [role=gridcell])";
const isThere = () => seen(".nv-done") && seen(drawn);
const says = () => isThere() && seen(".nv-description")?.innerText;
window.said = [];
window.changed = (before, patience) => new Promise((go) => {
  const look = () => { const now = says(); if (now && now !== before) go(now); };
  const all = { childList: true, subtree: true, characterData: true, attributes: true };
  new MutationObserver(look).observe(place, all);
  look();
  if (patience) setTimeout(go, patience, "");
});
window.show = async (how) => {
  panel?.close();
  panel = undefined;
  python ??= start();
  python.onProgress = ({ words }) => window.said.push(words);
  panel = await python.open(place, { mode: "light", state: null, ...how });
  return window.changed("");
};
</script>"""
"""One live panel at a time: `show` opens it, `changed` waits until it says something
else."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder of files."""

    class Handler(http.server.SimpleHTTPRequestHandler):
        extensions_map = http.server.SimpleHTTPRequestHandler.extensions_map | {
            ".wasm": "application/wasm",
            ".mjs": "text/javascript",
        }

        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def spent(processes: list[int]) -> dict[str, int]:
    """Milliseconds of processor time, by threads: of Python, of the main one, and of
    all."""
    found = Counter()
    tick = 1000 // os.sysconf("SC_CLK_TCK")
    for path in (
        path for one in processes for path in Path(f"/proc/{one}/task").glob("*/stat")
    ):
        number, name, rest = re.match(r"(\d+) \((.*)\) (.*)", path.read_text()).groups()
        user, system = rest.split()[11:13]
        thread = (
            "Python"
            if name.startswith("DedicatedWorker")
            else "page"
            if number == path.parts[2]
            else ""
        )
        for which in {thread, "all"}:
            found[which] += tick * (int(user) + int(system))
    return found


def take(
    panels: tuple[str, ...], pyodide: str | None
) -> list[tuple[str, Counter, list[Counter]]]:
    """Panel by panel, in one page: what it takes until it is drawn, and for each
    move."""
    from playwright.sync_api import sync_playwright

    from tools.book.live.build import PYODIDE, build

    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        build(Path(home, "live"), "../pyodide/" if pyodide else PYODIDE)
        if pyodide:
            Path(home, "pyodide").symlink_to(Path(pyodide).resolve())
        Path(home, "index.html").write_text(PAGE, encoding="utf-8")
        with served(Path(home)) as address:
            browser = playwright.chromium.launch(
                executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.set_default_timeout(300_000)
            page.goto(f"{address}/index.html")
            page.wait_for_function("() => Boolean(window.show)")
            known = browser.new_browser_cdp_session().send("SystemInfo.getProcessInfo")[
                "processInfo"
            ]
            processes = [one["id"] for one in known if one["type"] == "renderer"]

            def now() -> Counter:
                page.wait_for_timeout(700)  # the last painting
                return spent(processes)

            found = []
            for name in panels:
                before = now()
                says = page.evaluate("panel => window.show({ panel })", name)
                opened = now() - before
                moves = []
                page.locator(
                    ".nv-controls .noUi-handle[aria-disabled=false]"
                ).first.focus()
                for _ in range(MOVES):
                    before = now()
                    page.evaluate(
                        "before => { window.next = window.changed(before, 20_000); }",
                        says,
                    )
                    page.keyboard.press("ArrowRight")
                    # the slider is at its end
                    if not (says := page.evaluate("window.next")):
                        break
                    moves.append(now() - before)
                found.append((name, opened, moves))
            return found


def run(effort: Effort) -> list[Table]:
    panels = PANELS[:2] if effort.quick else PANELS
    found = take(panels, os.environ.get("PYODIDE"))
    threads = "Python", "page", "all"
    rows = tuple(
        (
            name,
            opened["Python"] + opened["page"],
            *(median(one[of] for one in moves) for of in threads),
        )
        for name, opened, moves in found
    )
    first = rows[0][1] / 1000
    middle = median(one["Python"] + one["page"] for *_, all_ in found for one in all_)
    said = f"the first after {first:.1f} s of processor time, a move {middle:.0f} ms"
    met = first <= MOST_FIRST and middle <= MOST_MOVE
    finding = Finding(
        "live panels in a page without a server", said, "≤ 15 s, ≤ 150 ms", met
    )
    header = (
        "panel, in turn",
        "opened, ms",
        "a move in Python, ms",
        "in the page, ms",
        "in all threads, ms",
    )
    forms = ("", ",.0f", ".0f", ".0f", ".0f")
    return [Table("live", header, forms, rows, machine("one browser"), (finding,))]
