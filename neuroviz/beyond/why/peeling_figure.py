"""The peel lemma in three views: two tokens in their plane, a spectrum on its way, kernels counted."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.beyond.why.peeling import PeelStudy
from neuroviz.beyond.why.peeling_kernels import kernels_view
from neuroviz.beyond.why.peeling_plane import plane_view
from neuroviz.beyond.why.peeling_spectra import spectra_view
from neuroviz.kit.plot import Parts, compose, make, redraw

_LEFT, _RIGHT = (0.0, 0.4), (0.53, 1.0)
_UPPER, _LOWER = (0.5, 1.0), (0.0, 0.27)


def peel_figure(study: PeelStudy) -> go.Figure:
    """The three views as a figure of its own; `update_peel` moves it to another study."""
    return make(_parts(study))


def update_peel(figure: BaseFigure, old: PeelStudy | None, new: PeelStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: PeelStudy) -> Parts:
    return compose(
        plane_view(study, _LEFT), spectra_view(study, _RIGHT, _UPPER), kernels_view(study, _RIGHT, _LOWER)
    )
