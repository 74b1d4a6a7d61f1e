"""`neuroviz_beyond.sweep` over 1,000 small architectures: in this process, and on two
processes of its own.

Different random shapes, up to four layers and widths up to 6, both kinds, exact.
Wall-clock time, as processes are compared. Starting the pool is part of it; how much, a
sweep of one architecture tells.
"""

import random
from time import perf_counter

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, clear_caches, machine
from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz_beyond.sweeps import Sweep, sweep
from neuroviz_beyond.transformers import Transformer

GOAL_SECONDS = 30
HEADER = (
    "workers",
    "architectures",
    "seconds",
    "of it starting, s",
    "architectures a second",
    "unlike theory",
    "failed",
)


def shapes(count: int) -> list[Transformer]:
    """Different random architectures, always the same ones."""
    draw = random.Random(0)
    found = {}
    while len(found) < count:
        layers = draw.randint(1, 4)
        widths = tuple(draw.randint(1, 6) for _ in range(layers + 1))
        heads = tuple(draw.randint(1, 4) for _ in range(layers))
        found[
            Transformer(widths, heads, draw.randint(1, 4), draw.choice(ATTENTION_KINDS))
        ] = None
    return list(found)


def timed(wanted: list[Transformer], workers: int) -> tuple[float, Sweep]:
    """Seconds on the clock, from empty caches, and the records."""
    clear_caches()
    start = perf_counter()
    done = sweep(wanted, workers=workers, progress=False)
    return perf_counter() - start, done


def run(effort: Effort) -> list[Table]:
    wanted = shapes(100 if effort.quick else 1000)
    rows = []
    records = []
    for workers in (1, 2):
        starting, _ = timed(wanted[:1], workers)
        taken, done = timed(wanted, workers)
        each = len(done) / taken, len(done.disagreements), len(done.failed)
        rows.append((workers, len(done), taken, starting, *each))
        records.append(done.records)
    if records[0] != records[1]:
        raise RuntimeError("a sweep on two workers has other records than on one")
    alone, two = (row[2] for row in rows)
    finding = Finding(
        f"sweep of {len(wanted):,} small architectures, one worker",
        f"{alone:.1f} s; two workers {two:.1f} s",
        f"< {GOAL_SECONDS} s",
        alone < GOAL_SECONDS,
    )
    forms = ("", ",", ".1f", ".1f", ",.0f", "", "")
    note = f"The records are the same. {machine('one thread a worker')}"
    return [Table("sweeps", HEADER, forms, tuple(rows), note, (finding,))]
