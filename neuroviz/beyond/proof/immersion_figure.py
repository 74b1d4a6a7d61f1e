"""Theorem A in three views: two tokens on their way, the experiments counted, and a spectrum beside them."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.beyond.proof.immersion import ImmersionStudy
from neuroviz.beyond.proof.immersion_lines import lines_view, plane_view
from neuroviz.beyond.proof.immersion_spectrum import spectrum_view
from neuroviz.beyond.proof.immersion_stairs import stairs_view
from neuroviz.kit.plot import Parts, compose, make, redraw

_LEFT, _RIGHT = (0.0, 0.43), (0.505, 1.0)
_PLANE, _LINES = (0.8, 1.0), (0.0, 0.76)
_UPPER, _LOWER = (0.55, 1.0), (0.0, 0.265)


def immersion_figure(study: ImmersionStudy) -> go.Figure:
    """The views as a figure of its own; `update_immersion` moves it to another study."""
    return make(_parts(study))


def update_immersion(figure: BaseFigure, old: ImmersionStudy | None, new: ImmersionStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: ImmersionStudy) -> Parts:
    return compose(
        lines_view(study, _LEFT, _LINES),
        plane_view(study, _LEFT, _PLANE),
        stairs_view(study, _RIGHT, _UPPER),
        spectrum_view(study, _RIGHT, _LOWER),
    )
