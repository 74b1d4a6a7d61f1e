"""What moves and what stands still, as plain data: a change of basis (Eq. 9), or a
rescaling (Eq. 13).

`web/deep/virtual_facts.ts` types it. Words are lists of {"text": …, "role": …}, a line
each. A matrix has a key, by which the page finds what it computes: "V1", "L", "M2", or
"output".
"""

from neuroviz.attention.layers import by_layer
from neuroviz.attention.symmetry import WALK_ENDS, WALKS
from neuroviz.deep.rescaling import RescalingStudy
from neuroviz.deep.virtual import LOGS, RANGES, SAME, InterfaceStudy, Moved
from neuroviz.kit.matrices import largest_entry
from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.kit.words import numbered, percent, signed, tiny

SCHEMA = "virtual/1"


def virtual_picture(study: InterfaceStudy | RescalingStudy) -> Picture:
    """The two networks, matrix by matrix, and how far each matrix has moved."""
    place = {name: getattr(study.setting, name) for name in ("walk", *RANGES)}
    return Picture(
        "deep/virtual", virtual_facts(study), place, RANGES, {"walk": list(WALKS)}
    )


def virtual_facts(study: InterfaceStudy | RescalingStudy) -> Facts:
    """What the picture says, and what its formulas need.

    >>> from neuroviz.deep.virtual import VirtualSetting, study_interface
    >>> facts = virtual_facts(study_interface(VirtualSetting()))
    >>> facts["says"]
    [{'text': 'V₁, Q₂, K₂ and V₂ move; L, every M and the outputs stand still'}]
    >>> [matrix["key"] for matrix in facts["matrices"] if matrix["isStill"]]
    ['L', 'M1', 'M2', 'output']
    """
    if isinstance(study, RescalingStudy):
        of_the_view = {
            "says": _what_outputs_do(study),
            "matrices": _rescaled(study),
            "basis": None,
            "bars": {"unit": "log₂", "says": _cost(study)},
        }
        interface = None
    else:
        of_the_view = {
            "says": _what_moves(study),
            "matrices": _changed(study),
            "basis": _basis(study),
            "bars": {"unit": "moved", "says": _what_is_recovered(study)},
        }
        interface = study.setting.interface
    formulas = {
        "kind": study.setting.kind,
        "layers": by_layer(study.start),
        "X": study.X[0],
        "interface": interface,
        "ends": WALK_ENDS,
        "same": SAME,
    }
    return {"schema": SCHEMA, **of_the_view, "formulas": formulas}


def _matrix(
    key: str,
    part: Moved,
    limit: float,
    *,
    above: str | None = None,
    longest: str | None = None,
    control: Facts | None = None,
) -> Facts:
    """A matrix; without words above it, it should stand still. `longest` is the longest
    that may come to stand there: its column has room for it from the first."""
    return {
        "key": key,
        "name": part.name,
        "above": above,
        "longest": longest or above or "moved",
        "limit": limit,
        "isStill": above is None,
        "control": control,
    }


def _still(key: str, part: Moved) -> Facts:
    return _matrix(key, part, largest_entry(part.start))


def _virtual_keys(layers: int) -> list[str]:
    return ["L", *(f"M{i}" for i in range(1, layers + 1))]


# A change of basis


def _changed(study: InterfaceStudy) -> list[Facts]:
    """The weights at the change, then all that should stand still."""
    i = study.setting.interface
    keys = [f"{letter}{layer}" for layer in (i, i + 1) for letter in "QKV"]
    limits = [1.6 * largest_entry(part.start) for part in study.weights]
    for Q, K in ((0, 1), (3, 4)):  # the head of a layer has one scale
        limits[Q] = limits[K] = max(limits[Q], limits[K])
    alone = {"name": "alone", "says": f"row 1 of {numbered('V', i)} alone"}
    found = []
    became = _became(study, study.turns)
    turned = _became(study, True)
    parts = zip(keys, study.weights, limits, became, turned, strict=True)
    for key, part, limit, above, longest in parts:
        control = alone if key == f"V{i}" else None
        found.append(
            _matrix(key, part, limit, above=above, longest=longest, control=control)
        )
    still = zip(_virtual_keys(study.setting.layers), study.virtual, strict=True)
    found += [_still(key, part) for key, part in still]
    return [*found, _still("output", study.outputs)]


def _became(study: InterfaceStudy, turns: bool) -> tuple[str, ...]:
    """The texts above the weights, of a basis that turns or stands at its start; they
    are short, because a longer text widens its column."""
    Q, K, V, *after = [part.name for part in study.weights]
    before = ""
    behind = ""
    if turns:
        before = "C"
        behind = "C⁻¹"
    if study.setting.alone:
        before = "D" + before
    return (Q, K, before + V, *(name + behind for name in after))


def _basis(study: InterfaceStudy) -> Facts:
    i = study.setting.interface
    limit = largest_entry(study.C)
    recovered = None
    agrees = False
    if study.recovered is not None:
        recovered = study.recovered[i - 1]
        agrees = study.off <= SAME * limit
    return {
        "name": numbered("C", i),
        "limit": limit,
        "recovered": recovered,
        "agrees": agrees,
    }


def _what_moves(study: InterfaceStudy) -> list:
    if study.moved:
        names = _and([part.name for part in study.moved])
        alone = f"{numbered('V', study.setting.interface)} alone is no symmetry"
        return words(f"{names} MOVED: {alone}", last="outside")
    moving = [part.name for part in study.weights if not part.is_same]
    if not moving:
        return words("nothing has moved yet")
    verb = "moves" if len(moving) == 1 else "move"
    return words(f"{_and(moving)} {verb}; L, every M and the outputs stand still")


def _and(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"


def _what_is_recovered(study: InterfaceStudy) -> list:
    i = study.setting.interface
    C = numbered("C", i)
    if study.recovered is not None:
        how = f", off by {tiny(study.off)}" if study.off else " exactly"
        return words(f"the two networks determine {C}: recovered{how}")
    if study.moved:
        return words("no C to recover: these are two functions", last="outside")
    U = "V₁" if i == 1 else f"{numbered('V', i)}{'⋯' if i > 2 else ''}V₁"
    rank = f"{U} has rank {study.rank} of {len(study.C)}"
    return words(f"L and M do not determine {C}: {rank}", last="outside")


# A rescaling


def _rescaled(study: RescalingStudy) -> list[Facts]:
    """L and the M, each with its factor, and the outputs, which should stand still."""
    layers = study.setting.layers
    controls = [{"name": "off", "says": "log₂ of what λ₀ misses"}]
    for i, name in enumerate(LOGS[:layers], start=1):
        controls.append({"name": name, "says": f"log₂ {numbered('λ', i)}"})
    found = []
    parts = zip(_virtual_keys(layers), study.virtual, controls, strict=True)
    for i, (key, part, control) in enumerate(parts):
        limit = 2 * largest_entry(part.start)  # the sliders take each λᵢ up to 2
        above = f"{numbered('λ', i)}{part.name}"
        found.append(_matrix(key, part, limit, above=above, control=control))
    return [*found, _still("output", study.outputs)]


def _cost(study: RescalingStudy) -> list:
    if not any(study.setting.logs):
        return words("all λ are 1: nothing to answer")
    if not study.is_symmetry:
        return words("softmax: no λ₀ can answer", last="outside")
    layers = len(study.setting.logs)
    most = study.exponents[0]
    last = numbered("λ", layers)
    return words(f"one step of λ₁ costs λ₀ {most} steps, one of {last} only 1")


def _what_outputs_do(study: RescalingStudy) -> list:
    if not any(study.setting.logs) and not study.setting.off:
        return words("the start: all factors are 1")
    if study.outputs.is_same:
        return words("L and the M have changed, the function has not", last="certified")
    if study.is_symmetry:
        return words(
            f"the outputs are × {signed(2**study.setting.off)}", last="outside"
        )
    best = "at best off by" if not study.setting.off else "the outputs are off by"
    return words(f"{best} {percent(study.outputs.change)}", last="outside")
