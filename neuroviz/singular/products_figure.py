"""A layer with d = 2 as a table of products of linear forms, and where a sequence of such tables leads."""

from math import ceil, floor, log10

from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, label, power_of_ten
from neuroviz.singular.products_table import ConjugatePath, ProductsStudy, table_view, title

__all__ = ["ConjugatePath", "ProductsStudy", "products_parts"]

_RIGHT = (0.7, 1.0)
_PLOT = (0.52, 1.0)
_SMALLEST = 1e-9  # distances below this are rounding

KIND_WORDS = {
    "smooth": "a smooth point",
    "crossing": "singular: branches cross",
    "boundary": "singular: a boundary point",
    "closure only": "no layer: closure only",
}


LIMIT_WORDS = {
    "rescaled": "a smooth point",
    "to the boundary": "a boundary point",
    "to zero": "0, a boundary point",
}
_WHY = {
    "smooth": ["R = 0: two products in one row", "have a common root, that of v."],
    "crossing": ["Either root may be that of v:", "two sets of weights, the swap."],
    "boundary": ["A double root, u = v. Next to it", "lie forms with a complex pair:", "no layers."],
}


def products_parts(study: ProductsStudy) -> Parts:
    """Table, plot and facts."""
    return compose(table_view(study), _plot(study), _facts(study))


# Upper right: a plot, where there is one.


def _plot(study: ProductsStudy) -> View:
    sequence, path = study.sequence, study.path
    x, curves, here = [], [[], [], [], []], ([], [])
    if sequence is not None:
        x = [float(n) for n in sequence.steps]
        size = [a * v for a, v in zip(sequence.sizes_a, sequence.sizes_v, strict=True)]
        distances = [d if d > _SMALLEST else None for d in sequence.distances]
        curves = [list(sequence.sizes_a), list(sequence.sizes_v), size, distances]
        here = ([x[study.step]] * 4, [curve[study.step] for curve in curves])
    elif path is not None:
        x, curves[3] = list(path.imaginary), list(path.distances)
        here = ([study.imaginary], [study.distance])
    looks = [
        ("|A|", "layer 3", "solid"),
        ("|V|", "focus", "dash"),
        ("|A| |V|", "soft", "dot"),
        ("distance", "ink", "solid"),
    ]
    traces = [
        {"name": name, "xaxis": "x2", "yaxis": "y2", "x": x if curve else [], "y": curve, "mode": "lines"}
        | {"line": {"color": theme.color(role), "dash": dash, "width": theme.size("line")}}
        | {"hovertemplate": f"{name} = %{{y:.3g}}<extra></extra>"}
        for (name, role, dash), curve in zip(looks, curves, strict=True)
    ]
    traces.append(
        {"name": "now", "xaxis": "x2", "yaxis": "y2", "x": here[0], "y": here[1], "mode": "markers"}
        | {"hoverinfo": "skip", "cliponaxis": False}
        | {
            "marker": {
                "symbol": "circle-open",
                "size": theme.size("marker") + 4,
                "color": theme.color("focus"),
                "line": {"width": 2.6},
            }
        }
    )
    return View(traces, _plot_axes(study, curves), _plot_words(study, curves), [])


def _plot_axes(study: ProductsStudy, curves: list[list]) -> dict:
    common = {"fixedrange": True}
    x = {"anchor": "y2", "domain": _RIGHT, **common}
    y = {"anchor": "x2", "domain": _PLOT, **common}
    if study.sequence is not None:
        values = [v for curve in curves for v in curve if v]
        low, high = floor(log10(min(values))) - 1, ceil(log10(max(values)))  # room for a label below
        last = study.sequence.steps[-1]
        tens = list(range(low, high + 1, max(2, (high - low) // 4)))
        x |= {"type": "log", "range": [0, 1.22 * log10(last)], "title": {"text": "n"}, "visible": True}
        x |= {"tickvals": [1, 10, 100, 1000, 10_000], "ticktext": ["1", "10", "100", "1 000", "10⁴"]}
        y |= {"type": "log", "range": [low, high], "visible": True, "title": {"text": ""}}
        y |= {"tickvals": [10.0**n for n in tens], "ticktext": [power_of_ten(n) for n in tens]}
    elif study.path is not None:
        top = max(max(study.path.distances), 0.1)
        x |= {
            "type": "linear",
            "range": [-0.03, 1.05],
            "title": {"text": "imaginary part of v"},
            "visible": True,
        }
        x |= {"tickvals": [0, 0.5, 1], "ticktext": ["0", "0.5", "1"]}
        y |= {"type": "linear", "range": [-0.05 * top, 1.12 * top], "visible": True}
        y |= {"tickvals": [0, round(top, 2)], "ticktext": ["0", f"{top:.2g}"], "title": {"text": ""}}
    else:
        hidden = {"type": "linear", "range": [0, 1], "visible": False, "title": {"text": ""}}
        x |= hidden | {"tickvals": [], "ticktext": []}
        y |= hidden | {"tickvals": [], "ticktext": []}
    return {"xaxis2": x, "yaxis2": y}


def _plot_words(study: ProductsStudy, curves: list[list]) -> list[dict]:
    if study.sequence is not None:
        runs_off = "|A|" if study.sequence.sizes_a[-1] > study.sequence.sizes_v[-1] else "|V|"
        found = f"{runs_off} runs off, φ converges"
    elif study.path is not None:
        found = "distance to the nearest layer"
    else:
        found = ""
    names = [("|A|", "layer 3"), ("|V|", "focus"), ("|A| |V|", "soft"), ("distance", "ink")]
    ends = [_end(study, curve) for curve in curves]
    heights = _spread([end[1] for end in ends if end is not None])
    words = [title(found, _RIGHT[0])]
    for (name, role), end in zip(names, ends, strict=True):
        text = "" if end is None else f'<span style="color:{theme.color(role)}">{name}</span>'
        x, y = (0.0, 0.0) if end is None else (end[0], heights[end[1]])
        words.append(label(text, x, y, "2", xanchor="left", xshift=5, font={"size": theme.size("note")}))
    return words


def _end(study: ProductsStudy, curve: list) -> tuple[float, float] | None:
    """Where the curve of a sequence ends, on the logarithmic axes."""
    seen = [i for i, value in enumerate(curve) if value]
    if study.sequence is None or not seen:
        return None
    return log10(study.sequence.steps[seen[-1]]), log10(curve[seen[-1]])


def _spread(heights: list[float]) -> dict[float, float]:
    """Heights of labels, moved apart where they would lie on each other."""
    if not heights:
        return {}
    gap, moved = 0.1 * max(max(heights) - min(heights), 1.0), {}
    above = None
    for height in sorted(heights, reverse=True):
        moved[height] = height if above is None else min(height, above - gap)
        above = moved[height]
    return moved


# Right: what is true of the function.


def _facts(study: ProductsStudy) -> View:
    base = theme.size("base")
    with_plot = study.sequence is not None or study.path is not None
    top, verdict, count = 0.26 if with_plot else 1.0, KIND_WORDS[study.kind], len(study.cells)
    if study.mode == "sequence":
        verdict = f"limit: {LIMIT_WORDS[study.sequence.kind]}"
    rows = [
        ("rank A, rank V", f"{study.rank_a}, {study.rank_v}"),
        *(
            ("R(q₁, q₂)" if count == 1 else f"R of row {m + 1}", _zero(value))
            for m, value in enumerate(study.resultants)
        ),
        ("distance to a layer", "> 0" if study.distance is None else _zero(study.distance)),
    ]
    if not with_plot:  # there is room
        rows += [("numbers in the table", f"{6 * count}"), ("dimension of the layers", f"{3 + 2 * count}")]
    at = {"xref": "paper", "yref": "paper", "y": top - 0.03, "yanchor": "top", "showarrow": False}
    names, values = "<br>".join(name for name, _ in rows), "<br>".join(f"<b>{value}</b>" for _, value in rows)
    words = [
        title(verdict, _RIGHT[0]) | {"y": top},
        at | {"text": names, "x": _RIGHT[0], "xanchor": "left", "align": "left"}
        | {"font": {"size": base, "color": theme.color("soft")}},
        at | {"text": values, "x": 1, "xanchor": "right", "align": "right", "font": {"size": base}},
        at | {"text": "" if with_plot else "<br>".join(_why(study)), "x": _RIGHT[0], "y": 0.56}
        | {"xanchor": "left", "align": "left", "font": {"size": base}},
    ]  # fmt: skip
    return View([], {}, words, [])


def _why(study: ProductsStudy) -> list[str]:
    if not any(any(q) for row in study.cells for q in row):
        return ["The zero function is a layer:", "A = 0, with any V."]
    return _WHY.get(study.kind, [])


def _zero(value: float) -> str:
    return "0" if abs(value) < _SMALLEST else f"{value:.2g}".replace("-", "−")
