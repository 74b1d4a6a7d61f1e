"""Why a softmax rank can be exact: exponentials are free, unless the logits are related."""

import ipywidgets as widgets

from neuroviz.beyond.proof.exponentials_figure import exponentials_parts
from neuroviz.beyond.proof.exponentials_grid import equation_of
from neuroviz.beyond.proof.exponentials_study import (
    ExponentialsSetting,
    ExponentialsStudy,
    study_exponentials,
)
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, tiny

_KINDS = [
    ("generic", "generic"),
    ("symmetric (tied Q = K)", "symmetric"),
    ("antisymmetric", "antisymmetric"),
    ("rank one", "rank-one"),
    ("zero", "zero"),
]
_PLACES = [("the first", "first"), ("the last", "last"), ("all", "all")]
_TREATMENTS = [("as they are related", "related"), ("all free", "free")]


class ExponentialsExplorer(Panel):
    """Which exponentials of a softmax may be drawn at random, and what happens when too many are.

    Left, the exponentials of the special layer: free ones with a letter, the others as products of these;
    below, how many differences of logits are independent in each layer. Right, the directions of the weights
    that do nothing, counted exactly with and without the relations, beside the spectrum of the true softmax.

    Controls: kind (of M), tokens, width (d₀), layers, treat (the exponentials as they are related, or all as
    free); under "More": place (which M is special), seed. See `Panel` for what all panels share.

    >>> panel = ExponentialsExplorer()
    >>> "PQ = 1" in panel.description
    True
    """

    title = "Why a softmax rank can be exact"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        first = {
            "kind": widgets.Dropdown(options=_KINDS, value="antisymmetric", description="M₁ is"),
            "tokens": whole("tokens t", 2, 2, 4),
            "width": whole("width d₀", 2, 1, 3),
            "layers": whole("layers l", 2, 1, 3),
            "treat": widgets.Dropdown(options=_TREATMENTS, description="exponentials"),
        }
        more = {
            "place": widgets.Dropdown(options=_PLACES, description="special M"),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        named = {"first": "M₁ is", "last": "the last M is", "all": "every M is"}
        self.controls["kind"].description = named[self.controls["place"].value]

    def _read(self) -> ExponentialsSetting:
        return ExponentialsSetting(**{name: control.value for name, control in self.controls.items()})

    _answer = staticmethod(study_exponentials)

    draw = staticmethod(exponentials_parts)

    def _badge(self, answer: ExponentialsStudy) -> str:
        shown = answer.shown
        prime = grouped(shown.prime)
        measured = theme.badge(shown.status, f"kernel {shown.kernel} mod {prime}")
        ignored = answer.setting.treat == "free" and not answer.independence.complete
        if ignored:
            return measured + theme.badge("outside hypotheses", "Ax 1971: relations ignored")
        return measured + theme.badge("proved here", "Relations between logits, with Ax 1971")

    def _describe(self, answer: ExponentialsStudy) -> str:
        return " ".join((_say_logits(answer), _say_relations(answer), _say_kernels(answer)))


def _say_logits(study: ExponentialsStudy) -> str:
    s = study.setting
    sizes = f"{s.layers} softmax layer{'s' if s.layers > 1 else ''}, d₀ = {s.width}, t = {s.tokens}"
    found = [one.independent for one in study.independence.layers]
    counts = " + ".join(str(one.value) for one in found)
    total = " + ".join(str(one.num_columns) for one in found)
    return f"{sizes}: {counts} of {total} differences of logits are independent (exact)."


def _say_relations(study: ExponentialsStudy) -> str:
    s, attention = study.setting, study.attention
    relations = study.independence.layers[s.special - 1].relations
    if not relations:
        return "So by Ax's theorem no algebraic equation binds the exponentials: each may be drawn at random."
    if s.tokens == 2 and len(relations) == 1:
        words = "p + q = 0, so PQ = 1"
    else:
        words = equation_of(relations[0])
        if len(relations) > 1:
            words += f" and {len(relations) - 1} more"
    filled = f"{attention.value} dimension{'' if attention.value == 1 else 's'}"
    return (
        f"In layer {s.special} {words}. The attention matrices of all such layers fill {filled} (exact) of "
        f"{attention.num_columns}."
    )


def _say_kernels(study: ExponentialsStudy) -> str:
    true, free, floats = study.related.kernel, study.free.kernel, study.spectrum.kernel
    n = study.related.num_columns
    counted = f"Of {n} directions (entries of L and the M) {true} {_do(true)} nothing ({_how_sure(study)})"
    if study.misled:
        counted += f"; with all exponentials free the count says {free}, which is wrong"
    elif not study.independence.complete:
        counted += f"; with all exponentials free the count says {free} as well"
    if not study.spectrum.decided:
        return f"{counted}. Floating point cannot decide here."
    zeros = f"{floats} zero{'' if floats == 1 else 's'}"
    agrees = "as many" if floats == true else "they DISAGREE"
    return f"{counted}. The true softmax has {zeros} in floating point: {agrees}."


def _do(count: int) -> str:
    return "does" if count == 1 else "do"


def _how_sure(study: ExponentialsStudy) -> str:
    bound = study.related.error_bound
    return "exact and certain" if bound == 0 else f"exact, wrong with chance ≤ {tiny(bound)}"
