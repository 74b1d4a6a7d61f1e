"""A slice across the orbits of the symmetries (docs/mathematics/gauge_slice.md)."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.network import (
    Layer,
    Weights,
    flatten,
    layer_shapes,
    random_weights,
)
from neuroviz.rank.field import Field
from neuroviz.rank.memory import check_memory


@dataclass(frozen=True)
class GaugeSlice:
    """A smaller family of networks that meets the orbit of almost every network.

    The generic rank of weights ↦ function is the same on the slice, because the
    function is constant on orbits. Only symmetries were used, no dimension formula: so
    the number of free entries is a proved upper bound of the dimension, and a
    measurement that meets it is a proof.

    Attributes:
        reduced: the same functions with inner widths r_i = min(d₀..d_i) and a_i ≤
            r_{i−1}.
        free: True where an entry of the reduced network's weights is free; in `flatten`
            order.
    """

    reduced: Architecture
    free: np.ndarray = field(compare=False)

    def weights(self, over: Field, rng: np.random.Generator) -> Weights:
        """A random point of the slice: V_i = [I | V_i′] (i < l), K_i = [I | K_i′],
        lightning (Q_i)₁₁ = 1."""
        drawn = random_weights(over, self.reduced, rng)
        for part in _held(self.reduced.attention, drawn):
            part[...] = np.eye(len(part))
        return drawn


def gauge_slice(arch: Architecture) -> GaugeSlice:
    """The slice of an architecture through its head bases, interfaces and (lightning)
    rescalings.

    Raises:
        ValueError: if its entries, two bytes each, are more than there is memory.

    In a bottleneck it has exactly as many free entries as the neuromanifold has
    dimensions:

    >>> gauge_slice(Architecture.uniform(10, 2, 2)).free.sum()
    np.int64(170)
    """
    r = _narrow_widths(arch)
    a = tuple(map(min, arch.head_dims, r))
    reduced = Architecture(r, a, arch.tokens, arch.attention)
    check_memory(f"the slice of {arch}, entry by entry,", 2 * reduced.num_parameters)
    free = tuple(
        Layer(*(np.ones(shape, dtype=bool) for shape in shapes))
        for shapes in layer_shapes(reduced)
    )
    for part in _held(arch.attention, free):
        part[...] = False
    return GaugeSlice(reduced, flatten(free))


def _held(attention: str, weights: Weights) -> Iterator[np.ndarray]:
    """The parts of the weights that are the identity on the slice, as views."""
    for i, (Q, K, V) in enumerate(weights, start=1):
        yield K[:, : len(K)]
        if i < len(weights):
            yield V[:, : len(V)]
        if attention == "lightning":
            yield Q[:1, :1]


@lru_cache(maxsize=4096)
def num_columns(arch: Architecture) -> int:
    """How many entries the slice leaves free, counted without writing them down;
    networks may be large.

    >>> num_columns(Architecture.uniform(12288, 128, 96))
    451411872
    """
    r = _narrow_widths(arch)
    count = (
        sum(w * (before - w) for before, w in zip(r, r[1:-1], strict=False))
        + r[-1] * r[-2]
    )
    count += sum(
        a * (2 * w - a) for a, w in zip(map(min, arch.head_dims, r), r, strict=False)
    )
    return count - (arch.num_layers if arch.attention == "lightning" else 0)


def _narrow_widths(arch: Architecture) -> tuple[int, ...]:
    return (*accumulate(arch.widths[:-1], min), arch.widths[-1])
