"""Do the tests feel every comparison and every number? Seeded changes, one at a time.

    python -m tools.mutants record            once: which test runs which line
    python -m tools.mutants hunt --seed 35    until twenty in a row are caught

A change turns a comparison (< to <=, == to !=, in to not in) or a number: n to n + 1; a
number with a point, and one from 100 on, times and by 100. The changes of all rooms
stand in an order that the seed alone decides; an edit elsewhere does not shuffle it.
Each is made in a copy of the tree, and the tests that run its lines are asked, the
shortest first. A change that all of them let pass has survived; one whose lines no
recorded test runs is *not asked*.

Verdicts are added to build/mutants/verdicts.jsonl, and the next hunt goes on behind
them. Where they are lost, `hunt --from N` begins with the N-th change of the order, and
counts its row from there. After a mend: `again NAME`. For a survivor that changes no
answer, but speed, memory or nothing at all: `equivalent NAME "why"`.

Left out: annotations, truth values, and the numbers of the files in `LAYOUT`.
"""

import argparse
import ast
import copy
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
RECORDS = ROOT / "build" / "mutants"
ROOMS = (
    "attention",
    "deep",
    "factorization",
    "kit",
    "rank",
    "single_layer",
    "singular",
    "softmax",
)
LAYOUT = re.compile(
    r"(figure|panel|kit/(theme|matrices|solids|badges)|singular/(space|camera))\.py$"
)
"""Files whose numbers are sizes and places in a picture; their comparisons are changed
like all others."""
NOT_ASKED = {
    # a browser, a kernel
    *("test_browser", "test_scene", "test_live", "test_accessibility", "test_panel"),
    # notebooks, as a whole
    *("test_notebooks", "test_checks", "test_editions", "test_book"),
    *(
        "test_setup",
        "test_release",
        "test_import",
        "test_benchmarks",
        "test_formal",
        "test_layers",
    ),
}
"""Tests that take minutes, or run the code in another process, where no line is
seen."""

_FLIPPED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
_LARGE = 100
_PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
_FIRST_SECONDS = 15.0
_ALL_SECONDS = 240.0
# what a changed program may take: a wrong size of a matrix must not end others
_BYTES = 6 * 2**30


@dataclass(frozen=True)
class Mutant:
    """One change.

    Attributes:
        path: of the file, from the root.
        where: the function or class it is in; "" for the module.
        was, now: the innermost statement, before and after; of a compound one its head.
        nth: which of the equal ones in `where`.
        lines: first and last line of that statement, or head.
    """

    path: str
    where: str
    was: str
    now: str
    nth: int
    lines: tuple[int, int]

    @property
    def name(self) -> str:
        """Short, and the same after an edit elsewhere."""
        parts = self.path, self.where, self.was, self.now, str(self.nth)
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:8]

    def __str__(self) -> str:
        return (
            f"{self.name}  {self.path}:{self.lines[0]}  {self.where}\n      -"
            f" {self.was}\n      + {self.now}"
        )


def changed(node: ast.AST, numbers: bool = True) -> list[ast.AST]:
    """The node, changed in each of its ways.

    >>> for text in ("1 < x == 2", "7", "0.5", "100", "True"):
    ...     node = ast.parse(text, mode="eval").body
    ...     print([ast.unparse(new) for new in changed(node)])
    ['1 <= x == 2', '1 < x != 2']
    ['8']
    ['50.0', '0.005']
    ['10000', '1']
    []
    """
    if isinstance(node, ast.Compare):
        found = [copy.deepcopy(node) for _ in node.ops]
        for i, new in enumerate(found):
            new.ops[i] = _FLIPPED[type(node.ops[i])]()
        return found
    value = node.value if isinstance(node, ast.Constant) and numbers else None
    if type(value) is int:
        others = [value * _LARGE, value // _LARGE] if value >= _LARGE else [value + 1]
    elif type(value) is float:
        others = [value * _LARGE, value / _LARGE] if value else [1.0]
    else:
        others = []
    return [ast.Constant(other) for other in others]


def mutants(path: str, source: str, text_of: str = "") -> Iterator[tuple[Mutant, str]]:
    """Every change of a file; with the changed text for the one that has this name.

    >>> source = "def f(x: 'Literal[1]' = 1):\\n    if x > 2:\\n        return 3"
    >>> for mutant, _ in mutants("f.py", source):
    ...     print(mutant.where, "|", mutant.was, "|", mutant.now)
    f | def f(x: 'Literal[1]'=1) | def f(x: 'Literal[1]'=2)
    f | if x > 2 | if x >= 2
    f | if x > 2 | if x > 3
    f | return 3 | return 4
    >>> max(text for _, text in mutants("f.py", source, mutant.name))
    "def f(x: 'Literal[1]'=1):\\n    if x > 2:\\n        return 4"
    """
    tree = ast.parse(source)
    seen: dict[tuple, int] = {}
    # All places first: below the tree is changed, and changed back.
    for where, statement, parent, field, i in list(_places(tree, "", None)):
        held = getattr(parent, field)
        node = held if i is None else held[i]
        was = _head(statement)
        for new in changed(node, numbers=not LAYOUT.search(path)):
            _put(parent, field, i, new)
            now = _head(statement)
            key = where, was, now
            seen[key] = seen.get(key, -1) + 1
            mutant = Mutant(path, where, was, now, seen[key], _lines(statement))
            yield mutant, ast.unparse(tree) if mutant.name == text_of else ""
            _put(parent, field, i, node)


def _places(node: ast.AST, where: str, statement: ast.stmt | None) -> Iterator[tuple]:
    """Every expression below a node: where it is, its statement, and its place in its
    parent."""
    for field, held in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for i, child in enumerate(held) if isinstance(held, list) else [(None, held)]:
            if not isinstance(child, ast.AST):
                continue
            inside = where
            inner = statement
            if isinstance(child, ast.stmt):
                inner = child
                if isinstance(
                    child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
                ):
                    inside = f"{where}.{child.name}".lstrip(".")
            if isinstance(child, ast.expr):
                yield inside, inner, node, field, i
            yield from _places(child, inside, inner)


def _put(parent: ast.AST, field: str, i: int | None, new: ast.AST) -> None:
    if i is None:
        setattr(parent, field, new)
    else:
        getattr(parent, field)[i] = new


def _head(statement: ast.stmt) -> str:
    """A simple statement, or the head of a compound one, in one line."""
    if getattr(statement, "body", None):
        statement = copy.copy(statement)
        statement.body = [ast.Pass()]
        for field in ("orelse", "finalbody", "handlers"):
            if getattr(statement, field, None):
                setattr(statement, field, [])
        if isinstance(statement, ast.Try):
            return "try"
    return " ".join(
        ast.unparse(statement).removesuffix("pass").rstrip().removesuffix(":").split()
    )


def _lines(statement: ast.stmt) -> tuple[int, int]:
    body = getattr(statement, "body", None)
    last = body[0].lineno - 1 if body else statement.end_lineno
    return statement.lineno, max(last, statement.lineno)


def in_order(
    tree: Path, seed: int, rooms: tuple[str, ...], but: tuple[str, ...] = ()
) -> list[tuple[Mutant, str]]:
    """All changes of these rooms, as drawn."""
    found = []
    for room in rooms:
        for path in sorted((tree / "neuroviz" / room).rglob("*.py")):
            if path.name not in but:
                source = path.read_text(encoding="utf-8")
                found += [
                    mutant
                    for mutant, _ in mutants(path.relative_to(tree).as_posix(), source)
                ]
    return sorted(
        found, key=lambda one: hashlib.sha256(f"{seed} {one.name}".encode()).digest()
    )


# Which test runs which line: this module is also a plugin of pytest, loaded by
# `record`.


def pytest_configure(config: pytest.Config) -> None:
    if "MUTANTS_RECORD" not in os.environ:
        return
    import coverage

    config.lines_run = coverage.Coverage(
        data_file=None, include=[f"{ROOT}/neuroviz/*"], config_file=False
    )
    config.lines_run.start()
    config.seconds_taken = {}
    config.not_passed = set()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if lines_run := getattr(item.config, "lines_run", None):
        lines_run.switch_context(item.nodeid)
        before = time.perf_counter()
        yield
        item.config.seconds_taken[item.nodeid] = time.perf_counter() - before
        lines_run.switch_context("")
    else:
        yield


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = (yield).get_result()
    if hasattr(item.config, "not_passed") and not report.passed:
        item.config.not_passed.add(item.nodeid)


def pytest_unconfigure(config: pytest.Config) -> None:
    if not (lines_run := getattr(config, "lines_run", None)):
        return
    lines_run.stop()
    data = lines_run.get_data()
    tests = {
        test: {"seconds": round(seconds, 3), "lines": {}}
        for test, seconds in config.seconds_taken.items()
        if test not in config.not_passed
    }
    sources = {}
    for file in data.measured_files():
        path = Path(file).relative_to(ROOT).as_posix()
        sources[path] = Path(file).read_text(encoding="utf-8").splitlines()
        for line, contexts in data.contexts_by_lineno(file).items():
            for test in set(contexts) & set(tests):
                tests[test]["lines"].setdefault(path, []).append(line)
    record = json.dumps({"tests": tests, "sources": sources})
    Path(os.environ["MUTANTS_RECORD"]).write_text(record, encoding="utf-8")


def test_files(tree: Path) -> list[Path]:
    """Of the package and of what is beyond it."""
    folders = (tree / "tests", tree / "beyond" / "tests")
    return sorted(path for one in folders for path in one.rglob("test_*.py"))


def record(limit: float, only: list[str]) -> None:
    """Run every file of tests in a process of its own, and write which test ran which
    line."""
    RECORDS.mkdir(parents=True, exist_ok=True)
    files = [path for path in test_files(ROOT) if path.stem not in NOT_ASKED]
    places = [str(path.relative_to(ROOT)) for path in files]
    places += [f"neuroviz/{room}" for room in ROOMS]
    for place in only or places:
        out = RECORDS / f"{place.replace('/', '+')}.json"
        command = [*_PYTEST, "-p", "tools.mutants", place]
        env = os.environ | {"MUTANTS_RECORD": str(out)}
        before = time.perf_counter()
        try:
            done = subprocess.run(
                command,
                cwd=ROOT,
                env=env,
                timeout=limit,
                capture_output=True,
                text=True,
            )
            said = (done.stdout.strip() or done.stderr.strip()).splitlines()[-1:]
        except subprocess.TimeoutExpired:
            said = f"left out: more than {limit:.0f} s"
        print(f"{place}: {time.perf_counter() - before:.0f} s, {said}", flush=True)


class Felt:
    """Which test of a tree runs which line."""

    def __init__(self, tree: Path) -> None:
        there = _collected(tree)
        self.seconds: dict[str, float] = {}
        self._by_line: dict[str, dict[int, list[str]]] = {}
        for file in sorted(RECORDS.glob("*.json")):
            recorded = json.loads(file.read_text(encoding="utf-8"))
            now = {
                path: _since(lines, tree / path)
                for path, lines in recorded["sources"].items()
            }
            for test, seen in recorded["tests"].items():
                if test not in there:  # it was renamed
                    continue
                self.seconds[test] = seen["seconds"]
                for path, lines in seen["lines"].items():
                    for line in filter(None, map(now[path].get, lines)):
                        self._by_line.setdefault(path, {}).setdefault(line, []).append(
                            test
                        )

    def of(self, mutant: Mutant, tree: Path) -> list[str]:
        """The tests that run its lines, the shortest first, and before them those named
        as its file.

        What runs at import, a default or a name of the module, is felt where it is
        read.
        """
        found: set[str] = set()
        for path, lines in where_felt(mutant, tree):
            if path.startswith(("tests/", "beyond/tests/")):
                found |= {test for test in self.seconds if test.startswith(f"{path}::")}
            by_line = self._by_line.get(path, {})
            found |= {test for line in lines for test in by_line.get(line, ())}
        stem = Path(mutant.path).stem
        return sorted(
            found, key=lambda test: self.seconds[test] * (0.3 if stem in test else 1.0)
        )


def _collected(tree: Path) -> set[str]:
    files = sorted(
        path.stem.replace("+", "/") for path in RECORDS.glob("*tests+*.json")
    )
    files += [f"neuroviz/{room}" for room in ROOMS]
    command = [*_PYTEST, "--collect-only", "--full", *files]
    env = os.environ | {"PYTHONPATH": str(tree)}
    return set(
        subprocess.run(
            command, cwd=tree, env=env, capture_output=True, text=True
        ).stdout.splitlines()
    )


def _since(recorded: list[str], path: Path) -> dict[int, int]:
    """Where each line of a file stands now that stood elsewhere when it was recorded,
    from 1 on."""
    now = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    if now == recorded:
        return {line: line for line in range(1, len(now) + 1)}
    blocks = SequenceMatcher(None, recorded, now, autojunk=False).get_matching_blocks()
    return {
        then + i: here + i for then, here, count in blocks for i in range(1, count + 1)
    }


def where_felt(mutant: Mutant, tree: Path) -> Iterator[tuple[str, list[int]]]:
    """Files, and the lines in them, that run a change, or read what it makes at
    import."""
    source = (tree / mutant.path).read_text(encoding="utf-8")
    module = ast.parse(source)
    in_function = _in_function(module, *mutant.lines)
    if in_function:
        yield mutant.path, in_function
        return
    names = _made_of(module, mutant)
    yield mutant.path, _reading(names, source)
    public = {name for name in names if not name.startswith("_")}
    for file in [*(tree / "neuroviz").rglob("*.py"), *test_files(tree)]:
        text = file.read_text(encoding="utf-8")
        if _reads(public, text) and file != tree / mutant.path:
            yield file.relative_to(tree).as_posix(), _reading(public, text)


def _in_function(module: ast.Module, first: int, last: int) -> list[int]:
    """The lines that run a change of these lines of a function; [] outside of
    functions."""
    defined = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
    for node in defined:
        if node.body[0].lineno <= first <= node.end_lineno:
            return list(range(first, last + 1))
    for node in defined:
        if node.lineno <= first < node.body[0].lineno:  # its head: defaults
            return list(range(node.body[0].lineno, node.end_lineno + 1))
    return []


def _made_of(module: ast.Module, mutant: Mutant) -> set[str]:
    """The names of a module that are made of a change, of that, and so on."""
    first, _ = mutant.lines
    names = {mutant.where.partition(".")[0]} - {""}
    for statement in module.body:
        if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
            continue
        made = {
            node.id
            for node in ast.walk(statement)
            if isinstance(node, ast.Name) and _is_set(node)
        }
        is_changed = statement.lineno <= first <= statement.end_lineno
        if is_changed or (made and _reads(names, ast.unparse(statement))):
            names |= made
    return names


def _reading(names: set[str], text: str) -> list[int]:
    """The lines of a file that have one of these names."""
    lines = enumerate(text.splitlines(), 1)
    return [i for i, line in lines if _reads(names, line)]


def _is_set(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _reads(names: set[str], text: str) -> bool:
    return bool(names) and bool(
        re.search(rf"\b({'|'.join(map(re.escape, names))})\b", text)
    )


def is_caught(tree: Path, tests: list[str], seconds: float) -> tuple[str | None, float]:
    """Which of these tests fails in the tree (or that they hang), if one does; and how
    long it took."""
    before = time.perf_counter()
    code, output = _run(tree, tests, seconds)
    # 4: no such test. A case has another name, as the change is in what names it.
    if code == 4:
        code, output = _run(
            tree, [*dict.fromkeys(test.partition("[")[0] for test in tests)], seconds
        )
    took = time.perf_counter() - before
    if code is None:
        return f"more than {seconds:.0f} s", took
    if code == 0:
        return None, took
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
    return failed[1] if failed else output.strip()[-200:], took


def _run(tree: Path, tests: list[str], seconds: float) -> tuple[int | None, str]:
    """What pytest returns and says; None where it takes longer."""
    asked = tree / "asked.txt"
    asked.write_text("\n".join(tests), encoding="utf-8")
    env = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    process = subprocess.Popen(
        [*_PYTEST, "-x", "@asked.txt"],
        cwd=tree,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=_limit_memory,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)  # its children, too
        process.communicate()
        return None, ""
    return process.returncode, output


def _limit_memory() -> None:
    import resource  # where there is none, there is no preexec_fn either

    resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))


def a_copy(folder: Path) -> Path:
    """The files that git knows, and new ones, in a folder of their own."""
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    for name in names:
        source = ROOT / name
        if source.is_file() and not source.is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, folder / name)
    return folder


def judge(mutant: Mutant, tree: Path, tests: Felt) -> dict:
    """The verdict on one change: caught, and by what, or survived, and how many tests
    let it pass."""
    source = (tree / mutant.path).read_text(encoding="utf-8")
    asked = tests.of(mutant, tree)
    passed = "survived" if asked else "not asked"
    first = []
    rest = []
    total = 0.0
    for test in asked:
        total += tests.seconds[test]
        if total < _FIRST_SECONDS or len(first) < 3:
            first.append(test)
        elif total < _ALL_SECONDS:
            rest.append(test)
    verdict = {
        "name": mutant.name,
        "place": f"{mutant.path}:{mutant.lines[0]}",
        "where": mutant.where,
    }
    verdict |= {
        "was": mutant.was,
        "now": mutant.now,
        "verdict": passed,
        "tests": len(asked),
    }
    # Of all other changes the text is empty.
    text = max(text for _, text in mutants(mutant.path, source, mutant.name))
    (tree / mutant.path).write_text(text, encoding="utf-8")
    took = 0.0
    for some in filter(None, (first, rest)):
        by, seconds = is_caught(
            tree, some, 120 + 8 * sum(tests.seconds[test] for test in some)
        )
        took += seconds
        if by:
            verdict |= {"verdict": "caught", "by": by}
            break
    (tree / mutant.path).write_text(source, encoding="utf-8")
    return verdict | {"seconds": round(took, 1)}


def verdicts() -> dict[str, dict]:
    """All so far, by the name of the change; the last one counts."""
    file = RECORDS / "verdicts.jsonl"
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return {one["name"]: one for one in map(json.loads, lines)}


def note(verdict: dict) -> None:
    """Add a verdict."""
    with (RECORDS / "verdicts.jsonl").open("a", encoding="utf-8") as file:
        file.write(json.dumps(verdict, ensure_ascii=False) + "\n")


def hunt(
    seed: int,
    rooms: tuple[str, ...],
    but: tuple[str, ...],
    first: int,
    until: int,
    most: int,
) -> None:
    """Judge one change after the other, from the `first` one of the order on, until so
    many in a row are caught, or so many are judged."""
    known = verdicts()
    row = 0
    judged = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = a_copy(Path(folder))
        tests = Felt(tree)
        drawn = in_order(tree, seed, rooms, but)[first - 1 :]
        for number, mutant in enumerate(drawn, first):
            verdict = known.get(mutant.name)
            if verdict is None:
                verdict = judge(mutant, tree, tests)
                note({"number": number, **verdict})
                judged += 1
                print(f"{number:4} {verdict['verdict']:10} {mutant}", flush=True)
                print(
                    f"      {verdict.get('by', verdict['tests'])},"
                    f" {verdict['seconds']} s",
                    flush=True,
                )
            # one that was caught after a mend only ends a row
            if verdict["verdict"] != "equivalent":
                row = (
                    row + 1
                    if verdict["verdict"] == "caught" and "again" not in verdict
                    else 0
                )
            if row == until or judged == most:
                break
        print(f"{row} in a row are caught, after {number}", flush=True)


def again(names: list[str]) -> None:
    """Judge changes anew, by name."""
    with tempfile.TemporaryDirectory() as folder:
        tree = a_copy(Path(folder))
        tests = Felt(tree)
        for mutant in in_order(tree, 0, ROOMS):
            if mutant.name in names:
                verdict = judge(mutant, tree, tests)
                note({**verdict, "again": True})
                print(
                    f"{verdict['verdict']:10} {mutant}\n      {verdict.get('by', '')}",
                    flush=True,
                )


def main() -> None:
    """One command of the first lines."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    recorded = commands.add_parser("record")
    recorded.add_argument(
        "--limit", type=float, default=600, help="seconds for one file of tests"
    )
    recorded.add_argument(
        "only", nargs="*", help="files of tests; all if none is named"
    )
    hunted = commands.add_parser("hunt")
    hunted.add_argument("--seed", type=int, default=35)
    hunted.add_argument("--rooms", nargs="+", default=ROOMS, choices=ROOMS)
    hunted.add_argument(
        "--but", nargs="+", default=(), help="names of files to leave out"
    )
    hunted.add_argument(
        "--from",
        type=int,
        default=1,
        dest="first",
        metavar="N",
        help="begin with the N-th of the order",
    )
    hunted.add_argument("--until", type=int, default=20, help="so many in a row")
    hunted.add_argument(
        "--most", type=int, default=10_000, help="judge no more than so many"
    )
    commands.add_parser("again").add_argument("names", nargs="+")
    excused = commands.add_parser("equivalent")
    excused.add_argument("name")
    excused.add_argument("why")
    arguments = parser.parse_args()
    if arguments.command == "record":
        record(arguments.limit, arguments.only)
    elif arguments.command == "hunt":
        hunt(
            arguments.seed,
            tuple(arguments.rooms),
            tuple(arguments.but),
            arguments.first,
            arguments.until,
            arguments.most,
        )
    elif arguments.command == "again":
        again(arguments.names)
    else:
        note(
            {
                **verdicts()[arguments.name],
                "verdict": "equivalent",
                "why": arguments.why,
            }
        )


if __name__ == "__main__":
    main()
