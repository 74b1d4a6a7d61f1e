"""The left view: singular values in floating point, with the exact rank and the formula drawn in."""

from math import inf, log10

from neuroviz.deep.dimension import DimensionStudy, has_a_place, paper_name, would_mislead
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words, power_of_ten, rough, ticks
from neuroviz.kit.sigma import drawable, noise_band

_BOTTOM, _TOP = -18.6, 0.7  # log₁₀ of the ends of that axis


def spectrum_view(study: DimensionStudy, domain: tuple[float, float]) -> View:
    """The spectrum, on the axes x and y."""
    return View(
        _traces(study), _axes(study, domain), _annotations(study), [noise_band("", _noise(study), _BOTTOM)]
    )


def _split(study: DimensionStudy) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others; zeros sit on the floor of the axis."""
    if study.spectrum is None:
        return [], []
    sigma = drawable(study.spectrum.singular_values)
    return sigma[: study.visible], sigma[study.visible :]


def _noise(study: DimensionStudy) -> float:
    """Up to where rounding alone may lift a singular value."""
    if study.spectrum is None:
        return 10**_BOTTOM
    return max(study.arch.num_parameters * 2.2e-16, 10 ** (_BOTTOM + 0.2))


def _traces(study: DimensionStudy) -> list[dict]:
    """Always the same traces in the same order; what has nothing to show is empty."""
    marker, line = theme.size("marker"), theme.size("line")
    kept, dropped = _split(study)
    rank, on_the_axis = study.visible, 10 ** (_BOTTOM + 0.35)
    crossed = has_a_place(study.paper, study.expected)
    return [
        {
            "name": "singular values of the weights that move the function",
            "x": list(range(1, len(kept) + 1)),
            "y": kept,
            "mode": "markers",
            "marker": {"size": marker, "color": theme.color("measured")},
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        {
            "name": "singular values that are rounding noise",
            "x": list(range(rank + 1, rank + 1 + len(dropped))),
            "y": dropped,
            "mode": "markers",
            "marker": {
                "size": marker - 1,
                "color": theme.color("ground"),
                "line": {"color": theme.color("ghost"), "width": 1.5},
            },
            "hovertemplate": "σ<sub>%{x}</sub> = %{y:.2e}<extra></extra>",
        },
        {
            "name": "exact rank (measured)",
            "x": [rank + 0.5, rank + 0.5],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("measured"), "width": line + 0.8},
            "hoverinfo": "skip",
        },
        {
            "name": "dimension by the formula",
            "x": [] if study.expected.value is None else [study.expected.value + 0.5],
            "y": [] if study.expected.value is None else [on_the_axis],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "triangle-up-open",
                "size": 2 * marker,
                "color": theme.color("formula"),
                "line": {"width": 2.5},
            },
            "hovertemplate": f"{study.expected.source}: {study.expected.value}<extra></extra>",
        },
        {
            "name": "the paper's formula outside its hypotheses, for this architecture",
            "x": [study.paper.value + 0.5] if crossed else [],
            "y": [on_the_axis] if crossed else [],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {
                "symbol": "x-thin",
                "size": 1.4 * marker,
                "line": {"color": theme.color("outside"), "width": 3},
            },
            "hovertemplate": f"{study.paper.value} does not apply here<extra></extra>",
        },
    ]


def _axes(study: DimensionStudy, domain: tuple[float, float]) -> dict:
    n = study.arch.num_parameters
    return {
        "xaxis": {
            "domain": domain,
            "range": [0, n + 1],
            "title": {"text": f"index i of the singular value ({n} parameters)"},
            "tickvals": ticks(1, study.visible, n),
            "showgrid": False,
        },
        "yaxis": {
            "domain": (0, 1),
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [10.0**k for k in range(-16, 1, 4)],
            "ticktext": [power_of_ten(k) for k in range(-16, 1, 4)],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
        },
    }


def _annotations(study: DimensionStudy) -> list[dict]:
    expected, n, rank = study.expected, study.arch.num_parameters, study.visible
    crossed = has_a_place(study.paper, expected)
    # Labels stand where there is room: beside the line, and away from the cross.
    formula_left = rank > (0.25 if crossed and study.paper.value > rank else 0.4) * n
    to_the_left = rank > 0.75 * n
    noise_left = rank > 0.3 * n
    return [
        headline(_headline(study)),
        label(
            f"{_rank_name(study)}<br><b>{rank}</b>",
            rank + 0.5,
            -6.6 if to_the_left else 0.35,
            align="right" if to_the_left else "left",
            xanchor="right" if to_the_left else "left",
            yanchor="top",
            xshift=-8 if to_the_left else 8,
            font={"size": theme.size("base"), "color": theme.color("measured")},
        ),
        label(
            _formula_text(study),
            (rank if expected.value is None else expected.value) + 0.5,
            _BOTTOM + 0.45,
            xanchor="right" if formula_left else "left",
            xshift=-16 if formula_left else 16,
            yshift=0 if formula_left or not crossed else 16,
            font={"size": theme.size("base"), "color": theme.color("formula")},
        ),
        _outside_label(study),
        label(
            "rounding noise" if study.spectrum is not None else "",
            0 if noise_left else 1,
            log10(_noise(study)) - 0.2,
            xref="x domain",
            xanchor="left" if noise_left else "right",
            yanchor="top",
            xshift=6 if noise_left else -6,
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
        *_gap(study),
    ]


def _formula_text(study: DimensionStudy) -> str:
    expected = study.expected
    return "no formula" if expected.value is None else f"{expected.source}: <b>{expected.value}</b>"


def _outside_label(study: DimensionStudy) -> dict:
    """What the cross on the axis says, in the empty corner: below the dots, or right of the line."""
    paper, n = study.paper, study.arch.num_parameters
    value = paper.value if paper.value >= 1 else f"\u2212{-paper.value}" if paper.value else "0"
    text = outside_words(f"✕ {paper_name(paper)} would say {value},<br>but does not apply here")
    below_the_dots = study.visible > 0.75 * n
    return label(
        text if would_mislead(paper, study.expected) else "",
        0 if below_the_dots else 1,
        -9.0 if below_the_dots else -7.0,
        xref="x domain",
        xanchor="left" if below_the_dots else "right",
        xshift=8 if below_the_dots else -4,
        align="left" if below_the_dots else "right",
        font={"size": theme.size("base")},
        bgcolor=theme.color("ground"),
    )


def _headline(study: DimensionStudy) -> str:
    n, rank = study.arch.num_parameters, study.visible
    if rank < study.exact.value:
        shows = "1 input shows" if study.chosen_inputs == 1 else f"{study.chosen_inputs} inputs show"
        return f"{shows} {rank} of {study.exact.value} directions"
    return f"{rank} of {n} directions move the function"


def _rank_name(study: DimensionStudy) -> str:
    if study.visible == study.exact.value:
        return "exact rank"
    return f"exact rank on {study.chosen_inputs} input{'s' if study.chosen_inputs > 1 else ''}"


def _gap(study: DimensionStudy) -> list[dict]:
    """The double arrow across the split, and its text; the arrow is invisible where there is no split."""
    kept, dropped = _split(study)
    spectrum, n, rank = study.spectrum, study.arch.num_parameters, study.visible
    no_room = rank > 0.7 * n  # right of the line: then the text stands left of it
    x, y0, y1 = rank + 0.5 + (0.5 * (n - rank) if no_room else 0.09 * n), _BOTTOM, _BOTTOM
    if spectrum is None:
        text = f"{n} parameters: too many for<br>a spectrum in a panel"
    elif kept and dropped:
        y0, y1 = log10(dropped[0]), log10(kept[-1])
        if y1 > -1.9 and not no_room:  # the label of the rank stands at the top: the arrow goes beside it
            x = rank + 0.5 + 0.24 * n
        text = f"≈ gap {rough(kept[-1] / dropped[0] if spectrum.singular_values[rank] > 0 else inf)}"
    else:
        text = "nothing dropped:<br>full rank"
    if spectrum is not None and (not spectrum.decided or spectrum.value != rank):
        verdict = "floats cannot decide" if not spectrum.decided else "floats say something else"
        text = f"<b>{verdict}</b><br>they read {spectrum.value}, {text}"
    return [
        {
            "text": "",
            "x": x,
            "y": y1,
            "ax": x,
            "ay": y0,
            "xref": "x",
            "yref": "y",
            "axref": "x",
            "ayref": "y",
            "showarrow": True,
            "arrowside": "end+start",
            "startarrowhead": 2,
            "opacity": 1.0 if y1 - y0 > 1 else 0.0,
        },
        label(
            text,
            rank + 0.5 if no_room else x,
            # In the middle of the arrow, if there is one; else in the empty upper right.
            (y0 + y1) / 2 - 2.2 if y1 - y0 > 5 else -3.5,
            xanchor="right" if no_room else "left",
            xshift=-8 if no_room else 8,
            align="right" if no_room else "left",
            font={"size": theme.size("base"), "color": theme.color("ink")},
        ),
    ]
