"""Random networks with anything in their layers, small enough that hundreds of exact
ranks take seconds."""

import numpy as np

from neuroviz_beyond.transformers import Block, Transformer


def random_variants(count, seed, attention=None, most=110):
    """Distinct networks of one width beyond the paper's; MLPs have powers from 2 on."""
    rng = np.random.default_rng(seed)
    found = []

    def chance(p):
        return bool(rng.random() < p)

    def whole(least, most):
        return int(rng.integers(least, most + 1))

    while len(found) < count:
        heads = whole(1, 4)
        a = whole(1, 4)
        value_dim = whole(1, 3) if chance(0.6) else None
        groups = whole(1, heads) if value_dim and chance(0.5) else None
        mlp = (whole(1, 4), whole(2, 3)) if chance(0.4) else None
        if a % 2 or (groups and heads % groups):
            rotary = False
            groups = None
        else:
            rotary = chance(0.3)
        block = Block(
            value_dim, groups, rotary, chance(0.4), chance(0.4), chance(0.3), mlp
        )
        kind = attention or ("lightning", "softmax")[whole(0, 1)]
        arch = Transformer.uniform(
            whole(1, 3),
            a,
            whole(1, 3),
            whole(1, 3),
            kind,
            heads=heads,
            skip=chance(0.4),
            causal=chance(0.4),
            block=block if chance(0.8) else Block(),
        )
        if not arch.is_plain and arch.num_parameters <= most and arch not in found:
            found.append(arch)
    return found


def random_blocks(seed, most=200):
    """Distinct networks with something in their block: unequal layers, MLPs of any
    power, up to six layers.

    Where a formula answers, mostly: softmax, of one width but for single layers and
    some bottlenecks.
    """
    rng = np.random.default_rng(seed)

    def chance(p):
        return bool(rng.random() < p)

    def whole(least, most):
        return int(rng.integers(least, most + 1))

    found = set()
    while True:
        depth = whole(1, 6)
        d = int(rng.choice([1, 1, 2, 2, 3, 4]))
        skip = chance(0.55)
        widths = (d,) * (depth + 1)
        if depth == 1 and not skip:
            widths = (whole(1, 4), whole(1, 4))
        elif not skip and chance(0.2):
            widths = (whole(d, 4), *(d,) * (depth - 1), whole(d, 4))
        value_dim = whole(1, 4) if chance(0.5) else None
        groups = whole(1, 3) if value_dim and chance(0.5) else None
        heads = tuple(
            (groups or 1) * whole(1, 2 if groups else 3) for _ in range(depth)
        )
        rotary = chance(0.3)
        head_dims = tuple(
            2 * whole(1, 2) if rotary else whole(1, 4) for _ in range(depth)
        )
        if chance(0.5):
            heads = (heads[0],) * depth
            head_dims = (head_dims[0],) * depth
        mlp = (whole(1, 5), whole(1, 5) if chance(0.5) else 2) if chance(0.6) else None
        block = Block(
            value_dim, groups, rotary, chance(0.7), chance(0.4), chance(0.4), mlp
        )
        kind = "softmax" if chance(0.9) else "lightning"
        arch = Transformer(
            widths, head_dims, whole(1, 4), kind, heads, skip, chance(0.4), block
        )
        if not block.is_plain and arch.num_parameters <= most and arch not in found:
            found.add(arch)
            yield arch
