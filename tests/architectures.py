"""Random networks of the paper."""

import random

from neuroviz.attention import Architecture


def random_architectures(count, seed, depth=4, width=6, head=4, tokens=4):
    """Networks of the paper, of either kind; sizes go from 1 to these."""
    draw = random.Random(seed)
    for _ in range(count):
        layers = draw.randint(1, depth)
        widths = [draw.randint(1, width) for _ in range(layers + 1)]
        head_dims = [draw.randint(1, head) for _ in range(layers)]
        yield Architecture(
            widths,
            head_dims,
            draw.randint(1, tokens),
            draw.choice(("lightning", "softmax")),
        )
