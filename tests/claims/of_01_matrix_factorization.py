"""What notebooks/01_matrix_factorization.py says in words: see tests/test_claims.py."""

import numpy as np

from neuroviz.determinantal import drop_rank, measure_product, numerical_rank, product_jacobian
from neuroviz.field import Reals


def fibre_after_a_drop(d, a, seed=0):
    """Dimension of the kernel at a random K and a Q of rank a − 1, to first order."""
    Q, K = np.random.default_rng(seed).standard_normal((2, a, d))
    return 2 * a * d - numerical_rank(product_jacobian(Reals(), drop_rank(Q), K))


CLAIMS = [
    ("For $d = 3$ and $a = 2$ the panel counts 8", lambda: measure_product(3, 2).dimension == 8),
    ("$24 - 9 = 15$ remain", lambda: measure_product(4, 3).dimension == 15),
    ("new: $4 + 1$", lambda: fibre_after_a_drop(3, 2) == 5),
    (
        "one lost rank of $Q$ costs $d - a$ dimensions more",
        lambda: all(fibre_after_a_drop(d, a) == a * a + d - a for d in (3, 4, 5) for a in range(2, d + 1)),
    ),
    ("for $a = 5$ the fibre has 24 dimensions and not 25", lambda: measure_product(4, 5).fibre == 24),
    (
        "$a^2 - (a - d)^2 = 2ad - d^2$",
        lambda: all(measure_product(3, a).fibre == 6 * a - 9 for a in (3, 4, 5, 7)),
    ),
    (
        "$2ad = 98{,}304$ entries in $Q$ and $K$, of which $a^2 = 4{,}096$, about 4.2 %",
        lambda: (2 * 768 * 64, 64**2) == (98_304, 4_096) and round(4_096 / 983.04, 1) == 4.2,
    ),
]

ELSEWHERE = []
