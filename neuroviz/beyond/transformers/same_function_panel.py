"""Two transformers that compute the same: weights move, outputs stand still; and the poles that prove it."""

from neuroviz.beyond.transformers.same_function import TwinSetting, TwinStudy, study_twins
from neuroviz.beyond.transformers.same_function_figure import matches, outcome, twin_parts
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import signed


class SameFunctionExplorer(Panel):
    """Shuffle heads, change a basis, shift tokens, and see outputs stand still; or see the poles of both.

    Controls: view (weights or poles), swapped (the layers whose heads change places), basis (t of exp(tE);
    without skip), shift (with biases), third (how much the third token weighs; 0 leaves two), skip, biases;
    under "More": signs (−A and −V, which two tokens do not see where V₁ + V₂ = 0), off (a step that changes
    the function), seed. See `Panel` for what all panels share.

    >>> panel = SameFunctionExplorer()
    >>> "the same outputs" in panel.description
    True
    >>> panel.state = "signs=yes;third=0"
    >>> panel._shown.same_outputs, panel._shown.partners[0]
    (True, ((1, -1), (0, -1)))
    """

    title = "Which transformers compute the same?"
    setting, draw = TwinSetting, staticmethod(twin_parts)
    _answer = staticmethod(study_twins)

    def _arrange(self) -> None:
        controls = self.controls
        controls["skip"].disabled = controls["signs"].value
        controls["basis"].disabled = controls["skip"].value or controls["signs"].value
        controls["shift"].disabled = not controls["biases"].value

    def _badge(self, answer: TwinStudy) -> str:
        if answer.failing:
            return theme.badge("outside hypotheses", "Theorem H")
        if answer.setting.signs and answer.setting.third < 1:
            return theme.badge("float", "part of a token")
        return theme.badge("proved here", "Theorem H")

    def _describe(self, answer: TwinStudy) -> str:
        said = [_where(answer), _what_is_found(answer)]
        if answer.setting.view == "poles":
            said.append("Poles of the second output column at x₁ = x₂ + z w, all other layers frozen.")
            said += [f"Layer {i}: {matches(found)}." for i, found in enumerate(answer.partners, start=1)]
        return " ".join(said)


def _where(study: TwinStudy) -> str:
    s = study.setting
    parts = ["Two softmax layers of two heads, d = 2"]
    parts += ["skip"] * s.has_skip + ["biases"] * s.biases
    tokens = {0.0: "two tokens", 1.0: "three tokens"}
    parts.append(tokens.get(s.third, f"two tokens and {s.third:g} of a third"))
    swapped = "both layers" if s.swapped == "both" else s.swapped
    moves = [f"heads of {swapped} swapped"] * (s.swapped != "none")
    moves += [f"basis exp({signed(s.basis)} E)"] * bool(s.basis and not s.has_skip)
    moves += [f"tokens shifted by {signed(s.shift)}"] * bool(s.shift and s.biases)
    moves += ["−A and −V in layer 1, where V₁ + V₂ = 0"] * s.signs
    moves += [f"a step of {signed(s.off)} off"] * bool(s.off)
    moved = f" Moved: {'; '.join(moves)}." if moves else ""
    return f"{', '.join(parts)}: {outcome(study)}.{moved}"


def _what_is_found(study: TwinStudy) -> str:
    """What `align` says, and why Theorem H is silent where it is."""
    found = study.found
    if not isinstance(found, str):
        orders = [", ".join(str(k + 1) for k in order) for order in found.heads]
        heads = "; ".join(f"layer {i}, heads {order}" for i, order in enumerate(orders, start=1))
        return f"align finds them again: {heads}."
    silent = f" Theorem H is silent: {study.failing[0]}." if study.failing else ""
    return f"align refuses: {found}.{silent}"
