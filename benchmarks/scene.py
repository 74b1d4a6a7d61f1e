"""What a scene costs in the page: the singular surface in JupyterLab, in Chromium without a graphics card.

The first picture is processor time of the page's main thread, from Run All to the figure. Then the point is
dragged by 60 pointer moves; where nothing can be dragged, a slider is moved by 60 keys. BEFORE=path takes
another checkout, too, in turns with this one.
"""

import os
from pathlib import Path
from statistics import median

from benchmarks.page import ROOT, opened
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

MOVES, LEAST_FRAMES, MOST_SCRIPT = 60, 55, 16.0
_CELLS = (
    "from neuroviz.explorables import SurfaceExplorer\nSurfaceExplorer().close()",
    "SurfaceExplorer()",
)
_GRIP = ".nv-handle[aria-label='the point']"
_FRAMES = "window.frames_ = 0; (function next() { window.frames_++; requestAnimationFrame(next); })()"


def take(root: Path) -> tuple[float, float, float, float]:
    """First picture, ms; script a step, ms; all of the main thread a frame, ms; frames of 60 steps."""
    with opened(root, _CELLS) as (page, _received):
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def spent(name: str) -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return 1000 * next(one["value"] for one in metrics if one["name"] == name)

        start = spent("TaskDuration")
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.wait_for_selector(f"{_GRIP}, .js-plotly-plot .main-svg", state="attached")
        page.wait_for_function(
            "document.querySelector('.nv-scene canvas, .gl-container canvas')?.width > 300"
        )
        drawn = spent("TaskDuration") - start
        page.wait_for_timeout(3000)
        page.evaluate(_FRAMES)
        page.wait_for_timeout(500)
        is_scene = page.locator(_GRIP).count()
        if is_scene:
            box = page.locator(_GRIP).bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
        else:
            page.locator(".noUi-handle:visible").last.focus()
        before = spent("ScriptDuration"), spent("TaskDuration")
        frames = page.evaluate("window.frames_")
        for step in range(MOVES):
            if is_scene:
                page.mouse.move(x + 0.5 * step, y + 0.5 * step)
            else:
                page.keyboard.press("ArrowLeft")
        frames = page.evaluate("window.frames_") - frames
        after = spent("ScriptDuration"), spent("TaskDuration")
        script, task = (b - a for a, b in zip(before, after, strict=True))
        return drawn, script / MOVES, task / frames, float(frames)


def run(effort: Effort) -> list[Table]:
    roots = {"now": ROOT}
    if before := os.environ.get("BEFORE"):
        roots["before"] = Path(before)
    found = {name: [] for name in roots}
    for _ in range(1 if effort.quick else 3):
        for name, root in roots.items():
            found[name].append(take(root))
    rows = tuple(
        (name, *(median(column) for column in zip(*taken, strict=True))) for name, taken in found.items()
    )
    _, _, script, _, frames = rows[0]
    met = frames >= LEAST_FRAMES and script <= MOST_SCRIPT
    said = f"{frames:.0f} frames, {script:.1f} ms of script a step"
    finding = Finding("the point dragged by 60 pointer moves", said, "≥ 55 frames, ≤ 16 ms", met)
    header = ("", "first picture, ms", "script a step, ms", "main thread a frame, ms", "frames of 60 steps")
    forms = ("", ".0f", ".1f", ".0f", ".0f")
    return [Table("scene", header, forms, rows, machine("one server, one browser"), (finding,))]
