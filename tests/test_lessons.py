"""The lesson plans and the glossary: every panel, state, link, question and number in them is right."""

import re
from pathlib import Path

import pytest

import neuroviz as nv
from neuroviz import explorables
from neuroviz.factorization.determinantal import measure_product
from tools.editions import read, tasks
from tools.notebooks import FOLDER, sources

DOCS = FOLDER.parent / "docs"
PLANS = [DOCS / "lesson_50.md", DOCS / "lesson_90.md"]
PAGES = [*PLANS, DOCS / "glossary.md"]
MINUTES = {"lesson_50": 50, "lesson_90": 90}
WIDEST = 34  # letters without a place to break: a table cell of a printed page holds so many

plans = pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
pages = pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)


def text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def panels(page: str) -> list[tuple[str, str]]:
    return re.findall(r"\*\*Panel\*\* `(\w+)` `([^`]*)`", page)


def questions(page: str) -> list[str]:
    return [" ".join(q.split()) for q in re.findall(r'\*\*Collect\*\* "([^"]*)"', page)]


def parts(page: str) -> list[tuple[int, int, str]]:
    return [(int(a), int(b), name) for a, b, name in re.findall(r"^### (\d+)–(\d+) · (.*)$", page, re.M)]


def rows(page: str) -> list[list[str]]:
    found = [line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in row] for row in found if "---" not in row[0]]


def numbers(page: str) -> list[tuple[int, str]]:
    found = re.findall(r"^\* \*\*(\d+)\*\*[^`]*?:\s+`([^`]*)`", page, re.M)
    return [(int(number), code) for number, code in found]


def unbroken(page: str) -> list[str]:
    """The longest pieces of table cells that a browser cannot break, links without their addresses."""
    shown = [re.sub(r"\]\([^)]*\)", "]", cell) for row in rows(page) for cell in row]
    return [word for cell in shown for word in re.split(r"[\s]|<br>", cell)]


def asked() -> set[str]:
    """All questions of the notebooks, and the headings under which their exercises stand."""
    source = "\n".join(text(path) for path in sources())
    return set(re.findall(r'predict\(\s*"([^"]*)"', source))


@pages
def test_every_panel_that_is_named_exists(path):
    named = set(re.findall(r"\b(\w+Explorer)\b", text(path)))
    assert named and named <= set(explorables.__all__)


@plans
def test_every_state_opens_its_panel_and_changes_nothing_else(path):
    assert len(panels(text(path))) >= 4
    for name, state in panels(text(path)):
        panel = getattr(explorables, name)(state=state)
        assert panel.status.startswith("done"), (name, panel.status)
        shown = dict(part.split("=") for part in panel.state.split(";"))
        for part in filter(None, state.split(";")):
            control, value = part.strip().split("=")
            assert shown[control] == value
        panel.close()


def test_a_state_that_does_not_fit_is_refused():
    with pytest.raises(ValueError):
        explorables.FiberExplorer(state="preset=elliptic")


@plans
def test_every_question_stands_in_a_notebook(path):
    found = questions(text(path))
    assert len(found) >= 3 and set(found) <= asked()


@pages
def test_every_link_leads_somewhere(path):
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text(path)) if not link.startswith("http")]
    assert links and all((DOCS / link.split("#")[0]).exists() for link in links)


@plans
def test_the_minutes_have_no_gap_and_fill_the_session(path):
    timeline = parts(text(path))
    assert [a for a, _, _ in timeline] == [0, *(b for _, b, _ in timeline[:-1])]
    assert all(a < b for a, b, _ in timeline) and timeline[-1][1] == MINUTES[path.stem]


@plans
def test_the_table_says_what_the_parts_say(path):
    page = text(path)
    table = [row for row in rows(page) if row[0] != "minute"]
    assert [(row[0], row[1]) for row in table] == [(f"{a}–{b}", name) for a, b, name in parts(page)]
    for row, body in zip(table, re.split(r"^### .*$", page, flags=re.M)[1:], strict=True):
        assert [name for name, _ in panels(body)][:1] == re.findall(r"`(\w+)`", row[2])
        for number in re.findall(r"\d+", row[3]):
            assert f"Answer: **{number}**" in " ".join(body.split())


@plans
def test_every_number_comes_out_again(path):
    found = numbers(text(path))
    assert len(found) >= 8
    for number, code in found:
        assert eval(code, {"nv": nv, "measure_product": measure_product}) == number, code


@plans
def test_every_answer_is_among_the_numbers_or_follows_from_them(path):
    """1 = 18 − 17, 2 = two sheets and 2 of the six permutations, 4 = 64 − 60, 2 = 25 − 23."""
    page = text(path)
    bold = {int(n) for n in re.findall(r"\*\*(\d+)\*\*", page)}
    measured = {number for number, _ in numbers(page)}
    assert bold - measured <= {"lesson_50": {25 - 23}, "lesson_90": {18 - 17, 2, 64 - 60}}[path.stem]


@plans
def test_a_plan_has_everything_a_teacher_needs(path):
    page = text(path)
    for needed in ("## Objectives", "**Prerequisites.**", "glossary.md", "## Timeline", "Exit ticket"):
        assert needed in page
    assert page.count("**What goes wrong.**") >= 5 and "Exercise" in page


def test_the_exercises_that_the_plans_name_are_there():
    for name in ("02_single_layer_fibers", "04_deep_dimension"):
        path = FOLDER / f"{name}.py"
        assert tasks(read(path)) and "## Build one yourself" in text(path)


def test_the_glossary_has_two_columns_and_no_word_twice():
    table = [row for row in rows(text(DOCS / "glossary.md")) if row[0] != "algebraic geometry"]
    assert len(table) >= 25 and all(len(row) == 2 and all(row) for row in table)
    words = [row[0] for row in table]
    assert len(words) == len(set(words))
    for row in table:
        assert re.search(r"<br>[^<]+\.<br>\[.*\]\(\.\./notebooks/.*\.ipynb\), `\w+Explorer`$", row[1])


@pages
def test_a_page_prints_well(path):
    """Tables of at most four columns, nothing in a cell too wide to break; running text in short lines."""
    page = text(path)
    assert all(len(row) <= 4 for row in rows(page))
    assert max(map(len, unbroken(page))) <= WIDEST
    assert all(len(line) <= 110 for line in page.splitlines() if not line.startswith("|"))


def test_what_would_not_print_well_is_seen():
    wide = "| a | b |\n| --- | --- |\n| `state=1;state=2;state=3;state=4;state=5` | x |"
    assert max(map(len, unbroken(wide))) > WIDEST
