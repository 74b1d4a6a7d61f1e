"""What a badge of these panels rests on: reasons with the pages that this package
needs."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import ClassVar

from neuroviz.kit import reasons

_PAPER = "docs/mathematics"
_BEYOND = "beyond/docs"
PAGES = reasons.PAGES | {
    "Lemma 3.6": (
        f"{_PAPER}/deep_networks.md",
        "Lemma 3.6. A deep lightning network as one product",
    ),
    "Eq. 12": (f"{_PAPER}/deep_networks.md", "Eq. 12. Unrolling (Figure 2)"),
    "Eq. 28": (
        f"{_PAPER}/deep_networks.md",
        "Eq. 28. The part that is linear in one token",
    ),
    "Theorem E": (
        f"{_BEYOND}/softmax_heads_dimension.md",
        "Theorem E. Softmax with heads and skips",
    ),
    "Theorem F": (
        f"{_BEYOND}/lightning_fibres.md",
        "Theorem F. All fibres of deep lightning networks",
    ),
    "Theorem H": (
        f"{_BEYOND}/softmax_heads_fibres.md",
        "Theorem H. Softmax with heads: all weights with one function",
    ),
    "Theorem K": (
        f"{_BEYOND}/lightning_masks_and_skips.md",
        "Theorem K. Causal lightning",
    ),
    "Theorem M": (
        f"{_BEYOND}/lightning_heads.md",
        "Theorem M. One lightning layer with few heads",
    ),
    "Theorem N": (
        f"{_BEYOND}/lightning_layers_add.md",
        "Theorem N. Lightning without skips: the layers add, less the bases",
    ),
    "Theorem R": (
        f"{_BEYOND}/softmax_positions.md",
        "Theorem R. Softmax with rotary or learned positions",
    ),
    "Theorem S": (
        f"{_BEYOND}/lightning_masks_and_skips.md",
        "Theorem S. Lightning with skips: layers do not interact",
    ),
    "Theorem W": (
        f"{_BEYOND}/softmax_heads_widths.md",
        "Theorem W. Softmax with heads in layers of any widths",
    ),
    "Beyond the paper": (f"{_BEYOND}/beyond_the_paper.md", "Beyond the paper"),
    "Real models": (f"{_BEYOND}/real_models.md", "Blocks of real models"),
    "Memorisation": (f"{_BEYOND}/memorisation_and_teleportation.md", "Memorisation"),
    "Search": (f"{_BEYOND}/library.md", "Find other weights of one function"),
    "Not proved": (f"{_BEYOND}/checks.md", "What is not proved"),
}
"""Source of a badge → the page that has it, and the heading there."""


class Reasons(reasons.Reasons):
    """What a badge rests on, with a page of either package.

    >>> "softmax_positions.md" in Reasons("nothing is lost", "Theorem R").as_html()[1]
    True
    """

    pages: ClassVar[Mapping[str, tuple[str, str]]] = PAGES


def repeated(study: Callable, setting: object, then: str) -> str:
    """Python that asks once more what a panel has answered.

    Args:
        study: the function that answers.
        setting: what it was asked: a frozen dataclass whose fields have defaults.
        then: what is read off the answer, such as ".value".

    >>> from neuroviz_beyond.unrolling.unrolling import UnrollSetting, study_unrolling
    >>> print(repeated(study_unrolling, UnrollSetting(layers=1, place=1), ".summed"))
    from neuroviz_beyond.unrolling.unrolling import UnrollSetting, study_unrolling
    study_unrolling(UnrollSetting(layers=1, place=1)).summed
    """
    kind = type(setting)
    said = []
    for field in fields(setting):
        value = getattr(setting, field.name)
        if value != field.default:
            said.append(f"{field.name}={value!r}")
    modules = {study.__module__: [study.__name__]}
    modules.setdefault(kind.__module__, []).append(kind.__name__)
    imports = [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in modules.items()
    ]
    call = f"{study.__name__}({kind.__name__}({', '.join(said)})){then}"
    return "\n".join([*imports, call])
