"""The facts of two factorisations of one A = KᵀQ: what their picture says, as plain
data.

`web/factorization/factors_facts.ts` types them. Words are lists of {"text": …, "role":
…}, a line each. The page computes matrices, singular values, fibre and surface of a
place by itself, from `formulas`; what is counted over F_p, and every verdict, is said
here.
"""

from neuroviz.attention.symmetry import WALK_ENDS, WALKS
from neuroviz.factorization.study import (
    MAX_ENTRY,
    OFF,
    RANGES,
    RANKS,
    SAME,
    FactorizationStudy,
    SlicePoint,
)
from neuroviz.kit.picture import Facts, Picture, words
from neuroviz.rank.floats import TOLERANCE

SCHEMA = "factors/1"


def factors_picture(study: FactorizationStudy) -> Picture:
    """The matrices, the singular values, the count, and for 2 × 2 the surface."""
    choices = {"walk": list(WALKS), "rank": list(RANKS)}
    return Picture(
        "factorization/factors", factors_facts(study), study.place, RANGES, choices
    )


def factors_facts(study: FactorizationStudy) -> Facts:
    """What the picture says, in the order of its views, and what its formulas need.

    >>> from neuroviz.factorization import study as of
    >>> facts = factors_facts(of.study_factorization(of.FactorizationSetting(d=3, a=2)))
    >>> facts["dimensions"]["says"]
    [{'text': '12 − 4 = 8 dimensions'}]
    """
    return {
        "schema": SCHEMA,
        "matrices": _matrices(study),
        "spectrum": _spectrum(study),
        "dimensions": _dimensions(study),
        "surface": _surface(study.point) if study.point else None,
        "formulas": _formulas(study),
    }


def _matrices(study: FactorizationStudy) -> Facts:
    """What moves and what stands still; and the first Q and K, of which some are drawn
    at random."""
    return {
        "says": words(_outcome(study)),
        "start": tuple(study.start),
    }


def _outcome(study: FactorizationStudy) -> str:
    if not study.is_same:
        return "A has CHANGED"
    if study.place["entries"]:
        return "your numbers: a new A that stands still"
    if study.is_off_orbit:
        alone = "K" if study.place["rank"] == "Q" else "Q"
        return f"{alone} leaves the orbit, A stands still"
    if study.moved <= SAME:
        is_trivial = study.a == 1 and study.walk != "stretch"
        where = f"GL₁ has no {study.walk}: nothing moves"
        return where if is_trivial else "C = 1: nothing has moved yet"
    if not (study.start.Q.any() and study.start.K.any()):
        return "A = 0, and stands still"
    return "Q and K move, A stands still"


def _spectrum(study: FactorizationStudy) -> Facts:
    """The rank of A, which the walk leaves alone."""
    when = "start and now" if study.is_same else "now"
    comma = ", " if study.is_same else " "
    return {"says": words(f"rank {study.rank}{comma}{when}")}


def _dimensions(study: FactorizationStudy) -> Facts:
    """How many dimensions the matrices of rank ≤ a have, and a fibre: for a = 1, 2,
    …."""
    counts = study.counts
    fiber = []
    for a, alpha in enumerate(study.formula, start=1):
        fiber.append(2 * a * study.d - alpha)
    return {
        "says": words(_sum(study)),
        "heads": [count.a for count in counts],
        "matrices": {
            "formula": list(study.formula),
            "measured": [count.dimension for count in counts],
        },
        "fiber": {"formula": fiber, "measured": [count.fiber for count in counts]},
    }


def _sum(study: FactorizationStudy) -> str:
    if tuple(count.dimension for count in study.counts) != study.formula:
        return "formula and measurement DIFFER"
    count = study.count
    plural = "" if count.dimension == 1 else "s"
    entries = 2 * study.a * study.d
    return f"{entries} − {count.fiber} = {count.dimension} dimension{plural}"


def _surface(point: SlicePoint) -> Facts:
    """The smallest determinantal variety: 2 × 2 matrices of rank ≤ 1 and of one
    trace."""
    is_cone = point.trace == 0
    shape = "a cone, singular at its tip" if is_cone else "a hyperboloid, smooth"
    which = f"2 × 2, rank ≤ 1, trace {point.trace:.3g}".replace("-", "−")
    about = ("A, the zero matrix", "A, of rank 1", "A, of rank 2: off the surface")[
        point.rank
    ]
    return {
        "says": words(shape),
        "lines": words(which, f"● {about}", last="focus"),
        "tip": "singular: A = 0",
    }


def _formulas(study: FactorizationStudy) -> Facts:
    """What the page needs to factor by itself: see factors_product.ts."""
    return {
        "d": study.d,
        "a": study.a,
        "base": study.base,
        "toward": study.toward,
        "walks": WALK_ENDS,
        "off": OFF,
        "largest": MAX_ENTRY,
        "tolerance": TOLERANCE,
    }
