"""The engine's networks beyond the paper's as transformers; until the engine goes."""

from dataclasses import fields

from neuroviz_beyond.transformers import Block, Transformer


def transformer(arch):
    """Any architecture of the engine."""
    switches = {f.name: getattr(arch.block, f.name) for f in fields(arch.block)}
    return Transformer(
        arch.widths,
        arch.head_dims,
        arch.tokens,
        arch.attention,
        arch.heads,
        arch.skip,
        arch.causal,
        Block(**switches),
    )
