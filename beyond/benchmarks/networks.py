"""measure_dimension from end to end, up to large networks: seconds, and memory at the
peak.

Lightning, l = 2, a = d/4, t = 3, and last a deep one with softmax, l = 9, d = a = 64;
exact. Each in a fresh process on one thread, so that the peak is its own; the processor
time is that of the call, imports not counted. Beside it what `estimate_cost` said
before, and the matrix, without which nothing can be done.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine

ROOT = Path(__file__).parents[2]
SHAPES = [(d, d // 4, 2, 3, "lightning") for d in (8, 16, 32, 64, 96, 128)] + [
    (64, 64, 9, 3, "softmax")
]
QUICK, USUAL = 3, 4  # how many of them; all with --large
# seconds, megabytes, in which arithmetic
GOALS = {49_152: (84, 1_500, "int8"), 110_592: (3_600, 6_000, "")}
# peak over matrix, once the matrix is larger than what the interpreter itself needs
GOAL_MEMORY = 1.5
_ITSELF = 512 * 2**20
HEADER = (
    "parameters P",
    "columns",
    "dimension",
    "arithmetic",
    "estimated, s",
    "seconds",
    "matrix, MB",
    "peak, MB",
    "before it, MB",
)
# Linux hands the parent's ru_maxrss on to a child; VmHWM, where there is one, is the
# process's own.
CHILD = """
import json, resource, sys, time
from pathlib import Path
from threadpoolctl import threadpool_limits
import neuroviz as nv
from neuroviz.rank.arithmetic import fastest_arithmetic

def peak():
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

fastest_arithmetic()  # imports torch, where it is needed to find out
arch = nv.Architecture.uniform(*json.loads(sys.argv[1]))
with threadpool_limits(1):
    cost = nv.estimate_cost(arch)
    before, start = peak(), time.process_time()
    m = nv.measure_dimension(arch, budget=1e6, progress=False)
    taken = time.process_time() - start
found = [arch.num_parameters, m.num_columns, m.num_inputs, m.value, m.arithmetic]
print(json.dumps([*found, cost.seconds, taken, peak(), before]))
"""


def in_a_process(shape: tuple) -> tuple:
    """One line of the table."""
    threads = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
    )
    done = subprocess.run(
        [sys.executable, "-c", CHILD, json.dumps(shape)],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env=os.environ | threads,
    )
    parameters, columns, inputs, value, arithmetic, estimate, taken, peak, before = (
        json.loads(done.stdout)
    )
    entry = 8 if arithmetic == "float64" else 1
    megabytes = [size / 1e6 for size in (inputs * columns * entry, peak, before)]
    return parameters, columns, value, arithmetic, estimate, taken, *megabytes


def findings(rows: tuple) -> tuple[Finding, ...]:
    """What the large ones took, and the memory of all whose matrix is larger than the
    interpreter itself."""
    found = []
    for parameters, columns, _, arithmetic, _, taken, _, peak, _ in rows:
        if parameters in GOALS or parameters == rows[-1][0]:
            seconds, megabytes, where = GOALS.get(parameters, (None, None, ""))
            known = megabytes and where in ("", arithmetic)
            found.append(
                Finding(
                    f"measure_dimension, P = {parameters:,}, {columns:,} columns",
                    f"{taken:.3g} s in {arithmetic}, {peak:,.0f} MB at the peak",
                    (
                        f"≤ {seconds:,} s and {megabytes:,}"
                        f" MB{where and f' in {where}'}"
                        if megabytes
                        else ""
                    ),
                    (taken <= seconds and peak <= megabytes) if known else None,
                )
            )
    ratios = [peak / matrix for *_, matrix, peak, _ in rows if 1e6 * matrix > _ITSELF]
    if ratios:
        met = max(ratios) <= GOAL_MEMORY
        words = f"at most {max(ratios):.2f} × the matrix"
        found.append(Finding("memory at the peak", words, f"≤ {GOAL_MEMORY} ×", met))
    return tuple(found)


def run(effort: Effort) -> list[Table]:
    shapes = (
        SHAPES[:QUICK] if effort.quick else SHAPES if effort.large else SHAPES[:USUAL]
    )
    rows = tuple(in_a_process(shape) for shape in shapes)
    forms = (",", ",", ",", "", ".3g", ".3g", ",.1f", ",.0f", ",.0f")
    return [
        Table("networks", HEADER, forms, rows, machine("one thread"), findings(rows))
    ]
