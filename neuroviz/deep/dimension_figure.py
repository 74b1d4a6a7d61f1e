"""Three views of one dimension: the spectrum, dimension against width, rank against inputs."""

from neuroviz.deep.dimension import DimensionStudy, WidthPoint
from neuroviz.deep.inputs_curve import inputs_view
from neuroviz.deep.spectrum import spectrum_view
from neuroviz.deep.width_curve import width_view
from neuroviz.kit.plot import Parts, compose

__all__ = ["DimensionStudy", "WidthPoint", "dimension_parts"]

_LEFT, _RIGHT = (0.0, 0.5), (0.6, 1.0)
_UPPER, _LOWER = (0.6, 1.0), (0.0, 0.36)


def dimension_parts(study: DimensionStudy) -> Parts:
    """The three views."""
    return compose(
        spectrum_view(study, _LEFT), width_view(study, _RIGHT, _UPPER), inputs_view(study, _RIGHT, _LOWER)
    )
