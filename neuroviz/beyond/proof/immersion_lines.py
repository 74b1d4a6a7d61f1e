"""Two tokens on the line through x₁ and x₂: where each layer sends them, in their plane and unfolded."""

from math import inf

from neuroviz.beyond.proof.immersion import MOST_LAYERS, ImmersionStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, outside_words
from neuroviz.kit.words import numbered, percent, signed, tiny
from neuroviz.softmax.two_tokens import exponentials

_ACROSS = [-0.16, 2.25]  # the places 0 and 1, and right of them the words
_CHIP = (1.1, 1.15)  # where a layer's colour stands
_NO_ROOM = 0.12  # tokens nearer than this get one name
_NAMES = {"true": "as it is", "free": "yours", "frozen": "frozen", "collapsed": "collapsed"}


def lines_view(study: ImmersionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """Places on the way from x₁ to x₂, layer by layer downwards; on the axes x and y."""
    first, second = ([float(place) for place in column] for column in study.places.T)
    depth, marker, width = list(range(len(first))), theme.size("marker"), theme.size("line")
    met = study.met_after
    moved = [i for i in range(1, len(first)) if _is_moved(study, i)]
    traces = [
        _path(
            "levels", [(x, float(i)) for i in depth for x in (0.0, 1.0, None)], "grid", 1.0, hoverinfo="skip"
        ),
        _path(
            "equal tokens", [] if met is None else [(first[i], i) for i in depth[met:]], "wash", 4 * width + 6
        ),
        _path("token 1", list(zip(first, depth, strict=True)), "ink", width),
        _path("token 2", list(zip(second, depth, strict=True)), "soft", width, dash="dash"),
        _path(
            "layers that the reader sets",
            [
                point
                for column in (first, second)
                for i in moved
                for point in ((column[i - 1], i - 1), (column[i], i), (None, None))
            ],
            "focus",
            width + 1,
        ),
        _marks("token 1 between the layers", first, depth, marker + 2, "ink", "ink"),
        _marks("token 2 between the layers", second, depth, marker + 2, "ground", "soft"),
    ]
    axes = {
        "xaxis": {"domain": x_domain, "anchor": "y", "range": _ACROSS, **_BARE},
        "yaxis": {"domain": y_domain, "anchor": "x", "range": [len(first) - 0.82, -0.12], **_BARE},
    }
    return View(traces, axes, _words(study), [_chip(study, i) for i in range(1, MOST_LAYERS + 1)])


_BARE = {"showgrid": False, "showline": False, "ticks": "", "showticklabels": False}


def plane_view(study: ImmersionStudy, x_domain: tuple[float, float], y_domain: tuple[float, float]) -> View:
    """The tokens in their plane (its first two coordinates), right above their places; on x2 and y2."""
    start = study.tokens[0]
    slope = 0.0 if len(start) == 1 else float((start[1, 1] - start[1, 0]) / (start[0, 1] - start[0, 0]))
    places, marker = study.places, theme.size("marker")
    between = [float(place) for row in places[1:] for place in row]
    traces = [
        _path(
            "the line of the tokens", [(-0.16, -0.16 * slope), (1.06, 1.06 * slope)], "ghost", 1.5, "2", "dot"
        ),
        {
            "name": "tokens behind the layers",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": between,
            "y": [slope * place for place in between],
            "mode": "markers",
            "marker": {
                "size": marker - 1,
                "color": [theme.color(f"layer {i}") for i in range(1, len(places)) for _ in (1, 2)],
                "line": {"color": theme.color("ink"), "width": 0.8},
            },
            "text": [f"token {j} behind layer {i}" for i in range(1, len(places)) for j in (1, 2)],
            "hovertemplate": "%{text}<extra></extra>",
        },
        _marks("x₁", [0.0], [0.0], marker + 2, "ink", "ink", "2"),
        _marks("x₂", [1.0], [slope], marker + 2, "ground", "soft", "2"),
    ]
    base = {"size": theme.size("base")}
    labels = [
        headline(_finding(study), "2"),
        label("x<sub>1</sub>", 0, 0, "2", yshift=1.3 * base["size"], font=base),
        label("x<sub>2</sub>", 1, slope, "2", yshift=1.3 * base["size"], font=base),
        label(
            "columns of S sum to 1: the<br>tokens stay on their line",
            _CHIP[0],
            slope / 2,
            "2",
            xanchor="left",
            align="left",
            font={"size": theme.size("note"), "color": theme.color("soft")},
        ),
    ]
    low, high = min(0.0, slope), max(0.0, slope)
    axes = {
        "xaxis2": {"domain": x_domain, "anchor": "y2", "range": _ACROSS, **_BARE},
        "yaxis2": {"domain": y_domain, "anchor": "x2", "range": [low - 0.14, high + 0.3], **_BARE},
    }
    return View(traces, axes, labels, [_ground()])


def _path(
    name: str,
    points: list[tuple[float | None, float | None]],
    role: str,
    width: float,
    axis: str = "",
    dash: str = "solid",
    **more: object,
) -> dict:
    return {
        "name": name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": [x for x, _ in points],
        "y": [y for _, y in points],
        "mode": "lines",
        "line": {"color": theme.color(role), "width": width, "dash": dash, "simplify": False},
        "hoverinfo": "skip",
        **more,
    }


def _marks(
    name: str, x: list[float], y: list[float], size: float, fill: str, border: str, axis: str = ""
) -> dict:
    return {
        "name": name,
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
        "x": x,
        "y": y,
        "mode": "markers",
        "cliponaxis": False,
        "marker": {
            "size": size,
            "color": theme.color(fill),
            "line": {"color": theme.color(border), "width": 2.2},
        },
        "hovertemplate": "%{x:.3f} of the way from x₁ to x₂<extra></extra>",
    }


def _ground() -> dict:
    """The plane of the tokens, as far as it is drawn."""
    return {
        "type": "rect",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": _ACROSS[0],
        "x1": 1.06,
        "y0": 0,
        "y1": 1,
        "fillcolor": theme.color("panel"),
        "line": {"width": 0},
        "layer": "below",
    }


def _chip(study: ImmersionStudy, layer: int) -> dict:
    """The colour of a layer, beside it; without size where there is no such layer."""
    there = layer <= study.setting.layers
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": _CHIP[0],
        "x1": _CHIP[1],
        "y0": layer - 0.9 if there else 0,
        "y1": layer - 0.1 if there else 0,
        "fillcolor": theme.color(f"layer {layer}"),
        "line": {"width": 0},
    }


def _is_moved(study: ImmersionStudy, layer: int) -> bool:
    """Whether the reader's hand is on a layer: not where a relation says what its exponentials are."""
    return study.setting.modes[layer - 1] != "true" and study.setting.tied_layer != layer


def _finding(study: ImmersionStudy) -> str:
    """What becomes of the distance of the tokens."""
    met, layers = study.met_after, study.setting.layers
    if met is not None:
        if met == layers:
            text = f"the tokens meet in layer {met}, the last"
        else:
            text = f"they meet in layer {met}: the rest is blind"
        return outside_words(text) if met == study.setting.tied_layer else text
    if all(mu == nu == 0 for mu, nu in study.given):
        return "frozen: nothing moves"
    left = float(study.places[-1][1] - study.places[-1][0])
    swapped = ", turned" if left < 0 else ""
    return f"{percent(abs(left))} of the tokens’ distance is left{swapped}"


def _words(study: ImmersionStudy) -> list[dict]:
    """Beside each layer what it does; at most four."""
    found = []
    for layer in range(1, MOST_LAYERS + 1):
        there = layer <= study.setting.layers
        text = "<br>".join(_say_layer(study, layer)) if there else ""
        found.append(
            label(
                text,
                _CHIP[1],
                layer - 0.5 if there else 0,
                xanchor="left",
                yanchor="middle",
                xshift=6,
                align="left",
                font={"size": theme.size("note"), "color": theme.color("ink")},
            )
        )
    return found


def _say_layer(study: ImmersionStudy, layer: int) -> tuple[str, str]:
    """Two lines: what is done to the layer, and what that does."""
    setting, met = study.setting, study.met_after
    mode, tied = setting.modes[layer - 1], setting.tied_layer == layer
    name = f"<b>layer {layer}: {_NAMES[mode]}</b>"
    if tied and mode != "true":
        name = f"<b>layer {layer}: " + outside_words("cannot be set") + "</b>"
    elif _is_moved(study, layer):
        name = f'<span style="color:{theme.color("focus")}">{name}</span>'
    if met is not None and layer > met:
        return name, f"blind: equal tokens hide {numbered('M', layer)}"
    return name, _numbers(study, layer) + _consequence(study, layer)


def _numbers(study: ImmersionStudy, layer: int) -> str:
    """P and Q; under a mask Q alone."""
    P, Q = (_number(value) for value in exponentials(study.given[layer - 1], study.setting.copies))
    if study.setting.causal:
        return f"Q = {Q}"
    return f"P = Q = {P}" if P == Q else f"P = {P}, Q = {Q}"


def _number(value: float) -> str:
    if value == inf:
        return "∞"
    return signed(value) if 0.01 <= value < 1000 or value == 0 else tiny(value)


def _consequence(study: ImmersionStudy, layer: int) -> str:
    given = study.given[layer - 1]
    if given == (0, 0):
        return ": does nothing"
    if study.met_after == layer:
        return ": they meet"
    return ": they change places" if given == (1, 1) else ""
