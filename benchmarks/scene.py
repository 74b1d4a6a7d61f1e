"""What a scene costs in the page, and a step of what plotly draws: in JupyterLab, without a graphics card.

The first picture is processor time of the page's main thread, from the run of the panel's cell to the figure,
less what a cell with an empty widget takes, in a page that has drawn a slider already: so JupyterLab's own
code, and MathJax, are there. Then a handle is dragged by 60 pointer moves; where nothing can be dragged, a
slider is moved by 60 keys. BEFORE=path takes another checkout, too, in turns with this one;
SCENES=SurfaceExplorer,… takes only these.

A *step* is one key on the first slider, or another choice in the first list, back and forth: processor time
of the kernel and of the page's main thread until all is quiet, less what both spend in the same time without
a key. A slider that nothing listens to stands beside them: what ipywidgets and JupyterLab take of it.
"""

import os
from pathlib import Path
from statistics import median

from benchmarks.page import ROOT, opened
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

MOVES, LEAST_FRAMES, MOST_SCRIPT = 60, 55, 16.0
_SPACE = "!!(document.querySelector('.nv-scene canvas, .gl-container canvas')?.width > 300)"
_PLANE = "!!document.querySelector('.nv-scene .nv-handle[transform], .main-svg .scatterlayer path')"
# The handle that is dragged, how far right and down a move goes, in pixels, and what says that it is drawn.
SCENES = {
    "SurfaceExplorer": ("the point", 0.5, 0.5, _SPACE),
    "LedgerExplorer": ("width d₁", 0.8, 0.0, _PLANE),
    "FactorizationExplorer": ("C, along the rotation", 0.5, 0.5, _SPACE),
    "FiberExplorer": ("the point (A, V)", 0.2, 0.4, _PLANE),
    "VirtualWeightsExplorer": ("C, along the rotation", 0.0, 0.8, _PLANE),
    "UnrollingExplorer": ("turn the window round", 0.0, 2.0, _PLANE),
    "ProofExplorer": ("(μ, ν) of layer 1", 0.8, -0.8, _PLANE),
    "SingletonExplorer": ("(μ, ν) of θ′", 0.0, -0.8, _PLANE),
}
PLOTLY = (
    "DimensionExplorer", "Figure3Explorer", "FlagExplorer", "FlowExplorer", "FormulaExplorer",
    "HypothesesExplorer", "MemorisationExplorer", "RealModelsExplorer", "SameFunctionExplorer",
    "SearchExplorer", "VariantsExplorer",
)  # fmt: skip
KEYS, MOST_STEP = 10, 60.0
_SLIDER = ".jp-OutputArea .noUi-target:not([disabled]) .noUi-handle"
_ALONE, _EMPTY = "a slider alone", "an empty widget"
_FRAMES = "window.frames_ = 0; (function next() { window.frames_++; requestAnimationFrame(next); })()"


def take(root: Path, panel: str) -> tuple[float, float, float, float]:
    """First picture, ms; script a step, ms; all of the main thread a frame, ms; frames of 60 steps."""
    label, right, down, is_drawn = SCENES.get(panel, ("", 0, 0, "!!document.querySelector('.nothing')"))
    grip = f'.nv-handle[aria-label="{label}"]'
    last = "ipywidgets.HTML('<i class=nothing></i>')" if panel == _EMPTY else f"{panel}()"
    load = "" if panel == _EMPTY else f"from neuroviz.explorables import {panel}\n{panel}().close()\n"
    cells = f"import ipywidgets\n{load}ipywidgets.FloatSlider(description='x')", last
    with opened(root, cells) as (page, _received):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def spent(name: str) -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return 1000 * next(one["value"] for one in metrics if one["name"] == name)

        for is_there in ("!!document.querySelector('.noUi-handle')", is_drawn):
            page.wait_for_timeout(3000)
            start = spent("TaskDuration")
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run Selected Cell", exact=True).click()
            page.wait_for_function(is_there, polling=200)  # a question a frame would cost as much itself
        drawn = spent("TaskDuration") - start
        if panel == _EMPTY:
            return drawn, 0.0, 0.0, 0.0
        page.wait_for_timeout(3000)
        page.evaluate(_FRAMES)
        page.wait_for_timeout(500)
        is_scene = page.locator(grip).count()
        if is_scene:
            box = page.locator(f"{grip} circle").last.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
        else:
            page.locator(".noUi-handle:visible").last.focus()
        before = spent("ScriptDuration"), spent("TaskDuration")
        frames = page.evaluate("window.frames_")
        for step in range(MOVES):
            if is_scene:
                page.mouse.move(x + right * step, y + down * step)
            else:
                page.keyboard.press("ArrowLeft" if step % 2 else "ArrowRight")
        frames = page.evaluate("window.frames_") - frames
        after = spent("ScriptDuration"), spent("TaskDuration")
        script, task = (b - a for a, b in zip(before, after, strict=True))
        return drawn, script / MOVES, task / frames, float(frames)


def step(root: Path, panel: str) -> tuple[str, float, float, float]:
    """The control that is moved; ms a step in the kernel, of the page's main thread, and of its script."""
    last = "ipywidgets.FloatSlider(description='x')" if panel == _ALONE else f"{panel}()"
    load = "" if panel == _ALONE else f"from neuroviz.explorables import {panel}\n"
    cells = f"import ipywidgets, os\n{load}ipywidgets.HTML(f'<i class=pid>{{os.getpid()}}</i>')", last
    with opened(root, cells) as (page, _received):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")
        drawn = "'.js-plotly-plot .main-svg, .jp-OutputArea .noUi-handle'"
        for is_there in ("!!document.querySelector('.pid')", f"!!document.querySelector({drawn})"):
            page.get_by_role("menuitem", name="Run", exact=True).click()
            page.get_by_text("Run Selected Cell", exact=True).click()
            page.wait_for_function(is_there, polling=200)
        pid = page.locator(".pid").inner_text()
        page.wait_for_timeout(3000)

        def spent() -> list[float]:
            metrics = session.send("Performance.getMetrics")["metrics"]
            page_ms = {one["name"]: 1000 * one["value"] for one in metrics}
            ticks = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]
            kernel_ms = 1000 * sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK")
            return [kernel_ms, page_ms["TaskDuration"], page_ms["ScriptDuration"]]

        def less(after: list[float], before: list[float]) -> list[float]:
            return [(b - a) / KEYS for a, b in zip(before, after, strict=True)]

        sliders, lists = (page.locator(f"{kind}:visible") for kind in (_SLIDER, ".nv select"))
        if not sliders.count() + lists.count():
            page.get_by_role("button", name="More").first.click()
        which = sliders.first if sliders.count() else lists.first
        which.focus()
        name = which.evaluate("one => one.ariaLabel ?? one.closest('.widget-dropdown')?.innerText") or "x"

        def move(n: int) -> None:
            if sliders.count():
                page.keyboard.press("ArrowLeft" if n % 2 else "ArrowRight")
            else:
                which.select_option(index=1 - n % 2)
            page.wait_for_timeout(500)

        for n in range(4):
            move(n)
        before = spent()
        for n in range(KEYS):
            move(n)
        moved, rests = less(spent(), before), spent()
        page.wait_for_timeout(500 * KEYS)
        idle = less(spent(), rests)
        return name.split("\n")[0], *(max(0.0, a - b) for a, b in zip(moved, idle, strict=True))


def steps(effort: Effort) -> Table:
    """A step of each panel that plotly draws."""
    names = PLOTLY[:1] if effort.quick else PLOTLY
    rows = []
    for panel in (*names, _ALONE):
        taken = [step(ROOT, panel) for _ in range(1 if effort.quick else 3)]
        kernel, page, script = (median(column) for column in zip(*(one[1:] for one in taken), strict=True))
        rows.append((panel, taken[0][0], kernel, page, script, kernel + page))
    most = max(rows[:-1], key=lambda row: row[-1])
    quick = sum(row[-1] <= MOST_STEP for row in rows[:-1])
    said = f"{quick} of {len(rows) - 1}; {most[0]} takes {most[-1]:.0f} ms"
    finding = Finding("a step of a panel that plotly draws", said, "≤ 60 ms", most[-1] <= MOST_STEP)
    header = ("", "moved", "kernel, ms", "main thread, ms", "of it script, ms", "together, ms")
    forms = ("", "", ".0f", ".0f", ".0f", ".0f")
    return Table("steps", header, forms, tuple(rows), machine("one server, one browser"), (finding,))


def run(effort: Effort) -> list[Table]:
    roots = {"now": ROOT}
    if before := os.environ.get("BEFORE"):
        roots["before"] = Path(before)
    panels = [name for name in SCENES if name in os.environ.get("SCENES", ",".join(SCENES)).split(",")]
    found = {(panel, name): [] for panel in panels for name in roots} | {(_EMPTY, "now"): []}
    for _ in range(1 if effort.quick else 3):
        for panel, name in found:
            found[panel, name].append(take(roots[name], panel))
    middle = {key: [median(column) for column in zip(*taken, strict=True)] for key, taken in found.items()}
    empty = middle.pop((_EMPTY, "now"))[0]
    rows = tuple(
        (f"{panel}, {name}", first - empty, *numbers) for (panel, name), (first, *numbers) in middle.items()
    )
    script, frames = (pick(middle[panel, "now"][k] for panel in panels) for pick, k in ((max, 1), (min, 3)))
    met = frames >= LEAST_FRAMES and script <= MOST_SCRIPT
    said = f"at least {frames:.0f} frames, at most {script:.1f} ms of script a step"
    finding = Finding("a scene dragged by 60 pointer moves", said, "≥ 55 frames, ≤ 16 ms", met)
    header = ("", "first picture, ms", "script a step, ms", "main thread a frame, ms", "frames of 60 steps")
    forms = ("", ".0f", ".1f", ".0f", ".0f")
    scenes = Table("scene", header, forms, rows, machine("one server, one browser"), (finding,))
    return [scenes, steps(effort)]
