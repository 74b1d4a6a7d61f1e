"""Networks in ball arithmetic: every number is an interval that is guaranteed to hold the true one.

The derivative of a network at exact weights, backward (for finding a proof) and forward (for checking
it), as matrices of python-flint's balls; and the criterion that proves a matrix of balls invertible.
docs/mathematics.md: "Ball arithmetic". The precision is python-flint's, `flint.ctx.prec`.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from neuroviz.network import Weights

if TYPE_CHECKING:
    from flint import arb_mat

Place = tuple[int, int, int, int]
"""A free entry: layer, matrix (0 for Q, 1 for K, 2 for V), row, column."""


def _ball(matrix: np.ndarray) -> "arb_mat":
    """A matrix of exact balls."""
    import flint

    rows, columns = matrix.shape
    return flint.arb_mat(rows, columns, [flint.arb(float(value)) for value in matrix.ravel()])


def ball_jacobian(
    attention: str, weights: Weights, free: np.ndarray, X: np.ndarray, functionals: np.ndarray
) -> "arb_mat":
    """The derivative of one functional of the output for each input, backward: a matrix of balls."""
    import flint

    layers = [tuple(_ball(matrix) for matrix in layer) for layer in weights]
    rows = []
    for x, functional in zip(X, functionals, strict=True):
        tokens, traces = _ball(x), []
        for Q, K, V in layers:
            q, k = Q * tokens, K * tokens
            S = _ball_softmax(k.transpose() * q) if attention == "softmax" else k.transpose() * q
            traces.append((tokens, q, k, S))
            tokens = V * (tokens * S)
        grad, parts = _ball(functional.astype(float)), []
        for (Q, K, V), (tokens, q, k, S) in zip(reversed(layers), reversed(traces), strict=True):
            V_bar = grad * (tokens * S).transpose()
            grad = V.transpose() * grad
            B_bar = tokens.transpose() * grad
            if attention == "softmax":
                B_bar = _ball_softmax_back(S, B_bar)
            k_bar, q_bar = q * B_bar.transpose(), k * B_bar
            parts[:0] = [q_bar * tokens.transpose(), k_bar * tokens.transpose(), V_bar]
            grad = grad * S.transpose() + K.transpose() * k_bar + Q.transpose() * q_bar
        entries = [entry for part in parts for entry in part.entries()]
        rows.append([entry for entry, is_free in zip(entries, free, strict=True) if is_free])
    return flint.arb_mat(rows)


def _ball_softmax(z: "arb_mat") -> "arb_mat":
    """Column by column: exp(z_ji) / Σ_k exp(z_ki)."""
    import flint

    t = z.nrows()
    e = [[z[j, i].exp() for i in range(t)] for j in range(t)]
    sums = [sum((e[j][i] for j in range(t)), flint.arb(0)) for i in range(t)]
    return flint.arb_mat([[e[j][i] / sums[i] for i in range(t)] for j in range(t)])


def _ball_softmax_back(S: "arb_mat", B_bar: "arb_mat") -> "arb_mat":
    """The softmax's derivative, applied from the left."""
    import flint

    t = S.nrows()
    mean = [sum((S[k, i] * B_bar[k, i] for k in range(t)), flint.arb(0)) for i in range(t)]
    return flint.arb_mat([[S[j, i] * (B_bar[j, i] - mean[i]) for i in range(t)] for j in range(t)])


def proved_invertible(B: "arb_mat", n: int) -> bool:
    """‖1 − R B‖_∞ < 1 with an approximate inverse R, and certainly so."""
    import flint

    middle = flint.arb_mat(n, n, [entry.mid() for entry in B.entries()])
    try:
        R = middle.inv()
    except ZeroDivisionError:
        return False
    R = flint.arb_mat(n, n, [entry.mid() for entry in R.entries()])
    rest = flint.arb_mat(n, n, [int(i == j) for i in range(n) for j in range(n)]) - R * B
    one = flint.arb(1)
    sums = (sum((abs(rest[i, j]) for j in range(n)), flint.arb(0)) for i in range(n))
    return all(bool(total < one) for total in sums)


def ball_tangents(attention: str, weights: Weights, free: list[Place], x: np.ndarray) -> "Iterator[arb_mat]":
    """For each free entry, how the output of one input moves; the derivative, forward."""
    import flint

    layers = [tuple(_ball(matrix) for matrix in layer) for layer in weights]
    path, tokens = [], _ball(x)
    for Q, K, V in layers:
        z = (K * tokens).transpose() * (Q * tokens)
        S = _ball_softmax(z) if attention == "softmax" else z
        path.append((tokens, S))
        tokens = V * (tokens * S)
    for i, m, row, column in free:
        moved = None
        for at in range(i, len(layers)):
            Q, K, V = layers[at]
            tokens, S = path[at]
            A = K.transpose() * Q
            if at == i:
                E = flint.arb_mat(*weights[i][m].shape)
                E[row, column] = 1
                dA = (K.transpose() * E, E.transpose() * Q)[m] if m < 2 else None
                dz = tokens.transpose() * dA * tokens if m < 2 else None
                out = E * (tokens * S) if m == 2 else None
            else:
                dz = moved.transpose() * A * tokens + tokens.transpose() * A * moved
                out = V * (moved * S)
            if dz is not None:
                dS = _ball_softmax_forward(S, dz) if attention == "softmax" else dz
                more = V * (tokens * dS)
                out = more if out is None else out + more
            moved = out
        yield moved


def _ball_softmax_forward(S: "arb_mat", dz: "arb_mat") -> "arb_mat":
    """The softmax's derivative, applied from the right."""
    import flint

    t = S.nrows()
    mean = [sum((S[k, i] * dz[k, i] for k in range(t)), flint.arb(0)) for i in range(t)]
    return flint.arb_mat([[S[j, i] * (dz[j, i] - mean[i]) for i in range(t)] for j in range(t)])
