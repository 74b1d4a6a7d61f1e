"""The same networks as torch modules, and the functional dimension of any torch module.

The one file that imports torch at the top, so `neuroviz` loads it only when one of its names is
used. As everywhere in the package tokens are the columns of X; a batch has shape (…, d, t). The
weights go to and from `neuroviz.network` unchanged, so what is trained here can be measured there.
"""

import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, nan

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from neuroviz.architecture import Architecture
from neuroviz.measure import Measurement, from_spectrum
from neuroviz.network import Layer, Weights, layer_shapes
from neuroviz.rank import float_rank

# Cotangents pushed back at once: bounds the memory for modules with very many outputs.
_COTANGENTS = 256
# Parameters up to which one thread is quicker: torch's threads and numpy's wait for one another.
_ONE_THREAD = 2048


class _Attention(nn.Module):
    """What both kinds of attention share: Q, K, V, their first values, and a check of the input."""

    def __init__(
        self,
        d_in: int,
        d_out: int,
        a: int,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        heads: int = 1,
        skip: bool = False,
        causal: bool = False,
    ) -> None:
        super().__init__()
        layer = Architecture((d_in, d_out), (a,), heads=heads, skip=skip, causal=causal)  # checks the sizes
        (self.d_in, self.d_out), (self.a,), (self.heads,) = layer.widths, layer.head_dims, layer.heads
        self.skip, self.causal = layer.skip, layer.causal
        for name, shape in layer_shapes(layer)[0]._asdict().items():
            self.register_parameter(name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype)))
        self.reset_parameters()

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights: V ~ N(0, 1/d_in), Q and K ~ N(0, 1/(d_in √a)), all entries independent.

        Then, for tokens with independent N(0, 1) entries, every coordinate of V x_j and every
        logit x_jᵀ A x_i with j ≠ i has variance 1: no further factor 1/√a is needed.
        """
        nn.init.normal_(self.V, std=self.d_in**-0.5, generator=generator)
        for matrix in (self.Q, self.K):
            nn.init.normal_(matrix, std=self.d_in**-0.5 * self.a**-0.25, generator=generator)

    def forward(self, X: Tensor) -> Tensor:
        """φ(X) for each matrix of the batch: the heads added, and X if there is a skip."""
        self._check(X)
        Y = self._attend(X) if self.heads == 1 else self._attend(X.unsqueeze(-3)).sum(-3)
        return X + Y if self.skip else Y

    def extra_repr(self) -> str:
        more = [f"heads={self.heads}"] * (self.heads > 1) + ["skip"] * self.skip + ["causal"] * self.causal
        return ", ".join([f"d_in={self.d_in}, d_out={self.d_out}, a={self.a}", *more])

    def _check(self, X: Tensor) -> None:
        _check_tokens(X, self.d_in)
        # Under autocast matrix products convert what they are given.
        if X.dtype != self.V.dtype and not torch.is_autocast_enabled(X.device.type):
            raise ValueError(
                f"tokens and weights need one dtype; got X of {X.dtype}, and the weights are {self.V.dtype}: "
                f"convert one of them, as in X.to({self.V.dtype}) or module.to({X.dtype})"
            )


class LightningAttention(_Attention):
    """One layer of attention without softmax, in time linear in the number of tokens.

        φ(X) = V X Xᵀ A X,  A = KᵀQ;    column i:  Σ_j (x_jᵀ A x_i) V x_j        (Eq. 1–3)

    Read from the left as (V (X (KX)ᵀ)) (QX): the t × t matrix XᵀAX is never formed, and t tokens
    cost t·a·(3 d_in + d_out) + a·d_in·d_out multiplications a head. (With a causal mask it is formed.)

    Parameters `Q`, `K` of shape (a, d_in) and `V` of shape (d_out, d_in), with several heads one matrix a
    head, stacked; any a ≥ 1, also a > d_in. heads, skip, causal: as in `Architecture`.

    Shapes: X of shape (…, d_in, t), tokens as columns → (…, d_out, t), any t ≥ 1.

    Raises:
        ValueError: if a size is not a whole number ≥ 1; when called, if X does not have d_in rows
            or not the dtype of the weights.

    >>> layer = LightningAttention(d_in=4, d_out=3, a=2)
    >>> layer(torch.ones(10, 4, 100)).shape
    torch.Size([10, 3, 100])
    """

    def _attend(self, X: Tensor) -> Tensor:
        if self.causal:  # then each token sees another memory
            return (self.V @ X) @ ((self.K @ X).mT @ (self.Q @ X)).triu()
        memory = self.V @ (X @ (self.K @ X).mT)  # d_out × a, all that the tokens leave behind
        return memory @ (self.Q @ X)


class SoftmaxAttention(_Attention):
    """One layer of softmax attention at temperature τ.

        φ(X) = V X softmax(XᵀAX / τ), column by column;
        column i:  Σ_j [S(x_jᵀAx_i) / Σ_k S(x_kᵀAx_i)] V x_j,  S = exp(·/τ)          (Eq. 15)

    The same function as with A/τ in place of A at temperature 1. τ is a fixed number, not a parameter.

    Parameters `Q`, `K` of shape (a, d_in) and `V` of shape (d_out, d_in), with several heads one matrix a
    head, stacked; any a ≥ 1, also a > d_in. heads, skip, causal: as in `Architecture`.

    Shapes: X of shape (…, d_in, t), tokens as columns → (…, d_out, t), any t ≥ 1.

    Raises:
        ValueError: if a size is not a whole number ≥ 1 or τ not a finite number > 0; when called,
            if X does not have d_in rows or not the dtype of the weights.

    >>> layer = SoftmaxAttention(d_in=4, d_out=3, a=2, temperature=0.5)
    >>> layer(torch.ones(10, 4, 6)).shape
    torch.Size([10, 3, 6])
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        a: int,
        temperature: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
        heads: int = 1,
        skip: bool = False,
        causal: bool = False,
    ) -> None:
        super().__init__(d_in, d_out, a, device, dtype, heads, skip, causal)
        self.temperature = _temperature(temperature)

    def _attend(self, X: Tensor) -> Tensor:
        logits = (self.K @ X).mT @ (self.Q @ X)  # row j, column i: x_jᵀ A x_i
        if self.causal:
            logits = logits.masked_fill(torch.ones_like(logits, dtype=torch.bool).tril(-1), -torch.inf)
        return (self.V @ X) @ torch.softmax(logits / self.temperature, dim=-2)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, temperature={self.temperature:g}"


class AttentionNetwork(nn.Module):
    """A deep attention network: the layers of an `Architecture`, one after the other (Eq. 4).

    The weights do not depend on the number of tokens, so the network takes any t ≥ 1;
    `arch.tokens` only says which t the architecture is about.

    Args:
        arch: widths, head dimensions and kind of attention.
        temperature: τ of every softmax layer; lightning attention has none.

    Attributes:
        arch: as given.
        layers: an `nn.ModuleList` of `LightningAttention` or `SoftmaxAttention`.

    Shapes: X of shape (…, d₀, t), tokens as columns → (…, d_l, t).

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
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.arch = arch
        options = {"device": device, "dtype": dtype}
        if arch.attention == "softmax":
            kind, options["temperature"] = SoftmaxAttention, temperature
        elif temperature == 1.0:
            kind = LightningAttention
        else:
            raise ValueError(
                f"lightning attention has no temperature; got temperature={temperature!r}: "
                "leave it out (dividing A by it only rescales the output), or ask for attention='softmax'"
            )
        options |= {"skip": arch.skip, "causal": arch.causal}
        self.layers = nn.ModuleList(
            kind(*sizes, heads=H, **options) for H, sizes in zip(arch.heads, arch.layers, strict=True)
        )

    @classmethod
    def from_weights(
        cls,
        arch: Architecture,
        weights: Weights,
        temperature: float = 1.0,
        device: torch.device | str | None = None,
        dtype: torch.dtype = torch.float64,
    ) -> "AttentionNetwork":
        """The network with the weights of `neuroviz.network`; nothing is lost unless dtype is shorter.

        Raises:
            ValueError: as `load_weights`.

        >>> from neuroviz.network import Layer
        >>> arch, identity = Architecture((2, 2), (2,)), np.eye(2)
        >>> AttentionNetwork.from_weights(arch, (Layer(identity, identity, 3 * identity),)).to_weights()[0].V
        array([[3., 0.],
               [0., 3.]])
        """
        network = cls(arch, temperature, device=device, dtype=dtype)
        network.load_weights(weights)
        return network

    @torch.no_grad()
    def load_weights(self, weights: Weights) -> None:
        """Copy the weights of `neuroviz.network` into this network, rounded to its dtype.

        Raises:
            ValueError: if a layer or a matrix is missing or has the wrong shape, or holds numbers
                that float64 cannot.
        """
        if len(weights) != len(self.layers):
            raise ValueError(
                f"{self.arch} needs weights for {len(self.layers)} layer(s); got {len(weights)}: "
                "give one Layer(Q, K, V) for each"
            )
        # Check everything first: a refused set of weights leaves the network as it was.
        loaded = []
        for number, (matrices, layer) in enumerate(zip(weights, self.layers, strict=True), start=1):
            for name, values in Layer(*matrices)._asdict().items():
                values, parameter = np.asarray(values), getattr(layer, name)
                if values.shape != tuple(parameter.shape):
                    raise ValueError(
                        f"{name} of layer {number} of {self.arch} needs shape {tuple(parameter.shape)}; "
                        f"got {values.shape}"
                    )
                if not np.can_cast(values.dtype, np.float64):
                    raise ValueError(
                        f"weights need real numbers that float64 holds; got {name} of layer {number} "
                        f"as {values.dtype}: convert it with .astype(float)"
                    )
                loaded.append((parameter, np.array(values, dtype=np.float64, order="C")))
        for parameter, values in loaded:
            parameter.copy_(torch.from_numpy(values))

    def to_weights(self) -> Weights:
        """The weights as `neuroviz.network` has them: float64 copies on the CPU, every bit kept.

        Raises:
            ValueError: if the weights are complex.
        """
        for name, parameter in self.named_parameters():
            if parameter.is_complex():
                raise ValueError(
                    f"neuroviz.network has real weights; got {name} as {parameter.dtype}: "
                    "take the real part of the network first"
                )
        return tuple(
            Layer(*(_to_numpy(getattr(layer, name)) for name in Layer._fields)) for layer in self.layers
        )

    def reset_parameters(self, generator: torch.Generator | None = None) -> None:
        """Draw new weights in every layer (see `LightningAttention.reset_parameters`)."""
        for layer in self.layers:
            layer.reset_parameters(generator)

    def forward(self, X: Tensor) -> Tensor:
        """φ(X) = φ_l(… φ₁(X)) for each matrix of the batch."""
        for layer in self.layers:
            X = layer(X)
        return X

    def extra_repr(self) -> str:
        return str(self.arch)


def functional_dimension(module: nn.Module, inputs: Tensor | Sequence[Tensor]) -> Measurement:
    """How many independent directions of the parameters change the module's outputs on these inputs.

        rank of ∂(f_θ(x₁), …, f_θ(x_N)) / ∂θ   at the module's own weights θ

    A rank in floating point: evidence, not a bound. It counts the directions at this θ and on these
    inputs; it is the dimension of the function space near f_θ when θ is generic and the inputs are
    enough. The note says whether the second half of the inputs still added to the first.

    All is done on a float64 copy in evaluation mode (dropout is off, batch normalisation uses its
    running statistics); the module itself is left as it is. Parameters with `requires_grad` count,
    each once, however often it is used.

    Args:
        module: any `torch.nn.Module` with real parameters.
        inputs: a tensor, or a tuple of tensors for several arguments, such that `module(inputs)`
            or `module(*inputs)` is a legal call and the first dimension counts the N inputs. They
            go in one at a time, as batches of one: a module that wants its batch elsewhere, such as
            `nn.MultiheadAttention` without `batch_first=True`, would take each input for something
            else. Whole numbers stay whole (token ids).

    Returns:
        A Measurement with method "float": value, singular values, gap, and whether the gap decides.
        Where the output is a tuple, list or dictionary, all floating-point tensors in it count.

    Raises:
        ValueError: if there is no trainable parameter, no input, or no tensor in the output, if
            the parameters are complex, or if the arguments disagree about the number of inputs.

    >>> factors = nn.Sequential(nn.Linear(3, 2, bias=False), nn.Linear(2, 3, bias=False))
    >>> functional_dimension(factors, torch.randn(6, 3)).value  # 3 × 3 matrices of rank 2: 2·(3 + 3 − 2)
    8
    """
    if not isinstance(module, nn.Module):
        hint = (
            ": for an Architecture call measure_dimension(arch)" if isinstance(module, Architecture) else ""
        )
        raise ValueError(f"functional_dimension needs a torch.nn.Module; got {type(module).__name__}{hint}")
    # A copy of parameters made under the caller's inference mode could not be differentiated.
    with torch.inference_mode(False), torch.enable_grad():
        arguments = _arguments(inputs)
        double = copy.deepcopy(module).double().eval()
        parameters = [parameter for parameter in double.parameters() if parameter.requires_grad]
        if not parameters:
            raise ValueError(
                f"{type(module).__name__} has no trainable parameter, so there is nothing to vary: "
                "set requires_grad=True on the parameters to count"
            )
        if any(parameter.is_complex() for parameter in parameters):
            raise ValueError(
                "functional_dimension counts real directions and needs real parameters; got complex ones: "
                "store their real and imaginary parts as two parameters"
            )
        size = sum(parameter.numel() for parameter in double.parameters())
        with threadpool_limits(1 if size <= _ONE_THREAD else None):
            blocks = [_parameter_jacobian(double, parameters, one) for one in _one_at_a_time(arguments)]
            measured = from_spectrum(np.concatenate(blocks), num_inputs=len(blocks))
            return replace(measured, note=f"{_growth(blocks, measured.value)}; {measured.note}")


def _growth(blocks: list[np.ndarray], value: int) -> str:
    """Whether more inputs may show more, judged by what the second half of these added."""
    N, parameters = len(blocks), blocks[0].shape[1]
    if value == parameters:
        return f"all {parameters} parameters count: more inputs cannot add to it"
    if value == 0:
        return "no output changes with any parameter: is the output detached in the module's forward?"
    if N == 1:
        return "one input only, so nothing shows whether more would add to it: give more inputs"
    half = float_rank(np.concatenate(blocks[: N // 2])).value
    if half < value:
        return f"still growing: {half} on the first {N // 2} of {N} inputs, {value} on all: give more inputs"
    return f"the first {N // 2} of {N} inputs already give {half}"


def _parameter_jacobian(module: nn.Module, parameters: list[Tensor], arguments: list[Tensor]) -> np.ndarray:
    """∂ module(*arguments) / ∂ parameters, shape (number of output entries, number of parameters)."""
    tensors = list(_tensors(module(*arguments)))
    if not tensors:
        raise ValueError(
            f"the output of {type(module).__name__} needs a floating-point tensor, alone or in a tuple, "
            "list or dictionary; got none: wrap the module in one that returns the tensor to look at"
        )
    output = torch.cat([_real(tensor).reshape(-1) for tensor in tensors])
    if not output.requires_grad:
        return np.zeros((len(output), sum(parameter.numel() for parameter in parameters)))
    rows = []
    for start in range(0, len(output), _COTANGENTS):
        stop = min(start + _COTANGENTS, len(output))
        cotangents = output.new_zeros(stop - start, len(output))
        cotangents[:, start:stop].fill_diagonal_(1)
        gradients = torch.autograd.grad(
            output, parameters, cotangents, retain_graph=True, allow_unused=True, is_grads_batched=True
        )
        rows.append(
            np.concatenate(
                [
                    np.zeros((stop - start, parameter.numel()))
                    if gradient is None
                    else _to_numpy(gradient).reshape(stop - start, -1)
                    for parameter, gradient in zip(parameters, gradients, strict=True)
                ],
                axis=1,
            )
        )
    return np.concatenate(rows)


def _tensors(output: object) -> Iterator[Tensor]:
    """The real or complex tensors in a module's output, in order."""
    if isinstance(output, Tensor):
        if output.is_floating_point() or output.is_complex():
            yield output
    elif isinstance(output, Mapping):
        for part in output.values():
            yield from _tensors(part)
    elif isinstance(output, (tuple, list)):
        for part in output:
            yield from _tensors(part)


def _real(tensor: Tensor) -> Tensor:
    return torch.view_as_real(tensor.resolve_conj()) if tensor.is_complex() else tensor


def _arguments(inputs: Tensor | Sequence[Tensor]) -> list[Tensor]:
    """The arguments of the module, detached and in double precision."""
    tensors = [inputs] if isinstance(inputs, Tensor) else inputs
    if not isinstance(tensors, (tuple, list)) or not all(isinstance(x, Tensor) for x in tensors):
        raise ValueError(
            f"inputs need to be a tensor, or a tuple of tensors for several arguments; got "
            f"{type(inputs).__name__}: convert arrays with torch.as_tensor(…)"
        )
    lengths = [len(x) if x.ndim else 0 for x in tensors]
    if not lengths or len(set(lengths)) > 1 or lengths[0] == 0:
        raise ValueError(
            "the first dimension of every argument counts the inputs, at least one and the same for all; "
            f"got shapes {[tuple(x.shape) for x in tensors]}: put a single input x in as x[None]"
        )
    doubled = {torch.complex64: torch.complex128, torch.complex32: torch.complex128}
    return [
        x.detach().clone().to(torch.float64 if x.is_floating_point() else doubled.get(x.dtype, x.dtype))
        for x in tensors
    ]


def _one_at_a_time(arguments: list[Tensor]) -> Iterator[list[Tensor]]:
    for i in range(len(arguments[0])):
        yield [x[i : i + 1] for x in arguments]


def _to_numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().to(device="cpu", dtype=torch.float64, copy=True).numpy()


def _temperature(temperature: float) -> float:
    try:
        value = float(temperature)
    except (TypeError, ValueError):
        value = nan
    if not 0 < value < inf:
        raise ValueError(
            f"temperature needs a finite number > 0; got {temperature!r}: "
            "a small one makes attention sharp, a large one makes it uniform"
        )
    return value


def _check_tokens(X: Tensor, d_in: int) -> None:
    if X.ndim >= 2 and X.shape[-2] == d_in:
        return
    if X.ndim < 2:
        remedy = "a single token x goes in as the column x[:, None]"
    elif X.shape[-1] == d_in:
        remedy = "tokens are columns here: transpose with X.mT"
    else:
        remedy = f"give tokens of width {d_in}, or make the layer for width {X.shape[-2]}"
    raise ValueError(f"tokens need shape (…, {d_in}, t), one column each; got {tuple(X.shape)}: {remedy}")
