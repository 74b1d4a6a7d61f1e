"""Why the general formula counts what it counts: which part of each width later layers can see."""

from dataclasses import dataclass

import ipywidgets as widgets

from neuroviz.beyond.why.flag import flag_steps, formula_terms
from neuroviz.beyond.why.flag_figure import MAX_LAYERS, FlagStudy, flag_parts, sub
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import general_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.panel import Panel

MAX_WIDTH, MAX_HEAD, MAX_TOKENS = 10, 10, 4  # so that the largest network takes about 0.1 s


@dataclass(frozen=True)
class FlagRequest:
    """What the controls ask for."""

    arch: Architecture
    seed: int


def study_flag(request: FlagRequest) -> FlagStudy:
    """The recursion and the formula of one architecture, each beside its exact measurement."""
    arch = request.arch
    return FlagStudy(
        arch=arch,
        steps=flag_steps(arch, request.seed),
        terms=formula_terms(arch),
        expected=general_formula(arch),
        exact=measure_dimension(arch, seed=request.seed),
    )


class FlagExplorer(Panel):
    """The count of Lemma D as a picture: what later layers see of each width, and the sum it gives.

    Left, each width as a column of cells: seen by L or by a later layer, arriving unseen, or never
    reached by a token. Right, the general formula term by term, against the exact rank.

    Controls: widths (such as 9,8,9,1), head_dims (such as 2,2,1), kind, tokens; under "More": seed.
    See `Panel` for what all panels share.

    >>> panel = FlagExplorer()
    >>> panel.controls["widths"].value, panel.controls["head_dims"].value = "3,3", "2"
    >>> panel.description.split(":")[0]
    'lightning 3→3, a = 2, t = 2'
    """

    title = "What do later layers see?"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def text(label: str, value: str) -> widgets.Text:
            return widgets.Text(value=value, description=label, continuous_update=False)

        first = {
            "widths": text("widths", "9,8,9,1"),
            "head_dims": text("a per layer", "2,2,1"),
            "kind": widgets.Dropdown(options=ATTENTION_KINDS, value="lightning", description="attention"),
            "tokens": widgets.IntSlider(value=2, min=1, max=MAX_TOKENS, description="tokens t"),
        }
        more = {"seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed")}
        return first, more

    def _read(self) -> FlagRequest:
        value = {name: control.value for name, control in self.controls.items()}
        widths = typed_widths(value["widths"], "9,8,9,1", MAX_WIDTH, MAX_LAYERS)
        head_dims = typed_head_dims(value["head_dims"], "2,2,1", MAX_HEAD, len(widths) - 1)
        return FlagRequest(Architecture(widths, head_dims, value["tokens"], value["kind"]), value["seed"])

    _answer = staticmethod(study_flag)

    draw = staticmethod(flag_parts)

    def _badge(self, answer: FlagStudy) -> str:
        return measured_badge(answer.exact) + theory_badge(answer.expected, answer.exact.value)

    def _describe(self, answer: FlagStudy) -> str:
        return " ".join((_say_columns(answer), _say_spans(answer), _say_sum(answer)))


def _say_columns(study: FlagStudy) -> str:
    if not study.inner:
        return f"{study.arch}: one layer, so there is nothing between two layers to lose."
    parts = []
    for step in study.inner:
        lost = [
            f"{count} {why}"
            for count, why in ((step.arriving - step.seen, "unseen"), (step.width - step.arriving, "empty"))
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
    if any(one.value != step.seen for one, step in zip(found, study.inner, strict=True)):
        return f"The spans of the rows of L and of the later M have dimensions {values}: they DISAGREE."
    chance = max(one.error_bound for one in found)
    sure = "certain" if chance == 0 else f"wrong with chance ≤ {chance:.0e}"
    return (
        f"At random weights the rows of L and the rows and columns of the later M span spaces of dimension "
        f"{values} (exact, {sure})."
    )


def _say_sum(study: FlagStudy) -> str:
    expected, exact = study.expected, study.exact
    total = f"{expected.value} dimension{'s' if expected.value != 1 else ''}"
    if [term.kind for term in study.terms] == ["rank"]:
        count = f"One softmax token shows L alone: {total}"
    else:
        kinds = {term.kind for term in study.terms}
        pieces = ["the choice of the spans"] if "flag" in kinds else []
        pieces += ["L inside the last of them" if "flag" in kinds else "L", "each M"]
        count = f"{', '.join(pieces[:-1])} and {pieces[-1]}"
        layers = [sub("M", term.layer) for term in study.terms if term.kind == "symmetric M"]
        if layers:
            count += f" (of {', '.join(layers)} the symmetric part only)"
        if "rescalings" in kinds:
            count += ", less a rescaling a layer,"
        count = f"{count[0].upper()}{count[1:]} give {total}"
    verdict = (
        f"measured: {exact.value}"
        if exact.value == expected.value
        else f"but measured: {exact.value}, DISAGREE"
    )
    return f"{count} ({expected.source}, {expected.status}); {verdict}."
