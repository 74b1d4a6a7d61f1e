"""Lightning attention takes time linear in the number of tokens, softmax attention
quadratic.

One layer of each with the same sizes, float32, forward pass, t = 2⁶, …, 2¹³. *By
definition* is lightning attention as it is written, V X (Xᵀ A X) with its t × t matrix.
torch's own fused softmax attention, which does not store that matrix but still computes
it, is the last one.
"""

import torch
from torch import Tensor

from benchmarks.tables import Finding, Table
from benchmarks.timing import Effort, machine, median_seconds, one_thread
from neuroviz.attention.modules import LightningAttention, SoftmaxAttention

D, A = 64, 16
NAMES = ("lightning", "by definition", "softmax", "fused softmax")
HEADER = (
    "t",
    *(title for name in NAMES for title in (f"{name}, ms", "×")),
    "definition / lightning",
)


def by_definition(layer: LightningAttention, X: Tensor) -> Tensor:
    """The same function as the lightning layer, through XᵀAX."""
    return layer.V @ X @ ((layer.K @ X).mT @ (layer.Q @ X))


def fused(layer: SoftmaxAttention, X: Tensor) -> Tensor:
    """The same function as the softmax layer, by torch's fused kernel; there tokens are
    rows."""
    rows = (matrix.mT[None, None] for matrix in (layer.Q @ X, layer.K @ X, layer.V @ X))
    return torch.nn.functional.scaled_dot_product_attention(*rows, scale=1.0)[0, 0].mT


def run(effort: Effort) -> list[Table]:
    torch.manual_seed(0)
    lightning = LightningAttention(D, D, A)
    softmax = SoftmaxAttention(D, D, A)
    layers = (
        lightning,
        lambda X: by_definition(lightning, X),
        softmax,
        lambda X: fused(softmax, X),
    )
    X = torch.randn(D, 100)
    for one, other in (layers[:2], layers[2:]):
        torch.testing.assert_close(one(X), other(X), rtol=1e-3, atol=1e-4)

    rows = []
    before = None
    with one_thread(), torch.no_grad():
        for exponent in range(6, 11 if effort.quick else 14):
            X = torch.randn(D, 2**exponent)
            for layer in layers:
                layer(X)
            repeats = 15 if exponent <= 11 else 5
            times = [
                median_seconds(lambda layer=layer, X=X: layer(X), repeats)[0]
                for layer in layers
            ]
            grown = (
                [None] * 4
                if before is None
                else [b / a for a, b in zip(before, times, strict=True)]
            )
            pairs = zip(times, grown, strict=True)
            cells = [cell for time, growth in pairs for cell in (1e3 * time, growth)]
            rows.append((f"2^{exponent}", *cells, times[1] / times[0]))
            before = times
    note = "× is the growth from the line above: 2 is linear, 4 is quadratic. "
    note += f"d = d′ = {D}, a = {A}. {machine()}"
    finding = Finding(
        f"lightning forward, t = {rows[-1][0]}",
        f"{rows[-1][1]:.2f} ms, {rows[-1][-1]:,.0f} × as fast as by its definition",
    )
    forms = ("", *(".3f", ".1f") * len(NAMES), ",.1f")
    return [Table("linear_time", HEADER, forms, tuple(rows), note, (finding,))]
