"""The facts of a turned token, or of two heads that blend: what their picture says, as
plain data.

`web/beyond/blending_facts.ts` types them. Words are lists of {"text": …, "role": …}, a
line each.
"""

from fractions import Fraction

from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.kit.words import counted
from neuroviz_beyond.blending import heads, special_layer
from neuroviz_beyond.blending.special_layer import FULL_TURN, tokens_of
from neuroviz_beyond.blending.study import HeadsStudy, TokenStudy

SCHEMA = "blending/1"
_ROOM = 1.25  # of the largest bar


def blending_picture(study: TokenStudy | HeadsStudy) -> Picture:
    """The picture of a view; its handle moves `angle` or `turn`."""
    s = study.setting
    if isinstance(study, TokenStudy):
        place = {"angle": s.angle, "slant": s.slant}
        ranges = {"angle": (0, FULL_TURN, 1), "slant": (0.0, 0.5, 0.05)}
    else:
        place = {"turn": s.turn, "follow": s.follow}
        ranges = {"turn": (0, FULL_TURN, 1)}
    return Picture("beyond/blending", blending_facts(study), place, ranges)


def blending_facts(study: TokenStudy | HeadsStudy) -> Facts:
    """What the picture says, and what its formulas need; of the other view None.

    >>> from neuroviz_beyond.blending.study import BlendingSetting, study_blending
    >>> facts = blending_facts(study_blending(BlendingSetting()))
    >>> facts["token"]["returns"], facts["heads"]
    ([[0, 120, 240], [0]], None)
    """
    is_token = isinstance(study, TokenStudy)
    return {
        "schema": SCHEMA,
        "token": _token_facts() if is_token else None,
        "heads": None if is_token else _heads_facts(study),
    }


def _token_facts() -> Facts:
    one, across = tokens_of(Fraction(0))
    return {
        "one": [float(x) for x in one],
        "across": [float(x) for x in across],
        # For s = 0, orthogonal tokens, and for s = 1/10, which stands for every s ≠ 0.
        "returns": [special_layer.returns(Fraction(s, 10)) for s in (0, 1)],
    }


def _heads_facts(study: HeadsStudy) -> Facts:
    A, V, X = study.weights
    s = study.setting
    before = heads.outputs(A, V, X)
    scale = float(abs(before).max())
    return {
        "formulas": {
            "A": A.tolist(),
            "V": V.tolist(),
            "X": X.tolist(),
            "scale": scale,
        },
        "most": min(s.head_dim, s.width),
        "ranks": [list(pair) for pair in study.all_ranks],
        "reach": _ROOM,
        "count": _count_facts(study),
    }


def _count_facts(study: HeadsStudy) -> Facts:
    count = study.count
    H = study.setting.heads
    return {
        "heads": H,
        "row": None if count.formula is None else count.row,
        "says": words(*say_count(study), last="measured"),
        "lines": _lines(study),
    }


def say_count(study: HeadsStudy) -> tuple[str, str]:
    """The formula with its numbers, and the measurement."""
    count, s = study.count, study.setting
    measured = f"measured: {count.measured} silent directions"
    if count.formula is None:
        return f"H = {s.heads} > d = {s.width}: no formula", measured
    return f"H·max(1, H − (d−a)²) = {count.formula}", measured


def _lines(study: HeadsStudy) -> list[str]:
    count, s = study.count, study.setting
    H = s.heads
    if count.formula is None:
        return ["for so many heads nothing is proved"]
    if count.conditions == 0:
        return ["a ≥ d: no condition,", f"all {H}·{H} numbers of g are free"]
    equations = counted(count.conditions, "equation")
    rest = count.row - 1
    stays = f"{rest} stays" if rest == 1 else f"{rest or 'none'} stay"
    return [
        f"each row: (d−a)² = {equations},",
        "its other number goes" if H == 2 else f"of its {H - 1} other numbers {stays}",
    ]
