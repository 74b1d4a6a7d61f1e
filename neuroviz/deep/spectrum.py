"""Singular values in floating point, with the exact rank and the formula drawn in."""

from math import inf, log10

from neuroviz.deep.dimension import DimensionStudy, has_a_place, paper_name, would_mislead
from neuroviz.kit import theme
from neuroviz.kit.plot import Plot, View, label, outside_words, rough, ticks

BOTTOM, TOP = -18.6, 0.9
"""log₁₀ of the ends of the axis."""
_FLOOR = 1e-17  # where an exact zero is drawn


def spectrum_view(study: DimensionStudy, domain: tuple[float, float]) -> View:
    """The spectrum, on the axes x and y; always the same traces in the same order."""
    plot, n, rank = Plot("", domain, (0, 1)), study.arch.num_parameters, study.visible
    kept, dropped = _split(study)
    x = list(range(1, rank + len(dropped) + 1))
    hover = "σ<sub>%{x}</sub> = %{y:.2e}"
    moving, noise = (
        "singular values of the weights that move the function",
        "singular values that are rounding noise",
    )
    plot.points(moving, x[: len(kept)], kept, _dot(True), cliponaxis=False, hover=hover)
    plot.points(noise, x[rank:], dropped, _dot(False), cliponaxis=False, hover=hover)
    ends, width = [10.0**BOTTOM, 10.0**TOP], theme.size("line") + 0.8
    plot.line("exact rank (measured)", [rank + 0.5] * 2, ends, theme.color("measured"), width)
    _formula_marks(study, plot)
    said = f"index i of the singular value ({n} parameters)"
    plot.axis("x", 0, n + 1, said, tickvals=ticks(1, rank, n), showgrid=False)
    plot.log_axis("y", BOTTOM, TOP, "σ<sub>i</sub> / σ<sub>1</sub>", step=4)
    plot.region((0, n + 1), (10**BOTTOM, _noise(study)), {"width": 0}, theme.color("wash"))
    plot.headline(_headline(study))
    plot.view().annotations.extend((*_gap(study), *_names(study)))
    return plot.view()


def _dot(counts: bool) -> dict:
    """A value that counts is filled, one that is rounding noise is hollow."""
    return {
        "size": theme.size("marker") - (0 if counts else 1),
        "color": theme.color("measured" if counts else "ground"),
        "line": {"color": theme.color("ground" if counts else "ghost"), "width": 0.8 if counts else 1.5},
    }


def _split(study: DimensionStudy) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others."""
    found = [] if study.spectrum is None else study.spectrum.singular_values
    sigma = [max(float(value), _FLOOR) for value in found]
    return sigma[: study.visible], sigma[study.visible :]


def _noise(study: DimensionStudy) -> float:
    """Up to where rounding alone may lift a singular value."""
    if study.spectrum is None:
        return 10**BOTTOM
    return max(study.arch.num_parameters * 2.2e-16, 10 ** (BOTTOM + 0.2))


def _formula_marks(study: DimensionStudy, plot: Plot) -> None:
    """A triangle at the formula; a cross at the paper's, where it does not apply and says something else."""
    size, on_the_axis = theme.size("marker"), 10 ** (BOTTOM + 0.35)
    expected, paper = study.expected, study.paper
    formula = [] if expected.value is None else [expected.value + 0.5]
    crossed = [paper.value + 0.5] if has_a_place(paper, expected) else []
    triangle = {"symbol": "triangle-up-open", "size": 2 * size, "line": {"width": 2.5}}
    cross = {
        "symbol": "x-thin",
        "size": 1.4 * size,
        "line": {"color": theme.color("outside"), "width": 3},
    }
    for name, x, marker, hover in (
        (
            "dimension by the formula",
            formula,
            triangle | {"color": theme.color("formula")},
            f"{expected.source}: {expected.value}",
        ),
        (
            "the paper's formula outside its hypotheses, for this architecture",
            crossed,
            cross,
            f"{paper.value} does not apply here",
        ),
    ):
        plot.points(name, x, [on_the_axis] * len(x), marker, cliponaxis=False, hover=hover)


def _headline(study: DimensionStudy) -> str:
    n, rank = study.arch.num_parameters, study.visible
    if rank < study.exact.value:
        shows = "1 input shows" if study.chosen_inputs == 1 else f"{study.chosen_inputs} inputs show"
        return f"{shows} {rank} of {study.exact.value} directions"
    return f"{rank} of {n} directions move the function"


def _at(text: str, x: float, y: float, side: str, away: float, role: str, **more: object) -> dict:
    """A text beside a point: to its left or to its right, so many pixels away."""
    shift = -away if side == "right" else away
    font = {"size": theme.size("base"), "color": theme.color(role)}
    return label(text, x, y, **{"xanchor": side, "xshift": shift, "align": side, "font": font} | more)


def _names(study: DimensionStudy) -> list[dict]:
    """What line, triangle, cross and wash are; each where there is room."""
    expected, paper = study.expected, study.paper
    n, rank = study.arch.num_parameters, study.visible
    crossed = has_a_place(paper, expected)
    late = rank > 0.75 * n
    few = rank < study.exact.value
    inputs = f" on {study.chosen_inputs} input{'s' if study.chosen_inputs != 1 else ''}" if few else ""
    formula_side = "right" if rank > (0.25 if crossed and paper.value > rank else 0.4) * n else "left"
    formula = "no formula" if expected.value is None else f"{expected.source}: <b>{expected.value}</b>"
    instead = f"✕ {paper_name(paper)} would say {paper.value},<br>but does not apply here"
    instead = outside_words(instead.replace("-", "−")) if would_mislead(paper, expected) else ""
    noise = "rounding noise" if study.spectrum is not None else ""
    noise_side = "left" if rank > 0.3 * n else "right"
    small = {"size": theme.size("note"), "color": theme.color("soft")}
    return [
        _at(
            f"exact rank{inputs}<br><b>{rank}</b>",
            rank + 0.5,
            -6.6 if late else 0.35,
            "right" if late else "left",
            8,
            "measured",
            yanchor="top",
        ),
        _at(
            formula,
            (rank if expected.value is None else expected.value) + 0.5,
            BOTTOM + 0.45,
            formula_side,
            16,
            "formula",
            yshift=16 if crossed and formula_side == "left" else 0,
        ),
        # In the empty corner: below the dots, or right of the line.
        _at(
            instead,
            0 if late else 1,
            -9.0 if late else -7.0,
            "left" if late else "right",
            8 if late else 4,
            "outside",
            xref="x domain",
            bgcolor=theme.color("ground"),
        ),
        _at(
            noise,
            0 if noise_side == "left" else 1,
            log10(_noise(study)) - 0.2,
            noise_side,
            6,
            "soft",
            xref="x domain",
            yanchor="top",
            font=small,
        ),
    ]


def _gap(study: DimensionStudy) -> list[dict]:
    """The double arrow across the split, and its text; the arrow is invisible where there is no split."""
    kept, dropped = _split(study)
    spectrum, n, rank = study.spectrum, study.arch.num_parameters, study.visible
    full = rank > 0.7 * n  # no room right of the line: the text stands left of it
    x, y0, y1 = rank + 0.5 + (0.5 * (n - rank) if full else 0.09 * n), BOTTOM, BOTTOM
    if spectrum is None:
        text = f"{n} parameters: too many for<br>a spectrum in a panel"
    elif kept and dropped:
        y0, y1 = log10(dropped[0]), log10(kept[-1])
        if y1 > -1.9 and not full:  # the label of the rank stands at the top: the arrow goes beside it
            x = rank + 0.5 + 0.24 * n
        text = f"≈ gap {rough(kept[-1] / dropped[0] if spectrum.singular_values[rank] > 0 else inf)}"
    else:
        text = "nothing dropped:<br>full rank"
    if spectrum is not None and (not spectrum.decided or spectrum.value != rank):
        verdict = "floats cannot decide" if not spectrum.decided else "floats say something else"
        text = f"<b>{verdict}</b><br>they read {spectrum.value}, {text}"
    ends = {"x": x, "y": y1, "ax": x, "ay": y0, "xref": "x", "yref": "y", "axref": "x", "ayref": "y"}
    look = {"showarrow": True, "arrowside": "end+start", "startarrowhead": 2}
    # In the middle of the arrow, if there is one; else in the empty upper right.
    middle = (y0 + y1) / 2 - 2.2 if y1 - y0 > 5 else -3.5
    return [
        {"text": "", **ends, **look, "opacity": 1.0 if y1 - y0 > 1 else 0.0},
        _at(text, rank + 0.5 if full else x, middle, "right" if full else "left", 8, "ink"),
    ]
