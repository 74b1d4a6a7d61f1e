"""The lower view: the factors of Eq. 12 in a row, the tokens of one term between them, and the mirror."""

from neuroviz.deep.unrolled_plan import (
    X_DOMAIN,
    Plan,
    axes_of,
    bar_at,
    beside,
    lines,
    middle,
    row_name,
    start_at,
    token_at,
)
from neuroviz.deep.unrolled_term import (
    Reflection,
    UnrollStudy,
    coefficient_name,
    link_name,
    name_of,
    number,
    subscript,
    ternary,
    token,
)
from neuroviz.kit import theme
from neuroviz.kit.plot import View, headline, label, layer_letters

_BAR = 1.72  # leaves that a bar is wide
_ON = {"xaxis": "x2", "yaxis": "y2"}


def strip_view(study: UnrollStudy, plan: Plan) -> View:
    """The strip, and after a reflection a second one under it; on the axes x2 and y2, y2 in pixels."""
    after, shown = _afterwards(study), study.reflection is not None
    few = plan.labelled
    traces = [
        *_bars(study, plan, plan.bars, study.indices, study.values, "", True),
        *_bars(study, plan, plan.bars_after, after.indices, after.values, " afterwards", shown),
        _ternary(study, plan),
        _values(plan, plan.values, study.start, study.values, (), "values", few),
        _values(
            plan,
            plan.values_after,
            after.start,
            after.values,
            after.changed,
            "values afterwards",
            few and shown,
        ),
        *_mirror(study, plan),
        _tokens(study, plan, plan.tokens, study.indices, "tokens", True),
        _tokens(study, plan, plan.tokens_after, after.indices, "tokens afterwards", shown),
    ]
    axes = axes_of(study, "2", plan.strip, [0, plan.height])
    return View(traces, axes, _annotations(study, plan), [])


def _afterwards(study: UnrollStudy) -> Reflection:
    """The reflection, or where there is none, one that changes nothing, for traces that are not seen."""
    return study.reflection or Reflection(study.indices, study.start, study.values, study.value, (), ())


def _text(name: str, x: list, y: float, text: list[str], size: str, roles: list[str], visible: bool) -> dict:
    """Words in a row, each in the colour of a role."""
    return {
        "type": "scatter",
        "name": name,
        **_ON,
        "visible": visible,
        "x": x,
        "y": [y] * len(x),
        "text": text,
        "mode": "text",
        "cliponaxis": False,
        "textfont": {"size": theme.size(size), "color": [theme.color(role) for role in roles]},
        "hoverinfo": "skip",
    }


# The factors


def _bars(
    study: UnrollStudy,
    plan: Plan,
    row: tuple[float, float],
    indices: tuple[int, ...],
    values: tuple[float, ...],
    suffix: str,
    visible: bool,
) -> list[dict]:
    """Bars, a plate under the name of each hatched one (it could not be read), and the names."""
    places = range(1, len(study.factors) + 1)
    fill = [theme.color(f"layer {factor.layer}") for factor in study.factors]
    names = [f"<b>{name}</b>" for name in ("L", *map(name_of, study.factors))]
    text = ["ink", *(layer_letters(factor.layer) for factor in study.factors)]
    x, count = [start_at(plan), *map(bar_at, places)], len(names) if plan.labelled else 1
    plates = [k for k in places if study.factors[k - 1].transposed and plan.labelled]
    high = 1.45 * theme.size("base")
    return [
        {
            "type": "bar",
            "name": f"factors{suffix}",
            **_ON,
            "visible": visible,
            "x": x[1:],
            "y": [row[1]] * len(places),
            "base": [row[0]] * len(places),
            "width": _BAR,
            "customdata": [
                f"place {k}, in base 3 {ternary(k)}: {name_of(study.factors[k - 1])}<br>"
                f"{link_name(study, k, indices)} = {number(values[k - 1])}"
                for k in places
            ],
            "hovertemplate": "%{customdata}<extra></extra>",
            "marker": {
                "color": fill,
                "line": {
                    "color": [theme.color("focus" if k == study.focus else "ink") for k in places],
                    "width": [theme.size("line") + 1.5 if k == study.focus else 1 for k in places],
                },
                # With a colour for each bar, plotly hatches in a contrasting one only under "overlay".
                "pattern": {
                    "shape": ["/" if factor.transposed else "" for factor in study.factors],
                    "fillmode": "overlay",
                    "size": 9,
                    "solidity": 0.2,
                },
            },
        },
        {
            "type": "bar",
            "name": f"plates{suffix}",
            **_ON,
            "visible": visible,
            "x": [bar_at(k) for k in plates],
            "y": [high] * len(plates),
            "base": [middle(row) - high / 2] * len(plates),
            "width": min(_BAR - 0.2, 2.6 * theme.size("base") / plan.leaf),
            "marker": {"color": [fill[k - 1] for k in plates], "line": {"width": 0}},
            "hoverinfo": "skip",
        },
        _text(
            f"names{suffix}",
            x[:count],
            middle(row),
            names[:count],
            "base",
            text[:count],
            visible,
        ),
    ]


def _ternary(study: UnrollStudy, plan: Plan) -> dict:
    """The places in base 3, the digit that decides about the transpose in bold; of many, the chosen one."""
    places = range(1, len(study.factors) + 1) if plan.labelled else [study.focus]
    digits = [ternary(k) for k in places]
    kept = [d.rstrip("0") for d in digits]
    return _text(
        "k in base 3",
        [bar_at(k) for k in places],
        plan.ternary,
        [f"{k[:-1]}<b>{k[-1]}</b>{d[len(k) :]}" for k, d in zip(kept, digits, strict=True)],
        "note",
        ["focus" if k == study.focus else "soft" for k in places],
        study.reflection is None,
    )


def _values(
    plan: Plan,
    y: float,
    start: float,
    values: tuple[float, ...],
    changed: tuple[int, ...],
    name: str,
    visible: bool,
) -> dict:
    """The numbers of one term under its factors, and dots between them, for they are multiplied."""
    numbers = (start, *values)
    places = range(len(numbers))
    dots = places[1:] if 2 * plan.leaf > 5 * theme.size("note") else []
    return _text(
        name,
        [start_at(plan), *(bar_at(k) for k in places[1:]), *map(token_at, dots)],
        y,
        [f"<b>{number(v)}</b>" if k in changed else number(v) for k, v in enumerate(numbers)]
        + ["·"] * len(dots),
        "note",
        ["focus" if k in changed else "ink" for k in places] + ["soft"] * len(dots),
        visible,
    )


# The tokens and the mirror


def _tokens(
    study: UnrollStudy, plan: Plan, y: float, indices: tuple[int, ...], name: str, visible: bool
) -> dict:
    """The tokens between the factors; those in the window carry the colour of the mirror."""
    numbers = range(1, len(indices) + 1)
    marked = {len(indices)} if study.two_tokens else set(study.window)
    roles = ["focus" if k in marked else "soft" for k in numbers]
    short = [token(study, j) if study.two_tokens or plan.labelled else str(j + 1) for j in indices]
    return _text(
        name,
        [token_at(k) for k in numbers],
        y,
        short,
        "note",
        ["ink"] * len(indices) if plan.labelled else roles,
        visible,
    ) | {
        "mode": "markers+text" if plan.labelled else "text",
        "marker": {
            "size": 2 * theme.size("note"),
            "color": theme.color("ground"),
            "line": {
                "color": [theme.color(role) for role in roles],
                "width": [2.5 if k in marked else 1 for k in numbers],
            },
        },
        "hoverinfo": "text",
        "hovertext": [
            f"j{subscript(k)} = {j + 1}" + (", the output token" if k == len(indices) else "")
            for k, j in zip(numbers, indices, strict=True)
        ],
    }


def _mirror(study: UnrollStudy, plan: Plan) -> list[dict]:
    """The window and its axis; after the reflection, where each number went, and which are new."""
    after, wide = _afterwards(study), theme.size("line")
    bottom, height = plan.lines
    top, half = bottom + height, theme.size("note")
    rows = [plan.tokens] if study.reflection is None else [plan.tokens, plan.tokens_after]
    if study.two_tokens:
        rows = []
    first, last, here = token_at(study.window[0]), token_at(study.window[-1]), bar_at(study.place)
    if not plan.labelled:  # numbers without rings: the line goes over them
        rows_of_lines = [y + side * 0.8 * half for y, side in zip(rows, (1, -1), strict=False)]
        first, last = first - 0.6, last + 0.6
    else:
        rows_of_lines = rows
    changed = [bar_at(k) if k else start_at(plan) for k in after.changed]
    return [
        lines(
            "window of the mirror", [(first, y, last, y) for y in rows_of_lines], "focus", wide, "solid", "2"
        ),
        lines(
            "axis of the mirror", [(here, y - half, here, y + half) for y in rows], "focus", wide, "dot", "2"
        ),
        lines(
            "numbers that moved",
            [(bar_at(before), top, bar_at(now), bottom) for before, now in after.moved],
            "axis",
            1.4,
            "solid",
            "2",
        ),
        lines("numbers that changed", [(x, top, x, bottom) for x in changed], "focus", wide, "solid", "2"),
    ]


# Words


def _annotations(study: UnrollStudy, plan: Plan) -> list[dict]:
    after, shown, few = _afterwards(study), study.reflection is not None, plan.labelled
    y = plan.values if few else middle(plan.bars)
    y_after = plan.values_after if few else middle(plan.bars_after)
    big = {"size": theme.size("base"), "color": theme.color("ink")}
    total = "other output"
    if study.same_output:
        total = f"sum <b>{number(study.value + after.value)}</b>"
    return [
        headline(_headline(study), "2"),
        row_name("tokens", plan.tokens, "y2"),
        row_name("k in base 3", plan.ternary, "y2", not shown),
        row_name("values", plan.values, "y2", few),
        row_name("turned", plan.tokens_after, "y2", shown),
        row_name("values", plan.values_after, "y2", shown and few),
        beside(f"= <b>{number(study.value)}</b>", X_DOMAIN[1], y, "y2", big),
        beside(f"= <b>{number(after.value)}</b>", X_DOMAIN[1], y_after, "y2", big, shown),
        beside(total, X_DOMAIN[1], middle(plan.lines), "y2", big, shown),
        label(
            f"<b>{name_of(study.factor)} ⇄ {name_of(study.turned_factor)}</b>",
            bar_at(study.place),
            middle(plan.lines),
            "2",
            visible=shown,
            font={"size": theme.size("base"), "color": theme.color("focus")},
            bgcolor=theme.color("ground"),
            borderpad=2,
        ),
    ]


def _headline(study: UnrollStudy) -> str:
    """What the strip shows, as a finding."""
    after, here, other = study.reflection, name_of(study.factor), name_of(study.turned_factor)
    if study.two_tokens:
        zero = " = 0" if study.vanishes else ""
        return f"Only y and x: {coefficient_name(study.layers)}{zero}"
    if after is None:
        return "k in base 3 tells M: layer = 1 + final zeros; a 2 before them: transposed"
    if after.indices == study.indices:
        return "Turned round, the window holds the same tokens as before"
    if not study.equal_ends:
        return f"Unequal ends: turning the window round changes {len(after.changed)} numbers"
    if study.vanishes and study.cancels:
        return "Both terms are zero: an antisymmetric M stands between equal tokens"
    if study.cancels:
        return f"{here} becomes {other} = −{here}, and the two terms cancel"
    if not after.changed:
        return f"{here} stands between equal tokens: turning the window changes no number"
    return f"{here} becomes {other}, the other numbers change places"
