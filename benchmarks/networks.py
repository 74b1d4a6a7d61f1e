"""measure_dimension from end to end, up to large networks: seconds, and memory at the peak.

Lightning, l = 2, a = d/4, t = 3, exact. Each in a fresh process on one thread, so that the peak is its
own; the processor time is that of the call, imports not counted. Beside it what `estimate_cost` said
before, and the matrix, without which nothing can be done.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

ROOT = Path(__file__).parent.parent
WIDTHS, LARGE_WIDTHS = (8, 16, 32, 64), (96, 128)
GOAL_MEMORY = 1.5  # peak over matrix, once the matrix is larger than what the interpreter itself needs
_ITSELF = 512 * 2**20
HEADER = (
    "parameters P", "columns", "dimension", "arithmetic", "estimated, s", "seconds", "matrix, MB", "peak, MB",
    "before it, MB",
)  # fmt: skip
# Linux hands the parent's ru_maxrss on to a child; VmHWM, where there is one, is the process's own.
CHILD = """
import json, resource, sys, time
from pathlib import Path
from threadpoolctl import threadpool_limits
import neuroviz as nv
from neuroviz.elimination import fastest_arithmetic

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

fastest_arithmetic()  # imports torch, where it is needed to find out
d = int(sys.argv[1])
arch = nv.Architecture.uniform(d, d // 4, 2)
with threadpool_limits(1):
    cost = nv.estimate_cost(arch)
    before, start = peak(), time.process_time()
    m = nv.measure_dimension(arch, budget=1e6, progress=False)
    taken = time.process_time() - start
found = [arch.num_parameters, m.num_columns, m.num_inputs, m.value, m.arithmetic]
print(json.dumps([*found, cost.seconds, taken, peak(), before]))
"""


def in_a_process(d: int) -> tuple:
    """One line of the table."""
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(d)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | threads,
    )
    parameters, columns, inputs, value, arithmetic, estimate, taken, peak, before = json.loads(done.stdout)
    entry = 8 if arithmetic == "float64" else 1
    megabytes = [size / 1e6 for size in (inputs * columns * entry, peak, before)]
    return parameters, columns, value, arithmetic, estimate, taken, *megabytes


def run(effort: Effort) -> list[Table]:
    widths = WIDTHS[:3] if effort.quick else WIDTHS + (LARGE_WIDTHS if effort.large else ())
    rows = tuple(in_a_process(d) for d in widths)
    findings = [
        Finding(
            f"measure_dimension, P = {parameters:,}, {columns:,} columns",
            f"{taken:.3g} s in {arithmetic}, {peak:,.0f} MB at the peak",
        )
        for parameters, columns, _, arithmetic, _, taken, _, peak, _ in rows[-1:]
    ]
    matrix, peak = rows[-1][6:8]
    if 1e6 * matrix > _ITSELF:
        met = peak / matrix <= GOAL_MEMORY
        findings.append(
            Finding("memory at the peak", f"{peak / matrix:.2f} × the matrix", f"≤ {GOAL_MEMORY} ×", met)
        )
    forms = (",", ",", ",", "", ".3g", ".3g", ",.1f", ",.0f", ",.0f")
    return [Table("networks", HEADER, forms, rows, machine("one thread"), tuple(findings))]
