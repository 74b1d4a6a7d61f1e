"""The derivative in all weights: by the structured reverse pass, and by torch in three
ways.

The same network, the same inputs, all outputs of each, float64, one thread:
`neuroviz.rank.point.derivative`; `vmap(jacrev)` and `vmap(jacfwd)` of torch.func; and
one backward pass for each output number, input by input. All four have to agree. A
column for each parameter, about as many rows.
"""

from math import ceil

import numpy as np
import torch
from torch.func import functional_call, jacfwd, jacrev, vmap

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, median_seconds, one_thread, seconds
from neuroviz.attention import Architecture
from neuroviz.attention.modules import AttentionNetwork
from neuroviz.rank.field import Reals
from neuroviz.rank.point import Point, derivative

NETWORKS = [
    Architecture.uniform(3, a=2, layers=2),
    Architecture.uniform(8, a=4, layers=2),
    Architecture.uniform(8, a=4, layers=2, attention="softmax"),
    Architecture.uniform(16, a=4, layers=2),
    Architecture.uniform(16, a=16, layers=2),
]
HEADER = (
    "network",
    "parameters",
    "rows",
    "ours, ms",
    "vmap(jacrev), ms",
    "vmap(jacfwd), ms",
    "row by row, ms",
    "best of torch / ours",
    "row by row / ours",
)


def by_torch(
    network: AttentionNetwork, transform: object, X: torch.Tensor
) -> np.ndarray:
    """vmap of jacrev or jacfwd over the inputs."""

    def outputs(parameters: dict[str, torch.Tensor], X: torch.Tensor) -> torch.Tensor:
        return functional_call(network, parameters, (X,)).flatten()

    parameters = {name: value.detach() for name, value in network.named_parameters()}
    parts = vmap(transform(outputs), in_dims=(None, 0))(parameters, X)
    return (
        torch.cat([parts[name].flatten(2) for name in in_order(network)], dim=2)
        .flatten(0, 1)
        .numpy()
    )


def row_by_row(network: AttentionNetwork, X: torch.Tensor) -> np.ndarray:
    """A backward pass for each output number."""
    names = dict(network.named_parameters())
    parameters = [names[name] for name in in_order(network)]
    rows = []
    for one in X:
        outputs = network(one).flatten()
        for i in range(len(outputs)):
            gradients = torch.autograd.grad(outputs[i], parameters, retain_graph=True)
            rows.append(torch.cat([gradient.flatten() for gradient in gradients]))
    return torch.stack(rows).numpy()


def in_order(network: AttentionNetwork) -> list[str]:
    """Names of the parameters in the order of our columns."""
    return [f"layers.{i}.{name}" for i in range(len(network.layers)) for name in "QKV"]


def line(arch: Architecture) -> tuple:
    """The times of one network, in milliseconds.

    Raises:
        RuntimeError: if two of the matrices differ, so that the times would compare
            different things.
    """
    rng = np.random.default_rng(0)
    inputs = ceil(arch.num_parameters / (arch.tokens * arch.widths[-1])) + 1
    weights, X = next(arch.conditioned_points(inputs, rng))
    point = Point(arch, Reals(), weights, {})
    network = AttentionNetwork(arch, dtype=torch.float64)
    tensor = torch.from_numpy(X)
    network.load_weights(weights)

    def ours() -> np.ndarray:
        return derivative(point, X)

    J = ours().reshape(-1, arch.num_parameters)
    times = [median_seconds(ours, 9)[0]]
    for transform in (jacrev, jacfwd):
        by_torch(network, transform, tensor[:2])
        taken, other = median_seconds(
            lambda transform=transform: by_torch(network, transform, tensor), 5
        )
        _check_equal(J, other)
        times.append(taken)
    taken, other = seconds(lambda: row_by_row(network, tensor))
    _check_equal(J, other)
    times.append(taken)
    ratios = min(times[1:3]) / times[0], times[3] / times[0]
    return (
        str(arch),
        arch.num_parameters,
        len(J),
        *(1e3 * time for time in times),
        *ratios,
    )


def _check_equal(one: np.ndarray, other: np.ndarray) -> None:
    if not np.allclose(one, other, rtol=1e-9, atol=1e-12):
        raise RuntimeError(
            f"two Jacobians of one network differ by {np.abs(one - other).max():.1g}"
        )


def run(effort: Effort) -> list[Table]:
    with one_thread():
        # once, untimed: imports, and what the libraries build on their first call
        line(NETWORKS[0])
        rows = tuple(
            line(arch) for arch in (NETWORKS[:3] if effort.quick else NETWORKS)
        )
    least = [min(row[column] for row in rows) for column in (-2, -1)]
    finding = Finding(
        "Jacobian, against torch",
        f"at least {least[0]:.1f} × as fast as vmap(jacrev) and vmap(jacfwd),"
        f" {least[1]:.0f} × as row by row",
    )
    forms = ("", ",", ",", ".2f", ",.2f", ",.2f", ",.2f", ".1f", ",.0f")
    return [Table("jacobian", HEADER, forms, rows, machine(), (finding,))]
