"""Orbits of the symmetries: a slice across them, and how far two networks are from lying on one.

The four symmetries themselves are in `neuroviz.engine.symmetry` (docs/mathematics.md, "The gauge slice").
"""

from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.budget import check_memory
from neuroviz.engine.expected import alpha
from neuroviz.engine.field import Field
from neuroviz.engine.network import Layer, Weights, layer_shapes, random_weights


@dataclass(frozen=True)
class GaugeSlice:
    """A smaller family of networks that meets the orbit of almost every network.

    The generic rank of weights ↦ function is the same on the slice, because the function is
    constant on orbits. Only symmetries were used, no dimension formula: so the number of free
    entries is a proved upper bound of the dimension, and a measurement that meets it is a proof.

    Attributes:
        arch: the architecture as given.
        reduced: the same functions with inner widths r_i = min(d₀..d_i) and a_i ≤ r_{i−1}.
        free: True where an entry of the reduced network's weights is free; in `flatten` order.
    """

    arch: Architecture
    reduced: Architecture
    free: np.ndarray = field(compare=False)

    @property
    def num_free(self) -> int:
        """How many entries are free: an upper bound of the dimension."""
        return int(self.free.sum())

    def weights(self, over: Field, rng: np.random.Generator) -> Weights:
        """A random point of the slice: V_i = [I | V_i′] (i < l), K_i = [I | K_i′], lightning (Q_i)₁₁ = 1."""
        drawn = random_weights(over, self.reduced, rng)
        fixed, last = [], len(drawn) - 1
        for i, (Q, K, V) in enumerate(drawn):
            K[:, : len(K)] = np.eye(len(K))
            if i < last:
                V[:, : len(V)] = np.eye(len(V))
            if self.reduced.attention == "lightning":
                Q[0, 0] = 1.0
            fixed.append(Layer(Q, K, V))
        return tuple(fixed)


def gauge_slice(arch: Architecture) -> GaugeSlice:
    """The slice of an architecture through its head bases, interfaces and (lightning) rescalings.

    Raises:
        ValueError: if its entries, two bytes each, are more than there is memory.

    In a bottleneck it has exactly as many free entries as the neuromanifold has dimensions:

    >>> gauge_slice(Architecture.uniform(10, 2, 2)).num_free
    170
    """
    d = arch.widths
    r = [*accumulate(d[:-1], min), d[-1]]
    reduced = Architecture(
        tuple(r), tuple(min(a, r[i]) for i, a in enumerate(arch.head_dims)), arch.tokens, arch.attention
    )
    check_memory(f"the slice of {arch}, entry by entry,", 2 * reduced.num_parameters)
    free = []
    for i, (Q_shape, K_shape, V_shape) in enumerate(layer_shapes(reduced)):
        Q, K, V = (np.ones(shape, dtype=bool) for shape in (Q_shape, K_shape, V_shape))
        K[:, : K_shape[0]] = False
        if i < arch.num_layers - 1:
            V[:, : V_shape[0]] = False
        if arch.attention == "lightning":
            Q[0, 0] = False
        free += [Q.ravel(), K.ravel(), V.ravel()]
    return GaugeSlice(arch, reduced, np.concatenate(free))


def interface_misfit(weights: Weights, other: Weights) -> float:
    """What the best C_1, …, C_{l−1} leave of Eq. 9 between two networks over the reals, relative to it.

    Linear in them all, and solved by least squares:

        Q_j′ C_{j−1} = Q_j,  K_j′ C_{j−1} = K_j,  V_j′ C_{j−1} = C_j V_j,  with C_0 = C_l = 1

    0 wherever `change_interface` leads from one network to the other, also where weights have lost rank
    and `recover_interfaces` refuses, because the C are not unique. That a C is invertible is not asked.

    Raises:
        ValueError: if the shapes differ in a layer, or there is one layer only, without a place for a basis.

    >>> one, two = (Layer(np.eye(1), np.eye(1), np.array([[v]])) for v in (2.0, 3.0))
    >>> moved = Layer(np.eye(1) / 5, np.eye(1) / 5, two.V / 5)
    >>> round(interface_misfit((one, two), (one._replace(V=5 * one.V), moved)), 9)
    0.0
    >>> interface_misfit((one, two), (one._replace(V=5 * one.V), two)) > 0.1
    True
    """
    shapes = [[tuple(matrix.shape for matrix in layer) for layer in network] for network in (weights, other)]
    if shapes[0] != shapes[1]:
        raise ValueError(f"two networks need the same shapes in every layer; got {shapes[0]} and {shapes[1]}")
    if len(weights) < 2:
        raise ValueError(f"a change of basis lies between two layers; got networks of {len(weights)} layer")
    inner = [len(layer.V) for layer in weights[:-1]]
    ends = np.cumsum([0, *(width * width for width in inner)])  # C_j stands in ends[j − 1] to ends[j]
    last, rows, right = len(weights), [], []
    for j, (layer, layer_other) in enumerate(zip(weights, other, strict=True), start=1):
        for name, W, W_other in zip(Layer._fields, layer, layer_other, strict=True):
            block = np.zeros((W.size, ends[-1]))
            known = np.zeros(W.shape)
            if j > 1:
                block[:, ends[j - 2] : ends[j - 1]] += np.kron(W_other, np.eye(inner[j - 2]))
            else:
                known = known - W_other
            if name == "V" and j < last:
                block[:, ends[j - 1] : ends[j]] -= np.kron(np.eye(inner[j - 1]), W.T)
            else:
                known = known + W
            rows.append(block)
            right.append(known.ravel())
    A, b = np.vstack(rows), np.concatenate(right)
    best = np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.linalg.norm(A @ best - b) / (np.linalg.norm(b) or 1.0))


# Counted without writing it down


@lru_cache(maxsize=4096)
def slice_steps(arch: Architecture) -> tuple[int, int, int, int]:
    """How many entries are left free as the symmetries are used up, counted without writing them down.

    All parameters; after the changes of basis between layers (and narrower inner widths); after those in
    the heads; after the rescalings: the last is the number of free entries of the slice, an upper bound
    of the dimension ("The gauge slice", moves 1 to 4).

    >>> slice_steps(Architecture.uniform(10, 2, 2))
    (280, 180, 172, 170)
    """
    d, depth = arch.widths, arch.num_layers
    r = [*accumulate(d[:depth], min), d[-1]]
    values = sum(r[i] * (r[i - 1] - r[i]) for i in range(1, depth)) + r[-1] * r[-2]
    between = values + sum(2 * a * width for a, width in zip(arch.head_dims, r, strict=False))
    heads = values + sum(alpha(a, width) for a, width in zip(arch.head_dims, r, strict=False))
    return arch.num_parameters, between, heads, heads - (depth if arch.attention == "lightning" else 0)


def num_columns(arch: Architecture) -> int:
    """How many entries the slice leaves free: an upper bound of the dimension; networks may be large.

    >>> num_columns(Architecture.uniform(12288, 128, 96))
    451411872
    """
    return slice_steps(arch)[-1]
