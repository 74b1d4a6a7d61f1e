"""A deep lightning network unrolled: the tree of its layers, over the strip of factors and tokens."""

from neuroviz.deep.unrolled_plan import plan_of
from neuroviz.deep.unrolled_strip import strip_view
from neuroviz.deep.unrolled_term import Reflection, UnrollStudy
from neuroviz.deep.unrolled_tree import grow, tree_view
from neuroviz.kit.plot import Parts, compose

__all__ = ["Reflection", "UnrollStudy", "grow", "unrolling_parts"]


def unrolling_parts(study: UnrollStudy) -> Parts:
    """Tree and strip."""
    plan = plan_of(study)
    parts = compose(tree_view(study, plan), strip_view(study, plan))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})
