"""Networks with anything in their `Block`, in torch: a second program for
`neuroviz_beyond.transformers`."""

import torch
from torch import Tensor, nn

from neuroviz_beyond.transformers.rotary import ROTARY_BASE


class BlockNetwork(nn.Module):
    """Parameters are named as in `Architecture.parameter_shapes`, with "_" for "."."""

    def __init__(self, arch, weights) -> None:
        super().__init__()
        self.arch = arch
        given = {
            _key(name): nn.Parameter(torch.from_numpy(weights[name]))
            for name in arch.parameter_shapes
        }
        self.weights = nn.ParameterDict(given)

    def forward(self, X: Tensor) -> Tensor:
        w = self.weights
        block = self.arch.block
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
        w = self.weights
        arch = self.arch
        t = X.shape[-1]
        heads = arch.heads[i - 1]
        q, k, v = (torch.einsum("hra,...at->...hrt", w[f"{i}_{m}"], X) for m in "QKV")
        if arch.block.biases:
            q = q + w[f"{i}_q"]
            k = k + w[f"{i}_k"]
            v = v + w[f"{i}_v"]
        if arch.block.rotary:
            q = _turned(q)
            k = _turned(k)
        k, v = (m.repeat_interleave(heads // m.shape[-3], dim=-3) for m in (k, v))
        logits = torch.einsum("...haj,...hai->...hji", k, q)
        if arch.block.temperature:
            logits = w[f"{i}_beta"] * logits
        hidden = torch.ones(t, t, dtype=torch.bool, device=X.device).tril(-1)
        if arch.attention == "softmax":
            S = torch.softmax(
                logits.masked_fill(hidden, -torch.inf) if arch.causal else logits,
                dim=-2,
            )
        else:
            S = logits.masked_fill(hidden, 0) if arch.causal else logits
        if not arch.block.value_dim:
            return torch.einsum("...hvj,...hji->...vi", v, S)
        Y = torch.einsum("hdv,...hvj,...hji->...di", w[f"{i}_O"], v, S)
        return Y + w[f"{i}_o"] if arch.block.biases else Y


def _turned(x: Tensor) -> Tensor:
    """Token i turned by i · 10000^(−2k/a) in its k-th pair of coordinates, as complex
    numbers."""
    a, t = x.shape[-2:]
    angles = ROTARY_BASE ** (-torch.arange(0, a, 2, dtype=x.dtype, device=x.device) / a)
    places = angles[:, None] * torch.arange(t, dtype=x.dtype, device=x.device)
    z = torch.complex(x[..., 0::2, :], x[..., 1::2, :]) * torch.polar(
        torch.ones_like(places), places
    )
    return torch.stack([z.real, z.imag], dim=-2).flatten(-3, -2)


def _key(name: str) -> str:
    return name.replace(".", "_")
