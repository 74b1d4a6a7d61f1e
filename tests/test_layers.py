"""The rules of import: engine below certificate, nn and kit; these below the rooms; no
room imports another.

engine                                    numpy, flint and the standard library only
certificate, nn, kit                      also import engine
the rooms                                 also import these, and never one another
beyond, lessons, and what lies in neuroviz/ itself    may import all; nothing but these
                                                      imports them
"""

import ast
import re
import sys
from pathlib import Path

import pytest

import neuroviz

ROOT = Path(neuroviz.__file__).parent
BASE = {"engine": set(), "certificate": {"engine"}, "nn": {"engine"}, "kit": {"engine"}}
ANYTHING = {"beyond", "lessons"}
FOLDERS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}
ROOMS = FOLDERS - set(BASE) - ANYTHING
# flint, torch, pandas, loky only where asked for
ENGINE_NEEDS = {"numpy", "threadpoolctl"}


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
    room = package.split(".")[1]
    if room in ANYTHING:
        return set()
    allowed = {room} | BASE.get(room, set(BASE))
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


def test_the_engine_is_loaded_with_few_packages():
    for path in (ROOT / "engine").rglob("*.py"):
        at_once = ast.parse(path.read_text(encoding="utf-8")).body
        source = "\n".join(
            ast.unparse(node)
            for node in at_once
            if "import" in type(node).__name__.lower()
        )
        roots = {name.split(".")[0] for name in imported(source, "neuroviz.engine")}
        assert roots - set(sys.stdlib_module_names) - {"neuroviz"} <= ENGINE_NEEDS, path


def test_few_modules_lie_loose():
    assert len(list(ROOT.glob("*.py"))) <= 5 and {"singular", "softmax"} <= ROOMS


@pytest.mark.parametrize(
    ("source", "package"),
    [
        ("from neuroviz.softmax.figure3 import x", "neuroviz.deep"),
        ("from neuroviz.softmax import figure3", "neuroviz.deep"),
        ("def f():\n    import neuroviz.kit.theme", "neuroviz.engine"),
        ("from ..softmax import figure3", "neuroviz.deep"),
        ("from neuroviz import softmax", "neuroviz.deep"),
        ("importlib.import_module('neuroviz.beyond.flow')", "neuroviz.kit"),
        ("from neuroviz import Architecture", "neuroviz.deep"),
    ],
)
def test_the_rules_can_be_broken(source, package):
    assert forbidden(source, package)


def test_what_the_rules_allow():
    assert not forbidden(
        "from neuroviz.engine.rank import x\nfrom . import figure", "neuroviz.deep"
    )
    assert not forbidden("from neuroviz.softmax import figure3", "neuroviz.lessons")
