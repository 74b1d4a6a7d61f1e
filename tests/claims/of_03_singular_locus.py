"""What notebooks/03_singular_locus.py says in words: see tests/test_claims.py."""

from fractions import Fraction

from neuroviz.forms import discriminant, forms_of, kind_of, resultant
from neuroviz.singular import Approach, singular_facts
from neuroviz.surface import SLICES


def on_s4(x):
    """The kind of the point x = y = 1/z of the slice S4."""
    x = Fraction(x)
    return kind_of(*SLICES["S4"].forms(x, x, 1 / x))


def zero_on_s1(m, y):
    """Whether the resultant vanishes at z² = (s² − 4) y² with s = m + 1/m, and does not beside it."""
    m, y = Fraction(m), Fraction(y)
    s, z = m + 1 / m, y * (m - 1 / m)
    q1 = (1, s, 1)
    return z * z == (s * s - 4) * y * y and resultant(q1, (y, z, -y)) == 0 != resultant(q1, (y, z + 1, -y))


CLAIMS = [
    (
        "In it the resultant is zero where $z^2 = (s^2 - 4)\\,y^2$",
        lambda: all(zero_on_s1(m, y) for m in (2, 3, Fraction(5, 2)) for y in (1, -2, Fraction(1, 3))),
    ),
    (
        "discriminant of $q_1$, which is $s^2 - 4$",
        lambda: all(discriminant((1, s, 1)) == s * s - 4 for s in range(-4, 5)),
    ),
    (
        "The pinch point $(4, 4, \\tfrac14)$",
        lambda: (on_s4(3), on_s4(4), on_s4(5)) == ("closure only", "boundary", "crossing"),
    ),
    (
        "$d - 1 = 3$ more singular values reach zero",
        lambda: (
            singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=1)).kernel == 4
            and singular_facts(Approach(d=4, d_out=2, a=4, s=1, b=0)).kernel == 1
        ),
    ),
    (
        "The first is $X^2 - Y^2 = (X - Y)(X + Y)$, the second $X^2 + 2XY + Y^2 = (X + Y)^2$",
        lambda: forms_of([[1, 1], [-1, 1]], [[1, 1]]) == ((1, 0, -1), (1, 2, 1)),
    ),
]

ELSEWHERE = []
