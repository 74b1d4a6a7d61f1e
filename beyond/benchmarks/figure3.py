"""Figure 3's whole grid: exact ranks, beside float ranks by one backward pass for each
output number.

The grid is that of the paper's Figure 3: softmax, l = 2, t = 3, a = 2, all widths δ =
3, …, 10.

The other method is the paper's own, written here from its description: a random network
and N = 250 random inputs in float32, one forward pass of the batch, `backward()` for
one output coordinate after the other, the gradients as rows,
`torch.linalg.matrix_rank`; one repetition. "By input" is a kinder form of it: a forward
pass for each input, so that a backward pass goes through one input instead of 250. All
run in this process, on one thread, and ours starts from empty caches every time.
"""

from statistics import median

import torch

import neuroviz as nv
from benchmarks.tables import Finding, Table
from benchmarks.timing import (
    Effort,
    clear_caches,
    machine,
    median_seconds,
    one_thread,
    seconds,
)
from neuroviz.attention.modules import AttentionNetwork

INPUTS = 250
GOAL = 1000
MILLISECONDS = 40
HEADER = (
    "δ",
    "exact rank",
    "float32 rank",
    "float32, s",
    "by input, s",
    "exact, ms",
    "ratio",
    "ratio by input",
)


def grid(widths: range, attention: str = "softmax") -> list[nv.Architecture]:
    """The architectures of Figure 3."""
    return [
        nv.Architecture.uniform(d, a=2, layers=2, tokens=3, attention=attention)
        for d in widths
    ]


def rank_by_backward_passes(
    arch: nv.Architecture, seed: int, batch: int = INPUTS
) -> int:
    """One backward pass for each output coordinate, through `batch` inputs at a
    time."""
    generator = torch.Generator().manual_seed(seed)
    network = AttentionNetwork(arch)
    parameters = list(network.parameters())
    with torch.no_grad():
        for parameter in parameters:
            parameter.normal_(generator=generator)
    rows = []
    for X in torch.randn(
        INPUTS, arch.widths[0], arch.tokens, generator=generator
    ).split(batch):
        outputs = network(X).flatten()
        # to iterate over the tensor itself would be far slower
        for i in range(len(outputs)):
            network.zero_grad()
            outputs[i].backward(retain_graph=True)
            rows.append(
                torch.cat([parameter.grad.flatten() for parameter in parameters])
            )
    return int(torch.linalg.matrix_rank(torch.stack(rows)))


def exact_ranks(architectures: list[nv.Architecture]) -> list[int]:
    """The whole grid, as anybody would ask for it."""
    return [nv.measure_dimension(arch).value for arch in architectures]


def row(
    name: int | str,
    exact: object,
    found: object,
    theirs: float,
    by_input: float,
    ours: float,
) -> tuple:
    """One line of the table; times in seconds."""
    return (
        name,
        exact,
        found,
        theirs,
        by_input,
        1e3 * ours,
        theirs / ours,
        by_input / ours,
    )


def run(effort: Effort) -> list[Table]:
    widths = range(3, 6) if effort.quick else range(3, 11)
    architectures = grid(widths)
    both = architectures + grid(widths, "lightning")
    rows = []
    whole = []
    of_both = []
    with one_thread():
        # Once each, untimed: imports, and what the libraries build on their first call.
        exact_ranks(both[:1])
        rank_by_backward_passes(architectures[0], seed=0, batch=1)
        for arch in architectures:
            # The whole grid between the slow runs, so that a busy moment does not
            # decide.
            whole.append(
                median_seconds(
                    lambda: exact_ranks(architectures), 3, before=clear_caches
                )[0]
            )
            of_both.append(
                median_seconds(lambda: exact_ranks(both), 3, before=clear_caches)[0]
            )
            ours, exact = median_seconds(
                lambda arch=arch: nv.measure_dimension(arch).value,
                repeats=9,
                before=clear_caches,
            )
            theirs, found = seconds(
                lambda arch=arch: rank_by_backward_passes(arch, seed=0)
            )
            by_input, _ = seconds(
                lambda arch=arch: rank_by_backward_passes(arch, seed=0, batch=1)
            )
            rows.append(row(arch.widths[0], exact, found, theirs, by_input, ours))
    wrong = sum(exact != found for _, exact, found, *_ in rows)
    theirs = sum(r[3] for r in rows)
    by_input = sum(r[4] for r in rows)
    ours = median(whole)
    rows.append(row("all", None, f"{wrong} wrong", theirs, by_input, ours))
    ratio = theirs / ours
    milliseconds = 1e3 * median(of_both)
    findings = (
        Finding(
            "Figure 3, exact, against float32 with one backward pass an output",
            f"{ratio:,.0f} × as fast; there {wrong} of {len(architectures)} ranks are"
            " wrong",
            f"≥ {GOAL:,} ×",
            ratio >= GOAL,
        ),
        Finding(
            f"Figure 3 for both kinds, {len(both)} exact ranks",
            f"{milliseconds:.0f} ms",
            f"≤ {MILLISECONDS} ms",
            milliseconds <= MILLISECONDS,
        ),
    )
    return [
        Table(
            "figure3",
            HEADER,
            ("", "", "", ".2f", ".2f", ".2f", ",.0f", ",.0f"),
            tuple(rows),
            machine(),
            findings,
        )
    ]
