"""Weights by name, and all of them as one vector."""

from collections.abc import Mapping
from math import prod

import numpy as np

from neuroviz.rank.network import Network
from neuroviz.rank.point import num_parameters


def flatten(net: Network, weights: Mapping[str, np.ndarray]) -> np.ndarray:
    """All parameters as one vector, in the order of the derivative's columns."""
    return np.concatenate([weights[name].ravel() for name in net.parameter_shapes])


def unflatten(net: Network, parameters: np.ndarray) -> dict[str, np.ndarray]:
    """The inverse of `flatten`: name → array.

    Raises:
        ValueError: if the vector does not have one entry for each parameter.

    >>> from neuroviz.attention import Architecture
    >>> unflatten(Architecture((2, 1), (1,)), np.arange(6.0))["1.V"]
    array([[4., 5.]])
    """
    count = num_parameters(net)
    if np.shape(parameters) != (count,):
        raise ValueError(
            f"{net} has {count} parameters; got an array of shape "
            f"{np.shape(parameters)}"
        )
    weights = {}
    start = 0
    for name, shape in net.parameter_shapes.items():
        end = start + prod(shape)
        weights[name] = parameters[start:end].reshape(shape)
        start = end
    return weights
