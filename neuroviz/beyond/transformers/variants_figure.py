"""A network with its switches: two ledgers, its heads on their way, and the map of where heads blend."""

from neuroviz.beyond.transformers.variants import BlendCell, VariantStudy
from neuroviz.beyond.transformers.variants_heads import heads_view
from neuroviz.beyond.transformers.variants_ledger import toggle_view
from neuroviz.beyond.transformers.variants_map import blend_map_view
from neuroviz.kit.plot import Parts, compose

__all__ = ["BlendCell", "VariantStudy", "variants_parts"]

_LEFT, _RIGHT = (0.0, 0.46), (0.56, 1.0)
_UPPER, _LOWER = (0.43, 1.0), (0.0, 0.3)


def variants_parts(study: VariantStudy) -> Parts:
    """The three views."""
    parts = compose(
        toggle_view(study, _LEFT),
        heads_view(study.blend, _RIGHT, _UPPER, "2"),
        blend_map_view(study, _RIGHT, _LOWER, "3"),
    )
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
