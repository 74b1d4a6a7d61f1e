"""A deep lightning network unrolled, as plain data: its size, one term, and what the
term shows.

`web/beyond/unrolled_facts.ts` types it. The page grows the tree by the recursion of the
layers, and computes terms from the numbers that L and the M give between tokens; tokens
are counted from 0.
"""

from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.kit.words import counted
from neuroviz_beyond.unrolling.unrolling import NOTHING_BELOW, UnrollStudy
from neuroviz_beyond.unrolling.words import finding

SCHEMA = "unrolled/1"


def unrolled_picture(study: UnrollStudy) -> Picture:
    """The tree of the layers over one term; the place has no range, as its end is the
    term's."""
    return Picture("beyond/unrolled", unrolled_facts(study), study.moves, {})


def unrolled_facts(study: UnrollStudy) -> Facts:
    """What the picture says, and what its formulas need.

    >>> from neuroviz_beyond.unrolling.unrolling import UnrollSetting, study_unrolling
    >>> facts = unrolled_facts(study_unrolling(UnrollSetting(reflect=True)))
    >>> facts["term"]["says"]
    [{'text': 'M₂ becomes M₂ᵀ, the other numbers change places'}]
    """
    return {
        "schema": SCHEMA,
        "tree": {"says": words(_size_of(study))},
        "term": {"says": words(finding(study))},
        "formulas": {**study.local, "nothing": NOTHING_BELOW},
    }


def _size_of(study: UnrollStudy) -> str:
    layers = study.layers
    factors = len(study.factors)
    return (
        f"{counted(layers, 'layer')}: {3**layers} copies of X, and between them "
        f"{counted(factors, 'factor')} M"
    )
