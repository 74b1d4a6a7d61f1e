"""Networks whose fibre is worth attacking, each with what is known about it."""

from collections.abc import Generator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from neuroviz.kit.settings import choice, seed, whole
from neuroviz.kit.steps import in_steps, retold
from neuroviz.rank.checks import whole_number
from neuroviz.rank.field import Reals
from neuroviz_beyond.search.initial_guesses import KINDS
from neuroviz_beyond.search.result import FiberSearch
from neuroviz_beyond.search.search import search_in_steps
from neuroviz_beyond.transformers import Transformer
from neuroviz_beyond.transformers.evaluate import Weights, random_weights

_KEYS = ("random", "near", "transposes", "swapped", "minus-L")
KIND_KEYS = {
    "all": KINDS,
    **{key: (kind,) for key, kind in zip(_KEYS, KINDS, strict=True)},
}
"""A short key for each choice of kinds of start."""
QUICK_STARTS, MOST_STARTS = 30, 1000  # 30 starts of one layer take a second or two


@dataclass(frozen=True)
class SearchCase:
    """A family of networks, random but for what its name says.

    Attributes:
        name: for a list.
        arch: the architecture.
        status, source: how it is known what the fibre is, and where it stands
            (docs/mathematics/index.md).
        known: what is known, in a sentence.
        points: how many points the fibre is proved to have, modulo rescaling; None
            where that is not known.
        first: what M_1 is: "random", "antisymmetric" or "zero".
    """

    name: str
    arch: Transformer
    status: str
    source: str
    known: str
    points: int | None = None
    first: str = "random"


_ONE = "One point: the function determines L and all M.", 1
_RESCALINGS = "One point modulo rescaling.", 1
_FREE = "Later layers see one token only, so what they hold is free."
_MORE = "Whether there are more points is not known."
_LAST_SWAP = (
    "Two points modulo rescaling: values and keys may be swapped in the last layer.",
    2,
)
# (status, source) of a case; Theorem F contains Theorem 3.7.
_THEOREM_B = ("proved here", "Theorem B")
_OUTSIDE_B = ("outside hypotheses", "Theorem B")
_THEOREM_32 = ("proved", "Theorem 3.2")
_THEOREM_37 = ("proved", "Theorem 3.7")
_THEOREM_F = ("proved here", "Theorem F")
_OUTSIDE_F = ("outside hypotheses", "Theorem F")
_uniform = Transformer.uniform

CASES: dict[str, SearchCase] = {
    "softmax-1": SearchCase(
        "softmax, 1 layer",
        _uniform(3, 2, 1, 3, "softmax"),
        "proved",
        "Theorem 3.9",
        *_ONE,
    ),
    "softmax-2": SearchCase(
        "softmax, 2 layers", _uniform(3, 2, 2, 3, "softmax"), *_THEOREM_B, *_ONE
    ),
    "softmax-3": SearchCase(
        "softmax, 3 layers", _uniform(2, 2, 3, 3, "softmax"), *_THEOREM_B, *_ONE
    ),
    "softmax-heads": SearchCase(
        "softmax, 2 heads",
        _uniform(2, 2, 1, 3, "softmax", heads=2),
        "proved here",
        "Theorem H",
        "Two points: the heads may change places.",
        2,
    ),
    "softmax-turn": SearchCase(
        "softmax t = 2, M₁ antisymmetric",
        _uniform(2, 2, 2, 2, "softmax"),
        *_OUTSIDE_B,
        f"PQ = 1: layer 1 makes the two tokens meet. {_FREE}",
        first="antisymmetric",
    ),
    "softmax-turn-3": SearchCase(
        "softmax t = 3, M₁ antisymmetric",
        _uniform(2, 2, 2, 3, "softmax"),
        *_OUTSIDE_B,
        "Three tokens do not meet; Theorem B is silent.",
        first="antisymmetric",
    ),
    "softmax-zero": SearchCase(
        "softmax, M₁ = 0",
        _uniform(2, 2, 2, 3, "softmax"),
        *_OUTSIDE_B,
        f"Layer 1 makes all tokens their mean. {_FREE}",
        first="zero",
    ),
    "softmax-token": SearchCase(
        "softmax, 1 token",
        _uniform(2, 2, 1, 1, "softmax"),
        *_OUTSIDE_B,
        "A single token attends to itself alone, so M₁ is free.",
    ),
    "lightning-1": SearchCase(
        "lightning, 1 layer", _uniform(3, 2, 1), *_THEOREM_32, *_RESCALINGS
    ),
    "rank-one": SearchCase(
        "lightning, rank one",
        Transformer((3, 1), (1,)),
        *_THEOREM_32,
        "Two points modulo rescaling: values and keys may be swapped.",
        2,
    ),
    "lightning-2": SearchCase(
        "lightning, 2 layers", _uniform(2, 2, 2), *_THEOREM_37, *_RESCALINGS
    ),
    "lightning-turn": SearchCase(
        "lightning, M₁ antisymmetric",
        _uniform(2, 2, 2),
        *_OUTSIDE_F,
        f"The layers may be swapped. {_MORE}",
        first="antisymmetric",
    ),
    "lightning-221": SearchCase(
        "lightning (2,2,1; 2,1)",
        Transformer((2, 2, 1), (2, 1)),
        *_THEOREM_F,
        *_LAST_SWAP,
    ),
    "lightning-331": SearchCase(
        "lightning (3,3,1; 2,1)",
        Transformer((3, 3, 1), (2, 1)),
        *_THEOREM_F,
        *_LAST_SWAP,
    ),
    "lightning-312": SearchCase(
        "lightning (3,1,2; 1,1)",
        Transformer((3, 1, 2), (1, 1)),
        *_OUTSIDE_F,
        f"Rank one in layer 1: values and keys may be swapped there. {_MORE}",
    ),
    "lightning-collapse": SearchCase(
        "lightning, rank one, then two",
        Transformer((3, 3, 3), (1, 2)),
        *_OUTSIDE_F,
        "Layer 1 makes all tokens parallel, and only the symmetric part of M₂ can be"
        " seen.",
    ),
    "lightning-3": SearchCase(
        "lightning, 3 layers", _uniform(2, 2, 3), *_THEOREM_37, *_RESCALINGS
    ),
}
"""Key → case, in the order of a list."""


def case_weights(case: SearchCase, seed: int) -> Weights:
    """Random weights of a case.

    >>> weights = case_weights(CASES["lightning-turn"], seed=0)
    >>> A = weights["1.K"].T @ weights["1.Q"]
    >>> bool((A == -A.T).all())
    True
    """
    rng = np.random.default_rng([seed, 7])
    weights = random_weights(Reals(), case.arch, rng)
    if case.first != "random":
        d = case.arch.widths[0]
        drawn = rng.standard_normal((d, d))
        M = drawn - drawn.T if case.first == "antisymmetric" else np.zeros((d, d))
        weights |= {"1.Q": M, "1.K": np.eye(d)}  # a = d in these cases
    return weights


@dataclass(frozen=True)
class SearchSetting:
    """Which search to do: a key of `CASES`, how many starts (1 to 1000), and a key of
    `KIND_KEYS`.

    The seed is that of the weights and of the starts.

    Raises:
        ValueError: if one of them is something else.
    """

    case: str = choice(
        "network", [(case.name, key) for key, case in CASES.items()], "rank-one"
    )
    starts: int = whole("starts", QUICK_STARTS, 10, 200, step=10, slow=True)
    kind: str = choice(
        "kind of start", [("all", "all"), *zip(KINDS, _KEYS, strict=True)]
    )
    seed: int = seed()

    def __post_init__(self) -> None:
        for name, value, known in (
            ("case", self.case, CASES),
            ("kind", self.kind, KIND_KEYS),
        ):
            if value not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(map(repr, known))}; got"
                    f" {value!r}"
                )
        whole_number("starts", self.starts, most=MOST_STARTS)

    @property
    def is_slow(self) -> bool:
        """Whether it takes longer than a reader waits without a sign."""
        return self.starts > QUICK_STARTS or CASES[self.case].arch.num_layers > 1


@dataclass(frozen=True, eq=False)
class SearchStudy:
    """A search of a case, the case, and what was asked for."""

    setting: SearchSetting
    case: SearchCase
    search: FiberSearch


@lru_cache(8)
def _ends(_case: str, _kind: str, _seed: int) -> list:
    """Where the starts of such searches have ended, so far: a start depends on its
    number and on these."""
    return []


@in_steps
def study_search(setting: SearchSetting) -> Generator[str, None, SearchStudy]:
    """Search the fibre of the network of a setting.

    >>> study_search(SearchSetting("softmax-1", starts=4)).search.note
    '4 starts, 4 verified on fresh inputs; all within ... of one point, σ_min = ....'
    >>> list(study_search.in_steps(SearchSetting("softmax-1", starts=4, seed=1)))[1]
    'softmax, 1 layer: 1 of 4 starts, 1 verified'
    >>> def residuals(starts):
    ...     search = study_search(SearchSetting("softmax-1", starts)).search
    ...     return [start.residual for start in search.outcomes]
    >>> residuals(4)[:2] == residuals(2)
    True
    """
    case = CASES[setting.case]
    yield f"{case.name}: 0 of {setting.starts} starts"
    weights = case_weights(case, setting.seed)
    ends = _ends(setting.case, setting.kind, setting.seed)
    steps = search_in_steps(
        case.arch, weights, setting.starts, setting.seed, KIND_KEYS[setting.kind], ends
    )
    words = f"{case.name}: {{}} of {{}} starts, {{}} verified"
    search = yield from retold(steps, lambda done: words.format(*done))
    return SearchStudy(setting, case, search)
