"""Derivatives written by hand: of the map from weights to virtual weights (Eq. 8), and
of a network in its virtual weights."""

import flint
import numpy as np

from neuroviz.attention import Architecture
from neuroviz.attention.symmetry import as_network
from neuroviz.rank.point import Point, derivative

P = 8_388_587


def jacobian_rank(entries) -> int:
    entries = np.array(entries, dtype=object)
    return flint.nmod_mat(
        *entries.shape, [int(x) % P for x in entries.ravel()], P
    ).rank()


def random_matrix(rng, rows, columns):
    return rng.integers(0, P, (rows, columns)).astype(object)


def units(*shapes):
    """Every direction in a tuple of matrices: all zero but for one entry."""
    for n, shape in enumerate(shapes):
        for index in np.ndindex(*shape):
            direction = [np.zeros(s, dtype=object) for s in shapes]
            direction[n][index] = 1
            yield direction


def virtual_rank(arch, symmetric: bool) -> int:
    """Rank of the differential of weights ↦ (L, M₁ … M_l), or of (L, Sym M₁ … Sym M_l)
    (Eq. 8)."""
    rng = np.random.default_rng(0)
    shapes = [
        shape
        for d_in, d_out, a in arch.layers
        for shape in ((a, d_in), (a, d_in), (d_out, d_in))
    ]
    weights = [random_matrix(rng, *shape) for shape in shapes]
    rows = []
    for direction in units(*shapes):
        U = np.eye(arch.widths[0], dtype=int).astype(object)
        dU = 0 * U
        row = []
        for i in range(0, len(shapes), 3):
            (Q, K, V), (dQ, dK, dV) = weights[i : i + 3], direction[i : i + 3]
            q = Q @ U % P
            k = K @ U % P
            dM = (dK @ U + K @ dU).T @ q + k.T @ (dQ @ U + Q @ dU)
            row.append((dM + dM.T if symmetric else dM).ravel())
            U, dU = V @ U % P, (dV @ U + V @ dU) % P
        rows.append(np.concatenate([*row, dU.ravel()]))
    return jacobian_rank(rows)


def virtual_jacobian(over, virtual, X, cotangents, attention="lightning"):
    """The derivative of a network in M_1, …, M_l, then L, every entry free; without an
    M, φ(X) = LX."""
    if not virtual.M:
        return over.matmul(cotangents, X.mT[:, None]).reshape(*cotangents.shape[:2], -1)
    layers = len(virtual.M)
    d_out, d = virtual.L.shape
    arch = Architecture((*(d,) * layers, d_out), (d,) * layers, X.shape[-1], attention)
    point = Point(arch, over, as_network(virtual), {})
    J = derivative(point, X, cotangents=cotangents)
    n = d**2
    # each Q is an M
    blocks = [J[..., 3 * i * n : (3 * i + 1) * n] for i in range(layers)]
    return np.concatenate([*blocks, J[..., (3 * layers - 1) * n :]], axis=-1)
