"""The flag of Lemma D: which part of each width later layers see; beside it the formula, term by term."""

from dataclasses import dataclass

from neuroviz.beyond.why.flag import FlagStep, Term
from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, Plot, compose, layer_letters
from neuroviz.kit.words import colored, numbered

LEFT, RIGHT = (0.0, 0.61), (0.76, 1.0)
MAX_LAYERS = 4  # as many layers have a colour
HALF = 0.22  # half the width of a column


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
    return compose(columns(study).view(), waterfall(study).view(), barmode="overlay")


def columns(study: FlagStudy) -> Plot:
    """Left: a column of cells for each width."""
    plot, inner, last = Plot("", LEFT, (0.0, 1.0)), study.inner, study.arch.num_layers
    looking: dict[int, list[tuple[int, int]]] = {part: [] for part in range(MAX_LAYERS + 1)}
    for step in study.steps[1:]:
        height = 0
        for part, count in step.parts:
            looking[part] += [(step.index, height + k) for k in range(count)]
            height += count
    unseen = [(step.index, k) for step in inner for k in range(step.seen, step.arriving)]
    empty = [(step.index, k) for step in inner for k in range(step.arriving, step.width)]
    cells(plot, "input", [(0, k) for k in range(study.steps[0].width)], "wash", "axis", "", "ink")
    cells(plot, "seen by L", looking[0], "soft", "ground", "L", "ground")
    for j in range(2, MAX_LAYERS + 1):
        name, M = f"seen by layer {j}", numbered("M", j)
        cells(plot, name, looking[j], f"layer {j}", "ground", M, layer_letters(j))
    cells(plot, "arrives, but no later layer sees it", unseen, "wash", "axis", "unseen", "soft")
    cells(plot, "no token gets here", empty, "ground", "grid", "empty", "soft")
    x = [at for step in inner for at in (step.index - HALF - 0.06, step.index + HALF + 0.06, None)]
    y = [height for step in inner for height in (step.seen, step.seen, None)]
    plot.line("w by the recursion", x, y, theme.color("formula"), theme.size("line") + 1)
    x, y = [step.index + 0.8 * HALF for step in inner], [step.measured.value for step in inner]
    dot = {"size": theme.size("marker") + 3, "color": theme.color("measured")}
    hover = "exact rank of the rows of L and of the rows and columns of the later M: %{y}"
    plot.points("dimension of the span (measured)", x, y, dot, cliponaxis=False, hover=hover)
    plot.headline(columns_finding(study))
    for step in inner:
        gap(plot, study, step)
    dot = colored("measured", "● measured")
    names = ["input", *(f"after layer {i}" for i in range(1, last)), "output"]
    seen = [f"<b>{numbered('w', step.index)} = {step.seen}</b>" for step in study.steps[:-1]] + [""]
    under = [
        f"{name}<br>{numbered('d', i)} = {study.steps[i].width}<br>{seen[i]}" for i, name in enumerate(names)
    ]
    names = {"tickvals": list(range(last + 1)), "ticktext": under, "tickangle": 0, "ticks": ""}
    font = {"color": theme.color("ink"), "size": theme.size("tick")}
    said = f"━ w by the recursion, from right to left   {dot}" if inner else ""
    plot.axis("x", -0.5, last + 0.5, said, **names, tickfont=font, showgrid=False)
    plot.bare_axis("y", 0, 1.13 * max(4, *(step.width for step in study.steps)))
    return plot


def cells(
    plot: Plot, name: str, places: list[tuple[int, int]], fill: str, edge: str, text: str, ink: str
) -> None:
    """Unit squares at (column, height)."""
    x, base = [column for column, _ in places], [height for _, height in places]
    look = {"color": theme.color(fill), "line": {"color": theme.color(edge), "width": 1.5}}
    words = {"text": [text] * len(x), "textfont": {"color": theme.color(ink), "size": theme.size("note")}}
    inside = {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0, "constraintext": "none"}
    plot.bars(name, x, [1] * len(x), look, base=base, width=2 * HALF, hover=name, **words, **inside)


def gap(plot: Plot, study: FlagStudy, step: FlagStep) -> None:
    """Between two columns: an arrow, and what the layer there adds to what is seen."""
    fits, vectors = dict(step.parts)[step.index + 1], 2 * study.arch.head_dims[step.index]
    x, y = step.index, step.seen - fits / 2  # the middle of what is added, or the top of the column
    text = f"2{numbered('a', x + 1)} = {vectors}"
    if fits:
        place = {"ax": x + 1 - HALF - 0.03, "ay": y, "axref": "x", "ayref": "y", "showarrow": True}
        look = {"arrowhead": 2, "arrowwidth": theme.size("line"), "arrowcolor": theme.color("soft")}
        plot.text("", x + HALF + 0.13, y, "note", "ink", **place, **look)
    rest = f":<br>{fits} fit{'s' if fits == 1 else ''}" if fits else ":<br>no room"
    text = f"+{text}" if fits == vectors else text + rest
    plot.text(text, x + 0.5, y, "note", "ink", yanchor="bottom", yshift=4)


def columns_finding(study: FlagStudy) -> str:
    """How much of the inner widths is seen."""
    if not study.inner:
        return "one layer: nothing lies in between"
    widths, seen, measured = (
        ", ".join(map(str, row))
        for row in zip(*((step.width, step.seen, step.measured.value) for step in study.inner), strict=True)
    )
    if measured != seen:
        return colored("outside", f"seen: {seen} by the recursion, {measured} MEASURED")
    return f"of {widths} dimensions later layers see {'all' if widths == seen else seen}"


def waterfall(study: FlagStudy) -> Plot:
    """Right: the formula, each term from where the one before ended."""
    plot, rows = Plot("2", RIGHT, (0.0, 1.0)), len(study.terms)
    value, measured = study.expected.value, study.exact.value
    kinds = {f"M{i}": f"layer {i}" for i in range(1, MAX_LAYERS + 1)}
    roles = {"flag": "ghost", "L": "soft", **kinds, "rescalings": "symmetry", "rank": "soft"}
    bars: dict[str, list[tuple[int, int, int]]] = {kind: [] for kind in roles}
    ends, running = [], 0
    for k, term in enumerate(study.terms):
        base = min(running, running + term.value)
        bars[f"M{term.layer}" if "M" in term.kind else term.kind].append((rows - k, base, abs(term.value)))
        ends.append(base + abs(term.value))
        running += term.value
    for kind, role in roles.items():
        lying(plot, f"term: {kind}", bars[kind], role)
    lying(plot, "dimension (measured)", [(0, 0, measured)], "measured")
    look, hover = (theme.color("formula"), theme.size("line") + 2), f"{study.expected.source}: {value}"
    plot.line("dimension by the formula", [value] * 2, [-0.48, 0.48], *look, cliponaxis=False, hover=hover)
    font, texts = {"size": theme.size("note"), "color": theme.color("ink")}, map(in_numbers, study.terms)
    look = {"mode": "text", "textposition": "middle right", "textfont": font, "cliponaxis": False}
    plot.points("values of the terms", ends, [*range(rows, 0, -1)], {}, text=[f" {t}" for t in texts], **look)
    agree = f"sum {value}, as measured"
    said = agree if value == measured else colored("outside", f"sum {value}, but measured {measured}")
    # Over the names of the terms too: in large letters it is longer than the bars.
    plot.headline(said, xref="paper", x=LEFT[1] + 0.05)
    large = {"size": round(1.3 * theme.size("title")), "color": theme.color("measured")}
    place = {"xanchor": "left", "yanchor": "middle", "xshift": 9}
    plot.text(f"<b>{measured}</b>", max(measured, value), 0, "title", "measured", **place, font=large)
    plot.bare_axis("x", 0, 1.42 * max([measured, *ends]))
    names = ["<b>dimension</b>", *(in_letters(t, study.arch.num_layers) for t in reversed(study.terms))]
    look = {"tickvals": [*range(rows + 1)], "ticktext": names, "tickfont": font, "showgrid": False}
    plot.axis("y", rows - max(rows, 5) - 0.6, rows + 0.6, **look, ticks="")
    return plot


def lying(plot: Plot, name: str, rows: list[tuple[int, int, int]], role: str) -> None:
    """Horizontal bars: each its row, where it begins, and its length."""
    row, base, size = ([one[k] for one in rows] for k in range(3))
    look = {"color": theme.color(role), "line": {"width": 0}}
    plot.bars(name, size, row, look, orientation="h", base=base, width=0.7, hover="%{x}")


def in_numbers(term: Term) -> str:
    """The value of a term, as its formula gives it."""
    if term.kind == "flag":
        w, before = term.numbers
        return f"{w}·{before - w} = {term.value}"
    if term.kind == "L":
        return f"{term.numbers[0]}·{term.numbers[1]} = {term.value}"
    return str(term.value).replace("-", "−")


def in_letters(term: Term, last: int) -> str:
    """The formula of a term."""
    i = term.layer
    if term.kind == "flag":
        w, before = numbered("w", i), numbered("w", i - 1)
        return f"{numbered('R', i)}: {w}({before} − {w})"
    if term.kind == "L":
        return f"L: {numbered('d', last)} {numbered('w', last - 1)}"
    if term.kind == "rescalings":
        return "rescalings: −l"
    if term.kind == "rank":
        r, d_in, d_out = term.numbers
        return f"L of rank {r}:<br>{r}·({d_in} + {d_out} − {r})"
    letter = "σ" if term.kind == "symmetric M" else "α"
    return f"{numbered('M', i)}: {letter}({term.numbers[0]}, {term.numbers[1]})"
