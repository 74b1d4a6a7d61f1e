"""Three views of one dimension: the spectrum, dimension against width, rank against inputs."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.deep.dimension import DimensionStudy, WidthPoint
from neuroviz.deep.inputs_curve import inputs_view
from neuroviz.deep.spectrum import spectrum_view
from neuroviz.deep.width_curve import width_view
from neuroviz.kit.plot import Parts, compose, make, redraw

__all__ = ["DimensionStudy", "WidthPoint", "dimension_figure", "update_dimension"]

_LEFT, _RIGHT = (0.0, 0.5), (0.6, 1.0)
_UPPER, _LOWER = (0.6, 1.0), (0.0, 0.36)


def dimension_figure(study: DimensionStudy) -> go.Figure:
    """The three views as a figure of its own; `update_dimension` moves it to another study."""
    return make(_parts(study))


def update_dimension(figure: BaseFigure, old: DimensionStudy | None, new: DimensionStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: DimensionStudy) -> Parts:
    return compose(
        spectrum_view(study, _LEFT), width_view(study, _RIGHT, _UPPER), inputs_view(study, _RIGHT, _LOWER)
    )
