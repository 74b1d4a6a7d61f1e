"""A certificate in two pictures: the argument, and the document with the stamp of who checked it."""

from neuroviz.beyond.proof.certificate_bounds import bounds_view
from neuroviz.beyond.proof.certificate_document import document_view
from neuroviz.beyond.proof.certificate_study import CertificateStudy
from neuroviz.beyond.proof.certificate_sum import sum_view
from neuroviz.kit.plot import Parts, compose

_LEFT, _RIGHT = (0.0, 0.5), (0.555, 1.0)


def certificate_parts(study: CertificateStudy) -> Parts:
    """Both pictures."""
    # One of the first two is empty: bounds that meet, or a sum with its hypotheses.
    return compose(bounds_view(study, _LEFT), sum_view(study, _LEFT), document_view(study, _RIGHT))
