"""Checks of the exercises beyond the paper: notebooks 06. Each decides by measurements."""

from neuroviz.engine.expected import alpha
from neuroviz.engine.measure import measure_dimension
from neuroviz.lessons.checks_deep import small_network
from neuroviz.lessons.exercise import checker


@checker
def check_blending(arch: object) -> str:
    """Whether the heads of a lightning layer, of rank below the width, lose more than a rescaling each.

    >>> from neuroviz import Architecture
    >>> check_blending(Architecture((4, 4), (2,), heads=3))
    ✗ Not yet. Lost are 3: one rescaling a head, and nothing more. How many directions may a head take?
    """
    arch = small_network(arch)
    if arch.attention != "lightning" or arch.num_layers != 1 or arch.skip or arch.causal:
        raise ValueError(f"Take one lightning layer without skip and mask; got {arch}.")
    if not arch.block.is_plain or arch.tokens < 2:
        raise ValueError(f"Take two tokens or more, and an empty block; got {arch}.")
    ((d, d_out, a),), (H,) = arch.layers, arch.heads
    if H < 2 or a >= d:
        raise ValueError(f"The task asks for two heads or more, with a < d; here H = {H}, a = {a}, d = {d}.")
    if H > d_out:
        raise ValueError(f"The task asks for at most as many heads as outputs; here H = {H}, d′ = {d_out}.")
    lost = H * (alpha(a, d) + d * d_out) - measure_dimension(arch).value
    if lost > H:
        return f"Lost are {lost}, {lost - H} more than one rescaling for each of {H} heads."
    raise ValueError(
        f"Lost are {lost}: one rescaling a head, and nothing more. How many directions may a head take?"
    )


@checker
def check_larger_and_poorer(larger: object, smaller: object) -> str:
    """Whether the first of two networks has more parameters and fewer dimensions than the second.

    >>> from neuroviz import Architecture
    >>> check_larger_and_poorer(Architecture((3, 3), (2,)), Architecture((2, 2), (1,)))
    ✗ Not yet. The first has 21 parameters and 16 dimensions, the second 8 and 6.
    """
    larger, smaller = small_network(larger), small_network(smaller)
    sizes = [arch.num_parameters for arch in (larger, smaller)]
    found = [measure_dimension(arch).value for arch in (larger, smaller)]
    said = (
        f"The first has {sizes[0]} parameters and {found[0]} dimensions, "
        f"the second {sizes[1]} and {found[1]}."
    )
    if sizes[0] <= sizes[1] or found[0] >= found[1]:
        raise ValueError(said)
    return said
