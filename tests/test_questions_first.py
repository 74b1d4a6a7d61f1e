"""No answer is to be seen or heard before it is asked for: in scenes, on the pages, and
in JupyterLab after Run All."""

import re
import shutil
from pathlib import Path

import all_explorables
import pytest
from scenes import load, place, redraw, settle
from test_book import browse  # noqa: F401
from test_browser import lab, open_page, run_all  # noqa: F401

from neuroviz.explorables import (
    FactorizationExplorer,
    FiberExplorer,
    HypothesesExplorer,
    LedgerExplorer,
    NewVariableExplorer,
    ProofExplorer,
    ResultantExplorer,
    SectionExplorer,
    SurfaceExplorer,
    VirtualWeightsExplorer,
)
from tools.book import site
from tools.editions import read
from tools.notebooks import FOLDER, from_source, name_of, place_of, sources

pytestmark = pytest.mark.browser

ROOT = Path(__file__).parents[1]

# What one takes hold of, or chooses.
HOLDS = ":is(.nv-handle, [role=gridcell])"
# A figure that is there: a scene, or a chart.
DRAWN = ":is(.nv-handle, [role=gridcell], .plot-container)"
# Topic → panel, its state, and words that only an answer has.
ASKING = {
    "freedom of a product": (
        FactorizationExplorer,
        "",
        r"\d − \d|silent here|directions? (is|are) silent|dimensions? remain",
    ),
    "sum of a network": (
        LedgerExplorer,
        "",
        r"−\d|directions? (is|are) silent|another basis|exact rank",
    ),
    "softmax layer": (
        FiberExplorer,
        "kind=softmax;along=0",
        r"the fibre|same|have moved|first order|slope|silent",
    ),
    "softmax network": (
        LedgerExplorer,
        "layers=4",
        r"−\d|directions? (is|are) silent|another basis|exact rank",
    ),
    "fibre of a layer": (
        FiberExplorer,
        "",
        r"the fibre|same|first order|second order|slope|silent",
    ),
    "basis between layers": (
        VirtualWeightsExplorer,
        "along=0",
        r"moved yet|recovered|same\b|stands? still",
    ),
    "factor of L": (
        VirtualWeightsExplorer,
        "view=rescale;layers=2;width=3;log_1=0;log_2=0;log_3=0;log_4=0",
        r"all λ are 1|all factors are 1|same\b|costs λ₀",
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
        r"does nothing|see one|sees one|forces|distance is left|still silent",
    ),
    "P is let go": (NewVariableExplorer, "", r"a·d [=≠] b·c|rank \d|made of"),
    "the formula put to the test": (
        HypothesesExplorer,
        "head_1=2;head_2=2;inner=3;outer=3",
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
        r"pinch|cross|isolated|cusp|closure",
    ),
    "terms of the sum": (
        all_explorables.UnrollingExplorer,
        "",
        r"between them|tells M|joins x|\b81\b",
    ),
}
# The same of charts, which plotly draws: all that they say is in the picture.
ASKING_CHARTS = {
    "a third token": (
        all_explorables.SameFunctionExplorer,
        "view=poles;third=0",
        r"= −?q|no pole is shared|Poles of layer",
    ),
    "numbers by heart": (
        all_explorables.MemorisationExplorer,
        "over=P",
        r"half is learnt",
    ),
    "second set of weights": (
        all_explorables.SearchExplorer,
        "",
        r"2 points|swapped|found \d+ times",
    ),
    "silent part": (
        all_explorables.RealModelsExplorer,
        "",
        r"less to lose|\d %|queries a key|Falcon",
    ),
}
ANSWERS_OF = {topic: row[2] for topic, row in (ASKING | ASKING_CHARTS).items()}

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


@pytest.mark.long
@pytest.mark.parametrize("topic", ASKING)
def test_a_scene_says_its_answer_only_once_somebody_has_moved_it(scene, topic):
    kind, state, answer = ASKING[topic]
    page = scene(state, kind=kind)
    page.evaluate("document.querySelector('.nv').classList.add('nv-asking')")
    redraw(page, kind(state=state))
    settle(page)
    (before,) = sensed(page, ".nv")
    assert not re.search(answer, before)
    begun = place(page)
    page.locator(f"{HOLDS}[tabindex='0']").first.focus()
    for key in ("ArrowRight", "ArrowUp", "Enter"):
        page.keyboard.press(key)
    settle(page)
    # What only Python says comes with its answer: here that of the place it began at.
    page.evaluate("place => neurovizScenes.talkOf(box).set(place)", begun)
    settle(page)
    (after,) = sensed(page, ".nv")
    assert re.search(answer, after)


def test_the_chart_of_steps_is_empty_until_somebody_has_guessed(scene):
    page = scene("kind=softmax;along=0", kind=FiberExplorer)
    dot = page.locator(".nv-view-steps .dot").first
    assert dot.is_visible()
    page.evaluate("document.querySelector('.nv').classList.add('nv-asking')")
    assert not dot.is_visible()


@pytest.mark.long
@pytest.mark.parametrize("topic", ASKING_CHARTS)
def test_a_chart_says_its_answer_only_once_somebody_has_moved_it(bare_page, topic):
    kind, state, answer = ASKING_CHARTS[topic]
    bare_page.set_content("<div id='box'></div>")
    load(bare_page, "plotly")

    def drawn(panel):
        figure = [panel.figure.drawn["data"], panel.figure.drawn["layout"]]
        bare_page.evaluate("([d, l]) => code.default.react(box, d, l)", figure)
        (seen,) = sensed(bare_page, "#box")
        return seen

    asking = kind(state=state, asks=topic)
    whole = kind(state=state)
    assert re.search(answer, drawn(whole) + whole.description)
    assert not re.search(answer, drawn(asking))
    asking.show_words()
    assert re.search(answer, drawn(asking))
    assert drawn(asking) == drawn(whole)
    asking.ask_again()
    assert not re.search(answer, drawn(asking))


def test_every_topic_of_the_notebooks_is_tried():
    text = "".join(path.read_text(encoding="utf-8") for path in sources())
    assert set(re.findall(r'asks="([^"]+)"', text)) == set(ANSWERS_OF)


# The words of a notebook. What Further has comes after all questions of the path.

FURTHER = "## Further"
PATH = [path for path in sources() if path.parent == FOLDER]

# Notebook → question, and words that answer it.
ANSWERS = [
    ("00_start", "How many dimensions does the set", r"\b(38|26)\b|[Ii]nterface"),
    ("01_matrix_factorization", "24 entries go in.", r"\b(15|8)\b|a\(2d|12 − 4"),
    (
        "02_single_layer_fibers",
        "The step along the curve",
        r"second order|slope|only just|millionth|varepsilon\^2|like ε",
    ),
    ("02_single_layer_fibers", "18 directions.", r"[Oo]ne direction is|only \*silent"),
    ("02_single_layer_fibers", "How many of the six", r"\b[Ss]wap|second branch"),
    ("03_singular_locus", "When is R = 0?", r"roots? meet|[Rr]esultant|length 0"),
    ("03_singular_locus", "Which points of the yellow", r"[Dd]otted|to its end|pinch"),
    ("03_singular_locus", "The plane moves from", r"cusp"),
    (
        "04_deep_dimension",
        "Layer 1 changes the basis",
        r"\b[Ff]our (matrices|move)|C\^",
    ),
    ("04_deep_dimension", "Three layers, and M₁", r"\b512\b|2\^9|3\^\{l"),
    ("04_deep_dimension", "144 parameters.", r"\b61\b|\(l\+1\)|48 - 32"),
    ("05_softmax_conjecture", "d = d′ = 3, a = 2, one", r"sharper|\b17\b|[Nn]otice a"),
    ("05_softmax_conjecture", "Four layers.", r"Eq\. 16|3\.10|in each layer"),
]
# All that the notebooks before say of softmax is that lightning has none.
OF_SOFTMAX = r"(?i)softmax[^.]*(rescaling|factor|dimension|gone|more)|theorem 3\.9"


def spoken(cells):
    """What is read of cells, and what opens by a press apart: comments are not read."""
    texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
    text = re.sub(r"<!--.*?-->", "", "\n".join(texts), flags=re.DOTALL)
    return re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL), text


def path_of(notebook):
    """Its cells as far as the path goes."""
    cells = notebook.cells
    ends = [n for n, cell in enumerate(cells) if cell.source.startswith(FURTHER)]
    return cells[: ends[0]] if ends else cells


def headings(cells):
    return re.findall(r"^#+ .*", spoken(cells)[1], re.MULTILINE)


@pytest.mark.parametrize(("name", "question", "answer"), ANSWERS)
def test_the_text_above_a_question_and_the_headings_do_not_answer_it(
    name, question, answer
):
    cells = read(FOLDER / f"{name}.py").cells
    (place,) = [
        n
        for n, cell in enumerate(cells)
        if cell.cell_type == "code" and f'"{question}' in cell.source
    ]
    above, _ = spoken(cells[:place])
    assert not re.search(answer, above), re.search(answer, above)
    assert not [said for said in headings(cells) if re.search(answer, said)]


def places_of(name, words):
    """The numbers of the cells with code that has these words."""
    cells = read(FOLDER / f"{name}.py").cells
    return [
        number
        for number, cell in enumerate(cells)
        if cell.cell_type == "code" and words in cell.source
    ]


def test_only_the_last_question_about_the_surface_opens_it():
    panel, last = places_of("03_singular_locus", 'asks="yellow line"')
    assert [last] == places_of("03_singular_locus", '"Which points of the yellow')
    for words in ('"How many kinds of points', '"Up to rescaling, how many'):
        (place,) = places_of("03_singular_locus", words)
        assert panel < place < last
    (buttons,) = places_of("03_singular_locus", '"s = 1"')
    assert last < buttons


def test_the_order_of_a_step_is_asked_before_the_panel_that_shows_it():
    (question,) = places_of("02_single_layer_fibers", '"The step along the curve')
    (panel,) = places_of("02_single_layer_fibers", "FiberExplorer(asks=")
    assert question < panel


def test_the_button_of_two_branches_stands_behind_the_question():
    (question,) = places_of("02_single_layer_fibers", '"How many of the six leave')
    (buttons,) = places_of("02_single_layer_fibers", '"rank one":')
    assert question < buttons


def test_what_softmax_changes_is_not_said_before_it_is_asked():
    for path in PATH:
        if path.stem < "05":
            _, text = spoken(path_of(read(path)))
            assert not re.search(OF_SOFTMAX, text), path.stem


def test_a_fold_and_a_comment_are_told_apart():
    fold = "<details><summary>Why?</summary>\n#\n# 17</details>"
    text = f"# %% [markdown]\n# Open. <!-- 38 --> {fold}\n"
    seen, whole = spoken(from_source(text).cells)
    assert "17" not in seen and "17" in whole and "38" not in whole


# Panels without a topic beside a question, and why they answer nothing.
AT_REST = {
    "00_start": "opens with one layer, and the question is about two",
    "05_softmax_conjecture": "is a chart that no question is about",
}


def test_a_panel_beside_a_question_asks_first():
    """In the section of a question, the one before and the one after."""
    quiet = {}
    for path in PATH:
        text = uncommented(path.read_text(encoding="utf-8"))
        sections = ["", *re.split(r"^# ##+ ", text, flags=re.MULTILINE), ""]
        for around in zip(sections, sections[1:], sections[2:], strict=False):
            if not any("predict(\n" in section for section in around):
                continue
            panels = re.findall(r"\w+Explorer\((?:[^()]|\([^()]*\))*\)", around[1])
            for panel in panels:
                if "asks=" not in panel:
                    quiet.setdefault(path.stem, []).append(panel.split("(")[0])
    assert quiet == {
        "00_start": ["LedgerExplorer"],
        "05_softmax_conjecture": ["Figure3Explorer"],
    }
    assert {*quiet} == {*AT_REST}


def uncommented(text):
    """The code of a notebook, and its headings."""
    lines = text.splitlines()
    return "\n".join(one for one in lines if one[:1] != "#" or one[:4] == "# ##")


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
    folder = site.build(tmp_path, [name_of(path) for path in panels])
    for path, topics in panels.items():
        page = browse(folder / f"{place_of(name_of(path))}.html")
        for number, topic in enumerate(topics):
            panel = page.locator(".nv-panel.nv-asking").first
            panel.scroll_into_view_if_needed()
            panel.locator(DRAWN).first.wait_for()
            answer = ANSWERS_OF[topic]
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
            scroll_to(page, f".nv.nv-asking :is({DRAWN})")
            panel = page.locator(".nv.nv-asking").first
            answer = ANSWERS_OF[topic]
            assert not re.search(answer, panel.evaluate(SENSED)), topic
            asking = panel.element_handle()
            panel.get_by_role("button", name="Show me").click()
            opened = "one => !one.classList.contains('nv-asking')"
            page.wait_for_function(opened, arg=asking)
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
