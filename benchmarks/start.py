"""What a reader waits for before anything happens: the import, and a second `make env`.

The import is taken in fresh processes, beside an import of numpy alone, which neuroviz cannot do
without; best of 9, processor time. `make env` is called in an environment that is complete.
"""

import subprocess
import sys
import time
from pathlib import Path

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

ROOT = Path(__file__).parent.parent
MODULES = ("numpy", "neuroviz", "neuroviz.nn.modules", "neuroviz.explorables")
GOAL_SECONDS = 0.3


def import_seconds(module: str, repeats: int) -> float:
    """Processor time that importing a module takes in a fresh interpreter."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
        for _ in range(repeats)
    ]
    return min(float(run.stdout) for run in runs)


def make_seconds() -> float | None:
    """How long `make env` takes when there is nothing to do; None where there is something."""
    question = subprocess.run(["make", "--question", "env"], cwd=ROOT, capture_output=True)
    if question.returncode:  # a benchmark does not install anything
        return None
    start = time.perf_counter()
    subprocess.run(["make", "env"], cwd=ROOT, capture_output=True, check=True)
    return time.perf_counter() - start


def run(effort: Effort) -> list[Table]:
    taken = {module: import_seconds(module, 1 if effort.quick else 9) for module in MODULES}
    rows = [(f"import {module}", seconds, seconds / taken["numpy"]) for module, seconds in taken.items()]
    rows.append(("make env, the second time", make_seconds(), None))
    note = f"make env: – where it would have had something to do. {machine('one process each')}"
    ours = taken["neuroviz"]
    finding = Finding("import neuroviz", f"{ours:.2f} s", f"< {GOAL_SECONDS} s", ours < GOAL_SECONDS)
    header, forms = ("", "seconds", "ratio to numpy"), ("", ".3f", ".1f")
    return [Table("start", header, forms, tuple(rows), note, (finding,))]
