"""Which exponentials of a softmax are free, and what a rank says with and without their relations."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.beyond.proof.exponentials_grid import grid_view, layers_view
from neuroviz.beyond.proof.exponentials_kernels import kernels_view, spectrum_view
from neuroviz.beyond.proof.exponentials_study import ExponentialsStudy
from neuroviz.kit.plot import Parts, compose, make, redraw

_LEFT, _RIGHT = (0.0, 0.4), (0.54, 1.0)


def exponentials_figure(study: ExponentialsStudy) -> go.Figure:
    """The four views as a figure of its own; `update_exponentials` moves it to another study."""
    return make(_parts(study))


def update_exponentials(figure: BaseFigure, old: ExponentialsStudy | None, new: ExponentialsStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: ExponentialsStudy) -> Parts:
    return compose(
        grid_view(study, _LEFT, (0.38, 1.0)),
        layers_view(study, _LEFT, (0.0, 0.17)),
        kernels_view(study, _RIGHT, (0.74, 1.0)),
        spectrum_view(study, _RIGHT, (0.0, 0.55)),
    )
