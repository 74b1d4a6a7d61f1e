"""The facts of the experiments of Theorem A: what their picture says, as plain data.

`web/softmax/immersion_facts.ts` types them. The picture has two views: two tokens that
run down the layers, and what the experiments leave hidden. Words are lists of {"text":
…, "role": …}, a line each.
"""

from collections.abc import Sequence
from math import inf

from neuroviz.kit.picture import Facts, words
from neuroviz.kit.words import numbered, percent, signed, tiny
from neuroviz.softmax.immersion import MODES, Experiment, Hidden, ImmersionStudy
from neuroviz.softmax.two_tokens import exponentials

SCHEMA = "immersion/1"
CANNOT_BE_SET = "cannot be set"


def immersion_facts(study: ImmersionStudy) -> Facts:
    """What the picture says, in the order of its views, and what its formulas need.

    >>> from neuroviz.softmax.immersion import ImmersionSetting, study_immersion
    >>> facts = immersion_facts(study_immersion(ImmersionSetting()))
    >>> hidden = facts["hidden"]
    >>> hidden["says"], [column["silent"] for column in hidden["columns"]]
    ([{'text': 'still silent: 12 → 8 → 4 → 0'}], [12, 8, 4, 0, 0, 0])
    """
    s = study.setting
    return {
        "schema": SCHEMA,
        "tokens": _tokens(study),
        "hidden": _hidden(study),
        "formulas": {"forms": study.forms, "tied": s.tied_layer, "causal": s.causal},
    }


# The tokens


def _tokens(study: ImmersionStudy) -> Facts:
    """What happens to the tokens; their places are computed in the page."""
    return {
        "says": tokens_finding(study),
        "modes": {**MODES, "tied": CANNOT_BE_SET},
        "layers": [what_happens(study, i) for i in range(1, study.setting.layers + 1)],
    }


def tokens_finding(study: ImmersionStudy) -> list:
    """What happens to the distance of the tokens."""
    met = study.met_after
    setting = study.setting
    if met == 0:
        return words("equal from the start: layers see one token")
    if met is not None:
        text = f"they meet in layer {met}: later layers see one token"
        if met == setting.layers:
            text = f"the tokens meet in layer {met}, the last"
        return words(text, last="outside" if met == setting.tied_layer else None)
    if all(mu == nu == 0 for mu, nu in study.given):
        return words("frozen: nothing moves")
    first, *_, last = (two - one for one, two in study.places.tolist())
    left = last / first
    turned = ", turned" if left < 0 else ""
    return words(f"{percent(abs(left))} of the tokens’ distance is left{turned}")


def what_happens(study: ImmersionStudy, layer: int) -> Facts:
    """The exponentials of a layer, and what they do, which a reader may be asked: empty
    if it has no name."""
    setting = study.setting
    met = study.met_after
    given = study.given[layer - 1]
    if met is not None and layer > met:
        hidden = f"{numbered('M', layer)} is hidden"
        return {"numbers": "", "does": ["sees one token", hidden]}
    P, Q = (number(value) for value in exponentials(given))
    numbers = f"P = {P}, Q = {Q}"
    if setting.causal:
        numbers = f"Q = {Q}"
    elif P == Q:
        numbers = f"P = Q = {P}"
    if given == (0, 0):
        does = ["does nothing"]
    elif met == layer:
        does = ["they meet"]
    else:
        does = ["they swap"] if given == (1, 1) else []
    return {"numbers": numbers, "does": does}


def number(value: float) -> str:
    """An exponential as a reader writes it.

    >>> number(0.5), number(inf), number(12345.0), number(0.0001)
    ('0.5', '∞', '1·10⁴', '1·10⁻⁴')
    """
    if value == inf:
        return "∞"
    return signed(value) if 0.01 <= value < 1000 or value == 0 else tiny(value)


# The experiments


def _hidden(study: ImmersionStudy) -> Facts:
    """What is silent in each experiment, and in the matrices one by one."""
    tied = study.setting.tied_layer
    relation = None
    if tied is not None:
        relation = f"layer {tied} cannot be frozen: {relation_of(study)}"
    return {
        "says": hidden_finding(study),
        "matrices": [letter(block) for block in range(study.setting.layers + 1)],
        "columns": _columns(study),
        "relation": relation,
    }


def _columns(study: ImmersionStudy) -> list[Facts]:
    """Before any experiment, behind each, with everything free, and as the reader set
    it."""
    everything = (study.setting.width**2,) * (study.setting.layers + 1)
    found = [_column("before", ["before"], everything, sum(everything))]
    before = everything
    for one in study.experiments:
        found.append(_experiment(one, before))
        before = one.so_far.blocks
    found.append(_left("everything", ["network", "as it is"], study.everything))
    for last in found[-2:]:
        last["fails"] = last["silent"] > 0
    found.append(_left("here", ["your", "setting"], study.here))
    return found


def _experiment(one: Experiment, before: Sequence[int]) -> Facts:
    """What the experiments up to this one leave, and what this one sees of it."""
    lines = (
        ["all", "frozen"]
        if one.free_layer is None
        else [f"layer {one.free_layer}", "free"]
    )
    pairs = enumerate(zip(before, one.so_far.blocks, strict=True))
    sees = [letter(block) for block, (was, is_now) in pairs if is_now < was]
    return {
        **_left("experiment", lines, one.so_far),
        "sees": sees,
        "possible": one.possible,
    }


def _left(kind: str, lines: list[str], hidden: Hidden) -> Facts:
    return _column(kind, lines, hidden.blocks, hidden.kernel)


def _column(kind: str, lines: list[str], blocks: Sequence[int], silent: int) -> Facts:
    """A bar: `blocks` are silent directions of L, M_1, …, M_l alone; `mixed` are all
    others.

    `fails`: the theorem would have nothing left here.
    """
    return {
        "kind": kind,
        "lines": lines,
        "blocks": list(blocks),
        "mixed": silent - sum(blocks),
        "silent": silent,
        "sees": None,
        "possible": True,
        "fails": False,
    }


def letter(block: int) -> str:
    """L, M_1, …"""
    return numbered("M", block) if block else "L"


def relation_of(study: ImmersionStudy) -> str:
    """What ties the exponentials of the layer that cannot be freed."""
    tied = study.setting.tied_layer
    P = "" if study.setting.causal else numbered("P", tied)
    return f"{P}{numbered('Q', tied)} = 1"


def hidden_finding(study: ImmersionStudy) -> list:
    """Whether the experiments leave something, and why."""
    setting = study.setting
    left = study.left.kernel
    if setting.holds:
        if left:
            return words(f"{left} left: this DISAGREES", last="outside")
        n = setting.width**2 * (setting.layers + 1)
        chain = " → ".join(
            map(str, (n, *(one.so_far.kernel for one in study.experiments)))
        )
        return words(f"still silent: {chain}")
    return words(_why(study), last="outside")


def _why(study: ImmersionStudy) -> str:
    """What the hypothesis that fails does."""
    setting = study.setting
    left = study.left.kernel
    M = numbered("M", setting.tied_layer or 0)
    is_zero = setting.causal or setting.width == 1
    why = (
        "L = 0"
        if setting.size == 0
        else f"{M} = 0"
        if is_zero
        else f"{M} is antisymmetric"
    )
    if left:
        return (
            f"{left} {'direction is' if left == 1 else 'directions are'} silent: {why}"
        )
    if not setting.causal and setting.tied_layer == setting.layers:
        return f"{why}, but last: nothing is left"
    return "the argument breaks, yet nothing is left"
