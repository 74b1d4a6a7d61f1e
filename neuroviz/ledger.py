"""Where the parameters go: how many directions in weight space each symmetry accounts for.

Nothing here is told to add up. Parameters are counted, the dimension is measured, the directions of
each symmetry are written down and their rank is computed; what is left over is `unexplained`.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from neuroviz.architecture import Architecture, check_architecture
from neuroviz.field import DEFAULT_PRIME, PrimeField
from neuroviz.formulas import collapsing_layer, effective_widths
from neuroviz.measure import Measurement, measure_dimension
from neuroviz.network import random_weights
from neuroviz.rank import RowSpace, schwartz_zippel
from neuroviz.symmetry import symmetry_directions


@dataclass(frozen=True)
class KernelLedger:
    """parameters − Σ entries − unexplained = dimension.

    Attributes:
        arch: the architecture.
        parameters: all entries of all Q, K, V.
        entries: name of a family of symmetries → how many directions it adds to the families before
            it: "head bases" (Lemma 3.1), "interfaces" (Eq. 9), and for lightning "rescalings" (Eq. 13).
        parts: the same, layer by layer: its numbers add up to the entry.
        unexplained: directions that do nothing and belong to none of these symmetries.
        dimension: what remains.
        note: where the unexplained directions come from.
        measured: the measurement of the dimension, over all parameters.
        error_bound: the probability that a random point made one of the ranks too small.
    """

    arch: Architecture
    parameters: int
    entries: dict[str, int] = field(hash=False)
    parts: dict[str, tuple[int, ...]] = field(hash=False)
    unexplained: int
    dimension: int
    note: str
    measured: Measurement
    error_bound: float


def kernel_ledger(arch: Architecture, seed: int = 0) -> KernelLedger:
    """What each symmetry costs: parameters − Σ entries − unexplained = dimension, all measured.

    The dimension is the exact rank over all parameters; an entry is the exact rank of the
    directions of its family (`symmetry_directions`) at a random network, beyond those of the
    families before it. For t ≥ 2, in a bottleneck without rank-one collapse, nothing is unexplained
    ("The gauge slice").

    Args:
        arch: any `Architecture`.
        seed: a whole number ≥ 0.

    Raises:
        ValueError: if `arch` is not an Architecture or the seed is not a whole number.

    >>> ledger = kernel_ledger(Architecture((4, 3, 5), (2, 2)))
    >>> ledger.parameters, ledger.entries, ledger.unexplained, ledger.dimension
    (55, {'head bases': 8, 'interfaces': 9, 'rescalings': 2}, 0, 36)
    >>> kernel_ledger(Architecture((3, 3, 3), (1, 2))).note
    'A₁ has rank one: after layer 1 all tokens are parallel, so the antisymmetric part of later A is hidden'
    """
    check_architecture("kernel_ledger", arch)
    measured = measure_dimension(arch, seed=seed, route="weights")  # it also checks the seed
    return _kernel_ledger(arch, measured)


@lru_cache(maxsize=1024)
def _kernel_ledger(arch: Architecture, measured: Measurement) -> KernelLedger:
    over = PrimeField(DEFAULT_PRIME)
    rng = np.random.default_rng([measured.seed, over.p, 3])
    weights = random_weights(over, arch, rng)
    space, parts = RowSpace(over, arch.num_parameters), {}
    for name, directions in symmetry_directions(over, arch.attention, weights).items():
        parts[name] = tuple(space.add(rows) for rows in directions)
    entries = {name: sum(numbers) for name, numbers in parts.items()}
    unexplained = arch.num_parameters - space.dimension - measured.value
    error = min(1.0, measured.error_bound + schwartz_zippel(space.dimension, 1, over.p))
    return KernelLedger(
        arch,
        arch.num_parameters,
        entries,
        parts,
        unexplained,
        measured.value,
        _note(arch, unexplained),
        measured,
        error,
    )


def _note(arch: Architecture, unexplained: int) -> str:
    if not unexplained:
        return "head bases, interfaces and rescalings explain every direction that does nothing"
    causes = _causes(arch)
    if not causes:
        return "these symmetries do not explain all of it, and no cause is known: please tell us"
    return "; ".join(causes)


def _causes(arch: Architecture) -> list[str]:
    """What else hides parameters ("One token", "Rank-one collapse", "The general formula")."""
    causes = []
    if arch.tokens == 1:
        causes.append(
            "one token attends to itself alone: no A is visible"
            if arch.attention == "softmax"
            else "one token sees xᵀAx only: the antisymmetric part of each A is invisible"
        )
    elif arch.attention == "lightning" and (layer := collapsing_layer(arch)) is not None:
        index = str(layer).translate(str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉"))
        on_a_line = effective_widths(arch)[layer - 1] == 1
        causes.append(
            (
                f"the tokens of layer {layer} lie on a line: after it"
                if on_a_line
                else f"A{index} has rank one: after layer {layer}"
            )
            + " all tokens are parallel, so the antisymmetric part of later A is hidden"
        )
    hidden = [
        f"{seen} of the {width} after layer {i}"
        for i, (width, seen) in enumerate(zip(arch.widths, effective_widths(arch), strict=True))
        if 0 < i < arch.num_layers and seen < width
    ]
    if hidden:
        causes.append("of the coordinates between layers, only some reach the output: " + ", ".join(hidden))
    return causes
