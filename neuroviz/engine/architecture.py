"""What network is being asked about: sizes and kind of attention, nothing else.

An `Architecture` crosses every layer of the package: frozen and hashable, it is a cache
key, a test id and a figure's title.
"""

from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property
from math import prod
from operator import index

from neuroviz.attention.architecture import ATTENTION_KINDS, MOST_LAYERS
from neuroviz.attention.sizes import as_tuple, in_short, sizes
from neuroviz.engine.block import Block
from neuroviz.rank.checks import whole_number


@dataclass(frozen=True)
class Architecture:
    """A deep attention network: l layers of width d₀ → d₁ → … → d_l on t tokens.

    Layer i holds Q_i, K_i of shape a_i × d_{i−1} and V_i of shape d_i × d_{i−1}, and
    maps the tokens, which are the columns of X, to (Eq. 3, Eq. 15; A_i = K_iᵀQ_i)

        lightning   V_i X (Xᵀ A_i X)
        softmax     V_i X softmax(Xᵀ A_i X), column by column.

    Every size from 1 on is legal, also a > d, one token, and networks that widen: the
    cases outside the paper's hypotheses are the interesting ones.

    Beyond the paper, layer i may have H_i heads, each with Q, K, V of its own, whose
    outputs are added; a skip connection, which adds X to the output; a causal mask:
    token i attends to j ≤ i only; and what else a transformer's layer has. There are
    10⁶ layers at most.

    Args:
        widths: d₀, d₁, …, d_l: at least two whole numbers ≥ 1.
        head_dims: a₁, …, a_l: one whole number ≥ 1 for each layer.
        tokens: t ≥ 1.
        attention: "lightning" or "softmax".
        heads: H₁, …, H_l, or one number for all layers; kept as one for each layer.
        skip: whether each layer adds its input; all widths must be equal.
        causal: whether attention is masked.
        block: biases, value ranks, shared keys, rotary and learned positions,
            temperatures, MLPs.

    Raises:
        ValueError: if a size is not a whole number ≥ 1, a layer has no head dimension
            or number of heads, the kind of attention is unknown, a skip meets unequal
            widths, rotary positions an odd head dimension, or shared keys a number of
            heads that they do not divide.

    >>> arch = Architecture((4, 3, 5), (2, 2), tokens=3, attention="softmax")
    >>> arch.num_layers, arch.num_parameters
    (2, 55)
    >>> print(arch)
    softmax 4→3→5, a = 2, 2, t = 3
    >>> print(Architecture((4, 4), (2,), heads=3, skip=True))
    lightning 4→4, a = 2, t = 3, 3 heads, skip
    """

    widths: tuple[int, ...]
    head_dims: tuple[int, ...]
    tokens: int = 3
    attention: str = "lightning"
    heads: tuple[int, ...] = 1
    skip: bool = False
    causal: bool = False
    block: Block = Block()

    def __post_init__(self) -> None:
        # Frozen: a normalised value can only be stored through object.__setattr__.
        object.__setattr__(self, "widths", sizes("widths", self.widths))
        object.__setattr__(self, "head_dims", sizes("head_dims", self.head_dims))
        object.__setattr__(self, "tokens", whole_number("tokens", self.tokens))
        depth = len(self.widths) - 1
        if depth < 1:
            raise ValueError(
                "a network needs an input and an output width; got"
                f" widths={self.widths}: give at least two numbers, as in widths=(4, 4)"
            )
        if len(self.head_dims) != depth:
            raise ValueError(
                "each layer needs one head dimension:"
                f" widths={as_tuple(self.widths)} make {depth} layer(s), but"
                f" head_dims={as_tuple(self.head_dims)} has {len(self.head_dims)};"
                f" give head_dims with {depth} number(s)"
            )
        whole_number("the number of layers", depth, most=MOST_LAYERS)
        if self.attention not in ATTENTION_KINDS:
            raise ValueError(
                f"attention must be one of {', '.join(map(repr, ATTENTION_KINDS))}; got"
                f" {self.attention!r}"
            )
        try:
            heads = (
                self.heads if isinstance(self.heads, bool) else index(self.heads),
            ) * depth
        except TypeError:
            heads = self.heads
        object.__setattr__(self, "heads", sizes("heads", heads))
        if len(self.heads) != depth:
            raise ValueError(
                f"heads is one number, or one for each of {depth} layer(s); got"
                f" heads={as_tuple(self.heads)}"
            )
        for name in ("skip", "causal"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(
                    f"{name} is True or False; got {getattr(self, name)!r}"
                )
        if self.skip and len(set(self.widths)) > 1:
            raise ValueError(
                "a skip connection adds a layer's input to its output, so all widths"
                f" must be equal; got widths={as_tuple(self.widths)}"
            )
        self._check_block()

    def _check_block(self) -> None:
        if not isinstance(self.block, Block):
            raise ValueError(
                f"block is a Block, such as Block(biases=True); got {self.block!r}"
            )
        odd = [a for a in self.head_dims if a % 2]
        if self.block.rotary and odd:
            raise ValueError(
                "rotary positions turn coordinates in pairs, so head dimensions are"
                f" even; got {odd[0]}"
            )
        groups = self.block.kv_heads or 1
        if uneven := [H for H in self.heads if H % groups]:
            raise ValueError(
                f"{groups} key-value heads are shared evenly, so their number divides"
                f" the heads; got {uneven[0]} heads"
            )

    @classmethod
    def uniform(
        cls,
        d: int,
        a: int,
        layers: int,
        tokens: int = 3,
        attention: str = "lightning",
        **variant: object,
    ) -> "Architecture":
        """All widths d and all head dimensions a; heads, skip, causal, block as above.

        >>> Architecture.uniform(d=4, a=2, layers=3).widths
        (4, 4, 4, 4)
        """
        layers = whole_number("layers", layers, most=MOST_LAYERS)
        return cls((d,) * (layers + 1), (a,) * layers, tokens, attention, **variant)

    @property
    def is_plain(self) -> bool:
        """Whether this is a network of the paper: one head a layer, no skip, no mask,
        an empty block."""
        return (
            set(self.heads) == {1}
            and not self.skip
            and not self.causal
            and self.block.is_plain
        )

    @property
    def num_layers(self) -> int:
        """l, the number of attention layers."""
        return len(self.head_dims)

    @property
    def layers(self) -> tuple[tuple[int, int, int], ...]:
        """(d_{i−1}, d_i, a_i) for i = 1, …, l."""
        return tuple(
            zip(self.widths[:-1], self.widths[1:], self.head_dims, strict=True)
        )

    @cached_property
    def distinct_layers(self) -> Counter[tuple[int, tuple[int, int, int]]]:
        """(H_i, (d_{i−1}, d_i, a_i)), and how many layers have these sizes.

        >>> dict(Architecture.uniform(4, 2, layers=3).distinct_layers)
        {(1, (4, 4, 2)): 3}
        """
        return Counter(zip(self.heads, self.layers, strict=True))

    @cached_property
    def num_parameters(self) -> int:
        """Σ_i H_i (2 a_i d_{i−1} + d_i d_{i−1}): entries of all Q_i, K_i, V_i, and what
        the block adds."""
        most = Counter(zip(self.heads[:-1], self.layers[:-1], strict=True))
        parts = [(times, *layer, True) for layer, times in most.items()]
        parts.append((1, self.heads[-1], self.layers[-1], False))
        count = sum(
            times * prod(shape)
            for times, *of in parts
            for shape in self._shapes_of(*of).values()
        )
        return count + self.block.positions * self.widths[0] * self.tokens

    @property
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The weights by name, in order: "1.Q", "1.K", "1.V" of layer 1, and so on;
        stacked over the heads.

        With a value_dim V is W, v × d, and there is O; "P" are the positions; "q", "k",
        "v", "o" are biases; "beta" are the temperatures; "1.U1", "1.U2" are the MLP
        after layer 1 (see `Block`).

        >>> block = Block(value_dim=1, positions=True)
        >>> list(Architecture((2, 3), (1,), tokens=4, block=block).parameter_shapes)
        ['P', '1.Q', '1.K', '1.V', '1.O']
        """
        shapes = {"P": (self.widths[0], self.tokens)} if self.block.positions else {}
        for i, (H, layer_sizes) in enumerate(
            zip(self.heads, self.layers, strict=True), start=1
        ):
            layer = self._shapes_of(H, layer_sizes, mlp=i < self.num_layers)
            shapes |= {f"{i}.{name}": shape for name, shape in layer.items()}
        return shapes

    def _shapes_of(
        self, H: int, layer_sizes: tuple[int, int, int], mlp: bool
    ) -> dict[str, tuple[int, ...]]:
        """Of one layer, with the MLP after it or without."""
        (d_in, d_out, a), block = layer_sizes, self.block
        G, v = block.kv_heads or H, block.value_dim or d_out
        layer = {"Q": (H, a, d_in), "K": (G, a, d_in), "V": (G, v, d_in)}
        if block.value_dim:
            layer["O"] = (H, d_out, v)
        if block.biases:
            layer |= {"q": (H, a, 1), "k": (G, a, 1), "v": (G, v, 1)}
            if block.value_dim:
                layer["o"] = (d_out, 1)
        if block.temperature:
            layer["beta"] = (H, 1, 1)
        if block.mlp and mlp:
            layer |= {"U1": (block.mlp[0], d_out), "U2": (d_out, block.mlp[0])}
        return layer

    def __repr__(self) -> str:
        """As Python would read it, but for the middle of a long row of unequal
        sizes."""
        said = [(f.name, getattr(self, f.name)) for f in fields(self)]
        inside = [
            f"{name}={as_tuple(held) if isinstance(held, tuple) else repr(held)}"
            for name, held in said
        ]
        return f"Architecture({', '.join(inside)})"

    def __str__(self) -> str:
        widths, head_dims = in_short(self.widths, "→"), in_short(self.head_dims)
        parts = [f"{self.attention} {widths}", f"a = {head_dims}", f"t = {self.tokens}"]
        if len(set(self.heads)) > 1:
            parts.append(f"heads {in_short(self.heads)}")
        elif self.heads[0] > 1:
            parts.append(f"{self.heads[0]} heads")
        parts += [name for name in ("skip", "causal") if getattr(self, name)]
        if not self.block.is_plain:
            parts.append(str(self.block))
        return ", ".join(parts)


def check_architecture(caller: str, arch: object, variants: bool = False) -> None:
    """Refuse anything but an Architecture, and one beyond the paper unless `variants`,
    in the caller's name.

    Raises:
        ValueError: if `arch` is something else.
    """
    if not isinstance(arch, Architecture):
        raise ValueError(
            f"{caller} needs an Architecture; got {type(arch).__name__}: "
            "for a torch module call functional_dimension(module, inputs)"
        )
    if not variants and not arch.is_plain:
        raise ValueError(
            f"{caller} knows one head a layer, no skip and no mask, an empty block; got"
            f" {arch}: measure_dimension, expected_dimension and sweep know the others"
        )
