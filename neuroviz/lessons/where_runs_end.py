"""The choices of a question of notebook 03, with remarks: kept here, so that the cell
that asks gives nothing away."""

from neuroviz.singular.flow import Attraction

SMOOTH = "at smooth points"
CROSSINGS = "at crossings"
BOUNDARY = "at boundary points"

WHERE_RUNS_END = {
    SMOOTH: "A pair of forms in general position has a smooth layer nearest to it.",
    CROSSINGS: (
        "A crossing needs proportional forms; what would make the forms of a generic"
        " target so?"
    ),
    BOUNDARY: (
        "That is where dotted targets lead, which have a singular layer nearest to"
        " them."
    ),
}
"""For `teaching.predict`: where do most runs of gradient flow end?"""


def where_runs_end(found: Attraction) -> str:
    """The choice of `WHERE_RUNS_END` that most runs took.

    >>> from neuroviz.singular.flow import attraction
    >>> where_runs_end(attraction("gaussian", runs=5, time=20))
    'at smooth points'
    """
    crossings = found.singular - found.boundary
    shares = {
        SMOOTH: 1 - found.singular,
        CROSSINGS: crossings,
        BOUNDARY: found.boundary,
    }
    return max(shares, key=shares.get)
