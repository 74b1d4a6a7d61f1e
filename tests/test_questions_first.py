"""No answer is to be seen or heard before it is asked for: in scenes, on the pages, and
in JupyterLab after Run All."""

import re
import shutil
from pathlib import Path

import all_explorables
import pytest
from scenes import redraw
from test_book import browse  # noqa: F401
from test_browser import lab, open_page, run_all  # noqa: F401

from neuroviz.explorables import (
    FiberExplorer,
    HypothesesExplorer,
    NewVariableExplorer,
    ProofExplorer,
    ResultantExplorer,
    SectionExplorer,
    SurfaceExplorer,
)
from tools.book import site
from tools.notebooks import sources

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).parents[1]

# What one takes hold of, or chooses.
HOLDS = ":is(.nv-handle, [role=gridcell])"
# Topic → panel, its state, and words that only an answer has.
ASKING = {
    "fibre of a layer": (
        FiberExplorer,
        "",
        r"the fibre|same|first order|second order|slope|silent",
    ),
    "common root": (ResultantExplorer, "", r"no root|is common|are common"),
    "yellow line": (
        SurfaceExplorer,
        "",
        r"pinch|cross|isolated|smooth|boundary|closure|silent|set of weights",
    ),
    "tokens that meet": (
        ProofExplorer,
        "",
        r"does nothing|blind|forces|distance is left|still silent",
    ),
    "P is let go": (NewVariableExplorer, "", r"a·d [=≠] b·c|rank \d|made of"),
    "where the formula stops": (
        HypothesesExplorer,
        "head_1=2;head_2=2;inner=2;outer=2",
        r"is off in|rank 1|measured \d",
    ),
    "places of the circle": (
        all_explorables.BlendingExplorer,
        "",
        r"what it was|stands still|turned by|120°",
    ),
    "heads of rank a": (
        all_explorables.BlendingExplorer,
        "view=heads;head_dim=2",
        r"rank \d|ranks \d|allowed|silent|stand still",
    ),
    "section": (
        SectionExplorer,
        "offset=0.2",
        r"pinch|cross|isolated|cusp|node|closure",
    ),
}

# All that is seen of an element, and all that a screen reader or a pointer says.
SENSED = """(root) => {
  // Of a list that is closed, the other choices are not seen.
  const lists = [...root.querySelectorAll("select")];
  const cut = (text, list) => text.replace(list.innerText, "");
  const words = lists.reduce(cut, root.innerText);
  const said = [words, ...lists.map((list) => list.selectedOptions[0]?.text ?? "")];
  for (const one of root.querySelectorAll("*")) {
    if (!one.checkVisibility({visibilityProperty: true})) continue;
    for (const name of ["aria-label", "aria-valuetext", "title", "alt"]) {
      said.push(one.getAttribute(name) ?? "");
    }
  }
  return said.join("\\n");
}"""


def sensed(page, selector):
    """The words of all elements of this kind."""
    return [one.evaluate(SENSED) for one in page.locator(selector).all()]


@pytest.mark.parametrize("topic", ASKING)
def test_a_scene_says_its_answer_only_once_somebody_has_moved_it(scene, topic):
    kind, state, answer = ASKING[topic]
    page = scene(state, kind=kind)
    page.evaluate("document.querySelector('.nv').classList.add('nv-asking')")
    redraw(page, kind(state=state))
    page.wait_for_timeout(200)
    (before,) = sensed(page, ".nv")
    assert not re.search(answer, before)
    page.locator(f"{HOLDS}[tabindex='0']").first.focus()
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    page.wait_for_timeout(200)
    (after,) = sensed(page, ".nv")
    assert re.search(answer, after)


def test_every_topic_of_the_notebooks_is_tried():
    text = "".join(path.read_text(encoding="utf-8") for path in sources())
    assert set(re.findall(r'asks="([^"]+)"', text)) == set(ASKING)


def asking_panels():
    """Notebook → the topics of its panels, in order."""
    found = {}
    for path in sources():
        text = path.read_text(encoding="utf-8")
        topics = re.findall(r'Explorer\([^()]*asks="([^"]+)"', text)
        if topics:
            found[path] = topics
    return found


@pytest.mark.full
def test_the_pages_say_no_answer_before_somebody_has_guessed(tmp_path, browse):
    panels = asking_panels()
    folder = site.build(tmp_path, [path.stem for path in panels])
    for path, topics in panels.items():
        page = browse(next(folder.rglob(f"notebooks/{path.stem}.html")))
        for number, topic in enumerate(topics):
            panel = page.locator(".nv-panel.nv-asking").first
            panel.scroll_into_view_if_needed()
            panel.locator(HOLDS).first.wait_for()
            answer = ASKING[topic][2]
            assert not re.search(answer, panel.evaluate(SENSED)), (path.stem, number)
            name = panel.get_attribute("id")
            panel.locator(".nv-show").click()
            opened = page.locator(f"[id='{name}']")
            assert re.search(answer, opened.evaluate(SENSED)), (path.stem, number)
            assert "nv-asking" not in opened.get_attribute("class")
        questions = page.locator("details.nv-question").all()
        assert questions and not any(one.get_attribute("open") for one in questions)


@pytest.mark.full
def test_after_run_all_no_answer_is_on_the_screen(lab, open_page):
    for path, topics in asking_panels().items():
        shutil.copy(path.with_suffix(".ipynb"), lab.notebooks)
        page = open_page(lab.url(f"{path.stem}.ipynb"))
        run_all(page, lab)
        for topic in topics:
            scroll_to(page, f".nv.nv-asking :is({HOLDS})")
            panel = page.locator(".nv.nv-asking").first
            answer = ASKING[topic][2]
            assert not re.search(answer, panel.evaluate(SENSED)), topic
            panel.get_by_role("button", name="Show me").click()
            page.wait_for_timeout(500)
        page.close()


def scroll_to(page, selector):
    """JupyterLab keeps cells far from the screen out of the page, and after Run All it
    shows the last one."""
    page.mouse.move(640, 500)
    for _ in range(10):
        page.mouse.wheel(0, -5000)
        page.wait_for_timeout(100)
    for _ in range(200):
        if page.locator(selector).count():
            break
        page.mouse.wheel(0, 300)
        page.wait_for_timeout(100)
    page.locator(selector).first.scroll_into_view_if_needed(timeout=10_000)
