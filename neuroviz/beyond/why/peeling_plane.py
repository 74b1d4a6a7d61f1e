"""Two tokens in their plane, before and after the first layer: on its way to a scale and a quarter turn."""

import re
from math import cos, hypot, pi, sin

from neuroviz.beyond.why.peeling import PeelStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words

_POINTS = 96  # of an ellipse
_SMALL = 1e-9
_WIDTH, _ASPECT = 425, 1.08  # pixels of the view in a panel of 1100, and width over height


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


def plane_view(study: PeelStudy, x_domain: tuple[float, float]) -> View:
    """The tokens and where they go, on the axes x and y."""
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
    return View(traces, _axes(study, x_domain), [_headline(study), *_labels(study)], [])


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


def _axes(study: PeelStudy, x_domain: tuple[float, float]) -> dict:
    x_range, y_range = _extent(study)
    bare = {"showgrid": False, "showline": False, "ticks": "", "showticklabels": False, "constrain": "domain"}
    return {
        "xaxis": {"domain": x_domain, "anchor": "y", "range": x_range, **bare},
        "yaxis": {
            "domain": (0.0, 1.0),
            "anchor": "x",
            "range": y_range,
            "scaleanchor": "x",
            "scaleratio": 1,
            **bare,
        },
    }


def _headline(study: PeelStudy) -> dict:
    """Over the whole column: the axes below keep their angles and may be narrower."""
    return headline(_finding(study)) | {"xref": "paper", "yref": "paper"}


def _finding(study: PeelStudy) -> str:
    """What the layer does to the two tokens, in a few words."""
    share, done = study.turn_share, study.setting.place == 1
    if share is None:
        return "layer 1: Δ = 0, nothing is left"
    if done and _peels(study):
        return f"layer 1: times Δ = {number(study.turn)}, a quarter turn"
    if done:
        return outside_words("layer 1: both tokens fall on one line")
    return f"layer 1: {100 * share:.0f} % a quarter turn"


def _labels(study: PeelStudy) -> list[dict]:
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
        self._scale = _WIDTH / (x_range[1] - x_range[0])
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
