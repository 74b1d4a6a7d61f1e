"""Networks with anything in their `Block`, as a torch module: to be trained, or to check `blocks`."""

from collections.abc import Mapping

import numpy as np
import torch
from torch import Tensor, nn

from neuroviz.engine.architecture import Architecture, check_architecture
from neuroviz.engine.rotary import ROTARY_BASE


class BlockNetwork(nn.Module):
    """A deep attention network with the `Block` of its architecture, layer after layer.

    Parameters are named as in `Architecture.parameter_shapes`, with "_" for ".": `net.weights["1_Q"]`.
    With positions the number of tokens is that of the architecture, otherwise it takes any.

    Shapes: X of shape (…, d₀, t), tokens as columns → (…, d_l, t).

    Raises:
        ValueError: when called, if X does not have d₀ rows.

    >>> from neuroviz.engine.block import Block
    >>> net = BlockNetwork(Architecture((4, 4), (2,), heads=2, block=Block(value_dim=2, biases=True)))
    >>> net(torch.ones(10, 4, 3)).shape
    torch.Size([10, 4, 3])
    """

    def __init__(self, arch: Architecture, dtype: torch.dtype | None = None) -> None:
        super().__init__()
        check_architecture("BlockNetwork", arch, variants=True)
        self.arch = arch
        self.weights = nn.ParameterDict()
        for name, shape in arch.parameter_shapes.items():
            drawn = torch.randn(shape, dtype=dtype) * shape[-1] ** -0.5
            self.weights[_key(name)] = nn.Parameter(drawn)

    @classmethod
    def from_weights(cls, arch: Architecture, weights: Mapping[str, np.ndarray]) -> "BlockNetwork":
        """The float64 network with the weights of `neuroviz.engine.block_network`."""
        net = cls(arch, torch.float64)
        with torch.no_grad():
            for name in arch.parameter_shapes:
                net.weights[_key(name)].copy_(torch.from_numpy(weights[name]))
        return net

    def forward(self, X: Tensor) -> Tensor:
        """The tokens that come out."""
        if X.ndim < 2 or X.shape[-2] != self.arch.widths[0]:
            raise ValueError(
                f"tokens are the columns of X, which needs {self.arch.widths[0]} rows; "
                f"got shape {tuple(X.shape)}"
            )
        w, block = self.weights, self.arch.block
        if block.positions:
            X = X + w["P"]
        for i in range(1, self.arch.num_layers + 1):
            Y = self._attend(i, X)
            X = X + Y if self.arch.skip else Y
            if f"{i}_U1" in w:
                Y = w[f"{i}_U2"] @ (w[f"{i}_U1"] @ X) ** block.mlp[1]
                X = X + Y if self.arch.skip else Y
        return X

    def _attend(self, i: int, X: Tensor) -> Tensor:
        w, arch, t = self.weights, self.arch, X.shape[-1]
        heads = arch.heads[i - 1]
        q, k, v = (torch.einsum("hra,...at->...hrt", w[f"{i}_{m}"], X) for m in "QKV")
        if arch.block.biases:
            q, k, v = q + w[f"{i}_q"], k + w[f"{i}_k"], v + w[f"{i}_v"]
        if arch.block.rotary:
            q, k = _turned(q), _turned(k)
        k, v = (m.repeat_interleave(heads // m.shape[-3], dim=-3) for m in (k, v))
        logits = torch.einsum("...haj,...hai->...hji", k, q)
        if arch.block.temperature:
            logits = w[f"{i}_beta"] * logits
        hidden = torch.ones(t, t, dtype=torch.bool, device=X.device).tril(-1)
        if arch.attention == "softmax":
            S = torch.softmax(logits.masked_fill(hidden, -torch.inf) if arch.causal else logits, dim=-2)
        else:
            S = logits.masked_fill(hidden, 0) if arch.causal else logits
        if not arch.block.value_dim:
            return torch.einsum("...hvj,...hji->...vi", v, S)
        Y = torch.einsum("hdv,...hvj,...hji->...di", w[f"{i}_O"], v, S)
        return Y + w[f"{i}_o"] if arch.block.biases else Y


def _turned(x: Tensor) -> Tensor:
    """Token i turned by i · 10000^(−2k/a) in its k-th pair of coordinates, as complex numbers."""
    a, t = x.shape[-2:]
    angles = ROTARY_BASE ** (-torch.arange(0, a, 2, dtype=x.dtype, device=x.device) / a)
    places = angles[:, None] * torch.arange(t, dtype=x.dtype, device=x.device)
    z = torch.complex(x[..., 0::2, :], x[..., 1::2, :]) * torch.polar(torch.ones_like(places), places)
    return torch.stack([z.real, z.imag], dim=-2).flatten(-3, -2)


def _key(name: str) -> str:
    return name.replace(".", "_")
