"""Figure 3's whole grid: exact ranks, beside float ranks by one backward pass for each output number.

The grid is that of the paper's Figure 3: softmax, l = 2, t = 3, a = 2, all widths δ = 3, …, 10.

The other method is the paper's own, written here from its description: a random network and N = 250
random inputs in float32, one forward pass of the batch, `backward()` for one output coordinate after
the other, the gradients as rows, `torch.linalg.matrix_rank`; one repetition. "By input" is a kinder
form of it: a forward pass for each input, so that a backward pass goes through one input instead of
250. All run in this process, on one thread, and ours starts from empty caches every time.

    python benchmarks/figure3.py [--quick] [--write]
"""

import torch
from timing import arguments, clear_caches, machine, median_seconds, one_thread, seconds, table, write

import neuroviz as nv
from neuroviz.modules import AttentionNetwork

INPUTS = 250
GOAL = 500
HEADER = [
    "δ",
    "exact rank",
    "float32 rank",
    "float32, s",
    "by input, s",
    "exact, ms",
    "ratio",
    "ratio by input",
]


def grid(widths: range) -> list[nv.Architecture]:
    """The architectures of Figure 3."""
    return [nv.Architecture.uniform(d, a=2, layers=2, tokens=3, attention="softmax") for d in widths]


def rank_by_backward_passes(arch: nv.Architecture, seed: int, batch: int = INPUTS) -> int:
    """One backward pass for each output coordinate, through `batch` inputs at a time."""
    generator = torch.Generator().manual_seed(seed)
    network = AttentionNetwork(arch)
    parameters = list(network.parameters())
    with torch.no_grad():
        for parameter in parameters:
            parameter.normal_(generator=generator)
    rows = []
    for X in torch.randn(INPUTS, arch.widths[0], arch.tokens, generator=generator).split(batch):
        outputs = network(X).flatten()
        for i in range(len(outputs)):  # to iterate over the tensor itself would be far slower
            network.zero_grad()
            outputs[i].backward(retain_graph=True)
            rows.append(torch.cat([parameter.grad.flatten() for parameter in parameters]))
    return int(torch.linalg.matrix_rank(torch.stack(rows)))


def exact_ranks(architectures: list[nv.Architecture]) -> list[int]:
    """The whole grid, as anybody would ask for it."""
    return [nv.measure_dimension(arch).value for arch in architectures]


def line(name: str, exact: str, found: str, theirs: float, by_input: float, ours: float) -> list[str]:
    """One line of the table."""
    times = [f"{theirs:.2f}", f"{by_input:.2f}", f"{1e3 * ours:.2f}"]
    return [name, exact, found, *times, f"{theirs / ours:,.0f}", f"{by_input / ours:,.0f}"]


def main() -> None:
    options = arguments(__doc__, quick="δ = 3, 4, 5 only")
    architectures = grid(range(3, 6) if options.quick else range(3, 11))
    lines, total, total_by_input, wrong, whole = [], 0.0, 0.0, 0, []
    with one_thread():
        # Once each, untimed: imports, and what the libraries build on their first call.
        exact_ranks(architectures[:1])
        rank_by_backward_passes(architectures[0], seed=0, batch=1)
        for arch in architectures:
            # The whole grid between the slow runs, so that a busy moment does not decide.
            whole.append(median_seconds(lambda: exact_ranks(architectures), 3, before=clear_caches)[0])
            ours, exact = median_seconds(
                lambda arch=arch: nv.measure_dimension(arch).value, repeats=9, before=clear_caches
            )
            theirs, found = seconds(lambda arch=arch: rank_by_backward_passes(arch, seed=0))
            by_input, _ = seconds(lambda arch=arch: rank_by_backward_passes(arch, seed=0, batch=1))
            total, total_by_input, wrong = total + theirs, total_by_input + by_input, wrong + (found != exact)
            lines.append(line(str(arch.widths[0]), str(exact), str(found), theirs, by_input, ours))
            print(*lines[-1], sep="  ", flush=True)
    lines.append(line("all", "", f"{wrong} wrong", total, total_by_input, sorted(whole)[len(whole) // 2]))
    text = table(HEADER, lines) + f"\n\nGoal: a ratio of at least {GOAL} for all. {machine()}"
    print(f"\n{text}")
    if options.write:
        write("figure3", text)


if __name__ == "__main__":
    main()
