"""The continuous symmetries of well-known torch modules: how many directions, and how
they move weights.

Each is written down once, as a family: a name, the dimension of its orbits at generic
weights, and a move in place by a random element. `module_symmetries` adds them up,
checks them, and knows which module has which.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from neuroviz.rank.checks import whole_number

Move = Callable[[torch.Generator], None]
"""move(generator) changes parameters in place, by a random element near 1; the function
stays."""


@dataclass(frozen=True)
class Family:
    """One symmetry, or several of one kind, as the ledger names it.

    Attributes:
        dimension: of its orbits at generic weights, beyond those of the families before
            it.
        parameters: those that it moves.
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


class Map:
    """A linear map y ↦ W y + b whose entries are (parts of) parameters. Most moves are
    made of its three methods, which change it in place.

    W → 2 W and b → 2 b:

    >>> linear = nn.Linear(2, 2)
    >>> Map(linear.weight, linear.bias).scale_outputs(2 * torch.eye(2))
    """

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        self.weight = weight.detach()
        self.bias = None if bias is None else bias.detach()

    def rows(self, part: slice) -> "Map":
        """The part of it that writes some of the outputs."""
        return Map(self.weight[part], None if self.bias is None else self.bias[part])

    def scale_outputs(self, G: Tensor) -> None:
        """W → G W, b → G b: its outputs in another basis."""
        self.weight.copy_(G @ self.weight)
        if self.bias is not None:
            self.bias.copy_(G @ self.bias)

    def change_input_basis(self, G: Tensor) -> None:
        """W → W G⁻¹: its inputs in another basis."""
        self.weight.copy_(self.weight @ torch.linalg.inv(G))

    def absorb_shift(self, shift: Tensor) -> None:
        """b → b − W shift: its inputs with a constant added."""
        self.bias.sub_(self.weight @ shift)


def linear_map(layer: nn.Linear) -> Map:
    """The map of a linear layer."""
    return Map(layer.weight, layer.bias)


# Linear layers and activations


def hidden_rescaling(
    before: nn.Linear, activation: object, after: nn.Linear
) -> Iterator[Family]:
    """A neuron's incoming weights and bias times c, its outgoing weights divided by cᵉ,
    where f(cx) = cᵉf(x) for all c > 0."""
    exponent = activation.exponent if type(activation) is Power else 1
    bends_at_zero = (
        type(activation) in (nn.ReLU, nn.LeakyReLU) or activation is nn.functional.relu
    )

    def move(generator: torch.Generator) -> None:
        c = _positive(before.weight, before.out_features, generator)
        linear_map(before).scale_outputs(c.diag())
        linear_map(after).change_input_basis((c**exponent).diag())

    if bends_at_zero or type(activation) is Power:
        moved = present(before.weight, before.bias, after.weight)
        yield Family("rescalings of hidden neurons", before.out_features, moved, move)


def linear_stretch(layers: list[nn.Linear]) -> Family:
    """Linear layers in a row: all that their product and the bias after it do not show.

    W_i → G W_i, W_{i+1} → W_{i+1} G⁻¹, the bias along; a bias moved on to the last one;
    and what the layers after W_i send to 0, or those before it never reach, added to
    W_i.
    """
    widths = [layers[0].in_features, *(layer.out_features for layer in layers)]
    biased = [i for i, layer in enumerate(layers) if layer.bias is not None]
    parameters = present(*(p for layer in layers for p in (layer.weight, layer.bias)))

    def move(generator: torch.Generator) -> None:
        for before, after in zip(layers, layers[1:], strict=False):
            G = _invertible(before.weight, before.out_features, generator)
            linear_map(before).scale_outputs(G)
            linear_map(after).change_input_basis(G)
        # A shift of b_i reaches the last bias through the layers in between.
        for i in biased[:-1]:
            shift = _normal(layers[i].bias, layers[i].bias.shape, generator)
            layers[i].bias.add_(shift)
            layers[biased[-1]].bias.sub_(
                _product(layers[i + 1 : biased[-1] + 1], shift[:, None])[:, 0]
            )
        for i, layer in enumerate(layers):
            rest = _product(
                layers[i + 1 :], torch.eye(layer.out_features).to(layer.weight)
            )
            # 1 − B⁺B projects to the kernel of B, the product of all later layers.
            unseen = torch.eye(rest.shape[1]).to(rest) - torch.linalg.pinv(rest) @ rest
            for parameter in present(layer.weight, layer.bias):
                parameter.add_(unseen @ _normal(parameter, parameter.shape, generator))
        for i, layer in enumerate(layers):
            # Layers after the first bias read it, too, and it leads out of what the
            # layers before it reach.
            if not biased or i <= biased[0]:
                reached = _product(layers[:i], torch.eye(widths[0]).to(layer.weight))
                # N (1 − BB⁺) is 0 on the image of B, the product of earlier layers.
                never = torch.eye(len(reached)).to(
                    reached
                ) - reached @ torch.linalg.pinv(reached)
                layer.weight.add_(
                    _normal(layer.weight, layer.weight.shape, generator) @ never
                )

    hidden = sum(parameter.numel() for parameter in parameters) - _numbers_shown(
        widths, biased
    )
    return Family("linear layers in a row", hidden, parameters, move)


def _numbers_shown(widths: list[int], biased: list[int]) -> int:
    """How many numbers of linear layers in a row show in their product and the bias
    after it.

    The product is any k × n matrix of rank ≤ r, the least width: r(n + k − r) numbers.
    A bias of the last layer is any vector. One before it is seen through the layers
    after it, an image that contains that of the product: if it is larger than that, it
    contains any vector as well, and else the vector lies in it.

    >>> [_numbers_shown([4, 2, 3], biased) for biased in ([], [1], [0])]
    [10, 13, 12]
    """
    n = widths[0]
    k = widths[-1]
    r = min(widths)
    if not biased:
        return r * (n + k - r)
    after = widths[biased[-1] + 1 :]
    return r * (n + k - r) + (k if len(after) == 1 or min(after) > r else r)


def _product(layers: list[nn.Linear], matrix: Tensor) -> Tensor:
    for layer in layers:
        matrix = layer.weight @ matrix
    return matrix


# Attention


def input_maps(attention: nn.MultiheadAttention) -> list[Map]:
    """Queries, keys and values, as three linear maps to d coordinates."""
    joint = attention.in_proj_weight
    bias = attention.in_proj_bias
    single = attention.q_proj_weight, attention.k_proj_weight, attention.v_proj_weight
    weights = single if joint is None else joint.chunk(3)
    biases = [None] * 3 if bias is None else bias.chunk(3)
    return [Map(*pair) for pair in zip(weights, biases, strict=True)]


def attention_families(attention: nn.MultiheadAttention) -> Iterator[Family]:
    """Of softmax attention with H heads of width a = d/H, with or without biases.

    Q_h → G Q_h, K_h → G⁻ᵀ K_h       G ∈ GL_a in each head, their biases along    Ha²
    V_h → G V_h, O_h → O_h G⁻¹       likewise                                     Ha²
    b_K → b_K + c                    adds the same to all logits of a query       d
    b_V → b_V + c, b_O → b_O − O c   attention adds up to 1                       d
    """
    d = attention.embed_dim
    H = attention.num_heads
    a = attention.head_dim
    (Q, K, V), out = input_maps(attention), attention.out_proj
    heads = [slice(h * a, (h + 1) * a) for h in range(H)]

    def move_queries(generator: torch.Generator) -> None:
        for head in heads:
            G = _invertible(out.weight, a, generator)
            Q.rows(head).scale_outputs(G)
            K.rows(head).scale_outputs(torch.linalg.inv(G).T)

    def move_values(generator: torch.Generator) -> None:
        for head in heads:
            G = _invertible(out.weight, a, generator)
            V.rows(head).scale_outputs(G)
            Map(out.weight[:, head], None).change_input_basis(G)

    moved = tuple(attention.parameters(recurse=False))
    yield Family("query and key bases", H * a * a, moved, move_queries)
    yield Family("value and output bases", H * a * a, (*moved, out.weight), move_values)
    if attention.in_proj_bias is not None:
        biases = present(attention.in_proj_bias, out.bias)
        yield _shift("key biases", d, K.bias, [], biases[:1])
        if out.bias is not None:
            yield _shift("value biases", d, V.bias, [linear_map(out)], biases)


# Layer normalisation


@dataclass(frozen=True)
class Norm:
    """A normalisation y = γ z + β with Σ z_i = 0, and all linear maps that read y, with
    their parameters."""

    name: str
    layer: nn.LayerNorm
    readers: list[Map]
    parameters: tuple[Tensor, ...]

    def absorbed(self) -> Iterator[Family]:
        """γ into W, β into b, where nothing else reads y."""
        gamma = self.layer.weight
        beta = self.layer.bias

        def move_scale(generator: torch.Generator) -> None:
            G = _positive(gamma, gamma.numel(), generator).diag()
            Map(gamma, beta).scale_outputs(G)
            for reader in self.readers:
                reader.change_input_basis(G)

        if gamma is not None:
            moved = present(gamma, beta, *self.parameters)
            yield Family(f"scale of {self.name}", gamma.numel(), moved, move_scale)
        if beta is not None and all(reader.bias is not None for reader in self.readers):
            moved = beta, *self.parameters
            yield _shift(
                f"shift of {self.name}", beta.numel(), beta, self.readers, moved
            )

    def direction(self, counted_before: int = 0) -> Iterator[Family]:
        """n·y = n·β for n = 1/γ: W → W + u nᵀ, b → b − (n·β) u is silent.
        `counted_before` of these directions belong to earlier families."""
        gamma = self.layer.weight
        beta = self.layer.bias
        if beta is not None and any(reader.bias is None for reader in self.readers):
            return

        def move(generator: torch.Generator) -> None:
            n = (
                torch.ones_like(self.readers[0].weight[0])
                if gamma is None
                else 1 / gamma
            )
            for reader in self.readers:
                u = _normal(n, (len(reader.weight),), generator)
                reader.weight.add_(u[:, None] * n)
                if beta is not None:
                    reader.bias.sub_(n @ beta * u)

        rows = sum(len(reader.weight) for reader in self.readers)
        rows -= counted_before
        yield Family(
            f"the direction that {self.name} removes", rows, self.parameters, move
        )


def mean_before(name: str, writer: nn.Linear) -> Family:
    """What a linear map adds to all entries alike is taken away by the normalisation
    after it."""
    moved = present(writer.weight, writer.bias)

    def move(generator: torch.Generator) -> None:
        writer.weight.add_(_normal(writer.weight, (writer.in_features,), generator))
        if writer.bias is not None:
            writer.bias.add_(_normal(writer.bias, (1,), generator))

    return Family(
        f"means before {name}",
        writer.in_features + (writer.bias is not None),
        moved,
        move,
    )


def stream_shift(start: Tensor, first: nn.Linear | None, last: nn.Linear) -> Family:
    """A constant added to what passes by a block, at the bias `start`, and taken away
    by the bias of `last`.

    `first` reads the stream, and its own bias makes up for the constant. It is None if
    a normalisation stands before it: then only the same constant in all entries goes
    unnoticed.
    """
    name = "shifts of the residual stream"
    end = Map(torch.eye(len(start)).to(start), last.bias)
    if first is None:
        return _shift(name, 1, start, [end], (start, last.bias))
    return _shift(
        name,
        len(start),
        start,
        [linear_map(first), end],
        (start, first.bias, last.bias),
    )


def _shift(
    name: str,
    dimension: int,
    bias: Tensor,
    readers: list[Map],
    moved: tuple[Tensor, ...],
) -> Family:
    """A constant added to a bias, and taken away by those that read what it is added
    to."""

    def move(generator: torch.Generator) -> None:
        shift = _normal(bias, (dimension,), generator).expand(bias.shape)
        bias.detach().add_(shift)
        for reader in readers:
            reader.absorb_shift(shift)

    return Family(name, dimension, moved, move)


# Random elements of the groups, near 1


def _normal(like: Tensor, shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64).to(like)


def _positive(like: Tensor, count: int, generator: torch.Generator) -> Tensor:
    return (0.5 * _normal(like, (count,), generator)).exp()


def _invertible(like: Tensor, size: int, generator: torch.Generator) -> Tensor:
    """The exponential of a matrix of norm about 1: never badly conditioned."""
    return torch.linalg.matrix_exp(
        0.5 * _normal(like, (size, size), generator) / size**0.5
    )


def present(*parameters: Tensor | None) -> tuple[Tensor, ...]:
    """Those that are there."""
    return tuple(parameter for parameter in parameters if parameter is not None)
