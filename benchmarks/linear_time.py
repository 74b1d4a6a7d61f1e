"""Lightning attention takes time linear in the number of tokens, softmax attention quadratic.

One layer of each with the same sizes, float32, forward pass, t = 2⁶, …, 2¹³. torch's own fused
softmax attention, which does not store the t × t matrix but still computes it, is the third column.

    python benchmarks/linear_time.py [--quick] [--write]
"""

import torch
from timing import arguments, machine, median_seconds, one_thread, table, write
from torch import Tensor

from neuroviz.modules import LightningAttention, SoftmaxAttention

D, A = 64, 16


def fused(layer: SoftmaxAttention, X: Tensor) -> Tensor:
    """The same function as the softmax layer, by torch's fused kernel; there tokens are rows."""
    rows = (matrix.mT[None, None] for matrix in (layer.Q @ X, layer.K @ X, layer.V @ X))
    return torch.nn.functional.scaled_dot_product_attention(*rows, scale=1.0)[0, 0].mT


def main() -> None:
    options = arguments(__doc__, quick="t up to 2¹⁰ only")

    torch.manual_seed(0)
    lightning, softmax = LightningAttention(D, D, A), SoftmaxAttention(D, D, A)
    X = torch.randn(D, 100)
    torch.testing.assert_close(fused(softmax, X), softmax(X), rtol=1e-4, atol=1e-5)

    lines, before = [], None
    with one_thread(), torch.no_grad():
        for exponent in range(6, 11 if options.quick else 14):
            X = torch.randn(D, 2**exponent)
            calls = (lambda X=X: lightning(X), lambda X=X: softmax(X), lambda X=X: fused(softmax, X))
            for call in calls:
                call()
            times = [median_seconds(call, repeats=15)[0] for call in calls]
            grew = (
                ["", "", ""]
                if before is None
                else [f"{now / old:.1f}" for now, old in zip(times, before, strict=True)]
            )
            lines.append(
                [f"2^{exponent}"]
                + [
                    cell
                    for time, growth in zip(times, grew, strict=True)
                    for cell in (f"{1e3 * time:.3f}", growth)
                ]
                + [f"{times[1] / times[0]:.1f}"]
            )
            before = times

    header = ["t", "lightning, ms", "×", "softmax, ms", "×", "fused softmax, ms", "×", "softmax / lightning"]
    text = table(header, lines)
    text += "\n\n× is the growth from the line above: 2 is linear, 4 is quadratic. "
    text += f"d = d′ = {D}, a = {A}. {machine()}"
    print(text)
    if options.write:
        write("linear_time", text)


if __name__ == "__main__":
    main()
