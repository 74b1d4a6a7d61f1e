"""What notebooks/04_sweeps.py says in words: see tests/test_claims.py."""

import neuroviz as nv
from claims.common import A, dim


def heads_mix(a, heads):
    net = A((4, 4), (a,), heads=heads)
    alpha = a * (8 - a)
    return nv.measure_dimension(net).value < heads * (alpha + 16) - heads


CLAIMS = [
    (
        "40 networks. How many agree with the general formula?",
        lambda: all(
            nv.measure_dimension(n).value == nv.general_formula(n).value
            for n in (A((4, w, 4), (a, a)) for w in range(1, 9) for a in range(1, 6))
        ),
    ),
    (
        "At $\\delta = 4$, the width of the input",
        lambda: (
            len({dim((4, w, 4), (2, 2)) for w in (4, 5, 6, 8)}) == 1
            and dim((4, 3, 4), (2, 2)) < dim((4, 4, 4), (2, 2))
        ),
    ),
    (
        "From $t = 2$ on: two tokens tell everything",
        lambda: (lambda d: d[1] == d[2] == d[3] > d[0])(
            [dim((4, 4, 4), (2, 2), tokens=t) for t in (1, 2, 3, 4)]
        ),
    ),
    (
        "for $a = 4$ with the second head, for $a = 3$ with the third",
        lambda: (
            [(heads_mix(4, h), heads_mix(3, h)) for h in (1, 2, 3)]
            == [(False, False), (True, False), (True, True)]
        ),
    ),
]

ELSEWHERE = []
