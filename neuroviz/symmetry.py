"""The group that moves weights and not the function, and a slice across its orbits.

Three families of symmetries are used here (docs/mathematics.md, "The gauge slice"):

    head bases     Q → C Q, K → C⁻ᵀ K                                     C ∈ GL_a     (Lemma 3.1)
    interfaces     Q_{i+1}, K_{i+1} → ·C⁻¹, V_{i+1} → ·C⁻¹, V_i → C V_i   C ∈ GL_{d_i} (Eq. 9)
    rescaling      A_i → c A_i, V_i → V_i / c                              lightning    (Eq. 13)
"""

from dataclasses import dataclass, field

import numpy as np

from neuroviz.architecture import Architecture
from neuroviz.field import Field
from neuroviz.network import Layer, Weights, layer_shapes, random_weights


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

    In a bottleneck it has exactly as many free entries as the neuromanifold has dimensions:

    >>> gauge_slice(Architecture.uniform(10, 2, 2)).num_free
    170
    """
    d = arch.widths
    r = [min(d[: i + 1]) for i in range(arch.num_layers)] + [d[-1]]
    reduced = Architecture(
        tuple(r), tuple(min(a, r[i]) for i, a in enumerate(arch.head_dims)), arch.tokens, arch.attention
    )
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
