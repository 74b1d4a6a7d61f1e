"""Both files of every notebook say the same and carry no results; test_checks.py runs
them."""

import re
from pathlib import Path

import jupytext
import nbformat
import pytest
from nbclient import NotebookClient

from tools.notebooks import (
    FOLDER,
    FOLDERS,
    KERNEL,
    LANGUAGE,
    ROOT,
    from_source,
    name_of,
    sources,
    to_text,
)

SOURCES = sources()
MOST_WORDS = 1200
MOST_CELLS = 10

# The tags a cell may carry. JupyterLab ignores a misspelt one without a word.
TAGS = {
    "exercise",  # a question to the reader
    "solution",  # its answer; the students' version leaves it out
    "instructor",  # a remark to the teacher; the students' version leaves it out
    "raises-exception",  # the error is what the cell is there to show
}
# plumbing: JupyterLab and the static edition fold the code away
FOLDED = {"source_hidden": True}


by_name = pytest.mark.parametrize("path", SOURCES, ids=name_of)


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def contents(notebook: nbformat.NotebookNode) -> list[tuple]:
    return [(cell.cell_type, cell.source, cell.metadata) for cell in notebook.cells]


def leftovers(notebook: nbformat.NotebookNode) -> list[str]:
    """What an execution, a browser or an editor left behind in a notebook."""
    found = [
        f"metadata.{key}"
        for key in sorted(set(notebook.metadata) - {"kernelspec", "language_info"})
    ]
    for number, cell in enumerate(notebook.cells):
        if cell.get("outputs"):
            found.append(f"outputs of cell {number}")
        if cell.get("execution_count") is not None:
            found.append(f"execution count of cell {number}")
        kept = (
            cell.metadata | {"jupyter": None}
            if cell.metadata.get("jupyter") == FOLDED
            else cell.metadata
        )
        found += [
            f"metadata.{key} of cell {number}"
            for key in sorted(kept)
            if kept[key] and key != "tags"
        ]
    return found


def size(notebook: nbformat.NotebookNode) -> tuple[int, int]:
    """How many words are read, a formula as one, and how many cells show code; what is
    folded apart."""
    text = "\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )
    for apart in (r"<!--.*?-->", r"<details.*?</details>", r"(?<=\]\()[^)]*"):
        text = re.sub(apart, "", text, flags=re.DOTALL)
    text = re.sub(r"\$\$.*?\$\$|\$[^$]+\$", "formula", text, flags=re.DOTALL)
    words = [word for word in text.split() if re.search(r"\w", word)]
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return len(words), sum(cell.metadata.get("jupyter") != FOLDED for cell in cells)


def complaints(notebook: nbformat.NotebookNode) -> list[str]:
    """The errors and warnings that an executed notebook shows to its reader."""
    found = []
    for number, cell in enumerate(notebook.cells):
        if "raises-exception" in cell.metadata.get("tags", []):
            continue
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                found.append(f"cell {number}: {output.ename}: {output.evalue}")
            elif output.get("name") == "stderr" and re.search(
                r"Traceback|Error|Warning", output.text
            ):
                found.append(f"cell {number} prints: {output.text.strip()}")
    return found


def execute(
    notebook: nbformat.NotebookNode, folder: Path = FOLDER
) -> nbformat.NotebookNode:
    """Run all cells in a kernel of their own, in a folder."""
    # a pressed button sends a figure, which takes its time
    patience = {"timeout": 600, "iopub_timeout": 600}
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        notebook, kernel_name=KERNEL["name"], resources=where, **patience
    )
    return client.execute()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_line_begins_with_a_comment_and_goes_on_with_words(path):
    """They would be HTML in JupyterLab: **bold** would show its stars."""
    begins = re.compile(r"^# (?:[*-] |\d+\. )?<!--.*?--> *\S", re.MULTILINE)
    assert begins.findall(path.read_text(encoding="utf-8")) == []


def test_there_is_a_notebook_to_start_with():
    assert FOLDER / "00_start.py" in SOURCES


def written() -> list[Path]:
    """All notebooks that are there; not what JupyterLab has kept of them."""
    return [path for one in FOLDERS for path in (ROOT / one).glob("*.ipynb")]


def test_every_notebook_is_a_pair_named_by_number_or_beyond():
    assert {path.with_suffix(".py") for path in written()} == {*SOURCES}, (
        "run `make notebooks`"
    )
    assert all(
        re.fullmatch(r"\d\d_[a-z0-9_]+|beyond/[a-z_]+", name_of(path))
        for path in SOURCES
    )


@by_name
def test_both_files_have_the_same_cells(path):
    assert contents(read(path.with_suffix(".ipynb"))) == contents(
        jupytext.read(path)
    ), "run `make notebooks`"


@by_name
def test_a_notebook_is_kept_without_results(path):
    notebook = read(path.with_suffix(".ipynb"))
    nbformat.validate(notebook)
    assert leftovers(notebook) == [], "run `make notebooks`"


@by_name
def test_both_files_name_the_same_kernel(path):
    for notebook in (read(path.with_suffix(".ipynb")), jupytext.read(path)):
        assert notebook.metadata.kernelspec == KERNEL
        # A pair declared here makes JupyterLab compare modification times, which a
        # clone does not keep.
        assert "formats" not in notebook.metadata.get("jupytext", {})


def test_every_shipped_notebook_says_its_language_as_the_kernel_does():
    from ipykernel.ipkernel import IPythonKernel

    said = {
        key: value
        for key, value in IPythonKernel.language_info.items()
        if key != "version"
    }
    assert said == LANGUAGE
    for path in written():
        assert read(path).metadata.language_info == LANGUAGE, path


@by_name
def test_tags_come_from_the_list(path):
    used = {
        tag
        for cell in jupytext.read(path).cells
        for tag in cell.metadata.get("tags", [])
    }
    assert used <= TAGS


@by_name
def test_a_notebook_is_one_sitting(path):
    words, cells = size(jupytext.read(path))
    assert words <= MOST_WORDS and cells <= MOST_CELLS, (
        f"{words} words, {cells} cells with code in sight"
    )


PATH = [path for path in SOURCES if path.parent == FOLDER]
FOUR_HOURS = 240


def minutes_of(path: Path) -> int:
    """What a notebook says of itself."""
    (said,) = re.findall(r"About (\d+) minutes", path.read_text(encoding="utf-8"))
    return int(said)


def test_the_path_takes_four_hours_and_its_first_notebook_says_how_long_each_is():
    said = {path.name.removesuffix(".py"): minutes_of(path) for path in PATH}
    assert len(said) == 6 and sum(said.values()) <= FOUR_HOURS
    start = (FOLDER / "00_start.py").read_text(encoding="utf-8")
    table = re.findall(r"^# \| \[.*\]\((\w+)\.ipynb\) \| (\d+) \|", start, re.MULTILINE)
    listed = {name: int(minutes) for name, minutes in table}
    assert listed | {"00_start": said["00_start"]} == said and len(listed) == 5


# The checks above, on notebooks that have to fail them.

SMALL = """\
# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3 (ipykernel)
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Add two numbers

# %% jupyter={{"source_hidden": true}}
{}
"""


def test_writing_a_notebook_twice_gives_the_same_text():
    first, second = (to_text(from_source(SMALL.format("1 + 1"))) for _ in range(2))
    assert first == second


def test_a_changed_cell_is_seen():
    assert contents(from_source(SMALL.format("1 + 1"))) != contents(
        from_source(SMALL.format("1 + 2"))
    )
    retagged = SMALL.format("1 + 1").replace("source_hidden", "outputs_hidden")
    assert contents(from_source(SMALL.format("1 + 1"))) != contents(
        from_source(retagged)
    )


def test_words_are_those_that_are_read_and_cells_those_whose_code_shows():
    text = """\
# %% [markdown]
# # Add *two* numbers
#
# Here $a + b = 2$ holds. <!-- check: a + b == 2 -->
#
# <details><summary>Proof</summary>
#
# Not read.
#
# </details>

# %%
1 + 1

# %% jupyter={"source_hidden": true}
1 + 2
"""
    assert size(from_source(text)) == (6, 1)


def test_outputs_and_widget_state_are_seen():
    notebook = from_source(SMALL.format("1 + 1"))
    assert leftovers(notebook) == []
    notebook.cells[1].metadata = {"jupyter": {"outputs_hidden": True}, "scrolled": True}
    assert leftovers(notebook) == [
        "metadata.jupyter of cell 1",
        "metadata.scrolled of cell 1",
    ]
    notebook.cells[1].metadata = {}
    notebook.metadata["widgets"] = {"state": {}}
    notebook.cells[1].execution_count = 1
    notebook.cells[1].outputs = [nbformat.v4.new_output("stream", text="2")]
    assert leftovers(notebook) == [
        "metadata.widgets",
        "outputs of cell 1",
        "execution count of cell 1",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (
            "import warnings; warnings.warn('too few inputs')",
            "UserWarning: too few inputs",
        ),
        (
            "import logging; logging.error('ValueError in a callback')",
            "ValueError in a callback",
        ),
    ],
)
def test_a_notebook_that_complains_is_seen(code, said):
    (found,) = complaints(execute(from_source(SMALL.format(code))))
    assert said in found


def test_a_notebook_that_fails_is_seen():
    with pytest.raises(Exception, match="ZeroDivisionError"):
        execute(from_source(SMALL.format("1 / 0")))
