"""A formula put to the test on architectures drawn at random: measured against predicted."""

from dataclasses import dataclass

from neuroviz.engine.architecture import Architecture
from neuroviz.engine.formulas import Expected
from neuroviz.engine.measure import Measurement
from neuroviz.kit import theme
from neuroviz.kit.plot import Parts, View, compose, headline, label, outside_words


@dataclass(frozen=True)
class Trial:
    """One random architecture: what was measured, and what was predicted without looking."""

    arch: Architecture
    measured: Measurement
    expected: Expected
    paper: Expected

    @property
    def agrees(self) -> bool:
        """Whether the general formula says what was measured."""
        return self.measured.value == self.expected.value


@dataclass(frozen=True)
class Trials:
    """All that were tried so far; the last one is the newest."""

    tried: tuple[Trial, ...]

    @property
    def counterexamples(self) -> tuple[Trial, ...]:
        """Those at which the formula is wrong, or the measurement is."""
        return tuple(trial for trial in self.tried if not trial.agrees)

    @property
    def outside(self) -> int:
        """How many the paper's own formula is not about."""
        return sum(trial.paper.status == "outside hypotheses" for trial in self.tried)


def trials_parts(trials: Trials) -> Parts:
    """Measured against predicted."""
    return compose(_plot(trials), _counts(trials))


def _plot(trials: Trials) -> View:
    marker, newest = theme.size("marker"), trials.tried[-1]
    most = max(max(trial.measured.value, trial.paper.value) for trial in trials.tried)
    top = 1.12 * most + 3
    wrong = [
        t
        for t in trials.tried
        if t.paper.status == "outside hypotheses" and t.paper.value != t.measured.value
    ]

    def marks(name: str, kind: str, symbol: str, role: str) -> dict:
        shown = [t for t in trials.tried if t.arch.attention == kind]
        return {
            "name": name,
            "x": [t.expected.value for t in shown],
            "y": [t.measured.value for t in shown],
            "text": [str(t.arch) for t in shown],
            "mode": "markers",
            "marker": {"symbol": symbol, "size": marker, "color": theme.color(role)},
            "hovertemplate": "%{text}<br>measured %{y}, formula %{x}<extra></extra>",
        }

    traces = [
        {
            "name": "measured = formula",
            "x": [0, top],
            "y": [0, top],
            "mode": "lines",
            "line": {"color": theme.color("formula"), "width": 1.2},
            "hoverinfo": "skip",
        },
        {
            "name": "the paper's formula outside its hypotheses",
            "x": [t.paper.value for t in wrong],
            "y": [t.measured.value for t in wrong],
            "text": [str(t.arch) for t in wrong],
            "mode": "markers",
            "marker": {
                "symbol": "x-thin",
                "size": marker,
                "line": {"color": theme.color("outside"), "width": 2},
            },
            "hovertemplate": "%{text}<br>measured %{y}; the paper's pattern would say %{x}<extra></extra>",
        },
        marks("lightning (measured)", "lightning", "circle", "measured"),
        marks("softmax (measured)", "softmax", "square", "measured"),
        {
            "name": "counterexample (measured)",
            "x": [t.expected.value for t in trials.counterexamples],
            "y": [t.measured.value for t in trials.counterexamples],
            "mode": "markers",
            "marker": {
                "symbol": "diamond-open",
                "size": 3 * marker,
                "color": theme.color("outside"),
                "line": {"width": 4},
            },
            "hovertemplate": "measured %{y}, formula %{x}<extra></extra>",
        },
        {
            "name": "the newest (measured)",
            "x": [newest.expected.value],
            "y": [newest.measured.value],
            "mode": "markers",
            "marker": {
                "symbol": "circle-open",
                "size": 2 * marker + 6,
                "color": theme.color("focus"),
                "line": {"width": 3},
            },
            "hoverinfo": "skip",
        },
    ]
    axes = {
        "xaxis": {
            "domain": (0.0, 0.6),
            "anchor": "y",
            "range": [0, top],
            "title": {"text": "general formula"},
        },
        "yaxis": {
            "domain": (0.0, 1.0),
            "anchor": "x",
            "range": [0, top],
            "title": {"text": "measured, exactly"},
        },
    }
    found = len(trials.counterexamples)
    tried = len(trials.tried)
    text = (
        f"{found} of {tried} are COUNTEREXAMPLES"
        if found
        else f"{tried} tried, {tried} on the line"
        if tried > 1
        else "1 tried, on the line"
    )
    legend = "● lightning   ■ softmax, general formula"
    if wrong:
        legend += "<br>" + outside_words("✕ the paper's pattern where it does not apply")
    note = {"size": theme.size("note"), "color": theme.color("soft")}
    said = [
        headline(text),
        label(legend, 0, 1, xref="x domain", yref="y domain", xanchor="left", yanchor="top", xshift=10,
              align="left", font=note),
    ]  # fmt: skip
    return View(traces, axes, said, [])


_SHOWN = 9


def _counts(trials: Trials) -> View:
    """The newest ones in words, the newest on top."""
    lines = [_line(trial) for trial in reversed(trials.tried[-_SHOWN:])]
    lines += [""] * (_SHOWN - len(lines))
    at = {"xref": "paper", "yref": "paper", "x": 0.66, "xanchor": "left", "align": "left", "showarrow": False}
    said = [
        {**at, "text": "<b>the newest, on top</b>", "y": 1, "yanchor": "bottom", "yshift": 6,
         "font": {"size": theme.size("title")}},
        {**at, "text": "<br>".join(lines), "y": 1, "yanchor": "top", "font": {"size": theme.size("note")}},
    ]  # fmt: skip
    return View([], {}, said, [])


def _line(trial: Trial) -> str:
    mark = "=" if trial.agrees else "≠"
    widths, heads = "→".join(map(str, trial.arch.widths)), ", ".join(map(str, trial.arch.head_dims))
    kind = "" if trial.arch.attention == "lightning" else "softmax, "
    said = f"<b>{trial.measured.value}</b> {mark} {trial.expected.value}: {kind}{widths}"
    more = f"a = {heads}, t = {trial.arch.tokens}: {trial.expected.source}"
    return f"{said}<br>&nbsp;&nbsp;&nbsp;{more}"
