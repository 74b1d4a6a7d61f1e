"""Theorem B in a picture: two networks on the same two tokens, and what their first exponentials may do."""

import re
from collections.abc import Sequence
from math import inf, log10

import numpy as np

from neuroviz.beyond.proof.uniqueness import Side, SingletonStudy
from neuroviz.beyond.proof.weight_pairs import WAY
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose
from neuroviz.kit.scene import as_scene
from neuroviz.kit.words import colored, numbered, power_of_ten
from neuroviz.softmax.two_tokens import Shares

PLACES = {"θ": (0.03, 0.29), "θ′": (0.71, 0.97)}
MAPS = {"θ": (0.365, 0.505), "θ′": (0.545, 0.685)}
MIDDLE = 0.51  # left end of the two maps, numbers included
EQUAL = 1e-9
SEEN = (-0.16, 1.16)  # range drawn; a token that has run away is drawn at its edge
AWAY = 3.0
_SUPERSCRIPTS, _DIGITS = re.compile("[⁻⁰¹²³⁴-⁹ᐟ]+"), str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹ᐟ", "−0123456789/")


def singletons_parts(study: SingletonStudy) -> Parts:
    """The tokens of θ, the maps of both, and the tokens of θ′."""
    first_map = map_plot(study, "θ", "2")
    words(study, first_map)
    others = tokens_plot(study, "θ", ""), map_plot(study, "θ′", "3"), tokens_plot(study, "θ′", "4")
    left, *right = (plot.view() for plot in others)
    parts, s = compose(left, first_map.view(), *right), study.setting
    power = None if study.relations.power is None else float(study.relations.power)
    local = {"step": study.case, "power": power, "layers": s.layers, "copies": 1, "causal": s.causal}
    local["forms"] = study.forms
    return as_scene(parts, "tokens", {"travel": s.travel}, local, {"travel": WAY})


def side_of(study: SingletonStudy, name: str) -> Side:
    """The network of that name."""
    return study.left if name == "θ" else study.right


# The tokens


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


def tokens_plot(study: SingletonStudy, name: str, number: str) -> Plot:
    """Two tokens on their way down through a network, as places between x₁ and x₂."""
    plot, side, size = Plot(number, PLACES[name], (0.0, 0.93)), side_of(study, name), theme.size("marker")
    depth, met = len(side.places) - 1, meeting(side)
    for token, role, dash in ((2, "soft", "dash"), (1, "ink", "solid")):
        color, filled = theme.color(role), token == 1
        places = [max(-AWAY, min(AWAY, float(place))) for place in side.places[:, token - 1]]
        look = {"symbol": "circle" if filled else "square", "size": size + 2}
        look |= {"color": color if filled else theme.color("ground"), "line": {"color": color, "width": 2}}
        line = {"color": color, "width": theme.size("line"), "dash": dash}
        more = {"mode": "lines+markers", "hover": f"token {token} after layer %{{y}}: at %{{x:.3f}}"}
        plot.points(f"token {token} of {name}", places, list(range(depth + 1)), look, line=line, **more)
    if met is not None:
        ring = {"symbol": "circle-open", "size": 2 * size + 6, "color": theme.color("focus")}
        place = float(side.places[met, 0])
        plot.points(f"meeting of {name}", [place], [met], ring | {"line": {"width": 3}})
    plot.region(SEEN, (study.moved - 1, study.moved), {"width": 0}, theme.color("wash"))

    if study.setting.size == 0:
        plot.headline(f"{name}: L = 0, the output is 0")
    elif met is not None:
        plot.headline(colored("focus", f"{name}: the tokens meet"))
    else:
        plot.headline(f"{name}: output columns {apart(side.gap)} apart")
    for token in (1, 2):
        say_start(plot, side, token)
    if met is not None:
        at = next((i for i, start in enumerate(side.places[0], 1) if abs(place - start) < EQUAL), None)
        where = f"<b>they meet at x<sub>{at}</sub></b>" if at else "<b>they meet</b>"
        anchor, shift = ("left", 1.2 * size + 10) if place < 0.5 else ("right", -(1.2 * size + 10))
        beside = {"xanchor": anchor, "xshift": shift, "yanchor": "middle", "yshift": -14}
        plot.text(where, place, met, "base", "focus", **beside)
    own = study.case != "same" and name == "θ′"  # θ′ has a matrix of its own: this one, counted from 1
    other = (2 if study.setting.candidate == "other M₂" else 1) if own else 0
    letters = [*(numbered("M", i) for i in range(1, depth + 1)), "L"]
    plot.bare_axis("x", *SEEN)
    names = [letter + "′" * (i == other) for i, letter in enumerate(letters, start=1)]
    ticks = {"tickvals": [*(i + 0.5 for i in range(depth)), depth + 0.15], "ticktext": names}
    font, edge = {"size": theme.size("base"), "color": theme.color("ink")}, "left" if name == "θ" else "right"
    plot.bare_axis("y", depth + 0.25, -0.35, **ticks, side=edge, tickfont=font)
    return plot


def say_start(plot: Plot, side: Side, token: int) -> None:
    """Where a token begins; of one that is out of sight, on which side and how far away."""
    place, x = float(side.places[0, token - 1]), f"x<sub>{token}</sub>"
    up = {"yanchor": "bottom", "yshift": 9}
    if SEEN[0] <= place <= SEEN[1]:
        plot.text(x, place, 0, "base", "ink", xanchor="center", **up)
        return
    far = abs(float(side.places[0, 1] - side.places[0, 0]))
    how_far = "∞" if far == inf else f"{far:.3g}" if far < 1e4 else power_of_ten(int(log10(far)))
    arrow, end, anchor = (f"← {x}", SEEN[0], "left") if place < 0 else (f"{x} →", SEEN[1], "right")
    plot.text(f"{arrow}, {how_far} times as far", end, 0, "note", "focus", xanchor=anchor, **up)


# The maps


def map_plot(study: SingletonStudy, name: str, number: str) -> Plot:
    """(P, Q) of the moved layer as a square of shares (μ, ν): frozen in a corner, met on a diagonal."""
    plot, side, causal = Plot(number, MAPS[name], (0.5, 0.86)), side_of(study, name), study.setting.causal
    here, width, note = side.shares[study.moved - 1], theme.size("line"), theme.size("note")
    corners = ((0, 0), (0, 1)) if causal else ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
    fill = {"fill": "none" if causal else "toself", "fillcolor": theme.color("wash")}
    everything = [Shares(*corner) for corner in corners] if side.allowed == "all" else []
    curve(plot, f"all of (P, Q) of {name}", everything, "certified", 2 * width if causal else 1.0, **fill)
    if not causal:
        curve(plot, f"the tokens of {name} meet", [Shares(0, 1), Shares(1, 0)], "soft", 1.4)
    curve(plot, f"what is allowed to {name}", side.curve, "certified", 2 * width)
    first = side.path[0]
    moves = any(abs(one.mu - first.mu) + abs(one.nu - first.nu) > EQUAL for one in side.path)
    curve(plot, f"way of {name}", side.path if moves else (), "focus", width, "dot")
    dot = {"size": theme.size("marker") + 7, "color": theme.color("focus"), "line": {"width": 0}}
    hover = "μ = %{x:.3f}, ν = %{y:.3f}"
    plot.points(f"(P, Q) of {name}", [here.mu], [here.nu], dot, cliponaxis=False, hover=hover)

    inset = theme.size("marker")
    corner = {"xanchor": "left", "yanchor": "bottom", "xshift": inset, "yshift": 5}
    plot.text("frozen", 0, 0, "note", "soft", **corner)
    above = corner | {"yanchor": "top", "xshift": 2.2 * note, "yshift": -1}
    plot.text("all x<sub>1</sub>", 0, 1, "note", "soft", **above)
    if not causal:
        other = corner | {"xanchor": "right", "xshift": -2.4 * note, "yshift": 2}
        plot.text("all x<sub>2</sub>", 1, 0, "note", "soft", **other)
        slanted = {"textangle": 45, "xshift": 0.6 * note, "yshift": 0.6 * note}
        plot.text("PQ = 1", 0.66, 0.34, "note", "soft", **slanted)
    layer = numbered("", study.moved) + ("′" if name == "θ′" else "")
    title = f"ν{layer} of {name}" if causal else f"(μ{layer}, ν{layer}) of {name}"
    plot.text(title, 0.5, 1, "note", "ink", xanchor="center", yanchor="bottom", yshift=2)
    # The axis names stand among the numbers: a turned ν cannot be read.
    for which, share in (("x", "μ"), ("y", "ν")):
        numbers = {"tickvals": [0, 0.5, 1], "ticktext": ["0", share, "1"]}
        plot.axis(which, 0, 1, **numbers, showgrid=False, mirror=True)
    return plot


def curve(plot: Plot, name: str, points: Sequence[Shares], role: str, *line: object, **more: object) -> None:
    """Shares as a line that may run along the edge."""
    x, y = [float(one.mu) for one in points], [float(one.nu) for one in points]
    plot.line(name, x, y, theme.color(role), *line, cliponaxis=False, **more)


# Over and under the maps


def verdict(study: SingletonStudy) -> tuple[str, str]:
    """What is seen, and what follows, in two lines.

    >>> from neuroviz.beyond.proof.uniqueness import UniquenessSetting, study_singleton
    >>> verdict(study_singleton(UniquenessSetting("negative", travel=1.0)))
    ('they meet at x₁ and at x₂', 'not the same function')
    """
    end, s = study.ending, study.setting
    if study.case == "same":
        return "θ′ is θ", "nothing to tell apart"
    if end.same:
        return f"{s.failing[0].replace('≠', '=')}: nothing tells them apart", "a second preimage"
    if study.case != "outside" and s.travel < 1:
        return "on the way", "move it on to 1"
    if end.left_meet != end.right_meet:
        one, other = ("θ", "θ′") if end.left_meet else ("θ′", "θ")
        seen = f"{one} collapses, {other} does not"
    elif end.left_meet:
        inside = study.case != "outside"
        seen = "they meet at x₁ and at x₂" if inside else "both collapse, in different places"
    else:
        seen = "all is frozen, and LX ≠ L′X"
    return seen, "not the same function"


def words(study: SingletonStudy, plot: Plot) -> None:
    """The relations over the two maps, and the verdict under them."""
    relations, paper = study.relations, {"xref": "paper", "yref": "paper", "xanchor": "center"}
    if study.moved == 2:
        over = "layer 1 is frozen; layer 2 is free"
    elif not relations.words:
        over = "no relation: all of them are free"
    else:
        over = _SUPERSCRIPTS.sub(
            lambda found: f"<sup>{found[0].translate(_DIGITS)}</sup>", ", ".join(relations.words)
        )
    plot.headline(over, **paper, x=MIDDLE, y=0.93)
    seen, follows = verdict(study)
    sure = follows == "not the same function" or study.ending.same
    role = ("certified" if study.case != "outside" else "outside") if sure else "soft"
    axes = "μ: share of x<sub>2</sub> in the new token 1, ν: of x<sub>1</sub> in token 2"
    if study.setting.causal:
        axes = "under the mask μ = 0; ν: share of x<sub>1</sub> in token 2"
    free = f"<b>{relations.independent}</b> of {len(relations.letters)} logits independent over ℚ (exact)"
    for text, y, size, ink in (
        (axes, 0.345, "note", "soft"),
        (free, 0.275, "note", "ink"),
        (f"<b>{seen}</b>", 0.17, "title", "ink"),
        (f"<b>{colored(role, follows)}</b>", 0.08, "title", "ink"),
    ):
        plot.text(text, MIDDLE, y, size, ink, **paper, yanchor="middle")
