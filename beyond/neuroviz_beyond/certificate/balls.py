"""Networks in ball arithmetic: every number is an interval that is guaranteed to hold
the true one.

The derivative of a network at exact weights, backward (for finding a proof) and forward
(for checking it), as matrices of python-flint's balls; and the criterion that proves a
matrix of balls invertible. beyond/docs/certificates.md: "Ball arithmetic". The
precision is python-flint's, `flint.ctx.prec`.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from threading import RLock

# import this module late: flint would take a quarter of neuroviz's import time
import flint
import numpy as np
from flint import arb_mat

from neuroviz_beyond.transformers.layers import Weights

# rows of a product in one call: python-flint ignores Ctrl-C within a call
_ROWS_AT_ONCE = 64
_BITS_A_STEP = 10  # bits that one float inverse gains at least; often 50
_ONE_AT_A_TIME = RLock()  # python-flint has one precision for all threads


@contextmanager
def precision(bits: int) -> Iterator[None]:
    """Within the block balls have so many bits. Another thread's block waits until this
    one ends.

    >>> with precision(100):
    ...     flint.ctx.prec
    100
    """
    with _ONE_AT_A_TIME, flint.ctx.workprec(bits):
        yield


def _balls(matrices: Iterable[np.ndarray]) -> list[arb_mat]:
    """Matrices of exact balls."""
    return [arb_mat(matrix.tolist()) for matrix in matrices]


def ball_jacobian(
    attention: str,
    weights: Weights,
    free: np.ndarray,
    X: np.ndarray,
    functionals: np.ndarray,
    pause: Callable[[int], None] = lambda _: None,
) -> arb_mat:
    """The derivative of one functional of the output for each input, backward: a matrix
    of balls.

    Args:
        attention, weights, X: as in `transformers.layers.jacobian`; floats, taken
            as exact.
        free: True for each parameter, in the order of `flatten`, that has a column.
        functionals: for each input one functional of its output, shape (N, d_l, t).
        pause: called before each input with its number; what it raises ends the work.
    """
    layers, rows = [_balls(layer) for layer in weights], []
    for number, (tokens, grad) in enumerate(
        zip(_balls(X), _balls(functionals), strict=True)
    ):
        pause(number)
        traces, parts = [], []
        for Q, K, V in layers:
            q, k = Q * tokens, K * tokens
            S = _attend(attention, k.transpose() * q)
            traces.append((tokens, q, k, S))
            tokens = V * (tokens * S)
        for (Q, K, V), (tokens, q, k, S) in zip(
            reversed(layers), reversed(traces), strict=True
        ):
            V_bar = grad * (tokens * S).transpose()
            grad = V.transpose() * grad
            B_bar = _attend_moved(attention, S, tokens.transpose() * grad)
            k_bar, q_bar = q * B_bar.transpose(), k * B_bar
            parts[:0] = [q_bar * tokens.transpose(), k_bar * tokens.transpose(), V_bar]
            grad = grad * S.transpose() + K.transpose() * k_bar + Q.transpose() * q_bar
        entries = [entry for part in parts for entry in part.entries()]
        rows.append(
            [entry for entry, is_free in zip(entries, free, strict=True) if is_free]
        )
    return arb_mat(rows)


def _attend(attention: str, z: arb_mat) -> arb_mat:
    """The logits, or column by column their softmax: exp(z_ji) / Σ_k exp(z_ki)."""
    if attention == "lightning":
        return z
    e = [[entry.exp() for entry in row] for row in z.tolist()]
    sums = [sum(column) for column in zip(*e, strict=True)]
    return arb_mat(
        [[entry / total for entry, total in zip(row, sums, strict=True)] for row in e]
    )


def _attend_moved(attention: str, S: arb_mat, z: arb_mat) -> arb_mat:
    """z, or S_ji (z_ji − Σ_k S_ki z_ki): symmetric, so the same forward and
    backward."""
    if attention == "lightning":
        return z
    t = range(S.nrows())
    mean = [sum(S[k, i] * z[k, i] for k in t) for i in t]
    return arb_mat([[S[j, i] * (z[j, i] - mean[i]) for i in t] for j in t])


def proved_invertible(B: arb_mat, pause: Callable[[], None] = lambda: None) -> bool:
    """‖1 − R B‖_∞ < 1 with an approximate inverse R, and certainly so. False proves
    nothing.

    R grows step by step: the midpoints of R B are inverted in floating point, and R is
    multiplied by that from the left. Each step takes away 10 to 50 bits of what makes B
    hard to invert, until the balls are too wide.

    Args:
        B: a square matrix of balls.
        pause: called between short pieces of work; what it raises ends the work.
    """
    n = B.nrows()
    if not all(entry.is_finite() for entry in B.entries()):
        return False
    # Powers of two, which round nothing, bring the rows near 1, where floats hold them.
    R = arb_mat(n, n)
    for i, row in enumerate(B.tolist()):
        R[i, i] = flint.arb(2) ** -max(map(_exponent, row))
    for _ in range(2 + flint.ctx.prec // _BITS_A_STEP):
        product = _product(R, B, pause)
        if all(sum(map(abs, row)) < 1 for row in (product - 1).tolist()):
            return True
        if any(not float(entry.rad()) < 1 for entry in product.entries()):
            return False
        middle = np.array([float(entry.mid()) for entry in product.entries()]).reshape(
            n, n
        )
        pause()
        try:
            step = np.linalg.inv(middle)
        except np.linalg.LinAlgError:
            return False
        if not np.isfinite(step).all():
            return False
        R = _product(*_balls([step]), R, pause).mid()
    return False


def _exponent(entry: flint.arb) -> int:
    """About log₂ of the midpoint; a very small number for 0."""
    mantissa, exponent = entry.mid().man_exp()
    return int(mantissa).bit_length() + int(exponent) if mantissa else -(10**6)


def _product(R: arb_mat, B: arb_mat, pause: Callable[[], None]) -> arb_mat:
    """R B, some rows at a time."""
    rows, found = R.tolist(), []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        pause()
        found += (arb_mat(rows[start : start + _ROWS_AT_ONCE]) * B).tolist()
    return arb_mat(found)


def ball_tangents(
    attention: str,
    weights: Weights,
    free: list[tuple[int, int, int, int]],
    x: np.ndarray,
) -> arb_mat:
    """How the output of one input moves along each free entry: the derivative, forward.

    Layer by layer: what earlier entries have moved goes through the derivative of the
    layer in its tokens, and the layer's own entries begin to move,

        Ẏ = V̇ X S + V (Ẋ S + X Ṡ),   Ṡ from ż = Ẋᵀ A X + Xᵀ A Ẋ, or the part of Q̇ or
                                      K̇ in it.

    A free entry is (layer, 0 for Q, 1 for K or 2 for V, row, column); they go layer by
    layer.

    Returns:
        A row for each free entry; a column for each entry of the output, row by row.
    """
    (tokens,), moved = _balls([x]), []
    t = range(tokens.ncols())
    for i, layer in enumerate(weights):
        Q, K, V = _balls(layer)
        q, k = Q * tokens, K * tokens
        S = _attend(attention, k.transpose() * q)
        XS, VX, columns = tokens * S, V * tokens, []
        if moved:
            AX, XA, through = K.transpose() * q, k.transpose() * Q, []
            for row, column in np.ndindex(tokens.nrows(), len(t)):
                E, dz = arb_mat(tokens.nrows(), len(t)), arb_mat(len(t), len(t))
                E[row, column] = 1
                for j in t:
                    dz[column, j] += AX[row, j]
                    dz[j, column] += XA[j, row]
                through.append(
                    (V * (E * S) + VX * _attend_moved(attention, S, dz)).entries()
                )
            columns = (arb_mat(moved) * arb_mat(through)).tolist()
        for m, row, column in (place[1:] for place in free if place[0] == i):
            if m == 2:
                out = arb_mat(V.nrows(), len(t))
                for j in t:
                    out[row, j] = XS[column, j]
            else:  # ż_ji = k_j Q̇ x_i, or K̇ x_j q_i
                left = [k[row, j] if m == 0 else tokens[column, j] for j in t]
                right = [tokens[column, j] if m == 0 else q[row, j] for j in t]
                dz = arb_mat([[at * by for by in right] for at in left])
                out = VX * _attend_moved(attention, S, dz)
            columns.append(out.entries())
        tokens, moved = V * XS, columns
    return arb_mat(moved)
