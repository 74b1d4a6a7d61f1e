"""Why the general formula counts what it counts: which part of each width later layers
can see."""

from dataclasses import dataclass

from neuroviz.attention import Architecture
from neuroviz.attention.architecture import ATTENTION_KINDS
from neuroviz.attention.expected import Expected
from neuroviz.attention.formulas import general_formula
from neuroviz.deep.span import FlagStep, flag_steps
from neuroviz.kit import theme
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.measured import measure_dimension
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts, Plot, compose, layer_letters
from neuroviz.kit.settings import choice, seed, text, whole
from neuroviz.kit.words import at_most, colored, numbered
from neuroviz.rank.results import Measurement

MAX_LAYERS = 4  # four layers have colours of their own
MAX_WIDTH, MAX_HEAD, MAX_TOKENS = 10, 10, 4  # the largest network takes about 0.1 s
HALF = 0.22  # half the width of a column


@dataclass(frozen=True)
class FlagSetting:
    """An architecture, its widths and head dimensions as texts; ValueError if they do
    not fit together."""

    widths: str = text("widths", "9,8,9,1", more=False)
    head_dims: str = text("a per layer", "2,2,1", more=False)
    kind: str = choice("attention", ATTENTION_KINDS, "lightning", more=True)
    tokens: int = whole("tokens t", 2, 1, MAX_TOKENS, more=True)
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.arch

    @property
    def arch(self) -> Architecture:
        """The architecture that the texts say."""
        widths = typed_widths(self.widths, "9,8,9,1", MAX_WIDTH, MAX_LAYERS)
        head_dims = typed_head_dims(self.head_dims, "2,2,1", MAX_HEAD, len(widths) - 1)
        return Architecture(widths, head_dims, self.tokens, self.kind)


@dataclass(frozen=True)
class FlagStudy:
    """Everything the figure shows about one architecture.

    Attributes:
        arch: the architecture.
        steps: what becomes of each width, from the input to the output.
        expected: what the general formula says.
        exact: the dimension, measured.
    """

    arch: Architecture
    steps: tuple[FlagStep, ...]
    expected: Expected
    exact: Measurement

    @property
    def inner(self) -> tuple[FlagStep, ...]:
        """The steps between two layers, where something may be lost."""
        return self.steps[1:-1]


def study_flag(setting: FlagSetting) -> FlagStudy:
    """The recursion and the formula of one architecture, each beside its exact
    measurement."""
    arch = setting.arch
    exact = measure_dimension(arch, seed=setting.seed)
    return FlagStudy(arch, flag_steps(arch, setting.seed), general_formula(arch), exact)


def flag_parts(study: FlagStudy) -> Parts:
    """A column of cells for each width."""
    plot = Plot("", (0.0, 1.0), (0.0, 1.0))
    inner = study.inner
    last = study.arch.num_layers
    # part → its cells: 0 is what L sees, j what layer j adds, from the bottom up
    looking: dict[int, list[tuple[int, int]]] = {
        part: [] for part in range(MAX_LAYERS + 1)
    }
    for step in study.steps[1:]:
        height = 0
        for part, count in step.parts:
            looking[part] += [(step.index, height + k) for k in range(count)]
            height += count
    unseen = [
        (step.index, k) for step in inner for k in range(step.seen, step.arriving)
    ]
    empty = [
        (step.index, k) for step in inner for k in range(step.arriving, step.width)
    ]
    cells(
        plot,
        "input",
        [(0, k) for k in range(study.steps[0].width)],
        "wash",
        "axis",
        "",
        "ink",
    )
    cells(plot, "seen by L", looking[0], "soft", "ground", "L", "ground")
    for j in range(2, MAX_LAYERS + 1):
        name = f"seen by layer {j}"
        M = numbered("M", j)
        cells(plot, name, looking[j], f"layer {j}", "ground", M, layer_letters(j))
    cells(
        plot,
        "arrives, but no later layer sees it",
        unseen,
        "wash",
        "axis",
        "unseen",
        "soft",
    )
    cells(plot, "no token gets here", empty, "ground", "grid", "empty", "soft")
    x = [
        at
        for step in inner
        for at in (step.index - HALF - 0.06, step.index + HALF + 0.06, None)
    ]
    y = [height for step in inner for height in (step.seen, step.seen, None)]
    plot.line(
        "w by the recursion", x, y, theme.color("formula"), theme.size("line") + 1
    )
    x = [step.index + 0.8 * HALF for step in inner]
    y = [step.measured.value for step in inner]
    dot = {"size": theme.size("marker") + 3, "color": theme.color("measured")}
    hover = (
        "exact rank of the rows of L and of the rows and columns of the later M: %{y}"
    )
    plot.points(
        "dimension of the span (measured)", x, y, dot, cliponaxis=False, hover=hover
    )
    plot.headline(finding(study))
    for step in inner:
        gap(plot, study, step)
    legend = colored("measured", "● measured")
    names = ["input", *(f"after layer {i}" for i in range(1, last)), "output"]
    seen = [
        f"<b>{numbered('w', step.index)} = {step.seen}</b>" for step in study.steps[:-1]
    ] + [""]
    under = [
        f"{name}<br>{numbered('d', i)} = {study.steps[i].width}<br>{seen[i]}"
        for i, name in enumerate(names)
    ]
    ticks = {
        "tickvals": list(range(last + 1)),
        "ticktext": under,
        "tickangle": 0,
        "ticks": "",
    }
    font = {"color": theme.color("ink"), "size": theme.size("tick")}
    said = f"━ w by the recursion, from right to left   {legend}" if inner else ""
    plot.axis("x", -0.5, last + 0.5, said, **ticks, tickfont=font, showgrid=False)
    plot.bare_axis("y", 0, 1.13 * max(4, *(step.width for step in study.steps)))
    return compose(plot.view(), barmode="overlay")


def cells(
    plot: Plot,
    name: str,
    places: list[tuple[int, int]],
    fill: str,
    edge: str,
    text: str,
    ink: str,
) -> None:
    """Unit squares at (column, height)."""
    x = [column for column, _ in places]
    base = [height for _, height in places]
    look = {
        "color": theme.color(fill),
        "line": {"color": theme.color(edge), "width": 1.5},
    }
    words = {
        "text": [text] * len(x),
        "textfont": {"color": theme.color(ink), "size": theme.size("note")},
    }
    inside = {
        "textposition": "inside",
        "insidetextanchor": "middle",
        "textangle": 0,
        "constraintext": "none",
    }
    plot.bars(
        name,
        x,
        [1] * len(x),
        look,
        base=base,
        width=2 * HALF,
        hover=name,
        **words,
        **inside,
    )


def gap(plot: Plot, study: FlagStudy, step: FlagStep) -> None:
    """Between two columns: an arrow, and what the layer there adds to what is seen."""
    # Lemma D, step 1: the next layer adds the rows of its Q and K, as far as they fit.
    fits = dict(step.parts)[step.index + 1]
    vectors = 2 * study.arch.head_dims[step.index]
    x = step.index
    # middle of the added part, or top of the column
    y = step.seen - fits / 2
    text = f"2{numbered('a', x + 1)} = {vectors}"
    if fits:
        place = {
            "ax": x + 1 - HALF - 0.03,
            "ay": y,
            "axref": "x",
            "ayref": "y",
            "showarrow": True,
        }
        look = {
            "arrowhead": 2,
            "arrowwidth": theme.size("line"),
            "arrowcolor": theme.color("soft"),
        }
        plot.text("", x + HALF + 0.13, y, "note", "ink", **place, **look)
    rest = f":<br>{fits} fit{'s' if fits == 1 else ''}" if fits else ":<br>no room"
    text = f"+{text}" if fits == vectors else text + rest
    plot.text(text, x + 0.5, y, "note", "ink", yanchor="bottom", yshift=4)


def finding(study: FlagStudy) -> str:
    """How much of the inner widths is seen."""
    if not study.inner:
        return "one layer: nothing lies in between"
    widths, seen, measured = (
        ", ".join(map(str, row))
        for row in zip(
            *((step.width, step.seen, step.measured.value) for step in study.inner),
            strict=True,
        )
    )
    if measured != seen:
        return colored("outside", f"seen: {seen} by the recursion, {measured} MEASURED")
    return (
        f"of {widths} dimensions later layers see {'all' if widths == seen else seen}"
    )


class FlagExplorer(Panel):
    """The count of Lemma D as a picture: what later layers see of each width.

    Each width is a column of cells: seen by L or by a later layer, arriving unseen, or
    never reached by a token.

    Controls: see `FlagSetting`.

    >>> panel = FlagExplorer()
    >>> panel.controls["widths"].value, panel.controls["head_dims"].value = "3,3", "2"
    >>> panel.description.split(":")[0]
    'lightning 3→3, a = 2, t = 2'
    """

    title = "What do later layers see?"

    setting = FlagSetting
    draw = staticmethod(flag_parts)
    _answer = staticmethod(study_flag)

    def _badge(self, answer: FlagStudy) -> str:
        exact = answer.exact
        return measured_badge(exact, answer.arch) + theory_badge(
            answer.expected, exact.value, answer.arch
        )

    def _describe(self, answer: FlagStudy) -> str:
        return " ".join((_say_columns(answer), _say_spans(answer), _say_sum(answer)))


def _say_columns(study: FlagStudy) -> str:
    if not study.inner:
        return (
            f"{study.arch}: one layer, so there is nothing between two layers to lose."
        )
    parts = []
    for step in study.inner:
        lost = [
            f"{count} {why}"
            for count, why in (
                (step.arriving - step.seen, "unseen"),
                (step.width - step.arriving, "empty"),
            )
            if count
        ]
        parts.append(
            f"after layer {step.index}, {step.seen} of {step.width} are seen"
            + (f" ({', '.join(lost)})" if lost else "")
        )
    return f"{study.arch}: {'; '.join(parts)}."


def _say_spans(study: FlagStudy) -> str:
    if not study.inner:
        return "Both L and M₁ see the whole input."
    found = [step.measured for step in study.inner]
    values = ", ".join(str(one.value) for one in found)
    if any(
        one.value != step.seen for one, step in zip(found, study.inner, strict=True)
    ):
        return (
            f"The spans of the rows of L and of the later M have dimensions {values}:"
            " they DISAGREE."
        )
    chance = max(one.error_bound for one in found)
    sure = "certain" if chance == 0 else f"wrong with chance ≤ {at_most(chance)}"
    return (
        f"The rows of L and the rows and columns of the later M span {values}"
        f" dimensions (exact, {sure})."
    )


def _say_sum(study: FlagStudy) -> str:
    expected = study.expected
    exact = study.exact.value
    measured = (
        f"measured: {exact}"
        if exact == expected.value
        else f"but measured: {exact}, they DISAGREE"
    )
    return f"{expected.source} counts {expected.value}; {measured}."
