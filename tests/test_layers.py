"""The order of the package, as a test: a module may import only from those before it in this list."""

import ast
from pathlib import Path

import pytest

import neuroviz

ORDER = [
    "block", "architecture", "expected", "formula_value", "formula_language", "families",
    "block_formulas", "formulas", "wrong_answers", "field", "progress", "threads", "dual", "network",
    "tape", "blocks", "elimination", "rank", "symmetry", "variant_symmetry", "blending", "two_tokens",
    "gauge", "points", "chart", "twins", "starts", "descent", "search_result", "search", "search_cases",
    "count", "determinantal", "unrolling", "balls", "budget", "local_pieces", "local_check",
    "verification", "proofs", "certificate", "certificate_study", "cost", "measure", "family",
    "real_models", "real_models_study", "peeling", "immersion", "candidates", "endings", "singletons",
    "exponentials", "logit_relations", "exponentials_study", "one_layer", "one_layer_probes",
    "one_layer_walk", "one_layer_limit", "one_layer_study", "flag", "fiber", "walk", "ledger", "known",
    "identifiability", "forms", "curves", "surface", "section", "flow", "memorisation",
    "memorisation_study", "teleport", "teleport_comparison", "teleport_study", "singular",
    "block_modules", "modules", "module_jacobian", "functional", "module_families", "module_ledger",
    "figure3", "records", "sweep", "theme", "exercise", "checks_one_layer", "checks_deep",
    "checks_beyond", "questions", "figures", "explorables", "teaching",
]  # fmt: skip
ROOT = Path(neuroviz.__file__).parent


def units(root: Path) -> dict[str, list[Path]]:
    """The files of each module; a folder, such as figures/, counts as one module."""
    found: dict[str, list[Path]] = {}
    for path in sorted(root.rglob("*.py")):
        first = path.relative_to(root).parts[0].removesuffix(".py")
        found.setdefault(first, []).append(path)
    found.pop("__init__", None)
    return found


def imported_units(source: str, module: str) -> set[str]:
    """The modules of neuroviz that a source text imports, anywhere in it; its root counts as "neuroviz".

    Args:
        source: the text of one file.
        module: its full name, such as "neuroviz.figures.spectrum" (a package: "neuroviz.figures.__init__").
    """
    names: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], *filter(None, [node.module])])
            if base == "neuroviz":
                names += [f"neuroviz.{alias.name}" for alias in node.names]
            else:
                names.append(base)
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names += [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    inside = [name.split(".") for name in names if name == "neuroviz" or name.startswith("neuroviz.")]
    return {parts[1] if len(parts) > 1 and parts[1] in ORDER else "neuroviz" for parts in inside}


def out_of_order(source: str, module: str) -> set[str]:
    """What the text imports and should not: later modules, and the root, which imports all of them."""
    unit, *deeper = module.split(".")[1:]
    allowed = ORDER[: ORDER.index(unit)] + ([unit] if deeper else [])
    return imported_units(source, module) - set(allowed)


@pytest.mark.parametrize("unit", [unit for unit in ORDER if unit in units(ROOT)])
def test_a_module_imports_only_from_those_before_it(unit):
    for path in units(ROOT)[unit]:
        module = ".".join(("neuroviz", *path.relative_to(ROOT).with_suffix("").parts))
        assert out_of_order(path.read_text(encoding="utf-8"), module) == set(), f"{module} reaches upwards"


def test_every_module_has_its_place_in_the_order():
    assert set(units(ROOT)) <= set(ORDER), "give the new module its place in ORDER, and in CONTRIBUTING.md"


@pytest.mark.parametrize(
    ("source", "module", "found"),
    [
        ("from neuroviz.figures import spectrum", "neuroviz.rank", {"figures"}),
        ("import neuroviz.sweep as s", "neuroviz.rank", {"sweep"}),
        ("from .measure import measure_dimension", "neuroviz.rank", {"measure"}),
        ("from . import measure", "neuroviz.rank", {"measure"}),
        ("from neuroviz import measure", "neuroviz.rank", {"measure"}),
        ("from neuroviz import Architecture", "neuroviz.rank", {"neuroviz"}),
        ("import neuroviz", "neuroviz.rank", {"neuroviz"}),
        ("def late():\n    from neuroviz.teaching import hint", "neuroviz.rank", {"teaching"}),
        ("importlib.import_module('neuroviz.modules')", "neuroviz.rank", {"modules"}),
        ("from ..explorables import panel", "neuroviz.figures.spectrum", {"explorables"}),
        ("from ..teaching import hint", "neuroviz.explorables.__init__", {"teaching"}),
    ],
)  # fmt: skip
def test_the_check_sees_an_import_that_reaches_upwards(source, module, found):
    assert out_of_order(source, module) == found


@pytest.mark.parametrize(
    ("source", "module"),
    [
        ("from neuroviz.architecture import Architecture", "neuroviz.rank"),
        ("from .field import Reals", "neuroviz.rank"),
        ("from .axes import grid", "neuroviz.figures.spectrum"),
        ("from ..theme import COLOURS", "neuroviz.figures.spectrum"),
        ("from .panel import Panel", "neuroviz.explorables.__init__"),
        ("import numpy, neurovizard", "neuroviz.architecture"),
    ],
)
def test_the_check_lets_an_import_from_below_pass(source, module):
    assert out_of_order(source, module) == set()
