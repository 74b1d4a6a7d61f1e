"""The symmetries of `neuroviz.attention.symmetry` for weights that are a tuple with one
`Layer` for each layer, counted from 0.

It goes when all weights are name → array.
"""

import numpy as np

from neuroviz.attention import symmetry
from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import Field
from neuroviz_beyond.transformers.layers import BlockWeights, Layer, Weights, named


def change_head_basis(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """Q → C Q, K → C⁻ᵀ K in one layer (Lemma 3.1)."""
    _check(weights, layer)
    return _as_layers(symmetry.change_head_basis(over, named(weights), layer + 1, C))


def change_interface(
    over: Field, weights: Weights, layer: int, C: np.ndarray
) -> Weights:
    """V_i → C V_i, and Q, K, V of the layer after `layer` → · C⁻¹ (Eq. 9)."""
    _check(weights, layer, interface=True)
    return _as_layers(symmetry.change_interface(over, named(weights), layer + 1, C))


def rescale(over: Field, weights: Weights, layer: int, c: float) -> Weights:
    """Q → c Q, V → V / c in one layer (Eq. 13)."""
    _check(weights, layer)
    return _as_layers(symmetry.rescale(over, named(weights), layer + 1, c))


def virtual_weights(over: Field, weights: Weights) -> VirtualWeights:
    """L = V_l ⋯ V_1 and M_i = U_{i−1}ᵀ A_i U_{i−1}, with U_i = V_i ⋯ V_1 (Eq. 8)."""
    return symmetry.virtual_weights(over, named(weights))


def _as_layers(weights: BlockWeights) -> Weights:
    return tuple(Layer(**layer) for layer in by_layer(weights))


def _check(weights: Weights, layer: int, interface: bool = False) -> None:
    if layer not in range(len(weights)):
        raise ValueError(
            f"layers are counted from 0 to {len(weights) - 1} here; got layer={layer!r}"
        )
    if interface and layer == len(weights) - 1:
        raise ValueError(
            f"an interface lies between two layers; got layer={layer}, the last of"
            f" {len(weights)}: changing the basis after it would change the outputs"
        )
