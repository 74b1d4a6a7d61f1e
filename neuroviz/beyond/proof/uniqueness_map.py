"""The exponentials (P, Q) of a layer as a square of shares (μ, ν): frozen in a corner, met on a diagonal."""

from neuroviz.beyond.proof.uniqueness import SingletonStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, label
from neuroviz.kit.words import numbered
from neuroviz.softmax.two_tokens import Shares


def map_view(
    study: SingletonStudy, name: str, x_domain: tuple[float, float], y_domain: tuple[float, float]
) -> View:
    """The moved layer of θ on the axes x2 and y2, or that of θ′ on x3 and y3."""
    side, axis = (study.left, "2") if name == "θ" else (study.right, "3")
    causal = study.setting.causal
    here = side.shares[study.moved - 1]
    whole = (
        [Shares(0, 0), Shares(0, 1)]
        if causal
        else [Shares(*c) for c in ((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))]
    )
    everything = whole if side.allowed == "all" else []
    width, marker = theme.size("line"), theme.size("marker")
    traces = [
        _curve(f"all of (P, Q) of {name}", everything, "certified", 2 * width if causal else 1.0)
        | {"fill": "none" if causal else "toself", "fillcolor": theme.color("wash")},
        _curve(f"the tokens of {name} meet", [] if causal else [Shares(0, 1), Shares(1, 0)], "soft", 1.4),
        _curve(f"what is allowed to {name}", list(side.curve), "certified", 2 * width),
        _curve(f"way of {name}", list(side.path) if _moves(side.path) else [], "focus", width, "dot"),
        {
            "name": f"(P, Q) of {name}",
            "x": [here.mu],
            "y": [here.nu],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"size": marker + 7, "color": theme.color("focus"), "line": {"width": 0}},
            "hovertemplate": "μ = %{x:.3f}, ν = %{y:.3f}<extra></extra>",
        },
    ]
    for trace in traces:
        trace["xaxis"], trace["yaxis"] = f"x{axis}", f"y{axis}"
    plain = {"range": [0, 1], "tickvals": [0, 0.5, 1], "showgrid": False, "mirror": True}
    # The names of the axes stand among the numbers: a ν on its side is no ν.
    axes = {
        f"xaxis{axis}": {"domain": x_domain, "anchor": f"y{axis}", "ticktext": ["0", "μ", "1"], **plain},
        f"yaxis{axis}": {"domain": y_domain, "anchor": f"x{axis}", "ticktext": ["0", "ν", "1"], **plain},
    }
    return View(traces, axes, _labels(study, name, axis), [])


def _moves(path: tuple[Shares, ...]) -> bool:
    return any(abs(one.mu - path[0].mu) + abs(one.nu - path[0].nu) > 1e-9 for one in path)


def _curve(name: str, points: list[Shares], role: str, width: float, dash: str = "solid") -> dict:
    return {
        "name": name,
        "x": [float(one.mu) for one in points],
        "y": [float(one.nu) for one in points],
        "mode": "lines",
        "cliponaxis": False,
        "line": {"color": theme.color(role), "width": width, "dash": dash, "simplify": False},
        "hoverinfo": "skip",
    }


def _labels(study: SingletonStudy, name: str, axis: str) -> list[dict]:
    note = theme.size("note")
    soft = {"size": note, "color": theme.color("soft")}
    inset = theme.size("marker")
    prime = "′" if name == "θ′" else ""
    layer = numbered("", study.moved)
    causal = study.setting.causal  # then there is no μ
    corners = (
        ("frozen", 0, 0, "left", "bottom", inset, 5),
        (
            "all x<sub>1</sub>",
            0,
            1,
            "left",
            "top",
            1.6 * note,
            -2,
        ),
        ("" if causal else "all x<sub>2</sub>", 1, 0, "right", "bottom", -1.6 * note, 5),
    )
    found = [
        label(text, x, y, axis, xanchor=anchor, yanchor=up, xshift=dx, yshift=dy, font=soft)
        for text, x, y, anchor, up, dx, dy in corners
    ]
    found.append(
        label(
            "" if causal else "PQ = 1",
            0.66,
            0.34,
            axis,
            textangle=45,
            xshift=note * 0.6,
            yshift=note * 0.6,
            font=soft,
        )
    )
    found.append(
        label(
            f"ν{layer}{prime} of {name}" if causal else f"(μ{layer}{prime}, ν{layer}{prime}) of {name}",
            0.5,
            1,
            axis,
            yref=f"y{axis} domain",
            xref=f"x{axis} domain",
            xanchor="center",
            yanchor="bottom",
            yshift=2,
            font={"size": note, "color": theme.color("ink")},
        )
    )
    return found
