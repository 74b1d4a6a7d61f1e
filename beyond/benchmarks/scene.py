"""What a scene costs in the page, and a step of what plotly draws: in JupyterLab,
without a graphics card.

The first picture is processor time of the page's main thread, from the run of the
panel's cell to the figure, less what a cell with an empty widget takes, in a page that
has drawn a slider already: so JupyterLab's own code, and MathJax, are there. In two
of five pages a handle is dragged by 60 pointer moves, and once more by 60; where
nothing can be dragged, a slider is moved by 60 keys, a frame apart. Script is the least
of its pages. One picture differs from page to page by up to a factor of two, and the
least of five by a fifth: two checkouts are compared by all pairs of their pages.

The first message is the picture that the kernel sends, without what draws it; a step's
is what it sends when one slider moves by one step, the median over the panel's sliders.
BEFORE=path takes another checkout, too, in turns with this one;
SCENES=SurfaceExplorer,… takes only these.

A *step* is one key on the first slider, or another choice in the first list, back and
forth: processor time of the kernel and of the page's main thread until all is quiet,
less what both spend in the same time without a key; the median of ten. Beside it a
slider in the same page that nothing listens to: what of it ipywidgets and JupyterLab
take.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.page import ROOT, browsing, door, offers, opened, serving, turn_to
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

MOVES = 60
PICTURES = 5
DRAGGED = 2  # of these
CALM = 4.0  # milliseconds of a quarter of a second
FRAME = 1 / 60  # seconds
LEAST_FRAMES = 55
MOST_SCRIPT = 8.0
_SPACE = (
    "!!(document.querySelector('.nv-scene canvas, .gl-container canvas')?.width > 300)"
)
_MAP = (
    "!!document.querySelector('.nv-scene [role=gridcell], .js-plotly-plot .main-svg')"
)
_PLANE = (
    "!!document.querySelector('.nv-scene .nv-handle[transform], .main-svg .scatterlayer"
    " path')"
)


@dataclass(frozen=True)
class Scene:
    handle: str
    """The name of what is dragged."""
    right: float
    """How far right a move goes, in pixels."""
    down: float
    is_drawn: str
    """JavaScript that says whether the picture is there."""


SCENES = {
    "SurfaceExplorer": Scene("the point", 0.5, 0.5, _SPACE),
    "SectionExplorer": Scene("the plane", -1.5, -0.3, _SPACE),
    "LearningExplorer": Scene("the target", 0.8, -0.3, _SPACE),
    "LedgerExplorer": Scene("width d₁", 0.8, 0.0, _PLANE),
    "FactorizationExplorer": Scene("C, along the rotation", 0.5, 0.5, _PLANE),
    "FiberExplorer": Scene("the point (A, V)", 0.2, 0.4, _PLANE),
    "VirtualWeightsExplorer": Scene("C, along the rotation", 0.0, 0.8, _PLANE),
    "UnrollingExplorer": Scene("turn the window round", 0.0, 2.0, _PLANE),
    "ProofExplorer": Scene("(μ, ν) of layer 1", 0.8, -0.8, _PLANE),
    "NewVariableExplorer": Scene("the dot (y, P)", 0.5, 0.8, _PLANE),
    "SingletonExplorer": Scene("(μ, ν) of θ′", 0.0, -0.8, _PLANE),
    "HypothesesExplorer": Scene("", 0.0, 0.0, _MAP),
}
PLOTLY = (
    "Figure3Explorer",
    "FlagExplorer",
    "FormulaExplorer",
    "MemorisationExplorer",
    "RealModelsExplorer",
    "SameFunctionExplorer",
    "SearchExplorer",
    "VariantsExplorer",
)
KEYS = 10
MOST_STEP = 60.0
_SLIDER = ".noUi-target:not([disabled]) .noUi-handle"
_NOTHING = "!!document.querySelector('.nothing')"
_EMPTY = "an empty widget"
_FRAMES = (
    "window.frames_ = 0; (function next() { window.frames_++;"
    " requestAnimationFrame(next); })()"
)


@dataclass(frozen=True)
class Drags:
    """What taking hold of one panel costs in one page."""

    first: float
    """Script a move, ms, of the first 60 moves ever."""
    second: float
    frames: float
    """Drawn during 60 moves; the smaller of both drags."""


def cells(root: Path, panel: str) -> tuple[str, str]:
    """A slider, where the panel is loaded, too; and the panel."""
    if panel == _EMPTY:
        load = ""
        last = "ipywidgets.HTML('<i class=nothing></i>')"
    else:
        # Kept open: of a panel that is closed at once the page may not load the script.
        load = f"from {door(root, panel)} import {panel}\nkept = {panel}()\n"
        last = f"{panel}()"
    return f"import ipywidgets\n{load}ipywidgets.FloatSlider(description='x')", last


class Watched:
    """A page, and what its main thread has spent."""

    def __init__(self, page: object) -> None:
        self.page = page
        self._session = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent(self, name: str) -> float:
        """Milliseconds of processor time until now."""
        metrics = self._session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(one["value"] for one in metrics if one["name"] == name)

    def rest(self) -> None:
        """Waits until the page does nothing, and collects what JupyterLab left when it
        started: that would be collected by chance."""
        calm = 0
        while calm < 3:
            start = self.spent("TaskDuration")
            self.page.wait_for_timeout(250)
            calm = calm + 1 if self.spent("TaskDuration") - start < CALM else 0
        self._session.send("HeapProfiler.collectGarbage")
        self.page.wait_for_timeout(500)

    def run_next(self, is_there: str) -> float:
        """What the next cell spends until this is there."""
        start = self.spent("TaskDuration")
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_text("Run Selected Cell", exact=True).click()
        # later questions would count what follows the picture
        self.page.wait_for_function(is_there, polling=20)
        return self.spent("TaskDuration") - start


def first_picture(watched: Watched, panel: str) -> float:
    """Processor time of the page's main thread until the first picture, ms."""
    is_drawn = SCENES[panel].is_drawn if panel in SCENES else _NOTHING
    watched.rest()
    watched.run_next("!!document.querySelector('.noUi-handle')")
    watched.rest()
    return watched.run_next(is_drawn)


def drags(watched: Watched, panel: str) -> Drags:
    """Two drags of a panel that is drawn."""
    page = watched.page
    page.wait_for_timeout(3000)
    page.evaluate(_FRAMES)
    page.wait_for_timeout(500)
    found = []
    for _ in range(2):
        frames = page.evaluate("window.frames_")
        script = watched.spent("ScriptDuration")
        _drag(page, SCENES[panel])
        script = watched.spent("ScriptDuration") - script
        frames = page.evaluate("window.frames_") - frames
        page.wait_for_timeout(2000)
        found.append((script / MOVES, frames))
    scripts, frames = zip(*found, strict=True)
    return Drags(*scripts, float(min(frames)))


def _drag(page: object, scene: Scene) -> None:
    """Sixty moves of the handle; of the last slider where there is none."""
    grip = f'.nv-handle[aria-label="{scene.handle}"]'
    if not page.locator(grip).count():
        page.locator(".noUi-handle:visible").last.focus()
        for step in range(MOVES):
            page.keyboard.press("ArrowLeft" if step % 2 else "ArrowRight")
            time.sleep(FRAME)  # a pointer waits for a frame, a key does not
        return
    box = page.locator(f"{grip} circle").last.bounding_box()
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(MOVES):
        page.mouse.move(x + scene.right * step, y + scene.down * step)
    page.mouse.up()


_MESSAGES = """
import json, sys
from importlib import import_module
from neuroviz.kit.page import Chart

sent = []
Chart.send = lambda self, content, buffers=None: sent.append(len(json.dumps(content)))
panel = getattr(import_module(sys.argv[1]), sys.argv[2])()
steps = []
for control in panel.controls.values():
    value = control.value
    for there in (getattr(control, "step", 0), -getattr(control, "step", 0)):
        if there and control.min <= value + there <= control.max:
            sent.clear()
            control.value = value + there
            steps.append(sum(sent))
            control.value = value
print(json.dumps([len(json.dumps(panel.figure.drawn)), *steps]))
"""


def messages(root: Path, panel: str) -> tuple[float, float, float]:
    """Bytes of the picture in the first message, and of a step: median and largest of
    one step of each slider."""
    said = subprocess.run(
        [sys.executable, "-c", _MESSAGES, door(root, panel), panel],
        env=os.environ | {"PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    )
    first, *steps = json.loads(said.stdout.splitlines()[-1])
    return float(first), median(steps), float(max(steps))


def step(root: Path, panel: str) -> tuple[str, float, float, float]:
    """What is moved; ms a step in the kernel, in the page, and of it script; ms of a
    slider alone."""
    slider = (
        "ipywidgets.VBox([ipywidgets.FloatSlider(), ipywidgets.HTML(f'<i"
        " class=pid>{os.getpid()}</i>')])"
    )
    cells = (
        f"import ipywidgets, os\n{slider}",
        f"from {door(root, panel)} import {panel}\n{panel}()",
    )
    with opened(root, cells) as (page, _received):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        for is_there in (".pid", ".js-plotly-plot .main-svg"):
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run Selected Cell", exact=True).click()
            page.wait_for_function(
                f"!!document.querySelector('{is_there}')", polling=200
            )
        pid = page.locator(".pid").inner_text()
        page.wait_for_timeout(3000)

        def spent() -> list[float]:
            metrics = session.send("Performance.getMetrics")["metrics"]
            page_ms = {one["name"]: 1000 * one["value"] for one in metrics}
            # nanoseconds; `stat` counts in 10 ms
            threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
            kernel_ms = sum(int(one.read_text().split()[0]) for one in threads) / 1e6
            return [kernel_ms, page_ms["TaskDuration"], page_ms["ScriptDuration"]]

        moves = f".nv {_SLIDER}:visible", ".nv select:visible"
        if not page.locator(", ".join(moves)).count():
            page.get_by_role("button", name="More").first.click()
        of_panel = page.locator(
            moves[0] if page.locator(moves[0]).count() else moves[1]
        ).first
        name = of_panel.evaluate(
            "one => one.ariaLabel ?? one.closest('.widget-dropdown').innerText"
        )
        alone = page.locator(f".jp-OutputArea-child:has(.pid) {_SLIDER}").first

        def taken(which: object, n: int) -> list[float]:
            before = spent()
            if which is not None and which.evaluate("one => one.tagName") == "SELECT":
                which.select_option(index=1 - n % 2)
            elif which is not None:
                which.press("ArrowLeft" if n % 2 else "ArrowRight")
            page.wait_for_timeout(500)
            page.wait_for_function("!document.querySelector('.nv-busy')", polling=500)
            return [after - one for one, after in zip(before, spent(), strict=True)]

        for n in range(4):
            taken(of_panel, n)
        found = [
            [taken(which, n) for n in range(KEYS)] for which in (None, alone, of_panel)
        ]
        idle, floor, moved = (
            [median(column) for column in zip(*one, strict=True)] for one in found
        )
        (kernel, main, script), (other, rest, _) = (
            [a - b for a, b in zip(one, idle, strict=True)] for one in (moved, floor)
        )
        return name.split("\n")[0], kernel, main, script, other + rest


def steps(effort: Effort) -> Table:
    """A step of each panel that plotly draws."""
    rows = []
    for panel in PLOTLY[:1] if effort.quick else PLOTLY:
        name, kernel, main, script, alone = step(ROOT, panel)
        rows.append((panel, name, kernel, main, script, kernel + main, alone))
    most = max(rows, key=lambda row: row[-2])
    quick = sum(row[-2] <= MOST_STEP for row in rows)
    said = (
        f"{quick} of {len(rows)}; {most[0]} takes {most[-2]:.0f} ms, a slider alone"
        f" {most[-1]:.0f} ms"
    )
    finding = Finding(
        "a step of a panel that plotly draws", said, "≤ 60 ms", most[-2] <= MOST_STEP
    )
    header = (
        "",
        "moved",
        "kernel, ms",
        "page, ms",
        "of it script, ms",
        "together, ms",
        "a slider alone, ms",
    )
    forms = ("", "", ".0f", ".0f", ".0f", ".0f", ".0f")
    return Table(
        "steps",
        header,
        forms,
        tuple(rows),
        machine("one server, one browser"),
        (finding,),
    )


def take(
    roots: dict[str, Path], panels: list[str], pictures: int, dragged: int
) -> tuple[dict, dict]:
    """First pictures and drags of each panel of each checkout, in turns."""
    keys = [(panel, name) for panel in panels for name in roots]
    keys.append((_EMPTY, "now"))
    found = {key: [] for key in keys}
    held = {key: [] for key in keys}
    with ExitStack() as stack:
        browser = stack.enter_context(browsing())
        labs = {}
        for number, (name, root) in enumerate(roots.items()):
            notebooks = {one: cells(root, one) for one in [*panels, _EMPTY]}
            port = 8000 + (os.getpid() + number) % 999
            labs[name] = stack.enter_context(serving(root, notebooks, port))
        for turn in range(pictures):
            for panel, name in keys if turn % 2 == 0 else reversed(keys):
                context = browser.new_context(viewport={"width": 1280, "height": 900})
                page = context.new_page()
                turn_to(page, labs[name].notebook(panel))
                watched = Watched(page)
                found[panel, name].append(first_picture(watched, panel))
                if turn < dragged and panel != _EMPTY:
                    held[panel, name].append(drags(watched, panel))
                context.close()
                labs[name].end_kernels()
    return found, held


def run(effort: Effort) -> list[Table]:
    roots = {"now": ROOT}
    if before := os.environ.get("BEFORE"):
        roots["before"] = Path(before)
    asked = os.environ.get("SCENES", ",".join(SCENES)).split(",")
    # An older checkout lacks the newest panels.
    panels = [
        name
        for name in SCENES
        if name in asked and all(offers(root, name) for root in roots.values())
    ]
    counts = (1, 1) if effort.quick else (PICTURES, DRAGGED)
    return [table_of(*take(roots, panels, *counts), roots), steps(effort)]


def ratio(now: list[float], before: list[float]) -> float:
    """How many times as long a picture takes: the median over all pairs of pages."""
    return median(one / other for one in now for other in before)


def table_of(found: dict, held: dict, roots: dict[str, Path]) -> Table:
    """The table of what `take` has measured."""
    empty = median(found.pop((_EMPTY, "now")))
    pictures = {key: [time - empty for time in times] for key, times in found.items()}
    panels = list(dict.fromkeys(panel for panel, _ in pictures))
    drag = {
        key: Drags(
            first=min(one.first for one in several),
            second=min(one.second for one in several),
            frames=median(one.frames for one in several),
        )
        for key, several in held.items()
        if several
    }
    rows = tuple(
        (
            f"{panel}, {name}",
            median(pictures[panel, name]),
            min(pictures[panel, name]),
            one.first,
            one.second,
            one.frames,
            *messages(roots[name], panel),
        )
        for (panel, name), one in drag.items()
    )
    now = [drag[panel, "now"] for panel in panels]
    script = max(max(one.first, one.second) for one in now)
    frames = min(one.frames for one in now)
    met = frames >= LEAST_FRAMES and script <= MOST_SCRIPT
    said = f"at least {frames:.0f} frames, at most {script:.1f} ms of script a move"
    findings = [
        Finding("a scene dragged by 60 pointer moves", said, "≥ 55 frames, ≤ 8 ms", met)
    ]
    if "before" in roots:
        ratios = {
            panel: ratio(pictures[panel, "now"], pictures[panel, "before"])
            for panel in panels
        }
        slower = [panel for panel, share in ratios.items() if share > 1]
        said = f"slower than before in {len(slower)} of {len(panels)}" + "".join(
            f"; {panel} {ratios[panel]:.2f}" for panel in slower
        )
        findings.append(
            Finding(
                "the first picture of a scene",
                said,
                "at most 2 slower",
                len(slower) <= 2,
            )
        )
    header = (
        "",
        "first picture, ms",
        "the least of five, ms",
        "script a move, first drag, ms",
        "second drag, ms",
        "frames of 60 moves",
        "first message, bytes",
        "a step, bytes",
        "the largest step, bytes",
    )
    forms = ("", ".0f", ".0f", ".1f", ".1f", ".0f", ".0f", ".0f", ".0f")
    return Table(
        "scene",
        header,
        forms,
        rows,
        machine("one server, one browser"),
        tuple(findings),
    )
