"""A certificate in two pictures: the argument, and the document with the stamp of who checked it."""

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz.beyond.proof.certificate_bounds import bounds_view
from neuroviz.beyond.proof.certificate_document import document_view
from neuroviz.beyond.proof.certificate_study import CertificateStudy
from neuroviz.beyond.proof.certificate_sum import sum_view
from neuroviz.kit.plot import Parts, compose, make, redraw

_LEFT, _RIGHT = (0.0, 0.5), (0.555, 1.0)


def certificate_figure(study: CertificateStudy) -> go.Figure:
    """Both pictures as a figure of its own; `update_certificate` moves it to another study."""
    return make(_parts(study))


def update_certificate(figure: BaseFigure, old: CertificateStudy | None, new: CertificateStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: CertificateStudy) -> Parts:
    # One of the first two is empty: bounds that meet, or a sum with its hypotheses.
    return compose(bounds_view(study, _LEFT), sum_view(study, _LEFT), document_view(study, _RIGHT))
