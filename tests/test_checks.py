"""What a notebook or a page of docs/ says stands beside its check, an HTML comment.

A notebook runs once, then its checks do; a page has no names of its own.

<!-- check: lost(arch) == 24 -->          one expression, true in the notebook's names
                                          and those of checks.py
<!-- tested: test_cost.py::test_name -->  the test that shows it
"""

import json
import re
from pathlib import Path

import checks
import nbformat
import pytest
from test_notebooks import SOURCES, by_name, complaints, execute, name_of

from tools.editions import instructor, read
from tools.notebooks import from_source

TESTS = Path(__file__).parent
ALL_TESTS = (TESTS, TESTS.parent / "beyond" / "tests")
PAGES = sorted((TESTS.parent / "docs").rglob("*.md"))
PAGES += sorted((TESTS.parent / "beyond" / "docs").glob("*.md"))
COMMENT = re.compile(r"<!--\s*(check|tested|teacher[^:]*):\s*(.*?)\s*-->", re.DOTALL)


def cells_of(notebook):
    """The texts of a notebook."""
    return [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]


def paragraphs_of(path):
    """The texts of a page."""
    return path.read_text(encoding="utf-8").split("\n\n")


def comments(texts, kind):
    """Each comment of a kind, and what a reader sees of the text that it stands in."""
    return [
        (" ".join(said.split()), COMMENT.sub("", text))
        for text in texts
        for found, said in COMMENT.findall(text)
        if found == kind
    ]


def faults(source, folder, buttons=None):
    """What is wrong with a notebook once it has run, with the solutions of its
    exercises."""
    made = instructor(source)
    last = f"import json, sys\nsys.path.insert(0, {str(TESTS)!r})\nimport checks\n"
    last += (
        f"print(json.dumps(checks.failing({comments(cells_of(source), 'check')!r},"
        " globals())"
    )
    last += f" + checks.not_done(globals(), {buttons})))"
    made.cells.append(nbformat.v4.new_code_cell(last))
    ran = execute(made, folder)
    (said,) = [
        output.text
        for output in ran.cells[-1].outputs
        if output.get("name") == "stdout"
    ]
    return complaints(ran) + json.loads(said)


@pytest.mark.long
@by_name
def test_a_notebook_runs_and_what_it_says_is_true(path, request):
    buttons = None if request.config.getoption("--full") else 1
    assert faults(read(path), path.parent, buttons) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_what_a_page_says_is_true(path):
    assert checks.failing(comments(paragraphs_of(path), "check"), {}) == []


def test_a_page_of_mathematics_has_checks():
    texts = [text for path in PAGES for text in paragraphs_of(path)]
    assert comments(texts, "check") and comments(texts, "tested")


def test_what_is_tested_elsewhere_has_its_test():
    texts = {name_of(path): cells_of(read(path)) for path in SOURCES}
    texts |= {path.name: paragraphs_of(path) for path in PAGES}
    for where, said_there in texts.items():
        for said, _ in comments(said_there, "tested"):
            file, name = said.split("::")
            (found,) = [path for folder in ALL_TESTS for path in folder.rglob(file)]
            text = found.read_text(encoding="utf-8")
            assert f"\ndef {name}(" in text and name.startswith("test_"), (
                f"{where}: {said}"
            )


def test_a_comment_is_found_with_the_text_that_a_reader_sees():
    text = (
        "# %% [markdown]\n# Of 64 <!-- check: n\n# == 64 --> count 40.\n#\n# <!--"
        " teacher (3 min): 46. -->\n"
    )
    assert comments(cells_of(from_source(text)), "check") == [
        ("n == 64", "Of 64  count 40.\n\n")
    ]


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ("n == 64", ""),
        ("many == 1296 and few == 7", ""),
        ("n == 65", "65 does not stand in the text"),
        ("[n, few] == [64, 38]", "38 does not stand in the text"),
        ("few == 8", "few == 8: False"),
        ("n", "n: 64"),
        ("40 + 24 == 64", "names nothing that could become false"),
        ("gone == 7", "NameError"),
        ("n ==", "SyntaxError"),
    ],
)
def test_a_check_that_is_false_or_none_is_seen(check, said):
    found = checks.failing(
        [(check, "Of 64, or 1,296, or 40.")], {"n": 64, "many": 1296, "few": 7}
    )
    assert len(found) == bool(said) and all(said in one for one in found)


@pytest.mark.long
def test_a_notebook_with_a_false_sentence_and_panels_that_fail_is_seen(tmp_path):
    text = """\
# %% [markdown]
# # Small
#
# Two layers lose 26. <!-- check: lost(uniform(4, 2, 2)) == 26 -->
# Three lose 48. <!-- check: lost(uniform(4, 2, 3)) == 48 -->

# %%
from neuroviz.deep.ledger import study_ledger
from neuroviz.explorables import LedgerExplorer
panel = LedgerExplorer()
panel._answer = lambda request: 1 / 0
panel.state = "layers=4"
panel

# %%
long = "width=3;width_out=2;head_dim=5;layers=6;tokens=1"
presets = {"five layers": "layers=5", "two layers": "layers=2", "wordy": long}
panel = LedgerExplorer(presets=presets)
panel._answer = lambda request: 1 / 0 if request.layers == 5 else study_ledger(request)
panel
"""
    sentence, panel, button, wordy = faults(from_source(text), tmp_path)
    assert sentence == "lost(uniform(4, 2, 3)) == 48: False"
    assert panel.startswith("LedgerExplorer, as it opens: ZeroDivisionError")
    assert button.startswith("LedgerExplorer, five layers: ZeroDivisionError")
    assert wordy.startswith("LedgerExplorer, wordy: lightning 3→3")
