"""What notebooks/00_start.py says in words: see tests/test_claims.py."""

from claims.common import lost, uniform

CLAIMS = [
    ("Sixty-four numbers go in", lambda: uniform(4, 2, 2).num_parameters == 64),
    (
        "With $d = 4$ and $a = 2$: 5, 26, 47, 68.",
        lambda: [lost(uniform(4, 2, k)) for k in (1, 2, 3, 4)] == [5, 26, 47, 68],
    ),
    ("So $5l + 16(l - 1)$", lambda: all(lost(uniform(4, 2, k)) == 21 * k - 16 for k in (1, 2, 3, 4, 5))),
]

ELSEWHERE = []
