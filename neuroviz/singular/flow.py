"""Gradient flow of one lightning layer in function space: where training ends.

A layer is the table of the quadratic forms q_km = l_k · v_m, with l_k the columns of A
and v_m the rows of V (Prop. A.5), and the loss is half the squared distance to a target
table:

    loss = ½ Σ_km ‖sym(l_k v_mᵀ) − T_km‖²,      (Ȧ, V̇) = −∇ loss

The norm of a symmetric matrix is the Bombieri norm of its form: aX² + bXY + cY² has a²
+ b²/2 + c². Many starts flow at once, in one system, by Runge–Kutta steps of order 5
whose length a pair of orders chooses (Dormand and Prince 1980); scipy has a quicker
solver, and is not part of a plain installation.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from neuroviz.attention.layer import product_table
from neuroviz.rank.checks import whole_number

SINGULAR_BELOW = 1e-3
"""A run has ended at a singular point when σ₂/σ₁ is below this, for A and for V (Thm.
3.4)."""
BOUNDARY_BELOW = 1e-2
"""Such a run has ended at a boundary point when `Flow.angle`, the sine of an angle, is
below this."""
TARGETS = ("gaussian", "realisable", "dotted", "dotted, noisy")
_NOISE = 0.05
# Dormand and Prince (1980): a row says how far the slopes so far carry, in steps. The
# last row is the solution of order 5; the slope at its end is the first one of the next
# step.
_STAGES = tuple(
    np.array(row)
    for row in (
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
)
# The solution of order 5 less the one of order 4, which uses all seven slopes: an
# estimate of the error.
_ORDERS_APART = np.array(
    [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]
)


@dataclass(frozen=True)
class Flow:
    """N runs of gradient flow, seen at S times.

    Attributes:
        times: shape (S,), from 0 on.
        target: the tables T, shape (N, d, d′, d, d).
        A: attention matrices, shape (S, N, d, d).
        V: values, shape (S, N, d′, d).
        loss: shape (S, N).
    """

    times: np.ndarray = field(compare=False)
    target: np.ndarray = field(compare=False)
    A: np.ndarray = field(compare=False)
    V: np.ndarray = field(compare=False)
    loss: np.ndarray = field(compare=False)

    @cached_property
    def ratio(self) -> np.ndarray:
        """σ₂/σ₁ of A or of V at the end, whichever is larger; 0 is a singular point.
        Shape (N,)."""
        return np.maximum(_ratio(self.A[-1]), _ratio(self.V[-1]))

    @cached_property
    def angle(self) -> np.ndarray:
        """Sine of the angle between the form of the keys and that of the values at the
        end, shape (N,).

        The leading left singular vector of A against the leading right one of V: at a
        singular point A = u kᵀ, V = h vᵀ these are u and v, and u = v is the boundary
        (Thm. 3.4).
        """
        u = np.linalg.svd(self.A[-1])[0][:, :, 0]
        v = np.linalg.svd(self.V[-1])[2][:, 0, :]
        # The length of u beside v: a cosine near 1 would lose the digits of the angle.
        return np.linalg.norm(u - np.sum(u * v, axis=1, keepdims=True) * v, axis=1)

    @cached_property
    def ends(self) -> np.ndarray:
        """For each run "smooth", "singular" or "boundary": where it stands at the
        end."""
        singular = self.ratio < SINGULAR_BELOW
        return np.select(
            [singular & (self.angle < BOUNDARY_BELOW), singular],
            ["boundary", "singular"],
            "smooth",
        )


class Attraction(NamedTuple):
    """Shares of all runs: with σ₂/σ₁ < 10⁻³ at the end, at a boundary point too, and
    with σ₂/σ₁ < 0.05."""

    singular: float
    boundary: float
    near: float


def gradient_flow(
    target: np.ndarray,
    A: np.ndarray,
    V: np.ndarray,
    times: Sequence[float],
    rtol: float = 1e-6,
) -> Flow:
    """Follow (Ȧ, V̇) = −∇ loss from N starts.

    Args:
        target: tables T, shape (N, d, d′, d, d) or one for all, (d, d′, d, d);
            symmetric in the last two.
        A: starts of shape (N, d, d).
        V: starts of shape (N, d′, d).
        times: when to look, increasing from 0; for gradient descent a time is the step
            size times the number of steps.
        rtol: relative tolerance of a step; the absolute one is a hundredth of it.

    Raises:
        ValueError: if shapes do not fit, or times do not increase from 0.

    >>> rng = np.random.default_rng(0)
    >>> A, V = rng.standard_normal((5, 2, 2)), rng.standard_normal((5, 1, 2))
    >>> flow = gradient_flow(product_table(A, V), A + 0.1, V, times=(0, 20))
    >>> bool((flow.loss[-1] < flow.loss[0]).all())
    True
    """
    A = np.asarray(A, dtype=float)
    V = np.asarray(V, dtype=float)
    T, times = _checked(target, A, V, np.asarray(times, dtype=float))

    def split(z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return z[: A.size].reshape(A.shape), z[A.size :].reshape(V.shape)

    def velocity(z: np.ndarray) -> np.ndarray:
        A, V = split(z)
        # n: run, k: column of A, m: row of V. rest_km is symmetric, so Sym drops out:
        # ∂loss/∂l_k = Σ_m rest_km v_m and ∂loss/∂v_m = Σ_k rest_km l_k.
        rest = product_table(A, V) - T
        A_bar = np.einsum("nkmij,nmj->nik", rest, V)
        V_bar = np.einsum("nkmij,nik->nmj", rest, A)
        return -np.concatenate([A_bar.ravel(), V_bar.ravel()])

    start = np.concatenate([A.ravel(), V.ravel()])
    seen = [split(z) for z in _followed(velocity, start, times, rtol)]
    loss = [_squares(product_table(a, v) - T).sum(axis=(-2, -1)) / 2 for a, v in seen]
    return Flow(
        times,
        T,
        A=np.stack([a for a, _ in seen]),
        V=np.stack([v for _, v in seen]),
        loss=np.stack(loss),
    )


def _followed(
    velocity: Callable[[np.ndarray], np.ndarray],
    z: np.ndarray,
    times: np.ndarray,
    rtol: float,
) -> list[np.ndarray]:
    """The solution of ż = velocity(z) at these times."""
    v = velocity(z)
    seen = [z]
    now = 0.0
    # At first a hundredth of the time in which z would move by its own size; 1e-300 is
    # for a start at rest, and 1e-6 for one at the origin.
    h = 0.01 * min(times[-1], np.linalg.norm(z) / max(np.linalg.norm(v), 1e-300) + 1e-6)
    while len(seen) < len(times):
        left = times[len(seen)] - now
        taken = min(h, left)
        slopes = [v]
        for row in _STAGES:
            end = z + taken * (row @ slopes)
            slopes.append(velocity(end))
        allowed = rtol * (np.maximum(np.abs(z), np.abs(end)) + 0.01)
        error = float(
            np.sqrt(np.mean(np.square(taken * (_ORDERS_APART @ slopes) / allowed)))
        )
        # The error goes with the fifth power of the step: error**-0.2 would make it 1.
        # 0.9 is for safety, and steps change by a factor of 5 at most.
        if not error <= 1:  # an overflow gives NaN
            h = taken * max(0.2, 0.9 * error**-0.2) if np.isfinite(error) else taken / 5
            if h < 1e-14 * times[-1]:
                raise ValueError(
                    f"the flow stopped at time {now:.3g} of {times[-1]:.3g}: a step"
                    " would be too small"
                )
            continue
        z = end
        v = slopes[-1]
        now = now + taken
        longer = taken * min(5.0, 0.9 * max(error, 1e-10) ** -0.2)
        # A step that was cut to end at one of the times does not shorten the next one.
        h = longer if taken == h else max(h, longer)
        if taken == left:
            now = times[len(seen)]
            seen.append(z)
    return seen


def _checked(
    target: np.ndarray, A: np.ndarray, V: np.ndarray, times: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The target, one table for each start, and the times."""
    T = np.asarray(target, dtype=float)
    fits = A.ndim == V.ndim == 3 and A.shape == (len(V), V.shape[2], V.shape[2])
    if not fits:
        raise ValueError(
            "starts need shapes (N, d, d) for A and (N, d′, d) for V, with one N and"
            f" one d; got {A.shape}, {V.shape}"
        )
    runs, d_out, d = V.shape
    shape = (d, d_out, d, d)
    if T.shape not in (shape, (runs, *shape)):
        raise ValueError(
            f"the target needs shape {shape}, or {(runs, *shape)} with one for each"
            f" start; got {T.shape}"
        )
    if not np.allclose(T, T.mT):
        raise ValueError(
            "the target holds quadratic forms: make its matrices symmetric, (T + Tᵀ)/2"
        )
    if (
        times.ndim != 1
        or len(times) < 2
        or times[0] != 0
        or not (np.diff(times) > 0).all()
    ):
        raise ValueError(
            "a flow is seen at times that increase from 0, at least two of them; got"
            f" {times.tolist()}"
        )
    return np.broadcast_to(T, (runs, *shape)), times


def random_targets(kind: str, runs: int, seed: int) -> np.ndarray:
    """Targets for d = 2, d′ = 1, one for each run; shape (runs, 2, 1, 2, 2); more runs
    begin alike.

        gaussian        independent N(0, 1) in coefficients that are orthonormal for the
                        norm
        realisable      a layer with A, V of independent N(0, 1) entries
        dotted          k ⊗ M Mᵀ: no common real root, on the dotted part of the
                        singular locus
        dotted, noisy   the same, plus 0.05 times a Gaussian one

    Raises:
        ValueError: if there is no such kind of target.
    """
    if kind not in TARGETS:
        raise ValueError(
            f"target must be one of {', '.join(map(repr, TARGETS))}; got {kind!r}"
        )
    first, noise = (
        np.random.default_rng([seed, 6, n]).standard_normal((runs, 6)) for n in (0, 1)
    )
    if kind == "gaussian":
        return _gaussian(first)
    M = first[:, :4].reshape(runs, 2, 2)
    k = first[:, 4:]
    if kind == "realisable":
        return product_table(M, k[:, None])
    dotted = np.einsum("nk,nij->nkij", k, M @ M.mT)[:, :, None]
    return dotted + _NOISE * _gaussian(noise) if kind == "dotted, noisy" else dotted


def _gaussian(numbers: np.ndarray) -> np.ndarray:
    """The forms aX² + √2 bXY + cY² of N(0, 1) numbers, whose size is √(a² + b² + c²):
    (runs, 6) → (runs, 2, 1, 2, 2)."""
    a, b, c = numbers.T.reshape(3, 2, -1)
    return np.array([[a, b / np.sqrt(2)], [b / np.sqrt(2), c]]).transpose(3, 2, 0, 1)[
        :, :, None
    ]


def attraction(
    target: str, runs: int = 400, seed: int = 0, time: float = 600.0
) -> Attraction:
    """How often gradient flow from small random weights ends at singular points (d = 2,
    d′ = 1).

    Starts have independent entries of variance ¼ in (A, V). The paper asks whether
    training prefers singular points: in this toy model it does for targets on the
    dotted part, and hardly otherwise ("Gradient flow").

    Args:
        target: one of `TARGETS`; a fresh one for each run.
        runs, seed, time: how many runs, drawn from what, for how long.

    Raises:
        ValueError: if there is no such kind of target, or `runs` is not a whole number
            ≥ 1.
    """
    whole_number("runs", runs)
    targets = random_targets(target, runs, seed)
    A, V = random_starts(runs, seed)
    return count_ends(gradient_flow(targets, A, V, times=(0.0, time)))


def random_starts(runs: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts A and V for d = 2, d′ = 1 with entries of variance ¼; more runs begin
    alike."""
    # Six of ten numbers are taken: the counts of docs/mathematics/gradient_flow.md are
    # of these starts.
    numbers = np.random.default_rng([seed, 7]).standard_normal((runs, 10)) / 2
    return numbers[:, 2:6].reshape(runs, 2, 2), numbers[:, None, :2]


def count_ends(flow: Flow) -> Attraction:
    """The shares of runs that end at singular and at boundary points."""
    return Attraction(
        singular=float(np.mean(flow.ends != "smooth")),
        boundary=float(np.mean(flow.ends == "boundary")),
        near=float(np.mean(flow.ratio < 0.05)),
    )


def _squares(matrices: np.ndarray) -> np.ndarray:
    """Squared Frobenius norms: (…, m, n) → (…)."""
    return np.square(matrices).sum(axis=(-2, -1))


def _ratio(matrices: np.ndarray) -> np.ndarray:
    """σ₂/σ₁; 0 for a single row, and for the zero matrix."""
    sigma = np.linalg.svd(matrices, compute_uv=False)
    if sigma.shape[-1] == 1:
        return np.zeros(len(matrices))
    return sigma[:, 1] / np.where(sigma[:, 0] > 0, sigma[:, 0], 1.0)
