"""Walks along a fibre while the network learns: the loss stays, its gradient does not.

A one-parameter group of symmetries multiplies some matrices U of a lightning network by exp(sE), and others,
W, by exp(−sE), with E symmetric (rows or columns, whichever the group acts on):

    keys        Q → eˢ Q,          K → e⁻ˢ K
    values      Q → eˢ Q,          V → e⁻ˢ V
    basis       Q → exp(sE) Q,     K → exp(−sE) K
    interface   V₁ → exp(sE) V₁,   Q₂, K₂, V₂ → · exp(−sE)

The gradient moves the other way round, so that with the eigenvectors e_k and eigenvalues ε_k of E

    ‖∇L‖² = rest + Σ_k e^{−2 s ε_k} ‖e_kᵀ ∂_U L‖² + e^{2 s ε_k} ‖e_kᵀ ∂_W L‖²

which is convex in s: one minimum, and no maximum ("Teleportation"). To move along a symmetry to where the
gradient is larger, and then descend, is the idea of Zhao, Dehmamy, Walters and Yu, "Symmetry teleportation
for accelerated optimization" (NeurIPS 2022).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, Weights, forward, random_tokens, random_weights
from neuroviz.engine.symmetry import change_head_basis, change_interface, rescale

WALKS = ("keys", "values", "basis", "interface")
ONE_LAYER = Architecture((3, 3), (2,))
TWO_LAYERS = Architecture((3, 3, 3), (2, 2))
INPUTS = 8
_FAR = 12.0  # the minimum and the places of a given gradient are looked for at |s| up to this
_LOST = 1e6  # a loss so many times larger than at the start counts as infinite


def architecture_of(walk: str) -> Architecture:
    """The network that a walk is taken in: an interface needs two layers.

    Raises:
        ValueError: if the walk is unknown.
    """
    if walk not in WALKS:
        raise ValueError(f"a walk is one of {', '.join(map(repr, WALKS))}; got {walk!r}")
    return TWO_LAYERS if walk == "interface" else ONE_LAYER


class Problem(NamedTuple):
    """Learn what another network of the same shape does.

    Attributes:
        weights: the start.
        X, Y: inputs (n, d₀, t), and what the teacher makes of them, (n, d_l, t).
        generator: E, symmetric; (1, 1) for the walk "values".
    """

    weights: Weights
    X: np.ndarray
    Y: np.ndarray
    generator: np.ndarray


def draw_problem(walk: str, seed: int) -> Problem:
    """A start, data, and a direction to walk in; E has spectral norm 1.

    Raises:
        ValueError: if the walk is unknown.
    """
    arch = architecture_of(walk)
    rng = np.random.default_rng([seed, arch.num_layers])
    X = random_tokens(Reals(), arch, INPUTS, rng) / np.sqrt(arch.widths[0])
    teacher, start = _network(arch, X, rng), _network(arch, X, rng)
    if walk in ("keys", "values"):
        E = np.eye(1 if walk == "values" else arch.head_dims[0])
    else:
        E = rng.standard_normal((arch.head_dims[0],) * 2 if walk == "basis" else (arch.widths[1],) * 2)
        E = E + E.T
        E -= np.trace(E) / len(E) * np.eye(len(E))
        E /= np.linalg.norm(E, 2)
    return Problem(start, X, forward(Reals(), "lightning", teacher, X), E)


def _network(arch: Architecture, X: np.ndarray, rng: np.random.Generator) -> Weights:
    """Gaussian weights, A with entries of size 1, and V_i such that each layer's outputs have size 1."""
    layers = []
    for Q, K, V in random_weights(Reals(), arch, rng):
        layer = Layer(Q / len(Q) ** 0.25, K / len(K) ** 0.25, V)
        X = forward(Reals(), "lightning", (layer,), X)
        size = np.sqrt((X**2).sum(axis=1).mean())
        layers.append(layer._replace(V=V / size))
        X = X / size
    return tuple(layers)


def move(walk: str, weights: Weights, E: np.ndarray, s: float) -> Weights:
    """The weights after a walk of length s along the fibre: the same function.

    >>> start, X, Y, E = draw_problem("interface", seed=0)
    >>> there = move("interface", start, E, 1.5)
    >>> bool(np.allclose(forward(Reals(), "lightning", there, X), forward(Reals(), "lightning", start, X)))
    True
    """
    if walk == "values":
        return rescale(Reals(), weights, 0, float(np.exp(s * E[0, 0])))
    epsilon, e = np.linalg.eigh(E)
    C = e * np.exp(s * epsilon) @ e.T
    if walk == "interface":
        return change_interface(Reals(), weights, 0, C)
    return change_head_basis(Reals(), weights, 0, C)


def stack(networks: list[Weights]) -> Weights:
    """Networks of one shape as one: every matrix gets a first axis that counts them."""
    return tuple(
        Layer(*(np.stack(same) for same in zip(*layers, strict=True)))
        for layers in zip(*networks, strict=True)
    )


def loss_and_gradient(weights: Weights, X: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, Weights]:
    """L = ½ mean over the inputs of ‖φ(X) − Y‖², and its gradient, for B lightning networks at once.

    Args:
        weights: matrices of shape (B, …).
        X, Y: shape (B or 1, n, d₀, t) and (B or 1, n, d_l, t).

    Returns:
        Shape (B,), and matrices of the shapes of the weights.
    """
    trace, T = [], np.matrix_transpose
    for Q, K, V in weights:
        q, k = Q[:, None] @ X, K[:, None] @ X
        S = T(k) @ q
        Z = X @ S
        trace.append((X, q, k, S, Z))
        X = V[:, None] @ Z
    rest = X - Y
    n = rest.shape[1]
    loss, bar, gradient = (rest**2).sum(axis=(1, 2, 3)) / (2 * n), rest / n, []
    for (Q, K, V), (X, q, k, S, Z) in zip(reversed(weights), reversed(trace), strict=True):
        V_bar, bar = (bar @ T(Z)).sum(axis=1), T(V)[:, None] @ bar
        S_bar = T(X) @ bar
        k_bar, q_bar = q @ T(S_bar), k @ S_bar
        gradient.append(Layer((q_bar @ T(X)).sum(axis=1), (k_bar @ T(X)).sum(axis=1), V_bar))
        if len(gradient) < len(weights):
            bar = bar @ T(S) + T(K)[:, None] @ k_bar + T(Q)[:, None] @ q_bar
    return loss, tuple(reversed(gradient))


def squared_norm(weights: Weights) -> np.ndarray:
    """The sum of the squares of all entries, for each of B networks or gradients: shape (B,)."""
    return sum((matrix**2).sum(axis=(-2, -1)) for layer in weights for matrix in layer)


def descend(weights: Weights, X: np.ndarray, Y: np.ndarray, rate: np.ndarray, steps: int) -> np.ndarray:
    """The losses of gradient descent, B runs at once: θ → θ − rate · ∇L.

    Args:
        weights, X, Y: as in `loss_and_gradient`.
        rate: one for all, or shape (B,).
        steps: how many.

    Returns:
        Shape (steps + 1, B); from where a loss is a million times the first one on, it is infinite.
    """
    rate = np.broadcast_to(rate, weights[0].Q.shape[:1])[:, None, None]
    seen, lost = [], np.zeros(len(rate), bool)
    for _ in range(steps + 1):
        with np.errstate(over="ignore", invalid="ignore"):
            loss, gradient = loss_and_gradient(weights, X, Y)
            lost |= ~(loss <= _LOST * (seen[0] if seen else loss))
            seen.append(np.where(lost, np.inf, loss))
            # A lost run stands still at 0, where nothing overflows.
            keep = ~lost[:, None, None]
            weights = tuple(
                Layer(*(np.where(keep, W - rate * G, 0.0) for W, G in zip(layer, change, strict=True)))
                for layer, change in zip(weights, gradient, strict=True)
            )
    return np.stack(seen)


# What a walk does to norms


@dataclass(frozen=True)
class Exponentials:
    """rest + Σ_k c_k exp(m_k s), with all c_k ≥ 0: the square of a norm along a walk; convex in s.

    Attributes:
        factors, exponents: c_k and m_k.
        rest: what the walk leaves alone.
    """

    factors: tuple[float, ...]
    exponents: tuple[float, ...]
    rest: float

    def at(self, s: float) -> float:
        """Its value."""
        return self.rest + sum(c * np.exp(m * s) for c, m in zip(self.factors, self.exponents, strict=True))

    @property
    def minimum(self) -> float:
        """Where it is smallest, by bisection of the derivative, which grows; from −12 to 12.

        >>> round(Exponentials((1.0, 4.0), (2.0, -2.0), 0.0).minimum, 4)  # log(4) / 4
        0.3466
        """
        return _root(
            lambda s: sum(c * m * np.exp(m * s) for c, m in zip(self.factors, self.exponents, strict=True)),
            -_FAR,
            _FAR,
        )

    def nearest(self, times: float) -> float:
        """The s nearest to 0 at which it is `times` its value at 0; for times > 1 there always is one.

        Raises:
            ValueError: if times is not above 1, or nothing grows within reach.
        """
        if not times > 1:
            raise ValueError(f"a larger value is asked for, so a factor above 1; got {times!r}")
        goal = times * self.at(0.0)
        ends = [end for end in (-_FAR, _FAR) if self.at(end) > goal]
        if not ends:
            raise ValueError(f"within |s| ≤ {_FAR:g} it never becomes {times:g} times as large")
        # Convex, and below the goal at 0: on each side it passes the goal once.
        found = [_root(lambda x, end=end: self.at(x * np.sign(end)) - goal, 0.0, _FAR) for end in ends]
        return min((np.sign(end) * x for end, x in zip(ends, found, strict=True)), key=abs)


def norm_along(walk: str, weights: Weights, E: np.ndarray, gradient: bool = False) -> Exponentials:
    """The square of the norm of the weights, or of a gradient, along a walk from here.

    Args:
        walk, E: as in `move`.
        weights: of one network; or the gradient there.
        gradient: whether `weights` is a gradient, which moves by exp(−sE) where weights move by exp(sE).
    """
    first, last = weights[0], weights[-1]
    if walk == "values":
        up, down = [first.Q.reshape(1, -1)], [first.V.reshape(1, -1)]
    elif walk == "interface":
        up, down = [first.V], [matrix.T for matrix in last]
    else:
        up, down = [first.Q], [first.K]
    epsilon, e = np.linalg.eigh(E)
    if gradient:
        up, down = down, up
    factors = [sum(((e.T @ matrix) ** 2).sum(axis=1) for matrix in side) for side in (up, down)]
    total = float(squared_norm(weights))
    return Exponentials(
        tuple(np.concatenate(factors).tolist()),
        (*(2 * epsilon).tolist(), *(-2 * epsilon).tolist()),
        max(total - float(sum(map(np.sum, factors))), 0.0),
    )


def _root(function, low: float, high: float) -> float:
    """Where an increasing function passes 0; an end if it does not."""
    if function(high) <= 0:
        return high
    if function(low) >= 0:
        return low
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < 0 else (low, middle)
    return (low + high) / 2
