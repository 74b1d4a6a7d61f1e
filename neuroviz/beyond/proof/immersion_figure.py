"""Theorem A in three views: two tokens on their way, the experiments counted, and a spectrum beside them."""

from neuroviz.beyond.proof.immersion import ImmersionStudy
from neuroviz.beyond.proof.immersion_lines import lines_view, plane_view
from neuroviz.beyond.proof.immersion_spectrum import spectrum_view
from neuroviz.beyond.proof.immersion_stairs import stairs_view
from neuroviz.kit.plot import Parts, compose

_LEFT, _RIGHT = (0.0, 0.43), (0.505, 1.0)
_PLANE, _LINES = (0.8, 1.0), (0.0, 0.76)
_UPPER, _LOWER = (0.55, 1.0), (0.0, 0.265)


def immersion_parts(study: ImmersionStudy) -> Parts:
    """The views."""
    return compose(
        lines_view(study, _LEFT, _LINES),
        plane_view(study, _LEFT, _PLANE),
        stairs_view(study, _RIGHT, _UPPER),
        spectrum_view(study, _RIGHT, _LOWER),
    )
