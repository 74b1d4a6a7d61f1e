"""One softmax layer on its way to the lightning limit, τ → ∞ or A → 0 ("Small weights").

It comes near the mean of the Vx, and what is left near a lightning layer on centred tokens, divided by τ.
"""

from dataclasses import dataclass

import numpy as np

from neuroviz.softmax.one_layer import softmax_layer

_LOGS = tuple(k / 4 for k in range(-8, 17))  # log₁₀ of the temperatures on the way to the limit
_ROUNDING = 1e-12  # smaller gaps tell of rounding, not of the limit
_SLOPE_POINTS = 5  # slopes are taken at the last temperatures, a factor of 10 in τ, with larger gaps
_RESCALE = 2.0


@dataclass(frozen=True)
class LimitPoint:
    """One temperature on the way to the limit; gaps are Frobenius norms relative to that of the mean.

    Attributes:
        temperature: τ.
        mean_gap: of φ less the mean VX11ᵀ/t.
        first_gap: of φ less the mean and the first-order term.
        rescaled_gap: of φ at (2A, V/2) against φ.
    """

    temperature: float
    mean_gap: float
    first_gap: float
    rescaled_gap: float


@dataclass(frozen=True)
class LimitStudy:
    """A layer at many temperatures.

    Attributes:
        path: one point for each temperature, ascending.
        mean_slope, first_slope: the power of 1/τ with which the gaps fall; None where all is rounding.
    """

    path: tuple[LimitPoint, ...]
    mean_slope: float | None
    first_slope: float | None


def first_order(
    A: np.ndarray, V: np.ndarray, X: np.ndarray, temperature: float
) -> tuple[np.ndarray, np.ndarray]:
    """The mean VX11ᵀ/t and the first-order term (1/tτ) V X C XᵀA X, C = 1 − 11ᵀ/t ("Small weights").

    The second is a lightning layer whose keys and values see centred tokens XC.

    >>> first_order(np.eye(1), np.eye(1), np.array([[1.0, 3.0]]), 1.0)
    (array([[2., 2.]]), array([[1., 3.]]))
    """
    t = X.shape[-1]
    C = np.eye(t) - 1 / t
    return V @ X @ np.full((t, t), 1 / t), V @ X @ C @ X.T @ A @ X / (t * temperature)


def limit_study(A: np.ndarray, V: np.ndarray, X: np.ndarray) -> LimitStudy:
    """How a softmax layer comes near the mean, and a centred lightning layer, as τ grows.

    Args:
        A, V: the weights.
        X: tokens, (d, t).

    >>> rng = np.random.default_rng(0)
    >>> limit = limit_study(rng.normal(size=(2, 2)), rng.normal(size=(2, 2)), rng.normal(size=(2, 3)))
    >>> round(limit.mean_slope, 1), round(limit.first_slope, 1)
    (1.0, 2.0)
    """
    path = tuple(_limit_point(A, V, X, 10.0**log) for log in _LOGS)
    return LimitStudy(
        path,
        _slope([(p.temperature, p.mean_gap) for p in path]),
        _slope([(p.temperature, p.first_gap) for p in path]),
    )


def _limit_point(A: np.ndarray, V: np.ndarray, X: np.ndarray, temperature: float) -> LimitPoint:
    Y = softmax_layer(A, V, temperature)(X[None])[0]
    rescaled = softmax_layer(_RESCALE * A, V / _RESCALE, temperature)(X[None])[0]
    mean, first = first_order(A, V, X, temperature)
    size = np.linalg.norm(mean) or 1.0
    gaps = [float(np.linalg.norm(gap) / size) for gap in (Y - mean, Y - mean - first, rescaled - Y)]
    return LimitPoint(temperature, *gaps)


def _slope(points: list[tuple[float, float]]) -> float | None:
    """The power of 1/τ with which gaps fall, by least squares; None where rounding is all there is."""
    kept = [(temperature, gap) for temperature, gap in points if gap > _ROUNDING][-_SLOPE_POINTS:]
    if len(kept) < _SLOPE_POINTS:
        return None
    temperatures, gaps = np.log(np.array(kept)).T
    return float(-np.polyfit(temperatures, gaps, 1)[0])
