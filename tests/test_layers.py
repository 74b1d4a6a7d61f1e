"""The rules of import: what is below imports nothing that is above it.

rank                    numpy, flint, threadpoolctl; torch for products of bytes
attention               rank
kit                     these
the sections            all of these, and never one another
lessons, and what lies in neuroviz/ itself may import all; nothing but these imports
them. The project neuroviz_beyond imports neuroviz, never the other way; nor do the
tests here import it, but for those of what is delivered as a whole.
"""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import neuroviz

ROOT = Path(neuroviz.__file__).parent
TESTS = ROOT.parent / "tests"
TESTS_BEYOND = ROOT.parent / "beyond" / "tests"
DELIVERIES = {
    "all_explorables.py",  # every panel
    "all_scenes.py",  # every scene
    "checks.py",  # what notebooks and pages of both packages say
    "test_all_scenes.py",
    "test_browser.py",
    "test_import.py",
    "test_kept.py",
    "test_layers.py",  # its examples
    "test_live.py",
    "test_printing.py",
    "test_release.py",
    "test_scene.py",
}
"""Files of tests/ that are about both packages: what users get, and whole pages."""
CORE = {"rank", "attention"}
BASE = {
    "rank": set(),
    "attention": {"rank"},
    "kit": CORE,
}
ANYTHING = {"lessons"}
FOLDERS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
SECTIONS = FOLDERS - set(BASE) - ANYTHING
AT_ONCE = {"numpy", "threadpoolctl"}
ANYWHERE = {
    "rank": AT_ONCE | {"flint", "torch"},
    "attention": {"numpy", "torch"},
}


def imported(source: str, package: str) -> set[str]:
    """The modules that a source text imports, anywhere in it, by their full names."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = (
                package.split(".")[: len(package.split(".")) + 1 - node.level]
                if node.level
                else []
            )
            base = ".".join([*above, *filter(None, [node.module])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
            "import_module"
        ):
            found |= {arg.value for arg in node.args if isinstance(arg, ast.Constant)}
    return found


def forbidden(source: str, package: str) -> set[str]:
    """What a text in a package, such as "neuroviz.deep", imports against the rules."""
    section = package.split(".")[1]
    if section in ANYTHING:
        return set()
    allowed = {section} | BASE.get(section, set(BASE))
    names = {
        name for name in imported(source, package) if re.match(r"neuroviz\b", name)
    }
    return {
        name
        for name in names
        if name.split(".")[1:2] and name.split(".")[1] not in allowed
    }


@pytest.mark.parametrize(
    "path", sorted(ROOT.rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_a_module_imports_only_what_its_room_may(path):
    package = ".".join(("neuroviz", *path.relative_to(ROOT).parts[:-1]))
    if package != "neuroviz":  # the door
        assert forbidden(path.read_text(encoding="utf-8"), package) == set()


def others(source: str, package: str) -> set[str]:
    """The packages that a text imports, but for the standard library and ours."""
    roots = {name.split(".")[0] for name in imported(source, package)}
    return roots - set(sys.stdlib_module_names) - {"neuroviz"}


@pytest.mark.parametrize("folder", ANYWHERE)
def test_the_core_is_loaded_with_few_packages(folder):
    for path in (ROOT / folder).rglob("*.py"):
        if path == ROOT / "attention" / "modules.py":
            continue  # what is in torch is loaded when it is asked for
        source = path.read_text(encoding="utf-8")
        at_once = []
        for node in ast.parse(source).body:
            if "import" in type(node).__name__.lower():
                at_once.append(ast.unparse(node))
        assert others("\n".join(at_once), f"neuroviz.{folder}") <= AT_ONCE, path
        assert others(source, f"neuroviz.{folder}") <= ANYWHERE[folder], path


def test_nothing_imports_the_other_project():
    for path in ROOT.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        assert "neuroviz_beyond" not in others(source, "neuroviz"), path


def reaches_beyond(source: str) -> set[str]:
    """What a file of tests/ imports of the other project or of its tests, also in the
    code that it hands to another Python."""
    modules = {"neuroviz_beyond", *(path.stem for path in TESTS_BEYOND.glob("*.py"))}
    named = {name.split(".")[0] for name in imported(source, "")}
    for line in re.findall(r"\b(?:from|import) [\w., ]+", source):
        named |= set(re.findall(r"\w+", line))
    return named & modules


def test_tests_of_the_paper_do_without_the_other_project():
    found = set()
    for path in TESTS.rglob("*.py"):
        if reaches_beyond(path.read_text(encoding="utf-8")):
            found.add(path.relative_to(TESTS).as_posix())
    assert found == DELIVERIES


@pytest.mark.parametrize(
    "source",
    [
        "from neuroviz_beyond.transformers import Block",
        "def f():\n    import neuroviz_beyond as nb",
        "importlib.import_module('neuroviz_beyond.sweeps')",
        "run('import sys, neuroviz_beyond as nb; nb.sweep([])')",
        "from variants import random_variants",
        "from test_peeling import rank_one",
    ],
)
def test_a_test_that_reaches_beyond_is_found(source):
    assert reaches_beyond(source)


def test_a_test_of_the_paper_may_name_the_other_project():
    assert not reaches_beyond(
        "from architectures import random_architectures\n"
        "import neuroviz as nv\n"
        "assert 'neuroviz_beyond' in page"
    )


def test_rank_works_where_there_is_nothing_else(tmp_path):
    """In a package that has only `rank`, without attention."""
    package = tmp_path / "neuroviz"
    shutil.copytree(ROOT / "rank", package / "rank")
    (package / "__init__.py").touch()
    shutil.copy(ROOT.parent / "tests" / "polynomial.py", tmp_path)
    script = (
        "from polynomial import Polynomial\n"
        "from neuroviz.rank import measure_dimension\n"
        "import neuroviz.rank\n"
        "print(neuroviz.rank.__file__)\n"
        "print(measure_dimension(Polynomial((3, 5, 1), 4)).value)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    where, value = done.stdout.split()
    assert Path(where).is_relative_to(tmp_path) and value == "14"


def test_few_modules_lie_loose():
    assert len(list(ROOT.glob("*.py"))) <= 5 and {"singular", "softmax"} <= SECTIONS


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("from neuroviz.softmax.figure3 import x", "neuroviz.deep"),
        ("from neuroviz.softmax import figure3", "neuroviz.deep"),
        ("def f():\n    import neuroviz.kit.theme", "neuroviz.rank"),
        ("from ..softmax import figure3", "neuroviz.deep"),
        ("from neuroviz import softmax", "neuroviz.deep"),
        ("importlib.import_module('neuroviz.deep.flow')", "neuroviz.kit"),
        ("from neuroviz import Architecture", "neuroviz.deep"),
        ("from neuroviz.attention import Architecture", "neuroviz.rank"),
        ("from neuroviz.kit.bar import bar", "neuroviz.attention"),
        ("from neuroviz.deep.ledger import study_ledger", "neuroviz.kit"),
    ],
)
def test_the_rules_can_be_broken(source, package):
    assert forbidden(source, package)


def test_what_the_rules_allow():
    assert not forbidden(
        "from neuroviz.rank.measure import x\nfrom . import figure", "neuroviz.deep"
    )
    assert not forbidden("from neuroviz.softmax import figure3", "neuroviz.lessons")
