"""Theorem B as a duel: a second set of weights, and exponentials at which it gives
itself away.

Two softmax networks θ and θ′ differ in one matrix. If they had one function, they would
have it for all exponentials of their first layers that the relations between the logits
allow ("Theorem B", step 1). Somewhere among these one network makes the two tokens
equal and the other does not, or it makes them equal elsewhere. Where that is depends on
the relations; this module goes there.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from neuroviz.attention.symmetry import VirtualWeights
from neuroviz.rank.field import Reals
from neuroviz.softmax.two_tokens import (
    Shares,
    along_line,
    attention,
    follow,
    logits,
    shares,
    softmax_shares,
)
from neuroviz_beyond.proofs.separation import Ending, find_ending
from neuroviz_beyond.proofs.weight_pairs import (
    Relations,
    UniquenessSetting,
    find_case,
    find_relations,
    two_networks,
)

_X = np.array([[-0.7, 0.6], [0.3, -0.4], [0.5, -0.1]])
"""The two tokens, as columns, of all pictures."""

_STEPS = 40  # points of the drawn way
_SPEED = 4.0  # exponentials that fall do so as (1 − travel)⁴


@dataclass(frozen=True, eq=False)
class Side:
    """One of the two networks, at this place of the way.

    Attributes:
        places: of the tokens before the first layer and after each, as fractions of the
            way from x_1 to x_2; shape (l + 1, 2). A token that runs away is at ±∞ at
            the end.
        shares: (μ, ν) of every layer.
        path: those of the layer that is moved, from the beginning of the way to its
            end.
        allowed: what the relations leave to this layer while the other network stands
            still: "all", "curve" (one relation) or "point".
        curve: some points of that curve; () if it is none.
        gap: how far the two output columns are apart.
    """

    places: np.ndarray
    shares: tuple[Shares, ...]
    path: tuple[Shares, ...]
    allowed: str
    curve: tuple[Shares, ...]
    gap: float


@dataclass(frozen=True, eq=False)
class SingletonStudy:
    """Two networks on the same two tokens, with exponentials that their relations
    allow.

    Attributes:
        setting: as given.
        case: as `find_case` names it.
        relations: between the exponentials of the two first layers.
        moved: the layer whose exponentials are on the move, 1 or 2.
        left, right: θ and θ′.
        ending: the end of the way, exactly.
        functions_apart: the largest difference of the two true networks on 50 random
            inputs, in floats.
        forms: of θ and of θ′, what the logits of each layer are on the line of the
            tokens: see `along_line`.
    """

    setting: UniquenessSetting
    case: str
    relations: Relations
    moved: int
    left: Side
    right: Side
    ending: Ending
    functions_apart: float
    forms: list[list[list[float]]]


def study_singleton(setting: UniquenessSetting) -> SingletonStudy:
    """Where θ and θ′ are told apart, or why they cannot be.

    >>> study = study_singleton(UniquenessSetting("same symmetric part"))
    >>> study.case, study.relations.words
    ('B2', ('P′Q′ = (PQ)²',))
    >>> study.ending.left_meet, study.ending.right_meet
    (False, True)
    >>> outside = study_singleton(UniquenessSetting("other M₂", symmetric=0.0))
    >>> outside.ending.same, outside.functions_apart < 1e-12
    (True, True)
    """
    exact = two_networks(setting)
    relations = find_relations(*exact, setting.causal)
    case = find_case(setting, exact, relations)
    way = _Way(setting, case, relations.power, *(one.in_floats() for one in exact))
    moved = way.moved(setting.travel)
    here = way.at(setting.travel)
    # Where the two halves of a way move different layers, each half is drawn alone.
    begin, end = 0.0, 1.0
    if case == "peel" and setting.layers > 1:
        begin, end = (0.0, 0.5) if moved == 1 else (0.5, 1.0)
    steps = [
        way.at(begin + (end - begin) * k / _STEPS, moved) for k in range(_STEPS + 1)
    ]
    room = _room(case, moved, relations)
    sides = []
    for i, network in enumerate((way.left, way.right)):
        path = tuple(step[i].shares[moved - 1] for step in steps)
        curve = way.curve(network) if room[i] == "curve" else ()
        side = Side(
            places=here[i].places,
            shares=here[i].shares,
            path=path,
            allowed=room[i],
            curve=curve,
            gap=here[i].gap,
        )
        sides.append(side)
    left, right = sides
    return SingletonStudy(
        setting=setting,
        case=case,
        relations=relations,
        moved=moved,
        left=left,
        right=right,
        ending=find_ending(setting, case, relations, exact),
        functions_apart=_apart(setting, way.left, way.right),
        forms=[along_line(network.M, _X) for network in (way.left, way.right)],
    )


def _room(case: str, moved: int, relations: Relations) -> tuple[str, str]:
    """The freedom that the relations leave to θ's moved layer, and to that of θ′ while
    θ's stands still."""
    if moved == 2:
        return "all", "all"
    half = len(relations.letters) // 2
    # Relations of θ alone bind θ; all others bind θ′ while θ stands still.
    mine = sum(not any(row[half:]) for row in relations.rows)
    # Each relation takes one dimension from (P, Q), under a mask from Q.
    kinds = ("all", "curve", "point") if half == 2 else ("all", "point")
    return kinds[mine], kinds[len(relations.rows) - mine]


# The way


class _Stop(NamedTuple):
    """One network at a place of the way; as in `Side`."""

    places: np.ndarray
    shares: tuple[Shares, ...]
    gap: float


class _Runner(NamedTuple):
    """The logits of a network while one token runs away."""

    power: float  # 1 of θ, ρ of θ′
    start: float  # the logit that moves: p, under a mask q
    here: float  # the same at this place of the way
    other: float  # the other logit, here


@dataclass(frozen=True, eq=False)
class _Way:
    """From the true exponentials to those that tell two networks apart, within the
    relations."""

    setting: UniquenessSetting
    case: str
    power: Fraction | None
    left: VirtualWeights
    right: VirtualWeights

    def moved(self, travel: float) -> int:
        """The layer that moves: after peeling the second, if there is one."""
        return (
            2 if self.case == "peel" and self.setting.layers > 1 and travel > 0.5 else 1
        )

    def at(self, travel: float, layers: int | None = None) -> tuple[_Stop, _Stop]:
        """Both networks at this place, up to so many layers."""
        firsts, places = self._first_layers(travel)
        found = []
        for network, first, begin, is_right in zip(
            (self.left, self.right), firsts, places, (False, True), strict=True
        ):
            here = [begin[0], begin[1]]
            given = [first]
            for i, M in enumerate(network.M[1:layers], start=2):
                tokens = _tokens(here[-1])
                one = softmax_shares([M], tokens, causal=self.setting.causal)[0]
                # In the second half θ stands still, and layer 2 of θ′ is free.
                if is_right and i == self.moved(travel):
                    one = self._to_meet(M, tokens, 2 * travel - 1)
                given.append(Shares(float(one.mu), float(one.nu)))
                here.append(here[-1] @ attention(Reals(), given[-1]))
            out = network.L @ _tokens(here[-1])
            gap = float(np.linalg.norm(out[:, 0] - out[:, 1]))
            found.append(_Stop(np.array(here), tuple(given), gap))
        return found[0], found[1]

    def curve(self, network: VirtualWeights) -> tuple[Shares, ...]:
        """The shares with the PQ that the first layer of a network has in truth, from P
        = 0 to P = ∞."""
        total = sum(self._true(network)[0])
        # p − q from −24 to 24: to the eye the curve ends in (0, 1) and in (1, 0).
        logits_p = [total / 2 + 24 * k / _STEPS - 12 for k in range(_STEPS + 1)]
        return tuple(self._shares(p, total - p) for p in logits_p)

    def _true(self, network: VirtualWeights) -> tuple[tuple[float, float], Shares]:
        """The true logits of the first layer, and the shares that they give."""
        p, q = (float(one) for one in logits(Reals(), network.M[0], _X))
        return (p, q), self._shares(p, q)

    def _shares(self, p: float, q: float) -> Shares:
        """The shares that logits give, which may be infinite."""
        found = shares(_exp(p), _exp(q), causal=self.setting.causal)
        return Shares(float(found.mu), float(found.nu))

    def _to_meet(self, M: np.ndarray, tokens: np.ndarray, travel: float) -> Shares:
        """A layer that is free, on its way to PQ = 1; under a mask to Q = ∞."""
        p, q = (float(one) for one in logits(Reals(), M, tokens))
        if self.setting.causal:
            return self._shares(p, q + _far(travel))
        return self._shares((1 - travel) * p, (1 - travel) * q)

    def _first_layers(
        self, travel: float
    ) -> tuple[tuple[Shares, Shares], tuple[np.ndarray, np.ndarray]]:
        """The shares of both first layers, and the places before and after each of
        them, (2, 2)."""
        causal = self.setting.causal
        (p, q), start = self._true(self.left)
        (p_, q_), start_ = self._true(self.right)  # p′, q′
        far = _far(travel)
        found = (start, start_)
        if self.case == "A":
            found = start, self._to_meet(self.right.M[0], _X, travel)
        elif self.case == "B2":
            # P′ → 0 and Q′ → ∞ with the same P′Q′, which is all that the relation asks.
            found = start, self._shares(p_ - far, q_ + far)
        elif self.case == "B1, ρ < 0":
            # Without a mask both saturate, one on x_1 and one on x_2; with it θ freezes
            # and θ′ collapses.
            push = -1 if causal else 1
            rho = float(self.power)
            found = (
                self._shares(p - push * far, q + push * far),
                self._shares(p_ - push * rho * far, q_ + push * rho * far),
            )
        elif self.case == "peel":
            # Freezing, P, Q → 0, takes the first layer off both networks.
            off = _far(min(1.0, 2 * travel) if self.setting.layers > 1 else travel)
            found = self._shares(p - off, q - off), self._shares(p_ - off, q_ - off)
        elif self.case == "B1, ρ > 0":
            return self._run_away(travel)
        both = np.array([0.0, 1.0])  # x_1 is at 0, and x_2 at 1
        return found, tuple(
            np.array([both, both @ attention(Reals(), one)]) for one in found
        )

    def _run_away(
        self, travel: float
    ) -> tuple[tuple[Shares, Shares], tuple[np.ndarray, np.ndarray]]:
        """Q → 0; then P → ∞ while x_1 runs away, so that one of the networks sees it
        where it was.

        A first layer draws x_1 towards x_2 and divides their distance by 1 + P. So x_1
        has to run to (1 + P)/(1 + P at the start). In the network where P has the
        larger power it comes to x_2 all the same. Under a mask x_2 runs away from x_1,
        by its Q, and there is no first half.
        """
        causal = self.setting.causal
        rho = float(self.power)
        if causal:
            off, away = 0.0, travel
        else:
            off, away = min(1.0, 2 * travel), max(0.0, 2 * travel - 1)
        # After the first layers the distances differ by a factor (1 + P)/(1 + P^ρ),
        # about P^(1 − ρ): so it changes equally fast for each ρ.
        far = _far(away) / abs(rho - 1)
        runners = []
        for network, power in ((self.left, 1.0), (self.right, rho)):
            (p, q), _ = self._true(network)
            mover, other = (q, p) if causal else (p, q)
            here = mover + power * far
            runners.append(_Runner(power, mover, here, other - power * _far(off)))

        # In logarithms, as 1 + P overflows: log(1 + e^p) is softplus(p).
        holds = min(runners, key=lambda runner: runner.power)
        divisor = _softplus(holds.start)
        divided = _softplus(holds.here)
        distance = _exp(divided - divisor)
        found = []
        places = []
        for runner in runners:
            catches_up = 0.0
            if runner is not holds:
                # At the end both are ∞, and so is their difference.
                catches_up = inf if far == inf else _softplus(runner.here) - divided
            after = exp(-divisor - catches_up)
            if causal:
                given = self._shares(runner.other, runner.here)
                place = [[0.0, distance], [0.0, after]]
            else:
                given = self._shares(runner.here, runner.other)
                # ν · distance is ν, because x_1 runs away only where ν is 0.
                place = [[1 - distance, 1.0], [1 - after, 1 - given.nu]]
            found.append(given)
            places.append(np.array(place))
        return (found[0], found[1]), (places[0], places[1])


def _tokens(places: np.ndarray) -> np.ndarray:
    """Tokens at these places between x_1 and x_2."""
    return _X[:, :1] + (_X[:, 1:] - _X[:, :1]) * places


def _far(travel: float) -> float:
    """From 0 at the beginning of a way to ∞ at its end."""
    return inf if travel >= 1 else -_SPEED * log(1 - travel)


def _exp(x: float) -> float:
    return inf if x > 700 else exp(x)  # e^710 is no float


def _softplus(x: float) -> float:
    """log(1 + e^x), also of ∞."""
    return inf if x == inf else float(np.logaddexp(0.0, x))


def _apart(
    setting: UniquenessSetting, theta: VirtualWeights, other: VirtualWeights
) -> float:
    """The largest difference of the true outputs; the tokens have size about 1."""
    X = np.random.default_rng([setting.seed, 9]).standard_normal((50, len(_X), 2))
    outs = []
    for network in (theta, other):
        given = softmax_shares(network.M, X, causal=setting.causal)
        outs.append(network.L @ follow(Reals(), given, X)[-1])
    return float(np.abs(outs[0] - outs[1]).max())
