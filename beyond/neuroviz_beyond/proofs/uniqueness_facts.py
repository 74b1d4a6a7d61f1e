"""The facts of two networks on the same two tokens: what their picture says, as plain
data.

`web/beyond/uniqueness_facts.ts` types them. Shares are pairs [μ, ν]. Words are lists of
{"text": …, "role": …}, a line each.
"""

from collections.abc import Sequence
from math import inf, log10

import numpy as np

from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.kit.words import numbered, power_of_ten
from neuroviz.softmax.two_tokens import Shares
from neuroviz_beyond.proofs.uniqueness import Side, SingletonStudy
from neuroviz_beyond.proofs.weight_pairs import WAY

SCHEMA = "uniqueness/1"
EQUAL = 1e-9


def uniqueness_picture(study: SingletonStudy) -> Picture:
    """The tokens of θ, the maps of both, and the tokens of θ′."""
    place = {"travel": study.setting.travel}
    return Picture("beyond/uniqueness", uniqueness_facts(study), place, {"travel": WAY})


def uniqueness_facts(study: SingletonStudy) -> Facts:
    """What the picture says of both networks and of their relations, and what its
    formulas need.

    >>> from neuroviz_beyond.proofs.uniqueness import UniquenessSetting, study_singleton
    >>> setting = UniquenessSetting("negative", travel=1.0)
    >>> facts = uniqueness_facts(study_singleton(setting))
    >>> facts["relations"], facts["networks"][0]["meets"]
    ([{'text': 'P′ = P⁻², Q′ = Q⁻²'}], 'they meet at x₁')
    """
    power = study.relations.power
    return {
        "schema": SCHEMA,
        "relations": _relations(study),
        "axes": _axes(study),
        "independent": _independent(study),
        "verdict": _verdict(study),
        "networks": [_network(study, name, side) for name, side in _sides(study)],
        "formulas": {
            "step": study.case,
            "power": None if power is None else float(power),
            "causal": study.setting.causal,
            "forms": study.forms,
        },
    }


def _sides(study: SingletonStudy) -> list[tuple[str, Side]]:
    return [("θ", study.left), ("θ′", study.right)]


# Of both


def _relations(study: SingletonStudy) -> list:
    if study.moved == 2:
        return words("layer 1 is frozen; layer 2 is free")
    if not study.relations.words:
        return words("no relation: all of them are free")
    return words(", ".join(study.relations.words))


def _axes(study: SingletonStudy) -> str:
    """What the shares are."""
    if study.setting.causal:
        return "under the mask μ = 0; ν: share of x₁ in token 2"
    return "μ: share of x₂ in the new token 1, ν: of x₁ in token 2"


def _independent(study: SingletonStudy) -> str:
    relations = study.relations
    of_all = len(relations.letters)
    return f"{relations.independent} of {of_all} logits independent over ℚ (exact)"


def verdict(study: SingletonStudy) -> tuple[str, str]:
    """What is seen, and what follows, in two lines.

    >>> from neuroviz_beyond.proofs.uniqueness import UniquenessSetting, study_singleton
    >>> verdict(study_singleton(UniquenessSetting("negative", travel=1.0)))
    ('they meet at x₁ and at x₂', 'not the same function')
    """
    end = study.ending
    s = study.setting
    if study.case == "same":
        return "θ′ is θ", "nothing to tell apart"
    if end.same:
        return (
            f"{s.failing[0].replace('≠', '=')}: nothing tells them apart",
            "a second preimage",
        )
    if study.case != "outside" and s.travel < 1:
        return "on the way", "move it on to 1"
    if end.left_meet != end.right_meet:
        one, other = ("θ", "θ′") if end.left_meet else ("θ′", "θ")
        seen = f"{one} collapses, {other} does not"
    elif end.left_meet:
        inside = study.case != "outside"
        seen = (
            "they meet at x₁ and at x₂"
            if inside
            else "both collapse, in different places"
        )
    else:
        seen = "all is frozen, and LX ≠ L′X"
    return seen, "not the same function"


def _verdict(study: SingletonStudy) -> list:
    seen, follows = verdict(study)
    is_sure = follows == "not the same function" or study.ending.same
    role = "outside" if study.case == "outside" else "certified"
    return words(seen, follows, last=role if is_sure else "soft")


# Of each


def _network(study: SingletonStudy, name: str, side: Side) -> Facts:
    """One network: its words, its letters, and the map of the layer that is moved."""
    return {
        "name": name,
        "says": _finding(study, name, side),
        "letters": _letters(study, name),
        "meets": _meets(side),
        "far": _how_far(side),
        "map": _map(study, name, side),
    }


def _finding(study: SingletonStudy, name: str, side: Side) -> list:
    if study.setting.size == 0:
        return words(f"{name}: L = 0, the output is 0")
    if meeting(side) is not None:
        return words(f"{name}: the tokens meet", last="focus")
    return words(f"{name}: output columns {apart(side.gap)} apart")


def meeting(side: Side) -> int | None:
    """The number of layers after which the tokens are equal; None if they never are."""
    together = np.abs(side.places[:, 0] - side.places[:, 1]) < EQUAL
    return int(np.argmax(together)) if together.any() else None


def apart(gap: float) -> str:
    """A distance with two digits, however small.

    >>> apart(0.503), apart(0.00123)
    ('0.50', '0.0012')
    """
    return f"{gap:.2f}" if gap >= 0.095 else f"{gap:.2g}"


def _letters(study: SingletonStudy, name: str) -> list[str]:
    """M_1, …, L; the matrix of θ′ that θ does not have has a prime."""
    layers = len(study.left.places) - 1
    letters = [*(numbered("M", i) for i in range(1, layers + 1)), "L"]
    if name == "θ′" and study.case != "same":
        # letters[1] is M_2, and with one layer L
        other = 1 if study.setting.candidate == "other M₂" else 0
        letters[other] += "′"
    return letters


def _meets(side: Side) -> str | None:
    """Where the tokens meet, in words."""
    met = meeting(side)
    if met is None:
        return None
    for token, start in enumerate(side.places[0], start=1):
        if abs(side.places[met, 0] - start) < EQUAL:
            return f"they meet at {numbered('x', token)}"
    return "they meet"


def _how_far(side: Side) -> str:
    """How far apart the tokens begin: on the way of step 5 one of them runs away."""
    far = abs(float(side.places[0, 1] - side.places[0, 0]))
    if far == inf:
        return "∞ times as far"
    return (
        f"{f'{far:.3g}' if far < 1e4 else power_of_ten(int(log10(far)))} times as far"
    )


def _map(study: SingletonStudy, name: str, side: Side) -> Facts:
    """(P, Q) of the layer that is moved, as shares."""
    layer = numbered("", study.moved) + ("′" if name == "θ′" else "")
    shares = f"ν{layer}" if study.setting.causal else f"(μ{layer}, ν{layer})"
    first = side.path[0]
    moves = any(
        abs(one.mu - first.mu) + abs(one.nu - first.nu) > EQUAL for one in side.path
    )
    return {
        "title": f"{shares} of {name}",
        "allowed": side.allowed,
        "curve": _points(side.curve),
        "way": _points(side.path if moves else ()),
    }


def _points(shares: Sequence[Shares]) -> list[list[float]]:
    return [[float(one.mu), float(one.nu)] for one in shares]
