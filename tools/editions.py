"""Build two editions of the notebooks from their one source, the .py files in
notebooks/ and beyond/notebooks/.

    student      without the teacher's remarks and the solutions of exercises; folded
                 answers stay folded
    instructor   remarks shown as quotations with their minutes, solutions as cells that
                 run, answers unfolded, and the minutes of everything at the top

In the source a remark is a comment in a markdown cell, `<!-- teacher (3 min): … -->`,
which no reader of the notebook sees. An exercise is three cells in a row: one that ends
in a call of `exercise`; a stub with the tag "exercise", which has dots for the answer
and ends in a call of the check; and a markdown cell with the tag "solution", folded,
with one block of Python in it. Exercises need nothing but the imports above them, and
nothing below them needs their names. Both editions leave out the checks beside the
sentences, `<!-- check: … -->` and `<!-- tested: … -->`, which are for
tests/test_checks.py, and what only a page of the site says, `<!-- page: … -->`.
"""

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from posixpath import normpath, relpath

import nbformat
from nbformat import NotebookNode

from tools.notebooks import ROOT, from_source, sources, to_text

TARGET = ROOT / "editions"
EDITIONS = ("student", "instructor")

_REMARK = re.compile(
    r"<!--\s*teacher(?:\s*\((\d+) min\))?:\s*(.*?)\s*-->\n?", re.DOTALL
)
# One that begins a line takes the line's end along, any other one the space before it.
_CHECK = re.compile(
    r"^{0}\n?|[ \t]*{0}".format(
        r"<!--\s*(?:(?:check|tested|page):.*?|(?:end of )?lab\s*)-->"
    ),
    re.DOTALL | re.MULTILINE,
)
# One that is no address, no place on the same page, and leads to no notebook.
_LINK = re.compile(r"\]\((?![a-z]+:|#)(?![^)\s]*\.ipynb)([^)\s]+)\)")
_PYTHON = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True)
class Task:
    """One exercise of a notebook.

    Attributes:
        imports: the import statements above it.
        box: the code that shows the task.
        stub: the code that waits for an answer.
        solution: the code that answers.
        difficulty, minutes: as the box says.
    """

    imports: str
    box: str
    stub: str
    solution: str
    difficulty: int
    minutes: int


def read(path: Path) -> NotebookNode:
    """The notebook of a source file."""
    return from_source(path.read_text(encoding="utf-8"))


def remarks(notebook: NotebookNode) -> list[tuple[int, str]]:
    """The teacher's remarks with their minutes, 0 where none are given, in order."""
    texts = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    return [
        (int(minutes or 0), text)
        for source in texts
        for minutes, text in _REMARK.findall(source)
    ]


def tasks(notebook: NotebookNode) -> list[Task]:
    """The exercises, in order.

    Raises:
        ValueError: if an exercise is not a box, a stub and a solution in a row.
    """
    found = []
    imports = []
    cells = notebook.cells
    for number, cell in enumerate(cells):
        if _has(cell, "exercise"):
            box = cells[number - 1].source if number else ""
            after = cells[number + 1] if number + 1 < len(cells) else None
            call = _call(box)
            if call is None or after is None or not _has(after, "solution"):
                raise ValueError(
                    "a stub stands below a cell that ends in exercise(…), and above"
                    f" its solution; this one does not: {cell.source[:60]!r}"
                )
            facts = {k.arg: ast.literal_eval(k.value) for k in call.keywords}
            level = facts.get("difficulty", 1)
            minutes = facts.get("minutes", 5)
            found.append(
                Task(
                    "\n".join(imports),
                    box,
                    cell.source,
                    _solution(after),
                    level,
                    minutes,
                )
            )
        if cell.cell_type == "code":
            body = ast.parse(cell.source).body
            imports += [
                ast.unparse(node)
                for node in body
                if isinstance(node, (ast.Import, ast.ImportFrom))
            ]
    if len(found) != sum(_has(cell, "solution") for cell in cells):
        raise ValueError("a solution stands directly after its stub, and nowhere else")
    return found


def student(notebook: NotebookNode) -> NotebookNode:
    """Without remarks and solutions; everything else as it is."""
    cells = []
    for cell in notebook.cells:
        if _has(cell, "solution"):
            continue
        if cell.cell_type == "markdown":
            text = _CHECK.sub("", _REMARK.sub("", cell.source)).strip("\n")
            cells += [_markdown(text, cell)] if text.strip() else []
        else:
            cells.append(cell)
    return _with(notebook, cells)


def instructor(notebook: NotebookNode) -> NotebookNode:
    """Remarks in sight, solutions as cells that run, and the minutes at the top."""
    cells = []
    for cell in notebook.cells:
        if _has(cell, "solution"):
            cells.append(
                nbformat.v4.new_code_cell(
                    _solution(cell), metadata={"tags": ["solution"]}
                )
            )
        elif cell.cell_type == "markdown":
            cells += _in_sight(cell)
        else:
            cells.append(cell)
    # Below the title, which is the first cell.
    cells.insert(1, _markdown(header(notebook), tags=["instructor"]))
    return _with(notebook, cells)


def header(notebook: NotebookNode) -> str:
    """What the instructor's edition says under the title: its minutes, in all and one
    by one."""
    spoken = remarks(notebook)
    exercises = tasks(notebook)
    talk = sum(minutes for minutes, _ in spoken)
    work = sum(task.minutes for task in exercises)
    many = f"{len(exercises)} exercise{'s' * (len(exercises) != 1)}"
    said = (
        f": {talk + work} minutes.** {talk} for the parts that the remarks name, {work}"
        f" for {many}. Remarks look like this one; solutions stand in cells of their"
        " own below the stubs, and"
    )
    if not spoken and not exercises:
        said = ".** There are no remarks and no exercises in this notebook;"
    source = "It is built from the same source as the student's edition."
    return f"> **Instructor's edition{said} answers are unfolded. {source}"


def build(target: Path = TARGET, root: Path = ROOT) -> list[Path]:
    """Write both editions of every notebook, in the same folders.

    Args:
        target: the folder to write to; links are written for one that lies beside
            notebooks/.
        root: below it the sources are.
    """
    written = []
    for edition, make in zip(EDITIONS, (student, instructor), strict=True):
        for source in sources(root):
            place = source.relative_to(root).with_suffix(".ipynb")
            made = make(read(source))
            for cell in made.cells:
                if cell.cell_type == "markdown":
                    cell.source = relinked(cell.source, place.parent.as_posix())
            path = target / edition / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(to_text(made), encoding="utf-8", newline="\n")
            written.append(path)
    return written


def relinked(text: str, folder: str) -> str:
    """The text of a notebook in this folder, with links from the same folder of an
    edition. Those to other notebooks stay: they are in the edition, too.

    >>> relinked("[a](../docs/a.md), [next](01_next.ipynb)", "notebooks")
    '[a](../../../docs/a.md), [next](01_next.ipynb)'
    """

    def turned(found: re.Match) -> str:
        target = normpath(f"{folder}/{found[1]}")
        # "edition" stands for either: both lie equally deep.
        return f"]({relpath(target, f'{TARGET.name}/edition/{folder}')})"

    return _LINK.sub(turned, text)


def _in_sight(cell: NotebookNode) -> Iterator[NotebookNode]:
    """A markdown cell, cut where a remark stands; the remark is a quotation in a cell
    of its own."""
    rest = _CHECK.sub("", cell.source).replace("<details>", "<details open>")
    place = 0
    for match in _REMARK.finditer(rest):
        if before := rest[place : match.start()].strip("\n"):
            yield _markdown(before, cell)
        minutes = f" · {match[1]} min" if match[1] else ""
        lines = f"**For the teacher{minutes}.** {match[2]}".splitlines()
        yield _markdown(
            "\n".join(f"> {line}".rstrip() for line in lines), tags=["instructor"]
        )
        place = match.end()
    if after := rest[place:].strip("\n"):
        yield _markdown(after, cell)


def _markdown(
    text: str, like: NotebookNode | None = None, tags: list[str] | None = None
) -> NotebookNode:
    kept = tags if like is None else like.metadata.get("tags")
    return nbformat.v4.new_markdown_cell(
        text, metadata={"tags": list(kept)} if kept else {}
    )


def _with(notebook: NotebookNode, cells: list[NotebookNode]) -> NotebookNode:
    """The same notebook with other cells, and cell names that stay put."""
    made = nbformat.v4.new_notebook(cells=[nbformat.from_dict(cell) for cell in cells])
    made.metadata = notebook.metadata
    made.nbformat_minor = notebook.nbformat_minor
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"
    return made


def _has(cell: NotebookNode, tag: str) -> bool:
    return tag in cell.metadata.get("tags", [])


def _solution(cell: NotebookNode) -> str:
    blocks = _PYTHON.findall(cell.source)
    if len(blocks) != 1:
        found = f"this one has {len(blocks)}: {cell.source[:60]!r}"
        raise ValueError(f"a solution has one block of Python; {found}")
    return blocks[0]


def _call(source: str) -> ast.Call | None:
    """The call of exercise that ends a cell."""
    body = ast.parse(source).body
    last = body[-1].value if body and isinstance(body[-1], ast.Expr) else None
    is_exercise = isinstance(last, ast.Call) and ast.unparse(last.func) == "exercise"
    return last if is_exercise else None


def run(path: Path) -> None:
    """Run a built notebook from top to bottom, in its folder; the file stays without
    results."""
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(
        notebook, timeout=600, resources={"metadata": {"path": str(path.parent)}}
    ).execute()


def main(words: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description="build the student's and the instructor's edition"
    )
    parser.add_argument(
        "--run",
        action="store_true",
        help="also run every notebook of both, some minutes",
    )
    wanted = parser.parse_args(words)
    for path in build():
        sys.stdout.write(f"built: {path.relative_to(ROOT)}\n")
        if wanted.run:
            run(path)
            sys.stdout.write(f"  ran: {path.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
