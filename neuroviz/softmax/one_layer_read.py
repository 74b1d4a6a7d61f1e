"""What is known of the weights by now, beside the truth; and a layer on its way to the lightning limit."""

from math import log10

import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.matrices import Row, Tile, largest_entry, matrices_view
from neuroviz.kit.plot import View, headline, label, outside_words, power_of_ten
from neuroviz.kit.words import colored, grouped, percent, tiny
from neuroviz.softmax.one_layer_limit import LimitPoint
from neuroviz.softmax.one_layer_probe import is_limit
from neuroviz.softmax.one_layer_study import OneLayerStudy, Reading

_NOTHING = 1e-15  # relative gaps below it are rounding
ROUGH = 1e-6  # relative: entries read with a larger error are not called known


def weights_view(study: OneLayerStudy, x_domain: tuple[float, float]) -> View:
    """V, Sym A and A as read, with ? for what is not known, above the true ones; on the axes x4 and y4."""
    shown = not is_limit(study)
    limits = (largest_entry(study.V), largest_entry(study.A), largest_entry(study.A))
    pairs = list(zip(study.readings, limits, strict=True))
    read = tuple(_read_tile(*pair) if shown else None for pair in pairs)
    true = tuple(Tile(f"true {one.name}", one.truth, limit) if shown else None for one, limit in pairs)
    rows = [Row("read" if shown else "", read), Row("true" if shown else "", true)]
    view = matrices_view(rows, x_domain, axis="4")
    marks, quiet = _unknown(view, study.readings, shown)
    rings = _just_read(view, study)
    exact = label(
        _exact_words(study) if shown else "",
        x_domain[0],
        0.0,
        xref="paper",
        yref="paper",
        xanchor="left",
        yanchor="bottom",
        align="left",
        font={"size": theme.size("base")},
    )
    over = headline(_finding(study) if shown else "") | {"xref": "paper", "yref": "paper", "x": x_domain[0]}
    return View(
        [*view.traces, marks], view.axes, [*view.annotations, over, exact], [*view.shapes, *quiet, *rings]
    )


def _read_tile(one: Reading, limit: float) -> Tile:
    known, size, error = one.known, one.found.size, one.error
    below = f"{known} of {size}" + ("" if error is None else f"<br>± {tiny(error)}")
    frame = "certified" if known == size and error < ROUGH else ""
    # Unknown entries are 0 for the heat map, and taken out of it below.
    return Tile(
        f"{one.name}, read", np.nan_to_num(one.found), limit, above=one.name, below=below, frame=frame
    )


def _unknown(view: View, readings: tuple[Reading, ...], shown: bool) -> tuple[dict, list[dict]]:
    """Takes unknown cells out of the heat maps; a ? for each, and a quiet ground below each matrix."""
    x, y, grounds = [], [], []
    for heat, one in zip(view.traces, readings, strict=False):
        if shown:
            for i, k in np.argwhere(np.isnan(one.found)).tolist():
                heat["z"][i][k] = None
                heat["text"][i][k] = ""
                x.append(heat["x"][k] + 0.5)
                y.append(heat["y"][i] + 0.5)
        grounds.append(
            {
                "type": "rect",
                "xref": "x4",
                "yref": "y4",
                "x0": heat["x"][0],
                "x1": heat["x"][-1],
                "y0": heat["y"][0],
                "y1": heat["y"][-1],
                "layer": "below",
                "fillcolor": theme.color("wash"),
                "line": {"width": 0},
                "visible": shown,
            }
        )
    marks = {
        "type": "scatter",
        "name": "not known",
        "xaxis": "x4",
        "yaxis": "y4",
        "x": x,
        "y": y,
        "mode": "text",
        "text": ["?"] * len(x),
        "textfont": {"size": theme.size("base"), "color": theme.color("soft")},
        "hoverinfo": "skip",
    }
    return marks, grounds


def _just_read(view: View, study: OneLayerStudy) -> list[dict]:
    """A ring around what the last probe read: a column of V, or one or two entries."""
    step, entry = study.setting.step, study.entry
    if step == "V":
        k = study.probe.place[0]
        cells = [(0, slice(0, len(study.V)), k)] * 2
    elif entry is None:
        cells = []
    else:
        tile = 1 if step == "one token" else 2
        mirrored = entry[::-1] if tile == 1 else entry
        cells = [(tile, slice(i, i + 1), j) for i, j in (entry, mirrored)]
    rings = []
    for n in range(2):
        tile, rows, column = cells[n] if cells else (0, slice(0, 1), 0)
        x, y = view.traces[tile]["x"], view.traces[tile]["y"]
        # An empty matrix, as in the last step, has one edge only.
        seen = bool(cells)
        rings.append(
            {
                "type": "rect",
                "xref": "x4",
                "yref": "y4",
                "x0": x[column],
                "x1": x[column + 1] if seen else x[column],
                "y0": y[rows.start],
                "y1": y[rows.stop] if seen else y[rows.start],
                "line": {"color": theme.color("focus"), "width": 3},
                "visible": seen,
            }
        )
    return rings


def _exact_words(study: OneLayerStudy) -> str:
    exact = study.exact
    prime = grouped(exact.powers.over.p)
    back = exact.equal_V + exact.equal_A
    words = f"{back} of {exact.V.size + exact.A.size} whole entries come back"
    return colored("measured", f"● the same walk mod {prime}:<br>   {words}")


def _finding(study: OneLayerStudy) -> str:
    name, known, size = study.reading.name, study.reading.known, study.reading.found.size
    if name != "V" and not known:
        why = (
            "V = 0"
            if not study.V.any()
            else "t = 1"
            if study.setting.tokens == 1
            else "attention is too sharp"
        )
        return outside_words(f"{why}: no entry of A is seen")
    if study.reading.error > ROUGH:
        return outside_words(f"{name}: {known} of {size} read, off by {percent(study.reading.error)}")
    if known < size:
        return f"{name}: {known} of {size} entries are known"
    if name == "V" and not study.V.any():
        return outside_words(f"V = 0 is known: {known} of {size}")
    return colored("certified", f"{name} is known: {known} of {size} entries")


def limit_view(study: OneLayerStudy, x_domain: tuple[float, float]) -> View:
    """How far φ is from its mean, and from mean and first order, against τ; on the axes x5 and y5."""
    shown = is_limit(study)
    path, here = study.limit.path, study.limit.here
    curves = (
        ("2A, V/2 against φ", "soft", "dash", lambda p: p.rescaled_gap),
        ("φ − mean", "soft", "solid", lambda p: p.mean_gap),
        ("φ − mean − term/τ", "ink", "solid", lambda p: p.first_gap),
    )
    traces, notes = [], []
    for name, role, dash, gap in curves:
        points = [(p.temperature, gap(p)) for p in path if shown and gap(p) > _NOTHING]
        traces.append(_curve(name, points, role, dash))
    gaps = [gap(here) for *_, gap in curves]
    traces.append(_here(here, [g for g in gaps if shown and g > _NOTHING]))
    last = _at(path, 2.0)
    for i, (name, role, _, gap) in enumerate(curves):
        seen = shown and gap(last) > _NOTHING
        # Above the first two lines, and below the end of the last, there is room.
        at = gap(last if i == 1 else path[-1])
        notes.append(
            label(
                colored(role, name) if seen else "",
                4.0,
                log10(at) if seen and at > 0 else 0.0,
                "5",
                xanchor="right",
                yanchor="top" if i == 2 else "bottom",
                yshift=-4 if i == 2 else 4,
                font={"size": theme.size("base")},
            )
        )
    # Where it is not shown its ground must not cover the matrices: it withdraws into the corner.
    axes = {
        "xaxis5": {
            "domain": x_domain if shown else (0.99, 1.0),
            "anchor": "y5",
            "type": "log",
            "range": [-2.1, 4.1],
            "tickvals": [10.0**k for k in (-2, 0, 2, 4)],
            "ticktext": [power_of_ten(k) for k in (-2, 0, 2, 4)],
            "title": {"text": "temperature τ" if shown else ""},
            "visible": shown,
        },
        "yaxis5": {
            "domain": (0.0, 1.0) if shown else (0.0, 0.01),
            "anchor": "x5",
            "type": "log",
            "range": [-13.2 if (study.limit.first_slope or 0) > 2.5 else -9.7, 2.2],
            "tickvals": [10.0**k for k in (-12, -8, -4, 0)],
            "ticktext": [power_of_ten(k) for k in (-12, -8, -4, 0)],
            "title": {"text": "relative to the mean" if shown else ""},
            "visible": shown,
        },
    }
    over = headline(_limit_finding(study) if shown else "") | {"xref": "paper", "yref": "paper"}
    return View(traces, axes, [*notes, over | {"x": x_domain[0]}], [])


def _at(path: tuple[LimitPoint, ...], log: float) -> LimitPoint:
    return min(path, key=lambda point: abs(log10(point.temperature) - log))


def _curve(name: str, points: list[tuple[float, float]], role: str, dash: str) -> dict:
    return {
        "type": "scatter",
        "name": name,
        "xaxis": "x5",
        "yaxis": "y5",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "mode": "lines",
        "line": {"color": theme.color(role), "width": theme.size("line"), "dash": dash},
        "hovertemplate": f"{name}, τ = %{{x:.3g}}: %{{y:.2e}}<extra></extra>",
    }


def _here(here: LimitPoint, gaps: list[float]) -> dict:
    return {
        "type": "scatter",
        "name": "here",
        "xaxis": "x5",
        "yaxis": "y5",
        "x": [here.temperature] * len(gaps),
        "y": gaps,
        "mode": "markers",
        "marker": {"size": theme.size("marker") + 4, "color": theme.color("focus")},
        "hovertemplate": "τ = %{x:.3g}: %{y:.2e}<extra></extra>",
    }


def _limit_finding(study: OneLayerStudy) -> str:
    slope, here = study.limit.first_slope, study.limit.here
    if not study.V.any():
        return outside_words("V = 0: the function is 0 at every τ")
    if study.setting.tokens == 1:
        return outside_words("t = 1: the function is Vx at every τ")
    if slope is None:
        return outside_words("the rest falls into rounding")
    return f"the rest falls as 1/τ{'²' if round(slope) == 2 else '³' if round(slope) == 3 else ''}" + (
        f"; here {percent(here.first_gap)}" if here.first_gap > 1e-3 else ""
    )
