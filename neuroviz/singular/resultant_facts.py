"""The facts of two forms: what the picture says of their roots.

`web/singular/resultant_facts.ts` types them. The page computes the chords and their
product by itself (`web/singular/resultant_roots.ts`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuroviz.kit.picture import Facts, Picture, words

if TYPE_CHECKING:
    from neuroviz.singular.resultant_panel import ResultantStudy

SCHEMA = "resultant/1"
NAMES = ("first", "second", "third", "fourth")
RANGE = (0.0, 179.0, 1.0)


def resultant_picture(study: ResultantStudy) -> Picture:
    """Both forms by their roots on a circle, and the product of the chords between
    them."""
    place = {name: getattr(study.setting, name) for name in NAMES}
    return Picture(
        "singular/resultant", resultant_facts(study), place, dict.fromkeys(NAMES, RANGE)
    )


def resultant_facts(study: ResultantStudy) -> Facts:
    """What the picture says.

    >>> from neuroviz.singular.resultant_panel import ResultantSetting, study_resultant
    >>> facts = resultant_facts(study_resultant(ResultantSetting()))
    >>> facts["says"][1], round(facts["resultant"], 3)
    ({'text': 'no root is common'}, 0.432)
    """
    is_zero = bool(study.common)
    verdict = ("no root is common", "a root is common", "both roots are common")
    return {
        "schema": SCHEMA,
        "says": [
            {"text": "four chords between the roots", "name": True},
            *words(verdict[len(study.common)], last="singular" if is_zero else None),
        ],
        "forms": [list(form) for form in study.forms],
        "resultant": study.resultant,
    }
