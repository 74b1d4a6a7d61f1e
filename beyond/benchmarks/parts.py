"""Where the time of a large exact rank goes: its parts on one thread, and what threads
do not share.

    derivative   the rows of the matrix, as they are stored
    products     of bytes or floats, `subtract_product` without the next part
    residues     mod 241, entry by entry
    inverses     of the blocks of pivots

Lightning, l = 2, a = d/4, t = 3. Processor times on one thread. Then, on as many
threads as there are cores:
seconds on the clock, and processor time of each core; the share of the thread that
waits for the others (while it works, they may wait); how far the progress ever was from
the share of the processor time. Other programs slow the clock down, and processor time
hardly.
"""

import os
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from statistics import median
from time import perf_counter, process_time, thread_time
from timeit import repeat
from unittest.mock import patch

import numpy as np

import neuroviz as nv
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, one_thread, seconds
from neuroviz.kit.measured import clear_cache
from neuroviz.rank import cost, elimination, progress
from neuroviz.rank.arithmetic import fastest_arithmetic

PARTS = ("derivative", "products", "residues", "inverses")
WIDTHS = (32, 48, 64, 128)
GOAL = 42


def parts(arch: nv.Architecture) -> dict[str, float]:
    """Seconds of each part, and of the whole, on one thread."""
    spent = dict.fromkeys(("all products", *PARTS), 0.0)
    going = set()
    kind = type(fastest_arithmetic())

    def timed(name: str, call: Callable) -> Callable:
        def wrapped(*arguments: object) -> object:
            if name in going:  # an inverse is made of smaller ones
                return call(*arguments)
            going.add(name)
            taken, result = seconds(lambda: call(*arguments))
            going.remove(name)
            spent[name] += taken
            return result

        return wrapped

    with one_thread(), ExitStack() as stack:
        for owner, call, name in (
            (kind, "subtract_product", "all products"),
            (kind, "_product", "products"),
            (kind, "_factor", "products"),
            (elimination, "invert_pivots", "inverses"),
        ):
            stack.enter_context(
                patch.object(owner, call, timed(name, getattr(owner, call)))
            )
        of_stages = stages(arch, process_time)
    residues = spent.pop("all products") - spent["products"]
    return spent | {
        "derivative": of_stages["derivative"],
        "residues": residues,
        "whole": sum(of_stages.values()),
    }


def stages(arch: nv.Architecture, clock: Callable[[], float]) -> dict[str, float]:
    """How long the derivative and the elimination take by a clock."""
    clear_cache()
    seen = {}
    nv.measure_dimension(
        arch, budget=1e6, progress=lambda what, part: seen.setdefault(what, clock())
    )
    begin = seen["derivative"]
    middle = seen["elimination"]
    end = clock()
    return {"derivative": middle - begin, "elimination": end - middle}


def on_all_threads(
    arch: nv.Architecture, times: int
) -> tuple[float, float, float, float, float]:
    """Seconds on the clock, and of a core; the first thread's share of both stages; the
    progress's error."""
    runs = []
    wall = []
    errors = []
    for _ in range(times):
        start = perf_counter()
        runs.append(stages(arch, lambda: complex(process_time(), thread_time())))
        wall.append(perf_counter() - start)
        errors.append(progress_error(arch))
    totals = [sum(run[name] for run in runs) for name in ("derivative", "elimination")]
    of_a_core = sum(totals).real / times / os.cpu_count()
    return (
        median(wall),
        of_a_core,
        *(total.imag / total.real for total in totals),
        median(errors),
    )


def progress_error(arch: nv.Architecture) -> float:
    """How far what a measurement says of its progress is from the time passed, at most;
    by processor time."""
    clear_cache()
    cost._timed.cache_clear()
    heard = []
    with (
        patch.object(progress, "perf_counter", process_time),
        patch.object(cost, "repeat", partial(repeat, timer=process_time)),
    ):
        nv.measure_dimension(
            arch,
            budget=1e6,
            progress=lambda _, part: heard.append((part, process_time())),
        )
    cost._timed.cache_clear()
    said, at = np.transpose(heard[1:])  # without the estimate
    return float(np.abs(said - (at - at[0]) / np.ptp(at)).max())


def run(effort: Effort) -> list[Table]:
    rows = []
    findings = []
    for width in WIDTHS[: 1 if effort.quick else None if effort.large else -1]:
        arch = nv.Architecture.uniform(width, a=width // 4, layers=2)
        nv.estimate_cost(arch)  # times products itself, once
        spent = parts(arch)
        shared = on_all_threads(arch, 1 if width == WIDTHS[-1] else 3)
        name = fastest_arithmetic().name
        rows.append(
            (
                arch.num_parameters,
                name,
                *(spent[part] for part in ("whole", *PARTS)),
                *shared,
            )
        )
        two = sorted(PARTS, key=spent.get, reverse=True)[:2]
        slowest = ", ".join(
            f"{part} {spent[part] / spent['whole']:.0%}" for part in two
        )
        of = f"an exact rank, P = {arch.num_parameters:,}"
        findings = [Finding(f"the two slowest parts of {of}", slowest)]
        if width == WIDTHS[-1]:
            cores, (clock, of_a_core, *_) = os.cpu_count(), shared
            said = (
                f"{of_a_core:.0f} s of each of {cores} in {name}; {clock:.0f} s on the"
                " clock, beside others"
            )
            met = of_a_core <= GOAL if (name, cores) == ("int8", 2) else None
            findings.append(
                Finding(
                    f"{of}, all processors", said, f"≤ {GOAL} s on two, in int8", met
                )
            )
            worst = max(row[-1] for row in rows)
            findings.append(
                Finding("the progress of a large rank, off by at most", f"{worst:.0%}")
            )
    header = (
        "parameters P",
        "arithmetic",
        "whole, s",
        *(f"{name}, s" for name in PARTS),
    )
    header += (
        "all threads, s",
        "of each core, s",
        "serial in the derivative",
        "serial in the elimination",
    )
    forms = (",", "", *(".2f",) * 7, ".0%", ".0%", ".0%")
    note = machine("one thread, then all")
    return [
        Table(
            "parts",
            (*header, "progress off by"),
            forms,
            tuple(rows),
            note,
            tuple(findings),
        )
    ]
