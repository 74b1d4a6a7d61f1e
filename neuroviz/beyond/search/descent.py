"""Damped least squares from one network towards the function of another.

The squared difference of the outputs is brought down by Levenberg–Marquardt (MINPACK, through scipy) with
the exact Jacobian, in the coordinates of a `Chart` that is centred anew every few steps. The last V, in
which the outputs are linear, can be eliminated: it is then always the best one (variable projection).
"""

from typing import NamedTuple

import numpy as np

from neuroviz.beyond.search.local_coordinates import Chart, chart_at
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Weights, forward, jacobian

_STEPS, _ROUNDS = 15, 8  # evaluations in one chart, and charts
_POLISH_STEPS = 40
_FLAT = 1e-13  # singular values of Z below this share of the largest are rounding
_NO_STEP = 1e3  # a relative misfit that no step is taken to


class Descent(NamedTuple):
    """Where a descent ended.

    Attributes:
        weights: there, of the narrow architecture.
        misfit: ‖φ′ − φ‖ / ‖φ‖ on the inputs that were used.
    """

    weights: Weights
    misfit: float


class Misfit:
    """(φ′ − φ) / ‖φ‖ on some inputs, and its derivative in the coordinates of a chart.

    Args:
        attention: "lightning" or "softmax".
        X: inputs, shape (N, d₀, t).
        Y: the outputs that are wanted, shape (N, d_l, t); not all zero.
        eliminate: whether V_l is the best one for everything else. With Z for the outputs of the
            network at V_l = 1, side by side as columns, V_l = Y Z⁺, and what remains is Y (1 − Z⁺Z).
    """

    def __init__(self, attention: str, X: np.ndarray, Y: np.ndarray, eliminate: bool) -> None:
        self.attention, self.X, self.eliminate = attention, X, eliminate
        self.Y = _side_by_side(Y) / np.linalg.norm(Y)
        self._size = np.linalg.norm(Y)

    def value(self, chart: Chart, coordinates: np.ndarray) -> np.ndarray:
        """The misfit as one vector."""
        weights = chart.weights(coordinates)
        if not self.eliminate:
            apart = _side_by_side(self._forward(weights)) / self._size - self.Y
            # A step into overflow is no step.
            return (apart if np.isfinite(apart).all() else np.full(self.Y.shape, _NO_STEP)).ravel()
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
        body = _with_last(weights, np.eye(weights[-1].V.shape[1]))
        # V_l stands last among the parameters, and does not move.
        J = self._jacobian(body)[..., : -body[-1].V.size] @ chart.directions[: -weights[-1].V.size]
        dZ = _moved_aside(J, (len(pseudo_inverse.T), self.Y.shape[1]))
        # R = Y (1 − P), P = Z⁺Z:  dR = −V dZ (1 − P) − R dZᵀ (Z⁺)ᵀ with V = Y Z⁺.
        V, R = self.Y @ pseudo_inverse, self.Y - (self.Y @ rows.T) @ rows
        first = np.tensordot(V, dZ, 1)
        first -= np.matmul(rows.T, np.matmul(rows, first))
        second = np.matmul(pseudo_inverse, np.tensordot(R, dZ.transpose(1, 0, 2), 1))
        return -(first + second).reshape(self.Y.size, -1)

    def with_best_last(self, weights: Weights) -> Weights:
        """The network with the best V_l."""
        pseudo_inverse, _ = self._features(weights)
        return _with_last(weights, self._size * self.Y @ pseudo_inverse)

    def _features(self, weights: Weights) -> tuple[np.ndarray, np.ndarray | None]:
        """Z⁺, and an orthonormal basis of the rows of Z; None after an overflow."""
        Z = _side_by_side(self._forward(_with_last(weights, np.eye(weights[-1].V.shape[1]))))
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


def descend(arch: Architecture, weights: Weights, misfit: Misfit) -> Descent:
    """Go down from a network until nothing more is won, through charts centred on the way.

    Args:
        arch: of the weights; narrow, as `chart_at` needs it.
        weights: where to start.
        misfit: what to bring down.
    """
    for _ in range(_ROUNDS):
        chart = chart_at(arch, weights, free_last=not misfit.eliminate)
        found = _least_squares(misfit, chart, 1e-6, 1e-8, _STEPS)
        weights = chart.weights(found.x)
        if found.status != 0:  # 0: the steps of this chart are used up
            break
    if misfit.eliminate:
        weights = misfit.with_best_last(weights)
    return Descent(weights, float(np.linalg.norm(found.fun)))


def polish(arch: Architecture, weights: Weights, misfit: Misfit) -> Descent:
    """The same from near a solution, in one chart, as far down as rounding allows."""
    chart = chart_at(arch, weights)
    found = _least_squares(misfit, chart, 1e-12, 1e-14, _POLISH_STEPS)
    return Descent(chart.weights(found.x), float(np.linalg.norm(found.fun)))


def _least_squares(misfit: Misfit, chart: Chart, ftol: float, xtol: float, steps: int) -> object:
    from scipy.optimize import least_squares  # here: it takes longer than importing the package

    return least_squares(
        lambda p: misfit.value(chart, p),
        np.zeros(chart.size),
        jac=lambda p: misfit.derivative(chart, p),
        method="lm",
        ftol=ftol,
        xtol=xtol,
        gtol=1e-15,
        x_scale="jac" if misfit.attention == "lightning" else 1.0,
        max_nfev=steps,
    )


def _with_last(weights: Weights, V: np.ndarray) -> Weights:
    return (*weights[:-1], weights[-1]._replace(V=V))


def _side_by_side(outputs: np.ndarray) -> np.ndarray:
    """(N, d, t) → (d, N·t): all output tokens as columns."""
    return outputs.transpose(1, 0, 2).reshape(outputs.shape[1], -1)


def _moved_aside(J: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """(N, d·t, n) → (d, N·t, n), in the order of `_side_by_side`."""
    d, columns = shape
    return J.reshape(len(J), d, -1, J.shape[-1]).transpose(1, 0, 2, 3).reshape(d, columns, -1)
