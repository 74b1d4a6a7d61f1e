"""What the function hides of the weights: a change of basis between layers, a rescaling
of L and M."""

from neuroviz.attention.formulas import Hypothesis
from neuroviz.deep.rescaling import RescalingStudy, say_rescaling, study_rescaling
from neuroviz.deep.virtual import (
    LOGS,
    MAX_LAYERS,
    SAME,
    InterfaceStudy,
    VirtualSetting,
    study_interface,
)
from neuroviz.deep.virtual_facts import virtual_picture
from neuroviz.kit.badges import badge
from neuroviz.kit.controls import show
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.words import in_two_lines, numbered, percent, signed, tiny

_OF_THE_BASIS = ("interface", "walk", "along", "lost", "alone")
_OF_THE_RESCALING = (*LOGS, "off")


def study_virtual(setting: VirtualSetting) -> InterfaceStudy | RescalingStudy:
    """The study for the chosen view."""
    return (
        study_interface(setting)
        if setting.view == "basis"
        else study_rescaling(setting)
    )


class VirtualWeightsExplorer(Panel):
    """A change of basis moves Q, K, V and neither L nor any M; a rescaling moves these,
    and not the function.

    Controls: see `VirtualSetting`; those of a view are shown with it. See `Panel` for
    what all panels share.

    >>> panel = VirtualWeightsExplorer()
    >>> panel.controls["lost"].value = True
    >>> "V₁ has rank 2; got rank 1" in panel.description
    True
    >>> panel.state = "view=rescale;layers=4"
    >>> panel._shown.exponents
    (27, 9, 3, 1)
    """

    title = "What nobody sees of the weights"
    setting = VirtualSetting
    _answer = staticmethod(study_virtual)
    draw = staticmethod(virtual_picture)

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        basis = value["view"] == "basis"
        for name in (*_OF_THE_BASIS, *_OF_THE_RESCALING):
            says = (name in _OF_THE_BASIS) == basis
            self.controls[name].disabled = not says
            if self._may_hide:
                show(self.controls[name], says)
        if basis:
            self.controls["interface"].disabled = value["layers"] == 2
        else:
            for i in range(1, MAX_LAYERS + 1):
                self.controls[f"log_{i}"].disabled = i > value["layers"]

    def _badge(self, answer: InterfaceStudy | RescalingStudy) -> str:
        if isinstance(answer, RescalingStudy):
            return _rescaling_badge(answer)
        return _basis_badge(answer)

    def _describe(self, answer: InterfaceStudy | RescalingStudy) -> str:
        if isinstance(answer, RescalingStudy):
            return say_rescaling(answer)
        recovered = _say_recovered(answer)
        said = [_say_moves(answer), _say_stands(answer), recovered]
        return in_two_lines(said, spare=[recovered])


def _basis_badge(study: InterfaceStudy) -> str:
    V = numbered("V", study.setting.interface)
    if study.moved:
        says = f"{V} was multiplied by a D that no other matrix undoes: no symmetry."
        moved = Hypothesis(f"{V} moves by a change of basis alone", False)
        return badge(
            "outside hypotheses",
            f"Eq. 9: {V} moved alone",
            Reasons(says, "Eq. 9", (moved,)),
        )
    says = (
        f"{V} → C {V}, and C⁻¹ behind Q, K and V of the next layer: L, all M and so "
        "the function stay, for every invertible C."
    )
    found = badge("proved", "Eq. 9: same function", Reasons(says, "Eq. 9"))
    lemma = Reasons(
        "Two networks with the same virtual weights differ by one C at each place "
        "between layers, and no other.",
        "Lemma 3.5",
        (Hypothesis("δ ≤ d₀ and δ ≤ d_l, and L has rank δ", study.covered),),
    )
    return found + _covered("Lemma 3.5", ": C is unique", study.covered, lemma)


def _rescaling_badge(study: RescalingStudy) -> str:
    layers = study.setting.layers
    if not study.is_symmetry:
        theorem = Reasons(
            "With softmax the function determines L and all M: no factor can move.",
            "Theorem B",
            (Hypothesis("L ≠ 0, and no M is antisymmetric", study.covered),),
        )
        eq13 = Reasons(
            "Eq. 13 is about lightning: softmax is not homogeneous.",
            "Eq. 13",
            (Hypothesis("lightning attention", False),),
        )
        return badge("outside hypotheses", "Eq. 13", eq13) + _covered(
            "Theorem B", ": no rescaling at all", study.covered, theorem, "proved here"
        )
    powers = " ".join(
        f"λ{numbered('', i)}^{power}" if power > 1 else f"λ{numbered('', i)}"
        for i, power in enumerate(study.exponents, start=1)
    )
    eq13 = Reasons(
        f"λ₀ L and λᵢ Mᵢ give the same function exactly when λ₀ {powers} = 1.",
        "Eq. 13",
        (
            Hypothesis("lightning attention", study.is_symmetry),
            Hypothesis("the function is not 0", bool(study.outputs.start.any())),
        ),
    )
    source = "Thm. 3.2" if layers == 1 else "Thm. 3.7"
    asked = "L ≠ 0, no M is antisymmetric or of rank 1"
    if layers == 1:
        asked = "M and L are not 0, and one of them has rank 2 or more"
    whole = Reasons(
        "No other virtual weights have this function.",
        source,
        (Hypothesis(asked, study.covered),),
    )
    return badge("proved", "Eq. 13", eq13) + _covered(
        source, ": nothing else", study.covered, whole
    )


def _covered(
    statement: str, says: str, covered: bool, reasons: Reasons, status: str = "proved"
) -> str:
    if covered:
        return badge(status, statement + says, reasons)
    return badge("outside hypotheses", statement, reasons)


def _say_moves(study: InterfaceStudy) -> str:
    i = study.setting.interface
    alone = study.setting.alone
    where = f"Between the layers {i} and {i + 1}"
    most = max(part.change for part in study.weights)
    if most <= SAME:
        one = ""
        if len(study.C) == 1:
            one = ", as for δ = 1 it is on all walks but the stretch"
        return f"{where} C = 1: no weight has moved{one}."
    _, _, V, *after = [part.name for part in study.weights]
    moves = []
    if study.turns:
        moves.append(f"{V} → C {V}, C⁻¹ behind {', '.join(after)}")
    if alone:
        moves.append(f"row 1 of {V} times {signed(1 + alone)} (D)")
    who = "They move by up to" if study.turns else f"{V} moves by"
    return f"{where}: {'; '.join(moves)}. {who} {percent(most)}."


def _say_stands(study: InterfaceStudy) -> str:
    if study.moved:
        moved = ", ".join(
            f"{part.name} by {percent(part.change)}" for part in study.moved
        )
        return f"Not undone, {moved.replace(' by', ' moves by', 1)}: not a symmetry."
    most = max(part.change for part in (*study.virtual, study.outputs))
    rounding = f" (rounding: {tiny(most)})" if most else ""
    return f"L, all M and the outputs do not move{rounding}."


def _say_recovered(study: InterfaceStudy) -> str:
    if study.recovered is None:
        return f"C cannot be recovered: {study.refusal}."
    unique = "no other C fits" if study.covered else "although Lemma 3.5 does not apply"
    return (
        f"C is recovered from the two networks alone: {unique} (off by"
        f" {tiny(study.off)})."
    )
