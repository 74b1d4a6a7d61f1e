"""What a reader waits for before anything happens: the import, a second `make env`, and
what is installed.

The import is taken in fresh processes, beside an import of numpy alone, which neuroviz
cannot do without; best of 9, processor time. `make env` is called in an environment
that is complete. Environments are made by pip from nothing, with compiled files and pip
itself. BEFORE=path takes another checkout, too.
"""

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

ROOT = Path(__file__).parents[2]
LINES = (
    "import numpy",
    "import neuroviz",
    "import neuroviz.attention.modules",
    "from neuroviz.explorables import LedgerExplorer",
    "from neuroviz.explorables import *",
)
GOAL_SECONDS = 0.3
GOAL_MEBIBYTES = 450


def import_seconds(line: str, repeats: int) -> float:
    """Processor time that an import takes in a fresh interpreter."""
    code = (
        f"import time; t = time.process_time(); {line}; print(time.process_time() - t)"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
        )
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def make_seconds() -> float | None:
    """How long `make env` takes when there is nothing to do; None where there is
    something."""
    question = subprocess.run(
        ["make", "--question", "env"], cwd=ROOT, capture_output=True
    )
    if question.returncode:  # a benchmark does not install anything
        return None
    start = time.perf_counter()
    subprocess.run(["make", "env"], cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - start


def installed(root: Path, extras: str) -> tuple[int, int]:
    """How many packages, and bytes on the disk, an environment of a checkout and its
    extras has."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True, symlinks=True)
        python = Path(folder, "bin", "python")
        words = [python, "-m", "pip", "install", "--quiet", f"{root}{extras}"]
        subprocess.run(words, check=True, capture_output=True)
        files = [
            path.lstat() for path in Path(folder).rglob("*") if not path.is_symlink()
        ]
        packages = len(list(Path(folder).glob("lib/python*/site-packages/*.dist-info")))
        return packages, sum(512 * file.st_blocks for file in files)


def environments() -> Table:
    """What pip installs, now and before."""
    wanted = {"now": (ROOT, "", "[notebooks]")}
    if before := os.environ.get("BEFORE"):
        wanted["before"] = (Path(before), "[notebooks]")
    rows = []
    finding = None
    for when, (root, *kinds) in wanted.items():
        for extras in kinds:
            packages, size = installed(root, extras)
            size /= 2**20  # as `du` counts
            rows.append((f"neuroviz{extras}, {when}", packages, size))
            if extras and when == "now":
                words = f"{size:.0f} MiB"
                what = "an environment with JupyterLab, without torch"
                finding = Finding(
                    what, words, f"≤ {GOAL_MEBIBYTES} MiB", size <= GOAL_MEBIBYTES
                )
    version = (
        f"Python {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}."
    )
    return Table(
        "environments",
        ("", "packages", "MiB"),
        ("", "", ".0f"),
        tuple(rows),
        version,
        (finding,),
    )


def run(effort: Effort) -> list[Table]:
    taken = {line: import_seconds(line, 1 if effort.quick else 9) for line in LINES}
    rows = [
        (line, seconds, seconds / taken["import numpy"])
        for line, seconds in taken.items()
    ]
    rows.append(("make env, the second time", make_seconds(), None))
    note = (
        "make env: – where it would have had something to do."
        f" {machine('one process each')}"
    )
    ours = taken["import neuroviz"]
    finding = Finding(
        "import neuroviz", f"{ours:.2f} s", f"< {GOAL_SECONDS} s", ours < GOAL_SECONDS
    )
    header = ("", "seconds", "ratio to numpy")
    forms = ("", ".3f", ".1f")
    table = Table("start", header, forms, tuple(rows), note, (finding,))
    return [table] if effort.quick else [table, environments()]
