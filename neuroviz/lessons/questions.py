"""Choices of questions in words, with remarks: kept here, so that the cell that asks gives nothing away."""

from math import prod

import numpy as np

from neuroviz.beyond.training.flow import Attraction
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block_network import block_jacobian, random_block_weights
from neuroviz.engine.field import PrimeField
from neuroviz.engine.network import random_tokens

SMOOTH, CROSSINGS, BOUNDARY = "at smooth points", "at crossings", "at boundary points"

WHERE_RUNS_END = {
    SMOOTH: "A pair of forms in general position has a smooth layer nearest to it.",
    CROSSINGS: "A crossing needs proportional forms; what would make the forms of a generic target so?",
    BOUNDARY: "That is where dotted targets lead, which have a singular layer nearest to them.",
}
"""For `teaching.predict`: where do most runs of gradient flow end?"""


def where_runs_end(found: Attraction) -> str:
    """The choice of `WHERE_RUNS_END` that most runs took.

    >>> from neuroviz.beyond.training.flow import attraction
    >>> where_runs_end(attraction("gaussian", runs=5, time=20))
    'at smooth points'
    """
    shares = {
        SMOOTH: 1 - found.singular,
        CROSSINGS: found.singular - found.boundary,
        BOUNDARY: found.boundary,
    }
    return max(shares, key=shares.get)


SEEN, UNSEEN = "it can be seen", "it does nothing"

KEY_BIAS = {
    UNSEEN: "Without rotation it adds the same number to all logits of a column. With it, which numbers?",
    SEEN: "The number that it adds depends on the place of the key.",
}
"""For `teaching.predict`: does a key bias do something under rotary positions?"""


def key_bias(arch: Architecture) -> str:
    """The choice of `KEY_BIAS` that is right for a network with biases: its derivative in them, exactly.

    >>> from neuroviz.engine.block import Block
    >>> key_bias(Architecture((4, 4), (2,), attention="softmax", skip=True, block=Block(biases=True)))
    'it does nothing'
    """
    over, rng = PrimeField(), np.random.default_rng(0)
    weights, X = random_block_weights(over, arch, rng), random_tokens(over, arch, 2, rng)
    J, start = block_jacobian(over, arch, weights, X, None, rng), 0
    for name, shape in arch.parameter_shapes.items():
        columns = J[..., start : start + prod(shape)]
        if name.endswith(".k") and columns.any():
            return SEEN
        start += prod(shape)
    return UNSEEN
