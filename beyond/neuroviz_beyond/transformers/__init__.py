"""Transformers: heads, skips, masks, and what else a layer in use today has."""

from neuroviz_beyond.transformers import directions as _directions  # noqa: F401
from neuroviz_beyond.transformers import ledger as _ledger  # noqa: F401
from neuroviz_beyond.transformers.block import Block as Block
from neuroviz_beyond.transformers.transformer import Transformer as Transformer
