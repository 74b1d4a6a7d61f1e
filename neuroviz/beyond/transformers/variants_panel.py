"""What each switch of a transformer's layer does to its ledger."""

import re

from neuroviz.beyond.transformers.variants import VariantSetting, VariantStudy, costs, effects, study_variants
from neuroviz.beyond.transformers.variants_figure import variants_parts
from neuroviz.engine.ledger import KernelLedger
from neuroviz.kit.badges import measured_badge, theory_badge
from neuroviz.kit.controls import write_control
from neuroviz.kit.panel import Panel


class VariantsExplorer(Panel):
    """Switch heads, skips, masks and MLPs on and off, and see which directions of the weights do nothing.

    Parameters, less what each family of symmetries costs, is the dimension; the thin bars are those of the
    network before the last switch, which `before` names. Controls: see `VariantSetting`.

    >>> panel = VariantsExplorer()
    >>> panel.controls["skip"].value = True
    >>> panel.controls["before"].value
    'skip=no'
    """

    title = "Which switch frees which directions?"
    setting, draw = VariantSetting, staticmethod(variants_parts)
    _answer = staticmethod(study_variants)

    def _restore(self, text: str) -> object:
        # A state of the time when heads could be blended opens without that place.
        return super()._restore(re.sub(r"(^|;)\s*blend=[^;]*", "", text) if isinstance(text, str) else text)

    def _on_change(self, change: dict) -> None:
        (name,) = [name for name, control in self.controls.items() if control is change["owner"]]
        if not self._quiet and name not in ("before", "seed"):
            self._assign({"before": f"{name}={write_control(change['old'])}"})
        super()._on_change(change)

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        idle = {"mlp": value["layers"] == 1, "rotary": value["head_dim"] % 2 == 1}
        idle["hidden"] = idle["power"] = idle["mlp"] or not value["mlp"]
        idle["shared"] = value["value_dim"] == "full" or value["heads"] == 1
        for name, disabled in idle.items():
            self.controls[name].disabled = disabled

    def _badge(self, answer: VariantStudy) -> str:
        return measured_badge(answer.ledger.measured) + theory_badge(answer.expected, answer.ledger.dimension)

    def _describe(self, answer: VariantStudy) -> str:
        sentences, toggle = [_say_ledger(answer.ledger)], answer.setting.toggle
        if answer.before:
            did = "; ".join(effects(answer.before, answer.ledger))
            sentences.append(f"{toggle[0].upper()}{toggle[1:]}: {did}.")
        return " ".join([*sentences, *answer.setting.ignored])


def _say_ledger(ledger: KernelLedger) -> str:
    parts = [f"{name} {count}" for name, count in costs(ledger).items() if count]
    if ledger.unexplained:
        parts.append(f"{ledger.unexplained} unexplained: {ledger.note}")
    idle = ledger.parameters - ledger.dimension
    are = "direction is" if idle == 1 else "directions are"
    costly = f" ({'; '.join(parts)})" if parts else ""
    return (
        f"{ledger.arch}: {ledger.parameters} parameters; {idle} {are} silent{costly}; "
        f"dimension {ledger.dimension} (exact, wrong with chance ≤ {ledger.error_bound:.0e})."
    )
