"""What every notebook takes on a small server: memory at the peak, and time from its
first to its last cell.

Each is run from top to bottom in a kernel of its own. Its memory is that of the kernel
and of all processes that it starts, pages that they share counted once (proportional
set size), read every tenth of a second; Linux only. A Binder server grants 2 GB to the
kernel and JupyterLab together, and JupyterLab takes some 0.2.
"""

import threading
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine
from tools.notebooks import sources

GOAL_MB = 1000
GOAL_SECONDS = 240


def descendants(pid: int) -> list[int]:
    """The process and all that it started, and they in their turn."""
    found = [pid]
    for known in found:
        for task in Path(f"/proc/{known}/task").glob("*/children"):
            try:
                found += [int(child) for child in task.read_text().split()]
            except OSError:  # it has ended meanwhile
                continue
    return found


def megabytes(pid: int) -> float:
    """Memory of a process and its descendants; what has ended meanwhile counts as 0."""
    total = 0
    for one in descendants(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total / 1000


def peak_and_seconds(path: Path) -> tuple[float, float]:
    """Run a notebook, and watch it."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
    )
    peak = 0.0
    done = threading.Event()

    def watch(pid: int) -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, megabytes(pid))

    start = time.perf_counter()
    with client.setup_kernel():
        watcher = threading.Thread(target=watch, args=(client.km.provisioner.pid,))
        watcher.start()
        try:
            for index, cell in enumerate(notebook.cells):
                client.execute_cell(cell, index)
        finally:
            done.set()
            watcher.join()
    return peak, time.perf_counter() - start


def run(effort: Effort) -> list[Table]:
    paths = [path.with_suffix(".ipynb") for path in sources()][
        : 1 if effort.quick else None
    ]
    rows = [(path.stem, *peak_and_seconds(path)) for path in paths]
    worst = max(row[1] for row in rows)
    total = sum(row[2] for row in rows)
    rows.append(("all, one after the other", None, total))
    findings = (
        Finding(
            "the largest notebook's memory",
            f"{worst:,.0f} MB",
            f"< {GOAL_MB:,} MB",
            worst < GOAL_MB,
        ),
        Finding(
            "all notebooks from top to bottom",
            f"{total:.0f} s",
            f"< {GOAL_SECONDS} s",
            total < GOAL_SECONDS,
        ),
    )
    note = (
        "Memory of the kernel and its processes at the peak."
        f" {machine('one notebook at a time')}"
    )
    return [
        Table(
            "notebooks",
            ("notebook", "peak, MB", "seconds"),
            ("", ",.0f", ".1f"),
            tuple(rows),
            note,
            findings,
        )
    ]
