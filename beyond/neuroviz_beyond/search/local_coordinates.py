"""Coordinates around a network in which every direction that no function can show is
left out.

A network is first made narrow, r_i = min(d₀..d_i), then brought to orthonormal K_i and
V_i (i < l), and for lightning to ‖Q_i‖ = 1; from there it moves in directions at right
angles to these only:

    K_i + κ_i N,  V_i + v_i N′,  Q_i + q_i     N, N′: rows that complete K_i, V_i;
                  lightning: q_i ⊥ Q_i

As many coordinates as the gauge slice has free entries, but centred where one likes
(docs/mathematics/gauge_slice.md).
"""

from dataclasses import dataclass

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.layer_symmetry import virtual_weights
from neuroviz_beyond.transformers.layers import Layer, Weights, flatten, unflatten
from neuroviz_beyond.transformers.transformer import as_transformer

_STEP = 1e-30  # an imaginary step subtracts nothing, so it loses no digits


@dataclass(frozen=True, eq=False)
class Chart:
    """The networks centre + directions · p, for vectors p of coordinates.

    Attributes:
        arch: the narrow architecture.
        centre: the network at p = 0, in normal form.
        directions: shape (parameters, coordinates), rows in the order of
            `network.flatten`.
    """

    arch: Transformer
    centre: Weights
    directions: np.ndarray

    @property
    def size(self) -> int:
        """How many coordinates there are."""
        return self.directions.shape[1]

    def weights(self, coordinates: np.ndarray) -> Weights:
        """The network with these coordinates."""
        return unflatten(
            self.arch, flatten(self.centre) + self.directions @ coordinates
        )


def narrow_network(arch: Transformer) -> Transformer:
    """The same functions with inner widths r_i = min(d₀..d_i) and a_i ≤ r_{i−1}."""
    return as_transformer("narrow_network", arch.slice().network)


def narrow(arch: Transformer, weights: Weights) -> Weights:
    """A network of `narrow_network(arch)` with the same virtual weights: Move 1 of
    "The gauge slice".

    Over the reals, also where V_i has lost rank. The new V_i (i < l) have orthonormal
    rows.

    >>> arch = Transformer((1, 2, 1), (1, 1))
    >>> one, two = np.ones((1, 1)), np.ones((2, 1))
    >>> wide = (Layer(one, one, two), Layer(two.T, two.T, two.T))
    >>> [layer.V.shape for layer in narrow(arch, wide)]
    [(1, 1), (1, 1)]
    """
    reduced = narrow_network(arch)
    back = np.eye(arch.widths[0])  # U_i = back · the narrow U_i
    found = []
    for i, (Q, K, V) in enumerate(weights):
        Q, K, V = Q @ back, K @ back, V @ back
        a = reduced.head_dims[i]
        if a < len(K):  # a > r: every r × r matrix is an A
            Q, K = K.T @ Q, np.eye(a)
        if i < len(weights) - 1:
            rows = np.linalg.svd(V)[2][: reduced.widths[i + 1]]
            V, back = rows, V @ rows.T
        found.append(Layer(Q, K, V))
    return tuple(found)


def chart_at(arch: Transformer, weights: Weights, free_last: bool = True) -> Chart:
    """The chart around a network whose widths do not grow and whose a_i are at most
    d_{i−1}.

    Args:
        arch: of the network; as `narrow_network(arch)` gives it.
        weights: over the reals. For lightning no A_i may be 0.
        free_last: whether the last V is among what moves.

    With heads, skips, a mask or a block the chart is of all parameters, as they are.

    >>> arch = Transformer.uniform(3, 2, 2)
    >>> layer = Layer(np.eye(2, 3), np.eye(2, 3), np.eye(3))
    >>> chart_at(arch, (layer, layer)).size
    23
    """
    if not arch.is_plain:
        return Chart(arch, weights, np.eye(arch.num_parameters))
    centre = _normal_form(arch, weights)
    blocks, last = [], len(centre) - 1
    for i, (Q, K, V) in enumerate(centre):
        blocks.append(
            _complement(Q.reshape(1, -1)).T
            if arch.attention == "lightning"
            else np.eye(Q.size)
        )
        blocks.append(np.kron(np.eye(len(K)), _complement(K).T))
        at_the_end = np.eye(V.size, V.size * free_last)
        blocks.append(
            np.kron(np.eye(len(V)), _complement(V).T) if i < last else at_the_end
        )
    diagonal = [
        [b if b is c else np.zeros((len(b), c.shape[1])) for c in blocks]
        for b in blocks
    ]
    return Chart(arch, centre, np.block(diagonal))


def _normal_form(arch: Transformer, weights: Weights) -> Weights:
    """The same function with orthonormal rows in K_i and V_i (i < l), and ‖Q_i‖ = 1 for
    lightning."""
    found, back = [], np.eye(arch.widths[0])
    for i, (Q, K, V) in enumerate(weights):
        Q, K, V = Q @ back, K @ back, V @ back
        K_rows, S = np.linalg.qr(K.T)
        K, Q = K_rows.T, S @ Q
        if arch.attention == "lightning":
            length = np.linalg.norm(Q)
            Q, V = Q / length, V * length
        if i < len(weights) - 1:
            V_rows, S = np.linalg.qr(V.T)
            V, back = V_rows.T, S.T
        found.append(Layer(Q, K, V))
    return tuple(found)


def _complement(rows: np.ndarray) -> np.ndarray:
    """An orthonormal basis, as rows, of what is at right angles to some independent
    rows."""
    return np.linalg.qr(rows.T, mode="complete")[0][:, len(rows) :].T


def flat(virtual: VirtualWeights) -> np.ndarray:
    """M_1, …, M_l, then L, row by row, as one vector."""
    return np.concatenate([*(M.ravel() for M in virtual.M), virtual.L.ravel()])


def tangent_map(chart: Chart) -> np.ndarray:
    """The derivative of the coordinates → (M_1, …, M_l, L) at the centre, exact but for
    rounding.

    By a complex step: for a polynomial f, Im f(p + iε)/ε is f′(p).

    Returns:
        Shape (entries of the virtual weights, coordinates).
    """
    centre = flatten(chart.centre)
    columns = [
        flat(
            virtual_weights(
                Reals(), unflatten(chart.arch, centre + 1j * _STEP * direction)
            )
        ).imag
        / _STEP
        for direction in chart.directions.T
    ]
    return np.stack(columns, axis=1)
