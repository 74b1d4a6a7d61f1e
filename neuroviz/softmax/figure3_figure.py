"""Figure 3 of the paper, with its evidence: dimension against width, and how far a float can be trusted."""

from neuroviz.kit.plot import Parts, compose
from neuroviz.softmax.figure3 import Figure3Study
from neuroviz.softmax.figure3_curve import curve_view
from neuroviz.softmax.figure3_floats import float32_view, gap_view

_LEFT, _RIGHT = (0.0, 0.56), (0.66, 1.0)
_UPPER, _LOWER = (0.62, 1.0), (0.0, 0.36)
# Without the float32 view the other one is as high as the curve; an empty sliver stays below it.
_WHOLE, _NOTHING = (0.0, 1.0), (0.0, 0.001)


def figure3_parts(study: Figure3Study) -> Parts:
    """The views."""
    upper, lower = (_UPPER, _LOWER) if study.setting.peer else (_WHOLE, _NOTHING)
    return compose(
        curve_view(study, _LEFT), gap_view(study, _RIGHT, upper), float32_view(study, _RIGHT, lower)
    )
