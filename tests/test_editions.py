"""Two editions from one source: stubs fail, solutions pass, and students get nothing of
the teacher's."""

import ast
import re

import nbformat
import pytest

from neuroviz.lessons.exercise import Exercise, Verdict
from tools.editions import (
    EDITIONS,
    TARGET,
    build,
    header,
    instructor,
    read,
    relinked,
    remarks,
    run,
    student,
    tasks,
)
from tools.notebooks import ROOT, from_source, sources, to_text

SOURCES = sources()
CONTENT = [path for path in SOURCES if path.stem != "00_start"]

by_name = pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
by_content = pytest.mark.parametrize("path", CONTENT, ids=lambda path: path.stem)

SMALL = """\
# %% [markdown]
# # Add two numbers
#
# <!-- teacher (3 min): Ask first. -->

# %%
from math import sqrt

start = 2

# %% [markdown]
# <!-- teacher: Only a remark. -->

# %% [markdown]
# <details><summary>Folded</summary>
#
# See [the start](00_start.ipynb) and [the proofs](../docs/mathematics/index.md).
#
# </details>

# %%
exercise("Give a number.", check, difficulty=3, minutes=4)

# %% tags=["exercise"]
answer = ...
check(answer)

# %% [markdown] tags=["solution"]
# <details><summary>Solution</summary>
#
# ```python
# answer = sqrt(4)
# check(answer)
# ```
#
# </details>

# %%
start + 1
"""


def codes(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


def texts(notebook):
    return "\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )


def value_of(code, names):
    """Run a cell and return what it shows."""
    *before, last = ast.parse(code).body
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names)


def played(task):
    """What the box, the stub and the solution show, in one namespace with nothing but
    the imports above."""
    names = {}
    exec(task.imports, names)
    return [value_of(code, names) for code in (task.box, task.stub, task.solution)]


# Every notebook


@by_content
def test_a_stub_fails_the_check_of_its_box_and_a_solution_passes_it(path):
    assert tasks(read(path)) and any(minutes for minutes, _ in remarks(read(path)))
    for task in tasks(read(path)):
        box, stub, solution = played(task)
        assert isinstance(box, Exercise) and (box.difficulty, box.minutes) == (
            task.difficulty,
            task.minutes,
        )
        assert isinstance(stub, Verdict) and not stub.passed and not stub.filled_in
        assert isinstance(solution, Verdict) and solution.passed, solution.message
        called = [
            ast.unparse(ast.parse(code).body[-1].value.func)
            for code in (task.stub, task.solution)
        ]
        assert called == [box.check.__name__] * 2


@by_content
def test_nothing_below_an_exercise_needs_its_names(path):
    """So that the two editions show the same, apart from the solutions."""
    notebook = read(path)
    given = set()
    below = []
    for task in tasks(notebook):
        given |= names_of(task.stub + "\n" + task.solution, ast.Store)
        box = codes(notebook).index(task.box)
        below += [code for code in codes(notebook)[box + 2 :] if "check_" not in code]
    assert given
    assert not given & names_of("\n".join(below), ast.Load)


def names_of(code, context):
    found = ast.walk(ast.parse(code))
    return {
        node.id
        for node in found
        if isinstance(node, ast.Name) and isinstance(node.ctx, context)
    }


@by_name
def test_students_get_the_same_code_and_instructors_the_solutions_besides(path):
    source = read(path)
    for_students = student(read(path))
    for_teachers = instructor(read(path))
    expected = codes(source)
    assert codes(for_students) == expected
    for task in tasks(source):
        expected.insert(expected.index(task.stub) + 1, task.solution)
        assert task.solution not in texts(for_students) + "\n".join(codes(for_students))
    assert codes(for_teachers) == expected
    for made in (for_students, for_teachers):
        nbformat.validate(made)
        assert "<!--" not in texts(made)
    assert "For the teacher" not in texts(for_students)
    assert texts(for_teachers).count("**For the teacher") == len(remarks(source))
    assert header(source) == for_teachers.cells[1].source and "<details>" not in texts(
        for_teachers
    )


@by_name
def test_both_editions_keep_the_text(path):
    """Without the teacher's part, the words of all three are the same."""

    def words(notebook, drop):
        kept = [c for c in notebook.cells if c.cell_type == "markdown"]
        kept = [c for c in kept if not set(c.metadata.get("tags", [])) & drop]
        text = re.sub(
            r"<!--.*?-->", "", "\n".join(c.source for c in kept), flags=re.DOTALL
        )
        return (
            re.sub(r"\]\([./]*", "](", text)
            .replace("<details open>", "<details>")
            .split()
        )

    source = read(path)
    expected = words(source, {"solution"})
    assert words(student(source), set()) == expected
    assert words(instructor(source), {"instructor"}) == expected


@by_name
def test_every_link_leads_somewhere(path):
    folder = path.parent.relative_to(ROOT)
    for edition, make in zip(EDITIONS, (student, instructor), strict=True):
        made = relinked(texts(make(read(path))), folder.as_posix())
        for link in re.findall(r"\]\(([^)\s]+)\)", made):
            here = folder / link.split("#")[0]
            if link.startswith("#"):
                assert f"# {link[1:].replace('-', ' ')}\n" in texts(make(read(path))), (
                    link
                )
            elif link.endswith(".ipynb"):
                assert (ROOT / here).exists(), link
            elif not link.startswith("http"):
                assert (TARGET / edition / here).resolve().exists(), link


# The build


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    place = tmp_path_factory.mktemp("built") / "editions"
    return place, build(place)


def test_both_editions_of_every_notebook_are_built(built):
    place, written = built
    names = [
        source.relative_to(ROOT).with_suffix(".ipynb").as_posix() for source in SOURCES
    ]
    assert [path.relative_to(place).as_posix() for path in written] == [
        f"{e}/{n}" for e in EDITIONS for n in names
    ]
    for path in written:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        assert not any(cell.get("outputs") for cell in notebook.cells)


def test_building_twice_gives_the_same_bytes(built, tmp_path):
    place, written = built
    again = build(tmp_path)
    assert [path.read_bytes() for path in again] == [
        path.read_bytes() for path in written
    ]


@pytest.mark.long
def test_a_built_notebook_runs_in_its_folder(built):
    """One of them: test_checks.py runs the code of all."""
    run(built[0] / "student" / "notebooks" / "00_start.ipynb")


def test_a_built_notebook_that_fails_is_seen(tmp_path):
    path = tmp_path / "fails.ipynb"
    path.write_text(to_text(from_source("# %%\n1 / 0\n")))
    with pytest.raises(Exception, match="ZeroDivisionError"):
        run(path)


def test_git_leaves_the_editions_alone():
    lines = (ROOT / ".gitignore").read_text().splitlines()
    assert f"{TARGET.name}/" in lines


# What the builder does, on a small notebook


def test_a_small_notebook_by_hand():
    notebook = from_source(SMALL)
    assert remarks(notebook) == [(3, "Ask first."), (0, "Only a remark.")]
    (task,) = tasks(notebook)
    assert (task.imports, task.solution) == (
        "from math import sqrt",
        "answer = sqrt(4)\ncheck(answer)",
    )
    assert (task.difficulty, task.minutes) == (3, 4)
    for_students = student(notebook)
    for_teachers = instructor(notebook)
    assert [c.source for c in for_students.cells[:2]] == [
        "# Add two numbers",
        "from math import sqrt\n\nstart = 2",
    ]
    linked = relinked(texts(for_students), "notebooks")
    assert "](../../../docs/mathematics/index.md)" in linked
    assert "](00_start.ipynb)" in linked
    assert [c.source for c in for_teachers.cells[:3:2]] == [
        "# Add two numbers",
        "> **For the teacher · 3 min.** Ask first.",
    ]
    assert (
        "edition: 7 minutes.** 3 for the parts that the remarks name, 4 for 1 exercise"
        in header(notebook)
    )
    assert "> **For the teacher.** Only a remark." in texts(for_teachers)
    assert codes(for_teachers)[-2:] == ["answer = sqrt(4)\ncheck(answer)", "start + 1"]


def test_a_notebook_without_remarks_and_exercises_counts_no_minutes():
    plain = from_source("# %% [markdown]\n# # Only to read\n\n# %%\n1 + 1\n")
    assert "no remarks and no exercises" in header(plain) and "0" not in header(plain)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('tags=["solution"]', "", "above its solution"),
        ("exercise(", "print(", "below a cell that ends in exercise"),
        ("```python", "```", "one block of Python"),
        ('# %% tags=["exercise"]', "# %%", "nowhere else"),
    ],
)
def test_an_exercise_that_is_not_whole_is_refused(old, new, said):
    with pytest.raises(ValueError, match=said):
        tasks(from_source(SMALL.replace(old, new)))


def test_a_solution_that_fails_is_seen():
    bad = SMALL.replace("sqrt(4)", "sqrt(9)").replace(
        "exercise(", "box = dict(check=check)\nexercise("
    )
    lines = "from neuroviz.lessons.exercise import exercise, checker, Verdict\n"
    lines += "start = 2\n\n@checker\ndef check(x):\n    return Verdict(x == 2, '')\n"
    names = {}
    exec("from math import sqrt\n" + lines, names)
    (task,) = tasks(from_source(bad))
    assert (
        value_of(task.solution, names).passed is False
        and value_of(task.stub, names).passed is False
    )
    assert value_of(tasks(from_source(SMALL))[0].solution, names).passed


def test_the_builder_writes_where_it_is_told(tmp_path):
    names = ("notebooks/01_small.ipynb", "beyond/notebooks/more.ipynb")
    for name in names:
        source = (tmp_path / name).with_suffix(".py")
        source.parent.mkdir(parents=True)
        up = "(../../docs" if "beyond" in name else "(../docs"
        source.write_text(SMALL.replace("(../docs", up))
    written = build(tmp_path / "out", tmp_path)
    assert written == [tmp_path / "out" / e / name for e in EDITIONS for name in names]
    assert "](../../../../docs/mathematics/index.md)" in texts(
        nbformat.read(written[-1], as_version=4)
    )


def test_checks_and_links_between_notebooks_are_as_a_reader_needs_them():
    text = "# %% [markdown]\n# # Add\n#\n# Of 64, <!-- check: n\n# == 64 -->\n"
    text += "# <!-- tested: test_x.py::test_x -->\n# [one](../00_start.ipynb).\n"
    for make in (student, instructor):
        assert "Of 64,\n[one](../00_start.ipynb)." in texts(make(from_source(text)))
