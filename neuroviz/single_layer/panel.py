"""Along the fibre of one layer and off it: what moves, what stays, and how fast the
outputs leave."""

from neuroviz.attention.formulas import Hypothesis
from neuroviz.kit.badges import badge
from neuroviz.kit.panel import Panel
from neuroviz.kit.reasons import Reasons
from neuroviz.kit.words import in_two_lines, percent, signed, superscript
from neuroviz.single_layer.facts import fiber_picture
from neuroviz.single_layer.walk import FiberSetting, FiberStudy, study_fiber


class FiberExplorer(Panel):
    """Walk along the fibre of one layer, then step off it, and watch weights and
    outputs.

    Controls: preset (generic, rank-one, zero), kind, along (log₂ of the factor c), off,
    tokens; under "More": width (d), width_out (d′), walk (rescale, antisymmetric,
    a-alone), swap, negative, direction (plane, random), angle (between u and v),
    entries of A and V, seed. See `Panel` for what all panels share.

    >>> panel = FiberExplorer()
    >>> panel.controls["off"].value = 0.5
    >>> "The outputs have moved by" in panel.description
    True
    """

    title = "Which weights give this function?"
    setting = FiberSetting
    _answer = staticmethod(study_fiber)
    draw = staticmethod(fiber_picture)

    def _arrange(self) -> None:
        rank_one = self.controls["preset"].value == "rank-one"
        self.controls["swap"].disabled = not rank_one
        is_typed = bool(self.controls["entries"].value.strip())
        self.controls["angle"].disabled = (
            not rank_one or is_typed or self.controls["width"].value == 1
        )
        self.controls["walk"].disabled = self.controls["preset"].value == "zero"

    def _badge(self, answer: FiberStudy) -> str:
        if answer.setting.tokens == 1:
            return badge("proved here", "One token", _reasons(answer))
        is_softmax = answer.setting.attention == "softmax"
        source = "Thm. 3.9" if is_softmax else "Thm. 3.2"
        return badge("proved", source, _reasons(answer))

    def _describe(self, answer: FiberStudy) -> str:
        where = _where(answer)
        how_fast = _how_fast(answer)
        said = [where, _outcome(answer), _which(answer), how_fast]
        return in_two_lines(said, spare=[how_fast, where])


def _reasons(study: FiberStudy) -> Reasons:
    """The theorem about the fibre of this layer, in its case."""
    s = study.setting
    if s.tokens == 1:
        says = (
            "With one token φ(x) = (xᵀAx) Vx: of A only the symmetric part is seen."
            if s.attention == "lightning"
            else "With one token φ(x) = Vx: A is not seen at all."
        )
        return Reasons(says, "One token", (Hypothesis("t = 1", s.tokens == 1),))
    asked = (Hypothesis(f"t ≥ 2 (t = {s.tokens})", s.tokens >= 2),)
    if s.attention == "softmax":
        is_zero = not study.base[1].any()
        asked += (Hypothesis("V ≠ 0", not is_zero),)
        says = "The fibre of (A, V) is this one point."
        if is_zero:
            says = "V = 0 here: every A gives the zero function."
        return Reasons(says, "Thm. 3.9", asked)
    says = {
        "generic": "A or V has rank 2 or more: the fibre is (cA, V/c), c ≠ 0.",
        "rank one": "A = u kᵀ and V = h vᵀ: the fibre is (cA, V/c), and the same with "
        "u and v swapped.",
        "boundary": "A = v kᵀ and V = h vᵀ: both branches of the fibre, (cA, V/c) and "
        "its swap, are one.",
        "zero": "A = 0 or V = 0: the fibre is all pairs of which one is 0.",
    }[study.case]
    return Reasons(says, "Thm. 3.2", asked)


def _where(study: FiberStudy) -> str:
    s = study.setting
    if s.preset == "zero":
        what = "V = 0 at the start"
        x, y = study.places[1]
        walk = f"now A has length {signed(abs(x))} and V has length {signed(abs(y))}"
        if s.negative:
            walk = f"both signs changed, {walk}"
    else:
        drawn = "as typed" if s.entries.strip() else "at random"
        what = {
            "generic": f"A and V {drawn}",
            "rank one": f"A = u kᵀ, V = h vᵀ, {study.angle:.0f}° between u and v",
            "boundary": "A = v kᵀ, V = h vᵀ with the same v",
        }[study.case]
        c = signed(2**s.along)
        walk = {
            "rescale": f"(cA, V/c) with c = 2{superscript(signed(s.along))} = {c}",
            "antisymmetric": (
                f"{signed(s.along)} times the antisymmetric part of A added"
            ),
            "a-alone": f"A times {c}, V as it was",
        }[s.walk]
        if s.swap and s.preset == "rank-one":
            walk = f"u and v swapped, then {walk}"
        if s.negative:
            walk = f"both signs changed, {walk}"
    step = f", then a step of {signed(s.off)} off" if s.off else ""
    return f"One {s.attention} layer, {what}; {walk}{step}."


def _outcome(study: FiberStudy) -> str:
    unit = ""
    if study.setting.preset == "zero":
        unit = " of the outputs of a layer with A and V of length 1"
    if study.same_outputs:
        return "The outputs are what they were."
    said = f"The outputs have moved by {percent(study.moved)}{unit}"
    if study.setting.off and study.walked > 1e-9:
        said += f"; the walk alone moved them by {percent(study.walked)}"
    return f"{said}."


def _which(study: FiberStudy) -> str:
    """What the theorem says about all other weights with this function."""
    s = study.setting
    if s.attention == "softmax":
        if s.tokens == 1:
            return "One token attends to itself alone: V is determined, A is free."
        if s.preset == "zero":
            return (
                "With V = 0 softmax gives 0 for every A; with V ≠ 0 it never is 0"
                " everywhere."
            )
        return "Softmax: no other weights have this function."
    if s.preset == "zero":
        free = "the symmetric part of A is 0" if s.tokens == 1 else "A = 0"
        return f"The function is 0 wherever V = 0 or {free}; at the crossing both hold."
    if s.tokens == 1:
        free = "the antisymmetric part of A is free"
        if study.case == "generic":
            return f"One token sees xᵀAx only: besides the rescalings, {free}."
        return (
            "One token sees (u·x)(k·x)(v·x) h only: u, k and v may change places, and"
            f" {free}."
        )
    return {
        "generic": (
            "Only the rescalings (cA, V/c) have this function, with c > 0 and c < 0."
        ),
        "rank one": (
            "The rescalings have this function, and those of A = v kᵀ, V = h uᵀ: the"
            " swap."
        ),
        "boundary": "Swapping changes nothing here, and the rescalings are all.",
    }[study.case]


def _how_fast(study: FiberStudy) -> str:
    """Of silent directions only what the curve does not show: a class guesses their
    number first."""
    along = "along the fibre" if study.goes_along else "in the walk's direction"
    if study.case == "boundary" and study.kernel > 1 and study.setting.tokens > 1:
        of_all = study.start.A.size + study.start.V.size
        return (
            f"To first order {study.kernel} of {of_all} directions are silent (Lemma"
            " A.3)."
        )
    slopes = [curve.slope for curve in (study.along, study.aside)]
    said = [n if n is None else signed(n, 1) for n in slopes]
    like = [
        "by 0" if n is None else f"like ε{superscript(n) if n != '1' else ''}"
        for n in said
    ]
    return f"A straight step ε {along} moves φ {like[0]}, off it {like[1]}."
