"""The lessons and the glossary: every panel, state, link, question and number in them
is right."""

import re

import all_explorables as explorables
import pytest

import neuroviz as nv
from neuroviz.factorization.determinantal import measure_product
from neuroviz.singular.forms import preimages_of
from tools.editions import read, tasks
from tools.notebooks import FOLDER, ROOT, sources

DOCS = ROOT / "docs"
LESSONS, GLOSSARY, SESSION = (
    (DOCS / f"{name}.md").read_text(encoding="utf-8")
    for name in ("lessons", "glossary", "class_session")
)
# letters without a place to break: a table cell of a printed page holds so many
WIDEST = 34

pages = pytest.mark.parametrize(
    "page", [LESSONS, GLOSSARY], ids=["lessons", "glossary"]
)


def rows(page: str) -> list[list[str]]:
    found = [
        line.strip("|").split("|") for line in page.splitlines() if line.startswith("|")
    ]
    return [[cell.strip() for cell in row] for row in found if "---" not in row[0]]


def unbroken(page: str) -> list[str]:
    """The pieces of table cells that a browser cannot break, links without their
    addresses."""
    shown = [re.sub(r"\]\([^)]*\)", "]", cell) for row in rows(page) for cell in row]
    return [word for cell in shown for word in re.split(r"[\s]|<br>", cell)]


@pages
def test_every_panel_that_is_named_exists(page):
    named = set(re.findall(r"\b(\w+Explorer)\b", page))
    assert named and named <= set(explorables.__all__)


def test_every_state_opens_its_panel_and_changes_nothing_else():
    found = re.findall(r"\*\*Panel\*\* `(\w+)` `([^`]*)`", LESSONS)
    assert len(found) >= 7
    for name, state in found:
        panel = getattr(explorables, name)(state=state)
        assert panel.status.startswith("done"), (name, panel.status)
        assert {part.strip() for part in state.split(";")} <= set(
            panel.state.split(";")
        )
        panel.close()


def test_every_question_stands_in_a_notebook():
    source = "\n".join(path.read_text(encoding="utf-8") for path in sources())
    asked = set(re.findall(r'predict\(\s*"([^"]*)"', source))
    found = re.findall(r'\*\*Collect\*\* "([^"]*)"', LESSONS)
    assert len(found) >= 7 and set(found) <= asked


def test_the_minutes_have_no_gap_and_every_block_is_there():
    blocks = re.findall(r"^### (.*)$", LESSONS, re.MULTILINE)
    used = []
    ends = []
    for line in rows(LESSONS):
        if len(line) > 2:  # another table
            continue
        if line[1] == "block":
            ends.append(0)
            continue
        start, end = map(int, line[0].split("–"))
        assert start == ends[-1] < end
        ends[-1] = end
        used.append(line[1])
    assert ends == [50, 90] and set(used) == set(blocks)


def test_the_session_has_the_minutes_of_the_blocks():
    """Each block of the 50 minutes begins in a row of the session, on its page."""
    session = {row[0]: row for row in rows(SESSION)}
    pages = {
        "One number": "Start",
        "A deep network": "Start",  # its ledger names the kinds; the question follows
        "Put the formula to the test": "Deep dimension",
        "What softmax changes": "The softmax conjecture",
        "Exercise": "Deep dimension",
    }
    blocks = [row for row in rows(LESSONS) if len(row) == 2 and "–" in row[0]]
    for minutes, block in blocks[:6]:
        row = session[minutes.split("–")[0]]
        if block == "Exit ticket":
            assert "exit ticket" in row[2] and minutes == "45–50"
        else:
            assert row[1].startswith(pages[block])
    assert "50" in session


def test_rows_of_the_session_that_need_live_say_what_to_do_without():
    needs = {row[0] for row in rows(SESSION) if any(r"\*" in cell for cell in row)}
    (without,) = re.findall(r"\*\*Without Live\*\* .*?\n\n", SESSION, re.DOTALL)
    assert needs == {"−5", "36"}
    assert {f"Minute {minute}:" for minute in needs - {"−5"}} == set(
        re.findall(r"Minute \d+:", without)
    )


def test_a_block_that_may_be_left_out_takes_its_questions_with_it():
    """Softmax is asked for after its block on the exit ticket only, and the advice says
    so."""
    advice, rest = LESSONS.split("**Running late?** Leave out ")[1].split(
        "**Time left?**", 1
    )
    left_out = re.findall(r'"([^"]*)"', advice)
    (ticket,) = re.findall(r"### Exit ticket\n(.*)", rest, re.DOTALL)
    asked = re.findall(r"[^.?:]*softmax[^.?]*\?", ticket)
    assert (
        left_out[0] == "What softmax changes"
        and [each.strip() for each in asked] == left_out[1:]
    )


def test_every_number_comes_out_again():
    found = re.findall(r"\*\*(\d+)\*\*\s+\(`([^`]*)`\)", LESSONS)
    assert len(found) >= 8 and len(found) == len(re.findall(r"\*\*\d+\*\*", LESSONS))
    names = {"nv": nv, "measure_product": measure_product, "preimages_of": preimages_of}
    for number, code in found:
        assert eval(code, names) == int(number), code


def test_the_exercises_that_the_lessons_name_are_there():
    for name in ("02_single_layer_fibers", "04_deep_dimension"):
        path = FOLDER / f"{name}.py"
        assert tasks(read(path)) and "## Build one yourself" in path.read_text(
            encoding="utf-8"
        )


def test_the_glossary_has_two_columns_and_no_word_twice():
    table = [row for row in rows(GLOSSARY) if row[0] != "algebraic geometry"]
    assert len(table) >= 25 and all(len(row) == 2 and all(row) for row in table)
    words = [row[0] for row in table]
    assert len(words) == len(set(words))
    for row in table:
        assert re.search(
            r"<br>[^<]+\.<br>\[.*\]"
            r"\(\.\./(beyond/)?notebooks/.*\.ipynb\), `\w+Explorer`$",
            row[1],
        )


@pages
def test_a_page_prints_well(page):
    """Tables of at most four columns, nothing in a cell too wide to break."""
    assert all(len(row) <= 4 for row in rows(page))
    assert max(map(len, unbroken(page))) <= WIDEST


def test_what_would_not_print_well_is_seen():
    wide = "| a | b |\n| --- | --- |\n| `state=1;state=2;state=3;state=4;state=5` | x |"
    assert max(map(len, unbroken(wide))) > WIDEST
