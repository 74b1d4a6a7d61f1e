"""Coordinates around a network, without the directions that its function does not
show.

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

from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.rank.field import Reals
from neuroviz.rank.weights import flatten
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.evaluate import Weights, unflatten
from neuroviz_beyond.transformers.transformer import as_transformer

_STEP = 1e-30  # an imaginary step subtracts nothing, so it loses no digits


@dataclass(frozen=True, eq=False)
class Chart:
    """The networks centre + directions · p, for vectors p of coordinates.

    Attributes:
        arch: the narrow architecture.
        centre: the network at p = 0, in normal form.
        directions: shape (parameters, coordinates), rows in the order of
            `flatten`.
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
        centre = flatten(self.arch, self.centre)
        return unflatten(self.arch, centre + self.directions @ coordinates)


def narrow_network(arch: Transformer) -> Transformer:
    """The same functions with inner widths r_i = min(d₀..d_i) and a_i ≤ r_{i−1}."""
    return as_transformer("narrow_network", arch.slice().network)


def narrow(arch: Transformer, weights: Weights) -> Weights:
    """A network of `narrow_network(arch)` with the same virtual weights: Move 1 of
    "The gauge slice".

    Over the reals, also where V_i has lost rank. The new V_i (i < l) have orthonormal
    rows.

    >>> arch = Transformer((1, 2, 1), (1, 1))
    >>> wide = {f"1.{name}": np.ones((1, 1)) for name in "QK"}
    >>> wide |= {"1.V": np.ones((2, 1))}
    >>> wide |= {f"2.{name}": np.ones((1, 2)) for name in "QKV"}
    >>> narrow(arch, wide)["2.V"].shape
    (1, 1)
    """
    reduced = narrow_network(arch)
    back = np.eye(arch.widths[0])  # U_i = back · the narrow U_i
    found = {}
    for i, a in enumerate(reduced.head_dims, start=1):
        Q = weights[f"{i}.Q"] @ back
        K = weights[f"{i}.K"] @ back
        V = weights[f"{i}.V"] @ back
        if a < len(K):  # a > r: every r × r matrix is an A
            Q = K.T @ Q
            K = np.eye(a)
        if i < arch.num_layers:
            # V has at most rank r_i, so its rows are combinations of these orthonormal
            # ones. The SVD has r_i of them also where V has lost rank.
            rows = np.linalg.svd(V)[2][: reduced.widths[i]]
            back = V @ rows.T
            V = rows
        found |= {f"{i}.Q": Q, f"{i}.K": K, f"{i}.V": V}
    return found


def chart_at(arch: Transformer, weights: Weights, free_last: bool = True) -> Chart:
    """The chart around a network whose widths do not grow and whose a_i are at most
    d_{i−1}.

    Args:
        arch: of the network; as `narrow_network(arch)` gives it.
        weights: over the reals. For lightning no A_i may be 0.
        free_last: whether the last V is among what moves.

    With heads, skips, a mask or a block the chart is of all parameters, as they are.

    >>> arch = Transformer.uniform(3, 2, 2)
    >>> layer = {"Q": np.eye(2, 3), "K": np.eye(2, 3), "V": np.eye(3)}
    >>> weights = {f"{i}.{name}": layer[name] for i in (1, 2) for name in "QKV"}
    >>> chart_at(arch, weights).size
    23
    """
    if not arch.is_plain:
        return Chart(arch, weights, np.eye(arch.num_parameters))
    centre = _normal_form(arch, weights)
    blocks = []
    for i, layer in enumerate(by_layer(centre), start=1):
        # ‖Q_i‖ = 1 stays to first order: the rescaling is no coordinate.
        if arch.attention == "lightning":
            of_Q = _complement(layer["Q"].reshape(1, -1)).T
        else:
            of_Q = np.eye(layer["Q"].size)
        if i < arch.num_layers:
            of_V = _complement_of_each_row(layer["V"])
        else:
            size = layer["V"].size
            of_V = np.eye(size, size if free_last else 0)
        blocks += [of_Q, _complement_of_each_row(layer["K"]), of_V]
    return Chart(arch, centre, _block_diagonal(blocks))


def _normal_form(arch: Transformer, weights: Weights) -> Weights:
    """The same function with orthonormal rows in K_i and V_i (i < l), and ‖Q_i‖ = 1 for
    lightning."""
    back = np.eye(arch.widths[0])  # Sᵀ of the V before (Eq. 9)
    found = {}
    for i in range(1, arch.num_layers + 1):
        Q = weights[f"{i}.Q"] @ back
        K = weights[f"{i}.K"] @ back
        V = weights[f"{i}.V"] @ back
        # K = SᵀK′, so KᵀQ = K′ᵀ(S Q).
        K_rows, S = np.linalg.qr(K.T)
        K = K_rows.T
        Q = S @ Q
        # (A, V) → (A/c, c V) is a rescaling, layer by layer (Eq. 13).
        if arch.attention == "lightning":
            length = np.linalg.norm(Q)
            Q = Q / length
            V = V * length
        # V = SᵀV′: the layers after it take over Sᵀ.
        if i < arch.num_layers:
            V_rows, S = np.linalg.qr(V.T)
            V = V_rows.T
            back = S.T
        found |= {f"{i}.Q": Q, f"{i}.K": K, f"{i}.V": V}
    return found


def _complement_of_each_row(matrix: np.ndarray) -> np.ndarray:
    """The directions of a matrix whose rows move at right angles to all its rows."""
    # κN moves the row k by Σ_m κ_km N_m, whatever the other rows do.
    return np.kron(np.eye(len(matrix)), _complement(matrix).T)


def _block_diagonal(blocks: list[np.ndarray]) -> np.ndarray:
    """One matrix with these along its diagonal; some may have no columns."""
    shape = np.sum([block.shape for block in blocks], axis=0)
    found = np.zeros(shape)
    row = 0
    column = 0
    for block in blocks:
        rows, columns = block.shape
        found[row : row + rows, column : column + columns] = block
        row += rows
        column += columns
    return found


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
    centre = flatten(chart.arch, chart.centre)
    columns = []
    for direction in chart.directions.T:
        near = unflatten(chart.arch, centre + 1j * _STEP * direction)
        moved = flat(virtual_weights(Reals(), near))
        columns.append(moved.imag / _STEP)
    return np.stack(columns, axis=1)
