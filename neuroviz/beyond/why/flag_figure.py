"""The flag of Lemma D: which part of each width later layers see; beside it the formula, term by term."""

from dataclasses import dataclass

from neuroviz.beyond.why.flag import FlagStep, Term
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import (
    Parts,
    View,
    compose,
    headline,
    label,
    layer_letters,
    outside_words,
)

_LEFT, _RIGHT = (0.0, 0.61), (0.76, 1.0)
MAX_LAYERS = 4  # as many layers have a colour
_HALF = 0.22  # half the width of a column
_SUB = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


@dataclass(frozen=True)
class FlagStudy:
    """Everything the figure shows about one architecture.

    Attributes:
        arch: the architecture.
        steps: what becomes of each width, from the input to the output.
        terms: the general formula, term by term.
        expected: what it says.
        exact: the dimension, measured.
    """

    arch: Architecture
    steps: tuple[FlagStep, ...]
    terms: tuple[Term, ...]
    expected: Expected
    exact: Measurement

    @property
    def inner(self) -> tuple[FlagStep, ...]:
        """The steps between two layers, where something may be lost."""
        return self.steps[1:-1]


def flag_parts(study: FlagStudy) -> Parts:
    """Columns and sum."""
    parts = compose(_columns(study), _sum(study))
    return Parts(parts.traces, parts.layout | {"barmode": "overlay"})


def sub(name: str, index: int) -> str:
    """A letter with an index below it.

    >>> sub("w", 12)
    'w₁₂'
    """
    return name + str(index).translate(_SUB)


# Left: a column of cells for each width.


def _columns(study: FlagStudy) -> View:
    looking: dict[int, list[tuple[int, int]]] = {part: [] for part in range(MAX_LAYERS + 1)}
    unseen, empty = [], []
    for step in study.steps[1:]:
        height = 0
        for part, count in step.parts:
            looking[part] += [(step.index, height + k) for k in range(count)]
            height += count
        if step in study.inner:
            unseen += [(step.index, k) for k in range(step.seen, step.arriving)]
            empty += [(step.index, k) for k in range(step.arriving, step.width)]
    first = study.steps[0]
    ground, axis = theme.color("ground"), theme.color("axis")
    traces = [
        _cells("input", [(0, k) for k in range(first.width)], theme.color("wash"), axis, "", "ink"),
        _cells("seen by L", looking[0], theme.color("soft"), ground, "L", "ground"),
        *(
            _cells(
                f"seen by layer {j}",
                looking[j],
                theme.color(f"layer {j}"),
                ground,
                sub("M", j),
                layer_letters(j),
            )
            for j in range(2, MAX_LAYERS + 1)
        ),
        _cells("arrives, but no later layer sees it", unseen, theme.color("wash"), axis, "unseen", "soft"),
        _cells("no token gets here", empty, ground, theme.color("grid"), "empty", "soft"),
        *_ticks(study),
    ]
    annotations = [headline(_columns_finding(study)), *_arrows(study), *_gap_texts(study)]
    return View(traces, _column_axes(study), annotations, [])


def _cells(name: str, cells: list[tuple[int, int]], fill: str, edge: str, text: str, ink: str) -> dict:
    """Unit squares at (column, height)."""
    return {
        "type": "bar",
        "name": name,
        "x": [column for column, _ in cells],
        "y": [1] * len(cells),
        "base": [height for _, height in cells],
        "width": 2 * _HALF,
        "text": [text] * len(cells),
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
        "textfont": {"color": theme.color(ink), "size": theme.size("note")},
        "marker": {"color": fill, "line": {"color": edge, "width": 1.5}},
        "hovertemplate": f"{name}<extra></extra>",
    }


def _ticks(study: FlagStudy) -> list[dict]:
    """w_i as a tick bar across each inner column, and what was measured as a filled mark on it."""
    x, y = [], []
    for step in study.inner:
        x += [step.index - _HALF - 0.06, step.index + _HALF + 0.06, None]
        y += [step.seen, step.seen, None]
    return [
        {
            "type": "scatter",
            "name": "w by the recursion",
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"color": theme.color("formula"), "width": theme.size("line") + 1},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "name": "dimension of the span (measured)",
            "x": [step.index + 0.8 * _HALF for step in study.inner],
            "y": [step.measured.value for step in study.inner],
            "mode": "markers",
            "cliponaxis": False,
            "marker": {"size": theme.size("marker") + 3, "color": theme.color("measured")},
            "hovertemplate": "exact rank of the rows of L and of the rows and columns of the later M: "
            "%{y}<extra></extra>",
        },
    ]


def _added(study: FlagStudy) -> list[tuple[FlagStep, int, int]]:
    """For each inner width: what its next layer adds, and how many vectors it has to add."""
    return [
        (step, dict(step.parts)[step.index + 1], 2 * study.arch.head_dims[step.index]) for step in study.inner
    ]


def _gap_texts(study: FlagStudy) -> list[dict]:
    """Between two columns: what the layer there adds to what is seen; always as many texts."""
    found, added = [], _added(study)
    for k in range(MAX_LAYERS - 1):
        text, x, y = "", 0.0, 0.0
        if k < len(added):
            step, fits, vectors = added[k]
            x, y = step.index + 0.5, _height_of_addition(step)
            text = f"2{sub('a', step.index + 1)} = {vectors}"
            if fits == vectors:
                text = f"+{text}"
            elif fits:
                text += f":<br>{fits} fit{'s' if fits == 1 else ''}"
            else:
                text += ":<br>no room"
        found.append(label(text, x, y, yanchor="bottom", yshift=4, font={"size": theme.size("note")}))
    return found


def _height_of_addition(step: FlagStep) -> float:
    """The middle of what the next layer adds, or the top of the column where nothing fits."""
    return step.seen - dict(step.parts)[step.index + 1] / 2


def _arrows(study: FlagStudy) -> list[dict]:
    """From each layer's place back to the column before it: always as many, the spare ones unseen."""
    found = []
    for k in range(MAX_LAYERS - 1):
        step = study.inner[k] if k < len(study.inner) else None
        shown = step is not None and dict(step.parts)[step.index + 1] > 0
        place = (step.index, _height_of_addition(step)) if step else (0, 0)
        found.append(
            {
                "text": "",
                "x": place[0] + _HALF + 0.13,
                "y": place[1],
                "ax": place[0] + 1 - _HALF - 0.03,
                "ay": place[1],
                "xref": "x",
                "yref": "y",
                "axref": "x",
                "ayref": "y",
                "showarrow": True,
                "arrowhead": 2,
                "arrowwidth": theme.size("line"),
                "arrowcolor": theme.color("soft"),
                "opacity": 1 if shown else 0,
            }
        )
    return found


def _column_axes(study: FlagStudy) -> dict:
    last = study.arch.num_layers
    texts = []
    for step in study.steps:
        i = step.index
        name = "input" if i == 0 else "output" if i == last else f"after layer {i}"
        seen = "" if i == last else f"<b>{sub('w', i)} = {step.seen}</b>"
        texts.append(f"{name}<br>{sub('d', i)} = {step.width}<br>{seen}")
    return {
        "xaxis": {
            "anchor": "y",
            "domain": _LEFT,
            "range": [-0.5, last + 0.5],
            "tickvals": list(range(last + 1)),
            "ticktext": texts,
            "tickfont": {"color": theme.color("ink"), "size": theme.size("tick")},
            "tickangle": 0,
            "ticks": "",
            "showgrid": False,
            "title": {"text": _legend(study), "font": {"size": theme.size("note")}},
        },
        "yaxis": {
            "anchor": "x",
            "domain": (0.0, 1.0),
            "range": [0, 1.13 * max(4, *(step.width for step in study.steps))],
            "showgrid": False,
            "showline": False,
            "ticks": "",
            "showticklabels": False,
        },
    }


def _legend(study: FlagStudy) -> str:
    if not study.inner:
        return ""
    dot = f'<span style="color:{theme.color("measured")}">● measured</span>'
    return f"━ w by the recursion, from right to left   {dot}"


def _columns_finding(study: FlagStudy) -> str:
    if not study.inner:
        return "one layer: nothing lies in between"
    widths = ", ".join(str(step.width) for step in study.inner)
    seen = ", ".join(str(step.seen) for step in study.inner)
    if any(step.measured.value != step.seen for step in study.inner):
        measured = ", ".join(str(step.measured.value) for step in study.inner)
        return outside_words(f"seen: {seen} by the recursion, {measured} MEASURED")
    if widths == seen:
        return f"of {widths} dimensions later layers see all"
    return f"of {widths} dimensions later layers see {seen}"


# Right: the formula as a waterfall.


def _sum(study: FlagStudy) -> View:
    rows = len(study.terms)
    bars: dict[str, list[tuple[int, int, int]]] = {}
    running = 0
    for k, term in enumerate(study.terms):
        key = f"M{term.layer}" if "M" in term.kind else term.kind
        base = running if term.value >= 0 else running + term.value
        bars.setdefault(key, []).append((rows - k, base, abs(term.value)))
        running += term.value
    roles = {
        "flag": "ghost",
        "L": "soft",
        **{f"M{i}": f"layer {i}" for i in range(1, MAX_LAYERS + 1)},
        "rescalings": "symmetry",
        "rank": "soft",
    }
    highest = max([study.exact.value, *(base + size for found in bars.values() for _, base, size in found)])
    value = study.expected.value
    traces = [
        *(_bars(f"term: {key}", bars.get(key, []), theme.color(role)) for key, role in roles.items()),
        _bars("dimension (measured)", [(0, 0, study.exact.value)], theme.color("measured")),
        {
            "type": "scatter",
            "name": "dimension by the formula",
            "xaxis": "x2",
            "yaxis": "y2",
            "x": [value, value],
            "y": [-0.48, 0.48],
            "mode": "lines",
            "cliponaxis": False,
            "line": {"color": theme.color("formula"), "width": theme.size("line") + 2},
            "hovertemplate": f"{study.expected.source}: {value}<extra></extra>",
        },
        _values(study, bars, running),
    ]
    # Over the names of the terms too: in large letters it is longer than the bars.
    said = headline(_sum_finding(study), "2") | {"xref": "paper", "x": _LEFT[1] + 0.05}
    return View(traces, _sum_axes(study, highest), [said, _total(study)], [])


def _bars(name: str, rows: list[tuple[int, int, int]], fill: str) -> dict:
    return {
        "type": "bar",
        "name": name,
        "xaxis": "x2",
        "yaxis": "y2",
        "orientation": "h",
        "y": [row for row, _, _ in rows],
        "x": [size for _, _, size in rows],
        "base": [base for _, base, _ in rows],
        "width": 0.7,
        "marker": {"color": fill, "line": {"width": 0}},
        "hovertemplate": "%{x}<extra></extra>",
    }


def _values(study: FlagStudy, bars: dict, total: int) -> dict:
    """The numbers of each term, to the right of its bar."""
    ends = {row: base + size for found in bars.values() for row, base, size in found}
    rows = len(study.terms)
    return {
        "type": "scatter",
        "name": "values of the terms",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": [ends[rows - k] for k in range(rows)],
        "y": [rows - k for k in range(rows)],
        "text": [f" {_in_numbers(term)}" for term in study.terms],
        "mode": "text",
        "textposition": "middle right",
        "cliponaxis": False,
        "textfont": {"size": theme.size("note"), "color": theme.color("ink")},
        "hoverinfo": "skip",
    }


def _in_numbers(term: Term) -> str:
    if term.kind == "flag":
        w, before = term.numbers
        return f"{w}·{before - w} = {term.value}"
    if term.kind == "L":
        return f"{term.numbers[0]}·{term.numbers[1]} = {term.value}"
    return str(term.value).replace("-", "−")


def _in_letters(term: Term, last: int) -> str:
    i = term.layer
    if term.kind == "flag":
        return f"{sub('R', i)}: {sub('w', i)}({sub('w', i - 1)} − {sub('w', i)})"
    if term.kind == "L":
        return f"L: {sub('d', last)} {sub('w', last - 1)}"
    if term.kind == "rescalings":
        return "rescalings: −l"
    if term.kind == "rank":
        r, d_in, d_out = term.numbers
        return f"L of rank {r}:<br>{r}·({d_in} + {d_out} − {r})"
    letter = "σ" if term.kind == "symmetric M" else "α"
    return f"{sub('M', i)}: {letter}({term.numbers[0]}, {term.numbers[1]})"


def _sum_axes(study: FlagStudy, highest: int) -> dict:
    rows, last = len(study.terms), study.arch.num_layers
    return {
        "xaxis2": {
            "anchor": "y2",
            "domain": _RIGHT,
            "range": [0, 1.42 * highest],
            "showgrid": False,
            "showticklabels": False,
            "showline": False,
            "ticks": "",
        },
        "yaxis2": {
            "anchor": "x2",
            "domain": (0.0, 1.0),
            "range": [rows - max(rows, 5) - 0.6, rows + 0.6],
            "tickvals": list(range(rows + 1)),
            "ticktext": ["<b>dimension</b>", *(_in_letters(term, last) for term in reversed(study.terms))],
            "tickfont": {"color": theme.color("ink"), "size": theme.size("note")},
            "showgrid": False,
            "ticks": "",
        },
    }


def _sum_finding(study: FlagStudy) -> str:
    value, measured = study.expected.value, study.exact.value
    if value != measured:
        return outside_words(f"sum {value}, but measured {measured}")
    return f"sum {value}, as measured"


def _total(study: FlagStudy) -> dict:
    return label(
        f"<b>{study.exact.value}</b>",
        max(study.exact.value, study.expected.value),
        0,
        "2",
        xanchor="left",
        yanchor="middle",
        xshift=9,
        font={"size": round(1.3 * theme.size("title")), "color": theme.color("measured")},
    )
