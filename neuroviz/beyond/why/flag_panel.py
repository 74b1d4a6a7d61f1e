"""Why the general formula counts what it counts: which part of each width later layers can see."""

from dataclasses import dataclass

from neuroviz.beyond.why.flag import flag_steps, formula_terms
from neuroviz.beyond.why.flag_figure import MAX_LAYERS, FlagStudy, flag_parts
from neuroviz.engine.architecture import ATTENTION_KINDS, Architecture
from neuroviz.engine.formulas import general_formula
from neuroviz.engine.measure import measure_dimension
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import typed_head_dims, typed_widths
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import choice, seed, text, whole
from neuroviz.kit.words import numbered

MAX_WIDTH, MAX_HEAD, MAX_TOKENS = 10, 10, 4  # so that the largest network takes about 0.1 s


@dataclass(frozen=True)
class FlagSetting:
    """An architecture, its widths and head dimensions as texts; ValueError if they do not fit together."""

    widths: str = text("widths", "9,8,9,1", more=False)
    head_dims: str = text("a per layer", "2,2,1", more=False)
    kind: str = choice("attention", ATTENTION_KINDS, "lightning")
    tokens: int = whole("tokens t", 2, 1, MAX_TOKENS)
    seed: int = seed()

    def __post_init__(self) -> None:
        _ = self.arch

    @property
    def arch(self) -> Architecture:
        """The architecture that the texts say."""
        widths = typed_widths(self.widths, "9,8,9,1", MAX_WIDTH, MAX_LAYERS)
        head_dims = typed_head_dims(self.head_dims, "2,2,1", MAX_HEAD, len(widths) - 1)
        return Architecture(widths, head_dims, self.tokens, self.kind)


def study_flag(setting: FlagSetting) -> FlagStudy:
    """The recursion and the formula of one architecture, each beside its exact measurement."""
    arch = setting.arch
    steps, exact = flag_steps(arch, setting.seed), measure_dimension(arch, seed=setting.seed)
    return FlagStudy(arch, steps, formula_terms(arch), general_formula(arch), exact)


class FlagExplorer(Panel):
    """The count of Lemma D as a picture: what later layers see of each width, and the sum it gives.

    Left, each width as a column of cells: seen by L or by a later layer, arriving unseen, or never
    reached by a token. Right, the general formula term by term, against the exact rank.

    Controls: see `FlagSetting`.

    >>> panel = FlagExplorer()
    >>> panel.controls["widths"].value, panel.controls["head_dims"].value = "3,3", "2"
    >>> panel.description.split(":")[0]
    'lightning 3→3, a = 2, t = 2'
    """

    title = "What do later layers see?"

    setting, draw, _answer = FlagSetting, staticmethod(flag_parts), staticmethod(study_flag)

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
        layers = [numbered("M", term.layer) for term in study.terms if term.kind == "symmetric M"]
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
