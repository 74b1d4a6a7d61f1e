"""What several notebooks' claims are computed with."""

from functools import cache

import numpy as np

import neuroviz as nv
from neuroviz.field import DEFAULT_PRIME, PrimeField

A, uniform = nv.Architecture, nv.Architecture.uniform
OVER = PrimeField(DEFAULT_PRIME)


def measured(arch):
    """The exact dimension of an architecture."""
    return nv.measure_dimension(arch).value


def dim(*sizes, **more):
    """The same, from what an architecture is made of."""
    return measured(A(*sizes, **more))


def lost(arch):
    """How many directions do nothing."""
    return arch.num_parameters - measured(arch)


@cache
def shown(kind, state=""):
    """What a panel holds in a state, and what it says."""
    panel = kind(state=state)
    assert panel.wait(60) and panel.status.startswith("done"), panel.status
    found = panel._shown, panel.description
    panel.close()
    return found


def random_networks(count):
    """Small ones with at most four layers, lightning and softmax."""
    draw, found = np.random.default_rng(3), []
    while len(found) < count:
        depth, t = int(draw.integers(1, 5)), int(draw.integers(1, 5))
        widths, heads = draw.integers(1, 6, depth + 1).tolist(), draw.integers(1, 4, depth).tolist()
        found.append(A(widths, heads, t, ("lightning", "softmax")[int(draw.integers(2))]))
    return found
