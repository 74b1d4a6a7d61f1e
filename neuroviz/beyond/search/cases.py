"""Networks whose fibre is worth attacking, each with what is known about it."""

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np

from neuroviz.beyond.search.initial_guesses import KINDS
from neuroviz.beyond.search.result import FiberSearch
from neuroviz.beyond.search.search import search_in_steps
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.block import whole_number
from neuroviz.engine.field import Reals
from neuroviz.engine.network import Layer, Weights, random_weights
from neuroviz.engine.progress import finish, retold

KIND_KEYS = {"all": KINDS, **{key: (kind,) for key, kind in zip(
    ("random", "near", "transposes", "swapped", "minus-L"), KINDS, strict=True)}}  # fmt: skip
"""A short key for each choice of kinds of start."""
MOST_STARTS = 1000


@dataclass(frozen=True)
class SearchCase:
    """A family of networks, random but for what its name says.

    Attributes:
        name: for a list.
        arch: the architecture.
        first: what M_1 is: "random", "antisymmetric" or "zero".
        status, source: how it is known what the fibre is, and where it stands (docs/mathematics.md).
        known: what is known, in a sentence.
        points: how many points the fibre is proved to have, modulo rescaling; None where that is not known.
    """

    name: str
    arch: Architecture
    first: str
    status: str
    source: str
    known: str
    points: int | None


_ONE = "One point: the function determines L and all M."
_RESCALINGS = "One point modulo rescaling."
_FREE = "Later layers see one token only, so what they hold is free."
_MORE = "Whether there are more points is not known."
_LAST_SWAP = f"Rank one in the last layer: values and keys may be swapped there. {_MORE}"

CASES: dict[str, SearchCase] = {
    "softmax-1": SearchCase(
        "softmax, 1 layer", Architecture.uniform(3, 2, 1, 3, "softmax"), "random",
        "proved", "Theorem 3.9", _ONE, 1,
    ),
    "softmax-2": SearchCase(
        "softmax, 2 layers", Architecture.uniform(3, 2, 2, 3, "softmax"), "random",
        "proved here", "Theorem B", _ONE, 1,
    ),
    "softmax-3": SearchCase(
        "softmax, 3 layers", Architecture.uniform(2, 2, 3, 3, "softmax"), "random",
        "proved here", "Theorem B", _ONE, 1,
    ),
    "softmax-turn": SearchCase(
        "softmax t = 2, M₁ antisymmetric", Architecture.uniform(2, 2, 2, 2, "softmax"), "antisymmetric",
        "outside hypotheses", "Theorem B", "PQ = 1: layer 1 makes the two tokens meet. " + _FREE, None,
    ),
    "softmax-turn-3": SearchCase(
        "softmax t = 3, M₁ antisymmetric", Architecture.uniform(2, 2, 2, 3, "softmax"), "antisymmetric",
        "outside hypotheses", "Theorem B", "Three tokens do not meet; Theorem B is silent.", None,
    ),
    "softmax-zero": SearchCase(
        "softmax, M₁ = 0", Architecture.uniform(2, 2, 2, 3, "softmax"), "zero",
        "outside hypotheses", "Theorem B", "Layer 1 makes all tokens their mean. " + _FREE, None,
    ),
    "softmax-token": SearchCase(
        "softmax, 1 token", Architecture.uniform(2, 2, 1, 1, "softmax"), "random",
        "outside hypotheses", "Theorem B", "A single token attends to itself alone, so M₁ is free.", None,
    ),
    "lightning-1": SearchCase(
        "lightning, 1 layer", Architecture.uniform(3, 2, 1), "random",
        "proved", "Theorem 3.2", _RESCALINGS, 1,
    ),
    "rank-one": SearchCase(
        "lightning, rank one", Architecture((3, 1), (1,)), "random",
        "proved", "Theorem 3.2", "Two points modulo rescaling: values and keys may be swapped.", 2,
    ),
    "lightning-2": SearchCase(
        "lightning, 2 layers", Architecture.uniform(2, 2, 2), "random",
        "proved", "Theorem 3.7", _RESCALINGS, 1,
    ),
    "lightning-turn": SearchCase(
        "lightning, M₁ antisymmetric", Architecture.uniform(2, 2, 2), "antisymmetric",
        "outside hypotheses", "Theorem 3.7",
        f"The layers may be swapped. {_MORE}", None,
    ),
    "lightning-221": SearchCase(
        "lightning (2,2,1; 2,1)", Architecture((2, 2, 1), (2, 1)), "random",
        "outside hypotheses", "Theorem 3.7", _LAST_SWAP, None,
    ),
    "lightning-331": SearchCase(
        "lightning (3,3,1; 2,1)", Architecture((3, 3, 1), (2, 1)), "random",
        "outside hypotheses", "Theorem 3.7", _LAST_SWAP, None,
    ),
    "lightning-312": SearchCase(
        "lightning (3,1,2; 1,1)", Architecture((3, 1, 2), (1, 1)), "random",
        "outside hypotheses", "Theorem 3.7",
        f"Rank one in layer 1: values and keys may be swapped there. {_MORE}", None,
    ),
    "lightning-collapse": SearchCase(
        "lightning, rank one, then two", Architecture((3, 3, 3), (1, 2)), "random",
        "outside hypotheses", "Theorem 3.7",
        "Layer 1 makes all tokens parallel, and only the symmetric part of M₂ can be seen.", None,
    ),
    "lightning-3": SearchCase(
        "lightning, 3 layers", Architecture.uniform(2, 2, 3), "random",
        "proved", "Theorem 3.7", _RESCALINGS, 1,
    ),
}  # fmt: skip
"""Key → case, in the order of a list."""


def case_weights(case: SearchCase, seed: int) -> Weights:
    """Random weights of a case.

    >>> weights = case_weights(CASES["lightning-turn"], seed=0)
    >>> A = weights[0].K.T @ weights[0].Q
    >>> bool((A == -A.T).all())
    True
    """
    rng = np.random.default_rng([seed, 7])
    first, *rest = random_weights(Reals(), case.arch, rng)
    if case.first != "random":
        d = case.arch.widths[0]
        drawn = rng.standard_normal((d, d))
        first = Layer(
            drawn - drawn.T if case.first == "antisymmetric" else np.zeros((d, d)), np.eye(d), first.V
        )
    return (first, *rest)


@dataclass(frozen=True)
class SearchSetting:
    """Which search to do.

    Attributes:
        case: a key of `CASES`.
        starts: how many, from 1 to 1000.
        kind: a key of `KIND_KEYS`: "all" or one kind.
        seed: of the weights and of the starts.

    Raises:
        ValueError: if one of them is something else.
    """

    case: str = "rank-one"
    starts: int = 30
    kind: str = "all"
    seed: int = 0

    def __post_init__(self) -> None:
        for name, value, known in (("case", self.case, CASES), ("kind", self.kind, KIND_KEYS)):
            if value not in known:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}; got {value!r}")
        whole_number("starts", self.starts, most=MOST_STARTS)


@dataclass(frozen=True, eq=False)
class SearchStudy:
    """A search of a case, and the case."""

    setting: SearchSetting
    case: SearchCase
    search: FiberSearch


def study_search(setting: SearchSetting) -> SearchStudy:
    """Search the fibre of the network of a setting.

    >>> study_search(SearchSetting("softmax-1", starts=4)).search.note
    '4 starts, 4 verified on fresh inputs; all within ... of one point (σ_min ...).'
    """
    return finish(study_in_steps(setting))


def study_in_steps(setting: SearchSetting) -> Generator[str, None, SearchStudy]:
    """The same, saying after each start how far it is.

    >>> next(study_in_steps(SearchSetting("softmax-1", starts=4)))
    '1 of 4 starts, 1 verified'
    """
    case = CASES[setting.case]
    weights = case_weights(case, setting.seed)
    steps = search_in_steps(case.arch, weights, setting.starts, setting.seed, KIND_KEYS[setting.kind])
    search = yield from retold(steps, lambda done: "{} of {} starts, {} verified".format(*done))
    return SearchStudy(setting, case, search)
