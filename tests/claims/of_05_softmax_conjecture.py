"""What notebooks/05_softmax_conjecture.py says in words: see tests/test_claims.py."""

import numpy as np

import neuroviz as nv
from claims.common import OVER, dim, uniform
from neuroviz.exponentials_study import measure_attention
from neuroviz.one_layer_limit import limit_study

CLAIMS = [
    ("has 16 dimensions as lightning", lambda: dim((3, 3), (2,)) == 16),
    (
        "(With two tokens it is 8.",
        lambda: (
            (
                lambda r: (
                    2
                    ** round(
                        limit_study(*r.standard_normal((2, 3, 3)), r.standard_normal((3, 2))).first_slope
                    )
                )
            )(np.random.default_rng(0))
            == 8
        ),
    ),
    (
        "its attention matrices has 5 dimensions instead of 6",
        lambda: (
            [
                measure_attention(OVER, kind, 3, 3, np.random.default_rng(0)).value
                for kind in ("symmetric", "generic")
            ]
            == [5, 6]
        ),
    ),
    (
        "Softmax $l + 1$: the numbers",
        lambda: all(
            nv.measure_dimension(uniform(1, 1, k, 2, "softmax")).value == k + 1
            and nv.measure_dimension(uniform(1, 1, k, 2)).value == 1
            for k in (1, 2, 3, 4)
        ),
    ),
    (
        "2 everywhere: one for each of the $l = 2$ layers",
        lambda: all(
            dim((d,) * 3, (2, 2), attention="softmax") - dim((d,) * 3, (2, 2)) == 2 for d in range(3, 11)
        ),
    ),
]

ELSEWHERE = []
