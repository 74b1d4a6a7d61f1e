"""Networks in ball arithmetic: every number is an interval that is guaranteed to hold
the true one.

The derivative of a network at exact weights, backward (for finding a proof) and forward
(for checking it), as matrices of python-flint's balls; and the criterion that proves a
matrix of balls invertible. beyond/docs/certificates.md: "Ball arithmetic". The
precision is python-flint's, `flint.ctx.prec`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import NamedTuple, Self

# import this module late: flint would take a quarter of neuroviz's import time
import flint
import numpy as np
from flint import arb, arb_mat

from neuroviz.attention.layers import by_layer
from neuroviz.rank.network import Weights
from neuroviz_beyond.certificate.verify import Place

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


def _ball(matrix: np.ndarray) -> arb_mat:
    """A matrix of exact balls."""
    return arb_mat(matrix.tolist())


class _LayerOfBalls(NamedTuple):
    """The weights of a layer as exact balls."""

    Q: arb_mat
    K: arb_mat
    V: arb_mat

    @classmethod
    def of(cls, layer: dict[str, np.ndarray]) -> Self:
        return cls(_ball(layer["Q"]), _ball(layer["K"]), _ball(layer["V"]))

    def logits(self, tokens: arb_mat) -> arb_mat:
        """Xᵀ A X."""
        return (self.K * tokens).transpose() * (self.Q * tokens)


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
        attention, weights, X: as in `transformers.evaluate.jacobian`; floats, taken
            as exact.
        free: True for each parameter, in the order of `flatten`, that has a column.
        functionals: for each input one functional of its output, shape (N, d_l, t).
        pause: called before each input with its number; what it raises ends the work.
    """
    layers = [_LayerOfBalls.of(layer) for layer in by_layer(weights)]
    rows = []
    for number, (tokens, functional) in enumerate(zip(X, functionals, strict=True)):
        pause(number)
        gradient = _gradient(attention, layers, _ball(tokens), _ball(functional))
        of_free = [e for e, is_free in zip(gradient, free, strict=True) if is_free]
        rows.append(of_free)
    return arb_mat(rows)


def _gradient(
    attention: str, layers: list[_LayerOfBalls], tokens: arb_mat, functional: arb_mat
) -> list[arb]:
    """How a functional of the outputs moves with each parameter, in the order of
    `flatten`.

    Backward through a layer Y = V X S, where S comes from the logits B = kᵀ q with k =
    K X and q = Q X; a bar stands for the gradient:

        V̄ = Ȳ (X S)ᵀ,   S̄ = Xᵀ Vᵀ Ȳ,   q̄ = k B̄,   k̄ = q B̄ᵀ
        Q̄ = q̄ Xᵀ,   K̄ = k̄ Xᵀ,   B̄ from S̄ by `_attend_moved`
        X̄ = Vᵀ Ȳ Sᵀ + Kᵀ k̄ + Qᵀ q̄

    Args:
        tokens: X of the first layer, d₀ × t.
        functional: Ȳ of the last layer, d_l × t.
    """
    traces = []
    for layer in layers:
        q = layer.Q * tokens
        k = layer.K * tokens
        S = _attend(attention, k.transpose() * q)
        traces.append((tokens, q, k, S))
        tokens = layer.V * (tokens * S)
    grad = functional
    entries = []
    for layer, (tokens, q, k, S) in zip(
        reversed(layers), reversed(traces), strict=True
    ):
        V_bar = grad * (tokens * S).transpose()
        # From here on Vᵀ Ȳ.
        grad = layer.V.transpose() * grad
        B_bar = _attend_moved(attention, S, tokens.transpose() * grad)
        q_bar = k * B_bar
        k_bar = q * B_bar.transpose()
        Q_bar = q_bar * tokens.transpose()
        K_bar = k_bar * tokens.transpose()
        entries = [*Q_bar.entries(), *K_bar.entries(), *V_bar.entries(), *entries]
        grad = (
            grad * S.transpose()
            + layer.K.transpose() * k_bar
            + layer.Q.transpose() * q_bar
        )
    return entries


def _attend(attention: str, z: arb_mat) -> arb_mat:
    """The logits, or column by column their softmax: exp(z_ji) / Σ_k exp(z_ki)."""
    if attention == "lightning":
        return z
    # Exponents of balls have no bound, so no largest logit is subtracted.
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
    # As many steps as may help: each takes away _BITS_A_STEP bits or more.
    for _ in range(2 + flint.ctx.prec // _BITS_A_STEP):
        product = _product(R, B, pause)
        if all(sum(map(abs, row)) < 1 for row in (product - 1).tolist()):
            return True
        # Rows are near 1 in size: a ball this wide says nothing, and needs more bits.
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
        # The proof holds for any R, so its midpoints do.
        R = _product(_ball(step), R, pause).mid()
    return False


def _exponent(entry: flint.arb) -> int:
    """About log₂ of the midpoint; a very small number for 0."""
    mantissa, exponent = entry.mid().man_exp()
    return int(mantissa).bit_length() + int(exponent) if mantissa else -(10**6)


def _product(R: arb_mat, B: arb_mat, pause: Callable[[], None]) -> arb_mat:
    """R B, some rows at a time."""
    rows = R.tolist()
    found = []
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        pause()
        found += (arb_mat(rows[start : start + _ROWS_AT_ONCE]) * B).tolist()
    return arb_mat(found)


def ball_tangents(
    attention: str, weights: Weights, free: list[Place], x: np.ndarray
) -> arb_mat:
    """How the output of one input moves along each free entry: the derivative, forward.

    Layer by layer: what earlier entries have moved goes through the derivative of the
    layer in its tokens, and the layer's own entries begin to move,

        Ẏ = V̇ X S + V (Ẋ S + X Ṡ),   Ṡ from ż = Ẋᵀ A X + Xᵀ A Ẋ, or the part of Q̇ or
                                      K̇ in it.

    The free entries go layer by layer.

    Returns:
        A row for each free entry; a column for each entry of the output, row by row.
    """
    tokens = _ball(x)
    moved = []
    for i, layer in enumerate(by_layer(weights), start=1):
        matrices = _LayerOfBalls.of(layer)
        if moved:
            through = _through_layer(attention, matrices, tokens)
            moved = (arb_mat(moved) * arb_mat(through)).tolist()
        own = [place for place in free if place.name.startswith(f"{i}.")]
        moved += _own_entries(attention, matrices, tokens, own)
        S = _attend(attention, matrices.logits(tokens))
        tokens = matrices.V * (tokens * S)
    return arb_mat(moved)


def _through_layer(
    attention: str, layer: _LayerOfBalls, tokens: arb_mat
) -> list[list[arb]]:
    """How the outputs of a layer move with each entry of its tokens."""
    rows = tokens.nrows()
    t = tokens.ncols()
    S = _attend(attention, layer.logits(tokens))
    VX = layer.V * tokens
    AX = layer.K.transpose() * (layer.Q * tokens)
    XA = (layer.K * tokens).transpose() * layer.Q
    found = []
    for row, column in np.ndindex(rows, t):
        dX = arb_mat(rows, t)
        dX[row, column] = 1
        # ż = Ẋᵀ A X + Xᵀ A Ẋ: a row of A X in row `column`, and a column of Xᵀ A in
        # column `column`.
        dz = arb_mat(t, t)
        for j in range(t):
            dz[column, j] += AX[row, j]
            dz[j, column] += XA[j, row]
        out = layer.V * (dX * S) + VX * _attend_moved(attention, S, dz)
        found.append(out.entries())
    return found


def _own_entries(
    attention: str, layer: _LayerOfBalls, tokens: arb_mat, places: list[Place]
) -> list[list[arb]]:
    """How the outputs of a layer move with entries of its own weights."""
    t = range(tokens.ncols())
    q = layer.Q * tokens
    k = layer.K * tokens
    S = _attend(attention, k.transpose() * q)
    XS = tokens * S
    VX = layer.V * tokens
    found = []
    for name, row, column in places:
        if name.endswith(".V"):
            # Ẏ = V̇ (X S): row `column` of X S stands in row `row`.
            out = arb_mat(layer.V.nrows(), len(t))
            for j in t:
                out[row, j] = XS[column, j]
        elif name.endswith(".Q"):
            # ż = kᵀ Q̇ X
            dz = arb_mat([[k[row, j] * tokens[column, i] for i in t] for j in t])
            out = VX * _attend_moved(attention, S, dz)
        else:
            # ż = (K̇ X)ᵀ q
            dz = arb_mat([[tokens[column, j] * q[row, i] for i in t] for j in t])
            out = VX * _attend_moved(attention, S, dz)
        found.append(out.entries())
    return found
