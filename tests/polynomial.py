"""Polynomial networks: the smallest family that is not attention."""

from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Polynomial:
    """x ↦ W_l (… W₂ (W₁ x)^e …)^e, powers entry by entry."""

    widths: tuple[int, ...]
    power: int = 2

    @property
    def parameter_shapes(self):
        layers = enumerate(pairwise(self.widths), start=1)
        return {f"W{i}": (d_out, d_in) for i, (d_in, d_out) in layers}

    def random_inputs(self, field, count, rng):
        return field.random(rng, (count, self.widths[0], 1))

    def record(self, tape, weights, inputs):
        first, *others = weights.values()
        x = tape.matmul(first, inputs)
        for W in others:
            x = tape.matmul(W, tape.power(x, self.power))
        return x
