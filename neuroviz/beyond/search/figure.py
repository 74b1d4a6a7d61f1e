"""A search of a fibre in three views: where starts ended, other weights found, and what each start was."""

import numpy as np

from neuroviz.beyond.search.cases import SearchStudy
from neuroviz.beyond.search.equivalent_weights import normalised, signs
from neuroviz.beyond.search.kinds import kinds_view
from neuroviz.beyond.search.map import is_given, map_view, short_name
from neuroviz.engine.symmetry import VirtualWeights
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, View, compose, outside_words
from neuroviz.kit.words import colored, numbered

_LEFT, _RIGHT = (0.0, 0.45), (0.57, 1.0)
_UPPER, _LOWER = (0.42, 1.0), (0.0, 0.27)
_MOST_LAYERS = 3


def search_parts(study: SearchStudy) -> Parts:
    """The three views."""
    return compose(
        map_view(study, _LEFT, (0.0, 1.0)), _weights_view(study), kinds_view(study, _RIGHT, _LOWER)
    )


def _weights_view(study: SearchStudy) -> View:
    """L and the M_i that were given, and below them those of another point, where one was found."""
    attention = study.case.arch.attention
    given = normalised(attention, study.search.target)
    others = [point for point in study.search.classes if not is_given(point)]
    other, name, role = None, "", "soft"
    if others:
        other, name, role = others[0].virtual, _in_two_lines(short_name(others[0])), "focus"
    elif study.search.continuum:
        other, name, role = study.search.continuum.example, "one of many<br>others", "outside"
    if other is not None:
        other = _turned(attention, given, normalised(attention, other))
    if attention == "lightning":  # all factors are free: the given L gets length 1
        length = float(np.linalg.norm(given.L))
        given, other = (one and VirtualWeights(one.L / length, one.M) for one in (given, other))
    # What is free may be as large as it likes: there the colours are those of the given entries.
    compared = other if others else given
    limits = [
        largest_entry(*pair) for pair in zip((given.L, *given.M), (compared.L, *compared.M), strict=True)
    ]
    rows = [
        Row("<b>given</b>", _tiles(given, limits, "given", above=True)),
        Row(f"<b>{colored(role, name)}</b>", _tiles(other, limits, "other", above=False)),
    ]
    view = matrices_view(rows, _RIGHT, _UPPER, "2")
    return view._replace(annotations=[*view.annotations, _headline(study, others)])


def _in_two_lines(text: str) -> str:
    """A break in the middle of a long text, between words."""
    words = text.split()
    cut = max(range(1, len(words)), key=lambda i: -abs(len(" ".join(words[:i])) - len(text) / 2), default=0)
    lines = filter(None, (" ".join(words[:cut]), " ".join(words[cut:])))
    return "<br>".join(f"{line}\u2003" for line in lines)


def _turned(attention: str, given: VirtualWeights, other: VirtualWeights) -> VirtualWeights:
    """The choice of signs that is nearest to the given weights."""
    chosen = signs(attention, given, other)
    return VirtualWeights(
        other.L * np.prod(chosen), tuple(s * M for s, M in zip(chosen, other.M, strict=True))
    )


def _tiles(
    virtual: VirtualWeights | None, limits: list[float], which: str, above: bool
) -> tuple[Tile | None, ...]:
    if virtual is None:
        return (None,) * (1 + _MOST_LAYERS)
    names = ["L", *(numbered("M", i) for i in range(1, len(virtual.M) + 1))]
    tiles = [
        Tile(f"{name}, {which}", matrix, limit, above=name if above else "")
        for name, matrix, limit in zip(names, (virtual.L, *virtual.M), limits, strict=True)
    ]
    return (*tiles, *[None] * (_MOST_LAYERS - len(virtual.M)))


def _headline(study: SearchStudy, others: list) -> dict:
    """Over the whole column: the plane of the matrices keeps its squares and may be narrower."""
    if others:
        text = colored("focus", "same function, other weights")
    elif study.search.continuum:
        low, high = study.search.continuum.kernel
        count = str(low) if low == high else f"{low} to {high}"
        text = outside_words(f"{count} directions change weights, not outputs")
    else:
        text = "no other weights found" if study.search.verified else "no weights found"
    return {
        "text": f"<b>{text}</b>",
        "xref": "paper", "yref": "paper", "x": _RIGHT[0], "y": 1, "xanchor": "left", "yanchor": "bottom",
        "yshift": 6, "showarrow": False, "font": {"size": theme.size("title")},
    }  # fmt: skip
