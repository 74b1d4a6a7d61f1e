"""The same networks as torch modules.

As everywhere in the package tokens are the columns of X; a batch has shape (…, d, t).
Q, K and V have the shapes of `neuroviz.engine.network`.
"""

from math import inf
from numbers import Real

import torch
from torch import Tensor, nn

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.network import layer_shapes

Device = torch.device | str | None


class _Attention(nn.Module):
    """What both kinds of attention share: Q, K, V, their first values, and a check of
    the input."""

    kind: str

    def __init__(
        self,
        d_in: int,
        d_out: int,
        a: int,
        device: Device = None,
        dtype: torch.dtype | None = None,
        heads: int = 1,
        skip: bool = False,
        causal: bool = False,
    ) -> None:
        super().__init__()
        options = {
            "attention": self.kind,
            "heads": heads,
            "skip": skip,
            "causal": causal,
        }
        # Architecture checks the sizes
        self.arch = arch = Architecture((d_in, d_out), (a,), **options)
        (self.d_in, self.d_out), (self.a,), (self.heads,) = (
            arch.widths,
            arch.head_dims,
            arch.heads,
        )
        self.skip, self.causal = arch.skip, arch.causal
        for name, shape in layer_shapes(arch)[0]._asdict().items():
            self.register_parameter(
                name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
            )
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights: V ~ N(0, 1/d_in), Q and K ~ N(0, 1/(d_in √a)), all entries
        independent.

        Then, for tokens with independent N(0, 1) entries, every coordinate of V x_j and
        every logit x_jᵀ A x_i with j ≠ i has variance 1: no further factor 1/√a is
        needed.
        """
        nn.init.normal_(self.V, std=self.d_in**-0.5, generator=generator)
        for matrix in (self.Q, self.K):
            nn.init.normal_(
                matrix, std=self.d_in**-0.5 * self.a**-0.25, generator=generator
            )

    def forward(self, X: Tensor) -> Tensor:
        """φ(X) for each matrix of the batch: the heads added, and X if there is a
        skip."""
        _check_tokens(X, self.V)
        Y = (
            self._attend(X)
            if self.heads == 1
            else self._attend(X.unsqueeze(-3)).sum(-3)
        )
        return X + Y if self.skip else Y

    def extra_repr(self) -> str:
        more = (
            [f"heads={self.heads}"] * (self.heads > 1)
            + ["skip"] * self.skip
            + ["causal"] * self.causal
        )
        return ", ".join([f"d_in={self.d_in}, d_out={self.d_out}, a={self.a}", *more])


class LightningAttention(_Attention):
    """One layer of attention without softmax, in time linear in the number of tokens.

        φ(X) = V X Xᵀ A X,  A = KᵀQ;    column i:  Σ_j (x_jᵀ A x_i) V x_j        (Eq.
                            1–3)

    Read from the left as (V (X (KX)ᵀ)) (QX): the t × t matrix XᵀAX is never formed, and
    t tokens cost t·a·(3 d_in + d_out) + a·d_in·d_out multiplications a head. (With a
    causal mask it is formed.)

    Parameters `Q`, `K` of shape (a, d_in) and `V` of shape (d_out, d_in), with several
    heads one matrix a head, stacked; any a ≥ 1, also a > d_in. heads, skip, causal: as
    in `Architecture`.

    Shapes: X of shape (…, d_in, t), tokens as columns → (…, d_out, t), any t ≥ 1.

    Raises:
        ValueError: if a size is not a whole number ≥ 1; when called, if X does not have
            d_in rows or not the dtype of the weights.

    >>> layer = LightningAttention(d_in=4, d_out=3, a=2)
    >>> layer(torch.ones(10, 4, 100)).shape
    torch.Size([10, 3, 100])
    """

    kind = "lightning"

    def _attend(self, X: Tensor) -> Tensor:
        if self.causal:  # each token sees another memory
            return (self.V @ X) @ ((self.K @ X).mT @ (self.Q @ X)).triu()
        # d_out × a, all that the tokens leave behind
        memory = self.V @ (X @ (self.K @ X).mT)
        return memory @ (self.Q @ X)


class SoftmaxAttention(_Attention):
    """One layer of softmax attention at temperature τ.

        φ(X) = V X softmax(XᵀAX / τ), column by column;
        column i:  Σ_j [S(x_jᵀAx_i) / Σ_k S(x_kᵀAx_i)] V x_j,  S = exp(·/τ)
                   (Eq. 15)

    The same function as with A/τ in place of A at temperature 1. τ is a fixed number,
    not a parameter. Parameters, shapes and options are those of `LightningAttention`.

    Raises:
        ValueError: as there, or if τ is not a finite number > 0.

    >>> layer = SoftmaxAttention(d_in=4, d_out=3, a=2, temperature=0.5)
    >>> layer(torch.ones(10, 4, 6)).shape
    torch.Size([10, 3, 6])
    """

    kind = "softmax"

    def __init__(
        self, d_in: int, d_out: int, a: int, temperature: float = 1.0, **options: object
    ) -> None:
        super().__init__(d_in, d_out, a, **options)
        if not isinstance(temperature, Real) or not 0 < temperature < inf:
            remedy = "a small one makes attention sharp, a large one makes it uniform"
            raise ValueError(
                f"temperature needs a finite number > 0; got {temperature!r}: {remedy}"
            )
        self.temperature = float(temperature)

    def _attend(self, X: Tensor) -> Tensor:
        logits = (self.K @ X).mT @ (self.Q @ X)  # row j, column i: x_jᵀ A x_i
        if self.causal:
            logits = logits.masked_fill(
                torch.ones_like(logits, dtype=torch.bool).tril(-1), -torch.inf
            )
        return (self.V @ X) @ torch.softmax(logits / self.temperature, dim=-2)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, temperature={self.temperature:g}"


class AttentionNetwork(nn.Module):
    """A deep attention network: the layers of an `Architecture`, one after the other
    (Eq. 4).

    `temperature` is τ of every softmax layer; lightning attention has none. `layers` is
    an `nn.ModuleList` of `LightningAttention` or `SoftmaxAttention`.

    Shapes: X of shape (…, d₀, t), tokens as columns → (…, d_l, t), any t ≥ 1, whatever
    `arch.tokens` is.

    Raises:
        ValueError: if a lightning network is given a temperature other than 1, or the
            architecture has anything in its block.

    >>> network = AttentionNetwork(Architecture((4, 3, 5), (2, 2), attention="softmax"))
    >>> network(torch.ones(10, 4, 3)).shape
    torch.Size([10, 5, 3])
    """

    def __init__(
        self,
        arch: Architecture,
        temperature: float = 1.0,
        device: Device = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        if not arch.block.is_plain:
            raise ValueError(f"AttentionNetwork has Q, K and V only; got {arch}")
        self.arch, kind = arch, LightningAttention
        options = {
            "device": device,
            "dtype": dtype,
            "skip": arch.skip,
            "causal": arch.causal,
        }
        if arch.attention == "softmax":
            kind, options["temperature"] = SoftmaxAttention, temperature
        elif temperature != 1.0:
            raise ValueError(
                "lightning attention has no temperature; got"
                f" temperature={temperature!r}: leave it out (dividing A by it only"
                " rescales the output), or ask for attention='softmax'"
            )
        self.layers = nn.ModuleList(
            kind(*sizes, heads=H, **options)
            for H, sizes in zip(arch.heads, arch.layers, strict=True)
        )

    def forward(self, X: Tensor) -> Tensor:
        """φ(X) = φ_l(… φ₁(X)) for each matrix of the batch."""
        for layer in self.layers:
            X = layer(X)
        return X

    def extra_repr(self) -> str:
        return str(self.arch)


def _check_tokens(X: Tensor, V: Tensor) -> None:
    """Whether X has the width and the dtype of the weights."""
    d_in = V.shape[-1]
    if X.ndim < 2 or X.shape[-2] != d_in:
        if X.ndim < 2:
            remedy = "a single token x goes in as the column x[:, None]"
        elif X.shape[-1] == d_in:
            remedy = "tokens are columns here: transpose with X.mT"
        else:
            remedy = (
                f"give tokens of width {d_in}, or make the layer for width"
                f" {X.shape[-2]}"
            )
        raise ValueError(
            f"tokens need shape (…, {d_in}, t), one column each; got {tuple(X.shape)}:"
            f" {remedy}"
        )
    # Under autocast matrix products convert what they are given.
    if X.dtype != V.dtype and not torch.is_autocast_enabled(X.device.type):
        raise ValueError(
            f"tokens and weights need one dtype; got X of {X.dtype}, and the weights"
            f" are {V.dtype}: convert one of them, as in X.to({V.dtype}) or"
            f" module.to({X.dtype})"
        )
