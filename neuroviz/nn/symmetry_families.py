"""The continuous symmetries of well-known torch modules: how many directions, and how they move weights.

Each is written down once, as a family: a name, the dimension of its orbits at generic weights, and a move in
place by a random element. `module_symmetries` adds them up, checks them, and knows which module has which.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from neuroviz.engine.block import whole_number

Move = Callable[[torch.Generator], None]
"""move(generator) changes parameters in place, by a random element near 1; the function stays."""


@dataclass(frozen=True)
class Family:
    """One symmetry, or several of one kind.

    Attributes:
        name: what it is called in the ledger.
        dimension: of its orbits at generic weights, beyond those of the families before it.
        parameters: those that it moves.
        move: see `Move`.
    """

    name: str
    dimension: int
    parameters: tuple[Tensor, ...]
    move: Move


class Power(nn.Module):
    """x ↦ xᵉ, entry by entry: the activation of a polynomial network.

    Raises:
        ValueError: if the exponent is not a whole number ≥ 1.

    >>> Power(3)(torch.tensor([2.0, -1.0]))
    tensor([ 8., -1.])
    """

    def __init__(self, exponent: int) -> None:
        super().__init__()
        self.exponent = whole_number("exponent", exponent)

    def forward(self, x: Tensor) -> Tensor:
        return x**self.exponent

    def extra_repr(self) -> str:
        return str(self.exponent)


def homogeneity(activation: object) -> int | None:
    """The e with f(c x) = cᵉ f(x) for all c > 0; None where there is none.

    >>> homogeneity(nn.ReLU()), homogeneity(Power(3)), homogeneity(nn.GELU())
    (1, 3, None)
    """
    if type(activation) is Power:
        return activation.exponent
    is_relu = type(activation) in (nn.ReLU, nn.LeakyReLU) or activation is nn.functional.relu
    return 1 if is_relu else None


# Linear layers and activations


def hidden_rescaling(before: nn.Linear, after: nn.Linear, exponent: int) -> Family:
    """A hidden neuron's incoming weights times c, its outgoing ones by cᵉ: one direction a neuron."""

    def move(generator: torch.Generator) -> None:
        c = _positive(before.weight, before.out_features, generator)
        before.weight.mul_(c[:, None])
        if before.bias is not None:
            before.bias.mul_(c)
        after.weight.div_(c**exponent)

    moved = _present(before.weight, before.bias, after.weight)
    return Family("rescalings of hidden neurons", before.out_features, moved, move)


def linear_stretch(layers: list[nn.Linear]) -> Family:
    """Linear layers in a row: all that their product and the bias after it do not show.

    W_i → G W_i, W_{i+1} → W_{i+1} G⁻¹, the bias along; a bias moved on to the last one; and what the
    layers after W_i send to 0, or those before it never reach, added to W_i.
    """
    widths = [layers[0].in_features, *(layer.out_features for layer in layers)]
    biased = [i for i, layer in enumerate(layers) if layer.bias is not None]
    parameters = _present(*(p for layer in layers for p in (layer.weight, layer.bias)))

    def move(generator: torch.Generator) -> None:
        for before, after in zip(layers, layers[1:], strict=False):
            G = _invertible(before.weight, before.out_features, generator)
            before.weight.copy_(G @ before.weight)
            if before.bias is not None:
                before.bias.copy_(G @ before.bias)
            after.weight.copy_(after.weight @ torch.linalg.inv(G))
        for i in biased[:-1]:
            shift = _normal(layers[i].bias, layers[i].bias.shape, generator)
            layers[i].bias.add_(shift)
            layers[biased[-1]].bias.sub_(_product(layers[i + 1 : biased[-1] + 1], shift[:, None])[:, 0])
        for i, layer in enumerate(layers):
            rest = _product(layers[i + 1 :], torch.eye(layer.out_features).to(layer.weight))
            unseen = torch.eye(rest.shape[1]).to(rest) - torch.linalg.pinv(rest) @ rest
            for parameter in _present(layer.weight, layer.bias):
                parameter.add_(unseen @ _normal(parameter, parameter.shape, generator))
        for i, layer in enumerate(layers):
            if not biased or i <= biased[0]:  # a bias before it would be seen
                reached = _product(layers[:i], torch.eye(widths[0]).to(layer.weight))
                never = torch.eye(len(reached)).to(reached) - reached @ torch.linalg.pinv(reached)
                layer.weight.add_(_normal(layer.weight, layer.weight.shape, generator) @ never)

    hidden = sum(parameter.numel() for parameter in parameters) - _numbers_shown(widths, biased)
    return Family("linear layers in a row", hidden, parameters, move)


def _numbers_shown(widths: list[int], biased: list[int]) -> int:
    """How many numbers of linear layers in a row show in their product and the bias after it.

    The product is any k × n matrix of rank ≤ r, the least width: r(n + k − r) numbers. A bias of the last
    layer is any vector. One before it is seen through the layers after it, an image that contains that of the
    product: if it is larger than that, it contains any vector as well, and else the vector lies in it.

    >>> _numbers_shown([4, 2, 3], []), _numbers_shown([4, 2, 3], [1]), _numbers_shown([4, 2, 3], [0])
    (10, 13, 12)
    """
    n, k, r = widths[0], widths[-1], min(widths)
    if not biased:
        return r * (n + k - r)
    after = widths[biased[-1] + 1 :]
    return r * (n + k - r) + (k if len(after) == 1 or min(after) > r else r)


def _product(layers: list[nn.Linear], matrix: Tensor) -> Tensor:
    for layer in layers:
        matrix = layer.weight @ matrix
    return matrix


# Attention


def _input_maps(attention: nn.MultiheadAttention) -> tuple[Tensor, Tensor, Tensor]:
    """Views of the weights of queries, keys and values, each d × (width of what it reads)."""
    if attention.in_proj_weight is not None:
        return attention.in_proj_weight.chunk(3)
    return attention.q_proj_weight, attention.k_proj_weight, attention.v_proj_weight


def _input_biases(attention: nn.MultiheadAttention) -> tuple[Tensor, ...]:
    return () if attention.in_proj_bias is None else attention.in_proj_bias.chunk(3)


def _input_parameters(attention: nn.MultiheadAttention) -> tuple[Tensor, ...]:
    joint = attention.in_proj_weight
    weights = _input_maps(attention) if joint is None else (joint,)
    return _present(*weights, attention.in_proj_bias)


def attention_families(attention: nn.MultiheadAttention) -> Iterator[Family]:
    """Of softmax attention with H heads of width a = d/H, with or without biases.

    Q_h → G Q_h, K_h → G⁻ᵀ K_h       G ∈ GL_a in each head, their biases along    Ha²
    V_h → G V_h, O_h → O_h G⁻¹       likewise                                     Ha²
    b_K → b_K + c                    adds the same to all logits of a query       d
    b_V → b_V + c, b_O → b_O − O c   attention adds up to 1                       d
    """
    d, H, a = attention.embed_dim, attention.num_heads, attention.head_dim
    output, moved = attention.out_proj, _input_parameters(attention)
    heads = [slice(h * a, (h + 1) * a) for h in range(H)]

    def move_queries(generator: torch.Generator) -> None:
        queries, keys = (
            [tensors[i] for tensors in (_input_maps(attention), _input_biases(attention)) if tensors]
            for i in (0, 1)
        )
        for head in heads:
            G = _invertible(output.weight, a, generator)
            for query, key in zip(queries, keys, strict=True):
                query[head] = G @ query[head]
                key[head] = torch.linalg.inv(G).T @ key[head]

    def move_values(generator: torch.Generator) -> None:
        for head in heads:
            G = _invertible(output.weight, a, generator)
            for tensors in (_input_maps(attention), _input_biases(attention)):
                if tensors:
                    tensors[2][head] = G @ tensors[2][head]
            output.weight[:, head] = output.weight[:, head] @ torch.linalg.inv(G)

    def move_key_biases(generator: torch.Generator) -> None:
        _input_biases(attention)[1].add_(_normal(output.weight, (d,), generator))

    def move_value_biases(generator: torch.Generator) -> None:
        shift = _normal(output.weight, (d,), generator)
        _input_biases(attention)[2].add_(shift)
        output.bias.sub_(output.weight @ shift)

    yield Family("query and key bases", H * a * a, moved, move_queries)
    yield Family("value and output bases", H * a * a, (*moved, output.weight), move_values)
    if attention.in_proj_bias is not None:
        yield Family("key biases", d, (attention.in_proj_bias,), move_key_biases)
        if output.bias is not None:
            yield Family("value biases", d, (attention.in_proj_bias, output.bias), move_value_biases)


# Layer normalisation


@dataclass(frozen=True)
class Reader:
    """A linear map y ↦ W y + b that reads what a normalisation returns; W and b are (parts of) parameters."""

    weight: Tensor
    bias: Tensor | None


def attention_readers(attention: nn.MultiheadAttention) -> list[Reader]:
    """Queries, keys and values, as three linear maps."""
    biases = _input_biases(attention) or (None, None, None)
    return [Reader(*pair) for pair in zip(_input_maps(attention), biases, strict=True)]


def norm_absorbed(
    name: str, norm: nn.LayerNorm, readers: Callable[[], list[Reader]], parameters: tuple[Tensor, ...]
) -> Iterator[Family]:
    """Scale and shift of a normalisation that only these linear maps read: γ into W, β into b."""
    gamma, beta = norm.weight, norm.bias

    def move_scale(generator: torch.Generator) -> None:
        c = _positive(gamma, gamma.numel(), generator)
        gamma.mul_(c)
        if beta is not None:
            beta.mul_(c)
        for reader in readers():
            reader.weight.div_(c)

    def move_shift(generator: torch.Generator) -> None:
        shift = _normal(beta, beta.shape, generator)
        beta.add_(shift)
        for reader in readers():
            reader.bias.sub_(reader.weight @ shift)

    if gamma is not None:
        yield Family(f"scale of {name}", gamma.numel(), _present(gamma, beta, *parameters), move_scale)
    if beta is not None and all(reader.bias is not None for reader in readers()):
        yield Family(f"shift of {name}", beta.numel(), (beta, *parameters), move_shift)


def norm_direction(
    name: str,
    norm: nn.LayerNorm,
    readers: Callable[[], list[Reader]],
    parameters: tuple[Tensor, ...],
    twice: int = 0,
) -> Iterator[Family]:
    """y = γ z + β with Σ z_i = 0 has n·y = n·β for n = 1/γ: W → W + u nᵀ, b → b − (n·β) u does nothing.

    Args:
        name, norm: the normalisation.
        readers: the linear maps that read it.
        parameters: those that they are made of.
        twice: how many of these directions other families have already.
    """
    if norm.bias is not None and any(reader.bias is None for reader in readers()):
        return

    def move(generator: torch.Generator) -> None:
        n = torch.ones_like(readers()[0].weight[0]) if norm.weight is None else 1 / norm.weight
        for reader in readers():
            u = _normal(n, (len(reader.weight),), generator)
            reader.weight.add_(u[:, None] * n)
            if norm.bias is not None:
                reader.bias.sub_(n @ norm.bias * u)

    rows = sum(len(reader.weight) for reader in readers()) - twice
    yield Family(f"the direction that {name} removes", rows, parameters, move)


def mean_before(name: str, writer: nn.Linear) -> Family:
    """What a linear map adds to all entries alike is taken away by the normalisation after it."""

    def move(generator: torch.Generator) -> None:
        writer.weight.add_(_normal(writer.weight, (writer.in_features,), generator))
        if writer.bias is not None:
            writer.bias.add_(_normal(writer.bias, (1,), generator))

    size = writer.in_features + (writer.bias is not None)
    return Family(f"means before {name}", size, _present(writer.weight, writer.bias), move)


def stream_shift(start: Tensor, first: nn.Linear | None, last: nn.Linear, dimension: int) -> Family:
    """A constant added to what passes by a block, at `start`, and taken away again at its end.

    Args:
        start: the bias that it is added to.
        first: reads the stream, and must not notice: its own bias makes up for it; None if a normalisation
            stands before it, and then only the same constant in all entries goes unnoticed.
        last: the linear map whose bias takes it away.
        dimension: 1 if `first` is None, else the length of the bias.
    """

    def move(generator: torch.Generator) -> None:
        shift = _normal(start, (dimension,), generator).expand(start.shape)
        start.add_(shift)
        if first is not None:
            first.bias.sub_(first.weight @ shift)
        last.bias.sub_(shift)

    moved = _present(start, None if first is None else first.bias, last.bias)
    return Family("shifts of the residual stream", dimension, moved, move)


# Random elements of the groups, near 1


def _normal(like: Tensor, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(like)


def _positive(like: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return (0.5 * _normal(like, (count,), generator)).exp()


def _invertible(like: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """The exponential of a matrix of norm about 1: never badly conditioned."""
    return torch.linalg.matrix_exp(0.5 * _normal(like, (size, size), generator) / size**0.5)


def _present(*parameters: Tensor | None) -> tuple[Tensor, ...]:
    return tuple(parameter for parameter in parameters if parameter is not None)
