"""Theorem A under the reader's hands: free the exponentials, freeze the layers, count
what is left."""

from dataclasses import dataclass, replace

from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit.badges import badge, exact_badge
from neuroviz.kit.controls import show
from neuroviz.kit.panel import Panel
from neuroviz.kit.picture import Picture
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.settings import choice, real, seed, switch, whole
from neuroviz.kit.words import at_most, counted, in_two_lines, numbered
from neuroviz.softmax.immersion import (
    MODES,
    MOST_LAYERS,
    ImmersionSetting,
    ImmersionStudy,
    study_immersion,
)
from neuroviz.softmax.immersion_facts import immersion_facts, letter, relation_of

_FACTS = ("here on two tokens; it holds for more", "our proof, not peer-reviewed")
LAYERS = range(1, MOST_LAYERS + 1)
EXPERIMENTS = [
    ("network as it is", "as-they-are"),
    ("all frozen", "frozen"),
    *((f"only layer {i} free", f"only-{i}") for i in LAYERS),
    ("my own", "own"),
]
_IN_LETTERS = {"free": "μ, ν below", "frozen": "P = Q = 0", "collapsed": "PQ = 1"}
SHARE = (0.0, 1.0, 0.01)  # least, most and step
_RANGES = {f"{share}_{i}": SHARE for i in LAYERS for share in ("mu", "nu")}
_RANGES |= {"input_1": SHARE, "input_2": SHARE}
_CHOICES = {f"mode_{i}": list(MODES) for i in LAYERS}
_CHOICES["experiment"] = [key for _, key in EXPERIMENTS]


def _mode(layer: int) -> str:
    options = []
    for mode, word in MODES.items():
        letters = f": {_IN_LETTERS[mode]}" if mode in _IN_LETTERS else ""
        options.append((word + letters, mode))
    return choice(f"layer {layer}", options, more=True)


def _share(letters: str, layer: int) -> float:
    share, exponential = (numbered(letter, layer) for letter in letters)
    return real(f"{share}, by {exponential}", 0.3, *SHARE, more=True)


@dataclass(frozen=True)
class ProofSetting:
    """An experiment of the proof or "my own" (mode_i; mu_i and nu_i where layer i is
    free), and the network.

    symmetric multiplies the symmetric part of M_k, k the weak layer, and under a mask
    the whole of M_k.
    """

    experiment: str = choice("experiment", EXPERIMENTS)
    layers: int = whole("layers l", 2, 1, MOST_LAYERS)
    symmetric: float = real("Sym M₁ times", 1.0, 0, 1, 0.05)
    mode_1: str = _mode(1)
    mu_1: float = _share("μP", 1)
    nu_1: float = _share("νQ", 1)
    mode_2: str = _mode(2)
    mu_2: float = _share("μP", 2)
    nu_2: float = _share("νQ", 2)
    mode_3: str = _mode(3)
    mu_3: float = _share("μP", 3)
    nu_3: float = _share("νQ", 3)
    mode_4: str = _mode(4)
    mu_4: float = _share("μP", 4)
    nu_4: float = _share("νQ", 4)
    input_1: float = real("token 1 starts at", 0.0, *SHARE, more=True)
    input_2: float = real("token 2 starts at", 1.0, *SHARE, more=True)
    weak_layer: int = whole("weak layer k", 1, 1, MOST_LAYERS, more=True)
    size: float = real("L times", 1.0, 0, 1, 0.05, more=True)
    causal: bool = switch("causal mask", more=True, indent=True)
    width: int = whole("width d₀", 2, 1, 3, more=True)
    seed: int = seed()

    @property
    def modes(self) -> tuple[str, ...]:
        """What is done to layers 1 to l."""
        here = range(1, self.layers + 1)
        if self.experiment == "own":
            return tuple(getattr(self, f"mode_{i}") for i in here)
        if self.experiment.startswith("only-"):
            return tuple(
                "free" if self.experiment == f"only-{i}" else "frozen" for i in here
            )
        return ("frozen" if self.experiment == "frozen" else "true",) * self.layers

    @property
    def network(self) -> ImmersionSetting:
        """The network, and its exponentials."""
        freed = (
            (getattr(self, f"mu_{i}"), getattr(self, f"nu_{i}"))
            for i in range(1, self.layers + 1)
        )
        same = ("width", "causal", "weak_layer", "symmetric", "size", "seed")
        given = {name: getattr(self, name) for name in same}
        return ImmersionSetting(
            self.modes, tuple(freed), inputs=(self.input_1, self.input_2), **given
        )


def study_proof(setting: ProofSetting) -> ImmersionStudy:
    """The experiments of the proof and that of the reader."""
    place = {name: getattr(setting, name) for name in (*_RANGES, *_CHOICES)}
    return replace(study_immersion(setting.network), place=place)


def proof_picture(study: ImmersionStudy) -> Picture:
    """The tokens on their line, and what the experiments leave hidden."""
    return Picture(
        "softmax/immersion", immersion_facts(study), study.place, _RANGES, _CHOICES
    )


class ProofExplorer(Panel):
    """Make the experiments of Theorem A: which directions of the weights does each of
    them show?

    Left, two tokens on their line, layer by layer. Right, what the experiments of the
    proof leave hidden of L and the M, counted exactly, beside the whole derivative and
    the reader's own setting.

    Controls: see `ProofSetting`; those of the layers are under "More". A token is
    dragged, or the dot (μ, ν) of a layer; a click freezes the layer.

    >>> panel = ProofExplorer()
    >>> panel.controls["symmetric"].value = 0.0
    >>> "4 of 12 directions" in panel.description
    True
    """

    title = "Theorem A: freeze all layers but one"
    setting = ProofSetting
    draw = staticmethod(proof_picture)
    _answer = staticmethod(study_proof)

    def _arrange(self) -> None:
        setting = self._read()
        for i in LAYERS:
            free = i <= setting.layers and setting.modes[i - 1] == "free"
            says = {
                "mode": setting.experiment == "own",
                "mu": free and not setting.causal,
                "nu": free,
            }
            # disabled ones stay in sight: the figure stays
            for what, has in says.items():
                control = self.controls[f"{what}_{i}"]
                control.disabled = not (has and i <= setting.layers)
                if self._may_hide:
                    show(control, i <= setting.layers)
        part = numbered("M" if setting.causal else "Sym M", setting.weak_layer)
        self.controls["symmetric"].description = f"{part} times"
        self.controls["symmetric"].disabled = setting.weak_layer > setting.layers

    def _badge(self, answer: ImmersionStudy) -> str:
        setting = answer.setting
        found = answer.everything
        measured = exact_badge(
            f"network as it is: {found.kernel} silent",
            found.measured.prime,
            "The rank of the derivative in (L, M₁, …, M_l), with a random element of "
            "the field for each exponential.",
        )
        theorem = "Theorem A′" if setting.causal else "Theorem A"
        tied = "no M is 0" if setting.causal else "no M is antisymmetric"
        asked = (
            Hypothesis("L ≠ 0", setting.size > 0),
            Hypothesis(tied, setting.tied_layer is None),
        )
        says = "No direction of (L, M₁, …, M_l) leaves the function alone."
        if not setting.holds:
            says = "The theorem says nothing here."
        return measured + badge(
            "proved here" if setting.holds else "outside hypotheses",
            theorem,
            Reasons(says, theorem, asked, _FACTS),
        )

    def _describe(self, answer: ImmersionStudy) -> str:
        step = _say_step(answer)
        proof = _say_proof(answer)
        parts = [_say_here(answer), step, proof]
        wanted = self.controls["experiment"].value
        layers = answer.setting.layers
        if wanted.startswith("only-") and int(wanted.removeprefix("only-")) > layers:
            there = (
                "is only layer 1" if layers == 1 else f"are only layers 1 to {layers}"
            )
            parts.insert(
                0,
                f"There is no layer {wanted.removeprefix('only-')} to free: there"
                f" {there}.",
            )
        return in_two_lines(parts, spare=[proof, step])


def _say_setting(study: ImmersionStudy) -> str:
    s = study.setting
    kind = "causal softmax" if s.causal else "softmax"
    layers = counted(s.layers, f"{kind} layer")
    missing = (
        f" (and no layer {s.weak_layer} to weaken)" if s.weak_layer > s.layers else ""
    )
    return f"{layers} on two tokens{missing}"


def _say_step(study: ImmersionStudy) -> str:
    """The step of the proof that this setting is, with its status."""
    s = study.setting
    tied = study.setting.tied_layer
    if tied is not None and s.modes[tied - 1] != "true":
        return f"Layer {tied} cannot be set: {relation_of(study)} always."
    if not s.holds:
        return ""
    if set(s.modes) == {"true"}:
        return "Step 1: what is silent here stays silent if P and Q are any numbers."
    if set(s.modes) == {"frozen"}:
        return "Step 3: with every S = I the network is LX, so L must not move."
    if s.modes.count("free") == 1 and s.modes.count("frozen") == s.layers - 1:
        i = s.modes.index("free") + 1
        M = numbered("M", i)
        if study.here.blocks[i] == 0:
            return (
                f"Steps 2 and 4: only layer {i} acts, L stands still, L(x₁ − x₂) ≠ 0,"
                f" so {M} stands still."
            )
        return f"These P, Q hide {M}: μ(1 − μ) and ν(1 − ν) are 0."
    return ""


def _say_here(study: ImmersionStudy) -> str:
    hidden = study.here
    found = study.here.measured
    are = "is" if hidden.kernel == 1 else "are"
    names = [letter(block) for block, size in enumerate(hidden.blocks) if size]
    whose = f", in {' and '.join(names)}" if names and not hidden.mixed else ""
    wrong = f"wrong with chance ≤ {at_most(found.error_bound)}"
    sure = wrong if found.error_bound else "a full rank mod p proves it"
    return (
        f"{_say_setting(study)}: {hidden.kernel} of {found.num_columns} directions "
        f"{are} silent{whose} (exact, {sure})."
    )


def _say_proof(study: ImmersionStudy) -> str:
    s = study.setting
    left = study.everything.kernel
    tied = study.setting.tied_layer
    theorem = "Theorem A′" if s.causal else "Theorem A"
    if s.holds:
        chain = ", ".join(str(one.so_far.kernel) for one in study.experiments)
        if left == study.left.kernel == 0:
            return (
                f"One after the other, the experiments leave {chain}: no direction is"
                f" silent in all of them ({theorem})."
            )
        return (
            f"The experiments leave {chain}, the derivative {left}: {theorem}"
            " DISAGREES."
        )
    are = "direction is" if left == 1 else "directions are"
    if s.size == 0:
        return (
            f"L = 0 makes every output 0, whatever the M are: {left} {are} silent in"
            " the whole derivative."
        )
    M = numbered("M" if s.causal else "Sym M", tied)
    why = f"{M} = 0 forces {relation_of(study)}: layer {tied} cannot be frozen"
    if left == 0 and s.causal:
        return (
            f"{why}; the argument breaks, the conclusion holds all the same: 0 are"
            " silent (exact)."
        )
    if left == 0:
        return (
            f"{why}; but no layer comes after it, and all the same nothing is silent"
            " (exact)."
        )
    return (
        f"{why}, its tokens meet, and all later layers see one token only: {left}"
        f" {are} silent altogether."
    )
