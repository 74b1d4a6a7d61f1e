"""The peel lemma in three views: two tokens in their plane, a spectrum on its way, kernels counted."""

from neuroviz.beyond.why.peeling import PeelStudy
from neuroviz.beyond.why.peeling_kernels import kernels_view
from neuroviz.beyond.why.peeling_plane import plane_view
from neuroviz.beyond.why.peeling_spectra import spectra_view
from neuroviz.kit.plot import Parts, compose

_LEFT, _RIGHT = (0.0, 0.4), (0.53, 1.0)
_UPPER, _LOWER = (0.5, 1.0), (0.0, 0.27)


def peel_parts(study: PeelStudy) -> Parts:
    """The three views."""
    return compose(
        plane_view(study, _LEFT), spectra_view(study, _RIGHT, _UPPER), kernels_view(study, _RIGHT, _LOWER)
    )
