"""What notebooks/05_the_proof.py says in words: see tests/test_claims.py."""

import numpy as np

from neuroviz.field import Reals
from neuroviz.search_cases import SearchSetting, study_search
from neuroviz.two_tokens import logits

CLAIMS = [
    (
        "both are $-10\\,|x_1|^2$, so $|x_1| \\ge 1.2$ does it",
        lambda: all(
            p < np.log(1e-6) and np.isclose(p, -14.4)
            for p in logits(Reals(), 5 * np.eye(2), np.array([[1.2, -1.2], [0.0, 0.0]]))
        ),
    ),
    (
        "44,060 starts of the search: no second solution",
        lambda: all(
            study_search(SearchSetting(case, starts=6)).search.classes[1:] == ()
            for case in ("softmax-1", "softmax-2")
        ),
    ),
]

ELSEWHERE = []
