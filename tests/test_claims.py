"""What notebooks with a file in tests/claims say in words, quoted, and computed or tested.

    CLAIMS      (quote, function): a piece of the notebook's text, and a function that says whether it is true
    ELSEWHERE   (quote, "test_file.py::test_name"): a piece of the text, and the test that shows it

A quote has to stand in the notebook as it is. Change the text, and its claim fails until both agree again.
"""

import ast
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from tools.editions import read
from tools.notebooks import FOLDER

TESTS = Path(__file__).parent
NOTEBOOKS = sorted(path.stem.removeprefix("of_") for path in (TESTS / "claims").glob("of_*.py"))
CLAIMS, ELSEWHERE = (
    [(name, *claim) for name in NOTEBOOKS for claim in getattr(import_module(f"claims.of_{name}"), which)]
    for which in ("CLAIMS", "ELSEWHERE")
)


@cache
def words(name):
    """A notebook as one line: text and code, with all that an edition may fold away."""
    return " ".join("\n".join(cell.source for cell in read(FOLDER / f"{name}.py").cells).split())


def stands(quote, name):
    return " ".join(quote.split()) in words(name)


@cache
def names_in(file):
    """The names of the tests in a file."""
    tree = ast.parse((TESTS / file).read_text(encoding="utf-8"))
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize(("name", "quote", "holds"), CLAIMS, ids=[f"{n}-{q[:40]}" for n, q, _ in CLAIMS])
def test_a_claim_stands_in_its_notebook_and_is_true(name, quote, holds):
    assert stands(quote, name)
    assert holds()


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_what_is_tested_elsewhere_stands_in_its_notebook_and_there_is_such_a_test(name):
    for of, quote, test in ELSEWHERE:
        if of == name:
            file, test_name = test.split("::")
            assert stands(quote, name), quote
            assert test_name in names_in(file) and test_name.startswith("test_"), test


def test_a_quote_that_is_gone_is_seen():
    name, quote, _ = CLAIMS[0]
    assert stands(quote, name) and not stands(quote + " or so it was", name)
