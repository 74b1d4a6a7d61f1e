"""What notebooks/06_beyond_the_paper.py says in words: see tests/test_claims.py."""

import neuroviz as nv
from claims.common import lost, uniform
from neuroviz.family import FamilySetting, study_family
from neuroviz.real_models import real_model


def beyond_the_cap():
    formula = "min(H(α(a, d) + d²) − H·max(1, H − pos(d − a)²), d³(d + 1)/2)"
    return study_family(FamilySetting("heads-many", formula)).verdicts


CLAIMS = [
    (
        "It does not. A skip adds $X$ and never looks at $A$ and $V$",
        lambda: nv.kernel_ledger(uniform(4, 2, 2, skip=True)).entries["rescalings"] == 2,
    ),
    (
        "At $d = 3$, $a = 2$ it is the third head",
        lambda: [lost(uniform(3, 2, 1, heads=h)) - 5 * h for h in (1, 2, 3)] == [0, 0, 3],
    ),
    (
        "one fits eighteen networks and fails at the seventh head",
        lambda: (lambda wrong: len(wrong) == 3 and {v.sizes.heads for v in wrong} == {7})(
            [v for v in beyond_the_cap() if v.difference]
        ),
    ),
    (
        "$a$ directions instead of $a^2$ for each group of keys: 128 times fewer",
        lambda: (
            real_model("OPT-6.7B").redundant["bases of keys and queries"]
            == 128 * real_model("LLaMA-7B").redundant["bases of keys and queries"]
        ),
    ),
    (
        "In Falcon-7B, where 71 heads share a single key and value, it is one in ten thousand",
        lambda: (lambda m: 0.9e-4 < sum(m.redundant.values()) / m.parameters < 1.1e-4)(
            real_model("Falcon-7B")
        ),
    ),
]

ELSEWHERE = []
