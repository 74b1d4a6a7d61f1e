"""Where Eq. 14 stops: a map over head dimensions, one over widths, and what happens to the tokens."""

from dataclasses import dataclass

from neuroviz.deep.formula_map import FormulaMap, MapCell, map_view
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, label

__all__ = ["FormulaMap", "HypothesesStudy", "MapCell", "hypotheses_parts"]

_HEADS, _WIDTHS, _ANGLES = (0.0, 0.34), (0.41, 0.75), (0.83, 1.0)


@dataclass(frozen=True)
class HypothesesStudy:
    """A network of two layers, its neighbours on two maps, and the angles between its tokens.

    Attributes:
        arch: the network.
        measured: its dimension.
        expected, paper: what theory says, and what the paper's formula says, applicable or not.
        heads: the map over (a₁, a₂).
        widths: the map over the inner width and the outer widths.
        angles: for the input and after each layer, the angles between all pairs of tokens, in degrees.
    """

    arch: Architecture
    measured: Measurement
    expected: Expected
    paper: Expected
    heads: FormulaMap
    widths: FormulaMap
    angles: tuple[tuple[float, ...], ...]

    @property
    def collapsed(self) -> int | None:
        """The first layer after which all tokens are parallel, counted from 1; None if there is none."""
        flat = [i for i, pairs in enumerate(self.angles) if pairs and max(pairs) < 1e-3]
        return flat[0] if flat else None


def hypotheses_parts(study: HypothesesStudy) -> Parts:
    """Both maps and the angles."""
    return compose(
        map_view(study.heads, _HEADS, ""), map_view(study.widths, _WIDTHS, "2"), _angles_view(study)
    )


def _angles_view(study: HypothesesStudy) -> View:
    """Every pair of tokens as a thin line from layer to layer."""
    marker = theme.size("marker")
    pairs = list(zip(*study.angles, strict=True))
    x = [i for pair in pairs for i in [*range(len(pair)), None]]
    y = [angle for pair in pairs for angle in [*pair, None]]
    last = len(study.angles) - 1
    names = ["input", *(f"layer {i}" for i in range(1, last + 1))]
    traces = [
        {
            "name": "angle between two tokens",
            "xaxis": "x3",
            "yaxis": "y3",
            "x": x,
            "y": y,
            "mode": "lines+markers",
            "connectgaps": False,
            "line": {"color": theme.color("ghost"), "width": 1.2},
            "marker": {"size": marker, "color": theme.color("focus")},
            "hovertemplate": "%{y:.3g}°<extra></extra>",
        }
    ]
    axes = {
        "xaxis3": {
            "anchor": "y3",
            "domain": _ANGLES,
            "range": [-0.35, last + 0.35],
            "tickvals": list(range(last + 1)),
            "ticktext": names,
            "tickangle": 0,
            "showgrid": False,
        },
        "yaxis3": {
            "anchor": "x3",
            "domain": (0.0, 0.86),
            "range": [-6, 96],
            "tickvals": [0, 30, 60, 90],
            "title": {"text": "angle between two tokens (degrees)"},
        },
    }
    text = "tokens parallel" if study.collapsed else "tokens apart"
    if study.arch.tokens == 1:
        text = "one token"
    said = [
        headline(text, "3"),
        label(
            "one pair, one line" if len(pairs) > 1 else "",
            0,
            1,
            xref="x3 domain",
            yref="y3 domain",
            xanchor="left",
            yanchor="top",
            xshift=6,
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]
    return View(traces, axes, said, [])
