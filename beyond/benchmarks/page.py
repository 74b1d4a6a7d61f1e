"""What a page waits for: four panels in JupyterLab, Run All, in a real Chromium with
software rendering.

Bytes are those of the websocket after the notebook is open, heap is what its JavaScript
holds afterwards, and *drawn* is the wall time, in a fresh kernel, until the first
figure is there and until all four are. BEFORE=path takes another checkout, too, in
turns with this one.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

ROOT = Path(__file__).parents[2]
PANELS = (
    "LedgerExplorer",
    "FactorizationExplorer",
    "HypothesesExplorer",
    "UnrollingExplorer",
)
GOAL_BYTES = 3e6
GOAL_HEAP = 80e6
_PATIENCE = 300  # seconds
_IDLE = ".jp-Notebook-ExecutionIndicator[data-status='idle']"
_DRAWN = (
    "document.querySelectorAll('.js-plotly-plot:has(.main-svg),"
    " .nv-scene:has(.nv-handle)').length"
)


@dataclass(frozen=True)
class Lab:
    """A running JupyterLab."""

    address: str
    token: str

    def notebook(self, name: str) -> str:
        """The address of a notebook in it, with no other one open."""
        return f"{self.address}/lab/tree/{name}.ipynb?token={self.token}&reset"

    def ask(self, path: str, method: str = "GET") -> bytes:
        request = urllib.request.Request(
            f"{self.address}/api{path}",
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read()

    def end_kernels(self) -> None:
        for session in json.loads(self.ask("/sessions")):
            self.ask(f"/sessions/{session['id']}", "DELETE")


@contextmanager
def serving(
    root: Path, notebooks: Mapping[str, Sequence[str]], port: int
) -> Iterator[Lab]:
    """The JupyterLab of a checkout, with notebooks of these cells."""
    import nbformat

    with tempfile.TemporaryDirectory() as home:
        for name, sources in notebooks.items():
            cells = [nbformat.v4.new_code_cell(source) for source in sources]
            notebook = nbformat.v4.new_notebook(cells=cells)
            notebook.metadata.kernelspec = {
                "name": "python3",
                "display_name": "Python 3",
                "language": "python",
            }
            nbformat.write(notebook, Path(home, f"{name}.ipynb"))
        lab = Lab(f"http://127.0.0.1:{port}", secrets.token_hex(8))
        options = [
            f"--port={port}",
            f"--IdentityProvider.token={lab.token}",
            f"--ServerApp.root_dir={home}",
            "--no-browser",
            "--allow-root",
            f"--LabApp.workspaces_dir={home}/workspaces",
        ]
        environment = os.environ | {
            "PYTHONPATH": str(root),
            "HOME": home,
            "JUPYTER_CONFIG_DIR": f"{home}/c",
        }
        command = [sys.executable, "-m", "jupyterlab", *options]
        server = subprocess.Popen(
            command, env=environment, stderr=subprocess.DEVNULL, cwd=home
        )
        try:
            end = time.monotonic() + _PATIENCE
            while time.monotonic() < end:
                try:
                    lab.ask("")
                    break
                except OSError:
                    time.sleep(0.2)
            yield lab
        finally:
            server.terminate()
            server.wait()


@contextmanager
def browsing() -> Iterator[object]:
    """A real Chromium that draws without a graphics card."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright.chromium.launch(
            executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"),
            args=["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"],
        )


def turn_to(page: object, address: str) -> None:
    """Opens a notebook, and waits for its kernel."""
    page.set_default_timeout(1000 * _PATIENCE)
    page.goto(address, wait_until="domcontentloaded")
    page.wait_for_selector(_IDLE)


@contextmanager
def opened(root: Path, sources: Sequence[str], height: int = 900) -> Iterator[tuple]:
    """A notebook of these cells in a checkout's JupyterLab: the page, and what its
    websockets get."""
    port = 8000 + os.getpid() % 999
    with browsing() as browser, serving(root, {"cells": sources}, port) as lab:
        page = browser.new_page(viewport={"width": 1280, "height": height})
        received = []
        page.on(
            "websocket",
            lambda socket: socket.on(
                "framereceived", lambda frame: received.append(frame)
            ),
        )
        turn_to(page, lab.notebook("cells"))
        page.wait_for_timeout(4000)
        yield page, received


def door(root: Path, panel: str) -> str:
    """The module of a checkout that offers a panel; an older checkout has one only.

    Raises:
        LookupError: if none does.
    """
    doors = {
        "neuroviz_beyond.explorables": root / "beyond/neuroviz_beyond/explorables.py",
        "neuroviz.explorables": root / "neuroviz/explorables.py",
    }
    for module, path in doors.items():
        if path.exists() and f'"{panel}"' in path.read_text(encoding="utf-8"):
            return module
    raise LookupError(f"{root} offers no panel {panel}")


def offers(root: Path, panel: str) -> bool:
    """Whether a checkout has a panel."""
    try:
        door(root, panel)
    except LookupError:
        return False
    return True


def take(root: Path) -> tuple[float, float, float, float]:
    """Bytes, heap, and seconds until the first and until all are drawn, for the
    neuroviz of a checkout."""
    cells = [f"from {door(root, name)} import {name}\n{name}()" for name in PANELS]
    with opened(root, cells, height=2400) as (page, received):
        heap = page.context.new_cdp_session(page)

        def held() -> float:
            heap.send("HeapProfiler.collectGarbage")
            return page.evaluate("performance.memory.usedJSHeapSize")

        empty = held()
        start = time.perf_counter()
        received.clear()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        seconds = []
        for count in (1, len(PANELS)):
            page.wait_for_function(f"{_DRAWN} >= {count}", polling=50)
            seconds.append(time.perf_counter() - start)
        page.wait_for_timeout(2000)
        return float(sum(map(len, received))), held() - empty, *seconds


def run(effort: Effort) -> list[Table]:
    roots = {"now": ROOT}
    if before := os.environ.get("BEFORE"):
        roots["before"] = Path(before)
    found = {name: [] for name in roots}
    for _ in range(1 if effort.quick else 3):
        for name, root in roots.items():
            found[name].append(take(root))
    middle = {
        name: [median(column) for column in zip(*taken, strict=True)]
        for name, taken in found.items()
    }
    rows = tuple(
        (name, sent / 1e6, heap / 1e6, *drawn)
        for name, (sent, heap, *drawn) in middle.items()
    )
    sent, heap, *_ = middle["now"]
    met = sent < GOAL_BYTES and heap < GOAL_HEAP
    said = f"{sent / 1e6:.2f} MB sent, {heap / 1e6:.0f} MB of heap"
    finding = Finding("four panels, Run All", said, "≤ 3 MB, ≤ 80 MB", met)
    header = (
        "",
        "MB over the websocket",
        "MB of heap",
        "first drawn, s",
        "all drawn, s",
    )
    forms = ("", ".2f", ".0f", ".1f", ".1f")
    return [
        Table(
            "page", header, forms, rows, machine("one server, one browser"), (finding,)
        )
    ]
