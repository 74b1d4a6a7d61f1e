"""Look for a counterexample: the general formula against exact ranks of architectures drawn at random."""

from dataclasses import dataclass
from random import Random

import ipywidgets as widgets
import traitlets

from neuroviz.deep.counterexample_figure import Trial, Trials, trials_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import general_formula, paper_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.panel import Panel

MAX_TRIED = 500
_QUICK = 40  # fresh measurements that one waits for


@dataclass(frozen=True)
class TrialsRequest:
    """What the controls ask for."""

    tried: int
    max_layers: int
    max_width: int
    seed: int


def draw_architecture(number: int, max_layers: int, max_width: int, seed: int) -> Architecture:
    """The number-th random architecture of a seed; any of them can be drawn without the others."""
    draw = Random(f"{seed}/{number}/{max_layers}/{max_width}")
    layers = draw.randint(1, max_layers)
    return Architecture(
        [draw.randint(1, max_width) for _ in range(layers + 1)],
        [draw.randint(1, 4) for _ in range(layers)],
        draw.randint(1, 4),
        draw.choice(ATTENTION_KINDS),
    )


_known: dict[Architecture, Trial] = {}  # also what a child process has measured


def _try(arch: Architecture) -> Trial:
    if arch not in _known:
        _known[arch] = Trial(arch, measure_dimension(arch), general_formula(arch), paper_formula(arch))
    return _known[arch]


def _drawn(request: TrialsRequest) -> list[Architecture]:
    sizes = request.max_layers, request.max_width, request.seed
    return [draw_architecture(number, *sizes) for number in range(1, request.tried + 1)]


def try_them(request: TrialsRequest) -> Trials:
    """Measure the first so many architectures of a seed."""
    return Trials(tuple(_try(arch) for arch in _drawn(request)))


class Again(widgets.Button):
    """A button with a value, the number of clicks so far, so that a state can hold it."""

    value = traitlets.Int(1)
    min, max = 1, MAX_TRIED

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.on_click(lambda _: setattr(self, "value", min(self.value + 1, self.max)))


class CounterexampleExplorer(Panel):
    """Try the general formula on a fresh random architecture, exactly, as often as you like.

    The formula is proved in docs/mathematics.md, by us and not peer-reviewed. A counterexample would
    be marked with a diamond, and described with the state string that brings it back.

    Controls: tried (a button: one more), layers and widths at most; under "More": seed. See `Panel`.

    >>> panel = CounterexampleExplorer()
    >>> panel.controls["tried"].click()
    >>> panel.state.split(";")[0]
    'tried=2'
    """

    title = "Is there a counterexample?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        first = {
            "tried": Again(description="Try a fresh one", tooltip="measure one more random architecture"),
            "max_layers": widgets.IntSlider(value=3, min=1, max=5, description="layers, at most"),
            "max_width": widgets.IntSlider(value=5, min=1, max=8, description="widths, at most"),
        }
        more = {"seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed")}
        return first, more

    def _arrange(self) -> None:
        self.controls["tried"].disabled = self.controls["tried"].value == MAX_TRIED

    def _read(self) -> TrialsRequest:
        return TrialsRequest(**{name: control.value for name, control in self.controls.items()})

    _answer = staticmethod(try_them)

    def _is_slow(self, request: TrialsRequest) -> bool:
        return sum(arch not in _known for arch in _drawn(request)) > _QUICK

    draw = staticmethod(trials_parts)

    def _say(self, answer: object, started: float | None) -> None:
        _known.update((trial.arch, trial) for trial in answer.tried)
        super()._say(answer, started)

    def _badge(self, answer: Trials) -> str:
        newest = answer.tried[-1]
        return measured_badge(newest.measured) + theory_badge(newest.expected, newest.measured.value)

    def _describe(self, answer: Trials) -> str:
        newest, tried = answer.tried[-1], len(answer.tried)
        verdict = "as predicted" if newest.agrees else f"but the formula says {newest.expected.value}"
        parts = [f"{newest.arch}: {newest.measured.value} dimensions, {verdict} ({newest.expected.source})."]
        wrong = answer.counterexamples
        if wrong:
            first = wrong[0]
            parts.append(
                f"{len(wrong)} of {tried} DISAGREE, the first being {first.arch}: measured "
                f"{first.measured.value}, formula {first.expected.value}. Please send us this state: "
                f"{self.state}"
            )
        else:
            inside = tried - answer.outside
            parts.append(
                f"{tried} tried, no counterexample; the paper's own formulas are about {inside or 'none'} "
                "of them."
            )
        return " ".join(parts)
