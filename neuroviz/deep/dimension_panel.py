"""From an architecture to its dimension: the spectrum, with the exact rank and the
formula drawn in."""

from math import inf, log10

from neuroviz.deep.dimension import (
    DimensionSetting,
    DimensionStudy,
    has_a_place,
    paper_name,
    say_theory,
    study_dimension,
    would_mislead,
)
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose, ticks
from neuroviz.kit.words import colored, rough

BOTTOM, TOP = -18.6, 0.9
"""log₁₀ of the ends of the axis of the spectrum."""
_FLOOR = 1e-17  # where an exact zero is drawn


def dimension_parts(study: DimensionStudy) -> Parts:
    """The spectrum: values that count are filled, those that are rounding are
    hollow."""
    plot = Plot("", (0.0, 1.0), (0, 1))
    n = study.arch.num_parameters
    rank = study.exact.value
    found = [] if study.spectrum is None else study.spectrum.singular_values
    sigma = [max(float(value), _FLOOR) for value in found]
    kept, dropped, size = sigma[:rank], sigma[rank:], theme.size("marker")
    for name, first, values, large, fill, edge, width in (
        (
            "singular values of the weights that move the function",
            1,
            kept,
            size,
            "measured",
            "ground",
            0.8,
        ),
        (
            "singular values that are rounding noise",
            rank + 1,
            dropped,
            size - 1,
            "ground",
            "ghost",
            1.5,
        ),
    ):
        look = {
            "size": large,
            "color": theme.color(fill),
            "line": {"color": theme.color(edge), "width": width},
        }
        x = list(range(first, first + len(values)))
        hover = "σ<sub>%{x}</sub> = %{y:.2e}"
        plot.points(name, x, values, look, cliponaxis=False, hover=hover)
    ends, width = [10.0**BOTTOM, 10.0**TOP], theme.size("line") + 0.8
    plot.line(
        "exact rank (measured)", [rank + 0.5] * 2, ends, theme.color("measured"), width
    )
    _formula_marks(study, plot)
    said = f"index i of the singular value ({n} parameters)"
    plot.axis("x", 0, n + 1, said, tickvals=ticks(1, rank, n), showgrid=False)
    plot.log_axis("y", BOTTOM, TOP, "σ<sub>i</sub> / σ<sub>1</sub>", step=4)
    plot.headline(f"{rank} of {n} directions move the function")
    _gap(study, plot, kept, dropped)
    _names(study, plot)
    # the grey area ends where rounding alone may lift a singular value
    if study.spectrum is not None:
        noise = max(n * 2.2e-16, 10 ** (BOTTOM + 0.2))
        plot.region((0, n + 1), (10**BOTTOM, noise), {"width": 0}, theme.color("wash"))
        x, side = (0, "left") if rank > 0.3 * n else (1, "right")
        look = {"xref": "x domain", "yanchor": "top", "size": "note"}
        _beside(plot, "rounding noise", x, log10(noise) - 0.2, side, 6, "soft", **look)
    return compose(plot.view())


def _formula_marks(study: DimensionStudy, plot: Plot) -> None:
    """A triangle at the formula; a cross at the paper's, where it does not apply and
    says something else."""
    expected = study.expected
    paper = study.paper
    size = theme.size("marker")
    y = [10 ** (BOTTOM + 0.35)]
    if expected.value is not None:
        name, hover = "dimension by the formula", f"{expected.source}: {expected.value}"
        look = {"symbol": "triangle-up-open", "size": 2 * size, "line": {"width": 2.5}}
        look["color"] = theme.color("formula")
        plot.points(
            name, [expected.value + 0.5], y, look, cliponaxis=False, hover=hover
        )
    if has_a_place(paper, expected):
        name = "the paper's formula outside its hypotheses, for this architecture"
        line = {"color": theme.color("outside"), "width": 3}
        look = {"symbol": "x-thin", "size": 1.4 * size, "line": line}
        hover = f"{paper.value} does not apply here"
        plot.points(name, [paper.value + 0.5], y, look, cliponaxis=False, hover=hover)


def _beside(
    plot: Plot,
    text: str,
    x: float,
    y: float,
    side: str,
    away: float,
    role: str,
    size: str = "base",
    **more: object,
) -> None:
    """A text beside a point: to its left or to its right, so many pixels away."""
    place = {
        "xanchor": side,
        "xshift": -away if side == "right" else away,
        "align": side,
    }
    plot.text(text, x, y, size, role, **place, **more)


def _names(study: DimensionStudy, plot: Plot) -> None:
    """The labels of line, triangle and cross, each where there is room."""
    expected = study.expected
    paper = study.paper
    n = study.arch.num_parameters
    rank = study.exact.value
    crossed, late = has_a_place(paper, expected), rank > 0.75 * n
    y, side = (-6.6, "right") if late else (0.35, "left")
    said = f"exact rank<br><b>{rank}</b>"
    _beside(plot, said, rank + 0.5, y, side, 8, "measured", yanchor="top")
    side = (
        "right"
        if rank > (0.25 if crossed and paper.value > rank else 0.4) * n
        else "left"
    )
    said = (
        "no formula"
        if expected.value is None
        else f"{expected.source}: <b>{expected.value}</b>"
    )
    x = (rank if expected.value is None else expected.value) + 0.5
    yshift = 16 if crossed and side == "left" else 0
    _beside(plot, said, x, BOTTOM + 0.45, side, 16, "formula", yshift=yshift)
    # the note takes the empty corner: below dots or right of the line
    if would_mislead(paper, expected):
        value = str(paper.value).replace("-", "−")
        said = f"✕ {paper_name(paper)} would say {value},<br>but does not apply here"
        place = (0, -9.0, "left", 8) if late else (1, -7.0, "right", 4)
        look = {"xref": "x domain", "bgcolor": theme.color("ground")}
        _beside(plot, colored("outside", said), *place, "outside", **look)


def _gap(
    study: DimensionStudy, plot: Plot, kept: list[float], dropped: list[float]
) -> None:
    """The double arrow across the split, where there is one, and its text."""
    spectrum, n, rank = study.spectrum, study.arch.num_parameters, study.exact.value
    full = rank > 0.7 * n  # right of the line is no room: the text stands left of it
    x, y0, y1 = rank + 0.5 + (0.5 * (n - rank) if full else 0.09 * n), BOTTOM, BOTTOM
    if spectrum is None:
        text = f"{n} parameters: too many for<br>a spectrum in a panel"
    elif kept and dropped:
        y0, y1 = log10(dropped[0]), log10(kept[-1])
        # the label of the rank stands at the top: the arrow goes beside it
        if y1 > -1.9 and not full:
            x = rank + 0.5 + 0.24 * n
        is_finite = spectrum.singular_values[rank] > 0
        text = f"≈ gap {rough(kept[-1] / dropped[0] if is_finite else inf)}"
    else:
        text = "nothing dropped:<br>full rank"
    if spectrum is not None and (not spectrum.decided or spectrum.value != rank):
        verdict = (
            "floats cannot decide"
            if not spectrum.decided
            else "floats say something else"
        )
        text = f"<b>{verdict}</b><br>they read {spectrum.value}, {text}"
    if y1 - y0 > 1:
        look = {"showarrow": True, "arrowside": "end+start", "startarrowhead": 2}
        plot.text("", x, y1, "base", "ink", ax=x, ay=y0, axref="x", ayref="y", **look)
    # The text stands at the arrow's middle; without an arrow it takes the empty upper
    # right.
    middle = (y0 + y1) / 2 - 2.2 if y1 - y0 > 5 else -3.5
    _beside(
        plot,
        text,
        rank + 0.5 if full else x,
        middle,
        "right" if full else "left",
        8,
        "ink",
    )


class DimensionExplorer(Panel):
    """How many dimensions the functions of a deep attention network have, measured
    while you move it.

    Controls: see `DimensionSetting`. See `Panel`.

    >>> panel = DimensionExplorer()
    >>> panel.controls["layers"].value = 3
    >>> panel.description.split(":")[0]
    'lightning 4→4→4→4, a = 2, 2, 2, t = 3'
    """

    title, setting = "How many dimensions?", DimensionSetting
    old_states = {"(beside|inputs)=.*": ""}
    _answer, draw = staticmethod(study_dimension), staticmethod(dimension_parts)

    def _arrange(self) -> None:
        equal = self.controls["equal"].value
        self.controls["width_in"].disabled = self.controls["width_out"].disabled = equal
        # A single layer of unequal widths has no inner width.
        self.controls["width"].disabled = (
            not equal and self.controls["layers"].value == 1
        )
        self.controls["head_dim"].disabled = bool(
            self.controls["head_dims"].value.strip()
        )

    def _badge(self, answer: DimensionStudy) -> str:
        return measured_badge(answer.exact) + theory_badge(
            answer.expected, answer.exact.value
        )

    def _describe(self, answer: DimensionStudy) -> str:
        arch, exact, spectrum = answer.arch, answer.exact, answer.spectrum
        sure = (
            f"wrong with chance ≤ {exact.error_bound:.0e}"
            if exact.error_bound
            else "full rank, a proof"
        )
        said = [
            (
                f"{arch}: of {arch.num_parameters} parameters, {exact.value}"
                f" dimension{'s remain' if exact.value != 1 else ' remains'} (exact,"
                f" {sure})."
            ),
            say_theory(answer.expected, exact.value),
        ]
        if spectrum is not None and not spectrum.decided:
            said.append(f"Floating point reads {spectrum.value} and cannot decide.")
        elif spectrum is not None and spectrum.value != exact.value:
            said.append(
                f"Floating point reads {spectrum.value}, against the exact rank."
            )
        return " ".join(filter(None, said))
