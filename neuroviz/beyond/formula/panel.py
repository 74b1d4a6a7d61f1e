"""Find the formula yourself: type one, and see at once at which network it is wrong."""

from html import escape

import ipywidgets as widgets
import traitlets

from neuroviz.beyond.formula.families import FAMILIES
from neuroviz.beyond.formula.family import FamilySetting, FamilyStudy, study_family
from neuroviz.beyond.formula.guess import formula_parts
from neuroviz.beyond.formula.value import NAMES, FormulaError
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.plot import Parts

_MOST_HINTS = max(len(family.hints) for family in FAMILIES.values())
_LANGUAGE = (
    "Type a formula for the dimension and press Enter. Letters: d width, a head dimension, t tokens, l "
    "layers, H heads; 2ad is 2·a·d. Also + − · / // ^ ², min, max, pos(x) = max(x, 0), and α(a, d), which is "
    "a(2d − a) up to a = d, then d². Families ① and ② come with hints."
)

_WIDTHS = {"formula": ("560px", "600px"), "hints": ("280px", "300px"), "known": ("200px", "240px")}


class HintButton(widgets.Button):
    """A button with a value, the number of hints shown so far, so that a state can hold it."""

    value = traitlets.Int(0)
    min, max = 0, _MOST_HINTS

    def __init__(self, **kwargs: object) -> None:
        super().__init__(**kwargs)
        self.on_click(lambda _: setattr(self, "value", min(self.value + 1, self.max)))


def _height() -> float:
    """Of the figure: in a lecture lower than others, as there are words above it and 720 pixels for all."""
    return theme.size("height") - 44 * (theme.size("base") > 14)


class FormulaExplorer(Panel):
    """Propose a formula for the dimensions of a family of networks, which are measured, and see it fail.

    The panel keeps the counterexamples that it has met, and a new formula meets them first. Two families
    are guided discoveries: their hints lead to the answer one by one.

    Controls: family, formula, along (the letter on the axis), hints (a button: one more), known (show the
    known formula with its status); under "More": met (the counterexamples so far, such as d3a1l2), seed.
    See `Panel` for what all panels share.

    >>> panel = FormulaExplorer(state="family=skip;formula=l(α(a, d) + d²)")
    >>> panel.description.split(".")[0]
    'Lightning with skips: your formula is wrong at 36 of 36 networks'
    >>> panel.controls["met"].value
    'd1a1l1'
    """

    title = "Find the formula yourself"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        first = {
            "family": widgets.Dropdown(
                options=[(family.title, name) for name, family in FAMILIES.items()], description="family"
            ),
            "formula": widgets.Text(
                value="2ad + d²",
                placeholder="such as 2ad + d²",
                description="dimension =",
                tooltip="a formula in d, a, t, l, H; press Enter to try it",
                continuous_update=False,
            ),
            "along": widgets.Dropdown(
                options=[(f"{letter}: {name}", letter) for letter, name in NAMES.items()],
                description="along the axis",
            ),
            "hints": HintButton(description="Hint", tooltip="show one more hint of this discovery"),
            "known": widgets.ToggleButton(
                value=False, description="Show what is known", tooltip="the known formula and its status"
            ),
        }
        more = {
            "met": widgets.Text(
                value="",
                placeholder="such as d3a1, d2a2",
                description="counterexamples",
                tooltip="networks that earlier formulas failed at: a new one meets them first",
                continuous_update=False,
            ),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        # Before the shell hears of it: then it reads what fits to the new family.
        first["family"].observe(self._on_family, names="value")
        return first, more

    def _lay_out(self, *args: object, **kwargs: object) -> list[widgets.Widget]:
        rows = super()._lay_out(*args, **kwargs)
        large = theme.size("base") > 14
        for name, widths in _WIDTHS.items():
            self.controls[name].layout.width = widths[large]
        room = round((2.8 if large else 4) * theme.size("base"))  # two lines or three: an error moves nothing
        self._said_html = widgets.HTML(layout={"width": "100%", "margin": "0", "min_height": f"{room}px"})
        self._box.layout.height = f"{_height() + 4:.0f}px"
        return [*rows[:4], self._said_html, *rows[4:]]  # below the controls, above the figure

    def _on_family(self, change: dict) -> None:
        """Counterexamples, hints and answers are of one family; a letter that it does not vary gives way."""
        varies = FAMILIES[change["new"]].varies
        along = self.controls["along"].value
        along = along if along in varies else varies[-1]
        self._assign({"along": along, "hints": 0, "known": False, "met": ""})

    def _assign(self, values: dict[str, object]) -> None:
        # The family first: it takes back what belonged to another one.
        super()._assign({name: values[name] for name in self.controls if name in values})

    def _arrange(self) -> None:
        hints, button = FAMILIES[self.controls["family"].value].hints, self.controls["hints"]
        shown = min(button.value, len(hints))
        button.disabled = shown == len(hints)
        left = f"Hint {shown + 1} of {len(hints)}" if shown < len(hints) else "That was the last hint"
        button.description = left if hints else "No hints here: take ① or ②"

    def _read(self) -> FamilySetting:
        value = {name: control.value for name, control in self.controls.items()}
        return FamilySetting(
            value["family"],
            value["formula"],
            value["along"],
            FAMILIES[value["family"]].find(value["met"]),
            value["known"],
            value["seed"],
        )

    _answer = staticmethod(study_family)

    @staticmethod
    def draw(answer: FamilyStudy) -> Parts:
        """The picture, in the height that its controls leave."""
        parts = formula_parts(answer)
        return Parts(parts.traces, parts.layout | {"height": _height()})

    def _badge(self, answer: FamilyStudy) -> str:
        prime = f"{answer.verdicts[0].measured.prime:,}".replace(",", " ")
        badges = theme.badge("exact", f"{len(answer.verdicts)} networks mod {prime}")
        if not answer.wrong:
            badges += theme.badge("observed", f"your formula, {len(answer.verdicts)} networks")
        if answer.known:
            expected = answer.known.expected
            source = expected.source if expected.status != "no formula" else ""
            badges += theme.badge(expected.status, f"what is known{f', {source}' if source else ''}")
        return badges

    def _say(self, answer: FamilyStudy, started: float | None) -> None:
        # Remembered in a control, so that a state holds it, and before the shell writes the state.
        self._assign({"met": ", ".join(answer.family.key_of(verdict.sizes) for verdict in answer.remembered)})
        super()._say(answer, started)
        self._said_html.value = _polite(self._hint() or _LANGUAGE)

    def _hint(self) -> str:
        """The newest hint; empty where none is shown."""
        hints, value = FAMILIES[self.controls["family"].value].hints, self.controls["hints"].value
        shown = min(value, len(hints))
        return f"Hint {shown} of {len(hints)}. {hints[shown - 1]}" if shown else ""

    def _fail(self, error: Exception) -> None:
        if isinstance(error, FormulaError):
            with theme.using(self._theme):
                size = theme.size("base")
            # Beside the text box for the eye, which needs letters of one width; the status line is read out.
            pointed = (
                '<pre class="nv-error" aria-hidden="true" style="margin:0;padding:2px 6px;line-height:1.2;'
                f'font-size:{size}px">{escape(str(error))}</pre>'
            )
            hint = self._hint()
            self._said_html.value = pointed + (_polite(hint) if hint else "")
            error = ValueError(f"character {error.place + 1}: {error.message}")
        super()._fail(error)

    def _describe(self, answer: FamilyStudy) -> str:
        family, first, count = answer.family, answer.first, len(answer.verdicts)
        name = family.title.lstrip("①② ")
        name = name[:1].upper() + name[1:]
        if first:
            parts = [
                f"{name}: your formula is wrong at {len(answer.wrong)} of {count} networks.",
                f"First at {family.name_of(first.sizes)}: you say {first.proposed}, measured "
                f"{first.measured.value}.",
            ]
        else:
            parts = [
                f"{name}: your formula says what is measured at all {count} networks.",
                "That is evidence and no proof: it is observed, on these networks.",
            ]
        if answer.known:
            known = answer.known
            said = f"{known.formula} ({known.expected.status}): " if known.formula else ""
            parts.append(f"What is known: {said}{known.expected.note}.")
        if answer.setting.axis != answer.setting.along:
            letter, axis = answer.setting.along, answer.setting.axis
            value = answer.verdicts[0].sizes.values[letter]
            parts.append(f"{letter} is {value} in this whole family, so the axis runs over {axis}.")
        return " ".join(parts)


def _polite(text: str) -> str:
    return f'<div class="nv-said" aria-live="polite" style="white-space:normal">{escape(text)}</div>'
