"""The networks of the paper: sizes and kind of attention, and how they compute.

An `Architecture` is frozen and hashable: a cache key, a test id and a figure's title.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from typing import Self

import numpy as np
from numpy.random import Generator

from neuroviz.attention.conditioned import conditioned_tokens, conditioned_weights
from neuroviz.attention.gauge_slice import GaugeSlice, identity_corners
from neuroviz.attention.layers import by_layer
from neuroviz.attention.sizes import as_tuple, in_short, sizes
from neuroviz.rank.checks import SlipError, whole_number
from neuroviz.rank.exponentials import INDEPENDENT, SYMMETRIC
from neuroviz.rank.field import Field
from neuroviz.rank.tape import Node, Tape

ATTENTION_KINDS = ("lightning", "softmax")
MOST_LAYERS = 10**6
"""An architecture holds three numbers for each layer."""


@dataclass(frozen=True)
class Architecture:
    """A deep attention network: l layers of width d₀ → d₁ → … → d_l on t tokens.

    Layer i holds Q_i, K_i of shape a_i × d_{i−1} and V_i of shape d_i × d_{i−1}, and
    maps the tokens, the columns of X, to (Eq. 3, Eq. 15; A_i = K_iᵀQ_i)

        lightning   V_i X (Xᵀ A_i X)
        softmax     V_i X softmax(Xᵀ A_i X), column by column.

    Every size from 1 on is legal, also a > d, one token, and networks that widen: the
    cases outside the paper's hypotheses are the interesting ones. There are 10⁶ layers
    at most.

    Args:
        widths: d₀, d₁, …, d_l: at least two whole numbers ≥ 1.
        head_dims: a₁, …, a_l: one whole number ≥ 1 for each layer.
        tokens: t ≥ 1.
        attention: "lightning" or "softmax".

    Raises:
        ValueError: if a size is not a whole number ≥ 1, a layer has no head dimension,
            or the kind of attention is unknown.

    >>> from neuroviz.rank import measure_dimension
    >>> arch = Architecture(widths=(4, 3, 5), head_dims=(2, 2))
    >>> arch.num_parameters, measure_dimension(arch).value
    (55, 36)
    >>> print(arch)
    lightning 4→3→5, a = 2, 2, t = 3
    """

    widths: tuple[int, ...]
    head_dims: tuple[int, ...]
    tokens: int = 3
    attention: str = "lightning"

    def __post_init__(self) -> None:
        try:
            self._normalise()
        except ValueError as error:
            raise SlipError(str(error)) from None

    def _normalise(self) -> None:
        # Frozen: a normalised value can only be stored through object.__setattr__.
        object.__setattr__(self, "widths", sizes("widths", self.widths))
        object.__setattr__(self, "head_dims", sizes("head_dims", self.head_dims))
        object.__setattr__(self, "tokens", whole_number("tokens", self.tokens))
        depth = len(self.widths) - 1
        if depth < 1:
            raise ValueError(
                "a network needs an input and an output width; "
                f"got widths={self.widths}: give at least two numbers, as in "
                "widths=(4, 4)"
            )
        if len(self.head_dims) != depth:
            raise ValueError(
                "each layer needs one head dimension: "
                f"widths={as_tuple(self.widths)} make {depth} layer(s), but "
                f"head_dims={as_tuple(self.head_dims)} has {len(self.head_dims)}; "
                f"give head_dims with {depth} number(s)"
            )
        whole_number("the number of layers", depth, most=MOST_LAYERS)
        if self.attention not in ATTENTION_KINDS:
            raise ValueError(
                "attention must be one of 'lightning', 'softmax'; "
                f"got {self.attention!r}"
            )

    @classmethod
    def uniform(
        cls, d: int, a: int, layers: int, tokens: int = 3, attention: str = "lightning"
    ) -> Self:
        """All widths d and all head dimensions a.

        >>> Architecture.uniform(d=4, a=2, layers=3).widths
        (4, 4, 4, 4)
        """
        layers = whole_number("layers", layers, most=MOST_LAYERS)
        return cls((d,) * (layers + 1), (a,) * layers, tokens, attention)

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
    def num_parameters(self) -> int:
        """Σ_i (2 a_i d_{i−1} + d_i d_{i−1}): the entries of all Q_i, K_i, V_i."""
        count = 0
        # There may be a million layers: those of one kind are multiplied once.
        for (d_in, d_out, a), times in Counter(self.layers).items():
            count += times * (2 * a + d_out) * d_in
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
        return f"{self.attention} {widths}, a = {head_dims}, t = {self.tokens}"

    @property
    def are_on_a_line(self) -> tuple[bool, ...]:
        """For each layer, whether the tokens that enter it lie on a line: whatever the
        weights, once a width is 1.

        >>> Architecture((3, 1, 3, 3), (1, 1, 1)).are_on_a_line
        (False, True, True)
        """
        return tuple(width == 1 for width in accumulate(self.widths[:-1], min))

    # What is measured: `neuroviz.rank.Network`

    @cached_property
    def parameter_shapes(self) -> dict[str, tuple[int, int]]:
        """The weights by name, in order: "1.Q", "1.K", "1.V" of layer 1, and so on."""
        shapes = {}
        for i, (d_in, d_out, a) in enumerate(self.layers, start=1):
            shapes[f"{i}.Q"] = (a, d_in)
            shapes[f"{i}.K"] = (a, d_in)
            shapes[f"{i}.V"] = (d_out, d_in)
        return shapes

    def random_inputs(self, field: Field, count: int, rng: Generator) -> np.ndarray:
        """Inputs X, shape (count, d₀, t); tokens are columns."""
        return field.random(rng, (count, self.widths[0], self.tokens))

    def record(self, tape: Tape, weights: dict[str, Node], inputs: Node) -> Node:
        """φ(X), layer by layer (Eq. 3, Eq. 15)."""
        X = inputs
        layers = zip(by_layer(weights), self.head_dims, self.are_on_a_line, strict=True)
        for w, a, is_on_a_line in layers:
            # One product with the tokens instead of three: most matrices are small.
            together = tape.matmul(tape.stack([w["Q"], w["K"], w["V"]]), X)
            queries = tape.rows(together, 0, a)
            keys = tape.rows(together, a, 2 * a)
            values = tape.rows(together, 2 * a)
            # Row j, column i: (K x_j)ᵀ (Q x_i) = x_jᵀ A x_i.
            S = tape.inner_products(keys, queries)
            if self.attention == "softmax":
                # s_ji = ξ_j ξ_i uᵀAu is symmetric where all tokens are multiples of u.
                S = tape.softmax(S, SYMMETRIC if is_on_a_line else INDEPENDENT)
            X = tape.matmul(values, S)
            # Each layer is cubic in its tokens, so of these only the direction counts.
            if self.attention == "lightning":
                X = tape.up_to_scale(X)
        return X

    # What helps: `neuroviz.rank.network.Sliced` and `Conditioned`

    def slice(self) -> GaugeSlice:
        """A smaller network across the orbits of the symmetries (gauge_slice.md).

        No layer needs to be wider than the narrowest before it (Move 1), nor a head
        than that (Move 3).
        """
        widths = (*accumulate(self.widths[:-1], min), self.widths[-1])
        # a_i with the width before layer i; the last width has no head after it.
        head_dims = tuple(map(min, self.head_dims, widths))
        reduced = replace(self, widths=widths, head_dims=head_dims)
        return GaugeSlice(reduced, identity_corners(reduced.layers, self.attention))

    def conditioned_points(
        self, count: int, rng: Generator
    ) -> Iterator[tuple[dict[str, np.ndarray], np.ndarray]]:
        """A random real point whose spectrum is readable, and so many inputs."""
        weights = conditioned_weights(self.layers, self.attention, rng)
        X = conditioned_tokens(self.widths[0], self.tokens, count, rng)
        yield weights, X


def check_architecture(caller: str, arch: object) -> None:
    """Refuse anything but a network of the paper, in the caller's name.

    Raises:
        ValueError: if `arch` is something else.
    """
    if not isinstance(arch, Architecture):
        raise ValueError(
            f"{caller} needs an Architecture; got {type(arch).__name__}: the package "
            "neuroviz_beyond knows networks with heads, skips and masks, and torch "
            "modules (functional_dimension)"
        )
