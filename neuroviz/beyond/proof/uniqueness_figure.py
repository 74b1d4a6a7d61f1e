"""Theorem B in a picture: two networks on the same two tokens, and what their first exponentials may do."""

import re

from neuroviz.beyond.proof.uniqueness import SingletonStudy
from neuroviz.beyond.proof.uniqueness_map import map_view
from neuroviz.beyond.proof.uniqueness_tokens import tokens_view
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline
from neuroviz.kit.words import colored

_LEFT, _RIGHT = (0.03, 0.29), (0.71, 0.97)
_MAPS = (0.365, 0.505), (0.545, 0.685)
_HEIGHT = (0.5, 0.86)
_SUPERSCRIPTS, _DIGITS = re.compile("[⁻⁰¹²³⁴-⁹ᐟ]+"), str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ", "−0123456789/")
_MIDDLE = (0.335 + 0.685) / 2


def singletons_parts(study: SingletonStudy) -> Parts:
    """The picture."""
    return compose(
        tokens_view(study, "θ", _LEFT),
        map_view(study, "θ", _MAPS[0], _HEIGHT),
        map_view(study, "θ′", _MAPS[1], _HEIGHT),
        tokens_view(study, "θ′", _RIGHT),
        View([], {}, _words(study), []),
    )


def verdict(study: SingletonStudy) -> tuple[str, str]:
    """What is seen, and what follows, in two lines.

    >>> from neuroviz.beyond.proof.uniqueness import SingletonSetting, study_singleton
    >>> verdict(study_singleton(SingletonSetting("negative")))
    ('they meet at x₁ and at x₂', 'not the same function')
    """
    end, s = study.ending, study.setting
    if study.case == "same":
        return "θ′ is θ", "nothing to tell apart"
    if end.same:
        seen = f"{s.failing[0].replace('≠', '=')}: nothing tells them apart"
        return seen, "a second preimage" if study.second_preimage else "but three different tokens may"
    if study.case != "outside" and s.travel < 1:
        return "on the way", "move it on to 1"
    if end.left_meet != end.right_meet:
        one, other = ("θ", "θ′") if end.left_meet else ("θ′", "θ")
        return f"{one} collapses, {other} does not", "not the same function"
    if end.left_meet:
        where = (
            "they meet at x₁ and at x₂" if study.case != "outside" else "both collapse, in different places"
        )
        return where, "not the same function"
    return "all is frozen, and LX ≠ L′X", "not the same function"


def _words(study: SingletonStudy) -> list[dict]:
    """Over and under the two maps."""
    relations, note, title = study.relations, theme.size("note"), theme.size("title")
    seen, follows = verdict(study)
    apart = follows == "not the same function"
    role = ("certified" if study.case != "outside" else "outside") if apart or study.ending.same else "soft"
    mu, nu = "μ: share of x<sub>2</sub> in the new token 1, ", "ν: of x<sub>1</sub> in token 2"
    lines = (
        (
            f"under the mask μ = 0; {nu.replace('of', 'share of')}" if study.setting.causal else mu + nu,
            0.345,
            note,
            "soft",
        ),
        (
            f"<b>{relations.independent}</b> of {len(relations.letters)} logits independent over ℚ (exact)",
            0.275,
            note,
            "ink",
        ),
        (f"<b>{seen}</b>", 0.17, title, "ink"),
        (f"<b>{colored(role, follows)}</b>", 0.08, title, "ink"),
    )
    found = [_over_the_maps(study)]
    for text, y, size, color in lines:
        found.append(
            {
                "text": text,
                "x": _MIDDLE,
                "y": y,
                "xref": "paper",
                "yref": "paper",
                "xanchor": "center",
                "yanchor": "middle",
                "showarrow": False,
                "font": {"size": size, "color": theme.color(color)},
            }
        )
    return found


def _over_the_maps(study: SingletonStudy) -> dict:
    words = study.relations.words
    if study.moved == 2:
        text = "layer 1 is frozen; layer 2 is free"
    elif not words:
        text = "no relation: all of them are free"
    else:
        text = _SUPERSCRIPTS.sub(lambda found: f"<sup>{found[0].translate(_DIGITS)}</sup>", ", ".join(words))
    return headline(text) | {
        "xref": "paper",
        "yref": "paper",
        "x": _MIDDLE,
        "y": 0.93,
        "xanchor": "center",
    }
