"""A deep lightning network unrolled: the tree of its layers, over the strip of factors and tokens."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.deep.unrolled_plan import plan_of
from neuroviz.deep.unrolled_strip import strip_view
from neuroviz.deep.unrolled_term import Reflection, UnrollStudy
from neuroviz.deep.unrolled_tree import grow, tree_view
from neuroviz.kit.plot import Parts, compose, make, redraw

__all__ = ["Reflection", "UnrollStudy", "grow", "unrolling_figure", "update_unrolling"]


def unrolling_figure(study: UnrollStudy) -> go.Figure:
    """Tree and strip as a figure of its own; `update_unrolling` moves it to another study."""
    return make(_parts(study))


def update_unrolling(figure: BaseFigure, old: UnrollStudy | None, new: UnrollStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: UnrollStudy) -> Parts:
    plan = plan_of(study)
    parts = compose(tree_view(study, plan), strip_view(study, plan))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
