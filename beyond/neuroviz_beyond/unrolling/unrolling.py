"""One term of Eq. 12, and what the reflection of Figure 4 makes of it: numbers only, no
picture."""

from dataclasses import dataclass
from functools import lru_cache, partial
from math import isclose

import numpy as np

from neuroviz.attention.conditioned import conditioned_tokens
from neuroviz.attention.symmetry import VirtualWeights, virtual_weights
from neuroviz.attention.unrolling import (
    Factor,
    link_values,
    mirror,
    part_linear_in_one_token,
    reflect,
    sum_form,
    term,
    unroll,
)
from neuroviz.kit.settings import seed, switch, toggle, whole
from neuroviz.kit.words import counted
from neuroviz.rank.field import Reals
from neuroviz_beyond.transformers.evaluate import Weights, forward

MAX_LAYERS = 4
MAX_TOKENS = 4
MAX_PLACE = len(unroll(MAX_LAYERS))
_MOST_ADDED = 2000  # most terms that are added up one by one while a reader waits
_SMALLEST, _LARGEST = 0.7, 1.4  # a product of forty such numbers is still readable
NOTHING_BELOW = 1e-12
"""What rounding leaves of a zero."""
# the same number up to rounding
_same = partial(isclose, rel_tol=1e-9, abs_tol=NOTHING_BELOW)
_ROUND = "turn the window of tokens around place k round (Figure 4)"
_more = partial(switch, more=True)


@dataclass(frozen=True)
class UnrollSetting:
    """A network, one term of it, and a place in this term. Tokens are counted from 1
    here."""

    layers: int = whole("layers l", 2, 1, MAX_LAYERS)
    tokens: int = whole("tokens t", 3, 2, MAX_TOKENS)
    place: int = whole("place k", 3, 1, MAX_PLACE)
    output: int = whole("output token i", 1, 1, MAX_TOKENS)
    reflect: bool = toggle("reflect the indices around place k", tooltip=_ROUND)
    index_seed: int = seed("indices: seed")
    antisymmetric: bool = _more(
        "M at place k antisymmetric", tooltip="in all places where its layer stands"
    )
    two_tokens: bool = _more(
        "only y and x (Eq. 28)", tooltip="y at all places but the last, x there"
    )
    seed: int = seed("weights: seed")

    def __post_init__(self) -> None:
        layers = counted(self.layers, "layer")
        for name, what, most, there in (
            ("place", "layers", len(unroll(self.layers)), layers),
            ("output", "tokens", self.tokens, f"{self.tokens} tokens"),
        ):
            if (value := getattr(self, name)) > most:
                ends = f"{name} goes from 1 to {most} with {there}; got {value}"
                raise ValueError(f"{ends}: take more {what} or a smaller {name}")

    @property
    def drawn(self) -> tuple[int, ...]:
        """j_1, …, j_n at random and j_{n+1} = i, from 0; fewer layers keep the first
        ones."""
        places = len(unroll(self.layers))
        x = self.output - 1
        if self.two_tokens:
            y = 1 if x == 0 else 0  # another token
            return (*[y] * places, x)
        chances = np.random.default_rng([self.index_seed, 459]).random(MAX_PLACE)
        return (*(int(self.tokens * chance) for chance in chances[:places]), x)

    @property
    def term(self) -> tuple[int, ...]:
        """The drawn indices, with one token at both ends of the mirror's window; its
        last may be j_{n+1}."""
        if self.two_tokens:
            return self.drawn
        found = list(self.drawn)
        # With equal ends, what stands outside the window does not see it turned round.
        first, *_, last = mirror(self.layers, self.place)
        found[first - 1] = found[last - 1]
        return tuple(found)


@dataclass(frozen=True)
class Term:
    """One product of Eq. 12.

    Attributes:
        indices: its tokens, j_1, …, j_n and j_{n+1} = i, from 0.
        start: L x_{j_1}, one number: L has one row here.
        values: x_{j_k}ᵀ M̃_k x_{j_{k+1}} for each place.
        value: the product of all of these.
    """

    indices: tuple[int, ...]
    start: float
    values: tuple[float, ...]
    value: float


@dataclass(frozen=True)
class Reflection(Term):
    """The term whose window of indices around a place is turned round.

    Attributes:
        moved: (from, to): places whose number stands at the place opposite afterwards.
        changed: the mirror's place, if its number is another one now.
    """

    moved: tuple[tuple[int, int], ...]
    changed: tuple[int, ...]


@dataclass(frozen=True)
class UnrollStudy(Term):
    """One term of Eq. 12, and what the reflection at one place makes of it.

    Attributes:
        layers, tokens: l and t.
        factors: M̃_1, …, M̃_n.
        place: k, from 1.
        window: the numbers of the indices that the mirror at k reaches, from 1.
        output: what the network gives for token i.
        summed: all t^n terms for token i added one by one, or None where they are too
            many.
        antisymmetric: the layer whose M is antisymmetric, or None.
        coefficient: Eq. 28 by its formula if this is its term, y everywhere and x at
            the end; else None.
        reflection: None unless asked for.
        moves: the values of the controls that the scene moves.
        local: what the scene computes terms from: L x_j, all x_jᵀM_h x_j′, and the
            tokens that were drawn.
    """

    layers: int
    tokens: int
    factors: tuple[Factor, ...]
    place: int
    window: tuple[int, ...]
    output: float
    summed: float | None
    antisymmetric: int | None
    coefficient: float | None
    reflection: Reflection | None
    moves: dict[str, object]
    local: dict[str, object]

    @property
    def two_tokens(self) -> bool:
        """Whether this is the term of Eq. 28."""
        return self.coefficient is not None

    @property
    def factor(self) -> Factor:
        """M̃_k at the chosen place."""
        return self.factors[self.place - 1]

    @property
    def turned_factor(self) -> Factor:
        """Its transpose."""
        return Factor(self.factor.layer, not self.factor.transposed)

    @property
    def focus(self) -> int:
        """The place that the figure points at: the mirror's, or with y and x only, the
        last one."""
        return len(self.factors) if self.two_tokens else self.place

    @property
    def vanishes(self) -> bool:
        """Whether the term is zero, up to rounding."""
        return abs(self.value) < NOTHING_BELOW

    @property
    def cancels(self) -> bool:
        """Whether the term and its reflection are two terms that add up to zero."""
        after = self.reflection
        return (
            after is not None
            and after.indices != self.indices
            and _same(self.value, -after.value)
        )

    @property
    def adds_up(self) -> bool:
        """Whether all terms together are what the layers give; True where nobody added
        them up."""
        return self.summed is None or _same(self.summed, self.output)

    @property
    def reads_off(self) -> bool:
        """Whether the term has the value of Eq. 28; True where that was not asked
        for."""
        return self.coefficient is None or _same(self.coefficient, self.value)


def readable_network(
    layers: int, seed: int, antisymmetric: int | None = None
) -> tuple[Weights, np.ndarray]:
    """A random network of width 4 with one output, and four tokens, for products that
    can be read.

    The tokens are four independent vectors of length near 1. The weights are drawn
    through the numbers that they give: all L x_j and x_jᵀM_hx_j′ have a random sign and
    size 0.7 to 1.4.

    Args:
        layers: l.
        seed: for weights and tokens.
        antisymmetric: the layer whose M is to be antisymmetric: then x_jᵀMx_j′ stays
            for j < j′.

    Returns:
        Weights with virtual weights L and M_1, …, M_l, and X of shape (4, 4).
    """
    rng = np.random.default_rng([seed, 12])
    (X,) = conditioned_tokens(4, 4, 1, rng)

    def readable(rows: int) -> np.ndarray:
        size = np.exp(rng.uniform(np.log(_SMALLEST), np.log(_LARGEST), (rows, 4)))
        return size * rng.choice([-1.0, 1.0], (rows, 4))

    # L X and XᵀM_hX are drawn, so L and M_h follow. Values are 1 up to the last layer:
    # M_h is A_h.
    back = np.linalg.inv(X)
    L = readable(1) @ back
    network = {}
    for h in range(1, layers + 1):
        N = readable(4)
        if h == antisymmetric:
            N = np.triu(N, 1) - np.triu(N, 1).T
        network[f"{h}.Q"] = back.T @ N @ back
        network[f"{h}.K"] = np.eye(4)
        network[f"{h}.V"] = L if h == layers else np.eye(4)
    return network, X


def study_unrolling(setting: UnrollSetting) -> UnrollStudy:
    """One term of Eq. 12, the whole sum where it is short, and the reflection."""
    layers = setting.layers
    tokens = setting.tokens
    place = setting.place
    indices = setting.term
    factors = unroll(layers)
    coefficient = None
    antisymmetric = factors[place - 1].layer if setting.antisymmetric else None
    network = layers, tokens, setting.seed, antisymmetric
    virtual, X, outputs = _network(*network)
    if setting.two_tokens:
        y = X[:, indices[0]]
        x = X[:, indices[-1]]
        coefficient = float(part_linear_in_one_token(Reals(), virtual, y, x)[0])
    numbers = _numbers(virtual, X, indices)
    window = tuple(mirror(layers, place))
    summed = (
        _all_terms(*network)[indices[-1]]
        if tokens ** len(factors) <= _MOST_ADDED
        else None
    )
    turned = setting.reflect and not setting.two_tokens
    return UnrollStudy(
        *numbers,
        layers=layers,
        tokens=tokens,
        factors=factors,
        place=place,
        window=window,
        output=outputs[indices[-1]],
        summed=summed,
        antisymmetric=antisymmetric,
        coefficient=coefficient,
        reflection=_reflection(virtual, X, setting) if turned else None,
        moves={"place": place, "reflect": setting.reflect},
        local=_local(setting),
    )


def _local(setting: UnrollSetting) -> dict[str, object]:
    """For the scene; it makes an M antisymmetric itself, for this M depends on the
    place."""
    (L, Ms), X, _ = _network(setting.layers, setting.tokens, setting.seed, None)
    return {
        "layers": setting.layers,
        "drawn": list(setting.drawn),
        "first": (L @ X)[0].tolist(),
        "links": [(X.T @ M @ X).tolist() for M in Ms],
        "isAntisymmetric": setting.antisymmetric,
        "isOfTwo": setting.two_tokens,
    }


def _numbers(virtual: VirtualWeights, X: np.ndarray, indices: tuple[int, ...]) -> tuple:
    """The fields of a term."""
    over = Reals()
    start = float((virtual.L @ X[:, indices[0]])[0])
    return (
        indices,
        start,
        link_values(over, virtual, X, indices),
        float(term(over, virtual, X, indices)[0]),
    )


def _reflection(
    virtual: VirtualWeights, X: np.ndarray, setting: UnrollSetting
) -> Reflection:
    indices = setting.term
    place = setting.place
    window = mirror(setting.layers, place)
    radius = len(window) // 2
    # x_jᵀM̃x_j is its own transpose.
    changed = (place,) * (indices[place - 1] != indices[place])
    # A window of 2r indices has 2r − 1 numbers between them; the middle one stays.
    moved = tuple((place + s, place - s) for s in range(1 - radius, radius) if s)
    turned = _numbers(virtual, X, reflect(setting.layers, indices, place))
    return Reflection(*turned, moved, changed)


@lru_cache(maxsize=64)
def _network(
    layers: int, tokens: int, seed: int, antisymmetric: int | None
) -> tuple[VirtualWeights, np.ndarray, tuple[float, ...]]:
    weights, X = readable_network(layers, seed, antisymmetric)
    X = X[:, :tokens]
    outputs = forward(Reals(), "lightning", weights, X[None])[0, 0]
    return virtual_weights(Reals(), weights), X, tuple(map(float, outputs))


@lru_cache(maxsize=64)
def _all_terms(
    layers: int, tokens: int, seed: int, antisymmetric: int | None
) -> tuple[float, ...]:
    virtual, X, _ = _network(layers, tokens, seed, antisymmetric)
    return tuple(map(float, sum_form(Reals(), virtual, X)[0]))
