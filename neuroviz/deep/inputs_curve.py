"""The lower right view: the exact rank against the number of inputs, with its plateau."""

from neuroviz.deep.dimension import DimensionStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, few, focus_ring, headline, kind_mark, label, ticks

_ON = {"xaxis": "x3", "yaxis": "y3"}


def inputs_view(study: DimensionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The curve over the inputs, on the axes x3 and y3."""
    return View(_traces(study), _axes(study, x_domain, y_domain), _annotations(study), [])


def _traces(study: DimensionStudy) -> list[dict]:
    marker, line, mark = theme.size("marker"), theme.size("line"), kind_mark(study.arch.attention)
    curve = study.inputs
    inputs = list(range(1, len(curve.ranks) + 1)) if curve else []
    equations = [min(n * curve.equations_per_input, study.arch.num_parameters) for n in inputs]
    equations = [y for y in equations if y <= 1.2 * _tallest(study)]
    return [
        {
            "name": "equations",
            **_ON,
            "x": inputs[: len(equations)],
            "y": equations,
            "mode": "lines",
            "line": {"color": theme.color("ghost"), "width": 2, "dash": "dot"},
            "hoverinfo": "skip",
        },
        {
            "name": "exact rank by inputs (measured)",
            **_ON,
            "x": inputs,
            "y": list(curve.ranks) if curve else [],
            "mode": "lines+markers",
            "line": {"color": theme.color("measured"), "width": line},
            "marker": {"symbol": mark, "size": marker, "color": theme.color("measured")},
            "hovertemplate": "%{x} inputs: rank %{y}<extra></extra>",
        },
        {
            "name": "inputs in use",
            **_ON,
            "x": [] if curve is None else [_inputs_in_use(study)],
            "y": [] if curve is None else [study.visible],
            "mode": "markers",
            "marker": focus_ring(study.arch.attention),
            "hoverinfo": "skip",
        },
    ]


def _tallest(study: DimensionStudy) -> int:
    """Up to where the ranks are drawn; the dotted line of equations leaves the picture there."""
    return min(study.arch.num_parameters, 2 * study.exact.value)


def _inputs_in_use(study: DimensionStudy) -> int:
    """Where the ring sits on the inputs curve: the chosen number, or the first that is enough."""
    if study.chosen_inputs is None:
        return study.inputs.enough
    return min(study.chosen_inputs, len(study.inputs.ranks))


def _axes(study: DimensionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> dict:
    n, tallest = study.arch.num_parameters, _tallest(study)
    most_inputs = max(len(study.inputs.ranks) if study.inputs else 1, 2)
    return {
        "xaxis3": {
            "anchor": "y3",
            "domain": x_domain,
            "range": [0.4, most_inputs + 0.6],
            "tickvals": few(most_inputs),
            "title": {"text": "number of inputs"},
        },
        "yaxis3": {
            "anchor": "x3",
            "domain": y_domain,
            "range": [-0.08 * tallest, 1.2 * tallest],
            "tickvals": [v for v in ticks(0, study.exact.value, n) if v <= 1.2 * tallest],
            "title": {"text": "rank"},
        },
    }


def _annotations(study: DimensionStudy) -> list[dict]:
    return [
        headline(_headline(study), "3"),
        label(
            f"· · · equations: {study.inputs.equations_per_input} per input" if study.inputs else "",
            0,
            1,
            xref="x3 domain",
            yref="y3 domain",
            xanchor="left",
            yanchor="top",
            xshift=8,
            yshift=4,
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]


def _headline(study: DimensionStudy) -> str:
    if study.inputs is None:
        return "rank against inputs: too large to draw here"
    enough = study.inputs.enough
    return f"{enough} input{'s are' if enough > 1 else ' is'} enough"
