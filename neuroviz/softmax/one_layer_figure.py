"""A softmax layer that gives its weights away: what is put in, what is solved, what is known by now."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.kit.plot import Parts, compose, make, redraw
from neuroviz.softmax.one_layer_probe import attention_view, equation_view, tokens_view
from neuroviz.softmax.one_layer_read import limit_view, weights_view
from neuroviz.softmax.one_layer_study import OneLayerStudy

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.29), 0.315, (0.62, 1.0)
_UPPER, _LOWER = (0.42, 1.0), (0.0, 0.27)


def one_layer_figure(study: OneLayerStudy) -> go.Figure:
    """The views of one place of the walk as a figure of its own; `update_one_layer` moves it to another."""
    return make(_parts(study))


def update_one_layer(figure: BaseFigure, old: OneLayerStudy | None, new: OneLayerStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: OneLayerStudy) -> Parts:
    return compose(
        tokens_view(study, _LEFT, _UPPER),
        attention_view(study, _LEFT, _LOWER),
        equation_view(study, _MIDDLE),
        weights_view(study, _RIGHT),
        limit_view(study, (_RIGHT[0] + 0.05, _RIGHT[1])),
    )
