"""A search of a fibre in three views: where starts ended, other weights found, and what each start was."""

import numpy as np

from neuroviz.beyond.search.cases import SearchStudy
from neuroviz.beyond.search.equivalent_weights import nearest_signs, normalised
from neuroviz.beyond.search.initial_guesses import KINDS
from neuroviz.beyond.search.map import ENDS, end_of, outcomes_plot, short_name
from neuroviz.engine.symmetry import VirtualWeights
from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import Parts, Plot, View, compose, headline
from neuroviz.kit.words import colored, numbered

LEFT, RIGHT = (0.0, 0.45), (0.57, 1.0)
UPPER, LOWER = (0.42, 1.0), (0.0, 0.27)
MOST_LAYERS = 3


def search_parts(study: SearchStudy) -> Parts:
    """The three views."""
    plots = outcomes_plot(study, LEFT, (0.0, 1.0)), kinds_plot(study)
    views = plots[0].view(), weights_view(study), plots[1].view()
    return compose(*views, barmode="stack", bargap=0.25)


def weights_view(study: SearchStudy) -> View:
    """L and the M_i that were given, and below them those of another point, where one was found."""
    attention, search = study.case.arch.attention, study.search
    given, other, name, role = normalised(attention, search.target), None, "", "soft"
    if search.others:
        other, name, role = search.others[0].virtual, in_two_lines(short_name(search.others[0])), "focus"
    elif search.continuum:
        other, name, role = search.continuum.example, "one of many<br>others", "outside"
    if other is not None:
        other = nearest_signs(attention, given, normalised(attention, other))
    if attention == "lightning":  # all factors are free: the given L gets length 1
        length = float(np.linalg.norm(given.L))
        given, other = (one and VirtualWeights(one.L / length, one.M) for one in (given, other))
    # What is free may be as large as it likes: there the colours are those of the given entries.
    compared = other if search.others else given
    pairs = zip((given.L, *given.M), (compared.L, *compared.M), strict=True)
    limits = [largest_entry(*pair) for pair in pairs]
    rows = [
        Row("<b>given</b>", tiles(given, limits, "given", above=True)),
        Row(f"<b>{colored(role, name)}</b>", tiles(other, limits, "other", above=False)),
    ]
    view = matrices_view(rows, RIGHT, UPPER, "2")
    # Over the whole column: the plane of the matrices keeps its squares and may be narrower.
    said = headline(weights_finding(study)) | {"xref": "paper", "yref": "paper", "x": RIGHT[0]}
    return view._replace(annotations=[*view.annotations, said])


def in_two_lines(text: str) -> str:
    """A break in the middle of a long text, between words."""
    words = text.split()
    cut = max(range(1, len(words)), key=lambda i: -abs(len(" ".join(words[:i])) - len(text) / 2), default=0)
    lines = filter(None, (" ".join(words[:cut]), " ".join(words[cut:])))
    return "<br>".join(f"{line}\u2003" for line in lines)


def tiles(
    virtual: VirtualWeights | None, limits: list[float], which: str, above: bool
) -> tuple[Tile | None, ...]:
    """L and the M_i side by side; nothing without weights."""
    if virtual is None:
        return (None,) * (1 + MOST_LAYERS)
    names = ["L", *(numbered("M", i) for i in range(1, len(virtual.M) + 1))]
    made = [
        Tile(f"{name}, {which}", matrix, limit, above=name if above else "")
        for name, matrix, limit in zip(names, (virtual.L, *virtual.M), limits, strict=True)
    ]
    return (*made, *[None] * (MOST_LAYERS - len(virtual.M)))


def weights_finding(study: SearchStudy) -> str:
    """Whether there are other weights."""
    if study.search.others:
        return colored("focus", "same function, other weights")
    if study.search.continuum:
        low, high = study.search.continuum.kernel
        count = str(low) if low == high else f"{low} to {high}"
        return colored("outside", f"{count} directions change weights, not outputs")
    return "no other weights found" if study.search.verified else "no weights found"


def kinds_plot(study: SearchStudy) -> Plot:
    """Which kinds of start led where: a bar for each kind; the headline says what the colours are."""
    plot = Plot("3", RIGHT, LOWER)
    found = [(outcome.kind, end_of(study, outcome)) for outcome in study.search.outcomes]
    for end, (role, words, _) in ENDS.items():
        counts, hollow, color = [found.count((kind, end)) for kind in KINDS], end == "none", theme.color(role)
        look = {"color": theme.color("ground") if hollow else color, "line": {"color": color, "width": 1.2}}
        font = {"size": theme.size("note"), "color": theme.color("soft" if hollow else "ground")}
        inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
        inside["constraintext"] = "none"
        inside |= {"text": [str(count) if count else "" for count in counts], "textfont": font}
        rows, hover = list(range(len(KINDS))), f"%{{x}} ended: {words}"
        plot.bars(words, counts, rows, look, orientation="h", hover=hover, **inside)
    plot.axis("x", 0, max(sum(one == kind for one, _ in found) for kind in KINDS), visible=False)
    names = {"tickvals": list(range(len(KINDS))), "ticktext": [f"{kind}\u2002" for kind in KINDS]}
    plot.bare_axis("y", len(KINDS) - 0.4, -0.6, **names)
    seen = {end: one for end, one in ENDS.items() if end in {end for _, end in found}}
    said = [colored("soft" if end == "none" else one.role, one.words) for end, one in seen.items()]
    plot.headline("ended at: " + " · ".join(said))
    return plot
