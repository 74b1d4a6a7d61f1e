"""The networks of the paper as torch modules.

As everywhere in the package tokens are the columns of X; a batch has shape (…, d, t).
Q, K and V have the shapes of `Architecture.parameter_shapes`.
"""

from collections.abc import Mapping
from math import inf
from numbers import Real

import numpy as np

from neuroviz.attention.architecture import Architecture, check_architecture
from neuroviz.attention.layers import by_layer

try:
    import torch as torch
    from torch import Tensor, nn
except ModuleNotFoundError as error:
    if error.name != "torch":
        raise
    raise ImportError(
        "this needs torch: pip install torch (on a computer; a browser has none)",
        name="torch",
    ) from None

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
    ) -> None:
        super().__init__()
        # An architecture checks the sizes.
        self.arch = Architecture((d_in, d_out), (a,), attention=self.kind)
        self.d_in, self.d_out = self.arch.widths
        (self.a,) = self.arch.head_dims
        for name, shape in self.arch.parameter_shapes.items():
            values = torch.empty(shape, device=device, dtype=dtype)
            self.register_parameter(name.removeprefix("1."), nn.Parameter(values))
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
        """φ(X) for each matrix of the batch."""
        _check_tokens(X, self.V)
        return self._attend(X)

    def extra_repr(self) -> str:
        return f"d_in={self.d_in}, d_out={self.d_out}, a={self.a}"


class LightningAttention(_Attention):
    """One layer of attention without softmax, in time linear in the number of tokens.

        φ(X) = V X Xᵀ A X,  A = KᵀQ;    column i:  Σ_j (x_jᵀ A x_i) V x_j     (Eq. 1–3)

    Read from the left as (V (X (KX)ᵀ)) (QX): the t × t matrix XᵀAX is never formed, and
    t tokens cost t·a·(3 d_in + d_out) + a·d_in·d_out multiplications.

    Parameters `Q`, `K` of shape (a, d_in) and `V` of shape (d_out, d_in); any a ≥ 1,
    also a > d_in.

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
        # d_out × a: all that the tokens leave behind
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
        ValueError: if a lightning network is given a temperature other than 1.

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
        check_architecture("AttentionNetwork", arch)
        if arch.attention == "lightning" and temperature != 1.0:
            raise ValueError(
                "lightning attention has no temperature; got"
                f" temperature={temperature!r}: leave it out (dividing A by it only"
                " rescales the output), or ask for attention='softmax'"
            )
        self.arch = arch
        self.layers = nn.ModuleList()
        for sizes in arch.layers:
            if arch.attention == "softmax":
                layer = SoftmaxAttention(
                    *sizes, temperature, device=device, dtype=dtype
                )
            else:
                layer = LightningAttention(*sizes, device=device, dtype=dtype)
            self.layers.append(layer)

    @torch.no_grad()
    def load_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Take weights by name, as in `Architecture.parameter_shapes`.

        Raises:
            ValueError: if a name is missing or a shape is another one.
        """
        shapes = self.arch.parameter_shapes
        found = {name: np.shape(weight) for name, weight in weights.items()}
        if found != dict(shapes):
            raise ValueError(
                f"{self.arch} has the weights {dict(shapes)}; got {found}: give one"
                " array of that shape for each name"
            )
        for layer, values in zip(self.layers, by_layer(weights), strict=True):
            for name, value in values.items():
                getattr(layer, name).copy_(torch.as_tensor(value))

    def weights(self) -> dict[str, np.ndarray]:
        """The weights by name, in numpy.

        >>> network = AttentionNetwork(Architecture((2, 3), (1,)))
        >>> {name: weight.shape for name, weight in network.weights().items()}
        {'1.Q': (1, 2), '1.K': (1, 2), '1.V': (3, 2)}
        """
        found = {}
        for i, layer in enumerate(self.layers, start=1):
            for name in ("Q", "K", "V"):
                weight = getattr(layer, name).detach().cpu().numpy()
                # A copy: training goes on in the module's own memory.
                found[f"{i}.{name}"] = weight.copy()
        return found

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
    if not isinstance(X, Tensor):
        raise ValueError(
            f"tokens need to be a torch tensor; got {type(X).__name__}: an array"
            " becomes one by torch.as_tensor(X)"
        )
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
        other = f" or module.to({X.dtype})" if X.is_floating_point() else ""
        raise ValueError(
            f"tokens and weights need one dtype; got X of {X.dtype}, and the weights"
            f" are {V.dtype}: convert one of them, as in X.to({V.dtype}){other}"
        )
