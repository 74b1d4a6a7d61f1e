"""Attention at a temperature τ: dividing A by it changes a spectrum in floating point, and no dimension."""

from dataclasses import replace
from math import isfinite

import numpy as np

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.field import Reals
from neuroviz.engine.measure import Measurement, from_spectrum, measure_dimension
from neuroviz.engine.network import Layer, conditioned_tokens, conditioned_weights, jacobian


def measure_at_temperature(arch: Architecture, temperature: float, seed: int = 0) -> Measurement:
    """The float measurement of `measure_dimension`, with A/τ in place of A in every layer.

    Softmax with exp(·/τ) is softmax with A/τ, and for lightning A/τ is a rescaling. So the dimension does
    not depend on τ. What floating point can see of it does: hot softmax averages all tokens alike, cold
    softmax picks one, and either way singular values sink into the rounding. Weights and inputs are those
    of τ = 1 but for the factor. A rank other than that at τ = 1 is never `decided`, however wide its gap.

    Args:
        arch: any `Architecture`.
        temperature: τ, above 0.
        seed: as in `measure_dimension`.

    Raises:
        ValueError: if the temperature is not a finite number above 0, or the spectrum leaves the float range.

    >>> measure_at_temperature(Architecture((3, 3, 3), (2, 2), attention="softmax"), 1.0).value
    25
    """
    number = isinstance(temperature, (int, float, np.number)) and not isinstance(temperature, bool)
    if not (number and isfinite(temperature) and temperature > 0):
        raise ValueError(f"a temperature is a finite number above 0; got {temperature!r}")
    base = measure_dimension(arch, method="float", seed=seed)
    if temperature == 1:
        return base
    rng = np.random.default_rng([base.seed, 2])  # the point of measure_dimension
    weights = tuple(Layer(Q / temperature, K, V) for Q, K, V in conditioned_weights(arch, rng))
    X = conditioned_tokens(arch, base.num_inputs, rng)
    J = jacobian(Reals(), arch.attention, weights, X, rescale=arch.attention == "lightning")
    found = from_spectrum(J.reshape(-1, J.shape[-1]), base.num_inputs, base.seed)
    decided = bool(found.decided and base.decided and found.value == base.value)
    note = f"at temperature {temperature:.3g}: {found.note}"
    if found.decided and not decided:
        note = (
            f"undecided: at temperature {temperature:.3g} there is a gap at rank {found.value}, but the "
            f"dimension does not depend on the temperature, and at 1 floats read {base.value}; the "
            "exact rank can tell"
        )
    return replace(found, decided=decided, note=note)
