"""The peel lemma in three views: two tokens in their plane, a spectrum on its way, kernels counted."""

import re
from math import cos, hypot, pi, sin

import plotly.graph_objects as go
from plotly.basedatatypes import BaseFigure

from neuroviz import theme
from neuroviz.figures.parts import (
    Parts,
    View,
    compose,
    headline,
    label,
    make,
    outside_words,
    power_of_ten,
    redraw,
)
from neuroviz.peeling import PeelStudy, kernel

_LEFT, _RIGHT = (0.0, 0.4), (0.53, 1.0)
_UPPER, _LOWER = (0.5, 1.0), (0.0, 0.27)
_FLOOR = 1e-17  # where an exact zero is drawn on the log axis
_BOTTOM, _TOP = -18.6, 0.9  # log₁₀ of the ends of that axis
_NOISE = 2e-14  # up to where rounding alone may lift a singular value, generously
_TAIL = 1.3  # where the network without its first layer stands on the axis of s
_SQUARES_WIDTH = 490  # pixels of the lower right view
_POINTS = 96  # of an ellipse
END_NAMES = {"antisymmetric": "αβᵀ − βαᵀ", "symmetric": "ααᵀ", "rank-one": "αβᵀ"}
_SMALL = 1e-9
_PLANE_WIDTH, _ASPECT = 425, 1.08  # pixels of the left view in a panel of 1100, and width over height


def peel_figure(study: PeelStudy) -> go.Figure:
    """The three views as a figure of its own; `update_peel` moves it to another study."""
    return make(_parts(study))


def update_peel(figure: BaseFigure, old: PeelStudy | None, new: PeelStudy) -> None:
    """Bring a figure that shows one study (None: nobody knows which) to another, in one message."""
    redraw(figure, None if old is None else _parts(old), _parts(new))


def _parts(study: PeelStudy) -> Parts:
    return compose(_plane(study), _spectra(study), _kernels(study))


def _peels(study: PeelStudy) -> bool:
    return study.setting.end == "antisymmetric"


def _turns(study: PeelStudy) -> bool:
    """Whether there is a quarter turn to show: not where the tokens are parallel, or M₁ ends elsewhere."""
    return _peels(study) and abs(study.turn) > _SMALL


def number(value: float) -> str:
    """Two decimals, with a minus sign that is one.

    >>> number(-0.5), number(-0.001)
    ('−0.50', '0.00')
    """
    text = f"{value:.2f}"
    return (text[1:] if float(text) == 0 and text[0] == "-" else text).replace("-", "−")


# Left: the plane of the two tokens.


def _columns(points: object) -> list[tuple[float, float]]:
    """The two columns of a 2 × 2 array."""
    return [(float(points[0][j]), float(points[1][j])) for j in (0, 1)]


def _on_ellipse(study: PeelStudy, degrees: list[float], scale: float = 1.0) -> list[tuple[float, float]]:
    """Points of {c · X s : |s| = 1}: turned by φ, the pair (x₁, x₂) has its first token there."""
    (a, b), (c, d) = _columns(study.X)
    angles = [pi * degree / 180 for degree in degrees]
    return [(scale * (a * cos(phi) - c * sin(phi)), scale * (b * cos(phi) - d * sin(phi))) for phi in angles]


def _quarters(study: PeelStudy) -> tuple[list[float], list[float]]:
    """The angles that the two tokens run through, in degrees; x₂ itself is at −90."""
    way = 1 if study.turn > 0 else -1
    steps = [way * 90 * k / 24 for k in range(25)]
    return steps, [step - 90 for step in steps]


def _plane(study: PeelStudy) -> View:
    tokens, outputs, starts, goals = (
        _columns(points) for points in (study.X, study.Y, study.start, study.goal)
    )
    (x1, y1), (x2, y2) = tokens
    marker, width = theme.size("marker"), theme.size("line")
    whole = [360 * k / _POINTS for k in range(_POINTS + 1)]
    # The first token turns from x₁ to −x₂, the second from x₂ to x₁; the other way round if Δ < 0.
    first, second = _quarters(study)
    arcs = [*_on_ellipse(study, first), None, *_on_ellipse(study, second)]
    scaled = _on_ellipse(study, whole, study.turn) if _turns(study) else []
    traces = [
        _curve("parallelogram", [(0, 0), (x1, y1), (x1 + x2, y1 + y2), (x2, y2), (0, 0)], "axis", 0.8)
        | {"fill": "toself", "fillcolor": theme.color("wash")},
        _curve("ellipse of the tokens", _on_ellipse(study, whole), "ghost", 1.2, dash="dot"),
        _curve("the same ellipse times Δ", scaled, "ghost", 1.2),
        _curve("a quarter turn", arcs if _turns(study) else [], "soft", width),
        _curve("way of the outputs", [starts[0], goals[0], None, starts[1], goals[1]], "ghost", 1.5),
        _curve("tokens", [(0, 0), tokens[0], None, (0, 0), tokens[1]], "ink", width),
        _marks("tokens before", tokens, "ink", marker + 3, filled=False),
        _marks("tokens after, at s = 1", goals, "ghost", marker + 7, filled=False),
        _curve("outputs", [(0, 0), outputs[0], None, (0, 0), outputs[1]], "focus", width),
        _marks("tokens after", outputs, "focus", marker + 4, filled=True),
    ]
    return View(traces, _plane_axes(study), [_first_headline(study), *_plane_labels(study)], [])


def _curve(name: str, points: list, role: str, width: float, **line: object) -> dict:
    return {
        "name": name,
        "x": [None if point is None else point[0] for point in points],
        "y": [None if point is None else point[1] for point in points],
        "mode": "lines",
        "line": {"color": theme.color(role), "width": width, "simplify": False, **line},
        "hoverinfo": "skip",
    }


def _marks(name: str, points: list, role: str, size: float, filled: bool) -> dict:
    return {
        "name": name,
        "x": [point[0] for point in points],
        "y": [point[1] for point in points],
        "text": ["token 1", "token 2"],
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size,
            "color": theme.color(role if filled else "ground"),
            "line": {"color": theme.color(role), "width": 2.2},
        },
        "hovertemplate": f"{name}: %{{text}} at (%{{x:.2f}}, %{{y:.2f}})<extra></extra>",
    }


def _extent(study: PeelStudy) -> tuple[list[float], list[float]]:
    """The ranges of the plane: everything that is drawn while s moves, with room for the labels."""
    points = [p for pair in (study.X, study.start, study.goal) for p in _columns(pair)]
    whole = [6.0 * k for k in range(60)]
    points += _on_ellipse(study, whole)
    if _peels(study):
        points += _on_ellipse(study, whole, study.turn)
    (a, b), (c, d) = _columns(study.X)
    points.append((a + c, b + d))
    xs, ys = zip(*points, strict=True)
    # The view is about square: the shorter range grows, so that nothing shrinks to keep the angles.
    side = 1.24 * max(max(xs) - min(xs), max(ys) - min(ys))
    x, y = (max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2
    return [x - _ASPECT * side / 2, x + _ASPECT * side / 2], [y - side / 2, y + side / 2]


def _plane_axes(study: PeelStudy) -> dict:
    x_range, y_range = _extent(study)
    bare = {"showgrid": False, "showline": False, "ticks": "", "showticklabels": False, "constrain": "domain"}
    return {
        "xaxis": {"domain": _LEFT, "anchor": "y", "range": x_range, **bare},
        "yaxis": {
            "domain": (0.0, 1.0),
            "anchor": "x",
            "range": y_range,
            "scaleanchor": "x",
            "scaleratio": 1,
            **bare,
        },
    }


def _first_headline(study: PeelStudy) -> dict:
    """Over the whole column: the axes below keep their angles and may be narrower."""
    return headline(_plane_finding(study)) | {"xref": "paper", "yref": "paper"}


def _plane_finding(study: PeelStudy) -> str:
    """What the layer does to the two tokens, in a few words."""
    share, done = study.turn_share, study.setting.place == 1
    if share is None:
        return "layer 1: Δ = 0, nothing is left"
    if done and _peels(study):
        return f"layer 1: times Δ = {number(study.turn)}, a quarter turn"
    if done:
        return outside_words("layer 1: both tokens fall on one line")
    return f"layer 1: {100 * share:.0f} % a quarter turn"


def _plane_labels(study: PeelStudy) -> list[dict]:
    tokens, outputs, goals = (_columns(points) for points in (study.X, study.Y, study.goal))
    base, note, peels = theme.size("base"), theme.size("note"), _peels(study)
    (a, b), (c, d) = tokens
    taken = _Taken(study)
    found = [
        taken.place(
            f"area Δ = {number(study.turn)}" if peels and abs(study.turn) > 0.005 else "",
            (a + c, b + d),
            "soft",
            note,
        )
    ]
    found += [taken.place(f"x<sub>{i}</sub>", p, "ink", base) for i, p in enumerate(tokens, start=1)]
    both_gone = all(hypot(*point) < _SMALL for point in outputs)
    names = ("−Δ x<sub>2</sub>", "Δ x<sub>1</sub>") if peels else ("", "")
    arrived = [hypot(p[0] - q[0], p[1] - q[1]) < _SMALL for p, q in zip(outputs, goals, strict=True)]
    for i, (point, name) in enumerate(zip(outputs, names, strict=True), start=1):
        text = f"<b>y<sub>{i}</sub></b>" + (f" = {name}" if arrived[i - 1] and name else "")
        if both_gone:
            text = "<b>y<sub>1</sub> = y<sub>2</sub> = 0</b>" if i == 1 else ""
        found.append(taken.place(text, point, "focus", base))
    for i, (goal, name) in enumerate(zip(goals, names, strict=True)):
        others = [*tokens, outputs[i], goals[1 - i]]
        crowded = any(taken.apart(goal, other) < 2.2 * note for other in others)
        found.append(taken.place("" if crowded else name, goal, "soft", note))
    found += _arrow_heads(study)
    found.append(
        label(
            "x: before layer 1   y: after it",
            0,
            0,
            xref="paper",
            yref="paper",
            xanchor="left",
            yanchor="bottom",
            font={"size": note, "color": theme.color("soft")},
        )
    )
    return found


class _Taken:
    """The places of the plane where something stands, in pixels; names are put where there is room."""

    def __init__(self, study: PeelStudy) -> None:
        x_range, y_range = _extent(study)
        self._scale = _PLANE_WIDTH / (x_range[1] - x_range[0])
        self._low, self._high = (self._pixel((x_range[k], y_range[k])) for k in (0, 1))
        tokens, outputs, goals = (_columns(points) for points in (study.X, study.Y, study.goal))
        points = [*tokens, *outputs, *goals]
        # Along the lines from the origin, and along the arcs.
        points += [(x * k / 8, y * k / 8) for x, y in (*tokens, *outputs) for k in range(8)]
        if _turns(study):
            points += [p for angles in _quarters(study) for p in _on_ellipse(study, angles[::3])]
        self._points = [self._pixel(point) for point in points]

    def _pixel(self, point: tuple[float, float]) -> tuple[float, float]:
        return point[0] * self._scale, point[1] * self._scale

    def apart(self, one: tuple[float, float], other: tuple[float, float]) -> float:
        """How many pixels lie between two points."""
        return self._scale * hypot(one[0] - other[0], one[1] - other[1])

    def place(self, text: str, point: tuple[float, float], role: str, size: float) -> dict:
        """The text beside the point, in the direction with the most room; its place is taken then."""
        letters = len(re.sub("<[^>]*>", "", text))
        half = 0.27 * size * letters
        x, y = self._pixel(point)

        def spots(angle: float, away: float) -> list[tuple[float, float]]:
            """Places along the text, if it stands in this direction, so far away."""
            center_x = x + cos(angle) * (away + 0.3 * size + half)
            center_y = y + sin(angle) * (away + 0.75 * size)
            return [(center_x + k * half, center_y) for k in (-1, 0, 1)]

        def room(spot: tuple[float, float]) -> float:
            gaps = [
                hypot(spot[0] - u, 1.3 * (spot[1] - v))  # letters are wider than high
                for u, v in self._points
                if (u, v) != (x, y)
            ]
            inside = self._low[0] <= spot[0] <= self._high[0] and self._low[1] <= spot[1] <= self._high[1]
            return min(*gaps, 2.5 * size) if inside else -1.0

        # The nearer place if both have the same room: max takes the first.
        choices = [(pi * k / 6, away) for away in (9.0, 20.0) for k in range(12)]
        best = max(choices, key=lambda choice: min(map(room, spots(*choice)))) if text else choices[0]
        if text:
            self._points += spots(*best)
        center_x, center_y = spots(*best)[1]
        return label(
            text,
            point[0],
            point[1],
            xanchor="center",
            yanchor="middle",
            xshift=round(center_x - x),
            yshift=round(center_y - y),
            font={"size": size, "color": theme.color(role)},
        )


def _arrow_heads(study: PeelStudy) -> list[dict]:
    """At the ends of the two quarter turns."""
    found = []
    for angles in _quarters(study):
        (x, y), (ax, ay) = _on_ellipse(study, [angles[-1], angles[-4]])
        found.append(
            {
                "text": "",
                "x": x,
                "y": y,
                "ax": ax,
                "ay": ay,
                "xref": "x",
                "yref": "y",
                "axref": "x",
                "ayref": "y",
                "showarrow": True,
                "arrowhead": 2,
                "arrowsize": 1.1,
                "arrowwidth": theme.size("line"),
                "arrowcolor": theme.color("soft"),
                "standoff": theme.size("marker"),
                "opacity": 1 if _turns(study) else 0,
            }
        )
    return found


# Right, above: singular values on the way.


def _spectra(study: PeelStudy) -> View:
    generic, last = study.at_start.value, study.at_end.value
    marker = theme.size("marker")
    kept, zeros = _split(study.spectrum, study.here.value)
    tail_kept, tail_zeros = _split(study.tail_spectrum, study.tail.value)
    s = study.setting.place
    traces = [
        _ways(study, "singular values along the way (measured)", range(min(last, generic)), "measured", 1.2),
        _ways(
            study,
            "singular values that fall to 0 (measured)",
            range(last, generic),
            "outside",
            theme.size("line") + 0.4,
        ),
        {
            "name": "this place",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [s, s],
            "y": [10**_BOTTOM, 10**_TOP],
            "mode": "lines",
            "line": {"color": theme.color("focus"), "width": theme.size("line")},
            "hoverinfo": "skip",
        },
        _dots("singular values here (measured)", s, kept, True, marker),
        _dots("zeros here (measured)", s, zeros, False, marker),
        _dots("singular values without layer 1 (measured)", _TAIL, tail_kept, True, marker),
        _dots("zeros without layer 1 (measured)", _TAIL, tail_zeros, False, marker),
    ]
    return View(traces, _spectra_axes(study), _spectra_labels(study), [_noise_band(), _divider()])


def _split(spectrum: object, rank: int) -> tuple[list[float], list[float]]:
    """Singular values counted by the exact rank, and the others; zeros sit on the floor of the axis."""
    sigma = [max(float(value), _FLOOR) for value in spectrum.singular_values]
    return sigma[:rank], sigma[rank:]


def _ways(study: PeelStudy, name: str, which: range, role: str, width: float) -> dict:
    """One line for each singular value, all in one trace."""
    x, y = [], []
    for i in which:
        for placed in study.path:
            x.append(placed.place)
            y.append(max(float(placed.spectrum.singular_values[i]), _FLOOR))
        x.append(None)
        y.append(None)
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": x,
        "y": y,
        "mode": "lines",
        "opacity": 0.55 if role == "measured" else 1.0,
        "line": {"color": theme.color(role), "width": width, "simplify": False},
        "hoverinfo": "skip",
    }


def _dots(name: str, x: float, values: list[float], filled: bool, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [x] * len(values),
        "y": values,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size if filled else size - 1,
            "color": theme.color("measured" if filled else "ground"),
            "line": {"color": theme.color("ground" if filled else "ghost"), "width": 0.8 if filled else 1.5},
        },
        "hovertemplate": "%{y:.1e}<extra></extra>",
    }


def _spectra_axes(study: PeelStudy) -> dict:
    name = END_NAMES[study.setting.end]
    return {
        "xaxis2": {
            "domain": _RIGHT,
            "anchor": "y2",
            "range": [-0.06, _TAIL + 0.27],
            "tickvals": [0, 1, _TAIL],
            "ticktext": ["s = 0:<br>M₁ random", f"s = 1:<br>{name}", "without<br>layer 1"],
            "showgrid": False,
        },
        "yaxis2": {
            "domain": _UPPER,
            "anchor": "x2",
            "type": "log",
            "range": [_BOTTOM, _TOP],
            "tickvals": [10.0**k for k in range(-16, 1, 4)],
            "ticktext": [power_of_ten(k) for k in range(-16, 1, 4)],
            "title": {"text": "σ<sub>i</sub> / σ<sub>1</sub>"},
        },
    }


def _noise_band() -> dict:
    return {
        "type": "rect",
        "xref": "x2 domain",
        "yref": "y2",
        "x0": 0,
        "x1": 1,
        "y0": 10**_BOTTOM,
        "y1": _NOISE,
        "fillcolor": theme.color("wash"),
        "line": {"width": 0},
        "layer": "below",
    }


def _divider() -> dict:
    """Between the way and the other network."""
    middle = (1 + _TAIL) / 2
    return {
        "type": "line",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": middle,
        "x1": middle,
        "y0": 0,
        "y1": 1,
        "line": {"color": theme.color("axis"), "width": 1, "dash": "dot"},
    }


def _spectra_labels(study: PeelStudy) -> list[dict]:
    s, soft = study.setting.place, {"size": theme.size("note"), "color": theme.color("soft")}
    to_the_left = s > 0.55
    zeros, tail_zeros = kernel(study.here), kernel(study.tail)
    return [
        headline(_spectra_finding(study), "2"),
        label(
            f"{_zeros(zeros)} here",
            s,
            -16.3,
            "2",
            xanchor="right" if to_the_left else "left",
            yanchor="middle",
            xshift=-12 if to_the_left else 12,
            font=soft,
        ),
        label(_zeros(tail_zeros), _TAIL, -16.3, "2", xanchor="left", yanchor="middle", xshift=12, font=soft),
        label(
            "rounding",
            0.0 if s > 0.55 else 0.78,
            -16.3,
            "2",
            xanchor="left" if s > 0.55 else "center",
            yanchor="middle",
            font=soft,
        ),
    ]


def _zeros(count: int) -> str:
    return f"{count} zero{'s' if count != 1 else ''}"


def _spectra_finding(study: PeelStudy) -> str:
    fall = kernel(study.at_end) - kernel(study.at_start)
    if fall <= 0:
        return "on the way nothing falls to 0"
    return outside_words(f"at the end {fall} value{'s fall' if fall > 1 else ' falls'} to 0")


# Right, below: kernels, one square for each direction.


def _kernels(study: PeelStudy) -> View:
    rescalings, here, end, tail = _counts(study)
    peeled = 1 + tail
    beyond = end - peeled
    most = max(end, here, peeled, rescalings, 10)
    size = min(1.2 * theme.size("tick"), 0.85 * _SQUARES_WIDTH * 0.62 / most)
    traces = [
        _squares("rescalings", 3, range(rescalings), "symmetry", size),
        _squares("kernel here (measured)", 2, range(here), "measured", size),
        _squares("kernel at the end (measured)", 1, range(min(end, peeled)), "measured", size),
        _squares("kernel at the end beyond the lemma (measured)", 1, range(peeled, end), "outside", size),
        _squares("the rescaling of the first layer", 0, range(1), "symmetry", size),
        _squares("kernel without the first layer (measured)", 0, range(1, peeled), "measured", size),
    ]
    texts = [
        f"{rescalings}: always there",
        f"{here}",
        f"{end}" + (outside_words(f": {beyond} too many") if beyond > 0 else ""),
        f"1 + {tail} = {peeled}",
    ]
    font = {"size": theme.size("base")}
    counts = (rescalings, here, end, peeled)
    labels = [
        label(text, count, row, "3", xanchor="left", yanchor="middle", xshift=8, font=font)
        for text, count, row in zip(texts, counts, (3, 2, 1, 0), strict=True)
    ]
    return View(
        traces,
        {
            "xaxis3": {
                "domain": _RIGHT,
                "anchor": "y3",
                "range": [-0.2, most / 0.62],
                "showgrid": False,
                "showline": False,
                "ticks": "",
                "showticklabels": False,
            },
            "yaxis3": {
                "domain": _LOWER,
                "anchor": "x3",
                "range": [-0.6, 3.6],
                "tickvals": [3, 2, 1, 0],
                "ticktext": [
                    "rescalings",
                    f"here, s = {study.setting.place:.4g}",
                    "at the end, s = 1",
                    "1 + without layer 1",
                ],
                "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
                "showgrid": False,
                "showline": False,
                "ticks": "",
            },
        },
        [headline(_kernel_finding(study), "3"), *labels],
        [],
    )


def _counts(study: PeelStudy) -> tuple[int, int, int, int]:
    return study.setting.layers, kernel(study.here), kernel(study.at_end), kernel(study.tail)


def _kernel_finding(study: PeelStudy) -> str:
    """The chain of the proof: rescalings ≤ here ≤ at the end, which the lemma knows."""
    rescalings, here, end, tail = _counts(study)
    chain = f"kernel: {rescalings} ≤ {here} ≤ {end}"
    if not study.splits:
        return f"{chain} " + outside_words(f"≠ 1 + {tail}: proves nothing")
    return f"{chain} = 1 + {tail}" + (f", so it is {end}" if rescalings == here == end else "")


def _squares(name: str, row: int, which: range, role: str, size: float) -> dict:
    return {
        "name": name,
        "xaxis": "x3",
        "yaxis": "y3",
        "x": [i + 0.5 for i in which],
        "y": [row] * len(which),
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "symbol": "square",
            "size": round(size),
            "color": theme.color(role),
            "line": {"width": 0},
        },
        "hovertemplate": f"{name}<extra></extra>",
    }
