"""Which exponentials of a softmax are free, and what a rank says with and without their relations."""

from neuroviz.beyond.proof.exponentials_grid import grid_view, layers_view
from neuroviz.beyond.proof.exponentials_kernels import kernels_view, spectrum_view
from neuroviz.beyond.proof.exponentials_study import ExponentialsStudy
from neuroviz.kit.plot import Parts, compose

_LEFT, _RIGHT = (0.0, 0.4), (0.54, 1.0)


def exponentials_parts(study: ExponentialsStudy) -> Parts:
    """The four views."""
    return compose(
        grid_view(study, _LEFT, (0.38, 1.0)),
        layers_view(study, _LEFT, (0.0, 0.17)),
        kernels_view(study, _RIGHT, (0.74, 1.0)),
        spectrum_view(study, _RIGHT, (0.0, 0.55)),
    )
