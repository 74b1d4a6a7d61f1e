"""Transformers that can be measured: sizes, switches, and how they compute."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from math import prod
from operator import index
from typing import NamedTuple, Self

import numpy as np
from numpy.random import Generator

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import MOST_LAYERS
from neuroviz.attention.conditioned import (
    conditioned_layer,
    conditioned_tokens,
    orthonormal,
)
from neuroviz.attention.gauge_slice import GaugeSlice
from neuroviz.attention.layers import by_layer
from neuroviz.attention.sizes import as_tuple, in_short, sizes
from neuroviz.rank.checks import true_or_false, whole_number
from neuroviz.rank.exponentials import INDEPENDENT, SYMMETRIC, Exponentials
from neuroviz.rank.field import Field
from neuroviz.rank.network import SHRINKS, Constant, Weights
from neuroviz.rank.tape import Node, Tape
from neuroviz_beyond.transformers.block import Block
from neuroviz_beyond.transformers.rotary import (
    QUARTER_TURN,
    powers_of_rotations,
    rotations,
    turning_degree,
)
from neuroviz_beyond.transformers.steps import products, shared_by, summed_over_heads

# Tokens on a line may hide singular values below the rounding, behind a clear gap, also
# where their exponentials are independent.
_INDEPENDENT_ON_A_LINE = replace(INDEPENDENT, are_delicate=True)
# What writes to the tokens: matrices and biases.
_WRITERS = ("O", "o", "V", "v", "U2")
# I + V must be invertible, and an isometry V may have the eigenvalue −1.
_BESIDE_A_SKIP = 0.7


class _Sizes(NamedTuple):
    """Of one layer: widths, head dimension, heads, groups, value dimension."""

    d_in: int
    d_out: int
    a: int
    heads: int
    groups: int
    v: int


@dataclass(frozen=True)
class Transformer:
    """Layers of attention with several heads, skips, masks and the parts of a `Block`.

    Layer i has H_i heads, each with Q, K, V of its own, whose outputs are added (Eq. 3
    and Eq. 15 for one of them):

        lightning   Σ_h V_h X (Xᵀ A_h X) (+ X)
        softmax     Σ_h V_h X softmax(Xᵀ A_h X) (+ X), column by column.

    Args:
        widths, head_dims, tokens, attention: as in `neuroviz.attention.Architecture`.
        heads: H₁, …, H_l, or one number for all layers; kept as one for each layer.
        skip: whether each layer adds its input; all widths must be equal.
        causal: whether token i attends to j ≤ i only.
        block: biases, value ranks, shared keys, rotary and learned positions,
            temperatures, MLPs.

    Raises:
        ValueError: as `Architecture` does, and if a layer has no number of heads, a
            skip meets unequal widths, rotary positions an odd head dimension, or shared
            keys a number of heads that they do not divide.

    >>> from neuroviz.rank import measure_dimension
    >>> net = Transformer((4, 4), (2,), heads=3, skip=True)
    >>> print(net)
    lightning 4→4, a = 2, t = 3, 3 heads, skip
    >>> net.num_parameters, measure_dimension(net).value
    (96, 81)
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
        paper = Architecture(self.widths, self.head_dims, self.tokens, self.attention)
        # Frozen: a normalised value can only be stored through object.__setattr__.
        for name in ("widths", "head_dims", "tokens"):
            object.__setattr__(self, name, getattr(paper, name))
        heads = _heads_of_layers(self.heads, self.num_layers)
        object.__setattr__(self, "heads", heads)
        for name in ("skip", "causal"):
            object.__setattr__(self, name, true_or_false(name, getattr(self, name)))
        if self.skip and len(set(self.widths)) > 1:
            raise ValueError(
                "a skip connection adds a layer's input to its output, so all widths "
                f"must be equal; got widths={as_tuple(self.widths)}"
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
                "rotary positions turn coordinates in pairs, so head dimensions are "
                f"even; got {odd[0]}"
            )
        groups = self.block.kv_heads or 1
        uneven = [heads for heads in self.heads if heads % groups]
        if uneven:
            raise ValueError(
                f"{groups} key-value heads are shared evenly, so their number divides "
                f"the heads; got {uneven[0]} heads"
            )

    @property
    def paper(self) -> Architecture:
        """The network of the paper with these sizes, whatever else this one has."""
        return Architecture(self.widths, self.head_dims, self.tokens, self.attention)

    @classmethod
    def uniform(
        cls,
        d: int,
        a: int,
        layers: int,
        tokens: int = 3,
        attention: str = "lightning",
        **variant: object,
    ) -> Self:
        """All widths d and all head dimensions a; heads, skip, causal, block as above.

        >>> Transformer.uniform(d=4, a=2, layers=3, heads=2).heads
        (2, 2, 2)
        """
        layers = whole_number("layers", layers, most=MOST_LAYERS)
        return cls((d,) * (layers + 1), (a,) * layers, tokens, attention, **variant)

    @property
    def is_plain(self) -> bool:
        """Whether this is a network of the paper: one head a layer, no skip, no mask,
        an empty block."""
        has_skip_or_mask = self.skip or self.causal
        return set(self.heads) == {1} and not has_skip_or_mask and self.block.is_plain

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

    @property
    def groups(self) -> tuple[int, ...]:
        """How many different keys and values each layer has.

        >>> block = Block(value_dim=2, kv_heads=2)
        >>> Transformer((4, 4), (2,), heads=4, block=block).groups
        (2,)
        """
        return tuple(self.block.kv_heads or heads for heads in self.heads)

    @cached_property
    def distinct_layers(self) -> Counter[tuple[int, tuple[int, int, int]]]:
        """(H_i, (d_{i−1}, d_i, a_i)), and how many layers have these sizes.

        >>> dict(Transformer.uniform(4, 2, layers=3).distinct_layers)
        {(1, (4, 4, 2)): 3}
        """
        return Counter(zip(self.heads, self.layers, strict=True))

    @cached_property
    def num_parameters(self) -> int:
        """Entries of all matrices of all heads, and of what the block adds."""
        # Layers of equal sizes are counted together; the last one has no MLP after it.
        kinds: Counter[tuple[_Sizes, bool]] = Counter()
        for i in range(1, self.num_layers + 1):
            kinds[self._sizes(i), i < self.num_layers] += 1
        count = 0
        for (n, is_inner), times in kinds.items():
            for shape in self._shapes_of_layer(n, is_inner).values():
                count += times * prod(shape)
        if self.block.positions:
            count += self.widths[0] * self.tokens
        return count

    def __repr__(self) -> str:
        """As Python would read it, but for the middle of a long row of unequal
        sizes."""
        said = []
        for field in fields(self):
            value = getattr(self, field.name)
            shown = as_tuple(value) if isinstance(value, tuple) else repr(value)
            said.append(f"{field.name}={shown}")
        return f"{type(self).__name__}({', '.join(said)})"

    def __str__(self) -> str:
        widths = in_short(self.widths, "→")
        head_dims = in_short(self.head_dims)
        parts = [f"{self.attention} {widths}", f"a = {head_dims}", f"t = {self.tokens}"]
        if len(set(self.heads)) > 1:
            parts.append(f"heads {in_short(self.heads)}")
        elif self.heads[0] > 1:
            parts.append(f"{self.heads[0]} heads")
        if self.skip:
            parts.append("skip")
        if self.causal:
            parts.append("causal")
        if not self.block.is_plain:
            parts.append(str(self.block))
        return ", ".join(parts)

    def _sizes(self, i: int) -> _Sizes:
        """Of layer i, counted from 1."""
        heads = self.heads[i - 1]
        d_out = self.widths[i]
        return _Sizes(
            d_in=self.widths[i - 1],
            d_out=d_out,
            a=self.head_dims[i - 1],
            heads=heads,
            groups=self.block.kv_heads or heads,
            v=self.block.value_dim or d_out,
        )

    # What is measured: `neuroviz.rank.Network`

    @cached_property
    def parameter_shapes(self) -> dict[str, tuple[int, ...]]:
        """The weights by name, in order, with one axis for the heads.

        "P" are the positions; "1.Q", "1.K", "1.V" of layer 1, "1.O" with a value_dim;
        "q", "k", "v", "o" are biases; "beta" are the temperatures; "1.U1", "1.U2" the
        MLP after layer 1.

        >>> block = Block(value_dim=1, positions=True)
        >>> list(Transformer((2, 3), (1,), tokens=4, block=block).parameter_shapes)
        ['P', '1.Q', '1.K', '1.V', '1.O']
        """
        shapes: dict[str, tuple[int, ...]] = {}
        if self.block.positions:
            shapes["P"] = (self.widths[0], self.tokens)
        for i in range(1, self.num_layers + 1):
            layer = self._shapes_of_layer(self._sizes(i), i < self.num_layers)
            for name, shape in layer.items():
                shapes[f"{i}.{name}"] = shape
        return shapes

    def _shapes_of_layer(self, n: _Sizes, is_inner: bool) -> dict[str, tuple[int, ...]]:
        """Of one layer, with the MLP after it where another layer follows."""
        block = self.block
        # "V" is W_g where there is a value_dim; else V_h, with a group for each head
        # and v = d′.
        shapes: dict[str, tuple[int, ...]] = {
            "Q": (n.heads, n.a, n.d_in),
            "K": (n.groups, n.a, n.d_in),
            "V": (n.groups, n.v, n.d_in),
        }
        if block.value_dim:
            shapes["O"] = (n.heads, n.d_out, n.v)
        if block.biases:
            shapes["q"] = (n.heads, n.a, 1)
            shapes["k"] = (n.groups, n.a, 1)
            shapes["v"] = (n.groups, n.v, 1)
            if block.value_dim:
                shapes["o"] = (n.d_out, 1)
        if block.temperature:
            shapes["beta"] = (n.heads, 1, 1)
        if block.mlp and is_inner:
            hidden, _ = block.mlp
            shapes["U1"] = (hidden, n.d_out)
            shapes["U2"] = (n.d_out, hidden)
        return shapes

    def random_inputs(self, field: Field, count: int, rng: Generator) -> np.ndarray:
        """Inputs X, shape (count, d₀, t); tokens are columns."""
        return field.random(rng, (count, self.widths[0], self.tokens))

    def record(self, tape: Tape, weights: dict[str, Node], inputs: Node) -> Node:
        """The network, layer by layer, as `Block` has it."""
        X = inputs
        if self.block.positions:
            X = tape.add(X, weights["P"])
        layers = zip(by_layer(weights), self.heads, self.are_on_a_line, strict=True)
        for w, heads, is_on_a_line in layers:
            Y = self._attention(tape, w, X, heads, is_on_a_line)
            X = tape.add(Y, X) if self.skip else Y
            if "U1" in w:
                Y = self._mlp(tape, w, X)
                X = tape.add(Y, X) if self.skip else Y
            # Lengths go up with the third power in each layer, beyond what floats hold.
            if self._is_homogeneous:
                X = tape.up_to_scale(X)
        return X

    def _attention(
        self, tape: Tape, w: dict[str, Node], X: Node, heads: int, is_on_a_line: bool
    ) -> Node:
        """All heads of a layer with the weights w, added."""
        # q: (N, H, a, t); k: (N, G, a, t); v: (N, G, v, t) for G groups.
        q, k, v = products(tape, [w["Q"], w["K"], w["V"]], X)
        if self.block.biases:
            q = tape.add(q, w["q"])
            k = tape.add(k, w["k"])
            v = tape.add(v, w["v"])
        # Before the heads share them, so that the keys of a group are turned once.
        if self.block.rotary:
            q = _rotated(tape, q, w["R"])
            k = _rotated(tape, k, w["R"])
        k = shared_by(tape, k, heads)
        v = shared_by(tape, v, heads)
        # S: (N, H, t, t), with keys as rows and queries as columns.
        S = tape.inner_products(k, q)
        if self.block.temperature:
            S = tape.times(w["beta"], S)
        S = self._shares(tape, S, is_on_a_line)
        Y = tape.matmul(v, S)
        if self.block.value_dim:
            Y = tape.matmul(w["O"], Y)
        Y = summed_over_heads(tape, Y)
        if "o" in w:
            Y = tape.add(Y, w["o"])
        return Y

    def _mlp(self, tape: Tape, w: dict[str, Node], X: Node) -> Node:
        _, power = self.block.mlp
        hidden = tape.power(tape.matmul(w["U1"], X), power)
        return tape.matmul(w["U2"], hidden)

    def _shares(self, tape: Tape, S: Node, is_on_a_line: bool) -> Node:
        """What becomes of the logits."""
        visible = np.triu(np.ones(S.value.shape[-2:], bool))  # row j, column i
        if self.attention == "softmax":
            mask = visible if self.causal else None
            return tape.softmax(S, self._exponentials(is_on_a_line), mask)
        if self.causal:
            mask = tape.constant(visible.astype(float)[None, None], degree=0)
            return tape.times(S, mask)
        return S

    def _exponentials(self, is_on_a_line: bool) -> Exponentials:
        """How the exponentials of one layer depend on each other.

        On a line s_ji is symmetric. Biases add a term in i alone, which a softmax
        forgets, and one in j alone, which is the same: with g_i + g_j the logits are
        symmetric. Rotations tell s_ji from s_ij, and under a mask only one of them
        occurs.
        """
        if not is_on_a_line:
            return INDEPENDENT
        if self.block.rotary or self.causal:
            return _INDEPENDENT_ON_A_LINE
        return SYMMETRIC

    @property
    def _is_homogeneous(self) -> bool:
        """Whether longer tokens make the output longer by a power only."""
        adds = self.skip or self.block.biases or self.block.positions
        return self.attention == "lightning" and not adds

    @property
    def are_on_a_line(self) -> tuple[bool, ...]:
        """For each layer, whether the tokens that enter it lie on a line, whatever the
        weights.

        >>> Transformer((3, 1, 3, 3), (1, 1, 1), heads=(1, 1, 1)).are_on_a_line
        (False, True, True)
        >>> Transformer((3, 1, 3, 3), (1, 1, 1), heads=(2, 2, 2)).are_on_a_line
        (False, True, False)
        """
        found = []
        line = self.widths[0] == 1
        for i in range(1, self.num_layers + 1):
            found.append(line)
            n = self._sizes(i)
            if not self.skip:
                # Σ_h V_h x S_h: two heads leave the line of x, if there is room.
                is_thin = min(n.d_out, n.heads * n.v) == 1
                line = (line and n.heads == 1) or is_thin
            if self.block.mlp and i < self.num_layers:
                line = self._is_on_a_line_after_the_mlp(line, n.d_out)
        return tuple(found)

    def _is_on_a_line_after_the_mlp(self, line: bool, width: int) -> bool:
        hidden, power = self.block.mlp
        if line and self.block.biases and power > 1 and width > 1:
            line = False  # a line beside the origin becomes a curve
        # With skips all widths are equal, and tokens lie on a line only in width 1.
        if self.skip:
            return line
        return line or hidden == 1

    # What helps: `Sliced`, `WithConstants`, `Relaxed` and `Conditioned` of
    # `neuroviz.rank.network`

    def slice(self) -> GaugeSlice | None:
        """That of the paper's network with the same functions; None for others."""
        return self.paper.slice() if self.is_plain else None

    def constants(self, field: Field, rng: Generator) -> dict[str, Constant]:
        """The rotations of each layer, "1.R" and so on."""
        if not self.block.rotary:
            return {}
        return rotations(field, self.head_dims, are_related=True, rng=rng)

    def relaxed(self) -> "Transformer | None":
        """The same network with unrelated rotary angles, where this lowers the degree;
        else None."""
        if not self.block.rotary:
            return None
        related = turning_degree(self.head_dims, are_related=True)
        unrelated = turning_degree(self.head_dims, are_related=False)
        # It is there for a better bound of the error, which grows with the degree.
        if related <= unrelated:
            return None
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return _WithGeneralAngles(**values)

    def conditioned_points(
        self, count: int, rng: Generator
    ) -> Iterator[tuple[Weights, np.ndarray]]:
        """A real point whose spectrum is readable, and points where layers write less,
        by factors of 2.

        The tokens of a lightning layer with a skip grow like x + x³.
        """
        if self.block.is_plain:
            weights = self._conditioned_heads(rng)
        else:
            weights = self._conditioned_block(rng)
        X = conditioned_tokens(self.widths[0], self.tokens, count, rng)
        # These keep the size of tokens: a softmax averages them, and a homogeneous
        # network is up to scale.
        is_bounded = self.attention == "softmax" and not self.block.mlp
        may_grow = self.skip or not (is_bounded or self._is_homogeneous)
        for shrink in SHRINKS if may_grow else (1.0,):
            smaller = {}
            for name, weight in weights.items():
                is_writer = name.rpartition(".")[2] in _WRITERS
                smaller[name] = shrink * weight if is_writer else weight
            yield smaller, X

    def _conditioned_heads(self, rng: Generator) -> dict[str, np.ndarray]:
        """Heads as those of the paper."""
        weights: dict[str, np.ndarray] = {}
        for i, (heads, layer) in enumerate(
            zip(self.heads, self.layers, strict=True), start=1
        ):
            # Several heads may leave the line of a width of 1, but the sharpness for a
            # line serves behind it, too: of 720 such spectra 649 show the exact rank,
            # with the larger one 598.
            was_on_a_line = min(self.widths[:i]) == 1
            drawn = []
            for _ in range(heads):
                drawn.append(
                    conditioned_layer(layer, was_on_a_line, self.attention, rng)
                )
            for name in ("Q", "K", "V"):
                weights[f"{i}.{name}"] = np.stack([head[name] for head in drawn])
            if self.skip:
                weights[f"{i}.V"] *= _BESIDE_A_SKIP
        return weights

    def _conditioned_block(self, rng: Generator) -> dict[str, np.ndarray]:
        """Near isometries, Q near K, and small biases."""
        weights: dict[str, np.ndarray] = {}
        for name, shape in self.parameter_shapes.items():
            kind = name.rpartition(".")[2]
            if kind in ("P", "q", "k", "v", "o"):
                weights[name] = 0.3 * rng.standard_normal(shape)
            elif kind == "beta":
                weights[name] = rng.uniform(0.8, 1.25, shape)
            elif kind == "K":
                # Q of the same layer is drawn already: it stands before K.
                Q = weights[f"{name[:-1]}Q"]
                first = Q[:: len(Q) // shape[0]]  # of the queries that share a key
                noise = 0.3 * rng.standard_normal(shape) / np.sqrt(shape[-1])
                weights[name] = first + noise
            else:
                weights[name] = self._factor(kind) * near_isometries(rng, shape)
        return weights

    def _factor(self, kind: str) -> float:
        if kind == "Q" and self.attention == "softmax":
            return 2.0
        if kind == "V" and self.skip:
            return _BESIDE_A_SKIP
        return 1.0


@dataclass(frozen=True, repr=False)
class _WithGeneralAngles(Transformer):
    """A transformer in which no rotary angle is a multiple of another one.

    Real models are special cases of it, with a derivative of higher degree.
    """

    def constants(self, field: Field, rng: Generator) -> dict[str, Constant]:
        return rotations(field, self.head_dims, are_related=False, rng=rng)

    def relaxed(self) -> None:
        return None


def as_transformer(caller: str, net: object) -> Transformer:
    """The network as a transformer, if it is one or a network of the paper.

    Raises:
        ValueError: if it is something else, in the caller's name.

    >>> as_transformer("align", Architecture((3, 3), (2,))).heads
    (1,)
    """
    if isinstance(net, Transformer):
        return net
    if isinstance(net, Architecture):
        return Transformer(net.widths, net.head_dims, net.tokens, net.attention)
    raise ValueError(
        f"{caller} needs an Architecture or a Transformer; got {type(net).__name__}: "
        "for a network of your own call measure_dimension(network), for a torch module "
        "functional_dimension(module, inputs)"
    )


def in_simplest_form(caller: str, net: object) -> Architecture | Transformer:
    """A network of the paper as an Architecture, others as a Transformer.

    Raises:
        ValueError: if it is neither, in the caller's name.

    >>> in_simplest_form("sweep", Transformer((3, 3), (2,)))
    Architecture(widths=(3, 3), head_dims=(2,), tokens=3, attention='lightning')
    """
    found = as_transformer(caller, net)
    # A subclass may compute in another way than the paper's network of its sizes.
    if type(found) is Transformer and found.is_plain:
        return found.paper
    return found


def as_paper(caller: str, net: object) -> Architecture:
    """The network as one of the paper, if it is one.

    Raises:
        ValueError: if it is something else, or has heads, a skip, a mask or a block.
    """
    found = as_transformer(caller, net)
    if not found.is_plain:
        raise ValueError(
            f"{caller} knows one head a layer, no skip and no mask, an empty block; "
            f"got {net}: measure_dimension and expected_dimension know the others"
        )
    return found.paper


def _heads_of_layers(heads: object, num_layers: int) -> tuple[int, ...]:
    """One number for each layer."""
    try:
        # True is no number of heads; `sizes` refuses it by name.
        one = heads if isinstance(heads, bool) else index(heads)
    except TypeError:
        found = sizes("heads", heads)
    else:
        found = sizes("heads", (one,) * num_layers)
    if len(found) != num_layers:
        raise ValueError(
            f"heads is one number, or one for each of {num_layers} layer(s); got "
            f"heads={as_tuple(found)}"
        )
    return found


def _rotated(tape: Tape, x: Node, rotation: Node) -> Node:
    """Token i turned by the i-th power of the rotations, pair by pair: c x + s Jx."""
    tokens = x.value.shape[-1]
    pairs = rotation.value[0]
    degree = rotation.degree * (tokens - 1)  # that of the last token's turn
    c, s = powers_of_rotations(tape.field, pairs, tokens)
    # From (pairs, t) to (a, t): both coordinates of a pair have its cosine and sine.
    cosines = tape.constant(np.repeat(c, 2, axis=0)[None, None], degree)
    sines = tape.constant(np.repeat(s, 2, axis=0)[None, None], degree)
    # J, a quarter turn of each pair.
    quarter = np.kron(np.eye(len(pairs)), QUARTER_TURN)
    turned = tape.matmul(tape.constant(quarter[None, None], degree=0), x)
    return tape.add(tape.times(x, cosines), tape.times(turned, sines))


def near_isometries(rng: Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Matrices with singular values from 0.8 to 1.25, stacked over the first axis if
    there are three; exact isometries of size 1 × 1 would all be ±1."""
    if len(shape) == 3:
        return np.stack([near_isometries(rng, shape[1:]) for _ in range(shape[0])])
    rows, columns = shape
    q = orthonormal(rng, rows, columns)
    lengths = rng.uniform(0.8, 1.25, min(rows, columns))
    return q * lengths if rows >= columns else lengths[:, None] * q
