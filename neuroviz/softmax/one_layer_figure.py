"""A softmax layer that gives its weights away: what is put in, what is solved, what is known by now."""

from neuroviz.kit.plot import Parts, compose
from neuroviz.softmax.one_layer_probe import attention_view, equation_view, tokens_view
from neuroviz.softmax.one_layer_read import limit_view, weights_view
from neuroviz.softmax.one_layer_study import OneLayerStudy

_LEFT, _MIDDLE, _RIGHT = (0.0, 0.29), 0.315, (0.62, 1.0)
_UPPER, _LOWER = (0.42, 1.0), (0.0, 0.27)


def one_layer_parts(study: OneLayerStudy) -> Parts:
    """The views of one place of the walk."""
    return compose(
        tokens_view(study, _LEFT, _UPPER),
        attention_view(study, _LEFT, _LOWER),
        equation_view(study, _MIDDLE),
        weights_view(study, _RIGHT),
        limit_view(study, (_RIGHT[0] + 0.05, _RIGHT[1])),
    )
