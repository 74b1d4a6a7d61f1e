"""Damped least squares from one network towards the function of another.

The squared difference of the outputs is brought down by Levenberg–Marquardt steps
within a radius of trust (Moré 1978), with the exact Jacobian, in the coordinates of a
`Chart` that is centred anew every few steps. The last V, in which the outputs are
linear, can be eliminated: it is then always the best one (variable projection).
"""

import numpy as np

from neuroviz.rank.field import Reals
from neuroviz_beyond.search.local_coordinates import Chart, chart_at
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.evaluate import Weights, forward, jacobian

_STEPS, _ROUNDS = 15, 8  # most evaluations in one chart; most charts
_POLISH_STEPS = 40
_FLAT = 1e-13  # singular values below this share of the largest are rounding
_NO_STEP = 1e3  # stands for overflow: no step goes to so large a misfit


class Misfit:
    """(φ′ − φ) / ‖φ‖ on some inputs, and its derivative in the coordinates of a chart.

    Args:
        attention: "lightning" or "softmax"; beyond the paper the architecture.
        X: inputs, shape (N, d₀, t).
        Y: the outputs that are wanted, shape (N, d_l, t); not all zero.
        eliminate: whether V_l is always the best one for the other weights. With Z for
            the outputs of the network at V_l = 1, side by side as columns, V_l = Y Z⁺,
            and what remains is Y (1 − Z⁺Z).
    """

    def __init__(
        self,
        attention: Transformer | str,
        X: np.ndarray,
        Y: np.ndarray,
        eliminate: bool,
    ) -> None:
        self.attention = attention
        self.X = X
        self.eliminate = eliminate
        self.Y = _side_by_side(Y) / np.linalg.norm(Y)
        self._size = np.linalg.norm(Y)

    def value(self, chart: Chart, coordinates: np.ndarray) -> np.ndarray:
        """The misfit as one vector."""
        weights = chart.weights(coordinates)
        if not self.eliminate:
            apart = _side_by_side(self._forward(weights)) / self._size - self.Y
            # An overflow counts as a misfit that no step goes to.
            return (
                apart if np.isfinite(apart).all() else np.full(self.Y.shape, _NO_STEP)
            ).ravel()
        _, rows = self._features(weights)
        if rows is None:
            return np.full(self.Y.size, _NO_STEP)
        return (self.Y - (self.Y @ rows.T) @ rows).ravel()

    def derivative(self, chart: Chart, coordinates: np.ndarray) -> np.ndarray:
        """Its derivative, shape (entries of the misfit, coordinates)."""
        weights = chart.weights(coordinates)
        if not self.eliminate:
            J = self._jacobian(weights) / self._size @ chart.directions
            return _moved_aside(J, self.Y.shape).reshape(self.Y.size, -1)
        pseudo_inverse, rows = self._features(weights)
        body = _without_last(weights)
        # V_l stands last among the parameters, and does not move.
        last = _last(weights)
        J = (
            self._jacobian(body)[..., : -body[last].size]
            @ chart.directions[: -weights[last].size]
        )
        dZ = _moved_aside(J, (len(pseudo_inverse.T), self.Y.shape[1]))
        # R = Y (1 − P), P = Z⁺Z:  dR = −V dZ (1 − P) − R dZᵀ (Z⁺)ᵀ with V = Y Z⁺.
        V = self.Y @ pseudo_inverse
        R = self.Y - (self.Y @ rows.T) @ rows
        first = np.tensordot(V, dZ, 1)
        first -= np.matmul(rows.T, np.matmul(rows, first))
        second = np.matmul(pseudo_inverse, np.tensordot(R, dZ.transpose(1, 0, 2), 1))
        return -(first + second).reshape(self.Y.size, -1)

    def with_best_last(self, weights: Weights) -> Weights:
        """The network with the best V_l."""
        pseudo_inverse, _ = self._features(weights)
        return {**weights, _last(weights): self._size * self.Y @ pseudo_inverse}

    def _features(self, weights: Weights) -> tuple[np.ndarray, np.ndarray | None]:
        """Z⁺, and an orthonormal basis of the rows of Z; None after an overflow."""
        Z = _side_by_side(self._forward(_without_last(weights)))
        # No step goes to such weights, so nobody reads their Z⁺.
        if not np.isfinite(Z).all():
            return Z.T, None
        U, s, rows = np.linalg.svd(Z, full_matrices=False)
        kept = s > _FLAT * s[0]
        return (rows[kept].T / s[kept]) @ U[:, kept].T, rows[kept]

    def _forward(self, weights: Weights) -> np.ndarray:
        with np.errstate(over="ignore", invalid="ignore"):
            return forward(Reals(), self.attention, weights, self.X)

    def _jacobian(self, weights: Weights) -> np.ndarray:
        return jacobian(Reals(), self.attention, weights, self.X)


def descend(
    arch: Transformer, weights: Weights, misfit: Misfit
) -> tuple[Weights, float]:
    """Go down from a network, as narrow as `chart_at` needs it, through charts centred
    on the way.

    Returns the weights where nothing more is won, and ‖φ′ − φ‖ / ‖φ‖ on the inputs of
    the misfit.
    """
    for _ in range(_ROUNDS):
        chart = chart_at(arch, weights, free_last=not misfit.eliminate)
        # Coarse tolerances: what comes near a solution is polished.
        found, left, is_done = _least_squares(misfit, chart, 1e-6, 1e-8, _STEPS)
        weights = chart.weights(found)
        if is_done:
            break
    if misfit.eliminate:
        weights = misfit.with_best_last(weights)
    return weights, left


def polish(
    arch: Transformer, weights: Weights, misfit: Misfit
) -> tuple[Weights, float]:
    """The same from near a solution, in one chart, as far down as rounding allows; V_l
    moves with the others."""
    chart = chart_at(arch, weights)
    found, left, _ = _least_squares(misfit, chart, 1e-12, 1e-14, _POLISH_STEPS)
    return chart.weights(found), left


def _least_squares(
    misfit: Misfit, chart: Chart, ftol: float, xtol: float, steps: int
) -> tuple[np.ndarray, float, bool]:
    """Descend in one chart: its last coordinates and misfit, and whether steps were
    left.

    Radius, thresholds and tests are those of MINPACK's `lmder` (Moré 1978), nearly.
    """
    p = np.zeros(chart.size)
    f = misfit.value(chart, p)
    scale = 0 * p
    radius = 100.0
    is_lower = True
    for _ in range(steps - 1):
        if is_lower:
            J = misfit.derivative(chart, p)
            size = float(np.linalg.norm(f))
            if size == 0:
                return p, size, True
            lengths = (
                np.linalg.norm(J, axis=0) if misfit.attention == "lightning" else 1.0
            )
            scale = np.maximum(scale, lengths)
            scale[scale == 0] = 1.0
            # J/scale has many more rows than columns: the Q of its QR decomposition is
            # never made, and the last column of R is Qᵀf.
            R = np.linalg.qr(np.column_stack([J / scale, f]), "r")
            U, s, rows = np.linalg.svd(R[: len(p), :-1], full_matrices=False)
            kept = s > _FLAT * s[0]
            s = s[kept]
            rows = rows[kept]
            g = U[:, kept].T @ R[: len(p), -1]
        y, damping = _within(s, g, radius)
        length = float(np.linalg.norm(y))
        step = rows.T @ y / scale
        there = misfit.value(chart, p - step)
        won = 1 - (np.linalg.norm(there) / size) ** 2
        # ‖g‖² − ‖g − s y‖², where s g = (s² + λ) y
        expected = float(np.square(s * y).sum() + 2 * damping * length**2) / size**2
        if won < expected / 4:
            radius = length * (0.5 if won >= 0 else 0.1)
        elif damping == 0 or won > 0.75 * expected:
            radius = 2 * length
        is_lower = won > 1e-4 * expected
        if is_lower:
            p, f = p - step, there
        if max(abs(won), expected) <= ftol or radius <= xtol * np.linalg.norm(
            scale * p
        ):
            return p, float(np.linalg.norm(f)), True
    return p, float(np.linalg.norm(f)), False


def _within(s: np.ndarray, g: np.ndarray, radius: float) -> tuple[np.ndarray, float]:
    """y = s g/(s² + λ) with the least λ ≥ 0 such that ‖y‖ is the radius, up to a tenth,
    or less; and λ."""
    # Newton's method for 1/‖y‖ = 1/radius, which is nearly linear in λ (Hebden, Moré).
    damping = 0.0
    y = g / s
    while (length := float(np.linalg.norm(y))) > 1.1 * radius:
        damping += (
            (length / radius - 1) * length**2 / float((y**2 / (s**2 + damping)).sum())
        )
        y = g / (s + damping / s)
    return y, damping


def _last(weights: Weights) -> str:
    """The name of V_l."""
    return list(weights)[-1]


def _without_last(weights: Weights) -> Weights:
    """The network at V_l = 1."""
    last = _last(weights)
    return {**weights, last: np.eye(weights[last].shape[1])}


def _side_by_side(outputs: np.ndarray) -> np.ndarray:
    """(N, d, t) → (d, N·t): all output tokens as columns."""
    return outputs.transpose(1, 0, 2).reshape(outputs.shape[1], -1)


def _moved_aside(J: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """(N, d·t, n) → (d, N·t, n), in the order of `_side_by_side`."""
    d, columns = shape
    return (
        J.reshape(len(J), d, -1, J.shape[-1])
        .transpose(1, 0, 2, 3)
        .reshape(d, columns, -1)
    )
