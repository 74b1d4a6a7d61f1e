"""Theorem A under the reader's hands: free the exponentials, freeze the layers, count what is left."""

from collections.abc import Iterable

import ipywidgets as widgets

from neuroviz.beyond.proof.immersion import (
    MOST_LAYERS,
    Hidden,
    ImmersionSetting,
    ImmersionStudy,
    study_immersion,
)
from neuroviz.beyond.proof.immersion_figure import immersion_parts
from neuroviz.kit import theme
from neuroviz.kit.panel import Panel
from neuroviz.kit.words import grouped, numbered, tiny

_MODES = [
    ("as it is", "true"),
    ("free: μ, ν below", "free"),
    ("frozen: P = Q = 0", "frozen"),
    ("collapsed: PQ = 1", "collapsed"),
]
_LAYERS = range(1, MOST_LAYERS + 1)
_EXPERIMENTS = [
    ("all as they are", "as-they-are"),
    ("all frozen", "frozen"),
    *((f"only layer {i} free", f"only-{i}") for i in _LAYERS),
    ("my own", "own"),
]
_SHARE = 0.3  # where the sliders of μ and ν begin


class ProofExplorer(Panel):
    """Make the experiments of Theorem A: which directions of the weights does each of them show?

    Left, two tokens on their line, layer by layer. Right, what the experiments of the proof leave hidden of
    L and the M, counted exactly, beside the whole derivative and the reader's own setting; below, the
    singular values with the true exponentials.

    Controls: experiment (one of the proof, or "my own"), layers, symmetric (a factor of the symmetric part of
    M_k; under a mask of M_k), then for each layer mode_i (in "my own") and the shares mu_i, nu_i (where it is
    free), each shown where it has a say; under "More": weak_layer (k), size (of L), causal (Theorem A′),
    width (d₀), copies (of x₂), seed. See `Panel` for what all panels share.

    >>> panel = ProofExplorer()
    >>> panel.controls["symmetric"].value = 0.0
    >>> "4 of 12 directions" in panel.description
    True
    """

    title = "Theorem A: freeze all layers but one"

    def __init__(self, *, only: Iterable[str] | None = None, state: str | None = None) -> None:
        self._hides = only is None  # with `only`, what was asked for stays where it is
        super().__init__(only=only, state=state)

    def _make_controls(self) -> tuple[dict[str, widgets.Widget], dict[str, widgets.Widget]]:
        def whole(label: str, value: int, least: int, most: int) -> widgets.IntSlider:
            return widgets.IntSlider(value=value, min=least, max=most, description=label)

        def part(label: str, value: float) -> widgets.FloatSlider:
            return widgets.FloatSlider(
                value=value, min=0, max=1, step=0.05, description=label, readout_format=".2f"
            )

        first: dict[str, widgets.Widget] = {
            "experiment": widgets.Dropdown(options=_EXPERIMENTS, description="experiment"),
            "layers": whole("layers l", 2, 1, MOST_LAYERS),
            "symmetric": part("Sym M₁ times", 1.0),
        }
        for i in _LAYERS:
            first |= {
                f"mode_{i}": widgets.Dropdown(options=_MODES, description=f"layer {i}"),
                f"mu_{i}": part(f"{numbered('μ', i)}, by {numbered('P', i)}", _SHARE),
                f"nu_{i}": part(f"{numbered('ν', i)}, by {numbered('Q', i)}", _SHARE),
            }
        more = {
            "weak_layer": whole("weak layer k", 1, 1, MOST_LAYERS),
            "size": part("L times", 1.0),
            "causal": widgets.Checkbox(value=False, description="causal mask", indent=True),
            "width": whole("width d₀", 2, 1, 3),
            "copies": whole("copies m of x₂", 1, 1, 4),
            "seed": widgets.BoundedIntText(value=0, min=0, max=10**6, description="seed"),
        }
        return first, more

    def _arrange(self) -> None:
        value = {name: control.value for name, control in self.controls.items()}
        modes, causal, k = _modes(value), value["causal"], value["weak_layer"]
        for i in _LAYERS:
            here = i <= value["layers"]
            free = here and modes[i - 1] == "free"
            self._give_say(f"mode_{i}", here and value["experiment"] == "own")
            self._give_say(f"mu_{i}", free and not causal)
            self._give_say(f"nu_{i}", free)
        self.controls["symmetric"].description = f"{'' if causal else 'Sym '}{numbered('M', k)} times"
        self.controls["symmetric"].disabled = k > value["layers"]
        self.controls["copies"].disabled = causal

    def _give_say(self, name: str, says: bool) -> None:
        """Enable a control, or disable and hide it."""
        control = self.controls[name]
        control.disabled = not says
        if self._hides:
            control.layout.display = None if says else "none"

    def _read(self) -> ImmersionSetting:
        # A slider of step 0.05 stops at 0.35000000000000003.
        value = {
            name: round(control.value, 6) if isinstance(control.value, float) else control.value
            for name, control in self.controls.items()
        }
        layers = value["layers"]
        return ImmersionSetting(
            modes=tuple(_modes(value)[:layers]),
            freed=tuple((value[f"mu_{i}"], value[f"nu_{i}"]) for i in range(1, layers + 1)),
            width=value["width"],
            copies=1 if value["causal"] else value["copies"],
            causal=value["causal"],
            weak_layer=value["weak_layer"],
            symmetric=value["symmetric"],
            size=value["size"],
            seed=value["seed"],
        )

    _answer = staticmethod(study_immersion)

    draw = staticmethod(immersion_parts)

    def _badge(self, answer: ImmersionStudy) -> str:
        setting, found = answer.setting, answer.everything
        prime = grouped(found.measured.prime)
        measured = theme.badge("exact", f"kernel {found.kernel} mod {prime}")
        theorem = "Theorem A′" if setting.causal else "Theorem A"
        return measured + theme.badge("proved here" if setting.holds else "outside hypotheses", theorem)

    def _describe(self, answer: ImmersionStudy) -> str:
        says = (_say_here, _say_step, _say_proof, _say_check)
        parts = [say(answer) for say in says]
        wanted, layers = self.controls["experiment"].value, answer.setting.layers
        if wanted.startswith("only-") and int(wanted.removeprefix("only-")) > layers:
            there = "is only layer 1" if layers == 1 else f"are only layers 1 to {layers}"
            parts.insert(0, f"There is no layer {wanted.removeprefix('only-')} to free: there {there}.")
        return " ".join(filter(None, parts))


def _modes(value: dict[str, object]) -> list[str]:
    """What is done to layers 1 to 4, from the values of the controls."""
    experiment = value["experiment"]
    if experiment == "own":
        return [value[f"mode_{i}"] for i in _LAYERS]
    if experiment.startswith("only-"):
        return ["free" if experiment == f"only-{i}" else "frozen" for i in _LAYERS]
    return ["frozen" if experiment == "frozen" else "true"] * MOST_LAYERS


def _say_setting(study: ImmersionStudy) -> str:
    s = study.setting
    layers = f"{s.layers} {'causal ' if s.causal else ''}softmax layer{'s' if s.layers > 1 else ''}"
    copies = f", the second {s.copies} times" if s.copies > 1 else ""
    missing = f" (and no layer {s.weak_layer} to weaken)" if s.weak_layer > s.layers else ""
    return f"{layers} on two tokens{copies}, d₀ = {s.width}{missing}"


def _say_step(study: ImmersionStudy) -> str:
    """The step of the proof that this setting is, with its status."""
    s, tied = study.setting, study.setting.tied_layer
    if tied is not None and s.modes[tied - 1] != "true":
        return f"Layer {tied} cannot be set: {_relation(study)} whatever the tokens are."
    if not s.holds:
        return ""
    if set(s.modes) == {"true"}:
        return (
            "Step 1 (proved here, with Ax 1971): what does nothing for e^p, e^q does nothing for free P, Q."
        )
    if set(s.modes) == {"frozen"}:
        return "Step 3 (proved here): with every S = I the network is LX, so L must not move."
    if s.modes.count("free") == 1 and s.modes.count("frozen") == s.layers - 1:
        i = s.modes.index("free") + 1
        if study.here.blocks[i] == 0:
            return (
                f"Steps 2 and 4 (proved here): only layer {i} acts, L does not move and Lδ ≠ 0, "
                f"so {numbered('M', i)} must not move either."
            )
        return f"These P, Q hide {numbered('M', i)}: μ(1 − μ) and ν(1 − ν) are 0."
    return ""


def _say_here(study: ImmersionStudy) -> str:
    hidden, columns = study.here, study.here.measured.num_columns
    do = "does" if hidden.kernel == 1 else "do"
    names = [numbered("M", block) if block else "L" for block, size in enumerate(hidden.blocks) if size]
    whose = f", in {' and '.join(names)}" if names and not hidden.mixed else ""
    return (
        f"{_say_setting(study)}: as set, {hidden.kernel} of {columns} directions {do} nothing{whose} "
        f"(exact, {_how_sure(hidden)})."
    )


def _how_sure(hidden: Hidden) -> str:
    bound = hidden.measured.error_bound
    return "a full rank mod p proves it" if bound == 0 else f"wrong with chance ≤ {tiny(bound)}"


def _say_proof(study: ImmersionStudy) -> str:
    s, left, tied = study.setting, study.everything.kernel, study.setting.tied_layer
    theorem = "Theorem A′" if s.causal else "Theorem A"
    if s.holds:
        chain = ", ".join(str(one.so_far.kernel) for one in study.experiments)
        if left == study.left.kernel == 0:
            return (
                f"The experiments of the proof, one after the other, leave {chain}: no direction does "
                f"nothing in all of them, so none does nothing at all ({theorem}, proved here)."
            )
        return f"The experiments leave {chain}, the derivative {left}: {theorem} DISAGREES."
    do = "direction does" if left == 1 else "directions do"
    if s.size == 0:
        return f"L = 0 makes every output 0, whatever the M are: {left} {do} nothing in the whole derivative."
    why = f"{_hypothesis(study)} forces {_relation(study)}: layer {tied} cannot be frozen"
    if left == 0 and s.causal:
        return f"{why}, and the argument breaks here; the conclusion holds all the same: kernel 0 (exact)."
    if left == 0:
        return f"{why}; but no layer comes after it, and nothing is left all the same: kernel 0 (exact)."
    # With t ≥ 3 tokens there are inputs that this count does not see.
    where = "at all" if s.copies == 1 else "on inputs with two different tokens"
    return f"{why}, its tokens meet, and all later layers are blind: {left} {do} nothing {where} (exact)."


def _hypothesis(study: ImmersionStudy) -> str:
    """The hypothesis that fails, on a layer."""
    M = numbered("M", study.setting.tied_layer)
    return f"{M} = 0" if study.setting.causal else f"Sym {M} = 0"


def _relation(study: ImmersionStudy) -> str:
    """What ties the exponentials of that layer."""
    tied = study.setting.tied_layer
    return f"{'' if study.setting.causal else numbered('P', tied)}{numbered('Q', tied)} = 1"


def _say_check(study: ImmersionStudy) -> str:
    found, exact = study.spectrum, study.everything.measured.value
    if not found.decided:
        return f"Floating point cannot decide here: it reads rank {found.value}, exactly it is {exact}."
    agrees = "too" if found.value == exact else f"and that is another number than {exact}"
    return f"Floating point, with e^p and e^q and without Ax's theorem, finds rank {found.value} {agrees}."
