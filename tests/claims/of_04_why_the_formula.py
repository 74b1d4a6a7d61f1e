"""What notebooks/04_why_the_formula.py says in words: see tests/test_claims.py."""

import numpy as np

import neuroviz as nv
from claims.common import OVER, A, random_networks
from neuroviz.flag import flag_steps, formula_terms
from neuroviz.peeling import measure_kernel
from neuroviz.symmetry import VirtualWeights


def kernel(layers, width, M1, seed=1):
    draw = np.random.default_rng(seed)
    L, *Ms = OVER.random(draw, (layers + 1, width, width))
    return measure_kernel(VirtualWeights(L, (M1(draw, width), *Ms[1:])), OVER, draw).kernel


def symmetric_rank_one(draw, width):
    a = OVER.random(draw, (width,))
    return OVER.matmul(a[:, None], a[None])


def any_antisymmetric(draw, width):
    G = OVER.random(draw, (width, width))
    return OVER.reduce(G - G.T)


CLAIMS = [
    (
        "239 parameters, and 87 dimensions",
        lambda: (
            (lambda n: (n.num_parameters, nv.measure_dimension(n).value))(
                A((9, 8, 9, 1), (2, 2, 1), tokens=2)
            )
            == (239, 87)
        ),
    ),
    (
        "$14 + 12 + 3 + 32 + 24 + 5 - 3 = 87$",
        lambda: (
            sorted(t.value for t in formula_terms(A((9, 8, 9, 1), (2, 2, 1), tokens=2)) if t.value)
            == sorted([14, 12, 3, 32, 24, 5, -3])
        ),
    ),
    (
        "$1 + 2 \\cdot 3 = 7$ of 9, and after layer 1 all 8",
        lambda: (
            [step.measured.value for step in flag_steps(A((9, 8, 9, 1), (2, 2, 3))) if step.measured]
            == [8, 7]
        ),
    ),
    ("the kernel is $3 + 6 = 9$", lambda: kernel(3, 3, symmetric_rank_one) == 9),
    (
        "The kernels for $l = 2, 3$ are 2 and 3",
        lambda: [kernel(k, 4, any_antisymmetric) for k in (2, 3)] == [2, 3],
    ),
    (
        "more than 20,000 exact ranks, three implementations, no mismatch",
        lambda: all(
            nv.measure_dimension(arch).value
            == nv.measure_dimension(arch, prime=8_388_587).value
            == nv.general_formula(arch).value
            for arch in random_networks(80)
        ),
    ),
]

ELSEWHERE = []
