"""What notebooks/02_single_layer_fibers.py says in words: see tests/test_claims.py."""

from itertools import permutations

import numpy as np

import neuroviz as nv
from claims.common import A, dim, lost, uniform
from neuroviz.singular import Approach, singular_facts


def layer(A, V, X):
    return V @ X @ X.T @ A @ X


def permutations_that_do_nothing(tokens):
    rng = np.random.default_rng(0)
    u, k, v, h = rng.standard_normal((4, 3))
    X = rng.standard_normal((3, tokens))
    before = layer(np.outer(u, k), np.outer(h, v), X)
    orders = permutations([u, k, v])
    return sum(np.allclose(layer(np.outer(p, q), np.outer(h, r), X), before) for p, q, r in orders)


CLAIMS = [
    ("So two: leave all as it is, or swap $u$ and $v$", lambda: permutations_that_do_nothing(2) == 2),
    (
        r"All six: $\varphi(x) = (u \cdot x)(k \cdot x)(v \cdot x)\,h$",
        lambda: permutations_that_do_nothing(1) == 6,
    ),
    (
        "3 for $d = 3$; here, where $a = 2$ bounds the rank, 2. For $a = 1$ it costs none",
        lambda: [dim((3, 3), (a,), tokens=2) - dim((3, 3), (a,), tokens=1) for a in (3, 2, 1)] == [3, 2, 0],
    ),
    (
        "brings its own head (4) and its own factor (1), and in between the basis of the tokens: 9 more",
        lambda: lost(uniform(3, 2, 2, 2)) - lost(uniform(3, 2, 1, 2)) == 4 + 1 + 9,
    ),
    (
        "It is right in every cell: the hypotheses are not needed for the dimension",
        lambda: all(
            nv.measure_dimension(net).value == nv.paper_formula(net).value
            for net in (A((d, 1), (a,), tokens=2) for d in range(1, 6) for a in range(1, 6))
        ),
    ),
    (
        "But 1 direction has become 3",
        lambda: (
            (
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=0)).kernel,
                singular_facts(Approach(d=3, d_out=3, a=3, s=1, b=1)).kernel,
            )
            == (1, 3)
        ),
    ),
]

ELSEWHERE = []
