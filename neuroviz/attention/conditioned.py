"""Real weights and tokens at which the spectrum is as readable as we know how to make
it.

Each token mostly attends to itself, so that no layer makes the tokens parallel and
nothing fades from layer to layer (docs/mathematics/floating_point.md).
"""

import numpy as np
from numpy.random import Generator

# A third or the double of each noise does as well, in 84 spectra.
_HEAD_NOISE = 0.3  # K = Q + noise: A = KᵀQ nearly positive semidefinite
# Tokens: orthonormal as far as they can be, plus noise, then of length near 1.
_TOKEN_NOISE = 0.4
# Multiplies A. Of 30 networks of four to seven layers 12 decides 16, and 4 or 24
# only 5.
_SOFTMAX_SHARPNESS = 12.0
# On a line a token cannot attend to itself alone, and 12 saturates; 1 to 9 do as well.
_SHARPNESS_ON_A_LINE = 6.0


def conditioned_weights(
    layers: tuple[tuple[int, int, int], ...], attention: str, rng: Generator
) -> dict[str, np.ndarray]:
    """Q and V with orthonormal rows (or columns), and K = Q + noise.

    Args:
        layers: (d_{i−1}, d_i, a_i) for i = 1, …, l.
    """
    weights = {}
    narrowest = layers[0][0]
    for i, layer in enumerate(layers, start=1):
        narrowest = min(narrowest, layer[0])
        drawn = conditioned_layer(layer, narrowest == 1, attention, rng)
        for name, weight in drawn.items():
            weights[f"{i}.{name}"] = weight
    return weights


def conditioned_layer(
    sizes: tuple[int, int, int], is_on_a_line: bool, attention: str, rng: Generator
) -> dict[str, np.ndarray]:
    """Q, K and V of one layer.

    Args:
        sizes: (d_{i−1}, d_i, a_i).
        is_on_a_line: whether the tokens that enter it are multiples of one vector.
    """
    d_in, d_out, a = sizes
    sharpness = 1.0
    if attention == "softmax":
        sharpness = _SHARPNESS_ON_A_LINE if is_on_a_line else _SOFTMAX_SHARPNESS
    Q = orthonormal(rng, a, d_in)
    K = Q + _HEAD_NOISE * rng.standard_normal((a, d_in)) / np.sqrt(d_in)
    V = orthonormal(rng, d_out, d_in)
    # Each factor gets the root, so that A = KᵀQ is multiplied by the sharpness.
    return {"Q": np.sqrt(sharpness) * Q, "K": np.sqrt(sharpness) * K, "V": V}


def conditioned_tokens(d: int, t: int, count: int, rng: Generator) -> np.ndarray:
    """Tokens of length near 1, as orthogonal to each other as noise and d allow."""
    X = np.stack([orthonormal(rng, d, t) for _ in range(count)])
    X = X + _TOKEN_NOISE * rng.standard_normal(X.shape) / np.sqrt(d)
    # Unit tokens on a line would be ±1 only, so there the lengths vary more.
    spread = 0.7 if d == 1 else 0.2
    lengths = 1 + spread * rng.uniform(-1, 1, (count, 1, t))
    return lengths * X / np.linalg.norm(X, axis=1, keepdims=True)


def orthonormal(rng: Generator, rows: int, columns: int) -> np.ndarray:
    """Orthonormal rows or columns, whichever are fewer."""
    shape = (max(rows, columns), min(rows, columns))
    q, _ = np.linalg.qr(rng.standard_normal(shape))
    return q if rows >= columns else q.T
