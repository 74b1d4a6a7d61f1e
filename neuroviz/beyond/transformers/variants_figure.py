"""A network with its switches: two ledgers, its heads on their way, and the map of where heads blend."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.beyond.transformers.variants import BlendCell, VariantStudy
from neuroviz.beyond.transformers.variants_heads import heads_view
from neuroviz.beyond.transformers.variants_ledger import toggle_view
from neuroviz.beyond.transformers.variants_map import blend_map_view
from neuroviz.kit.plot import Parts, compose, make, redraw

__all__ = ["BlendCell", "VariantStudy", "update_variants", "variants_figure"]

_LEFT, _RIGHT = (0.0, 0.46), (0.56, 1.0)
_UPPER, _LOWER = (0.43, 1.0), (0.0, 0.3)


def variants_figure(study: VariantStudy) -> go.Figure:
    """The three views as a figure of its own; `update_variants` moves it to another study."""
    return make(_parts(study))


def update_variants(figure: BaseFigure, old: VariantStudy | None, new: VariantStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: VariantStudy) -> Parts:
    parts = compose(
        toggle_view(study, _LEFT),
        heads_view(study.blend, _RIGHT, _UPPER, "2"),
        blend_map_view(study, _RIGHT, _LOWER, "3"),
    )
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
