"""What notebooks/04_deep_dimension.py says in words: see tests/test_claims.py."""

import neuroviz as nv
from claims.common import A, dim, random_networks, uniform


def decided_and_right(arch):
    """Whether the float rank is decided; one that is decided and wrong ends the test."""
    seen = nv.measure_dimension(arch, "float")
    assert not seen.decided or seen.value == nv.measure_dimension(arch).value, str(arch)
    return seen.decided


CLAIMS = [
    (
        "61 remain: 58 % of the",
        lambda: nv.measure_dimension(uniform(4, 4, 3)).value == 61 and round(100 * 83 / 144) == 58,
    ),
    (
        "softmax has exactly $l$ dimensions more, whatever $\\delta$",
        lambda: all(
            dim((d,) * (k + 1), (2,) * k, attention="softmax") - dim((d,) * (k + 1), (2,) * k) == k
            for d in (2, 3, 4)
            for k in (1, 2, 3)
        ),
    ),
    (
        "0 for $a_2 = 1$, then 2, then 3",
        lambda: [dim((3, 3, 3), (2, a)) - dim((3, 3, 3), (1, a)) - 3 for a in (1, 2, 3)] == [0, 2, 3],
    ),
    (
        "A last layer of rank one costs nothing",
        lambda: all(
            nv.paper_formula(net).value == nv.measure_dimension(net).value
            for net in (A((3, 3, 3), (2, 1)), A((4, 3, 4), (2, 1)))
        ),
    ),
    (
        "For outer widths 1 and $\\delta = 5$ it is too small: it says 0",
        lambda: nv.paper_formula(A((1, 5, 1), (2, 2))).value == 0 and dim((1, 5, 1), (2, 2)) == 1,
    ),
    (
        "4.8 for $\\delta = 768$, $a = 64$ and 12 layers",
        lambda: (
            (lambda n: round(n.num_parameters / nv.expected_dimension(n).value, 1))(uniform(768, 64, 12))
            == 4.8
        ),
    ),
    (
        "has 14 parameters and dimension 1",
        lambda: A((1, 3, 1), (1, 1)).num_parameters == 14 and dim((1, 3, 1), (1, 1)) == 1,
    ),
    (
        "with at most four layers, 88 in 100 were decided, none of them wrongly",
        lambda: (lambda seen: sum(seen) > 0.65 * len(seen))(
            [decided_and_right(arch) for arch in random_networks(60)]
        ),
    ),
]

ELSEWHERE = []
