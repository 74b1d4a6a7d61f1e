"""Random networks with anything in their layers, small enough that hundreds of exact ranks take seconds."""

import random

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import Block


def random_variants(count, seed, attention=None, most=110):
    """Distinct networks of one width beyond the paper's; MLPs have powers from 2 on."""
    rng, found = np.random.default_rng(seed), []

    def chance(p):
        return bool(rng.random() < p)

    def whole(least, most):
        return int(rng.integers(least, most + 1))

    while len(found) < count:
        heads, a = whole(1, 4), whole(1, 4)
        value_dim = whole(1, 3) if chance(0.6) else None
        groups = whole(1, heads) if value_dim and chance(0.5) else None
        mlp = (whole(1, 4), whole(2, 3)) if chance(0.4) else None
        if a % 2 or (groups and heads % groups):
            rotary, groups = False, None
        else:
            rotary = chance(0.3)
        block = Block(value_dim, groups, rotary, chance(0.4), chance(0.4), chance(0.3), mlp)
        kind = attention or ("lightning", "softmax")[whole(0, 1)]
        arch = Architecture.uniform(
            whole(1, 3), a, whole(1, 3), whole(1, 3), kind, heads=heads, skip=chance(0.4), causal=chance(0.4),
            block=block if chance(0.8) else Block(),
        )  # fmt: skip
        if not arch.is_plain and arch.num_parameters <= most and arch not in found:
            found.append(arch)
    return found


def random_architectures(count, seed, depth=4, width=6, head=4, tokens=4):
    """Networks of the paper, of either kind; sizes go from 1 to these."""
    draw = random.Random(seed)
    for _ in range(count):
        layers = draw.randint(1, depth)
        widths = [draw.randint(1, width) for _ in range(layers + 1)]
        head_dims = [draw.randint(1, head) for _ in range(layers)]
        yield Architecture(widths, head_dims, draw.randint(1, tokens), draw.choice(("lightning", "softmax")))
