"""Two bounds that meet: symmetries bring the upper one down, a point in weight space lifts the lower one."""

from neuroviz.beyond.proof.certificate_study import Bound, CertificateStudy
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label
from neuroviz.kit.words import grouped

_MOST_BOUNDS = 5
_END = 5.0  # where the bounds meet, in treads
_BELOW = 0.02  # what the axis shows below 0, as a part of the first bound
_REASONS = {
    "all entries of Q, K, V": "all of<br>Q, K, V",
    "bases between layers": "bases<br>between<br>layers",
    "bases in the heads": "bases<br>in the<br>heads",
    "rescalings": "rescal-<br>ings",
}


NOWHERE = (0.0, 0.001)
"""The domain of an empty picture: one in the place of another would paint its ground over it."""


def word(text: str, x: object, y: object, axis: str = "", role: str = "ink", **more: object) -> dict:
    """A note as `label` makes it, with every key that any of them has: an empty one takes another's place."""
    plain = {"xanchor": "center", "yanchor": "middle", "xshift": 0, "yshift": 0, "align": "center"}
    font = {"size": more.pop("size", theme.size("note")), "color": theme.color(role)}
    return label(text, x, y, axis, **(plain | {"font": font} | more))


def title_of(text: str, axis: str = "") -> dict:
    """The headline of a picture, without words where the picture is empty."""
    return headline(text, axis) | ({} if text else {"text": ""})


def bounds_view(study: CertificateStudy, x_domain: tuple[float, float]) -> View:
    """The squeeze, on the axes x and y; only its upper half where nothing is proved, none for a theorem."""
    shown = bool(study.upper)
    return View(
        _traces(study),
        _axes(study, x_domain, shown),
        _annotations(study, shown),
        [_frame(study, shown)],
    )


def _treads(study: CertificateStudy) -> list[tuple[float, float, Bound]]:
    """Where each upper bound begins and ends."""
    width = _END / max(1, len(study.upper))
    return [(i * width, (i + 1) * width, bound) for i, bound in enumerate(study.upper)]


def _traces(study: CertificateStudy) -> list[dict]:
    found, line = study.certificate if study.upper else None, theme.size("line")
    dimension = found.dimension if found else 0
    treads = _treads(study)
    xs = [x for begin, end, _ in treads for x in (begin, end)]
    ys = [bound.value for _, _, bound in treads for _ in range(2)]
    plain = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
    lower = "each input of the stored point shows one direction more"
    return [
        plain
        | {
            "name": "still possible",
            "x": _wedge(xs, [_END, 0], found is None),
            "y": _wedge(ys, [0, 0], found is None),
            "fill": "toself",
            "fillcolor": theme.color("wash"),
            "line": {"width": 0},
        },
        plain
        | {
            "name": "upper bound",
            "x": xs,
            "y": ys,
            "line": {"color": theme.color("formula"), "width": line},
        },
        {
            "type": "scatter",
            "name": "upper bounds",
            "mode": "markers",
            "x": [(begin + end) / 2 for begin, end, _ in treads],
            "y": [bound.value for _, _, bound in treads],
            "marker": {"size": 3 * theme.size("marker"), "opacity": 0},
            "customdata": [f"at most {grouped(bound.value)}: {bound.reason}" for _, _, bound in treads],
            "hovertemplate": "%{customdata}<extra></extra>",
        },
        {
            "type": "scatter",
            "name": "lower bound",
            "mode": "lines",
            "x": [0, _END] if found else [],
            "y": [0, dimension] if found else [],
            "line": {"color": theme.color("certified"), "width": line + 2},
            "hovertemplate": f"at least {grouped(dimension)}: {lower}<extra></extra>",
        },
    ]


def _wedge(along: list[float], corners: list[float], open_below: bool) -> list[float]:
    """Around what is still possible: back to 0 along the lower bound, or the axis where there is none."""
    return [*along, *(corners if open_below else corners[1:])] if along else []


def _axes(study: CertificateStudy, x_domain: tuple[float, float], shown: bool) -> dict:
    top = study.upper[0].value if shown else 1
    return {
        "xaxis": {
            "anchor": "y",
            "domain": x_domain if shown else NOWHERE,
            "range": [0, _END + 1.15],
            "visible": shown,
            "showline": False,
            "showgrid": False,
            "ticks": "",
            "showticklabels": False,
            "fixedrange": True,
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0) if shown else NOWHERE,
            "range": [-_BELOW * top, 1.3 * top],
            "visible": shown,
            "showgrid": False,
            "nticks": 6,
            "tickformat": "~s",
            "title": {"text": "dimension"},
            "fixedrange": True,
        },
    }


def _annotations(study: CertificateStudy, shown: bool) -> list[dict]:
    proof = study.certificate
    at_most = study.upper[-1].value if shown else 0
    said = number = lower = inside = ""
    if shown and proof is None:
        said = f"At most {grouped(at_most)}, and no lower bound"
        lower = "<b>at least</b>: nothing is<br>proved on this route"
    elif shown:
        said = f"Two bounds meet at {grouped(proof.dimension)}"
        number = f"<b>{grouped(proof.dimension)}</b>"
        bits = proof.data.get("bits")
        how = f"invertible, {bits} bits" if bits else f"rank mod {grouped(proof.data['prime'])}"
        lower = f"<b>at least</b>: a stored point,<br>{how}"
    if shown:
        inside = "still possible"
    # Under the line of the lower bound; above the treads where that line is too low.
    note, top = theme.size("note"), study.upper[0].value if shown else 1
    low = at_most < 0.2 * top
    right = {"xanchor": "right", "align": "right"}
    right |= {"yanchor": "bottom", "yshift": 5 * note} if low else {"yanchor": "top", "yshift": -2}
    at = (_END + 1.1, at_most) if low else (_END, 0.45 * at_most)
    return [
        title_of(said),
        *(_tread_words(study, i) for i in range(_MOST_BOUNDS)),
        word(lower, *at, role="certified" if proof else "outside", **right),
        word(inside, 0.1, top / 2 if shown else 0, role="soft", xanchor="left"),
        word(
            number, _END + 0.6, _frame_at(study)[0], role="certified", size=round(1.5 * theme.size("title"))
        ),
    ]


def _tread_words(study: CertificateStudy, i: int) -> dict:
    """What brings the bound down to this tread: above it."""
    above = {"yanchor": "bottom", "yshift": 3}
    if i >= len(study.upper):
        return word("", 0, 0, **above)
    begin, end, bound = _treads(study)[i]
    reason = _REASONS.get(bound.reason, bound.reason.replace(" ", "<br>"))
    lost = study.upper[i - 1].value - bound.value if i else 0
    number = f"−{grouped(lost)}" if i and lost else ("0" if i else grouped(bound.value))
    role = "ink" if lost or not i else "soft"
    return word(f"{reason}<br><b>{number}</b>", (begin + end) / 2, bound.value, role=role, **above)


def _frame_at(study: CertificateStudy) -> tuple[float, float]:
    """The middle and half the height of the frame: where the bounds meet, or as near as the axis allows."""
    top = study.upper[0].value if study.upper else 1
    half = 0.0726 * top * theme.size("title") / 15
    return max(study.upper[-1].value if study.upper else 0, half - _BELOW * top), half


def _frame(study: CertificateStudy, shown: bool) -> dict:
    """Around the number where the bounds meet."""
    shown = study.certificate is not None and shown
    middle, half = _frame_at(study)
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": _END + 0.06,
        "x1": _END + 1.13,
        "y0": middle - half,
        "y1": middle + half,
        "visible": shown,
        "line": {"color": theme.color("certified"), "width": theme.size("line") + 1},
    }
