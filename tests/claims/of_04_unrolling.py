"""What notebooks/04_unrolling.py says in words: see tests/test_claims.py."""

import numpy as np

import neuroviz as nv
from claims.common import A, lost, uniform

CLAIMS = [
    (
        "1, 4, 13, 40 places for $l = 1, 2, 3, 4$",
        lambda: [len(nv.unroll(k)) for k in (1, 2, 3, 4)] == [1, 4, 13, 40],
    ),
    ("$3^{13} = 1{,}594{,}323$", lambda: 3**13 == 1_594_323),
    (
        "$36$ is $1100$ in base three: two zeros, so $M_3$",
        lambda: tuple(nv.unroll(4)[35]) == (3, False) and np.base_repr(36, 3) == "1100",
    ),
    ("comes out of the fourth as 134 million", lambda: 2**27 // 10**6 == 134),
    (
        "For $d = 3$, $a = 2$: 4 for its head, 9 for the basis in front of it, 1 for its factor",
        lambda: lost(uniform(3, 2, 5, 2)) - lost(uniform(3, 2, 4, 2)) == 4 + 9 + 1,
    ),
    (
        "Set **tokens** to 1: 8 directions are unexplained",
        lambda: nv.kernel_ledger(uniform(3, 2, 4, 1)).unexplained == 8,
    ),
    (
        "With `1,2,2,2` six directions are unexplained",
        lambda: nv.kernel_ledger(A((3,) * 5, (1, 2, 2, 2), tokens=2)).unexplained == 6,
    ),
    (
        "With `1,1,1,1` the hypothesis fails in all layers, and nothing is unexplained",
        lambda: nv.kernel_ledger(A((3,) * 5, (1, 1, 1, 1), tokens=2)).unexplained == 0,
    ),
]

ELSEWHERE = []
