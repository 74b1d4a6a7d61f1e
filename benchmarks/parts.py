"""Where the time of a large exact rank goes: its parts on one thread, and what threads do not share.

    derivative   the rows of the matrix, as they are stored
    products     of bytes or floats, `subtract_product` without the next part
    residues     mod 241, entry by entry
    inverses     of the blocks of pivots

Lightning, l = 2, a = d/4, t = 3. Processor times on one thread. Then, on as many threads as there are cores,
the share of the thread that waits for the others: while it works, they may wait.
"""

from collections.abc import Callable
from contextlib import ExitStack
from time import process_time, thread_time
from unittest.mock import patch

import neuroviz as nv
from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, one_thread, seconds
from neuroviz.engine import elimination, measure
from neuroviz.engine.elimination import fastest_arithmetic

PARTS = ("derivative", "products", "residues", "inverses")
WIDTHS = (32, 48, 64)


def parts(arch: nv.Architecture) -> dict[str, float]:
    """Seconds of each part, and of the whole, on one thread."""
    spent, going = dict.fromkeys(("all products", *PARTS), 0.0), set()
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
            stack.enter_context(patch.object(owner, call, timed(name, getattr(owner, call))))
        of_stages = stages(arch, process_time)
    residues = spent.pop("all products") - spent["products"]
    return spent | {
        "derivative": of_stages["derivative"], "residues": residues, "whole": sum(of_stages.values())
    }  # fmt: skip


def stages(arch: nv.Architecture, clock: Callable[[], float]) -> dict[str, float]:
    """How long the derivative and the elimination take, without a GPU."""
    measure.clear_cache()
    here, seen = fastest_arithmetic(), {}
    with patch.object(measure, "fastest_arithmetic", lambda columns: here):
        nv.measure_dimension(arch, budget=1e6, progress=lambda what, part: seen.setdefault(what, clock()))
    begin, middle, end = seen["derivative"], seen["elimination"], clock()
    return {"derivative": middle - begin, "elimination": end - middle}


def serial_shares(arch: nv.Architecture) -> tuple[float, float]:
    """Of the derivative's and the elimination's processor time the part of the first thread."""
    runs = [stages(arch, lambda: complex(process_time(), thread_time())) for _ in range(3)]
    totals = [sum(run[name] for run in runs) for name in ("derivative", "elimination")]
    return tuple(total.imag / total.real for total in totals)


def run(effort: Effort) -> list[Table]:
    rows, slowest = [], ""
    for width in WIDTHS[: 1 if effort.quick else None]:
        arch = nv.Architecture.uniform(width, a=width // 4, layers=2)
        nv.estimate_cost(arch)  # times products itself, once
        spent, serial = parts(arch), serial_shares(arch)
        rows.append(
            (
                arch.num_parameters,
                fastest_arithmetic().name,
                *(spent[name] for name in ("whole", *PARTS)),
                *serial,
            )
        )
        two = sorted(PARTS, key=spent.get, reverse=True)[:2]
        slowest = ", ".join(f"{name} {spent[name] / spent['whole']:.0%}" for name in two)
    header = ("parameters P", "arithmetic", "whole, s", *(f"{name}, s" for name in PARTS))
    header += ("serial in the derivative", "serial in the elimination")
    findings = (Finding(f"the two slowest parts of an exact rank, P = {rows[-1][0]:,}", slowest),)
    forms = (",", "", *(".2f",) * 5, ".0%", ".0%")
    return [Table("parts", header, forms, tuple(rows), machine("one thread, then all"), findings)]
