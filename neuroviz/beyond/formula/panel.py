"""Find the formula yourself: type one, and see at once at which network it is wrong."""

import re

import ipywidgets as widgets

from neuroviz.beyond.formula.families import FAMILIES
from neuroviz.beyond.formula.family import FamilySetting, FamilyStudy, study_family
from neuroviz.beyond.formula.figure import formula_parts
from neuroviz.kit import theme
from neuroviz.kit.badges import exact_badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.settings import Controls

_LANGUAGE = (
    "Type a formula as Python writes it, and press Enter: d width, a head dimension, t tokens, l layers, H "
    "heads, with + - * / // **, min, max, x if … else y, and alpha(a, d), which is a*(2*d - a) up to a = d, "
    "then d**2. Families ① and ② come with hints."
)


class FormulaExplorer(Panel):
    """Propose a formula for the dimensions of a family of networks, which are measured, and see it fail.

    Two families are guided discoveries: their hints lead to the answer one by one. Controls: see
    `FamilySetting`.

    >>> panel = FormulaExplorer(state="family=skip;formula=l*(alpha(a, d) + d**2)")
    >>> panel.description.split(".")[0]
    'Lightning with skips: your formula is wrong at 36 of 36 networks'
    """

    title = "Find the formula yourself"
    setting, draw = FamilySetting, staticmethod(formula_parts)
    _answer = staticmethod(study_family)

    def _make_controls(self) -> tuple[Controls, Controls]:
        first, more = super()._make_controls()
        # Before the shell hears of it: then it reads what fits to the new family.
        first["family"].observe(self._on_family, names="value")
        return first, more

    def _lay_out(self, *args: object, **kwargs: object) -> list[widgets.Widget]:
        rows = super()._lay_out(*args, **kwargs)
        self.controls["formula"].layout.width = "600px"
        return rows

    def _on_family(self, change: dict) -> None:
        """Hints and answers are of one family; a letter that it does not vary gives way."""
        varies, along = FAMILIES[change["new"]].varies, self.controls["along"].value
        along = along if along in varies else varies[-1]
        self._assign({"along": along, "hints": 0, "known": False})

    def _assign(self, values: dict[str, object]) -> None:
        # The family first: it takes back what belonged to another one.
        super()._assign({name: values[name] for name in self.controls if name in values})

    def _restore(self, text: str) -> object:
        # A state of the time when counterexamples were remembered opens without them.
        return super()._restore(re.sub(r"(^|;)\s*met=[^;]*", "", text) if isinstance(text, str) else text)

    def _arrange(self) -> None:
        self.controls["hints"].disabled = not FAMILIES[self.controls["family"].value].hints

    def _badge(self, answer: FamilyStudy) -> str:
        count, prime = len(answer.verdicts), answer.verdicts[0].measured.prime
        badges = exact_badge(f"{count} networks", prime)
        if not answer.wrong:
            badges += theme.badge("observed", f"your formula, {count} networks")
        if known := answer.expected:
            source = f", {known.source}" if known.source and known.status != "no formula" else ""
            badges += theme.badge(known.status, f"what is known{source}")
        return badges

    def _describe(self, answer: FamilyStudy) -> str:
        family, first, setting = answer.family, answer.first, answer.setting
        title, count = family.title.lstrip("①② "), len(answer.verdicts)
        name = title[:1].upper() + title[1:]
        parts = [
            f"{name}: your formula says what is measured at all {count} networks.",
            "That is evidence and no proof: it is observed, on these networks.",
        ]
        if first:
            parts = [
                f"{name}: your formula is wrong at {len(answer.wrong)} of {count} networks.",
                f"First at {family.name_of(first.sizes)}: you say {first.proposed}, measured "
                f"{first.measured.value}.",
            ]
        if shown := min(setting.hints, len(family.hints)):
            parts.append(f"Hint {shown} of {len(family.hints)}: {family.hints[shown - 1]}")
        if known := answer.expected:
            said = f"{family.known} ({known.status}): " if family.known else ""
            parts.append(f"What is known: {said}{known.note}.")
        if setting.axis != setting.along:
            value = answer.verdicts[0].sizes.values[setting.along]
            parts.append(
                f"{setting.along} is {value} in this whole family, so the rows are of {setting.axis}."
            )
        return " ".join([*parts, *[_LANGUAGE] * (not shown)])
