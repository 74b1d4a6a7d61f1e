"""One softmax layer gives its weights away: Theorem 3.9 as a walk that the reader takes."""

import ipywidgets as widgets
import numpy as np

from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, percent, signed, tiny
from neuroviz.softmax.one_layer_figure import one_layer_parts
from neuroviz.softmax.one_layer_probe import gap_text
from neuroviz.softmax.one_layer_probes import relative_error
from neuroviz.softmax.one_layer_read import ROUGH
from neuroviz.softmax.one_layer_study import OneLayerSetting, OneLayerStudy, study_one_layer

_STEPS = [
    ("1 · one token on: V", "V"),
    ("2 · one token on: xᵀAx", "one token"),
    ("3 · two tokens on: yᵀAx", "two tokens"),
    ("4 · the lightning limit", "limit"),
]
_LENGTHS = [("to suit τ", "fitted"), ("1", "one")]


class OneLayerExplorer(Panel):
    """Switch on one token, then two, and read V and A off what comes out of a softmax layer.

    Left, what is put in, what comes out, and how one token attends; in the middle the equation with its
    numbers; right, the weights as they are read, entry by entry, above the true ones. The last step lets τ
    grow.

    Controls: step, part (how much of the step is done), log_temperature (log₁₀ τ), size (of V; 0 for V = 0),
    length (of the tokens); under "More": width (d), head_dim (a), out (d'), tokens (t; 1 hides A), seed. See
    `Panel` for what all panels share.

    >>> panel = OneLayerExplorer()
    >>> panel.controls["step"].value = "two tokens"
    >>> "9 of 9 entries of A" in panel.description
    True
    """

    title = "One softmax layer gives its weights away"

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=1, max=most, description=label)

        def real(label: str, value: float, least: float, most: float, step: float) -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=least, max=most, step=step, description=label, readout_format=".2f"
            )

        first = {
            "step": widgets.Dropdown(options=_STEPS, description="step"),
            "part": real("part done", 1.0, 0.05, 1.0, 0.05),
            "log_temperature": real("log₁₀ τ", 0.0, -2.0, 2.0, 0.1),
            "size": real("size of V", 1.0, 0.0, 2.0, 0.1),
            "length": widgets.Dropdown(options=_LENGTHS, description="token length"),
        }
        more = {
            "width": whole("width d", 3, 4),
            "head_dim": whole("head dim. a", 2, 4),
            "out": whole("width d′", 2, 4),
            "tokens": whole("tokens t", 3, 5),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        in_limit = self.controls["step"].value == "limit"
        self.controls["part"].disabled = self.controls["length"].disabled = in_limit

    def _read(self) -> OneLayerSetting:
        value = {name: control.value for name, control in self.controls.items()}
        fitted = value.pop("length") == "fitted"
        # A slider of step 0.05 stops at 0.9500000000000001.
        rounded = {name: round(value.pop(name), 6) for name in ("part", "log_temperature", "size")}
        return OneLayerSetting(fitted=fitted, **rounded, **value)

    _answer = staticmethod(study_one_layer)

    draw = staticmethod(one_layer_parts)

    def _badge(self, answer: OneLayerStudy) -> str:
        exact, s = answer.exact, answer.setting
        back = exact.equal_V + exact.equal_A
        prime = grouped(exact.powers.over.p)
        measured = theme.badge("exact", f"{back} of {exact.V.size + exact.A.size} mod {prime}")
        if s.step == "limit":
            return theme.badge("proved here", "Small weights")
        if s.tokens == 1:
            return theme.badge("outside hypotheses", "Thm. 3.9") + measured
        # The theorem says what happens for V = 0 as well: V is determined, and A is not.
        return theme.badge("proved", "Thm. 3.9" if answer.V.any() else "Thm. 3.9, V = 0") + measured

    def _describe(self, answer: OneLayerStudy) -> str:
        if answer.setting.step == "limit":
            return _say_limit(answer)
        return " ".join(filter(None, (_say_known(answer), _say_length(answer), _say_exact(answer))))


def _say_known(study: OneLayerStudy) -> str:
    s, reading = study.setting, study.reading
    if s.step != "V" and not study.V.any():
        return (
            f"V = 0: {study.step.dies}, so nothing about A can be read. A random A gives the same outputs; "
            f"they differ by {tiny(study.read.mismatch)}."
        )
    if s.step != "V" and s.tokens == 1:
        return (
            f"t = 1: {study.step.dies}, so A is invisible. A random A gives the same outputs; they differ by "
            f"{tiny(study.read.mismatch)}."
        )
    way = {
        "V": "A token 0 looks everywhere alike, so its column is the mean of the Vx.",
        "one token": "The first column is a share of Vx, and the share tells xᵀAx.",
        "two tokens": "The first column lies between Vx, Vy and 0, and its place tells yᵀAx.",
    }[s.step]
    if s.step == "V" and s.tokens == 1:
        way = "One token attends to itself alone, so the output is Vx."
    error = reading.error
    close = "" if error is None else f", largest error {tiny(error)}"
    are = "were read" if error is None or error > ROUGH else "are known"
    entries = f"{reading.known} of {reading.found.size} entries of {reading.name}"
    inputs = f"{study.count} input{'' if study.count == 1 else 's'}"
    return f"{way} {entries} {are} after {inputs}{close}."


def _say_length(study: OneLayerStudy) -> str:
    s, read = study.setting, study.read
    if s.step == "V" or s.tokens == 1 or not study.V.any():
        return ""
    tau = f"τ = {study.setting.temperature:.3g}"
    if s.fitted:
        return f"At {tau} tokens of length {signed(read.scale, 4)} keep the attention neither sharp nor flat."
    lost = int(np.isnan(read.A).sum())
    if lost:
        return (
            f"At {tau} tokens of length 1 make the attention so sharp that rounding hides {lost} entries of "
            "A: choose their length to suit τ."
        )
    error = relative_error(read.A, study.A)
    return (
        f"At {tau} tokens of length 1 give A to {tiny(error)}; the length that suits τ does better."
        if error > 1e-12
        else ""
    )


def _say_exact(study: OneLayerStudy) -> str:
    exact = study.exact
    return (
        f"Modulo a prime, with whole weights and powers of {exact.powers.base} in place of exp, the same "
        f"walk gives back {exact.equal_V} of {exact.V.size} entries of V and {exact.equal_A} of "
        f"{exact.A.size} of A, exactly."
    )


def _say_limit(study: OneLayerStudy) -> str:
    limit, here = study.limit, study.limit.here
    tau = f"τ = {here.temperature:.3g}"
    if not study.V.any():
        return "V = 0: the function is 0 at every temperature."
    if study.setting.tokens == 1:
        return "t = 1: the only token attends to itself at every temperature, and φ(x) = Vx."
    slopes, falls = (limit.mean_slope, limit.first_slope), "these gaps fall into rounding"
    if None not in slopes:
        falls = "these gaps fall with slopes {:.2f} and {:.2f}".format(*slopes)
        if round(limit.first_slope) == 3:
            falls += " (one more than promised: with two tokens softmax is odd around ½)"
    return (
        f"At {tau} the outputs are {percent(here.mean_gap)} off the mean of the Vx, and "
        f"{gap_text(here.first_gap)} off the mean plus a lightning layer on centred tokens. As τ grows "
        f"{falls}. The rescaling (2A, V/2), a symmetry of "
        f"lightning, still moves φ by {percent(here.rescaled_gap)}: the mean knows V."
    )
