"""Theorem B under the reader's hands: another set of weights, and the place where it
gives itself away."""

from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, numbered, signed, tiny
from neuroviz_beyond.proofs.uniqueness import SingletonStudy, study_singleton
from neuroviz_beyond.proofs.uniqueness_facts import apart, uniqueness_picture
from neuroviz_beyond.proofs.weight_pairs import (
    WITH_RHO,
    UniquenessSetting,
    two_networks,
)
from neuroviz_beyond.reasons import Reasons, repeated

# case → step of Theorem B, or under a mask of Theorem A′
_STEPS = {"A": 2, "B2": 3, "B1, ρ < 0": 4, "B1, ρ > 0": 5, "peel": 6}
_MASKED_STEPS = {"A": 2, "B1, ρ < 0": 4, "B1, ρ > 0": 3, "peel": 3}


class SingletonExplorer(Panel):
    """Choose other weights θ′, and drag the exponentials to where θ and θ′ come apart.

    Left θ, right θ′: two tokens as places between x₁ and x₂, layer after layer. Between
    them the exponentials of the first layer of each, as shares; the relations over Q
    between their logits; and what follows.

    Controls: see `UniquenessSetting`.

    >>> panel = SingletonExplorer()
    >>> panel.controls["travel"].value = 1.0
    >>> "not the same function" in panel.description
    True
    """

    title = "Could other weights do the same?"
    setting = UniquenessSetting
    draw = staticmethod(uniqueness_picture)
    _answer = staticmethod(study_singleton)

    def _arrange(self) -> None:
        setting = self._read()
        self.controls["rho"].disabled = setting.candidate not in WITH_RHO
        self.controls["travel"].disabled = (
            bool(setting.failing) or setting.candidate == "the same"
        )

    def _badge(self, answer: SingletonStudy) -> str:
        name = "Theorem A′" if answer.setting.causal else "Theorem B"
        end = answer.ending
        step = (_MASKED_STEPS if answer.setting.causal else _STEPS).get(answer.case)
        failing = answer.setting.failing
        theorem = _theorem(answer, name)
        if failing:
            claim = badge("outside hypotheses", f"{name} needs {failing[0]}", theorem)
        else:
            said = name + (f", step {step}" if step else "")
            claim = badge("proved here", said, theorem)
        agree = {
            (True, True): "agree for both",
            (True, False): "agree for θ only",
            (False, True): "agree for θ′ only",
            (False, False): "differ for both",
        }[bool(end.left_meet), bool(end.right_meet)]
        # Exact numbers hold at the end of the way; the picture may stand before it.
        where = "" if answer.case in ("same", "outside") else "end: "
        found = badge("exact", f"{where}columns {agree}", _at_the_end(answer, name))
        return claim + found

    def _describe(self, answer: SingletonStudy) -> str:
        return " ".join(
            filter(None, (_say_step(answer), _say_here(answer), _say_end(answer)))
        )


def _theorem(study: SingletonStudy, name: str) -> Reasons:
    """The theorem, and whether θ satisfies what it asks."""
    s = study.setting
    theta, _ = two_networks(s)
    asked = [Hypothesis("L ≠ 0", bool(theta.L.any()))]
    for i, M in enumerate(theta.M, start=1):
        letter = numbered("M", i)
        if s.causal:
            asked.append(Hypothesis(f"{letter} ≠ 0", bool(M.any())))
        # Under a mask only M₁′ = −M₁ asks for it.
        if not s.causal or (i == 1 and s.is_minus):
            asked.append(Hypothesis(f"Sym {letter} ≠ 0", bool((M + M.T).any())))
    says = "No other virtual weights have the function of θ."
    if s.failing:
        says = f"The theorem says nothing here, as {s.failing[0]} fails."
    return Reasons(
        f"{name}: {says} {_say_step(study)}",
        name,
        tuple(asked),
        (
            "here on two tokens; it holds for more",
            "our proof, not peer-reviewed; it uses Ax's theorem",
        ),
        repeated(study_singleton, s, ".relations.words"),
    )


def _at_the_end(study: SingletonStudy, name: str) -> Reasons:
    """What the exact numbers at the end of the way are."""
    end = study.ending
    columns = [
        f"of {network} the two output columns {'agree' if meet else 'differ'}"
        for network, meet in (("θ", end.left_meet), ("θ′", end.right_meet))
    ]
    outputs = "are the same" if end.same else "differ"
    return Reasons(
        f"Free exponentials, within the relations: {'; '.join(columns)}; the outputs "
        f"of θ and θ′ {outputs}.",
        name,
        facts=(
            f"20 random points, modulo the prime {grouped(end.prime)}",
            "what differs modulo a prime differs; what agrees was tested there",
        ),
        code=repeated(study_singleton, study.setting, ".ending"),
    )


def _say_step(study: SingletonStudy) -> str:
    """The claim of the step, in a sentence."""
    s = study.setting
    if s.size == 0:
        return (
            "L = 0: whatever the M are, the output is 0, and all of them have one"
            " function."
        )
    if study.case == "same":
        why = "ρ = 1 makes M₁′ = M₁: " if s.candidate == "positive" else ""
        return (
            f"{why}θ′ is θ. Choose another {'ρ' if why else 'candidate'}, and something"
            " tells them apart."
        )
    if study.case == "outside" and s.causal:
        return (
            "M₁ is antisymmetric and M₁′ = −M₁: the one case in which step 4 asks for"
            " Sym M₁ ≠ 0."
        )
    if study.case == "outside":
        return (
            "M₁ is antisymmetric, so PQ = 1: in the first layer of θ the tokens always"
            " meet."
        )
    number = (_MASKED_STEPS if s.causal else _STEPS)[study.case]
    return f"Step {number}: {_say_way(study)}"


def _say_way(study: SingletonStudy) -> str:
    """How the exponentials are moved, and what the relations have to do with it."""
    causal = study.setting.causal
    words = " and ".join(study.relations.words)
    if study.case == "A":
        letters, goal = (
            ("Q and Q′", "Q′ goes to ∞")
            if causal
            else ("the exponentials", "P′Q′ goes to 1")
        )
        return f"no relation binds {letters}, so θ may stand still while {goal}."
    if study.case == "B2":
        return (
            f"the only relation is {words}, so θ may stand still while P′ → 0 and Q′"
            " → ∞."
        )
    if study.case == "B1, ρ < 0":
        push = (
            "Q → 0 freezes θ and collapses θ′"
            if causal
            else "P → 0 and Q → ∞ push P′ to ∞ and Q′ to 0"
        )
        return f"{words}, so {push}."
    if study.case == "B1, ρ > 0":
        sees, other = ("θ", "θ′") if study.relations.power > 1 else ("θ′", "θ")
        go, token = (
            ("Q goes to ∞", "x₂") if causal else ("Q, Q′ go to 0, then P to ∞", "x₁")
        )
        return (
            f"{words}. {go} while {token} runs away: the first layer of {sees} brings"
            f" it back, that of {other} to the other token."
        )
    freeze = "Q → 0 freezes" if causal else "P, Q → 0 freeze"
    begin = f"M₁′ = M₁, and {freeze} the first layer of both: it peels off."
    if study.setting.layers == 1:
        return (
            f"{begin} There is no second layer, so it is L′ that is another; LX and L′X"
            " are left."
        )
    return (
        f"{begin} In what is left {'Q₂′ goes to ∞' if causal else 'P₂′Q₂′ goes to 1'},"
        " and θ stands still."
    )


def _say_here(study: SingletonStudy) -> str:
    if study.setting.size == 0 or study.case == "same":
        return ""
    gaps = [
        apart(side.gap) if side.gap > 1e-12 else "0"
        for side in (study.left, study.right)
    ]
    place = {0.0: "At the true exponentials", 1.0: "At the end"}.get(
        study.setting.travel, "At this place"
    )
    where = place if study.case != "outside" else "Here"
    return (
        f"{where} the output columns of θ are {gaps[0]} apart, those of θ′ {gaps[1]}."
    )


def _say_end(study: SingletonStudy) -> str:
    """What follows, from the exact end of the way; and the two true functions beside
    it."""
    end = study.ending
    truly = study.functions_apart
    if study.case == "same":
        return "The two outputs are equal."
    measured = (
        f"{tiny(truly)} apart" if truly < 1e-9 else f"up to {signed(truly)} apart"
    )
    floats = f"on 50 random inputs the outputs are {measured}"
    if end.same:
        same = f"modulo {grouped(end.prime)} all outputs agree at 20 random points"
        return f"A second preimage: {same}, and {floats}."
    if study.case == "outside":
        return f"The theorem says nothing here; still, {floats}: not the same function."
    if study.setting.travel < 1:
        return (
            "One function would have equal outputs all along the way: move to the end."
        )
    if end.left_meet and end.right_meet:
        seen = "one output is (Lx₁, Lx₁), the other (L′x₂, L′x₂): "
    else:
        seen = "" if end.left_meet or end.right_meet else "LX and L′X differ: "
    return f"So {seen}it is not the same function; {floats}."
