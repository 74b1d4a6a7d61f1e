"""What notebooks/03_where_training_ends.py says in words: see tests/test_claims.py."""

from neuroviz.flow import attraction

CLAIMS = [
    (
        "| dotted | 99 % | nearly all | all |",
        lambda: (lambda a: a.singular > 0.9 and a.boundary > 0.8 and a.near > 0.95)(
            attraction("dotted", runs=60, time=300)
        ),
    ),
    (
        "| Gaussian | 0 % | | 8 % |",
        lambda: (lambda a: a.singular < 0.05 and a.near < 0.25)(attraction("gaussian", runs=60, time=300)),
    ),
]

ELSEWHERE = []
