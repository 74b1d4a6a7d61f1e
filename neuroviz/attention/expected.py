"""What theory says about an architecture, and the two counts that every formula is made
of."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Expected:
    """What theory says about an architecture, and with what right.

    Attributes:
        value: the dimension, or None where no formula is known.
        status: "proved" (the paper), "proved here" (ours, not peer-reviewed),
            "exact" (ours: a theorem adds up layers, of which some were measured),
            "observed" (ours, agreed with exact ranks on the grid in the note, no
            proof), "no formula", or "outside hypotheses" (a named formula shown where
            it does not apply).
        source: the paper's item, or a heading that docs/mathematics/index.md lists.
        note: why, in a sentence.
    """

    value: int | None
    status: str
    source: str
    note: str


def alpha(a: int, d: int) -> int:
    """Dimension of the determinantal variety of d × d matrices of rank at most a.

    α(a, d) = a(2d − a) if a ≤ d, else d²   (Lemma 3.1: 2ad parameters less the a² of
                                            GL_a)

    >>> [alpha(a, 3) for a in (1, 2, 3, 4)]
    [5, 8, 9, 9]
    """
    return a * (2 * d - a) if a <= d else d * d


def sigma(a: int, w: int) -> int:
    """Dimension of the symmetric parts of w × w matrices of rank at most a.

    σ(a, w) = 2aw − a(2a − 1) if 2a ≤ w, else w(w + 1)/2

    >>> [sigma(a, 3) for a in (1, 2, 3)]
    [5, 6, 6]
    """
    return 2 * a * w - a * (2 * a - 1) if 2 * a <= w else w * (w + 1) // 2
