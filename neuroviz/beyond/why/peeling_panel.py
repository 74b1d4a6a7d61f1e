"""Why the formula for lightning is true: at an antisymmetric M₁ the first layer peels off."""

import ipywidgets as widgets

from neuroviz.beyond.why.peeling import PeelSetting, PeelStudy, study_peel
from neuroviz.beyond.why.peeling_figure import peel_parts
from neuroviz.beyond.why.peeling_plane import number
from neuroviz.beyond.why.peeling_spectra import END_NAMES
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped

_ENDS = [
    ("antisymmetric", "antisymmetric"),
    ("symmetric, rank one", "symmetric"),
    ("rank one", "rank-one"),
]


class PeelExplorer(Panel):
    """Slide M₁ towards an antisymmetric matrix, and count the directions of the weights that do nothing.

    Left, two tokens in their plane, before and after the first layer. Right, the singular values of the
    derivative in (L, M₁, …, M_l) on the way, beside those of the network without its first layer; below, the
    kernels, counted exactly.

    Controls: place (s, from a random M₁ to the end of the way), end, layers, angle (of x₂); under "More":
    length (of x₂), width (d₀), seed. See `Panel` for what all panels share.

    >>> panel = PeelExplorer()
    >>> panel.controls["place"].value = 1.0
    >>> "a quarter turn" in panel.description
    True
    """

    title = "Why is it true? Peel off the first layer"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int, step: int = 1) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, step=step, description=label)

        def real(label: str, value: float, least: float, most: float) -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=least, max=most, step=0.05, description=label, readout_format=".2f"
            )

        first = {
            "place": real("way s of M₁", 0.6, 0.0, 1.0),
            "end": widgets.Dropdown(options=_ENDS, description="M₁ at s = 1"),
            "layers": whole("layers l", 3, 1, 4),
            "angle": whole("angle of x₂", 65, -180, 180, step=5),
        }
        more = {
            "length": real("length of x₂", 0.9, 0.2, 1.2),
            "width": whole("width d₀", 2, 2, 3),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _read(self) -> PeelSetting:
        value = {name: control.value for name, control in self.controls.items()}
        # A slider of step 0.05 stops at 0.9500000000000001.
        place, length = (round(value.pop(name), 6) for name in ("place", "length"))
        return PeelSetting(place=place, length=length, **value)

    _answer = staticmethod(study_peel)

    draw = staticmethod(peel_parts)

    def _badge(self, answer: PeelStudy) -> str:
        prime = grouped(answer.here.prime)
        measured = theme.badge("exact", f"kernel {answer.here.kernel} mod {prime}")
        applies = answer.setting.end == "antisymmetric"
        return measured + theme.badge("proved here" if applies else "outside hypotheses", "Peel lemma")

    def _describe(self, answer: PeelStudy) -> str:
        return " ".join((_say_place(answer), _say_tokens(answer), _say_kernels(answer), _say_lesson(answer)))


def _say_place(study: PeelStudy) -> str:
    s = study.setting
    layers = f"{s.layers} lightning layer{'s' if s.layers > 1 else ''}"
    name = END_NAMES[s.end]
    where = {0: "M₁ is random", 1: f"M₁ = {name}"}.get(
        s.place, f"M₁ is {100 * s.place:.4g} % on the way to {name}"
    )
    return f"{layers}, d₀ = {s.width}: {where}."


def _say_tokens(study: PeelStudy) -> str:
    s, share = study.setting, study.turn_share
    if share is None:
        return "The two tokens lie on one line, Δ = 0, and layer 1 sends both to 0."
    if s.place == 1 and s.end == "antisymmetric":
        return (
            f"Layer 1 multiplies by Δ = {number(study.turn)}, the area between the tokens, and makes a "
            "quarter turn: x₁ goes to −Δ x₂, x₂ to Δ x₁."
        )
    if s.place == 1:
        return "Layer 1 puts both tokens on one line."
    return f"Of what layer 1 does, {100 * share:.0f} % is a scale and a quarter turn."


def _say_kernels(study: PeelStudy) -> str:
    here, end, tail = study.here.kernel, study.at_end.kernel, study.tail.kernel
    do = "direction does" if here == 1 else "directions do"
    return (
        f"Of {study.here.num_columns} entries of L and the M, {here} {do} nothing here (exact, "
        f"{_how_sure(study)}); {end} at s = 1; {tail} in the network without layer 1."
    )


def _how_sure(study: PeelStudy) -> str:
    bound = study.here.error_bound
    return "a proof: the rescalings are always there" if bound == 0 else f"wrong with chance ≤ {bound:.0e}"


def _say_lesson(study: PeelStudy) -> str:
    s, end, tail = study.setting, study.at_end.kernel, study.tail.kernel
    if s.end == "antisymmetric" and study.splits:
        return (
            f"{end} = 1 + {tail}: the rescaling of M₁, and what the rest does not notice. A kernel can only "
            f"be larger at a special place, so a random M₁ leaves at most {end}; the {s.layers} "
            f"rescaling{'s' if s.layers > 1 else ''} make it exactly {end}."
        )
    if s.end == "antisymmetric":
        return f"The lemma says 1 + {tail}: they DISAGREE."
    if study.splits:
        return "Here the count is the same, by Lemma A.3: a single layer has nothing after it to hide."
    return (
        f"That is {end - 1 - tail} more than 1 + {tail}: parallel tokens hide the antisymmetric parts of the "
        "later M. The lemma needs an antisymmetric M₁, and this end of the way proves nothing."
    )
