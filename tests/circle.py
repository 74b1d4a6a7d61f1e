"""A form in the unit disc, as the page draws it."""

import numpy as np

from neuroviz.singular.forms import common_roots


def on_circle(q):
    """The ends of a chord, one point of the rim, or one inside, shape (k, 2).

    Real roots are at their `Root.angle` on the rim, a complex pair is (c − a, −b)/(a +
    c): hyperbolic geometry in the model whose lines are chords. As the discriminant
    goes to 0 both go to one point.
    """
    if roots := common_roots(q, (0, 0, 0)):
        return np.array([[np.cos(root.angle), np.sin(root.angle)] for root in roots])
    a, b, c = (float(t) for t in q)
    return np.array([[c - a, -b]]) / (a + c)
