"""The engine's networks, as those of the rooms that will replace it; until it goes."""

from neuroviz.attention import Architecture


def paper_network(arch):
    """An engine's architecture without variants."""
    assert arch.is_plain
    return Architecture(arch.widths, arch.head_dims, arch.tokens, arch.attention)
