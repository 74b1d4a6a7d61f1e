"""Networks in ball arithmetic: every number is an interval that is guaranteed to hold the true one.

The derivative of a network at exact weights, backward (for finding a proof) and forward (for checking
it), as matrices of python-flint's balls; and the criterion that proves a matrix of balls invertible.
docs/mathematics.md: "Ball arithmetic". The precision is python-flint's, `flint.ctx.prec`.
"""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from neuroviz.engine.network import Weights

if TYPE_CHECKING:
    from flint import arb, arb_mat

Place = tuple[int, int, int, int]
"""A free entry: layer, matrix (0 for Q, 1 for K, 2 for V), row, column."""

_ROWS_AT_ONCE = 64  # of a product: python-flint hears no Ctrl-C inside a call, so each call is short
_BITS_A_STEP = 10  # that one inverse in floating point gains at least, even where it can hardly see; often 50


def _ball(matrix: np.ndarray) -> "arb_mat":
    """A matrix of exact balls."""
    import flint

    rows, columns = matrix.shape
    return flint.arb_mat(rows, columns, [flint.arb(float(value)) for value in matrix.ravel()])


def ball_jacobian(
    attention: str,
    weights: Weights,
    free: np.ndarray,
    X: np.ndarray,
    functionals: np.ndarray,
    pause: Callable[[int], None] = lambda _: None,
) -> "arb_mat":
    """The derivative of one functional of the output for each input, backward: a matrix of balls.

    Args:
        attention, weights, X: as in `neuroviz.engine.network.jacobian`; floats, taken as exact.
        free: True for each parameter, in the order of `flatten`, that has a column.
        functionals: for each input one functional of its output, shape (N, d_l, t).
        pause: called before each input with its number; what it raises ends the work.
    """
    import flint

    layers = [tuple(_ball(matrix) for matrix in layer) for layer in weights]
    rows = []
    for number, (x, functional) in enumerate(zip(X, functionals, strict=True)):
        pause(number)
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
                B_bar = _ball_softmax_derivative(S, B_bar)
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


def _ball_softmax_derivative(S: "arb_mat", z: "arb_mat") -> "arb_mat":
    """S_ji (z_ji − Σ_k S_ki z_ki): symmetric, so the same forward and backward."""
    import flint

    t = S.nrows()
    mean = [sum((S[k, i] * z[k, i] for k in range(t)), flint.arb(0)) for i in range(t)]
    return flint.arb_mat([[S[j, i] * (z[j, i] - mean[i]) for i in range(t)] for j in range(t)])


def proved_invertible(B: "arb_mat", pause: Callable[[], None] = lambda: None) -> bool:
    """‖1 − R B‖_∞ < 1 with an approximate inverse R, and certainly so. False proves nothing.

    R grows step by step: the midpoints of R B are inverted in floating point, and R is multiplied by that
    from the left. Each step takes away 10 to 50 bits of what makes B hard to invert, until the balls are
    too wide.

    Args:
        B: a square matrix of balls.
        pause: called between short pieces of work; what it raises ends the work.
    """
    import flint

    n = B.nrows()
    if not all(entry.is_finite() for entry in B.entries()):
        return False
    # The rows first get entries near 1, by powers of two, which round nothing: floats then hold them.
    sizes = [max(_exponent(B[i, j]) for j in range(n)) for i in range(n)]
    R = flint.arb_mat(n, n)
    for i, size in enumerate(sizes):
        R[i, i] = flint.arb(2) ** -size
    for _ in range(2 + flint.ctx.prec // _BITS_A_STEP):
        product = _product(R, B, pause)
        if all(bool(distance < 1) for distance in _distances_from_one(product)):
            return True
        if any(not float(entry.rad()) < 1 for entry in product.entries()):
            return False
        middle = np.array([float(entry.mid()) for entry in product.entries()]).reshape(n, n)
        pause()
        try:
            step = np.linalg.inv(middle)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(step).all():
            return False
        R = _product(_ball(step), R, pause)
        R = flint.arb_mat(n, n, [entry.mid() for entry in R.entries()])
    return False


def _exponent(entry: "arb") -> int:
    """About log₂ of the midpoint; a very small number for 0."""
    mantissa, exponent = entry.mid().man_exp()
    return int(mantissa).bit_length() + int(exponent) if mantissa else -(10**6)


def _product(R: "arb_mat", B: "arb_mat", pause: Callable[[], None]) -> "arb_mat":
    """R B, some rows at a time."""
    import flint

    n = R.ncols()
    entries, found = R.entries(), []
    for start in range(0, R.nrows(), _ROWS_AT_ONCE):
        pause()
        block = entries[start * n : (start + _ROWS_AT_ONCE) * n]
        found += (flint.arb_mat(len(block) // n, n, block) * B).entries()
    return flint.arb_mat(R.nrows(), B.ncols(), found)


def _distances_from_one(matrix: "arb_mat") -> "Iterator[arb]":
    """For each row of 1 − matrix the sum of absolute values."""
    import flint

    n, entries = matrix.nrows(), matrix.entries()
    for i in range(n):
        row = entries[i * n : (i + 1) * n]
        row[i] = row[i] - 1
        yield sum((abs(entry) for entry in row), flint.arb(0))


def ball_tangents(attention: str, weights: Weights, free: list[Place], x: np.ndarray) -> "arb_mat":
    """How the output of one input moves along each free entry: the derivative, forward.

    Layer by layer: what earlier entries have moved goes through the derivative of the layer in its
    tokens, and the layer's own entries begin to move,

        Ẏ = V̇ X S + V (Ẋ S + X Ṡ),   Ṡ from ż = Ẋᵀ A X + Xᵀ A Ẋ, or the part of Q̇ or K̇ in it.

    Returns:
        A row for each free entry, in the order of `free`, which goes layer by layer; a column for each
        entry of the output, row by row.
    """
    import flint

    tokens, moved = _ball(x), None
    width, t = tokens.nrows(), tokens.ncols()
    for i, layer in enumerate(weights):
        Q, K, V = (_ball(matrix) for matrix in layer)
        q, k = Q * tokens, K * tokens
        z = k.transpose() * q
        S = _ball_softmax(z) if attention == "softmax" else z
        XS, VX = tokens * S, V * tokens

        def values_of(dz: "arb_mat", S: "arb_mat" = S, VX: "arb_mat" = VX) -> "arb_mat":
            """V X Ṡ."""
            return VX * (_ball_softmax_derivative(S, dz) if attention == "softmax" else dz)

        columns = []
        if moved is not None:
            AX, XA, through = K.transpose() * q, k.transpose() * Q, []
            for row, column in np.ndindex(width, t):
                E, dz = flint.arb_mat(width, t), flint.arb_mat(t, t)
                E[row, column] = 1
                for j in range(t):
                    dz[column, j] += AX[row, j]
                    dz[j, column] += XA[j, row]
                through.append((V * (E * S) + values_of(dz)).entries())
            columns = (moved * flint.arb_mat(through)).tolist()
        for m, row, column in (place[1:] for place in free if place[0] == i):
            if m == 2:
                out = flint.arb_mat(V.nrows(), t)
                for j in range(t):
                    out[row, j] = XS[column, j]
            else:  # ż_ji = k_j Q̇ x_i, or K̇ x_j q_i
                left = [k[row, j] if m == 0 else tokens[column, j] for j in range(t)]
                right = [tokens[column, j] if m == 0 else q[row, j] for j in range(t)]
                out = values_of(flint.arb_mat([[at * by for by in right] for at in left]))
            columns.append(out.entries())
        if columns:
            moved = flint.arb_mat(columns)
        tokens, width = V * XS, V.nrows()
    return moved
