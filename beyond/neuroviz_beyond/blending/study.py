"""What the panel's controls ask for: a token turned by ω, or two heads turned into one
another."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from neuroviz.kit.settings import choice, real, seed, switch, whole
from neuroviz_beyond.blending import heads, special_layer
from neuroviz_beyond.blending.special_layer import FULL_TURN

VIEWS = [("a token is turned", "token"), ("two heads blend", "heads")]
_SAME = 1e-9


@dataclass(frozen=True)
class BlendingSetting:
    """The controls.

    Attributes:
        view: "token" or "heads".
        angle: of ω, in degrees.
        slant: x₁ᵀPx₂.
        turn: of g, in degrees.
        width, head_dim, heads: d = d′, a and H.
        shared: whether both heads have the same queries.
        follow: whether V is multiplied by g⁻¹.
    """

    view: str = choice("view", VIEWS)
    angle: int = whole("angle of ω, in °", 40, 0, FULL_TURN)
    slant: float = real("x₁ᵀPx₂", 0.0, 0.0, 0.5, 0.05)
    turn: int = whole("angle of g, in °", 30, 0, FULL_TURN)
    width: int = whole("width d", 3, 2, 4)
    head_dim: int = whole("head dimension a", 3, 1, 4)
    heads: int = whole("heads H", 2, 2, 4)
    shared: bool = switch("the same queries in both heads")
    follow: bool = switch("the values go along", True)
    seed: int = seed()

    @property
    def exact_slant(self) -> Fraction:
        """x₁ᵀPx₂ as the decimal fraction that the slider shows."""
        return Fraction(f"{self.slant:.2f}")


class TokenStudy(NamedTuple):
    """f⁰(ω x₁, x₂) beside f⁰(x₁, x₂).

    Attributes:
        returns: the angles from 0 to 359 at which both are equal, exactly.
        is_same: whether this is one of them.
        distance: between them, in floating point.
    """

    setting: BlendingSetting
    returns: list[int]
    is_same: bool
    distance: float


class HeadsStudy(NamedTuple):
    """Two heads, turned into one another.

    Attributes:
        weights: before.
        ranks: of A₁′ and A₂′ at this angle.
        all_ranks: at 0°, 1°, …, 360°.
        is_inside: whether both ranks are at most a.
        moved: the largest change of an output.
        count: of the silent directions of H heads.
    """

    setting: BlendingSetting
    weights: heads.TwoHeads
    ranks: tuple[int, int]
    all_ranks: list[tuple[int, int]]
    is_inside: bool
    moved: float
    count: heads.Count

    @property
    def is_same(self) -> bool:
        """Whether the function is what it was, to rounding."""
        return self.moved < _SAME


def study_blending(setting: BlendingSetting) -> TokenStudy | HeadsStudy:
    """The study of the chosen view.

    >>> study_blending(BlendingSetting(angle=120)).is_same
    True
    >>> study_blending(BlendingSetting("heads", head_dim=2)).ranks
    (3, 3)
    """
    return _study_token(setting) if setting.view == "token" else _study_heads(setting)


def _study_token(setting: BlendingSetting) -> TokenStudy:
    returns = special_layer.returns(setting.exact_slant)
    return TokenStudy(
        setting,
        returns,
        setting.angle % FULL_TURN in returns,
        special_layer.distance(setting.slant, setting.angle),
    )


def _study_heads(setting: BlendingSetting) -> HeadsStudy:
    drawn = setting.width, setting.head_dim, setting.shared, setting.seed
    weights = heads.two_heads(*drawn)
    all_ranks = heads.ranks(*drawn)
    A = heads.turned(weights.A, setting.turn)
    V = heads.turned(weights.V, setting.turn) if setting.follow else weights.V
    before = heads.outputs(weights.A, weights.V, weights.X)
    now = heads.outputs(A, V, weights.X)
    here = all_ranks[setting.turn]
    return HeadsStudy(
        setting=setting,
        weights=weights,
        ranks=here,
        all_ranks=all_ranks,
        is_inside=max(here) <= setting.head_dim,
        moved=float(abs(now - before).max() / abs(before).max()),
        count=heads.count(setting.width, setting.head_dim, setting.heads),
    )
